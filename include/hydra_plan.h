/* hydra_plan.h: planning of dynamic context parallelism. Needs no MPI; <hydra.h> includes it.
 *
 * Errors: every call returns HYDRA_SUCCESS or a code of hydra_errors.def; the sentence that names the value and the
 * place is kept per thread and read with Hydra_Error_detail. The library never exits, aborts or writes to stdout.
 * Handles are opaque, set only on success, freed with the matching _free, which nulls them and accepts a null handle.
 *
 * Words (doc/algorithms.md has all of them): the pool is the ranks that context and data parallelism share, G of them;
 * a slot is a rank's place in the pool after topology-aware reordering; a group is the run of slots that carries some
 * documents in one microbatch; degree is its size; a shard is the tokens of one document that one rank holds.
 */
#ifndef HYDRA_PLAN_H
#define HYDRA_PLAN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(HYDRA_BUILD) && defined(__GNUC__)
#define HYDRA_API __attribute__((visibility("default")))
#else
#define HYDRA_API
#endif

/* A function that the application may define; the library looks for it, so -fvisibility=hidden must not hide it. */
#if defined(__GNUC__)
#define HYDRA_HOOK __attribute__((visibility("default")))
#else
#define HYDRA_HOOK
#endif

#define HYDRA_VERSION_MAJOR 0
#define HYDRA_VERSION_MINOR 1
#define HYDRA_VERSION_PATCH 0

/* Status codes. */
enum {
#define HYDRA_ERROR(name, value, meaning) HYDRA_##name = value,
#include "hydra_errors.def"
#undef HYDRA_ERROR
    HYDRA_ERROR_COUNT
};

/* Planning policies. */
enum {
#define HYDRA_POLICY(name, value, text, meaning) HYDRA_POLICY_##name = value,
#include "hydra_policies.def"
#undef HYDRA_POLICY
    HYDRA_POLICY_COUNT
};

/* What a query token may see of its own document. */
enum {
    HYDRA_MASK_CAUSAL = 0, /* keys [0, i + 1) */
    HYDRA_MASK_FULL = 1,   /* every key */
    HYDRA_MASK_WINDOW = 2  /* the first `sink` keys and the last `window` keys up to and with i */
};

/* How a degree P is split into inner (all-to-all) U and outer (ring) R, P = U * R. A value > 0 asks for that U. */
enum {
    HYDRA_FACTOR_PAPER = 0, /* the greatest divisor of P not above the head count */
    HYDRA_FACTOR_COST = -1  /* the divisor with the least exposed time under the cost model */
};

/* Which rule bounds the degree (doc/algorithms.md, section 2). */
enum {
    HYDRA_CAP_BALANCED = 0, /* also at least C_bal, so that the longest document is no straggler without a pipeline */
    HYDRA_CAP_PAPER = 1     /* HyDra equation 9 as printed */
};

/**
 * Time of one microbatch on one rank and one pipeline stage, forward pass:
 * theta * load + phi * tokens + communication + fixed, load = attended-pair weight per rank (s*s/P for causal).
 * Seconds, bytes; all >= 0. Backward counts backward_compute times compute and fixed part, backward_comm times the
 * rest.
 */
typedef struct Hydra_Cost {
    size_t size;             /* sizeof(Hydra_Cost), set by HYDRA_COST_INIT */
    double theta;            /* s per unit of load */
    double phi;              /* s per token */
    double fixed;            /* s per microbatch (c) */
    double backward_compute; /* default 2 */
    double backward_comm;    /* default 1 */
    int64_t node_slots;      /* slots that share the fast links; 0: all */
    double intra_bandwidth;  /* bytes/s a slot can send inside a node; 0: communication is free */
    double inter_bandwidth;  /* bytes/s a slot can send across nodes */
    double intra_latency;    /* s per message step */
    double inter_latency;
    double a2a_bytes_per_token;  /* Q, K, V and O of one token, all heads and layers of the stage */
    double ring_bytes_per_token; /* K and V of one token, all KV heads and layers of the stage */
    double a2a_exposed;          /* share of the all-to-all that nothing hides, 0..1 */
    double ring_overlap;         /* share of the attention time that can hide the ring, 0..1 */
} Hydra_Cost;

#define HYDRA_COST_INIT                                                                                                \
    {                                                                                                                  \
        sizeof(Hydra_Cost), 0.0, 0.0, 0.0, 2.0, 1.0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0                         \
    }

