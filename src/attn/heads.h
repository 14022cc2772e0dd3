/* heads.h: which heads an inner index computes. Pure, header only. */
#ifndef HYDRA_ATTN_HEADS_H
#define HYDRA_ATTN_HEADS_H

#include <stdint.h>

/* Query heads [first, first + count) and the KV heads that they read. count is 0 for some inner indices when U > H. */
struct hydra_heads {
    int first;
    int count;
    int kv_first;
    int kv_count;
};

/* Query head h of H reads KV head floor(h * G / H). */
static inline int hydra_heads_kv_of(int heads, int kv_heads, int head)
{
    return (int)((int64_t)head * kv_heads / heads);
}

/* Inner index a of U gets query heads [a*H/U, (a+1)*H/U). A KV head read by several inner indices is replicated. */
static inline struct hydra_heads hydra_heads_of_inner(int heads, int kv_heads, int64_t factor, int64_t inner)
{
    struct hydra_heads own = {0, 0, 0, 0};
    int64_t end = (inner + 1) * heads / factor;

    own.first = (int)(inner * heads / factor);
    own.count = (int)end - own.first;
    if (own.count > 0) {
        own.kv_first = hydra_heads_kv_of(heads, kv_heads, own.first);
        own.kv_count = hydra_heads_kv_of(heads, kv_heads, (int)end - 1) + 1 - own.kv_first;
    }
    return own;
}

#endif
