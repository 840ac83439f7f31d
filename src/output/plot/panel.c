/* One panel in the plane: heading, grid, axes, curves. */
#include "output/plot/plot.h"

#include <math.h>

static const double line_height = 17, label_gap = 6, tick_length = 4;
static const double x_spacing = 75, y_spacing = 32;
static const double band_opacity = 0.25;

/* ---- ranges ---- */

static const double *values_of(const hm_curve *curve, int dimension)
{
    return dimension == 0 ? curve->x : dimension == 1 ? curve->y : curve->z;
}

static hm_curve_kind kind_of(const hm_panel *panel, size_t index)
{
    return panel->styles ? panel->styles[index].kind : HM_CURVE_LINE;
}

static hm_pen style_of(const hm_panel *panel, size_t index)
{
    return hmi_curve_style(panel->styles ? panel->styles[index].color : index);
}

bool hmi_panel_range(const hm_panel *panel, int dimension, bool log, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t s = 0; s < 2 * panel->curve_count; s++) {
        const hm_curve *curve = &panel->curves[s / 2];
        bool other_side = s % 2 && dimension == 1 && kind_of(panel, s / 2) == HM_CURVE_BAND;
        if (s % 2 && !other_side)
            continue;
        const double *values = values_of(curve, other_side ? 2 : dimension);
        for (size_t i = 0; i < curve->count; i++) {
            double value = log ? fabs(values[i]) : values[i];
            if (!isfinite(value) || (log && value == 0))
                continue;
            *low = fmin(*low, value);
            *high = fmax(*high, value);
        }
    }
    return *low <= *high;
}

static bool is_time_like(const hm_panel *panel)
{
    return !panel->equal && !panel->ends;
}

static void make_axes(const hm_panel *panel, double width, double height, hmi_axis *x, hmi_axis *y)
{
    double x0, x1, y0, y1;
    if (panel->map) {
        hmi_map_range(panel->map->x, panel->map->x_count, &x0, &x1);
        hmi_map_range(panel->map->y, panel->map->y_count, &y0, &y1);
        hmi_axis_make(x, x0, x1, width, x_spacing, false);
        hmi_axis_make(y, y0, y1, height, y_spacing, false);
        return;
    }
    if (!hmi_panel_range(panel, 0, false, &x0, &x1))
        x0 = 0, x1 = 1;
    if (!hmi_panel_range(panel, 1, panel->log_y, &y0, &y1)) {
        y0 = panel->log_y ? 1e-16 : 0; /* all values are zero: show the size of rounding errors */
        y1 = panel->log_y ? 1e-15 : 1;
    }
    if (panel->equal) { /* as many units of value to a unit of page on both */
        double scale = fmax((x1 - x0) / width, (y1 - y0) / height) * 1.08;
        if (!(scale > 0))
            scale = fmax(fmax(fabs(x0), fabs(y0)), 1) / width;
        double cx = x0 + (x1 - x0) / 2, cy = y0 + (y1 - y0) / 2;
        hmi_axis_make(x, cx - scale * width / 2, cx + scale * width / 2, width, x_spacing, false);
        hmi_axis_make(y, cy - scale * height / 2, cy + scale * height / 2, height, y_spacing,
                      false);
        return;
    }
    double air = is_time_like(panel) ? 0
                                     : 0.03 * (x1 - x0); /* a portrait does not touch its axes */
    hmi_axis_make(x, x0 - air, x1 + air, width, x_spacing, !is_time_like(panel));
    if (panel->log_y)
        hmi_axis_make_log(y, y0, y1, height, y_spacing);
    else
        hmi_axis_make(y, y0, y1, height, y_spacing, true);
}

/* ---- heading ---- */

/* A running position in lines of text, wrapped at the right edge. */
typedef struct cursor {
    hmi_box box;
    double x, y; /* y: the base line */
} cursor;

static void make_room(cursor *c, double width)
{
    if (c->x > c->box.x && c->x + width > c->box.x + c->box.width) {
        c->x = c->box.x;
        c->y += line_height;
    }
}

