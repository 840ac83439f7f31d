/* Machine code of jets at orders above 0: what jet_run.c interprets, with the same bits; one code for
 * all orders, since inner sums are found before it runs. It is one straight line. Coefficients of the
 * order at work are stored when they are found and stay in registers as long as there is room.
 *
 *   RDI numbers: x_0, x_k of rows, scales, inner sums   RSI series, at coefficient k
 *   RDX sums, or what is given   RCX what links make   R8 matrix
 * Verified: test/unit/compile/test_jet.c
 */
#include "compile/jet_code.h"
#include "compile/jit.h"
#include "compile/x86_encode.h"

/* Registers for the moment; those from FIRST_HELD on hold coefficients. */
enum { LEFT, RIGHT, FIRST_HELD, HELD = 16 - FIRST_HELD };
/* Code beyond this size would not stay in the caches. */
enum { MOST_BYTES = 1 << 20 };
#define NO_PLACE UINT32_MAX

typedef struct emitter {
    hmi_x86 x;
    const hmi_jet *jet;
    uint32_t held[HELD]; /* by register: the place whose coefficient k it holds */
    unsigned next;       /* the register that gives way */
} emitter;

/* ---- operands ---- */

static hmi_x86_operand number(int base, size_t doubles)
{
    return hmi_x86_memory(base, (int32_t)(8 * (int64_t)doubles));
}

static hmi_x86_operand zeroth(uint32_t place)
{
    return number(HMI_RDI, place);
}

/* k, 1/k, the factor of links */
static hmi_x86_operand scale(const emitter *e, size_t which)
{
    return number(HMI_RDI, 2 * e->jet->constant.count + which);
}

/* Coefficient k. */
static hmi_x86_operand coefficient(const emitter *e, uint32_t place)
{
    for (int i = 0; i < HELD; i++)
        if (e->held[i] == place)
            return hmi_x86_register(FIRST_HELD + i);
    return number(HMI_RDI, place + 1);
}

/* Its register, or this one, loaded. */
static int in_register(emitter *e, uint32_t place, int otherwise)
{
    hmi_x86_operand operand = coefficient(e, place);
    if (operand.is_register)
        return operand.number;
    hmi_x86_load(&e->x, otherwise, operand);
    return otherwise;
}

static void arithmetic(emitter *e, int opcode, int dst, int a, int b)
{
    hmi_x86_arithmetic(&e->x, opcode, dst, a, hmi_x86_register(b));
}

/* The register for a new coefficient k of `place`; what it held is in memory. */
static int take_register(emitter *e, uint32_t place)
{
    for (int i = 0; i < HELD; i++)
        if (e->held[i] == place)
            e->held[i] = NO_PLACE;
    unsigned r = e->next++ % HELD;
    e->held[r] = place;
    return FIRST_HELD + (int)r;
}

/* Coefficient k of `place` := a op b. */
static void finish(emitter *e, uint32_t place, int opcode, int a, hmi_x86_operand b)
{
    int r = take_register(e, place);
    hmi_x86_arithmetic(&e->x, opcode, r, a, b);
    hmi_x86_store(&e->x, number(HMI_RDI, place + 1), r);
}

/* ---- instructions ---- */

static bool is_one(const emitter *e, uint32_t place)
{
    return place == 2 * e->jet->one;
}

static bool is_minus_one(const emitter *e, uint32_t place)
{
    return place == 2 * e->jet->minus_one;
}

/* p a_k in a register: that of a_k, or this one. */
static int scaled(emitter *e, uint32_t p, uint32_t a, int otherwise)
{
    if (is_one(e, p))
        return in_register(e, a, otherwise);
    hmi_x86_load(&e->x, otherwise, zeroth(p));
    hmi_x86_arithmetic(&e->x, HMI_X86_MUL, otherwise, otherwise, coefficient(e, a));
    return otherwise;
}

