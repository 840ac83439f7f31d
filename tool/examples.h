/* The built-in examples: the files of examples/, embedded by cmake/EmbedExamples.cmake. */
#ifndef HAMEL_TOOL_EXAMPLES_H
#define HAMEL_TOOL_EXAMPLES_H

#include <stddef.h>

struct hamel_example {
    const char *name; /* file name without .hamel */
    const char *text; /* NUL-terminated */
    size_t length;    /* bytes, without the NUL */
};

/* Sorted by name. */
extern const struct hamel_example hamel_examples[];
extern const size_t hamel_example_count;

/* cmd_examples.c: NULL where there is none of that name. */
const struct hamel_example *find_example(const char *name);
/* session.c: a hint on stderr for a word that is neither a file nor an example. */
void hint_at_examples(const char *word);

#endif
