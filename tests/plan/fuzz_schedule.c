/* fuzz_schedule.c: libFuzzer target of the saved-schedule reader: whatever it accepts must be executable and write the
 * same text again. Built by `make fuzz` with clang; not part of `make check`. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "plan/schedule.h"
#include "plan/schedule_io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Hydra_Schedule schedule = NULL, again = NULL;
    Hydra_Schedule_stats stats;
    Hydra_Microbatch view;
    char *text = NULL;
    int64_t length = 0;

    if (hydra_schedule_unpack("fuzz", (const char *)data, (int64_t)size, &schedule) != HYDRA_SUCCESS)
        return 0;
    if (Hydra_Schedule_stats_get(schedule, &stats) != HYDRA_SUCCESS && schedule->cost.theta == 0)
        abort();
    if (stats.token_max < 1e6 && Hydra_Schedule_microbatch(schedule, 0, 0, &view) != HYDRA_SUCCESS)
        abort();
    if (stats.token_max < 1e6)
        Hydra_Microbatch_free(&view);
    if (hydra_schedule_pack(schedule, &text, &length) != HYDRA_SUCCESS ||
        hydra_schedule_unpack("again", text, length, &again) != HYDRA_SUCCESS || again->hash != schedule->hash)
        abort();
    hydra_free(text);
    Hydra_Schedule_free(&schedule);
    Hydra_Schedule_free(&again);
    return 0;
}
