/* Ensembles against what an expert writes by hand (bench/hand): trajectories of 10 s at rtol 1e-8,
 * by DOP853 in scalar C and by hm_ensemble_run, on one core and on all.
 *
 * All are timed by turns on the same members, in pieces, of which the least time of several rounds
 * counts: the machine may be shared. One core is timed by processor time. Threads are timed by the clock
 * on the wall against one thread, each piece with threads of its own, until a round of each had its
 * processors to itself or there were many rounds. Two figures say what that is worth: how many
 * processors the threads had, since a busy machine gives them fewer, and how much more processor time
 * they take than one thread. Only the public API is used.
 */
#include "hand/hand.h"

#include <hamel/hamel.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MEMBERS = 10000, PIECE = 2500, ROUNDS = 8, MOST_ROUNDS = 30 };

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
           hm_ensemble_find_column(e->file, model == HAND_SKATE ? "th'" : "a", &e->column) == HM_OK;
}

static void close_ensemble(ensemble *e)
{
    hm_system_destroy(e->system);
    hm_model_destroy(e->file);
    hm_context_destroy(e->context);
}

static void run_by_hand(ensemble *e, size_t first, size_t count)
{
    for (size_t k = first; k < first + count; k++) {
        double y[8] = {0};
        hand_work work;
        if (e->model == HAND_SKATE)
            y[5] = e->values[k];
        else {
            y[0] = e->values[k];
            y[1] = 0.5;
        }
        (void)hand_simulate(e->model, 10, 1e-8, 1e-10, y, &work);
        e->by_hand += y[0] + y[1];
    }
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
    options.run.content = HM_FRAME_STATE;
    options.jobs = jobs;
    options.on_member = add_final;
    options.user = e;
    (void)!hm_ensemble_run(e->system, &members, &options, &result);
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

/* Of all members: clock on the wall, processor time then, and the least processor time. */
typedef struct threads_time {
    double wall, used, least;
} threads_time;

static void time_piece(ensemble *e, size_t first, unsigned jobs, threads_time *best)
{
    double wall = seconds(CLOCK_MONOTONIC), used = seconds(CLOCK_PROCESS_CPUTIME_ID);
    run_by_hamel(e, first, PIECE, jobs);
    used = seconds(CLOCK_PROCESS_CPUTIME_ID) - used;
    wall = seconds(CLOCK_MONOTONIC) - wall;
    best->least = fmin(best->least, used);
    if (wall < best->wall) {
        best->wall = wall;
        best->used = used;
    }
}

static bool was_alone(const threads_time *best, unsigned jobs)
{
    return best->used >= 0.98 * jobs * best->wall;
}

static void time_threads(ensemble *e, const unsigned jobs[2], threads_time all[2])
{
    all[0] = all[1] = (threads_time){0};
    for (size_t first = 0; first < MEMBERS; first += PIECE) {
        threads_time best[2] = {{INFINITY, 0, INFINITY}, {INFINITY, 0, INFINITY}};
        bool enough = false;
        for (int round = 0; round < MOST_ROUNDS && !enough; round++) {
            for (int k = 0; k < 2; k++)
                time_piece(e, first, jobs[k], &best[k]);
            enough = round >= ROUNDS && was_alone(&best[0], jobs[0]) &&
                     was_alone(&best[1], jobs[1]);
        }
        for (int k = 0; k < 2; k++) {
            all[k].wall += best[k].wall;
            all[k].used += best[k].used;
            all[k].least += best[k].least;
        }
    }
}

static void print_threads(ensemble *e)
{
    const unsigned jobs[2] = {1, (unsigned)sysconf(_SC_NPROCESSORS_ONLN)};
    threads_time time[2];
    time_threads(e, jobs, time);
    printf("  on 1 and on %u threads, by the wall  %8.0f %12.0f %8.2f >= 1.9 of 2 idle cores\n",
           jobs[1], MEMBERS / time[0].wall, MEMBERS / time[1].wall, time[0].wall / time[1].wall);
    printf("    processors they had; time they used %6.2f %12.2f %8.3f\n",
           time[0].used / time[0].wall, time[1].used / time[1].wall, time[1].least / time[0].least);
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
    print_threads(&e);
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
