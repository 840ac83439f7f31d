/* The summary of an ensemble, as text and as JSON. */
#include "ensemble.h"
#include "values.h"

#include <math.h>

enum { MOST_SHOWN = 12, MOST_SHOWN_FAILURES = 5 };

void ensemble_value_name(const ensemble *e, size_t i, char text[128])
{
    const hm_model *model = e->s->model;
    if (i < 2 * e->n)
        snprintf(text, 128, "%s%s", hm_model_coordinate_name(model, i % e->n), i < e->n ? "" : "'");
    else
        snprintf(text, 128, "%s", hm_model_state_name(model, i - 2 * e->n));
}

static double deviation(const ensemble *e, const spread *s)
{
    return e->counted > 1 ? sqrt(s->squares / (double)(e->counted - 1)) : 0;
}

static double throughput(const ensemble *e)
{
    size_t done = e->result.members - e->result.interrupted;
    return e->result.wall_s > 0 ? (double)done / e->result.wall_s : 0;
}

/* ---- text ---- */

static void print_spread(const ensemble *e)
{
    size_t count = 2 * e->n + e->states;
    if (e->counted == 0)
        return;
    printf("values at the end, over %zu members\n", e->counted);
    printf("    %-16s %16s %16s %16s %16s\n", "", "least", "mean", "largest", "deviation");
    for (size_t i = 0; i < count && i < MOST_SHOWN; i++) {
        char name[128];
        const spread *s = &e->final[i];
        ensemble_value_name(e, i, name);
        printf("    %-16s %16.9g %16.9g %16.9g %16.9g\n", name, s->least, s->mean, s->largest,
               deviation(e, s));
    }
    if (count > MOST_SHOWN)
        printf("    ... and %zu more (--json gives all)\n", count - MOST_SHOWN);
}

static void print_failures(const ensemble *e)
{
    for (size_t i = 0; i < e->failure_count && i < MOST_SHOWN_FAILURES; i++)
        printf("    member %zu: %s\n", e->failures[i].member + 1,
               e->failures[i].message ? e->failures[i].message : "");
    if (e->result.failed > MOST_SHOWN_FAILURES)
        printf("    ... and %zu more\n", e->result.failed - MOST_SHOWN_FAILURES);
}

void ensemble_print(const ensemble *e)
{
    const hm_ensemble_result *r = &e->result;
    printf("%s: %zu members from ", hm_model_name(e->s->model), r->members);
    print_shown(e->file);
    putchar('\n');
    printf("  ok         %zu", r->ok + r->events);
    if (r->events)
        printf(" (%zu ended by an event)", r->events);
    printf(", failed %zu", r->failed);
    if (r->interrupted)
        printf(", not completed %zu", r->interrupted);
    printf("\n");
    print_failures(e);
    printf("  speed      %.4g members per second, %.3g s on %u thread%s\n", throughput(e),
           r->wall_s, r->jobs, r->jobs == 1 ? "" : "s");
    size_t alone = r->members - r->interrupted - r->batched;
    printf("  vectorised %zu members four at a time, %zu one by one%s%s\n", r->batched, alone,
           r->why_not[0] ? ": " : "", r->why_not);
    if (hm_model_constraint_count(e->s->model))
        printf("  violation  %.3g at most\n", e->violation);
    printf("  energy     balance error %.3g at most\n", e->balance_error);
    print_spread(e);
    if (e->csv_path && !e->failed) {
        fputs("written: ", stdout);
        print_shown(e->csv ? hm_csv_path(e->csv) : e->csv_path);
        putchar('\n');
    }
}

/* ---- JSON ---- */

static json_t *spread_object(const ensemble *e)
{
    json_t *all = json_object();
    for (size_t i = 0; i < 2 * e->n + e->states; i++) {
        char name[128];
        const spread *s = &e->final[i];
        ensemble_value_name(e, i, name);
        bool any = e->counted > 0;
        json_t *one = json_object();
        json_object_set_new(one, "min", json_number_or_null(any ? s->least : NAN));
        json_object_set_new(one, "mean", json_number_or_null(any ? s->mean : NAN));
        json_object_set_new(one, "max", json_number_or_null(any ? s->largest : NAN));
        json_object_set_new(one, "deviation", json_number_or_null(any ? deviation(e, s) : NAN));
        json_object_set_new(all, name, one);
    }
    return all;
}

static json_t *failure_list(const ensemble *e)
{
    json_t *list = json_array();
    for (size_t i = 0; i < e->failure_count; i++) {
        json_t *one = json_object();
        json_object_set_new(one, "member", json_integer((json_int_t)e->failures[i].member + 1));
        json_object_set_new(one, "message",
                            json_string(e->failures[i].message ? e->failures[i].message : ""));
        json_array_append_new(list, one);
    }
    return list;
}

bool ensemble_json(const ensemble *e)
{
    const hm_ensemble_result *r = &e->result;
    json_t *object = json_object();
    json_object_set_new(object, "model", json_string(hm_model_name(e->s->model)));
    json_object_set_new(object, "ensemble", json_string(e->file));
    set_count(object, "members", (json_int_t)r->members);
    set_count(object, "ok", (json_int_t)r->ok);
    set_count(object, "events", (json_int_t)r->events);
    set_count(object, "failed", (json_int_t)r->failed);
    set_count(object, "interrupted", (json_int_t)r->interrupted);
    set_count(object, "batched", (json_int_t)r->batched);
    json_object_set_new(object, "one_by_one", json_string(r->why_not));
    set_count(object, "jobs", r->jobs);
    set_number(object, "wall_s", r->wall_s);
    set_number(object, "members_per_s", throughput(e));
    json_object_set_new(object, "method", json_string(e->run.method ? e->run.method : "auto"));
    set_number(object, "rtol", e->run.rtol);
    set_number(object, "atol", e->run.atol);
    set_number(object, "t_start", e->run.start);
    set_number(object, "t_end", e->run.end);
    set_number(object, "violation", e->violation);
    set_number(object, "balance_error", e->balance_error);
    json_object_set_new(object, "final", spread_object(e));
    json_object_set_new(object, "failures", failure_list(e));
    bool written = json_print(object);
    json_decref(object);
    return written;
}
