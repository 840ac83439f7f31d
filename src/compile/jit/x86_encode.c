/* Bytes of x86-64 instructions: prefixes, VEX, ModRM, displacements, jumps. */
#include "compile/jit/x86_encode.h"

#include <string.h>

static void more_room(hmi_x86 *x)
{
    if (!hmi_array_reserve(x->allocator, &x->code, 4096))
        x->failed = true;
}

static inline void put(hmi_x86 *x, unsigned byte)
{
    if (x->code.count == x->code.capacity)
        more_room(x);
    if (!x->failed)
        x->code.data[x->code.count++] = (uint8_t)byte;
}

static void put32(hmi_x86 *x, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        put(x, value >> (8 * i) & 0xFF);
}

static void put64(hmi_x86 *x, uint64_t value)
{
    put32(x, (uint32_t)value);
    put32(x, (uint32_t)(value >> 32));
}

void hmi_x86_bytes(hmi_x86 *x, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put(x, ((const uint8_t *)bytes)[i]);
}

/* ModRM and displacement. `after`: bytes of the instruction that follow them, which count where the
 * operand is relative to the instruction's end. */
static void put_operand(hmi_x86 *x, int reg, hmi_x86_operand rm, int after)
{
    unsigned middle = (unsigned)(reg & 7) << 3, low = rm.number & 7u;
    if (rm.is_register) {
        put(x, 0xC0 | middle | low);
    } else if (rm.number == HMI_IN_CODE) {
        put(x, 0x05 | middle);
        int64_t end = (int64_t)x->code.count + 4 + after;
        put32(x, (uint32_t)(rm.displacement - end));
    } else if (rm.displacement >= -128 && rm.displacement < 128) {
        put(x, 0x40 | middle | low);
        put(x, (unsigned)rm.displacement & 0xFF);
    } else {
        put(x, 0x80 | middle | low);
        put32(x, (uint32_t)rm.displacement);
    }
}

static bool high_operand(hmi_x86_operand rm)
{
    return rm.number >= 8 && rm.number < 16;
}

enum { PREFIX_NONE, PREFIX_66, PREFIX_F3, PREFIX_F2 };
enum { MAP_0F = 1, MAP_0F38 = 2, MAP_0F3A = 3 };

typedef struct vex {
    int prefix, map, opcode;
    bool wide; /* 256 bits */
    bool w;
} vex;

/* prefix, opcode, dst, vvvv, operand; the caller adds an immediate byte of `after`. */
static void put_vex(hmi_x86 *x, vex v, int dst, int first, hmi_x86_operand rm, int after)
{
    unsigned r = dst < 8, b = !high_operand(rm);
    unsigned last = (unsigned)(~first & 15) << 3 | (unsigned)v.wide << 2 | (unsigned)v.prefix;
    if (b && v.map == MAP_0F && !v.w) {
        put(x, 0xC5);
        put(x, r << 7 | last);
    } else {
        put(x, 0xC4);
        put(x, r << 7 | 1u << 6 | b << 5 | (unsigned)v.map);
        put(x, (unsigned)v.w << 7 | last);
    }
    put(x, (unsigned)v.opcode);
    put_operand(x, dst, rm, after);
}

/* ---- vector instructions ---- */

static vex sized(const hmi_x86 *x, int opcode)
{
    return (vex){x->four ? PREFIX_66 : PREFIX_F2, MAP_0F, opcode, x->four, false};
}

void hmi_x86_arithmetic(hmi_x86 *x, int opcode, int dst, int a, hmi_x86_operand b)
{
    put_vex(x, sized(x, opcode), dst, a, b, 0);
}

void hmi_x86_fused(hmi_x86 *x, int opcode, int dst, int a, hmi_x86_operand b)
{
    put_vex(x, (vex){PREFIX_66, MAP_0F38, opcode + !x->four, x->four, true}, dst, a, b, 0);
}

void hmi_x86_shift_left(hmi_x86 *x, int dst, int a, int bits)
{
    put_vex(x, (vex){PREFIX_66, MAP_0F, 0x73, x->four, false}, 6, dst, hmi_x86_register(a), 1);
    put(x, (unsigned)bits);
}

void hmi_x86_bitwise(hmi_x86 *x, int opcode, int dst, int a, hmi_x86_operand b)
{
    put_vex(x, (vex){PREFIX_66, MAP_0F, opcode, x->four, false}, dst, a, b, 0);
}

