/* Assignments in the style of a language. */
#include "output/export/script.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

typedef struct target {
    const char *array;
    size_t row, column; /* from 0; column SIZE_MAX: a list */
} target;

typedef struct script {
    hmi_export *x;
    const hmi_script_style *style;
    target *targets;
    hmi_expr *roots;
    size_t count;
} script;

/* ---- names ---- */

/* Formats come from the tables of the styles, not from users. */
static void add_format(hmi_text *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    hmi_text_addv(out, format, args);
    va_end(args);
}

static void write_entry(const hmi_script_style *style, hmi_text *out, const char *array, size_t i)
{
    if (style->zero_entry)
        add_format(out, style->zero_entry, array, i);
    else
        add_format(out, style->entry, array, i + 1);
}

static void write_symbol(void *user, hmi_text *out, hmi_symbol_kind kind, uint32_t index)
{
    static const char *const arrays[HMI_SYM_KIND_COUNT] = {
        [HMI_SYM_COORD] = "q",        [HMI_SYM_VELOCITY] = "v",    [HMI_SYM_STATE] = "z",
        [HMI_SYM_INPUT] = "u",        [HMI_SYM_INPUT_RATE] = "du", [HMI_SYM_INPUT_RATE2] = "ddu",
        [HMI_SYM_ACCELERATION] = "a",
    };
    const script *s = user;
    if (kind == HMI_SYM_TIME)
        hmi_text_add(out, "t");
    else if (kind == HMI_SYM_PARAM)
        add_format(out, s->style->param, s->x->params[index]);
    else
        write_entry(s->style, out, arrays[kind] ? arrays[kind] : "?", index);
}

static void write_target(void *user, hmi_text *out, size_t root)
{
    const script *s = user;
    const target *to = &s->targets[root];
    if (to->column == SIZE_MAX)
        write_entry(s->style, out, to->array, to->row);
    else if (s->style->zero_element)
        add_format(out, s->style->zero_element, to->array, to->row, to->column);
    else
        add_format(out, s->style->element, to->array, to->row + 1, to->column + 1);
}

/* ---- assignments ---- */

static bool begin(script *s, size_t most)
{
    hmi_export *x = s->x;
    s->targets = hmi_arena_alloc(&x->arena, (most + 1) * sizeof *s->targets);
    s->roots = hmi_arena_alloc(&x->arena, (most + 1) * sizeof *s->roots);
    if (!s->targets || !s->roots)
        x->status = HM_ERR_NOMEM;
    return s->targets && s->roots;
}

static void assign(script *s, target to, hmi_expr value)
{
    if (s->style->skip_zeros && (value == HMI_NONE || value == s->x->graph.zero))
        return;
    s->targets[s->count] = to;
    s->roots[s->count++] = value;
}

static void assign_list(script *s, const char *array, const hmi_expr *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assign(s, (target){array, i, SIZE_MAX}, values ? values[i] : HMI_NONE);
}

static void assign_matrix(script *s, const char *array, const hmi_expr *values, size_t rows)
{
    for (size_t i = 0; i < rows * s->x->n; i++)
        assign(s, (target){array, i / s->x->n, i % s->x->n}, values[i]);
}

static void finish(script *s)
{
    hmi_export *x = s->x;
    const hmi_code code = {.dialect = &s->style->dialect,
                           .roots = s->roots,
                           .count = s->count,
                           .user = s,
                           .symbol = write_symbol,
                           .target = write_target};
    hm_status status = hmi_code_write(&x->text, &x->graph, &code);
    if (status != HM_OK)
        x->status = status;
}

static void assign_equations(script *s)
{
    hmi_export *x = s->x;
    assign_matrix(s, "M", x->M, x->n);
    assign_list(s, s->style->force ? s->style->force : "Q", x->eq->Q, x->n);
    assign_matrix(s, "A", x->A, x->m);
    assign_list(s, "b", x->eq->constraints.b, x->m);
    assign_list(s, "C", x->eq->C, x->n);
}

static size_t equation_count(const hmi_export *x)
{
    return (x->n + x->m) * x->n + 2 * x->n + x->m;
}

void hmi_script_equations(hmi_export *x, const hmi_script_style *style)
{
    script s = {.x = x, .style = style};
    if (!begin(&s, equation_count(x)))
        return;
    assign_equations(&s);
    finish(&s);
}

static void assign_inputs(script *s)
{
    hmi_export *x = s->x;
    assign_list(s, "u", x->eq->input_values[0], x->inputs);
    assign_list(s, "du", x->eq->input_values[1], x->inputs);
    assign_list(s, "ddu", x->eq->input_values[2], x->inputs);
}

