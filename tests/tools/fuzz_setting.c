/* fuzz_setting.c: libFuzzer target of the reader of settings: what it accepts gives finite numbers in their ranges,
 * which the planner takes. */
#include <math.h>

#include "tests/fuzz.h"
#include "tools/setting.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int64_t lengths[] = {1};
    struct tool_setting setting;
    Hydra_Schedule schedule = NULL;
    int status = tool_setting_read(fuzz_file(data, size), &setting);

    fuzz_judge(status);
    if (status != HYDRA_SUCCESS)
        return 0;
    FUZZ_REQUIRE(memchr(data, 0, size) == NULL);
    FUZZ_REQUIRE(isfinite(setting.cost.theta) && isfinite(setting.cost.inter_bandwidth) && setting.context >= 1);
    setting.options.cost = &setting.cost;
    setting.pool = setting.pool % 4096 + 1;
    fuzz_judge(Hydra_Plan_serial(setting.pool, 1, lengths, &setting.options, &schedule));
    Hydra_Schedule_free(&schedule);
    return 0;
}
