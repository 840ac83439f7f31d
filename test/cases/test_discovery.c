/* What `check` finds to be conserved in systems of the literature, and in random ones whose symmetry
 * is known because they were made so, or broken: never something false. Every claim is compared with
 * a run of its own. */
#include "support/check.h"

#include <hamel/hamel.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct found_in {
    hm_context *context;
    hm_model *model;
    hm_system *system;
    hm_symmetries *found;
} found_in;

static void find(const char *text, found_in *f)
{
    *f = (found_in){.context = hm_context_create(NULL)};
    hm_status status = hm_model_parse(f->context, text, strlen(text), NULL, &f->model);
    if (status == HM_OK)
        status = hm_system_create(f->model, &f->system);
    if (status == HM_OK)
        status = hm_symmetries_find(f->system, NULL, &f->found);
    if (status != HM_OK)
        fail_msg("%s:\n%s", hm_status_text(status), text);
    if (f->found->refusal)
        fail_msg("%s:\n%s", f->found->refusal, text);
    for (size_t i = 0; i < f->found->integral_count; i++) {
        const hm_integral *integral = &f->found->integrals[i];
        if (!integral->checked || !(integral->drift < 1e-7))
            fail_msg("%s changes by %g:\n%s", integral->expression, integral->drift, text);
    }
}

static void forget(found_in *f)
{
    hm_symmetries_destroy(f->found);
    hm_system_destroy(f->system);
    hm_model_destroy(f->model);
    hm_context_destroy(f->context);
}

/* ---- the literature ---- */

#define BALL(X, Y)                                                                                 \
    "param m = 1, a = 0.3, k = 0.036, W = 0.7; coord x, y, psi, th, phi\n"                         \
    "let R = rotz(psi)*rotx(th)*rotz(phi); let w = omega(R)\n"                                     \
    "body b { mass m inertia diag(k, k, k) at [x, y, a] frame R }\n"                               \
    "constraint rx: " X "; constraint ry: " Y "\n"                                                 \
    "initial x = 1, th = 1, psi' = 0.4, phi' = 1, x' ~ 0.1, y' ~ 0.2; simulate 0 .. 1"

#define EULER "let R = rotz(psi)*rotx(th)*rotz(phi); let w = omega_body(R)\n"

