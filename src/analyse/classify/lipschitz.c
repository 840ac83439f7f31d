/* Is the right-hand side Lipschitz at the initial state, and where the motion comes?
 *
 * Only where some function is not smooth (analyse/sides) there is a question. It is decided by numbers:
 * F is Lipschitz at s only if |F(s + e d) - F(s)| shrinks like e or faster. Its order in e between
 * e = 2^-16 and 2^-40, 2^-60 and 2^-120, 2^-200 and 2^-260, is 1 for smooth functions and kinks, p for |u|^p,
 * less than 1 for u log u, and 0 for a jump. F are the entries of M, Q, A, b, C and the rates of
 * states, so that what cancels in them (x sqrt(x), say) does not count.
 *
 * Looked at are the initial state, states near it on every surface through it where a function is not
 * smooth, and the first state of the run that meets such a surface.
 * Verified: test/unit/analyse/test_wellposed.c
 */
#include "analyse/balls/input_defaults.h"
#include "analyse/classify/analysis.h"
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

enum { BITS = 512, DIRECTIONS = 6, NEAR_POINTS = 8, SECANT_STEPS = 60, MOST_LISTED = 12 };
#define SURFACE 1e-12 /* what is zero in double precision */
#define NEARBY  0.05

/* e = 2^-k: the pairs between which the order is measured. */
enum { PAIRS = 3 };
/* Orders below which F is not Lipschitz. In the last pair steps are so short that what is smooth has the order 1
 * to many digits, also where the state is beside a surface by a rounding error. */
static const double least_order[PAIRS] = {0.985, 0.985, 1 - 1e-6};
static const int ladder[PAIRS][2] = {{16, 40}, {60, 120}, {200, 260}};

typedef struct lipschitz {
    hmi_analysis *a;
    hmi_graph graph;
    hmi_series jet;        /* right-hand sides, then the functions, then their a - b */
    size_t sides, outputs; /* how many of these */
    size_t size;           /* of a state: t, q, v, z */
    arb_ptr at, here;      /* a displaced state; values of all roots at the state itself */
    arb_ptr change;        /* 6 x roots: |change| for the steps of the ladder */
    double *direction, *point;
    bool *rough; /* by root: the order is too low here */
    hmi_random random;
} lipschitz;

/* ---- values ---- */

static hm_status add_root(lipschitz *l, hmi_input_defaults *inputs, hmi_expr e)
{
    hmi_expr given = hmi_input_defaults_apply(inputs, &l->graph, e);
    if (given == HMI_NONE)
        return l->graph.status != HM_OK ? l->graph.status : HM_ERR_LIMIT;
    return hmi_series_add(&l->jet, given);
}

/* Forces that depend on reactions hold symbols that have no value here: they are left out, and only the
 * functions themselves are looked at. */
static bool has_value(const hmi_graph *g, hmi_expr e)
{
    return e != HMI_NONE && !(hmi_deps(g, e) & HMI_DEP_FORCES);
}

static hm_status add_roots(lipschitz *l)
{
    const hm_system *system = l->a->system;
    const hmi_sides *sides = &l->a->sides;
    hmi_input_defaults inputs;
    hm_status status = HM_OK;
    hmi_input_defaults_init(&inputs, l->a->allocator, &system->derived);
    for (size_t i = 0; i < system->at.count && status == HM_OK; i++)
        if (has_value(&l->graph, system->dynamics_outputs[i]))
            status = add_root(l, &inputs, system->dynamics_outputs[i]);
    l->outputs = l->jet.roots.count;
    for (size_t k = 0; k < l->sides && status == HM_OK; k++)
        status = add_root(l, &inputs, sides->list.data[k].node);
    for (size_t k = 0; k < l->sides && status == HM_OK; k++)
        status = add_root(l, &inputs, hmi_side_zero(&l->graph, &sides->list.data[k]));
    hmi_input_defaults_release(&inputs);
    return status;
}

static void evaluate(lipschitz *l)
{
    size_t n = l->a->model->coords.count;
    hmi_series_start(&l->jet, 1, BITS);
    for (size_t i = 0; i < l->jet.leaves.count; i++) {
        const hmi_series_leaf *leaf = &l->jet.leaves.data[i];
        size_t from = leaf->kind == HMI_SYM_TIME       ? 0
                      : leaf->kind == HMI_SYM_COORD    ? 1
                      : leaf->kind == HMI_SYM_VELOCITY ? 1 + n
                                                       : 1 + 2 * n;
        arb_set(hmi_series_leaf_value(&l->jet, i, 0), l->at + from + leaf->index);
    }
    hmi_series_extend(&l->jet, 0);
}

