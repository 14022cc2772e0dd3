/* plan_table.h: the figures of plans, as a table for people and as JSON for programs. */
#ifndef HYDRA_TOOLS_PLAN_TABLE_H
#define HYDRA_TOOLS_PLAN_TABLE_H

#include <stdbool.h>

#include "tools/plan_pictures.h"

/* A policy that was asked for and could not plan the batch: schedule is NULL and failure says why. */
struct tool_outcome {
    struct tool_plan plan;
    char failure[512];
};

/* One plan: every figure on its own line. */
void tool_plan_print_one(const struct tool_plan *plan);

/* Several: one row each. with_times: a column of predicted iteration times. */
void tool_plan_print_rows(int count, const struct tool_outcome outcomes[], bool with_times);

/* All that the two above show, and the hash. */
void tool_plan_print_json(int count, const struct tool_outcome outcomes[]);

#endif
