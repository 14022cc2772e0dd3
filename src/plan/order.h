/* order.h: the order in which policies take documents. Pure. */
#ifndef HYDRA_PLAN_ORDER_H
#define HYDRA_PLAN_ORDER_H

#include <stdint.h>

#include "plan/batch.h"

/* ids [out] [ndocs] heaviest first, equal ones by id. HYDRA_ERR_NOMEM only. */
int hydra_order_by_weight(const struct hydra_batch *batch, int64_t *ids);

#endif
