/* Functions that are not smooth, and states on both sides of each.
 *
 *     abs(u), sign(u), min(u, w), max(u, w), a comparison of u and w    where u = 0, u - w = 0
 *     u^p with p < 1, sqrt, asin, acos                                  where the base vanishes
 *
 * A function is kept as a difference a - b of nodes of the system's graph, so that every copy of the graph
 * understands it. States come from the run of `simulate` (the whole span, as long as it takes no more
 * than HMI_SIDE_STEPS steps), and where the run stays on one side from a search of growing width.
 * Verified: test/cases/test_sides.c
 */
#ifndef HMI_ANALYSE_SIDES_SIDES_H
#define HMI_ANALYSE_SIDES_SIDES_H

#include "compile/system/system.h"

typedef enum hmi_side_kind {
    HMI_SIDE_KINK, /* continuous with bounded slopes: abs, min, max */
    HMI_SIDE_JUMP, /* sign, comparisons, the cut of atan2: it may jump */
    HMI_SIDE_ROOT  /* |a - b|^power with power < 1 */
} hmi_side_kind;

typedef struct hmi_side_function {
    hmi_expr a, b; /* not smooth where a = b; b HMI_NONE: where a = 0 */
    hmi_expr node; /* what is not smooth there; the first where several are */
    hmi_side_kind kind;
    double power;    /* HMI_SIDE_ROOT */
    int start;       /* the sign at the initial state */
    size_t negative; /* a state where a - b < 0; SIZE_MAX: none was found */
    size_t positive; /* a state where a - b > 0 */
    size_t met;      /* the first state of the run where it vanishes; SIZE_MAX: none */
} hmi_side_function;

enum { HMI_SIDE_STEPS = 3000, HMI_MOST_SIDES = 24 };

typedef struct hmi_sides {
    const hm_allocator *allocator;
    const hm_system *system;
    HMI_ARRAY(hmi_side_function) list;
    HMI_ARRAY(double) states; /* t, q, v, z of each */
    size_t size;              /* of a state */
    size_t dropped;           /* functions beyond HMI_MOST_SIDES */
    double run_end;           /* the run was followed until then */
    bool whole;               /* that is its end */
} hmi_sides;

/* From the consistent initial state. Without functions nothing is run. HM_ERR_NOMEM. */
hm_status hmi_sides_find(hmi_sides *sides, const hm_system *system);
void hmi_sides_release(hmi_sides *sides);
/* t, q, v, z */
const double *hmi_sides_state(const hmi_sides *sides, size_t state);
/* a - b, in a copy of the system's graph. */
hmi_expr hmi_side_zero(hmi_graph *graph, const hmi_side_function *f);
/* Is there another side to look at? Beyond the zero of a square root lies nothing, where none was found. */
bool hmi_side_exists(const hmi_side_function *f, size_t state);

/* side_functions.c: fills in the list. */
hm_status hmi_sides_collect(hmi_sides *sides);

#endif
