/* The series of the motion: its jets, the lists of products that right sides are sums of, its programs. */
#include "integrate/taylor/taylor.h"

#include "integrate/ode/ledger.h"
#include "integrate/ode/residuals.h"

void *hmi_taylor_take(hmi_taylor *T, size_t count, size_t size, bool *failed)
{
    void *memory = hmi_arena_alloc(&T->arena, (count + 1) * size);
    *failed |= !memory;
    return memory;
}

static bool uses_baumgarte(const hmi_ode *ode)
{
    return ode->residuals && (ode->baumgarte[0] != 0 || ode->baumgarte[1] != 0);
}

static hm_status add_tapes(hmi_taylor *T)
{
    hm_sim *sim = T->sim;
    hmi_ledger *ledger = T->ode->ledger;
    hm_status status = HM_OK;
    T->has_inputs = sim->system->model->inputs.count > 0;
    T->has_residuals = uses_baumgarte(T->ode);
    T->has_powers = ledger && ledger->tape_count > 0;
    if (T->has_inputs)
        status = hmi_jet_add(&T->jet, sim->tapes.inputs, sim->tapes.inputs_work, &T->inputs);
    if (status == HM_OK)
        status = hmi_jet_add(&T->jet, sim->tapes.dynamics, sim->tapes.dynamics_work, &T->dynamics);
    if (status == HM_OK && T->has_residuals) {
        double *work;
        const hmi_tape *tape = hmi_residuals_tape(T->ode->residuals, &work);
        status = hmi_jet_add(&T->jet, tape, work, &T->residuals);
    }
    for (size_t i = 0; i < T->n && status == HM_OK; i++)
        T->motion[0].a[i] = hmi_jet_row_of(&T->jet, HMI_SYM_ACCELERATION, (uint32_t)i);
    if (status == HM_OK && T->has_powers)
        status = hmi_jet_add(&T->jet, &ledger->tape, ledger->work, &T->powers);
    return status == HM_OK ? T->jet.status : status;
}

static bool wants(const hmi_ledger *ledger, hmi_power kind)
{
    for (size_t k = 0; ledger && k < ledger->count; k++)
        if (ledger->kind[k] == kind)
            return true;
    return false;
}

/* Rows that no tape writes. */
static hm_status add_rows(hmi_taylor *T)
{
    bool failed = false;
    const hmi_ledger *ledger = T->ode->ledger;
    bool nonideal = wants(ledger, HMI_POWER_NONIDEAL);
    if (nonideal || wants(ledger, HMI_POWER_IDEAL))
        T->ideal = hmi_taylor_take(T, T->n, sizeof *T->ideal, &failed);
    if (nonideal)
        T->nonideal = hmi_taylor_take(T, T->n, sizeof *T->nonideal, &failed);
    T->motions = T->ideal && T->sim->system->derived.has_nonideal ? 2 : 1;
    for (int k = 0; k < T->motions; k++) {
        hmi_taylor_motion *m = &T->motion[k];
        m->with_C = k == 0 && T->sim->system->derived.has_nonideal;
        m->a = k == 0 ? m->a : hmi_taylor_take(T, T->n, sizeof *m->a, &failed);
        m->mu = hmi_taylor_take(T, T->m, sizeof *m->mu, &failed);
        for (size_t i = 0; i < T->n && k > 0 && !failed; i++)
            m->a[i] = hmi_jet_new_row(&T->jet, false);
        for (size_t i = 0; i < T->m && !failed; i++)
            m->mu[i] = hmi_jet_new_row(&T->jet, false);
    }
    for (size_t i = 0; i < T->n && !failed; i++) {
        if (T->ideal)
            T->ideal[i] = hmi_jet_new_row(&T->jet, false);
        if (T->nonideal)
            T->nonideal[i] = hmi_jet_new_row(&T->jet, false);
    }
    T->out = T->jet.outputs.data + T->dynamics.output;
    return failed ? HM_ERR_NOMEM : T->jet.status;
}

/* Lists: a pair where the entry changes in time. */
static void add_pair(hmi_taylor *T, uint32_t entry, uint32_t x)
{
    if (!T->jet.constant.data[entry])
        hmi_jet_convolve(&T->jet, entry, x);
}

static hmi_jet_list start_list(const hmi_taylor *T, uint32_t value)
{
    return (hmi_jet_list){.first = (uint32_t)T->jet.pairs.count,
                          .value = hmi_jet_place(&T->jet, value),
                          .less = HMI_JET_NO_PLACE,
                          .rise = HMI_JET_NO_PLACE};
}

