/* Drawing figures: the figure itself, the pen with its failure remembered, and the pieces.
 *
 *   figure.c   the object, and how its panels share the page
 *   panel.c    axes, grid and curves of one panel in the plane
 *   space.c    the same in space
 *   curve.c    from numbers to points on the page: gaps, decimation
 *   text_width.c     how wide text is
 *   results.c  which panels show a table of results
 *   svg.c           a canvas that writes SVG
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

/* Everything is drawn through this; after a failure nothing more is. */
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

/* Of the i-th curve: colours that people who see red and green alike can tell apart [Okabe and Ito,
 * 2008], and dashes when they are used up. */
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

/* Title and legend, from the top of the box; returns the height they take (drawn where pen is not
 * NULL). */
double hmi_panel_heading(hmi_pen *pen, const hm_panel *panel, hmi_box box);

void hmi_space_draw(hmi_pen *pen, const hm_panel *panel, hmi_box area);

/* The smallest and largest finite value of one of x, y, z over all series of a panel; for log axes
 * of the positive absolute values. false: there is none. */
bool hmi_panel_range(const hm_panel *panel, int dimension, bool log, double *low, double *high);

/* The points of a series in the plane, 2 x count; NULL without memory (then the pen failed). */
double *hmi_points(hmi_pen *pen, size_t count);
void hmi_points_free(hmi_pen *pen, double *points, size_t count);

#endif
