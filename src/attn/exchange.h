/* exchange.h: the inner all-to-all: [rows of this member, all heads] <-> [rows of its ring index, own heads].
 *
 * gather brings one tensor to the ring rows; scatter brings one back, adds the parts of heads that several inner
 * indices hold (always in the order of inner indices, so that results repeat bit for bit) and converts to the caller's
 * dtype. With U = 1 both are copies. Ring rows are packed: [ring rows][own heads][dim].
 */
#ifndef HYDRA_ATTN_EXCHANGE_H
#define HYDRA_ATTN_EXCHANGE_H

#include "attn/heads.h"
#include "attn/layout.h"
#include "attn/wire.h"

/* What is exchanged: a tensor of H query heads or of G KV heads. */
struct hydra_exchanged {
    int heads;              /* H */
    int kv_heads;           /* G */
    bool kv;                /* the tensor has KV heads */
    int dim;                /* elements of one head's row */
    enum hydra_dtype dtype; /* on the ring rows */
    int64_t part;           /* names the tensor in frames */
};

struct hydra_gather {
    const struct hydra_wire *wire;
    const struct hydra_layout *layout;
    struct hydra_exchanged what;
    char *to;
    char *received;                 /* staging of the messages that need unpacking */
    struct hydra_message *messages; /* [2 U]: sends, then receives */
};

size_t hydra_dtype_bytes(enum hydra_dtype dtype);

/* fp32, double for fp64: states, statistics and gradients. */
enum hydra_dtype hydra_dtype_wide(enum hydra_dtype dtype);

/* Bytes of staging that a gather or a scatter uses. */
int64_t hydra_exchange_staging(const struct hydra_layout *layout, const struct hydra_exchanged *what);

/* Post everything and copy this member's own part. staging and messages are in use until finish has returned. */
int hydra_gather_start(struct hydra_gather *gather, const struct hydra_wire *wire, const struct hydra_layout *layout,
                       const struct hydra_exchanged *what, const struct hydra_tensor *from, void *to, void *staging,
                       struct hydra_message *messages);
int hydra_gather_finish(struct hydra_gather *gather);

/* from [in] packed ring rows of what->dtype; to [out] member rows, all heads, of dtype `to_dtype`. */
int hydra_scatter(const struct hydra_wire *wire, const struct hydra_layout *layout, const struct hydra_exchanged *what,
                  const void *from, const struct hydra_tensor *to, enum hydra_dtype to_dtype, void *staging,
                  struct hydra_message *messages);

/* Copy rows x heads [first_head, first_head + heads) of a tensor to packed memory. */
void hydra_pack_rows(char *to, const struct hydra_tensor *from, size_t element, int dim, int64_t row, int64_t rows,
                     int first_head, int heads);

#endif
