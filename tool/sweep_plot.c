/* hamel sweep --plot: a picture of the measures.
 *
 *     ---- rows ----      the file of the sweep, by column
 *     ---- curves ----    one quantity: values, or quantiles of those at the same place
 *     ---- maps ----      two quantities
 *     ---- matrix ----    more: every pair as dots
 *
 * What the picture is over: the names of the grid with more than one value; without such, all names that vary.
 * Values that are then at the same place (random samples) are reduced to quantiles or their mean.
 */
#include "figure_file.h"
#include "sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PANELS = 12, MOST_NAMES = 7, BINS = 60, MOST_DOTS = 20000 };

typedef struct picture {
    sweep *s;
    hm_figure *figure;
    size_t varied, measures; /* columns of either kind */
    size_t rows;
    double *column[64]; /* varied values, then measures, then status */
    void *kept[256];    /* memory that lives until the figure is drawn */
    size_t kept_count;
} picture;

static double *keep(picture *p, size_t count)
{
    double *made = p->kept_count < 256 ? memory_new(count + 1, sizeof *made) : NULL;
    if (made)
        p->kept[p->kept_count++] = made;
    return made;
}

/* ---- rows ---- */

static const char *const statuses[] = {"ok", "event", "failed"};

static double status_number(const char *word)
{
    for (int i = 0; i < 3; i++)
        if (strcmp(word, statuses[i]) == 0)
            return i;
    return NAN;
}

static bool read_rows(picture *p)
{
    sweep *s = p->s;
    char *line = NULL;
    const char *status;
    size_t room = 0, wanted = 1 + p->varied + p->measures;
    double *row = keep(p, s->name_count + 1);
    if (!row || !rows_rewind(s->rows))
        return false;
    for (long number = 0; getline(&line, &room, s->rows) > 0; number++) {
        if (number < ROWS_HEAD)
            continue;
        line[strcspn(line, "\n")] = '\0';
        if (rows_parse(line, row, s->name_count, &status) < wanted || p->rows >= s->end - s->first)
            continue;
        for (size_t c = 0; c + 1 < wanted; c++)
            p->column[c][p->rows] = row[1 + c];
        p->column[wanted - 1][p->rows++] = status_number(status);
    }
    free(line);
    return !ferror(s->rows);
}

static bool load(picture *p)
{
    size_t columns = p->varied + p->measures + 1;
    for (size_t c = 0; c < columns; c++)
        if (!(p->column[c] = keep(p, p->s->end - p->s->first)))
            return false;
    return read_rows(p);
}

static const char *name_of(const picture *p, size_t column)
{
    return p->s->names[1 + column];
}

/* ---- curves ---- */

