/* figure1.h: batches of document lengths drawn from the HyDra paper's Figure 1, the yardstick of planners. Pure. */
#ifndef HYDRA_PLAN_FIGURE1_H
#define HYDRA_PLAN_FIGURE1_H

#include <stdint.h>

/**
 * Draw one iteration's lengths: whole-number arithmetic, the same on every machine.
 *
 * pool, multiple, budget  [in]   the lengths sum to multiple x pool x budget tokens exactly; pool seeds the draw
 * lengths                 [out]  hydra_free; the longest documents have 2^18 tokens
 */
int hydra_figure1_draw(int64_t pool, int64_t multiple, int64_t budget, int64_t **lengths, int64_t *ndocs);

#endif
