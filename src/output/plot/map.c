/* Maps: values over a rectangle as colours, lines of equal value, and the bar that explains the colours.
 *
 *     ---- colours ----    viridis for numbers, the colours of curves for categories
 *     ---- cells ----      runs of one colour, row by row
 *     ---- contours ----   marching squares
 *     ---- the bar ----
 *
 * Verified: test/tool/sweep_plot.sh
 */
#include "output/plot/plot.h"

#include <math.h>

static const double bar_gap = 14, bar_width = 16, bar_spacing = 40;

/* More cells than this in a direction cannot be seen: then every second, third, ... is drawn. */
enum { MOST_CELLS = 500, SHADES = 256 };

/* ---- colours ---- */

/* Viridis: equal steps of the value look equally different, in grey, too [Smith, van der Walt 2015]; linear
 * between nine of its colours. */
static uint32_t shade(double part)
{
    static const uint32_t colors[] = {0x440154, 0x472d7b, 0x3b528b, 0x2c728e, 0x21908c,
                                      0x27ad81, 0x5dc863, 0xaadc32, 0xfde725};
    double at = fmin(fmax(part, 0), 1) * 8;
    int k = at < 8 ? (int)at : 7;
    uint32_t mixed = 0;
    for (int shift = 0; shift <= 16; shift += 8) {
        double a = colors[k] >> shift & 255, b = colors[k + 1] >> shift & 255;
        mixed |= (uint32_t)lround(a + (at - k) * (b - a)) << shift;
    }
    return mixed;
}

typedef struct scale {
    const hm_map *map;
    double low, high;
} scale;

static scale find_scale(const hm_map *map)
{
    scale s = {map, INFINITY, -INFINITY};
    for (size_t i = 0; i < map->x_count * map->y_count; i++)
        if (isfinite(map->values[i])) {
            s.low = fmin(s.low, map->values[i]);
            s.high = fmax(s.high, map->values[i]);
        }
    if (!(s.low <= s.high))
        s.low = 0, s.high = 1;
    return s;
}

/* A number for the colour; -1: nothing is drawn. */
static long color_index(const scale *s, double value)
{
    if (!isfinite(value))
        return -1;
    if (s->map->categories)
        return value >= 0 && value < (double)s->map->category_count ? (long)value : -1;
    double part = s->high > s->low ? (value / 2 - s->low / 2) / (s->high / 2 - s->low / 2) : 0.5;
    return (long)fmin(part * SHADES, SHADES - 1);
}

static uint32_t color_of(const scale *s, long index)
{
    return s->map->categories ? hmi_curve_style((size_t)index).color
                              : shade((double)index / (SHADES - 1));
}

/* ---- cells ---- */

void hmi_map_range(const double *v, size_t count, double *low, double *high)
{
    double first = count > 1 ? (v[1] - v[0]) / 2 : 0.5;
    double last = count > 1 ? (v[count - 1] - v[count - 2]) / 2 : 0.5;
    *low = v[0] - first;
    *high = v[count - 1] + last;
}

/* Where cell i begins; i = count: where the last one ends. */
static double edge_of(const double *v, size_t count, size_t i)
{
    double low, high;
    hmi_map_range(v, count, &low, &high);
    return i == 0 ? low : i == count ? high : v[i - 1] / 2 + v[i] / 2;
}

static void fill(hmi_pen *pen, double x0, double y0, double x1, double y1, uint32_t color)
{
    const double points[] = {x0, y0, x1, y0, x1, y1, x0, y1};
    hmi_draw_lines(pen, points, 4, &(hm_pen){color, 0, 0, 1});
}

typedef struct drawing {
    hmi_pen *pen;
    scale scale;
    hmi_box area;
    const hmi_axis *x, *y;
    size_t step_x, step_y;
} drawing;

/* Cells first .. end - 1 of a row, which have one colour. Areas overlap a little to the right and upwards, where
 * later ones cover them: otherwise the background shines through between those that just touch. */
