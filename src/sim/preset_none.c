/* preset_none.c: takes the place of preset.c where libconfig is absent. */
#include "base/error.h"
#include "sim/preset.h"

int hydra_model_read(const char *name, struct hydra_model *model)
{
    (void)model;
    return hydra_error(HYDRA_ERR_UNSUPPORTED, "model '%s' cannot be read: this build has no libconfig", name);
}

int hydra_cluster_read(const char *name, struct hydra_cluster *cluster)
{
    (void)cluster;
    return hydra_error(HYDRA_ERR_UNSUPPORTED, "cluster '%s' cannot be read: this build has no libconfig", name);
}
