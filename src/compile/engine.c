/* Which engine evaluates: names, availability, the choice for a system. */
#include "compile/system.h"

#include "compile/jit.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
    [HM_ENGINE_AUTO] = "auto",
    [HM_ENGINE_INTERP] = "interp",
    [HM_ENGINE_JIT] = "jit",
};

const char *hm_engine_name(hm_engine engine)
{
    return names[engine];
}

bool hm_engine_find(const char *name, hm_engine *engine)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) {
            *engine = (hm_engine)i;
            return true;
        }
    return false;
}

hm_system_options hm_system_options_default(void)
{
    return (hm_system_options){.engine = HM_ENGINE_AUTO};
}

/* The environment decides where the program does not, so that a test suite can run on either. */
static hm_engine without_auto(hm_engine engine)
{
    const char *wanted = getenv("HAMEL_ENGINE");
    if (engine != HM_ENGINE_AUTO)
        return engine;
    if (wanted && strcmp(wanted, names[HM_ENGINE_INTERP]) == 0)
        return HM_ENGINE_INTERP;
    return hmi_jit_available() ? HM_ENGINE_JIT : HM_ENGINE_INTERP;
}

hm_status hmi_system_choose_engine(hm_system *system, const hm_system_options *options)
{
    hm_engine engine = without_auto(options->engine);
    if (engine == HM_ENGINE_JIT && !hmi_jit_available()) {
        hmi_error(system->model->context, hmi_no_span, "leave the engine to 'auto'",
                  "no machine code here: engine 'jit' needs an x86-64 processor with AVX2 and FMA, "
                  "and no valgrind");
        return HM_ERR_USAGE;
    }
    system->interpreted = engine == HM_ENGINE_INTERP;
    return HM_OK;
}
