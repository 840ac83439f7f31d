/* Hamel from a C program: a model from a string, its equations as numbers.
 *
 *     cc evaluate.c $(pkg-config --cflags --libs hamel) && ./a.out
 *
 * A pendulum hangs from a cart that a motor pushes along a rail. The pendulum is described by the
 * position of its bob, and the rod is a constraint. The program prints M, Q, A, b and q'' of
 *
 *     M q'' = Q + A^T lambda,    A q'' = b
 *
 * and checks them against the formulas one writes by hand.
 */
#include <hamel/hamel.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char model_text[] = /* as it would stand in cart.hamel */
    "model cart \"Pendulum on a cart\"\n"
    "param M = 2, m = 1, l = 0.5, g = 9.81\n"
    "coord s, x, y                              # cart, and bob\n"
    "input F = 0                                # the motor\n"
    "body cart { mass M  at [s, 0] }\n"
    "body bob { mass m  at [x, y] }\n"
    "gravity [0, -g]\n"
    "force s = F\n"
    "constraint rod: (x - s)^2 + y^2 = l^2\n"
    "initial y = -l\n";

/* Diagnostics say what is wrong with a model, where, and what to do about it. */
static int complain(const hm_context *context, hm_status status)
{
    char text[1000];
    for (size_t i = 0; i < hm_context_diagnostic_count(context); i++) {
        hm_diagnostic_format(hm_context_diagnostic(context, i), false, text, sizeof text);
        fprintf(stderr, "%s\n", text);
    }
    fprintf(stderr, "evaluate: %s\n", hm_status_text(status));
    return 1;
}

static void show_names(const hm_model *model)
{
    printf("%s: %s\n", hm_model_name(model), hm_model_title(model));
    for (size_t i = 0; i < hm_model_coordinate_count(model); i++)
        printf("  coordinate %s\n", hm_model_coordinate_name(model, i));
    for (size_t i = 0; i < hm_model_param_count(model); i++)
        printf("  parameter  %s = %g\n", hm_model_param_name(model, i),
               hm_model_param_value(model, i));
    for (size_t i = 0; i < hm_model_constraint_count(model); i++) {
        hm_constraint_info row = hm_model_constraint(model, i);
        printf("  constraint %s, on the %s\n", row.name, hm_level_text(row.level));
    }
}

static void show_matrix(const char *name, size_t rows, size_t columns, const double *x)
{
    for (size_t i = 0; i < rows; i++) {
        printf("%-3s", i == 0 ? name : "");
        for (size_t j = 0; j < columns; j++)
            printf(" %10.4f", x[i * columns + j]);
        printf("\n");
    }
}

static int differs(const char *what, double value, double expected)
{
    if (fabs(value - expected) <= 1e-12)
        return 0;
    fprintf(stderr, "evaluate: %s is %.17g, expected %.17g\n", what, value, expected);
    return 1;
}

/* Matrices come sparse, since systems may be large; small ones are easier to read dense. */
static int show_equations(const hm_evaluation *at)
{
    double M[9], A[3];
    hm_matrix_dense(&at->M, M);
    hm_matrix_dense(&at->A, A);
    show_matrix("M", 3, 3, M);
    show_matrix("Q", 1, 3, at->Q);
    show_matrix("A", 1, 3, A);
    show_matrix("b", 1, 1, at->b);
    show_matrix("q''", 1, 3, at->qdd);
    double ds = at->q[1] - at->q[0], vx = at->v[1] - at->v[0], vy = at->v[2];
    double pull = at->lambda[0] * A[0]; /* of the rod on the cart */
    printf("The rod pulls the cart with %.4f.\n", pull);
    return differs("M_ss", M[0], 2) | differs("M s''", 2 * at->qdd[0], 3 + pull) |
           differs("M_xx", M[4], 1.5) | differs("Q_s", at->Q[0], 3) |
           differs("Q_y", at->Q[2], -1.5 * 9.81) | differs("A_s", A[0], -2 * ds) |
           differs("A_y", A[2], 2 * at->q[2]) | differs("b", at->b[0], -2 * (vx * vx + vy * vy));
}

/* Evaluates the system with another bob, a push and a state of our own. */
static hm_status evaluate(hm_sim *sim, hm_evaluation *at)
{
    const double q[3] = {0.1, 0.4, -0.4}, v[3] = {0.5, 1.0, 0.375}; /* s, x, y and rates */
    hm_status status = hm_sim_set_param(sim, "m", 1.5);
    if (status == HM_OK)
        status = hm_sim_set_input(sim, 0, 3.0, 0, 0);
    hm_sim_set_state(sim, 0, q, v, NULL);
    return status == HM_OK ? hm_sim_evaluate(sim, NULL, at) : status;
}

int main(void)
{
    hm_context *context = hm_context_create(NULL); /* collects the messages */
    hm_model *model = NULL;                        /* what was written, checked */
    hm_system *system = NULL;                      /* derived and compiled; threads may share it */
    hm_sim *sim = NULL;                            /* one state of it */
    hm_evaluation at;
    if (!context)
        return 1;

    hm_status status = hm_model_parse(context, model_text, strlen(model_text), NULL, &model);
    if (status == HM_OK)
        status = hm_system_create(model, &system);
    if (status == HM_OK)
        status = hm_sim_create(system, &sim);
    if (status == HM_OK)
        status = evaluate(sim, &at);

    int failed = 0;
    if (status != HM_OK) {
        failed = complain(sim ? hm_sim_context(sim) : context, status);
    } else {
        show_names(model);
        failed = show_equations(&at);
    }
    hm_sim_destroy(sim); /* in reverse order; NULL is fine */
    hm_system_destroy(system);
    hm_model_destroy(model);
    hm_context_destroy(context);
    return failed;
}
