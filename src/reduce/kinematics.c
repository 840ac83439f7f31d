/* The velocities in terms of the speeds: rows and speeds solved for v = N u + n. */
#include "reduce/jordan.h"

/* Unknowns are velocities; right-hand sides: one for each speed, and a last one without. */
static hm_status set_up(hmi_reduce *r, hmi_jordan *x)
{
    hmi_graph *g = &r->graph;
    if (!hmi_jordan_init(x, r, r->n, r->n, r->n + r->k + 1))
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < r->n; i++) {
        const hmi_linear_form *form = i < r->rows ? &r->row[i] : &r->speed[i - r->rows].form;
        for (size_t j = 0; j < r->n; j++)
            *hmi_jordan_at(x, i, j) = form->c[j];
        *hmi_jordan_at(x, i, r->n + r->k) = hmi_neg(g, form->rest);
        if (i >= r->rows)
            *hmi_jordan_at(x, i, r->n + i - r->rows) = g->one;
    }
    return HM_OK;
}

/* ---- what constant pivots leave ---- */

typedef struct block {
    size_t size, *row, *unknown;
    hmi_expr *matrix, *rhs, *out;
} block;

static bool find_block(hmi_jordan *x, block *b)
{
    hmi_reduce *r = x->r;
    size_t sides = r->k + 1, unknowns = 0;
    b->row = hmi_arena_alloc(&r->arena, (r->n + 1) * sizeof *b->row);
    b->unknown = hmi_arena_alloc(&r->arena, (r->n + 1) * sizeof *b->unknown);
    if (!b->row || !b->unknown)
        return false;
    for (size_t i = 0; i < r->n; i++) {
        if (x->pivot[i] == HMI_NONE)
            b->row[b->size++] = i;
        if (!x->solved[i])
            b->unknown[unknowns++] = i;
    }
    b->matrix = hmi_reduce_vector(r, b->size * b->size);
    b->rhs = hmi_reduce_vector(r, b->size * sides);
    b->out = hmi_reduce_vector(r, b->size * sides);
    if (r->failed)
        return false;
    for (size_t i = 0; i < b->size; i++) {
        for (size_t j = 0; j < b->size; j++)
            b->matrix[i * b->size + j] = *hmi_jordan_at(x, b->row[i], b->unknown[j]);
        for (size_t j = 0; j < sides; j++)
            b->rhs[i * sides + j] = *hmi_jordan_at(x, b->row[i], r->n + j);
    }
    return true;
}

static void put_block(hmi_jordan *x, const block *b)
{
    hmi_reduce *r = x->r;
    hmi_graph *g = &r->graph;
    size_t sides = r->k + 1;
    for (size_t i = 0; i < r->n; i++)
        for (size_t u = 0; x->pivot[i] != HMI_NONE && u < b->size; u++) {
            hmi_expr factor = *hmi_jordan_at(x, i, b->unknown[u]);
            for (size_t j = 0; factor != g->zero && j < sides; j++) {
                hmi_expr *to = hmi_jordan_at(x, i, r->n + j);
                *to = hmi_sub(g, *to, hmi_mul(g, factor, b->out[u * sides + j]));
            }
        }
    for (size_t u = 0; u < b->size; u++) {
        x->pivot[b->row[u]] = (uint32_t)b->unknown[u];
        for (size_t j = 0; j < sides; j++)
            *hmi_jordan_at(x, b->row[u], r->n + j) = b->out[u * sides + j];
    }
}

static hm_status no_solution(hmi_reduce *r)
{
    hmi_error(r->context, hmi_no_span,
              "speeds must be independent of each other and of the constraints",
              "the velocities are not determined by these speeds");
    return HM_ERR_INPUT;
}

