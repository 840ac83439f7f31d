/* Inner sums of jets as machine code, with the bits of inner_sums.inc: block after block, without a loop
 * over them. The first orders differ from each other and have a function each; those after them have one
 * function for each k % 4.
 *   RDI numbers   RSI series, at coefficient k - 1   RAX, R10, R11: pointers of a loop
 * Verified: test/unit/compile/test_jet.c
 */
#include "compile/jet/code.h"
#include "compile/jit/jit.h"
#include "compile/jit/x86_encode.h"
#include "compile/tape/machine_code.h"

#include <string.h>

enum { FIRST_FOUR = HMI_JET_FIRST_FOUR, FIRST_ALIKE = FIRST_FOUR + 4 };
enum { S = 0, R = 4, Y = 8, X = 12 }; /* registers: of sums, of y, of x; those above stay */

typedef struct inner_emitter {
    hmi_x86 x;
    const hmi_jet *jet;
    size_t block;
} emitter;

/* ---- operands ---- */

static hmi_x86_operand at(int base, int64_t doubles)
{
    return hmi_x86_memory(base, (int32_t)(8 * doubles));
}

/* x_1 of the block, y_1: from the first series. */
static int64_t series_of(const emitter *e, bool y)
{
    return (int64_t)((2 * e->block + y) * 4 * (size_t)e->jet->order);
}

/* x_j or y_j; x_{k-j} or y_{k-j}. */
static hmi_x86_operand coefficient(const emitter *e, bool y, int j)
{
    return at(HMI_RDI, e->jet->series - e->jet->memory + series_of(e, y) + 4 * (j - 1));
}

static hmi_x86_operand back(const emitter *e, bool y, int j)
{
    return at(HMI_RSI, series_of(e, y) - 4 * (j - 1));
}

/* P_k, or what is ahead by 1, 2, 3 orders. */
static hmi_x86_operand sum(const emitter *e, int ahead)
{
    const double *first = ahead ? e->jet->ahead + (size_t)(ahead - 1) * 4 * e->jet->block_count
                                : e->jet->partial;
    return at(HMI_RDI, first - e->jet->memory + 4 * (int64_t)e->block);
}

static void clear(emitter *e, int r)
{
    hmi_x86_bitwise(&e->x, HMI_X86_XOR, r, r, hmi_x86_register(r));
}

/* r += a b, by way of X. */
static void add(emitter *e, int r, hmi_x86_operand a, hmi_x86_operand b)
{
    hmi_x86_load_four(&e->x, X, a);
    hmi_x86_fused(&e->x, HMI_X86_FMADD231, r, X, b);
}

static void store_sum(emitter *e, int i, int ahead)
{
    hmi_x86_arithmetic(&e->x, HMI_X86_ADD, S + i, S + i, hmi_x86_register(R + i));
    hmi_x86_store_four(&e->x, sum(e, ahead), S + i);
}

/* ---- sums of a block ---- */

static void emit_small(emitter *e, int k)
{
    clear(e, S);
    for (int j = 2; j < k - 1; j++)
        add(e, S, coefficient(e, false, j), coefficient(e, true, k - j));
    hmi_x86_store_four(&e->x, sum(e, 0), S);
}

static void emit_rest(emitter *e, int i)
{
    hmi_x86_load_four(&e->x, S, sum(e, i));
    clear(e, R);
    for (int j = i + 1; j > 1; j--) {
        add(e, S, coefficient(e, false, j), back(e, true, j));
        add(e, R, back(e, false, j), coefficient(e, true, j));
    }
    store_sum(e, 0, 0);
}

static int window(int i)
{
    return Y + (i & 3);
}

/* Step n = 0 .. of a round of four, whose pointers are in R10 and R11: a new y and the three before. */
static void emit_step(emitter *e, int n)
{
    int to = n % 2 ? S : R;
    hmi_x86_load_four(&e->x, window(-n), at(HMI_R11, -4 * n));
    hmi_x86_load_four(&e->x, X, at(HMI_R10, 4 * n));
    for (int i = 0; i < 4; i++)
        hmi_x86_fused(&e->x, HMI_X86_FMADD231, to + i, X, hmi_x86_register(window(i - n)));
}

