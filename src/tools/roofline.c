/* roofline.c: draws a roofline as SVG. Both axes are logarithmic. */
#include "tools/roofline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/memory.h"

enum { WIDTH = 900, HEIGHT = 520, LEFT = 70, RIGHT = 330, TOP = 30, BOTTOM = 60 };

struct frame {
    double x0, x1, y0, y1; /* log10 of the axes' ends */
};

static double x_of(const struct frame *f, double intensity)
{
    return LEFT + (log10(intensity) - f->x0) / (f->x1 - f->x0) * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct frame *f, double gflops)
{
    return HEIGHT - BOTTOM - (log10(gflops) - f->y0) / (f->y1 - f->y0) * (HEIGHT - TOP - BOTTOM);
}

/* GB/s of reading and writing far more than the caches hold; best of three, thread CPU time. 0: no memory for it. */
static double copy_bandwidth(void)
{
    enum { BYTES = 128 << 20 };
    char *from = hydra_calloc(BYTES, 1), *to = hydra_calloc(BYTES, 1);
    double best = 0;

    for (int i = 0; from != NULL && to != NULL && i < 4; i++) {
        struct timespec a, b;
        double seconds;

        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
        memcpy(to, from, BYTES);
        __asm__ volatile("" : : "r"(to) : "memory");
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
        seconds = (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
        if (i > 0) /* the first pass meets the pages for the first time */
            best = fmax(best, 2e-9 * BYTES / seconds);
    }
    hydra_free(from);
    hydra_free(to);
    return best;
}

static void draw_axes(FILE *file, const struct frame *f)
{
    for (double e = ceil(f->x0); e <= f->x1; e++)
        fprintf(file,
                "<line x1='%.1f' x2='%.1f' y1='%d' y2='%d' stroke='#ddd'/>"
                "<text x='%.1f' y='%d' text-anchor='middle'>%g</text>\n",
                x_of(f, pow(10, e)), x_of(f, pow(10, e)), TOP, HEIGHT - BOTTOM, x_of(f, pow(10, e)),
                HEIGHT - BOTTOM + 18, pow(10, e));
    for (double e = ceil(f->y0); e <= f->y1; e++)
        fprintf(file,
                "<line x1='%d' x2='%d' y1='%.1f' y2='%.1f' stroke='#ddd'/>"
                "<text x='%d' y='%.1f' text-anchor='end'>%g</text>\n",
                LEFT, WIDTH - RIGHT, y_of(f, pow(10, e)), y_of(f, pow(10, e)), LEFT - 6, y_of(f, pow(10, e)) + 4,
                pow(10, e));
    fprintf(file, "<text x='%d' y='%d' text-anchor='middle'>FLOPs per byte that must be moved</text>\n",
            (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 16);
    fprintf(file, "<text transform='translate(18 %d) rotate(-90)' text-anchor='middle'>GFLOP/s</text>\n", HEIGHT / 2);
}

static void draw_ceiling(FILE *file, const struct frame *f, double gflops, double bandwidth, const char *name)
{
    double ridge = bandwidth > 0 ? gflops / bandwidth : pow(10, f->x0);

    fprintf(file, "<path d='M%.1f %.1f L%.1f %.1f' stroke='#333' fill='none'/>\n", x_of(f, fmax(ridge, pow(10, f->x0))),
            y_of(f, gflops), (double)(WIDTH - RIGHT), y_of(f, gflops));
    fprintf(file, "<text x='%d' y='%.1f'>%s %.0f</text>\n", LEFT + 8, y_of(f, gflops) - 4, name, gflops);
}

int tool_roofline_draw(const char *path, int npoints, const struct roofline_point points[])
{
    static const char *const colors[] = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b"};
    struct frame f = {0, 0, 0, 0};
    double peak = 0, canary = 0, bandwidth = copy_bandwidth(), least = 1, most = 100;
    FILE *file = NULL;
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(npoints > 0, HYDRA_ERR_ARG, "roofline %s: no point to draw", path);
    for (int i = 0; i < npoints; i++) {
        peak = fmax(peak, points[i].peak);
        canary = fmax(canary, points[i].canary);
        least = fmin(least, points[i].gflops);
        most = fmax(most, points[i].intensity);
    }
    f.x1 = ceil(log10(most));
    f.y0 = floor(log10(least));
    f.y1 = ceil(log10(peak));
    file = fopen(path, "w");
    HYDRA_REQUIRE(file != NULL, HYDRA_ERR_IO, "--roofline: %s cannot be written", path);
    fprintf(
        file,
        "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' viewBox='0 0 %d %d' font-family='sans-serif' "
        "font-size='11'>\n<rect width='100%%' height='100%%' fill='white'/>\n",
        WIDTH, HEIGHT, WIDTH, HEIGHT);
    draw_axes(file, &f);
    if (bandwidth > 0) {
        double ridge = peak / bandwidth, low = fmax(1, pow(10, f.y0) / bandwidth);

        fprintf(file, "<path d='M%.1f %.1f L%.1f %.1f' stroke='#333' fill='none'/>\n", x_of(&f, low),
                y_of(&f, low * bandwidth), x_of(&f, ridge), y_of(&f, peak));
        fprintf(file, "<text x='%.1f' y='%.1f'>copy %.1f GB/s</text>\n", x_of(&f, ridge) + 6, y_of(&f, peak / 3),
                bandwidth);
    }
    draw_ceiling(file, &f, peak, bandwidth, "bare multiply-adds");
    draw_ceiling(file, &f, canary, bandwidth, "");
    for (int i = 0; i < npoints; i++) {
        const char *color = colors[(size_t)i % (sizeof colors / sizeof *colors)];

        fprintf(file, "<circle cx='%.1f' cy='%.1f' r='4' fill='%s'/>\n", x_of(&f, points[i].intensity),
                y_of(&f, points[i].gflops), color);
        fprintf(file, "<text x='%d' y='%d' fill='%s'>%s: %.1f, %.2f of canary</text>\n", WIDTH - RIGHT + 12,
                TOP + 14 * i + 8, color, points[i].label, points[i].gflops, points[i].gflops / points[i].canary);
    }
    fprintf(file, "</svg>\n");
    HYDRA_REQUIRE(fclose(file) == 0, HYDRA_ERR_IO, "--roofline: %s cannot be written", path);
    return HYDRA_SUCCESS;

fail:
    return status;
}
