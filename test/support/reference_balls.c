/* The printed equations in balls of 256 bits: accelerations at one state. */
#include "support/reference.h"

#include <arb_mat.h>

enum { WIDE = 2 * REFERENCE_SIZE };

/* Complete pivoting by midpoints; a rest below 2^-150 is redundancy. False where a pivot may be zero. */
static bool eliminate_balls(slong size, arb_mat_t K, arb_mat_t f, arb_mat_t x)
{
    slong order[WIDE], rank = size;
    arf_t first, most, entry;
    arb_t t;
    arf_init(first);
    arf_init(most);
    arf_init(entry);
    arb_init(t);
    for (slong i = 0; i < size; i++)
        order[i] = i;
    for (slong k = 0; k < rank; k++) {
        slong row = k, column = k;
        arf_zero(most);
        for (slong i = k; i < size; i++)
            for (slong j = k; j < size; j++) {
                arf_abs(entry, arb_midref(arb_mat_entry(K, i, j)));
                if (arf_cmp(entry, most) > 0) {
                    arf_set(most, entry);
                    row = i;
                    column = j;
                }
            }
        if (k == 0)
            arf_mul_2exp_si(first, most, -150);
        if (arf_cmp(most, first) <= 0) {
            rank = k;
            break;
        }
        arb_mat_swap_rows(K, NULL, k, row);
        arb_mat_swap_rows(f, NULL, k, row);
        for (slong i = 0; i < size; i++)
            arb_swap(arb_mat_entry(K, i, k), arb_mat_entry(K, i, column));
        slong number = order[k];
        order[k] = order[column];
        order[column] = number;
        for (slong i = k + 1; i < size; i++) {
            arb_div(t, arb_mat_entry(K, i, k), arb_mat_entry(K, k, k), REFERENCE_BITS);
            for (slong j = k; j < size; j++)
                arb_submul(arb_mat_entry(K, i, j), t, arb_mat_entry(K, k, j), REFERENCE_BITS);
            arb_submul(arb_mat_entry(f, i, 0), t, arb_mat_entry(f, k, 0), REFERENCE_BITS);
        }
    }
    arb_mat_zero(x);
    for (slong k = rank; k-- > 0;) {
        arb_set(t, arb_mat_entry(f, k, 0));
        for (slong j = k + 1; j < rank; j++)
            arb_submul(t, arb_mat_entry(K, k, j), arb_mat_entry(x, order[j], 0), REFERENCE_BITS);
        arb_div(arb_mat_entry(x, order[k], 0), t, arb_mat_entry(K, k, k), REFERENCE_BITS);
    }
    arf_clear(first);
    arf_clear(most);
    arf_clear(entry);
    arb_clear(t);
    return arb_mat_is_finite(x);
}

static bool solve_balls(const reference_model *r, arb_srcptr values, bool with_C, arb_mat_t x)
{
    slong n = (slong)r->n, size = n + (slong)r->m;
    arb_mat_t K, f;
    arb_mat_init(K, size, size);
    arb_mat_init(f, size, 1);
    for (size_t k = 0; k < r->M_count; k++) {
        slong i = (slong)r->M[k].row, j = (slong)r->M[k].column;
        arb_set(arb_mat_entry(K, i, j), values + r->M[k].e);
        arb_set(arb_mat_entry(K, j, i), values + r->M[k].e);
    }
    for (size_t k = 0; k < r->A_count; k++) {
        slong i = n + (slong)r->A[k].row, j = (slong)r->A[k].column;
        arb_set(arb_mat_entry(K, i, j), values + r->A[k].e);
        arb_neg(arb_mat_entry(K, j, i), values + r->A[k].e);
    }
    for (slong i = 0; i < n; i++) {
        arb_set(arb_mat_entry(f, i, 0), values + r->Q[i]);
        if (with_C)
            arb_add(arb_mat_entry(f, i, 0), arb_mat_entry(f, i, 0), values + r->C[i],
                    REFERENCE_BITS);
    }
    for (slong i = n; i < size; i++)
        arb_set(arb_mat_entry(f, i, 0), values + r->b[i - n]);
    bool good = eliminate_balls(size, K, f, x);
    arb_mat_clear(K);
    arb_mat_clear(f);
    return good;
}

static void tell_balls(const reference_model *r, arb_srcptr values, const arb_mat_t x, int kind,
                       arb_ptr names)
{
    for (size_t i = 0; i < r->n; i++)
        arb_zero(names + r->force[kind][i]);
    for (size_t k = 0; k < r->A_count; k++)
        arb_addmul(names + r->force[kind][r->A[k].column], values + r->A[k].e,
                   arb_mat_entry(x, (slong)(r->n + r->A[k].row), 0), REFERENCE_BITS);
    for (size_t i = 0; i < r->m; i++)
        arb_set(names + r->multiplier[kind][i], arb_mat_entry(x, (slong)(r->n + i), 0));
}

/* The midpoints only: iteration of a law makes balls grow that the solution does not have. */
static void drop_radii(arb_mat_t x)
{
    for (slong i = 0; i < arb_mat_nrows(x); i++)
        mag_zero(arb_radref(arb_mat_entry(x, i, 0)));
}

bool reference_acceleration(reference_model *r, double t, const double *y, double *qdd)
{
    arb_ptr names = _arb_vec_init(REFERENCE_NAMES), values = _arb_vec_init(r->g.count);
    arb_mat_t x;
    bool good = true;
    arb_mat_init(x, (slong)(r->n + r->m), 1);
    for (size_t i = 0; i < r->g.names.count; i++)
        arb_set_d(names + i, (double)r->value[i]);
    arb_set_d(names + r->t, t);
    for (size_t i = 0; i < r->n; i++) {
        arb_set_d(names + r->q[i], y[i]);
        arb_set_d(names + r->v[i], y[r->n + i]);
    }
    for (size_t i = 0; i < r->states; i++)
        arb_set_d(names + r->z[i], y[2 * r->n + i]);
    for (size_t i = 0; i <= r->inputs; i++) {
        reference_evaluate_balls(&r->g, names, values);
        if (i < r->inputs)
            arb_set(names + r->u[i], values + r->input[i]);
    }
    if (r->uses[0]) {
        good = solve_balls(r, values, false, x);
        tell_balls(r, values, x, 0, names);
        reference_evaluate_balls(&r->g, names, values);
    }
    good = good && solve_balls(r, values, true, x);
    for (int k = 0; good && r->uses[1] && k < 400; k++) {
        drop_radii(x);
        tell_balls(r, values, x, 1, names);
        reference_evaluate_balls(&r->g, names, values);
        good = solve_balls(r, values, true, x);
    }
    for (size_t i = 0; i < r->n; i++)
        qdd[i] = arf_get_d(arb_midref(arb_mat_entry(x, (slong)i, 0)), ARF_RND_NEAR);
    arb_mat_clear(x);
    _arb_vec_clear(names, REFERENCE_NAMES);
    _arb_vec_clear(values, r->g.count);
    return good;
}
