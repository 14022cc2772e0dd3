! hydra_serial: hydra_plan.h for Fortran: planning without MPI. Module hydra includes it.
!
! Counts of documents and microbatches, ranks and sizes are default integers; numbers of tokens are integer(hydra_int).
! Ids, ranks and microbatches count from 0, as in C. A call without ierror that fails writes an error to the log.
module hydra_serial
  use, intrinsic :: iso_c_binding
  use hydra_c
  use hydra_support
  implicit none
  private :: finish, refuse, to_c, from_c, point

  integer, parameter :: hydra_int = c_int64_t

  type :: Hydra_Schedule
    type(c_ptr) :: handle = c_null_ptr
  end type
  type(Hydra_Schedule), parameter :: HYDRA_SCHEDULE_NULL = Hydra_Schedule()

  ! One rank's part of one microbatch. The arrays live until Hydra_Microbatch_free.
  type :: Hydra_Microbatch
    integer(hydra_int) :: index = 0          ! m
    integer(hydra_int) :: tokens = 0         ! T: tokens that this rank holds
    integer(hydra_int) :: tokens_aligned = 0 ! T rounded up to the plan's align
    integer(hydra_int) :: slot = 0
    integer(hydra_int) :: first_slot = 0     ! of the group
    integer(hydra_int) :: degree = 0         ! size of the group, 0 when idle
    integer(hydra_int) :: member = 0         ! slot - first_slot
    integer(hydra_int) :: ulysses = 0        ! U
    integer(hydra_int) :: ring = 0           ! R
    integer(hydra_int) :: ndocs = 0          ! documents of the group
    integer(hydra_int), pointer, contiguous :: doc_ids(:) => null()          ! (ndocs), from 0
    integer(hydra_int), pointer, contiguous :: doc_lengths(:) => null()      ! (ndocs) tokens
    integer(hydra_int), pointer, contiguous :: cu_seqlens(:) => null()       ! (ndocs + 1): document d is cu(d)+1 .. cu(d+1)
    real(c_double), pointer, contiguous :: token_share(:) => null()          ! (ndocs)
    integer(hydra_int), pointer, contiguous :: positions(:) => null()        ! (tokens), from 0
    integer(hydra_int), pointer, contiguous :: global_positions(:) => null() ! (tokens), from 0
    integer(hydra_int), pointer, contiguous :: group_ranks(:) => null()      ! (degree), from 0
    type(Microbatch_layout), private :: layout
  end type

