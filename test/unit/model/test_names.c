/* Names: where they may be used, what they shadow, families, lets, functions, includes. */
#include "support/check.h"
#include "support/probe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XY "coord x, y\nkinetic (x'^2 + y'^2)/2\n"
#define AT "x = 2, y = 3, x' = 0.7, y' = -1.1, t = 0.4"

/* ---- lets and functions ---- */

static void lets_in_any_order(void **state)
{
    (void)state;
    check_value("let c = a*b, a = b + 1\n" XY "let b = x\n", "c", AT, 6);
    check_value(XY "let f(i) = g(i) + 1\nlet g(i) = x*i\n", "f(3)", AT, 7);
    check_value("let v2 = x'^2 + y'^2\n" XY, "v2", AT, 0.49 + 1.21);
}

/* An argument hides what has its name outside, and nothing inside the caller. */
static void arguments_are_hygienic(void **state)
{
    (void)state;
    check_value(XY "let f(x) = x + y\n", "f(10)", AT, 13);
    check_value(XY "let f(x) = x + y\n", "f(y) + x", AT, 8);
    check_value(XY "let f(y) = x*y\nlet g(x) = f(x + 1)\n", "g(100)", AT, 202);
    check_value(XY "let f(a, b) = a - b\n", "f(y, x)", AT, 1);
    check_value(XY "let f(x, y) = x - y\n", "f(y, x)", AT, 1);
    check_value(XY "let f(x, y) = x - y\nlet g(y, x) = f(x, y)\n", "g(10, 1)", AT, -9);
    check_value(XY "let f(x) = x'\n", "f(y)", AT, -1.1);
    check_value(XY "let f(x) = x'\n", "f(y^2)", AT, -6.6);
    check_value(XY "let f(i) = sum(k = 1..i, k*x)\n", "sum(k = 1..3, f(k))", AT, 2 * (1 + 3 + 6));
    check_value(XY "let k = 100\nlet f(i) = sum(k = 1..i, k) + k\n", "f(3)", AT, 106);
    check_value(XY "let k = 7\nlet f(i) = k*i\n", "sum(k = 1..2, f(k))", AT, 21);
    check_value(XY "let f(u) = u[1]*norm(u)\n", "f([x, y]) + f([3, 0])", AT, 2 * sqrt(13) + 9);
    check_value(XY "let f() = x + 1\n", "f()", AT, 3);
}

static void functions_of_indices(void **state)
{
    (void)state;
    static const char model[] = "param N = 3, w = [2, 3, 5]\ncoord q[0..N]\nkinetic dot(q', q')/2\n"
                                "let gap(i) = q[i] - q[i - 1]\n"
                                "let term(i, j) = w[i]*q[j]\n"
                                "let pick(u, i) = u[i]\n"
                                "let total(n) = sum(i = 1..n, gap(i))\n";
    static const char at[] = "q[0] = 1, q[1] = 3, q[2] = 7, q[3] = 4";
    check_value(model, "gap(2)", at, 4);
    check_value(model, "total(N)", at, 3);
    check_value(model, "term(3, 0)", at, 5);
    check_value(model, "sum(i = 1..N, term(i, N - i))", at, 2 * 7 + 3 * 3 + 5 * 1);
    check_value(model, "pick(w, 2)", at, 3);
    check_value(model, "pick([q[3], 8], 1)", at, 4);
    check_value(model, "prod(i = 1..2, total(i))", at, 2 * 6);
}

static void locals_in_loops(void **state)
{
    (void)state;
    probe *p = probe_text("coord x, y\nkinetic (x'^2 + y'^2)/2\nlet c = 1\n"
                          "for i = 1..2 {\n"
                          "    let c = 10*i           # hides the global\n"
                          "    let f(a) = a + c       # sees it\n"
                          "    force x = f(i)\n"
                          "    for i = 5..5 { force y = i + c }\n"
                          "    let d = c + 1, e = d + 1\n"
                          "    force y = 100*e\n"
                          "}\n"
                          "force x = 1000*c\n");
    const double Q[2] = {11 + 22 + 1000, 15 + 25 + 1200 + 2200};
    probe_at(p, "");
    check_close("Q", 2, p->at.Q, Q, 0);
    probe_close(p);
}

static void lets_of_reactions(void **state)
{
    (void)state;
    probe *p = probe_text(XY "let N = abs(reaction(x)) + multiplier(wall)^2\n"
                             "let drag(v) = -0.1*N*v\n"
                             "force x = 3\nconstraint wall: x = 0\nnonideal y = drag(y')\n"
                             "output pressed = N\n");
    probe_at(p, "y' = 2");
    check_number("C", p->at.C[1], -0.1 * (3 + 9) * 2, 1e-15);
    check_number("N", probe_output(p, "pressed"), 12, 1e-15);
    probe_close(p);
    check_rejected(XY "let N = reaction(x)\nconstraint wall: x = 0\npotential N*y\n", HM_ERR_INPUT,
                   "reaction");
    check_rejected(XY "constraint wall: x = 0\nforce y = reaction(x)\n", HM_ERR_INPUT, "circular");
}

