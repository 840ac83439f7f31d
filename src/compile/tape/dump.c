/* Tapes as text: see dump.h. */
#include "compile/tape/dump.h"

#include "compile/tape/verify.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- symbols ---- */

/* What stands around the name that the model has. */
static const struct {
    const char *kind, *before, *after;
} words[HMI_SYM_KIND_COUNT] = {
    [HMI_SYM_TIME] = {"time", "", ""},
    [HMI_SYM_PARAM] = {"parameters", "", ""},
    [HMI_SYM_COORD] = {"coordinates", "", ""},
    [HMI_SYM_VELOCITY] = {"velocities", "", "'"},
    [HMI_SYM_ACCELERATION] = {"accelerations", "", "''"},
    [HMI_SYM_STATE] = {"states", "", ""},
    [HMI_SYM_INPUT] = {"inputs", "", ""},
    [HMI_SYM_INPUT_RATE] = {"rates of inputs", "", "'"},
    [HMI_SYM_INPUT_RATE2] = {"second rates of inputs", "", "''"},
    [HMI_SYM_REACTION] = {"reactions", "reaction(", ")"},
    [HMI_SYM_MULTIPLIER] = {"multipliers", "multiplier(", ")"},
    [HMI_SYM_TOTAL_REACTION] = {"total reactions", "total_reaction(", ")"},
    [HMI_SYM_TOTAL_MULTIPLIER] = {"total multipliers", "total_multiplier(", ")"},
    [HMI_SYM_ENERGY] = {"energy", "", ""},
    [HMI_SYM_MATRIX] = {"unknowns of the solve", "", ""},
    [HMI_SYM_MODE] = {"branches", "", ""},
};

void hmi_dump_symbol(const hmi_namer *namer, hmi_symbol_kind kind, uint32_t index, hmi_text *text)
{
    hmi_text_add(text, words[kind].before);
    if (kind == HMI_SYM_TIME)
        hmi_text_add(text, "t");
    else if (kind == HMI_SYM_ENERGY)
        hmi_text_add(text, "energy");
    else if (kind == HMI_SYM_MODE || kind == HMI_SYM_MATRIX)
        hmi_text_addf(text, "%s[%u]", kind == HMI_SYM_MODE ? "branch" : "lambda", index + 1);
    else
        namer->name(namer->user, kind, index, text);
    hmi_text_add(text, words[kind].after);
}

void hmi_dump_inputs(const hmi_namer *namer, const hmi_tape_input *inputs, size_t count,
                     hmi_text *text)
{
    enum { MOST_NAMES = 8 };
    for (size_t i = 0; i < count; i++) {
        const hmi_tape_input *in = &inputs[i];
        hmi_text_addf(text, "  w%u", in->slot);
        if (in->count > 1)
            hmi_text_addf(text, "..w%u", in->slot + in->count - 1);
        hmi_text_addf(text, ": %s ", words[in->kind].kind);
        for (uint32_t k = 0; k < in->count && k < MOST_NAMES; k++) {
            hmi_text_add(text, k ? ", " : "");
            hmi_dump_symbol(namer, in->kind, in->first + k, text);
        }
        hmi_text_add(text, in->count > MOST_NAMES ? ", ..\n" : "\n");
    }
}

/* ---- operations ---- */

static void dump_table(hmi_op op, const char *a, const char *b, const char *c, hmi_text *text)
{
    const char *name = hmi_op_text(op);
    int arity = hmi_op_arity(op);
    bool infix = arity == 2 && (!isalpha((unsigned char)*name) || op == HMI_AND || op == HMI_OR);
    if (op == HMI_SELECT)
        hmi_text_addf(text, "if %s then %s else %s", a, b, c);
    else if (op == HMI_NOT)
        hmi_text_addf(text, "not %s", a);
    else if (op == HMI_NEG)
        hmi_text_addf(text, "-%s", a);
    else if (infix && (op == HMI_POW || op == HMI_POWI || op == HMI_MUL || op == HMI_DIV))
        hmi_text_addf(text, "%s%s%s", a, name, b);
    else if (infix)
        hmi_text_addf(text, "%s %s %s", a, name, b);
    else if (arity == 2)
        hmi_text_addf(text, "%s(%s, %s)", name, a, b);
    else
        hmi_text_addf(text, "%s(%s)", name, a);
}

