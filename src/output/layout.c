/* Lines that fit a terminal or a page: see layout.h. */
#include "output/layout.h"

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
    static const char *const invisible[] = {"\\left", "\\right", "\\frac",  "\\dot",
                                            "\\ddot", "\\text",  "\\mathrm"};
    for (size_t i = 0; i < sizeof invisible / sizeof *invisible; i++)
        if (is_command(s, length, invisible[i]))
            return 0;
    return length == 4 ? 3 : 1; /* \sin, \cos, \tan, \log */
}

int hmi_latex_width(const char *text)
{
    int width = 0;
    for (const char *s = text; *s;) {
        size_t length = *s == '\\' ? command_length(s) : 1;
        if (*s == '\\')
            width += command_width(s, length);
        else
            width += !strchr(" {}^_&", *s) && takes_column((const unsigned char *)s);
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
        r->column += !strchr(" {}^_&", *r->at) && takes_column((const unsigned char *)r->at);
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

void hmi_wrap_latex(hmi_text *text, size_t start, int limit)
{
    const breaking b = {limit, 0, step_latex};
    wrap(text, start, &b, " \\\\\n&\\quad ", 2);
}
