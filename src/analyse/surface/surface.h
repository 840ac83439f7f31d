/* Expressions on the constraints: forms that are shorter where phi = 0, phi' = 0, psi = 0.
 *
 * A constraint gives relations: where it is linear in a coordinate or velocity s,  s = value,  and where it has s as
 * a square alone,  s^2 = value.  A relation of the first kind is put in; one of the second is known to the normal
 * form as sin^2 = 1 - cos^2 is (hmi_normal_relate). Each relation alone, the solutions of all linear velocity rows
 * for each set of velocities, and positions with their own velocities are tried on each expression, again on the
 * result, and the shortest form wins: with y' cos(th) = x' sin(th) the skate's x'' = s th'^2 cos(th) - th' y', where
 * the equations without the constraint have th' sin(th) (x' cos(th) + y' sin(th)) [UW (1.12)].
 *
 * What makes a form acceptable
 *   1. It has no divisor that the expression did not have, up to the relations: singularities are never introduced.
 *   2. It equals the expression at random states that satisfy all constraints, in ball arithmetic (surface_check.c).
 * The relations divide by coefficients that may vanish at some states; where both forms are continuous they agree
 * there too, since such states are limits of others.
 * Verified: test/unit/analyse/test_surface.c, test/cases/test_on_constraints.c
 */
#ifndef HMI_ANALYSE_SURFACE_SURFACE_H
#define HMI_ANALYSE_SURFACE_SURFACE_H

#include "compile/system/system.h"
#include "expr/normal/normal.h"

/* symbol^power = value, from a constraint row. */
typedef struct hmi_relation {
    hmi_expr symbol;
    int power; /* 1 or 2 */
    hmi_expr value;
    size_t row;
} hmi_relation;

/* Relations that are used together; values hold none of the symbols of power 1. */
typedef struct hmi_relation_set {
    hmi_relation *relation;
    size_t count;
    bool used; /* some expression has its shortest form by it */
} hmi_relation_set;

typedef struct hmi_surface {
    const hm_system *system;
    hmi_graph *graph; /* a copy of that of the equations, extended */
    hmi_normal *normal;
    const hm_allocator *allocator;
    hmi_arena arena;
    hmi_adjoint adjoint;
    bool failed; /* no memory for an array */
    HMI_ARRAY(hmi_relation_set) tried;
    const char *refusal; /* why nothing is shortened; NULL: it is */
    size_t states,
        unproved; /* where forms were compared; forms that did not pass and were dropped */
    long bits;    /* of the arithmetic there */
} hmi_surface;

/* The graph and its normal forms are the caller's. */
void hmi_surface_init(hmi_surface *s, const hm_system *system, hmi_graph *graph,
                      hmi_normal *normal);
void hmi_surface_release(hmi_surface *s);
/* Puts the shortest form found in the place of each expression. */
hm_status hmi_surface_shorten(hmi_surface *s, hmi_expr *list, size_t count);

/* relations.c: fills in `tried`. */
hm_status hmi_surface_relations(hmi_surface *s);
/* The relation that a residual gives for a symbol. False: none. */
bool hmi_surface_solve_for(hmi_surface *s, size_t row, hmi_expr residual, hmi_symbol_kind kind,
                           uint32_t index, hmi_relation *relation);
/* surface_check.c: puts list[i] = from[i] back where they differ. */
hm_status hmi_surface_check(hmi_surface *s, const hmi_expr *from, hmi_expr *list, size_t count);
hm_status hmi_surface_status(const hmi_surface *s);

#endif
