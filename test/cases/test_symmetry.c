/* Symmetries and first integrals found without a hint (src/analyse/symmetry/symmetry.c): those of the issue's
 * list and of the literature, and none where there are none. What is found is written as Hamel
 * prints it; `drift` along a run is checked for each. */
#include "support/check.h"

#include <math.h>
#include <string.h>

#include <hamel/hamel.h>

#define PARTICLE(m, x, y, z) "kinetic " m "/2*(" x "'^2 + " y "'^2 + " z "'^2)\n"
#define ENERGY               "energy"

typedef struct example {
    const char *source, *text;
    const char *found[8]; /* ENERGY, or expressions; "~word": one whose `from` begins with it */
    bool more;            /* further true ones are known to exist */
} example;

static const example examples[] = {
    {"free particle",
     "param m = 2; coord x, y, z\n" PARTICLE("m", "x", "y", "z") "initial x' = 1",
     {ENERGY, "m*x'", "m*y'", "m*z'", "m*(x*y' - y*x')", "m*(x*z' - z*x')", "m*(y*z' - z*y')"},
     false},
    {"particle on a line under gravity",
     "param m = 2, g = 9.81; coord x, y\n"
     "kinetic m/2*(x'^2 + y'^2); potential m*g*y; initial x' = 1",
     {ENERGY, "m*x'"},
     false},
    {"Kepler",
     "coord x, y; kinetic (x'^2 + y'^2)/2; potential -1/sqrt(x^2 + y^2)\n"
     "initial x = 1, y' = 1.1",
     {ENERGY, "x*y' - y*x'"},
     false},
    {"two particles and a spring",
     "param m = 1, M = 2, k = 3; coord x, y, X, Y\n"
     "kinetic m/2*(x'^2 + y'^2) + M/2*(X'^2 + Y'^2)\n"
     "potential k/2*(sqrt((x - X)^2 + (y - Y)^2) - 1)^2; initial x = 1, y = 0.3, X = -1, Y' = 1",
     {ENERGY, "m*x' + M*X'", "m*y' + M*Y'", "m*x*y' - m*y*x' + M*X*Y' - M*Y*X'"},
     true},
    {"homogeneous nonlinear constraints do no work [Chetaev's rule]",
     "coord x, y, z; kinetic (x'^2 + y'^2 + z'^2)/2; potential 9.8*z\n"
     "constraint c: z'^2 = (x^2 + y^2)*(x'^2 + y'^2)\n"
     "initial x = 0.5, y = 1, x' = 1, y' = 1, z' ~ 1",
     {ENERGY},
     false},
    {"knife edge, s = 0 [Bloch 2003]",
     "param m = 1, I = 0.3, g = 9.81, al = 0.4; coord x, y, phi\n"
     "kinetic m/2*(x'^2 + y'^2) + I/2*phi'^2; potential -m*g*x*sin(al)\n"
     "constraint blade: x'*sin(phi) - y'*cos(phi) = 0; initial phi' = 0.7",
     {ENERGY, "I*phi'"},
     false},
    {"Hamel's skate, s = 0.4 [UW]",
     "param m = 1, s = 0.4, I = 0.3; coord x, y, theta\n"
     "kinetic m/2*((x' - s*theta'*sin(theta))^2 + (y' + s*theta'*cos(theta))^2) + I/2*theta'^2\n"
     "constraint blade: y'*cos(theta) = x'*sin(theta); initial theta' = 1, x' ~ 1",
     {ENERGY},
     false},
    {"coin, level plane [Flannery (57)-(63)]",
     "param m = 1, R = 0.5, I = 0.2, J = 0.1; coord x, y, theta, phi\n"
     "kinetic m/2*(x'^2 + y'^2) + I/2*theta'^2 + J/2*phi'^2\n"
     "constraint rx: x' = R*theta'*cos(phi); constraint ry: y' = R*theta'*sin(phi)\n"
     "initial theta' = 1, phi' = 0.7",
     {ENERGY, "I*theta'", "J*phi'"},
     true},
    {"coin, incline",
     "param m = 1, R = 0.5, I = 0.2, J = 0.1, g = 9.81, al = 0.3; coord x, y, theta, phi\n"
     "kinetic m/2*(x'^2 + y'^2) + I/2*theta'^2 + J/2*phi'^2; potential -m*g*x*sin(al)\n"
     "constraint rx: x' = R*theta'*cos(phi); constraint ry: y' = R*theta'*sin(phi)\n"
     "initial theta' = 1, phi' = 0.7",
     {ENERGY, "J*phi'"},
     false},
    {"bead on a turning hoop, minimal coordinates",
     "param m = 1, R = 1, w = 2, g = 9.81; coord theta; initial theta = 1\n"
     "kinetic m/2*R^2*(theta'^2 + w^2*sin(theta)^2); potential m*g*R*cos(theta)",
     {"~Jacobi integral"},
     false},
    {"bead on a turning hoop, rheonomic constraints",
     "param m = 1, R = 1, w = 2, g = 9.81; coord x, y, z\n" PARTICLE(
         "m", "x", "y", "z") "potential m*g*z; constraint sphere: x^2 + y^2 + z^2 = R^2\n"
                             "constraint plane: x*sin(w*t) = y*cos(w*t); initial x = 0.6, y = 0, z "
                             "~ 0.8, x' ~ 0.1",
     {"~Jacobi integral"},
     false},
    {"spherical pendulum",
     "param m = 1, g = 9.81; coord x, y, z\n" PARTICLE(
         "m", "x", "y", "z") "potential m*g*z; constraint rod: x^2 + y^2 + z^2 = 1; initial x = "
                             "0.6, z ~ -0.8, y' = 1",
     {ENERGY, "m*(x*y' - y*x')"},
     false},
    {"free body",
     "param m = 2; coord x, y, z, psi, theta, phi\n"
     "body b { mass m inertia diag(1, 2, 3) at [x, y, z] frame rotz(psi)*roty(theta)*rotx(phi) }\n"
     "initial theta = 0.3, psi' = 1, phi' = 2, x' = 1",
     {ENERGY, "m*x'", "m*y'", "m*z'", "~momentum of the bodies"},
     true},
    {"heavy symmetric top, Euler angles",
     "param A = 1, C = 0.5, mgl = 2; coord phi, theta, psi\n"
     "kinetic A/2*(theta'^2 + phi'^2*sin(theta)^2) + C/2*(psi' + phi'*cos(theta))^2\n"
     "potential mgl*cos(theta); initial theta = 1, phi' = 0.3, psi' = 5",
     {ENERGY, "C*(psi' + phi'*cos(theta))"},
     true},
    {"Bricard's mechanism in natural coordinates: momenta of other assemblies are zero in this one",
     "param m = 1, g = 9.81; coord x[1..4], y[1..4], z[1..4], a[1..4], b[1..4], c[1..4]\n"
     "let P(k) = [x[k], y[k], z[k]]; let u(k) = [a[k], b[k], c[k]]\n"
     "let bar(A, B, h, k) = [dot(B - A, B - A) - 1, dot(B - A, h), dot(B - A, k), dot(h, k)]\n"
     "for k = 1..4 { kinetic m/3*dot(P(k)', P(k)'); potential m*g*z[k]\n"
     "constraint unit[k]: dot(u(k), u(k)) = 1 }\n"
     "for k = 1..3 { kinetic m/6*dot(P(k)', P(k + 1)')\n"
     "constraint bar[k]: bar(P(k), P(k + 1), u(k), u(k + 1)) = 0 }\n"
     "constraint first: bar([0, 0, 0], P(1), [0, 0, 1], u(1)) = 0\n"
     "constraint last: bar(P(4), [-1, 0, 0], u(4), [0, -1, 0]) = 0\n"
     "initial y[1] ~ 1, a[1] ~ 1, y[2] ~ 1, z[2] ~ 1, b[2] ~ -1, x[3] ~ -1, y[3] ~ 1, z[3] ~ 1\n"
     "initial c[3] ~ 1, x[4] ~ -1, z[4] ~ 1, a[4] ~ 1\n",
     {ENERGY},
     false},
};

