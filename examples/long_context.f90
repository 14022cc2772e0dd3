! long_context.f90: one layer of attention over documents of uneven length: plan, dispatch, forward, backward, collect,
! and a check of every document's first KV head against a plain computation in double precision.
!
!   mpiexec -n 4 ./long_context_f90
program long_context
  use mpi_f08
  use hydra
  implicit none

  integer, parameter :: heads = 8, kv_heads = 2, dim = 64, shared = heads / kv_heads
  integer, parameter :: bytes = 4 ! of an element
  real(c_double), parameter :: bound = 2e-5_c_double

  ! Tokens of the documents of the batch: many are short, few are long.
  integer(hydra_int), parameter :: batch(24) = int([1391, 64, 211, 1024, 38, 5, 402, 117, 777, 90, 0, 256, &
                                                    640, 33, 158, 71, 12, 305, 1, 940, 58, 129, 23, 187], hydra_int)

  type(Hydra_Config) :: config
  type(Hydra_Context) :: context
  type(Hydra_Plan_options) :: options
  type(Hydra_Schedule) :: schedule
  type(Hydra_Attn_config) :: shape
  type(Hydra_Attn) :: attn
  type(Hydra_Saved) :: saved
  integer(hydra_int), allocatable :: lengths(:)
  real(c_float), allocatable :: q(:,:,:), k(:,:,:), v(:,:,:), dout(:,:,:)                 ! at home: where they were loaded
  real(c_float), allocatable :: out(:,:,:), lse(:,:), dq(:,:,:), dk(:,:,:), dv(:,:,:)
  real(c_double) :: error
  integer :: rank, ranks, count, m

  call MPI_Init_thread(MPI_THREAD_FUNNELED, m)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)

  call check(status_of_init(), 'Hydra_Init')
  call load()
  call compare_policies()

  options%policy = HYDRA_POLICY_LOAD
  call plan(schedule)
  shape%heads = heads
  shape%kv_heads = kv_heads
  shape%head_dim = dim
  call check(status_of_layer(), 'Hydra_Attn_create')

  call Hydra_Schedule_count(schedule, count)
  do m = 0, count - 1 ! the same number on every rank
    call microbatch(m)
  end do

  error = greatest_error()
  call MPI_Allreduce(MPI_IN_PLACE, error, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)
  if (rank == 0) print '(a, es8.1, a, es8.1, a)', 'greatest relative error against double precision: ', error, &
    ' (bound ', bound, ')'

  call Hydra_Saved_free(saved)
  call Hydra_Attn_free(attn)
  call Hydra_Schedule_free(schedule)
  call Hydra_Finalize(context)
  call MPI_Finalize()
  if (.not. error <= bound) stop 1

