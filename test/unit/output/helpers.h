/* Shared by the tests of output: text that is collected. */
#ifndef TEST_UNIT_OUTPUT_HELPERS_H
#define TEST_UNIT_OUTPUT_HELPERS_H

#include "support/heap.h"

#include <hamel/hamel.h>
#include <stdlib.h>
#include <string.h>

typedef struct collected {
    char *text;
    size_t length;
    bool full; /* refuses everything */
} collected;

static inline bool collect(void *user, const char *bytes, size_t length)
{
    collected *c = user;
    char *grown = c->full ? NULL : realloc(c->text, c->length + length + 1);
    if (!grown)
        return false;
    c->text = grown;
    memcpy(c->text + c->length, bytes, length);
    c->length += length;
    c->text[c->length] = '\0';
    return true;
}

#endif
