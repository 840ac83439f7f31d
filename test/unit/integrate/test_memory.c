/* Every allocation of a run fails once: no crash, no leak, HM_ERR_NOMEM or a run that is fine. */
#include "support/check.h"

#include <hamel/hamel.h>

#include <stdlib.h>
#include <string.h>

typedef struct heap {
    long count, fail_at;
    size_t live;
} heap;

static void *resize(void *user, void *ptr, size_t old_size, size_t new_size)
{
    heap *h = user;
    if (new_size == 0) {
        h->live -= ptr ? old_size : 0;
        free(ptr);
        return NULL;
    }
    if (++h->count == h->fail_at)
        return NULL;
    void *new = realloc(ptr, new_size);
    if (new)
        h->live += new_size - (ptr ? old_size : 0);
    return new;
}

static const char *text;

static const char friction_text[] =
    "param mu = 0.5; coord x, y; state w' = x\n"
    "kinetic (x'^2 + y'^2)/2; potential 10*y; constraint floor: y = 0\n"
    "force x = 2*t - 1; nonideal x = -mu*abs(multiplier(floor))*sign(x')\n"
    "event far: x = 3 rising record; event wall: x = 4 rising set x' = -x'/2\n"
    "output f = reaction(y); initial x ~ 0.1, y ~ 0.2; simulate 0 .. 4.8";

/* Directions, acceleration-level rows, inputs that switch, constraints that lose rank. */
static const char more_text[] =
    "coord x, y, a, b, c; kinetic (x'^2 + y'^2 + a'^2 + b'^2 + c'^2)/2; let s = hypot(x', y')\n"
    "input u = if(t < 0.7, 1, -1); force x = u - 3*x'/s, y = -3*y'/s\n"
    "constraint acc: c'' = t; constraint rod: a^2 + b^2 = 1; constraint line: a = cos(1 + t)\n"
    "initial x' = 1, y' = 1, a ~ 0.5, b ~ 0.8; simulate 0 .. 1.5";

/* Makes everything with the k-th allocation after the model failing. */
static hm_status run_with(heap *h, long fail_after)
{
    const hm_allocator allocator = {resize, h};
    hm_context *context = hm_context_create(&allocator);
    hm_model *model = NULL;
    hm_system *system = NULL;
    hm_sim *sim = NULL;
    hm_run_result result;
    assert_int_equal(hm_model_parse(context, text, strlen(text), NULL, &model), HM_OK);
    assert_int_equal(hm_system_create(model, &system), HM_OK);
    assert_int_equal(hm_sim_create(system, &sim), HM_OK);
    h->fail_at = h->count + fail_after;
    hm_status status = hm_sim_run(sim, NULL, &result);
    h->fail_at = 0;
    hm_sim_destroy(sim);
    hm_system_destroy(system);
    hm_model_destroy(model);
    hm_context_destroy(context);
    assert_int_equal(h->live, 0);
    return status;
}

static void fail_each(const char *model)
{
    long failures = 0;
    text = model;
    for (long k = 1; k < 3000; k++) {
        heap h = {0};
        hm_status status = run_with(&h, k);
        if (status == HM_OK && k > 20 && failures > 0 && run_with(&h, k + 1) == HM_OK)
            break;
        failures += status == HM_ERR_NOMEM;
        if (status != HM_OK && status != HM_ERR_NOMEM)
            fail_msg("allocation %ld: %s", k, hm_status_text(status));
    }
    print_message("%ld failed allocations\n", failures);
    assert_true(failures > 20);
}

static void test_no_memory(void **state)
{
    (void)state;
    fail_each(friction_text);
    fail_each(more_text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
