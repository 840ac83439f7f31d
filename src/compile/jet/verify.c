/* The invariants of jets, executed: see verify.h. */
#include "compile/jet/verify.h"

#include "compile/jet/code.h"
#include "compile/tape/verify.h"

#include <string.h>

/* Instructions name rows until the jet is sealed, and places afterwards. */
static uint32_t row_of(const hmi_jet *jet, uint32_t name)
{
    return jet->memory ? name / 2 : name;
}

static bool is_row(const hmi_jet *jet, uint32_t name)
{
    return row_of(jet, name) < jet->constant.count && !(jet->memory && name % 2);
}

/* ---- order 0 ---- */

static int arity_at_zero(uint32_t op)
{
    bool own = op >= HMI_JET_RATE_OF && op <= HMI_JET_HALF_RECIPROCAL;
    return own ? 1 : op == HMI_TAPE_COPY ? -1 : hmi_tape_op_arity(op);
}

static bool is_flat(uint32_t op)
{
    return op >= HMI_TAPE_FIRST_OF_TABLE && op < HMI_JET_RATE_OF &&
           hmi_jet_is_flat((hmi_op)(op - HMI_TAPE_FIRST_OF_TABLE));
}

static const char *check_zero(const hmi_jet *jet, size_t i, uint8_t *written,
                              hmi_violation *violation)
{
    const hmi_jet_code *code = &jet->zero.data[i];
    const uint32_t operands[3] = {code->a, code->b, code->c};
    int arity = arity_at_zero(code->op);
    bool moves = false;
    if (arity < 0)
        return hmi_violated(violation, "instruction %zu of order 0 has no operation", i);
    if (!is_row(jet, code->dst))
        return hmi_violated(violation, "instruction %zu of order 0 writes no row", i);
    for (int k = 0; k < arity; k++) {
        if (!is_row(jet, operands[k]) || operands[k] >= code->dst)
            return hmi_violated(violation,
                                "instruction %zu of order 0 reads a row that is not there yet", i);
        moves |= !jet->constant.data[row_of(jet, operands[k])];
    }
    if (written[row_of(jet, code->dst)]++)
        return hmi_violated(violation, "row %u is written twice", row_of(jet, code->dst));
    if (jet->constant.data[row_of(jet, code->dst)] != (!moves || is_flat(code->op)))
        return hmi_violated(violation, "row %u is constant by its operands or by its mark only",
                            row_of(jet, code->dst));
    return NULL;
}

static const char *check_leaves(const hmi_jet *jet, const uint8_t *written,
                                hmi_violation *violation)
{
    for (size_t i = 0; i < jet->source_row.count; i++) {
        uint32_t row = jet->source_row.data[i];
        if (row >= jet->constant.count || !jet->constant.data[row] || written[row])
            return hmi_violated(violation, "source %zu has no constant row to itself", i);
    }
    for (size_t i = 0; i < jet->symbols.count; i++)
        if (jet->symbols.data[i].row >= jet->constant.count || written[jet->symbols.data[i].row])
            return hmi_violated(violation, "symbol %zu has no row to itself", i);
    for (size_t i = 0; i < jet->outputs.count; i++)
        if (jet->outputs.data[i] >= jet->constant.count)
            return hmi_violated(violation, "output %zu has no row", i);
    return NULL;
}

static const char *check_pairs(const hmi_jet *jet, hmi_violation *violation)
{
    size_t first = jet->memory ? hmi_jet_doubles_of_rows(jet) : 0;
    for (size_t i = 0; i < jet->pairs.count; i++) {
        const hmi_jet_pair *pair = &jet->pairs.data[i];
        if (!is_row(jet, pair->x) || !is_row(jet, pair->y) || pair->inner != first + i)
            return hmi_violated(violation, "pair %zu names no rows, or another inner sum", i);
    }
    return NULL;
}

