/* Where the stack of a thread ends. Verified: test/fault/stacks.sh */
#define _GNU_SOURCE
#include "base/stack.h"

#include <pthread.h>
#include <stddef.h>

/* For what is done at the bottom: messages are formatted, expressions differentiated. */
enum { RESERVE = 48 << 10 };

uintptr_t hmi_stack_floor(void)
{
#ifdef __GLIBC__
    pthread_attr_t attributes;
    void *lowest = NULL;
    size_t size = 0, guard = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return 0;
    bool known = pthread_attr_getstack(&attributes, &lowest, &size) == 0 &&
                 pthread_attr_getguardsize(&attributes, &guard) == 0;
    pthread_attr_destroy(&attributes);
    return known ? (uintptr_t)lowest + guard + (size > 2 * RESERVE ? RESERVE : size / 2) : 0;
#else
    return 0;
#endif
}
