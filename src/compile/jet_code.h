/* Instructions of jets at orders above 0: between jet_build.c, which writes them, and jet_run.inc,
 * which runs them. p and q are rows that do not change in time; sums and products of every shape are
 * one instruction, with 1, -1 or 0 where nothing else stands, so that runs of equal instructions are
 * long: what a jump to the next kind costs is paid once a run.
 */
#ifndef HMI_COMPILE_JET_CODE_H
#define HMI_COMPILE_JET_CODE_H

#include "compile/jet.h"

#define HMI_JET_CODES(X)                                                                           \
    X(LINEAR)     /* p a + q c */                                                                  \
    X(LINEAR_SUB) /* q c - p a */                                                                  \
    X(PRODUCT)    /* p (a b) + q c */                                                              \
    X(DIV)        /* a / b */                                                                      \
    X(DIV_CONST)  /* a / b, b constant */                                                          \
    X(CONST_DIV)  /* a / b, a constant */                                                          \
    X(SQRT)                                                                                        \
    X(POWER)     /* a^b, b constant */                                                             \
    X(RATE)      /* k a_k: coefficients of s a' */                                                 \
    X(SINCOS)    /* dst = sin, c = cos of the value whose rate is a */                             \
    X(CHAIN)     /* r' = a' b, a: the rate */                                                      \
    X(CHAIN_ADD) /* r' = (what it was) + a' b */                                                   \
    X(SELECT)    /* a ? b : c */

typedef enum hmi_jet_op {
#define X(name) HMI_JET_##name,
    HMI_JET_CODES(X)
#undef X
        HMI_JET_OPS
} hmi_jet_op;

/* The op of an instruction to be left out, and of what ends the last run. */
#define HMI_JET_NOTHING UINT32_MAX

/* Puts the instructions from `first` on into the order in which they run. */
void hmi_jet_schedule(hmi_jet *jet, size_t first);

/* The interpreters: same code, compiled for any processor and for AVX2. */
typedef struct hmi_jet_machine {
    double *base;   /* pairs of numbers */
    double *series; /* x_1 of row 0 */
    size_t stride;  /* of series, for each double of the pairs */
} hmi_jet_machine;

void hmi_jet_run_plain(const hmi_jet_code *ip, const hmi_jet_code *end, const hmi_jet_machine *m,
                       int k);
void hmi_jet_sums_plain(const hmi_jet_list *lists, size_t count, const hmi_jet_machine *m, int k,
                        double *out);
#if defined(__x86_64__) && defined(__GNUC__)
#define HMI_JET_AVX2 1
void hmi_jet_run_avx2(const hmi_jet_code *ip, const hmi_jet_code *end, const hmi_jet_machine *m,
                      int k);
void hmi_jet_sums_avx2(const hmi_jet_list *lists, size_t count, const hmi_jet_machine *m, int k,
                       double *out);
#endif

#endif
