/* timeline.h: bars of a replayed iteration: the stages of one column, and one stage of some replicas. */
#ifndef HYDRA_SIM_TIMELINE_H
#define HYDRA_SIM_TIMELINE_H

#include "sim/iteration.h"
#include "sim/job.h"

/* Slot 0 and others evenly spread: at most HYDRA_TIMELINE_REPLICAS of them. */
struct hydra_recorder {
    struct hydra_trace trace;
    int64_t slots[HYDRA_TIMELINE_REPLICAS];
};

int hydra_recorder_make(const struct hydra_work *work, struct hydra_recorder *recorder);
void hydra_recorder_clear(struct hydra_recorder *recorder);

/* Fill run->stages (the last of the recorded slots to finish), run->replicas (the last stage to finish: stage 0) and
 * the result's pointers to them. */
int hydra_recorder_draw(const struct hydra_recorder *recorder, const struct hydra_work *work, struct hydra_run *run);

#endif
