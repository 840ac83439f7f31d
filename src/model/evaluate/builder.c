/* The ground of the builder: its creation, its memory, its limits, and the check of what an
 * expression may contain. */
#include "model/evaluate/builder.h"

/* ---- memory and limits ---- */

bool hmi_no_memory(hmi_builder *b)
{
    b->context->out_of_memory = true;
    return false;
}

void *hmi_model_alloc(hmi_builder *b, size_t size)
{
    void *memory = hmi_arena_alloc(&b->model->arena, size);
    b->bytes += size;
    if (!memory)
        hmi_no_memory(b);
    return memory;
}

void *hmi_builder_alloc(hmi_builder *b, size_t size)
{
    void *memory = hmi_arena_alloc(&b->arena, size);
    b->bytes += size;
    if (!memory)
        hmi_no_memory(b);
    return memory;
}

bool hmi_report_unsound(hmi_builder *b, hmi_span at)
{
    if (b->graph->status != HM_ERR_LIMIT)
        return hmi_no_memory(b);
    if (!b->context->limit_exceeded)
        hmi_error(b->context, at, NULL, "the model is too large: more than %d expressions",
                  HMI_MOST_NODES);
    b->context->limit_exceeded = true;
    return false;
}

bool hmi_report_spent(hmi_builder *b, hmi_span at)
{
    hmi_error(b->context, at, NULL, "the model is too large: more than %lld %s to write it out",
              b->bytes > HMI_MOST_BUILD_BYTES ? (long long)HMI_MOST_BUILD_BYTES >> 20
                                              : (long long)b->context->most_steps,
              b->bytes > HMI_MOST_BUILD_BYTES ? "MiB" : "steps");
    b->context->limit_exceeded = true;
    return false;
}

/* ---- forecasts ---- */

size_t hmi_forecast_begin(const hmi_builder *b)
{
    return b->graph->nodes.count;
}

/* Looked at now and then, when there is something to go by. What was written out is differentiated and
 * compiled: 140 to 270 bytes for each node at the end, measured on sums, families, forces and outputs. */
bool hmi_forecast_good(hmi_builder *b, size_t before, int64_t done, int64_t count, hmi_span at)
{
    enum { OFTEN = 64, ENOUGH = 400000, LEAST_BYTES = 100 };
    size_t nodes = b->graph->nodes.count;
    if (done % (count / OFTEN + 1) != 0 || done > count / 2 || nodes < before + ENOUGH)
        return true;
    double all = (double)before + (double)(nodes - before) * ((double)count / (double)done);
    double bytes = LEAST_BYTES * all, limit = (double)b->context->budget.limit;
    if (!(bytes > limit))
        return true;
    hmi_error(
        b->context, at, "the limit is set by --max-memory, or by hm_limits",
        "these %lld repetitions would need more than %.1f GB of memory, and the limit is %.1f GB",
        (long long)count, bytes / 1e9, limit / 1e9);
    b->context->limit_exceeded = true;
    return false;
}

/* ---- what an expression may contain ---- */

static const struct {
    uint16_t deps;
    const char *what;
} forbidden_texts[] = {
    {HMI_DEP(HMI_SYM_ACCELERATION), "accelerations"},
    {HMI_DEP_FORCES, "constraint forces"},
    {HMI_DEP(HMI_SYM_ENERGY), "'energy'"},
    {HMI_DEP(HMI_SYM_VELOCITY), "velocities"},
    {HMI_DEP(HMI_SYM_COORD), "coordinates"},
    {HMI_DEP(HMI_SYM_STATE), "states"},
    {HMI_DEP(HMI_SYM_INPUT) | HMI_DEP(HMI_SYM_INPUT_RATE) | HMI_DEP(HMI_SYM_INPUT_RATE2), "inputs"},
    {HMI_DEP(HMI_SYM_TIME), "time"},
};

bool hmi_check_contents(hmi_builder *b, hmi_expr e, uint16_t allowed, hmi_span at,
                        const char *where)
{
    uint16_t forbidden = (uint16_t)(hmi_deps(b->graph, e) & ~allowed);
    if (!forbidden)
        return true;
    for (size_t i = 0; i < sizeof forbidden_texts / sizeof *forbidden_texts; i++)
        if (forbidden & forbidden_texts[i].deps) {
            hmi_error(b->context, at,
                      i == 0 ? "x' is the velocity of x, and x'' its acceleration" : NULL,
                      "%s cannot occur in %s", forbidden_texts[i].what, where);
            return false;
        }
    return false;
}

/* ---- creation ---- */

