/* What kind of constraint is this? A knife edge is nonholonomic: two ways to move, three places to
 * reach. */
#include <hamel/hamel.h>

#include <stdio.h>
#include <string.h>

static const char model_text[] = "coord x, y, phi\n"
                                 "kinetic (x'^2 + y'^2 + phi'^2)/2\n"
                                 "constraint edge: x'*sin(phi) = y'*cos(phi)\n";

static void print(const hm_analysis *analysis)
{
    for (size_t i = 0; i < analysis->constraint_count; i++) {
        const hm_constraint_analysis *c = &analysis->constraints[i];
        printf("%s: %s\n", c->name, hm_class_text(c->kind));
    }
    printf("degrees of freedom %zu, configurations %zu\n", analysis->set.degrees_of_freedom,
           analysis->set.configuration_dimension);
}

int main(void)
{
    hm_context *context = hm_context_create(NULL);
    hm_model *model = NULL;
    hm_system *system = NULL;
    hm_analysis *analysis = NULL;
    if (!context)
        return 1;
    hm_status status = hm_model_parse(context, model_text, strlen(model_text), NULL, &model);
    if (status == HM_OK)
        status = hm_system_create(model, &system);
    if (status == HM_OK)
        status = hm_system_analyse(context, system, &analysis);
    if (status == HM_OK)
        print(analysis);
    bool right = status == HM_OK && analysis->constraints[0].kind == HM_CLASS_NONHOLONOMIC &&
                 analysis->set.configuration_dimension == 3;
    hm_analysis_destroy(analysis);
    hm_system_destroy(system);
    hm_model_destroy(model);
    hm_context_destroy(context);
    return right ? 0 : 1;
}
