/* The pen: what is drawn goes to the canvas until that fails; and the colours of curves.
 * Verified: test/unit/output/test_svg.c */
#include "output/plot/plot.h"

static void check(hmi_pen *pen, bool good)
{
    if (!good && pen->status == HM_OK)
        pen->status = HM_ERR_IO;
}

void hmi_draw_lines(hmi_pen *pen, const double *points, size_t count, const hm_pen *style)
{
    if (pen->status == HM_OK)
        check(pen, pen->canvas->lines(pen->canvas->user, points, count, style));
}

void hmi_draw_line(hmi_pen *pen, double x0, double y0, double x1, double y1, uint32_t color,
                   double width)
{
    const double points[] = {x0, y0, x1, y1};
    hmi_draw_lines(pen, points, 2, &(hm_pen){color, width, 0, 1});
}

void hmi_draw_circle(hmi_pen *pen, double x, double y, double radius, const hm_pen *style)
{
    if (pen->status == HM_OK)
        check(pen, pen->canvas->circle(pen->canvas->user, x, y, radius, style));
}

void hmi_draw_text(hmi_pen *pen, double x, double y, const char *text, const hm_font *font)
{
    if (pen->status == HM_OK && text && text[0])
        check(pen, pen->canvas->text(pen->canvas->user, x, y, text, font));
}

hm_pen hmi_curve_style(size_t index)
{
    static const uint32_t colors[] = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7,
                                      0xe69f00, 0x56b4e9, 0x333333};
    enum { COLORS = sizeof colors / sizeof *colors };
    static const double dashes[] = {0, 6, 2.5};
    return (hm_pen){colors[index % COLORS], 1.5, dashes[index / COLORS % 3], 1};
}
