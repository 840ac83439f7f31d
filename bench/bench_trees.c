/* Trees of bodies in relative coordinates, and all pairs: q'', time to derive, growth.
 *
 *     arm      serial chain of hinges, rotations and positions written out by hand
 *     carried  the same chain written with `on ... by hinge(...)`
 *     tree     three-dimensional binary tree of hinges, `on ... by hinge(...)`
 *     nbody    all pairs attract each other; beside it the sum written by hand in C
 *
 * "by" says which solve serves: tree (O(n)), M (through the mass matrix), code (array code), dense. The
 * difference is that of q'' from the dense solve. Exponents are those between the first and last size. */
#include "dynamics/sim/evaluation.h"
#include "dynamics/sim/motion.h"

#include <hamel/hamel.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_TEXT = 1 << 20, ROUNDS = 15 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- models ---- */

typedef struct text {
    char *data;
    size_t length;
} text;

__attribute__((format(printf, 2, 3))) static void put(text *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int more = vsnprintf(out->data + out->length, MOST_TEXT - out->length, format, arguments);
    va_end(arguments);
    if (more > 0 && out->length + (size_t)more < MOST_TEXT)
        out->length += (size_t)more;
}

static const char inertia[] = "inertia [[0.1,0.01,0.002],[0.01,0.09,0.003],[0.002,0.003,0.02]]";

static void begin(text *out, int n)
{
    put(out, "model m\ncoord q[1..%d]\n", n);
}

static void end(text *out, int n)
{
    put(out,
        "gravity [0,0,-9.81]\nfor i = 1..%d { initial q[i] = 0.3 + 0.1*i, "
        "q[i]' = 0.2 - 0.03*i }\nsimulate 0 .. 1\n",
        n);
}

static void write_arm(text *out, int n)
{
    begin(out, n);
    put(out, "let R1 = rotz(q[1])\nlet P0 = [0,0,0]\n");
    for (int i = 2; i <= n; i++)
        put(out, "let R%d = R%d*%s(q[%d])\n", i, i - 1, i % 2 ? "rotz" : "roty", i);
    for (int i = 1; i <= n; i++) {
        double length = i % 2 ? 0.4 : 0.05;
        put(out, "let C%d = P%d + R%d*[0.01, 0.02, %g]\nlet P%d = P%d + R%d*[0,0,%g]\n", i, i - 1,
            i, length / 2, i, i - 1, i, length);
        put(out, "body b%d { mass %g  %s  frame R%d  at C%d }\n", i, 4 - 0.3 * (i % 7), inertia, i,
            i);
    }
    end(out, n);
}

static void write_carried(text *out, int n, bool binary)
{
    begin(out, n);
    for (int i = 1; i <= n; i++) {
        int parent = binary ? i / 2 : i - 1;
        put(out, "body b%d { mass %g  %s  com [0.01, 0.02, 0.1]  on ", i, 4 - 0.3 * (i % 7),
            inertia);
        if (parent)
            put(out, "b%d at [%g, 0.05, 0.3] ", parent, i % 2 ? 0.1 : -0.1);
        else
            put(out, "ground ");
        put(out, "by hinge(q[%d], [%d, %d, %d]) }\n", i, i % 3 == 0, i % 3 == 1, i % 3 == 2);
    }
    end(out, n);
}

static void write_pairs(text *out, int n)
{
    put(out,
        "model nbody\ncoord x[1..%d], y[1..%d], z[1..%d]\n"
        "for i = 1..%d { body p[i] { mass 1/%d  at [x[i], y[i], z[i]] }\n"
        "initial x[i] = cos(2.4*i)*sqrt(i), y[i] = sin(2.4*i)*sqrt(i), z[i] = 0.3*sin(7*i)\n"
        "for j = 1..i-1 { potential -1/%d^2/sqrt((x[i]-x[j])^2+(y[i]-y[j])^2+(z[i]-z[j])^2+0.01)\n"
        "} }\nsimulate 0 .. 1\n",
        n, n, n, n, n, n);
}

static void write_model(text *out, const char *kind, int n)
{
    out->length = 0;
    if (strcmp(kind, "arm") == 0)
        write_arm(out, n);
    else if (strcmp(kind, "nbody") == 0)
        write_pairs(out, n);
    else
        write_carried(out, n, strcmp(kind, "tree") == 0);
}

/* ---- by hand ---- */

/* The accelerations of n particles at x, y, z (n each). */
static void pairs_by_hand(int n, const double *x, double *a)
{
    const double *y = x + n, *z = x + 2 * n;
    for (int i = 0; i < 3 * n; i++)
        a[i] = 0;
    for (int i = 0; i < n; i++) {
        double ax = 0, ay = 0, az = 0;
        for (int j = 0; j < i; j++) {
            double dx = x[i] - x[j], dy = y[i] - y[j], dz = z[i] - z[j];
            double r2 = dx * dx + dy * dy + dz * dz + 0.01, w = 1 / (n * r2 * sqrt(r2));
            ax -= w * dx, ay -= w * dy, az -= w * dz;
            a[j] += w * dx, a[n + j] += w * dy, a[2 * n + j] += w * dz;
        }
        a[i] += ax, a[n + i] += ay, a[2 * n + i] += az;
    }
}

