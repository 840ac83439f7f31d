/* Large sparse systems: q'' of a chain of particles joined by rods against a hand-written
 * tridiagonal Schur complement (the yardstick of ../shared/yardsticks, W3), in one run, and how the
 * time grows up to 10^6 coordinates.
 *
 *   bench_chain            N = 100, 1 000, 10 000, then to 10^6 coordinates
 *   bench_chain N...       these numbers of particles only
 */
#include "dynamics/sim/sim.h"

#include <hamel/hamel.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Time of this process: others share the machine. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- by hand: r_i = x_i - x_{i-1}, unit masses and lengths, particles stored one by one ---- */

typedef struct hand {
    int count;
    double *x, *v, *a, *d, *e, *l, *r;
} hand;

static hand hand_open(int count)
{
    size_t N = (size_t)count;
    double *memory = calloc(15 * N + 3, sizeof *memory);
    hand h = {count,          memory,          memory + 3 * N,  memory + 6 * N,
              memory + 9 * N, memory + 10 * N, memory + 11 * N, memory + 12 * N + 3};
    return h;
}

static void hand_accelerate(const hand *h)
{
    const double *x = h->x, *v = h->v;
    double *d = h->d, *e = h->e, *l = h->l, p[3] = {0, 0, 0}, pv[3] = {0, 0, 0};
    int N = h->count;
    for (int i = 0; i < N; i++) {
        double *r = h->r + 3 * i, w2 = 0, rr = 0;
        for (int k = 0; k < 3; k++) {
            r[k] = x[3 * i + k] - p[k];
            double w = v[3 * i + k] - pv[k];
            w2 += w * w;
            rr += r[k] * r[k];
            p[k] = x[3 * i + k];
            pv[k] = v[3 * i + k];
        }
        d[i] = i ? 2 * rr : rr;
        l[i] = w2 - (i ? 0 : 9.81 * r[2]);
        if (i)
            e[i - 1] = -(r[0] * r[-3] + r[1] * r[-2] + r[2] * r[-1]);
    }
    for (int i = 1; i < N; i++) {
        double m = e[i - 1] / d[i - 1];
        d[i] -= m * e[i - 1];
        l[i] -= m * l[i - 1];
    }
    l[N - 1] /= d[N - 1];
    for (int i = N - 2; i >= 0; i--)
        l[i] = (l[i] - e[i] * l[i + 1]) / d[i];
    for (int i = 0; i < N; i++) {
        double *r = h->r + 3 * i;
        for (int k = 0; k < 3; k++)
            h->a[3 * i + k] = -l[i] * r[k] + (i + 1 < N ? l[i + 1] * r[3 + k] : 0) -
                              (k == 2 ? 9.81 : 0);
    }
}

/* ---- by Hamel ---- */

static const char chain[] =
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

typedef struct ours {
    hm_context *context;
    hm_model *model;
    hm_system *system;
    hm_sim *sim;
    double open_s;
} ours;

static bool open_chain(ours *o, int count)
{
    char value[32];
    double start = now();
    snprintf(value, sizeof value, "%d", count);
    const hm_override override = {"N", value};
    hm_model_options options = hm_model_options_default();
    options.overrides = &override;
    options.override_count = 1;
    *o = (ours){.context = hm_context_create(NULL)};
    hm_context_set_limits(o->context,
                          &(hm_limits){0}); /* 10^6 coordinates take more than the default */
    bool good = hm_model_parse(o->context, chain, strlen(chain), &options, &o->model) == HM_OK &&
                hm_system_create(o->model, &o->system) == HM_OK &&
                hm_sim_create(o->system, &o->sim) == HM_OK &&
                hmi_sim_accelerate(o->sim, hmi_sim_present(o->sim), NULL) == HM_OK;
    o->open_s = now() - start;
    return good;
}

static void close_chain(ours *o)
{
    hm_sim_destroy(o->sim);
    hm_system_destroy(o->system);
    hm_model_destroy(o->model);
    hm_context_destroy(o->context);
}

