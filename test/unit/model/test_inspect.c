/* The public questions about a model, parameters and overrides, states as text, initial values. */
#include "support/check.h"
#include "support/probe.h"

#include <math.h>
#include <string.h>

static const char text[] =
    "model arm \"An arm, with a motor\"\n"
    "param N = 2, l = 0.5, a = [1, 2*l, 3], R = [[1, 2], [3, a[3]*l]], k = 2*l\n"
    "coord q[1..N], x\n"
    "kinetic x'^2 + sum(i = 1..N, q[i]'^2)\n"
    "input u = k*t, w = 0\n"
    "state z' = -z + u\n"
    "constraint fix: x = a[2]*sin(t)\n"
    "constraint tie: q[1]'^2 = x'\n"
    "constraint q[2]'' = w\n"
    "servo hold: q[2] = 0 by q[2] with gain 3\n"
    "output e = [x, q[1]]\noutput h = k\n";

/* ---- questions ---- */

typedef const char *(*name_function)(const hm_model *model, size_t index);

static void check_names(const probe *p, name_function name, size_t count, size_t expected_count,
                        const char *const *expected)
{
    assert_int_equal(count, expected_count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(name(p->model, i), expected[i]);
    assert_null(name(p->model, count));
}
#define CHECK_NAMES(p, what, ...)                                                                  \
    check_names(p, hm_model_##what##_name, hm_model_##what##_count((p)->model),                    \
                sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *),                            \
                (const char *[]){__VA_ARGS__})

static void names_of_everything(void **state)
{
    (void)state;
    probe *p = probe_text(text);
    assert_string_equal(hm_model_name(p->model), "arm");
    assert_string_equal(hm_model_title(p->model), "An arm, with a motor");
    CHECK_NAMES(p, coordinate, "q[1]", "q[2]", "x");
    CHECK_NAMES(p, param, "N", "l", "a[1]", "a[2]", "a[3]", "R[1,1]", "R[1,2]", "R[2,1]", "R[2,2]",
                "k");
    CHECK_NAMES(p, input, "u", "w");
    CHECK_NAMES(p, state, "z");
    CHECK_NAMES(p, output, "e[1]", "e[2]", "h");
    probe_close(p);
    p = probe_text("coord x\nkinetic x'^2\n");
    assert_string_equal(hm_model_name(p->model), "model");
    assert_null(hm_model_title(p->model));
    probe_close(p);
}

static void values_of_parameters(void **state)
{
    (void)state;
    const double values[10] = {2, 0.5, 1, 1, 3, 1, 2, 3, 1.5, 1};
    probe *p = probe_text(text);
    for (size_t i = 0; i < 10; i++) {
        check_number("value", hm_model_param_value(p->model, i), values[i], 0);
        check_number("in the sim", hm_sim_param(p->sim, i), values[i], 0);
        assert_int_equal(hm_model_param_structural(p->model, i), i == 0);
    }
    assert_true(isnan(hm_model_param_value(p->model, 10)));
    assert_true(isnan(hm_sim_param(p->sim, 10)));
    assert_false(hm_model_param_structural(p->model, 10));
    probe_close(p);
}

