/* How sure the ranks are that prepare.c and verdict.c found.
 *
 * The entries are known up to errors E (compile/tape/rounding.h), a decomposition adds its own, and no
 * singular value moves by more than the size of both together [Weyl 1912]. With X P = U [R1 R12; 0 R22]
 *     sigma_r(X) >= 1/|R1^-1|,   sigma_r+1(X) <= |R22|       (Frobenius norms)
 * so that sigma_r above the bound proves that the rank is not lower. That it is not higher is proved
 * where there are no more rows or columns, and where the places of exact zeros allow no more (a maximum
 * matching of rows and columns). Otherwise a dependency that holds on paper and one that holds to the
 * last digit look the same, and the evidence says so.
 * Verified: test/unit/dynamics/test_rank_evidence.c, test/physics/test_rank.c
 */
#include "dynamics/formulations/workspace.h"

const char *hm_rank_verdict_name(hm_rank_verdict verdict)
{
    static const char *const names[] = {"proved", "structural", "undecided"};
    return (size_t)verdict < sizeof names / sizeof *names ? names[verdict] : "unknown";
}

/* ---- margins ---- */

/* The Frobenius norm of R1^-1, a column after the other; x: scratch. */
static double inverse_size(int rows, int rank, const double *R, double *x)
{
    double sum = 0;
    for (int k = 0; k < rank; k++) {
        hmi_zero(k, x);
        x[k] = 1;
        hmi_qr_solve(rows, k + 1, R, x);
        sum = hypot(sum, hmi_norm(k + 1, x));
    }
    return sum;
}

/* What is left of columns rank.. below row rank. */
static double rest_size(int rows, int cols, int rank, const double *R)
{
    double sum = 0;
    for (int j = rank; j < cols; j++)
        sum = hypot(sum, hmi_norm(rows - rank, R + hmi_area(j, rows) + rank));
    return sum;
}

/* R: after hmi_qr that found `rank`. */
static hm_rank_evidence margins(hmi_dynamics *d, int rows, int cols, int rank, const double *R,
                                double bound)
{
    size_t mark = d->scratch_used;
    double *x = hmi_take(d, (size_t)rank + 1);
    double inverse = inverse_size(rows, rank, R, x);
    d->scratch_used = mark;
    return (hm_rank_evidence){
        .kept = rank > 0 ? 1 / inverse : 0, .next = rest_size(rows, cols, rank, R), .bound = bound};
}

/* ---- structure ---- */

/* A matrix by the places where it is not exactly zero. */
typedef struct structure {
    int rows, cols;
    const double *value, *error; /* rows x cols; error may be NULL */
    int *match;                  /* cols: the row that has it, or -1 */
    bool *seen;                  /* cols */
} structure;

static bool may_differ(const structure *s, int i, int j)
{
    size_t at = hmi_area(i, s->cols) + (size_t)j;
    return s->value[at] != 0 || (s->error && s->error[at] != 0);
}

/* Gives row i a column, by moving others where it must (Kuhn). */
static bool find_column(structure *s, int i)
{
    for (int j = 0; j < s->cols; j++) {
        if (s->seen[j] || !may_differ(s, i, j))
            continue;
        s->seen[j] = true;
        if (s->match[j] < 0 || find_column(s, s->match[j])) {
            s->match[j] = i;
            return true;
        }
    }
    return false;
}

/* The largest rank that any numbers in these places can have. */
static int structural_rank(hmi_dynamics *d, int rows, const double *value, const double *error)
{
    size_t mark = d->scratch_used, n = (size_t)d->n;
    structure s = {.rows = rows, .cols = d->n, .value = value, .error = error};
    s.match = (int *)hmi_take(d, n);
    s.seen = (bool *)hmi_take(d, n);
    int rank = 0;
    for (int j = 0; j < d->n; j++)
        s.match[j] = -1;
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < d->n; j++)
            s.seen[j] = false;
        rank += find_column(&s, i);
    }
    d->scratch_used = mark;
    return rank;
}

/* ---- verdicts ---- */

static bool all_known(int count, const double *error)
{
    for (int i = 0; error && i < count; i++)
        if (!isfinite(error[i]))
            return false;
    return true;
}

