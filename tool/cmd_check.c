/* hamel check: is the model sound? Names, shapes, levels and linearity of the constraints. */
#include "command.h"
#include "values.h"

#include <string.h>

static json_t *constraint_object(const hm_constraint_info *row)
{
    return json_pack("{s:s, s:s, s:b, s:s}", "name", row->name, "level", hm_level_text(row->level),
                     "linear", row->linear, "time", row->rheonomic ? "rheonomic" : "scleronomic");
}

static int print_json(const session *s)
{
    const hm_model *model = s->model;
    json_t *object = json_object(), *coordinates = json_array(), *constraints = json_array(),
           *servos = json_array();
    for (size_t i = 0; i < hm_model_coordinate_count(model); i++)
        json_array_append_new(coordinates, json_string(hm_model_coordinate_name(model, i)));
    for (size_t i = 0; i < hm_model_constraint_count(model); i++) {
        hm_constraint_info row = hm_model_constraint(model, i);
        json_array_append_new(constraints, constraint_object(&row));
    }
    for (size_t i = 0; i < hm_model_servo_count(model); i++) {
        hm_constraint_info row = hm_model_servo(model, i);
        json_array_append_new(servos, constraint_object(&row));
    }
    json_object_set_new(object, "model", json_string(hm_model_name(model)));
    json_object_set_new(object, "coordinates", coordinates);
    json_object_set_new(object, "constraints", constraints);
    json_object_set_new(object, "servos", servos);
    json_object_set(object, "warnings", s->warnings);
    bool written = json_print(object);
    json_decref(object);
    return written ? EXIT_DONE : EXIT_FAILED;
}

static void print_row(const char *kind, const hm_constraint_info *row)
{
    printf("    %s%-16s %s level%s%s\n", kind, row->name, hm_level_text(row->level),
           row->level == HM_LEVEL_VELOCITY ? row->linear ? ", linear" : ", nonlinear" : "",
           row->rheonomic ? ", depends on t" : "");
}

static void print_text(const session *s)
{
    const hm_model *model = s->model;
    hm_system_statistics size = hm_system_get_statistics(s->system);
    printf("%s", hm_model_name(model));
    if (hm_model_title(model))
        printf(": %s", hm_model_title(model));
    printf("\n%zu coordinates, %zu parameters, %zu inputs, %zu states, %zu outputs\n",
           hm_model_coordinate_count(model), hm_model_param_count(model),
           hm_model_input_count(model), hm_model_state_count(model), hm_model_output_count(model));
    printf("%zu constraint rows\n", hm_model_constraint_count(model));
    for (size_t i = 0; i < hm_model_constraint_count(model) && i < 60; i++) {
        hm_constraint_info row = hm_model_constraint(model, i);
        print_row("", &row);
    }
    if (hm_model_constraint_count(model) > 60)
        printf("    ... and %zu more\n", hm_model_constraint_count(model) - 60);
    for (size_t i = 0; i < hm_model_servo_count(model); i++) {
        hm_constraint_info row = hm_model_servo(model, i);
        print_row("servo ", &row);
    }
    printf("M has %zu structural nonzeros in its lower triangle, A has %zu; %zu operations an "
           "evaluation\n",
           size.mass_entries, size.constraint_entries, size.tape_nodes);
    printf("the model is sound\n");
}

static int run(const invocation *call)
{
    session s;
    int status = session_open(&s, call, true);
    if (status == EXIT_DONE && hm_system_warn_conflated(s.system) > 0)
        session_take_warnings(&s, call->quiet);
    if (status == EXIT_DONE && call->json)
        status = print_json(&s);
    else if (status == EXIT_DONE)
        print_text(&s);
    session_close(&s);
    return status;
}

static const option_spec options[] = {{0}};

const command command_check = {
    .name = "check",
    .summary = "is the model sound? level and linearity of every constraint",
    .usage = "MODEL [options]",
    .example = "hamel check skate",
    .options = options,
    .needs_model = true,
    .run = run,
};
