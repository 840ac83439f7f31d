/* The interpreter of jets at orders above 0; included by jet_run_plain.c and jet_run_avx2.c, which
 * define TARGET (an attribute) and RUN, SUMS (names). Four partial sums whatever the processor.
 *
 * Products of coefficients 1 .. k-1 come from the series, which hold what earlier orders left, one of
 * the two read backwards; those with x_0 and with x_k of this order from the pairs of numbers. A
 * series has zeros in front, so blocks of four may reach beyond the last term; what meets the zeros
 * is a coefficient of an earlier expansion, finite.
 */
#include "compile/jet_code.h"

#include <math.h>

typedef double block __attribute__((vector_size(32), aligned(8), may_alias));

#define INLINE __attribute__((always_inline)) static inline

#define REVERSED(x) __builtin_shufflevector(x, x, 3, 2, 1, 0)

/* += x[0] y[0] + x[1] y[-1] + ... of 4*blocks products; unrolled where blocks is known. */
TARGET INLINE void add_products(block *s, const double *x, const double *y, int blocks)
{
#pragma GCC unroll 8
    for (int i = 0; i < blocks; i++) {
        block back = *(const block *)(y - 4 * i - 3);
        *s += *(const block *)(x + 4 * i) * REVERSED(back);
    }
}

TARGET INLINE double dot(const double *x, const double *y, int blocks)
{
    block s = {0, 0, 0, 0};
    add_products(&s, x, y, blocks);
    return (s[0] + s[2]) + (s[1] + s[3]);
}

TARGET INLINE void sums(const hmi_jet_list *lists, size_t count, const hmi_jet_machine *m, int k,
                        int blocks, double *out)
{
    const double *base = m->base, *forth = m->series, *back = forth + k - 2;
    const size_t stride = m->stride;
    for (size_t l = 0; l < count; l++) {
        block s = {0, 0, 0, 0};
        double ends = 0;
        for (const hmi_jet_pair *p = lists[l].first; p < lists[l].end; p++) {
            ends += base[p->x + 1] * base[p->y];
            add_products(&s, forth + p->x * stride, back + p->y * stride, blocks);
        }
        double sum = ends + ((s[0] + s[2]) + (s[1] + s[3]));
        out[l] = base[lists[l].value + 1] - sum;
    }
}

/* Blocks of four that hold coefficients 1 .. k-1; one code for each number of them. */
#define BY_BLOCKS(k, call)                                                                         \
    switch (((k) + 2) / 4) {                                                                       \
    case 0:                                                                                        \
        call(0);                                                                                   \
        break;                                                                                     \
    case 1:                                                                                        \
        call(1);                                                                                   \
        break;                                                                                     \
    case 2:                                                                                        \
        call(2);                                                                                   \
        break;                                                                                     \
    case 3:                                                                                        \
        call(3);                                                                                   \
        break;                                                                                     \
    case 4:                                                                                        \
        call(4);                                                                                   \
        break;                                                                                     \
    case 5:                                                                                        \
        call(5);                                                                                   \
        break;                                                                                     \
    case 6:                                                                                        \
        call(6);                                                                                   \
        break;                                                                                     \
    default:                                                                                       \
        call(((k) + 2) / 4);                                                                       \
    }

TARGET void SUMS(const hmi_jet_list *lists, size_t count, const hmi_jet_machine *m, int k,
                 double *out)
{
#define CALL(blocks) sums(lists, count, m, k, blocks, out)
    BY_BLOCKS(k, CALL)
#undef CALL
}

/* k x_0 r_k = Sum_{j=1..k} (p j - (k - j)) x_j r_{k-j}                              [Euler] */
static double power(const double *x, const double *xs, const double *r, const double *rs, double p,
                    int k)
{
    double sum = p * k * x[1] * r[0];
    for (int j = 1; j < k; j++)
        sum += (p * j - (k - j)) * xs[j - 1] * rs[k - j - 1];
    return sum / (k * x[0]);
}

/* of this order, and of order 0 */
#define A          base[ip->a + 1]
#define B          base[ip->b + 1]
#define C          base[ip->c + 1]
#define A0         base[ip->a]
#define B0         base[ip->b]
#define R0         base[ip->dst]
#define R          base[ip->dst + 1]
#define P0         base[ip->p]
#define Q0         base[ip->q]
#define SET(value) base[ip->dst + 1] = (value)
/* Sum_{j=1..k-1} x_j y_{k-j}, and with both ends */
#define INNER(x, y) dot(forth + (x)*stride, back + (y)*stride, blocks)
#define PRODUCT     ((A0 * B + A * B0) + INNER(ip->a, ip->b))

/* Instructions of one kind, which stand one after the other. */
#define RUN_OF(name, ...)                                                                          \
    case HMI_JET_##name:                                                                           \
        do {                                                                                       \
            __VA_ARGS__;                                                                           \
            ip++;                                                                                  \
        } while (ip->op == HMI_JET_##name);                                                        \
        break

TARGET INLINE void run(const hmi_jet_code *ip, const hmi_jet_code *end, const hmi_jet_machine *m,
                       int k, int blocks)
{
    double *base = m->base;
    const double *forth = m->series, *back = forth + k - 2;
    const size_t stride = m->stride;
    const double inverse = 1.0 / k;
    while (ip < end) {
        switch ((hmi_jet_op)ip->op) {
            RUN_OF(LINEAR, SET(P0 * A + Q0 * C));
            RUN_OF(LINEAR_SUB, SET(Q0 * C - P0 * A));
            RUN_OF(PRODUCT, SET(P0 * PRODUCT + Q0 * C));
            RUN_OF(DIV, SET(((A - B * R0) - INNER(ip->b, ip->dst)) / B0));
            RUN_OF(DIV_CONST, SET(A / B0));
            RUN_OF(CONST_DIV, SET(-(B * R0 + INNER(ip->b, ip->dst)) / B0));
            RUN_OF(SQRT, SET((A - INNER(ip->dst, ip->dst)) / (2 * R0)));
            RUN_OF(POWER, SET(power(base + ip->a, forth + ip->a * stride, base + ip->dst,
                                    forth + ip->dst * stride, B0, k)));
            RUN_OF(RATE, SET(k * A));
            RUN_OF(SINCOS, double sine = (A * base[ip->c] + INNER(ip->a, ip->c)) * inverse;
                   C = -((A * R0 + INNER(ip->a, ip->dst)) * inverse); SET(sine));
            RUN_OF(CHAIN, SET((A * B0 + INNER(ip->a, ip->b)) * inverse));
            RUN_OF(CHAIN_ADD, SET(R + (A * B0 + INNER(ip->a, ip->b)) * inverse));
            RUN_OF(SELECT, SET(A0 != 0 ? B : C));
        default:
            return;
        }
    }
}

TARGET void RUN(const hmi_jet_code *ip, const hmi_jet_code *end, const hmi_jet_machine *m, int k)
{
#define CALL(blocks) run(ip, end, m, k, blocks)
    BY_BLOCKS(k, CALL)
#undef CALL
}
