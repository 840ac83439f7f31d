/* Shaped values: scalars, vectors and matrices of expressions, as the language computes with them.
 *
 * A value that is a rotation remembers how it was made (`rotation`), so that angular velocities
 * come out as on paper instead of from R' R^T.
 */
#ifndef HMI_MODEL_EVALUATE_VALUE_H
#define HMI_MODEL_EVALUATE_VALUE_H

#include "expr/graph/graph.h"

typedef struct hmi_rotation hmi_rotation;

typedef struct hmi_value {
    uint8_t rank;           /* 0 scalar, 1 vector, 2 matrix */
    bool boolean;           /* the result of a comparison */
    bool empty_sum;         /* the 0 of an empty sum: fits any shape */
    uint32_t rows, columns; /* a vector is rows x 1 */
    hmi_expr scalar;        /* rank 0 */
    hmi_expr *items;        /* rank 1 and 2, row-major, in the builder's arena */
    hmi_rotation *rotation;
} hmi_value;

static inline hmi_value hmi_scalar(hmi_expr e)
{
    return (hmi_value){.rows = 1, .columns = 1, .scalar = e};
}

static inline size_t hmi_value_count(const hmi_value *value)
{
    return (size_t)value->rows * value->columns;
}

static inline hmi_expr hmi_value_item(const hmi_value *value, size_t k)
{
    return value->rank == 0 ? value->scalar : value->items[k];
}

static inline bool hmi_same_shape(const hmi_value *a, const hmi_value *b)
{
    return a->rank == b->rank && a->rows == b->rows && a->columns == b->columns;
}

/* "a number", "a vector of 3", "a 3x3 matrix". */
enum { HMI_SHAPE_TEXT = 48 };
const char *hmi_shape_text(const hmi_value *value, char buffer[HMI_SHAPE_TEXT]);

#endif
