/* Tables: values and derivatives against SciPy, places of held pieces, bounds, monotone shape.
 *
 * The numbers are those of scipy.interpolate 1.10.1: CubicSpline (natural, periodic), PchipInterpolator,
 * and CubicSpline along both axes for the tensor product. */
#include "support/check.h"

#include "base/memory.h"
#include "expr/graph/table.h"

#include <math.h>

typedef struct fixture {
    hm_allocator allocator;
    hmi_arena arena;
} fixture;

static const double knots[6] = {0, 0.5, 1.2, 2, 3.1, 4.0};
static const double values[6] = {1, 2.2, 2.1, -0.3, 0.4, 1.0};

static void begin(fixture *f)
{
    f->allocator = hm_allocator_default();
    hmi_arena_init(&f->arena, &f->allocator);
}

static void make(fixture *f, hmi_table *table, hmi_table_kind kind, hmi_table_outside outside)
{
    *table = (hmi_table){.name = "f",
                         .arguments = 1,
                         .kind = kind,
                         .outside = outside,
                         .axis = {{.knot = knots, .count = 6}, {.count = 1}}};
    assert_int_equal(hmi_table_build(table, values, &f->arena), HM_OK);
}

static double at(const hmi_table *table, int order, double x)
{
    return hmi_table_value(x, hmi_table_address(&table->derivative[4 * order]));
}

typedef struct known {
    double x, f[4];
} known;

static void compare(const hmi_table *table, const known *expected, size_t count, int orders)
{
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < orders; k++)
            check_number("value", at(table, k, expected[i].x), expected[i].f[k], 1e-12);
}

static void test_natural(void **state)
{
    (void)state;
    static const known expected[] = {
        {0.1, {1.2750756270945856, 2.7215265817003673, -0.8768906773646372, -8.768906773646371}},
        {0.5, {2.2, 1.6692577688628027, -4.384453386823191, -3.3986476693693355}},
        {0.77, {2.4797370079638856, 0.36157464687202884, -5.302088257552912, -3.3986476693693355}},
        {1.9, {-0.08121906547018409, -2.515797782956496, 5.954165320960067, 18.168102966202554}},
        {3.0, {0.26162292625154127, 1.4584624420234107, -1.1949692614745544, -8.96594487905488}},
        {3.95, {0.9823049789594853, 0.3558370539115767, -0.11619798607666931, 2.323959721533382}}};
    fixture f;
    hmi_table table;
    begin(&f);
    make(&f, &table, HMI_TABLE_CUBIC, HMI_OUTSIDE_ERROR);
    compare(&table, expected, 6, 4);
    assert_true(isnan(at(&table, 0, -0.1)) && isnan(at(&table, 0, 4.1)));
    check_number("end", at(&table, 0, 4.0), 1.0, 1e-15);
    hmi_arena_release(&f.arena);
}

static void test_periodic(void **state)
{
    (void)state;
    static const known expected[] = {
        {0.1, {1.2150547668928222, 2.366455548143309, 3.5504336020659917, -23.031719467071113}},
        {0.5, {2.2, 1.9440914316040165, -5.662254184762458, -1.2876686913587676}},
        {0.77, {2.5142913243564906, 0.3683472779181258, -6.009924731429325, -1.2876686913587676}},
        {3.95, {0.912287578089076, 1.6165782721720814, 5.3334071883978424, 10.40396720750525}}};
    fixture f;
    hmi_table table;
    begin(&f);
    make(&f, &table, HMI_TABLE_CUBIC, HMI_OUTSIDE_PERIODIC);
    compare(&table, expected, 4, 4);
    for (int turn = -3; turn <= 3; turn++)
        check_number("turned", at(&table, 1, 0.77 + 4 * turn), expected[2].f[1], 1e-12);
    static const double few[3] = {0, 1, 3}, heights[3] = {1, 2, 1};
    table.axis[0] = (hmi_table_axis){.knot = few, .count = 3};
    assert_int_equal(hmi_table_build(&table, heights, &f.arena), HM_OK);
    check_number("two pieces", at(&table, 0, 0.3), 1.258, 1e-14);
    check_number("two pieces", at(&table, 0, 2.2), 1.304, 1e-14);
    hmi_arena_release(&f.arena);
}

static void test_monotone(void **state)
{
    (void)state;
    static const known expected[] = {
        {0.1, {1.346209523809524, 3.4110476190476193, -2.093333333333332}},
        {0.77, {2.183946133418007, -0.11618191265190672, -0.39990762924689005}},
        {1.9, {-0.19979888613861263, -1.9144492574257406, 16.457301980198018}},
        {3.0, {0.32983961265029926, 0.7464070657397537, -0.7934094129427809}},
        {3.95, {0.9660191532237585, 0.67892663598314, 0.027780172207377624}}};
    fixture f;
    hmi_table table;
    begin(&f);
    make(&f, &table, HMI_TABLE_MONOTONE, HMI_OUTSIDE_HOLD);
    compare(&table, expected, 5, 3);
    for (int k = 0; k < 5; k++) /* never beyond the nodes */
        for (int i = 0; i <= 100; i++) {
            double y = at(&table, 0, knots[k] + (knots[k + 1] - knots[k]) * i / 100);
            assert_true(y >= fmin(values[k], values[k + 1]) - 1e-14 &&
                        y <= fmax(values[k], values[k + 1]) + 1e-14);
        }
    check_number("held", at(&table, 0, 7), 1.0, 0);
    check_number("held", at(&table, 1, -7), 0.0, 0);
    hmi_arena_release(&f.arena);
}

