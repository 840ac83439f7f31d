#include "support/expect.h"

#include "support/check.h"
#include "support/expect_kinds.h"
#include "support/probe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAMES = 16, MOST_VALUES = 400 };

/* ---- records, tab-separated ------------------------------------------------------------------ */

static void record(const comparison *c)
{
    const char *path = getenv("HAMEL_VALIDATION");
    if (!path || !*path)
        return;
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    fprintf(file, "%s\t%s\t%s\t%s\t%s\t%.17g\t%.17g\t%.3g\n", c->source, c->model, c->file,
            c->quantity, c->note, c->expected, c->actual, c->tolerance);
    assert_int_equal(fclose(file), 0);
}

void expect_compare(const comparison *c)
{
    double error = fabs(c->actual - c->expected);
    print_message("  %-40s %.1e of %.0e\n", c->quantity, error, c->tolerance);
    if (!(error <= c->tolerance))
        fail_msg("%s: %s is %.17g, expected %.17g ± %.1e", c->file, c->quantity, c->actual,
                 c->expected, c->tolerance);
    record(c);
}

/* ---- reading --------------------------------------------------------------------------------- */

char *expect_trim(char *text)
{
    while (*text == ' ')
        text++;
    for (size_t n = strlen(text); n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\n'); n--)
        text[n - 1] = '\0';
    return text;
}

/* Ends `text` at the mark and returns what follows it; NULL where there is no mark. */
char *expect_cut(char *text, const char *mark)
{
    char *at = text ? strstr(text, mark) : NULL;
    if (!at)
        return NULL;
    *at = '\0';
    return expect_trim(at + strlen(mark));
}

/* Takes "..." out of `text`, which then goes on after it. */
static const char *take_quoted(char *text, char *quoted)
{
    char *open = strchr(text, '"'), *close = open ? strchr(open + 1, '"') : NULL;
    if (!close)
        return NULL;
    snprintf(quoted, EXPECT_TEXT, "%.*s", (int)(close - open - 1), open + 1);
    memmove(open, close + 1, strlen(close + 1) + 1);
    return quoted;
}

static void take_apart(expect_line *l)
{
    char *head = expect_trim(l->text + strlen("# expect "));
    l->note = expect_cut(head, " -- ");
    l->other = take_quoted(head, l->quoted);
    l->list = expect_cut(head, ":");
    l->with = expect_cut(head, " with ");
    char *tolerance = expect_cut(head, "±");
    l->tolerance = tolerance ? strtod(tolerance, NULL) : 0;
    l->time = expect_cut(head, "at ");
    l->kind = l->time ? "at" : expect_trim(head);
    l->note = l->note ? l->note : "";
    l->with = l->with ? l->with : "";
}

/* The next part of a list, up to a comma outside brackets; NULL at its end. */
char *expect_part(char **rest)
{
    int depth = 0;
    char *start = *rest;
    if (!start || !*start)
        return NULL;
    for (char *c = start;; c++) {
        depth += (*c == '(' || *c == '[') - (*c == ')' || *c == ']');
        if (*c != '\0' && (*c != ',' || depth > 0))
            continue;
        *rest = *c ? c + 1 : c;
        *c = '\0';
        return expect_trim(start);
    }
}

/* ---- running --------------------------------------------------------------------------------- */

static bool set_option(hm_run_options *options, const char *name, const char *value)
{
    if (strcmp(name, "rtol") == 0)
        options->rtol = strtod(value, NULL);
    else if (strcmp(name, "atol") == 0)
        options->atol = strtod(value, NULL);
    else if (strcmp(name, "step") == 0)
        options->step = strtod(value, NULL);
    else if (strcmp(name, "method") == 0)
        options->method = value;
    else if (strcmp(name, "drift") == 0)
        options->drift = value;
    else if (strcmp(name, "formulation") == 0)
        return hm_formulation_find(value, &options->formulation);
    else
        return false;
    return true;
}

/* The model with what `with` says; `text` is cut up and must outlive the motion. */
static motion *load(const char *path, char *text)
{
    hm_override list[MOST_NAMES], run[MOST_NAMES];
    size_t count = 0, run_count = 0;
    hm_run_options scratch = {0};
    for (char *part; (part = expect_part(&text));) {
        assert_true(count + run_count < MOST_NAMES);
        char *value = expect_cut(part, "=");
        if (!value)
            fail_msg("%s: with %s: NAME=VALUE is meant", path, part);
        part = expect_trim(part);
        if (set_option(&scratch, part, value))
            run[run_count++] = (hm_override){part, value};
        else
            list[count++] = (hm_override){part, value};
    }
    motion *m = motion_file(path, list, count);
    for (size_t i = 0; i < run_count; i++)
        set_option(&m->options, run[i].name, run[i].value);
    return m;
}

/* An expression of parameters: the language reads it, as the value of t in a state. */
double expect_number(const motion *m, const char *expression)
{
    double t = NAN, q[MOST_VALUES], v[MOST_VALUES], z[MOST_VALUES];
    char text[EXPECT_TEXT];
    snprintf(text, sizeof text, "t = %s", expression);
    if (hm_model_read_state(m->context, m->model, text, &t, q, v, z, NULL, NULL) != HM_OK) {
        show_diagnostics(m->context);
        fail_msg("'%s' is not an expression of parameters", expression);
    }
    return t;
}

typedef struct named {
    const motion *m;
    char *names[MOST_VALUES];
    double first[MOST_VALUES], last[MOST_VALUES], spread[MOST_VALUES];
    size_t count, frames;
    double t;
} named;

/* Index among `count` names of a list; -1 without. */
static int find(const motion *m, size_t count, const char *(*name_of)(const hm_model *, size_t),
                const char *name, size_t length)
{
    for (size_t i = 0; i < count; i++) {
        const char *one = name_of(m->model, i);
        if (strlen(one) == length && strncmp(one, name, length) == 0)
            return (int)i;
    }
    return -1;
}

static const char *row_name(const hm_model *model, size_t index)
{
    return hm_model_constraint(model, index).name;
}

static bool look_coordinate(const motion *m, const hm_frame *f, const char *name, double *value)
{
    size_t length = strlen(name), primes = 0;
    while (length > 0 && name[length - 1] == '\'') {
        length--;
        primes++;
    }
    int i = find(m, m->n, hm_model_coordinate_name, name, length);
    if (i < 0 || primes > 2 || (primes == 2 && !f->qdd))
        return false;
    *value = primes == 0 ? f->q[i] : primes == 1 ? f->v[i] : f->qdd[i];
    return true;
}

/* multiplier(ROW), reaction(x) */
static bool look_force(const motion *m, const hm_frame *f, const char *name, double *value)
{
    const char *open = strchr(name, '(');
    if (!open)
        return false;
    size_t length = strlen(open + 1) - 1;
    bool multiplier = strncmp(name, "multiplier(", 11) == 0;
    int i = multiplier ? find(m, hm_model_constraint_count(m->model), row_name, open + 1, length)
                       : find(m, m->n, hm_model_coordinate_name, open + 1, length);
    if (i < 0 || (!multiplier && strncmp(name, "reaction(", 9) != 0))
        return false;
    *value = multiplier ? f->lambda[i] : f->Qi[i];
    return true;
}

static double look(const motion *m, const hm_frame *f, const char *name)
{
    double value = NAN;
    size_t length = strlen(name);
    if (look_coordinate(m, f, name, &value) || look_force(m, f, name, &value))
        return value;
    int i = find(m, hm_model_output_count(m->model), hm_model_output_name, name, length);
    if (i >= 0)
        return f->outputs[i];
    i = find(m, hm_model_state_count(m->model), hm_model_state_name, name, length);
    if (i >= 0)
        return f->z[i];
    if (strcmp(name, "energy") == 0)
        return f->total;
    if (strcmp(name, "kinetic") == 0)
        return f->kinetic;
    if (strcmp(name, "potential") == 0)
        return f->potential;
    fail_msg("%s: nothing is called '%s'", hm_model_name(m->model), name);
    return NAN;
}

static bool follow(void *user, const hm_frame *frame)
{
    named *n = user;
    for (size_t k = 0; k < n->count; k++) {
        n->last[k] = look(n->m, frame, n->names[k]);
        n->first[k] = n->frames == 0 ? n->last[k] : n->first[k];
        n->spread[k] = fmax(n->spread[k], fabs(n->last[k] - n->first[k]));
        if (!isfinite(n->last[k]))
            n->spread[k] = INFINITY;
    }
    n->frames++;
    n->t = frame->t;
    return true;
}

static void run(motion *m, named *n, double end, double every)
{
    n->m = m;
    m->options.content = HM_FRAME_CONTENT_FORCES | HM_FRAME_CONTENT_ENERGY;
    m->options.on_frame = follow;
    m->options.user = n;
    m->options.end = end;
    m->options.every = every;
    motion_must(m);
}

/* ---- kinds ----------------------------------------------------------------------------------- */

void expect_quantity(const expect_subject *s, const expect_line *l, const motion *m,
                     const char *quantity, double expected, double actual)
{
    char full[EXPECT_TEXT];
    snprintf(full, sizeof full, "%s%s%s", quantity, *l->with ? ", " : "", l->with);
    expect_compare(&(comparison){hm_model_name(m->model), s->path, s->source, full, l->note,
                                 expected, actual, l->tolerance});
}

static void check_at(const expect_subject *s, expect_line *l, motion *m)
{
    static named n;
    double expected[MOST_VALUES];
    char *rest = (char *)l->list, quantity[EXPECT_TEXT];
    n = (named){0};
    for (char *part; (part = expect_part(&rest)); n.count++) {
        char *value = expect_cut(part, "=");
        if (!value)
            fail_msg("%s: '%s' has no value", s->path, part);
        n.names[n.count] = expect_trim(part);
        expected[n.count] = expect_number(m, value);
    }
    double t = expect_number(m, l->time), length = t - m->options.start;
    if (length > 0)
        run(m, &n, t, length);
    else
        run(m, &n, m->options.end, m->options.end - m->options.start);
    if (length > 0 && fabs(n.t - t) > 1e-12 * fmax(1, fabs(t)))
        fail_msg("%s: the run ended at t = %.17g, before %s", s->path, n.t, l->time);
    for (size_t k = 0; k < n.count; k++) {
        snprintf(quantity, sizeof quantity, "%s at t = %s", n.names[k], l->time);
        expect_quantity(s, l, m, quantity, expected[k], length > 0 ? n.last[k] : n.first[k]);
    }
}

static void check_conserved(const expect_subject *s, expect_line *l, motion *m)
{
    static named n;
    char *rest = (char *)l->list, quantity[EXPECT_TEXT];
    n = (named){0};
    for (char *part; (part = expect_part(&rest)); n.count++)
        n.names[n.count] = part;
    run(m, &n, m->options.end, (m->options.end - m->options.start) / 100);
    assert_true(n.frames > 50);
    for (size_t k = 0; k < n.count; k++) {
        snprintf(quantity, sizeof quantity, "largest change of %s", n.names[k]);
        expect_quantity(s, l, m, quantity, 0, n.spread[k]);
    }
}

static void check_event(const expect_subject *s, expect_line *l, motion *m)
{
    char *rest = (char *)l->list, quantity[EXPECT_TEXT];
    motion_must(m);
    for (char *part; (part = expect_part(&rest));) {
        char *value = expect_cut(part, "=");
        double actual = NAN;
        part = expect_trim(part);
        for (size_t i = m->result.event_count; i-- > 0;)
            if (strcmp(m->result.events[i].name, part) == 0)
                actual = m->result.events[i].t;
        snprintf(quantity, sizeof quantity, "event %s", part);
        expect_quantity(s, l, m, quantity, expect_number(m, value), actual);
    }
}

/* The first of the list that names the row; NaN: none does. */
static double first_time(const hm_run_impact *list, size_t count, const char *row)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < list[i].name_count; k++)
            if (strcmp(list[i].names[k], row) == 0)
                return list[i].t;
    return NAN;
}

