/* Printers: expressions as Unicode text, as Hamel's own language, as LaTeX, and as C.
 *
 * Text and LaTeX write sums and products in the order of paper (expr/normal/factor_order.c), collect
 * divisors under one bar or slash, and use as few brackets as the reader needs:
 *
 *     text    m·s·θ̇²·cos(θ)              q̇₃, ẍ, foo′ (names of several letters), √(…), sin²(θ)
 *     plain   m*s*theta'^2*cos(theta)    parses in the language to an expression of the same value
 *     LaTeX   m s \dot{\theta}^{2} \cos\theta                     compiles with amsmath
 *
 * Numbers are shown as entered: ratios as 1/3, decimals as the shortest that read back the same.
 *
 * Invariants
 *   1. Nothing recurses over the depth of an expression.
 *   2. Output is linear in the size of the DAG when named parts (hmi_shared) are used; without
 *      them it is cut off by HM_ERR_LIMIT at HMI_MOST_PRINTED bytes and nothing is appended.
 * Verified: test/unit/expr/test_print.c
 */
#ifndef HMI_EXPR_PRINT_PRINT_H
#define HMI_EXPR_PRINT_PRINT_H

#include "base/text.h"
#include "expr/graph/graph.h"
#include "expr/graph/table.h"

enum { HMI_MOST_PRINTED = 1 << 23 };

/* Appends the declared name of a symbol: "theta", "q[3]", "I_B". For velocities and accelerations
 * that of the coordinate, for input rates that of the input (the printers add dots and primes); for
 * reactions and multipliers that of the coordinate or constraint; for matrix entries "M[1,2]".
 * Time and energy are not asked for. */
typedef struct hmi_namer {
    void (*name)(void *user, hmi_symbol_kind kind, uint32_t index, hmi_text *out);
    void *user;
    bool (*literal)(void *user, const char *name); /* to be shown as written; NULL: none is */
} hmi_namer;

typedef enum hmi_print_style {
    HMI_PRINT_TEXT,
    HMI_PRINT_PLAIN,
    HMI_PRINT_LATEX,
} hmi_print_style;

/* ---- named parts ---- */

/* Nodes that are printed by name: e1, e2, ... */
typedef struct hmi_shared {
    const hm_allocator *allocator;
    const char *prefix;          /* "e"; the caller sees to it that no symbol is called like that */
    HMI_ARRAY(hmi_expr) nodes;   /* each uses only earlier ones */
    HMI_ARRAY(uint32_t) numbers; /* by handle: position in nodes + 1, 0 = not named */
} hmi_shared;

typedef struct hmi_shared_options {
    uint32_t saving;  /* a part used again is named where that saves so many columns in all */
    uint32_t longest; /* an expression wider than this gets its parts named; 0: never */
} hmi_shared_options;

hmi_shared_options hmi_shared_options_default(void); /* 40 and 120 */

void hmi_shared_init(hmi_shared *shared, const hm_allocator *allocator, const char *prefix);
void hmi_shared_release(hmi_shared *shared);
/* Chooses anew, for all roots together. HM_ERR_NOMEM leaves nothing named. */
hm_status hmi_shared_pick(hmi_shared *shared, const hmi_graph *graph, const hmi_expr *roots,
                          size_t count, const hmi_shared_options *options);
/* About how many columns these take altogether, written out without names; an expression counts for
 * 2^20 at most. */
hm_status hmi_printed_width(const hm_allocator *allocator, const hmi_graph *graph,
                            const hmi_expr *roots, size_t count, uint64_t *width);
/* Is this node printed by name? */
bool hmi_shared_has(const hmi_shared *shared, hmi_expr e);

/* ---- text, plain, LaTeX ---- */

typedef struct hmi_print_options {
    hmi_print_style style;
    hmi_namer namer;
    const hmi_shared *shared; /* NULL: no named parts */
    bool as_written;          /* keep the order of the DAG */
} hmi_print_options;

