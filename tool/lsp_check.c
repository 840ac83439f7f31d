/* Diagnostics of a document: those of reading it at once, and those of its derivation and of its initial
 * state from a child, which the next change ends.
 *
 * A document says something about itself and about the files it includes; what is published for a file is
 * what all open documents say about it. */
#include "lsp.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

hm_context *lsp_context(void)
{
    hm_context *context = hm_context_create(memory_allocator());
    hm_limits limits = hm_limits_default();
    limits.memory = memory_limit_now();
    if (context)
        (void)hm_context_set_limits(context, &limits);
    return context;
}

/* ---- reading ---- */

hm_status lsp_read_model(const lsp_server *server, const lsp_document *document,
                         hm_context *context, lsp_text text, const hm_open_text *others,
                         size_t other_count, bool names, hm_model **model)
{
    hm_model_options options = hm_model_options_default();
    size_t count = other_count;
    for (const lsp_document *d = server->documents; d; d = d->next)
        count++;
    hm_open_text *open = memory_new(count + 1, sizeof *open);
    if (!open)
        return HM_ERR_NOMEM;
    if (other_count)
        memcpy(open, others, other_count * sizeof *open);
    count = other_count;
    for (const lsp_document *d = server->documents; d; d = d->next)
        if (d->path && d != document)
            open[count++] = (hm_open_text){d->path, d->text.bytes, d->text.length};
    options.name = document->path ? document->path : document->uri;
    options.path = document->path;
    options.open_texts = open;
    options.open_text_count = count;
    options.names = names;
    hm_status status = hm_model_parse(context, text.bytes, text.length, &options, model);
    free(open);
    return status;
}

/* ---- diagnostics as JSON ---- */

/* The text of a file that is not the document: as it is open, or as it is on the disk. */
static lsp_text text_of(const lsp_server *server, const char *path, buffer *loaded)
{
    const lsp_document *open = lsp_find_path(server, path);
    if (open)
        return lsp_document_text(server, open);
    if (!buffer_read(loaded, path))
        buffer_append(loaded, "", 0);
    return (lsp_text){loaded->bytes ? loaded->bytes : "", loaded->length, server->encoding};
}

static json_t *one_diagnostic(const lsp_text *text, const hm_diagnostic *d)
{
    static const int severities[] = {
        [HM_SEVERITY_NOTE] = 3, [HM_SEVERITY_WARNING] = 2, [HM_SEVERITY_ERROR] = 1};
    size_t start = d->line > 0 ? lsp_place(text, d->line, d->column) : 0;
    size_t end = d->line > 0 ? lsp_forward(text, start, d->length) : 0;
    buffer message = {0};
    buffer_append(&message, d->message, strlen(d->message));
    if (d->hint) {
        buffer_append(&message, "\nhint: ", 7);
        buffer_append(&message, d->hint, strlen(d->hint));
    }
    json_t *one = json_pack("{s:o, s:i, s:s, s:s}", "range", lsp_range(text, start, end),
                            "severity", severities[d->severity], "source", "hamel", "message",
                            message.bytes ? message.bytes : d->message);
    buffer_release(&message);
    return one;
}

static void add_diagnostic(const lsp_server *server, const lsp_document *document,
                           const hm_diagnostic *d, json_t *found)
{
    bool own = !d->path || !document->path || strcmp(d->path, document->path) == 0;
    const lsp_document *open = own ? document : lsp_find_path(server, d->path);
    buffer loaded = {0};
    lsp_text text = own ? lsp_document_text(server, document) : text_of(server, d->path, &loaded);
    char *made = open ? NULL : lsp_uri_of(d->path);
    const char *uri = open ? open->uri : made;
    json_t *list = uri ? json_object_get(found, uri) : NULL;
    if (uri && !list) {
        list = json_array();
        json_object_set_new(found, uri, list);
    }
    json_array_append_new(list, one_diagnostic(&text, d));
    free(made);
    buffer_release(&loaded);
}

static void add_diagnostics(const lsp_server *server, const lsp_document *document,
                            const hm_context *context, json_t *found)
{
    for (size_t i = 0; i < hm_context_diagnostic_count(context); i++)
        add_diagnostic(server, document, hm_context_diagnostic(context, i), found);
}

/* ---- publishing ---- */

static bool contains(const json_t *list, const json_t *value)
{
    size_t i;
    const json_t *item;
    json_array_foreach(list, i, item) if (json_equal(item, value)) return true;
    return false;
}

static void publish(lsp_server *server, const char *uri)
{
    json_t *all = json_array(), *params = json_object(), *item;
    size_t i;
    for (const lsp_document *d = server->documents; d; d = d->next)
        json_array_foreach(json_object_get(d->found, uri), i, item) if (!contains(all, item))
            json_array_append(all, item);
    const lsp_document *open = lsp_find_document(server, uri);
    json_object_set_new(params, "uri", json_string(uri));
    if (open)
        json_object_set_new(params, "version", json_integer(open->version));
    json_object_set_new(params, "diagnostics", all);
    lsp_send(&server->stream, json_pack("{s:s, s:s, s:o}", "jsonrpc", "2.0", "method",
                                        "textDocument/publishDiagnostics", "params", params));
}

