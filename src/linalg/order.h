/* Orders in which a sparse symmetric matrix is eliminated: little fill, or a narrow band.
 *
 * The pattern is that of a graph without loops, both (i, j) and (j, i) listed: the neighbours of i
 * are neighbour[start[i]] .. neighbour[start[i + 1] - 1].
 */
#ifndef HMI_LINALG_ORDER_H
#define HMI_LINALG_ORDER_H

#include "base/memory.h"

typedef struct hmi_pattern {
    size_t count;
    const size_t *start;       /* count + 1 */
    const uint32_t *neighbour; /* ascending within a node */
} hmi_pattern;

/* order[k]: the node that comes k-th.
 *
 * Approximate minimum degree on the quotient graph [Amestoy, Davis & Duff 1996], without
 * supervariables: O(entries of the factor). Nodes from `first_waiting` on come after all their
 * neighbours below it: with M > 0 on those below, multipliers then have pivots that are not zero.
 * HM_ERR_NOMEM. */
HM_MUST_CHECK hm_status hmi_order_minimum_degree(const hm_allocator *allocator,
                                                 const hmi_pattern *pattern, size_t first_waiting,
                                                 uint32_t *order);

/* Reverse Cuthill-McKee: breadth first from a node at the edge of each component. */
HM_MUST_CHECK hm_status hmi_order_band(const hm_allocator *allocator, const hmi_pattern *pattern,
                                       uint32_t *order);

/* The largest distance of neighbours in an order (NULL: as numbered). */
HM_MUST_CHECK hm_status hmi_order_width(const hm_allocator *allocator, const hmi_pattern *pattern,
                                        const uint32_t *order, size_t *width);

#endif