static void end_list(const hmi_taylor *T, hmi_jet_list *list)
{
    list->end = (uint32_t)T->jet.pairs.count;
}

/* M a of equation i. */
static void add_mass(hmi_taylor *T, const hmi_taylor_motion *m, size_t i)
{
    const hmi_expr_matrix *M = &T->sim->system->derived.M;
    for (size_t r = i; r < M->rows; r++)
        for (size_t k = M->start[r]; k < M->start[r + 1]; k++) {
            size_t c = M->column.data[k];
            if (r == i || c == i)
                add_pair(T, T->out[T->sim->system->at.M + k], m->a[r == i ? c : r]);
        }
}

/* A^T mu of equation i. */
static void add_force(hmi_taylor *T, const hmi_taylor_motion *m, size_t i)
{
    const hmi_expr_matrix *A = &T->sim->system->derived.constraints.A;
    for (size_t r = 0; r < A->rows; r++)
        for (size_t k = A->start[r]; k < A->start[r + 1]; k++)
            if (A->column.data[k] == i)
                add_pair(T, T->out[T->sim->system->at.A + k], m->mu[r]);
}

/* A a of row i. */
static void add_constraint(hmi_taylor *T, const hmi_taylor_motion *m, size_t i)
{
    const hmi_expr_matrix *A = &T->sim->system->derived.constraints.A;
    for (size_t k = A->start[i]; k < A->start[i + 1]; k++)
        add_pair(T, T->out[T->sim->system->at.A + k], m->a[A->column.data[k]]);
}

/* Lists right[n + m] and, where wanted, reaction[n], whose pairs are among those of right[n]. */
static void write_lists(hmi_taylor *T, hmi_taylor_motion *m)
{
    const hmi_dynamics_layout *at = &T->sim->system->at;
    for (size_t i = 0; i < T->n; i++) {
        m->right[i] = start_list(T, T->out[at->Q + i]);
        add_mass(T, m, i);
        m->reaction[i] = start_list(T, T->jet.one);
        add_force(T, m, i);
        end_list(T, &m->reaction[i]);
        end_list(T, &m->right[i]);
    }
    for (size_t i = T->n; i < T->n + T->m; i++) {
        m->right[i] = start_list(T, T->out[at->b + i - T->n]);
        add_constraint(T, m, i - T->n);
        end_list(T, &m->right[i]);
    }
}

/* v.F over the rows F. */
static void list_power(hmi_taylor *T, const uint32_t *force, hmi_jet_list *list)
{
    *list = start_list(T, T->jet.one);
    for (size_t i = 0; i < T->n; i++)
        add_pair(T, hmi_jet_row_of(&T->jet, HMI_SYM_VELOCITY, (uint32_t)i), force[i]);
    end_list(T, list);
}

static hm_status build_lists(hmi_taylor *T)
{
    bool failed = false;
    for (int k = 0; k < T->motions && !failed; k++) {
        hmi_taylor_motion *m = &T->motion[k];
        m->right = hmi_taylor_take(T, T->n + T->m, sizeof *m->right, &failed);
        m->reaction = hmi_taylor_take(T, T->n, sizeof *m->reaction, &failed);
        if (!failed)
            write_lists(T, m);
    }
    if (T->ideal && !failed)
        list_power(T, T->ideal, &T->ideal_power);
    if (T->nonideal && !failed)
        list_power(T, T->nonideal, &T->nonideal_power);
    return failed ? HM_ERR_NOMEM : T->jet.status;
}

/* Rows of the state, those of its rates, and those of the answer. */
static hm_status link_state(hmi_taylor *T)
{
    hmi_jet *jet = &T->jet;
    uint32_t n = (uint32_t)T->n, m = (uint32_t)T->m, states = (uint32_t)T->ode->states;
    bool failed = false;
    T->links = hmi_taylor_take(T, T->ode->size, sizeof *T->links, &failed);
    T->given = hmi_taylor_take(T, T->n + T->m, sizeof *T->given, &failed);
    if (failed)
        return HM_ERR_NOMEM;
    T->link_count = T->ode->size;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = hmi_jet_row_of(jet, HMI_SYM_VELOCITY, i);
        T->links[i] = (hmi_jet_link){.row = hmi_jet_row_of(jet, HMI_SYM_COORD, i), .source = v};
        T->links[n + i] = (hmi_jet_link){.row = v, .source = T->motion[0].a[i]};
        T->given[i] = T->motion[0].a[i];
    }
    for (uint32_t i = 0; i < states; i++)
        T->links[2 * n + i] = (hmi_jet_link){.row = hmi_jet_row_of(jet, HMI_SYM_STATE, i),
                                             .source = T->out[T->sim->system->at.state_rates + i]};
    for (uint32_t i = 0; i < 2 * n + states; i++)
        T->links[i].at = i;
    for (uint32_t i = 0; i < m; i++)
        T->given[n + i] = T->motion[0].mu[i];
    for (size_t i = 0; i < jet->symbols.count; i++)
        if (jet->symbols.data[i].kind == HMI_SYM_TIME) {
            T->time_row = jet->symbols.data[i].row;
            T->reads_time = true;
        }
    return jet->status;
}