contains

  subroutine Hydra_Plan_serial(pool_size, ndocs, lengths, options, schedule, ierror)
    integer, intent(in) :: pool_size, ndocs
    integer(hydra_int), intent(in), contiguous :: lengths(:)
    type(Hydra_Plan_options), intent(in) :: options
    type(Hydra_Schedule), intent(inout) :: schedule
    integer, optional, intent(out) :: ierror
    integer(c_int) :: status

    if (size(lengths) < ndocs) then
      status = refuse('lengths holds fewer than ndocs elements')
    else
      status = c_Hydra_Plan_serial(int(pool_size, c_int64_t), int(ndocs, c_int64_t), lengths, options, schedule%handle)
    end if
    call finish(status, ierror)
  end subroutine

  subroutine Hydra_Schedule_free(schedule, ierror)
    type(Hydra_Schedule), intent(inout) :: schedule
    integer, optional, intent(out) :: ierror

    call finish(c_Hydra_Schedule_free(schedule%handle), ierror)
  end subroutine

  subroutine Hydra_Schedule_count(schedule, microbatches, ierror)
    type(Hydra_Schedule), intent(in) :: schedule
    integer, intent(out) :: microbatches
    integer, optional, intent(out) :: ierror
    integer(c_int64_t) :: count
    integer(c_int) :: status

    count = 0
    status = c_Hydra_Schedule_count(schedule%handle, count)
    microbatches = int(count)
    call finish(status, ierror)
  end subroutine

  subroutine Hydra_Schedule_microbatch(schedule, m, rank, view, ierror)
    type(Hydra_Schedule), intent(in) :: schedule
    integer, intent(in) :: m, rank
    type(Hydra_Microbatch), intent(out) :: view
    integer, optional, intent(out) :: ierror
    integer(c_int) :: status

    status = c_Hydra_Schedule_microbatch(schedule%handle, int(m, c_int64_t), int(rank, c_int64_t), view%layout)
    if (status == HYDRA_SUCCESS) call point(view, view%layout)
    call finish(status, ierror)
  end subroutine

  subroutine point(view, c)
    type(Hydra_Microbatch), intent(inout) :: view
    type(Microbatch_layout), intent(in) :: c

    view%index = c%index
    view%tokens = c%tokens
    view%tokens_aligned = c%tokens_aligned
    view%slot = c%slot
    view%first_slot = c%first_slot
    view%degree = c%degree
    view%member = c%member
    view%ulysses = c%ulysses
    view%ring = c%ring
    view%ndocs = c%ndocs
    call c_f_pointer(c%doc_ids, view%doc_ids, [c%ndocs])
    call c_f_pointer(c%doc_lengths, view%doc_lengths, [c%ndocs])
    call c_f_pointer(c%cu_seqlens, view%cu_seqlens, [c%ndocs + 1])
    call c_f_pointer(c%token_share, view%token_share, [c%ndocs])
    call c_f_pointer(c%positions, view%positions, [c%tokens])
    call c_f_pointer(c%global_positions, view%global_positions, [c%tokens])
    call c_f_pointer(c%group_ranks, view%group_ranks, [c%degree])
  end subroutine

  subroutine Hydra_Microbatch_free(view, ierror)
    type(Hydra_Microbatch), intent(inout) :: view
    integer, optional, intent(out) :: ierror
    integer(c_int) :: status

    status = c_Hydra_Microbatch_free(view%layout)
    view = Hydra_Microbatch()
    call finish(status, ierror)
  end subroutine

  subroutine Hydra_Schedule_stats_get(schedule, stats, ierror)
    type(Hydra_Schedule), intent(in) :: schedule
    type(Hydra_Schedule_stats), intent(inout) :: stats
    integer, optional, intent(out) :: ierror

    call finish(c_Hydra_Schedule_stats_get(schedule%handle, stats), ierror)
  end subroutine

  ! The whole text, lines ended by new_line('a').
  subroutine Hydra_Schedule_explain(schedule, text, ierror)
    type(Hydra_Schedule), intent(in) :: schedule
    character(len=:), allocatable, intent(out) :: text
    integer, optional, intent(out) :: ierror
    character(kind=c_char), allocatable, target :: letters(:)
    integer(c_size_t) :: needed
    integer(c_int) :: status

    allocate (letters(1))
    needed = 0
    status = c_Hydra_Schedule_explain(schedule%handle, letters, 1_c_size_t, needed)
    if (needed > 0) then
      deallocate (letters)
      allocate (letters(needed))
      status = c_Hydra_Schedule_explain(schedule%handle, letters, needed, needed)
    end if
    text = ''
    if (status == HYDRA_SUCCESS) text = from_c(c_loc(letters))
    call finish(status, ierror)
  end subroutine

  subroutine Hydra_Schedule_save(schedule, path, ierror)
    type(Hydra_Schedule), intent(in) :: schedule
    character(len=*), intent(in) :: path
    integer, optional, intent(out) :: ierror

    call finish(c_Hydra_Schedule_save(schedule%handle, to_c(path)), ierror)
  end subroutine

  subroutine Hydra_Schedule_load(path, schedule, ierror)
    character(len=*), intent(in) :: path
    type(Hydra_Schedule), intent(inout) :: schedule
    integer, optional, intent(out) :: ierror

    call finish(c_Hydra_Schedule_load(to_c(path), schedule%handle), ierror)
  end subroutine

  ! The 64 bits of the hash as a signed number.
  subroutine Hydra_Schedule_hash(schedule, hash, ierror)
    type(Hydra_Schedule), intent(in) :: schedule
    integer(hydra_int), intent(out) :: hash
    integer, optional, intent(out) :: ierror

    hash = 0
    call finish(c_Hydra_Schedule_hash(schedule%handle, hash), ierror)
  end subroutine

  subroutine Hydra_Policy_from_name(name, policy, ierror)
    character(len=*), intent(in) :: name
    integer, intent(out) :: policy
    integer, optional, intent(out) :: ierror
    integer(c_int) :: found, status

    found = HYDRA_POLICY_DEFAULT
    status = c_Hydra_Policy_from_name(to_c(name), found)
    policy = found
    call finish(status, ierror)
  end subroutine

  ! '' for an unknown policy.
  function Hydra_Policy_name(policy) result(name)
    integer, intent(in) :: policy
    character(len=:), allocatable :: name

    name = from_c(c_Hydra_Policy_name(int(policy, c_int)))
  end function

  function Hydra_Error_string(status) result(text)
    integer, intent(in) :: status
    character(len=:), allocatable :: text

    text = from_c(c_Hydra_Error_string(int(status, c_int)))
  end function

  ! Cut, or padded with blanks, to the length of text.
  subroutine Hydra_Error_detail(text, ierror)
    character(len=*), intent(out) :: text
    integer, optional, intent(out) :: ierror
    character(kind=c_char), target :: letters(len(text) + 1)
    integer(c_int) :: status

    letters(1) = c_null_char
    status = c_Hydra_Error_detail(letters, size(letters, kind=c_size_t))
    text = from_c(c_loc(letters))
    call finish(status, ierror)
  end subroutine

  subroutine Hydra_Get_version(major, minor, patch, ierror)
    integer, optional, intent(out) :: major, minor, patch, ierror
    integer(c_int) :: number(3), status

    status = c_Hydra_Get_version(number(1), number(2), number(3))
    if (present(major)) major = number(1)
    if (present(minor)) minor = number(2)
    if (present(patch)) patch = number(3)
    call finish(status, ierror)
  end subroutine

end module hydra_serial
