/* Array code as text: see dump.h. */
#include "compile/array/dump.h"

#include "compile/tape/verify.h"

#include <stdio.h>

enum { PLACES_TEXT = 64 };

/* Consecutive places, one for all, or a list, of which the ends are shown. */
static const char *places(const hmi_array_code *code, uint8_t access, uint32_t first,
                          uint16_t count, char text[PLACES_TEXT])
{
    const uint32_t *index = code->index.data + first;
    if (access == HMI_ACCESS_LIST)
        snprintf(text, PLACES_TEXT, "w{%u, .., %u}", index[0], index[count - 1]);
    else if (access == HMI_ACCESS_SCALAR || count == 1)
        snprintf(text, PLACES_TEXT, "w%u", first);
    else
        snprintf(text, PLACES_TEXT, "w%u..w%u", first, first + count - 1);
    return text;
}

static void dump_segment(const hmi_array_code *code, const hmi_segment *g, hmi_text *text)
{
    char dst[PLACES_TEXT], operand[3][PLACES_TEXT] = {"", "", ""};
    const uint8_t access[3] = {g->a_access, g->b_access, g->c_access};
    const uint32_t first[3] = {g->a, g->b, g->c};
    for (int k = 0; k < hmi_tape_op_arity(g->op); k++)
        places(code, access[k], first[k], g->count, operand[k]);
    hmi_text_addf(text, "    %s = ", places(code, g->dst_access, g->dst, g->count, dst));
    hmi_dump_operation(g->op, operand[0], operand[1], operand[2], text);
    hmi_text_add(text, g->prefetch ? "    (prefetches)\n" : "\n");
}

void hmi_array_code_dump(const hmi_array_code *code, const hmi_namer *symbols, hmi_text *text)
{
    hmi_text_addf(text,
                  "array code: %zu outputs, %zu segments for %zu operations, %zu places, outputs "
                  "from w%zu\n",
                  code->output_count, code->code.count, code->operations, code->work_size,
                  code->output_slot);
    hmi_dump_inputs(symbols, code->inputs.data, code->inputs.count, text);
    for (size_t i = 0; i < code->code.count; i++) {
        if (i == 0 || i == code->late_code)
            hmi_text_add(text,
                         i < code->late_code ? "  before the solve\n" : "  after the solve\n");
        dump_segment(code, &code->code.data[i], text);
    }
}
