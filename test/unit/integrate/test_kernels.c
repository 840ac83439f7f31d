/* Loops over four lanes, with AVX2 and without: each lane gets the bits of the sums written out for
 * its values alone, whatever the width, and what is on one lane does not reach another. */
#include "integrate/batch_kernels.h"
#include "support/check.h"

#include <math.h>
#include <string.h>

enum { LANES = 4, WIDEST = 19, STAGES = 5, MOST = LANES * WIDEST };

typedef struct input {
    size_t width;
    hmi_rk_terms estimate[2];
    _Alignas(32) double K[STAGES * MOST];
    _Alignas(32) double y[MOST], next[MOST], h[LANES];
} input;

static const double tolerance[2] = {1e-9, 1e-6};

static void fill(input *in, size_t width, random_source *random)
{
    in->width = width;
    random_fill(random, -2, 2, STAGES * MOST, in->K);
    random_fill(random, -3, 3, MOST, in->y);
    random_fill(random, -3, 3, MOST, in->next);
    random_fill(random, 0.01, 0.1, LANES, in->h);
    for (int k = 0; k < 2; k++) { /* rows of a table: not every stage is in them */
        in->estimate[k].count = 0;
        for (int j = k; j < STAGES; j += 1 + k) {
            in->estimate[k].stage[in->estimate[k].count] = j;
            in->estimate[k].weight[in->estimate[k].count++] = random_between(random, -1, 1);
        }
    }
}

static void check_bits(const char *what, size_t n, const double *actual, const double *expected)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(&actual[i], &expected[i], sizeof *actual) != 0)
            fail_msg("%s: value %zu is %.17g, not %.17g", what, i, actual[i], expected[i]);
}

/* ---- one lane, written out ---- */

static double sum_of_stages(const input *in, const hmi_rk_terms *row, size_t at)
{
    double sum = 0;
    for (int j = 0; j < row->count; j++)
        sum += row->weight[j] * in->K[(size_t)row->stage[j] * LANES * in->width + at];
    return sum;
}

static double scaled_square(double x, double y1, double y2)
{
    double e = x / (tolerance[0] + tolerance[1] * fmax(fabs(y1), fabs(y2)));
    return e * e;
}

static double error_of_lane(const input *in, size_t l)
{
    double e[2];
    for (int k = 0; k < 2; k++) {
        double sum = 0;
        for (size_t i = 0; i < in->width; i++) {
            size_t at = LANES * i + l;
            sum += scaled_square(in->h[l] * sum_of_stages(in, &in->estimate[k], at), in->y[at],
                                 in->next[at]);
        }
        e[k] = sqrt(sum / (double)in->width);
    }
    double both = e[0] * e[0] + 0.01 * e[1] * e[1];
    return both > 0 ? e[0] * e[0] / sqrt(both) : 0;
}

/* ---- the kernels against it ---- */

static void check_sums(const hmi_batch_kernels *kernels, const input *in)
{
    _Alignas(32) double out[MOST], expected[MOST];
    size_t count = LANES * in->width;
    const hmi_rk_terms *row = &in->estimate[0];
    kernels->advance(row, in->K, in->width, in->y, in->h, out);
    for (size_t i = 0; i < count; i++)
        expected[i] = in->y[i] + in->h[i % LANES] * sum_of_stages(in, row, i);
    check_bits("advance", count, out, expected);
    kernels->combine(row, in->K, in->width, in->h, out);
    for (size_t i = 0; i < count; i++)
        expected[i] = in->h[i % LANES] * sum_of_stages(in, row, i);
    check_bits("combine", count, out, expected);
}

