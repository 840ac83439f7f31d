/* The public questions about a model. */
#include "expr/graph/diff.h"
#include "lang/parser.h"
#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *hm_model_name(const hm_model *model)
{
    if (!model)
        return NULL;
    return model->name ? model->name : "model";
}

uint64_t hm_model_fingerprint(const hm_model *model)
{
    if (!model)
        return 0;
    return model->fingerprint;
}

const char *hm_model_title(const hm_model *model)
{
    if (!model)
        return NULL;
    return model->title;
}

/* Count and name of one kind of thing. */
#define COUNT_AND_NAME(what, array)                                                                \
    size_t hm_model_##what##_count(const hm_model *model)                                          \
    {                                                                                              \
        return model ? model->array.count : 0;                                                     \
    }                                                                                              \
    const char *hm_model_##what##_name(const hm_model *model, size_t index)                        \
    {                                                                                              \
        return model && index < model->array.count ? model->array.data[index].name : NULL;         \
    }

COUNT_AND_NAME(coordinate, coords)
COUNT_AND_NAME(param, params)
COUNT_AND_NAME(input, inputs)
COUNT_AND_NAME(state, states)
COUNT_AND_NAME(output, outputs)
COUNT_AND_NAME(servo_group, servos)

/* What was written for people to read, and for sliders. */
#define TEXT_AND_RANGE(what, array)                                                                \
    const char *hm_model_##what##_text(const hm_model *model, size_t index)                        \
    {                                                                                              \
        bool there = model && index < model->array.count;                                          \
        const hmi_shown *s = there ? model->array.data[index].shown : NULL;                        \
        return s ? s->text : NULL;                                                                 \
    }                                                                                              \
    bool hm_model_##what##_range(const hm_model *model, size_t index, double *low, double *high)   \
    {                                                                                              \
        bool there = model && low && high && index < model->array.count;                           \
        const hmi_shown *s = there ? model->array.data[index].shown : NULL;                        \
        if (!s || !s->has_range)                                                                   \
            return false;                                                                          \
        *low = s->low;                                                                             \
        *high = s->high;                                                                           \
        return true;                                                                               \
    }

TEXT_AND_RANGE(param, params)
TEXT_AND_RANGE(coordinate, coords)
TEXT_AND_RANGE(output, outputs)

size_t hm_model_drawing_count(const hm_model *model)
{
    if (!model)
        return 0;
    return model->drawings.count;
}

size_t hm_model_drawing_values(const hm_model *model)
{
    if (!model)
        return 0;
    return model->drawing_values;
}

hm_drawing hm_model_drawing(const hm_model *model, size_t index)
{
    if (!model)
        return (hm_drawing){0};
    return index < model->drawings.count ? model->drawings.data[index].shown : (hm_drawing){0};
}

void hm_model_gravity(const hm_model *model, double gravity[3])
{
    for (int k = 0; k < 3; k++)
        gravity[k] = model ? model->gravity[k] : 0;
}

const char *hm_drawing_kind_text(hm_drawing_kind kind)
{
    static const char *const texts[] = {"point", "line",  "sphere", "box",   "cylinder",
                                        "disc",  "arrow", "trace",  "ground"};
    return (size_t)kind < sizeof texts / sizeof *texts ? texts[kind] : NULL;
}

double hm_model_param_value(const hm_model *model, size_t index)
{
    if (!model)
        return NAN;
    return index < model->params.count ? model->params.data[index].value : NAN;
}

bool hm_model_param_structural(const hm_model *model, size_t index)
{
    if (!model)
        return false;
    return index < model->params.count && model->params.data[index].structural;
}

const char *hm_level_text(hm_level level)
{
    return level == HM_LEVEL_POSITION       ? "position"
           : level == HM_LEVEL_VELOCITY     ? "velocity"
           : level == HM_LEVEL_ACCELERATION ? "acceleration"
                                            : "unknown";
}

static hm_constraint_info row_info(const hmi_constraint *row, bool servo)
{
    return (hm_constraint_info){.name = row->name,
                                .level = row->level,
                                .linear = row->linear,
                                .rheonomic = row->rheonomic,
                                .servo = servo,
                                .one_sided = row->one_sided,
                                .switched = !servo && row->when != HMI_NONE};
}

size_t hm_model_constraint_count(const hm_model *model)
{
    if (!model)
        return 0;
    return model->constraints.count;
}

hm_constraint_info hm_model_constraint(const hm_model *model, size_t index)
{
    if (!model)
        return (hm_constraint_info){0};
    if (index >= model->constraints.count)
        return (hm_constraint_info){0};
    return row_info(&model->constraints.data[index], false);
}

size_t hm_model_servo_count(const hm_model *model)
{
    if (!model)
        return 0;
    return model->servo_rows.count;
}

hm_constraint_info hm_model_servo(const hm_model *model, size_t index)
{
    if (!model)
        return (hm_constraint_info){0};
    if (index >= model->servo_rows.count)
        return (hm_constraint_info){0};
    return row_info(&model->servo_rows.data[index].row, true);
}

