/* Names as people write them: theta' becomes a theta with a dot, q[3] a q with subscript 3.
 *
 *   name            text              LaTeX
 *   theta           θ                 \theta
 *   x1, x_1, x[1]   x₁                x_{1}
 *   I_B             I_B               I_{B}
 *   foo, foo'       foo, foo′         \mathrm{foo}, \dot{\mathrm{foo}}
 * A dot stands over a single letter; a longer name gets a prime, since a dot over one of its
 * letters reads as another letter. Of x1, x_1, x[1] in one model the first two are shown as they are
 * written (hmi_print_literal_name): x_1, \mathrm{x\_1}.
 */
#include "expr/print/core.h"

#include <string.h>

typedef struct span {
    const char *text;
    size_t length;
} span;

static const struct {
    const char *name, *letter, *latex;
} greek[] = {
    {"alpha", "α", "\\alpha"},
    {"beta", "β", "\\beta"},
    {"gamma", "γ", "\\gamma"},
    {"delta", "δ", "\\delta"},
    {"epsilon", "ε", "\\varepsilon"},
    {"zeta", "ζ", "\\zeta"},
    {"eta", "η", "\\eta"},
    {"theta", "θ", "\\theta"},
    {"iota", "ι", "\\iota"},
    {"kappa", "κ", "\\kappa"},
    {"lambda", "λ", "\\lambda"},
    {"mu", "μ", "\\mu"},
    {"nu", "ν", "\\nu"},
    {"xi", "ξ", "\\xi"},
    {"omicron", "ο", "o"},
    {"pi", "π", "\\pi"},
    {"rho", "ρ", "\\rho"},
    {"sigma", "σ", "\\sigma"},
    {"tau", "τ", "\\tau"},
    {"upsilon", "υ", "\\upsilon"},
    {"phi", "φ", "\\phi"},
    {"chi", "χ", "\\chi"},
    {"psi", "ψ", "\\psi"},
    {"omega", "ω", "\\omega"},
    {"Gamma", "Γ", "\\Gamma"},
    {"Delta", "Δ", "\\Delta"},
    {"Theta", "Θ", "\\Theta"},
    {"Lambda", "Λ", "\\Lambda"},
    {"Xi", "Ξ", "\\Xi"},
    {"Pi", "Π", "\\Pi"},
    {"Sigma", "Σ", "\\Sigma"},
    {"Upsilon", "Υ", "\\Upsilon"},
    {"Phi", "Φ", "\\Phi"},
    {"Psi", "Ψ", "\\Psi"},
    {"Omega", "Ω", "\\Omega"},
    {"vartheta", "ϑ", "\\vartheta"},
    {"varphi", "ϕ", "\\varphi"},
};

enum { GREEK_COUNT = sizeof greek / sizeof greek[0] };

/* The first letters decide nearly always; this runs in the sort that finds names that print alike. */
static bool same(span s, const char *text)
{
    return s.length > 0 && s.text[0] == text[0] && strncmp(s.text, text, s.length) == 0 &&
           text[s.length] == '\0';
}

/* By spelled-out name or by the letter itself; GREEK_COUNT where it is neither. */
static int find_greek(span s)
{
    int i = 0;
    while (i < GREEK_COUNT && !same(s, greek[i].name) && !same(s, greek[i].letter))
        i++;
    return i;
}

/* ---- the parts of a name ---- */

typedef struct parts {
    span base, sub, index; /* theta, B, 1,2 */
} parts;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static parts split_name(const char *name)
{
    const char *bracket = strchr(name, '[');
    size_t length = bracket ? (size_t)(bracket - name) : strlen(name);
    parts p = {.base = {name, length}};
    if (bracket && bracket[1])
        p.index = (span){bracket + 1, strlen(bracket + 1) - 1};
    const char *underscore = length > 1 ? memchr(name + 1, '_', length - 1) : NULL;
    if (underscore && (size_t)(underscore - name) + 1 < length) {
        p.base.length = (size_t)(underscore - name);
        p.sub = (span){underscore + 1, length - p.base.length - 1};
        return p;
    }
    size_t digits = 0;
    while (digits + 1 < length && is_digit(name[length - 1 - digits]))
        digits++;
    p.base.length -= digits;
    p.sub = (span){name + p.base.length, digits};
    return p;
}

static bool only(span s, const char *allowed)
{
    for (size_t i = 0; i < s.length; i++)
        if (!strchr(allowed, s.text[i]))
            return false;
    return s.length > 0;
}

/* 1,2 may be written 12; 1,12 may not. */
static bool is_list_of_digits(span s)
{
    for (size_t i = 0; i < s.length; i++)
        if (i % 2 ? s.text[i] != ',' : !is_digit(s.text[i]))
            return false;
    return s.length % 2 == 1;
}

