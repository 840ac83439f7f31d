/* The front: prepares, chooses a formulation, moves, and says what was found.     (dynamics.h) */
#include "dynamics/formulations/workspace.h"

/* ---- names ----------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    const hmi_solver *method;
} formulations[HMI_FORMULATIONS] = {
    [HM_FORMULATION_AUTO] = {"auto", NULL},
    [HM_FORMULATION_UK] = {"uk", &hmi_solver_uk},
    [HM_FORMULATION_GRAM] = {"gram", &hmi_solver_gram},
    [HM_FORMULATION_KKT] = {"kkt", &hmi_solver_kkt},
    [HM_FORMULATION_NULLSPACE] = {"nullspace", &hmi_solver_nullspace},
    [HM_FORMULATION_GAUSS] = {"gauss", &hmi_solver_gauss},
    [HM_FORMULATION_SINGULAR] = {"singular", &hmi_solver_singular},
    [HM_FORMULATION_DIRAC] = {"dirac", &hmi_solver_dirac},
};

const char *hm_formulation_name(hm_formulation formulation)
{
    return (unsigned)formulation < HMI_FORMULATIONS ? formulations[formulation].name : "unknown";
}

bool hm_formulation_find(const char *name, hm_formulation *formulation)
{
    if (!name || !formulation)
        return false;
    for (int f = 0; f < HMI_FORMULATIONS; f++)
        if (strcmp(formulations[f].name, name) == 0) {
            *formulation = (hm_formulation)f;
            return true;
        }
    return false;
}

const hmi_solver *hmi_solver_of(hm_formulation formulation)
{
    return formulations[formulation].method;
}

hmi_options hmi_options_default(void)
{
    return (hmi_options){
        .formulation = HM_FORMULATION_AUTO, .effort = HMI_ANSWER, .refinements = 8};
}

/* ---- choosing -------------------------------------------------------------------------------- */

static bool try_method(hmi_dynamics *d, hm_formulation formulation)
{
    d->method = hmi_solver_of(formulation);
    return d->method->applies(d) && d->method->factor(d);
}

/* uk where M > 0, the stacked equation where M >= 0 or the answer is not unique, else KKT; should
 * one fail on the numbers, the next. The stacked equation always gives an answer. */
static void choose_automatically(hmi_dynamics *d)
{
    if (d->cholesky && try_method(d, HM_FORMULATION_UK))
        return;
    if (d->undetermined == 0 && d->mass == HMI_INDEFINITE && try_method(d, HM_FORMULATION_KKT))
        return;
    if (try_method(d, HM_FORMULATION_SINGULAR))
        return;
    if (!try_method(d, HM_FORMULATION_NULLSPACE))
        (void)try_method(d, HM_FORMULATION_SINGULAR);
}

static bool choose(hmi_dynamics *d, hm_formulation wanted)
{
    if (wanted != HM_FORMULATION_AUTO)
        return try_method(d, wanted);
    choose_automatically(d);
    return true;
}

/* ---- reporting ------------------------------------------------------------------------------- */

enum { R_Q, R_C, R_QDD, R_QI, R_QNI, R_QC, R_A };
enum { R_LAMBDA, R_TOTAL, R_E };

static void point_at_results(hmi_dynamics *d, const hmi_equations *e, hmi_solution *s)
{
    s->Q = d->result_n[R_Q];
    s->C = d->result_n[R_C];
    s->qdd = d->result_n[R_QDD];
    s->Qi = d->result_n[R_QI];
    s->Qni = d->result_n[R_QNI];
    s->Qc = d->result_n[R_QC];
    s->lambda = d->result_m[R_LAMBDA];
    s->total_lambda = d->result_m[R_TOTAL];
    s->u = e->servo_count > 0 ? d->u : NULL;
    s->virtual_displacements = d->virtual_displacements;
    s->verdict.servo_residual = e->servo_count > 0 ? d->servo_residual : NULL;
}

