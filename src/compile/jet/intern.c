/* Instructions of jets at order 0, each once: a table with open addressing. See jet.h. */
#include "compile/jet/code.h"

#include <string.h>

#define TABLE(op) ((uint32_t)(HMI_TAPE_FIRST_OF_TABLE + (op)))

static size_t hash(uint32_t op, uint32_t a, uint32_t b, uint32_t c)
{
    uint64_t h = op;
    h = (h ^ a) * 0x9E3779B97F4A7C15u;
    h = ((h >> 29) ^ h ^ b) * 0xBF58476D1CE4E5B9u;
    h = ((h >> 32) ^ h ^ c) * 0x94D049BB133111EBu;
    return (size_t)(h ^ (h >> 31));
}

/* Where the instruction is in the table, or where it would go. */
static size_t probe(const hmi_jet *jet, uint32_t op, uint32_t a, uint32_t b, uint32_t c)
{
    size_t mask = jet->table.count - 1, at = hash(op, a, b, c) & mask;
    for (;; at = (at + 1) & mask) {
        if (!jet->table.data[at])
            return at;
        const hmi_jet_code *code = &jet->zero.data[jet->table.data[at] - 1];
        if (code->op == op && code->a == a && code->b == b && code->c == c)
            return at;
    }
}

static bool grow_table(hmi_jet *jet)
{
    size_t wanted = jet->table.count ? 2 * jet->table.count : 256;
    if (!hmi_array_reserve(jet->allocator, &jet->table, wanted - jet->table.count))
        return false;
    jet->table.count = wanted;
    memset(jet->table.data, 0, wanted * sizeof *jet->table.data);
    for (size_t i = 0; i < jet->zero.count; i++) {
        const hmi_jet_code *code = &jet->zero.data[i];
        if (code->op != HMI_TAPE_STOP)
            jet->table.data[probe(jet, code->op, code->a, code->b, code->c)] = (uint32_t)i + 1;
    }
    return true;
}

uint32_t hmi_jet_intern(hmi_jet *jet, uint32_t op, uint32_t a, uint32_t b, uint32_t c,
                        bool constant, bool *known)
{
    *known = true;
    if (2 * (jet->zero.count + 1) > jet->table.count && !grow_table(jet)) {
        jet->status = HM_ERR_NOMEM;
        return 0;
    }
    size_t at = probe(jet, op, a, b, c);
    if (!jet->table.data[at] && (op == TABLE(HMI_ADD) || op == TABLE(HMI_MUL))) {
        size_t other = probe(jet, op, b, a, c);
        at = jet->table.data[other] ? other : at;
    }
    if (jet->table.data[at])
        return jet->zero.data[jet->table.data[at] - 1].dst;
    const hmi_jet_code code = {op, hmi_jet_new_row(jet, constant), a, b, c, 0, 0, 0};
    if (jet->status != HM_OK || !hmi_array_push(jet->allocator, &jet->zero, code)) {
        jet->status = HM_ERR_NOMEM;
        return 0;
    }
    jet->table.data[at] = (uint32_t)jet->zero.count;
    *known = false;
    return code.dst;
}
