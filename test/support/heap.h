/* An allocator that fails on purpose, and the loop over all that can fail: allocation k, for
 * k = 0, 1, 2, ... until a run gets by without it. It knows the size of every block, so a size that
 * the library states wrongly fails the test, and new memory is filled with a pattern, so that what is
 * read before it is written shows. */
#ifndef TEST_SUPPORT_HEAP_H
#define TEST_SUPPORT_HEAP_H

#include "support/check.h"

#include <hamel/hamel.h>

typedef struct heap_calls heap_calls; /* heap.c */

typedef struct failing_heap {
    bool armed; /* allocations count (heap_arm) */
    long
        fail_at; /* the allocation with this number fails, and with `stay` all after it; -1: none */
    bool stay;
    long count; /* since it was armed */
    size_t live_bytes, live_blocks;
    heap_calls *calls; /* where not NULL, filled with the calls that lead to allocations */
} failing_heap;

hm_allocator heap_allocator(failing_heap *heap);
/* Counting begins: what was allocated before never fails. */
void heap_arm(failing_heap *heap);
void heap_disarm(failing_heap *heap);

/* How many allocations a long loop tries: test builds are slow and allocate every piece by itself
 * (src/base/memory.c). */
#if defined HAMEL_SANITIZE
enum { HEAP_TRIES = 100 };
#else
enum { HEAP_TRIES = 600 };
#endif
enum { HEAP_ALL = 1000000 };

/* What is tried: makes its objects from the heap, arms it where failing shall begin, and leaves
 * nothing behind. */
typedef hm_status (*heap_function)(failing_heap *heap, const void *user);

typedef enum heap_strictness {
    HEAP_MUST_NOTICE, /* a failure is reported as HM_ERR_NOMEM */
    HEAP_MAY_DO       /* or the call does without that memory and succeeds */
} heap_strictness;

/* Runs once to count the allocations, then fails each of them, or at most so many: those that every
 * call which leads to one sees first, and others spread evenly.
 * Nothing may leak. Returns how many were reported. */
long heap_fail_each(heap_function run, const void *user, long most, heap_strictness strictness);

#endif
