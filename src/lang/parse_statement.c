/* Statements: one function per statement word; those about objects are in parse_objects.c. */
#include "lang/parser_internal.h"

#include <assert.h>
#include <string.h>

/* ---- declarations ---- */

static bool parse_model(hmi_parser *p, hmi_statement *s)
{
    s->label = hmi_parse_label(p, "the name of the model");
    if (!s->label)
        return false;
    return p->token.kind != HMI_TOK_STRING || (s->text = hmi_take_text(p)) != NULL;
}

static bool parse_energy(hmi_parser *p, hmi_statement *s)
{
    s->first = hmi_parse_expr(p);
    return s->first != NULL;
}

/* mass x, y = E    gyroscopic x, y = G */
static bool parse_pairs(hmi_parser *p, hmi_statement *s)
{
    hmi_entry_list list = {0};
    bool good;
    do {
        hmi_entry entry = {.word = HMI_NO_NAME};
        hmi_ast *first = hmi_parse_postfix(p);
        good = first != NULL;
        if (good && hmi_next_entry(p))
            good = (entry.second = hmi_parse_postfix(p)) != NULL;
        good = good && hmi_parse_assignment_to(p, first, false, &entry) &&
               hmi_push_entry(p, &list, entry);
    } while (good && hmi_next_entry(p));
    return hmi_keep_entries(p, &list, good, &s->entries, &s->entry_count);
}

/* x = E, y = E    or    F at P */
static bool parse_force(hmi_parser *p, hmi_statement *s)
{
    hmi_ast *first = hmi_parse_expr(p);
    if (!first)
        return false;
    if (hmi_parser_accept_word(p, "at")) {
        s->first = first;
        s->second = hmi_parse_expr(p);
        return s->second != NULL;
    }
    if (p->token.kind != HMI_TOK_ASSIGN)
        return hmi_parser_unexpected(p, "'=' or 'at'");
    hmi_entry_list list = {0};
    hmi_entry entry = {.word = HMI_NO_NAME};
    bool good = hmi_parse_assignment_to(p, first, false, &entry) && hmi_push_entry(p, &list, entry);
    while (good && hmi_next_entry(p)) {
        hmi_ast *target = hmi_parse_postfix(p);
        entry = (hmi_entry){.word = HMI_NO_NAME};
        good = target && hmi_parse_assignment_to(p, target, false, &entry) &&
               hmi_push_entry(p, &list, entry);
    }
    return hmi_keep_entries(p, &list, good, &s->entries, &s->entry_count);
}

static bool parse_torque(hmi_parser *p, hmi_statement *s)
{
    if (!(s->first = hmi_parse_expr(p)))
        return false;
    if (!hmi_parser_accept_word(p, "on"))
        return hmi_parser_unexpected(p, "'on' and a rotation");
    s->second = hmi_parse_expr(p);
    return s->second != NULL;
}

/* ---- runs ---- */

static bool parse_initial(hmi_parser *p, hmi_statement *s)
{
    if (hmi_parser_at_word(p, "keep")) {
        hmi_parser before = *p;
        hmi_parser_advance(p);
        s->keep = p->token.kind == HMI_TOK_NAME;
        if (!s->keep)
            *p = before; /* a coordinate called keep */
    }
    return hmi_parse_assignment_list(p, true, &s->entries, &s->entry_count);
}

static bool parse_range(hmi_parser *p, hmi_statement *s)
{
    return (s->first = hmi_parse_expr(p)) != NULL &&
           hmi_parser_expect(p, HMI_TOK_RANGE, "the start") &&
           (s->second = hmi_parse_expr(p)) != NULL;
}

static bool parse_simulate(hmi_parser *p, hmi_statement *s)
{
    hmi_entry_list list = {0};
    bool good = parse_range(p, s);
    if (good && hmi_parser_accept_word(p, "every"))
        good = (s->third = hmi_parse_expr(p)) != NULL;
    while (good && p->token.kind == HMI_TOK_NAME) {
        hmi_entry entry = {0};
        good = hmi_take_word(p, &entry) && (entry.value = hmi_parse_expr(p)) != NULL &&
               hmi_push_entry(p, &list, entry);
    }
    return hmi_keep_entries(p, &list, good, &s->entries, &s->entry_count);
}

/* ---- blocks ---- */

static void parse_statements(hmi_parser *p, bool in_block, hmi_statement ***tail,
                             uint32_t *contains);

