/* One evaluation of M, Q, A, b by each engine: the interpreter, machine code, four lanes a call.
 * Times are the least of several batches (the machine is shared); those of one line are measured in
 * turns, so that their ratios hold. */
#include "compile/jit/jit.h"
#include "compile/jit/lanes.h"
#include "compile/system/system.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds a call, in one batch. */
static double batch(const hmi_tape *tape, hmi_tape_function *run, const hmi_tape_values *values,
                    double *work)
{
    int count = 0;
    double start = now(), elapsed;
    do {
        for (int i = 0; i < 50; i++, count++)
            run(tape, values, work);
    } while ((elapsed = now() - start) < 0.005);
    return elapsed / count;
}

static double compile_time(const hmi_tape *tape)
{
    hmi_machine_code code;
    double start = now();
    if (hmi_jit_compile(tape, 1, hmi_tape_interpret, &code) != HM_OK)
        return 0;
    double elapsed = now() - start;
    hmi_machine_code_release(&code);
    return elapsed;
}

enum { ENGINES = 4, BATCHES = 25, SYMBOLS = 4096 };

static void measure_tape(const char *name, const hmi_tape *tape, const hmi_tape_lanes *lanes)
{
    static double numbers[HMI_LANES * SYMBOLS];
    double best[ENGINES] = {1, 1, 1, 1};
    double *work = calloc(tape->work_size + 1, sizeof *work);
    double *wide = calloc(lanes->work_size + 1, sizeof *wide);
    hmi_tape_values values;
    for (int i = 0; i < HMI_LANES * SYMBOLS; i++)
        numbers[i] = 0.3 + 0.001 * (i % 997);
    for (int kind = 0; kind < HMI_SYM_KIND_COUNT; kind++)
        values.by_kind[kind] = numbers;
    hmi_tape_prepare(tape, &values, work);
    hmi_tape_prepare_lanes(lanes, &values, wide);
    for (int i = 0; i < BATCHES; i++) {
        const double times[ENGINES] = {
            batch(tape, hmi_tape_interpret, &values, work), batch(tape, tape->run, &values, work),
            batch(tape, lanes->run, &values, wide) / HMI_LANES, compile_time(tape)};
        for (int k = 0; k < ENGINES; k++)
            best[k] = times[k] < best[k] ? times[k] : best[k];
    }
    printf("%-16s %8zu %9.3f %9.4f %9.4f %8.1f %9.3f\n", name, tape->node_count, 1e6 * best[0],
           1e6 * best[1], 1e6 * best[2], best[0] / best[1], 1e3 * best[3]);
    free(work);
    free(wide);
}

static bool measure(const char *name, const char *links)
{
    char path[512];
    snprintf(path, sizeof path, "%s/examples/%s.hamel", HAMEL_SOURCE_DIR, name);
    hm_context *context = hm_context_create(NULL);
    hm_override override = {"N", links};
    hm_model_options options = hm_model_options_default();
    options.overrides = &override;
    options.override_count = links != NULL;
    hm_model *model = NULL;
    hm_system *system = NULL;
    hmi_tape_lanes lanes = {0};
    bool good = hm_model_load(context, path, &options, &model) == HM_OK &&
                hm_system_create(model, &system) == HM_OK && hmi_system_assemble(system) == HM_OK &&
                hmi_tape_lanes_init(&lanes, &system->dynamics) == HM_OK;
    if (good)
        measure_tape(name, &system->dynamics, &lanes);
    hmi_tape_lanes_release(&lanes);
    hm_system_destroy(system);
    hm_model_destroy(model);
    hm_context_destroy(context);
    return good;
}

int main(void)
{
    printf("M, Q, A, b by each engine, us a state; machine code is compiled in the time shown\n\n"
           "%-16s %8s %9s %9s %9s %8s %9s\n",
           "model", "nodes", "interp", "jit", "4 lanes", "ratio", "compile ms");
    bool good = measure("knife-edge", NULL);
    good = measure("skate", NULL) && good;
    good = measure("andrews", NULL) && good;
    good = measure("n-pendulum", "10") && good;
    good = measure("n-pendulum", "50") && good;
    good = measure("n-pendulum", "200") && good;
    return good ? 0 : 1;
}
