/* What makes a constraint one-sided or lets it switch: restitution, and the condition behind `when`. */
#include "model/build/statements.h"

/* e, or one for each row. */
static bool build_restitution(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope,
                              const hmi_value *residual, hmi_row_parts *parts)
{
    char shape[2][HMI_SHAPE_TEXT];
    parts->restitution = hmi_scalar(b->graph->zero);
    if (!s->third)
        return true;
    if (!parts->one_sided) {
        hmi_error(b->context, s->third->span, "write >= or <= for a contact",
                  "'restitution' belongs to one-sided constraints");
        return false;
    }
    if (!hmi_build_value(b, s->third, scope, &parts->restitution))
        return false;
    const hmi_value *e = &parts->restitution;
    if (e->boolean || (e->rank > 0 && !hmi_same_shape(e, residual))) {
        hmi_error(b->context, s->third->span, NULL,
                  "the restitution is a number or has the shape of the constraint: %s, not %s",
                  hmi_shape_text(residual, shape[0]), hmi_shape_text(e, shape[1]));
        return false;
    }
    for (size_t k = 0; k < hmi_value_count(e); k++) {
        double value;
        if (!hmi_number_of(b, hmi_value_item(e, k), s->third->span, "the restitution", &value))
            return false;
        if (!(value >= 0 && value <= 1)) {
            hmi_error(b->context, s->third->span, "0: no bounce; 1: no loss",
                      "the restitution must be between 0 and 1, not %.9g", value);
            return false;
        }
    }
    return true;
}

static bool build_condition(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope,
                            hmi_row_parts *parts)
{
    hmi_value condition;
    parts->when = HMI_NONE;
    if (!s->when)
        return true;
    if (!hmi_build_value(b, s->when, scope, &condition))
        return false;
    if (!condition.boolean) {
        hmi_error(b->context, s->when->span, "a condition compares, as in x > 0",
                  "expected a condition behind 'when'");
        return false;
    }
    parts->when = condition.scalar;
    return hmi_check_contents(b, condition.scalar, HMI_STATE_DEPS, s->when->span,
                              "the condition of a constraint");
}

bool hmi_build_row_parts(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope,
                         const hmi_value *residual, hmi_row_parts *parts)
{
    *parts = (hmi_row_parts){.one_sided = s->relation != HMI_TOK_ASSIGN, .bounces = s->third};
    b->model->has_contacts |= parts->one_sided || s->when;
    return build_restitution(b, s, scope, residual, parts) && build_condition(b, s, scope, parts);
}

bool hmi_apply_row_parts(hmi_builder *b, const hmi_row_parts *parts, size_t k, hmi_constraint *row)
{
    row->one_sided = parts->one_sided;
    row->when = parts->when;
    row->restitution = hmi_value_item(&parts->restitution, parts->restitution.rank ? k : 0);
    if (!row->one_sided)
        return true;
    if (row->level == HM_LEVEL_ACCELERATION)
        hmi_error(b->context, row->span, NULL,
                  "one-sided constraint '%s' is on accelerations: only positions and velocities "
                  "can be bounded",
                  row->name);
    else if (row->level == HM_LEVEL_VELOCITY && !row->linear)
        hmi_error(b->context, row->span, "such as a' >= b'",
                  "one-sided constraint '%s' is not affine in the velocities", row->name);
    else if (row->level == HM_LEVEL_VELOCITY && parts->bounces)
        hmi_error(b->context, row->span, "'restitution' belongs to constraints on positions",
                  "one-sided constraint '%s' on velocities has no restitution", row->name);
    else
        return true;
    return false;
}
