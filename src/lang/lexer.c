/* Text -> tokens: numbers, names, punctuation, and what to say about signs of other notations. */
#include "lang/lexer.h"

#include "lang/unicode.h"

#include <math.h>
#include <string.h>

static const char *const kind_texts[HMI_TOK_KIND_COUNT] = {
    [HMI_TOK_END] = "the end of the file",
    [HMI_TOK_NEWLINE] = "the end of the line",
    [HMI_TOK_NUMBER] = "a number",
    [HMI_TOK_NAME] = "a name",
    [HMI_TOK_STRING] = "a string",
    [HMI_TOK_LPAREN] = "'('",
    [HMI_TOK_RPAREN] = "')'",
    [HMI_TOK_LBRACKET] = "'['",
    [HMI_TOK_RBRACKET] = "']'",
    [HMI_TOK_LBRACE] = "'{'",
    [HMI_TOK_RBRACE] = "'}'",
    [HMI_TOK_COMMA] = "','",
    [HMI_TOK_SEMICOLON] = "';'",
    [HMI_TOK_COLON] = "':'",
    [HMI_TOK_ASSIGN] = "'='",
    [HMI_TOK_TILDE] = "'~'",
    [HMI_TOK_RANGE] = "'..'",
    [HMI_TOK_PRIME] = "a prime",
    [HMI_TOK_PLUS] = "'+'",
    [HMI_TOK_MINUS] = "'-'",
    [HMI_TOK_STAR] = "'*'",
    [HMI_TOK_SLASH] = "'/'",
    [HMI_TOK_CARET] = "'^'",
    [HMI_TOK_LESS] = "'<'",
    [HMI_TOK_LESS_EQUAL] = "'<='",
    [HMI_TOK_GREATER] = "'>'",
    [HMI_TOK_GREATER_EQUAL] = "'>='",
    [HMI_TOK_EQUAL] = "'=='",
    [HMI_TOK_AND] = "'and'",
    [HMI_TOK_OR] = "'or'",
    [HMI_TOK_NOT] = "'not'",
};

const char *hmi_token_kind_text(hmi_token_kind kind)
{
    return kind_texts[kind];
}

void hmi_lexer_init(hmi_lexer *lexer, hm_context *context, uint32_t file)
{
    const hmi_source *source = hmi_context_source(context, file);
    *lexer = (hmi_lexer){
        .context = context, .text = source->text, .file = file, .length = (uint32_t)source->length};
    if (lexer->length >= 3 && memcmp(lexer->text, "\xEF\xBB\xBF", 3) == 0)
        lexer->position = 3; /* byte order mark */
}

static char peek(const hmi_lexer *lexer, uint32_t ahead)
{
    uint32_t at = lexer->position + ahead;
    return at < lexer->length ? lexer->text[at] : '\0';
}

static hmi_span span_from(const hmi_lexer *lexer, uint32_t start)
{
    return (hmi_span){lexer->file, start, lexer->position - start};
}

static hmi_token token_from(const hmi_lexer *lexer, hmi_token_kind kind, uint32_t start)
{
    return (hmi_token){.kind = kind, .span = span_from(lexer, start)};
}

#define complain(lexer, ...)                                                                       \
    do {                                                                                           \
        if (!(lexer)->quiet)                                                                       \
            hmi_error((lexer)->context, __VA_ARGS__);                                              \
    } while (0)

/* How the hint names what is to be written. */
static const char *plain_text(hm_context *context, const char *meant)
{
    return meant[0] == '\''  ? "write a plain apostrophe"
           : meant[0] == ' ' ? "write a plain space"
           : meant[0] == '"' ? "write plain double quotes"
                             : hmi_context_printf(context, "write %s", meant);
}

/* Reports a character that belongs to no token, and steps over it. What a person who typed it
 * meant comes back, so that one wrong sign is one error; NULL where that is unknown. */
