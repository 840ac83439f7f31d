/* An order of jets in two halves: hmi_jet_halves.
 *
 * Which instructions the first half needs follows backwards from the rows that are wanted of it, through
 * operands that are read at the same order. Coefficients that vanish because those of the late rows do
 * take no part in it. The second half repeats instructions that depend on late rows, as far as somebody
 * reads their results, and runs the rest. Instructions on which no wanted row depends, at any order, are
 * in neither half.
 */
#include "compile/jet/code.h"
#include "compile/jet/verify.h"

#include <string.h>

/* By row. */
enum {
    LIVE = 1,     /* wanted, or needed for it at some order */
    IN_FIRST = 2, /* needed by the first half, at the order at work */
    IN_SECOND = 4,
    LATE = 8,      /* depends on a late row */
    ZERO = 16,     /* its coefficient is 0 in the first half, */
    WRITTEN = 32,  /* and the 0 is in its place */
    FROM_ZERO = 64 /* its value at order 0 is 0 */
};

typedef struct splitter {
    hmi_jet *jet;
    size_t count;    /* of the instructions that are split */
    uint8_t *of;     /* by row */
    uint32_t *depth; /* by row: how late its coefficients are found */
} splitter;

/* Depth of the late rows: all others are found before. */
enum { DEPTH_OF_LATE = 1 << 16 };

static bool is_code(const hmi_jet_code *c)
{
    return c->op < HMI_JET_OPS;
}

static bool writes(const splitter *s, const hmi_jet_code *c, uint8_t mark)
{
    return is_code(c) &&
           ((s->of[c->dst] & mark) || (c->op == HMI_JET_SINCOS && (s->of[c->c] & mark)));
}

/* Rows that are needed for those marked, by operands of the same order. */
static void mark_needed(splitter *s, uint8_t mark)
{
    for (size_t i = s->count; i > 0; i--) {
        const hmi_jet_code *c = &s->jet->code.data[i - 1];
        uint32_t rows[3];
        if (writes(s, c, mark))
            for (size_t k = hmi_jet_operands(c, rows); k > 0; k--)
                s->of[rows[k - 1]] |= mark;
    }
}

/* Instructions read series as well, of rows that are written before or after them. */
static void mark_live(splitter *s)
{
    for (bool more = true; more;) {
        more = false;
        for (size_t i = s->count; i > 0; i--) {
            const hmi_jet_code *c = &s->jet->code.data[i - 1];
            const uint32_t rows[4] = {c->a, c->b, c->c, c->dst};
            for (size_t k = 0; k < 4 && writes(s, c, LIVE); k++)
                if (!(s->of[rows[k]] & LIVE)) {
                    s->of[rows[k]] |= LIVE;
                    more = true;
                }
        }
    }
}

/* Order 0 decides, since the instructions of the orders above leave constants out. */
static bool starts_at_zero(const splitter *s, const hmi_jet_code *c)
{
    bool a = s->of[c->a] & FROM_ZERO, b = s->of[c->b] & FROM_ZERO, z = s->of[c->c] & FROM_ZERO;
    switch (c->op) {
    case HMI_TAPE_MUL_ADD:
    case HMI_TAPE_MUL_SUB:
    case HMI_TAPE_SUB_MUL:
        return (a || b) && z;
    case HMI_TAPE_FIRST_OF_TABLE + HMI_ADD:
    case HMI_TAPE_FIRST_OF_TABLE + HMI_SUB:
        return a && b;
    case HMI_TAPE_FIRST_OF_TABLE + HMI_MUL:
        return a || b;
    case HMI_TAPE_FIRST_OF_TABLE + HMI_NEG:
        return a;
    default:
        return false;
    }
}

static void mark_from_zero(splitter *s)
{
    for (size_t i = 0; i < s->jet->zero.count; i++)
        if (starts_at_zero(s, &s->jet->zero.data[i]))
            s->of[s->jet->zero.data[i].dst] |= FROM_ZERO;
}

static void mark_late(splitter *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const hmi_jet_code *c = &s->jet->code.data[i];
        uint32_t rows[3];
        for (size_t k = is_code(c) ? hmi_jet_operands(c, rows) : 0; k > 0; k--)
            if (s->of[rows[k - 1]] & LATE) {
                s->of[c->dst] |= LATE;
                if (c->op == HMI_JET_SINCOS)
                    s->of[c->c] |= LATE;
            }
    }
}

