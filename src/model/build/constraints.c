/* Constraints and servos: rows lhs - rhs = 0, their level, what they may contain. */
#include "base/sort.h"
#include "model/build/statements.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static hm_level level_of(uint16_t deps)
{
    if (deps & HMI_DEP(HMI_SYM_ACCELERATION))
        return HM_LEVEL_ACCELERATION;
    return deps & HMI_DEP(HMI_SYM_VELOCITY) ? HM_LEVEL_VELOCITY : HM_LEVEL_POSITION;
}

/* Are the derivatives of e by symbols of a kind free of that kind? */
static bool linear_in(hmi_builder *b, hmi_expr e, hmi_symbol_kind kind, bool *linear)
{
    *linear = true;
    if (hmi_gradient(&b->adjoint, b->graph, e, kind) != HM_OK)
        return hmi_graph_sound(b, hmi_no_span) && hmi_no_memory(b);
    for (size_t k = 0; k < b->adjoint.partials.count; k++)
        if (hmi_deps(b->graph, b->adjoint.partials.data[k].value) & HMI_DEP(kind))
            *linear = false;
    return true;
}

/* Nothing that moves occurs: the row either always holds or never. */
static bool check_trivial(hmi_builder *b, const hmi_constraint *row)
{
    uint16_t moving = HMI_DEP(HMI_SYM_COORD) | HMI_DEP(HMI_SYM_VELOCITY) |
                      HMI_DEP(HMI_SYM_ACCELERATION);
    uint16_t deps = hmi_deps(b->graph, row->residual);
    double amount = 0;
    char text[HMI_NUMBER_TEXT];
    if (deps & moving)
        return true;
    if (deps & ~HMI_DEP(HMI_SYM_PARAM)) {
        hmi_error(b->context, row->span, NULL,
                  "no motion can satisfy constraint '%s': no coordinate occurs in it", row->name);
        return false;
    }
    if (!hmi_constant_value(b, row->residual, &amount))
        return false;
    if (!isfinite(amount) || (row->one_sided ? -amount : fabs(amount)) > 1e-12) {
        hmi_error(b->context, row->span, NULL,
                  "no motion can satisfy constraint '%s': it is violated by %s in every state",
                  row->name, hmi_number_text(amount, text));
        return false;
    }
    hmi_warning(b->context, row->span, NULL, "constraint '%s' always holds: it has no effect",
                row->name);
    return true;
}

bool hmi_check_row(hmi_builder *b, hmi_constraint *row)
{
    const uint16_t allowed = HMI_STATE_DEPS | HMI_DEP(HMI_SYM_ACCELERATION);
    if (!hmi_check_contents(b, row->residual, allowed, row->span, "a constraint") ||
        !hmi_put_followed_inputs(b, row) || !check_trivial(b, row))
        return false;
    uint16_t deps = hmi_deps(b->graph, row->residual);
    row->level = level_of(deps);
    row->rheonomic = deps & (HMI_DEP(HMI_SYM_TIME) | HMI_DEP(HMI_SYM_INPUT) |
                             HMI_DEP(HMI_SYM_INPUT_RATE) | HMI_DEP(HMI_SYM_INPUT_RATE2));
    row->linear = true;
    if (row->level == HM_LEVEL_VELOCITY)
        return linear_in(b, row->residual, HMI_SYM_VELOCITY, &row->linear);
    if (row->level == HM_LEVEL_POSITION)
        return hmi_check_jumps(b, row->residual, row->span, "a constraint on positions", true);
    if (!linear_in(b, row->residual, HMI_SYM_ACCELERATION, &row->linear))
        return false;
    if (!row->linear)
        hmi_error(b->context, row->span, "the general form is A q'' = b",
                  "constraint '%s' is not linear in the accelerations", row->name);
    return row->linear;
}

/* The work of a solution grows with the cube of the rows; so many more rows than coordinates cannot be
 * independent. */