static void put_label(hmi_pen *pen, cursor *c, const char *label)
{
    if (pen)
        hmi_draw_text(pen, c->x, c->y, label, &(hm_font){.size = HMI_TEXT_SIZE, .color = HMI_INK});
    c->x += hmi_text_width(label, HMI_TEXT_SIZE, false) + 14;
}

static void put_swatch(hmi_pen *pen, cursor *c, const hm_panel *panel, size_t index)
{
    const hm_curve *curve = &panel->curves[index];
    bool band = kind_of(panel, index) == HM_CURVE_BAND;
    const double swatch = 18;
    make_room(c, swatch + label_gap + hmi_text_width(curve->label, HMI_TEXT_SIZE, false));
    if (pen) {
        hm_pen style = style_of(panel, index);
        style.width = band ? 8 : 2.2;
        style.opacity = band ? 1 - pow(1 - band_opacity, (double)index + 1) : 1; /* they overlap */
        const double points[] = {c->x, c->y - 4, c->x + swatch, c->y - 4};
        hmi_draw_lines(pen, points, 2, &style);
    }
    c->x += swatch + label_gap;
    put_label(pen, c, curve->label);
}

static void put_end_marks(hmi_pen *pen, cursor *c)
{
    make_room(c, 108);
    if (pen) {
        hm_pen ring = {HMI_SOFT_INK, 1.6, 0, 1}, disc = {HMI_SOFT_INK, 0, 0, 1};
        hmi_draw_circle(pen, c->x + 4, c->y - 4, 3.6, &ring);
        hmi_draw_circle(pen, c->x + 58, c->y - 4, 4.2, &disc);
        hm_font font = {.size = HMI_TEXT_SIZE, .color = HMI_SOFT_INK};
        hmi_draw_text(pen, c->x + 12, c->y, "start", &font);
        hmi_draw_text(pen, c->x + 66, c->y, "end", &font);
    }
    c->x += 108;
}

/* A curve is named in the heading, unless the axes say it. */
static bool needs_legend(const hm_panel *panel)
{
    return panel->curve_count > 1 || (panel->curve_count == 1 && !panel->y_label);
}

/* Title and legend, from the top of the box; returns the height they take (drawn where pen is not
 * NULL). */
static double panel_heading(hmi_pen *pen, const hm_panel *panel, hmi_box box)
{
    cursor c = {box, box.x, box.y + 12};
    if (panel->title) {
        hm_font font = {HMI_TEXT_SIZE, HMI_INK, .bold = true};
        if (pen)
            hmi_draw_text(pen, c.x, c.y, panel->title, &font);
        c.x += hmi_text_width(panel->title, HMI_TEXT_SIZE, true) + 18;
    }
    if (panel->ends)
        put_end_marks(pen, &c);
    for (size_t i = 0; needs_legend(panel) && i < panel->curve_count; i++)
        if (panel->curves[i].label)
            put_swatch(pen, &c, panel, i);
    bool empty = c.x == box.x && c.y == box.y + 12;
    return empty ? 4 : c.y - box.y + 10;
}

/* ---- margins ---- */

static bool is_short(const char *label)
{
    return hmi_text_width(label, HMI_TEXT_SIZE, false) < 26;
}

static double widest_label(const hmi_axis *axis)
{
    double width = 0;
    for (int i = 0; i < axis->ticks; i++)
        width = fmax(width, hmi_text_width(axis->label[i], HMI_TEXT_SIZE, false));
    return width;
}

hmi_margins hmi_panel_margins(const hm_panel *panel, hmi_box cell)
{
    hmi_box narrow = cell;
    narrow.width -= panel->space ? 0 : 90; /* the heading stands above the axes */
    hmi_margins m = {.right = panel->map ? hmi_map_bar_width(panel->map) : 10,
                     .top = panel_heading(NULL, panel, narrow)};
    if (panel->space)
        return m;
    hmi_axis x, y;
    make_axes(panel, cell.width - 70, cell.height - m.top - 40, &x, &y);
    m.left = widest_label(&y) + tick_length + label_gap;
    if (panel->y_label)
        m.left += is_short(panel->y_label)
                      ? hmi_text_width(panel->y_label, HMI_TEXT_SIZE, false) + 8
                      : 20;
    if (y.factor[0])
        m.top += 15;
    m.bottom = 20 + (panel->x_label || x.factor[0] ? 15 : 0);
    return m;
}

