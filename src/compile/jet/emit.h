/* The state of an emission of jet code, shared by emit.c (instructions), program_code.c (programs),
 * handoff.c (what follows them) and registers.c.
 *
 *   RDI  jet->memory: x_0 and x_k of rows, scales, inner sums      RSI  series, at coefficient k
 *   RDX  sums, or given coefficients; where there is a matrix, the scales
 *   RCX  where links write      R8  matrix      R9  given coefficients after scaling
 *
 * Two vector registers are scratch. The others hold numbers of RDI, loaded or just computed, as long as
 * their live range lasts and no number that is read sooner needs the register. For that a program is
 * emitted several times: all but the last time only count when each number is read. A coefficient that
 * the program need not leave in memory is spilled only when its register is needed.
 */
#ifndef HMI_COMPILE_JET_EMIT_H
#define HMI_COMPILE_JET_EMIT_H

#include "compile/jet/code.h"
#include "compile/jit/x86_encode.h"

/* Scratch registers; those from FIRST_HELD on hold numbers. */
enum { HMI_JET_LEFT, HMI_JET_RIGHT, HMI_JET_FIRST_HELD, HMI_JET_HELD = 16 - HMI_JET_FIRST_HELD };

typedef struct hmi_jet_use {
    uint32_t number, time;
    uint32_t next; /* use of this number */
} hmi_jet_use;

typedef struct hmi_jet_emitter {
    hmi_x86 x;
    const hmi_jet *jet;
    bool scales_apart; /* in RDX */
    bool counting;     /* this emission only counts uses */
    bool closed;       /* only numbers that the next order reads have to be in memory afterwards */
    uint32_t time;     /* counts instructions, sums, tasks */
    uint32_t position; /* instructions of the second segment so far */
    HMI_ARRAY(uint32_t) first_task, next_task; /* by position; by task: see handoff.c */
    HMI_ARRAY(hmi_jet_use) uses;
    size_t numbers;
    uint32_t *upcoming;           /* by number: its next use */
    uint8_t *first;               /* by number: was it read or written first? */
    uint32_t *written, *accessed; /* by number: the last position where that happened */
    uint32_t held[HMI_JET_HELD];  /* by register: the number it holds */
    bool dirty[HMI_JET_HELD];     /* the number is not in memory */
    bool busy[HMI_JET_HELD];      /* a number is being computed there */
} hmi_jet_emitter;

static inline hmi_x86_operand hmi_jet_number(int base, size_t doubles)
{
    return hmi_x86_memory(base, (int32_t)(8 * (int64_t)doubles));
}

static inline uint32_t hmi_jet_scale_number(const hmi_jet_emitter *e, hmi_jet_scale which)
{
    return (uint32_t)(2 * e->jet->constant.count + (size_t)which);
}

/* ---- registers.c ---- */

/* false: no memory. */
bool hmi_jet_registers_init(hmi_jet_emitter *e);
void hmi_jet_registers_release(hmi_jet_emitter *e);
/* Begins the next emission; the one that does not count is the last. */
void hmi_jet_registers_restart(hmi_jet_emitter *e, bool counting);

/* Where a number is in memory. */
hmi_x86_operand hmi_jet_in_memory(const hmi_jet_emitter *e, uint32_t number);
/* A number, in a register or in memory. A register stays valid until the next result or the next time. */
hmi_x86_operand hmi_jet_read(hmi_jet_emitter *e, uint32_t number);
/* An inner sum, which is read once. */
hmi_x86_operand hmi_jet_inner_sum(hmi_jet_emitter *e, uint32_t place);
/* The register of a number; `otherwise`, after a load, where it has none. */
int hmi_jet_in_register(hmi_jet_emitter *e, uint32_t number, int otherwise);
/* Takes a register, which holds no operand, for a number that takes several instructions. It ends with
 * hmi_jet_close, after which the register holds that number, or with hmi_jet_leave. */
int hmi_jet_open(hmi_jet_emitter *e);
void hmi_jet_close(hmi_jet_emitter *e, uint32_t number, int r);
void hmi_jet_leave(hmi_jet_emitter *e, int r);
/* The register for the number that the next instruction computes, the last one of its time. */
int hmi_jet_result(hmi_jet_emitter *e);

/* Has the number to be in memory when the program ends? */
bool hmi_jet_is_wanted(const hmi_jet_emitter *e, uint32_t number);

/* ---- handoff.c ---- */

/* Does a link read what another has written? */
bool hmi_jet_links_cross(const hmi_jet_program *program);
/* Finds the positions of handoff and links, after a program was emitted without them. */
void hmi_jet_place_tasks(hmi_jet_emitter *e, const hmi_jet_program *program);
/* Emits those of this position. */
void hmi_jet_emit_tasks(hmi_jet_emitter *e, const hmi_jet_program *program);

/* ---- emit.c ---- */

void hmi_jet_emit_instruction(hmi_jet_emitter *e, const hmi_jet_code *ip);

#endif
