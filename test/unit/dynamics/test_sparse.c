/* The sparse solve and the compiled one against the dense solve, where all three apply; residuals
 * where only the sparse ones do; redundant, contradictory and singular systems; memory. */
#include "support/heap.h"
#include "support/probe.h"

#include "dynamics/sim/evaluation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- models ---- */

static const char chain[] =
    "param N = 60, m = 1.3, l = 1, g = 9.81\n"
    "coord x[1..N], y[1..N], z[1..N]\n"
    "for i = 1..N { kinetic m/2*(x[i]'^2 + y[i]'^2 + z[i]'^2)\n  potential m*g*z[i] }\n"
    "constraint rod[1]: x[1]^2 + y[1]^2 + z[1]^2 = l^2\n"
    "for i = 2..N {\n"
    "  constraint rod[i]: (x[i]-x[i-1])^2 + (y[i]-y[i-1])^2 + (z[i]-z[i-1])^2 = l^2 }\n";

/* Coordinates of one particle side by side, masses of their own, three children a particle. */
static const char tree[] =
    "param N = 61\n"
    "coord q[1..3*N]\n"
    "let D(i, j) = (q[3*i-2] - q[3*j-2])^2 + (q[3*i-1] - q[3*j-1])^2 + (q[3*i] - q[3*j])^2\n"
    "for i = 1..N { kinetic (1 + i/N)/2*(q[3*i-2]'^2 + q[3*i-1]'^2 + q[3*i]'^2)\n"
    "  potential 9.81*q[3*i] }\n"
    "constraint root: q[1]^2 + q[2]^2 + q[3]^2 = 1\n"
    "for i = 1..(N - 1)/3 { constraint a[i]: D(3*i - 1, i) = 1\n"
    "  constraint b[i]: D(3*i, i) = 1\n"
    "  constraint c[i]: D(3*i + 1, i) = 1 }\n";

/* A plane truss with both diagonals: far more rods than it needs. */
static const char truss[] =
    "param K = 8\n"
    "coord x[1..K*K], y[1..K*K]\n"
    "for i = 1..K*K { kinetic 1/2*(x[i]'^2 + y[i]'^2)\n  potential 9.81*y[i] }\n"
    "for i = 1..K { for j = 2..K {\n"
    "  constraint h[i,j]: (x[K*(i-1)+j] - x[K*(i-1)+j-1])^2 + (y[K*(i-1)+j] - y[K*(i-1)+j-1])^2 = "
    "1\n"
    "  constraint v[i,j]: (x[K*(j-1)+i] - x[K*(j-2)+i])^2 + (y[K*(j-1)+i] - y[K*(j-2)+i])^2 = 1 } "
    "}\n"
    "for i = 2..K { for j = 2..K {\n"
    "  constraint d[i,j]: (x[K*(i-1)+j] - x[K*(i-2)+j-1])^2 + (y[K*(i-1)+j] - y[K*(i-2)+j-1])^2 = "
    "2\n"
    "  constraint e[i,j]: (x[K*(i-1)+j-1] - x[K*(i-2)+j])^2 + (y[K*(i-1)+j-1] - y[K*(i-2)+j])^2 = "
    "2 "
    "} }\n";

/* M couples neighbours all along: no blocks. */
static const char coupled[] =
    "param N = 150\n"
    "coord x[1..N]\n"
    "kinetic 1/2*x[1]'^2\n"
    "for i = 2..N { kinetic (2 + cos(x[i]))/2*(x[i]' - x[i-1]'/2)^2\n  potential x[i]^2 }\n"
    "for i = 2..N/3 { constraint c[i]: x[3*i] = sin(x[3*i-1]) + x[3*i-4]*x[3*i]/9 }\n";

