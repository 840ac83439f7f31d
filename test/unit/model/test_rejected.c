/* Texts that are not models: the first message, word by word, and where it points. Every line stands
 * after "coord x, y, z" and a kinetic energy. */
#include "support/check.h"
#include "support/probe.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *text;
    int line, column;
    const char *message;
} rejected[] = {
    {"param R = [[1, 2], [3, 4]]\noutput a = R[1, 5]", 4, 17,
     "index 5 is out of range: there are 2 components"},
    {"output a = x^zz", 3, 14, "unknown name 'zz'"},
    {"output a = 2^[1, 2]", 3, 14, "expected a number, not a vector of 2"},
    {"output a = [x, y]^2", 3, 12, "expected a number, not a vector of 2"},
    {"output a = if(x < [1, 2], 1, 2)", 3, 19, "expected a number, not a vector of 2"},
    {"output a = if(x > 0 and 3, 1, 2)", 3, 25, "expected a condition"},
    {"output a = if(3 or x > 0, 1, 2)", 3, 15, "expected a condition"},
    {"output a = if(not zz, 1, 2)", 3, 19, "unknown name 'zz'"},
    {"output a = [x > 0, x < 1]", 3, 13, "a comparison cannot be a component"},
    {"output a = [1, x > 0]", 3, 16,
     "components have different shapes: the first is a number, this one is a comparison"},
    {"output a = [[1, 2], [x > 0, 3]]", 3, 22, "a comparison cannot be a component"},
    {"output a = [[[1]]]", 3, 13, "a 1x1 matrix cannot be a component"},
    {"potential x > 0", 3, 11, "expected a number, not a comparison"},
    {"output a = sin(x > 0)", 3, 16, "sin needs a number here, not a comparison"},
    {"output a = sin([x, y])", 3, 16, "sin needs a number here, not a vector of 2"},
    {"output a = omega([[1, 0], [0, 1]])", 3, 18,
     "omega needs a 3x3 rotation matrix here, not a 2x2 matrix"},
    {"output a = omega([[1, 0], [0, 1], [1, 1]])", 3, 18,
     "omega needs a 3x3 rotation matrix here, not a 3x2 matrix"},
    {"output a = omega(x)", 3, 18, "omega needs a 3x3 rotation matrix here, not a number"},
    {"output a = omega_body([x, y])", 3, 23,
     "omega_body needs a 3x3 rotation matrix here, not a vector of 2"},
    {"output a = dot(x)", 3, 12, "dot takes two vectors, 1 argument is given"},
    {"output a = dot([1, 2], x)", 3, 24, "dot needs a vector here, not a number"},
    {"output a = dot([1, 2], [1, 2, 3])", 3, 24,
     "dot needs a vector of the same size here, not a vector of 3"},
    {"output a = cross([1, 2, 3], [1, 2])", 3, 29,
     "cross needs a vector of 3 here, not a vector of 2"},
    {"output a = norm(x)", 3, 17, "norm needs a vector here, not a number"},
    {"output a = skew([1, 2])", 3, 17, "skew needs a vector of 3 here, not a vector of 2"},
    {"output a = skew(1, 2, 3)", 3, 12, "skew takes one vector, 3 arguments are given"},
    {"output a = norm(1, 2)", 3, 12, "norm takes one vector, 2 arguments are given"},
    {"output a = if(x > 0, x > 1, 2)", 3, 29,
     "if needs the same shape as the other branch here, not a number"},
    {"output a = if(x > 0, 1, x > 2)", 3, 25,
     "if needs the same shape as the other branch here, not a comparison"},
    {"output a = if(x > 0, x > 1, y > 1)", 3, 29,
     "if needs the same shape as the other branch here, not a comparison"},
    {"output a = rotation([1, 0, 0], [1, 2])", 3, 32,
     "rotation needs an angle here, not a vector of 2"},
    {"output a = rotation([1, 0], 1)", 3, 21,
     "rotation needs a vector of 3 here, not a vector of 2"},
    {"output a = quat(1, 2, [3], 4)", 3, 23, "quat needs a number here, not a vector of 1"},
    {"constraint c: x = y\nnonideal x = multiplier(somethingelse)", 4, 25,
     "there is no constraint 'somethingelse'"},
    {"constraint c: x = y\nnonideal x = multiplier(cc)", 4, 25, "there is no constraint 'cc'"},
    {"constraint c: x = multiplier(c)", 3, 19,
     "multiplier(...) can be used in nonideal, force, event and output only"},
    {"constraint c: x = y\nnonideal x = multiplier(2*x)", 4, 25,
     "multiplier takes the name of a constraint"},
    {"param p = zz\noutput o = p(2)", 3, 11, "unknown name 'zz'"},
    {"output o = t(2)", 3, 12, "'t' is not a function"},
    {"output o = pi(2)", 3, 12, "'pi' is not a function"},
    {"output o = energy(2)", 3, 12, "'energy' is not a function"},
    {"coord q[1..3]\noutput o = q(1)", 4, 12, "'q' is not a function"},
    {"state w[1]' = x\noutput o = w(1)", 4, 12, "'w' is not a function"},
    {"let P = [x, y]\noutput o = P(1)", 4, 12, "'P' is not a function"},
    {"output o = x(1)", 3, 12, "'x' is not a function"},
    {"let f(a) = a\noutput o = f", 4, 12, "'f' is a function; call it with 1 argument"},
    {"let f(a, b) = a\noutput o = f(1)", 4, 12, "f takes 2 arguments, not 1"},
    {"let f(a) = a\noutput o = f(1, 2)", 4, 12, "f takes 1 argument, not 2"},
    {"mass zz, y = 1", 3, 6, "unknown name 'zz'"},
    {"mass x, zz = 1", 3, 9, "unknown name 'zz'"},
    {"gyroscopic x, zz = 1", 3, 15, "unknown name 'zz'"},
    {"gyroscopic x, x = 1", 3, 12, "a gyroscopic force couples two different coordinates"},
    {"force [x'', 1] at [x, y]", 3, 7, "accelerations cannot occur in a force"},
    {"force [1, 2] at zz", 3, 17, "unknown name 'zz'"},
    {"force [1, 2] at [x, y, z]", 3, 1,
     "a force and its point of application must be vectors of the same size, not a vector of 2 at "
     "a vector of 3"},
    {"force zz at [x, y]", 3, 7, "unknown name 'zz'"},
    {"torque 3 on rotz(x)", 3, 8, "a torque is a vector of 3, not a number"},
    {"torque [1, 2] on rotz(x)", 3, 8, "a torque is a vector of 3, not a vector of 2"},
    {"torque [0, 0, 1] on [[1, 0], [0, 1]]", 3, 21,
     "a torque acts on a rotation (a 3x3 matrix), not a 2x2 matrix"},
    {"torque [0, 0, 1] on x", 3, 21, "a torque acts on a rotation (a 3x3 matrix), not a number"},
    {"body b { mass 1 inertia 2 at [x, y] angle zz }", 3, 43, "unknown name 'zz'"},
    {"body b { mass 1 inertia 2 at [x, y] angle x'' }", 3, 43,
     "the derivative of x'' is of third order; accelerations are the highest derivatives"},
    {"body b { mass 1 inertia [1, 2] at [x, y, z] frame rotz(x) }", 3, 25,
     "the inertia of a body in space is a 3x3 matrix, not a vector of 2"},
    {"body b { mass 1 inertia [[1, 2], [3, 4]] at [x, y, z] frame rotz(x) }", 3, 25,
     "the inertia of a body in space is a 3x3 matrix, not a 2x2 matrix"},
    {"body b { mass 1 inertia diag(1, 2, 3) at [x, y, z] frame [[1, 0], [0, 1]] }", 3, 58,
     "a frame is a rotation (a 3x3 matrix), not a 2x2 matrix"},
    {"body b { mass 1 at [[x, y], [y, x]] }", 3, 20,
     "the position of a body is a vector of 2 or 3 components, not a 2x2 matrix"},
    {"gravity zz", 3, 9, "unknown name 'zz'"},
    {"gravity [[0, 1], [1, 0]]", 3, 9,
     "gravity is a vector of 2 or 3 components, not a 2x2 matrix"},
    {"gravity [1, 2, 3, 4]", 3, 9, "gravity is a vector of 2 or 3 components, not a vector of 4"},
    {"simulate 0 .. 1 drift baumgarte(zz, 1)", 3, 33, "unknown name 'zz'"},
    {"simulate 0 .. 1 drift baumgarte(1)", 3, 23, "write drift baumgarte(a, b)"},
    {"simulate 0 .. 1 drift project(1)", 3, 23, "write drift project"},
    {"simulate 0 .. 1 drift baumgarte", 3, 23, "write drift baumgarte(a, b)"},
    {"simulate 0 .. 1 rtol zz", 3, 22, "unknown name 'zz'"},
    {"simulate zz .. 1", 3, 10, "unknown name 'zz'"},
    {"simulate 0 .. zz", 3, 15, "unknown name 'zz'"},
    {"simulate 0 .. 1 every x", 3, 23,
     "this value must be an expression of parameters and indices"},
    {"output o = diff(x)", 3, 12, "unknown name 'diff'"},
    {"output o = der(x)", 3, 12, "unknown name 'der'"},
    {"output o = ddt(x)", 3, 12, "unknown name 'ddt'"},
    {"output o = dx", 3, 12, "unknown name 'dx'"},
    {"output o = x_dot", 3, 12, "unknown name 'x_dot'"},
    {"output o = xdot", 3, 12, "unknown name 'xdot'"},
    {"output o = xd", 3, 12, "unknown name 'xd'"},
    {"output o = X", 3, 12, "unknown name 'X'"},
    {"param p[1] = 2", 3, 10, "expected '..' after the lower index, found ']'"},
    {"state w = 1", 3, 7, "a state is declared with its derivative"},
    {"input u' = 1", 3, 7, "an input is declared with a name"},
    {"input u", 3, 8, "expected '=' after the name, found the end of the line"},
    {"initial zz = 1", 3, 9, "unknown name 'zz'"},
    {"initial x'' = 1", 3, 9, "expected a coordinate, its velocity or a state on the left of '='"},
    {"initial x = zz", 3, 13, "unknown name 'zz'"},
    {"event e: zz = 0 stop", 3, 10, "unknown name 'zz'"},
    {"event e: x = zz stop", 3, 14, "unknown name 'zz'"},
    {"event e: x = 0 set zz = 1", 3, 20, "unknown name 'zz'"},
    {"event e: x = 0 set x = zz", 3, 24, "unknown name 'zz'"},
    {"symmetry s: zz = 1", 3, 13, "unknown name 'zz'"},
    {"symmetry s: x = zz", 3, 17, "unknown name 'zz'"},
    {"symmetry s: x = 1, x = 2", 3, 20, "this is given twice"},
    {"servo s: x = 1 by zz with gain 1", 3, 19, "unknown name 'zz'"},
    {"servo s: x = 1 with gain zz", 3, 26, "unknown name 'zz'"},
    {"servo s: x = 1 with gain 1 law lyapunov", 3, 1,
     "'law lyapunov' is for constraints of velocity level; 's' is of position level"},
    {"constraint c[zz]: x = 0", 3, 14, "unknown name 'zz'"},
    {"constraint c: [x, y] = [1, 2, 3]", 3, 15,
     "the two sides of the equation have different shapes: a vector of 2 and a vector of 3"},
    {"constraint c: x > 0", 3, 15, "'>' is not a relation of a constraint"},
    {"output o = sum(i = 1..zz, x)", 3, 23, "unknown name 'zz'"},
    {"output o = sum(i = 1..2.5, x)", 3, 23, "a bound must be a whole number, not 2.5"},
    {"output o = [x, y] + 1", 3, 12, "cannot add a vector of 2 and a number"},
    {"output o = [x, y]*[x, y]", 3, 12, "cannot multiply a vector of 2 and a vector of 2"},
    {"output o = 1/[x, y]", 3, 12, "cannot divide a number by a vector of 2"},
    {"output o = [x, y]/[x, y]", 3, 12, "cannot divide a vector of 2 by a vector of 2"},
    {"output o = (x > 0) + 1", 3, 12, "a comparison is not a number"},
    {"output o = x - (y > 0)", 3, 12, "a comparison is not a number"},
    {"output o = [x, y][3]", 3, 19, "index 3 is out of range: there are 2 components"},
    {"output o = x[1]", 3, 12, "a number cannot be indexed"},
    {"output o = zz'", 3, 12, "unknown name 'zz'"},
    {"output o = x'''", 3, 12,
     "the derivative of x'' is of third order; accelerations are the highest derivatives"},
    {"output o = identity(x)", 3, 21, "the size must be an expression of parameters and indices"},
    {"output o = diag(x > 0)", 3, 17, "diag needs a number here, not a comparison"},
    {"let g = g + x\noutput o = g", 3, 9, "'g' is defined in terms of itself"},
    {"let a = b\nlet b = a\noutput o = a", 4, 9, "'a' is defined in terms of itself: a -> b -> a"},
    {"input u = sin(t)\noutput o = u'''", 4, 12, "an input can be differentiated at most twice"},
    {"constraint c: x = 0\noutput o = reaction(x)'", 4, 12,
     "constraint forces and energy cannot be differentiated"},
    {"constraint c: x = 0\noutput o = total_reaction(x)'", 4, 12,
     "constraint forces and energy cannot be differentiated"},
    {"constraint c: x = 0\noutput o = multiplier(c)'", 4, 12,
     "constraint forces and energy cannot be differentiated"},
    {"constraint c: x = 0\noutput o = total_multiplier(c)'", 4, 12,
     "constraint forces and energy cannot be differentiated"},
    {"output o = energy'", 3, 12, "constraint forces and energy cannot be differentiated"},
    {"constraint c: x = 0\noutput o = (2*reaction(x))'", 4, 12,
     "constraint forces and energy cannot be differentiated"},
    {"initial t = 1", 3, 9, "expected a coordinate, its velocity or a state on the left of '='"},
    {"initial x = 1, x = 2", 3, 16, "the initial value of 'x' is given twice"},
    {"event e: x = 0 set t = 1", 3, 20,
     "expected a coordinate, its velocity or a state on the left of '='"},
    {"event e: x = 0 set x = 1, x = 2", 3, 27, "this is given twice"},
    {"event e: x = 0 set x'' = 2", 3, 20,
     "expected a coordinate, its velocity or a state on the left of '='"},
    {"state w' = v\nstate v' = w''\noutput o = w''", 4, 12,
     "the derivative of state 'v' is not known yet"},
};

