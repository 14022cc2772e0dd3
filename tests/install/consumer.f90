! consumer.f90: a Fortran program that uses the installed module: plans a batch and prints how many microbatches it takes.
program consumer
  use mpi_f08
  use hydra
  implicit none
  type(Hydra_Plan_options) :: options
  type(Hydra_Schedule) :: schedule
  integer :: status, microbatches

  call MPI_Init()
  options%budget = 4096
  call Hydra_Plan_serial(4, 3, [900_hydra_int, 30_hydra_int, 5000_hydra_int], options, schedule, status)
  if (status == HYDRA_SUCCESS) call Hydra_Schedule_count(schedule, microbatches, status)
  print '(2a, i0, a)', Hydra_Error_string(status), ': ', microbatches, ' microbatches'
  call Hydra_Schedule_free(schedule)
  call MPI_Finalize()
  if (status /= HYDRA_SUCCESS) stop 1
end program consumer
