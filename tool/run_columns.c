/* Names the columns of results and fills them from a frame. */
#include "command.h"
#include "run_columns.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- groups ---- */

static const struct {
    const char *name;
    unsigned group, content;
} groups_known[] = {
    {"energy", COLUMNS_ENERGY, HM_FRAME_CONTENT_ENERGY},
    {"work", COLUMNS_WORK, HM_FRAME_CONTENT_ENERGY},
    {"violation", COLUMNS_VIOLATION, HM_FRAME_CONTENT_VIOLATION},
    {"residual", COLUMNS_RESIDUAL, HM_FRAME_CONTENT_VIOLATION},
    {"lambda", COLUMNS_LAMBDA, HM_FRAME_CONTENT_FORCES},
    {"Qc", COLUMNS_QC, HM_FRAME_CONTENT_FORCES},
    {"Qi", COLUMNS_QI, HM_FRAME_CONTENT_FORCES},
    {"Qni", COLUMNS_QNI, HM_FRAME_CONTENT_FORCES},
    {"u", COLUMNS_U, HM_FRAME_CONTENT_FORCES},
    {"acceleration", COLUMNS_ACCELERATION, HM_FRAME_CONTENT_FORCES},
    {"check", COLUMNS_CHECK, HM_FRAME_CONTENT_CHECKS},
    {"all", ~0u, HM_FRAME_CONTENT_ALL},
};
enum { GROUPS = sizeof groups_known / sizeof *groups_known };

static bool add_group(const char *name, size_t length, unsigned *groups)
{
    for (size_t i = 0; i < GROUPS; i++)
        if (strlen(groups_known[i].name) == length &&
            strncmp(groups_known[i].name, name, length) == 0) {
            *groups |= groups_known[i].group;
            return true;
        }
    say("hamel: unknown columns '%.*s'; one of", (int)length, name);
    for (size_t i = 0; i < GROUPS; i++)
        say("%s%s", i ? ", " : " ", groups_known[i].name);
    fputc('\n', stderr);
    return false;
}

bool columns_parse(const char *text, unsigned *groups)
{
    *groups = 0;
    for (;;) {
        size_t length = strcspn(text, ",");
        if (!add_group(text, length, groups))
            return false;
        if (text[length] == '\0')
            return true;
        text += length + 1;
    }
}

/* ---- names ---- */

__attribute__((format(printf, 2, 3))) static void add(column_set *set, const char *format, ...)
{
    if (set->count == set->capacity) {
        size_t capacity = set->capacity ? 2 * set->capacity : 32;
        char **names = memory_resize(set->names, capacity * sizeof *names);
        if (!names) {
            set->failed = true;
            return;
        }
        set->names = names;
        set->capacity = capacity;
    }
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    size_t size = (size_t)vsnprintf(NULL, 0, format, again) + 1;
    va_end(again);
    char *name = memory_new(1, size);
    if (name)
        vsnprintf(name, size, format, args);
    va_end(args);
    if (!name)
        set->failed = true;
    else
        set->names[set->count++] = name;
}

static void name_base(column_set *set)
{
    const hm_model *m = set->model;
    size_t n = hm_model_coordinate_count(m);
    add(set, "t");
    for (size_t i = 0; i < n; i++)
        add(set, "%s", hm_model_coordinate_name(m, i));
    for (size_t i = 0; i < n; i++)
        add(set, "%s'", hm_model_coordinate_name(m, i));
    for (size_t i = 0; i < hm_model_output_count(m); i++)
        add(set, "%s", hm_model_output_name(m, i));
    for (size_t i = 0; i < hm_model_state_count(m); i++)
        add(set, "%s", hm_model_state_name(m, i));
}

static void name_by_coordinate(column_set *set, unsigned group, const char *format)
{
    if (!(set->groups & group))
        return;
    for (size_t i = 0; i < hm_model_coordinate_count(set->model); i++) {
        const char *name = hm_model_coordinate_name(set->model, i);
        if (strcmp(format, "''") == 0)
            add(set, "%s''", name);
        else
            add(set, "%s(%s)", format, name);
    }
}

static void name_by_constraint(column_set *set, unsigned group, const char *what)
{
    for (size_t i = 0; (set->groups & group) && i < hm_model_constraint_count(set->model); i++)
        add(set, "%s(%s)", what, hm_model_constraint(set->model, i).name);
}

static void name_controls(column_set *set)
{
    for (size_t i = 0; i < hm_model_servo_group_count(set->model); i++)
        for (size_t k = 0; k < hm_model_coordinate_count(set->model); k++)
            add(set, "u(%s,%s)", hm_model_servo_group_name(set->model, i),
                hm_model_coordinate_name(set->model, k));
}

static void name_list(column_set *set, unsigned group, const char *what, const char *const *names)
{
    for (size_t i = 0; (set->groups & group) && names[i]; i++)
        add(set, "%s(%s)", what, names[i]);
}

