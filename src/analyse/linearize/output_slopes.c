/* Outputs of the model differentiated by all symbols that they use (ports.h): one reverse sweep an output
 * and kind of symbol, compiled to a tape that runs once. */
#include "analyse/linearize/ports.h"

#include "compile/jit/assemble.h"

#include <string.h>

typedef struct sweep {
    const hmi_ports *ports;
    hm_sim *sim;
    hmi_graph graph;
    hmi_adjoint adjoint;
    hmi_substitution with_energy;
    hmi_output_slopes *to;
    hmi_expr *list;
} sweep;

enum { KINDS = 7 };
static const hmi_symbol_kind kinds[KINDS] = {
    HMI_SYM_COORD,      HMI_SYM_VELOCITY,    HMI_SYM_STATE,        HMI_SYM_INPUT,
    HMI_SYM_INPUT_RATE, HMI_SYM_INPUT_RATE2, HMI_SYM_ACCELERATION,
};

static size_t count_of(const hm_sim *sim, hmi_symbol_kind kind)
{
    const hm_model *model = sim->system->model;
    return kind == HMI_SYM_STATE                                  ? model->states.count
           : kind >= HMI_SYM_INPUT && kind <= HMI_SYM_INPUT_RATE2 ? model->inputs.count
                                                                  : model->coords.count;
}

static hmi_expr total_energy(hmi_graph *graph, hmi_expr leaf, void *user)
{
    const hmi_derived *eq = user;
    const hmi_node *node = hmi_node_at(graph, leaf);
    bool total = node->a == HMI_SYM_ENERGY && node->b == HMI_QUANTITY_TOTAL;
    return total && eq->total != HMI_NONE ? eq->total : leaf;
}

/* Does some default follow the motion? What such an input does to an output has no row here. */
static bool inputs_follow(const hm_sim *sim)
{
    const uint16_t moving = HMI_DEP(HMI_SYM_COORD) | HMI_DEP(HMI_SYM_VELOCITY) |
                            HMI_DEP(HMI_SYM_STATE);
    const hm_model *model = sim->system->model;
    for (size_t k = 0; k < model->inputs.count; k++)
        if (!sim->given.input_set[k] &&
            (hmi_deps(&model->graph, model->inputs.data[k].value) & moving))
            return true;
    return false;
}

static bool is_exact(const sweep *s, hmi_expr e)
{
    const uint16_t input = HMI_DEP(HMI_SYM_INPUT) | HMI_DEP(HMI_SYM_INPUT_RATE) |
                           HMI_DEP(HMI_SYM_INPUT_RATE2);
    const uint16_t known = HMI_DEP(HMI_SYM_TIME) | HMI_DEP(HMI_SYM_PARAM) | HMI_DEP(HMI_SYM_COORD) |
                           HMI_DEP(HMI_SYM_VELOCITY) | HMI_DEP(HMI_SYM_STATE) |
                           HMI_DEP(HMI_SYM_ACCELERATION) | input;
    uint16_t deps = hmi_deps(&s->graph, e);
    return !(deps & (uint16_t)~known) && !((deps & input) && inputs_follow(s->sim));
}

static hm_status differentiate(sweep *s, size_t o)
{
    hmi_expr e = s->sim->system->derived.outputs[s->ports->output[o]];
    e = hmi_substitute(&s->with_energy, &s->graph, e);
    hm_status status = hmi_graph_status(&s->graph);
    if (status != HM_OK)
        return status;
    s->to->exact[o] = is_exact(s, e);
    hmi_expr *row = s->list + o * s->to->columns;
    for (int k = 0; k < KINDS && status == HM_OK && s->to->exact[o]; k++) {
        status = hmi_gradient(&s->adjoint, &s->graph, e, kinds[k]);
        for (size_t i = 0; i < s->adjoint.partials.count && status == HM_OK; i++)
            row[s->adjoint.partials.data[i].index] = s->adjoint.partials.data[i].value;
        row += count_of(s->sim, kinds[k]);
    }
    return status;
}

/* Runs the derivatives at the point. */
static hm_status evaluate(sweep *s, const hmi_point *at, hmi_arena *arena)
{
    size_t count = s->ports->outputs * s->to->columns;
    hmi_tape tape = {0};
    bool failed = false;
    hm_status status = hmi_tape_compile(&tape, &s->graph, s->list, count);
    double *work = hmi_arena_doubles(arena, tape.work_size, &failed);
    if (status == HM_OK && failed)
        status = HM_ERR_NOMEM;
    if (status == HM_OK) {
        const hmi_tape_values values = hmi_sim_values(s->sim, at);
        hmi_tape_prepare(&tape, &values, work);
        hmi_tape_run(&tape, &values, work);
        memcpy(s->to->rows, hmi_tape_outputs(&tape, work), count * sizeof *work);
    }
    hmi_tape_release(&tape);
    return status;
}

hm_status hmi_find_output_slopes(const hmi_ports *ports, hm_sim *sim, const hmi_point *at,
                                 hmi_arena *arena, hmi_output_slopes *to)
{
    const hmi_derived *eq = &sim->system->derived;
    bool failed = false;
    sweep s = {.ports = ports, .sim = sim, .to = to};
    to->columns = 0;
    for (int k = 0; k < KINDS; k++)
        to->columns += count_of(sim, kinds[k]);
    size_t count = ports->outputs * to->columns;
    to->exact = hmi_arena_alloc(arena, ports->outputs + 1);
    to->rows = hmi_arena_doubles(arena, count, &failed);
    s.list = hmi_arena_alloc(arena, (count + 1) * sizeof *s.list);
    if (failed || !to->exact || !s.list)
        return HM_ERR_NOMEM;
    hm_status status = hmi_graph_copy(&s.graph, &eq->graph);
    hmi_adjoint_init(&s.adjoint, eq->allocator);
    hmi_substitution_init(&s.with_energy, eq->allocator, total_energy, (void *)eq,
                          HMI_DEP(HMI_SYM_ENERGY));
    for (size_t i = 0; i < count && status == HM_OK; i++)
        s.list[i] = s.graph.zero;
    for (size_t o = 0; o < ports->outputs && status == HM_OK; o++)
        if (ports->variable[o] == SIZE_MAX)
            status = differentiate(&s, o);
    if (status == HM_OK)
        status = evaluate(&s, at, arena);
    hmi_substitution_release(&s.with_energy);
    hmi_adjoint_release(&s.adjoint);
    hmi_graph_release(&s.graph);
    return status;
}
