/* From tapes to machine code: one function per tape, several side by side on the same pages.
 * See jit.h. */
#include "compile/jit/assemble.h"

#include "compile/jit/emit.h"
#include "compile/jit/jit.h"
#include "compile/tape/machine_code.h"
#include "compile/tape/verify.h"

#include <string.h>

/* From a place in the code to its address; NULL where there is no code. */
static void place_entry(const hmi_machine_code *code, hmi_tape_function **entry)
{
    uintptr_t place;
    memcpy(&place, entry, sizeof place);
    place = code->pages ? (uintptr_t)code->pages + place : 0;
    memcpy(entry, &place, sizeof place);
}

/* One more function behind the others. */
static hm_status add_function(const hmi_tape *tape, unsigned lanes, hmi_tape_function *fallback,
                              hmi_x86 *x, size_t *spill_doubles)
{
    hmi_jit_program program = {.nodes = NULL};
    hm_status status = hmi_jit_program_build(&program, tape);
    if (status == HM_OK)
        status = hmi_jit_emit(&program, tape, lanes, fallback, x, spill_doubles);
    hmi_jit_program_release(&program);
    return status;
}

hm_status hmi_jit_compile(const hmi_tape *tape, unsigned lanes, hmi_tape_function *fallback,
                          hmi_machine_code *code)
{
    hmi_tape_function *entry;
    *code = (hmi_machine_code){0};
    return tape->body.count <= 1 ? HM_OK
                                 : hmi_jit_compile_many(tape, 1, lanes, fallback, code, &entry);
}

hm_status hmi_jit_compile_many(const hmi_tape *tapes, size_t count, unsigned lanes,
                               hmi_tape_function *fallback, hmi_machine_code *code,
                               hmi_tape_function **entries)
{
    hmi_x86 x = {.allocator = tapes->allocator};
    size_t spill, most = 0;
    uintptr_t start = HMI_CODE_ENTRY;
    hm_status status = HM_OK;
    *code = (hmi_machine_code){0};
    memset(entries, 0, count * sizeof *entries);
    if (!hmi_machine_code_available())
        return HM_OK;
    for (size_t i = 0; i < count && status == HM_OK; i++) {
        status = add_function(&tapes[i], lanes, fallback, &x, &spill);
        memcpy(&entries[i], &start, sizeof start); /* to begin with, its place */
        start = (x.code.count + 63) / 64 * 64;
        most = spill > most ? spill : most;
    }
    if (status == HM_OK)
        hmi_machine_code_install(x.code.data, x.code.count, code);
    if (code->entry)
        code->spill_doubles = most;
    for (size_t i = 0; i < count; i++)
        place_entry(code, &entries[i]);
    hmi_array_release(tapes->allocator, &x.code);
    return status == HM_ERR_LIMIT ? HM_OK : status;
}

hm_status hmi_tape_assemble(hmi_tape *tape)
{
    if (tape->code.entry || !tape->run) /* done, or there is no such tape */
        return HM_OK;
    hm_status status = hmi_jit_compile(tape, 1, hmi_tape_interpret, &tape->code);
    if (tape->code.entry) {
        tape->run = tape->code.entry;
        tape->work_size += tape->code.spill_doubles;
        HMI_VERIFY(hmi_tape_verify(tape, &(hmi_violation){.text = ""}));
    }
    return status;
}

hm_status hmi_tape_compile(hmi_tape *tape, const hmi_graph *graph, const hmi_expr *outputs,
                           size_t count)
{
    hmi_tape_scratch scratch;
    hmi_tape_scratch_init(&scratch, graph->allocator);
    hm_status status = hmi_tape_build(tape, graph, outputs, count, &scratch);
    hmi_tape_scratch_release(&scratch);
    return status == HM_OK && !graph->interpreted ? hmi_tape_assemble(tape) : status;
}
