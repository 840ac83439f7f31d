/* q'' at a point, by whichever solve serves: the compiled one of large systems, the motion tape, the
 * sparse one, or the dense one, which is asked last and always has an answer. */
#include "base/argument.h"
#include "dynamics/sim/contacts.h"
#include "dynamics/sim/evaluation.h"
#include "dynamics/sim/motion.h"

#include <math.h>
#include <string.h>

/* ---- memory ---- */

/* Flags of the actuated coordinates; rows point into the dense matrix. */
static bool prepare_servos(hm_sim *sim)
{
    const hm_model *model = sim->system->model;
    size_t n = sim->system->derived.n, row = 0;
    sim->dense.servos = hmi_arena_alloc(&sim->arena,
                                        (model->servos.count + 1) * sizeof *sim->dense.servos);
    if (!sim->dense.servos)
        return false;
    for (size_t s = 0; s < model->servos.count; s++) {
        const hmi_servo_group *group = &model->servos.data[s];
        bool *actuated = hmi_arena_alloc(&sim->arena, n + 1);
        size_t first = row;
        if (!actuated)
            return false;
        for (size_t i = 0; i < group->actuated_count; i++)
            actuated[group->actuated[i]] = true;
        while (row < model->servo_rows.count && model->servo_rows.data[row].servo == s)
            row++;
        const double *out = hmi_sim_dynamics(sim);
        bool lyapunov = group->law == HMI_LAW_LYAPUNOV;
        sim->dense.servos[s] = (hmi_servo){
            .rows = (int)(row - first),
            .A = sim->dense.servo_A + first * n,
            .b = out + sim->system->at.servo_b + first,
            .b_free = lyapunov ? out + sim->system->at.servo_b_free + first : NULL,
            .actuated = actuated,
            .limit = out + sim->system->at.servo_limit + s,
        };
    }
    return true;
}

size_t hmi_sim_most_held(const hm_sim *sim, const size_t *rows, size_t count)
{
    const hm_model *model = sim->system->model;
    size_t one_sided = 0;
    for (size_t i = 0; i < count; i++)
        one_sided += model->constraints.data[rows ? rows[i] : i].one_sided;
    return count - one_sided + (one_sided < HMI_MOST_CLOSED ? one_sided : HMI_MOST_CLOSED);
}

/* Dense matrices: of all rows, and of those that may hold at the same time. Contacts are solved in no other
 * way, so that more coordinates are allowed there, as long as A fits into memory. */
static bool is_small(const hm_sim *sim)
{
    const hmi_derived *d = &sim->system->derived;
    size_t n = d->n, m = d->constraints.count;
    if (!sim->system->model->has_contacts)
        return n <= HM_MOST_DENSE && m <= 4 * HM_MOST_DENSE;
    return n <= HMI_MOST_WITH_CONTACTS && m <= HMI_MOST_DENSE_ENTRIES / n &&
           hmi_sim_most_held(sim, NULL, m) <= 4 * HM_MOST_DENSE;
}

hm_status hmi_sim_prepare_solve(hm_sim *sim)
{
    const hmi_derived *d = &sim->system->derived;
    const hm_model *model = sim->system->model;
    size_t n = d->n, m = d->constraints.count, servo_rows = model->servo_rows.count;
    bool failed = false;
    if (!is_small(sim))
        return HM_OK;
    sim->dense.M = hmi_arena_doubles(&sim->arena, n * n, &failed);
    sim->dense.A = hmi_arena_doubles(&sim->arena, m * n, &failed);
    sim->dense.servo_A = hmi_arena_doubles(&sim->arena, servo_rows * n, &failed);
    sim->dense.velocity = hmi_arena_doubles(&sim->arena, n, &failed);
    sim->dense.C = hmi_arena_doubles(&sim->arena, n, &failed);
    if (failed || !prepare_servos(sim))
        return HM_ERR_NOMEM;
    bool contacts = model->has_contacts && m;
    const hmi_dynamics_size size = {.n = (int)n,
                                    .m = contacts ? (int)hmi_sim_most_held(sim, NULL, m) : (int)m,
                                    .servos = (int)model->servos.count,
                                    .servo_rows = (int)servo_rows,
                                    .compare = true};
    return hmi_dynamics_create_gathering(sim->system->allocator, &size, contacts ? (int)m : 0,
                                         &sim->dense.dynamics);
}

