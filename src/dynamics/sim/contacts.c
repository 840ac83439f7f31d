/* The discrete state of contacts: memory, what is read at a point, which rows are closed, messages. */
#include "dynamics/sim/contacts.h"

#include "dynamics/sim/subproblem.h"
#include "linalg/dense.h"

/* ---- memory ---- */

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Normals and tangents that can take part at once. */
static size_t most_directions(const hmi_contacts *c)
{
    return smaller(c->m, HMI_MOST_CLOSED) + c->tangents;
}

static void *flags(hmi_arena *arena, size_t count, bool *failed)
{
    void *memory = hmi_arena_alloc(arena, count + 1);
    *failed |= !memory;
    return memory;
}

static void allocate_state(hmi_contacts *c, hmi_arena *arena, bool *failed)
{
    c->in_force = flags(arena, c->m, failed);
    c->closed = flags(arena, c->m, failed);
    c->holds = flags(arena, c->m, failed);
    c->left_out = flags(arena, c->m, failed);
    c->base = flags(arena, c->m, failed);
    c->mode = flags(arena, (c->frictions + 1) * sizeof *c->mode, failed);
    c->slip = hmi_arena_doubles(arena, 2 * c->frictions, failed);
    c->presses = hmi_arena_doubles(arena, c->frictions, failed);
    c->force = hmi_arena_doubles(arena, c->m, failed);
    c->traction = hmi_arena_doubles(arena, c->tangents, failed);
    c->extra = hmi_arena_doubles(arena, c->n, failed);
    c->opening = hmi_arena_doubles(arena, c->m, failed);
    c->limit = hmi_arena_doubles(arena, c->frictions, failed);
    c->q_scale = hmi_arena_doubles(arena, c->n, failed);
    c->v_scale = hmi_arena_doubles(arena, c->n, failed);
    c->a_scale = hmi_arena_doubles(arena, c->n, failed);
}

static void allocate_scratch(hmi_contacts *c, hmi_arena *arena, bool *failed)
{
    size_t k = most_directions(c) + 1, f = c->frictions + 1;
    c->work = hmi_arena_doubles(arena, c->sim->system->contact.work_size, failed);
    c->D = hmi_arena_doubles(arena, c->tangents * c->n, failed);
    c->direction = flags(arena, k * sizeof *c->direction, failed);
    c->response = hmi_arena_doubles(arena, k * c->n, failed);
    c->W = hmi_arena_doubles(arena, k * k, failed);
    c->w0 = hmi_arena_doubles(arena, k, failed);
    c->noise = hmi_arena_doubles(arena, k, failed);
    c->x = hmi_arena_doubles(arena, k, failed);
    c->w = hmi_arena_doubles(arena, k, failed);
    c->two_sided = flags(arena, k, failed);
    c->is_closed = flags(arena, k, failed);
    c->item = flags(arena, f * sizeof *c->item, failed);
    c->friction_of = flags(arena, f * sizeof *c->friction_of, failed);
    c->item_mode = flags(arena, f * sizeof *c->item_mode, failed);
    c->item_slip = hmi_arena_doubles(arena, 2 * f, failed);
    c->item_presses = hmi_arena_doubles(arena, f, failed);
    c->item_limit = hmi_arena_doubles(arena, f, failed);
    c->b = hmi_arena_doubles(arena, c->m, failed);
    c->zero = hmi_arena_doubles(arena, c->m, failed);
    c->F = hmi_arena_doubles(arena, c->n, failed);
    c->free = hmi_arena_doubles(arena, c->n, failed);
    c->impulse = hmi_arena_doubles(arena, c->m, failed);
    c->shown = flags(arena, (c->m + 1) * sizeof *c->shown, failed);
}

static void point_to_outputs(hmi_contacts *c)
{
    const hm_system *system = c->sim->system;
    const hmi_contact_layout *at = &system->contact_at;
    const double *out = hmi_tape_outputs(&system->contact, c->work);
    c->gap = out + at->gap;
    c->rate = out + at->rate;
    c->restitution = out + at->restitution;
    c->when = out + at->when;
    c->sliding = out + at->sliding;
    c->mus = out + at->mus;
    c->muk = out + at->muk;
}

hm_status hmi_contacts_create(hm_sim *sim)
{
    const hm_model *model = sim->system->model;
    bool failed = false;
    if (!model->has_contacts || !sim->dense.dynamics)
        return HM_OK;
    hmi_contacts *c = hmi_arena_alloc(&sim->arena, sizeof *c);
    if (!c)
        return HM_ERR_NOMEM;
    *c = (hmi_contacts){.sim = sim,
                        .m = model->constraints.count,
                        .n = model->coords.count,
                        .frictions = model->frictions.count,
                        .tangents = model->tangents.count};
    allocate_state(c, &sim->arena, &failed);
    allocate_scratch(c, &sim->arena, &failed);
    if (failed)
        return HM_ERR_NOMEM;
    point_to_outputs(c);
    for (size_t i = 0; i < c->m; i++)
        c->any_one_sided |= model->constraints.data[i].one_sided;
    for (size_t j = 0; j < c->frictions; j++)
        c->presses[j] = 1;
    sim->contacts = c;
    hmi_contacts_apply(c);
    return hmi_contact_solver_create(&sim->arena, (int)most_directions(c), (int)c->frictions,
                                     &c->solver);
}

