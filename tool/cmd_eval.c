/* hamel eval: every quantity of the theory at one state. */
#include "audit_report.h"
#include "command.h"
#include "values.h"

#include <math.h>
#include <string.h>

/* ---- JSON ---- */

static json_t *coordinate_names(const hm_model *model)
{
    json_t *list = json_array();
    for (size_t i = 0; i < hm_model_coordinate_count(model); i++)
        json_array_append_new(list, json_string(hm_model_coordinate_name(model, i)));
    return list;
}

static bool is_absent(const hm_evaluation *e, size_t row)
{
    return e->absent && e->absent[row];
}

/* A list by row, or {rows, cols, entries}, without the rows that do not hold now. */
static json_t *json_present(json_t *list, const hm_evaluation *e, size_t rows)
{
    json_t *entries = json_object_get(list, "entries");
    size_t kept = rows;
    if (!e->absent || !(json_is_array(list) || entries))
        return list;
    for (size_t i = rows; i-- > 0;) {
        if (!e->absent[i])
            continue;
        kept--;
        if (!entries)
            json_array_remove(list, i);
        for (size_t k = json_array_size(entries); k-- > 0;) {
            json_t *row = json_array_get(json_array_get(entries, k), 0);
            if ((size_t)json_integer_value(row) == i)
                json_array_remove(entries, k);
            else if ((size_t)json_integer_value(row) > i)
                json_integer_set(row, json_integer_value(row) - 1);
        }
    }
    if (entries)
        json_object_set_new(list, "rows", json_integer((json_int_t)kept));
    return list;
}

static json_t *contact_list(const hm_evaluation *e)
{
    json_t *list = json_array();
    for (size_t i = 0; i < e->contact_count; i++) {
        const hm_contact *c = &e->contacts[i];
        json_array_append_new(list,
                              json_pack("{s:s, s:o, s:o, s:s, s:o}", "name", c->name, "gap",
                                        json_number_or_null(c->gap), "velocity",
                                        json_number_or_null(c->velocity), "state",
                                        hm_contact_state_text(c->state), "force",
                                        e->solved ? json_number_or_null(c->force) : json_null()));
    }
    return list;
}

static json_t *constraint_names(const hm_model *model)
{
    json_t *list = json_array();
    for (size_t i = 0; i < hm_model_constraint_count(model); i++)
        json_array_append_new(list, json_string(hm_model_constraint(model, i).name));
    return list;
}

static json_t *redundant_names(const hm_model *model, const hm_evaluation *e)
{
    json_t *list = json_array();
    for (size_t i = 0; e->redundant && i < hm_model_constraint_count(model); i++)
        if (e->redundant[i] && !is_absent(e, i))
            json_array_append_new(list, json_string(hm_model_constraint(model, i).name));
    return list;
}

static json_t *servo_forces(const hm_model *model, const hm_evaluation *e)
{
    json_t *object = json_object();
    size_t n = hm_model_coordinate_count(model);
    for (size_t i = 0; e->u && i < hm_model_servo_group_count(model); i++)
        json_object_set_new(object, hm_model_servo_group_name(model, i),
                            json_vector(e->u + i * n, n));
    return object;
}

static json_t *energy_object(const hm_evaluation *e)
{
    if (!e->has_total)
        return json_null();
    json_t *power = json_object();
    json_object_set_new(power, "impressed", json_number_or_null(e->power.impressed));
    json_object_set_new(power, "dissipation", json_number_or_null(e->power.dissipation));
    json_object_set_new(power, "gyroscopic", json_number_or_null(e->power.gyroscopic));
    if (e->solved) {
        json_object_set_new(power, "ideal", json_number_or_null(e->power.ideal));
        json_object_set_new(power, "nonideal", json_number_or_null(e->power.nonideal));
        json_object_set_new(power, "servo", json_number_or_null(e->power.servo));
    }
    json_object_set_new(power, "explicit_time", json_number_or_null(e->power.explicit_time));
    json_t *object = json_object();
    json_object_set_new(object, "kinetic",
                        e->has_energy ? json_number_or_null(e->kinetic) : json_null());
    json_object_set_new(object, "potential",
                        e->has_energy ? json_number_or_null(e->potential) : json_null());
    json_object_set_new(object, "total", json_number_or_null(e->total));
    json_object_set_new(object, "power", power);
    return object;
}

