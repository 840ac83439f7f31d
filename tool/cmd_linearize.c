/* hamel linearize: equilibria and steady motions, the reduced state matrix, eigenvalues, modes. The
 * table over a parameter is in linearize_trace.c. */
#include "linearize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- options ---- */

static int read_options(const invocation *call, const name_list *hold, hm_linearize_options *o)
{
    const char *find = option_value(call, "--find");
    bool keep = option_value(call, "--keep"), drop = option_value(call, "--drop");
    *o = hm_linearize_options_default();
    if (keep && drop)
        return usage_error("--keep and --drop cannot be combined");
    o->ignorable = keep ? HM_IGNORABLE_KEEP : drop ? HM_IGNORABLE_DROP : HM_IGNORABLE_WHEN_MOVING;
    o->find = find != NULL;
    o->steady = find && strcmp(find, "steady") == 0;
    o->periodic = find && strcmp(find, "periodic") == 0;
    if (find && !o->steady && !o->periodic && strcmp(find, "rest") != 0)
        return usage_error("--find takes rest, steady or periodic, not '%s'", find);
    if (hold->count && o->periodic)
        return usage_error("--hold is for --find rest and --find steady");
    if (hold->count && !find)
        return usage_error("--hold needs --find");
    o->hold = hold->names;
    o->hold_count = hold->count;
    return EXIT_DONE;
}

/* ---- JSON ---- */

bool is_at_rest(const hm_linearization *l)
{
    return l->rest != HM_REST_NONE && l->rest != HM_REST_PERIODIC;
}

static json_t *state_object(const hm_model *model, const hm_linearization *l)
{
    json_t *q = json_object(), *v = json_object(), *z = json_object();
    for (size_t i = 0; i < l->n; i++) {
        json_object_set_new(q, hm_model_coordinate_name(model, i), json_number_or_null(l->q[i]));
        json_object_set_new(v, hm_model_coordinate_name(model, i), json_number_or_null(l->v[i]));
    }
    for (size_t i = 0; i < l->states; i++)
        json_object_set_new(z, hm_model_state_name(model, i), json_number_or_null(l->z[i]));
    return json_pack("{s:o, s:o, s:o, s:f}", "q", q, "v", v, "z", z, "t", l->t);
}

json_t *eigenvalue_list(const hm_linearization *l)
{
    json_t *list = json_array();
    for (size_t k = 0; k < l->dimension && l->A; k++)
        json_array_append_new(list, json_pack("{s:f, s:f, s:f}", "re", l->re[k], "im", l->im[k],
                                              "error", l->error[k]));
    return list;
}

json_t *stable_value(const hm_linearization *l)
{
    return l->stability == HM_STABILITY_MARGINAL ? json_string("marginal")
           : l->stability == HM_STABILITY_UNDECIDED
               ? json_null()
               : json_boolean(l->stability == HM_STABILITY_STABLE);
}

/* Floquet multipliers; null: there are none. */
static json_t *multiplier_list(const hm_linearization *l)
{
    json_t *list = l->multiplier_re ? json_array() : json_null();
    for (size_t k = 0; k < l->dimension && l->multiplier_re; k++)
        json_array_append_new(list, json_pack("{s:o, s:o, s:o}", "re",
                                              json_number_or_null(l->multiplier_re[k]), "im",
                                              json_number_or_null(l->multiplier_im[k]), "error",
                                              json_number_or_null(l->multiplier_error[k])));
    return list;
}

static json_t *mode_list(const hm_linearization *l)
{
    json_t *list = json_array();
    for (size_t k = 0; k < l->dimension && l->A; k++)
        json_array_append_new(
            list,
            json_pack("{s:o, s:o}", "re", json_vector(l->modes_re + k * l->dimension, l->dimension),
                      "im", json_vector(l->modes_im + k * l->dimension, l->dimension)));
    return list;
}

