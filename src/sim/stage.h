/* stage.h: what one pipeline stage costs one slot: a model on a cluster, cut by tp, pp, v and ep, under an engine. */
#ifndef HYDRA_SIM_STAGE_H
#define HYDRA_SIM_STAGE_H

#include <stdint.h>

#include "hydra_plan.h"
#include "plan/cost.h"
#include "sim/preset.h"

/* How attention communicates. */
enum hydra_engine {
    HYDRA_ENGINE_RING = 0,    /* U = 1 */
    HYDRA_ENGINE_ULYSSES = 1, /* U as great as heads allow, all-to-alls exposed; a ring carries what heads cannot */
    HYDRA_ENGINE_OVERLAP = 2, /* the same with all-to-alls overlapped: HyDra */
    HYDRA_ENGINE_NEAR = 3,    /* U with the least exposed time under the cost model, overlapped */
    HYDRA_ENGINES = 4
};

const char *hydra_engine_name(int engine);
int hydra_engine_from_name(const char *name, int *engine);

/* The engine of the system that a policy stands for. */
int hydra_engine_of_policy(int policy);

/* How a job is cut. */
struct hydra_cut {
    int64_t gpus;
    int64_t tensor_parallel;
    int64_t pipeline_stages;
    int64_t pipeline_chunks;
    int64_t expert_parallel; /* ranks of a block; 0 or 1: experts are not shared out */
};

/* Slots of the pool, G. HYDRA_ERR_ARG when tp x pp does not divide the GPUs. */
int hydra_cut_pool(const struct hydra_cut *cut, int64_t *pool);

/* One slot of one stage. Times in seconds a whole stage, forward unless said otherwise. */
struct hydra_stage {
    Hydra_Cost forward;      /* attention, dense parts and context-parallel communication */
    Hydra_Cost backward;     /* the same, backward: its compute and bytes are already the backward ones */
    int factor;              /* HYDRA_FACTOR_* or U, as planner options take it */
    int heads, kv_heads;     /* of a rank */
    double expert_token;     /* expert compute of a token */
    double expert_comm;      /* exposed dispatch and combine of a token, each direction of the pass */
    double tensor_comm;      /* exposed tensor-parallel communication of a token, likewise */
    double backward_compute; /* ratio, for experts */
    double hop_token;        /* sending a token's activations to the next stage */
    double hop_latency;
    int64_t block_slots;      /* slots of one expert-parallel block; 1: none */
    int64_t layers_per_chunk; /* times that groups and blocks meet in one operation, at least 1 */
    double reduce_seconds;    /* exposed gradient reduction of one rank */
    double optimizer_seconds; /* update and exposed gathering of parameters */
    double token_flops;       /* model FLOPs of a token over the whole model, forward, without attention */
    double weight_flops;      /* of a unit of load (s*s causal) over the whole model, forward */
    int fitted;               /* times come from a fit of the model for this cluster */
};

int hydra_stage_derive(const struct hydra_model *model, const struct hydra_cluster *cluster,
                       const struct hydra_cut *cut, int engine, struct hydra_stage *stage);

/* One Hydra_Cost for the planner: forward times, with experts counted per token. */
Hydra_Cost hydra_stage_plan_cost(const struct hydra_stage *stage);

#endif