/* A chain that winds through space, with velocities that fit. */
static void set_states(const hand *h, ours *o)
{
    int N = h->count;
    double *q = malloc(6 * (size_t)N * sizeof *q), *v = q + 3 * N, x[3] = {0}, w[3] = {0};
    for (int i = 0; i < N; i++) {
        double a = 0.3 * sin(0.37 * i), b = 0.2 * cos(0.23 * i) - 0.8;
        const double r[3] = {cos(a) * cos(b), sin(a) * cos(b), sin(b)};
        const double turn[3] = {-r[1], r[0], 0};
        for (int k = 0; k < 3; k++) {
            x[k] += r[k];
            w[k] += 0.1 * sin(0.11 * i) * turn[k];
            h->x[3 * i + k] = q[k * N + i] = x[k];
            h->v[3 * i + k] = v[k * N + i] = w[k];
        }
    }
    hm_sim_set_state(o->sim, 0, q, v, NULL);
    free(q);
}

static double difference(const hand *h, const ours *o)
{
    double worst = 0, size = 1;
    for (int i = 0; i < h->count; i++)
        for (int k = 0; k < 3; k++) {
            double a = o->sim->last.qdd[k * h->count + i];
            worst = fmax(worst, fabs(a - h->a[3 * i + k]));
            size = fmax(size, fabs(a));
        }
    return worst / size;
}

/* Microseconds of both, measured in turn, the least of several rounds. */
static bool time_both(const hand *h, ours *o, double *by_hand, double *by_us)
{
    int repeats = 1 + 200000 / h->count;
    *by_hand = *by_us = 1e300;
    for (int round = 0; round < 25; round++) {
        double start = now();
        for (int i = 0; i < repeats; i++)
            hand_accelerate(h);
        double middle = now();
        for (int i = 0; i < repeats; i++)
            if (hmi_sim_accelerate(o->sim, hmi_sim_present(o->sim), NULL) != HM_OK)
                return false;
        double end = now();
        *by_hand = fmin(*by_hand, 1e6 * (middle - start) / repeats);
        *by_us = fmin(*by_us, 1e6 * (end - middle) / repeats);
    }
    return true;
}

static bool measure(int count, double *time)
{
    ours o;
    double by_hand = 0, by_us = 0;
    bool good = open_chain(&o, count);
    if (good) {
        hand h = hand_open(count);
        set_states(&h, &o);
        good = time_both(&h, &o, &by_hand, &by_us);
        printf("%8d %9d %12.2f %12.2f %7.2f %12.3f %11.1e\n", count, 3 * count, by_hand, by_us,
               by_us / by_hand, o.open_s, difference(&h, &o));
        fflush(stdout);
        free(h.x);
    } else {
        printf("%8d failed\n", count);
    }
    close_chain(&o);
    *time = by_us;
    return good;
}

int main(int argc, char **argv)
{
    static const int sizes[] = {100, 1000, 10000, 100000, 333333};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    double time[SIZES] = {0};
    bool good = true;
    printf("q'' of a chain of N particles with rods, us\n\n%8s %9s %12s %12s %7s %12s %11s\n", "N",
           "coords", "by hand", "Hamel", "ratio", "file->q'' s", "difference");
    for (int i = 1; i < argc; i++) {
        double unused;
        good = measure(atoi(argv[i]), &unused) && good;
    }
    for (int i = 0; argc == 1 && i < SIZES; i++)
        good = measure(sizes[i], &time[i]) && good;
    if (argc == 1 && good)
        printf("\ngrowth exponent from N = %d to %d: %.3f (at most 1.05); from %d: %.3f\n",
               sizes[0], sizes[SIZES - 1],
               log(time[SIZES - 1] / time[0]) / log((double)sizes[SIZES - 1] / sizes[0]), sizes[1],
               log(time[SIZES - 1] / time[1]) / log((double)sizes[SIZES - 1] / sizes[1]));
    return good ? 0 : 1;
}
