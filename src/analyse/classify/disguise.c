/* Finds candidates for the linear form behind a nonlinear constraint, and verifies them (disguise.h). */
#include "analyse/classify/disguise.h"

#include "analyse/classify/solve_for.h"
#include "analyse/integrability/transport.h"

#include <math.h>

enum { MOST_SIZE = 24, ATTEMPTS = 12, ROUNDS = 3 };
#define AT_START 1e-9

typedef struct study {
    hmi_sampler *sampler;
    hmi_forms *forms;
    size_t k;
    hmi_expr psi;
    hmi_expr gradient[MOST_SIZE]; /* d psi / dq' */
    const hmi_series_state *initial;
    hmi_quadratic *result;
} study;

/* ---- numbers ---- */

static double value_of(study *s, hmi_expr e)
{
    double value = NAN;
    hmi_forms *f = s->forms;
    if (e != HMI_NONE &&
        hmi_series_value(f->allocator, f->model, &f->graph, e, s->initial, &value) != HM_OK)
        return NAN;
    return value;
}

/* A simple ratio where the value is one to the last digits; what follows is verified. */
static hmi_expr number(hmi_graph *g, double value)
{
    for (int q = 1; q <= 12; q++)
        if (fabs(value * q) < 1e6 &&
            fabs(value * q - round(value * q)) < 1e-14 * fmax(1, fabs(value)))
            return hmi_ratio(g, (int64_t)round(value * q), q);
    return hmi_number(g, value);
}

/* ---- verification ---- */

static void list_rows(study *s, const hmi_form *form, size_t *all, size_t *count)
{
    hmi_forms *f = s->forms;
    *count = 0;
    for (size_t i = 0; i < f->row_count && *count < MOST_SIZE; i++)
        if (f->rows[i].pfaffian && i != s->k)
            all[(*count)++] = i;
    f->rows[f->row_count] = (hmi_form_row){.row = f->rows[s->k].row,
                                           .residual = f->rows[s->k].residual,
                                           .pfaffian = true,
                                           .time_occurs = f->rows[s->k].time_occurs,
                                           .form = *form};
    all[(*count)++] = f->row_count;
}

/* e where the velocity points the way it does at the start, else 0: atan2(y', x') = phi is a half plane. */
static hmi_expr forwards(study *s, hmi_expr e)
{
    hmi_graph *g = &s->forms->graph;
    hmi_expr along = g->zero;
    for (size_t j = 0; j < s->forms->n; j++)
        along = hmi_add(g, along,
                        hmi_mul(g, hmi_number(g, s->initial->v[j]),
                                hmi_symbol(g, HMI_SYM_VELOCITY, (uint32_t)j)));
    if (along == g->zero)
        return e;
    return hmi_apply(g, HMI_SELECT, hmi_apply(g, HMI_LT, g->zero, along, HMI_NONE), e, g->zero);
}

/* Are these zero wherever the form and the other constraints hold, forwards? Several rounds, since half of
 * the states point backwards and some have no value (logarithms of velocities): then others are drawn. */
static hm_status all_vanish(study *s, const size_t *all, size_t count, const hmi_expr *list,
                            size_t list_count, bool *zero)
{
    hmi_expr half[MOST_SIZE];
    int done = 0;
    for (size_t i = 0; i < list_count; i++)
        half[i] = forwards(s, list[i]);
    *zero = true;
    for (int k = 0; k < ATTEMPTS && done < ROUNDS && *zero; k++) {
        hm_status status = hmi_zero_in_states(s->sampler, all, count, half, list_count, zero,
                                              &s->result->evidence);
        if (status == HM_OK)
            done++;
        else if (status != HM_ERR_NUMERIC && status != HM_ERR_LIMIT)
            return status;
    }
    *zero = *zero && done == ROUNDS;
    return HM_OK;
}

static bool holds_at_start(study *s, const hmi_form *form)
{
    double sum = 0, size = 0;
    for (size_t i = 0; i < form->count; i++) {
        double rate = form->at[i] == s->forms->n ? 1 : s->initial->v[form->at[i]];
        double term = value_of(s, form->value[i]) * rate;
        sum += term;
        size += fabs(term);
    }
    return fabs(sum) <= AT_START * fmax(size, 1);
}

