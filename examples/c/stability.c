/* Hamel from a C program: how fast must a coin roll to stay upright?
 *
 *     cc stability.c $(pkg-config --cflags --libs hamel) && ./a.out
 *
 * A thin disc rolls straight on. Its motion is linearised on the constraint manifold at many speeds;
 * bisection finds where it ceases to be unstable, which theory puts at spin'^2 = g/(3 r). Then the
 * same disc is run by the multiplier rule, which is wrong for rolling, and the difference shown.
 */
#include <hamel/hamel.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char model_text[] =
    "model disc \"Thin disc rolling on a plane\"\n"
    "param m = 1, r = 0.3, g = 9.81\n"
    "coord x, y, yaw, lean, spin\n"
    "let upright = rotz(yaw)*rotx(lean)\n"
    "let P = [x, y, r*cos(lean)]\n"
    "body disc { mass m  inertia m*r^2/4*diag(1, 2, 1)  at P  frame upright*roty(spin) }\n"
    "gravity [0, 0, -g]\n"
    "let slip = P' - cross(omega(upright*roty(spin)), upright*[0, 0, r])\n"
    "constraint roll: [slip[1], slip[2]] = 0\n"
    "initial spin' = 5, x' ~ 1\n"
    "simulate 0 .. 1 every 0.1\n";

/* Stability of rolling straight on at this rate. */
static hm_status look(hm_sim *sim, double spin, hm_stability *stability)
{
    const double q[5] = {0}, v[5] = {0.3 * spin, 0, 0, 0, spin};
    hm_linearization *about = NULL;
    hm_sim_set_state(sim, 0, q, v, NULL);
    hm_status status = hm_sim_linearize(sim, NULL, &about);
    if (status == HM_OK)
        *stability = about->stability;
    hm_linearization_destroy(about);
    return status;
}

static hm_status find_threshold(hm_sim *sim, double *slow, double *fast)
{
    while (*fast - *slow > 1e-9) {
        double middle = (*slow + *fast) / 2;
        hm_stability stability;
        hm_status status = look(sim, middle, &stability);
        if (status != HM_OK)
            return status;
        *(stability == HM_STABILITY_UNSTABLE ? slow : fast) = middle;
    }
    return HM_OK;
}

/* Rolling in a circle, by d'Alembert and by the multiplier rule with mu = 0.1 at the start. */
static hm_status compare(const hm_system *system, hm_sim *sim)
{
    const double q[5] = {0, 0, 0, 0.1, 0}, v[5] = {1.5, 0, 0.5, 0, 5}, mu[2] = {0.1, 0.1};
    const hm_moved *moved;
    size_t count;
    hm_comparison *rule = NULL;
    hm_diverging motion;
    hm_sim_set_state(sim, 0, q, v, NULL);
    hm_status status = hm_sim_make_consistent(sim, true, &moved, &count);
    if (status == HM_OK)
        status = hm_comparison_create(hm_sim_context(sim), system, "vakonomic", &rule);
    if (status == HM_OK)
        status = hm_comparison_run(rule, sim, NULL, mu, &motion);
    for (size_t k = 0; status == HM_OK && k < motion.count; k += 5)
        printf("t = %.1f: the multiplier rule is off by %.4f\n", motion.t[k], motion.distance[k]);
    hm_comparison_destroy(rule);
    return status;
}

int main(void)
{
    hm_context *context = hm_context_create(NULL);
    hm_model *model = NULL;
    hm_system *system = NULL;
    hm_sim *sim = NULL;
    double slow = 0.5, fast = 20, expected = sqrt(9.81 / (3 * 0.3));
    hm_status status = context
                           ? hm_model_parse(context, model_text, strlen(model_text), NULL, &model)
                           : HM_ERR_NOMEM;
    if (status == HM_OK)
        status = hm_system_create(model, &system);
    if (status == HM_OK)
        status = hm_sim_create(system, &sim);
    if (status == HM_OK)
        status = find_threshold(sim, &slow, &fast);
    if (status == HM_OK) {
        printf("upright from spin' = %.6f, theory says %.6f\n", fast, expected);
        status = compare(system, sim);
    }
    if (status != HM_OK)
        fprintf(stderr, "stability: %s\n", hm_status_text(status));
    hm_sim_destroy(sim);
    hm_system_destroy(system);
    hm_model_destroy(model);
    hm_context_destroy(context);
    return status == HM_OK && fabs(fast - expected) < 1e-6 ? 0 : 1;
}
