/* Files that a command writes, by options that are marked as outputs in its table: they must be
 * possible, and be neither what the command reads nor what it writes elsewhere. */
#ifndef HAMEL_TOOL_OUTPUT_FILE_H
#define HAMEL_TOOL_OUTPUT_FILE_H

#include "command.h"

/* All outputs of the call against each other and against the inputs that its arguments name. An exit
 * status; a message was printed where it is not EXIT_DONE. */
int outputs_check(const invocation *call);
/* The same for an output that no option named. */
int output_check(const invocation *call, const char *path);
/* The outputs against the files that reading the model opened: what it includes, too. */
int outputs_spare_sources(const invocation *call, const hm_context *context);

#endif