/* By the largest pivot at a random state, the shortest among those of like size. */
static hm_status take_largest(hmi_jordan *x)
{
    hmi_reduce *r = x->r;
    bool failed = false;
    size_t count = x->rows * x->columns;
    double *w = hmi_arena_doubles(&r->arena, count, &failed), most = 0, best = 0;
    size_t row = 0, unknown = 0;
    hm_status status = failed ? HM_ERR_NOMEM
                              : hmi_reduce_values(r, x->w, count, &r->state[0], NULL, w);
    for (int pass = 0; status == HM_OK && pass < 2; pass++)
        for (size_t i = 0; i < x->rows; i++)
            for (size_t j = 0; x->pivot[i] == HMI_NONE && j < x->unknowns; j++) {
                double value = w[i * x->columns + j] < 0 ? -w[i * x->columns + j]
                                                         : w[i * x->columns + j];
                if (x->solved[j] || !(value > 1e-9))
                    continue;
                if (pass == 0)
                    most = value > most ? value : most;
                double score = 1.0 / (1 + hmi_normal_cost(r->normal, *hmi_jordan_at(x, i, j)));
                if (pass == 1 && value > 0.05 * most && score > best) {
                    best = score;
                    row = i;
                    unknown = j;
                }
            }
    if (status == HM_OK && best == 0)
        return no_solution(r);
    if (status == HM_OK)
        hmi_jordan_take(x, row, unknown);
    return status == HM_OK ? hmi_reduce_status(r) : status;
}

/* Where the determinant of what no constant pivot solved vanishes, these speeds do not give the velocities. */
static void note_singular(hmi_reduce *r, hmi_expr determinant)
{
    hmi_print_options options = {.style = HMI_PRINT_TEXT, .namer = hmi_model_namer(r->model)};
    hmi_text text;
    if (!(hmi_deps(&r->graph, determinant) & ~HMI_DEP(HMI_SYM_PARAM)))
        return;
    hmi_text_init(&text, r->allocator);
    hmi_text_add(&text, "these speeds do not serve where 0 = ");
    hm_status status = hmi_print(&text, &r->graph, determinant, &options);
    if (status == HM_OK && !text.failed && text.length < 200)
        hmi_reduce_note(r, hmi_reduce_name(r, "%s", hmi_text_view(&text)));
    else
        hmi_reduce_note(r, "these speeds do not serve at every state: a pivot may vanish");
    r->failed |= text.failed;
    hmi_text_release(&text);
}

static hm_status solve_block(hmi_jordan *x)
{
    hmi_reduce *r = x->r;
    block b = {0};
    if (!find_block(x, &b))
        return HM_ERR_NOMEM;
    if (b.size == 0)
        return HM_OK;
    hm_status status = HM_ERR_LIMIT;
    hmi_expr determinant = HMI_NONE;
    if (b.size <= HMI_SYMBOLIC_MOST)
        status = hmi_symbolic_solve(r->normal, b.size, b.matrix, r->k + 1, b.rhs, b.out,
                                    &determinant);
    if (status == HM_ERR_NUMERIC)
        return no_solution(r);
    if (status == HM_OK) {
        put_block(x, &b);
        note_singular(r, determinant);
    }
    if (status != HM_ERR_LIMIT)
        return status;
    hmi_reduce_note(r, "these speeds do not serve at every state: a pivot may vanish");
    status = HM_OK;
    for (size_t i = 0; status == HM_OK && i < b.size; i++)
        status = take_largest(x);
    return status;
}

/* ---- the answer ---- */

static void read_answer(hmi_reduce *r, hmi_jordan *x)
{
    hmi_graph *g = &r->graph;
    for (size_t i = 0; i < r->n; i++) {
        size_t unknown = x->pivot[i];
        hmi_expr v = r->offset[unknown] = hmi_reduce_normal(r, *hmi_jordan_at(x, i, r->n + r->k));
        for (size_t k = 0; k < r->k; k++) {
            hmi_expr e = hmi_reduce_normal(r, *hmi_jordan_at(x, i, r->n + k));
            r->N[unknown * r->k + k] = e;
            v = hmi_add(g, v, hmi_mul(g, e, r->speed[k].symbol));
        }
        r->velocity[unknown] = hmi_reduce_normal(r, v);
    }
}

hm_status hmi_reduce_solve_velocities(hmi_reduce *r)
{
    hmi_jordan x;
    hm_status status = set_up(r, &x);
    while (status == HM_OK && hmi_jordan_take_constant(&x))
        ;
    if (status == HM_OK)
        status = solve_block(&x);
    r->N = hmi_reduce_vector(r, r->n * r->k);
    r->offset = hmi_reduce_vector(r, r->n);
    if (status != HM_OK || r->failed)
        return status == HM_OK ? HM_ERR_NOMEM : status;
    read_answer(r, &x);
    return hmi_reduce_status(r);
}
