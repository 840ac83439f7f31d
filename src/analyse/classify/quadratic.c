/* Restricts the quadratic form to the directions that the other constraints leave, and finds the
 * linear forms that its zeros satisfy (quadratic.h).
 * Verified: test/cases/test_classify.c (coin, sums of squares). */
#include "analyse/classify/quadratic.h"

#include "analyse/classify/square_root.h"
#include "analyse/integrability/transport.h"
#include "linalg/linalg.h"

#include <math.h>

enum { MOST_ROWS = HMI_SYMBOLIC_MOST, MOST_SIZE = 24 };

typedef struct study {
    hmi_sampler *sampler;
    hmi_forms *forms;
    size_t k, size; /* the row; n + 1 */
    hmi_expr psi;   /* its residual, or what it is when a root is cleared */
    size_t *others; /* pfaffian rows */
    size_t other_count;
    hmi_expr *H;      /* size x size */
    hmi_transport tr; /* of the others, at a point */
    hmi_expr *N;      /* size x freed: symbolic basis */
    hmi_expr *R;      /* freed x freed: N^T H N */
    size_t freed, rank;
    bool indefinite;
    const hmi_series_state *initial;
} study;

/* ---- H ---- */

/* psi = X^T H X / 2 with X = (q', tau), tau = 1: H holds second derivatives by velocities; linear
 * and constant terms go to the row and column of tau. */
static hm_status find_hessian(study *s, bool *quadratic)
{
    hmi_forms *f = s->forms;
    hmi_graph *g = &f->graph;
    hmi_form linear = {0};
    hm_status status = hmi_form_of_velocities(f, s->psi, &linear); /* gradient at any velocity */
    hmi_expr *gradient = hmi_arena_alloc(&f->arena, (s->size + 1) * sizeof *gradient);
    s->H = hmi_arena_alloc(&f->arena, s->size * s->size * sizeof *s->H);
    if (status != HM_OK || !gradient || !s->H)
        return status != HM_OK ? status : HM_ERR_NOMEM;
    *quadratic = true;
    for (size_t i = 0; i < s->size * s->size; i++)
        s->H[i] = g->zero;
    for (size_t i = 0; i < f->n; i++) {
        hmi_form row = {0};
        status = hmi_form_of_velocities(f, hmi_form_component(f, &linear, i), &row);
        if (status != HM_OK)
            return status;
        for (size_t k = 0; k < row.count; k++) {
            *quadratic &= !(hmi_deps(g, row.value[k]) & HMI_DEP(HMI_SYM_VELOCITY));
            s->H[i * s->size + row.at[k]] = row.value[k];
            if (row.at[k] == f->n)
                s->H[f->n * s->size + i] = row.value[k];
        }
    }
    s->H[s->size * s->size - 1] = hmi_mul(g, g->two, hmi_form_component(f, &linear, f->n));
    return hmi_forms_status(f);
}

/* ---- the form on the directions that the others leave ---- */

/* (H w)_i */
static hmi_expr polar_component(study *s, size_t i, const hmi_expr *w)
{
    hmi_graph *g = &s->forms->graph;
    hmi_expr sum = g->zero;
    for (size_t j = 0; j < s->size; j++)
        sum = hmi_add(g, sum, hmi_mul(g, s->H[i * s->size + j], w[j]));
    return sum;
}

static hm_status restrict_form(study *s)
{
    hmi_forms *f = s->forms;
    hmi_graph *g = &f->graph;
    hmi_expr column[MOST_SIZE];
    s->R = hmi_arena_alloc(&f->arena, (s->freed * s->freed + 1) * sizeof *s->R);
    if (!s->R)
        return HM_ERR_NOMEM;
    for (size_t b = 0; b < s->freed; b++) {
        for (size_t i = 0; i < s->size; i++)
            column[i] = s->N[i * s->freed + b];
        for (size_t a = 0; a < s->freed; a++) {
            hmi_expr sum = g->zero;
            for (size_t i = 0; i < s->size; i++)
                sum = hmi_add(g, sum,
                              hmi_mul(g, s->N[i * s->freed + a], polar_component(s, i, column)));
            s->R[a * s->freed + b] = hmi_forms_normal(f, sum);
        }
    }
    return hmi_forms_status(f);
}

/* ---- rank and signs at the point ---- */

