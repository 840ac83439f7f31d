/* Hover, completion and layout of a document. */
#include "lsp.h"

#include <stdlib.h>
#include <string.h>

/* ---- hover ---- */

static void add_text(buffer *to, const char *text)
{
    buffer_append(to, text, strlen(text));
}

static void add_shape(buffer *to, const hm_meaning *m)
{
    char shape[64];
    if (m->rows * m->columns > 1) {
        snprintf(shape, sizeof shape, m->columns > 1 ? ", a %zux%zu matrix" : ", a vector of %zu",
                 m->rows, m->columns);
        add_text(to, shape);
    }
}

static void add_meaning(buffer *to, const char *name, const hm_meaning *m)
{
    add_text(to, "**");
    add_text(to, m->kind);
    add_text(to, "** `");
    add_text(to, name);
    add_text(to, "`");
    add_shape(to, m);
    if (m->text) {
        add_text(to, ": ");
        add_text(to, m->text);
    }
    if (m->value) {
        add_text(to, "\n\ninitially `");
        add_text(to, m->value);
        add_text(to, "`");
    }
    if (m->latex) {
        add_text(to, "\n\n```latex\n");
        add_text(to, m->latex);
        add_text(to, "\n```");
    }
}

/* What is known without a model: the statement that declares it. */
static void add_declaration(buffer *to, const lsp_files *files, const lsp_name *name)
{
    size_t file;
    const hm_word *word = lsp_declaration(files, name, &file);
    if (!word)
        return;
    add_text(to, name->scope ? "index or argument of `" : "declared by `");
    add_text(to, word->statement ? word->statement : "?");
    add_text(to, "`");
}

static void describe_word(buffer *to, const lsp_file *file, const hm_word *word)
{
    const char *what = word->kind == HM_WORD_KIND_STATEMENT  ? "statement"
                       : word->kind == HM_WORD_KIND_FUNCTION ? "function of the language"
                                                             : NULL;
    if (!what)
        return;
    add_text(to, "**");
    add_text(to, what);
    add_text(to, "** `");
    buffer_append(to, file->text.bytes + word->start, word->length);
    add_text(to, "`");
}

static void describe_name(buffer *to, const lsp_document *document, const lsp_files *files,
                          const lsp_name *name)
{
    char text[256];
    hm_meaning meaning;
    snprintf(text, sizeof text, "%.*s", (int)name->length, name->text);
    if (name->scope == 0 && document->model &&
        hm_model_meaning(files->context, document->model, name->space, text, &meaning))
        add_meaning(to, text, &meaning);
    else
        add_declaration(to, files, name);
}

json_t *lsp_hover(lsp_server *server, const json_t *params, lsp_error *error)
{
    size_t offset;
    lsp_files files;
    lsp_name name;
    buffer text = {0};
    lsp_document *document = lsp_at(server, params, &offset, error);
    if (!document)
        return NULL;
    if (!lsp_files_open(server, document, &files))
        return lsp_refuse(error, LSP_INTERNAL_ERROR, "out of memory");
    const hm_word *word = lsp_word_at(&files.list[0], offset);
    if (word && lsp_name_at(&files, offset, &name))
        describe_name(&text, document, &files, &name);
    if (word && text.length == 0)
        describe_word(&text, &files.list[0], word);
    json_t *result = json_null();
    if (word && text.length > 0)
        result = json_pack("{s:{s:s, s:s}, s:o}", "contents", "kind", "markdown", "value",
                           text.bytes, "range",
                           lsp_range(&files.list[0].text, word->start, word->start + word->length));
    buffer_release(&text);
    lsp_files_close(&files);
    return result;
}

/* ---- completion ---- */

enum { KIND_FUNCTION = 3, KIND_VARIABLE = 6, KIND_KEYWORD = 14 };

static void propose(json_t *list, const char *label, size_t length, int kind, const char *detail)
{
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item)
    {
        const char *known = json_string_value(json_object_get(item, "label"));
        if (known && strlen(known) == length && memcmp(known, label, length) == 0)
            return;
    }
    json_array_append_new(list, json_pack("{s:o, s:i, s:s}", "label", json_stringn(label, length),
                                          "kind", kind, "detail", detail));
}

/* What stands at a byte if `text` is written there in place of the word under way. */
static bool word_if(const lsp_files *files, size_t offset, const char *text, size_t length,
                    hm_word *found)
{
    const lsp_file *file = &files->list[0];
    const hm_word *now = lsp_word_at(file, offset);
    size_t start = now ? now->start : offset, end = now ? now->start + now->length : offset;
    buffer with = {0};
    hm_word *words = NULL;
    size_t count = 0;
    bool good = buffer_append(&with, file->text.bytes, start) &&
                buffer_append(&with, text, length) &&
                buffer_append(&with, file->text.bytes + end, file->text.length - end) &&
                hm_text_words(files->context, with.bytes, with.length, &words, &count) == HM_OK;
    bool there = false;
    for (size_t i = 0; good && i < count && !there; i++)
        if (words[i].start == start) {
            *found = words[i];
            there = true;
        }
    hm_words_free(files->context, words, count);
    buffer_release(&with);
    return there;
}

