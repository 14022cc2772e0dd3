/* test_figure1.c: the drawn batches are the published yardstick, number by number, and length
 * files are read strictly. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "hydra_plan.h"
#include "plan/figure1.h"
#include "plan/lengths.h"
#include "tests/tap.h"

/* FNV-1a over the numbers as 8 bytes, least first: computed apart from the published files. */
static uint64_t fingerprint(const int64_t *lengths, int64_t ndocs)
{
    uint64_t hash = 0xcbf29ce484222325ull;

    for (int64_t i = 0; i < ndocs; i++)
        for (int byte = 0; byte < 8; byte++)
            hash = (hash ^ ((uint64_t)lengths[i] >> 8 * byte & 255)) * 0x100000001b3ull;
    return hash;
}

static void draws_are_the_yardstick(void)
{
    static const struct {
        int64_t pool, multiple, ndocs;
        uint64_t hash;
    } batches[] = {{128, 4, 2258, 0x8e4012b1d22e40d0ull},
                   {512, 4, 10273, 0xbd8c148abe49b450ull},
                   {4096, 4, 82216, 0xd510fbd22c156018ull},
                   {512, 8, 20697, 0x0c07e3808cfd91afull}};
    bool good = true;

    for (int b = 0; b < 4; b++) {
        int64_t *lengths = NULL, ndocs = 0;

        good &= TAP_CHECK(hydra_figure1_draw(batches[b].pool, batches[b].multiple, 8192, &lengths, &ndocs) == 0,
                          "draw %d", b);
        good = good && TAP_CHECK(ndocs == batches[b].ndocs && fingerprint(lengths, ndocs) == batches[b].hash,
                                 "pool %ld: %ld documents, fingerprint %lx", (long)batches[b].pool, (long)ndocs,
                                 (unsigned long)fingerprint(lengths, ndocs));
        hydra_free(lengths);
    }
    tap_result(good, "batches drawn from Figure 1 are the yardstick batches, number by number");
}

static void the_kept_batch_is_drawn(void)
{
    const char *top = getenv("top_srcdir");
    char path[512];
    int64_t *read = NULL, *drawn = NULL, nread = 0, ndrawn = 0;
    bool good;

    snprintf(path, sizeof path, "%s/tests/data/batch_128.txt", top == NULL ? "." : top);
    good = TAP_CHECK(hydra_lengths_read(path, &read, &nread) == 0, "%s", path) &&
           TAP_CHECK(hydra_figure1_draw(128, 4, 8192, &drawn, &ndrawn) == 0, "draw") &&
           TAP_CHECK(nread == ndrawn && memcmp(read, drawn, (size_t)nread * sizeof *read) == 0,
                     "%ld lengths, %ld drawn", (long)nread, (long)ndrawn);
    hydra_free(read);
    hydra_free(drawn);
    tap_result(good, "the kept batch is the one that is drawn for a pool of 128");
}

/* What a file of this text reads as: 0, or the status with the detail in `detail`. */
static int read_text(const char *text, int64_t **lengths, int64_t *ndocs, char *detail, size_t len)
{
    char path[] = "lengths-XXXXXX";
    int file = mkstemp(path), status;

    if (file < 0 || write(file, text, strlen(text)) != (ssize_t)strlen(text))
        return -1;
    close(file);
    status = hydra_lengths_read(path, lengths, ndocs);
    Hydra_Error_detail(detail, len);
    unlink(path);
    return status;
}

