/* Invariants that run: every object that a stage hands on has a function hmi_..._verify, which
 * returns NULL where the object is as its header promises, and else a sentence about the first
 * violation. HMI_VERIFY calls it at the border of a stage, in debug and sanitized builds only; the
 * fuzzers and the unit tests call the functions themselves.
 *
 *     HMI_VERIFY(hmi_tape_verify(tape, &(hmi_violation){0}));
 */
#ifndef HMI_BASE_VERIFY_H
#define HMI_BASE_VERIFY_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Room for the sentence, so that nothing has to be allocated for it. */
typedef struct hmi_violation {
    char text[200];
} hmi_violation;

/* Writes the sentence and returns it: return hmi_violated(violation, "...", ...). */
__attribute__((format(printf, 2, 3))) static inline const char *hmi_violated(
    hmi_violation *violation, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(violation->text, sizeof violation->text, format, args);
    va_end(args);
    return violation->text;
}

/* A violation is a defect of ours, so that the program ends here, as with assert. */
#if !defined NDEBUG || defined HAMEL_SANITIZE
#define HMI_VERIFY(call)                                                                           \
    do {                                                                                           \
        const char *hmi_verify_message = (call);                                                   \
        if (hmi_verify_message) {                                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hmi_verify_message);                \
            abort();                                                                               \
        }                                                                                          \
    } while (0)
#else
#define HMI_VERIFY(call) ((void)0)
#endif

#endif
