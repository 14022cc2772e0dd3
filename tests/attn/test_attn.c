/* test_attn.c: attention over the ranks of MPI_COMM_WORLD equals that of whole documents in fp64. */
#include "tests/attn/harness.h"

static const int64_t ugly[] = {11, 0, 1, 64, 2, 37, 3, 1, 0, 29, 5};
enum { UGLY = sizeof ugly / sizeof ugly[0] };

/* Every way to split the whole pool into U x R. */
static void every_split(Hydra_Dtype dtype, int mask, int64_t window, int64_t sink, unsigned mode, const char *sentence)
{
    bool good = true;

    for (int factor = 1; factor <= harness_size; factor++)
        if (harness_size % factor == 0)
            good &= attention_matches((struct attention_case){.ndocs = UGLY,
                                                              .lengths = ugly,
                                                              .heads = 9,
                                                              .kv_heads = 3,
                                                              .dim = 8,
                                                              .value_dim = 5,
                                                              .dtype = dtype,
                                                              .mask = mask,
                                                              .window = window,
                                                              .sink = sink,
                                                              .degree = harness_size,
                                                              .factor = factor,
                                                              .mode = mode,
                                                              .seed = (uint64_t)(100 * harness_size + factor)});
    report(good, sentence);
}

/* One document of a given length over all ranks, for every U. */
static bool one_document(int64_t length, int heads, int kv_heads, int dim, int value_dim)
{
    bool good = true;

    for (int factor = 1; factor <= harness_size; factor++)
        if (harness_size % factor == 0)
            good &= attention_matches((struct attention_case){.ndocs = 1,
                                                              .lengths = &length,
                                                              .heads = heads,
                                                              .kv_heads = kv_heads,
                                                              .dim = dim,
                                                              .value_dim = value_dim,
                                                              .degree = harness_size,
                                                              .factor = factor,
                                                              .seed = (uint64_t)length});
    return good;
}

/* Long enough that every kernel tile, whole and cut, meets every other. */
static void many_tiles(void)
{
    static const int64_t lengths[] = {701, 90};
    bool good = true;

    for (int factor = 1; factor <= harness_size; factor *= 2)
        if (harness_size % factor == 0)
            good &= attention_matches((struct attention_case){.ndocs = 2,
                                                              .lengths = lengths,
                                                              .heads = 2,
                                                              .kv_heads = 1,
                                                              .dim = 64,
                                                              .dtype = factor == 2 ? HYDRA_FLOAT64 : HYDRA_FLOAT32,
                                                              .degree = harness_size,
                                                              .factor = factor,
                                                              .seed = 11});
    report(good, "documents of many kernel tiles");
}

static void reported_faults(void)
{
    static const int64_t two[] = {2, 40};

    report(one_document(11, 2, 2, 8, 8),
           "eleven tokens: the last attends to all ten before it (TransformerEngine#3331)");
    report(one_document(698, 1, 1, 8, 8), "698 tokens, where tail padding dropped keys (TransformerEngine#3331)");
    report(one_document(9, 2, 2, 8, 8), "nine tokens, not divisible by the ranks (DeepSpeed#7384)");
    report(one_document(65, 2, 1, 8, 8), "sixty-five tokens do not hang (ring-flash-attention#39)");
    report(attention_matches((struct attention_case){
               .ndocs = 2, .lengths = two, .heads = 2, .dim = 8, .degree = harness_size, .seed = 3}),
           "documents of 2 and 40 tokens leave some ranks empty (SkyRL#1407)");
    report(one_document(64, 4, 2, 16, 16), "sixty-four tokens have exact gradients (TransformerEngine#1557)");
    report(one_document(33, 8, 2, 192, 128),
           "grouped queries with different key and value dims (TransformerEngine#2868)");
    report(one_document(45, 10, 2, 8, 8), "fewer KV heads than ranks (LlamaFactory#10794)");
    report(one_document(1, 3, 1, 8, 8), "one token on many ranks");
    report(one_document(0, 3, 1, 8, 8), "an empty document");
    report(attention_matches((struct attention_case){.ndocs = 0, .lengths = two, .heads = 2, .dim = 8}),
           "a batch without documents");
}

static void uneven_heads(void)
{
    static const int64_t lengths[] = {23, 41, 7};
    bool good = true;

    for (int heads = 1; heads <= 7; heads += 2)
        for (int kv_heads = 1; kv_heads <= heads; kv_heads++)
            good &= attention_matches((struct attention_case){.ndocs = 3,
                                                              .lengths = lengths,
                                                              .heads = heads,
                                                              .kv_heads = kv_heads,
                                                              .dim = 4,
                                                              .degree = harness_size,
                                                              .seed = (uint64_t)(heads * 10 + kv_heads)});
    report(good, "odd numbers of heads, and KV heads that straddle inner indices");
    report(attention_matches((struct attention_case){.ndocs = 3,
                                                     .lengths = lengths,
                                                     .heads = 3,
                                                     .kv_heads = 2,
                                                     .dim = 8,
                                                     .plan_heads = 64,
                                                     .degree = harness_size,
                                                     .seed = 5}),
           "a schedule planned for more heads than the layer has leaves inner indices without heads");
}

