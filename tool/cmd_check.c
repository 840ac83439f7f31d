/* hamel check: classes of the constraints and of the set, principles that apply,
 * well-posedness. Text is in check_report.c. */
#include "check_report.h"
#include "command.h"
#include "fold.h"
#include "values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- JSON ---- */

static json_t *text_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}

static json_t *evidence_object(const hm_evidence *e)
{
    return json_pack("{s:i, s:i, s:b}", "points", e->points, "bits", e->bits, "proved", e->proved);
}

static json_t *constraint_object(const hm_constraint_analysis *c)
{
    json_t *o = json_pack("{s:s, s:s, s:b, s:s, s:s, s:b}", "name", c->name, "level",
                          hm_level_text(c->level), "linear", c->linear, "time",
                          c->rheonomic ? "rheonomic" : "scleronomic", "class",
                          hm_class_text(c->kind), "catastatic", c->catastatic);
    json_object_set_new(o, "potential", text_or_null(c->potential));
    json_object_set_new(o, "integrating_factor", text_or_null(c->integrating_factor));
    json_object_set_new(o, "leaf", text_or_null(c->leaf));
    json_object_set_new(o, "redundant", json_boolean(c->redundant));
    json_object_set_new(o, "parts", text_or_null(c->parts));
    json_object_set_new(o, "multiplier_rule", json_boolean(c->in_span));
    json_object_set_new(o, "G", json_number_or_null(c->G));
    json_object_set_new(o, "evidence", evidence_object(&c->evidence));
    if (c->level == HM_LEVEL_ACCELERATION) {
        json_object_set_new(o, "integrated", text_or_null(c->integrated));
        json_object_set_new(o, "constant",
                            c->integrated ? json_number_or_null(c->constant) : json_null());
    }
    if (c->frobenius) {
        json_object_set_new(o, "frobenius", json_string(c->frobenius));
        json_object_set_new(o, "frobenius_value", json_number_or_null(c->frobenius_value));
    }
    if (!c->linear) {
        json_object_set_new(o, "linear_form", text_or_null(c->linear_form));
        json_object_set_new(o, "other_form", text_or_null(c->other_form));
        json_object_set_new(o, "linear_class",
                            c->linear_form ? json_string(hm_class_text(c->linear_kind))
                                           : json_null());
        json_object_set_new(o, "sign_condition", text_or_null(c->sign_condition));
        json_object_set_new(o, "lost_at_rest", json_boolean(c->lost_at_rest));
    }
    return o;
}

