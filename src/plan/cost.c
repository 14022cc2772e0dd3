/* cost.c: the cost model in whole picoseconds, and the factor of a group. Doubles meet integers
 * here and nowhere else. */
#include "plan/cost.h"

#include <math.h>

#include "base/bits.h"

/* Tokens a rank at which HYDRA_FACTOR_COST compares: a shard that fills a budget of the usual size. */
enum { FACTOR_TOKENS = 4096 };

static const double ps_per_second = 1e12;

struct hydra_rate hydra_rate_of(double x)
{
    int exponent;
    double fraction = frexp(fmin(x, 1e30), &exponent);

    if (x == 0)
        return (struct hydra_rate){0, 0};
    return (struct hydra_rate){(uint32_t)(fraction * 0x1p31 + 0.5), 31 - exponent};
}

double hydra_rate_value(struct hydra_rate rate)
{
    return ldexp(rate.mantissa, -rate.shift);
}

int64_t hydra_rate_apply_wide(struct hydra_rate rate, hydra_weight value)
{
    hydra_weight product;
    int shift = rate.shift;

    if (rate.mantissa == 0 || value == 0)
        return 0;
    if (value >> 96 != 0) {
        value >>= 32;
        shift -= 32;
    }
    product = value * rate.mantissa;
    if (shift >= 128)
        return 0;
    if (shift >= 0)
        return product >> shift > HYDRA_TIME_MAX ? HYDRA_TIME_MAX : (int64_t)(product >> shift);
    return shift <= -52 || product > ((hydra_weight)HYDRA_TIME_MAX >> -shift) ? HYDRA_TIME_MAX
                                                                              : (int64_t)(product << -shift);
}

/* Seconds of communication and attention of one group, per token and per unit of load, before anything is hidden. */
struct group_rates {
    double surplus;  /* attention time of the busiest rank over that of even heads, >= 1 */
    double alltoall; /* s a token */
    double alltoall_latency;
    double ring; /* s a token, all steps */
    double ring_latency;
};

static double link_seconds(double bytes, double bandwidth)
{
    return bandwidth > 0 ? bytes / bandwidth : 0;
}

/* Slots [0, U) of a group exchange all to all; member i and i + U are neighbours in the ring. */
static struct group_rates rates_of(const Hydra_Cost *cost, int heads, int kv_heads, int64_t size, int64_t factor)
{
    int64_t node = cost->node_slots > 0 ? cost->node_slots : size;
    int64_t rings = size / factor;
    int64_t near = hydra_min(
        factor, factor == size ? node : hydra_pow2_floor(node)); /* all-to-all peers in the node, me included */
    double inter = cost->inter_bandwidth > 0 ? cost->inter_bandwidth : cost->intra_bandwidth;
    double kv_copies = 1; /* K,V heads of a rank over its even share: replicated below one head a rank */
    struct group_rates rates = {.surplus = 1};

    if (heads > 0)
        rates.surplus = (double)hydra_ceil_div(heads, factor) * (double)factor / heads;
    if (kv_heads > 0)
        kv_copies = (double)hydra_ceil_div(kv_heads, factor) * (double)factor / kv_heads;
    /* Both kinds of link work at once; the slower one paces. Uneven heads make one member receive more. */
    double share = cost->a2a_bytes_per_token * rates.surplus / (double)factor;

    rates.alltoall = fmax(link_seconds(share * (double)(near - 1), cost->intra_bandwidth),
                          link_seconds(share * (double)(factor - near), inter));
    rates.alltoall_latency = (double)(near - 1) * cost->intra_latency + (double)(factor - near) * cost->inter_latency;
    /* A ring that leaves the node is paced by the hop that crosses. */
    rates.ring = (double)(rings - 1) *
                 link_seconds(cost->ring_bytes_per_token * kv_copies, size > node ? inter : cost->intra_bandwidth);
    rates.ring_latency = (double)(rings - 1) * (size > node ? cost->inter_latency : cost->intra_latency);
    return rates;
}

/* Exposed seconds of one document of FACTOR_TOKENS a rank, beyond evenly shared attention. */
static double exposed_seconds(const Hydra_Cost *cost, int heads, int kv_heads, int64_t size, int64_t factor)
{
    struct group_rates rates = rates_of(cost, heads, kv_heads, size, factor);
    double attention = cost->theta * FACTOR_TOKENS * FACTOR_TOKENS * (double)size;
    double alltoall = rates.alltoall * FACTOR_TOKENS + rates.alltoall_latency;
    double ring = rates.ring * FACTOR_TOKENS + rates.ring_latency;

    return cost->a2a_exposed * alltoall + fmax(0, ring - cost->ring_overlap * attention * rates.surplus) +
           attention * (rates.surplus - 1);
}

int64_t hydra_factor_choose(const Hydra_Cost *cost, int factor, int heads, int kv_heads, int64_t size)
{
    int64_t most = hydra_min(size, factor > 0 ? hydra_min(factor, heads) : heads);
    int64_t best = 1;
    double least = 0;

    for (int64_t u = 1; u <= most; u++) {
        if (size % u != 0)
            continue;
        if (factor != HYDRA_FACTOR_COST || cost == NULL) {
            best = u;
            continue;
        }
        double exposed = exposed_seconds(cost, heads, kv_heads > 0 ? kv_heads : heads, size, u);

        /* The lesser factor wins a tie: its all-to-all stays closer. */
        if (u == 1 || exposed < least) {
            best = u;
            least = exposed;
        }
    }
    return best;
}

static int64_t whole_ps(double seconds)
{
    return hydra_rate_apply(hydra_rate_of(seconds * ps_per_second), 1);
}

