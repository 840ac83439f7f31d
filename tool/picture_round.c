/* Solids as facets under light [Lambert 1760], in space; outlines in the plane. Facets are small, so
 * that sorting them by the depth of their middle is right where solids do not cut each other. */
#include "picture.h"

static const double TURN = 6.283185307179586;

/* ---- facets ---- */

/* Light comes from above, a little from the left, and from the eye. */
static uint32_t lit(const solid *s, vec normal, vec toward_eye, double pale)
{
    const camera *c = s->camera;
    vec sun = vec_unit(
        vec_along(vec_along(vec_scale(0.9, s->p->up), -0.45, c->right), 0.5, c->back));
    double light = 0.5 + 0.32 * fmax(0, vec_dot(normal, sun)) +
                   0.24 * fmax(0, vec_dot(normal, toward_eye));
    uint32_t base = color_mix(s->color, 0xffffff, pale * (1 - s->fade));
    uint32_t shadow = color_mix(0x000000, 0xffffff, s->fade);
    return light < 1 ? color_mix(shadow, base, light) : color_mix(base, 0xffffff, light - 1);
}

/* Up to 64 corners; those seen from behind are left out. */
void solid_facet(const solid *s, const vec *corners, size_t count, vec normal, double pale)
{
    double page[128], depth = 0, middle_depth = 0;
    vec middle = {0, 0, 0};
    for (size_t k = 0; k < count; k++) {
        if (!camera_see(s->camera, corners[k], page + 2 * k, &depth))
            return;
        middle = vec_along(middle, 1.0 / (double)count, corners[k]);
        middle_depth += depth / (double)count;
    }
    vec toward = s->camera->planar ? s->camera->back : vec_unit(vec_sub(s->camera->eye, middle));
    if (!(vec_dot(normal, toward) > 0))
        return;
    shapes_add(&s->p->shapes, SHAPE_POLYGON, page, count, middle_depth, 0.7,
               lit(s, normal, toward, pale));
}

/* In the plane: a polygon with a rim. */
static void flat(const solid *s, const vec *corners, size_t count, double pale, bool rim)
{
    double page[132];
    for (size_t k = 0; k < count; k++)
        (void)camera_see(s->camera, corners[k], page + 2 * k, NULL);
    page[2 * count] = page[0];
    page[2 * count + 1] = page[1];
    shapes_add(&s->p->shapes, SHAPE_POLYGON, page, count, 1, 0,
               color_mix(s->color, 0xffffff, pale));
    if (rim)
        shapes_add(&s->p->shapes, SHAPE_LINE, page, count + 1, 1, 1,
                   color_mix(s->color, s->fade > 0 ? 0xffffff : 0x000000, 0.3));
}

/* ---- rods ---- */

void solid_rod(const solid *s, vec a, vec b, double radius)
{
    const camera *c = s->camera;
    int pieces = c->planar ? 1 : 8;
    if (!vec_finite(a) || !vec_finite(b) || !camera_clip(c, &a, &b))
        return;
    for (int k = 0; k < pieces; k++) {
        double page[4], near = 1, far = 1;
        vec from = vec_along(a, (double)k / pieces, vec_sub(b, a));
        vec to = vec_along(a, (double)(k + 1) / pieces, vec_sub(b, a));
        if (camera_see(c, from, page, &near) && camera_see(c, to, page + 2, &far))
            shapes_add(&s->p->shapes, SHAPE_LINE, page, 2, (near + far) / 2,
                       fmax(1.2, 2 * radius * camera_scale(c, (near + far) / 2)), s->color);
    }
}

/* ---- balls ---- */

void solid_ball(const solid *s, vec center, double radius)
{
    double page[2], depth = 1;
    if (!vec_finite(center) || !camera_see(s->camera, center, page, &depth))
        return;
    double size = fmax(1, radius * camera_scale(s->camera, depth));
    shapes_add(&s->p->shapes, s->camera->planar || size < 2.5 ? SHAPE_MARK : SHAPE_BALL, page, 1,
               depth, size, s->color);
}

static vec on_ball(double latitude, double longitude, const vec axes[3])
{
    double c = cos(latitude);
    return vec_along(vec_along(vec_scale(c * cos(longitude), axes[0]), c * sin(longitude), axes[1]),
                     sin(latitude), axes[2]);
}