/* The statements between braces; the present token is '{'. */
static bool parse_block(hmi_parser *p, hmi_statement *s)
{
    hmi_span brace = p->token.span;
    assert(p->token.kind == HMI_TOK_LBRACE);
    if (++p->blocks > HMI_MOST_BLOCKS) {
        hmi_error(p->context, brace, NULL, "'for' is nested more than %d levels deep",
                  HMI_MOST_BLOCKS);
        p->lexer.position = p->lexer.length; /* what follows would not fit together */
        p->given_up = true;
    }
    hmi_parser_advance(p);
    hmi_statement **tail = &s->block;
    parse_statements(p, true, &tail, &s->contains);
    p->blocks--;
    if (p->token.kind != HMI_TOK_RBRACE) {
        if (!p->given_up)
            hmi_error(p->context, brace, NULL, "this block is not closed");
        return false;
    }
    hmi_parser_advance(p);
    return true;
}

static bool parse_for_header(hmi_parser *p, hmi_statement *s)
{
    hmi_ast *index = hmi_parse_name(p, "the index");
    if (!index || !hmi_parser_expect(p, HMI_TOK_ASSIGN, "the index") || !parse_range(p, s))
        return false;
    s->word = index->name;
    hmi_parser_skip_newlines(p);
    return p->token.kind == HMI_TOK_LBRACE || hmi_parser_unexpected(p, "'{'");
}

/* After an error in the header the block is still read, for its own errors and its '}'. */
static bool parse_for(hmi_parser *p, hmi_statement *s)
{
    bool good = parse_for_header(p, s);
    p->brackets = 0;
    while (p->token.kind != HMI_TOK_LBRACE && p->token.kind != HMI_TOK_NEWLINE &&
           p->token.kind != HMI_TOK_END)
        hmi_parser_advance(p);
    if (p->token.kind != HMI_TOK_LBRACE)
        return false;
    return parse_block(p, s) && good;
}

static bool parse_include(hmi_parser *p, hmi_statement *s)
{
    if (p->token.kind != HMI_TOK_STRING)
        return hmi_parser_unexpected(p, "the path of a file in quotes");
    s->text = hmi_take_path(p);
    return s->text != NULL;
}

typedef bool (*statement_parser)(hmi_parser *p, hmi_statement *s);

static const statement_parser parsers[HMI_STMT_COUNT] = {
    [HMI_STMT_MODEL] = parse_model,
    [HMI_STMT_PARAM] = hmi_parse_params,
    [HMI_STMT_COORD] = hmi_parse_coord,
    [HMI_STMT_LET] = hmi_parse_assignments_of,
    [HMI_STMT_KINETIC] = parse_energy,
    [HMI_STMT_POTENTIAL] = parse_energy,
    [HMI_STMT_LAGRANGIAN] = parse_energy,
    [HMI_STMT_MASS] = parse_pairs,
    [HMI_STMT_FORCE] = parse_force,
    [HMI_STMT_INPUT] = hmi_parse_assignments_of,
    [HMI_STMT_STATE] = hmi_parse_assignments_of,
    [HMI_STMT_TORQUE] = parse_torque,
    [HMI_STMT_DISSIPATION] = parse_energy,
    [HMI_STMT_GYROSCOPIC] = parse_pairs,
    [HMI_STMT_BODY] = hmi_parse_body,
    [HMI_STMT_GRAVITY] = parse_energy,
    [HMI_STMT_CONSTRAINT] = hmi_parse_constraint,
    [HMI_STMT_SERVO] = hmi_parse_servo,
    [HMI_STMT_NONIDEAL] = parse_force,
    [HMI_STMT_INITIAL] = parse_initial,
    [HMI_STMT_SIMULATE] = parse_simulate,
    [HMI_STMT_SYMMETRY] = hmi_parse_symmetry,
    [HMI_STMT_EVENT] = hmi_parse_event,
    [HMI_STMT_OUTPUT] = hmi_parse_output,
    [HMI_STMT_FOR] = parse_for,
    [HMI_STMT_INCLUDE] = parse_include,
    [HMI_STMT_JOINT] = hmi_parse_joint,
    [HMI_STMT_FRICTION] = hmi_parse_friction,
    [HMI_STMT_TABLE] = hmi_parse_table,
    [HMI_STMT_DRAW] = hmi_parse_draw,
};

/* ---- the sequence of statements, and recovery ---- */

