/* Figures: well-formed SVG that is the same everywhere, curves without invisible points, pages that
 * show what there is. HAMEL_UPDATE_GOLDEN=1 writes the golden figure anew. */
#include "helpers.h"
#include "output/plot/plot.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

/* ---- a reader of XML that knows just enough ---- */

/* Tags nest, attributes are quoted, '<' and '&' stand only where they may. */
static bool well_formed(const char *c)
{
    char open[32][16];
    int depth = 0, roots = 0;
    while (*c) {
        if (*c == '&' && strncmp(c, "&lt;", 4) && strncmp(c, "&gt;", 4) && strncmp(c, "&amp;", 5))
            return false;
        if (*c != '<') {
            if (depth == 0 && !isspace((unsigned char)*c))
                return false;
            c++;
            continue;
        }
        bool closing = c[1] == '/';
        char name[16];
        int length = 0;
        for (c += 1 + closing; isalpha((unsigned char)*c) && length < 15; c++)
            name[length++] = *c;
        name[length] = '\0';
        for (bool quoted = false; *c && (quoted || *c != '>'); c++) {
            if (*c == '<')
                return false;
            quoted ^= *c == '"';
        }
        if (*c++ != '>' || length == 0)
            return false;
        if (closing) {
            if (depth == 0 || strcmp(open[--depth], name) != 0)
                return false;
        } else if (c[-2] != '/') {
            roots += depth == 0;
            if (depth == 32)
                return false;
            strcpy(open[depth++], name);
        }
    }
    return depth == 0 && roots == 1;
}

static size_t count_of(const char *text, const char *what)
{
    size_t count = 0;
    for (const char *at = strstr(text, what); at; at = strstr(at + 1, what))
        count++;
    return count;
}

static char *draw(const hm_figure *figure)
{
    collected c = {0};
    assert_int_equal(hm_figure_svg(figure, collect, &c), HM_OK);
    assert_true(well_formed(c.text));
    return c.text;
}

/* ---- a small figure ---- */

enum { SMALL = 9 };
static double small_x[SMALL], small_y[SMALL];

static hm_figure *small_figure(const hm_allocator *allocator)
{
    for (int i = 0; i < SMALL; i++) {
        small_x[i] = i * 0.5;
        small_y[i] = (i % 3 - 1) * 0.25 * i;
    }
    small_y[5] = NAN;
    hm_figure *figure = NULL;
    hm_curve series[] = {{"a < b & c", small_x, small_y, NULL, SMALL},
                         {"θ", small_y, small_x, NULL, SMALL}};
    hm_panel plain = {.title = "panel", .x_label = "t", .curves = series, .curve_count = 2};
    hm_panel space = {.x_label = "x", .y_label = "y", .z_label = "z", .space = true, .ends = true};
    hm_curve path = {"p", small_x, small_x, small_x, SMALL};
    space.curves = &path;
    space.curve_count = 1;
    hm_panel log = {.x_label = "t", .curves = series, .curve_count = 1, .log_y = true};
    if (hm_figure_create(allocator, "Small", "a figure", &figure) != HM_OK)
        return NULL;
    hm_figure_set_columns(figure, 2);
    if (hm_figure_add(figure, &plain) != HM_OK || hm_figure_add(figure, &space) != HM_OK ||
        hm_figure_add(figure, &log) != HM_OK) {
        hm_figure_destroy(figure);
        return NULL;
    }
    return figure;
}

