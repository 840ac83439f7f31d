/* hamel compare: the right equations beside the tempting wrong ones. */
#include "command.h"
#include "figure_file.h"
#include "values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct comparing {
    session *s;
    const invocation *call;
    hm_sim *sim;
    hm_comparison *comparison;
    double *mu; /* values of --mu, by multiplier */
    hm_compared at;
    hm_diverging motion;
    double t, *q, *v; /* the state compared at */
} comparing;

/* ---- options ---- */

/* conflated:"LHS = RHS"@alpha with its quotes, where a shell left them, taken off. */
static char *read_with(const char *given)
{
    char *text = memory_new(1, strlen(given) + 1), *to = text;
    for (const char *s = given; text && *s; s++)
        if (*s != '"')
            *to++ = *s;
    if (text)
        *to = '\0';
    return text;
}

/* "blade=0.2, roll=1" */
static int read_mu(comparing *x)
{
    size_t k = hm_comparison_mu_count(x->comparison);
    const char *given = option_value(x->call, "--mu");
    char *text = given ? memory_copy(given) : NULL, *rest = NULL;
    x->mu = memory_new(k + 1, sizeof *x->mu);
    if (!x->mu || (given && !text))
        return EXIT_FAILED;
    int status = EXIT_DONE;
    for (char *item = given ? strtok_r(text, ",", &rest) : NULL; item && status == EXIT_DONE;
         item = strtok_r(NULL, ",", &rest)) {
        char name[200], *end = NULL, *equals = strchr(item, '=');
        bool found = false;
        if (!equals || sscanf(item, " %199[^= ]", name) != 1) {
            status = usage_error("--mu needs NAME=VALUE, not '%s'", item);
            break;
        }
        double value = strtod(equals + 1, &end);
        while (end && *end == ' ')
            end++;
        if (end == equals + 1 || *end || !isfinite(value)) {
            status = usage_error("--mu needs a number, not '%s'", equals + 1);
            break;
        }
        for (size_t i = 0; i < k; i++) {
            size_t row = hm_comparison_mu_row(x->comparison, i);
            if (strcmp(hm_model_constraint(x->s->model, row).name, name) == 0) {
                x->mu[i] = value;
                found = true;
            }
        }
        if (!found)
            status = usage_error("--mu: there is no multiplier of a constraint '%s'", name);
    }
    free(text);
    return status;
}

/* ---- JSON ---- */

static json_t *by_coordinate(const hm_model *model, const double *values)
{
    json_t *object = json_object();
    for (size_t i = 0; values && i < hm_model_coordinate_count(model); i++)
        json_object_set_new(object, hm_model_coordinate_name(model, i),
                            json_number_or_null(values[i]));
    return object;
}

static json_t *by_multiplier(const comparing *x, const double *values)
{
    json_t *object = values ? json_object() : json_null();
    for (size_t i = 0; values && i < x->at.k; i++) {
        size_t row = hm_comparison_mu_row(x->comparison, i);
        json_object_set_new(object, hm_model_constraint(x->s->model, row).name,
                            json_number_or_null(values[i]));
    }
    return object;
}

static json_t *state_object(const comparing *x)
{
    return json_pack("{s:o, s:o, s:o}", "t", json_number_or_null(x->t), "q",
                     by_coordinate(x->s->model, x->q), "v", by_coordinate(x->s->model, x->v));
}

static json_t *motion_object(const comparing *x)
{
    const hm_diverging *m = &x->motion;
    json_t *object = json_pack("{s:o, s:o}", "t", json_vector(m->t, m->count), "distance",
                               json_vector(m->distance, m->count));
    json_t *correct = json_array(), *other = json_array();
    for (size_t k = 0; k < m->count; k++) {
        json_array_append_new(correct, json_vector(m->correct + k * 2 * m->n, 2 * m->n));
        json_array_append_new(other,
                              json_vector(m->other + k * (2 * m->n + m->k), 2 * m->n + m->k));
    }
    json_object_set_new(object, "correct", correct);
    json_object_set_new(object, "other", other);
    json_object_set_new(object, "violation", json_number_or_null(m->worst_violation));
    json_object_set_new(object, "message", json_string(m->message));
    return object;
}

