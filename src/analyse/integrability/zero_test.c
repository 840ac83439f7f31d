/* Decides at random points and states, in ball arithmetic, whether expressions are zero wherever
 * the constraints hold. Verified: test/unit/analyse/test_sample.c */
#include "analyse/integrability/transport.h"

#include <math.h>

/* ---- plain expressions ---- */

static bool zero_here(const hmi_series *jet, bool inexact, bool *zero, hmi_evidence *evidence)
{
    double scale = -INFINITY, tolerance = hmi_zero_tolerance(jet->precision, inexact);
    for (size_t i = 0; i < jet->slots.count; i++)
        if (arb_is_finite(jet->value + i))
            scale = fmax(scale, hmi_log2_above(jet->value + i));
    for (size_t i = 0; i < jet->roots.count; i++) {
        arb_srcptr value = hmi_series_root(jet, i, 0);
        double above = hmi_log2_above(value);
        if (above <= scale + tolerance && (inexact || arb_contains_zero(value))) {
            evidence->zero = fmax(evidence->zero, above - scale);
        } else if (arb_contains_zero(value)) {
            return false;
        } else {
            evidence->nonzero = fmin(evidence->nonzero, hmi_log2_below(value) - scale);
            *zero = false;
        }
    }
    return true;
}

static hm_status zero_at_point(hmi_sampler *sampler, hmi_series *jet, slong bits, bool *zero,
                               hmi_evidence *evidence)
{
    hmi_curve point;
    hmi_curve_init(&point, sampler->forms, 1, bits);
    hm_status status = hmi_sample(sampler, &point);
    if (status == HM_OK) {
        for (size_t i = 0; i < point.size; i++)
            arb_set_d(point.X + i, hmi_sampler_random(sampler));
        hmi_curve_evaluate(&point, jet, bits);
        if (jet->failed)
            hmi_sample_reject(sampler);
        if (jet->failed || !zero_here(jet, jet->inexact || sampler->jet.inexact, zero, evidence))
            status = HM_ERR_LIMIT;
        evidence->points += status == HM_OK;
        evidence->proved &= point.proved;
    }
    hmi_curve_clear(&point);
    return status;
}

hm_status hmi_all_zero(hmi_sampler *sampler, const hmi_expr *list, size_t count, bool *zero,
                       hmi_evidence *evidence)
{
    hmi_series jet;
    hmi_forms *forms = sampler->forms;
    hmi_series_init(&jet, forms->allocator, forms->model, &forms->graph);
    *evidence = hmi_no_evidence();
    *zero = true;
    hm_status status = HM_OK;
    for (size_t i = 0; status == HM_OK && i < count; i++)
        status = hmi_series_add(&jet, list[i]);
    for (int k = 0; status == HM_OK && k < HMI_POINTS; k++) {
        status = HM_ERR_LIMIT;
        for (slong bits = HMI_BITS; status == HM_ERR_LIMIT && bits <= HMI_MOST_BITS; bits *= 2)
            status = zero_at_point(sampler, &jet, bits, zero, evidence);
        if (status == HM_ERR_LIMIT)
            status = HM_ERR_NUMERIC;
    }
    hmi_series_release(&jet);
    return status;
}

/* ---- expressions of states ---- */

static hm_status zero_in_state(hmi_transport *tr, hmi_series *jet, slong bits, bool *zero,
                               hmi_evidence *evidence)
{
    hm_status status = hmi_transport_point(tr, bits);
    if (status != HM_OK)
        return status;
    hmi_transport_velocity(tr);
    hmi_curve_evaluate(&tr->point, jet, bits);
    if (jet->failed)
        hmi_sample_reject(tr->sampler);
    if (jet->failed || !zero_here(jet, jet->inexact || tr->inexact, zero, evidence))
        return HM_ERR_LIMIT;
    hmi_evidence_note(evidence, tr);
    return HM_OK;
}

hm_status hmi_zero_in_states(hmi_sampler *sampler, const size_t *rows, size_t count,
                             const hmi_expr *list, size_t list_count, bool *zero,
                             hmi_evidence *evidence)
{
    hmi_series jet;
    hmi_transport tr = {0};
    hmi_forms *forms = sampler->forms;
    *evidence = hmi_no_evidence();
    *zero = true;
    const hmi_form **form = hmi_arena_alloc(&forms->arena, (count + 1) * sizeof *form);
    if (!form)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < count; i++)
        form[i] = &forms->rows[rows[i]].form;
    hmi_series_init(&jet, forms->allocator, forms->model, &forms->graph);
    hm_status status = hmi_transport_init(&tr, sampler, form, count, NULL, 0, forms->n + 1);
    for (size_t i = 0; status == HM_OK && i < list_count; i++)
        status = hmi_series_add(&jet, list[i]);
    for (int k = 0; status == HM_OK && k < hmi_points_for(tr.size); k++) {
        status = HM_ERR_LIMIT;
        for (slong bits = HMI_BITS; status == HM_ERR_LIMIT && bits <= HMI_MOST_BITS; bits *= 2)
            status = zero_in_state(&tr, &jet, bits, zero, evidence);
        if (status == HM_ERR_LIMIT)
            status = HM_ERR_NUMERIC;
    }
    hmi_transport_release(&tr);
    hmi_series_release(&jet);
    return status;
}