static int by_value(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* Of sorted values; linear between neighbours. */
static double quantile(const double *sorted, size_t count, double level)
{
    double at = level * (double)(count - 1);
    size_t k = (size_t)at;
    return k + 1 < count ? sorted[k] + (at - (double)k) * (sorted[k + 1] - sorted[k]) : sorted[k];
}

typedef struct pair {
    double x, y;
} pair;

/* Pairs in the order of x, those without a value last at their place. */
static pair *sorted_pairs(picture *p, size_t x, size_t y)
{
    pair *pairs = (pair *)(void *)keep(p, 2 * p->rows);
    for (size_t i = 0; pairs && i < p->rows; i++)
        pairs[i] = (pair){p->column[x][i], p->column[y][i]};
    if (pairs)
        qsort(pairs, p->rows, sizeof *pairs, by_value); /* x is the first member */
    return pairs;
}

/* How many pairs from `first` on belong to one place: those with the same x, or a part of them all. */
static size_t group_length(const picture *p, const pair *pairs, size_t first, bool distinct)
{
    size_t length = 1, most = p->rows / BINS > 20 ? p->rows / BINS : 20;
    if (distinct && p->rows > 4 * BINS)
        return p->rows - first < 2 * most ? p->rows - first : most;
    while (first + length < p->rows && pairs[first + length].x == pairs[first].x)
        length++;
    return length;
}

typedef struct bands {
    double *x, *level[5];
    size_t count;
    bool wide; /* some place has several values */
} bands;

static void add_group(bands *b, const pair *pairs, size_t length, double *room)
{
    static const double levels[5] = {0.05, 0.25, 0.5, 0.75, 0.95};
    size_t known = 0;
    double sum = 0;
    for (size_t i = 0; i < length; i++) {
        sum += pairs[i].x / (double)length;
        if (isfinite(pairs[i].y))
            room[known++] = pairs[i].y;
    }
    qsort(room, known, sizeof *room, by_value);
    b->x[b->count] = sum;
    for (int k = 0; k < 5; k++)
        b->level[k][b->count] = known ? quantile(room, known, levels[k]) : NAN;
    b->wide |= known > 1;
    b->count++;
}

/* random: nearly every x is another one, and neighbours make a group. */
static bool find_bands(picture *p, size_t x, size_t y, bool random, bands *b)
{
    pair *pairs = sorted_pairs(p, x, y);
    double *room = keep(p, p->rows);
    b->x = keep(p, p->rows);
    bool good = pairs && room && b->x;
    for (int k = 0; k < 5; k++)
        good = (b->level[k] = keep(p, p->rows)) && good;
    for (size_t first = 0, length; good && first < p->rows; first += length) {
        length = group_length(p, pairs, first, random);
        add_group(b, pairs + first, length, room);
    }
    return good;
}

static hm_status add_curves(picture *p, size_t x, size_t y, bool random)
{
    bands b = {0};
    if (!find_bands(p, x, y, random, &b))
        return HM_ERR_NOMEM;
    const hm_curve curves[3] = {{"5 to 95 %", b.x, b.level[0], b.level[4], b.count},
                                {"25 to 75 %", b.x, b.level[1], b.level[3], b.count},
                                {b.wide ? "median" : NULL, b.x, b.level[2], NULL, b.count}};
    const hm_curve_style styles[3] = {{HM_CURVE_BAND, 0}, {HM_CURVE_BAND, 0}, {HM_CURVE_LINE, 0}};
    const hm_panel panel = {.x_label = name_of(p, x),
                            .y_label = name_of(p, y),
                            .curves = b.wide ? curves : curves + 2,
                            .curve_count = b.wide ? 3 : 1,
                            .styles = b.wide ? styles : styles + 2};
    return hm_figure_add(p->figure, &panel);
}

/* ---- maps ---- */

/* The different values of a column, ascending; for many different ones, equal steps over their range. */
static double *find_places(picture *p, size_t column, bool random, size_t *count)
{
    double *places = keep(p, p->rows);
    if (!places || p->rows == 0)
        return NULL;
    memcpy(places, p->column[column], p->rows * sizeof *places);
    qsort(places, p->rows, sizeof *places, by_value);
    *count = 1;
    for (size_t i = 1; i < p->rows; i++)
        if (places[i] != places[*count - 1])
            places[(*count)++] = places[i];
    size_t bins = (size_t)fmin(fmax(sqrt((double)p->rows) / 3, 2), BINS);
    if (!random || *count <= bins)
        return places;
    double low = places[0], step = (places[*count - 1] - low) / (double)bins;
    for (size_t i = 0; i < bins; i++)
        places[i] = low + ((double)i + 0.5) * step;
    *count = bins;
    return places;
}

/* The place next to a value. */
static size_t nearest_place(const double *places, size_t count, double value)
{
    size_t low = 0, high = count - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (value > places[middle] / 2 + places[middle + 1] / 2)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Of numbers the mean at every place; of status the worst. */
static bool fill_map(picture *p, size_t x, size_t y, size_t column, hm_map *map)
{
    size_t cells = map->x_count * map->y_count;
    double *sum = keep(p, cells), *count = keep(p, cells);
    if (!sum || !count)
        return false;
    for (size_t i = 0; i < p->rows; i++) {
        size_t a = nearest_place(map->x, map->x_count, p->column[x][i]);
        size_t b = nearest_place(map->y, map->y_count, p->column[y][i]);
        double value = p->column[column][i];
        size_t cell = b * map->x_count + a;
        if (!isfinite(value))
            continue;
        if (map->categories) {
            sum[cell] = fmax(sum[cell], value);
            count[cell] = 1;
        } else {
            sum[cell] += value;
            count[cell]++;
        }
    }
    for (size_t i = 0; i < cells; i++)
        sum[i] = count[i] > 0 ? sum[i] / count[i] : NAN;
    map->values = sum;
    return true;
}

static bool differs(const picture *p, size_t column)
{
    for (size_t i = 1; i < p->rows; i++)
        if (p->column[column][i] != p->column[column][0])
            return true;
    return false;
}

static hm_status add_map(picture *p, size_t x, size_t y, size_t column, bool random)
{
    bool status = column == p->varied + p->measures;
    hm_map map = {.contours = true, .categories = status ? statuses : NULL};
    map.category_count = status ? 3 : 0;
    map.x = find_places(p, x, random, &map.x_count);
    map.y = find_places(p, y, random, &map.y_count);
    if (!map.x || !map.y || !fill_map(p, x, y, column, &map))
        return HM_ERR_NOMEM;
    const hm_panel panel = {.title = name_of(p, column),
                            .x_label = name_of(p, x),
                            .y_label = name_of(p, y),
                            .map = &map};
    return hm_figure_add(p->figure, &panel);
}

/* ---- matrix ---- */

static hm_status add_dots(picture *p, size_t x, size_t y)
{
    const hm_curve curve = {
        .x = p->column[x], .y = p->column[y], .count = p->rows < MOST_DOTS ? p->rows : MOST_DOTS};
    const hm_curve_style style = {HM_CURVE_DOTS, 0};
    const hm_panel panel = {.x_label = name_of(p, x),
                            .y_label = name_of(p, y),
                            .curves = &curve,
                            .curve_count = 1,
                            .styles = &style};
    return hm_figure_add(p->figure, &panel);
}

/* Measures downwards, what is varied to the right. */
static hm_status add_matrix(picture *p)
{
    hm_status status = HM_OK;
    size_t across = p->varied < MOST_NAMES ? p->varied : MOST_NAMES;
    size_t down = p->measures < MOST_NAMES ? p->measures : MOST_NAMES;
    hm_figure_set_columns(p->figure, (int)across);
    for (size_t j = 0; j < down; j++)
        for (size_t i = 0; status == HM_OK && i < across; i++)
            status = add_dots(p, i, p->varied + j);
    return status;
}

/* ---- the figure ---- */

static hm_status add_panels(picture *p)
{
    size_t over[2] = {0, 1}, grid = 0, vary = 0, any[2] = {0, 0};
    hm_status status = HM_OK;
    for (size_t c = 0; c < p->varied; c++) {
        if (differs(p, c) && vary++ < 2)
            any[vary - 1] = c;
        if (hm_sweep_plan_levels(p->s->plan, c) > 1 && grid++ < 2)
            over[grid - 1] = c;
    }
    bool random = grid == 0;
    size_t names = random ? vary : grid,
           panels = p->measures < MOST_PANELS ? p->measures : MOST_PANELS;
    if (random)
        memcpy(over, any, sizeof any);
    if (names > 2)
        return add_matrix(p);
    bool maps = names == 2, fate = maps && differs(p, p->varied + p->measures);
    hm_figure_set_columns(p->figure, panels + fate > 1 && maps ? 2 : 1);
    for (size_t m = 0; status == HM_OK && m < panels + fate; m++) {
        size_t column = m < panels ? p->varied + m : p->varied + p->measures;
        status = maps ? add_map(p, over[0], over[1], column, random)
                      : add_curves(p, over[0], column, random);
    }
    return status;
}

static hm_status draw(picture *p)
{
    char subtitle[128];
    snprintf(subtitle, sizeof subtitle, "%zu points, %zu failed", p->s->next - p->s->first,
             p->s->failed);
    hm_status status = hm_figure_create(memory_allocator(), hm_model_name(p->s->s->model), subtitle,
                                        &p->figure);
    if (status == HM_OK && !load(p))
        status = HM_ERR_NOMEM;
    return status == HM_OK ? add_panels(p) : status;
}

int sweep_plot_check(const invocation *call)
{
    const char *path = option_value(call, "--plot"), *keep_what = option_value(call, "--keep");
    if (!path)
        return EXIT_DONE;
    if (keep_what && strcmp(keep_what, "every") == 0)
        return usage_error("--plot shows measures; with --keep every use hamel plot FILE.csv");
    if (option_value(call, "--shard"))
        return usage_error("--plot needs all points, not a shard");
    return figure_file_check(path);
}

bool sweep_plot(sweep *s)
{
    const char *path = option_value(s->call, "--plot");
    if (!path)
        return true;
    picture p = {.s = s,
                 .varied = hm_sweep_plan_columns(s->plan),
                 .measures = hm_measures_count(s->measures)};
    if (p.varied + p.measures + 1 > 64) {
        say("hamel: --plot shows at most 63 names and measures\n");
        return false;
    }
    hm_status status = draw(&p);
    if (status != HM_OK)
        say("hamel: cannot draw '%s': %s\n", path, hm_status_text(status));
    bool good = status == HM_OK && figure_file_write(p.figure, path);
    hm_figure_destroy(p.figure);
    for (size_t i = 0; i < p.kept_count; i++)
        free(p.kept[i]);
    return good;
}
