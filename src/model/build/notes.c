/* Texts and ranges: in LOW .. HIGH "text" after a parameter, coordinate or output. */
#include "model/build/statements.h"

#include <string.h>

static bool build_shown(hmi_builder *b, const hmi_caption *note, const hmi_scope *scope,
                        hmi_shown *out)
{
    if (note->text &&
        !(out->text = hmi_arena_text(&b->model->arena, note->text, strlen(note->text))))
        return hmi_no_memory(b);
    if (!note->low)
        return true;
    if (!hmi_build_number(b, note->low, scope, &out->low) ||
        !hmi_build_number(b, note->high, scope, &out->high))
        return false;
    out->has_range = out->low < out->high;
    if (!out->has_range)
        hmi_error(b->context, hmi_span_to(note->low->span, note->high->span), NULL,
                  "the range is empty: the lower bound must be below the upper one");
    return out->has_range;
}

bool hmi_build_note(hmi_builder *b, const hmi_caption *note, const hmi_scope *scope,
                    const hmi_shown **out)
{
    *out = NULL;
    if (!note->text && !note->low)
        return true;
    hmi_shown *shown = hmi_model_alloc(b, sizeof *shown);
    *out = shown;
    return shown && build_shown(b, note, scope, shown);
}

void hmi_check_range(hmi_builder *b, const hmi_shown *shown, const char *name, double value,
                     hmi_span at)
{
    char text[3][HMI_NUMBER_TEXT];
    if (!shown || !shown->has_range || (value >= shown->low && value <= shown->high))
        return;
    hmi_warning(b->context, at, NULL, "%s = %s is outside of its range %s .. %s", name,
                hmi_number_text(value, text[0]), hmi_number_text(shown->low, text[1]),
                hmi_number_text(shown->high, text[2]));
}

void hmi_check_initial_ranges(hmi_builder *b)
{
    for (size_t i = 0; i < b->model->coords.count; i++) {
        const hmi_coord *coord = &b->model->coords.data[i];
        bool given = coord->position.given != HMI_GIVEN_NOT;
        hmi_check_range(b, coord->shown, coord->name, coord->position.value,
                        given ? coord->position.span : coord->span);
    }
}
