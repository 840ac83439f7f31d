/* Inputs and outputs of the linearised system (ports.h). */
#include "analyse/linearize/ports.h"

#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

/* ---- names ---- */

static hm_status find_input(hm_sim *sim, const char *name, size_t *index)
{
    const hm_model *model = sim->system->model;
    for (size_t k = 0; k < model->inputs.count; k++)
        if (strcmp(model->inputs.data[k].name, name) == 0) {
            *index = k;
            return hmi_model_input_is_free(sim->context, model, k, hmi_no_span) ? HM_OK
                                                                                : HM_ERR_USAGE;
        }
    hmi_error(sim->context, hmi_no_span,
              "inputs are declared: input F = 0; a force on a coordinate: force x = F",
              "there is no input '%s'", name);
    return HM_ERR_USAGE;
}

static hm_status find_output(hm_sim *sim, const char *name, size_t *variable, size_t *output)
{
    const hm_model *model = sim->system->model;
    size_t size = 2 * model->coords.count + model->states.count;
    *variable = SIZE_MAX;
    for (size_t k = 0; k < model->outputs.count; k++)
        if (strcmp(model->outputs.data[k].name, name) == 0) {
            *output = k;
            return HM_OK;
        }
    for (size_t k = 0; k < size; k++) {
        const char *own = hmi_reduction_name(sim, k);
        if (!own)
            return HM_ERR_NOMEM;
        if (strcmp(own, name) == 0) {
            *variable = k;
            return HM_OK;
        }
    }
    hmi_error(sim->context, hmi_no_span,
              "outputs are coordinates, velocities (x'), states and names of 'output' statements",
              "there is no output '%s'", name);
    return HM_ERR_USAGE;
}

hm_status hmi_ports_find(hmi_ports *ports, hmi_arena *arena, hm_sim *sim,
                         const hm_linearize_options *options)
{
    *ports = (hmi_ports){.inputs = options->input_count, .outputs = options->output_count};
    ports->input = hmi_arena_alloc(arena, (ports->inputs + 1) * sizeof *ports->input);
    ports->variable = hmi_arena_alloc(arena, (ports->outputs + 1) * sizeof *ports->variable);
    ports->output = hmi_arena_alloc(arena, (ports->outputs + 1) * sizeof *ports->output);
    hm_status status = ports->input && ports->variable && ports->output ? HM_OK : HM_ERR_NOMEM;
    for (size_t k = 0; k < ports->inputs && status == HM_OK; k++)
        status = find_input(sim, options->inputs[k], &ports->input[k]);
    for (size_t k = 0; k < ports->outputs && status == HM_OK; k++)
        status = find_output(sim, options->outputs[k], &ports->variable[k], &ports->output[k]);
    return status;
}

/* ---- directions ---- */

/* A small change of the state, of an input or of one of its derivatives, and what follows from it. */
typedef struct direction {
    const double *dx;   /* of all variables */
    const double *rate; /* of v' and z' */
    size_t input;       /* among u, u', u'' of all inputs; SIZE_MAX: none */
    double size;        /* of what is changed */
    const char *name;
} direction;

typedef struct work {
    const hmi_ports *ports;
    hmi_reduction *r;
    const hmi_kept *kept;
    hm_sim *sim;
    size_t all, rates, values; /* 3 inputs; n + states; rates and outputs */
    bool *were_set;
    double *J, *C, *residual; /* by inputs */
    double *dx, *rate;        /* of one direction */
    double *x;                /* a moved state */
    double *at[5];            /* values at five places along a direction */
    double *slope;            /* of them */
    double *most;             /* by value: the largest slope so far */
    hmi_output_slopes slopes;
} work;

