/* The energy audit at one state, hm_sim_audit.
 *
 * The total energy is differentiated along the motion, velocities into q'' as solved for; nothing of
 * that is shared with the powers, which are forces times velocities. For affine or rheonomic
 * constraints the ideal force does work: dE/dt = ... - sum lambda_k c_k for A q' + c = 0.
 *                                                                                  [LdA; errata 4.3]
 * Verified: test/physics/test_audit.c
 */
#include <hamel/audit.h>

#include "base/argument.h"
#include "dynamics/sim/sim.h"
#include "linalg/dense.h"
#include "compile/jit/assemble.h"

#include <math.h>

static hmi_expr rate_of_leaf(hmi_graph *graph, hmi_expr leaf, void *user)
{
    const hm_model *model = user;
    const hmi_node *node = hmi_node_at(graph, leaf);
    return node->a == HMI_SYM_STATE ? model->states.data[node->b].rate : hmi_leaf_rate(graph, leaf);
}

/* The rate of the total energy, then gyroscopic force times velocity by coordinate. */
static hm_status compile(const hm_system *system, hmi_graph *graph, hmi_tape *tape,
                         hmi_expr *outputs)
{
    const hmi_derived *d = &system->derived;
    hmi_tangent motion;
    hmi_tangent_init(&motion, system->allocator, rate_of_leaf, (void *)system->model,
                     HMI_DEP_MOVING);
    outputs[0] = hmi_tangent_of(&motion, graph, d->total);
    hmi_tangent_release(&motion);
    for (size_t i = 0; i < d->n; i++) {
        hmi_expr v = hmi_symbol(graph, HMI_SYM_VELOCITY, (uint32_t)i);
        outputs[1 + i] = hmi_mul(graph, d->gyroscopic[i], v);
    }
    hm_status status = hmi_graph_status(graph);
    return status == HM_OK ? hmi_tape_compile(tape, graph, outputs, d->n + 1) : status;
}

/* At the state and the q'' just solved for. */
static void measure(hm_sim *sim, const hmi_tape *tape, double *work, const hm_evaluation *at,
                    hm_audit *out)
{
    const hmi_point here = {at->t, at->q, at->v, at->z};
    hmi_tape_values values = hmi_sim_values(sim, &here);
    double sum = 0, size = 0;
    values.by_kind[HMI_SYM_ACCELERATION] = at->qdd;
    hmi_tape_prepare(tape, &values, work);
    hmi_tape_run(tape, &values, work);
    const double *result = hmi_tape_outputs(tape, work);
    out->rate = result[0];
    for (size_t i = 0; i < sim->system->derived.n; i++) {
        sum += result[1 + i];
        size += fabs(result[1 + i]);
    }
    out->gyroscopic_error = size > 0 ? fabs(sum) / size : 0;
}

static void add_power(hm_audit *out, double power)
{
    out->sum += power;
    out->size += fabs(power);
}

/* lambda_k A_k.q' by row; returns their sum. */
static double rows_power(const hm_evaluation *at, double *row_power, double *size)
{
    double sum = 0;
    for (size_t k = 0; k < at->A.rows; k++) {
        double Av = 0;
        for (size_t e = at->A.row_start[k]; e < at->A.row_start[k + 1]; e++) {
            double part = at->A.value[e] * at->v[at->A.column[e]];
            Av += part;
            *size += fabs(at->lambda[k] * part);
        }
        sum += at->lambda[k] * Av;
        if (row_power)
            row_power[k] = at->lambda[k] * Av;
    }
    return sum;
}

/* Where all powers vanish (a top that spins), what is left of them is rounding of q'', which is relative to
 * the largest of its components: powers below 1e-4 of |q'| |q''| in the metric of M are compared with that. */
static double power_scale(const hm_evaluation *at)
{
    double speed = 0, change = 0;
    for (size_t i = 0; i < at->M.rows; i++)
        for (size_t e = at->M.row_start[i]; e < at->M.row_start[i + 1]; e++)
            if (at->M.column[e] == i) {
                double root = sqrt(fabs(at->M.value[e]));
                speed = hypot(speed, root * at->v[i]);
                change = hypot(change, root * at->qdd[i]);
            }
    return 1e-4 * speed * change;
}

static void add_up(const hm_evaluation *at, hm_audit *out, double *row_power)
{
    out->total = at->total;
    out->power = (hm_ledger){.impressed = at->power.impressed,
                             .dissipation = at->power.dissipation,
                             .gyroscopic = at->power.gyroscopic,
                             .ideal = at->power.ideal,
                             .nonideal = at->power.nonideal,
                             .servo = at->power.servo,
                             .explicit_time = at->power.explicit_time};
    add_power(out, at->power.impressed);
    add_power(out, at->power.dissipation);
    add_power(out, at->power.gyroscopic);
    add_power(out, at->power.ideal);
    add_power(out, at->power.nonideal);
    add_power(out, at->power.servo);
    add_power(out, at->power.explicit_time);
    double rows = rows_power(at, row_power, &out->size);
    for (size_t i = 0; at->momentum && i < at->M.rows; i++) /* what the rate was added up from */
        out->size += fabs(at->momentum[i] * at->qdd[i]) + fabs(at->Q[i] * at->v[i]);
    out->size += power_scale(at);
    double size = out->size > 0 ? out->size : 1;
    out->error = fabs(out->rate - out->sum) / size;
    out->ideal_error = fabs(rows - at->power.ideal) / size;
    out->balanced = out->error <= 1e-9 && out->ideal_error <= 1e-9 && out->gyroscopic_error <= 1e-9;
}

static hm_status audit(hm_sim *sim, const hm_evaluation *at, hm_audit *out, double *row_power)
{
    const hm_system *system = sim->system;
    hmi_graph graph;
    hmi_tape tape = {.allocator = system->allocator};
    hmi_arena arena;
    hmi_arena_init(&arena, system->allocator);
    hm_status status = hmi_graph_copy(&graph, &system->derived.graph);
    hmi_expr *outputs = hmi_arena_alloc(&arena, (system->derived.n + 1) * sizeof *outputs);
    if (status == HM_OK)
        status = outputs ? compile(system, &graph, &tape, outputs) : HM_ERR_NOMEM;
    double *work = status == HM_OK ? hmi_arena_alloc(&arena, (tape.work_size + 1) * sizeof *work)
                                   : NULL;
    if (status == HM_OK && !work)
        status = HM_ERR_NOMEM;
    if (status == HM_OK) {
        measure(sim, &tape, work, at, out);
        add_up(at, out, row_power);
        out->defined = true;
    }
    hmi_tape_release(&tape);
    hmi_graph_release(&graph);
    hmi_arena_release(&arena);
    return status;
}

hm_status hm_sim_audit(hm_sim *sim, hm_audit *out, double *row_power)
{
    HMI_ARGUMENT(sim ? sim->context : NULL, sim && out && !sim->in_callback,
                 "a place for the answer is needed; no call from a callback of the sim");
    hm_evaluation at = {0};
    *out = (hm_audit){0};
    hm_status status = hm_sim_evaluate(sim, NULL, &at);
    if (status != HM_OK || !at.has_total || !at.solved || !at.qdd)
        return status;
    return audit(sim, &at, out, row_power);
}
