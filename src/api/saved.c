/* saved.c: Hydra_Saved: the forward's head-sharded tensors, kept by the caller for the backward. */
#include "api/attn.h"
#include "base/error.h"
#include "base/memory.h"

bool hydra_saved_of(Hydra_Saved saved, Hydra_Attn attn)
{
    return saved->context == attn->context && saved->layer == attn->layer;
}

int hydra_saved_begin(Hydra_Saved saved, Hydra_Attn attn, struct hydra_kept **kept)
{
    int status = HYDRA_SUCCESS;

    *kept = NULL;
    if (saved == NULL)
        return HYDRA_SUCCESS;
    HYDRA_REQUIRE(hydra_saved_of(saved, attn), HYDRA_ERR_ARG, "saved belongs to another attention layer");
    HYDRA_TRY(hydra_kept_reserve(&saved->kept, attn->engine));
    *kept = &saved->kept;

fail:
    return status;
}

void hydra_saved_filled(struct hydra_kept *kept, Hydra_Schedule schedule, int64_t m)
{
    if (kept == NULL)
        return;
    kept->hash = schedule->hash;
    kept->microbatch = m;
    kept->filled = true;
}

int Hydra_Saved_create(Hydra_Attn attn, Hydra_Saved *saved)
{
    Hydra_Saved made = NULL;
    int status = HYDRA_SUCCESS;

    hydra_error_clear();
    HYDRA_REQUIRE(attn != NULL, HYDRA_ERR_ARG, "attn is HYDRA_ATTN_NULL");
    HYDRA_REQUIRE(saved != NULL, HYDRA_ERR_ARG, "saved is NULL");
    made = hydra_calloc(1, sizeof *made);
    HYDRA_REQUIRE(made != NULL, HYDRA_ERR_NOMEM, "saved tensors");
    made->context = attn->context;
    made->layer = attn->layer;
    *saved = made;

fail:
    return status;
}

int Hydra_Saved_free(Hydra_Saved *saved)
{
    hydra_error_clear();
    if (saved == NULL || *saved == NULL)
        return HYDRA_SUCCESS;
    hydra_kept_clear(&(*saved)->kept, hydra_context_pool((*saved)->context));
    hydra_free(*saved);
    *saved = NULL;
    return HYDRA_SUCCESS;
}
