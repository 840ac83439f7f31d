/* The constraint problem of a large sparse system, compiled: where M falls into small blocks,
 *
 *     M = L E L^T (blocks),  W = E^-1 L^-1 A^T,  G = A M^-1 A^T,  G lambda = b - A M^-1 F,
 *     q'' = L^-T (E^-1 L^-1 F + W lambda),   F = Q + C.
 *
 * The idea. Chains, nets and trusses have a mass matrix of small blocks, and each constraint touches few
 * of them. Then only the Gram matrix G couples far parts of the system. Everything else is arithmetic
 * that repeats from piece to piece: G and the right side, and after the solve q'', are formed on the DAG
 * and run as array code (compile/array); for a chain of particles that is some 40 vector operations. G
 * alone is factored numerically (linalg/sparse.h). The order of its rows is chosen here, once: as
 * declared where that is a narrow band, else by breadth where that is one, else by minimum degree.
 *
 * q, v and lambda have whole places in the work vector, so that nobody needs to copy them. The late
 * symbols of the array code are lambda, in the order of G's rows (HMI_SYM_MATRIX).
 * Verified: test/unit/dynamics/test_sparse.c, test/unit/compile/test_verify.c
 */
#ifndef HMI_COMPILE_SOLVE_BLOCK_SCHUR_H
#define HMI_COMPILE_SOLVE_BLOCK_SCHUR_H

#include "compile/array/array.h"
#include "derive/derived.h"

/* Outputs of the code, where they start. */
typedef struct hmi_block_schur_layout {
    size_t gram;   /* the band by diagonals, or the entries of `start`, `column` */
    size_t right;  /* m */
    size_t checks; /* numbers that must be well above 0: pivots of M relative to its diagonal */
    size_t check_count;
    size_t state_rates;
    size_t acceleration; /* n, late */
    size_t met; /* late; must not be negative: room that rows which shift M leave of A q'' = b */
    size_t count;
} hmi_block_schur_layout;

typedef struct hmi_block_schur {
    const hm_allocator *allocator;
    hmi_arena arena;
    size_t n, m;
    bool diagonal;   /* M is diagonal */
    size_t shifted;  /* rows that are added to singular blocks of M (block_schur_shift.c) */
    uint32_t *order; /* m: row k of G belongs to constraint order[k] */
    bool banded;     /* G is a band of this width; else `start` and `column` have its pattern */
    size_t width;
    bool fresh;    /* every run writes all entries of the band anew: it may be factored in place */
    size_t *start; /* m + 1: the lower triangle of G by rows, the diagonal last */
    uint32_t *column;
    hmi_array_code code;
    hmi_block_schur_layout at;
} hmi_block_schur;

/* *out is NULL (and the status HM_OK) where the structure does not allow it or it would not pay:
 * blocks of M that are large, a G that is dense, too little repetition, servos, force laws that use
 * reactions; *why then says which. Extends eq's graph. */
hm_status hmi_block_schur_create(hmi_derived *eq, hmi_block_schur **out, const char **why);
void hmi_block_schur_destroy(hmi_block_schur *schur);

#endif
