/* Hostile input: what would nest, loop or grow for ever ends soon, in little memory, with a message
 * that says why (or works, where it is legal after all).
 *
 * Time is the processor time of the process, so that a busy machine fails nothing; memory is what the
 * library has taken from its allocator.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <hamel/hamel.h>

#if defined HAMEL_SANITIZE || defined HAMEL_COVERAGE
#define SECONDS 10.0
#else
#define SECONDS 1.0
#endif

enum { DEEP = 100000, MIB = 1 << 20, MOST_LIVE = 1 << 30 };

/* ---- an allocator that measures ---- */

typedef struct heap {
    size_t live, peak;
} heap;

static void *measuring_resize(void *user, void *ptr, size_t old_size, size_t new_size)
{
    heap *h = user;
    if (new_size > old_size && h->live + (new_size - old_size) > MOST_LIVE)
        return NULL;
    h->live += new_size - old_size;
    if (h->live > h->peak)
        h->peak = h->live;
    if (new_size > 0)
        return realloc(ptr, new_size);
    free(ptr);
    return NULL;
}

/* ---- texts ---- */

typedef struct text {
    char *data;
    size_t length, capacity;
} text;

static void add_bytes(text *t, const char *bytes, size_t length)
{
    if (t->length + length > t->capacity) {
        t->capacity = 2 * (t->length + length) + 64;
        t->data = realloc(t->data, t->capacity);
        assert_non_null(t->data);
    }
    memcpy(t->data + t->length, bytes, length);
    t->length += length;
}

static void add(text *t, const char *string)
{
    add_bytes(t, string, strlen(string));
}

static void add_times(text *t, const char *string, size_t times)
{
    size_t length = strlen(string);
    for (size_t i = 0; i < times; i++)
        add_bytes(t, string, length);
}

__attribute__((format(printf, 2, 3))) static void addf(text *t, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    add(t, line);
}

static const char frame[] = "coord x, y\nkinetic (x'^2 + y'^2)/2\n";

/* ---- running ---- */

/* How much longer than SECONDS the test may take. */
static double patience = 1;

typedef struct outcome {
    hm_status status;
    char messages[8192];
    size_t errors, peak;
    double seconds;
} outcome;

static hm_status evaluate(const hm_model *model)
{
    hm_system *system = NULL;
    hm_sim *sim = NULL;
    hm_status status = hm_system_create(model, &system);
    if (status == HM_OK)
        status = hm_sim_create(system, &sim);
    if (status == HM_OK)
        hm_sim_evaluate_fast(sim);
    hm_sim_destroy(sim);
    hm_system_destroy(system);
    return status;
}

static void collect_messages(const hm_context *context, outcome *o)
{
    size_t used = 0;
    o->errors = hm_context_error_count(context);
    for (size_t i = 0; i < hm_context_diagnostic_count(context); i++)
        if (used + 1 < sizeof o->messages)
            used += hm_diagnostic_format(hm_context_diagnostic(context, i), false,
                                         o->messages + used, sizeof o->messages - used);
}

/* path NULL: the text from memory. */
static outcome run(const char *path, const char *bytes, size_t length)
{
    static outcome o;
    heap h = {0};
    const hm_allocator allocator = {measuring_resize, &h};
    clock_t start = clock();
    hm_context *context = hm_context_create(&allocator);
    hm_model *model = NULL;
    memset(&o, 0, sizeof o);
    o.status = path ? hm_model_load(context, path, NULL, &model)
                    : hm_model_parse(context, bytes, length, NULL, &model);
    if (o.status == HM_OK)
        o.status = evaluate(model);
    collect_messages(context, &o);
    hm_model_destroy(model);
    hm_context_destroy(context);
    o.seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    o.peak = h.peak;
    assert_int_equal(h.live, 0);
    return o;
}