/* {name: value, ...} */
static json_t *named_values(const hm_model *model, size_t count,
                            const char *(*name)(const hm_model *, size_t), const double *values)
{
    json_t *object = json_object();
    for (size_t i = 0; values && i < count; i++)
        json_object_set_new(object, name(model, i), json_number_or_null(values[i]));
    return object;
}

/* What the answer must satisfy, as relative sizes of what is left. */
static json_t *checks_object(const hm_evaluation *e)
{
    json_t *object = json_object();
    json_object_set_new(object, "constraint", json_number_or_null(e->check.constraint));
    json_object_set_new(object, "balance", json_number_or_null(e->check.balance));
    json_object_set_new(object, "ideal", json_number_or_null(e->check.ideal));
    json_object_set_new(object, "work", json_number_or_null(e->check.work));
    json_object_set_new(object, "projection", json_number_or_null(e->check.projection));
    return object;
}

/* -1: not known. */
static json_t *json_rank(int rank)
{
    return rank < 0 ? json_null() : json_integer(rank);
}

/* How sure a rank is; null where it is not known. */
static json_t *json_evidence(int rank, const hm_rank_evidence *e)
{
    return rank < 0
               ? json_null()
               : json_pack("{s:s, s:o, s:o, s:o}", "verdict", hm_rank_verdict_name(e->verdict),
                           "kept", json_number_or_null(e->kept), "next",
                           json_number_or_null(e->next), "bound", json_number_or_null(e->bound));
}

static void add_solution(json_t *object, const hm_model *model, const hm_evaluation *e)
{
    size_t n = hm_model_coordinate_count(model), m = hm_model_constraint_count(model);
    json_object_set_new(object, "a", json_vector(e->a, n));
    json_object_set_new(object, "e", json_present(json_vector(e->e, m), e, m));
    json_object_set_new(object, "rank",
                        json_pack("{s:o, s:o, s:o}", "M", json_rank(e->rank_M), "A",
                                  json_rank(e->rank_A), "MA", json_rank(e->rank_MA)));
    json_object_set_new(object, "rank_evidence",
                        json_pack("{s:o, s:o, s:o}", "M", json_evidence(e->rank_M, &e->evidence_M),
                                  "A", json_evidence(e->rank_A, &e->evidence_A), "MA",
                                  json_evidence(e->rank_MA, &e->evidence_MA)));
    json_object_set_new(object, "unique",
                        json_pack("{s:b, s:b}", "acceleration", e->unique_acceleration,
                                  "multipliers", e->unique_multipliers));
    json_object_set_new(object, "redundant", redundant_names(model, e));
    json_object_set_new(object, "Qi", json_vector(e->Qi, n));
    json_object_set_new(object, "Qni", json_vector(e->Qni, n));
    json_object_set_new(object, "Qc", json_vector(e->Qc, n));
    json_object_set_new(object, "qdd", json_vector(e->qdd, n));
    json_object_set_new(object, "lambda", json_by_constraint(model, e->lambda));
    json_object_set_new(object, "u", servo_forces(model, e));
    json_object_set_new(object, "checks", checks_object(e));
    json_object_set_new(object, "gram_condition",
                        e->gram_condition > 0 ? json_number_or_null(e->gram_condition)
                                              : json_null());
    json_object_set_new(object, "formulation", json_string(e->formulation));
    json_object_set_new(object, "disagreement",
                        e->disagreement < 0 ? json_null() : json_number_or_null(e->disagreement));
}

static json_t *json_rows(const double *values, size_t rows, size_t columns)
{
    json_t *list = json_array();
    for (size_t i = 0; i < rows; i++)
        json_array_append_new(list, json_vector(values + i * columns, columns));
    return list;
}

/* The geometry of Udwadia & Kalaba (2002), section 6. */
static void add_geometry(json_t *object, const hm_model *model, const hm_geometry *g)
{
    size_t n = hm_model_coordinate_count(model), m = hm_model_constraint_count(model);
    json_t *geometry = json_object();
    json_object_set_new(geometry, "B", json_rows(g->B, m, n));
    json_object_set_new(geometry, "Bplus", json_rows(g->B_plus, n, m));
    json_object_set_new(geometry, "T", json_rows(g->T, n, n));
    json_object_set_new(geometry, "N", json_rows(g->N, n, n));
    json_object_set_new(geometry, "a_s", json_vector(g->a_s, n));
    json_object_set_new(geometry, "c_s", json_vector(g->c_s, n));
    json_object_set_new(geometry, "qdd_s", json_vector(g->qdd_s, n));
    json_object_set_new(geometry, "Bplus_b", json_vector(g->B_plus_b, n));
    json_object_set_new(geometry, "Bplus_e", json_vector(g->B_plus_e, n));
    json_object_set_new(object, "geometry", geometry);
}

