/* Text -> tokens. The lexer is pulled by the parser, one token at a time, and never fails: what it
 * cannot read becomes a diagnostic and is skipped.
 */
#ifndef HMI_LANG_LEXER_H
#define HMI_LANG_LEXER_H

#include "base/context.h"

typedef enum hmi_token_kind {
    HMI_TOK_END,
    HMI_TOK_NEWLINE,
    HMI_TOK_NUMBER,
    HMI_TOK_NAME,
    HMI_TOK_STRING, /* the text between the quotes is span minus one byte at each end */
    HMI_TOK_LPAREN,
    HMI_TOK_RPAREN,
    HMI_TOK_LBRACKET,
    HMI_TOK_RBRACKET,
    HMI_TOK_LBRACE,
    HMI_TOK_RBRACE,
    HMI_TOK_COMMA,
    HMI_TOK_SEMICOLON,
    HMI_TOK_COLON,
    HMI_TOK_ASSIGN, /* = */
    HMI_TOK_TILDE,
    HMI_TOK_RANGE, /* .. */
    HMI_TOK_PRIME,
    HMI_TOK_PLUS,
    HMI_TOK_MINUS,
    HMI_TOK_STAR,
    HMI_TOK_SLASH,
    HMI_TOK_CARET,
    HMI_TOK_LESS,
    HMI_TOK_LESS_EQUAL,
    HMI_TOK_GREATER,
    HMI_TOK_GREATER_EQUAL,
    HMI_TOK_EQUAL, /* == */
    HMI_TOK_AND,
    HMI_TOK_OR,
    HMI_TOK_NOT,
    HMI_TOK_KIND_COUNT
} hmi_token_kind;

typedef struct hmi_token {
    hmi_token_kind kind;
    hmi_span span;
    double number; /* HMI_TOK_NUMBER */
} hmi_token;

enum { HMI_LONGEST_NAME = 200 };

typedef struct hmi_lexer {
    hm_context *context;
    const char *text;
    uint32_t file, length, position;
    bool quiet; /* says nothing about what it cannot read */
} hmi_lexer;

void hmi_lexer_init(hmi_lexer *lexer, hm_context *context, uint32_t file);
hmi_token hmi_lexer_next(hmi_lexer *lexer);

/* How a kind of token is named in messages: "')'", "a name". */
const char *hmi_token_kind_text(hmi_token_kind kind);

#endif
