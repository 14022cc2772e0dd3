/* test_presets.c: presets are read whole, and a bad one is refused with file, line and key. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "sim/preset.h"
#include "tests/tap.h"

static const char *source(const char *path)
{
    static char full[1024];
    const char *top = getenv("top_srcdir");

    snprintf(full, sizeof full, "%s/share/%s", top == NULL ? "." : top, path);
    return full;
}

static void shipped_presets_are_read(void)
{
    static const char *const models[] = {"deepseek-v3", "hy3",           "hydra-production", "hydra-testbed",
                                         "llama3-8b",   "moe-770b-a49b", "qwen3.5-35b-a3b"};
    static const char *const clusters[] = {"a100-p4de", "gb200x8", "h100", "h200", "h20x512", "h800x2048"};
    struct hydra_model model;
    struct hydra_cluster cluster;
    char share[1024];
    bool good = true;

    snprintf(share, sizeof share, "%s", source(""));
    setenv("HYDRA_DCP_SHARE", share, 1);
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
        good &= TAP_CHECK(hydra_model_read(models[i], &model) == HYDRA_SUCCESS, "%s", hydra_error_detail());
    for (size_t i = 0; i < sizeof clusters / sizeof clusters[0]; i++)
        good &= TAP_CHECK(hydra_cluster_read(clusters[i], &cluster) == HYDRA_SUCCESS, "%s", hydra_error_detail());
    good &= TAP_CHECK(hydra_model_read("deepseek-v3", &model) == HYDRA_SUCCESS && model.layers == 61 &&
                          model.heads == 128 && model.attention_layers == 61 && model.backward_compute == 2,
                      "DeepSeek-V3 has %ld layers", (long)model.layers);
    unsetenv("HYDRA_DCP_SHARE");
    tap_result(good, "every shipped preset is read, and its parts add up to its published size");
}

/* Write `from` to a file of ours with the first `old` replaced by `new`, and return its line. */
static int write_changed(const char *from, const char *to, const char *old, const char *new)
{
    static char text[65536];
    FILE *file = fopen(from, "r");
    size_t length = file == NULL ? 0 : fread(text, 1, sizeof text - 1, file);
    char *at;
    int line = 1;

    if (file != NULL)
        fclose(file);
    text[length] = '\0';
    at = strstr(text, old);
    file = fopen(to, "w");
    if (at == NULL || file == NULL)
        return -1;
    for (const char *c = text; c < at; c++)
        line += *c == '\n';
    fprintf(file, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
    fclose(file);
    return line;
}

struct fault {
    const char *preset, *old, *new;
    const char *says; /* what the detail must hold */
    bool names_line;  /* of the change */
};

static void bad_presets_name_file_line_and_key(void)
{
    static const struct fault faults[] = {
        {"models/hy3.cfg", "hidden = 4096;", "", "hidden is missing", false},
        {"models/hy3.cfg", "kv_heads = 8;", "", "attention.kv_heads is missing", false},
        {"models/hy3.cfg", "layers = 80;", "layers = -80;", "layers = -80 is outside", true},
        {"models/hy3.cfg", "experts = 192;", "experts = 192; expert_colour = 7;", "unknown key mlp.expert_colour",
         true},
        {"models/hy3.cfg", "budget = 8192;", "budget = 8192.5;", "training.budget = 8192.5 must be a whole number",
         true},
        {"models/hy3.cfg", "budget = 8192;", "budget = \"8K\";", "training.budget must be a number", true},
        {"models/hy3.cfg", "parameters = 295.0e9;", "parameters = 395.0e9;", "the parts add up to", false},
        {"models/hy3.cfg", "experts_active = 8;", "experts_active = 800;", "mlp.experts_active = 800", false},
        {"models/hy3.cfg", "kv_heads = 8;", "kv_heads = 7;", "attention.kv_heads = 7", false},
        {"models/hy3.cfg", "name = \"Hy3\";", "name = \"\";", "name must have", true},
        {"models/hy3.cfg", "training = {", "training_oops = {", "unknown key training_oops", true},
        {"models/hy3.cfg", "hidden = 4096;", "hidden = = 4096;", "syntax error", true},
        {"models/hydra-testbed.cfg", "fixed_seconds = 10e-3;", "fixed_second = 10e-3;", "unknown key fixed_second",
         true},
        {"models/hydra-testbed.cfg", "token_seconds = 41e-6;", "token_seconds = 41;", "token_seconds = 41 is outside",
         true},
        {"models/hydra-testbed.cfg", "token_seconds = 41e-6;", "", "token_seconds is missing", false},
        {"clusters/h100.cfg", "gpus = 64;", "gpus = 0;", "gpus = 0 is outside", true},
        {"clusters/h100.cfg", "gpus = 64;", "gpus = 4294967360;", "4294967360 is too large", true},
        {"clusters/h100.cfg", "gpus = 64;", "gpus = 0x100000040;", "0x100000040 is too large", true},
        {"clusters/h100.cfg", "gpus = 64;", "/* 4294967360 */ gpus = 64; gpus = 64;", "", true},
        {"clusters/h100.cfg", "inter_bandwidth = 42e9;", "inter_bandwidth = 42;", "inter_bandwidth = 42 is outside",
         true},
        {"clusters/h100.cfg", "gemm_efficiency = 0.45;", "gemm_efficiency = 1.45;", "gemm_efficiency = 1.45", true},
        {"clusters/h100.cfg", "peak_flops = 989e12;", "", "peak_flops is missing", false},
        {"clusters/h100.cfg", "peak_flops = 989e12;", "peak_flops = 1e999;", "peak_flops", true},
    };
    char path[] = "bad_preset_XXXXXX.cfg";
    int made = mkstemps(path, 4);
    bool good = TAP_CHECK(made >= 0, "no temporary file %s", path);

    for (size_t i = 0; good && i < sizeof faults / sizeof faults[0]; i++) {
        const struct fault *fault = &faults[i];
        bool is_model = strncmp(fault->preset, "models", 6) == 0;
        int line = write_changed(source(fault->preset), path, fault->old, fault->new);
        char place[1100];
        struct hydra_model model = {.nfits = 0};
        struct hydra_cluster cluster = {.gpus = 0};
        int status = is_model ? hydra_model_read(path, &model) : hydra_cluster_read(path, &cluster);

        snprintf(place, sizeof place, fault->names_line ? "%s:%d: " : "%s:", path, line);
        good &= TAP_CHECK(line > 0, "%s has no '%s'", fault->preset, fault->old);
        good &= TAP_CHECK(status == HYDRA_ERR_FORMAT, "'%s' for '%s': status %d", fault->new, fault->old, status);
        good &= TAP_CHECK(strstr(hydra_error_detail(), fault->says) != NULL, "'%s' does not say '%s'",
                          hydra_error_detail(), fault->says);
        good &= TAP_CHECK(strncmp(hydra_error_detail(), place, strlen(place)) == 0 ||
                              (!fault->names_line && strncmp(hydra_error_detail(), path, strlen(path)) == 0),
                          "'%s' does not start with '%s'", hydra_error_detail(), place);
        good &= TAP_CHECK(model.layers == 0 && cluster.gpus == 0, "a refused preset was stored");
    }
    if (made >= 0) {
        close(made);
        unlink(path);
    }
    tap_result(
        good,
        "a preset with a missing, negative, unknown, absurd or contradictory value is refused by file, line and key");
}

static void an_unknown_preset_says_where_it_was_looked_for(void)
{
    struct hydra_model model;
    bool good = true;

    setenv("HYDRA_DCP_SHARE", "/nonexistent", 1);
    good &= TAP_CHECK(hydra_model_read("hy3", &model) == HYDRA_ERR_ARG, "found");
    good &= TAP_CHECK(strstr(hydra_error_detail(), "/nonexistent/models") != NULL, "%s", hydra_error_detail());
    unsetenv("HYDRA_DCP_SHARE");
    good &= TAP_CHECK(hydra_model_read("no/such.cfg", &model) == HYDRA_ERR_IO, "found");
    good &= TAP_CHECK(strstr(hydra_error_detail(), "no/such.cfg") != NULL, "%s", hydra_error_detail());
    tap_result(good, "an unknown preset says where it was looked for");
}

int main(void)
{
    shipped_presets_are_read();
    bad_presets_name_file_line_and_key();
    an_unknown_preset_says_where_it_was_looked_for();
    return tap_done();
}