json_t *linearization_object(const hm_model *model, const hm_linearization *l)
{
    json_t *object = json_object(), *A = l->A ? json_array() : json_null();
    for (size_t i = 0; i < l->dimension && l->A; i++)
        json_array_append_new(A, json_vector(l->A + i * l->dimension, l->dimension));
    json_object_set_new(object, "model", json_string(hm_model_name(model)));
    json_object_set_new(object, "at", state_object(model, l));
    json_object_set_new(object, "dimension", json_integer((json_int_t)l->dimension));
    json_object_set_new(object, "state_names", json_names(l->names, l->dimension));
    json_object_set_new(object, "A", A);
    json_object_set_new(object, "eigenvalues", eigenvalue_list(l));
    json_object_set_new(object, "modes", mode_list(l));
    json_object_set_new(object, "stable", stable_value(l));
    json_object_set_new(object, "reason", l->reason ? json_string(l->reason) : json_null());
    json_object_set_new(object, "equilibrium", json_boolean(is_at_rest(l)));
    json_object_set_new(object, "motion", json_string(hm_rest_text(l->rest)));
    json_object_set_new(object, "residual", json_number_or_null(l->residual));
    json_object_set_new(object, "time", json_string(hm_time_dependence_text(l->time)));
    json_object_set_new(object, "period", l->period > 0 ? json_real(l->period) : json_null());
    json_object_set_new(object, "multipliers", multiplier_list(l));
    json_object_set_new(object, "frame", l->frame ? json_string(l->frame) : json_null());
    json_object_set_new(object, "symmetries", json_integer((json_int_t)l->symmetries));
    json_object_set_new(object, "dropped", json_names(l->dropped, l->dropped_count));
    json_object_set_new(object, "zeros", json_integer((json_int_t)l->zeros));
    json_object_set_new(object, "family", json_integer((json_int_t)l->family));
    json_object_set_new(object, "iterations", json_integer(l->iterations));
    add_ports(object, l);
    return object;
}

static bool print_json(const hm_model *model, const hm_linearization *l)
{
    json_t *object = linearization_object(model, l);
    bool written = json_print(object);
    json_decref(object);
    return written;
}

/* ---- text ---- */

static void print_where(const hm_model *model, const hm_linearization *l)
{
    static const char *const texts[] = {
        [HM_REST_EQUILIBRIUM] = "equilibrium",
        [HM_REST_STEADY] = "steady motion: all states below are constant",
        [HM_REST_RELATIVE] =
            "relative equilibrium: constant in a frame that moves along a symmetry",
        [HM_REST_PERIODIC] = "periodic motion: what is kept of the state comes back",
        [HM_REST_NONE] = "neither equilibrium nor steady motion: valid for a short time only",
    };
    printf("%s: %s (%s %.1e)\n", hm_model_name(model), texts[l->rest],
           l->rest == HM_REST_PERIODIC ? "to within" : "largest rate", l->residual);
    for (size_t i = 0; i < l->n; i++) {
        char rate[64];
        snprintf(rate, sizeof rate, "%s'", hm_model_coordinate_name(model, i));
        printf("    %-12s %18.12g    %-12s %18.12g\n", hm_model_coordinate_name(model, i),
               positive_zero(l->q[i]), rate, positive_zero(l->v[i]));
    }
    for (size_t i = 0; i < l->states; i++)
        printf("    %-12s %18.12g\n", hm_model_state_name(model, i), positive_zero(l->z[i]));
}

static void print_dropped(const hm_linearization *l)
{
    if (l->rest == HM_REST_RELATIVE)
        printf("the frame moves by %s\nthe equations have %zu affine symmetries; their %zu "
               "directions here are factored out\n",
               l->frame, l->symmetries, l->dropped_count);
    if (!l->dropped_count || l->rest == HM_REST_RELATIVE)
        return;
    printf("left out, since the motion of the rest does not depend on them:");
    for (size_t i = 0; i < l->dropped_count; i++)
        printf("%s %s", i ? "," : "", l->dropped[i]);
    printf("\n");
}

enum { MOST_COLUMNS = 10 };