static void rejects_with_its_reason(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof rejected / sizeof *rejected; k++) {
        char text[500];
        hm_context *context = hm_context_create(NULL);
        hm_model *model = NULL;
        snprintf(text, sizeof text, "coord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\n%s\n",
                 rejected[k].text);
        assert_int_equal(hm_model_parse(context, text, strlen(text), NULL, &model), HM_ERR_INPUT);
        assert_null(model);
        const hm_diagnostic *first = hm_context_diagnostic(context, 0);
        if (first->line != rejected[k].line || first->column != rejected[k].column ||
            strcmp(first->message, rejected[k].message) != 0)
            fail_msg("'%s': %d:%d: %s", rejected[k].text, first->line, first->column,
                     first->message);
        hm_context_destroy(context);
    }
}

/* ---- close to the edge, and still models ---- */

/* A label longer than most: the longest name, and indices as long. */
static void long_names(void **state)
{
    (void)state;
    char label[500], text[2000];
    memset(label, 'n', 200);
    strcpy(label + 200, "[100000000, 200000000, 300000000, 400000000, 500000000, 600000000]");
    snprintf(text, sizeof text,
             "coord x, y\nkinetic (x'^2 + y'^2)/2\nforce x = 3, y = 4\n"
             "constraint c: x = 0\nconstraint %s: y = 0\noutput o = multiplier(%s)\n",
             label, label);
    probe *p = probe_text(text);
    probe_evaluate(p);
    check_number("multiplier", probe_output(p, "o"), -4, 1e-14);
    probe_close(p);
    snprintf(text, sizeof text,
             "coord x\nkinetic x'^2/2\nconstraint %s: x = 0\nconstraint %s: x = 1\n", label, label);
    check_rejected(text, HM_ERR_INPUT, "there is already a constraint called");
}