static bool print_json(const comparing *x)
{
    const hm_compared *at = &x->at;
    json_t *object = json_object(), *G = json_array();
    size_t n = at->n;
    for (size_t i = 0; i < at->m; i++)
        json_array_append_new(G, json_vector(at->G + i * n, n));
    json_object_set_new(object, "model", json_string(hm_model_name(x->s->model)));
    json_object_set_new(object, "with", json_string(option_value(x->call, "--with")));
    json_object_set_new(object, "at", state_object(x));
    json_object_set_new(object, "correct",
                        json_pack("{s:o, s:o}", "qdd", json_vector(at->correct_qdd, n), "lambda",
                                  json_by_constraint(x->s->model, at->correct_lambda)));
    json_object_set_new(
        object, "other",
        json_pack("{s:o, s:o, s:o, s:o, s:i}", "qdd", json_vector(at->other_qdd, n), "lambda",
                  at->other_lambda ? json_by_constraint(x->s->model, at->other_lambda)
                                   : json_null(),
                  "mu", by_multiplier(x, at->mu), "mudot", by_multiplier(x, at->mudot), "rank_M",
                  at->rank_M));
    json_object_set_new(object, "G", G);
    json_object_set_new(object, "G_in_span", json_boolean(at->G_in_span));
    json_object_set_new(object, "difference", json_vector(at->difference, n));
    json_object_set_new(object, "trajectory", x->motion.count ? motion_object(x) : json_null());
    json_object_set_new(object, "reason", json_string(at->reason));
    bool written = json_print(object);
    json_decref(object);
    return written;
}

/* ---- text ---- */

static bool write_stdout(void *user, const char *bytes, size_t length)
{
    (void)user;
    return fwrite(bytes, 1, length, stdout) == length;
}

/* Rounding that a reader should not see. */
static double tidy(double value, double size)
{
    return fabs(value) < 1e-13 * size ? 0 : positive_zero(value);
}

static double largest(const double *values, size_t count)
{
    double size = 0;
    for (size_t i = 0; values && i < count; i++)
        size = fmax(size, fabs(values[i]));
    return size;
}

static void print_accelerations(const comparing *x)
{
    const hm_compared *at = &x->at;
    const hm_model *model = x->s->model;
    double q = fmax(largest(at->correct_qdd, at->n), largest(at->other_qdd, at->n));
    double l = fmax(largest(at->correct_lambda, at->m), largest(at->other_lambda, at->m));
    printf("at t = %.9g %22s %18s %18s\n", x->t, "correct", hm_comparison_kind(x->comparison),
           "difference");
    for (size_t i = 0; i < at->n; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s''", hm_model_coordinate_name(model, i));
        printf("    %-14s %18.12g %18.12g %18.6g\n", name, tidy(at->correct_qdd[i], q),
               tidy(at->other_qdd[i], q), tidy(at->difference[i], q));
    }
    for (size_t i = 0; i < at->m; i++) {
        char name[80];
        snprintf(name, sizeof name, "lambda %s", hm_model_constraint(model, i).name);
        printf("    %-14s %18.12g", name, tidy(at->correct_lambda[i], l));
        if (at->other_lambda)
            printf(" %18.12g %18.6g", tidy(at->other_lambda[i], l),
                   tidy(at->other_lambda[i] - at->correct_lambda[i], l));
        printf("\n");
    }
    for (size_t i = 0; at->mudot && i < at->k; i++) {
        const char *row = hm_model_constraint(model, hm_comparison_mu_row(x->comparison, i)).name;
        char name[80];
        snprintf(name, sizeof name, "mu %s", row);
        printf("    %-14s %18s %18.12g\n", name, "", positive_zero(at->mu[i]));
        snprintf(name, sizeof name, "mu' %s", row);
        printf("    %-14s %18s %18.12g\n", name, "", positive_zero(at->mudot[i]));
    }
}

/* Words in lines of at most 96 characters. */
static void print_wrapped(const char *text)
{
    size_t column = 0;
    while (*text) {
        size_t length = strcspn(text, " ");
        if (column && column + 1 + length > 96) {
            printf("\n");
            column = 0;
        }
        column += (size_t)printf("%s%.*s", column ? " " : "", (int)length, text);
        text += length;
        text += strspn(text, " ");
    }
    printf("\n");
}

