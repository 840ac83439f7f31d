/* Families: let R[i] = E with recurrences, several indices, indexed parameters. */
#include "support/check.h"
#include "support/probe.h"

#include <hamel/hamel.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define AT "x[1,0] = 2, x[1,1] = 3, x[2,0] = 5, x[2,1] = 7, q[1] = 0.3, q[2] = -0.4, q[3] = 0.9"
#define MODEL                                                                                      \
    "param N = 3, a[0..2] = [10, 20, 30], k[1..2, 0..1] = [[1, 2], [3, 4]]\n"                      \
    "coord x[1..2, 0..1], q[1..N]\n"                                                               \
    "kinetic sum(i = 1..2, sum(j = 0..1, x[i,j]'^2))/2 + sum(i = 1..N, q[i]'^2)/2\n"

static void members_in_any_order(void **state)
{
    (void)state;
    const char *model = MODEL
        "for i = 1..N {\n  let turn = rotx(q[i])\n  let R[i] = R[i-1]*turn\n}\n"
        "let F[N] = 1, R[0] = identity(3)\n"
        "for i = 1..N-1 { let F[i] = i*F[i+1] }\n";
    check_value(model, "R[3][2,3]", AT, -sin(0.8));
    check_value(model, "R[1][2,2]", AT, cos(0.3));
    check_value(model, "omega(R[3])[1]", AT ", q[1]' = 1, q[2]' = 10, q[3]' = 100", 111);
    check_value(model, "F[1]", AT, 2);
    check_value(model, "sum(i = 1..N, F[i])", AT, 5);
}

static void several_indices_and_shapes(void **state)
{
    (void)state;
    const char *model = MODEL
        "for i = 0..3 {\n  for j = 0..3 {\n    let B[i,j] = if(j == 0, 1, if(i == j, 1, 0)*1)\n  "
        "}\n}\n"
        "let S[1] = x[1,0], S[2] = [x[1,0], 4], S[-1] = [[1, 2], [x[1,1], 4]]\n";
    const double whole[4] = {2, 3, 5, 7}, vector[2] = {2, 4};
    check_values(MODEL, "x", AT, 4, whole);
    check_value(MODEL, "x[2,1] - x[1,0]", AT, 5);
    check_value(MODEL, "(x*x)[2,1]", AT, 5 * 2 + 7 * 5);
    check_value(MODEL, "a[0] + 2*a[2]", AT, 70);
    check_value(MODEL, "a[N-2]", AT, 20);
    check_value(MODEL, "k[2,0]*k[1,1]", AT, 6);
    check_value(model, "B[2,2] + B[3,0] + B[1,2]", AT, 2);
    check_values(model, "S[2]", AT, 2, vector);
    check_value(model, "S[-1][2,1]*S[1]", AT, 6);
    check_value(model, "S[2]'[1]", AT ", x[1,0]' = 8", 8);
}

/* Pascal's triangle: each member is defined from two others, written last row first. */
static void lattice(void **state)
{
    (void)state;
    const char *model = MODEL
        "for n = -12..-1 {\n  for k = 1..-n-1 { let C[-n,k] = C[-n-1,k-1] + C[-n-1,k] }\n"
        "  let C[-n,0] = 1, C[-n,-n] = 1\n}\nlet C[0,0] = 1\n";
    check_value(model, "C[12,5]", AT, 792);
    check_value(model, "C[12,0] + C[12,12] + C[11,1]", AT, 13);
}

/* A function used by a member may use the member before it; that is no recursion. */
static void functions_of_members(void **state)
{
    (void)state;
    const char *model = MODEL "let f(i) = g(i-1) + a[0]\nlet g(i) = V[i]\nlet V[0] = x[1,0]\n"
                              "for i = 1..9 { let V[i] = f(i) }\n";
    check_value(model, "V[9]", AT, 92);
}

/* ---- size ---- */

enum { LINKS = 100000, STACK = 128 << 10 };

typedef struct reading {
    char text[400];
    hm_status status;
} reading;

static void *read_model(void *argument)
{
    reading *r = argument;
    hm_context *context = hm_context_create(NULL);
    hm_model *model = NULL;
    r->status = context ? hm_model_parse(context, r->text, strlen(r->text), NULL, &model)
                        : HM_ERR_NOMEM;
    hm_model_destroy(model);
    hm_context_destroy(context);
    return NULL;
}

static void read_on_small_stack(const char *format, int count)
{
    reading r;
    pthread_t thread;
    pthread_attr_t attributes;
    snprintf(r.text, sizeof r.text, "param N = %d\ncoord q[1..N]\nkinetic q[1]'^2\n%s", count,
             format);
    assert_int_equal(pthread_attr_init(&attributes), 0);
#ifndef HAMEL_SANITIZE
    assert_int_equal(pthread_attr_setstacksize(&attributes, STACK), 0);
#endif
    assert_int_equal(pthread_create(&thread, &attributes, read_model, &r), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    assert_int_equal(r.status, HM_OK);
}

/* The last is asked for first, so that 10^5 definitions are open at once. */
static void long_chains_need_no_stack(void **state)
{
    (void)state;
    read_on_small_stack("for i = 1..N { let s[i] = s[i-1] + q[i] }\nlet s[0] = 0\npotential s[N]\n",
                        LINKS);
    read_on_small_stack(
        "let s[0] = 0\nfor i = 1..N {\n  let f = sin(q[i])*s[i-1]\n  let s[i] = f + 1\n}\n"
        "potential s[N]\n",
        LINKS / 10);
    read_on_small_stack("let R[0] = identity(3)\nfor i = 1..N { let R[i] = R[i-1]*rotx(q[i]) }\n"
                        "potential dot(omega(R[N]), omega(R[N]))\n",
                        LINKS / 10);
    read_on_small_stack(
        "let R[0] = quat(1, 0, 0, 0)\nfor i = 1..N { let R[i] = rotx(q[i])*R[i-1] }\n"
        "body b { mass 1 inertia identity(3) at [q[1], 0, 0] frame R[N] }\n",
        LINKS / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_in_any_order),
        cmocka_unit_test(several_indices_and_shapes),
        cmocka_unit_test(lattice),
        cmocka_unit_test(functions_of_members),
        cmocka_unit_test(long_chains_need_no_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
