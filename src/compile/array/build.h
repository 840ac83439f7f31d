/* Array code under construction: what array.c, find_runs.c and schedule.c share.
 *
 * Operations are numbered in the order of the walk and then given virtual places: first by part
 * (early, late), then by level (operands have lower levels), then in runs. Virtual places below
 * `fixed_end` are places of the work vector themselves: constants, hoisted values, inputs.
 */
#ifndef HMI_COMPILE_ARRAY_BUILD_H
#define HMI_COMPILE_ARRAY_BUILD_H

#include "compile/array/array.h"

#define HMI_ARRAY_CODE_NO_OUTPUT UINT32_MAX

/* More doubles than this do not stay in a cache: they come from memory each time. */
enum { HMI_ARRAY_CODE_CACHED = 1 << 17 };

/* One operation. Operands are expressions; those not used are HMI_NONE. */
typedef struct hmi_array_code_op {
    uint8_t op;            /* hmi_tape_op */
    bool late, recomputed; /* the late part does so with what the early one computed */
    uint32_t level;
    uint32_t operand[3];
    uint32_t output; /* index of the output it writes, or HMI_ARRAY_CODE_NO_OUTPUT */
    hmi_expr result; /* HMI_NONE: a copy to an output */
} hmi_array_code_op;

/* Operations at consecutive virtual places. */
typedef struct hmi_op_run {
    uint8_t op;
    bool late, listed, is_output;
    uint32_t start, count; /* virtual places */
    uint32_t first[3];     /* virtual places of the operands of the first, where not listed, */
    int32_t step[3];       /* and how they proceed */
    uint32_t output;       /* of the first, */
    int32_t output_step;
    uint32_t block; /* index of its first block */
} hmi_op_run;

typedef struct hmi_array_code_builder {
    hmi_array_code *code;
    const hmi_graph *graph;
    const hm_allocator *allocator;
    hmi_walk walk;
    HMI_ARRAY(uint32_t) place;                  /* by expression: virtual place + 1; 0: none yet */
    HMI_ARRAY(uint32_t) op_of;                  /* by expression: operation + 1; 0: none */
    HMI_ARRAY(uint32_t) late_place, late_op_of; /* of what is recomputed; or empty */
    HMI_ARRAY(uint32_t) uses;                   /* by expression */
    HMI_ARRAY(uint8_t) state;                   /* by expression */
    HMI_ARRAY(hmi_expr) hoisted;
    HMI_ARRAY(hmi_array_code_op) ops;
    uint32_t fixed_end;
    HMI_ARRAY(uint32_t) op_at; /* by virtual place - fixed_end */
    HMI_ARRAY(uint32_t) run_at;
    HMI_ARRAY(hmi_op_run) runs;
} hmi_array_code_builder;

/* find_runs.c: virtual places and runs. HM_ERR_LIMIT: too deep to be worth it. */
hm_status hmi_array_code_find_runs(hmi_array_code_builder *b);
/* schedule.c: blocks in an order that is kind to the cache, places, segments. */
hm_status hmi_array_code_schedule(hmi_array_code_builder *b);

static inline int hmi_array_code_arity(const hmi_array_code_op *op)
{
    return (op->operand[0] != HMI_NONE) + (op->operand[1] != HMI_NONE) +
           (op->operand[2] != HMI_NONE);
}

/* The virtual place of operand k of an operation. */
static inline uint32_t hmi_array_code_place(const hmi_array_code_builder *b,
                                            const hmi_array_code_op *op, int k)
{
    hmi_expr e = op->operand[k];
    if (op->late && b->late_place.count && b->late_place.data[e])
        return b->late_place.data[e] - 1;
    return b->place.data[e] - 1;
}

#endif
