/* paper_print.c: the rows of HyDra's evaluation beside ours. */
#include <math.h>

#include "base/bits.h"
#include "sim/paper.h"
#include "sim/print.h"

enum quantity { STEP, PER_DAY, SPEEDUP, PP, DP, BUSY, PP0, DP0, BUSY0, REDUCE, COV, DEGREE, PLANNING, DAYS, COST };
enum standing { COUNTS, FITTED, SAME, LIVE, AFTER };

static const char *const setting_names[] = {
    "512 H20, 32K",   "512 H20, 256K",  "2,048 H800, 256K", "2,048 H800, 256K, attention by FLOPs",
    "Hy3, 8K GPUs",   "Hy3, 16K GPUs",  "Hy3, 24K GPUs",    "Hy3, 32K GPUs",
    "Hy3, 40K GPUs",  "DSv3, 8K GPUs",  "DSv3, 16K GPUs",   "DSv3, 24K GPUs",
    "DSv3, 32K GPUs", "DSv3, 40K GPUs", "Hy3, 8-40K GPUs",  "DSv3, 8-40K GPUs",
};
static const char *const system_names[] = {"HyDra",     "Mcore DCP", "static CP", "static CP ring",
                                           "ByteScale", "WLB-LLM",   "FlexSP"};
static const char *const quantity_names[] = {"iteration, s",
                                             "B tokens a day",
                                             "speed over",
                                             "PP bubble, %",
                                             "DP bubble, %",
                                             "busy, %",
                                             "PP bubble of rank 0, %",
                                             "DP bubble of rank 0, %",
                                             "busy on rank 0, %",
                                             "reduce-scatter, %",
                                             "microbatch CoV, %",
                                             "share at degree",
                                             "planning, s",
                                             "days for 2T tokens",
                                             "cost of 2T tokens, M$"};
static const char *const standing_names[] = {"", "fitted", "same", "live", "after"};

struct row {
    int setting, system, quantity, argument;
    double mean, low, high;
    int standing;
    const char *where;
};

/* An argument is a system for speeds and a degree for shares: both are plain numbers. */
enum {
    T32 = HYDRA_PAPER_T32,
    T256 = HYDRA_PAPER_T256,
    P2048 = HYDRA_PAPER_P2048,
    P2048F = HYDRA_PAPER_P2048F,
    HY8K = HYDRA_PAPER_HY8K,
    HY16K = HYDRA_PAPER_HY16K,
    HYWEAK = HYDRA_PAPER_HYWEAK,
    DSWEAK = HYDRA_PAPER_DSWEAK
};
enum {
    HYDRA = HYDRA_PAPER_HYDRA,
    MCORE = HYDRA_PAPER_MCORE,
    STATIC = HYDRA_PAPER_STATIC,
    RING = HYDRA_PAPER_RING,
    BYTESCALE = HYDRA_PAPER_BYTESCALE,
    WLB = HYDRA_PAPER_WLB,
    FLEXSP = HYDRA_PAPER_FLEXSP
};

