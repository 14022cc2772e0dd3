/* test_layout.c: the inner all-to-all's pieces and the ring's meetings against lists of (document,
 * position) per row. */
#include <stdlib.h>
#include <string.h>

#include "attn/heads.h"
#include "attn/layout.h"
#include "base/random.h"
#include "tests/tap.h"

enum { MOST_DOCS = 6, MOST_LENGTH = 40, MOST_ROWS = MOST_DOCS * MOST_LENGTH };

struct token {
    int64_t document;
    int64_t position;
};

/* One microbatch with one group of the whole pool. */
struct fixture {
    struct hydra_schedule schedule;
    struct hydra_group group;
    int64_t group_begin[2];
    int64_t lengths[MOST_DOCS];
    int64_t docs[MOST_DOCS];
    int64_t rotations[MOST_DOCS];
    uint64_t seed;
};

static void make_fixture(struct fixture *f, uint64_t seed, int64_t size, int64_t factor, int mask)
{
    struct hydra_random random = hydra_random_seed(seed);
    int64_t ndocs = hydra_random_below(&random, MOST_DOCS + 1);

    memset(f, 0, sizeof *f);
    f->seed = seed;
    for (int64_t d = 0; d < ndocs; d++) {
        f->lengths[d] = hydra_random_below(&random, 3) == 0 ? hydra_random_below(&random, 3)
                                                            : hydra_random_below(&random, MOST_LENGTH + 1);
        f->docs[d] = d;
    }
    f->group = (struct hydra_group){0, size, factor, 0, ndocs};
    f->group_begin[1] = 1;
    f->schedule = (struct hydra_schedule){.pool = size,
                                          .ndocs = ndocs,
                                          .microbatches = 1,
                                          .ngroups = 1,
                                          .lengths = f->lengths,
                                          .group_begin = f->group_begin,
                                          .groups = &f->group,
                                          .docs = f->docs};
    f->schedule.options.mask = mask;
    hydra_schedule_rotations(&f->schedule, &f->group, f->rotations);
}

/* The tokens of one member, row after row; returns how many. */
static int64_t tokens_of_member(const struct fixture *f, int64_t member, int64_t document, struct token *tokens)
{
    int64_t rows = 0;

    for (int64_t d = document < 0 ? 0 : document; d < (document < 0 ? f->schedule.ndocs : document + 1); d++) {
        struct hydra_shape shape = {f->lengths[d], f->group.size, f->group.factor, f->rotations[d],
                                    hydra_schedule_zigzag(&f->schedule, &f->group) != 0};
        struct hydra_run runs[2];

        hydra_shard_member_runs(&shape, member, runs);
        for (int piece = 0; piece < 2; piece++)
            for (int64_t p = 0; p < runs[piece].count; p++)
                tokens[rows++] = (struct token){d, runs[piece].begin + p};
    }
    return rows;
}

/* The tokens of one ring index: document after document, its members in order. */
static int64_t tokens_of_ring(const struct fixture *f, int64_t ring, struct token *tokens)
{
    int64_t rows = 0;

    for (int64_t d = 0; d < f->schedule.ndocs; d++)
        for (int64_t a = 0; a < f->group.factor; a++)
            rows += tokens_of_member(f, ring * f->group.factor + a, d, tokens + rows);
    return rows;
}

static bool sees(const struct hydra_mask *mask, struct token query, struct token key)
{
    if (query.document != key.document)
        return false;
    switch (mask->kind) {
    case HYDRA_KERNEL_FULL:
        return true;
    case HYDRA_KERNEL_CAUSAL:
        return key.position <= query.position;
    default:
        return key.position <= query.position &&
               (key.position > query.position - mask->window || key.position < mask->sink);
    }
}