static void check_norms(const hmi_batch_kernels *kernels, const input *in)
{
    _Alignas(32) double out[LANES], expected[LANES];
    kernels->error(in->estimate, in->K, in->width, in->h, in->y, in->next, in->width, tolerance,
                   out);
    for (size_t l = 0; l < LANES; l++)
        expected[l] = error_of_lane(in, l);
    check_bits("error", LANES, out, expected);
    kernels->scaled(in->K, in->y, in->next, in->width, tolerance[0], tolerance[1], out);
    memset(expected, 0, sizeof expected);
    for (size_t i = 0; i < LANES * in->width; i++)
        expected[i % LANES] += scaled_square(in->K[i], in->y[i], in->next[i]);
    check_bits("scaled", LANES, out, expected);
    kernels->distance(in->y, in->next, in->width, out);
    memset(expected, 0, sizeof expected);
    for (size_t i = 0; i < LANES * in->width; i++)
        expected[i % LANES] += (in->y[i] - in->next[i]) * (in->y[i] - in->next[i]);
    check_bits("distance", LANES, out, expected);
}

static void check_copies(const hmi_batch_kernels *kernels, const input *in)
{
    _Alignas(32) double out[MOST], mask[LANES] = {1, 0, 1, 0}, expected[MOST];
    size_t count = LANES * in->width;
    kernels->copy(in->width, in->y, out);
    check_bits("copy", count, out, in->y);
    kernels->select(mask, in->width, in->next, out);
    for (size_t i = 0; i < count; i++)
        expected[i] = i % 2 == 0 ? in->next[i] : in->y[i];
    check_bits("select", count, out, expected);
}

/* y' = (v, out) and bits where the margin is not positive, NaN among that; bits stay. */
static void check_rates(const hmi_batch_kernels *kernels, const input *in)
{
    _Alignas(32) double dy[MOST], expected[MOST], margin[LANES] = {1e-300, 0, NAN, 2}, bad[LANES];
    size_t n = in->width / 2, count = LANES * in->width;
    uint64_t bits[LANES];
    memset(bad, 0, sizeof bad);
    kernels->rates(n, in->width, in->y, in->next, margin, dy, bad);
    memcpy(expected, in->y, LANES * n * sizeof *expected);
    memcpy(expected + LANES * n, in->next, (count - LANES * n) * sizeof *expected);
    check_bits("rates", count, dy, expected);
    for (size_t l = 0; l < LANES; l++)
        margin[l] = 1;
    kernels->rates(n, in->width, in->y, in->next, margin, dy, bad);
    memcpy(bits, bad, sizeof bits);
    for (size_t l = 0; l < LANES; l++)
        assert_int_equal(bits[l] != 0, l == 1 || l == 2);
}

static void check_all(const hmi_batch_kernels *kernels)
{
    random_source random = {7};
    input in;
    for (size_t width = 1; width <= WIDEST; width++) {
        fill(&in, width, &random);
        check_sums(kernels, &in);
        check_norms(kernels, &in);
        check_copies(kernels, &in);
        check_rates(kernels, &in);
    }
}

static void test_here(void **state)
{
    (void)state;
    check_all(hmi_batch_kernels_here());
}

static void test_portable(void **state)
{
    (void)state;
    check_all(&hmi_batch_kernels_portable);
}

/* Of a number and NaN fmax takes the number, and so do the lanes; an error of nothing is nothing. */
static void test_special_values(void **state)
{
    (void)state;
    const hmi_batch_kernels *const both[] = {hmi_batch_kernels_here(), &hmi_batch_kernels_portable};
    _Alignas(32) double x[LANES] = {1, 1, 1, 1}, y1[LANES] = {NAN, 3, -5, 0};
    _Alignas(32) double y2[LANES] = {2, NAN, 4, -0.0}, sum[LANES], expected[LANES];
    for (int k = 0; k < 2; k++) {
        both[k]->scaled(x, y1, y2, 1, tolerance[0], tolerance[1], sum);
        for (size_t l = 0; l < LANES; l++)
            expected[l] = scaled_square(x[l], y1[l], y2[l]);
        check_bits("with NaN", LANES, sum, expected);
        input in;
        fill(&in, 3, &(random_source){1});
        memset(in.K, 0, sizeof in.K);
        both[k]->error(in.estimate, in.K, 3, in.h, in.y, in.next, 3, tolerance, sum);
        check_bits("no error", LANES, sum, (double[LANES]){0});
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_here),
        cmocka_unit_test(test_portable),
        cmocka_unit_test(test_special_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
