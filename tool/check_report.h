/* What `hamel check` says, as text. */
#ifndef HAMEL_TOOL_CHECK_REPORT_H
#define HAMEL_TOOL_CHECK_REPORT_H

#include "command.h"

void print_check(const session *s, const hm_analysis *analysis);

#endif
