/* work.h: turns a schedule and the costs of a stage into the work of one iteration. */
#ifndef HYDRA_SIM_WORK_H
#define HYDRA_SIM_WORK_H

#include "plan/schedule.h"
#include "sim/iteration.h"
#include "sim/stage.h"

/* cut [in] pp and v; the schedule's pool must be the cut's. HYDRA_ERR_ARG also when an interleaved pipeline gets a
 * number of microbatches that pp does not divide. work [out] set only on success; hydra_work_clear. */
int hydra_work_make(const struct hydra_schedule *schedule, const struct hydra_stage *stage, const struct hydra_cut *cut,
                    double planning_seconds, struct hydra_work *work);

/* Sum of the documents' weights (s*s causal). */
double hydra_work_weight(const struct hydra_schedule *schedule);

#endif
