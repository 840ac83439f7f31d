/* The compiled solve (compile/solve/motion.h) against the rank-revealing one, what it hoists, how it grows,
 * and where it hands over. */
#include "dynamics/sim/motion.h"
#include "integrate/run/run.h"
#include "support/check.h"
#include "support/probe.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 128 };

static hmi_sim_motion *make(probe *p, bool powers)
{
    hmi_sim_motion *motion = NULL;
    const hmi_derived *d = &p->system->derived;
    const hmi_motion_source source = {.ideal_power = powers,
                                      .nonideal_power = powers && d->has_nonideal};
    assert_int_equal(hmi_sim_motion_create(p->sim, hmi_sim_present(p->sim), &source, &motion),
                     HM_OK);
    return motion;
}

static bool run(probe *p, hmi_sim_motion *motion)
{
    hmi_sim_refresh(p->sim, hmi_sim_present(p->sim));
    return hmi_sim_motion_run(p->sim, motion, hmi_sim_present(p->sim));
}

static double dot(size_t n, const double *x, const double *y)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* At the present state. True where the tape gave an answer. */
static bool compare(probe *p, hmi_sim_motion *motion, double tolerance)
{
    hmi_solution s;
    const hmi_motion_tape *program = &motion->program;
    size_t n = p->system->derived.n, m = p->system->derived.constraints.count;
    if (!run(p, motion))
        return false;
    const double *out = motion->out;
    assert_int_equal(hmi_sim_accelerate(p->sim, hmi_sim_present(p->sim), &s), HM_OK);
    double size = 1 + max_norm(n, s.qdd), lambda_size = 1 + max_norm(m, s.total_lambda);
    for (size_t i = 0; i < n; i++)
        assert_true(fabs(out[i] - s.qdd[i]) <= tolerance * size);
    for (size_t i = 0; i < m; i++)
        assert_true(fabs(out[program->at.lambda + i] - s.total_lambda[i]) <=
                    tolerance * lambda_size);
    check_close("z'", p->system->model->states.count, out + program->at.rates,
                hmi_sim_state_rates(p->sim), 1e-15);
    if (program->at.power_count > 0)
        check_number("ideal power", out[program->at.powers], dot(n, s.Qi, p->sim->state.v),
                     tolerance * size * lambda_size);
    if (program->at.power_count > 1)
        check_number("nonideal power", out[program->at.powers + 1], dot(n, s.Qni, p->sim->state.v),
                     tolerance * size * lambda_size);
    return true;
}

/* Initial state and random states around it; returns how often the tape answered. */
static int compare_states(probe *p, hmi_sim_motion *motion, uint64_t seed, double tolerance)
{
    random_source random = {seed};
    size_t n = p->system->derived.n;
    double q[MOST], v[MOST], dq[MOST], dv[MOST];
    int answered = 0;
    hm_sim_state(p->sim, q, v, NULL);
    for (int k = 0; k < 20; k++) {
        for (size_t i = 0; i < n; i++) {
            dq[i] = q[i] + (k ? random_between(&random, -0.3, 0.3) : 0);
            dv[i] = v[i] + (k ? random_between(&random, -1, 1) : 0);
        }
        hm_sim_set_state(p->sim, 0.1 * k, dq, dv, NULL);
        answered += compare(p, motion, tolerance);
    }
    hm_sim_set_state(p->sim, 0, q, v, NULL);
    return answered;
}

static int models, answers;

static void compare_file(const char *folder, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s/%s", HAMEL_SOURCE_DIR, folder, name);
    probe *p = probe_file(path, NULL, 0);
    hmi_sim_motion *motion = make(p, true);
    if (motion) {
        models++;
        answers += compare_states(p, motion, 7, 1e-9);
    }
    hmi_sim_motion_destroy(motion);
    probe_close(p);
}

static void compare_folder(const char *folder)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", HAMEL_SOURCE_DIR, folder);
    DIR *directory = opendir(path);
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory));)
        if (strstr(entry->d_name, ".hamel") && !strstr(entry->d_name, "vortices"))
            compare_file(folder, entry->d_name);
    closedir(directory);
}

/* Every published case and every example that is not a matter of servos or laws of reactions. */
static void models_agree(void **state)
{
    (void)state;
    compare_folder("test/cases/oracle");
    compare_folder("examples");
    print_message("%d models, %d states answered by the tape\n", models, answers);
    assert_true(models >= 45);
    assert_true(answers >= 45 * 15);
}