static void kinds_of_constraints(void **state)
{
    (void)state;
    probe *p = probe_text(text);
    const hm_constraint_info expected[] = {
        {.name = "fix", .level = HM_LEVEL_POSITION, .linear = true, .rheonomic = true},
        {.name = "tie", .level = HM_LEVEL_VELOCITY},
        {.name = "c1", .level = HM_LEVEL_ACCELERATION, .linear = true, .rheonomic = true},
    };
    assert_int_equal(hm_model_constraint_count(p->model), 3);
    for (size_t i = 0; i < 3; i++) {
        hm_constraint_info info = hm_model_constraint(p->model, i);
        assert_string_equal(info.name, expected[i].name);
        assert_int_equal(info.level, expected[i].level);
        assert_int_equal(info.linear, expected[i].linear);
        assert_int_equal(info.rheonomic, expected[i].rheonomic);
        assert_int_equal(info.servo, expected[i].servo);
        assert_false(info.one_sided || info.switched);
    }
    assert_int_equal(hm_model_servo_count(p->model), 1);
    assert_string_equal(hm_model_servo(p->model, 0).name, "hold");
    assert_true(hm_model_servo(p->model, 0).servo);
    assert_null(hm_model_constraint(p->model, 3).name);
    assert_null(hm_model_servo(p->model, 1).name);
    assert_string_equal(hm_level_text(HM_LEVEL_POSITION), "position");
    assert_string_equal(hm_level_text(HM_LEVEL_VELOCITY), "velocity");
    assert_string_equal(hm_level_text(HM_LEVEL_ACCELERATION), "acceleration");
    assert_ptr_equal(hm_system_model(p->system), p->model);
    probe_close(p);
}

static void sizes(void **state)
{
    (void)state;
    probe *p = probe_text("coord q[1..4]\nkinetic dot(q', q')/2 + q[1]'*q[4]'\n"
                          "constraint a: q[1]*q[2] = 1\nconstraint b: q[3]' = t\n"
                          "servo s: q[4] = 0 with gain 1\n");
    hm_system_statistics s = hm_system_get_statistics(p->system);
    assert_int_equal(s.coordinates, 4);
    assert_int_equal(s.constraints, 2);
    assert_int_equal(s.servo_rows, 1);
    assert_int_equal(s.mass_entries, 5);
    assert_int_equal(s.constraint_entries, 3);
    assert_true(s.graph_nodes > 0 && s.tape_nodes > 0 && s.work_doubles > 0);
    probe_evaluate(p);
    assert_int_equal(p->at.M.row_start[4], 5);
    assert_true(p->at.M.lower);
    assert_false(p->at.A.lower);
    probe_close(p);
}

/* Text in memory has a length and need not end with NUL. */
static void text_has_a_length(void **state)
{
    (void)state;
    static const char longer[] = "coord x; kinetic x'^2; nonsense";
    hm_context *context = hm_context_create(NULL);
    hm_model *model = NULL;
    assert_int_equal(hm_model_parse(context, longer, sizeof "coord x; kinetic x'^2", NULL, &model),
                     HM_OK);
    assert_int_equal(hm_model_coordinate_count(model), 1);
    hm_model_destroy(model);
    hm_context_destroy(context);
}

/* ---- parameters ---- */

#define SPRING                                                                                     \
    "param m = 2, k = [1, 10], c = 3*k[2], s = c + m\n"                                            \
    "coord x, y\nkinetic m/2*x'^2 + s/2*y'^2\nforce x = k[1], y = c\n"

static void check_spring(const probe *p, double Mx, double My, double Qx, double Qy)
{
    const double M[4] = {Mx, 0, 0, My}, Q[2] = {Qx, Qy};
    check_close("M", 4, p->M, M, 0);
    check_close("Q", 2, p->at.Q, Q, 0);
}

/* Dependent parameters follow, unless they were set themselves. */
static void parameters_of_a_sim(void **state)
{
    (void)state;
    probe *p = probe_text(SPRING);
    probe_evaluate(p);
    check_spring(p, 2, 32, 1, 30);
    probe_set(p, "k[2]", 1);
    probe_evaluate(p);
    check_spring(p, 2, 5, 1, 3);
    probe_set(p, "c", 7);
    probe_set(p, "k[1]", 4);
    probe_evaluate(p);
    check_spring(p, 2, 9, 4, 7);
    probe_set(p, "k[2]", 100);
    probe_set(p, "m", 1);
    probe_evaluate(p);
    check_spring(p, 1, 8, 4, 7);
    check_number("the model keeps its own", hm_model_param_value(p->model, 0), 2, 0);
    assert_int_equal(hm_sim_set_param(p->sim, "k", 1), HM_ERR_USAGE);
    assert_int_equal(hm_sim_set_param(p->sim, "nothing", 1), HM_ERR_USAGE);
    probe_close(p);
}

