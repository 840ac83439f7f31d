/* Hamel from a C program: one system, many threads.
 *
 *     cc threads.c $(pkg-config --cflags --libs hamel) -lm -lpthread && ./a.out
 *
 * A model and a system are immutable, so that threads share them without locks. Each thread has a sim
 * of its own, and the sim has its own diagnostics: evaluations that fail do not disturb others. What
 * takes a system and has something to say, as hm_system_analyse does, is given a context of the thread.
 * Every thread does the same here, and all must get the bits and the messages that the first one gets
 * when it is alone.
 */
#include <hamel/hamel.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 8, ROUNDS = 4, STATES = 3 };

static const char model_text[] = "model bead \"A bead on a hoop, beside a wall that repels it\"\n"
                                 "param m = 1, r = 2, g = 9.81, k = 0.5\n"
                                 "coord x, y\n"
                                 "body bead { mass m  at [x, y] }\n"
                                 "gravity [0, -g]\n"
                                 "potential k/x\n"
                                 "constraint hoop: x^2 + y^2 = r^2\n"
                                 "initial x = 1.2, y = -1.6\n"
                                 "simulate 0 .. 1\n"
                                 "output height = y + r\n";

/* What a thread found. */
typedef struct findings {
    hm_status status[ROUNDS];
    double qdd[ROUNDS][2], lambda[ROUNDS];
    char message[ROUNDS][300]; /* of the evaluation that fails */
    double end[ROUNDS][4];     /* of the run */
    long steps[ROUNDS];
    int freedom;
} findings;

typedef struct worker {
    const hm_system *system;
    findings found;
    bool good;
} worker;

/* At the wall the potential has no value: the diagnostic says so. */
static bool fail(hm_sim *sim, int round, findings *f)
{
    const double q[2] = {0, -2}, v[2] = {1, 0};
    hm_evaluation at;
    hm_context_clear(hm_sim_context(sim));
    hm_sim_set_state(sim, 0, q, v, NULL);
    if (hm_sim_evaluate(sim, NULL, &at) != HM_ERR_NUMERIC ||
        hm_sim_set_param(sim, "mass", 1) != HM_ERR_USAGE) /* there is none of that name */
        return false;
    const hm_diagnostic *said = hm_context_diagnostic(hm_sim_context(sim), 0);
    hm_diagnostic_format(said, false, f->message[round], sizeof f->message[round]);
    return hm_context_error_count(hm_sim_context(sim)) == 2;
}

static bool evaluate(hm_sim *sim, int round, findings *f)
{
    const double q[STATES][2] = {{1.2, -1.6}, {1.6, 1.2}, {2, 0}};
    const double v[STATES][2] = {{0.8, 0.6}, {-0.6, 0.8}, {0, 1}};
    hm_evaluation at;
    hm_sim_set_state(sim, 0, q[round % STATES], v[round % STATES], NULL);
    f->status[round] = hm_sim_evaluate(sim, NULL, &at);
    if (f->status[round] != HM_OK)
        return false;
    memcpy(f->qdd[round], at.qdd, sizeof f->qdd[round]);
    f->lambda[round] = at.lambda[0];
    return true;
}

static bool run(hm_sim *sim, int round, findings *f)
{
    const double q[2] = {1.2, -1.6}, v[2] = {0.8 * round, 0.6 * round};
    hm_run_result result;
    hm_sim_set_state(sim, 0, q, v, NULL);
    if (hm_sim_run(sim, NULL, &result) != HM_OK)
        return false;
    memcpy(f->end[round], result.q, 2 * sizeof(double));
    memcpy(f->end[round] + 2, result.v, 2 * sizeof(double));
    f->steps[round] = result.steps;
    return true;
}

static bool analyse(const hm_system *system, findings *f)
{
    hm_context *context = hm_context_create(NULL);
    hm_analysis *analysis = NULL;
    bool good = context && hm_system_analyse(context, system, &analysis) == HM_OK;
    if (good)
        f->freedom = (int)analysis->set.configuration_dimension;
    hm_analysis_destroy(analysis);
    hm_context_destroy(context);
    return good;
}

/* A system of the thread's own from the model that all share: what there is to say has its own context. */
static bool derive(const hm_model *model)
{
    hm_context *reports = NULL;
    hm_system *system = NULL;
    hm_system_options options = hm_system_options_default();
    options.reports = &reports;
    bool good = hm_system_create_with(model, &options, &system) == HM_OK &&
                hm_context_error_count(reports) == 0;
    hm_system_destroy(system);
    hm_context_destroy(reports);
    return good;
}

static void *work(void *user)
{
    worker *w = user;
    hm_sim *sim = NULL;
    w->good = hm_sim_create(w->system, &sim) == HM_OK && analyse(w->system, &w->found) &&
              derive(hm_system_model(w->system));
    for (int k = 0; k < ROUNDS && w->good; k++)
        w->good = fail(sim, k, &w->found) && evaluate(sim, k, &w->found) && run(sim, k, &w->found);
    hm_sim_destroy(sim);
    return NULL;
}

static bool share(const hm_system *system)
{
    static worker alone, workers[THREADS];
    pthread_t threads[THREADS];
    int started = 0;
    alone.system = system;
    work(&alone);
    bool good = alone.good;
    for (; started < THREADS; started++) {
        workers[started].system = system;
        if (pthread_create(&threads[started], NULL, work, &workers[started]) != 0)
            break;
    }
    for (int k = 0; k < started; k++) {
        pthread_join(threads[k], NULL);
        good = good && workers[k].good &&
               memcmp(&workers[k].found, &alone.found, sizeof alone.found) == 0;
    }
    printf("%d threads, %d rounds each: %s\n", started, ROUNDS,
           good ? "the same bits and messages everywhere" : "they differ");
    fputs(alone.found.message[0], stdout);
    return good && started == THREADS;
}

int main(void)
{
    hm_context *context = hm_context_create(NULL);
    hm_model *model = NULL;
    hm_system *system = NULL;
    if (!context)
        return 1;
    hm_status status = hm_model_parse(context, model_text, strlen(model_text), NULL, &model);
    if (status == HM_OK)
        status = hm_system_create(model, &system);
    bool good = status == HM_OK && share(system);
    if (status != HM_OK)
        fprintf(stderr, "threads: %s\n", hm_status_text(status));
    hm_system_destroy(system);
    hm_model_destroy(model);
    hm_context_destroy(context);
    return good ? 0 : 1;
}
