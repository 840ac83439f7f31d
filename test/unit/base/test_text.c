/* Growing text, numbers as text and back in any locale, names, UTF-8, edit distance. */
#include <float.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"

static hm_allocator heap;

static int open_heap(void **state)
{
    (void)state;
    heap = hm_allocator_default();
    return 0;
}

/* ---- text ---- */

static void test_text(void **state)
{
    (void)state;
    hmi_text text;
    hmi_text_init(&text, &heap);
    assert_string_equal(hmi_text_view(&text), "");
    hmi_text_add(&text, "");
    assert_string_equal(hmi_text_view(&text), "");
    hmi_text_add(&text, "one");
    hmi_text_addf(&text, " %d %s", 2, "three");
    hmi_text_add_bytes(&text, "\0four", 5);
    assert_int_equal(text.length, 16);
    assert_memory_equal(text.data, "one 2 three\0four", 17);
    for (int i = 0; i < 10000; i++)
        hmi_text_addf(&text, "%05d", i);
    assert_int_equal(text.length, 16 + 50000);
    assert_memory_equal(text.data + 16 + 5 * 1234, "01234", 5);
    assert_false(text.failed);
    hmi_text_release(&text);
    assert_string_equal(hmi_text_view(&text), "");
}

static void *no_memory(void *user, void *ptr, size_t old_size, size_t new_size)
{
    (void)user;
    (void)old_size;
    if (new_size == 0)
        free(ptr);
    return new_size && new_size < 100 ? realloc(ptr, new_size) : NULL;
}

/* After a failure the text stays as it was, and the flag says so. */
static void test_text_without_memory(void **state)
{
    (void)state;
    const hm_allocator scarce = {no_memory, NULL};
    hmi_text text;
    hmi_text_init(&text, &scarce);
    hmi_text_add(&text, "kept");
    char large[200];
    memset(large, 'x', sizeof large);
    hmi_text_add_bytes(&text, large, sizeof large);
    assert_true(text.failed);
    assert_string_equal(hmi_text_view(&text), "kept");
    hmi_text_add(&text, " more");
    hmi_text_addf(&text, "%d", 1);
    assert_string_equal(hmi_text_view(&text), "kept");
    hmi_text_release(&text);
}

/* ---- numbers ---- */

static double read_back(const char *text)
{
    return hmi_number_value(text, strlen(text));
}

static void check_number(double value, const char *expected)
{
    char buffer[HMI_NUMBER_TEXT];
    assert_string_equal(hmi_number_text(value, buffer), expected);
    assert_true(read_back(buffer + (buffer[0] == '-')) == fabs(value));
}

static void check_numbers(void)
{
    check_number(0, "0");
    check_number(3, "3");
    check_number(-12, "-12");
    check_number(0.1, "0.1");
    check_number(-2.5, "-2.5");
    check_number(1.0 / 3, "0.3333333333333333");
    check_number(9.81, "9.81");
    check_number(1e-12, "1e-12");
    check_number(1234567, "1234567");
    check_number(999999999, "999999999");
    check_number(1e9, "1e+09");
    check_number(6.02214076e23, "6.02214076e+23");
    check_number(0.30000000000000004, "0.30000000000000004");
    check_number(DBL_MAX, "1.7976931348623157e+308");
    check_number(5e-324, "5e-324");
}

/* The shortest text that reads back as the same double. */
static void test_numbers(void **state)
{
    (void)state;
    check_numbers();
    uint64_t bits = 88172645463325252u;
    for (int i = 0; i < 100000; i++) {
        double value;
        char buffer[HMI_NUMBER_TEXT];
        bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        hmi_number_text(fabs(value), buffer);
        assert_true(read_back(buffer) == fabs(value));
    }
}

static void test_number_values(void **state)
{
    (void)state;
    assert_true(read_back("1") == 1);
    assert_true(read_back("1.") == 1);
    assert_true(read_back(".5") == 0.5);
    assert_true(read_back("1.5e3") == 1500);
    assert_true(read_back("2E-3") == 0.002);
    assert_true(hmi_number_value("12.75xyz", 5) == 12.75); /* only so many characters */
    assert_true(isinf(read_back("1e400")));
    assert_true(read_back("1e-400") == 0);
    char digits[600];
    memset(digits, '7', sizeof digits);
    assert_true(isfinite(hmi_number_value(digits, 300)));
    assert_true(isnan(hmi_number_value(digits, sizeof digits)));
}

