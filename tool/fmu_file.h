/* Functional Mock-up Units as files: a zip container with description, sources and a binary. */
#ifndef HAMEL_TOOL_FMU_FILE_H
#define HAMEL_TOOL_FMU_FILE_H

#include "command.h"

/* Writes the unit (options->format FMU2 or FMU3), whole or not at all. An exit status; messages were printed.
 * The binary is made by the C compiler `cc` (or $CC); without one the unit holds sources alone, which is said. */
int fmu_file_write(const session *s, const hm_export_options *options, const char *path);
/* Is there libzip? */
extern const bool fmu_available;

#endif
