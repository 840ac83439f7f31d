/* FLINT and Arb are loaded with the first call of one of their functions.
 *
 * They serve `check` and the like; with NTL and the C++ library, which FLINT needs, loading them takes
 * longer than most runs of the command. The library is linked with them as usual; the command has
 * functions of the same names instead, each of which is a jump through a slot. A slot leads to the code that
 * loads the library and finds the function, and afterwards to the function itself. Arguments are left
 * alone in registers and on the stack, so that no prototypes are needed.
 *
 * For x86-64 with the System V conventions; elsewhere this file is empty and FLINT is linked. */
#include "library.h"

#if defined(HAMEL_FLINT_FILE) && defined(__x86_64__) && defined(__ELF__)

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

void *flint_call_find(const char *name);

/* The function itself, by the slot that r11 points to and the name that r10 points to. */
__asm__(".text\n"
        ".type flint_call_first, @function\n"
        "flint_call_first:\n"
        "    push %r11\n"
        "    sub $192, %rsp\n" /* aligned to 16 */
        "    mov %rax, 0(%rsp)\n"
        "    mov %rdi, 8(%rsp)\n"
        "    mov %rsi, 16(%rsp)\n"
        "    mov %rdx, 24(%rsp)\n"
        "    mov %rcx, 32(%rsp)\n"
        "    mov %r8, 40(%rsp)\n"
        "    mov %r9, 48(%rsp)\n"
        "    movups %xmm0, 64(%rsp)\n"
        "    movups %xmm1, 80(%rsp)\n"
        "    movups %xmm2, 96(%rsp)\n"
        "    movups %xmm3, 112(%rsp)\n"
        "    movups %xmm4, 128(%rsp)\n"
        "    movups %xmm5, 144(%rsp)\n"
        "    movups %xmm6, 160(%rsp)\n"
        "    movups %xmm7, 176(%rsp)\n"
        "    mov %r10, %rdi\n"
        "    call flint_call_find\n"
        "    mov %rax, %r10\n"
        "    mov 0(%rsp), %rax\n"
        "    mov 8(%rsp), %rdi\n"
        "    mov 16(%rsp), %rsi\n"
        "    mov 24(%rsp), %rdx\n"
        "    mov 32(%rsp), %rcx\n"
        "    mov 40(%rsp), %r8\n"
        "    mov 48(%rsp), %r9\n"
        "    movups 64(%rsp), %xmm0\n"
        "    movups 80(%rsp), %xmm1\n"
        "    movups 96(%rsp), %xmm2\n"
        "    movups 112(%rsp), %xmm3\n"
        "    movups 128(%rsp), %xmm4\n"
        "    movups 144(%rsp), %xmm5\n"
        "    movups 160(%rsp), %xmm6\n"
        "    movups 176(%rsp), %xmm7\n"
        "    add $192, %rsp\n"
        "    pop %r11\n"
        "    mov %r10, (%r11)\n" /* one store: threads that come here together write the same */
        "    jmp *%r10\n");

/* Targets of indirect jumps begin with endbr64, as hardened code has to. */
/* clang-format off */
#define CALL(name)                                                                                 \
    __asm__(".text\n"                                                                              \
            ".globl " #name "\n"                                                                   \
            ".type " #name ", @function\n"                                                         \
            #name ":\n"                                                                            \
            "    endbr64\n"                                                                        \
            "    jmp *flint_slot_" #name "(%rip)\n"                                                \
            "flint_first_" #name ":\n"                                                             \
            "    endbr64\n"                                                                        \
            "    lea flint_slot_" #name "(%rip), %r11\n"                                           \
            "    lea flint_name_" #name "(%rip), %r10\n"                                           \
            "    jmp flint_call_first\n"                                                           \
            ".data\n"                                                                              \
            ".balign 8\n"                                                                          \
            "flint_slot_" #name ": .quad flint_first_" #name "\n"                                  \
            ".section .rodata\n"                                                                   \
            "flint_name_" #name ": .asciz \"" #name "\"\n"                                         \
            ".text\n");
/* clang-format on */
#include "flint_calls.inc"

/* A command without a library that it was built with cannot go on. */
void *flint_call_find(const char *name)
{
    void *handle = dlopen(HAMEL_FLINT_FILE, RTLD_NOW | RTLD_LOCAL);
    void *function = handle ? dlsym(handle, name) : NULL;
    if (!function) {
        const char *why = dlerror();
        fprintf(stderr, "hamel: %s\n", why ? why : HAMEL_FLINT_FILE);
        exit(1);
    }
    return function;
}

#else

typedef int flint_is_linked;

#endif