void hmi_dump_operation(uint32_t op, const char *a, const char *b, const char *c, hmi_text *text)
{
    switch (op) {
    case HMI_TAPE_COPY:
        hmi_text_add(text, a);
        break;
    case HMI_TAPE_SQUARE:
        hmi_text_addf(text, "%s^2", a);
        break;
    case HMI_TAPE_CUBE:
        hmi_text_addf(text, "%s^3", a);
        break;
    case HMI_TAPE_MUL_ADD:
        hmi_text_addf(text, "%s*%s + %s", a, b, c);
        break;
    case HMI_TAPE_MUL_SUB:
        hmi_text_addf(text, "%s*%s - %s", a, b, c);
        break;
    case HMI_TAPE_SUB_MUL:
        hmi_text_addf(text, "%s - %s*%s", c, a, b);
        break;
    default:
        dump_table((hmi_op)(op - HMI_TAPE_FIRST_OF_TABLE), a, b, c, text);
    }
}

/* ---- instructions ---- */

typedef struct dumper {
    const hmi_tape *tape;
    const hmi_dump_names *names;
    hmi_text *text;
    hmi_text operand[3];
} dumper;

static void dump_place(const dumper *d, uint32_t slot, hmi_text *text)
{
    char number[HMI_NUMBER_TEXT];
    for (size_t i = 0; i < d->tape->inputs.count; i++) {
        const hmi_tape_input *in = &d->tape->inputs.data[i];
        if (slot >= in->slot && slot < in->slot + in->count) {
            hmi_dump_symbol(&d->names->symbols, in->kind, in->first + (slot - in->slot), text);
            return;
        }
    }
    if (slot < d->tape->constants.count)
        hmi_text_add(text, hmi_number_for_reading(d->tape->constants.data[slot], number));
    else
        hmi_text_addf(text, "w%u", slot);
}

static void dump_output_name(const dumper *d, uint32_t slot)
{
    size_t k = slot - d->tape->output_slot;
    if (slot < d->tape->output_slot || k >= d->tape->output_count || !d->names->output)
        return;
    hmi_text_add(d->text, "    -> ");
    d->names->output(d->names->user, k, d->text);
}

static void dump_result(dumper *d, uint32_t op, uint32_t slot)
{
    hmi_text_addf(d->text, "    w%u = ", slot);
    hmi_dump_operation(op, hmi_text_view(&d->operand[0]), hmi_text_view(&d->operand[1]),
                       hmi_text_view(&d->operand[2]), d->text);
    dump_output_name(d, slot);
    hmi_text_add(d->text, "\n");
}

static void dump_instruction(dumper *d, const hmi_instruction *ip)
{
    const uint32_t slots[3] = {ip->a, ip->b, ip->c};
    for (int k = 0; k < hmi_tape_op_arity(ip->op); k++) {
        d->operand[k].length = 0;
        dump_place(d, slots[k], &d->operand[k]);
    }
    if (ip->op == HMI_TAPE_SINCOS) {
        dump_result(d, HMI_TAPE_FIRST_OF_TABLE + HMI_SIN, ip->dst);
        dump_result(d, HMI_TAPE_FIRST_OF_TABLE + HMI_COS, ip->b);
    } else {
        dump_result(d, ip->op, ip->dst);
    }
}

static void dump_code(dumper *d, const char *title, const hmi_instruction *code, size_t count)
{
    if (count > 1)
        hmi_text_addf(d->text, "  %s\n", title);
    for (size_t i = 0; i + 1 < count; i++)
        dump_instruction(d, &code[i]);
}

void hmi_tape_dump(const hmi_tape *tape, const char *title, const hmi_dump_names *names,
                   hmi_text *text)
{
    dumper d = {tape, names, text, {{0}, {0}, {0}}};
    for (int k = 0; k < 3; k++)
        hmi_text_init(&d.operand[k], text->allocator);
    hmi_text_addf(text, "%s: %zu outputs, %zu instructions after %zu of the prologue, %zu places",
                  title, tape->output_count, tape->body.count - 1, tape->prologue.count - 1,
                  tape->work_size);
    if (tape->code.entry)
        hmi_text_addf(text, ", machine code of %zu bytes, %zu places spilled", tape->code.size,
                      tape->code.spill_doubles);
    hmi_text_add(text, "\n");
    hmi_dump_inputs(&names->symbols, tape->inputs.data, tape->inputs.count, text);
    dump_code(&d, "prologue", tape->prologue.data, tape->prologue.count);
    dump_code(&d, "body", tape->body.data, tape->body.count);
    for (int k = 0; k < 3; k++) {
        text->failed |= d.operand[k].failed;
        hmi_text_release(&d.operand[k]);
    }
}
