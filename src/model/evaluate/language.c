/* What <hamel/language.h> offers: layout and words of texts. */
#include "base/argument.h"
#include "lang/layout.h"
#include "lang/parser_internal.h"
#include "lang/words.h"
#include "model/evaluate/builder.h"

#include <hamel/language.h>

#include <string.h>

/* The text as a source of the context; HMI_NO_FILE without memory. */
static uint32_t add_text(hm_context *context, const char *name, const char *text, size_t length)
{
    return hmi_context_add_source(context, name ? name : "<text>", NULL, text, length);
}

hm_status hm_text_format(hm_context *context, const char *name, const char *text, size_t length,
                         hm_writer writer, void *user)
{
    HMI_ARGUMENT(context, context && text && writer, "a text and a writer are needed");
    uint32_t file = add_text(context, name, text, length);
    if (file == HMI_NO_FILE)
        return HM_ERR_NOMEM;
    hmi_text out;
    hmi_text_init(&out, &context->allocator);
    hm_status status = hmi_layout(context, file, &out);
    if (status == HM_OK && out.length > 0 && !writer(user, hmi_text_view(&out), out.length))
        status = HM_ERR_IO;
    hmi_text_release(&out);
    return status;
}

static hm_word_kind kind_of(const char *text, const hmi_word *word)
{
    char name[64];
    if (word->opens)
        return HM_WORD_KIND_STATEMENT;
    if (word->part)
        return HM_WORD_KIND_PART;
    if (word->span.length >= sizeof name)
        return HM_WORD_KIND_NAME;
    memcpy(name, text + word->span.start, word->span.length);
    name[word->span.length] = '\0';
    return hmi_is_function(name) && !word->declares && word->scope == 0 ? HM_WORD_KIND_FUNCTION
                                                                        : HM_WORD_KIND_NAME;
}

hm_status hm_text_words(hm_context *context, const char *text, size_t length, hm_word **words,
                        size_t *count)
{
    hmi_words found = {0};
    HMI_ARGUMENT(context, context && text && words && count,
                 "a text and places for the words are needed");
    *words = NULL;
    *count = 0;
    uint32_t file = add_text(context, NULL, text, length);
    hm_status status = file == HMI_NO_FILE ? HM_ERR_NOMEM : hmi_read_words(context, file, &found);
    hm_word *list = status == HM_OK
                        ? hmi_alloc(&context->allocator, (found.count + 1) * sizeof *list)
                        : NULL;
    if (status == HM_OK && !list)
        status = HM_ERR_NOMEM;
    for (size_t i = 0; status == HM_OK && i < found.count; i++)
        list[i] = (hm_word){
            .start = found.data[i].span.start,
            .length = found.data[i].span.length,
            .kind = kind_of(hmi_context_source(context, file)->text, &found.data[i]),
            .declares = found.data[i].declares,
            .scope = found.data[i].scope,
            .space = found.data[i].space,
            .statement = found.data[i].statement == HMI_STMT_COUNT
                             ? NULL
                             : hmi_statement_word(found.data[i].statement)};
    if (status == HM_OK) {
        *words = list;
        *count = found.count;
    }
    hmi_array_release(&context->allocator, &found);
    return status;
}

void hm_words_free(hm_context *context, hm_word *words, size_t count)
{
    if (context && words)
        hmi_free(&context->allocator, words, (count + 1) * sizeof *words);
}

/* Was a part named by an earlier statement of the table, or earlier in this one? */
static bool named_before(int kind, size_t index)
{
    const char *part = hmi_statement_part((hmi_statement_kind)kind, index), *other;
    for (int k = 0; k <= kind; k++)
        for (size_t i = 0; (other = hmi_statement_part((hmi_statement_kind)k, i)); i++)
            if ((k < kind || i < index) && strcmp(part, other) == 0)
                return true;
    return false;
}

/* The parts of all statements, each once. */
static const char *part_of_any(size_t index)
{
    for (int kind = 0; kind < HMI_STMT_COUNT; kind++)
        for (size_t i = 0; hmi_statement_part((hmi_statement_kind)kind, i); i++)
            if (!named_before(kind, i) && index-- == 0)
                return hmi_statement_part((hmi_statement_kind)kind, i);
    return NULL;
}

const char *hm_language_word(hm_word_kind kind, size_t index)
{
    switch (kind) {
    case HM_WORD_KIND_STATEMENT:
        return index < HMI_STMT_COUNT ? hmi_statement_word((hmi_statement_kind)index) : NULL;
    case HM_WORD_KIND_FUNCTION:
        return hmi_function_name(index);
    case HM_WORD_KIND_PART:
        return part_of_any(index);
    default:
        return NULL;
    }
}

const char *hm_statement_part(const char *statement, size_t index)
{
    return statement
               ? hmi_statement_part(hmi_statement_kind_of(statement, strlen(statement)), index)
               : NULL;
}
