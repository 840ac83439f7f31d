/* Figures: panels in a grid.
 *
 * Panels take the first free place, row by row. Axes line up: all panels that begin in one column
 * have the largest left margin any of them needs, and so on for the other sides.
 * Verified: test/unit/output/test_svg.c
 */
#include "base/argument.h"
#include "output/plot/plot.h"

#include <math.h>
#include <string.h>

enum { MOST_COLUMNS = 8, MOST_ROWS = 64 };

/* ---- the object ---- */

/* A copy in the arena; NULL stays NULL. */
static bool copy_text(hm_figure *figure, const char **text)
{
    if (!*text)
        return true;
    *text = hmi_arena_text(&figure->arena, *text, strlen(*text));
    return *text != NULL;
}

hm_status hm_figure_create(const hm_allocator *allocator, const char *title, const char *subtitle,
                           hm_figure **figure)
{
    HMI_ARGUMENT(NULL, figure && hmi_allocator_is_valid(allocator),
                 "a place for the figure is needed");
    hm_allocator memory = allocator ? *allocator : hm_allocator_default();
    hm_figure *made = hmi_alloc(&memory, sizeof *made);
    if (!made)
        return HM_ERR_NOMEM;
    *made = (hm_figure){.allocator = memory, .title = title, .subtitle = subtitle, .columns = 1};
    hmi_arena_init(&made->arena, &made->allocator);
    if (!copy_text(made, &made->title) || !copy_text(made, &made->subtitle)) {
        hm_figure_destroy(made);
        return HM_ERR_NOMEM;
    }
    *figure = made;
    return HM_OK;
}

void hm_figure_destroy(hm_figure *figure)
{
    if (!figure)
        return;
    hm_allocator memory = figure->allocator;
    hmi_array_release(&memory, &figure->panels);
    hmi_arena_release(&figure->arena);
    hmi_free(&memory, figure, sizeof *figure);
}

/* What is counted is there. */
static bool panel_is_valid(const hm_panel *panel)
{
    if (panel->curve_count > SIZE_MAX / 4 / sizeof(hm_curve) ||
        (panel->curve_count && !panel->curves) || panel->row_span < 0 || panel->column_span < 0)
        return false;
    for (size_t i = 0; i < panel->curve_count; i++) {
        const hm_curve *c = &panel->curves[i];
        bool needs_z = panel->space || (panel->styles && panel->styles[i].kind == HM_CURVE_BAND);
        if (c->count && (!c->x || !c->y || (needs_z && !c->z)))
            return false;
    }
    const hm_map *m = panel->map;
    return !m || (!panel->space && m->x && m->y && m->values && m->x_count && m->y_count &&
                  (m->categories || !m->category_count));
}

/* The map of a panel, with the names of its categories. */
static bool copy_map(hm_figure *figure, const hm_map **map)
{
    if (!*map)
        return true;
    hm_map *copy = hmi_arena_alloc(&figure->arena, sizeof *copy);
    size_t count = (*map)->category_count;
    const char **names = hmi_arena_alloc(&figure->arena, (count + 1) * sizeof *names);
    if (!copy || !names)
        return false;
    *copy = **map;
    for (size_t i = 0; i < count; i++) {
        names[i] = copy->categories[i];
        if (!copy_text(figure, &names[i]))
            return false;
    }
    copy->categories = (*map)->categories ? names : NULL;
    *map = copy;
    return true;
}

hm_status hm_figure_add(hm_figure *figure, const hm_panel *panel)
{
    HMI_ARGUMENT(NULL, figure && panel && panel_is_valid(panel),
                 "a panel with its curves is needed");
    hm_panel copy = *panel;
    size_t bytes = panel->curve_count * sizeof *panel->curves;
    hm_curve *curves = hmi_arena_alloc(&figure->arena, bytes);
    bool good = curves != NULL && copy_text(figure, &copy.title) &&
                copy_text(figure, &copy.x_label) && copy_text(figure, &copy.y_label) &&
                copy_text(figure, &copy.z_label) && copy_map(figure, &copy.map);
    for (size_t i = 0; good && i < panel->curve_count; i++) {
        curves[i] = panel->curves[i];
        good = copy_text(figure, &curves[i].label);
    }
    copy.curves = curves;
    if (good && panel->styles) {
        bytes = panel->curve_count * sizeof *panel->styles;
        hm_curve_style *styles = hmi_arena_alloc(&figure->arena, bytes);
        good = styles != NULL;
        if (good)
            memcpy(styles, panel->styles, bytes);
        copy.styles = styles;
    }
    if (!good || !hmi_array_push(&figure->allocator, &figure->panels, copy))
        return HM_ERR_NOMEM;
    return HM_OK;
}