/* ---- numbers at a point ---- */

void hmi_contacts_read(hmi_contacts *c, const hmi_point *at)
{
    hm_sim *sim = c->sim;
    const hmi_tape *tape = &sim->system->contact;
    const hmi_expr_matrix *pattern = &sim->system->derived.tangents.A;
    hmi_sim_refresh(sim, at);
    const hmi_tape_values values = hmi_sim_values(sim, at);
    if (c->version != sim->tapes.version)
        hmi_tape_prepare(tape, &values, c->work);
    c->version = sim->tapes.version;
    hmi_tape_run(tape, &values, c->work);
    const double *entry = hmi_tape_outputs(tape, c->work) + sim->system->contact_at.tangent_A;
    for (size_t i = 0; i < c->tangents; i++)
        for (size_t k = pattern->start[i]; k < pattern->start[i + 1]; k++)
            c->D[i * c->n + pattern->column.data[k]] = entry[k];
}

/* ---- what is as good as zero ----
 *
 * Nothing here is a number of its own: all is relative to how large coordinates, velocities and free
 * accelerations were so far, so that a model in micrometres moves like the same one in kilometres. */

void hmi_contacts_forget_sizes(hmi_contacts *c)
{
    hmi_zero((int)c->n, c->q_scale);
    hmi_zero((int)c->n, c->v_scale);
    hmi_zero((int)c->n, c->a_scale);
    c->step = c->force_size = c->momentum_size = 0;
}

void hmi_contacts_measure(hmi_contacts *c, const hmi_point *at, double step)
{
    c->step = step;
    for (size_t i = 0; i < c->n; i++) {
        c->q_scale[i] = fmax(c->q_scale[i], fabs(at->q[i]));
        c->v_scale[i] = fmax(c->v_scale[i], fabs(at->v[i]));
    }
}

/* Coordinates, velocities and accelerations along a direction, as far as known. */
typedef struct sizes {
    double q, v, a; /* sums of parts */
    double length;  /* of the direction */
} sizes;

static void add_sizes(const hmi_contacts *c, sizes *s, size_t i, double entry)
{
    s->q += fabs(entry) * c->q_scale[i];
    s->v += fabs(entry) * c->v_scale[i];
    s->a += fabs(entry) * c->a_scale[i];
    s->length = hypot(s->length, entry);
}

static sizes sizes_of_row(const hmi_contacts *c, size_t row)
{
    sizes s = {0, 0, 0, 0};
    const hmi_expr_matrix *pattern = &c->sim->system->derived.constraints.A;
    const double *A = hmi_sim_row_entries(c->sim);
    for (size_t k = pattern->start[row]; k < pattern->start[row + 1]; k++)
        add_sizes(c, &s, pattern->column.data[k], A[k]);
    return s;
}

static sizes sizes_of_tangent(const hmi_contacts *c, size_t k)
{
    sizes s = {0, 0, 0, 0};
    for (size_t i = 0; i < c->n; i++)
        add_sizes(c, &s, i, c->D[k * c->n + i]);
    return s;
}

/* Of a velocity along a direction. Where nothing has moved yet, lengths and accelerations make one. */
static double velocity_noise(const hmi_contacts *c, const sizes *s)
{
    int n = (int)c->n;
    return 1e-12 * (s->v + c->step * s->a) + 1e-14 * s->length * hmi_max_abs(n, c->v_scale) +
           1e-14 * sqrt(s->length * hmi_max_abs(n, c->q_scale) * s->a);
}

double hmi_contacts_gap_noise(const hmi_contacts *c, size_t row, const hmi_point *at)
{
    sizes s = sizes_of_row(c, row);
    return 1e-10 * hmi_row_terms(c->sim, row, at->q) +
           1e-12 * (s.q + c->step * (s.v + c->step * s.a)) +
           1e-14 * s.length * hmi_max_abs((int)c->n, c->q_scale);
}

double hmi_contacts_rate_noise(const hmi_contacts *c, size_t row, const hmi_point *at)
{
    sizes s = sizes_of_row(c, row);
    return 1e-10 * hmi_row_terms(c->sim, row, at->v) + velocity_noise(c, &s);
}

double hmi_contacts_fall(const hmi_contacts *c, size_t row, double gap)
{
    return sqrt(2 * gap * sizes_of_row(c, row).a);
}

double hmi_contacts_sliding_noise(const hmi_contacts *c, size_t k, const hmi_point *at)
{
    sizes s = sizes_of_tangent(c, k);
    double terms = 0;
    for (size_t i = 0; i < c->n; i++)
        terms += fabs(c->D[k * c->n + i] * at->v[i]);
    return 1e-10 * terms + velocity_noise(c, &s);
}

