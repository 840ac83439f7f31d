/* hm_figure: panels of curves with axes, drawn as SVG (text stays text) or on a canvas of the
 * caller's, which is how the command makes PNG.
 *
 *   hm_figure *figure;
 *   hm_figure_create(NULL, "Pendulum", NULL, &figure);
 *   hm_curve curve = {.label = "x", .x = t, .y = x, .count = rows};
 *   hm_panel panel = {.x_label = "t", .y_label = "x", .curves = &curve, .curve_count = 1};
 *   hm_figure_add(figure, &panel);
 *   hm_figure_svg(figure, write_file, file);
 */
#ifndef HAMEL_PLOT_H
#define HAMEL_PLOT_H

#include <hamel/report.h>
#include <hamel/table.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hm_curve_kind {
    HM_CURVE_LINE,
    HM_CURVE_DOTS, /* a dot for each point, in the plane */
    HM_CURVE_BAND  /* the area between y and z, in the plane */
} hm_curve_kind;

/* One curve. The numbers belong to the caller and must outlive the figure; NaN interrupts it. */
typedef struct hm_curve {
    const char *label;
    const double *x, *y, *z; /* z: in space, and of bands */
    size_t count;
} hm_curve;

/* How a curve is drawn. */
typedef struct hm_curve_style {
    hm_curve_kind kind;
    size_t color; /* the same number, the same colour */
} hm_curve_style;

/* Values over a rectangle as colours, with a bar that explains them. x and y ascend; the value at x[i], y[j] is
 * values[j * x_count + i], and NaN leaves a gap. The numbers stay with the caller, as those of curves. */
typedef struct hm_map {
    const double *x, *y, *values;
    size_t x_count, y_count;
    const char *const *categories; /* values are 0, 1, ...: one of these; NULL: they are numbers */
    size_t category_count;
    bool contours; /* lines of equal value, unless the map is so rough that they would cover it */
} hm_map;

/* One pair of axes, or a box in space, with its curves. Zero is the default of every field. */
typedef struct hm_panel {
    const char *title;
    const char *x_label, *y_label, *z_label;
    const hm_curve *curves; /* copied, with their labels */
    size_t curve_count;
    bool space;   /* x, y, z in an orthographic view; else x and y in the plane */
    bool equal;   /* one unit is equally long on all axes */
    bool log_y;   /* logarithmic; zeros are drawn at the foot, signs are ignored */
    bool ends;    /* mark where each curve starts and ends */
    int row_span; /* how many rows and columns of the figure's grid it takes; 0: one */
    int column_span;
    const hm_map *map; /* in the plane, below the curves; copied, with the names of categories */
    const hm_curve_style *styles; /* of every curve; NULL: lines, each with its own colour */
} hm_panel;

typedef struct hm_figure hm_figure;

/* A figure with a title and a line below it, either NULL. allocator NULL: the default. */
HM_API HM_MUST_CHECK hm_status hm_figure_create(const hm_allocator *allocator, const char *title,
                                                const char *subtitle, hm_figure **figure);
HM_API void hm_figure_destroy(hm_figure *figure);
/* Panels fill the grid row by row, in the order they are added. */
HM_API HM_MUST_CHECK hm_status hm_figure_add(hm_figure *figure, const hm_panel *panel);
HM_API size_t hm_figure_panel_count(const hm_figure *figure);
/* Columns of the grid (default 1), and the size of the whole in units of 1/96 inch (0: chosen). */
HM_API void hm_figure_set_columns(hm_figure *figure, int columns);
HM_API void hm_figure_set_size(hm_figure *figure, double width, double height);

/* HM_ERR_IO: the writer stopped.  HM_ERR_LIMIT: more than 64 rows of panels. */
HM_API HM_MUST_CHECK hm_status hm_figure_svg(const hm_figure *figure, hm_writer writer, void *user);

/* ---- figures of results ---- */

/* The columns of a table against column `against`, one curve each; columns that differ much in scale
 * get panels of their own. */
HM_API HM_MUST_CHECK hm_status hm_figure_histories(hm_figure *figure, const hm_table *table,
                                                   size_t against, const size_t *columns,
                                                   size_t count);
/* The page that shows a run, from a table with columns as `hamel run --csv` writes them: the path in
 * the plane or in space where there are such coordinates (else phase portraits), time histories of
 * coordinates, velocities and outputs, energy and its balance, and violation where there are such
 * columns. Of very many curves of a kind the first are shown, on six panels at most, and a heading says
 * how many there are. */
HM_API HM_MUST_CHECK hm_status hm_figure_run(hm_figure *figure, const hm_table *table);

/* ---- drawing elsewhere ---- */

typedef enum hm_anchor { HM_ANCHOR_START, HM_ANCHOR_MIDDLE, HM_ANCHOR_END } hm_anchor;

typedef struct hm_pen {
    uint32_t color; /* 0xRRGGBB */
    double width;   /* 0: filled, not stroked */
    double dash;    /* length of dashes and gaps; 0: solid */
    double opacity; /* 0 .. 1 */
} hm_pen;

typedef struct hm_font {
    double size;
    uint32_t color;
    bool bold;
    bool upward; /* turned by 90 degrees, reading upwards */
    hm_anchor anchor;
} hm_font;

/* Receives a drawing. Lengths in 1/96 inch, x to the right, y downward. Functions return false to
 * stop. */
typedef struct hm_canvas {
    void *user;
    bool (*begin)(void *user, double width, double height, const char *title);
    /* points: x0, y0, x1, y1, ... */
    bool (*lines)(void *user, const double *points, size_t count, const hm_pen *pen);
    bool (*circle)(void *user, double x, double y, double radius, const hm_pen *pen);
    /* x, y: the anchor on the base line */
    bool (*text)(void *user, double x, double y, const char *utf8, const hm_font *font);
    bool (*end)(void *user);
} hm_canvas;

HM_API HM_MUST_CHECK hm_status hm_figure_draw(const hm_figure *figure, const hm_canvas *canvas);

/* Draws a page on a canvas, from `begin` to `end`; false: it stopped, as the canvas did. */
typedef bool (*hm_draw_function)(void *drawing, const hm_canvas *canvas);
/* SVG of any drawing: `draw` is called once. allocator NULL: the default one. HM_ERR_IO: the writer stopped. */
HM_API HM_MUST_CHECK hm_status hm_svg_draw(const hm_allocator *allocator, hm_draw_function draw,
                                           void *drawing, hm_writer writer, void *user);

#ifdef __cplusplus
}
#endif
#endif
