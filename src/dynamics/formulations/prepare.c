/* The problem made ready: units, rank of A, definiteness of M, what is determined.
 *
 * The rank of A is decided on A^ = R A D, never on A M^-1 A^T (which squares the condition) and not
 * on A L^-T either (whose rounding errors grow with the condition of M): rank A does not depend on
 * M. Rows have unit length, so the length left of a row after projection is its angle with the
 * others; rows whose entries are but the rounding errors of larger terms are shorter (respect_noise).
 *
 * q'' is unique where M is nonsingular on the null space of A: N M N^T has no eigenvalue 0. For
 * M >= 0 that is rank [M | A^T] = n [UW (2.7)]; for indefinite M it is not (errata 2.9).
 * Verified: test/unit/dynamics/test_verdict.c, test/physics/test_properties.c
 */
#include "dynamics/formulations/workspace.h"

/* What is not larger than the bound of its error is zero. */
static void copy_entries(int count, const double *from, const double *error, double *to)
{
    hmi_copy(count, from, to);
    for (int k = 0; error && k < count; k++)
        if (fabs(from[k]) <= error[k] && isfinite(error[k]))
            to[k] = 0;
}

static void copy_problem(hmi_dynamics *d, const hmi_equations *e)
{
    copy_entries(d->n * d->n, e->M, e->M_error, d->M);
    copy_entries(d->m * d->n, e->A, e->A_error, d->A);
    for (int i = 0; i < d->m; i++)
        if (d->left_out[i])
            hmi_zero(d->n, d->A + hmi_area(i, d->n));
}

/* The length of the errors of a row in units of the coordinates; those that are not known count
 * nothing here (hmi_find_evidence says that they are not known). */
static double row_noise(const hmi_dynamics *d, const double *error)
{
    double sum = 0;
    for (int j = 0; j < d->n; j++)
        sum = isfinite(error[j]) ? hypot(sum, error[j] * d->D[j]) : sum;
    return sum;
}

/* Rows have unit length, unless that would blow their errors up beyond what the rank tolerance
 * covers: such a row stays as short as its errors demand. All errors together are then less than half
 * of the tolerance, and one tolerance serves all rows. */
static void respect_noise(hmi_dynamics *d, const double *A_error)
{
    double most = d->rank_tolerance / (2 * sqrt((double)d->m));
    d->A_noise = 0;
    for (int i = 0; i < d->m; i++) {
        double noise = row_noise(d, A_error + hmi_area(i, d->n));
        if (noise * d->R[i] > most)
            d->R[i] = hmi_power_of_two(noise / most);
        d->A_noise = hypot(d->A_noise, noise * d->R[i]);
    }
}

/* Entries that may be rounding errors (0 on paper, or as good as that) are blown up by the unit of a light
 * coordinate, and with them the noise of rows that have nothing to do with it: it gets a heavier unit. */
static double quiet_unit(const hmi_dynamics *d, const double *A_error, int j, double most)
{
    double unit = d->D[j];
    for (int i = 0; i < d->m; i++) {
        const double *row = d->A + hmi_area(i, d->n), *error = A_error + hmi_area(i, d->n);
        double size = 0;
        if (!isfinite(error[j]) || fabs(row[j]) > 1000 * error[j])
            continue;
        for (int k = 0; k < d->n; k++)
            if (k != j && d->D[k] <= unit)
                size = fmax(size, fabs(row[k]) * d->D[k]);
        if (size > 0 && error[j] * unit > most * size)
            unit = hmi_power_of_two(error[j] / (most * size));
    }
    return unit;
}

/* Only units that are far above the smallest one are changed, and not below it. */
static void quiet_units(hmi_dynamics *d, const double *A_error)
{
    double most = d->rank_tolerance / (2 * sqrt((double)d->m)), least = INFINITY;
    for (int j = 0; j < d->n; j++)
        least = fmin(least, d->D[j]);
    bool changed = false;
    for (int j = 0; j < d->n; j++) {
        double unit = d->D[j] > 1000 * least ? fmax(quiet_unit(d, A_error, j, most), least)
                                             : d->D[j];
        changed |= unit != d->D[j];
        d->D[j] = unit;
    }
    if (changed)
        hmi_equilibrate_rows(d->n, d->m, d->A, d->D, d->R);
}

static double mass_noise(const hmi_dynamics *d, const double *M_error)
{
    double sum = 0;
    for (int i = 0; i < d->n; i++)
        sum = hypot(sum, row_noise(d, M_error + hmi_area(i, d->n)) * d->D[i]);
    return sum;
}

/* Beside entries of unit size these cannot matter, and their squares underflow. */
static double without_dust(double x)
{
    return fabs(x) < 0x1p-256 ? 0 : x;
}

