/* shard.h: which tokens of a document each member of a group holds. Pure arithmetic (doc/algorithms.md section 5).
 *
 * Group of P = U * R members; member i has inner index a = i mod U and ring index b = i / U. Member i gets
 * floor(s/P) + [(i - o) mod P < s mod P] tokens, o the running sum of remainders of the group's earlier documents
 * mod P, so that the members' totals differ by at most one. Zigzag: ring index b's total is halved (first half the
 * greater) into pieces b and 2R-1-b of the document; their concatenation is cut among its U members in order.
 * Otherwise plain contiguous cuts in the same sizes.
 */
#ifndef HYDRA_PLAN_SHARD_H
#define HYDRA_PLAN_SHARD_H

#include <stdbool.h>
#include <stdint.h>

/* A run of consecutive tokens of one document: positions [begin, begin + count). */
struct hydra_run {
    int64_t begin;
    int64_t count;
};

struct hydra_shape {
    int64_t length;   /* s >= 0 */
    int64_t size;     /* P */
    int64_t factor;   /* U, divides P */
    int64_t rotation; /* o in [0, P) */
    bool zigzag;
};

/* Tokens of member i. */
int64_t hydra_shard_tokens(const struct hydra_shape *shape, int64_t member);

/* Tokens of members [0, i): members in order. */
int64_t hydra_shard_tokens_before(const struct hydra_shape *shape, int64_t member);

/* The two runs of ring index b, in local order; either may be empty. */
void hydra_shard_ring_runs(const struct hydra_shape *shape, int64_t ring, struct hydra_run runs[2]);

/* The two runs of member i: a cut of its ring index's runs. */
void hydra_shard_member_runs(const struct hydra_shape *shape, int64_t member, struct hydra_run runs[2]);

#endif