hm_status hmi_sim_prepare_sparse(hm_sim *sim, bool revealing)
{
    revealing |= sim->system->derived.force_symbols != 0;
    if (sim->dense.dynamics &&
        (!hmi_large_pays(sim->system, revealing) || hmi_large_refusal(sim->system)))
        return HM_OK;
    hm_status status = hmi_sim_prepare_large(sim);
    return status == HM_ERR_LIMIT && sim->dense.dynamics ? HM_OK : status;
}

hm_status hmi_sim_prepare_large(hm_sim *sim)
{
    return sim->solve.large
               ? HM_OK
               : hmi_large_create(sim->system, sim->system->allocator, &sim->solve.large);
}

/* ---- laws that use constraint forces ---- */

static int evaluate_law(void *user, const hmi_reactions *reactions, double *Q, double *C)
{
    const hmi_question *ask = user;
    hm_sim *sim = ask->sim;
    size_t n = sim->system->derived.n;
    hmi_tape_values values = hmi_sim_values(sim, ask->at);
    values.by_kind[HMI_SYM_REACTION] = reactions->reaction;
    values.by_kind[HMI_SYM_MULTIPLIER] = reactions->multiplier;
    values.by_kind[HMI_SYM_TOTAL_REACTION] = reactions->total_reaction;
    values.by_kind[HMI_SYM_TOTAL_MULTIPLIER] = reactions->total_multiplier;
    hmi_tape_run(sim->tapes.law, &values, sim->tapes.law_work);
    const double *out = hmi_tape_outputs(sim->tapes.law, sim->tapes.law_work);
    memcpy(Q, out, n * sizeof *Q);
    memcpy(C, out + n, n * sizeof *C);
    for (size_t i = 0; i < 2 * n; i++)
        if (!isfinite(out[i]))
            return 1;
    for (size_t i = 0; i < n && sim->contacts; i++)
        C[i] += sim->contacts->extra[i];
    return 0;
}

/* ---- the dense solve ---- */

/* C with the forces of friction statements; NULL: there are none. */
static const double *nonideal_forces(hm_sim *sim)
{
    const hm_system *system = sim->system;
    const double *C = hmi_sim_dynamics(sim) + system->at.C;
    if (!sim->contacts || sim->contacts->frictions == 0)
        return system->derived.has_nonideal ? C : NULL;
    for (size_t i = 0; i < system->derived.n; i++)
        sim->dense.C[i] = C[i] + sim->contacts->extra[i];
    return sim->dense.C;
}

/* The terms of Q that use no constraint forces: they have a value wherever the law starts from. */
static const double *free_forces(hm_sim *sim, const hmi_point *at)
{
    const hmi_tape_values values = hmi_sim_values(sim, at);
    hmi_tape_run(sim->tapes.law, &values, sim->tapes.law_work);
    return hmi_tape_outputs(sim->tapes.law, sim->tapes.law_work) + 2 * sim->system->derived.n;
}

