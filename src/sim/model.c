/* model.c: what a model weighs: parameters by part. No file is read here. */
#include "sim/preset.h"

#include <stddef.h>
#include <string.h>

/* Projections of one attention layer. */
static double attention_parameters(const struct hydra_model *m)
{
    double hidden = (double)m->hidden;
    double query = (double)(m->heads * m->qk_dim);
    double output = (double)(m->heads * m->v_dim);
    double gate = m->gated ? output * hidden : 0;
    double query_in = m->query_rank > 0 ? (double)m->query_rank * (hidden + query) : hidden * query;
    double kv_in = m->kv_rank > 0 ? hidden * (double)(m->kv_rank + m->rope_dim) +
                                        (double)(m->kv_rank * m->kv_heads * (m->qk_dim - m->rope_dim + m->v_dim))
                                  : hidden * (double)(m->kv_heads * (m->qk_dim + m->v_dim));

    return query_in + kv_in + output * hidden + gate;
}

static double expert_parameters(const struct hydra_model *m)
{
    return 3.0 * (double)m->hidden * (double)m->expert_width;
}

/* Everything but embeddings and routed experts. */
static double trunk_parameters(const struct hydra_model *m)
{
    double sparse = (double)(m->layers - m->dense_layers);

    return (double)m->attention_layers * attention_parameters(m) +
           (double)(m->layers - m->attention_layers) * m->mixer_parameters +
           (double)m->dense_layers * 3.0 * (double)m->hidden * (double)m->dense_width +
           sparse * ((double)m->shared_experts * expert_parameters(m) + (double)(m->experts * m->hidden));
}

double hydra_model_dense_parameters(const struct hydra_model *m)
{
    return trunk_parameters(m) + 2.0 * (double)m->vocabulary * (double)m->hidden;
}

double hydra_model_expert_parameters(const struct hydra_model *m)
{
    return (double)(m->layers - m->dense_layers) * (double)m->experts * expert_parameters(m);
}

double hydra_model_dense_active(const struct hydra_model *m)
{
    return trunk_parameters(m) + (double)m->vocabulary * (double)m->hidden;
}

double hydra_model_expert_active(const struct hydra_model *m)
{
    return (double)(m->layers - m->dense_layers) * (double)m->experts_active * expert_parameters(m);
}

const struct hydra_model_fit *hydra_model_fit_for(const struct hydra_model *model, const struct hydra_cluster *cluster)
{
    for (int i = 0; i < model->nfits; i++)
        if (strcmp(model->fits[i].cluster, cluster->preset) == 0)
            return &model->fits[i];
    return NULL;
}
