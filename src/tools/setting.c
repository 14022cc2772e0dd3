/* setting.c: reads a planning problem from a file of `key = value` lines. */
#include "tools/setting.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/line.h"
#include "base/parse.h"

/* What a file may say; whole numbers and the others. */
struct numbers {
    int64_t pool, budget, pipeline_stages, pipeline_chunks, tokens_per_slot, context, expert_parallel, heads, kv_heads,
        node_slots;
    double phi, crossover, fixed, intra_bandwidth, inter_bandwidth, a2a_bytes_per_token, ring_bytes_per_token,
        a2a_exposed, ring_overlap;
};

struct key {
    const char *name;
    int64_t *whole; /* or NULL */
    double *real;
    double low, high;
    bool seen;
};

/* Text without blanks at its ends, in place. */
static char *trim(char *text)
{
    size_t length;

    while (isspace((unsigned char)*text))
        text++;
    length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        text[--length] = 0;
    return text;
}

static int read_line(const char *path, int line, char *text, struct key *keys, int count)
{
    char place[512], *equals, *name;
    int status = HYDRA_SUCCESS;

    text[strcspn(text, "#")] = 0;
    name = trim(text);
    if (*name == 0)
        return HYDRA_SUCCESS;
    equals = strchr(name, '=');
    HYDRA_REQUIRE(equals != NULL, HYDRA_ERR_FORMAT, "%s:%d: '%s' is not 'key = value'", path, line, name);
    *equals = 0;
    name = trim(name);
    snprintf(place, sizeof place, "%s:%d: %s", path, line, name);
    for (int k = 0; k < count; k++) {
        if (strcmp(keys[k].name, name) != 0)
            continue;
        HYDRA_REQUIRE(!keys[k].seen, HYDRA_ERR_FORMAT, "%s is given twice", place);
        keys[k].seen = true;
        if (keys[k].whole != NULL)
            return hydra_parse_int(place, trim(equals + 1), (int64_t)keys[k].low, (int64_t)keys[k].high, keys[k].whole);
        return hydra_parse_double(place, trim(equals + 1), keys[k].low, keys[k].high, keys[k].real);
    }
    HYDRA_REQUIRE(false, HYDRA_ERR_FORMAT, "%s is not a key of settings", place);
fail:
    return status;
}

static int read_keys(const char *path, struct key *keys, int count)
{
    FILE *file = fopen(path, "r");
    char text[512];
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(file != NULL, HYDRA_ERR_IO, "%s: %s", path, strerror(errno));
    for (int line = 1;; line++) {
        bool found;

        HYDRA_TRY(hydra_line_read(path, line, file, text, sizeof text, &found));
        if (!found)
            break;
        HYDRA_TRY(read_line(path, line, text, keys, count));
    }
    for (int k = 0; k < count; k++)
        HYDRA_REQUIRE(keys[k].seen, HYDRA_ERR_FORMAT, "%s: %s is missing", path, keys[k].name);
fail:
    if (file != NULL)
        fclose(file);
    return status;
}

/* The file's name without folder and ending. */
static void set_name(const char *path, char *name, size_t len)
{
    const char *slash = strrchr(path, '/');

    snprintf(name, len, "%s", slash == NULL ? path : slash + 1);
    name[strcspn(name, ".")] = 0;
}

int tool_setting_read(const char *path, struct tool_setting *setting)
{
    struct numbers n = {0};
    struct key keys[] = {
        {"pool", &n.pool, NULL, 1, 1 << 24, false},
        {"budget", &n.budget, NULL, 1, 0x1p40, false},
        {"pipeline_stages", &n.pipeline_stages, NULL, 1, 1024, false},
        {"pipeline_chunks", &n.pipeline_chunks, NULL, 1, 1024, false},
        {"tokens_per_slot", &n.tokens_per_slot, NULL, 1, 0x1p30, false},
        {"context", &n.context, NULL, 1, 0x1p40, false},
        {"expert_parallel", &n.expert_parallel, NULL, 0, 1 << 24, false},
        {"heads", &n.heads, NULL, 0, 1 << 20, false},
        {"kv_heads", &n.kv_heads, NULL, 0, 1 << 20, false},
        {"phi", NULL, &n.phi, 0, 1, false},
        {"crossover", NULL, &n.crossover, 1, 1e12, false},
        {"fixed", NULL, &n.fixed, 0, 1e3, false},
        {"node_slots", &n.node_slots, NULL, 0, 1 << 24, false},
        {"intra_bandwidth", NULL, &n.intra_bandwidth, 0, 1e18, false},
        {"inter_bandwidth", NULL, &n.inter_bandwidth, 0, 1e18, false},
        {"a2a_bytes_per_token", NULL, &n.a2a_bytes_per_token, 0, 1e18, false},
        {"ring_bytes_per_token", NULL, &n.ring_bytes_per_token, 0, 1e18, false},
        {"a2a_exposed", NULL, &n.a2a_exposed, 0, 1, false},
        {"ring_overlap", NULL, &n.ring_overlap, 0, 1, false},
    };
    struct tool_setting read = {.options = HYDRA_PLAN_OPTIONS_INIT, .cost = HYDRA_COST_INIT};
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(read_keys(path, keys, (int)(sizeof keys / sizeof keys[0])));
    set_name(path, read.name, sizeof read.name);
    read.pool = n.pool;
    read.tokens_per_slot = n.tokens_per_slot;
    read.context = n.context;
    read.options.budget = n.budget;
    read.options.pipeline_stages = (int)n.pipeline_stages;
    read.options.pipeline_chunks = (int)n.pipeline_chunks;
    read.options.expert_parallel = (int)n.expert_parallel;
    read.options.heads = (int)n.heads;
    read.options.kv_heads = (int)n.kv_heads;
    read.options.factor = HYDRA_FACTOR_COST;
    read.cost.theta = n.phi / n.crossover;
    read.cost.phi = n.phi;
    read.cost.fixed = n.fixed;
    read.cost.node_slots = n.node_slots;
    read.cost.intra_bandwidth = n.intra_bandwidth;
    read.cost.inter_bandwidth = n.inter_bandwidth;
    read.cost.a2a_bytes_per_token = n.a2a_bytes_per_token;
    read.cost.ring_bytes_per_token = n.ring_bytes_per_token;
    read.cost.a2a_exposed = n.a2a_exposed;
    read.cost.ring_overlap = n.ring_overlap;
    *setting = read;
fail:
    return status;
}
