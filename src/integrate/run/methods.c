/* The list of methods, and their public names. */
#include "integrate/ode/method.h"
#include "integrate/ode/ode.h"

#include <hamel/run.h>

#include <string.h>

static const hmi_method *const methods[] = {
    &hmi_method_dop853, &hmi_method_rk5, &hmi_method_taylor,   &hmi_method_radau,
    &hmi_method_rattle, &hmi_method_dla, &hmi_method_midpoint,
#ifdef HAMEL_SUNDIALS
    &hmi_method_cvode,  &hmi_method_ida,
#endif
};
enum { METHODS = sizeof methods / sizeof *methods };

const hmi_method *hmi_method_find(const char *name)
{
    for (int k = 0; k < METHODS; k++)
        if (strcmp(methods[k]->name, name) == 0)
            return methods[k];
    return NULL;
}

/* The explicit methods need q'' alone; the others use dense matrices of the size of the system. */
hm_status hmi_method_applies(const hmi_method *method, const hmi_ode *ode, const char **why)
{
    bool is_explicit = method == &hmi_method_dop853 || method == &hmi_method_rk5;
    if (!ode->sim->dense.dynamics && !is_explicit) {
        *why = "beyond 400 coordinates there are dop853 and rk5";
        return HM_ERR_USAGE;
    }
    return method->applies(ode, why);
}

const char *hm_method_name(size_t index)
{
    return index < METHODS ? methods[index]->name : NULL;
}

const char *hm_method_doc(size_t index)
{
    return index < METHODS ? methods[index]->doc : NULL;
}
