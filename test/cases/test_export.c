/* Exported C, compiled by the compiler of this machine, against the library: equations, accelerations,
 * forces, outputs, residuals, Jacobian and whole runs of every example that can be exported. What
 * solves is another algorithm (a null-space method in C99) than the library's. */
#include "support/check.h"
#include "support/probe.h"

#include "support/heap.h"

#include <dirent.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>

#include <cmocka.h>

/* The exported functions behind names and types that do not depend on the model. */
static const char wrapper[] =
    "#include \"m.c\"\n"
    "static m_params p; static m_work w;\n"
    "int test_sizes(int i) { const int s[] = {M_COORDINATES, M_CONSTRAINTS, M_STATES, M_OUTPUTS, "
    "M_EVENTS};\n"
    "  m_params_default(&p); m_params_update(&p); return s[i]; }\n"
    "void test_initial(double *t, double *q, double *v, double *z) { m_initial(t, q, v, z); }\n"
    "int test_accelerations(double t, const double *q, const double *v, const double *z, double "
    "*qdd)\n"
    "{ return m_accelerations(&p, t, q, v, z, 0, qdd, &w); }\n"
    "int test_forces(double t, const double *q, const double *v, const double *z, double *qdd, "
    "double *l,\n"
    "  double *i, double *c) { return m_forces(&p, t, q, v, z, 0, qdd, l, i, c, &w); }\n"
    "int test_outputs(double t, const double *q, const double *v, const double *z, double *out)\n"
    "{ return m_outputs(&p, t, q, v, z, 0, out, &w); }\n"
    "int test_jacobian(double t, const double *q, const double *v, const double *z, double *J)\n"
    "{ return m_jacobian(&p, t, q, v, z, 0, J, &w); }\n"
    "int test_derivative(double t, const double *y, double *r) { return m_derivative(&p, t, y, 0, "
    "r, &w); }\n"
    "int test_integrate(double *t, double end, double *y, double rtol, double *h)\n"
    "{ return m_integrate(&p, t, end, y, 0, rtol, rtol * 1e-3, 1, h, &w); }\n";

typedef struct exported {
    void *library;
    int (*sizes)(int);
    void (*initial)(double *, double *, double *, double *);
    int (*accelerations)(double, const double *, const double *, const double *, double *);
    int (*forces)(double, const double *, const double *, const double *, double *, double *,
                  double *, double *);
    int (*outputs)(double, const double *, const double *, const double *, double *);
    int (*jacobian)(double, const double *, const double *, const double *, double *);
    int (*derivative)(double, const double *, double *);
    int (*integrate)(double *, double, double *, double, double *);
} exported;

static char folder[256];

static bool write_to(void *user, const char *bytes, size_t length)
{
    return fwrite(bytes, 1, length, user) == length;
}

static void put_text(const char *name, const char *text)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static hm_status export_c(probe *p)
{
    char path[300];
    hm_export_options options = hm_export_options_default();
    options.name = "m";
    snprintf(path, sizeof path, "%s/m.c", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    hm_status status = hm_system_export(p->context, p->system, &options, write_to, file);
    assert_int_equal(fclose(file), 0);
    return status;
}

static void *symbol(void *library, const char *name)
{
    void *found = dlsym(library, name);
    assert_non_null(found);
    return found;
}

#define LOAD(e, name) *(void **)&(e)->name = symbol((e)->library, "test_" #name)

static exported compile(void)
{
    static int count;
    char command[2048], object[300];
    exported e = {0};
    snprintf(object, sizeof object, "%s/m%d.so", folder, count++);
    put_text("wrapper.c", wrapper);
    snprintf(
        command, sizeof command,
        "cd %s && cc -std=c99 -pedantic -Wall -Wextra -Werror -O0 -ffp-contract=off -fPIC -shared "
        "wrapper.c -o %s -lm",
        folder, object);
    assert_int_equal(system(command), 0);
    e.library = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(e.library);
    LOAD(&e, sizes);
    LOAD(&e, initial);
    LOAD(&e, accelerations);
    LOAD(&e, forces);
    LOAD(&e, outputs);
    LOAD(&e, jacobian);
    LOAD(&e, derivative);
    LOAD(&e, integrate);
    return e;
}

/* ---- comparisons ---- */

enum { MOST = 512 };
static double q[MOST], v[MOST], z[MOST], qdd[MOST], lambda[MOST], ideal[MOST], force[MOST],
    out[MOST];

static double largest(size_t count, const double *x)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs(x[i]));
    return most;
}

