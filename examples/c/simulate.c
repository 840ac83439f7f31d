/* Hamel from a C program: motion step by step, with a controller in the loop.
 *
 *     cc simulate.c $(pkg-config --cflags --libs hamel) -lm && ./a.out
 *
 * The pendulum of a cart hangs at rest. A program that is not part of the model pushes the cart, as
 * a microcontroller would: every hundredth of a second it reads the state and sets a force. The
 * rod, a constraint, holds throughout; what the motor spends is in the ledger.
 */
#include <hamel/hamel.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char model_text[] = "model cart \"Pendulum on a cart\"\n"
                                 "param M = 2, m = 1, l = 0.5, g = 9.81\n"
                                 "coord s, x, y                              # cart, and bob\n"
                                 "input F = 0                                # the motor\n"
                                 "body cart { mass M  at [s, 0] }\n"
                                 "body bob { mass m  at [x, y] }\n"
                                 "gravity [0, -g]\n"
                                 "force s = F\n"
                                 "constraint rod: (x - s)^2 + y^2 = l^2\n"
                                 "initial y = -l\n"
                                 "event swing: x - s = 0 record\n"
                                 "output angle = atan2(x - s, -y)\n";

static int complain(const hm_context *context, hm_status status)
{
    char text[1000];
    for (size_t i = 0; i < hm_context_diagnostic_count(context); i++) {
        hm_diagnostic_format(hm_context_diagnostic(context, i), false, text, sizeof text);
        fprintf(stderr, "%s\n", text);
    }
    fprintf(stderr, "simulate: %s\n", hm_status_text(status));
    return 1;
}

/* Drives the cart to s = 1 and damps the swing: numbers of the program, not of the model. */
static double controller(const double *q, const double *v)
{
    return 6 * (1 - q[0]) - 7 * v[0] + 4 * (q[1] - q[0]) + 1 * (v[1] - v[0]);
}

static hm_status drive(hm_sim *sim, double end)
{
    double q[3], v[3];
    hm_status status = HM_OK;
    for (int k = 0; k < (int)(end / 0.01) && status == HM_OK; k++) {
        hm_sim_state(sim, q, v, NULL);
        status = hm_sim_set_input(sim, 0, controller(q, v), 0, 0);
        if (status == HM_OK)
            status = hm_sim_advance(sim, 0.01 * (k + 1));
    }
    return status;
}

/* Forces, energies and the violation of constraints at the present state. */
static hm_status show(hm_sim *sim)
{
    hm_frame frame;
    hm_status status = hm_sim_frame(sim, HM_FRAME_CONTENT_ALL, &frame);
    if (status != HM_OK)
        return status;
    printf("t = %.2f  s = %.6f  angle = %9.6f  s'' = %9.6f\n", frame.t, frame.q[0],
           frame.outputs[0], frame.qdd[0]);
    printf("          rod %.6f N, energy %.6f J, motor %.6f J, phi = %.1e\n",
           hypot(frame.Qc[1], frame.Qc[2]), frame.total, frame.work.impressed,
           frame.position_violation[0]);
    return HM_OK;
}

/* One step at a time; between its ends the dense output gives the state at any time. */
static hm_status look_closely(hm_sim *sim)
{
    double before = hm_sim_time(sim), q[3];
    hm_status status = hm_sim_step(sim);
    if (status != HM_OK)
        return status;
    double after = hm_sim_time(sim);
    printf("a step from %.4f to %.4f\n", before, after);
    for (int k = 0; k <= 4 && status == HM_OK; k++) {
        double t = before + 0.25 * k * (after - before);
        status = hm_sim_interpolate(sim, t, q, NULL, NULL);
        printf("  t = %.4f  s = %.9f  |rod| = %.12f\n", t, q[0], hypot(q[1] - q[0], q[2]));
    }
    return status;
}

static hm_status simulate(const hm_model *model, hm_sim *sim, hm_run_result *result)
{
    const double q[3] = {0, 0.3, -0.4}, v[3] = {0};
    hm_run_options options = hm_run_options_default(model);
    options.rtol = 1e-10;
    hm_status status = hm_sim_set_param(sim, "m", 0.8);
    hm_sim_set_state(sim, 0, q, v, NULL);
    if (status == HM_OK)
        status = hm_sim_start(sim, &options);
    if (status == HM_OK)
        status = drive(sim, 8);
    if (status == HM_OK)
        status = show(sim);
    if (status == HM_OK)
        status = look_closely(sim);
    return status == HM_OK ? hm_sim_result(sim, result) : status;
}

static int report(const hm_run_result *r)
{
    printf("%ld steps by %s, %zu swings, first at t = %.6f\n", r->steps, r->method, r->event_count,
           r->event_count ? r->events[0].t : 0.0);
    printf("violation %.1e, energy balance %.1e\n", r->violation[0], r->balance_error);
    bool there = fabs(r->q[0] - 1) < 0.05 && r->violation[0] < 1e-12 && r->balance_error < 1e-8;
    return there ? 0 : 1;
}

int main(void)
{
    hm_context *context = hm_context_create(NULL);
    hm_model *model = NULL;
    hm_system *system = NULL;
    hm_sim *sim = NULL;
    hm_run_result result;
    hm_status status = hm_model_parse(context, model_text, strlen(model_text), NULL, &model);
    if (status == HM_OK)
        status = hm_system_create(model, &system);
    if (status == HM_OK)
        status = hm_sim_create(system, &sim);
    if (status == HM_OK)
        status = simulate(model, sim, &result);
    int code = status == HM_OK ? report(&result)
                               : complain(sim ? hm_sim_context(sim) : context, status);
    hm_sim_destroy(sim);
    hm_system_destroy(system);
    hm_model_destroy(model);
    hm_context_destroy(context);
    return code;
}
