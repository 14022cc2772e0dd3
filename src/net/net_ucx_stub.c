/* net_ucx_stub.c: stands where UCX was not found at configure time, so that the table and its
 * messages stay the same. */
#include <stdio.h>

#include "base/error.h"
#include "net/transports.h"

static int probe(int size, enum hydra_net_use use, char *why, size_t len)
{
    (void)size, (void)use;
    snprintf(why, len, "this library was built without UCX");
    return 0;
}

static int create(struct hydra_pool *pool, const char *argument, struct hydra_net **net)
{
    (void)pool, (void)argument, (void)net;
    return hydra_error(HYDRA_ERR_UNSUPPORTED, "this library was built without UCX");
}

const struct hydra_net_ops hydra_net_ucx = {.name = "ucx", .probe = probe, .create = create};