/* Batches as they come: the planner chooses groups; several in a microbatch, several microbatches, idle ranks. */
static void random_batches(void)
{
    static const Hydra_Dtype dtypes[] = {HYDRA_FLOAT64, HYDRA_FLOAT32};
    bool good = true;

    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct hydra_random random = hydra_random_seed(seed * 977);
        int64_t lengths[24], ndocs = 1 + hydra_random_below(&random, 24), longest = 1;

        for (int64_t d = 0; d < ndocs; d++) {
            lengths[d] = hydra_random_below(&random, hydra_random_below(&random, 4) == 0 ? 150 : 20);
            longest = lengths[d] > longest ? lengths[d] : longest;
        }
        good &= attention_matches((struct attention_case){.ndocs = ndocs,
                                                          .lengths = lengths,
                                                          .heads = 4,
                                                          .kv_heads = 2,
                                                          .dim = 8,
                                                          .dtype = dtypes[seed % 2],
                                                          .mask = seed % 3 == 0 ? HYDRA_MASK_FULL : HYDRA_MASK_CAUSAL,
                                                          .budget = longest / harness_size + 20,
                                                          .factor = seed % 2 == 0 ? 2 : HYDRA_FACTOR_PAPER,
                                                          .mode = seed % 4 == 0 ? SAVED | STRIDED : PLAIN,
                                                          .seed = seed});
    }
    report(good, "random batches in groups and microbatches of the planner's choice");
}

static struct attention_case packed_case(void)
{
    static const int64_t lengths[] = {31, 17, 40, 8, 13};

    return (struct attention_case){.ndocs = 5,
                                   .lengths = lengths,
                                   .heads = 5,
                                   .kv_heads = 2,
                                   .dim = 8,
                                   .degree = harness_size,
                                   .factor = harness_size % 2 == 0 ? 2 : 1,
                                   .seed = 42};
}

static void bit_for_bit(void)
{
    struct attention_case a = packed_case(), b = a;

    report(same_bits(a, b, -1), "two runs give the same bits");
    b.changed_document = 2;
    report(same_bits(a, b, 1), "changing one document leaves the bits of all others (trl#6843)");
    b = a;
    b.mode = SAVED;
    report(same_bits(a, b, -1), "saved tensors give the bits of a second exchange");
    b.mode = SPLIT;
    report(same_bits(a, b, -1), "the split form gives the bits of one call, whatever the order of puts");
    b.mode = SPLIT | SAVED;
    report(same_bits(a, b, -1), "the split form fills saved tensors too");
    b.mode = STRIDED;
    report(same_bits(a, b, -1), "strided buffers give the bits of packed ones, and their slack is never read");
}

/* Every step waits for its messages, and gradients come in many segments: the same bits as when
 * they are there before. */
static void slow_ring(void)
{
    static const int64_t lengths[] = {701, 90};
    Hydra_Config config = HYDRA_CONFIG_INIT;
    struct attention_case a = {
        .ndocs = 2, .lengths = lengths, .heads = 2, .dim = 64, .degree = harness_size, .factor = 1, .seed = 17};
    struct attention_case b = a;

    config.ring = "delay";
    setenv("HYDRA_DCP_DELAY", "0.0002,3e7", 1);
    b.mode = SLOW_RING;
    report(Hydra_Init(MPI_COMM_WORLD, &config, &harness_slow) == HYDRA_SUCCESS && same_bits(a, b, -1),
           "a ring that every step waits for gives the same bits");
    Hydra_Finalize(&harness_slow);
}

static void without_lse(void)
{
    struct attention_case c = packed_case();

    c.mode = FORWARD_ONLY | NO_LSE;
    report(attention_matches(c), "a forward without lse");
}

int main(int argc, char **argv)
{
    harness_start(&argc, &argv);
    every_split(HYDRA_FLOAT64, HYDRA_MASK_CAUSAL, 0, 0, PLAIN, "every split U x R in fp64, causal");
    every_split(HYDRA_FLOAT32, HYDRA_MASK_CAUSAL, 0, 0, SAVED, "every split U x R in fp32, causal, with saved tensors");
    every_split(HYDRA_FLOAT32, HYDRA_MASK_FULL, 0, 0, PLAIN, "every split U x R in fp32, without a causal mask");
    every_split(HYDRA_FLOAT64, HYDRA_MASK_WINDOW, 3, 0, PLAIN,
                "every split U x R with a sliding window (accelerate#4177)");
    every_split(HYDRA_FLOAT32, HYDRA_MASK_WINDOW, 5, 2, STRIDED, "every split U x R with a window and a sink");
    every_split(HYDRA_BFLOAT16, HYDRA_MASK_CAUSAL, 0, 0, PLAIN, "every split U x R in bf16");
    every_split(HYDRA_FLOAT16, HYDRA_MASK_CAUSAL, 0, 0, SAVED, "every split U x R in fp16");
    many_tiles();
    reported_faults();
    uneven_heads();
    random_batches();
    bit_for_bit();
    slow_ring();
    without_lse();
    return harness_end();
}
