! test_hydra: every call of module hydra does what C does, for both kinds of communicators and buffers of rank 1 to 4.
! The oracle of attention is the definition in double precision, over documents that lie on one rank.
program test_hydra
  use mpi_f08
  use hydra
  use tap
  implicit none

  integer, parameter :: heads = 2, kv_heads = 1, dim = 4
  integer(hydra_int), parameter :: all_lengths(6) = int([37, 1, 0, 12, 5, 23], hydra_int)
  type(Hydra_Config) :: config
  type(Hydra_Context) :: context, second
  type(Hydra_Plan_options) :: options
  type(Hydra_Schedule) :: schedule
  integer(hydra_int), allocatable :: lengths(:)
  integer :: rank, ranks, level, status, log_lines = 0
  character(len=200) :: last_line = ''

  call MPI_Init_thread(MPI_THREAD_FUNNELED, level)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  lengths = all_lengths(rank + 1::ranks)
  options%budget = 40
  options%heads = heads
  options%kv_heads = kv_heads

  call contexts()
  call Hydra_Plan(context, size(lengths), lengths, options, schedule, status)
  call agree(status == HYDRA_SUCCESS, 'the documents of all ranks are planned')
  call short_lengths()
  call broadcast()
  call groups()
  call payload()
  call split_payload()
  call attention()
  call refusals()
  call logs_and_counters()

  call Hydra_Schedule_free(schedule)
  call Hydra_Finalize(context, status)
  call agree(status == HYDRA_SUCCESS .and. .not. c_associated(context%handle), 'finalising nulls the handle')
  if (rank == 0) then
    call done()
  end if
  call MPI_Finalize()

