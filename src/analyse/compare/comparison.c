/* Creates a comparison of the right equations with wrong ones, and evaluates both at a state. */
#include "base/argument.h"
#include "analyse/compare/comparison.h"

#include "linalg/dense.h"

#include <math.h>
#include <string.h>

/* ---- creation ---- */

static hm_status allocate(hm_comparison *c)
{
    bool failed = false;
    size_t n = c->n, m = c->m;
    c->qdd = hmi_arena_doubles(&c->arena, n, &failed);
    c->lambda = hmi_arena_doubles(&c->arena, m, &failed);
    c->other_qdd = hmi_arena_doubles(&c->arena, n, &failed);
    c->other_lambda = hmi_arena_doubles(&c->arena, m, &failed);
    c->mu = hmi_arena_doubles(&c->arena, m, &failed);
    c->mudot = hmi_arena_doubles(&c->arena, m, &failed);
    c->G = hmi_arena_doubles(&c->arena, m * n, &failed);
    c->A = hmi_arena_doubles(&c->arena, m * n, &failed);
    c->difference = hmi_arena_doubles(&c->arena, n, &failed);
    c->scratch = hmi_arena_doubles(&c->arena, 2 * (n + m), &failed);
    c->mu_row = hmi_arena_alloc(&c->arena, (m + 1) * sizeof *c->mu_row);
    return failed || !c->mu_row ? HM_ERR_NOMEM : HM_OK;
}

/* Is a row redundant at the sim's state, brought to the constraints? Where that cannot be told
 * every row is left as it is. A row of zeros is not redundant, it is singular here. */
static hm_status drop_redundant(hm_comparison *c, hm_sim *sim, bool all_free, bool *used)
{
    const hm_moved *moved;
    size_t count;
    hm_evaluation at = {0};
    hm_status status = c->system->model->keep_initial
                           ? HM_OK
                           : hm_sim_make_consistent(sim, all_free, &moved, &count);
    if (status == HM_OK)
        status = hm_sim_evaluate(sim, NULL, &at);
    for (size_t i = 0; i < c->m && status == HM_OK && at.redundant; i++) {
        double size = 0;
        for (size_t k = at.A.row_start[i]; k < at.A.row_start[i + 1]; k++)
            size = fmax(size, fabs(at.A.value[k]));
        used[i] = used[i] || !at.redundant[i] || !(size > 1e-9);
    }
    return status;
}

/* Moves the sim to another state, the same one on every machine. */
static void displace(hm_sim *sim)
{
    for (size_t i = 0; i < sim->system->derived.n; i++) {
        sim->state.q[i] += 0.3 * sin(1.7 + 2.3 * (double)i);
        sim->state.v[i] += 0.7 * cos(0.4 + 1.9 * (double)i);
    }
}

/* Rows that get a mu: those that depend on rows before them would leave theirs undetermined. Seen
 * at the model's initial state and at another one: a state may be singular. */
static hm_status choose_rows(hm_comparison *c, bool *used)
{
    hm_sim *sim = NULL;
    hm_status status = hm_sim_create(c->system, &sim);
    if (status != HM_OK)
        return status;
    hm_status first = drop_redundant(c, sim, false, used);
    displace(sim);
    hm_status second = drop_redundant(c, sim, true, used);
    for (size_t i = 0; i < c->m; i++)
        used[i] = used[i] || (first != HM_OK && second != HM_OK);
    hm_sim_destroy(sim); /* what it said the evaluation of the comparison says again */
    return first == HM_ERR_NOMEM || second == HM_ERR_NOMEM ? HM_ERR_NOMEM : HM_OK;
}

static hm_status make_vakonomic(hm_comparison *c)
{
    bool *used = hmi_arena_alloc(&c->arena, c->m + 1);
    hm_status status = used ? choose_rows(c, used) : HM_ERR_NOMEM;
    if (status == HM_OK)
        status = hmi_make_vakonomic(&c->variant, used);
    for (size_t i = 0; status == HM_OK && i < c->m; i++)
        if (used[i])
            c->mu_row[c->k++] = i;
    return status;
}

