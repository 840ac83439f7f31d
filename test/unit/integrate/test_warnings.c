/* Warnings of a run: kept once, and where one cannot be kept the result says so. */
#include "integrate/run/run.h"
#include "support/heap.h"

#include <string.h>

typedef struct run {
    failing_heap heap;
    hm_allocator allocator;
    hm_context *context;
    hm_model *model;
    hm_system *system;
    hm_sim *sim;
} run;

static hmi_run *open_run(run *r)
{
    static const char text[] = "coord x; kinetic x'^2/2; simulate 0 .. 1";
    *r = (run){.heap.fail_at = -1};
    r->allocator = heap_allocator(&r->heap);
    r->context = hm_context_create(&r->allocator);
    assert_int_equal(hm_model_parse(r->context, text, strlen(text), NULL, &r->model), HM_OK);
    assert_int_equal(hm_system_create(r->model, &r->system), HM_OK);
    assert_int_equal(hm_sim_create(r->system, &r->sim), HM_OK);
    assert_int_equal(hm_sim_start(r->sim, NULL), HM_OK);
    return hmi_run_of(r->sim);
}

static void close_run(run *r)
{
    hm_sim_destroy(r->sim);
    hm_system_destroy(r->system);
    hm_model_destroy(r->model);
    hm_context_destroy(r->context);
    assert_int_equal(r->heap.live_blocks, 0);
}

static hm_run_result result_of(const run *r)
{
    hm_run_result result;
    assert_int_equal(hm_sim_result(r->sim, &result), HM_OK);
    return result;
}

static void test_without_memory(void **state)
{
    (void)state;
    run r;
    hmi_run *d = open_run(&r);
    hmi_messages_warn(&d->recorder.messages, "kept");
    r.heap.fail_at = 0;
    r.heap.stay = true;
    heap_arm(&r.heap);
    while (hmi_arena_alloc(&d->arena, 16)) /* what is left in its blocks */
        ;
    hmi_messages_warn(&d->recorder.messages, "a warning that is longer than sixteen bytes");
    hmi_messages_warn(&d->recorder.messages, "another warning that is longer than sixteen bytes");
    heap_disarm(&r.heap);
    hmi_messages_warn(&d->recorder.messages, "later");
    hm_run_result result = result_of(&r);
    assert_int_equal(result.warning_count, 3);
    assert_string_equal(result.warnings[0], "kept");
    assert_non_null(strstr(result.warnings[1], "out of memory"));
    assert_string_equal(result.warnings[2], "later");
    close_run(&r);
}

static void test_many(void **state)
{
    (void)state;
    run r;
    hmi_run *d = open_run(&r);
    for (int i = 0; i < 2 * HMI_MOST_WARNINGS; i++)
        for (int twice = 0; twice < 2; twice++)
            hmi_messages_warn(&d->recorder.messages, "warning %d", i);
    hm_run_result result = result_of(&r);
    assert_int_equal(result.warning_count, HMI_MOST_WARNINGS + 1);
    assert_string_equal(result.warnings[HMI_MOST_WARNINGS - 1], "warning 19");
    assert_non_null(strstr(result.warnings[HMI_MOST_WARNINGS], "more warnings"));
    close_run(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_memory),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