/* ---- random systems with structure ---- */

/* n coordinates, M banded or dense and of mixed size, rows that couple neighbours or anything. */
static void write_system(char *text, size_t size, random_source *r, int n, int m, int band)
{
    size_t at = (size_t)snprintf(text, size, "coord x[1..%d]\n", n);
    for (int i = 1; i <= n; i++) {
        double scale = pow(10, floor(random_between(r, -3, 3)));
        at += (size_t)snprintf(text + at, size - at,
                               "kinetic %.3g*(2 + sin(x[%d]))*x[%d]'^2\npotential cos(x[%d]*x[%d])"
                               "\ninitial x[%d] = %.3f, x[%d]' = %.3f\n",
                               scale, i, i, i, 1 + i % n, i, random_between(r, -1, 1), i,
                               random_between(r, -1, 1));
        for (int k = i - 1; k >= 1 && k >= i - band; k--)
            at += (size_t)snprintf(text + at, size - at,
                                   "kinetic %.3g*(x[%d]' + cos(x[%d])*x[%d]')^2\n",
                                   scale * random_between(r, 0, 0.1), i, k, k);
    }
    for (int k = 1; k <= m; k++) {
        at += (size_t)snprintf(text + at, size - at, "constraint c%d: ", k);
        for (int j = k; j <= n && j <= k + 1 + (k % 3) * 2; j++)
            at += (size_t)snprintf(text + at, size - at, "%+.2f*(1 + 0.3*sin(x[%d]))*x[%d]' ",
                                   random_between(r, 0.2, 1), 1 + (j + k) % n, j);
        at += (size_t)snprintf(text + at, size - at, "= 0.1*sin(t)\n");
    }
    assert_true(at < size);
}

static void random_systems_agree(void **state)
{
    (void)state;
    static char text[65536];
    int answered = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        random_source r = {seed};
        int n = 2 + (int)(seed % 11), m = (int)(seed % 5) % n, band = (int)(seed % 4);
        write_system(text, sizeof text, &r, n, m, band);
        probe *p = probe_text(text);
        hmi_sim_motion *motion = make(p, true);
        assert_non_null(motion);
        answered += compare_states(p, motion, seed, 1e-10);
        hmi_sim_motion_destroy(motion);
        probe_close(p);
    }
    assert_true(answered > 60 * 20 * 0.9);
}

/* ---- structure ---- */

static size_t body_of(const char *text, int N)
{
    char value[16];
    snprintf(value, sizeof value, "%d", N);
    const hm_override override = {"N", value};
    probe *p = probe_text_with(text, &override, 1);
    hmi_sim_motion *motion = make(p, false);
    assert_non_null(motion);
    assert_true(run(p, motion));
    size_t count = motion->program.tape.body.count;
    hmi_sim_motion_destroy(motion);
    probe_close(p);
    return count;
}

/* Chains and trees in redundant coordinates cost O(n): equal increments. */
static void grows_linearly(void **state)
{
    (void)state;
    static const char chain[] =
        "param N = 10, m = 2, l = 1, g = 9.81\ncoord x[1..N], y[1..N]\n"
        "for i = 1..N { kinetic (m + i/10)/2*(x[i]'^2 + y[i]'^2); potential m*g*y[i]\n"
        "  initial x[i] = i*0.8, y[i] = i*0.6 }\n"
        "constraint a[1]: x[1]^2 + y[1]^2 = l^2\n"
        "for i = 2..N { constraint a[i]: (x[i] - x[i-1])^2 + (y[i] - y[i-1])^2 = l^2 }\n";
    static const char tree[] =
        "param N = 10\ncoord x[0..2*N]\n"
        "for i = 0..2*N { kinetic (2 + sin(x[i]))*x[i]'^2 }\n"
        "for i = 1..N { kinetic (x[i]' - x[i-1]')^2; kinetic cos(x[i])^2*(x[i]' - x[i+N]')^2 }\n";
    const char *texts[] = {chain, tree};
    for (int k = 0; k < 2; k++) {
        size_t a = body_of(texts[k], 10), b = body_of(texts[k], 20), c = body_of(texts[k], 30);
        assert_true(a > 50);
        assert_true(c - b <= b - a + 2);
    }
}

