/* The audit of the energy, as text and as JSON. */
#include "audit_report.h"

#include "values.h"

#include <math.h>
#include <stdlib.h>

static json_t *audit_object(const hm_model *model, const hm_audit *a, const double *row_power)
{
    json_t *object = json_object();
    json_object_set_new(object, "rate", json_number_or_null(a->rate));
    json_object_set_new(object, "sum", json_number_or_null(a->sum));
    json_object_set_new(object, "error", json_number_or_null(a->error));
    json_object_set_new(object, "gyroscopic_error", json_number_or_null(a->gyroscopic_error));
    json_object_set_new(object, "ideal_error", json_number_or_null(a->ideal_error));
    json_object_set_new(object, "constraints", json_by_constraint(model, row_power));
    json_object_set_new(object, "balanced", json_boolean(a->balanced));
    return object;
}

static void print_audit(const hm_model *model, const hm_audit *a, const double *row_power)
{
    size_t m = hm_model_constraint_count(model), shown = 0;
    for (size_t i = 0; i < m && shown < 20; i++)
        if (fabs(row_power[i]) > 1e-12 * a->size) {
            printf("    ideal force of %-14s %9.7g\n", hm_model_constraint(model, i).name,
                   row_power[i]);
            shown++;
        }
    double rate = fabs(a->rate) > 1e-12 * a->size ? a->rate : 0;
    printf("    d(total)/dt  %22.15g, %s\n", positive_zero(rate),
           a->balanced ? "the sum of the powers" : "NOT the sum of the powers");
    if (!a->balanced)
        printf("    sum of powers %21.15g; errors: sum %.1e, ideal %.1e, gyroscopic %.1e\n", a->sum,
               a->error, a->ideal_error, a->gyroscopic_error);
}

hm_status show_audit(const hm_model *model, hm_sim *sim, json_t *object)
{
    hm_audit a;
    double *row_power = memory_new(hm_model_constraint_count(model) + 1, sizeof *row_power);
    hm_status status = row_power ? hm_sim_audit(sim, &a, row_power) : HM_ERR_NOMEM;
    if (status == HM_OK && a.defined && object)
        json_object_set_new(json_object_get(object, "energy"), "audit",
                            audit_object(model, &a, row_power));
    else if (status == HM_OK && a.defined)
        print_audit(model, &a, row_power);
    free(row_power);
    return status;
}