static hm_status make_other(hm_comparison *c, const char *with)
{
    static const char conflated[] = "conflated:";
    if (strcmp(with, "vakonomic") == 0) {
        c->kind = HMI_VAKONOMIC;
        return make_vakonomic(c);
    }
    c->kind = HMI_CONFLATED;
    if (strncmp(with, conflated, strlen(conflated)) != 0) {
        hmi_error(c->context, hmi_no_span, "vakonomic, or conflated:\"LHS = RHS\"",
                  "unknown comparison '%s'", with);
        return HM_ERR_USAGE;
    }
    if (c->m == 0) {
        hmi_error(c->context, hmi_no_span, NULL, "there are no constraints to put into L");
        return HM_ERR_USAGE;
    }
    return hmi_make_conflated(&c->variant, with + strlen(conflated));
}

static hm_status create(hm_comparison *c, const char *with)
{
    c->context = hmi_system_context(c->system);
    if (!c->context)
        return HM_ERR_NOMEM;
    hm_status status = hmi_variant_init(&c->variant, c->system, c->context);
    if (status == HM_OK)
        status = allocate(c);
    if (status == HM_OK)
        status = make_other(c, with);
    if (status == HM_OK)
        status = hmi_compile_rule(c);
    if (status == HM_OK)
        status = hm_sim_create(c->system, &c->correct);
    if (status == HM_OK)
        status = hm_sim_create(c->variant.system, &c->other);
    return status;
}

hm_status hm_comparison_create(hm_context *context, const hm_system *system, const char *with,
                               hm_comparison **out)
{
    HMI_ARGUMENT(context, context && system && with && out,
                 "a system and the name of a comparison are needed");
    size_t n = system->derived.n, m = system->derived.constraints.count;
    if (system->model->has_contacts) {
        hmi_error(context, hmi_no_span, NULL,
                  "models with one-sided, switched or rubbing constraints are not compared");
        return HM_ERR_USAGE;
    }
    if (n + m > HM_MOST_DENSE) {
        hmi_error(context, hmi_no_span, NULL,
                  "systems with more than %d coordinates and constraints are not compared",
                  HM_MOST_DENSE);
        return HM_ERR_USAGE;
    }
    hm_comparison *c = hmi_alloc(system->allocator, sizeof *c);
    if (!c)
        return HM_ERR_NOMEM;
    *c = (hm_comparison){.system = system, .allocator = system->allocator, .n = n, .m = m};
    hmi_share(&system->references);
    c->tape.allocator = system->allocator;
    c->graph.allocator = system->allocator;
    hmi_arena_init(&c->arena, system->allocator);
    hmi_arena_init(&c->run_arena, system->allocator);
    hmi_text_init(&c->reason, system->allocator);
    hmi_text_init(&c->message, system->allocator);
    hm_status status = create(c, with);
    if (c->context)
        hmi_context_take(context, c->context);
    if (status == HM_OK)
        *out = c;
    else
        hm_comparison_destroy(c);
    return status;
}

void hm_comparison_destroy(hm_comparison *c)
{
    if (!c)
        return;
    hm_sim_destroy(c->correct);
    hm_sim_destroy(c->other);
    if (c->variant.base)
        hmi_variant_release(&c->variant);
    hmi_tape_release(&c->tape);
    hmi_graph_release(&c->graph);
    hmi_text_release(&c->reason);
    hmi_text_release(&c->message);
    hmi_arena_release(&c->arena);
    hmi_arena_release(&c->run_arena);
    hm_context_destroy(c->context);
    const hm_system *system = c->system;
    hmi_free(c->allocator, c, sizeof *c);
    hm_system_destroy((hm_system *)system);
}

const hm_system *hm_comparison_system(const hm_comparison *c)
{
    if (!c)
        return NULL;
    return c->variant.system;
}

const char *hm_comparison_kind(const hm_comparison *c)
{
    if (!c)
        return NULL;
    return c->kind == HMI_VAKONOMIC ? "vakonomic" : "conflated";
}

size_t hm_comparison_mu_count(const hm_comparison *c)
{
    if (!c)
        return 0;
    return c->k;
}

size_t hm_comparison_mu_row(const hm_comparison *c, size_t index)
{
    if (!c)
        return 0;
    return index < c->k ? c->mu_row[index] : c->m;
}

/* ---- evaluation ---- */