/* What depends on parameters alone is not computed again. */
static void constants_are_hoisted(void **state)
{
    (void)state;
    /* M constant and dense, rows constant: q'' = const + what the forces bring */
    probe *p = probe_text("param a = 2, b = 1; coord x, y, z\n"
                          "kinetic a*x'^2 + b*y'^2 + z'^2 + b*x'*y' + y'*z'/3\n"
                          "force x = 1; constraint c: a*x' + b*y' - z' = 0");
    hmi_sim_motion *motion = make(p, false);
    assert_non_null(motion);
    assert_int_equal(motion->program.tape.body.count, 1); /* nothing but the end */
    assert_true(compare(p, motion, 1e-14));
    probe_set(p, "b", 1.5); /* and a parameter that changes is seen */
    assert_true(compare(p, motion, 1e-14));
    hmi_sim_motion_destroy(motion);
    probe_close(p);
    /* block diagonal: the block of z costs one reciprocal, the constant one nothing */
    p = probe_text("coord x, y, z; kinetic x'^2 + y'^2 + x'*y' + (2 + sin(z))*z'^2\n"
                   "force x = z; initial z = 1");
    motion = make(p, false);
    size_t divisions = 0;
    for (size_t i = 0; i < motion->program.tape.body.count; i++)
        divisions += motion->program.tape.body.data[i].op == HMI_TAPE_FIRST_OF_TABLE + HMI_DIV;
    assert_int_equal(divisions, 1);
    assert_true(compare(p, motion, 1e-14));
    hmi_sim_motion_destroy(motion);
    probe_close(p);
}

/* On paper the skate on an incline has neither a division nor a square: nor here. */
static void skate_is_as_on_paper(void **state)
{
    (void)state;
    probe *p = probe_text("param m = 1, I = 0.1, g = 9.81, al = 0.5; coord x, y, th\n"
                          "kinetic m/2*(x'^2 + y'^2) + I/2*th'^2; potential -m*g*sin(al)*x\n"
                          "constraint blade: sin(th)*x' - cos(th)*y' = 0\n"
                          "initial x' = 1, th' = 1");
    hmi_sim_motion *motion = make(p, false);
    assert_true(compare(p, motion, 1e-14));
    assert_true(motion->program.tape.body.count <= 15); /* the test of finite outputs included */
    hmi_sim_motion_destroy(motion);
    probe_close(p);
}

/* ---- handing over ---- */

static void hands_over(void **state)
{
    (void)state;
    /* a row given twice */
    probe *p = probe_text("coord x, y; kinetic x'^2 + y'^2; initial x = 1\n"
                          "constraint a: x^2 + y^2 = 1\nconstraint b: 2*x*x' + 2*y*y' = 0");
    hmi_sim_motion *motion = make(p, false);
    assert_true(!motion || !run(p, motion));
    double qdd[2];
    assert_int_equal(hm_sim_accelerate(p->sim, qdd), HM_OK);
    assert_false(p->sim->last.by_motion);
    hmi_sim_motion_destroy(motion);
    probe_close(p);
    /* rows that come near each other: below 1e-5 it is not said */
    p = probe_text("coord x, y, z; kinetic x'^2 + y'^2 + z'^2; initial z = 1\n"
                   "constraint a: x' + y' = 0\nconstraint b: x' + (1 + z)*y' = 0");
    motion = make(p, false);
    assert_true(run(p, motion));
    p->sim->state.q[2] = 1e-3; /* z = 1e-3: (z^2/4)/2 of the diagonal */
    assert_false(run(p, motion));
    p->sim->state.q[2] = 2e-2;
    assert_true(compare(p, motion, 1e-10));
    p->sim->state.q[2] = NAN;
    assert_false(run(p, motion));
    p->sim->state.q[2] = 0; /* and the caller's way goes on from there */
    assert_int_equal(hm_sim_accelerate(p->sim, (double[3]){0}), HM_OK);
    hmi_sim_motion_destroy(motion);
    probe_close(p);
}

