/* hamel lsp: a language server on standard input and output (JSON-RPC 2.0, Language Server Protocol 3.17). */
#include "lsp.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the protocol's own requests ---- */

/* The first encoding of the client that we have; UTF-16 where it names none. */
static lsp_encoding choose_encoding(const json_t *params)
{
    const json_t *general = json_object_get(json_object_get(params, "capabilities"), "general");
    const json_t *list = json_object_get(general, "positionEncodings"), *item;
    size_t i;
    json_array_foreach(list, i, item)
    {
        const char *name = json_string_value(item);
        if (name && strcmp(name, "utf-8") == 0)
            return LSP_UTF8;
        if (name && strcmp(name, "utf-16") == 0)
            return LSP_UTF16;
        if (name && strcmp(name, "utf-32") == 0)
            return LSP_UTF32;
    }
    return LSP_UTF16;
}

static json_t *initialize(lsp_server *server, const json_t *params, lsp_error *error)
{
    static const char *const encodings[] = {"utf-16", "utf-8", "utf-32"};
    if (server->initialized)
        return lsp_refuse(error, LSP_INVALID_REQUEST, "the server is initialized already");
    server->initialized = true;
    server->encoding = choose_encoding(params);
    return json_pack(
        "{s:{s:s, s:{s:b, s:i, s:b}, s:b, s:{}, s:b, s:b, s:{s:b}, s:b, s:b}, s:{s:s, s:s}}",
        "capabilities", "positionEncoding", encodings[server->encoding], "textDocumentSync",
        "openClose", 1, "change", 2, "save", 1, "hoverProvider", 1, "completionProvider",
        "definitionProvider", 1, "referencesProvider", 1, "renameProvider", "prepareProvider", 1,
        "documentFormattingProvider", 1, "documentSymbolProvider", 1, "serverInfo", "name", "hamel",
        "version", hm_version());
}

/* Children that look at a document: their findings are waited for, a while. */
static bool wait_for_children(lsp_server *server, int milliseconds);

static json_t *shut_down(lsp_server *server, const json_t *params, lsp_error *error)
{
    (void)params, (void)error;
    (void)wait_for_children(server, 2000);
    server->shutdown = true;
    return json_null();
}

static void leave(lsp_server *server, const json_t *params)
{
    (void)params;
    server->ended = true;
}

static void ignore(lsp_server *server, const json_t *params)
{
    (void)server, (void)params;
}

/* ---- dispatch ---- */

static const struct {
    const char *name;
    json_t *(*answer)(lsp_server *server, const json_t *params, lsp_error *error);
    void (*notice)(lsp_server *server, const json_t *params);
} methods[] = {
    {"initialize", initialize, NULL},
    {"initialized", NULL, ignore},
    {"shutdown", shut_down, NULL},
    {"exit", NULL, leave},
    {"textDocument/didOpen", NULL, lsp_did_open},
    {"textDocument/didChange", NULL, lsp_did_change},
    {"textDocument/didSave", NULL, lsp_did_save},
    {"textDocument/didClose", NULL, lsp_did_close},
    {"textDocument/hover", lsp_hover, NULL},
    {"textDocument/completion", lsp_completion, NULL},
    {"textDocument/definition", lsp_definition, NULL},
    {"textDocument/references", lsp_references, NULL},
    {"textDocument/prepareRename", lsp_prepare_rename, NULL},
    {"textDocument/rename", lsp_rename, NULL},
    {"textDocument/formatting", lsp_formatting, NULL},
    {"textDocument/documentSymbol", lsp_symbols, NULL},
};
enum { METHODS = sizeof methods / sizeof *methods };

/* NULL id: that of a message which could not be read. */
static void send_error(lsp_server *server, json_t *id, int code, const char *message)
{
    lsp_send(&server->stream,
             json_pack("{s:s, s:O, s:{s:i, s:s}}", "jsonrpc", "2.0", "id", id ? id : json_null(),
                       "error", "code", code, "message", message));
}

static json_t *answer_request(lsp_server *server, const char *name, const json_t *params,
                              lsp_error *error)
{
    size_t i = 0;
    while (i < METHODS && strcmp(methods[i].name, name) != 0)
        i++;
    if (!server->initialized && strcmp(name, "initialize") != 0)
        return lsp_refuse(error, LSP_NOT_INITIALIZED, "the server is not initialized");
    if (server->shutdown)
        return lsp_refuse(error, LSP_INVALID_REQUEST, "the server is shut down");
    if (i == METHODS || !methods[i].answer)
        return lsp_refuse(error, LSP_METHOD_NOT_FOUND, "there is no request '%.100s'", name);
    json_t *result = methods[i].answer(server, params, error);
    if (!result && error->code == 0)
        lsp_refuse(error, LSP_INTERNAL_ERROR, "out of memory");
    return result;
}

static void take_notice(lsp_server *server, const char *name, const json_t *params)
{
    bool leaves = strcmp(name, "exit") == 0;
    for (size_t i = 0; i < METHODS; i++)
        if (methods[i].notice && strcmp(methods[i].name, name) == 0 &&
            (leaves || (server->initialized && !server->shutdown)))
            methods[i].notice(server, params);
}

