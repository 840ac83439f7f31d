/* Runs: rows go to one block of memory that NumPy sees through the buffer protocol. */
#include "core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- tables ---- */

typedef struct table_object {
    PyObject_HEAD
    double *values;
    size_t count, capacity; /* doubles */
    Py_ssize_t shape[2], strides[2];
} table_object;

static PyTypeObject *table_type;

static int table_buffer(PyObject *object, Py_buffer *view, int flags)
{
    table_object *self = (table_object *)object;
    static double nothing;
    if (flags & PyBUF_WRITABLE & ~PyBUF_SIMPLE) {
        PyErr_SetString(PyExc_BufferError, "results are read-only");
        view->obj = NULL;
        return -1;
    }
    *view = (Py_buffer){.buf = self->values ? self->values : &nothing,
                        .obj = object,
                        .len = (Py_ssize_t)(self->count * sizeof(double)),
                        .itemsize = sizeof(double),
                        .readonly = 1,
                        .ndim = 2,
                        .format = flags & PyBUF_FORMAT ? "d" : NULL,
                        .shape = self->shape,
                        .strides = self->strides};
    Py_INCREF(object);
    return 0;
}

static void table_free(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    free(((table_object *)object)->values);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static PyType_Slot table_slots[] = {
    {Py_tp_doc, "Rows of doubles, for numpy.asarray."},
    {Py_tp_dealloc, table_free},
    {Py_bf_getbuffer, table_buffer},
    {0},
};
static PyType_Spec table_spec = {
    .name = "hamel._core.Table",
    .basicsize = sizeof(table_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = table_slots,
};

PyObject *make_table_type(void)
{
    PyObject *type = PyType_FromSpec(&table_spec);
    table_type = (PyTypeObject *)type;
    return type;
}

/* ---- rows ---- */

/* Groups of columns beyond t, coordinates, velocities, outputs and states. */
enum { ACCELERATION = 1, LAMBDA = 2, QC = 4, ENERGY = 8 };

typedef struct recorder {
    const hm_model *model;
    table_object *table;
    unsigned groups;
    size_t width;
    bool no_memory;
    PyObject *progress; /* NULL: none */
    PyThreadState *thread;
    struct timespec looked;
    bool raised; /* a Python exception is set */
} recorder;

static size_t width_of(const recorder *r)
{
    size_t n = hm_model_coordinate_count(r->model), m = hm_model_constraint_count(r->model);
    return 1 + 2 * n + hm_model_output_count(r->model) + hm_model_state_count(r->model) +
           (r->groups & ACCELERATION ? n : 0) + (r->groups & LAMBDA ? m : 0) +
           (r->groups & QC ? n : 0) + (r->groups & ENERGY ? 3 : 0);
}

static double *put(double *row, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        *row++ = values ? values[i] : NAN;
    return row;
}

static void fill(const recorder *r, const hm_frame *f, double *row)
{
    size_t n = hm_model_coordinate_count(r->model), m = hm_model_constraint_count(r->model);
    *row++ = f->t;
    row = put(row, f->q, n);
    row = put(row, f->v, n);
    row = put(row, f->outputs, hm_model_output_count(r->model));
    row = put(row, f->z, hm_model_state_count(r->model));
    row = put(row, f->qdd, r->groups & ACCELERATION ? n : 0);
    row = put(row, f->lambda, r->groups & LAMBDA ? m : 0);
    row = put(row, f->Qc, r->groups & QC ? n : 0);
    if (r->groups & ENERGY) {
        row[0] = f->has_energy ? f->kinetic : NAN;
        row[1] = f->has_energy ? f->potential : NAN;
        row[2] = f->has_total ? f->total : NAN;
    }
}

/* Without the GIL: output times and the end; events are in the summary. */
static bool keep_frame(void *user, const hm_frame *frame)
{
    recorder *r = user;
    table_object *to = r->table;
    if (frame->reason == HM_FRAME_REASON_EVENT)
        return true;
    if (to->count + r->width > to->capacity) {
        size_t capacity = 2 * to->capacity + 64 * r->width;
        double *grown = realloc(to->values, capacity * sizeof *grown);
        if (!grown) {
            r->no_memory = true;
            return false;
        }
        to->values = grown;
        to->capacity = capacity;
    }
    fill(r, frame, to->values + to->count);
    to->count += r->width;
    return true;
}

/* Ctrl-C and the caller's progress function, at most every 50 ms: taking the GIL has a price. */
static bool look_around(void *user, double t, double part)
{
    recorder *r = user;
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    if (fabs(difftime(now.tv_sec, r->looked.tv_sec) + 1e-9 * (double)(now.tv_nsec - r->looked.tv_nsec)) < 0.05)
        return true;
    r->looked = now;
    PyEval_RestoreThread(r->thread);
    r->raised = PyErr_CheckSignals() != 0;
    if (!r->raised && r->progress) {
        PyObject *answer = PyObject_CallFunction(r->progress, "dd", t, part);
        r->raised = !answer;
        Py_XDECREF(answer);
    }
    r->thread = PyEval_SaveThread();
    return !r->raised;
}

/* ---- the summary ---- */

static PyObject *event_list(const hm_run_result *result)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < result->event_count; i++) {
        PyObject *one = Py_BuildValue("{s:s,s:d}", "name", result->events[i].name, "t",
                                      result->events[i].t);
        if (!one || PyList_Append(list, one) != 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

static PyObject *violations(const hm_model *model, const hm_run_result *result)
{
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict && i < result->constraints; i++) {
        PyObject *value = PyFloat_FromDouble(result->violation[i]);
        if (!value || PyDict_SetItemString(dict, hm_model_constraint(model, i).name, value) != 0)
            Py_CLEAR(dict);
        Py_XDECREF(value);
    }
    return dict;
}

/* Keys as in `hamel run --json`. */
static PyObject *summary(const hm_model *model, const hm_run_result *r)
{
    PyObject *energy = r->has_total ? Py_BuildValue("{s:d,s:d,s:d}", "initial", r->energy_initial,
                                                    "final", r->energy_final, "balance_error",
                                                    r->balance_error)
                                    : Py_BuildValue("");
    return Py_BuildValue(
        "{s:s,s:s,s:s,s:s,s:s,s:s,s:d,s:d,s:d,s:d,s:l,s:l,s:l,s:d,s:N,s:N,s:N}", "model",
        hm_model_name(model), "status", hm_run_status_text(r->status), "message",
        r->message ? r->message : "", "method", r->method ? r->method : "", "formulation",
        r->formulation ? r->formulation : "", "drift", r->drift ? r->drift : "", "rtol", r->rtol,
        "atol", r->atol, "t_start", r->t_start, "t_end", r->t_end, "steps", r->steps, "rejected",
        r->rejected, "evaluations", r->evaluations, "wall_s", r->wall_s, "energy", energy,
        "violation", violations(model, r), "events", event_list(r));
}

/* ---- the run ---- */

static void choose(double *option, double given)
{
    if (!isnan(given))
        *option = given;
}

static bool read_options(PyObject *args, const hm_model *model, hm_run_options *o, recorder *r,
                         const char **at)
{
    double start, end, every, rtol, atol, step;
    const char *method, *drift, *formulation;
    PyObject *progress;
    if (!PyArg_ParseTuple(args, "zddddddzzzIO", at, &start, &end, &every, &rtol, &atol, &step,
                          &method, &drift, &formulation, &r->groups, &progress))
        return false;
    *o = hm_run_options_default(model);
    choose(&o->start, start);
    choose(&o->end, end);
    choose(&o->every, every);
    choose(&o->rtol, rtol);
    choose(&o->atol, atol);
    choose(&o->step, step);
    o->method = method ? method : o->method;
    o->drift = drift ? drift : o->drift;
    if (formulation && !hm_formulation_find(formulation, &o->formulation)) {
        PyErr_Format(PyExc_ValueError, "there is no formulation '%s'", formulation);
        return false;
    }
    bool forces = hm_model_output_count(model) > 0 || (r->groups & (ACCELERATION | LAMBDA | QC));
    o->content = (forces ? HM_FRAME_CONTENT_FORCES : 0u) |
                 (r->groups & ENERGY ? HM_FRAME_CONTENT_ENERGY : 0u);
    o->on_frame = keep_frame;
    o->on_progress = look_around;
    o->user = r;
    r->progress = progress == Py_None ? NULL : progress;
    return true;
}

static bool start_table(recorder *r)
{
    allocfunc allocate = (allocfunc)PyType_GetSlot(table_type, Py_tp_alloc);
    r->table = (table_object *)allocate(table_type, 0);
    r->width = width_of(r);
    return r->table;
}

static void finish_table(const recorder *r)
{
    table_object *t = r->table;
    t->shape[0] = (Py_ssize_t)(t->count / r->width);
    t->shape[1] = (Py_ssize_t)r->width;
    t->strides[0] = (Py_ssize_t)(r->width * sizeof(double));
    t->strides[1] = sizeof(double);
}

/* A run that failed on its way has rows up to there and is no exception; its summary says so. */
static bool is_result(hm_status status, const hm_run_result *result)
{
    return status == HM_OK || (result->status == HM_RUN_FAILED && result->method &&
                               status != HM_ERR_USAGE && status != HM_ERR_INPUT);
}

/* run(at, start, end, every, rtol, atol, step, method, drift, formulation, groups, progress)
 * -> (table, summary); NaN and None: as the model says */
PyObject *model_run(PyObject *object, PyObject *args)
{
    model_object *self = (model_object *)object;
    hm_run_options options;
    hm_run_result result = {0};
    recorder r = {.model = self->model};
    const char *at = NULL;
    hm_sim *sim = NULL;
    PyObject *answer = NULL;
    if (!read_options(args, self->model, &options, &r, &at) || !start_table(&r))
        return NULL;
    hm_status status = hm_sim_create(self->system, &sim);
    if (status == HM_OK)
        status = set_state(sim, self->model, at);
    if (status == HM_OK) {
        r.thread = PyEval_SaveThread();
        status = hm_sim_run(sim, &options, &result);
        PyEval_RestoreThread(r.thread);
    }
    finish_table(&r);
    if (r.no_memory)
        PyErr_NoMemory();
    else if (!r.raised && is_result(status, &result))
        answer = Py_BuildValue("ON", r.table, summary(self->model, &result));
    else if (!r.raised)
        raise_error(sim ? hm_sim_context(sim) : NULL, status);
    hm_sim_destroy(sim);
    Py_DECREF(r.table);
    return answer;
}
