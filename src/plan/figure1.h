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

/**
 * Draw `tokens` tokens of lengths from a seed, documents cut to `longest` tokens, the last one to what is left.
 * Otherwise as above: hydra_figure1_draw is the seed 0x9E3779B97F4A7C15 + pool with documents left whole.
 */
int hydra_figure1_sample(uint64_t seed, int64_t tokens, int64_t longest, int64_t **lengths, int64_t *ndocs);

#endif