static void take_message(lsp_server *server, const json_t *message)
{
    json_t *id = json_object_get(message, "id");
    const char *name = json_string_value(json_object_get(message, "method"));
    const json_t *params = json_object_get(message, "params");
    lsp_error error = {0};
    if (!name) {
        bool response = json_object_get(message, "result") || json_object_get(message, "error");
        if (!response)
            send_error(server, id, LSP_INVALID_REQUEST, "this is no message of JSON-RPC");
        return;
    }
    if (!id) {
        take_notice(server, name, params);
        return;
    }
    json_t *result = answer_request(server, name, params, &error);
    if (error.code)
        send_error(server, id, error.code, error.message);
    else
        lsp_send(&server->stream,
                 json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", id, "result", result));
}

static void take_body(lsp_server *server, const char *body, size_t length)
{
    json_error_t problem;
    json_t *message = json_loadb(body, length, JSON_ALLOW_NUL | JSON_DECODE_ANY, &problem);
    if (!message)
        send_error(server, NULL, LSP_PARSE_ERROR, problem.text);
    else
        take_message(server, message);
    json_decref(message);
}

/* ---- the loop ---- */

/* Waits for input or for a child; 0 milliseconds or more, or -1: for ever. False: nothing came. */
static bool wait_for_any(lsp_server *server, bool input, int milliseconds)
{
    struct pollfd ends[64];
    lsp_document *of[64];
    nfds_t count = 0;
    if (input) {
        of[count] = NULL;
        ends[count++] = (struct pollfd){.fd = server->stream.in, .events = POLLIN};
    }
    for (lsp_document *d = server->documents; d && count < 64; d = d->next)
        if (d->child) {
            of[count] = d;
            ends[count++] = (struct pollfd){.fd = d->pipe, .events = POLLIN};
        }
    int ready = count ? poll(ends, count, milliseconds) : 0;
    for (nfds_t i = 0; ready > 0 && i < count; i++) {
        if (!(ends[i].revents & (POLLIN | POLLHUP | POLLERR)))
            continue;
        if (of[i])
            lsp_hear_child(server, of[i]);
        else
            lsp_stream_read(&server->stream);
    }
    return ready > 0 || (ready < 0 && errno == EINTR);
}

static bool has_child(const lsp_server *server)
{
    for (const lsp_document *d = server->documents; d; d = d->next)
        if (d->child)
            return true;
    return false;
}

static bool wait_for_children(lsp_server *server, int milliseconds)
{
    while (has_child(server))
        if (!wait_for_any(server, false, milliseconds))
            return false;
    return true;
}

static bool take_frame(lsp_server *server)
{
    const char *body = NULL, *problem = NULL;
    size_t length = 0;
    switch (lsp_stream_next(&server->stream, &body, &length, &problem)) {
    case LSP_FRAME_NONE:
        return false;
    case LSP_FRAME_BODY:
        take_body(server, body, length);
        break;
    case LSP_FRAME_BAD:
        send_error(server, NULL, LSP_INVALID_REQUEST, problem);
        break;
    case LSP_FRAME_LOST:
        send_error(server, NULL, LSP_PARSE_ERROR, problem);
        server->stream.ended = server->ended = true;
        break;
    }
    return true;
}

static void converse(lsp_server *server)
{
    for (;;) {
        while (!server->ended && !server->stream.broken && take_frame(server))
            ;
        if (server->ended || server->stream.broken || server->stream.ended)
            return;
        (void)wait_for_any(server, true, -1);
    }
}

static void print_words(void)
{
    static const struct {
        hm_word_kind kind;
        const char *name;
    } kinds[] = {{HM_WORD_KIND_STATEMENT, "statement"},
                 {HM_WORD_KIND_FUNCTION, "function"},
                 {HM_WORD_KIND_PART, "part"}};
    const char *word;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t i = 0; (word = hm_language_word(kinds[k].kind, i)); i++)
            printf("%s %s\n", kinds[k].name, word);
}

static int run(const invocation *call)
{
    lsp_server server = {.stream = {.in = STDIN_FILENO, .out = STDOUT_FILENO}};
    if (option_value(call, "--words")) {
        print_words();
        return EXIT_DONE;
    }
    signal(SIGPIPE, SIG_IGN); /* a client that is gone is an error of writing */
    converse(&server);
    if (!server.ended && !server.stream.broken) {
        (void)wait_for_children(&server, 2000);
        if (lsp_stream_partial(&server.stream))
            fputs("hamel lsp: the input ends in the middle of a message\n", stderr);
    }
    lsp_release_documents(&server);
    buffer_release(&server.stream.input);
    return server.shutdown && server.ended ? EXIT_DONE : EXIT_FAILED;
}

static const option_spec options[] = {
    {"--stdio", NULL, "speak on standard input and output, as it does anyway"},
    {"--words", NULL, "print the words of the language and stop, for grammars of editors"},
    {0},
};

const command command_lsp = {
    .name = "lsp",
    .summary = "language server for editors, on standard input and output",
    .usage = "[options]",
    .example = "hamel lsp",
    .options = options,
    .run = run,
};
