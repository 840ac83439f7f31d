/* The canonical layout of a text (`hamel format`). */
#ifndef HMI_LANG_LAYOUT_H
#define HMI_LANG_LAYOUT_H

#include "base/context.h"

/* Appends the text of a source of the context in canonical layout. HM_ERR_INPUT: it has something that is no
 * token, and the context says so. */
hm_status hmi_layout(hm_context *context, uint32_t file, hmi_text *out);

#endif