/* M sees sums only; the constraints hold the differences. */
static const char singular[] =
    "param N = 50\n"
    "coord r[1..N], s[1..N]\n"
    "for i = 1..N { kinetic 1/2*(r[i]' + s[i]')^2\n  potential r[i]^2/2 }\n"
    "for i = 1..N { constraint c[i]: sin(r[i]) - s[i]*(1 + i/N) = 0 }\n";

/* Rigid bodies in Euler angles: blocks of M that depend on the state. */
static const char blocks[] =
    "param N = 30\n"
    "coord a[1..N], b[1..N], c[1..N]\n"
    "for i = 1..N {\n"
    "  kinetic 1/2*(a[i]'^2*(2 + sin(b[i])^2) + b[i]'^2*1.5 + c[i]'^2 + a[i]'*c[i]'*cos(b[i]))\n"
    "  potential cos(b[i]) }\n"
    "for i = 2..N { constraint k[i]: sin(a[i]) + cos(b[i]) = sin(c[i-1]) + a[i-1]/2 }\n";

static const char friction[] =
    "param N = 70\n"
    "coord x[1..N], y[1..N]\n"
    "for i = 1..N { kinetic 1/2*(x[i]'^2 + y[i]'^2)\n  potential 9.81*y[i] }\n"
    "for i = 1..N { constraint k[i]: y[i] = x[i]^2/2 }\n"
    "for i = 1..N { nonideal x[i] = -0.3*x[i]', y[i] = 0.2*y[i]'^2 - 0.1 }\n";

/* ---- states ---- */

/* A state like a random one; velocities too, which need not fit where rows are independent. */
static void set_random(probe *p, uint64_t seed)
{
    random_source random = {seed};
    double *q = malloc(2 * p->n * sizeof *q);
    assert_non_null(q);
    random_fill(&random, -1.5, 1.5, 2 * p->n, q);
    hm_sim_set_state(p->sim, 0.3, q, q + p->n, NULL);
    free(q);
}

/* The truss turning as a whole about its corner. */
static void set_turning(probe *p)
{
    double q[256], v[256];
    size_t n = p->n / 2, k = (size_t)lround(sqrt((double)n));
    for (size_t i = 0; i < n; i++) {
        double x = (double)(i % k), y = (double)(i / k), c = cos(0.4), s = sin(0.4);
        q[i] = c * x - s * y;
        q[n + i] = s * x + c * y;
        v[i] = -1.7 * q[n + i];
        v[n + i] = 1.7 * q[i];
    }
    hm_sim_set_state(p->sim, 0, q, v, NULL);
}

/* ---- comparisons ---- */

typedef struct answer {
    double *qdd, *lambda, *Qc, *Qi;
} answer;

static double *copy(const double *x, size_t count)
{
    double *y = malloc((count + 1) * sizeof *y);
    assert_non_null(y);
    memcpy(y, x, count * sizeof *y);
    return y;
}

static answer keep(const probe *p, const hm_evaluation *e)
{
    return (answer){copy(e->qdd, p->n), copy(e->lambda, p->m), copy(e->Qc, p->n),
                    copy(e->Qi, p->n)};
}

static void drop(answer *a)
{
    free(a->qdd);
    free(a->lambda);
    free(a->Qc);
    free(a->Qi);
}

static hm_evaluation sparse(probe *p)
{
    const hm_evaluate_options options = hm_evaluate_options_default();
    hm_evaluation e = p->at;
    hm_sim_evaluate_fast(p->sim);
    hm_status status = hmi_sim_solve_large(p->sim, hmi_sim_present(p->sim), &options, &e);
    if (status != HM_OK)
        show_diagnostics(p->sim->context);
    assert_int_equal(status, HM_OK);
    return e;
}

