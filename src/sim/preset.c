/* preset.c: reads presets with libconfig. One table of keys per kind of file; what is not in the table is an error. */
#include "sim/preset.h"

#include <inttypes.h>
#include <libconfig.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

enum kind { COUNT, NUMBER, NAME };

/* Files may leave out keys with `optional` set: these are then `fallback`. */
struct key {
    const char *group; /* NULL: top of the file */
    const char *name;
    enum kind kind;
    size_t offset;
    double low, high;
    bool optional;
    double fallback;
};

#define MODEL(field)   offsetof(struct hydra_model, field)
#define CLUSTER(field) offsetof(struct hydra_cluster, field)
#define FIT(field)     offsetof(struct hydra_model_fit, field)

static const struct key model_keys[] = {
    {NULL, "name", NAME, MODEL(name), 0, 0, false, 0},
    {NULL, "layers", COUNT, MODEL(layers), 1, 10000, false, 0},
    {NULL, "hidden", COUNT, MODEL(hidden), 1, 1e6, false, 0},
    {NULL, "vocabulary", COUNT, MODEL(vocabulary), 1, 1e8, false, 0},
    {NULL, "parameters", NUMBER, MODEL(parameters), 1, 1e16, false, 0},
    {NULL, "active_parameters", NUMBER, MODEL(active_parameters), 1, 1e16, false, 0},
    {"attention", "layers", COUNT, MODEL(attention_layers), 0, 10000, true, 0},
    {"attention", "heads", COUNT, MODEL(heads), 1, 65536, false, 0},
    {"attention", "kv_heads", COUNT, MODEL(kv_heads), 1, 65536, false, 0},
    {"attention", "qk_dim", COUNT, MODEL(qk_dim), 1, 65536, false, 0},
    {"attention", "v_dim", COUNT, MODEL(v_dim), 1, 65536, false, 0},
    {"attention", "query_rank", COUNT, MODEL(query_rank), 0, 1e6, true, 0},
    {"attention", "kv_rank", COUNT, MODEL(kv_rank), 0, 1e6, true, 0},
    {"attention", "rope_dim", COUNT, MODEL(rope_dim), 0, 65536, true, 0},
    {"attention", "gated", COUNT, MODEL(gated), 0, 1, true, 0},
    {"attention", "mixer_parameters", NUMBER, MODEL(mixer_parameters), 0, 1e12, true, 0},
    {"mlp", "dense_layers", COUNT, MODEL(dense_layers), 0, 10000, false, 0},
    {"mlp", "dense_width", COUNT, MODEL(dense_width), 0, 1e7, true, 0},
    {"mlp", "experts", COUNT, MODEL(experts), 0, 1e5, true, 0},
    {"mlp", "experts_active", COUNT, MODEL(experts_active), 0, 1e5, true, 0},
    {"mlp", "shared_experts", COUNT, MODEL(shared_experts), 0, 1e5, true, 0},
    {"mlp", "expert_width", COUNT, MODEL(expert_width), 0, 1e7, true, 0},
    {"mlp", "expert_nodes", COUNT, MODEL(expert_nodes), 0, 1e5, true, 0},
    {"training", "tensor_parallel", COUNT, MODEL(tensor_parallel), 1, 1024, false, 0},
    {"training", "pipeline_stages", COUNT, MODEL(pipeline_stages), 1, 1024, false, 0},
    {"training", "pipeline_chunks", COUNT, MODEL(pipeline_chunks), 1, 1024, false, 0},
    {"training", "expert_parallel", COUNT, MODEL(expert_parallel), 0, 65536, false, 0},
    {"training", "budget", COUNT, MODEL(budget), 1, 1e9, false, 0},
    {"training", "context", COUNT, MODEL(context), 1, 1e9, false, 0},
    {"training", "tokens_per_slot", COUNT, MODEL(tokens_per_slot), 1, 1e9, false, 0},
    {"training", "backward_compute", NUMBER, MODEL(backward_compute), 1, 10, true, 2},
};

static const struct key fit_keys[] = {
    {NULL, "cluster", NAME, FIT(cluster), 0, 0, false, 0},
    {NULL, "token_seconds", NUMBER, FIT(token_seconds), 1e-12, 1, false, 0},
    {NULL, "crossover_tokens", NUMBER, FIT(crossover_tokens), 1, 1e12, true, 0},
    {NULL, "fixed_seconds", NUMBER, FIT(fixed_seconds), 0, 100, false, 0},
};