/* ---- shorter forms ---- */

static uint32_t cost_of(study *s, const hmi_expr *value, size_t count)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += hmi_normal_cost(s->forms->normal, value[i]);
    return sum;
}

/* Multiplies by denominators where that makes the form shorter: it is then more often exact. */
static void clear_denominators(study *s, hmi_form *form)
{
    hmi_graph *g = &s->forms->graph;
    for (size_t i = 0; i < form->count; i++) {
        hmi_expr trial[MOST_SIZE];
        if (hmi_op_of(g, form->value[i]) == HMI_NEG || hmi_op_of(g, form->value[i]) == HMI_DIV) {
            hmi_expr quotient = form->value[i];
            if (hmi_op_of(g, quotient) == HMI_NEG)
                quotient = hmi_operand(g, quotient, 0);
            if (hmi_op_of(g, quotient) != HMI_DIV)
                continue;
            hmi_expr by = hmi_operand(g, quotient, 1);
            for (size_t j = 0; j < form->count; j++)
                trial[j] = hmi_forms_normal(s->forms, hmi_mul(g, form->value[j], by));
            if (hmi_forms_status(s->forms) == HM_OK &&
                cost_of(s, trial, form->count) < cost_of(s, form->value, form->count))
                for (size_t j = 0; j < form->count; j++)
                    form->value[j] = trial[j];
        }
    }
}

/* Components that are zero without being written as 0. */
static hm_status drop_zeros(study *s, hmi_form *form)
{
    size_t kept = 0;
    for (size_t i = 0; i < form->count; i++) {
        hmi_evidence evidence;
        bool zero = false;
        hm_status status = hmi_all_zero(s->sampler, &form->value[i], 1, &zero, &evidence);
        if (status == HM_ERR_NOMEM)
            return status;
        if (status == HM_OK && zero)
            continue;
        form->at[kept] = form->at[i];
        form->value[kept++] = form->value[i];
    }
    form->count = kept;
    return HM_OK;
}

/* Installs the form as a row where it is what it seems. */
static hm_status try_form(study *s, hmi_form *form)
{
    size_t all[MOST_SIZE + 1], count;
    bool zero = false, vanishes = false;
    const hmi_graph *g = &s->forms->graph;
    for (size_t i = 0; i < form->count; i++)
        if (form->value[i] == HMI_NONE || hmi_deps(g, form->value[i]) & HMI_DEP(HMI_SYM_VELOCITY))
            return HM_OK;
    if (!form->count || !holds_at_start(s, form))
        return hmi_forms_status(s->forms);
    hm_status status = drop_zeros(s, form);
    if (status == HM_OK)
        clear_denominators(s, form);
    if (status == HM_OK)
        status = form->count ? hmi_form_differentiate(s->forms, form) : HM_ERR_LIMIT;
    if (status == HM_ERR_LIMIT)
        return HM_OK;
    list_rows(s, form, all, &count);
    if (status == HM_OK)
        status = all_vanish(s, all, count, &s->psi, 1, &zero);
    if (status == HM_OK && zero)
        status = all_vanish(s, all, count, s->gradient, s->forms->n, &vanishes);
    if (status != HM_OK || !zero)
        return status;
    s->result->kind = vanishes ? HMI_SQUARE : HMI_DISGUISED;
    s->result->first_row = s->forms->row_count++;
    s->result->rows = 1;
    return HM_OK;
}

static hm_status new_form(study *s, hmi_form *form)
{
    size_t size = s->forms->n + 1;
    *form = (hmi_form){0};
    form->at = hmi_arena_alloc(&s->forms->arena, size * sizeof *form->at);
    form->value = hmi_arena_alloc(&s->forms->arena, size * sizeof *form->value);
    return form->at && form->value ? HM_OK : HM_ERR_NOMEM;
}

static void put(study *s, hmi_form *form, size_t at, hmi_expr value)
{
    hmi_expr normal = hmi_forms_normal(s->forms, value);
    if (normal == s->forms->graph.zero)
        return;
    form->at[form->count] = (uint32_t)at;
    form->value[form->count++] = normal;
}

/* ---- solved for one velocity ---- */

typedef struct probe_velocity {
    double value[MOST_SIZE];
} probe_velocity;