/* dst := value + q c, value in a register. */
static void add_scaled(emitter *e, uint32_t dst, int value, uint32_t q, uint32_t c)
{
    if (is_one(e, q) || is_minus_one(e, q)) {
        finish(e, dst, is_one(e, q) ? HMI_X86_ADD : HMI_X86_SUB, value, coefficient(e, c));
        return;
    }
    int right = scaled(e, q, c, RIGHT);
    finish(e, dst, HMI_X86_ADD, value, hmi_x86_register(right));
}

static void emit_linear(emitter *e, const hmi_jet_code *ip)
{
    if (ip->op == HMI_JET_SCALED) {
        hmi_x86_load(&e->x, LEFT, zeroth(ip->p));
        finish(e, ip->dst, HMI_X86_MUL, LEFT, coefficient(e, ip->a));
    } else if (ip->op == HMI_JET_LINEAR_SUB) {
        int left = scaled(e, ip->q, ip->c, LEFT), right = scaled(e, ip->p, ip->a, RIGHT);
        finish(e, ip->dst, HMI_X86_SUB, left, hmi_x86_register(right));
    } else if (is_minus_one(e, ip->p) && is_one(e, ip->q)) {
        finish(e, ip->dst, HMI_X86_SUB, in_register(e, ip->c, LEFT), coefficient(e, ip->a));
    } else {
        add_scaled(e, ip->dst, scaled(e, ip->p, ip->a, LEFT), ip->q, ip->c);
    }
}

/* register := register op memory */
static void apply(emitter *e, int opcode, int r, hmi_x86_operand operand)
{
    hmi_x86_arithmetic(&e->x, opcode, r, r, operand);
}

/* r := x_0 y_k */
static void multiply(emitter *e, int r, uint32_t x, uint32_t y)
{
    hmi_x86_load(&e->x, r, zeroth(x));
    apply(e, HMI_X86_MUL, r, coefficient(e, y));
}

static void emit_product(emitter *e, const hmi_jet_code *ip)
{
    multiply(e, LEFT, ip->a, ip->b);
    multiply(e, RIGHT, ip->b, ip->a);
    arithmetic(e, HMI_X86_ADD, LEFT, LEFT, RIGHT);
    if (ip->op == HMI_JET_TIMES) {
        finish(e, ip->dst, HMI_X86_ADD, LEFT, zeroth(ip->inner));
        return;
    }
    apply(e, HMI_X86_ADD, LEFT, zeroth(ip->inner));
    if (is_minus_one(e, ip->p) && is_one(e, ip->q)) {
        finish(e, ip->dst, HMI_X86_SUB, in_register(e, ip->c, RIGHT), hmi_x86_register(LEFT));
    } else {
        if (!is_one(e, ip->p))
            apply(e, HMI_X86_MUL, LEFT, zeroth(ip->p));
        add_scaled(e, ip->dst, LEFT, ip->q, ip->c);
    }
}

static void emit_quotient(emitter *e, const hmi_jet_code *ip)
{
    if (ip->op == HMI_JET_DIV_CONST) {
        finish(e, ip->dst, HMI_X86_DIV, in_register(e, ip->a, LEFT), zeroth(ip->b));
        return;
    }
    multiply(e, RIGHT, ip->dst, ip->b);
    if (ip->op == HMI_JET_CONST_DIV) {
        hmi_x86_arithmetic(&e->x, HMI_X86_ADD, LEFT, RIGHT, zeroth(ip->inner));
        apply(e, HMI_X86_MUL, LEFT, zeroth(2 * e->jet->minus_one));
    } else {
        arithmetic(e, HMI_X86_SUB, LEFT, in_register(e, ip->a, LEFT), RIGHT);
        apply(e, HMI_X86_SUB, LEFT, zeroth(ip->inner));
    }
    finish(e, ip->dst, HMI_X86_DIV, LEFT, zeroth(ip->b));
}