static const char *const energy_names[] = {"kinetic", "potential", "total", "error", NULL};
static const char *const work_names[] = {"impressed",     "dissipation", "gyroscopic",
                                         "ideal",         "nonideal",    "servo",
                                         "explicit_time", "reset",       NULL};
static const char *const violation_names[] = {"position", "velocity", NULL};
static const char *const check_names[] = {"ideal", NULL};

bool columns_create(column_set *set, const hm_model *model, unsigned groups)
{
    *set = (column_set){.model = model, .groups = groups};
    name_base(set);
    name_by_coordinate(set, COLUMNS_ACCELERATION, "''");
    name_by_constraint(set, COLUMNS_LAMBDA, "lambda");
    name_by_coordinate(set, COLUMNS_QI, "Qi");
    name_by_coordinate(set, COLUMNS_QNI, "Qni");
    name_by_coordinate(set, COLUMNS_QC, "Qc");
    if (groups & COLUMNS_U)
        name_controls(set);
    name_list(set, COLUMNS_ENERGY, "energy", energy_names);
    name_list(set, COLUMNS_WORK, "work", work_names);
    name_list(set, COLUMNS_VIOLATION, "violation", violation_names);
    name_by_constraint(set, COLUMNS_RESIDUAL, "residual");
    name_list(set, COLUMNS_CHECK, "check", check_names);
    set->row = memory_new(1, (set->count + 1) * sizeof *set->row);
    for (size_t i = 0; i + 1 < GROUPS; i++)
        if (groups & groups_known[i].group)
            set->content |= groups_known[i].content;
    if (hm_model_output_count(model) > 0)
        set->content |= HM_FRAME_CONTENT_FORCES;
    return !set->failed && set->row;
}

void columns_destroy(column_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        free(set->names[i]);
    free(set->names);
    free(set->row);
    *set = (column_set){0};
}

/* ---- values: in the order of the names ---- */

static double *put(double *row, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        *row++ = values ? values[i] : NAN;
    return row;
}

static double largest(const double *values, size_t count)
{
    double size = values || count == 0 ? 0 : NAN;
    for (size_t i = 0; values && i < count; i++)
        size = fmax(size, fabs(values[i]));
    return size;
}

static double *put_energy(double *row, const hm_frame *f)
{
    *row++ = f->has_energy ? f->kinetic : NAN;
    *row++ = f->has_energy ? f->potential : NAN;
    *row++ = f->has_total ? f->total : NAN;
    *row++ = f->has_total ? f->balance : NAN;
    return row;
}

static double *put_work(double *row, const hm_frame *f)
{
    const hm_ledger *w = &f->work;
    const double values[] = {w->impressed, w->dissipation, w->gyroscopic,    w->ideal,
                             w->nonideal,  w->servo,       w->explicit_time, w->reset};
    return put(row, f->has_total ? values : NULL, sizeof values / sizeof *values);
}

/* Of each row at its own level. */
static double *put_residuals(double *row, const hm_model *model, const hm_frame *f)
{
    for (size_t i = 0; i < hm_model_constraint_count(model); i++) {
        bool position = hm_model_constraint(model, i).level == HM_LEVEL_POSITION;
        const double *values = position ? f->position_violation : f->velocity_violation;
        *row++ = values ? values[i] : NAN;
    }
    return row;
}

static double *put_forces(double *row, const column_set *set, const hm_frame *f)
{
    size_t n = hm_model_coordinate_count(set->model), m = hm_model_constraint_count(set->model);
    row = put(row, f->qdd, set->groups & COLUMNS_ACCELERATION ? n : 0);
    row = put(row, f->lambda, set->groups & COLUMNS_LAMBDA ? m : 0);
    row = put(row, f->Qi, set->groups & COLUMNS_QI ? n : 0);
    row = put(row, f->Qni, set->groups & COLUMNS_QNI ? n : 0);
    row = put(row, f->Qc, set->groups & COLUMNS_QC ? n : 0);
    size_t controls = n * hm_model_servo_group_count(set->model);
    return put(row, f->u, set->groups & COLUMNS_U ? controls : 0);
}

const double *columns_fill(column_set *set, const hm_frame *f)
{
    const hm_model *model = set->model;
    size_t n = hm_model_coordinate_count(model), m = hm_model_constraint_count(model);
    double *row = set->row;
    *row++ = f->t;
    row = put(row, f->q, n);
    row = put(row, f->v, n);
    row = put(row, f->outputs, hm_model_output_count(model));
    row = put(row, f->z, hm_model_state_count(model));
    row = put_forces(row, set, f);
    if (set->groups & COLUMNS_ENERGY)
        row = put_energy(row, f);
    if (set->groups & COLUMNS_WORK)
        row = put_work(row, f);
    if (set->groups & COLUMNS_VIOLATION) {
        *row++ = largest(f->position_violation, m);
        *row++ = largest(f->velocity_violation, m);
    }
    if (set->groups & COLUMNS_RESIDUAL)
        row = put_residuals(row, model, f);
    if (set->groups & COLUMNS_CHECK)
        *row++ = f->ideal_check;
    return set->row;
}
