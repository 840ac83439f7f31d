#include "support/probe.h"

#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void show_diagnostics(const hm_context *context)
{
    char text[2000];
    for (size_t i = 0; i < hm_context_diagnostic_count(context); i++) {
        hm_diagnostic_format(hm_context_diagnostic(context, i), false, text, sizeof text);
        fprintf(stderr, "%s\n", text);
    }
}

static void require(const probe *p, hm_status status, const char *step)
{
    if (status == HM_OK)
        return;
    show_diagnostics(p->context);
    if (p->sim)
        show_diagnostics(hm_sim_context(p->sim));
    fail_msg("%s: %s", step, hm_status_text(status));
}

static double *new_matrix(size_t rows, size_t columns)
{
    double *x = calloc(rows * columns + 1, sizeof *x);
    assert_non_null(x);
    return x;
}

static probe *new_probe(void)
{
    probe *p = calloc(1, sizeof *p);
    assert_non_null(p);
    p->context = hm_context_create(NULL);
    assert_non_null(p->context);
    return p;
}

static probe *finish_probe(probe *p)
{
    require(p, hm_system_create(p->model, &p->system), "deriving the equations");
    require(p, hm_sim_create(p->system, &p->sim), "creating the state");
    p->n = hm_model_coordinate_count(p->model);
    p->m = hm_model_constraint_count(p->model);
    p->M = new_matrix(p->n, p->n);
    p->A = new_matrix(p->m, p->n);
    p->servo_A = new_matrix(hm_model_servo_count(p->model), p->n);
    return p;
}

probe *probe_text_with(const char *text, const hm_override *overrides, size_t count)
{
    probe *p = new_probe();
    hm_model_options options = hm_model_options_default();
    options.overrides = overrides;
    options.override_count = count;
    require(p, hm_model_parse(p->context, text, strlen(text), &options, &p->model), "reading");
    return finish_probe(p);
}

probe *probe_text(const char *text)
{
    return probe_text_with(text, NULL, 0);
}

probe *probe_file(const char *path, const hm_override *overrides, size_t count)
{
    probe *p = new_probe();
    hm_model_options options = hm_model_options_default();
    options.overrides = overrides;
    options.override_count = count;
    require(p, hm_model_load(p->context, path, &options, &p->model), path);
    return finish_probe(p);
}

void probe_close(probe *p)
{
    if (!p)
        return;
    hm_sim_destroy(p->sim);
    hm_system_destroy(p->system);
    hm_model_destroy(p->model);
    hm_context_destroy(p->context);
    free(p->M);
    free(p->A);
    free(p->servo_A);
    free(p);
}

void probe_evaluate(probe *p)
{
    p->status = hm_sim_evaluate(p->sim, NULL, &p->at);
    if (p->status != HM_ERR_UNDETERMINED && p->status != HM_ERR_INCONSISTENT)
        require(p, p->status, "evaluating");
    hm_matrix_dense(&p->at.M, p->M);
    hm_matrix_dense(&p->at.A, p->A);
    hm_matrix_dense(&p->at.servo_A, p->servo_A);
}

void probe_state(probe *p, double t, const double *q, const double *v)
{
    hm_sim_set_state(p->sim, t, q, v, NULL);
    probe_evaluate(p);
}

void probe_at(probe *p, const char *state)
{
    size_t inputs = hm_model_input_count(p->model);
    double t = 0, *q = new_matrix(p->n, 1), *v = new_matrix(p->n, 1);
    double *z = new_matrix(hm_model_state_count(p->model), 1), *u = new_matrix(inputs, 1);
    bool *u_set = calloc(inputs + 1, sizeof *u_set);
    assert_non_null(u_set);
    hm_model_initial(p->model, q, v, z);
    require(p, hm_model_read_state(p->context, p->model, state, &t, q, v, z, u, u_set), state);
    hm_sim_set_state(p->sim, t, q, v, z);
    for (size_t i = 0; i < inputs; i++)
        if (u_set[i])
            require(p, hm_sim_set_input(p->sim, i, u[i], 0, 0), "setting an input");
    free(q);
    free(v);
    free(z);
    free(u);
    free(u_set);
    probe_evaluate(p);
}