/* s + e d with e = 2^-step; step < 0: s itself. */
static void displace(lipschitz *l, const double *state, int step)
{
    arb_t move;
    arb_init(move);
    for (size_t i = 0; i < l->size; i++) {
        arb_set_d(l->at + i, state[i]);
        if (step < 0)
            continue;
        arb_set_d(move, l->direction[i]);
        arb_mul_2exp_si(move, move, -step);
        arb_add(l->at + i, l->at + i, move, 2 * BITS);
    }
    arb_clear(move);
    evaluate(l);
}

/* ---- the order at one state ---- */

/* Is the change of this root of an order below 1 between two steps? Changes that are not proved to be
 * nonzero, and directions in which there is no value, tell nothing. */
static bool is_rough(const lipschitz *l, size_t root, int pair)
{
    size_t roots = l->jet.roots.count;
    arb_srcptr large = l->change + (2 * (size_t)pair) * roots + root, small = large + roots;
    if (!arb_is_finite(large) || !arb_is_finite(small))
        return false;
    double above = hmi_log2_below(large), below = hmi_log2_below(small);
    if (above == -INFINITY || below == -INFINITY)
        return false;
    return (above - below) / (ladder[pair][1] - ladder[pair][0]) < least_order[pair];
}

static void look_along(lipschitz *l, const double *state)
{
    size_t roots = l->jet.roots.count;
    for (size_t i = 0; i < l->size; i++)
        l->direction[i] = hmi_random_between(&l->random, -1, 1);
    for (size_t step = 0; step < 2 * PAIRS; step++) {
        displace(l, state, ladder[step / 2][step % 2]);
        for (size_t r = 0; r < roots; r++)
            arb_sub(l->change + step * roots + r, hmi_series_root(&l->jet, r, 0), l->here + r,
                    BITS);
    }
    for (size_t r = 0; r < roots; r++)
        l->rough[r] |= is_rough(l, r, 0) || is_rough(l, r, 1) || is_rough(l, r, 2);
}

/* Fills in `rough` at this state; *any: some right-hand side is. */
static void look_at(lipschitz *l, const double *state, bool *any)
{
    size_t roots = l->jet.roots.count;
    displace(l, state, -1);
    for (size_t r = 0; r < roots; r++) {
        arb_set(l->here + r, hmi_series_root(&l->jet, r, 0));
        l->rough[r] = !arb_is_finite(l->here + r); /* nothing can be shown there */
    }
    for (int k = 0; k < DIRECTIONS; k++)
        look_along(l, state);
    *any = l->outputs == 0;
    for (size_t r = 0; r < l->outputs; r++)
        *any |= l->rough[r];
}

/* a - b of function k at a state, in double precision. */
static double zero_at(lipschitz *l, size_t k, const double *state)
{
    displace(l, state, -1);
    arb_srcptr value = hmi_series_root(&l->jet, l->outputs + l->sides + k, 0);
    return arb_is_finite(value) ? arf_get_d(arb_midref(value), ARF_RND_NEAR) : NAN;
}

/* ---- states on a surface ---- */

/* A point on the surface of function k near `base`: by secants along a random line. Into the second state
 * of l->point; base is the first. */
static bool onto_surface(lipschitz *l, size_t k)
{
    double from = 0, to = 1e-3, f_from, f_to = NAN;
    double *base = l->point, *at = l->point + l->size, *line = l->point + 2 * l->size;
    for (size_t i = 0; i < l->size; i++)
        line[i] = hmi_random_between(&l->random, -1, 1);
    f_from = zero_at(l, k, base);
    for (int step = 0; step < SECANT_STEPS; step++) {
        for (size_t i = 0; i < l->size; i++)
            at[i] = base[i] + to * line[i];
        f_to = zero_at(l, k, at);
        if (!isfinite(f_to) || !isfinite(f_from) || fabs(f_to) < 1e-17 || f_to == f_from)
            break;
        double next = to - f_to * (to - from) / (f_to - f_from);
        from = to;
        f_from = f_to;
        to = next;
    }
    return fabs(f_to) < 1e-15 * fmax(1, hmi_max_abs((int)l->size, at));
}

