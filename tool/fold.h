/* Long expressions are folded: their first terms and their size, unless `--full` asks for all. */
#ifndef HAMEL_TOOL_FOLD_H
#define HAMEL_TOOL_FOLD_H

#include "command.h"

/* What is shown of an expression, in characters, and how long it is. */
typedef struct fold {
    size_t shown, terms, length;
    bool folded;
} fold;

fold fold_expression(const char *expression, bool full);
/* Prints the expression, or its beginning and its size. */
void print_folded(const char *expression, bool full);

/* The option; a command that folds has it among its own. */
#define FULL_OPTION                                                                                \
    {                                                                                              \
        "--full", NULL, "print long expressions whole (folded otherwise)"                          \
    }

#endif
