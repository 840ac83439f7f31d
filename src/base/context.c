/* Contexts: sources, diagnostics with their place, and how a diagnostic is shown. */
#include "base/argument.h"
#include "base/context.h"
#include "base/visible.h"

#include <stdio.h>
#include <string.h>

static const char *const status_texts[] = {
#define STATUS_TEXT(name, text) text,
    HM_STATUS_LIST(STATUS_TEXT)
#undef STATUS_TEXT
};

const char *hm_status_text(hm_status status)
{
    size_t count = sizeof status_texts / sizeof *status_texts;
    return (size_t)status < count ? status_texts[status] : "unknown status";
}

const char *hm_version(void)
{
    return HAMEL_VERSION;
}

hm_limits hm_limits_default(void)
{
    return (hm_limits){.memory = sizeof(size_t) > 4 ? (size_t)2048 << 20 : SIZE_MAX / 2,
                       .steps = HMI_MOST_STEPS};
}

hm_status hm_context_set_limits(hm_context *context, const hm_limits *limits)
{
    hm_limits chosen = limits ? *limits : hm_limits_default();
    HMI_ARGUMENT(context, context && chosen.steps >= 0, "limits are not negative");
    context->budget.limit = chosen.memory ? chosen.memory : SIZE_MAX;
    context->most_steps = chosen.steps > 0 ? chosen.steps : INT64_MAX;
    return HM_OK;
}

bool hm_context_memory_exceeded(const hm_context *context)
{
    if (!context)
        return false;
    return atomic_load(&context->budget.exceeded);
}

size_t hm_context_memory(const hm_context *context)
{
    if (!context)
        return 0;
    return atomic_load_explicit(&context->budget.peak, memory_order_relaxed);
}

hm_context *hm_context_create(const hm_allocator *allocator)
{
    if (!hmi_allocator_is_valid(allocator))
        return NULL;
    hm_allocator chosen = allocator ? *allocator : hm_allocator_default();
    hm_limits limits = hm_limits_default();
    hm_context *context = hmi_alloc(&chosen, sizeof *context);
    if (!context)
        return NULL;
    *context = (hm_context){.most_steps = limits.steps};
    hmi_budget_init(&context->budget, &chosen, limits.memory);
    context->allocator = hmi_budget_allocator(&context->budget);
    hmi_arena_init(&context->arena, &context->allocator);
    return context;
}

hm_context *hmi_context_create_for(const hm_allocator *allocator, const hmi_source *sources,
                                   size_t count)
{
    hm_context *context = hm_context_create(allocator);
    if (context) {
        context->budget.limit = SIZE_MAX; /* the allocator that it is given has a limit */
        context->borrowed = sources;
        context->borrowed_count = count;
    }
    return context;
}

void hmi_context_forget_sources(hm_context *context)
{
    context->borrowed = NULL;
    context->borrowed_count = 0;
}

size_t hmi_context_source_count(const hm_context *context)
{
    return context->borrowed_count + context->sources.count;
}

const hmi_source *hmi_context_source(const hm_context *context, size_t file)
{
    if (file >= hmi_context_source_count(context))
        return NULL;
    return file < context->borrowed_count ? &context->borrowed[file]
                                          : &context->sources.data[file - context->borrowed_count];
}

size_t hm_context_file_count(const hm_context *context)
{
    if (!context)
        return 0;
    size_t count = 0;
    for (size_t i = 0; i < context->sources.count; i++)
        count += context->sources.data[i].path != NULL;
    return count;
}

const char *hm_context_file(const hm_context *context, size_t index)
{
    if (!context)
        return NULL;
    for (size_t i = 0; i < context->sources.count; i++)
        if (context->sources.data[i].path && index-- == 0)
            return context->sources.data[i].path;
    return NULL;
}

void hm_context_destroy(hm_context *context)
{
    if (!context || !hmi_unshare(&context->references))
        return;
    hm_allocator allocator = context->allocator;
    hmi_array_release(&allocator, &context->sources);
    hmi_array_release(&allocator, &context->diagnostics);
    hmi_arena_release(&context->arena);
    hmi_free(&allocator, context, sizeof *context);
}

size_t hm_context_diagnostic_count(const hm_context *context)
{
    if (!context)
        return 0;
    return context->diagnostics.count;
}

size_t hm_context_error_count(const hm_context *context)
{
    if (!context)
        return 0;
    return context->errors;
}

