/* Every public function with every kind of argument that makes no sense: NULL, NaN, infinities, negative
 * tolerances, values that an enum does not have, indices past the end, calls from callbacks. They are refused
 * with HM_ERR_ARGUMENT and a diagnostic where there is a context, or give nothing; nothing crashes, in release
 * builds and under the sanitizers. A public function without an entry here fails the test.
 *
 * Then: objects are destroyed in every order.
 */
#include "support/check.h"

#include <hamel/hamel.h>

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char text[] =
    "model blade \"a blade\"\nparam N = 2, m = 2 in 0 .. 5 \"mass\", s = 0.2, I = 1.5\ncoord x, y, "
    "th\n"
    "input f = 0\nstate w' = x\n"
    "kinetic m/2*(x'^2 + y'^2) + m*s*th'*(y'*cos(th) - x'*sin(th)) + I/2*th'^2\n"
    "force x = f\nconstraint blade: y'*cos(th) = x'*sin(th)\n"
    "event far: x = 9 rising record\noutput e = energy\n"
    "initial th = 0.4, x' = cos(0.4), y' = sin(0.4), th' = 0.5\nsimulate 0 .. 0.2 every 0.1\n";

static const char plain[] = "coord x, y\nkinetic (x'^2 + y'^2)/2\nconstraint c: x' = y*y'\n"
                            "initial y = 1, y' = 1, x' = 1\nsimulate 0 .. 0.2 every 0.1\n";

/* What the calls are made with: all of it good. */
typedef struct world {
    hm_context *context;
    hm_model *model, *other_model;
    hm_system *system, *other_system;
    hm_sim *sim, *started;
    hm_comparison *comparison;
    hm_analysis *analysis;
    hm_table *table;
    hm_figure *figure;
    hm_file *file;
    hm_csv_writer *csv;
    hm_sweep_plan *plan;
    hm_measures *measures;
    char path[200], csv_path[220];
} world;

static const double nan3[3] = {NAN, NAN, NAN}, good3[3] = {0.1, 0.2, 0.3};
static const double strange[] = {NAN, INFINITY, -INFINITY};
enum { STRANGE = 3, WRONG_ENUM = 12345 };

/* ---- the table ---- */

typedef struct entry {
    const char *name;
    void (*call)(world *w);
} entry;

enum { MOST_ENTRIES = 400 };
static entry entries[MOST_ENTRIES];
static size_t entry_count;

static void add_entry(const char *name, void (*call)(world *w))
{
    if (entry_count < MOST_ENTRIES)
        entries[entry_count++] = (entry){name, call};
}

