/* q'' and lambda in ball arithmetic: M q'' = F + A^T lambda, A q'' = b with independent rows A. */
#ifndef HMI_ANALYSE_BALLS_KKT_H
#define HMI_ANALYSE_BALLS_KKT_H

#include <arb_mat.h>
#include <stdbool.h>

/* M is n x n, A r x n; F, qdd n x 1 and b, lambda r x 1. False where the balls do not show that the
 * answer is unique. Verified: test/unit/analyse/test_states.c */
bool hmi_kkt_solve(const arb_mat_t M, const arb_mat_t A, const arb_mat_t F, const arb_mat_t b,
                   arb_mat_t qdd, arb_mat_t lambda, slong precision);

#endif
