/* Laws that use constraint forces, as the files that solve for them share it.   (reaction_laws.c) */
#ifndef HMI_DYNAMICS_FORMULATIONS_LAWS_H
#define HMI_DYNAMICS_FORMULATIONS_LAWS_H

#include "dynamics/formulations/workspace.h"

/* A law and what it is told: told = (multipliers of Qi if it uses them, total ones if it uses them), scaled,
 * of the independent rows. */
typedef struct hmi_law_loop {
    hmi_dynamics *d;
    const hmi_equations *e;
    bool ideal, total;
    int size;        /* of `told`: rank for each of the two */
    double *nothing; /* m zeros */
    const double *u; /* n: control forces that act, scaled */
    double share;    /* of the law that acts: 1, less on the way of a continuation */
} hmi_law_loop;

/* Everything that follows from motion->Q, motion->C and these control forces (scaled). */
void hmi_move_under(hmi_dynamics *d, const double *u);
/* motion->Q, C := the law; false where it has no value. */
bool hmi_tell_law(hmi_law_loop *p, const double *told);
/* The multipliers of the motion just found, laid out as what the law is told. */
void hmi_read_told(const hmi_law_loop *p, double *told);
/* told := the reaction of the ideal problem: no C, and of Q the terms that use no reaction. Returns the size
 * of the forces that multipliers are measured against. */
double hmi_ideal_start(hmi_law_loop *p, double *told);
/* Start number k: `base`, then its signs turned in every pattern (up to six numbers; beyond, one sign at a
 * time and all of them), small ones enlarged. False when there are no more. */
bool hmi_choose_start(const hmi_law_loop *p, int k, const double *base, double scale, double *told);
/* Do two of them differ by more than what the search leaves open? */
bool hmi_told_differ(int size, const double *x, const double *y, double scale);

/* implicit_law.c: the motion with told = multipliers under p->u, from `start` first (NULL: the ideal start).
 * HM_OK, HM_ERR_UNDETERMINED (no solution or several), HM_ERR_NUMERIC (no value). */
hm_status hmi_close_law(hmi_law_loop *p, const double *start, hmi_effort effort,
                        hmi_verdict *verdict);

/* law_slopes.c: slopes (size rows of 2n: Q, C, scaled) := d(Q, C)/dtold; motion->Q, C is the law at `told`
 * afterwards. False where it has no value there or no slope. */
bool hmi_law_slopes(hmi_law_loop *p, double *told, double scale, double *slopes);

/* servo_beside_law.c: the cheapest control forces, reactions of the law to them included. */
hm_status hmi_servos_beside_law(hmi_law_loop *p, hmi_effort effort, hmi_verdict *verdict);

#endif
