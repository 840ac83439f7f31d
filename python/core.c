/* hamel._core: models, their names and texts, errors. The typed layer is hamel/__init__.py. */
#include "core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- errors ---- */

static const hm_diagnostic *first_error(const hm_context *context)
{
    for (size_t i = 0; context && i < hm_context_diagnostic_count(context); i++)
        if (hm_context_diagnostic(context, i)->severity == HM_SEVERITY_ERROR)
            return hm_context_diagnostic(context, i);
    return NULL;
}

static PyObject *formatted(const hm_diagnostic *d)
{
    size_t length = hm_diagnostic_format(d, false, NULL, 0);
    char *text = malloc(length + 1);
    if (!text)
        return PyErr_NoMemory();
    hm_diagnostic_format(d, false, text, length + 1);
    PyObject *result = PyUnicode_DecodeUTF8(text, (Py_ssize_t)length, "replace");
    free(text);
    return result;
}

PyObject *raise_error(const hm_context *context, hm_status status)
{
    if (PyErr_Occurred())
        return NULL;
    if (status == HM_ERR_NOMEM)
        return PyErr_NoMemory();
    const hm_diagnostic *d = first_error(context);
    PyObject *text = d ? formatted(d) : PyUnicode_FromString(hm_status_text(status));
    PyObject *module = text ? PyImport_ImportModule("hamel._errors") : NULL;
    PyObject *type = module ? PyObject_GetAttrString(module, "Error") : NULL;
    PyObject *error = type ? PyObject_CallFunction(type, "szOiizs",
                                                   d ? d->message : hm_status_text(status),
                                                   d ? d->file : NULL, text, d ? d->line : 0,
                                                   d ? d->column : 0, d ? d->hint : NULL,
                                                   hm_status_text(status))
                           : NULL;
    if (error)
        PyErr_SetObject(type, error);
    Py_XDECREF(error);
    Py_XDECREF(type);
    Py_XDECREF(module);
    Py_XDECREF(text);
    return NULL;
}

/* ---- sims and states ---- */

hm_sim *take_sim(model_object *self)
{
    hm_sim *sim = self->sim;
    self->sim = NULL;
    if (!sim) {
        hm_status status = hm_sim_create(self->system, &sim);
        if (status != HM_OK) {
            raise_error(NULL, status);
            return NULL;
        }
    }
    hm_context_clear(hm_sim_context(sim));
    return sim;
}

void give_sim(model_object *self, hm_sim *sim)
{
    if (self->sim)
        hm_sim_destroy(sim);
    else
        self->sim = sim;
}

/* What `at` names is found by reading it into arrays of NaN. */
static hm_status hold_named(hm_sim *sim, const hm_model *model, const char *at, double *block,
                            bool *given)
{
    size_t n = hm_model_coordinate_count(model), states = hm_model_state_count(model);
    double t = 0;
    for (size_t i = 0; i < 2 * n; i++)
        block[i] = NAN;
    hm_status status = hm_model_read_state(hm_sim_context(sim), model, at, &t, block, block + n,
                                           block + 2 * n, block + 2 * n + states, given);
    for (size_t i = 0; i < n && status == HM_OK; i++) {
        hm_sim_hold(sim, i, false, !isnan(block[i]));
        hm_sim_hold(sim, i, true, !isnan(block[n + i]));
    }
    return status;
}

hm_status set_state(hm_sim *sim, const hm_model *model, const char *at)
{
    size_t n = hm_model_coordinate_count(model), states = hm_model_state_count(model),
           inputs = hm_model_input_count(model);
    double t = hm_sim_time(sim), *block = calloc(2 * n + states + inputs + 1, sizeof *block);
    bool *given = calloc(inputs + 1, sizeof *given);
    hm_status status = HM_ERR_NOMEM;
    if (block && given) {
        double *q = block, *v = q + n, *z = v + n, *u = z + states;
        hm_model_initial(model, q, v, z);
        status = at ? hm_model_read_state(hm_sim_context(sim), model, at, &t, q, v, z, u, given)
                    : HM_OK;
        if (status == HM_OK)
            status = hm_sim_set_state(sim, t, q, v, z);
        for (size_t i = 0; i < inputs && status == HM_OK; i++)
            if (given[i])
                status = hm_sim_set_input(sim, i, u[i], 0, 0);
        if (status == HM_OK && at)
            status = hold_named(sim, model, at, block, given);
    }
    free(block);
    free(given);
    return status;
}

/* ---- reading ---- */

/* [(name, value), ...] as overrides that point into the strings of the list. */
static hm_override *read_overrides(PyObject *list, size_t *count)
{
    Py_ssize_t size = PyList_Size(list);
    hm_override *overrides = size < 0 ? NULL : calloc((size_t)size + 1, sizeof *overrides);
    if (!overrides) {
        if (!PyErr_Occurred())
            PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t i = 0; i < size; i++) {
        PyObject *pair = PyList_GetItem(list, i);
        if (!pair || !PyArg_ParseTuple(pair, "ss", &overrides[i].name, &overrides[i].value)) {
            free(overrides);
            return NULL;
        }
    }
    *count = (size_t)size;
    return overrides;
}

