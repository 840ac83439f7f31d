/* Shapes on the page, drawn from the farthest to the nearest (the painter's way). */
#include "picture.h"

#include <stdlib.h>
#include <string.h>

void shapes_clear(shapes *s)
{
    s->count = s->point_count = 0;
}

void shapes_free(shapes *s)
{
    free(s->list);
    free(s->points);
    *s = (shapes){0};
}

static bool make_room(shapes *s, size_t points)
{
    if (s->count == s->capacity) {
        size_t capacity = s->capacity ? 2 * s->capacity : 1024;
        shape *grown = memory_resize(s->list, capacity * sizeof *grown);
        s->failed |= !grown;
        if (!grown)
            return false;
        s->list = grown;
        s->capacity = capacity;
    }
    if (s->point_count + points > s->point_capacity) {
        size_t capacity = 2 * (s->point_capacity + points) + 1024;
        double *grown = memory_resize(s->points, 2 * capacity * sizeof *grown);
        s->failed |= !grown;
        if (!grown)
            return false;
        s->points = grown;
        s->point_capacity = capacity;
    }
    return true;
}

/* Places far outside of the page would be too much for the canvas. */
static bool reasonable(const double *points, size_t count)
{
    for (size_t k = 0; k < 2 * count; k++)
        if (!(fabs(points[k]) < 1e5))
            return false;
    return true;
}

void shapes_add(shapes *s, shape_kind kind, const double *points, size_t count, double depth,
                double width, uint32_t color)
{
    if (!reasonable(points, count) || !isfinite(depth) || !(width < 1e5) || !make_room(s, count))
        return;
    s->list[s->count] = (shape){kind, color, depth, width, s->point_count, count, s->count};
    s->count++;
    memcpy(s->points + 2 * s->point_count, points, 2 * count * sizeof *points);
    s->point_count += count;
}

static int compare(const void *a, const void *b)
{
    const shape *x = a, *y = b;
    if (x->depth != y->depth)
        return x->depth > y->depth ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* A ball under light from the upper left: discs in lighter and lighter colours. */
static bool draw_ball(const hm_canvas *canvas, const double *at, double r, uint32_t color)
{
    enum { DISCS = 7 };
    bool good = true;
    for (int k = 0; k < DISCS && good; k++) {
        double part = k / (double)(DISCS - 1), size = r * (1 - 0.86 * part);
        double shift = 0.34 * r * part;
        uint32_t shade = part < 0.4 ? color_mix(color, 0x000000, 0.28 * (1 - part / 0.4))
                                    : color_mix(color, 0xffffff, 0.5 * (part - 0.4) / 0.6);
        good = canvas->circle(canvas->user, at[0] - shift, at[1] - shift, size,
                              &(hm_pen){.color = shade, .opacity = 1});
    }
    return good;
}

/* In the plane: a disc with a rim. */
static bool draw_mark(const hm_canvas *canvas, const double *at, double r, uint32_t color)
{
    hm_pen fill = {.color = color, .opacity = 1};
    hm_pen rim = {.color = color_mix(color, 0x000000, 0.3), .width = 1, .opacity = 1};
    return canvas->circle(canvas->user, at[0], at[1], r, &fill) &&
           (r < 2 || canvas->circle(canvas->user, at[0], at[1], r - 0.5, &rim));
}

/* Facets are stroked, too: else the background shines through between neighbours. */
static bool draw_shape(const shapes *s, const shape *x, const hm_canvas *canvas)
{
    const double *points = s->points + 2 * x->first;
    hm_pen fill = {.color = x->color, .opacity = 1};
    hm_pen line = {.color = x->color, .width = x->width, .opacity = 1};
    switch (x->kind) {
    case SHAPE_BALL:
        return draw_ball(canvas, points, x->width, x->color);
    case SHAPE_MARK:
        return draw_mark(canvas, points, x->width, x->color);
    case SHAPE_LINE:
        return canvas->lines(canvas->user, points, x->count, &line);
    default:
        return canvas->lines(canvas->user, points, x->count, &fill) &&
               (x->width <= 0 || canvas->lines(canvas->user, points, x->count, &line));
    }
}

bool shapes_draw(shapes *s, const hm_canvas *canvas)
{
    bool good = !s->failed;
    if (s->count)
        qsort(s->list, s->count, sizeof *s->list, compare);
    for (size_t k = 0; k < s->count && good; k++)
        good = draw_shape(s, &s->list[k], canvas);
    return good;
}
