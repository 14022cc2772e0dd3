/* print.h: results as text: a table for people, JSON for programs. */
#ifndef HYDRA_SIM_PRINT_H
#define HYDRA_SIM_PRINT_H

#include <stdio.h>

#include "sim/job.h"

/* What a set of runs shares. */
struct hydra_scene {
    const struct hydra_model *model;
    const struct hydra_cluster *cluster;
    struct hydra_cut cut;
    int64_t pool;
    int64_t budget;
    int64_t context;
    int64_t batches;
    const char *data; /* "HyDra Figure 1, seed 1" or a file */
};

/* A run, or why there is none. */
struct hydra_outcome {
    int policy;
    struct hydra_run run;
    int status;
    char why[256]; /* of a status other than HYDRA_SUCCESS */
};

void hydra_print_table(FILE *to, const struct hydra_scene *scene, const struct hydra_outcome *outcomes, int count);
void hydra_print_json(FILE *to, const struct hydra_scene *scene, const struct hydra_outcome *outcomes, int count);

/* A JSON string in quotes, and a number or null. */
void hydra_json_text(FILE *to, const char *text);
void hydra_json_number(FILE *to, double value);

#endif
