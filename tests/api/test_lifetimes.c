/* test_lifetimes.c: handles outlive what they belong to, operations are forgotten or waited for twice: errors, never
 * memory that is gone. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "hydra.h"
#include "tests/mpi_tap.h"

enum { TOKENS = 40, HEADS = 4, DIM = 4 };

static Hydra_Context context;
static Hydra_Schedule schedule;
static float *buffer[4]; /* q, k, v, out of any rank's rows */

static void open_context(void)
{
    int64_t lengths[] = {TOKENS};
    Hydra_Plan_options options = HYDRA_PLAN_OPTIONS_INIT;

    options.budget = TOKENS;
    options.heads = HEADS;
    options.min_degree = options.max_degree = options.factor =
        mpi_tap_size; /* something to exchange, something to save */
    if (Hydra_Init(MPI_COMM_WORLD, NULL, &context) != HYDRA_SUCCESS ||
        Hydra_Plan(context, mpi_tap_rank == 0, lengths, &options, &schedule) != HYDRA_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

static Hydra_Attn layer(int heads)
{
    Hydra_Attn_config config = HYDRA_ATTN_CONFIG_INIT;
    Hydra_Attn attn = HYDRA_ATTN_NULL;

    config.heads = config.kv_heads = heads;
    config.head_dim = DIM;
    if (Hydra_Attn_create(context, &config, &attn) != HYDRA_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return attn;
}

static int forward(Hydra_Attn attn, Hydra_Saved saved)
{
    return Hydra_Attn_forward(attn, schedule, 0, buffer[0], buffer[1], buffer[2], buffer[3], NULL, saved);
}

/* What is freed is filled with other bytes (main), so whoever still looks there goes astray. */
static void freed_after_finalize(void)
{
    Hydra_Attn attn;
    Hydra_Saved saved = HYDRA_SAVED_NULL;
    bool good;

    open_context();
    attn = layer(HEADS);
    good = Hydra_Saved_create(attn, &saved) == HYDRA_SUCCESS && forward(attn, saved) == HYDRA_SUCCESS &&
           Hydra_Finalize(&context) == HYDRA_SUCCESS;
    good &= forward(attn, saved) == HYDRA_ERR_ARG;
    good &= Hydra_Saved_free(&saved) == HYDRA_SUCCESS && saved == HYDRA_SAVED_NULL;
    good &= Hydra_Attn_free(&attn) == HYDRA_SUCCESS && attn == HYDRA_ATTN_NULL;
    mpi_tap_result(good, "a layer and its saved tensors can be freed after their context");
    Hydra_Schedule_free(&schedule);
}

static void forgotten_operations(void)
{
    Hydra_Attn attn;
    Hydra_Op dispatch = HYDRA_OP_NULL, split = HYDRA_OP_NULL;
    bool culprit = mpi_tap_rank == mpi_tap_size - 1;
    int status;
    bool good;

    open_context();
    attn = layer(HEADS);
    good = Hydra_Dispatch_start(context, schedule, 0, 8, buffer[0], buffer[1], &dispatch) == HYDRA_SUCCESS &&
           Hydra_Attn_start(attn, schedule, 0, &split) == HYDRA_SUCCESS;
    if (!culprit)
        good &= Hydra_Op_wait(&dispatch) == HYDRA_SUCCESS;
    for (int which = 0; which < 3; which++)
        good &= Hydra_Attn_put(split, which, buffer[which]) == HYDRA_SUCCESS;
    good &= Hydra_Attn_wait(&split, buffer[3], NULL, HYDRA_SAVED_NULL) == HYDRA_SUCCESS;
    status = Hydra_Finalize(&context);
    good &= TAP_CHECK(status == (culprit ? HYDRA_ERR_STATE : HYDRA_ERR_PEER), "%s", Hydra_Error_string(status));
    good &= context == HYDRA_CONTEXT_NULL;
    if (culprit)
        good &= Hydra_Op_wait(&dispatch) == HYDRA_ERR_ARG && dispatch == HYDRA_OP_NULL;
    good &= Hydra_Attn_free(&attn) == HYDRA_SUCCESS;
    mpi_tap_result(good, "finalising over an operation that one rank has not waited for is an error on all");
    Hydra_Schedule_free(&schedule);
}

static void waited_for_twice(void)
{
    Hydra_Attn attn;
    Hydra_Op op = HYDRA_OP_NULL, copy;
    bool good;

    open_context();
    attn = layer(HEADS);
    good = Hydra_Attn_start(attn, schedule, 0, &op) == HYDRA_SUCCESS;
    copy = op;
    for (int which = 0; which < 3; which++)
        good &= Hydra_Attn_put(op, which, buffer[which]) == HYDRA_SUCCESS;
    good &= Hydra_Attn_wait(&op, buffer[3], NULL, HYDRA_SAVED_NULL) == HYDRA_SUCCESS;
    good &= Hydra_Attn_wait(&copy, buffer[3], NULL, HYDRA_SAVED_NULL) == HYDRA_ERR_ARG;
    good &= Hydra_Attn_put(copy, HYDRA_Q, buffer[0]) == HYDRA_ERR_ARG;
    good &= forward(attn, HYDRA_SAVED_NULL) == HYDRA_SUCCESS;
    mpi_tap_result(good, "a split forward that is waited for again is refused, and the context stays whole");
    Hydra_Attn_free(&attn);
    Hydra_Schedule_free(&schedule);
    Hydra_Finalize(&context);
}

/* malloc gives the second layer the address of the first: looked for, since the sentence is about it. */
static void saved_of_another_layer(void)
{
    Hydra_Attn first, second;
    Hydra_Saved saved = HYDRA_SAVED_NULL;
    uintptr_t address;
    int status;
    bool good;

    open_context();
    first = layer(HEADS);
    address = (uintptr_t)first;
    good = Hydra_Saved_create(first, &saved) == HYDRA_SUCCESS && forward(first, saved) == HYDRA_SUCCESS;
    Hydra_Attn_free(&first);
    second = layer(2 * HEADS);
    if (mpi_tap_rank == 0 && (uintptr_t)second != address)
        printf("# the second layer is elsewhere\n");
    MPI_Barrier(MPI_COMM_WORLD); /* or a rank could hear of another's error before it has its layer */
    status = forward(second, saved);
    good &= TAP_CHECK(status == HYDRA_ERR_ARG || status == HYDRA_ERR_PEER, "%s", Hydra_Error_string(status));
    mpi_tap_result(good, "saved tensors of a layer that is gone are refused by another");
    Hydra_Saved_free(&saved);
    Hydra_Attn_free(&second);
    Hydra_Schedule_free(&schedule);
    Hydra_Finalize(&context);
}

/* 2^40 tokens of 4,096 heads: more bytes of one number a head and token than there are addresses. */
__attribute__((unused)) static void reserve_without_memory(void)
{
    int64_t lengths[] = {INT64_C(1) << 40};
    Hydra_Plan_options options = HYDRA_PLAN_OPTIONS_INIT;
    Hydra_Schedule huge = HYDRA_SCHEDULE_NULL;
    Hydra_Attn attn;
    int status;
    bool good;

    options.budget = lengths[0];
    options.min_degree = options.max_degree = mpi_tap_size;
    open_context();
    attn = layer(4096);
    good = forward(attn, HYDRA_SAVED_NULL) == HYDRA_SUCCESS &&
           Hydra_Plan_serial(mpi_tap_size, 1, lengths, &options, &huge) == HYDRA_SUCCESS;
    status = Hydra_Attn_reserve(attn, huge);
    good &= TAP_CHECK(status == HYDRA_ERR_NOMEM, "%s", Hydra_Error_string(status));
    status = forward(attn, HYDRA_SAVED_NULL);
    good &= TAP_CHECK(status == HYDRA_SUCCESS, "%s", Hydra_Error_string(status));
    mpi_tap_result(good, "a layer without memory for one schedule still serves another");
    Hydra_Attn_free(&attn);
    Hydra_Schedule_free(&huge);
    Hydra_Schedule_free(&schedule);
    Hydra_Finalize(&context);
}

int main(int argc, char **argv)
{
#ifdef M_PERTURB
    mallopt(M_PERTURB, 0xA5);
#endif
    mpi_tap_begin(&argc, &argv);
    for (int i = 0; i < 4; i++)
        buffer[i] = calloc(TOKENS * 4096 * DIM, sizeof(float));
    waited_for_twice();
    saved_of_another_layer();
#ifndef __SANITIZE_ADDRESS__ /* which ends the program instead */
    reserve_without_memory();
#endif
    forgotten_operations();
    freed_after_finalize();
    for (int i = 0; i < 4; i++)
        free(buffer[i]);
    return mpi_tap_done();
}
