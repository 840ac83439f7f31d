/* Between jet_emit.c, which makes machine code of instructions, and jet_program.c, which makes programs:
 * what both know of registers.
 *
 *   RDI numbers: x_0, x_k of rows, scales, inner sums   RSI series, at coefficient k
 *   RDX sums, or what is given   RCX what links make   R8 matrix   R9 what was given, scaled
 */
#ifndef HMI_COMPILE_JET_EMIT_H
#define HMI_COMPILE_JET_EMIT_H

#include "compile/jet_code.h"
#include "compile/x86_encode.h"

/* Registers for the moment; those from FIRST_HELD on hold coefficients. */
enum { HMI_JET_LEFT, HMI_JET_RIGHT, HMI_JET_FIRST_HELD, HMI_JET_HELD = 16 - HMI_JET_FIRST_HELD };

typedef struct hmi_jet_emitter {
    hmi_x86 x;
    const hmi_jet *jet;
    uint32_t held[HMI_JET_HELD]; /* by register: the place whose coefficient k it holds */
    unsigned next;               /* the register that gives way */
} hmi_jet_emitter;

static inline hmi_x86_operand hmi_jet_number(int base, size_t doubles)
{
    return hmi_x86_memory(base, (int32_t)(8 * (int64_t)doubles));
}

/* x_0 of a place, or the number there. */
static inline hmi_x86_operand hmi_jet_zeroth(uint32_t place)
{
    return hmi_jet_number(HMI_RDI, place);
}

static inline hmi_x86_operand hmi_jet_scale_operand(const hmi_jet_emitter *e, hmi_jet_scale which)
{
    return hmi_jet_number(HMI_RDI, 2 * e->jet->constant.count + (size_t)which);
}

/* Coefficient k, in a register or in memory. */
hmi_x86_operand hmi_jet_coefficient(const hmi_jet_emitter *e, uint32_t place);
/* Its register, or this one, loaded. */
int hmi_jet_in_register(hmi_jet_emitter *e, uint32_t place, int otherwise);
/* The register for a new coefficient k of `place`; what it held is in memory. */
int hmi_jet_take_register(hmi_jet_emitter *e, uint32_t place);
/* Nothing is held there any more. */
void hmi_jet_free_register(hmi_jet_emitter *e, int number);
/* Coefficient k of `place` := a op b. */
void hmi_jet_finish(hmi_jet_emitter *e, uint32_t place, int opcode, int a, hmi_x86_operand b);
void hmi_jet_emit_instruction(hmi_jet_emitter *e, const hmi_jet_code *ip);

#endif
