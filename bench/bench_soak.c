/* The long runs of issue C: a million steps of a holonomic and of a nonholonomic system, the
 * violation of whose constraints must stay below 1e-12; RATTLE on a pendulum for a million periods,
 * whose energy error must not exceed twice that of the first hundred.
 *
 *   bench_soak [steps]     (default 1000000; a few minutes)
 */
#include <hamel/hamel.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct subject {
    hm_context *context;
    hm_model *model;
    hm_system *system;
    hm_sim *sim;
} subject;

static void require(hm_status status, const char *what)
{
    if (status == HM_OK)
        return;
    fprintf(stderr, "%s: %s\n", what, hm_status_text(status));
    exit(1);
}

static subject open_subject(const char *text)
{
    subject s = {.context = hm_context_create(NULL)};
    require(hm_model_parse(s.context, text, strlen(text), NULL, &s.model), "model");
    require(hm_system_create(s.model, &s.system), "system");
    require(hm_sim_create(s.system, &s.sim), "sim");
    return s;
}

static void close_subject(subject *s)
{
    hm_sim_destroy(s->sim);
    hm_system_destroy(s->system);
    hm_model_destroy(s->model);
    hm_context_destroy(s->context);
}

static bool soak_projection(const char *name, const char *text, long steps)
{
    subject s = open_subject(text);
    hm_run_result result;
    hm_run_options options = hm_run_options_default(s.model);
    double worst = 0;
    require(hm_sim_start(s.sim, &options), "start");
    for (long k = 0; k < steps; k++)
        require(hm_sim_step(s.sim), "step");
    require(hm_sim_result(s.sim, &result), "result");
    for (size_t k = 0; k < result.constraints; k++)
        worst = fmax(worst, result.violation[k]);
    printf("%-28s %ld steps to t = %.6g: violation %.2e, energy balance %.2e\n", name, result.steps,
           result.t_end, worst, result.balance_error);
    close_subject(&s);
    return worst <= 1e-12;
}

/* The largest energy error over so many periods of 2 s, with 100 steps each. */
static double energy_error(subject *s, double periods)
{
    hm_run_result result;
    hm_run_options options = hm_run_options_default(s->model);
    options.method = "rattle";
    options.step = 0.02;
    require(hm_sim_start(s->sim, &options), "start");
    require(hm_sim_advance(s->sim, 2 * periods), "advance");
    require(hm_sim_result(s->sim, &result), "result");
    return result.balance_error;
}

static bool soak_rattle(double periods)
{
    const char *text = "coord x, y; kinetic (x'^2 + y'^2)/2; potential 13.750371636040746*y\n"
                       "constraint rod: x^2 + y^2 = 1; initial x = 1, y = 0";
    subject s = open_subject(text);
    double first = energy_error(&s, 100);
    close_subject(&s);
    s = open_subject(text);
    double all = energy_error(&s, periods);
    close_subject(&s);
    printf("rattle: energy error %.3e in 100 periods, %.3e in %.0f\n", first, all, periods);
    return all <= 2 * first;
}

int main(int argc, char **argv)
{
    long steps = argc > 1 ? atol(argv[1]) : 1000000;
    bool good = soak_projection("pendulum (holonomic)",
                                "coord x, y; kinetic (x'^2 + y'^2)/2; potential 9.81*y\n"
                                "constraint rod: x^2 + y^2 = 1; initial x = 1, y = 0",
                                steps);
    good &= soak_projection("particle (nonholonomic)",
                            "coord x, y, z; kinetic (x'^2 + y'^2 + z'^2)/2\n"
                            "potential (x^2 + y^2)/2; constraint c: z' = y*x'\n"
                            "initial x = 1, y' = 1, x' = 0, z' = 0",
                            steps);
    good &= soak_rattle((double)steps);
    puts(good ? "good" : "NOT GOOD");
    return good ? 0 : 1;
}
