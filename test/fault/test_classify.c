/* Out of memory during analysis: allocation k of ours fails, for k spread over the whole. Nothing
 * leaks and the status says so. (FLINT's own allocations cannot fail without ending the process.) */
#include "support/heap.h"

#include <hamel/hamel.h>

#include <stdio.h>

static hm_status analyse(hm_context *context, const hm_system *system)
{
    (void)context;
    hm_analysis *analysis = NULL;
    hm_status status = hm_system_analyse(context, system, &analysis);
    if (status == HM_OK)
        hm_analysis_destroy(analysis);
    return status;
}

static hm_status find_symmetries(hm_context *context, const hm_system *system)
{
    (void)context;
    hm_symmetries *found = NULL;
    hm_status status = hm_symmetries_find(system, NULL, &found);
    if (status == HM_OK)
        hm_symmetries_destroy(found);
    return status;
}

static hm_status look_at_energy(hm_context *context, const hm_system *system)
{
    (void)context;
    hm_energy energy;
    return hm_system_energy(system, &energy, NULL);
}

typedef struct subject {
    const char *file;
    hm_status (*what)(hm_context *context, const hm_system *system);
} subject;

static hm_status fail_during(failing_heap *h, const void *user)
{
    const subject *now = user;
    char path[600];
    const hm_allocator allocator = heap_allocator(h);
    hm_model *model = NULL;
    hm_system *system = NULL;
    snprintf(path, sizeof path, "%s/%s.hamel", HAMEL_SOURCE_DIR, now->file);
    hm_context *context = hm_context_create(&allocator);
    assert_non_null(context);
    assert_int_equal(hm_model_load(context, path, NULL, &model), HM_OK);
    assert_int_equal(hm_system_create(model, &system), HM_OK);
    heap_arm(h);
    hm_status status = now->what(context, system);
    heap_disarm(h);
    hm_system_destroy(system);
    hm_model_destroy(model);
    hm_context_destroy(context);
    return status;
}

#ifdef HAMEL_COVERAGE /* every piece is an allocation there */
enum { TRIES = HEAP_TRIES * 3 / 4 };
#else
enum { TRIES = HEAP_TRIES / 2 };
#endif

static void fail_each(const char *file, hm_status (*what)(hm_context *context, const hm_system *),
                      heap_strictness strictness)
{
    const subject now = {file, what};
    long reported = heap_fail_each(fail_during, &now, TRIES, strictness);
    print_message("%s: %ld failed allocations\n", file, reported);
    assert_true(reported > 20);
}

static void fail_everywhere(const char *file,
                            hm_status (*what)(hm_context *context, const hm_system *))
{
    fail_each(file, what, HEAP_MUST_NOTICE);
}

static void linear(void **state)
{
    (void)state;
    fail_everywhere("examples/skate", analyse);
    fail_everywhere("test/cases/classify/flannery-42", analyse);
    fail_everywhere("test/cases/classify/zero-coefficient", analyse);
}

static void on_a_manifold(void **state)
{
    (void)state;
    fail_everywhere("test/cases/classify/on-sphere", analyse);
}

static void quadratic(void **state)
{
    (void)state;
    fail_everywhere("test/cases/classify/coin-57-58", analyse);
    fail_everywhere("test/cases/classify/sqrt-at-zero", analyse);
    fail_each("test/cases/classify/squares-on-others", analyse,
              HEAP_MAY_DO); /* a warning is lost */
    fail_everywhere("test/cases/classify/branches-at-rest", analyse);
}

static void combinations(void **state)
{
    (void)state;
    fail_everywhere("test/cases/classify/hidden-factor", analyse);
    fail_everywhere("test/cases/classify/hidden-scaled", analyse);
    fail_everywhere("test/cases/classify/tangent-factor", analyse);
    fail_everywhere("test/cases/classify/no-closed-form", analyse);
    fail_everywhere("test/cases/classify/coin-root", analyse);
}

static void symmetries(void **state)
{
    (void)state;
    fail_everywhere("examples/coin", find_symmetries);
    fail_everywhere("examples/spherical-pendulum", find_symmetries);
}

static void energy(void **state)
{
    (void)state;
    fail_everywhere("examples/skate", look_at_energy);
    fail_everywhere("examples/manipulator", look_at_energy);
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
