/* The table of cairo. */
#ifdef HAMEL_HAVE_CAIRO

#include "cairo_calls.h"

cairo_calls cairo_table;

static const char *const names[] = {
#define X(name) #name,
    CAIRO_FUNCTIONS(X)
#undef X
};

library cairo_library = {.file = HAMEL_CAIRO_FILE,
                         .names = names,
                         .table = (void **)&cairo_table,
                         .count = sizeof names / sizeof *names};

#else

typedef int cairo_is_not_part_of_this_build;

#endif
