/* Names that would be printed alike are shown as they are written, all others as ever. */
#include "support/check.h"
#include "support/probe.h"

#include "model/model.h"

#include <string.h>

static bool is_literal(const probe *p, const char *name)
{
    return hmi_model_is_literal(p->model, name);
}

static void test_which(void **state)
{
    (void)state;
    probe *p = probe_text("param x1 = 1, m1 = 2, theta_2 = 3, w_a = 1, q_12 = 1, u = 1\n"
                          "coord x_1, theta2, q[1..3], x2, m2, w_b[1..2]\n"
                          "kinetic m1*(x_1'^2 + theta2'^2 + x2'^2 + m2'^2)/2\n"
                          "for i = 1..3 { kinetic q[i]'^2 }\nkinetic w_b[1]'^2 + w_b[2]'^2\n"
                          "constraint c1: x2 = 0; constraint c_1: m2 = 0; constraint c2: x_1 = 1");
    static const char *const yes[] = {"x1", "x_1", "theta2", "theta_2", "q_12", "c1", "c_1"};
    static const char *const no[] = {"m1", "m2", "x2", "q[1]", "w_a", "w_b[1]", "c2", "u"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        if (!is_literal(p, yes[i]))
            fail_msg("%s should be literal", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (is_literal(p, no[i]))
            fail_msg("%s should not be literal", no[i]);
    probe_close(p);
    p = probe_text("coord x1[1..2], x_1[1..2], x1_; kinetic x1[1]'^2 + x_1[2]'^2 + x1_'^2\n"
                   "kinetic x1[2]'^2 + x_1[1]'^2");
    assert_true(is_literal(p, "x1[1]") && is_literal(p, "x1[2]") && is_literal(p, "x_1[2]"));
    assert_false(is_literal(p, "x1_"));
    probe_close(p);
}

typedef struct page {
    char text[20000];
    size_t length;
} page;

static bool collect(void *user, const char *bytes, size_t length)
{
    page *p = user;
    assert_true(p->length + length < sizeof p->text);
    memcpy(p->text + p->length, bytes, length);
    p->length += length;
    p->text[p->length] = 0;
    return true;
}

static void derive(const probe *p, hm_format format, page *out)
{
    out->length = 0;
    assert_int_equal(hm_system_derive(p->system, format, collect, out), HM_OK);
}

static void check_contains(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no %s in\n%s", part, text);
}

static void test_printed(void **state)
{
    (void)state;
    page shown;
    probe *p = probe_text("param m_1 = 1; coord x1, x_1; kinetic m_1*(x1'^2 + x_1'^2)/2\n"
                          "potential x1^2*x_1");
    derive(p, HM_FORMAT_TEXT, &shown);
    check_contains(shown.text, "x1″ = −2·x1·x_1/m₁");
    check_contains(shown.text, "x_1″ = −x1²/m₁");
    derive(p, HM_FORMAT_LATEX, &shown);
    check_contains(shown.text, "\\ddot{\\mathrm{x1}}");
    check_contains(shown.text, "\\ddot{\\mathrm{x\\_1}}");
    check_contains(shown.text, "m_{1}");
    probe_close(p);
    p = probe_text("coord x1, y_1; kinetic (x1'^2 + y_1'^2)/2; potential x1^2*y_1");
    derive(p, HM_FORMAT_TEXT, &shown);
    check_contains(shown.text, "ẍ₁ = −2·x₁·y₁");
    probe_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which),
        cmocka_unit_test(test_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
