#include <hydra.h>
#include <stdio.h>
#include <stdlib.h>
#define OK(call) do { if ((call) != HYDRA_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1); } while (0)
enum { HEADS = 8, KV = 2, DIM = 64, ROW = (HEADS + 2 * KV) * DIM }; /* q, k and v of a token side by side */

int main(int argc, char **argv)
{
    int64_t lengths[] = {3000, 40, 0, 700}, loaded = 3740, count; /* tokens of the documents that this rank loaded */
    Hydra_Plan_options plan = HYDRA_PLAN_OPTIONS_INIT;
    Hydra_Attn_config shape = HYDRA_ATTN_CONFIG_INIT; Hydra_Context context; Hydra_Schedule schedule; Hydra_Attn attn;
    int rank, level; plan.budget = 2048; plan.heads = shape.heads = HEADS; plan.kv_heads = shape.kv_heads = KV;
    shape.head_dim = DIM; shape.q_token_stride = shape.k_token_stride = shape.v_token_stride = ROW;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level); MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    float *from = calloc(loaded * ROW, sizeof *from), *home = calloc(loaded * HEADS * DIM, sizeof *home);
    for (int64_t i = 0; i < loaded * ROW; i++) from[i] = (float)(i % 89) / 89;
    OK(Hydra_Init(MPI_COMM_WORLD, NULL, &context)); OK(Hydra_Plan(context, 4, lengths, &plan, &schedule));
    OK(Hydra_Attn_create(context, &shape, &attn)); OK(Hydra_Schedule_count(schedule, &count));
    for (int64_t m = 0; m < count; m++) { /* the same number on every rank */
        Hydra_Microbatch my; OK(Hydra_Schedule_microbatch(schedule, m, rank, &my));
        float *x = malloc((my.tokens + 1) * ROW * sizeof *x), *out = malloc((my.tokens + 1) * HEADS * DIM * sizeof *out);
        OK(Hydra_Dispatch(context, schedule, m, ROW * sizeof *x, from, x)); /* to the shards, and back below */
        OK(Hydra_Attn_forward(attn, schedule, m, x, x + HEADS * DIM, x + (HEADS + KV) * DIM, out, NULL, HYDRA_SAVED_NULL));
        OK(Hydra_Collect(context, schedule, m, HEADS * DIM * sizeof *out, out, home));
        printf("microbatch %d: rank %d holds %d tokens, degree %d\n", (int)m, rank, (int)my.tokens, (int)my.degree);
        free(x); free(out); Hydra_Microbatch_free(&my);
    }
    Hydra_Attn_free(&attn); Hydra_Schedule_free(&schedule); Hydra_Finalize(&context); free(from); free(home);
    return MPI_Finalize();
}
