#include "support/motion.h"

#include "support/check.h"
#include "support/probe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static motion *finish(motion *m, hm_status status, const char *what)
{
    if (status == HM_OK)
        status = hm_system_create(m->model, &m->system);
    if (status == HM_OK)
        status = hm_sim_create(m->system, &m->sim);
    if (status != HM_OK) {
        show_diagnostics(m->context);
        fail_msg("%s: %s", what, hm_status_text(status));
    }
    m->n = hm_model_coordinate_count(m->model);
    m->options = hm_run_options_default(m->model);
    return m;
}

motion *motion_text(const char *text)
{
    motion *m = calloc(1, sizeof *m);
    m->context = hm_context_create(NULL);
    return finish(m, hm_model_parse(m->context, text, strlen(text), NULL, &m->model), text);
}

motion *motion_file(const char *path, const hm_override *overrides, size_t count)
{
    motion *m = calloc(1, sizeof *m);
    char full[1024];
    hm_model_options options = hm_model_options_default();
    options.overrides = overrides;
    options.override_count = count;
    snprintf(full, sizeof full, "%s/%s", HAMEL_SOURCE_DIR, path);
    m->context = hm_context_create(NULL);
    return finish(m, hm_model_load(m->context, full, &options, &m->model), path);
}

void motion_close(motion *m)
{
    hm_sim_destroy(m->sim);
    hm_system_destroy(m->system);
    hm_model_destroy(m->model);
    hm_context_destroy(m->context);
    free(m);
}

hm_status motion_run(motion *m)
{
    return m->status = hm_sim_run(m->sim, &m->options, &m->result);
}

void motion_must(motion *m)
{
    if (motion_run(m) == HM_OK && m->result.status != HM_RUN_INTERRUPTED)
        return;
    show_diagnostics(hm_sim_context(m->sim));
    fail_msg("%s: %s: %s", hm_model_name(m->model), hm_status_text(m->status), m->result.message);
}

void motion_advance(motion *m, double t)
{
    if (hm_sim_advance(m->sim, t) != HM_OK)
        fail_msg("%s cannot be advanced to t = %g", hm_model_name(m->model), t);
}

double motion_value(const motion *m, const char *name)
{
    size_t length = strlen(name);
    bool velocity = length > 1 && name[length - 1] == '\'';
    double *q = malloc(2 * m->n * sizeof *q), *v = q + m->n, value = NAN;
    assert_non_null(q);
    hm_sim_state(m->sim, q, v, NULL);
    bool found = false;
    for (size_t i = 0; i < m->n; i++) {
        const char *coordinate = hm_model_coordinate_name(m->model, i);
        if (strlen(coordinate) == length - velocity &&
            strncmp(coordinate, name, length - velocity) == 0) {
            value = velocity ? v[i] : q[i];
            found = true;
        }
    }
    free(q);
    if (!found)
        fail_msg("no coordinate %s", name);
    return value;
}

double motion_violation(const motion *m)
{
    double worst = 0;
    for (size_t k = 0; k < m->result.constraints; k++)
        worst = fmax(worst, m->result.violation[k]);
    return worst;
}

bool motion_says(const motion *m, const char *fragment)
{
    if (m->result.message && strstr(m->result.message, fragment))
        return true;
    for (size_t i = 0; i < m->result.warning_count; i++)
        if (strstr(m->result.warnings[i], fragment))
            return true;
    for (size_t i = 0; i < hm_context_diagnostic_count(hm_sim_context(m->sim)); i++)
        if (strstr(hm_context_diagnostic(hm_sim_context(m->sim), i)->message, fragment))
            return true;
    return false;
}
