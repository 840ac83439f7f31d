/* hm_system_analyse: makes the analysis and calls its parts in their order, the initial state
 * first, then every constraint, then the set, then the functions that are not smooth. */
#include "base/argument.h"
#include "analyse/classify/analysis.h"

#include <string.h>

const char *hm_class_text(hm_class kind)
{
    static const char *const text[] = {"holonomic",    "semiholonomic",          "integrable",
                                       "nonholonomic", "nonlinear-nonholonomic", "unclassified"};
    return (size_t)kind < sizeof text / sizeof *text ? text[kind] : "unknown";
}

/* ---- the whole ---- */

hm_status hmi_analysis_take_rows(hmi_analysis *a)
{
    size_t m = a->model->constraints.count;
    a->rows = hmi_arena_alloc(&a->arena, (m + 1) * sizeof *a->rows);
    a->positions = hmi_arena_alloc(&a->arena, (m + 1) * sizeof *a->positions);
    a->numeric_integral = hmi_arena_alloc(&a->arena, (m + 1) * sizeof *a->numeric_integral);
    if (!a->rows || !a->positions || !a->numeric_integral)
        return HM_ERR_NOMEM;
    memset(a->numeric_integral, 0, (m + 1) * sizeof *a->numeric_integral);
    a->position_count = 0;
    a->shown.constraints = a->rows;
    a->shown.constraint_count = m;
    for (size_t k = 0; k < m; k++) {
        const hmi_constraint *row = &a->model->constraints.data[k];
        a->rows[k] = (hm_constraint_analysis){
            .name = row->name,
            .level = row->level,
            .linear = row->linear,
            .rheonomic = row->rheonomic,
            .kind = row->level == HM_LEVEL_POSITION ? HM_CLASS_HOLONOMIC : HM_CLASS_UNCLASSIFIED,
            .linear_kind = HM_CLASS_UNCLASSIFIED};
        if (row->level == HM_LEVEL_POSITION)
            a->positions[a->position_count++] = k;
    }
    return HM_OK;
}

static hm_status analyse(hmi_analysis *a)
{
    hm_status status = hmi_analysis_take_rows(a);
    if (status == HM_OK)
        status = hmi_analyse_start(a);
    if (status == HM_OK)
        status = hmi_sides_find(&a->sides, a->system);
    if (status == HM_OK)
        status = hmi_analyse_ideality(a);
    if (status == HM_OK && a->model->coords.count <= HM_MOST_CLASSIFIED)
        status = hmi_classify_all(a);
    else if (status == HM_OK)
        status = hmi_analysis_remark(a, "more than %d coordinates: constraints are not classified",
                                     HM_MOST_CLASSIFIED);
    if (status == HM_OK)
        status = hmi_analyse_functions(a);
    hmi_sides_release(&a->sides);
    a->shown.remarks = a->remarks.data;
    a->shown.remark_count = a->remarks.count;
    return status;
}

hm_status hm_system_analyse(hm_context *context, const hm_system *system, hm_analysis **analysis)
{
    HMI_ARGUMENT(context, context && system && analysis,
                 "a context, a system and a place for the answer are needed");
    hmi_analysis *a = hmi_alloc(system->allocator, sizeof *a);
    if (!a)
        return HM_ERR_NOMEM;
    *a = (hmi_analysis){.allocator = system->allocator,
                        .system = system,
                        .model = system->model,
                        .context = context};
    hmi_share(&system->references);
    hmi_arena_init(&a->arena, a->allocator);
    hm_status status = analyse(a);
    flint_cleanup();
    if (status != HM_OK) {
        hm_analysis_destroy(&a->shown);
        return status;
    }
    *analysis = &a->shown;
    return HM_OK;
}

void hm_analysis_destroy(hm_analysis *analysis)
{
    if (!analysis)
        return;
    hmi_analysis *a = (hmi_analysis *)analysis;
    for (size_t k = 0; a->numeric_integral && k < analysis->constraint_count; k++)
        if (a->numeric_integral[k])
            hmi_numeric_integral_release(a->numeric_integral[k]);
    hmi_array_release(a->allocator, &a->remarks);
    hmi_arena_release(&a->arena);
    const hm_system *system = a->system;
    hmi_free(a->allocator, a, sizeof *a);
    hm_system_destroy((hm_system *)system);
}

hm_status hm_analysis_integral(const hm_analysis *analysis, size_t constraint, const double *q,
                               double t, double *f)
{
    HMI_ARGUMENT(NULL, analysis && q && f && isfinite(t),
                 "coordinates, a time and a place for the answer are needed");
    const hmi_analysis *a = (const hmi_analysis *)analysis;
    if (constraint >= analysis->constraint_count || !analysis->constraints[constraint].leaf)
        return HM_ERR_USAGE;
    HMI_ARGUMENT(NULL, hmi_values_finite(q, a->model->coords.count), "coordinates must be finite");
    return hmi_numeric_integral_value(a->numeric_integral[constraint], q, t, f);
}
