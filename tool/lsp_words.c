/* The words of a document and of the files it includes: which of them are the same name. */
#include "lsp.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FILES = 200 };

bool lsp_word_is(const lsp_file *file, const hm_word *word, const char *text, size_t length)
{
    return word->length == length && memcmp(file->text.bytes + word->start, text, length) == 0;
}

/* ---- files ---- */

static bool add_words(lsp_files *files, lsp_file *file)
{
    return hm_text_words(files->context, file->text.bytes, file->text.length, &file->words,
                         &file->count) == HM_OK;
}

static bool is_known(const lsp_files *files, const char *path)
{
    for (size_t i = 0; i < files->count; i++)
        if (files->list[i].path && strcmp(files->list[i].path, path) == 0)
            return true;
    return false;
}

/* One more file; what cannot be read is left out: a diagnostic says so. */
static void add_file(const lsp_server *server, lsp_files *files, const char *path)
{
    const lsp_document *open = lsp_find_path(server, path);
    if (files->count >= MOST_FILES || is_known(files, path))
        return;
    lsp_file *grown = memory_resize(files->list, (files->count + 1) * sizeof *grown);
    if (!grown)
        return;
    files->list = grown;
    lsp_file *file = &files->list[files->count];
    *file = (lsp_file){.path = memory_copy(path),
                       .uri = open ? memory_copy(open->uri) : lsp_uri_of(path)};
    bool good = open || buffer_read(&file->loaded, path);
    file->text = open ? lsp_document_text(server, open)
                      : (lsp_text){file->loaded.bytes, file->loaded.length, server->encoding};
    files->count++;
    if (!good || !file->uri || !file->path || !add_words(files, file)) {
        free(file->uri);
        free(file->path);
        buffer_release(&file->loaded);
        files->count--;
    }
}

/* The path behind a word `include`, resolved; false where there is none. */
static bool included_path(const lsp_file *file, const hm_word *word, char resolved[PATH_MAX])
{
    char joined[2 * PATH_MAX];
    const char *text = file->text.bytes, *end = text + file->text.length;
    const char *open = memchr(text + word->start, '"', (size_t)(end - text) - word->start);
    const char *close = open ? memchr(open + 1, '"', (size_t)(end - open - 1)) : NULL;
    const char *slash = file->path ? strrchr(file->path, '/') : NULL;
    if (!close || !slash || close - open > PATH_MAX)
        return false;
    snprintf(joined, sizeof joined, "%.*s/%.*s", (int)(slash - file->path), file->path,
             (int)(close - open - 1), open + 1);
    return realpath(joined, resolved) != NULL;
}

static void add_includes(const lsp_server *server, lsp_files *files, size_t index)
{
    char resolved[PATH_MAX];
    for (size_t i = 0; i < files->list[index].count; i++) {
        const hm_word *word = &files->list[index].words[i];
        if (word->kind == HM_WORD_KIND_STATEMENT && strcmp(word->statement, "include") == 0 &&
            included_path(&files->list[index], word, resolved))
            add_file(server, files, resolved);
    }
}

bool lsp_files_open(const lsp_server *server, const lsp_document *document, lsp_files *files)
{
    *files = (lsp_files){.context = lsp_context(), .list = memory_new(1, sizeof(lsp_file))};
    bool good = files->context && files->list;
    if (good) {
        files->count = 1;
        files->list[0] = (lsp_file){.uri = memory_copy(document->uri),
                                    .path = document->path ? memory_copy(document->path) : NULL,
                                    .text = lsp_document_text(server, document)};
        good = files->list[0].uri && add_words(files, &files->list[0]);
    }
    for (size_t i = 0; good && i < files->count; i++)
        add_includes(server, files, i);
    if (!good)
        lsp_files_close(files);
    return good;
}

void lsp_files_close(lsp_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        lsp_file *file = &files->list[i];
        hm_words_free(files->context, file->words, file->count);
        buffer_release(&file->loaded);
        free(file->uri);
        free(file->path);
    }
    free(files->list);
    hm_context_destroy(files->context);
    *files = (lsp_files){0};
}

/* ---- names ---- */

const hm_word *lsp_word_at(const lsp_file *file, size_t offset)
{
    const hm_word *behind = NULL;
    for (size_t i = 0; i < file->count; i++) {
        const hm_word *word = &file->words[i];
        if (offset >= word->start && offset < word->start + word->length)
            return word;
        if (offset == word->start + word->length)
            behind = word;
    }
    return behind;
}

static bool is_declared(const lsp_files *files, hm_name_space space, const char *text,
                        size_t length)
{
    for (size_t f = 0; f < files->count; f++)
        for (size_t i = 0; i < files->list[f].count; i++) {
            const hm_word *word = &files->list[f].words[i];
            if (word->declares && word->scope == 0 && word->space == space &&
                lsp_word_is(&files->list[f], word, text, length))
                return true;
        }
    return false;
}

/* multiplier(NAME) may mean a constraint, a joint or the norm of a body. */
static hm_name_space meant_space(const lsp_files *files, size_t file, const hm_word *word)
{
    const char *text = files->list[file].text.bytes + word->start;
    if (word->declares || word->space != HM_NAME_SPACE_CONSTRAINT ||
        is_declared(files, HM_NAME_SPACE_CONSTRAINT, text, word->length))
        return word->space;
    return is_declared(files, HM_NAME_SPACE_JOINT, text, word->length)  ? HM_NAME_SPACE_JOINT
           : is_declared(files, HM_NAME_SPACE_BODY, text, word->length) ? HM_NAME_SPACE_BODY
                                                                        : word->space;
}

/* A function of the language is a name where the model has its own of that name. */
static bool may_be_name(const hm_word *word)
{
    return word->kind == HM_WORD_KIND_NAME || word->kind == HM_WORD_KIND_FUNCTION;
}

bool lsp_name_at(const lsp_files *files, size_t offset, lsp_name *name)
{
    const hm_word *word = lsp_word_at(&files->list[0], offset);
    if (!word || !may_be_name(word))
        return false;
    *name = (lsp_name){.text = files->list[0].text.bytes + word->start,
                       .length = word->length,
                       .scope = word->scope,
                       .space = meant_space(files, 0, word),
                       .word = word};
    return true;
}

bool lsp_is_name(const lsp_files *files, size_t file, const hm_word *word, const lsp_name *name)
{
    return may_be_name(word) && word->scope == name->scope &&
           (name->scope == 0 || file == name->file) &&
           lsp_word_is(&files->list[file], word, name->text, name->length) &&
           meant_space(files, file, word) == name->space;
}

const hm_word *lsp_declaration(const lsp_files *files, const lsp_name *name, size_t *file)
{
    for (size_t f = 0; f < files->count; f++)
        for (size_t i = 0; i < files->list[f].count; i++) {
            const hm_word *word = &files->list[f].words[i];
            if (word->declares && lsp_is_name(files, f, word, name)) {
                *file = f;
                return word;
            }
        }
    return NULL;
}