static void scale_problem(hmi_dynamics *d, const hmi_equations *e)
{
    int n = d->n;
    copy_problem(d, e);
    hmi_equilibrate(n, d->m, d->M, d->A, d->D, d->R);
    d->A_noise = d->M_noise = 0;
    if (e->A_error && d->m) {
        quiet_units(d, e->A_error);
        respect_noise(d, e->A_error);
    }
    if (e->M_error)
        d->M_noise = mass_noise(d, e->M_error);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            d->M[hmi_area(i, n) + (size_t)j] = without_dust(d->M[hmi_area(i, n) + (size_t)j] *
                                                            d->D[i] * d->D[j]);
    for (int i = 0; i < d->m; i++)
        for (int j = 0; j < n; j++)
            d->A[hmi_area(i, n) + (size_t)j] = without_dust(d->A[hmi_area(i, n) + (size_t)j] *
                                                            (d->D[j] * d->R[i]));
}

/* d->A := its rows in pivot order, by way of the scratch memory */
static void permute_rows(hmi_dynamics *d)
{
    size_t mark = d->scratch_used;
    double *copy = hmi_take(d, hmi_area(d->m, d->n));
    hmi_copy(d->m * d->n, d->A, copy);
    for (int k = 0; k < d->m; k++)
        hmi_copy(d->n, copy + hmi_area(d->order[k], d->n), d->A + hmi_area(k, d->n));
    d->scratch_used = mark;
}

/* F = R^-1 [R1 R12]^T, see row_space.c */
static void factor_graded(hmi_dynamics *d)
{
    size_t mark = d->scratch_used;
    double *F = hmi_take(d, hmi_area(d->m, d->rank));
    for (int k = 0; k < d->m; k++)
        for (int i = 0; i < d->rank; i++)
            F[hmi_area(k, d->rank) + (size_t)i] = i > k ? 0
                                                        : d->QR[hmi_area(k, d->n) + (size_t)i] /
                                                              d->R[d->order[k]];
    hmi_graded_factor(&d->graded, d->m, d->rank, F, d->graded_doubles, d->graded_ints);
    d->scratch_used = mark;
}

void hmi_prepare_constraints(hmi_dynamics *d, const hmi_equations *equations)
{
    int n = d->n, m = d->m;
    scale_problem(d, equations);
    hmi_copy(m * n, d->A, d->QR);
    d->rank = hmi_qr(n, m, d->QR, d->tau, d->order, d->most_rank > 0 ? d->most_rank : m,
                     d->rank_tolerance);
    permute_rows(d);
    hmi_qr_basis(n, d->rank, d->QR, d->tau, n, d->Z);
    if (d->rank < m)
        factor_graded(d);
}

bool hmi_prepare_right_side(hmi_dynamics *d, const double *b, double tolerance)
{
    size_t mark = d->scratch_used;
    double *all = hmi_take(d, (size_t)d->m), *raw = hmi_take(d, (size_t)d->m);
    for (int k = 0; k < d->m; k++) {
        raw[k] = d->left_out[d->order[k]] ? 0 : b[d->order[k]];
        d->b[k] = raw[k] * d->R[d->order[k]];
    }
    double worst = 0, size = hmi_complete_rows(d, d->b, all);
    for (int k = d->rank; k < d->m; k++)
        worst = fmax(worst, fabs(all[k] - d->b[k]));
    /* a row within the tolerated angle of the others may differ by that much of q'' */
    d->b_tolerance = tolerance + d->rank_tolerance * size;
    bool consistent = worst <= d->b_tolerance;
    if (!consistent) {
        hmi_graded_project(&d->graded, raw);
        for (int k = 0; k < d->m; k++)
            d->b[k] = raw[k] * d->R[d->order[k]];
    }
    d->scratch_used = mark;
    return consistent;
}

/* The rank of an indefinite M by its eigenvalues. */
static int rank_by_eigenvalues(hmi_dynamics *d)
{
    size_t mark = d->scratch_used;
    int n = d->n, rank = 0;
    double *copy = hmi_take(d, hmi_area(n, n)), *values = hmi_take(d, (size_t)n);
    double *vectors = hmi_take(d, hmi_area(n, n));
    hmi_copy(n * n, d->M, copy);
    hmi_eigen(n, copy, values, vectors);
    double zero = 4 * d->mass_tolerance * hmi_max_abs(n, values);
    for (int i = 0; i < n; i++)
        rank += fabs(values[i]) > zero;
    d->scratch_used = mark;
    return rank;
}

