/* synthetic.c: places of ranks on machines that do not exist: MACHINES*[HWLOC], several joined by '+'. */
#include <hwloc.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parse.h"
#include "topo/place.h"

enum { MOST_MACHINES = 1 << 20 };

/* The PUs of one machine. */
struct machine {
    int64_t npus;
    const struct hydra_place *pus; /* [npus], shared by equal machines */
};

struct cluster {
    int64_t nmachines;
    struct machine *machines;
    int64_t nkinds;
    struct hydra_place **kinds; /* what machines' pus point at */
    bool round_robin;
};

static int64_t ancestor(hwloc_topology_t topology, hwloc_obj_t pu, hwloc_obj_type_t type)
{
    hwloc_obj_t object = hwloc_get_ancestor_obj_by_type(topology, type, pu);

    return object == NULL ? -1 : (int64_t)object->logical_index;
}

static int64_t numa_of(hwloc_topology_t topology, hwloc_obj_t pu)
{
    hwloc_obj_t node = NULL;

    while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != NULL)
        if (hwloc_bitmap_isincluded(pu->cpuset, node->cpuset))
            return node->logical_index;
    return -1;
}

/* Places of the PUs that an hwloc synthetic string describes. */
static int read_kind(const char *text, struct hydra_place **pus, int64_t *npus)
{
    hwloc_topology_t topology = NULL;
    struct hydra_place *made = NULL;
    int64_t count;
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(hwloc_topology_init(&topology) == 0, HYDRA_ERR_NOMEM, "hwloc cannot make a topology");
    HYDRA_REQUIRE(hwloc_topology_set_synthetic(topology, text) == 0 && hwloc_topology_load(topology) == 0,
                  HYDRA_ERR_FORMAT, "HYDRA_DCP_TOPOLOGY: hwloc does not understand '%s'", text);
    count = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    made = hydra_alloc(count, sizeof *made);
    HYDRA_REQUIRE(made != NULL, HYDRA_ERR_NOMEM, "HYDRA_DCP_TOPOLOGY: %lld PUs of '%s'", (long long)count, text);
    for (int64_t i = 0; i < count; i++) {
        hwloc_obj_t pu = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PU, (unsigned)i);

        made[i] = (struct hydra_place){.package = ancestor(topology, pu, HWLOC_OBJ_PACKAGE),
                                       .numa = numa_of(topology, pu),
                                       .gpu = -1,
                                       .core = ancestor(topology, pu, HWLOC_OBJ_CORE)};
        if (made[i].core < 0) /* "pu:8" has no cores: a PU is as good */
            made[i].core = i;
    }
    *pus = made;
    *npus = count;
    made = NULL;

fail:
    hydra_free(made);
    if (topology != NULL)
        hwloc_topology_destroy(topology);
    return status;
}

/* Read "MACHINES*[HWLOC]" at *at, add its machines, and leave *at behind it. */
static int read_term(const char **at, struct cluster *cluster)
{
    const char *star = strchr(*at, '*');
    const char *close = strchr(*at, ']');
    char number[24] = "", *inner = NULL;
    struct hydra_place *pus = NULL, **kinds;
    struct machine *machines;
    int64_t count = 0, npus = 0;
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(star != NULL && close != NULL && star[1] == '[' && star < close &&
                      (size_t)(star - *at) < sizeof number,
                  HYDRA_ERR_FORMAT, "HYDRA_DCP_TOPOLOGY: '%s' is not MACHINES*[HWLOC STRING]", *at);
    memcpy(number, *at, (size_t)(star - *at));
    HYDRA_TRY(hydra_parse_int("HYDRA_DCP_TOPOLOGY: number of machines", number, 1, MOST_MACHINES, &count));
    inner = hydra_strdup(star + 2);
    HYDRA_REQUIRE(inner != NULL, HYDRA_ERR_NOMEM, "HYDRA_DCP_TOPOLOGY: '%s'", *at);
    inner[close - (star + 2)] = '\0';
    HYDRA_TRY(read_kind(inner, &pus, &npus));

    kinds = hydra_resize(cluster->kinds, cluster->nkinds + 1, sizeof *kinds);
    HYDRA_REQUIRE(kinds != NULL, HYDRA_ERR_NOMEM, "HYDRA_DCP_TOPOLOGY: '%s'", *at);
    cluster->kinds = kinds;
    machines = hydra_resize(cluster->machines, cluster->nmachines + count, sizeof *machines);
    HYDRA_REQUIRE(machines != NULL, HYDRA_ERR_NOMEM, "HYDRA_DCP_TOPOLOGY: %lld machines", (long long)count);
    cluster->machines = machines;
    kinds[cluster->nkinds++] = pus;
    for (int64_t i = 0; i < count; i++)
        machines[cluster->nmachines++] = (struct machine){.npus = npus, .pus = pus};
    pus = NULL;
    *at = close + 1;

fail:
    hydra_free(inner);
    hydra_free(pus);
    return status;
}

static int read_cluster(const char *text, struct cluster *cluster)
{
    const char *at = text;
    int status = HYDRA_SUCCESS;

    do
        HYDRA_TRY(read_term(&at, cluster));
    while (*at++ == '+');
    at--;
    cluster->round_robin = strcmp(at, "/round-robin") == 0;
    HYDRA_REQUIRE(*at == '\0' || cluster->round_robin || strcmp(at, "/block") == 0, HYDRA_ERR_FORMAT,
                  "HYDRA_DCP_TOPOLOGY: '%s' after the machines is neither '+', '/block' nor '/round-robin'", at);

fail:
    return status;
}

int hydra_place_synthetic(const char *text, int64_t count, struct hydra_place *places)
{
    struct cluster cluster = {0};
    int64_t *taken = NULL; /* PUs of each machine that have their rank in this lap */
    int64_t machine = 0, total = 0;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(read_cluster(text, &cluster));
    taken = hydra_calloc(cluster.nmachines, sizeof *taken);
    HYDRA_REQUIRE(taken != NULL, HYDRA_ERR_NOMEM, "HYDRA_DCP_TOPOLOGY: %lld machines", (long long)cluster.nmachines);
    for (int64_t i = 0; i < cluster.nmachines; i++)
        total += cluster.machines[i].npus;
    for (int64_t rank = 0; rank < count; rank++) {
        if (rank % total == 0) {
            machine = 0;
            memset(taken, 0, (size_t)cluster.nmachines * sizeof *taken);
        }
        while (taken[machine] == cluster.machines[machine].npus)
            machine = (machine + 1) % cluster.nmachines;
        places[rank] = cluster.machines[machine].pus[taken[machine]++];
        places[rank].node = machine;
        if (cluster.round_robin)
            machine = (machine + 1) % cluster.nmachines;
    }

fail:
    for (int64_t i = 0; i < cluster.nkinds; i++)
        hydra_free(cluster.kinds[i]);
    hydra_free(cluster.kinds);
    hydra_free(cluster.machines);
    hydra_free(taken);
    return status;
}
