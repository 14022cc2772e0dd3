/* roofline.h: a roofline picture: speed against FLOPs per byte, under the ceilings measured beside it. */
#ifndef HYDRA_TOOLS_ROOFLINE_H
#define HYDRA_TOOLS_ROOFLINE_H

struct roofline_point {
    const char *label;
    double intensity; /* FLOPs per byte that must be moved */
    double gflops;
    double canary; /* ceilings, 1e9 FLOP/s: the product that stays in L1, and bare multiply-adds */
    double peak;
};

/* Write an SVG. The slope is the bandwidth of a copy measured here. HYDRA_ERR_IO names the path. */
int tool_roofline_draw(const char *path, int npoints, const struct roofline_point points[]);

#endif
