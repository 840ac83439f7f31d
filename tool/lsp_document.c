/* Documents that are open in the editor: their texts, and the changes of these. */
#include "lsp.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

json_t *lsp_refuse(lsp_error *error, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    error->code = code;
    vsnprintf(error->message, sizeof error->message, format, args);
    va_end(args);
    return NULL;
}

lsp_text lsp_document_text(const lsp_server *server, const lsp_document *document)
{
    return (lsp_text){document->text.bytes, document->text.length, server->encoding};
}

lsp_document *lsp_find_document(const lsp_server *server, const char *uri)
{
    for (lsp_document *d = server->documents; d; d = d->next)
        if (strcmp(d->uri, uri) == 0)
            return d;
    return NULL;
}

lsp_document *lsp_find_path(const lsp_server *server, const char *path)
{
    for (lsp_document *d = server->documents; d; d = d->next)
        if (d->path && strcmp(d->path, path) == 0)
            return d;
    return NULL;
}

static const char *uri_in(const json_t *params)
{
    return json_string_value(json_object_get(json_object_get(params, "textDocument"), "uri"));
}

lsp_document *lsp_at(const lsp_server *server, const json_t *params, size_t *offset,
                     lsp_error *error)
{
    const char *uri = uri_in(params);
    lsp_document *document = uri ? lsp_find_document(server, uri) : NULL;
    lsp_text text = document ? lsp_document_text(server, document) : (lsp_text){0};
    if (!document)
        lsp_refuse(error, LSP_INVALID_PARAMS, "the document is not open");
    else if (offset && !lsp_offset(&text, json_object_get(params, "position"), offset))
        lsp_refuse(error, LSP_INVALID_PARAMS, "the position needs a line and a character");
    else
        return document;
    return NULL;
}

/* ---- opening and closing ---- */

static void free_document(lsp_document *d)
{
    lsp_end_child(d);
    hm_model_destroy(d->model);
    hm_context_destroy(d->context);
    json_decref(d->found);
    buffer_release(&d->text);
    buffer_release(&d->said);
    free(d->path);
    free(d->uri);
    free(d);
}

/* As the library names it: without links and detours. */
static char *resolved_path(const char *uri)
{
    char resolved[PATH_MAX];
    char *path = lsp_path_of(uri);
    if (!path || !realpath(path, resolved))
        return path;
    free(path);
    return memory_copy(resolved);
}

static lsp_document *new_document(lsp_server *server, const char *uri)
{
    lsp_document *d = memory_new(1, sizeof *d);
    if (!d)
        return NULL;
    d->uri = memory_copy(uri);
    d->path = resolved_path(uri);
    d->found = json_object();
    if (!d->uri || !d->found || !buffer_append(&d->text, "", 0)) {
        free_document(d);
        return NULL;
    }
    d->next = server->documents;
    server->documents = d;
    return d;
}

static bool set_text(lsp_document *d, const json_t *text)
{
    d->text.length = 0;
    return json_is_string(text) &&
           buffer_append(&d->text, json_string_value(text), json_string_length(text));
}

void lsp_did_open(lsp_server *server, const json_t *params)
{
    const json_t *item = json_object_get(params, "textDocument");
    const char *uri = uri_in(params);
    lsp_document *d = uri ? lsp_find_document(server, uri) : NULL;
    if (!d && uri)
        d = new_document(server, uri);
    if (!d || !set_text(d, json_object_get(item, "text")))
        return;
    d->version = json_integer_value(json_object_get(item, "version"));
    lsp_check(server, d);
}

void lsp_did_close(lsp_server *server, const json_t *params)
{
    const char *uri = uri_in(params);
    for (lsp_document **link = &server->documents; uri && *link; link = &(*link)->next) {
        lsp_document *d = *link;
        if (strcmp(d->uri, uri) != 0)
            continue;
        lsp_end_child(d);
        lsp_withdraw(server, d);
        *link = d->next;
        free_document(d);
        return;
    }
}

void lsp_release_documents(lsp_server *server)
{
    while (server->documents) {
        lsp_document *d = server->documents;
        server->documents = d->next;
        free_document(d);
    }
}

/* ---- changes ---- */

/* Puts `text` in place of the bytes from start to end. */
static bool splice(lsp_document *d, size_t start, size_t end, const char *text, size_t length)
{
    buffer fresh = {0};
    bool good = buffer_append(&fresh, d->text.bytes, start) &&
                buffer_append(&fresh, text, length) &&
                buffer_append(&fresh, d->text.bytes + end, d->text.length - end);
    buffer *old = good ? &d->text : &fresh;
    buffer_release(old);
    if (good)
        d->text = fresh;
    return good;
}

static bool apply_change(const lsp_server *server, lsp_document *d, const json_t *change)
{
    const json_t *range = json_object_get(change, "range"), *text = json_object_get(change, "text");
    lsp_text now = lsp_document_text(server, d);
    size_t start, end;
    if (!range)
        return set_text(d, text);
    if (!json_is_string(text) || !lsp_offset(&now, json_object_get(range, "start"), &start) ||
        !lsp_offset(&now, json_object_get(range, "end"), &end) || end < start)
        return false;
    return splice(d, start, end, json_string_value(text), json_string_length(text));
}

void lsp_did_change(lsp_server *server, const json_t *params)
{
    const json_t *changes = json_object_get(params, "contentChanges"), *change;
    const char *uri = uri_in(params);
    lsp_document *d = uri ? lsp_find_document(server, uri) : NULL;
    size_t i;
    if (!d)
        return;
    json_array_foreach(changes, i, change) if (!apply_change(server, d, change))
        say("hamel lsp: a change of %s cannot be read\n", uri);
    const json_t *item = json_object_get(params, "textDocument");
    d->version = json_integer_value(json_object_get(item, "version"));
    lsp_check(server, d);
}

/* What was saved may be included by others. */
void lsp_did_save(lsp_server *server, const json_t *params)
{
    const char *uri = uri_in(params);
    for (lsp_document *d = server->documents; d; d = d->next)
        if (uri && strcmp(d->uri, uri) != 0)
            lsp_check(server, d);
}