static bool find_near(lipschitz *l, size_t k, const double *start)
{
    for (size_t i = 0; i < l->size; i++)
        l->point[i] = start[i] +
                      NEARBY * fmax(1, fabs(start[i])) * hmi_random_between(&l->random, -1, 1);
    return onto_surface(l, k);
}

/* The state where the run meets the surface, onto it to the last digits; as it is where that fails. */
static const double *meeting(lipschitz *l, size_t k, const double *state)
{
    memcpy(l->point, state, l->size * sizeof *state);
    bool small = onto_surface(l, k);
    for (size_t i = 0; i < l->size && small; i++)
        small = fabs(l->point[l->size + i] - state[i]) < 1e-3 * fmax(1, fabs(state[i]));
    return small ? l->point + l->size : state;
}

/* ---- the verdict ---- */

/* Why the function is named: how it behaves where its argument vanishes. */
static const char *behaviour(const hmi_side_function *f)
{
    return f->kind == HMI_SIDE_ROOT ? "not smooth" : "switches";
}

static hm_status list_function(lipschitz *l, size_t k, bool here, hm_singular_function *out)
{
    hmi_analysis *a = l->a;
    const hmi_side_function *f = &a->sides.list.data[k];
    const char *at = hmi_analysis_print(a, &l->graph, hmi_side_zero(&l->graph, f));
    const char *text = hmi_analysis_print(a, &l->graph, f->node);
    const char *what = hmi_op_of(&l->graph, f->node) == HMI_SIGN ? "discontinuous" : behaviour(f);
    const char *why = at && text ? hmi_analysis_text(a, "%s where %s = 0", what, at) : NULL;
    *out = (hm_singular_function){text, why, here, f->kind == HMI_SIDE_JUMP};
    return why ? HM_OK : HM_ERR_NOMEM;
}

/* Marks the functions that are rough where their argument vanishes and a right-hand side is. */
static void mark(lipschitz *l, const double *state, bool *here)
{
    bool any, named = false;
    look_at(l, state, &any);
    for (int pass = 0; pass < 2 && any && !named; pass++) /* sqrt(sqrt(x^2)): all that vanish */
        for (size_t k = 0; k < l->sides; k++) {
            arb_srcptr zero = l->here + l->outputs + l->sides + k;
            bool rough = (pass || l->rough[l->outputs + k]) && hmi_log2_above(zero) < log2(SURFACE);
            here[k] |= rough;
            named |= rough;
        }
}

static void look_at_start(lipschitz *l, const double *start, bool *here)
{
    mark(l, start, here);
    for (size_t k = 0; k < l->sides; k++) {
        bool vanishes = fabs(zero_at(l, k, start)) < SURFACE;
        for (int point = 0; vanishes && !here[k] && point < NEAR_POINTS; point++)
            if (find_near(l, k, start))
                mark(l, l->point + l->size, here);
    }
}

/* Is the right-hand side rough where the run meets the surface of function k, or on it near there? */
static bool is_rough_near(lipschitz *l, size_t k, const double *state)
{
    bool any;
    look_at(l, meeting(l, k, state), &any);
    for (int point = 0; point < NEAR_POINTS && !any; point++)
        if (find_near(l, k, state))
            look_at(l, l->point + l->size, &any);
    return any;
}

/* The first state of the run where the right-hand side is not Lipschitz. Jumps are passed by events of
 * the run; a root has no such theory, and the verdict ends there. */
static hm_status look_along_run(lipschitz *l, bool *met)
{
    hmi_analysis *a = l->a;
    hm_wellposedness *w = &a->shown.wellposedness;
    size_t first = SIZE_MAX;
    double when = INFINITY;
    for (size_t k = 0; k < l->sides; k++) {
        const hmi_side_function *f = &a->sides.list.data[k];
        if (f->met == SIZE_MAX || hmi_sides_state(&a->sides, f->met)[0] >= when)
            continue;
        const double *state = hmi_sides_state(&a->sides, f->met);
        if (!is_rough_near(l, k, state))
            continue;
        first = k;
        when = state[0];
    }
    if (first == SIZE_MAX)
        return HM_OK;
    const hmi_side_function *f = &a->sides.list.data[first];
    const char *at = hmi_analysis_print(a, &l->graph, hmi_side_zero(&l->graph, f));
    *met = f->kind == HMI_SIDE_ROOT;
    w->lipschitz_until = when;
    w->lipschitz_lost = at ? hmi_analysis_text(a, "%s = 0", at) : NULL;
    return w->lipschitz_lost ? HM_OK : HM_ERR_NOMEM;
}

