/* The interpreter of jet instructions at orders above 0, and of sums. It rounds as machine code does. */
#include "compile/jet/code.h"

#define INLINE __attribute__((always_inline)) static inline

/* a b + c and c - a b, rounded once where the jet is fused. */
INLINE double add(bool fused, double a, double b, double c)
{
    return fused ? __builtin_fma(a, b, c) : a * b + c;
}

INLINE double subtract(bool fused, double a, double b, double c)
{
    return fused ? __builtin_fma(-a, b, c) : c - a * b;
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
#define A                 base[ip->a + 1]
#define B                 base[ip->b + 1]
#define C                 base[ip->c + 1]
#define A0                base[ip->a]
#define B0                base[ip->b]
#define C0                base[ip->c]
#define R0                base[ip->dst]
#define R                 base[ip->dst + 1]
#define P0                base[ip->p]
#define Q0                base[ip->q]
#define IN                base[ip->inner]
#define IN2               base[ip->inner + 1]
#define SET(value)        base[ip->dst + 1] = (value)
#define HALF              ADD(A, B0, IN)
#define PRODUCT           ADD(A, B0, ADD(A0, B, IN))
#define ADD(x, y, z)      add(fused, x, y, z)
#define SUBTRACT(x, y, z) subtract(fused, x, y, z)

/* Instructions of one kind, which stand one after the other. */
#define RUN_OF(name, ...)                                                                          \
    case HMI_JET_##name:                                                                           \
        do {                                                                                       \
            __VA_ARGS__;                                                                           \
            ip++;                                                                                  \
        } while (ip->op == HMI_JET_##name);                                                        \
        break

INLINE void interpret(const hmi_jet *jet, const hmi_jet_segment *segment, bool fused)
{
    if (segment->first == segment->end)
        return; /* and there may be no array */
    const hmi_jet_code *ip = jet->code.data + segment->first;
    const hmi_jet_code *end = jet->code.data + segment->end;
    double *base = jet->memory;
    const double k = jet->scale[HMI_JET_K];
    while (ip < end) {
        switch ((hmi_jet_op)ip->op) {
            RUN_OF(SCALED, SET(P0 * A));
            RUN_OF(LINEAR, SET(ADD(P0, A, Q0 * C)));
            RUN_OF(LINEAR_SUB, SET(SUBTRACT(P0, A, Q0 * C)));
            RUN_OF(TIMES, SET(PRODUCT));
            RUN_OF(PRODUCT, SET(ADD(P0, PRODUCT, Q0 * C)));
            RUN_OF(HALF, SET(HALF));
            RUN_OF(HALF_PRODUCT, SET(ADD(P0, HALF, Q0 * C)));
            RUN_OF(INNER, SET(IN));
            RUN_OF(INNER_PRODUCT, SET(ADD(P0, IN, Q0 * C)));
            RUN_OF(DIV, SET(SUBTRACT(B, R0, A - IN) * P0));
            RUN_OF(DIV_CONST, SET(A * P0));
            RUN_OF(CONST_DIV, SET(-ADD(B, R0, IN) * P0));
            RUN_OF(SQRT, SET((A - IN) * P0));
            RUN_OF(POWER, SET(power(base, ip, k)));
            RUN_OF(RATE, SET(k * A));
            RUN_OF(SINCOS, double sine = ADD(A, C0, IN) / k; C = -(ADD(A, R0, IN2) / k); SET(sine));
            RUN_OF(CHAIN, SET(ADD(A, B0, IN) / k));
            RUN_OF(CHAIN_ADD, SET(R + ADD(A, B0, IN) / k));
            RUN_OF(SELECT, SET(A0 != 0 ? B : C));
        default:
            return;
        }
    }
}

INLINE double list_sum(const hmi_jet *jet, const hmi_jet_list *list, bool fused)
{
    const double *base = jet->memory;
    double sum = base[list->value + 1], inner, ends = 0;
    if (list->first < list->end) { /* else there may be no pairs at all */
        const hmi_jet_pair *first = jet->pairs.data + list->first;
        const hmi_jet_pair *end = jet->pairs.data + list->end;
        inner = base[first->inner];
        for (const hmi_jet_pair *p = first + 1; p < end; p++)
            inner += base[p->inner];
        for (const hmi_jet_pair *p = first; p < end; p++)
            ends = add(fused, base[p->x + 1], base[p->y], ends);
        sum = (sum - inner) - ends;
    }
    if (list->less != HMI_JET_NO_PLACE)
        sum -= base[list->less + 1];
    if (list->rise != HMI_JET_NO_PLACE)
        sum = subtract(fused, base[list->rise + 1], jet->scale[HMI_JET_RISE], sum);
    return sum;
}

INLINE void sum_lists(const hmi_jet *jet, const hmi_jet_list *lists, size_t count, double *out,
                      bool fused)
{
    for (size_t l = 0; l < count; l++)
        out[l] = list_sum(jet, &lists[l], fused);
}

/* ---- with fused multiply-add, and without ---- */

static void interpret_plain(const hmi_jet *jet, const hmi_jet_segment *segment)
{
    interpret(jet, segment, false);
}

static void sum_plain(const hmi_jet *jet, const hmi_jet_list *lists, size_t count, double *out)
{
    sum_lists(jet, lists, count, out, false);
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2,fma"))) static void interpret_fused(const hmi_jet *jet,
                                                                const hmi_jet_segment *segment)
{
    interpret(jet, segment, true);
}

__attribute__((target("avx2,fma"))) static void sum_fused(const hmi_jet *jet,
                                                          const hmi_jet_list *lists, size_t count,
                                                          double *out)
{
    sum_lists(jet, lists, count, out, true);
}
#else
#define interpret_fused interpret_plain
#define sum_fused       sum_plain
#endif

void hmi_jet_interpret(const hmi_jet *jet, const hmi_jet_segment *segment)
{
    if (jet->fused)
        interpret_fused(jet, segment);
    else
        interpret_plain(jet, segment);
}

void hmi_jet_sums(const hmi_jet *jet, const hmi_jet_list *lists, size_t count, double *out)
{
    if (jet->fused)
        sum_fused(jet, lists, count, out);
    else
        sum_plain(jet, lists, count, out);
}