double hmi_contacts_least(const hmi_contacts *c)
{
    int n = (int)c->n;
    double h = c->step;
    return 1e-13 * (hmi_max_abs(n, c->q_scale) +
                    h * (hmi_max_abs(n, c->v_scale) + h * hmi_max_abs(n, c->a_scale)));
}

/* ---- the discrete state ---- */

/* Does a friction slide? A velocity within rounding of its parts is rest. */
static void classify_friction(hmi_contacts *c, size_t j, const hmi_point *at)
{
    const hmi_friction *f = &c->sim->system->model->frictions.data[j];
    double size = 0, noise = 0;
    for (size_t k = f->first; k < f->first + f->count; k++) {
        size = hypot(size, c->sliding[k]);
        noise += hmi_contacts_sliding_noise(c, k, at);
    }
    c->mode[j] = size > noise ? HMI_FRICTION_SLIP : HMI_FRICTION_STICK;
    for (size_t k = 0; k < f->count && size > 0; k++)
        c->slip[2 * j + k] = c->sliding[f->first + k] / size;
}

void hmi_contacts_classify_frictions(hmi_contacts *c, const hmi_point *at)
{
    for (size_t j = 0; j < c->frictions; j++)
        classify_friction(c, j, at);
}

void hmi_contacts_classify(hmi_contacts *c, const hmi_point *at)
{
    const hm_model *model = c->sim->system->model;
    hmi_contacts_read(c, at);
    for (size_t i = 0; i < c->m; i++) {
        const hmi_constraint *row = &model->constraints.data[i];
        bool position = row->level == HM_LEVEL_POSITION;
        c->in_force[i] = c->when[i] != 0;
        c->closed[i] = c->in_force[i] &&
                       (!row->one_sided ||
                        ((!position || c->gap[i] <= hmi_contacts_gap_noise(c, i, at)) &&
                         c->rate[i] <= hmi_contacts_rate_noise(c, i, at)));
    }
    hmi_contacts_classify_frictions(c, at);
}

void hmi_contacts_apply(hmi_contacts *c)
{
    for (size_t i = 0; i < c->m; i++)
        c->left_out[i] = !c->holds[i];
    c->sim->solve.left_out = c->left_out;
    hmi_dynamics_leave_out(c->sim->dense.dynamics, c->left_out);
}

/* ---- what is shown ---- */

const char *hm_contact_state_text(hm_contact_state state)
{
    static const char *const text[] = {"open", "closed", "stick", "slip"};
    return (size_t)state < sizeof text / sizeof *text ? text[state] : "unknown";
}

/* A row with several frictions slips where one of them does. */
static hm_contact_state state_of(const hmi_contacts *c, size_t row)
{
    const hm_model *model = c->sim->system->model;
    hm_contact_state state = c->holds[row] ? HM_CONTACT_STATE_CLOSED : HM_CONTACT_STATE_OPEN;
    for (size_t j = 0; j < c->frictions && c->holds[row]; j++)
        if (model->frictions.data[j].row == row && state != HM_CONTACT_STATE_SLIP)
            state = c->mode[j] == HMI_FRICTION_SLIP ? HM_CONTACT_STATE_SLIP
                                                    : HM_CONTACT_STATE_STICK;
    return state;
}

/* One-sided, or with friction. */
static bool is_contact(const hmi_contacts *c, size_t row)
{
    const hm_model *model = c->sim->system->model;
    bool rubs = false;
    for (size_t j = 0; j < c->frictions; j++)
        rubs |= model->frictions.data[j].row == row;
    return model->constraints.data[row].one_sided || rubs;
}

size_t hmi_contacts_show(hmi_contacts *c, const hm_contact **list)
{
    const hm_model *model = c->sim->system->model;
    size_t count = 0;
    for (size_t i = 0; i < c->m; i++)
        if (is_contact(c, i))
            c->shown[count++] = (hm_contact){.name = model->constraints.data[i].name,
                                             .gap = c->gap[i],
                                             .velocity = c->rate[i],
                                             .state = state_of(c, i),
                                             .force = c->holds[i] ? c->force[i] : 0};
    *list = c->shown;
    return count;
}

const char *hmi_contacts_names(const hmi_contacts *c)
{
    const hm_model *model = c->sim->system->model;
    const char *list = "";
    for (size_t i = 0, count = 0; i < c->m && list; i++)
        if (c->closed[i] && is_contact(c, i) && count++ < 8)
            list = hmi_context_printf(c->sim->context, "%s%s'%s'", list, *list ? ", " : "",
                                      model->constraints.data[i].name);
    return list ? list : "";
}

void hmi_contacts_report(const hmi_contacts *c)
{
    hm_context *context = c->sim->context;
    const char *names = hmi_contacts_names(c);
    if (c->trouble)
        hmi_error(context, hmi_no_span, NULL, "%s (%s)", c->trouble, names);
    else if (c->solutions == 0)
        hmi_error(context, hmi_no_span, NULL,
                  "no forces of the contacts %s satisfy their laws here: there is no motion",
                  names);
    else
        hmi_error(context, hmi_no_span, NULL,
                  "the laws of the contacts %s allow several motions here", names);
}
