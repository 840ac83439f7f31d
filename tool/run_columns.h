/* The columns of results: which there are, what they are called, how a frame fills them. */
#ifndef HAMEL_TOOL_RUN_COLUMNS_H
#define HAMEL_TOOL_RUN_COLUMNS_H

#include "memory.h"

#include <hamel/hamel.h>

/* Groups that --columns names. */
enum {
    COLUMNS_ENERGY = 1 << 0,
    COLUMNS_WORK = 1 << 1,
    COLUMNS_VIOLATION = 1 << 2,
    COLUMNS_RESIDUAL = 1 << 3,
    COLUMNS_LAMBDA = 1 << 4,
    COLUMNS_QC = 1 << 5,
    COLUMNS_QI = 1 << 6,
    COLUMNS_QNI = 1 << 7,
    COLUMNS_U = 1 << 8,
    COLUMNS_ACCELERATION = 1 << 9,
    COLUMNS_CHECK = 1 << 10,
};

typedef struct column_set {
    const hm_model *model;
    unsigned groups;
    char **names;
    double *row; /* the last frame filled in */
    size_t count, capacity;
    unsigned content; /* hm_frame_content that the groups need */
    bool failed;      /* out of memory while it was made */
} column_set;

/* "energy,lambda" to groups; prints a message and returns false for an unknown one. */
bool columns_parse(const char *text, unsigned *groups);

/* t, coordinates, velocities, outputs, states, then the groups. false: no memory. */
bool columns_create(column_set *set, const hm_model *model, unsigned groups);
void columns_destroy(column_set *set);
/* The row of a frame, in set->row. NaN where a quantity does not exist. */
const double *columns_fill(column_set *set, const hm_frame *frame);

#endif
