/* shaped_try.h: one try of the shaped policy: a number of microbatches, shaped, packed, ordered and timed. Pure. */
#ifndef HYDRA_PLAN_SHAPED_TRY_H
#define HYDRA_PLAN_SHAPED_TRY_H

#include <stdint.h>

#include "plan/draft.h"
#include "plan/shaped_column.h"
#include "plan/shaped_pack.h"

struct hydra_shaped_try {
    int64_t microbatches;
    int64_t makespan; /* ps, INT64_MAX when the documents do not fit */
    struct hydra_pack pack;
    int64_t *order; /* cells in slot order, microbatch after microbatch */
    int64_t count;
};

/* Try M microbatches; tries of different `variant` start from different shapes. */
int hydra_shaped_try(const struct hydra_shaped *shaped, int64_t microbatches, int variant, struct hydra_shaped_try *it);
void hydra_shaped_try_clear(struct hydra_shaped_try *it);

/* Groups and documents of a try that fits. */
int hydra_shaped_draft(const struct hydra_shaped *shaped, const struct hydra_shaped_try *it, struct hydra_draft *draft);

#endif
