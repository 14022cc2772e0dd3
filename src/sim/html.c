/* html.c: the whole report as one file: table, timelines, plan grids, degree histograms and charts, all policies side
 * by side. Well-formed XHTML that fetches nothing; the script only lights up a microbatch under the pointer. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "sim/draw.h"
#include "sim/svg.h"
#include "sim/words.h"

static const char page_style[] =
    "html{color-scheme:light dark;background:var(--paper);color:var(--ink)}\n"
    "body{font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;max-width:1200px;"
    "margin:0 auto;padding:28px 24px 48px}\n"
    "h1{font-size:26px;line-height:1.25;margin:0 0 4px;font-weight:650;letter-spacing:-.01em}\n"
    "h2{font-size:19px;margin:44px 0 4px;font-weight:650}\n"
    "p{margin:4px 0 12px;max-width:90ch}.lead{font-size:17px}.how{color:var(--soft)}\n"
    "dl{display:flex;flex-wrap:wrap;gap:4px 28px;margin:12px 0 16px}"
    "dl div{display:flex;gap:7px}dt{color:var(--soft)}dd{margin:0}\n"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:14px;width:100%;margin:14px 0 6px}\n"
    "th{font-weight:500;color:var(--soft);text-align:right;vertical-align:bottom;padding:4px 0 4px 12px;"
    "border-bottom:1px solid var(--soft);line-height:1.25}\n"
    "td{text-align:right;padding:5px 0 5px 12px;border-bottom:1px solid var(--line);white-space:nowrap}\n"
    "th:first-child,td:first-child{text-align:left;padding-left:0;font-weight:600}td.best{font-weight:650}\n"
    "figure{margin:14px 0 22px;break-inside:avoid}figcaption{margin:0 0 2px}"
    "figcaption b{font-weight:650;margin-right:.8em}\n"
    "svg{width:100%;height:auto;display:block;overflow:visible}svg .away{opacity:.25}\n"
    "code{font-family:ui-monospace,'SF Mono',Menlo,Consolas,monospace;font-size:13px;overflow-wrap:anywhere}\n"
    "footer{margin-top:40px;padding-top:10px;border-top:1px solid var(--line);color:var(--soft);font-size:13px}\n"
    "@media screen and (max-width:820px){svg{min-width:820px}}\n" /* a narrow window scrolls: words stay legible */
    "@page{size:A4 landscape;margin:12mm}\n"
    "@media print{body{max-width:none;padding:0;font-size:11px}h2,.how{break-after:avoid}table{break-inside:avoid}}\n";

/* Under the pointer: the same microbatch in all rows of its timeline, the others paler. No '<' or '&': this is XML. */
static const char page_script[] =
    "document.querySelectorAll('figure svg').forEach(function(svg){\n"
    "  function mark(event){\n"
    "    var bar=event.type=='mouseover'?event.target.getAttribute('class')||'':'', found=/\\bm\\d+/.exec(bar);\n"
    "    svg.querySelectorAll('[class*=\" m\"]').forEach(function(other){\n"
    "      if(other.tagName=='rect')other.classList.toggle('away',found?"
    "!other.classList.contains(found[0]):false);});\n"
    "  }\n"
    "  svg.addEventListener('mouseover',mark);svg.addEventListener('mouseout',mark);\n"
    "});\n";

/* Name of a policy and what to see in its picture. */
static void put_sentence(FILE *page, const char *name, const char *text)
{
    fputs("<figcaption>", page);
    if (name[0] != '\0') {
        fputs("<b>", page);
        hydra_xml_text(page, name);
        fputs("</b>", page);
    }
    hydra_xml_text(page, text);
    fputs("</figcaption>\n", page);
}

static void put_times(FILE *page, const struct hydra_report *report)
{
    if (hydra_draw_times_height(report) <= 0.0)
        return;
    fputs("<figure>\n", page);
    hydra_svg_begin(page, HYDRA_DRAW_WIDTH, hydra_draw_times_height(report), false, "where the time goes");
    hydra_draw_times(page, report);
    hydra_svg_end(page);
    fputs("</figure>\n", page);
}

static int put_timelines(FILE *page, const struct hydra_report *report, int replicas)
{
    const double axis = hydra_timeline_axis(report, replicas);
    char text[1024];
    int status = HYDRA_SUCCESS;

    if (!(axis > 0.0))
        return HYDRA_SUCCESS;
    fprintf(page, "<h2>%s</h2>\n<p class=\"how\">%s</p>\n", replicas ? "Replicas" : "Pipeline",
            replicas
                ? "One row a replica; the gradient reduce-scatter can start only when the slowest has finished."
                : "One row a pipeline stage, all policies on one time axis. Grey is idle: the less grey, the better.");
    hydra_svg_begin(page, HYDRA_DRAW_WIDTH, HYDRA_DRAW_LEGEND_HEIGHT, false, "colours");
    hydra_draw_timeline_legend(page, report, replicas);
    hydra_svg_end(page);
    for (int i = 0; i < report->npolicies; i++) {
        const struct hydra_timeline *timeline = hydra_timeline_of(&report->policies[i], replicas);

        if (timeline == NULL)
            continue;
        fputs("<figure>\n", page);
        if (replicas)
            hydra_words_replicas(timeline, text, sizeof text);
        else
            hydra_words_time(report, i, text, sizeof text);
        put_sentence(page, report->policies[i].name, text);
        hydra_svg_begin(page, HYDRA_DRAW_WIDTH, hydra_draw_timeline_height(timeline), false, report->policies[i].name);
        HYDRA_TRY(hydra_draw_timeline(page, report, i, replicas, axis, false));
        hydra_svg_end(page);
        fputs("</figure>\n", page);
    }
fail:
    return status;
}

