/* Out of memory during analysis: allocation k of ours fails, for k spread over the whole. Nothing
 * leaks and the status says so. (FLINT's own allocations cannot fail without ending the process.) */
#include "support/heap.h"

#include <hamel/hamel.h>

#include <stdio.h>

static hm_status analyse(const hm_system *system)
{
    hm_analysis *analysis = NULL;
    hm_status status = hm_system_analyse(system, &analysis);
    if (status == HM_OK)
        hm_analysis_destroy(analysis);
    return status;
}

static hm_status find_symmetries(const hm_system *system)
{
    hm_symmetries *found = NULL;
    hm_status status = hm_symmetries_find(system, NULL, &found);
    if (status == HM_OK)
        hm_symmetries_destroy(found);
    return status;
}

static hm_status look_at_energy(const hm_system *system)
{
    hm_energy energy;
    return hm_system_energy(system, &energy, NULL);
}

typedef hm_status (*stage)(const hm_system *system);

static hm_status fail_at(failing_heap *h, const hm_system *system, stage what, long k)
{
    h->count = 0;
    h->fail_at = k;
    hm_status status = what(system);
    h->fail_at = -1;
    return status;
}

static void fail_everywhere(const char *file, stage what, long tries)
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
    assert_int_equal(what(system), HM_OK); /* the first time makes the system's machine code, too */
    assert_int_equal(fail_at(&h, system, what, -1), HM_OK);
    long count = h.count, step = count / tries + 1;
    for (long k = 0; k < count; k += step) {
        size_t live = h.live_bytes;
        hm_status status = fail_at(&h, system, what, k);
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
    fail_everywhere("examples/skate", analyse, 150);
    fail_everywhere("test/cases/classify/flannery-42", analyse, 150);
}

static void on_a_manifold(void **state)
{
    (void)state;
    fail_everywhere("test/cases/classify/on-sphere", analyse, 100);
}

static void quadratic(void **state)
{
    (void)state;
    fail_everywhere("test/cases/classify/coin-57-58", analyse, 100);
    fail_everywhere("test/cases/classify/sqrt-at-zero", analyse, 60);
}

static void combinations(void **state)
{
    (void)state;
    fail_everywhere("test/cases/classify/hidden-factor", analyse, 100);
    fail_everywhere("test/cases/classify/no-closed-form", analyse, 100);
    fail_everywhere("test/cases/classify/coin-root", analyse, 60);
}

static void symmetries(void **state)
{
    (void)state;
    fail_everywhere("examples/coin", find_symmetries, 150);
    fail_everywhere("examples/spherical-pendulum", find_symmetries, 80);
}

static void energy(void **state)
{
    (void)state;
    fail_everywhere("examples/skate", look_at_energy, 80);
    fail_everywhere("examples/manipulator", look_at_energy, 80);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear),     cmocka_unit_test(on_a_manifold),
        cmocka_unit_test(quadratic),  cmocka_unit_test(combinations),
        cmocka_unit_test(symmetries), cmocka_unit_test(energy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
