/* Random constrained systems with their answers in 256 bits (Arb), for property tests.
 *
 * A system is built from r independent rows A_r, b_r; its m rows are S P [A_r; combinations], with
 * S row scales over many decades and P a permutation, rounded to doubles. The answer is that of the
 * independent rows,
 *     [M A_r^T; A_r 0] (x, -l) = (Q, b_r),
 * computed with 256 bits, together with its componentwise condition
 *     c = |K^-1| (|K| |z| + |right side|):
 * what relative errors of one in every number of the problem do to each number of the answer. An
 * answer is good when its error is a small multiple of c epsilon.
 */
#ifndef TEST_PHYSICS_RANDOM_SYSTEMS_H
#define TEST_PHYSICS_RANDOM_SYSTEMS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <arb_mat.h>

enum { MOST_N = 40, MOST_M = 64, BITS = 256 };
#define EPSILON 2.220446049250313e-16

/* ---- random numbers (splitmix64): the same on every machine ---------------------------------- */

static uint64_t random_state = 1;

static inline uint64_t random_bits(void)
{
    uint64_t z = (random_state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* in [-1, 1) */
static inline double random_real(void)
{
    return (double)(int64_t)random_bits() * 0x1p-63;
}

/* in lo..hi */
static inline int random_int(int lo, int hi)
{
    return lo + (int)(random_bits() % (uint64_t)(hi - lo + 1));
}

/* ---- systems --------------------------------------------------------------------------------- */

typedef enum mass_kind { MASS_DEFINITE, MASS_ILL, MASS_SINGULAR, MASS_INDEFINITE } mass_kind;

typedef struct test_system {
    int n, m, rank;
    double M[MOST_N * MOST_N], Q[MOST_N], C[MOST_N];
    double A[MOST_M * MOST_N], b[MOST_M];   /* all rows, scaled and permuted */
    double Ar[MOST_N * MOST_N], br[MOST_N]; /* the independent ones */
    double F[MOST_M * MOST_N];              /* rows = F (independent rows), m x rank */
} test_system;

/* vectors (n x n): random orthonormal rows */
static inline void random_rotation(int n, double *vectors)
{
    for (int i = 0; i < n; i++) {
        double *v = vectors + i * n;
        for (int j = 0; j < n; j++)
            v[j] = random_real();
        for (int pass = 0; pass < 2; pass++)
            for (int k = 0; k < i; k++) {
                double t = 0;
                for (int j = 0; j < n; j++)
                    t += v[j] * vectors[k * n + j];
                for (int j = 0; j < n; j++)
                    v[j] -= t * vectors[k * n + j];
            }
        double length = 0;
        for (int j = 0; j < n; j++)
            length += v[j] * v[j];
        for (int j = 0; j < n; j++)
            v[j] /= sqrt(length);
    }
}

/* Eigenvalues as the kind demands; `rank` constraints leave room for that many odd ones. */
static inline void random_spectrum(mass_kind kind, int n, int rank, double *values)
{
    for (int i = 0; i < n; i++)
        values[i] = 1 + fabs(random_real());
    for (int i = 0; kind == MASS_ILL && i < n; i++)
        values[i] = pow(10, -12.0 * i / (n > 1 ? n - 1 : 1));
    int odd = random_int(1, rank > 0 ? rank : 1);
    for (int i = 0; kind >= MASS_SINGULAR && rank > 0 && i < odd; i++)
        values[i] = kind == MASS_SINGULAR ? 0 : -values[i];
}

static inline void random_mass(mass_kind kind, test_system *s)
{
    static double vectors[MOST_N * MOST_N];
    double values[MOST_N];
    int n = s->n;
    random_rotation(n, vectors);
    random_spectrum(kind, n, s->rank, values);
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += values[k] * vectors[k * n + i] * vectors[k * n + j];
            s->M[i * n + j] = s->M[j * n + i] = sum;
        }
}

/* F: the identity, then combinations of a few rows; rows scaled by 10^(decades u) and shuffled */
static inline void random_mixture(test_system *s, double decades)
{
    int m = s->m, r = s->rank;
    memset(s->F, 0, sizeof s->F);
    for (int i = 0; i < m; i++) {
        if (i < r)
            s->F[i * r + i] = 1;
        for (int k = 0; i >= r && r > 0 && k < 2; k++)
            s->F[i * r + random_int(0, r - 1)] += random_int(1, 3) * (k ? 0.5 : 1);
    }
    for (int i = m - 1; i > 0; i--) {
        int k = random_int(0, i);
        for (int j = 0; j < r; j++) {
            double t = s->F[i * r + j];
            s->F[i * r + j] = s->F[k * r + j];
            s->F[k * r + j] = t;
        }
    }
    for (int i = 0; i < m; i++) {
        double scale = pow(10, decades * random_real());
        for (int j = 0; j < r; j++)
            s->F[i * r + j] *= scale;
    }
}

static inline void mix_rows(test_system *s)
{
    for (int i = 0; i < s->m; i++) {
        s->b[i] = 0;
        for (int k = 0; k < s->rank; k++)
            s->b[i] += s->F[i * s->rank + k] * s->br[k];
        for (int j = 0; j < s->n; j++) {
            double sum = 0;
            for (int k = 0; k < s->rank; k++)
                sum += s->F[i * s->rank + k] * s->Ar[k * s->n + j];
            s->A[i * s->n + j] = sum;
        }
    }
}

/* decades: row scales over 10^-decades .. 10^decades */
static inline void random_system(mass_kind kind, int most_n, double decades, test_system *s)
{
    int n = s->n = random_int(1, most_n);
    s->rank = random_int(0, n);
    s->m = s->rank ? s->rank + random_int(0, 8) * random_int(0, 1) : 0;
    random_mass(kind, s);
    for (int i = 0; i < n; i++) {
        s->Q[i] = random_real();
        s->C[i] = random_real();
    }
    for (int k = 0; k < s->rank; k++) {
        s->br[k] = random_real();
        for (int j = 0; j < n; j++)
            s->Ar[k * n + j] = random_real();
    }
    random_mixture(s, decades);
    mix_rows(s);
}

/* ---- answers --------------------------------------------------------------------------------- */

typedef struct answer {
    double x[MOST_N], l[MOST_N], f[MOST_N]; /* q'', multipliers of the independent rows, A_r^T l */
    double cx[MOST_N], cl[MOST_N], cf[MOST_N]; /* conditions, absolute */
    double lambda[MOST_M], clambda[MOST_M];    /* minimum norm, of all rows, and its condition */
} answer;

static inline double to_double(const arb_t x)
{
    return arf_get_d(arb_midref(x), ARF_RND_NEAR);
}

/* K := [M A_r^T; A_r 0], z := (Q, b_r) */
static inline void load_problem(const test_system *s, const double *Q, const double *br,
                                arb_mat_t K, arb_mat_t z)
{
    int n = s->n, r = s->rank;
    arb_mat_zero(K);
    for (int i = 0; i < n; i++) {
        arb_set_d(arb_mat_entry(z, i, 0), Q[i]);
        for (int j = 0; j < n; j++)
            arb_set_d(arb_mat_entry(K, i, j), s->M[i * n + j]);
        for (int k = 0; k < r; k++) {
            arb_set_d(arb_mat_entry(K, i, n + k), s->Ar[k * n + i]);
            arb_set_d(arb_mat_entry(K, n + k, i), s->Ar[k * n + i]);
        }
    }
    for (int k = 0; k < r; k++)
        arb_set_d(arb_mat_entry(z, n + k, 0), br ? br[k] : 0);
}

/* c := |K^-1| (|K| |z| + |right|) */
static inline void find_condition(int size, arb_mat_t K, arb_mat_t inverse, arb_mat_t z,
                                  arb_mat_t right, double *c)
{
    double inner[2 * MOST_N];
    for (int i = 0; i < size; i++) {
        inner[i] = fabs(to_double(arb_mat_entry(right, i, 0)));
        for (int j = 0; j < size; j++)
            inner[i] += fabs(to_double(arb_mat_entry(K, i, j)) * to_double(arb_mat_entry(z, j, 0)));
    }
    for (int i = 0; i < size; i++) {
        c[i] = 0;
        for (int j = 0; j < size; j++)
            c[i] += fabs(to_double(arb_mat_entry(inverse, i, j))) * inner[j];
    }
}

static inline double middle(arb_mat_t X, int i, int j)
{
    return to_double(arb_mat_entry(X, i, j));
}

/* X (rows x cols) := doubles; X^T X (or X X^T) inverted goes to inverse, X times it to product */
static inline void invert_gram(int rows, int cols, const double *x, arb_mat_t X, arb_mat_t inverse,
                               arb_mat_t product)
{
    arb_mat_t G, Xt;
    arb_mat_init(G, cols, cols);
    arb_mat_init(Xt, cols, rows);
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < cols; k++)
            arb_set_d(arb_mat_entry(X, i, k), x[i * cols + k]);
    arb_mat_transpose(Xt, X);
    arb_mat_approx_mul(G, Xt, X, 2 * BITS);
    if (cols > 0 && !arb_mat_approx_inv(inverse, G, 2 * BITS))
        abort();
    arb_mat_approx_mul(product, X, inverse, 2 * BITS);
    arb_mat_clear(G);
    arb_mat_clear(Xt);
}

