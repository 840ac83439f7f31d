/* Executable pages by mmap and mprotect: written first and executable afterwards, never both. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, MAP_POPULATE */
#include "compile/tape/machine_code.h"

#if defined(__x86_64__) && defined(__linux__)
#include <string.h>
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

bool hmi_machine_code_available(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && !under_valgrind();
}

void hmi_machine_code_install(const uint8_t *bytes, size_t size, hmi_machine_code *code)
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
    uintptr_t entry = (uintptr_t)pages + HMI_CODE_ENTRY;
    memcpy(&code->entry, &entry, sizeof code->entry); /* C has no cast from data to functions */
}

void hmi_machine_code_release(hmi_machine_code *code)
{
    if (code->pages)
        munmap(code->pages, code->size);
    *code = (hmi_machine_code){0};
}

#else

bool hmi_machine_code_available(void)
{
    return false;
}

void hmi_machine_code_install(const uint8_t *bytes, size_t size, hmi_machine_code *code)
{
    (void)bytes;
    (void)size;
    (void)code;
}

void hmi_machine_code_release(hmi_machine_code *code)
{
    (void)code;
}

#endif