/* What hmi_jet_run_moving runs are the instructions of order 0 whose rows move, in their order. */
static const char *check_moving(const hmi_jet *jet, hmi_violation *violation)
{
    size_t next = 0;
    for (size_t i = 0; i < jet->zero.count && jet->memory; i++) {
        const hmi_jet_code *code = &jet->zero.data[i];
        if (code->op == HMI_JET_RATE_OF || jet->constant.data[row_of(jet, code->dst)])
            continue;
        if (next >= jet->moving.count || jet->moving.data[next].dst != code->dst)
            return hmi_violated(violation, "row %u moves and is not on the list of those that do",
                                row_of(jet, code->dst));
        next++;
    }
    return next == jet->moving.count ? NULL
                                     : hmi_violated(violation, "the list of rows that move "
                                                               "is too long");
}

const char *hmi_jet_verify(const hmi_jet *jet, hmi_violation *violation)
{
    const hm_allocator allocator = hm_allocator_default();
    const char *wrong = NULL;
    uint8_t *written = hmi_alloc(&allocator, jet->constant.count + 1);
    if (!written)
        return NULL;
    memset(written, 0, jet->constant.count + 1);
    for (size_t i = 0; i < jet->zero.count && !wrong; i++)
        wrong = check_zero(jet, i, written, violation);
    if (!wrong)
        wrong = check_leaves(jet, written, violation);
    if (!wrong)
        wrong = check_pairs(jet, violation);
    hmi_free(&allocator, written, jet->constant.count + 1);
    return wrong ? wrong : check_moving(jet, violation);
}

/* ---- the orders above ---- */

/* By row. */
enum { BY_SOME = 1 /* an instruction writes it */, BY_NOW = 2, IN_SEGMENT = 4 };

typedef struct check {
    const hmi_jet *jet;
    uint8_t *written; /* by row */
    hmi_violation *violation;
} check;

static bool is_instruction(const hmi_jet_code *code)
{
    return code->op < HMI_JET_OPS;
}

static void mark(const check *c, const hmi_jet_code *code, int what)
{
    c->written[row_of(c->jet, code->dst)] |= (uint8_t)what;
    if (code->op == HMI_JET_SINCOS)
        c->written[row_of(c->jet, code->c)] |= (uint8_t)what;
}

/* Those that are not used name row 0. */
static const char *check_rows(const check *c, const hmi_jet_code *code, size_t i)
{
    const hmi_jet *jet = c->jet;
    const uint32_t names[6] = {code->dst, code->a, code->b, code->c, code->p, code->q};
    for (int k = 0; k < 6; k++)
        if (!is_row(jet, names[k]))
            return hmi_violated(c->violation, "instruction %zu names no row", i);
    if (jet->constant.data[row_of(jet, code->dst)])
        return hmi_violated(c->violation, "instruction %zu moves row %u, which is constant", i,
                            row_of(jet, code->dst));
    if (!jet->constant.data[row_of(jet, code->q)] ||
        (code->op != HMI_JET_DIV && code->op != HMI_JET_CONST_DIV && code->op != HMI_JET_SQRT &&
         !jet->constant.data[row_of(jet, code->p)]))
        return hmi_violated(c->violation, "a factor of instruction %zu is not constant", i);
    return NULL;
}

static const char *check_operands(const check *c, const hmi_jet_code *code, size_t i)
{
    uint32_t rows[3];
    bool adds = false;
    for (size_t k = hmi_jet_operands(code, rows); k > 0; k--) {
        uint8_t how = c->written[row_of(c->jet, rows[k - 1])];
        adds |= rows[k - 1] == code->dst;
        if ((how & BY_SOME) && !(how & BY_NOW))
            return hmi_violated(c->violation,
                                "instruction %zu reads row %u before its coefficient is written", i,
                                row_of(c->jet, rows[k - 1]));
    }
    if (!adds && (c->written[row_of(c->jet, code->dst)] & IN_SEGMENT))
        return hmi_violated(c->violation, "instruction %zu writes row %u again", i,
                            row_of(c->jet, code->dst));
    return NULL;
}