static const char *reject_character(hmi_lexer *lexer)
{
    uint32_t start = lexer->position, character = 0;
    int bytes = hmi_utf8_decode(lexer->text + start, lexer->length - lexer->position, &character);
    lexer->position += bytes ? (uint32_t)bytes : 1;
    hmi_span at = span_from(lexer, start);
    if (bytes == 0) {
        while ((peek(lexer, 0) & 0xC0) == 0x80) /* the rest of what was one character */
            lexer->position++;
        complain(lexer, at, "save the file as UTF-8", "byte 0x%02X is not valid UTF-8",
                 (unsigned char)lexer->text[start]);
    } else if (character == 0) {
        complain(lexer, at, "a model is a text file", "the file contains a NUL byte");
    } else if (character < 0x20 || (character >= 0x7F && character < 0xA0)) {
        complain(lexer, at, NULL, "control character 0x%02X is not allowed in a model",
                 (unsigned)character);
    } else {
        const char *meant = hmi_ascii_for(character);
        const char *hint = meant ? plain_text(lexer->context, meant) : NULL;
        if (meant && meant[0] == ' ')
            complain(lexer, at, hint, "unexpected space character U+%04X", (unsigned)character);
        else
            complain(lexer, at, hint, "unexpected character '%.*s'", bytes, lexer->text + start);
        return meant;
    }
    return NULL;
}

/* One character of a string or comment; false where it is none. */
static bool step_over_text(hmi_lexer *lexer)
{
    char c = lexer->text[lexer->position];
    if (c >= ' ' && c < 0x7F) { /* nearly always */
        lexer->position++;
        return true;
    }
    uint32_t character = 0;
    int bytes = hmi_utf8_decode(lexer->text + lexer->position, lexer->length - lexer->position,
                                &character);
    bool plain = character >= 0x20 ? character < 0x7F || character >= 0xA0
                                   : character == '\t' || character == '\r';
    if (bytes > 0 && plain)
        lexer->position += (uint32_t)bytes;
    else
        reject_character(lexer);
    if (hmi_context_too_many(lexer->context))
        lexer->position = lexer->length;
    return bytes > 0 && plain;
}

/* A comment is text too; one message is enough about one that is not. */
static void skip_comment(hmi_lexer *lexer)
{
    bool quiet = lexer->quiet;
    while (lexer->position < lexer->length && lexer->text[lexer->position] != '\n')
        if (!step_over_text(lexer))
            lexer->quiet = true;
    lexer->quiet = quiet;
}

static void skip_blanks(hmi_lexer *lexer)
{
    for (;;) {
        char c = peek(lexer, 0);
        if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            lexer->position++;
        } else if (c == '#') {
            skip_comment(lexer);
        } else {
            return;
        }
    }
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void skip_digits(hmi_lexer *lexer)
{
    while (is_digit(peek(lexer, 0)))
        lexer->position++;
}

static hmi_token lex_number(hmi_lexer *lexer)
{
    uint32_t start = lexer->position;
    skip_digits(lexer);
    if (peek(lexer, 0) == '.' && peek(lexer, 1) != '.') {
        lexer->position++;
        skip_digits(lexer);
    }
    char c = peek(lexer, 0);
    if (c == 'e' || c == 'E') {
        uint32_t sign = peek(lexer, 1) == '+' || peek(lexer, 1) == '-';
        if (is_digit(peek(lexer, 1 + sign))) {
            lexer->position += 1 + sign;
            skip_digits(lexer);
        }
    }
    hmi_token token = token_from(lexer, HMI_TOK_NUMBER, start);
    token.number = hmi_number_value(lexer->text + start, token.span.length);
    if (!isfinite(token.number)) {
        complain(lexer, token.span, NULL,
                 isnan(token.number) ? "this number has too many digits"
                                     : "this number is too large for a double");
        token.number = 1;
    }
    return token;
}