static json_t *evaluation_object(const hm_model *model, const hm_evaluation *e)
{
    size_t n = hm_model_coordinate_count(model), m = hm_model_constraint_count(model);
    json_t *object = json_object();
    json_object_set_new(object, "model", json_string(hm_model_name(model)));
    json_object_set_new(object, "t", json_number_or_null(e->t));
    json_object_set_new(object, "coordinates", coordinate_names(model));
    json_object_set_new(object, "q", json_vector(e->q, n));
    json_object_set_new(object, "v", json_vector(e->v, n));
    json_object_set_new(object, "M", json_matrix(&e->M, n));
    json_object_set_new(object, "Q", json_vector(e->Q, n));
    json_object_set_new(object, "constraints", json_present(constraint_names(model), e, m));
    json_object_set_new(object, "A", json_present(json_matrix(&e->A, n), e, m));
    json_object_set_new(object, "b", json_present(json_vector(e->b, m), e, m));
    json_object_set_new(object, "C", json_vector(e->C, n));
    if (e->solved)
        add_solution(object, model, e);
    else if (e->contact_count) /* no or several motions */
        json_object_set_new(object, "qdd", json_null());
    json_object_set_new(object, "contacts", contact_list(e));
    json_object_set_new(object, "energy", energy_object(e));
    json_object_set_new(object, "residual",
                        json_pack("{s:o, s:o}", "position",
                                  json_by_constraint(model, e->position_residual), "velocity",
                                  json_by_constraint(model, e->velocity_residual)));
    json_object_set_new(
        object, "inputs",
        named_values(model, hm_model_input_count(model), hm_model_input_name, e->inputs));
    json_object_set_new(
        object, "states",
        named_values(model, hm_model_state_count(model), hm_model_state_name, e->z));
    json_object_set_new(
        object, "state_rates",
        named_values(model, hm_model_state_count(model), hm_model_state_name, e->state_rates));
    json_object_set_new(
        object, "outputs",
        named_values(model, hm_model_output_count(model), hm_model_output_name, e->outputs));
    return object;
}

/* ---- text ---- */

static void print_rows(const hm_model *model, const char *title, const double *values)
{
    size_t m = hm_model_constraint_count(model);
    if (!values || m == 0)
        return;
    printf("%s\n", title);
    for (size_t i = 0; i < m && i < 60; i++)
        printf("    %-12s %22.15g\n", hm_model_constraint(model, i).name, positive_zero(values[i]));
    if (m > 60)
        printf("    ... and %zu more (--json gives all)\n", m - 60);
}

/* "x   1    x'   2", a line each. */
static void print_with_rates(const hm_model *model, size_t count,
                             const char *(*name)(const hm_model *, size_t), const double *values,
                             const double *rates)
{
    for (size_t i = 0; i < count && i < 60; i++) {
        char rate[64];
        snprintf(rate, sizeof rate, "%s'", name(model, i));
        printf("    %-12s %22.15g    %-12s %22.15g\n", name(model, i), positive_zero(values[i]),
               rate, positive_zero(rates[i]));
    }
    if (count > 60)
        printf("    ... and %zu more (--json gives all)\n", count - 60);
}

static void print_state(const hm_model *model, const hm_evaluation *e)
{
    printf("%s at t = %.15g\n", hm_model_name(model), e->t);
    print_with_rates(model, hm_model_coordinate_count(model), hm_model_coordinate_name, e->q, e->v);
    if (hm_model_state_count(model) && e->state_rates) {
        printf("states\n");
        print_with_rates(model, hm_model_state_count(model), hm_model_state_name, e->z,
                         e->state_rates);
    }
    for (size_t i = 0; e->inputs && i < hm_model_input_count(model); i++)
        printf("%s    %-12s %22.15g\n", i ? "" : "inputs\n", hm_model_input_name(model, i),
               positive_zero(e->inputs[i]));
}

/* Beyond rounding errors where `rounding` is not 0. */
static bool any_above(const double *values, size_t count, double rounding)
{
    for (size_t i = 0; values && i < count; i++)
        if (fabs(values[i]) > rounding)
            return true;
    return false;
}

