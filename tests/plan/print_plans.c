/* print_plans.c: a line of hashes for each batch, policy after policy: what same_bytes.sh compares
 * between compilers. */
#include "plan/policy.h"
#include "tests/plan/batches.h"

int main(void)
{
    Hydra_Cost cost = testbed_cost();

    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct test_batch t = make_batch(seed, 128, 400);

        t.options.factor = HYDRA_FACTOR_COST;
        t.options.cost = seed % 3 == 0 ? NULL : &cost;
        printf("%lu", (unsigned long)seed);
        for (int policy = 1; policy < HYDRA_POLICY_COUNT; policy++) {
            Hydra_Schedule schedule = HYDRA_SCHEDULE_NULL;
            uint64_t hash = 0;

            t.options.policy = policy;
            if (Hydra_Plan_serial(t.pool, t.ndocs, t.lengths, &t.options, &schedule) == HYDRA_SUCCESS)
                Hydra_Schedule_hash(schedule, &hash);
            printf(" %016lx", (unsigned long)hash);
            Hydra_Schedule_free(&schedule);
        }
        printf("\n");
        free_batch(&t);
    }
    return 0;
}
