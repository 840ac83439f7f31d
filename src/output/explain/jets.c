/* The stage `jet`: the series that method taylor would expand the motion into. */
#include "output/explain/explain.h"

#include "compile/jet/dump.h"
#include "integrate/ode/method.h"
#include "integrate/taylor/taylor.h"

/* Of a usual run, with rtol near 1e-10. */
enum { ORDER = 20 };

static const char *const codes[HMI_TAYLOR_CODES] = {
    [HMI_TAYLOR_INPUTS] = "inputs",
    [HMI_TAYLOR_MAIN] = "equations and right sides",
    [HMI_TAYLOR_RESIDUALS] = "residuals",
    [HMI_TAYLOR_SECOND] = "right sides without C",
    [HMI_TAYLOR_REACTION] = "reactions",
    [HMI_TAYLOR_ALL_REACTION] = "all reactions",
    [HMI_TAYLOR_POWERS] = "powers",
    [HMI_TAYLOR_IDEAL] = "power of ideal forces",
    [HMI_TAYLOR_NONIDEAL] = "power of non-ideal forces",
    [HMI_TAYLOR_KEEP] = "the answer, and the state of the next order",
    [HMI_TAYLOR_WHOLE] = "a whole order",
    [HMI_TAYLOR_RISE] = "right sides by momenta",
    [HMI_TAYLOR_RISE_WHOLE] = "right sides by momenta, and their solution",
    [HMI_TAYLOR_COMPLETE] = "the second half of an order",
    [HMI_TAYLOR_ORDER] = "a whole order by momenta",
};

static void list_programs(const hmi_taylor *T, hmi_text *text)
{
    for (int i = 0; i < HMI_TAYLOR_CODES; i++) {
        const hmi_jet_program *program = &T->program[i];
        if (program->entry)
            hmi_text_addf(text, "  machine code for %s: %zu bytes%s\n", codes[i],
                          program->code.size,
                          program->closed ? ", closed: it prepares the order after it" : "");
    }
}

static void explain_paths(const hmi_taylor *T, hmi_text *text)
{
    size_t size = T->n + T->m;
    hmi_text_addf(text, "series of velocities (%zu) and multipliers (%zu) by %s\n", T->n, T->m,
                  T->momenta.used ? "momenta: each order in two halves"
                                  : "the equations M, Q, A, b");
    if (T->given_velocities.used)
        hmi_text_addf(text, "  Voronets: constraints give %zu velocities, which have no series\n",
                      T->given_velocities.count);
    hmi_text_addf(text, "  each order is solved by %s\n",
                  size <= HMI_SADDLE_MOST_INVERTED ? "the inverse of [M -A^T; A 0]"
                                                   : "the factors of M and of A M^-1 A^T");
    list_programs(T, text);
}

static void dump_series(const hmi_taylor *T, hmi_text *text)
{
    const hmi_namer symbols = hmi_model_namer(T->sim->system->model);
    explain_paths(T, text);
    hmi_jet_dump(&T->jet, &symbols, text);
    if (T->momenta.used) {
        hmi_jet_segment_dump(&T->jet, &T->momenta.first, "first half", &symbols, text);
        hmi_jet_segment_dump(&T->jet, &T->momenta.second, "second half", &symbols, text);
        return;
    }
    if (T->has_inputs)
        hmi_jet_segment_dump(&T->jet, &T->inputs, "inputs", &symbols, text);
    hmi_jet_segment_dump(&T->jet, &T->dynamics, "equations", &symbols, text);
}

hm_status hmi_explain_jets(hm_sim *sim, hmi_text *text)
{
    const char *why = NULL;
    hmi_ode ode;
    hm_status status = hmi_ode_init(&ode, sim);
    ode.kept = true; /* as runs do by default */
    if (status != HM_OK || hmi_method_taylor.applies(&ode, &why) != HM_OK) {
        hmi_text_addf(text, "no series: %s\n", why ? why : "the system is too large");
        return HM_OK;
    }
    hmi_taylor T;
    status = hmi_taylor_init(&T, &ode, ORDER);
    if (status == HM_OK)
        dump_series(&T, text);
    hmi_taylor_release(&T);
    return status;
}