/* Octants in two shades, so that one sees it turn. */
void solid_turned_ball(const solid *s, vec center, double radius, const vec axes[3])
{
    enum { RINGS = 12, SECTORS = 24 };
    if (s->camera->planar) {
        solid_disc(s, center, radius, axes);
        return;
    }
    for (int i = 0; i < RINGS; i++)
        for (int j = 0; j < SECTORS; j++) {
            double low = TURN / 4 * (2.0 * i / RINGS - 1), high = low + TURN / 2 / RINGS;
            double from = TURN * j / SECTORS, to = from + TURN / SECTORS;
            vec n[4] = {on_ball(low, from, axes), on_ball(low, to, axes), on_ball(high, to, axes),
                        on_ball(high, from, axes)};
            vec corners[4];
            for (int k = 0; k < 4; k++)
                corners[k] = vec_along(center, radius, n[k]);
            bool odd = (j * 4 / SECTORS + i * 2 / RINGS) % 2;
            solid_facet(s, corners, 4, on_ball((low + high) / 2, (from + to) / 2, axes),
                        odd ? 0.45 : 0);
        }
}

/* ---- discs and cylinders ---- */

static vec on_rim(vec center, double radius, double angle, const vec axes[3])
{
    return vec_along(vec_along(center, radius * cos(angle), axes[0]), radius * sin(angle), axes[1]);
}

static void flat_disc(const solid *s, vec center, double radius, const vec axes[3])
{
    enum { ARC = 12 };
    for (int quarter = 0; quarter < 4; quarter++) {
        vec corners[ARC + 2] = {center};
        for (int k = 0; k <= ARC; k++)
            corners[k + 1] = on_rim(center, radius, TURN / 4 * (quarter + (double)k / ARC), axes);
        flat(s, corners, ARC + 2, quarter % 2 ? 0.45 : 0, false);
    }
    vec rim[4 * ARC];
    double page[8 * ARC + 2];
    for (int k = 0; k < 4 * ARC; k++)
        rim[k] = on_rim(center, radius, TURN / 4 * k / ARC, axes);
    for (int k = 0; k <= 4 * ARC; k++)
        (void)camera_see(s->camera, rim[k % (4 * ARC)], page + 2 * k, NULL);
    shapes_add(&s->p->shapes, SHAPE_LINE, page, 4 * ARC + 1, 1, 1.4,
               color_mix(s->color, s->fade > 0 ? 0xffffff : 0x000000, 0.3));
}

/* Wedges in two shades on either side, and the rim. */
void solid_disc(const solid *s, vec center, double radius, const vec axes[3])
{
    enum { WEDGES = 32, RINGS = 3 };
    if (!vec_finite(center) || !(radius > 0))
        return;
    if (s->camera->planar) {
        flat_disc(s, center, radius, axes);
        return;
    }
    double half = 0.06 * radius;
    for (int j = 0; j < WEDGES; j++) {
        double from = TURN * j / WEDGES, to = TURN * (j + 1) / WEDGES;
        for (int side = -1; side <= 1; side += 2) {
            vec middle = vec_along(center, side * half, axes[2]);
            for (int k = 0; k < RINGS; k++) {
                double inner = radius * k / RINGS, outer = radius * (k + 1) / RINGS;
                vec corners[4] = {on_rim(middle, inner, from, axes),
                                  on_rim(middle, outer, from, axes),
                                  on_rim(middle, outer, to, axes), on_rim(middle, inner, to, axes)};
                solid_facet(s, corners, 4, vec_scale(side, axes[2]), j * 4 / WEDGES % 2 ? 0.45 : 0);
            }
        }
        vec low = vec_along(center, -half, axes[2]), high = vec_along(center, half, axes[2]);
        vec rim[4] = {on_rim(low, radius, from, axes), on_rim(low, radius, to, axes),
                      on_rim(high, radius, to, axes), on_rim(high, radius, from, axes)};
        solid_facet(s, rim, 4, on_rim((vec){0, 0, 0}, 1, (from + to) / 2, axes), 0);
    }
}

