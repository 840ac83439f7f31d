/* Readable text of array code, for `hamel explain`. */
#ifndef HMI_COMPILE_ARRAY_DUMP_H
#define HMI_COMPILE_ARRAY_DUMP_H

#include "compile/array/array.h"
#include "compile/tape/dump.h"

/* One line for each segment: w200..w327 = w0..w127 - w1..w128. */
void hmi_array_code_dump(const hmi_array_code *code, const hmi_namer *symbols, hmi_text *text);

#endif
