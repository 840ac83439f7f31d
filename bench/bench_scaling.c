/* No cliffs: q'' of the models of ../shared/scaling over their sizes, in one run.
 *
 * For each model the time of one acceleration at sizes n from 12 to 2 000 coordinates, its growth
 * exponent over the last decade, and the largest jump
 *     jump = time(n + 6)/time(n) / ((n + 6)/n)          wanted: <= 1.5
 * over neighbouring sizes, each the least of several repetitions. Times are also given relative to the
 * chain of the same number of coordinates, so that they mean something on a loaded machine.
 *
 *   bench_scaling [FOLDER] [--csv] [MODEL...]     default: ../shared/scaling, all models
 */
#include "dynamics/sim/sim.h"

#include <hamel/hamel.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct subject {
    const char *name;
    int coordinates; /* for each unit of N */
    int more;        /* and besides */
} subject;

static const subject subjects[] = {
    {"chain", 3, 0},     {"planarloop", 3, 0}, {"redundant", 2, 0},
    {"quatchain", 7, 0}, {"friction", 2, 0},   {"n-trailer", 1, 3},
};

typedef struct ours {
    hm_context *context;
    hm_model *model;
    hm_system *system;
    hm_sim *sim;
    double *qdd;
} ours;

static void close_model(ours *o)
{
    hm_sim_destroy(o->sim);
    hm_system_destroy(o->system);
    hm_model_destroy(o->model);
    hm_context_destroy(o->context);
    free(o->qdd);
}

static bool open_model(ours *o, const char *path, int N)
{
    char value[32];
    snprintf(value, sizeof value, "%d", N);
    const hm_override override = {"N", value};
    hm_model_options options = hm_model_options_default();
    options.overrides = &override;
    options.override_count = 1;
    *o = (ours){.context = hm_context_create(NULL)};
    if (hm_model_load(o->context, path, &options, &o->model) != HM_OK ||
        hm_system_create(o->model, &o->system) != HM_OK ||
        hm_sim_create(o->system, &o->sim) != HM_OK ||
        hm_sim_make_consistent(o->sim, false, NULL, NULL) != HM_OK)
        return false;
    o->qdd = malloc((hm_model_coordinate_count(o->model) + 1) * sizeof *o->qdd);
    for (int i = 0; i < 4; i++) /* choices of rows are made by the first */
        if (hm_sim_accelerate(o->sim, o->qdd) != HM_OK)
            return false;
    return true;
}

/* The least mean of several batches, each of 0.3 ms at least, in seconds. */
static double time_of(ours *o)
{
    double best = INFINITY, spent = 0;
    long count = 1;
    for (int batch = 0; batch < 9 && spent < 0.5; batch++) {
        double start = now();
        for (long i = 0; i < count; i++)
            if (hm_sim_accelerate(o->sim, o->qdd) != HM_OK)
                return NAN;
        double took = now() - start;
        spent += took;
        best = fmin(best, took / (double)count);
        if (took < 3e-4) {
            count *= 2;
            batch--;
        }
    }
    return best;
}

static double measure(const char *path, int N)
{
    ours o;
    double t = open_model(&o, path, N) ? time_of(&o) : NAN;
    close_model(&o);
    return t;
}

static const int sizes[] = {12,  18,  24,  30,  42,  54,  60,  66,  84,  102,  150,
                            198, 210, 252, 300, 390, 396, 402, 408, 602, 1002, 2004};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Of coordinates, as near to n as the model allows. */
static int units_for(const subject *s, int n)
{
    int N = (n - s->more + s->coordinates - 1) / s->coordinates;
    return N < 3 ? 3 : N;
}

static void run_subject(const char *folder, const subject *s, const double *chain, bool csv,
                        double *out)
{
    char path[512];
    double jump = 0, before = NAN;
    int jump_at = 0, before_n = 0;
    snprintf(path, sizeof path,
             strcmp(s->name, "n-trailer") == 0 ? "examples/%s%s.hamel" : "%s/%s.hamel",
             strcmp(s->name, "n-trailer") == 0 ? "" : folder, s->name);
    if (!csv)
        printf("\n%s\n%8s %12s %10s %12s\n", s->name, "n", "q'' [us]", "ns per n", "of the chain");
    for (int i = 0; i < SIZES; i++) {
        int N = units_for(s, sizes[i]), n = N * s->coordinates + s->more;
        double t = measure(path, N);
        out[i] = t;
        if (csv)
            printf("%s,%d,%.6g\n", s->name, n, t * 1e6);
        else
            printf("%8d %12.3f %10.1f %12.2f\n", n, t * 1e6, t * 1e9 / n,
                   chain ? t / chain[i] : 1.0);
        if (n > before_n && n - before_n <= 12) {
            double j = t / before / ((double)n / before_n);
            if (j > jump) {
                jump = j;
                jump_at = n;
            }
        }
        before = t;
        before_n = n;
        fflush(stdout);
    }
    int last = SIZES - 1, first = SIZES - 9; /* 210 .. 2004 */
    if (!csv)
        printf("largest jump %.2f at n = %d (wanted 1.5); growth exponent %.2f from %d to %d\n",
               jump, jump_at, log(out[last] / out[first]) / log((double)sizes[last] / sizes[first]),
               sizes[first], sizes[last]);
}

int main(int argc, char **argv)
{
    const char *folder = "../shared/scaling";
    double chain[SIZES], other[SIZES];
    bool csv = false, all = true;
    for (int i = 1; i < argc; i++) {
        if (strchr(argv[i], '/'))
            folder = argv[i];
        else if (strcmp(argv[i], "--csv") == 0)
            csv = true;
        else
            all = false;
    }
    for (size_t k = 0; k < sizeof subjects / sizeof *subjects; k++) {
        bool wanted = all || k == 0;
        for (int i = 1; i < argc; i++)
            wanted = wanted || strcmp(argv[i], subjects[k].name) == 0;
        if (wanted)
            run_subject(folder, &subjects[k], k ? chain : NULL, csv, k ? other : chain);
    }
    return 0;
}
