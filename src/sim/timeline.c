/* timeline.c: turns recorded operations into the bars of the pictures. Draws nothing. */
#include "sim/timeline.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/memory.h"

static const double ps_per_second = 1e12;

static int64_t operations(const struct hydra_work *work)
{
    return 2 * work->shape.microbatches * work->shape.chunks;
}

int hydra_recorder_make(const struct hydra_work *work, struct hydra_recorder *recorder)
{
    int64_t slots = hydra_min(HYDRA_TIMELINE_REPLICAS, work->pool);
    int64_t cells = slots * work->shape.stages * operations(work);
    struct hydra_trace *trace = &recorder->trace;
    int status = HYDRA_SUCCESS;

    for (int64_t i = 0; i < slots; i++)
        recorder->slots[i] = i * work->pool / slots;
    trace->nslots = slots;
    trace->slots = recorder->slots;
    trace->start = hydra_calloc(cells, sizeof *trace->start);
    trace->end = hydra_calloc(cells, sizeof *trace->end);
    trace->last = hydra_calloc(slots * work->shape.stages, sizeof *trace->last);
    trace->reduced = hydra_calloc(work->shape.stages, sizeof *trace->reduced);
    HYDRA_REQUIRE(trace->start && trace->end && trace->last && trace->reduced, HYDRA_ERR_NOMEM,
                  "timeline of %" PRId64 " operations", cells);
fail:
    return status;
}

void hydra_recorder_clear(struct hydra_recorder *recorder)
{
    hydra_free(recorder->trace.start);
    hydra_free(recorder->trace.end);
    hydra_free(recorder->trace.last);
    hydra_free(recorder->trace.reduced);
    *recorder = (struct hydra_recorder){.trace = {.nslots = 0}};
}

/* Bars of one row: planning, the operations of one slot and stage, reduction once all slots are there, update. The wait
 * for the slowest slot stays empty. */
static int64_t draw_row(const struct hydra_recorder *recorder, const struct hydra_work *work, int64_t end,
                        int64_t traced, int stage, int32_t row, struct hydra_bar *bars)
{
    const struct hydra_trace *trace = &recorder->trace;
    int64_t column = traced * work->shape.stages + stage;
    int64_t n = 0;

    if (work->planning > 0)
        bars[n++] = (struct hydra_bar){0, (double)work->planning / ps_per_second, -1, row, 0, HYDRA_BAR_PLANNING};
    for (int64_t k = 0; k < operations(work); k++) {
        struct hydra_pipeline_op op = hydra_pipeline_op_at(&work->shape, stage, k);

        bars[n++] = (struct hydra_bar){.start = (double)trace->start[column * operations(work) + k] / ps_per_second,
                                       .end = (double)trace->end[column * operations(work) + k] / ps_per_second,
                                       .microbatch = op.microbatch,
                                       .row = row,
                                       .chunk = (int16_t)op.chunk,
                                       .kind = op.backward ? HYDRA_BAR_BACKWARD : HYDRA_BAR_FORWARD};
    }
    if (work->reduce > 0)
        bars[n++] = (struct hydra_bar){(double)(trace->reduced[stage] - work->reduce) / ps_per_second,
                                       (double)trace->reduced[stage] / ps_per_second,
                                       -1,
                                       row,
                                       0,
                                       HYDRA_BAR_REDUCE};
    if (work->optimizer > 0)
        bars[n++] = (struct hydra_bar){(double)(end - work->optimizer) / ps_per_second,
                                       (double)end / ps_per_second,
                                       -1,
                                       row,
                                       0,
                                       HYDRA_BAR_OPTIMIZER};
    return n;
}

/* Recorded slot whose stage 0 finishes last: the one that the others wait for. */
static int64_t last_slot(const struct hydra_recorder *recorder, const struct hydra_work *work)
{
    const struct hydra_trace *trace = &recorder->trace;
    int64_t last = 0;

    for (int64_t i = 1; i < trace->nslots; i++)
        if (trace->last[i * work->shape.stages] > trace->last[last * work->shape.stages])
            last = i;
    return last;
}

int hydra_recorder_draw(const struct hydra_recorder *recorder, const struct hydra_work *work, struct hydra_run *run)
{
    struct hydra_timeline *timelines[2] = {&run->stages, &run->replicas};
    int64_t rows[2] = {work->shape.stages, recorder->trace.nslots};
    int64_t per_row = operations(work) + 3, last = last_slot(recorder, work);
    int status = HYDRA_SUCCESS;

    snprintf(run->caption, sizeof run->caption, "slot %" PRId64 ", the last of %" PRId64 " slots looked at to finish",
             recorder->slots[last], recorder->trace.nslots);
    for (int64_t i = 0; i < recorder->trace.nslots; i++) {
        snprintf(run->slot_names[i], sizeof run->slot_names[i], "slot %" PRId64, recorder->slots[i]);
        run->row_names[i] = run->slot_names[i];
    }
    for (int t = 0; t < 2; t++) {
        int64_t n = 0;

        run->bars[t] = hydra_calloc(rows[t] * per_row, sizeof *run->bars[t]);
        HYDRA_REQUIRE(run->bars[t] != NULL, HYDRA_ERR_NOMEM, "%" PRId64 " bars", rows[t] * per_row);
        for (int64_t row = 0; row < rows[t]; row++)
            n += draw_row(recorder, work, run->iteration.time, t == 0 ? last : row, t == 0 ? (int)row : 0, (int32_t)row,
                          run->bars[t] + n);
        *timelines[t] = (struct hydra_timeline){
            .caption = t == 0 ? run->caption : "stage 0 of slots spread evenly over the pool",
            .row_names = t == 0 ? NULL : run->row_names,
            .row_word = t == 0 ? "stage" : "replica",
            .rows = rows[t],
            .chunks = work->shape.chunks,
            .seconds = (double)run->iteration.time / ps_per_second,
            .nbars = n,
            .bars = run->bars[t],
        };
    }
    run->result.stages = &run->stages;
    run->result.replicas = &run->replicas;
fail:
    return status;
}
