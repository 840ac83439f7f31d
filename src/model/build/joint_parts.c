/* Rows of joints and what they do to body B.
 *
 * Every row is a function of where A and B are; moved by dP at its point and turned by dtheta, B changes
 * it by force.dP + moment.dtheta, which are the force and the moment for a unit multiplier. With d_B along
 * d_A these pairs are orthonormal, so that multipliers of minimum norm are wrenches of minimum norm, and the
 * rows of one joint are independent as long as the bodies can move independently. They stay so along the
 * motion: what the rows compare is fixed in the bodies.
 *
 * Orientation: with E = R_A^T R_B C^T, which is the identity as meant, the rows are E32 = E13 = E21 = 0, and
 * a rotation x (in A's axes) changes E_kj by x.(E e_j x e_k): by x itself at E = 1. The other solutions are
 * the half turns about the axes and the four rotations that permute the axes cyclically; all of them are
 * isolated and have full rank, unlike those of the skew part of E, which vanishes for every half turn.
 * Verified: test/unit/model/test_joints.c
 */
#include "model/build/joint_parts.h"

static void add_row(hmi_assembly *a, hmi_expr residual, hmi_triple force, hmi_triple moment)
{
    uint32_t k = a->count++;
    a->residual[k] = residual;
    a->force[k] = force;
    a->moment[k] = moment;
}

static hmi_triple nothing(const hmi_assembly *a)
{
    hmi_expr zero = a->graph->zero;
    return (hmi_triple){{zero, zero, zero}};
}

static hmi_triple gap(const hmi_assembly *a)
{
    return hmi_triple_minus(a->graph, a->P[1], a->P[0]);
}

static void add_point(hmi_assembly *a)
{
    hmi_triple P = gap(a);
    for (int i = 0; i < (a->planar ? 2 : 3); i++)
        add_row(a, P.c[i], hmi_unit_triple(a->graph, i), nothing(a));
}

/* direction . P = 0, the direction fixed in A */
static void add_along(hmi_assembly *a, hmi_triple direction)
{
    hmi_triple n = hmi_nine_times(a->graph, &a->R[0], direction);
    add_row(a, hmi_triple_dot(a->graph, n, gap(a)), n, nothing(a));
}

/* direction . d_B = 0, the direction fixed in A: dtheta x d_B . n = dtheta . (d_B x n) */
static void add_perpendicular(hmi_assembly *a, hmi_triple direction)
{
    hmi_graph *g = a->graph;
    hmi_triple n = hmi_nine_times(g, &a->R[0], direction);
    hmi_triple d = hmi_nine_times(g, &a->R[1], a->axis[1]);
    add_row(a, hmi_triple_dot(g, n, d), nothing(a), hmi_triple_cross(g, d, n));
}

static void add_turn(hmi_assembly *a)
{
    hmi_graph *g = a->graph;
    hmi_nine A = hmi_nine_transposed(&a->R[0]), C = hmi_nine_transposed(&a->C);
    hmi_nine B = hmi_nine_product(g, &a->R[1], &C), E = hmi_nine_product(g, &A, &B);
    for (int i = a->planar ? 2 : 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        hmi_triple column = {{E.c[0][j], E.c[1][j], E.c[2][j]}};
        hmi_triple turn = hmi_triple_cross(g, column, hmi_unit_triple(g, k));
        add_row(a, E.c[k][j], nothing(a), hmi_nine_times(g, &a->R[0], turn));
    }
    a->side = hmi_sub(g, hmi_nine_trace(g, &E), g->one);
}

static void add_length(hmi_assembly *a)
{
    hmi_graph *g = a->graph;
    hmi_triple P = gap(a);
    hmi_expr size = hmi_triple_norm(g, P);
    add_row(a, hmi_sub(g, size, a->length), hmi_triple_over(g, P, size), nothing(a));
}

void hmi_add_joint_rows(hmi_assembly *a, unsigned parts)
{
    hmi_graph *g = a->graph;
    int across = a->planar ? 1 : 2;
    if (parts & HMI_JOINT_POINT)
        add_point(a);
    for (int k = 0; k < across && (parts & HMI_JOINT_LINE); k++)
        add_along(a, a->across[k]);
    if (parts & HMI_JOINT_NORMAL)
        add_along(a, a->axis[0]);
    for (int k = 0; k < across && (parts & HMI_JOINT_ALIGN); k++)
        add_perpendicular(a, a->across[k]);
    if (parts & HMI_JOINT_ALIGN)
        a->side = hmi_triple_dot(g, hmi_nine_times(g, &a->R[0], a->axis[0]),
                                 hmi_nine_times(g, &a->R[1], a->axis[1]));
    if (parts & HMI_JOINT_CROSS)
        add_perpendicular(a, a->axis[0]);
    if (parts & HMI_JOINT_TURN)
        add_turn(a);
    if (parts & HMI_JOINT_LENGTH)
        add_length(a);
}
