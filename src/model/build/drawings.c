/* The statement `draw`: what animations show. */
#include "model/build/statements.h"

#include <string.h>

/* What an argument of a drawing is. */
typedef enum part_kind { PART_PLACE, PART_NUMBER, PART_FRAME } part_kind;

enum { MOST_PARTS = 3, ANY_NUMBER = 1000 };

static const struct drawing_row {
    const char *word, *usage;
    uint32_t least, most;
    part_kind parts[MOST_PARTS]; /* further ones are as the last */
} rows[] = {
    [HM_DRAWING_POINT] = {"point", "write draw point P", 1, 1, {PART_PLACE}},
    [HM_DRAWING_LINE] =
        {"line", "write draw line P, Q, ...", 2, ANY_NUMBER, {PART_PLACE, PART_PLACE, PART_PLACE}},
    [HM_DRAWING_SPHERE] = {"sphere", "write draw sphere P, r", 2, 2, {PART_PLACE, PART_NUMBER}},
    [HM_DRAWING_BOX] =
        {"box", "write draw box P, R, [a, b, c]", 3, 3, {PART_PLACE, PART_FRAME, PART_PLACE}},
    [HM_DRAWING_CYLINDER] =
        {"cylinder", "write draw cylinder P, Q, r", 3, 3, {PART_PLACE, PART_PLACE, PART_NUMBER}},
    [HM_DRAWING_DISC] =
        {"disc", "write draw disc P, R, r", 3, 3, {PART_PLACE, PART_FRAME, PART_NUMBER}},
    [HM_DRAWING_ARROW] = {"arrow", "write draw arrow P, F", 2, 2, {PART_PLACE, PART_PLACE}},
    [HM_DRAWING_TRACE] = {"trace", "write draw trace P", 1, 1, {PART_PLACE}},
    [HM_DRAWING_GROUND] = {"ground", "write draw ground z", 1, 1, {PART_NUMBER}},
};
enum { KINDS = sizeof rows / sizeof *rows };

static const struct drawing_row *find_kind(hmi_builder *b, const hmi_statement *s)
{
    const char *word = hmi_names_text(&b->tree->names, s->word);
    for (int k = 0; k < KINDS; k++)
        if (strcmp(rows[k].word, word) == 0)
            return &rows[k];
    hmi_error(b->context, s->label->span,
              "one of: point, line, sphere, box, cylinder, disc, arrow, trace, ground",
              "'%s' cannot be drawn", word);
    return NULL;
}

/* Vectors of one drawing have one size, 2 or 3; a frame in the plane is a 2x2 matrix. */
static bool check_part(hmi_builder *b, const hmi_ast *e, part_kind kind, const char *usage,
                       const hmi_value *value, uint32_t *dimension)
{
    static const char *const wanted[] = {"a vector of 2 or 3 components", "a number",
                                         "a rotation matrix"};
    char shape[HMI_SHAPE_TEXT];
    bool fits = kind == PART_NUMBER  ? value->rank == 0
                : kind == PART_PLACE ? value->rank == 1
                                     : value->rank == 2 && value->rows == value->columns;
    fits = fits && !value->boolean && (kind == PART_NUMBER || value->rows == 2 || value->rows == 3);
    if (!fits) {
        hmi_error(b->context, e->span, usage, "expected %s here, not %s", wanted[kind],
                  hmi_shape_text(value, shape));
        return false;
    }
    if (kind == PART_NUMBER)
        return true;
    if (*dimension && *dimension != value->rows) {
        hmi_error(b->context, e->span, usage, "one drawing cannot be in the plane and in space");
        return false;
    }
    *dimension = value->rows;
    return true;
}

