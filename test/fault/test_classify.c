/* Out of memory during analysis: allocation k of ours fails, for k spread over the whole. Nothing
 * leaks and the status says so. (FLINT's own allocations cannot fail without ending the process.) */
#include "support/heap.h"

#include <hamel/hamel.h>

#include <stdio.h>

static hm_status analyse(failing_heap *h, const hm_system *system, long fail_at)
{
    hm_analysis *analysis = NULL;
    h->count = 0;
    h->fail_at = fail_at;
    hm_status status = hm_system_analyse(system, &analysis);
    h->fail_at = -1;
    if (status == HM_OK)
        hm_analysis_destroy(analysis);
    return status;
}

static void fail_everywhere(const char *file, long tries)
{
    char path[600];
    failing_heap h = {.armed = true, .fail_at = -1};
    const hm_allocator allocator = heap_allocator(&h);
    hm_model *model = NULL;
    hm_system *system = NULL;
    snprintf(path, sizeof path, "%s/%s.hamel", HAMEL_SOURCE_DIR, file);
    hm_context *context = hm_context_create(&allocator);
    assert_non_null(context);
    assert_int_equal(hm_model_load(context, path, NULL, &model), HM_OK);
    assert_int_equal(hm_system_create(model, &system), HM_OK);
    assert_int_equal(analyse(&h, system, -1), HM_OK);
    long count = h.count, step = count / tries + 1;
    for (long k = 0; k < count; k += step) {
        size_t live = h.live_bytes;
        hm_status status = analyse(&h, system, k);
        if (status != HM_ERR_NOMEM)
            fail_msg("%s, allocation %ld of %ld: %s", file, k, count, hm_status_text(status));
        assert_true(h.live_bytes <= live + 4096); /* messages stay in the context */
    }
    hm_system_destroy(system);
    hm_model_destroy(model);
    hm_context_destroy(context);
    assert_int_equal(h.live_bytes, 0);
}

static void linear(void **state)
{
    (void)state;
    fail_everywhere("examples/skate", 150);
    fail_everywhere("test/cases/classify/flannery-42", 150);
}

static void on_a_manifold(void **state)
{
    (void)state;
    fail_everywhere("test/cases/classify/on-sphere", 100);
}

static void quadratic(void **state)
{
    (void)state;
    fail_everywhere("test/cases/classify/coin-57-58", 100);
    fail_everywhere("test/cases/classify/sqrt-at-zero", 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear),
        cmocka_unit_test(on_a_manifold),
        cmocka_unit_test(quadratic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
