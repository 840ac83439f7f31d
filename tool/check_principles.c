/* hamel check: which principles of mechanics apply, each "no" with its reason and what to use instead. */
#include "check_report.h"
#include "values.h"

#include <math.h>
#include <stdlib.h>

static void print_row(const char *name, bool applies, const char *why)
{
    int width = 0;
    for (const char *p = name; *p; p++)
        width += (*p & 0xC0) != 0x80; /* characters, not bytes */
    printf("  %s%*s%s%s%s\n", name, 50 - width, "", applies ? "yes" : "no", *why ? ": " : "", why);
}

static void print_verdict(const hm_analysis *a)
{
    const hm_principles *p = &a->principles;
    if (!p->ideal)
        printf("  what follows is said of the ideal part of the constraint forces:\n");
    if (p->holonomic)
        printf("  the multiplier rule is valid: vary L + λ f freely\n");
    else if (p->semiholonomic && p->exact)
        printf("  the multiplier rule is valid: every G_kj is 0, and λ = −μ'\n");
    else if (p->semiholonomic)
        printf("  the multiplier rule is valid: every G_kj lies in the span of the rows; with an "
               "integrating\n  factor Φ, λ = −Φ d(μ/Φ)/dt\n");
    else if (p->worst)
        printf(
            "  the multiplier rule is not valid: G of '%s' has a part %.4g outside the span of "
            "the rows\n  (largest at random states); L + μ g varied freely gives other motions\n",
            p->worst, p->G);
    else if (p->acceleration)
        printf("  the multiplier rule says nothing of constraints on accelerations\n");
    else
        printf("  the multiplier rule is not valid for constraints nonlinear in the velocities\n");
}

static bool linear_forms(const hm_analysis *a)
{
    for (size_t i = 0; i < a->constraint_count; i++)
        if (a->constraints[i].linear_form)
            return true;
    return false;
}

/* Is an integral f printed for every constraint that is not of position level? */
static bool integrals_known(const hm_analysis *a)
{
    for (size_t i = 0; i < a->constraint_count; i++)
        if (a->constraints[i].level != HM_LEVEL_POSITION &&
            (!a->constraints[i].potential || a->constraints[i].integrated ||
             a->constraints[i].parts))
            return false;
    return true;
}

/* ---- Gauss ---- */

double find_zwang(hm_sim *sim, size_t n)
{
    hm_evaluation at;
    double sum = 0, *M = memory_new(n * n + 1, sizeof *M), *off = memory_new(n + 1, sizeof *off);
    bool known = M && off && n <= HM_MOST_DENSE && hm_sim_evaluate(sim, NULL, &at) == HM_OK &&
                 at.qdd && at.a && at.definite && at.contact_count == 0;
    if (known)
        hm_matrix_dense(&at.M, M);
    for (size_t i = 0; known && i < n; i++)
        off[i] = at.qdd[i] - at.a[i];
    for (size_t i = 0; known && i < n; i++)
        for (size_t j = 0; j < n; j++)
            sum += off[i] * M[i * n + j] * off[j];
    free(M);
    free(off);
    return known ? sum : NAN;
}

/* ---- reasons ---- */

static const char *basic_reason(const hm_analysis *a)
{
    const hm_principles *p = &a->principles;
    return !p->ideal         ? "the constraints do work, `nonideal`; use (35)"
           : p->acceleration ? "constraints on accelerations say nothing of δq; use Gauss"
           : !p->basic
               ? "g is nonlinear in q', no linear relation of δq; use Jourdain or Chetaev's rule"
           : linear_forms(a) ? "with the linear form"
                             : "";
}

/* "WHY; use ALTERNATIVE", into buffer: (50) for integrals, where d'Alembert's basic principle applies. */
enum { REASON = 120 };
static const char *advise(char buffer[REASON], const hm_principles *p, bool integral,
                          const char *why)
{
    const char *instead = p->acceleration ? "Gauss"
                          : !p->basic     ? "Jourdain"
                          : integral      ? "(50)"
                                          : "(14)";
    snprintf(buffer, REASON, "%s; use %s", why, instead);
    return buffer;
}

/* Of L + λ f. */
static const char *holonomic_reason(char buffer[REASON], const hm_analysis *a)
{
    const hm_principles *p = &a->principles;
    return !p->ideal      ? "as for (14)"
           : p->holonomic ? ""
           : integrals_known(a)
               ? "with f"
               : advise(buffer, p, false, "not all constraints are of position level");
}

/* Of L + μ g. */
static const char *multiplier_reason(char buffer[REASON], const hm_principles *p)
{
    if (!p->ideal || p->semiholonomic)
        return p->ideal ? "" : "as for (14)";
    return advise(buffer, p, false,
                  p->acceleration ? "constraints on accelerations have no g"
                  : p->nonlinear  ? "g is nonlinear in q'"
                                  : "displaced paths violate g = 0");
}