/* A frame by a quaternion that is no coordinate gets no constraint; one of coordinates gets one, or
 * keeps that of the model. */
static void quaternions_and_their_length(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t constraints;
    } cases[] = {
        {"coord a, x, y, z\nkinetic 0*a'^2\n"
         "body b { mass 2 inertia diag(1, 2, 3) at [x, y, z]\n"
         "frame quat(cos(a/2), sin(a/2), 0, 0) }\n",
         0},
        {"coord e[0..3], x, y, z\n"
         "body b { mass 2 inertia diag(1, 2, 3) at [x, y, z]\n"
         "frame quat(e[0], e[1], e[2], e[3]) }\ninitial e[1] = 1\n",
         1},
        {"coord e[0..3], x, y, z\nconstraint c: x = 0\n"
         "constraint unit: e[0]^2 + e[1]^2 + e[2]^2 + e[3]^2 = 1\n"
         "body b { mass 2 inertia diag(1, 2, 3) at [x, y, z]\n"
         "frame quat(e[0], e[1], e[2], e[3]) }\ninitial e[1] = 1\n",
         2},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        probe *p = probe_text(cases[k].text);
        assert_int_equal(hm_model_constraint_count(p->model), cases[k].constraints);
        probe_close(p);
    }
    /* about the first axis: J1 a'^2/2 */
    probe *p = probe_text(cases[0].text);
    probe_at(p, "a = 0.3, a' = 2");
    check_number("M", probe_M(p, "a", "a"), 1, 1e-14);
    check_number("T", p->at.kinetic, 2, 1e-14);
    probe_close(p);
}

