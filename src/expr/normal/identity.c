/* Atoms, and the identities between them: sin^2 + cos^2 = 1, cosh^2 - sinh^2 = 1, sqrt(u)^2 = u.
 *
 * Inside, polynomials are kept free of cos^2 and cosh^2 (hmi_poly_reduce), which makes the form
 * unique in sin u, cos u for independent arguments u. For display hmi_poly_shorten goes back.
 */
#include "expr/normal/poly.h"

/* ---- atoms ---- */

uint32_t hmi_atom_of(hmi_normal *s, hmi_expr e)
{
    hmi_normal_entry *record = e == HMI_NONE ? NULL : hmi_normal_entry_of(s, e);
    if (!record)
        return UINT32_MAX;
    if (record->atom != UINT32_MAX)
        return record->atom;
    if (!hmi_array_push(s->allocator, &s->atoms, ((hmi_atom){.e = e}))) {
        s->status = HM_ERR_NOMEM;
        return UINT32_MAX;
    }
    return record->atom = (uint32_t)s->atoms.count - 1;
}

hmi_op hmi_atom_op(const hmi_normal *s, uint32_t atom)
{
    hmi_expr e = s->atoms.data[atom].e;
    return e == HMI_NONE ? HMI_CONST : hmi_op_of(s->graph, e);
}

uint32_t hmi_atom_partner(hmi_normal *s, uint32_t atom, hmi_op op)
{
    hmi_expr operand = hmi_operand(s->graph, s->atoms.data[atom].e, 0);
    uint32_t other = hmi_atom_of(s, hmi_intern(s->graph, op, operand, 0, 0));
    if (other != UINT32_MAX)
        s->atoms.data[other].argument = s->atoms.data[atom].argument;
    return other;
}

/* ---- one way: squares that can be written without the atom ---- */

static bool has_square(const hmi_normal *s, uint32_t atom)
{
    hmi_op op = hmi_atom_op(s, atom);
    return op == HMI_COS || op == HMI_COSH || s->atoms.data[atom].square;
}

static const hmi_poly *square_of(hmi_normal *s, uint32_t atom)
{
    hmi_op op = hmi_atom_op(s, atom);
    if (op != HMI_COS && op != HMI_COSH)
        return s->atoms.data[atom].square;
    uint32_t sine = hmi_atom_partner(s, atom, op == HMI_COS ? HMI_SIN : HMI_SINH);
    const hmi_poly *sine2 = hmi_poly_atom(s, sine, 2);
    return op == HMI_COS ? hmi_poly_sub(s, s->one, sine2) : hmi_poly_add(s, s->one, sine2);
}

/* The first factor of a monomial that has a square to replace; NULL where none has. */
static const hmi_factor *reducible(const hmi_normal *s, hmi_monomial m)
{
    for (uint32_t i = 0; i < m.count; i++)
        if (m.factors[i].power >= 2 && has_square(s, m.factors[i].atom))
            return &m.factors[i];
    return NULL;
}

static const hmi_poly *reduce_term(hmi_normal *s, const hmi_poly_term *term,
                                   const hmi_factor *factor)
{
    hmi_monomial rest;
    if (!hmi_monomial_with(s, term->monomial, factor->atom, factor->power % 2, &rest))
        return NULL;
    const hmi_poly *squares = hmi_poly_pow(s, square_of(s, factor->atom),
                                           (uint32_t)factor->power / 2);
    return hmi_poly_scale(s, squares, term->coefficient, rest);
}

static const hmi_poly *reduce_once(hmi_normal *s, const hmi_poly *a, bool *changed)
{
    hmi_poly_term *kept = hmi_normal_alloc(s, a->count * sizeof *kept);
    hmi_poly *rest = hmi_normal_alloc(s, sizeof *rest);
    if (!kept || !rest)
        return NULL;
    const hmi_poly *sum = s->zero;
    for (uint32_t i = 0; i < a->count; i++) {
        const hmi_factor *factor = reducible(s, a->terms[i].monomial);
        if (factor)
            sum = hmi_poly_add(s, sum, reduce_term(s, &a->terms[i], factor));
        else
            kept[rest->count++] = a->terms[i];
    }
    *changed = rest->count < a->count;
    rest->terms = kept;
    return *changed ? hmi_poly_add(s, rest, sum) : a;
}

