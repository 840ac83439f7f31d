/* Exact derivatives of the motion against differences of the solve itself, on every oracle case and
 * example: redundant rows, singular M, non-ideal forces, laws of reactions, inputs, servos. */
#include "support/heap.h"
#include "support/probe.h"

#include "dynamics/sim/motion_derivatives.h"

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double largest_error; /* over all models, for the record */

/* ---- differences: Ridders' extrapolation, which also says how good it is ---- */

static double *variable(hm_sim *sim, bool params, size_t d)
{
    size_t n = sim->system->derived.n, states = sim->system->model->states.count;
    if (params)
        return &sim->given.params[d];
    if (d < 2 * n)
        return d < n ? &sim->state.q[d] : &sim->state.v[d - n];
    return d < 2 * n + states ? &sim->state.z[d - 2 * n] : &sim->state.at.t;
}

/* (q'', z') with *x = value. False where there is no motion. */
static bool motion_at(hm_sim *sim, double *x, double value, double *f)
{
    size_t n = sim->system->derived.n, states = sim->system->model->states.count;
    double kept = *x;
    *x = value;
    sim->tapes.prepared = false;
    hm_status status = hmi_sim_accelerate(sim, hmi_sim_present(sim), NULL);
    memcpy(f, sim->last.qdd, n * sizeof *f);
    if (states)
        memcpy(f + n, hmi_sim_state_rates(sim), states * sizeof *f);
    *x = kept;
    sim->tapes.prepared = false;
    return status == HM_OK || status == HM_ERR_INCONSISTENT;
}

enum { TABLE = 7, MOST_ROWS = 64 };

/* The derivative of all rows by *x, with the uncertainty of each. */
static bool ridders(hm_sim *sim, double *x, size_t rows, double *slope, double *doubt)
{
    static double a[TABLE][TABLE][MOST_ROWS], up[MOST_ROWS], down[MOST_ROWS];
    double h = 0.05 * fmax(fabs(*x), 0.2);
    for (size_t i = 0; i < rows; i++)
        doubt[i] = INFINITY;
    for (int k = 0; k < TABLE; k++, h /= 1.6) {
        if (!motion_at(sim, x, *x + h, up) || !motion_at(sim, x, *x - h, down))
            return false;
        for (size_t i = 0; i < rows; i++) {
            double factor = 1.6 * 1.6;
            a[k][0][i] = (up[i] - down[i]) / (2 * h);
            for (int j = 1; j <= k; j++, factor *= 1.6 * 1.6) {
                a[k][j][i] = (a[k][j - 1][i] * factor - a[k - 1][j - 1][i]) / (factor - 1);
                double error = fmax(fabs(a[k][j][i] - a[k][j - 1][i]),
                                    fabs(a[k][j][i] - a[k - 1][j - 1][i]));
                if (error < doubt[i]) {
                    doubt[i] = error;
                    slope[i] = a[k][j][i];
                }
            }
        }
    }
    return true;
}

/* Compares all columns; how many could be. */
static size_t compare(const char *name, probe *p, bool params, double tolerance)
{
    hm_sim *sim = p->sim;
    size_t rows = p->n + p->model->states.count;
    size_t columns = params ? p->model->params.count : 2 * p->n + p->model->states.count + 1;
    double *J = calloc(rows * columns + 1, sizeof *J), slope[MOST_ROWS], doubt[MOST_ROWS];
    double value[MOST_ROWS];
    assert_true(rows <= MOST_ROWS);
    assert_non_null(J);
    hm_status status = params ? hm_sim_param_derivatives(sim, J)
                              : hmi_sim_jacobian(sim, hmi_sim_present(sim), NULL, J);
    if (status != HM_OK)
        fail_msg("%s: %s", name, hm_status_text(status));
    size_t compared = 0;
    for (size_t d = 0; d < columns; d++) {
        double *x = variable(sim, params, d), size = 1;
        if (!motion_at(sim, x, *x, value) || !ridders(sim, x, rows, slope, doubt))
            continue;
        for (size_t i = 0; i < rows; i++)
            size = fmax(fmax(size, fabs(slope[i])), fabs(value[i]) / fmax(fabs(*x), 0.2));
        for (size_t i = 0; i < rows; i++) {
            double error = fabs(J[i * columns + d] - slope[i]) / size;
            if (doubt[i] > 0.1 * tolerance * size)
                continue; /* the difference is not that good here */
            compared++;
            largest_error = fmax(largest_error, error);
            if (!(error <= tolerance))
                fail_msg("%s: row %zu, column %zu: %.15g, expected %.15g +- %.1g", name, i, d,
                         J[i * columns + d], slope[i], doubt[i]);
        }
    }
    free(J);
    return compared;
}

