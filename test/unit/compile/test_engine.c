/* The engines agree bit by bit: interpreter, machine code, four lanes portably and as machine code.
 * On random DAGs over every operation, at special values, with registers and inputs of all kinds
 * running out, with functions called one by one and by fours. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include <cmocka.h>

#include "compile/jit/jit.h"
#include "compile/jit/lanes.h"
#include "compile/system/system.h"

#include "unit/expr/random_dag.h"
#include "compile/jit/assemble.h"
#include "compile/tape/machine_code.h"

static void open_graph(hmi_graph *g)
{
    static hm_allocator allocator;
    allocator = hm_allocator_default();
    assert_int_equal(hmi_graph_init(g, &allocator), HM_OK);
}

static bool same_bits(double x, double y)
{
    return (isnan(x) && isnan(y)) || memcmp(&x, &y, sizeof x) == 0;
}

/* ---- four sets of values, one by one and interleaved ---- */

enum { SYMBOLS = 16 }; /* of each kind */

typedef struct inputs {
    double value[HMI_LANES][HMI_SYM_KIND_COUNT][SYMBOLS];
    double interleaved[HMI_SYM_KIND_COUNT][SYMBOLS * HMI_LANES];
    hmi_tape_values one[HMI_LANES], four;
} inputs;

static void connect(inputs *in, uint32_t missing)
{
    for (int kind = 0; kind < HMI_SYM_KIND_COUNT; kind++) {
        bool given = !(missing >> kind & 1);
        for (int lane = 0; lane < HMI_LANES; lane++) {
            in->one[lane].by_kind[kind] = given ? in->value[lane][kind] : NULL;
            for (int k = 0; k < SYMBOLS; k++)
                in->interleaved[kind][HMI_LANES * k + lane] = in->value[lane][kind][k];
        }
        in->four.by_kind[kind] = given ? in->interleaved[kind] : NULL;
    }
}

/* Any double, or one of a usual size, or one at the edge of something. */
static double any_number(dag_source *s)
{
    static const double edges[] = {0.0,      -0.0,     1,         -1,     INFINITY, -INFINITY, NAN,
                                   4.9e-324, 2.3e-308, 1.797e308, 709.78, -745.1,   -746,      15,
                                   1e14,     -1e16,    0.5,       2,      3,        -0x1p-1022};
    double x;
    uint64_t bits = (uint64_t)dag_choose(s, 1u << 31) << 33 ^
                    (uint64_t)dag_choose(s, 1u << 31) << 11 ^ dag_choose(s, 1u << 11);
    switch (dag_choose(s, 5)) {
    case 0:
        memcpy(&x, &bits, sizeof x);
        return x;
    case 1:
        return ldexp(dag_between(s, -1, 1), (int)dag_choose(s, 80) - 40);
    case 2:
        return edges[dag_choose(s, sizeof edges / sizeof *edges)];
    default:
        return dag_between(s, -4, 4);
    }
}

static void choose_inputs(inputs *in, dag_source *s, bool wild)
{
    for (int lane = 0; lane < HMI_LANES; lane++)
        for (int kind = 0; kind < HMI_SYM_KIND_COUNT; kind++)
            for (int k = 0; k < SYMBOLS; k++)
                in->value[lane][kind][k] = wild ? any_number(s) : dag_between(s, -2, 2);
}

/* ---- all engines ---- */

enum { GUARD = 16 };
static const double guard_value = -7.25e77;

static double *new_work(size_t size)
{
    double *memory = malloc((size + 2 * GUARD) * sizeof *memory);
    assert_non_null(memory);
    for (size_t i = 0; i < size + 2 * GUARD; i++)
        memory[i] = guard_value; /* the work itself starts as rubbish, too */
    return memory + GUARD;
}

static void free_work(double *work, size_t size)
{
    for (size_t i = 0; i < GUARD; i++)
        assert_true(work[-1 - (ptrdiff_t)i] == guard_value && work[size + i] == guard_value);
    free(work - GUARD);
}

static void compare(const char *engine, const double *results, size_t stride,
                    const double *expected, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (!same_bits(results[stride * k], expected[k]))
            fail_msg("%s: output %zu is %a instead of %a", engine, k, results[stride * k],
                     expected[k]);
}

static void check_lanes(const hmi_tape_lanes *lanes, hmi_tape_function *run, const char *name,
                        const inputs *in, double *const expected[HMI_LANES])
{
    double *work = new_work(lanes->work_size);
    hmi_tape_prepare_lanes(lanes, &in->four, work);
    run(lanes->tape, &in->four, work);
    for (int lane = 0; lane < HMI_LANES; lane++)
        compare(name, hmi_tape_lanes_outputs(lanes, work) + lane, HMI_LANES, expected[lane],
                lanes->tape->output_count);
    free_work(work, lanes->work_size);
}

