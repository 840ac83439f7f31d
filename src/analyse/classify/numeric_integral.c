/* Integrated forms in numbers: see numeric_integral.h. */
#include "analyse/classify/numeric_integral.h"

#include "dynamics/sim/sim.h"
#include "compile/jit/assemble.h"

#include <math.h>
#include <string.h>

enum { FEWEST = 16, MOST = 1 << 15 };

/* One evaluation: omega at a point. */
typedef struct place {
    const hmi_leaf *leaf;
    double *z, *from, *to; /* n + 1 each */
    double *work;
} place;

static const double *form_at(const place *p)
{
    const hmi_leaf *leaf = p->leaf;
    const hmi_tape_values values = {.by_kind = {[HMI_SYM_COORD] = p->z,
                                                [HMI_SYM_TIME] = p->z + leaf->n,
                                                [HMI_SYM_PARAM] = leaf->params}};
    hmi_tape_run(&leaf->tape, &values, p->work);
    return hmi_tape_outputs(&leaf->tape, p->work);
}

static hm_status open_place(place *p, const hmi_leaf *leaf, hmi_arena *arena)
{
    size_t size = leaf->n + 1;
    p->leaf = leaf;
    p->z = hmi_arena_alloc(arena, (3 * size + leaf->tape.work_size + 1) * sizeof(double));
    if (!p->z)
        return HM_ERR_NOMEM;
    p->from = p->z + size;
    p->to = p->from + size;
    p->work = p->to + size;
    const hmi_tape_values values = {.by_kind = {[HMI_SYM_COORD] = p->z,
                                                [HMI_SYM_TIME] = p->z + leaf->n,
                                                [HMI_SYM_PARAM] = leaf->params}};
    hmi_tape_prepare(&leaf->tape, &values, p->work);
    return HM_OK;
}

/* dz_p/ds where z_p is y and the others are at s of the way. */
static double slope(const place *p, double s, double y)
{
    size_t n = p->leaf->n;
    double sum = 0;
    for (size_t j = 0; j <= n; j++)
        p->z[j] = (1 - s) * p->from[j] + s * p->to[j];
    p->z[p->leaf->p] = y;
    const double *omega = form_at(p);
    for (size_t j = 0; j <= n; j++)
        if (j != p->leaf->p)
            sum -= omega[j] * (p->to[j] - p->from[j]);
    return sum / omega[p->leaf->p];
}

/* Runge and Kutta's fourth-order method, so many steps. */
static double follow(const place *p, int steps)
{
    double y = p->from[p->leaf->p], h = 1.0 / steps;
    for (int k = 0; k < steps; k++) {
        double s = k * h;
        double a = slope(p, s, y), b = slope(p, s + h / 2, y + h / 2 * a),
               c = slope(p, s + h / 2, y + h / 2 * b), d = slope(p, s + h, y + h * c);
        y += h / 6 * (a + 2 * b + 2 * c + d);
    }
    return y;
}

hm_status hmi_leaf_value(const hmi_leaf *leaf, const double *q, double t, double *f)
{
    place p;
    hmi_arena arena;
    hmi_arena_init(&arena, leaf->allocator);
    hm_status status = open_place(&p, leaf, &arena);
    if (status == HM_OK) {
        memcpy(p.from, q, leaf->n * sizeof(double));
        memcpy(p.to, leaf->center, (leaf->n + 1) * sizeof(double));
        p.from[leaf->n] = t;
        double before = follow(&p, FEWEST), now = before;
        status = HM_ERR_NUMERIC;
        for (int steps = 2 * FEWEST; steps <= MOST && status != HM_OK; steps *= 2) {
            now = follow(&p, steps);
            if (fabs(now - before) <= 1e-12 * (1 + fabs(now)))
                status = HM_OK;
            before = now;
        }
        *f = now;
    }
    hmi_arena_release(&arena);
    return status;
}

/* ---- making one ---- */

static hm_status take_params(hmi_leaf *leaf, hmi_arena *arena, const hm_system *system)
{
    hm_sim *sim = NULL;
    size_t count = system->model->params.count;
    hm_status status = hm_sim_create(system, &sim);
    if (status != HM_OK)
        return status;
    leaf->params = hmi_arena_alloc(arena, (count + 1) * sizeof *leaf->params);
    if (leaf->params)
        memcpy(leaf->params, sim->given.params, count * sizeof *leaf->params);
    hm_sim_destroy(sim);
    return leaf->params ? HM_OK : HM_ERR_NOMEM;
}

/* The coordinate with the largest component at the centre. */
static hm_status choose_coordinate(hmi_leaf *leaf)
{
    place p;
    hmi_arena arena;
    double largest = 0;
    hmi_arena_init(&arena, leaf->allocator);
    hm_status status = open_place(&p, leaf, &arena);
    if (status == HM_OK) {
        memcpy(p.z, leaf->center, (leaf->n + 1) * sizeof(double));
        const double *omega = form_at(&p);
        for (size_t j = 0; j < leaf->n; j++)
            if (fabs(omega[j]) > largest) {
                largest = fabs(omega[j]);
                leaf->p = j;
            }
    }
    hmi_arena_release(&arena);
    return status == HM_OK && !(largest > 0) ? HM_ERR_NUMERIC : status;
}

hm_status hmi_leaf_init(hmi_leaf *leaf, hmi_arena *arena, hmi_forms *forms, const hmi_form *form,
                        const double *q0, double t0)
{
    const uint16_t known = HMI_DEP(HMI_SYM_COORD) | HMI_DEP(HMI_SYM_TIME) | HMI_DEP(HMI_SYM_PARAM);
    size_t size = forms->n + 1;
    *leaf = (hmi_leaf){
        .allocator = forms->allocator, .n = forms->n, .tape = {.allocator = forms->allocator}};
    hmi_expr *omega = hmi_arena_alloc(&forms->arena, size * sizeof *omega);
    leaf->center = hmi_arena_alloc(arena, size * sizeof *leaf->center);
    if (!omega || !leaf->center)
        return HM_ERR_NOMEM;
    for (size_t j = 0; j < size; j++) {
        omega[j] = hmi_form_component(forms, form, j);
        if (hmi_deps(&forms->graph, omega[j]) & ~known)
            return HM_ERR_NUMERIC;
    }
    memcpy(leaf->center, q0, forms->n * sizeof(double));
    leaf->center[forms->n] = t0;
    hm_status status = take_params(leaf, arena, forms->system);
    if (status == HM_OK)
        status = hmi_tape_compile(&leaf->tape, &forms->graph, omega, size);
    return status == HM_OK ? choose_coordinate(leaf) : status;
}

void hmi_leaf_release(hmi_leaf *leaf)
{
    hmi_tape_release(&leaf->tape);
}
