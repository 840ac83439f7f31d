/* Why a solve has no answer, in the user's words. */
#include "dynamics/sim/evaluation.h"

#include <math.h>

/* "x'' - 2 y''": a direction in words. */
static void describe_direction(hmi_text *text, const hm_model *model, const double *direction,
                               size_t n)
{
    bool first = true;
    for (size_t i = 0; i < n; i++) {
        double size = fabs(direction[i]);
        if (size < 1e-10)
            continue;
        bool negative = direction[i] < 0;
        hmi_text_add(text, first ? negative ? "-" : "" : negative ? " - " : " + ");
        if (fabs(size - 1) > 1e-9)
            hmi_text_addf(text, "%.6g ", size);
        hmi_text_addf(text, "%s''", hm_model_coordinate_name(model, i));
        first = false;
    }
}

/* Do inertias along the direction change with the coordinates, so that they vanish here only? */
static bool inertia_moves(const hm_sim *sim, const double *direction)
{
    const hmi_expr_matrix *M = &sim->system->derived.M;
    for (size_t i = 0; i < M->rows; i++)
        for (size_t k = M->start[i]; k < M->start[i + 1]; k++)
            if ((fabs(direction[i]) > 1e-10 || fabs(direction[M->column.data[k]]) > 1e-10) &&
                (hmi_deps(&sim->system->derived.graph, M->value.data[k]) & HMI_DEP(HMI_SYM_COORD)))
                return true;
    return false;
}

static void report_undetermined(const hm_sim *sim, const hmi_verdict *verdict)
{
    const hm_model *model = sim->system->model;
    size_t n = sim->system->derived.n;
    for (int k = 0; k < verdict->undetermined; k++) {
        hmi_text text;
        hmi_text_init(&text, sim->system->allocator);
        const double *direction = verdict->directions + (size_t)k * n;
        describe_direction(&text, model, direction, n);
        hmi_error(sim->context, hmi_no_span,
                  inertia_moves(sim, direction)
                      ? "M must be nonsingular on the motions that the constraints allow: are the "
                        "coordinates singular here, like angles whose axes coincide? Start "
                        "elsewhere, or use other coordinates, such as a quaternion"
                      : "M must be nonsingular on the motions that the constraints allow: is a "
                        "kinetic energy or a mass missing?",
                  "the motion is not determined along %s", hmi_text_view(&text));
        hmi_text_release(&text);
    }
    const char *what = model->servos.count
                           ? "the least control force beside the force law that uses "
                             "reactions"
                           : "the force law that uses total reactions";
    if (verdict->law_solutions == 0)
        hmi_error(sim->context, hmi_no_span, NULL, "%s has no solution at this state", what);
    else if (verdict->law_solutions > 1)
        hmi_error(sim->context, hmi_no_span, NULL, "%s has several solutions at this state", what);
    else if (verdict->undetermined == 0)
        hmi_error(sim->context, hmi_no_span, NULL,
                  "the equations of motion cannot be satisfied at this state");
}

/* A servo that its actuators reach generically, if at all, not here; or why they never do. */
static void report_out_of_reach(const hm_sim *sim, size_t k, double residual)
{
    const hm_model *model = sim->system->model;
    const hmi_servo_degrees *degrees = &sim->system->derived.degrees;
    const hmi_constraint *row = &model->servo_rows.data[k].row;
    bool refused = degrees->refusal && degrees->refused == k;
    const char *why = refused            ? degrees->refusal
                      : degrees->refusal ? "servos before or after it are not reached"
                      : degrees->degree[k] > 2
                          ? "at this state and with these parameters the relative degree is not "
                            "what it is elsewhere"
                          : "at this state they do not act on it";
    hmi_error(sim->context, row->span, "name other coordinates after 'by'",
              "the actuators cannot enforce servo '%s': %.6g is out of reach; %s", row->name,
              residual, why);
}

static void report_inconsistent(const hm_sim *sim, const hmi_verdict *verdict)
{
    const hm_model *model = sim->system->model;
    for (size_t k = 0; verdict->inconsistent && k < model->constraints.count; k++)
        if (verdict->inconsistent[k])
            hmi_error(sim->context, model->constraints.data[k].span, NULL,
                      "constraint '%s' contradicts the constraints before it by %.6g",
                      model->constraints.data[k].name, verdict->discrepancy[k]);
    for (size_t k = 0; verdict->servo_residual && k < model->servo_rows.count; k++)
        if (!verdict->servo_reached && fabs(verdict->servo_residual[k]) > 1e-9)
            report_out_of_reach(sim, k, verdict->servo_residual[k]);
}

hm_status hmi_sim_check_multipliers(const hm_sim *sim, const hmi_verdict *verdict)
{
    const hm_system *system = sim->system;
    hm_status status = HM_OK;
    for (size_t k = 0; verdict->multiplier_unique && k < system->derived.constraints.count; k++)
        if (system->multiplier_used[k] && !verdict->multiplier_unique[k]) {
            hmi_error(sim->context, system->model->constraints.data[k].span,
                      "use reaction(x), which is unique",
                      "multiplier(%s) is used in a force law, but it is not unique: the constraint "
                      "depends on others",
                      system->model->constraints.data[k].name);
            status = HM_ERR_UNDETERMINED;
        }
    return status;
}

void hmi_sim_report_failure(const hm_sim *sim, hm_status status, const hmi_verdict *verdict)
{
    hm_context *context = sim->context;
    size_t errors = context->errors;
    if (status == HM_ERR_UNDETERMINED)
        report_undetermined(sim, verdict);
    else if (status == HM_ERR_INCONSISTENT)
        report_inconsistent(sim, verdict);
    if (context->errors == errors)
        hmi_error(context, hmi_no_span, NULL, "%s", hm_status_text(status));
}
