/* Which panels show a table of results.
 *
 * Roles are read from the names, as `hamel run --csv` writes them: t; x with x'; NAME(component) for
 * what was computed besides: energy(total), violation(position), lambda(rod). Everything else is an
 * output. Points are found by name: x, y (, z) with the same rest, as in x[1], y[1] or Ax, Ay.
 * Verified: test/unit/output/test_svg.c
 */
#include "base/argument.h"
#include "output/plot/plot.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_CURVES = 6, MOST_PATHS = 12, MOST_PANELS = 6, NAME = 128 };

/* ---- histories: curves of one scale share a panel ---- */

typedef struct group {
    size_t column[MOST_CURVES];
    size_t count;
    double size;
} group;

/* The largest absolute value, robustly: what the axis will have to show. */
static double size_of(const hm_table *table, size_t column)
{
    const double *values = hm_table_column(table, column);
    double size = 0;
    for (size_t i = 0; i < hm_table_row_count(table); i++)
        if (isfinite(values[i]))
            size = fmax(size, fabs(values[i]));
    return size;
}

static bool has_values(const hm_table *table, size_t column)
{
    const double *values = hm_table_column(table, column);
    for (size_t i = 0; i < hm_table_row_count(table); i++)
        if (isfinite(values[i]))
            return true;
    return false;
}

/* Where the index of x[1], x1 or x1' begins; the length where there is none. */
static size_t index_of(const char *name)
{
    size_t bracket = strcspn(name, "["), digit = strcspn(name, "'");
    if (name[bracket])
        return bracket;
    size_t end = digit;
    while (digit > 1 && name[digit - 1] >= '0' && name[digit - 1] <= '9')
        digit--;
    return digit < end ? digit : strlen(name);
}

/* x[1] and x[2] are of one family, e0 and e1 too, and so are all names without an index. */
static bool same_family(const char *a, const char *b)
{
    size_t length = index_of(a), other = index_of(b);
    if (a[length] == '\0' || b[other] == '\0')
        return a[length] == b[other];
    return length == other && strncmp(a, b, length) == 0;
}

static bool alike(double a, double b, double ratio)
{
    return a <= ratio * b && b <= ratio * a;
}

/* Many curves keep to their family; an indexed family keeps together where it can be seen at all. */
static bool joins(const hm_table *table, const group *g, size_t column, double size, size_t total)
{
    const char *first = hm_table_name(table, g->column[0]), *name = hm_table_name(table, column);
    bool family = same_family(first, name);
    if (g->count == MOST_CURVES || (total > 4 && !family))
        return false;
    return alike(size, g->size, family && strchr(name, '[') ? 20 : 12);
}

/* Columns of rounding size or none (1e-12 of the largest) join the first group: a flat line. */
static size_t make_groups(const hm_table *table, const size_t *columns, size_t count, group *groups)
{
    double largest = 0;
    size_t made = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, size_of(table, columns[i]));
    for (size_t i = 0; i < count; i++) {
        double size = fmax(size_of(table, columns[i]), 1e-12 * largest);
        bool flat = size <= 1e-12 * largest;
        size_t g = 0;
        while (g < made && !joins(table, &groups[g], columns[i], size, count) &&
               !(flat && groups[g].count < MOST_CURVES))
            g++;
        if (g == made)
            groups[made++] = (group){.size = size};
        groups[g].column[groups[g].count++] = columns[i];
        groups[g].size = flat ? groups[g].size : fmax(groups[g].size, size);
    }
    return made;
}

/* note: a title, or NULL. */
static hm_status add_history(hm_figure *figure, const hm_table *table, size_t against,
                             const group *g, const char *note)
{
    hm_panel panel = {.title = note, .x_label = hm_table_text(table, against)};
    hm_curve curves[MOST_CURVES];
    for (size_t i = 0; i < g->count; i++)
        curves[i] = (hm_curve){hm_table_text(table, g->column[i]), hm_table_column(table, against),
                               hm_table_column(table, g->column[i]), NULL,
                               hm_table_row_count(table)};
    panel.curves = curves;
    panel.curve_count = g->count;
    size_t only = g->column[0];
    if (g->count == 1 && strcmp(hm_table_text(table, only), hm_table_name(table, only)) != 0)
        panel.y_label = hm_table_text(table, only);
    return hm_figure_add(figure, &panel);
}

/* The title says what is not shown: "24 of 60 curves are shown". */
static const char *note_omission(const group *groups, size_t made, size_t most, char note[NAME])
{
    size_t shown = 0, all = 0;
    for (size_t i = 0; i < made; i++) {
        all += groups[i].count;
        shown += i < most ? groups[i].count : 0;
    }
    snprintf(note, NAME, "%zu of %zu curves are shown", shown, all);
    return shown < all ? note : NULL;
}

