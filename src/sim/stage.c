/* stage.c: derives the times of one pipeline stage from FLOPs, bytes and bandwidths, or from a model's fit. */
#include "sim/stage.h"

#include <inttypes.h>
#include <math.h>

#include "base/bits.h"
#include "base/error.h"

enum { BF16 = 2, FP32 = 4 };

/* Bytes that the optimizer moves for each parameter it owns: fp32 master and two moments read and written, gradient
 * read, bf16 parameter written. */
static const double optimizer_bytes = 6 * FP32 + FP32 + BF16;

int hydra_cut_pool(const struct hydra_cut *cut, int64_t *pool)
{
    int64_t column = cut->tensor_parallel * cut->pipeline_stages;

    if (cut->gpus < 1 || column < 1 || cut->gpus % column != 0)
        return hydra_error(HYDRA_ERR_ARG, "%" PRId64 " GPUs are no multiple of tp %" PRId64 " x pp %" PRId64, cut->gpus,
                           cut->tensor_parallel, cut->pipeline_stages);
    *pool = cut->gpus / column;
    return HYDRA_SUCCESS;
}

/* Compute of a token and of a unit of load, and the fixed part. */
static void derive_compute(const struct hydra_model *m, const struct hydra_cluster *c, const struct hydra_cut *cut,
                           struct hydra_stage *stage)
{
    const struct hydra_model_fit *fit = hydra_model_fit_for(m, c);
    double ranks = (double)(cut->tensor_parallel * cut->pipeline_stages);
    double dense = 2 * hydra_model_dense_active(m);
    double expert = 2 * hydra_model_expert_active(m);
    double token = (dense + expert) / (ranks * c->peak_flops * c->gemm_efficiency);

    stage->token_flops = dense + expert;
    stage->weight_flops = (double)(m->attention_layers * m->heads * (m->qk_dim + m->v_dim));
    stage->forward.theta = stage->weight_flops / (ranks * c->peak_flops * c->attention_efficiency);
    stage->forward.fixed = c->layer_seconds * (double)m->layers / (double)cut->pipeline_stages;
    stage->fitted = fit != NULL;
    if (fit != NULL) {
        /* A fit holds for the model's own cut: another one has other shares of the layers. */
        token = fit->token_seconds * (double)(m->tensor_parallel * m->pipeline_stages) / ranks;
        stage->forward.fixed = fit->fixed_seconds * (double)m->pipeline_stages / (double)cut->pipeline_stages;
        if (fit->crossover_tokens > 0)
            stage->forward.theta = token / fit->crossover_tokens;
    }
    stage->forward.phi = token * dense / stage->token_flops;
    stage->expert_token = token * expert / stage->token_flops;
}

/* Bytes of the inner all-to-all and of the ring, and the links of a slot. */
static void derive_context_parallel(const struct hydra_model *m, const struct hydra_cluster *c,
                                    const struct hydra_cut *cut, int engine, struct hydra_stage *stage)
{
    double layers = (double)m->attention_layers / (double)cut->pipeline_stages;
    double kv = (double)(stage->kv_heads * (m->qk_dim + m->v_dim));
    double qo = (double)(stage->heads * (m->qk_dim + m->v_dim));
    Hydra_Cost *cost = &stage->forward;

    cost->node_slots = hydra_max(1, c->gpus_per_node / cut->tensor_parallel);
    cost->intra_bandwidth = c->intra_bandwidth;
    cost->inter_bandwidth = c->inter_bandwidth;
    cost->intra_latency = c->intra_latency * layers; /* one message a layer and peer */
    cost->inter_latency = c->inter_latency * layers;
    cost->a2a_bytes_per_token = layers * BF16 * (qo + kv);
    cost->ring_bytes_per_token = layers * BF16 * kv;
    cost->a2a_exposed = engine == HYDRA_ENGINE_OVERLAP || engine == HYDRA_ENGINE_NEAR ? c->alltoall_exposed : 1;
    cost->ring_overlap = c->ring_overlap;
    stage->factor = engine == HYDRA_ENGINE_RING   ? 1
                    : engine == HYDRA_ENGINE_NEAR ? HYDRA_FACTOR_COST
                                                  : HYDRA_FACTOR_PAPER;
}

/* Backward: more compute, and a ring that carries fp32 gradients of K and V beside them. Its all-to-alls move as much
 * as the forward ones when Q, K and V were kept. */
static void derive_backward(const struct hydra_model *m, struct hydra_stage *stage)
{
    stage->backward_compute = m->backward_compute;
    stage->backward = stage->forward;
    stage->backward.theta *= m->backward_compute;
    stage->backward.phi *= m->backward_compute;
    stage->backward.fixed *= m->backward_compute;
    stage->backward.ring_bytes_per_token *= 1 + (double)FP32 / BF16;
}

/* Copies of a token that leave its node when experts are spread over `nodes` nodes: a node gets one copy however many
 * of its experts are chosen. */
static double copies_across(const struct hydra_model *m, double nodes)
{
    double distinct = nodes * (1 - pow(1 - 1 / nodes, (double)m->experts_active));

    if (m->expert_nodes > 0)
        distinct = fmin(distinct, (double)m->expert_nodes);
    return distinct * (nodes - 1) / nodes;
}