static hm_symmetries *find(const char *text, hm_context **context, hm_model **model,
                           hm_system **system)
{
    hm_symmetries *found = NULL;
    *context = hm_context_create(NULL);
    hm_status status = hm_model_parse(*context, text, strlen(text), NULL, model);
    for (size_t i = 0; status != HM_OK && i < hm_context_diagnostic_count(*context); i++)
        print_message("%s\n", hm_context_diagnostic(*context, i)->message);
    assert_true(status == HM_OK);
    assert_true(hm_system_create(*model, system) == HM_OK);
    assert_true(hm_symmetries_find(*system, NULL, &found) == HM_OK);
    return found;
}

static bool is_that(const hm_integral *integral, const char *wanted)
{
    if (strcmp(wanted, ENERGY) == 0)
        return strncmp(integral->from, "energy", 6) == 0;
    if (wanted[0] == '~')
        return strncmp(integral->from, wanted + 1, strlen(wanted + 1)) == 0;
    return strcmp(integral->expression, wanted) == 0;
}

static void check_example(const example *e)
{
    hm_context *context;
    hm_model *model;
    hm_system *system;
    hm_symmetries *found = find(e->text, &context, &model, &system);
    size_t wanted = 0;
    for (; wanted < 8 && e->found[wanted]; wanted++) {
        bool there = false;
        for (size_t i = 0; i < found->integral_count; i++)
            there |= is_that(&found->integrals[i], e->found[wanted]);
        if (!there)
            print_message("%s: %s is not found\n", e->source, e->found[wanted]);
        assert_true(there);
    }
    if (!e->more && found->integral_count != wanted)
        for (size_t i = 0; i < found->integral_count; i++)
            print_message("%s: found %s\n", e->source, found->integrals[i].expression);
    assert_true(e->more || found->integral_count == wanted);
    for (size_t i = 0; i < found->integral_count; i++) {
        assert_true(found->integrals[i].checked);
        assert_true(found->integrals[i].drift < 1e-7);
    }
    hm_symmetries_destroy(found);
    hm_system_destroy(system);
    hm_model_destroy(model);
    hm_context_destroy(context);
}