/* ---- axes ---- */

static void draw_grid(hmi_pen *pen, hmi_box area, const hmi_axis *x, const hmi_axis *y)
{
    double bottom = area.y + area.height, right = area.x + area.width;
    for (int i = 0; i < x->ticks; i++) {
        double at = area.x + (x->tick[i] - x->low) / (x->high - x->low) * x->length;
        hmi_draw_line(pen, at, area.y, at, bottom, HMI_GRID, 0.8);
    }
    for (int i = 0; i < y->ticks; i++) {
        double at = bottom - (y->tick[i] - y->low) / (y->high - y->low) * y->length;
        bool zero = y->tick[i] == 0 && !y->log;
        hmi_draw_line(pen, area.x, at, right, at, zero ? 0xbdbdbd : HMI_GRID, 0.8);
    }
}

static void draw_x_axis(hmi_pen *pen, hmi_box area, const hmi_axis *x, const char *label)
{
    double bottom = area.y + area.height, right = area.x + area.width;
    hm_font font = {HMI_TEXT_SIZE, HMI_SOFT_INK, .anchor = HM_ANCHOR_MIDDLE};
    hmi_draw_line(pen, area.x, bottom, right, bottom, HMI_FRAME, 1);
    for (int i = 0; i < x->ticks; i++) {
        double at = area.x + (x->tick[i] - x->low) / (x->high - x->low) * x->length;
        hmi_draw_line(pen, at, bottom, at, bottom + tick_length, HMI_FRAME, 1);
        hmi_draw_text(pen, at, bottom + 17, x->label[i], &font);
    }
    font.anchor = HM_ANCHOR_END;
    hmi_draw_text(pen, right, bottom + 32, x->factor, &font);
    font = (hm_font){HMI_TEXT_SIZE, HMI_INK, .anchor = HM_ANCHOR_MIDDLE};
    hmi_draw_text(pen, area.x + area.width / 2, bottom + 32, label, &font);
}

static void draw_y_axis(hmi_pen *pen, hmi_box area, double left, const hmi_axis *y,
                        const char *label)
{
    double bottom = area.y + area.height;
    hm_font font = {HMI_TEXT_SIZE, HMI_SOFT_INK, .anchor = HM_ANCHOR_END};
    hmi_draw_line(pen, area.x, area.y, area.x, bottom, HMI_FRAME, 1);
    for (int i = 0; i < y->ticks; i++) {
        double at = bottom - (y->tick[i] - y->low) / (y->high - y->low) * y->length;
        hmi_draw_line(pen, area.x - tick_length, at, area.x, at, HMI_FRAME, 1);
        hmi_draw_text(pen, area.x - tick_length - 3, at + 4, y->label[i], &font);
    }
    font.anchor = HM_ANCHOR_START;
    hmi_draw_text(pen, area.x, area.y - 6, y->factor, &font);
    if (!label)
        return;
    font.color = HMI_INK;
    bool upright = is_short(label);
    double at = area.x - widest_label(y) - tick_length - 8;
    font.upward = !upright;
    font.anchor = upright ? HM_ANCHOR_END : HM_ANCHOR_MIDDLE;
    hmi_draw_text(pen, fmax(at, left + 10), area.y + area.height / 2 + (upright ? 4 : 0), label,
                  &font);
}

/* ---- curves ---- */

static void place_points(const hm_curve *curve, hmi_box area, const hmi_axis *x, const hmi_axis *y,
                         double *points)
{
    double bottom = area.y + area.height, foot = pow(10, y->low);
    for (size_t i = 0; i < curve->count; i++) {
        double value = curve->y[i];
        if (y->log && !isnan(value))
            value = fmax(fabs(value), foot);
        points[2 * i] = area.x + hmi_axis_place(x, curve->x[i]);
        points[2 * i + 1] = bottom - hmi_axis_place(y, value);
    }
}

