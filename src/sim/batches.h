/* batches.h: the document lengths of one or more iterations. */
#ifndef HYDRA_SIM_BATCHES_H
#define HYDRA_SIM_BATCHES_H

#include <stdint.h>

struct hydra_batches {
    int64_t count;
    int64_t **lengths; /* [count][ndocs] */
    int64_t *ndocs;    /* [count] */
};

/* Draw `count` batches of `tokens` each from HyDra's Figure 1; documents are cut to `context`. */
int hydra_batches_draw(uint64_t seed, int64_t count, int64_t tokens, int64_t context, struct hydra_batches *batches);

/* Read one batch from a file of lengths (plan/lengths.h); longer documents are cut to `context`. */
int hydra_batches_read(const char *path, int64_t context, struct hydra_batches *batches);

void hydra_batches_clear(struct hydra_batches *batches);

#endif