static void check(const outcome *o, hm_status status, const char *message)
{
    if (getenv("HAMEL_SHOW"))
        print_message("%.3f s, %zu MiB, %s\n%s", o->seconds, o->peak / MIB,
                      hm_status_text(o->status), o->messages);
    if (o->status != status || (message && !strstr(o->messages, message)))
        fail_msg("%s instead of %s (%s): %.600s", hm_status_text(o->status), hm_status_text(status),
                 message ? message : "", o->messages);
    if (o->seconds > SECONDS * patience)
        fail_msg("%.2f s", o->seconds);
    assert_true(o->peak <= MOST_LIVE);
}

/* Runs a text, frees it, checks the outcome. */
static void expect(text *t, hm_status status, const char *message)
{
    outcome o = run(NULL, t->data ? t->data : "", t->length);
    free(t->data);
    *t = (text){0};
    check(&o, status, message);
}

/* ---- nesting ---- */

static void nest(const char *before, const char *open, const char *middle, const char *close,
                 const char *message)
{
    text t = {0};
    add(&t, frame);
    add(&t, before);
    add_times(&t, open, DEEP);
    add(&t, middle);
    add_times(&t, close, DEEP);
    expect(&t, HM_ERR_INPUT, message);
    /* and never closed */
    add(&t, frame);
    add(&t, before);
    add_times(&t, open, DEEP);
    expect(&t, HM_ERR_INPUT, message);
}

static void test_nesting(void **state)
{
    (void)state;
    static const char deep[] = "levels deep";
    nest("potential ", "(", "x", ")", deep);
    nest("output a = ", "[", "x", "]", deep);
    nest("potential ", "-", "x", "", deep);
    nest("potential ", "+", "x", "", deep);
    nest("potential ", "sin(", "x", ")", deep);
    nest("potential x", "^x", "", "", deep);
    nest("potential x", "^-x", "", "", deep);
    nest("output a = if(", "not ", "x > 0, 1, 2)", "", deep);
    nest("potential ", "if(x > 0, 1, ", "x", ")", deep);
    nest("potential ", "sum(i = 1..1, ", "x", ")", deep);
    nest("potential ", "x[", "1", "]", deep);
    nest("potential x", "[1]", "", "", "too many primes or indices");
    nest("output a = x", "'", "", "", "too many primes or indices");
    nest("", "for i = 1..1 { ", "potential x", "}", deep);
    nest("", "for i = 1..1 {\n", "potential x\n", "}\n", deep);
    nest("coord ", "q[", "1", "]", "error");
    nest("", "{", "", "}", "error");
    nest("", "body b {", "mass 1", "}", "error");
    nest("constraint ", "x:", "x = 0", "", "error");
    nest("let f", "(a)", " = a", "", "error");
}

/* What nests only in the tree of definitions. */
static void test_nested_definitions(void **state)
{
    (void)state;
    text t = {0};
    add(&t, frame);
    add(&t, "let f0(a) = a\n");
    for (int i = 1; i <= 5000; i++)
        addf(&t, "let f%d(a) = sin(f%d(a))\n", i, i - 1);
    add(&t, "potential f5000(x)\n");
    expect(&t, HM_ERR_INPUT, "nested too deeply");
    add(&t, frame);
    for (int i = 5000; i >= 1; i--)
        addf(&t, "let v%d = sin(v%d)\n", i, i - 1);
    add(&t, "let v0 = x\npotential v5000\n");
    expect(&t, HM_OK, NULL); /* values that follow from each other need no stack */
}

/* ---- sizes of files ---- */

static char folder[] = "/tmp/hamel-hostile-XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const char *content)
{
    FILE *file = fopen(in_folder(name), "w");
    assert_non_null(file);
    fputs(content, file);
    assert_int_equal(fclose(file), 0);
}

static void test_huge_file(void **state)
{
    (void)state;
    write_file("huge.hamel", frame);
    assert_int_equal(truncate(in_folder("huge.hamel"), 100 * MIB), 0);
    outcome o = run(in_folder("huge.hamel"), NULL, 0);
    check(&o, HM_ERR_LIMIT, "is larger than");
}

static void test_huge_text(void **state)
{
    (void)state;
    char *bytes = malloc(100 * MIB);
    assert_non_null(bytes);
    memset(bytes, ' ', 100 * MIB);
    outcome o = run(NULL, bytes, 100 * MIB);
    free(bytes);
    check(&o, HM_ERR_LIMIT, "is larger than");
}

