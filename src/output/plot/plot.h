/* Drawing figures.
 *
 * A figure is a list of panels; their numbers stay with the caller. Nothing is drawn until a canvas is
 * given (hm_figure_draw). Drawing then goes top down: figure.c divides the page into cells, in
 * which axes line up because panels of one column share their margins; panel.c (in space: space.c)
 * chooses axes and draws heading, grid, map (map.c) and curves; curve.c turns numbers into the points that can
 * be seen. Lengths are units of the canvas, y points down.
 *
 * Everything is drawn through an hmi_pen, which keeps the first failure of the canvas and ignores
 * all calls after it, so that no drawing function needs to return a status. No font is at hand:
 * text_width.c estimates from above. The canvas is public (hm_canvas): svg.c writes SVG, tool/png.c
 * draws with cairo. results.c decides which panels show a table of results.
 */
#ifndef HMI_OUTPUT_PLOT_PLOT_H
#define HMI_OUTPUT_PLOT_PLOT_H

#include "base/memory.h"
#include "output/plot/axis.h"

#include <hamel/plot.h>

struct hm_figure {
    hm_allocator allocator;
    hmi_arena arena;
    const char *title, *subtitle;
    HMI_ARRAY(hm_panel) panels;
    int columns;
    double width, height; /* 0: chosen */
};

/* ---- the pen ---- */

/* Everything is drawn through this; after a failure nothing more is drawn. */
typedef struct hmi_pen {
    const hm_canvas *canvas;
    const hm_allocator *allocator;
    hm_status status;
} hmi_pen;

void hmi_draw_line(hmi_pen *pen, double x0, double y0, double x1, double y1, uint32_t color,
                   double width);
void hmi_draw_lines(hmi_pen *pen, const double *points, size_t count, const hm_pen *style);
void hmi_draw_circle(hmi_pen *pen, double x, double y, double radius, const hm_pen *style);
void hmi_draw_text(hmi_pen *pen, double x, double y, const char *text, const hm_font *font);

enum { HMI_TEXT_SIZE = 12, HMI_TITLE_SIZE = 17 };
enum { HMI_INK = 0x222222, HMI_SOFT_INK = 0x555555, HMI_FRAME = 0x9a9a9a, HMI_GRID = 0xe4e4e4 };

/* The style of the i-th curve: colours that colour-blind readers can tell apart [Okabe and Ito 2008],
 * with dashes once the colours are used up. */
hm_pen hmi_curve_style(size_t index);

/* An upper estimate: every common sans-serif face is narrower than the one measured. */
double hmi_text_width(const char *utf8, double size, bool bold);

/* ---- curves ---- */

/* Draws points given on the page (x0, y0, x1, y1, ...; NaN interrupts) without those that could not
 * be seen: no drawn point moves by more than a tenth of a unit, extremes included. Overwrites the
 * points. */
void hmi_draw_curve(hmi_pen *pen, double *points, size_t count, const hm_pen *style);
/* Where a curve starts (open) and ends (filled). */
void hmi_draw_ends(hmi_pen *pen, const double *points, size_t count, uint32_t color);

/* ---- panels ---- */

typedef struct hmi_box {
    double x, y, width, height; /* y: the top */
} hmi_box;

typedef struct hmi_margins {
    double left, right, top, bottom;
} hmi_margins;

/* The room a panel needs around its axes in a cell of this size. */
hmi_margins hmi_panel_margins(const hm_panel *panel, hmi_box cell);
/* Draws it with these margins, at least as large as the needed ones. */
void hmi_panel_draw(hmi_pen *pen, const hm_panel *panel, hmi_box cell, hmi_margins margins);

/* map.c: colours in the area of a panel, the bar to the right of it, and the room that the bar needs. */
void hmi_map_draw(hmi_pen *pen, const hm_map *map, hmi_box area, const hmi_axis *x,
                  const hmi_axis *y);
double hmi_map_bar_width(const hm_map *map);
/* Where the cells of a map begin and end: half a step outside the first and the last value. */
void hmi_map_range(const double *values, size_t count, double *low, double *high);

void hmi_space_draw(hmi_pen *pen, const hm_panel *panel, hmi_box area);

/* The smallest and largest finite value of one of x, y, z over all curves of a panel; for log axes
 * of the positive absolute values. false: there is none. */
bool hmi_panel_range(const hm_panel *panel, int dimension, bool log, double *low, double *high);

/* The points of a curve in the plane, 2 x count; NULL without memory (then the pen failed). */
double *hmi_points(hmi_pen *pen, size_t count);
void hmi_points_free(hmi_pen *pen, double *points, size_t count);

#endif