static void check_list(const char *model, const char *what, size_t count, const double *got,
                       const double *expected, double tolerance)
{
    double scale = largest(count, expected) + 1;
    for (size_t i = 0; i < count; i++)
        if (!(fabs(got[i] - expected[i]) <= tolerance * scale))
            fail_msg("%s: %s[%zu] is %.17g, not %.17g", model, what, i, got[i], expected[i]);
}

/* A digit is lost for each digit of the condition of the constraints. */
static double tolerance_at(const probe *p)
{
    return 1e-12 * fmax(1, fmin(1e4, p->at.gram_condition));
}

static void check_state(const char *model, probe *p, const exported *e)
{
    size_t n = p->n, m = p->m;
    double t = hm_sim_time(p->sim);
    hm_sim_state(p->sim, q, v, z);
    probe_evaluate(p);
    int status = e->forces(t, q, v, z, qdd, lambda, ideal, force);
    if (p->status != HM_OK || !p->at.qdd) {
        if (p->status != HM_OK)
            assert_int_not_equal(status, 0);
        return;
    }
    if (p->at.evidence_A.verdict == HM_RANK_VERDICT_UNDECIDED && p->at.rank_A < (int)m)
        return; /* what is rounding and what is rank is for the library to say */
    assert_int_equal(status, 0);
    double tolerance = tolerance_at(p);
    check_list(model, "q''", n, qdd, p->at.qdd, tolerance);
    check_list(model, "Qi", n, ideal, p->at.Qi, tolerance);
    check_list(model, "Qc", n, force, p->at.Qc, tolerance);
    check_list(model, "lambda", m, lambda, p->at.lambda, tolerance);
    assert_int_equal(e->accelerations(t, q, v, z, qdd), 0);
    check_list(model, "fast q''", n, qdd, p->at.qdd, tolerance);
    if (e->sizes(3) > 0 && p->at.outputs && e->outputs(t, q, v, z, out) == 0)
        check_list(model, "outputs", (size_t)e->sizes(3), out, p->at.outputs, tolerance);
}

/* Exact derivatives against differences of the exported motion itself. */
static void check_jacobian(const char *model, const probe *p, const exported *e)
{
    size_t n = p->n, k = (size_t)e->sizes(2), width = 2 * n + k;
    double *J = calloc((n + k) * width + 1, sizeof *J), y[3 * MOST], low[3 * MOST], high[3 * MOST];
    double t = hm_sim_time(p->sim);
    assert_non_null(J);
    if (e->jacobian(t, q, v, z, J) == 0)
        for (size_t s = 0; s < width; s++) {
            memcpy(y, q, n * sizeof *y);
            memcpy(y + n, v, n * sizeof *y);
            memcpy(y + 2 * n, z, k * sizeof *y);
            double kept = y[s], h = 1e-6 * (1 + fabs(kept));
            y[s] = kept - h;
            bool good = e->derivative(t, y, low) == 0;
            y[s] = kept + h;
            good = good && e->derivative(t, y, high) == 0;
            for (size_t i = 0; good && i < n + k; i++) {
                double slope = (high[n + i] - low[n + i]) / (2 * h);
                double noise = 1e-9 * (fabs(high[n + i]) + fabs(low[n + i])) / h;
                if (!(fabs(J[i * width + s] - slope) <= 1e-4 * (1 + fabs(slope)) + noise))
                    fail_msg("%s: d%zu/d%zu is %.17g, differences give %.17g", model, i, s,
                             J[i * width + s], slope);
            }
        }
    free(J);
}

static bool export_and_check(const char *model, probe *p)
{
    hm_status status = export_c(p);
    if (status == HM_ERR_USAGE || status == HM_ERR_LIMIT) {
        assert_true(hm_context_diagnostic_count(p->context) > 0);
        return false;
    }
    assert_int_equal(status, HM_OK);
    exported e = compile();
    assert_int_equal(e.sizes(0), p->n);
    assert_int_equal(e.sizes(1), p->m);
    (void)!hm_sim_make_consistent(p->sim, false, NULL, NULL);
    check_state(model, p, &e);
    bool full_rank = p->at.rank_A ==
                     (int)p->m; /* elsewhere the rank changes beside the constraints */
    if (full_rank && hm_model_input_count(p->model) == 0)
        check_jacobian(model, p, &e);
    unsigned seed = 7;
    for (int trial = 0; trial < 3; trial++) {
        hm_sim_state(p->sim, q, v, z);
        for (size_t i = 0; i < p->n; i++) {
            seed = seed * 1103515245u + 12345u;
            q[i] += 0.02 * ((double)(seed >> 16 & 1023) / 512 - 1);
            seed = seed * 1103515245u + 12345u;
            v[i] += 0.3 * ((double)(seed >> 16 & 1023) / 512 - 1);
        }
        hm_sim_set_state(p->sim, hm_sim_time(p->sim), q, v, NULL);
        check_state(model, p, &e);
    }
    dlclose(e.library);
    return true;
}

