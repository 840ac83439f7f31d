/* The list of methods (model/methods.def), and their public names. */
#include "integrate/ode/method.h"
#include "integrate/ode/ode.h"

#include <hamel/run.h>

#include <string.h>

#define METHOD(name) &hmi_method_##name,
#ifdef HAMEL_SUNDIALS
#define SUNDIALS_METHOD METHOD
#else
#define SUNDIALS_METHOD(name)
#endif
static const hmi_method *const methods[] = {
#include "model/methods.def"
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
    if (!ode->sim->dense.dynamics && !method->table) {
        *why = "beyond 400 coordinates only dop853 and rk5 are available";
        return HM_ERR_USAGE;
    }
    if (ode->sim->contacts && !method->table) {
        *why = "with one-sided, switched or rubbing constraints only dop853 and rk5 are available";
        return HM_ERR_USAGE;
    }
    return method->applies ? method->applies(ode, why) : HM_OK;
}

const char *hm_method_name(size_t index)
{
    return index < METHODS ? methods[index]->name : NULL;
}

const char *hm_method_doc(size_t index)
{
    return index < METHODS ? methods[index]->doc : NULL;
}
