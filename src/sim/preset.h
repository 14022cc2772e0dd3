/* preset.h: models and clusters as numbers, and the text files that hold them (share/models, share/clusters). */
#ifndef HYDRA_SIM_PRESET_H
#define HYDRA_SIM_PRESET_H

#include <stdint.h>

enum { HYDRA_PRESET_NAME = 64, HYDRA_PRESET_FITS = 8 };

/* Times of one stage, forward, measured or fitted instead of derived from FLOPs; for one cluster and the model's own
 * pipeline shape. */
struct hydra_model_fit {
    char cluster[HYDRA_PRESET_NAME]; /* preset name of the cluster */
    double token_seconds;            /* everything but attention, a token */
    double crossover_tokens;         /* length at which attention costs as much as the rest; 0: attention by FLOPs */
    double fixed_seconds;            /* a microbatch */
};

struct hydra_model {
    char name[HYDRA_PRESET_NAME];
    int64_t layers;
    int64_t hidden;
    int64_t vocabulary;
    double parameters;        /* as published; the parts must add up to it within a tenth */
    double active_parameters; /* of one token, likewise */

    int64_t attention_layers; /* the others mix tokens in linear time; 0 in the file: all */
    int64_t heads;
    int64_t kv_heads; /* heads of K and V that training materialises: all of them under MLA */
    int64_t qk_dim;
    int64_t v_dim;
    int64_t query_rank; /* MLA's low-rank projections; 0: full ones */
    int64_t kv_rank;
    int64_t rope_dim;
    int64_t gated;           /* 1: an output gate of the size of the query projection (or of V under MLA) */
    double mixer_parameters; /* of one linear mixer */

    int64_t dense_layers; /* without experts */
    int64_t dense_width;
    int64_t experts;
    int64_t experts_active;
    int64_t shared_experts;
    int64_t expert_width;
    int64_t expert_nodes; /* most nodes that a token is sent to; 0: no limit */

    int64_t tensor_parallel; /* how it is usually trained */
    int64_t pipeline_stages;
    int64_t pipeline_chunks;
    int64_t expert_parallel; /* ranks of one expert-parallel block; 0: none */
    int64_t budget;          /* B, tokens */
    int64_t context;         /* longest document, tokens */
    int64_t tokens_per_slot; /* of the global batch */
    double backward_compute; /* time of backward over forward; 3 with full recomputation */

    int nfits;
    struct hydra_model_fit fits[HYDRA_PRESET_FITS];
};

/* Bandwidths are what one GPU gets in practice, bytes/s one way. */
struct hydra_cluster {
    char name[HYDRA_PRESET_NAME];
    char preset[HYDRA_PRESET_NAME]; /* the file's name without folder and .cfg: what a model's fit refers to */
    int64_t gpus;
    int64_t gpus_per_node;
    double peak_flops; /* dense, in the training type */
    double memory_bandwidth;
    double intra_bandwidth;
    double inter_bandwidth;
    double intra_latency; /* s a message */
    double inter_latency;
    double gemm_efficiency;      /* share of peak in everything but attention */
    double attention_efficiency; /* share of peak in attention */
    double layer_seconds;        /* launches and synchronisation of a layer, per microbatch and direction */
    double expert_exposed;       /* share of the experts' all-to-all that nothing hides */
    double gradient_exposed;     /* share of the gradient reduction that nothing hides */
    double alltoall_exposed;     /* share of the inner all-to-all that is exposed where the engine overlaps it */
    double ring_overlap;         /* share of attention time that can hide the ring */
};

/* Parameters of the whole model by where they live: those that every slot holds, and those that experts share out. */
double hydra_model_dense_parameters(const struct hydra_model *model);
double hydra_model_expert_parameters(const struct hydra_model *model);
/* Parameters that one token meets: dense parts (the embedding once) and its routed experts. */
double hydra_model_dense_active(const struct hydra_model *model);
double hydra_model_expert_active(const struct hydra_model *model);

/* Read a preset. `name` is a path (it holds a '/' or ends with ".cfg") or the name of an installed preset.
 * HYDRA_ERR_ARG: no such preset, the detail says where it was looked for; HYDRA_ERR_IO: a path that cannot be read;
 * HYDRA_ERR_FORMAT: file, line and key of what is missing, unknown or out of range; HYDRA_ERR_UNSUPPORTED: built
 * without libconfig. */
int hydra_model_read(const char *name, struct hydra_model *model);
int hydra_cluster_read(const char *name, struct hydra_cluster *cluster);

/* The fit of a model for a cluster, or NULL. */
const struct hydra_model_fit *hydra_model_fit_for(const struct hydra_model *model, const struct hydra_cluster *cluster);

/* Path of a preset: `folder` is "models", "clusters" or "settings". HYDRA_ERR_ARG and _IO as above. */
int hydra_preset_find(const char *folder, const char *name, char *path, int64_t len);

/* Refuse whole numbers beyond 32 bits, HYDRA_ERR_FORMAT: libconfig 1.5 reads 4294967808 as 512. */
int hydra_preset_scan(const char *path);

#endif