static void judge_mass(hmi_dynamics *d, hmi_effort effort)
{
    size_t mark = d->scratch_used;
    int n = d->n;
    double *copy = hmi_take(d, hmi_area(n, n));
    hmi_copy(n * n, d->M, copy);
    d->rank_M = hmi_positive_rank(n, copy, d->mass_tolerance * d->mass_size);
    d->mass = d->rank_M == n ? HMI_DEFINITE : d->rank_M < 0 ? HMI_INDEFINITE : HMI_SEMIDEFINITE;
    if (d->mass == HMI_INDEFINITE && effort >= HMI_VERDICT)
        d->rank_M = rank_by_eigenvalues(d);
    d->scratch_used = mark;
}

/* H := N M N^T (freedom x freedom) */
static void reduced_mass(hmi_dynamics *d, double *H)
{
    size_t mark = d->scratch_used;
    int n = d->n, freedom = n - d->rank;
    const double *N = d->Z + hmi_area(d->rank, n);
    double *row = hmi_take(d, (size_t)n);
    for (int i = 0; i < freedom; i++) {
        hmi_matvec(n, n, d->M, N + hmi_area(i, n), row);
        hmi_matvec(freedom, n, N, row, H + hmi_area(i, freedom));
    }
    d->scratch_used = mark;
}

/* d->W := directions of the null space of A that M does not see */
static void find_undetermined(hmi_dynamics *d)
{
    size_t mark = d->scratch_used;
    int n = d->n, freedom = n - d->rank;
    double *H = hmi_take(d, hmi_area(freedom, freedom)), *values = hmi_take(d, (size_t)freedom);
    double *vectors = hmi_take(d, hmi_area(freedom, freedom));
    double zero = 16 * d->mass_tolerance * d->mass_size;
    reduced_mass(d, H);
    hmi_copy(freedom * freedom, H, vectors);
    bool positive = hmi_positive_rank(freedom, vectors, zero) == freedom;
    if (!positive)
        hmi_eigen(freedom, H, values, vectors);
    for (int k = 0; !positive && k < freedom; k++) {
        if (fabs(values[k]) > zero)
            continue;
        double *w = d->W + hmi_area(d->undetermined++, n);
        hmi_zero(n, w);
        hmi_mul_transposed(freedom, n, 1, d->Z + hmi_area(d->rank, n),
                           vectors + hmi_area(k, freedom), w);
    }
    d->scratch_used = mark;
}

/* The smallest pivot of L L^T; the diagonal of M is of about unit size. */
static double smallest_pivot(int n, const double *L)
{
    double least = INFINITY;
    for (int i = 0; i < n; i++) {
        double root = L[hmi_area(i, n) + (size_t)i];
        least = fmin(least, root * root);
    }
    return least;
}

/* A large pivot proves M > 0. A small one may be left over from a singular M by rounding errors
 * that an ill-conditioned leading block has blown up: then pivoting decides. */
static void prepare_mass(hmi_dynamics *d, hmi_effort effort)
{
    int n = d->n;
    hmi_copy(n * n, d->M, d->L);
    d->mass = HMI_DEFINITE;
    d->rank_M = n;
    d->undetermined = 0;
    d->mass_size = fmax(hmi_max_abs(n * n, d->M), HMI_EPSILON);
    d->cholesky = hmi_cholesky(n, d->L, d->mass_tolerance);
    if (d->cholesky && smallest_pivot(n, d->L) > HMI_SURELY_POSITIVE)
        return;
    judge_mass(d, effort);
    if (d->mass == HMI_DEFINITE)
        return;
    d->cholesky = false;
    find_undetermined(d);
}

static bool input_is_finite(const hmi_dynamics *d, const hmi_equations *e)
{
    int n = d->n, m = d->m;
    return hmi_all_finite(n * n, e->M) && hmi_all_finite(n, e->Q) && hmi_all_finite(m * n, e->A) &&
           hmi_all_finite(m, e->b) && (!e->C || hmi_all_finite(n, e->C));
}

hm_status hmi_prepare(hmi_dynamics *d, const hmi_equations *equations, const hmi_options *options)
{
    d->scratch_used = 0;
    d->mass_tolerance = hmi_mass_tolerance(d->n);
    d->rank_tolerance = options->rank_tolerance > 0 ? options->rank_tolerance
                                                    : hmi_rank_tolerance(d->m, d->n);
    d->refinements = options->refinements;
    d->most_rank = options->most_rank;
    if (!input_is_finite(d, equations))
        return HM_ERR_NUMERIC;
    hmi_prepare_constraints(d, equations);
    d->mass_tolerance = fmax(d->mass_tolerance, 2 * d->M_noise);
    if (!hmi_all_finite(d->n * d->n, d->M) || !hmi_all_finite(d->m * d->n, d->A))
        return HM_ERR_NUMERIC;
    prepare_mass(d, options->effort);
    return HM_OK;
}