static void sims_are_independent(void **state)
{
    (void)state;
    probe *p = probe_text(SPRING);
    hm_sim *other;
    hm_evaluation at;
    assert_int_equal(hm_sim_create(p->system, &other), HM_OK);
    probe_set(p, "m", 5);
    probe_evaluate(p);
    assert_int_equal(hm_sim_evaluate(other, NULL, &at), HM_OK);
    check_number("set", p->M[0], 5, 0);
    check_number("not set", at.M.value[0], 2, 0);
    hm_sim_destroy(other);
    probe_close(p);
}

static void overrides(void **state)
{
    (void)state;
    const hm_override one[] = {{"m", "8"}}, component[] = {{"k[2]", "0.5*m"}};
    const hm_override whole[] = {{"k", "[m, 2*m]"}}, dependent[] = {{"c", "1"}, {"m", "3"}};
    const hm_override last_wins[] = {{"m", "8"}, {"m", "9"}};
    const struct {
        const hm_override *overrides;
        size_t count;
        double Mx, My, Qx, Qy;
    } cases[] = {
        {one, 1, 8, 38, 1, 30},     {component, 1, 2, 5, 1, 3},   {whole, 1, 2, 14, 2, 12},
        {dependent, 2, 3, 4, 1, 1}, {last_wins, 2, 9, 39, 1, 30},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        probe *p = probe_text_with(SPRING, cases[i].overrides, cases[i].count);
        probe_evaluate(p);
        check_spring(p, cases[i].Mx, cases[i].My, cases[i].Qx, cases[i].Qy);
        probe_close(p);
    }
}

/* An overridden parameter no longer follows what its formula uses. */
static void override_stays_when_a_sim_changes(void **state)
{
    (void)state;
    const hm_override c = {"c", "11"};
    probe *p = probe_text_with(SPRING, &c, 1);
    probe_set(p, "k[2]", 1);
    probe_evaluate(p);
    check_spring(p, 2, 13, 1, 11);
    probe_close(p);
}

static void sizes_are_set_by_overrides_only(void **state)
{
    (void)state;
    static const char chain[] = "param N = 2, last = N + 1, m = 1\ncoord q[0..last]\n"
                                "for i = 0..last { kinetic m*q[i]'^2/2 }\n";
    const hm_override size = {"N", "5"};
    probe *p = probe_text(chain);
    assert_int_equal(p->n, 4);
    assert_int_equal(hm_sim_set_param(p->sim, "N", 5), HM_ERR_USAGE);
    assert_int_equal(hm_sim_set_param(p->sim, "last", 5), HM_ERR_USAGE);
    assert_int_equal(hm_sim_set_param(p->sim, "m", 5), HM_OK);
    probe_close(p);
    p = probe_text_with(chain, &size, 1);
    assert_int_equal(p->n, 7);
    probe_close(p);
}

static void check_override_rejected(const char *name, const char *value, const char *fragment)
{
    hm_context *context = hm_context_create(NULL);
    hm_model *model = NULL;
    hm_model_options options = hm_model_options_default();
    const hm_override wrong = {name, value};
    options.overrides = &wrong;
    options.override_count = 1;
    hm_status status = hm_model_parse(context, SPRING, strlen(SPRING), &options, &model);
    assert_int_equal(status, HM_ERR_INPUT);
    assert_null(model);
    const hm_diagnostic *first = hm_context_diagnostic(context, 0);
    if (!strstr(first->message, fragment) && !(first->hint && strstr(first->hint, fragment)))
        fail_msg("--set %s=%s: '%s' does not mention '%s'", name, value, first->message, fragment);
    hm_context_destroy(context);
}