/* The first `most` panels; the last of them says what was left out. */
static hm_status add_histories(hm_figure *figure, const hm_table *table, size_t against,
                               const size_t *columns, size_t count, size_t most)
{
    group *groups = hmi_alloc(&figure->allocator, (count + 1) * sizeof *groups);
    if (!groups)
        return HM_ERR_NOMEM;
    char text[NAME];
    size_t made = make_groups(table, columns, count, groups);
    const char *note = note_omission(groups, made, most, text);
    hm_status status = HM_OK;
    for (size_t i = 0; status == HM_OK && i < made && i < most; i++)
        status = add_history(figure, table, against, &groups[i], i + 1 == most ? note : NULL);
    hmi_free(&figure->allocator, groups, (count + 1) * sizeof *groups);
    return status;
}

hm_status hm_figure_histories(hm_figure *figure, const hm_table *table, size_t against,
                              const size_t *columns, size_t count)
{
    size_t all = hm_table_column_count(table);
    bool good = figure && table && against < all && (columns || count == 0) &&
                count <= SIZE_MAX / 64;
    for (size_t i = 0; good && i < count; i++)
        good = columns[i] < all;
    HMI_ARGUMENT(NULL, good, "a figure and columns that exist are needed");
    return add_histories(figure, table, against, columns, count, count);
}

/* ---- roles ---- */

typedef enum role { TIME, COORDINATE, VELOCITY, ACCELERATION, OUTPUT, DERIVED } role;

static bool ends_with(const char *text, const char *end)
{
    size_t a = strlen(text), b = strlen(end);
    return a > b && strcmp(text + a - b, end) == 0;
}

static bool has_with(const hm_table *table, const char *name, const char *more)
{
    char other[NAME];
    int length = snprintf(other, sizeof other, "%s%s", name, more);
    return length < NAME && hm_table_find(table, other) != HM_NO_COLUMN;
}

static role role_of(const hm_table *table, size_t column)
{
    const char *name = hm_table_name(table, column);
    if (strcmp(name, "t") == 0)
        return TIME;
    if (ends_with(name, "''"))
        return ACCELERATION;
    if (ends_with(name, "'"))
        return VELOCITY;
    if (ends_with(name, ")") && strchr(name, '('))
        return DERIVED;
    return has_with(table, name, "'") ? COORDINATE : OUTPUT;
}

/* What is being put together. */
typedef struct page {
    hm_figure *figure;
    const hm_table *table;
    size_t t;
    size_t *columns; /* scratch, as many as the table has */
    hm_status status;
} page;

static size_t pick_role(page *p, role wanted)
{
    size_t count = 0;
    for (size_t i = 0; i < hm_table_column_count(p->table); i++)
        if (i != p->t && role_of(p->table, i) == wanted)
            p->columns[count++] = i;
    return count;
}

/* energy(...), violation(...): those that are there; where all vanish, the last. */
static size_t pick_derived(page *p, const char *kind)
{
    size_t count = 0, length = strlen(kind), last = HM_NO_COLUMN;
    for (size_t i = 0; i < hm_table_column_count(p->table); i++) {
        const char *name = hm_table_name(p->table, i);
        if (strncmp(name, kind, length) != 0 || name[length] != '(' ||
            strcmp(name, "energy(error)") == 0 || !has_values(p->table, i))
            continue;
        last = i;
        if (size_of(p->table, i) > 0)
            p->columns[count++] = i;
    }
    if (count == 0 && last != HM_NO_COLUMN)
        p->columns[count++] = last;
    return count;
}

/* ---- paths ---- */

/* `name` with its one x replaced, where there is such a column; the x stands first, last or before
 * a bracket, digit or underscore: "x", "x[1]", "x2", "Ax", "foot_x". */
static size_t partner(const hm_table *table, const char *name, size_t at, char letter)
{
    char other[NAME];
    snprintf(other, sizeof other, "%s", name);
    other[at] = (char)(name[at] == 'X' ? letter - 'a' + 'A' : letter);
    return hm_table_find(table, other);
}

static bool is_marked_x(const char *name, size_t at)
{
    if (name[at] != 'x' && name[at] != 'X')
        return false;
    char next = name[at + 1];
    return at == 0 || next == '\0' || next == '[' || next == '_';
}

/* A point: its columns for x, y and z (HM_NO_COLUMN in the plane). */
typedef struct point {
    size_t x, y, z;
} point;

static bool find_point(const hm_table *table, size_t column, point *found)
{
    const char *name = hm_table_name(table, column);
    role r = role_of(table, column);
    if ((r != COORDINATE && r != OUTPUT) || strlen(name) >= NAME)
        return false;
    for (size_t at = 0; name[at]; at++) {
        if (!is_marked_x(name, at))
            continue;
        *found = (point){column, partner(table, name, at, 'y'), partner(table, name, at, 'z')};
        if (found->y != HM_NO_COLUMN)
            return true;
        if (found->z != HM_NO_COLUMN) { /* a vertical plane */
            found->y = found->z;
            found->z = HM_NO_COLUMN;
            return true;
        }
    }
    return false;
}

