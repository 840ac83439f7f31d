/* What the files of the parser share.
 *
 * A recursive-descent parser with one token of lookahead. The files are layers: parse_tokens.c at the
 * bottom, parse_help.c with what to say about mistakes, then expressions, lists of entries, objects
 * with a label, statements, and parser.c on top. `include` makes statements and files recursive
 * (parse_statement.c -> source.c -> parse_statement.c).
 *
 * Errors: a function that fails has reported why, and its callers just return. After the first error
 * of a statement nothing more is said about it (hmi_parser_said_enough), since most of the rest would
 * follow from the first; the statement is skipped and the next one is read.
 */
#ifndef HMI_LANG_PARSER_INTERNAL_H
#define HMI_LANG_PARSER_INTERNAL_H

#include "lang/parser.h"

typedef struct hmi_include_frame hmi_include_frame;
struct hmi_include_frame {
    const char *path;
    const hmi_include_frame *outer;
};

typedef struct hmi_parser {
    hmi_tree *tree;
    hm_context *context;
    hmi_lexer lexer;
    hmi_token token;         /* the one looked at */
    hmi_span previous;       /* of the token before it */
    int nesting;             /* of expressions */
    int blocks;              /* of `for` */
    bool given_up;           /* the rest of the file is skipped */
    int brackets;            /* open ( and [: line ends are white space inside */
    bool in_body;            /* so they are inside body { } */
    hmi_span bracket;        /* the innermost open one, for messages */
    hmi_statement_kind kind; /* of the statement being read; HMI_STMT_COUNT: none */
    const char *usage;       /* how what is being read is written, for messages; NULL: no hint */
    size_t errors;           /* of the context when the statement began */
    int *includes;           /* files included so far */
    const hmi_include_frame *frames;
} hmi_parser;

/* ---- tokens (parse_tokens.c) ---- */

void hmi_parser_start(hmi_parser *parser, hmi_tree *tree, uint32_t file);
void hmi_parser_advance(hmi_parser *parser);
bool hmi_parser_accept(hmi_parser *parser, hmi_token_kind kind);
/* Reports what was expected; false when the token is something else. */
bool hmi_parser_expect(hmi_parser *parser, hmi_token_kind kind, const char *after);
void hmi_parser_skip_newlines(hmi_parser *parser);
bool hmi_parser_at_word(const hmi_parser *parser, const char *word);
bool hmi_parser_accept_word(hmi_parser *parser, const char *word);
/* "expected X, found Y" at the present token, unless the statement has an error already: the second
 * would mostly follow from the first. Always returns false. */
bool hmi_parser_unexpected(hmi_parser *parser, const char *expected);
bool hmi_parser_said_enough(const hmi_parser *parser);
/* Is the present token the first of its line, and the one before it in an earlier line? */
bool hmi_parser_at_line_start(const hmi_parser *parser);
/* Does a new statement start at the present token? `mass` may be an item of a body. */
bool hmi_parser_at_statement(const hmi_parser *parser);
/* How much of a name is shown in a message, for "%.*s". */
static inline int hmi_shown_length(uint32_t length)
{
    return length < 60 ? (int)length : 60;
}
void *hmi_parser_alloc(hmi_parser *parser, size_t size);
/* Always returns false. */
bool hmi_parser_no_memory(hmi_parser *parser);

/* ---- expressions (parse_expression.c): NULL after an error that has been reported ---- */

hmi_ast *hmi_parse_expr(hmi_parser *parser);
/* The same without comparisons and logic: an `and` outside of brackets ends it. */
hmi_ast *hmi_parse_sum(hmi_parser *parser);
/* A name with its primes, indices or arguments: what may stand left of an =. */
hmi_ast *hmi_parse_postfix(hmi_parser *parser);
hmi_ast *hmi_parse_name(hmi_parser *parser, const char *what);
/* The same for a name that nothing refers to, as that of a model: reserved words will do. */
hmi_ast *hmi_parse_label(hmi_parser *parser, const char *what);
/* The same for a word that is no name: a kind of joint. */
hmi_ast *hmi_parse_kind(hmi_parser *parser, const char *what);
/* name[i, j]: the present token is '['. */
hmi_ast *hmi_parse_index(hmi_parser *parser, hmi_ast *name);

