/* Passes of the classification: about the initial state, and once more on every other side of functions
 * in the constraints that are not smooth.
 *
 * A constraint has a class on each side, z' = max(y - 50, 0) x' is exact where y < 50 and not integrable where
 * y > 50. The class of the whole is the weakest one, and the parts are named.
 * Verified: test/cases/classify/side*.hamel
 */
#include "analyse/classify/analysis.h"

#include <string.h>

#define SIDE_SPREAD 0.1

/* What a pass finds, apart from the public result. */
typedef struct pass {
    hm_constraint_analysis *rows;
    hmi_numeric_integral **numeric_integral;
    hm_set_analysis set;
} pass;

/* ---- one pass ---- */

/* Rows and set about the sampler's place: side NULL is the initial state. */
static hm_status classify(hmi_analysis *a, const double *state, const hmi_side_function *side,
                          int sign)
{
    hm_status status = hmi_forms_init(&a->forms, a->system);
    if (status == HM_OK)
        status = hmi_sampler_init(&a->sampler, &a->forms, a->q0, a->t0);
    if (status == HM_OK && side)
        status = hmi_sampler_move(&a->sampler, state, SIDE_SPREAD,
                                  hmi_side_zero(&a->forms.graph, side), sign);
    for (size_t k = 0; status == HM_OK && k < a->forms.m; k++) {
        status = hmi_classify_row(a, k);
        if (status == HM_OK)
            status = hmi_forms_status(&a->forms);
    }
    if (status == HM_OK)
        status = hmi_analyse_constraint_set(a);
    hmi_sampler_release(&a->sampler);
    hmi_forms_release(&a->forms);
    return status;
}

/* ---- parts ---- */

static const char *condition(hmi_analysis *a, hmi_graph *graph, const hmi_side_function *f,
                             int sign)
{
    const char *zero = hmi_analysis_print(a, graph, hmi_side_zero(graph, f));
    return zero ? hmi_analysis_text(a, "%s %s 0", zero, sign > 0 ? ">" : "<") : NULL;
}

