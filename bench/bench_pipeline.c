/* From file to evaluable tape, and the interpreter's speed: the figures of docs/benchmarks.md.
 *
 * Times are the least of several runs (the machine is shared); memory is what the allocator
 * callback counted at its peak.
 */
#include <hamel/hamel.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* others share the machine */
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- an allocator that counts ---- */

typedef struct counter {
    size_t live, peak;
} counter;

static void *count_resize(void *user, void *ptr, size_t old_size, size_t new_size)
{
    counter *c = user;
    void *result = NULL;
    if (new_size == 0)
        free(ptr);
    else if (!(result = realloc(ptr, new_size)))
        return NULL;
    c->live += new_size - old_size;
    c->peak = c->live > c->peak ? c->live : c->peak;
    return result;
}

/* ---- the models ---- */

static const char pendulum_positions[] = "param N = 50, m = 1, l = 1, g = 9.81\n"
                                         "coord q[1..N]\n"
                                         "let X(i) = sum(k = 1..i, l*sin(q[k]))\n"
                                         "let Y(i) = -sum(k = 1..i, l*cos(q[k]))\n"
                                         "for i = 1..N {\n"
                                         "  kinetic m/2*(X(i)'^2 + Y(i)'^2)\n"
                                         "  potential m*g*Y(i)\n"
                                         "  initial q[i] = 0.1*i, q[i]' = 0.2\n"
                                         "}\n";

static const char pendulum_expanded[] = "param N = 50, m = 1, l = 1, g = 9.81\n"
                                        "coord q[1..N]\n"
                                        "kinetic sum(i = 1..N, sum(j = 1..N, m*l^2/2*(N + 1 - "
                                        "max(i, j))*cos(q[i] - q[j])*q[i]'*q[j]'))\n"
                                        "potential -sum(i = 1..N, m*g*l*(N + 1 - i)*cos(q[i]))\n"
                                        "for i = 1..N { initial q[i] = 0.1*i, q[i]' = 0.2 }\n";

static const char particle_chain[] =
    "param N = 10000, m = 1, l = 1, g = 9.81\n"
    "coord x[1..N], y[1..N], z[1..N]\n"
    "for i = 1..N {\n"
    "  kinetic m/2*(x[i]'^2 + y[i]'^2 + z[i]'^2)\n"
    "  potential m*g*z[i]\n"
    "  initial x[i] = i*l\n"
    "}\n"
    "constraint rod[1]: x[1]^2 + y[1]^2 + z[1]^2 = l^2\n"
    "for i = 2..N {\n"
    "  constraint rod[i]: (x[i]-x[i-1])^2 + (y[i]-y[i-1])^2 + (z[i]-z[i-1])^2 = l^2\n"
    "}\n";

/* ---- one measurement ---- */

typedef struct measurement {
    double read_ms, derive_ms, evaluate_us;
    size_t peak;
    hm_system_statistics size;
    bool good;
} measurement;

static double time_evaluation(hm_sim *sim)
{
    double best = 1e300;
    for (int run = 0; run < 5; run++) {
        int count = 0;
        double start = now(), elapsed;
        do {
            hm_sim_evaluate_fast(sim);
            count++;
        } while ((elapsed = now() - start) < 0.04);
        best = elapsed / count < best ? elapsed / count : best;
    }
    return 1e6 * best;
}

static measurement measure_once(const char *text, int size, bool evaluate)
{
    measurement result = {0};
    counter c = {0};
    char value[32];
    snprintf(value, sizeof value, "%d", size);
    const hm_allocator allocator = {count_resize, &c};
    const hm_override override = {"N", value};
    hm_model_options options = hm_model_options_default();
    options.overrides = &override;
    options.override_count = 1;
    hm_context *context = hm_context_create(&allocator);
    hm_model *model = NULL;
    hm_system *system = NULL;
    hm_sim *sim = NULL;
    double start = now();
    result.good = hm_model_parse(context, text, strlen(text), &options, &model) == HM_OK;
    double parsed = now();
    result.good = result.good && hm_system_create(model, &system) == HM_OK;
    double derived = now();
    result.read_ms = 1e3 * (parsed - start);
    result.derive_ms = 1e3 * (derived - parsed);
    result.peak = c.peak;
    if (result.good)
        result.size = hm_system_get_statistics(system);
    if (result.good && evaluate && (result.good = hm_sim_create(system, &sim) == HM_OK))
        result.evaluate_us = time_evaluation(sim);
    hm_sim_destroy(sim);
    hm_system_destroy(system);
    hm_model_destroy(model);
    hm_context_destroy(context);
    return result;
}

/* The fastest of `runs`. */
static measurement measure(const char *text, int size, int runs)
{
    measurement best = measure_once(text, size, true);
    for (int run = 1; run < runs && best.good; run++) {
        measurement next = measure_once(text, size, false);
        if (next.read_ms + next.derive_ms < best.read_ms + best.derive_ms) {
            best.read_ms = next.read_ms;
            best.derive_ms = next.derive_ms;
        }
    }
    return best;
}

static void print_row(const char *name, int size, const measurement *m, const char *target)
{
    if (!m->good) {
        printf("%-28s %7d  failed\n", name, size);
        return;
    }
    printf("%-28s %7d %9.2f %9.2f %9.2f %9s %8.1f %9zu %10.2f %7.2f\n", name, size, m->read_ms,
           m->derive_ms, m->read_ms + m->derive_ms, target, (double)m->peak / (1 << 20),
           m->size.tape_nodes, m->evaluate_us, 1e3 * m->evaluate_us / (double)m->size.tape_nodes);
}

int main(void)
{
    static const struct {
        const char *name, *text;
        int size, runs;
        const char *target;
    } rows[] = {
        {"pendulum, positions", pendulum_positions, 10, 60, ""},
        {"pendulum, positions", pendulum_positions, 50, 60, "10"},
        {"pendulum, positions", pendulum_positions, 200, 5, "300"},
        {"pendulum, expanded sum", pendulum_expanded, 10, 60, ""},
        {"pendulum, expanded sum", pendulum_expanded, 50, 60, "10"},
        {"pendulum, expanded sum", pendulum_expanded, 200, 5, "300"},
        {"chain of particles", particle_chain, 1000, 12, ""},
        {"chain of particles", particle_chain, 10000, 3, "600"},
        {"chain of particles", particle_chain, 40000, 2, ""},
    };
    printf("From file to evaluable tape (ms, least of several runs), and the interpreter\n\n");
    printf("%-28s %7s %9s %9s %9s %9s %8s %9s %10s %7s\n", "model", "N", "read", "derive", "total",
           "at most", "MiB", "nodes", "eval us", "ns/node");
    bool good = true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        measurement m = measure(rows[i].text, rows[i].size, rows[i].runs);
        print_row(rows[i].name, rows[i].size, &m, rows[i].target);
        good = good && m.good;
        fflush(stdout);
    }
    return good ? 0 : 1;
}
