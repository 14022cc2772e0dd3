/* ranks.h: a command that runs on ranks, under mpiexec or alone. */
#ifndef HYDRA_TOOLS_RANKS_H
#define HYDRA_TOOLS_RANKS_H

#include "tools/options.h"

/* What a command does on every rank of MPI_COMM_WORLD. state: the targets of its options, say. */
typedef int (*tool_ranks_function)(int rank, int size, void *state);

/* Read the options, start MPI, run, end MPI. Returns the exit status. Of a failure the ranks that only heard of it
 * (HYDRA_ERR_PEER) say nothing, unless it is rank 0. */
int tool_run_ranks(int argc, char **argv, const char *usage, const struct tool_option *options, tool_ranks_function run,
                   void *state);

/* The greatest of the ranks' seconds: what a thing took that all did together. Collective over MPI_COMM_WORLD. */
double tool_slowest(double seconds);

#endif
