/* Linearised motion about an equilibrium or a steady motion, on the constraint manifold.
 *
 *   hm_linearize_options options = hm_linearize_options_default();
 *   options.find = true;                         // an equilibrium near the sim's state
 *   hm_linearization *about;
 *   if (hm_sim_linearize(sim, &options, &about) == HM_OK)
 *       ... about->A, about->re, about->im, about->stability ...
 *   hm_linearization_destroy(about);
 *
 * The state is (q, q', z) with phi = 0, phi' = 0, psi = 0. A set of independent ones among these
 * variables, chosen by pivoting, is the reduced state y;  y' = A y  for small deviations, with A
 * from exact derivatives. Redundant constraints, singular M, servos and non-ideal forces included.
 *
 * A steady motion moves along coordinates that do not enter (cyclic ones, the place and heading of a
 * rolling body) while all else stays constant. Those coordinates are left out of y.
 *
 * A relative equilibrium moves along a symmetry of the equations that no choice of coordinates shows:
 * a skate turning in a circle, a top in quaternions. Affine symmetries of the equations are looked
 * for; A is then that of the moving frame, on the quotient by all of them.
 *
 * Where t is in the equations, or what moves is in A, the matrix of one instant decides nothing. If it
 * changes with a period T, the Floquet multipliers do: what one period makes of deviations. The state
 * may then also be one of a periodic motion. Otherwise stability is left undecided, and `reason`
 * says why.
 *
 * With names of inputs and outputs the system is that of control theory, for small deviations u of the
 * inputs from what they are at the state (defaults go on following the motion) and w of the outputs:
 *     y' = A y + B u + B_rate u' + B_rate2 u'',    w = C y + D u + D_rate u' + D_rate2 u''
 * The derivatives of u enter where constraints use the input. Outputs are coordinates, velocities (x'),
 * auxiliary states and names of `output` statements.
 */
#ifndef HAMEL_LINEARIZE_H
#define HAMEL_LINEARIZE_H

#include <hamel/system.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Coordinates that do not enter the motion of the others: */
typedef enum hm_ignorable {
    HM_IGNORABLE_WHEN_MOVING, /* left out where the state is no equilibrium (default) */
    HM_IGNORABLE_DROP,        /* always left out */
    HM_IGNORABLE_KEEP         /* never left out: a steady motion is then no point of rest of y */
} hm_ignorable;

typedef struct hm_linearize_options {
    bool find;     /* search from the sim's state; default false: linearise there */
    bool steady;   /* the search is for a steady motion; default false: at rest */
    bool periodic; /* it is for a motion of the period of t, or of `period` */
    double period; /* of the equations or of the motion; default 0: read from the equations */
    const char *const *hold; /* "x", "x'": values the search does not change; default none */
    size_t hold_count;
    hm_ignorable ignorable;
    double tolerance;          /* rates (and residuals) up to this count as zero; default 1e-8 */
    const char *const *inputs; /* names of inputs and outputs; default none */
    size_t input_count;
    const char *const *outputs;
    size_t output_count;
} hm_linearize_options;
HM_API hm_linearize_options hm_linearize_options_default(void);

typedef enum hm_stability {
    HM_STABILITY_UNSTABLE,
    HM_STABILITY_MARGINAL,
    HM_STABILITY_STABLE,
    HM_STABILITY_UNDECIDED /* the linearisation does not apply; `reason` says why */
} hm_stability;
/* "unstable", "marginal", "stable", "undecided" */
HM_API const char *hm_stability_text(hm_stability stability);

/* What the state is. */
typedef enum hm_rest {
    HM_REST_NONE,        /* neither: A describes nearby motions for a short time only */
    HM_REST_EQUILIBRIUM, /* q' = 0, q'' = 0, z' = 0 */
    HM_REST_STEADY,      /* what is kept in y is constant, what was left out moves */
    HM_REST_RELATIVE,    /* constant in a frame that moves along a symmetry */
    HM_REST_PERIODIC     /* what is kept in y comes back after the period */
} hm_rest;
HM_API const char *hm_rest_text(hm_rest rest);