/* ---- every model there is ---- */

static void move_state(probe *p, double by)
{
    random_source random = {7};
    for (size_t i = 0; i < p->n; i++) {
        p->sim->state.q[i] += by * random_between(&random, -1, 1);
        p->sim->state.v[i] += by * random_between(&random, -1, 1);
    }
    p->sim->state.at.t += 3 * by; /* tables of time that are held begin with a kink */
}

static void compare_file(const char *path)
{
    probe *p = probe_file(path, NULL, 0);
    hmi_solution solution;
    bool large = p->n + p->model->states.count > MOST_ROWS;
    hm_status status = large ? HM_ERR_LIMIT
                             : hmi_sim_accelerate(p->sim, hmi_sim_present(p->sim), &solution);
    if (status == HM_OK) {
        /* off the special points of initial states, where the motion is determined there */
        move_state(p, 1e-2);
        if (hmi_sim_accelerate(p->sim, hmi_sim_present(p->sim), &solution) != HM_OK)
            move_state(p, -1e-2);
        size_t compared = compare(path, p, false, 1e-8) + compare(path, p, true, 1e-8);
        if (getenv("VERBOSE"))
            printf("%s: %zu entries, largest error so far %.1e\n", strrchr(path, '/'), compared,
                   largest_error);
    } else if (getenv("VERBOSE")) {
        printf("%s: %s\n", strrchr(path, '/'), hm_status_text(status));
    }
    probe_close(p);
}

static void compare_all(const char *pattern)
{
    glob_t found;
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        compare_file(found.gl_pathv[i]);
    globfree(&found);
}

static void oracle_cases(void **state)
{
    (void)state;
    compare_all(HAMEL_SOURCE_DIR "/test/cases/oracle/*.hamel");
}

static void examples(void **state)
{
    (void)state;
    compare_all(HAMEL_SOURCE_DIR "/examples/*.hamel");
}

/* ---- what the files do not have ---- */

static void compare_text(const char *text, double tolerance)
{
    probe *p = probe_text(text);
    size_t compared = compare(text, p, false, tolerance) + compare(text, p, true, tolerance);
    assert_true(compared >= (2 * p->n + 1) * p->n / 2);
    probe_close(p);
}

static void laws(void **state)
{
    (void)state;
    /* multiplier of the ideal force */
    compare_text("param m = 2, mu = 0.3, k = 0.7\ncoord x, y\nkinetic m/2*(x'^2 + y'^2 + x*x'*y')\n"
                 "potential 9.81*m*y\nconstraint wire: y = k*x^2\n"
                 "nonideal x = -mu*abs(multiplier(wire))*x', y = -mu*multiplier(wire)*y'*x\n"
                 "initial x = 0.4, y = 0.112, x' = 1, y' = 0.56",
                 1e-9);
    /* total reaction: solved for implicitly */
    compare_text("param m = 2, mu = 0.3, k = 0.7\ncoord x, y\nkinetic m/2*(x'^2 + y'^2)\n"
                 "potential 9.81*m*y\nconstraint wire: y = k*x^2\n"
                 "nonideal x = -mu*hypot(total_reaction(x), total_reaction(y))*x'\n"
                 "force y = 0.1*total_multiplier(wire)*x\n"
                 "initial x = 0.4, y = 0.112, x' = 1, y' = 0.56",
                 1e-9);
    /* redundant rows under a law of reactions */
    compare_text("param m = 2, mu = 0.3, k = 0.7\ncoord x, y\nkinetic m/2*(x'^2 + y'^2)\n"
                 "potential 9.81*m*y\nconstraint wire: y = k*x^2\nconstraint again: 3*y = 3*k*x^2\n"
                 "nonideal x = -mu*hypot(reaction(x), reaction(y))*x'\n"
                 "initial x = 0.4, y = 0.112, x' = 1, y' = 0.56",
                 1e-9);
    /* both: by differences */
    compare_text("param m = 2, mu = 0.3, k = 0.7\ncoord x, y\nkinetic m/2*(x'^2 + y'^2)\n"
                 "potential 9.81*m*y\nconstraint wire: y = k*x^2\n"
                 "nonideal x = -mu*reaction(y)*x' + 0.1*total_reaction(y)\n"
                 "initial x = 0.4, y = 0.112, x' = 1, y' = 0.56",
                 1e-8);
}

