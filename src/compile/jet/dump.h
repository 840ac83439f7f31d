/* Readable text of jets, for `hamel explain`. */
#ifndef HMI_COMPILE_JET_DUMP_H
#define HMI_COMPILE_JET_DUMP_H

#include "compile/jet/jet.h"
#include "compile/tape/dump.h"

/* Order 0, and what special paths were taken. Rows are symbols by name, 0, 1, 2, -1 by value, and
 * others as r17. */
void hmi_jet_dump(const hmi_jet *jet, const hmi_namer *symbols, hmi_text *text);
/* The recurrences of a segment. */
void hmi_jet_segment_dump(const hmi_jet *jet, const hmi_jet_segment *segment, const char *title,
                          const hmi_namer *symbols, hmi_text *text);

#endif
