/* svg.h: text of SVG and XHTML: shapes, escaped words, one style sheet for light, dark and print. Knows no pictures. */
#ifndef HYDRA_SIM_SVG_H
#define HYDRA_SIM_SVG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Steps of the load ramp: classes q0 (least) .. q15 (most) fill, t0 .. t15 for words on them. */
enum { HYDRA_RAMP = 16 };

/* Shades of forward and backward: classes f0 .. f3 and b0 .. b3. */
enum { HYDRA_SHADES = 4 };

/* Categorical colours of Okabe and Ito that carry on white and on black: classes s0 .. s6 (stroke), p0 .. p6 (fill). */
enum { HYDRA_CATEGORIES = 7 };

/* Open `path` ("-": standard output); HYDRA_ERR_IO names it. */
int hydra_page_open(const char *path, FILE **page);

/* Close and null the page; returns `status`, or HYDRA_ERR_IO when what was written did not all arrive. */
int hydra_page_close(const char *path, FILE **page, int status);

/* Bytes of the valid UTF-8 character at `text`, 0 when there is none. */
int hydra_utf8_bytes(const char *text);

/* Text with <, >, & and quotes escaped; what XML may not hold (control characters, broken UTF-8) becomes U+FFFD. */
void hydra_xml_text(FILE *page, const char *text);
void hydra_xml_printf(FILE *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The style sheet: colours as classes, for the root element of an SVG file or of a page. */
void hydra_style_write(FILE *page);

/* Picture of a size in px. alone: a file of its own with a margin around, else a part of a page. label: for readers who
 * cannot see it. */
void hydra_svg_begin(FILE *page, double width, double height, bool alone, const char *label);
void hydra_svg_end(FILE *page);

/* What is drawn between the two lies y px lower. */
void hydra_svg_shift(FILE *page, double y);
void hydra_svg_unshift(FILE *page);

/* Shapes in px, y downwards. css: class names. */
void hydra_svg_rect(FILE *page, const char *css, double x, double y, double width, double height);
void hydra_svg_line(FILE *page, const char *css, double x1, double y1, double x2, double y2);
void hydra_svg_text(FILE *page, const char *css, double x, double y, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* First line of a panel: its name (NULL: said elsewhere), and what is said about it. */
void hydra_svg_heading(FILE *page, const char *name, const char *facts);

/* Rectangle with a tool-tip. */
void hydra_svg_bar(FILE *page, const char *css, double x, double y, double width, double height, const char *format,
                   ...) __attribute__((format(printf, 7, 8)));

/* " 12.34" with at most two decimals, '.' in every locale: for the data of a path. */
void hydra_svg_number(FILE *page, double value);

/* Upper bound on the width in px of a text at a font size: what fits here fits in any common sans-serif. */
double hydra_text_width(const char *text, double font_size);

/* Level of the ramp for a value of 0..top: by square root, so that small loads still differ. */
int hydra_ramp_level(double value, double top);

/* Shade of a chunk of `chunks`. */
int hydra_shade(int chunk, int chunks);

#endif