static hm_status allocate(work *w, hmi_arena *arena)
{
    const hm_model *model = w->sim->system->model;
    bool failed = false;
    w->all = 3 * model->inputs.count;
    w->rates = w->r->n + w->r->states;
    w->values = w->rates + w->ports->outputs;
    w->were_set = hmi_arena_alloc(arena, model->inputs.count + 1);
    w->J = hmi_arena_doubles(arena, w->rates * w->all, &failed);
    w->C = hmi_arena_doubles(arena, 2 * w->r->m * w->all, &failed);
    w->residual = hmi_arena_doubles(arena, 2 * w->r->m, &failed);
    w->dx = hmi_arena_doubles(arena, w->r->size, &failed);
    w->rate = hmi_arena_doubles(arena, w->rates, &failed);
    w->x = hmi_arena_doubles(arena, w->r->size, &failed);
    w->slope = hmi_arena_doubles(arena, w->values, &failed);
    w->most = hmi_arena_doubles(arena, w->values, &failed);
    for (int k = 0; k < 5; k++)
        w->at[k] = hmi_arena_doubles(arena, w->values, &failed);
    return failed || !w->were_set ? HM_ERR_NOMEM : HM_OK;
}

/* v' and z' for a change of all variables, and of an input. */
static void follow(work *w, direction *d)
{
    size_t width = w->r->size + 1;
    for (size_t i = 0; i < w->rates; i++) {
        w->rate[i] = hmi_dot((int)w->r->size, w->r->J + i * width, d->dx);
        if (d->input != SIZE_MAX)
            w->rate[i] += w->J[i * w->all + d->input];
    }
    d->rate = w->rate;
}

static direction along_variable(work *w, size_t j)
{
    size_t k = w->r->independent[j];
    hmi_reduction_direction(w->r, j, w->dx);
    direction d = {
        .dx = w->dx, .input = SIZE_MAX, .size = w->r->x[k], .name = hmi_reduction_name(w->sim, k)};
    follow(w, &d);
    return d;
}

/* Does this change of the dependent variables keep the constraints, up to what they are themselves? */
static bool keeps_constraints(const work *w, const double *right, const double *change)
{
    size_t rows = 2 * w->r->m;
    for (size_t i = 0; i < rows; i++) {
        const double *row = w->r->C + i * (w->r->size + 1);
        double sum = right[i], size = fabs(right[i]);
        for (size_t k = 0; k < w->r->rank; k++) {
            sum -= row[w->r->dependent[k]] * change[k];
            size += fabs(row[w->r->dependent[k]] * change[k]);
        }
        if (fabs(sum) > 1e-9 * size)
            return false;
    }
    return true;
}

/* What the constraints make of a change of an input: of the dependent variables alone. */
static hm_status move_dependent(work *w, size_t input, bool *possible)
{
    size_t rows = 2 * w->r->m, rank = w->r->rank;
    const hm_allocator *allocator = w->r->arena.allocator;
    hmi_arena arena;
    bool failed = false;
    hmi_zero((int)w->r->size, w->dx);
    hmi_arena_init(&arena, allocator);
    double *X = hmi_arena_doubles(&arena, rows * rank, &failed);
    double *right = hmi_arena_doubles(&arena, rows, &failed);
    double *change = hmi_arena_doubles(&arena, rank, &failed);
    hm_status status = failed ? HM_ERR_NOMEM : HM_OK;
    if (status == HM_OK && rows > 0) {
        for (size_t i = 0; i < rows; i++) {
            right[i] = -w->C[i * w->all + input];
            for (size_t k = 0; k < rank; k++)
                X[k * rows + i] = w->r->C[i * (w->r->size + 1) + w->r->dependent[k]];
        }
        if (hmi_max_abs((int)rows, right) > 0 && rank > 0)
            status = hmi_minimum_norm(allocator, rows, rank, X, 1e-12, right, change);
        *possible = status == HM_OK && keeps_constraints(w, right, change);
        for (size_t k = 0; k < rank && status == HM_OK; k++)
            w->dx[w->r->dependent[k]] = change[k];
    }
    hmi_arena_release(&arena);
    return status;
}