static const char *describe(hmi_analysis *a, const hm_constraint_analysis *row, const char *where)
{
    if (row->potential && row->level != HM_LEVEL_POSITION)
        return hmi_analysis_text(a, "%s where %s, integrated form: %s", hm_class_text(row->kind),
                                 where, row->potential);
    return hmi_analysis_text(a, "%s where %s", hm_class_text(row->kind), where);
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_verdict(const hm_constraint_analysis *x, const hm_constraint_analysis *y)
{
    return x->kind == y->kind && x->reduction == y->reduction && x->catastatic == y->catastatic &&
           same_text(x->potential, y->potential) && same_text(x->linear_form, y->linear_form);
}

/* Where the verdicts differ, or one side could not be looked at, the parts are named. */
static hm_status name_parts(hmi_analysis *a, hm_constraint_analysis *row, const pass side[2],
                            const char *const where[2], size_t k)
{
    const hm_constraint_analysis *of[2] = {side[0].rows ? &side[0].rows[k] : NULL,
                                           side[1].rows ? &side[1].rows[k] : NULL};
    if (of[0] && of[1] && same_verdict(of[0], of[1]))
        return HM_OK;
    for (int i = 0; i < 2; i++) {
        const char *part = of[i] ? describe(a, of[i], where[i])
                                 : hmi_analysis_text(a, "not looked at where %s", where[i]);
        if (!part)
            return HM_ERR_NOMEM;
        row->parts = row->parts ? hmi_analysis_text(a, "%s; %s", row->parts, part) : part;
        if (!row->parts)
            return HM_ERR_NOMEM;
    }
    return HM_OK;
}

/* The weakest of both sides; an integrated form of one side is not one of the whole. */
static void weaken(hm_constraint_analysis *row, const hm_constraint_analysis *there)
{
    if (there->kind == HM_CLASS_UNCLASSIFIED)
        return;
    if (!same_text(row->potential, there->potential))
        row->potential = row->integrating_factor = row->leaf = NULL;
    row->kind = there->kind > row->kind ? there->kind : row->kind;
    row->catastatic &= there->catastatic;
    row->rheonomic |= there->rheonomic;
    row->redundant &= there->redundant;
    row->in_span &= there->in_span;
    row->G = there->G > row->G ? there->G : row->G;
}

static bool same_set(const hm_set_analysis *x, const hm_set_analysis *y)
{
    return x->rank == y->rank && x->holonomic_part == y->holonomic_part &&
           x->growth_count == y->growth_count &&
           memcmp(x->growth, y->growth, x->growth_count * sizeof *x->growth) == 0;
}

/* The set with fewer integrable combinations stands for the whole: no integral is claimed that a side
 * does not have. */
static hm_status merge_sets(hmi_analysis *a, const pass side[2], const char *const where[2])
{
    const hm_set_analysis *x = &side[0].set, *y = &side[1].set;
    hm_set_analysis *set = &a->shown.set;
    if (!set->known || !x->known || !y->known || same_set(x, y))
        return HM_OK;
    const char *parts = set->parts;
    const hm_set_analysis *weaker = x->holonomic_part < y->holonomic_part ? x : y;
    if (weaker->holonomic_part < set->holonomic_part)
        *set = *weaker;
    set->parts = hmi_analysis_text(
        a,
        "%s%srank %zu, %zu integrable, %zu dimensions of configuration where %s; rank %zu, %zu "
        "integrable, %zu dimensions where %s",
        parts ? parts : "", parts ? "; " : "", x->rank, x->holonomic_part,
        x->configuration_dimension, where[0], y->rank, y->holonomic_part,
        y->configuration_dimension, where[1]);
    return set->parts ? HM_OK : HM_ERR_NOMEM;
}

/* ---- other sides ---- */

/* Do the constraints contain the function? */
static hm_status occurs(hmi_analysis *a, const hmi_side_function *f, bool *found)
{
    hmi_walk walk;
    const hmi_graph *g = &a->system->derived.graph;
    hmi_walk_init(&walk, a->allocator);
    hm_status status = hmi_walk_begin(&walk, g);
    for (size_t k = 0; k < a->model->constraints.count && status == HM_OK; k++)
        status = hmi_walk_add(&walk, g, a->model->constraints.data[k].residual, 0xFFFF);
    bool first = false, second = f->b == HMI_NONE, rough = false;
    for (size_t i = 0; i < walk.order.count && status == HM_OK; i++) {
        hmi_op op = hmi_op_of(g, walk.order.data[i]);
        first |= walk.order.data[i] == f->a;
        second |= walk.order.data[i] == f->b;
        rough |= op == HMI_ABS || op == HMI_SIGN || op == HMI_MIN || op == HMI_MAX ||
                 op == HMI_SELECT || op == HMI_ATAN2 || op == HMI_FLOOR || op == HMI_CEIL;
    }
    *found = first && second && rough;
    hmi_walk_release(&walk);
    return status;
}

/* A pass on one side, into rows and a set of its own; rows NULL: it could not be looked at. */
static hm_status pass_on(hmi_analysis *a, const hmi_side_function *f, int sign, size_t state,
                         pass *out)
{
    size_t m = a->model->constraints.count, remarks = a->remarks.count;
    const pass start = {a->rows, a->numeric_integral, a->shown.set};
    *out = (pass){0};
    if (state == SIZE_MAX)
        return HM_OK;
    a->shown.set = (hm_set_analysis){0};
    hm_status status = hmi_analysis_take_rows(a);
    if (status == HM_OK) {
        status = classify(a, hmi_sides_state(&a->sides, state), f, sign);
        for (size_t k = 0; k < m; k++)
            if (a->numeric_integral[k])
                hmi_numeric_integral_release(a->numeric_integral[k]);
        *out = (pass){a->rows, NULL, a->shown.set};
    }
    a->rows = start.rows;
    a->shown.constraints = start.rows;
    a->numeric_integral = start.numeric_integral;
    a->shown.set = start.set;
    a->remarks.count = remarks;
    return status;
}

static hm_status join_sides(hmi_analysis *a, hmi_graph *graph, const hmi_side_function *f)
{
    pass side[2];
    const char *const where[2] = {condition(a, graph, f, -1), condition(a, graph, f, 1)};
    hm_status status = where[0] && where[1] ? pass_on(a, f, -1, f->negative, &side[0])
                                            : HM_ERR_NOMEM;
    if (status == HM_OK)
        status = pass_on(a, f, 1, f->positive, &side[1]);
    for (size_t k = 0; k < a->model->constraints.count && status == HM_OK; k++) {
        status = name_parts(a, &a->rows[k], side, where, k);
        for (int i = 0; i < 2; i++)
            if (side[i].rows)
                weaken(&a->rows[k], &side[i].rows[k]);
    }
    return status == HM_OK ? merge_sets(a, side, where) : status;
}

static hm_status other_sides(hmi_analysis *a)
{
    hmi_graph graph = {0};
    hm_status status = hmi_graph_copy(&graph, &a->system->derived.graph);
    for (size_t k = 0; k < a->sides.list.count && status == HM_OK; k++) {
        const hmi_side_function *f = &a->sides.list.data[k];
        bool found = false;
        status = occurs(a, f, &found);
        if (status == HM_OK && found)
            status = join_sides(a, &graph, f);
    }
    hmi_graph_release(&graph);
    return status;
}

hm_status hmi_classify_all(hmi_analysis *a)
{
    hm_status status = classify(a, NULL, NULL, 0);
    if (status == HM_OK && a->model->constraints.count)
        status = other_sides(a);
    if (status == HM_OK)
        hmi_find_principles(a);
    return status;
}
