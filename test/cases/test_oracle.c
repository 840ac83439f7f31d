/* Every case of test/data/cases.json, written as a model in test/cases/oracle/<id>.hamel: M, Q, A,
 * b, C, the solution, residuals and powers at every state, and a = M^-1 Q, e = b - A a computed
 * here from M, Q, A, b, with an error in the max norm of at most 1e-12 max(1, |expected|).
 *
 * One test a case. A model may rename what the case names: "# map: x1 = q[1], y1 = q[2]".
 */
#include "support/cases.h"
#include "support/check.h"
#include "support/probe.h"
#include "support/solve.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_CASES = 100, MOST_NAME = 64, MOST_N = 16 };
static const double tolerance = 1e-12;

static double worst_error;
static size_t numbers_compared, states_compared;

/* ---- one state ---- */

/* Where a comparison stands, for messages. */
typedef struct place {
    const char *id;
    size_t point;
    const json_t *expected;
} place;

static void compare_with(const place *here, const char *key, size_t n, const double *actual,
                         const double *expected)
{
    char what[200];
    snprintf(what, sizeof what, "%s, point %zu: %s", here->id, here->point, key);
    worst_error = fmax(worst_error, check_close(what, n, actual, expected, tolerance));
    numbers_compared += n;
}

/* Compares with the oracle's value of this name, where it has one. */
static bool compare(const place *here, const char *key, size_t n, const double *actual)
{
    case_numbers expected;
    if (!case_read(here->expected, key, &expected))
        return false;
    if (expected.count != n)
        fail_msg("%s: %s has %zu numbers, the model gives %zu", here->id, key, expected.count, n);
    compare_with(here, key, n, actual, expected.x);
    return true;
}

static void compare_number(const place *here, const char *key, double actual)
{
    compare(here, key, 1, &actual);
}

/* a = M^-1 Q and e = b - A a, where the oracle says that M is not singular. */
static void compare_free_motion(const place *here, const probe *p)
{
    double a[MOST_N], e[MOST_N];
    if (!json_object_get(here->expected, "a"))
        return;
    assert_true(solve_dense(p->n, p->M, p->at.Q, a));
    subtract_product(p->m, p->n, p->at.b, p->A, a, e);
    assert_true(compare(here, "a", p->n, a));
    compare(here, "e", p->m, e);
}

/* What the engine itself solves for; M is singular where it gives no a. */
static void compare_solution(const place *here, const probe *p)
{
    assert_true(p->status == HM_OK && p->at.solved);
    assert_true(!p->at.a == !json_object_get(here->expected, "a"));
    if (p->at.a) {
        compare(here, "a", p->n, p->at.a);
        compare(here, "e", p->m, p->at.e);
    }
    assert_true(compare(here, "qdd", p->n, p->at.qdd));
    compare(here, "Qi", p->n, p->at.Qi);
    compare(here, "Qni", p->n, p->at.Qni);
    compare(here, "Qc", p->n, p->at.Qc);
    compare(here, "C", p->n, p->at.C);
    compare(here, "lambda", p->m, p->at.lambda);
    compare_number(here, "rank_M_AT", p->at.rank_MA);
    compare_number(here, "rank_A", p->at.rank_A);
    compare_number(here, "gram_rank", p->at.rank_A);
}

/* [phi, phi'] for each constraint on the position, psi for each on the velocity. */
static void compare_residuals(const place *here, const probe *p)
{
    double residual[2 * MOST_N];
    size_t count = 0;
    for (size_t i = 0; i < p->m; i++) {
        if (hm_model_constraint(p->model, i).level == HM_LEVEL_POSITION)
            residual[count++] = p->at.position_residual[i];
        residual[count++] = p->at.velocity_residual[i];
    }
    compare(here, "constraint_residual", count, residual);
    compare(here, "beta", p->m, p->at.velocity_residual);
}

