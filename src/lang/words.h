/* The words of a text with their scopes, for editors. Texts under way have words, too: what the parser makes
 * of a text only helps to tell names from words of statements. */
#ifndef HMI_LANG_WORDS_H
#define HMI_LANG_WORDS_H

#include "base/context.h"
#include "lang/ast.h"

#include <hamel/language.h>

typedef struct hmi_word {
    hmi_span span;
    bool opens; /* a statement */
    bool part;  /* of a statement: `at`, `every` */
    bool declares;
    size_t scope; /* 0: the whole text; else the number of the binder whose name it is */
    hm_name_space space;
    hmi_statement_kind statement; /* that it stands in; HMI_STMT_COUNT: none */
} hmi_word;

typedef HMI_ARRAY(hmi_word) hmi_words;

/* Appends the words of a source, in order. Memory is the context's. HM_ERR_NOMEM. */
hm_status hmi_read_words(hm_context *context, uint32_t file, hmi_words *words);

/* statement_parts.c: the words that are parts of a statement; NULL past the end. */
const char *hmi_statement_part(hmi_statement_kind kind, size_t index);

#endif
