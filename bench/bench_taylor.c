/* Method taylor and method dop853 against hand-written C with DOP853 (bench/hand), at equal final
 * error: what `auto` goes by (integrate/run/start.c). Both sides are timed alternately, the least of
 * each counts. */
#include "hand/hand.h"

#include <hamel/hamel.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MOST = 32, ROUNDS = 15 };

static const struct problem {
    const char *name, *text; /* text NULL: examples/andrews.hamel */
    hand_model hand;
    double end;
} problems[] = {
    {"pendulum, 100 s",
     "param m = 1, g = 9.81; coord x, y; kinetic m/2*(x'^2 + y'^2); potential m*g*y\n"
     "constraint rod: x^2 + y^2 = 1; initial x = 1",
     HAND_PENDULUM, 100},
    {"10 links, 10 s",
     "param N = 10, g = 9.81; coord q[1..N]; let X(i) = sum(k = 1..i, sin(q[k]))\n"
     "let Y(i) = -sum(k = 1..i, cos(q[k]))\n"
     "for i = 1..N { kinetic (X(i)'^2 + Y(i)'^2)/2; potential g*Y(i); initial q[i] = 0.5 }",
     HAND_LINKS, 10},
    {"Andrews, 0.03 s", NULL, HAND_ANDREWS, 0.03},
    {"rolling disc, 10 s",
     "param g = 9.81; coord x, y, yaw, lean, spin\n"
     "let e1 = x'*cos(yaw) + y'*sin(yaw) + yaw'*sin(lean)\n"
     "let e2 = -x'*sin(yaw) + y'*cos(yaw) - lean'*cos(lean)\n"
     "kinetic (e1^2 + e2^2 + (lean'*sin(lean))^2)/2 + (lean'^2 + (yaw'*cos(lean))^2)/8\n"
     "kinetic (spin' + yaw'*sin(lean))^2/4; potential g*cos(lean)\n"
     "constraint a: x' = cos(yaw)*spin'; constraint b: y' = sin(yaw)*spin'\n"
     "initial lean = 0.2, yaw' = 0.5, spin' = 3",
     HAND_DISC, 10},
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct bench {
    const struct problem *problem;
    const char *method; /* NULL: by hand */
    hm_context *context;
    hm_model *model;
    hm_system *system;
    hm_sim *sim;
    double start[MOST], reference[MOST], result[MOST];
    long steps;
} bench;

static bool open_bench(bench *b, const struct problem *p)
{
    const char *path = HAMEL_SOURCE_DIR "/examples/andrews.hamel";
    *b = (bench){.problem = p, .context = hm_context_create(NULL)};
    hm_status status = p->text
                           ? hm_model_parse(b->context, p->text, strlen(p->text), NULL, &b->model)
                           : hm_model_load(b->context, path, NULL, &b->model);
    if (status != HM_OK || hm_system_create(b->model, &b->system) != HM_OK ||
        hm_sim_create(b->system, &b->sim) != HM_OK ||
        hm_sim_make_consistent(b->sim, false, NULL, NULL) != HM_OK)
        return false;
    double q[MOST], v[MOST];
    int n = hand_coordinates(p->hand), size = hand_size(p->hand);
    hm_sim_state(b->sim, q, v, NULL);
    memcpy(b->start, q, (size_t)n * sizeof *q);
    memcpy(b->start + n, p->hand == HAND_DISC ? v + 2 : v, (size_t)(size - n) * sizeof *v);
    memcpy(b->reference, b->start, sizeof b->start);
    return hand_reference(p->hand, p->end, b->reference) == 0;
}

static void close_bench(bench *b)
{
    hm_sim_destroy(b->sim);
    hm_system_destroy(b->system);
    hm_model_destroy(b->model);
    hm_context_destroy(b->context);
}

/* Seconds of one run, or infinity. */
static double run(bench *b, double tolerance)
{
    hand_work work = {0};
    hm_run_result result;
    double q[MOST], v[MOST], begin;
    if (!b->method) {
        memcpy(b->result, b->start, sizeof b->start);
        begin = now();
        int failed = hand_simulate(b->problem->hand, b->problem->end, tolerance, tolerance,
                                   b->result, &work);
        b->steps = work.steps;
        return failed ? INFINITY : now() - begin;
    }
    hm_run_options options = hm_run_options_default(b->model);
    options.method = b->method;
    options.start = 0;
    options.end = options.every = b->problem->end;
    options.rtol = options.atol = tolerance;
    hm_model_initial(b->model, q, v, NULL);
    hm_sim_set_state(b->sim, 0, q, v, NULL);
    begin = now();
    if (hm_sim_run(b->sim, &options, &result) != HM_OK)
        return INFINITY;
    double elapsed = now() - begin;
    hm_sim_state(b->sim, b->result, NULL, NULL);
    b->steps = result.steps;
    return elapsed;
}

static double error_of(const bench *b)
{
    double most = 0;
    for (int i = 0; i < hand_coordinates(b->problem->hand); i++)
        most = fmax(most, fabs(b->result[i] - b->reference[i]));
    return most;
}

/* The widest tolerance that meets the goal; 0: none. */
static double find_tolerance(bench *b, double goal)
{
    for (double exponent = -5; exponent >= -15; exponent -= 0.25)
        if (isfinite(run(b, pow(10, exponent))) && error_of(b) <= goal)
            return pow(10, exponent);
    return 0;
}

static void compare(bench *b, double goal)
{
    static const char *const methods[3] = {NULL, "dop853", "taylor"};
    double tolerance[3], best[3] = {INFINITY, INFINITY, INFINITY};
    long steps[3] = {0};
    for (int k = 0; k < 3; k++) {
        b->method = methods[k];
        tolerance[k] = find_tolerance(b, goal);
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int k = 0; k < 3; k++) {
            b->method = methods[k];
            if (tolerance[k] > 0)
                best[k] = fmin(best[k], run(b, tolerance[k]));
            steps[k] = b->steps;
        }
    printf("%-20s %.0e %9.3f", b->problem->name, goal, 1e3 * best[0]);
    for (int k = 1; k < 3; k++)
        printf(" %9.3f %6ld %6.2f", 1e3 * best[k], steps[k], best[k] / best[0]);
    printf("\n");
    fflush(stdout);
}

int main(void)
{
    bool good = true;
    printf("Simulation at equal error, ms; ratios to hand-written C with DOP853\n\n");
    printf("%-20s %5s %9s %9s %6s %6s %9s %6s %6s\n", "", "error", "hand", "dop853", "steps",
           "ratio", "taylor", "steps", "ratio");
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        bench b;
        good = open_bench(&b, &problems[i]) && good;
        if (good) {
            compare(&b, 1e-8);
            compare(&b, 1e-11);
        }
        close_bench(&b);
    }
    return good ? 0 : 1;
}
