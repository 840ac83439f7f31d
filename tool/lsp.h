/* hamel lsp: what the parts of the language server share.
 *
 * One thread reads messages and answers them in order. Documents are texts in memory; each change is read
 * at once, and what takes longer (derivation, evaluation at the initial state) happens in a child, whose
 * findings are published when it is done and which the next change ends.
 *
 * Positions of the protocol count lines and, by default, UTF-16 units; here everything is bytes. */
#ifndef HAMEL_TOOL_LSP_H
#define HAMEL_TOOL_LSP_H

#include "buffer.h"
#include "command.h"

#include <stdint.h>
#include <sys/types.h>

/* ---- lsp_stream.c: messages with their headers ---- */

typedef struct lsp_stream {
    int in, out;
    buffer input;
    size_t used;   /* bytes of the input that have been taken */
    uint64_t skip; /* bytes of a message that is too long, still to come */
    bool ended;    /* no more input */
    bool broken;   /* nobody reads the output */
} lsp_stream;

typedef enum lsp_frame {
    LSP_FRAME_NONE, /* more input is needed */
    LSP_FRAME_BODY,
    LSP_FRAME_BAD, /* this message cannot be read; the next one can */
    LSP_FRAME_LOST /* nor can any other */
} lsp_frame;

/* Reads what is there; waits only where there is nothing. */
void lsp_stream_read(lsp_stream *stream);
/* The body is valid until the next call. `problem`: of a bad frame. */
lsp_frame lsp_stream_next(lsp_stream *stream, const char **body, size_t *length,
                          const char **problem);
/* Is a part of a message there? */
bool lsp_stream_partial(const lsp_stream *stream);
/* Takes the message. */
void lsp_send(lsp_stream *stream, json_t *message);

/* ---- lsp_text.c: positions, paths ---- */

typedef enum lsp_encoding { LSP_UTF16, LSP_UTF8, LSP_UTF32 } lsp_encoding;

typedef struct lsp_text {
    const char *bytes;
    size_t length;
    lsp_encoding encoding;
} lsp_text;

/* {line, character} of a byte, and back; what lies outside of the text becomes its nearest place. */
json_t *lsp_position(const lsp_text *text, size_t offset);
json_t *lsp_range(const lsp_text *text, size_t start, size_t end);
/* False where it is no position. */
bool lsp_offset(const lsp_text *text, const json_t *position, size_t *offset);
/* The byte of a line and a column as diagnostics count them: from 1, in characters. */
size_t lsp_place(const lsp_text *text, int line, int column);
/* So many characters further on, within the line. */
size_t lsp_forward(const lsp_text *text, size_t offset, int characters);
/* The path of file:///a%20b; NULL where it is no file. To be freed, as the others. */
char *lsp_path_of(const char *uri);
char *lsp_uri_of(const char *path);

/* ---- lsp_document.c ---- */

typedef struct lsp_document {
    char *uri, *path; /* path NULL: no file */
    json_int_t version;
    buffer text;
    hm_context *context; /* of the last text without errors, and what it said */
    hm_model *model;     /* NULL: none yet */
    json_t *found;       /* {URI: [diagnostic]} as published */
    pid_t child;         /* that looks closer; 0: none */
    int pipe;
    buffer said; /* by the child so far */
    struct lsp_document *next;
} lsp_document;

typedef struct lsp_server {
    lsp_stream stream;
    lsp_encoding encoding;
    lsp_document *documents;
    bool initialized, shutdown, ended;
} lsp_server;