static void check_times(const expect_subject *s, expect_line *l, motion *m, const char *what,
                        const hm_run_impact *list, size_t count)
{
    char *rest = (char *)l->list, quantity[EXPECT_TEXT];
    for (char *part; (part = expect_part(&rest));) {
        char *value = expect_cut(part, "=");
        part = expect_trim(part);
        snprintf(quantity, sizeof quantity, "%s of %s", what, part);
        expect_quantity(s, l, m, quantity, expect_number(m, value), first_time(list, count, part));
    }
}

static void check_impact(const expect_subject *s, expect_line *l, motion *m)
{
    motion_must(m);
    check_times(s, l, m, "impact", m->result.impacts, m->result.impact_count);
}

static void check_accumulation(const expect_subject *s, expect_line *l, motion *m)
{
    motion_must(m);
    check_times(s, l, m, "accumulation", m->result.accumulations, m->result.accumulation_count);
}

static void check_violation(const expect_subject *s, expect_line *l, motion *m)
{
    motion_must(m);
    assert_true(m->result.constraints > 0);
    expect_quantity(s, l, m, "largest violation", 0, motion_violation(m));
}

static void check_balance(const expect_subject *s, expect_line *l, motion *m)
{
    motion_must(m);
    assert_true(m->result.has_total);
    expect_quantity(s, l, m, "energy balance", 0, m->result.balance_error);
}