static const struct key cluster_keys[] = {
    {NULL, "name", NAME, CLUSTER(name), 0, 0, false, 0},
    {NULL, "gpus", COUNT, CLUSTER(gpus), 1, 1e7, false, 0},
    {NULL, "gpus_per_node", COUNT, CLUSTER(gpus_per_node), 1, 4096, false, 0},
    {NULL, "peak_flops", NUMBER, CLUSTER(peak_flops), 1e9, 1e18, false, 0},
    {NULL, "memory_bandwidth", NUMBER, CLUSTER(memory_bandwidth), 1e6, 1e15, false, 0},
    {NULL, "intra_bandwidth", NUMBER, CLUSTER(intra_bandwidth), 1e6, 1e14, false, 0},
    {NULL, "inter_bandwidth", NUMBER, CLUSTER(inter_bandwidth), 1e6, 1e14, false, 0},
    {NULL, "intra_latency", NUMBER, CLUSTER(intra_latency), 0, 1, false, 0},
    {NULL, "inter_latency", NUMBER, CLUSTER(inter_latency), 0, 1, false, 0},
    {NULL, "gemm_efficiency", NUMBER, CLUSTER(gemm_efficiency), 1e-4, 1, false, 0},
    {NULL, "attention_efficiency", NUMBER, CLUSTER(attention_efficiency), 1e-4, 1, false, 0},
    {NULL, "layer_seconds", NUMBER, CLUSTER(layer_seconds), 0, 10, false, 0},
    {NULL, "expert_exposed", NUMBER, CLUSTER(expert_exposed), 0, 1, false, 0},
    {NULL, "gradient_exposed", NUMBER, CLUSTER(gradient_exposed), 0, 1, false, 0},
    {NULL, "alltoall_exposed", NUMBER, CLUSTER(alltoall_exposed), 0, 1, false, 0},
    {NULL, "ring_overlap", NUMBER, CLUSTER(ring_overlap), 0, 1, false, 0},
};

#define LENGTH(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* Where a setting stands: "file:line", or the file alone for what is missing at its top, and "group.key". */
struct place {
    char where[1280];
    char key[128];
};

static struct place place_of(const char *file, const config_setting_t *setting, const struct key *key)
{
    struct place place;
    int line = (int)config_setting_source_line(setting);

    if (line > 0)
        snprintf(place.where, sizeof place.where, "%s:%d", file, line);
    else
        snprintf(place.where, sizeof place.where, "%s", file);
    snprintf(place.key, sizeof place.key, "%s%s%s", key->group == NULL ? "" : key->group, key->group == NULL ? "" : ".",
             key->name);
    return place;
}

static int read_name(const struct place *place, const config_setting_t *setting, char *target)
{
    const char *text = config_setting_get_string(setting);
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(text != NULL, HYDRA_ERR_FORMAT, "%s: %s must be text in quotes", place->where, place->key);
    HYDRA_REQUIRE(text[0] != '\0' && strlen(text) < HYDRA_PRESET_NAME, HYDRA_ERR_FORMAT,
                  "%s: %s must have 1 to %d characters", place->where, place->key, HYDRA_PRESET_NAME - 1);
    snprintf(target, HYDRA_PRESET_NAME, "%s", text);
fail:
    return status;
}

static int read_number(const struct place *place, const config_setting_t *setting, const struct key *key, void *target)
{
    int type = config_setting_type(setting);
    double value = 0;
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(type == CONFIG_TYPE_INT || type == CONFIG_TYPE_INT64 || type == CONFIG_TYPE_FLOAT, HYDRA_ERR_FORMAT,
                  "%s: %s must be a number", place->where, place->key);
    value = type == CONFIG_TYPE_FLOAT   ? config_setting_get_float(setting)
            : type == CONFIG_TYPE_INT64 ? (double)config_setting_get_int64(setting)
                                        : (double)config_setting_get_int(setting);
    HYDRA_REQUIRE(value >= key->low && value <= key->high, HYDRA_ERR_FORMAT, "%s: %s = %g is outside %g .. %g",
                  place->where, place->key, value, key->low, key->high);
    HYDRA_REQUIRE(key->kind == NUMBER || value == floor(value), HYDRA_ERR_FORMAT, "%s: %s = %g must be a whole number",
                  place->where, place->key, value);
    if (key->kind == NUMBER)
        *(double *)target = value;
    else
        *(int64_t *)target = (int64_t)value;
fail:
    return status;
}