static void clear_results(hmi_dynamics *d)
{
    for (int i = 0; i < 8; i++)
        hmi_zero(d->n, d->result_n[i]);
    for (int i = 0; i < 5; i++)
        hmi_zero(d->m, d->result_m[i]);
    hmi_zero(d->n * d->size.servos, d->u);
    hmi_zero(d->size.servo_rows, d->servo_residual);
}

/* f[n] := D^-1 (f0 + A_r^T l) */
static void report_force(hmi_dynamics *d, const double *f0, const double *l, double *f)
{
    if (f0)
        hmi_copy(d->n, f0, f);
    else
        hmi_zero(d->n, f);
    hmi_row_force(d, l, f);
    for (int i = 0; i < d->n; i++)
        f[i] /= d->D[i];
}

static void report_motion(hmi_dynamics *d, const hmi_equations *e)
{
    size_t mark = d->scratch_used;
    const hmi_motion *motion = &d->motion;
    double **r = d->result_n, *total = hmi_take(d, (size_t)d->rank);
    for (int i = 0; i < d->n; i++) {
        r[R_Q][i] = motion->Q[i] / d->D[i];
        r[R_C][i] = motion->C[i] / d->D[i];
        r[R_QDD][i] = d->D[i] * (motion->ideal[i] + motion->extra[i]);
        for (int k = 0; k < e->servo_count; k++)
            d->u[hmi_area(k, d->n) + (size_t)i] = motion->u[hmi_area(k, d->n) + (size_t)i] /
                                                  d->D[i];
    }
    report_force(d, NULL, motion->ideal_l, r[R_QI]);
    report_force(d, motion->C, motion->extra_l, r[R_QNI]);
    for (int i = 0; i < d->n; i++)
        r[R_QC][i] = r[R_QI][i] + r[R_QNI][i];
    hmi_copy(d->rank, motion->ideal_l, total);
    hmi_axpy(d->rank, 1, motion->extra_l, total);
    hmi_model_multipliers(d, motion->ideal_l, d->result_m[R_LAMBDA]);
    hmi_model_multipliers(d, total, d->result_m[R_TOTAL]);
    for (int k = d->rank; k < d->n; k++)
        hmi_times(d->n, d->D, d->Z + hmi_area(k, d->n),
                  d->virtual_displacements + hmi_area(k - d->rank, d->n));
    d->scratch_used = mark;
}

/* rest := M^-1 rest, by Cholesky where M > 0 and by LU where it is indefinite. */
static void divide_by_mass(hmi_dynamics *d, const double *LU, double *rest)
{
    if (!d->cholesky) {
        hmi_lu_solve(d->n, LU, d->judge_ints, rest);
        return;
    }
    hmi_lower_solve(d->n, d->L, rest);
    hmi_lower_solve_transposed(d->n, d->L, rest);
}

/* a = M^-1 Q with one step of refinement, and e = b - A a; nothing where M is singular. */
static void report_unconstrained(hmi_dynamics *d, const hmi_equations *e, hmi_solution *s)
{
    size_t mark = d->scratch_used;
    int n = d->n;
    double *x = hmi_take(d, (size_t)n), *rest = hmi_take(d, (size_t)n);
    double *LU = hmi_take(d, hmi_area(n, n));
    if (!d->cholesky) {
        hmi_copy(n * n, d->M, LU);
        if (!hmi_lu(n, LU, d->judge_ints, d->mass_tolerance)) {
            d->scratch_used = mark;
            return;
        }
    }
    hmi_zero(n, x);
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < n; i++) {
            hmi_sum sum = {d->motion.Q[i], 0};
            hmi_sum_dot(&sum, -1, n, d->M + hmi_area(i, n), 1, x);
            rest[i] = sum.s + sum.e;
        }
        divide_by_mass(d, LU, rest);
        hmi_axpy(n, 1, rest, x);
    }
    hmi_times(n, d->D, x, d->result_n[R_A]);
    for (int i = 0; i < d->m; i++)
        d->result_m[R_E][i] = e->b[i] - hmi_dot(n, e->A + hmi_area(i, n), d->result_n[R_A]);
    s->a = d->result_n[R_A];
    s->e = d->result_m[R_E];
    d->scratch_used = mark;
}

