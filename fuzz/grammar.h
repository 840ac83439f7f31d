/* Bytes -> a valid model: a grammar that writes all statements of the language. */
#ifndef HAMEL_FUZZ_GRAMMAR_H
#define HAMEL_FUZZ_GRAMMAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct grammar {
    const uint8_t *bytes; /* what choices are made from; zeros when they are used up */
    size_t size;
    char *text; /* ends with NUL */
    size_t length, room;
    int coordinates; /* of the family q */
    int lets, events, outputs, constraints, bodies;
    bool states, inputs, contacts, space;
    int depth;
} grammar;

/* Writes a model into `text` of `room` bytes; false where it was too small. */
bool grammar_write(grammar *g, const uint8_t *bytes, size_t size, char *text, size_t room);
uint32_t grammar_choice(grammar *g, uint32_t count);

#endif
