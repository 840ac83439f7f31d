/* Finds the combinations of candidates whose rate is zero, makes them readable, and says why they
 * are conserved (conserved.h). */
#include "analyse/symmetry/conserved.h"

#include "analyse/balls/null_space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Elimination loses bits with every candidate. */
enum { MORE_STATES = 4, BITS_A_CANDIDATE = 4 };

hm_status hmi_conserved_init(hmi_conserved *in, hmi_generators *generators)
{
    *in = (hmi_conserved){
        .generators = generators, .sampler = generators->sampler, .forms = generators->forms};
    hmi_arena_init(&in->arena, in->forms->allocator);
    return HM_OK;
}

void hmi_conserved_release(hmi_conserved *in)
{
    if (!in->forms)
        return;
    hmi_array_release(in->forms->allocator, &in->candidates);
    hmi_array_release(in->forms->allocator, &in->list);
    hmi_arena_release(&in->arena);
    in->forms = NULL;
}

/* Is this element of a null vector zero? */
static bool is_absent(const hmi_conserved *in, arb_srcptr x)
{
    return hmi_log2_above(x) < in->tolerance / 2;
}

/* The energy, which is the first candidate, has the factor 1 where it occurs. */
static void normalise(const hmi_conserved *in, arb_mat_t vectors)
{
    arb_t energy;
    arb_init(energy);
    for (slong r = 0; r < arb_mat_nrows(vectors); r++) {
        arb_set(energy, arb_mat_entry(vectors, r, 0));
        if (in->candidates.data[0].kind == HMI_ENERGY && !is_absent(in, energy))
            _arb_vec_scalar_div(arb_mat_entry(vectors, r, 0), arb_mat_entry(vectors, r, 0),
                                arb_mat_ncols(vectors), energy, in->bits);
    }
    arb_clear(energy);
}

/* ---- rates at random states ---- */

typedef struct samples {
    arb_mat_t values; /* states x candidates */
    size_t count, most;
    hmi_echelon rates;
} samples;

/* Enough to tell apart as many combinations as are left. */
static bool are_enough(const samples *s, size_t idle, size_t columns)
{
    return idle >= MORE_STATES && s->count >= columns - s->rates.rank + MORE_STATES;
}

/* States until several in a row give no new condition. */
static hm_status collect(hmi_conserved *in, samples *s)
{
    hmi_states states;
    size_t idle = 0, columns = in->candidates.count;
    arb_ptr row = _arb_vec_init((slong)columns);
    hm_status status = hmi_states_init(&states, in->sampler, in->bits);
    for (size_t k = 0; k < columns && status == HM_OK; k++)
        status = hmi_states_watch(&states, in->candidates.data[k].value);
    in->inexact = hmi_states_inexact(&states);
    in->tolerance = hmi_zero_tolerance(in->bits, in->inexact);
    if (status == HM_OK)
        status = hmi_echelon_init(&s->rates, in->forms->allocator, columns, columns, in->bits,
                                  in->inexact);
    while (status == HM_OK && s->count < s->most && !are_enough(s, idle, columns)) {
        status = hmi_states_draw(&states);
        for (size_t k = 0; k < columns && status == HM_OK; k++) {
            arb_set(row + k, hmi_states_value(&states, k, 1));
            arb_set(arb_mat_entry(s->values, (slong)s->count, (slong)k),
                    hmi_states_value(&states, k, 0));
        }
        if (status != HM_OK)
            break;
        s->count++;
        idle = hmi_echelon_add(&s->rates, row, 1) == HMI_INDEPENDENT ? 0 : idle + 1;
    }
    if (status == HM_OK && !are_enough(s, idle, columns) && s->rates.rank < columns)
        status = HM_ERR_NUMERIC;
    hmi_states_release(&states);
    _arb_vec_clear(row, (slong)columns);
    return status;
}

/* ---- from coefficients to expressions ---- */

static double negligible(const hmi_conserved *in)
{
    return in->tolerance / 2;
}

