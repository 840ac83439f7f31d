/* A Modelica model: the equations as they are, for a tool that sorts and solves them. */
#include "output/export/script.h"

static void modelica_function(hmi_text *out, hmi_op op)
{
    static const hmi_renamed names[] = {{HMI_MIN, "min"},
                                        {HMI_MAX, "max"},
                                        {HMI_POWI, "hm_pow"},
                                        {HMI_HYPOT, "hm_hypot"},
                                        {0, NULL}};
    hmi_script_function(out, op, names);
}

static const hmi_script_style modelica = {
    .dialect = {"  ", "Real ", " = ", ";\n", "hm_e", "equation\n", modelica_function,
                hmi_script_number},
    .param = "%s",
    .entry = "%s[%zu]",
    .element = "%s[%zu, %zu]",
    .skip_zeros = false,
};

static void modelica_helpers(hmi_export *x)
{
    static const char *const helpers[][2] = {
        {"hm_pow", "x^y"},
        {"hm_hypot", "sqrt(x*x + y*y)"},
        {"hm_lt", "if x < y then 1.0 else 0.0"},
        {"hm_le", "if x <= y then 1.0 else 0.0"},
        {"hm_eq", "if x - y >= 0 and x - y <= 0 then 1.0 else 0.0"},
        {"hm_and", "if abs(x) > 0 and abs(y) > 0 then 1.0 else 0.0"},
        {"hm_or", "if abs(x) > 0 or abs(y) > 0 then 1.0 else 0.0"},
    };
    for (size_t i = 0; i < sizeof helpers / sizeof *helpers; i++)
        hmi_text_addf(&x->text,
                      "  function %s\n    input Real x;\n    input Real y;\n    output Real "
                      "value;\n  algorithm\n"
                      "    value := %s;\n  end %s;\n",
                      helpers[i][0], helpers[i][1], helpers[i][0]);
    hmi_text_add(&x->text,
                 "  function hm_not\n    input Real x;\n    output Real value;\n  algorithm\n"
                 "    value := if abs(x) > 0 then 0.0 else 1.0;\n  end hm_not;\n"
                 "  function hm_select\n    input Real c;\n    input Real x;\n    input Real y;\n  "
                 "  output Real value;\n"
                 "  algorithm\n    value := if abs(c) > 0 then x else y;\n  end hm_select;\n");
}

static void modelica_start(hmi_export *x, const char *array, const double *values, size_t count)
{
    if (count == 0)
        return;
    hmi_text_addf(&x->text, "  Real %s[%zu](start = {", array, count);
    hmi_script_numbers(x, &modelica, values, count, ", ");
    hmi_text_add(&x->text, "}, each fixed = true);\n");
}

static void modelica_arrays(hmi_export *x)
{
    const struct {
        const char *name;
        size_t rows, columns;
    } arrays[] = {{"M", x->n, x->n},    {"A", x->m, x->n},   {"Q", x->n, 0},
                  {"b", x->m, 0},       {"C", x->n, 0},      {"rates", x->states, 0},
                  {"lambda", x->m, 0},  {"u", x->inputs, 0}, {"du", x->inputs, 0},
                  {"ddu", x->inputs, 0}};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        if (arrays[k].columns)
            hmi_text_addf(&x->text, "  Real %s[%zu, %zu];\n", arrays[k].name, arrays[k].rows,
                          arrays[k].columns);
        else
            hmi_text_addf(&x->text, "  Real %s[%zu];\n", arrays[k].name, arrays[k].rows);
}

void hmi_export_modelica(hmi_export *x)
{
    if (!hmi_script_possible(x, "Modelica"))
        return;
    hmi_script_contents(x, "//");
    hmi_script_add(x, "model @\n");
    modelica_helpers(x);
    for (size_t i = 0; i < x->model->params.count; i++) {
        hmi_text_addf(&x->text, "  parameter Real %s = ", x->params[i]);
        hmi_script_number(&x->text, x->model->params.data[i].value);
        hmi_text_addf(&x->text, " \"%s\";\n", x->model->params.data[i].name);
    }
    modelica_start(x, "q", x->q, x->n);
    modelica_start(x, "v", x->v, x->n);
    modelica_start(x, "z", x->z, x->states);
    modelica_arrays(x);
    hmi_text_add(&x->text, "protected\n  Real t = time;\n");
    hmi_script_everything(x, &modelica);
    hmi_text_add(&x->text, "  der(q) = v;\n");
    hmi_text_add(&x->text, x->m ? "  M*der(v) = Q + C + transpose(A)*lambda;\n  A*der(v) = b;\n"
                                : "  M*der(v) = Q + C;\n");
    if (x->states)
        hmi_text_add(&x->text, "  der(z) = rates;\n");
    hmi_script_add(x, "end @;\n");
}