/* Condition of the shortest multipliers under relative errors of one in all rows of A: with
 * A = F A_r, B = A_r^+, Fp = F (F^T F)^-1, lambda = A w,
 *     |Fp| (c + |B|^T |A|^T |lambda|) + |I - Fp F^T| |A| |w|
 * with |lambda| enlarged by its own error (known), which large rows feel. */
static inline void condition_of_shortest(const test_system *s, arb_mat_t F, arb_mat_t Fp,
                                         arb_mat_t B, const double *y, answer *a)
{
    int n = s->n, m = s->m, r = s->rank;
    double w[MOST_N] = {0}, bent[MOST_N] = {0}, inner[MOST_N], row[MOST_M], known[MOST_M];
    memcpy(known, a->clambda, sizeof known);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            bent[j] += fabs(s->A[i * n + j]) * (fabs(a->lambda[i]) + known[i] * EPSILON);
    for (int k = 0; k < r; k++) {
        inner[k] = a->cl[k];
        for (int j = 0; j < n; j++) {
            inner[k] += fabs(middle(B, j, k)) * bent[j];
            w[j] += middle(B, j, k) * y[k];
        }
    }
    for (int i = 0; i < m; i++) {
        row[i] = 0;
        for (int j = 0; j < n; j++)
            row[i] += fabs(s->A[i * n + j] * w[j]);
    }
    for (int i = 0; i < m; i++) {
        a->clambda[i] = 0;
        for (int k = 0; k < r; k++)
            a->clambda[i] += fabs(middle(Fp, i, k)) * inner[k];
        for (int k = 0; m > r && k < m; k++) {
            double p = i == k;
            for (int q = 0; q < r; q++)
                p -= middle(Fp, i, q) * middle(F, k, q);
            a->clambda[i] += fabs(p) * row[k];
        }
    }
}