static void bad_lines_are_named(void)
{
    static const struct {
        const char *text, *line;
    } bad[] = {{"12\nx\n", ":2: 'x'"},    {"1\n2\n-3\n", ":3: -3"},          {"1.5\n", ":1: '1.5'"},
               {"1 2\n", ":1: '1 2'"},    {"99999999999999999999\n", ":1:"}, {"\n\n4 four\n", ":3: '4 four'"},
               {"1099511627777\n", ":1:"}};
    int64_t *lengths = NULL, ndocs = 0;
    char detail[512], longest[400];
    bool good = true;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int status = read_text(bad[i].text, &lengths, &ndocs, detail, sizeof detail);

        good &= TAP_CHECK(status == HYDRA_ERR_FORMAT && strstr(detail, bad[i].line) != NULL && lengths == NULL,
                          "'%s' gives %d: %s", bad[i].text, status, detail);
    }
    memset(longest, '1', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    good &= TAP_CHECK(read_text(longest, &lengths, &ndocs, detail, sizeof detail) == HYDRA_ERR_FORMAT, "%s", detail);
    good &= TAP_CHECK(hydra_lengths_read("/nonexistent", &lengths, &ndocs) == HYDRA_ERR_IO, "no file");
    tap_result(good, "a bad line of a length file is named by file, line and text");
}

static void blanks_and_comments_are_skipped(void)
{
    int64_t *lengths = NULL, ndocs = 0;
    char detail[512];
    bool good = TAP_CHECK(read_text("# head\n 7 \n\n0 # none\r\n8K\n5", &lengths, &ndocs, detail, sizeof detail) == 0,
                          "%s", detail) &&
                TAP_CHECK(ndocs == 4 && lengths[0] == 7 && lengths[1] == 0 && lengths[2] == 8192 && lengths[3] == 5,
                          "%ld lengths", (long)ndocs);

    hydra_free(lengths);
    tap_result(good, "blank lines and comments of a length file are skipped, and the last line needs no end");
}

/* Hashes of plans of the yardstick batch: one build's numbers, that any compiler and optimisation must give. */
static void plans_are_the_same_everywhere(void)
{
    static const struct {
        int policy, stages, chunks;
        int64_t pool;
        uint64_t hash;
    } plans[] = {{HYDRA_POLICY_LOAD, 1, 1, 128, 0xb87afa70e2e22270ull},
                 {HYDRA_POLICY_LOAD, 4, 3, 128, 0x99aa326938b047a3ull},
                 {HYDRA_POLICY_LOAD, 4, 1, 96, 0x2cfd71a1cd59ab50ull},
                 {HYDRA_POLICY_MEMORY, 1, 1, 128, 0x956029a0bee674a7ull},
                 {HYDRA_POLICY_MEMORY, 4, 2, 96, 0x37260d87f1727d42ull},
                 {HYDRA_POLICY_MEMORY_PACKED, 1, 1, 128, 0xec9c99d93e4ff811ull},
                 {HYDRA_POLICY_STATIC, 1, 1, 128, 0xd039e2028de59e18ull}};
    int64_t *lengths = NULL, ndocs = 0;
    bool good = TAP_CHECK(hydra_figure1_draw(128, 4, 8192, &lengths, &ndocs) == 0, "draw");

    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
        Hydra_Plan_options options = HYDRA_PLAN_OPTIONS_INIT;
        Hydra_Schedule schedule = NULL;
        uint64_t hash = 0;

        options.budget = 8192;
        options.policy = plans[i].policy;
        options.pipeline_stages = plans[i].stages;
        options.pipeline_chunks = plans[i].chunks;
        options.theta_over_c = 1.7e-9;
        options.heads = 8;
        good &= TAP_CHECK(Hydra_Plan_serial(plans[i].pool, ndocs, lengths, &options, &schedule) == 0 &&
                              Hydra_Schedule_hash(schedule, &hash) == 0,
                          "plan %zu", i);
        good &= TAP_CHECK(hash == plans[i].hash, "plan %zu by %s: hash 0x%lxull", i, Hydra_Policy_name(plans[i].policy),
                          (unsigned long)hash);
        Hydra_Schedule_free(&schedule);
    }
    hydra_free(lengths);
    tap_result(good, "plans of the yardstick have the hashes of every other compiler and machine");
}

int main(void)
{
    draws_are_the_yardstick();
    the_kept_batch_is_drawn();
    plans_are_the_same_everywhere();
    bad_lines_are_named();
    blanks_and_comments_are_skipped();
    return tap_done();
}
