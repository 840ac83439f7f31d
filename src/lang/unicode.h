/* Which characters are letters. */
#ifndef HMI_LANG_UNICODE_H
#define HMI_LANG_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* May it start a name / stand inside a name? */
bool hmi_is_letter(uint32_t character);
bool hmi_is_name_part(uint32_t character);

/* What a person who typed this typographic character meant: "-" for U+2212; NULL where unknown. */
const char *hmi_ascii_for(uint32_t character);

#endif
