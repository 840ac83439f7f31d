/* Executable pages, and the way to machine code: see jit.h. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, MAP_POPULATE */
#include "compile/jit.h"

#include "compile/jit_emit.h"

#include <string.h>
#if defined(__x86_64__) && defined(__linux__)
#include <sys/mman.h>

/* Valgrind's client request RUNNING_ON_VALGRIND (its manual, 3.1): these instructions do nothing on a
 * processor. There the interpreter runs, since valgrind has its line numbers. */
static bool under_valgrind(void)
{
    const uint64_t request[6] = {0x1001};
    uint64_t answer = 0;
    __asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi\n\t"
                     "xchgq %%rbx, %%rbx"
                     : "+d"(answer)
                     : "a"(request), "m"(request)
                     : "cc", "memory");
    return answer != 0;
}

bool hmi_jit_available(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && !under_valgrind();
}

void hmi_jit_install(const uint8_t *bytes, size_t size, hmi_machine_code *code)
{
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (pages == MAP_FAILED)
        return;
    memcpy(pages, bytes, size);
    if (mprotect(pages, size, PROT_READ | PROT_EXEC) != 0) {
        munmap(pages, size);
        return;
    }
    code->pages = pages;
    code->size = size;
    uintptr_t entry = (uintptr_t)pages + HMI_JIT_ENTRY;
    memcpy(&code->entry, &entry, sizeof code->entry); /* C has no cast from data to functions */
}

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
    uintptr_t start = HMI_JIT_ENTRY;
    hm_status status = HM_OK;
    *code = (hmi_machine_code){0};
    memset(entries, 0, count * sizeof *entries);
    if (!hmi_jit_available())
        return HM_OK;
    for (size_t i = 0; i < count && status == HM_OK; i++) {
        status = add_function(&tapes[i], lanes, fallback, &x, &spill);
        memcpy(&entries[i], &start, sizeof start); /* to begin with, its place */
        start = (x.code.count + 63) / 64 * 64;
        most = spill > most ? spill : most;
    }
    if (status == HM_OK)
        hmi_jit_install(x.code.data, x.code.count, code);
    if (code->entry)
        code->spill_doubles = most;
    for (size_t i = 0; i < count; i++)
        place_entry(code, &entries[i]);
    hmi_array_release(tapes->allocator, &x.code);
    return status == HM_ERR_LIMIT ? HM_OK : status;
}

void hmi_jit_release(hmi_machine_code *code)
{
    if (code->pages)
        munmap(code->pages, code->size);
    *code = (hmi_machine_code){0};
}

#else

bool hmi_jit_available(void)
{
    return false;
}

hm_status hmi_jit_compile(const hmi_tape *tape, unsigned lanes, hmi_tape_function *fallback,
                          hmi_machine_code *code)
{
    (void)tape;
    (void)lanes;
    (void)fallback;
    *code = (hmi_machine_code){0};
    return HM_OK;
}

hm_status hmi_jit_compile_many(const hmi_tape *tapes, size_t count, unsigned lanes,
                               hmi_tape_function *fallback, hmi_machine_code *code,
                               hmi_tape_function **entries)
{
    (void)tapes;
    (void)lanes;
    (void)fallback;
    *code = (hmi_machine_code){0};
    memset(entries, 0, count * sizeof *entries);
    return HM_OK;
}

void hmi_jit_install(const uint8_t *bytes, size_t size, hmi_machine_code *code)
{
    (void)bytes;
    (void)size;
    (void)code;
}

void hmi_jit_release(hmi_machine_code *code)
{
    (void)code;
}

#endif
