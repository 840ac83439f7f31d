/* Shared by the tests of output: an allocator that fails on demand, text that is collected. */
#ifndef TEST_UNIT_OUTPUT_HELPERS_H
#define TEST_UNIT_OUTPUT_HELPERS_H

#include "support/check.h"

#include <hamel/hamel.h>
#include <stdlib.h>
#include <string.h>

/* Fails the allocation number `fail_at` (from 0; negative: none) and counts live blocks. */
typedef struct failing_heap {
    long made, fail_at, live;
} failing_heap;

static inline void *failing_resize(void *user, void *ptr, size_t old_size, size_t new_size)
{
    failing_heap *heap = user;
    (void)old_size;
    if (new_size == 0) {
        heap->live -= ptr != NULL;
        free(ptr);
        return NULL;
    }
    if (heap->made++ == heap->fail_at)
        return NULL;
    heap->live += ptr == NULL;
    return realloc(ptr, new_size);
}

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
