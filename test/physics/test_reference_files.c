/* Tables of numbers that others computed, test/data/benchmarks/data, row by row against the motion of
 * a model in test/physics/benchmarks. */
#include "support/check.h"
#include "support/expect.h"
#include "support/motion.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 5, MOST_ROWS = 600 };

typedef struct table {
    double row[MOST_ROWS][MOST_COLUMNS];
    size_t rows;
} table;

/* Numbers of lines that begin with one; columns stand between tabs or commas. */
static void read_table(const char *name, table *t)
{
    char path[1024], line[512];
    snprintf(path, sizeof path, "%s/test/data/benchmarks/data/%s", HAMEL_SOURCE_DIR, name);
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("cannot read %s", path);
    t->rows = 0;
    while (fgets(line, sizeof line, file) && t->rows < MOST_ROWS) {
        char *at = line, *end;
        double *row = t->row[t->rows];
        for (size_t k = 0; k < MOST_COLUMNS; k++, at = end + (*end == ',')) {
            row[k] = strtod(at, &end);
            if (end == at)
                break;
        }
        t->rows += at != line;
    }
    fclose(file);
    assert_true(t->rows > 3);
}

static double value_of(const motion *m, const char *name)
{
    hm_frame frame;
    assert_int_equal(hm_sim_frame(m->sim, HM_FRAME_CONTENT_FORCES, &frame), HM_OK);
    for (size_t i = 0; i < hm_model_output_count(m->model); i++)
        if (strcmp(hm_model_output_name(m->model, i), name) == 0)
            return frame.outputs[i];
    return motion_value(m, name);
}

typedef struct reference {
    const char *model, *file, *source;
    const char *names[MOST_COLUMNS - 1]; /* columns after the time */
    double tolerance;                    /* absolute, over all rows */
    double until;                        /* rows up to this time */
} reference;

static const reference references[] = {
    {"iftomm-a01", "iftomm_A01_t_x_y.csv", "iftomm_A01.md", {"x", "y"}, 6e-7, 100},
    {"modelica-double-pendulum",
     "modelica_DoublePendulum.csv",
     "modelica_reference.md",
     {"p1", "p1'", "p2", "p2'"},
     1e-4,
     3},
#define JOINT(model, name, position, force, torque, until)                                         \
    {model, "adams/" name "_Pos.txt", "chrono_adams_joints.md", {"x", "y", "z"}, position, until}, \
        {model,                                                                                    \
         "adams/" name "_Vel.txt",                                                                 \
         "chrono_adams_joints.md",                                                                 \
         {"vel[1]", "vel[2]", "vel[3]"},                                                           \
         5 * position,                                                                             \
         until},                                                                                   \
        {model,                                                                                    \
         "adams/" name "_Acc.txt",                                                                 \
         "chrono_adams_joints.md",                                                                 \
         {"acc[1]", "acc[2]", "acc[3]"},                                                           \
         force,                                                                                    \
         until},                                                                                   \
        {model,                                                                                    \
         "adams/" name "_Quat.txt",                                                                \
         "chrono_adams_joints.md",                                                                 \
         {"e0", "e1", "e2", "e3"},                                                                 \
         position,                                                                                 \
         until},                                                                                   \
        {model,                                                                                    \
         "adams/" name "_Avel.txt",                                                                \
         "chrono_adams_joints.md",                                                                 \
         {"avel[1]", "avel[2]", "avel[3]"},                                                        \
         5 * position,                                                                             \
         until},                                                                                   \
        {model,                                                                                    \
         "adams/" name "_Rforce.txt",                                                              \
         "chrono_adams_joints.md",                                                                 \
         {"rforce[1]", "rforce[2]", "rforce[3]"},                                                  \
         force,                                                                                    \
         until},                                                                                   \
    {                                                                                              \
        model, "adams/" name "_Rtorque.txt", "chrono_adams_joints.md",                             \
            {"rtorque[1]", "rtorque[2]", "rtorque[3]"}, torque, until                              \
    }
    JOINT("adams-revolute", "Revolute_Case02", 2e-5, 1e-3, 2e-3, 2),
    JOINT("adams-spherical", "Spherical_Case02", 2e-5, 1e-3, 2e-3, 2),
    /* The same plane pendulum as the spherical joint's, but ADAMS' two files differ by 2.4e-4 at
     * t = 2: the universal one was integrated to less accuracy. */
    JOINT("adams-universal", "Universal_Case01", 3e-4, 5e-3, 2e-3, 2),
    /* The bar slides 14 m away from where the torque is measured. */
    JOINT("adams-cylindrical", "Cylindrical_Case03", 2e-5, 1e-3, 2e-2, 2),
};

static void check_reference(const reference *r)
{
    static table t;
    char path[256], quantity[256];
    double worst = 0;
    size_t used = 0, columns = 0;
    read_table(r->file, &t);
    snprintf(path, sizeof path, "test/physics/benchmarks/%s.hamel", r->model);
    motion *m = motion_file(path, NULL, 0);
    assert_int_equal(hm_sim_start(m->sim, &m->options), HM_OK);
    for (; used < t.rows && t.row[used][0] <= r->until + 1e-9; used++) {
        const double *row = t.row[used];
        if (row[0] > hm_sim_time(m->sim))
            motion_advance(m, row[0]);
        for (columns = 0; columns < MOST_COLUMNS - 1 && r->names[columns]; columns++) {
            double error = fabs(value_of(m, r->names[columns]) - row[columns + 1]);
            worst = isfinite(error) ? fmax(worst, error) : INFINITY;
        }
    }
    assert_true(used > 3);
    snprintf(quantity, sizeof quantity, "largest difference, %zu rows to t = %g, %s ... %s in %s",
             used, r->until, r->names[0], r->names[columns - 1], r->file);
    expect_compare(&(comparison){hm_model_name(m->model), path, r->source, quantity, "published", 0,
                                 worst, r->tolerance});
    motion_close(m);
}

static void test_references(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof references / sizeof *references; i++)
        check_reference(&references[i]);
}

/* 60 positions at t = 1000, as the IVP test set gives them; multipliers (N - 1)/4 there. */
static void test_fekete(void **state)
{
    (void)state;
    static table t;
    char name[16];
    double worst = 0, q[60], lambda = 0;
    read_table("fekete_ref_y160.txt", &t);
    assert_int_equal(t.rows, 160);
    motion *m = motion_file("test/physics/benchmarks/fekete.hamel", NULL, 0);
    m->options.end = 1000;
    motion_must(m);
    hm_frame frame;
    assert_int_equal(hm_sim_frame(m->sim, HM_FRAME_CONTENT_FORCES, &frame), HM_OK);
    for (size_t i = 0; i < 20; i++) {
        for (size_t k = 0; k < 3; k++) {
            snprintf(name, sizeof name, "%c[%zu]", "xyz"[k], i + 1);
            q[3 * i + k] = motion_value(m, name);
            worst = fmax(worst, fabs(q[3 * i + k] - t.row[3 * i + k][0]));
        }
        lambda = fmax(lambda, fabs(frame.lambda[i] - t.row[120 + i][0]));
    }
    expect_compare(&(comparison){"fekete", "test/physics/benchmarks/fekete.hamel", "fekete.md",
                                 "largest difference of 60 positions at t = 1000", "published", 0,
                                 worst, 1e-9});
    expect_compare(&(comparison){"fekete", "test/physics/benchmarks/fekete.hamel", "fekete.md",
                                 "largest difference of 20 multipliers at t = 1000", "published", 0,
                                 lambda, 1e-9});
    motion_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_fekete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
