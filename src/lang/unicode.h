/* UTF-8 and which characters are letters. */
#ifndef HMI_LANG_UNICODE_H
#define HMI_LANG_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes one character of text[0..length), length > 0. Returns its bytes, 0 where the bytes are
 * not valid UTF-8 (overlong forms and surrogates included). */
int hmi_utf8_decode(const char *text, size_t length, uint32_t *character);

/* May it start a name / stand inside a name? */
bool hmi_is_letter(uint32_t character);
bool hmi_is_name_part(uint32_t character);

/* What a person who typed this typographic character meant: "-" for U+2212; NULL where unknown. */
const char *hmi_ascii_for(uint32_t character);

#endif
