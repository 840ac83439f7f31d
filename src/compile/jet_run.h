/* The interpreter of jets at orders above 0; included by jet_run_plain.c and jet_run_avx2.c, which
 * define TARGET (an attribute) and RUN, SUM (names). Four partial sums whatever the processor.
 *
 * Backwards copies end in zeros, so blocks of four may reach beyond the last term; what they meet
 * there is a coefficient of an earlier expansion, finite, times zero.
 */
#include "compile/jet_code.h"

#include <math.h>

typedef double block __attribute__((vector_size(32), aligned(8), may_alias));

TARGET static inline double dot(const double *x, const double *y, int blocks)
{
    block s = *(const block *)x * *(const block *)y;
    for (int i = 1; i < blocks; i++)
        s += *(const block *)(x + 4 * i) * *(const block *)(y + 4 * i);
    return (s[0] + s[2]) + (s[1] + s[3]);
}

TARGET double SUM(const hmi_jet_pair *pairs, size_t count, hmi_jet_machine m, int k)
{
    int blocks = (k + 3) / 4;
    const double *base = m.base, *back = base + m.length + m.order - k + 1;
    block s = {0, 0, 0, 0};
    for (size_t p = 0; p < count; p++) {
        const double *x = base + pairs[p].x + 1, *y = back + pairs[p].y;
        for (int i = 0; i < blocks; i++)
            s += *(const block *)(x + 4 * i) * *(const block *)(y + 4 * i);
    }
    return (s[0] + s[2]) + (s[1] + s[3]);
}

/* k x_0 r_k = Sum_{j=1..k} (p j - (k - j)) x_j r_{k-j}                              [Euler] */
static double power(const double *x, const double *r, double p, int k)
{
    double sum = 0;
    for (int j = 1; j <= k; j++)
        sum += (p * j - (k - j)) * x[j] * r[k - j];
    return sum / (k * x[0]);
}

#define A(i) base[ip->a + (i)]
#define B(i) base[ip->b + (i)]
#define C(i) base[ip->c + (i)]
#define R(i) base[ip->dst + (i)]
/* Sum_{j=0..k} x_j y_{k-j};  Sum_{j=1..k};  the same with rates, moved down by one */
#define WHOLE(x, y)   dot(base + (x), back + (y), whole)
#define PART(x, y)    dot(base + (x) + 1, back + 1 + (y), part)
#define CHAINED(x, y) (dot(base + (x), back + 1 + (y), part) * inverse)
#define SET(row, value)                                                                            \
    do {                                                                                           \
        double result = (value);                                                                   \
        base[(row) + k] = result;                                                                  \
        back[(row)] = result;                                                                      \
    } while (0)

TARGET void RUN(const hmi_jet_code *ip, hmi_jet_machine m, int k)
{
    double *base = m.base, *back = base + m.length + m.order - k;
    const int whole = k / 4 + 1, part = (k + 3) / 4;
    const double inverse = 1.0 / k;
    for (;; ip++) {
        switch ((hmi_jet_op)ip->op) {
        case HMI_JET_STOP:
            return;
        case HMI_JET_COPY:
            SET(ip->dst, A(k));
            break;
        case HMI_JET_NEG:
            SET(ip->dst, -A(k));
            break;
        case HMI_JET_ADD:
            SET(ip->dst, A(k) + B(k));
            break;
        case HMI_JET_SUB:
            SET(ip->dst, A(k) - B(k));
            break;
        case HMI_JET_SCALE:
            SET(ip->dst, B(0) * A(k));
            break;
        case HMI_JET_NEG_SCALE:
            SET(ip->dst, -(B(0) * A(k)));
            break;
        case HMI_JET_SCALE_ADD:
            SET(ip->dst, B(0) * A(k) + C(k));
            break;
        case HMI_JET_SCALE_SUB:
            SET(ip->dst, B(0) * A(k) - C(k));
            break;
        case HMI_JET_SUB_SCALE:
            SET(ip->dst, C(k) - B(0) * A(k));
            break;
        case HMI_JET_MUL:
            SET(ip->dst, WHOLE(ip->a, ip->b));
            break;
        case HMI_JET_NEG_MUL:
            SET(ip->dst, -WHOLE(ip->a, ip->b));
            break;
        case HMI_JET_MUL_ADD:
            SET(ip->dst, WHOLE(ip->a, ip->b) + C(k));
            break;
        case HMI_JET_MUL_SUB:
            SET(ip->dst, WHOLE(ip->a, ip->b) - C(k));
            break;
        case HMI_JET_SUB_MUL:
            SET(ip->dst, C(k) - WHOLE(ip->a, ip->b));
            break;
        case HMI_JET_DIV:
            SET(ip->dst, (A(k) - PART(ip->b, ip->dst)) / B(0));
            break;
        case HMI_JET_DIV_CONST:
            SET(ip->dst, A(k) / B(0));
            break;
        case HMI_JET_CONST_DIV:
            SET(ip->dst, -PART(ip->b, ip->dst) / B(0));
            break;
        case HMI_JET_SQRT: /* R(k) is zero until now */
            SET(ip->dst, (A(k) - PART(ip->dst, ip->dst)) / (2 * R(0)));
            R(k + 1) = 0;
            break;
        case HMI_JET_POWER:
            SET(ip->dst, power(base + ip->a, base + ip->dst, B(0), k));
            break;
        case HMI_JET_RATE:
            R(k - 1) = k * A(k);
            break;
        case HMI_JET_SINCOS: {
            double sine = CHAINED(ip->a, ip->c), cosine = -CHAINED(ip->a, ip->dst);
            SET(ip->dst, sine);
            SET(ip->c, cosine);
            break;
        }
        case HMI_JET_CHAIN:
            SET(ip->dst, CHAINED(ip->a, ip->b));
            break;
        case HMI_JET_CHAIN_ADD:
            SET(ip->dst, R(k) + CHAINED(ip->a, ip->b));
            break;
        case HMI_JET_SELECT:
            SET(ip->dst, A(0) != 0 ? B(k) : C(k));
            break;
        }
    }
}
