/* Follows a motion at rest and looks whether it stays what it is (reference.h). */
#include "analyse/linearize/reference.h"

#include "linalg/linalg.h"

#include <math.h>

/* Differences of the matrix up to this part of the largest entry of a row are none. */
static const double same_entry = 1e-10;

hm_status hmi_reference_init(hmi_reference *ref, const hmi_reduction *base, const hmi_kept *kept,
                             double rest)
{
    bool failed = false;
    *ref = (hmi_reference){.base = base, .kept = kept};
    hm_status status = hmi_reduction_init(&ref->probe, base->sim);
    if (status != HM_OK)
        return status;
    ref->rate = hmi_arena_doubles(&ref->probe.arena, base->n, &failed);
    ref->x = hmi_arena_doubles(&ref->probe.arena, base->size, &failed);
    if (failed)
        return HM_ERR_NOMEM;
    hmi_copy((int)base->n, base->rate, ref->rate);
    for (size_t i = 0; i < base->n; i++)
        if (fabs(base->rate[i]) <= rest || fabs(base->rate[base->n + i]) > rest)
            ref->rate[i] = 0;
    for (size_t k = 0; k < kept->count; k++)
        if (base->independent[kept->index[k]] < base->n)
            ref->rate[base->independent[kept->index[k]]] = 0;
    return hmi_reduction_update_like(&ref->probe, base, base->at.t, base->x);
}

void hmi_reference_release(hmi_reference *ref)
{
    if (ref->base)
        hmi_reduction_release(&ref->probe);
    ref->base = NULL;
}

hm_status hmi_reference_state(hmi_reference *ref, double s, double *x)
{
    const hmi_reduction *base = ref->base;
    hmi_copy((int)base->size, base->x, x);
    hmi_axpy((int)base->n, s, ref->rate, x);
    return hmi_reduction_restore(&ref->probe, base->at.t + s, x);
}

static void compare_matrices(const hmi_reference *ref, hmi_reference_look *look)
{
    const hmi_reduction *base = ref->base;
    size_t d = base->dimension, count = ref->kept->count;
    for (size_t i = 0; i < count; i++) {
        const double *first = base->A + ref->kept->index[i] * d;
        const double *now = ref->probe.A + ref->kept->index[i] * d;
        double size = fmax(hmi_max_abs((int)d, first), hmi_max_abs((int)d, now));
        for (size_t j = 0; j < count; j++) {
            size_t column = ref->kept->index[j];
            double change = fabs(now[column] - first[column]);
            double *most = &look->change[i * count + j], *noise = &look->noise[i * count + j];
            *most = fmax(*most, change);
            look->changed |= change > same_entry * size;
            *noise = fmax(*noise, change <= same_entry * size ? change : 0);
        }
    }
}

hm_status hmi_reference_look_at(hmi_reference *ref, double s, hmi_reference_look *look)
{
    const hmi_reduction *base = ref->base;
    hm_status status = hmi_reference_state(ref, s, ref->x);
    if (status == HM_OK)
        status = hmi_reduction_update_like(&ref->probe, base, base->at.t + s, ref->x);
    if (status == HM_ERR_NOMEM)
        return status;
    if (status != HM_OK) {
        look->failed = true;
        /* The probe must know again which variables depend on which. */
        return hmi_reduction_update_like(&ref->probe, base, base->at.t, base->x);
    }
    look->rate = fmax(look->rate, hmi_kept_rate(&ref->probe, ref->kept));
    look->motion = fmax(look->motion, hmi_max_abs((int)base->n, ref->probe.rate));
    compare_matrices(ref, look);
    return HM_OK;
}
