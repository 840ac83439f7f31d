/* How far recursions may go: nested expressions and definitions end with a message where the stack of the thread
 * does, however small it is. Threads need 128 kB (include/hamel/base.h). */
#ifndef HMI_BASE_STACK_H
#define HMI_BASE_STACK_H

#include <stdbool.h>
#include <stdint.h>

/* What a recursion must leave of the present thread's stack; 0 where nobody knows how large it is. */
uintptr_t hmi_stack_floor(void);

static inline bool hmi_stack_is_low(uintptr_t floor)
{
    return (uintptr_t)__builtin_frame_address(0) < floor;
}

/* Half of the way from here to the floor. */
static inline uintptr_t hmi_stack_middle(uintptr_t floor)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    return floor == 0 || here < floor ? floor : floor + (here - floor) / 2;
}

#endif
