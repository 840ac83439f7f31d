/* Ensembles against what an expert writes by hand (bench/hand): trajectories of 10 s at rtol 1e-8,
 * by DOP853 in scalar C and by hm_ensemble_run, on one core and on all.
 *
 * One core is timed by processor time, by turns on the same members, in pieces of which the least time of
 * several rounds counts: the machine may be shared. Threads are timed by the clock on the wall on all members
 * at once, one thread and all by turns, the least time of each. What two cores of the machine are worth is
 * shown by hand-written C on as many threads, which share nothing. Only the public API is used.
 */
#include "hand/hand.h"

#include <hamel/hamel.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MEMBERS = 10000, PIECE = 2500, ROUNDS = 8, MOST_THREADS = 64 };

static const char skate[] = "param m = 1, J = 0.1, g = 4.905; coord x, y, th\n"
                            "kinetic m/2*(x'^2 + y'^2) + J/2*th'^2; potential -m*g*x\n"
                            "constraint blade: sin(th)*x' - cos(th)*y' = 0\n";
static const char links[] = "param m = 1, l = 1, g = 9.81\ncoord a, b\n"
                            "let X = l*sin(a) + l*sin(b)\nlet Y = -l*cos(a) - l*cos(b)\n"
                            "kinetic m/2*l^2*a'^2 + m/2*(X'^2 + Y'^2)\n"
                            "potential -m*g*l*cos(a) + m*g*Y\ninitial b = 0.5\n";

typedef struct ensemble {
    hand_model model;
    hm_context *context;
    hm_model *file;
    hm_system *system;
    hm_ensemble_column column;
    double values[MEMBERS];
    double by_hand, by_hamel; /* sums of final values, to be compared */
} ensemble;

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool open_ensemble(ensemble *e, hand_model model)
{
    const hm_model_options options = hm_model_options_default();
    const char *text = model == HAND_SKATE ? skate : links;
    *e = (ensemble){.model = model, .context = hm_context_create(NULL)};
    for (size_t k = 0; k < MEMBERS; k++)
        e->values[k] = 1 + (model == HAND_SKATE ? 2e-4 : 1e-4) * (double)k;
    return hm_model_parse(e->context, text, strlen(text), &options, &e->file) == HM_OK &&
           hm_system_create(e->file, &e->system) == HM_OK &&
           hm_ensemble_find_column(e->context, e->file, model == HAND_SKATE ? "th'" : "a",
                                   &e->column) == HM_OK;
}

static void close_ensemble(ensemble *e)
{
    hm_system_destroy(e->system);
    hm_model_destroy(e->file);
    hm_context_destroy(e->context);
}

static double simulate_by_hand(const ensemble *e, size_t k)
{
    double y[8] = {0};
    hand_work work;
    if (e->model == HAND_SKATE) {
        y[5] = e->values[k];
    } else {
        y[0] = e->values[k];
        y[1] = 0.5;
    }
    (void)hand_simulate(e->model, 10, 1e-8, 1e-10, y, &work);
    return y[0] + y[1];
}

static void run_by_hand(ensemble *e, size_t first, size_t count)
{
    for (size_t k = first; k < first + count; k++)
        e->by_hand += simulate_by_hand(e, k);
}

static bool add_final(void *user, const hm_member_result *result)
{
    ensemble *e = user;
    e->by_hamel += result->q ? result->q[0] + result->q[1] : NAN;
    return true;
}

static void run_by_hamel(ensemble *e, size_t first, size_t count, unsigned jobs)
{
    hm_ensemble_options options = hm_ensemble_options_default(e->file);
    const hm_ensemble_members members = {count, 1, &e->column, e->values + first};
    hm_ensemble_result result;
    options.run.start = 0;
    options.run.end = 10;
    options.run.rtol = 1e-8;
    options.run.atol = 1e-10;
    options.run.method = "dop853";
    options.run.content = HM_FRAME_CONTENT_STATE;
    options.jobs = jobs;
    options.on_member = add_final;
    options.user = e;
    (void)!hm_ensemble_run(e->context, e->system, &members, &options, &result);
}