/* Which coordinates a place consists of, so that forces on them can be shown there. */
static void find_coordinates(const hmi_builder *b, const hmi_value *P, int32_t place[3])
{
    for (size_t k = 0; k < 3; k++) {
        bool there = P->rank == 1 && k < P->rows;
        const hmi_node *node = there ? hmi_node_at(b->graph, P->items[k]) : NULL;
        bool is_coordinate = node && node->op == HMI_SYMBOL && node->a == HMI_SYM_COORD;
        place[k] = is_coordinate ? (int32_t)node->b : -1;
    }
}

static bool keep_values(hmi_builder *b, const hmi_value *parts, hmi_drawing *drawing)
{
    size_t count = drawing->shown.part_count, total = 0;
    for (size_t k = 0; k < count; k++)
        total += hmi_value_count(&parts[k]);
    drawing->parts = hmi_model_alloc(b, count * sizeof *drawing->parts);
    drawing->values = hmi_model_alloc(b, total * sizeof *drawing->values);
    if (!drawing->parts || !drawing->values)
        return false;
    size_t next = 0, first = drawing->shown.first;
    for (size_t k = 0; k < count; k++) {
        drawing->parts[k] = (hm_drawing_part){first + next, parts[k].rows, parts[k].columns};
        for (size_t i = 0; i < hmi_value_count(&parts[k]); i++)
            drawing->values[next++] = hmi_value_item(&parts[k], i);
    }
    find_coordinates(b, &parts[0], drawing->shown.place);
    drawing->shown.parts = drawing->parts;
    drawing->shown.value_count = total;
    return true;
}

static bool build_parts(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope,
                        const struct drawing_row *row, hmi_drawing *drawing)
{
    uint32_t dimension = 0;
    hmi_value *parts = hmi_builder_alloc(b, s->entry_count * sizeof *parts);
    for (size_t k = 0; k < s->entry_count; k++) {
        const hmi_ast *e = s->entries[k].value;
        part_kind kind = row->parts[k < MOST_PARTS ? k : MOST_PARTS - 1];
        if (!parts || !hmi_build_value(b, e, scope, &parts[k]) ||
            !check_part(b, e, kind, row->usage, &parts[k], &dimension))
            return false;
    }
    return keep_values(b, parts, drawing);
}

static bool keep_text(hmi_builder *b, const char *text, const char **kept)
{
    *kept = text ? hmi_arena_text(&b->model->arena, text, strlen(text)) : NULL;
    return *kept || !text || hmi_no_memory(b);
}

static bool add_drawing(hmi_builder *b, const hmi_drawing *drawing)
{
    b->model->drawing_values += drawing->shown.value_count;
    return hmi_array_push(&b->context->allocator, &b->model->drawings, *drawing) ||
           hmi_no_memory(b);
}

bool hmi_add_drawing(hmi_builder *b, hm_drawing_kind kind, const hmi_value *parts, size_t count,
                     const char *label, double weight)
{
    hmi_drawing drawing = {.span = hmi_no_span};
    drawing.shown = (hm_drawing){
        .kind = kind, .part_count = count, .first = b->model->drawing_values, .weight = weight};
    return keep_text(b, label, &drawing.shown.label) && keep_values(b, parts, &drawing) &&
           add_drawing(b, &drawing);
}

bool hmi_build_draw(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope)
{
    const struct drawing_row *row = find_kind(b, s);
    if (!row)
        return false;
    if (s->entry_count < row->least || s->entry_count > row->most) {
        hmi_error(b->context, s->span, row->usage, "a %s is not drawn from %zu value%s", row->word,
                  s->entry_count, s->entry_count == 1 ? "" : "s");
        return false;
    }
    hmi_drawing drawing = {.span = s->span};
    drawing.shown = (hm_drawing){.kind = (hm_drawing_kind)(row - rows),
                                 .part_count = s->entry_count,
                                 .first = b->model->drawing_values,
                                 .weight = 1};
    if (!keep_text(b, s->color, &drawing.shown.color) ||
        !keep_text(b, s->text, &drawing.shown.label) || !build_parts(b, s, scope, row, &drawing))
        return false;
    return add_drawing(b, &drawing);
}