static void print_motion(const hm_diverging *m)
{
    size_t rows = m->count < 11 ? m->count : 11;
    if (!m->count)
        return;
    printf("how the motions diverge\n    %12s %18s\n", "t", "distance");
    for (size_t k = 0; k < rows; k++) {
        size_t i = rows > 1 ? k * (m->count - 1) / (rows - 1) : 0;
        printf("    %12.6g %18.6g\n", m->t[i], positive_zero(m->distance[i]));
    }
    if (m->message[0])
        printf("    %s\n", m->message);
}

static hm_status print_text(const comparing *x)
{
    bool written = false;
    printf("%s with ", hm_model_name(x->s->model));
    print_shown(option_value(x->call, "--with"));
    putchar('\n');
    hm_status status = hm_comparison_write(x->comparison, write_stdout, NULL, &written);
    print_accelerations(x);
    print_motion(&x->motion);
    print_wrapped(x->at.reason);
    return status;
}

/* ---- the plot ---- */

/* One coordinate of both motions. */
static hm_status add_panel(const comparing *x, hm_figure *figure, size_t i, double *columns)
{
    const hm_diverging *m = &x->motion;
    double *right = columns, *wrong = columns + m->count;
    for (size_t k = 0; k < m->count; k++) {
        right[k] = m->correct[k * 2 * m->n + i];
        wrong[k] = m->other[k * (2 * m->n + m->k) + i];
    }
    const hm_curve series[2] = {
        {.label = "correct", .x = m->t, .y = right, .count = m->count},
        {.label = hm_comparison_kind(x->comparison), .x = m->t, .y = wrong, .count = m->count}};
    const hm_panel panel = {.x_label = "t",
                            .y_label = hm_model_coordinate_name(x->s->model, i),
                            .curves = series,
                            .curve_count = 2};
    return hm_figure_add(figure, &panel);
}

static bool write_plot(const comparing *x, const char *path)
{
    const hm_diverging *m = &x->motion;
    size_t shown = m->n < 6 ? m->n : 6;
    hm_figure *figure = NULL;
    char title[200];
    double *columns = memory_new(2 * shown * m->count + 1, sizeof *columns);
    snprintf(title, sizeof title, "%s: correct and %s", hm_model_name(x->s->model),
             hm_comparison_kind(x->comparison));
    hm_status status = columns ? hm_figure_create(memory_allocator(), title, NULL, &figure)
                               : HM_ERR_NOMEM;
    const hm_curve series = {.label = NULL, .x = m->t, .y = m->distance, .count = m->count};
    const hm_panel distance = {
        .x_label = "t", .y_label = "distance", .curves = &series, .curve_count = 1};
    if (status == HM_OK)
        status = hm_figure_add(figure, &distance);
    for (size_t i = 0; i < shown && status == HM_OK; i++)
        status = add_panel(x, figure, i, columns + 2 * i * m->count);
    bool good = status == HM_OK && figure_file_write(figure, path);
    hm_figure_destroy(figure);
    free(columns);
    return good;
}

/* ---- the command ---- */

static hm_status prepare_state(comparing *x)
{
    const hm_moved *moved = NULL;
    size_t count = 0, n = hm_model_coordinate_count(x->s->model);
    const char *at = option_value(x->call, "--at");
    hm_status status = state_from_text(x->sim, x->s->model, at);
    if (status == HM_OK && !at && !hm_run_options_default(x->s->model).keep_initial)
        status = hm_sim_make_consistent(x->sim, false, &moved, &count);
    x->q = memory_new(n + 1, sizeof *x->q);
    x->v = memory_new(n + 1, sizeof *x->v);
    if (!x->q || !x->v)
        return HM_ERR_NOMEM;
    hm_sim_state(x->sim, x->q, x->v, NULL);
    x->t = hm_sim_time(x->sim);
    return status;
}