static void inputs_and_states(void **state)
{
    (void)state;
    compare_text("param a = 0.3, k = 2\ncoord x, y\ninput u = a*sin(2*t)\n"
                 "input w = a*x^2*t + x'\n"
                 "state z' = -k*z + u*x' + t\nkinetic (x'^2 + 2*y'^2)/2\n"
                 "force x = u*y - z^2 + w^2, y = z*x'\nconstraint moving: y = x*u + x^3\n"
                 "initial x = 0.4, x' = 1, z = 0.3, y ~ 0, y' ~ 0",
                 1e-8);
}

/* Gains of Baumgarte add to b what the residuals give. */
static void baumgarte(void **state)
{
    (void)state;
    const double gains[2] = {3, 5};
    probe *p = probe_text("coord x, y\nkinetic (x'^2 + y'^2)/2\nconstraint wire: y = x^2\n"
                          "initial x = 0.4, y = 0.2, x' = 1, y' = 0.5");
    double J[10], with[10];
    assert_int_equal(hmi_sim_jacobian(p->sim, hmi_sim_present(p->sim), NULL, J), HM_OK);
    assert_int_equal(hmi_sim_jacobian(p->sim, hmi_sim_present(p->sim), gains, with), HM_OK);
    /* A = (-2x, 1), |A|^2 = 1.64: d(x'')/dy changes by (-2a phi'_y - b^2 phi_y) A_x/|A|^2 */
    check_number("by y", with[1] - J[1], -25 * -0.8 / 1.64, 1e-13);
    check_number("by y'", with[3] - J[3], -6 * -0.8 / 1.64, 1e-13);
    check_number("by x'", with[2] - J[2], -6 * -0.8 * -0.8 / 1.64, 1e-13);
    probe_close(p);
    p = probe_text("coord x, y\nkinetic (x'^2 + y'^2)/2\nconstraint rail: y' = 2*x'\n"
                   "initial x' = 1, y' = 2.5");
    assert_int_equal(hmi_sim_jacobian(p->sim, hmi_sim_present(p->sim), NULL, J), HM_OK);
    assert_int_equal(hmi_sim_jacobian(p->sim, hmi_sim_present(p->sim), gains, with), HM_OK);
    check_number("velocity level", with[3] - J[3], -3 * -2 / 5.0, 1e-13);
    probe_close(p);
}

/* ---- memory ---- */

/* Every allocation fails once: a status, no leak, and the next call succeeds. */
static void memory_runs_out(void **state)
{
    (void)state;
    const char text[] = "param k = 2\ncoord x, y\nkinetic (x'^2 + y'^2)/2\npotential k*x^4\n"
                        "constraint wire: y = k*x^2\nnonideal x = -abs(reaction(y))*x'\n"
                        "initial x = 0.4, y = 0.32, x' = 1, y' = 1.6";
    long k = 0;
    for (hm_status status = HM_ERR_NOMEM; status != HM_OK; k++) {
        failing_heap heap = {.fail_at = k};
        const hm_allocator allocator = heap_allocator(&heap);
        hm_context *context = hm_context_create(&allocator);
        hm_model *model;
        hm_system *system;
        hm_sim *sim;
        double J[10], again[10];
        assert_int_equal(hm_model_parse(context, text, strlen(text), NULL, &model), HM_OK);
        assert_int_equal(hm_system_create(model, &system), HM_OK);
        assert_int_equal(hm_sim_create(system, &sim), HM_OK);
        heap_arm(&heap);
        status = hmi_sim_jacobian(sim, hmi_sim_present(sim), NULL, J);
        assert_true(status == HM_OK || status == HM_ERR_NOMEM);
        heap_disarm(&heap);
        assert_int_equal(hmi_sim_jacobian(sim, hmi_sim_present(sim), NULL, again), HM_OK);
        hm_sim_destroy(sim);
        hm_system_destroy(system);
        hm_model_destroy(model);
        hm_context_destroy(context);
        assert_int_equal(heap.live_bytes, 0);
    }
    assert_true(k > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(oracle_cases), cmocka_unit_test(examples),
        cmocka_unit_test(laws),         cmocka_unit_test(inputs_and_states),
        cmocka_unit_test(baumgarte),    cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