/* Points first .. last - 1 of a band as one area: along y, and back along z. */
static void fill_piece(hmi_pen *pen, double *there, const double *back, size_t first, size_t last,
                       const hm_pen *style)
{
    size_t count = last - first;
    for (size_t k = 0; k < count; k++) {
        there[2 * (count + k)] = back[2 * (last - 1 - k)];
        there[2 * (count + k) + 1] = back[2 * (last - 1 - k) + 1];
    }
    if (count > 1)
        hmi_draw_lines(pen, there, 2 * count, style);
}

/* Gaps cut a band into areas of their own. */
static void draw_band(hmi_pen *pen, const hm_curve *curve, hmi_box area, const hmi_axis *x,
                      const hmi_axis *y, hm_pen style)
{
    hm_curve other = *curve;
    other.y = curve->z;
    double *points = hmi_points(pen, 4 * curve->count);
    if (!points)
        return;
    double *back = points + 2 * curve->count, *outline = back + 2 * curve->count;
    place_points(curve, area, x, y, points);
    place_points(&other, area, x, y, back);
    style.width = 0;
    style.dash = 0;
    style.opacity = band_opacity;
    for (size_t i = 0, first = 0; i <= curve->count; i++) {
        if (i < curve->count && !isnan(points[2 * i + 1]) && !isnan(back[2 * i + 1])) {
            outline[2 * (i - first)] = points[2 * i];
            outline[2 * (i - first) + 1] = points[2 * i + 1];
            continue;
        }
        fill_piece(pen, outline, back, first, i, &style);
        first = i + 1;
    }
    hmi_points_free(pen, points, 4 * curve->count);
}

static void draw_dots(hmi_pen *pen, const double *points, size_t count, hm_pen style)
{
    double radius = count > 2000 ? 1 : count > 200 ? 1.4 : 2.2;
    style.width = 0;
    style.opacity = count > 200 ? 0.5 : 0.8;
    for (size_t i = 0; i < count; i++)
        if (!isnan(points[2 * i]) && !isnan(points[2 * i + 1]))
            hmi_draw_circle(pen, points[2 * i], points[2 * i + 1], radius, &style);
}

static void draw_series(hmi_pen *pen, const hm_panel *panel, hmi_box area, const hmi_axis *x,
                        const hmi_axis *y)
{
    for (size_t s = 0; s < panel->curve_count; s++) {
        const hm_curve *curve = &panel->curves[s];
        if (curve->count == 0)
            continue;
        double *points = hmi_points(pen, curve->count);
        if (!points)
            return;
        hm_pen style = style_of(panel, s);
        place_points(curve, area, x, y, points);
        if (kind_of(panel, s) == HM_CURVE_BAND)
            draw_band(pen, curve, area, x, y, style);
        else if (kind_of(panel, s) == HM_CURVE_DOTS)
            draw_dots(pen, points, curve->count, style);
        else
            hmi_draw_curve(pen, points, curve->count, &style);
        if (panel->ends) /* the first and the last point are still where they were */
            hmi_draw_ends(pen, points, curve->count, style.color);
        hmi_points_free(pen, points, curve->count);
    }
}

void hmi_panel_draw(hmi_pen *pen, const hm_panel *panel, hmi_box cell, hmi_margins m)
{
    hmi_box area = {cell.x + m.left, cell.y + m.top, cell.width - m.left - m.right,
                    cell.height - m.top - m.bottom};
    area.width = fmax(area.width, 20);
    area.height = fmax(area.height, 20);
    if (panel->space) {
        panel_heading(pen, panel, cell);
        hmi_space_draw(pen, panel, area);
        return;
    }
    hmi_box heading = cell;
    heading.x = area.x;
    heading.width = area.width;
    panel_heading(pen, panel, heading);
    hmi_axis x, y;
    make_axes(panel, area.width, area.height, &x, &y);
    if (panel->map)
        hmi_map_draw(pen, panel->map, area, &x, &y);
    else
        draw_grid(pen, area, &x, &y);
    draw_x_axis(pen, area, &x, panel->x_label);
    draw_y_axis(pen, area, cell.x, &y, panel->y_label);
    draw_series(pen, panel, area, &x, &y);
}