static hm_status find_rank(study *s)
{
    hmi_forms *f = s->forms;
    hmi_series jet;
    double M[MOST_SIZE * MOST_SIZE], values[MOST_SIZE], vectors[MOST_SIZE * MOST_SIZE];
    int n = (int)s->freed;
    hmi_series_init(&jet, f->allocator, f->model, &f->graph);
    hm_status status = HM_OK;
    for (size_t i = 0; status == HM_OK && i < s->freed * s->freed; i++)
        status = hmi_series_add(&jet, s->R[i]);
    if (status == HM_OK) {
        hmi_curve_evaluate(&s->tr.point, &jet, 96);
        if (jet.failed)
            status = HM_ERR_NUMERIC;
        for (int i = 0; i < n * n; i++)
            M[i] = arf_get_d(arb_midref(hmi_series_root(&jet, (size_t)i, 0)), ARF_RND_NEAR);
    }
    hmi_series_release(&jet);
    if (status != HM_OK)
        return status;
    hmi_eigen(n, M, values, vectors);
    int positive = 0, negative = 0;
    double size = hmi_max_abs(n, values);
    for (int i = 0; i < n; i++) {
        positive += values[i] > 1e-10 * size;
        negative += values[i] < -1e-10 * size;
    }
    s->rank = (size_t)(positive + negative);
    s->indefinite = positive && negative;
    return HM_OK;
}

/* ---- linear forms ---- */

/* The square root of a product of even powers; else sqrt. */
static hmi_expr root_of(hmi_forms *f, hmi_expr e)
{
    hmi_graph *g = &f->graph;
    if (e == HMI_NONE)
        return HMI_NONE;
    hmi_op op = hmi_op_of(g, e);
    if (op == HMI_MUL || op == HMI_DIV) {
        hmi_expr a = root_of(f, hmi_operand(g, e, 0)), b = root_of(f, hmi_operand(g, e, 1));
        return op == HMI_MUL ? hmi_mul(g, a, b) : hmi_div(g, a, b);
    }
    if (op == HMI_POWI) {
        double p = hmi_constant_of(g, hmi_operand(g, e, 1))->value;
        if (fmod(p, 2) == 0)
            return hmi_pow(g, hmi_operand(g, e, 0), hmi_number(g, p / 2));
    }
    return hmi_apply(g, HMI_SQRT, e, HMI_NONE, HMI_NONE);
}

static uint32_t cost_of(hmi_forms *f, const hmi_form *form)
{
    uint32_t cost = 0;
    for (size_t k = 0; k < form->count; k++)
        cost += hmi_normal_cost(f->normal, form->value[k]);
    return cost;
}

/* Divides or multiplies the form by the factors of e where that makes it shorter. */
static void shorten(hmi_forms *f, hmi_form *form, hmi_expr e, int depth)
{
    hmi_graph *g = &f->graph;
    if (e == HMI_NONE)
        return;
    hmi_op op = hmi_op_of(g, e);
    hmi_expr value[MOST_SIZE];
    if (depth < 6 && (op == HMI_MUL || op == HMI_DIV)) {
        shorten(f, form, hmi_operand(g, e, 0), depth + 1);
        shorten(f, form, hmi_operand(g, e, 1), depth + 1);
        return;
    }
    bool number = hmi_is_const(g, e);
    for (int k = 0; k < (number ? 1 : 6); k++) {
        hmi_form trial = {.count = form->count, .value = value};
        for (size_t i = 0; i < form->count; i++)
            value[i] = hmi_forms_normal(f, k % 2 ? hmi_mul(g, form->value[i], e)
                                                 : hmi_div(g, form->value[i], e));
        if (cost_of(f, &trial) < cost_of(f, form) + number)
            for (size_t i = 0; i < form->count; i++)
                form->value[i] = value[i];
    }
}

static bool is_negated(const hmi_graph *g, hmi_expr e)
{
    return hmi_op_of(g, e) == HMI_NEG || (hmi_is_const(g, e) && hmi_constant_of(g, e)->value < 0);
}

/* H X* as a form. */
static hm_status polar_form(study *s, const hmi_expr *X, hmi_form *form)
{
    hmi_forms *f = s->forms;
    *form = (hmi_form){0};
    form->at = hmi_arena_alloc(&f->arena, s->size * sizeof *form->at);
    form->value = hmi_arena_alloc(&f->arena, s->size * sizeof *form->value);
    if (!form->at || !form->value)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < s->size; i++) {
        hmi_expr value = hmi_forms_normal(f, polar_component(s, i, X));
        if (value == f->graph.zero)
            continue;
        form->at[form->count] = (uint32_t)i;
        form->value[form->count++] = value;
    }
    for (size_t k = 0; k < form->count; k++)
        shorten(f, form, form->value[k], 0);
    if (hmi_forms_status(f) != HM_OK)
        return hmi_forms_status(f);
    if (form->count && is_negated(&f->graph, form->value[0]))
        for (size_t k = 0; k < form->count; k++)
            form->value[k] = hmi_forms_normal(f, hmi_neg(&f->graph, form->value[k]));
    return form->count ? hmi_form_differentiate(f, form) : HM_ERR_NUMERIC;
}

