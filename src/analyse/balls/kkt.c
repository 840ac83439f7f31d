/* Solves the equations of motion at one state. By blocks,
 *     G lambda = b - A M^-1 F,   G = A M^-1 A^T,   q'' = M^-1 F + M^-1 A^T lambda,
 * takes an eighth of the work of the whole matrix [M -A^T; A 0], and less where M is diagonal. The
 * whole matrix is solved where M has no inverse, where its inverse costs too many digits, and where
 * the system is small, since that loses fewer digits.
 */
#include "analyse/balls/kkt.h"

enum { MOST_LOST = 48 }; /* bits */
enum { SMALL = 24 };     /* rows */

/* ---- by blocks ---- */

static bool is_diagonal(const arb_mat_t M)
{
    for (slong i = 0; i < arb_mat_nrows(M); i++)
        for (slong j = 0; j < arb_mat_ncols(M); j++)
            if (i != j && !arb_is_zero(arb_mat_entry(M, i, j)))
                return false;
    return true;
}

/* Y := M^-1 Y */
static bool divide_by_mass(const arb_mat_t M, arb_mat_t Y, slong precision)
{
    if (!is_diagonal(M))
        return arb_mat_solve(Y, M, Y, precision);
    for (slong i = 0; i < arb_mat_nrows(Y); i++) {
        arb_srcptr inertia = arb_mat_entry(M, i, i);
        if (arb_contains_zero(inertia))
            return false;
        _arb_vec_scalar_div(Y->rows[i], Y->rows[i], arb_mat_ncols(Y), inertia, precision);
    }
    return true;
}

/* Y (n x (r + 1)): M^-1 A^T, M^-1 F. G (r x (r + 1)): A of these. */
static bool find_multipliers(const arb_mat_t A, const arb_mat_t b, const arb_mat_t Y, arb_mat_t G,
                             arb_mat_t lambda, slong precision)
{
    slong r = arb_mat_nrows(A);
    arb_mat_t square;
    if (r == 0)
        return true;
    arb_mat_mul(G, A, Y, precision);
    for (slong i = 0; i < r; i++)
        arb_sub(arb_mat_entry(lambda, i, 0), arb_mat_entry(b, i, 0), arb_mat_entry(G, i, r),
                precision);
    arb_mat_window_init(square, G, 0, 0, r, r);
    bool solved = arb_mat_solve(lambda, square, lambda, precision);
    arb_mat_window_clear(square);
    return solved;
}

static bool solve_blocks(const arb_mat_t M, const arb_mat_t A, const arb_mat_t F, const arb_mat_t b,
                         arb_mat_t qdd, arb_mat_t lambda, slong precision)
{
    slong n = arb_mat_nrows(M), r = arb_mat_nrows(A);
    arb_mat_t Y, G;
    arb_mat_init(Y, n, r + 1);
    arb_mat_init(G, r, r + 1);
    for (slong i = 0; i < n; i++) {
        for (slong k = 0; k < r; k++)
            arb_set(arb_mat_entry(Y, i, k), arb_mat_entry(A, k, i));
        arb_set(arb_mat_entry(Y, i, r), arb_mat_entry(F, i, 0));
    }
    bool solved = divide_by_mass(M, Y, precision) &&
                  find_multipliers(A, b, Y, G, lambda, precision);
    for (slong i = 0; solved && i < n; i++) {
        arb_ptr out = arb_mat_entry(qdd, i, 0);
        arb_set(out, arb_mat_entry(Y, i, r));
        for (slong k = 0; k < r; k++)
            arb_addmul(out, arb_mat_entry(Y, i, k), arb_mat_entry(lambda, k, 0), precision);
    }
    arb_mat_clear(Y);
    arb_mat_clear(G);
    return solved;
}

/* ---- the whole ---- */

static bool solve_whole(const arb_mat_t M, const arb_mat_t A, const arb_mat_t F, const arb_mat_t b,
                        arb_mat_t qdd, arb_mat_t lambda, slong precision)
{
    slong n = arb_mat_nrows(M), r = arb_mat_nrows(A);
    arb_mat_t K, x;
    arb_mat_init(K, n + r, n + r);
    arb_mat_init(x, n + r, 1);
    for (slong i = 0; i < n + r; i++)
        arb_set(arb_mat_entry(x, i, 0),
                i < n ? arb_mat_entry(F, i, 0) : arb_mat_entry(b, i - n, 0));
    for (slong j = 0; j < n; j++) {
        for (slong i = 0; i < n; i++)
            arb_set(arb_mat_entry(K, i, j), arb_mat_entry(M, i, j));
        for (slong k = 0; k < r; k++) {
            arb_set(arb_mat_entry(K, n + k, j), arb_mat_entry(A, k, j));
            arb_neg(arb_mat_entry(K, j, n + k), arb_mat_entry(A, k, j));
        }
    }
    bool solved = arb_mat_solve(x, K, x, precision);
    for (slong i = 0; solved && i < n + r; i++)
        arb_set(i < n ? arb_mat_entry(qdd, i, 0) : arb_mat_entry(lambda, i - n, 0),
                arb_mat_entry(x, i, 0));
    arb_mat_clear(K);
    arb_mat_clear(x);
    return solved;
}

/* ---- which of the two ---- */

/* The largest radius beside the largest number, at least `least`. */
static void widen(mag_t least, const arb_mat_t x)
{
    mag_t size, radius;
    mag_init(size);
    mag_init(radius);
    arb_mat_bound_inf_norm(size, x);
    for (slong i = 0; i < arb_mat_nrows(x); i++)
        for (slong j = 0; j < arb_mat_ncols(x); j++)
            mag_max(radius, radius, arb_radref(arb_mat_entry(x, i, j)));
    if (!mag_is_zero(radius)) {
        mag_div(radius, radius, size);
        mag_max(least, least, radius);
    }
    mag_clear(size);
    mag_clear(radius);
}

/* Are the balls of the answer as small as those of the data lead one to expect? */
static bool is_sharp(const arb_mat_t M, const arb_mat_t A, const arb_mat_t F, const arb_mat_t b,
                     const arb_mat_t qdd, const arb_mat_t lambda, slong precision)
{
    mag_t given, found;
    mag_init(given);
    mag_init(found);
    mag_set_ui_2exp_si(given, 1, -precision);
    widen(given, M);
    widen(given, A);
    widen(given, F);
    widen(given, b);
    widen(found, qdd);
    widen(found, lambda);
    mag_mul_2exp_si(given, given, MOST_LOST);
    bool sharp = mag_cmp(found, given) <= 0;
    mag_clear(given);
    mag_clear(found);
    return sharp;
}

bool hmi_kkt_solve(const arb_mat_t M, const arb_mat_t A, const arb_mat_t F, const arb_mat_t b,
                   arb_mat_t qdd, arb_mat_t lambda, slong precision)
{
    return (arb_mat_nrows(M) + arb_mat_nrows(A) > SMALL &&
            solve_blocks(M, A, F, b, qdd, lambda, precision) &&
            is_sharp(M, A, F, b, qdd, lambda, precision)) ||
           solve_whole(M, A, F, b, qdd, lambda, precision);
}
