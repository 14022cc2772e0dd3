/* test_plan.c: Hydra_Plan gathers what ranks loaded and plans as one process would; disagreement is an error everywhere
 * that leaves the context whole; schedules travel; thousands of plans create no communicator. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "hydra.h"
#include "tests/mpi_tap.h"

static Hydra_Context context;
static int rank, size;

/* Rank r loads r + 1 documents of lengths 10 (r + 1) + i. */
static int64_t my_lengths(int r, int64_t *lengths)
{
    for (int i = 0; i <= r; i++)
        lengths[i] = 10 * (r + 1) + i;
    return r + 1;
}

static Hydra_Plan_options ordinary(void)
{
    Hydra_Plan_options options = HYDRA_PLAN_OPTIONS_INIT;

    options.budget = 64;
    options.heads = 4;
    return options;
}

/* The same documents, degree by degree and shard by shard, as one process plans for ranks in slot order. */
static bool same_views(Hydra_Schedule ours, Hydra_Schedule serial, const int *slot_of_rank)
{
    int64_t count = 0, count_serial = 1;
    bool good = Hydra_Schedule_count(ours, &count) == HYDRA_SUCCESS &&
                Hydra_Schedule_count(serial, &count_serial) == HYDRA_SUCCESS && count == count_serial;

    for (int64_t m = 0; good && m < count; m++) {
        Hydra_Microbatch a, b;

        good &= Hydra_Schedule_microbatch(ours, m, rank, &a) == HYDRA_SUCCESS &&
                Hydra_Schedule_microbatch(serial, m, slot_of_rank[rank], &b) == HYDRA_SUCCESS;
        good = good && a.tokens == b.tokens && a.degree == b.degree && a.ulysses == b.ulysses && a.ndocs == b.ndocs &&
               memcmp(a.doc_ids, b.doc_ids, (size_t)a.ndocs * sizeof *a.doc_ids) == 0 &&
               memcmp(a.global_positions, b.global_positions, (size_t)a.tokens * sizeof *a.global_positions) == 0;
        Hydra_Microbatch_free(&a);
        Hydra_Microbatch_free(&b);
    }
    return good;
}