/* lambda = F (F^T F)^-1 l: of all multipliers with F^T lambda = l the shortest */
static inline void shortest_multipliers(const test_system *s, arb_mat_t l, answer *a)
{
    int n = s->n, m = s->m, r = s->rank;
    double transposed[MOST_N * MOST_N], y[MOST_N];
    arb_mat_t F, G, Fp, lambda, At, H, B, t;
    arb_mat_init(F, m, r);
    arb_mat_init(G, r, r);
    arb_mat_init(Fp, m, r);
    arb_mat_init(lambda, m, 1);
    arb_mat_init(At, n, r);
    arb_mat_init(H, r, r);
    arb_mat_init(B, n, r);
    arb_mat_init(t, r, 1);
    invert_gram(m, r, s->F, F, G, Fp);
    arb_mat_approx_mul(lambda, Fp, l, 2 * BITS);
    arb_mat_approx_mul(t, G, l, 2 * BITS);
    for (int i = 0; i < m; i++)
        a->lambda[i] = middle(lambda, i, 0);
    for (int k = 0; k < r; k++) {
        y[k] = middle(t, k, 0);
        for (int j = 0; j < n; j++)
            transposed[j * r + k] = s->Ar[k * n + j];
    }
    invert_gram(n, r, transposed, At, H, B);
    memset(a->clambda, 0, sizeof a->clambda);
    for (int pass = 0; pass < 2; pass++)
        condition_of_shortest(s, F, Fp, B, y, a);
    arb_mat_clear(F);
    arb_mat_clear(G);
    arb_mat_clear(Fp);
    arb_mat_clear(lambda);
    arb_mat_clear(At);
    arb_mat_clear(H);
    arb_mat_clear(B);
    arb_mat_clear(t);
}

/* The last independent row almost follows from two others. */
static inline void bring_rows_together(test_system *s, double distance)
{
    int n = s->n, last = s->rank - 1;
    if (s->rank < 3)
        return;
    for (int j = 0; j < n; j++)
        s->Ar[last * n + j] = s->Ar[j] + 0.5 * s->Ar[n + j] + distance * random_real();
    mix_rows(s);
}

/* The answer to M x = Q + A^T l, A x = b (br NULL: zero). */
static inline void solve_exactly(const test_system *s, const double *Q, const double *br, answer *a)
{
    int n = s->n, r = s->rank, size = n + r;
    double c[2 * MOST_N];
    arb_mat_t K, inverse, z, right, l;
    arb_mat_init(K, size, size);
    arb_mat_init(inverse, size, size);
    arb_mat_init(z, size, 1);
    arb_mat_init(right, size, 1);
    arb_mat_init(l, r, 1);
    load_problem(s, Q, br, K, right);
    if (!arb_mat_approx_inv(inverse, K, BITS))
        abort();
    arb_mat_approx_mul(z, inverse, right, BITS);
    find_condition(size, K, inverse, z, right, c);
    for (int i = 0; i < n; i++) {
        a->x[i] = to_double(arb_mat_entry(z, i, 0));
        a->cx[i] = c[i];
        a->f[i] = a->cf[i] = 0;
    }
    arb_t sum;
    arb_init(sum);
    for (int k = 0; k < r; k++) {
        arb_neg(arb_mat_entry(l, k, 0), arb_mat_entry(z, n + k, 0));
        a->l[k] = to_double(arb_mat_entry(l, k, 0));
        a->cl[k] = c[n + k];
    }
    for (int i = 0; i < n; i++) {
        arb_zero(sum);
        for (int k = 0; k < r; k++) {
            arb_addmul(sum, arb_mat_entry(K, n + k, i), arb_mat_entry(l, k, 0), BITS);
            a->cf[i] += fabs(s->Ar[k * n + i]) * (c[n + k] + fabs(a->l[k]));
        }
        a->f[i] = to_double(sum);
    }
    arb_clear(sum);
    shortest_multipliers(s, l, a);
    arb_mat_clear(K);
    arb_mat_clear(inverse);
    arb_mat_clear(z);
    arb_mat_clear(right);
    arb_mat_clear(l);
}

#endif
