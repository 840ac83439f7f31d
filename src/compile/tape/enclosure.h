/* A tape run on intervals: bounds of its outputs and of their rates over a whole piece of a path.
 *
 * What the path is the caller says: for each symbol that the tape reads, bounds of its value and of
 * its rate on the piece. Parameters and what follows from them are numbers.
 */
#ifndef HMI_COMPILE_TAPE_ENCLOSURE_H
#define HMI_COMPILE_TAPE_ENCLOSURE_H

#include "compile/tape/interval.h"
#include "compile/tape/tape.h"

/* Bounds of one symbol on the piece. */
typedef hmi_enclosure hmi_enclose_symbol(const void *path, hmi_symbol_kind kind, uint32_t index);

/* Takes constants and values of parameters from the work vector of numbers, which hmi_tape_prepare
 * has filled in; work has tape->work_size places. */
void hmi_tape_enclose_prepare(const hmi_tape *tape, const double *numbers, hmi_enclosure *work);
/* Runs the body. The outputs are at work[output_slot]. */
void hmi_tape_enclose(const hmi_tape *tape, hmi_enclose_symbol *symbol, const void *path,
                      hmi_enclosure *work);
/* The same where the caller has put the symbols into their slots. */
void hmi_tape_enclose_body(const hmi_tape *tape, hmi_enclosure *work);

#endif
