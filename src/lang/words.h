/* The words of a text with their scopes, for editors: without a syntax tree, so that texts under way have
 * words, too. */
#ifndef HMI_LANG_WORDS_H
#define HMI_LANG_WORDS_H

#include "base/context.h"

typedef struct hmi_word {
    hmi_span span;
    bool statement; /* opens a statement */
    bool declares;
    size_t scope; /* 0: the whole text; else the number of the binder whose name it is */
} hmi_word;

typedef HMI_ARRAY(hmi_word) hmi_words;

/* Appends the words of a source, in order. Memory is the context's. HM_ERR_NOMEM. */
hm_status hmi_read_words(hm_context *context, uint32_t file, hmi_words *words);

#endif