static uint32_t clutter_of(const hmi_conserved *in, arb_mat_t vectors, slong row)
{
    uint32_t sum = 0;
    for (size_t k = 0; k < in->candidates.count; k++)
        if (!is_absent(in, arb_mat_entry(vectors, row, (slong)k)))
            sum += 1 + in->candidates.data[k].clutter;
    return sum;
}

/* The combination, and what kinds of candidates it holds (bits). */
static unsigned combine(hmi_conserved *in, arb_mat_t vectors, slong row, hmi_first_integral *out)
{
    hmi_graph *graph = &in->forms->graph;
    unsigned kinds = 0;
    bool exact = true;
    out->value = graph->zero;
    for (size_t k = 0; k < in->candidates.count; k++) {
        const hmi_candidate *c = &in->candidates.data[k];
        arb_srcptr x = arb_mat_entry(vectors, row, (slong)k);
        if (is_absent(in, x))
            continue;
        hmi_expr term = hmi_mul(graph, hmi_ball_number(graph, x, negligible(in), &exact), c->value);
        out->value = hmi_add(graph, out->value, term);
        kinds |= 1u << c->kind;
    }
    out->has_energy = kinds & 1u << HMI_ENERGY;
    out->exact = exact;
    return kinds;
}

/* ---- rates too small beside those of other candidates ---- */

/* A rounded factor leaves this much of the terms of a rate (log2). */
#define ROUNDED_FACTOR (-40.0)

/* log2 of the largest term of the combination's rate. */
static double largest_term(const hmi_conserved *in, const hmi_states *states, arb_mat_t vectors,
                           slong row)
{
    double most = -INFINITY;
    for (size_t k = 0; k < in->candidates.count; k++) {
        arb_srcptr factor = arb_mat_entry(vectors, row, (slong)k);
        if (!is_absent(in, factor))
            most = fmax(most, hmi_log2_above(factor) +
                                  hmi_log2_above(hmi_states_value(states, 1 + k, 1)));
    }
    return most;
}

/* Conditions are compared with the largest of all rates at a state, so that a force of exp(-10^6) is zero
 * beside one of 1. A combination whose own rate is proved to be nonzero is none all the same. */
static hm_status is_refuted(hmi_conserved *in, arb_mat_t vectors, slong row,
                            const hmi_first_integral *integral, bool *refuted)
{
    hmi_states states;
    *refuted = false;
    if (in->inexact)
        return HM_OK;
    hm_status status = hmi_states_init(&states, in->sampler, in->bits);
    if (status == HM_OK)
        status = hmi_states_watch(&states, integral->value);
    for (size_t k = 0; k < in->candidates.count && status == HM_OK; k++)
        status = hmi_states_watch(&states, in->candidates.data[k].value);
    for (int k = 0; k < HMI_STATES && status == HM_OK && !*refuted; k++) {
        status = hmi_states_draw(&states);
        if (status != HM_OK)
            break;
        double rate = hmi_log2_below(hmi_states_value(&states, 0, 1));
        *refuted = rate > -INFINITY &&
                   (integral->exact ||
                    rate > ROUNDED_FACTOR + largest_term(in, &states, vectors, row));
    }
    hmi_states_release(&states);
    return status;
}

hmi_expr hmi_conserved_size(hmi_conserved *in, hmi_expr value)
{
    hmi_graph *graph = &in->forms->graph;
    hmi_adjoint *adjoint = &in->forms->adjoint;
    hmi_expr size = hmi_apply(graph, HMI_ABS, value, HMI_NONE, HMI_NONE);
    if (hmi_gradient(adjoint, graph, value, HMI_SYM_VELOCITY) != HM_OK)
        return HMI_NONE;
    for (size_t k = 0; k < adjoint->partials.count; k++) {
        const hmi_partial *p = &adjoint->partials.data[k];
        hmi_expr part = hmi_mul(graph, p->value, hmi_symbol(graph, HMI_SYM_VELOCITY, p->index));
        size = hmi_add(graph, size, hmi_apply(graph, HMI_ABS, part, HMI_NONE, HMI_NONE));
    }
    return size;
}

