/* The energy in `hamel check`: conserved or not, and what changes it. */
#include "check_report.h"
#include "values.h"

/* Powers that may change the total energy, in words. */
typedef struct cause {
    const char *key, *text;
    double share;
} cause;

enum { CAUSES = 6 };

static void list_causes(const hm_energy *e, cause list[CAUSES])
{
    list[0] = (cause){"impressed", "impressed forces do work", e->share.impressed};
    list[1] = (cause){"dissipation", "there is dissipation", e->share.dissipation};
    list[2] = (cause){"ideal", "ideal constraint forces do work", e->share.ideal};
    list[3] = (cause){"nonideal", "non-ideal constraint forces do work", e->share.nonideal};
    list[4] = (cause){"servo", "servo forces do work", e->share.servo};
    list[5] = (cause){"explicit_time", "t occurs in L", e->share.explicit_time};
}

static void print_rows(const hm_model *model, const findings *found)
{
    const char *between = " (";
    for (size_t i = 0; i < hm_model_constraint_count(model); i++)
        if (found->row_works[i]) {
            printf("%s%s", between, hm_model_constraint(model, i).name);
            between = ", ";
        }
    printf("%s", between[0] == ',' ? ": not homogeneous in q', or driven by t)" : "");
}

void print_energy(const hm_model *model, const findings *found)
{
    const hm_energy *e = &found->energy;
    const char *name = e->jacobi ? "q'·∂L/∂q' − L (Jacobi's integral)" : "T + V";
    cause list[CAUSES];
    if (!e->defined)
        return;
    printf("\nenergy\n");
    if (e->conserved) {
        printf("  %s is conserved: its rate is 0 at %d random states\n", name, e->states);
        if (!e->bits)
            printf("  (in double precision, to 1e-9 of what it is added up from)\n");
        if (e->unseen)
            printf("  (%d side%s of functions that are not smooth could not be looked at)\n",
                   e->unseen, e->unseen == 1 ? "" : "s");
        return;
    }
    printf("  %s is not conserved:", name);
    list_causes(e, list);
    const char *between = " ";
    for (size_t i = 0; i < CAUSES; i++)
        if (list[i].share > 0) {
            printf("%s%s", between, list[i].text);
            if (i == 2)
                print_rows(model, found);
            between = "; ";
        }
    printf("\n");
}

json_t *energy_object(const hm_model *model, const findings *found)
{
    const hm_energy *e = &found->energy;
    cause list[CAUSES];
    if (!e->defined)
        return json_null();
    json_t *causes = json_object(), *rows = json_array();
    list_causes(e, list);
    for (size_t i = 0; i < CAUSES; i++)
        if (list[i].share > 0)
            json_object_set_new(causes, list[i].key, json_number_or_null(list[i].share));
    for (size_t i = 0; i < hm_model_constraint_count(model); i++)
        if (found->row_works[i])
            json_array_append_new(rows, json_string(hm_model_constraint(model, i).name));
    return json_pack("{s:s, s:b, s:i, s:i, s:i, s:o, s:o}", "quantity",
                     e->jacobi ? "jacobi" : "energy", "conserved", e->conserved, "states",
                     e->states, "bits", e->bits, "sides_unseen", e->unseen, "changed_by", causes,
                     "working_constraints", rows);
}