/* Does the linearised system change with t? */
typedef enum hm_time_dependence {
    HM_TIME_DEPENDENCE_NONE,
    HM_TIME_DEPENDENCE_PERIODIC,
    HM_TIME_DEPENDENCE_OTHER
} hm_time_dependence;
/* "none", "periodic", "other" */
HM_API const char *hm_time_dependence_text(hm_time_dependence dependence);

typedef struct hm_linearization {
    double t;
    size_t n, states;         /* coordinates, auxiliary states */
    const double *q, *v, *z;  /* the state it is about */
    size_t dimension;         /* of y */
    const char *const *names; /* of y: "x", "x'", "z" */
    const double *A;       /* dimension x dimension, row-major, at t; NULL, as what follows from it,
                                 where the motion has no derivative at the state (`reason`) */
    const double *re, *im; /* eigenvalues, real part falling, pairs together */
    const double *error;   /* of each eigenvalue: a bound from rounding, the error of the state
                                 and the eigenvalue's condition */
    const double *modes_re; /* row k: the mode of eigenvalue k over y, largest entry 1 */
    const double *modes_im;
    size_t dropped_count;       /* coordinates left out because they do not enter: */
    const char *const *dropped; /* each would add an eigenvalue 0 */
    size_t symmetries;          /* relative equilibria: symmetries of the equations, */
    const char *frame;          /* and the one it moves along, "x' = 1 - 2*y, ..."; else NULL */
    hm_rest rest;
    double residual; /* largest rate of y (of a periodic motion: what it misses its beginning by),
                                     or violation of a constraint */
    size_t zeros;    /* eigenvalues that are 0 within their error */
    size_t family;   /* dimension of the family of such states through this one; as
                                     many zeros belong to moving along it */
    hm_stability stability; /* zeros of the family do not count against it */
    const char *reason;     /* undecided: why; else NULL */
    hm_time_dependence time;
    double period; /* of a periodic one, or of a periodic motion; else 0 */
    const double *multiplier_re, *multiplier_im; /* dimension, modulus falling; NULL: not found */
    const double *multiplier_error;
    int iterations; /* of the search */
    size_t input_count, output_count;
    const char *const *inputs, *const *outputs; /* as asked for */
    /* Row-major: B dimension x inputs, C outputs x dimension, D outputs x inputs, at t. NULL where there
     * are no inputs or outputs or where A is NULL; those of u' and u'' also where they are zero. */
    const double *B, *B_rate, *B_rate2, *C, *D, *D_rate, *D_rate2;
} hm_linearization;

/* About the sim's present state, or one near it (`find`; the sim is then left there). options NULL:
 * the defaults. Diagnostics are in hm_sim_context.
 *   HM_ERR_USAGE         a name does not exist, or the system exceeds HM_MOST_DENSE;
 *   HM_ERR_NUMERIC       the search found nothing; the state is left where it ended;
 *   others               as hm_sim_evaluate. */
HM_API HM_MUST_CHECK hm_status hm_sim_linearize(hm_sim *sim, const hm_linearize_options *options,
                                                hm_linearization **linearization);
HM_API void hm_linearization_destroy(hm_linearization *linearization);

/* The zero dynamics of servos: what moves while they hold exactly. */
typedef struct hm_zero_dynamics {
    bool known;       /* false: no servos, contacts, or relative degrees that are not defined */
    size_t dimension; /* states of the motion that the servos do not fix */
    hm_stability stability; /* at the sim's state, where that is an equilibrium; else undecided */
    double largest;         /* then: the largest real part of its eigenvalues */
    const char *reason;     /* why stability is not decided; NULL: it is, or the dimension is 0 */
} hm_zero_dynamics;
/* At the sim's present state. Statuses as hm_sim_linearize. */
HM_API HM_MUST_CHECK hm_status hm_sim_zero_dynamics(hm_sim *sim, hm_zero_dynamics *out);

#ifdef __cplusplus
}
#endif
#endif