/* Where q'' is not unique it may not exist either: is the balance met? */
static bool balance_is_met(hmi_dynamics *d)
{
    size_t mark = d->scratch_used;
    int n = d->n;
    double *x = hmi_take(d, (size_t)n), *rest = hmi_take(d, (size_t)n), size = 0, left = 0;
    hmi_copy(n, d->motion.ideal, x);
    hmi_axpy(n, 1, d->motion.extra, x);
    hmi_copy(n, d->motion.C, rest);
    hmi_row_force(d, d->motion.ideal_l, rest);
    hmi_row_force(d, d->motion.extra_l, rest);
    for (int k = 0; k < d->servo.count; k++)
        hmi_axpy(n, 1, d->motion.u + hmi_area(k, n), rest);
    for (int i = 0; i < n; i++) {
        double inertia = hmi_dot(n, d->M + hmi_area(i, n), x), force = rest[i] + d->motion.Q[i];
        size = fmax(size, fmax(fabs(inertia), fmax(fabs(rest[i]), fabs(d->motion.Q[i]))));
        left = fmax(left, fabs(inertia - force));
    }
    d->scratch_used = mark;
    return left <= 1e-9 * size;
}

static bool servos_reached(hmi_dynamics *d)
{
    const hmi_servo_space *s = &d->servo;
    bool reached = true;
    for (int row = 0; row < s->rows; row++) {
        const double *a = s->A + hmi_area(row, d->n);
        double left = s->b[row], size = fabs(s->b[row]);
        for (int j = 0; j < d->n; j++) {
            double term = a[j] * (d->motion.ideal[j] + d->motion.extra[j]);
            left -= term;
            size += fabs(term);
        }
        d->servo_residual[row] = left / s->R[row];
        reached = reached && fabs(left) <= 1e-9 * size + 1e-12;
    }
    return reached;
}