/* Dense, sparse and (where expected) compiled agree at the present state. */
static void check_agreement(probe *p, bool compiled, double tolerance)
{
    probe_evaluate(p);
    assert_int_equal(p->status, HM_OK);
    answer dense = keep(p, &p->at);
    int rank = p->at.rank_A;
    bool *redundant = malloc(p->m + 1);
    memcpy(redundant, p->at.redundant, p->m);
    hm_evaluation e = sparse(p);
    check_close("sparse q''", p->n, e.qdd, dense.qdd, tolerance);
    check_close("sparse Qc", p->n, e.Qc, dense.Qc, tolerance);
    check_close("sparse Qi", p->n, e.Qi, dense.Qi, tolerance);
    check_close("sparse lambda", p->m, e.lambda, dense.lambda, 10 * tolerance);
    assert_int_equal(e.rank_A, rank);
    assert_int_equal(e.unique_multipliers, rank == (int)p->m);
    for (size_t i = 0; i < p->m; i++)
        assert_int_equal(e.redundant[i], redundant[i]);
    assert_true(e.check.balance < 1e-12 && e.check.constraint < 1e-11);
    assert_int_equal(hmi_sim_accelerate_compiled(p->sim, hmi_sim_present(p->sim)), compiled);
    if (compiled)
        check_close("compiled q''", p->n, p->sim->last.qdd, dense.qdd, tolerance);
    free(redundant);
    drop(&dense);
}

static void check_random(const char *text, bool compiled, double tolerance)
{
    probe *p = probe_text(text);
    for (uint64_t seed = 1; seed <= 8; seed++) {
        set_random(p, seed);
        check_agreement(p, compiled, tolerance);
    }
    probe_close(p);
}

static void test_chain(void **state)
{
    (void)state;
    check_random(chain, true, 1e-10);
}

static void test_tree(void **state)
{
    (void)state;
    check_random(tree, true, 1e-9);
}

static void test_coupled(void **state)
{
    (void)state;
    check_random(coupled, false, 1e-8);
}

static void test_singular(void **state)
{
    (void)state;
    check_random(singular, true, 1e-9); /* rows within the blocks make them regular */
}

static void test_blocks(void **state)
{
    (void)state;
    check_random(blocks, true, 1e-8);
}

static void test_friction(void **state)
{
    (void)state;
    check_random(friction, true, 1e-11);
}

/* 208 rods, rank 2 K^2 - 3 = 125. */
static void test_truss(void **state)
{
    (void)state;
    probe *p = probe_text(truss);
    set_turning(p);
    probe_evaluate(p);
    assert_int_equal(p->at.rank_A, 125);
    check_agreement(p, false, 1e-10);
    assert_int_equal(hmi_sim_accelerate(p->sim, hmi_sim_present(p->sim), NULL), HM_OK);
    probe_close(p);
}

/* ---- beyond the dense solve ---- */

static probe *open_large(const char *text, const char *name, const char *value)
{
    const hm_override override = {name, value};
    return probe_text_with(text, &override, 1);
}

/* M q'' - Q - Qc and A q'' - b by hand, and Qi - A^T lambda. */
static double residual_of(const probe *p)
{
    const hm_evaluation *e = &p->at;
    double worst = 0, *rest = calloc(p->n, sizeof *rest), *ideal = calloc(p->n, sizeof *ideal);
    assert_true(rest && ideal);
    for (size_t i = 0; i < p->n; i++) {
        rest[i] = -e->Q[i] - e->Qc[i];
        ideal[i] = e->Qi[i];
    }
    for (size_t i = 0; i < p->n; i++)
        for (size_t k = e->M.row_start[i]; k < e->M.row_start[i + 1]; k++) {
            size_t j = e->M.column[k];
            rest[i] += e->M.value[k] * e->qdd[j];
            if (i != j)
                rest[j] += e->M.value[k] * e->qdd[i];
        }
    for (size_t i = 0; i < p->m; i++) {
        double row = -e->b[i];
        for (size_t k = e->A.row_start[i]; k < e->A.row_start[i + 1]; k++) {
            row += e->A.value[k] * e->qdd[e->A.column[k]];
            ideal[e->A.column[k]] -= e->A.value[k] * e->lambda[i];
        }
        worst = fmax(worst, fabs(row));
    }
    for (size_t i = 0; i < p->n; i++)
        worst = fmax(worst, fmax(fabs(rest[i]), fabs(ideal[i])));
    free(rest);
    free(ideal);
    return worst;
}