static void matches_the_golden_figure(void **state)
{
    (void)state;
    const char *path = HAMEL_SOURCE_DIR "/test/golden/figure.svg";
    hm_figure *figure = small_figure(NULL);
    char *text = draw(figure);
    if (getenv("HAMEL_UPDATE_GOLDEN")) {
        FILE *out = fopen(path, "w");
        fputs(text, out);
        fclose(out);
    }
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *golden = calloc(1, 1 << 20);
    assert_true(fread(golden, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    assert_string_equal(text, golden);
    assert_int_equal(count_of(text, "a &lt; b &amp; c"), 2); /* in two legends */
    free(golden);
    free(text);
    hm_figure_destroy(figure);
}

static void survives_failing_memory_and_writers(void **state)
{
    (void)state;
    for (long k = 0;; k++) {
        failing_heap heap = {.armed = true, .fail_at = k};
        hm_allocator allocator = heap_allocator(&heap);
        hm_figure *figure = small_figure(&allocator);
        collected c = {0};
        hm_status status = figure ? hm_figure_svg(figure, collect, &c) : HM_ERR_NOMEM;
        hm_figure_destroy(figure);
        free(c.text);
        assert_int_equal(heap.live_bytes, 0);
        if (status == HM_OK)
            break;
        assert_int_equal(status, HM_ERR_NOMEM);
        assert_true(k < 1000);
    }
    hm_figure *figure = small_figure(NULL);
    collected full = {.full = true};
    assert_int_equal(hm_figure_svg(figure, collect, &full), HM_ERR_IO);
    hm_figure_destroy(figure);
}

/* ---- curves ---- */

/* A canvas that keeps the points of the longest line. */
typedef struct longest {
    double *points;
    size_t count, total;
} longest;

static bool keep_longest(void *user, const double *points, size_t count, const hm_pen *pen)
{
    longest *l = user;
    (void)pen;
    l->total += count;
    if (count > l->count) {
        l->points = realloc(l->points, 2 * count * sizeof *points);
        memcpy(l->points, points, 2 * count * sizeof *points);
        l->count = count;
    }
    return true;
}

/* Far from every segment of the line? */
static double distance_to(const longest *l, double x, double y)
{
    double best = INFINITY;
    for (size_t i = 1; i < l->count; i++) {
        const double *p = l->points + 2 * i - 2;
        double dx = p[2] - p[0], dy = p[3] - p[1], square = dx * dx + dy * dy;
        double s = square > 0 ? ((x - p[0]) * dx + (y - p[1]) * dy) / square : 0;
        s = fmin(1, fmax(0, s));
        best = fmin(best, hypot(x - p[0] - s * dx, y - p[1] - s * dy));
    }
    return best;
}

static void drops_only_what_nobody_sees(void **state)
{
    (void)state;
    enum { POINTS = 20000 };
    longest l = {0};
    hm_canvas canvas = {.user = &l, .lines = keep_longest};
    hm_allocator allocator = hm_allocator_default();
    hmi_pen pen = {&canvas, &allocator, HM_OK};
    double *points = malloc(2 * POINTS * sizeof *points), *copy = malloc(2 * POINTS * sizeof *copy);
    for (int i = 0; i < POINTS; i++) {
        double s = 12.0 * i / POINTS;
        points[2 * i] = 300 + 40 * s * cos(s);
        points[2 * i + 1] = 300 + 20 * s * sin(s);
    }
    memcpy(copy, points, 2 * POINTS * sizeof *points);
    hmi_draw_curve(&pen, points, POINTS, &(hm_pen){0, 1, 0, 1});
    assert_in_range(l.count, 20, 600);
    for (int i = 0; i < POINTS; i += 7)
        assert_true(distance_to(&l, copy[2 * i], copy[2 * i + 1]) < 0.11);
    free(l.points);
    free(points);
    free(copy);
}

static void keeps_extremes(void **state)
{
    (void)state;
    enum { POINTS = 1000000, PEAK = 123457 };
    longest l = {0};
    hm_canvas canvas = {.user = &l, .lines = keep_longest};
    hm_allocator allocator = hm_allocator_default();
    hmi_pen pen = {&canvas, &allocator, HM_OK};
    double *points = malloc(2 * POINTS * sizeof *points);
    for (int i = 0; i < POINTS; i++) {
        points[2 * i] = 500.0 * i / POINTS;
        points[2 * i + 1] = 100 + 20 * sin(0.1 * i);
    }
    points[2 * PEAK + 1] = 200; /* one point in a million */
    hmi_draw_curve(&pen, points, POINTS, &(hm_pen){0, 1, 0, 1});
    assert_in_range(l.count, 100, 8100);
    double highest = 0;
    for (size_t i = 0; i < l.count; i++)
        highest = fmax(highest, l.points[2 * i + 1]);
    check_number("the peak", highest, 200, 0);
    free(l.points);
    free(points);
}

/* ---- pages ---- */

static hm_table *table_of(size_t columns, const char *const *names)
{
    hm_table *table;
    double row[16];
    assert_int_equal(hm_table_create(NULL, columns, names, &table), HM_OK);
    for (int i = 0; i < 50; i++) {
        for (size_t c = 0; c < columns; c++)
            row[c] = c == 0 ? 0.1 * i : sin(0.1 * i + (double)c);
        assert_int_equal(hm_table_add_row(table, row), HM_OK);
    }
    return table;
}

static char *page_of(size_t columns, const char *const *names, size_t panels)
{
    hm_figure *figure;
    hm_table *table = table_of(columns, names);
    assert_int_equal(hm_figure_create(NULL, "page", NULL, &figure), HM_OK);
    assert_int_equal(hm_figure_run(figure, table), HM_OK);
    assert_int_equal(hm_figure_panel_count(figure), panels);
    char *text = draw(figure);
    hm_figure_destroy(figure);
    hm_table_destroy(table);
    return text;
}

static void shows_paths_portraits_and_ledgers(void **state)
{
    (void)state;
    const char *const plane[] = {
        "t", "x", "y", "x'", "y'", "energy(total)", "energy(error)", "violation(position)"};
    char *text = page_of(8, plane, 6); /* path, q, q', energy, balance, violation */
    assert_int_equal(count_of(text, ">path<"), 1);
    assert_int_equal(count_of(text, ">constraint violation<"), 1);
    free(text);
    const char *const angle[] = {"t", "theta", "theta'"};
    text = page_of(3, angle, 3);
    assert_int_equal(count_of(text, ">phase portrait<"), 1);
    free(text);
    const char *const swarm[] = {"t",     "x[1]",  "x[2]",  "y[1]", "y[2]",
                                 "x[1]'", "x[2]'", "y[1]'", "y[2]'"};
    text = page_of(9, swarm, 3);
    assert_int_equal(count_of(text, ">x[2], y[2]<"), 1);
    free(text);
    const char *const space[] = {"t", "x", "y", "z", "x'", "y'", "z'"};
    free(page_of(7, space, 3));
    const char *const bare[] = {"t"};
    free(page_of(1, bare, 0));
}

/* Points by other names, several portraits, and columns in any order. */
static void shows_other_points(void **state)
{
    (void)state;
    const char *const upright[] = {"t", "x", "z", "x'", "z'"};
    char *text = page_of(5, upright, 3);
    assert_int_equal(count_of(text, ">path<"), 1);
    free(text);
    const char *const vector[] = {"t", "a", "a'", "P[2]", "P[3]", "P[1]"};
    text = page_of(6, vector, 4);
    assert_int_equal(count_of(text, ">path<"), 1);
    free(text);
    const char *const four[] = {"t", "a", "a'", "P[1]", "P[2]", "P[3]", "P[4]"};
    text = page_of(7, four, 4);
    assert_int_equal(count_of(text, ">path<"), 0);
    free(text);
    const char *const angles[] = {"t", "a", "b", "c", "d", "a'", "b'", "c'", "d'"};
    text = page_of(9, angles, 3);
    assert_int_equal(count_of(text, ">phase portraits<"), 1);
    free(text);
    const char *const accelerations[] = {"s", "maximum", "maximum'", "maximum''", "force(max)"};
    text = page_of(5, accelerations, 3);
    assert_int_equal(count_of(text, ">path<"), 0);
    free(text);
}

/* No row, one row, nothing finite, nothing that moves: pages without curves, not failures. */
static void shows_little(void **state)
{
    (void)state;
    const char *const names[] = {"t", "x", "y", "x'", "y'", "energy(total)", "violation(position)"};
    for (int kind = 0; kind < 4; kind++) {
        hm_table *table;
        hm_figure *figure;
        assert_int_equal(hm_table_create(NULL, 7, names, &table), HM_OK);
        for (int i = 0; i < (kind == 0 ? 0 : kind == 1 ? 1 : 5); i++) {
            double other = kind == 2 ? NAN : 1;
            const double row[] = {i, other, other, other, other, other, other};
            assert_int_equal(hm_table_add_row(table, row), HM_OK);
        }
        assert_int_equal(hm_figure_create(NULL, "", "", &figure), HM_OK);
        assert_int_equal(hm_figure_run(figure, table), HM_OK);
        hm_figure_set_columns(figure, kind == 0 ? -1 : 1000);
        hm_figure_set_size(figure, 500, 700);
        char *text = draw(figure);
        assert_int_equal(count_of(text, ">path<"), 0);
        assert_int_equal(count_of(text, "nan"), 0);
        assert_int_equal(count_of(text, "inf"), 0);
        free(text);
        hm_figure_destroy(figure);
        hm_table_destroy(table);
    }
}

/* Curves of very different size are not drawn on one axis. */
static void separates_scales(void **state)
{
    (void)state;
    const char *const names[] = {"t", "small", "large", "tiny"};
    hm_table *table;
    hm_figure *figure;
    assert_int_equal(hm_table_create(NULL, 4, names, &table), HM_OK);
    for (int i = 0; i < 20; i++) {
        const double row[] = {i, sin(i), 1e4 * cos(i), 2 * cos(i)};
        assert_int_equal(hm_table_add_row(table, row), HM_OK);
    }
    const size_t columns[] = {1, 2, 3};
    assert_int_equal(hm_figure_create(NULL, NULL, NULL, &figure), HM_OK);
    assert_int_equal(hm_figure_histories(figure, table, 0, columns, 3), HM_OK);
    assert_int_equal(hm_figure_panel_count(figure), 2);
    free(draw(figure));
    hm_figure_destroy(figure);
    hm_table_destroy(table);
}

/* More curves than colours, in dashes then; names that XML does not take as they are. */
static void many_curves_and_odd_names(void **state)
{
    (void)state;
    enum { CURVES = 20 };
    static const char *const odd[CURVES] = {"a > b",
                                            "c\x01"
                                            "d",
                                            "\xff\xfe", "\xef\xbf\xbf"};
    double x[3] = {0, 1, 2}, y[CURVES][3];
    hm_curve series[CURVES];
    hm_figure *figure;
    for (int k = 0; k < CURVES; k++) {
        for (int i = 0; i < 3; i++)
            y[k][i] = k + 0.1 * i * k;
        series[k] = (hm_curve){odd[k] ? odd[k] : "plain", x, y[k], NULL, 3};
    }
    const hm_panel panel = {.curves = series, .curve_count = CURVES};
    assert_int_equal(hm_figure_create(NULL, "1 > 0", NULL, &figure), HM_OK);
    assert_int_equal(hm_figure_add(figure, &panel), HM_OK);
    char *text = draw(figure);
    assert_true(count_of(text, "stroke-dasharray=\"6\"") > 0);
    assert_int_equal(count_of(text, "a &gt; b"), 1);
    assert_int_equal(count_of(text, "c?d"), 1);
    assert_int_equal(count_of(text, ">?\?<"), 1);
    assert_int_equal(count_of(text, ">?<"), 1);
    assert_true(count_of(text, "1 &gt; 0") >= 1);
    free(text);
    hm_figure_destroy(figure);
}

/* Paths that do not move, that have gaps, and that are empty are drawn in space, too. */
static void paths_in_space(void **state)
{
    (void)state;
    double x[5] = {1, 1, 1, 1, 1}, moving[5] = {0, 1, NAN, 3, 4},
           none[5] = {NAN, NAN, NAN, NAN, NAN};
    hm_curve series[] = {{"rest", x, x, x, 5},
                         {"gap", moving, x, moving, 5},
                         {"empty", x, x, x, 0},
                         {"none", none, none, none, 5}};
    for (size_t k = 0; k < 4; k++) {
        const hm_panel panel = {
            .curves = &series[k], .curve_count = 1, .space = true, .ends = k % 2 == 0};
        hm_figure *figure;
        assert_int_equal(hm_figure_create(NULL, "", "", &figure), HM_OK);
        assert_int_equal(hm_figure_add(figure, &panel), HM_OK);
        char *text = draw(figure);
        assert_int_equal(count_of(text, "nan"), 0);
        assert_int_equal(count_of(text, "inf"), 0);
        free(text);
        hm_figure_destroy(figure);
    }
}

static void measures_text_generously(void **state)
{
    (void)state;
    check_number("digits", hmi_text_width("0123456789", 10, false), 64, 1e-12);
    assert_true(hmi_text_width("θ̇", 10, false) > 5);
    assert_true(hmi_text_width("\xff\xff", 10, false) > 0);
    check_number("nothing", hmi_text_width("", 10, true), 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_the_golden_figure),
        cmocka_unit_test(survives_failing_memory_and_writers),
        cmocka_unit_test(drops_only_what_nobody_sees),
        cmocka_unit_test(keeps_extremes),
        cmocka_unit_test(shows_paths_portraits_and_ledgers),
        cmocka_unit_test(shows_other_points),
        cmocka_unit_test(shows_little),
        cmocka_unit_test(separates_scales),
        cmocka_unit_test(many_curves_and_odd_names),
        cmocka_unit_test(paths_in_space),
        cmocka_unit_test(measures_text_generously),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
