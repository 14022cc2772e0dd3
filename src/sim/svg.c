/* svg.c: text of SVG and XHTML: shapes, escaped words, one style sheet. */
#include "sim/svg.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/error.h"

int hydra_page_open(const char *path, FILE **page)
{
    FILE *opened = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");

    if (opened == NULL)
        return hydra_error(HYDRA_ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
    *page = opened;
    return HYDRA_SUCCESS;
}

int hydra_page_close(const char *path, FILE **page, int status)
{
    int failed;

    if (*page == NULL)
        return status;
    failed = ferror(*page) != 0;
    failed |= (*page == stdout ? fflush(*page) : fclose(*page)) != 0;
    *page = NULL;
    if (status == HYDRA_SUCCESS && failed)
        return hydra_error(HYDRA_ERR_IO, "%s: not all could be written: %s", path, strerror(errno));
    return status;
}

int hydra_utf8_bytes(const char *text)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t code = (unsigned char)text[0];
    int bytes = code < 0x80 ? 1 : code >> 5 == 6 ? 2 : code >> 4 == 14 ? 3 : code >> 3 == 30 ? 4 : 0;

    if (bytes <= 1)
        return bytes;
    code &= 0xffu >> (bytes + 1);
    for (int i = 1; i < bytes; i++) {
        if ((unsigned char)text[i] >> 6 != 2)
            return 0;
        code = code << 6 | ((unsigned char)text[i] & 0x3f);
    }
    return code < least[bytes] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? 0 : bytes;
}

/* What stands for a character in XML; NULL: itself. */
static const char *xml_entity(const char *c, int bytes)
{
    static const char replacement[] = "\xef\xbf\xbd";
    const unsigned char first = (unsigned char)*c;

    if (bytes == 0 || (first < 0x20 && first != '\t' && first != '\n') || first == 0x7f)
        return replacement;
    if (bytes == 3 && memcmp(c, "\xef\xbf\xbe", 3) >= 0 && memcmp(c, "\xef\xbf\xbf", 3) <= 0)
        return replacement; /* U+FFFE and U+FFFF are not XML characters */
    switch (first) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void hydra_xml_text(FILE *page, const char *text)
{
    while (*text != '\0') {
        int bytes = hydra_utf8_bytes(text);
        const char *entity = xml_entity(text, bytes);

        if (entity != NULL)
            fputs(entity, page);
        else
            fwrite(text, 1, (size_t)bytes, page);
        text += bytes == 0 ? 1 : bytes;
    }
}

static void xml_vprintf(FILE *page, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));

static void xml_vprintf(FILE *page, const char *format, va_list arguments)
{
    char text[1024];

    vsnprintf(text, sizeof text, format, arguments);
    hydra_xml_text(page, text);
}

void hydra_xml_printf(FILE *page, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    xml_vprintf(page, format, arguments);
    va_end(arguments);
}

/* Anchors of the load ramp, pale yellow to deep blue: lightness falls evenly, so it reads without hue. */
static const unsigned char ramp[][3] = {{0xf4, 0xe8, 0x9a}, {0xc3, 0xdf, 0x9f}, {0x7f, 0xc8, 0xae}, {0x3f, 0xa9, 0xba},
                                        {0x2a, 0x82, 0xb0}, {0x26, 0x5a, 0x9c}, {0x1f, 0x33, 0x75}};

/* `dark` turns the ramp over: more load is always further from the paper. */
static void write_ramp(FILE *page, bool dark)
{
    const int last = (int)(sizeof ramp / sizeof ramp[0]) - 1;

    for (int level = 0; level < HYDRA_RAMP; level++) {
        double at = (double)(dark ? HYDRA_RAMP - 1 - level : level) * last / (HYDRA_RAMP - 1);
        int low = (int)at < last ? (int)at : last - 1;
        int colour[3];

        for (int i = 0; i < 3; i++)
            colour[i] = (int)lrint(ramp[low][i] + (at - low) * (ramp[low + 1][i] - ramp[low][i]));
        fprintf(page, ".q%d{fill:#%02x%02x%02x}.t%d{fill:%s}", level, (unsigned)colour[0], (unsigned)colour[1],
                (unsigned)colour[2], level, at < 3.4 ? "#14213d" : "#fff");
    }
    fputc('\n', page);
}

