/* Private to print*.c: the printing machine that text and LaTeX share.
 *
 * A stack of items is worked off; printing an expression pushes the items it consists of. So depth
 * costs memory, never the C stack.
 */
#ifndef HMI_EXPR_PRINT_CORE_H
#define HMI_EXPR_PRINT_CORE_H

#include "expr/normal/normal.h"
#include "expr/print/print.h"

/* How tightly something binds, as in the language. */
typedef enum hmi_precedence {
    HMI_LEVEL_ANY,
    HMI_LEVEL_OR,
    HMI_LEVEL_AND,
    HMI_LEVEL_NOT,
    HMI_LEVEL_COMPARE,
    HMI_LEVEL_SUM,
    HMI_LEVEL_PRODUCT,
    HMI_LEVEL_POWER,
    HMI_LEVEL_ATOM,
} hmi_precedence;

typedef enum hmi_item_kind {
    HMI_ITEM_TEXT,     /* the string */
    HMI_ITEM_EXPR,     /* e, in brackets where it binds less than level */
    HMI_ITEM_ABSOLUTE, /* a term without its sign, which has been written */
    HMI_ITEM_POWER,    /* e^power, power >= 1 */
} hmi_item_kind;

typedef struct hmi_item {
    const char *text;
    hmi_expr e;
    int32_t power;
    uint8_t kind, level;
    bool closed; /* LaTeX: a function needs brackets around its argument here */
} hmi_item;

typedef struct hmi_printer hmi_printer;

/* What the styles do differently. */
typedef struct hmi_style {
    const char *plus, *minus, *lead_minus; /* between terms; before the first */
    const char *times, *word_times;        /* between factors; where one of them is a word */
    const char *open, *close;              /* brackets */
    bool bar;                              /* quotients stand above each other */
    bool reads_pi;                         /* 1.0471975511965976 is shown as pi/3 */
    void (*number)(hmi_printer *p, double value);
    void (*symbol)(hmi_printer *p, const hmi_node *node);
    /* e^power for power >= 2. */
    void (*power)(hmi_printer *p, const hmi_item *item);
    /* All that is not sum, product, whole power, number or symbol. */
    void (*function)(hmi_printer *p, const hmi_item *item);
    void (*part)(hmi_printer *p, size_t k); /* the name of a named part */
} hmi_style;

/* A term of a sum: its sign and its factors. */
typedef struct hmi_print_term {
    hmi_expr e;
    bool negative;
    uint32_t first, count; /* in the printer's factors, numbers left out */
} hmi_print_term;

struct hmi_printer {
    const hmi_graph *graph;
    const hmi_print_options *options;
    const hmi_style *style;
    hmi_text *out;
    hmi_text scratch; /* a name as declared */
    const hm_allocator *allocator;
    HMI_ARRAY(hmi_item) stack;
    HMI_ARRAY(hmi_display_factor) factors;
    HMI_ARRAY(hmi_print_term) terms, sorted;
    HMI_ARRAY(hmi_display_factor) pending;
    hmi_expr root; /* printed in full even where it is a named part */
    bool failed;
};

extern const hmi_style hmi_style_text, hmi_style_plain, hmi_style_latex;

/* Appending to the stack, in the order of print; the machine then turns it round. */
void hmi_push(hmi_printer *p, hmi_item item);
void hmi_push_text(hmi_printer *p, const char *text);
void hmi_push_expr(hmi_printer *p, hmi_expr e, hmi_precedence level);
/* op(a, b, c) with the given name and brackets. */
/* f'(x), of a table of the model. */
void hmi_push_table(hmi_printer *p, hmi_expr e);
void hmi_push_call(hmi_printer *p, const char *name, hmi_expr e);

/* The position in shared->nodes, or SIZE_MAX. */
size_t hmi_subproblem_of(const hmi_printer *p, hmi_expr e);
/* The declared name of a symbol, in p->scratch; its number of dots is returned. */
int hmi_symbol_text(hmi_printer *p, const hmi_node *node);
bool hmi_is_trigonometric(hmi_op op);
/* Is a name written as a word, in upright letters, not as one letter? */
bool hmi_name_is_word(const char *name);
/* Of the name that hmi_symbol_text found: is it a word, and the name itself. */
bool hmi_symbol_is_word(hmi_printer *p);
void hmi_print_symbol_name(hmi_printer *p, int dots);
/* value = n pi/d for small whole n and d, to within rounding; n carries the sign. Not for styles that
 * are to be read back. */
bool hmi_pi_multiple(const hmi_printer *p, double value, int *n, int *d);
/* Comparisons and logic: the level, HMI_LEVEL_ATOM for all else. */
hmi_precedence hmi_logic_level(hmi_op op);

/* ---- terms.c ---- */

/* Is e a sum, or minus a sum, that is written out here? */
bool hmi_opens_as_sum(const hmi_printer *p, hmi_expr e);
void hmi_print_sum(hmi_printer *p, const hmi_item *item);
void hmi_print_product(hmi_printer *p, const hmi_item *item);
/* May (node)^outer, node a whole power, be written with one exponent? */
bool hmi_is_shown_power(const hmi_printer *p, const hmi_node *node, int32_t outer);

#endif