/** What to plan for. Start from HYDRA_PLAN_OPTIONS_INIT and set what differs. */
typedef struct Hydra_Plan_options {
    size_t size;            /* sizeof(Hydra_Plan_options) */
    int policy;             /* HYDRA_POLICY_*; what auto takes for time: hydra-dcp(7) */
    int mask;               /* HYDRA_MASK_*, of every document */
    int64_t window;         /* HYDRA_MASK_WINDOW: keys seen before and with the query, >= 1 */
    int64_t sink;           /* HYDRA_MASK_WINDOW: first keys that everybody sees, >= 0 */
    int64_t budget;         /* B: most tokens a rank may hold in one microbatch, >= 1; required */
    int64_t align;          /* tokens_aligned of a rank is a multiple of this; default 1 */
    int64_t min_degree;     /* default 1 */
    int64_t max_degree;     /* 0: the pool's greatest */
    int heads;              /* query heads of a rank (after tensor parallelism); 0: unknown, U = 1 */
    int kv_heads;           /* 0: as heads */
    int factor;             /* HYDRA_FACTOR_* or U itself */
    int cap;                /* HYDRA_CAP_* */
    int skip;               /* load: try the following documents when one does not fit; default 0 */
    int padding;            /* memory rules: pad documents as Megatron-Core does; default 0 */
    int pipeline_stages;    /* pp, default 1 */
    int pipeline_chunks;    /* v interleaved chunks, default 1; pp x v is at most 4,096 */
    int tensor_parallel;    /* tp, default 1 */
    int expert_parallel;    /* slots of one expert-parallel block; 0: none */
    int static_transport;   /* static: 0 both, 1 ring, 2 all-to-all */
    int threads;            /* most worker threads a policy may use, default 1 */
    double theta_over_c;    /* theta/c of the load policy; 0: from cost, else no pipeline term */
    const Hydra_Cost *cost; /* NULL: unknown. Read during the call only */
    const int64_t *pairs;   /* NULL, or [ndocs]: attended pairs of each, not the mask's; read in the call alone */
    uint64_t seed;          /* search policies; default 0 */
} Hydra_Plan_options;

#define HYDRA_PLAN_OPTIONS_INIT                                                                                        \
    {                                                                                                                  \
        sizeof(Hydra_Plan_options), HYDRA_POLICY_DEFAULT, HYDRA_MASK_CAUSAL, 0, 0, 0, 1, 1, 0, 0, 0,                   \
            HYDRA_FACTOR_PAPER, HYDRA_CAP_BALANCED, 0, 0, 1, 1, 1, 0, 0, 1, 0.0, NULL, NULL, 0                         \
    }

/** A plan: microbatches of groups of documents. Immutable once made; safe to read from several threads. */
typedef struct hydra_schedule *Hydra_Schedule;
#define HYDRA_SCHEDULE_NULL ((Hydra_Schedule)0)

/** One rank's part of one microbatch. Arrays belong to the view: Hydra_Microbatch_free. */
typedef struct Hydra_Microbatch {
    int64_t index;          /* m */
    int64_t tokens;         /* T: tokens this rank holds */
    int64_t tokens_aligned; /* T rounded up to `align`: rows the caller may want to allocate; the slack is never read */
    int64_t slot;           /* this rank's slot */
    int64_t first_slot;     /* of its group */
    int64_t degree;         /* size of its group; 0 when the rank is idle */
    int64_t member;         /* slot - first_slot */
    int64_t ulysses;        /* U; inner index a = member mod U */
    int64_t ring;           /* R; ring index b = member / U */
    int64_t ndocs;          /* documents of the group, also those of which this rank holds no token */
    int64_t *doc_ids;       /* [ndocs] index into the batch: rank 0's documents first, then rank 1's, ... */
    int64_t *doc_lengths;   /* [ndocs] whole lengths, tokens */
    int64_t *cu_seqlens;    /* [ndocs + 1] local: document d holds rows [cu[d], cu[d+1]) */
    double *token_share;    /* [ndocs] local tokens / whole length (0 for an empty document): loss denominators */
    int64_t *positions;     /* [tokens] position inside the document (rotary embeddings) */
    int64_t *global_positions; /* [tokens] position in the whole batch: documents one after another by id */
    int64_t *group_ranks;      /* [degree] pool rank of each member */
} Hydra_Microbatch;

/** Quality of a schedule. Loads are attention work, w/P in units of pairs (s*s/P causal). */
typedef struct Hydra_Schedule_stats {
    int64_t pool;
    int64_t documents;
    int64_t tokens;
    int64_t microbatches;
    int64_t groups;
    int64_t greatest_degree;
    double load_mean;      /* sum over documents of w / (M * G) */
    double load_max;       /* greatest load of a rank in one microbatch */
    double load_imbalance; /* greatest over mean of the per-rank loads summed over the iteration, 1 is perfect */
    double critical_load;  /* sum over microbatches of the greatest load */
    double critical_ratio; /* critical_load * G / sum(w): 1 is perfect */
    double token_max;      /* greatest tokens of a rank in one microbatch */
    double token_mean;
    double token_imbalance;   /* as load_imbalance, for tokens */
    double idle_share;        /* slot-microbatches without a group, 0..1 */
    double padded_tokens;     /* tokens as the policy pads them (Megatron-Core rules), else = tokens */
    double degree_share[64];  /* [L]: share of slot-microbatches in groups of 2^L <= size < 2^(L+1) */
    double predicted_seconds; /* iteration time under the cost model; 0 when none was given */
} Hydra_Schedule_stats;