static struct hydra_cost_degree degree_make(const Hydra_Cost *model, const Hydra_Plan_options *options, int64_t size,
                                            int64_t factor)
{
    int kv_heads = options->kv_heads > 0 ? options->kv_heads : options->heads;
    struct group_rates rates = rates_of(model, options->heads, kv_heads, size, factor);
    double load = model->theta * rates.surplus * ps_per_second;

    return (struct hydra_cost_degree){
        .size = size,
        .factor = factor,
        .load = hydra_rate_of(load),
        .hidden = hydra_rate_of(load * model->ring_overlap),
        .alltoall = hydra_rate_of(model->a2a_exposed * rates.alltoall * ps_per_second),
        .ring = hydra_rate_of(rates.ring * ps_per_second),
        .alltoall_latency = whole_ps(model->a2a_exposed * rates.alltoall_latency),
        .ring_latency = whole_ps(rates.ring_latency),
    };
}

static void add_degrees(const Hydra_Cost *model, const Hydra_Plan_options *options, int64_t pool,
                        struct hydra_cost *cost)
{
    int64_t sizes[64];

    cost->ndegrees = hydra_pool_degrees(pool, sizes);
    for (int i = 0; i < cost->ndegrees; i++) {
        int64_t factor = hydra_factor_choose(model, options->factor, options->heads, options->kv_heads, sizes[i]);

        cost->degrees[i] = degree_make(model, options, sizes[i], factor);
    }
}

void hydra_cost_make(const Hydra_Cost *model, const Hydra_Plan_options *options, int64_t pool, struct hydra_cost *cost)
{
    add_degrees(model, options, pool, cost);
    cost->token = hydra_rate_of(model->phi * ps_per_second);
    cost->fixed = whole_ps(model->fixed);
    cost->backward_compute = hydra_rate_of(model->backward_compute);
    cost->backward_comm = hydra_rate_of(model->backward_comm);
}

void hydra_cost_make_load(const struct hydra_batch *batch, struct hydra_cost *cost)
{
    Hydra_Cost model = HYDRA_COST_INIT;
    hydra_weight total = 0;
    int shift = 0;

    for (int64_t i = 0; i < batch->ndocs; i++)
        total += hydra_batch_weight(batch, i);
    while (total >> 44 >> shift != 0)
        shift++;
    add_degrees(&model, batch->options, batch->pool, cost);
    for (int i = 0; i < cost->ndegrees; i++)
        cost->degrees[i].load = (struct hydra_rate){1, shift};
    cost->token = (struct hydra_rate){0, 0};
    /* Microbatches are not free, if only little is known: one more must save 0.4% of the work. */
    cost->fixed = (int64_t)((total >> shift) / (hydra_weight)batch->pool / 256);
    cost->backward_compute = hydra_rate_of(2);
    cost->backward_comm = hydra_rate_of(1);
}

/* The entry of a size; one that is no degree of the pool (a static split of it) pays as the next lower one. */
static int degree_index(const struct hydra_cost *cost, int64_t size)
{
    int last = cost->ndegrees - 1;

    return size >= cost->degrees[last].size ? last : (int)hydra_min(hydra_log2_floor((uint64_t)size), last);
}

void hydra_cost_set_factor(struct hydra_cost *cost, const Hydra_Cost *model, const Hydra_Plan_options *options,
                           int64_t size, int64_t factor)
{
    struct hydra_cost_degree *degree = &cost->degrees[degree_index(cost, size)];

    if (degree->factor != factor || degree->size != size)
        *degree = degree_make(model, options, size, factor);
}

struct hydra_cost_parts hydra_cost_parts_of(const struct hydra_cost *cost, int64_t size, hydra_weight weight_per_rank,
                                            int64_t tokens_per_rank)
{
    const struct hydra_cost_degree *degree = &cost->degrees[degree_index(cost, size)];
    hydra_weight tokens = (hydra_weight)tokens_per_rank;
    int64_t ring = hydra_rate_apply(degree->ring, tokens) + degree->ring_latency;
    int64_t alltoall = hydra_rate_apply(degree->alltoall, tokens) + degree->alltoall_latency;
    int64_t compute = hydra_rate_apply(degree->load, weight_per_rank) + hydra_rate_apply(cost->token, tokens);

    return (struct hydra_cost_parts){
        .compute = hydra_min(compute, HYDRA_TIME_MAX),
        .alltoall = alltoall,
        .ring = ring == 0 ? 0 : hydra_max(0, ring - hydra_rate_apply(degree->hidden, weight_per_rank)),
        .fixed = cost->fixed,
    };
}

int64_t hydra_cost_forward(const struct hydra_cost *cost, int64_t size, hydra_weight weight_per_rank,
                           int64_t tokens_per_rank)
{
    struct hydra_cost_parts parts = hydra_cost_parts_of(cost, size, weight_per_rank, tokens_per_rank);

    return hydra_min(parts.compute + parts.alltoall + parts.ring + parts.fixed, HYDRA_TIME_MAX);
}

int64_t hydra_cost_backward(const struct hydra_cost *cost, int64_t size, hydra_weight weight_per_rank,
                            int64_t tokens_per_rank)
{
    struct hydra_cost_parts parts = hydra_cost_parts_of(cost, size, weight_per_rank, tokens_per_rank);
    int64_t compute = hydra_rate_apply(cost->backward_compute, (hydra_weight)(parts.compute + parts.fixed));
    int64_t comm = hydra_rate_apply(cost->backward_comm, (hydra_weight)(parts.alltoall + parts.ring));

    return hydra_min(compute + comm, HYDRA_TIME_MAX);
}