/* The time derivative of leaves: a state has the rate that the model gives. */
static hmi_expr leaf_rate(hmi_graph *graph, hmi_expr leaf, void *user)
{
    const hmi_builder *b = user;
    const hmi_node *node = hmi_node_at(graph, leaf);
    if (node->a != HMI_SYM_STATE)
        return hmi_leaf_rate(graph, leaf);
    return node->b < b->model->states.count ? b->model->states.data[node->b].rate
                                            : HMI_NONE; /* also while unknown */
}

bool hmi_builder_init(hmi_builder *b, hm_context *context, hmi_tree *tree, hm_model *model,
                      const hm_model_options *options)
{
    *b = (hmi_builder){.context = context, .tree = tree, .model = model, .graph = &model->graph};
    b->lets_tail = &b->lets;
    b->repeats = (hmi_repeats){1, 1};
    b->errors = context->errors;
    hmi_arena_init(&b->arena, &context->allocator);
    hmi_names_init(&b->object_names, &context->allocator);
    hmi_adjoint_init(&b->adjoint, &context->allocator);
    hmi_constants_init(&b->constants, &context->allocator);
    hmi_walk_init(&b->walk, &context->allocator);
    hmi_hash_init(&b->memo.table, &context->allocator);
    hmi_hash_init(&b->member_table, &context->allocator);
    hmi_tangent_init(&b->time_derivative, &context->allocator, leaf_rate, b,
                     (uint16_t)(HMI_ALL_DEPS & ~HMI_DEP(HMI_SYM_PARAM)));
    b->name_t = hmi_names_intern(&tree->names, "t", 1);
    b->name_pi = hmi_names_intern(&tree->names, "pi", 2);
    b->name_greek_pi = hmi_names_intern(&tree->names, "\xCF\x80", 2);
    b->name_energy = hmi_names_intern(&tree->names, "energy", 6);
    b->name_kinetic = hmi_names_intern(&tree->names, "kinetic_energy", 14);
    b->name_potential = hmi_names_intern(&tree->names, "potential_energy", 16);
    b->overrides = options->overrides;
    b->override_count = options->override_count;
    b->override_used = hmi_builder_alloc(b, options->override_count + 1);
    if (b->name_t < 0 || b->name_pi < 0 || b->name_greek_pi < 0 || b->name_energy < 0 ||
        b->name_kinetic < 0 || b->name_potential < 0)
        return hmi_no_memory(b);
    return b->override_used != NULL;
}

void hmi_builder_release(hmi_builder *b)
{
    const hm_allocator *allocator = &b->context->allocator;
    hmi_array_release(allocator, &b->globals);
    hmi_array_release(allocator, &b->param_values);
    hmi_array_release(allocator, &b->objects);
    hmi_array_release(allocator, &b->called);
    hmi_names_release(&b->object_names);
    hmi_adjoint_release(&b->adjoint);
    hmi_tangent_release(&b->time_derivative);
    hmi_constants_release(&b->constants);
    hmi_walk_release(&b->walk);
    hmi_hash_release(&b->memo.table);
    hmi_hash_release(&b->member_table);
    hmi_array_release(allocator, &b->members);
    hmi_array_release(allocator, &b->suspended);
    hmi_array_release(allocator, &b->places);
    hmi_array_release(allocator, &b->carried);
    hmi_array_release(allocator, &b->memo.entries);
    hmi_arena_release(&b->arena);
}

/* The table of a node, or NULL. */
static const hmi_table *table_of(const hmi_graph *g, const hmi_node *node)
{
    if (node->op != HMI_TABLE && node->op != HMI_TABLE2)
        return NULL;
    hmi_expr view = node->op == HMI_TABLE ? node->b : node->c;
    return hmi_table_view_at(hmi_constant_of(g, view)->value)->table;
}

bool hmi_check_jumps(hmi_builder *b, hmi_expr e, hmi_span at, const char *where, bool kinks)
{
    hmi_walk *walk = &b->walk;
    const uint16_t moving = (uint16_t)~HMI_DEP(HMI_SYM_PARAM);
    if (hmi_walk_begin(walk, b->graph) != HM_OK || hmi_walk_add(walk, b->graph, e, moving) != HM_OK)
        return hmi_no_memory(b);
    for (size_t i = 0; i < walk->order.count; i++) {
        const hmi_node *node = hmi_node_at(b->graph, walk->order.data[i]);
        const hmi_table *table = table_of(b->graph, node);
        if (node->op == HMI_FLOOR || node->op == HMI_CEIL) {
            hmi_error(b->context, at,
                      "only an infinite force could follow a jump; use functions without one, such "
                      "as a periodic table",
                      "%s cannot contain floor, ceil or mod, which jump", where);
            return false;
        }
        if (kinks && table && table->kind == HMI_TABLE_LINEAR) {
            hmi_error(b->context, at, "make the table cubic or monotone",
                      "%s cannot contain '%s', a linear table: velocities would jump at its nodes",
                      where, table->name);
            return false;
        }
    }
    return true;
}
