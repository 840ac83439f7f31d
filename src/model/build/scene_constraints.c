/* What constraints show in a model without `draw` statements: a line where a constraint keeps a distance,
 * and the ground where a point may not go below a height.
 *
 * A residual f on positions keeps the distance of P from c where f(c + R d) = f(c + d) for rotations R, and
 * that of P and Q where f(P, Q) only depends on |P - Q|. This is tried with numbers, at the values of the
 * parameters: a picture needs no proof. Where f is quadratic, c is the top of the parabola along each axis.
 * Verified: test/unit/model/test_scene.c
 */
#include "model/build/body.h"

#include <math.h>
#include <string.h>

enum { MOST_ROWS = 400, MOST_POINTS = 400, MOST_COORDINATES = 6, TRIALS = 4 };

/* One residual, ready to be evaluated. */
typedef struct trial {
    hmi_builder *b;
    hmi_walk walk;
    double *work; /* by position in the walk */
    size_t capacity;
    hmi_expr residual;
    uint32_t coordinate[MOST_COORDINATES]; /* that occur */
    double q[MOST_COORDINATES];
    size_t count;
} trial;

/* A drawn point that consists of coordinates. */
typedef struct point {
    const int32_t *place;
    size_t size; /* 2 or 3 */
} point;

/* ---- numbers ---- */

static double coordinate_value(const trial *t, uint32_t index)
{
    for (size_t k = 0; k < t->count; k++)
        if (t->coordinate[k] == index)
            return t->q[k];
    return NAN;
}

static double leaf_value(const trial *t, hmi_expr e)
{
    const hmi_graph *g = t->b->graph;
    const hmi_node *node = hmi_node_at(g, e);
    double value = NAN;
    if (hmi_is_const(g, e))
        return hmi_constant_of(g, e)->value;
    if (node->deps == HMI_DEP(HMI_SYM_COORD))
        return coordinate_value(t, hmi_node_at(g, e)->b);
    return hmi_constant_value(t->b, e, &value) ? value : NAN;
}

/* The residual at the values q. */
static double value_at(const trial *t)
{
    const hmi_graph *g = t->b->graph;
    for (size_t k = 0; k < t->walk.order.count; k++) {
        hmi_expr e = t->walk.order.data[k];
        double x[3] = {0};
        int arity = hmi_op_arity(hmi_op_of(g, e));
        for (int i = 0; i < arity && i < 3; i++)
            x[i] = t->work[hmi_walk_position(&t->walk, hmi_operand(g, e, i))];
        t->work[k] = arity ? hmi_op_value(hmi_op_of(g, e), x[0], x[1], x[2]) : leaf_value(t, e);
    }
    return t->walk.order.count ? t->work[hmi_walk_position(&t->walk, t->residual)] : NAN;
}

/* The coordinates that occur; false: too many, or there is nothing to be tried. */
static bool find_coordinates(trial *t)
{
    const hmi_graph *g = t->b->graph;
    t->count = 0;
    for (size_t k = 0; k < t->walk.order.count; k++) {
        hmi_expr e = t->walk.order.data[k];
        if (hmi_op_of(g, e) != HMI_SYMBOL || hmi_deps(g, e) != HMI_DEP(HMI_SYM_COORD))
            continue;
        if (t->count == MOST_COORDINATES)
            return false;
        t->coordinate[t->count++] = hmi_node_at(g, e)->b;
    }
    return t->count > 0;
}

static bool begin_trial(trial *t, const hmi_constraint *row)
{
    const hm_allocator *memory = t->walk.allocator;
    t->residual = row->residual;
    if (hmi_walk_begin(&t->walk, t->b->graph) != HM_OK ||
        hmi_walk_add(&t->walk, t->b->graph, row->residual, 0xFFFF) != HM_OK)
        return hmi_no_memory(t->b);
    if (t->walk.order.count > t->capacity) {
        hmi_free(memory, t->work, t->capacity * sizeof *t->work);
        t->capacity = 2 * t->walk.order.count;
        t->work = hmi_alloc(memory, t->capacity * sizeof *t->work);
        if (!t->work) {
            t->capacity = 0;
            return hmi_no_memory(t->b);
        }
    }
    return true;
}

