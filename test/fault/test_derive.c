/* Out of memory while `derive` writes: allocation k fails, for k spread over the whole run, in every
 * format. Nothing leaks, and the status says so. A writer that stops is HM_ERR_IO. */
#include "support/heap.h"

#include <hamel/hamel.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool swallow(void *user, const char *bytes, size_t length)
{
    (void)bytes;
    *(size_t *)user += length;
    return true;
}

static bool refuse(void *user, const char *bytes, size_t length)
{
    (void)bytes;
    return (*(size_t *)user += length) < 100;
}

typedef struct subject {
    failing_heap heap;
    hm_context *context;
    hm_model *model;
    hm_system *system;
} subject;

static void open_context(subject *s)
{
    *s = (subject){.heap = {.armed = true, .fail_at = -1}};
    const hm_allocator allocator = heap_allocator(&s->heap);
    s->context = hm_context_create(&allocator);
    assert_non_null(s->context);
}

static void open_subject(subject *s, const char *example)
{
    char path[600];
    open_context(s);
    snprintf(path, sizeof path, "%s/%s.hamel", HAMEL_SOURCE_DIR, example);
    assert_int_equal(hm_model_load(s->context, path, NULL, &s->model), HM_OK);
    assert_int_equal(hm_system_create(s->model, &s->system), HM_OK);
}

static void close_subject(subject *s)
{
    hm_system_destroy(s->system);
    hm_model_destroy(s->model);
    hm_context_destroy(s->context);
    assert_int_equal(s->heap.live_bytes, 0);
}

static hm_status derive(subject *s, hm_format format, long fail_at)
{
    size_t written = 0, live = s->heap.live_bytes;
    s->heap.count = 0;
    s->heap.fail_at = fail_at;
    hm_status status = hm_system_derive(s->system, format, swallow, &written);
    s->heap.fail_at = -1;
    assert_int_equal(s->heap.live_bytes, live);
    assert_true(status != HM_OK || written > 100);
    return status;
}

static void fail_everywhere(const char *example, int tries)
{
    subject s;
    open_subject(&s, example);
    for (hm_format format = HM_FORMAT_TEXT; format <= HM_FORMAT_C; format++) {
        assert_int_equal(derive(&s, format, -1), HM_OK);
        long count = s.heap.count, step = count / tries + 1;
        for (long k = 0; k < count; k += step)
            assert_int_equal(derive(&s, format, k), HM_ERR_NOMEM);
        for (long k = count > tries ? count - tries : 0; k < count; k++) /* the writing itself */
            assert_int_equal(derive(&s, format, k), HM_ERR_NOMEM);
    }
    close_subject(&s);
}

/* Every allocation, of a model so small that there are few. */
static void test_every_allocation(void **state)
{
    (void)state;
    static const char text[] = "coord x; state w' = x; input u = w\nkinetic (x' + t)^2/2\n"
                               "constraint x = t; servo s: x' = 1 with gain 1; nonideal x = -x'\n";
    subject s;
    open_context(&s);
    assert_int_equal(hm_model_parse(s.context, text, strlen(text), NULL, &s.model), HM_OK);
    assert_int_equal(hm_system_create(s.model, &s.system), HM_OK);
    for (hm_format format = HM_FORMAT_TEXT; format <= HM_FORMAT_C; format++) {
        assert_int_equal(derive(&s, format, -1), HM_OK);
        long count = s.heap.count;
        assert_true(count > 10);
        for (long k = 0; k < count; k++)
            assert_int_equal(derive(&s, format, k), HM_ERR_NOMEM);
    }
    close_subject(&s);
}

static void test_small(void **state)
{
    (void)state;
    fail_everywhere("examples/skate", 100);
    fail_everywhere("examples/ellipse", 30);
}

static void test_names_and_servos(void **state)
{
    (void)state;
    fail_everywhere("test/golden/names", 15);
    fail_everywhere("examples/manipulator", 15);
    fail_everywhere("examples/heavy-top-quaternion", 6);
}

static void test_refused(void **state)
{
    (void)state;
    subject s;
    open_subject(&s, "examples/swarm");
    for (hm_format format = HM_FORMAT_TEXT; format <= HM_FORMAT_C; format++) {
        size_t written = 0;
        assert_int_equal(hm_system_derive(s.system, format, refuse, &written), HM_ERR_IO);
    }
    close_subject(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_allocation),
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_names_and_servos),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
