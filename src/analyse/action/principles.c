/* Which integral principles hold on the varied paths, and why the others do not. */
#include "analyse/action/action.h"

#include <math.h>

typedef struct rule {
    const char *name, *equation, *paths;
    bool possible;    /* on possible paths, else on displaced ones */
    bool with_forces; /* delta L + F.delta q, else delta L */
    bool energy;      /* only where the energy is constant */
} rule;

static const rule rules[] = {
    {"Hamilton-d'Alembert (Hoelder)", "Flannery (50)", "displaced", false, true, false},
    {"Hamilton, virtual displacements", "Flannery (51)", "displaced", false, false, false},
    {"Hamilton, possible paths (multiplier rule)", "Flannery (53)", "possible", true, false, false},
    {"Maupertuis, virtual displacements", "Flannery (A6)", "displaced", false, false, true},
};
enum { RULES = sizeof rules / sizeof *rules };

static const hm_action_figure *figure_of(const rule *r, const hm_varied_path *path)
{
    return r->with_forces ? &path->dalembert : &path->delta_S;
}

/* Where an error is larger than this part of the integral of absolute values, nothing "holds". */
static const double good = 1e-6, zero = 1e-8;

static hm_action_verdict judge(const hm_action_figure *x, double scale)
{
    double bound = 4 * x->error + zero * scale;
    if (!isfinite(x->value) || !isfinite(x->error))
        return HM_ACTION_VERDICT_OPEN;
    if (fabs(x->value) > 25 * bound)
        return HM_ACTION_VERDICT_FAILS;
    return fabs(x->value) <= bound && x->error <= good * scale ? HM_ACTION_VERDICT_HOLDS
                                                               : HM_ACTION_VERDICT_OPEN;
}

/* The worst of all varied paths. */
static void find_worst(const hm_action *a, const rule *r, hm_action_principle *out)
{
    double worst = -1;
    out->verdict = HM_ACTION_VERDICT_HOLDS;
    for (size_t k = 0; k < a->variation_count; k++) {
        const hm_variation *v = &a->variations[k];
        const hm_varied_path *path = r->possible ? &v->possible : &v->displaced;
        const hm_action_figure *x = figure_of(r, path);
        if (!v->exists)
            continue;
        hm_action_verdict verdict = judge(x, path->scale);
        if (verdict == HM_ACTION_VERDICT_FAILS ||
            (verdict == HM_ACTION_VERDICT_OPEN && out->verdict == HM_ACTION_VERDICT_HOLDS))
            out->verdict = verdict;
        double size = path->scale > 0 ? fabs(x->value) / path->scale : 0;
        if (!(size <= worst)) {
            worst = size;
            out->largest = *x;
            out->scale = path->scale;
        }
    }
}

/* The same forces that are not of L on every varied path of a kind? */
static bool forces_matter(const hm_action *a)
{
    for (size_t k = 0; k < a->variation_count; k++) {
        const hm_varied_path *x = &a->variations[k].displaced;
        if (a->variations[k].exists && fabs(x->dalembert.value - x->delta_S.value) >
                                           zero * x->scale + x->delta_S.error + x->dalembert.error)
            return true;
    }
    return false;
}

static bool reactions_work(const hm_action *a)
{
    for (size_t k = 0; k < a->variation_count; k++) {
        const hm_varied_path *x = &a->variations[k].possible;
        if (a->variations[k].exists &&
            fabs(x->reaction_work.value) > zero * x->scale + x->reaction_work.error)
            return true;
    }
    return false;
}

static const char *explain(const hm_action *a, const rule *r, hm_action_verdict verdict)
{
    if (verdict == HM_ACTION_VERDICT_OPEN)
        return "the integrals are not known well enough; a smaller --rtol may decide";
    if (verdict == HM_ACTION_VERDICT_HOLDS)
        return "";
    if (r->possible && reactions_work(a))
        return "the varied paths satisfy the constraints but are no virtual displacements: the "
               "forces of the constraints do work on them; use Hamilton-d'Alembert (50)";
    if (!r->with_forces && forces_matter(a))
        return "forces that are not of L work on the variation; use Hamilton-d'Alembert (50)";
    return "the motion does not obey it";
}

hm_status hmi_judge_principles(hmi_action_job *job)
{
    hm_action *a = job->out;
    hm_action_principle *all = hmi_arena_alloc(job->results, RULES * sizeof *all);
    if (!all)
        return HM_ERR_NOMEM;
    for (size_t k = 0; k < RULES; k++) {
        const rule *r = &rules[k];
        hm_action_principle *out = &all[a->principle_count];
        if (r->energy && !(a->maupertuis.conservative && a->maupertuis.homogeneous))
            continue;
        *out = (hm_action_principle){.name = r->name, .equation = r->equation, .paths = r->paths};
        find_worst(a, r, out);
        out->reason = explain(a, r, out->verdict);
        a->principle_count++;
    }
    a->principles = all;
    return HM_OK;
}

const char *hm_action_verdict_text(hm_action_verdict verdict)
{
    static const char *const texts[] = {"yes", "no", "undecided"};
    return verdict >= HM_ACTION_VERDICT_HOLDS && verdict <= HM_ACTION_VERDICT_OPEN ? texts[verdict]
                                                                                   : NULL;
}
