/* `derive` of models off the beaten track: what each format says must be in it, by hand. */
#include "helpers.h"
#include "support/probe.h"

#include <stdio.h>

static char *derive(const char *text, hm_format format)
{
    collected c = {0};
    probe *p = probe_text(text);
    assert_int_equal(hm_system_derive(p->system, format, collect, &c), HM_OK);
    probe_close(p);
    return c.text;
}

/* Every fragment is in it, in this order; NULL ends the list. */
static void check_parts(const char *text, hm_format format, const char *const *parts)
{
    char *out = derive(text, format), *at = out;
    for (; *parts; parts++) {
        char *found = strstr(at, *parts);
        if (!found)
            fail_msg("'%s' is missing (in this place) in:\n%s", *parts, out);
        at = found + strlen(*parts);
    }
    free(out);
}
#define CHECK_PARTS(text, format, ...)                                                             \
    check_parts(text, format, (const char *const[]){__VA_ARGS__, NULL})

/* ---- every kind of constraint, a servo by Lyapunov's law, parameters of parameters ---- */

static const char kinds[] = "model odd \"a title with > and & signs \\\\ back\"\n"
                            "param l = 2, k = 2*l\n"
                            "coord x, y, z\n"
                            "kinetic (x'^2 + y'^2 + z'^2)/2\n"
                            "constraint roll: y' = x'*cos(t)\n"
                            "constraint moving: x = sin(t)\n"
                            "constraint push: z'' = k*t\n"
                            "constraint fast: z'^2 = 1 + x'^2\n"
                            "servo hold: y' = 1 with gain 3 law lyapunov\n";

static void names_kinds_of_constraints(void **state)
{
    (void)state;
    CHECK_PARTS(kinds, HM_FORMAT_TEXT, "4 constraints, 1 servo row", "k = 2·l = 4",
                "roll:  ẏ − ẋ·cos(t) = 0     (velocity, linear, depends on t)",
                "moving:  x − sin(t) = 0     (position, depends on t)",
                "push:  z̈ − k·t = 0     (acceleration)", "(velocity, nonlinear",
                "servo hold:  ẏ − 1 = 0     (velocity, linear)", "b[roll] = −ẋ·sin(t)",
                "b[moving] = −sin(t)", "b[push] = k·t", "hold:  ÿ = 3 − 3·ẏ",
                "u on all coordinates, by the law of Lyapunov type", "M q̈ = Q + u + Qc");
    CHECK_PARTS(kinds, HM_FORMAT_LATEX, "a title with > and \\& signs", "$l = 2$, $k = 4$",
                "\\ddot{z} - k t = 0", "\\ddot{y} = 3 - 3 \\dot{y}");
    CHECK_PARTS(kinds, HM_FORMAT_JSON, "\"parameters\": {\"l\": 2, \"k\": 4}",
                "{\"name\": \"push\", \"level\": \"acceleration\", \"linear\": true, \"time\": "
                "\"rheonomic\", \"residual\": \"z'' - k*t\"}",
                "\"servo_b\": [\"3 - 3*y'\"]");
    CHECK_PARTS(kinds, HM_FORMAT_C, "q[i], v[i]: x y z", "p[i]: l=2 k=4",
                "servo A (3, row-major), servo b (1)", "odd_equations(");
}

/* ---- energies ---- */

/* T with terms linear in the velocities and without: T = x'^2/2 + t y x' + (t y)^2/2. */
static void splits_the_kinetic_energy(void **state)
{
    (void)state;
    static const char text[] = "coord x, y; kinetic (x' + t*y)^2/2 + y'^2/2";
    CHECK_PARTS(text, HM_FORMAT_TEXT, "T = ½ q̇ᵀM q̇ + N q̇ + P", "N[x] = t·y", "P = (t·y)²/2",
                "Q[x] = −y − t·ẏ", "Q[y] = t·ẋ + t²·y");
    CHECK_PARTS(text, HM_FORMAT_JSON, "\"kinetic\": \"");
}

static void degenerate_lagrangian(void **state)
{
    (void)state;
    static const char text[] = "coord x, y; lagrangian x*y' - (x^2 + y^2)/2";
    CHECK_PARTS(text, HM_FORMAT_TEXT, "Q[x] = ẏ − x", "Q[y] = −y − ẋ",
                "0 = Q + Qc: L is degenerate, and these equations determine velocities");
    CHECK_PARTS(text, HM_FORMAT_LATEX, "0 & 0 \\\\", "M \\ddot q &= Q + Q^{c}");
    CHECK_PARTS(text, HM_FORMAT_JSON, "\"entries\": []", "[\"y' - x\", \"-y - x'\"]");
}

