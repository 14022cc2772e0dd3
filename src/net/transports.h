/* transports.h: what the files of this folder share: the table's entries, one file each. */
#ifndef HYDRA_NET_TRANSPORTS_H
#define HYDRA_NET_TRANSPORTS_H

#include "net/net.h"

extern const struct hydra_net_ops hydra_net_ucx;
extern const struct hydra_net_ops hydra_net_mpi;
extern const struct hydra_net_ops hydra_net_null;
extern const struct hydra_net_ops hydra_net_delay;

/* The error of a message longer than its buffer; bytes -1: the transport does not know how long it is. */
int hydra_net_too_long(const struct hydra_net_request *request, int64_t bytes);

#endif