static void test_tensor(void **state)
{
    (void)state;
    static const double x[4] = {0, 1, 2.5, 4}, y[5] = {-1, 0, 0.5, 2, 3};
    static const struct {
        double x, y, f[6];
    } expected[] = {{0.4,
                     -0.7,
                     {0.2890090931632648, 0.23345093601282263, 0.001028846153846017, 1,
                      -0.42452285171504384, 0.24403846153846173}},
                    {1.7,
                     0.2,
                     {1.2948569299881811, 0.04035601424761079, 1.8220769230769231, 1,
                      -0.7882526634678644, 0.6957692307692296}},
                    {3.9,
                     2.5,
                     {10.998886574616712, 1.4790232709106177, 5.431009615384615, 1,
                      -0.03174602778778207, 0.3721153846153857}}};
    static const int order[6][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 0}, {0, 2}};
    double z[20];
    for (int i = 0; i < 20; i++)
        z[i] = sin(x[i / 5]) + 0.3 * y[i % 5] * y[i % 5] + x[i / 5] * y[i % 5];
    fixture f;
    begin(&f);
    hmi_table table = {.name = "g",
                       .arguments = 2,
                       .kind = HMI_TABLE_CUBIC,
                       .axis = {{.knot = x, .count = 4}, {.knot = y, .count = 5}}};
    assert_int_equal(hmi_table_build(&table, z, &f.arena), HM_OK);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 6; k++) {
            const hmi_table_view *v = &table.derivative[4 * order[k][0] + order[k][1]];
            check_number("tensor",
                         hmi_table_value2(expected[i].x, expected[i].y, hmi_table_address(v)),
                         expected[i].f[k], 1e-12);
        }
    table.kind = HMI_TABLE_LINEAR;
    table.outside = HMI_OUTSIDE_EXTEND;
    assert_int_equal(hmi_table_build(&table, z, &f.arena), HM_OK);
    double middle = 0.25 * (z[6] + z[7] + z[11] + z[12]);
    check_number("bilinear", hmi_table_value2(1.75, 0.25, hmi_table_address(&table.derivative[0])),
                 middle, 1e-14);
    hmi_arena_release(&f.arena);
}

/* The polynomial about either end of a piece is the piece. */
static void test_places(void **state)
{
    (void)state;
    fixture f;
    hmi_table table;
    begin(&f);
    for (int kind = 0; kind < 3; kind++)
        for (int outside = 0; outside < 4; outside++) {
            make(&f, &table, (hmi_table_kind)kind, (hmi_table_outside)outside);
            int turns = outside == HMI_OUTSIDE_PERIODIC ? 2 : 0;
            for (int k = -5 * turns; k < 5 + 5 * turns; k++)
                for (int end = 0; end < 2; end++) {
                    double B = k + end, place = 2 * B + !end;
                    double knot = hmi_table_lookup(2 * B, hmi_table_address(&table.knots[0]));
                    double left = hmi_table_lookup(2.0 * k, hmi_table_address(&table.knots[0]));
                    double right = hmi_table_lookup(2.0 * k + 1,
                                                    hmi_table_address(&table.others[0]));
                    double x = left + 0.3 * (right - left), u = x - knot, sum = 0;
                    for (int p = 3; p >= 0; p--)
                        sum = sum * u +
                              hmi_table_lookup(place, hmi_table_address(&table.coefficient[4 * p]));
                    check_number("place", sum, at(&table, 0, x), 1e-12);
                    check_number("nearest", hmi_table_nearest(&table, 0, x), k, 0);
                }
        }
    hmi_arena_release(&f.arena);
}

/* Bounds hold all values between, and are narrow on short pieces. */
static void test_bounds(void **state)
{
    (void)state;
    fixture f;
    hmi_table table;
    begin(&f);
    for (int outside = 1; outside < 4; outside++) {
        make(&f, &table, HMI_TABLE_CUBIC, (hmi_table_outside)outside);
        for (int i = 0; i < 200; i++) {
            double lo[2] = {-2 + 0.03 * i}, hi[2] = {lo[0] + 0.013 * (i % 40)}, range[2];
            bool jumps;
            for (int order = 0; order < 4; order++) {
                assert_true(hmi_table_bounds(&table.derivative[4 * order], lo, hi, range, &jumps));
                for (int k = 0; k <= 20; k++) {
                    double y = at(&table, order, lo[0] + (hi[0] - lo[0]) * k / 20);
                    assert_true(range[0] - 1e-12 <= y && y <= range[1] + 1e-12);
                }
            }
        }
    }
    hmi_arena_release(&f.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_natural),  cmocka_unit_test(test_periodic),
        cmocka_unit_test(test_monotone), cmocka_unit_test(test_tensor),
        cmocka_unit_test(test_places),   cmocka_unit_test(test_bounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