void probe_set(probe *p, const char *param, double value)
{
    require(p, hm_sim_set_param(p->sim, param, value), param);
}

/* ---- by name ---- */

size_t probe_coordinate(const probe *p, const char *name)
{
    for (size_t i = 0; i < p->n; i++)
        if (strcmp(hm_model_coordinate_name(p->model, i), name) == 0)
            return i;
    fail_msg("there is no coordinate '%s'", name);
    return 0;
}

size_t probe_constraint(const probe *p, const char *name)
{
    for (size_t i = 0; i < p->m; i++)
        if (strcmp(hm_model_constraint(p->model, i).name, name) == 0)
            return i;
    fail_msg("there is no constraint '%s'", name);
    return 0;
}

size_t probe_servo(const probe *p, const char *name)
{
    for (size_t i = 0; i < hm_model_servo_count(p->model); i++)
        if (strcmp(hm_model_servo(p->model, i).name, name) == 0)
            return i;
    fail_msg("there is no servo '%s'", name);
    return 0;
}

double probe_output(const probe *p, const char *name)
{
    for (size_t i = 0; i < hm_model_output_count(p->model); i++)
        if (strcmp(hm_model_output_name(p->model, i), name) == 0)
            return p->at.outputs[i];
    fail_msg("there is no output '%s'", name);
    return 0;
}

double probe_M(const probe *p, const char *x, const char *y)
{
    return p->M[probe_coordinate(p, x) * p->n + probe_coordinate(p, y)];
}

/* ---- values of expressions ---- */

/* The model with `output value = expression`, evaluated at the state. */
static probe *probe_value(const char *model, const char *expression, const char *state)
{
    static const char format[] = "%s\noutput value = %s\n";
    size_t size = strlen(model) + strlen(expression) + sizeof format;
    char *text = malloc(size);
    assert_non_null(text);
    snprintf(text, size, format, model, expression);
    probe *p = probe_text(text);
    free(text);
    probe_at(p, state);
    return p;
}

void check_values(const char *model, const char *expression, const char *state, size_t count,
                  const double *expected)
{
    probe *p = probe_value(model, expression, state);
    if (hm_model_output_count(p->model) != count)
        fail_msg("%s has %zu components, expected %zu", expression, hm_model_output_count(p->model),
                 count);
    check_close(expression, count, p->at.outputs, expected, 1e-14);
    probe_close(p);
}

void check_value(const char *model, const char *expression, const char *state, double expected)
{
    check_values(model, expression, state, 1, &expected);
}

/* ---- what must not be read ---- */

static bool mentions(const hm_context *context, const char *fragment)
{
    for (size_t i = 0; i < hm_context_diagnostic_count(context); i++) {
        const hm_diagnostic *d = hm_context_diagnostic(context, i);
        if (strstr(d->message, fragment) || (d->hint && strstr(d->hint, fragment)))
            return true;
    }
    return false;
}

void check_rejected(const char *text, hm_status status, const char *fragment)
{
    hm_context *context = hm_context_create(NULL);
    hm_model *model = NULL;
    assert_non_null(context);
    hm_status got = hm_model_parse(context, text, strlen(text), NULL, &model);
    bool mentioned = mentions(context, fragment);
    if (got != status || !mentioned)
        show_diagnostics(context);
    hm_model_destroy(model);
    hm_context_destroy(context);
    if (got != status)
        fail_msg("'%s' gave %s, expected %s", text, hm_status_text(got), hm_status_text(status));
    if (!mentioned)
        fail_msg("no message about '%s' mentions '%s'", text, fragment);
}
