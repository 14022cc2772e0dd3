! tap: Test Anything Protocol for Fortran tests. A test is a sentence.
module tap
  use, intrinsic :: iso_fortran_env, only: output_unit
  implicit none
  integer, private :: count = 0, failures = 0

contains

  subroutine result(good, sentence)
    logical, intent(in) :: good
    character(len=*), intent(in) :: sentence

    count = count + 1
    if (.not. good) failures = failures + 1
    if (good) then
      write (output_unit, '(a, i0, 2a)') 'ok ', count, ' - ', sentence
    else
      write (output_unit, '(a, i0, 2a)') 'not ok ', count, ' - ', sentence
    end if
    flush (output_unit)
  end subroutine

  ! The plan line; stops with an error when a test has failed.
  subroutine done()
    write (output_unit, '(a, i0)') '1..', count
    flush (output_unit)
    if (failures > 0) stop 1
  end subroutine

end module tap