/* ---- text ---- */

static size_t characters(span s)
{
    size_t count = 0;
    for (size_t i = 0; i < s.length; i++)
        count += (s.text[i] & 0xC0) != 0x80;
    return count;
}

/* Letters with dots that exist as one character look better than combining marks. */
static const char *precomposed(char letter, int dots)
{
    static const char letters[] = "abcdefghmnoprstwxyzABCDEFGHIMNOPRSTWXYZ";
    static const char *const one[] = {"ȧ", "ḃ", "ċ", "ḋ", "ė", "ḟ", "ġ", "ḣ", "ṁ", "ṅ",
                                      "ȯ", "ṗ", "ṙ", "ṡ", "ṫ", "ẇ", "ẋ", "ẏ", "ż", "Ȧ",
                                      "Ḃ", "Ċ", "Ḋ", "Ė", "Ḟ", "Ġ", "Ḣ", "İ", "Ṁ", "Ṅ",
                                      "Ȯ", "Ṗ", "Ṙ", "Ṡ", "Ṫ", "Ẇ", "Ẋ", "Ẏ", "Ż"};
    static const char letters2[] = "aehiotuwxyAEHIOUWXY";
    static const char *const two[] = {"ä", "ë", "ḧ", "ï", "ö", "ẗ", "ü", "ẅ", "ẍ", "ÿ",
                                      "Ä", "Ë", "Ḧ", "Ï", "Ö", "Ü", "Ẅ", "Ẍ", "Ÿ"};
    const char *list = dots == 1 ? letters : letters2;
    const char *found = letter ? strchr(list, letter) : NULL;
    return found ? (dots == 1 ? one : two)[found - list] : NULL;
}

static void add_subscript(hmi_text *out, span s)
{
    bool keep_commas = !is_list_of_digits(s);
    for (size_t i = 0; i < s.length; i++) {
        char digit[4] = "₀";
        if (is_digit(s.text[i])) {
            digit[2] = (char)(digit[2] + (s.text[i] - '0'));
            hmi_text_add(out, digit);
        } else if (s.text[i] == '-') {
            hmi_text_add(out, "₋");
        } else if (keep_commas) {
            hmi_text_add(out, ",");
        }
    }
}

static void add_dotted(hmi_text *out, span letter, int dots)
{
    const char *whole = letter.length == 1 && dots ? precomposed(letter.text[0], dots) : NULL;
    if (whole) {
        hmi_text_add(out, whole);
        return;
    }
    hmi_text_add_bytes(out, letter.text, letter.length);
    if (dots)
        hmi_text_add(out, dots == 1 ? "\u0307" : "\u0308");
}

static void add_greek(hmi_text *out, span s)
{
    int letter = find_greek(s);
    if (letter < GREEK_COUNT)
        hmi_text_add(out, greek[letter].letter);
    else
        hmi_text_add_bytes(out, s.text, s.length);
}

static void text_name(hmi_text *out, const char *name, int dots)
{
    parts p = split_name(name);
    int letter = find_greek(p.base);
    if (letter < GREEK_COUNT)
        p.base = (span){greek[letter].letter, strlen(greek[letter].letter)};
    bool single = characters(p.base) == 1;
    add_dotted(out, p.base, single ? dots : 0);
    bool numbered = only(p.sub, "0123456789");
    if (numbered)
        add_subscript(out, p.sub);
    else if (p.sub.length) {
        hmi_text_add(out, "_");
        add_greek(out, p.sub);
    }
    if (numbered && p.index.length)
        hmi_text_add(out, ",");
    if (only(p.index, "0123456789,-"))
        add_subscript(out, p.index);
    else if (p.index.length)
        hmi_text_addf(out, "[%.*s]", (int)p.index.length, p.index.text);
    if (!single && dots)
        hmi_text_add(out, dots == 1 ? "′" : "″");
}

/* ---- LaTeX ---- */

static bool is_ascii(span s)
{
    for (size_t i = 0; i < s.length; i++)
        if ((unsigned char)s.text[i] >= 0x80)
            return false;
    return true;
}

/* A word: Greek, one letter, or upright letters. Underscores inside become commas. */
static void latex_word(hmi_text *out, span s)
{
    int letter = find_greek(s);
    if (letter < GREEK_COUNT) {
        hmi_text_add(out, greek[letter].latex);
        return;
    }
    bool plain = is_ascii(s) && (s.length == 1 || only(s, "0123456789"));
    if (!plain)
        hmi_text_add(out, is_ascii(s) ? "\\mathrm{" : "\\text{");
    for (size_t i = 0; i < s.length; i++)
        hmi_text_add_bytes(out, s.text[i] == '_' ? "," : s.text + i, 1);
    if (!plain)
        hmi_text_add(out, "}");
}