static void check_engines(const hmi_tape *tape, const hmi_tape_lanes *lanes, const inputs *in)
{
    double *expected[HMI_LANES], *work = new_work(tape->work_size);
    size_t bytes = tape->output_count * sizeof(double);
    for (int lane = 0; lane < HMI_LANES; lane++) {
        expected[lane] = malloc(bytes + 1);
        hmi_tape_prepare(tape, &in->one[lane], work);
        hmi_tape_interpret(tape, &in->one[lane], work);
        memcpy(expected[lane], hmi_tape_outputs(tape, work), bytes);
        memset(work + tape->output_slot, 0, bytes);
        hmi_tape_prepare(tape, &in->one[lane], work);
        hmi_tape_run(tape, &in->one[lane], work);
        compare("machine code", hmi_tape_outputs(tape, work), 1, expected[lane],
                tape->output_count);
    }
    free_work(work, tape->work_size);
    check_lanes(lanes, hmi_tape_interpret_lanes, "four lanes", in, expected);
    check_lanes(lanes, lanes->run, "machine code of four lanes", in, expected);
    for (int lane = 0; lane < HMI_LANES; lane++)
        free(expected[lane]);
}

/* Compiles, and compares at several sets of values, some without values of some kind. */
static void check_outputs(hmi_graph *g, const hmi_expr *outputs, size_t count, dag_source *s,
                          int rounds)
{
    static inputs in;
    hmi_tape tape;
    hmi_tape_lanes lanes;
    assert_int_equal(hmi_tape_compile(&tape, g, outputs, count), HM_OK);
    assert_int_equal(hmi_tape_lanes_init(&lanes, &tape), HM_OK);
    assert_true(!hmi_machine_code_available() || tape.body.count <= 1 ||
                (tape.code.entry && lanes.code.entry));
    for (int round = 0; round < rounds; round++) {
        choose_inputs(&in, s, round % 2);
        connect(&in, round % 5 == 4 ? dag_choose(s, 1u << HMI_SYM_KIND_COUNT) : 0);
        check_engines(&tape, &lanes, &in);
    }
    hmi_tape_lanes_release(&lanes);
    hmi_tape_release(&tape);
}

/* ---- tests ---- */

static void test_random_dags(void **state)
{
    (void)state;
    static dag d;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        hmi_graph g;
        dag_source s = {.state = seed};
        hmi_expr outputs[64];
        open_graph(&g);
        dag_start(&d, &g, seed % 2, &s);
        dag_fill(&d, &s, seed % 5 ? 300 : 2000);
        for (size_t k = 0; k < 64; k++)
            outputs[k] = dag_choose(&s, 9) ? d.node[dag_choose(&s, (uint32_t)d.count)] : HMI_NONE;
        check_outputs(&g, outputs, 1 + dag_choose(&s, 63), &s, 10);
        hmi_graph_release(&g);
    }
}

/* Every operation of the table has its row, and agrees at a great many arguments: this is also what
 * shows that SLEEF's scalar and four-lane forms agree. */
static void test_operations(void **state)
{
    (void)state;
    hmi_graph g;
    open_graph(&g);
    hmi_expr x = hmi_symbol(&g, HMI_SYM_COORD, 0), y = hmi_symbol(&g, HMI_SYM_COORD, 1);
    hmi_expr z = hmi_symbol(&g, HMI_SYM_COORD, 2), outputs[HMI_PLAIN_OPS_END + 160];
    size_t count = 0;
    for (int op = HMI_SYMBOL + 1; op < HMI_PLAIN_OPS_END; op++) {
        assert_int_not_equal(hmi_jit_row_at(HMI_TAPE_FIRST_OF_TABLE + (uint32_t)op).pattern,
                             HMI_JIT_UNKNOWN);
        if (op != HMI_POWI)
            outputs[count++] = hmi_intern(&g, (hmi_op)op, x, y, z);
    }
    for (int n = -70; n <= 70; n++)
        outputs[count++] = hmi_intern(&g, HMI_POWI, x, hmi_number(&g, n), 0);
    dag_source s = {.state = 4};
    check_outputs(&g, outputs, count, &s, 20000);
    hmi_graph_release(&g);
}

