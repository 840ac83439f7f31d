/* Cameras: where a place of the model is on the page, and from where all of the motion is seen.
 *
 * In space: a perspective with the vertical angle ANGLE. From a direction `back` the eye is at
 * target + d back. A place with page axes (x, y) and s = p . back is seen where |x - x_target| is
 * at most T (d - s), T the tangent of half the angle. So d >= (max(x + T s) + max(-x + T s)) / 2T
 * over all places, and the target's x is half the difference of the two maxima; likewise y.
 */
#include "picture.h"

#include <float.h>

static const double ANGLE = 36, MARGIN = 0.1;

bool camera_see(const camera *c, vec p, double page[2], double *depth)
{
    vec from = vec_sub(p, c->eye);
    double distance = c->planar ? 1 : -vec_dot(from, c->back);
    if (depth)
        *depth = distance;
    if (!(distance > c->near))
        return false;
    page[0] = c->middle_x + c->focal * vec_dot(from, c->right) / distance;
    page[1] = c->middle_y - c->focal * vec_dot(from, c->up) / distance;
    return true;
}

double camera_scale(const camera *c, double depth)
{
    return c->planar ? c->focal : c->focal / fmax(depth, c->near);
}

bool camera_clip(const camera *c, vec *a, vec *b)
{
    if (c->planar)
        return true;
    double limit = 2 * c->near;
    double da = -vec_dot(vec_sub(*a, c->eye), c->back), db = -vec_dot(vec_sub(*b, c->eye), c->back);
    if (da < limit && db < limit)
        return false;
    if (da < limit)
        *a = vec_along(*a, (limit - da) / (db - da), vec_sub(*b, *a));
    else if (db < limit)
        *b = vec_along(*b, (limit - db) / (da - db), vec_sub(*a, *b));
    return true;
}

/* ---- aiming ---- */

typedef struct fit {
    const picture *p;
    vec offset;
    double tangent[2]; /* of half the angle, across and upwards */
    double most[2][2]; /* of x + T s and -x + T s; of y */
    double nearest;    /* the largest s */
} fit;

static void fit_place(void *user, vec place, double radius)
{
    fit *f = user;
    const camera *c = &f->p->camera;
    vec at = vec_sub(place, f->offset);
    if (!vec_finite(at))
        return;
    double s = vec_dot(at, c->back), x[2] = {vec_dot(at, c->right), vec_dot(at, c->up)};
    f->nearest = fmax(f->nearest, s + radius);
    for (int k = 0; k < 2; k++) {
        double tangent = c->planar ? 0 : f->tangent[k], more = radius * sqrt(1 + tangent * tangent);
        f->most[k][0] = fmax(f->most[k][0], x[k] + tangent * s + more);
        f->most[k][1] = fmax(f->most[k][1], -x[k] + tangent * s + more);
    }
}

/* At most a few hundred rows. */
static void fit_motion(const picture *p, fit *f)
{
    size_t step = p->motion->rows / 400 + 1;
    for (size_t row = 0; row < p->motion->rows; row += step) {
        f->offset = picture_offset(p, row);
        picture_marks(p, row, fit_place, f);
    }
    f->offset = picture_offset(p, p->motion->rows - 1);
    picture_marks(p, p->motion->rows - 1, fit_place, f);
}

/* Nothing is drawn below the title. */
static double title_height(const picture *p)
{
    return p->options.title ? fmin(26, p->options.height / 3) : 0;
}

static void aim_in_plane(picture *p, const fit *f)
{
    camera *c = &p->camera;
    double middle[2], half[2], room = p->options.height - title_height(p);
    for (int k = 0; k < 2; k++) {
        middle[k] = (f->most[k][0] - f->most[k][1]) / 2;
        half[k] = (f->most[k][0] + f->most[k][1]) / 2 + 0.02 * p->unit;
    }
    c->eye = (vec){middle[0], middle[1], 0};
    c->focal = (0.5 - MARGIN / 2) * fmin(p->options.width / fmax(half[0], 0.12 * p->unit),
                                         room / fmax(half[1], 0.12 * p->unit));
}

static void aim_in_space(picture *p, const fit *f)
{
    camera *c = &p->camera;
    double target[2], distance = f->nearest + 0.05 * p->unit;
    for (int k = 0; k < 2; k++) {
        target[k] = (f->most[k][0] - f->most[k][1]) / 2;
        distance = fmax(distance, (f->most[k][0] + f->most[k][1]) / (2 * f->tangent[k]));
    }
    distance = fmax(distance, f->nearest + 0.6 * p->unit);
    c->eye = vec_along(vec_along(vec_scale(distance, c->back), target[0], c->right), target[1],
                       c->up);
    c->focal = (p->options.height - title_height(p)) / 2 / tan(ANGLE / 2 * 3.141592653589793 / 180);
    c->near = 1e-3 * p->unit;
}

/* From the front, a little from the right and above; `up` is upwards on the page. */
static vec view_direction(const picture *p)
{
    double azimuth = -59 * 3.141592653589793 / 180, elevation = 22 * 3.141592653589793 / 180;
    if (p->options.turned) {
        azimuth = p->options.azimuth * 3.141592653589793 / 180;
        elevation = p->options.elevation * 3.141592653589793 / 180;
    }
    /* first x second = up */
    vec up = p->up;
    vec first = fabs(up.x) > 0.5 ? (vec){0, 1, 0} : (vec){1, 0, 0}, second = vec_cross(up, first);
    vec level = vec_along(vec_scale(cos(azimuth), first), sin(azimuth), second);
    return vec_unit(vec_along(vec_scale(cos(elevation), level), sin(elevation), up));
}

void picture_aim(picture *p)
{
    camera *c = &p->camera;
    *c = (camera){.planar = p->planar, .right = {1, 0, 0}, .up = {0, 1, 0}, .back = {0, 0, 1}};
    c->middle_x = p->options.width / 2;
    c->middle_y = (p->options.height + title_height(p)) / 2;
    if (!p->planar) {
        c->back = view_direction(p);
        vec right = vec_cross(p->up, c->back);
        if (vec_length(right) < 1e-6) /* from above: x to the right */
            right = fabs(p->up.x) > 0.5 ? (vec){0, 1, 0} : (vec){1, 0, 0};
        c->right = vec_unit(right);
        c->up = vec_cross(c->back, c->right);
    }
    double tangent = (1 - MARGIN) * tan(ANGLE / 2 * 3.141592653589793 / 180);
    fit f = {.p = p, .nearest = -DBL_MAX};
    f.tangent[0] = tangent * p->options.width / (p->options.height - title_height(p));
    f.tangent[1] = tangent;
    for (int k = 0; k < 4; k++)
        f.most[k / 2][k % 2] = -DBL_MAX;
    fit_motion(p, &f);
    if (f.nearest == -DBL_MAX) /* no place is finite */
        fit_place(&f, (vec){0, 0, 0}, p->unit);
    if (p->planar)
        aim_in_plane(p, &f);
    else
        aim_in_space(p, &f);
}

camera picture_camera(const picture *p, size_t row)
{
    camera c = p->camera;
    c.eye = vec_add(c.eye, picture_offset(p, row));
    return c;
}
