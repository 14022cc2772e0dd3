/* test_schedule.c: every policy's schedules are executable, views are what the text of ALGORITHMS says, files
 * round-trip. */
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "plan/policy.h"
#include "plan/schedule.h"
#include "plan/schedule_io.h"
#include "tests/plan/batches.h"
#include "tests/tap.h"

/* An empty microbatch means that nothing was left to split: every other one holds one document. */
static bool split_before_padded(const struct test_batch *t, Hydra_Schedule s)
{
    bool empty = false, several = false;

    for (int64_t m = 0; m < s->microbatches; m++) {
        int64_t begin = s->group_begin[m], end = s->group_begin[m + 1];

        empty |= begin == end;
        several |= end > begin && s->groups[end - 1].docs_end - s->groups[begin].docs_begin > 1;
    }
    return TAP_CHECK(!(empty && several), "seed %lu: an empty microbatch beside one that could be split",
                     (unsigned long)t->seed);
}

/* Oracle of `is executable`, written without the library's own check: mark slots and documents. */
static bool executable(const struct test_batch *t, Hydra_Schedule s)
{
    int64_t *times = calloc((size_t)t->ndocs + 1, sizeof *times);
    int64_t budget = t->options.budget / t->options.align * t->options.align;
    bool good = true;

    for (int64_t m = 0; m < s->microbatches; m++) {
        char *taken = calloc((size_t)t->pool, 1);

        for (int64_t g = s->group_begin[m]; g < s->group_begin[m + 1]; g++) {
            struct hydra_group group = s->groups[g];
            int64_t tokens = 0;

            good &= TAP_CHECK(group.size == t->pool || (hydra_is_pow2(group.size) && group.first % group.size == 0),
                              "seed %lu: group %ld+%ld", (unsigned long)t->seed, (long)group.first, (long)group.size);
            good &= TAP_CHECK(group.size >= t->options.min_degree &&
                                  (t->options.max_degree == 0 || group.size <= t->options.max_degree),
                              "seed %lu: degree %ld", (unsigned long)t->seed, (long)group.size);
            for (int64_t slot = group.first; slot < group.first + group.size; slot++)
                good &= TAP_CHECK(slot < t->pool && !taken[slot]++, "seed %lu: slot %ld", (unsigned long)t->seed,
                                  (long)slot);
            for (int64_t d = group.docs_begin; d < group.docs_end; d++) {
                times[s->docs[d]]++;
                tokens += t->lengths[s->docs[d]];
            }
            good &= TAP_CHECK((tokens + group.size - 1) / group.size <= budget, "seed %lu: %ld tokens on %ld slots",
                              (unsigned long)t->seed, (long)tokens, (long)group.size);
        }
        free(taken);
    }
    for (int64_t i = 0; i < t->ndocs; i++)
        good &= TAP_CHECK(times[i] == 1, "seed %lu: document %ld is placed %ld times", (unsigned long)t->seed, (long)i,
                          (long)times[i]);
    if (t->options.pipeline_chunks > 1 && t->options.policy <= HYDRA_POLICY_MEMORY_PACKED)
        good &= TAP_CHECK(s->microbatches % t->options.pipeline_stages == 0, "seed %lu: M %ld, pp %d",
                          (unsigned long)t->seed, (long)s->microbatches, t->options.pipeline_stages) &&
                split_before_padded(t, s);
    free(times);
    return good;
}

/* Batches on which the O(N G^2) rules stay quick. */
static bool every_policy_on(uint64_t seed, int policy)
{
    struct test_batch t = make_batch(seed, 64, 120);
    Hydra_Schedule schedule = NULL;
    char detail[512];
    int status;
    bool good = true;

    t.options.policy = policy;
    status = Hydra_Plan_serial(t.pool, t.ndocs, t.lengths, &t.options, &schedule);
    if (status != HYDRA_SUCCESS) {
        Hydra_Error_detail(detail, sizeof detail);
        good = TAP_CHECK(status == HYDRA_ERR_INFEASIBLE && strstr(detail, "needs") != NULL, "seed %lu: status %d: %s",
                         (unsigned long)seed, status, detail);
    } else {
        good &= executable(&t, schedule);
    }
    good &= TAP_CHECK(Hydra_Schedule_free(&schedule) == 0 && schedule == NULL, "seed %lu", (unsigned long)seed);
    free_batch(&t);
    return good;
}