/* A vector output P[1], P[2] (, P[3]), where no coordinates are called x and y. */
static bool find_vector(const hm_table *table, size_t column, point *found)
{
    const char *name = hm_table_name(table, column);
    size_t length = strlen(name), other[3];
    char text[NAME];
    if (role_of(table, column) != OUTPUT || !ends_with(name, "[1]") || length >= NAME)
        return false;
    for (int k = 0; k < 3; k++) {
        snprintf(text, sizeof text, "%.*s[%d]", (int)length - 3, name, k + 2);
        other[k] = hm_table_find(table, text);
    }
    *found = (point){column, other[0], other[1]};
    return other[0] != HM_NO_COLUMN && other[2] == HM_NO_COLUMN;
}

/* Points of the dimension of the first one found, as many as there are; the first MOST_PATHS are
 * kept (points holds one more). */
static size_t find_points(const hm_table *table, point *points)
{
    size_t count = 0;
    for (size_t i = 0; i < hm_table_column_count(table); i++) {
        point *p = &points[count < MOST_PATHS ? count : MOST_PATHS];
        if (find_point(table, i, p) && (p->z == HM_NO_COLUMN) == (points[0].z == HM_NO_COLUMN))
            count++;
    }
    for (size_t i = 0; count == 0 && i < hm_table_column_count(table); i++)
        count = find_vector(table, i, &points[0]);
    return count;
}

static bool moves(const hm_table *table, point p)
{
    const size_t columns[] = {p.x, p.y, p.z};
    for (int k = 0; k < 3; k++) {
        if (columns[k] == HM_NO_COLUMN)
            continue;
        const double *values = hm_table_column(table, columns[k]);
        for (size_t i = 1; i < hm_table_row_count(table); i++)
            if (fabs(values[i] - values[0]) > 1e-9)
                return true;
    }
    return false;
}

static hm_curve curve_of(const hm_table *table, point p, char label[2 * NAME])
{
    snprintf(label, 2 * NAME, "%.100s, %.100s", hm_table_name(table, p.x),
             hm_table_name(table, p.y));
    return (hm_curve){label, hm_table_column(table, p.x), hm_table_column(table, p.y),
                      p.z == HM_NO_COLUMN ? NULL : hm_table_column(table, p.z),
                      hm_table_row_count(table)};
}

/* true: there is a path. */
static bool add_path(page *p, hm_panel panel)
{
    point points[MOST_PATHS + 1];
    hm_curve curves[MOST_PATHS];
    char labels[MOST_PATHS][2 * NAME], title[NAME];
    size_t count = find_points(p->table, points), shown = 0;
    for (size_t i = 0; i < count && i < MOST_PATHS; i++)
        if (moves(p->table, points[i])) {
            curves[shown] = curve_of(p->table, points[i], labels[shown]);
            shown++;
        }
    if (shown == 0)
        return false;
    snprintf(title, sizeof title, "paths of %d of %zu points", MOST_PATHS, count);
    panel.title = count > MOST_PATHS ? title : "path";
    panel.equal = panel.ends = true;
    panel.space = points[0].z != HM_NO_COLUMN;
    panel.x_label = count == 1 ? hm_table_text(p->table, points[0].x) : "x";
    panel.y_label = count == 1 ? hm_table_text(p->table, points[0].y) : "y";
    if (panel.space)
        panel.z_label = count == 1 ? hm_table_text(p->table, points[0].z) : "z";
    panel.curves = curves;
    panel.curve_count = shown;
    p->status = hm_figure_add(p->figure, &panel);
    return true;
}

/* The column of q', where q is a coordinate. */
static bool find_rate(const hm_table *table, size_t column, size_t *rate)
{
    const char *name = hm_table_name(table, column);
    char text[NAME + 1];
    if (role_of(table, column) != COORDINATE || strlen(name) >= NAME)
        return false;
    snprintf(text, sizeof text, "%s'", name);
    *rate = hm_table_find(table, text);
    return *rate != HM_NO_COLUMN;
}

/* Coordinates with their rates, up to three, of the scale of the first. */
static size_t find_portraits(const hm_table *table, hm_curve curves[3])
{
    size_t count = 0, rate;
    double q = 0, v = 0;
    for (size_t i = 0; i < hm_table_column_count(table) && count < 3; i++) {
        if (!find_rate(table, i, &rate))
            continue;
        double size = size_of(table, i), speed = size_of(table, rate);
        if (count == 0) {
            q = size;
            v = speed;
        } else if (!alike(q, size, 4) || !alike(v, speed, 4)) {
            continue;
        }
        curves[count++] = (hm_curve){hm_table_name(table, i), hm_table_column(table, i),
                                     hm_table_column(table, rate), NULL, hm_table_row_count(table)};
    }
    return count;
}