void hm_model_initial(const hm_model *model, double *q, double *v, double *z)
{
    if (!model)
        return;
    for (size_t i = 0; i < model->coords.count; i++) {
        if (q)
            q[i] = model->coords.data[i].position.value;
        if (v)
            v[i] = model->coords.data[i].velocity.value;
    }
    for (size_t i = 0; z && i < model->states.count; i++)
        z[i] = model->states.data[i].initial.value;
}

/* ---- names of symbols ---- */

const char *hmi_power_word(uint32_t quantity)
{
    static const char *const words[] = {[HMI_QUANTITY_IDEAL] = "ideal",
                                        [HMI_QUANTITY_NONIDEAL] = "nonideal",
                                        [HMI_QUANTITY_SERVO] = "servo",
                                        [HMI_QUANTITY_IMPRESSED] = "impressed",
                                        [HMI_QUANTITY_DISSIPATION] = "dissipation",
                                        [HMI_QUANTITY_GYROSCOPIC] = "gyroscopic",
                                        [HMI_QUANTITY_EXPLICIT_TIME] = "explicit_time"};
    return quantity < HMI_QUANTITY_MOMENTUM ? words[quantity] : NULL;
}

static const char *quantity_name(hm_context *context, const hm_model *model, uint32_t index)
{
    if (index >= HMI_QUANTITY_MOMENTUM)
        return hmi_context_printf(context, "momentum(%s)",
                                  hm_model_coordinate_name(model, index - HMI_QUANTITY_MOMENTUM));
    if (hmi_power_word(index))
        return hmi_context_printf(context, "power(%s)", hmi_power_word(index));
    return index == HMI_QUANTITY_KINETIC     ? "kinetic_energy"
           : index == HMI_QUANTITY_POTENTIAL ? "potential_energy"
                                             : "energy";
}

const char *hmi_model_symbol_name(hm_context *context, const hm_model *model, hmi_symbol_kind kind,
                                  uint32_t index)
{
    switch (kind) {
    case HMI_SYM_TIME:
        return "t";
    case HMI_SYM_PARAM:
        return hm_model_param_name(model, index);
    case HMI_SYM_COORD:
        return hm_model_coordinate_name(model, index);
    case HMI_SYM_VELOCITY:
        return hmi_context_printf(context, "%s'", hm_model_coordinate_name(model, index));
    case HMI_SYM_ACCELERATION:
        return hmi_context_printf(context, "%s''", hm_model_coordinate_name(model, index));
    case HMI_SYM_STATE:
        return hm_model_state_name(model, index);
    case HMI_SYM_INPUT:
        return hm_model_input_name(model, index);
    case HMI_SYM_INPUT_RATE:
        return hmi_context_printf(context, "%s'", hm_model_input_name(model, index));
    case HMI_SYM_INPUT_RATE2:
        return hmi_context_printf(context, "%s''", hm_model_input_name(model, index));
    case HMI_SYM_REACTION:
        return hmi_context_printf(context, "reaction(%s)", hm_model_coordinate_name(model, index));
    case HMI_SYM_TOTAL_REACTION:
        return hmi_context_printf(context, "total_reaction(%s)",
                                  hm_model_coordinate_name(model, index));
    case HMI_SYM_MULTIPLIER:
        return hmi_context_printf(context, "multiplier(%s)", model->constraints.data[index].name);
    case HMI_SYM_TOTAL_MULTIPLIER:
        return hmi_context_printf(context, "total_multiplier(%s)",
                                  model->constraints.data[index].name);
    case HMI_SYM_ENERGY:
        return quantity_name(context, model, index);
    default:
        return NULL;
    }
}

/* Declared names, without dots and primes. */
static void declared_name(void *user, hmi_symbol_kind kind, uint32_t index, hmi_text *out)
{
    const hm_model *model = user;
    const char *name = NULL;
    switch (kind) {
    case HMI_SYM_PARAM:
        name = hm_model_param_name(model, index);
        break;
    case HMI_SYM_STATE:
        name = hm_model_state_name(model, index);
        break;
    case HMI_SYM_INPUT:
    case HMI_SYM_INPUT_RATE:
    case HMI_SYM_INPUT_RATE2:
        name = hm_model_input_name(model, index);
        break;
    case HMI_SYM_MULTIPLIER:
    case HMI_SYM_TOTAL_MULTIPLIER:
        name = model->constraints.data[index].name;
        break;
    default:
        name = hm_model_coordinate_name(model, index);
    }
    hmi_text_add(out, name ? name : "?");
}

static bool is_literal(void *user, const char *name)
{
    return hmi_model_is_literal(user, name);
}

hmi_namer hmi_model_namer(const hm_model *model)
{
    return (hmi_namer){declared_name, (void *)model, is_literal};
}

bool hmi_model_input_is_free(hm_context *context, const hm_model *model, size_t index, hmi_span at)
{
    const hmi_input *input = &model->inputs.data[index];
    if (input->row)
        hmi_error(context, at, "an input that is to be set has a default of t alone",
                  "input '%s' cannot be set: its default depends on the motion and is part of "
                  "constraint '%s'",
                  input->name, input->row);
    return !input->row;
}