static void check_method(const expect_subject *s, expect_line *l, motion *m)
{
    motion_must(m);
    if (strcmp(m->result.method, l->list) != 0)
        fail_msg("%s: the method is %s, not %s", s->path, m->result.method, l->list);
}

static void check_says(const expect_subject *s, expect_line *l, motion *m)
{
    motion_must(m);
    if (!motion_says(m, l->list))
        fail_msg("%s: nothing says '%s'", s->path, l->list);
}

static const struct {
    const char *name;
    expect_kind check;
} kinds[] = {
    {"at", check_at},
    {"conserved", check_conserved},
    {"event", check_event},
    {"impact", check_impact},
    {"accumulation", check_accumulation},
    {"violation", check_violation},
    {"balance", check_balance},
    {"method", check_method},
    {"says", check_says},
    {"class", expect_class},
    {"growth", expect_growth},
    {"freedom", expect_freedom},
    {"symmetry", expect_symmetry},
    {"other", expect_other},
    {"eigenvalue", expect_eigenvalue},
};

static void check_line(const expect_subject *s, expect_line *l)
{
    char with[EXPECT_TEXT];
    take_apart(l);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, l->kind) == 0) {
            snprintf(with, sizeof with, "%s", l->with);
            motion *m = load(s->path, with);
            kinds[i].check(s, l, m);
            motion_close(m);
            return;
        }
    fail_msg("%s: cannot read '# expect %s'", s->path, l->kind);
}

size_t expect_file(const char *path)
{
    static expect_line l;
    expect_subject s = {path, ""};
    char full[1024];
    size_t count = 0;
    snprintf(full, sizeof full, "%s/%s", HAMEL_SOURCE_DIR, path);
    FILE *file = fopen(full, "r");
    if (!file)
        fail_msg("cannot read %s", full);
    while (fgets(l.text, sizeof l.text, file)) {
        if (strncmp(l.text, "# Source: ", 10) == 0)
            snprintf(s.source, sizeof s.source, "%s", expect_trim(l.text + 10));
        if (strncmp(l.text, "# expect ", 9) != 0)
            continue;
        check_line(&s, &l);
        count++;
    }
    fclose(file);
    return count;
}
