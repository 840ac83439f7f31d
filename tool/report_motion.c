/* The motion of a report: the frames of a run as columns of numbers.
 *
 * A page holds at most MOST_ROWS rows and MOST_NUMBERS numbers: of long runs every k-th output is kept,
 * of large models only the first columns of each group and what is drawn. Columns that do not change are
 * written as one number.
 */
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 1500, LEAST_ROWS = 60, MOST_NUMBERS = 240000, MOST_COLUMNS = 48 };
enum { ENERGIES = 13 };

static const char *const group_names[MOTION_GROUPS] = {
    "t",         "q",      "v",     "z",        "outputs", "energy",
    "violation", "lambda", "ideal", "nonideal", "control", "drawings"};

static void choose_columns(motion *m)
{
    const hm_model *model = m->model;
    size_t n = hm_model_coordinate_count(model), rows = hm_model_constraint_count(model);
    size_t most = MOST_COLUMNS, drawn = hm_model_drawing_values(model);
    const size_t wanted[MOTION_GROUPS] = {
        [MOTION_T] = 1,
        [MOTION_Q] = n,
        [MOTION_V] = n,
        [MOTION_Z] = hm_model_state_count(model),
        [MOTION_OUTPUTS] = hm_model_output_count(model),
        [MOTION_ENERGY] = ENERGIES,
        [MOTION_VIOLATION] = rows,
        [MOTION_LAMBDA] = rows,
        [MOTION_IDEAL] = rows ? n : 0,
        [MOTION_NONIDEAL] = n,
        [MOTION_CONTROL] = hm_model_servo_group_count(model) ? n : 0,
    };
    for (int g = 0; g < MOTION_GROUPS; g++) {
        size_t count = g == MOTION_DRAWINGS ? drawn : wanted[g] < most ? wanted[g] : most;
        m->first[g + 1] = m->first[g] + count;
    }
    m->width = m->first[MOTION_GROUPS];
}

void motion_start(motion *m, const hm_model *model, const hm_run_options *options)
{
    *m = (motion){.model = model, .stride = 1};
    choose_columns(m);
    size_t most = MOST_NUMBERS / m->width;
    most = most > MOST_ROWS ? MOST_ROWS : most < LEAST_ROWS ? LEAST_ROWS : most;
    double rows = (options->end - options->start) / options->every;
    if (rows > (double)most && isfinite(rows))
        m->stride = (size_t)ceil(rows / (double)most);
}

/* As many of the values as the group has columns; NaN where there are none. */
static void put(const motion *m, double *row, motion_group group, const double *values)
{
    size_t count = m->first[group + 1] - m->first[group];
    for (size_t k = 0; k < count; k++)
        row[m->first[group] + k] = values ? values[k] : NAN;
}

static void put_energy(const motion *m, double *row, const hm_frame *f)
{
    const hm_ledger *w = &f->work;
    const double values[ENERGIES] = {f->has_energy ? f->kinetic : NAN,
                                     f->has_energy ? f->potential : NAN,
                                     f->has_total ? f->total : NAN,
                                     w->impressed,
                                     w->dissipation,
                                     w->gyroscopic,
                                     w->ideal,
                                     w->nonideal,
                                     w->servo,
                                     w->explicit_time,
                                     w->reset,
                                     w->impacts,
                                     f->balance};
    put(m, row, MOTION_ENERGY, values);
}

/* The larger of both levels, by row. */
static void put_violation(const motion *m, double *row, const hm_frame *f)
{
    size_t first = m->first[MOTION_VIOLATION], count = m->first[MOTION_VIOLATION + 1] - first;
    for (size_t k = 0; k < count; k++) {
        bool known = f->position_violation && f->velocity_violation;
        bool one_sided = hm_model_constraint(m->model, k).one_sided;
        double position = known ? f->position_violation[k] : NAN;
        row[first + k] = one_sided
                             ? fmax(0, -position)
                             : fmax(fabs(position), known ? fabs(f->velocity_violation[k]) : NAN);
    }
}

