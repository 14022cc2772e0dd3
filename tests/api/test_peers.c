/* test_peers.c: two pipeline stages of one pool size each, on machines of different shape, use one slot map. */
#include <string.h>

#include "api/context.h"
#include "base/error.h"
#include "tests/mpi_tap.h"

static MPI_Comm pool, peers;
static int stage, half;

/* Slots of the ranks of this pool, compared with those of the other stage. */
static bool same_slots(Hydra_Context context)
{
    int64_t *theirs = context->pool->rank_of_slot;
    int64_t first[64] = {0};
    bool good = true;

    memcpy(first, theirs, (size_t)half * sizeof *first);
    MPI_Bcast(first, half, MPI_INT64_T, 0, peers);
    for (int slot = 0; slot < half; slot++)
        good &= TAP_CHECK(first[slot] == theirs[slot], "slot %d is rank %d here, %d there", slot, (int)theirs[slot],
                          (int)first[slot]);
    return good;
}

static int start(bool with_peers, const char *topology, Hydra_Context *context)
{
    Hydra_Config config = HYDRA_CONFIG_INIT;

    config.topology = topology;
    config.peers = with_peers ? peers : MPI_COMM_NULL;
    return Hydra_Init(pool, &config, context);
}

static bool stages_agree(void)
{
    const char *topology = stage == 0 ? "2*[core:8 pu:1]/round-robin" : "4*[core:8 pu:1]/round-robin";
    Hydra_Context alone = HYDRA_CONTEXT_NULL, together = HYDRA_CONTEXT_NULL;
    uint64_t hash = 77;
    bool good = TAP_CHECK(start(false, topology, &alone) == HYDRA_SUCCESS, "%s", hydra_error_detail());
    int64_t differs = 0;

    good = good && TAP_CHECK(start(true, topology, &together) == HYDRA_SUCCESS, "%s", hydra_error_detail());
    if (!good)
        return false;
    good &= same_slots(together);
    /* The test would prove nothing if the stages agreed by themselves. */
    for (int slot = 0; slot < half; slot++)
        differs |= alone->pool->rank_of_slot[slot] != together->pool->rank_of_slot[slot];
    MPI_Allreduce(MPI_IN_PLACE, &differs, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    good &= TAP_CHECK(differs || half < 4, "both stages have the same order anyway");
    good &= TAP_CHECK(hydra_context_agree_hash(together, HYDRA_SUCCESS, hash, "schedule hash") == HYDRA_SUCCESS, "%s",
                      hydra_error_detail());
    hash += (uint64_t)stage;
    good &= TAP_CHECK(hydra_context_agree_hash(together, HYDRA_SUCCESS, hash, "schedule hash") == HYDRA_ERR_MISMATCH,
                      "%s", hydra_error_detail());
    good &= TAP_CHECK(Hydra_Finalize(&together) == HYDRA_SUCCESS && Hydra_Finalize(&alone) == HYDRA_SUCCESS, "%s",
                      hydra_error_detail());
    return good;
}

/* One rank of stage 1 fails: the whole of stage 0 hears of it too. */
static bool failures_cross_stages(void)
{
    Hydra_Context context = HYDRA_CONTEXT_NULL;
    Hydra_Config config = HYDRA_CONFIG_INIT;
    bool culprit = mpi_tap_rank == mpi_tap_size - 1;
    int status;

    config.peers = peers;
    config.timeout = culprit ? -1 : 0;
    status = Hydra_Init(pool, &config, &context);
    return TAP_CHECK(status == (culprit ? HYDRA_ERR_ARG : HYDRA_ERR_PEER), "status %d: %s", status,
                     hydra_error_detail());
}

/* The last rank of stage 1 gives a config of `size` bytes, the others one that waits `timeout` seconds. */
static int start_with_size(size_t size, double timeout)
{
    struct {
        Hydra_Config config;
        char later[sizeof(Hydra_Config)];
    } given = {.config = HYDRA_CONFIG_INIT};
    Hydra_Context context = HYDRA_CONTEXT_NULL;

    given.config.peers = peers;
    given.config.timeout = timeout;
    if (mpi_tap_rank == mpi_tap_size - 1)
        given.config.size = size;
    return Hydra_Init(pool, &given.config, &context);
}

/* Its peers stand where they always will. */
static bool a_later_config_is_refused_everywhere(void)
{
    int status = start_with_size(2 * sizeof(Hydra_Config), 0);

    return TAP_CHECK(status == (mpi_tap_rank == mpi_tap_size - 1 ? HYDRA_ERR_ARG : HYDRA_ERR_PEER), "status %d: %s",
                     status, hydra_error_detail());
}

/* Its peers are unknown: the one in the other stage waits for it, the rest of that stage hears of that wait. */
static bool an_unreadable_config_ends_by_timeout(void)
{
    bool culprit = mpi_tap_rank == mpi_tap_size - 1, peer = mpi_tap_rank == half - 1;
    int wanted = culprit ? HYDRA_ERR_ARG : peer ? HYDRA_ERR_TIMEOUT : HYDRA_ERR_PEER;
    int status = start_with_size(3, 3);
    bool good = TAP_CHECK(status == wanted, "status %d: %s", status, hydra_error_detail());

    if (peer)
        good &= TAP_CHECK(strstr(hydra_error_detail(), "Hydra_Config.peers") != NULL, "%s", hydra_error_detail());
    MPI_Barrier(MPI_COMM_WORLD);
    if (culprit) { /* what the peer has begun can then end, or MPI_Finalize would wait for it */
        MPI_Request request;
        MPI_Comm copy;

        MPI_Comm_idup(peers, &copy, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return good;
}

static bool peers_of_some_ranks_are_refused(void)
{
    Hydra_Context context = HYDRA_CONTEXT_NULL;
    Hydra_Config config = HYDRA_CONFIG_INIT;
    int status;

    config.peers = mpi_tap_rank % half == 0 ? MPI_COMM_NULL : peers;
    status = Hydra_Init(pool, &config, &context);
    Hydra_Finalize(&context);
    return TAP_CHECK(status == (half > 1 ? HYDRA_ERR_MISMATCH : HYDRA_SUCCESS), "status %d: %s", status,
                     hydra_error_detail());
}

/* One rank of stage 1 fails in Hydra_Plan: nobody in stage 0 waits for ranks that have returned. */
static bool failed_plans_cross_stages(void)
{
    Hydra_Context context = HYDRA_CONTEXT_NULL;
    Hydra_Plan_options options = HYDRA_PLAN_OPTIONS_INIT;
    Hydra_Schedule schedule = HYDRA_SCHEDULE_NULL;
    int64_t lengths[1] = {5};
    bool culprit = mpi_tap_rank == mpi_tap_size - 1;
    bool good = start(true, NULL, &context) == HYDRA_SUCCESS;
    int status;

    if (!TAP_CHECK(good, "%s", hydra_error_detail()))
        return false;
    options.budget = 8;
    status = Hydra_Plan(context, culprit ? -1 : 1, lengths, &options, &schedule);
    good =
        TAP_CHECK(status == (culprit ? HYDRA_ERR_ARG : HYDRA_ERR_PEER), "status %d: %s", status, hydra_error_detail());
    good &=
        TAP_CHECK(Hydra_Plan(context, 1, lengths, &options, &schedule) == HYDRA_SUCCESS, "%s", hydra_error_detail());
    Hydra_Schedule_free(&schedule);
    Hydra_Finalize(&context);
    return good;
}

/* Peers whose order differs from pool rank to pool rank do not share a slot map. */
static bool crossed_peers_are_refused(void)
{
    Hydra_Context context = HYDRA_CONTEXT_NULL;
    MPI_Comm straight = peers;
    int member = mpi_tap_rank % half, status;
    bool good;

    MPI_Comm_split(MPI_COMM_WORLD, member, member % 2 == 0 ? stage : -stage, &peers);
    status = start(true, stage == 0 ? "2*[core:8 pu:1]/round-robin" : "1*[core:8 pu:1]", &context);
    good = TAP_CHECK(status == (half < 4 ? HYDRA_SUCCESS : HYDRA_ERR_MISMATCH), "status %d: %s", status,
                     hydra_error_detail());
    Hydra_Finalize(&context);
    MPI_Comm_free(&peers);
    peers = straight;
    return good;
}

int main(int argc, char **argv)
{
    mpi_tap_begin(&argc, &argv);
    half = mpi_tap_size / 2;
    stage = mpi_tap_rank / half;
    MPI_Comm_split(MPI_COMM_WORLD, stage, 0, &pool);
    MPI_Comm_split(MPI_COMM_WORLD, mpi_tap_rank % half, 0, &peers);
    mpi_tap_result(stages_agree(), "stages on different machines use one slot map, and agree on hashes");
    mpi_tap_result(failures_cross_stages(),
                   "a rank of one stage that fails in Hydra_Init ends it in the other stage too");
    mpi_tap_result(
        failed_plans_cross_stages(),
        "a rank of one stage that fails in Hydra_Plan ends it in the other stage too, and the next plan is fine");
    mpi_tap_result(crossed_peers_are_refused(), "peers ordered differently from rank to rank are refused");
    mpi_tap_result(peers_of_some_ranks_are_refused(), "peers that only some ranks of a pool give are refused");
    mpi_tap_result(a_later_config_is_refused_everywhere(),
                   "a rank whose config is a later version's ends Hydra_Init in the other stage too");
    mpi_tap_result(an_unreadable_config_ends_by_timeout(),
                   "a rank whose config is unreadable ends Hydra_Init in the other stage by timeout");
    MPI_Comm_free(&peers);
    MPI_Comm_free(&pool);
    return mpi_tap_done();
}