static void finds_what_there_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        check_example(&examples[i]);
}

/* ---- none ---- */

#define DAMPED(V, F)                                                                               \
    "coord x, y; kinetic (x'^2 + y'^2)/2; potential " V "; force " F "; initial x = 1"

static const char *const nothing[] = {
    "coord a; kinetic a'^2/2; potential -cos(a); force a = -0.2*a'; initial a = 1",
    "coord a; kinetic a'^2/2; potential -cos(a); force a = sin(2*t); initial a = 1",
    "coord a; kinetic a'^2/2; potential -(1 + 0.3*cos(t))*cos(a); initial a = 1",
    "coord a; kinetic (2 + sin(t))*a'^2/2; potential a^2; initial a = 1",
    "coord x; kinetic x'^2/2; potential x^4/4 - x^2/2; force x = 0.3*cos(t) - 0.2*x'; initial x = "
    "1",
    "coord x; kinetic x'^2/2; potential x^2/2; force x = (1 - x^2)*x'; initial x = 1",
    DAMPED("x^2 + 2*y^2 + x*y^2", "x = -x', y = -y'"),
    DAMPED("x^2 + 2*y^2", "x = -x'*y^2, y = -y'"),
    DAMPED("x^2*y + y^4", "x = y, y = -x'"),
    DAMPED("0", "x = -x'^3 + y, y = -y'^3"),
    DAMPED("x^4 + y^4", "x = cos(t), y = x'"),
    "coord x, y; kinetic (x'^2 + y'^2)/2; potential y; force x = -x'^2; force y = -y'^2; initial "
    "x' = 1",
    "coord a, b; kinetic a'^2 + b'^2/2 + a'*b'*cos(a - b); potential -2*cos(a) - cos(b)\n"
    "force a = -0.1*a'; force b = -0.1*b'; initial a = 1",
    "coord x, y, z; kinetic (x'^2 + y'^2 + z'^2)/2; potential x*y*z; force x = -x', y = -y', z = "
    "-z'\n"
    "constraint c: z' = y*x'; initial x = 1, y = 1",
    "coord x, y; kinetic (x'^2 + y'^2)/2; constraint c: y' = sin(t)*x' + cos(t); initial x' = 1\n"
    "potential x^4 + y^2",
    "coord x, y; kinetic (x'^2 + y'^2)/2; potential y; constraint c: x^2 + y^2 = (1 + "
    "0.1*sin(t))^2\n"
    "initial x = 0, y ~ -1, x' ~ 1",
    "coord x, y, th; kinetic (x'^2 + y'^2 + th'^2)/2; potential x^2 + y^4 + cos(th); force th = "
    "-th'\n"
    "constraint b: x'*sin(th) = y'*cos(th); initial th = 1, th' = 1",
    "coord r, a; kinetic (r'^2 + r^2*a'^2)/2; potential r^2 + r*cos(a); force r = -r'; initial r = "
    "2",
    "coord x, y, z; kinetic (x'^2 + y'^2 + z'^2)/2; potential x^2 + 2*y^2 + 3*z^2 + x*y*z\n"
    "force x = -x', y = sin(t), z = -z'; initial x = 1",
    "coord x; state s' = x - s; kinetic x'^2/2; potential x^2/2; force x = s; initial x = "
    "1",
    "param k = 2; coord x, y; kinetic (x'^2 + (1 + x^2)*y'^2)/2; potential k*x^2*y^2 + y\n"
    "force x = -0.1*x'; force y = -0.1*y'*x'^2; initial x = 1, y = 1",
};

