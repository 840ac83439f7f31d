/* Instructions of jets at orders above 0: between jet_build.c, which writes them, and jet_run.inc,
 * which runs them. Names say what r_k is; `c` stands for an operand that does not change in time.
 */
#ifndef HMI_COMPILE_JET_CODE_H
#define HMI_COMPILE_JET_CODE_H

#include "compile/jet.h"

#define HMI_JET_CODES(X)                                                                           \
    X(STOP)                                                                                        \
    X(COPY)      /* a */                                                                           \
    X(NEG)       /* -a */                                                                          \
    X(ADD)       /* a + b */                                                                       \
    X(SUB)       /* a - b */                                                                       \
    X(SCALE)     /* c a, b: the constant */                                                        \
    X(NEG_SCALE) /* -c a */                                                                        \
    X(SCALE_ADD) /* c a + third */                                                                 \
    X(SCALE_SUB) /* c a - third */                                                                 \
    X(SUB_SCALE) /* third - c a */                                                                 \
    X(MUL)       /* a b */                                                                         \
    X(NEG_MUL)   /* -a b */                                                                        \
    X(MUL_ADD)   /* a b + third */                                                                 \
    X(MUL_SUB)   /* a b - third */                                                                 \
    X(SUB_MUL)   /* third - a b */                                                                 \
    X(DIV)       /* a / b */                                                                       \
    X(DIV_CONST) /* a / c */                                                                       \
    X(CONST_DIV) /* c / b */                                                                       \
    X(SQRT)                                                                                        \
    X(POWER)     /* a^c */                                                                         \
    X(RATE)      /* k a_k */                                                                       \
    X(SINCOS)    /* dst = sin, c = cos of the value whose rate is a */                             \
    X(CHAIN)     /* r' = a b, a: a rate */                                                         \
    X(CHAIN_ADD) /* r' = (what it was) + a b */                                                    \
    X(SELECT)    /* a ? b : third */

typedef enum hmi_jet_op {
#define X(name) HMI_JET_##name,
    HMI_JET_CODES(X)
#undef X
} hmi_jet_op;

/* The interpreters: same code, compiled for any processor and for AVX2. */
typedef struct hmi_jet_machine {
    double *base;   /* pairs of numbers */
    double *series; /* x_1 of row 0 */
    size_t stride;  /* of series, for each double of the pairs */
} hmi_jet_machine;

void hmi_jet_run_plain(const hmi_jet_code *ip, const hmi_jet_machine *m, int k);
void hmi_jet_sums_plain(const hmi_jet_list *lists, size_t count, const hmi_jet_machine *m, int k,
                        double *out);
#if defined(__x86_64__) && defined(__GNUC__)
#define HMI_JET_AVX2 1
void hmi_jet_run_avx2(const hmi_jet_code *ip, const hmi_jet_machine *m, int k);
void hmi_jet_sums_avx2(const hmi_jet_list *lists, size_t count, const hmi_jet_machine *m, int k,
                       double *out);
#endif

#endif