static bool is_feasible(hmi_builder *b, const char *name, hmi_expr residual, hmi_span at,
                        bool one_sided)
{
    enum { MOST_ROWS = 4000, MOST_PER_COORDINATE = 10 };
    size_t rows = b->model->constraints.count + 1, n = b->model->coords.count;
    if (rows <= MOST_ROWS || rows / MOST_PER_COORDINATE <= n || one_sided || /* mostly open */
        !hmi_deps(b->graph, residual)) /* 0 = 0 is told apart */
        return true;
    if (!b->context->limit_exceeded)
        hmi_error(
            b->context, at, "rows that follow from others can be left out",
            "'%s' is row %zu of the constraints on %zu coordinate%s: more than %d rows, and more "
            "than %d for each coordinate",
            name, rows, n, n == 1 ? "" : "s", MOST_ROWS, MOST_PER_COORDINATE);
    b->context->limit_exceeded = true;
    return false;
}

/* parts NULL: a two-sided row that always holds. */
static bool add_row(hmi_builder *b, const char *name, hmi_expr residual, hmi_span at,
                    const hmi_row_parts *parts, size_t k)
{
    hmi_constraint row = {.name = name,
                          .residual = residual,
                          .span = at,
                          .one_sided = parts && parts->one_sided,
                          .restitution = b->graph->zero,
                          .when = HMI_NONE};
    uint32_t index = (uint32_t)b->model->constraints.count;
    if (!is_feasible(b, name, residual, at, row.one_sided))
        return false;
    if (!hmi_declare_object(b, name, "constraint", index, at) || !hmi_check_row(b, &row))
        return false;
    if (parts && !hmi_apply_row_parts(b, parts, k, &row))
        return false;
    return hmi_array_push(&b->context->allocator, &b->model->constraints, row) || hmi_no_memory(b);
}

bool hmi_add_constraint(hmi_builder *b, const char *name, hmi_expr residual, hmi_span at)
{
    return add_row(b, name, residual, at, NULL, 0);
}

/* ---- names of rows ---- */

const char *hmi_statement_name(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope,
                               const char *what, const char *prefix, int *unnamed)
{
    char buffer[32];
    if (s->label) {
        const char *text = hmi_label_text(b, s->label, scope);
        char *kept = text ? hmi_arena_text(&b->model->arena, text, strlen(text)) : NULL;
        if (text && !kept)
            hmi_no_memory(b);
        return kept;
    }
    do
        snprintf(buffer, sizeof buffer, "%s%d", prefix, ++*unnamed);
    while (hmi_find_object(b, buffer, what) >= 0);
    char *name = hmi_arena_text(&b->model->arena, buffer, strlen(buffer));
    if (!name)
        hmi_no_memory(b);
    return name;
}

static const char *row_name(hmi_builder *b, const char *base, const hmi_value *shape, size_t k)
{
    char suffix[64];
    if (shape->rank == 0)
        return base;
    if (shape->rank == 1)
        snprintf(suffix, sizeof suffix, "[%zu]", k + 1);
    else
        snprintf(suffix, sizeof suffix, "[%zu,%zu]", k / shape->columns + 1,
                 k % shape->columns + 1);
    char *name = hmi_model_alloc(b, strlen(base) + strlen(suffix) + 1);
    if (name) {
        memcpy(name, base, strlen(base));
        memcpy(name + strlen(base), suffix, strlen(suffix));
    }
    return name;
}

/* lhs - rhs; a plain 0 on one side fits any shape, as on paper. */
static bool build_residual(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope,
                           hmi_value *out)
{
    hmi_value lhs, rhs;
    if (!hmi_build_value(b, s->first, scope, &lhs) || !hmi_build_value(b, s->second, scope, &rhs))
        return false;
    rhs.empty_sum |= rhs.rank == 0 && rhs.scalar == b->graph->zero;
    lhs.empty_sum |= lhs.rank == 0 && lhs.scalar == b->graph->zero && rhs.rank > 0;
    hmi_span at = {s->span.file, s->first->span.start,
                   s->second->span.start + s->second->span.length - s->first->span.start};
    char shape[2][HMI_SHAPE_TEXT];
    if (!hmi_same_shape(&lhs, &rhs) && !lhs.empty_sum && !rhs.empty_sum) {
        hmi_error(b->context, at, NULL,
                  "the two sides of the equation have different shapes: %s and %s",
                  hmi_shape_text(&lhs, shape[0]), hmi_shape_text(&rhs, shape[1]));
        return false;
    }
    bool reversed = s->relation == HMI_TOK_LESS_EQUAL; /* rhs - lhs >= 0 */
    return hmi_value_combine(b, at, HMI_TOK_MINUS, reversed ? &rhs : &lhs, reversed ? &lhs : &rhs,
                             out);
}

