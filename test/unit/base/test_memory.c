/* Arenas, arrays, sorting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/sort.h"

typedef struct heap {
    size_t live, blocks;
    long allowed; /* allocations left; negative: any number */
} heap;

static void *counting_resize(void *user, void *ptr, size_t old_size, size_t new_size)
{
    heap *h = user;
    if (new_size == 0) {
        h->live -= old_size;
        h->blocks--;
        free(ptr);
        return NULL;
    }
    if (h->allowed == 0)
        return NULL;
    h->allowed -= h->allowed > 0;
    h->live += new_size - old_size;
    h->blocks += ptr == NULL;
    return realloc(ptr, new_size);
}

/* ---- arenas ---- */

static void test_arena(void **state)
{
    (void)state;
    heap h = {.allowed = -1};
    const hm_allocator allocator = {counting_resize, &h};
    hmi_arena arena;
    hmi_arena_init(&arena, &allocator);
    assert_int_equal(h.blocks, 0); /* an arena that is not used costs nothing */
    for (size_t size = 0; size < 3000; size++) {
        unsigned char *memory = hmi_arena_alloc(&arena, size);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % _Alignof(max_align_t), 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(memory[i], 0);
        memset(memory, 0xFF, size); /* must not reach the next piece */
    }
    hmi_arena_release(&arena);
    assert_int_equal(h.live, 0);
    hmi_arena_release(&arena);
}

static void test_arena_large(void **state)
{
    (void)state;
    heap h = {.allowed = -1};
    const hm_allocator allocator = {counting_resize, &h};
    hmi_arena arena;
    hmi_arena_init(&arena, &allocator);
    char *small = hmi_arena_text(&arena, "abc", 3), *large = hmi_arena_alloc(&arena, 50 << 20);
    assert_non_null(large);
    large[(50 << 20) - 1] = 1;
    assert_string_equal(small, "abc");
    assert_null(hmi_arena_alloc(&arena, SIZE_MAX));
    assert_null(hmi_arena_alloc(&arena, SIZE_MAX - 8));
    assert_string_equal(hmi_arena_text(&arena, "a\0b", 1), "a");
    hmi_arena_release(&arena);
    assert_int_equal(h.live, 0);
}

static void test_arena_without_memory(void **state)
{
    (void)state;
    heap h = {.allowed = 1};
    const hm_allocator allocator = {counting_resize, &h};
    hmi_arena arena;
    hmi_arena_init(&arena, &allocator);
    assert_non_null(hmi_arena_alloc(&arena, 100));
    assert_null(hmi_arena_alloc(&arena, 100000));
#if !defined HAMEL_SANITIZE && !defined HAMEL_COVERAGE /* there every piece has its own block */
    assert_non_null(hmi_arena_alloc(&arena, 16));      /* what is left of the block still serves */
#endif
    hmi_arena_release(&arena);
    assert_int_equal(h.live, 0);
}

/* ---- arrays ---- */

static void test_array(void **state)
{
    (void)state;
    heap h = {.allowed = -1};
    const hm_allocator allocator = {counting_resize, &h};
    HMI_ARRAY(uint32_t) list = {0};
    for (uint32_t i = 0; i < 100000; i++)
        assert_true(hmi_array_push(&allocator, &list, i * i));
    assert_int_equal(list.count, 100000);
    for (uint32_t i = 0; i < 100000; i++)
        assert_int_equal(list.data[i], i * i);
    assert_int_equal(h.live, list.capacity * sizeof *list.data);
    size_t capacity = list.capacity, room = capacity - list.count;
    assert_true(hmi_array_reserve(&allocator, &list, room)); /* there already */
    assert_int_equal(list.capacity, capacity);
    hmi_array_release(&allocator, &list);
    assert_int_equal(h.live, 0);
    assert_int_equal(list.count, 0);
    assert_null(list.data);
}

/* A failed growth leaves the array as it was. */
static void test_array_without_memory(void **state)
{
    (void)state;
    heap h = {.allowed = 1};
    const hm_allocator allocator = {counting_resize, &h};
    HMI_ARRAY(int) list = {0};
    int pushed = 0;
    while (hmi_array_push(&allocator, &list, pushed))
        pushed++;
    assert_int_equal(list.count, pushed);
    assert_true(pushed > 0);
    for (int i = 0; i < pushed; i++)
        assert_int_equal(list.data[i], i);
    assert_false(hmi_array_reserve(&allocator, &list, SIZE_MAX / 2));
    hmi_array_release(&allocator, &list);
    assert_int_equal(h.live, 0);
}

/* ---- sorting ---- */

typedef struct item {
    int key, other;
} item;

static int by_key(const void *a, const void *b)
{
    const item *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

static void test_sort(void **state)
{
    (void)state;
    static item list[2000];
    for (size_t count = 0; count < 2000; count = count * 2 + 1)
        for (int order = 0; order < 4; order++) {
            long sum = 0, expected = 0;
            for (size_t i = 0; i < count; i++) {
                int n = (int)i;
                list[i].key = order == 0 ? n : order == 1 ? -n : order == 2 ? n * 7919 % 1009 : 5;
                list[i].other = list[i].key * 3;
                expected += list[i].key;
            }
            hmi_sort(list, count, sizeof *list, by_key);
            for (size_t i = 0; i < count; i++) {
                assert_true(i == 0 || list[i - 1].key <= list[i].key);
                assert_int_equal(list[i].other, list[i].key * 3);
                sum += list[i].key;
            }
            assert_int_equal(sum, expected);
        }
}

/* ---- the default allocator ---- */

static void test_default_allocator(void **state)
{
    (void)state;
    const hm_allocator allocator = hm_allocator_default();
    char *memory = hmi_alloc(&allocator, 0); /* never NULL for an empty block */
    assert_non_null(memory);
    hmi_free(&allocator, memory, 1);
    HMI_ARRAY(char) text = {0};
    assert_true(hmi_array_reserve(&allocator, &text, 10));
    memcpy(text.data, "012345678", 10);
    text.count = 10;
    assert_true(hmi_array_reserve(&allocator, &text, 10000));
    assert_string_equal(text.data, "012345678");
    hmi_array_release(&allocator, &text);
    hmi_free(&allocator, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arena),
        cmocka_unit_test(test_arena_large),
        cmocka_unit_test(test_arena_without_memory),
        cmocka_unit_test(test_array),
        cmocka_unit_test(test_array_without_memory),
        cmocka_unit_test(test_sort),
        cmocka_unit_test(test_default_allocator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
