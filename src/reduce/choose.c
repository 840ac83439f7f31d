/* Which rows are independent, and which speeds are: by pivots that are numbers, by pairs of velocities that a
 * row turns (x' sin - y' cos = 0 leaves the speed along the blade, at every angle), and else by the size of the
 * pivots at a random state. */
#include "reduce/jordan.h"

#include <math.h>

typedef struct choice {
    hmi_jordan x; /* unknowns: velocities, then the speeds of pairs */
    size_t pairs;
    hmi_linear_form *pair;
    bool *absent; /* by unknown: no velocity of the final choice */
} choice;

/* ---- pairs ---- */

/* a^2 + b^2 is made of parameters alone and not zero? */
static bool turns(choice *c, hmi_expr a, hmi_expr b, hmi_expr *norm)
{
    hmi_reduce *r = c->x.r;
    hmi_graph *g = &r->graph;
    double value = 0;
    *norm = hmi_reduce_normal(r, hmi_add(g, hmi_mul(g, a, a), hmi_mul(g, b, b)));
    if (*norm == HMI_NONE || (hmi_deps(g, *norm) & ~HMI_DEP(HMI_SYM_PARAM)) ||
        hmi_evaluate_constant(g, *norm, r->params, &value) != HM_OK)
        return false;
    return value > 0;
}

/* With a v1 + b v2 = rest of the row and u = b v1 - a v2, the row and u take the place of v1 and v2. */
static void take_pair(choice *c, size_t row, size_t one, size_t two, hmi_expr norm)
{
    hmi_jordan *x = &c->x;
    hmi_reduce *r = x->r;
    hmi_graph *g = &r->graph;
    hmi_expr a = *hmi_jordan_at(x, row, one), b = *hmi_jordan_at(x, row, two);
    hmi_expr minus = hmi_reduce_normal(r, hmi_neg(g, b));
    bool turned = hmi_normal_cost(r->normal, minus) < hmi_normal_cost(r->normal, b);
    hmi_expr sign = turned ? g->minus_one : g->one;
    hmi_linear_form *u = &c->pair[c->pairs];
    size_t column = r->n + c->pairs++;
    *u = (hmi_linear_form){.c = hmi_reduce_vector(r, r->n), .rest = g->zero};
    if (r->failed)
        return;
    u->c[one] = hmi_reduce_normal(r, hmi_mul(g, sign, b));
    u->c[two] = hmi_reduce_normal(r, hmi_neg(g, hmi_mul(g, sign, a)));
    for (size_t i = 0; i < x->rows; i++) {
        hmi_expr p = *hmi_jordan_at(x, i, one), s = *hmi_jordan_at(x, i, two);
        if (i == row || (p == g->zero && s == g->zero))
            continue;
        hmi_expr along = hmi_sub(g, hmi_mul(g, p, b), hmi_mul(g, s, a));
        hmi_expr across = hmi_add(g, hmi_mul(g, p, a), hmi_mul(g, s, b));
        along = hmi_mul(g, sign, hmi_div(g, along, norm));
        across = hmi_reduce_normal(r, hmi_div(g, across, norm));
        for (size_t j = 0; j < x->columns; j++) {
            hmi_expr *to = hmi_jordan_at(x, i, j), e = *hmi_jordan_at(x, row, j);
            *to = hmi_reduce_normal(r, hmi_sub(g, *to, hmi_mul(g, across, e)));
        }
        *hmi_jordan_at(x, i, one) = *hmi_jordan_at(x, i, two) = g->zero;
        *hmi_jordan_at(x, i, column) = hmi_reduce_normal(r, along);
    }
    x->pivot[row] = (uint32_t)one;
    x->solved[one] = x->solved[two] = true;
    c->absent[column] = false;
}