static const struct {
    const char *name, *text;
    size_t count;         /* integrals, the energy included */
    const char *holds[3]; /* expressions, or "~word" that a `from` begins with */
} literature[] = {
    {"free body in quaternions: energy and angular momentum",
     "coord e0, e1, e2, e3\n"
     "body b { mass 1 inertia diag(1, 2, 3) at [0, 0, 0] frame quat(e0, e1, e2, e3) }\n"
     "initial e0 = 1, e1' = 0.3, e2' = 0.4, e3' = 0.1; simulate 0 .. 2",
     4,
     {"~energy", "~momentum of the bodies"}},
    {"two bodies in space: ten integrals are linear or the energy, that of the centre in pairs",
     "param m = 1, M = 2; coord x, y, z, X, Y, Z\n"
     "kinetic m/2*(x'^2 + y'^2 + z'^2) + M/2*(X'^2 + Y'^2 + Z'^2)\n"
     "potential -m*M/sqrt((x - X)^2 + (y - Y)^2 + (z - Z)^2)\n"
     "initial x = 1, y' = 1, z' = 0.2; simulate 0 .. 2",
     10,
     {"~energy", "m*x' + M*X'", "m*x*y' - m*y*x' + M*X*Y' - M*Y*X'"}},
    {"homogeneous ball on a plane: it rolls straight with constant turning",
     BALL("x' = a*w[2]", "y' = -a*w[1]"),
     6,
     {"~energy", "m*x'", "m*y'"}},
    {"ball on a turntable [Pars 1965; Bloch 2003]: three linear integrals and Jacobi's",
     BALL("x' - a*w[2] = -W*y", "y' + a*w[1] = W*x"),
     4,
     {"~Jacobi integral", "k*(psi' + phi'*cos(th))"}},
    {"Chaplygin sleigh: the energy only",
     "param m = 2, J = 0.5, a = 0.3; coord x, y, th\n"
     "body s { mass m inertia J at [x + a*cos(th), y + a*sin(th)] angle th }\n"
     "constraint blade: y'*cos(th) = x'*sin(th); initial th = 0.4, x' ~ 1, th' = 0.5",
     1,
     {"~energy"}},
    {"Suslov's problem, I13 not 0: the energy only",
     "param I13 = 0.3; coord psi, th, phi\n" EULER
     "kinetic (w[1]^2 + 2*w[2]^2 + 3*w[3]^2)/2 + I13*w[1]*w[3]; constraint s: w[3] = 0\n"
     "initial th = 1, psi' = 0.4, th' = 0.5; simulate 0 .. 2",
     1,
     {"~energy"}},
    {"Kovalevskaya's top: her own integral is of fourth degree, so two",
     "coord psi, th, phi\nkinetic th'^2 + psi'^2*sin(th)^2 + (phi' + psi'*cos(th))^2/2\n"
     "potential sin(th)*sin(phi); initial th = 1, psi' = 0.4, phi' = 1; simulate 0 .. 2",
     2,
     {"~energy", "~Noether"}},
    {"Lagrange's top: two momenta",
     "param A = 1, C = 0.5, k = 2; coord psi, th, phi\n"
     "kinetic A/2*(th'^2 + psi'^2*sin(th)^2) + C/2*(phi' + psi'*cos(th))^2\n"
     "potential k*cos(th); initial th = 1, psi' = 0.3, phi' = 5; simulate 0 .. 1",
     3,
     {"~energy", "C*(phi' + psi'*cos(th))"}},
    {"charged particle by `gyroscopic`: p_x and p_y are not conserved",
     "param B = 2; coord x, y, z; kinetic (x'^2 + y'^2 + z'^2)/2; gyroscopic x, y = B\n"
     "initial x' = 1, z' = 0.4; simulate 0 .. 3",
     2,
     {"~energy", "z'"}},
    {"snakeboard: momenta of rotor and feet [Bloch et al. 1996], and what follows of both",
     "param m = 4, l = 0.3, J = 0.4, J0 = 0.2, J1 = 0.05; coord x, y, th, psi, phi\n"
     "kinetic m/2*(x'^2 + y'^2) + J/2*th'^2 + J0*th'*psi' + J0/2*psi'^2 + J1*phi'^2\n"
     "constraint back: -x'*sin(th + phi) + y'*cos(th + phi) - l*th'*cos(phi) = 0\n"
     "constraint front: -x'*sin(th - phi) + y'*cos(th - phi) + l*th'*cos(phi) = 0\n"
     "initial phi = 0.4, psi' = 1, phi' = 0.2, x' ~ 1; simulate 0 .. 1",
     4,
     {"~energy", "J0*(th' + psi')", "2*J1*phi'"}},
};

static bool holds(const hm_symmetries *found, const char *wanted)
{
    for (size_t i = 0; i < found->integral_count; i++) {
        const hm_integral *integral = &found->integrals[i];
        if (wanted[0] == '~' ? strncmp(integral->from, wanted + 1, strlen(wanted + 1)) == 0
                             : strcmp(integral->expression, wanted) == 0)
            return true;
    }
    return false;
}

static void of_the_literature(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof literature / sizeof *literature; k++) {
        found_in f;
        find(literature[k].text, &f);
        for (size_t i = 0; i < 3 && literature[k].holds[i]; i++)
            if (!holds(f.found, literature[k].holds[i]))
                fail_msg("%s: no %s", literature[k].name, literature[k].holds[i]);
        if (f.found->integral_count != literature[k].count) {
            for (size_t i = 0; i < f.found->integral_count; i++)
                print_message("  %s\n", f.found->integrals[i].expression);
            fail_msg("%s: %zu, not %zu", literature[k].name, f.found->integral_count,
                     literature[k].count);
        }
        forget(&f);
    }
}

/* A chain of three rods, free in space: energy, momentum, angular momentum; nothing else. */
static void a_free_chain(void **state)
{
    (void)state;
    found_in f;
    find("param N = 2; coord x, y, z, a[1..N], b[1..N]\n"
         "let P(i) = [x + sum(k = 1..i, sin(a[k])*cos(b[k])), y + sum(k = 1..i, "
         "sin(a[k])*sin(b[k])), z - sum(k = 1..i, cos(a[k]))]\n"
         "body p0 { mass 1 at [x, y, z] }\nfor i = 1..N { body p[i] { mass i at P(i) } }\n"
         "initial a[1] = 0.5, a[2] = 1, b[1]' = 1, b[2] = 1, x' = 0.3; simulate 0 .. 1",
         &f);
    assert_int_equal(f.found->integral_count, 7);
    forget(&f);
}