static hmi_token lex_name(hmi_lexer *lexer)
{
    uint32_t start = lexer->position, character;
    while (lexer->position < lexer->length) {
        int bytes = hmi_utf8_decode(lexer->text + lexer->position, lexer->length - lexer->position,
                                    &character);
        if (bytes == 0 || !hmi_is_name_part(character))
            break;
        lexer->position += (uint32_t)bytes;
    }
    hmi_token token = token_from(lexer, HMI_TOK_NAME, start);
    const char *text = lexer->text + start;
    if (token.span.length > HMI_LONGEST_NAME)
        complain(lexer, token.span, NULL, "this name is longer than %d bytes", HMI_LONGEST_NAME);
    if (token.span.length == 3 && memcmp(text, "and", 3) == 0)
        token.kind = HMI_TOK_AND;
    else if (token.span.length == 2 && memcmp(text, "or", 2) == 0)
        token.kind = HMI_TOK_OR;
    else if (token.span.length == 3 && memcmp(text, "not", 3) == 0)
        token.kind = HMI_TOK_NOT;
    return token;
}

static hmi_token lex_string(hmi_lexer *lexer)
{
    uint32_t start = lexer->position++;
    while (lexer->position < lexer->length && peek(lexer, 0) != '"' && peek(lexer, 0) != '\n')
        step_over_text(lexer);
    if (peek(lexer, 0) == '"') {
        lexer->position++;
        return token_from(lexer, HMI_TOK_STRING, start);
    }
    complain(lexer, (hmi_span){lexer->file, start, 1}, "a string ends with \" on the same line",
             "this string is not closed");
    hmi_token token = token_from(lexer, HMI_TOK_STRING, start);
    token.span.length++; /* as if the quote were there */
    return token;
}

/* One or two characters of punctuation; HMI_TOK_END where it is none. */
static hmi_token_kind punctuation(char c, char next, uint32_t *length)
{
    *length = 1;
    if (c == '.' && next == '.')
        return *length = 2, HMI_TOK_RANGE;
    if (c == '=' && next == '=')
        return *length = 2, HMI_TOK_EQUAL;
    if (c == '<' && next == '=')
        return *length = 2, HMI_TOK_LESS_EQUAL;
    if (c == '>' && next == '=')
        return *length = 2, HMI_TOK_GREATER_EQUAL;
    static const char singles[] = "()[]{},;:=~'+-*/^<>";
    static const hmi_token_kind kinds[] = {
        HMI_TOK_LPAREN, HMI_TOK_RPAREN, HMI_TOK_LBRACKET,  HMI_TOK_RBRACKET, HMI_TOK_LBRACE,
        HMI_TOK_RBRACE, HMI_TOK_COMMA,  HMI_TOK_SEMICOLON, HMI_TOK_COLON,    HMI_TOK_ASSIGN,
        HMI_TOK_TILDE,  HMI_TOK_PRIME,  HMI_TOK_PLUS,      HMI_TOK_MINUS,    HMI_TOK_STAR,
        HMI_TOK_SLASH,  HMI_TOK_CARET,  HMI_TOK_LESS,      HMI_TOK_GREATER,
    };
    const char *found = c ? strchr(singles, c) : NULL;
    return found ? kinds[found - singles] : HMI_TOK_END;
}

/* Signs of other notations: reported, and read as what was meant. END: nothing is; a comment: the
 * rest of the line is skipped. */
static const struct {
    const char *sign;
    hmi_token_kind kind;
    bool comment;
    const char *hint;
} foreign_signs[] = {
    {"&&", HMI_TOK_AND, false, "write 'and'"},
    {"||", HMI_TOK_OR, false, "write 'or'"},
    {"!=", HMI_TOK_EQUAL, false, "write not (a == b)"},
    {"!", HMI_TOK_NOT, false, "write 'not'"},
    {"**", HMI_TOK_CARET, false, "a power is written x^2"},
    {"...", HMI_TOK_RANGE, false, "a range is written 1..N"},
    {":=", HMI_TOK_ASSIGN, false, "write '='"},
    {"//", HMI_TOK_END, true, "a comment starts with '#'"},
    {"/*", HMI_TOK_END, true, "a comment starts with '#'"},
    {"%", HMI_TOK_END, true, "a comment starts with '#'"},
    {"|", HMI_TOK_END, false, "the absolute value is written abs(x)"},
    {"?", HMI_TOK_END, true, "a choice is written if(condition, a, b)"},
    {"\\", HMI_TOK_END, false, "a line goes on after an operator or a comma, and inside brackets"},
};