/* For languages that sort equations themselves. */
void hmi_script_everything(hmi_export *x, const hmi_script_style *style)
{
    script s = {.x = x, .style = style};
    if (!begin(&s, equation_count(x) + 3 * x->inputs + x->states))
        return;
    assign_inputs(&s);
    assign_equations(&s);
    assign_list(&s, "rates", x->eq->state_rates, x->states);
    finish(&s);
}

void hmi_script_list(hmi_export *x, const hmi_script_style *style, const char *array,
                     const hmi_expr *values, size_t count)
{
    script s = {.x = x, .style = style};
    if (!begin(&s, count))
        return;
    assign_list(&s, array, values, count);
    finish(&s);
}

void hmi_script_inputs(hmi_export *x, const hmi_script_style *style)
{
    script s = {.x = x, .style = style};
    if (!begin(&s, 3 * x->inputs))
        return;
    assign_inputs(&s);
    finish(&s);
}

void hmi_script_params(hmi_export *x, const hmi_script_style *style)
{
    for (size_t i = 0; i < x->model->params.count; i++) {
        const hmi_param *param = &x->model->params.data[i];
        hmi_text_add(&x->text, style->dialect.indent);
        add_format(&x->text, style->param, x->params[i]);
        hmi_text_add(&x->text, style->dialect.assign);
        style->dialect.number(&x->text, param->value);
        hmi_text_add(&x->text, style->dialect.end);
    }
}

void hmi_script_numbers(hmi_export *x, const hmi_script_style *style, const double *values,
                        size_t count, const char *between)
{
    for (size_t i = 0; i < count; i++) {
        hmi_text_add(&x->text, i ? between : "");
        style->dialect.number(&x->text, values[i]);
    }
}

bool hmi_script_possible(hmi_export *x, const char *format)
{
    if (!x->eq->force_symbols)
        return true;
    hmi_error(x->context, hmi_no_span, "`--format c` has them",
              "forces that use reactions or multipliers cannot be exported to %s", format);
    x->status = HM_ERR_USAGE;
    return false;
}

/* ---- what stands around them ---- */

void hmi_script_add(hmi_export *x, const char *text)
{
    hmi_export_template(x, text, strlen(text));
}

/* A comment of one line: what this is. */
static void add_title(hmi_export *x, const char *sign)
{
    hmi_text_addf(&x->text, "%s %s%s%s: M q'' = Q + C + A^T lambda, A q'' = b. Made by hamel %s.\n",
                  sign, hm_model_name(x->model), x->model->title ? ", " : "",
                  x->model->title ? x->model->title : "", hm_version());
}

static void add_names(hmi_export *x, const char *sign, const char *what, size_t count,
                      const char *(*name)(const hm_model *model, size_t i))
{
    if (count == 0)
        return;
    hmi_text_addf(&x->text, "%s %s:", sign, what);
    for (size_t i = 0; i < count; i++)
        hmi_text_addf(&x->text, " %s", name(x->model, i));
    hmi_text_add(&x->text, "\n");
}

void hmi_script_contents(hmi_export *x, const char *sign)
{
    add_title(x, sign);
    add_names(x, sign, "q, v", x->n, hm_model_coordinate_name);
    add_names(x, sign, "z", x->states, hm_model_state_name);
    add_names(x, sign, "u", x->inputs, hm_model_input_name);
}

void hmi_script_function(hmi_text *out, hmi_op op, const hmi_renamed *names)
{
    static const hmi_op plain[] = {HMI_SQRT, HMI_SIN,  HMI_COS,   HMI_TAN,  HMI_ASIN, HMI_ACOS,
                                   HMI_ATAN, HMI_SINH, HMI_COSH,  HMI_TANH, HMI_EXP,  HMI_LOG,
                                   HMI_ABS,  HMI_SIGN, HMI_ATAN2, HMI_HYPOT};
    for (; names->name; names++)
        if (names->op == op) {
            hmi_text_add(out, names->name);
            return;
        }
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (plain[i] == op) {
            hmi_text_add(out, hmi_op_text(op));
            return;
        }
    hmi_code_helper_name(out, op);
}

void hmi_script_number(hmi_text *out, double value)
{
    if (isfinite(value))
        hmi_code_number_c(out, value);
    else
        hmi_text_add(out, isnan(value) ? "NaN" : value > 0 ? "Inf" : "(-Inf)");
}
