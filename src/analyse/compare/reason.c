/* Why the wrong equations differ from the right ones, or do not, in words. */
#include "analyse/compare/comparison.h"

#include "linalg/dense.h"

#include <math.h>

static const double agrees = 1e-9;

static bool all_position(const hm_comparison *c)
{
    for (size_t i = 0; i < c->m; i++)
        if (c->system->model->constraints.data[i].level != HM_LEVEL_POSITION)
            return false;
    return true;
}

/* With g nonlinear in q' the mass matrix is M + mu d2g/dq'2, so that G = 0 says nothing. */
static bool any_nonlinear(const hm_comparison *c)
{
    for (size_t i = 0; i < c->m; i++)
        if (!hm_model_constraint(c->system->model, i).linear)
            return true;
    return false;
}

static void explain_nonlinear(hmi_text *r, const hm_compared *at, double mu)
{
    hmi_text_add(r,
                 "Here a constraint is not linear in the velocities: mu d2g/dq'2 adds to the mass "
                 "matrix, too, whatever G is. ");
    if (mu == 0)
        hmi_text_add(r, "With mu = 0 the accelerations agree at this instant, mu' = -lambda; the "
                        "added term grows with mu.");
    else if (at->largest_difference <= agrees)
        hmi_text_add(r, "At this state the accelerations agree nevertheless.");
    else
        hmi_text_add(r, "The motion is not that of the mechanical system.");
}

static void explain_vakonomic(hm_comparison *c, const hm_compared *at)
{
    hmi_text *r = &c->reason;
    double G = hmi_max_abs((int)(c->m * c->n), at->G), mu = hmi_max_abs((int)c->k, at->mu);
    hmi_text_add(r, "The multiplier rule adds mu g to L and varies mu, too, which compares paths "
                    "that satisfy the constraint; d'Alembert's principle compares displacements "
                    "that do. The two commute only where mu G vanishes in the allowed directions, "
                    "G = d/dt(dg/dq') - dg/dq. ");
    if (any_nonlinear(c))
        explain_nonlinear(r, at, mu);
    else if (G == 0)
        hmi_text_add(r,
                     "Here G = 0 and the constraints are exact: the rule is right, lambda = -mu'.");
    else if (at->G_in_span)
        hmi_text_add(r, "Here G is not 0 but a combination of the rows of A, so that its part is "
                        "taken up by mu': the motion is right for every mu.");
    else if (at->largest_difference <= agrees && mu == 0)
        hmi_text_addf(r,
                      "Here G has a part of %.3g outside the span of the rows of A. With mu = 0 "
                      "the accelerations agree at this instant, mu' = -lambda; then mu grows and "
                      "the motions diverge.",
                      at->G_distance);
    else if (at->largest_difference <= agrees)
        hmi_text_add(r, "Here the accelerations agree, although G is not in the span of the rows "
                        "of A: that is special to this state, the rule is not valid.");
    else
        hmi_text_addf(r,
                      "Here G has a part of %.3g outside the span of the rows of A and mu is not "
                      "0: the constraint force does work along allowed displacements, and the "
                      "motion is not that of the mechanical system.",
                      at->G_distance);
}

static void explain_lambda(hm_comparison *c, const hm_compared *at)
{
    double largest = 0;
    for (size_t i = 0; i < c->m; i++)
        largest = fmax(largest, fabs(at->other_lambda[i] - at->correct_lambda[i]));
    if (largest > agrees * fmax(1, hmi_max_abs((int)c->m, at->correct_lambda)))
        hmi_text_addf(&c->reason,
                      " The multipliers are wrong by up to %.6g%s: forces were moved from the "
                      "constraint into L.",
                      largest, at->largest_difference > agrees ? ", too" : " nevertheless");
}

static void explain_conflated(hm_comparison *c, const hm_compared *at, double readings, int rank)
{
    hmi_text *r = &c->reason;
    hmi_text_add(r, "Lagrange's equations need the L of the system without constraints, with all "
                    "velocities independent. Putting the constraint into L first removes "
                    "derivatives of L across the constraint. ");
    if (fabs(at->equation_residual) > 1e-6)
        hmi_text_addf(r,
                      "(What was substituted does not hold at this state: it is violated by %.3g, "
                      "so it does not follow from the constraints, or the state violates them.) ",
                      at->equation_residual);
    if (at->rank_M < rank)
        hmi_text_addf(r, "L+ lost rank: its mass matrix has rank %d of %d. ", at->rank_M,
                      (int)c->n);
    bool wrong = at->largest_difference > agrees, holds = fabs(at->equation_residual) <= 1e-6;
    if (wrong)
        hmi_text_addf(r, "Here the relative error of the accelerations is %.3g%s.",
                      at->largest_difference,
                      holds ? ": the constraint is not integrable, so that what was removed does "
                              "not cancel"
                            : "");
    else if (all_position(c))
        hmi_text_add(r,
                     "Here that is harmless for the motion, since the constraints are holonomic.");
    else
        hmi_text_add(r, "Here the accelerations agree at this state.");
    explain_lambda(c, at);
    if (readings >= 0 && readings < 1e-6)
        hmi_text_addf(r,
                      " Whether the virtual displacements are then taken as free, with a "
                      "multiplier, or as bound by the constraint gives the same accelerations "
                      "(to %.0e)%s.",
                      fmax(readings, 1e-16),
                      wrong ? ": both readings of L+ are equally wrong"
                            : ", in both readings of L+");
}

void hmi_explain_comparison(hm_comparison *c, hm_compared *at, double readings, int free_rank)
{
    c->reason.length = 0;
    if (c->kind == HMI_VAKONOMIC)
        explain_vakonomic(c, at);
    else
        explain_conflated(c, at, readings, free_rank);
    at->reason = hmi_text_view(&c->reason);
}
