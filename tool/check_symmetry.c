/* Symmetries and conserved quantities in `hamel check`. */
#include "check_report.h"
#include "fold.h"
#include "values.h"

#include <math.h>
#include <string.h>

/* ---- text ---- */

static const char *yes_or_no(hm_answer answer)
{
    return answer == HM_ANSWER_YES ? "yes" : answer == HM_ANSWER_NO ? "no" : "unknown";
}

/* Is the momentum long, and listed below among what is conserved? Then it is printed there only. */
static bool is_below(const findings *all, const hm_symmetry *s)
{
    const hm_symmetries *found = all->symmetries;
    for (size_t i = 0; i < found->integral_count; i++)
        if (strcmp(found->integrals[i].expression, s->momentum) == 0)
            return fold_expression(s->momentum, false).folded;
    return false;
}

static void print_momentum(const findings *all, const hm_symmetry *s)
{
    bool conserved = s->conserved == HM_ANSWER_YES;
    if (conserved && is_below(all, s)) {
        printf("    J is conserved, see below\n");
        return;
    }
    printf("    J = ");
    print_folded(s->momentum, all->full);
    printf("%s\n", conserved ? " is conserved" : "");
}

static void print_generator(const hm_model *model, const findings *all, const hm_symmetry *s)
{
    const char *between = "";
    printf("  %-18s ", s->name);
    for (size_t i = 0; i < hm_model_coordinate_count(model); i++)
        if (s->generator[i]) {
            printf("%s%s: %s", between, hm_model_coordinate_name(model, i), s->generator[i]);
            between = ", ";
        }
    printf("\n    L unchanged: %s, constraints unchanged: %s, a virtual displacement: %s\n",
           yes_or_no(s->lagrangian_invariant), yes_or_no(s->distribution_invariant),
           yes_or_no(s->horizontal));
    print_momentum(all, s);
    if (s->where)
        printf("    shown where %s only\n", s->where);
    if (s->equation) {
        printf("    J' = ");
        print_folded(s->equation, all->full);
        printf("\n");
    }
}

static void print_conserved(const hm_symmetries *found, bool full)
{
    printf("\nconserved (zero rate at %zu random states to %d bits", found->states, found->bits);
    if (found->run_end > found->run_start)
        printf("; checked on a run from t = %g to %.3g", found->run_start, found->run_end);
    printf(")\n");
    for (size_t i = 0; i < found->integral_count; i++) {
        const hm_integral *integral = &found->integrals[i];
        printf("  ");
        print_folded(integral->expression, full);
        printf("\n    %s", integral->from);
        if (integral->checked)
            printf("; changes by %.1e over the run", integral->drift);
        printf("\n");
        if (integral->where)
            printf("    shown where %s only\n", integral->where);
    }
    if (!found->integral_count)
        printf("  nothing found: neither the energy nor a quantity linear in the velocities\n");
}

void print_symmetries(const hm_model *model, const findings *all)
{
    const hm_symmetries *found = all->symmetries;
    if (found->refusal) {
        printf("\nsymmetries and conserved quantities were not searched for: %s\n", found->refusal);
        return;
    }
    if (found->symmetry_count)
        printf("\nsymmetries\n");
    for (size_t i = 0; i < found->symmetry_count; i++)
        print_generator(model, all, &found->symmetries[i]);
    print_conserved(found, all->full);
}

/* ---- JSON ---- */

static json_t *answer_value(hm_answer answer)
{
    return answer == HM_ANSWER_UNKNOWN ? json_null() : json_boolean(answer == HM_ANSWER_YES);
}

static json_t *symmetry_object(const hm_model *model, const hm_symmetry *s)
{
    json_t *o = json_object(), *generator = json_object();
    for (size_t i = 0; i < hm_model_coordinate_count(model); i++)
        if (s->generator[i])
            json_object_set_new(generator, hm_model_coordinate_name(model, i),
                                json_string(s->generator[i]));
    json_object_set_new(o, "name", json_string(s->name));
    json_object_set_new(o, "discovered", json_boolean(s->discovered));
    json_object_set_new(o, "generator", generator);
    json_object_set_new(o, "lagrangian_invariant", answer_value(s->lagrangian_invariant));
    json_object_set_new(o, "distribution_invariant", answer_value(s->distribution_invariant));
    json_object_set_new(o, "horizontal", answer_value(s->horizontal));
    json_object_set_new(o, "conserved", answer_value(s->conserved));
    json_object_set_new(o, "momentum", json_string(s->momentum));
    json_object_set_new(o, "equation", s->equation ? json_string(s->equation) : json_null());
    json_object_set_new(o, "where", s->where ? json_string(s->where) : json_null());
    return o;
}

void add_symmetries(json_t *object, const hm_model *model, const hm_symmetries *found)
{
    json_t *symmetries = json_array(), *conserved = json_array();
    for (size_t i = 0; i < found->symmetry_count; i++)
        json_array_append_new(symmetries, symmetry_object(model, &found->symmetries[i]));
    for (size_t i = 0; i < found->integral_count; i++) {
        const hm_integral *integral = &found->integrals[i];
        json_t *o = json_pack("{s:s, s:s}", "expression", integral->expression, "from",
                              integral->from);
        json_object_set_new(o, "drift",
                            integral->checked ? json_number_or_null(integral->drift) : json_null());
        json_object_set_new(o, "where",
                            integral->where ? json_string(integral->where) : json_null());
        json_array_append_new(conserved, o);
    }
    if (found->refusal)
        json_object_set_new(object, "not_sought", json_string(found->refusal));
    json_object_set_new(object, "symmetries",
                        found->refusal ? json_null() : json_incref(symmetries));
    json_object_set_new(object, "conserved", found->refusal ? json_null() : json_incref(conserved));
    json_decref(symmetries);
    json_decref(conserved);
}
