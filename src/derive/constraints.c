/* Constraints brought to A q'' = b by differentiation along the motion, nothing rescaled.
 *
 *     position      phi(q, t) = 0:       A = dphi/dq,    b = -d2phi/dt2 at q'' = 0
 *     velocity      psi(q, q', t) = 0:   A = dpsi/dq',   b = -dpsi/dt at q'' = 0
 *     acceleration  g(q, q', q'', t):    A = dg/dq'',    b = -g at q'' = 0
 *                                                  [Zhao18 (18)-(20), UK02 (3), (4)]
 * A servo's right-hand side carries its gain: with beta = lhs - rhs,
 *     position      b - 2k beta' - k^2 beta,      velocity  b - k beta.      [language.md, servo]
 * k may be a matrix for all rows of the servo.
 */
#include "derive/derive_internal.h"

typedef struct row_set {
    hmi_rows *rows;
    hmi_substitution at_rest; /* q'' = 0 */
} row_set;

static hmi_expr zero_acceleration(hmi_graph *graph, hmi_expr leaf, void *user)
{
    (void)user;
    bool acceleration = hmi_node_at(graph, leaf)->a == HMI_SYM_ACCELERATION;
    return acceleration ? graph->zero : leaf;
}

/* The gradient of e by a kind of symbol, as the next row of A. */
static hm_status push_row(hmi_derivation *d, row_set *set, size_t i, hmi_expr e, hmi_symbol_kind by)
{
    hmi_expr_matrix *A = &set->rows->A;
    hm_status status = hmi_gradient(&d->adjoint, &d->eq->graph, e, by);
    if (status == HM_OK)
        status = hmi_count_entries(d);
    for (size_t k = 0; status == HM_OK && k < d->adjoint.partials.count; k++)
        status = hmi_expr_matrix_push(d, A, d->adjoint.partials.data[k].index,
                                      d->adjoint.partials.data[k].value);
    A->start[i + 1] = A->column.count;
    return status;
}

/* An auxiliary state in phi brings its rate into phi', which may depend on q'. */
static hm_status derive_position_row(hmi_derivation *d, row_set *set, size_t i, hmi_expr phi)
{
    hmi_graph *g = &d->eq->graph;
    hmi_expr rate = hmi_along_motion(d, phi);
    bool with_state = hmi_deps(g, phi) & HMI_DEP(HMI_SYM_STATE);
    set->rows->position_residual[i] = phi;
    set->rows->velocity_residual[i] = rate;
    set->rows->b[i] = hmi_neg(g, hmi_along_motion(d, rate));
    return with_state ? push_row(d, set, i, rate, HMI_SYM_VELOCITY)
                      : push_row(d, set, i, phi, HMI_SYM_COORD);
}

static hm_status derive_row(hmi_derivation *d, row_set *set, size_t i, const hmi_constraint *row)
{
    hmi_graph *g = &d->eq->graph;
    set->rows->position_residual[i] = set->rows->velocity_residual[i] = HMI_NONE;
    switch (row->level) {
    case HM_LEVEL_POSITION:
        return derive_position_row(d, set, i, row->residual);
    case HM_LEVEL_VELOCITY:
        set->rows->velocity_residual[i] = row->residual;
        set->rows->b[i] = hmi_neg(g, hmi_along_motion(d, row->residual));
        return push_row(d, set, i, row->residual, HMI_SYM_VELOCITY);
    default:
        set->rows->b[i] = hmi_neg(g, hmi_substitute(&set->at_rest, g, row->residual));
        return push_row(d, set, i, row->residual, HMI_SYM_ACCELERATION);
    }
}

static hm_status open_rows(hmi_derivation *d, row_set *set, hmi_rows *rows, size_t count)
{
    set->rows = rows;
    rows->count = count;
    rows->b = hmi_new_vector(d, count);
    rows->position_residual = hmi_new_vector(d, count);
    rows->velocity_residual = hmi_new_vector(d, count);
    hmi_substitution_init(&set->at_rest, d->eq->allocator, zero_acceleration, NULL,
                          HMI_DEP(HMI_SYM_ACCELERATION));
    if (!rows->b || !rows->position_residual || !rows->velocity_residual)
        return HM_ERR_NOMEM;
    return hmi_expr_matrix_init(d, &rows->A, count, d->eq->n);
}