static void check_large(const char *text, const char *name, const char *value, double tolerance)
{
    probe *p = open_large(text, name, value);
    assert_true(p->n > HM_MOST_DENSE);
    set_random(p, 11);
    probe_evaluate(p);
    assert_int_equal(p->status, HM_OK);
    assert_true(p->at.solved);
    assert_string_equal(p->at.formulation, "sparse");
    double size = max_norm(p->n, p->at.qdd);
    if (!(residual_of(p) <= tolerance * fmax(1, size)))
        fail_msg("residual %g at accelerations of %g", residual_of(p), size);
    assert_true(p->at.disagreement < 1e-8); /* -1 where only one applies */
    assert_int_equal(hmi_sim_accelerate(p->sim, hmi_sim_present(p->sim), NULL), HM_OK);
    probe_close(p);
}

static void test_large(void **state)
{
    (void)state;
    check_large(chain, "N", "2000", 1e-10);
    check_large(tree, "N", "1501", 1e-10);
    check_large(coupled, "N", "3000", 1e-9);
    check_large(singular, "N", "1000", 1e-9);
    check_large(blocks, "N", "500", 1e-9);
    check_large(friction, "N", "400", 1e-9);
}

static void test_large_truss(void **state)
{
    (void)state;
    probe *p = open_large(truss, "K", "11"); /* 242 coordinates: dense knows the rank */
    set_turning(p);
    check_agreement(p, false, 1e-9);
    probe_close(p);
}

/* ---- what has no answer ---- */

static void check_refusal(const char *text, hm_status status, const char *fragment)
{
    probe *p = probe_text(text);
    bool said = false;
    hm_evaluation e;
    assert_int_equal(hm_sim_evaluate(p->sim, NULL, &e), status);
    for (size_t i = 0; i < hm_context_diagnostic_count(p->sim->context); i++)
        said = said || strstr(hm_context_diagnostic(p->sim->context, i)->message, fragment);
    if (!said)
        show_diagnostics(p->sim->context);
    assert_true(said);
    probe_close(p);
}

#define MANY "param N = 401\ncoord x[1..N]\nfor i = 1..N { kinetic 1/2*x[i]'^2 }\n"

static void test_refusals(void **state)
{
    (void)state;
    check_refusal(MANY "constraint one: x[1]'' + x[2]'' = 1\nconstraint two: x[1]'' + x[2]'' = 2\n",
                  HM_ERR_INCONSISTENT, "contradicts others by");
    check_refusal("param N = 401\ncoord x[1..N]\nfor i = 2..N { kinetic 1/2*x[i]'^2 }\n"
                  "potential x[1]^2\n",
                  HM_ERR_UNDETERMINED, "x[1]''");
    check_refusal(MANY "servo s: x[1] = sin(t) by x[1] with gain 1\n", HM_ERR_LIMIT, "servos");
    check_refusal(MANY
                  "constraint a: x[1] = x[2]\nnonideal x[1] = -abs(total_reaction(x[1]))*x[1]'\n",
                  HM_ERR_LIMIT, "total constraint forces");
    check_refusal(MANY "constraint a: x[1] = x[2]\nconstraint b: 2*x[1] = 2*x[2]\n"
                       "nonideal x[1] = -abs(multiplier(a))*x[1]'\n",
                  HM_ERR_UNDETERMINED, "not unique");
}

/* Rows at an angle of 1e-7 are not dependent, and with other right sides the solve says so. */
static void test_nearly_dependent(void **state)
{
    (void)state;
    check_refusal(MANY "constraint one: x[1]'' = 1\nconstraint two: x[1]'' + 1e-7*x[2]'' = 2\n",
                  HM_ERR_NUMERIC, "nearly dependent");
}

