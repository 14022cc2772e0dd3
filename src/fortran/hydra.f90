! hydra: hydra.h for Fortran. Every call of the two headers, with the arguments of C in the order of C, then ierror.
!
! Communicators are integers (use mpi) or type(MPI_Comm) (use mpi_f08). Buffers are contiguous arrays of rank 1 to 4: of
! real(4), real(8) or, for bfloat16 and float16, integer(2) in attention; of any type where tokens are moved. The first
! index runs fastest: q(D, H, T) here is q[T][H][D] in C. Arrays given to a _start call carry the attribute asynchronous.
! Ids, ranks and microbatches count from 0, as in C. A call without ierror that fails writes an error to the log.
module hydra
  use, intrinsic :: iso_c_binding
  use mpi, only: integer_comm_null => MPI_COMM_NULL
  use mpi_f08, only: MPI_Comm
  use hydra_c
  use hydra_support
  use hydra_serial
  implicit none
  private :: finish, refuse, to_c, from_c, MPI_Comm, integer_comm_null

  type :: Hydra_Context
    type(c_ptr) :: handle = c_null_ptr
  end type
  type :: Hydra_Attn
    type(c_ptr) :: handle = c_null_ptr
    integer, private :: dtype = -1
  end type
  type :: Hydra_Saved
    type(c_ptr) :: handle = c_null_ptr
  end type
  type :: Hydra_Op
    type(c_ptr) :: handle = c_null_ptr
    integer, private :: dtype = -1
  end type
  type(Hydra_Context), parameter :: HYDRA_CONTEXT_NULL = Hydra_Context()
  type(Hydra_Attn), parameter :: HYDRA_ATTN_NULL = Hydra_Attn()
  type(Hydra_Saved), parameter :: HYDRA_SAVED_NULL = Hydra_Saved()
  type(Hydra_Op), parameter :: HYDRA_OP_NULL = Hydra_Op()

  ! As in C; a name that is not allocated means "the best here" or the environment's word.
  type :: Hydra_Config
    integer :: peers = integer_comm_null ! of a type(MPI_Comm): its component MPI_VAL
    character(len=:), allocatable :: topology, kernel, alltoall, ring
    real(c_double) :: timeout = 0
  end type

  type, bind(c), private :: Shim_config
    integer(c_int) :: peers
    type(c_ptr) :: topology, kernel, alltoall, ring
    real(c_double) :: timeout
  end type

  abstract interface
    subroutine Hydra_Log_function(level, module, text)
      integer, intent(in) :: level
      character(len=*), intent(in) :: module, text
    end subroutine
  end interface
  procedure(Hydra_Log_function), pointer, private :: log_function => null()

  interface
    function shim_init(pool, config, context) bind(c, name="Hydra_fortran_init") result(status)
      import
      integer(c_int), value :: pool ! MPI_Fint
      type(Shim_config), intent(in) :: config
      type(c_ptr), intent(inout) :: context
      integer(c_int) :: status
    end function
    function shim_group_comm(context, schedule, m, comm) bind(c, name="Hydra_fortran_group_comm") result(status)
      import
      type(c_ptr), value :: context, schedule
      integer(c_int64_t), value :: m
      integer(c_int), intent(inout) :: comm
      integer(c_int) :: status
    end function
    function shim_schedule_bcast(schedule, root, comm) bind(c, name="Hydra_fortran_schedule_bcast") result(status)
      import
      type(c_ptr), intent(inout) :: schedule
      integer(c_int), value :: root
      integer(c_int), value :: comm
      integer(c_int) :: status
    end function
    function shim_set_log(function, level) bind(c, name="Hydra_fortran_set_log") result(status)
      import
      type(c_funptr), value :: function
      integer(c_int), value :: level
      integer(c_int) :: status
    end function
  end interface
  private :: shim_init, shim_group_comm, shim_schedule_bcast, shim_set_log

  interface Hydra_Init
    module procedure init_mpi, init_f08
  end interface
  interface Hydra_Group_comm
    module procedure group_comm_mpi, group_comm_f08
  end interface
  interface Hydra_Schedule_bcast
    module procedure schedule_bcast_mpi, schedule_bcast_f08
  end interface
  private :: usable, bytes, saved_handle, name_of, letters, pass_log
  private :: init_mpi, init_f08, group_comm_mpi, group_comm_f08, schedule_bcast_mpi, schedule_bcast_f08

  ! Specific procedures for every rank and kind of buffers: made from buffers.f90.in.
  include 'hydra_buffer_interfaces.inc'