static double time_by_hand(int n, const double *q)
{
    double *a = malloc(3 * (size_t)n * sizeof *a), best = INFINITY;
    for (int round = 0; a && round < ROUNDS; round++) {
        double start = now();
        for (int k = 0; k < 20; k++)
            pairs_by_hand(n, q, a);
        best = fmin(best, (now() - start) / 20);
    }
    free(a);
    return best;
}

/* ---- measuring ---- */

typedef struct figures {
    double derive, first, each, difference, hand;
    const char *by;
} figures;

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of rounds, each of which takes about 2 ms. */
static double time_accelerate(hm_sim *sim, double *qdd)
{
    double rounds[ROUNDS], start = now();
    if (hm_sim_accelerate(sim, qdd) != HM_OK)
        return NAN;
    bool good = true;
    start = now();
    for (int k = 0; k < 3; k++)
        good = hm_sim_accelerate(sim, qdd) == HM_OK && good;
    int repeats = (int)fmin(1e4, 1 + 6e-3 / (now() - start + 1e-7));
    for (int round = 0; round < ROUNDS; round++) {
        start = now();
        for (int k = 0; k < repeats; k++)
            good = hm_sim_accelerate(sim, qdd) == HM_OK && good;
        rounds[round] = (now() - start) / repeats;
    }
    qsort(rounds, ROUNDS, sizeof *rounds, compare_doubles);
    return good ? rounds[ROUNDS / 2] : NAN;
}

static const char *solve_of(const hm_sim *sim)
{
    if (sim->solve.compiled)
        return "code";
    if (!sim->motion.used)
        return "dense";
    return sim->motion.used->program.by_tree ? "tree" : "M";
}

/* |q'' - q''_dense| / |q''_dense| */
static double difference_from_dense(hm_sim *sim, const double *qdd)
{
    double error = 0, size = 0;
    size_t n = sim->system->derived.n;
    const hmi_point *at = hmi_sim_present(sim);
    if (!sim->dense.dynamics)
        return NAN;
    hmi_sim_refresh(sim, at);
    hmi_sim_evaluate(sim, at);
    if (hmi_sim_accelerate_here(sim, at, NULL) != HM_OK)
        return NAN;
    for (size_t i = 0; i < n; i++) {
        error = fmax(error, fabs(qdd[i] - sim->last.qdd[i]));
        size = fmax(size, fabs(sim->last.qdd[i]));
    }
    return error / size;
}

static bool measure(hm_context *context, const char *kind, int n, text *model_text, figures *out)
{
    hm_model *model = NULL;
    hm_system *system = NULL;
    hm_sim *sim = NULL;
    write_model(model_text, kind, n);
    double *qdd = malloc(3 * (size_t)n * sizeof *qdd), start = now();
    bool good = qdd && hm_model_parse(context, model_text->data, model_text->length, NULL,
                                      &model) == HM_OK;
    good = good && hm_system_create(model, &system) == HM_OK;
    out->derive = now() - start;
    good = good && hm_sim_create(system, &sim) == HM_OK && hm_sim_accelerate(sim, qdd) == HM_OK;
    out->first = now() - start;
    if (good) {
        out->each = time_accelerate(sim, qdd);
        out->by = solve_of(sim);
        out->difference = difference_from_dense(sim, qdd);
        out->hand = strcmp(kind, "nbody") == 0 ? time_by_hand(n, hmi_sim_present(sim)->q) : NAN;
    } else {
        for (size_t k = 0; k < hm_context_diagnostic_count(context); k++)
            fprintf(stderr, "%s\n", hm_context_diagnostic(context, k)->message);
    }
    hm_sim_destroy(sim);
    hm_system_destroy(system);
    hm_model_destroy(model);
    free(qdd);
    return good;
}

static bool show(hm_context *context, const char *kind, const int *sizes, text *model_text)
{
    figures first = {0}, last = {0};
    int from = sizes[0], to = from;
    for (; *sizes; sizes++) {
        if (!measure(context, kind, *sizes, model_text, &last))
            return false;
        if (*sizes == from)
            first = last;
        to = *sizes;
        printf("| %s | %d | %.2f | %.1f | %.1f | %s | %.1e |", kind, to, last.each * 1e6,
               last.derive * 1e3, last.first * 1e3, last.by, last.difference);
        if (isfinite(last.hand))
            printf(" %.2f of hand-written", last.each / last.hand);
        printf("\n");
    }
    double ratio = log((double)to / from);
    printf("| %s | exponent | %.2f | %.2f | %.2f | | |\n", kind,
           log(last.each / first.each) / ratio, log(last.derive / first.derive) / ratio,
           log(last.first / first.first) / ratio);
    return true;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *kind;
        int sizes[9];
    } rows[] = {{"arm", {7, 14, 36, 60, 100}},
                {"carried", {7, 14, 36, 60, 100}},
                {"tree", {10, 20, 30, 40, 80, 160}},
                {"nbody", {10, 30, 100}}};
    text model_text = {.data = malloc(MOST_TEXT)};
    hm_context *context = hm_context_create(NULL);
    bool good = model_text.data && context;
    printf("| model | n | q'', us | derive, ms | first q'', ms | by | from dense |\n"
           "|---|---|---|---|---|---|---|\n");
    for (size_t k = 0; good && k < sizeof rows / sizeof *rows; k++)
        if (argc < 2 || strcmp(argv[1], rows[k].kind) == 0)
            good = show(context, rows[k].kind, rows[k].sizes, &model_text);
    hm_context_destroy(context);
    free(model_text.data);
    return good ? 0 : 1;
}
