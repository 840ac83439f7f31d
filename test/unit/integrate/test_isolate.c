/* Isolation of roots: integrate/events/isolate.h, on functions of time whose roots are known. */
#include "base/random.h"
#include "base/sort.h"
#include "compile/tape/enclosure.h"
#include "integrate/events/isolate.h"
#include "support/check.h"

#include <stdlib.h>

enum { MOST = 4000 };

typedef struct searched {
    hmi_graph graph;
    hm_allocator allocator;
    hmi_tape tape;
    double *numbers;
    hmi_enclosure *work;
    double a, b; /* the piece */
    hmi_root roots[MOST];
    size_t count, touches;
    long pieces;
} searched;

static hmi_enclosure time_symbol(const void *path, hmi_symbol_kind kind, uint32_t index)
{
    const searched *s = path;
    (void)kind;
    (void)index;
    return (hmi_enclosure){{s->a, s->b}, {1, 1}};
}

static hmi_enclosure enclose(void *user, double a, double b)
{
    searched *s = user;
    s->a = a;
    s->b = b;
    hmi_tape_enclose(&s->tape, time_symbol, s, s->work);
    return s->work[s->tape.output_slot];
}

static bool found(void *user, const hmi_root *root)
{
    searched *s = user;
    if (root->kind == HMI_ROOT_TOUCH) {
        s->touches++;
        return true;
    }
    assert_true(s->count < MOST);
    s->roots[s->count++] = *root;
    return true;
}

static double noise(void *user, double s)
{
    (void)user;
    (void)s;
    return 1e-14;
}

static searched *open_search(void)
{
    searched *s = calloc(1, sizeof *s);
    s->allocator = hm_allocator_default();
    assert_int_equal(hmi_graph_init(&s->graph, &s->allocator), HM_OK);
    return s;
}

static void search(searched *s, hmi_expr g, double a, double b, double side)
{
    hmi_tape_scratch scratch;
    hmi_tape_scratch_init(&scratch, &s->allocator);
    assert_int_equal(hmi_tape_build(&s->tape, &s->graph, &g, 1, &scratch), HM_OK);
    hmi_tape_scratch_release(&scratch);
    s->numbers = calloc(s->tape.work_size, sizeof *s->numbers);
    s->work = calloc(s->tape.work_size, sizeof *s->work);
    const hmi_tape_values none = {{0}};
    hmi_tape_prepare(&s->tape, &none, s->numbers);
    hmi_tape_enclose_prepare(&s->tape, s->numbers, s->work);
    hmi_isolation isolation = {.enclose = enclose,
                               .found = found,
                               .user = s,
                               .noise = noise,
                               .shortest = 1e-13 * (b - a),
                               .most_pieces = 1000000,
                               .side = side};
    assert_true(hmi_isolate_roots(&isolation, a, b));
    s->pieces = isolation.pieces;
}

static void close_search(searched *s)
{
    free(s->numbers);
    free(s->work);
    hmi_tape_release(&s->tape);
    hmi_graph_release(&s->graph);
    free(s);
}

static hmi_expr t_of(searched *s)
{
    return hmi_symbol(&s->graph, HMI_SYM_TIME, 0);
}

static void a_fast_sine_has_all_its_roots(void **state)
{
    (void)state;
    searched *s = open_search();
    hmi_expr x = hmi_mul(&s->graph, hmi_number(&s->graph, 500), t_of(s));
    search(s, hmi_apply(&s->graph, HMI_SIN, x, x, x), 0.001, 10, 1);
    assert_int_equal(s->count, 1591); /* k pi/500 <= 10: floor(5000/pi) */
    assert_int_equal(s->touches, 0);
    for (size_t k = 0; k < s->count; k++) {
        double root = (double)(k + 1) * M_PI / 500;
        assert_true(s->roots[k].a <= root + 1e-15 && root - 1e-15 <= s->roots[k].b);
        assert_true(s->roots[k].side == (k % 2 == 0 ? 1 : -1));
    }
    close_search(s);
}