static bool pieces_are_right(const struct fixture *f, const struct hydra_layout *layout)
{
    static struct token member[MOST_ROWS], ring[MOST_ROWS];
    int64_t ring_rows = tokens_of_ring(f, layout->ring_index, ring), covered = 0;
    bool good = TAP_CHECK(layout->ring_rows == ring_rows, "seed %lu: %ld rows, not %ld", (unsigned long)f->seed,
                          (long)layout->ring_rows, (long)ring_rows);

    for (int64_t j = 0; j < layout->factor; j++) {
        int64_t rows = tokens_of_member(f, layout->ring_index * layout->factor + j, -1, member), next = 0;

        good &= TAP_CHECK(layout->member_rows[j] == rows, "seed %lu member %ld", (unsigned long)f->seed, (long)j);
        for (int64_t p = layout->piece_begin[j]; p < layout->piece_begin[j + 1]; p++) {
            const struct hydra_piece *piece = &layout->pieces[p];

            good &= TAP_CHECK(piece->member_row == next, "seed %lu piece %ld", (unsigned long)f->seed, (long)p);
            for (int64_t r = 0; r < piece->count; r++)
                good &= member[piece->member_row + r].document == ring[piece->ring_row + r].document &&
                        member[piece->member_row + r].position == ring[piece->ring_row + r].position;
            next += piece->count;
        }
        good &= TAP_CHECK(next == rows, "seed %lu member %ld: pieces of %ld rows", (unsigned long)f->seed, (long)j,
                          (long)next);
        covered += rows;
    }
    return good && TAP_CHECK(covered == ring_rows, "seed %lu", (unsigned long)f->seed);
}

/* Count in met[query row][key row] how often a work list lets a pair meet; listed[row] counts query rows. */
static bool count_meetings(const struct hydra_kernel_work *work, const struct token *queries, const struct token *keys,
                           unsigned char *met, unsigned char *listed)
{
    bool good = true;

    for (int64_t q = 0; q < work->nquery_runs; q++) {
        const struct hydra_query_run *run = &work->query_runs[q];

        good &= run->keys_begin <= run->keys_end && run->keys_end <= work->nkey_runs;
        good &= q == 0 || (run->keys_begin >= run[-1].keys_begin && run->keys_end >= run[-1].keys_end);
        for (int64_t i = 0; i < run->count; i++) {
            listed[run->row + i]++;
            good &= queries[run->row + i].position == run->position + i;
            for (int64_t k = run->keys_begin; k < run->keys_end; k++)
                for (int64_t j = 0; j < work->key_runs[k].count; j++) {
                    int64_t row = work->key_runs[k].row + j;

                    good &= keys[row].position == work->key_runs[k].position + j &&
                            keys[row].document == queries[run->row + i].document;
                    met[(run->row + i) * MOST_ROWS + row]++;
                }
            for (int64_t k = run->keys_begin + 1; k < run->keys_end; k++)
                good &= work->key_runs[k].position > work->key_runs[k - 1].position;
        }
    }
    return good;
}

static bool meetings_are_right(const struct fixture *f, struct hydra_layout *layout, const struct hydra_mask *mask,
                               int64_t block, bool halves)
{
    static struct token queries[MOST_ROWS], keys[MOST_ROWS];
    static unsigned char met[MOST_ROWS * MOST_ROWS], listed[2 * MOST_ROWS];
    int64_t nqueries = tokens_of_ring(f, layout->ring_index, queries), nkeys = tokens_of_ring(f, block, keys);
    struct hydra_kernel_work work;
    bool good = true;

    memset(met, 0, sizeof met);
    memset(listed, 0, sizeof listed);
    hydra_layout_work(layout, mask, block, halves ? HYDRA_LAYOUT_HEAD : HYDRA_LAYOUT_WHOLE, !halves, &work);
    good &= count_meetings(&work, queries, keys, met, listed);
    if (halves) {
        hydra_layout_work(layout, mask, block, HYDRA_LAYOUT_TAIL, false, &work);
        good &= count_meetings(&work, queries, keys, met, listed);
    }
    for (int64_t i = 0; i < nqueries; i++) {
        good &= halves ? listed[i] <= 1 : listed[i] == 1;
        for (int64_t j = 0; j < nkeys; j++)
            good &= sees(mask, queries[i], keys[j]) ? met[i * MOST_ROWS + j] == 1 : met[i * MOST_ROWS + j] <= 1;
    }
    return TAP_CHECK(good, "seed %lu P %ld U %ld ring %ld block %ld mask %d halves %d", (unsigned long)f->seed,
                     (long)f->group.size, (long)f->group.factor, (long)layout->ring_index, (long)block, mask->kind,
                     halves);
}