static void find_depths(splitter *s)
{
    for (size_t i = 0; i < s->jet->constant.count; i++)
        s->depth[i] = (s->of[i] & LATE) ? DEPTH_OF_LATE : 0;
    for (size_t i = 0; i < s->count; i++) {
        const hmi_jet_code *c = &s->jet->code.data[i];
        uint32_t rows[3], most = 0;
        for (size_t k = is_code(c) ? hmi_jet_operands(c, rows) : 0; k > 0; k--)
            most = s->depth[rows[k - 1]] > most ? s->depth[rows[k - 1]] : most;
        if (is_code(c) && s->depth[c->dst] <= most)
            s->depth[c->dst] = most + 1;
        if (is_code(c) && c->op == HMI_JET_SINCOS && s->depth[c->c] <= most)
            s->depth[c->c] = most + 1;
    }
}

/* ---- products with constants, where they are added ---- */

#define NOT_SCALED UINT32_MAX

/* by[row]: the instruction that scales another row to this one, where nothing else writes it. */
static void find_scaled(const splitter *s, uint32_t *by)
{
    for (size_t i = 0; i < s->jet->constant.count; i++)
        by[i] = NOT_SCALED;
    for (size_t i = 0; i < s->count; i++) {
        const hmi_jet_code *c = &s->jet->code.data[i];
        if (is_code(c) && c->op == HMI_JET_SCALED && by[c->dst] == NOT_SCALED)
            by[c->dst] = (uint32_t)i;
        else if (is_code(c))
            by[c->dst] = (uint32_t)s->count; /* written twice, or otherwise */
    }
}

/* The row of p q, of constants. */
static uint32_t constant_product(hmi_jet *jet, uint32_t p, uint32_t q)
{
    if (p == jet->one || q == jet->one)
        return p == jet->one ? q : p;
    return p == jet->minus_one && q == jet->minus_one ? jet->one
                                                      : hmi_jet_apply(jet, HMI_MUL, p, q, 0);
}

/* factor * row, where the row is another one scaled. */
static void fold(const splitter *s, const uint32_t *by, uint32_t *factor, uint32_t *row)
{
    if (by[*row] >= s->count)
        return;
    const hmi_jet_code scaled = s->jet->code.data[by[*row]];
    *factor = constant_product(s->jet, *factor, scaled.p);
    *row = scaled.a;
}

/* Rows that served only for this are not live afterwards. Instructions stand after those of their
 * operands, so that what is folded has been folded itself. */
static hm_status fold_scaled(splitter *s)
{
    size_t rows = s->jet->constant.count, bytes = (rows + 1) * sizeof(uint32_t);
    uint32_t *by = hmi_alloc(s->jet->allocator, bytes);
    if (!by)
        return HM_ERR_NOMEM;
    find_scaled(s, by);
    for (size_t i = 0; i < s->count && s->jet->status == HM_OK; i++) {
        hmi_jet_code c = s->jet->code.data[i];
        bool sum = c.op == HMI_JET_LINEAR || c.op == HMI_JET_LINEAR_SUB;
        if (sum || c.op == HMI_JET_PRODUCT)
            fold(s, by, &c.q, &c.c);
        if (sum || c.op == HMI_JET_SCALED)
            fold(s, by, &c.p, &c.a);
        s->jet->code.data[i] = c;
    }
    hmi_free(s->jet->allocator, by, bytes);
    return s->jet->status;
}

/* ---- marks ---- */

/* The greatest depth of results below another one; 0: there is none. */
static uint32_t depth_below(const splitter *s, uint32_t depth)
{
    uint32_t found = 0;
    for (size_t i = 0; i < s->count; i++) {
        uint32_t of = s->depth[s->jet->code.data[i].dst];
        found = of < depth && of > found ? of : found;
    }
    return found;
}

/* Asks for the inner sums of live instructions. Those whose factors are found at about the same time share
 * a block. The latest come first, since the last block may have fewer than four: it then holds the
 * soonest ones, and nothing waits for it. */