/* The indices of a plane in which the restricted form has rank 2 with r_ii != 0, or r_ii = r_jj =
 * 0. *D: r_ij^2 - r_ii r_jj. */
static bool branch_plane(study *s, size_t plane[2], hmi_expr *D)
{
    hmi_forms *f = s->forms;
    hmi_graph *g = &f->graph;
    size_t n = s->freed;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            hmi_expr a = s->R[i * n + i], b = s->R[i * n + j], c = s->R[j * n + j];
            *D = hmi_forms_normal(f, hmi_sub(g, hmi_mul(g, b, b), hmi_mul(g, a, c)));
            if (i == j || *D == g->zero || (a == g->zero && c != g->zero))
                continue;
            plane[0] = i;
            plane[1] = j;
            return true;
        }
    return false;
}

/* X = N w for one of the two zeros w: r_ii w_i^2 + 2 r_ij w_i w_j + r_jj w_j^2 = 0. */
static void branch_vector(study *s, const size_t plane[2], hmi_expr D, bool second, hmi_expr *X)
{
    hmi_forms *f = s->forms;
    hmi_graph *g = &f->graph;
    size_t n = s->freed, i = plane[0], j = plane[1];
    hmi_expr a = s->R[i * n + i], b = s->R[i * n + j], root = root_of(f, D);
    hmi_expr wi = second ? g->zero : g->one, wj = second ? g->one : g->zero;
    if (a != g->zero) {
        wi = hmi_div(g, hmi_sub(g, second ? hmi_neg(g, root) : root, b), a);
        wj = g->one;
    }
    for (size_t k = 0; k < s->size; k++)
        X[k] = hmi_forms_normal(
            f, hmi_add(g, hmi_mul(g, s->N[k * n + i], wi), hmi_mul(g, s->N[k * n + j], wj)));
}

/* |form| of the initial velocity over the length of the form. */
static hm_status value_at_start(study *s, const hmi_form *form, double *value)
{
    hmi_forms *f = s->forms;
    double sum = 0, length = 0, component;
    hm_status status = HM_OK;
    for (size_t k = 0; k < form->count && status == HM_OK; k++) {
        status = hmi_series_value(f->allocator, f->model, &f->graph, form->value[k], s->initial,
                                  &component);
        sum += component * (form->at[k] == f->n ? 1 : s->initial->v[form->at[k]]);
        length = hypot(length, component);
    }
    *value = fabs(sum) / length;
    return status;
}

/* Finds both branches, the one that holds at the initial state first. At rest both hold. */
static hm_status find_branches(study *s, hmi_form branch[2], bool *both)
{
    size_t plane[2];
    hmi_expr D, X[MOST_SIZE];
    double value[2] = {0};
    hm_status status = HM_OK;
    if (!branch_plane(s, plane, &D))
        return HM_ERR_NUMERIC;
    for (int k = 0; k < 2 && status == HM_OK; k++) {
        branch_vector(s, plane, D, k == 1, X);
        status = polar_form(s, X, &branch[k]);
        if (status == HM_OK)
            status = value_at_start(s, &branch[k], &value[k]);
    }
    *both = value[0] < 1e-9 && value[1] < 1e-9;
    if (value[1] < value[0]) {
        hmi_form first = branch[1];
        branch[1] = branch[0];
        branch[0] = first;
    }
    return status;
}

/* Chooses columns of N one by one whose polar forms are independent of the others. */
static hm_status square_forms(study *s, hmi_form *list, size_t *count)
{
    size_t all[MOST_SIZE];
    hm_status status = HM_OK;
    hmi_forms *f = s->forms;
    size_t keep = f->row_count;
    *count = 0;
    for (size_t b = 0; status == HM_OK && b < s->freed && *count < s->rank; b++) {
        hmi_expr X[MOST_SIZE];
        hmi_evidence evidence;
        bool depends = false;
        if (s->R[b * s->freed + b] == f->graph.zero)
            continue;
        for (size_t k = 0; k < s->size; k++)
            X[k] = s->N[k * s->freed + b];
        status = polar_form(s, X, &list[*count]);
        for (size_t i = 0; i < s->other_count; i++)
            all[i] = s->others[i];
        for (size_t i = 0; i < *count; i++) {
            f->rows[keep + i].form = list[i];
            all[s->other_count + i] = keep + i;
        }
        if (status == HM_OK)
            status = hmi_form_depends(s->sampler, &list[*count], all, s->other_count + *count,
                                      &depends, &evidence);
        *count += !depends;
    }
    return status;
}

/* ---- the whole ---- */