/* ---- memory ---- */

static hm_status whole_pipeline(failing_heap *heap, const void *text)
{
    const hm_allocator allocator = heap_allocator(heap);
    heap_arm(heap);
    hm_context *context = hm_context_create(&allocator);
    hm_model *model = NULL;
    hm_system *system = NULL;
    hm_sim *sim = NULL;
    hm_evaluation e;
    if (!context)
        return HM_ERR_NOMEM;
    hm_status status = hm_model_parse(context, text, strlen(text), NULL, &model);
    if (status == HM_OK)
        status = hm_system_create(model, &system);
    if (status == HM_OK)
        status = hm_sim_create(system, &sim);
    if (status == HM_OK)
        status = hm_sim_evaluate(sim, NULL, &e);
    hm_sim_destroy(sim);
    hm_system_destroy(system);
    hm_model_destroy(model);
    hm_context_destroy(context);
    return status;
}

/* The solver alone, every allocation: M sees the sum of two coordinates only, so that its second
 * pattern is made, too; the third row repeats the second. Exact: x0 = 1, x1 = 2, x2 = 3. */
static hm_status solve_small(failing_heap *heap, const void *user)
{
    static const size_t M_start[] = {0, 1, 3, 4}, A_start[] = {0, 2, 3, 4};
    static const uint32_t M_column[] = {0, 0, 1, 2}, A_column[] = {0, 1, 2, 2};
    static const double M[] = {1, 1, 1, 2}, A[] = {1, -1, 1, 2}, F[] = {4, 2, 7}, b[] = {-1, 3, 6};
    static const hmi_sparse_shape shape = {3, 3, M_start, M_column, A_start, A_column};
    const hm_allocator allocator = heap_allocator(heap);
    hmi_sparse_solver *solver = NULL;
    double x[3], lambda[3];
    (void)user;
    heap_arm(heap);
    hm_status status = hmi_sparse_create(&allocator, &shape, &solver);
    if (status == HM_OK)
        status = hmi_sparse_factor(solver, M, A);
    if (status == HM_OK)
        status = hmi_sparse_solve(solver, F, b, x, lambda);
    if (status == HM_OK) {
        check_close("x", 3, x, (const double[]){1, 2, 3}, 1e-13);
        assert_int_equal(hmi_sparse_rank(solver), 2);
        check_number("first", lambda[0], 3 - 4, 1e-13); /* M x = F + A^T lambda */
    }
    hmi_sparse_destroy(solver);
    return status;
}

static void test_solver_alone(void **state)
{
    (void)state;
    assert_true(heap_fail_each(solve_small, NULL, HEAP_ALL, HEAP_MUST_NOTICE) > 10);
}

static void fail_many(const char *text)
{
    long reported = heap_fail_each(whole_pipeline, text, HEAP_TRIES / 2, HEAP_MUST_NOTICE);
    print_message("%ld failed allocations\n", reported);
    assert_true(reported > 30);
}

static void test_allocation_failures(void **state)
{
    (void)state;
    fail_many("coord x[1..401]\nfor i = 1..401 { kinetic 1/2*x[i]'^2 }\n"
              "for i = 2..401 { constraint c[i]: x[i] = sin(x[i-1]) }\n"
              "constraint again: 2*x[2] = 2*sin(x[1])\n");
    fail_many("coord x[1..401]\nfor i = 2..401 { kinetic 1/2*(x[i]' - x[i-1]')^2 }\n"
              "for i = 1..401 { constraint c[i]: x[i] = sin(t) }\n");
    fail_many(blocks);
    fail_many(truss);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain),
        cmocka_unit_test(test_tree),
        cmocka_unit_test(test_coupled),
        cmocka_unit_test(test_singular),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_friction),
        cmocka_unit_test(test_truss),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_large_truss),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_nearly_dependent),
        cmocka_unit_test(test_allocation_failures),
        cmocka_unit_test(test_solver_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
