/* Measures from their text, and what they add up.
 *
 *     ---- reading ----     "NAME = kind(arguments), ..."
 *     ---- adding up ----   frame by frame
 *     ---- values ----      at the end of a run
 *
 * Verified: test/unit/sweep/test_sweep.c
 */
#include "base/argument.h"
#include "sweep/measure.h"

#include "sweep/pieces.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name, *usage;
    size_t arguments;
    bool event, expression; /* the first argument is an event; there is an expression */
} kinds[HMI_MEASURE_KINDS] = {
    [HMI_MEASURE_FINAL] = {"final", "final(E)", 1, false, true},
    [HMI_MEASURE_MAX] = {"max", "max(E)", 1, false, true},
    [HMI_MEASURE_MIN] = {"min", "min(E)", 1, false, true},
    [HMI_MEASURE_MEAN] = {"mean", "mean(E)", 1, false, true},
    [HMI_MEASURE_RMS] = {"rms", "rms(E)", 1, false, true},
    [HMI_MEASURE_INTEGRAL] = {"integral", "integral(E)", 1, false, true},
    [HMI_MEASURE_TIME] = {"time", "time(EVENT)", 1, true, false},
    [HMI_MEASURE_COUNT] = {"count", "count(EVENT)", 1, true, false},
    [HMI_MEASURE_FIRST] = {"first", "first(EVENT, E)", 2, true, true},
    [HMI_MEASURE_SETTLED] = {"settled", "settled(E, tolerance)", 2, false, true},
    [HMI_MEASURE_CROSSING] = {"crossing", "crossing(E1 = E2, E)", 2, false, true},
};

/* ---- reading ---- */

static bool is(hmi_text_piece p, const char *word)
{
    return p.length == strlen(word) && memcmp(p.text, word, p.length) == 0;
}

static hm_status refuse(hm_measures *m, const char *what, hmi_text_piece where)
{
    hmi_error(m->context, hmi_no_span,
              "measures are final(x), max(E), min, mean, rms, integral, time(event), count(event), "
              "first(event, x), settled(x, tolerance), crossing(x = 0, y)",
              "--measure: %s: '%.*s'", what, (int)where.length, where.text ? where.text : "");
    return HM_ERR_USAGE;
}

static bool add_output(hm_measures *m, const char *format, hmi_text_piece a, hmi_text_piece b)
{
    hmi_text_addf(&m->statements, "output " HMI_MEASURE_PREFIX "%zu = ", ++m->outputs);
    hmi_text_addf(&m->statements, format, (int)a.length, a.text, (int)b.length, b.text);
    hmi_text_add(&m->statements, "\n");
    return !m->statements.failed;
}

/* E1 = E2, as the expression E1 - E2 */
static hm_status add_difference(hm_measures *m, hmi_text_piece text)
{
    hmi_text_piece rest = text, left, right;
    if (!hmi_piece_next(&rest, '=', &left) || !hmi_piece_next(&rest, '=', &right) || rest.text ||
        !left.length || !right.length)
        return refuse(m, "crossing needs E1 = E2", text);
    return add_output(m, "(%.*s) - (%.*s)", left, right) ? HM_OK : HM_ERR_NOMEM;
}

static hm_status read_arguments(hm_measures *m, hmi_measure *measure, hmi_text_piece *argument)
{
    const hmi_text_piece nothing = {"", 0};
    hmi_text_piece expression = argument[0];
    measure->output = m->outputs;
    if (kinds[measure->kind].event) {
        measure->event = hmi_arena_text(&m->arena, argument[0].text, argument[0].length);
        if (!measure->event)
            return HM_ERR_NOMEM;
        expression = argument[1];
    }
    if (measure->kind == HMI_MEASURE_SETTLED &&
        (!hmi_piece_number(argument[1], &measure->tolerance) || !(measure->tolerance > 0)))
        return refuse(m, "the tolerance must be a positive number", argument[1]);
    if (measure->kind == HMI_MEASURE_CROSSING) {
        hm_status status = add_difference(m, argument[0]);
        if (status != HM_OK)
            return status;
        expression = argument[1];
    }
    if (!kinds[measure->kind].expression)
        return HM_OK;
    return add_output(m, "%.*s%.*s", expression, nothing) ? HM_OK : HM_ERR_NOMEM;
}

static hm_status read_call(hm_measures *m, hmi_text_piece call, hmi_measure *measure)
{
    hmi_text_piece name, inside, argument[2] = {{"", 0}, {"", 0}};
    if (!hmi_piece_call(call, &name, &inside))
        return refuse(m, "a measure was expected", call);
    int kind = 0;
    while (kind < HMI_MEASURE_KINDS && !is(name, kinds[kind].name))
        kind++;
    if (kind == HMI_MEASURE_KINDS)
        return refuse(m, "there is no such measure", name);
    measure->kind = (hmi_measure_kind)kind;
    size_t count = hmi_piece_count(inside, ',');
    for (size_t i = 0; i < 2 && hmi_piece_next(&inside, ',', &argument[i]); i++)
        if (!argument[i].length)
            count = 0;
    if (count != kinds[kind].arguments)
        return refuse(m, kinds[kind].usage, call);
    return read_arguments(m, measure, argument);
}