void hmi_sim_pose(hm_sim *sim, const hmi_point *at, hmi_question *ask)
{
    const hm_system *system = sim->system;
    const uint16_t symbols = system->derived.force_symbols;
    const double *values = hmi_sim_dynamics(sim);
    hmi_sim_scatter(sim);
    ask->sim = sim;
    ask->at = at;
    ask->law = (hmi_reaction_law){
        .evaluate = evaluate_law,
        .user = ask,
        .uses_ideal = symbols & (HMI_DEP(HMI_SYM_REACTION) | HMI_DEP(HMI_SYM_MULTIPLIER)),
        .uses_total = symbols &
                      (HMI_DEP(HMI_SYM_TOTAL_REACTION) | HMI_DEP(HMI_SYM_TOTAL_MULTIPLIER)),
    };
    ask->equations = (hmi_equations){
        .M = sim->dense.M,
        .Q = symbols ? free_forces(sim, at) : values + system->at.Q,
        .A = sim->dense.A,
        .b = values + system->at.b,
        .C = symbols ? NULL : nonideal_forces(sim),
        .law = symbols ? &ask->law : NULL,
        .last_reaction = sim->last.reaction,
        .last_total_reaction = sim->last.total_reaction,
        .servos = sim->dense.servos,
        .servo_count = (int)system->model->servos.count,
    };
}

static double power_of(size_t n, const double *force, const double *v)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += force[i] * v[i];
    return sum;
}

static void keep_powers(hm_sim *sim, const double *v, const hmi_solution *s)
{
    size_t n = sim->system->derived.n;
    double *energy = sim->last.energy;
    energy[HMI_QUANTITY_IDEAL] = power_of(n, s->Qi, v);
    energy[HMI_QUANTITY_NONIDEAL] = power_of(n, s->Qni, v);
    energy[HMI_QUANTITY_SERVO] = 0;
    for (size_t k = 0; s->u && k < sim->system->model->servos.count; k++)
        energy[HMI_QUANTITY_SERVO] += power_of(n, s->u + k * n, v);
}

void hmi_sim_keep_forces(hm_sim *sim, const hmi_point *at, const hmi_solution *s)
{
    size_t n = sim->system->derived.n, m = sim->system->derived.constraints.count;
    hmi_sim_answer *last = &sim->last;
    memmove(last->qdd, s->qdd, n * sizeof *last->qdd);
    memcpy(last->reaction, s->Qi, n * sizeof *last->reaction);
    if (m) {
        memcpy(last->multiplier, s->lambda, m * sizeof *last->multiplier);
        memcpy(last->total_multiplier, s->total_lambda, m * sizeof *last->total_multiplier);
    }
    for (size_t i = 0; i < n; i++)
        last->total_reaction[i] = s->Qc[i] - s->C[i];
    keep_powers(sim, at->v, s);
}

static hm_status accelerate_dense(hm_sim *sim, const hmi_point *at, hmi_solution *solution)
{
    hmi_question ask;
    hmi_solution local;
    hmi_sim_pose(sim, at, &ask);
    if (!solution && !ask.equations.C && !ask.equations.law && ask.equations.servo_count == 0 &&
        sim->solve.formulation == HM_FORMULATION_AUTO)
        return hmi_accelerate(sim->dense.dynamics, sim->dense.M, ask.equations.Q, sim->dense.A,
                              ask.equations.b, sim->last.qdd, NULL);
    hmi_options options = hmi_options_default();
    options.formulation = sim->solve.formulation;
    options.rank_tolerance = sim->solve.rank_tolerance;
    options.most_rank = sim->solve.most_rank;
    options.consistency_tolerance = sim->solve.consistency_tolerance;
    hm_status status = hmi_dynamics_solve(sim->dense.dynamics, &ask.equations, &options, &local);
    if (status == HM_ERR_USAGE)
        return status;
    hmi_sim_keep_forces(sim, at, &local);
    if (solution)
        *solution = local;
    return status;
}

/* Friction is found first: it depends on forces of contacts, and they on it. */
static hm_status accelerate_in_contact(hm_sim *sim, const hmi_point *at, hmi_solution *solution)
{
    hm_status status = hmi_contacts_hold(sim->contacts, at);
    return status == HM_OK ? accelerate_dense(sim, at, solution) : status;
}

/* ---- large systems ---- */