/* Takes `found` as what the document says, and publishes what it concerns, the document always. */
static void publish_found(lsp_server *server, lsp_document *document, json_t *found)
{
    json_t *before = document->found, *ignored;
    const char *uri;
    document->found = found;
    publish(server, document->uri);
    json_object_foreach(found, uri, ignored) if (strcmp(uri, document->uri) != 0)
        publish(server, uri);
    json_object_foreach(before, uri, ignored) if (strcmp(uri, document->uri) != 0 &&
                                                  !json_object_get(found, uri))
        publish(server, uri);
    json_decref(before);
}

void lsp_withdraw(lsp_server *server, lsp_document *document)
{
    publish_found(server, document, json_object());
}

/* ---- the child ---- */

/* As `hamel check` and `hamel eval` begin: derivation, then the initial state. */
static void look_closer(const hm_model *model, hm_context *context, hm_context **more, hm_sim **sim)
{
    hm_system *system = NULL;
    hm_evaluation at;
    hm_analysis *analysis = NULL;
    *more = NULL;
    *sim = NULL;
    if (hm_system_create(model, &system) != HM_OK)
        return;
    (void)hm_system_warn_conflated(context, system);
    if (hm_sim_create(system, sim) == HM_OK && hm_sim_evaluate(*sim, NULL, &at) == HM_OK &&
        hm_context_error_count(hm_sim_context(*sim)) == 0 && hm_context_error_count(context) == 0)
        (void)!hm_system_analyse(context, system, &analysis);
    *more = *sim ? hm_sim_context(*sim) : NULL;
}

static void run_child(const lsp_server *server, const lsp_document *document, int out)
{
    hm_context *more;
    hm_sim *sim;
    json_t *found = json_object();
    alarm(300);
    look_closer(document->model, document->context, &more, &sim);
    add_diagnostics(server, document, document->context, found);
    if (more)
        add_diagnostics(server, document, more, found);
    lsp_stream to = {.out = out};
    lsp_send(&to, found);
    _exit(0);
}

void lsp_end_child(lsp_document *document)
{
    int state;
    if (document->child == 0)
        return;
    kill(document->child, SIGKILL);
    while (waitpid(document->child, &state, 0) < 0 && errno == EINTR)
        ;
    close(document->pipe);
    document->child = 0;
    document->said.length = 0;
}

/* What the child found; NULL where it did not come to an end. */
static json_t *child_findings(lsp_document *document)
{
    lsp_stream said = {.input = document->said};
    const char *body, *problem;
    size_t length;
    json_t *found = NULL;
    if (document->said.length > 0 &&
        lsp_stream_next(&said, &body, &length, &problem) == LSP_FRAME_BODY)
        found = json_loadb(body, length, 0, NULL);
    return found;
}

/* What reading the document said, where the child cannot be asked. */
static json_t *own_findings(const lsp_server *server, const lsp_document *document)
{
    json_t *found = json_object();
    add_diagnostics(server, document, document->context, found);
    return found;
}

void lsp_hear_child(lsp_server *server, lsp_document *document)
{
    char chunk[1 << 14];
    ssize_t got = read(document->pipe, chunk, sizeof chunk);
    if (got < 0 && errno == EINTR)
        return;
    if (got > 0 && buffer_append(&document->said, chunk, (size_t)got))
        return;
    json_t *found = child_findings(document);
    lsp_end_child(document);
    publish_found(server, document, found ? found : own_findings(server, document));
}

static bool start_child(const lsp_server *server, lsp_document *document)
{
    int ends[2];
    if (pipe(ends) != 0)
        return false;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        run_child(server, document, ends[1]);
    }
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return false;
    }
    document->child = child;
    document->pipe = ends[0];
    return true;
}

/* ---- a change ---- */

void lsp_check(lsp_server *server, lsp_document *document)
{
    hm_model *model = NULL;
    hm_context *context = lsp_context();
    lsp_end_child(document);
    if (!context)
        return;
    hm_status status = lsp_read_model(server, document, context,
                                      lsp_document_text(server, document), NULL, 0, true, &model);
    if (status != HM_OK) { /* the last good model stays, for hover */
        json_t *found = json_object();
        add_diagnostics(server, document, context, found);
        publish_found(server, document, found);
        hm_context_destroy(context);
        memory_forget();
        return;
    }
    hm_model_destroy(document->model);
    hm_context_destroy(document->context);
    document->model = model;
    document->context = context;
    if (!start_child(server, document))
        publish_found(server, document, own_findings(server, document));
}