static const char style_light[] =
    ":root{--paper:#fff;--ink:#1c2430;--soft:#5a6575;--line:#dde1e7;--idle:#f0f2f5;--mark:#c3372c}\n"
    ".f0{fill:#0b5a8f}.f1{fill:#2c86c4}.f2{fill:#62ade0}.f3{fill:#9fd0f2}\n"
    ".b0{fill:#b85c00}.b1{fill:#dd8a10}.b2{fill:#f0ae4a}.b3{fill:#f8d290}\n"
    ".k2{fill:#009e73}.k3{fill:#b8609a}.k4{fill:#7a8290}.w0{fill:#cfd4dc}.w1{fill:#9aa4b2}\n"
    ".p0{fill:#0072b2}.p1{fill:#d55e00}.p2{fill:#009e73}.p3{fill:#b8609a}.p4{fill:#c48a00}.p5{fill:#3f9fd8}.p6{fill:#"
    "5a6575}\n"
    ".s0{stroke:#0072b2}.s1{stroke:#d55e00}.s2{stroke:#009e73}.s3{stroke:#b8609a}.s4{stroke:#c48a00}.s5{stroke:#3f9fd8}"
    ".s6{stroke:#5a6575}\n";

static const char style_dark[] =
    ":root{--paper:#12161d;--ink:#e6eaf0;--soft:#9aa6b6;--line:#2e3642;--idle:#1d232d;--mark:#ff8a75}\n"
    ".k4{fill:#8b95a5}.w0{fill:#3b4554}.w1{fill:#657184}\n"
    ".p0{fill:#4aa3df}.p1{fill:#ef7f33}.p2{fill:#2dbd94}.p3{fill:#d98abf}.p4{fill:#e6b23a}.p5{fill:#8fd0f7}.p6{fill:#"
    "9aa6b6}\n"
    ".s0{stroke:#4aa3df}.s1{stroke:#ef7f33}.s2{stroke:#2dbd94}.s3{stroke:#d98abf}.s4{stroke:#e6b23a}.s5{stroke:#8fd0f7}"
    ".s6{stroke:#9aa6b6}\n";

/* Words on shades 0 and 1 are white, on 2 and 3 dark, in both schemes, since the bars keep their colours. */
static const char style_shapes[] =
    "svg{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:12px}\n"
    "svg text{fill:var(--ink);font-variant-numeric:tabular-nums;pointer-events:none}\n"
    "svg .soft{fill:var(--soft)}svg .name{font-weight:600;font-size:14px}svg .small{font-size:11px}"
    "svg .strong{font-weight:600}svg .tiny{font-size:10px}svg .end{text-anchor:end}svg .mid{text-anchor:middle}svg "
    ".mark{fill:var(--mark)}\n"
    "svg .on0{fill:#fff}svg .on1{fill:#14213d}\n"
    ".paper{fill:var(--paper)}.idle{fill:var(--idle)}.ink{fill:var(--ink)}.grey{fill:var(--soft)}\n"
    ".rule{stroke:var(--line);stroke-width:1;fill:none}.axis{stroke:var(--soft);stroke-width:1;fill:none}"
    ".limit{stroke:var(--mark);stroke-width:1;stroke-dasharray:3 "
    "2;fill:none}.tick{stroke:var(--ink);stroke-width:1.5}\n"
    ".dash{stroke-dasharray:7 "
    "4}.curve{fill:none;stroke-width:2;stroke-linejoin:round}.group{stroke:var(--paper);stroke-width:1}"
    ".thin{stroke:var(--paper);stroke-width:.4}\n";

void hydra_style_write(FILE *page)
{
    fputs(style_light, page);
    write_ramp(page, false);
    fputs("@media screen and (prefers-color-scheme:dark){\n", page);
    fputs(style_dark, page);
    write_ramp(page, true);
    fputs("}\n", page);
    fputs(style_shapes, page);
}