static void print_matrix_rows(const hm_linearization *l)
{
    size_t d = l->dimension, shown = d < MOST_COLUMNS ? d : MOST_COLUMNS;
    printf("state matrix of %zu independent variables", d);
    if (l->time != HM_TIME_DEPENDENCE_NONE || l->rest == HM_REST_PERIODIC)
        printf(" at t = %.10g, which changes with time", positive_zero(l->t));
    printf("%s\n", shown < d ? " (--json gives all columns)" : "");
    printf("    %-12s", "");
    for (size_t j = 0; j < shown; j++)
        printf(" %12s", l->names[j]);
    printf("\n");
    for (size_t i = 0; i < d; i++) {
        double largest = 0;
        for (size_t j = 0; j < d; j++)
            largest = fmax(largest, fabs(l->A[i * d + j]));
        char rate[64];
        snprintf(rate, sizeof rate, "%s'", l->names[i]);
        printf("    %-12s", rate);
        for (size_t j = 0; j < shown; j++)
            printf(" %12.6g", tidy(l->A[i * d + j], largest));
        printf("\n");
    }
}

static double mode_size(const hm_linearization *l, size_t k, size_t j)
{
    return hypot(l->modes_re[k * l->dimension + j], l->modes_im[k * l->dimension + j]);
}

/* How many variables move more than variable j in mode k. */
static size_t mode_place(const hm_linearization *l, size_t k, size_t j)
{
    size_t place = 0;
    for (size_t i = 0; i < l->dimension; i++)
        place += mode_size(l, k, i) > mode_size(l, k, j) ||
                 (mode_size(l, k, i) == mode_size(l, k, j) && i < j);
    return place;
}

/* The variables that move most in a mode: "phi 1, delta 0.31 (-42°)". */
static void print_mode(const hm_linearization *l, size_t k)
{
    size_t d = l->dimension, shown = 0, moving = 0;
    for (size_t j = 0; j < d; j++) {
        double re = l->modes_re[k * d + j], im = l->modes_im[k * d + j], size = hypot(re, im);
        moving += size >= 1e-3;
        if (size < 1e-3 || mode_place(l, k, j) >= 6)
            continue;
        printf("%s%s %.3g", shown++ ? ", " : "", l->names[j], l->im[k] == 0 ? re : size);
        double angle = fabs(im) < 1e-9 * size && re < 0 ? 180 : 57.29577951308232 * atan2(im, re);
        if (l->im[k] != 0 && size < 1 - 1e-9)
            printf(" (%.0f°)", fabs(angle) < 0.5 ? 0 : angle);
    }
    if (moving > shown)
        printf(", ...");
}

static void print_eigenvalues(const hm_linearization *l)
{
    printf("eigenvalues%26smode\n", "");
    for (size_t k = 0; k < l->dimension; k++) {
        double re = fabs(l->re[k]) <= l->error[k] ? 0 : l->re[k];
        double im = fabs(l->im[k]) <= l->error[k] ? 0 : l->im[k];
        if (l->im[k] < 0)
            continue; /* shown with its partner */
        char pair[48] = "";
        if (l->im[k] > 0 && im != 0)
            snprintf(pair, sizeof pair, " ± %.9g i", im);
        printf("    %16.10g%-18s", re, pair);
        printf("%*s", im != 0 ? 1 : 0, ""); /* ± takes two bytes */
        print_mode(l, k);
        printf("\n");
    }
}

static void print_multipliers(const hm_linearization *l)
{
    printf("Floquet multipliers over the period %.12g%12smodulus\n", l->period, "");
    for (size_t k = 0; k < l->dimension; k++) {
        double re = l->multiplier_re[k], im = l->multiplier_im[k], error = l->multiplier_error[k];
        if (im < 0)
            continue; /* shown with its partner */
        char pair[48] = "";
        if (im > 0)
            snprintf(pair, sizeof pair, " ± %.9g i", im);
        printf("    %16.10g%-18s%*s%.10g, within %.1g\n", re, pair, im > 0 ? 1 : 0, "",
               hypot(re, im), error);
    }
}

