/* Instructions of jets at order 0, each of which there is once. */
#include "compile/jet/code.h"

#define TABLE(op) ((uint32_t)(HMI_TAPE_FIRST_OF_TABLE + (op)))

static uint32_t hash_of(const hmi_jet_code *code)
{
    uint64_t hash = hmi_hash_mix(hmi_hash_mix(code->op, code->a), code->b);
    return hmi_hash_fold(hmi_hash_mix(hash, code->c));
}

static bool is_same(const void *wanted, uint32_t number, const void *list)
{
    const hmi_jet_code *x = wanted, *y = (const hmi_jet_code *)list + number;
    return x->op == y->op && x->a == y->a && x->b == y->b && x->c == y->c;
}

static uint32_t find(const hmi_jet *jet, const hmi_jet_code *code)
{
    return hmi_hash_find(&jet->interned, hash_of(code), is_same, code, jet->zero.data);
}

/* a + b and b + a are one instruction, as written first. */
static uint32_t find_either(const hmi_jet *jet, const hmi_jet_code *code)
{
    uint32_t found = find(jet, code);
    if (found != HMI_HASH_NONE || (code->op != TABLE(HMI_ADD) && code->op != TABLE(HMI_MUL)))
        return found;
    return find(jet, &(hmi_jet_code){.op = code->op, .a = code->b, .b = code->a, .c = code->c});
}

uint32_t hmi_jet_intern(hmi_jet *jet, uint32_t op, uint32_t a, uint32_t b, uint32_t c,
                        bool constant, bool *known)
{
    hmi_jet_code code = {.op = op, .a = a, .b = b, .c = c};
    uint32_t found = find_either(jet, &code);
    *known = true;
    if (found != HMI_HASH_NONE)
        return jet->zero.data[found].dst;
    code.dst = hmi_jet_new_row(jet, constant);
    if (jet->status != HM_OK || !hmi_array_push(jet->allocator, &jet->zero, code) ||
        !hmi_hash_add(&jet->interned, hash_of(&code), (uint32_t)(jet->zero.count - 1))) {
        jet->status = HM_ERR_NOMEM;
        return 0;
    }
    *known = false;
    return code.dst;
}