void hydra_svg_begin(FILE *page, double width, double height, bool alone, const char *label)
{
    const double margin = alone ? 20.0 : 0.0;

    width += 2.0 * margin;
    height += 2.0 * margin;
    if (alone)
        fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", page);
    fputs("<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"", page);
    hydra_svg_number(page, width);
    fputs("\" height=\"", page);
    hydra_svg_number(page, height);
    fputs("\" viewBox=\"", page);
    hydra_svg_number(page, -margin);
    fputc(' ', page);
    hydra_svg_number(page, -margin);
    fputc(' ', page);
    hydra_svg_number(page, width);
    fputc(' ', page);
    hydra_svg_number(page, height);
    fputs("\" aria-label=\"", page);
    hydra_xml_text(page, label);
    fputs("\">\n", page);
    if (alone) {
        fputs("<style>\n", page);
        hydra_style_write(page);
        fputs("</style>\n", page);
        hydra_svg_rect(page, "paper", -margin, -margin, width, height);
    }
}

void hydra_svg_end(FILE *page)
{
    fputs("</svg>\n", page);
}

void hydra_svg_shift(FILE *page, double y)
{
    fputs("<g transform=\"translate(0 ", page);
    hydra_svg_number(page, y);
    fputs(")\">\n", page);
}

void hydra_svg_unshift(FILE *page)
{
    fputs("</g>\n", page);
}

void hydra_svg_number(FILE *page, double value)
{
    int64_t hundredths = isfinite(value) && fabs(value) < 1e15 ? llround(value * 100.0) : 0;
    int64_t size = hundredths < 0 ? -hundredths : hundredths;

    if (hundredths < 0)
        fputc('-', page);
    fprintf(page, "%lld", (long long)(size / 100));
    if (size % 10 != 0)
        fprintf(page, ".%02lld", (long long)(size % 100));
    else if (size % 100 != 0)
        fprintf(page, ".%lld", (long long)(size % 100 / 10));
}

static void attribute(FILE *page, const char *name, double value)
{
    fprintf(page, " %s=\"", name);
    hydra_svg_number(page, value);
    fputc('"', page);
}

static void open_rect(FILE *page, const char *css, double x, double y, double width, double height)
{
    fprintf(page, "<rect class=\"%s\"", css);
    attribute(page, "x", x);
    attribute(page, "y", y);
    attribute(page, "width", width > 0.0 ? width : 0.0);
    attribute(page, "height", height > 0.0 ? height : 0.0);
}

void hydra_svg_rect(FILE *page, const char *css, double x, double y, double width, double height)
{
    open_rect(page, css, x, y, width, height);
    fputs("/>\n", page);
}

void hydra_svg_bar(FILE *page, const char *css, double x, double y, double width, double height, const char *format,
                   ...)
{
    va_list arguments;

    open_rect(page, css, x, y, width, height);
    fputs("><title>", page);
    va_start(arguments, format);
    xml_vprintf(page, format, arguments);
    va_end(arguments);
    fputs("</title></rect>\n", page);
}

void hydra_svg_line(FILE *page, const char *css, double x1, double y1, double x2, double y2)
{
    fprintf(page, "<line class=\"%s\"", css);
    attribute(page, "x1", x1);
    attribute(page, "y1", y1);
    attribute(page, "x2", x2);
    attribute(page, "y2", y2);
    fputs("/>\n", page);
}

void hydra_svg_text(FILE *page, const char *css, double x, double y, const char *format, ...)
{
    va_list arguments;

    fprintf(page, "<text class=\"%s\"", css);
    attribute(page, "x", x);
    attribute(page, "y", y);
    fputc('>', page);
    va_start(arguments, format);
    xml_vprintf(page, format, arguments);
    va_end(arguments);
    fputs("</text>\n", page);
}

void hydra_svg_heading(FILE *page, const char *name, const char *facts)
{
    fputs("<text x=\"0\" y=\"14\">", page);
    if (name != NULL) {
        fputs("<tspan class=\"name\">", page);
        hydra_xml_text(page, name);
        fputs("</tspan>", page);
    }
    fputs(name != NULL ? "<tspan class=\"soft\" dx=\"12\">" : "<tspan class=\"soft\">", page);
    hydra_xml_text(page, facts);
    fputs("</tspan></text>\n", page);
}

double hydra_text_width(const char *text, double font_size)
{
    double characters = 0.0;

    for (; *text != '\0'; text++)
        characters += ((unsigned char)*text >> 6) != 2; /* count a UTF-8 character once */
    return 0.64 * font_size * characters;
}

int hydra_ramp_level(double value, double top)
{
    int level = top > 0.0 && value > 0.0 ? (int)(sqrt(value / top) * HYDRA_RAMP) : 0;

    return level < 0 ? 0 : level >= HYDRA_RAMP ? HYDRA_RAMP - 1 : level;
}

int hydra_shade(int chunk, int chunks)
{
    return chunks <= 1 ? 1 : (chunk % chunks * (HYDRA_SHADES - 1) + (chunks - 1) / 2) / (chunks - 1);
}