static bool allocate(hmi_taylor *T)
{
    bool failed = false;
    T->M = hmi_taylor_take(T, T->n * T->n, sizeof *T->M, &failed);
    T->right = hmi_taylor_take(T, T->n + T->m + 3, sizeof *T->right, &failed);
    for (int k = 0; k < T->motions; k++)
        T->motion[k].answer = hmi_taylor_take(T, T->n + T->m + 3, sizeof(double), &failed);
    T->scratch = hmi_taylor_take(T, T->link_count, sizeof *T->scratch, &failed);
    T->turning = hmi_taylor_take(T, T->n, sizeof *T->turning, &failed);
    T->Y = hmi_taylor_take(T, (size_t)(T->order + 1) * T->width + 7, sizeof *T->Y, &failed);
    return !failed;
}

hm_status hmi_taylor_compile(hmi_taylor *T, hmi_taylor_code code, const hmi_jet_program *program)
{
    T->program[code] = *program;
    return T->sim->system->interpreted ? HM_OK : hmi_jet_compile(&T->jet, &T->program[code]);
}

static hm_status compile_lists(hmi_taylor *T, hmi_taylor_code code, const hmi_jet_list *lists,
                               size_t count)
{
    return hmi_taylor_compile(T, code, &(hmi_jet_program){.lists = lists, .list_count = count});
}

static hm_status compile_segment(hmi_taylor *T, hmi_taylor_code code, bool wanted,
                                 const hmi_jet_segment *segment)
{
    return wanted ? hmi_taylor_compile(T, code, &(hmi_jet_program){.segment = segment}) : HM_OK;
}

static hm_status compile_powers(hmi_taylor *T)
{
    hm_status status = compile_segment(T, HMI_TAYLOR_POWERS, T->has_powers, &T->powers);
    if (status == HM_OK && T->ideal)
        status = compile_lists(T, HMI_TAYLOR_REACTION, T->motion[T->motions - 1].reaction, T->n);
    if (status == HM_OK && T->ideal)
        status = compile_lists(T, HMI_TAYLOR_IDEAL, &T->ideal_power, 1);
    if (status == HM_OK && T->nonideal)
        status = compile_lists(T, HMI_TAYLOR_ALL_REACTION, T->motion[0].reaction, T->n);
    if (status == HM_OK && T->nonideal)
        status = compile_lists(T, HMI_TAYLOR_NONIDEAL, &T->nonideal_power, 1);
    return status;
}

static hm_status compile_all(hmi_taylor *T)
{
    const hmi_jet_program main = {
        .segment = &T->dynamics, .lists = T->motion[0].right, .list_count = T->n + T->m};
    hm_status status = compile_segment(T, HMI_TAYLOR_INPUTS, T->has_inputs, &T->inputs);
    if (status == HM_OK)
        status = hmi_taylor_compile(T, HMI_TAYLOR_MAIN, &main);
    if (status == HM_OK)
        status = compile_segment(T, HMI_TAYLOR_RESIDUALS, T->has_residuals, &T->residuals);
    if (status == HM_OK && T->motions == 2)
        status = compile_lists(T, HMI_TAYLOR_SECOND, T->motion[1].right, T->n + T->m);
    if (status == HM_OK)
        status = compile_powers(T);
    const hmi_jet_program keep = {.given = T->given,
                                  .given_count = T->n + T->m,
                                  .negated = T->n,
                                  .handoff = true,
                                  .links = T->links,
                                  .link_count = T->link_count};
    if (status == HM_OK)
        status = hmi_taylor_compile(T, HMI_TAYLOR_KEEP, &keep);
    bool plain = !T->has_inputs && !T->has_residuals && !T->works && !T->motion[0].with_C;
    if (status != HM_OK || !plain || T->n + T->m > HMI_SADDLE_MOST_INVERTED)
        return status;
    hmi_jet_program whole = keep;
    whole.segment = main.segment;
    whole.lists = main.lists;
    whole.list_count = whole.matrix_size = main.list_count;
    return hmi_taylor_compile(T, HMI_TAYLOR_WHOLE, &whole);
}