/* Files just below the limit, full of one thing. */
static void fill(const char *before, const char *piece, const char *after, hm_status status,
                 const char *message)
{
    text t = {0};
    add(&t, frame);
    add(&t, before);
    add_times(&t, piece, (7 * MIB) / strlen(piece));
    add(&t, after);
    expect(&t, status, message);
}

static void test_full_files(void **state)
{
    (void)state;
    fill("", "\n", "", HM_OK, NULL);
    fill("", ";", "", HM_OK, NULL);
    fill("", "# a comment\n", "", HM_OK, NULL);
    fill("# ", "long comment ", "\n", HM_OK, NULL);
    fill("", "\xFF", "", HM_ERR_INPUT, "not valid UTF-8");
    fill("", "\x01", "", HM_ERR_INPUT, "control character");
    fill("", "@", "", HM_ERR_INPUT, "unexpected character");
    fill("", "\"", "", HM_ERR_INPUT, "expected a statement");
    fill("model m \"", "title ", "\"\n", HM_OK, NULL);
    fill("potential ", "a", "\n", HM_ERR_INPUT, "longer than");
    fill("potential ", "9", "\n", HM_ERR_INPUT, "too many digits");
    fill("potential 0.", "0", "1\n", HM_ERR_INPUT, "too many digits");
    fill("", "}", "", HM_ERR_INPUT, "unmatched");
    fill("", "wrong line\n", "", HM_ERR_INPUT, "unknown statement");
    fill("", "potential zz\n", "", HM_ERR_INPUT, "unknown name");
    fill("output a = [", "\n", "1]\n", HM_OK, NULL);
}

static void test_empty_files(void **state)
{
    (void)state;
    static const char *const nothing[] = {"", "\n", "# only a comment", "\xEF\xBB\xBF", " \t\r\n"};
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++) {
        outcome o = run(NULL, nothing[i], strlen(nothing[i]));
        check(&o, HM_ERR_INPUT, "the model has no coordinates");
    }
}

static void test_bytes(void **state)
{
    (void)state;
    text t = {0};
    add_bytes(&t, "coord x\0\nkinetic x'^2\n", 22);
    expect(&t, HM_ERR_INPUT, "NUL byte");
    add_bytes(&t, "model m \"a\0b\"\ncoord x\nkinetic x'^2\n", 35);
    expect(&t, HM_ERR_INPUT, "NUL byte");
    add_bytes(&t, "# a\0b\ncoord x\nkinetic x'^2\n", 27);
    expect(&t, HM_ERR_INPUT, "NUL byte");
    add(&t, "coord \xC3\x28\nkinetic 1\n");
    expect(&t, HM_ERR_INPUT, "byte 0xC3 is not valid UTF-8");
    add(&t, "coord \xED\xA0\x80\nkinetic 1\n"); /* a surrogate */
    expect(&t, HM_ERR_INPUT, "not valid UTF-8");
    add(&t, "coord x\nkinetic x'^2 \xF4\x90\x80\x80\n"); /* beyond Unicode */
    expect(&t, HM_ERR_INPUT, "not valid UTF-8");
    uint32_t random = 1;
    for (int i = 0; i < MIB; i++) {
        random = random * 1664525u + 1013904223u;
        add_bytes(&t, &(char){(char)(random >> 24)}, 1);
    }
    expect(&t, HM_ERR_INPUT, "error");
}

/* ---- includes ---- */

static void expect_include(const char *path, hm_status status, const char *message)
{
    char line[512];
    snprintf(line, sizeof line, "include \"%s\"\n%s", path, frame);
    write_file("main.hamel", line);
    outcome o = run(in_folder("main.hamel"), NULL, 0);
    check(&o, status, message);
}