static void compare_energy(const place *here, const probe *p)
{
    double constraint = p->at.power.ideal + p->at.power.nonideal;
    compare_number(here, "f_power", p->at.power.impressed);
    compare_number(here, "minus_D", p->at.power.dissipation);
    compare_number(here, "gyro", p->at.power.gyroscopic);
    compare_number(here, "minus_dL_dt", p->at.power.explicit_time);
    compare_number(here, "constraint_power", constraint);
    compare_number(here, "power_constraint", constraint);
    compare_number(here, "power_Qc_actual_velocity", constraint);
    compare_number(here, "dE_dt",
                   p->at.power.impressed + p->at.power.dissipation + p->at.power.gyroscopic +
                       p->at.power.explicit_time + constraint);
    compare_number(here, "P_xi", p->at.momentum[p->n - 1]);
}

static void compare_equations(const place *here, const probe *p)
{
    assert_true(compare(here, "M", p->n * p->n, p->M));
    assert_true(compare(here, "Q", p->n, p->at.Q));
    bool constrained = compare(here, "A", p->m * p->n, p->A) && compare(here, "b", p->m, p->at.b);
    assert_true(constrained || p->m == 0);
    states_compared++;
}

/* ---- names ---- */

static void read_text(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("there is no %s", path);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
}

/* The model's name for what the case calls `name`. */
static const char *mapped(const char *text, const char *name, char buffer[MOST_NAME])
{
    char from[MOST_NAME];
    int used;
    for (const char *line = strstr(text, "# map:"); line; line = strstr(line, "# map:")) {
        line += strlen("# map:");
        while (sscanf(line, " %63[^ =,\n] = %63[^ ,\n]%n", from, buffer, &used) == 2) {
            if (strcmp(from, name) == 0)
                return buffer;
            line += used + strspn(line + used, ",");
        }
    }
    return name;
}

/* ---- cases with coordinates ---- */

static const json_t *name_at(const json_t *one, const char *list, size_t i)
{
    const json_t *model = json_object_get(one, "model");
    return json_array_get(json_object_get(model, list), i);
}

static double value_of(const json_t *object, const json_t *name)
{
    const json_t *value = json_object_get(object, json_string_value(name));
    assert_true(json_is_number(value));
    return json_number_value(value);
}

static void set_params(probe *p, const json_t *params, const char *text)
{
    char buffer[MOST_NAME];
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)params, name, value)
        probe_set(p, mapped(text, name, buffer), json_number_value(value));
}

/* The coordinates must come in the case's order, since M is compared entry by entry. */
static void set_state(probe *p, const json_t *one, const json_t *point, const char *text)
{
    char buffer[MOST_NAME];
    double q[MOST_N], v[MOST_N];
    const json_t *model = json_object_get(one, "model");
    assert_int_equal(json_array_size(json_object_get(model, "coordinates")), p->n);
    assert_true(p->n <= MOST_N && p->m <= MOST_N);
    for (size_t i = 0; i < p->n; i++) {
        const json_t *name = name_at(one, "coordinates", i);
        assert_string_equal(hm_model_coordinate_name(p->model, i),
                            mapped(text, json_string_value(name), buffer));
        q[i] = value_of(json_object_get(point, "q"), name);
        v[i] = value_of(json_object_get(point, "qd"), name_at(one, "velocities", i));
    }
    probe_state(p, json_number_value(json_object_get(point, "t")), q, v);
}

static void check_point(const probe *p, const place *here)
{
    compare_equations(here, p);
    compare_free_motion(here, p);
    compare_solution(here, p);
    compare_residuals(here, p);
    compare_energy(here, p);
}

static const json_t *points_of(const json_t *one)
{
    return json_object_get(one, "points");
}

