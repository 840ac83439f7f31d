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
    HM_WORD_KIND_NAME,      /* declared in the text or elsewhere; pi, t and energy, too */
    HM_WORD_KIND_PART,      /* of a statement: `at`, `every`, `gain`, where it stands as such */
} hm_word_kind;

/* What a name names. Names of different spaces may be the same. */
typedef enum hm_name_space {
    HM_NAME_SPACE_VARIABLE,   /* parameter, coordinate, let, input, state, table; index, argument */
    HM_NAME_SPACE_CONSTRAINT, /* a reference may mean a row of a joint or of a body, too */
    HM_NAME_SPACE_SERVO,
    HM_NAME_SPACE_BODY,
    HM_NAME_SPACE_JOINT,
    HM_NAME_SPACE_EVENT,
    HM_NAME_SPACE_OUTPUT,
    HM_NAME_SPACE_SYMMETRY,
    HM_NAME_SPACE_FRICTION,
    HM_NAME_SPACE_MODEL
} hm_name_space;

typedef struct hm_word {
    size_t start, length; /* bytes */
    hm_word_kind kind;
    bool declares; /* it stands where a name is declared */
    size_t
        scope; /* 0: the whole text; else a number of the binder (function, sum, for) whose it is */
    hm_name_space space;
    const char *statement; /* the word that opened the statement it stands in; NULL: none did */
} hm_word;

/* Every word of the text, in order; the array belongs to the caller, who frees it by hm_words_free. Texts
 * with errors have words, too; what `include` names is not read. */
HM_API HM_MUST_CHECK hm_status hm_text_words(hm_context *context, const char *text, size_t length,
                                             hm_word **words, size_t *count);
HM_API void hm_words_free(hm_context *context, hm_word *words, size_t count);

/* Words of the language, for completion and colours: those that open statements, functions, parts of any
 * statement; NULL past the end. */
HM_API const char *hm_language_word(hm_word_kind kind, size_t index);
/* Parts of one statement, as `every` of simulate; NULL past the end, and where there is no such one. */
HM_API const char *hm_statement_part(const char *statement, size_t index);

/* What a name means. Texts belong to the context of the call. */
typedef struct hm_meaning {
    const char *kind; /* "parameter", "named expression", "linear constraint on the velocities" */
    size_t rows, columns; /* of its value; 1 and 1: a number; 0: it has none */
    const char *text;     /* what was written for people, "spring (N/m)"; or NULL */
    const char *value; /* at the initial state as written, "[1, 0.5]"; NULL where there is none */
    const char *latex; /* its definition, "b = 2 a"; NULL where it is too long */
} hm_meaning;
/* Of a model that was read with hm_model_options.names. False: there is no such name. */
HM_API bool hm_model_meaning(hm_context *context, const hm_model *model, hm_name_space space,
                             const char *name, hm_meaning *meaning);
/* Do two models say the same, but for their names and texts? They are compared as written: the answer "no"
 * may mean that one says it in another order. */
HM_API bool hm_model_same(const hm_model *a, const hm_model *b);

#ifdef __cplusplus
}
#endif
#endif