/* A line where a rank is not proved. */
static void print_evidence(const char *what, int rank, const hm_rank_evidence *e)
{
    if (rank < 0 || e->verdict != HM_RANK_VERDICT_UNDECIDED || isnan(e->bound))
        return;
    printf("    rank of %s: not proved; ", what);
    if (rank > 0 && !(e->kept > e->bound))
        printf("singular value %d is %.2g, ", rank, e->kept);
    else
        printf("singular value %d is at most %.2g, ", rank + 1, e->next);
    printf("rounding may be %.2g\n", e->bound);
}

static void print_verdict(const hm_model *model, const hm_evaluation *e)
{
    if (e->rank_M < 0) /* large systems with a singular M */
        printf("rank of A %d; ", e->rank_A);
    else
        printf("rank of M %d, of A %d, of [M|A^T] %d; ", e->rank_M, e->rank_A, e->rank_MA);
    printf("accelerations %s, multipliers %s\n", e->unique_acceleration ? "unique" : "not unique",
           e->unique_multipliers ? "unique" : "not unique");
    print_evidence("M", e->rank_M, &e->evidence_M);
    print_evidence("A", e->rank_A, &e->evidence_A);
    for (size_t i = 0; e->redundant && i < hm_model_constraint_count(model); i++)
        if (e->redundant[i] && !is_absent(e, i))
            printf("    %s is redundant: it depends on the rows before it\n",
                   hm_model_constraint(model, i).name);
    if (e->velocity_determined)
        printf(
            "the Lagrangian is degenerate: it determines velocities (above), not accelerations\n");
    printf("solved by %s", e->formulation);
    if (e->disagreement >= 0)
        printf("; all formulations that apply agree to %.1e", e->disagreement);
    printf("\n");
}

static void print_energy(const hm_evaluation *e)
{
    if (!e->has_total) {
        printf("energy: not defined, the mass entries are not constant\n");
        return;
    }
    printf("energy\n");
    if (e->has_energy)
        printf("    kinetic      %22.15g\n    potential    %22.15g\n", e->kinetic, e->potential);
    printf("    total        %22.15g\n", e->total);
    const struct {
        const char *name;
        double value;
    } powers[] = {
        {"impressed", e->power.impressed},      {"dissipation", e->power.dissipation},
        {"gyroscopic", e->power.gyroscopic},    {"ideal", e->power.ideal},
        {"non-ideal", e->power.nonideal},       {"servo", e->power.servo},
        {"explicit t", e->power.explicit_time},
    };
    for (size_t i = 0; i < sizeof powers / sizeof *powers; i++)
        if (powers[i].value != 0)
            printf("    power, %-10s %17.10g\n", powers[i].name, powers[i].value);
}

static void print_forces(const hm_model *model, const hm_evaluation *e)
{
    size_t n = hm_model_coordinate_count(model);
    print_rows(model, "multipliers", e->lambda);
    if (hm_model_constraint_count(model))
        print_vector(model, "ideal constraint force Qi", e->Qi);
    if (any_above(e->C, n, 0)) {
        print_vector(model, "prescribed C", e->C);
        print_vector(model, "non-ideal constraint force Qni", e->Qni);
    }
    for (size_t i = 0; e->u && i < hm_model_servo_group_count(model); i++) {
        char title[128];
        snprintf(title, sizeof title, "control u of %s", hm_model_servo_group_name(model, i));
        print_vector(model, title, e->u + i * n);
    }
    print_vector(model, "accelerations q''", e->qdd);
}

static void print_contacts(const hm_evaluation *e)
{
    for (size_t i = 0; i < e->contact_count && i < 60; i++) {
        const hm_contact *c = &e->contacts[i];
        printf("%s    %-12s gap %.9g, velocity %.9g, %s", i ? "" : "contacts\n", c->name,
               positive_zero(c->gap), positive_zero(c->velocity), hm_contact_state_text(c->state));
        if (c->state != HM_CONTACT_STATE_OPEN && e->solved)
            printf(", force %.9g", c->force);
        printf("\n");
    }
    if (e->contact_count > 60)
        printf("    ... and %zu more (--json gives all)\n", e->contact_count - 60);
}

/* Residuals of rows that hold. */
static bool is_violated(const hm_evaluation *e, const double *values, size_t m)
{
    for (size_t i = 0; values && i < m; i++)
        if (fabs(values[i]) > 1e-12 && !is_absent(e, i))
            return true;
    return false;
}

