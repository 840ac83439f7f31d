/* M x = f solved along the recursion that velocities are written in, without forming M.
 *
 * The idea. The kinetic energy is 1/2 u^T W u where u follows from q' by steps that are linear in the
 * velocities: u_child = c1 u_parent + ... + z q' (derive/tree_form.h). Reading the steps backwards,
 *   - a velocity u_k that nothing else uses is replaced by what it is made of: its row of the quadratic
 *     form goes to its operands (this is how Hessians are pushed along edges [Gower, Mello 2012]);
 *   - a generalised velocity q'_i that nothing else uses is eliminated, as in Gauss:
 *     S_fg -= S_fi S_gi / S_ii  for the few velocities f, g that it is coupled with.
 * For a chain or tree of bodies at most the six velocities of a parent are coupled with those of its
 * child: what comes out is the articulated-body algorithm [Featherstone 2008, ch. 7] with O(n)
 * operations, and for sums of positions, planar chains, loops of any kind whatever their structure
 * allows. S is sparse: branches know nothing of each other until they meet.
 *
 * Order: what belongs to the q' from which the way through velocities to the energy is shortest comes
 * first, that is, tips of branches before what carries them; among equals the cheapest step.
 *
 * As in eliminate.h, M = L E L^T in effect: forward is L^-1, backward L^-T, pivots E. A pivot has to be
 * more than least_ratio of the largest number that was subtracted from on the way to it, which is the
 * scale of its rounding errors (`size`).
 * Verified: test/unit/dynamics/test_tree.c
 */
#ifndef HMI_COMPILE_SOLVE_RECURSION_H
#define HMI_COMPILE_SOLVE_RECURSION_H

#include "compile/solve/eliminate.h"
#include "derive/tree_form.h"

/* An entry of a row of S, an operand of a velocity, or a factor of L: value times variable. */
typedef struct hmi_recursion_term {
    uint32_t variable;
    hmi_expr value;
} hmi_recursion_term;

typedef struct hmi_recursion_terms {
    hmi_recursion_term *data;
    size_t count, capacity;
} hmi_recursion_terms;

typedef struct hmi_recursion_variable {
    hmi_expr node;                /* a velocity: a node that is affine in q' */
    uint32_t coordinate;          /* UINT32_MAX: not a generalised velocity */
    uint32_t users;               /* that are not replaced yet */
    uint32_t height;              /* steps to the last velocity that depends on it, */
    uint32_t nearest;             /* and the least height of the q' below it */
    hmi_recursion_terms operands; /* what it is made of; of q': column of L once eliminated */
    hmi_recursion_terms row;      /* of S, without the diagonal */
    hmi_expr diagonal, size;
} hmi_recursion_variable;

typedef struct hmi_recursion {
    const hm_allocator *allocator;
    size_t n;
    HMI_ARRAY(hmi_recursion_variable) variables;
    HMI_ARRAY(uint32_t) order;          /* in which variables are replaced or eliminated */
    HMI_ARRAY(uint32_t) ready;          /* while it is built */
    HMI_ARRAY(hmi_expr) pivot, inverse; /* by coordinate */
    HMI_ARRAY(hmi_expr) scratch;        /* by variable */
} hmi_recursion;

/* HM_ERR_USAGE: a velocity is not affine in q', or a pivot is a structural zero; HM_ERR_LIMIT: the graph
 * would grow beyond most_nodes. Release also after a failure. */
hm_status hmi_recursion_create(hmi_recursion *r, hmi_graph *g, const hmi_tree_form *form, size_t n,
                               double least_ratio, hmi_margin *margin, size_t most_nodes);
void hmi_recursion_release(hmi_recursion *r);
/* x := L^-1 x,  x := L^-T x; x[i] belongs to coordinate i. */
void hmi_recursion_forward(hmi_recursion *r, hmi_graph *g, hmi_expr *x);
void hmi_recursion_backward(hmi_recursion *r, hmi_graph *g, hmi_expr *x);

#endif