static void gravity_without_bodies(void **state)
{
    (void)state;
    probe *p = probe_text("coord x\nkinetic x'^2/2\ngravity [0, -9.81]\n");
    assert_int_equal(hm_context_diagnostic_count(p->context), 1);
    assert_int_equal(hm_context_diagnostic(p->context, 0)->severity, HM_SEVERITY_WARNING);
    assert_string_equal(hm_context_diagnostic(p->context, 0)->message,
                        "gravity acts on bodies, but this model has none");
    probe_close(p);
}

/* What is the same for every shape: conditions of vectors and matrices, transposes of numbers. */
static void shapes(void **state)
{
    (void)state;
    static const char model[] = "coord x, y\nkinetic (x'^2 + y'^2)/2\n";
    const double chosen[] = {3, 4}, square[] = {1, 3, 2, 4};
    check_values(model, "if(x > 0, [1, 2], [3, 4])", "x = -1", 2, chosen);
    check_values(model, "transpose(if(x > 0, [[1, 2], [3, 4]], identity(2)))", "x = 1", 4, square);
    check_value(model, "transpose(x)", "x = 7", 7);
    check_value(model, "transpose([3, 4])*[x, y]", "x = 1, y = 2", 11);
}

/* More different calls of a function than are remembered: the answers are those of the function. */
static void forgets_what_it_knew(void **state)
{
    (void)state;
    static const char model[] =
        "coord x\nkinetic x'^2/2\nlet f(a, b) = a*b + x\n"
        "let s = sum(i = 1..550, sum(k = 1..550, f(i, k))) + f(2, 3) + f(550, 550)\n";
    double n = 550, total = n * (n + 1) / 2;
    check_value(model, "s", "x = 0.5", total * total + n * n * 0.5 + 6 + n * n + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rejects_with_its_reason),
        cmocka_unit_test(long_names),
        cmocka_unit_test(quaternions_and_their_length),
        cmocka_unit_test(gravity_without_bodies),
        cmocka_unit_test(shapes),
        cmocka_unit_test(forgets_what_it_knew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
