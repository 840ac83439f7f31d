/* The extension module hamel._core: what its files share. Public API of Hamel and the stable ABI of Python
 * 3.11 only. */
#ifndef HAMEL_PYTHON_CORE_H
#define HAMEL_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <hamel/hamel.h>

/* A model with its system, and a sim that is kept for evaluations between calls. A call takes the sim away and
 * puts it back, under the GIL: threads that evaluate one model at the same time make sims of their own. */
typedef struct model_object {
    PyObject_HEAD
    hm_context *context;
    hm_model *model;
    hm_system *system;
    hm_sim *sim;
} model_object;

/* Raises hamel.Error with the first error of the context; context NULL: with the text of the status. NULL. */
PyObject *raise_error(const hm_context *context, hm_status status);

hm_sim *take_sim(model_object *self);
void give_sim(model_object *self, hm_sim *sim);
/* The model's initial state, changed as `at` says (NULL: unchanged); what it names is held. */
hm_status set_state(hm_sim *sim, const hm_model *model, const char *at);

/* run.c */
PyObject *model_run(PyObject *self, PyObject *args);
PyObject *make_table_type(void);

/* evaluate.c */
PyObject *model_accelerate(PyObject *self, PyObject *args);
PyObject *model_rates(PyObject *self, PyObject *args);
PyObject *model_ensemble(PyObject *self, PyObject *args);

#endif
