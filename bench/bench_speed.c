/* Hamel against what an expert writes by hand (bench/hand) and against peers (bench/peers): one
 * table, every ratio from one run. See docs/benchmarks.md.
 *
 * Both sides of a row are timed alternately, several times each, and the least of each counts: the
 * machine may be shared. Only the public API is used.
 */
#include "hand/hand.h"
#include "peer_cvode.h"

#include <hamel/hamel.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- time ---- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef void (*task)(void *user, long count);

/* Seconds a call; *best keeps the least over several uses. */
static void time_batch(task run, void *user, long *count, double seconds, double *best)
{
    for (;;) {
        double start = now();
        run(user, *count);
        double elapsed = now() - start;
        if (elapsed >= 0.5 * seconds || *count > 1L << 40) {
            double each = elapsed / (double)*count;
            *best = each < *best ? each : *best;
            return;
        }
        *count *= elapsed < 0.05 * seconds ? 8 : 2;
    }
}

static void time_both(task hand, task hamel, void *user, double *hand_s, double *hamel_s)
{
    long hand_count = 1, hamel_count = 1;
    *hand_s = *hamel_s = 1e300;
    for (int round = 0; round < 20; round++) {
        if (hand)
            time_batch(hand, user, &hand_count, 0.02, hand_s);
        time_batch(hamel, user, &hamel_count, 0.02, hamel_s);
    }
}

/* ---- models ---- */

static const char skate[] = "param m = 1, J = 0.1, g = 4.905; coord x, y, th\n"
                            "kinetic m/2*(x'^2 + y'^2) + J/2*th'^2; potential -m*g*x\n"
                            "constraint blade: sin(th)*x' - cos(th)*y' = 0\n";
static const char hamel_skate[] =
    "param m = 1, s = 0.3, J = 0.5; coord x, y, th\n"
    "kinetic m/2*(x'^2 + y'^2) + m*s*th'*(y'*cos(th) - x'*sin(th)) + J/2*th'^2\n"
    "constraint blade: y'*cos(th) = x'*sin(th)\n";
static const char pendulum[] = "param m = 1, g = 9.81; coord x, y\n"
                               "kinetic m/2*(x'^2 + y'^2); potential m*g*y\n"
                               "constraint rod: x^2 + y^2 = 1\ninitial x = 1\n";
static const char links[] = "param N = 10, m = 1, l = 1, g = 9.81\ncoord q[1..N]\n"
                            "let X(i) = sum(k = 1..i, l*sin(q[k]))\n"
                            "let Y(i) = -sum(k = 1..i, l*cos(q[k]))\n"
                            "for i = 1..N { kinetic m/2*(X(i)'^2 + Y(i)'^2); potential m*g*Y(i)\n"
                            "  initial q[i] = 0.5 }\n";
static const char disc[] =
    "param g = 9.81; coord x, y, yaw, lean, spin\n"
    "let e1 = x'*cos(yaw) + y'*sin(yaw) + yaw'*sin(lean)\n"
    "let e2 = -x'*sin(yaw) + y'*cos(yaw) - lean'*cos(lean)\n"
    "kinetic (e1^2 + e2^2 + (lean'*sin(lean))^2)/2 + (lean'^2 + (yaw'*cos(lean))^2)/8\n"
    "kinetic (spin' + yaw'*sin(lean))^2/4\npotential g*cos(lean)\n"
    "constraint a: x' = cos(yaw)*spin'\nconstraint b: y' = sin(yaw)*spin'\n"
    "initial lean = 0.2, yaw' = 0.5, spin' = 3\n";
static const char chain[] =
    "param N = 100, g = 9.81; coord x[1..N], y[1..N], z[1..N]\n"
    "for i = 1..N { kinetic (x[i]'^2 + y[i]'^2 + z[i]'^2)/2; potential g*z[i]; initial x[i] = i }\n"
    "constraint rod[1]: x[1]^2 + y[1]^2 + z[1]^2 = 1\nfor i = 2..N {\n"
    "  constraint rod[i]: (x[i]-x[i-1])^2 + (y[i]-y[i-1])^2 + (z[i]-z[i-1])^2 = 1 }\n";

typedef struct loaded {
    hm_context *context;
    hm_model *model;
    hm_system *system;
    hm_sim *sim;
} loaded;