size_t hm_figure_panel_count(const hm_figure *figure)
{
    if (!figure)
        return 0;
    return figure->panels.count;
}

void hm_figure_set_columns(hm_figure *figure, int columns)
{
    if (!figure)
        return;
    figure->columns = columns < 1 ? 1 : columns > MOST_COLUMNS ? MOST_COLUMNS : columns;
}

void hm_figure_set_size(hm_figure *figure, double width, double height)
{
    bool good = figure && width >= 0 && height >= 0 && isfinite(width) && isfinite(height);
    if (!good)
        return;
    figure->width = width;
    figure->height = height;
}

/* ---- the grid ---- */

typedef struct place {
    int row, column, rows, columns;
} place;

typedef struct grid {
    int columns, rows;
    double width, top;        /* of the page; where the first row begins */
    double height[MOST_ROWS]; /* of each row */
    double total;             /* height of the page */
    bool taken[MOST_ROWS][MOST_COLUMNS];
    hmi_margins row_margins[MOST_ROWS];       /* top and bottom */
    hmi_margins column_margins[MOST_COLUMNS]; /* left and right */
} grid;

static const double edge = 22, gap = 14;

static bool fits(const grid *g, place p)
{
    if (p.column + p.columns > g->columns || p.row + p.rows > MOST_ROWS)
        return false;
    for (int r = 0; r < p.rows; r++)
        for (int c = 0; c < p.columns; c++)
            if (g->taken[p.row + r][p.column + c])
                return false;
    return true;
}

/* false: the page is full. */
static bool find_place(grid *g, const hm_panel *panel, place *p)
{
    p->rows = panel->row_span > 1 ? panel->row_span : 1;
    p->columns = panel->column_span > 1 ? panel->column_span : 1;
    if (p->columns > g->columns)
        p->columns = g->columns;
    for (p->row = 0; p->row + p->rows <= MOST_ROWS; p->row++)
        for (p->column = 0; p->column < g->columns; p->column++)
            if (fits(g, *p)) {
                for (int r = 0; r < p->rows; r++)
                    memset(&g->taken[p->row + r][p->column], 1, (size_t)p->columns);
                g->rows = p->row + p->rows > g->rows ? p->row + p->rows : g->rows;
                return true;
            }
    return false;
}

static double wanted_height(const hm_figure *figure, const hm_panel *panel)
{
    if (figure->panels.count == 1)
        return panel->map ? 680 : panel->space || panel->equal ? 600 : 440;
    double whole = panel->space || panel->equal || panel->map ? 440 : 200;
    return whole / (panel->row_span > 1 ? panel->row_span : 1);
}

static void size_rows(grid *g, const hm_figure *figure, const place *places)
{
    for (size_t i = 0; i < figure->panels.count; i++)
        for (int r = 0; r < places[i].rows; r++) {
            double *height = &g->height[places[i].row + r];
            *height = fmax(*height, wanted_height(figure, &figure->panels.data[i]));
        }
    double bottom = edge - 8, sum = 0;
    for (int r = 0; r < g->rows; r++)
        sum += g->height[r];
    if (figure->height > 0) {
        double free = fmax(figure->height - g->top - bottom, 60 * g->rows);
        for (int r = 0; r < g->rows; r++)
            g->height[r] *= free / fmax(sum, 1);
        sum = free;
    }
    g->total = g->top + sum + bottom;
}

