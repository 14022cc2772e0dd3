/* plan_pictures.c: the pictures of plans alone: fills a report from schedules. */
#include "tools/plan_pictures.h"

#include <math.h>
#include <stdio.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/memory.h"
#include "plan/schedule.h"
#include "sim/report.h"
#include "sim/words.h"

enum { FACTS = 6 };

/* What all the plans have in common, as the lines under the title. texts [out] what the facts point at. */
static int plan_facts(const struct tool_plan *plan, char texts[FACTS][96], struct hydra_fact facts[FACTS])
{
    const struct hydra_schedule *schedule = plan->schedule;
    const Hydra_Plan_options *options = &schedule->options;
    int64_t longest = 0;
    int n = 0;

    for (int64_t i = 0; i < schedule->ndocs; i++)
        longest = hydra_max(longest, schedule->lengths[i]);
    snprintf(texts[n], 96, "%s slots", hydra_words_whole(schedule->pool).text);
    facts[n] = (struct hydra_fact){"Pool", texts[n]}, n++;
    snprintf(texts[n], 96, "%s", hydra_words_whole(schedule->ndocs).text);
    facts[n] = (struct hydra_fact){"Documents", texts[n]}, n++;
    snprintf(texts[n], 96, "%s, the longest %s", hydra_words_whole(plan->stats.tokens).text,
             hydra_words_whole(longest).text);
    facts[n] = (struct hydra_fact){"Tokens", texts[n]}, n++;
    snprintf(texts[n], 96, "%s tokens a slot and microbatch", hydra_words_whole(options->budget).text);
    facts[n] = (struct hydra_fact){"Budget", texts[n]}, n++;
    if (options->pipeline_stages > 1) {
        snprintf(texts[n], 96, "%d stages, %d chunk%s", options->pipeline_stages, options->pipeline_chunks,
                 options->pipeline_chunks == 1 ? "" : "s");
        facts[n] = (struct hydra_fact){"Pipeline", texts[n]}, n++;
    }
    return n;
}

int tool_plan_pictures(int nplans, const struct tool_plan plans[], const char *command, const char *svg,
                       const char *html)
{
    struct hydra_policy_result *results = hydra_calloc(nplans, sizeof *results);
    struct hydra_fact facts[FACTS];
    char texts[FACTS][96], title[128];
    struct hydra_report report = {
        .title = title, .command = command, .npolicies = nplans, .policies = results, .facts = facts};
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(results != NULL && nplans > 0, HYDRA_ERR_NOMEM, "pictures of %d plans", nplans);
    snprintf(title, sizeof title, "%s document%s on %s slot%s", hydra_words_whole(plans[0].stats.documents).text,
             plans[0].stats.documents == 1 ? "" : "s", hydra_words_whole(plans[0].stats.pool).text,
             plans[0].stats.pool == 1 ? "" : "s");
    report.nfacts = plan_facts(&plans[0], texts, facts);
    for (int i = 0; i < nplans; i++) {
        results[i] = (struct hydra_policy_result)HYDRA_POLICY_RESULT_INIT;
        results[i].name = plans[i].name;
        results[i].schedule = plans[i].schedule;
        results[i].stats = &plans[i].stats;
        results[i].planning_seconds = plans[i].planning_seconds;
        if (plans[i].stats.predicted_seconds > 0.0)
            results[i].seconds = plans[i].stats.predicted_seconds;
    }
    if (svg != NULL)
        HYDRA_TRY(hydra_plan_svg(&report, svg));
    if (html != NULL)
        HYDRA_TRY(hydra_report_html(&report, html));
fail:
    hydra_free(results);
    return status;
}