/* ---- distances ---- */

static void set_point(trial *t, const point *p, const double x[3])
{
    for (size_t i = 0; i < p->size; i++)
        for (size_t k = 0; k < t->count; k++)
            if (t->coordinate[k] == (uint32_t)p->place[i])
                t->q[k] = x[i];
}

/* Of equal length, in different directions. */
static void direction(int k, size_t size, double d[3])
{
    double azimuth = 0.7 + 1.9 * k, height = size == 3 ? sin(0.4 + 1.3 * k) : 0;
    double level = sqrt(1 - height * height);
    d[0] = level * cos(azimuth);
    d[1] = level * sin(azimuth);
    d[2] = height;
}

/* f at a point `length` from c; Q, where there is one, at c. */
static double at_distance(trial *t, const point *p, const point *q, const double c[3], int k,
                          double length)
{
    double d[3], x[3];
    direction(k, p->size, d);
    for (int i = 0; i < 3; i++)
        x[i] = c[i] + length * d[i];
    set_point(t, p, x);
    if (q)
        set_point(t, q, c);
    return value_at(t);
}

/* Does f only depend on the distance from c (of P and Q, wherever Q is)? */
static bool keeps_distance(trial *t, const point *p, const point *q, const double c[3])
{
    double near = at_distance(t, p, q, c, 0, 1), far = at_distance(t, p, q, c, 0, 2);
    double difference = fabs(far - near);
    bool good = difference > 1e-9 * (fabs(far) + fabs(near)) && isfinite(difference);
    for (int k = 1; k <= TRIALS && good; k++) {
        double moved[3] = {c[0], c[1], c[2]};
        for (int i = 0; i < 3 && q; i++)
            moved[i] += 0.31 * k * (i + 1) - 0.5;
        good = fabs(at_distance(t, p, q, moved, k, 1) - near) <= 1e-9 * difference &&
               fabs(at_distance(t, p, q, moved, k, 2) - far) <= 1e-9 * difference;
    }
    return good;
}

/* Where the parabolas along the axes have their tops. */
static bool find_center(trial *t, const point *p, double c[3])
{
    for (size_t i = 0; i < p->size; i++) {
        double x[3] = {0}, f[3];
        for (int k = -1; k <= 1; k++) {
            x[i] = k;
            set_point(t, p, x);
            f[k + 1] = value_at(t);
        }
        double curvature = f[0] + f[2] - 2 * f[1];
        c[i] = (f[0] - f[2]) / (2 * curvature);
        if (fabs(c[i]) < 1e-12)
            c[i] = 0;
        if (!isfinite(c[i]))
            return false;
    }
    return true;
}

/* ---- drawings ---- */

static bool uses(const trial *t, const point *p)
{
    size_t found = 0;
    for (size_t i = 0; i < p->size; i++)
        for (size_t k = 0; k < t->count; k++)
            found += t->coordinate[k] == (uint32_t)p->place[i];
    return found == p->size;
}

static bool symbols_of(hmi_builder *b, const point *p, hmi_value *out)
{
    if (!hmi_value_new(b, 1, p->size, 1, out))
        return false;
    for (size_t i = 0; i < p->size; i++)
        out->items[i] = hmi_symbol(b->graph, HMI_SYM_COORD, (uint32_t)p->place[i]);
    return true;
}

static bool numbers_of(hmi_builder *b, const double *c, size_t size, hmi_value *out)
{
    if (!hmi_value_new(b, 1, size, 1, out))
        return false;
    for (size_t i = 0; i < size; i++)
        out->items[i] = hmi_number(b->graph, c[i]);
    return true;
}