/* M singular but positive on the motions that are left. */
static void singular_masses(void **state)
{
    (void)state;
    probe *p = probe_text("param m = 2; coord x, y, s; kinetic m/2*(x'^2 + y'^2)\n"
                          "force x = 1; constraint a: s' = x' + y*y'; initial y = 0.5, y' = 1");
    hmi_sim_motion *motion = make(p, true);
    assert_non_null(motion);
    assert_true(compare(p, motion, 1e-12));
    hmi_sim_motion_destroy(motion);
    probe_close(p);
    /* a quaternion at 1, 0, 0, 0, where the inertia of e0 vanishes, and nearby */
    p = probe_text(
        "coord x, e0, e1, e2, e3; kinetic x'^2\n"
        "body b { mass 2 inertia diag([1, 2, 3]) at [0, 0, 0] frame quat(e0, e1, e2, e3) }\n"
        "force x = 1; initial e0 = 1, e1' = 1, e2' = 0.5");
    motion = make(p, false);
    assert_non_null(motion);
    assert_true(compare(p, motion, 1e-11));
    p->sim->state.q[2] = 1e-5;
    assert_true(compare(p, motion, 1e-11));
    hmi_sim_motion_destroy(motion);
    probe_close(p);
    /* a free axis without inertia: no form of M is positive */
    p = probe_text("coord x, s; kinetic x'^2; force x = s; constraint a: x' + 0*s' = 0");
    motion = make(p, false);
    assert_null(motion);
    probe_close(p);
}

/* Rows whose every term is zero but for rounding errors of forces that balance are no reason to hand
 * over; at no state of this model are they. */
static void rows_of_rounding_errors(void **state)
{
    (void)state;
    probe *p = probe_text("coord x, y, s, r, w; kinetic 0.7*x'^2 + 1.3*y'^2 + x'*y'/10\n"
                          "force x = cos(x + 0.1), y = -cos(x + 0.1)\n"
                          "constraint a: 3*s' = 0.1*x' + 0.1*y'\n"
                          "constraint b: x' + y' = 0.3*s'\nconstraint c: r' + 0.7*s' = 0.3*w'\n"
                          "constraint d: w' = cos(y)*r' + 1.1*s'");
    hmi_sim_motion *motion = make(p, false);
    assert_non_null(motion);
    for (int k = 0; k < 50; k++) {
        p->sim->state.q[0] = 0.03 * k;
        assert_true(compare(p, motion, 1e-12));
    }
    hmi_sim_motion_destroy(motion);
    probe_close(p);
}

/* Laws of reactions and servos go the other way. */
static void does_not_apply(void **state)
{
    (void)state;
    probe *p = probe_text("coord x, y; kinetic x'^2 + y'^2; constraint a: x^2 + y^2 = 1\n"
                          "nonideal x = -0.1*abs(multiplier(a))*x'; initial x = 1, y' = 1");
    assert_null(make(p, false));
    probe_close(p);
}

/* A second run uses what the first compiled: same answer, also under another parameter, another
 * formulation, and at a state for which the tape was not made. */
static void runs_share_tapes(void **state)
{
    (void)state;
    static const char text[] = "param g = 9.81, m = 2; coord x, y; kinetic m/2*(x'^2 + y'^2)\n"
                               "potential m*g*y; constraint rod: x^2 + y^2 = 1; initial x = 1";
    probe *p = probe_text(text);
    double q[2], again[2], start[2] = {1, 0}, rest[2] = {0, 0};
    hm_run_options options = hm_run_options_default(p->model);
    hm_run_result result;
    options.end = 2;
    const hmi_sim_motion *motion = NULL;
    for (int k = 0; k < 5; k++) {
        options.formulation = k == 2 ? HM_FORMULATION_KKT : HM_FORMULATION_AUTO;
        if (k == 3)
            probe_set(p, "g", 2 * 9.81);
        if (k == 4)
            probe_set(p, "g", 9.81);
        hm_sim_set_state(p->sim, 0, start, rest, NULL);
        assert_int_equal(hm_sim_run(p->sim, &options, &result), HM_OK);
        hm_sim_state(p->sim, k ? again : q, NULL, NULL);
        const hmi_sim_motion *used = hmi_run_of(p->sim)->motion;
        assert_true((used == NULL) == (k == 2));
        if (k == 1) {
            assert_ptr_equal(used, motion);
            assert_memory_equal(q, again, sizeof q);
        }
        motion = used;
        double error = k == 0 ? 0 : scaled_error(2, again, q);
        assert_true(k == 3 ? error > 0.1 : error < 1e-7);
    }
    probe_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_agree),
        cmocka_unit_test(random_systems_agree),
        cmocka_unit_test(grows_linearly),
        cmocka_unit_test(constants_are_hoisted),
        cmocka_unit_test(skate_is_as_on_paper),
        cmocka_unit_test(hands_over),
        cmocka_unit_test(singular_masses),
        cmocka_unit_test(does_not_apply),
        cmocka_unit_test(rows_of_rounding_errors),
        cmocka_unit_test(runs_share_tapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