/* Calls of one function together: one to nine of them, of arguments here and there. */
static void test_calls_together(void **state)
{
    (void)state;
    static const hmi_op ops[] = {HMI_SIN, HMI_COS, HMI_EXP, HMI_POW, HMI_ATAN2, HMI_HYPOT};
    dag_source s = {.state = 9};
    for (size_t which = 0; which < sizeof ops / sizeof *ops; which++)
        for (uint32_t count = 1; count <= 9; count++)
            for (int sort = 0; sort < 4; sort++) {
                hmi_graph g;
                hmi_expr outputs[20];
                open_graph(&g);
                hmi_expr sum = g.zero;
                for (uint32_t k = 0; k < count; k++) {
                    hmi_expr x = hmi_symbol(&g, HMI_SYM_COORD, k);
                    hmi_expr y = hmi_symbol(&g, HMI_SYM_VELOCITY, 9 - k);
                    hmi_expr a = sort & 1 ? hmi_mul(&g, x, y) : x;
                    hmi_expr call = hmi_intern(&g, ops[which], a, y, 0);
                    if (sort & 2) /* its own argument is needed later */
                        call = hmi_intern(&g, HMI_SUB, call, a, 0);
                    sum = hmi_intern(&g, HMI_ADD, sum, call, 0);
                    outputs[2 * k] = call;
                    outputs[2 * k + 1] = hmi_intern(&g, ops[which], sum, y, 0);
                }
                check_outputs(&g, outputs, 2 * (size_t)count, &s, 6);
                hmi_graph_release(&g);
            }
}

/* More values alive than there are registers, across calls too. */
static void test_spilling(void **state)
{
    (void)state;
    enum { WIDTH = 40 };
    hmi_graph g;
    dag_source s = {.state = 5};
    open_graph(&g);
    for (int with_calls = 0; with_calls < 2; with_calls++) {
        hmi_expr value[WIDTH], outputs[WIDTH];
        for (uint32_t k = 0; k < WIDTH; k++)
            value[k] = hmi_mul(&g, hmi_symbol(&g, HMI_SYM_COORD, k % SYMBOLS),
                               hmi_symbol(&g, HMI_SYM_VELOCITY, (k + k / SYMBOLS) % SYMBOLS));
        for (int round = 0; round < 20; round++)
            for (uint32_t k = 0; k < WIDTH; k++) {
                hmi_expr other = value[(k * 7 + 3) % WIDTH];
                value[k] = hmi_intern(&g, k % 2 ? HMI_ADD : HMI_MUL, value[k], other, 0);
                if (with_calls && k % 11 == 5)
                    value[k] = hmi_apply(&g, HMI_SIN, value[k], 0, 0);
            }
        memcpy(outputs, value, sizeof outputs);
        check_outputs(&g, outputs, WIDTH, &s, 20);
    }
    hmi_graph_release(&g);
}

/* Inputs of every kind: more of them than registers for their pointers. */
static void test_kinds_of_inputs(void **state)
{
    (void)state;
    hmi_graph g;
    dag_source s = {.state = 6};
    open_graph(&g);
    hmi_expr sum = g.one, sines = g.zero;
    for (int kind = 0; kind < HMI_SYM_KIND_COUNT; kind++) {
        hmi_expr x = hmi_symbol(&g, (hmi_symbol_kind)kind, (uint32_t)kind % SYMBOLS);
        sum = hmi_intern(&g, HMI_ADD, hmi_mul(&g, sum, x), x, 0);
        sines = hmi_intern(&g, HMI_ADD, sines, hmi_apply(&g, HMI_SIN, x, 0, 0), 0);
    }
    hmi_expr outputs[] = {sum, hmi_intern(&g, HMI_DIV, sines, sum, 0), sum,
                          hmi_symbol(&g, HMI_SYM_MODE, 3)};
    check_outputs(&g, outputs, 1, &s, 40); /* no calls */
    check_outputs(&g, outputs, 4, &s, 40);
    hmi_graph_release(&g);
}

/* ---- no executable memory ---- */

/* In a process that may not make memory executable: 0 where the interpreter stands in silently. */
static int compile_without_executable_memory(void)
{
    const double coords[] = {0.7};
    const hmi_tape_values values = {.by_kind = {[HMI_SYM_COORD] = coords}};
    hmi_graph g;
    hmi_tape tape;
    double work[64];
    open_graph(&g);
    hmi_expr e = hmi_apply(&g, HMI_EXP, hmi_symbol(&g, HMI_SYM_COORD, 0), 0, 0);
    if (hmi_tape_compile(&tape, &g, &e, 1) != HM_OK || tape.code.entry || tape.work_size > 64)
        return 1;
    hmi_tape_prepare(&tape, &values, work);
    hmi_tape_run(&tape, &values, work);
    return !same_bits(*hmi_tape_outputs(&tape, work), hmi_op_value(HMI_EXP, 0.7, 0, 0));
}

