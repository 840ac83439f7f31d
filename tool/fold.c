/* Long expressions are folded: their first terms and their size, unless `--full` asks for all. */
#include "fold.h"

#include <string.h>

/* A few lines of a terminal; of what is longer about two are shown. */
enum { MOST_WHOLE = 400, SHOWN = 160 };

/* Does a term end before this blank: " + " or " - " ? */
static bool is_between_terms(const char *p)
{
    return p[0] == ' ' && (p[1] == '+' || p[1] == '-') && p[2] == ' ';
}

fold fold_expression(const char *expression, bool full)
{
    size_t length = strlen(expression), blank = 0, depth = 0;
    fold f = {.shown = length, .terms = 1, .length = length};
    if (full || length <= MOST_WHOLE)
        return f;
    f.shown = 0;
    for (size_t i = 0; i < length; i++) {
        depth += expression[i] == '(';
        depth -= expression[i] == ')' && depth > 0;
        bool between = depth == 0 && is_between_terms(expression + i);
        f.terms += between;
        if (between && i <= SHOWN)
            f.shown = i;
        if (expression[i] == ' ' && i <= SHOWN)
            blank = i;
    }
    if (f.shown == 0) /* the first term alone is long */
        f.shown = blank ? blank : SHOWN;
    f.folded = true;
    return f;
}

void print_folded(const char *expression, bool full)
{
    fold f = fold_expression(expression, full);
    printf("%.*s", (int)f.shown, expression);
    if (f.folded)
        printf(" ... (%zu term%s, %zu characters; --full prints all)", f.terms,
               f.terms == 1 ? "" : "s", f.length);
}