static void every_policy_is_executable(void)
{
    for (int policy = 1; policy < HYDRA_POLICY_COUNT; policy++) {
        char sentence[120];
        bool good = true;

        if (hydra_policy_find(policy) == NULL)
            continue;
        for (uint64_t seed = 1; good && seed <= 300; seed++)
            good = every_policy_on(seed, policy);
        snprintf(sentence, sizeof sentence,
                 "%s: each document once, budget kept, groups aligned, disjoint and in bounds",
                 Hydra_Policy_name(policy));
        tap_result(good, sentence);
    }
}

/* All ranks of one microbatch together: which positions of each document they hold, read from the views alone. */
static bool views_cover(const struct test_batch *t, Hydra_Schedule s, int64_t m, int *held, int64_t *starts)
{
    bool good = true;

    for (int64_t rank = 0; rank < t->pool; rank++) {
        Hydra_Microbatch view;

        good &= TAP_CHECK(Hydra_Schedule_microbatch(s, m, rank, &view) == 0, "seed %lu", (unsigned long)t->seed);
        good &= TAP_CHECK(
            view.tokens <= t->options.budget && view.tokens_aligned >= view.tokens &&
                view.tokens_aligned % t->options.align == 0 && view.tokens_aligned - view.tokens < t->options.align,
            "seed %lu: %ld tokens, %ld aligned", (unsigned long)t->seed, (long)view.tokens, (long)view.tokens_aligned);
        good &= TAP_CHECK(view.degree == 0 ||
                              (view.ulysses * view.ring == view.degree && view.group_ranks[view.member] == rank),
                          "seed %lu: rank %ld", (unsigned long)t->seed, (long)rank);
        for (int64_t d = 0; d < view.ndocs; d++) {
            int64_t id = view.doc_ids[d], rows = view.cu_seqlens[d + 1] - view.cu_seqlens[d];

            good &= TAP_CHECK(view.doc_lengths[d] == t->lengths[id] && (d == 0 || id > view.doc_ids[d - 1]),
                              "seed %lu: document %ld", (unsigned long)t->seed, (long)id);
            good &= TAP_CHECK(view.token_share[d] * (double)t->lengths[id] > (double)rows - 0.5 &&
                                  view.token_share[d] * (double)t->lengths[id] < (double)rows + 0.5,
                              "seed %lu: share %g", (unsigned long)t->seed, view.token_share[d]);
            for (int64_t row = view.cu_seqlens[d]; row < view.cu_seqlens[d + 1]; row++) {
                int64_t position = view.positions[row];

                good &= TAP_CHECK(position >= 0 && position < t->lengths[id] &&
                                      (row == view.cu_seqlens[d] || position > view.positions[row - 1]) &&
                                      view.global_positions[row] == starts[id] + position,
                                  "seed %lu: document %ld row %ld position %ld", (unsigned long)t->seed, (long)id,
                                  (long)row, (long)position);
                if (position >= 0 && position < t->lengths[id])
                    held[starts[id] + position]++;
            }
        }
        good &= TAP_CHECK(view.cu_seqlens[view.ndocs] == view.tokens, "seed %lu", (unsigned long)t->seed);
        Hydra_Microbatch_free(&view);
    }
    return good;
}

static bool views_on(uint64_t seed)
{
    struct test_batch t = make_batch(seed, 24, 60);
    int64_t *starts = calloc((size_t)t.ndocs + 1, sizeof *starts);
    Hydra_Schedule s = NULL;
    int *held;
    bool good;

    t.options.policy = seed % 2 ? HYDRA_POLICY_LOAD : HYDRA_POLICY_STATIC;
    for (int64_t i = 0; i < t.ndocs; i++) {
        t.lengths[i] %= 200;
        starts[i + 1] = starts[i] + t.lengths[i];
    }
    t.options.pairs = NULL;
    held = calloc((size_t)starts[t.ndocs] + 1, sizeof *held);
    good =
        TAP_CHECK(Hydra_Plan_serial(t.pool, t.ndocs, t.lengths, &t.options, &s) == 0, "seed %lu", (unsigned long)seed);
    for (int64_t m = 0; good && m < s->microbatches; m++)
        good &= views_cover(&t, s, m, held, starts);
    for (int64_t p = 0; good && p < starts[t.ndocs]; p++)
        good &= TAP_CHECK(held[p] == 1, "seed %lu: token %ld is held %d times", (unsigned long)seed, (long)p, held[p]);
    Hydra_Schedule_free(&s);
    free(held);
    free(starts);
    free_batch(&t);
    return good;
}