static void convolve_live(splitter *s)
{
    hmi_jet *jet = s->jet;
    jet->pairs.count = 0;
    for (uint32_t depth = depth_below(s, UINT32_MAX); depth > 0; depth = depth_below(s, depth))
        for (size_t i = 0; i < s->count; i++)
            if (s->depth[jet->code.data[i].dst] == depth && writes(s, &jet->code.data[i], LIVE))
                hmi_jet_convolve_code(jet, &jet->code.data[i]);
    for (size_t i = 0; i < jet->pairs.count; i++) {
        s->of[jet->pairs.data[i].x] |= IN_SECOND;
        s->of[jet->pairs.data[i].y] |= IN_SECOND;
    }
}

static void append(splitter *s, hmi_jet_code code)
{
    if (!hmi_array_push(s->jet->allocator, &s->jet->code, code))
        s->jet->status = HM_ERR_NOMEM;
}

/* ---- the first half ---- */

static bool is_zero(const splitter *s, uint32_t row)
{
    return s->of[row] & ZERO;
}

/* p a, or nothing. */
static void append_scaled(splitter *s, const hmi_jet_code *c, uint32_t p, uint32_t a)
{
    if (is_zero(s, a))
        s->of[c->dst] |= ZERO;
    else
        append(s, (hmi_jet_code){HMI_JET_SCALED, c->dst, a, 0, 0, p, 0, 0});
}

static void append_sum(splitter *s, hmi_jet_code c)
{
    if (is_zero(s, c.a)) {
        append_scaled(s, &c, c.q, c.c);
    } else if (is_zero(s, c.c) && c.op == HMI_JET_LINEAR) {
        append_scaled(s, &c, c.p, c.a);
    } else {
        c.c = is_zero(s, c.c) ? s->jet->zero_row : c.c;
        append(s, c);
    }
}

/* A product with x_0 y_k and x_k y_0 as far as they do not vanish; `first`: in the first half. */
static void append_product(splitter *s, hmi_jet_code c, bool first)
{
    static const uint32_t ops[3][2] = {{HMI_JET_INNER, HMI_JET_INNER_PRODUCT},
                                       {HMI_JET_HALF, HMI_JET_HALF_PRODUCT},
                                       {HMI_JET_TIMES, HMI_JET_PRODUCT}};
    bool a_ends = !(first && is_zero(s, c.a)) && !(s->of[c.b] & FROM_ZERO);
    bool b_ends = !(first && is_zero(s, c.b)) && !(s->of[c.a] & FROM_ZERO);
    bool sum = c.op == HMI_JET_PRODUCT;
    if (sum && ((first && is_zero(s, c.c)) || c.c == s->jet->zero_row)) { /* the product alone */
        c.c = s->jet->zero_row;
        c.q = s->jet->one;
        sum = c.p != s->jet->one;
    }
    if (b_ends && !a_ends) { /* of HALF a has the coefficient */
        uint32_t swap = c.a;
        c.a = c.b;
        c.b = swap;
    }
    if (a_ends && b_ends && s->depth[c.b] > s->depth[c.a]) { /* what is found last is added last */
        uint32_t swap = c.a;
        c.a = c.b;
        c.b = swap;
    }
    c.op = ops[a_ends + b_ends][sum];
    append(s, c);
}

/* A 0 in its place, for instructions that have no shorter form. */
static void write_zero(splitter *s, uint32_t row)
{
    uint32_t zero = s->jet->zero_row;
    if (is_zero(s, row) && !(s->of[row] & WRITTEN))
        append(s, (hmi_jet_code){HMI_JET_SCALED, row, zero, 0, 0, zero, 0, 0});
    s->of[row] |= WRITTEN;
}

static void append_in_full(splitter *s, const hmi_jet_code *c)
{
    uint32_t rows[3];
    for (size_t k = hmi_jet_operands(c, rows); k > 0; k--)
        write_zero(s, rows[k - 1]);
    append(s, *c);
    s->of[c->dst] &= (uint8_t)~ZERO;
}

