/* Power series in ball arithmetic, against Arb's own and against identities. */
#include "support/check.h"

#include "analyse/balls/series.h"

#include <hamel/hamel.h>

#include <stdio.h>
#include <string.h>

enum { ORDERS = 9, BITS = 256 };

typedef struct fixture {
    hm_context *context;
    hm_model *model;
    hmi_graph graph;
    hmi_series jet;
} fixture;

/* Outputs of the model are the roots. */
static void open_jet(fixture *f, const char *outputs)
{
    char text[4096];
    snprintf(text, sizeof text,
             "param p = 0.1, half = pi/2\ncoord x, y\nkinetic (x'^2 + y'^2)/2\n%s", outputs);
    f->context = hm_context_create(NULL);
    assert_int_equal(hm_model_parse(f->context, text, strlen(text), NULL, &f->model), HM_OK);
    assert_int_equal(hmi_graph_copy(&f->graph, &f->model->graph), HM_OK);
    hmi_series_init(&f->jet, &f->context->allocator, f->model, &f->graph);
    for (size_t i = 0; i < f->model->outputs.count; i++)
        assert_int_equal(hmi_series_add(&f->jet, f->model->outputs.data[i].expr), HM_OK);
    hmi_series_start(&f->jet, ORDERS, BITS);
}

/* x = 0.75 + 0.25 s - 0.5 s^2, y = -0.375 + s + 0.5 s^3 */
static void fill_leaves(hmi_series *jet, size_t k)
{
    static const double x[] = {0.75, 0.25, -0.5}, y[] = {-0.375, 1, 0, 0.5};
    for (size_t i = 0; i < jet->leaves.count; i++) {
        const hmi_series_leaf *leaf = &jet->leaves.data[i];
        double value = leaf->index == 0 ? (k < 3 ? x[k] : 0) : (k < 4 ? y[k] : 0);
        arb_set_d(hmi_series_leaf_value(jet, i, k), value);
    }
}

static void run_curve(fixture *f)
{
    for (size_t k = 0; k < ORDERS; k++) {
        fill_leaves(&f->jet, k);
        hmi_series_extend(&f->jet, k);
    }
}

static void close_jet(fixture *f)
{
    hmi_series_release(&f->jet);
    hmi_graph_release(&f->graph);
    hm_model_destroy(f->model);
    hm_context_destroy(f->context);
    flint_cleanup();
}

/* Roots 2k and 2k + 1 must overlap in every coefficient, to 200 bits. */
static void pairs_agree(const char *outputs)
{
    fixture f = {0};
    arb_t difference;
    arb_init(difference);
    open_jet(&f, outputs);
    run_curve(&f);
    assert_false(f.jet.failed);
    assert_true(f.jet.roots.count % 2 == 0);
    for (size_t i = 0; i < f.jet.roots.count; i += 2)
        for (size_t k = 0; k < ORDERS; k++) {
            arb_sub(difference, hmi_series_root(&f.jet, i, k), hmi_series_root(&f.jet, i + 1, k),
                    BITS);
            mag_t size;
            mag_init(size);
            arb_get_mag(size, difference);
            if (!arb_contains_zero(difference) || mag_cmp_2exp_si(size, -200) > 0)
                fail_msg("pair %zu, order %zu", i / 2, k);
            mag_clear(size);
        }
    arb_clear(difference);
    close_jet(&f);
}

/* Each function beside an expression of others that has the same value. */
static void functions_obey_identities(void **state)
{
    (void)state;
    pairs_agree("output a1 = sin(x)^2 + cos(x)^2\noutput a2 = 1\n"
                "output b1 = tan(x*y)\noutput b2 = sin(x*y)/cos(x*y)\n"
                "output c1 = exp(log(x))\noutput c2 = x\n"
                "output d1 = sqrt(x)*sqrt(x)\noutput d2 = x\n"
                "output e1 = tan(atan(y))\noutput e2 = y\n"
                "output f1 = sin(asin(y/2))\noutput f2 = y/2\n"
                "output g1 = acos(y/2)\noutput g2 = half - asin(y/2)\n"
                "output h1 = atan2(y, x)\noutput h2 = atan(y/x)\n"
                "output i1 = cosh(x)^2 - sinh(x)^2\noutput i2 = 1\n"
                "output j1 = tanh(y)\noutput j2 = sinh(y)/cosh(y)\n"
                "output k1 = x^(5/2)\noutput k2 = x^2*sqrt(x)\n"
                "output l1 = x^y\noutput l2 = exp(y*log(x))\n"
                "output m1 = hypot(x, y)^2\noutput m2 = x^2 + y^2\n"
                "output n1 = abs(y)\noutput n2 = -y\n"
                "output o1 = max(x, y)\noutput o2 = x\n"
                "output p1 = min(x, y)\noutput p2 = y\n"
                "output q1 = if(x > y, x*y, sqrt(y))\noutput q2 = x*y\n"
                "output r1 = sign(y)*y\noutput r2 = -y\n"
                "output s1 = y^(-3)\noutput s2 = 1/(y*y*y)\n"
                "output t1 = log(x*x)\noutput t2 = 2*log(x)\n");
}

