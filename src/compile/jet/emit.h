/* Between emit.c, which makes machine code of instructions, program_code.c, which makes programs, and
 * registers.c: what they know of registers.
 *
 *   RDI numbers: x_0, x_k of rows, scales, inner sums   RSI series, at coefficient k
 *   RDX sums, or what is given; where there is a matrix the scales
 *   RCX what links make   R8 matrix   R9 what was given, scaled
 *
 * The other vector registers hold numbers of RDI, coefficients that were found or what was loaded, as long
 * as nothing that is read sooner needs the room. For that a program is emitted more than once: first only to
 * see when each number is read. A coefficient goes to memory when its register is needed, unless the
 * program has to leave it there.
 */
#ifndef HMI_COMPILE_JET_EMIT_H
#define HMI_COMPILE_JET_EMIT_H

#include "compile/jet/code.h"
#include "compile/jit/x86_encode.h"

/* Registers for the moment; those from FIRST_HELD on hold numbers. */
enum { HMI_JET_LEFT, HMI_JET_RIGHT, HMI_JET_FIRST_HELD, HMI_JET_HELD = 16 - HMI_JET_FIRST_HELD };

typedef struct hmi_jet_use {
    uint32_t number, time;
    uint32_t next; /* use of this number */
} hmi_jet_use;

/* A number that an instruction reads or writes. */
typedef struct hmi_jet_access {
    uint32_t instruction, number;
    bool write;
} hmi_jet_access;

typedef struct hmi_jet_emitter {
    hmi_x86 x;
    const hmi_jet *jet;
    bool scales_apart; /* in RDX */
    bool counting;     /* not in earnest yet */
    bool closed;       /* only what is read before it is written has to be in memory afterwards */
    uint32_t time;     /* which instruction, sum, .. this is */
    uint32_t position; /* how many instructions of the second segment there were */
    HMI_ARRAY(uint32_t) first_task, next_task; /* by position; by task: see handoff.c */
    uint32_t instruction;                      /* at work, of jet->code */
    HMI_ARRAY(hmi_jet_access) accesses;        /* until there is */
    HMI_ARRAY(uint32_t) sequence;              /* of the instructions: see schedule_code.c */
    HMI_ARRAY(hmi_jet_use) uses;
    size_t numbers;
    uint32_t *upcoming;           /* by number: its next use */
    uint8_t *first;               /* by number: what came first, */
    uint32_t *written, *accessed; /* the last position where it was written, or read as well */
    uint32_t held[HMI_JET_HELD];  /* by register: the number it holds */
    bool dirty[HMI_JET_HELD];     /* which is not in memory */
    bool busy[HMI_JET_HELD];      /* a number is being made there */
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
/* For the next time; the last is in earnest. */
void hmi_jet_registers_restart(hmi_jet_emitter *e, bool counting);

/* Where a number is in memory. */
hmi_x86_operand hmi_jet_in_memory(const hmi_jet_emitter *e, uint32_t number);
/* A number, in a register or in memory. Registers stay until the next result, or the next time. */
hmi_x86_operand hmi_jet_read(hmi_jet_emitter *e, uint32_t number);
/* An inner sum, which is read once. */
hmi_x86_operand hmi_jet_inner_sum(hmi_jet_emitter *e, uint32_t place);
/* Its register, or this one, loaded. */
int hmi_jet_in_register(hmi_jet_emitter *e, uint32_t number, int otherwise);
/* A register for something that is not there at once, which no operand is in; until it is closed, then it is
 * this number, or left. */
int hmi_jet_open(hmi_jet_emitter *e);
void hmi_jet_close(hmi_jet_emitter *e, uint32_t number, int r);
void hmi_jet_leave(hmi_jet_emitter *e, int r);
/* The register for a number that the next instruction makes, the last of its time. */
int hmi_jet_result(hmi_jet_emitter *e);

/* Has it to be in memory when the program ends? */
bool hmi_jet_is_wanted(const hmi_jet_emitter *e, uint32_t number);

/* ---- handoff.c ---- */

/* Does a link read what another has written? */
bool hmi_jet_links_cross(const hmi_jet_program *program);
/* Finds positions for blocks to be kept and for links, after a program was emitted without them. */
void hmi_jet_place_tasks(hmi_jet_emitter *e, const hmi_jet_program *program);
/* Those of this position. */
void hmi_jet_emit_tasks(hmi_jet_emitter *e, const hmi_jet_program *program);

/* ---- schedule_code.c ---- */

/* Finds e->sequence, after a program was emitted as it stands. */
void hmi_jet_schedule_program(hmi_jet_emitter *e, const hmi_jet_program *program);

/* ---- emit.c ---- */

void hmi_jet_emit_instruction(hmi_jet_emitter *e, const hmi_jet_code *ip);

#endif
