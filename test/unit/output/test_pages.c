/* Pages of results with more than they can show, and names that are hard to read. */
#include "helpers.h"

#include <math.h>
#include <stdio.h>

enum { ROWS = 20, MOST_COLUMNS = 150 };

typedef struct sheet {
    size_t columns;
    char names[MOST_COLUMNS][200];
    double size[MOST_COLUMNS];
} sheet;

static void add_column(sheet *s, double size, const char *name)
{
    assert_true(s->columns < MOST_COLUMNS);
    snprintf(s->names[s->columns], sizeof s->names[0], "%s", name);
    s->size[s->columns++] = size;
}

static hm_table *table_of(const sheet *s)
{
    const char *names[MOST_COLUMNS];
    hm_table *table;
    for (size_t i = 0; i < s->columns; i++)
        names[i] = s->names[i];
    assert_int_equal(hm_table_create(NULL, s->columns, names, &table), HM_OK);
    for (int k = 0; k < ROWS; k++) {
        double row[MOST_COLUMNS] = {k};
        for (size_t i = 1; i < s->columns; i++)
            row[i] = s->size[i] * sin(0.4 * k + (double)i);
        assert_int_equal(hm_table_add_row(table, row), HM_OK);
    }
    return table;
}

static size_t count_of(const char *text, const char *what)
{
    size_t count = 0;
    for (const char *at = strstr(text, what); at; at = strstr(at + 1, what))
        count++;
    return count;
}

/* The page of a run; each fragment is on it so many times. */
typedef struct expected {
    const char *fragment;
    size_t count;
} expected;

static void check_page(const sheet *s, const expected *fragments)
{
    hm_table *table = table_of(s);
    hm_figure *figure;
    collected c = {0};
    assert_int_equal(hm_figure_create(NULL, "page", NULL, &figure), HM_OK);
    assert_int_equal(hm_figure_run(figure, table), HM_OK);
    assert_int_equal(hm_figure_svg(figure, collect, &c), HM_OK);
    for (; fragments->fragment; fragments++)
        if (count_of(c.text, fragments->fragment) != fragments->count)
            fail_msg("'%s' is there %zu times, not %zu", fragments->fragment,
                     count_of(c.text, fragments->fragment), fragments->count);
    free(c.text);
    hm_figure_destroy(figure);
    hm_table_destroy(table);
}
#define CHECK_PAGE(s, ...) check_page(s, (const expected[]){__VA_ARGS__, {NULL, 0}})

static void add_many(sheet *s, const char *format, int count, double size)
{
    char name[64];
    for (int i = 1; i <= count; i++) {
        snprintf(name, sizeof name, format, i);
        add_column(s, size, name);
    }
}

/* Twenty particles: twelve paths, and a part of the curves, and both are said. */
static void says_what_it_leaves_out(void **state)
{
    (void)state;
    sheet s = {0};
    add_column(&s, 1, "t");
    add_many(&s, "x[%d]", 20, 1);
    add_many(&s, "y[%d]", 20, 1);
    add_many(&s, "x[%d]'", 20, 1);
    add_many(&s, "y[%d]'", 20, 1);
    CHECK_PAGE(&s, {"paths of 12 of 20 points", 1}, {" curves are shown", 2});
}

static void finds_points_by_their_names(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"X", "Y"}, {"foot_x", "foot_y"}, {"Ax", "Ay"}, {"x_tip", "y_tip"}};
    for (size_t k = 0; k < 4; k++) {
        sheet s = {0};
        add_column(&s, 1, "t");
        add_column(&s, 1, pairs[k][0]);
        add_column(&s, 1, pairs[k][1]);
        CHECK_PAGE(&s, {">path<", 1});
    }
    sheet s = {0}; /* no x of a point: in the middle of a word, or without a partner */
    add_column(&s, 1, "t");
    add_column(&s, 1, "axle");
    add_column(&s, 1, "ayle");
    add_column(&s, 1, "x");
    CHECK_PAGE(&s, {">path<", 0});
}

/* A point in the plane and one in space: the paths are those of the first. */
static void keeps_to_one_dimension(void **state)
{
    (void)state;
    sheet s = {0};
    add_column(&s, 1, "t");
    add_column(&s, 1, "ax");
    add_column(&s, 1, "ay");
    add_column(&s, 1, "bx");
    add_column(&s, 1, "by");
    add_column(&s, 1, "bz");
    CHECK_PAGE(&s, {">path<", 1}, {">ax, ay<", 0}, {">bx, by, bz<", 0});
}

/* Portraits of one scale share a panel; one of another scale is not among them. */
static void portraits_of_one_scale(void **state)
{
    (void)state;
    sheet s = {0};
    add_column(&s, 1, "t");
    add_column(&s, 1, "a");
    add_column(&s, 50, "b");
    add_column(&s, 2, "c");
    add_column(&s, 1, "a'");
    add_column(&s, 1, "b'");
    add_column(&s, 40, "c'");
    CHECK_PAGE(&s, {">phase portrait<", 1}, {">phase portraits<", 0});
    snprintf(s.names[6], sizeof s.names[6], "c'");
    s.size[6] = 2;
    CHECK_PAGE(&s, {">phase portraits<", 1});
}

static void names_of_any_length(void **state)
{
    (void)state;
    sheet s = {0};
    char name[160];
    add_column(&s, 1, "t");
    memset(name, 'x', 150);
    strcpy(name + 150, "");
    add_column(&s, 1, name);
    strcpy(name + 150, "'");
    add_column(&s, 1, name);
    strcpy(name + 150, "[1]");
    add_column(&s, 1, name);
    CHECK_PAGE(&s, {">path<", 0}, {">phase portrait<", 0});
}

/* More energies than a panel takes; violations; one value among those that are missing. */
static void many_of_a_kind(void **state)
{
    (void)state;
    sheet s = {0};
    add_column(&s, 1, "t");
    add_column(&s, 1, "theta");
    add_many(&s, "energy(part%d)", 8, 1);
    add_column(&s, 1e-9, "energy(error)");
    add_column(&s, 1e-12, "violation(position)");
    add_column(&s, 1e-13, "violation(velocity)");
    CHECK_PAGE(&s, {">part6<", 1}, {">part7<", 0}, {">energy balance<", 1},
               {">constraint violation<", 1});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_what_it_leaves_out), cmocka_unit_test(finds_points_by_their_names),
        cmocka_unit_test(keeps_to_one_dimension),  cmocka_unit_test(portraits_of_one_scale),
        cmocka_unit_test(names_of_any_length),     cmocka_unit_test(many_of_a_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