static void add_gain(hmi_derivation *d, size_t i)
{
    hmi_graph *g = &d->eq->graph;
    hmi_rows *rows = &d->eq->servos;
    const hm_model *model = d->eq->model;
    const hmi_servo_row *servo_row = &model->servo_rows.data[i];
    hmi_expr k = model->servos.data[servo_row->servo].gain;
    hmi_expr beta = rows->position_residual[i], rate = rows->velocity_residual[i];
    if (servo_row->row.level == HM_LEVEL_VELOCITY) {
        rows->b[i] = hmi_sub(g, rows->b[i], hmi_mul(g, k, rate));
    } else if (servo_row->row.level == HM_LEVEL_POSITION) {
        hmi_expr damping = hmi_mul(g, hmi_mul(g, g->two, k), rate);
        hmi_expr stiffness = hmi_mul(g, hmi_pow(g, k, g->two), beta);
        rows->b[i] = hmi_sub(g, hmi_sub(g, rows->b[i], damping), stiffness);
    }
}

/* With a matrix K of gains: K beta' at velocity level, 2 K beta' + K^2 beta at position level. */
static void add_gain_matrix(hmi_derivation *d, const hmi_servo_group *servo, size_t first)
{
    hmi_graph *g = &d->eq->graph;
    hmi_rows *rows = &d->eq->servos;
    const hmi_expr *K = servo->gain_matrix;
    hm_level level = d->eq->model->servo_rows.data[first].row.level;
    size_t m = servo->rows;
    for (size_t i = 0; i < m && level != HM_LEVEL_ACCELERATION; i++)
        for (size_t j = 0; j < m; j++) {
            bool position = level == HM_LEVEL_POSITION;
            hmi_expr k = position ? hmi_mul(g, g->two, K[i * m + j]) : K[i * m + j];
            hmi_expr *b = &rows->b[first + i];
            *b = hmi_sub(g, *b, hmi_mul(g, k, rows->velocity_residual[first + j]));
            hmi_expr square = g->zero;
            for (size_t l = 0; l < m && position; l++)
                square = hmi_add(g, square, hmi_mul(g, K[i * m + l], K[l * m + j]));
            if (position)
                *b = hmi_sub(g, *b, hmi_mul(g, square, rows->position_residual[first + j]));
        }
}

static hm_status derive_passive(hmi_derivation *d)
{
    row_set set;
    const hm_model *model = d->eq->model;
    hm_status status = open_rows(d, &set, &d->eq->constraints, model->constraints.count);
    for (size_t i = 0; status == HM_OK && i < model->constraints.count; i++)
        status = derive_row(d, &set, i, &model->constraints.data[i]);
    hmi_substitution_release(&set.at_rest);
    return status;
}

static hm_status derive_servos(hmi_derivation *d)
{
    row_set set;
    const hm_model *model = d->eq->model;
    hm_status status = open_rows(d, &set, &d->eq->servos, model->servo_rows.count);
    d->servo_free = hmi_new_vector(d, model->servo_rows.count);
    if (status == HM_OK && !d->servo_free)
        status = HM_ERR_NOMEM;
    for (size_t i = 0; status == HM_OK && i < model->servo_rows.count; i++) {
        status = derive_row(d, &set, i, &model->servo_rows.data[i].row);
        d->servo_free[i] = set.rows->b[i];
        if (!model->servos.data[model->servo_rows.data[i].servo].gain_matrix)
            add_gain(d, i);
    }
    for (size_t s = 0, first = 0; s < model->servos.count && status == HM_OK; s++) {
        if (model->servos.data[s].gain_matrix)
            add_gain_matrix(d, &model->servos.data[s], first);
        first += model->servos.data[s].rows;
    }
    hmi_substitution_release(&set.at_rest);
    return status;
}

static hm_status derive_tangents(hmi_derivation *d)
{
    row_set set;
    const hm_model *model = d->eq->model;
    hm_status status = open_rows(d, &set, &d->eq->tangents, model->tangents.count);
    for (size_t i = 0; status == HM_OK && i < model->tangents.count; i++)
        status = derive_row(d, &set, i, &model->tangents.data[i]);
    hmi_substitution_release(&set.at_rest);
    return status;
}

hm_status hmi_derive_constraints(hmi_derivation *d)
{
    hm_status status = derive_passive(d);
    if (status == HM_OK)
        status = derive_servos(d);
    return status == HM_OK ? derive_tangents(d) : status;
}
