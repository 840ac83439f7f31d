/* What a sweep reports: statistics of its measures, as text and JSON. */
#include "sweep.h"
#include "values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Quantiles are found to this part of the range of a measure: memory does not grow with the points. */
enum { BINS = 10000 };
static const double levels[5] = {0.05, 0.25, 0.5, 0.75, 0.95};

/* ---- statistics ---- */

static void add_value(column_statistics *c, double x)
{
    double distance = x - c->mean;
    c->count++;
    c->least = c->count == 1 || x < c->least ? x : c->least;
    c->largest = c->count == 1 || x > c->largest ? x : c->largest;
    c->mean += distance / (double)c->count;
    c->squares += distance * (x - c->mean);
}

static size_t bin_of(const column_statistics *c, double x)
{
    double part = c->largest > c->least ? (x - c->least) / (c->largest - c->least) : 0;
    size_t bin = (size_t)(part * BINS);
    return bin < BINS ? bin : BINS - 1;
}

static void find_quantiles(column_statistics *c, const size_t *bins)
{
    for (int k = 0; k < 5; k++) {
        double wanted = levels[k] * (double)c->count, below = 0;
        size_t b = 0;
        while (b + 1 < BINS && below + (double)bins[b] < wanted)
            below += (double)bins[b++];
        double inside = bins[b] ? (wanted - below) / (double)bins[b] : 0;
        c->quantile[k] = c->least + (c->largest - c->least) * ((double)b + inside) / BINS;
    }
}

/* One pass over the file. bins NULL: means and ranges; else counts by bin. */
static bool pass(sweep *s, double *row, size_t *bins)
{
    size_t measures = hm_measures_count(s->measures), room = 0,
           before = s->name_count - measures - 1;
    char *line = NULL;
    const char *status;
    if (!rows_rewind(s->rows))
        return false;
    for (long number = 0; getline(&line, &room, s->rows) > 0; number++) {
        if (number < ROWS_HEAD)
            continue;
        line[strcspn(line, "\n")] = '\0';
        if (rows_parse(line, row, s->name_count, &status) < before + measures)
            continue;
        for (size_t i = 0; i < measures; i++) {
            double x = row[before + i];
            if (isfinite(x) && bins)
                bins[i * BINS + bin_of(&s->statistics[i], x)]++;
            else if (isfinite(x))
                add_value(&s->statistics[i], x);
        }
    }
    free(line);
    if (feof(s->rows))
        return true;
    memory_note_failure(); /* for the line */
    return false;
}

bool sweep_find_statistics(sweep *s)
{
    size_t measures = hm_measures_count(s->measures);
    double *row = memory_new(s->name_count + 1, sizeof *row);
    size_t *bins = memory_new(measures * BINS + 1, sizeof *bins);
    s->statistics = memory_new(measures + 1, sizeof *s->statistics);
    bool good = row && bins && s->statistics;
    if (good && !s->keep_every) {
        good = pass(s, row, NULL) && pass(s, row, bins);
        for (size_t i = 0; good && i < measures; i++)
            find_quantiles(&s->statistics[i], bins + i * BINS);
    }
    if (!good)
        say("hamel: the statistics of the sweep could not be computed\n");
    free(row);
    free(bins);
    return good;
}

static double deviation(const column_statistics *c)
{
    return c->count > 1 ? sqrt(c->squares / (double)(c->count - 1)) : 0;
}

/* ---- text ---- */

void sweep_print(const sweep *s)
{
    const hm_sweep_result *r = &s->result;
    size_t done = s->next - s->first;
    printf("%s: %zu points", hm_model_name(s->s->model), hm_sweep_plan_points(s->plan));
    if (s->end - s->first != hm_sweep_plan_points(s->plan))
        printf(", %zu to %zu of them here", s->first, s->end - 1);
    printf("\n  done       %zu, %zu in this session in %.3g s", done, r->done, r->wall_s);
    if (r->wall_s > 0)
        printf(" (%.3g per second)", (double)r->done / r->wall_s);
    printf("\n  failed     %zu\n", s->failed);
    if (!s->keep_every && s->statistics && hm_measures_count(s->measures))
        printf("%-20s %12s %12s %12s %12s %12s %12s %8s\n", "measure", "mean", "deviation", "least",
               "5 %", "median", "95 %", "values");
    for (size_t i = 0; !s->keep_every && s->statistics && i < hm_measures_count(s->measures); i++) {
        const column_statistics *c = &s->statistics[i];
        printf("%-20s", hm_measures_name(s->measures, i));
        if (c->count)
            printf(" %12.6g %12.6g %12.6g %12.6g %12.6g %12.6g", c->mean, deviation(c), c->least,
                   c->quantile[0], c->quantile[2], c->quantile[4]);
        printf(" %8zu\n", c->count);
    }
    if (s->out && !s->broken && s->next == s->end) {
        fputs("written: ", stdout);
        print_shown(s->out);
        putchar('\n');
    }
}

/* ---- JSON ---- */

static json_t *statistics_json(const column_statistics *c)
{
    static const char *const keys[5] = {"q05", "q25", "median", "q75", "q95"};
    json_t *object = json_object();
    bool any = c->count > 0;
    set_count(object, "values", (json_int_t)c->count);
    set_number(object, "mean", any ? c->mean : NAN);
    set_number(object, "deviation", any ? deviation(c) : NAN);
    set_number(object, "least", any ? c->least : NAN);
    set_number(object, "largest", any ? c->largest : NAN);
    for (int k = 0; k < 5; k++)
        set_number(object, keys[k], any ? c->quantile[k] : NAN);
    return object;
}

bool sweep_json(const sweep *s)
{
    const hm_sweep_result *r = &s->result;
    json_t *object = json_object(), *measures = json_array(), *columns = json_array();
    json_t *statistics = json_object();
    for (size_t i = 0; i < hm_measures_count(s->measures); i++) {
        const char *name = hm_measures_name(s->measures, i);
        json_array_append_new(measures, json_string(name));
        if (!s->keep_every && s->statistics)
            json_object_set_new(statistics, name, statistics_json(&s->statistics[i]));
    }
    for (size_t i = 0; i < s->name_count; i++)
        json_array_append_new(columns, json_string(s->names[i]));
    set_text(object, "model", hm_model_name(s->s->model));
    set_count(object, "points", (json_int_t)hm_sweep_plan_points(s->plan));
    set_count(object, "done", (json_int_t)(s->next - s->first));
    set_count(object, "failed", (json_int_t)s->failed);
    json_object_set_new(object, "measures", measures);
    json_object_set_new(object, "columns", columns);
    set_text(object, "out", s->out);
    set_number(object, "wall_s", r->wall_s);
    set_number(object, "per_second", r->wall_s > 0 ? (double)r->done / r->wall_s : NAN);
    json_object_set_new(object, "statistics", statistics);
    bool good = json_print(object);
    json_decref(object);
    return good;
}