/* ---- help with statements that cannot be read (parse_help.c) ---- */

const char *hmi_statement_usage(hmi_statement_kind kind);
/* What to say where an operator is missing. */
const char *hmi_operator_hint(const hmi_parser *parser);
/* The present token stands after a name, where '=' should: what to say. */
const char *hmi_name_hint(const hmi_parser *parser);
/* The present token is a word that starts no statement. */
void hmi_report_unknown_statement(hmi_parser *parser);
/* The present token stands where the statement should end. Always returns false. */
bool hmi_report_no_end(hmi_parser *parser, hmi_statement_kind kind);

/* ---- lists of entries (parse_entries.c) ---- */

typedef HMI_ARRAY(hmi_entry) hmi_entry_list;

bool hmi_push_entry(hmi_parser *parser, hmi_entry_list *list, hmi_entry entry);
/* A comma, and then another entry? */
bool hmi_next_entry(hmi_parser *parser);
/* The word of an entry, which stands at the present token. */
bool hmi_take_word(hmi_parser *parser, hmi_entry *entry);
/* Moves a list into the arena; passes `good` on. */
bool hmi_keep_entries(hmi_parser *parser, hmi_entry_list *list, bool good, hmi_entry **entries,
                      size_t *count);
/* target = value, or target ~ value where guesses are allowed. */
bool hmi_parse_assignment_to(hmi_parser *parser, hmi_ast *target, bool guesses, hmi_entry *entry);
bool hmi_parse_assignment_list(hmi_parser *parser, bool guesses, hmi_entry **entries,
                               size_t *count);
bool hmi_parse_assignments_of(hmi_parser *parser, hmi_statement *statement);
/* x, q[1..N, 0..M]: the name of an entry with the bounds of its indices. `what` reads "the name of a
 * coordinate". */
bool hmi_parse_declared(hmi_parser *parser, const char *what, hmi_entry *entry);
bool hmi_parse_params(hmi_parser *parser, hmi_statement *statement);
bool hmi_parse_coord(hmi_parser *parser, hmi_statement *statement);
/* in LOW .. HIGH "text", each of them optional. */
bool hmi_parse_note(hmi_parser *parser, hmi_caption *note);
/* The text of the present token, which is in quotes. NULL without memory. */
const char *hmi_take_text(hmi_parser *parser);
const char *hmi_take_path(hmi_parser *parser); /* as it is, for the file system */

/* ---- statements about objects with a label (parse_objects.c) ---- */

bool hmi_parse_constraint(hmi_parser *parser, hmi_statement *statement);
bool hmi_parse_friction(hmi_parser *parser, hmi_statement *statement);
bool hmi_parse_servo(hmi_parser *parser, hmi_statement *statement);
bool hmi_parse_body(hmi_parser *parser, hmi_statement *statement);
bool hmi_parse_symmetry(hmi_parser *parser, hmi_statement *statement);
bool hmi_parse_event(hmi_parser *parser, hmi_statement *statement);
bool hmi_parse_output(hmi_parser *parser, hmi_statement *statement);
bool hmi_parse_draw(hmi_parser *parser, hmi_statement *statement);
/* parse_table.c */
bool hmi_parse_table(hmi_parser *parser, hmi_statement *statement);
/* parse_joint.c */
bool hmi_parse_joint(hmi_parser *parser, hmi_statement *statement);

/* ---- statements of a file (parse_statement.c), and files that are included (source.c) ---- */

hm_status hmi_parse_file(hmi_parser *outer, hmi_tree *tree, uint32_t file, int *includes,
                         const hmi_include_frame *frames, hmi_statement ***tail,
                         uint32_t *contains);
/* `include "path"` inside the file being parsed: appends its statements at *tail. */
bool hmi_parse_include(hmi_parser *parser, hmi_span at, const char *path, hmi_statement ***tail,
                       uint32_t *contains);

/* The file of numbers that a statement names, by the rules of `include`: its source, or HMI_NO_FILE after
 * reporting. */
uint32_t hmi_load_numbers(hmi_parser *parser, hmi_span at, const char *path);

#endif
