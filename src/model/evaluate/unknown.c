/* A name that means nothing: what was meant? */
#include "lang/unicode.h"
#include "model/evaluate/builder.h"

#include <string.h>

/* ---- misspelt ---- */

static const char *const constant_names[] = {"pi", "t", "energy"};

typedef struct nearest {
    const char *name;
    int distance;
} nearest;

/* Do the names differ by the case of Latin or Greek letters only? */
static bool same_letters(const char *x, const char *y)
{
    size_t m = strlen(x), n = strlen(y);
    while (m && n) {
        uint32_t a = 0, b = 0;
        int i = hmi_utf8_decode(x, m, &a), k = hmi_utf8_decode(y, n, &b);
        a += (a >= 'A' && a <= 'Z') || (a >= 0x391 && a <= 0x3A9) ? 0x20 : 0;
        b += (b >= 'A' && b <= 'Z') || (b >= 0x391 && b <= 0x3A9) ? 0x20 : 0;
        if (a != b || i == 0 || k == 0)
            return false;
        x += i, m -= (size_t)i;
        y += k, n -= (size_t)k;
    }
    return m == n;
}

static void consider(nearest *best, const char *wanted, const char *candidate)
{
    if (strcmp(wanted, candidate) == 0)
        return;
    int distance = same_letters(wanted, candidate)
                       ? 0
                       : hmi_edit_distance(wanted, candidate, best->distance - 1);
    if (distance < best->distance)
        *best = (nearest){candidate, distance};
}

/* A misspelling is at most two edits away, one for short names, and another case for one letter. */
static const char *nearest_name(const hmi_builder *b, const char *wanted)
{
    size_t length = strlen(wanted);
    nearest best = {NULL, length <= 1 || (length == 2 && wanted[0] & 0x80) ? 1
                          : length <= 3                                    ? 2
                                                                           : 3};
    size_t considered = b->globals.count < 5000 ? b->globals.count : 5000;
    for (size_t name = 0; name < considered; name++)
        if (b->globals.data[name].kind != HMI_BIND_NONE && !b->globals.data[name].unknown)
            consider(&best, wanted, hmi_names_text(&b->tree->names, (int)name));
    for (size_t i = 0; hmi_function_name(i); i++)
        consider(&best, wanted, hmi_function_name(i));
    for (size_t i = 0; i < sizeof constant_names / sizeof *constant_names; i++)
        consider(&best, wanted, constant_names[i]);
    return best.name;
}

/* ---- other notations ---- */

static const struct {
    const char *word, *hint;
} other_notations[] = {
    {"ln", "the natural logarithm is log(x)"},
    {"log10", "write log(x)/log(10)"},
    {"e", "the exponential function is exp(x)"},
    {"arcsin", "did you mean 'asin'?"},
    {"arccos", "did you mean 'acos'?"},
    {"pow", "a power is written x^2"},
    {"sgn", "did you mean 'sign'?"},
    {"magnitude", "did you mean 'norm'?"},
    {"length", "did you mean 'norm'?"},
    {"deg", "angles are in radians: write 30*pi/180"},
    {"time", "time is t"},
    {"eye", "did you mean 'identity'?"},
    {"Rx", "did you mean 'rotx'?"},
    {"Ry", "did you mean 'roty'?"},
    {"Rz", "did you mean 'rotz'?"},
};

static const char *other_notation(const char *text)
{
    for (size_t i = 0; i < sizeof other_notations / sizeof *other_notations; i++)
        if (strcmp(other_notations[i].word, text) == 0)
            return other_notations[i].hint;
    return NULL;
}

/* "thetadot", "theta_dot", "dtheta": the name of which this means the derivative, or NULL. */
static const char *differentiated_name(const hmi_builder *b, const char *text)
{
    static const char *const endings[] = {"_ddot", "ddot", "_dot", "dot", "_dd", "dd", "_d", "d"};
    size_t length = strlen(text);
    if (strcmp(text, "diff") == 0 || strcmp(text, "der") == 0 || strcmp(text, "ddt") == 0)
        return "x";
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t end = strlen(endings[i]);
        int base = length > end && strcmp(text + length - end, endings[i]) == 0
                       ? hmi_names_find(&b->tree->names, text, length - end)
                       : HMI_NO_NAME;
        if (base != HMI_NO_NAME && hmi_find_binding(b, NULL, base))
            return hmi_names_text(&b->tree->names, base);
    }
    int base = text[0] == 'd' ? hmi_names_find(&b->tree->names, text + 1, length - 1) : HMI_NO_NAME;
    return base != HMI_NO_NAME && hmi_find_binding(b, NULL, base)
               ? hmi_names_text(&b->tree->names, base)
               : NULL;
}

/* ---- declared, but not here ---- */

static bool spans(hmi_span outer, hmi_span inner)
{
    return outer.file == inner.file && outer.start <= inner.start &&
           inner.start + inner.length <= outer.start + outer.length;
}

/* Parameters and sizes are evaluated in the order of the file, before anything else. The cure is
 * another than for a misspelling. */
static const char *declared_elsewhere(const hmi_statement *s, int name, hmi_span at)
{
    for (; s; s = s->next) {
        if (s->kind != HMI_STMT_PARAM && s->kind != HMI_STMT_COORD && s->kind != HMI_STMT_LET)
            continue;
        for (size_t i = 0; i < s->entry_count; i++) {
            if (s->entries[i].target->name != name)
                continue;
            if (spans(s->entries[i].span, at))
                return "its own definition cannot contain it";
            return s->kind == HMI_STMT_COORD
                       ? "it is a coordinate; parameters and sizes are constants"
                       : "it is declared further down: move that declaration up";
        }
    }
    return NULL;
}

/* ---- the message ---- */

static const char *hint_for(const hmi_builder *b, const char *text, hmi_span at, int name)
{
    const char *elsewhere = b->pass == HMI_PASS_DECLARE
                                ? declared_elsewhere(b->tree->statements, name, at)
                                : NULL;
    const hmi_source *source = hmi_context_source(b->context, at.file);
    if (source && strncmp(source->name, "--set", 5) == 0)
        return "a value given with --set may use parameters that are declared before it";
    if (elsewhere)
        return elsewhere;
    const char *base = differentiated_name(b, text);
    if (base)
        return hmi_context_printf(b->context, "a time derivative is written with a prime: %s'",
                                  base);
    const char *notation = other_notation(text);
    if (notation)
        return notation;
    const char *near = nearest_name(b, text);
    if (near)
        return hmi_context_printf(b->context, "did you mean '%s'?", near);
    return "names are declared with param, coord, let, input or state";
}

void hmi_report_unknown(hmi_builder *b, hmi_span at, int name)
{
    const char *text = hmi_names_text(&b->tree->names, name);
    hmi_error(b->context, at, hint_for(b, text, at, name), "unknown name '%s'", text);
    if (b->pass != HMI_PASS_DECLARE) /* what declares it does not come any more */
        hmi_declare_unknown(b, name, at);
}