static void close_model(loaded *m)
{
    hm_sim_destroy(m->sim);
    hm_system_destroy(m->system);
    hm_model_destroy(m->model);
    hm_context_destroy(m->context);
    *m = (loaded){0};
}

/* text, or a file of examples/ where it ends in ".hamel" */
static bool open_model(loaded *m, const char *text, int N)
{
    char value[32], path[1024];
    snprintf(value, sizeof value, "%d", N);
    snprintf(path, sizeof path, "%s/examples/%s", HAMEL_SOURCE_DIR, text);
    const hm_override override = {"N", value};
    hm_model_options options = hm_model_options_default();
    options.overrides = &override;
    options.override_count = N > 0;
    *m = (loaded){.context = hm_context_create(NULL)};
    hm_context_set_limits(m->context,
                          &(hm_limits){0}); /* 10^6 coordinates take more than the default */
    size_t length = strlen(text);
    bool file = length > 6 && strcmp(text + length - 6, ".hamel") == 0;
    hm_status read = file ? hm_model_load(m->context, path, &options, &m->model)
                          : hm_model_parse(m->context, text, length, &options, &m->model);
    if (read == HM_OK && hm_system_create(m->model, &m->system) == HM_OK &&
        hm_sim_create(m->system, &m->sim) == HM_OK)
        return true;
    close_model(m);
    return false;
}

/* ---- the table ---- */

static int missed;

static void print_title(const char *title, const char *first, const char *second)
{
    printf("\n%-44s %12s %12s %8s %8s\n", title, first, second, "ratio", "wanted");
}

static void print_time(double seconds)
{
    if (!(seconds < 1e299))
        printf(" %12s", "-");
    else if (seconds < 1e-6)
        printf(" %9.1f ns", 1e9 * seconds);
    else if (seconds < 1e-3)
        printf(" %9.2f us", 1e6 * seconds);
    else
        printf(" %9.2f ms", 1e3 * seconds);
}

/* most > 0: hamel/hand at most; most < 0: hand/hamel at least -most; 0: no target. */
static void print_row(const char *name, double hand, double hamel, double most)
{
    printf("%-44s", name);
    print_time(hand);
    print_time(hamel);
    double ratio = most < 0 ? hand / hamel : hamel / hand;
    bool known = hand < 1e299 && hamel < 1e299;
    bool good = known && (most < 0 ? ratio >= -most : ratio <= most);
    if (known)
        printf(" %8.3g", ratio);
    else
        printf(" %8s", "-");
    if (most != 0)
        printf(" %s %-5g%s", most < 0 ? ">=" : "<=", fabs(most), good ? "" : " missed");
    printf("\n");
    fflush(stdout);
    missed += most != 0 && !good;
}

/* ---- accelerations ---- */

enum { MOST = 32 };

typedef struct accelerations {
    hand_model model;
    hm_sim *sim;
    double q[MOST], v[MOST], by_hand[MOST], by_hamel[MOST];
    hm_status status;
} accelerations;

static void hand_task(void *user, long count)
{
    accelerations *a = user;
    hand_accelerate(a->model, a->q, a->v, a->by_hand, count);
}

static void hamel_task(void *user, long count)
{
    accelerations *a = user;
    for (long k = 0; k < count; k++)
        a->status = hm_sim_accelerate(a->sim, a->by_hamel);
}

static double difference(int n, const double *x, const double *y)
{
    double most = 0, size = 1;
    for (int i = 0; i < n; i++) {
        size = fmax(size, fabs(y[i]));
        most = fmax(most, fabs(x[i] - y[i]));
    }
    return most / size;
}

static void accelerate_row(const char *name, hand_model model, const char *text, double most)
{
    static const double andrews[7] = {-0.0617138900142764496, 0,
                                      0.455279819163070380,   0.222668390165885885,
                                      0.487364979543842550,   -0.222668390165885885,
                                      1.23054744454982119};
    double hand, hamel;
    int n = hand_coordinates(model);
    accelerations a = {.model = model};
    loaded m;
    for (int i = 0; i < n; i++) {
        a.q[i] = model == HAND_ANDREWS ? andrews[i] : 0.1 * (i + 1);
        a.v[i] = 0.05 * (i + 1) * (i % 2 ? -1 : 1);
    }
    if (!open_model(&m, text, 0)) {
        print_row(name, INFINITY, INFINITY, most);
        return;
    }
    a.sim = m.sim;
    hm_sim_set_state(m.sim, 0, a.q, a.v, NULL);
    time_both(hand_task, hamel_task, &a, &hand, &hamel);
    if (a.status != HM_OK || difference(n, a.by_hamel, a.by_hand) > 1e-9) {
        printf("%s: the accelerations differ\n", name);
        missed++;
    }
    print_row(name, hand, hamel, most);
    close_model(&m);
}