static void claims_nothing(void **state)
{
    (void)state;
    assert_true(sizeof nothing / sizeof *nothing >= 20);
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++) {
        hm_context *context;
        hm_model *model;
        hm_system *system;
        hm_symmetries *found = find(nothing[i], &context, &model, &system);
        for (size_t k = 0; k < found->integral_count; k++)
            print_message("%s\n  claims %s\n", nothing[i], found->integrals[k].expression);
        assert_true(found->refusal == NULL);
        assert_true(found->integral_count == 0);
        hm_symmetries_destroy(found);
        hm_system_destroy(system);
        hm_model_destroy(model);
        hm_context_destroy(context);
    }
}

/* ---- generators ---- */

typedef struct verdict {
    const char *name;
    hm_answer L, D, horizontal, conserved;
    const char *equation;
} verdict;

static void check_generators(const char *text, const verdict *wanted, size_t count)
{
    hm_context *context;
    hm_model *model;
    hm_system *system;
    hm_symmetries *found = find(text, &context, &model, &system);
    for (size_t i = 0; i < found->symmetry_count; i++) /* stated as `spin` already */
        assert_true(strcmp(found->symmetries[i].name, "shift phi") != 0);
    for (size_t k = 0; k < count; k++) {
        const hm_symmetry *s = NULL;
        for (size_t i = 0; i < found->symmetry_count && !s; i++)
            s = strcmp(found->symmetries[i].name, wanted[k].name) == 0 ? &found->symmetries[i]
                                                                       : NULL;
        assert_true(s != NULL);
        assert_true(s->lagrangian_invariant == wanted[k].L);
        assert_true(s->distribution_invariant == wanted[k].D);
        assert_true(s->horizontal == wanted[k].horizontal);
        assert_true(s->conserved == wanted[k].conserved);
        assert_true(!wanted[k].equation == !s->equation);
        assert_true(!s->equation || strcmp(s->equation, wanted[k].equation) == 0);
    }
    hm_symmetries_destroy(found);
    hm_system_destroy(system);
    hm_model_destroy(model);
    hm_context_destroy(context);
}

