/* A Python script that defines the equations in SymPy. */
#include "output/export/script.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void sympy_function(hmi_text *out, hmi_op op)
{
    static const hmi_renamed names[] = {{HMI_ABS, "sp.Abs"},
                                        {HMI_MIN, "sp.Min"},
                                        {HMI_MAX, "sp.Max"},
                                        {HMI_HYPOT, "hm_hypot"},
                                        {0, NULL}};
    size_t start = out->length;
    hmi_script_function(out, op, names);
    const char *name = hmi_text_view(out) + (start < out->length ? start : out->length);
    if (strncmp(name, "hm_", 3) == 0 || strncmp(name, "sp.", 3) == 0 || out->failed)
        return;
    char kept[32];
    snprintf(kept, sizeof kept, "%s", name);
    out->length = start;
    hmi_text_addf(out, "sp.%s", kept);
}

/* Decimals as the ratios that people mean by them. */
static void sympy_number(hmi_text *out, double value)
{
    char buffer[HMI_NUMBER_TEXT];
    if (isfinite(value))
        hmi_text_addf(out, "sp.Rational('%s')", hmi_number_text(value, buffer));
    else
        hmi_text_add(out, isnan(value) ? "sp.nan" : value > 0 ? "sp.oo" : "-sp.oo");
}

static const hmi_script_style sympy = {
    .dialect = {"", "", " = ", "\n", "e", NULL, sympy_function, sympy_number},
    .param = "p.%s",
    .zero_entry = "%s[%zu]",
    .zero_element = "%s[%zu, %zu]",
    .skip_zeros = true,
};

static void sympy_symbols(hmi_export *x, const char *list, const char *suffix, size_t count,
                          const char *(*name)(const hm_model *model, size_t i))
{
    hmi_text_addf(&x->text, "%s = [", list);
    for (size_t i = 0; i < count; i++)
        hmi_text_addf(&x->text, "%ssp.Symbol('%s%s', real=True)", i ? ", " : "", name(x->model, i),
                      suffix);
    hmi_text_add(&x->text, "]\n");
}

static void sympy_params(hmi_export *x)
{
    hmi_text_add(&x->text, "p = SimpleNamespace()\n");
    for (size_t i = 0; i < x->model->params.count; i++)
        hmi_text_addf(&x->text, "p.%s = sp.Symbol('%s', real=True)\n", x->params[i],
                      x->model->params.data[i].name);
    hmi_text_add(&x->text, "parameters = {");
    for (size_t i = 0; i < x->model->params.count; i++) {
        hmi_text_addf(&x->text, "%sp.%s: ", i ? ", " : "", x->params[i]);
        sympy_number(&x->text, x->model->params.data[i].value);
    }
    hmi_text_add(&x->text, "}\n");
}

void hmi_export_sympy(hmi_export *x)
{
    if (!hmi_script_possible(x, "SymPy"))
        return;
    hmi_script_contents(x, "#");
    hmi_script_add(
        x, "# Defines q, v, z, u (symbols), parameters and initial (values), M, Q, A, b, C, and "
           "accelerations().\n"
           "from types import SimpleNamespace\nimport sympy as sp\n\n"
           "def hm_powi(x, n): return x**n\n"
           "def hm_pow(x, y): return x**y\n"
           "def hm_hypot(x, y): return sp.sqrt(x**2 + y**2)\n"
           "def hm_lt(x, y): return sp.Lt(x, y)\n"
           "def hm_le(x, y): return sp.Le(x, y)\n"
           "def hm_eq(x, y): return sp.Eq(x, y)\n"
           "def hm_and(x, y): return sp.And(x, y)\n"
           "def hm_or(x, y): return sp.Or(x, y)\n"
           "def hm_not(x): return sp.Not(x)\n"
           "def hm_select(c, x, y): return sp.Piecewise((x, c), (y, True))\n\n"
           "t = sp.Symbol('t', real=True)\n");
    sympy_symbols(x, "q", "", x->n, hm_model_coordinate_name);
    sympy_symbols(x, "v", "_dot", x->n, hm_model_coordinate_name);
    sympy_symbols(x, "z", "", x->states, hm_model_state_name);
    sympy_params(x);
    hmi_text_addf(&x->text,
                  "u, du, ddu = [0]*%zu, [0]*%zu, [0]*%zu  # as the model says; replace at will\n",
                  x->inputs, x->inputs, x->inputs);
    hmi_script_inputs(x, &sympy);
    hmi_text_addf(&x->text, "M, A = sp.zeros(%zu, %zu), sp.zeros(%zu, %zu)\n", x->n, x->n, x->m,
                  x->n);
    hmi_text_addf(
        &x->text,
        "Q, b, C, rates = sp.zeros(%zu, 1), sp.zeros(%zu, 1), sp.zeros(%zu, 1), sp.zeros(%zu, 1)\n",
        x->n, x->m, x->n, x->states);
    hmi_script_equations(x, &sympy);
    hmi_script_list(x, &sympy, "rates", x->eq->state_rates, x->states);
    hmi_text_add(&x->text, "initial = dict(zip(q + v + z, [");
    hmi_script_numbers(x, &sympy, x->q, 2 * x->n + x->states, ", ");
    hmi_text_add(&x->text, "]))\n");
    hmi_script_add(
        x, "\ndef accelerations():\n"
           "    \"\"\"q'' and lambda in symbols; M and the rows of A must be independent.\"\"\"\n"
           "    n, m = M.shape[0], A.shape[0]\n"
           "    K = sp.Matrix(sp.BlockMatrix([[M, -A.T], [A, sp.zeros(m, m)]])) if m else M\n"
           "    solution = K.LUsolve((Q + C).col_join(b) if m else Q + C)\n"
           "    return solution[:n, :], solution[n:, :]\n");
}
