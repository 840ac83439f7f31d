/* Tables: functions of one or two arguments given at nodes, as operations of the graph.
 *
 * A table is a polynomial on each piece between two knots of its axis (in two arguments: on each cell),
 * of degree 1 or 3, and what it is outside. Nodes of the graph name a table, and which derivative of it
 * is meant, by a constant: the address of a view, which a double holds exactly. So every engine has all
 * it needs in the operands, and nothing has to be looked up. The views of a model lie in one array in
 * the order of its statements; comparing their addresses compares places in the file.
 *
 * Pieces are numbered 0 .. n for n knots: piece k lies between knots k-1 and k, 0 and n are outside.
 * During a step the piece is held (integrate/events): then the coefficients are looked up by a place
 * 2 B or 2 B + 1, the piece before or behind knot B, and the polynomial is made of sums and products,
 * so that series and intervals know it. Its variable is x - knot B for both, so that a place between
 * the two (a force that slides on the knot) is a blend of the polynomials.
 *
 * Verified: test/unit/expr/test_table.c (SciPy), test/physics/test_tables.c
 */
#ifndef HMI_EXPR_GRAPH_TABLE_H
#define HMI_EXPR_GRAPH_TABLE_H

#include "base/memory.h"

#include <hamel/base.h>

typedef enum hmi_table_kind {
    HMI_TABLE_LINEAR,
    HMI_TABLE_CUBIC,
    HMI_TABLE_MONOTONE
} hmi_table_kind;

typedef enum hmi_table_outside {
    HMI_OUTSIDE_ERROR,
    HMI_OUTSIDE_HOLD,
    HMI_OUTSIDE_EXTEND,
    HMI_OUTSIDE_PERIODIC
} hmi_table_outside;

enum { HMI_TABLE_COEFFICIENTS = 4, HMI_TABLE_VIEWS = 16 };

typedef struct hmi_table hmi_table;

/* What a constant of the graph stands for: a derivative of the table, a coefficient of its pieces, or
 * the knots of an axis. */
typedef struct hmi_table_view {
    const hmi_table *table;
    uint8_t order[2]; /* of the derivative, or of the coefficient */
    uint8_t axis;
    bool other; /* the knot at the other end of the piece */
} hmi_table_view;

typedef struct hmi_table_axis {
    const double *knot; /* strictly increasing */
    size_t count;       /* at least 2 */
    double per_step;    /* pieces by length, for a first guess */
} hmi_table_axis;

struct hmi_table {
    const char *name;
    const char *latex; /* the same with underscores as LaTeX wants them */
    int number;        /* among those of the model */
    int arguments;     /* 1 or 2 */
    hmi_table_kind kind;
    hmi_table_outside outside;
    hmi_table_axis axis[2];
    /* By piece (the second argument's runs faster): 4 coefficients, or 4 x 4 with the first argument's
     * power as the row. */
    const double *piece;
    double range[HMI_TABLE_COEFFICIENTS][2];     /* of each derivative, one argument only */
    hmi_table_view derivative[HMI_TABLE_VIEWS];  /* by 4 order[0] + order[1] */
    hmi_table_view coefficient[HMI_TABLE_VIEWS]; /* likewise */
    hmi_table_view knots[2], others[2];          /* by axis */
};

/* The values: count[0] x count[1] numbers, the second argument's index runs faster (count[1] is 1 for
 * one argument). Memory comes from the arena; knots and name are kept, not copied. */
hm_status hmi_table_build(hmi_table *table, const double *values, hmi_arena *arena);

/* The highest power of a piece in each argument. */
static inline int hmi_table_degree(const hmi_table *table)
{
    return table->kind == HMI_TABLE_LINEAR ? 1 : 3;
}
/* The first derivative that jumps at knots. */
static inline int hmi_table_first_jump(const hmi_table *table)
{
    return table->kind == HMI_TABLE_LINEAR ? 1 : table->kind == HMI_TABLE_MONOTONE ? 2 : 3;
}

/* Views as constants of the graph. */
double hmi_table_address(const hmi_table_view *view);
const hmi_table_view *hmi_table_view_at(double address);
/* The view of one derivative more by argument k; NULL where it vanishes everywhere. */
const hmi_table_view *hmi_table_slope(const hmi_table_view *view, int k);

/* Values of the operations TABLE, TABLE2, LOOKUP, LOOKUP2. NaN outside where that is an error. */
double hmi_table_value(double x, double view);
double hmi_table_value2(double x, double y, double view);
double hmi_table_lookup(double place, double view);
double hmi_table_lookup2(double place, double second, double view);

/* The knot nearest to x on its axis, among the ends of the piece that x is in. */
double hmi_table_nearest(const hmi_table *table, int axis, double x);
/* Is x outside a table that has no values there? */
bool hmi_table_ends(const hmi_table *table, int axis, double x);

/* For statements about all motions: coefficients of a cubic in x, y (by 4 p + q) that stands for any
 * function in the table's place, differentiated as the view is; a table that is one straight line stands
 * for itself. What holds for it holds for the table. */
void hmi_table_stand_in(const hmi_table_view *view, double c[16]);

/* Bounds of a view's derivative for x (and y) within the bounds; false where nothing is known. A
 * derivative that jumps at a knot within is bounded on both sides of it, and *jumps is set. */
bool hmi_table_bounds(const hmi_table_view *view, const double lo[2], const double hi[2],
                      double range[2], bool *jumps);
/* The sum of the sizes of the terms at x, y: what rounding is relative to. */
double hmi_table_size(const hmi_table_view *view, double x, double y);

#endif