const hm_diagnostic *hm_context_diagnostic(const hm_context *context, size_t index)
{
    if (!context)
        return NULL;
    return index < context->diagnostics.count ? &context->diagnostics.data[index] : NULL;
}

void hm_context_clear(hm_context *context)
{
    if (!context)
        return;
    context->diagnostics.count = 0;
    context->errors = context->remarks = 0;
    hmi_context_begin(context);
}

void hmi_context_begin(hm_context *context)
{
    context->out_of_memory = context->limit_exceeded = context->repeated = false;
    context->memory_said = false;
    context->stack_floor = hmi_stack_floor();
    atomic_store(&context->budget.failed, false);
    atomic_store(&context->budget.exceeded, false);
}

uint32_t hmi_context_add_source(hm_context *context, const char *name, const char *path,
                                const char *text, size_t length)
{
    hmi_source source = {.length = length};
    source.name = hmi_arena_text(&context->arena, name, strlen(name));
    source.path = path ? hmi_arena_text(&context->arena, path, strlen(path)) : NULL;
    source.text = hmi_arena_text(&context->arena, text, length);
    if (!source.name || (path && !source.path) || !source.text ||
        !hmi_array_push(&context->allocator, &context->sources, source)) {
        context->out_of_memory = true;
        return HMI_NO_FILE;
    }
    return (uint32_t)hmi_context_source_count(context) - 1;
}

hmi_span hmi_span_to(hmi_span first, hmi_span last)
{
    if (first.file != last.file || last.start + last.length < first.start)
        return first;
    first.length = last.start + last.length - first.start;
    return first;
}