static json_t *combination_list(const hm_set_analysis *s)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->combination_count; i++) {
        const hm_combination *c = &s->combinations[i];
        json_t *o = json_pack("{s:s, s:s}", "combination", c->combination, "form", c->form);
        json_object_set_new(o, "potential", text_or_null(c->potential));
        json_object_set_new(o, "integrating_factor", text_or_null(c->integrating_factor));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *set_object(const hm_set_analysis *s)
{
    json_t *growth = json_array();
    if (!s->known) {
        json_decref(growth);
        return json_null();
    }
    for (size_t i = 0; i < s->growth_count; i++)
        json_array_append_new(growth, json_integer((json_int_t)s->growth[i]));
    return json_pack("{s:I, s:o, s:b, s:I, s:I, s:o, s:I, s:I, s:o, s:o}", "rank",
                     (json_int_t)s->rank, "growth", growth, "growth_in_time", s->with_time,
                     "holonomic_part", (json_int_t)s->holonomic_part, "hidden",
                     (json_int_t)s->hidden, "combinations", combination_list(s),
                     "degrees_of_freedom", (json_int_t)s->degrees_of_freedom,
                     "configuration_dimension", (json_int_t)s->configuration_dimension, "evidence",
                     evidence_object(&s->evidence), "parts", text_or_null(s->parts));
}

static json_t *principles_object(const hm_principles *p)
{
    bool ideal = p->ideal;
    json_t *o = json_pack("{s:b, s:b, s:b, s:b, s:b, s:b, s:b, s:b}", "dalembert",
                          p->basic && ideal, "dalembert_holonomic", p->holonomic && ideal,
                          "dalembert_semiholonomic", p->semiholonomic && ideal, "hamilton_integral",
                          p->basic && ideal, "hamilton_holonomic",
                          p->holonomic && ideal && p->potential, "hamilton_semiholonomic",
                          p->semiholonomic && ideal && p->potential, "multiplier_rule",
                          p->semiholonomic, "lambda_is_minus_mudot", p->exact && !p->holonomic);
    json_object_set_new(o, "ideal", json_boolean(ideal));
    json_object_set_new(o, "dalembert_nonideal", json_true());
    json_object_set_new(o, "chetaev", json_boolean(p->nonlinear));
    json_object_set_new(o, "gauss", json_boolean(p->acceleration));
    json_object_set_new(o, "G", json_number_or_null(p->G));
    json_object_set_new(o, "worst", text_or_null(p->worst));
    return o;
}

static json_t *motion_object(const hm_wellposedness *w)
{
    json_t *functions = json_array();
    for (size_t i = 0; i < w->function_count; i++)
        json_array_append_new(
            functions, json_pack("{s:s, s:s, s:b}", "expression", w->functions[i].expression, "why",
                                 w->functions[i].why, "at_initial_state", w->functions[i].here));
    json_t *o = json_pack("{s:b, s:b, s:i, s:[i,i], s:o}", "unique_acceleration",
                          w->unique_acceleration, "unique_multipliers", w->unique_multipliers,
                          "rank_initial", w->rank_A, "rank_run", w->rank_lowest, w->rank_highest,
                          "functions", functions);
    json_object_set_new(o, "gram_condition",
                        w->gram_condition > 0 ? json_number_or_null(w->gram_condition)
                                              : json_null());
    json_object_set_new(o, "distance", json_number_or_null(w->distance));
    json_object_set_new(o, "distance_lowest", json_number_or_null(w->distance_lowest));
    json_object_set_new(o, "run_end", json_number_or_null(w->run_end));
    json_object_set_new(o, "lipschitz_lost", text_or_null(w->lipschitz_lost));
    json_object_set_new(o, "lipschitz_until",
                        w->lipschitz_lost ? json_number_or_null(w->lipschitz_until) : json_null());
    json_object_set_new(o, "message", text_or_null(w->message));
    return o;
}

static json_t *initial_object(const hm_wellposedness *w)
{
    json_t *moved = json_object();
    for (size_t i = 0; i < w->moved_count; i++)
        json_object_set_new(moved, w->moved_name[i], json_number_or_null(w->moved_to[i]));
    return json_pack("{s:b, s:o}", "consistent", w->consistent, "moved", moved);
}

static json_t *mass_object(const hm_wellposedness *w)
{
    return w->known ? json_pack("{s:i, s:b}", "rank", w->rank_M, "definite", w->definite)
                    : json_null();
}

static json_t *servo_list(const session *s)
{
    json_t *servos = json_array();
    for (size_t i = 0; i < hm_model_servo_count(s->model); i++) {
        hm_constraint_info row = hm_model_servo(s->model, i);
        hm_servo_info info = hm_system_servo(s->system, i);
        json_t *one = json_pack("{s:s, s:s, s:b, s:s, s:b}", "name", row.name, "level",
                                hm_level_text(row.level), "linear", row.linear, "time",
                                row.rheonomic ? "rheonomic" : "scleronomic", "implied",
                                info.implied);
        json_object_set_new(one, "relative_degree",
                            info.refusal ? json_null() : json_integer((json_int_t)info.degree));
        json_object_set_new(one, "refusal", text_or_null(info.refusal));
        json_array_append_new(servos, one);
    }
    return servos;
}

static json_t *zero_dynamics_object(const hm_zero_dynamics *z)
{
    if (!z->known)
        return json_null();
    bool decided = z->stability != HM_STABILITY_UNDECIDED;
    return json_pack("{s:I, s:o, s:o, s:o}", "dimension", (json_int_t)z->dimension, "stability",
                     decided ? json_string(hm_stability_text(z->stability)) : json_null(),
                     "largest_real_part", decided ? json_number_or_null(z->largest) : json_null(),
                     "reason", text_or_null(z->reason));
}

json_t *check_object(const session *s, const findings *found)
{
    const hm_model *model = s->model;
    const hm_analysis *a = found->analysis;
    json_t *object = json_object(), *coordinates = json_array(), *constraints = json_array(),
           *remarks = json_array();
    bool catastatic = true;
    for (size_t i = 0; i < hm_model_coordinate_count(model); i++)
        json_array_append_new(coordinates, json_string(hm_model_coordinate_name(model, i)));
    for (size_t i = 0; i < a->constraint_count; i++) {
        json_t *one = constraint_object(&a->constraints[i]);
        bool one_sided = hm_model_constraint(model, i).one_sided;
        json_object_set_new(one, "sided", json_string(one_sided ? "one" : "two"));
        json_array_append_new(constraints, one);
        catastatic &= a->constraints[i].catastatic;
    }
    for (size_t i = 0; i < a->remark_count; i++)
        json_array_append_new(remarks, json_string(a->remarks[i]));
    json_object_set_new(object, "model", json_string(hm_model_name(model)));
    json_object_set_new(object, "coordinates", coordinates);
    json_object_set_new(object, "constraints", constraints);
    json_object_set_new(object, "servos", servo_list(s));
    json_object_set_new(object, "zero_dynamics", zero_dynamics_object(&found->zeros));
    json_object_set_new(object, "set", set_object(&a->set));
    json_object_set_new(object, "mass", mass_object(&a->wellposedness));
    json_object_set_new(object, "wellposed", json_boolean(a->wellposedness.wellposed));
    json_object_set_new(object, "motion", motion_object(&a->wellposedness));
    json_object_set_new(object, "catastatic", json_boolean(catastatic));
    json_object_set_new(object, "principles", principles_object(&a->principles));
    add_symmetries(object, model, found->symmetries);
    json_object_set_new(object, "energy", energy_object(model, found));
    json_object_set_new(object, "initial", initial_object(&a->wellposedness));
    json_object_set_new(object, "remarks", remarks);
    json_object_set(object, "warnings", s->warnings);
    return object;
}

static int print_json(const session *s, const findings *found)
{
    json_t *object = check_object(s, found);
    bool written = json_print(object);
    json_decref(object);
    return written ? EXIT_DONE : EXIT_FAILED;
}

static hm_status find_energy(const session *s, findings *found)
{
    found->row_works = memory_new(hm_model_constraint_count(s->model) + 1, sizeof(bool));
    return found->row_works ? hm_system_energy(s->system, &found->energy, found->row_works)
                            : HM_ERR_NOMEM;
}

/* At the initial state; where that has no motion, other parts of the report say so. */
static hm_status find_zero_dynamics(const session *s, findings *found)
{
    hm_sim *sim = NULL;
    if (hm_model_servo_count(s->model) == 0)
        return HM_OK;
    hm_status status = hm_sim_create(s->system, &sim);
    if (status == HM_OK && hm_sim_make_consistent(sim, false, NULL, NULL) == HM_OK &&
        hm_sim_zero_dynamics(sim, &found->zeros) == HM_ERR_NOMEM)
        status = HM_ERR_NOMEM;
    hm_sim_destroy(sim);
    return status;
}

int check_find(const session *s, bool quiet, findings *found)
{
    hm_status done = hm_system_analyse(s->context, s->system, &found->analysis);
    bool silent = done != HM_OK && hm_context_diagnostic_count(s->context) == 0;
    found->errors = hm_context_error_count(s->context) > 0;
    print_diagnostics(s->context, quiet);
    if (done == HM_OK) {
        done = hm_symmetries_find(s->system, NULL, &found->symmetries);
        if (done == HM_OK)
            done = find_energy(s, found);
        if (done == HM_OK)
            done = find_zero_dynamics(s, found);
        silent = done != HM_OK;
    }
    if (silent)
        say("hamel: %s\n", hm_status_text(done));
    return exit_status_of(done);
}

/* Legitimate in theory, a slip in most models. */
static void warn_of_negative_mass(const session *s, bool quiet, const hm_wellposedness *w)
{
    static const char message[] = "M is not positive at the initial state: does a mass or a "
                                  "kinetic energy have the wrong sign?";
    if (!w->known || w->definite || w->semidefinite)
        return;
    json_array_append_new(s->warnings, json_string(message));
    if (!quiet)
        say("hamel: warning: %s\n", message);
}

static bool is_inconsistent(const hm_wellposedness *w)
{
    return !w->consistent && !w->kept;
}

bool check_errors(const findings *found)
{
    const hm_wellposedness *w = &found->analysis->wellposedness;
    return found->errors || is_inconsistent(w) || !w->known || w->message;
}

void check_release(findings *found)
{
    hm_symmetries_destroy(found->symmetries);
    hm_analysis_destroy(found->analysis);
    free(found->row_works);
}

static int check(const invocation *call)
{
    session s;
    findings found = {.full = option_value(call, "--full") != NULL};
    int status = session_open(&s, call, true);
    if (status == EXIT_DONE && hm_system_warn_conflated(s.context, s.system) > 0)
        session_take_warnings(&s, call->quiet);
    if (status == EXIT_DONE)
        status = check_find(&s, call->quiet, &found);
    if (status == EXIT_DONE)
        warn_of_negative_mass(&s, call->quiet, &found.analysis->wellposedness);
    if (status == EXIT_DONE && call->json)
        status = print_json(&s, &found);
    else if (status == EXIT_DONE)
        print_check(&s, &found);
    if (status == EXIT_DONE && is_inconsistent(&found.analysis->wellposedness))
        status = EXIT_BAD_INPUT;
    else if (status == EXIT_DONE && check_errors(&found))
        status = EXIT_FAILED;
    check_release(&found);
    session_close(&s);
    return status;
}

/* The arithmetic behind the analysis (FLINT, GMP) aborts the process when memory runs out. */
static int run(const invocation *call)
{
    return run_in_child(check, call);
}

static const option_spec options[] = {FULL_OPTION, {0}};

const command command_check = {
    .name = "check",
    .summary =
        "check a model: classes of constraints, degrees of freedom, principles, well-posedness",
    .usage = "MODEL [options]",
    .example = "hamel check skate",
    .options = options,
    .needs_model = true,
    .run = run,
};