/* CALLS(hm_version) { ... }: what the function is called with. */
#define CALLS(name)                                                                                \
    static void calls_of_##name(world *w);                                                         \
    __attribute__((constructor)) static void add_##name(void)                                      \
    {                                                                                              \
        add_entry(#name, calls_of_##name);                                                         \
    }                                                                                              \
    static void calls_of_##name(__attribute__((unused)) world *w)

#define REFUSED(call) assert_int_equal((call), HM_ERR_ARGUMENT)
/* And says so there. */
#define TOLD(where, call)                                                                          \
    do {                                                                                           \
        hm_context_clear(where);                                                                   \
        assert_int_equal((call), HM_ERR_ARGUMENT);                                                 \
        assert_true(hm_context_error_count(where) > 0);                                            \
        hm_context_clear(where);                                                                   \
    } while (0)
#define NOTHING(value) assert_true(!(value))
#define UNKNOWN(value) assert_string_equal((value), "unknown")

static bool write_nothing(void *user, const char *bytes, size_t length)
{
    (void)user, (void)bytes, (void)length;
    return true;
}

static bool draw_nothing(void *drawing, const hm_canvas *canvas)
{
    (void)drawing;
    return canvas->begin(canvas->user, 10, 10, NULL) && canvas->end(canvas->user);
}

/* ---- a world ---- */

#define MAKE(call) assert_int_equal((call), HM_OK)

static void make_outputs(world *w)
{
    static const char *const names[] = {"t", "x", "y"};
    const char *folder = getenv("TMPDIR");
    snprintf(w->path, sizeof w->path, "%s/arguments-%ld", folder ? folder : "/tmp", (long)getpid());
    snprintf(w->csv_path, sizeof w->csv_path, "%s.csv", w->path);
    MAKE(hm_table_create(NULL, 3, names, &w->table));
    MAKE(hm_table_add_row(w->table, good3));
    MAKE(hm_table_add_row(w->table, good3));
    MAKE(hm_figure_create(NULL, "title", NULL, &w->figure));
    MAKE(hm_file_create(NULL, w->path, &w->file));
    MAKE(hm_csv_create(NULL, w->csv_path, 3, names, &w->csv));
}

static void make_world(world *w)
{
    *w = (world){.context = hm_context_create(NULL)};
    hm_sweep_spec spec = hm_sweep_spec_default();
    spec.grid = "m=1:3:5";
    MAKE(hm_measures_parse(w->context, "final(x)", &w->measures));
    hm_model_options options = hm_model_options_default();
    options.more = hm_measures_statements(w->measures);
    MAKE(hm_model_parse(w->context, text, strlen(text), &options, &w->model));
    MAKE(hm_model_parse(w->context, plain, strlen(plain), NULL, &w->other_model));
    MAKE(hm_system_create(w->model, &w->system));
    MAKE(hm_system_create(w->other_model, &w->other_system));
    MAKE(hm_sim_create(w->system, &w->sim));
    MAKE(hm_sim_create(w->system, &w->started));
    MAKE(hm_sim_start(w->started, NULL));
    MAKE(hm_comparison_create(w->context, w->other_system, "vakonomic", &w->comparison));
    MAKE(hm_system_analyse(w->context, w->system, &w->analysis));
    MAKE(hm_sweep_plan_create(w->context, w->model, &spec, &w->plan));
    make_outputs(w);
}

/* The other way round than it was made, but for what the order says. */
static void end_world(world *w, const int order[8])
{
    for (int k = 0; k < 8; k++) {
        switch (order[k]) {
        case 0:
            hm_context_destroy(w->context);
            break;
        case 1:
            hm_model_destroy(w->model);
            hm_model_destroy(w->other_model);
            break;
        case 2:
            hm_system_destroy(w->system);
            hm_system_destroy(w->other_system);
            break;
        case 3:
            hm_sim_destroy(w->sim);
            hm_sim_destroy(w->started);
            break;
        case 4:
            hm_comparison_destroy(w->comparison);
            break;
        case 5:
            hm_analysis_destroy(w->analysis);
            break;
        case 6:
            hm_sweep_plan_destroy(w->plan);
            break;
        default:
            hm_measures_destroy(w->measures);
        }
    }
    (void)!hm_file_finish(w->file, HM_FILE_END_DISCARD);
    hm_file_destroy(w->file);
    hm_csv_destroy(w->csv);
    hm_table_destroy(w->table);
    hm_figure_destroy(w->figure);
    char partial[256];
    snprintf(partial, sizeof partial, "%s.partial", w->csv_path);
    (void)!unlink(partial);
}

static const int last_first[8] = {7, 6, 5, 4, 3, 2, 1, 0};

#include "arguments/base.inc"
#include "arguments/model.inc"
#include "arguments/output.inc"
#include "arguments/sim.inc"
#include "arguments/studies.inc"

static void every_call(void **state)
{
    world w;
    (void)state;
    make_world(&w);
    for (size_t i = 0; i < entry_count; i++) {
        print_message("%s\n", entries[i].name);
        entries[i].call(&w);
    }
    hm_evaluation at;
    MAKE(hm_sim_evaluate(w.sim, NULL, &at)); /* all of it still serves */
    MAKE(hm_sim_advance(w.started, 0.1));
    end_world(&w, last_first);
}

/* ---- is every public function here? ---- */

static bool is_listed(const char *name, size_t length)
{
    for (size_t i = 0; i < entry_count; i++)
        if (strlen(entries[i].name) == length && strncmp(entries[i].name, name, length) == 0)
            return true;
    return false;
}

/* Of `HM_API ... name(`: the word before the parenthesis. */
static size_t check_header(const char *source)
{
    size_t found = 0;
    for (const char *at = source; (at = strstr(at, "HM_API ")) != NULL; at++) {
        const char *end = strchr(at, '('), *begin = end;
        if (at > source && at[-1] != '\n')
            continue; /* a comment, or its definition */
        while (begin > at && (begin[-1] == '_' || (begin[-1] >= 'a' && begin[-1] <= 'z') ||
                              (begin[-1] >= '0' && begin[-1] <= '9')))
            begin--;
        if (!is_listed(begin, (size_t)(end - begin)))
            fail_msg("%.*s is not in the table: test/fault/arguments/*.inc", (int)(end - begin),
                     begin);
        found++;
    }
    return found;
}

static void every_function(void **state)
{
    static char source[1 << 18];
    DIR *folder = opendir(HAMEL_SOURCE_DIR "/include/hamel");
    size_t found = 0;
    (void)state;
    assert_non_null(folder);
    for (struct dirent *file; (file = readdir(folder)) != NULL;) {
        char path[1024];
        if (!strstr(file->d_name, ".h"))
            continue;
        snprintf(path, sizeof path, HAMEL_SOURCE_DIR "/include/hamel/%s", file->d_name);
        FILE *in = fopen(path, "r");
        assert_non_null(in);
        size_t length = fread(source, 1, sizeof source - 1, in);
        source[length] = '\0';
        fclose(in);
        found += check_header(source);
    }
    closedir(folder);
    print_message("%zu public functions\n", found);
    assert_true(found >= 180);
    assert_int_equal(found, entry_count);
}

/* ---- destroying in any order ---- */

static void every_order(void **state)
{
    random_source random = {7};
    (void)state;
    for (int trial = 0; trial < 60; trial++) {
        int order[8] = {0, 1, 2, 3, 4, 5, 6, 7};
        for (int k = 7; k > 0; k--) {
            int other = (int)random_between(&random, 0, k + 0.999), kept = order[k];
            order[k] = trial == 0 ? order[k] : order[other];
            order[other] = trial == 0 ? order[other] : kept;
        }
        world w;
        make_world(&w);
        end_world(&w, order);
    }
}

/* What is left works when all that it needs was destroyed before. */
static void survivors(void **state)
{
    world w;
    hm_evaluation at;
    hm_run_result result;
    double q[3];
    (void)state;
    make_world(&w);
    hm_context_destroy(w.context);
    hm_model_destroy(w.model);
    hm_system_destroy(w.system);
    MAKE(hm_sim_evaluate(w.sim, NULL, &at));
    MAKE(hm_sim_run(w.sim, NULL, &result));
    hm_sim_state(w.sim, q, NULL, NULL);
    assert_true(isfinite(q[0]));
    assert_string_equal(hm_model_name(hm_system_model(w.other_system)), "model");
    w.context = NULL;
    w.model = NULL;
    w.system = NULL;
    end_world(&w, last_first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function), cmocka_unit_test(every_call),
        cmocka_unit_test(every_order),    cmocka_unit_test(survivors),
        cmocka_unit_test(callbacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
