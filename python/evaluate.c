/* Many states at once: accelerations, rates, outputs; and ensembles. Arrays come through the buffer protocol,
 * contiguous doubles of sizes that are checked here. */
#include "core.h"

#include <math.h>
#include <string.h>

typedef struct buffer {
    Py_buffer view;
    double *at;
    size_t count;
} buffer;

/* O& converter. None is an empty buffer. */
static int as_buffer(PyObject *object, buffer *b, int flags)
{
    if (object == Py_None)
        return 1;
    if (PyObject_GetBuffer(object, &b->view, flags | PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0)
        return 0;
    if (b->view.itemsize != sizeof(double) || !b->view.format || strcmp(b->view.format, "d") != 0) {
        PyErr_SetString(PyExc_TypeError, "an array of doubles is needed");
        PyBuffer_Release(&b->view);
        return 0;
    }
    b->at = b->view.buf;
    b->count = (size_t)b->view.len / sizeof(double);
    return 1;
}

enum { T, Q, V, Z, PARAMS, OUT, RATES, OUTPUTS, BUFFERS };

static void release(buffer b[BUFFERS])
{
    for (int i = 0; i < BUFFERS; i++)
        if (b[i].view.obj)
            PyBuffer_Release(&b[i].view);
}

/* The arguments in the order of the enum, with sizes that fit `t`. */
static bool read_buffers(const hm_model *model, PyObject *args, buffer b[BUFFERS])
{
    size_t n = hm_model_coordinate_count(model);
    const size_t width[BUFFERS] = {1, n, n, hm_model_state_count(model), 0, n,
                                   hm_model_state_count(model), hm_model_output_count(model)};
    Py_ssize_t given = PyTuple_Size(args);
    for (Py_ssize_t i = 0; i < given && i < BUFFERS; i++)
        if (!as_buffer(PyTuple_GetItem(args, i), &b[i], i >= OUT ? PyBUF_WRITABLE : PyBUF_SIMPLE))
            return false;
    for (int i = 0; i < BUFFERS; i++) {
        size_t needed = i == PARAMS ? hm_model_param_count(model) : width[i] * b[T].count;
        if (b[i].view.obj && b[i].count != needed) {
            PyErr_Format(PyExc_ValueError, "argument %d has %zu values, not %zu", i + 1, b[i].count,
                         needed);
            return false;
        }
    }
    if (b[T].view.obj && b[Q].view.obj && b[V].view.obj && b[OUT].view.obj)
        return true;
    PyErr_SetString(PyExc_TypeError, "t, q, v and the result are needed");
    return false;
}

static hm_status set_params(hm_sim *sim, const hm_model *model, const double *values)
{
    hm_status status = HM_OK;
    for (size_t i = 0; values && i < hm_model_param_count(model) && status == HM_OK; i++)
        if (!isnan(values[i]))
            status = hm_sim_set_param(sim, hm_model_param_name(model, i), values[i]);
    return status;
}

/* A sim whose parameters were changed is not kept. */
static void done_with(model_object *self, hm_sim *sim, const buffer b[BUFFERS])
{
    if (b[PARAMS].view.obj)
        hm_sim_destroy(sim);
    else
        give_sim(self, sim);
}

/* States for which there is no answer get NaN: they are counted. */
static size_t accelerate_all(hm_sim *sim, size_t n, size_t states, const buffer b[BUFFERS])
{
    size_t failed = 0;
    for (size_t i = 0; i < b[T].count; i++) {
        double *qdd = b[OUT].at + i * n;
        const double *z = b[Z].at ? b[Z].at + i * states : NULL;
        hm_status status = hm_sim_set_state(sim, b[T].at[i], b[Q].at + i * n, b[V].at + i * n, z);
        if (status == HM_OK)
            status = hm_sim_accelerate(sim, qdd);
        if (status == HM_OK)
            continue;
        failed++;
        for (size_t k = 0; k < n; k++)
            qdd[k] = NAN;
    }
    return failed;
}

/* accelerate(t, q, v, z, params, qdd) -> number of states without an answer */
PyObject *model_accelerate(PyObject *object, PyObject *args)
{
    model_object *self = (model_object *)object;
    buffer b[BUFFERS] = {0};
    PyObject *result = NULL;
    hm_sim *sim = read_buffers(self->model, args, b) ? take_sim(self) : NULL;
    hm_status status = sim ? set_params(sim, self->model, b[PARAMS].at) : HM_OK;
    if (sim && status == HM_OK) {
        size_t failed, n = hm_model_coordinate_count(self->model),
                       states = hm_model_state_count(self->model);
        Py_BEGIN_ALLOW_THREADS
        failed = accelerate_all(sim, n, states, b);
        Py_END_ALLOW_THREADS
        result = PyLong_FromSize_t(failed);
    } else if (sim)
        raise_error(hm_sim_context(sim), status);
    if (sim)
        done_with(self, sim, b);
    release(b);
    return result;
}

static void copy(double *to, const double *from, size_t count)
{
    for (size_t i = 0; to && i < count; i++)
        to[i] = from ? from[i] : NAN;
}

static size_t evaluate_all(hm_sim *sim, const hm_model *model, const buffer b[BUFFERS])
{
    size_t failed = 0, n = hm_model_coordinate_count(model), s = hm_model_state_count(model),
           o = hm_model_output_count(model);
    hm_evaluate_options options = hm_evaluate_options_default();
    options.compare = false;
    for (size_t i = 0; i < b[T].count; i++) {
        hm_evaluation e = {0};
        const double *z = b[Z].at ? b[Z].at + i * s : NULL;
        hm_status status = hm_sim_set_state(sim, b[T].at[i], b[Q].at + i * n, b[V].at + i * n, z);
        if (status == HM_OK)
            status = hm_sim_evaluate(sim, &options, &e);
        bool good = status == HM_OK;
        failed += !good;
        copy(b[OUT].at + i * n, good ? e.qdd : NULL, n);
        copy(b[RATES].at ? b[RATES].at + i * s : NULL, good ? e.state_rates : NULL, s);
        copy(b[OUTPUTS].at ? b[OUTPUTS].at + i * o : NULL, good ? e.outputs : NULL, o);
        hm_context_clear(hm_sim_context(sim));
    }
    return failed;
}

/* rates(t, q, v, z, params, qdd, zdot, outputs) -> number of states without an answer */
PyObject *model_rates(PyObject *object, PyObject *args)
{
    model_object *self = (model_object *)object;
    buffer b[BUFFERS] = {0};
    PyObject *result = NULL;
    hm_sim *sim = read_buffers(self->model, args, b) ? take_sim(self) : NULL;
    hm_status status = sim ? set_params(sim, self->model, b[PARAMS].at) : HM_OK;
    if (sim && status == HM_OK) {
        size_t failed;
        Py_BEGIN_ALLOW_THREADS
        failed = evaluate_all(sim, self->model, b);
        Py_END_ALLOW_THREADS
        result = PyLong_FromSize_t(failed);
    } else if (sim)
        raise_error(hm_sim_context(sim), status);
    if (sim)
        done_with(self, sim, b);
    release(b);
    return result;
}

/* ---- ensembles ---- */

enum { MOST_COLUMNS = 256 };

typedef struct ensemble {
    size_t n, states, outputs;
    double *final;                  /* t_end, q, v, z, outputs, status by member */
    const volatile double *cancel; /* not 0: stop */
} ensemble;

/* Called from threads of the library, without the GIL. */
static bool keep_member(void *user, const hm_member_result *r)
{
    ensemble *e = user;
    size_t width = 2 + 2 * e->n + e->states + e->outputs;
    double *row = e->final + r->member * width;
    row[0] = (double)r->status;
    row[1] = r->t_end;
    copy(row + 2, r->q, e->n);
    copy(row + 2 + e->n, r->v, e->n);
    copy(row + 2 + 2 * e->n, r->z, e->states);
    copy(row + 2 + 2 * e->n + e->states, r->outputs, e->outputs);
    return *e->cancel == 0;
}

static bool go_on(void *user, size_t done, size_t count)
{
    (void)done;
    (void)count;
    return *((ensemble *)user)->cancel == 0;
}

static hm_status find_columns(hm_context *context, const hm_model *model, PyObject *list,
                              hm_ensemble_column *columns, size_t count)
{
    hm_status status = HM_OK;
    for (size_t i = 0; i < count && status == HM_OK; i++) {
        const char *name = PyUnicode_AsUTF8AndSize(PyList_GetItem(list, (Py_ssize_t)i), NULL);
        status = name ? hm_ensemble_find_column(context, model, name, &columns[i]) : HM_ERR_USAGE;
    }
    return status;
}

static void choose(double *option, double given)
{
    if (!isnan(given))
        *option = given;
}

/* ensemble(names, values, final, cancel, end, every, rtol, atol, method, jobs) */
PyObject *model_ensemble(PyObject *object, PyObject *args)
{
    model_object *self = (model_object *)object;
    PyObject *list, *values, *final, *cancel, *answer = NULL;
    double end, rtol, atol;
    const char *method;
    int jobs;
    if (!PyArg_ParseTuple(args, "O!OOOdddzi", &PyList_Type, &list, &values, &final, &cancel, &end,
                          &rtol, &atol, &method, &jobs))
        return NULL;
    buffer b[BUFFERS] = {0};
    hm_ensemble_column columns[MOST_COLUMNS];
    size_t count = (size_t)PyList_Size(list);
    ensemble e = {hm_model_coordinate_count(self->model), hm_model_state_count(self->model),
                  hm_model_output_count(self->model), NULL, NULL};
    size_t width = 2 + 2 * e.n + e.states + e.outputs;
    if (!as_buffer(values, &b[0], PyBUF_SIMPLE) || !as_buffer(final, &b[1], PyBUF_WRITABLE) ||
        !as_buffer(cancel, &b[2], PyBUF_SIMPLE)) {
        release(b);
        return NULL;
    }
    if (count == 0 || count > MOST_COLUMNS || b[0].count % count != 0 || b[2].count != 1 ||
        b[1].count != b[0].count / count * width) {
        PyErr_SetString(PyExc_ValueError, "the sizes of the arrays do not fit");
        release(b);
        return NULL;
    }
    e.final = b[1].at;
    e.cancel = b[2].at;
    hm_ensemble_options options = hm_ensemble_options_default(self->model);
    choose(&options.run.end, end);
    choose(&options.run.rtol, rtol);
    choose(&options.run.atol, atol);
    if (method)
        options.run.method = method;
    options.run.content = e.outputs ? HM_FRAME_CONTENT_FORCES : HM_FRAME_CONTENT_STATE;
    options.jobs = (unsigned)jobs;
    options.on_member = keep_member;
    options.on_progress = go_on;
    options.user = &e;
    hm_ensemble_members members = {b[0].count / count, count, columns, b[0].at};
    hm_ensemble_result result;
    hm_context *context = hm_context_create(NULL);
    hm_status status = context ? find_columns(context, self->model, list, columns, count)
                               : HM_ERR_NOMEM;
    if (status == HM_OK) {
        Py_BEGIN_ALLOW_THREADS
        status = hm_ensemble_run(context, self->system, &members, &options, &result);
        Py_END_ALLOW_THREADS
    }
    if (status == HM_OK)
        answer = Py_BuildValue("{s:n,s:n,s:n,s:n,s:n,s:n,s:d}", "members",
                               (Py_ssize_t)result.members, "ok", (Py_ssize_t)result.ok, "events",
                               (Py_ssize_t)result.events, "failed", (Py_ssize_t)result.failed,
                               "interrupted", (Py_ssize_t)result.interrupted, "batched",
                               (Py_ssize_t)result.batched, "wall_s", result.wall_s);
    else
        raise_error(context, status);
    hm_context_destroy(context);
    release(b);
    return answer;
}
