/* q'' through the interpreter: the tape alone, and with the solve. */
#include "dynamics/sim.h"

#include <stdio.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Microseconds a call, the least of several batches. */
static double time_calls(hm_sim *sim, bool solve)
{
    double best = 1;
    for (int run = 0; run < 9; run++) {
        int count = 0;
        double start = now(), elapsed;
        do {
            for (int i = 0; i < 100; i++, count++) {
                if (!solve)
                    hm_sim_evaluate_fast(sim);
                else if (hmi_sim_accelerate(sim, NULL) != HM_OK)
                    return -1;
            }
        } while ((elapsed = now() - start) < 0.03);
        best = elapsed / count < best ? elapsed / count : best;
    }
    return 1e6 * best;
}

static bool measure(const char *name, const char *target)
{
    char path[512];
    snprintf(path, sizeof path, "%s/examples/%s.hamel", HAMEL_SOURCE_DIR, name);
    hm_context *context = hm_context_create(NULL);
    hm_model *model = NULL;
    hm_system *system = NULL;
    hm_sim *sim = NULL;
    bool good = hm_model_load(context, path, NULL, &model) == HM_OK &&
                hm_system_create(model, &system) == HM_OK && hm_sim_create(system, &sim) == HM_OK;
    if (good)
        printf("%-16s %8.3f %8.3f %9s\n", name, time_calls(sim, false), time_calls(sim, true),
               target);
    hm_sim_destroy(sim);
    hm_system_destroy(system);
    hm_model_destroy(model);
    hm_context_destroy(context);
    return good;
}

int main(void)
{
    printf("Accelerations through the interpreter, us\n\n%-16s %8s %8s %9s\n", "model", "tape",
           "q''", "at most");
    bool good = measure("skate", "0.3");
    good = measure("andrews", "3") && good;
    return good ? 0 : 1;
}