/* Of a variational principle, given whether its integrand would do. */
static const char *variational_reason(char buffer[REASON], const hm_principles *p, bool valid,
                                      const char *why)
{
    if (!p->ideal)
        return "as for (14)";
    if (!p->potential)
        return advise(buffer, p, true, "there are forces that L does not give");
    return valid ? why : advise(buffer, p, true, why);
}

static void print_differential(const findings *found)
{
    const hm_principles *p = &found->analysis->principles;
    char zwang[80] = "";
    if (p->ideal && !isnan(found->zwang))
        snprintf(zwang, sizeof zwang, "least Zwang %.6g at the initial state",
                 positive_zero(found->zwang));
    print_row("Jourdain's principle, δq' with δq = 0", p->ideal && !p->acceleration,
              !p->ideal         ? "as for (14)"
              : p->acceleration ? "constraints on accelerations say nothing of δq'; use Gauss"
                                : "");
    print_row("Gauss's principle, (q'' − a)ᵀM(q'' − a) least", p->ideal,
              p->ideal ? zwang : "as for (14)");
    if (p->nonlinear)
        print_row("Chetaev's rule, (∂g/∂q')·δq = 0", p->ideal && !p->acceleration,
                  !p->ideal         ? "as for (14)"
                  : p->acceleration ? "constraints on accelerations have no g; use Gauss"
                                    : "by definition of δq");
    print_row("generalized D'Alembert, v·Qc = v·C, UK 2002 (35)", true, p->ideal ? "C = 0" : "");
}

void print_principles(const findings *found)
{
    const hm_analysis *a = found->analysis;
    const hm_principles *p = &a->principles;
    if (a->constraint_count == 0 || !a->set.known)
        return;
    bool basic = p->basic && p->ideal, semiholonomic = p->semiholonomic && p->ideal;
    bool holonomic = (p->holonomic || integrals_known(a)) && p->ideal;
    char text[REASON];
    const char *with_f = p->holonomic ? "" : "with f";
    printf("\nwhich principle applies? (equation numbers: Flannery 2005)\n");
    print_row("D'Alembert's basic principle (14)", basic, basic_reason(a));
    print_row("D'Alembert generalized, L + λ f(q,t) (22)", holonomic, holonomic_reason(text, a));
    print_row("D'Alembert generalized, L + μ g(q,q',t) (29)", semiholonomic,
              multiplier_reason(text, p));
    print_row("Hamilton's integral principle (50)", basic, basic ? "" : "as for (14)");
    print_row("Hamilton's variational principle, L + λ f (52)", holonomic && p->potential,
              variational_reason(text, p, holonomic, holonomic ? with_f : "as for (22)"));
    print_row("Hamilton's variational principle, L + μ g (53)", semiholonomic && p->potential,
              variational_reason(text, p, semiholonomic, semiholonomic ? "" : "as for (29)"));
    print_differential(found);
    print_verdict(a);
}

/* ---- JSON ---- */

json_t *principles_object(const findings *found)
{
    const hm_principles *p = &found->analysis->principles;
    bool ideal = p->ideal;
    json_t *o = json_pack("{s:b, s:b, s:b, s:b, s:b, s:b, s:b, s:b}", "dalembert",
                          p->basic && ideal, "dalembert_holonomic", p->holonomic && ideal,
                          "dalembert_semiholonomic", p->semiholonomic && ideal, "hamilton_integral",
                          p->basic && ideal, "hamilton_holonomic",
                          p->holonomic && ideal && p->potential, "hamilton_semiholonomic",
                          p->semiholonomic && ideal && p->potential, "multiplier_rule",
                          p->semiholonomic, "lambda_is_minus_mudot", p->exact && !p->holonomic);
    json_object_set_new(o, "ideal", json_boolean(ideal));
    json_object_set_new(o, "dalembert_nonideal", json_true());
    json_object_set_new(o, "chetaev", json_boolean(p->nonlinear));
    json_object_set_new(o, "gauss", json_boolean(p->acceleration));
    json_object_set_new(o, "dalembert_with_f",
                        json_boolean(ideal && !p->holonomic && integrals_known(found->analysis)));
    json_object_set_new(o, "jourdain", json_boolean(ideal && !p->acceleration));
    json_object_set_new(o, "zwang", json_number_or_null(ideal ? found->zwang : NAN));
    json_object_set_new(o, "G", json_number_or_null(p->G));
    json_object_set_new(o, "worst", p->worst ? json_string(p->worst) : json_null());
    return o;
}
