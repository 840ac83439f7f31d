/* The header of exported C: sizes, parameters, work space, functions. */
#include "output/export/export.h"

void hmi_export_template(hmi_export *x, const char *text, size_t length)
{
    size_t from = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] != '@' && text[i] != '$')
            continue;
        hmi_text_add_bytes(&x->text, text + from, i - from);
        hmi_text_add(&x->text, text[i] == '@' ? x->name : x->capitals);
        from = i + 1;
    }
    hmi_text_add_bytes(&x->text, text + from, length - from);
}

static void add(hmi_export *x, const char *text)
{
    size_t length = 0;
    while (text[length])
        length++;
    hmi_export_template(x, text, length);
}

static void write_sizes(hmi_export *x)
{
    const struct {
        const char *name;
        size_t size;
    } sizes[] = {{"COORDINATES", x->n}, {"CONSTRAINTS", x->m},   {"STATES", x->states},
                 {"INPUTS", x->inputs}, {"OUTPUTS", x->outputs}, {"EVENTS", x->events}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        hmi_text_addf(&x->text, "#define %s_%s %zu\n", x->capitals, sizes[i].name, sizes[i].size);
    add(x, "\n/* What functions return. */\n"
           "#define $_OK 0\n"
           "#define $_UNDETERMINED 1   /* q'' is not determined, or a law of reactions has no "
           "solution */\n"
           "#define $_INCONSISTENT 2   /* the constraints contradict each other */\n"
           "#define $_NOT_FINITE 3\n"
           "#define $_STEP_TOO_SMALL 4 /* the motion cannot be followed further */\n\n");
}

static void list_names(hmi_export *x, const char *what, size_t count,
                       const char *(*name)(const hm_model *model, size_t i))
{
    if (count == 0)
        return;
    hmi_text_addf(&x->text, " *   %s:", what);
    for (size_t i = 0; i < count; i++)
        hmi_text_addf(&x->text, " %s", name(x->model, i));
    hmi_text_add(&x->text, "\n");
}

static const char *constraint_name(const hm_model *model, size_t i)
{
    return model->constraints.data[i].name;
}

static const char *output_name(const hm_model *model, size_t i)
{
    return model->outputs.data[i].name;
}

static const char *event_name(const hm_model *model, size_t i)
{
    return model->events.data[i].name;
}

static void write_opening(hmi_export *x)
{
    hmi_text_addf(&x->text,
                  "/* %s%s%s: equations of motion, made by hamel %s.\n *\n"
                  " * M q'' = Q + Qc,  A q'' = b. Arrays hold, in this order:\n",
                  hm_model_name(x->model), x->model->title ? ", " : "",
                  x->model->title ? x->model->title : "", hm_version());
    list_names(x, "q, v", x->n, hm_model_coordinate_name);
    list_names(x, "z", x->states, hm_model_state_name);
    list_names(x, "u", x->inputs, hm_model_input_name);
    list_names(x, "lambda", x->m, constraint_name);
    list_names(x, "outputs", x->outputs, output_name);
    list_names(x, "events", x->events, event_name);
    add(x, " *\n * Nothing is allocated and nothing is kept between calls: all functions are "
           "reentrant, one\n"
           " * work space per thread. Inputs u may be NULL, or NaN one by one: then they are as "
           "the model says. C99 "
           "and libm;\n"
           " * compile with -ffp-contract=off for the same bits everywhere. */\n");
    add(x, "#ifndef $_H\n#define $_H\n\n");
}

static void write_params(hmi_export *x)
{
    hmi_text_addf(&x->text, "typedef struct %s_params {\n", x->name);
    for (size_t i = 0; i < x->model->params.count; i++)
        hmi_text_addf(&x->text, "    %s_real %s; /* %s%s */\n", x->name, x->params[i],
                      x->model->params.data[i].name,
                      x->model->params.data[i].structural ? ", sets a size: do not change" : "");
    if (x->model->params.count == 0)
        hmi_text_addf(&x->text, "    %s_real none;\n", x->name);
    hmi_text_addf(&x->text, "} %s_params;\n\n", x->name);
}

/* One array of the work space; never without elements, which C does not have. */
static void array(hmi_export *x, const char *name, size_t count, const char *meaning)
{
    hmi_text_addf(&x->text, "    %s_real %s[%zu];%s%s%s\n", x->name, name, count ? count : 1,
                  *meaning ? " /* " : "", meaning, *meaning ? " */" : "");
}

static void write_work(hmi_export *x)
{
    size_t n = x->n, m = x->m, size = 2 * n + x->states;
    hmi_text_addf(
        &x->text,
        "/* Results that are of use after a call come first. */\ntypedef struct %s_work {\n",
        x->name);
    array(x, "M", n * n, "row by row");
    array(x, "Q", n, "");
    array(x, "A", m * n, "row by row");
    array(x, "b", m, "");
    array(x, "C", n, "non-ideal forces");
    array(x, "qdd", n, "");
    array(x, "lambda", m, "of the ideal forces Qi = A^T lambda");
    array(x, "lambda_total", m, "");
    array(x, "ideal", n, "Qi");
    array(x, "total", n, "A^T lambda_total");
    array(x, "constraint_force", n, "Qc");
    array(x, "u", x->inputs, "");
    array(x, "du", x->inputs, "");
    array(x, "ddu", x->inputs, "");
    array(x, "quantity", 4, "energy; powers ideal, nonideal, servo");
    hmi_text_add(&x->text, "    /* scratch */\n");
    array(x, "free_force", n, "");
    array(x, "F", n, "");
    array(x, "unit", n, "");
    array(x, "H", n * n, "");
    array(x, "bound", n * n, "");
    array(x, "y", n, "");
    array(x, "f", n, "");
    array(x, "R", n * m, "");
    array(x, "T", m * m, "");
    array(x, "K", m * m, "");
    static const char *const by_row[] = {"size",      "tau",   "diagonal", "tau2",
                                         "diagonal2", "sum",   "residual", "c",
                                         "shifted",   "trial", "phi",      "psi"};
    for (size_t i = 0; i < sizeof by_row / sizeof *by_row; i++)
        array(x, by_row[i], m, "");
    array(x, "slope", m * (size + x->inputs), "");
    hmi_text_addf(&x->text,
                  "    %s_real k[8][%zu];\n    int row[%zu], pivot[%zu], rank;\n} %s_work;\n\n",
                  x->name, size ? size : 1, m ? m : 1, n ? n : 1, x->name);
}

static void write_functions(hmi_export *x)
{
#define STATE "\n    const @_params *p, @_real t, const @_real *q, const @_real *v, const @_real *z"
    add(x,
        "/* The parameters of the model; after changes, those that the model computes from others "
        "anew. */\n"
        "void @_params_default(@_params *p);\n"
        "void @_params_update(@_params *p);\n"
        "/* The consistent initial state of the model with its own parameters. */\n"
        "void @_initial(@_real *t, @_real *q, @_real *v, @_real *z);\n"
        "/* Inputs as the model says, with their rates. */\n"
        "void @_inputs(" STATE ", @_real *u, @_real *du,\n    @_real *ddu);\n"
        "/* M, Q, A, b into the work space; Q without terms that use constraint forces, and C "
        "where it uses\n"
        " * none. */\n"
        "void @_equations(" STATE ", const @_real *u, @_work *w);\n"
        "/* q''. */\n"
        "int @_accelerations(" STATE ", const @_real *u,\n    @_real *qdd, @_work *w);\n"
        "/* q'', lambda and Qi of the ideal forces, Qc in all. */\n"
        "int @_forces(" STATE ", const @_real *u, @_real *qdd,\n"
        "    @_real *lambda, @_real *ideal, @_real *constraint, @_work *w);\n"
        "int @_outputs(" STATE ", const @_real *u, @_real *out,\n    @_work *w);\n"
        "int @_events(" STATE ", const @_real *u, @_real *out,\n    @_work *w);\n"
        "/* Rates of the auxiliary states; the inputs are those of the work space. */\n"
        "void @_state_rates(" STATE ", @_work *w, @_real *rate);\n"
        "/* phi, and phi' or psi, of each constraint; 0 where a constraint has no such level. */\n"
        "void @_residuals(" STATE ", const @_real *u,\n    @_real *phi, @_real *psi, @_work *w);\n"
        "/* kinetic, potential, and q' dL/dq' - L; 0 where the model has none. */\n"
        "void @_energies(" STATE ", @_work *w, @_real energy[3]);\n"
        "/* Moves q and v as little as possible, in the metric of M, onto the constraints. */\n"
        "int @_project(const @_params *p, @_real t, @_real *q, @_real *v, const @_real *z, const "
        "@_real *u,\n"
        "    @_work *w);\n\n"
        "/* The motion as first-order equations of y = (q, v, z). */\n"
        "int @_derivative(const @_params *p, @_real t, const @_real *y, const @_real *u, @_real "
        "*rate, @_work *w);\n"
        "/* One step of the classical Runge-Kutta method. */\n"
        "int @_step(const @_params *p, @_real *t, @_real h, @_real *y, const @_real *u, int "
        "project, @_work *w);\n"
        "/* One step of Dormand and Prince's method of order 5(4), as long as the tolerances "
        "allow, not beyond "
        "`end`. */\n"
        "int @_adaptive_step(const @_params *p, @_real *t, @_real end, @_real *y, const @_real "
        "*u,\n"
        "    @_real rtol, @_real atol, int project, @_real *h, @_work *w);\n"
        "/* To `end` by Dormand and Prince's method of order 5(4); *h is the step to begin with "
        "(0: any) and\n"
        " * receives the last one. Events are not looked for. */\n"
        "int @_integrate(const @_params *p, @_real *t, @_real end, @_real *y, const @_real *u, "
        "@_real rtol,\n"
        "    @_real atol, int project, @_real *h, @_work *w);\n");
    hmi_text_add(&x->text, "/* Derivatives of (q'', z') by (q, v, z) at fixed inputs, row by row: "
                           "(n + states) x (2 n + "
                           "states). */\n");
    add(x, "int @_jacobian(" STATE ", const @_real *u, @_real *J,\n    @_work *w);\n");
#undef STATE
}

void hmi_export_c_header(hmi_export *x)
{
    write_opening(x);
    add(x, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    hmi_text_addf(&x->text, "typedef %s %s_real;\n\n", x->single ? "float" : "double", x->name);
    write_sizes(x);
    write_params(x);
    write_work(x);
    write_functions(x);
    add(x, "\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
}