/* Conditions of every kind choose a branch with all its orders: x = 0.75, y = -0.375 at s = 0. */
static void conditions_choose(void **state)
{
    (void)state;
    pairs_agree("output a1 = if(x <= y, y, x*x)\noutput a2 = x*x\n"
                "output b1 = if(y <= x, y, x*x)\noutput b2 = y\n"
                "output c1 = if(x == y, y, x)\noutput c2 = x\n"
                "output d1 = if(x == x + 0*y, y, x)\noutput d2 = y\n"
                "output e1 = if(x > 0 and y < 0, x*y, x)\noutput e2 = x*y\n"
                "output f1 = if(x > 0 and y > 0, x*y, x)\noutput f2 = x\n"
                "output g1 = if(x < 0 and y > 0, x*y, x)\noutput g2 = x\n"
                "output h1 = if(x < 0 or y < 0, x*y, x)\noutput h2 = x*y\n"
                "output i1 = if(x > 0 or y > 0, x*y, x)\noutput i2 = x*y\n"
                "output j1 = if(x < 0 or y > 0, x*y, x)\noutput j2 = x\n"
                "output k1 = if(not (x < 0), x*y, x)\noutput k2 = x*y\n"
                "output l1 = if(not (x > 0), x*y, x)\noutput l2 = x\n");
}

/* sin and cos of one argument are one pair of series; both orders of asking. */
static void partners_serve_twice(void **state)
{
    (void)state;
    fixture f = {0};
    open_jet(&f, "output a = sin(x)\noutput b = cos(x)\noutput c = cosh(y)\noutput d = sinh(y)\n");
    assert_int_equal(f.jet.slots.count, 6);
    close_jet(&f);
}

/* 0.1 is a tenth and pi is pi. */
static void numbers_are_exact(void **state)
{
    (void)state;
    pairs_agree("output a1 = 10*p*x\noutput a2 = x\noutput b1 = sin(half + 0*x)\noutput b2 = 1\n");
}

/* y^3 where y crosses 0: no division */
static void powers_at_zero(void **state)
{
    (void)state;
    fixture f = {0};
    open_jet(&f, "output a = y^3\n");
    arb_zero(hmi_series_leaf_value(&f.jet, 0, 0));
    hmi_series_extend(&f.jet, 0);
    arb_one(hmi_series_leaf_value(&f.jet, 0, 1));
    for (size_t k = 1; k < ORDERS; k++)
        hmi_series_extend(&f.jet, k);
    assert_false(f.jet.failed);
    for (size_t k = 0; k < ORDERS; k++)
        assert_true(arb_equal_si(hmi_series_root(&f.jet, 0, k), k == 3));
    close_jet(&f);
}

/* One part an order ahead of the other, which shares sines with it: the same as all at once. */
static void parts_are_the_whole(void **state)
{
    (void)state;
    fixture f = {0};
    hmi_series jet;
    open_jet(&f, "output a = x*sin(x)\noutput b = y*cos(x) + tan(y)*sin(x)\n");
    run_curve(&f);
    hmi_series_init(&jet, &f.context->allocator, f.model, &f.graph);
    assert_int_equal(hmi_series_add(&jet, f.model->outputs.data[0].expr), HM_OK);
    hmi_series_part first = hmi_series_so_far(&jet), none = {0};
    assert_int_equal(hmi_series_add(&jet, f.model->outputs.data[1].expr), HM_OK);
    hmi_series_start(&jet, ORDERS, BITS);
    for (size_t k = 0; k <= ORDERS; k++) {
        if (k < ORDERS) {
            fill_leaves(&jet, k);
            hmi_series_extend_part(&jet, k, none, first);
        }
        if (k > 0)
            hmi_series_extend_part(&jet, k - 1, first, hmi_series_so_far(&jet));
    }
    assert_false(jet.failed);
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < ORDERS; k++)
            assert_true(arb_equal(hmi_series_root(&jet, i, k), hmi_series_root(&f.jet, i, k)));
    hmi_series_release(&jet);
    close_jet(&f);
}

/* What balls do not decide, and what does not exist, fails. */
static void failures(void **state)
{
    (void)state;
    static const char *const outputs[] = {"output a = sqrt(y)\n", "output a = abs(y - y)*x\n",
                                          "output a = log(y)\n"};
    for (size_t i = 0; i < 3; i++) {
        fixture f = {0};
        open_jet(&f, outputs[i]);
        run_curve(&f);
        if (i == 1)
            assert_false(f.jet.failed); /* an exact 0 is decided */
        else
            assert_true(f.jet.failed);
        close_jet(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_obey_identities),
        cmocka_unit_test(conditions_choose),
        cmocka_unit_test(partners_serve_twice),
        cmocka_unit_test(numbers_are_exact),
        cmocka_unit_test(powers_at_zero),
        cmocka_unit_test(parts_are_the_whole),
        cmocka_unit_test(failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
