/* Action integrals: the motion sampled at Gauss points, and paths near it.
 *
 * Time is divided into panels of equal length with four Gauss points each: integrals have order 8, and linear
 * differential equations are solved by collocation at the same points (Gauss' Runge-Kutta method). Everything is
 * computed at two levels, the finer one with twice the panels and a tenth of the tolerance of the run; the difference
 * is the error that is reported.
 */
#ifndef HMI_ANALYSE_ACTION_ACTION_H
#define HMI_ANALYSE_ACTION_ACTION_H

#include <hamel/action.h>

#include "dynamics/sim/sim.h"

enum { HMI_GAUSS_POINTS = 4, HMI_MOST_VARIED = 30 };

/* c, b and A of Gauss' method with four stages. */
typedef struct hmi_gauss {
    double c[HMI_GAUSS_POINTS], b[HMI_GAUSS_POINTS], a[HMI_GAUSS_POINTS][HMI_GAUSS_POINTS];
} hmi_gauss;
void hmi_gauss_init(hmi_gauss *gauss);

/* What is asked of the model at a point of the path, as one tape (path_tape.c):
 *     L, dL/dq, p, bias, dE/dq, dE/dq', A = dg/dq', A' along the motion, dg/dq
 * with g = phi' or psi. */
typedef struct hmi_path_tape {
    hmi_graph graph;
    hmi_tape tape;
    double *work;
} hmi_path_tape;
/* Release also after failure. */
HM_MUST_CHECK hm_status hmi_path_tape_init(hmi_path_tape *tape, const hm_system *system,
                                           hmi_arena *arena);
void hmi_path_tape_release(hmi_path_tape *tape);

/* The motion at the Gauss points of all panels; arrays by point, belonging to `arena`. */
typedef struct hmi_action_path {
    hmi_arena arena;
    size_t n, m, panels, points;
    double start, h;    /* of a panel */
    double *t, *weight; /* weight: of the integral */
    double *q, *v;      /* n */
    double *L, *E, *T;  /* E and T are NaN where they are not defined */
    double *dL_dq, *p;  /* n */
    double *F, *Qi;     /* n: forces neither of L nor ideal; ideal forces of constraints */
    double *dE_dq, *dE_dv;
    double *A, *A_rate, *g_q; /* m x n */
    double *units;            /* n: square roots of the inertias at the start; not by point */
    double power[7];          /* integrals of |power| by kind, in the order of hm_evaluation */
} hmi_action_path;

/* One request, with what all levels share. */
typedef struct hmi_action_job {
    hm_sim *sim;
    const hm_system *system;
    const hm_action_options *options;
    const hm_allocator *allocator;
    hm_action *out;
    hmi_arena *results; /* of `out` */
    size_t n, m;
    double *q0, *v0, *z0; /* the start */
    double t0;
    hmi_path_tape tape;
    hmi_gauss gauss;
    bool vary;
} hmi_action_job;

/* Runs from the start at this level (path.c). Release the path also after failure. */
HM_MUST_CHECK hm_status hmi_path_sample(hmi_action_job *job, unsigned level, hmi_action_path *path);
void hmi_path_release(hmi_action_path *path);
/* One point from the sim's evaluation at its present state. */
HM_MUST_CHECK hm_status hmi_path_take(hmi_action_job *job, hmi_action_path *path, size_t point);
/* The options of a run at this level. */
hm_run_options hmi_path_options(const hmi_action_job *job, unsigned level);
/* L alone at a state of the system. */
double hmi_path_lagrangian(hmi_action_job *job, const hmi_point *at);

/* Both kinds of varied paths of all coordinates and modes (variations.c). Values go into `value` of figures; the
 * caller finds errors. `keep`: arrays of dq are wanted in job->results. */
HM_MUST_CHECK hm_status hmi_vary_path(hmi_action_job *job, const hmi_action_path *path, bool keep,
                                      hm_variation *variations);

/* (A5)-(A7) on a path (maupertuis.c). */
void hmi_maupertuis(const hmi_action_path *path, hm_maupertuis *out);

/* The table of principles from the variations (principles.c). */
HM_MUST_CHECK hm_status hmi_judge_principles(hmi_action_job *job);

/* The vakonomic motion between the ends of the path (boundary.c). */
HM_MUST_CHECK hm_status hmi_vakonomic_between(hmi_action_job *job, const hmi_action_path *path,
                                              hm_vakonomic_motion *out);

#endif
