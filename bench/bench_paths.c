/* What each special path of series gains: runs of method taylor with all of them, and with one after the
 * other switched off (hmi_taylor_options). Runs alternate, the least time of each counts. 1.00 where a path
 * does not apply to a model; above 1 it pays. */
#include "integrate/taylor/taylor.h"

#include <hamel/hamel.h>

#include <math.h>
#include <stdio.h>
#include <time.h>

enum { MOST = 64, ROUNDS = 25, WAYS = 8 };

static const struct {
    const char *name;
    double end;
} problems[] = {{"pendulum", 100}, {"double-pendulum", 20}, {"n-pendulum", 5},
                {"andrews", 0.03}, {"three-body", 20},      {"heavy-top", 0.3},
                {"skate", 50},     {"rolling-disc", 20},    {"rattleback", 10},
                {"n-trailer", 20}, {"bicycle", 5},          {"chaplygin-sleigh", 10}};

static const char *const paths[WAYS] = {"all, ms", "momenta", "Voronets", "inverse",
                                        "split",   "rates",   "whole",    "closed"};

/* All special paths but one; way 0: all. */
static hmi_taylor_options without(int way)
{
    return (hmi_taylor_options){.momenta = way != 1,
                                .voronets = way != 2,
                                .inverse = way != 3,
                                .jet = {.split = way != 4,
                                        .sincos_by_rate = way != 5,
                                        .whole_orders = way != 6,
                                        .closed = way != 7}};
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds of one run, or infinity. */
static double run(const hm_model *model, hm_sim *sim, double end)
{
    hm_run_options options = hm_run_options_default(model);
    options.method = "taylor";
    options.start = 0;
    options.end = options.every = end;
    options.rtol = options.atol = 1e-11;
    double q[MOST], v[MOST];
    hm_run_result result;
    hm_model_initial(model, q, v, NULL);
    hm_sim_set_state(sim, 0, q, v, NULL);
    double begin = now();
    return hm_sim_run(sim, &options, &result) == HM_OK ? now() - begin : INFINITY;
}

static bool show(hm_context *context, const char *name, double end)
{
    char path[512];
    hm_model *model = NULL;
    hm_system *system = NULL;
    hm_sim *sim[WAYS] = {NULL};
    hmi_taylor_options options[WAYS];
    double best[WAYS];
    snprintf(path, sizeof path, HAMEL_SOURCE_DIR "/examples/%s.hamel", name);
    bool good = hm_model_load(context, path, NULL, &model) == HM_OK &&
                hm_system_create(model, &system) == HM_OK;
    for (int k = 0; k < WAYS && good; k++) {
        good = hm_sim_create(system, &sim[k]) == HM_OK;
        if (good)
            sim[k]->solve.series_options = &options[k];
        options[k] = without(k);
        best[k] = INFINITY;
    }
    for (int round = 0; round < ROUNDS && good; round++)
        for (int k = 0; k < WAYS; k++)
            best[k] = fmin(best[k], run(model, sim[k], end));
    printf("%-16s %9.3f", name, good ? 1e3 * best[0] : NAN);
    for (int k = 1; k < WAYS; k++)
        printf(" %9.2f", good ? best[k] / best[0] : NAN);
    printf("\n");
    fflush(stdout);
    for (int k = 0; k < WAYS; k++)
        hm_sim_destroy(sim[k]);
    hm_system_destroy(system);
    hm_model_destroy(model);
    return good;
}

int main(void)
{
    bool good = true;
    hm_context *context = hm_context_create(NULL);
    printf(
        "Method taylor: ms with all special paths, and times without one of them as multiples\n\n");
    printf("%-16s", "");
    for (int k = 0; k < WAYS; k++)
        printf(" %9s", paths[k]);
    printf("\n");
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
        good = show(context, problems[i].name, problems[i].end) && good;
    hm_context_destroy(context);
    return good ? 0 : 1;
}
