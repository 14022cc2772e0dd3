/* policy.h: the table of planning policies. One small file a policy, one line in policy.c. */
#ifndef HYDRA_PLAN_POLICY_H
#define HYDRA_PLAN_POLICY_H

#include "plan/batch.h"
#include "plan/draft.h"

struct hydra_policy {
    int id;                                                                  /* HYDRA_POLICY_* */
    int (*plan)(const struct hydra_batch *batch, struct hydra_draft *draft); /* required: place every document */
};

/* Entry of a resolved policy id, or NULL. */
const struct hydra_policy *hydra_policy_find(int id);

/* Each policy's function, one file each. */
int hydra_policy_load(const struct hydra_batch *batch, struct hydra_draft *draft);
int hydra_policy_load_counted(const struct hydra_batch *batch, struct hydra_draft *draft,
                              int64_t *steps); /* the same; steps [out] keys moved by a level of a heap or sorted */
int hydra_policy_load_scan(const struct hydra_batch *batch,
                           struct hydra_draft *draft); /* the linear-scan oracle; tests and bench only */
int hydra_policy_memory(const struct hydra_batch *batch, struct hydra_draft *draft);
int hydra_policy_memory_packed(const struct hydra_batch *batch, struct hydra_draft *draft);
int hydra_policy_static(const struct hydra_batch *batch, struct hydra_draft *draft);
int hydra_policy_bytescale(const struct hydra_batch *batch, struct hydra_draft *draft);
int hydra_policy_wlb(const struct hydra_batch *batch, struct hydra_draft *draft);
int hydra_policy_flexsp(const struct hydra_batch *batch, struct hydra_draft *draft);
int hydra_policy_shaped(const struct hydra_batch *batch, struct hydra_draft *draft);
int hydra_policy_auto(const struct hydra_batch *batch, struct hydra_draft *draft);

#endif
