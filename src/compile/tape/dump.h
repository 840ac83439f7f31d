/* Readable text of tapes and of operations, for `hamel explain` and for debuggers. */
#ifndef HMI_COMPILE_TAPE_DUMP_H
#define HMI_COMPILE_TAPE_DUMP_H

#include "compile/tape/tape.h"
#include "expr/print/print.h"

/* What symbols and outputs are called. */
typedef struct hmi_dump_names {
    hmi_namer symbols;
    void (*output)(const void *user, size_t k, hmi_text *text); /* NULL: outputs have no names */
    const void *user;
} hmi_dump_names;

/* theta', reaction(x), ...: the name of a symbol as people write it. */
void hmi_dump_symbol(const hmi_namer *namer, hmi_symbol_kind kind, uint32_t index, hmi_text *text);
/* One line for each group of inputs, with their places. */
void hmi_dump_inputs(const hmi_namer *namer, const hmi_tape_input *inputs, size_t count,
                     hmi_text *text);
/* "a*b + c" for the operation of a tape. */
void hmi_dump_operation(uint32_t op, const char *a, const char *b, const char *c, hmi_text *text);

/* Places, prologue, body: inputs by name, constants by value, other places as w17. */
void hmi_tape_dump(const hmi_tape *tape, const char *title, const hmi_dump_names *names,
                   hmi_text *text);

#endif