/* ---- made at random ---- */

static uint64_t seed;

static double random_number(void) /* 0.3 .. 1.3 in steps of 0.1 */
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return 0.3 + 0.1 * (double)((seed >> 40) % 11);
}

/* A polynomial of two quantities without symmetries of its own. */
static void polynomial(char *out, size_t size, const char *u, const char *w)
{
    snprintf(out, size, "(%.1f*(%s) + %.1f*(%s)^2 + %.1f*(%s)*(%s)^2 + %.1f*(%s)^3)",
             random_number(), u, random_number(), w, random_number(), u, w, random_number(), w);
}

enum { SHIFT, TURN, SHEAR, KINDS };

/* L = T - V - breaking * c x^3 y with a symmetry of this kind in T and V. */
static void make_model(int kind, bool broken, bool damped, char *text, size_t size)
{
    static const char *const first[] = {"y", "x^2 + y^2", "x - 2*y"};
    char V[300], inertia[300], more[200] = "";
    polynomial(V, sizeof V, first[kind], "z");
    polynomial(inertia, sizeof inertia, first[kind], "z");
    if (broken)
        snprintf(more, sizeof more, "potential %.1f*x^3*y*z\n", random_number());
    snprintf(
        text, size,
        "coord x, y, z\nkinetic (x'^2 + y'^2)/2 + (3 + %s^2)*z'^2/2\npotential %s\n%s%s"
        "initial x = 0.5, y = 0.4, z = 0.3, x' = 0.2, y' = -0.3, z' = 0.1\nsimulate 0 .. 0.5\n",
        inertia, V, more, damped ? "dissipation 0.2*(x'^2 + y'^2 + z'^2)\n" : "");
}

static const char *const momentum[KINDS] = {"x'", "x*y' - y*x'", "x' + y'/2"};

static void random_systems(void **state)
{
    (void)state;
    int rounds = 24;
#ifdef HAMEL_SANITIZE
    rounds = 6;
#endif
    for (int k = 0; k < rounds; k++) {
        char text[2000];
        int kind = k % KINDS;
        bool broken = k / KINDS % 2, damped = k / 6 % 2;
        found_in f;
        seed = (uint64_t)k + 1;
        make_model(kind, broken, damped, text, sizeof text);
        find(text, &f);
        size_t expected = (damped ? 0 : 1) + (broken || damped ? 0 : 1);
        for (size_t i = 0; i < f.found->integral_count && f.found->integral_count != expected; i++)
            print_message("  %s\n", f.found->integrals[i].expression);
        if (f.found->integral_count != expected)
            fail_msg("%zu, not %zu, in\n%s", f.found->integral_count, expected, text);
        if (!broken && !damped && !holds(f.found, momentum[kind]))
            fail_msg("%s is not found in\n%s", momentum[kind], text);
        bool known = false;
        for (size_t i = 0; i < f.found->symmetry_count; i++)
            known |= f.found->symmetries[i].lagrangian_invariant == HM_ANSWER_YES;
        assert_int_equal(known, !broken);
        forget(&f);
    }
}

/* With a random linear constraint what is claimed must be true; find() compares it with a run. */
static void random_constraints(void **state)
{
    (void)state;
    int rounds = 18;
#ifdef HAMEL_SANITIZE
    rounds = 4;
#endif
    for (int k = 0; k < rounds; k++) {
        char text[2400], V[300];
        found_in f;
        seed = (uint64_t)k + 1000;
        polynomial(V, sizeof V, k % 2 ? "y" : "x^2 + y^2", "z");
        snprintf(text, sizeof text,
                 "coord x, y, z\nkinetic (x'^2 + y'^2 + %.1f*z'^2)/2\npotential %s\n"
                 "constraint c: z' = %s\n"
                 "initial x = 0.5, y = 0.4, z = 0.3, x' = 0.2, y' = -0.3\nsimulate 0 .. 0.5\n",
                 random_number(), V,
                 k % 3 == 0   ? "y*x'"
                 : k % 3 == 1 ? "0.5*(x*y' - y*x')"
                              : "cos(x)*y' + 0.2");
        find(text, &f);
        bool energy = holds(f.found, "~energy");
        if (energy != (k % 3 != 2))
            fail_msg("the energy is %sconserved in\n%s", energy ? "" : "not ", text);
        forget(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_the_literature),
        cmocka_unit_test(a_free_chain),
        cmocka_unit_test(random_systems),
        cmocka_unit_test(random_constraints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