static void test_includes(void **state)
{
    (void)state;
    char target[600];
    mkdir(in_folder("sub"), 0700);
    write_file("sub/part.hamel", "param a = 1\n");
    write_file("cycle.hamel", "include \"main.hamel\"\n");
    expect_include("sub/part.hamel", HM_OK, NULL);
    expect_include("main.hamel", HM_ERR_INPUT, "includes itself");
    expect_include("cycle.hamel", HM_ERR_INPUT, "includes itself");
    expect_include("/etc/passwd", HM_ERR_INPUT, "leaves the model's folder");
    expect_include("../../etc/passwd", HM_ERR_INPUT, "leaves the model's folder");
    expect_include("sub/../../etc/passwd", HM_ERR_INPUT, "leaves the model's folder");
    expect_include("..", HM_ERR_INPUT, "leaves the model's folder");
    expect_include("missing.hamel", HM_ERR_INPUT, "cannot read");
    expect_include("sub", HM_ERR_INPUT, "is a folder");
    expect_include("", HM_ERR_INPUT, "the path is empty");
    snprintf(target, sizeof target, "%s", in_folder("link.hamel"));
    assert_int_equal(symlink("/etc/passwd", target), 0);
    expect_include("link.hamel", HM_ERR_INPUT, "leaves the model's folder");
    remove(target);
    assert_int_equal(symlink("/etc", target), 0);
    expect_include("link.hamel/passwd", HM_ERR_INPUT, "leaves the model's folder");
    remove(target);
    assert_int_equal(symlink("sub/part.hamel", target), 0);
    expect_include("link.hamel", HM_OK, NULL);
    remove(target);
    assert_int_equal(symlink("link.hamel", target), 0);
    expect_include("link.hamel", HM_ERR_INPUT, "cannot read");
    remove(target);
    assert_int_equal(mkfifo(target, 0600), 0);
    expect_include("link.hamel", HM_ERR_INPUT, "not a regular file");
    remove(target);
}

/* Every file includes the next twice: 2^30 of them. */
static void test_include_bomb(void **state)
{
    (void)state;
    char name[64], content[256];
    for (int i = 0; i < 30; i++) {
        snprintf(name, sizeof name, "bomb%d.hamel", i);
        snprintf(content, sizeof content, "include \"bomb%d.hamel\"\ninclude \"bomb%d.hamel\"\n",
                 i + 1, i + 1);
        write_file(name, content);
    }
    write_file("bomb30.hamel", "# the end\n");
    expect_include("bomb0.hamel", HM_ERR_INPUT, "too many included files");
}

/* One large file, again and again. */
static void test_include_large(void **state)
{
    (void)state;
    text t = {0};
    add_times(&t, "# nothing but a long comment\n", 5 * MIB / 29);
    add(&t, "");
    add_bytes(&t, "\0", 1);
    write_file("large.hamel", t.data);
    t.length = 0;
    add_times(&t, "include \"large.hamel\"\n", 150);
    add(&t, frame);
    add_bytes(&t, "\0", 1);
    write_file("main.hamel", t.data);
    free(t.data);
    outcome o = run(in_folder("main.hamel"), NULL, 0);
    check(&o, HM_ERR_LIMIT, "of included files");
}

/* ---- loops and sizes ---- */

static void expect_limit(const char *statement, const char *message)
{
    text t = {0};
    add(&t, frame);
    add(&t, statement);
    expect(&t, HM_ERR_LIMIT, message);
}

static void test_loops(void **state)
{
    (void)state;
    expect_limit("for i = 1..1e9 { potential x }\n", "repeats");
    expect_limit("potential sum(i = 1..1e9, x)\n", "repeats");
    expect_limit("potential prod(i = -1e9..1e9, x)\n", "repeats");
    expect_limit("for i = 1..1e5 { for k = 1..1e5 { potential x*i*k } }\n", "nested loops");
    expect_limit("potential sum(i = 1..1e5, sum(k = 1..1e5, x))\n", "nested loops");
    expect_limit("for i = 1..1e5 { potential sum(k = 1..i, x) }\n", "nested loops");
    expect_limit("let f(i) = sum(k = 1..1e6, x*i*k)\nfor i = 1..1e6 { potential f(i) }\n",
                 "nested loops");
    expect_limit("for i = 1..1e3 { for j = 1..1e3 { for k = 1..1e3 { output o = x } } }\n",
                 "nested loops");
    expect_limit("coord q[1..1e9]\n", "too large");
    expect_limit("coord q[-1e9..1e9]\n", "too large");
    expect_limit("coord q[1..2.5e6], p[1..2.5e6]\n", "coordinates");
    text t = {0};
    add(&t, frame);
    add(&t, "for i = 1..1e300 { potential x }\n");
    expect(&t, HM_ERR_INPUT, "whole number");
    add(&t, frame);
    add(&t, "for i = 1..1e7 { }\nfor i = 2..1 { potential zz }\n");
    expect(&t, HM_OK, NULL); /* nothing to do */
}

