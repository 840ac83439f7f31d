/* What the files share that write the constraint problem of blocks on the graph: see block_schur.h. */
#ifndef HMI_COMPILE_SOLVE_BLOCK_SCHUR_BUILD_H
#define HMI_COMPILE_SOLVE_BLOCK_SCHUR_BUILD_H

#include "compile/solve/block_schur.h"

enum {
    FEWEST_COORDINATES = 61, /* below, everything in one tape is faster */
    LARGEST_BLOCK = 8,       /* a body: three coordinates and a quaternion */
    WIDEST_BAND = 8,
    MOST_TERMS = 64 /* of G, for each stored entry of A */
};

/* One block of M: its coordinates and the rows of A that touch it. */
typedef struct block {
    uint32_t first, size; /* in `coordinate` */
    size_t row, rows;     /* in `touching` */
} block;

/* A row's part in a block. */
typedef struct touch {
    uint32_t constraint;
    size_t y; /* where y = L^-1 a and w = E^-1 y start in `parts`: size each */
} touch;

typedef struct hmi_schur_builder {
    hmi_block_schur *s;
    hmi_derived *eq;
    hmi_graph *g;
    const hm_allocator *allocator;
    hmi_arena arena;
    const char *why;      /* it does not suit */
    uint32_t *block_of;   /* by coordinate */
    uint32_t *coordinate; /* by block */
    uint32_t *place;      /* by coordinate: index within its block */
    HMI_ARRAY(block) blocks;
    touch *touching;
    size_t touch_count;
    HMI_ARRAY(hmi_expr) parts;
    hmi_expr *factor;          /* by block coordinate: its row of L, LARGEST_BLOCK entries */
    hmi_expr *inverse, *force; /* by block coordinate: 1/E, L^-1 F */
    HMI_ARRAY(hmi_expr) checks;
    HMI_ARRAY(hmi_expr) outputs;
    size_t *pair_start; /* pattern of G without diagonal, both triangles */
    uint32_t *pair;
    uint32_t *rank;    /* place of a constraint in the order */
    uint32_t *touches; /* by constraint: how many blocks it touches */
    hmi_expr *weight;  /* by constraint: V where its block of M is shifted by it, else HMI_NONE */
} hmi_schur_builder;

#define NEW(b, type, count) ((type *)hmi_arena_alloc(&(b)->arena, ((count) + 1) * sizeof(type)))

static inline hmi_expr multiply_add(hmi_graph *g, hmi_expr sum, hmi_expr x, hmi_expr y,
                                    bool subtract)
{
    hmi_expr product = hmi_mul(g, x, y);
    return subtract ? hmi_sub(g, sum, product) : hmi_add(g, sum, product);
}

/* x * (1/e), and not x/e, which the constructor would make of it: one division for many. */
static inline hmi_expr times_inverse(hmi_graph *g, hmi_expr x, hmi_expr inverse)
{
    return hmi_is_const(g, x) || hmi_is_const(g, inverse)
               ? hmi_mul(g, x, inverse)
               : hmi_intern(g, HMI_MUL, x, inverse, HMI_NONE);
}

static inline int compare_indices(const void *x, const void *y)
{
    const uint32_t *a = x, *b = y;
    return *a < *b ? -1 : *a > *b;
}

/* block_schur_shift.c: chooses the rows that shift blocks of M; the number of them is s->shifted. */
hm_status hmi_schur_find_shifts(hmi_schur_builder *b);
/* Entries of M + A^T V A and of Q + C + A^T V b, by places within a block. */
hmi_expr hmi_schur_block_entry(hmi_schur_builder *b, const block *own, uint32_t r, uint32_t k);
hmi_expr hmi_schur_block_force(hmi_schur_builder *b, const block *own, uint32_t r);

/* block_schur_outputs.c: the lower triangle of G by rows, in the order chosen. */
bool hmi_schur_lay_out(hmi_schur_builder *b);
/* G, its right side, checks, rates of states, accelerations: in this order. */
bool hmi_schur_outputs(hmi_schur_builder *b);

#endif
