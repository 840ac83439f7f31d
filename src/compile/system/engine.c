/* Which engine evaluates: names, availability, the choice for a system, its machine code. */
#include "compile/system/system.h"

#include "compile/jit/jit.h"
#include "compile/jit/assemble.h"
#include "compile/tape/machine_code.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
    [HM_ENGINE_AUTO] = "auto",
    [HM_ENGINE_INTERP] = "interp",
    [HM_ENGINE_JIT] = "jit",
};

const char *hm_engine_name(hm_engine engine)
{
    return (size_t)engine < sizeof names / sizeof *names ? names[engine] : "unknown";
}

bool hm_engine_find(const char *name, hm_engine *engine)
{
    if (!name || !engine)
        return false;
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
    return hmi_machine_code_available() ? HM_ENGINE_JIT : HM_ENGINE_INTERP;
}

hm_status hmi_system_choose_engine(hm_system *system, const hm_system_options *options)
{
    hm_engine engine = without_auto(options->engine);
    if (engine == HM_ENGINE_JIT && !hmi_machine_code_available()) {
        hmi_error(system->reports, hmi_no_span, "use engine 'auto'",
                  "engine 'jit' is not available here: it needs an x86-64 processor with AVX2 and "
                  "FMA, and does not run under valgrind");
        return HM_ERR_USAGE;
    }
    system->interpreted = engine == HM_ENGINE_INTERP;
    return HM_OK;
}

/* ---- machine code ---- */

struct hmi_assembly {
    pthread_mutex_t lock;
    bool done;
};

hm_status hmi_assembly_create(hm_system *system)
{
    struct hmi_assembly *assembly = hmi_alloc(system->allocator, sizeof *assembly);
    if (!assembly)
        return HM_ERR_NOMEM;
    *assembly = (struct hmi_assembly){0};
    pthread_mutex_init(&assembly->lock, NULL);
    system->assembly = assembly;
    return HM_OK;
}

void hmi_assembly_destroy(hm_system *system)
{
    if (!system->assembly)
        return;
    pthread_mutex_destroy(&system->assembly->lock);
    hmi_free(system->allocator, system->assembly, sizeof *system->assembly);
}

static hm_status assemble(hm_system *system)
{
    hmi_tape *const tapes[] = {&system->dynamics, &system->law, &system->report, &system->inputs,
                               &system->contact};
    for (size_t i = 0; i < sizeof tapes / sizeof *tapes; i++) {
        hm_status status = hmi_tape_assemble(tapes[i]);
        if (status != HM_OK)
            return status;
    }
    return HM_OK;
}

hm_status hmi_system_assemble(const hm_system *system)
{
    struct hmi_assembly *assembly = system->assembly;
    hm_status status = HM_OK;
    if (system->interpreted)
        return HM_OK;
    pthread_mutex_lock(&assembly->lock);
    if (!assembly->done)
        status = assemble((hm_system *)system); /* const for all but this */
    assembly->done = status == HM_OK;
    pthread_mutex_unlock(&assembly->lock);
    return status;
}
