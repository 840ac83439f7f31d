/* What the outputs of the system's tapes are called: M[x,theta], Q[x], ... */
#include "output/explain/explain.h"

static void coordinate(const hm_system *system, size_t i, hmi_text *text)
{
    hmi_text_add(text, hm_model_coordinate_name(system->model, i));
}

static void entry(const hm_system *system, const char *name, const hmi_expr_matrix *A, bool mass,
                  size_t k, hmi_text *text)
{
    size_t row = 0;
    while (A->start[row + 1] <= k)
        row++;
    hmi_text_addf(text, "%s[", name);
    if (mass)
        coordinate(system, row, text);
    else
        hmi_text_addf(text, "%zu", row + 1);
    hmi_text_add(text, ",");
    coordinate(system, A->column.data[k], text);
    hmi_text_add(text, "]");
}

static void of_coordinate(const hm_system *system, const char *name, size_t i, hmi_text *text)
{
    hmi_text_addf(text, "%s[", name);
    coordinate(system, i, text);
    hmi_text_add(text, "]");
}

void hmi_name_dynamics_output(const void *user, size_t k, hmi_text *text)
{
    const hm_system *system = user;
    const hmi_dynamics_layout *at = &system->at;
    const hmi_derived *d = &system->derived;
    if (k < at->Q)
        entry(system, "M", &d->M, true, k - at->M, text);
    else if (k < at->A)
        of_coordinate(system, "Q", k - at->Q, text);
    else if (k < at->b)
        entry(system, "A", &d->constraints.A, false, k - at->A, text);
    else if (k < at->C)
        hmi_text_addf(text, "b[%zu]", k - at->b + 1);
    else if (k < at->servo_A)
        of_coordinate(system, "C", k - at->C, text);
    else if (k < at->servo_b)
        entry(system, "servo A", &d->servos.A, false, k - at->servo_A, text);
    else if (k < at->servo_b_free)
        hmi_text_addf(text, "servo b[%zu]", k - at->servo_b + 1);
    else if (k >= at->servo_limit && k < at->state_rates)
        hmi_text_addf(text, "servo limit[%zu]", k - at->servo_limit + 1);
    else if (k < at->servo_limit)
        hmi_text_addf(text, "servo b without gain[%zu]", k - at->servo_b_free + 1);
    else
        hmi_text_addf(text, "%s'", hm_model_state_name(system->model, k - at->state_rates));
}

void hmi_name_law_output(const void *user, size_t k, hmi_text *text)
{
    const hm_system *system = user;
    size_t n = system->derived.n;
    static const char *const names[] = {"Q", "C", "Q without reactions"};
    of_coordinate(system, names[k / n], k % n, text);
}

void hmi_name_report_output(const void *user, size_t k, hmi_text *text)
{
    const hm_system *system = user;
    const hmi_report_layout *at = &system->report_at;
    static const char *const scalars[] = {
        "kinetic energy",       "potential energy",    "total energy",     "power of given forces",
        "power of dissipation", "power of gyroscopes", "power of rheonomy"};
    if (k < at->velocity_residual)
        hmi_text_addf(text, "position residual[%zu]", k - at->position_residual + 1);
    else if (k < at->momentum)
        hmi_text_addf(text, "velocity residual[%zu]", k - at->velocity_residual + 1);
    else if (k < at->kinetic)
        of_coordinate(system, "p", k - at->momentum, text);
    else if (k < at->outputs)
        hmi_text_add(text, scalars[k - at->kinetic]);
    else if (k < at->drawings)
        hmi_text_add(text, hm_model_output_name(system->model, k - at->outputs));
    else
        hmi_text_addf(text, "drawing[%zu]", k - at->drawings + 1);
}

void hmi_name_input_output(const void *user, size_t k, hmi_text *text)
{
    const hm_system *system = user;
    size_t count = system->model->inputs.count;
    static const char *const primes[] = {"", "'", "''"};
    hmi_text_addf(text, "%s%s", hm_model_input_name(system->model, k % count), primes[k / count]);
}