static hmi_expr at_probe(hmi_graph *graph, hmi_expr leaf, void *user)
{
    const probe_velocity *v = user;
    const hmi_node *node = hmi_node_at(graph, leaf);
    return node->a == HMI_SYM_VELOCITY ? number(graph, v->value[node->b]) : leaf;
}

static hmi_expr evaluated_at(study *s, hmi_expr e, probe_velocity *v)
{
    hmi_substitution substitution;
    hmi_substitution_init(&substitution, s->forms->allocator, at_probe, v,
                          HMI_DEP(HMI_SYM_VELOCITY));
    hmi_expr result = hmi_substitute(&substitution, &s->forms->graph, e);
    hmi_substitution_release(&substitution);
    if (result != HMI_NONE && hmi_is_const(&s->forms->graph, result))
        result = number(&s->forms->graph, hmi_constant_of(&s->forms->graph, result)->value);
    return result;
}

/* q'_p - R as a form, R taken to be affine: its slopes are those at one velocity. */
static hm_status try_solution(study *s, size_t p, hmi_expr R, probe_velocity *v)
{
    hmi_form form;
    hmi_forms *f = s->forms;
    hmi_graph *g = &f->graph;
    hmi_expr slope[MOST_SIZE], rest = evaluated_at(s, R, v);
    hm_status status = new_form(s, &form);
    if (status == HM_OK)
        status = hmi_gradient(&f->adjoint, g, R, HMI_SYM_VELOCITY);
    for (size_t j = 0; j < f->n; j++)
        slope[j] = g->zero;
    for (size_t i = 0; status == HM_OK && i < f->adjoint.partials.count; i++)
        if (f->adjoint.partials.data[i].index < f->n)
            slope[f->adjoint.partials.data[i].index] = f->adjoint.partials.data[i].value;
    for (size_t j = 0; status == HM_OK && j < f->n; j++) {
        hmi_expr a = slope[j] == g->zero ? g->zero : evaluated_at(s, slope[j], v);
        put(s, &form, j, j == p ? g->one : hmi_neg(g, a));
        rest = hmi_sub(g, rest, hmi_mul(g, a, number(g, v->value[j])));
    }
    if (status == HM_OK)
        put(s, &form, f->n, hmi_neg(g, rest));
    if (status == HM_OK && hmi_forms_status(f) == HM_OK)
        status = try_form(s, &form);
    return status == HM_OK ? hmi_forms_status(f) : status;
}

/* Every velocity at which R may have a value: ones, ones with the signs of the start, the start. */
static hm_status solve_for_each(study *s)
{
    hmi_forms *f = s->forms;
    hm_status status = HM_OK;
    for (size_t p = 0; p < f->n && status == HM_OK && s->result->kind == HMI_NOT_LINEAR; p++) {
        hmi_expr R = hmi_solve_for(f, s->psi, (uint32_t)p, s->initial);
        for (int kind = 0;
             kind < 3 && R != HMI_NONE && status == HM_OK && s->result->kind == HMI_NOT_LINEAR;
             kind++) {
            probe_velocity v;
            for (size_t j = 0; j < f->n; j++) {
                double start = s->initial->v[j];
                v.value[j] = kind == 2 ? start : kind == 1 && start < 0 ? -1 : 1;
            }
            status = try_solution(s, p, R, &v);
        }
    }
    return status;
}

/* ---- all velocities together ---- */

static hm_status try_taken_off(study *s)
{
    hmi_form form;
    hmi_forms *f = s->forms;
    hmi_graph *g = &f->graph;
    probe_velocity none = {{0}};
    hmi_expr e = hmi_take_off(f, s->psi, s->initial);
    hm_status status = e == HMI_NONE ? HM_OK : new_form(s, &form);
    if (e == HMI_NONE || status != HM_OK)
        return status == HM_OK ? hmi_forms_status(f) : status;
    hmi_expr slope[MOST_SIZE], rest = evaluated_at(s, e, &none);
    for (size_t j = 0; j < f->n; j++)
        slope[j] = g->zero;
    status = hmi_gradient(&f->adjoint, g, e, HMI_SYM_VELOCITY);
    for (size_t i = 0; status == HM_OK && i < f->adjoint.partials.count; i++)
        if (f->adjoint.partials.data[i].index < f->n)
            slope[f->adjoint.partials.data[i].index] = f->adjoint.partials.data[i].value;
    for (size_t j = 0; status == HM_OK && j < f->n; j++)
        put(s, &form, j, slope[j]);
    if (status == HM_OK)
        put(s, &form, f->n, rest);
    if (status == HM_OK && hmi_forms_status(f) == HM_OK)
        status = try_form(s, &form);
    return status == HM_OK ? hmi_forms_status(f) : status;
}

