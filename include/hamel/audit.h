/* Where the energy goes: d(total)/dt, by differentiating the energy along the motion, against the
 * powers of all forces.
 *
 *     total = q'.dL/dq' - L,    d(total)/dt = impressed + dissipation + gyroscopic + ideal + nonideal
 *                                             + servo + explicit_time
 */
#ifndef HAMEL_AUDIT_H
#define HAMEL_AUDIT_H

#include <hamel/run.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hm_audit {
    bool defined; /* there is a total energy and q'' is determined; else nothing below counts */
    double total;
    double rate; /* d(total)/dt along q'', from the derivatives of the total energy */
    hm_ledger power;
    double sum;   /* of the powers */
    double size;  /* sum of the absolute values of all that was added up, for comparison */
    double error; /* |rate - sum| / size */
    double gyroscopic_error; /* |sum of gyroscopic components times velocities| / sum of |...| */
    double ideal_error;      /* |sum of rows - power.ideal| / size */
    bool balanced;           /* all three errors are of rounding order (1e-9) */
} hm_audit;

/* At the sim's present state. row_power (NULL: not wanted) takes a value for each constraint row,
 * lambda_k A_k.q', what its ideal force does: 0 where the constraint is homogeneous in the velocities.
 * Statuses as hm_sim_evaluate. Allocates: not for the hot path. */
HM_API HM_MUST_CHECK hm_status hm_sim_audit(hm_sim *sim, hm_audit *audit, double *row_power);

/* Is the total energy conserved along every motion, and if not, what changes it? Decided by the audit
 * at random consistent states near the initial one, and on both sides of every function that is not smooth,
 * in double precision, and at states in ball arithmetic, which proves the smallest change. */
typedef struct hm_energy {
    bool defined;    /* there is a total energy, and states enough were found */
    bool jacobi;     /* it is not T + V but q'.dL/dq' - L, Jacobi's integral */
    bool conserved;  /* its rate is 0 at all states: to `bits` in ball arithmetic at four more */
    int bits;        /* states; 0: not looked at, and only to 1e-9 of what it is added up from */
    int states;      /* how many */
    int unseen;      /* sides of functions that are not smooth on which no state was found */
    double rate;     /* largest |d(total)/dt|, as a part of what it is added up from */
    hm_ledger share; /* largest |power| of each kind, likewise; 0: none works */
} hm_energy;

/* row_works (NULL: not wanted) takes for each constraint row whether its ideal force works.
 * HM_OK also where nothing could be said (`defined` is false); HM_ERR_NOMEM. */
HM_API HM_MUST_CHECK hm_status hm_system_energy(const hm_system *system, hm_energy *energy,
                                                bool *row_works);

#ifdef __cplusplus
}
#endif
#endif
