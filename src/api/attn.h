/* attn.h: what the handles of an attention layer, its saved tensors and its operations are. */
#ifndef HYDRA_API_ATTN_H
#define HYDRA_API_ATTN_H

#include "api/context.h"
#include "attn/engine.h"
#include "attn/move.h"

/* A dispatch or collect under way, or the split form of a forward. */
struct hydra_op {
    Hydra_Context context;
    struct hydra_move *move; /* NULL: the forward of `attn` */
    Hydra_Attn attn;
    Hydra_Schedule schedule;
    int64_t microbatch;
    const void *data[HYDRA_SPLIT_TENSORS]; /* by HYDRA_Q, HYDRA_K, HYDRA_V */
    bool put[HYDRA_SPLIT_TENSORS];
    int issued; /* tensors whose all-to-all has been started, in the order Q, V, K */
};

struct hydra_attn {
    Hydra_Context context;
    uint64_t layer; /* number in the context */
    struct hydra_engine *engine;
    struct hydra_op split; /* one at a time; engine->busy says whether it is under way */
};

struct hydra_saved {
    Hydra_Context context;
    uint64_t layer; /* of the attention layer, whose own address a later one may have */
    struct hydra_kept kept;
};

/* Entry of a collective call on a schedule and a microbatch: checks handles and counts the operation. */
int hydra_api_enter(Hydra_Context context, Hydra_Schedule schedule, int64_t m);

/* End of a collective call: an error breaks the context and tells the other ranks. */
int hydra_api_leave(Hydra_Context context, int status);

/* First of every call on a layer: refuses a null handle and a broken context, before anything is collective. */
int hydra_attn_open(Hydra_Attn attn);

/* Entry of a collective call on an attention layer, then hydra_engine_begin. */
int hydra_attn_enter(Hydra_Attn attn, Hydra_Schedule schedule, int64_t m, const struct hydra_use *use);

/* HYDRA_ERR_ARG when a buffer is missing though this rank has rows. */
int hydra_attn_need(Hydra_Attn attn, const void *buffer, const char *name);

/* Forward's outputs: out is there when this rank has rows, and both are apart from all inputs. lse may be NULL. */
int hydra_attn_check_out(Hydra_Attn attn, const void *out, const void *lse, const void *q, const void *k,
                         const void *v);

/* Whether a saved object was made for this layer. */
bool hydra_saved_of(Hydra_Saved saved, Hydra_Attn attn);

/* After hydra_attn_enter: make room in a saved object that a forward will fill, or set kept to
 * NULL when saved is null. */
int hydra_saved_begin(Hydra_Saved saved, Hydra_Attn attn, struct hydra_kept **kept);

/* A forward of microbatch m filled it. kept may be NULL. */
void hydra_saved_filled(struct hydra_kept *kept, Hydra_Schedule schedule, int64_t m);

#endif