static int ascending(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* prod (t - r_k) on [0, 1], all r_k at least 1e-7 apart, many of them in close pairs. */
static size_t random_product(hmi_random *random)
{
    searched *s = open_search();
    double roots[12];
    size_t wanted = 2 + hmi_random_bits(random) % 11, count = 0;
    while (count < wanted) {
        bool pair = count > 0 && hmi_random_bits(random) % 2;
        double r = pair ? roots[count - 1] + pow(10, hmi_random_between(random, -6.9, -2))
                        : hmi_random_between(random, 0.01, 0.98);
        bool apart = r < 0.99;
        for (size_t k = 0; k < count; k++)
            apart = apart && fabs(r - roots[k]) >= 1.01e-7;
        if (apart)
            roots[count++] = r;
    }
    hmi_sort(roots, count, sizeof *roots, ascending);
    hmi_expr g = hmi_number(&s->graph, 1);
    for (size_t k = 0; k < count; k++)
        g = hmi_intern(&s->graph, HMI_MUL, g,
                       hmi_sub(&s->graph, t_of(s), hmi_number(&s->graph, roots[k])), g);

    hmi_tape_scratch scratch;
    hmi_tape_scratch_init(&scratch, &s->allocator);
    assert_int_equal(hmi_tape_build(&s->tape, &s->graph, &g, 1, &scratch), HM_OK);
    hmi_tape_scratch_release(&scratch);
    s->numbers = calloc(s->tape.work_size, sizeof *s->numbers);
    s->work = calloc(s->tape.work_size, sizeof *s->work);
    const hmi_tape_values none = {{0}};
    hmi_tape_prepare(&s->tape, &none, s->numbers);
    hmi_tape_enclose_prepare(&s->tape, s->numbers, s->work);
    hmi_isolation isolation = {.enclose = enclose,
                               .found = found,
                               .user = s,
                               .shortest = 1e-12,
                               .most_pieces = 1000000,
                               .side = count % 2 ? -1 : 1};
    assert_true(hmi_isolate_roots(&isolation, 0, 1));
    assert_int_equal(s->count, count);
    assert_int_equal(s->touches, 0);
    for (size_t k = 0; k < count; k++)
        assert_true(s->roots[k].a <= roots[k] && roots[k] <= s->roots[k].b);
    close_search(s);
    return count;
}

static void products_have_all_their_roots(void **state)
{
    (void)state;
    hmi_random random = {3};
    size_t total = 0;
    for (int i = 0; i < 3000; i++)
        total += random_product(&random);
    assert_true(total > 15000);
}

static void a_touch_is_reported_as_undecided(void **state)
{
    (void)state;
    searched *s = open_search();
    hmi_expr u = hmi_sub(&s->graph, t_of(s), hmi_number(&s->graph, 0.3));
    search(s, hmi_mul(&s->graph, u, u), 0, 1, 1);
    assert_int_equal(s->count, 0);
    assert_true(s->touches >= 1 && s->touches <= 2);
    close_search(s);
}

/* (t - 1/2)^2 - d: two roots 2 sqrt(d) apart are found for d above the noise, none is claimed for
 * negative d. */
static void pairs_close_to_tangency_are_told_apart(void **state)
{
    (void)state;
    for (int k = -13; k <= -2; k++) {
        for (int sign = -1; sign <= 1; sign += 2) {
            searched *s = open_search();
            hmi_expr u = hmi_sub(&s->graph, t_of(s), hmi_number(&s->graph, 0.5));
            hmi_expr g = hmi_sub(&s->graph, hmi_mul(&s->graph, u, u),
                                 hmi_number(&s->graph, sign * pow(10, k)));
            search(s, g, 0, 1, 1);
            assert_int_equal(s->count, sign > 0 ? 2 : 0);
            assert_int_equal(s->touches, 0);
            close_search(s);
        }
    }
}

/* g(0) = 0 after a root at the end of the last step: leaving to the side that holds is no root,
 * leaving to the other side is one. */
static void a_root_at_the_start_counts_once(void **state)
{
    (void)state;
    for (int side = -1; side <= 1; side += 2) {
        searched *s = open_search();
        search(s, hmi_apply(&s->graph, HMI_SIN, t_of(s), t_of(s), t_of(s)), 0, 1, side);
        assert_int_equal(s->count, side > 0 ? 0 : 1);
        if (side < 0)
            assert_true(s->roots[0].a == 0);
        close_search(s);
    }
}

/* Most steps have no root: one look must do for them. */
static void a_smooth_function_away_from_zero_costs_one_piece(void **state)
{
    (void)state;
    searched *s = open_search();
    hmi_expr c = hmi_apply(&s->graph, HMI_COS, t_of(s), t_of(s), t_of(s));
    search(s, hmi_sub(&s->graph, c, hmi_number(&s->graph, 0.5)), 0, 0.5, 1);
    assert_int_equal(s->count, 0);
    assert_int_equal(s->pieces, 1);
    close_search(s);
}

/* A pole changes the sign without a root: 1/(t - 0.4) is not followed through it. */
static void a_pole_is_not_settled_by_the_rate(void **state)
{
    (void)state;
    searched *s = open_search();
    hmi_expr u = hmi_sub(&s->graph, t_of(s), hmi_number(&s->graph, 0.4));
    search(s, hmi_div(&s->graph, s->graph.one, u), 0, 1, -1);
    assert_int_equal(s->count, 1); /* the sign does change there */
    assert_true(s->roots[0].b - s->roots[0].a < 1e-12);
    close_search(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fast_sine_has_all_its_roots),
        cmocka_unit_test(products_have_all_their_roots),
        cmocka_unit_test(a_touch_is_reported_as_undecided),
        cmocka_unit_test(pairs_close_to_tangency_are_told_apart),
        cmocka_unit_test(a_root_at_the_start_counts_once),
        cmocka_unit_test(a_smooth_function_away_from_zero_costs_one_piece),
        cmocka_unit_test(a_pole_is_not_settled_by_the_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