/* True where one stood at the present position. */
static bool foreign_sign(hmi_lexer *lexer, hmi_token_kind *kind)
{
    uint32_t start = lexer->position, left = lexer->length - start;
    if (!strchr("&|!*.:/%?\\", lexer->text[start]) || lexer->text[start] == '\0')
        return false;
    for (size_t i = 0; i < sizeof foreign_signs / sizeof *foreign_signs; i++) {
        const char *sign = foreign_signs[i].sign;
        if (sign[0] != lexer->text[start])
            continue;
        uint32_t length = (uint32_t)strlen(sign);
        if (length > left || memcmp(lexer->text + start, sign, length) != 0)
            continue;
        lexer->position += length;
        complain(lexer, span_from(lexer, start), foreign_signs[i].hint,
                 "'%s' is not part of the language", sign);
        while (foreign_signs[i].comment && lexer->position < lexer->length &&
               lexer->text[lexer->position] != '\n')
            lexer->position++;
        *kind = foreign_signs[i].kind;
        return true;
    }
    return false;
}

/* A string between typographic quotes, the first of which has been stepped over. */
static void skip_quoted(hmi_lexer *lexer)
{
    while (lexer->position < lexer->length && peek(lexer, 0) != '\n') {
        uint32_t character = 0;
        int bytes = hmi_utf8_decode(lexer->text + lexer->position, lexer->length - lexer->position,
                                    &character);
        lexer->position += bytes ? (uint32_t)bytes : 1;
        if (character == '"' || character == 0x201C || character == 0x201D)
            return;
    }
}

/* Reports a character that belongs to no token; END where nothing stands in for it. */
static hmi_token_kind reject_sign(hmi_lexer *lexer)
{
    uint32_t ignored;
    const char *meant = reject_character(lexer);
    if (!meant)
        return HMI_TOK_END;
    if (meant[0] == '"') {
        skip_quoted(lexer);
        return HMI_TOK_STRING;
    }
    return meant[0] == '^' ? HMI_TOK_END : punctuation(meant[0], meant[1], &ignored);
}

static bool starts_name(const hmi_lexer *lexer)
{
    uint32_t character;
    int bytes = hmi_utf8_decode(lexer->text + lexer->position, lexer->length - lexer->position,
                                &character);
    return bytes > 0 && hmi_is_letter(character);
}

hmi_token hmi_lexer_next(hmi_lexer *lexer)
{
    for (;;) {
        skip_blanks(lexer);
        uint32_t start = lexer->position, length;
        if (start >= lexer->length)
            return token_from(lexer, HMI_TOK_END, start);
        char c = peek(lexer, 0);
        if (c == '\n') {
            lexer->position++;
            return token_from(lexer, HMI_TOK_NEWLINE, start);
        }
        if (is_digit(c) || (c == '.' && is_digit(peek(lexer, 1))))
            return lex_number(lexer);
        if (c == '"')
            return lex_string(lexer);
        hmi_token_kind kind = HMI_TOK_END;
        if (foreign_sign(lexer, &kind)) {
            if (kind != HMI_TOK_END)
                return token_from(lexer, kind, start);
            continue;
        }
        kind = punctuation(c, peek(lexer, 1), &length);
        if (kind != HMI_TOK_END) {
            lexer->position += length;
            return token_from(lexer, kind, start);
        }
        if (starts_name(lexer))
            return lex_name(lexer);
        kind = reject_sign(lexer);
        if (hmi_context_too_many(lexer->context))
            lexer->position = lexer->length; /* a binary file: say so twenty times, not a million */
        if (kind != HMI_TOK_END)
            return token_from(lexer, kind, start);
    }
}