static void print_outputs(const hm_model *model, const hm_evaluation *e)
{
    for (size_t i = 0; e->outputs && i < hm_model_output_count(model); i++) {
        printf("%s    %-12s ", i ? "" : "outputs\n", hm_model_output_name(model, i));
        if (isfinite(e->outputs[i]))
            printf("%22.15g\n", positive_zero(e->outputs[i]));
        else
            printf("%22s\n", "not computed");
    }
}

static void print_text(const hm_model *model, const hm_evaluation *e)
{
    size_t m = hm_model_constraint_count(model);
    print_state(model, e);
    print_matrix("mass matrix M", &e->M);
    print_vector(model, "force Q", e->Q);
    if (m) {
        print_matrix("constraints A", &e->A);
        print_rows(model, "right-hand side b", e->b);
    }
    print_contacts(e);
    if (is_violated(e, e->position_residual, m))
        print_rows(model, "violation of the constraints (position)", e->position_residual);
    if (is_violated(e, e->velocity_residual, m))
        print_rows(model, "violation of the constraints (velocity)", e->velocity_residual);
    if (e->solved) {
        print_forces(model, e);
        print_verdict(model, e);
    }
    print_outputs(model, e);
    print_energy(e);
}

/* ---- the command ---- */

static int choose_formulation(const invocation *call, hm_evaluate_options *options)
{
    const char *name = option_value(call, "--formulation");
    *options = hm_evaluate_options_default();
    if (!name || hm_formulation_find(name, &options->formulation))
        return EXIT_DONE;
    return usage_error("unknown formulation '%s'; one of auto, uk, gram, kkt, nullspace, gauss, "
                       "singular, dirac",
                       name);
}

static void print_rows_of(const char *title, const double *values, size_t rows, size_t columns)
{
    printf("%s\n", title);
    for (size_t i = 0; i < rows; i++) {
        printf("   ");
        for (size_t j = 0; j < columns; j++)
            printf(" %13.7g", values[i * columns + j]);
        printf("\n");
    }
}

static void print_geometry(const hm_model *model, const hm_geometry *g)
{
    size_t n = hm_model_coordinate_count(model), m = hm_model_constraint_count(model);
    print_rows_of("B = A M^-1/2", g->B, m, n);
    print_rows_of("B+", g->B_plus, n, m);
    print_rows_of("projector T = B+ B", g->T, n, n);
    print_rows_of("projector N = I - T", g->N, n, n);
    print_vector(model, "a_s = M^-1/2 Q", g->a_s);
    print_vector(model, "c_s = M^-1/2 C", g->c_s);
    print_vector(model, "q''_s = M^1/2 q''", g->qdd_s);
    print_vector(model, "B+ b", g->B_plus_b);
    print_vector(model, "B+ e", g->B_plus_e);
}

/* What the user asked to see, in the form asked for. */
static hm_status show(const session *s, const invocation *call, hm_sim *sim, const hm_evaluation *e,
                      bool good)
{
    const hm_geometry *geometry = NULL;
    hm_status status = HM_OK;
    if (!call->json)
        print_text(s->model, e);
    json_t *object = call->json ? evaluation_object(s->model, e) : NULL;
    if (good && e->has_total && e->solved && e->qdd)
        status = show_audit(s->model, sim, object);
    /* The geometry solves anew and so ends the life of the evaluation's arrays: it comes last. */
    bool asked = status == HM_OK && option_value(call, "--geometry");
    if (asked)
        status = hm_sim_geometry(sim, &geometry);
    if (asked && status != HM_OK)
        say("hamel: --geometry needs a positive definite M and constraints that do not "
            "contradict each other\n");
    if (geometry && call->json)
        add_geometry(object, s->model, geometry);
    else if (geometry)
        print_geometry(s->model, geometry);
    if (call->json && !json_print(object))
        status = HM_ERR_IO;
    json_decref(object);
    return status;
}

/* The model's initial state is one on the constraints: guesses are moved there, as `run` does. A
 * state given by --at is taken exactly. Where the reason is not a contradiction (the motion is not
 * determined, say), the evaluation itself tells more. */
