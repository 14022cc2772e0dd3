/* agree.h: collective agreement with bounded waits: on errors, on equal values; and large-count exchanges.
 *
 * All are collective over comm. Timeouts end them with HYDRA_ERR_TIMEOUT (blocks under unfinished requests are kept
 * until exit, so results land in the caller's memory only on success).
 */
#ifndef HYDRA_COMM_AGREE_H
#define HYDRA_COMM_AGREE_H

#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

struct hydra_comm {
    MPI_Comm mpi;
    struct hydra_pool *pool; /* whose alarm to hear and counters to use; may be NULL */
    double timeout;          /* s */
};

/* A pool's communicator as a struct hydra_comm. */
struct hydra_comm hydra_comm_of(struct hydra_pool *pool);

/* Duplicate a communicator with a bounded wait; errors on the copy return. Agree on errors before and after. */
int hydra_comm_duplicate(struct hydra_comm from, const char *step, MPI_Comm *copy);

/* Agree on success. The failing rank gets its own status back, the others HYDRA_ERR_PEER (the detail names the rank and
 * the step). Call it where ranks could part: no rank may wait for one that has returned. */
int hydra_agree(struct hydra_comm comm, int status, const char *step);

/* Agree on success and on `value` being the same everywhere: HYDRA_ERR_MISMATCH on every rank when it differs.
 * what: "options", "schedule hash"... One reduction does both. */
int hydra_agree_same(struct hydra_comm comm, int status, uint64_t value, const char *what);

/* Sum and greatest of one number >= 0 of each rank. Either output may be NULL. HYDRA_ERR_OVERFLOW when the sum passes
 * 2^63. */
int hydra_sum_max(struct hydra_comm comm, int64_t mine, int64_t *sum, int64_t *greatest, const char *step);

/* Element-wise least of values[0..count) over the ranks, in place. */
int hydra_least(struct hydra_comm comm, int64_t *values, int count, const char *step);

/* Numbers of every rank. all [out] [size][count]. */
int hydra_allgather(struct hydra_comm comm, const int64_t *mine, int64_t count, int64_t *all, const char *step);

/* Bytes of every rank one after another. mine [bytes[rank]]; bytes [in] [size], the same on every rank (from
 * hydra_allgather); all [out] [sum of bytes]. Any 64-bit total. */
int hydra_allgatherv(struct hydra_comm comm, const void *mine, const int64_t *bytes, void *all, const char *step);

/* Bytes from root to everyone. The same `bytes` on every rank; any 64-bit count. */
int hydra_bcast(struct hydra_comm comm, void *data, int64_t bytes, int root, const char *step);

/* Most bytes one MPI call moves; greater exchanges are cut. A variable so that tests need no 2 GiB. */
extern int64_t hydra_comm_piece;

#endif