/* The jets of M, Q, A, b. */
static hm_status add_equations(hmi_taylor *T)
{
    bool failed = false;
    T->motion[0].a = hmi_taylor_take(T, T->n, sizeof *T->motion[0].a, &failed);
    hm_status status = failed ? HM_ERR_NOMEM : hmi_taylor_place(T);
    if (status == HM_OK)
        status = add_tapes(T);
    if (status == HM_OK)
        status = add_rows(T);
    if (status == HM_OK)
        status = link_state(T);
    return status == HM_OK ? build_lists(T) : status;
}

/* Velocities by constraints, without a solve that the user wants: not for states off the constraints either,
 * whose distance stays what it is, and not where events look at the series, which must then have all
 * components. */
static bool may_be_given(const hmi_ode *ode)
{
    return ode->kept && !ode->watched && ode->sim->solve.formulation == HM_FORMULATION_AUTO &&
           (!ode->sim->solve.series_options || ode->sim->solve.series_options->voronets);
}

hm_status hmi_taylor_place(hmi_taylor *T)
{
    const hmi_taylor_given *given = &T->given_velocities;
    size_t nq = T->coordinates, rest = T->ode->states + T->works, at = 0;
    bool failed = false;
    T->width = nq + T->n + rest;
    T->place = hmi_taylor_take(T, T->width, sizeof *T->place, &failed);
    if (failed)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < 2 * nq + rest; i++)
        if (i < nq || i >= 2 * nq || !given->used || !given->is_given[i - nq])
            T->place[at++] = (uint32_t)i;
    return HM_OK;
}

hm_status hmi_taylor_init(hmi_taylor *T, hmi_ode *ode, int order)
{
    hm_sim *sim = ode->sim;
    *T = (hmi_taylor){.ode = ode, .sim = sim, .n = ode->n, .order = order, .tau = 1};
    T->coordinates = ode->n;
    T->may_be_given = may_be_given(ode);
    T->most_order = order;
    hmi_arena_init(&T->arena, sim->system->allocator);
    hmi_jet_init(&T->jet, sim->system->allocator);
    if (sim->solve.series_options)
        T->jet.options = sim->solve.series_options->jet;
    T->m = sim->system->derived.constraints.count;
    T->works = ode->ledger ? ode->ledger->count : 0;
    hm_status status = hmi_taylor_has_momenta(ode) ? hmi_taylor_add_momenta(T) : add_equations(T);
    if (status == HM_OK)
        status = hmi_jet_seal(&T->jet, order);
    if (status != HM_OK)
        return status;
    if (!allocate(T))
        return HM_ERR_NOMEM;
    status = T->momenta.used ? hmi_taylor_compile_momenta(T) : compile_all(T);
    if (status == HM_OK)
        status = T->given_velocities.used
                     ? hmi_taylor_solver_init_alone(&T->solver, sim, T->n, &T->arena)
                     : hmi_taylor_solver_init(&T->solver, sim, &T->arena);
    T->solver.saddle.fused = T->jet.fused;
    return status;
}

bool hmi_taylor_reuse(hmi_taylor *T, hmi_ode *ode, int order)
{
    hmi_ledger *ledger = ode->ledger;
    if (order > T->most_order || may_be_given(ode) != T->may_be_given ||
        uses_baumgarte(ode) != T->has_residuals || (ledger ? ledger->count : 0) != T->works)
        return false;
    T->ode = ode;
    if (hmi_taylor_has_momenta(ode) != T->momenta.used)
        return false;
    T->order = order;
    T->cleared = true; /* constants are read anew */
    if (T->has_residuals)
        hmi_jet_rebind(&T->jet, &T->residuals, ode->residuals->work);
    if (T->has_powers)
        hmi_jet_rebind(&T->jet, &T->powers, ledger->work);
    return true;
}

void hmi_taylor_release(hmi_taylor *T)
{
    if (!T->ode)
        return;
    for (int i = 0; i < HMI_TAYLOR_CODES; i++)
        hmi_jet_program_release(&T->program[i]);
    hmi_tape_release(&T->momenta.tape);
    hmi_tape_release(&T->given_velocities.tape);
    hmi_jet_release(&T->jet);
    hmi_arena_release(&T->arena);
    *T = (hmi_taylor){0};
}