static void append_first(splitter *s, const hmi_jet_code *c)
{
    bool alone = c->a != c->dst && c->c != c->dst; /* not a term that is added to a row */
    if (!s->jet->options.split) {
        append_in_full(s, c);
    } else if ((c->op == HMI_JET_LINEAR || c->op == HMI_JET_LINEAR_SUB) && alone) {
        append_sum(s, *c);
    } else if (c->op == HMI_JET_SCALED) {
        append_scaled(s, c, c->p, c->a);
    } else if (c->op == HMI_JET_TIMES || c->op == HMI_JET_PRODUCT) {
        append_product(s, *c, true);
    } else if (c->op == HMI_JET_RATE && is_zero(s, c->a)) {
        s->of[c->dst] |= ZERO;
    } else {
        append_in_full(s, c);
    }
}

/* ---- both ---- */

static void end_segment(splitter *s, hmi_jet_segment *segment)
{
    segment->end = s->jet->code.count;
    append(s, (hmi_jet_code){.op = HMI_JET_NOTHING}); /* ends the last run */
}

static void write_halves(splitter *s, hmi_jet_segment *first, hmi_jet_segment *second)
{
    hmi_jet *jet = s->jet;
    *first = *second = (hmi_jet_segment){.first = jet->code.count};
    for (size_t i = 0; i < s->count && jet->status == HM_OK; i++) {
        hmi_jet_code code = jet->code.data[i];
        if (writes(s, &code, IN_FIRST))
            append_first(s, &code);
    }
    end_segment(s, first);
    second->first = jet->code.count;
    for (size_t i = 0; i < s->count && jet->status == HM_OK; i++) {
        hmi_jet_code code = jet->code.data[i];
        bool done = jet->options.split && !writes(s, &code, LATE) && writes(s, &code, IN_FIRST);
        if (!writes(s, &code, IN_SECOND) || done)
            continue;
        bool product = code.op == HMI_JET_TIMES || code.op == HMI_JET_PRODUCT;
        if (product && jet->options.split)
            append_product(s, code, false);
        else
            append(s, code);
    }
    end_segment(s, second);
}

static void mark(splitter *s, const uint32_t *rows, size_t count, int marks)
{
    for (size_t i = 0; i < count; i++)
        s->of[rows[i]] |= (uint8_t)marks;
}

hm_status hmi_jet_split(hmi_jet *jet, const hmi_jet_halves *halves, hmi_jet_segment *first,
                        hmi_jet_segment *second)
{
    splitter s = {.jet = jet, .count = jet->code.count};
    size_t zero = jet->zero.count;
    if (fold_scaled(&s) != HM_OK)
        return jet->status = HM_ERR_NOMEM;
    size_t rows = jet->constant.count;
    s.of = hmi_alloc(jet->allocator, rows + 1);
    s.depth = hmi_alloc(jet->allocator, (rows + 1) * sizeof *s.depth);
    if (!s.of || !s.depth) {
        hmi_free(jet->allocator, s.of, rows + 1);
        hmi_free(jet->allocator, s.depth, (rows + 1) * sizeof *s.depth);
        return jet->status = HM_ERR_NOMEM;
    }
    memset(s.of, 0, rows + 1);
    mark(&s, halves->late, halves->late_count, LATE | ZERO);
    mark(&s, halves->late + (halves->late_count - halves->from_zero), halves->from_zero, FROM_ZERO);
    mark(&s, halves->first, halves->first_count, LIVE | IN_FIRST);
    mark(&s, halves->second, halves->second_count, LIVE | IN_SECOND);
    find_depths(&s);
    mark_live(&s);
    convolve_live(&s);
    mark_needed(&s, IN_FIRST);
    mark_needed(&s, IN_SECOND);
    mark_late(&s);
    mark_from_zero(&s);
    write_halves(&s, first, second);
    first->zero_first = zero; /* constants */
    first->zero_end = jet->zero.count;
    for (size_t i = 0; i < halves->first_count; i++)
        halves->vanishes[i] = is_zero(&s, halves->first[i]) || jet->constant.data[halves->first[i]];
    hmi_free(jet->allocator, s.of, rows + 1);
    hmi_free(jet->allocator, s.depth, (rows + 1) * sizeof *s.depth);
    if (jet->status == HM_OK)
        HMI_VERIFY(hmi_jet_segments_verify(jet, (hmi_jet_segment[]){*first, *second}, 2,
                                           &(hmi_violation){.text = ""}));
    return jet->status;
}