static void emit_rounds(emitter *e, int rest)
{
    hmi_x86_address(&e->x, HMI_RAX, back(e, false, 1 + rest));
    size_t start = e->x.code.count;
    for (int n = 0; n < 4; n++)
        emit_step(e, n);
    hmi_x86_address(&e->x, HMI_R10, at(HMI_R10, 16));
    hmi_x86_address(&e->x, HMI_R11, at(HMI_R11, -16));
    hmi_x86_jump_back_if_below(&e->x, HMI_R10, HMI_RAX, start);
}

/* The products without a full window. */
static void emit_first_steps(emitter *e)
{
    static const int zero[3] = {S + 3, R + 2, R + 3};
    hmi_x86 *x = &e->x;
    for (int i = 1; i < 4; i++)
        hmi_x86_load_four(x, window(i), back(e, true, 5 - i));
    hmi_x86_load_four(x, X, coefficient(e, false, 4));
    hmi_x86_arithmetic(x, HMI_X86_MUL, S, window(3), coefficient(e, false, 2));
    hmi_x86_fused(x, HMI_X86_FMADD231, S, X, hmi_x86_register(window(1)));
    hmi_x86_arithmetic(x, HMI_X86_MUL, S + 1, X, hmi_x86_register(window(2)));
    hmi_x86_arithmetic(x, HMI_X86_MUL, S + 2, X, hmi_x86_register(window(3)));
    hmi_x86_load_four(x, X, coefficient(e, false, 3));
    hmi_x86_arithmetic(x, HMI_X86_MUL, R, X, hmi_x86_register(window(2)));
    hmi_x86_arithmetic(x, HMI_X86_MUL, R + 1, X, hmi_x86_register(window(3)));
    for (int i = 0; i < 3; i++)
        clear(e, zero[i]);
}

static void emit_four(emitter *e, int rest, bool rounds)
{
    emit_first_steps(e);
    hmi_x86_address(&e->x, HMI_R10, coefficient(e, false, 5));
    hmi_x86_address(&e->x, HMI_R11, back(e, true, 5));
    if (rounds)
        emit_rounds(e, rest);
    for (int n = 0; n < rest; n++)
        emit_step(e, n);
    for (int i = 0; i < 4; i++)
        store_sum(e, i, i);
}

/* ---- all ---- */

/* Order k, or all that are alike from it on. */
static void emit_order(emitter *e, int k)
{
    for (e->block = 0; e->block < e->jet->block_count; e->block++) {
        int turn = (int)(e->block % 4), since = (k - turn) & 3;
        if (k - since < FIRST_FOUR)
            emit_small(e, k);
        else if (since == 0)
            emit_four(e, (turn + 2) % 4, k >= FIRST_ALIKE);
        else
            emit_rest(e, since);
    }
    hmi_x86_zero_upper(&e->x);
    hmi_x86_return(&e->x);
}

/* Orders of the code, and where they begin. */
static void emit_orders(emitter *e, size_t *start)
{
    e->x.four = true;
    for (int k = 1; k < FIRST_ALIKE + 4 && !e->x.failed; k++) {
        start[k] = e->x.code.count;
        emit_order(e, k);
    }
}

static void set_entries(hmi_jet *jet, const size_t *start)
{
    for (int k = 1; k <= HMI_JET_MOST_ORDER; k++) {
        int like = k < FIRST_ALIKE ? k : FIRST_ALIKE + (k - FIRST_ALIKE) % 4;
        const uint8_t *entry = (const uint8_t *)jet->inner_code.pages + start[like];
        memcpy(&jet->find_part[k], &entry, sizeof entry);
    }
}

hm_status hmi_jet_compile_inner(hmi_jet *jet)
{
    size_t start[FIRST_ALIKE + 4] = {0};
    emitter e = {.x = {.allocator = jet->allocator}, .jet = jet};
    if (!jet->vectors || !hmi_machine_code_available() || jet->block_count > HMI_JET_MOST_BLOCKS ||
        jet->inner_code.pages)
        return HM_OK;
    emit_orders(&e, start);
    if (!e.x.failed)
        hmi_machine_code_install(e.x.code.data, e.x.code.count, &jet->inner_code);
    if (jet->inner_code.pages)
        set_entries(jet, start);
    hmi_array_release(jet->allocator, &e.x.code);
    return e.x.failed ? HM_ERR_NOMEM : HM_OK;
}