/* ---- ratios of the gradient ---- */

/* (d psi/dq'_j) / (d psi/dq'_p): free of velocities by themselves, or numbers at the initial state. */
static hm_status try_ratios(study *s, size_t p, bool numbers)
{
    hmi_form form;
    hmi_forms *f = s->forms;
    hmi_graph *g = &f->graph;
    double pivot = value_of(s, s->gradient[p]), rest = 0;
    hm_status status = new_form(s, &form);
    if (status != HM_OK || !isfinite(pivot) || pivot == 0)
        return status;
    for (size_t j = 0; j < f->n; j++) {
        hmi_expr ratio = s->gradient[j] == g->zero ? g->zero
                         : numbers
                             ? number(g, value_of(s, s->gradient[j]) / pivot)
                             : hmi_forms_normal(f, hmi_div(g, s->gradient[j], s->gradient[p]));
        put(s, &form, j, ratio);
        rest += value_of(s, ratio) * s->initial->v[j];
    }
    if (!isfinite(rest))
        return HM_OK;
    if (fabs(rest) > AT_START)
        put(s, &form, f->n, number(g, -rest));
    return hmi_forms_status(f) == HM_OK ? try_form(s, &form) : hmi_forms_status(f);
}

static size_t largest_slope(study *s)
{
    size_t best = 0;
    double most = 0;
    for (size_t j = 0; j < s->forms->n; j++) {
        double size = fabs(value_of(s, s->gradient[j]));
        if (size > most) {
            most = size;
            best = j;
        }
    }
    return best;
}

static hm_status take_gradient(study *s)
{
    hmi_forms *f = s->forms;
    hm_status status = hmi_gradient(&f->adjoint, &f->graph, s->psi, HMI_SYM_VELOCITY);
    for (size_t j = 0; j < f->n; j++)
        s->gradient[j] = f->graph.zero;
    for (size_t i = 0; status == HM_OK && i < f->adjoint.partials.count; i++)
        if (f->adjoint.partials.data[i].index < f->n)
            s->gradient[f->adjoint.partials.data[i].index] = f->adjoint.partials.data[i].value;
    return status;
}

hm_status hmi_study_disguise(hmi_sampler *sampler, size_t k, const hmi_series_state *initial,
                             hmi_quadratic *result)
{
    hmi_forms *f = sampler->forms;
    study s = {.sampler = sampler,
               .forms = f,
               .k = k,
               .psi = f->rows[k].residual,
               .initial = initial,
               .result = result};
    *result = (hmi_quadratic){.kind = HMI_NOT_LINEAR, .side = HMI_NONE};
    if (!f->normal || f->n + 1 > MOST_SIZE || f->row_count >= MOST_SIZE)
        return HM_OK;
    hm_status status = take_gradient(&s);
    if (status == HM_OK)
        status = solve_for_each(&s);
    if (status == HM_OK && result->kind == HMI_NOT_LINEAR)
        status = try_taken_off(&s);
    size_t p = status == HM_OK ? largest_slope(&s) : 0;
    if (status == HM_OK && result->kind == HMI_NOT_LINEAR)
        status = try_ratios(&s, p, false);
    const uint16_t place = HMI_DEP(HMI_SYM_COORD) | HMI_DEP(HMI_SYM_TIME) | HMI_DEP(HMI_SYM_INPUT);
    if (status == HM_OK && result->kind == HMI_NOT_LINEAR && !(hmi_deps(&f->graph, s.psi) & place))
        status = try_ratios(&s, p, true);
    if (result->kind == HMI_NOT_LINEAR)
        result->evidence = (hmi_evidence){0};
    return status == HM_OK ? hmi_forms_status(f) : status;
}
