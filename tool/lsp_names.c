/* Requests about names: where they are declared and used, renaming, the outline of a document. */
#include "lsp.h"

#include <stdlib.h>
#include <string.h>

static json_t *location(const lsp_file *file, const hm_word *word)
{
    return json_pack("{s:s, s:o}", "uri", file->uri, "range",
                     lsp_range(&file->text, word->start, word->start + word->length));
}

/* The files and the name that a request is about; NULL in files.list: there is none. */
static bool open_name(lsp_server *server, const json_t *params, lsp_error *error, lsp_files *files,
                      lsp_name *name)
{
    size_t offset;
    lsp_document *document = lsp_at(server, params, &offset, error);
    *files = (lsp_files){0};
    if (!document)
        return false;
    if (!lsp_files_open(server, document, files)) {
        lsp_refuse(error, LSP_INTERNAL_ERROR, "out of memory");
        return false;
    }
    return lsp_name_at(files, offset, name);
}

static json_t *null_unless(const lsp_error *error)
{
    return error->code ? NULL : json_null();
}

json_t *lsp_definition(lsp_server *server, const json_t *params, lsp_error *error)
{
    lsp_files files;
    lsp_name name;
    size_t file = 0;
    bool found = open_name(server, params, error, &files, &name);
    const hm_word *word = found ? lsp_declaration(&files, &name, &file) : NULL;
    json_t *result = word ? location(&files.list[file], word) : null_unless(error);
    lsp_files_close(&files);
    return result;
}

json_t *lsp_references(lsp_server *server, const json_t *params, lsp_error *error)
{
    lsp_files files;
    lsp_name name;
    bool declared = json_is_true(
        json_object_get(json_object_get(params, "context"), "includeDeclaration"));
    if (!open_name(server, params, error, &files, &name)) {
        lsp_files_close(&files);
        return null_unless(error);
    }
    json_t *list = json_array();
    for (size_t f = 0; f < files.count; f++)
        for (size_t i = 0; i < files.list[f].count; i++) {
            const hm_word *word = &files.list[f].words[i];
            if (lsp_is_name(&files, f, word, &name) && (declared || !word->declares))
                json_array_append_new(list, location(&files.list[f], word));
        }
    lsp_files_close(&files);
    return list;
}

/* ---- renaming ---- */

/* Coordinates that a free body declares: NAME_x. The part behind the name, or NULL. */
static const char *free_suffix(const lsp_file *file, const hm_word *word, const lsp_name *name)
{
    static const char *const suffixes[] = {"_x", "_y", "_z", "_e0", "_e1", "_e2", "_e3", "_a"};
    const char *text = file->text.bytes + word->start;
    if (name->space != HM_NAME_SPACE_BODY || word->kind != HM_WORD_KIND_NAME || word->declares ||
        word->scope != 0 || word->length <= name->length ||
        memcmp(text, name->text, name->length) != 0)
        return NULL;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (strlen(suffixes[i]) == word->length - name->length &&
            memcmp(text + name->length, suffixes[i], strlen(suffixes[i])) == 0)
            return suffixes[i];
    return NULL;
}

/* Edits of one file, and its text with them. */
static bool edit_file(const lsp_files *files, size_t f, const lsp_name *name, const char *fresh,
                      json_t *edits, buffer *text)
{
    const lsp_file *file = &files->list[f];
    size_t at = 0;
    bool good = true;
    for (size_t i = 0; i < file->count && good; i++) {
        const hm_word *word = &file->words[i];
        if (!lsp_is_name(files, f, word, name) && !free_suffix(file, word, name))
            continue;
        size_t end = word->start + name->length;
        json_array_append_new(edits, json_pack("{s:o, s:s}", "range",
                                               lsp_range(&file->text, word->start, end), "newText",
                                               fresh));
        good = buffer_append(text, file->text.bytes + at, word->start - at) &&
               buffer_append(text, fresh, strlen(fresh));
        at = end;
    }
    return good && buffer_append(text, file->text.bytes + at, file->text.length - at);
}

/* Reads the model as it would be; refuses what would be another one. */
static bool keeps_meaning(lsp_server *server, lsp_document *document, const lsp_files *files,
                          const buffer *texts, const char *fresh, lsp_error *error)
{
    hm_context *context = lsp_context(), *other = lsp_context();
    hm_model *before = NULL, *after = NULL;
    hm_open_text *open = memory_new(files->count, sizeof *open);
    for (size_t f = 1; open && f < files->count; f++)
        open[f - 1] = (hm_open_text){files->list[f].path, texts[f].bytes, texts[f].length};
    lsp_text now = lsp_document_text(server, document);
    lsp_text then = {texts[0].bytes, texts[0].length, server->encoding};
    if (!context || !other || !open)
        lsp_refuse(error, LSP_INTERNAL_ERROR, "out of memory");
    else if (lsp_read_model(server, document, context, now, NULL, 0, false, &before) != HM_OK)
        lsp_refuse(error, LSP_REQUEST_FAILED,
                   "the model has errors: names can be changed when it has none");
    else if (lsp_read_model(server, document, other, then, open, files->count - 1, false, &after) !=
             HM_OK) {
        const hm_diagnostic *d = hm_context_diagnostic(other, 0);
        lsp_refuse(error, LSP_REQUEST_FAILED, "'%s' cannot be the name: %s", fresh,
                   d ? d->message : "the model could not be read");
    } else if (!hm_model_same(before, after))
        lsp_refuse(error, LSP_REQUEST_FAILED,
                   "with the name '%s' the model would mean another thing", fresh);
    hm_model_destroy(before);
    hm_model_destroy(after);
    hm_context_destroy(context);
    hm_context_destroy(other);
    free(open);
    return error->code == 0;
}