static hm_status read_model(model_object *self, const char *path, const char *text,
                            Py_ssize_t length, const hm_model_options *options)
{
    hm_status status;
    Py_BEGIN_ALLOW_THREADS
    status = text ? hm_model_parse(self->context, text, (size_t)length, options, &self->model)
                  : hm_model_load(self->context, path, options, &self->model);
    if (status == HM_OK)
        status = hm_system_create(self->model, &self->system);
    Py_END_ALLOW_THREADS
    return status;
}

/* Model(path or None, text or None, name, overrides) */
static PyObject *model_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    const char *path, *text, *name;
    Py_ssize_t length = 0;
    PyObject *list;
    hm_model_options options = hm_model_options_default();
    if (keywords && PyDict_Size(keywords) > 0) {
        PyErr_SetString(PyExc_TypeError, "no keywords here");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "zz#zO!", &path, &text, &length, &name, &PyList_Type, &list))
        return NULL;
    if (!path && !text) {
        PyErr_SetString(PyExc_TypeError, "a path or a text is needed");
        return NULL;
    }
    hm_override *overrides = read_overrides(list, &options.override_count);
    if (!overrides)
        return NULL;
    options.overrides = overrides;
    if (name)
        options.name = name;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    model_object *self = (model_object *)allocate(type, 0);
    hm_status status = HM_ERR_NOMEM;
    if (self && (self->context = hm_context_create(NULL)))
        status = read_model(self, path, text, length, &options);
    free(overrides);
    if (status == HM_OK)
        return (PyObject *)self;
    raise_error(self ? self->context : NULL, status);
    Py_XDECREF((PyObject *)self);
    return NULL;
}

static void model_free(PyObject *object)
{
    model_object *self = (model_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    hm_sim_destroy(self->sim);
    hm_system_destroy(self->system);
    hm_model_destroy(self->model);
    hm_context_destroy(self->context);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

/* ---- names ---- */

typedef const char *(*name_function)(const hm_model *, size_t);

/* Steals `item`. */
static bool append(PyObject *list, PyObject *item)
{
    bool good = list && item && PyList_Append(list, item) == 0;
    Py_XDECREF(item);
    return good;
}

static PyObject *names(const hm_model *model, size_t count, name_function name)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < count; i++) {
        const char *text = name(model, i);
        if (!append(list, Py_BuildValue("z", text))) {
            Py_CLEAR(list);
        }
    }
    return list;
}

static const char *constraint_name(const hm_model *model, size_t i)
{
    return hm_model_constraint(model, i).name;
}

static PyObject *param_values(const hm_model *model)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < hm_model_param_count(model); i++)
        if (!append(list, PyFloat_FromDouble(hm_model_param_value(model, i)))) {
            Py_CLEAR(list);
        }
    return list;
}

/* Everything that has a name, as a dict of lists. */
static PyObject *model_names(PyObject *object, PyObject *unused)
{
    const hm_model *m = ((model_object *)object)->model;
    size_t n = hm_model_coordinate_count(m), p = hm_model_param_count(m), o = hm_model_output_count(m);
    (void)unused;
    return Py_BuildValue(
        "{s:s,s:z,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:N}", "name", hm_model_name(m), "title",
        hm_model_title(m), "coordinates", names(m, n, hm_model_coordinate_name), "coordinate_texts",
        names(m, n, hm_model_coordinate_text), "params", names(m, p, hm_model_param_name),
        "param_values", param_values(m), "param_texts", names(m, p, hm_model_param_text), "inputs",
        names(m, hm_model_input_count(m), hm_model_input_name), "states",
        names(m, hm_model_state_count(m), hm_model_state_name), "outputs",
        names(m, o, hm_model_output_name), "output_texts", names(m, o, hm_model_output_text),
        "constraints", names(m, hm_model_constraint_count(m), constraint_name));
}

static PyObject *model_warnings(PyObject *object, PyObject *unused)
{
    const hm_context *context = ((model_object *)object)->context;
    PyObject *list = PyList_New(0);
    (void)unused;
    for (size_t i = 0; list && i < hm_context_diagnostic_count(context); i++) {
        const hm_diagnostic *d = hm_context_diagnostic(context, i);
        if (d->severity == HM_SEVERITY_WARNING && !append(list, PyUnicode_FromString(d->message))) {
            Py_CLEAR(list);
        }
    }
    return list;
}

