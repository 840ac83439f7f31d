/* The invariants of a program for the emitter (jit.h), executed: see verify.h. */
#include "compile/jit/verify.h"

#include <string.h>

typedef struct check {
    const hmi_jit_program *program;
    uint32_t *next; /* by value: the position of its next use, seen from the end */
    bool *defined;  /* by value: by the nodes so far */
    bool *placed;   /* by node: it has a position */
    hmi_violation *violation;
} check;

/* A value that no node makes lies in the work vector or with the caller from the beginning. */
static void find_leaves(check *c)
{
    const hmi_jit_program *p = c->program;
    memset(c->defined, true, p->value_count * sizeof *c->defined);
    for (size_t i = 0; i < p->node_count; i++)
        for (int k = 0; k < 2; k++)
            if (p->nodes[i].result[k] < p->value_count)
                c->defined[p->nodes[i].result[k]] = false;
}

static const char *check_position(check *c, size_t position)
{
    const hmi_jit_program *p = c->program;
    uint32_t number = p->order[position];
    if (number >= p->node_count || c->placed[number])
        return hmi_violated(c->violation, "no node of its own runs at position %zu", position);
    c->placed[number] = true;
    const hmi_jit_node *node = &p->nodes[number];
    for (int k = 0; k < node->row.operands; k++)
        if (node->operand[k] >= p->value_count || !c->defined[node->operand[k]])
            return hmi_violated(c->violation,
                                "the node at position %zu reads a value that is not "
                                "there yet",
                                position);
    for (int k = 0; k < 2; k++) {
        if (node->result[k] == HMI_JIT_NONE)
            continue;
        if (node->result[k] >= p->value_count || c->defined[node->result[k]])
            return hmi_violated(c->violation, "the node at position %zu makes a value again",
                                position);
        c->defined[node->result[k]] = true;
    }
    return NULL;
}

/* Live ranges: what a node is told of the next use of an operand decides who keeps a register. */
static const char *check_next_uses(check *c)
{
    const hmi_jit_program *p = c->program;
    memset(c->next, 0xFF, p->value_count * sizeof *c->next); /* HMI_JIT_NONE */
    for (size_t i = p->node_count; i-- > 0;) {
        const hmi_jit_node *node = hmi_jit_node_at(p, i);
        for (int k = node->row.operands; k-- > 0;) {
            if (node->next_use[k] != c->next[node->operand[k]])
                return hmi_violated(c->violation,
                                    "the live range of operand %d at position %zu is wrong", k, i);
            c->next[node->operand[k]] = (uint32_t)i;
        }
    }
    for (size_t v = 0; v < p->value_count; v++)
        if (p->values[v].next_use != c->next[v])
            return hmi_violated(c->violation, "the live range of value %zu begins wrong", v);
    return NULL;
}

const char *hmi_jit_program_verify(const hmi_jit_program *program, hmi_violation *violation)
{
    const hm_allocator allocator = hm_allocator_default();
    const char *wrong = NULL;
    hmi_arena arena;
    check c = {.program = program, .violation = violation};
    hmi_arena_init(&arena, &allocator);
    c.next = hmi_arena_alloc(&arena, (program->value_count + 1) * sizeof *c.next);
    c.defined = hmi_arena_alloc(&arena, (program->value_count + 1) * sizeof *c.defined);
    c.placed = hmi_arena_alloc(&arena, (program->node_count + 1) * sizeof *c.placed);
    if (c.next && c.defined && c.placed) {
        find_leaves(&c);
        for (size_t i = 0; i < program->node_count && !wrong; i++)
            wrong = check_position(&c, i);
        if (!wrong)
            wrong = check_next_uses(&c);
    }
    hmi_arena_release(&arena);
    return wrong;
}
