/* Function evaluations at equal error: Hamel's dop853 beside the hand-written one of the yardsticks
 * (bench/yardstick, right-hand sides by hand too), on its problems and from 1e-5 to 1e-13.
 *
 * Errors fall unevenly with the tolerance, so a line is fitted through log evaluations over log
 * error of each, and the two are compared where both have errors. Must be <= 1.1 (issue C).
 *
 *   bench_evaluations [-v]     (-v: every tolerance)
 */
#include <hamel/hamel.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "yardstick/models.inc"

#include "yardstick/disk.inc"
#include "yardstick/dop853.inc"

enum { LINKS = 10, TOLERANCES = 33, MOST = 32 };

/* ---- the problems by hand: see shared/yardsticks/hand/hand_sim.c ---- */

static void by_hand_pendulum(double t, const double *y, double *d, void *u)
{
    (void)t, (void)u;
    memcpy(d, y + 2, 2 * sizeof *d);
    cpend(y, y + 2, d + 2);
}

static void by_hand_disk(double t, const double *y, double *d, void *u)
{
    (void)t, (void)u;
    d[0] = y[7] * cos(y[2]);
    d[1] = y[7] * sin(y[2]);
    memcpy(d + 2, y + 5, 3 * sizeof *d);
    disk_ud(y, y + 5, d + 5);
}

static void by_hand_links(double t, const double *y, double *d, void *u)
{
    (void)t, (void)u;
    memcpy(d, y + LINKS, LINKS * sizeof *d);
    npend_On(LINKS, y, y + LINKS, d + LINKS);
}

static void by_hand_andrews(double t, const double *y, double *d, void *u)
{
    (void)t, (void)u;
    memcpy(d, y + 7, 7 * sizeof *d);
    andrews_acc(y, y + 7, d + 7);
}

static void project_pendulum(double *y)
{
    double r = 1 / sqrt(y[0] * y[0] + y[1] * y[1]);
    y[0] *= r;
    y[1] *= r;
    double along = y[0] * y[2] + y[1] * y[3];
    y[2] -= along * y[0];
    y[3] -= along * y[1];
}

/* References: shared/yardsticks/hand/ref.c (long double, extrapolation); positions only. */
typedef struct problem {
    const char *name, *text; /* text NULL: an example of that name */
    void (*by_hand)(double t, const double *y, double *d, void *u);
    void (*project)(double *y);
    int size, positions; /* by hand; compared are the first coordinates of both */
    double end, y0[MOST], reference[MOST];
} problem;

static const problem problems[] = {
    {"cpend",
     "coord x, y; kinetic (x'^2 + y'^2)/2; potential 9.81*y; constraint rod: x^2 + y^2 = 1\n"
     "initial x = 1, y = 0",
     by_hand_pendulum,
     NULL,
     4,
     2,
     100,
     {1, 0, 0, 0},
     {0.18151335142694082, -0.983388480334074221}},
    {"cpend, projected",
     "coord x, y; kinetic (x'^2 + y'^2)/2; potential 9.81*y; constraint rod: x^2 + y^2 = 1\n"
     "initial x = 1, y = 0",
     by_hand_pendulum,
     project_pendulum,
     4,
     2,
     100,
     {1, 0, 0, 0},
     {0.18151335142694082, -0.983388480334074221}},
    {"disk",
     "coord x, y, ph, th, ps\n"
     "let e1 = x'*cos(ph) + y'*sin(ph) + ph'*sin(th)\n"
     "let e2 = -x'*sin(ph) + y'*cos(ph) - th'*cos(th)\n"
     "kinetic (e1^2 + e2^2 + (th'*sin(th))^2)/2 + (th'^2 + (ph'*cos(th))^2)/8\n"
     "kinetic (ps' + ph'*sin(th))^2/4; potential 9.81*cos(th)\n"
     "constraint rx: x' = cos(ph)*ps'; constraint ry: y' = sin(ph)*ps'\n"
     "initial th = 0.2, ph' = 0.5, ps' = 3, x' ~ 3, y' ~ 0",
     by_hand_disk,
     NULL,
     8,
     5,
     10,
     {0, 0, 0, 0.2, 0, 0.5, 0, 3},
     {3.4567279304381372, -5.92470250481880192, -8.24092589204170176, 0.219192458071214351,
      35.8865189548793333}},
    {"npend10",
     "param N = 10; coord q[1..N]\n"
     "let X(i) = sum(k = 1..i, sin(q[k])); let Y(i) = -sum(k = 1..i, cos(q[k]))\n"
     "for i = 1..N { kinetic (X(i)'^2 + Y(i)'^2)/2; potential 9.81*Y(i); initial q[i] = 0.5 }",
     by_hand_links,
     NULL,
     2 * LINKS,
     LINKS,
     10,
     {0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5},
     {0.16512460058847313, 0.167436874018554139, 0.184252104699815152, 0.195051193477686877,
      0.221265069771670536, 0.247299580916073686, 0.240614017051725967, 0.237204663381696505,
      0.400521620871842144, 0.722612000074598643}},
    {"andrews",
     NULL,
     by_hand_andrews,
     NULL,
     14,
     7,
     0.03,
     {-0.0617138900142764496358948458001, 0, 0.455279819163070380255912382449,
      0.222668390165885884674473185609, 0.487364979543842550225598953530,
      -0.222668390165885884674473185609, 1.23054744454982119249735015568},
     {15.810771195153716, -15.7563710584118337, 0.0408222401196464717, -0.534730116342079278,
      0.524409965879954964, 0.534730116342078069, 1.04808074104193681}},
};