/**
 * Plan a batch on one process, without MPI.
 *
 * pool_size  [in]   G >= 1
 * ndocs      [in]   N >= 0
 * lengths    [in]   [ndocs] tokens, >= 0; may be NULL when ndocs is 0
 * options    [in]   budget is required
 * schedule   [out]  set only on success; Hydra_Schedule_free
 *
 * Slots and ranks are the same; every document counts as loaded by rank 0.
 * The same input gives the same schedule on every machine.
 * Returns HYDRA_ERR_ARG, HYDRA_ERR_INFEASIBLE (the detail names the document, its length and the least budget or pool
 * that would do), HYDRA_ERR_OVERFLOW, HYDRA_ERR_NOMEM.
 */
HYDRA_API int Hydra_Plan_serial(int64_t pool_size, int64_t ndocs, const int64_t lengths[],
                                const Hydra_Plan_options *options, Hydra_Schedule *schedule);

/** Free a schedule and null the handle. No context or operation may still use it. */
HYDRA_API int Hydra_Schedule_free(Hydra_Schedule *schedule);

/** Number of microbatches, M >= 1: the same on every rank. */
HYDRA_API int Hydra_Schedule_count(Hydra_Schedule schedule, int64_t *microbatches);

/** Describe what `rank` holds of microbatch m. view [out]: Hydra_Microbatch_free. */
HYDRA_API int Hydra_Schedule_microbatch(Hydra_Schedule schedule, int64_t m, int64_t rank, Hydra_Microbatch *view);

/** Free the arrays of a view; the view itself is the caller's. */
HYDRA_API int Hydra_Microbatch_free(Hydra_Microbatch *view);

/** Statistics of a schedule. */
HYDRA_API int Hydra_Schedule_stats_get(Hydra_Schedule schedule, Hydra_Schedule_stats *stats);

/**
 * Write the schedule as text for people: a line a microbatch, and one for each of its groups: slots, tokens, load,
 * documents. text [out] up to len bytes with the final 0; needed [out] bytes that the whole text takes, may be NULL.
 */
HYDRA_API int Hydra_Schedule_explain(Hydra_Schedule schedule, char *text, size_t len, size_t *needed);

/** Save to and load from a file (versioned text, the same bytes on every machine). */
HYDRA_API int Hydra_Schedule_save(Hydra_Schedule schedule, const char *path);
HYDRA_API int Hydra_Schedule_load(const char *path, Hydra_Schedule *schedule);

/** 64-bit hash over decisions and slot map; equal schedules have equal hashes. */
HYDRA_API int Hydra_Schedule_hash(Hydra_Schedule schedule, uint64_t *hash);

/** Policy constant of a name ("load", ...), and back; the name is static text, NULL for an unknown policy. */
HYDRA_API int Hydra_Policy_from_name(const char *name, int *policy);
HYDRA_API const char *Hydra_Policy_name(int policy);

/** Meaning of a status code: static text, never NULL. */
HYDRA_API const char *Hydra_Error_string(int status);

/** What exactly went wrong in the last failed call of this thread: names the value and the place. "" if nothing did. */
HYDRA_API int Hydra_Error_detail(char *text, size_t len);

/** Version of the library that is linked, as HYDRA_VERSION_* of its build. */
HYDRA_API int Hydra_Get_version(int *major, int *minor, int *patch);

/**
 * Ranges for a profiler: not in the library, but in the application that wants to see them. Whoever defines both, in
 * the program, in an object linked to it or in a library that is preloaded, is called when a public call or a part of
 * it begins (push) and ends (pop): always in pairs, nested, on the thread that made the call, on error paths too.
 * Defined by nobody, they cost two tests of an address. They must not call the library.
 *
 * name  [in]  a constant string: its address is the same in every call
 *
 * NVTX, ITT and a trace for Perfetto: examples/ranges.c and Hydra_Range_push(3), which lists the names.
 */
HYDRA_HOOK void Hydra_Range_push(const char *name);
HYDRA_HOOK void Hydra_Range_pop(void);

#ifdef __cplusplus
}
#endif

#endif /* HYDRA_PLAN_H */
