/* Threads that create systems from one model at the same time: each gets the messages that one gets alone,
 * with their places in the source, and the model's own context stays as it was. */
#include "support/check.h"

#include <hamel/hamel.h>

#include <pthread.h>
#include <string.h>

enum { THREADS = 8, ROUNDS = 20 };

/* A warning (this dissipation damps nothing), and an error (no second derivative of u for the force). */
static const char warns[] = "coord x, y\nkinetic (x'^2 + y'^2)/2\ndissipation 3*x'\n";
static const char fails[] = "coord x, y\nkinetic (x'^2 + y'^2)/2\ninput u = x'\nforce y = u'\n"
                            "dissipation 3*x'\n";

typedef struct job {
    const hm_model *model;
    hm_status status;
    char said[2][600];
    bool same;
} job;

static void create(job *j, char said[600], hm_status *status)
{
    hm_context *reports = NULL;
    hm_system *system = NULL;
    hm_system_options options = hm_system_options_default();
    options.reports = &reports;
    *status = hm_system_create_with(j->model, &options, &system);
    said[0] = 0;
    for (size_t k = 0; k < hm_context_diagnostic_count(reports); k++) {
        size_t used = strlen(said);
        hm_diagnostic_format(hm_context_diagnostic(reports, k), false, said + used, 600 - used);
    }
    hm_system_destroy(system);
    hm_context_destroy(reports);
}

static void *work(void *user)
{
    job *j = user;
    create(j, j->said[0], &j->status);
    j->same = true;
    for (int k = 1; k < ROUNDS; k++) {
        hm_status status;
        create(j, j->said[1], &status);
        j->same = j->same && status == j->status && strcmp(j->said[0], j->said[1]) == 0;
    }
    return NULL;
}

static void create_on_threads(const char *text, hm_status wanted, const char *fragment)
{
    static job jobs[THREADS + 1];
    pthread_t threads[THREADS];
    hm_context *context = hm_context_create(NULL);
    hm_model *model = NULL;
    assert_int_equal(hm_model_parse(context, text, strlen(text), NULL, &model), HM_OK);
    for (int k = 0; k <= THREADS; k++)
        jobs[k] = (job){.model = model};
    work(&jobs[THREADS]);
    assert_int_equal(jobs[THREADS].status, wanted);
    assert_non_null(strstr(jobs[THREADS].said[0], fragment));
    for (int k = 0; k < THREADS; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, work, &jobs[k]), 0);
    for (int k = 0; k < THREADS; k++) {
        pthread_join(threads[k], NULL);
        assert_true(jobs[k].same);
        assert_int_equal(jobs[k].status, wanted);
        assert_string_equal(jobs[k].said[0], jobs[THREADS].said[0]);
    }
    assert_int_equal(hm_context_diagnostic_count(context), 0);
    hm_model_destroy(model);
    hm_context_destroy(context);
}

static void test_warnings(void **state)
{
    (void)state;
    create_on_threads(warns, HM_OK, "warning: the dissipation function is linear");
}

static void test_errors(void **state)
{
    (void)state;
    create_on_threads(fails, HM_ERR_INPUT, ":3:7: error: the time derivative of input 'u'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_warnings),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