static void fill_run(const drawing *d, size_t first, size_t end, double y0, double y1, long color)
{
    const hm_map *m = d->scale.map;
    double right = d->area.x + d->area.width;
    double x0 = d->area.x + hmi_axis_place(d->x, edge_of(m->x, m->x_count, first));
    double x1 = d->area.x + hmi_axis_place(d->x, edge_of(m->x, m->x_count, end));
    if (color >= 0)
        fill(d->pen, x0, y0, fmin(x1 + 0.4, right), y1, color_of(&d->scale, color));
}

static void fill_row(const drawing *d, size_t j)
{
    const hm_map *m = d->scale.map;
    size_t next = j + d->step_y < m->y_count ? j + d->step_y : m->y_count, first = 0;
    const double *values = m->values + (j + (next - j) / 2) * m->x_count;
    double bottom = d->area.y + d->area.height;
    double y0 = bottom - hmi_axis_place(d->y, edge_of(m->y, m->y_count, j));
    double y1 = bottom - hmi_axis_place(d->y, edge_of(m->y, m->y_count, next));
    long color = -1;
    y1 = fmax(y1 - 0.4, d->area.y);
    for (size_t i = 0; i < m->x_count; i += d->step_x) {
        size_t middle = i + d->step_x / 2 < m->x_count ? i + d->step_x / 2 : m->x_count - 1;
        long here = color_index(&d->scale, values[middle]);
        if (here == color)
            continue;
        fill_run(d, first, i, y0, y1, color);
        first = i;
        color = here;
    }
    fill_run(d, first, m->x_count, y0, y1, color);
}

/* ---- contours ---- */

/* The corners of the cell that is up and to the right of (i, j), counterclockwise. */
static bool corners(const hm_map *m, size_t i, size_t j, double x[4], double y[4], double v[4])
{
    static const size_t right[] = {0, 1, 1, 0}, up[] = {0, 0, 1, 1};
    for (int k = 0; k < 4; k++) {
        x[k] = m->x[i + right[k]];
        y[k] = m->y[j + up[k]];
        v[k] = m->values[(j + up[k]) * m->x_count + i + right[k]];
        if (!isfinite(v[k]))
            return false;
    }
    return true;
}

/* Points on the sides of a cell where the value is `level`; two make a segment, four make two. */
static size_t cut_cell(const drawing *d, size_t i, size_t j, double level, double points[8])
{
    double x[4], y[4], v[4], bottom = d->area.y + d->area.height;
    size_t count = 0;
    if (!corners(d->scale.map, i, j, x, y, v))
        return 0;
    for (int k = 0; k < 4; k++) {
        int n = (k + 1) % 4;
        if ((v[k] < level) == (v[n] < level))
            continue;
        double part = (level - v[k]) / (v[n] - v[k]);
        points[2 * count] = d->area.x + hmi_axis_place(d->x, x[k] + part * (x[n] - x[k]));
        points[2 * count + 1] = bottom - hmi_axis_place(d->y, y[k] + part * (y[n] - y[k]));
        count++;
    }
    return count;
}

/* pen NULL: counts the cells that lines cross. */
static size_t draw_contours(const drawing *d, const hmi_axis *bar, hmi_pen *pen)
{
    const hm_map *m = d->scale.map;
    size_t crossed = 0;
    for (int k = 0; k < bar->ticks; k++)
        for (size_t j = 0; j + 1 < m->y_count; j++)
            for (size_t i = 0; i + 1 < m->x_count; i++) {
                double points[8];
                size_t count = cut_cell(d, i, j, bar->tick[k], points);
                crossed += count > 0;
                for (size_t c = 0; pen && c + 1 < count; c += 2)
                    hmi_draw_lines(pen, points + 2 * c, 2, &(hm_pen){0xffffff, 0.9, 0, 0.8});
            }
    return crossed;
}