static void views_hold_every_token_once(void)
{
    bool good = true;

    for (uint64_t seed = 1; good && seed <= 200; seed++)
        good = views_on(seed);
    tap_result(good, "the ranks' views hold every token once, in ascending positions, whatever the lengths");
}

/* Round trip: the loaded schedule has the same bytes and hash, and any one changed byte is refused
 * or changes nothing. */
static bool round_trip_on(uint64_t seed)
{
    struct test_batch t = make_batch(seed, 24, 40);
    struct hydra_random random = hydra_random_seed(seed);
    Hydra_Schedule s = NULL, back = NULL, mutant = NULL;
    char *text = NULL, *again = NULL;
    int64_t length = 0, again_length = 0;
    bool good;

    t.options.policy = seed % 2 ? HYDRA_POLICY_LOAD : HYDRA_POLICY_STATIC;
    good = TAP_CHECK(Hydra_Plan_serial(t.pool, t.ndocs, t.lengths, &t.options, &s) == 0, "seed %lu",
                     (unsigned long)seed) &&
           TAP_CHECK(hydra_schedule_pack(s, &text, &length) == 0, "seed %lu", (unsigned long)seed) &&
           TAP_CHECK(hydra_schedule_unpack("text", text, length, &back) == 0, "seed %lu", (unsigned long)seed) &&
           TAP_CHECK(hydra_schedule_pack(back, &again, &again_length) == 0, "seed %lu", (unsigned long)seed) &&
           TAP_CHECK(length == again_length && memcmp(text, again, (size_t)length) == 0, "seed %lu",
                     (unsigned long)seed) &&
           TAP_CHECK(s->hash == back->hash, "seed %lu", (unsigned long)seed);
    for (int change = 0; good && change < 60; change++) {
        int64_t at = hydra_random_below(&random, length),
                cut = change % 3 == 0 ? hydra_random_below(&random, length) : length;
        char old = text[at];

        text[at] = "0123456789- \nx"[hydra_random_below(&random, 14)];
        if (hydra_schedule_unpack("text", text, cut, &mutant) == 0) {
            /* Space, line ends, `threads` and the cost model are outside the hash: anything else must have
             * been caught. */
            good = TAP_CHECK(mutant->hash == s->hash, "seed %lu: byte %ld changed to '%c' passes", (unsigned long)seed,
                             (long)at, text[at]);
            Hydra_Schedule_free(&mutant);
        }
        good = good && TAP_CHECK(mutant == NULL, "seed %lu: a handle is set on failure", (unsigned long)seed);
        text[at] = old;
    }
    Hydra_Schedule_free(&s);
    Hydra_Schedule_free(&back);
    free(text);
    free(again);
    free_batch(&t);
    return good;
}

static void text_round_trips_and_refuses_changes(void)
{
    bool good = true;

    for (uint64_t seed = 1; good && seed <= 300; seed++)
        good = round_trip_on(seed);
    tap_result(good, "a schedule comes back from its text with the same bytes and hash, and a changed text is refused");
}