static void flat_cylinder(const solid *s, vec a, vec b, double radius)
{
    vec along = vec_unit(vec_sub(b, a)), side = {-along.y, along.x, 0};
    vec corners[4] = {vec_along(a, radius, side), vec_along(b, radius, side),
                      vec_along(b, -radius, side), vec_along(a, -radius, side)};
    flat(s, corners, 4, 0, true);
}

void solid_cylinder(const solid *s, vec a, vec b, double radius)
{
    enum { SIDES = 24, MOST_PIECES = 10 };
    vec axes[3] = {{0, 0, 0}, {0, 0, 0}, vec_unit(vec_sub(b, a))};
    double length = vec_length(vec_sub(b, a));
    if (!(length > 0) || !vec_finite(a) || !vec_finite(b))
        return;
    if (s->camera->planar) {
        flat_cylinder(s, a, b, radius);
        return;
    }
    axes[0] = vec_across(axes[2]);
    axes[1] = vec_cross(axes[2], axes[0]);
    int pieces = (int)fmin(MOST_PIECES, 1 + floor(length / (0.08 * s->p->unit)));
    vec low[SIDES], high[SIDES];
    for (int j = 0; j < SIDES; j++) {
        double from = TURN * j / SIDES, to = TURN * (j + 1) / SIDES;
        low[j] = on_rim(a, radius, from, axes);
        high[j] = on_rim(b, radius, from, axes);
        for (int k = 0; k < pieces; k++) {
            vec here = vec_along(a, length * k / pieces, axes[2]);
            vec next = vec_along(a, length * (k + 1) / pieces, axes[2]);
            vec corners[4] = {on_rim(here, radius, from, axes), on_rim(here, radius, to, axes),
                              on_rim(next, radius, to, axes), on_rim(next, radius, from, axes)};
            solid_facet(s, corners, 4, on_rim((vec){0, 0, 0}, 1, (from + to) / 2, axes), 0);
        }
    }
    solid_facet(s, low, SIDES, vec_scale(-1, axes[2]), 0);
    solid_facet(s, high, SIDES, axes[2], 0);
}

/* ---- boxes ---- */

static void flat_box(const solid *s, vec center, const vec axes[3], vec edges)
{
    vec a = vec_scale(edges.x / 2, axes[0]), b = vec_scale(edges.y / 2, axes[1]);
    vec corners[4] = {vec_add(vec_add(center, a), b), vec_sub(vec_add(center, a), b),
                      vec_sub(vec_sub(center, a), b), vec_add(vec_sub(center, a), b)};
    flat(s, corners, 4, 0, true);
}

/* One face, around `middle`, with half edges u and v. */
static void face(const solid *s, vec middle, vec u, vec v, vec normal)
{
    enum { MOST = 8 };
    double cell = 0.08 * s->p->unit;
    int across = (int)fmin(MOST, 1 + floor(2 * vec_length(u) / cell));
    int along = (int)fmin(MOST, 1 + floor(2 * vec_length(v) / cell));
    for (int i = 0; i < across; i++)
        for (int j = 0; j < along; j++) {
            double x[2] = {2.0 * i / across - 1, 2.0 * (i + 1) / across - 1};
            double y[2] = {2.0 * j / along - 1, 2.0 * (j + 1) / along - 1};
            vec corners[4] = {vec_along(vec_along(middle, x[0], u), y[0], v),
                              vec_along(vec_along(middle, x[1], u), y[0], v),
                              vec_along(vec_along(middle, x[1], u), y[1], v),
                              vec_along(vec_along(middle, x[0], u), y[1], v)};
            solid_facet(s, corners, 4, normal, 0);
        }
}

void solid_box(const solid *s, vec center, const vec axes[3], vec edges)
{
    if (s->camera->planar) {
        flat_box(s, center, axes, edges);
        return;
    }
    const double half[3] = {fabs(edges.x) / 2, fabs(edges.y) / 2, fabs(edges.z) / 2};
    for (int k = 0; k < 3; k++)
        for (int side = -1; side <= 1; side += 2) {
            int i = (k + 1) % 3, j = (k + 2) % 3;
            face(s, vec_along(center, side * half[k], axes[k]), vec_scale(half[i], axes[i]),
                 vec_scale(half[j], axes[j]), vec_scale(side, axes[k]));
        }
}