contains

  integer function status_of_init() result(status)
    call Hydra_Init(MPI_COMM_WORLD, config, context, status)
  end function

  integer function status_of_layer() result(status)
    call Hydra_Attn_create(context, shape, attn, status)
    if (status == HYDRA_SUCCESS) call Hydra_Attn_reserve(attn, schedule, status)
    if (status == HYDRA_SUCCESS) call Hydra_Saved_create(attn, saved, status)
  end function

  ! The library tells why; the program decides what then.
  subroutine check(status, call)
    integer, intent(in) :: status
    character(len=*), intent(in) :: call
    character(len=500) :: detail

    if (status == HYDRA_SUCCESS) return
    call Hydra_Error_detail(detail)
    print '(a, i0, 5a)', 'rank ', rank, ': ', call, ': ', Hydra_Error_string(status), ': ' // trim(detail)
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine

  ! Deal the documents round robin, as a data loader would, and fill their tensors.
  subroutine load()
    integer :: tokens

    lengths = batch(rank + 1::ranks)
    tokens = int(sum(lengths))
    allocate (q(dim, heads, tokens), k(dim, kv_heads, tokens), v(dim, kv_heads, tokens), dout(dim, heads, tokens))
    allocate (out, dq, mold=q)
    allocate (dk, dv, mold=k)
    allocate (lse(heads, tokens))
    call random_init(repeatable=.true., image_distinct=.false.)
    call random_number(q)
    call random_number(k)
    call random_number(v)
    call random_number(dout)
    q = 4 * (q - 0.5)
    k = 2 * (k - 0.5) + rank
    v = v - 0.5
    dout = dout - 0.5
  end subroutine

  subroutine plan(made)
    type(Hydra_Schedule), intent(inout) :: made
    integer :: status

    options%budget = 1024
    options%heads = heads
    options%kv_heads = kv_heads
    call Hydra_Plan(context, size(lengths), lengths, options, made, status)
    call check(status, 'Hydra_Plan')
  end subroutine

  ! The longest sum of loads over the microbatches is what the ranks wait for.
  subroutine compare_policies()
    integer, parameter :: policies(3) = [HYDRA_POLICY_STATIC, HYDRA_POLICY_MEMORY, HYDRA_POLICY_LOAD]
    type(Hydra_Schedule) :: made
    type(Hydra_Schedule_stats) :: stats
    real(c_double) :: static
    integer :: i

    if (rank == 0) print '(a)', 'policy    microbatches  greatest degree  load max/mean  critical path against static'
    static = 0
    do i = 1, size(policies)
      options%policy = policies(i)
      call plan(made)
      call Hydra_Schedule_stats_get(made, stats)
      if (policies(i) == HYDRA_POLICY_STATIC) static = stats%critical_load
      if (rank == 0) print '(a10, i12, i17, f15.2, f30.2)', Hydra_Policy_name(policies(i)) // repeat(' ', 10), &
        stats%microbatches, stats%greatest_degree, stats%load_imbalance, stats%critical_load / static
      call Hydra_Schedule_free(made)
    end do
  end subroutine

  subroutine microbatch(m)
    integer, intent(in) :: m
    type(Hydra_Microbatch) :: my
    real(c_float), allocatable, dimension(:,:,:) :: my_q, my_k, my_v, my_out, my_dout, my_dq, my_dk, my_dv
    real(c_float), allocatable :: my_lse(:,:)
    integer :: tokens, status

    call Hydra_Schedule_microbatch(schedule, m, rank, my)
    tokens = int(my%tokens)
    if (my%member == 0 .and. my%degree > 0) print '(a, i0, a, i0, a, i0, a, i0, a)', 'microbatch ', m, ': slots ', &
      my%first_slot, ' to ', my%first_slot + my%degree - 1, ' carry ', my%ndocs, ' documents'
    allocate (my_q(dim, heads, tokens), my_k(dim, kv_heads, tokens), my_v(dim, kv_heads, tokens))
    allocate (my_out, my_dout, my_dq, mold=my_q)
    allocate (my_dk, my_dv, mold=my_k)
    allocate (my_lse(heads, tokens))

    call Hydra_Dispatch(context, schedule, m, bytes * dim * heads, q, my_q, status)
    call check(status, 'Hydra_Dispatch')
    call Hydra_Dispatch(context, schedule, m, bytes * dim * kv_heads, k, my_k)
    call Hydra_Dispatch(context, schedule, m, bytes * dim * kv_heads, v, my_v)
    call Hydra_Dispatch(context, schedule, m, bytes * dim * heads, dout, my_dout)

    call Hydra_Attn_forward(attn, schedule, m, my_q, my_k, my_v, my_out, my_lse, saved, status)
    call check(status, 'Hydra_Attn_forward')
    call Hydra_Attn_backward(attn, schedule, m, my_q, my_k, my_v, my_out, my_lse, saved, my_dout, my_dq, my_dk, my_dv, status)
    call check(status, 'Hydra_Attn_backward')

    call Hydra_Collect(context, schedule, m, bytes * dim * heads, my_out, out, status)
    call check(status, 'Hydra_Collect')
    call Hydra_Collect(context, schedule, m, bytes * heads, my_lse, lse)
    call Hydra_Collect(context, schedule, m, bytes * dim * heads, my_dq, dq)
    call Hydra_Collect(context, schedule, m, bytes * dim * kv_heads, my_dk, dk)
    call Hydra_Collect(context, schedule, m, bytes * dim * kv_heads, my_dv, dv)
    call Hydra_Microbatch_free(my)
  end subroutine

  ! Over the documents that this rank loaded: the first KV head with the query heads that read it.
  real(c_double) function greatest_error() result(error)
    integer :: d, first, last

    error = 0
    last = 0
    do d = 1, size(lengths)
      first = last + 1
      last = last + int(lengths(d))
      if (last >= first) error = max(error, error_of(first, last))
    end do
  end function

  real(c_double) function error_of(first, last) result(error)
    integer, intent(in) :: first, last
    real(c_double), allocatable, dimension(:,:) :: a, b, c, g, p, ds, dk_sum, dv_sum
    real(c_double), allocatable :: row_lse(:), delta(:)
    real(c_double) :: scale
    integer :: h, i

    scale = 1 / sqrt(real(dim, c_double))
    b = real(k(:, 1, first:last), c_double)
    c = real(v(:, 1, first:last), c_double)
    allocate (dk_sum, dv_sum, mold=b)
    dk_sum = 0
    dv_sum = 0
    error = 0
    do h = 1, shared
      a = real(q(:, h, first:last), c_double)
      g = real(dout(:, h, first:last), c_double)
      p = matmul(transpose(b), a) * scale ! column i: scores of query i
      row_lse = [(maxval(p(:i, i)) + log(sum(exp(p(:i, i) - maxval(p(:i, i))))), i = 1, size(p, 2))]
      do i = 1, size(p, 2)
        p(:i, i) = exp(p(:i, i) - row_lse(i))
        p(i + 1:, i) = 0
      end do
      ds = matmul(c, p) ! the outputs
      error = max(error, relative(real(out(:, h, first:last), c_double), ds))
      error = max(error, relative(real(lse(h:h, first:last), c_double), reshape(row_lse, [1, size(row_lse)])))
      delta = sum(g * ds, dim=1)
      dv_sum = dv_sum + matmul(g, transpose(p))
      ds = p * (matmul(transpose(c), g) - spread(delta, 1, size(p, 1)))
      error = max(error, relative(real(dq(:, h, first:last), c_double), matmul(b, ds) * scale))
      dk_sum = dk_sum + matmul(a, transpose(ds)) * scale
    end do
    error = max(error, relative(real(dk(:, 1, first:last), c_double), dk_sum))
    error = max(error, relative(real(dv(:, 1, first:last), c_double), dv_sum))
  end function

  ! Greatest difference over the greatest value; at least 1, for values that are all close to 0.
  real(c_double) function relative(got, wanted)
    real(c_double), intent(in) :: got(:,:), wanted(:,:)

    relative = maxval(abs(got - wanted)) / max(1.0_c_double, maxval(abs(wanted)))
    if (any(got /= got)) relative = huge(relative)
  end function

end program long_context
