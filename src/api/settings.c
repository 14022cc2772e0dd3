/* settings.c: what Hydra_Init is told, by its config or by the environment, and the kernel that follows. */
#include <stdio.h>
#include <string.h>

#include "api/context.h"
#include "base/config.h"
#include "base/error.h"
#include "base/log.h"

#define LONGEST_TIMEOUT 1e9 /* s */

static const char *choose_text(const char *configured, int variable)
{
    return configured != NULL ? configured : hydra_config_get(variable);
}

/* Whether the peers can be told of an error. A later version's longer struct begins like ours; a size beyond that is
 * memory that nobody has set, and its peers no communicator. */
static bool readable(const Hydra_Config *config)
{
    return config != NULL && config->size >= offsetof(Hydra_Config, topology) && config->size <= 4 * sizeof *config;
}

int hydra_settings_read(const Hydra_Config *config, struct hydra_settings *settings)
{
    Hydra_Config given = HYDRA_CONFIG_INIT;
    int status = HYDRA_SUCCESS;

    settings->timeout = 600;
    if (readable(config))
        memcpy(&given, config, config->size < sizeof given ? config->size : sizeof given);
    settings->peers = given.peers;
    settings->topology = choose_text(given.topology, HYDRA_CONFIG_TOPOLOGY);
    settings->kernel = choose_text(given.kernel, HYDRA_CONFIG_KERNEL);
    settings->alltoall = choose_text(given.alltoall, HYDRA_CONFIG_ALLTOALL);
    settings->ring = choose_text(given.ring, HYDRA_CONFIG_RING);
    HYDRA_TRY(hydra_log_configure());
    HYDRA_REQUIRE(config == NULL || (readable(config) && config->size <= sizeof given), HYDRA_ERR_ARG,
                  "Hydra_Config.size is %zu, not %zu: start from HYDRA_CONFIG_INIT", config->size, sizeof given);
    HYDRA_REQUIRE(given.timeout >= 0 && given.timeout <= LONGEST_TIMEOUT, HYDRA_ERR_ARG,
                  "Hydra_Config.timeout is %g, not within 0 .. %g s", given.timeout, LONGEST_TIMEOUT);
    if (given.timeout > 0)
        settings->timeout = given.timeout;
    else
        HYDRA_TRY(hydra_config_get_double(HYDRA_CONFIG_TIMEOUT, 1e-3, LONGEST_TIMEOUT, &settings->timeout));

fail:
    return status;
}

uint64_t hydra_settings_hash(const struct hydra_settings *settings)
{
    const char *texts[] = {settings->topology, settings->kernel, settings->alltoall, settings->ring};
    uint64_t hash = 0xcbf29ce484222325u;

    for (int i = 0; i < 4; i++)
        for (const char *c = texts[i];; c++) {
            hash = (hash ^ (unsigned char)*c) * 0x100000001b3u; /* FNV-1a, the final 0 included */
            if (*c == '\0')
                break;
        }
    return hash;
}

static int unknown_kernel(const char *name)
{
    char known[256] = "";

    for (int i = 0; hydra_kernel_at(i) != NULL; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i > 0 ? " " : "",
                 hydra_kernel_at(i)->name);
    return hydra_error(HYDRA_ERR_ARG, "HYDRA_DCP_KERNEL: no kernel is called '%s' (there are: %s)", name, known);
}

int hydra_settings_kernel(struct hydra_pool *pool, const char *name, const struct hydra_kernel_ops **kernel)
{
    enum { MOST_KERNELS = 32 };
    const struct hydra_kernel_ops *named = name[0] == '\0' ? NULL : hydra_kernel_find(name);
    struct hydra_comm comm = hydra_comm_of(pool);
    int64_t scores[MOST_KERNELS];
    char why[MOST_KERNELS][96];
    int count = 0, best = 0;
    int status = HYDRA_SUCCESS;

    for (; count < MOST_KERNELS && hydra_kernel_at(count) != NULL; count++) {
        snprintf(why[count], sizeof why[count], "another rank lacks it");
        scores[count] = hydra_kernel_at(count)->probe(why[count], sizeof why[count]);
    }
    HYDRA_TRY(hydra_agree_same(comm, HYDRA_SUCCESS, (uint64_t)count, "number of attention kernels built in"));
    if (name[0] != '\0' && named == NULL)
        HYDRA_TRY(unknown_kernel(name)); /* the same on every rank, as the settings are */
    HYDRA_TRY(hydra_least(comm, scores, count, "the choice of a kernel"));
    for (int i = 0; i < count; i++)
        if (named != NULL ? hydra_kernel_at(i) == named : scores[i] > scores[best])
            best = i;
    HYDRA_REQUIRE(scores[best] > 0, HYDRA_ERR_UNSUPPORTED, "HYDRA_DCP_KERNEL: kernel %s cannot run: %s",
                  hydra_kernel_at(best)->name, why[best]);
    *kernel = hydra_kernel_at(best);
    hydra_log(HYDRA_LEVEL_INFO, "api", "attention kernel %s", (*kernel)->name);

fail:
    return status;
}