static void check_model(const json_t *one, const char *path)
{
    char text[10000];
    place here = {.id = json_string_value(json_object_get(one, "id"))};
    read_text(path, text, sizeof text);
    probe *p = probe_file(path, NULL, 0);
    for (; here.point < json_array_size(points_of(one)); here.point++) {
        const json_t *point = json_array_get(points_of(one), here.point);
        here.expected = json_object_get(point, "expected");
        set_params(p, json_object_get(point, "params"), text);
        set_state(p, one, point, text);
        check_point(p, &here);
    }
    probe_close(p);
}

/* ---- cases without coordinates ---- */

/* Sets name[i] or name[i,j] from the case's inputs. */
static void set_array(probe *p, const json_t *inputs, const char *key, const char *name)
{
    char component[MOST_NAME];
    const json_t *rows = json_object_get(inputs, key);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        for (size_t j = 0; j < json_array_size(row); j++) {
            snprintf(component, sizeof component, "%s[%zu,%zu]", name, i + 1, j + 1);
            probe_set(p, component, json_number_value(json_array_get(row, j)));
        }
        snprintf(component, sizeof component, "%s[%zu]", name, i + 1);
        if (json_is_number(row))
            probe_set(p, component, json_number_value(row));
    }
}

/* M, Q (or F), A, b, C as numbers: n and m are sizes, so the file is read anew for each point. */
static probe *open_matrices(const char *path, const json_t *inputs, const char *force)
{
    char n[24], m[24];
    const char *const names[] = {"M", force, "A", "b", "C"};
    const hm_override sizes[] = {{"n", n}, {"m", m}};
    snprintf(n, sizeof n, "%zu", json_array_size(json_object_get(inputs, "M")));
    snprintf(m, sizeof m, "%zu", json_array_size(json_object_get(inputs, "A")));
    probe *p = probe_file(path, sizes, 2);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        set_array(p, inputs, names[k], names[k]);
    probe_evaluate(p);
    return p;
}

static void compare_input(const place *here, const json_t *inputs, const char *key, size_t n,
                          const double *actual)
{
    const place given = {here->id, here->point, inputs};
    assert_true(compare(&given, key, n, actual));
}

static void check_results(const place *here, const json_t *inputs, const char *path)
{
    probe *p = open_matrices(path, inputs, "Q");
    compare_input(here, inputs, "M", p->n * p->n, p->M);
    compare_input(here, inputs, "Q", p->n, p->at.Q);
    compare_input(here, inputs, "A", p->m * p->n, p->A);
    compare_input(here, inputs, "b", p->m, p->at.b);
    compare_input(here, inputs, "C", p->n, p->at.C);
    compare_free_motion(here, p);
    compare_solution(here, p);
    probe_close(p);
}

static void check_singular(const place *here, const json_t *inputs, const char *path)
{
    probe *p = open_matrices(path, inputs, "F");
    compare_input(here, inputs, "M", p->n * p->n, p->M);
    compare_input(here, inputs, "F", p->n, p->at.Q);
    compare_input(here, inputs, "A", p->m * p->n, p->A);
    compare_input(here, inputs, "b", p->m, p->at.b);
    compare_solution(here, p);
    assert_true(p->at.unique_acceleration);
    probe_close(p);
}

/* q'' from the six constraints, then force and torque M q'' - Q. */
static void check_newton_euler(const place *here, const json_t *inputs, const char *path)
{
    case_numbers omega;
    double q[6] = {0}, v[6] = {0}, qdd[6], force[6];
    probe *p = probe_file(path, NULL, 0);
    set_array(p, inputs, "masses", "m");
    set_array(p, inputs, "positions_from_P", "rho");
    set_array(p, inputs, "a_P", "aP");
    set_array(p, inputs, "alpha", "alpha");
    assert_true(case_read(inputs, "omega", &omega) && omega.count == 3);
    memcpy(v + 3, omega.x, 3 * sizeof *v);
    probe_state(p, 0, q, v);
    assert_true(solve_dense(6, p->A, p->at.b, qdd));
    subtract_product(6, 6, p->at.Q, p->M, qdd, force);
    for (int i = 0; i < 6; i++)
        force[i] = -force[i];
    assert_true(compare(here, "F", 3, force) && compare(here, "tau_P", 3, force + 3));
    compare_number(here, "mass", p->M[0]);
    probe_close(p);
}

