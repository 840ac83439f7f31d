/* Jets at orders above 0: inner sums, and the interpreter of instructions. Every sum is made in the
 * order in which machine code makes it (jet_emit.c). See jet.h.
 */
#include "compile/jet_code.h"

#include <string.h>

/* ---- inner sums ---- */

typedef double block __attribute__((vector_size(32), aligned(8), may_alias));

#define INLINE __attribute__((always_inline)) static inline

#define AT(p, j) (*(const block *)((p) + 4 * ((j)-1)))

/* Inner sums of even order k >= 4, and those of order k + 1 as far as they are known now: series are read
 * once for both. What was found one order ago comes last: a vector must not be loaded just after its
 * numbers were stored, processors wait for that. */
INLINE void add_even(const double *X, int order, int k, double *out, double *ahead)
{
    const double *Y = X + 4 * order, *end = X + 4 * (k - 2);
    const double *x = X + 4, *y = Y + 4 * (k - 3);
    block s = {0, 0, 0, 0}, next = {0, 0, 0, 0}, odd = s, odd_next = s;
    for (; x + 4 < end; x += 8, y -= 8) { /* two sums each: additions wait for each other */
        s += AT(x, 1) * AT(y, 1);
        next += AT(x, 2) * AT(y, 1);
        odd += AT(x, 2) * AT(y, 0);
        odd_next += AT(x, 3) * AT(y, 0);
    }
    s += AT(x, 1) * AT(y, 1); /* k - 3 terms: an odd number */
    next += AT(x, 2) * AT(y, 1);
    next += AT(X, 2) * AT(Y, k - 1);
    s += AT(X, 1) * AT(Y, k - 1);
    s += AT(X, k - 1) * AT(Y, 1);
    *(block *)out = s + odd;
    *(block *)ahead = next + odd_next;
}

/* The others: order 2 has one term, 3 has no sums ready. */
INLINE void add_odd(const double *X, int order, int k, double *out, const double *ahead)
{
    const double *Y = X + 4 * order;
    block s = AT(X, 1) * AT(Y, k - 1);
    if (k > 2)
        s += AT(X, k - 1) * AT(Y, 1);
    if (k > 3)
        s += *(const block *)ahead;
    *(block *)out = s;
}

INLINE void find_inner(const hmi_jet *jet, int k)
{
    const size_t stride = 8 * (size_t)jet->order, blocks = jet->block_count;
    const double *x = jet->series;
    double *inner = jet->inner, *ahead = jet->ahead;
    if (k % 2 == 1 || k == 2) {
        for (size_t g = 0; g < blocks; g++)
            add_odd(x + g * stride, jet->order, k, inner + 4 * g, ahead + 4 * g);
        return;
    }
    for (size_t g = 0; g < blocks; g++)
        add_even(x + g * stride, jet->order, k, inner + 4 * g, ahead + 4 * g);
}

static void find_inner_plain(const hmi_jet *jet, int k)
{
    find_inner(jet, k);
}

#if defined(__x86_64__) && defined(__GNUC__)
/* Without fused multiply-add: the bits are those of any processor. */
__attribute__((target("avx2"))) static void find_inner_avx2(const hmi_jet *jet, int k)
{
    find_inner(jet, k);
}
#else
#define find_inner_avx2 find_inner_plain
#endif

void hmi_jet_begin_order(const hmi_jet *jet, int k)
{
    jet->scale[0] = k;
    jet->scale[1] = 1.0 / k;
    if (k == 1)
        memset(jet->inner, 0, 4 * jet->block_count * sizeof *jet->inner);
    else if (jet->vectors)
        find_inner_avx2(jet, k);
    else
        find_inner_plain(jet, k);
}

/* ---- instructions ---- */

/* k x_0 r_k = Sum_{j=1..k} (p j - (k - j)) x_j r_{k-j}                              [Euler]
 *           = p k x_k r_0 + (p + 1) Sum_{j<k} j x_j r_{k-j} - k Sum_{j<k} x_j r_{k-j} */
static inline double power(const double *base, const hmi_jet_code *ip, double k)
{
    double p = base[ip->b], x = base[ip->a + 1], r = base[ip->dst];
    double sum = ((p * k) * x) * r + ((p + 1) * base[ip->inner] - k * base[ip->inner + 1]);
    return sum / (k * base[ip->a]);
}

/* of this order, and of order 0 */
#define A          base[ip->a + 1]
#define B          base[ip->b + 1]
#define C          base[ip->c + 1]
#define A0         base[ip->a]
#define B0         base[ip->b]
#define C0         base[ip->c]
#define R0         base[ip->dst]
#define R          base[ip->dst + 1]
#define P0         base[ip->p]
#define Q0         base[ip->q]
#define IN         base[ip->inner]
#define IN2        base[ip->inner + 1]
#define SET(value) base[ip->dst + 1] = (value)
#define PRODUCT    ((A0 * B + A * B0) + IN)

/* Instructions of one kind, which stand one after the other. */
#define RUN_OF(name, ...)                                                                          \
    case HMI_JET_##name:                                                                           \
        do {                                                                                       \
            __VA_ARGS__;                                                                           \
            ip++;                                                                                  \
        } while (ip->op == HMI_JET_##name);                                                        \
        break

void hmi_jet_interpret(const hmi_jet *jet, const hmi_jet_segment *segment)
{
    const hmi_jet_code *ip = jet->code.data + segment->first;
    const hmi_jet_code *end = jet->code.data + segment->end;
    double *base = jet->memory;
    const double k = jet->scale[0], inverse = jet->scale[1];
    while (ip < end) {
        switch ((hmi_jet_op)ip->op) {
            RUN_OF(SCALED, SET(P0 * A));
            RUN_OF(LINEAR, SET(P0 * A + Q0 * C));
            RUN_OF(LINEAR_SUB, SET(Q0 * C - P0 * A));
            RUN_OF(TIMES, SET(PRODUCT));
            RUN_OF(PRODUCT, SET(P0 * PRODUCT + Q0 * C));
            RUN_OF(DIV, SET(((A - B * R0) - IN) / B0));
            RUN_OF(DIV_CONST, SET(A / B0));
            RUN_OF(CONST_DIV, SET(-(B * R0 + IN) / B0));
            RUN_OF(SQRT, SET((A - IN) / (R0 + R0)));
            RUN_OF(POWER, SET(power(base, ip, k)));
            RUN_OF(RATE, SET(k * A));
            RUN_OF(SINCOS, double sine = (A * C0 + IN) * inverse; C = -((A * R0 + IN2) * inverse);
                   SET(sine));
            RUN_OF(CHAIN, SET((A * B0 + IN) * inverse));
            RUN_OF(CHAIN_ADD, SET(R + (A * B0 + IN) * inverse));
            RUN_OF(SELECT, SET(A0 != 0 ? B : C));
        default:
            return;
        }
    }
}

void hmi_jet_sums(const hmi_jet *jet, const hmi_jet_list *lists, size_t count, double *out)
{
    const double *base = jet->memory;
    for (size_t l = 0; l < count; l++) {
        const hmi_jet_pair *first = jet->pairs.data + lists[l].first;
        const hmi_jet_pair *end = jet->pairs.data + lists[l].end;
        double inner = 0, ends = 0;
        for (const hmi_jet_pair *p = first; p < end; p++)
            inner += base[p->inner];
        for (const hmi_jet_pair *p = first; p < end; p++)
            ends += base[p->x + 1] * base[p->y];
        out[l] = (base[lists[l].value + 1] - inner) - ends;
    }
}