/* No forces at all, and dependent rows: matrices are named where no closed form is there. */
static void dependent_rows(void **state)
{
    (void)state;
    static const char text[] = "coord x, y; kinetic (x'^2 + y'^2)/2\n"
                               "constraint a: x = y; constraint b: 2*x = 2*y\n"
                               "nonideal x = -y'\n";
    CHECK_PARTS(text, HM_FORMAT_TEXT, "λ = (A M⁻¹Aᵀ)⁺ (b − A M⁻¹Q)",
                "Qni = C − Aᵀ(A M⁻¹Aᵀ)⁺ A M⁻¹C", "q̈ = M⁻¹(Q + Qc)");
    CHECK_PARTS(text, HM_FORMAT_LATEX, "Q^{ni} &= C - A^{T} (A M^{-1} A^{T})^{+} A M^{-1} C");
}

/* ---- large ---- */

/* 61 coordinates and 120 parameters: stored entries instead of dense rows, lists that end. */
static void many_names(void **state)
{
    (void)state;
    char *text = malloc(20000), *at = text;
    at += sprintf(at, "coord q[1..101]\nkinetic sum(i = 1..101, q[i]'^2)/2 + q[1]'*q[2]'\n");
    at += sprintf(at, "constraint tie: q[1] + q[101] = 0\nservo s: q[3] = 0 with gain 1\n");
    for (int i = 0; i < 120; i++)
        at += sprintf(at, "param p%d = %d\n", i, i);
    CHECK_PARTS(text, HM_FORMAT_C, "q[100] ...", "p98=98 p99=99\n",
                "M (102, stored entries of the lower triangle by rows), Q (101)",
                "A (2, stored entries by rows)", "servo A (1, stored entries by rows)",
                "model_equations(");
    CHECK_PARTS(text, HM_FORMAT_TEXT, "101 coordinates, 1 constraint, 1 servo row");
    CHECK_PARTS(text, HM_FORMAT_LATEX, "\\subsection*{Constraints}", "q_{1} + q_{101} = 0");
    CHECK_PARTS(text, HM_FORMAT_JSON, "\"rows\": 101, \"cols\": 101");
    free(text);
}

/* Letters for named parts are those that no name of the model is numbered by. */
static void avoids_names_of_the_model(void **state)
{
    (void)state;
    static const char base[] =
        "kinetic (x'^2 + y'^2)/2\n"
        "potential sin(x*cos(y) + y*exp(x))^2*(1 + cos(x*cos(y) + y*exp(x)))\n"
        "force x = sin(x*cos(y) + y*exp(x))^3*x', y = cos(x*cos(y) + y*exp(x))^3*y'\n";
    static const struct {
        const char *names, *part;
    } cases[] = {
        {"coord x, y\n", "e₁ = sin(x·cos(y) + y·exp(x))"},
        {"coord x, y; param e1 = 1\n", "h₁ = sin(x·cos(y) + y·exp(x))"},
        {"coord x, y; state e1' = x; input h_2 = 0\n", "k₁ = sin(x·cos(y) + y·exp(x))"},
        {"coord x, y; param e1 = 1, h1 = 1; state k1' = 1, w1' = 1\n"
         "input c1 = 0, s1 = 0; param f1 = 2\n",
         "part₁ = sin(x·cos(y) + y·exp(x))"},
    };
    char text[1000];
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        snprintf(text, sizeof text, "%s%s", cases[k].names, base);
        CHECK_PARTS(text, HM_FORMAT_TEXT, "where", cases[k].part);
    }
}

/* Symbols of every kind in C: states, inputs and their rates, forces of constraints. */
static void symbols_in_c(void **state)
{
    (void)state;
    static const char text[] =
        "coord x, y; kinetic (x'^2 + y'^2)/2; state w' = x; input u = sin(t)\n"
        "constraint c: y = u; force x = w\n"
        "nonideal x = -abs(reaction(y))*x' - multiplier(c)\n";
    CHECK_PARTS(text, HM_FORMAT_C, "z[i]: w", "u[i], du[i], ddu[i] (inputs and their rates): u",
                "r[i], rt[i]: components of Qi", "l[i], lt[i] (multipliers of Qi, and in all): c",
                "rates of the states (1)");
    CHECK_PARTS(text, HM_FORMAT_JSON, "\"inputs\": {\"u\": \"sin(t)\"}",
                "\"states\": {\"w\": \"x\"}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_kinds_of_constraints),
        cmocka_unit_test(splits_the_kinetic_energy),
        cmocka_unit_test(degenerate_lagrangian),
        cmocka_unit_test(dependent_rows),
        cmocka_unit_test(many_names),
        cmocka_unit_test(avoids_names_of_the_model),
        cmocka_unit_test(symbols_in_c),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