static void overrides_that_go_wrong(void **state)
{
    (void)state;
    check_override_rejected("mm", "1", "did you mean 'm'");
    check_override_rejected("k[3]", "1", "k[3]");
    check_override_rejected("x", "1", "no such parameter");
    check_override_rejected("m", "1 +", "expression");
    check_override_rejected("m", "s", "s"); /* declared later */
    check_override_rejected("m", "x", "x");
    check_override_rejected("m", "[1, 2]", "a number");
    check_override_rejected("k", "1", "a vector of 2");
    check_override_rejected("k[1]", "[1, 2]", "");
    check_override_rejected("m", "1/0", "finite");
    check_override_rejected("m", "2 3", "operator");
    check_override_rejected("m", "", "");
}

/* ---- states as text ---- */

static void read_state(void **state)
{
    (void)state;
    probe *p = probe_text(text);
    double t = 9, q[3] = {1, 2, 3}, v[3] = {4, 5, 6}, z = 7, u[2] = {8, 8};
    bool u_set[2] = {false, false};
    const double q1[3] = {0.5, 2, -1}, v1[3] = {4, 1.5, 6};
    hm_status status = hm_model_read_state(p->context, p->model,
                                           "q[1] = l, x=-a[1],\n q[1+1]' = R[2,2], z = 2*pi, "
                                           "w = sum(i = 1..N, i) ",
                                           &t, q, v, &z, u, u_set);
    assert_int_equal(status, HM_OK);
    check_close("q", 3, q, q1, 0);
    check_close("v", 3, v, v1, 0);
    check_number("t", t, 9, 0);
    check_number("z", z, 2 * acos(-1), 0);
    check_number("w", u[1], 3, 0);
    assert_true(u_set[1] && !u_set[0]);
    assert_int_equal(hm_model_read_state(p->context, p->model, "t = 0.25", &t, q, v, &z, u, u_set),
                     HM_OK);
    check_number("t", t, 0.25, 0);
    assert_int_equal(hm_model_read_state(p->context, p->model, "", &t, q, v, &z, u, u_set), HM_OK);
    check_close("q", 3, q, q1, 0);
    probe_close(p);
}

static void states_that_go_wrong(void **state)
{
    (void)state;
    const char *const wrong[] = {"y = 1",      "x",         "x = ",   "x'' = 1", "k = 1",
                                 "q[3] = 1",   "x = y",     "x = x'", "x == 1",  "x = 1 q[1] = 2",
                                 "x = [1, 2]", "x + 1 = 2", "z' = 1", "u' = 1",  "h = 1",
                                 "x = 1/0",    "q = 1"};
    probe *p = probe_text(text);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        double t = 0, q[3] = {0}, v[3] = {0}, z = 0, u[2] = {0};
        bool u_set[2] = {0};
        hm_context_clear(p->context);
        hm_status status = hm_model_read_state(p->context, p->model, wrong[i], &t, q, v, &z, u,
                                               u_set);
        if (status != HM_ERR_INPUT || hm_context_error_count(p->context) == 0)
            fail_msg("'%s' gave %s and %zu errors", wrong[i], hm_status_text(status),
                     hm_context_error_count(p->context));
    }
    probe_close(p);
}

/* ---- initial ---- */

static void initial_state(void **state)
{
    (void)state;
    probe *p = probe_text("param N = 3, l = 2\ncoord q[1..N], x\nstate z' = 1\n"
                          "kinetic x'^2 + dot(q', q')\n"
                          "initial x = l^2, x' ~ -l\n"
                          "for i = 1..N { initial q[i] = i*l, q[i]' ~ 1/i }\n"
                          "initial z ~ 5\nsimulate 2 .. 3 every 0.1\n");
    double q[4], v[4], z;
    const double q0[4] = {2, 4, 6, 4}, v0[4] = {1, 1.0 / 2, 1.0 / 3, -2};
    hm_model_initial(p->model, q, v, &z);
    check_close("q", 4, q, q0, 0);
    check_close("v", 4, v, v0, 0);
    check_number("z", z, 5, 0);
    hm_model_initial(p->model, NULL, NULL, NULL);
    probe_evaluate(p);
    check_close("a new sim starts there", 4, p->at.q, q0, 0);
    check_close("a new sim starts there", 4, p->at.v, v0, 0);
    check_number("at the start of the run", p->at.t, 2, 0);
    probe_close(p);
}