static void emit_root(emitter *e, const hmi_jet_code *ip)
{
    int a = in_register(e, ip->a, LEFT);
    hmi_x86_arithmetic(&e->x, HMI_X86_SUB, LEFT, a, zeroth(ip->inner));
    hmi_x86_load(&e->x, RIGHT, zeroth(ip->dst));
    arithmetic(e, HMI_X86_ADD, RIGHT, RIGHT, RIGHT);
    finish(e, ip->dst, HMI_X86_DIV, LEFT, hmi_x86_register(RIGHT));
}

static void emit_power(emitter *e, const hmi_jet_code *ip)
{
    hmi_x86_load(&e->x, LEFT, zeroth(ip->b));
    hmi_x86_arithmetic(&e->x, HMI_X86_ADD, RIGHT, LEFT, zeroth(2 * e->jet->one));
    apply(e, HMI_X86_MUL, RIGHT, zeroth(ip->inner));
    apply(e, HMI_X86_MUL, LEFT, scale(e, 0));
    apply(e, HMI_X86_MUL, LEFT, coefficient(e, ip->a));
    apply(e, HMI_X86_MUL, LEFT, zeroth(ip->dst));
    e->held[0] = NO_PLACE; /* a third register */
    hmi_x86_load(&e->x, FIRST_HELD, scale(e, 0));
    apply(e, HMI_X86_MUL, FIRST_HELD, zeroth(ip->inner + 1));
    arithmetic(e, HMI_X86_SUB, RIGHT, RIGHT, FIRST_HELD);
    arithmetic(e, HMI_X86_ADD, LEFT, LEFT, RIGHT);
    hmi_x86_load(&e->x, RIGHT, scale(e, 0));
    apply(e, HMI_X86_MUL, RIGHT, zeroth(ip->a));
    finish(e, ip->dst, HMI_X86_DIV, LEFT, hmi_x86_register(RIGHT));
}

/* LEFT := (a_k b_0 + inner)/k */
static void chain(emitter *e, uint32_t a, uint32_t b, uint32_t inner)
{
    multiply(e, LEFT, b, a);
    apply(e, HMI_X86_ADD, LEFT, zeroth(inner));
    apply(e, HMI_X86_MUL, LEFT, scale(e, 1));
}

static void emit_sincos(emitter *e, const hmi_jet_code *ip)
{
    multiply(e, LEFT, ip->c, ip->a);
    apply(e, HMI_X86_ADD, LEFT, zeroth(ip->inner));
    finish(e, ip->dst, HMI_X86_MUL, LEFT, scale(e, 1));
    chain(e, ip->a, ip->dst, ip->inner + 1);
    finish(e, ip->c, HMI_X86_MUL, LEFT, zeroth(2 * e->jet->minus_one));
}

static void emit_chain(emitter *e, const hmi_jet_code *ip)
{
    if (ip->op == HMI_JET_CHAIN) {
        multiply(e, LEFT, ip->b, ip->a);
        apply(e, HMI_X86_ADD, LEFT, zeroth(ip->inner));
        finish(e, ip->dst, HMI_X86_MUL, LEFT, scale(e, 1));
        return;
    }
    chain(e, ip->a, ip->b, ip->inner);
    finish(e, ip->dst, HMI_X86_ADD, LEFT, coefficient(e, ip->dst));
}

static void emit_select(emitter *e, const hmi_jet_code *ip)
{
    hmi_x86_load(&e->x, LEFT, zeroth(ip->a));
    hmi_x86_bitwise(&e->x, HMI_X86_XOR, RIGHT, RIGHT, hmi_x86_register(RIGHT));
    hmi_x86_compare(&e->x, HMI_X86_NOT_EQUAL, RIGHT, LEFT, hmi_x86_register(RIGHT));
    int no = in_register(e, ip->c, LEFT), yes = in_register(e, ip->b, FIRST_HELD);
    if (yes == FIRST_HELD)
        e->held[0] = NO_PLACE;
    hmi_x86_blend(&e->x, LEFT, no, yes, RIGHT);
    finish(e, ip->dst, HMI_X86_MUL, LEFT, zeroth(2 * e->jet->one));
}