/* ---- why ---- */

/* The generator behind a combination of momenta. */
static hm_status generator_of(hmi_conserved *in, arb_mat_t vectors, slong row,
                              hmi_generator *generator)
{
    hmi_graph *graph = &in->forms->graph;
    size_t n = in->forms->n;
    bool exact = true;
    generator->xi = hmi_arena_alloc(&in->generators->arena, (n + 1) * sizeof *generator->xi);
    if (!generator->xi)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        generator->xi[i] = graph->zero;
    for (size_t k = 0; k < in->candidates.count; k++) {
        const hmi_candidate *c = &in->candidates.data[k];
        arb_srcptr x = arb_mat_entry(vectors, row, (slong)k);
        if (is_absent(in, x))
            continue;
        hmi_expr number = hmi_ball_number(graph, x, negligible(in), &exact);
        generator->xi[c->i] = hmi_add(graph, generator->xi[c->i],
                                      hmi_mul(graph, number, c->factor));
    }
    in->generators->inexact |= !exact;
    return hmi_generator_complete(in->generators, generator);
}

static hm_status explain_momentum(hmi_conserved *in, arb_mat_t vectors, slong row,
                                  hmi_first_integral *out)
{
    hmi_generator generator = {.discovered = true};
    hm_status status = generator_of(in, vectors, row, &generator);
    if (status == HM_OK)
        status = hmi_generators_judge(in->generators, &generator, 1);
    if (status != HM_OK)
        return status;
    bool noether = generator.lagrangian == HM_ANSWER_YES && generator.workless == HM_ANSWER_YES &&
                   generator.horizontal == HM_ANSWER_YES;
    if (noether && in->forms->m)
        out->from = "nonholonomic Noether: the generator is a virtual displacement and leaves L "
                    "unchanged";
    else if (noether)
        out->from = "Noether: the generator leaves L unchanged";
    else
        out->from = "found at random states; not a symmetry that is a virtual displacement";
    return HM_OK;
}

/* Is the conserved q' dL/dq' - L the sum T + V? */
static hm_status is_sum_of_energies(hmi_conserved *in, bool *sum)
{
    const hmi_derived *d = &in->forms->system->derived;
    hmi_graph *graph = &in->forms->graph;
    hmi_states states;
    *sum = false;
    if (d->kinetic == HMI_NONE || d->potential == HMI_NONE)
        return HM_OK;
    hm_status status = hmi_states_init(&states, in->sampler, in->bits);
    hmi_expr rest = hmi_sub(graph, d->total, hmi_add(graph, d->kinetic, d->potential));
    if (status == HM_OK)
        status = hmi_states_watch(&states, rest);
    *sum = status == HM_OK;
    for (int k = 0; k < HMI_STATES && status == HM_OK; k++) {
        status = hmi_states_draw(&states);
        *sum = *sum && status == HM_OK &&
               hmi_log2_above(hmi_states_value(&states, 0, 0)) < in->tolerance;
    }
    hmi_states_release(&states);
    return status;
}

static hm_status explain(hmi_conserved *in, arb_mat_t vectors, slong row, unsigned kinds,
                         hmi_first_integral *out)
{
    bool sum = false;
    if (kinds == 1u << HMI_ENERGY) {
        const hmi_derived *d = &in->forms->system->derived;
        hm_status status = is_sum_of_energies(in, &sum);
        if (sum)
            out->value = hmi_add(&in->forms->graph, d->kinetic, d->potential);
        out->from =
            sum ? "energy: no force does work, and L does not depend on t"
                : "Jacobi integral: q' dL/dq' - L; no force does work, and L does not depend on t";
        return status;
    }
    if (kinds & 1u << HMI_ENERGY)
        out->from = "Jacobi integral: the energy and momenta together";
    else if (kinds == 1u << HMI_BODIES)
        out->from = "momentum of the bodies: no external force or moment along this direction";
    else if (kinds == 1u << HMI_MOMENTUM)
        return explain_momentum(in, vectors, row, out);
    else
        out->from = "linear in the velocities; found at random states";
    return HM_OK;
}