/* A locale whose decimal point is a comma; made here, since a test machine may have none. */
static bool use_comma_locale(char *folder, size_t size)
{
    static const char *const installed[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8", "de_DE"};
    for (size_t i = 0; i < sizeof installed / sizeof *installed; i++)
        if (setlocale(LC_NUMERIC, installed[i]))
            return true;
    char command[512];
    snprintf(folder, size, "%s/hamel-locale-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    if (!mkdtemp(folder))
        return false;
    snprintf(command, sizeof command,
             "localedef -c -i de_DE -f UTF-8 %s/de_DE.UTF-8 > /dev/null 2>&1", folder);
    if (system(command) == -1)
        return false;
    setenv("LOCPATH", folder, 1);
    return setlocale(LC_NUMERIC, "de_DE.UTF-8") != NULL;
}

static void test_comma_locale(void **state)
{
    (void)state;
    char folder[256] = "", command[512];
    bool comma = use_comma_locale(folder, sizeof folder);
    if (comma) {
        char shown[32];
        snprintf(shown, sizeof shown, "%.1f", 0.5);
        assert_string_equal(shown, "0,5"); /* the locale is really in force */
        check_numbers();
        assert_true(read_back("1.5e3") == 1500);
    }
    setlocale(LC_NUMERIC, "C");
    if (folder[0]) {
        snprintf(command, sizeof command, "rm -rf '%s'", folder);
        assert_int_equal(system(command), 0);
    }
    if (!comma)
        skip();
}

/* ---- names ---- */

static void test_names(void **state)
{
    (void)state;
    hmi_names names;
    char text[32];
    hmi_names_init(&names, &heap);
    assert_int_equal(hmi_names_find(&names, "x", 1), HMI_NO_NAME);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 20000; i++) {
            int length = snprintf(text, sizeof text, "name%d", i);
            assert_int_equal(hmi_names_intern(&names, text, (size_t)length), i);
        }
    assert_int_equal(hmi_names_find(&names, "name777", 7), 777);
    assert_int_equal(hmi_names_find(&names, "name7777777", 7), 777); /* only so many bytes */
    assert_int_equal(hmi_names_find(&names, "name", 4), HMI_NO_NAME);
    assert_string_equal(hmi_names_text(&names, 19999), "name19999");
    assert_int_equal(hmi_names_intern(&names, "", 0), 20000);
    assert_int_equal(hmi_names_find(&names, "", 0), 20000);
    hmi_names_release(&names);
}

/* ---- UTF-8 ---- */

static void check_character(const char *bytes, uint32_t expected)
{
    uint32_t character = 0;
    size_t length = strlen(bytes);
    assert_int_equal(hmi_utf8_decode(bytes, length, &character), length);
    assert_int_equal(character, expected);
    for (size_t cut = 1; cut < length; cut++)
        assert_int_equal(hmi_utf8_decode(bytes, cut, &character), 0);
}

static void test_utf8(void **state)
{
    (void)state;
    uint32_t character;
    check_character("a", 'a');
    check_character("\xC3\xA4", 0xE4);
    check_character("\xCE\xB8", 0x3B8);
    check_character("\xE2\x88\x92", 0x2212);
    check_character("\xF0\x9F\x98\x80", 0x1F600);
    check_character("\xF4\x8F\xBF\xBF", 0x10FFFF);
    assert_int_equal(hmi_utf8_decode("\0", 1, &character), 1);
    static const char *const wrong[] = {
        "\x80",         "\xC0\xAF",         "\xC1\xBF",         "\xE0\x80\xAF",
        "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF",
        "\xC3(",        "\xE2\x88("};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(hmi_utf8_decode(wrong[i], strlen(wrong[i]), &character), 0);
}

/* ---- edit distance ---- */

static void test_edit_distance(void **state)
{
    (void)state;
    assert_int_equal(hmi_edit_distance("theta", "theta", 3), 0);
    assert_int_equal(hmi_edit_distance("thta", "theta", 3), 1);
    assert_int_equal(hmi_edit_distance("thetaa", "theta", 3), 1);
    assert_int_equal(hmi_edit_distance("tehta", "theta", 3), 1); /* a transposition */
    assert_int_equal(hmi_edit_distance("thexa", "theta", 3), 1);
    assert_int_equal(hmi_edit_distance("abc", "xyz", 5), 3);
    assert_int_equal(hmi_edit_distance("abc", "xyz", 1), 2); /* cut off at most + 1 */
    assert_int_equal(hmi_edit_distance("", "ab", 3), 2);
    assert_int_equal(hmi_edit_distance("", "", 3), 0);
    assert_int_equal(hmi_edit_distance("\xCE\xB8\xCF\x86", "\xCE\xB8", 3), 1); /* in characters */
    char long_a[200], long_b[200];
    memset(long_a, 'a', 199);
    memset(long_b, 'a', 199);
    long_a[199] = long_b[199] = '\0';
    long_b[10] = 'b';
    assert_int_equal(hmi_edit_distance(long_a, long_b, 3), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),         cmocka_unit_test(test_text_without_memory),
        cmocka_unit_test(test_numbers),      cmocka_unit_test(test_number_values),
        cmocka_unit_test(test_comma_locale), cmocka_unit_test(test_names),
        cmocka_unit_test(test_utf8),         cmocka_unit_test(test_edit_distance),
    };
    return cmocka_run_group_tests(tests, open_heap, NULL);
}