static bool find_pair(choice *c)
{
    hmi_jordan *x = &c->x;
    hmi_expr zero = x->r->graph.zero, norm;
    for (size_t i = 0; i < x->rows; i++) {
        if (x->pivot[i] != HMI_NONE)
            continue;
        for (size_t one = 0; one < x->r->n; one++)
            for (size_t two = one + 1; two < x->r->n; two++) {
                hmi_expr a = *hmi_jordan_at(x, i, one), b = *hmi_jordan_at(x, i, two);
                if (a == zero || b == zero || x->solved[one] || x->solved[two] ||
                    !turns(c, a, b, &norm))
                    continue;
                take_pair(c, i, one, two, norm);
                return !x->r->failed;
            }
    }
    return false;
}

/* ---- what is left, by size ---- */

/* Scales rows to a largest entry of 1. */
static void scale_rows(double *w, size_t rows, size_t columns)
{
    for (size_t i = 0; i < rows; i++) {
        double most = 0;
        for (size_t j = 0; j < columns; j++)
            most = fmax(most, fabs(w[i * columns + j]));
        for (size_t j = 0; j < columns && most > 0; j++)
            w[i * columns + j] /= most;
    }
}

static bool largest_entry(const choice *c, const double *w, size_t *row, size_t *column)
{
    const hmi_jordan *x = &c->x;
    double most = 1e-9;
    for (size_t i = 0; i < x->rows; i++)
        for (size_t j = 0; x->pivot[i] == HMI_NONE && j < x->unknowns; j++)
            if (!x->solved[j] && !c->absent[j] && fabs(w[i * x->columns + j]) > most) {
                most = fabs(w[i * x->columns + j]);
                *row = i;
                *column = j;
            }
    return most > 1e-9;
}

static hm_status take_by_size(choice *c)
{
    hmi_jordan *x = &c->x;
    hmi_reduce *r = x->r;
    double *w = hmi_arena_doubles(&r->arena, x->rows * x->columns, &r->failed);
    hm_status status = r->failed ? HM_ERR_NOMEM
                                 : hmi_reduce_values(r, x->w, x->rows * x->columns, &r->state[0],
                                                     NULL, w);
    size_t row = 0, column = 0;
    if (status == HM_OK)
        scale_rows(w, x->rows, x->columns);
    while (status == HM_OK && largest_entry(c, w, &row, &column)) {
        const double *p = &w[row * x->columns];
        for (size_t i = 0; i < x->rows; i++) {
            double factor = w[i * x->columns + column] / p[column];
            for (size_t j = 0; i != row && factor != 0 && j < x->columns; j++)
                w[i * x->columns + j] -= factor * p[j];
        }
        x->pivot[row] = (uint32_t)column;
        x->solved[column] = true;
    }
    return status;
}

/* ---- the choice ---- */

/* Rows without a pivot follow from the others. */
static void keep_rows(hmi_reduce *r, const choice *c)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->rows; i++) {
        if (c->x.pivot[i] != HMI_NONE)
            r->row[kept++] = r->row[i];
        else
            hmi_reduce_note(r, hmi_reduce_name(r, "constraint %s follows from the others: left out",
                                               r->row[i].name ? r->row[i].name : "row"));
    }
    r->rows = kept;
}

static bool name_begins(const hm_model *model, const char *prefix)
{
#define LOOK(array)                                                                                \
    for (size_t i = 0; i < model->array.count; i++)                                                \
        if (model->array.data[i].name && model->array.data[i].name[0] == prefix[0])                \
            return true;
    LOOK(params)
    LOOK(coords)
    LOOK(states)
    LOOK(inputs)
    LOOK(outputs)
    LOOK(named)
#undef LOOK
    return false;
}

static const char *free_prefix(const hm_model *model)
{
    static const char *const prefixes[] = {"u", "w", "nu", "h", "speed_"};
    for (size_t i = 0; i + 1 < sizeof prefixes / sizeof *prefixes; i++)
        if (!name_begins(model, prefixes[i]))
            return prefixes[i];
    return prefixes[4];
}

