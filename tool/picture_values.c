/* Numbers of the drawings along a motion, and what must be seen of them. */
#include "picture.h"

const struct force_kind force_kinds[FORCE_KINDS] = {
    {MOTION_IDEAL, "constraint force", "constraint", 0xc0392b},
    {MOTION_NONIDEAL, "friction and other non-ideal forces", "friction", 0xb7791f},
    {MOTION_CONTROL, "control", "control", 0x6b46c1},
};

static double value(const picture *p, size_t row, motion_group group, size_t k)
{
    const motion *m = p->motion;
    size_t column = m->first[group] + k;
    return column < m->first[group + 1] ? m->values[row * m->width + column] : NAN;
}

double picture_number(const picture *p, size_t row, hm_drawing_part part)
{
    return value(p, row, MOTION_DRAWINGS, part.first);
}

vec picture_vector(const picture *p, size_t row, hm_drawing_part part)
{
    double x[3] = {0};
    for (size_t k = 0; k < 3 && k < part.rows * part.columns; k++)
        x[k] = value(p, row, MOTION_DRAWINGS, part.first + k);
    return (vec){x[0], x[1], x[2]};
}

void picture_frame(const picture *p, size_t row, hm_drawing_part part, vec axes[3])
{
    double R[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (size_t i = 0; i < part.rows && i < 3; i++)
        for (size_t j = 0; j < part.columns && j < 3; j++)
            R[i][j] = value(p, row, MOTION_DRAWINGS, part.first + i * part.columns + j);
    for (int j = 0; j < 3; j++)
        axes[j] = (vec){R[0][j], R[1][j], R[2][j]};
}

static bool is_solid(hm_drawing_kind kind)
{
    return kind == HM_DRAWING_POINT || kind == HM_DRAWING_SPHERE || kind == HM_DRAWING_BOX ||
           kind == HM_DRAWING_DISC || kind == HM_DRAWING_CYLINDER;
}

vec picture_middle(const picture *p, size_t row)
{
    vec sum = {0, 0, 0};
    size_t count = 0;
    for (size_t i = 0; i < hm_model_drawing_count(p->model); i++) {
        hm_drawing d = hm_model_drawing(p->model, i);
        vec at = is_solid(d.kind) ? picture_vector(p, row, d.parts[0]) : (vec){NAN, 0, 0};
        if (vec_finite(at)) {
            sum = vec_add(sum, at);
            count++;
        }
    }
    return count ? vec_scale(1.0 / (double)count, sum) : sum;
}

vec picture_offset(const picture *p, size_t row)
{
    return p->options.follow ? picture_middle(p, row) : (vec){0, 0, 0};
}

static double radius_of(const picture *p, size_t row, const hm_drawing *d)
{
    switch (d->kind) {
    case HM_DRAWING_SPHERE:
        return fabs(picture_number(p, row, d->parts[1]));
    case HM_DRAWING_DISC:
    case HM_DRAWING_CYLINDER:
        return fabs(picture_number(p, row, d->parts[2]));
    case HM_DRAWING_BOX:
        return vec_length(picture_vector(p, row, d->parts[2])) / 2;
    default:
        return 0;
    }
}

static void arrow_tip(const picture *p, size_t row, size_t index, const hm_drawing *d,
                      mark_function f, void *user)
{
    double most = p->largest_arrow ? p->largest_arrow[index] : 0;
    if (d->kind != HM_DRAWING_ARROW || !(most > 0) || !(p->unit > 0))
        return;
    vec at = picture_vector(p, row, d->parts[0]), by = picture_vector(p, row, d->parts[1]);
    f(user, vec_along(at, 0.25 * p->unit / most, by), 0);
}

static void force_tips(const picture *p, size_t row, size_t index, const hm_drawing *d,
                       mark_function f, void *user)
{
    if (!p->force_here || !p->force_here[index])
        return;
    for (int k = 0; k < FORCE_KINDS; k++)
        if (p->largest_force[k] > 0)
            f(user,
              vec_along(picture_vector(p, row, d->parts[0]), 0.22 * p->unit / p->largest_force[k],
                        picture_force(p, row, k, d)),
              0);
}

void picture_marks(const picture *p, size_t row, mark_function f, void *user)
{
    for (size_t i = 0; i < hm_model_drawing_count(p->model); i++) {
        hm_drawing d = hm_model_drawing(p->model, i);
        if (d.kind == HM_DRAWING_GROUND)
            continue;
        double radius = radius_of(p, row, &d);
        size_t places = d.kind == HM_DRAWING_LINE       ? d.part_count
                        : d.kind == HM_DRAWING_CYLINDER ? 2
                                                        : 1;
        for (size_t k = 0; k < places; k++)
            f(user, picture_vector(p, row, d.parts[k]), isfinite(radius) ? radius : 0);
        arrow_tip(p, row, i, &d, f, user);
        force_tips(p, row, i, &d, f, user);
    }
}

/* ---- forces ---- */

bool picture_is_place(const hm_drawing *d)
{
    if (d->kind == HM_DRAWING_GROUND || d->parts[0].rows < 2)
        return false;
    for (size_t k = 0; k < d->parts[0].rows && k < 3; k++)
        if (d->place[k] < 0)
            return false;
    return true;
}

vec picture_force(const picture *p, size_t row, int kind, const hm_drawing *d)
{
    double x[3] = {0};
    for (size_t k = 0; k < d->parts[0].rows && k < 3; k++)
        x[k] = value(p, row, force_kinds[kind].group, (size_t)d->place[k]);
    vec force = {x[0], x[1], x[2]};
    return vec_finite(force) ? force : (vec){0, 0, 0};
}