/* ---- chains ---- */

typedef struct chain_state {
    int N;
    double *x, *v, *a, *memory; /* hand: particle after particle */
    double *q, *qv, *qa;        /* Hamel: all x, all y, all z */
    hm_sim *sim;
    hm_status status;
} chain_state;

static void chain_hand(void *user, long count)
{
    chain_state *c = user;
    hand_chain(c->N, c->x, c->v, c->a, c->memory, count);
}

static void chain_hamel(void *user, long count)
{
    chain_state *c = user;
    for (long k = 0; k < count; k++)
        c->status = hm_sim_accelerate(c->sim, c->qa);
}

/* Rods of unit length in changing directions, turning. */
static void fill_chain(chain_state *c)
{
    double p[3] = {0}, pv[3] = {0};
    for (int i = 0; i < c->N; i++) {
        double a = 0.3 * sin(i + 1.0), b = 0.2 * cos(2.0 * i), w = 0.5 * cos(3.0 * i);
        double r[3] = {sin(a) * cos(b), sin(b), -cos(a) * cos(b)};
        double t[3] = {-w * r[1], w * r[0], 0};
        for (int k = 0; k < 3; k++) {
            c->x[3 * i + k] = c->q[k * c->N + i] = p[k] += r[k];
            c->v[3 * i + k] = c->qv[k * c->N + i] = pv[k] += t[k];
        }
    }
}

static double chain_difference(const chain_state *c)
{
    double most = 0;
    for (int i = 0; i < c->N; i++)
        for (int k = 0; k < 3; k++)
            most = fmax(most, fabs(c->a[3 * i + k] - c->qa[k * c->N + i]));
    return most;
}

/* Seconds an evaluation by Hamel, or infinity where it cannot. */
static double chain_row(int N, double most)
{
    char name[64];
    double hand = INFINITY, hamel = INFINITY, *memory = calloc((size_t)N * 24, sizeof *memory);
    loaded m;
    snprintf(name, sizeof name, "chain of %d particles with rods", N);
    if (memory && open_model(&m, chain, N)) {
        chain_state c = {.N = N, .sim = m.sim, .x = memory};
        c.v = c.x + 3 * N;
        c.a = c.v + 3 * N;
        c.memory = c.a + 3 * N;
        c.q = c.memory + 6 * N;
        c.qv = c.q + 3 * N;
        c.qa = c.qv + 3 * N;
        fill_chain(&c);
        hm_sim_set_state(m.sim, 0, c.q, c.qv, NULL);
        c.status = hm_sim_accelerate(m.sim, c.qa);
        if (c.status == HM_OK)
            time_both(chain_hand, chain_hamel, &c, &hand, &hamel);
        if (c.status == HM_OK && chain_difference(&c) > 1e-7) {
            printf("%s: the accelerations differ by %g\n", name, chain_difference(&c));
            missed++;
        }
        close_model(&m);
    }
    free(memory);
    print_row(name, hand, hamel, most);
    return hamel;
}

static void chain_rows(void)
{
    double small = chain_row(100, 2);
    (void)chain_row(1000, 2);
    (void)chain_row(10000, 2);
    double large = chain_row(333333, 0);
    double exponent = log(large / small) / log(3333.33);
    bool good = exponent <= 1.05; /* also not where the large chain could not be evaluated */
    printf("%-44s %12s %12.3f %8s <= 1.05 %s\n", "growth exponent, 3e2 to 1e6 coordinates", "",
           exponent, "", good ? "" : "missed");
    missed += !good;
}

/* ---- from file to the first result ---- */

