/* Options of runs that several commands have: --from, --to, --every, --rtol, --atol, --step, --method, --drift,
 * --formulation. */
#ifndef HAMEL_TOOL_RUN_OPTIONS_H
#define HAMEL_TOOL_RUN_OPTIONS_H

#include "command.h"

/* What is given on the command line takes precedence. false after a message. */
bool run_options_read(const session *s, const invocation *call, hm_run_options *options);

#endif