static hm_status take_memory(lipschitz *l)
{
    hmi_arena *arena = &l->a->arena;
    size_t roots = l->jet.roots.count;
    l->direction = hmi_arena_alloc(arena, 4 * l->size * sizeof *l->direction);
    l->rough = hmi_arena_alloc(arena, roots + 1);
    if (!l->direction || !l->rough)
        return HM_ERR_NOMEM;
    l->point = l->direction + l->size;
    l->at = _arb_vec_init((slong)l->size);
    l->here = _arb_vec_init((slong)((2 * PAIRS + 1) * roots + 1));
    l->change = l->here + roots;
    return HM_OK;
}

static void release(lipschitz *l)
{
    if (l->here)
        _arb_vec_clear(l->here, (slong)((2 * PAIRS + 1) * l->jet.roots.count + 1));
    if (l->at)
        _arb_vec_clear(l->at, (slong)l->size);
    hmi_series_release(&l->jet);
    hmi_graph_release(&l->graph);
}

static hm_status judge(lipschitz *l, bool *here, bool *met)
{
    hmi_analysis *a = l->a;
    hm_wellposedness *w = &a->shown.wellposedness;
    double *start = hmi_arena_alloc(&a->arena, l->size * sizeof *start);
    if (!start)
        return HM_ERR_NOMEM;
    start[0] = a->t0;
    memcpy(start + 1, a->q0, (l->size - 1) * sizeof *start); /* q0, v0, z0 follow one another */
    look_at_start(l, start, here);
    hm_status status = look_along_run(l, met);
    hm_singular_function *list = hmi_arena_alloc(&a->arena, (l->sides + 1) * sizeof *list);
    if (!list)
        return HM_ERR_NOMEM;
    for (int pass = 0; pass < 2; pass++) /* those that matter first */
        for (size_t k = 0; k < l->sides && status == HM_OK; k++)
            if (here[k] == (pass == 0) && w->function_count < MOST_LISTED &&
                (here[k] || a->sides.list.data[k].kind != HMI_SIDE_KINK))
                status = list_function(l, k, here[k], &list[w->function_count++]);
    w->functions = list;
    return status;
}

static hm_status look(hmi_analysis *a, bool *lipschitz_here, bool *met)
{
    lipschitz l = {
        .a = a, .sides = a->sides.list.count, .size = a->sides.size, .random = {20261118}};
    bool *here = hmi_arena_alloc(&a->arena, l.sides + 1);
    hm_status status = here ? hmi_graph_copy(&l.graph, &a->system->derived.graph) : HM_ERR_NOMEM;
    hmi_series_init(&l.jet, a->allocator, a->model, &l.graph);
    if (status == HM_OK) {
        memset(here, 0, l.sides + 1);
        status = add_roots(&l);
    }
    if (status == HM_OK)
        status = take_memory(&l);
    if (status == HM_OK)
        status = judge(&l, here, met);
    for (size_t k = 0; status == HM_OK && k < l.sides; k++)
        *lipschitz_here &= !here[k];
    release(&l);
    return status;
}

hm_status hmi_analyse_functions(hmi_analysis *a)
{
    hm_wellposedness *w = &a->shown.wellposedness;
    bool lipschitz_here = true, met = false;
    hm_status status = a->sides.list.count ? look(a, &lipschitz_here, &met) : HM_OK;
    if (status == HM_ERR_LIMIT || status == HM_ERR_NUMERIC) {
        lipschitz_here = false;
        status = hmi_analysis_remark(
            a, "whether the right-hand side is Lipschitz could not be decided");
    }
    bool decided = a->sides.dropped == 0, regular = true;
    for (size_t k = 0; k < a->shown.constraint_count && status == HM_OK; k++)
        if (hmi_row_vanishes(&a->rows[k])) {
            regular = false;
            status = hmi_analysis_remark(
                a,
                "'%s' is not regular: its row of A vanishes wherever it holds, the rank of A drops "
                "there, and nothing enforces it; write the linear form",
                a->rows[k].name);
        }
    if (status == HM_OK && !decided)
        status = hmi_analysis_remark(
            a,
            "%zu functions that are not smooth were not looked at: floor, ceil and tables at their "
            "nodes are not, nor more than %d others",
            a->sides.dropped, HMI_MOST_SIDES);
    w->wellposed = w->known && !w->message && w->unique_acceleration && lipschitz_here && !met &&
                   decided && regular;
    return status;
}