static void first_row(const char *name, const char *text, int N, double wanted)
{
    double best = INFINITY, *qdd = calloc((size_t)(N ? 3 * N : 64), sizeof *qdd);
    bool good = qdd != NULL;
    for (int run = 0; run < (N > 1000 ? 2 : 5) && good; run++) {
        loaded m;
        double start = now();
        good = open_model(&m, text, N) && hm_sim_accelerate(m.sim, qdd) == HM_OK;
        best = fmin(best, now() - start);
        close_model(&m);
    }
    free(qdd);
    best = good ? best : INFINITY;
    printf("%-44s %12s", name, "");
    print_time(best);
    printf(" %8s <= %g ms%s\n", "", 1e3 * wanted, best <= wanted ? "" : " missed");
    missed += !(best <= wanted);
    fflush(stdout);
}

/* ---- simulation at equal error ---- */

typedef struct simulation {
    hand_model model;
    const char *text;
    double end, start[MOST], reference[MOST];
    int positions;
    loaded m;
    double hand_tolerance, hamel_tolerance, cvode_tolerance;
    double result[MOST];
} simulation;

static bool simulate_hamel(simulation *s, double tolerance)
{
    hm_run_options options = hm_run_options_default(s->m.model);
    hm_run_result result;
    double q[MOST] = {0}, v[MOST] = {0};
    hm_model_initial(s->m.model, q, v, NULL);
    hm_sim_set_state(s->m.sim, 0, q, v, NULL);
    options.start = 0;
    options.end = s->end;
    options.every = s->end;
    options.rtol = options.atol = tolerance;
    if (hm_sim_run(s->m.sim, &options, &result) != HM_OK)
        return false;
    hm_sim_state(s->m.sim, s->result, NULL, NULL);
    return true;
}

static bool simulate_hand(simulation *s, double tolerance)
{
    hand_work work;
    memcpy(s->result, s->start, sizeof s->start);
    return hand_simulate(s->model, s->end, tolerance, tolerance, s->result, &work) == 0;
}

static bool simulate_cvode(simulation *s, double tolerance)
{
    memcpy(s->result, s->start, sizeof s->start);
    return peer_cvode(s->model, s->end, tolerance, s->result);
}

static double error_of(const simulation *s)
{
    double most = 0;
    for (int i = 0; i < s->positions; i++)
        most = fmax(most, fabs(s->result[i] - s->reference[i]));
    return most;
}

/* The widest tolerance whose final error is at most `limit`; 0: none. */
static double find_tolerance(simulation *s, bool (*run)(simulation *, double), double limit)
{
    for (double exponent = -5; exponent >= -15; exponent -= 0.25) {
        double tolerance = pow(10, exponent);
        if (run(s, tolerance) && error_of(s) <= limit)
            return tolerance;
    }
    return 0;
}

static void hand_run_task(void *user, long count)
{
    simulation *s = user;
    for (long k = 0; k < count; k++)
        (void)simulate_hand(s, s->hand_tolerance);
}

static void hamel_run_task(void *user, long count)
{
    simulation *s = user;
    for (long k = 0; k < count; k++)
        (void)simulate_hamel(s, s->hamel_tolerance);
}

static void cvode_run_task(void *user, long count)
{
    simulation *s = user;
    for (long k = 0; k < count; k++)
        (void)simulate_cvode(s, s->cvode_tolerance);
}

/* The peer in place of what is by hand; its own tolerance for the same error. */
static void cvode_row(const char *name, simulation *s, double limit)
{
    char text[128];
    double peer, hamel;
    s->cvode_tolerance = find_tolerance(s, simulate_cvode, limit);
    if (s->cvode_tolerance == 0 || s->hamel_tolerance == 0)
        return;
    time_both(cvode_run_task, hamel_run_task, s, &peer, &hamel);
    snprintf(text, sizeof text, "CVODE: %s, <= %.0e", name, limit);
    print_row(text, peer, hamel, 0);
}

static void simulation_row(const char *name, simulation *s, double limit, double most)
{
    char text[128];
    double hand = INFINITY, hamel = INFINITY;
    s->hand_tolerance = find_tolerance(s, simulate_hand, limit);
    s->hamel_tolerance = find_tolerance(s, simulate_hamel, limit);
    if (s->hand_tolerance > 0 && s->hamel_tolerance > 0)
        time_both(hand_run_task, hamel_run_task, s, &hand, &hamel);
    snprintf(text, sizeof text, "%s, error <= %.0e", name, limit);
    print_row(text, hand, hamel, most);
    cvode_row(name, s, limit);
}

