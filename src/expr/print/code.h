/* Straight-line code: expressions as statements of a programming language.
 *
 * Parts that are used more than once, or that would make a line too long, become temporaries e1, e2, ...,
 * each written after what it uses; the roots are assigned last. Brackets keep every rounding where the
 * DAG has it, in any language whose + - * / bind as those of C do. What a language calls its functions,
 * how it writes numbers and where the symbols are found is a dialect; operations that the language does
 * not have are calls of helpers (hm_sign, hm_select, ...) that the dialect's user writes in front.
 *
 * Nothing recurses deeper than a line is wide.
 * Verified: test/unit/expr/test_print.c, test/tool/export.sh
 */
#ifndef HMI_EXPR_PRINT_CODE_H
#define HMI_EXPR_PRINT_CODE_H

#include "base/text.h"
#include "expr/graph/graph.h"

typedef struct hmi_code_dialect {
    const char *indent;    /* of every statement */
    const char *declare;   /* before the name of a temporary: "const double " */
    const char *assign;    /* " = " */
    const char *end;       /* ";\n" */
    const char *temporary; /* "e": followed by a number */
    const char *between;   /* the temporaries and the assignments of the roots; NULL: nothing */
    /* Appends the name of the function that stands for an operation without an operator of its own. */
    void (*function)(hmi_text *out, hmi_op op);
    void (*number)(hmi_text *out, double value);
} hmi_code_dialect;

typedef struct hmi_code {
    const hmi_code_dialect *dialect;
    const hmi_expr *roots; /* HMI_NONE: 0 */
    size_t count;
    void *user;
    void (*symbol)(void *user, hmi_text *out, hmi_symbol_kind kind, uint32_t index);
    void (*target)(void *user, hmi_text *out, size_t root); /* what the root is assigned to */
} hmi_code;

/* C, with the functions of <math.h> and helpers that hmi_print_c_preamble writes (style_c.c). */
extern const hmi_code_dialect hmi_code_c;

/* HM_ERR_NOMEM. */
hm_status hmi_code_write(hmi_text *out, const hmi_graph *graph, const hmi_code *code);
/* The kinds of symbols that the roots use, as HMI_DEP bits. */
uint16_t hmi_code_kinds(const hmi_graph *graph, const hmi_expr *roots, size_t count);
/* Is the operation + - * / or the sign, which every dialect writes between or before its operands? */
bool hmi_code_is_operator(hmi_op op);
/* A number as C and most languages read it: 2.0, 0.1, (-1e-12), NAN, INFINITY. */
void hmi_code_number_c(hmi_text *out, double value);
/* hm_ and the operation's name in the table, in small letters: the name of a helper. */
void hmi_code_helper_name(hmi_text *out, hmi_op op);

#endif