static hmi_box cell_of(const grid *g, place p)
{
    double wide = (g->width - 2 * edge + gap) / g->columns;
    hmi_box cell = {edge + p.column * wide, g->top, p.columns * wide - gap, -gap};
    for (int r = 0; r < p.row; r++)
        cell.y += g->height[r];
    for (int r = 0; r < p.rows; r++)
        cell.height += g->height[p.row + r];
    return cell;
}

static void gather_margins(grid *g, const hm_figure *figure, const place *places)
{
    for (size_t i = 0; i < figure->panels.count; i++) {
        place p = places[i];
        hmi_margins need = hmi_panel_margins(&figure->panels.data[i], cell_of(g, p));
        hmi_margins *first = &g->row_margins[p.row], *last = &g->row_margins[p.row + p.rows - 1];
        hmi_margins *left = &g->column_margins[p.column];
        hmi_margins *right = &g->column_margins[p.column + p.columns - 1];
        first->top = fmax(first->top, need.top);
        last->bottom = fmax(last->bottom, need.bottom);
        left->left = fmax(left->left, need.left);
        right->right = fmax(right->right, need.right);
    }
}

static hmi_margins margins_of(const grid *g, place p)
{
    return (hmi_margins){g->column_margins[p.column].left,
                         g->column_margins[p.column + p.columns - 1].right,
                         g->row_margins[p.row].top, g->row_margins[p.row + p.rows - 1].bottom};
}

/* ---- drawing ---- */

static double heading_height(const hm_figure *figure)
{
    double height = edge - 4;
    if (figure->title && figure->title[0])
        height += 28;
    if (figure->subtitle && figure->subtitle[0])
        height += 20;
    return height;
}

static void draw_heading(hmi_pen *pen, const hm_figure *figure)
{
    double y = edge + 10;
    if (figure->title && figure->title[0]) {
        hmi_draw_text(pen, edge, y, figure->title,
                      &(hm_font){HMI_TITLE_SIZE, HMI_INK, .bold = true});
        y += 21;
    }
    hmi_draw_text(pen, edge, y, figure->subtitle,
                  &(hm_font){.size = HMI_TEXT_SIZE, .color = HMI_SOFT_INK});
}

static void check(hmi_pen *pen, bool good)
{
    if (!good && pen->status == HM_OK)
        pen->status = HM_ERR_IO;
}

static void draw_page(hmi_pen *pen, const hm_figure *figure, grid *g, place *places)
{
    const hm_canvas *canvas = pen->canvas;
    for (size_t i = 0; i < figure->panels.count; i++)
        if (!find_place(g, &figure->panels.data[i], &places[i])) {
            pen->status = HM_ERR_LIMIT;
            return;
        }
    size_rows(g, figure, places);
    gather_margins(g, figure, places);
    check(pen, canvas->begin(canvas->user, g->width, g->total, figure->title));
    draw_heading(pen, figure);
    for (size_t i = 0; i < figure->panels.count; i++)
        hmi_panel_draw(pen, &figure->panels.data[i], cell_of(g, places[i]),
                       margins_of(g, places[i]));
    if (pen->status == HM_OK)
        check(pen, canvas->end(canvas->user));
}

hm_status hm_figure_draw(const hm_figure *figure, const hm_canvas *canvas)
{
    HMI_ARGUMENT(NULL,
                 figure && canvas && canvas->begin && canvas->lines && canvas->circle &&
                     canvas->text && canvas->end,
                 "a figure and all functions of a canvas are needed");
    hmi_pen pen = {canvas, &figure->allocator, HM_OK};
    size_t bytes = (figure->panels.count + 1) * sizeof(place);
    place *places = hmi_alloc(&figure->allocator, bytes);
    grid *g = hmi_alloc(&figure->allocator, sizeof *g);
    if (places && g) {
        *g = (grid){.columns = figure->columns, .top = heading_height(figure)};
        g->width = figure->width > 0 ? figure->width : figure->columns > 1 ? 1040 : 760;
        draw_page(&pen, figure, g, places);
    } else {
        pen.status = HM_ERR_NOMEM;
    }
    hmi_free(&figure->allocator, g, sizeof *g);
    hmi_free(&figure->allocator, places, bytes);
    return pen.status;
}
