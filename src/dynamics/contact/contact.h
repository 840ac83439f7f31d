/* Contacts at one state, as numbers: which of them hold, with what forces.
 *
 * Contact directions are normals and tangents of frictions. All else (mass, two-sided constraints) is
 * in the compliance W and in w0: with forces x along these directions their accelerations (in an
 * impact: their velocities after it) are
 *
 *     w = W x + w0
 *
 * A one-sided normal has 0 <= w, 0 <= x, w x = 0. A two-sided one has w = 0. A friction on normal c has
 * N = |x_c|; where it slides its tangents have x = -muk N s with s the direction of the sliding; where
 * nothing slides yet it sticks, w = 0 with |x| <= mus N, or starts to slide along s = w/|w|.
 *
 * Without friction that is a linear complementarity problem (linalg/lcp.h): w is unique, x is the one of
 * least norm. With friction there may be no solution, or several (Painleve): combinations of open,
 * sticking and sliding are tried one by one where there are few, and the count is reported. Sticking
 * has priority: solutions with the most contacts that stick count, and where forces are not unique
 * contacts stick if some choice of forces does it (choice.c). Where the motion depends on that choice,
 * the answer says so.
 * Verified: test/unit/dynamics/test_contact.c
 */
#ifndef HMI_DYNAMICS_CONTACT_CONTACT_H
#define HMI_DYNAMICS_CONTACT_CONTACT_H

#include "base/memory.h"

typedef struct hmi_friction_item {
    int normal;       /* the direction that presses */
    int first, count; /* its tangents, 1 or 2 of them */
    double mus, muk;
    bool slides;         /* along: */
    double direction[2]; /* of unit length */
} hmi_friction_item;

typedef enum hmi_friction_mode {
    HMI_FRICTION_OPEN,
    HMI_FRICTION_STICK,
    HMI_FRICTION_SLIP
} hmi_friction_mode;

typedef struct hmi_contact_problem {
    int size;              /* directions: normals first, */
    int normals;           /* so many */
    const bool *two_sided; /* by normal */
    const double *W, *w0;  /* size x size, size */
    const double *noise;   /* size: what of w is as good as zero */
    int frictions;
    const hmi_friction_item *friction;
} hmi_contact_problem;

typedef struct hmi_contact_answer {
    int solutions;           /* 0: none; 1; 2: several */
    bool complete;           /* all combinations were tried: `solutions` is certain */
    bool redundant;          /* x is not unique (with friction) */
    bool matters;            /* x is not unique, and with friction w depends on the choice */
    double *x, *w;           /* size: forces and accelerations */
    bool *closed;            /* by normal: w is zero there */
    hmi_friction_mode *mode; /* by friction */
    double *slip;            /* 2 by friction: the direction along which it slides */
} hmi_contact_answer;

/* Memory for problems of up to that many directions and frictions. */
typedef struct hmi_contact_solver hmi_contact_solver;
HM_MUST_CHECK hm_status hmi_contact_solver_create(hmi_arena *arena, int size, int frictions,
                                                  hmi_contact_solver **out);

/* The answer points into the solver. Allocates nothing. */
void hmi_contact_solve(hmi_contact_solver *solver, const hmi_contact_problem *problem,
                       hmi_contact_answer *answer);

/* x of given modes: `closed` normals have w = 0, others x = 0; frictions stick, slide along `slip`
 * (presses: the sign of x of their normal, +1 or -1), or do not act. Least squares of least norm where
 * they depend on each other; false: they contradict each other. */
typedef struct hmi_contact_modes {
    const bool *closed;
    const hmi_friction_mode *mode;
    const double *slip;
    const double *presses; /* by friction */
} hmi_contact_modes;
bool hmi_contact_held(hmi_contact_solver *solver, const hmi_contact_problem *problem,
                      const hmi_contact_modes *modes, double *x, double *w);
/* Of the modes just held, with their x: limit := what is left until a friction slips, mus N - |T|, by
 * friction, with forces that are not unique chosen so that the most is left. True: the motion depends
 * on what is chosen. */
bool hmi_contact_limits(hmi_contact_solver *solver, const hmi_contact_problem *problem,
                        const hmi_contact_modes *modes, const double *x, double *limit);

#endif
