/* Jets as text: see dump.h. */
#include "compile/jet/dump.h"

#include "compile/jet/code.h"
#include "compile/tape/verify.h"

/* Letters that stand alone are replaced by rows: a, b, c, and the constant ones p, q. */
static const char *const recurrences[HMI_JET_OPS] = {
    [HMI_JET_SCALED] = "p*a",
    [HMI_JET_LINEAR] = "p*a + q*c",
    [HMI_JET_LINEAR_SUB] = "q*c - p*a",
    [HMI_JET_TIMES] = "a*b",
    [HMI_JET_PRODUCT] = "p*(a*b) + q*c",
    [HMI_JET_HALF] = "a*b with coefficient 0 of the second",
    [HMI_JET_HALF_PRODUCT] = "p*(a*b) + q*c with coefficient 0 of the second factor",
    [HMI_JET_INNER] = "the inner sum of a*b",
    [HMI_JET_INNER_PRODUCT] = "p*(the inner sum of a*b) + q*c",
    [HMI_JET_DIV] = "a/b",
    [HMI_JET_DIV_CONST] = "a/b",
    [HMI_JET_CONST_DIV] = "a/b",
    [HMI_JET_SQRT] = "sqrt(a)",
    [HMI_JET_POWER] = "a^b",
    [HMI_JET_RATE] = "rate of a",
    [HMI_JET_SINCOS] = "sin, with c = cos, whose argument has the rate a",
    [HMI_JET_CHAIN] = "integral of a*b",
    [HMI_JET_CHAIN_ADD] = "itself + integral of a*b",
    [HMI_JET_SELECT] = "if a then b else c",
};

/* ---- rows ---- */

static uint32_t row_of(const hmi_jet *jet, uint32_t name)
{
    return jet->memory ? name / 2 : name;
}

static void dump_row(const hmi_jet *jet, uint32_t name, const hmi_namer *symbols, hmi_text *text)
{
    uint32_t row = row_of(jet, name);
    for (size_t i = 0; i < jet->symbols.count; i++)
        if (jet->symbols.data[i].row == row) {
            hmi_dump_symbol(symbols, jet->symbols.data[i].kind, jet->symbols.data[i].index, text);
            return;
        }
    if (row == jet->zero_row || row == jet->one || row == jet->two)
        hmi_text_addf(text, "%d", row == jet->zero_row ? 0 : row == jet->one ? 1 : 2);
    else if (row == jet->minus_one)
        hmi_text_add(text, "(-1)");
    else
        hmi_text_addf(text, "%s%u", jet->constant.data[row] ? "c" : "r", row);
}

/* ---- order 0 ---- */

static void dump_zero(const hmi_jet *jet, const hmi_jet_code *code, const hmi_namer *symbols,
                      hmi_text operand[3], hmi_text *text)
{
    const uint32_t rows[3] = {code->a, code->b, code->c};
    bool own = code->op >= HMI_JET_RATE_OF;
    for (int k = 0; k < (own ? 1 : hmi_tape_op_arity(code->op)); k++) {
        operand[k].length = 0;
        dump_row(jet, rows[k], symbols, &operand[k]);
    }
    const char *a = hmi_text_view(&operand[0]);
    hmi_text_add(text, "    ");
    dump_row(jet, code->dst, symbols, text);
    hmi_text_add(text, " = ");
    if (own)
        hmi_text_addf(text, "%s%s\n",
                      code->op == HMI_JET_RATE_OF      ? "rate of "
                      : code->op == HMI_JET_RECIPROCAL ? "1/"
                                                       : "1/2/",
                      a);
    else
        hmi_dump_operation(code->op, a, hmi_text_view(&operand[1]), hmi_text_view(&operand[2]),
                           text);
    hmi_text_add(text, own ? "" : "\n");
}

static void dump_sincos(const hmi_jet *jet, const hmi_namer *symbols, hmi_text *text)
{
    for (size_t i = 0; i < jet->sincos_by_rate.count; i++) {
        const hmi_jet_sincos_by_rate *s = &jet->sincos_by_rate.data[i];
        uint32_t scale = jet->memory ? 2 : 1;
        hmi_text_addf(text, "  r%u and r%u, a sine and a cosine, follow from products with ",
                      s->sine, s->cosine);
        dump_row(jet, s->w * scale, symbols, text);
        hmi_text_add(text, "\n");
    }
}

void hmi_jet_dump(const hmi_jet *jet, const hmi_namer *symbols, hmi_text *text)
{
    hmi_text operand[3];
    for (int k = 0; k < 3; k++)
        hmi_text_init(&operand[k], text->allocator);
    hmi_text_addf(
        text,
        "jets up to order %d: %zu rows, %zu instructions at order 0, %zu of them for rows "
        "that move, %zu inner sums in %zu blocks of four\n",
        jet->order, jet->constant.count, jet->zero.count, jet->moving.count, jet->pairs.count,
        jet->block_count);
    dump_sincos(jet, symbols, text);
    hmi_text_add(text, "  order 0\n");
    for (size_t i = 0; i < jet->zero.count; i++)
        dump_zero(jet, &jet->zero.data[i], symbols, operand, text);
    for (int k = 0; k < 3; k++) {
        text->failed |= operand[k].failed;
        hmi_text_release(&operand[k]);
    }
}

/* ---- the orders above ---- */

static void dump_code(const hmi_jet *jet, const hmi_jet_code *code, const hmi_namer *symbols,
                      hmi_text *text)
{
    hmi_jet_pair pairs[2];
    size_t sums = hmi_jet_factors(code, pairs);
    hmi_text_add(text, "    ");
    dump_row(jet, code->dst, symbols, text);
    hmi_text_add(text, " = ");
    const char *before = "";
    for (const char *p = recurrences[code->op]; *p; before = p++) {
        bool alone = !(*before >= 'a' && *before <= 'z') && !(p[1] >= 'a' && p[1] <= 'z');
        if (alone && (*p == 'a' || *p == 'b' || *p == 'c'))
            dump_row(jet, *p == 'a' ? code->a : *p == 'b' ? code->b : code->c, symbols, text);
        else if (alone && (*p == 'p' || *p == 'q'))
            dump_row(jet, *p == 'p' ? code->p : code->q, symbols, text);
        else
            hmi_text_addf(text, "%c", *p);
    }
    if (sums)
        hmi_text_addf(text, "    (inner sum %zu%s)",
                      (size_t)code->inner - (jet->memory ? hmi_jet_doubles_of_rows(jet) : 0),
                      sums > 1 ? " and the next" : "");
    hmi_text_add(text, "\n");
}

void hmi_jet_segment_dump(const hmi_jet *jet, const hmi_jet_segment *segment, const char *title,
                          const hmi_namer *symbols, hmi_text *text)
{
    hmi_text_addf(text, "  %s: %zu instructions\n", title, segment->end - segment->first);
    for (size_t i = segment->first; i < segment->end; i++)
        if (jet->code.data[i].op < HMI_JET_OPS)
            dump_code(jet, &jet->code.data[i], symbols, text);
}
