/* Out of memory at every point of linearisation, comparison and audit: the k-th allocation fails, for
 * k = 0, 1, 2, ... until nothing does. Whatever k, nothing leaks and the status says that memory ran
 * out. */
#include "support/heap.h"

#include <hamel/hamel.h>

#include <string.h>

static const char model_text[] =
    "param m = 2, s = 0.2, I = 1.5\ncoord x, y, th\n"
    "kinetic m/2*(x'^2 + y'^2) + m*s*th'*(y'*cos(th) - x'*sin(th)) + I/2*th'^2\n"
    "constraint blade: y'*cos(th) = x'*sin(th)\n"
    "initial th = 0.4, x' = cos(0.4), y' ~ 0.3\nsimulate 0 .. 0.2 every 0.1\n";

static bool ignore(void *user, const char *bytes, size_t length)
{
    (void)user, (void)bytes, (void)length;
    return true;
}

static hm_status compare(const hm_system *system, hm_sim *sim, const char *with)
{
    hm_comparison *c = NULL;
    hm_compared at;
    hm_diverging d;
    bool written;
    const double mu[1] = {0.3};
    hm_status status = hm_comparison_create(hm_sim_context(sim), system, with, &c);
    if (status == HM_OK)
        status = hm_comparison_evaluate(c, sim, mu, &at);
    if (status == HM_OK)
        status = hm_comparison_run(c, sim, NULL, mu, &d);
    if (status == HM_OK)
        status = hm_comparison_write(c, ignore, NULL, &written);
    hm_comparison_destroy(c);
    return status;
}

static hm_status linearize(hm_sim *sim)
{
    hm_linearization *l = NULL;
    hm_linearize_options o = hm_linearize_options_default();
    const char *const hold[1] = {"th"};
    o.find = o.steady = true;
    o.hold = hold;
    o.hold_count = 1;
    hm_status status = hm_sim_linearize(sim, &o, &l);
    hm_linearization_destroy(l);
    return status;
}

static hm_status analyse(const hm_system *system, hm_sim *sim)
{
    const hm_moved *moved;
    size_t count;
    hm_audit audit;
    hm_status status = hm_sim_make_consistent(sim, false, &moved, &count);
    if (status == HM_OK)
        status = hm_sim_audit(sim, &audit, NULL);
    if (status == HM_OK)
        status = compare(system, sim, "vakonomic");
    if (status == HM_OK)
        status = compare(system, sim, "conflated:y'*cos(th) - x'*sin(th) = 0@0.5");
    return status == HM_OK ? linearize(sim) : status;
}

/* A circular orbit: a relative equilibrium. */
static const char orbit_text[] = "coord x, y\nkinetic (x'^2 + y'^2)/2\npotential -1/hypot(x, y)\n"
                                 "initial x = 1, y' = 1\n";

static hm_status linearize_orbit(const hm_system *system, hm_sim *sim)
{
    hm_linearization *l = NULL;
    (void)system;
    hm_status status = hm_sim_linearize(sim, NULL, &l);
    if (status == HM_OK)
        assert_int_equal(l->rest, HM_REST_RELATIVE);
    hm_linearization_destroy(l);
    return status;
}

typedef struct job {
    const char *text;
    hm_status (*what)(const hm_system *system, hm_sim *sim);
    long fewest; /* allocations that must be met */
} job;

static hm_status pipeline(failing_heap *h, const void *user)
{
    const job *j = user;
    const hm_allocator allocator = heap_allocator(h);
    heap_arm(h);
    hm_context *context = hm_context_create(&allocator);
    hm_model *model = NULL;
    hm_system *system = NULL;
    hm_sim *sim = NULL;
    if (!context)
        return HM_ERR_NOMEM;
    hm_status status = hm_model_parse(context, j->text, strlen(j->text), NULL, &model);
    if (status == HM_OK)
        status = hm_system_create(model, &system);
    if (status == HM_OK)
        status = hm_sim_create(system, &sim);
    if (status == HM_OK)
        status = j->what(system, sim);
    hm_sim_destroy(sim);
    hm_system_destroy(system);
    hm_model_destroy(model);
    hm_context_destroy(context);
    return status;
}

static void fail_everywhere(const job *j)
{
    long reported = heap_fail_each(pipeline, j, HEAP_TRIES, HEAP_MAY_DO);
    print_message("%ld failed allocations\n", reported);
    assert_true(reported > HEAP_TRIES / 4 || reported > j->fewest);
}

static void test_every_allocation(void **state)
{
    (void)state;
    fail_everywhere(&(job){model_text, analyse, 500});
}

static void test_relative_equilibrium(void **state)
{
    (void)state;
    fail_everywhere(&(job){orbit_text, linearize_orbit, 100});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_allocation),
        cmocka_unit_test(test_relative_equilibrium),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