static int put_plans(FILE *page, const struct hydra_report *report)
{
    struct hydra_grid *grids = NULL;
    double top;
    bool any = false;
    char text[1024];
    int status = HYDRA_SUCCESS;

    for (int i = 0; i < report->npolicies; i++)
        any |= report->policies[i].schedule != NULL;
    if (!any)
        return HYDRA_SUCCESS;
    HYDRA_TRY(hydra_grids_make(report, &grids, &top));
    fputs("<h2>Plans</h2>\n<p class=\"how\">One row a microbatch, one column a slot, one box a group of slots that ",
          page);
    fputs("carries its documents together. A microbatch lasts as long as its fullest slot: the bars of a perfect plan ",
          page);
    fputs("add up to 100%.</p>\n", page);
    hydra_table_plans(page, report);
    hydra_svg_begin(page, HYDRA_DRAW_WIDTH, HYDRA_DRAW_LEGEND_HEIGHT, false, "colours");
    hydra_draw_ramp(page, top);
    hydra_svg_end(page);
    for (int i = 0; i < report->npolicies; i++) {
        const struct hydra_policy_result *policy = &report->policies[i];

        if (policy->schedule == NULL)
            continue;
        fputs("<figure>\n", page);
        hydra_words_plan(policy->schedule, &grids[i], text, sizeof text);
        put_sentence(page, policy->name, text);
        hydra_svg_begin(page, HYDRA_DRAW_WIDTH, hydra_draw_plan_height(policy->schedule), false, policy->name);
        HYDRA_TRY(hydra_draw_plan(page, NULL, policy->schedule, &grids[i], top));
        hydra_svg_end(page);
        fputs("</figure>\n", page);
    }
fail:
    hydra_grids_free(report, &grids);
    return status;
}

static void put_degrees(FILE *page, const struct hydra_report *report)
{
    bool any = false;

    for (int i = 0; i < report->npolicies; i++)
        any |= report->policies[i].stats != NULL;
    if (!any)
        return;
    fputs("<h2>Degrees</h2>\n<p class=\"how\">Share of the slots that work in a group of each size, over all "
          "microbatches.</p>\n"
          "<figure>\n",
          page);
    for (int i = 0; i < report->npolicies; i++) {
        char text[256];

        if (report->policies[i].stats == NULL)
            continue;
        hydra_words_degrees(report->policies[i].stats, text, sizeof text);
        put_sentence(page, report->policies[i].name, text);
    }
    hydra_svg_begin(page, HYDRA_DRAW_WIDTH, hydra_draw_degrees_height(report), false, "degree histograms");
    hydra_draw_degrees(page, report);
    hydra_svg_end(page);
    fputs("</figure>\n", page);
}

static int put_charts(FILE *page, const struct hydra_report *report)
{
    int status = HYDRA_SUCCESS;

    if (report->ncharts > 0)
        fputs("<h2>Sweeps</h2>\n", page);
    for (int i = 0; i < report->ncharts; i++) {
        fputs("<figure>\n", page);
        if (report->charts[i].note != NULL)
            put_sentence(page, "", report->charts[i].note);
        hydra_svg_begin(page, HYDRA_DRAW_WIDTH, HYDRA_DRAW_CHART_HEIGHT, false, report->charts[i].title);
        HYDRA_TRY(hydra_draw_chart(page, &report->charts[i]));
        hydra_svg_end(page);
        fputs("</figure>\n", page);
    }
fail:
    return status;
}

static void put_head(FILE *page, const struct hydra_report *report)
{
    char text[1024];

    fputs("<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n<meta "
          "charset=\"utf-8\"/>\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>",
          page);
    hydra_xml_text(page, report->title);
    fputs("</title>\n<style>\n", page);
    hydra_style_write(page);
    fputs(page_style, page);
    fputs("</style>\n</head>\n<body>\n<h1>", page);
    hydra_xml_text(page, report->title);
    fputs("</h1>\n", page);
    hydra_words_headline(report, text, sizeof text);
    if (text[0] != '\0') {
        fputs("<p class=\"lead\">", page);
        hydra_xml_text(page, text);
        fputs("</p>\n", page);
    }
    fputs(report->nfacts > 0 ? "<dl>\n" : "", page);
    for (int i = 0; i < report->nfacts; i++) {
        fputs("<div><dt>", page);
        hydra_xml_text(page, report->facts[i].name);
        fputs("</dt><dd>", page);
        hydra_xml_text(page, report->facts[i].value);
        fputs("</dd></div>\n", page);
    }
    fputs(report->nfacts > 0 ? "</dl>\n" : "", page);
}

static void put_foot(FILE *page, const struct hydra_report *report)
{
    fputs("<footer>K, M and G are powers of 1,000. Load is attention work: attended pairs over the group's size. Every "
          "bar and "
          "box says its numbers under the pointer.",
          page);
    if (report->command != NULL) {
        fputs("<br/>Made by <code>", page);
        hydra_xml_text(page, report->command);
        fputs("</code>", page);
    }
    fputs("</footer>\n<script>\n", page);
    fputs(page_script, page);
    fputs("</script>\n</body>\n</html>\n", page);
}

int hydra_report_html(const struct hydra_report *report, const char *path)
{
    FILE *page = NULL;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(hydra_page_open(path, &page));
    put_head(page, report);
    put_times(page, report);
    hydra_table_times(page, report);
    HYDRA_TRY(put_timelines(page, report, 0));
    HYDRA_TRY(put_timelines(page, report, 1));
    HYDRA_TRY(put_plans(page, report));
    put_degrees(page, report);
    HYDRA_TRY(put_charts(page, report));
    put_foot(page, report);
fail:
    return hydra_page_close(path, &page, status);
}
