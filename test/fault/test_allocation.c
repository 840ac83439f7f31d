/* Out of memory at every point: the k-th allocation fails, for k = 0, 1, 2, ... until nothing does.
 *
 * The pipeline is the whole of the public API on a model that uses every statement of the language,
 * an include among them. Whatever k, nothing leaks, the block sizes the library states are the true
 * ones, and the status says that memory ran out. A second model, larger, is sampled.
 */
#include "support/heap.h"

#include <hamel/hamel.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the pipeline ---- */

static hm_status read_state(hm_context *context, const hm_model *model)
{
    double t = 0, q[64] = {0}, v[64] = {0}, z[8] = {0}, u[8] = {0};
    bool set[8] = {0};
    assert_true(hm_model_coordinate_count(model) <= 64);
    return hm_model_read_state(context, model,
                               "t = 1, x = 2*m, y' = -1, w[1] = 0.5, u = 3, q[2] = 1", &t, q, v, z,
                               u, set);
}

static hm_status simulate(const hm_system *system)
{
    hm_sim *sim = NULL;
    hm_evaluation at;
    hm_status status = hm_sim_create(system, &sim);
    if (status == HM_OK)
        status = hm_sim_set_param(sim, "m", 1.25);
    if (status == HM_OK && hm_model_input_count(hm_system_model(system)) > 0)
        status = hm_sim_set_input(sim, 0, 1, 0, 0);
    if (status == HM_OK)
        status = hm_sim_evaluate(sim, NULL, &at);
    hm_sim_destroy(sim);
    return status;
}

typedef struct pipeline {
    const char *path;
    bool states; /* the model has what read_state mentions */
} pipeline;

static hm_status run_pipeline(hm_context *context, const pipeline *p)
{
    const hm_override overrides[] = {{"m", "1 + 1/2"}, {"r[2]", "0.75"}};
    hm_model_options options = hm_model_options_default();
    if (p->states) {
        options.overrides = overrides;
        options.override_count = 2;
    }
    hm_model *model = NULL;
    hm_system *system = NULL;
    hm_status status = hm_model_load(context, p->path, &options, &model);
    if (status == HM_OK && p->states)
        status = read_state(context, model);
    if (status == HM_OK)
        status = hm_system_create(model, &system);
    if (status == HM_OK)
        status = simulate(system);
    hm_system_destroy(system);
    hm_model_destroy(model);
    return status;
}

static void show_messages(const hm_context *context)
{
    char text[4096];
    for (size_t i = 0; i < hm_context_diagnostic_count(context); i++) {
        hm_diagnostic_format(hm_context_diagnostic(context, i), false, text, sizeof text);
        print_error("%s", text);
    }
}

static hm_status run_with(failing_heap *h, const pipeline *p)
{
    const hm_allocator allocator = heap_allocator(h);
    hm_context *context = hm_context_create(&allocator);
    if (!context)
        return HM_ERR_NOMEM;
    hm_status status = run_pipeline(context, p);
    if (status != HM_OK && status != HM_ERR_NOMEM)
        show_messages(context);
    hm_context_destroy(context);
    return status;
}

/* Fails allocation k; true when the run got by without it. */
static bool check_failure(const pipeline *p, long k, bool stay)
{
    failing_heap h = {.armed = true, .fail_at = k, .stay = stay};
    hm_status status = run_with(&h, p);
    if (h.live_bytes || h.live_blocks)
        fail_msg("allocation %ld: %zu bytes leaked", k, h.live_bytes);
    if (status == HM_OK && h.count > k)
        fail_msg("allocation %ld failed and nobody noticed", k);
    if (status != HM_OK && status != HM_ERR_NOMEM)
        fail_msg("allocation %ld: %s", k, hm_status_text(status));
    return status == HM_OK;
}

static long allocations_of(const pipeline *p)
{
    failing_heap h = {.armed = true, .fail_at = -1};
    assert_int_equal(run_with(&h, p), HM_OK);
    assert_int_equal(h.live_bytes, 0);
    return h.count;
}

/* ---- models ---- */