static void print_family(const hm_linearization *l)
{
    printf("%zu of %zu zero eigenvalue%s belong%s to a %zu-parameter family of such states, "
           "which does not affect stability\n",
           l->family, l->zeros, l->zeros == 1 ? "" : "s", l->family == 1 ? "s" : "", l->family);
}

static void print_verdict_of_multipliers(const hm_linearization *l)
{
    if (l->stability == HM_STABILITY_UNSTABLE)
        printf(": a multiplier lies outside the unit circle\n");
    else if (l->stability == HM_STABILITY_STABLE)
        printf(": all multipliers%s lie inside the unit circle\n",
               l->rest == HM_REST_PERIODIC && l->time == HM_TIME_DEPENDENCE_NONE
                   ? " but that of a later beginning"
                   : "");
    else
        printf(": no multiplier lies outside the unit circle, some lie on it within their error; "
               "not decided by the linearisation\n");
}

static void print_verdict_of_eigenvalues(const hm_linearization *l)
{
    if (l->stability == HM_STABILITY_UNSTABLE)
        printf(": an eigenvalue has a positive real part\n");
    else if (l->stability == HM_STABILITY_STABLE)
        printf(l->family ? ": the others have negative real parts; a disturbed motion settles on a "
                           "neighbouring state\n"
                         : ": all eigenvalues have negative real parts\n");
    else if (l->zeros > l->family)
        printf(
            ": no real part is positive, and %s eigenvalue 0 belongs to no family of such states; "
            "not decided by the linearisation\n",
            l->zeros - l->family == 1 ? "an" : "more than one");
    else
        printf(": no real part is positive, some are zero; not decided by the linearisation\n");
}

static void print_verdict(const hm_linearization *l)
{
    bool by_time = l->multiplier_re && (l->time == HM_TIME_DEPENDENCE_PERIODIC || !is_at_rest(l));
    if (l->rest == HM_REST_NONE && l->time == HM_TIME_DEPENDENCE_PERIODIC)
        printf("the equations have the period %.12g: --find periodic searches for a motion of this "
               "period\n",
               l->period);
    if (l->rest == HM_REST_NONE)
        printf(
            "--find rest searches for an equilibrium near this state, --find steady for a steady "
            "motion\n");
    if (l->multiplier_re && !by_time)
        print_multipliers(l);
    if (l->family && !by_time)
        print_family(l);
    if (by_time)
        print_multipliers(l);
    if (l->rest == HM_REST_NONE)
        return;
    printf("%s", hm_stability_text(l->stability));
    if (l->stability == HM_STABILITY_UNDECIDED)
        printf(": %s\n", l->reason);
    else if (by_time)
        print_verdict_of_multipliers(l);
    else
        print_verdict_of_eigenvalues(l);
}

static void print_text(const hm_model *model, const hm_linearization *l)
{
    print_where(model, l);
    print_dropped(l);
    if (l->dimension == 0) {
        printf("the constraints leave no freedom: there is nothing to linearise\n");
        return;
    }
    if (l->A) {
        print_matrix_rows(l);
        print_ports(l);
        print_eigenvalues(l);
    }
    print_verdict(l);
}

/* ---- the command ---- */

/* The state that --at gives, or the model's; guesses move onto the constraints. */
static hm_status prepare_state(session *s, const invocation *call, hm_sim *sim)
{
    const hm_moved *moved = NULL;
    size_t count = 0;
    hm_status status = state_from_text(sim, s->model, option_value(call, "--at"));
    if (status == HM_OK && !hm_run_options_default(s->model).keep_initial)
        status = hm_sim_make_consistent(sim, false, &moved, &count);
    return status;
}

