/* test_stage.c: what a stage costs, against numbers worked out by hand from the presets. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "sim/stage.h"
#include "tests/tap.h"

static struct hydra_model model;
static struct hydra_cluster cluster;

static bool load(const char *model_name, const char *cluster_name)
{
    char share[1024];
    const char *top = getenv("top_srcdir");

    snprintf(share, sizeof share, "%s/share", top == NULL ? "." : top);
    setenv("HYDRA_DCP_SHARE", share, 1);
    return TAP_CHECK(hydra_model_read(model_name, &model) == HYDRA_SUCCESS &&
                         hydra_cluster_read(cluster_name, &cluster) == HYDRA_SUCCESS,
                     "%s", hydra_error_detail());
}

static bool near(double ours, double right, const char *what)
{
    return TAP_CHECK(fabs(ours - right) <= 1e-6 * fabs(right), "%s is %.9g, by hand %.9g", what, ours, right);
}

/* Llama-3-8B on H100s without tensor or pipeline parallelism. Parameters a token meets: 32 layers of attention
 * 4096 x 128 x (32 + 8 + 8 + 32) and MLP 3 x 4096 x 14336, and 128256 x 4096 logits: 7,504,658,432. */
static void llama_by_hand(void)
{
    struct hydra_stage stage;
    struct hydra_cut cut = {64, 1, 1, 1, 0};
    bool good = load("llama3-8b", "h100");

    good &= TAP_CHECK(hydra_stage_derive(&model, &cluster, &cut, HYDRA_ENGINE_ULYSSES, &stage) == HYDRA_SUCCESS, "%s",
                      hydra_error_detail());
    good &= near(stage.token_flops, 2 * 7504658432.0, "FLOPs of a token");
    good &= near(stage.forward.phi, 2 * 7504658432.0 / (989e12 * 0.45), "phi");
    good &= near(stage.forward.theta, 32.0 * 32 * 256 / (989e12 * 0.5), "theta");
    good &= near(stage.forward.fixed, 32 * 0.2e-3, "fixed");
    good &= near(stage.forward.a2a_bytes_per_token, 32.0 * 2 * (2 * 32 + 2 * 8) * 128, "all-to-all bytes");
    good &= near(stage.forward.ring_bytes_per_token, 32.0 * 2 * 2 * 8 * 128, "ring bytes");
    good &= near(stage.backward.ring_bytes_per_token, 3 * 32.0 * 2 * 2 * 8 * 128, "backward ring bytes");
    good &= near(stage.backward.phi, 2 * stage.forward.phi, "backward phi");
    good &= TAP_CHECK(stage.block_slots == 1 && stage.expert_token == 0 && stage.tensor_comm == 0, "block %ld",
                      (long)stage.block_slots);
    tap_result(good, "Llama-3-8B on H100s costs what the numbers of the presets say");
}

/* DeepSeek-V3: tp 2 halves heads and NIC traffic; ep 32 over 4 nodes of 8 sends each token to at most 4 nodes, 3 of 4
 * copies leave the node; a block of 32 ranks is 16 slots. */
static void deepseek_by_hand(void)
{
    struct hydra_stage stage;
    struct hydra_cut cut = {2048, 2, 4, 3, 32};
    double copies = fmin(4, 4 * (1 - pow(0.75, 8))) * 0.75, row = 7168 * 2;
    bool good = load("deepseek-v3", "h800x2048");

    good &= TAP_CHECK(hydra_stage_derive(&model, &cluster, &cut, HYDRA_ENGINE_OVERLAP, &stage) == HYDRA_SUCCESS, "%s",
                      hydra_error_detail());
    good &= TAP_CHECK(stage.heads == 64 && stage.kv_heads == 64 && stage.block_slots == 16, "heads %d block %ld",
                      stage.heads, (long)stage.block_slots);
    good &= TAP_CHECK(stage.layers_per_chunk == 5 && stage.forward.node_slots == 4, "layers %ld node %ld",
                      (long)stage.layers_per_chunk, (long)stage.forward.node_slots);
    good &= near(stage.expert_comm, 2 * copies * row / 2 / 42e9 * 58 / 4 * 0.5, "expert all-to-all");
    good &= near(stage.tensor_comm, 4 * row * 0.5 * 61 / 4 / 160e9, "tensor-parallel communication");
    good &= near(stage.forward.theta, 61.0 * 128 * 320 / 8 / (989e12 * 0.5), "theta");
    good &= near(stage.forward.a2a_exposed, 0.35, "exposed share");
    tap_result(good, "DeepSeek-V3 under tp 2 and ep 32 costs what the numbers of the presets say");
}

static void a_fit_replaces_flops_on_its_cluster_only(void)
{
    struct hydra_stage fitted, halved, derived;
    struct hydra_cut cut = {512, 1, 4, 3, 8}, deep = {512, 1, 8, 3, 8};
    bool good = load("hydra-testbed", "h20x512");

    good &= hydra_stage_derive(&model, &cluster, &cut, HYDRA_ENGINE_OVERLAP, &fitted) == HYDRA_SUCCESS;
    good &= hydra_stage_derive(&model, &cluster, &deep, HYDRA_ENGINE_OVERLAP, &halved) == HYDRA_SUCCESS;
    good &= load("hydra-testbed", "h100");
    good &= hydra_stage_derive(&model, &cluster, &cut, HYDRA_ENGINE_OVERLAP, &derived) == HYDRA_SUCCESS;
    good &= TAP_CHECK(fitted.fitted && halved.fitted && !derived.fitted, "%d %d %d", fitted.fitted, halved.fitted,
                      derived.fitted);
    good &= near(fitted.forward.phi + fitted.expert_token, 41e-6, "fitted time of a token");
    good &= near(fitted.forward.theta, 41e-6 / 24576, "fitted theta");
    good &= near(fitted.forward.fixed, 10e-3, "fitted c");
    good &= near(halved.forward.theta, fitted.forward.theta / 2, "theta of twice the stages");
    tap_result(good, "a fit replaces FLOPs on its own cluster only, and scales with the stages");
}

static void impossible_cuts_are_refused(void)
{
    static const struct {
        struct hydra_cut cut;
        const char *says;
    } cases[] = {
        {{510, 1, 4, 3, 8}, "510 GPUs"}, {{512, 3, 4, 3, 8}, "tp 3"}, {{512, 1, 16, 8, 8}, "pp 16 x v 8"},
        {{512, 1, 4, 3, 256}, "ep 256"}, {{0, 1, 1, 1, 0}, "0 GPUs"}, {{640, 5, 4, 3, 8}, "tp 5"},
    };
    struct hydra_stage stage;
    bool good = load("hydra-testbed", "h20x512");

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int status = hydra_stage_derive(&model, &cluster, &cases[i].cut, HYDRA_ENGINE_RING, &stage);

        good &= TAP_CHECK(status == HYDRA_ERR_ARG && strstr(hydra_error_detail(), cases[i].says) != NULL,
                          "case %ld: status %d, '%s'", (long)i, status, hydra_error_detail());
    }
    tap_result(good, "cuts that do not fit the GPUs, heads, layers or ranks are refused by name");
}

int main(void)
{
    llama_by_hand();
    deepseek_by_hand();
    a_fit_replaces_flops_on_its_cluster_only();
    impossible_cuts_are_refused();
    return tap_done();
}
