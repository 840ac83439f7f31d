/* The summary of a run, as text and as JSON. */
#include "command.h"
#include "run_report.h"

#include "values.h"

#include <math.h>
#include <string.h>

enum { MOST_SHOWN = 40, MOST_EVENTS = 12 };

/* Work by kind, in the order of cli.md. */
enum { KINDS = 9 };
static const char *const kind_names[KINDS] = {"impressed",     "dissipation", "gyroscopic",
                                              "ideal",         "nonideal",    "servo",
                                              "explicit_time", "reset",       "impacts"};

static void work_by_kind(const hm_ledger *w, double work[KINDS])
{
    const double values[KINDS] = {w->impressed,     w->dissipation, w->gyroscopic,
                                  w->ideal,         w->nonideal,    w->servo,
                                  w->explicit_time, w->reset,       w->impacts};
    memcpy(work, values, sizeof values);
}

/* ---- JSON ---- */

static json_t *by_coordinate(const hm_model *model, const double *values)
{
    json_t *object = json_object();
    for (size_t i = 0; values && i < hm_model_coordinate_count(model); i++)
        json_object_set_new(object, hm_model_coordinate_name(model, i),
                            json_number_or_null(values[i]));
    return object;
}

static json_t *final_object(const run_report *r)
{
    json_t *states = json_object();
    for (size_t i = 0; r->result->z && i < hm_model_state_count(r->model); i++)
        json_object_set_new(states, hm_model_state_name(r->model, i),
                            json_number_or_null(r->result->z[i]));
    return json_pack("{s:o, s:o, s:o}", "q", by_coordinate(r->model, r->result->q), "v",
                     by_coordinate(r->model, r->result->v), "z", states);
}

static json_t *violation_object(const run_report *r)
{
    json_t *object = json_object();
    for (size_t i = 0; r->result->violation && i < r->result->constraints; i++)
        json_object_set_new(object, hm_model_constraint(r->model, i).name,
                            json_number_or_null(r->result->violation[i]));
    return object;
}

static json_t *energy_object(const hm_run_result *result)
{
    double work[KINDS];
    work_by_kind(&result->work, work);
    json_t *by_kind = json_object();
    bool defined = result->has_total;
    for (int i = 0; i < KINDS; i++)
        json_object_set_new(by_kind, kind_names[i],
                            defined ? json_number_or_null(work[i]) : json_null());
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "initial",
                     json_number_or_null(defined ? result->energy_initial : NAN), "final",
                     json_number_or_null(defined ? result->energy_final : NAN), "balance_error",
                     json_number_or_null(defined ? result->balance_error : NAN), "work", by_kind,
                     "impacts", json_number_or_null(defined ? result->work.impacts : NAN));
}

static json_t *event_list(const hm_run_result *result)
{
    json_t *list = json_array();
    for (size_t i = 0; i < result->event_count; i++)
        json_array_append_new(list, json_pack("{s:s, s:o}", "name", result->events[i].name, "t",
                                              json_number_or_null(result->events[i].t)));
    return list;
}

static json_t *impact_list(const hm_run_impact *impacts, size_t count, bool energies)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *names = json_array();
        for (size_t k = 0; k < impacts[i].name_count; k++)
            json_array_append_new(names, json_string(impacts[i].names[k]));
        json_t *one = json_pack("{s:o, s:o}", "t", json_number_or_null(impacts[i].t), "names",
                                names);
        if (energies)
            json_object_set_new(one, "energy_lost", json_number_or_null(impacts[i].energy_lost));
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *moved_list(const hm_run_result *result)
{
    json_t *list = json_array();
    for (size_t i = 0; i < result->moved_count; i++)
        json_array_append_new(list, json_pack("{s:s, s:o, s:o}", "name", result->moved[i].name,
                                              "from", json_number_or_null(result->moved[i].from),
                                              "to", json_number_or_null(result->moved[i].to)));
    return list;
}

static json_t *warning_list(const hm_run_result *result)
{
    json_t *list = json_array();
    for (size_t i = 0; i < result->warning_count; i++)
        json_array_append_new(list, json_string(result->warnings[i]));
    return list;
}

