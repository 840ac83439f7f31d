/* Explicit Runge-Kutta methods from tables, with embedded error estimates and dense output.
 *
 * Stages are numbered from 0; stage `stages` is f at the new state (first same as last) and the
 * `extra` ones after it serve the dense output only. Row i of A has i entries in use.
 *
 * The error of a step is [HNW93, II.4-II.5]
 *     h |E5|^2 / sqrt(|E5|^2 + 0.01 |E3|^2)   with two estimates, of orders 5 and 3 (DOP853),
 *     h |E|                                   with one,
 * in the norm of hmi_scaled_norm. Dense output, s = (t - t_old)/h, s1 = 1 - s    [HNW93, II.6]:
 *     y = r0 + s (r1 + s1 (r2 + s (r3 + s1 (r4 + s (r5 + s1 (r6 + s r7))))))
 * with r0 = y_old, r1 = y - y_old, r2 = h f_old - r1, r3 = r1 - h f - r2, r4.. = h D K.
 * r1 and r3 take the state after drift control, so the dense output is continuous at step ends.
 */
#ifndef HMI_INTEGRATE_RK_RK_H
#define HMI_INTEGRATE_RK_RK_H

#include "integrate/ode/method.h"

enum { HMI_RK_MOST_STAGES = 16 };

typedef struct hmi_rk_table {
    int stages, extra;
    double A[HMI_RK_MOST_STAGES][HMI_RK_MOST_STAGES];
    double c[HMI_RK_MOST_STAGES];
    double b[HMI_RK_MOST_STAGES];
    double error[2][HMI_RK_MOST_STAGES];
    int errors;           /* estimates in use, 1 or 2 */
    bool error_uses_last; /* the estimate needs f at the new state */
    int dense_rows;       /* r4 and on */
    double D[4][HMI_RK_MOST_STAGES];
    int order;   /* err ~ h^order: exponent of the step size control */
    double beta; /* of the PI controller [HNW93, IV.2; Gustafsson 1991] */
    double least_factor, largest_factor, safety;
    double gap;         /* middle of the widest gap between the abscissae c */
    double stiff_limit; /* h |lambda| on the boundary of the stability domain */
} hmi_rk_table;

/* A row of the table without its zeros. */
typedef struct hmi_rk_terms {
    int count, stage[HMI_RK_MOST_STAGES];
    double weight[HMI_RK_MOST_STAGES];
} hmi_rk_terms;

typedef struct hmi_rk_rows {
    hmi_rk_terms A[HMI_RK_MOST_STAGES], b, estimate[2], D[4];
} hmi_rk_rows;

void hmi_rk_collect(const hmi_rk_table *table, hmi_rk_rows *rows);

/* Hairer's test of stiffness: so many suspicious steps in a row, or so many good ones to forget. */
enum { HMI_STIFF_STEPS = 15, HMI_SMOOTH_STEPS = 6 };
/* h is not let below this many units in the last place of t. */
#define HMI_SMALLEST_STEP 16
/* Drift control that moves a state by so many tolerances does not correct an error of the step. */
#define HMI_MOST_MOVED 10

/* Logarithms of errors as the controller keeps them: of the last accepted step not below this. */
#define HMI_LEAST_LOG (-9.2103403719761827) /* log 1e-4 */

/* The functions of the methods; they find the table by s->method. */
size_t hmi_rk_memory_size(const hmi_method *method, const hmi_ode *ode);
hm_status hmi_rk_start(hmi_stepper *s);
hm_status hmi_rk_step(hmi_stepper *s, double t_limit);
void hmi_rk_interpolate(const hmi_stepper *s, double t, double *y);
int hmi_rk_polynomial(const hmi_stepper *s, const uint32_t *place, int most_degree,
                      double *coefficient, double *origin);

/* For batches (ensemble/batch.h): the step that hmi_rk_step would try first after hmi_rk_start, 0 after a
 * failure; and the stages of a step that somebody else made from t_old to t, h_done long, to be filled in
 * for the dense output: row i of size + works values is stage i, up to `stages`. */
double hmi_rk_first_step(hmi_stepper *s, double t_limit);
double *hmi_rk_foreign_step(hmi_stepper *s, double h_done);

#endif