static hm_status settle_initial(session *s, const invocation *call, hm_sim *sim)
{
    const hm_moved *moved = NULL;
    size_t count = 0;
    if (option_value(call, "--at") || hm_run_options_default(s->model).keep_initial)
        return HM_OK;
    hm_status status = hm_sim_make_consistent(sim, false, &moved, &count);
    if (status == HM_ERR_INPUT || status == HM_ERR_NOMEM)
        return status;
    if (status != HM_OK) {
        hm_context_clear(hm_sim_context(sim));
        return state_from_text(sim, s->model, NULL);
    }
    if (count && !call->json && !call->quiet)
        printf("initial values moved onto the constraints\n");
    for (size_t i = 0; i < count && !call->json && !call->quiet; i++)
        printf("    %-12s %16.12g  ->  %.12g\n", moved[i].name, moved[i].from, moved[i].to);
    return HM_OK;
}

/* By more than rounding errors? */
static bool differs(size_t n, const double *x, const double *y)
{
    double most = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs(x[i] - y[i]));
        size = fmax(size, fmax(fabs(x[i]), fabs(y[i])));
    }
    return most > 1e-9 * size;
}

/* Forces that jump at the state, such as sign(u) where u = 0: a motion from there sticks, or goes to one of the
 * sides, and the forces are those of that motion. It is begun by a sim of its own, `other`, which has to
 * outlive the answer. Where no motion can be begun, the formulas stand as they are written. */
static void take_motion(session *s, hm_evaluation *e, hm_sim **other)
{
    hm_frame frame;
    hm_run_result result;
    hm_run_options options = hm_run_options_default(s->model);
    options.keep_initial = true;
    options.start = e->t;
    options.end = e->t + 1;
    options.method = "auto";
    if (hm_system_get_statistics(s->system).jumps == 0 || e->velocity_determined || !e->qdd)
        return;
    if (hm_sim_create(s->system, other) != HM_OK ||
        hm_sim_set_state(*other, e->t, e->q, e->v, e->z) != HM_OK ||
        hm_sim_start(*other, &options) != HM_OK || hm_sim_result(*other, &result) != HM_OK ||
        result.impact_count > 0 || hm_sim_frame(*other, HM_FRAME_CONTENT_FORCES, &frame) != HM_OK ||
        !frame.qdd || !differs(e->M.rows, e->qdd, frame.qdd))
        return;
    e->qdd = frame.qdd;
    e->lambda = frame.lambda;
    e->Qi = frame.Qi;
    e->Qni = frame.Qni;
    e->Qc = frame.Qc;
    e->C = frame.C;
    e->outputs = frame.outputs;
}

static int evaluate(session *s, const invocation *call, const hm_evaluate_options *options)
{
    hm_sim *sim = NULL, *other = NULL;
    hm_evaluation e = {0};
    hm_status status = hm_sim_create(s->system, &sim);
    if (status == HM_OK)
        status = state_from_text(sim, s->model, option_value(call, "--at"));
    if (status == HM_OK)
        status = settle_initial(s, call, sim);
    if (status == HM_OK) {
        status = hm_sim_evaluate(sim, options, &e);
        if (status == HM_OK)
            take_motion(s, &e, &other);
        if (status == HM_OK || ((e.solved || e.contact_count) && status != HM_ERR_USAGE)) {
            hm_status shown = show(s, call, sim, &e, status == HM_OK);
            status = status == HM_OK ? shown : status;
        }
    }
    fflush(stdout);
    print_sim_diagnostics(sim, call->quiet);
    hm_sim_destroy(other);
    hm_sim_destroy(sim);
    return exit_status_of(status);
}

static int run(const invocation *call)
{
    session s;
    hm_evaluate_options options;
    int status = choose_formulation(call, &options);
    if (status != EXIT_DONE)
        return status;
    status = session_open(&s, call, true);
    if (status == EXIT_DONE)
        status = evaluate(&s, call, &options);
    session_close(&s);
    return status;
}

static const option_spec options[] = {
    {"--at", "STATE", "the state, as in \"x=1, x'=0.2, t=0\"; default: the initial state"},
    {"--geometry", NULL, "also B, its pseudo-inverse, the projectors and scaled accelerations"},
    {"--formulation", "NAME", "auto, uk, gram, kkt, nullspace, gauss, singular, dirac"},
    {"--engine", "NAME", "auto, interp (portable) or jit (machine code): same results"},
    {0},
};

const command command_eval = {
    .name = "eval",
    .summary = "every quantity of the theory at one state",
    .usage = "MODEL [options]",
    .example = "hamel eval skate --at \"theta=0.5, x'=1, theta'=2\"",
    .options = options,
    .needs_model = true,
    .run = run,
};
