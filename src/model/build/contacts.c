/* What makes a constraint one-sided or lets it switch: restitution, and the condition behind `when`;
 * and friction on constraints. */
#include "model/build/statements.h"

#include <string.h>

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

/* ---- friction ---- */

static const char *nearest_constraint(hmi_builder *b, const char *wanted)
{
    const hm_model *model = b->model;
    int most = strlen(wanted) > 4   ? 2
               : strlen(wanted) > 1 ? 1
                                    : 0; /* of one letter nothing is near */
    for (size_t i = 0; i < model->constraints.count && most; i++)
        if (hmi_edit_distance(wanted, model->constraints.data[i].name, most) <= most)
            return hmi_context_printf(b->context, "did you mean '%s'?",
                                      model->constraints.data[i].name);
    return NULL;
}

/* The one row that presses. */
static bool find_row(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope, uint32_t *row)
{
    const char *name = hmi_label_text(b, s->second, scope);
    int64_t found = name ? hmi_find_object(b, name, "constraint") : -1;
    if (!name)
        return false;
    if (found < 0 && hmi_find_object(b, name, "vector constraint") >= 0)
        hmi_error(b->context, s->second->span,
                  hmi_context_printf(b->context, "name one of them, such as %s[1]", name),
                  "friction is on one row, and constraint '%s' has several", name);
    else if (found < 0)
        hmi_error(b->context, s->second->span, nearest_constraint(b, name),
                  "there is no constraint '%s'", name);
    else if (b->model->constraints.data[found].level == HM_LEVEL_ACCELERATION)
        hmi_error(b->context, s->second->span, NULL,
                  "constraint '%s' is on accelerations: friction needs one on positions or "
                  "velocities",
                  name);
    else {
        *row = (uint32_t)found;
        return true;
    }
    return false;
}

static bool build_coefficient(hmi_builder *b, const hmi_ast *e, const hmi_scope *scope,
                              hmi_expr *out)
{
    double value;
    if (!hmi_build_scalar(b, e, scope, out) ||
        !hmi_check_contents(b, *out, HMI_STATE_DEPS, e->span, "a coefficient of friction"))
        return false;
    if ((hmi_deps(b->graph, *out) & ~HMI_DEP(HMI_SYM_PARAM)) ||
        !hmi_constant_value(b, *out, &value))
        return true;
    if (!(value >= 0))
        hmi_error(b->context, e->span, NULL,
                  "a coefficient of friction is not negative, as %.9g is", value);
    return value >= 0;
}

static bool build_coefficients(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope,
                               hmi_friction *f)
{
    double mus, muk;
    if (!build_coefficient(b, s->third, scope, &f->mus))
        return false;
    f->muk = f->mus;
    if (!s->when)
        return true;
    if (!build_coefficient(b, s->when, scope, &f->muk))
        return false;
    uint16_t deps = hmi_deps(b->graph, f->mus) | hmi_deps(b->graph, f->muk);
    if ((deps & ~HMI_DEP(HMI_SYM_PARAM)) || !hmi_constant_value(b, f->mus, &mus) ||
        !hmi_constant_value(b, f->muk, &muk) || muk <= mus)
        return true;
    hmi_error(b->context, s->when->span, "the first coefficient is that of sticking",
              "sliding cannot rub more than sticking: muk = %.9g is above mus = %.9g", muk, mus);
    return false;
}

/* One component of U, as a row of velocity level. */
static bool add_tangent(hmi_builder *b, const hmi_statement *s, const hmi_friction *f, hmi_expr U)
{
    hmi_constraint row = {.name = f->name,
                          .span = s->first->span,
                          .residual = U,
                          .restitution = b->graph->zero,
                          .when = HMI_NONE};
    if (!hmi_check_contents(b, U, HMI_STATE_DEPS, s->first->span, "a sliding velocity"))
        return false;
    if (!(hmi_deps(b->graph, U) & HMI_DEP(HMI_SYM_VELOCITY))) {
        hmi_error(b->context, s->first->span,
                  "write the velocity of the point that slides, such as x'",
                  "no velocity occurs in the sliding velocity of friction '%s'", f->name);
        return false;
    }
    if (!hmi_check_row(b, &row))
        return false;
    if (!row.linear) {
        hmi_error(b->context, s->first->span, NULL,
                  "the sliding velocity of friction '%s' is not affine in the velocities", f->name);
        return false;
    }
    return hmi_array_push(&b->context->allocator, &b->model->tangents, row) || hmi_no_memory(b);
}

bool hmi_build_friction(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope)
{
    hmi_value U;
    hm_model *model = b->model;
    hmi_friction f = {.span = s->span, .first = (uint32_t)model->tangents.count};
    char shape[HMI_SHAPE_TEXT];
    f.name = hmi_statement_name(b, s, scope, "friction", "f", &b->unnamed_frictions);
    if (!f.name ||
        !hmi_declare_object(b, f.name, "friction", (uint32_t)model->frictions.count, s->span) ||
        !find_row(b, s, scope, &f.row) || !build_coefficients(b, s, scope, &f) ||
        !hmi_build_value(b, s->first, scope, &U))
        return false;
    f.count = (uint32_t)hmi_value_count(&U);
    if (U.boolean || U.rank > 1 || f.count < 1 || f.count > 2) {
        hmi_error(b->context, s->first->span, "a number along a line, or [u, v] in a plane",
                  "a sliding velocity has one or two components, not %s",
                  hmi_shape_text(&U, shape));
        return false;
    }
    for (size_t k = 0; k < f.count; k++)
        if (!add_tangent(b, s, &f, hmi_value_item(&U, k)))
            return false;
    model->has_contacts = true;
    return hmi_array_push(&b->context->allocator, &model->frictions, f) || hmi_no_memory(b);
}
