/* From numbers to what is drawn: gaps where values are missing, and only the points that can be seen.
 *
 * Two passes, both linear:
 *   1. where x only grows and there are many points to a unit, each column of a quarter unit keeps
 *      its first, lowest, highest and last point: extremes survive exactly;
 *   2. along a run of points the next vertex is the farthest point for which all points passed over
 *      lie within a tenth of a unit of the straight line (the cone of directions that do so shrinks
 *      from point to point, and never grows again).      Verified: test/unit/output/test_svg.c
 */
#include "output/plot/plot.h"

#include <math.h>

static const double column_width = 0.25, tolerance = 0.1;

double *hmi_points(hmi_pen *pen, size_t count)
{
    double *points = hmi_alloc(pen->allocator, 2 * count * sizeof *points);
    if (!points && pen->status == HM_OK)
        pen->status = HM_ERR_NOMEM;
    return points;
}

void hmi_points_free(hmi_pen *pen, double *points, size_t count)
{
    hmi_free(pen->allocator, points, 2 * count * sizeof *points);
}

/* ---- pass 1 ---- */

static bool ascending(const double *p, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (p[2 * i] < p[2 * i - 2])
            return false;
    return true;
}

/* The points first..last share a column: writes at most four of them to out, in order. */
static size_t keep_extremes(const double *p, size_t first, size_t last, double *out)
{
    size_t low = first, high = first, kept = 0;
    for (size_t i = first; i <= last; i++) {
        low = p[2 * i + 1] < p[2 * low + 1] ? i : low;
        high = p[2 * i + 1] > p[2 * high + 1] ? i : high;
    }
    size_t a = low < high ? low : high, b = low < high ? high : low;
    const size_t order[] = {first, a, b, last};
    for (int k = 0; k < 4; k++)
        if (k == 0 || order[k] != order[k - 1]) {
            out[2 * kept] = p[2 * order[k]];
            out[2 * kept + 1] = p[2 * order[k] + 1];
            kept++;
        }
    return kept;
}

/* In place: what is written never overtakes what is read. */
static size_t thin_columns(double *p, size_t count)
{
    size_t kept = 0;
    for (size_t first = 0, last; first < count; first = last + 1) {
        double column = floor(p[2 * first] / column_width);
        last = first;
        while (last + 1 < count && floor(p[2 * last + 2] / column_width) == column)
            last++;
        double four[8];
        size_t some = keep_extremes(p, first, last, four);
        for (size_t i = 0; i < 2 * some; i++)
            p[2 * kept + i] = four[i];
        kept += some;
    }
    return kept;
}

/* ---- pass 2 ---- */

/* Directions from the last vertex, relative to a reference direction, that pass all points. */
typedef struct cone {
    double x, y;      /* the vertex */
    double reference; /* angle */
    double low, high;
    double reach; /* of the farthest point so far: a curve that turns back gets a vertex */
    bool open;    /* no direction yet */
} cone;

static bool cone_accepts(cone *c, double x, double y)
{
    double dx = x - c->x, dy = y - c->y, distance = hypot(dx, dy);
    if (distance < c->reach - tolerance)
        return false;
    if (distance <= tolerance)
        return true;
    double angle = atan2(dy, dx), spread = asin(fmin(1, tolerance / distance));
    if (c->open) {
        *c = (cone){c->x, c->y, angle, -spread, spread, distance, false};
        return true;
    }
    double turn = remainder(angle - c->reference, 2 * acos(-1.0));
    if (turn < c->low || turn > c->high)
        return false;
    c->low = fmax(c->low, turn - spread);
    c->high = fmin(c->high, turn + spread);
    c->reach = fmax(c->reach, distance);
    return true;
}

static size_t thin_straight(double *p, size_t count)
{
    if (count < 3)
        return count;
    size_t kept = 1;
    cone c = {.x = p[0], .y = p[1], .open = true};
    for (size_t i = 1; i < count; i++) {
        if (cone_accepts(&c, p[2 * i], p[2 * i + 1]))
            continue;
        double x = p[2 * i - 2], y = p[2 * i - 1];
        p[2 * kept] = x;
        p[2 * kept + 1] = y;
        kept++;
        c = (cone){.x = x, .y = y, .open = true};
        cone_accepts(&c, p[2 * i], p[2 * i + 1]);
    }
    p[2 * kept] = p[2 * count - 2];
    p[2 * kept + 1] = p[2 * count - 1];
    return kept + 1;
}

/* ---- drawing ---- */

static bool is_point(const double *p)
{
    return isfinite(p[0]) && isfinite(p[1]);
}

static void draw_run(hmi_pen *pen, double *p, size_t count, const hm_pen *style)
{
    if (count == 1) {
        hm_pen dot = {style->color, 0, 0, style->opacity};
        hmi_draw_circle(pen, p[0], p[1], style->width, &dot);
        return;
    }
    double columns = fabs(p[2 * count - 2] - p[0]) / column_width;
    if (count > 4 * columns && ascending(p, count))
        count = thin_columns(p, count);
    count = thin_straight(p, count);
    hmi_draw_lines(pen, p, count, style);
}

void hmi_draw_curve(hmi_pen *pen, double *points, size_t count, const hm_pen *style)
{
    for (size_t i = 0; i < count && pen->status == HM_OK;) {
        size_t first = i;
        while (i < count && is_point(points + 2 * i))
            i++;
        if (i > first)
            draw_run(pen, points + 2 * first, i - first, style);
        else
            i++;
    }
}

void hmi_draw_ends(hmi_pen *pen, const double *points, size_t count, uint32_t color)
{
    size_t first = 0, last = count;
    while (first < count && !is_point(points + 2 * first))
        first++;
    while (last > first && !is_point(points + 2 * last - 2))
        last--;
    if (first == last)
        return;
    const double *start = points + 2 * first, *end = points + 2 * last - 2;
    hm_pen paper = {0xffffff, 0, 0, 1}, ring = {color, 1.6, 0, 1}, disc = {color, 0, 0, 1};
    hmi_draw_circle(pen, start[0], start[1], 3.6, &paper);
    hmi_draw_circle(pen, start[0], start[1], 3.6, &ring);
    hmi_draw_circle(pen, end[0], end[1], 4.2, &disc);
}
