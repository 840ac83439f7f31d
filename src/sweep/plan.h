/* A plan: what every point of a sweep sets.
 *
 * Points are numbered 0 .. base * samples - 1. Point k belongs to row k / samples of the base (the grid, in
 * the order in which its last name varies fastest, or the table of points) and is sample k % samples of the
 * random columns. Random numbers are those of k itself: no two points share them.
 */
#ifndef HMI_SWEEP_PLAN_H
#define HMI_SWEEP_PLAN_H

#include "base/context.h"
#include "sweep/distribution.h"

#include <hamel/sweep.h>

typedef struct hmi_plan_column {
    const char *name;
    hm_ensemble_column sets;
    bool random;
    size_t count;                  /* of a grid: different values, */
    const double *values;          /* which are here; of a table: one for each row */
    hmi_distribution distribution; /* where random */
} hmi_plan_column;

struct hm_sweep_plan {
    hm_context *context;
    const hm_model *model;
    hmi_arena arena;
    HMI_ARRAY(hmi_plan_column) columns;
    bool from_table, sobol;
    size_t base, samples; /* rows of grid or table, and samples of each */
    uint64_t seed;
};

#endif
