/* Julia and MATLAB: right-hand sides over arrays, solved by a pseudo-inverse. */
#include "output/export/script.h"

/* ---- Julia ---- */

static void julia_function(hmi_text *out, hmi_op op)
{
    static const hmi_renamed names[] = {
        {HMI_MIN, "min"}, {HMI_MAX, "max"}, {HMI_ATAN2, "atan"}, {0, NULL}};
    hmi_script_function(out, op, names);
}

static const hmi_script_style julia = {
    .dialect = {"    ", "", " = ", "\n", "e", NULL, julia_function, hmi_script_number},
    .param = "p.%s",
    .entry = "%s[%zu]",
    .element = "%s[%zu, %zu]",
    .skip_zeros = true,
};

static void julia_params(hmi_export *x)
{
    hmi_text_addf(&x->text, "%s_params = (;", x->name);
    for (size_t i = 0; i < x->model->params.count; i++) {
        hmi_text_addf(&x->text, "%s%s = ", i ? ", " : " ", x->params[i]);
        hmi_script_number(&x->text, x->model->params.data[i].value);
    }
    hmi_text_addf(&x->text, ")\n%s_initial = Float64[", x->name);
    hmi_script_numbers(x, &julia, x->q, 2 * x->n + x->states, ", ");
    hmi_text_add(&x->text, "]\n\n");
}

/* q, v, z out of y, and inputs. */
static void array_state(hmi_export *x, const char *zeros, const char *open, const char *close,
                        const char *end)
{
    size_t n = x->n;
    hmi_text_addf(&x->text, "    q = y%s1:%zu%s%s    v = y%s%zu:%zu%s%s", open, n, close, end, open,
                  n + 1, 2 * n, close, end);
    hmi_text_addf(&x->text, "    z = y%s%zu:%zu%s%s", open, 2 * n + 1, 2 * n + x->states, close,
                  end);
    static const char *const arrays[] = {"u", "du", "ddu"};
    for (size_t k = 0; k < 3; k++) {
        hmi_text_addf(&x->text, "    %s = ", arrays[k]);
        hmi_text_addf(&x->text, "%s(%zu", zeros, x->inputs);
        hmi_text_addf(&x->text, ", 1)%s", end);
    }
}

static void array_matrices(hmi_export *x, const char *zeros, const char *end)
{
    const struct {
        const char *name;
        size_t rows, columns;
    } arrays[] = {{"M", x->n, x->n}, {"A", x->m, x->n}, {"Q", x->n, 1},
                  {"b", x->m, 1},    {"C", x->n, 1},    {"rates", x->states, 1}};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        hmi_text_addf(&x->text, "    %s = %s(%zu, %zu)%s", arrays[k].name, zeros, arrays[k].rows,
                      arrays[k].columns, end);
}

void hmi_export_julia(hmi_export *x)
{
    if (!hmi_script_possible(x, "Julia"))
        return;
    hmi_script_contents(x, "#");
    hmi_script_add(
        x,
        "# using DifferentialEquations; solve(ODEProblem(@!, @_initial, (0.0, 10.0), @_params))\n"
        "using LinearAlgebra\n\n"
        "hm_powi(x, n) = x^Int(n)\n"
        "hm_pow(x, y) = x^y\n"
        "hm_lt(x, y) = x < y\nhm_le(x, y) = x <= y\nhm_eq(x, y) = x == y\n"
        "hm_and(x, y) = x && y\nhm_or(x, y) = x || y\nhm_not(x) = !x\n"
        "hm_select(c, x, y) = c ? x : y\n\n");
    julia_params(x);
    hmi_script_add(x, "function @!(dy, y, p, t)\n");
    array_state(x, "zeros", "[", "]", "\n");
    hmi_script_inputs(x, &julia);
    array_matrices(x, "zeros", "\n");
    hmi_script_equations(x, &julia);
    hmi_script_list(x, &julia, "rates", x->eq->state_rates, x->states);
    hmi_text_addf(&x->text,
                  "    K = [M -A'; A zeros(%zu, %zu)]\n    solution = pinv(K) * [Q + C; b]\n"
                  "    dy[1:%zu] = v\n    dy[%zu:%zu] = solution[1:%zu]\n    dy[%zu:%zu] = rates\n "
                  "   return nothing\nend\n",
                  x->m, x->m, x->n, x->n + 1, 2 * x->n, x->n, 2 * x->n + 1, 2 * x->n + x->states);
}

/* ---- MATLAB and Octave ---- */

static void matlab_function(hmi_text *out, hmi_op op)
{
    static const hmi_renamed names[] = {{HMI_MIN, "min"},    {HMI_MAX, "max"}, {HMI_POW, "power"},
                                        {HMI_POWI, "power"}, {HMI_LT, "lt"},   {HMI_LE, "le"},
                                        {HMI_EQ, "eq"},      {HMI_AND, "and"}, {HMI_OR, "or"},
                                        {HMI_NOT, "not"},    {0, NULL}};
    hmi_script_function(out, op, names);
}

static const hmi_script_style matlab = {
    .dialect = {"    ", "", " = ", ";\n", "e", NULL, matlab_function, hmi_script_number},
    .param = "p.%s",
    .entry = "%s(%zu)",
    .element = "%s(%zu, %zu)",
    .skip_zeros = true,
};

void hmi_export_matlab(hmi_export *x)
{
    if (!hmi_script_possible(x, "MATLAB"))
        return;
    hmi_script_add(x, "function [dy, lambda] = @(t, y, p)\n");
    hmi_script_contents(x, "%");
    hmi_script_add(
        x, "% y = (q, v, z); parameters p may be left out. @('initial') is the initial state: give "
           "a handle of\n"
           "% this function and that state to ode45.\n");
    hmi_script_add(x, "    if ischar(t)\n        dy = [");
    hmi_script_numbers(x, &matlab, x->q, 2 * x->n + x->states, "; ");
    hmi_text_add(&x->text, "]; lambda = [];\n        return\n    end\n    if nargin < 3\n        p "
                           "= struct();\n    end\n");
    for (size_t i = 0; i < x->model->params.count; i++) {
        hmi_text_addf(&x->text, "    if ~isfield(p, '%s'), p.%s = ", x->params[i], x->params[i]);
        hmi_script_number(&x->text, x->model->params.data[i].value);
        hmi_text_add(&x->text, "; end\n");
    }
    array_state(x, "zeros", "(", ")", ";\n");
    hmi_script_inputs(x, &matlab);
    array_matrices(x, "zeros", ";\n");
    hmi_script_equations(x, &matlab);
    hmi_script_list(x, &matlab, "rates", x->eq->state_rates, x->states);
    hmi_text_addf(&x->text,
                  "    solution = pinv([M, -A'; A, zeros(%zu, %zu)]) * [Q + C; b];\n"
                  "    dy = [v; solution(1:%zu); rates];\n    lambda = solution(%zu:%zu);\nend\n\n",
                  x->m, x->m, x->n, x->n + 1, x->n + x->m);
    hmi_script_add(
        x, "function value = hm_select(c, x, y)\n    if c\n        value = x;\n    else\n        "
           "value = y;\n"
           "    end\nend\n");
}