static void lets_that_go_wrong(void **state)
{
    (void)state;
    check_rejected(XY "let a = b\nlet b = a\n", HM_ERR_INPUT, "in terms of itself");
    check_rejected(XY "let f(i) = f(i - 1)\nforce x = f(3)\n", HM_ERR_INPUT, "calls itself");
    check_rejected(XY "let f(i) = i\nforce x = f\n", HM_ERR_INPUT, "function");
    check_rejected(XY "let f(i) = i\nforce x = f(1, 2)\n", HM_ERR_INPUT, "takes 1 argument");
    check_rejected(XY "force x = x(2)\n", HM_ERR_INPUT, "not a function");
    check_rejected(XY "let unused = nonsense\n", HM_ERR_INPUT, "nonsense");
    check_rejected(XY "for i = 1..2 { let unused = nonsense }\n", HM_ERR_INPUT, "nonsense");
}

/* ---- families ---- */

static void families_from_any_lower_bound(void **state)
{
    (void)state;
    probe *p = probe_text("param N = 2\ncoord a, q[-1..N - 1], b[5..5], c\n"
                          "kinetic a'^2 + c'^2 + b[5]'^2 + sum(i = -1..N-1, (i + 3)*q[i]'^2)/2\n"
                          "force q[-1] = 7, q[1 + 0] = 8\n");
    const char *const names[] = {"a", "q[-1]", "q[0]", "q[1]", "b[5]", "c"};
    const double M[6] = {2, 2, 3, 4, 2, 2}, Q[6] = {0, 7, 0, 8, 0, 0};
    probe_at(p, "");
    assert_int_equal(p->n, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_string_equal(hm_model_coordinate_name(p->model, i), names[i]);
        check_number(names[i], p->M[7 * i], M[i], 0);
    }
    check_close("Q", 6, p->at.Q, Q, 0);
    probe_close(p);
}

/* Without an index a family is the vector of its members. */
static void family_as_a_vector(void **state)
{
    (void)state;
    static const char model[] = "coord q[0..2]\nkinetic dot(q', q')/2\n";
    check_value(model, "dot(q, [1, 10, 100])", "q[0] = 1, q[1] = 2, q[2] = 3", 321);
    check_value(model, "norm(q)", "q[0] = 2, q[1] = 3, q[2] = 6", 7);
    check_value(model, "(2*q)[1]", "q[0] = 5", 10);
    check_value(model, "q[0]", "q[0] = 5", 5);
}

static void members_that_do_not_exist(void **state)
{
    (void)state;
    check_rejected("coord q[0..2]\nkinetic q[3]'^2\n", HM_ERR_INPUT, "runs from 0 to 2");
    check_rejected("coord q[0..2]\nkinetic q[0.5]'^2\n", HM_ERR_INPUT, "whole number");
    check_rejected("coord q[1..0]\nkinetic 1\n", HM_ERR_INPUT, "no members");
    check_rejected("param N = 1.5\ncoord q[1..N]\n", HM_ERR_INPUT, "whole number");
}

/* ---- words ---- */

static void words_inside_statements_are_names_elsewhere(void **state)
{
    (void)state;
    probe *p = probe_text(
        "param gain = 3, every = 0.5, law = 2, with = 1\n"
        "coord at, on, by, stop, keep, rising\n"
        "let frame = rotz(by), angle = on, inertia = 4, set = 5, record = 6, falling = 7, both = "
        "8\n"
        "kinetic (at'^2 + on'^2 + by'^2 + stop'^2 + keep'^2 + rising'^2)/2\n"
        "force at = gain, on = at + by, keep = set + record + falling + both + angle\n"
        "force [at, on] at [at, on]\n"
        "torque [0, 0, law] on frame\n"
        "servo by = at by by with gain gain\n"
        "event stop = 0 rising stop\n"
        "event rising = keep falling record\n"
        "event keep = 0 set keep' = -keep'\n"
        "initial keep = 1, keep' = 2\n"
        "initial keep stop = 3\n"
        "simulate 0 .. every every every/10 method rk5\n");
    const double Q[6] = {3 + 1, 1 + 7 + 2, 2, 0, 5 + 6 + 7 + 8 + 2, 0};
    probe_at(p, "at = 1, on = 2, by = 7");
    check_close("Q", 6, p->at.Q, Q, 0);
    check_number("keep", p->at.q[4], 1, 0);
    check_number("keep'", p->at.v[4], 2, 0);
    check_number("stop", p->at.q[3], 3, 0);
    probe_close(p);
}