static bool is_taken(const hm_measures *m, const char *name)
{
    for (size_t i = 0; i < m->all.count; i++)
        if (strcmp(m->all.data[i].name, name) == 0)
            return true;
    return false;
}

static hm_status read_entry(hm_measures *m, hmi_text_piece entry)
{
    hmi_text_piece rest = entry, name, call;
    hmi_measure measure = {.name = NULL};
    (void)hmi_piece_next(&rest, '=', &name);
    call = rest.text ? hmi_piece_trim(rest) : name;
    hm_status status = read_call(m, call, &measure);
    if (status != HM_OK)
        return status;
    measure.name = hmi_arena_text(&m->arena, name.text, name.length);
    if (!measure.name)
        return HM_ERR_NOMEM;
    if (!name.length || is_taken(m, measure.name))
        return refuse(m, name.length ? "this name is taken" : "a name is missing", entry);
    return hmi_array_push(&m->context->allocator, &m->all, measure) ? HM_OK : HM_ERR_NOMEM;
}

hm_status hm_measures_parse(hm_context *context, const char *text, hm_measures **out)
{
    HMI_ARGUMENT(context, context && text && out, "a text and a place for the measures are needed");
    const hm_allocator *allocator = &context->allocator;
    hm_measures *m = hmi_alloc(allocator, sizeof *m);
    hmi_text_piece rest = {text, strlen(text)}, entry;
    hm_status status = HM_OK;
    *out = NULL;
    if (!m)
        return HM_ERR_NOMEM;
    *m = (hm_measures){.context = hmi_context_share(context)};
    hmi_arena_init(&m->arena, allocator);
    hmi_text_init(&m->statements, allocator);
    while (status == HM_OK && hmi_piece_next(&rest, ',', &entry))
        status = read_entry(m, entry);
    if (status != HM_OK) {
        hm_measures_destroy(m);
        return context->out_of_memory ? HM_ERR_NOMEM : status;
    }
    *out = m;
    return HM_OK;
}

void hm_measures_destroy(hm_measures *m)
{
    if (!m)
        return;
    const hm_allocator *allocator = &m->context->allocator;
    hmi_array_release(allocator, &m->all);
    hmi_text_release(&m->statements);
    hmi_arena_release(&m->arena);
    hm_context *context = m->context;
    hmi_free(allocator, m, sizeof *m);
    hm_context_destroy(context);
}

size_t hm_measures_count(const hm_measures *m)
{
    if (!m)
        return 0;
    return m->all.count;
}

const char *hm_measures_name(const hm_measures *m, size_t index)
{
    if (!m || index >= m->all.count)
        return NULL;
    return m->all.data[index].name;
}

const char *hm_measures_statements(const hm_measures *m)
{
    if (!m)
        return "";
    return hmi_text_view(&m->statements);
}

bool hmi_measures_need_frames(const hm_measures *m)
{
    for (size_t i = 0; i < m->all.count; i++) {
        hmi_measure_kind kind = m->all.data[i].kind;
        if (kind != HMI_MEASURE_FINAL && kind != HMI_MEASURE_TIME && kind != HMI_MEASURE_COUNT)
            return true;
    }
    return false;
}

/* ---- adding up ---- */

hm_status hmi_measuring_init(hmi_measuring *m, const hm_measures *measures, const hm_model *model,
                             const hm_allocator *allocator)
{
    size_t bytes = (measures->all.count + 1) * sizeof(hmi_tally);
    *m = (hmi_measuring){.measures = measures, .allocator = allocator};
    m->first_output = hm_model_output_count(model) - measures->outputs;
    m->tally = hmi_alloc(allocator, bytes);
    if (!m->tally)
        return HM_ERR_NOMEM;
    memset(m->tally, 0, bytes);
    return HM_OK;
}

void hmi_measuring_release(hmi_measuring *m)
{
    size_t count = m->tally ? m->measures->all.count : 0;
    for (size_t i = 0; i < count; i++)
        hmi_array_release(m->allocator, &m->tally[i].kept);
    hmi_free(m->allocator, m->tally, (m->measures->all.count + 1) * sizeof *m->tally);
}

void hmi_measuring_begin(hmi_measuring *m)
{
    for (size_t i = 0; i < m->measures->all.count; i++) {
        hmi_tally *t = &m->tally[i];
        t->begun = t->done = false;
        t->value = 0;
        t->kept.count = 0;
    }
}

static void keep_pair(hmi_measuring *m, hmi_tally *t, double a, double b)
{
    if (!hmi_array_push(m->allocator, &t->kept, a) || !hmi_array_push(m->allocator, &t->kept, b))
        m->failed = true;
}

