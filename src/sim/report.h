/* report.h: what the pictures show, as plain numbers, and the writers that draw them. Knows no simulator and no MPI.
 *
 * The caller fills the structs, which stay its own; strings may hold anything (they are escaped). Times in seconds from
 * the start of the iteration. A number that is not known is NAN: its column or picture is then left out. Equal input
 * gives equal bytes. Every writer returns HYDRA_SUCCESS, HYDRA_ERR_ARG, HYDRA_ERR_NOMEM or HYDRA_ERR_IO (the detail
 * names the path); path "-" is standard output.
 */
#ifndef HYDRA_SIM_REPORT_H
#define HYDRA_SIM_REPORT_H

#include <math.h>
#include <stdint.h>

#include "plan/schedule.h"

enum hydra_bar_kind {
    HYDRA_BAR_FORWARD = 0,
    HYDRA_BAR_BACKWARD = 1,
    HYDRA_BAR_REDUCE = 2, /* gradient reduce-scatter */
    HYDRA_BAR_OPTIMIZER = 3,
    HYDRA_BAR_PLANNING = 4,
    HYDRA_BAR_KINDS = 5
};

/* Something that one row does from start to end. What no bar covers is idle and shows as such. */
struct hydra_bar {
    double start;
    double end;         /* >= start */
    int64_t microbatch; /* -1: none */
    int32_t row;
    int16_t chunk; /* interleaved chunk, 0 when there is one */
    int16_t kind;  /* enum hydra_bar_kind */
};

struct hydra_timeline {
    const char *caption;  /* which rows these are, "pipeline of slot 17, the slowest"; NULL: nothing to say */
    const char *row_word; /* "stage", "replica"; rows are "<row_word> 0", ... */
    int64_t rows;
    const char *const *row_names; /* NULL, or [rows] names that replace the above */
    int chunks;                   /* v >= 1 */
    double seconds;               /* end of the iteration: idle time reaches to here */
    int64_t nbars;
    const struct hydra_bar *bars; /* any order; bars of a row do not overlap */
};

/* One policy: a row of the table and a panel of each picture. Shares are 0..1 of iteration time x ranks. */
struct hydra_policy_result {
    const char *name;
    const char *note; /* what to see, one sentence; NULL: written from the numbers */
    double seconds;   /* of one iteration */
    double tokens_per_second;
    double tokens_per_day;
    double mfu;       /* 0..1 */
    double pp_bubble; /* share of time that stages wait in the pipeline */
    double dp_bubble; /* share of time that replicas wait for the slowest */
    double exposed;   /* share of time in communication that nothing hides */
    double busy;      /* share of time that the compute stream computes */
    double cov;       /* coefficient of variation of the microbatches' times, 0.49 = 49% */
    double planning_seconds;
    double days;                           /* to train the tokens asked for */
    double cost;                           /* for those days, in `currency` */
    const Hydra_Schedule_stats *stats;     /* NULL: no degree histogram, no planning columns */
    const struct hydra_schedule *schedule; /* NULL: no plan grid */
    const struct hydra_timeline *stages;   /* NULL: none */
    const struct hydra_timeline *replicas; /* NULL: none */
};

#define HYDRA_POLICY_RESULT_INIT                                                                                       \
    {                                                                                                                  \
        .seconds = NAN, .tokens_per_second = NAN, .tokens_per_day = NAN, .mfu = NAN, .pp_bubble = NAN,                 \
        .dp_bubble = NAN, .exposed = NAN, .busy = NAN, .cov = NAN, .planning_seconds = NAN, .days = NAN, .cost = NAN   \
    }

struct hydra_series {
    const char *name;
    int64_t npoints;
    const double *x; /* [npoints] */
    const double *y; /* [npoints]; NAN: a gap */
};

enum { HYDRA_CHART_LINES = 0, HYDRA_CHART_POINTS = 1 };

/* A sweep, or a roofline (both axes logarithmic, the roof as lines, kernels as points). */
struct hydra_chart {
    const char *title;
    const char *x_label;
    const char *y_label;
    int log_x, log_y; /* logarithmic axis: every value > 0 */
    int nseries;
    const struct hydra_series *series;
    const int *marks; /* NULL: all lines, or [nseries] HYDRA_CHART_* */
    const char *note; /* what to see, one sentence for the report; NULL: none */
};

struct hydra_fact {
    const char *name;  /* "Model" */
    const char *value; /* "DeepSeek-V3, 61 layers" */
};

struct hydra_report {
    const char *title;
    const char *command;  /* that made the report; NULL: not shown */
    const char *currency; /* of cost; NULL: "$" */
    int nfacts;
    const struct hydra_fact *facts;
    int npolicies;
    const struct hydra_policy_result *policies; /* in the order to show them; all are compared with the fastest */
    int ncharts;
    const struct hydra_chart *charts;
};

/* The whole report as one HTML file (well-formed XHTML, nothing fetched): table, timelines on one time axis, plan
 * grids on one colour scale, degree histograms, charts, and a sentence each. */
int hydra_report_html(const struct hydra_report *report, const char *path);

/* Single pictures as SVG files. timeline: the stages (replicas != 0: the replicas) of every policy that has them, one
 * below the other on a common time axis; plan: the grids of every policy; degrees: the histograms. */
int hydra_timeline_svg(const struct hydra_report *report, int replicas, const char *path);
int hydra_plan_svg(const struct hydra_report *report, const char *path);
int hydra_degrees_svg(const struct hydra_report *report, const char *path);
int hydra_chart_svg(const struct hydra_chart *chart, const char *path);

/* Timelines of every policy as Chrome trace JSON (chrome://tracing, ui.perfetto.dev): a process for each policy, a
 * thread for each row. */
int hydra_trace_json(const struct hydra_report *report, const char *path);

#endif
