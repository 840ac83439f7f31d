/* What each kind of drawing looks like at an instant. */
#include "picture.h"

static const uint32_t ROD = 0x7a848d;

/* ---- arrows ---- */

void picture_add_arrow(picture *p, const camera *c, vec from, vec by, uint32_t color)
{
    double a[2], b[2], near, far, width = 2.2, head = 10;
    if (!camera_see(c, from, a, &near) || !camera_see(c, vec_add(from, by), b, &far))
        return;
    double x = b[0] - a[0], y = b[1] - a[1], length = hypot(x, y);
    if (!(length > 3))
        return;
    x /= length;
    y /= length;
    head = fmin(head, 0.6 * length);
    double depth = fmin(near, far), stop[2] = {b[0] - 0.7 * head * x, b[1] - 0.7 * head * y};
    double shaft[] = {a[0], a[1], stop[0], stop[1]};
    double tip[] = {b[0],
                    b[1],
                    b[0] - head * x - 0.38 * head * y,
                    b[1] - head * y + 0.38 * head * x,
                    b[0] - head * x + 0.38 * head * y,
                    b[1] - head * y - 0.38 * head * x};
    shapes_add(&p->shapes, SHAPE_LINE, shaft, 2, depth, width, color);
    shapes_add(&p->shapes, SHAPE_POLYGON, tip, 3, depth, 0, color);
}

static void add_forces(const solid *s, size_t row, const hm_drawing *d)
{
    picture *p = s->p;
    vec at = picture_vector(p, row, d->parts[0]);
    for (int k = 0; k < FORCE_KINDS; k++) {
        double scale = p->largest_force[k] > 0 ? 0.22 * p->unit / p->largest_force[k] : 0;
        if (scale > 0 && vec_finite(at))
            picture_add_arrow(p, s->camera, at, vec_scale(scale, picture_force(p, row, k, d)),
                              color_mix(force_kinds[k].color, 0xffffff, s->fade));
    }
}

/* ---- drawings ---- */

static void add_point(const solid *s, size_t row, const hm_drawing *d)
{
    double weight = d->weight > 0 ? d->weight : 1;
    solid_ball(s, picture_vector(s->p, row, d->parts[0]), 0.014 * s->p->unit * weight);
}

static void add_sphere(const solid *s, size_t row, const hm_drawing *d)
{
    vec center = picture_vector(s->p, row, d->parts[0]), axes[3];
    double radius = fabs(picture_number(s->p, row, d->parts[1]));
    if (d->part_count < 3) {
        solid_ball(s, center, radius);
        return;
    }
    picture_frame(s->p, row, d->parts[2], axes);
    solid_turned_ball(s, center, radius, axes);
}

static void add_box(const solid *s, size_t row, const hm_drawing *d)
{
    vec axes[3], edges = picture_vector(s->p, row, d->parts[2]);
    picture_frame(s->p, row, d->parts[1], axes);
    solid_box(s, picture_vector(s->p, row, d->parts[0]), axes, edges);
}

static void add_disc(const solid *s, size_t row, const hm_drawing *d)
{
    vec axes[3];
    picture_frame(s->p, row, d->parts[1], axes);
    solid_disc(s, picture_vector(s->p, row, d->parts[0]),
               fabs(picture_number(s->p, row, d->parts[2])), axes);
}

static void add_line(const solid *s, size_t row, const hm_drawing *d)
{
    for (size_t k = 0; k + 1 < d->part_count; k++)
        solid_rod(s, picture_vector(s->p, row, d->parts[k]),
                  picture_vector(s->p, row, d->parts[k + 1]), 0.004 * s->p->unit);
}

static void add_arrow(const solid *s, size_t row, size_t index, const hm_drawing *d)
{
    double most = s->p->largest_arrow[index];
    if (most > 0)
        picture_add_arrow(
            s->p, s->camera, picture_vector(s->p, row, d->parts[0]),
            vec_scale(0.25 * s->p->unit / most, picture_vector(s->p, row, d->parts[1])), s->color);
}

static void add_drawing(const solid *s, size_t row, size_t index, const hm_drawing *d)
{
    switch (d->kind) {
    case HM_DRAWING_POINT:
        add_point(s, row, d);
        break;
    case HM_DRAWING_SPHERE:
        add_sphere(s, row, d);
        break;
    case HM_DRAWING_BOX:
        add_box(s, row, d);
        break;
    case HM_DRAWING_DISC:
        add_disc(s, row, d);
        break;
    case HM_DRAWING_CYLINDER:
        solid_cylinder(s, picture_vector(s->p, row, d->parts[0]),
                       picture_vector(s->p, row, d->parts[1]),
                       fabs(picture_number(s->p, row, d->parts[2])));
        break;
    case HM_DRAWING_LINE:
        add_line(s, row, d);
        break;
    case HM_DRAWING_ARROW:
        add_arrow(s, row, index, d);
        break;
    default: /* paths and the ground are drawn elsewhere */
        break;
    }
}

/* Lines, or all else: in the plane lines lie below. */
static void add_drawings(picture *p, const camera *c, size_t row, double fade, bool lines)
{
    for (size_t i = 0; i < hm_model_drawing_count(p->model); i++) {
        hm_drawing d = hm_model_drawing(p->model, i);
        if ((d.kind == HM_DRAWING_LINE) != lines)
            continue;
        uint32_t color = d.kind == HM_DRAWING_LINE && !d.color ? ROD : color_of_drawing(&d, i);
        solid s = {p, c, color_mix(color, 0xffffff, fade), fade};
        add_drawing(&s, row, i, &d);
    }
}

void picture_add_solids(picture *p, const camera *c, size_t row, double fade)
{
    add_drawings(p, c, row, fade, true);
    add_drawings(p, c, row, fade, false);
    for (size_t i = 0; i < hm_model_drawing_count(p->model); i++)
        if (p->force_here[i]) {
            hm_drawing d = hm_model_drawing(p->model, i);
            add_forces(&(solid){p, c, 0, fade}, row, &d);
        }
}
