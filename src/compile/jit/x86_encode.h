/* Encodes the x86-64 instructions that the emitter uses, into a growable buffer.
 *
 * All floating-point instructions are VEX-encoded, of one double (128-bit registers) or of four
 * (256-bit). Names: Intel's manual, volume 2.
 */
#ifndef HMI_COMPILE_JIT_X86_ENCODE_H
#define HMI_COMPILE_JIT_X86_ENCODE_H

#include "base/memory.h"

typedef struct hmi_x86 {
    const hm_allocator *allocator;
    HMI_ARRAY(uint8_t) code;
    bool failed; /* no memory; sticky */
    bool four;   /* arithmetic on four doubles instead of one */
} hmi_x86;

/* General registers by their numbers. */
enum {
    HMI_RAX,
    HMI_RCX,
    HMI_RDX,
    HMI_RBX,
    HMI_RSP,
    HMI_RBP,
    HMI_RSI,
    HMI_RDI,
    HMI_R8,
    HMI_R9,
    HMI_R10,
    HMI_R11,
    HMI_R14 = 14,
    HMI_IN_CODE = 16 /* as a base: the displacement is a place in the code */
};

/* An operand: a vector register, or memory at base + displacement. Never RSP or R12 as a base. */
typedef struct hmi_x86_operand {
    bool is_register;
    uint8_t number; /* of the register or of the base */
    int32_t displacement;
} hmi_x86_operand;

static inline hmi_x86_operand hmi_x86_register(int number)
{
    return (hmi_x86_operand){true, (uint8_t)number, 0};
}
static inline hmi_x86_operand hmi_x86_memory(int base, int32_t displacement)
{
    return (hmi_x86_operand){false, (uint8_t)base, displacement};
}

/* Opcodes of arithmetic that exist for one and for four doubles: dst = a op b. */
enum {
    HMI_X86_SQRT = 0x51,
    HMI_X86_ADD = 0x58,
    HMI_X86_MUL = 0x59,
    HMI_X86_SUB = 0x5C,
    HMI_X86_MIN = 0x5D, /* a < b ? a : b */
    HMI_X86_DIV = 0x5E,
    HMI_X86_MAX = 0x5F /* a > b ? a : b */
};
/* Fused: dst = dst*a + b, dst = dst + a*b, dst = dst - a*b. */
enum { HMI_X86_FMADD213 = 0xA8, HMI_X86_FMADD231 = 0xB8, HMI_X86_FNMADD231 = 0xBC };
/* Bitwise, on whole registers. */
enum { HMI_X86_AND = 0x54, HMI_X86_OR = 0x56, HMI_X86_XOR = 0x57 };
/* Predicates of comparisons. */
enum {
    HMI_X86_EQUAL = 0x00,
    HMI_X86_NOT_EQUAL = 0x04, /* true where one is not a number */
    HMI_X86_LESS = 0x11,
    HMI_X86_LESS_EQUAL = 0x12,
    HMI_X86_GREATER = 0x1E
};

void hmi_x86_bytes(hmi_x86 *x, const void *bytes, size_t count);

void hmi_x86_arithmetic(hmi_x86 *x, int opcode, int dst, int a, hmi_x86_operand b);
void hmi_x86_fused(hmi_x86 *x, int opcode, int dst, int a, hmi_x86_operand b);
void hmi_x86_shift_left(hmi_x86 *x, int dst, int a, int bits); /* 64-bit integers */
/* Register operands, or memory of a whole register (16 or 32 bytes). */
void hmi_x86_bitwise(hmi_x86 *x, int opcode, int dst, int a, hmi_x86_operand b);
/* A mask: all bits set where `a predicate b`. */
void hmi_x86_compare(hmi_x86 *x, int predicate, int dst, int a, hmi_x86_operand b);
/* dst = mask ? b : a. */
void hmi_x86_blend(hmi_x86 *x, int dst, int a, int b, int mask);
void hmi_x86_move(hmi_x86 *x, bool wide, int dst, int src); /* 128 or 256 bits */
void hmi_x86_load(hmi_x86 *x, int dst, hmi_x86_operand memory);
void hmi_x86_store(hmi_x86 *x, hmi_x86_operand memory, int src);
void hmi_x86_load_four(hmi_x86 *x, int dst, hmi_x86_operand memory);
void hmi_x86_store_four(hmi_x86 *x, hmi_x86_operand memory, int src);
void hmi_x86_load_one(hmi_x86 *x, int dst, hmi_x86_operand memory);
/* All four of dst = the double, the first of a register. */
void hmi_x86_broadcast(hmi_x86 *x, int dst, hmi_x86_operand operand);
/* dst = {low of a, b}: of a register its low half. */
void hmi_x86_pair(hmi_x86 *x, int dst, int a, hmi_x86_operand b);
/* dst = {low half of a, low half of b}, of 256-bit registers. */
void hmi_x86_join(hmi_x86 *x, int dst, int a, int b);
/* dst = {a, a}, of the double or the first of a register. */
void hmi_x86_twice(hmi_x86 *x, int dst, hmi_x86_operand a);
/* dst = the upper half of a 256-bit register; the second double of a 128-bit one. */
void hmi_x86_high_half(hmi_x86 *x, int dst, int a);
void hmi_x86_second(hmi_x86 *x, int dst, int a);
void hmi_x86_zero_upper(hmi_x86 *x);

/* General registers, 64 bits. */
void hmi_x86_load_pointer(hmi_x86 *x, int dst, hmi_x86_operand memory);
void hmi_x86_address(hmi_x86 *x, int dst, hmi_x86_operand memory);
void hmi_x86_copy_pointer(hmi_x86 *x, int dst, int src);
void hmi_x86_push(hmi_x86 *x, int number);
void hmi_x86_pop(hmi_x86 *x, int number);
void hmi_x86_and(hmi_x86 *x, int number, int8_t mask);
void hmi_x86_call(hmi_x86 *x, uint64_t address); /* through RAX */
void hmi_x86_call_memory(hmi_x86 *x, hmi_x86_operand pointer);
void hmi_x86_jump(hmi_x86 *x, uint64_t address); /* through RAX */
void hmi_x86_return(hmi_x86 *x);
/* Jumps when the pointer is NULL, to a place given later. Returns what to give to `land`. */
size_t hmi_x86_jump_if_null(hmi_x86 *x, int number);
/* Jumps if all four masks are set, or if |reg| < 2^exponent of one double; both lose RAX. */
size_t hmi_x86_jump_if_all(hmi_x86 *x, int mask);
size_t hmi_x86_jump_if_exponent_below(hmi_x86 *x, int reg, unsigned exponent);
size_t hmi_x86_jump_ahead(hmi_x86 *x);
/* To a place before, if pointer a < b. */
void hmi_x86_jump_back_if_below(hmi_x86 *x, int a, int b, size_t place);
void hmi_x86_land(hmi_x86 *x, size_t jump);

#endif
