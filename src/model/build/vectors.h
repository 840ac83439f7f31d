/* Triples and 3x3 matrices of expressions: the geometry of joints. Bodies in the plane are embedded, with
 * 0 as the third component of vectors and a rotation about the third axis as their frame. */
#ifndef HMI_MODEL_BUILD_VECTORS_H
#define HMI_MODEL_BUILD_VECTORS_H

#include "expr/graph/graph.h"

typedef struct hmi_triple {
    hmi_expr c[3];
} hmi_triple;

typedef struct hmi_nine {
    hmi_expr c[3][3];
} hmi_nine;

static inline hmi_triple hmi_unit_triple(const hmi_graph *g, int axis)
{
    hmi_triple e = {{g->zero, g->zero, g->zero}};
    e.c[axis] = g->one;
    return e;
}

static inline hmi_expr hmi_triple_dot(hmi_graph *g, hmi_triple u, hmi_triple v)
{
    hmi_expr sum = hmi_mul(g, u.c[0], v.c[0]);
    sum = hmi_add(g, sum, hmi_mul(g, u.c[1], v.c[1]));
    return hmi_add(g, sum, hmi_mul(g, u.c[2], v.c[2]));
}

static inline hmi_triple hmi_triple_cross(hmi_graph *g, hmi_triple u, hmi_triple v)
{
    hmi_triple w;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        w.c[i] = hmi_sub(g, hmi_mul(g, u.c[j], v.c[k]), hmi_mul(g, u.c[k], v.c[j]));
    }
    return w;
}

static inline hmi_triple hmi_triple_minus(hmi_graph *g, hmi_triple u, hmi_triple v)
{
    for (int i = 0; i < 3; i++)
        u.c[i] = hmi_sub(g, u.c[i], v.c[i]);
    return u;
}

static inline hmi_triple hmi_triple_over(hmi_graph *g, hmi_triple u, hmi_expr divisor)
{
    for (int i = 0; i < 3; i++)
        u.c[i] = hmi_div(g, u.c[i], divisor);
    return u;
}

static inline hmi_expr hmi_triple_norm(hmi_graph *g, hmi_triple u)
{
    return hmi_apply(g, HMI_SQRT, hmi_triple_dot(g, u, u), 0, 0);
}

/* R u */
static inline hmi_triple hmi_nine_times(hmi_graph *g, const hmi_nine *R, hmi_triple u)
{
    hmi_triple w;
    for (int i = 0; i < 3; i++)
        w.c[i] = hmi_triple_dot(g, (hmi_triple){{R->c[i][0], R->c[i][1], R->c[i][2]}}, u);
    return w;
}

static inline hmi_nine hmi_nine_transposed(const hmi_nine *R)
{
    hmi_nine T;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            T.c[i][j] = R->c[j][i];
    return T;
}

static inline hmi_nine hmi_nine_product(hmi_graph *g, const hmi_nine *X, const hmi_nine *Y)
{
    hmi_nine Z;
    for (int j = 0; j < 3; j++) {
        hmi_triple column = hmi_nine_times(g, X,
                                           (hmi_triple){{Y->c[0][j], Y->c[1][j], Y->c[2][j]}});
        for (int i = 0; i < 3; i++)
            Z.c[i][j] = column.c[i];
    }
    return Z;
}

static inline hmi_expr hmi_nine_trace(hmi_graph *g, const hmi_nine *R)
{
    return hmi_add(g, hmi_add(g, R->c[0][0], R->c[1][1]), R->c[2][2]);
}

#endif