/* Appends the expression ("?" for HMI_NONE). HM_ERR_NOMEM, HM_ERR_LIMIT. */
hm_status hmi_print(hmi_text *out, const hmi_graph *graph, hmi_expr e,
                    const hmi_print_options *options);

/* The k-th named part, from 0: its name, and what it stands for. */
hm_status hmi_print_part_name(hmi_text *out, size_t k, const hmi_print_options *options);
hm_status hmi_print_part_value(hmi_text *out, const hmi_graph *graph, size_t k,
                               const hmi_print_options *options);

/* A name alone, with so many dots. */
void hmi_print_name(hmi_text *out, hmi_print_style style, const char *name, int dots);
/* The same as it is written, x_1, for names that would be printed like another. */
void hmi_print_literal_name(hmi_text *out, hmi_print_style style, const char *name, int dots);
/* A name taken apart as it is printed, without indices, so that many names can be sorted by their looks. */
typedef struct hmi_shown_name {
    const char *name;
    const char *base; /* x, or the Greek letter that is spelled out */
    size_t base_length;
    const char *sub; /* what is below the line */
    size_t sub_length;
} hmi_shown_name;
hmi_shown_name hmi_shown_name_of(const char *name);
/* By what is printed: 0 for x1 and x_1. By the base alone: 0 for x1, x_2, x, x[3]. */
int hmi_shown_order(const hmi_shown_name *x, const hmi_shown_name *y);
int hmi_shown_base_order(const hmi_shown_name *x, const hmi_shown_name *y);
/* What is below the line, indices not counted: nothing (x, x[1]), a number (x1, x_1), a word (x_B)? */
typedef enum hmi_subscript {
    HMI_SUBSCRIPT_NONE,
    HMI_SUBSCRIPT_NUMBER,
    HMI_SUBSCRIPT_WORD
} hmi_subscript;
hmi_subscript hmi_subscript_of(const char *name);
/* Does it begin with a Greek letter, as such or spelled out? And do two of them differ by that alone, and
 * so are printed alike: theta, θ? */
bool hmi_is_greek_name(const char *name);
bool hmi_are_greek_twins(const char *x, const char *y);

/* ---- the whole graph, for those who work on Hamel (dump.c) ---- */

/* Appends one line per node: number, operation, operands, dependencies, expression. Symbols are
 * called by kind and index where namer is NULL. HM_ERR_NOMEM, HM_ERR_LIMIT. */
hm_status hmi_graph_dump(const hmi_graph *graph, const hmi_namer *namer, hmi_text *out);

/* ---- C ---- */

/* A function
 *     void NAME(double t, const double *p, ..., double *out)
 * that stores the values of the roots in out[0], out[1], ... The arrays are named as below; a
 * parameter is declared for each kind in `kinds`, in this order:
 *     t time      p parameters   q coordinates   v velocities   a accelerations
 *     z states    u inputs       du, ddu their rates
 *     r, l, rt, lt  reactions, multipliers and the total ones   energy
 *     m matrix entries               mode branches held
 * Values are those of hmi_op_value bit by bit, given the same math library and no contraction
 * (-ffp-contract=off). Entries HMI_NONE are stored as 0. */
typedef struct hmi_c_function {
    const char *name;
    uint16_t kinds; /* HMI_DEP bits; those that the roots need are added */
    const hmi_expr *roots;
    size_t count;
} hmi_c_function;

/* Once before all functions: headers and helpers. */
void hmi_print_c_preamble(hmi_text *out);
/* After it: the tables of the model, as functions that the others call. */
void hmi_print_c_tables(hmi_text *out, const hmi_table *tables, size_t count);
/* The same with those helpers alone that the code calls. */
void hmi_print_c_helpers(hmi_text *out, const char *code);
hm_status hmi_print_c_function(hmi_text *out, const hmi_graph *graph,
                               const hmi_c_function *function);

#endif
