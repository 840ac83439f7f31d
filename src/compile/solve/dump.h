/* Readable text of compiled solves, for `hamel explain`. */
#ifndef HMI_COMPILE_SOLVE_DUMP_H
#define HMI_COMPILE_SOLVE_DUMP_H

#include "compile/solve/block_schur.h"
#include "compile/solve/schur.h"
#include "compile/tape/dump.h"

/* In which order M and the Gram matrix are eliminated, and how full their factors are. */
void hmi_schur_dump(const hmi_schur *schur, const hmi_schur_input *input, const hmi_namer *symbols,
                    hmi_text *text);
/* Sizes, order and pattern of G, then the array code. */
void hmi_block_schur_dump(const hmi_block_schur *schur, const hmi_namer *symbols, hmi_text *text);

#endif
