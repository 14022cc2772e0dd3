/* compare.h: several policies on the same batches, and curves over a parameter. */
#ifndef HYDRA_SIM_COMPARE_H
#define HYDRA_SIM_COMPARE_H

#include "sim/print.h"

enum { HYDRA_COMPARE_MAX = 16 };

/* Policies of "all", or of a list "load,static". policies [out] up to HYDRA_COMPARE_MAX. */
int hydra_policies_read(const char *list, int policies[HYDRA_COMPARE_MAX], int *count);

/* Run `job` under each policy. A policy that cannot plan this is an outcome with its reason, not an error; only errors
 * that concern all of them are returned. outcomes [out] [count]; hydra_outcomes_clear. */
int hydra_compare(const struct hydra_job *job, const struct hydra_batches *batches, const int *policies, int count,
                  bool pictures, struct hydra_outcome *outcomes);
void hydra_outcomes_clear(struct hydra_outcome *outcomes, int count);

enum hydra_sweep_over { HYDRA_SWEEP_POOL, HYDRA_SWEEP_BUDGET, HYDRA_SWEEP_CONTEXT, HYDRA_SWEEP_CAP };

struct hydra_sweep {
    int over; /* enum hydra_sweep_over */
    int count;
    int64_t values[64];
    double *per_gpu; /* [policies][count] tokens/s and GPU; NAN: no plan */
    double *seconds; /* [policies][count] of one iteration */
};

/* "budget=2K,4K,8K" */
int hydra_sweep_read(const char *text, struct hydra_sweep *sweep);

/* Run every policy at every value. Each value draws its own batches: tokens_per_slot stays. */
int hydra_sweep_run(const struct hydra_job *job, uint64_t seed, int64_t batches, int64_t tokens_per_slot,
                    const int *policies, int count, struct hydra_sweep *sweep);
void hydra_sweep_print(FILE *to, const struct hydra_sweep *sweep, const int *policies, int count);
void hydra_sweep_print_json(FILE *to, const struct hydra_sweep *sweep, const int *policies, int count);
/* The curves as an SVG file, or as a report with the command that made it. */
int hydra_sweep_svg(const struct hydra_sweep *sweep, const int *policies, int count, const char *path);
int hydra_sweep_html(const struct hydra_sweep *sweep, const int *policies, int count, const struct hydra_fact *facts,
                     int nfacts, const char *command, const char *path);
void hydra_sweep_clear(struct hydra_sweep *sweep);

#endif