static void set_method(json_t *object, const run_report *r)
{
    const hm_run_result *result = r->result;
    set_text(object, "model", hm_model_name(r->model));
    set_text(object, "method", result->method);
    set_text(object, "formulation", result->formulation);
    set_number(object, "rtol", result->rtol);
    set_number(object, "atol", result->atol);
    set_text(object, "drift", result->drift);
    set_number(object, "t_start", result->t_start);
    set_number(object, "t_end", result->t_end);
    set_text(object, "status", hm_run_status_text(result->status));
    set_text(object, "message", result->message ? result->message : "");
}

json_t *run_report_object(const run_report *r)
{
    const hm_run_result *result = r->result;
    json_t *object = json_object();
    set_method(object, r);
    json_object_set_new(object, "final", final_object(r));
    set_count(object, "steps", result->steps);
    set_count(object, "rejected", result->rejected);
    set_count(object, "evaluations", result->evaluations);
    set_count(object, "projections", result->projections);
    set_number(object, "wall_s", result->wall_s);
    json_object_set_new(object, "stiff", json_boolean(result->stiff));
    json_object_set_new(object, "violation", violation_object(r));
    json_object_set_new(object, "energy", energy_object(result));
    json_object_set_new(object, "events", event_list(result));
    json_object_set_new(object, "impacts",
                        impact_list(result->impacts, result->impact_count, true));
    set_count(object, "impacts_dropped", (long)result->impacts_dropped);
    json_object_set_new(object, "accumulations",
                        impact_list(result->accumulations, result->accumulation_count, false));
    set_count(object, "events_dropped", (long)result->events_dropped);
    json_object_set_new(object, "moved", moved_list(result));
    json_object_set_new(object, "warnings", warning_list(result));
    return object;
}

bool run_report_json(const run_report *r)
{
    json_t *object = run_report_object(r);
    bool written = json_print(object);
    json_decref(object);
    return written;
}

/* ---- text ---- */

static void print_duration(double seconds)
{
    if (seconds < 0.1)
        printf("%.3g ms", 1000 * seconds);
    else
        printf("%.3g s", seconds);
}

static void print_head(const run_report *r)
{
    const hm_run_result *result = r->result;
    const char *title = hm_model_title(r->model), *asked = r->options->method;
    printf("%s%s%s\n", hm_model_name(r->model), title ? ": " : "", title ? title : "");
    printf("  %-10s t = %.10g .. %.10g, ", hm_run_status_text(result->status), result->t_start,
           result->t_end);
    printf("%ld steps (%ld rejected), %ld evaluations, ", result->steps, result->rejected,
           result->evaluations);
    print_duration(result->wall_s);
    if (result->message && result->message[0])
        printf("\n             %s", result->message);
    printf("\n  method     %s", result->method);
    if (!asked || strcmp(asked, result->method) != 0)
        printf(" (chosen%s)", result->stiff ? ": the motion is stiff" : "");
    else if (result->stiff)
        printf(" (the motion is stiff: radau may be faster)");
    printf(", rtol %g, atol %g\n", result->rtol, result->atol);
    printf("  drift      %s", result->drift);
    if (result->projections)
        printf(", %ld projection%s", result->projections, result->projections == 1 ? "" : "s");
    if (result->formulation)
        printf("; accelerations by %s", result->formulation);
    printf("\n");
}

/* The longest name of a list, between 4 and 24 characters. */
static int name_width(const char *(*name)(const hm_model *, size_t), const hm_model *model,
                      size_t count)
{
    size_t width = 4;
    for (size_t i = 0; i < count && i < MOST_SHOWN; i++) {
        size_t length = strlen(name(model, i));
        width = length > width ? length : width;
    }
    return (int)(width > 24 ? 24 : width);
}

static void print_rest(size_t count, size_t shown)
{
    if (count > shown)
        printf("    ... and %zu more (--json gives all)\n", count - shown);
}