/* The knife edge with s = 0: phi is horizontal and a symmetry of L, though the distribution is not
 * invariant under it (errata 4.2); the momenta of x and y obey the momentum equation. */
static void answers_for_generators(void **state)
{
    static const verdict knife_edge[] = {
        {"spin", HM_ANSWER_YES, HM_ANSWER_NO, HM_ANSWER_YES, HM_ANSWER_YES, NULL},
        {"shift x", HM_ANSWER_YES, HM_ANSWER_YES, HM_ANSWER_NO, HM_ANSWER_NO,
         "multiplier(blade)*(sin(phi))"},
        {"shift y", HM_ANSWER_YES, HM_ANSWER_YES, HM_ANSWER_NO, HM_ANSWER_NO,
         "multiplier(blade)*(-cos(phi))"},
        {"turn", HM_ANSWER_YES, HM_ANSWER_NO, HM_ANSWER_NO, HM_ANSWER_NO,
         "multiplier(blade)*(-x*cos(phi) - y*sin(phi))"},
    };
    static const verdict nonlinear[] = {
        /* Appell and Hamel's kind: z'^2 = (x^2 + y^2)(x'^2 + y'^2) */
        {"along", HM_ANSWER_YES, HM_ANSWER_NO, HM_ANSWER_NO, HM_ANSWER_NO,
         "multiplier(c)*(-2*x'*(x^2 + y^2))"},
        {"turn", HM_ANSWER_YES, HM_ANSWER_YES, HM_ANSWER_NO, HM_ANSWER_NO,
         "multiplier(c)*(2*(x^2 + y^2)*(y*x' - x*y'))"},
    };
    static const verdict driven[] = {
        {"lift", HM_ANSWER_NO, HM_ANSWER_YES, HM_ANSWER_YES, HM_ANSWER_NO, "(-9.81) + (t)"},
    };
    (void)state;
    check_generators("param m = 1, I = 0.3; coord x, y, phi\n"
                     "kinetic m/2*(x'^2 + y'^2) + I/2*phi'^2\n"
                     "constraint blade: x'*sin(phi) - y'*cos(phi) = 0; initial phi' = 0.7\n"
                     "symmetry spin: phi = 1\nsymmetry turn: x = -y, y = x",
                     knife_edge, 4);
    check_generators("coord x, y, z; kinetic (x'^2 + y'^2 + z'^2)/2; potential 9.8*z\n"
                     "constraint c: z'^2 = (x^2 + y^2)*(x'^2 + y'^2)\n"
                     "initial x = 0.5, y = 1, x' = 1, y' = 1, z' ~ 1\n"
                     "symmetry along: x = 1\nsymmetry turn: x = -y, y = x",
                     nonlinear, 2);
    check_generators("coord y; kinetic y'^2/2; potential 9.81*y; force y = t; symmetry lift: y = 1",
                     driven, 1);
}

static void refuses(void **state)
{
    hm_context *context;
    hm_model *model;
    hm_system *system;
    (void)state;
    hm_symmetries *found = find(
        "coord x; kinetic x'^2/2; servo s: x = sin(t) with gain 1; initial x ~ 0", &context, &model,
        &system);
    assert_true(found->refusal && strcmp(found->refusal, "the model has servos") == 0);
    assert_true(found->integral_count == 0 && found->symmetry_count == 0);
    hm_symmetries_destroy(found);
    hm_system_destroy(system);
    hm_model_destroy(model);
    hm_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_there_is),
        cmocka_unit_test(claims_nothing),
        cmocka_unit_test(answers_for_generators),
        cmocka_unit_test(refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
