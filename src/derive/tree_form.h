/* The kinetic energy as a sum of products of velocities that bodies share, and the forces that go with it:
 *
 *     T = 1/2 Sum w_ab u_a u_b,   u = J(q, t) q' + ..., given by nodes that hand motion on from body to
 * body (P' of a parent, its omega), M = J^T W J without ever being written out. Forces by d'Alembert's
 * principle, since u are true velocities of points and angular velocities of rigid bodies:
 *
 *     Q = Q_given - Sum_bodies (du/dq')^T (m v', I omega' + omega x I omega) at q'' = 0
 *
 * which is one derivative along the motion and one reverse sweep over nodes that are linear in the
 * velocities, O(bodies) in all. What is not a body of constant inertia (kinetic, lagrangian, mass
 * statements) goes by Lagrange's equations, its products found in the expression itself.
 *
 * This is where algorithms of O(n) start from (compile/solve/recursion.h).
 * Verified: test/unit/dynamics/test_tree.c
 */
#ifndef HMI_DERIVE_TREE_FORM_H
#define HMI_DERIVE_TREE_FORM_H

#include "derive/derived.h"

/* weight a b; a == b: weight a^2 / 2. Operands are affine in the velocities, weights free of them. */
typedef struct hmi_velocity_product {
    hmi_expr a, b, weight;
} hmi_velocity_product;

typedef struct hmi_tree_form {
    const hm_allocator *allocator;
    HMI_ARRAY(hmi_velocity_product) products;
    HMI_ARRAY(hmi_expr) Q; /* n */
} hmi_tree_form;

/* The graph is a copy of that of the equations and grows. HM_ERR_USAGE: the energy is no such sum
 * (masses that vary, a Lagrangian that is not quadratic). Release also after a failure. */
hm_status hmi_tree_form_create(hmi_tree_form *form, const hmi_derived *eq, hmi_graph *graph);
void hmi_tree_form_release(hmi_tree_form *form);

#endif