static int linearize_once(session *s, const invocation *call, const hm_linearize_options *options)
{
    hm_sim *sim = NULL;
    hm_linearization *l = NULL;
    hm_status status = hm_sim_create(s->system, &sim);
    if (status == HM_OK)
        status = prepare_state(s, call, sim);
    if (status == HM_OK)
        status = hm_sim_linearize(sim, options, &l);
    int result = exit_status_of(status);
    if (l && call->json)
        result = print_json(s->model, l) ? EXIT_DONE : EXIT_FAILED;
    else if (l)
        print_text(s->model, l);
    fflush(stdout);
    print_sim_diagnostics(sim, call->quiet);
    hm_linearization_destroy(l);
    hm_sim_destroy(sim);
    return result;
}

static int read_period(const session *s, const invocation *call, hm_linearize_options *options)
{
    if (!option_number(s, call, "--period", &options->period))
        return EXIT_BAD_INPUT;
    if (option_value(call, "--period") && !(options->period > 0 && isfinite(options->period)))
        return usage_error("--period is a positive time");
    return EXIT_DONE;
}

/* The names of --hold, --inputs, --outputs. */
typedef struct all_names {
    name_list hold, inputs, outputs;
} all_names;

static int read_names(const invocation *call, all_names *names)
{
    int status = read_name_list(call, "--hold", &names->hold);
    if (status == EXIT_DONE)
        status = read_name_list(call, "--inputs", &names->inputs);
    if (status == EXIT_DONE)
        status = read_name_list(call, "--outputs", &names->outputs);
    if (status == EXIT_DONE && option_value(call, "--param") &&
        (names->inputs.count || names->outputs.count))
        status = usage_error("--inputs and --outputs cannot be combined with --param");
    return status;
}

static int run_session(const invocation *call, hm_linearize_options *options)
{
    session s;
    int status = session_open(&s, call, true);
    if (status == EXIT_DONE)
        status = read_period(&s, call, options);
    if (status == EXIT_DONE)
        status = option_value(call, "--param") ? linearize_trace(&s, call, options)
                                               : linearize_once(&s, call, options);
    session_close(&s);
    return status;
}

static int run(const invocation *call)
{
    all_names names = {0};
    hm_linearize_options options;
    int status = read_names(call, &names);
    if (status == EXIT_DONE)
        status = read_options(call, &names.hold, &options);
    if (status == EXIT_DONE) {
        options.inputs = names.inputs.names;
        options.input_count = names.inputs.count;
        options.outputs = names.outputs.names;
        options.output_count = names.outputs.count;
        status = run_session(call, &options);
    }
    free(names.hold.text);
    free(names.inputs.text);
    free(names.outputs.text);
    return status;
}

static const option_spec options[] = {
    {"--at", "STATE", "the state, as in \"x=1, x'=0.2\"; default: the initial state"},
    {"--find", "KIND",
     "search from this state: rest (an equilibrium), steady (a steady motion) or periodic"},
    {"--period", "T", "the period of the equations, where it cannot be read from them"},
    {"--hold", "NAMES", "values that the search holds fixed, as in \"theta, phi'\""},
    {"--keep", NULL, "keep coordinates that do not occur in the equations"},
    {"--drop", NULL, "leave them out, at an equilibrium too"},
    {"--inputs", "NAMES", "add B (and D): the effect of these inputs"},
    {"--outputs", "NAMES", "add C (and D): coordinates, velocities, states or outputs"},
    {"--param", "NAME", "eigenvalues over a parameter, from --from to --to in --steps steps"},
    {"--from", "VALUE", "first value"},
    {"--to", "VALUE", "last value"},
    {"--steps", "N", "number of steps between them; default 20"},
    {"--csv", "FILE", "write the table to a file"},
    {"--plot", "FILE", "real and imaginary parts over the parameter, .svg or .png"},
    {0},
};

const command command_linearize = {
    .name = "linearize",
    .summary = "equilibria and steady motions: reduced state matrix, eigenvalues, modes",
    .usage = "MODEL [options]",
    .example = "hamel linearize bicycle --param v --from 0 --to 10 --steps 100 --plot bicycle.svg",
    .options = options,
    .needs_model = true,
    .run = run,
};