/* (q, v, z) as lists: the initial state, made consistent with the constraints unless the model says `keep`. */
static PyObject *model_initial(PyObject *object, PyObject *args)
{
    model_object *self = (model_object *)object;
    const char *at = NULL;
    const hm_moved *moved = NULL;
    size_t moved_count = 0;
    if (!PyArg_ParseTuple(args, "z", &at))
        return NULL;
    hm_sim *sim = NULL;
    hm_status status = hm_sim_create(self->system, &sim);
    if (status == HM_OK)
        status = set_state(sim, self->model, at);
    if (status == HM_OK && !hm_run_options_default(self->model).keep_initial)
        status = hm_sim_make_consistent(sim, false, &moved, &moved_count);
    size_t n = hm_model_coordinate_count(self->model), states = hm_model_state_count(self->model);
    size_t count = 2 * n + states;
    double *y = calloc(count + 1, sizeof *y);
    PyObject *list = NULL;
    if (!y)
        status = HM_ERR_NOMEM;
    if (status == HM_OK && (list = PyList_New(0))) {
        hm_sim_state(sim, y, y + n, y + 2 * n);
        bool good = append(list, PyFloat_FromDouble(hm_sim_time(sim)));
        for (size_t i = 0; i < count && good; i++)
            good = append(list, PyFloat_FromDouble(y[i]));
        if (!good)
            Py_CLEAR(list);
    } else if (status != HM_OK)
        raise_error(sim ? hm_sim_context(sim) : NULL, status);
    free(y);
    hm_sim_destroy(sim);
    return list;
}

/* ---- texts ---- */

typedef struct text {
    char *bytes;
    size_t length, capacity;
} text;

static bool write_text(void *user, const char *bytes, size_t length)
{
    text *to = user;
    if (to->length + length > to->capacity) {
        size_t capacity = 2 * (to->length + length) + 256;
        char *grown = realloc(to->bytes, capacity);
        if (!grown)
            return false;
        to->bytes = grown;
        to->capacity = capacity;
    }
    if (length)
        memcpy(to->bytes + to->length, bytes, length);
    to->length += length;
    return true;
}

static PyObject *finish_text(text *from, const hm_context *context, hm_status status)
{
    PyObject *result = status == HM_OK
                           ? PyUnicode_DecodeUTF8(from->bytes ? from->bytes : "",
                                                  (Py_ssize_t)from->length, "replace")
                           : raise_error(context, status);
    free(from->bytes);
    return result;
}

static PyObject *model_derive(PyObject *object, PyObject *args)
{
    model_object *self = (model_object *)object;
    int format;
    text to = {0};
    hm_status status;
    if (!PyArg_ParseTuple(args, "i", &format))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    status = hm_system_derive(self->system, (hm_format)format, write_text, &to);
    Py_END_ALLOW_THREADS
    return finish_text(&to, NULL, status);
}

static PyObject *model_export(PyObject *object, PyObject *args)
{
    model_object *self = (model_object *)object;
    const char *format;
    text to = {0};
    hm_status status = HM_ERR_NOMEM;
    hm_export_options options = hm_export_options_default();
    if (!PyArg_ParseTuple(args, "s", &format))
        return NULL;
    if (!hm_export_format_find(format, &options.format)) {
        PyErr_Format(PyExc_ValueError, "there is no export format '%s'", format);
        return NULL;
    }
    hm_context *context = hm_context_create(NULL);
    Py_BEGIN_ALLOW_THREADS
    if (context)
        status = hm_system_export(context, self->system, &options, write_text, &to);
    Py_END_ALLOW_THREADS
    PyObject *result = finish_text(&to, context, status);
    hm_context_destroy(context);
    return result;
}

/* ---- the module ---- */

static PyMethodDef model_methods[] = {
    {"names", model_names, METH_NOARGS, "Names, texts and values, as a dict."},
    {"warnings", model_warnings, METH_NOARGS, "Warnings that reading gave."},
    {"initial", model_initial, METH_VARARGS, "initial(at) -> [t, q.., v.., z..]"},
    {"derive", model_derive, METH_VARARGS, "derive(format number)"},
    {"export", model_export, METH_VARARGS, "export(format name)"},
    {"accelerate", model_accelerate, METH_VARARGS, "accelerate(t, q, v, z, params, qdd)"},
    {"rates", model_rates, METH_VARARGS, "rates(t, q, v, z, params, qdd, zdot, outputs)"},
    {"run", model_run, METH_VARARGS, "run(...) -> (table, names, summary)"},
    {"ensemble", model_ensemble, METH_VARARGS, "ensemble(...) -> summary"},
    {0},
};

static PyType_Slot model_slots[] = {
    {Py_tp_doc, "A model that was read and derived."},
    {Py_tp_new, model_new},
    {Py_tp_dealloc, model_free},
    {Py_tp_methods, model_methods},
    {0},
};
static PyType_Spec model_spec = {
    .name = "hamel._core.Model",
    .basicsize = sizeof(model_object),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = model_slots,
};

static int fill_module(PyObject *module)
{
    PyObject *model = PyType_FromSpec(&model_spec), *table = make_table_type();
    int status = model && table && PyModule_AddObjectRef(module, "Model", model) == 0 &&
                         PyModule_AddObjectRef(module, "Table", table) == 0 &&
                         PyModule_AddStringConstant(module, "version", hm_version()) == 0
                     ? 0
                     : -1;
    Py_XDECREF(model);
    Py_XDECREF(table);
    return status;
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, fill_module}, {0}};
static struct PyModuleDef module_definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "hamel._core",
    .m_doc = "The part of hamel that is written in C.",
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&module_definition);
}
