/* Bytes -> a linear complementarity problem with whole numbers -> Lemke's method and least forces, against
 * enumeration in exact arithmetic.
 *
 * Where W = B B^T the problem has a solution if and only if it has one on a set of rows S with W_SS not
 * singular (an extreme point: W_SS v = 0 gives B^T v = 0, so that the columns of S depend on each other), and w
 * is the same for all of them; rows and columns also come in units of powers of two, which change nothing (least
 * forces, whose norm depends on units, are only looked at without them). Any
 * other W: what is called a solution is one.
 */
#include "linalg/lcp.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 5, WIDE = 4 };
typedef __int128 whole;

typedef struct problem {
    int n, W[MOST][MOST], q[MOST];
    bool semidefinite, units;
    int unit[MOST]; /* row and column i are in units of 2^unit */
} problem;

static problem shown; /* for reports */

static void require(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "wrong: %s\n", what);
    for (int i = 0; i < shown.n; i++) {
        for (int j = 0; j < shown.n; j++)
            fprintf(stderr, "%4d", shown.W[i][j]);
        fprintf(stderr, "   q %4d   unit 2^%d\n", shown.q[i], shown.unit[i]);
    }
    abort();
}

typedef struct source {
    const uint8_t *bytes;
    size_t size;
} source;

static int next(source *s, int low, int high)
{
    if (!s->size)
        return low;
    s->size--;
    return low + *s->bytes++ % (high - low + 1);
}

static void make(problem *p, source *s)
{
    int B[MOST][WIDE] = {{0}}, flags = next(s, 0, 255), width = next(s, 1, WIDE);
    *p = (problem){.n = next(s, 1, MOST), .semidefinite = flags % 4 != 0};
    p->units = p->semidefinite && flags & 4;
    for (int i = 0; i < p->n; i++) {
        p->q[i] = next(s, -4, 4);
        p->unit[i] = p->units ? next(s, -20, 20) : 0;
        for (int j = 0; j < (p->semidefinite ? width : p->n); j++)
            if (p->semidefinite)
                B[i][j] = next(s, -3, 3);
            else
                p->W[i][j] = next(s, -3, 6);
    }
    for (int i = 0; p->semidefinite && i < p->n; i++)
        for (int j = 0; j < p->n; j++)
            for (int k = 0; k < width; k++)
                p->W[i][j] += B[i][k] * B[j][k];
    for (int i = 0; i < p->n; i++) /* units are told by the diagonal */
        if (p->W[i][i] == 0)
            p->unit[i] = 0;
}

/* ---- enumeration ---- */

/* Solves W_SS x = -q_S by elimination without fractions [Bareiss 1968]: x_i = top[i]/det with det > 0. */
static bool solve_exactly(const problem *p, const int *rows, int count, whole *top, whole *det)
{
    whole a[MOST][MOST + 1], last = 1;
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < count; j++)
            a[i][j] = p->W[rows[i]][rows[j]];
        a[i][count] = -p->q[rows[i]];
    }
    for (int k = 0; k < count; k++) { /* minors of a semidefinite matrix: a zero one stays zero */
        if (a[k][k] == 0)
            return false;
        for (int i = 0; i < count; i++)
            for (int j = count; i != k && j >= k; j--)
                a[i][j] = (a[i][j] * a[k][k] - a[i][k] * a[k][j]) / last;
        for (int i = 0; i < k; i++)
            a[i][i] = a[k][k];
        last = a[k][k];
    }
    *det = last;
    for (int i = 0; i < count; i++)
        top[i] = a[i][count];
    return last > 0;
}

/* w of a solution on these rows, if there is one. */
static bool is_solution(const problem *p, int set, double *w)
{
    int rows[MOST], count = 0;
    whole top[MOST], det = 1;
    for (int i = 0; i < p->n; i++)
        if (set >> i & 1)
            rows[count++] = i;
    if (!solve_exactly(p, rows, count, top, &det))
        return false;
    for (int i = 0; i < count; i++)
        if (top[i] < 0)
            return false;
    for (int i = 0; i < p->n; i++) {
        whole value = det * p->q[i];
        for (int j = 0; j < count; j++)
            value += (whole)p->W[i][rows[j]] * top[j];
        if (value < 0)
            return false;
        w[i] = (double)value / (double)det;
    }
    return true;
}

static bool enumerate(const problem *p, double *w)
{
    for (int set = 0; set < 1 << p->n; set++)
        if (is_solution(p, set, w))
            return true;
    return false;
}

/* ---- the method ---- */

static double residual(const problem *p, int i, const double *z)
{
    double value = p->q[i];
    for (int j = 0; j < p->n; j++)
        value += p->W[i][j] * ldexp(z[j], p->unit[j]);
    return value;
}

static double size_of(const problem *p, const double *z)
{
    double size = 1;
    for (int i = 0; i < p->n; i++)
        size = fmax(size, 100 * fabs(ldexp(z[i], p->unit[i])));
    return size;
}

static void check_solution(const problem *p, const double *z, const double *w)
{
    double size = size_of(p, z);
    for (int i = 0; i < p->n; i++) {
        double value = residual(p, i, z), force = ldexp(z[i], p->unit[i]);
        require(z[i] >= 0, "a force is negative");
        require(value > -1e-9 * size, "a row is violated");
        require(value * force < 1e-9 * size * size, "not complementary");
        require(!w || fabs(value - w[i]) < 1e-8 * size, "another w");
    }
}

/* Feasible, with W z as it was, and not longer. */
static void check_least(const problem *p, const double *W, const double *found, double *doubles,
                        int *ints)
{
    double z[MOST], before = 0, after = 0;
    memcpy(z, found, sizeof z);
    hmi_least_forces(p->n, W, NULL, NULL, z, doubles, ints);
    double size = size_of(p, found);
    for (int i = 0; i < p->n; i++) {
        require(z[i] >= 0, "a least force is negative");
        require(fabs(residual(p, i, z) - residual(p, i, found)) < 1e-8 * size, "least forces: W z");
        before += found[i] * found[i];
        after += z[i] * z[i];
    }
    require(after <= before * (1 + 1e-9) + 1e-18, "least forces are longer");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    problem p;
    source s = {data, size};
    double W[MOST * MOST], q[MOST], z[MOST] = {0}, w[MOST], doubles[1000];
    int ints[100];
    make(&p, &s);
    shown = p;
    require(hmi_lcp_doubles(p.n) <= 1000 && hmi_lcp_ints(p.n) <= 100, "memory");
    for (int i = 0; i < p.n; i++) {
        q[i] = ldexp(p.q[i], p.unit[i]);
        for (int j = 0; j < p.n; j++)
            W[i * p.n + j] = ldexp(p.W[i][j], p.unit[i] + p.unit[j]);
    }
    hmi_lcp_result result = hmi_lcp_solve(p.n, W, q, NULL, z, doubles, ints);
    if (!p.semidefinite) {
        if (result == HMI_LCP_SOLVED)
            check_solution(&p, z, NULL);
        return 0;
    }
    bool there = enumerate(&p, w);
    require(result == (there ? HMI_LCP_SOLVED : HMI_LCP_RAY),
            there ? "there is a solution" : "there is none");
    if (!there)
        return 0;
    check_solution(&p, z, w);
    if (!p.units)
        check_least(&p, W, z, doubles, ints);
    return 0;
}