bool hmi_name_is_word(const char *name)
{
    span base = split_name(name).base;
    return find_greek(base) == GREEK_COUNT && characters(base) > 1;
}

static void latex_name(hmi_text *out, const char *name, int dots)
{
    parts p = split_name(name);
    if (dots)
        hmi_text_add(out, dots == 1 ? "\\dot{" : "\\ddot{");
    latex_word(out, p.base);
    if (dots)
        hmi_text_add(out, "}");
    if (!p.sub.length && !p.index.length)
        return;
    hmi_text_add(out, "_{");
    if (p.sub.length)
        latex_word(out, p.sub);
    if (p.sub.length && p.index.length)
        hmi_text_add(out, ",");
    bool join = is_list_of_digits(p.index);
    for (size_t i = 0; i < p.index.length; i++)
        if (!join || p.index.text[i] != ',')
            hmi_text_add_bytes(out, p.index.text + i, 1);
    hmi_text_add(out, "}");
}

bool hmi_is_greek_name(const char *name)
{
    return find_greek(split_name(name).base) < GREEK_COUNT;
}

static bool same_bytes(span x, span y)
{
    return x.length == y.length && (x.length == 0 || memcmp(x.text, y.text, x.length) == 0);
}

bool hmi_are_greek_twins(const char *x, const char *y)
{
    parts a = split_name(x), b = split_name(y);
    int letter = find_greek(a.base);
    return letter < GREEK_COUNT && letter == find_greek(b.base) && !same_bytes(a.base, b.base) &&
           same_bytes(a.sub, b.sub) && same_bytes(a.index, b.index);
}

/* ---- names that would be shown alike ---- */

hmi_shown_name hmi_shown_name_of(const char *name)
{
    parts p = split_name(name);
    int letter = find_greek(p.base);
    if (letter < GREEK_COUNT)
        p.base = (span){greek[letter].letter, strlen(greek[letter].letter)};
    return (hmi_shown_name){name, p.base.text, p.base.length, p.sub.text, p.sub.length};
}

static int order_of(span x, span y)
{
    size_t shorter = x.length < y.length ? x.length : y.length;
    int order = shorter ? memcmp(x.text, y.text, shorter) : 0;
    return order ? order : (x.length > y.length) - (x.length < y.length);
}

int hmi_shown_base_order(const hmi_shown_name *x, const hmi_shown_name *y)
{
    return order_of((span){x->base, x->base_length}, (span){y->base, y->base_length});
}

int hmi_shown_order(const hmi_shown_name *x, const hmi_shown_name *y)
{
    int order = hmi_shown_base_order(x, y);
    return order ? order : order_of((span){x->sub, x->sub_length}, (span){y->sub, y->sub_length});
}

hmi_subscript hmi_subscript_of(const char *name)
{
    span sub = split_name(name).sub;
    return sub.length == 0           ? HMI_SUBSCRIPT_NONE
           : only(sub, "0123456789") ? HMI_SUBSCRIPT_NUMBER
                                     : HMI_SUBSCRIPT_WORD;
}

static void latex_literal(hmi_text *out, const char *name, int dots)
{
    span s = {name, strlen(name)};
    if (dots)
        hmi_text_add(out, dots == 1 ? "\\dot{" : "\\ddot{");
    hmi_text_add(out, is_ascii(s) ? "\\mathrm{" : "\\text{");
    for (; *name; name++) {
        hmi_text_add(out, *name == '_' ? "\\" : "");
        hmi_text_add_bytes(out, name, 1);
    }
    hmi_text_add(out, dots ? "}}" : "}");
}

void hmi_print_literal_name(hmi_text *out, hmi_print_style style, const char *name, int dots)
{
    if (style == HMI_PRINT_LATEX) {
        latex_literal(out, name, dots);
        return;
    }
    bool text = style == HMI_PRINT_TEXT;
    hmi_text_add(out, name);
    if (dots)
        hmi_text_add(out, dots == 1 ? (text ? "′" : "'") : (text ? "″" : "''"));
}

void hmi_print_name(hmi_text *out, hmi_print_style style, const char *name, int dots)
{
    if (style == HMI_PRINT_TEXT) {
        text_name(out, name, dots);
    } else if (style == HMI_PRINT_LATEX) {
        latex_name(out, name, dots);
    } else {
        hmi_text_add(out, name);
        while (dots-- > 0)
            hmi_text_add(out, "'");
    }
}