void hmi_x86_compare(hmi_x86 *x, int predicate, int dst, int a, hmi_x86_operand b)
{
    put_vex(x, sized(x, 0xC2), dst, a, b, 1);
    put(x, (unsigned)predicate);
}

void hmi_x86_blend(hmi_x86 *x, int dst, int a, int b, int mask)
{
    put_vex(x, (vex){PREFIX_66, MAP_0F3A, 0x4B, x->four, false}, dst, a, hmi_x86_register(b), 1);
    put(x, (unsigned)mask << 4);
}

void hmi_x86_move(hmi_x86 *x, bool wide, int dst, int src)
{
    put_vex(x, (vex){PREFIX_66, MAP_0F, 0x28, wide, false}, dst, 0, hmi_x86_register(src), 0);
}

void hmi_x86_load(hmi_x86 *x, int dst, hmi_x86_operand memory)
{
    put_vex(x, sized(x, 0x10), dst, 0, memory, 0);
}

void hmi_x86_store(hmi_x86 *x, hmi_x86_operand memory, int src)
{
    put_vex(x, sized(x, 0x11), src, 0, memory, 0);
}

void hmi_x86_load_four(hmi_x86 *x, int dst, hmi_x86_operand memory)
{
    put_vex(x, (vex){PREFIX_66, MAP_0F, 0x10, true, false}, dst, 0, memory, 0);
}

void hmi_x86_store_four(hmi_x86 *x, hmi_x86_operand memory, int src)
{
    put_vex(x, (vex){PREFIX_66, MAP_0F, 0x11, true, false}, src, 0, memory, 0);
}

void hmi_x86_load_one(hmi_x86 *x, int dst, hmi_x86_operand memory)
{
    put_vex(x, (vex){PREFIX_F2, MAP_0F, 0x10, false, false}, dst, 0, memory, 0);
}

void hmi_x86_broadcast(hmi_x86 *x, int dst, hmi_x86_operand operand)
{
    put_vex(x, (vex){PREFIX_66, MAP_0F38, 0x19, true, false}, dst, 0, operand, 0);
}

void hmi_x86_pair(hmi_x86 *x, int dst, int a, hmi_x86_operand b)
{
    int opcode = b.is_register ? 0x14 : 0x16; /* VUNPCKLPD, VMOVHPD */
    put_vex(x, (vex){PREFIX_66, MAP_0F, opcode, false, false}, dst, a, b, 0);
}

void hmi_x86_join(hmi_x86 *x, int dst, int a, int b)
{
    put_vex(x, (vex){PREFIX_66, MAP_0F3A, 0x18, true, false}, dst, a, hmi_x86_register(b), 1);
    put(x, 1);
}

void hmi_x86_twice(hmi_x86 *x, int dst, hmi_x86_operand a)
{
    put_vex(x, (vex){PREFIX_F2, MAP_0F, 0x12, false, false}, dst, 0, a, 0); /* VMOVDDUP */
}

void hmi_x86_high_half(hmi_x86 *x, int dst, int a)
{
    put_vex(x, (vex){PREFIX_66, MAP_0F3A, 0x19, true, false}, a, 0, hmi_x86_register(dst), 1);
    put(x, 1); /* VEXTRACTF128 */
}

void hmi_x86_second(hmi_x86 *x, int dst, int a)
{
    put_vex(x, (vex){PREFIX_66, MAP_0F, 0x15, false, false}, dst, a, hmi_x86_register(a), 0);
}

void hmi_x86_zero_upper(hmi_x86 *x)
{
    hmi_x86_bytes(x, "\xC5\xF8\x77", 3);
}

/* ---- general instructions ---- */

static void put_rex(hmi_x86 *x, int reg, hmi_x86_operand rm)
{
    put(x, 0x48u | (unsigned)(reg >= 8) << 2 | (unsigned)high_operand(rm));
}

void hmi_x86_load_pointer(hmi_x86 *x, int dst, hmi_x86_operand memory)
{
    put_rex(x, dst, memory);
    put(x, 0x8B);
    put_operand(x, dst, memory, 0);
}

void hmi_x86_address(hmi_x86 *x, int dst, hmi_x86_operand memory)
{
    put_rex(x, dst, memory);
    put(x, 0x8D);
    put_operand(x, dst, memory, 0);
}