static void test_no_executable_memory(void **state)
{
    (void)state;
#if defined(__linux__)
    enum { SET_MDWE = 65, REFUSE_EXEC_GAIN = 1, NOT_POSSIBLE = 77 }; /* Linux 6.3 and later */
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(prctl(SET_MDWE, REFUSE_EXEC_GAIN, 0, 0, 0) == 0 ? compile_without_executable_memory()
                                                              : NOT_POSSIBLE);
    int result = 0;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    if (WEXITSTATUS(result) == NOT_POSSIBLE)
        skip();
    assert_int_equal(WEXITSTATUS(result), 0);
#else
    skip();
#endif
}

/* ---- the choice ---- */

static const char pendulum[] = "param g = 9.81\ncoord x, y\nkinetic (x'^2 + y'^2)/2\n"
                               "potential g*y\nconstraint x^2 + y^2 = 1\ninitial x = 1\n";

static void test_choice(void **state)
{
    (void)state;
    hm_context *context = hm_context_create(NULL);
    hm_model *model = NULL;
    hm_system *system = NULL;
    assert_int_equal(hm_model_parse(context, pendulum, strlen(pendulum), NULL, &model), HM_OK);
    hm_system_options options = hm_system_options_default();
    assert_int_equal(options.engine, HM_ENGINE_AUTO);
    options.engine = HM_ENGINE_INTERP;
    assert_int_equal(hm_system_create_with(model, &options, &system), HM_OK);
    hm_system_statistics interpreted = hm_system_get_statistics(system);
    assert_int_equal(interpreted.engine, HM_ENGINE_INTERP);
    assert_int_equal(interpreted.code_bytes, 0);
    assert_true(system->report.run == hmi_tape_interpret);
    hm_system_destroy(system);
    options.engine = HM_ENGINE_JIT;
    hm_status status = hm_system_create_with(model, &options, &system);
    assert_int_equal(status, hmi_machine_code_available() ? HM_OK : HM_ERR_USAGE);
    if (status == HM_OK) {
        assert_int_equal(hm_system_get_statistics(system).engine, HM_ENGINE_JIT);
        assert_true(hm_system_get_statistics(system).code_bytes > 0);
        hm_system_destroy(system);
    }
    hm_model_destroy(model);
    hm_context_destroy(context);
}

/* ---- machine code when it is needed ---- */

enum { THREADS = 8 };

static void *sim_of_thread(void *system)
{
    hm_sim *sim = NULL;
    double *qdd = calloc(2, sizeof *qdd);
    if (!qdd || hm_sim_create(system, &sim) != HM_OK || hm_sim_accelerate(sim, qdd) != HM_OK)
        return NULL;
    hm_sim_destroy(sim);
    return qdd;
}

/* A system has none until the first sim, which may be made by several threads at a time. */
static void test_code_on_demand(void **state)
{
    (void)state;
    hm_context *context = hm_context_create(NULL);
    hm_model *model = NULL;
    assert_int_equal(hm_model_parse(context, pendulum, strlen(pendulum), NULL, &model), HM_OK);
    for (int round = 0; round < 20; round++) {
        hm_system *system = NULL;
        pthread_t threads[THREADS];
        assert_int_equal(hm_system_create(model, &system), HM_OK);
        assert_null(system->dynamics.code.entry);
        assert_null(system->report.code.entry);
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, sim_of_thread, system), 0);
        for (int i = 0; i < THREADS; i++) {
            void *qdd = NULL;
            pthread_join(threads[i], &qdd);
            assert_non_null(qdd);
            assert_true(((double *)qdd)[0] == 0 && ((double *)qdd)[1] == -9.81);
            free(qdd);
        }
        bool machine = !system->interpreted;
        assert_int_equal(system->dynamics.code.entry != NULL, machine);
        assert_int_equal(system->report.code.entry != NULL, machine);
        hm_system_destroy(system);
    }
    hm_model_destroy(model);
    hm_context_destroy(context);
}

static void test_names(void **state)
{
    (void)state;
    hm_engine engine;
    for (int i = HM_ENGINE_AUTO; i <= HM_ENGINE_JIT; i++) {
        assert_true(hm_engine_find(hm_engine_name((hm_engine)i), &engine));
        assert_int_equal(engine, i);
    }
    assert_false(hm_engine_find("gpu", &engine));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_dags),     cmocka_unit_test(test_operations),
        cmocka_unit_test(test_calls_together),  cmocka_unit_test(test_spilling),
        cmocka_unit_test(test_kinds_of_inputs), cmocka_unit_test(test_no_executable_memory),
        cmocka_unit_test(test_choice),          cmocka_unit_test(test_code_on_demand),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