static void test_vectors(void **state)
{
    (void)state;
    expect_limit("coord q[1..1000000]\noutput a = q*transpose(q)\n", "components");
    expect_limit("coord q[1..1000000]\noutput a = diag(q)\n", "components");
    expect_limit("coord q[1..2000000]\noutput a = q\n", "components");
    expect_limit("let I = identity(1000)\noutput a = dot((I*I*I*I*I*I*I*I*I)*[1], [1])\n", "steps");
}

/* ---- growth by definitions ---- */

static void tower(const char *first, const char *next, const char *use, hm_status status,
                  const char *message)
{
    text t = {0};
    add(&t, frame);
    add(&t, first);
    for (int i = 1; i <= 60; i++)
        addf(&t, next, i, i - 1, i - 1);
    add(&t, use);
    expect(&t, status, message);
}

static void test_towers(void **state)
{
    (void)state;
    tower("let f0(a) = a\n", "let f%d(a) = f%d(a) + f%d(a)\n", "potential f60(x)\n", HM_OK, NULL);
    tower("let f0(a) = a\n", "let f%d(a) = f%d(a)*f%d(a)\n", "potential f60(x)\n", HM_OK, NULL);
    tower("let f0(a) = a\n", "let f%d(a) = sin(f%d(a)) + cos(f%d(a))\n", "potential f60(x)\n",
          HM_OK, NULL);
    tower("let f0(a) = a\n", "let f%d(a) = f%d(a) - 2*f%d(a)\n", "potential f60([x, y])[1]\n",
          HM_OK, NULL);
    tower("let f0 = x\n", "let f%d = sin(f%d) + cos(f%d)\n", "potential f60\n", HM_OK, NULL);
    tower("param p0 = 1\n", "param p%d = (p%d + p%d)/2\n", "potential p60*x\n", HM_OK, NULL);
}

/* ---- long but legal ---- */

static void long_text(const char *before, const char *piece, size_t times, const char *after)
{
    text t = {0};
    add(&t, frame);
    add(&t, before);
    add_times(&t, piece, times);
    add(&t, after);
    expect(&t, HM_OK, NULL);
}

static void test_long_and_legal(void **state)
{
    (void)state;
    long_text("potential x", " + x", DEEP, "\n");
    long_text("potential x", " - y", DEEP, "\n");
    long_text("potential x", "*y", 1000, "\n");
    long_text("output a = x", " + sin(x)*y", DEEP, "\n");
    long_text("", "potential x*y\n", DEEP, "");
    long_text("", "param;", 0, "");
    long_text("output a = [x", ", y", 10000, "]\n");
    text t = {0};
    add(&t, frame);
    for (int i = 0; i < 20000; i++)
        addf(&t, "param p%d = %d\nlet l%d = p%d*x\noutput o%d = l%d\n", i, i, i, i, i, i);
    expect(&t, HM_OK, NULL);
}

/* ---- messages ---- */