static bool draw_anchored(trial *t, const point *p)
{
    double c[3] = {0};
    hmi_value ends[2];
    if (!find_center(t, p, c) || !keeps_distance(t, p, NULL, c))
        return true;
    return numbers_of(t->b, c, p->size, &ends[0]) && symbols_of(t->b, p, &ends[1]) &&
           hmi_add_drawing(t->b, HM_DRAWING_LINE, ends, 2, NULL, 1);
}

static bool draw_between(trial *t, const point *p, const point *q)
{
    const double c[3] = {0.2, -0.3, 0.4};
    hmi_value ends[2];
    if (!keeps_distance(t, p, q, c))
        return true;
    return symbols_of(t->b, p, &ends[0]) && symbols_of(t->b, q, &ends[1]) &&
           hmi_add_drawing(t->b, HM_DRAWING_LINE, ends, 2, NULL, 1);
}

/* y >= c of a point in the plane, z >= c in space. */
static bool draw_ground(trial *t, const point *p, bool *drawn)
{
    double f[3];
    if (*drawn || p->place[p->size - 1] != (int32_t)t->coordinate[0])
        return true;
    for (int k = 0; k < 3; k++) {
        t->q[0] = k;
        f[k] = value_at(t);
    }
    double slope = f[1] - f[0];
    if (!(slope > 0) || !(fabs(f[2] - f[1] - slope) <= 1e-9 * slope))
        return true;
    hmi_value height = hmi_scalar(hmi_number(t->b->graph, f[0] == 0 ? 0 : -f[0] / slope));
    *drawn = true;
    return hmi_add_drawing(t->b, HM_DRAWING_GROUND, &height, 1, NULL, 1);
}

static bool draw_row(trial *t, const hmi_constraint *row, const point *points, size_t count,
                     bool *ground)
{
    const uint16_t known = HMI_DEP(HMI_SYM_PARAM) | HMI_DEP(HMI_SYM_COORD);
    if (row->level != HM_LEVEL_POSITION || (hmi_deps(t->b->graph, row->residual) & ~known))
        return true;
    if (!begin_trial(t, row))
        return false;
    if (!find_coordinates(t))
        return true;
    const point *first = NULL;
    for (size_t i = 0; i < count; i++) {
        if (t->count == 1 && row->one_sided && !draw_ground(t, &points[i], ground))
            return false;
        if (!uses(t, &points[i]))
            continue;
        if (t->count == points[i].size)
            return draw_anchored(t, &points[i]);
        if (first && t->count == first->size + points[i].size)
            return draw_between(t, first, &points[i]);
        first = &points[i];
    }
    return true;
}

/* Points that were drawn, each place once. */
static size_t find_points(const hmi_builder *b, int32_t places[][3], point *points)
{
    size_t count = 0;
    for (size_t i = 0; i < b->model->drawings.count && count < MOST_POINTS; i++) {
        const hm_drawing *d = &b->model->drawings.data[i].shown;
        size_t size = d->kind == HM_DRAWING_POINT ? d->parts[0].rows : 0;
        bool whole = size == 2 || size == 3;
        for (size_t k = 0; k < size && whole; k++)
            whole = d->place[k] >= 0;
        if (!whole)
            continue;
        memcpy(places[count], d->place, sizeof d->place);
        points[count] = (point){places[count], size};
        count++;
    }
    return count;
}

bool hmi_draw_constraints(hmi_builder *b)
{
    int32_t places[MOST_POINTS][3];
    point points[MOST_POINTS];
    trial t = {.b = b};
    size_t count = find_points(b, places, points), rows = b->model->constraints.count;
    bool good = true, ground = false;
    hmi_walk_init(&t.walk, b->graph->allocator);
    for (size_t k = 0; k < rows && k < MOST_ROWS && count && good; k++)
        good = draw_row(&t, &b->model->constraints.data[k], points, count, &ground);
    if (t.work)
        hmi_free(b->graph->allocator, t.work, t.capacity * sizeof *t.work);
    hmi_walk_release(&t.walk);
    return good;
}
