/* What `auto` takes beside what it could take: runs of the gallery by dop853 and by taylor, cold (a new sim, with
 * everything that has to be built) and warm, at several tolerances. The last column is the time of auto's
 * choice over the best of both, cold. With an argument: this model alone. */
#include "integrate/run/run.h"
#include "integrate/taylor/taylor.h"

#include <hamel/hamel.h>

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 3, METHODS = 3 };

static const char *const methods[METHODS] = {"dop853", "taylor", "auto"};
static const double tolerances[] = {1e-8, 1e-9, 1e-10, 1e-12};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct timing {
    double cold, warm;
    char method[16];
    size_t instructions;
    bool momenta;
} timing;

/* One run; infinity where it fails. */
static double run_once(hm_sim *sim, const hm_model *model, const char *method, double tolerance,
                       timing *out)
{
    hm_run_options options = hm_run_options_default(model);
    hm_run_result result;
    size_t n = hm_model_coordinate_count(model), z = hm_model_state_count(model);
    double *state = calloc(2 * n + z + 1, sizeof *state);
    options.method = method;
    options.rtol = options.atol = tolerance;
    hm_model_initial(model, state, state + n, state + 2 * n);
    hm_sim_set_state(sim, options.start, state, state + n, state + 2 * n);
    free(state);
    double begin = now();
    hm_status status = hm_sim_run(sim, &options, &result);
    double time = now() - begin;
    if (status != HM_OK)
        return INFINITY;
    snprintf(out->method, sizeof out->method, "%s", result.method);
    out->instructions = sim->tapes.dynamics->body.count;
    out->momenta = hmi_taylor_has_momenta(&hmi_run_of(sim)->ode);
    return time;
}

static timing time_method(const hm_model *model, const char *method, double tolerance)
{
    timing best = {.cold = INFINITY, .warm = INFINITY};
    for (int round = 0; round < ROUNDS; round++) {
        hm_system *system = NULL;
        hm_sim *sim = NULL;
        if (hm_system_create(model, &system) == HM_OK && hm_sim_create(system, &sim) == HM_OK) {
            best.cold = fmin(best.cold, run_once(sim, model, method, tolerance, &best));
            best.warm = fmin(best.warm, run_once(sim, model, method, tolerance, &best));
        }
        hm_sim_destroy(sim);
        hm_system_destroy(system);
    }
    return best;
}

static void show(hm_context *context, const char *name)
{
    char path[512];
    hm_model *model = NULL;
    snprintf(path, sizeof path, HAMEL_SOURCE_DIR "/examples/%s", name);
    if (hm_model_load(context, path, NULL, &model) != HM_OK)
        return;
    for (size_t k = 0; k < sizeof tolerances / sizeof *tolerances; k++) {
        timing t[METHODS];
        for (int m = 0; m < METHODS; m++)
            t[m] = time_method(model, methods[m], tolerances[k]);
        double best = fmin(t[0].cold, t[1].cold);
        if (!isfinite(t[0].cold) || !isfinite(t[1].cold))
            continue;
        printf("| %s | %.0e | %zu%s | %.3f | %.3f | %.3f | %.3f | %s | %.2f |\n", name,
               tolerances[k], t[1].instructions, t[1].momenta ? " p" : "", t[0].cold * 1e3,
               t[1].cold * 1e3, t[0].warm * 1e3, t[1].warm * 1e3, t[2].method, t[2].cold / best);
        fflush(stdout);
    }
    hm_model_destroy(model);
}

static int is_model(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && strcmp(dot, ".hamel") == 0;
}

int main(int argc, char **argv)
{
    struct dirent **list = NULL;
    int count = scandir(HAMEL_SOURCE_DIR "/examples", &list, is_model, alphasort);
    hm_context *context = hm_context_create(NULL);
    printf(
        "| model | rtol | instructions | dop853, ms | taylor, ms | warm | warm | auto takes | over "
        "the best |\n|---|---|---|---|---|---|---|---|---|\n");
    for (int i = 0; context && i < count; i++) {
        if (argc < 2 || strstr(list[i]->d_name, argv[1]))
            show(context, list[i]->d_name);
        free(list[i]);
    }
    free(list);
    hm_context_destroy(context);
    return count > 0 ? 0 : 1;
}
