/* Executable pages that hold machine code, whoever made it: tapes (compile/jit), jets (compile/jet).
 *
 * Invariants
 *   1. A page is written first and executable afterwards, never both (W^X).
 *   2. Where the system allows no executable page, or the processor lacks AVX2 or FMA, there is no
 *      code, `entry` stays NULL, and an interpreter runs instead: that is never an error.
 */
#ifndef HMI_COMPILE_TAPE_MACHINE_CODE_H
#define HMI_COMPILE_TAPE_MACHINE_CODE_H

#include "compile/tape/tape.h"

/* Where the code starts on its pages: before it lie its constants. */
enum { HMI_CODE_ENTRY = 768 };

/* Can this processor run the code that compile/jit and compile/jet make? */
bool hmi_machine_code_available(void);
/* Puts the bytes on executable pages; where there can be none `code` stays as it is. */
void hmi_machine_code_install(const uint8_t *bytes, size_t size, hmi_machine_code *code);
void hmi_machine_code_release(hmi_machine_code *code);

#endif
