#include "support/heap.h"

#include <stdlib.h>
#include <string.h>

typedef struct block {
    size_t size;
    max_align_t data[];
} block;

static block *block_of(void *ptr)
{
    return (block *)((char *)ptr - offsetof(block, data));
}

static bool fails_now(failing_heap *h)
{
    if (!h->armed)
        return false;
    long number = h->count++;
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

long heap_fail_each(heap_function run, const void *user, long stride, heap_strictness strictness)
{
    long reported = 0;
    for (long k = 0;; k += stride) {
        failing_heap h = {.fail_at = k};
        hm_status status = run(&h, user);
        if (h.live_bytes || h.live_blocks)
            fail_msg("allocation %ld: %zu bytes leaked", k, h.live_bytes);
        if (h.count <= k) {
            assert_int_equal(status, HM_OK);
            return reported;
        }
        if (status == HM_OK && strictness == HEAP_MUST_NOTICE)
            fail_msg("allocation %ld failed and nobody noticed", k);
        if (status != HM_OK && status != HM_ERR_NOMEM)
            fail_msg("allocation %ld: %s", k, hm_status_text(status));
        reported += status == HM_ERR_NOMEM;
    }
}
