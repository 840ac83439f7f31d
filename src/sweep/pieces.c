/* Pieces of text. Verified: test/unit/sweep/test_plan.c */
#include "sweep/pieces.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

hmi_text_piece hmi_piece_trim(hmi_text_piece p)
{
    while (p.length && is_blank(p.text[0])) {
        p.text++;
        p.length--;
    }
    while (p.length && is_blank(p.text[p.length - 1]))
        p.length--;
    return p;
}

static bool is_comparison(const hmi_text_piece *p, size_t i)
{
    return p->text[i] == '=' && ((i + 1 < p->length && p->text[i + 1] == '=') ||
                                 (i > 0 && strchr("=<>", p->text[i - 1])));
}

bool hmi_piece_next(hmi_text_piece *rest, char separator, hmi_text_piece *first)
{
    int depth = 0;
    size_t i = 0;
    if (!rest->text)
        return false;
    for (; i < rest->length; i++) {
        char c = rest->text[i];
        depth += c == '(' || c == '[';
        depth -= c == ')' || c == ']';
        if (c == separator && depth == 0 && !is_comparison(rest, i))
            break;
    }
    *first = hmi_piece_trim((hmi_text_piece){rest->text, i});
    *rest = i < rest->length ? (hmi_text_piece){rest->text + i + 1, rest->length - i - 1}
                             : (hmi_text_piece){NULL, 0};
    return true;
}

size_t hmi_piece_count(hmi_text_piece all, char separator)
{
    size_t count = 0;
    hmi_text_piece one;
    while (hmi_piece_next(&all, separator, &one))
        count++;
    return count;
}

bool hmi_piece_call(hmi_text_piece p, hmi_text_piece *name, hmi_text_piece *inside)
{
    const char *open = p.length ? memchr(p.text, '(', p.length) : NULL;
    if (!open || open == p.text || p.text[p.length - 1] != ')')
        return false;
    size_t at = (size_t)(open - p.text);
    *name = hmi_piece_trim((hmi_text_piece){p.text, at});
    *inside = hmi_piece_trim((hmi_text_piece){open + 1, p.length - at - 2});
    return true;
}

bool hmi_piece_number(hmi_text_piece p, double *value)
{
    bool minus = p.length && p.text[0] == '-';
    if (minus)
        p = hmi_piece_trim((hmi_text_piece){p.text + 1, p.length - 1});
    size_t digits = 0;
    for (size_t i = 0; i < p.length; i++) {
        char c = p.text[i];
        bool exponent_sign = (c == '+' || c == '-') && i && strchr("eE", p.text[i - 1]);
        if (!(c >= '0' && c <= '9') && !strchr(".eE", c) && !exponent_sign)
            return false;
        digits += c >= '0' && c <= '9';
    }
    *value = digits ? hmi_number_value(p.text, p.length) : NAN;
    *value = minus ? -*value : *value;
    return isfinite(*value);
}