const hmi_poly *hmi_poly_reduce(hmi_normal *s, const hmi_poly *a)
{
    bool changed = a != NULL;
    while (changed && a)
        a = reduce_once(s, a, &changed);
    return a;
}

/* ---- the way back: shortest in the squares of one sine and cosine ---- */

enum { MOST_SQUARES = 12, MOST_SINES = 100 };

/* Terms that differ only in even powers of one sine: rest * sum of c[k] S^(low + k), S = sin^2. */
typedef struct squares {
    hmi_coefficient c[MOST_SQUARES + 1];
    int low, degree;
    int sign; /* cos^2 = 1 + sign S: -1 for sine, +1 for sinh */
} squares;

/* The same sum as S^low C^cosines * sum of c[k] X^k, X = C or S. */
typedef struct squares_form {
    squares sum;
    int cosines;
    bool in_cosine;
} squares_form;

static int floor_half(int k)
{
    return k >= 0 ? k / 2 : -((1 - k) / 2);
}

/* c / (1 + sign S) where that is exact. */
static bool divide_by_cosine(hmi_normal *s, squares *sum)
{
    squares q = *sum;
    hmi_coefficient sign = {-sum->sign, 1, false};
    for (int k = 1; k <= sum->degree; k++)
        q.c[k] = hmi_coefficient_add(s, sum->c[k], hmi_coefficient_mul(s, sign, q.c[k - 1]));
    if (sum->degree == 0 || q.c[sum->degree].n != 0)
        return false;
    q.degree--;
    *sum = q;
    return true;
}

/* S = sign (C - 1), by Horner's rule. */
static void substitute_cosine(hmi_normal *s, squares *sum)
{
    squares r = {.low = sum->low, .degree = 0, .sign = sum->sign, .c = {{0, 1, false}}};
    hmi_coefficient plus = {sum->sign, 1, false}, minus = {-sum->sign, 1, false};
    for (int k = sum->degree; k >= 0; k--) {
        squares next = {.low = r.low, .degree = sum->degree - k, .sign = r.sign};
        for (int i = 0; i <= next.degree; i++) {
            hmi_coefficient c = {0, 1, false};
            if (i <= r.degree)
                c = hmi_coefficient_mul(s, minus, r.c[i]);
            if (i > 0)
                c = hmi_coefficient_add(s, c, hmi_coefficient_mul(s, plus, r.c[i - 1]));
            next.c[i] = c;
        }
        next.c[0] = hmi_coefficient_add(s, next.c[0], sum->c[k]);
        r = next;
    }
    *sum = r;
}

static void drop_low_zeros(squares *sum)
{
    int zeros = 0;
    while (zeros < sum->degree && sum->c[zeros].n == 0)
        zeros++;
    for (int k = zeros; zeros && k <= sum->degree; k++)
        sum->c[k - zeros] = sum->c[k];
    sum->degree -= zeros;
    sum->low += zeros;
}

/* Fewer terms, then fewer minus signs, then fewer factors. */
static int length_of(const squares_form *form)
{
    int length = 0;
    for (int k = 0; k <= form->sum.degree; k++)
        if (form->sum.c[k].n)
            length += 16 + 2 * (form->sum.c[k].n < 0);
    return length + (form->cosines > 0);
}

static void keep_shorter(squares_form *best, const squares_form *form)
{
    if (length_of(form) < length_of(best))
        *best = *form;
}

static squares_form shortest_form(hmi_normal *s, squares sum)
{
    squares_form best = {sum, 0, false};
    for (int cosines = 0;; cosines++) {
        squares_form form = {sum, cosines, false};
        keep_shorter(&best, &form);
        form.in_cosine = true;
        substitute_cosine(s, &form.sum);
        keep_shorter(&best, &form);
        form.sum = sum;
        drop_low_zeros(&form.sum);
        substitute_cosine(s, &form.sum);
        keep_shorter(&best, &form);
        if (s->exceeded || !divide_by_cosine(s, &sum))
            return best;
    }
}

