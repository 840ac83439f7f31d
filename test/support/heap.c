#include "support/heap.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if __has_include(<execinfo.h>)
#include <execinfo.h>
#else
#define backtrace(frames, most) 0 /* no calls are known: failures are spread evenly */
#endif

typedef struct block {
    size_t size;
    max_align_t data[];
} block;

static block *block_of(void *ptr)
{
    return (block *)((char *)ptr - offsetof(block, data));
}

/* ---- calls that lead to an allocation ---- */

/* Every call on the way to an allocation hands its failure on. Each is tried once by failing the
 * first allocation that it leads to, whatever the thousands that follow. */
enum { MOST_FRAMES = 64, MOST_CALLS = 1 << 14, SLOTS = 4 * MOST_CALLS };

struct heap_calls {
    size_t count, first_count;
    long first[MOST_CALLS];   /* allocations with a call that no allocation before had */
    const void *known[SLOTS]; /* calls met so far, by hash of the address */
};

/* true: not met before. */
static bool note_call(heap_calls *calls, const void *call)
{
    size_t at = ((uintptr_t)call * 11400714819323198485u >> 32) % SLOTS;
    while (calls->known[at] && calls->known[at] != call)
        at = (at + 1) % SLOTS;
    if (calls->known[at] || calls->count == MOST_CALLS)
        return false;
    calls->known[at] = call;
    calls->count++;
    return true;
}

static void note_way(heap_calls *calls, long number)
{
    void *frame[MOST_FRAMES];
    bool any = false;
    int depth = backtrace(frame, MOST_FRAMES);
    for (int i = 0; i < depth; i++)
        any |= note_call(calls, frame[i]);
    if (any)
        calls->first[calls->first_count++] = number;
}

static bool fails_now(failing_heap *h)
{
    if (!h->armed)
        return false;
    long number = h->count++;
    if (h->calls)
        note_way(h->calls, number);
    return h->fail_at >= 0 && (h->stay ? number >= h->fail_at : number == h->fail_at);
}

static void *failing_resize(void *user, void *ptr, size_t old_size, size_t new_size)
{
    failing_heap *h = user;
    block *old = ptr ? block_of(ptr) : NULL;
    assert_int_equal(old ? old->size : 0, old_size);
    if (new_size == 0) {
        h->live_bytes -= old_size;
        h->live_blocks -= old != NULL;
        free(old);
        return NULL;
    }
    if (fails_now(h))
        return NULL;
    block *grown = malloc(offsetof(block, data) + new_size);
    assert_non_null(grown);
    grown->size = new_size;
    memset(grown->data, 0xA5, new_size);
    if (old)
        memcpy(grown->data, old->data, old_size < new_size ? old_size : new_size);
    free(old);
    h->live_bytes += new_size - old_size;
    h->live_blocks += old == NULL;
    return grown->data;
}

hm_allocator heap_allocator(failing_heap *heap)
{
    return (hm_allocator){failing_resize, heap};
}

void heap_arm(failing_heap *heap)
{
    heap->armed = true;
    heap->count = 0;
}

void heap_disarm(failing_heap *heap)
{
    heap->armed = false;
}

static hm_status fail_one(heap_function run, const void *user, long k, long *count,
                          heap_calls *calls)
{
    failing_heap h = {.fail_at = k, .calls = calls};
    hm_status status = run(&h, user);
    if (h.live_bytes || h.live_blocks)
        fail_msg("allocation %ld: %zu bytes leaked", k, h.live_bytes);
    *count = h.count;
    return status;
}

/* The i-th of `most` numbers spread evenly below count. */
static long spread(long i, long most, long count)
{
    return (long)((double)i / (double)most * (double)count);
}

/* Which allocations fail: all, or those with a new call (most of the tries) and
 * others spread evenly. Returns how many. */
static long choose_failures(heap_function run, const void *user, long most, long **chosen)
{
    long count, used = 0;
    heap_calls *calls = calloc(1, sizeof *calls);
    assert_non_null(calls);
    assert_int_equal(fail_one(run, user, -1, &count, calls), HM_OK);
    long even = count <= most ? count : most / 8;
    long by_call = count <= most ? 0 : (long)calls->first_count;
    long kept = by_call <= most - even ? by_call : most - even;
    *chosen = malloc((size_t)(even + kept + 1) * sizeof **chosen);
    assert_non_null(*chosen);
    for (long i = 0; i < kept; i++)
        (*chosen)[used++] = calls->first[spread(i, kept, by_call)];
    for (long i = 0; i < even; i++)
        (*chosen)[used++] = spread(i, even, count);
    free(calls);
    return used;
}

long heap_fail_each(heap_function run, const void *user, long most, heap_strictness strictness)
{
    long reported = 0, made, *chosen;
    long count = choose_failures(run, user, most, &chosen);
    for (long i = 0; i < count; i++) {
        long k = chosen[i];
        hm_status status = fail_one(run, user, k, &made, NULL);
        if (status == HM_OK && strictness == HEAP_MUST_NOTICE)
            fail_msg("allocation %ld failed and nobody noticed", k);
        if (status != HM_OK && status != HM_ERR_NOMEM)
            fail_msg("allocation %ld: %s", k, hm_status_text(status));
        reported += status == HM_ERR_NOMEM;
    }
    free(chosen);
    return reported;
}