/* Is it one name of the language? */
static bool check_fresh(const lsp_files *files, const char *fresh, lsp_error *error)
{
    hm_word *words = NULL;
    size_t count = 0, length = strlen(fresh);
    if (hm_text_words(files->context, fresh, length, &words, &count) != HM_OK)
        lsp_refuse(error, LSP_INTERNAL_ERROR, "out of memory");
    else if (count != 1 || words[0].start != 0 || words[0].length != length)
        lsp_refuse(error, LSP_REQUEST_FAILED,
                   "'%s' is not a name: letters, digits and _, not a digit first", fresh);
    else if (words[0].kind == HM_WORD_KIND_STATEMENT)
        lsp_refuse(error, LSP_REQUEST_FAILED, "'%s' is a reserved word", fresh);
    hm_words_free(files->context, words, count);
    return error->code == 0;
}

static json_t *rename_in(lsp_server *server, const json_t *params, const lsp_files *files,
                         const lsp_name *name, const char *fresh, lsp_error *error)
{
    json_t *changes = json_object();
    buffer *texts = memory_new(files->count, sizeof *texts);
    bool good = texts && check_fresh(files, fresh, error);
    for (size_t f = 0; good && f < files->count; f++) {
        json_t *edits = json_array();
        good = edit_file(files, f, name, fresh, edits, &texts[f]);
        if (json_array_size(edits) > 0)
            json_object_set(changes, files->list[f].uri, edits);
        json_decref(edits);
    }
    good = good &&
           keeps_meaning(server, lsp_at(server, params, NULL, error), files, texts, fresh, error);
    for (size_t f = 0; texts && f < files->count; f++)
        buffer_release(&texts[f]);
    free(texts);
    if (good)
        return json_pack("{s:o}", "changes", changes);
    json_decref(changes);
    return error->code ? NULL : lsp_refuse(error, LSP_INTERNAL_ERROR, "out of memory");
}

/* Can the name be changed here? Refuses what is declared nowhere, as t and the functions are. */
static bool open_declared(lsp_server *server, const json_t *params, lsp_error *error,
                          lsp_files *files, lsp_name *name)
{
    size_t file;
    bool found = open_name(server, params, error, files, name);
    if (error->code)
        return false;
    if (!found)
        lsp_refuse(error, LSP_REQUEST_FAILED, "there is no name here");
    else if (!lsp_declaration(files, name, &file))
        lsp_refuse(error, LSP_REQUEST_FAILED, "'%.*s' is not declared by a statement",
                   (int)name->length, name->text);
    return error->code == 0;
}

json_t *lsp_prepare_rename(lsp_server *server, const json_t *params, lsp_error *error)
{
    lsp_files files;
    lsp_name name;
    json_t *result = NULL;
    if (open_declared(server, params, error, &files, &name))
        result = lsp_range(&files.list[0].text, name.word->start, name.word->start + name.length);
    lsp_files_close(&files);
    return result;
}

json_t *lsp_rename(lsp_server *server, const json_t *params, lsp_error *error)
{
    lsp_files files;
    lsp_name name;
    const char *fresh = json_string_value(json_object_get(params, "newName"));
    json_t *result = NULL;
    if (!fresh)
        return lsp_refuse(error, LSP_INVALID_PARAMS, "newName is missing");
    if (open_declared(server, params, error, &files, &name))
        result = rename_in(server, params, &files, &name, fresh, error);
    lsp_files_close(&files);
    memory_forget();
    return result;
}

/* ---- the outline ---- */

static int symbol_kind(const hm_word *word)
{
    enum {
        MODULE = 2,
        PROPERTY = 7,
        FIELD = 8,
        FUNCTION = 12,
        VARIABLE = 13,
        CONSTANT = 14,
        OBJECT = 19,
        EVENT = 24
    };
    switch (word->space) {
    case HM_NAME_SPACE_MODEL:
        return MODULE;
    case HM_NAME_SPACE_BODY:
    case HM_NAME_SPACE_JOINT:
        return OBJECT;
    case HM_NAME_SPACE_EVENT:
        return EVENT;
    case HM_NAME_SPACE_OUTPUT:
        return FIELD;
    case HM_NAME_SPACE_VARIABLE:
        return strcmp(word->statement, "param") == 0   ? CONSTANT
               : strcmp(word->statement, "table") == 0 ? FUNCTION
                                                       : VARIABLE;
    default:
        return PROPERTY;
    }
}

json_t *lsp_symbols(lsp_server *server, const json_t *params, lsp_error *error)
{
    lsp_files files;
    lsp_document *document = lsp_at(server, params, NULL, error);
    if (!document)
        return NULL;
    if (!lsp_files_open(server, document, &files))
        return lsp_refuse(error, LSP_INTERNAL_ERROR, "out of memory");
    json_t *list = json_array();
    const lsp_file *file = &files.list[0];
    for (size_t i = 0; i < file->count; i++) {
        const hm_word *word = &file->words[i];
        if (!word->declares || word->scope != 0 || !word->statement)
            continue;
        size_t end = word->start + word->length;
        json_array_append_new(
            list, json_pack("{s:o, s:s, s:i, s:o, s:o}", "name",
                            json_stringn(file->text.bytes + word->start, word->length), "detail",
                            word->statement, "kind", symbol_kind(word), "range",
                            lsp_range(&file->text, word->start, end), "selectionRange",
                            lsp_range(&file->text, word->start, end)));
    }
    lsp_files_close(&files);
    return list;
}