/* Processor time of all members on one core, in pieces, each the least of several rounds. */
static void time_both(ensemble *e, double *hand, double *hamel)
{
    *hand = *hamel = 0;
    for (size_t first = 0; first < MEMBERS; first += PIECE) {
        double best[2] = {INFINITY, INFINITY};
        for (int round = 0; round < ROUNDS; round++) {
            double start = seconds(CLOCK_PROCESS_CPUTIME_ID);
            run_by_hand(e, first, PIECE);
            double middle = seconds(CLOCK_PROCESS_CPUTIME_ID);
            run_by_hamel(e, first, PIECE, 1);
            best[0] = fmin(best[0], middle - start);
            best[1] = fmin(best[1], seconds(CLOCK_PROCESS_CPUTIME_ID) - middle);
        }
        *hand += best[0];
        *hamel += best[1];
    }
}

/* ---- threads ---- */

/* Of all members: the least time by the clock on the wall, and of the processors. */
typedef struct threads_time {
    double wall, used;
} threads_time;

typedef struct share {
    ensemble *e;
    size_t first, count;
    double sum;
} share;

static void *run_share(void *user)
{
    share *s = user;
    for (size_t k = s->first; k < s->first + s->count; k++)
        s->sum += simulate_by_hand(s->e, k);
    return NULL;
}

/* What two cores of this machine give to a program that shares nothing. */
static void run_by_hand_on(ensemble *e, unsigned jobs)
{
    pthread_t threads[MOST_THREADS];
    share shares[MOST_THREADS];
    for (unsigned k = 0; k < jobs; k++) {
        shares[k] = (share){e, k * MEMBERS / jobs, (k + 1) * MEMBERS / jobs - k * MEMBERS / jobs,
                            0};
        if (pthread_create(&threads[k], NULL, run_share, &shares[k]) != 0)
            abort();
    }
    for (unsigned k = 0; k < jobs; k++)
        pthread_join(threads[k], NULL);
}

static void time_on(ensemble *e, bool hand, unsigned jobs, threads_time *best)
{
    double wall = seconds(CLOCK_MONOTONIC), used = seconds(CLOCK_PROCESS_CPUTIME_ID);
    if (hand)
        run_by_hand_on(e, jobs);
    else
        run_by_hamel(e, 0, MEMBERS, jobs);
    best->used = fmin(best->used, seconds(CLOCK_PROCESS_CPUTIME_ID) - used);
    best->wall = fmin(best->wall, seconds(CLOCK_MONOTONIC) - wall);
}

/* On 1 and on all processors by turns, so that a neighbour's work is in both. */
static void print_threads(ensemble *e, bool hand, int rounds)
{
    unsigned processors = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    unsigned jobs = processors < MOST_THREADS ? processors : MOST_THREADS;
    threads_time one = {INFINITY, INFINITY}, all = one;
    for (int round = 0; round < rounds; round++) {
        time_on(e, hand, 1, &one);
        time_on(e, hand, jobs, &all);
    }
    printf("  %s on 1 and %2u threads, by the wall %8.0f %12.0f %8.2f %s, processor time x %.2f\n",
           hand ? "by hand" : "Hamel  ", jobs, MEMBERS / one.wall, MEMBERS / all.wall,
           one.wall / all.wall, hand ? "of this machine" : ">= 1.9 of 2 idle", all.used / one.used);
}

static void print_rows(const char *name, hand_model model)
{
    static ensemble e;
    double hand, hamel;
    if (!open_ensemble(&e, model)) {
        printf("%s: the model does not compile\n", name);
        close_ensemble(&e);
        return;
    }
    time_both(&e, &hand, &hamel);
    double difference = (e.by_hand - e.by_hamel) / (ROUNDS * MEMBERS);
    printf("%-34s %12.0f %12.0f %8.2f >= 2.5%s\n", name, MEMBERS / hand, MEMBERS / hamel,
           hand / hamel, hand >= 2.5 * hamel ? "" : " missed");
    printf("%-34s %12s %12.1e\n", "  mean difference of final values", "", difference);
    print_threads(&e, true, 3);
    print_threads(&e, false, model == HAND_SKATE ? 24 : 8);
    close_ensemble(&e);
}

int main(void)
{
    printf("%-34s %12s %12s %8s wanted\n", "ensemble, trajectories a second", "by hand", "Hamel",
           "ratio");
    print_rows("double pendulum, 10 s at 1e-8", HAND_DOUBLE_PENDULUM);
    print_rows("skate, 10 s at 1e-8", HAND_SKATE);
    return 0;
}