static hm_status along_input(work *w, size_t k, int order, direction *d)
{
    const hm_model *model = w->sim->system->model;
    size_t count = model->inputs.count, index = w->ports->input[k];
    size_t input = (size_t)order * count + index;
    bool possible = true;
    hm_status status = move_dependent(w, input, &possible);
    if (status == HM_OK && !possible) {
        hmi_error(
            w->sim->context, hmi_no_span, NULL,
            "input '%s' cannot vary: no motion near this state satisfies the constraints then",
            model->inputs.data[index].name);
        return HM_ERR_NUMERIC;
    }
    *d = (direction){.dx = w->dx,
                     .input = input,
                     .size = w->sim->given.inputs[order][index],
                     .name = model->inputs.data[index].name};
    follow(w, d);
    return status;
}

/* ---- values along a direction ---- */

/* Rates and outputs with the state moved by h. Inputs are held while one of them is changed, and else
 * follow the motion. */
static hm_status values_at(work *w, const direction *d, double h, double *to)
{
    hm_sim *sim = w->sim;
    size_t n = w->r->n, count = w->all / 3;
    hmi_solution solution;
    hmi_copy((int)w->r->size, w->r->x, w->x);
    hmi_axpy((int)w->r->size, h, d->dx, w->x);
    const hmi_point at = {w->r->at.t, w->x, w->x + n, w->x + 2 * n};
    double *moved = d->input == SIZE_MAX ? NULL
                                         : &sim->given.inputs[d->input / count][d->input % count];
    double before = moved ? *moved : 0;
    if (moved)
        *moved += h;
    hm_status status = hmi_sim_accelerate(sim, &at, &solution);
    if (status == HM_OK) {
        hmi_copy((int)n, sim->last.qdd, to);
        hmi_copy((int)w->r->states, hmi_sim_state_rates(sim), to + n);
        const double *report = hmi_sim_report(sim, &at) + sim->system->report_at.outputs;
        for (size_t o = 0; o < w->ports->outputs; o++) {
            size_t k = w->ports->variable[o];
            to[w->rates + o] = k == SIZE_MAX ? report[w->ports->output[o]] : w->x[k];
        }
    }
    if (moved)
        *moved = before;
    return status;
}

static double step_of(const direction *d)
{
    return hmi_power_of_two(1 / (1e-3 * fmax(fabs(d->size), 1e-2)));
}

/* (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12 h, for outputs without derivatives of their own. */
static hm_status difference_outputs(work *w, const direction *d)
{
    static const double moves[4] = {-2, -1, 1, 2}, weights[4] = {1, -8, 8, -1};
    double h = step_of(d);
    for (int k = 0; k < 4; k++) {
        hm_status status = values_at(w, d, moves[k] * h, w->at[k]);
        if (status != HM_OK)
            return status;
    }
    for (size_t o = 0; o < w->ports->outputs; o++) {
        if (w->ports->variable[o] != SIZE_MAX || w->slopes.exact[o])
            continue;
        double *to = &w->slope[w->rates + o];
        *to = 0;
        for (int k = 0; k < 4; k++)
            *to += weights[k] * w->at[k][w->rates + o] / (12 * h);
    }
    return HM_OK;
}

/* An output by its derivatives along a direction. */
static double output_slope(const work *w, size_t o, const direction *d)
{
    const double *row = w->slopes.rows + o * w->slopes.columns, *by_input = row + w->r->size;
    double sum = hmi_dot((int)w->r->size, row, d->dx);
    if (d->input != SIZE_MAX)
        sum += by_input[d->input];
    return sum + hmi_dot((int)w->r->n, by_input + w->all, d->rate);
}