static hm_status open_study(study *s)
{
    hmi_forms *f = s->forms;
    s->others = hmi_arena_alloc(&f->arena, (f->row_count + 1) * sizeof *s->others);
    const hmi_form **form = hmi_arena_alloc(&f->arena, (f->row_count + 1) * sizeof *form);
    if (!s->others || !form)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < f->row_count; i++)
        if (f->rows[i].pfaffian && i != s->k) {
            form[s->other_count] = &f->rows[i].form;
            s->others[s->other_count++] = i;
        }
    hm_status status = hmi_transport_init(&s->tr, s->sampler, form, s->other_count, NULL, 0,
                                          s->size);
    if (status == HM_OK)
        status = hmi_transport_point(&s->tr, HMI_BITS);
    s->freed = s->size - s->tr.rank;
    return status;
}

/* Appends the forms to the rows and asks whether psi vanishes wherever they hold. */
static hm_status vanishes_on(study *s, const hmi_form *list, size_t count, bool *zero,
                             hmi_evidence *evidence)
{
    hmi_forms *f = s->forms;
    size_t all[2 * MOST_SIZE], used = s->other_count, first = f->row_count;
    for (size_t i = 0; i < s->other_count; i++)
        all[i] = s->others[i];
    for (size_t i = 0; i < count; i++) {
        f->rows[first + i] = (hmi_form_row){.row = f->rows[s->k].row,
                                            .residual = f->rows[s->k].residual,
                                            .pfaffian = true,
                                            .time_occurs = f->rows[s->k].time_occurs,
                                            .form = list[i]};
        all[used++] = first + i;
    }
    *zero = false;
    return hmi_zero_in_states(s->sampler, all, used, &s->psi, 1, zero, evidence);
}

/* The forms become rows where psi is proved to vanish on them, and on the other branch. */
static hm_status install(study *s, const hmi_form *list, size_t count, hmi_quadratic *result)
{
    bool zero = true;
    hm_status status = HM_OK;
    if (result->kind == HMI_BRANCHES)
        status = vanishes_on(s, &result->other, 1, &zero, &result->evidence);
    if (status == HM_OK && zero)
        status = vanishes_on(s, list, count, &zero, &result->evidence);
    if (status != HM_OK || !zero) {
        result->kind = HMI_NOT_LINEAR;
        return status == HM_ERR_NOMEM ? status : HM_OK;
    }
    result->first_row = s->forms->row_count;
    result->rows = count;
    s->forms->row_count += count;
    return HM_OK;
}

static hm_status decide(study *s, hmi_quadratic *result)
{
    hmi_form list[MOST_SIZE];
    size_t count = 0;
    hm_status status = find_rank(s);
    if (status != HM_OK)
        return status;
    if (s->rank == 0) {
        result->kind = HMI_FOLLOWS;
    } else if (s->rank == 2 && s->indefinite) {
        result->kind = HMI_BRANCHES;
        status = find_branches(s, list, &result->both);
        result->other = list[1];
        count = 1;
    } else if (!s->indefinite) {
        result->kind = s->rank == 1 ? HMI_SQUARE : HMI_SUM_OF_SQUARES;
        status = square_forms(s, list, &count);
    } else {
        return HM_OK;
    }
    return status == HM_OK ? install(s, list, count, result) : status;
}

/* Is it quadratic in the velocities, by itself or with a root cleared? */
static hm_status look_for_quadratic(study *s, bool *quadratic, hmi_expr *side)
{
    hmi_expr squared;
    hm_status status = hmi_clear_square_root(s->forms, s->psi, &squared, side);
    if (status != HM_OK)
        return status;
    if (squared != HMI_NONE)
        s->psi = squared;
    return find_hessian(s, quadratic);
}

hm_status hmi_study_quadratic(hmi_sampler *sampler, size_t k, const hmi_series_state *initial,
                              hmi_quadratic *result)
{
    hmi_forms *f = sampler->forms;
    study s = {.sampler = sampler,
               .forms = f,
               .k = k,
               .psi = f->rows[k].residual,
               .size = f->n + 1,
               .initial = initial};
    bool quadratic = false;
    *result = (hmi_quadratic){.kind = HMI_NOT_LINEAR, .side = HMI_NONE};
    if (!f->normal || s.size > MOST_SIZE || f->row_count > MOST_SIZE)
        return HM_OK;
    hm_status status = look_for_quadratic(&s, &quadratic, &result->side);
    if (status == HM_OK && quadratic)
        status = open_study(&s);
    if (status == HM_OK && quadratic && s.tr.rank <= MOST_ROWS) {
        status = hmi_transport_basis(&s.tr, &s.N);
        if (status == HM_OK)
            status = restrict_form(&s);
        if (status == HM_OK)
            status = decide(&s, result);
    }
    hmi_transport_release(&s.tr);
    if (status == HM_ERR_NOMEM)
        return status;
    if (status != HM_OK)
        result->kind = HMI_NOT_LINEAR;
    return hmi_forms_status(f);
}