static void emit_instruction(emitter *e, const hmi_jet_code *ip)
{
    switch ((hmi_jet_op)ip->op) {
    case HMI_JET_SCALED:
    case HMI_JET_LINEAR:
    case HMI_JET_LINEAR_SUB:
        emit_linear(e, ip);
        break;
    case HMI_JET_TIMES:
    case HMI_JET_PRODUCT:
        emit_product(e, ip);
        break;
    case HMI_JET_DIV:
    case HMI_JET_DIV_CONST:
    case HMI_JET_CONST_DIV:
        emit_quotient(e, ip);
        break;
    case HMI_JET_SQRT:
        emit_root(e, ip);
        break;
    case HMI_JET_RATE:
        finish(e, ip->dst, HMI_X86_MUL, in_register(e, ip->a, LEFT), scale(e, 0));
        break;
    case HMI_JET_SINCOS:
        emit_sincos(e, ip);
        break;
    case HMI_JET_CHAIN:
    case HMI_JET_CHAIN_ADD:
        emit_chain(e, ip);
        break;
    case HMI_JET_SELECT:
        emit_select(e, ip);
        break;
    case HMI_JET_POWER:
        emit_power(e, ip);
        break;
    default: /* the end of a segment */
        break;
    }
}

/* ---- sums and keeping ---- */

static void clear(emitter *e, int r)
{
    hmi_x86_bitwise(&e->x, HMI_X86_XOR, r, r, hmi_x86_register(r));
}

/* (value - inner sums) - ends, each summed from 0 on. */
static void emit_list(emitter *e, const hmi_jet_list *list, size_t at)
{
    enum { ENDS = FIRST_HELD };
    const hmi_jet_pair *first = e->jet->pairs.data + list->first;
    const hmi_jet_pair *end = e->jet->pairs.data + list->end;
    clear(e, LEFT);
    for (const hmi_jet_pair *p = first; p < end; p++)
        apply(e, HMI_X86_ADD, LEFT, zeroth(p->inner));
    arithmetic(e, HMI_X86_SUB, LEFT, in_register(e, list->value, RIGHT), LEFT);
    e->held[ENDS - FIRST_HELD] = NO_PLACE;
    clear(e, ENDS);
    for (const hmi_jet_pair *p = first; p < end; p++) {
        multiply(e, RIGHT, p->y, p->x);
        arithmetic(e, HMI_X86_ADD, ENDS, ENDS, RIGHT);
    }
    arithmetic(e, HMI_X86_SUB, LEFT, LEFT, ENDS);
    hmi_x86_store(&e->x, number(HMI_RDX, at), LEFT);
}

/* Column after column, as integrate/taylor_solve.c does. */
static void emit_matrix(emitter *e, size_t size)
{
    enum { TERM = FIRST_HELD };
    const size_t blocks = (size + 3) / 4;
    if (size == 0)
        return;
    e->held[TERM - FIRST_HELD] = NO_PLACE;
    e->x.four = true;
    clear(e, LEFT);
    clear(e, RIGHT);
    for (size_t j = 0; j < size; j++)
        for (size_t i = 0; i < blocks; i++) {
            hmi_x86_broadcast(&e->x, TERM, number(HMI_RDX, j));
            apply(e, HMI_X86_MUL, TERM, number(HMI_R8, 4 * (j * blocks + i)));
            arithmetic(e, HMI_X86_ADD, LEFT + (int)i, LEFT + (int)i, TERM);
        }
    for (size_t i = 0; i < blocks; i++)
        hmi_x86_store_four(&e->x, number(HMI_RDX, 4 * i), LEFT + (int)i);
    e->x.four = false;
}

static void emit_given(emitter *e, const hmi_jet_program *program)
{
    for (size_t i = 0; i < program->given_count; i++) {
        uint32_t place = 2 * program->given[i];
        if (i >= program->negated) {
            clear(e, LEFT);
            finish(e, place, HMI_X86_SUB, LEFT, number(HMI_RDX, i));
            continue;
        }
        int r = take_register(e, place);
        hmi_x86_load(&e->x, r, number(HMI_RDX, i));
        hmi_x86_store(&e->x, number(HMI_RDI, place + 1), r);
    }
}