static void propose_words(json_t *list, hm_word_kind kind, int shown, const char *detail)
{
    const char *word;
    for (size_t i = 0; (word = hm_language_word(kind, i)); i++)
        propose(list, word, strlen(word), shown, detail);
}

/* Indices and arguments that are visible here: those that would belong to their binder. */
static void propose_bound(json_t *list, const lsp_files *files, size_t offset)
{
    const lsp_file *file = &files->list[0];
    for (size_t i = 0, tried = 0; i < file->count && tried < 40; i++) {
        const hm_word *word = &file->words[i];
        hm_word here;
        if (!word->declares || word->scope == 0 || word->start >= offset)
            continue;
        tried++;
        if (word_if(files, offset, file->text.bytes + word->start, word->length, &here) &&
            here.scope == word->scope)
            propose(list, file->text.bytes + word->start, word->length, KIND_VARIABLE,
                    "index or argument");
    }
}

static void propose_names(json_t *list, const lsp_files *files, hm_name_space space)
{
    for (size_t f = 0; f < files->count; f++)
        for (size_t i = 0; i < files->list[f].count; i++) {
            const hm_word *word = &files->list[f].words[i];
            if (word->declares && word->scope == 0 && word->space == space && word->statement)
                propose(list, files->list[f].text.bytes + word->start, word->length, KIND_VARIABLE,
                        word->statement);
        }
}

/* Also those that no statement names: NAME_x of a free body. */
static void propose_coordinates(json_t *list, const hm_model *model)
{
    for (size_t i = 0; i < hm_model_coordinate_count(model) && i < 500; i++) {
        const char *name = hm_model_coordinate_name(model, i);
        propose(list, name, strcspn(name, "["), KIND_VARIABLE, "coord");
    }
}

static void propose_inside(json_t *list, const lsp_document *document, const lsp_files *files,
                           size_t offset, const hm_word *here)
{
    const char *part;
    for (size_t i = 0; (part = hm_statement_part(here->statement, i)); i++)
        propose(list, part, strlen(part), KIND_KEYWORD, here->statement);
    propose_names(list, files, here->space);
    if (here->space == HM_NAME_SPACE_CONSTRAINT)
        propose_names(list, files, HM_NAME_SPACE_JOINT);
    if (here->space != HM_NAME_SPACE_VARIABLE)
        return;
    propose_bound(list, files, offset);
    if (document->model)
        propose_coordinates(list, document->model);
    propose_words(list, HM_WORD_KIND_FUNCTION, KIND_FUNCTION, "function");
    propose(list, "pi", 2, KIND_VARIABLE, "constant");
    propose(list, "t", 1, KIND_VARIABLE, "time");
}

json_t *lsp_completion(lsp_server *server, const json_t *params, lsp_error *error)
{
    size_t offset;
    lsp_files files;
    hm_word here = {0};
    lsp_document *document = lsp_at(server, params, &offset, error);
    if (!document)
        return NULL;
    if (!lsp_files_open(server, document, &files))
        return lsp_refuse(error, LSP_INTERNAL_ERROR, "out of memory");
    json_t *list = json_array();
    if (word_if(&files, offset, "zz", 2, &here) && !here.declares) {
        if (here.statement)
            propose_inside(list, document, &files, offset, &here);
        else
            propose_words(list, HM_WORD_KIND_STATEMENT, KIND_KEYWORD, "statement");
    }
    lsp_files_close(&files);
    return list;
}

/* ---- layout ---- */

/* Line ends as the document has them. */
static bool restore_line_ends(const lsp_document *document, buffer *text)
{
    const char *first = memchr(document->text.bytes, '\n', document->text.length);
    buffer fresh = {0};
    if (!first || first == document->text.bytes || first[-1] != '\r')
        return true;
    bool good = buffer_append(&fresh, "", 0);
    for (size_t i = 0; i < text->length && good; i++)
        good = text->bytes[i] == '\n' ? buffer_append(&fresh, "\r\n", 2)
                                      : buffer_append(&fresh, &text->bytes[i], 1);
    buffer_release(text);
    *text = fresh;
    return good;
}

json_t *lsp_formatting(lsp_server *server, const json_t *params, lsp_error *error)
{
    lsp_document *document = lsp_at(server, params, NULL, error);
    if (!document)
        return NULL;
    hm_context *context = lsp_context();
    buffer out = {0};
    lsp_text text = lsp_document_text(server, document);
    hm_status status = context ? hm_text_format(context, document->uri, text.bytes, text.length,
                                                buffer_append, &out)
                               : HM_ERR_NOMEM;
    json_t *result = NULL;
    if (status == HM_ERR_INPUT)
        lsp_refuse(error, LSP_REQUEST_FAILED, "a text with errors is left as it is");
    else if (status != HM_OK || !buffer_append(&out, "", 0) || !restore_line_ends(document, &out))
        lsp_refuse(error, LSP_INTERNAL_ERROR, "%s", hm_status_text(status));
    else if (out.length == text.length && memcmp(out.bytes, text.bytes, out.length) == 0)
        result = json_array();
    else
        result = json_pack("[{s:o, s:s}]", "range", lsp_range(&text, 0, text.length), "newText",
                           out.bytes);
    buffer_release(&out);
    hm_context_destroy(context);
    return result;
}