static void plans_as_one_process_would(void)
{
    int64_t mine[64], all[64 * 64], n = my_lengths(rank, mine), total = 0;
    Hydra_Plan_options options = ordinary();
    Hydra_Schedule ours = HYDRA_SCHEDULE_NULL, serial = HYDRA_SCHEDULE_NULL;
    uint64_t hash = 0, least, greatest;
    int slot, slots[64];
    bool good;

    for (int r = 0; r < size; r++)
        total += my_lengths(r, all + total);
    Hydra_Context_query(context, NULL, NULL, &slot);
    MPI_Allgather(&slot, 1, MPI_INT, slots, 1, MPI_INT, MPI_COMM_WORLD);
    good = Hydra_Plan(context, n, mine, &options, &ours) == HYDRA_SUCCESS &&
           Hydra_Plan_serial(size, total, all, &options, &serial) == HYDRA_SUCCESS && same_views(ours, serial, slots) &&
           Hydra_Schedule_hash(ours, &hash) == HYDRA_SUCCESS;
    MPI_Allreduce(&hash, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&hash, &greatest, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    mpi_tap_result(good && least == greatest,
                   "ranks that loaded different documents get the plan that one process makes, with one hash");
    Hydra_Schedule_free(&ours);
    Hydra_Schedule_free(&serial);
}

static void a_differing_option_is_named(void)
{
    int64_t mine[64], n = my_lengths(rank, mine);
    Hydra_Plan_options options = ordinary();
    Hydra_Schedule schedule = HYDRA_SCHEDULE_NULL;
    char detail[512] = "", wanted[64];
    int status;

    if (rank == size - 1)
        options.align = 4;
    status = Hydra_Plan(context, n, mine, &options, &schedule);
    Hydra_Error_detail(detail, sizeof detail);
    snprintf(wanted, sizeof wanted, "align is 1 on rank 0, 4 on rank %d", size - 1);
    mpi_tap_result(
        TAP_CHECK(status == HYDRA_ERR_MISMATCH && strstr(detail, wanted) != NULL, "rank %d: %s", rank, detail),
        "an option that differs is named with both values, on every rank");
    Hydra_Schedule_free(&schedule);
}

/* Call Hydra_Plan wrongly on the last rank: everybody fails, as `wanted` where given, and the next plan is fine. */
static void expect(int status, Hydra_Schedule *schedule, int wanted_there, int wanted_here, const char *sentence)
{
    int64_t mine[64], n = my_lengths(rank, mine);
    Hydra_Plan_options options = ordinary();
    Hydra_Schedule next = HYDRA_SCHEDULE_NULL;
    char detail[512] = "";
    int wanted = rank == size - 1 ? wanted_there : wanted_here;
    bool good;

    Hydra_Error_detail(detail, sizeof detail);
    good =
        TAP_CHECK(status == wanted && *schedule == HYDRA_SCHEDULE_NULL && detail[0] != '\0',
                  "rank %d got %s (%s), not %s", rank, Hydra_Error_string(status), detail, Hydra_Error_string(wanted));
    good &= Hydra_Plan(context, n, mine, &options, &next) == HYDRA_SUCCESS;
    Hydra_Schedule_free(&next);
    mpi_tap_result(good, sentence);
}

static void disagreements(void)
{
    int64_t mine[64], n = my_lengths(rank, mine), pairs[64] = {0};
    Hydra_Schedule schedule = HYDRA_SCHEDULE_NULL;
    Hydra_Plan_options options = ordinary(), other = ordinary();
    bool odd = rank == size - 1;
    int peer = size > 1 ? HYDRA_ERR_PEER : HYDRA_SUCCESS;

    other.budget = 80;
    if (size > 1)
        a_differing_option_is_named();
    if (size > 1)
        expect(Hydra_Plan(context, n, mine, odd ? &other : &options, &schedule), &schedule, HYDRA_ERR_MISMATCH,
               HYDRA_ERR_MISMATCH, "one rank with another budget: all ranks hear of it, and the context stays whole");
    expect(Hydra_Plan(context, odd ? -1 : n, mine, &options, &schedule), &schedule, HYDRA_ERR_ARG, peer,
           "one rank with -1 documents");
    expect(Hydra_Plan(context, n, odd ? NULL : mine, &options, &schedule), &schedule, HYDRA_ERR_ARG, peer,
           "one rank without its lengths");
    expect(Hydra_Plan(context, n, mine, odd ? NULL : &options, &schedule), &schedule, HYDRA_ERR_ARG, peer,
           "one rank without options");
    other = ordinary();
    other.policy = odd ? 77 : HYDRA_POLICY_LOAD;
    expect(Hydra_Plan(context, n, mine, &other, &schedule), &schedule, HYDRA_ERR_ARG, peer,
           "one rank with an unknown policy");
    mine[0] = odd ? -5 : mine[0];
    expect(Hydra_Plan(context, n, mine, &options, &schedule), &schedule, HYDRA_ERR_ARG, HYDRA_ERR_ARG,
           "a negative length is named on every rank");
    mine[0] = odd ? 64 * size + 1 : 1;
    expect(Hydra_Plan(context, n, mine, &options, &schedule), &schedule, HYDRA_ERR_INFEASIBLE, HYDRA_ERR_INFEASIBLE,
           "a document that the whole pool cannot hold is named on every rank");
    other = ordinary();
    other.pairs = odd ? pairs : NULL;
    my_lengths(rank, mine);
    if (size > 1)
        expect(Hydra_Plan(context, n, mine, &other, &schedule), &schedule, HYDRA_ERR_MISMATCH, HYDRA_ERR_MISMATCH,
               "one rank with pairs, the others without");
}

/* Rank 0 has the only document; nobody else loads or holds a token (heffte#10, EasyR1#11012). */
static void ranks_without_tokens_pass_null(void)
{
    enum { LENGTH = 5, DIM = 4, ROW = DIM * sizeof(float) };
    int64_t lengths[] = {LENGTH}, *mine = rank == 0 ? lengths : NULL;
    float x[LENGTH][DIM], y[LENGTH][DIM], lse[LENGTH], dq[LENGTH][DIM], dk[LENGTH][DIM], dv[LENGTH][DIM],
        home[LENGTH][DIM];
    Hydra_Plan_options options = ordinary();
    Hydra_Attn_config shape = HYDRA_ATTN_CONFIG_INIT;
    Hydra_Schedule schedule = HYDRA_SCHEDULE_NULL;
    Hydra_Attn attn = HYDRA_ATTN_NULL;
    Hydra_Microbatch view = {0};
    int64_t count = 0;
    bool good;

    for (int i = 0; i < LENGTH * DIM; i++)
        x[i / DIM][i % DIM] = (float)(i % 7) - 3, home[i / DIM][i % DIM] = 99;
    options.max_degree = 1;
    shape.heads = shape.kv_heads = 1;
    shape.head_dim = DIM;
    good = Hydra_Plan(context, rank == 0, mine, &options, &schedule) == HYDRA_SUCCESS &&
           Hydra_Attn_create(context, &shape, &attn) == HYDRA_SUCCESS &&
           Hydra_Schedule_count(schedule, &count) == HYDRA_SUCCESS && count == 1 &&
           Hydra_Schedule_microbatch(schedule, 0, rank, &view) == HYDRA_SUCCESS;
    if (TAP_CHECK(good, "rank %d: %d microbatches", rank, (int)count)) {
        bool holds = view.tokens > 0;
        void *q = holds ? x : NULL, *out = holds ? y : NULL, *l = holds ? lse : NULL;

        good &= Hydra_Dispatch(context, schedule, 0, ROW, rank == 0 ? x : NULL, holds ? y : NULL) == HYDRA_SUCCESS;
        good &= Hydra_Attn_forward(attn, schedule, 0, q, q, q, out, l, HYDRA_SAVED_NULL) == HYDRA_SUCCESS;
        good &= Hydra_Attn_backward(attn, schedule, 0, q, q, q, out, l, HYDRA_SAVED_NULL, q, holds ? dq : NULL,
                                    holds ? dk : NULL, holds ? dv : NULL) == HYDRA_SUCCESS;
        good &= Hydra_Collect(context, schedule, 0, ROW, out, rank == 0 ? home : NULL) == HYDRA_SUCCESS;
        /* The first token sees itself alone. */
        good &= rank != 0 || memcmp(home[0], x[0], ROW) == 0;
    }
    mpi_tap_result(good, "ranks that neither load nor hold a token pass NULL everywhere");
    Hydra_Microbatch_free(&view);
    Hydra_Attn_free(&attn);
    Hydra_Schedule_free(&schedule);
}

static void pairs_travel(void)
{
    int64_t lengths[1] = {16}, pairs[1] = {rank == 0 ? 200 : 1};
    Hydra_Plan_options options = ordinary();
    Hydra_Schedule schedule = HYDRA_SCHEDULE_NULL;
    Hydra_Schedule_stats stats = {0};
    bool good;

    options.pairs = pairs;
    good = Hydra_Plan(context, 1, lengths, &options, &schedule) == HYDRA_SUCCESS &&
           Hydra_Schedule_stats_get(schedule, &stats) == HYDRA_SUCCESS;
    /* weights are doubled pairs: 400 + 2 (G - 1) over M G slots */
    good = good && TAP_CHECK(stats.load_mean * (double)(stats.microbatches * size) > 399.0 + 2 * (size - 1) &&
                                 stats.load_mean * (double)(stats.microbatches * size) < 401.0 + 2 * (size - 1),
                             "the mean load is %g", stats.load_mean);
    mpi_tap_result(good, "pairs given by each rank weigh its own documents");
    Hydra_Schedule_free(&schedule);
}

static void schedules_travel(void)
{
    int64_t lengths[3] = {30, 7, 0};
    Hydra_Plan_options options = ordinary();
    Hydra_Schedule schedule = HYDRA_SCHEDULE_NULL;
    int root = size - 1;
    uint64_t hash = 0, roots;
    bool good = true;

    if (rank == root)
        good &= Hydra_Plan_serial(size, 3, lengths, &options, &schedule) == HYDRA_SUCCESS;
    good &= Hydra_Schedule_bcast(&schedule, root, MPI_COMM_WORLD) == HYDRA_SUCCESS;
    good = good && Hydra_Schedule_hash(schedule, &hash) == HYDRA_SUCCESS;
    roots = hash;
    MPI_Bcast(&roots, 1, MPI_UINT64_T, root, MPI_COMM_WORLD);
    mpi_tap_result(good && hash == roots, "a broadcast schedule has the root's hash");
    Hydra_Schedule_free(&schedule);
    mpi_tap_result(Hydra_Schedule_bcast(&schedule, root, MPI_COMM_WORLD) != HYDRA_SUCCESS &&
                       schedule == HYDRA_SCHEDULE_NULL,
                   "broadcasting a null schedule is an error everywhere");
}

/* A rank that cannot take part says so at once, instead of leaving the others to their timeout. */
static void broadcasts_agree_on_errors(void)
{
    int64_t lengths[1] = {30};
    Hydra_Plan_options options = ordinary();
    Hydra_Schedule schedule = HYDRA_SCHEDULE_NULL, made = HYDRA_SCHEDULE_NULL;
    bool odd = rank == size - 1;
    int status;

    if (size == 1 || Hydra_Plan_serial(size, 1, lengths, &options, &made) != HYDRA_SUCCESS)
        return;
    schedule = rank == 0 ? made : HYDRA_SCHEDULE_NULL;
    status = Hydra_Schedule_bcast(&schedule, odd ? size : 0, MPI_COMM_WORLD);
    mpi_tap_result(
        TAP_CHECK(status == (odd ? HYDRA_ERR_ARG : HYDRA_ERR_PEER), "rank %d: %s", rank, Hydra_Error_string(status)),
        "a broadcast from a root that one rank does not know is an error everywhere");
    schedule = made;
    status = Hydra_Schedule_bcast(&schedule, odd ? 1 : 0, MPI_COMM_WORLD);
    mpi_tap_result(TAP_CHECK(status == HYDRA_ERR_MISMATCH, "rank %d: %s", rank, Hydra_Error_string(status)),
                   "ranks that name different roots hear of it");
    if (odd)
        setenv("HYDRA_DCP_TIMEOUT", "soon", 1);
    status = Hydra_Schedule_bcast(&schedule, 0, MPI_COMM_WORLD);
    setenv("HYDRA_DCP_TIMEOUT", "60", 1);
    mpi_tap_result(
        TAP_CHECK(status == (odd ? HYDRA_ERR_FORMAT : HYDRA_ERR_PEER), "rank %d: %s", rank, Hydra_Error_string(status)),
        "so do those beside a rank whose timeout cannot be read");
    Hydra_Schedule_free(&made);
}

/* A communicator joins the ranks that attend together: those of the schedule's slots. */
static void groups_have_their_communicators(void)
{
    int64_t lengths[2] = {40, 40};
    Hydra_Plan_options options = ordinary();
    Hydra_Schedule ours = HYDRA_SCHEDULE_NULL, serial = HYDRA_SCHEDULE_NULL;
    Hydra_Microbatch view = {0};
    MPI_Comm comm = MPI_COMM_NULL;
    int members = 1, moved, slot, status;
    bool good;

    options.min_degree = options.max_degree = size >= 4 ? 2 : 1;
    Hydra_Context_query(context, NULL, NULL, &slot);
    moved = slot != rank;
    MPI_Allreduce(MPI_IN_PLACE, &moved, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    good = Hydra_Plan(context, rank == 0 ? 2 : 0, lengths, &options, &ours) == HYDRA_SUCCESS &&
           Hydra_Plan_serial(size, 2, lengths, &options, &serial) == HYDRA_SUCCESS &&
           Hydra_Schedule_microbatch(ours, 0, rank, &view) == HYDRA_SUCCESS &&
           Hydra_Group_comm(context, ours, 0, &comm) == HYDRA_SUCCESS;
    if (comm != MPI_COMM_NULL)
        MPI_Comm_size(comm, &members);
    good =
        TAP_CHECK(good && (comm != MPI_COMM_NULL) == (view.tokens > 0) && (view.tokens == 0 || members == view.degree),
                  "rank %d: %d members", rank, members);
    mpi_tap_result(good, "a group has a communicator of its size");
    status = Hydra_Group_comm(context, serial, 0, &comm);
    mpi_tap_result(
        TAP_CHECK(status == (moved ? HYDRA_ERR_ARG : HYDRA_SUCCESS), "rank %d: %s", rank, Hydra_Error_string(status)),
        moved ? "a schedule for other slots than the context's has none" : "a schedule of one process has it too");
    Hydra_Microbatch_free(&view);
    Hydra_Schedule_free(&ours);
    Hydra_Schedule_free(&serial);
}

int main(int argc, char **argv)
{
    mpi_tap_begin(&argc, &argv);
    rank = mpi_tap_rank;
    size = mpi_tap_size;
    if (Hydra_Init(MPI_COMM_WORLD, NULL, &context) != HYDRA_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    plans_as_one_process_would();
    disagreements();
    ranks_without_tokens_pass_null();
    pairs_travel();
    schedules_travel();
    broadcasts_agree_on_errors();
    groups_have_their_communicators();
    Hydra_Finalize(&context);
    setenv("HYDRA_DCP_TOPOLOGY", "2*[pu:2]/round-robin", 1); /* slots are not ranks from 3 ranks on */
    if (Hydra_Init(MPI_COMM_WORLD, NULL, &context) != HYDRA_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    groups_have_their_communicators();
    Hydra_Finalize(&context);
    return mpi_tap_done();
}