/* w->slope: rates and outputs along the direction. */
static hm_status find_slopes(work *w, const direction *d)
{
    bool differences = false;
    hmi_copy((int)w->rates, d->rate, w->slope);
    for (size_t o = 0; o < w->ports->outputs; o++) {
        size_t k = w->ports->variable[o];
        if (k != SIZE_MAX)
            w->slope[w->rates + o] = d->dx[k];
        else if (w->slopes.exact[o])
            w->slope[w->rates + o] = output_slope(w, o, d);
        else
            differences = true;
    }
    hm_status status = differences ? difference_outputs(w, d) : HM_OK;
    for (size_t i = 0; i < w->values; i++)
        w->most[i] = fmax(w->most[i], fabs(w->slope[i]));
    return status;
}

/* ---- is there a derivative? ---- */

/* What rounding can make of a value. */
static double noise_of(const work *w, size_t i)
{
    double size = fabs(w->at[0][i]) + fabs(w->at[1][i]) + fabs(w->at[2][i]);
    double own = i < w->rates ? hmi_reduction_noise(w->r, w->r->n + i) : 0;
    return own + 1000 * HMI_EPSILON * size;
}

/* With at[0..2] at -h, 0, h: do both sides have the slope that was found? */
static bool agrees(const work *w, size_t i, double h)
{
    double before = w->at[0][i], here = w->at[1][i], after = w->at[2][i];
    double allowed = 1e-5 * fabs(w->slope[i]) + 1e-8 * w->most[i] + noise_of(w, i) / h;
    return fabs((after - before) / (2 * h) - w->slope[i]) <= allowed &&
           fabs((after - 2 * here + before) / h) <= 2 * allowed;
}

/* The first value that has no derivative along the direction; `values`: none. Steps shrink until the
 * curvature of a smooth function no longer counts; a kink or a jump stays what it is. */
static hm_status find_rough(work *w, const direction *d, size_t first, size_t *rough)
{
    double h = step_of(d) / 1024;
    *rough = first;
    for (int level = 0; level < 4; level++, h /= 16) {
        hm_status status = values_at(w, d, -h, w->at[0]);
        if (status == HM_OK)
            status = values_at(w, d, 0, w->at[1]);
        if (status == HM_OK)
            status = values_at(w, d, h, w->at[2]);
        if (status != HM_OK)
            return status;
        while (*rough < w->values && agrees(w, *rough, h))
            ++*rough;
    }
    return HM_OK;
}

static hm_status check(work *w, const direction *d)
{
    size_t rough;
    bool by_input = d->input != SIZE_MAX;
    hm_status status = find_rough(w, d, by_input ? 0 : w->rates, &rough);
    if (status != HM_OK || rough == w->values)
        return status;
    const hmi_ports *ports = w->ports;
    size_t o = rough - w->rates;
    const char *name = rough < w->rates ? hmi_reduction_name(w->sim, w->r->n + rough)
                       : ports->variable[o] != SIZE_MAX
                           ? hmi_reduction_name(w->sim, ports->variable[o])
                           : w->sim->system->model->outputs.data[ports->output[o]].name;
    hmi_error(w->sim->context, hmi_no_span, "--at gives another state",
              "%s'%s' has no derivative by %s'%s' at this state",
              rough < w->rates ? "the rate of " : "output ", name, by_input ? "input " : "",
              d->name);
    return HM_ERR_NUMERIC;
}

/* ---- the matrices ---- */

/* The rate of a variable along a direction. */
static double variable_rate(const work *w, const direction *d, size_t k)
{
    return k < w->r->n ? d->dx[w->r->n + k] : w->slope[k - w->r->n];
}

static hm_status fill_by_inputs(work *w, hmi_port_matrices *to)
{
    size_t inputs = w->ports->inputs;
    hm_status status = HM_OK;
    for (int order = 0; order < 3; order++)
        for (size_t a = 0; a < inputs && status == HM_OK; a++) {
            direction d;
            status = along_input(w, a, order, &d);
            if (status == HM_OK)
                status = find_slopes(w, &d);
            if (status == HM_OK)
                status = check(w, &d);
            for (size_t i = 0; i < w->kept->count && status == HM_OK; i++)
                to->B[order][i * inputs + a] = variable_rate(w, &d,
                                                             w->r->independent[w->kept->index[i]]);
            for (size_t o = 0; o < w->ports->outputs && status == HM_OK; o++)
                to->D[order][o * inputs + a] = w->slope[w->rates + o];
        }
    return status;
}