bool hmi_build_constraint(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope)
{
    hmi_value residual;
    hmi_row_parts parts;
    const char *base = hmi_statement_name(b, s, scope, "constraint", "c", &b->unnamed_constraints);
    if (!base || !build_residual(b, s, scope, &residual) ||
        !hmi_build_row_parts(b, s, scope, &residual, &parts))
        return false;
    uint32_t first = (uint32_t)b->model->constraints.count;
    size_t count = hmi_value_count(&residual);
    if (residual.rank > 0 &&
        (!hmi_declare_object(b, base, "vector constraint", first, s->span) ||
         !hmi_declare_object(b, base, "size of constraint", (uint32_t)count, s->span)))
        return false;
    for (size_t k = 0; k < count; k++) {
        const char *name = row_name(b, base, &residual, k);
        if (!name || !add_row(b, name, hmi_value_item(&residual, k), s->span, &parts, k))
            return false;
    }
    return true;
}

/* ---- servos ---- */

static int compare_coordinates(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static bool report_actuated_twice(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope,
                                  uint32_t coord)
{
    uint32_t named;
    int times = 0;
    for (size_t i = 0; i < s->entry_count; i++)
        if (hmi_build_coordinate(b, s->entries[i].target, scope, &named) && named == coord &&
            ++times == 2)
            hmi_error(b->context, s->entries[i].span, NULL, "'%s' is listed twice",
                      b->model->coords.data[coord].name);
    return false;
}

static bool build_actuators(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope,
                            hmi_servo_group *servo)
{
    size_t count = s->entry_count ? s->entry_count : b->model->coords.count;
    servo->actuated = hmi_model_alloc(b, (count + 1) * sizeof *servo->actuated);
    if (!servo->actuated)
        return false;
    servo->actuated_count = count;
    for (size_t i = 0; i < count; i++) {
        servo->actuated[i] = (uint32_t)i;
        if (s->entry_count &&
            !hmi_build_coordinate(b, s->entries[i].target, scope, &servo->actuated[i]))
            return false;
    }
    if (s->entry_count)
        hmi_sort(servo->actuated, count, sizeof *servo->actuated, compare_coordinates);
    for (size_t k = 1; k < count; k++)
        if (servo->actuated[k - 1] == servo->actuated[k])
            return report_actuated_twice(b, s, scope, servo->actuated[k]);
    return true;
}

static bool keep_gain_matrix(hmi_builder *b, const hmi_statement *s, const hmi_value *gain,
                             hmi_servo_group *servo)
{
    char shape[HMI_SHAPE_TEXT];
    if (gain->rank != 2 || gain->rows != servo->rows || gain->columns != servo->rows) {
        hmi_error(b->context, s->third->span, NULL,
                  "the gain of this servo is a number or a %zux%zu matrix, not %s", servo->rows,
                  servo->rows, hmi_shape_text(gain, shape));
        return false;
    }
    if (servo->law == HMI_LAW_LYAPUNOV) {
        hmi_error(b->context, s->third->span, "write a number, or leave the law out",
                  "'law lyapunov' takes one gain for all rows");
        return false;
    }
    servo->gain_matrix = hmi_model_alloc(b, servo->rows * servo->rows * sizeof *gain->items);
    if (!servo->gain_matrix)
        return false;
    for (size_t k = 0; k < servo->rows * servo->rows; k++) {
        servo->gain_matrix[k] = hmi_value_item(gain, k);
        if (!hmi_check_contents(b, servo->gain_matrix[k], HMI_DEP(HMI_SYM_PARAM), s->third->span,
                                "the gain of a servo"))
            return false;
    }
    return true;
}

static bool build_gain(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope,
                       hmi_servo_group *servo)
{
    hmi_value gain;
    servo->gain = b->graph->zero;
    if (!s->third)
        return true;
    if (!hmi_build_value(b, s->third, scope, &gain))
        return false;
    if (gain.rank > 0)
        return keep_gain_matrix(b, s, &gain, servo);
    return hmi_value_scalar(b, s->third->span, &gain, &servo->gain) &&
           hmi_check_contents(b, servo->gain, HMI_DEP(HMI_SYM_PARAM), s->third->span,
                              "the gain of a servo");
}

/* limit c: of parameters, positive. */
static bool build_limit(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope,
                        hmi_servo_group *servo)
{
    double value;
    servo->limit = HMI_NONE;
    if (!s->when)
        return true;
    if (!hmi_build_scalar(b, s->when, scope, &servo->limit) ||
        !hmi_number_of(b, servo->limit, s->when->span, "the limit of a servo", &value))
        return false;
    if (value > 0)
        return true;
    hmi_error(b->context, s->when->span, NULL, "the limit of a servo must be positive");
    return false;
}

/* The rows that one matrix joins are of one level. */
static bool check_levels(hmi_builder *b, const hmi_statement *s, const hmi_servo_group *servo)
{
    const hmi_servo_row *rows = b->model->servo_rows.data + b->model->servo_rows.count -
                                servo->rows;
    for (size_t k = 1; k < servo->rows && servo->gain_matrix; k++)
        if (rows[k].row.level != rows[0].row.level) {
            hmi_error(
                b->context, s->third->span, "write a servo for each level",
                "a gain matrix joins rows of one level: '%s' is of %s level, '%s' of %s level",
                rows[0].row.name, hm_level_text(rows[0].row.level), rows[k].row.name,
                hm_level_text(rows[k].row.level));
            return false;
        }
    return true;
}

static bool add_servo_row(hmi_builder *b, const hmi_statement *s, const char *name, hmi_expr e)
{
    hmi_servo_row row = {.row = {.name = name,
                                 .residual = e,
                                 .span = s->span,
                                 .restitution = HMI_NONE,
                                 .when = HMI_NONE},
                         .servo = (uint32_t)b->model->servos.count};
    if (!hmi_declare_object(b, name, "servo", (uint32_t)b->model->servo_rows.count, s->span) ||
        !hmi_check_row(b, &row.row))
        return false;
    if (row.row.level != HM_LEVEL_ACCELERATION && !s->third) {
        hmi_error(b->context, s->span, "add: with gain k", "servo '%s' has no gain", name);
        return false;
    }
    if (row.row.level != HM_LEVEL_VELOCITY && s->word != HMI_NO_NAME) {
        hmi_error(b->context, s->span, NULL,
                  "'law lyapunov' is for constraints of velocity level; '%s' is of %s level", name,
                  hm_level_text(row.row.level));
        return false;
    }
    return hmi_array_push(&b->context->allocator, &b->model->servo_rows, row) || hmi_no_memory(b);
}

bool hmi_build_servo(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope)
{
    hmi_value residual;
    hmi_servo_group servo = {.span = s->span,
                             .law = s->word == HMI_NO_NAME ? HMI_LAW_IDEAL : HMI_LAW_LYAPUNOV};
    servo.name = hmi_statement_name(b, s, scope, "servo", "s", &b->unnamed_servos);
    if (!servo.name || !build_residual(b, s, scope, &residual))
        return false;
    servo.rows = hmi_value_count(&residual);
    if (!build_actuators(b, s, scope, &servo) || !build_gain(b, s, scope, &servo) ||
        !build_limit(b, s, scope, &servo))
        return false;
    for (size_t k = 0; k < hmi_value_count(&residual); k++) {
        const char *name = row_name(b, servo.name, &residual, k);
        if (!name || !add_servo_row(b, s, name, hmi_value_item(&residual, k)))
            return false;
    }
    if (!check_levels(b, s, &servo))
        return false;
    return hmi_array_push(&b->context->allocator, &b->model->servos, servo) || hmi_no_memory(b);
}