/* ---- tests ---- */

static void test_examples(void **state)
{
    (void)state;
    DIR *examples = opendir(HAMEL_SOURCE_DIR "/examples");
    assert_non_null(examples);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(examples)) != NULL;) {
        const char *dot = strrchr(entry->d_name, '.');
        char path[600];
        if (!dot || strcmp(dot, ".hamel") != 0)
            continue;
        snprintf(path, sizeof path, "%s/examples/%s", HAMEL_SOURCE_DIR, entry->d_name);
        probe *p = probe_file(path, NULL, 0);
        count += export_and_check(entry->d_name, p);
        probe_close(p);
    }
    closedir(examples);
    print_message("%d examples exported\n", count);
    assert_true(count >= 30);
}

/* Exported integrators against closed forms. */
static void test_runs(void **state)
{
    (void)state;
    probe *p = probe_text("coord x, y\nkinetic (x'^2 + y'^2)/2\npotential 9.81*y\n"
                          "constraint rod: x^2 + y^2 = 1\ninitial x = 0.1, y ~ -1\n");
    assert_int_equal(export_c(p), HM_OK);
    exported e = compile();
    double y[4], t, h = 0;
    assert_int_equal(e.sizes(0), 2);
    e.initial(&t, y, y + 2, NULL);
    double energy = 9.81 * y[1];
    assert_int_equal(e.integrate(&t, 20, y, 1e-10, &h), 0);
    assert_true(fabs(t - 20) < 1e-14);
    assert_true(fabs(y[0] * y[0] + y[1] * y[1] - 1) < 1e-12);
    assert_true(fabs(y[2] * y[2] / 2 + y[3] * y[3] / 2 + 9.81 * y[1] - energy) < 1e-7);
    dlclose(e.library);
    probe_close(p);
}

/* Rank 1 of 3 rows, singular M with a quaternion, laws of total reactions, states and inputs. */
static void test_hard_models(void **state)
{
    (void)state;
    static const char *const models[] = {
        "coord x, y\nkinetic (x'^2 + 4*y'^2)/2\nforce x = 3, y = 1\n"
        "constraint a: x' = y'\nconstraint b: 2*x' = 2*y'\nconstraint c: x = y\n",
        "param J = 2\nbody top { mass 1 inertia diag(1, 2, J) at [0,0,0] frame quat(e0,e1,e2,e3) "
        "}\n"
        "coord e0, e1, e2, e3\ninitial e1' ~ 1, e2' ~ 0.5\n",
        "coord x, y\nkinetic (x'^2 + y'^2)/2\npotential 9.81*y\nconstraint floor: y = 0\n"
        "nonideal x = -0.3*abs(total_multiplier(floor))*sign(x')\ninitial x' = 2\n",
        "coord x\nstate s' = -s + x\ninput u = sin(t)\nkinetic x'^2/2\nforce x = u - s\n"
        "initial x = 1, s = 0.5\noutput F = u - s\noutput a = x''\noutput E = energy\n",
        "param a = 2, b = 3*a, c = a + b\ncoord x\nkinetic c*x'^2/2\npotential b*cos(x)\n",
    };
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        probe *p = probe_text(models[i]);
        assert_true(export_and_check(models[i], p));
        probe_close(p);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    static const char *const models[] = {
        "coord y\nkinetic y'^2/2\npotential y\nconstraint floor: y >= 0\ninitial y = 1\n",
        "coord y\nkinetic y'^2/2\nservo s: y = 0 with gain 1\n",
        "coord x[1..300]\nkinetic sum(i = 1..300, x[i]'^2)\n",
    };
    static const char *const fragments[] = {"'floor'", "'s'", "300"};
    for (size_t i = 0; i < 3; i++) {
        probe *p = probe_text(models[i]);
        assert_int_not_equal(export_c(p), HM_OK);
        const hm_diagnostic *last = hm_context_diagnostic(
            p->context, hm_context_diagnostic_count(p->context) - 1);
        assert_non_null(strstr(last->message, fragments[i]));
        probe_close(p);
    }
}

static int make_folder(void **state)
{
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/export-XXXXXX", base ? base : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[300];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hard_models),
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_examples),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
