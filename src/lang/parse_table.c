/* table f(x) = [[x0, y0], ...] KIND OUTSIDE    or    table f(x, y) "file.csv" KIND columns "a", "b", "c" OUTSIDE
 *
 * The words behind the numbers may come in any order; each becomes an entry, each column an entry of its
 * own with the column's name as its text. */
#include "lang/parser_internal.h"

#include <string.h>

static bool is_known_word(const hmi_parser *p, const hmi_token *word)
{
    static const char *const words[] = {"linear", "cubic",    "monotone", "hold",
                                        "extend", "periodic", "columns"};
    const char *text = p->lexer.text + word->span.start;
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (strlen(words[k]) == word->span.length &&
            strncmp(words[k], text, word->span.length) == 0)
            return true;
    return false;
}

static bool report_word(hmi_parser *p)
{
    hmi_error(p->context, p->token.span,
              "one of: linear, cubic, monotone; hold, extend, periodic; columns \"a\", \"b\"",
              "'%.*s' is not a word of a table", hmi_shown_length(p->token.span.length),
              p->lexer.text + p->token.span.start);
    return false;
}

/* columns "a", "b" */
static bool parse_columns(hmi_parser *p, const hmi_entry *word, hmi_entry_list *list)
{
    do {
        hmi_entry column = *word;
        if (p->token.kind != HMI_TOK_STRING)
            return hmi_parser_unexpected(p, "the name of a column in quotes");
        column.span = p->token.span;
        if (!(column.note.text = hmi_take_text(p)) || !hmi_push_entry(p, list, column))
            return false;
    } while (hmi_next_entry(p));
    return true;
}

static bool parse_words(hmi_parser *p, hmi_statement *s)
{
    hmi_entry_list list = {0};
    bool good = true;
    while (good && p->token.kind == HMI_TOK_NAME) {
        hmi_entry entry = {.word = HMI_NO_NAME};
        bool columns = hmi_parser_at_word(p, "columns");
        good = is_known_word(p, &p->token) ? hmi_take_word(p, &entry) : report_word(p);
        if (good)
            good = columns ? parse_columns(p, &entry, &list) : hmi_push_entry(p, &list, entry);
    }
    return hmi_keep_entries(p, &list, good, &s->entries, &s->entry_count);
}

static bool parse_file_name(hmi_parser *p, hmi_statement *s)
{
    hmi_span at = p->token.span;
    s->text = hmi_take_text(p);
    if (!s->text)
        return false;
    if (p->tree->alone)
        return true;
    s->file = hmi_load_numbers(p, at, s->text);
    return s->file != HMI_NO_FILE;
}

bool hmi_parse_table(hmi_parser *p, hmi_statement *s)
{
    s->file = HMI_NO_FILE;
    s->label = hmi_parse_postfix(p);
    if (!s->label)
        return false;
    if (p->token.kind == HMI_TOK_STRING) {
        if (!parse_file_name(p, s))
            return false;
    } else if (p->token.kind == HMI_TOK_ASSIGN) {
        hmi_parser_advance(p);
        if (!(s->first = hmi_parse_expr(p)))
            return false;
    } else
        return hmi_parser_unexpected(p, "'=' and rows, or a file in quotes");
    return parse_words(p, s);
}
