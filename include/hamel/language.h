/* The text of models: canonical layout, and where names stand. For editors and other tools. */
#ifndef HAMEL_LANGUAGE_H
#define HAMEL_LANGUAGE_H

#include <hamel/model.h>
#include <hamel/report.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the text in canonical layout: spaces, indentation, aligned comments, no runs of empty lines. Lines
 * stay lines and tokens stay tokens, so that the model is the same; writing the result again changes
 * nothing. Diagnostics are in the context.
 *   HM_ERR_INPUT: there is something in the text that is no token; HM_ERR_IO: the writer stopped. */
HM_API HM_MUST_CHECK hm_status hm_text_format(hm_context *context, const char *name,
                                              const char *text, size_t length, hm_writer writer,
                                              void *user);

/* What a word of the text is. */
typedef enum hm_word_kind {
    HM_WORD_KIND_STATEMENT, /* a word that opens a statement: reserved */
    HM_WORD_KIND_FUNCTION,  /* of the language: sin, dot, rotx */
    HM_WORD_KIND_NAME,      /* declared in the text, or a word inside a statement */
} hm_word_kind;

typedef struct hm_word {
    size_t start, length; /* bytes */
    hm_word_kind kind;
    bool declares; /* it stands where a name is declared */
    size_t
        scope; /* 0: the whole text; else a number of the binder (function, sum, for) whose it is */
} hm_word;

/* Every word of the text, in order; the array belongs to the caller, who frees it by hm_words_free. Texts
 * with errors have words, too. */
HM_API HM_MUST_CHECK hm_status hm_text_words(hm_context *context, const char *text, size_t length,
                                             hm_word **words, size_t *count);
HM_API void hm_words_free(hm_context *context, hm_word *words, size_t count);

/* Statement words and functions of the language, for completion; NULL past the end. */
HM_API const char *hm_language_word(hm_word_kind kind, size_t index);

#ifdef __cplusplus
}
#endif
#endif