static bool results_are_finite(const hmi_dynamics *d)
{
    for (int i = 0; i <= R_A; i++)
        if (!hmi_all_finite(d->n, d->result_n[i]))
            return false;
    for (int i = 0; i <= R_E; i++)
        if (!hmi_all_finite(d->m, d->result_m[i]))
            return false;
    return hmi_all_finite(d->n * d->size.servos, d->u);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* The largest error of a right side, for rows of unit length; what is not known counts nothing. */
static double right_side_noise(const hmi_dynamics *d, const hmi_equations *e)
{
    double largest = 0;
    for (int i = 0; e->b_error && i < d->m; i++)
        if (isfinite(e->b_error[i]))
            largest = fmax(largest, e->b_error[i] * d->R[i]);
    return largest;
}

/* How far b may contradict itself, for rows of unit length. */
static double consistency(const hmi_dynamics *d, const hmi_equations *e, const hmi_options *o)
{
    double relative = o->consistency_tolerance > 0 ? o->consistency_tolerance : HMI_CONTRADICTION;
    double absolute = o->consistency_floor > 0 ? o->consistency_floor : HMI_CONTRADICTION_FLOOR,
           size = 0;
    for (int i = 0; i < d->m; i++)
        size = fmax(size, fabs(e->b[i]) * d->R[i]);
    return relative * size + absolute + 2 * sqrt((double)d->m) * right_side_noise(d, e);
}

static void begin_verdict(hmi_dynamics *d, hmi_solution *s)
{
    hmi_verdict *v = &s->verdict;
    v->rank_A = d->rank;
    v->rank_M = d->rank_M;
    v->rank_MA = d->mass == HMI_DEFINITE ? d->n : -1;
    v->mass = d->mass;
    v->unique_acceleration = d->undetermined == 0;
    v->unique_multipliers = d->rank == d->m;
    v->undetermined = d->undetermined;
    s->freedom = d->n - d->rank;
    s->formulation = d->method->formulation;
    s->formulations = 1u << d->method->formulation;
}

static hm_status conclude(hmi_dynamics *d, hmi_solution *s, hm_status moved)
{
    hmi_verdict *v = &s->verdict;
    if (moved == HM_ERR_NUMERIC || !results_are_finite(d)) {
        clear_results(d);
        return HM_ERR_NUMERIC;
    }
    if (moved != HM_OK || !v->unique_acceleration || !v->solvable)
        return HM_ERR_UNDETERMINED;
    return v->consistent && v->servo_reached ? HM_OK : HM_ERR_INCONSISTENT;
}

static bool usage_is_valid(const hmi_dynamics *d, const hmi_equations *e, const hmi_options *o)
{
    int rows = 0;
    for (int i = 0; i < e->servo_count; i++)
        rows += e->servos[i].rows;
    return e->servo_count >= 0 && e->servo_count <= d->size.servos && rows <= d->size.servo_rows &&
           o->formulation >= HM_FORMULATION_AUTO && o->formulation <= HM_FORMULATION_DIRAC;
}

static bool servos_are_finite(const hmi_dynamics *d, const hmi_equations *e)
{
    for (int i = 0; i < e->servo_count; i++) {
        const hmi_servo *s = &e->servos[i];
        if (!hmi_all_finite(s->rows * d->n, s->A) || !hmi_all_finite(s->rows, s->b) ||
            (s->b_free && !hmi_all_finite(s->rows, s->b_free)))
            return false;
    }
    return true;
}

/* With the rows that hold. */
static hm_status solve(hmi_dynamics *d, const hmi_equations *equations, const hmi_options *options,
                       hmi_solution *solution)
{
    if (!usage_is_valid(d, equations, options))
        return HM_ERR_USAGE;
    hmi_solution s = {.disagreement = -1};
    d->servo.count = d->servo.rows = 0;
    clear_results(d);
    point_at_results(d, equations, &s);
    if (!servos_are_finite(d, equations) || hmi_prepare(d, equations, options) != HM_OK) {
        s.status = HM_ERR_NUMERIC;
        *solution = s;
        return s.status;
    }
    if (!choose(d, options->formulation))
        return HM_ERR_USAGE;
    begin_verdict(d, &s);
    s.verdict.consistent = hmi_prepare_right_side(d, equations->b,
                                                  consistency(d, equations, options));
    if (equations->servo_count > 0)
        hmi_servo_prepare(d, equations);

    hm_status moved = hmi_move(d, equations, options->effort, &s.verdict);
    report_motion(d, equations);
    if (d->cholesky || d->mass == HMI_INDEFINITE)
        report_unconstrained(d, equations, &s);
    s.verdict.solvable = d->undetermined == 0 || balance_is_met(d);
    s.verdict.servo_reached = servos_reached(d) || (d->servo.rows > 0 && d->servo.limited);
    s.status = conclude(d, &s, moved);
    if (options->effort >= HMI_VERDICT && s.status != HM_ERR_NUMERIC)
        hmi_judge(d, equations, &s);
    if (options->effort >= HMI_COMPARE && s.status != HM_ERR_NUMERIC)
        hmi_compare(d, equations, &s);
    d->scratch_used = 0;
    *solution = s;
    return s.status;
}

hm_status hmi_dynamics_solve(hmi_dynamics *d, const hmi_equations *equations,
                             const hmi_options *options, hmi_solution *solution)
{
    if (d->held.overfull)
        return HM_ERR_LIMIT;
    const hmi_equations held = hmi_gather_rows(d, equations);
    hm_status status = solve(d, &held, options, solution);
    if (status != HM_ERR_USAGE)
        hmi_spread_rows(d, solution);
    return status;
}