static void skip_statement(hmi_parser *p, bool in_block)
{
    bool inside = p->brackets > 0;
    p->brackets = 0;
    p->in_body = false;
    p->lexer.quiet = true; /* one error per statement */
    if (inside && p->token.kind == HMI_TOK_SEMICOLON)
        hmi_parser_advance(p);
    while (!hmi_parser_at_statement(p) && p->token.kind != HMI_TOK_NEWLINE &&
           p->token.kind != HMI_TOK_SEMICOLON && p->token.kind != HMI_TOK_END &&
           !(in_block && p->token.kind == HMI_TOK_RBRACE))
        hmi_parser_advance(p);
    p->lexer.quiet = false;
}

static void report_no_statement(hmi_parser *p)
{
    if (p->token.kind == HMI_TOK_NAME)
        hmi_report_unknown_statement(p);
    else if (p->token.kind == HMI_TOK_RBRACE)
        hmi_error(p->context, p->token.span, NULL, "unmatched '}'");
    else if (p->token.kind >= HMI_TOK_PLUS && p->token.kind <= HMI_TOK_CARET)
        hmi_error(p->context, p->token.span,
                  "a line continues when it ends with an operator: move the operator to the end of "
                  "the previous line",
                  "a statement cannot start with %s", hmi_token_kind_text(p->token.kind));
    else
        hmi_parser_unexpected(p, "a statement");
}

static bool at_statement_end(const hmi_parser *p, bool in_block)
{
    return p->token.kind == HMI_TOK_NEWLINE || p->token.kind == HMI_TOK_SEMICOLON ||
           p->token.kind == HMI_TOK_END || (in_block && p->token.kind == HMI_TOK_RBRACE);
}

/* One statement; links it in where it is good. */
static bool parse_statement(hmi_parser *p, bool in_block, hmi_statement ***tail, uint32_t *contains)
{
    hmi_token word = p->token;
    hmi_statement_kind kind = word.kind == HMI_TOK_NAME
                                  ? hmi_statement_kind_of(p->lexer.text + word.span.start,
                                                          word.span.length)
                                  : HMI_STMT_COUNT;
    if (kind == HMI_STMT_COUNT) {
        report_no_statement(p);
        if (p->token.kind == HMI_TOK_RBRACE)
            hmi_parser_advance(p);
        return false;
    }
    hmi_statement *s = hmi_parser_alloc(p, sizeof *s);
    if (!s)
        return false;
    s->kind = p->kind = kind;
    p->usage = hmi_statement_usage(kind);
    hmi_parser_advance(p);
    if (!parsers[kind](p, s) || (!at_statement_end(p, in_block) && !hmi_report_no_end(p, kind)))
        return false;
    s->span = hmi_span_to(word.span, p->previous);
    if (kind == HMI_STMT_INCLUDE && p->tree->alone)
        return true;
    if (kind == HMI_STMT_INCLUDE)
        return hmi_parse_include(p, s->span, s->text, tail, contains);
    **tail = s;
    *tail = &s->next;
    *contains |= 1u << kind | (kind == HMI_STMT_FOR ? s->contains : 0);
    return true;
}

static void parse_statements(hmi_parser *p, bool in_block, hmi_statement ***tail,
                             uint32_t *contains)
{
    for (;;) {
        p->errors = p->context->errors;
        p->usage = NULL;
        p->kind = HMI_STMT_COUNT;
        while (p->token.kind == HMI_TOK_NEWLINE || p->token.kind == HMI_TOK_SEMICOLON)
            hmi_parser_advance(p);
        if (p->token.kind == HMI_TOK_END || (in_block && p->token.kind == HMI_TOK_RBRACE) ||
            hmi_context_too_many(p->context))
            return;
        int blocks = p->blocks;
        if (!parse_statement(p, in_block, tail, contains)) {
            p->nesting = 0;
            p->blocks = blocks;
            skip_statement(p, in_block);
        }
    }
}

hm_status hmi_parse_file(hmi_parser *outer, hmi_tree *tree, uint32_t file, int *includes,
                         const hmi_include_frame *frames, hmi_statement ***tail, uint32_t *contains)
{
    hmi_parser parser;
    size_t errors = tree->context->errors;
    hmi_parser_start(&parser, tree, file);
    parser.includes = includes;
    parser.frames = frames;
    parser.blocks = outer ? outer->blocks : 0;
    parse_statements(&parser, false, tail, contains);
    return hmi_context_status(tree->context, errors);
}
