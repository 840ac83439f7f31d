/* Characters that would not be seen, or would make others look different: control characters, those that
 * change the direction of writing, those without width. Where text of a user is shown to people they appear as
 * \u{202E}; a byte that is no UTF-8 as \x9B. What terminals do with them raw is not ours to try. */
#ifndef HMI_BASE_VISIBLE_H
#define HMI_BASE_VISIBLE_H

#include "base/text.h"

/* Does the text have such characters, or bytes that are no UTF-8? */
bool hmi_text_is_hidden(const char *text, size_t length);
/* Adds the text so that all of it can be seen. */
void hmi_text_add_shown(hmi_text *out, const char *text, size_t length);
/* A copy that can be seen whole; NULL without memory. */
char *hmi_arena_shown(hmi_arena *arena, const char *text, size_t length);

#endif