/* ---- what is new ---- */

/* The values of a combination at the sampled states. */
static void values_of(const samples *s, arb_mat_t vectors, slong row, slong bits, arb_ptr out)
{
    for (size_t k = 0; k < s->count; k++)
        arb_dot(out + k, NULL, 0, arb_mat_entry(s->values, (slong)k, 0), 1,
                arb_mat_entry(vectors, row, 0), 1, arb_mat_ncols(vectors), bits);
}

typedef struct rank_of {
    uint32_t clutter;
    slong row;
} rank_of;

static int simpler(const void *a, const void *b)
{
    const rank_of *x = a, *y = b;
    if (x->clutter != y->clutter)
        return x->clutter < y->clutter ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static hm_status keep(hmi_conserved *in, arb_mat_t vectors, slong row)
{
    hmi_first_integral integral = {0};
    unsigned kinds = combine(in, vectors, row, &integral);
    if (integral.value == HMI_NONE)
        return HM_ERR_NOMEM;
    integral.size = hmi_conserved_size(in, integral.value);
    if (integral.size == HMI_NONE)
        return HM_ERR_NOMEM;
    bool refuted;
    hm_status status = is_refuted(in, vectors, row, &integral, &refuted);
    if (status == HM_OK && !refuted)
        status = explain(in, vectors, row, kinds, &integral);
    if (status != HM_OK || refuted)
        return status;
    return hmi_array_push(in->forms->allocator, &in->list, integral) ? HM_OK : HM_ERR_NOMEM;
}

/* Simple ones first; each must be independent of constants and of those kept. */
static hm_status keep_new(hmi_conserved *in, const samples *s, arb_mat_t vectors)
{
    hmi_echelon known;
    slong count = arb_mat_nrows(vectors);
    rank_of *order = hmi_arena_alloc(&in->arena, ((size_t)count + 1) * sizeof *order);
    arb_ptr values = _arb_vec_init((slong)s->count);
    hm_status status = hmi_echelon_init(&known, in->forms->allocator, s->count, s->count, in->bits,
                                        in->inexact);
    if (status == HM_OK && !order)
        status = HM_ERR_NOMEM;
    for (size_t k = 0; k < s->count; k++)
        arb_one(values + k);
    if (status == HM_OK)
        (void)hmi_echelon_add(&known, values, 1);
    for (slong r = 0; r < count && status == HM_OK; r++)
        order[r] = (rank_of){clutter_of(in, vectors, r), r};
    if (status == HM_OK)
        qsort(order, (size_t)count, sizeof *order, simpler);
    for (slong k = 0; k < count && status == HM_OK; k++) {
        values_of(s, vectors, order[k].row, in->bits, values);
        if (hmi_echelon_add(&known, values, 1) == HMI_INDEPENDENT)
            status = keep(in, vectors, order[k].row);
    }
    hmi_echelon_release(&known);
    _arb_vec_clear(values, (slong)s->count);
    return status;
}

hm_status hmi_conserved_find(hmi_conserved *in)
{
    size_t columns = in->candidates.count;
    samples s = {.most = 2 * columns + 10};
    in->bits = HMI_STATE_BITS + BITS_A_CANDIDATE * (slong)columns;
    if (!columns)
        return HM_OK;
    arb_mat_init(s.values, (slong)s.most, (slong)columns);
    hm_status status = collect(in, &s);
    in->states = s.count;
    in->zero_bits = s.rates.zero == -INFINITY ? in->bits
                                              : (slong)fmin(-s.rates.zero, (double)in->bits);
    if (status == HM_OK) {
        arb_mat_t vectors;
        hmi_null_space(&s.rates, vectors);
        normalise(in, vectors);
        status = keep_new(in, &s, vectors);
        arb_mat_clear(vectors);
    }
    hmi_echelon_release(&s.rates);
    arb_mat_clear(s.values);
    return status;
}
