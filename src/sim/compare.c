/* compare.c: several policies on the same batches. */
#include "sim/compare.h"

#include <string.h>

#include "base/error.h"

static const int all[] = {HYDRA_POLICY_LOAD,      HYDRA_POLICY_SHAPED, HYDRA_POLICY_MEMORY, HYDRA_POLICY_MEMORY_PACKED,
                          HYDRA_POLICY_BYTESCALE, HYDRA_POLICY_WLB,    HYDRA_POLICY_FLEXSP, HYDRA_POLICY_STATIC};

int hydra_policies_read(const char *list, int policies[HYDRA_COMPARE_MAX], int *count)
{
    char name[32];
    int status = HYDRA_SUCCESS;

    *count = 0;
    if (strcmp(list, "all") == 0) {
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
            policies[(*count)++] = all[i];
        return HYDRA_SUCCESS;
    }
    for (const char *at = list;; at++) {
        size_t length = strcspn(at, ",");

        HYDRA_REQUIRE(*count < HYDRA_COMPARE_MAX, HYDRA_ERR_ARG, "--policy: more than %d policies", HYDRA_COMPARE_MAX);
        snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), at);
        HYDRA_TRY(Hydra_Policy_from_name(name, &policies[*count]));
        (*count)++;
        at += length;
        if (*at == '\0')
            break;
    }
fail:
    return status;
}

int hydra_compare(const struct hydra_job *job, const struct hydra_batches *batches, const int *policies, int count,
                  bool pictures, struct hydra_outcome *outcomes)
{
    struct hydra_stage stage;
    int status = HYDRA_SUCCESS;

    memset(outcomes, 0, (size_t)count * sizeof *outcomes);
    HYDRA_TRY(hydra_stage_derive(job->model, job->cluster, &job->cut, HYDRA_ENGINE_RING, &stage));
    for (int i = 0; i < count; i++) {
        struct hydra_job one = *job;

        one.policy = outcomes[i].policy = policies[i];
        outcomes[i].status = hydra_job_average(&one, batches, pictures, &outcomes[i].run);
        if (outcomes[i].status != HYDRA_SUCCESS)
            snprintf(outcomes[i].why, sizeof outcomes[i].why, "%.250s", hydra_error_detail());
        if (outcomes[i].status == HYDRA_ERR_NOMEM)
            return outcomes[i].status;
    }
fail:
    return status;
}

void hydra_outcomes_clear(struct hydra_outcome *outcomes, int count)
{
    for (int i = 0; i < count; i++)
        hydra_run_clear(&outcomes[i].run);
}