static void list_speeds(hmi_reduce *r, const choice *c)
{
    const char *prefix = free_prefix(r->model);
    size_t quasi = 0;
    r->k = 0;
    for (size_t j = 0; j < r->n + c->pairs; j++) {
        if (c->x.solved[j] || c->absent[j])
            continue;
        hmi_speed *speed = &r->speed[r->k++];
        *speed = (hmi_speed){.coordinate = j < r->n ? (uint32_t)j : HMI_NONE};
        if (j >= r->n) {
            speed->form = c->pair[j - r->n];
            speed->name = hmi_reduce_name(r, "%s%zu", prefix, ++quasi);
            continue;
        }
        speed->name = hmi_reduce_name(r, "%s'", r->model->coords.data[j].name);
        speed->form = (hmi_linear_form){.c = hmi_reduce_vector(r, r->n), .rest = r->graph.zero};
        if (!r->failed)
            speed->form.c[j] = r->graph.one;
    }
}

static bool may_turn(const hmi_reduce *r)
{
    return r->form != HM_REDUCED_FORM_VORONETS && r->form != HM_REDUCED_FORM_EMBED &&
           r->form != HM_REDUCED_FORM_ROUTH;
}

static hm_status begin(hmi_reduce *r, choice *c)
{
    if (!hmi_jordan_init(&c->x, r, r->rows, r->n + r->rows, r->n + r->rows))
        return HM_ERR_NOMEM;
    c->pair = hmi_arena_alloc(&r->arena, (r->rows + 1) * sizeof *c->pair);
    c->absent = hmi_arena_alloc(&r->arena, (r->n + r->rows + 1) * sizeof *c->absent);
    if (!c->pair || !c->absent)
        return HM_ERR_NOMEM;
    for (size_t j = r->n; j < r->n + r->rows; j++)
        c->absent[j] = true;
    for (size_t i = 0; i < r->rows; i++)
        for (size_t j = 0; j < r->n; j++)
            *hmi_jordan_at(&c->x, i, j) = r->row[i].c[j];
    for (size_t i = 0; i < r->rows; i++)
        if (r->row[i].wanted)
            hmi_jordan_take(&c->x, i, r->row[i].wanted - 1);
    return HM_OK;
}

static hm_status check_count(hmi_reduce *r)
{
    if (r->k == r->n - r->rows)
        return HM_OK;
    hmi_error(r->context, hmi_no_span, "leave --speeds out to have them chosen",
              "%zu speed%s given, but %zu coordinates and %zu independent constraint%s leave %zu",
              r->k, r->k == 1 ? " is" : "s are", r->n, r->rows, r->rows == 1 ? "" : "s",
              r->n - r->rows);
    return HM_ERR_INPUT;
}

hm_status hmi_reduce_choose_speeds(hmi_reduce *r)
{
    choice c = {0};
    hm_status status = begin(r, &c);
    while (status == HM_OK && !r->failed &&
           (hmi_jordan_take_constant(&c.x) || (may_turn(r) && find_pair(&c))))
        ;
    if (status == HM_OK)
        status = r->failed ? HM_ERR_NOMEM : take_by_size(&c);
    if (status != HM_OK)
        return status;
    keep_rows(r, &c);
    if (!r->own_speeds)
        list_speeds(r, &c);
    status = check_count(r);
    for (size_t k = 0; status == HM_OK && k < r->k; k++) {
        hmi_speed *s = &r->speed[k];
        bool is_velocity = s->coordinate != HMI_NONE;
        uint32_t i = is_velocity ? s->coordinate : (uint32_t)(r->nz + k);
        s->symbol = hmi_symbol(&r->graph, is_velocity ? HMI_SYM_VELOCITY : HMI_SYM_STATE, i);
        s->rate = is_velocity ? hmi_symbol(&r->graph, HMI_SYM_ACCELERATION, i)
                              : hmi_symbol(&r->graph, HMI_SYM_VELOCITY, (uint32_t)(r->n + k));
    }
    return status == HM_OK ? hmi_reduce_status(r) : status;
}