static void initial_values_that_go_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *text, *fragment;
    } wrong[] = {
        {"coord x\nkinetic x'^2\ninitial x = 1, x = 2\n", "twice"},
        {"coord x\nkinetic x'^2\ninitial x = 1\ninitial x ~ 2\n", "twice"},
        {"coord x\nkinetic x'^2\ninitial x' = 1\ninitial keep x' = 2\n", "twice"},
        {"coord q[1..2]\nkinetic dot(q', q')\nfor i = 1..2 { initial q[1] = i }\n", "twice"},
        {"coord x, y\nkinetic x'^2 + y'^2\ninitial x = y\n", "parameters"},
        {"coord x\nkinetic x'^2\ninitial x = t\n", "parameters"},
        {"coord x\nkinetic x'^2\ninitial x'' = 1\n", "expected a coordinate"},
        {"param m = 1\ncoord x\nkinetic x'^2\ninitial m = 2\n", "expected a coordinate"},
        {"coord x\nkinetic x'^2\ninitial x = 1/0\n", "finite"},
        {"coord x\nkinetic x'^2\ninput u = 1\ninitial u = 2\n", "expected a coordinate"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        check_rejected(wrong[i].text, HM_ERR_INPUT, wrong[i].fragment);
}

/* ---- evaluation that cannot be ---- */

static void numbers_that_are_not_finite(void **state)
{
    (void)state;
    probe *p = probe_text("coord x\nkinetic x'^2/2\nforce x = 1/x\n");
    hm_evaluation at;
    double q = 0, v = 0;
    hm_sim_set_state(p->sim, 0, &q, &v, NULL);
    assert_int_equal(hm_sim_evaluate(p->sim, NULL, &at), HM_ERR_NUMERIC);
    assert_true(hm_context_error_count(hm_sim_context(p->sim)) > 0);
    q = 4;
    probe_state(p, 0, &q, &v);
    check_number("Q", p->at.Q[0], 0.25, 0);
    probe_close(p);
}

static void fast_evaluation_gives_the_same(void **state)
{
    (void)state;
    probe *p = probe_text("coord x, y\nkinetic (1 + x^2)*x'^2/2 + y'^2/2\nforce y = sin(x)\n"
                          "constraint c: x'*y = y'\n");
    probe_at(p, "x = 1, y = 2, x' = 3, y' = 4");
    const double *Q = p->at.Q, *b = p->at.b, *M = p->at.M.value;
    double before[4] = {M[0], Q[0], Q[1], b[0]};
    hm_sim_evaluate_fast(p->sim);
    probe_evaluate(p);
    const double after[4] = {p->at.M.value[0], p->at.Q[0], p->at.Q[1], p->at.b[0]};
    check_close("again", 4, after, before, 0);
    probe_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_everything),
        cmocka_unit_test(values_of_parameters),
        cmocka_unit_test(kinds_of_constraints),
        cmocka_unit_test(sizes),
        cmocka_unit_test(text_has_a_length),
        cmocka_unit_test(parameters_of_a_sim),
        cmocka_unit_test(sims_are_independent),
        cmocka_unit_test(overrides),
        cmocka_unit_test(override_stays_when_a_sim_changes),
        cmocka_unit_test(sizes_are_set_by_overrides_only),
        cmocka_unit_test(overrides_that_go_wrong),
        cmocka_unit_test(read_state),
        cmocka_unit_test(states_that_go_wrong),
        cmocka_unit_test(initial_state),
        cmocka_unit_test(initial_values_that_go_wrong),
        cmocka_unit_test(numbers_that_are_not_finite),
        cmocka_unit_test(fast_evaluation_gives_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