static void print_final(const run_report *r)
{
    size_t n = hm_model_coordinate_count(r->model), states = hm_model_state_count(r->model);
    int width = name_width(hm_model_coordinate_name, r->model, n);
    int other = name_width(hm_model_state_name, r->model, states);
    width = other > width ? other : width;
    printf("state at the end\n");
    for (size_t i = 0; i < n && i < MOST_SHOWN; i++) {
        const char *name = hm_model_coordinate_name(r->model, i);
        printf("    %-*s %20.12g    %s'%*s %20.12g\n", width, name, r->result->q[i], name,
               width - (int)strlen(name) > 0 ? width - (int)strlen(name) : 0, "", r->result->v[i]);
    }
    print_rest(n, MOST_SHOWN);
    for (size_t i = 0; r->result->z && i < states && i < MOST_SHOWN; i++)
        printf("    %-*s %20.12g\n", width, hm_model_state_name(r->model, i), r->result->z[i]);
    print_rest(states, MOST_SHOWN);
}

static const char *constraint_name(const hm_model *model, size_t i)
{
    return hm_model_constraint(model, i).name;
}

static void print_violation(const run_report *r)
{
    size_t m = r->result->constraints;
    if (m == 0 || !r->result->violation)
        return;
    int width = name_width(constraint_name, r->model, m);
    printf("constraints: largest violation over the run\n");
    for (size_t i = 0; i < m && i < MOST_SHOWN; i++) {
        hm_constraint_info row = hm_model_constraint(r->model, i);
        printf("    %-*s ", width, row.name);
        if (row.level == HM_LEVEL_POSITION && r->result->position_violation)
            printf("%9.2e position, %9.2e velocity\n", r->result->position_violation[i],
                   r->result->velocity_violation[i]);
        else
            printf("%9.2e %s\n", r->result->violation[i],
                   row.level == HM_LEVEL_VELOCITY ? "velocity" : "of the integrated constraint");
    }
    print_rest(m, MOST_SHOWN);
}

static void print_energy(const hm_run_result *result)
{
    if (!result->has_total) {
        printf("energy: not defined, the mass entries are not constant\n");
        return;
    }
    double work[KINDS];
    work_by_kind(&result->work, work);
    printf("energy\n");
    printf("    initial       %20.12g\n    final         %20.12g\n", result->energy_initial,
           result->energy_final);
    for (int i = 0; i < KINDS; i++)
        if (work[i] != 0)
            printf("    work, %-13s %14.6g\n",
                   strcmp(kind_names[i], "explicit_time") == 0 ? "explicit t" : kind_names[i],
                   work[i]);
    printf("    balance error %20.2e\n", result->balance_error);
}

static void print_events(const hm_run_result *result)
{
    size_t total = result->event_count + result->events_dropped;
    if (total == 0)
        return;
    printf("events: %zu\n", total);
    for (size_t i = 0; i < result->event_count && i < MOST_EVENTS; i++)
        printf("    %-16s t = %.12g\n", result->events[i].name, result->events[i].t);
    print_rest(total, MOST_EVENTS);
}

static void print_moved(const hm_run_result *result)
{
    if (result->moved_count == 0)
        return;
    printf("initial values moved onto the constraints\n");
    for (size_t i = 0; i < result->moved_count && i < MOST_SHOWN; i++)
        printf("    %-8s %18.12g  ->  %.12g\n", result->moved[i].name, result->moved[i].from,
               result->moved[i].to);
    print_rest(result->moved_count, MOST_SHOWN);
}

static void print_files(const run_report *r)
{
    const char *const files[] = {r->csv, r->hdf5, r->plot};
    const char *separator = "written: ";
    for (int i = 0; i < 3; i++)
        if (files[i]) {
            fputs(separator, stdout);
            print_shown(files[i]);
            separator = ", ";
        }
    if (r->csv || r->hdf5 || r->plot)
        printf("\n");
}

void run_report_print(const run_report *r)
{
    print_head(r);
    print_moved(r->result);
    print_final(r);
    print_violation(r);
    print_energy(r->result);
    print_events(r->result);
    print_files(r);
}