/* Run `check` over every degree up to 8, factor, member and mask, on random ugly documents. */
static void pieces_and_meetings(void)
{
    static const struct hydra_mask masks[] = {{HYDRA_KERNEL_CAUSAL, 0, 0},
                                              {HYDRA_KERNEL_FULL, 0, 0},
                                              {HYDRA_KERNEL_WINDOW, 3, 0},
                                              {HYDRA_KERNEL_WINDOW, 5, 2}};
    bool pieces = true, meetings = true, halves = true;
    uint64_t seed = 1;

    for (int64_t size = 1; size <= 8; size++)
        for (int64_t factor = 1; factor <= size; factor++)
            for (int kind = 0; size % factor == 0 && kind < 4; kind++) {
                struct fixture f;
                struct hydra_layout layout = {0};

                make_fixture(&f, seed++, size, factor, (int)masks[kind].kind);
                pieces &= hydra_layout_reserve(&layout, &f.schedule, 0) == HYDRA_SUCCESS;
                for (int64_t slot = 0; slot < size; slot++) {
                    pieces &= hydra_layout_build(&layout, &f.schedule, 0, slot) == HYDRA_SUCCESS &&
                              pieces_are_right(&f, &layout);
                    for (int64_t block = 0; slot % factor == 0 && block < layout.ring; block++) {
                        meetings &= meetings_are_right(&f, &layout, &masks[kind], block, false);
                        halves &= meetings_are_right(&f, &layout, &masks[kind], block, true);
                    }
                }
                hydra_layout_clear(&layout);
            }
    tap_result(pieces, "the pieces of the inner all-to-all put every token where its ring index expects it");
    tap_result(meetings, "every visible pair meets exactly once round the ring, and every query row is listed once");
    tap_result(halves, "the two halves of a block's work are together the whole");
}

static int64_t rows_of(const struct hydra_kernel_work *work)
{
    int64_t rows = 0;

    for (int64_t q = 0; q < work->nquery_runs; q++)
        rows += work->query_runs[q].count;
    return rows;
}

/* A long zigzag document: the head takes the early piece and some of the late one, neither side is starved. */
static void halves_are_about_equal(struct hydra_mask mask, const char *sentence)
{
    struct fixture f;
    struct hydra_layout layout = {0};
    struct hydra_kernel_work head;
    int64_t rows;
    bool good;

    make_fixture(&f, 1, 2, 1, HYDRA_MASK_CAUSAL);
    f.lengths[0] = 16384;
    f.group.docs_end = f.schedule.ndocs = 1;
    good = hydra_layout_reserve(&layout, &f.schedule, 0) == HYDRA_SUCCESS &&
           hydra_layout_build(&layout, &f.schedule, 0, 0) == HYDRA_SUCCESS;
    hydra_layout_work(&layout, &mask, 0, HYDRA_LAYOUT_HEAD, false, &head);
    rows = rows_of(&head);
    /* early piece 4096 rows: h^2/2 pairs of 2 h^2; the late piece gives the other h^2/2 in its first 0.414 h rows */
    good &= TAP_CHECK(rows > 4096 + 1500 && rows < 4096 + 1800, "the head has %ld rows of 8192", (long)rows);
    hydra_layout_clear(&layout);
    tap_result(good, sentence);
}

static void heads_are_dealt_once(void)
{
    bool good = true;

    for (int heads = 1; heads <= 13; heads++)
        for (int kv = 1; kv <= heads; kv++)
            for (int factor = 1; factor <= 8; factor++) {
                int next = 0;

                for (int a = 0; a < factor; a++) {
                    struct hydra_heads own = hydra_heads_of_inner(heads, kv, factor, a);

                    good &= TAP_CHECK(own.first == next, "H %d G %d U %d a %d", heads, kv, factor, a);
                    for (int h = own.first; h < own.first + own.count; h++) {
                        int reads = hydra_heads_kv_of(heads, kv, h);

                        good &= reads >= own.kv_first && reads < own.kv_first + own.kv_count && reads < kv;
                    }
                    next += own.count;
                }
                good &= TAP_CHECK(next == heads, "H %d G %d U %d: %d heads dealt", heads, kv, factor, next);
            }
    tap_result(good, "every query head has one inner index, which holds the KV head that it reads");
}

int main(void)
{
    pieces_and_meetings();
    halves_are_about_equal((struct hydra_mask){HYDRA_KERNEL_CAUSAL, 0, 0},
                           "the head of a block's work holds about half of its pairs");
    halves_are_about_equal((struct hydra_mask){HYDRA_KERNEL_WINDOW, INT64_MAX, 1},
                           "so it does in a window without end");
    heads_are_dealt_once();
    return tap_done();
}
