/* The syntax tree: what was written, with its places in the source. Nodes live in the arena of the
 * tree and are never changed after parsing.
 *
 * Long sums and products are one CHAIN node, so that the depth of a tree does not grow with the length
 * of a formula: at most HMI_MOST_NESTING brackets nest, with as many primes and indices behind each.
 * Invariants: each kind has the items that its comment shows, spans lie within their sources, and
 * `contains` says which kinds of statements there are (verify.h).
 */
#ifndef HMI_LANG_AST_H
#define HMI_LANG_AST_H

#include "base/context.h"
#include "lang/lexer.h"

enum { HMI_MOST_NESTING = 200, HMI_MOST_BLOCKS = 50 };

typedef enum hmi_ast_kind {
    HMI_AST_NUMBER,
    HMI_AST_NAME,
    HMI_AST_CALL,   /* name(items) */
    HMI_AST_INDEX,  /* items[0] [items[1..]] */
    HMI_AST_PRIME,  /* items[0]' */
    HMI_AST_NEGATE, /* -items[0] */
    HMI_AST_NOT,    /* not items[0] */
    HMI_AST_CHAIN,  /* items[0] ops[0] items[1] ops[1] ...: one level of precedence, to the left */
    HMI_AST_POWER,  /* items[0] ^ items[1] */
    HMI_AST_LIST,   /* [items] */
    HMI_AST_SUM,    /* sum(name = items[0] .. items[1], items[2]) */
    HMI_AST_PROD,
} hmi_ast_kind;

typedef struct hmi_ast hmi_ast;
struct hmi_ast {
    uint8_t kind;
    uint32_t count; /* of items */
    int name;       /* NAME, CALL, SUM, PROD */
    hmi_span span;
    double number;
    hmi_ast **items;
    const uint8_t *ops; /* CHAIN: hmi_token_kind */
};

/* Statement words, in the order of the table in language.md. */
#define HMI_STATEMENT_LIST(X)                                                                      \
    X(MODEL, "model")                                                                              \
    X(PARAM, "param")                                                                              \
    X(COORD, "coord")                                                                              \
    X(LET, "let")                                                                                  \
    X(KINETIC, "kinetic")                                                                          \
    X(POTENTIAL, "potential")                                                                      \
    X(LAGRANGIAN, "lagrangian")                                                                    \
    X(MASS, "mass")                                                                                \
    X(FORCE, "force")                                                                              \
    X(INPUT, "input")                                                                              \
    X(STATE, "state")                                                                              \
    X(TORQUE, "torque")                                                                            \
    X(DISSIPATION, "dissipation")                                                                  \
    X(GYROSCOPIC, "gyroscopic")                                                                    \
    X(BODY, "body")                                                                                \
    X(GRAVITY, "gravity")                                                                          \
    X(CONSTRAINT, "constraint")                                                                    \
    X(SERVO, "servo")                                                                              \
    X(NONIDEAL, "nonideal")                                                                        \
    X(INITIAL, "initial")                                                                          \
    X(SIMULATE, "simulate")                                                                        \
    X(SYMMETRY, "symmetry")                                                                        \
    X(EVENT, "event")                                                                              \
    X(OUTPUT, "output")                                                                            \
    X(FOR, "for")                                                                                  \
    X(INCLUDE, "include")                                                                          \
    X(JOINT, "joint")                                                                              \
    X(FRICTION, "friction")                                                                        \
    X(TABLE, "table")                                                                              \
    X(DRAW, "draw")

typedef enum hmi_statement_kind {
#define X(name, word) HMI_STMT_##name,
    HMI_STATEMENT_LIST(X)
#undef X
        HMI_STMT_COUNT,
    HMI_FIRST_NEW_WORD = HMI_STMT_JOINT /* of the second edition of the language */
} hmi_statement_kind;

/* What a declaration says for axes, reports and sliders: in LOW .. HIGH "text". */
typedef struct hmi_caption {
    hmi_ast *low, *high; /* NULL: no range */
    const char *text;    /* NULL: none */
} hmi_caption;

/* One "target = value" of a statement, one "word value" of a body or of `simulate`, or one side of a
 * joint: BODY at value axis second. */
typedef struct hmi_entry {
    hmi_ast *target; /* a name, possibly indexed and primed; NULL for "word value" */
    hmi_ast *second; /* mass and gyroscopic: the other coordinate */
    hmi_ast *value;
    hmi_ast **bounds;     /* coord q[1..N, 0..M], param: lower and upper of each index in turn */
    uint32_t index_count; /* 0: a plain name */
    hmi_caption note;     /* param, coord */
    int word;             /* "word value": the word */
    bool guess;           /* initial: written with ~; body: `free planar` */
    hmi_span span;
} hmi_entry;

typedef enum hmi_event_direction {
    HMI_EVENT_BOTH,
    HMI_EVENT_RISING,
    HMI_EVENT_FALLING
} hmi_event_direction;
typedef enum hmi_event_action { HMI_EVENT_RECORD, HMI_EVENT_STOP, HMI_EVENT_SET } hmi_event_action;

typedef struct hmi_statement hmi_statement;
struct hmi_statement {
    hmi_statement_kind kind;
    hmi_span span;  /* the whole statement */
    hmi_ast *label; /* NAME of the object, possibly indexed; NULL where none is given */
    hmi_ast *
        first; /* energies: E; table: its rows; constraints: lhs; joint: the length of a distance; "F at P": F; simulate, for: lower bound */
    hmi_ast *
        second; /* constraints: rhs; friction: the constraint it is on; "F at P": P; simulate, for: upper bound */
    hmi_ast *third; /* simulate: the output interval; servo: the gain; constraint: restitution;
                        friction: the coefficient of sticking, or of both */
    hmi_ast *
        when; /* constraint: the condition under which it holds; servo: the limit; friction: the coefficient of
                        sliding where it is another one */
    uint8_t relation; /* constraint: HMI_TOK_ASSIGN, HMI_TOK_GREATER_EQUAL or HMI_TOK_LESS_EQUAL */
    hmi_entry *entries;
    size_t entry_count;
    uint32_t file;    /* table: the source that its numbers are in; HMI_NO_FILE: they are written */
    int word;         /* for: the index name; servo: law, or HMI_NO_NAME; draw, joint: the kind */
    const char *text; /* model: title; draw: label */
    const char *color; /* draw */
    hmi_caption note;  /* output */
    bool keep;         /* initial keep */
    hmi_event_direction direction;
    hmi_event_action action;
    hmi_statement *block; /* for: the statements inside */
    uint32_t contains;    /* for: bits 1 << kind of the statements inside */
    hmi_statement *next;
};

typedef HMI_ARRAY(hmi_span) hmi_spans;

/* A parsed file with everything it includes. */
typedef struct hmi_tree {
    hm_context *context;
    hmi_arena arena;
    hmi_names names;
    hmi_statement *statements;
    uint32_t contains;
    hmi_spans
        *read_names; /* where the parser met a name, in order, for words.c; NULL: not wanted */
    bool alone;      /* `include` and files of tables are left unread */
} hmi_tree;

/* The statement a word starts, HMI_STMT_COUNT where it is none. */
hmi_statement_kind hmi_statement_kind_of(const char *word, size_t length);
const char *hmi_statement_word(hmi_statement_kind kind);

#endif