/* ---- runs ---- */

typedef struct outcome {
    double tolerance, error;
    long evaluations, rejected;
} outcome;

static double largest_error(const problem *p, const double *q)
{
    double worst = 0;
    for (int i = 0; i < p->positions; i++)
        worst = fmax(worst, fabs(q[i] - p->reference[i]));
    return worst;
}

static outcome run_by_hand(const problem *p, double tolerance)
{
    double y[MOST];
    dstat count = {0};
    memcpy(y, p->y0, sizeof y);
    dop853_proj = p->project;
    int status = dop853(p->by_hand, NULL, p->size, 0, p->end, y, tolerance, tolerance, 1e9, &count);
    return (outcome){tolerance, status < 0 ? NAN : largest_error(p, y), count.nfev, count.nrej};
}

static void require(hm_status status, const char *what)
{
    if (status == HM_OK)
        return;
    fprintf(stderr, "%s: %s\n", what, hm_status_text(status));
    exit(1);
}

static char *read_example(const char *name)
{
    char path[512];
    static char text[1 << 16];
    snprintf(path, sizeof path, "%s/examples/%s.hamel", HAMEL_SOURCE_DIR, name);
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[length] = 0;
    if (file)
        fclose(file);
    return text;
}

static outcome run_hamel(const problem *p, hm_sim *sim, const hm_model *model, double tolerance)
{
    hm_run_result result;
    hm_run_options options = hm_run_options_default(model);
    options.method = "dop853";
    options.rtol = options.atol = tolerance;
    options.start = 0;
    options.end = options.every = p->end;
    double q[MOST] = {0}, v[MOST] = {0};
    hm_model_initial(model, q, v, NULL);
    hm_sim_set_state(sim, 0, q, v, NULL);
    require(hm_sim_run(sim, &options, &result), p->name);
    return (outcome){tolerance, largest_error(p, result.q), result.evaluations, result.rejected};
}

/* ---- comparison ---- */

/* log10 evaluations = line[0] + line[1] log10 error, over errors between 1e-10 and 1e-2. */
static void fit(const outcome *o, double line[2])
{
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (int k = 0; k < TOLERANCES; k++) {
        if (!(o[k].error > 1e-10 && o[k].error < 1e-2))
            continue;
        double lx = log10(o[k].error), ly = log10((double)o[k].evaluations);
        n++, x += lx, y += ly, xx += lx * lx, xy += lx * ly;
    }
    line[1] = (n * xy - x * y) / (n * xx - x * x);
    line[0] = (y - line[1] * x) / n;
}

static double compare(const problem *p, const outcome *hand, const outcome *ours, bool all)
{
    double a[2], b[2], worst = 0;
    for (int k = 0; k < TOLERANCES && all; k++)
        printf("    %-18s %.1e   by hand %.2e %6ld (%ld)   hamel %.2e %6ld (%ld)\n", p->name,
               hand[k].tolerance, hand[k].error, hand[k].evaluations, hand[k].rejected,
               ours[k].error, ours[k].evaluations, ours[k].rejected);
    fit(hand, a);
    fit(ours, b);
    printf("%-18s", p->name);
    for (double e = -4; e >= -8; e -= 2) {
        double by_hand = pow(10, a[0] + a[1] * e), hamel = pow(10, b[0] + b[1] * e);
        worst = fmax(worst, hamel / by_hand);
        printf("   1e%g: %6.0f %6.0f %5.2f", e, by_hand, hamel, hamel / by_hand);
    }
    printf("\n");
    return worst;
}

static double measure(const problem *p, bool all)
{
    outcome hand[TOLERANCES], ours[TOLERANCES];
    const char *text = p->text ? p->text : read_example(p->name);
    hm_context *context = hm_context_create(NULL);
    hm_model *model;
    hm_system *system;
    hm_sim *sim;
    require(hm_model_parse(context, text, strlen(text), NULL, &model), p->name);
    require(hm_system_create(model, &system), p->name);
    require(hm_sim_create(system, &sim), p->name);
    for (int k = 0; k < TOLERANCES; k++) {
        double tolerance = pow(10, -5 - 0.25 * k);
        hand[k] = run_by_hand(p, tolerance);
        ours[k] = run_hamel(p, sim, model, tolerance);
    }
    hm_sim_destroy(sim);
    hm_system_destroy(system);
    hm_model_destroy(model);
    hm_context_destroy(context);
    return compare(p, hand, ours, all);
}

int main(int argc, char **argv)
{
    bool all = argc > 1 && strcmp(argv[1], "-v") == 0;
    double worst = 0;
    printf("evaluations at equal error: error: by hand, hamel, ratio\n");
    for (size_t k = 0; k < sizeof problems / sizeof *problems; k++)
        worst = fmax(worst, measure(&problems[k], all));
    printf("largest ratio %.2f (at most 1.1)\n", worst);
    return 0;
}