/* Products may have been turned round since the sum was asked for. */
static const char *check_inner(const check *c, const hmi_jet_code *code, size_t i)
{
    const hmi_jet *jet = c->jet;
    size_t first = jet->memory ? hmi_jet_doubles_of_rows(jet) : 0;
    hmi_jet_pair wanted[2];
    size_t count = hmi_jet_factors(code, wanted);
    for (size_t k = 0; k < count; k++) {
        size_t at = code->inner - first + k;
        const hmi_jet_pair *pair = at < jet->pairs.count ? &jet->pairs.data[at] : NULL;
        if (!pair || !((pair->x == wanted[k].x && pair->y == wanted[k].y) ||
                       (pair->x == wanted[k].y && pair->y == wanted[k].x)))
            return hmi_violated(c->violation,
                                "the inner sum of instruction %zu is that of other rows", i);
    }
    return NULL;
}

static const char *check_segment(const check *c, const hmi_jet_segment *segment)
{
    const char *wrong = NULL;
    if (segment->first > segment->end || segment->end > c->jet->code.count)
        return hmi_violated(c->violation, "a segment lies outside of the code");
    for (size_t i = segment->first; i < segment->end && !wrong; i++) {
        const hmi_jet_code *code = &c->jet->code.data[i];
        if (!is_instruction(code) && code->op != HMI_JET_NOTHING)
            return hmi_violated(c->violation, "instruction %zu has no operation", i);
        if (!is_instruction(code))
            continue;
        wrong = check_rows(c, code, i);
        if (!wrong)
            wrong = check_operands(c, code, i);
        if (!wrong)
            wrong = check_inner(c, code, i);
        if (!wrong)
            mark(c, code, BY_NOW | IN_SEGMENT);
    }
    return wrong;
}

const char *hmi_jet_segments_verify(const hmi_jet *jet, const hmi_jet_segment *segments,
                                    size_t count, hmi_violation *violation)
{
    const hm_allocator allocator = hm_allocator_default();
    const char *wrong = NULL;
    size_t rows = jet->constant.count;
    check c = {jet, hmi_alloc(&allocator, rows + 1), violation};
    if (!c.written)
        return NULL;
    memset(c.written, 0, rows + 1);
    for (size_t i = 0; i < jet->code.count; i++)
        if (is_instruction(&jet->code.data[i]) && is_row(jet, jet->code.data[i].dst) &&
            is_row(jet, jet->code.data[i].c))
            mark(&c, &jet->code.data[i], BY_SOME);
    for (size_t i = 0; i < count && !wrong; i++) {
        for (size_t row = 0; row < rows; row++)
            c.written[row] &= (uint8_t)~IN_SEGMENT;
        wrong = check_segment(&c, &segments[i]);
    }
    hmi_free(&allocator, c.written, rows + 1);
    return wrong;
}

/* ---- programs ---- */

static bool is_place(const hmi_jet *jet, uint32_t place)
{
    return place == HMI_JET_NO_PLACE || is_row(jet, place);
}

static const char *check_lists(const hmi_jet *jet, const hmi_jet_program *program,
                               hmi_violation *violation)
{
    for (size_t i = 0; i < program->list_count; i++) {
        const hmi_jet_list *list = &program->lists[i];
        bool sums = list->first < list->end;
        if (sums && list->end > jet->pairs.count)
            return hmi_violated(violation, "sum %zu is over pairs that are not there", i);
        if (!is_row(jet, list->value) || !is_place(jet, list->less) || !is_place(jet, list->rise))
            return hmi_violated(violation, "sum %zu has a term that is no place", i);
    }
    return NULL;
}

const char *hmi_jet_program_verify(const hmi_jet *jet, const hmi_jet_program *program,
                                   hmi_violation *violation)
{
    size_t rows = jet->constant.count;
    const char *wrong = check_lists(jet, program, violation);
    if (wrong)
        return wrong;
    if (program->matrix_size > HMI_JET_MOST_MATRIX || program->matrix_size > program->list_count)
        return hmi_violated(violation, "the matrix is larger than the sums are many");
    for (size_t i = 0; i < program->given_count; i++)
        if (program->given[i] >= rows || jet->constant.data[program->given[i]])
            return hmi_violated(violation, "given coefficient %zu has no row that moves", i);
    for (size_t i = 0; i < program->link_count; i++) {
        const hmi_jet_link *link = &program->links[i];
        if (link->source >= rows || (link->row != HMI_JET_NO_PLACE && link->row >= rows))
            return hmi_violated(violation, "link %zu names no rows", i);
    }
    return NULL;
}