hmi_large_equations hmi_sim_large_equations(hm_sim *sim, const hmi_point *at, hmi_question *ask)
{
    const hmi_dynamics_layout *layout = &sim->system->at;
    const double *values = hmi_sim_dynamics(sim);
    bool law = sim->system->derived.force_symbols;
    ask->sim = sim;
    ask->at = at;
    ask->law = (hmi_reaction_law){.evaluate = evaluate_law, .user = ask, .uses_ideal = true};
    return (hmi_large_equations){.M = values + layout->M,
                                 .A = values + layout->A,
                                 .Q = law ? free_forces(sim, at) : values + layout->Q,
                                 .b = values + layout->b,
                                 .C = values + layout->C,
                                 .law = law ? &ask->law : NULL};
}

/* The same for systems that have a dense solve too; false: let it answer. */
static bool accelerate_sparsely(hm_sim *sim, const hmi_point *at)
{
    hmi_question ask;
    if (!sim->dense.dynamics || !sim->solve.large || sim->solve.left_out ||
        sim->solve.formulation != HM_FORMULATION_AUTO)
        return false;
    const hmi_large_equations equations = hmi_sim_large_equations(sim, at, &ask);
    return hmi_large_accelerate(sim->solve.large, &equations, sim->last.qdd);
}

hm_status hmi_sim_accelerate_large(hm_sim *sim, const hmi_point *at, hmi_solution *solution)
{
    hmi_question ask;
    const hmi_large_equations equations = hmi_sim_large_equations(sim, at, &ask);
    hm_status status = hmi_sim_prepare_large(sim);
    if (status != HM_OK)
        return status;
    if (solution)
        solution->qdd = NULL;
    status = hmi_large_solve(sim->solve.large, &equations, sim->last.qdd, solution);
    if (solution && solution->qdd) /* it was filled in */
        hmi_sim_keep_forces(sim, at, solution);
    return status;
}

bool hmi_sim_has_compiled(const hm_sim *sim)
{
    return sim->solve.compiled && sim->solve.formulation == HM_FORMULATION_AUTO &&
           sim->tapes.dynamics == &sim->system->dynamics;
}

bool hmi_sim_accelerate_compiled(hm_sim *sim, const hmi_point *at)
{
    struct hmi_compiled *compiled = sim->solve.compiled;
    if (!hmi_sim_has_compiled(sim))
        return false;
    hmi_sim_refresh(sim, at);
    const hmi_tape_values values = hmi_sim_values(sim, at);
    if (!hmi_compiled_run(compiled, &values))
        return false;
    size_t states = sim->system->model->states.count;
    if (states)
        memcpy(hmi_sim_dynamics(sim) + sim->system->at.state_rates,
               hmi_compiled_state_rates(compiled), states * sizeof(double));
    sim->last.stale = true;
    return true;
}

bool hmi_sim_factor_compiled(hm_sim *sim, const hmi_point *at)
{
    if (!hmi_sim_has_compiled(sim))
        return false;
    const hmi_tape_values values = hmi_sim_values(sim, at);
    return hmi_compiled_factor(sim->solve.compiled, &values);
}

bool hmi_sim_project_compiled(hm_sim *sim, const hmi_point *at, const double *r, double *d)
{
    const hmi_tape_values values = hmi_sim_values(sim, at);
    return hmi_compiled_project(sim->solve.compiled, &values, r, d);
}

/* ---- the hot path ---- */

hm_status hmi_sim_accelerate(hm_sim *sim, const hmi_point *at, hmi_solution *solution)
{
    if (!solution && hmi_sim_accelerate_compiled(sim, at))
        return HM_OK;
    hmi_sim_motion *motion = sim->motion.used;
    if (!solution && motion && sim->solve.formulation == HM_FORMULATION_AUTO) {
        hmi_sim_refresh(sim, at);
        if (hmi_sim_motion_run(sim, motion, at)) {
            hmi_sim_motion_copy(motion->out, sim->system->derived.n, sim->last.qdd);
            sim->last.by_motion = true;
            return HM_OK;
        }
    }
    hmi_sim_evaluate(sim, at);
    if (!solution && hmi_sim_has_compiled(sim) && hmi_compiled_doubts(sim->solve.compiled)) {
        const hmi_sparse_shape shape = hmi_large_shape(sim->system);
        hmi_compiled_confirm(sim->solve.compiled, &shape, hmi_sim_mass_entries(sim),
                             hmi_sim_row_entries(sim));
    }
    return hmi_sim_accelerate_here(sim, at, solution);
}

