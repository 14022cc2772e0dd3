/* instance.h: the passes for one instruction set and number format. A translation unit defines KERNEL_PASSES (the name
 * of what it makes), KERNEL_REAL_BITS, KERNEL_VECTOR_BYTES and KERNEL_REGISTERS, and includes this once. */
#include "kernel/passes.h"

#include "kernel/backward.h"
#include "kernel/canary.h"
#include "kernel/forward.h"

static size_t workspace_bytes(const struct hydra_kernel_shape *shape, int threads, bool backwards)
{
    struct forward_room forward_room;
    struct backward_room backward_room;

    if (backwards)
        return (size_t)threads * (sizeof(struct progress) + lay_out_backward(shape, NULL, &backward_room));
    return (size_t)threads * lay_out_forward(shape, NULL, &forward_room);
}

const struct hydra_kernel_passes KERNEL_PASSES = {workspace_bytes, forward, backward, canary, peak};
