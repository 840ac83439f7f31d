/* Jets of a tape in all ways that there are: called by fuzz_engine.c. */
#ifndef HAMEL_FUZZ_JETS_H
#define HAMEL_FUZZ_JETS_H

#include "compile/tape/tape.h"

/* Aborts where interpreter, vectors and machine code do not give the same bits for the coefficients of
 * the tape's outputs, for sums over pairs of them, and for what links make of them. The symbols' series
 * begin with these numbers. */
void check_jets(const hmi_tape *tape, const hmi_tape_values *values, const double *numbers,
                size_t count);

#endif
