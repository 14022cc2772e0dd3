! test_serial: module hydra_serial: layouts and constants equal C's, and every call of hydra_plan.h does its job.
program test_serial
  use hydra_serial
  use tap
  implicit none

  interface
    function same_as_init(type, fortran) bind(c) result(same)
      import
      character(kind=c_char), intent(in) :: type(*)
      type(*), intent(in) :: fortran
      integer(c_int) :: same
    end function
    function same_layout(type, size, last) bind(c) result(same)
      import
      character(kind=c_char), intent(in) :: type(*)
      integer(c_size_t), value :: size, last
      integer(c_int) :: same
    end function
    function constant_of(name) bind(c) result(value)
      import
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int) :: value
    end function
  end interface

  type(Hydra_Plan_options), save :: default_options
  type(Hydra_Cost), save :: default_cost
  type(Hydra_Attn_config), save :: default_shape
  integer(hydra_int), parameter :: lengths(6) = [9000_hydra_int, 17_hydra_int, 0_hydra_int, 2500_hydra_int, 1_hydra_int, &
                                                 700_hydra_int]

  call result(same_as_init('options' // c_null_char, default_options) == 1, 'Hydra_Plan_options starts as in C, byte by byte')
  call result(same_as_init('cost' // c_null_char, default_cost) == 1, 'Hydra_Cost starts as in C, byte by byte')
  call result(same_as_init('attn' // c_null_char, default_shape) == 1, 'Hydra_Attn_config starts as in C, byte by byte')
  call layouts()
  call constants()
  call plan_of_six_documents()
  call files()
  call names_and_errors()
  call done()

contains

  function offset(whole, part) result(bytes)
    type(c_ptr), intent(in) :: whole, part
    integer(c_size_t) :: bytes

    bytes = int(transfer(part, 0_c_intptr_t) - transfer(whole, 0_c_intptr_t), c_size_t)
  end function

  subroutine layouts()
    type(Hydra_Schedule_stats), target :: stats
    type(Microbatch_layout), target :: view

    call result(same_layout('stats' // c_null_char, c_sizeof(stats), &
                            offset(c_loc(stats), c_loc(stats%predicted_seconds))) == 1, 'Hydra_Schedule_stats is laid out as in C')
    call result(same_layout('view' // c_null_char, c_sizeof(view), offset(c_loc(view), c_loc(view%group_ranks))) == 1, &
                'Hydra_Microbatch is laid out as in C')
  end subroutine

  subroutine constants()
    call compare('HYDRA_SUCCESS', HYDRA_SUCCESS)
    call compare('HYDRA_ERR_ARG', HYDRA_ERR_ARG)
    call compare('HYDRA_ERR_TIMEOUT', HYDRA_ERR_TIMEOUT)
    call compare('HYDRA_ERR_INTERNAL', HYDRA_ERR_INTERNAL)
    call compare('HYDRA_POLICY_DEFAULT', HYDRA_POLICY_DEFAULT)
    call compare('HYDRA_POLICY_AUTO', HYDRA_POLICY_AUTO)
    call compare('HYDRA_FACTOR_COST', HYDRA_FACTOR_COST)
    call compare('HYDRA_MASK_WINDOW', HYDRA_MASK_WINDOW)
    call compare('HYDRA_CAP_PAPER', HYDRA_CAP_PAPER)
    call compare('HYDRA_FLOAT16', HYDRA_FLOAT16)
    call compare('HYDRA_LOG_DEBUG', HYDRA_LOG_DEBUG)
    call compare('HYDRA_V', HYDRA_V)
    call compare('HYDRA_VERSION_MINOR', HYDRA_VERSION_MINOR)
  end subroutine

  subroutine compare(name, value)
    character(len=*), intent(in) :: name
    integer, intent(in) :: value

    call result(constant_of(name // c_null_char) == value, name // ' has the value of C')
  end subroutine

  ! Every token of every document is held by exactly one rank, at the position that the view says.
  subroutine plan_of_six_documents()
    type(Hydra_Plan_options) :: options
    type(Hydra_Schedule) :: schedule
    type(Hydra_Microbatch) :: view
    type(Hydra_Schedule_stats) :: stats
    character(len=:), allocatable :: text
    integer, allocatable :: seen(:)
    integer :: status, count, m, rank, d, row
    logical :: good

    options%budget = 4096
    call Hydra_Plan_serial(4, size(lengths), lengths, options, schedule, status)
    call result(status == HYDRA_SUCCESS .and. c_associated(schedule%handle), 'six documents are planned for four ranks')
    call Hydra_Schedule_count(schedule, count, status)
    good = status == HYDRA_SUCCESS .and. count >= 1

    allocate (seen(sum(lengths)), source=0)
    do m = 0, count - 1
      do rank = 0, 3
        call Hydra_Schedule_microbatch(schedule, m, rank, view, status)
        good = good .and. status == HYDRA_SUCCESS .and. view%index == m .and. size(view%positions) == view%tokens
        do d = 1, int(view%ndocs)
          good = good .and. view%doc_lengths(d) == lengths(view%doc_ids(d) + 1)
          do row = int(view%cu_seqlens(d)) + 1, int(view%cu_seqlens(d + 1))
            associate (place => int(sum(lengths(:view%doc_ids(d))) + view%positions(row)) + 1)
              seen(place) = seen(place) + 1
              good = good .and. view%global_positions(row) == place - 1
            end associate
          end do
        end do
        call Hydra_Microbatch_free(view, status)
        good = good .and. status == HYDRA_SUCCESS .and. .not. associated(view%positions)
      end do
    end do
    call result(good .and. all(seen == 1), 'the views hold every token of every document once')

    call Hydra_Schedule_stats_get(schedule, stats, status)
    call result(status == HYDRA_SUCCESS .and. stats%documents == size(lengths) .and. stats%tokens == sum(lengths) .and. &
                stats%microbatches == count, 'statistics count documents, tokens and microbatches')
    call Hydra_Schedule_explain(schedule, text, status)
    call result(status == HYDRA_SUCCESS .and. len(text) > 40, 'a schedule explains itself as text of any length')
    call Hydra_Schedule_free(schedule, status)
    call result(status == HYDRA_SUCCESS .and. .not. c_associated(schedule%handle), 'freeing a schedule nulls its handle')
  end subroutine

  subroutine files()
    type(Hydra_Plan_options) :: options
    type(Hydra_Schedule) :: made, loaded
    character(len=*), parameter :: path = 'test_serial_f90.schedule'
    integer(hydra_int) :: hashes(2)
    integer :: status(5), unit

    options%budget = 4096
    hashes = [1, 2]
    call Hydra_Plan_serial(4, size(lengths), lengths, options, made, status(1))
    call Hydra_Schedule_save(made, path, status(2))
    call Hydra_Schedule_load(path, loaded, status(3))
    call Hydra_Schedule_hash(made, hashes(1), status(4))
    call Hydra_Schedule_hash(loaded, hashes(2), status(5))
    call result(all(status == HYDRA_SUCCESS) .and. hashes(1) == hashes(2), 'a saved schedule loads with the same hash')
    call Hydra_Schedule_free(made)
    call Hydra_Schedule_free(loaded)
    open (newunit=unit, file=path)
    close (unit, status='delete')
    call Hydra_Schedule_load('/no/such/file', loaded, status(1))
    call result(status(1) == HYDRA_ERR_IO, 'a file that is not there is HYDRA_ERR_IO')
  end subroutine

  subroutine names_and_errors()
    type(Hydra_Plan_options) :: options
    type(Hydra_Schedule) :: schedule
    character(len=200) :: detail
    integer :: status, policy, major, minor, patch

    call Hydra_Policy_from_name('load ', policy, status)
    call result(status == HYDRA_SUCCESS .and. policy == HYDRA_POLICY_LOAD .and. Hydra_Policy_name(policy) == 'load' .and. &
                Hydra_Policy_name(-5) == '', 'policies have names')
    call result(Hydra_Error_string(HYDRA_ERR_NOMEM) == 'out of memory', 'status codes have texts')
    call Hydra_Get_version(major, minor, patch, status)
    call result(status == HYDRA_SUCCESS .and. major == HYDRA_VERSION_MAJOR .and. minor == HYDRA_VERSION_MINOR .and. &
                patch == HYDRA_VERSION_PATCH, 'the library has the version of the module')

    options%budget = 100
    call Hydra_Plan_serial(2, 1, [777777_hydra_int], options, schedule, status)
    call Hydra_Error_detail(detail)
    call result(status == HYDRA_ERR_INFEASIBLE .and. index(detail, '777777') > 0 .and. .not. c_associated(schedule%handle), &
                'a document that no rank can hold is named in the error')
    call Hydra_Plan_serial(2, 3, [1_hydra_int], options, schedule, status)
    call Hydra_Error_detail(detail)
    call result(status == HYDRA_ERR_ARG .and. index(detail, 'ndocs') > 0, 'fewer lengths than documents are refused')
  end subroutine

end program test_serial