/* p = dL/dv, and M v' - Q is the multiple lambda of the row A. */
static void check_dirac(const place *here, const json_t *inputs, const char *path)
{
    case_numbers v, F, vdot;
    double q[3] = {0}, covector[3];
    probe *p = probe_file(path, NULL, 0);
    probe_set(p, "m", json_number_value(json_object_get(inputs, "m")));
    probe_set(p, "I", json_number_value(json_object_get(inputs, "I")));
    q[2] = json_number_value(json_object_get(inputs, "theta"));
    assert_true(case_read(inputs, "v", &v) && v.count == 3);
    assert_true(case_read(inputs, "F_ext", &F) && F.count == 3);
    assert_true(case_read(here->expected, "vdot", &vdot) && vdot.count == 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(hm_sim_set_input(p->sim, i, F.x[i], 0, 0), HM_OK);
    probe_state(p, 0, q, v.x);
    compare(here, "p", 3, p->at.momentum);
    compare(here, "annihilator_direction", 3, p->A);
    compare(here, "constraint", 1, p->at.velocity_residual);
    subtract_product(3, 3, p->at.Q, p->M, vdot.x, covector);
    for (int i = 0; i < 3; i++)
        covector[i] = -covector[i];
    assert_true(compare(here, "EL_covector", 3, covector));
    probe_close(p);
}

static const struct special {
    const char *id;
    void (*check)(const place *here, const json_t *inputs, const char *path);
} specials[] = {
    {"000-linalg-results1to6", check_results},
    {"001-newton-euler", check_newton_euler},
    {"002-singular-mass", check_singular},
    {"004-dirac-skate", check_dirac},
    {"001-moore-penrose", NULL}, /* a matrix, no motion */
};

static const struct special *find_special(const char *id)
{
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (strcmp(specials[i].id, id) == 0)
            return &specials[i];
    return NULL;
}

static void check_special(const struct special *special, const json_t *one, const char *path)
{
    place here = {.id = special->id};
    for (; here.point < json_array_size(points_of(one)); here.point++) {
        const json_t *point = json_array_get(points_of(one), here.point);
        here.expected = json_object_get(point, "expected");
        special->check(&here, json_object_get(point, "inputs"), path);
        states_compared++;
    }
}

/* ---- the list ---- */

static void check_case(void **state)
{
    char path[400];
    const json_t *one = *state;
    const char *id = json_string_value(json_object_get(one, "id"));
    const struct special *special = find_special(id);
    snprintf(path, sizeof path, "%s/test/cases/oracle/%s.hamel", HAMEL_SOURCE_DIR, id);
    if (special)
        check_special(special, one, path);
    else
        check_model(one, path);
}

/* 44 cases with coordinates and 4 without; the oracle may grow, not shrink. */
static void everything_was_compared(void **state)
{
    (void)state;
    fprintf(stderr, "# %zu numbers at %zu states, worst error %.2g of %.2g allowed\n",
            numbers_compared, states_compared, worst_error, tolerance);
    assert_true(states_compared >= 217);
}

int main(void)
{
    static struct CMUnitTest tests[MOST_CASES]; /* cmocka passes over what is empty */
    json_t *file = cases_load();
    const json_t *list = cases_list(file);
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(list) && count < MOST_CASES - 1; i++) {
        const json_t *one = json_array_get(list, i);
        const char *id = json_string_value(json_object_get(one, "id"));
        const struct special *special = find_special(id);
        if (special && !special->check)
            continue;
        tests[count++] = (struct CMUnitTest){
            .name = id, .test_func = check_case, .initial_state = (void *)one};
    }
    tests[count] = (struct CMUnitTest)cmocka_unit_test(everything_was_compared);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    json_decref(file);
    return failed;
}
