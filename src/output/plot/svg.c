/* SVG, written as it is drawn. Text stays text, numbers have two decimals, and the same figure is
 * the same bytes on every machine. Verified: test/unit/output/test_svg.c */
#include "base/argument.h"
#include "base/text.h"
#include "output/plot/plot.h"

#include <math.h>
#include <string.h>

typedef struct svg {
    hmi_text text;
    hm_writer writer;
    void *user;
    bool stopped;
} svg;

static bool flush(svg *s)
{
    if (s->text.length && !s->stopped && !s->text.failed)
        s->stopped = !s->writer(s->user, s->text.data, s->text.length);
    s->text.length = 0;
    return !s->stopped && !s->text.failed;
}

static bool flush_if_large(svg *s)
{
    return s->text.length < 1 << 15 ? !s->text.failed : flush(s);
}

/* At most two decimals, by whole numbers: no locale, no "-0". */
static void add_number(svg *s, double x)
{
    if (!(fabs(x) < 1e12))
        x = 0;
    long long hundredths = llround(100 * x);
    unsigned long long size = (unsigned long long)(hundredths < 0 ? -hundredths : hundredths);
    int rest = (int)(size % 100);
    hmi_text_addf(&s->text, "%s%llu", hundredths < 0 ? "-" : "", size / 100);
    if (rest % 10)
        hmi_text_addf(&s->text, ".%02d", rest);
    else if (rest)
        hmi_text_addf(&s->text, ".%d", rest / 10);
}

static void add_attribute(svg *s, const char *name, double value)
{
    hmi_text_addf(&s->text, " %s=\"", name);
    add_number(s, value);
    hmi_text_add(&s->text, "\"");
}

/* What XML does not allow becomes '?'. */
static void add_escaped(svg *s, const char *utf8)
{
    size_t length = strlen(utf8);
    while (length > 0) {
        uint32_t c = 0;
        int bytes = hmi_utf8_decode(utf8, length, &c);
        if (bytes < 1 || c < ' ' || (c & 0xFFFE) == 0xFFFE)
            hmi_text_add(&s->text, "?");
        else if (c == '<')
            hmi_text_add(&s->text, "&lt;");
        else if (c == '>')
            hmi_text_add(&s->text, "&gt;");
        else if (c == '&')
            hmi_text_add(&s->text, "&amp;");
        else
            hmi_text_add_bytes(&s->text, utf8, (size_t)bytes);
        utf8 += bytes < 1 ? 1 : bytes;
        length -= bytes < 1 ? 1 : (size_t)bytes;
    }
}

static void add_pen(svg *s, const hm_pen *pen)
{
    if (pen->width > 0) {
        hmi_text_addf(&s->text, " fill=\"none\" stroke=\"#%06x\"", (unsigned)pen->color);
        add_attribute(s, "stroke-width", pen->width);
    } else {
        hmi_text_addf(&s->text, " fill=\"#%06x\"", (unsigned)pen->color);
    }
    if (pen->dash > 0)
        add_attribute(s, "stroke-dasharray", pen->dash);
    if (pen->opacity < 1)
        add_attribute(s, "opacity", pen->opacity);
}

/* ---- the canvas ---- */

static bool begin(void *user, double width, double height, const char *title)
{
    svg *s = user;
    hmi_text_add(&s->text, "<svg xmlns=\"http://www.w3.org/2000/svg\"");
    add_attribute(s, "width", width);
    add_attribute(s, "height", height);
    hmi_text_add(&s->text, " viewBox=\"0 0 ");
    add_number(s, width);
    hmi_text_add(&s->text, " ");
    add_number(s, height);
    hmi_text_add(&s->text, "\" font-family=\"Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', "
                           "sans-serif\" stroke-linejoin=\"round\" stroke-linecap=\"round\">\n");
    if (title) {
        hmi_text_add(&s->text, "<title>");
        add_escaped(s, title);
        hmi_text_add(&s->text, "</title>\n");
    }
    hmi_text_add(&s->text, "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
    return flush_if_large(s);
}

static bool lines(void *user, const double *points, size_t count, const hm_pen *pen)
{
    svg *s = user;
    hmi_text_add(&s->text, "<path");
    add_pen(s, pen);
    hmi_text_add(&s->text, " d=\"M");
    for (size_t i = 0; i < count; i++) {
        hmi_text_add(&s->text, i == 0 ? "" : i % 16 == 0 ? "\nL" : " ");
        add_number(s, points[2 * i]);
        hmi_text_add(&s->text, ",");
        add_number(s, points[2 * i + 1]);
        if (!flush_if_large(s))
            return false;
    }
    hmi_text_add(&s->text, "\"/>\n");
    return flush_if_large(s);
}

static bool circle(void *user, double x, double y, double radius, const hm_pen *pen)
{
    svg *s = user;
    hmi_text_add(&s->text, "<circle");
    add_attribute(s, "cx", x);
    add_attribute(s, "cy", y);
    add_attribute(s, "r", radius);
    add_pen(s, pen);
    hmi_text_add(&s->text, "/>\n");
    return flush_if_large(s);
}

static bool text(void *user, double x, double y, const char *utf8, const hm_font *font)
{
    static const char *const anchor[] = {"start", "middle", "end"};
    svg *s = user;
    hmi_text_add(&s->text, "<text");
    add_attribute(s, "x", x);
    add_attribute(s, "y", y);
    add_attribute(s, "font-size", font->size);
    hmi_text_addf(&s->text, " fill=\"#%06x\"", (unsigned)font->color);
    if (font->anchor != HM_ANCHOR_START)
        hmi_text_addf(&s->text, " text-anchor=\"%s\"", anchor[font->anchor]);
    if (font->bold)
        hmi_text_add(&s->text, " font-weight=\"bold\"");
    if (font->upward) {
        hmi_text_add(&s->text, " transform=\"rotate(-90 ");
        add_number(s, x);
        hmi_text_add(&s->text, " ");
        add_number(s, y);
        hmi_text_add(&s->text, ")\"");
    }
    hmi_text_add(&s->text, ">");
    add_escaped(s, utf8);
    hmi_text_add(&s->text, "</text>\n");
    return flush_if_large(s);
}

static bool end(void *user)
{
    svg *s = user;
    hmi_text_add(&s->text, "</svg>\n");
    return flush(s);
}

hm_status hm_svg_draw(const hm_allocator *allocator, hm_draw_function draw, void *drawing,
                      hm_writer writer, void *user)
{
    HMI_ARGUMENT(NULL, draw && writer, "a function that draws and a writer are needed");
    hm_allocator memory = allocator ? *allocator : hm_allocator_default();
    svg s = {.writer = writer, .user = user};
    hmi_text_init(&s.text, &memory);
    hm_canvas canvas = {&s, begin, lines, circle, text, end};
    hm_status status = draw(drawing, &canvas) && flush(&s) ? HM_OK : HM_ERR_IO;
    if (s.text.failed)
        status = HM_ERR_NOMEM;
    hmi_text_release(&s.text);
    return status;
}

hm_status hm_figure_svg(const hm_figure *figure, hm_writer writer, void *user)
{
    HMI_ARGUMENT(NULL, figure && writer, "a figure and a writer are needed");
    svg s = {.writer = writer, .user = user};
    hmi_text_init(&s.text, &figure->allocator);
    hm_canvas canvas = {&s, begin, lines, circle, text, end};
    hm_status status = hm_figure_draw(figure, &canvas);
    if (s.text.failed)
        status = HM_ERR_NOMEM;
    hmi_text_release(&s.text);
    return status;
}