static const hmi_poly *add_form(hmi_normal *s, const hmi_poly *sum, const squares_form *form,
                                hmi_monomial rest, uint32_t sine, uint32_t cosine)
{
    for (int k = 0; k <= form->sum.degree; k++) {
        if (form->sum.c[k].n == 0)
            continue;
        int sines = form->sum.low + (form->in_cosine ? 0 : k);
        int cosines = form->cosines + (form->in_cosine ? k : 0);
        hmi_monomial m;
        if (!hmi_monomial_with(s, rest, sine, hmi_monomial_power(rest, sine) + 2 * sines, &m) ||
            !hmi_monomial_with(s, m, cosine, hmi_monomial_power(rest, cosine) + 2 * cosines, &m))
            return NULL;
        sum = hmi_poly_add_scaled(s, sum, s->one, form->sum.c[k], m);
    }
    return sum;
}

/* The terms of a, from the first on, that share its rest; they are marked as taken. */
static bool collect_group(hmi_normal *s, const hmi_poly *a, uint32_t first, uint32_t sine,
                          bool *taken, squares *sum, hmi_monomial *rest)
{
    int powers[HMI_MOST_TERMS], low = INT32_MAX, high = INT32_MIN;
    uint32_t members[HMI_MOST_TERMS], count = 0;
    if (!hmi_monomial_with(s, a->terms[first].monomial, sine,
                           hmi_monomial_power(a->terms[first].monomial, sine) & 1, rest))
        return false;
    for (uint32_t i = first; i < a->count; i++) {
        hmi_monomial other;
        int power = hmi_monomial_power(a->terms[i].monomial, sine);
        if (taken[i] || !hmi_monomial_with(s, a->terms[i].monomial, sine, power & 1, &other) ||
            hmi_monomial_compare(other, *rest) != 0)
            continue;
        members[count] = i;
        powers[count++] = floor_half(power);
        low = floor_half(power) < low ? floor_half(power) : low;
        high = floor_half(power) > high ? floor_half(power) : high;
    }
    if (count == 0) /* no memory */
        return false;
    *sum = (squares){.low = low, .degree = high - low, .sign = sum->sign};
    if (high - low > MOST_SQUARES || !hmi_normal_go(s, a->count))
        return false;
    for (int k = 0; k <= sum->degree; k++)
        sum->c[k] = (hmi_coefficient){0, 1, false};
    for (uint32_t i = 0; i < count; i++) {
        taken[members[i]] = true;
        sum->c[powers[i] - low] = a->terms[members[i]].coefficient;
    }
    return true;
}

static const hmi_poly *shorten_by(hmi_normal *s, const hmi_poly *a, uint32_t sine)
{
    bool taken[HMI_MOST_TERMS] = {false};
    bool circular = hmi_atom_op(s, sine) == HMI_SIN;
    uint32_t cosine = hmi_atom_partner(s, sine, circular ? HMI_COS : HMI_COSH);
    const hmi_poly *sum = s->zero;
    for (uint32_t i = 0; i < a->count && sum; i++) {
        squares group = {.sign = circular ? -1 : 1};
        hmi_monomial rest;
        if (taken[i])
            continue;
        if (!collect_group(s, a, i, sine, taken, &group, &rest))
            return NULL;
        squares_form form = shortest_form(s, group);
        sum = add_form(s, sum, &form, rest, sine, cosine);
    }
    return sum;
}

/* Sines with a square or a negative power somewhere in a. */
static bool worth_shortening(const hmi_normal *s, hmi_factor factor)
{
    hmi_op op = hmi_atom_op(s, factor.atom);
    return (op == HMI_SIN || op == HMI_SINH) && (factor.power >= 2 || factor.power < 0);
}

const hmi_poly *hmi_poly_shorten(hmi_normal *s, const hmi_poly *a)
{
    uint32_t done[MOST_SINES], done_count = 0;
    const hmi_poly *result = a;
    for (uint32_t i = 0; a && i < a->count; i++) {
        for (uint32_t k = 0; k < a->terms[i].monomial.count; k++) {
            hmi_factor factor = a->terms[i].monomial.factors[k];
            bool known = !worth_shortening(s, factor) || done_count == MOST_SINES;
            for (uint32_t j = 0; j < done_count && !known; j++)
                known = done[j] == factor.atom;
            if (known)
                continue;
            done[done_count++] = factor.atom;
            const hmi_poly *shorter = result ? shorten_by(s, result, factor.atom) : NULL;
            result = shorter ? shorter : result;
            if (!hmi_normal_forgive(s))
                return NULL;
        }
    }
    return result;
}