static const char every_statement[] =
    "model all \"every statement\"\n"
    "include \"part.hamel\"\n"
    "param m = 1, r = [0.5, 1], R0 = [[1, 0, 0], [0, 1, 0], [0, 0, 1]], N = 3\n"
    "coord x, y, th, e0, e1, e2, e3, q[1..N], \xCF\x86\n"
    "let P = [x, y], speed2 = dot(P', P'), f(a, b) = a*b' + sin(a)\n"
    "kinetic m/2*speed2 + th'^2/2 + \xCF\x86'^2/2 + 0*f(x, y)\n"
    "potential k*hypot(x, y + 2)^2/2 + if(x > 1 and not (y < 0) or x == 3, x^2, x)\n"
    "lagrangian x'*cos(th)/10\n"
    "mass x, y = 0.1, th = 2 + cos(th)\n"
    "for i = 1..N {\n"
    "  let qi = q[i]\n"
    "  kinetic qi'^2/2\n"
    "  output o[i] = qi + sum(j = 1..i, q[j]) + prod(j = 1..2, q[j])\n"
    "}\n"
    "input u = sin(t) + x\n"
    "state w[1]' = -w[1] + u, w[2]' = x\n"
    "force x = -c*x' + u, y = min(x, y, 1) - max(x, 2)\n"
    "force [1, tanh(x)] at P\n"
    "torque [0, 0, 1] on rotz(th)*rotation(axis, th)\n"
    "dissipation x'^2/20\n"
    "gyroscopic x, y = 0.1*th\n"
    "body rigid { mass m, inertia diag(1, 2, 3)\n at [x, y, th]\n frame quat(e0, e1, e2, e3) }\n"
    "body flat[1] { mass 1 inertia 2 at r*x - [0, y] angle th }\n"
    "constraint rod: (x - 3)^2 + y^2 = 9 + y^2 - 6*x + x^2 + q[1]\n"
    "constraint roll: q[2]' = x'*cos(th)\n"
    "servo hold: th = 1 by th, x with gain 2\n"
    "nonideal x = -0.1*abs(reaction(y))*tanh(x'), y = -0.01*multiplier(roll)\n"
    "initial x = 1, y = 0.5, th' ~ 2, w[1] = 0.25\n"
    "initial e0 = 1\n"
    "simulate 0 .. 10 every 0.1 method dop853 rtol 1e-9 atol 1e-12 drift baumgarte(1, 2) step "
    "1e-3\n"
    "symmetry turn: x = -y, y = x, th = 1\n"
    "event hit: y = 0 falling set y' = -0.5*y'\n"
    "event done: t = 5 rising stop\n"
    "output E = energy\n"
    "output acc = [x'', reaction(x), multiplier(rod), total_reaction(x)]\n"
    "output frame = transpose(rotx(th)) * skew(cross(axis, [x, y, th])) * identity(3)\n"
    "output w0 = omega(R0*rotz(th)) + omega_body(transpose(rotz(th)))\n";

static const char part[] = "# included\nparam k = 3, c = 0.1\nparam axis = [0, 0.6, 0.8]\n";

static const char chain[] =
    "param n = 30, l = 1, m = 1\n"
    "coord q[1..n]\n"
    "let X(i) = sum(k = 1..i, l*sin(q[k])), Y(i) = -sum(k = 1..i, l*cos(q[k]))\n"
    "for i = 1..n { kinetic m/2*(X(i)'^2 + Y(i)'^2) }\n"
    "for i = 1..n { potential m*9.81*Y(i) }\n"
    "constraint tip: X(n) = 0.5\n"
    "initial q[1] = 0.3\n";

static char folder[] = "/tmp/hamel-fault-XXXXXX";
static char main_path[256], part_path[256], chain_path[256];

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static int make_files(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(main_path, sizeof main_path, "%s/all.hamel", folder);
    snprintf(part_path, sizeof part_path, "%s/part.hamel", folder);
    snprintf(chain_path, sizeof chain_path, "%s/chain.hamel", folder);
    write_file(main_path, every_statement);
    write_file(part_path, part);
    write_file(chain_path, chain);
    return 0;
}

static int remove_files(void **state)
{
    (void)state;
    remove(main_path);
    remove(part_path);
    remove(chain_path);
    return rmdir(folder);
}

/* ---- the tests ---- */

static void test_every_allocation(void **state)
{
    (void)state;
    const pipeline p = {main_path, true};
    long count = allocations_of(&p), k = 0;
    while (!check_failure(&p, k, false))
        k++;
    assert_int_equal(k, count);
}

/* Memory that stays exhausted: nothing may rely on a later allocation. */
static void test_every_exhaustion(void **state)
{
    (void)state;
    const pipeline p = {main_path, true};
    long count = allocations_of(&p);
    for (long k = 0; k < count; k++)
        assert_false(check_failure(&p, k, true));
}

static void test_larger_model(void **state)
{
    (void)state;
    const pipeline p = {chain_path, false};
    long count = allocations_of(&p);
    for (long k = 0; k < count; k += 1 + k / 50)
        assert_false(check_failure(&p, k, k % 2));
}

/* A diagnostic that cannot be made is not lost: the status says so. */
static void test_messages(void **state)
{
    (void)state;
    static const char bad[] = "coord theta\nkinetic thta'^2/2\npotential 2x\n";
    for (long k = 0;; k++) {
        failing_heap h = {.armed = true, .fail_at = k};
        const hm_allocator allocator = heap_allocator(&h);
        hm_context *context = hm_context_create(&allocator);
        hm_model *model = NULL;
        hm_status status = HM_ERR_NOMEM;
        if (context)
            status = hm_model_parse(context, bad, strlen(bad), NULL, &model);
        bool failed = h.count > k;
        hm_context_destroy(context);
        assert_int_equal(h.live_bytes, 0);
        assert_int_equal(status, failed ? HM_ERR_NOMEM : HM_ERR_INPUT);
        if (!failed)
            break;
    }
}

/* After running out of memory, hm_context_clear makes the context usable again. */
static void test_recovery(void **state)
{
    (void)state;
    static const char text[] = "coord x\nkinetic x'^2/2\n";
    failing_heap h = {.armed = true, .fail_at = 5};
    const hm_allocator allocator = heap_allocator(&h);
    hm_context *context = hm_context_create(&allocator);
    hm_model *model = NULL;
    assert_int_equal(hm_model_parse(context, text, strlen(text), NULL, &model), HM_ERR_NOMEM);
    assert_null(model);
    hm_context_clear(context);
    assert_int_equal(hm_model_parse(context, text, strlen(text), NULL, &model), HM_OK);
    hm_model_destroy(model);
    hm_context_destroy(context);
    assert_int_equal(h.live_bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_allocation), cmocka_unit_test(test_every_exhaustion),
        cmocka_unit_test(test_larger_model),     cmocka_unit_test(test_messages),
        cmocka_unit_test(test_recovery),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