static bool same_group(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* Every setting of `from` must be a key of `group` (or, at the top, a group or `list`). */
static int refuse_unknown(const char *file, const config_setting_t *from, const char *group, const struct key *keys,
                          int nkeys, const char *list)
{
    int status = HYDRA_SUCCESS;

    for (int i = 0; i < config_setting_length(from); i++) {
        const config_setting_t *setting = config_setting_get_elem(from, (unsigned)i);
        const char *name = config_setting_name(setting);
        bool known = list != NULL && strcmp(name, list) == 0;

        for (int k = 0; k < nkeys && !known; k++)
            known = (same_group(keys[k].group, group) && strcmp(keys[k].name, name) == 0) ||
                    (group == NULL && keys[k].group != NULL && strcmp(keys[k].group, name) == 0);
        HYDRA_REQUIRE(known, HYDRA_ERR_FORMAT, "%s:%d: unknown key %s%s%s", file,
                      (int)config_setting_source_line(setting), group == NULL ? "" : group, group == NULL ? "" : ".",
                      name);
    }
fail:
    return status;
}

/* Read the keys of one group (or of the top) from a setting into a struct. */
static int read_group(const char *file, const config_setting_t *from, const char *group, const struct key *keys,
                      int nkeys, const char *list, void *target)
{
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(refuse_unknown(file, from, group, keys, nkeys, list));
    for (int k = 0; k < nkeys; k++) {
        const struct key *key = &keys[k];
        void *field = (char *)target + key->offset;
        const config_setting_t *setting;
        struct place place;

        if (!same_group(key->group, group))
            continue;
        setting = config_setting_get_member(from, key->name);
        place = place_of(file, setting == NULL ? from : setting, key);
        HYDRA_REQUIRE(setting != NULL || key->optional, HYDRA_ERR_FORMAT, "%s: %s is missing", place.where, place.key);
        if (setting != NULL)
            HYDRA_TRY(key->kind == NAME ? read_name(&place, setting, field) : read_number(&place, setting, key, field));
        else if (key->kind == NUMBER)
            *(double *)field = key->fallback;
        else
            *(int64_t *)field = (int64_t)key->fallback;
    }
fail:
    return status;
}

/* Open, parse, and read all groups of a table. config [out] stays open for lists. */
static int read_file(const char *file, config_t *config, const struct key *keys, int nkeys, const char *list,
                     void *target)
{
    const config_setting_t *root = config_root_setting(config);
    const char *group = NULL;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(hydra_preset_scan(file));
    HYDRA_REQUIRE(config_read_file(config, file) == CONFIG_TRUE, HYDRA_ERR_FORMAT, "%s:%d: %s", file,
                  config_error_line(config), config_error_text(config));
    root = config_root_setting(config);
    HYDRA_TRY(read_group(file, root, NULL, keys, nkeys, list, target));
    for (int k = 0; k < nkeys; k++) {
        const config_setting_t *setting;

        if (keys[k].group == NULL || same_group(keys[k].group, group))
            continue;
        group = keys[k].group;
        setting = config_setting_get_member(root, group);
        HYDRA_REQUIRE(setting != NULL, HYDRA_ERR_FORMAT, "%s: group %s is missing", file, group);
        HYDRA_REQUIRE(config_setting_is_group(setting), HYDRA_ERR_FORMAT, "%s:%d: %s must be a group { ... }", file,
                      (int)config_setting_source_line(setting), group);
        HYDRA_TRY(read_group(file, setting, group, keys, nkeys, NULL, target));
    }
fail:
    return status;
}

static int read_fits(const char *file, config_t *config, struct hydra_model *model)
{
    const config_setting_t *list = config_lookup(config, "fitted");
    int status = HYDRA_SUCCESS;

    model->nfits = list == NULL ? 0 : config_setting_length(list);
    HYDRA_REQUIRE(list == NULL || (config_setting_is_list(list) && model->nfits <= HYDRA_PRESET_FITS), HYDRA_ERR_FORMAT,
                  "%s:%d: fitted must be a list ( { ... }, ... ) of at most %d", file,
                  (int)config_setting_source_line(list), HYDRA_PRESET_FITS);
    for (int i = 0; i < model->nfits; i++) {
        const config_setting_t *element = config_setting_get_elem(list, (unsigned)i);

        HYDRA_REQUIRE(config_setting_is_group(element), HYDRA_ERR_FORMAT, "%s:%d: fitted must hold groups { ... }",
                      file, (int)config_setting_source_line(list));
        HYDRA_TRY(read_group(file, element, NULL, fit_keys, LENGTH(fit_keys), NULL, &model->fits[i]));
    }
fail:
    return status;
}

/* What no single key can show: parts that contradict each other. */
static int check_model(const char *file, const struct hydra_model *m)
{
    double total = hydra_model_dense_parameters(m) + hydra_model_expert_parameters(m);
    double active = hydra_model_dense_active(m) + hydra_model_expert_active(m);
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(m->attention_layers <= m->layers, HYDRA_ERR_FORMAT,
                  "%s: attention.layers = %" PRId64 " of only %" PRId64 " layers", file, m->attention_layers,
                  m->layers);
    HYDRA_REQUIRE(m->dense_layers <= m->layers, HYDRA_ERR_FORMAT,
                  "%s: mlp.dense_layers = %" PRId64 " of only %" PRId64 " layers", file, m->dense_layers, m->layers);
    HYDRA_REQUIRE(m->dense_layers == m->layers || (m->experts > 0 && m->expert_width > 0 && m->experts_active > 0),
                  HYDRA_ERR_FORMAT,
                  "%s: %" PRId64 " layers have experts, but mlp.experts, mlp.experts_active or mlp.expert_width is 0",
                  file, m->layers - m->dense_layers);
    HYDRA_REQUIRE(m->experts_active <= m->experts, HYDRA_ERR_FORMAT,
                  "%s: mlp.experts_active = %" PRId64 " of only %" PRId64 " experts", file, m->experts_active,
                  m->experts);
    HYDRA_REQUIRE(m->kv_heads <= m->heads && m->heads % m->kv_heads == 0, HYDRA_ERR_FORMAT,
                  "%s: attention.kv_heads = %" PRId64 " does not divide attention.heads = %" PRId64, file, m->kv_heads,
                  m->heads);
    HYDRA_REQUIRE(m->rope_dim < m->qk_dim, HYDRA_ERR_FORMAT,
                  "%s: attention.rope_dim = %" PRId64 " is not below attention.qk_dim = %" PRId64, file, m->rope_dim,
                  m->qk_dim);
    HYDRA_REQUIRE(fabs(total - m->parameters) <= 0.1 * m->parameters, HYDRA_ERR_FORMAT,
                  "%s: parameters = %g, but the parts add up to %g", file, m->parameters, total);
    HYDRA_REQUIRE(fabs(active - m->active_parameters) <= 0.1 * m->active_parameters, HYDRA_ERR_FORMAT,
                  "%s: active_parameters = %g, but the active parts add up to %g", file, m->active_parameters, active);
fail:
    return status;
}

int hydra_model_read(const char *name, struct hydra_model *model)
{
    struct hydra_model read = {.nfits = 0};
    char path[1200];
    config_t config;
    int status = HYDRA_SUCCESS;

    config_init(&config);
    HYDRA_TRY(hydra_preset_find("models", name, path, sizeof path));
    HYDRA_TRY(read_file(path, &config, model_keys, LENGTH(model_keys), "fitted", &read));
    if (read.attention_layers == 0)
        read.attention_layers = read.layers;
    HYDRA_TRY(read_fits(path, &config, &read));
    HYDRA_TRY(check_model(path, &read));
    *model = read;
fail:
    config_destroy(&config);
    return status;
}

/* "folder/h20x512.cfg" -> "h20x512" */
static void preset_name(const char *path, char *name)
{
    const char *slash = strrchr(path, '/');
    const char *start = slash == NULL ? path : slash + 1;
    size_t length = strlen(start);

    if (length > 4 && strcmp(start + length - 4, ".cfg") == 0)
        length -= 4;
    snprintf(name, HYDRA_PRESET_NAME, "%.*s", (int)(length < HYDRA_PRESET_NAME ? length : HYDRA_PRESET_NAME - 1),
             start);
}

int hydra_cluster_read(const char *name, struct hydra_cluster *cluster)
{
    struct hydra_cluster read = {.gpus = 0};
    char path[1200];
    config_t config;
    int status = HYDRA_SUCCESS;

    config_init(&config);
    HYDRA_TRY(hydra_preset_find("clusters", name, path, sizeof path));
    HYDRA_TRY(read_file(path, &config, cluster_keys, LENGTH(cluster_keys), NULL, &read));
    preset_name(path, read.preset);
    *cluster = read;
fail:
    config_destroy(&config);
    return status;
}