static void test_many_messages(void **state)
{
    (void)state;
    text t = {0};
    add(&t, frame);
    for (int i = 0; i < DEEP; i++)
        addf(&t, "potential unknown_name_that_is_quite_long_%d\n", i);
    outcome o = run(NULL, t.data, t.length);
    check(&o, HM_ERR_INPUT, "unknown name");
    assert_in_range(o.errors, 20, 21);
    free(t.data);
    t = (text){0};
    add(&t, frame);
    add(&t, "for i = 1..100000 { constraint c[i]: 0 = 0 }\n"); /* a warning each */
    expect(&t, HM_OK, "always holds");
    /* the search for similar names is bounded too */
    add(&t, frame);
    for (int i = 0; i < DEEP; i++)
        addf(&t, "param parameter_with_a_very_long_name_%08d = 1\n", i);
    for (int i = 0; i < 30; i++)
        addf(&t, "potential parameter_with_a_very_lung_nime_%08d\n", i);
    expect(&t, HM_ERR_INPUT, "unknown name");
}

/* ---- lists ---- */

static void test_long_lists(void **state)
{
    (void)state;
    text t = {0};
    add(&t, "coord q[1..100000]\nfor i = 1..100000 { mass q[100001 - i] = 2 + cos(q[i]) }\n");
    add(&t, "servo q[1]'' = 0 by q[100000]");
    for (int i = 99999; i >= 1; i--)
        addf(&t, ", q[%d]", i);
    add(&t, "\nsymmetry s: q[1] = 1");
    for (int i = 2; i <= 100000; i++)
        addf(&t, ", q[%d] = 1", i);
    add(&t, "\n");
    expect(&t, HM_OK, NULL);
}

/* M would have 5e9 entries: known only after a good part of them has been derived. */
static void test_dense_mass(void **state)
{
    (void)state;
    text t = {0};
    patience = 4;
    add(&t, "coord q[1..100000]\nlet s = sum(i = 1..100000, q[i]')\nkinetic s^2/2\n");
    expect(&t, HM_ERR_LIMIT, "too large");
}

/* ---- one context for many models ---- */

static hm_status parse_in(hm_context *context, const char *model_text)
{
    hm_model *model = NULL;
    hm_status status = hm_model_parse(context, model_text, strlen(model_text), NULL, &model);
    hm_model_destroy(model);
    return status;
}

/* What went wrong with one model does not stick to the next, and is never taken for success. */
static void test_used_context(void **state)
{
    (void)state;
    hm_context *context = hm_context_create(NULL);
    hm_model *model = NULL;
    for (int round = 0; round < 3; round++) {
        assert_int_equal(hm_model_load(context, "/nowhere/at all", NULL, &model), HM_ERR_IO);
        assert_null(model);
        assert_int_equal(parse_in(context, ""), HM_ERR_INPUT);
        assert_int_equal(parse_in(context, "for i = 1..1e9 { potential 1 }"), HM_ERR_LIMIT);
        assert_int_equal(parse_in(context, "kinetic 2x"), HM_ERR_INPUT);
        assert_int_equal(parse_in(context, frame), HM_OK);
    }
    static const char unusable[] =
        "coord x, y\nkinetic (x'^2 + y'^2)/2\ninput u = x'\nforce y = u'\n";
    assert_int_equal(hm_model_parse(context, unusable, strlen(unusable), NULL, &model), HM_OK);
    for (int round = 0; round < 3; round++) {
        hm_system *system = NULL;
        assert_int_equal(hm_system_create(model, &system), HM_ERR_INPUT);
        assert_null(system);
    }
    hm_model_destroy(model);
    hm_context_destroy(context);
}

/* ---- setup ---- */

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[600];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nesting),       cmocka_unit_test(test_nested_definitions),
        cmocka_unit_test(test_huge_file),     cmocka_unit_test(test_huge_text),
        cmocka_unit_test(test_full_files),    cmocka_unit_test(test_empty_files),
        cmocka_unit_test(test_bytes),         cmocka_unit_test(test_includes),
        cmocka_unit_test(test_include_bomb),  cmocka_unit_test(test_include_large),
        cmocka_unit_test(test_loops),         cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_towers),        cmocka_unit_test(test_long_and_legal),
        cmocka_unit_test(test_many_messages), cmocka_unit_test(test_long_lists),
        cmocka_unit_test(test_dense_mass),    cmocka_unit_test(test_used_context),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