/* Where the difference changes its sign the other expression is taken on the straight line. */
static void look_for_crossing(hmi_tally *t, double difference, double x)
{
    double before = t->last;
    if (t->done ||
        (t->begun && (before == 0 || (before < 0) == (difference < 0)) && difference != 0))
        return;
    if (!t->begun && difference != 0)
        return;
    double part = difference == 0 ? 1 : before / (before - difference);
    t->value = t->begun ? t->other + part * (x - t->other) : x;
    t->done = true;
}

static void add_row(hmi_measuring *m, const hmi_measure *measure, hmi_tally *t, double time,
                    const double *x)
{
    double dt = t->begun ? time - t->t : 0, left = t->last;
    switch (measure->kind) {
    case HMI_MEASURE_MAX:
        t->value = t->begun && t->value >= x[0] ? t->value : x[0];
        break;
    case HMI_MEASURE_MIN:
        t->value = t->begun && t->value <= x[0] ? t->value : x[0];
        break;
    case HMI_MEASURE_MEAN:
    case HMI_MEASURE_INTEGRAL:
        t->value += dt > 0 ? 0.5 * dt * (left + x[0]) : 0;
        break;
    case HMI_MEASURE_RMS:
        t->value += dt > 0 ? 0.5 * dt * (left * left + x[0] * x[0]) : 0;
        break;
    case HMI_MEASURE_SETTLED:
        keep_pair(m, t, time, x[0]);
        break;
    case HMI_MEASURE_CROSSING:
        look_for_crossing(t, x[0], x[1]);
        t->other = x[1];
        break;
    default:
        break;
    }
    t->t = time;
    t->last = x[0];
    t->begun = true;
}

void hmi_measuring_add(hmi_measuring *m, const hm_frame *frame)
{
    if (!frame->outputs)
        return;
    for (size_t i = 0; i < m->measures->all.count; i++) {
        const hmi_measure *measure = &m->measures->all.data[i];
        const double *x = frame->outputs + m->first_output + measure->output;
        bool event = frame->reason == HM_FRAME_REASON_EVENT;
        if (measure->kind == HMI_MEASURE_FIRST) {
            if (event)
                keep_pair(m, &m->tally[i], (double)frame->event, x[0]);
        } else if (!event && !kinds[measure->kind].event) {
            if (!m->tally[i].begun)
                m->start = frame->t;
            add_row(m, measure, &m->tally[i], frame->t, x);
        }
    }
}

/* ---- values ---- */

static double settled_since(const hmi_measure *measure, const hmi_tally *t)
{
    size_t rows = t->kept.count / 2;
    if (rows == 0)
        return NAN;
    double end = t->kept.data[2 * rows - 1];
    while (rows > 0 && fabs(t->kept.data[2 * rows - 1] - end) <= measure->tolerance)
        rows--;
    return t->kept.data[2 * rows < t->kept.count ? 2 * rows : t->kept.count - 2];
}

/* The index of the first event of that name; event_count where there is none. */
static size_t first_event(const hmi_measure *measure, const hm_member_result *r)
{
    size_t i = 0;
    while (i < r->event_count && strcmp(r->events[i].name, measure->event) != 0)
        i++;
    return i;
}

static double value_at_event(const hmi_tally *t, size_t event)
{
    for (size_t i = 0; i + 1 < t->kept.count; i += 2)
        if (t->kept.data[i] == (double)event)
            return t->kept.data[i + 1];
    return NAN;
}

/* Beyond the events that a run keeps the count is not known. */
static double count_events(const hmi_measure *measure, const hm_member_result *r)
{
    double count = 0;
    for (size_t i = 0; i < r->event_count; i++)
        count += strcmp(r->events[i].name, measure->event) == 0;
    return r->events_dropped ? NAN : count;
}

static double value_of(const hmi_measuring *m, size_t i, const hm_member_result *r)
{
    const hmi_measure *measure = &m->measures->all.data[i];
    const hmi_tally *t = &m->tally[i];
    size_t event = measure->event ? first_event(measure, r) : 0;
    bool happened = event < r->event_count;
    double span = t->begun ? t->t - m->start : 0;
    switch (measure->kind) {
    case HMI_MEASURE_FINAL:
        return r->outputs ? r->outputs[m->first_output + measure->output] : NAN;
    case HMI_MEASURE_TIME:
        return happened ? r->events[event].t : NAN;
    case HMI_MEASURE_COUNT:
        return count_events(measure, r);
    case HMI_MEASURE_FIRST:
        return happened ? value_at_event(t, event) : NAN;
    case HMI_MEASURE_SETTLED:
        return settled_since(measure, t);
    case HMI_MEASURE_CROSSING:
        return t->done ? t->value : NAN;
    case HMI_MEASURE_MEAN:
        return span > 0 ? t->value / span : t->begun ? t->last : NAN;
    case HMI_MEASURE_RMS:
        return span > 0 ? sqrt(t->value / span) : t->begun ? fabs(t->last) : NAN;
    default:
        return t->begun ? t->value : NAN;
    }
}

void hmi_measuring_end(hmi_measuring *m, const hm_member_result *result, double *values)
{
    for (size_t i = 0; i < m->measures->all.count; i++)
        values[i] = value_of(m, i, result);
}
