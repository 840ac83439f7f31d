/* Shared by the tests of dynamics/: numbers from cases.json, comparisons, workspaces. */
#ifndef TEST_UNIT_DYNAMICS_HELPERS_H
#define TEST_UNIT_DYNAMICS_HELPERS_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "dynamics/formulations/dynamics.h"

enum { MOST = 4096 };

/* A matrix or vector of the oracle, row by row. */
typedef struct numbers {
    int count;
    double x[MOST];
} numbers;

static inline void append_numbers(const json_t *json, numbers *to)
{
    if (json_is_number(json)) {
        assert_true(to->count < MOST);
        to->x[to->count++] = json_number_value(json);
        return;
    }
    for (size_t i = 0; i < json_array_size(json); i++)
        append_numbers(json_array_get(json, i), to);
}

/* false when there is no such key (or it is null) */
static inline bool read_numbers(const json_t *object, const char *key, numbers *to)
{
    const json_t *json = json_object_get(object, key);
    to->count = 0;
    if (!json || json_is_null(json))
        return false;
    append_numbers(json, to);
    return true;
}

static inline json_t *read_cases(void)
{
    json_error_t error;
    json_t *root = json_load_file(HAMEL_SOURCE_DIR "/test/data/cases.json", 0, &error);
    assert_non_null(root);
    return root;
}

static inline const json_t *find_case(const json_t *root, const char *id)
{
    const json_t *cases = json_object_get(root, "cases");
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *c = json_array_get(cases, i);
        if (strcmp(json_string_value(json_object_get(c, "id")), id) == 0)
            return c;
    }
    fail_msg("no case %s", id);
    return NULL;
}

/* Largest difference in units of max(1, largest expected element). */
static inline double error_of(int n, const double *x, const double *expected)
{
    double error = 0, size = 1;
    for (int i = 0; i < n; i++) {
        error = fmax(error, fabs(x[i] - expected[i]));
        size = fmax(size, fabs(expected[i]));
        if (!isfinite(x[i]))
            return INFINITY;
    }
    return error / size;
}

#define assert_close(n, x, expected, tolerance)                                                    \
    do {                                                                                           \
        double error_ = error_of(n, x, expected);                                                  \
        if (!(error_ <= (tolerance)))                                                              \
            fail_msg("%s is off by %.3g", #x, error_);                                             \
    } while (0)

static inline hmi_dynamics *make_workspace(int n, int m, int servos, int servo_rows)
{
    hm_allocator allocator = hm_allocator_default();
    hmi_dynamics_size size = {n, m, servos, servo_rows, true};
    hmi_dynamics *d = NULL;
    assert_int_equal(hmi_dynamics_create(&allocator, &size, &d), HM_OK);
    return d;
}

static inline hmi_options full_effort(void)
{
    hmi_options options = hmi_options_default();
    options.effort = HMI_COMPARE;
    return options;
}

#endif