/* r := {x, y} */
static void join_two(emitter *e, int r, uint32_t x, uint32_t y)
{
    int low = in_register(e, x, r);
    hmi_x86_pair(&e->x, r, low, coefficient(e, y));
}

/* Whole blocks are stored, so that they can be loaded at once. */
static void emit_keep(emitter *e)
{
    const hmi_jet *jet = e->jet;
    const size_t width = 4 * (size_t)jet->order;
    for (size_t i = 0; i < 2 * jet->block_count; i++) {
        uint32_t place[4];
        for (size_t lane = 0; lane < 4; lane++) {
            size_t p = i / 2 * 4 + lane;
            const hmi_jet_pair *pair = p < jet->pairs.count ? &jet->pairs.data[p] : NULL;
            place[lane] = !pair ? 2 * jet->zero_row : i % 2 == 0 ? pair->x : pair->y;
        }
        join_two(e, LEFT, place[0], place[1]);
        join_two(e, RIGHT, place[2], place[3]);
        hmi_x86_join(&e->x, LEFT, LEFT, RIGHT);
        hmi_x86_store_four(&e->x, number(HMI_RSI, i * width), LEFT);
    }
    hmi_x86_zero_upper(&e->x); /* what is held are single numbers */
}

/* Is a row read after it was written? */
static bool links_cross(const hmi_jet_program *program)
{
    for (size_t j = 0; j < program->link_count; j++)
        for (size_t i = 0; i < j; i++)
            if (program->links[j].source == program->links[i].row)
                return true;
    return false;
}

static void store_row(emitter *e, uint32_t row)
{
    hmi_x86_store(&e->x, number(HMI_RDI, 2 * (size_t)row + 1), LEFT);
}

static void emit_links(emitter *e, const hmi_jet_program *program)
{
    bool later = links_cross(program);
    for (size_t i = 0; i < program->link_count; i++) {
        hmi_x86_load(&e->x, LEFT, scale(e, 2));
        apply(e, HMI_X86_MUL, LEFT, coefficient(e, 2 * program->links[i].source));
        hmi_x86_store(&e->x, number(HMI_RCX, i), LEFT);
        if (!later)
            store_row(e, program->links[i].row);
    }
    for (size_t i = 0; later && i < program->link_count; i++) {
        hmi_x86_load(&e->x, LEFT, number(HMI_RCX, i));
        store_row(e, program->links[i].row);
    }
}

/* ---- a program ---- */

static void emit(emitter *e, const hmi_jet_program *program)
{
    for (int i = 0; i < HELD; i++)
        e->held[i] = NO_PLACE;
    if (program->segment)
        for (size_t i = program->segment->first; i < program->segment->end; i++)
            emit_instruction(e, &e->jet->code.data[i]);
    for (size_t i = 0; i < program->list_count; i++)
        emit_list(e, &program->lists[i], i);
    emit_matrix(e, program->matrix_size);
    emit_given(e, program);
    if (program->keep)
        emit_keep(e);
    emit_links(e, program);
    hmi_x86_return(&e->x);
}

hm_status hmi_jet_compile(const hmi_jet *jet, hmi_jet_program *program)
{
    emitter e = {.x = {.allocator = jet->allocator}, .jet = jet};
    size_t doubles = jet->constant.count + 8 * jet->block_count * (size_t)(jet->order + 1);
    if (!hmi_jit_available() || doubles > INT32_MAX / 64)
        return HM_OK;
    emit(&e, program);
    if (!e.x.failed && e.x.code.count <= MOST_BYTES)
        hmi_jit_install(e.x.code.data, e.x.code.count, &program->code);
    hmi_array_release(jet->allocator, &e.x.code);
    return e.x.failed ? HM_ERR_NOMEM : HM_OK;
}

void hmi_jet_program_release(hmi_jet_program *program)
{
    hmi_jit_release(&program->code);
}
