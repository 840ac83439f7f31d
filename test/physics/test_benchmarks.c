/* Published and recomputed benchmark problems: test/data/benchmarks. Each is run with tight
 * tolerances to the accuracy its sheet justifies; violation is watched at every step. */
#include "physics/benchmark_models.h"
#include "support/check.h"
#include "support/motion.h"

#include <math.h>
#include <string.h>

typedef struct value {
    const char *name;        /* "x" or "x'" */
    double value, tolerance; /* tolerance 0: that of the check */
} value;

typedef struct check {
    const char *what, *text;
    double t, tolerance;
    value values[14];
} check;

static const check checks[] = {
    {"andrews (example)",
     NULL,
     0.03,
     2e-9,
     {{"beta", 15.81077119515370709711976, 0},
      {"Theta", -15.75637105841183946972824, 0},
      {"gamma", 0.04082224011964580485825701, 0},
      {"Phi", -0.5347301163420795937702130, 0},
      {"delta", 0.5244099658799540693716573, 0},
      {"Omega", 0.5347301163420795937702065, 0},
      {"epsilon", 1.048080741041937873068502, 0},
      {"beta'", 1139.920302259106064198051, 1e-6},
      {"gamma'", 11.03291191061859374544066, 1e-6},
      {"Phi'", 19.29337410503204083182697, 1e-6}}},
    {"car axis",
     CAR_AXIS,
     3,
     1e-10,
     {{"xl", 4.934557842752409213e-2, 0},
      {"yl", 0.4969894602300081067629, 0},
      {"xr", 1.041742524885426115195, 0},
      {"yr", 0.3739110272653658193579, 0},
      {"xl'", -7.705836840359208428394e-2, 1e-8},
      {"yr'", 0.7703410437796010631206, 1e-8}}},
    {"chaplygin sleigh t=1",
     SLEIGH,
     1,
     1e-11,
     {{"x", .018531894501724406, 0}, {"y", 1.129898468636492, 0}, {"th", 1.5985121288201197, 0}}},
    {"chaplygin sleigh t=10",
     SLEIGH,
     10,
     1e-11,
     {{"x", -12.507029204792381, 0}, {"y", 7.8252111996418432, 0}, {"th", 2.7379773874483389, 0}}},
    {"revolute t=2",
     REVOLUTE,
     2,
     1e-8,
     {{"x", -.9999998035, 0}, {"y", 2.0006268938, 0}, {"z", 2.9993731062, 0}}},
    {"revolute t=5",
     REVOLUTE,
     5,
     1e-8,
     {{"x", 1.2099605074, 0}, {"y", 3.4063990517, 0}, {"z", 1.5936009483, 0}}},
    {"IFToMM A01 t=10",
     PENDULUM("9.81", "x = -1, y = 0"),
     10,
     1e-10,
     {{"x", -0.27508746257611686005, 0}, {"y", -0.96141920509912506427, 0}}},
    {"IFToMM A01 t=100",
     PENDULUM("9.81", "x = -1, y = 0"),
     100,
     2e-9,
     {{"x", -0.18151335142703138454, 0}, {"y", -0.98338848033405750468, 0}}},
    {"slider-crank t=1",
     CRANK,
     1,
     1e-11,
     {{"q", 1.31542057088170, 0}, {"x", 1.00149180723080, 0}, {"p", -.504973470642001, 0}}},
    {"slider-crank t=10",
     CRANK,
     10,
     1e-11,
     {{"q", 1.27567584865024, 0},
      {"x", 1.02357855897984, 0},
      {"p", -.498813049182499, 0},
      {"q'", -.239914997196001, 0}}},
    {"cvPendulum",
     PENDULUM("13.750371636040745654980191559621114", "x = 1, y = 0"),
     30,
     1e-9,
     {{"x", 1, 0}, {"y", 0, 0}, {"x'", 0, 0}, {"y'", 0, 0}}},
    {"Appell-Hamel",
     APPELL,
     2,
     1e-12,
     {{"x", 6.85056, 0}, {"y", 9.13408, 0}, {"z", -8.5632, 0}, {"z'", -7.8132, 0}}},
    {"Modelica double pendulum",
     BOXES,
     3,
     1e-9,
     {{"p1", -2.31791567544341, 0},
      {"p1'", 4.09416473219973, 0},
      {"p2", -1.73653457295933, 0},
      {"p2'", -.0503945316577427, 0}}},
    {"isokinetic",
     ISOKINETIC,
     1,
     1e-11,
     {{"x", .83417573932023988, 0},
      {"y", -1.4512483114974283, 0},
      {"x'", .049955456339307577, 0},
      {"y'", -1.9993760157563988, 0}}},
    {"knife edge",
     KNIFE,
     5,
     1e-11,
     {{"x", 1.0089446180513659, 0},
      {"y", 12.161147099820496, 0},
      {"x'", -2.2295236196050911, 0},
      {"y'", 2.219678159713005, 0}}},
    {"vertical disk", DISK, 1, 1e-12, {{"x", .4546487134128408, 0}, {"y", .7080734182735712, 0}}},
    {"contact oscillator t=10",
     CONTACT,
     10,
     1e-11,
     {{"x", -1.0188691676496194, 0},
      {"y", -.54402111088936980, 0},
      {"z", -.57493504618902733, 0},
      {"x'", .37971438177132681, 0},
      {"z'", .69797729200355291, 0}}},
    {"contact oscillator t=100",
     CONTACT,
     100,
     1e-10,
     {{"x", -1.1848660456187704, 0}, {"y", -.50636564110975869, 0}, {"z", .77205749928947757, 0}}},
    {"nonholonomic particle t=10",
     PARTICLE(""),
     10,
     1e-11,
     {{"x", -.53216913457285659, 0}, {"y", -.5440211108893698, 0}, {"z", -2.4758334277453527, 0}}},
    {"nonholonomic particle t=100",
     PARTICLE(""),
     100,
     1e-10,
     {{"x", -.1433513414395898, 0}, {"y", -.5063656411097589, 0}, {"z", 1.9531495718587214, 0}}},
    {"its gauge-changed form",
     PARTICLE("lagrangian -sin(z)*z'"),
     10,
     1e-11,
     {{"x", -.53216913457285659, 0}, {"y", -.5440211108893698, 0}, {"z", -2.4758334277453527, 0}}},
    {"MEBDF pendulum",
     PENDULUM("1", "x = 1, y = 0, x' = 0, y' = 1"),
     1,
     1e-12,
     {{"x", .867348640600439321734, 0},
      {"y", .497701050479672929354, 0},
      {"x'", -.0337480180609545196091, 0},
      {"y'", .0588130114652500075408, 0}}},
    {"Kepler",
     KEPLER,
     50,
     2e-9,
     {{"x", .220545956874554525183, 0}, {"y", -.457264445261564034745, 0}}},
    {"Arenstorf", ARENSTORF, 17.0652165601579625588917206249, 1e-6, {{"x", 0.994, 0}, {"y", 0, 0}}},
    {"Pleiades",
     PLEIADES,
     3,
     1e-9,
     {{"x[1]", .3706139143970502, 0},
      {"x[2]", 3.237284092057233, 0},
      {"x[3]", -3.222559032418324, 0},
      {"x[7]", -.7003092922212495, 0},
      {"y[1]", -3.943437585517392, 0},
      {"y[6]", -.2429682344935824, 0}}},
    {"Foucault",
     FOUCAULT,
     100,
     1e-10,
     {{"x", .0781458429567759262890, 0}, {"y", .483686275423776327103, 0}}},
    {"spherical pendulum",
     SPHERICAL,
     10,
     1e-10,
     {{"x", -.608831159010109917529, 0},
      {"y", -.181605195030970411664, 0},
      {"z", -.77223323740704754328, 0}}},
    {"heavy top",
     TOP,
     0.2,
     1e-10,
     {{"e0", -.708279152974312, 0},
      {"e1", .438781088126582, 0},
      {"e2", .545728396145418, 0},
      {"e3", .0893997528240051, 0}}},
    {"Fekete t=1",
     FEKETE,
     1,
     1e-11,
     {{"x[1]", -0.3499782793732525207, 0},
      {"y[1]", 0.3688557634719873067, 0},
      {"z[1]", 0.8610810819664051613, 0}}},
};