contains

  subroutine init_mpi(pool, config, context, ierror)
    integer, intent(in) :: pool
    type(Hydra_Config), intent(in) :: config
    type(Hydra_Context), intent(inout) :: context
    integer, optional, intent(out) :: ierror
    character(kind=c_char), allocatable, target :: topology(:), kernel(:), alltoall(:), ring(:)
    type(Shim_config) :: shim

    allocate (topology, source=name_of(config%topology))
    allocate (kernel, source=name_of(config%kernel))
    allocate (alltoall, source=name_of(config%alltoall))
    allocate (ring, source=name_of(config%ring))
    shim = Shim_config(config%peers, c_loc(topology), c_loc(kernel), c_loc(alltoall), c_loc(ring), config%timeout)
    call finish(shim_init(pool, shim, context%handle), ierror)
  end subroutine

  subroutine init_f08(pool, config, context, ierror)
    type(MPI_Comm), intent(in) :: pool
    type(Hydra_Config), intent(in) :: config
    type(Hydra_Context), intent(inout) :: context
    integer, optional, intent(out) :: ierror

    call init_mpi(pool%MPI_VAL, config, context, ierror)
  end subroutine

  function name_of(text) result(c)
    character(len=:), allocatable, intent(in) :: text
    character(kind=c_char), allocatable :: c(:)

    if (allocated(text)) then
      c = to_c(text)
    else
      c = to_c('')
    end if
  end function

  subroutine Hydra_Finalize(context, ierror)
    type(Hydra_Context), intent(inout) :: context
    integer, optional, intent(out) :: ierror

    call finish(c_Hydra_Finalize(context%handle), ierror)
  end subroutine

  subroutine Hydra_Context_query(context, size, rank, slot, ierror)
    type(Hydra_Context), intent(in) :: context
    integer, optional, intent(out) :: size, rank, slot, ierror
    integer(c_int) :: number(3), status

    number = 0
    status = c_Hydra_Context_query(context%handle, number(1), number(2), number(3))
    if (present(size)) size = number(1)
    if (present(rank)) rank = number(2)
    if (present(slot)) slot = number(3)
    call finish(status, ierror)
  end subroutine

  subroutine Hydra_Plan(context, ndocs, lengths, options, schedule, ierror)
    type(Hydra_Context), intent(in) :: context
    integer, intent(in) :: ndocs
    integer(hydra_int), intent(in), contiguous :: lengths(:)
    type(Hydra_Plan_options), intent(in) :: options
    type(Hydra_Schedule), intent(inout) :: schedule
    integer, optional, intent(out) :: ierror
    integer(c_int64_t) :: count
    integer(c_int) :: status

    ! Collective: a rank with too few lengths must still call, so that all of them fail together.
    count = ndocs
    if (size(lengths) < ndocs) count = -1
    status = c_Hydra_Plan(context%handle, count, lengths, options, schedule%handle)
    if (count < 0 .and. ndocs >= 0 .and. status == HYDRA_ERR_ARG) status = refuse('lengths holds fewer than ndocs elements')
    call finish(status, ierror)
  end subroutine

  subroutine schedule_bcast_mpi(schedule, root, comm, ierror)
    type(Hydra_Schedule), intent(inout) :: schedule
    integer, intent(in) :: root, comm
    integer, optional, intent(out) :: ierror

    call finish(shim_schedule_bcast(schedule%handle, int(root, c_int), comm), ierror)
  end subroutine

  subroutine schedule_bcast_f08(schedule, root, comm, ierror)
    type(Hydra_Schedule), intent(inout) :: schedule
    integer, intent(in) :: root
    type(MPI_Comm), intent(in) :: comm
    integer, optional, intent(out) :: ierror

    call schedule_bcast_mpi(schedule, root, comm%MPI_VAL, ierror)
  end subroutine

  subroutine group_comm_mpi(context, schedule, m, comm, ierror)
    type(Hydra_Context), intent(in) :: context
    type(Hydra_Schedule), intent(in) :: schedule
    integer, intent(in) :: m
    integer, intent(out) :: comm
    integer, optional, intent(out) :: ierror

    comm = integer_comm_null
    call finish(shim_group_comm(context%handle, schedule%handle, int(m, c_int64_t), comm), ierror)
  end subroutine

  subroutine group_comm_f08(context, schedule, m, comm, ierror)
    type(Hydra_Context), intent(in) :: context
    type(Hydra_Schedule), intent(in) :: schedule
    integer, intent(in) :: m
    type(MPI_Comm), intent(out) :: comm
    integer, optional, intent(out) :: ierror

    call group_comm_mpi(context, schedule, m, comm%MPI_VAL, ierror)
  end subroutine

  subroutine Hydra_Op_wait(op, ierror)
    type(Hydra_Op), intent(inout) :: op
    integer, optional, intent(out) :: ierror

    call finish(c_Hydra_Op_wait(op%handle), ierror)
  end subroutine

  subroutine Hydra_Attn_create(context, config, attn, ierror)
    type(Hydra_Context), intent(in) :: context
    type(Hydra_Attn_config), intent(in) :: config
    type(Hydra_Attn), intent(inout) :: attn
    integer, optional, intent(out) :: ierror
    integer(c_int) :: status

    status = c_Hydra_Attn_create(context%handle, config, attn%handle)
    if (status == HYDRA_SUCCESS) attn%dtype = config%dtype
    call finish(status, ierror)
  end subroutine

  subroutine Hydra_Attn_free(attn, ierror)
    type(Hydra_Attn), intent(inout) :: attn
    integer, optional, intent(out) :: ierror

    call finish(c_Hydra_Attn_free(attn%handle), ierror)
  end subroutine

  subroutine Hydra_Attn_reserve(attn, schedule, ierror)
    type(Hydra_Attn), intent(in) :: attn
    type(Hydra_Schedule), intent(in) :: schedule
    integer, optional, intent(out) :: ierror

    call finish(c_Hydra_Attn_reserve(attn%handle, schedule%handle), ierror)
  end subroutine

  subroutine Hydra_Saved_create(attn, saved, ierror)
    type(Hydra_Attn), intent(in) :: attn
    type(Hydra_Saved), intent(inout) :: saved
    integer, optional, intent(out) :: ierror

    call finish(c_Hydra_Saved_create(attn%handle, saved%handle), ierror)
  end subroutine

  subroutine Hydra_Saved_free(saved, ierror)
    type(Hydra_Saved), intent(inout) :: saved
    integer, optional, intent(out) :: ierror

    call finish(c_Hydra_Saved_free(saved%handle), ierror)
  end subroutine

  subroutine Hydra_Attn_start(attn, schedule, m, op, ierror)
    type(Hydra_Attn), intent(in) :: attn
    type(Hydra_Schedule), intent(in) :: schedule
    integer, intent(in) :: m
    type(Hydra_Op), intent(inout) :: op
    integer, optional, intent(out) :: ierror
    integer(c_int) :: status

    status = c_Hydra_Attn_start(attn%handle, schedule%handle, int(m, c_int64_t), op%handle)
    if (status == HYDRA_SUCCESS) op%dtype = attn%dtype
    call finish(status, ierror)
  end subroutine

  ! Without function the lines go to stderr again. One log a process.
  subroutine Hydra_Set_log(level, function, ierror)
    integer, intent(in) :: level
    procedure(Hydra_Log_function), optional :: function
    integer, optional, intent(out) :: ierror

    if (present(function)) then
      log_function => function
      call finish(shim_set_log(c_funloc(pass_log), int(level, c_int)), ierror)
    else
      call finish(shim_set_log(c_null_funptr, int(level, c_int)), ierror)
    end if
  end subroutine

  subroutine pass_log(level, module, module_length, text, text_length) bind(c, name="")
    integer(c_int), value :: level, module_length, text_length
    character(kind=c_char), intent(in) :: module(module_length), text(text_length)

    call log_function(int(level), letters(module), letters(text))
  end subroutine

  pure function letters(c) result(text)
    character(kind=c_char), intent(in) :: c(:)
    character(len=size(c)) :: text
    integer :: i

    do i = 1, size(c)
      text(i:i) = c(i)
    end do
  end function

  subroutine Hydra_Counter_get(context, name, value, ierror)
    type(Hydra_Context), intent(in) :: context
    character(len=*), intent(in) :: name
    real(c_double), intent(out) :: value
    integer, optional, intent(out) :: ierror

    value = 0
    call finish(c_Hydra_Counter_get(context%handle, to_c(name), value), ierror)
  end subroutine

  ! '' past the end.
  function Hydra_Counter_name(index) result(name)
    integer, intent(in) :: index
    character(len=:), allocatable :: name

    name = from_c(c_Hydra_Counter_name(int(index, c_int)))
  end function

  ! Refuse buffers with gaps, and elements that are not those of the layer; names in the order of contiguous.
  function usable(dtype, bytes, contiguous, names) result(status)
    integer, intent(in) :: dtype, bytes
    logical, intent(in) :: contiguous(:)
    character(len=*), intent(in) :: names
    integer(c_int) :: status
    character(len=64) :: why
    integer, parameter :: bytes_of(0:3) = [4, 8, 2, 2]

    status = HYDRA_SUCCESS
    if (.not. all(contiguous)) then
      status = refuse('a buffer is not contiguous: one of ' // names)
    else if (dtype >= 0 .and. dtype <= 3) then
      if (bytes_of(dtype) /= bytes) then
        write (why, '(a, i0, a, i0)') 'elements of ', bytes, ' bytes for a layer whose elements have ', bytes_of(dtype)
        status = refuse(trim(why))
      end if
    end if
  end function

  ! A size below zero becomes zero, which C refuses.
  pure function bytes(bytes_per_token) result(size)
    integer, intent(in) :: bytes_per_token
    integer(c_size_t) :: size

    size = max(bytes_per_token, 0)
  end function

  function saved_handle(saved) result(handle)
    type(Hydra_Saved), intent(in), optional :: saved
    type(c_ptr) :: handle

    handle = c_null_ptr
    if (present(saved)) handle = saved%handle
  end function

  include 'hydra_buffers.inc'

end module hydra
