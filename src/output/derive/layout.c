/* Measures printed expressions and breaks long lines (layout.h). */
#include "output/derive/layout.h"

#include <limits.h>
#include <string.h>

/* ---- measuring ---- */

/* A byte of UTF-8 starts a column unless it continues a character or starts a combining mark. */
static bool takes_column(const unsigned char *s)
{
    bool continues = (*s & 0xC0) == 0x80;
    bool combining = s[0] == 0xCC || (s[0] == 0xCD && s[1] < 0xB0);
    return !continues && !combining;
}

int hmi_display_width(const char *text)
{
    int width = 0;
    for (const unsigned char *s = (const unsigned char *)text; *s; s++)
        width += takes_column(s);
    return width;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The length of the command at s, which starts with a backslash. */
static size_t command_length(const char *s)
{
    size_t length = 1;
    while (is_letter(s[length]))
        length++;
    return length > 1 ? length : s[1] ? 2 : 1;
}

static bool is_command(const char *s, size_t length, const char *name)
{
    return strlen(name) == length && memcmp(s, name, length) == 0;
}

static int command_width(const char *s, size_t length)
{
    static const char *const invisible[] = {"\\left", "\\right", "\\frac", "\\dot",
                                            "\\ddot", "\\text",  "\\,"};
    for (size_t i = 0; i < sizeof invisible / sizeof *invisible; i++)
        if (is_command(s, length, invisible[i]))
            return 0;
    return length == 4 ? 3 : 1; /* \sin, \cos, \tan, \log; upright letters are wide, too */
}

/* A plain character: a sign between blanks has space around it. */
static int character_width(const char *s)
{
    if (strchr(" {}^_&", *s) || !takes_column((const unsigned char *)s))
        return 0;
    return (*s == '+' || *s == '-') && s[1] == ' ' ? 2 : 1;
}

int hmi_latex_width(const char *text)
{
    int width = 0;
    for (const char *s = text; *s;) {
        size_t length = *s == '\\' ? command_length(s) : 1;
        if (*s == '\\')
            width += command_width(s, length);
        else
            width += character_width(s);
        s += length;
    }
    return width;
}

/* ---- breaking ---- */

/* Reading a line: where, how far to the right, how deep in brackets. */
typedef struct reader {
    const char *at;
    int column, depth;
} reader;

typedef void (*step_function)(reader *r);

static void step_text(reader *r)
{
    r->depth += *r->at == '(' || *r->at == '[';
    r->depth -= *r->at == ')' || *r->at == ']';
    r->column += takes_column((const unsigned char *)r->at);
    r->at++;
}

static void step_latex(reader *r)
{
    size_t length = *r->at == '\\' ? command_length(r->at) : 1;
    if (*r->at == '\\') {
        r->depth += is_command(r->at, length, "\\left") || is_command(r->at, length, "\\begin");
        r->depth -= is_command(r->at, length, "\\right") || is_command(r->at, length, "\\end");
        r->column += command_width(r->at, length);
    } else {
        r->depth += *r->at == '{';
        r->depth -= *r->at == '}';
        r->column += character_width(r->at);
    }
    r->at += length;
}

static bool at_operator(const char *s)
{
    return strncmp(s, " + ", 3) == 0 || strncmp(s, " - ", 3) == 0 || strncmp(s, " \u2212 ", 5) == 0;
}

typedef struct breaking {
    int limit, most_depth;
    step_function step;
} breaking;

/* The best place to break the line at r: as late and as far outside of brackets as possible, in
 * the second half of the line where there is one. NULL where the line fits or cannot be broken. */
static const char *find_break(const breaking *b, reader r, reader *after)
{
    const char *start = r.at, *best = NULL;
    int best_depth = INT_MAX;
    bool best_late = false;
    for (; *r.at; b->step(&r)) {
        if (r.column > b->limit && best)
            return best;
        if (!at_operator(r.at) || r.at == start || r.depth > b->most_depth)
            continue;
        bool late = r.column > b->limit / 2;
        if (best && (late == best_late ? r.depth > best_depth : best_late))
            continue;
        best = r.at;
        best_depth = r.depth;
        best_late = late;
        *after = r;
    }
    return r.column > b->limit ? best : NULL;
}

static void wrap(hmi_text *text, size_t start, const breaking *b, const char *separator, int indent)
{
    if (text->failed || text->length <= start)
        return;
    hmi_text out;
    hmi_text_init(&out, text->allocator);
    reader r = {.at = text->data + start}, after = {0};
    const char *at;
    while ((at = find_break(b, r, &after)) != NULL) {
        hmi_text_add_bytes(&out, r.at, (size_t)(at - r.at));
        hmi_text_add(&out, separator);
        r = (reader){.at = at + 1, .column = indent, .depth = after.depth};
    }
    if (out.length) {
        hmi_text_add(&out, r.at);
        text->length = start;
        hmi_text_add_bytes(text, hmi_text_view(&out), out.length);
    }
    text->failed |= out.failed;
    hmi_text_release(&out);
}

void hmi_wrap_text(hmi_text *text, size_t start, int limit, int indent)
{
    char separator[64] = "\n";
    const breaking b = {limit, INT_MAX, step_text};
    size_t columns = indent < 60 ? (size_t)indent : 60;
    memset(separator + 1, ' ', columns);
    separator[1 + columns] = '\0';
    wrap(text, start, &b, separator, indent);
}

/* ---- LaTeX: opening what is too wide to stand in one piece ---- */

/* The end of the group at s, which starts with '{' or \left: past its '}' or delimiter. */
static const char *group_end(const char *s)
{
    reader r = {.at = s};
    do
        step_latex(&r);
    while (*r.at && r.depth > 0);
    return r.at + (r.at[-1] != '}' && *r.at ? 1 : 0);
}

static int width_of(const char *start, const char *end)
{
    reader r = {.at = start};
    while (r.at < end)
        step_latex(&r);
    return r.column;
}

static bool is_sum(const char *start, const char *end)
{
    for (reader r = {.at = start}; r.at < end; step_latex(&r))
        if (r.depth == 0 && at_operator(r.at))
            return true;
    return false;
}

static void add_bracketed(hmi_text *out, const char *open, const char *start, const char *end,
                          const char *close)
{
    hmi_text_add(out, open);
    hmi_text_add_bytes(out, start, (size_t)(end - start));
    hmi_text_add(out, close);
}

/* \frac{N}{D} as \bigl(N\bigr) / D, brackets where they are needed; s is its first brace. */
static void open_fraction(hmi_text *out, const char *s)
{
    const char *middle = group_end(s), *end = group_end(middle);
    bool sum = is_sum(s + 1, middle - 1), divided = is_sum(middle + 1, end - 1);
    add_bracketed(out, sum ? "\\bigl(" : "", s + 1, middle - 1, sum ? "\\bigr)" : "");
    hmi_text_add(out, " / ");
    add_bracketed(out, divided ? "\\left(" : "", middle + 1, end - 1, divided ? "\\right)" : "");
}

/* Copies the fraction, bracket, braces, command or character at s, opened where it is too wide;
 * returns its end. */
static const char *copy_item(hmi_text *out, const char *s, int limit, bool *opened)
{
    static const char fraction[] = "\\frac{", bracket[] = "\\left(", closing[] = "\\right)";
    size_t skip = strncmp(s, fraction, strlen(fraction)) == 0 ? strlen(fraction) - 1 : 0;
    const char *middle = skip ? group_end(s + skip) : NULL, *end;
    if (skip)
        end = group_end(middle);
    else if (*s == '{' || strncmp(s, bracket, strlen(bracket)) == 0)
        end = group_end(s);
    else
        end = s + (*s == '\\' ? command_length(s) : 1);
    if (skip && width_of(s + skip, middle) > limit) {
        open_fraction(out, s + skip);
        *opened = true;
    } else if (end > s + strlen(bracket) && *s == '\\' && !skip && width_of(s, end) > limit) {
        add_bracketed(out, "\\bigl(", s + strlen(bracket), end - strlen(closing), "\\bigr)");
        *opened = true;
    } else {
        hmi_text_add_bytes(out, s, (size_t)(end - s));
    }
    return end;
}

/* Opens groups outside of others that are wider than the limit: brackets of a fixed size may be
 * broken over lines. Returns whether there were any. */
static bool open_wide(hmi_text *text, size_t start, int limit)
{
    bool opened = false;
    hmi_text out;
    hmi_text_init(&out, text->allocator);
    for (const char *s = text->data + start; *s;)
        s = copy_item(&out, s, limit, &opened);
    if (opened && !out.failed) {
        text->length = start;
        hmi_text_add_bytes(text, hmi_text_view(&out), out.length);
    }
    text->failed |= out.failed;
    hmi_text_release(&out);
    return opened && !text->failed;
}

static const char line_break[] = " \\\\\n&\\quad ";

/* The widest line of what was wrapped. */
static int widest_line(const char *text)
{
    int widest = 0;
    for (const char *end; text; text = end ? end + strlen(line_break) : NULL) {
        end = strstr(text, line_break);
        int width = width_of(text, end ? end : text + strlen(text));
        widest = width > widest ? width : widest;
    }
    return widest;
}

/* Opens groups wider than `group` and breaks lines. */
static void open_and_wrap(hmi_text *text, size_t start, int limit, int group)
{
    enum { MOST_ROUNDS = 6 };
    const breaking b = {limit, 0, step_latex};
    for (int round = 0; round < MOST_ROUNDS && open_wide(text, start, group); round++)
        continue;
    wrap(text, start, &b, line_break, 2);
}

void hmi_wrap_latex(hmi_text *text, size_t start, int limit)
{
    if (text->failed || text->length <= start)
        return;
    if (width_of(text->data + start, text->data + text->length) <= limit)
        return;
    /* A product of several brackets has no place to break unless narrower ones are opened, too. */
    for (int part = 2; part <= 6; part++) {
        hmi_text copy;
        hmi_text_init(&copy, text->allocator);
        hmi_text_add(&copy, text->data + start);
        if (!copy.failed)
            open_and_wrap(&copy, 0, limit, 2 * limit / part);
        bool done = copy.failed || widest_line(hmi_text_view(&copy)) <= limit || part == 6;
        if (done && !copy.failed) {
            text->length = start;
            hmi_text_add_bytes(text, hmi_text_view(&copy), copy.length);
        }
        text->failed |= copy.failed;
        hmi_text_release(&copy);
        if (done)
            return;
    }
}