static void derive_parallel_layers(const struct hydra_model *m, const struct hydra_cluster *c,
                                   const struct hydra_cut *cut, struct hydra_stage *stage)
{
    double stages = (double)cut->pipeline_stages;
    double tp = (double)cut->tensor_parallel;
    double row = BF16 * (double)m->hidden; /* bytes of a token's activations */
    double sparse = (double)(m->layers - m->dense_layers) / stages;

    /* Two gathers and two reduce-scatters a layer. */
    stage->tensor_comm = 4 * row * (tp - 1) / tp * (double)m->layers / stages / c->intra_bandwidth;
    stage->hop_token = row / tp / c->inter_bandwidth;
    stage->hop_latency = c->inter_latency;
    stage->block_slots = hydra_max(1, cut->expert_parallel / cut->tensor_parallel);
    if (m->experts == 0)
        stage->block_slots = 1;
    if (stage->block_slots > 1) {
        double nodes = (double)cut->expert_parallel / (double)c->gpus_per_node;
        double seconds = nodes > 1 ? copies_across(m, nodes) * row / tp / c->inter_bandwidth
                                   : (double)m->experts_active * (1 - 1 / (double)cut->expert_parallel) * row / tp /
                                         c->intra_bandwidth;

        stage->expert_comm = 2 * seconds * sparse * c->expert_exposed; /* dispatch and combine */
    }
}

/* Seconds to reduce-scatter `bytes` over n ranks that stand `stride` ranks apart. Inside a node over the fast links;
 * else each node's NICs together carry one copy, as many of them as the node has members. */
static double scatter_seconds(const struct hydra_cluster *c, double bytes, int64_t n, int64_t stride)
{
    double members = (double)hydra_max(1, c->gpus_per_node / stride);
    double bandwidth =
        n * stride <= c->gpus_per_node ? c->intra_bandwidth : fmin(c->intra_bandwidth, members * c->inter_bandwidth);

    return n <= 1 ? 0 : bytes * (double)(n - 1) / (double)n / bandwidth;
}

static void derive_update(const struct hydra_model *m, const struct hydra_cluster *c, const struct hydra_cut *cut,
                          int64_t pool, struct hydra_stage *stage)
{
    int64_t block = hydra_max(1, m->experts > 0 ? cut->expert_parallel : 1);
    int64_t replicas = hydra_max(1, pool * cut->tensor_parallel / block); /* of each expert */
    double dense = hydra_model_dense_parameters(m) / (double)(cut->pipeline_stages * cut->tensor_parallel);
    double expert = hydra_model_expert_parameters(m) / (double)(cut->pipeline_stages * block);
    double per_byte = scatter_seconds(c, dense, pool, cut->tensor_parallel) +
                      scatter_seconds(c, expert, replicas, hydra_max(block, cut->tensor_parallel));

    stage->reduce_seconds = c->gradient_exposed * FP32 * per_byte;
    stage->optimizer_seconds =
        c->gradient_exposed * BF16 * per_byte +
        (dense / (double)pool + expert / (double)replicas) * optimizer_bytes / c->memory_bandwidth;
}

int hydra_stage_derive(const struct hydra_model *model, const struct hydra_cluster *cluster,
                       const struct hydra_cut *cut, int engine, struct hydra_stage *stage)
{
    struct hydra_stage made = {.forward = HYDRA_COST_INIT, .backward = HYDRA_COST_INIT};
    int64_t pool = 0;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(hydra_cut_pool(cut, &pool));
    HYDRA_REQUIRE(model->heads % cut->tensor_parallel == 0, HYDRA_ERR_ARG,
                  "tp %" PRId64 " does not divide the %" PRId64 " heads of %s", cut->tensor_parallel, model->heads,
                  model->name);
    HYDRA_REQUIRE(cut->pipeline_stages * cut->pipeline_chunks <= model->layers, HYDRA_ERR_ARG,
                  "pp %" PRId64 " x v %" PRId64 " is more than the %" PRId64 " layers of %s", cut->pipeline_stages,
                  cut->pipeline_chunks, model->layers, model->name);
    HYDRA_REQUIRE(cut->expert_parallel <= pool * cut->tensor_parallel, HYDRA_ERR_ARG,
                  "ep %" PRId64 " is more than the %" PRId64 " ranks of a stage", cut->expert_parallel,
                  pool * cut->tensor_parallel);
    made.heads = (int)(model->heads / cut->tensor_parallel);
    made.kv_heads = (int)hydra_max(1, model->kv_heads / cut->tensor_parallel);
    made.layers_per_chunk =
        hydra_max(1, (int64_t)((double)model->layers / (double)(cut->pipeline_stages * cut->pipeline_chunks) + 0.5));
    derive_compute(model, cluster, cut, &made);
    derive_context_parallel(model, cluster, cut, engine, &made);
    derive_backward(model, &made);
    derive_parallel_layers(model, cluster, cut, &made);
    derive_update(model, cluster, cut, pool, &made);
    *stage = made;
fail:
    return status;
}

Hydra_Cost hydra_stage_plan_cost(const struct hydra_stage *stage)
{
    Hydra_Cost cost = stage->forward;

    cost.phi += stage->expert_token + stage->expert_comm + stage->tensor_comm;
    cost.backward_compute = stage->backward_compute;
    return cost;
}