/* q against q' */
static bool add_phase_portrait(page *p, hm_panel panel)
{
    hm_curve curves[3];
    size_t count = find_portraits(p->table, curves);
    if (count == 0)
        return false;
    char label[NAME + 1];
    snprintf(label, sizeof label, "%.100s'", curves[0].label);
    panel.title = count == 1 ? "phase portrait" : "phase portraits";
    panel.ends = true;
    panel.x_label = count == 1 ? curves[0].label : "q";
    panel.y_label = count == 1 ? label : "q'";
    panel.curves = curves;
    panel.curve_count = count;
    p->status = hm_figure_add(p->figure, &panel);
    return true;
}

/* ---- the page ---- */

static void add_role(page *p, role wanted, size_t most)
{
    size_t count = pick_role(p, wanted);
    if (count && p->status == HM_OK)
        p->status = add_histories(p->figure, p->table, p->t, p->columns, count, most);
}

/* "kinetic" of "energy(kinetic)". */
static void component_of(const char *name, char component[NAME])
{
    const char *inner = strchr(name, '(') + 1;
    snprintf(component, NAME, "%.*s", (int)strlen(inner) - 1, inner);
}

/* All of a kind in one panel, named by their components. */
static void add_derived(page *p, const char *kind, hm_panel panel)
{
    hm_curve curves[MOST_CURVES];
    char labels[MOST_CURVES][NAME];
    size_t count = pick_derived(p, kind);
    count = count > MOST_CURVES ? MOST_CURVES : count;
    for (size_t i = 0; i < count; i++) {
        component_of(hm_table_name(p->table, p->columns[i]), labels[i]);
        curves[i] = (hm_curve){labels[i], hm_table_column(p->table, p->t),
                               hm_table_column(p->table, p->columns[i]), NULL,
                               hm_table_row_count(p->table)};
    }
    panel.x_label = hm_table_name(p->table, p->t);
    panel.curves = curves;
    panel.curve_count = count;
    if (count && p->status == HM_OK)
        p->status = hm_figure_add(p->figure, &panel);
}

static void add_balance(page *p)
{
    size_t column = hm_table_find(p->table, "energy(error)");
    if (column == HM_NO_COLUMN || p->status != HM_OK || !has_values(p->table, column))
        return;
    hm_curve curves = {"E(t) − E(0) − work", hm_table_column(p->table, p->t),
                       hm_table_column(p->table, column), NULL, hm_table_row_count(p->table)};
    hm_panel panel = {.title = "energy balance",
                      .x_label = hm_table_name(p->table, p->t),
                      .curves = &curves,
                      .curve_count = 1};
    p->status = hm_figure_add(p->figure, &panel);
}

/* A panel alone in the last row takes all of it. */
static void fill_last_row(hm_figure *figure, size_t before)
{
    size_t cells = 0;
    for (size_t i = before; i < figure->panels.count; i++)
        cells += figure->panels.data[i].row_span > 1 ? 2 : 1;
    if (cells % 2 && figure->panels.count > before)
        figure->panels.data[figure->panels.count - 1].column_span = 2;
}

static void add_page(page *p)
{
    hm_panel first = {.row_span = 2};
    size_t before = p->figure->panels.count;
    hm_figure_set_columns(p->figure, 2);
    if (!add_path(p, first))
        add_phase_portrait(p, first);
    add_role(p, COORDINATE, MOST_PANELS);
    add_role(p, VELOCITY, MOST_PANELS);
    add_role(p, OUTPUT, MOST_PANELS);
    add_derived(p, "energy", (hm_panel){.title = "energy"});
    add_balance(p);
    add_derived(p, "violation", (hm_panel){.title = "constraint violation", .log_y = true});
    fill_last_row(p->figure, before);
}

hm_status hm_figure_run(hm_figure *figure, const hm_table *table)
{
    HMI_ARGUMENT(NULL, figure && table && hm_table_column_count(table),
                 "a figure and a table with columns are needed");
    size_t bytes = (hm_table_column_count(table) + 1) * sizeof(size_t);
    page p = {.figure = figure, .table = table, .columns = hmi_alloc(&figure->allocator, bytes)};
    if (!p.columns)
        return HM_ERR_NOMEM;
    p.t = hm_table_find(table, "t");
    if (p.t == HM_NO_COLUMN)
        p.t = 0;
    add_page(&p);
    hmi_free(&figure->allocator, p.columns, bytes);
    return p.status;
}
