/* The hash table and the random generator: base/hash.h, base/random.h. */
#include "base/hash.h"
#include "base/random.h"
#include "support/check.h"

#include <string.h>

enum { COUNT = 5000 };

static bool same_number(const void *wanted, uint32_t number, const void *things)
{
    return ((const uint64_t *)things)[number] == *(const uint64_t *)wanted;
}

/* A hash with few values makes long probes: they must still end at the right thing. */
static uint32_t poor_hash(uint64_t value)
{
    return (uint32_t)(value % 97);
}

static void each_thing_is_found_and_no_other(void **state)
{
    (void)state;
    static uint64_t things[COUNT];
    const hm_allocator allocator = hm_allocator_default();
    hmi_hash table;
    hmi_hash_init(&table, &allocator);
    for (uint32_t i = 0; i < COUNT; i++) {
        things[i] = (uint64_t)i * 2654435761u;
        uint64_t wanted = things[i];
        assert_int_equal(hmi_hash_find(&table, poor_hash(wanted), same_number, &wanted, things),
                         HMI_HASH_NONE);
        assert_true(hmi_hash_add(&table, poor_hash(wanted), i));
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        uint64_t wanted = things[i], other = things[i] + 1;
        assert_int_equal(hmi_hash_find(&table, poor_hash(wanted), same_number, &wanted, things), i);
        assert_int_equal(hmi_hash_find(&table, poor_hash(other), same_number, &other, things),
                         HMI_HASH_NONE);
    }
    hmi_hash_clear(&table);
    assert_int_equal(hmi_hash_find(&table, poor_hash(0), same_number, &things[0], things),
                     HMI_HASH_NONE);
    hmi_hash_release(&table);
}

/* The first numbers of splitmix64 with seed 1234567, as its authors publish them. */
static void the_generator_is_splitmix64(void **state)
{
    (void)state;
    static const uint64_t known[] = {6457827717110365317u, 3203168211198807973u,
                                     9817491932198370423u, 4593380528125082431u,
                                     16408922859458223821u};
    hmi_random random = {1234567};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_true(hmi_random_bits(&random) == known[i]);
}

static void numbers_fill_the_interval(void **state)
{
    (void)state;
    hmi_random random = {7};
    double sum = 0, least = 1, largest = 0;
    for (int i = 0; i < 100000; i++) {
        double x = hmi_random_between(&random, -2, 4);
        assert_true(x >= -2 && x < 4);
        sum += x;
        least = x < least ? x : least;
        largest = x > largest ? x : largest;
    }
    assert_true(sum / 100000 > 0.97 && sum / 100000 < 1.03); /* 5 standard errors: 0.027 */
    assert_true(least < -1.999 && largest > 3.999);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_thing_is_found_and_no_other),
        cmocka_unit_test(the_generator_is_splitmix64),
        cmocka_unit_test(numbers_fill_the_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