/* The sum over all servos, by coordinate. */
static void put_control(const motion *m, double *row, const hm_frame *f)
{
    size_t first = m->first[MOTION_CONTROL], count = m->first[MOTION_CONTROL + 1] - first;
    size_t n = hm_model_coordinate_count(m->model);
    for (size_t k = 0; k < count; k++) {
        double sum = f->u ? 0 : NAN;
        for (size_t i = 0; f->u && i < hm_model_servo_group_count(m->model); i++)
            sum += f->u[i * n + k];
        row[first + k] = sum;
    }
}

static double *new_row(motion *m)
{
    if (m->rows == m->capacity) {
        size_t capacity = m->capacity ? 2 * m->capacity : 256;
        double *grown = memory_resize(m->values, capacity * m->width * sizeof *grown);
        m->failed = !grown;
        if (!grown)
            return NULL;
        m->values = grown;
        m->capacity = capacity;
    }
    return m->values + m->rows++ * m->width;
}

bool motion_add(void *user, const hm_frame *frame)
{
    motion *m = user;
    bool output = frame->reason == HM_FRAME_REASON_OUTPUT;
    if (output && m->seen++ % m->stride != 0)
        return true;
    /* Ever faster events would fill the page. */
    if (frame->reason == HM_FRAME_REASON_EVENT && (m->rows > 2 * MOST_ROWS || m->stride > 1))
        return true;
    double *row = new_row(m);
    if (!row)
        return false;
    put(m, row, MOTION_T, &frame->t);
    put(m, row, MOTION_Q, frame->q);
    put(m, row, MOTION_V, frame->v);
    put(m, row, MOTION_Z, frame->z);
    put(m, row, MOTION_OUTPUTS, frame->outputs);
    put_energy(m, row, frame);
    put_violation(m, row, frame);
    put(m, row, MOTION_LAMBDA, frame->lambda);
    put(m, row, MOTION_IDEAL, frame->Qi);
    put(m, row, MOTION_NONIDEAL, frame->Qni);
    put_control(m, row, frame);
    put(m, row, MOTION_DRAWINGS, frame->drawings);
    return true;
}

/* ---- writing ---- */

static void write_number(report_text *out, double value, int digits)
{
    char number[40];
    if (!isfinite(value)) {
        text_adds(out, "null");
        return;
    }
    snprintf(number, sizeof number, "%.*g", digits, value == 0 ? 0 : value);
    text_adds(out, number);
}

static bool is_constant(const motion *m, size_t column)
{
    for (size_t i = 1; i < m->rows; i++)
        if (memcmp(&m->values[i * m->width + column], &m->values[column], sizeof(double)) != 0)
            return false;
    return true;
}

static void write_column(const motion *m, report_text *out, size_t column, int digits)
{
    size_t rows = is_constant(m, column) && m->rows ? 1 : m->rows;
    text_adds(out, "[");
    for (size_t i = 0; i < rows; i++) {
        if (i)
            text_adds(out, ",");
        write_number(out, m->values[i * m->width + column], digits);
    }
    text_adds(out, "]");
}

void motion_write(const motion *m, report_text *out)
{
    char head[64];
    snprintf(head, sizeof head, "{\"rows\":%zu,\"stride\":%zu", m->rows, m->stride);
    text_adds(out, head);
    for (int g = 0; g < MOTION_GROUPS; g++) {
        text_adds(out, ",\n\"");
        text_adds(out, group_names[g]);
        text_adds(out, "\":[");
        for (size_t k = m->first[g]; k < m->first[g + 1]; k++) {
            if (k > m->first[g])
                text_adds(out, ",\n");
            write_column(m, out, k, g == MOTION_T ? 12 : g == MOTION_DRAWINGS ? 6 : 9);
        }
        text_adds(out, "]");
    }
    text_adds(out, "}");
}

void motion_free(motion *m)
{
    free(m->values);
}
