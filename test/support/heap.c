#include "support/heap.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if __has_include(<execinfo.h>)
#include <execinfo.h>
#else
#define backtrace(frames, most) 0 /* all ways look the same: failures are spread evenly */
#endif

typedef struct block {
    size_t size;
    max_align_t data[];
} block;

static block *block_of(void *ptr)
{
    return (block *)((char *)ptr - offsetof(block, data));
}

/* ---- ways to an allocation ---- */

/* A way is the stack of calls that leads to an allocation, known by a hash for every depth seen from
 * the allocation. Code that handles a failure is reached by failing each way once, whatever the
 * thousands of times it is gone. */
enum { DEEPEST = 24, MOST_WAYS = 1 << 14, SLOTS = 4 * MOST_WAYS };

typedef struct way {
    long number; /* the first allocation made this way */
    uint64_t hash[DEEPEST];
} way;

struct heap_ways {
    size_t count;
    way list[MOST_WAYS];
    uint32_t slot[SLOTS]; /* by hash of the deepest: 1 + index in the list */
};

static void note_way(heap_ways *ways, long number)
{
    void *frame[DEEPEST] = {0};
    way now = {.number = number};
    uint64_t hash = 14695981039346656037u;
    (void)backtrace(frame, DEEPEST);
    for (size_t d = 0; d < DEEPEST; d++) {
        hash = (hash ^ (uint64_t)(uintptr_t)frame[d]) * 1099511628211u;
        now.hash[d] = hash ^= hash >> 32;
    }
    size_t at = hash % SLOTS;
    while (ways->slot[at] && ways->list[ways->slot[at] - 1].hash[DEEPEST - 1] != hash)
        at = (at + 1) % SLOTS;
    if (ways->slot[at] || ways->count == MOST_WAYS)
        return;
    ways->list[ways->count++] = now;
    ways->slot[at] = (uint32_t)ways->count;
}

typedef struct seen {
    uint64_t hash;
    long number;
} seen;

static int compare_seen(const void *a, const void *b)
{
    const seen *x = a, *y = b;
    int order = (x->hash > y->hash) - (x->hash < y->hash);
    return order ? order : (x->number > y->number) - (x->number < y->number);
}

/* The first allocation of every way, of those that differ within so many calls; returns how many. */
static size_t first_of_ways(const heap_ways *ways, int depth, long *number)
{
    size_t count = 0;
    seen *list = malloc((ways->count + 1) * sizeof *list);
    assert_non_null(list);
    for (size_t i = 0; i < ways->count; i++)
        list[i] = (seen){ways->list[i].hash[depth - 1], ways->list[i].number};
    qsort(list, ways->count, sizeof *list, compare_seen);
    for (size_t i = 0; i < ways->count; i++)
        if (i == 0 || list[i].hash != list[i - 1].hash)
            number[count++] = list[i].number;
    free(list);
    return count;
}

static bool fails_now(failing_heap *h)
{
    if (!h->armed)
        return false;
    long number = h->count++;
    if (h->ways)
        note_way(h->ways, number);
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

static hm_status fail_one(heap_function run, const void *user, long k, long *count, heap_ways *ways)
{
    failing_heap h = {.fail_at = k, .ways = ways};
    hm_status status = run(&h, user);
    if (h.live_bytes || h.live_blocks)
        fail_msg("allocation %ld: %zu bytes leaked", k, h.live_bytes);
    *count = h.count;
    return status;
}

/* Which allocations fail: all, or else the first of every way and the rest spread evenly. */
static long choose_failures(heap_function run, const void *user, long most, long **chosen)
{
    long count, used = 0;
    heap_ways *ways = calloc(1, sizeof *ways);
    assert_non_null(ways);
    assert_int_equal(fail_one(run, user, -1, &count, ways), HM_OK);
    *chosen = malloc((ways->count + (size_t)most + 1) * sizeof **chosen);
    assert_non_null(*chosen);
    for (int depth = DEEPEST; depth > 0 && count > most && (depth == DEEPEST || used > most);
         depth--)
        used = (long)first_of_ways(ways, depth, *chosen);
    for (long k = 0, left = most - used; k < count && left > 0; k += count / left + 1)
        (*chosen)[used++] = k;
    free(ways);
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
