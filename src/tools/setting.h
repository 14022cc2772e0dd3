/* setting.h: a planning problem kept in a file: pool, pipeline, cost model, and what batches to
 * draw (share/settings). */
#ifndef HYDRA_TOOLS_SETTING_H
#define HYDRA_TOOLS_SETTING_H

#include <stdint.h>

#include "hydra_plan.h"

struct tool_setting {
    char name[64]; /* the file's, without folder and .cfg */
    int64_t pool;
    int64_t tokens_per_slot;    /* of one batch */
    int64_t context;            /* longest document, tokens */
    Hydra_Plan_options options; /* cost is NULL: point it at the member below */
    Hydra_Cost cost;
};

/* Read `key = value` lines; '#' begins a comment. HYDRA_ERR_IO, or HYDRA_ERR_FORMAT with file, line and key: unknown,
 * twice, missing, no number, out of range. */
int tool_setting_read(const char *path, struct tool_setting *setting);

#endif
