/* Ball arithmetic on the DAG: values of expressions, and their power series along a curve, with
 * rigorous error bounds (Arb). This is the only evaluator of src/analyse: a value at a point is a
 * series of length 1.
 *
 *     leaves z(s) = z0 + z1 s + z2 s^2 + ...  ->  every root as a series in s
 *
 * Use: hmi_series_add every expression (a root); hmi_series_start with the number of orders and
 * bits; then for each order k set the leaves (hmi_series_leaf_value) and call hmi_series_extend(k).
 * Since coefficients are computed order by order, a curve may be found while it is followed:
 * z' = X(z) needs order k of X for order k + 1 of z.           [Griewank & Walther 2008, ch. 13]
 *
 * Invariants
 *   1. Every ball contains the exact value, for parameters and numbers as written: 0.1 is 1/10, pi
 *      is pi, `b = 2*a` is evaluated anew. Numbers that the graph holds only as doubles (cos(0.3)
 *      was folded) are taken as these doubles, and `inexact` is set.
 *   2. Comparisons that the balls do not decide, and values that do not exist, set `failed`.
 * FLINT aborts the process when memory runs out: nothing outside src/analyse may use this.
 * Verified: test/unit/analyse/test_series.c
 */
#ifndef HMI_ANALYSE_BALLS_SERIES_H
#define HMI_ANALYSE_BALLS_SERIES_H

#include "model/model.h"

#include <arb.h>

typedef struct hmi_series_slot {
    uint8_t op;    /* see series.c */
    bool constant; /* no leaf below: orders above 0 are 0 */
    uint32_t a, b, c;
    uint32_t slope; /* + 1: which series of `slope` holds its j x_j; 0: nobody needs them */
    uint32_t pair;  /* + 1: the first slot of its sine and cosine; 0: none */
} hmi_series_slot;

typedef struct hmi_series_leaf {
    hmi_symbol_kind kind;
    uint32_t index, slot;
} hmi_series_leaf;

typedef struct hmi_series {
    const hm_allocator *allocator;
    const hmi_graph *graph;
    const hm_model *model;
    HMI_ARRAY(hmi_series_slot) slots;
    HMI_ARRAY(hmi_series_leaf) leaves;
    HMI_ARRAY(uint32_t) slot_of; /* by handle, + 1 */
    HMI_ARRAY(hmi_expr) stack;
    HMI_ARRAY(uint32_t) roots;
    arb_ptr value; /* slots x orders */
    arb_ptr slope; /* j x_j of some slots, slopes x orders: s times the derivative by s */
    size_t value_count, slope_count, slopes, orders;
    slong precision;
    bool inexact; /* some number is known to double precision only */
    bool failed;
} hmi_series;

/* The graph's handles of the model's parameters must be those of the model (a copy keeps them). */
void hmi_series_init(hmi_series *jet, const hm_allocator *allocator, const hm_model *model,
                     const hmi_graph *graph);
void hmi_series_release(hmi_series *jet);
/* Appends a root; HMI_NONE is 0. HM_ERR_LIMIT: it holds symbols that are not of kinematics. */
hm_status hmi_series_add(hmi_series *jet, hmi_expr root);
/* Room for orders 0 .. orders-1 at this many bits. Call after the last hmi_series_add. */
void hmi_series_start(hmi_series *jet, size_t orders, slong precision);
/* Order k of a leaf; set before hmi_series_extend(k). */
arb_ptr hmi_series_leaf_value(hmi_series *jet, size_t leaf, size_t k);
/* Order k of everything; orders below k are known. */
void hmi_series_extend(hmi_series *jet, size_t k);
/* The same of what the roots from `first` to before `end` need beyond those before `first`, which
 * have this order already: where some leaves are found with the help of other roots. */
typedef struct hmi_series_part {
    size_t slots, roots;
} hmi_series_part;
hmi_series_part hmi_series_so_far(const hmi_series *jet);
void hmi_series_extend_part(hmi_series *jet, size_t k, hmi_series_part first, hmi_series_part end);
arb_srcptr hmi_series_root(const hmi_series *jet, size_t root, size_t k);

/* A state of the model; inputs are 0. */
typedef struct hmi_series_state {
    const double *q, *v, *z;
    double t;
} hmi_series_state;

/* The value of e there, to double precision; NaN where it has none. */
hm_status hmi_series_value(const hm_allocator *allocator, const hm_model *model,
                           const hmi_graph *graph, hmi_expr e, const hmi_series_state *at,
                           double *value);

#endif