/* From the state compared at, moved onto the constraints where --at is off them. */
static hm_status run_motions(comparing *x, bool *usable)
{
    const hm_moved *moved = NULL;
    size_t count = 0;
    hm_run_options o = hm_run_options_default(x->s->model);
    double length = o.end - o.start;
    o.start = x->t;
    o.end = x->t + length;
    *usable = option_number(x->s, x->call, "--to", &o.end) &&
              option_positive(x->s, x->call, "--every", &o.every) &&
              option_positive(x->s, x->call, "--rtol", &o.rtol) &&
              option_positive(x->s, x->call, "--atol", &o.atol);
    if (*usable && !(o.end > o.start)) {
        usage_error("--to must be later than the start");
        *usable = false;
    }
    if (!*usable)
        return HM_ERR_USAGE;
    hm_status status = HM_OK;
    if (option_value(x->call, "--at") && !o.keep_initial)
        status = hm_sim_make_consistent(x->sim, true, &moved, &count);
    if (status == HM_OK)
        status = hm_comparison_run(x->comparison, x->sim, &o, x->mu, &x->motion);
    return status;
}

static int compare(comparing *x, const char *with)
{
    bool usable = true;
    const char *plot = option_value(x->call, "--plot");
    int code = plot ? figure_file_check(plot) : EXIT_DONE;
    if (code != EXIT_DONE)
        return code;
    hm_status status = hm_comparison_create(x->s->context, x->s->system, with, &x->comparison);
    if (status == HM_OK)
        status = hm_sim_create(x->s->system, &x->sim);
    if (status == HM_OK) {
        int read = read_mu(x);
        if (read != EXIT_DONE)
            return read;
        status = prepare_state(x);
    }
    if (status == HM_OK)
        status = hm_comparison_evaluate(x->comparison, x->sim, x->mu, &x->at);
    hm_status moved = HM_OK;
    if (status == HM_OK && !option_value(x->call, "--state-only"))
        moved = run_motions(x, &usable);
    if (!usable)
        return EXIT_BAD_INPUT;
    if (status == HM_OK && x->call->json)
        status = print_json(x) ? HM_OK : HM_ERR_IO;
    else if (status == HM_OK)
        status = print_text(x);
    if (status == HM_OK && plot && x->motion.count && !write_plot(x, plot))
        return EXIT_FAILED;
    return status != HM_OK ? exit_status_of(status) : moved != HM_OK ? EXIT_FAILED : EXIT_DONE;
}

static int run(const invocation *call)
{
    session s;
    comparing x = {.s = &s, .call = call};
    const char *given = option_value(call, "--with");
    if (!given)
        return usage_error(
            "--with is missing: --with vakonomic, or --with conflated:\"LHS = RHS\"");
    char *with = read_with(given);
    int status = with ? session_open(&s, call, true) : EXIT_FAILED;
    if (with && status == EXIT_DONE) {
        status = compare(&x, with);
        fflush(stdout);
        print_diagnostics(s.context, call->quiet);
        print_sim_diagnostics(x.sim, call->quiet);
    }
    hm_sim_destroy(x.sim);
    hm_comparison_destroy(x.comparison);
    if (with)
        session_close(&s);
    free(with);
    free(x.mu);
    free(x.q);
    free(x.v);
    return status;
}

static const option_spec options[] = {
    {"--with", "WHAT", "vakonomic, or conflated:\"LHS = RHS\", or conflated:\"LHS = RHS\"@alpha"},
    {"--at", "STATE", "compare accelerations here; default: the initial state"},
    {"--mu", "LIST", "vakonomic: mu(0) by constraint, as in \"blade=0.2, roll=1\"; default 0"},
    {"--to", "T", "follow both motions until T; default: the end of `simulate`"},
    {"--every", "DT", "time between outputs"},
    {"--rtol", "R", "relative tolerance per step"},
    {"--atol", "A", "absolute tolerance per step"},
    {"--state-only", NULL, "accelerations only, no motions"},
    {"--plot", "FILE", "distance and coordinates of both motions, .svg or .png"},
    {0},
};

const command command_compare = {
    .name = "compare",
    .summary = "the right equations beside the tempting wrong ones",
    .usage = "MODEL --with WHAT [options]",
    .example = "hamel compare skate --with vakonomic --mu blade=0.2 --plot skate.svg",
    .options = options,
    .needs_model = true,
    .run = run,
};