static bool stands(const hm_rank_evidence *e, int rank)
{
    return rank == 0 || e->kept > e->bound;
}

static void judge_rows(hmi_dynamics *d, const hmi_equations *e, hm_rank_evidence *found)
{
    bool known = all_known(d->m * d->n, e->A_error);
    int most = d->m < d->n ? d->m : d->n;
    double bound = known ? d->rank_tolerance + d->A_noise : INFINITY;
    *found = margins(d, d->n, d->m, d->rank, d->QR, bound);
    found->verdict = HM_RANK_VERDICT_UNDECIDED;
    if (stands(found, d->rank) && d->rank == most)
        found->verdict = HM_RANK_VERDICT_PROVED;
    else if (stands(found, d->rank) && d->rank == structural_rank(d, d->m, e->A, e->A_error))
        found->verdict = HM_RANK_VERDICT_STRUCTURAL;
}

/* M = L L^T > 0: the least eigenvalue is at least 1/|L^-1|^2. */
static double least_of_cholesky(hmi_dynamics *d)
{
    size_t mark = d->scratch_used;
    double *x = hmi_take(d, (size_t)d->n), sum = 0;
    for (int k = 0; k < d->n; k++) {
        hmi_zero(d->n, x);
        x[k] = 1;
        hmi_lower_solve(d->n, d->L, x);
        sum = hypot(sum, hmi_norm(d->n, x));
    }
    d->scratch_used = mark;
    return 1 / (sum * sum);
}

static hm_rank_evidence mass_margins(hmi_dynamics *d, double bound)
{
    size_t mark = d->scratch_used;
    int n = d->n;
    if (d->cholesky)
        return (hm_rank_evidence){.kept = least_of_cholesky(d), .bound = bound};
    double *X = hmi_take(d, hmi_area(n, n)), *tau = hmi_take(d, (size_t)n);
    hmi_copy(n * n, d->M, X);
    int rank = hmi_qr(n, n, X, tau, d->judge_ints, d->rank_M, 0);
    hm_rank_evidence found = margins(d, n, n, rank, X, bound);
    d->scratch_used = mark;
    return found;
}

static void judge_mass(hmi_dynamics *d, const hmi_equations *e, hm_rank_evidence *found)
{
    bool known = all_known(d->n * d->n, e->M_error);
    double own = hmi_mass_tolerance(d->n) * d->mass_size;
    *found = mass_margins(d, known ? own + d->M_noise : INFINITY);
    found->verdict = HM_RANK_VERDICT_UNDECIDED;
    if (stands(found, d->rank_M) && d->rank_M == d->n)
        found->verdict = HM_RANK_VERDICT_PROVED;
    else if (stands(found, d->rank_M) && d->rank_M == structural_rank(d, d->n, e->M, e->M_error))
        found->verdict = HM_RANK_VERDICT_STRUCTURAL;
}

/* [M | A^T], where M alone does not say it. */
static void judge_stack(hmi_dynamics *d, int rank, const hmi_verdict *v, hm_rank_evidence *found)
{
    size_t mark = d->scratch_used;
    int n = d->n, rows = n + d->m;
    double *X = hmi_take(d, hmi_area(rows, n)), *tau = hmi_take(d, (size_t)n);
    hmi_fill_stack(d, X);
    (void)hmi_qr(rows, n, X, tau, d->judge_ints, rank, 0);
    *found = margins(d, rows, n, rank, X, hypot(v->evidence_M.bound, v->evidence_A.bound));
    found->verdict = stands(found, rank) && rank == n ? HM_RANK_VERDICT_PROVED
                                                      : HM_RANK_VERDICT_UNDECIDED;
    d->scratch_used = mark;
}

void hmi_find_evidence(hmi_dynamics *d, const hmi_equations *equations, hmi_verdict *v)
{
    judge_rows(d, equations, &v->evidence_A);
    judge_mass(d, equations, &v->evidence_M);
    if (v->rank_MA == v->rank_M && v->evidence_M.verdict == HM_RANK_VERDICT_PROVED)
        v->evidence_MA = v->evidence_M;
    else
        judge_stack(d, v->rank_MA, v, &v->evidence_MA);
}
