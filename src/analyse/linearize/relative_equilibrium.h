/* Relative equilibria: motions along a symmetry of the equations.
 *
 * Symmetries are affine, xi(q) = c + B q, lifted to Xi = (xi, B v, 0). They are those that commute
 * with the motion F, are tangent to the constraints and keep the energy, at random states:
 *     [F, Xi] = DF Xi - DXi F = 0,   C Xi = 0,   dE Xi = 0,   linear in (c, B).
 * A state is a relative equilibrium where F = omega Xi, and in the frame that moves along it the
 * deviations obey  A = DF - omega DXi.  The directions Xi of all symmetries are an invariant space
 * of A; what is left is the quotient by it.           [Marsden & Ratiu 1999; Montaldi 1997]
 * omega is that of minimum norm: where symmetries leave the state itself alone it is not unique, and
 * the eigenvalues are those seen in that frame.       Verified: test/physics/test_relative.c
 */
#ifndef HMI_ANALYSE_LINEARIZE_RELATIVE_EQUILIBRIUM_H
#define HMI_ANALYSE_LINEARIZE_RELATIVE_EQUILIBRIUM_H

#include "analyse/linearize/reduce.h"

/* More coordinates: only shifts are tried. */
enum { HMI_MOST_AFFINE = 12 };

typedef struct hmi_relative_equilibrium {
    hmi_reduction *r;
    hmi_arena arena;
    size_t unknowns;  /* of (c, B): n, or n + n^2 */
    size_t count;     /* symmetries */
    double *symmetry; /* count x unknowns */
    double *omega;    /* count */
    double *moving;   /* unknowns: omega times the symmetries */
    double *turn;     /* n x n: B of it */
    double *Xi;       /* size x count, contiguous columns */
    double residual;  /* largest part of x' that is not along the symmetries */
    size_t rank;      /* directions left out of y */
    bool *out;        /* by position in y */
    double *E;        /* rank x dimension: these directions, unit in their own column */
    size_t *pivot;    /* rank */
} hmi_relative_equilibrium;

/* Memory, and the symmetries near the state of r. Release also after failure. */
HM_MUST_CHECK hm_status hmi_relative_equilibrium_init(hmi_relative_equilibrium *rel,
                                                      hmi_reduction *r);
void hmi_relative_equilibrium_release(hmi_relative_equilibrium *rel);

/* Of init, in affine_symmetries.c: the symmetries near the state `from`; r is used for other states. */
HM_MUST_CHECK hm_status hmi_find_affine_symmetries(hmi_relative_equilibrium *rel, double t,
                                                   const double *from);
/* At the state of r: omega, the residual and which of y to leave out. r->A becomes that of the moving
 * frame. */
HM_MUST_CHECK hm_status hmi_relative_equilibrium_update(hmi_relative_equilibrium *rel);
/* The same at a state nearby, with the omega before changed by `change` (count; NULL: not at all). */
void hmi_relative_equilibrium_update_near(hmi_relative_equilibrium *rel, const double *change);
/* Newton's method for a relative equilibrium from the state x at time t, which becomes the result, as
 * does that of r; held variables stay. HM_ERR_NUMERIC: none was found. */
HM_MUST_CHECK hm_status hmi_relative_equilibrium_find(hmi_relative_equilibrium *rel,
                                                      double tolerance, int most, double t,
                                                      double *x);
/* The matrix on the quotient, (dimension - rank) squared, and what rounding can make of its entries. */
void hmi_relative_equilibrium_matrix(const hmi_relative_equilibrium *rel, double *A);
void hmi_relative_equilibrium_rounding(const hmi_relative_equilibrium *rel, const double *of_A,
                                       double *E);
/* Of the family of relative equilibria through this one, orbits counted as one; as
 * hmi_family_dimension. A: the matrix of this state. */
HM_MUST_CHECK hm_status hmi_relative_equilibrium_family(hmi_relative_equilibrium *rel,
                                                        const double *A, size_t *dimension);
/* How far, about, the state is from the relative equilibrium it stands for: a Newton step, dx over all
 * variables and the change of omega (count). */
HM_MUST_CHECK hm_status hmi_relative_equilibrium_error(hmi_relative_equilibrium *rel, double *dx,
                                                       double *change);

#endif
