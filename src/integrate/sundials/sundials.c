/* Creation, dense output and release of what CVODE and IDA share.
 * Verified: test/unit/integrate/test_implicit_sundials.c */
#include "integrate/sundials/sundials.h"

#ifdef HAMEL_SUNDIALS

#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include <string.h>

bool hmi_sundials_create(hmi_sundials *c, size_t size, int vectors)
{
    sunindextype length = (sunindextype)size;
    if (SUNContext_Create(NULL, &c->context) != 0)
        return false;
    for (int i = 0; i < vectors; i++)
        if (!(c->vector[i] = N_VNew_Serial(length, c->context)))
            return false;
    c->dense = N_VNew_Serial(length, c->context);
    c->J = SUNDenseMatrix(length, length, c->context);
    if (!c->dense || !c->J)
        return false;
    c->linear = SUNLinSol_Dense(c->vector[0], c->J, c->context);
    return c->linear != NULL;
}

void hmi_sundials_release(hmi_sundials *c)
{
    if (c->linear)
        SUNLinSolFree(c->linear);
    if (c->J)
        SUNMatDestroy(c->J);
    for (int i = 0; i < HMI_SUNDIALS_VECTORS; i++)
        if (c->vector[i])
            N_VDestroy(c->vector[i]);
    if (c->dense)
        N_VDestroy(c->dense);
    SUNContext_Free(&c->context);
    *c = (hmi_sundials){0};
}

void hmi_sundials_silent(int code, const char *module, const char *function, char *message,
                         void *user)
{
    (void)code, (void)module, (void)function, (void)message, (void)user;
}

void hmi_sundials_accept(hmi_sundials *c, hmi_stepper *s, double t)
{
    size_t bytes = s->size * sizeof *s->y;
    memcpy(s->y_old, s->y, bytes + s->works * sizeof *s->y);
    memcpy(s->y, N_VGetArrayPointer(c->vector[0]), bytes);
    c->t_begin = s->t_old = s->t;
    c->t_end = s->t = t;
    memset(c->missing, 0, bytes);
    if (c->output(c->solver, s->t_old, 0, c->dense) == 0)
        for (size_t i = 0; i < s->size; i++)
            c->missing[i] = s->y_old[i] - N_VGetArrayPointer(c->dense)[i];
    s->f_valid = false;
    s->steps++;
}

/* The polynomial of the formula misses the start of the step by about the tolerance, which events
 * that begin there must not see: what is missing is added, fading out over the step. */
void hmi_sundials_interpolate(const hmi_sundials *c, const hmi_stepper *s, double t, double *y)
{
    const double *from = s->y;
    double fade = (c->t_end - t) / (c->t_end - c->t_begin);
    if (c->output(c->solver, t, 0, c->dense) == 0)
        from = N_VGetArrayPointer(c->dense);
    for (size_t i = 0; i < s->size; i++)
        y[i] = from[i] + fade * c->missing[i];
}

#endif