static const struct row rows[] = {
#define ROW(setting, system, quantity, argument, mean, low, high, standing, where)                                     \
    {setting, system, quantity, argument, mean, low, high, standing, where},
#include "sim/paper_rows.def"
#undef ROW
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* HyDra over another system: at one size, or the mean over the sizes that both can plan; the greatest for DeepSeek-V3's
 * ring, of which the paper says "up to". */
static double speed_over(const struct hydra_paper *paper, int setting, int other)
{
    int first = setting == HYWEAK ? HYDRA_PAPER_HY8K : setting == DSWEAK ? HYDRA_PAPER_DS8K : setting;
    int sizes = setting >= HYDRA_PAPER_SETTINGS ? HYDRA_PAPER_SIZES : 1;
    double sum = 0, greatest = 0;
    int known = 0;

    for (int i = first; i < first + sizes; i++) {
        const struct hydra_paper_cell *hydra = &paper->cells[i][HYDRA], *theirs = &paper->cells[i][other];

        if (!hydra->known || !theirs->known)
            continue;
        sum += hydra->result.tokens_per_second / theirs->result.tokens_per_second;
        greatest = fmax(greatest, hydra->result.tokens_per_second / theirs->result.tokens_per_second);
        known++;
    }
    return known == 0 ? NAN : setting == DSWEAK && other == RING ? greatest : sum / known;
}

static double ours(const struct hydra_paper *paper, const struct row *row)
{
    const struct hydra_paper_cell *cell;
    struct hydra_policy_result priced;

    if (row->quantity == SPEEDUP)
        return speed_over(paper, row->setting, row->argument);
    cell = &paper->cells[row->setting][row->system];
    if (!cell->known)
        return NAN;
    priced = cell->result;
    hydra_result_price(&priced, 2e12, 2048, 2);
    switch (row->quantity) {
    case STEP:
        return cell->result.seconds;
    case PER_DAY:
        return cell->result.tokens_per_day / 1e9;
    case PP: /* as the paper's add up: what is neither busy nor DP bubble (doc/validation.md) */
        return 100 * (1 - cell->result.busy - cell->result.dp_bubble);
    case DP:
        return 100 * cell->result.dp_bubble;
    case BUSY:
        return 100 * cell->result.busy;
    case PP0:
        return 100 * (1 - cell->first.compute - cell->first.replicas);
    case DP0:
        return 100 * cell->first.replicas;
    case BUSY0:
        return 100 * cell->first.compute;
    case REDUCE: /* a replica is inside the collective until the slowest one has come */
        return 100 * (cell->shares.reduce + cell->shares.replicas);
    case COV:
        return 100 * cell->result.cov;
    case DEGREE:
        return 100 * cell->degree_share[hydra_log2_floor((uint64_t)row->argument)];
    case PLANNING:
        return cell->result.planning_seconds;
    case DAYS:
        return priced.days;
    default:
        return priced.cost / 1e6;
    }
}

static bool agrees(const struct row *row, double value)
{
    return (value >= row->low && value <= row->high) || fabs(value - row->mean) <= 0.1 * row->mean;
}

void hydra_paper_count(const struct hydra_paper *paper, int *counted, int *agreeing)
{
    *counted = *agreeing = 0;
    for (int i = 0; i < ROWS; i++)
        if (rows[i].standing == COUNTS) {
            ++*counted;
            *agreeing += agrees(&rows[i], ours(paper, &rows[i]));
        }
}

static void row_text(const struct row *row, char *text, size_t len)
{
    if (row->quantity == SPEEDUP)
        snprintf(text, len, "%s, %s %s", system_names[row->system], quantity_names[SPEEDUP],
                 system_names[row->argument]);
    else if (row->quantity == DEGREE)
        snprintf(text, len, "%s, %s %d, %%", system_names[row->system], quantity_names[DEGREE], row->argument);
    else
        snprintf(text, len, "%s, %s", system_names[row->system], quantity_names[row->quantity]);
}

static void paper_text(const struct row *row, char *text, size_t len)
{
    int used = isnan(row->mean) ? 0 : snprintf(text, len, "%.4g ", row->mean);

    if (!isnan(row->low))
        snprintf(text + used, len - (size_t)used, "(%.4g-%.4g)", row->low, row->high);
}

void hydra_paper_print(FILE *to, const struct hydra_paper *paper)
{
    int counted, agreeing, last = -1;

    fprintf(to, "%-40s %-20s %10s  %-8s %-7s %s\n", "", "paper (range)", "ours", "agrees", "", "paper's place");
    for (int i = 0; i < ROWS; i++) {
        const struct row *row = &rows[i];
        double value = ours(paper, row);
        char name[64], theirs[40];

        if (row->setting != last)
            fprintf(to, "%s\n", setting_names[row->setting]);
        last = row->setting;
        row_text(row, name, sizeof name);
        paper_text(row, theirs, sizeof theirs);
        fprintf(to, "  %-38s %-20s ", name, theirs);
        if (isnan(value))
            fprintf(to, "%10s  %-8s", "-", "no plan");
        else
            fprintf(to, "%10.4g  %-8s", value, agrees(row, value) ? "yes" : "no");
        fprintf(to, " %-7s %s\n", standing_names[row->standing], row->where);
    }
    hydra_paper_count(paper, &counted, &agreeing);
    fprintf(
        to,
        "\n%d of the %d rows that count agree: inside the paper's range, or within a tenth of its mean. Not counted:\n"
        "fitted (a coefficient was fitted to the row), same (another form of a row that counts), live (a time "
        "measured\n"
        "here), after (its preset was changed after the first comparison). Why rows differ: doc/validation.md.\n",
        agreeing, counted);
    for (int s = 0; s < HYDRA_PAPER_SETTINGS; s++)
        for (int system = 0; system < HYDRA_PAPER_SYSTEMS; system++)
            if (!paper->cells[s][system].known && paper->cells[s][system].why[0] != '\0')
                fprintf(to, "No plan: %s, %s: %s\n", setting_names[s], system_names[system],
                        paper->cells[s][system].why);
}

void hydra_paper_print_json(FILE *to, const struct hydra_paper *paper)
{
    int counted, agreeing;

    hydra_paper_count(paper, &counted, &agreeing);
    fprintf(to, "{\n  \"counted\": %d, \"agreeing\": %d,\n  \"rows\": [\n", counted, agreeing);
    for (int i = 0; i < ROWS; i++) {
        const struct row *row = &rows[i];
        double value = ours(paper, row);
        char name[64];

        row_text(row, name, sizeof name);
        fprintf(to, "    {\"setting\": ");
        hydra_json_text(to, setting_names[row->setting]);
        fprintf(to, ", \"row\": ");
        hydra_json_text(to, name);
        fprintf(to, ", \"paper\": ");
        hydra_json_number(to, row->mean);
        fprintf(to, ", \"low\": ");
        hydra_json_number(to, row->low);
        fprintf(to, ", \"high\": ");
        hydra_json_number(to, row->high);
        fprintf(to, ", \"ours\": ");
        hydra_json_number(to, value);
        fprintf(to, ", \"agrees\": %s, \"standing\": \"%s\", \"place\": ", agrees(row, value) ? "true" : "false",
                row->standing == COUNTS ? "counts" : standing_names[row->standing]);
        hydra_json_text(to, row->where);
        fprintf(to, i + 1 < ROWS ? "},\n" : "}\n");
    }
    fprintf(to, "  ]\n}\n");
}