/* Why a request is refused. */
typedef struct lsp_error {
    int code; /* 0: it is not */
    char message[512];
} lsp_error;
enum {
    LSP_PARSE_ERROR = -32700,
    LSP_INVALID_REQUEST = -32600,
    LSP_METHOD_NOT_FOUND = -32601,
    LSP_INVALID_PARAMS = -32602,
    LSP_INTERNAL_ERROR = -32603,
    LSP_NOT_INITIALIZED = -32002,
    LSP_REQUEST_FAILED = -32803
};
/* Always NULL. */
json_t *lsp_refuse(lsp_error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

lsp_text lsp_document_text(const lsp_server *server, const lsp_document *document);
lsp_document *lsp_find_document(const lsp_server *server, const char *uri);
lsp_document *lsp_find_path(const lsp_server *server, const char *path);
/* The document and the byte that the parameters of a request name; NULL after refusing. */
lsp_document *lsp_at(const lsp_server *server, const json_t *params, size_t *offset,
                     lsp_error *error);
void lsp_did_open(lsp_server *server, const json_t *params);
void lsp_did_change(lsp_server *server, const json_t *params);
void lsp_did_save(lsp_server *server, const json_t *params);
void lsp_did_close(lsp_server *server, const json_t *params);
void lsp_release_documents(lsp_server *server);

/* ---- lsp_check.c: diagnostics ---- */

/* A context with the limits of the command; NULL without memory. */
hm_context *lsp_context(void);
/* Reads a text as the document's, with all that is open in place of files, and `others` before these. */
hm_status lsp_read_model(const lsp_server *server, const lsp_document *document,
                         hm_context *context, lsp_text text, const hm_open_text *others,
                         size_t other_count, bool names, hm_model **model);
void lsp_check(lsp_server *server, lsp_document *document);
/* The child of the document has something to say. */
void lsp_hear_child(lsp_server *server, lsp_document *document);
void lsp_end_child(lsp_document *document);
/* Publishes nothing more of this document. */
void lsp_withdraw(lsp_server *server, lsp_document *document);

/* ---- lsp_words.c: the words of a document and of what it includes ---- */

typedef struct lsp_file {
    char *uri, *path;
    lsp_text text;
    buffer loaded; /* the text, where it was read from the disk */
    hm_word *words;
    size_t count;
} lsp_file;

typedef struct lsp_files {
    hm_context *context;
    lsp_file *list; /* the first is the document */
    size_t count;
} lsp_files;

/* A name: what it is, and where it is the same one. */
typedef struct lsp_name {
    const char *text; /* in a text of the files */
    size_t length;
    size_t file, scope; /* scope 0: of all files */
    hm_name_space space;
    const hm_word *word; /* the one that was asked for */
} lsp_name;

bool lsp_files_open(const lsp_server *server, const lsp_document *document, lsp_files *files);
void lsp_files_close(lsp_files *files);
/* The word that a byte of the document is in or behind; NULL: none. */
const hm_word *lsp_word_at(const lsp_file *file, size_t offset);
/* The name at a byte; false where there is none. */
bool lsp_name_at(const lsp_files *files, size_t offset, lsp_name *name);
/* Is this word that name? */
bool lsp_is_name(const lsp_files *files, size_t file, const hm_word *word, const lsp_name *name);
/* Where it is declared; NULL: nowhere. */
const hm_word *lsp_declaration(const lsp_files *files, const lsp_name *name, size_t *file);
bool lsp_word_is(const lsp_file *file, const hm_word *word, const char *text, size_t length);

/* ---- requests: results, or NULL after refusing ---- */

json_t *lsp_hover(lsp_server *server, const json_t *params, lsp_error *error);
json_t *lsp_completion(lsp_server *server, const json_t *params, lsp_error *error);
json_t *lsp_definition(lsp_server *server, const json_t *params, lsp_error *error);
json_t *lsp_references(lsp_server *server, const json_t *params, lsp_error *error);
json_t *lsp_prepare_rename(lsp_server *server, const json_t *params, lsp_error *error);
json_t *lsp_rename(lsp_server *server, const json_t *params, lsp_error *error);
json_t *lsp_formatting(lsp_server *server, const json_t *params, lsp_error *error);
json_t *lsp_symbols(lsp_server *server, const json_t *params, lsp_error *error);

#endif
