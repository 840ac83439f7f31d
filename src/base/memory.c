/* The default allocator, arenas, and how arrays grow. */
#define _DEFAULT_SOURCE /* madvise */
#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

/* Asks for huge pages under a large block: systems of a million coordinates wait for the translation
 * of addresses otherwise, in tables of expressions as in the arrays of a step. The answer does not
 * matter. */
static void ask_for_huge_pages(void *block, size_t size)
{
#ifdef MADV_HUGEPAGE
    const uintptr_t huge = (uintptr_t)1 << 21;
    if (!block || size < 2 * huge)
        return;
    uintptr_t first = ((uintptr_t)block + huge - 1) & ~(huge - 1);
    uintptr_t end = ((uintptr_t)block + size) & ~(huge - 1);
    if (first < end)
        (void)madvise((void *)first, end - first, MADV_HUGEPAGE);
#else
    (void)block, (void)size;
#endif
}

static void *default_resize(void *user, void *ptr, size_t old_size, size_t new_size)
{
    (void)user;
    (void)old_size;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    void *block = realloc(ptr, new_size);
    ask_for_huge_pages(block, new_size);
    return block;
}

hm_allocator hm_allocator_default(void)
{
    return (hm_allocator){default_resize, NULL};
}

void *hmi_alloc(const hm_allocator *allocator, size_t size)
{
    return allocator->resize(allocator->user, NULL, 0, size ? size : 1);
}

void hmi_free(const hm_allocator *allocator, void *ptr, size_t size)
{
    if (ptr)
        allocator->resize(allocator->user, ptr, size, 0);
}

/* ---- budgets ---- */

/* Counts `more` bytes in place of `less`; false where the limit does not allow it. */
static bool count_bytes(hmi_budget *b, size_t less, size_t more)
{
    size_t used = atomic_fetch_add_explicit(&b->used, more - less, memory_order_relaxed) + more -
                  less;
    if (more > less && used > b->limit) {
        atomic_fetch_sub_explicit(&b->used, more - less, memory_order_relaxed);
        atomic_store_explicit(&b->exceeded, true, memory_order_relaxed);
        return false;
    }
    size_t peak = atomic_load_explicit(&b->peak, memory_order_relaxed);
    while (used > peak && !atomic_compare_exchange_weak_explicit(
                              &b->peak, &peak, used, memory_order_relaxed, memory_order_relaxed))
        continue;
    return true;
}

static void *budget_resize(void *user, void *ptr, size_t old_size, size_t new_size)
{
    hmi_budget *b = user;
    if (new_size == 0) {
        count_bytes(b, old_size, 0);
        return b->inner.resize(b->inner.user, ptr, old_size, 0);
    }
    void *block = NULL;
    if (count_bytes(b, old_size, new_size)) {
        block = b->inner.resize(b->inner.user, ptr, old_size, new_size);
        if (!block)
            count_bytes(b, new_size, old_size);
    }
    if (!block)
        atomic_store_explicit(&b->failed, true, memory_order_relaxed);
    return block;
}

void hmi_budget_init(hmi_budget *budget, const hm_allocator *inner, size_t limit)
{
    budget->inner = *inner;
    budget->limit = limit;
    atomic_init(&budget->used, 0);
    atomic_init(&budget->peak, 0);
    atomic_init(&budget->failed, false);
    atomic_init(&budget->exceeded, false);
}

hm_allocator hmi_budget_allocator(hmi_budget *budget)
{
    return (hm_allocator){budget_resize, budget};
}

struct hmi_arena_block {
    hmi_arena_block *next;
    size_t size; /* of the whole block, this header included */
    max_align_t data[];
};

/* In test builds every piece has a block of its own, so that the sanitizers see a write past its end
 * and tests that make an allocation fail reach each piece. */
#if defined HAMEL_SANITIZE || defined HAMEL_COVERAGE
enum { ARENA_FIRST_BLOCK = 0, ARENA_LARGEST_BLOCK = 1 };
#else
enum { ARENA_FIRST_BLOCK = 4096, ARENA_LARGEST_BLOCK = 1 << 20 };
#endif

void hmi_arena_init(hmi_arena *arena, const hm_allocator *allocator)
{
    *arena = (hmi_arena){.allocator = allocator, .next_size = ARENA_FIRST_BLOCK};
}

void hmi_arena_release(hmi_arena *arena)
{
    hmi_arena_block *block = arena->blocks;
    while (block) {
        hmi_arena_block *next = block->next;
        hmi_free(arena->allocator, block, block->size);
        block = next;
    }
    arena->blocks = NULL;
    arena->used = 0;
}

static bool add_block(hmi_arena *arena, size_t payload)
{
    size_t size = arena->next_size;
    if (size < payload + sizeof(hmi_arena_block))
        size = payload + sizeof(hmi_arena_block);
    hmi_arena_block *block = hmi_alloc(arena->allocator, size);
    if (!block)
        return false;
    block->next = arena->blocks;
    block->size = size;
    arena->blocks = block;
    arena->used = sizeof(hmi_arena_block);
    if (arena->next_size < ARENA_LARGEST_BLOCK)
        arena->next_size *= 2;
    return true;
}

void *hmi_arena_alloc(hmi_arena *arena, size_t size)
{
    const size_t align = sizeof(max_align_t) < 16 ? 16 : _Alignof(max_align_t);
    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + align - 1) / align * align;
    if (!arena->blocks || arena->blocks->size - arena->used < size)
        if (!add_block(arena, size))
            return NULL;
    void *result = (char *)arena->blocks + arena->used;
    arena->used += size;
    return memset(result, 0, size);
}

double *hmi_arena_doubles(hmi_arena *arena, size_t count, bool *failed)
{
    double *memory = hmi_arena_alloc(arena, (count ? count : 1) * sizeof *memory);
    *failed |= !memory;
    return memory;
}

char *hmi_arena_text(hmi_arena *arena, const char *text, size_t length)
{
    char *copy = hmi_arena_alloc(arena, length + 1);
    if (copy && length)
        memcpy(copy, text, length);
    return copy;
}

bool hmi_array_grow(const hm_allocator *allocator, void **data, size_t *capacity, size_t count,
                    size_t extra, size_t element_size)
{
    if (extra <= *capacity - count)
        return true;
    size_t wanted = *capacity ? *capacity * 2 : 8;
    if (wanted < count + extra)
        wanted = count + extra;
    if (wanted > SIZE_MAX / 2 / element_size)
        return false;
    void *grown = allocator->resize(allocator->user, *data, *capacity * element_size,
                                    wanted * element_size);
    if (!grown)
        return false;
    *data = grown;
    *capacity = wanted;
    return true;
}
