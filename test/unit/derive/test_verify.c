/* Sound equations pass hmi_derived_verify; each kind of damage is found and named. */
#include "support/check.h"
#include "support/probe.h"

#include "derive/verify.h"

#include <string.h>

static const char text[] = "coord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2 + x'*y'/4\n"
                           "potential 9.81*z\nconstraint roll: x' = y*z'\n"
                           "constraint rod: x^2 + y^2 = 1\nservo hold: z = 0 with gain 3\n"
                           "input u = sin(t)\nstate w' = -w + u\nforce x = u\n"
                           "nonideal x = -0.1*multiplier(rod)\n";

static void check_found(const hmi_derived *eq, const char *expected)
{
    const char *found = hmi_derived_verify(eq, &(hmi_violation){.text = ""});
    assert_non_null(found);
    if (!strstr(found, expected))
        fail_msg("expected '%s', found '%s'", expected, found);
}

#define DAMAGE(eq, place, value, expected)                                                         \
    do {                                                                                           \
        __typeof__(place) kept = (place);                                                          \
        (place) = (value);                                                                         \
        check_found(eq, expected);                                                                 \
        (place) = kept;                                                                            \
    } while (0)

static void damaged_equations(void **state)
{
    (void)state;
    probe *p = probe_text(text);
    hmi_derived eq;
    hmi_violation violation;
    assert_int_equal(hmi_derive_model(&eq, p->model, p->context), HM_OK);
    assert_null(hmi_derived_verify(&eq, &violation));
    DAMAGE(&eq, eq.M.column.data[2], 2, "column 2 is out of place in row 1 of M");
    DAMAGE(&eq, eq.M.column.data[2], 0, "column 0 is out of place in row 1 of M");
    DAMAGE(&eq, eq.M.start[1], 9, "row 0 of M goes");
    DAMAGE(&eq, eq.M.rows, 2, "M is 2 by 3");
    DAMAGE(&eq, eq.M.value.count, 1, "the rows of M");
    DAMAGE(&eq, eq.M.value.data[0], HMI_NONE, "M 0 is");
    DAMAGE(&eq, eq.constraints.count, 1, "there are 1 rows of constraints");
    DAMAGE(&eq, eq.constraints.b[1], HMI_NONE, "b 1 is");
    DAMAGE(&eq, eq.servos.A.columns, 4, "servos is 1 by 4");
    DAMAGE(&eq, eq.Q[2], 1u << 30, "Q 2 is");
    DAMAGE(&eq, eq.state_rates[0], HMI_NONE, "the rate of state 0");
    DAMAGE(&eq, eq.force_symbols, 0, "Q and C depend on constraint forces");
    DAMAGE(&eq, eq.graph.half, eq.graph.one, "should be the number");
    assert_null(hmi_derived_verify(&eq, &violation));
    hmi_derived_release(&eq);
    probe_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(damaged_equations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