hm_status hmi_sim_accelerate_here(hm_sim *sim, const hmi_point *at, hmi_solution *solution)
{
    if (sim->contacts)
        return accelerate_in_contact(sim, at, solution);
    if (!solution && accelerate_sparsely(sim, at))
        return HM_OK;
    if (sim->dense.dynamics)
        return accelerate_dense(sim, at, solution);
    if (hmi_large_refusal(sim->system))
        return HM_ERR_LIMIT;
    if (sim->solve.formulation != HM_FORMULATION_AUTO &&
        sim->solve.formulation != HM_FORMULATION_KKT)
        return HM_ERR_USAGE;
    return hmi_sim_accelerate_large(sim, at, solution);
}

/* Where there is no motion tape yet, or it does not serve here. */
__attribute__((noinline)) static hm_status accelerate_otherwise(hm_sim *sim, double *qdd)
{
    hmi_sim_motions *motion = &sim->motion;
    if (sim->contacts) {
        hm_status decided = hmi_contacts_evaluate(sim->contacts, hmi_sim_present(sim));
        if (decided == HM_OK)
            decided = hmi_sim_accelerate_here(sim, hmi_sim_present(sim), NULL);
        memcpy(qdd, sim->last.qdd, sim->system->derived.n * sizeof *qdd);
        return decided;
    }
    if (!motion->tried) {
        hm_status made = hmi_sim_motion_create(sim, hmi_sim_present(sim), NULL, &motion->own);
        if (made != HM_OK)
            return made;
        motion->tried = true;
    }
    if (!motion->used)
        motion->used = motion->own;
    hm_status status = hmi_sim_accelerate(sim, hmi_sim_present(sim), NULL);
    if (sim->dense.dynamics && !sim->solve.large && !sim->last.by_motion && !sim->last.stale &&
        hmi_sim_prepare_sparse(sim, true) == HM_ERR_NOMEM)
        return HM_ERR_NOMEM;
    if (status != HM_ERR_LIMIT)
        memcpy(qdd, sim->last.qdd, sim->system->derived.n * sizeof *qdd);
    if (status == HM_OK && sim->last.by_motion && sim->system->model->inputs.count == 0)
        motion->used->own = sim->tapes.version;
    return status;
}

/* The short way: machine code at the sim's present state. All else is apart, so that few registers
 * are saved. */
hm_status hm_sim_accelerate(hm_sim *sim, double *qdd)
{
    HMI_ARGUMENT(sim ? sim->context : NULL, sim && qdd, "a place for the answer is needed");
    const hmi_sim_motion *motion = sim->motion.used;
    if (motion && sim->tapes.prepared && sim->solve.formulation == HM_FORMULATION_AUTO &&
        motion->own == sim->tapes.version) {
        hmi_tape_run(&motion->program.tape, &motion->values, motion->work);
        if (hmi_sim_motion_answers(motion)) {
            hmi_sim_motion_copy(motion->out, sim->system->derived.n, qdd);
            return HM_OK;
        }
    }
    return accelerate_otherwise(sim, qdd);
}

const double *hmi_sim_state_rates(const hm_sim *sim)
{
    if (sim->last.by_motion)
        return sim->motion.used->out + sim->motion.used->program.at.rates;
    return hmi_tape_outputs(sim->tapes.dynamics, sim->tapes.dynamics_work) +
           sim->system->at.state_rates;
}