void hmi_x86_copy_pointer(hmi_x86 *x, int dst, int src)
{
    hmi_x86_operand from = hmi_x86_register(src);
    put_rex(x, dst, from);
    put(x, 0x8B);
    put_operand(x, dst, from, 0);
}

static void put_stack(hmi_x86 *x, unsigned opcode, int number)
{
    if (number >= 8)
        put(x, 0x41);
    put(x, opcode + ((unsigned)number & 7));
}

void hmi_x86_push(hmi_x86 *x, int number)
{
    put_stack(x, 0x50, number);
}

void hmi_x86_pop(hmi_x86 *x, int number)
{
    put_stack(x, 0x58, number);
}

void hmi_x86_and(hmi_x86 *x, int number, int8_t mask)
{
    hmi_x86_operand operand = hmi_x86_register(number);
    put_rex(x, 0, operand);
    put(x, 0x83);
    put_operand(x, 4, operand, 0);
    put(x, (uint8_t)mask);
}

static void put_address(hmi_x86 *x, uint64_t address)
{
    hmi_x86_bytes(x, "\x48\xB8", 2); /* MOV RAX, imm64 */
    put64(x, address);
}

void hmi_x86_call(hmi_x86 *x, uint64_t address)
{
    put_address(x, address);
    hmi_x86_bytes(x, "\xFF\xD0", 2);
}

void hmi_x86_call_memory(hmi_x86 *x, hmi_x86_operand pointer)
{
    put_rex(x, 0, pointer);
    put(x, 0xFF);
    put_operand(x, 2, pointer, 0);
}

void hmi_x86_jump(hmi_x86 *x, uint64_t address)
{
    put_address(x, address);
    hmi_x86_bytes(x, "\xFF\xE0", 2);
}

void hmi_x86_return(hmi_x86 *x)
{
    put(x, 0xC3);
}

static size_t jump_if(hmi_x86 *x, const char *opcode, size_t length)
{
    hmi_x86_bytes(x, opcode, length);
    put32(x, 0);
    return x->code.count;
}

size_t hmi_x86_jump_if_null(hmi_x86 *x, int number)
{
    hmi_x86_operand operand = hmi_x86_register(number);
    put(x, 0x48u | (unsigned)(number >= 8) << 2 | (unsigned)(number >= 8));
    put(x, 0x85); /* TEST */
    put_operand(x, number, operand, 0);
    return jump_if(x, "\x0F\x84", 2); /* JZ */
}

size_t hmi_x86_jump_if_all(hmi_x86 *x, int mask)
{
    put_vex(x, (vex){PREFIX_66, MAP_0F, 0x50, true, false}, HMI_RAX, 0, hmi_x86_register(mask), 0);
    hmi_x86_bytes(x, "\x83\xF8\x0F", 3); /* VMOVMSKPD; CMP EAX, 15 */
    return jump_if(x, "\x0F\x84", 2);
}

size_t hmi_x86_jump_if_exponent_below(hmi_x86 *x, int reg, unsigned exponent)
{
    put_vex(x, (vex){PREFIX_66, MAP_0F, 0x7E, false, true}, reg, 0, hmi_x86_register(HMI_RAX), 0);
    hmi_x86_bytes(x, "\x48\x01\xC0", 3);         /* VMOVQ RAX, reg; ADD RAX, RAX */
    hmi_x86_bytes(x, "\x48\xC1\xE8\x35\x3D", 5); /* SHR RAX, 53; CMP EAX, */
    put32(x, 1023 + exponent);
    return jump_if(x, "\x0F\x82", 2);
}

void hmi_x86_jump_back_if_below(hmi_x86 *x, int a, int b, size_t place)
{
    hmi_x86_operand first = hmi_x86_register(a);
    put_rex(x, b, first);
    put(x, 0x39); /* CMP */
    put_operand(x, b, first, 0);
    hmi_x86_bytes(x, "\x0F\x82", 2); /* JB */
    put32(x, (uint32_t)(place - (x->code.count + 4)));
}

size_t hmi_x86_jump_ahead(hmi_x86 *x)
{
    return jump_if(x, "\xE9", 1);
}

void hmi_x86_land(hmi_x86 *x, size_t jump)
{
    if (x->failed)
        return;
    uint32_t distance = (uint32_t)(x->code.count - jump);
    for (int i = 0; i < 4; i++)
        x->code.data[jump - 4 + (size_t)i] = (uint8_t)(distance >> (8 * i));
}