static void run_check(const check *c)
{
    motion *m = c->text ? motion_text(c->text) : motion_file("examples/andrews.hamel", NULL, 0);
    m->options.end = c->t;
    m->options.rtol = 1e-13;
    m->options.atol = 1e-15;
    motion_must(m);
    double worst = 0;
    for (const value *v = c->values; v->name; v++) {
        double error = fabs(motion_value(m, v->name) - v->value) / fmax(1, fabs(v->value));
        double tolerance = v->tolerance > 0 ? v->tolerance : c->tolerance;
        worst = fmax(worst, error);
        if (!(error <= tolerance))
            fail_msg("%s: %s is %.17g, not %.17g", c->what, v->name, motion_value(m, v->name),
                     v->value);
    }
    double violation = motion_violation(m);
    print_message("%-28s error %.1e  violation %.1e  steps %ld\n", c->what, worst, violation,
                  m->result.steps);
    if (violation > 1e-12 && strncmp(c->what, "andrews", 7) != 0)
        fail_msg("%s: violation %.2g", c->what, violation);
    motion_close(m);
}

/* A02: passes its flat position, where the constraints lose rank, and says so. */
static void test_four_bars(void **state)
{
    (void)state;
    motion *m = motion_text(FOURBARS);
    m->options.end = 10;
    motion_must(m);
    check_number("x at default tolerances", motion_value(m, "x[0]"), 0.328458111540815379, 1e-6);
    assert_true(motion_says(m, "lost rank"));
    assert_true(motion_violation(m) < 1e-12);
    motion_close(m);
    m = motion_text(FOURBARS);
    m->options.end = 10;
    m->options.rtol =
        1.2e-12; /* near 1e-12 rounding decides which branch is taken at a rank drop */
    m->options.atol = 1e-14;
    motion_must(m);
    check_number("x", motion_value(m, "x[0]"), 0.328458111540815379, 1e-9);
    check_number("y", motion_value(m, "y[0]"), 0.944518538178600962, 1e-9);
    check_number("x'", motion_value(m, "x[0]'"), 1.42305147020694412, 1e-9);
    motion_close(m);
}

/* A05: stiff, as run by a user who chooses nothing. */
static void test_flyball(void **state)
{
    (void)state;
    motion *m = motion_text(FLYBALL);
    m->options.end = 10;
    motion_must(m);
    assert_string_equal(m->result.method, "radau");
    check_number("s", motion_value(m, "s"), .61962291706137, 1e-8);
    check_number("al", motion_value(m, "al"), .39007370184465, 1e-8);
    check_number("psi'", motion_value(m, "psi'"), 5.5482036226549, 1e-7);
    motion_close(m);
}

static void test_benchmarks(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        run_check(&checks[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_benchmarks),
        cmocka_unit_test(test_four_bars),
        cmocka_unit_test(test_flyball),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