static void simulation_rows(const char *name, hand_model model, const char *text, double end,
                            double loose)
{
    simulation s = {.model = model, .text = text, .end = end};
    double q[MOST] = {0}, v[MOST] = {0};
    int n = hand_coordinates(model);
    s.positions = n;
    if (!open_model(&s.m, text, 0))
        return;
    const hm_moved *moved;
    size_t count;
    bool good = hm_sim_make_consistent(s.m.sim, false, &moved, &count) == HM_OK;
    hm_sim_state(s.m.sim, q, v, NULL);
    memcpy(s.start, q, (size_t)n * sizeof *q);
    memcpy(s.start + n, model == HAND_DISC ? v + 2 : v, (size_t)(hand_size(model) - n) * sizeof *v);
    memcpy(s.reference, s.start, sizeof s.start);
    if (good && hand_reference(model, end, s.reference) == 0) {
        simulation_row(name, &s, 1e-8, loose);
        simulation_row(name, &s, 1e-11, -2);
    }
    close_model(&s.m);
}

/* ---- peers ---- */

/* Programs of bench/peers print lines "name seconds size"; none where they are not installed. */
static void peer_rows(const char *command)
{
    char line[256], name[128];
    double seconds, wanted;
    int N;
    FILE *pipe = popen(command, "r");
    while (pipe && fgets(line, sizeof line, pipe)) {
        if (sscanf(line, "%127s %lf %d %lf", name, &seconds, &N, &wanted) != 4)
            continue;
        bool derive = strncmp(name, "sympy", 5) == 0;
        double *qdd = calloc((size_t)(3 * N), sizeof *qdd), best = INFINITY;
        for (int run = 0; run < 4 && qdd; run++) {
            loaded m;
            double start = now();
            if (!open_model(&m, derive ? links : chain, N))
                break;
            if (!derive)
                (void)!hm_sim_accelerate(m.sim, qdd);
            for (int k = 0; !derive && k < 60; k++) {
                start = now();
                if (hm_sim_accelerate(m.sim, qdd) == HM_OK)
                    best = fmin(best, now() - start);
            }
            if (derive && hm_sim_accelerate(m.sim, qdd) == HM_OK)
                best = fmin(best, now() - start);
            close_model(&m);
        }
        free(qdd);
        print_row(name, seconds, best, -wanted);
    }
    if (pipe)
        pclose(pipe);
}

int main(void)
{
    printf("Hamel %s against hand-written C (-O3 -march=native) and peers\n", hm_version());
    print_title("accelerations", "by hand", "Hamel");
    accelerate_row("knife-edge skate, 3 coordinates, 1 row", HAND_SKATE, skate, 1.5);
    accelerate_row("Hamel's skate, s = 0.3", HAND_HAMEL_SKATE, hamel_skate, 1.5);
    accelerate_row("Andrews' mechanism, 7 coordinates, 6 rows", HAND_ANDREWS, "andrews.hamel", 1);
    accelerate_row("10 links, dense", HAND_LINKS, links, 1);
    chain_rows();
    print_title("simulation, all of it", "by hand", "Hamel");
    simulation_rows("Cartesian pendulum, 100 s", HAND_PENDULUM, pendulum, 100, 1);
    simulation_rows("10 links, 10 s", HAND_LINKS, links, 10, 1);
    simulation_rows("Andrews' mechanism, 0.03 s", HAND_ANDREWS, "andrews.hamel", 0.03, 1);
    simulation_rows("rolling disc, 10 s; by hand: reduced", HAND_DISC, disc, 10, 3);
    print_title("from text to the first q''", "", "Hamel");
    first_row("skate", skate, 0, 0.01);
    first_row("50 links", links, 50, 0.05);
    first_row("chain of 10000 particles", chain, 10000, 2);
    print_title("peers", "peer", "Hamel");
    peer_rows(HAMEL_PEERS "/simbody_chain 2>/dev/null");
    peer_rows("python3 " HAMEL_SOURCE_DIR "/bench/peers/sympy_links.py 2>/dev/null");
    printf("\n%d of the figures wanted were missed\n", missed);
    return 0;
}
