/* A model with its forms and a sampler. */
#ifndef TEST_UNIT_ANALYSE_FIXTURE_H
#define TEST_UNIT_ANALYSE_FIXTURE_H

#include "support/check.h"

#include "analyse/balls/sample.h"

#include <hamel/hamel.h>

#include <stdio.h>
#include <string.h>

typedef struct fixture {
    hm_context *context;
    hm_model *model;
    hm_system *system;
    hmi_forms forms;
    hmi_sampler sampler;
} fixture;

static inline void open_fixture(fixture *f, const char *text)
{
    double q[16], v[16], z[16];
    *f = (fixture){.context = hm_context_create(NULL)};
    assert_int_equal(hm_model_parse(f->context, text, strlen(text), NULL, &f->model), HM_OK);
    assert_int_equal(hm_system_create(f->model, &f->system), HM_OK);
    assert_int_equal(hmi_forms_init(&f->forms, f->system), HM_OK);
    hm_model_initial(f->model, q, v, z);
    assert_int_equal(hmi_sampler_init(&f->sampler, &f->forms, q, 0), HM_OK);
}

static inline void close_fixture(fixture *f)
{
    hmi_sampler_release(&f->sampler);
    hmi_forms_release(&f->forms);
    hm_system_destroy(f->system);
    hm_model_destroy(f->model);
    hm_context_destroy(f->context);
    flint_cleanup();
}

#endif