/* A smooth line crosses about as many cells as there are rows and columns. */
static void add_contours(const drawing *d, const hmi_axis *bar)
{
    const hm_map *m = d->scale.map;
    size_t smooth = 3 * (m->x_count + m->y_count) * (size_t)(bar->ticks > 0 ? bar->ticks : 1);
    if (m->x_count * m->y_count < (size_t)1 << 20 && draw_contours(d, bar, NULL) <= smooth)
        draw_contours(d, bar, d->pen);
}

/* ---- the bar ---- */

static void make_bar(const scale *s, double length, hmi_axis *bar)
{
    hmi_axis_make(bar, s->low, s->high, length, bar_spacing, false);
}

double hmi_map_bar_width(const hm_map *map)
{
    scale s = find_scale(map);
    double widest = 0;
    hmi_axis bar;
    make_bar(&s, 300, &bar);
    for (size_t i = 0; map->categories && i < map->category_count; i++)
        widest = fmax(widest, hmi_text_width(map->categories[i], HMI_TEXT_SIZE, false));
    for (int i = 0; !map->categories && i < bar.ticks; i++)
        widest = fmax(widest, hmi_text_width(bar.label[i], HMI_TEXT_SIZE, false));
    if (!map->categories)
        widest = fmax(widest, hmi_text_width(bar.factor, HMI_TEXT_SIZE, false) - bar_width);
    return bar_gap + bar_width + 8 + widest + 6;
}

static void draw_categories(const drawing *d)
{
    const hm_map *m = d->scale.map;
    double x = d->area.x + d->area.width + bar_gap, y = d->area.y;
    for (size_t i = 0; i < m->category_count; i++, y += 22) {
        fill(d->pen, x, y, x + bar_width, y + bar_width, color_of(&d->scale, (long)i));
        hmi_draw_text(d->pen, x + bar_width + 6, y + 12, m->categories[i],
                      &(hm_font){.size = HMI_TEXT_SIZE, .color = HMI_INK});
    }
}

static void draw_bar(const drawing *d, const hmi_axis *bar)
{
    double x = d->area.x + d->area.width + bar_gap, bottom = d->area.y + d->area.height;
    hm_font font = {.size = HMI_TEXT_SIZE, .color = HMI_SOFT_INK};
    for (int k = 0; k < SHADES; k++) {
        double y0 = bottom - d->area.height * k / SHADES;
        fill(d->pen, x, y0, x + bar_width,
             fmax(bottom - d->area.height * (k + 1) / SHADES - 0.4, d->area.y),
             color_of(&d->scale, k));
    }
    for (int i = 0; i < bar->ticks; i++) {
        double y = bottom - (bar->tick[i] - bar->low) / (bar->high - bar->low) * bar->length;
        hmi_draw_line(d->pen, x + bar_width, y, x + bar_width + 4, y, HMI_FRAME, 1);
        hmi_draw_text(d->pen, x + bar_width + 7, y + 4, bar->label[i], &font);
    }
    hmi_draw_text(d->pen, x, d->area.y - 6, bar->factor, &font);
}

void hmi_map_draw(hmi_pen *pen, const hm_map *map, hmi_box area, const hmi_axis *x,
                  const hmi_axis *y)
{
    drawing d = {pen, find_scale(map), area, x, y, 1, 1};
    d.step_x += (map->x_count - 1) / MOST_CELLS;
    d.step_y += (map->y_count - 1) / MOST_CELLS;
    for (size_t j = 0; j < map->y_count; j += d.step_y)
        fill_row(&d, j);
    if (map->categories) {
        draw_categories(&d);
        return;
    }
    hmi_axis bar;
    make_bar(&d.scale, area.height, &bar);
    if (map->contours && d.scale.high > d.scale.low)
        add_contours(&d, &bar);
    draw_bar(&d, &bar);
}