contains

  subroutine agree(good, sentence)
    logical, intent(in) :: good
    character(len=*), intent(in) :: sentence
    logical :: everywhere
    character(len=200) :: detail

    if (.not. good) then
      call Hydra_Error_detail(detail)
      print '(a, i0, 4a)', '# rank ', rank, ': ', sentence, ': ', trim(detail)
    end if
    call MPI_Allreduce(good, everywhere, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD)
    if (rank == 0) call result(everywhere, sentence)
  end subroutine

  ! The last rank says that it has one document more than lengths holds.
  subroutine short_lengths()
    type(Hydra_Schedule) :: none
    character(len=200) :: detail
    logical :: last, good

    last = rank == ranks - 1
    call Hydra_Plan(context, size(lengths) + merge(1, 0, last), lengths, options, none, status)
    call Hydra_Error_detail(detail)
    if (last) then
      good = status == HYDRA_ERR_ARG .and. detail == 'lengths holds fewer than ndocs elements'
    else
      good = status == HYDRA_ERR_PEER
    end if
    call agree(good, 'more documents than lengths are refused on every rank, and the rank itself says why')
  end subroutine

  subroutine contexts()
    integer :: size, my_rank, slot, slots(4)

    config%topology = '1*[core:8 pu:1]'
    call Hydra_Init(MPI_COMM_WORLD, config, context, status)
    call agree(status == HYDRA_SUCCESS .and. c_associated(context%handle), 'a context is made over a type(MPI_Comm)')
    call Hydra_Init(MPI_COMM_WORLD%MPI_VAL, config, second, status)
    call agree(status == HYDRA_SUCCESS .and. c_associated(second%handle), 'and a second one over an integer')
    call Hydra_Finalize(second, status)
    call agree(status == HYDRA_SUCCESS, 'which is finalised first')
    call Hydra_Context_query(context, size, my_rank, slot, status)
    slots = 0
    slots(slot + 1) = 1
    call MPI_Allreduce(MPI_IN_PLACE, slots, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call agree(status == HYDRA_SUCCESS .and. size == ranks .and. my_rank == rank .and. all(slots(:ranks) == 1), &
               'a context knows its size, rank and slot')
    call Hydra_Context_query(context, size=size, ierror=status)
    call agree(status == HYDRA_SUCCESS .and. size == ranks, 'what nobody asks for may be left out')
    config%kernel = 'no such kernel'
    call Hydra_Init(MPI_COMM_WORLD, config, second, status)
    call agree(status /= HYDRA_SUCCESS .and. .not. c_associated(second%handle), 'an unknown kernel is an error on every rank')
    deallocate (config%kernel)
  end subroutine

  subroutine broadcast()
    type(Hydra_Schedule) :: copy
    integer(hydra_int) :: hashes(2)
    integer :: i

    do i = 1, 2
      if (rank == 0) call Hydra_Plan_serial(ranks, size(all_lengths), all_lengths, options, copy)
      if (i == 1) call Hydra_Schedule_bcast(copy, 0, MPI_COMM_WORLD, status)
      if (i == 2) call Hydra_Schedule_bcast(copy, 0, MPI_COMM_WORLD%MPI_VAL, status)
      call Hydra_Schedule_hash(copy, hashes(1))
      call MPI_Allreduce(hashes(1), hashes(2), 1, MPI_INTEGER8, MPI_MAX, MPI_COMM_WORLD)
      call agree(status == HYDRA_SUCCESS .and. hashes(1) == hashes(2), 'a broadcast schedule is the same everywhere')
      call Hydra_Schedule_free(copy)
    end do
  end subroutine

  subroutine groups()
    type(Hydra_Microbatch) :: my
    type(MPI_Comm) :: comm
    integer :: integer_comm, size, size_of_integer, m, count
    logical :: good

    good = .true.
    call Hydra_Schedule_count(schedule, count)
    do m = 0, count - 1
      call Hydra_Schedule_microbatch(schedule, m, rank, my)
      call Hydra_Group_comm(context, schedule, m, comm, status)
      good = good .and. status == HYDRA_SUCCESS
      call Hydra_Group_comm(context, schedule, m, integer_comm, status)
      good = good .and. status == HYDRA_SUCCESS .and. integer_comm == comm%MPI_VAL
      size = 0
      size_of_integer = 0
      if (comm /= MPI_COMM_NULL) call MPI_Comm_size(comm, size)
      good = good .and. size == my%degree
      call Hydra_Microbatch_free(my)
    end do
    call agree(good, 'the communicator of a group has its degree, as a type(MPI_Comm) and as an integer')
  end subroutine

  ! Value of a token of this rank's documents: unique in the batch.
  pure elemental integer function token(i)
    integer, intent(in) :: i

    token = 1000 * rank + i
  end function

  subroutine payload()
    integer, allocatable :: a1(:), b1(:), c1(:), a2(:,:), b2(:,:), c2(:,:), a3(:,:,:), b3(:,:,:), c3(:,:,:), &
                            a4(:,:,:,:), b4(:,:,:,:), c4(:,:,:,:)
    type(Hydra_Microbatch) :: my
    integer :: i, m, count, n, t
    logical :: good

    n = int(sum(lengths))
    allocate (a1, source=[(token(i), i = 1, n)])
    a2 = spread(a1, 1, 2)
    a3 = spread(a2, 1, 3)
    a4 = spread(a3, 1, 2)
    allocate (c1, mold=a1)
    allocate (c2, mold=a2)
    allocate (c3, mold=a3)
    allocate (c4, mold=a4)
    good = .true.
    call Hydra_Schedule_count(schedule, count)
    do m = 0, count - 1
      call Hydra_Schedule_microbatch(schedule, m, rank, my)
      t = int(my%tokens)
      allocate (b1(t), b2(2, t), b3(3, 2, t), b4(2, 3, 2, t))
      call Hydra_Dispatch(context, schedule, m, 4, a1, b1, status)
      good = good .and. status == HYDRA_SUCCESS
      call Hydra_Dispatch(context, schedule, m, 8, a2, b2, status)
      good = good .and. status == HYDRA_SUCCESS .and. all(b2(2, :) == b1)
      call Hydra_Dispatch(context, schedule, m, 24, a3, b3, status)
      good = good .and. status == HYDRA_SUCCESS .and. all(b3(3, 2, :) == b1)
      call Hydra_Dispatch(context, schedule, m, 48, a4, b4, status)
      good = good .and. status == HYDRA_SUCCESS .and. all(b4(1, 3, 1, :) == b1)
      call Hydra_Collect(context, schedule, m, 4, b1, c1, status)
      good = good .and. status == HYDRA_SUCCESS
      call Hydra_Collect(context, schedule, m, 8, b2, c2, status)
      good = good .and. status == HYDRA_SUCCESS
      call Hydra_Collect(context, schedule, m, 24, b3, c3, status)
      good = good .and. status == HYDRA_SUCCESS
      call Hydra_Collect(context, schedule, m, 48, b4, c4, status)
      good = good .and. status == HYDRA_SUCCESS
      deallocate (b1, b2, b3, b4)
      call Hydra_Microbatch_free(my)
    end do
    call agree(good .and. all(a1 == c1) .and. all(a2 == c2) .and. all(a3 == c3) .and. all(a4 == c4), &
               'payload of rank 1 to 4 goes to the shards and comes home unchanged')
  end subroutine

  subroutine split_payload()
    real(c_double), allocatable, asynchronous :: from(:,:), there(:,:), home(:,:)
    type(Hydra_Microbatch) :: my
    type(Hydra_Op) :: op
    integer :: i, m, count
    logical :: good

    allocate (from(3, sum(lengths)), home(3, sum(lengths)))
    from = reshape([(real(token(i), c_double), i = 1, size(from))], shape(from))
    home = -1
    good = .true.
    call Hydra_Schedule_count(schedule, count)
    do m = 0, count - 1
      call Hydra_Schedule_microbatch(schedule, m, rank, my)
      allocate (there(3, my%tokens))
      call Hydra_Dispatch_start(context, schedule, m, 24, from, there, op, status)
      good = good .and. status == HYDRA_SUCCESS
      call Hydra_Op_wait(op, status)
      good = good .and. status == HYDRA_SUCCESS .and. .not. c_associated(op%handle)
      call Hydra_Collect_start(context, schedule, m, 24, there, home, op, status)
      good = good .and. status == HYDRA_SUCCESS
      call Hydra_Op_wait(op, status)
      good = good .and. status == HYDRA_SUCCESS
      deallocate (there)
      call Hydra_Microbatch_free(my)
    end do
    call agree(good .and. all(from == home), 'started moves are waited for apart')
  end subroutine

  ! One definition for every form of the calls: causal attention of the documents that this rank loaded.
  subroutine attention()
    real(c_double), allocatable, dimension(:,:,:) :: q, k, v, dout, out, dq, dk, dv
    real(c_double), allocatable, dimension(:,:,:), asynchronous :: my_q, my_k, my_v
    real(c_double), allocatable, dimension(:,:,:) :: my_out, my_dout, my_dq, my_dk, my_dv, split_out
    real(c_double), allocatable :: my_lse(:,:), split_lse(:,:), flat_out(:), wide_out(:,:,:,:)
    real(c_float), allocatable, dimension(:,:) :: single_q, single_k, single_v, single_out
    type(Hydra_Attn_config) :: shape
    type(Hydra_Attn) :: attn, single
    type(Hydra_Saved) :: saved, unused
    type(Hydra_Microbatch) :: my
    type(Hydra_Op) :: op
    integer :: m, count, t, n
    logical :: good, same, close

    n = int(sum(lengths))
    allocate (q(dim, heads, n), dout(dim, heads, n), out(dim, heads, n), dq(dim, heads, n))
    allocate (k(dim, kv_heads, n), v(dim, kv_heads, n), dk(dim, kv_heads, n), dv(dim, kv_heads, n))
    call random_number(q)
    call random_number(k)
    call random_number(v)
    call random_number(dout)

    shape%heads = heads
    shape%kv_heads = kv_heads
    shape%head_dim = dim
    call Hydra_Attn_create(context, shape, single, status)
    good = status == HYDRA_SUCCESS
    shape%dtype = HYDRA_FLOAT64
    call Hydra_Attn_create(context, shape, attn, status)
    good = good .and. status == HYDRA_SUCCESS
    call Hydra_Attn_reserve(attn, schedule, status)
    good = good .and. status == HYDRA_SUCCESS
    call Hydra_Saved_create(attn, saved, status)
    good = good .and. status == HYDRA_SUCCESS
    same = .true.
    close = .true.
    call Hydra_Schedule_count(schedule, count)
    do m = 0, count - 1
      call Hydra_Schedule_microbatch(schedule, m, rank, my)
      t = int(my%tokens)
      allocate (my_q(dim, heads, t), my_k(dim, kv_heads, t), my_v(dim, kv_heads, t), my_out(dim, heads, t), my_dout(dim, heads, t))
      allocate (my_dq(dim, heads, t), my_dk(dim, kv_heads, t), my_dv(dim, kv_heads, t), split_out(dim, heads, t))
      allocate (my_lse(heads, t), split_lse(heads, t), flat_out(dim * heads * t), wide_out(2, 2, heads, t))
      call Hydra_Dispatch(context, schedule, m, 8 * dim * heads, q, my_q)
      call Hydra_Dispatch(context, schedule, m, 8 * dim * kv_heads, k, my_k)
      call Hydra_Dispatch(context, schedule, m, 8 * dim * kv_heads, v, my_v)
      call Hydra_Dispatch(context, schedule, m, 8 * dim * heads, dout, my_dout)
      call Hydra_Attn_forward(attn, schedule, m, my_q, my_k, my_v, my_out, my_lse, saved, status)
      good = good .and. status == HYDRA_SUCCESS
      call Hydra_Attn_backward(attn, schedule, m, my_q, my_k, my_v, my_out, my_lse, saved, my_dout, my_dq, my_dk, my_dv, status)
      good = good .and. status == HYDRA_SUCCESS
      call Hydra_Collect(context, schedule, m, 8 * dim * heads, my_out, out)
      call Hydra_Collect(context, schedule, m, 8 * dim * heads, my_dq, dq)
      call Hydra_Collect(context, schedule, m, 8 * dim * kv_heads, my_dk, dk)
      call Hydra_Collect(context, schedule, m, 8 * dim * kv_heads, my_dv, dv)

      ! The other forms: rank 1, rank 4, without lse and saved, put in another order, single precision.
      call Hydra_Attn_forward(attn, schedule, m, reshape(my_q, [size(my_q)]), reshape(my_k, [size(my_k)]), &
                              reshape(my_v, [size(my_v)]), flat_out, ierror=status)
      same = same .and. status == HYDRA_SUCCESS .and. all(flat_out == reshape(my_out, [size(my_out)]))
      call Hydra_Attn_forward(attn, schedule, m, reshape(my_q, [2, 2, heads, t]), reshape(my_k, [2, 2, kv_heads, t]), &
                              reshape(my_v, [2, 2, kv_heads, t]), wide_out, ierror=status)
      same = same .and. status == HYDRA_SUCCESS .and. all(reshape(wide_out, [size(my_out)]) == flat_out)
      call Hydra_Attn_start(attn, schedule, m, op, status)
      same = same .and. status == HYDRA_SUCCESS
      call Hydra_Attn_put(op, HYDRA_K, my_k, status)
      call Hydra_Attn_put(op, HYDRA_Q, my_q, status)
      call Hydra_Attn_put(op, HYDRA_V, my_v, status)
      same = same .and. status == HYDRA_SUCCESS
      call Hydra_Attn_wait(op, split_out, split_lse, unused, status)
      same = same .and. status == HYDRA_SUCCESS .and. all(split_out == my_out) .and. all(split_lse == my_lse)
      single_q = reshape(real(my_q, c_float), [dim * heads, t])
      single_k = reshape(real(my_k, c_float), [dim * kv_heads, t])
      single_v = reshape(real(my_v, c_float), [dim * kv_heads, t])
      allocate (single_out, mold=single_q)
      call Hydra_Attn_forward(single, schedule, m, single_q, single_k, single_v, single_out, ierror=status)
      close = close .and. status == HYDRA_SUCCESS .and. all(abs(single_out - reshape(my_out, [dim * heads, t])) < 1e-5)

      deallocate (my_q, my_k, my_v, my_out, my_dout, my_dq, my_dk, my_dv)
      deallocate (split_out, my_lse, split_lse, flat_out, wide_out, single_out)
      call Hydra_Microbatch_free(my)
    end do
    call agree(good .and. follows_definition(q, k, v, out, dout, dq, dk, dv), 'forward and backward follow the definition')
    call agree(same, 'buffers of rank 1 and 4 and the split form give the same bits')
    call agree(close, 'single precision is close to double')

    call Hydra_Attn_forward(single, schedule, 0, q, k, v, out, ierror=status)
    call agree(status == HYDRA_ERR_ARG, 'double precision is refused where the layer is single')
    call Hydra_Saved_free(saved, status)
    good = status == HYDRA_SUCCESS .and. .not. c_associated(saved%handle)
    call Hydra_Attn_free(attn, status)
    call agree(good .and. status == HYDRA_SUCCESS .and. .not. c_associated(attn%handle), 'layers and saved objects are freed')
    call Hydra_Attn_free(single)
  end subroutine

  logical function follows_definition(q, k, v, out, dout, dq, dk, dv) result(good)
    real(c_double), intent(in), dimension(:,:,:) :: q, k, v, out, dout, dq, dk, dv
    real(c_double) :: p(40), w(dim), sum_dk(dim, 40), sum_dv(dim, 40), ds, scale, worst
    integer :: d, first, n, h, i, j

    scale = 1 / sqrt(real(dim, c_double))
    worst = 0
    first = 0
    do d = 1, size(lengths)
      n = int(lengths(d))
      sum_dk = 0
      sum_dv = 0
      do h = 1, heads
        do i = 1, n
          p(:i) = [(exp(dot_product(q(:, h, first + i), k(:, 1, first + j)) * scale), j = 1, i)]
          p(:i) = p(:i) / sum(p(:i))
          w = matmul(v(:, 1, first + 1:first + i), p(:i))
          worst = max(worst, maxval(abs(w - out(:, h, first + i))))
          w = -dq(:, h, first + i)
          do j = 1, i
            ds = p(j) * (dot_product(dout(:, h, first + i), v(:, 1, first + j)) - &
                         dot_product(dout(:, h, first + i), out(:, h, first + i))) * scale
            w = w + ds * k(:, 1, first + j)
            sum_dk(:, j) = sum_dk(:, j) + ds * q(:, h, first + i)
            sum_dv(:, j) = sum_dv(:, j) + p(j) * dout(:, h, first + i)
          end do
          worst = max(worst, maxval(abs(w)))
        end do
      end do
      if (n > 0) worst = max(worst, maxval(abs(sum_dk(:, :n) - dk(:, 1, first + 1:first + n))), &
                             maxval(abs(sum_dv(:, :n) - dv(:, 1, first + 1:first + n))))
      first = first + n
    end do
    good = worst < 1e-12
    if (.not. good) print '(a, i0, a, es9.2)', '# rank ', rank, ' differs by ', worst
  end function

  subroutine refusals()
    integer :: gaps(4, 200), whole(2, 200)
    character(len=200) :: detail

    call Hydra_Dispatch(context, schedule, 0, 8, gaps(::2, :), whole, status)
    call Hydra_Error_detail(detail)
    call agree(status == HYDRA_ERR_ARG .and. index(detail, 'contiguous') > 0, 'a buffer with gaps is refused, not copied')
  end subroutine

  subroutine logs_and_counters()
    type(Hydra_Schedule) :: nothing
    real(c_double) :: value
    integer :: i
    logical :: good

    call Hydra_Set_log(HYDRA_LOG_WARN, take_line, status)
    call Hydra_Schedule_load('/no/such/file', nothing) ! nobody asks for the status
    call agree(status == HYDRA_SUCCESS .and. log_lines == 1 .and. index(last_line, '/no/such/file') > 0, &
               'a failure that nobody asks about is told to the log procedure')
    call Hydra_Set_log(HYDRA_LOG_WARN, ierror=status)
    good = status == HYDRA_SUCCESS .and. Hydra_Counter_name(0) /= '' .and. Hydra_Counter_name(100000) == ''
    i = 0
    do while (Hydra_Counter_name(i) /= '')
      call Hydra_Counter_get(context, Hydra_Counter_name(i), value, status)
      good = good .and. status == HYDRA_SUCCESS .and. value >= 0
      i = i + 1
    end do
    call Hydra_Counter_get(context, 'no.such.counter', value, status)
    call agree(good .and. status == HYDRA_ERR_ARG, 'every counter has a name and a value')
  end subroutine

  subroutine take_line(level, module, text)
    integer, intent(in) :: level
    character(len=*), intent(in) :: module, text

    if (level == HYDRA_LOG_ERROR .and. module == 'fortran') log_lines = log_lines + 1
    last_line = text
  end subroutine

end program test_hydra
