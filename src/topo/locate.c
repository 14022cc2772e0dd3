/* locate.c: where this process may run, from hwloc. */
#define _GNU_SOURCE
#include <hwloc.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "topo/place.h"

/* Unbound: the scheduler may put the process on every online CPU, so there is no place to find. Saves the discovery. */
static bool is_unbound(void)
{
    cpu_set_t set;
    long online = sysconf(_SC_NPROCESSORS_ONLN);

    return online > 0 && sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) >= online;
}

/* Index of the object of a type that covers the whole binding; -1 when the binding leaves it, or none exists. */
static int64_t covering(hwloc_topology_t topology, hwloc_const_cpuset_t set, hwloc_obj_type_t type)
{
    hwloc_obj_t object = NULL;

    while ((object = hwloc_get_next_obj_by_type(topology, type, object)) != NULL)
        if (object->cpuset != NULL && hwloc_bitmap_isincluded(set, object->cpuset))
            return object->logical_index;
    return -1;
}

static bool is_gpu(hwloc_obj_t device)
{
    hwloc_obj_osdev_type_t type = device->attr->osdev.type;

    return type == HWLOC_OBJ_OSDEV_GPU || type == HWLOC_OBJ_OSDEV_COPROC;
}

/* First GPU below the smallest part of the machine that holds both it and the binding; -1 when hwloc sees none. */
static int64_t closest_gpu(hwloc_topology_t topology, hwloc_const_cpuset_t set)
{
    hwloc_obj_t device = NULL;
    int64_t closest = -1, index = 0;
    int smallest = 0;

    while ((device = hwloc_get_next_osdev(topology, device)) != NULL) {
        hwloc_obj_t host = hwloc_get_non_io_ancestor_obj(topology, device);
        int width;

        if (!is_gpu(device))
            continue;
        if (host->cpuset != NULL && hwloc_bitmap_isincluded(set, host->cpuset)) {
            width = hwloc_bitmap_weight(host->cpuset);
            if (closest < 0 || width < smallest) {
                closest = index;
                smallest = width;
            }
        }
        index++;
    }
    return closest;
}

int hydra_place_locate(bool full, struct hydra_place *place)
{
    hwloc_topology_t topology = NULL;
    hwloc_bitmap_t set = NULL;
    int status = HYDRA_SUCCESS;

    *place = (struct hydra_place){.package = -1, .numa = -1, .gpu = -1, .core = -1};
    if (!full && is_unbound())
        return HYDRA_SUCCESS;
    HYDRA_REQUIRE(hwloc_topology_init(&topology) == 0, HYDRA_ERR_NOMEM, "hwloc cannot make a topology");
    if (full)
        hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    set = hwloc_bitmap_alloc();
    /* A machine that hwloc cannot read is no error: the order then is the launcher's. */
    if (set == NULL || hwloc_topology_load(topology) != 0 ||
        hwloc_get_cpubind(topology, set, HWLOC_CPUBIND_PROCESS) != 0 || hwloc_bitmap_iszero(set))
        goto fail;
    place->package = covering(topology, set, HWLOC_OBJ_PACKAGE);
    place->numa = covering(topology, set, HWLOC_OBJ_NUMANODE);
    place->core = covering(topology, set, HWLOC_OBJ_CORE);
    if (full)
        place->gpu = closest_gpu(topology, set);

fail:
    hwloc_bitmap_free(set);
    if (topology != NULL)
        hwloc_topology_destroy(topology);
    return status;
}

const char *hydra_place_version(void)
{
    static char text[16]; /* the same whoever writes it */
    unsigned version = hwloc_get_api_version();

    snprintf(text, sizeof text, "%u.%u.%u", version >> 16 & 0xff, version >> 8 & 0xff, version & 0xff);
    return text;
}