static void names_of_functions_are_names_too(void **state)
{
    (void)state;
    check_value("coord norm, energy\nkinetic norm'^2 + energy'^2\n", "norm([3, 4])*norm + energy",
                "norm = 2, energy = 0.5", 10.5);
    check_value("coord sum\nkinetic sum'^2\n", "sum(i = 1..3, i*sum)", "sum = 2", 12);
}

static void reserved_words(void **state)
{
    (void)state;
    const char *const words[] = {
        "model",      "param", "coord",    "let",         "kinetic",    "mass",     "potential",
        "force",      "input", "state",    "torque",      "lagrangian", "body",     "gravity",
        "constraint", "servo", "nonideal", "initial",     "simulate",   "symmetry", "event",
        "output",     "for",   "include",  "dissipation", "t",          "pi",       "gyroscopic"};
    char text[200];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        snprintf(text, sizeof text, "coord x, %s\nkinetic x'^2\n", words[i]);
        check_rejected(text, HM_ERR_INPUT, words[i]);
        snprintf(text, sizeof text, "param %s = 1\ncoord x\nkinetic x'^2\n", words[i]);
        check_rejected(text, HM_ERR_INPUT, words[i]);
    }
}

/* As names of arguments and indices they would hide time and the constant. */
static void reserved_words_are_not_local_names_either(void **state)
{
    (void)state;
    const char *const texts[] = {
        XY "let f(t) = 2*t\nforce x = f(3)\n",     XY "let f(pi) = 2*pi\nforce x = f(3)\n",
        XY "force x = sum(t = 1..3, t)\n",         XY "force x = prod(pi = 1..3, pi)\n",
        XY "for t = 1..3 { force x = t }\n",       XY "for i = 1..3 { let t = i; force x = t }\n",
        XY "let f(mass) = mass\nforce x = f(3)\n", XY "for coord = 1..3 { force x = 1 }\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_rejected(texts[i], HM_ERR_INPUT, "");
}

static void duplicates(void **state)
{
    (void)state;
    static const struct {
        const char *text, *fragment;
    } wrong[] = {
        {XY "coord x\n", "already declared"},
        {XY "param x = 1\n", "already declared"},
        {XY "let x = 1\n", "already declared"},
        {XY "input x = 1\n", "already declared"},
        {XY "state x' = 1\n", "already declared"},
        {XY "let f(a) = a\nlet f(b) = b\n", "already declared"},
        {XY "let sin(a) = a\n", "built-in"},
        {XY "constraint a: x = 0\nconstraint a: y = 0\n", "already a constraint"},
        {XY "output a = x\noutput a = y\n", "already"},
        {XY "for i = 1..2 { constraint rod: x = i*y }\n", "already a constraint"},
        {XY "model a\nmodel b\n", "already named"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        check_rejected(wrong[i].text, HM_ERR_INPUT, wrong[i].fragment);
}

static void signals_that_go_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *text, *fragment;
    } wrong[] = {
        {XY "state z = 1\n", "declared with its derivative"},
        {XY "state z'' = 1\n", ""},
        {XY "param p = 1\ninput p = 2\n", "already declared"},
        {XY "let v = [1, 2]\nstate v' = 2\n", "already declared"},
        {XY "input u = 1\nstate u' = 2\n", "already declared"},
        {XY "state z' = 1\ninput z = 2\n", "already declared"},
        {XY "input u = 1, u = 2\n", "already declared"},
        {XY "for i = 1..2 { input u = i }\n", "already declared"},
        {XY "input u[1] = 1\ninput u = 2\n", "already declared"},
        {XY "input u = 1\ninput u[1] = 2\n", "already declared"},
        {XY "state z[1]' = 1\ninput z[1] = 2\n", "already declared"},
        {XY "input u = x''\n", "accelerations"},
        {XY "input u = w\ninput w = 1\n", "inputs"},
        {XY "state z' = x''\n", "accelerations"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        check_rejected(wrong[i].text, HM_ERR_INPUT, wrong[i].fragment);
}

/* A name stands for one thing in one place. */
static void local_duplicates(void **state)
{
    (void)state;
    check_rejected(XY "let f(a, a) = a\nforce x = f(1, 2)\n", HM_ERR_INPUT, "a");
    check_rejected(XY "for i = 1..1 { let a = 1; let a = 2; force x = a }\n", HM_ERR_INPUT, "a");
}

/* ---- letters ---- */

static void unicode_names(void **state)
{
    (void)state;
    check_value("param ω = 3, größe = 2\ncoord θ, φ₁, жук\nkinetic (θ'^2 + φ₁'^2 + жук'^2)/2\n",
                "ω*θ' + größe*φ₁ + жук", "θ' = 2, φ₁ = 5, жук = 0.5", 16.5);
    check_value("coord x_1, x1y, _z\nkinetic x_1'^2 + x1y'^2 + _z'^2\n", "x_1 + x1y*_z",
                "x_1 = 1, x1y = 2, _z = 3", 7);
    check_value("coord é\nkinetic é'^2\n", "2*é", "é = 4", 8);
}

/* ---- names of rows ---- */

static void unnamed_constraints_are_counted(void **state)
{
    (void)state;
    probe *p = probe_text("coord x, y, z\nkinetic x'^2 + y'^2 + z'^2\n"
                          "constraint x = 1\nconstraint c2: y = t\nconstraint z = x\n"
                          "for i = 1..2 { constraint x = i*y }\nservo x = 0 with gain 1\n");
    const char *const names[] = {"c1", "c2", "c3", "c4", "c5"};
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(hm_model_constraint(p->model, i).name, names[i]);
    assert_string_equal(hm_model_servo(p->model, 0).name, "s1");
    probe_close(p);
}

static void indexed_names(void **state)
{
    (void)state;
    probe *p = probe_text(
        "param N = 3\ncoord q[0..N]\nkinetic dot(q', q')/2\n"
        "for i = 1..N { constraint rod[i]: q[i] = q[i - 1] + sin(t) }\n"
        "for i = 1..2 { for j = i..2 { constraint pair[i, j]: q[i]' = j*q[j]' } }\n"
        "output tension = multiplier(rod[2]) + 0*multiplier(pair[1,2])\n");
    assert_int_equal(p->m, 6);
    assert_string_equal(hm_model_constraint(p->model, 2).name, "rod[3]");
    assert_string_equal(hm_model_constraint(p->model, 4).name, "pair[1,2]");
    probe_close(p);
}

/* Things of different kinds may share a name. */
static void kinds_have_their_own_names(void **state)
{
    (void)state;
    probe *p = probe_text("model x\n" XY "constraint x: y = t\noutput x = y\nevent x: y = 1 stop\n"
                          "symmetry x: x = 1\n");
    assert_string_equal(hm_model_name(p->model), "x");
    assert_string_equal(hm_model_constraint(p->model, 0).name, "x");
    probe_close(p);
}

/* ---- include ---- */

static void put_file(const char *folder, const char *name, const char *text)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void remove_files(const char *folder, size_t count, const char *const *names)
{
    char path[300];
    for (size_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        remove(path);
    }
    rmdir(folder);
}

/* Textual, relative to the including file, in subfolders too. */
static void includes(void **state)
{
    (void)state;
    const char *const base = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
    const char *const names[] = {"main.hamel", "parts/arm.hamel", "parts/common.hamel", "parts"};
    char folder[200], path[300];
    snprintf(folder, sizeof folder, "%s/hamel-include-XXXXXX", base);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/parts", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    put_file(folder, "main.hamel",
             "model arm\ncoord q\ninclude \"parts/arm.hamel\"\nforce q = k\n");
    put_file(folder, "parts/arm.hamel",
             "include \"common.hamel\"   # beside this file\n"
             "kinetic m/2*q'^2");
    put_file(folder, "parts/common.hamel", "param m = 3, k = 2*m");
    snprintf(path, sizeof path, "%s/main.hamel", folder);
    probe *p = probe_file(path, NULL, 0);
    remove_files(folder, sizeof names / sizeof *names, names);
    probe_at(p, "");
    check_number("M", p->M[0], 3, 0);
    check_number("Q", p->at.Q[0], 6, 0);
    probe_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lets_in_any_order),
        cmocka_unit_test(arguments_are_hygienic),
        cmocka_unit_test(functions_of_indices),
        cmocka_unit_test(locals_in_loops),
        cmocka_unit_test(lets_of_reactions),
        cmocka_unit_test(lets_that_go_wrong),
        cmocka_unit_test(families_from_any_lower_bound),
        cmocka_unit_test(family_as_a_vector),
        cmocka_unit_test(members_that_do_not_exist),
        cmocka_unit_test(words_inside_statements_are_names_elsewhere),
        cmocka_unit_test(names_of_functions_are_names_too),
        cmocka_unit_test(reserved_words),
        cmocka_unit_test(reserved_words_are_not_local_names_either),
        cmocka_unit_test(duplicates),
        cmocka_unit_test(signals_that_go_wrong),
        cmocka_unit_test(local_duplicates),
        cmocka_unit_test(unicode_names),
        cmocka_unit_test(unnamed_constraints_are_counted),
        cmocka_unit_test(indexed_names),
        cmocka_unit_test(kinds_have_their_own_names),
        cmocka_unit_test(includes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
