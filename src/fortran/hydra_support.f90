! hydra_support: strings and errors between Fortran and C. For the modules hydra_serial and hydra only.
module hydra_support
  use, intrinsic :: iso_c_binding
  use hydra_c, only: HYDRA_SUCCESS, HYDRA_ERR_ARG
  implicit none
  private
  public :: finish, refuse, to_c, from_c

  interface
    function c_error(status, text) bind(c, name="Hydra_fortran_error") result(returned)
      import
      integer(c_int), value :: status
      character(kind=c_char), intent(in) :: text(*)
      integer(c_int) :: returned
    end function
    subroutine c_unheard(status) bind(c, name="Hydra_fortran_unheard")
      import
      integer(c_int), value :: status
    end subroutine
    function c_length(text) bind(c, name="Hydra_fortran_length") result(length)
      import
      type(c_ptr), value :: text
      integer(c_int64_t) :: length
    end function
  end interface

contains

  ! Hand the status to the caller; one that did not ask for it is told through the log.
  subroutine finish(status, ierror)
    integer(c_int), intent(in) :: status
    integer, optional, intent(out) :: ierror

    if (present(ierror)) then
      ierror = status
    else if (status /= HYDRA_SUCCESS) then
      call c_unheard(status)
    end if
  end subroutine

  ! Record why an argument is refused and return HYDRA_ERR_ARG.
  function refuse(why) result(status)
    character(len=*), intent(in) :: why
    integer(c_int) :: status

    status = c_error(HYDRA_ERR_ARG, to_c(why))
  end function

  ! Without the trailing blanks, with the final 0.
  pure function to_c(text) result(c)
    character(len=*), intent(in) :: text
    character(kind=c_char) :: c(len_trim(text) + 1)
    integer :: i

    do i = 1, len_trim(text)
      c(i) = text(i:i)
    end do
    c(size(c)) = c_null_char
  end function

  ! A C string as Fortran's; "" for NULL.
  function from_c(c) result(text)
    type(c_ptr), intent(in) :: c
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i

    if (.not. c_associated(c)) then
      text = ''
      return
    end if
    call c_f_pointer(c, letters, [c_length(c)])
    allocate (character(len=size(letters)) :: text)
    do i = 1, size(letters)
      text(i:i) = letters(i)
    end do
  end function

end module hydra_support