static bool continues_character(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

/* A byte that is not UTF-8 counts as a character. */
static int count_characters(const char *text, size_t length)
{
    int count = 0;
    uint32_t character;
    for (size_t i = 0; i < length; count++) {
        int bytes = hmi_utf8_decode(text + i, length - i, &character);
        i += bytes ? (size_t)bytes : 1;
    }
    return count;
}

/* The line as it is shown: characters that cannot be, or that would move the cursor of a terminal or
 * hide others, become '?', one for one. */
static char *shown_line(hm_context *context, const char *text, size_t length)
{
    char *line = hmi_arena_text(&context->arena, text, length);
    uint32_t character;
    for (size_t i = 0; line && i < length;) {
        int bytes = hmi_utf8_decode(line + i, length - i, &character);
        size_t size = bytes ? (size_t)bytes : 1;
        if (bytes == 0 || (hm_character_hidden(character) && character != '\t')) {
            line[i] = '?';
            memmove(line + i + 1, line + i + size, length + 1 - i - size);
            length -= size - 1;
            size = 1;
        }
        i += size;
    }
    return line;
}

static uint32_t line_start(const hmi_source *source, uint32_t offset)
{
    while (offset > 0 && source->text[offset - 1] != '\n')
        offset--;
    return offset;
}

void hmi_source_position(const hmi_source *source, uint32_t offset, int *line, int *column)
{
    if (offset > source->length)
        offset = (uint32_t)source->length;
    uint32_t start = line_start(source, offset);
    *line = 1;
    for (uint32_t i = 0; i < start; i++)
        *line += source->text[i] == '\n';
    *column = 1 + count_characters(source->text + start, offset - start);
}

/* NULL stays NULL. */
static const char *copy_text(hm_context *context, const char *text)
{
    const char *copy = text ? hmi_arena_text(&context->arena, text, strlen(text)) : NULL;
    context->out_of_memory |= text && !copy;
    return copy;
}

enum { LONGEST_SHOWN_LINE = 400 };

/* Fills in the place: file, line, column, and the text of the line unless it is very long. */
static void locate(hm_context *context, hmi_span at, hm_diagnostic *diagnostic)
{
    const hmi_source *source = hmi_context_source(context, at.file);
    if (!source)
        return;
    uint32_t offset = at.start > source->length ? (uint32_t)source->length : at.start;
    diagnostic->file = hmi_arena_shown(&context->arena, source->name, strlen(source->name));
    context->out_of_memory |= !diagnostic->file;
    diagnostic->path = copy_text(context, source->path);
    hmi_source_position(source, offset, &diagnostic->line, &diagnostic->column);
    uint32_t start = line_start(source, offset), end = offset;
    while (end < source->length && source->text[end] != '\n' && source->text[end] != '\r')
        end++;
    if (end - start > LONGEST_SHOWN_LINE)
        return; /* line and column say where; a huge line would drown the message */
    uint32_t marked = at.length < end - offset ? at.length : end - offset;
    diagnostic->length = count_characters(source->text + offset, marked);
    if (diagnostic->length < 1)
        diagnostic->length = 1;
    diagnostic->source_line = shown_line(context, source->text + start, end - start);
    if (!diagnostic->source_line)
        context->out_of_memory = true;
}

static const char *vprint_in_arena(hm_context *context, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = hmi_vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = length < 0 ? NULL : hmi_arena_alloc(&context->arena, (size_t)length + 1);
    if (text)
        hmi_vsnprintf(text, (size_t)length + 1, format, args);
    if (text && hmi_text_is_hidden(text, (size_t)length))
        text = hmi_arena_shown(&context->arena, text, (size_t)length);
    context->out_of_memory |= !text;
    return text;
}

const char *hmi_context_printf(hm_context *context, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = vprint_in_arena(context, format, args);
    va_end(args);
    return text;
}

/* The same message at the same place is said once, however often a loop runs into it. */
static bool said_already(const hm_context *context, const hm_diagnostic *d)
{
    for (size_t i = 0; i < context->diagnostics.count; i++) {
        const hm_diagnostic *said = &context->diagnostics.data[i];
        bool same_file = said->file && d->file ? strcmp(said->file, d->file) == 0
                                               : said->file == d->file;
        if (said->line == d->line && said->column == d->column && same_file &&
            strcmp(said->message, d->message) == 0)
            return true;
    }
    return false;
}

/* Counts a diagnostic. May it be kept? Only the first ones of a kind are. */
static bool has_room(hm_context *context, hm_severity severity)
{
    size_t *said = severity == HM_SEVERITY_ERROR ? &context->errors : &context->remarks;
    return ++*said <= HMI_MOST_ERRORS;
}

/* Keeps a diagnostic whose texts are the context's, unless it was said before. */
static void keep(hm_context *context, const hm_diagnostic *diagnostic)
{
    hm_severity severity = diagnostic->severity;
    if (diagnostic->message && said_already(context, diagnostic)) {
        context->repeated |= severity == HM_SEVERITY_ERROR;
        --*(severity == HM_SEVERITY_ERROR ? &context->errors : &context->remarks);
        return;
    }
    if (!diagnostic->message ||
        !hmi_array_push(&context->allocator, &context->diagnostics, *diagnostic))
        context->out_of_memory = true;
}

static void report(hm_context *context, hm_severity severity, hmi_span at, const char *hint,
                   const char *format, va_list args)
{
    if (severity == HM_SEVERITY_ERROR && atomic_load(&context->budget.failed)) {
        context->out_of_memory = true; /* what is missing is not missing in the model */
        return;
    }
    if (!has_room(context, severity))
        return;
    hm_diagnostic diagnostic = {.severity = severity, .length = 1};
    locate(context, at, &diagnostic);
    diagnostic.message = vprint_in_arena(context, format, args);
    diagnostic.hint = hint ? hmi_arena_shown(&context->arena, hint, strlen(hint)) : NULL;
    context->out_of_memory |= hint && !diagnostic.hint;
    keep(context, &diagnostic);
}

#define REPORT(severity)                                                                           \
    va_list args;                                                                                  \
    va_start(args, format);                                                                        \
    report(context, severity, at, hint, format, args);                                             \
    va_end(args)

void hmi_error(hm_context *context, hmi_span at, const char *hint, const char *format, ...)
{
    REPORT(HM_SEVERITY_ERROR);
}

void hmi_warning(hm_context *context, hmi_span at, const char *hint, const char *format, ...)
{
    REPORT(HM_SEVERITY_WARNING);
}

void hmi_note(hm_context *context, hmi_span at, const char *hint, const char *format, ...)
{
    REPORT(HM_SEVERITY_NOTE);
}

void hmi_context_take(hm_context *context, hm_context *from)
{
    for (size_t i = 0; i < from->diagnostics.count; i++) {
        hm_diagnostic d = from->diagnostics.data[i];
        if (!has_room(context, d.severity))
            continue;
        d.file = copy_text(context, d.file);
        d.path = copy_text(context, d.path);
        d.source_line = copy_text(context, d.source_line);
        d.message = copy_text(context, d.message);
        d.hint = copy_text(context, d.hint);
        keep(context, &d);
    }
    context->out_of_memory |= from->out_of_memory;
    hm_context_clear(from);
}

bool hmi_context_too_many(const hm_context *context)
{
    return context->errors >= HMI_MOST_ERRORS || context->out_of_memory;
}

/* "2 GB", "1536 MB" */
static const char *size_text(size_t bytes, char text[32])
{
    bool whole = bytes % ((size_t)1 << 30) == 0;
    snprintf(text, 32, "%zu %s", bytes >> (whole ? 30 : 20), whole ? "GB" : "MB");
    return text;
}

hm_status hmi_context_memory_status(hm_context *context, hm_status status, hmi_span at,
                                    const char *doing)
{
    hmi_budget *budget = &context->budget;
    if (status == HM_OK || !atomic_load(&budget->failed))
        return status;
    if (!atomic_load(&budget->exceeded))
        return HM_ERR_NOMEM;
    size_t limit = budget->limit;
    char text[32];
    atomic_store(&budget->failed, false); /* there is memory for the message */
    budget->limit = SIZE_MAX;
    if (!context->memory_said)
        hmi_error(context, at, "the limit is set by --max-memory, or by hm_limits",
                  "%s needs more than %s of memory", doing, size_text(limit, text));
    budget->limit = limit;
    atomic_store(&budget->failed, true);
    context->memory_said = context->limit_exceeded = true;
    return HM_ERR_LIMIT;
}

hm_status hmi_context_status(const hm_context *context, size_t errors_before)
{
    if (context->out_of_memory && !context->memory_said)
        return HM_ERR_NOMEM;
    if (context->limit_exceeded)
        return HM_ERR_LIMIT;
    return context->errors > errors_before || context->repeated ? HM_ERR_INPUT : HM_OK;
}

static const char *severity_text(hm_severity severity)
{
    return severity == HM_SEVERITY_ERROR     ? "error"
           : severity == HM_SEVERITY_WARNING ? "warning"
                                             : "note";
}

/* Writes through snprintf at the place reached so far, never past the end. */
typedef struct output {
    char *buffer;
    size_t size, length;
} output;

__attribute__((format(printf, 2, 3))) static void put(output *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *place = out->length < out->size ? out->buffer + out->length : NULL;
    size_t room = place ? out->size - out->length : 0;
    int length = hmi_vsnprintf(place, room, format, args);
    va_end(args);
    if (length > 0)
        out->length += (size_t)length;
}

/* The caret line repeats the tabs of the source line, so that it lines up whatever the tab width. */
static void put_caret(output *out, const hm_diagnostic *d, const char *on, const char *off)
{
    int column = 1;
    for (const char *s = d->source_line; *s && column < d->column; s++) {
        if (continues_character(*s))
            continue;
        put(out, "%c", *s == '\t' ? '\t' : ' ');
        column++;
    }
    put(out, "%s^", on);
    for (int i = 1; i < d->length; i++)
        put(out, "~");
    put(out, "%s\n", off);
}

size_t hm_diagnostic_format(const hm_diagnostic *d, bool color, char *buffer, size_t size)
{
    output out = {buffer, buffer ? size : 0, 0};
    if (buffer && size)
        buffer[0] = '\0';
    if (!d || !d->message)
        return 0;
    const char *off = color ? "\033[0m" : "", *bold = color ? "\033[1m" : "";
    const char *tint = !color                               ? ""
                       : d->severity == HM_SEVERITY_ERROR   ? "\033[1;31m"
                       : d->severity == HM_SEVERITY_WARNING ? "\033[1;35m"
                                                            : "\033[1;36m";
    if (d->file && d->line > 0)
        put(&out, "%s%s:%d:%d:%s ", bold, d->file, d->line, d->column, off);
    else if (d->file)
        put(&out, "%s%s:%s ", bold, d->file, off);
    put(&out, "%s%s:%s %s%s%s\n", tint, severity_text(d->severity), off, bold, d->message, off);
    if (d->source_line) {
        put(&out, "  %5d | %s\n        | ", d->line, d->source_line);
        put_caret(&out, d, tint, off);
    }
    if (d->hint)
        put(&out, "  hint: %s\n", d->hint);
    return out.length;
}