static int compare_hashes(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* 4,096 batches that differ in two lengths: no two hashes of 64 bits should meet among them (once
 * in 2^41 such tests). */
static void hashes_tell_batches_apart(void)
{
    enum { LENGTHS = 64, BATCHES = LENGTHS * LENGTHS };
    static uint64_t hashes[BATCHES];
    Hydra_Plan_options options = HYDRA_PLAN_OPTIONS_INIT;
    bool good = true;

    options.budget = 64;
    for (int i = 0; good && i < BATCHES; i++) {
        int64_t lengths[] = {20, 0, i / LENGTHS, 23, 0, i % LENGTHS};
        Hydra_Schedule s = NULL;

        good = TAP_CHECK(Hydra_Plan_serial(2, 6, lengths, &options, &s) == 0, "batch %d", i);
        hashes[i] = good ? s->hash : 0;
        Hydra_Schedule_free(&s);
    }
    qsort(hashes, BATCHES, sizeof *hashes, compare_hashes);
    for (int i = 1; good && i < BATCHES; i++)
        good = TAP_CHECK(hashes[i - 1] != hashes[i], "two batches have hash %016lx", (unsigned long)hashes[i]);
    tap_result(good, "4,096 batches that differ in two lengths have as many hashes");
}

/* A text is refused when it says the same with a changed place. */
static bool refuses_edit(const char *text, int64_t length, const char *old, const char *new, int64_t room)
{
    char *changed = malloc((size_t)length + 64), *at;
    Hydra_Schedule back = NULL;
    bool good;

    memcpy(changed, text, (size_t)length);
    changed[length] = '\0';
    at = strstr(changed, old);
    good = TAP_CHECK(at != NULL, "no '%s' in the text", old);
    if (at != NULL) {
        memmove(at + room, at + strlen(old), (size_t)(changed + length - at) - strlen(old));
        memcpy(at, new, (size_t)room);
        length += room - (int64_t)strlen(old);
        good &= TAP_CHECK(hydra_schedule_unpack("text", changed, length, &back) == HYDRA_ERR_FORMAT, "'%s' for '%s'",
                          new, old);
    }
    Hydra_Schedule_free(&back);
    free(changed);
    return good;
}

static void words_are_read_whole(void)
{
    struct test_batch batch = make_batch(5, 8, 20);
    Hydra_Schedule schedule = NULL;
    char *text = NULL;
    int64_t length = 0;
    bool good = TAP_CHECK(Hydra_Plan_serial(batch.pool, batch.ndocs, batch.lengths, &batch.options, &schedule) == 0 &&
                              hydra_schedule_pack(schedule, &text, &length) == 0,
                          "no schedule of seed 5");

    if (good) {
        good &= refuses_edit(text, length, "pool", "pool\0none", 9);
        good &= refuses_edit(text, length, "phi 0000000000000000", "phi 0x00000000000000", 20);
        good &= refuses_edit(text, length, "phi 0000000000000000", "phi 00000000000000000", 21);
    }
    hydra_free(text);
    Hydra_Schedule_free(&schedule);
    free_batch(&batch);
    tap_result(good, "bytes behind a zero byte and numbers that are not 16 digits are refused in a saved schedule");
}

static void files_round_trip(void)
{
    int64_t lengths[] = {5, 0, 100, 3, 17};
    Hydra_Plan_options options = HYDRA_PLAN_OPTIONS_INIT;
    Hydra_Schedule s = NULL, back = NULL;
    char path[] = "schedule-XXXXXX", detail[256];
    int file = mkstemp(path);
    bool good;

    options.budget = 30;
    good = TAP_CHECK(file >= 0 && Hydra_Plan_serial(6, 5, lengths, &options, &s) == 0, "plan") &&
           TAP_CHECK(Hydra_Schedule_save(s, path) == 0 && Hydra_Schedule_load(path, &back) == 0, "save and load") &&
           TAP_CHECK(s->hash == back->hash, "hash %lx is %lx", (unsigned long)s->hash, (unsigned long)back->hash);
    good &= TAP_CHECK(Hydra_Schedule_save(s, "/nonexistent/schedule") == HYDRA_ERR_IO, "save to nowhere");
    good &= TAP_CHECK(Hydra_Schedule_load("/nonexistent/schedule", &back) == HYDRA_ERR_IO, "load from nowhere");
    Hydra_Error_detail(detail, sizeof detail);
    good &= TAP_CHECK(strstr(detail, "/nonexistent/schedule") != NULL, "detail '%s'", detail);
    close(file);
    unlink(path);
    Hydra_Schedule_free(&s);
    Hydra_Schedule_free(&back);
    tap_result(good, "a schedule is saved to and loaded from a file, and a file that cannot be opened is named");
}

int main(void)
{
    every_policy_is_executable();
    views_hold_every_token_once();
    text_round_trips_and_refuses_changes();
    hashes_tell_batches_apart();
    words_are_read_whole();
    files_round_trip();
    return tap_done();
}