/* A variable that is left out must not matter for an output. */
static hm_status check_left_out(const work *w, size_t j)
{
    for (size_t o = 0; o < w->ports->outputs; o++)
        if (fabs(w->slope[w->rates + o]) > 1e-9 * w->most[w->rates + o]) {
            size_t k = w->ports->variable[o];
            hmi_error(w->sim->context, hmi_no_span, "--keep keeps it among the variables",
                      "output '%s' depends on '%s', which is left out of the linearised system",
                      k != SIZE_MAX ? hmi_reduction_name(w->sim, k)
                                    : w->sim->system->model->outputs.data[w->ports->output[o]].name,
                      hmi_reduction_name(w->sim, w->r->independent[j]));
            return HM_ERR_NUMERIC;
        }
    return HM_OK;
}

static hm_status fill_by_variables(work *w, hmi_port_matrices *to)
{
    size_t kept = 0;
    hm_status status = HM_OK;
    for (size_t j = 0; j < w->r->dimension && w->ports->outputs && status == HM_OK; j++) {
        bool stays = kept < w->kept->count && w->kept->index[kept] == j;
        direction d = along_variable(w, j);
        status = find_slopes(w, &d);
        if (status == HM_OK)
            status = check(w, &d);
        if (status == HM_OK && !stays)
            status = check_left_out(w, j);
        for (size_t o = 0; o < w->ports->outputs && status == HM_OK && stays; o++)
            to->C[o * w->kept->count + kept] = w->slope[w->rates + o];
        kept += stays;
    }
    return status;
}

/* Inputs are held while they are what is differentiated by. */
static hm_status by_inputs(work *w, hmi_port_matrices *to)
{
    hmi_sim_hold_inputs(w->sim, &w->r->at, w->were_set);
    hm_status status = hmi_sim_input_jacobian(w->sim, &w->r->at, w->J);
    if (status == HM_OK)
        status = hmi_sim_residual_by_inputs(w->sim, &w->r->at, w->residual, w->C);
    if (status == HM_OK)
        status = fill_by_inputs(w, to);
    hmi_sim_release_inputs(w->sim, w->were_set);
    return status;
}

hm_status hmi_ports_compute(const hmi_ports *ports, hmi_reduction *r, const hmi_kept *kept,
                            hmi_arena *arena, hmi_port_matrices *to)
{
    work w = {.ports = ports, .r = r, .kept = kept, .sim = r->sim};
    bool failed = false;
    for (int order = 0; order < 3; order++) {
        to->B[order] = hmi_arena_doubles(arena, kept->count * ports->inputs, &failed);
        to->D[order] = hmi_arena_doubles(arena, ports->outputs * ports->inputs, &failed);
    }
    to->C = hmi_arena_doubles(arena, ports->outputs * kept->count, &failed);
    hmi_arena scratch;
    hmi_arena_init(&scratch, r->arena.allocator);
    hm_status status = failed ? HM_ERR_NOMEM : allocate(&w, &scratch);
    hmi_solution solution;
    if (status == HM_OK) /* accelerations at the state, which outputs may use */
        status = hmi_sim_accelerate(r->sim, &r->at, &solution);
    if (status == HM_OK)
        status = hmi_find_output_slopes(ports, r->sim, &r->at, &scratch, &w.slopes);
    if (status == HM_OK)
        status = fill_by_variables(&w, to);
    if (status == HM_OK && ports->inputs)
        status = by_inputs(&w, to);
    hmi_arena_release(&scratch);
    return status;
}