void hmi_follow_sim(hm_sim *to, const hm_sim *from, const double *mu)
{
    const hm_model *model = from->system->model;
    size_t n = from->system->derived.n, all = to->system->derived.n;
    memcpy(to->given.params, from->given.params, model->params.count * sizeof *to->given.params);
    memcpy(to->given.param_set, from->given.param_set,
           model->params.count * sizeof *to->given.param_set);
    to->tapes.prepared = false;
    for (int k = 0; k < 3; k++)
        memcpy(to->given.inputs[k], from->given.inputs[k],
               model->inputs.count * sizeof *to->given.inputs[k]);
    memcpy(to->given.input_set, from->given.input_set,
           model->inputs.count * sizeof *to->given.input_set);
    hmi_zero((int)all, to->state.q);
    hmi_zero((int)all, to->state.v);
    memcpy(to->state.q, from->state.q, n * sizeof *to->state.q);
    memcpy(to->state.v, from->state.v, n * sizeof *to->state.v);
    memcpy(to->state.z, from->state.z, model->states.count * sizeof *to->state.z);
    for (size_t k = n; k < all && mu; k++)
        to->state.v[k] = mu[k - n];
    to->state.at.t = from->state.at.t;
}

static hm_status evaluate_correct(hm_comparison *c, hm_sim *sim, int *rank)
{
    hm_evaluation at = {0};
    hm_status status = hm_sim_evaluate(sim, NULL, &at);
    if (status != HM_OK)
        return status;
    if (!at.qdd) {
        hmi_error(sim->context, hmi_no_span, NULL,
                  "the model determines velocities, not accelerations: nothing is compared");
        return HM_ERR_UNDETERMINED;
    }
    hmi_copy((int)c->n, at.qdd, c->qdd);
    hmi_copy((int)c->m, at.lambda, c->lambda);
    hm_matrix_dense(&at.A, c->A);
    *rank = at.rank_M;
    return HM_OK;
}

static hm_status evaluate_other(hm_comparison *c, hm_compared *out, double *readings)
{
    hm_evaluation at = {0};
    hm_status status = hm_sim_evaluate(c->other, NULL, &at);
    if (status != HM_OK)
        return status;
    if (!at.qdd) {
        hmi_error(c->other->context, hmi_no_span, NULL,
                  "the other equations do not determine the accelerations here");
        return HM_ERR_UNDETERMINED;
    }
    hmi_copy((int)c->n, at.qdd, c->other_qdd);
    out->other_qdd = c->other_qdd;
    out->rank_M = at.rank_M;
    *readings = at.disagreement;
    if (c->kind == HMI_VAKONOMIC) {
        hmi_copy((int)c->k, at.qdd + c->n, c->mudot);
        hmi_copy((int)c->k, c->other->state.v + c->n, c->mu);
        out->mu = c->mu;
        out->mudot = c->mudot;
    } else {
        hmi_copy((int)c->m, at.lambda, c->other_lambda);
        out->other_lambda = c->other_lambda;
    }
    return HM_OK;
}

static void subtract(hm_comparison *c, hm_compared *out)
{
    double size = fmax(hmi_max_abs((int)c->n, c->qdd), hmi_max_abs((int)c->n, c->other_qdd));
    for (size_t i = 0; i < c->n; i++)
        c->difference[i] = c->other_qdd[i] - c->qdd[i];
    double largest = hmi_max_abs((int)c->n, c->difference);
    out->difference = c->difference;
    out->largest_difference = size > 0 ? largest / size : 0;
}

hm_status hm_comparison_evaluate(hm_comparison *c, hm_sim *sim, const double *mu, hm_compared *out)
{
    HMI_ARGUMENT(sim ? sim->context : NULL,
                 c && sim && out && !sim->in_callback && sim->system == c->system &&
                     (!mu || hmi_values_finite(mu, c->k)),
                 "a sim of the compared system and finite multipliers are needed");
    int rank = 0;
    double readings = -1;
    *out = (hm_compared){.n = c->n, .m = c->m, .k = c->k};
    hm_status status = evaluate_correct(c, sim, &rank);
    out->correct_qdd = c->qdd;
    out->correct_lambda = c->lambda;
    if (status == HM_OK)
        status = hmi_evaluate_rule(c, sim, out);
    if (status == HM_OK) {
        hmi_follow_sim(c->other, sim, mu);
        status = evaluate_other(c, out, &readings);
        hmi_context_take(sim->context, c->other->context);
    }
    if (status != HM_OK)
        return status;
    subtract(c, out);
    hmi_explain_comparison(c, out, readings, rank);
    return c->reason.failed ? HM_ERR_NOMEM : HM_OK;
}
