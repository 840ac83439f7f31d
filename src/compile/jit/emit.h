/* What emit.c, patterns.c, call.c and sincos.c share: the state of an emission and the registers. */
#ifndef HMI_COMPILE_JIT_EMIT_H
#define HMI_COMPILE_JIT_EMIT_H

#include "compile/jit/jit.h"
#include "compile/jit/x86_encode.h"

/* Vector registers 0 to 14 hold values; the last one is scratch. */
enum { HMI_JIT_REGISTERS = 15, HMI_JIT_SCRATCH = 15 };

typedef struct hmi_emitter {
    hmi_x86 x;
    hmi_jit_program *program;
    const hm_allocator *allocator;
    unsigned lanes;
    uint32_t held[HMI_JIT_REGISTERS]; /* by register: its value, or HMI_JIT_NONE */
    int work_base, spill_base, values_base;
    int32_t spill_offset; /* from spill_base, in bytes */
    uint32_t pointers;    /* one bit for each kind of input whose pointer is in its register */
    uint8_t pointer_register[HMI_SYM_KIND_COUNT];
    bool wide;            /* some instruction used 256 bits */
    uint32_t spill_slots; /* in use or free again */
    HMI_ARRAY(uint32_t) free_singles;
    HMI_ARRAY(uint32_t) free_blocks; /* first slots */
    HMI_ARRAY(uint8_t) block_live;   /* by block: values still to be read */
} hmi_emitter;

static inline hmi_jit_value *hmi_emitter_value(const hmi_emitter *e, uint32_t v)
{
    return &e->program->values[v];
}

/* Memory of a place; loads the pointer of an input where it is not at hand. */
hmi_x86_operand hmi_emitter_place(hmi_emitter *e, unsigned base, uint32_t index);
/* The value's register if it has one, else its memory. */
hmi_x86_operand hmi_emitter_operand(hmi_emitter *e, uint32_t v);
/* Stores the value in a spill slot, unless it lies in memory already. */
void hmi_emitter_spill(hmi_emitter *e, uint32_t v);
/* A new value is in a register: stores it if it is an output, and remembers. */
void hmi_emitter_define(hmi_emitter *e, uint32_t v, int reg);
/* The live range of the value has ended: its spill slot is free for others. */
void hmi_emitter_free_spill(hmi_emitter *e, uint32_t v);
/* A register that holds nothing, or -1. */
int hmi_emitter_free_register(const hmi_emitter *e);
/* A register for a new value at this position; one that is not pinned gives way if it must. */
int hmi_emitter_take_register(hmi_emitter *e, size_t position, uint32_t pinned);
/* From here on the register holds the value. */
void hmi_emitter_hold(hmi_emitter *e, uint32_t v, int reg);
/* Slots for the results of a call of four: their first. */
uint32_t hmi_emitter_new_block(hmi_emitter *e);

/* Constants lie before the code, HMI_CODE_ENTRY bytes, each of four doubles: these first. */
enum {
    HMI_JIT_SIGN_BITS = 0,
    HMI_JIT_OTHER_BITS = 32,
    HMI_JIT_ONES = 64,
    HMI_JIT_ZEROS = 96,
    HMI_JIT_SINCOS_NUMBERS = 128
};
void hmi_emitter_put_constants(hmi_emitter *e);
void hmi_emitter_put_sincos_numbers(hmi_emitter *e);
/* Registers 0 and 1 = sine and cosine of register 0, by instructions. No other vector register is
 * kept. `room`: where it is wide, for eight doubles. */
void hmi_emitter_sincos(hmi_emitter *e, bool wide, hmi_x86_operand room,
                        const hmi_jit_function *function);
/* Emits the node at a position, which is not a call. */
void hmi_emitter_arithmetic(hmi_emitter *e, size_t position);
/* Emits the calls at positions first .. first + count. */
void hmi_emitter_call(hmi_emitter *e, size_t first, size_t count);

/* The whole function, behind what x has already (nothing: the constants come first); it begins at the
 * next multiple of 64 bytes. The caller releases x->code also after a failure. */
hm_status hmi_jit_emit(hmi_jit_program *program, const hmi_tape *tape, unsigned lanes,
                       hmi_tape_function *fallback, hmi_x86 *x, size_t *spill_doubles);

#endif
