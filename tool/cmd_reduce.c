/* hamel reduce: the equations of motion in independent speeds. */
#include "command.h"
#include "values.h"

#include <errno.h>
#include <string.h>

static const char *const titles[] = {
    "Maggi's equations: Nᵀ(M q̈ − Q) = 0",
    "Kane's equations: F + F* = 0",
    "Voronets' equations: d/dt P = Nᵀ(∂L/∂q + Q) + Ṅᵀp",
    "Gibbs–Appell equations: ∂S/∂u̇ = Γ",
    "Boltzmann–Hamel equations",
    "Routh's equations: momenta of cyclic coordinates are constants",
    "Hamilton's equations: momenta in place of speeds",
    "Lagrange's equations with the constraints on positions embedded",
};

/* ---- text ---- */

static void print_lines(const char *title, const hm_reduced_lines *lines)
{
    if (!lines->count)
        return;
    printf("%s\n", title);
    for (size_t i = 0; i < lines->count; i++)
        printf("    %s\n", lines->line[i].shown);
}

static void print_text(const hm_reduced *r)
{
    printf("%s\n  %s\n", r->model, titles[r->form]);
    print_lines("speeds", &r->speeds);
    print_lines("coordinates solved for", &r->positions);
    print_lines("velocities", &r->kinematics);
    print_lines("quantities", &r->quantities);
    print_lines("equations", &r->equations);
    print_lines("solved", &r->solved);
    print_lines("where", &r->parts);
    for (size_t i = 0; i < r->note_count; i++)
        printf("note: %s\n", r->notes[i]);
    printf("verified at %zu random states against the form with multipliers: largest difference "
           "%.2g\n",
           r->verified.states, r->verified.difference);
}

/* ---- JSON ---- */

static json_t *json_lines(const hm_reduced_lines *lines)
{
    json_t *list = json_array();
    for (size_t i = 0; i < lines->count; i++) {
        json_t *one = json_object();
        set_text(one, "name", lines->line[i].name);
        set_text(one, "value", lines->line[i].value);
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *json_texts(const char *const *texts, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_string(texts[i]));
    return list;
}

static bool print_json(const session *s, const hm_reduced *r, const char *path)
{
    json_t *object = json_object(), *verified = json_object();
    set_text(object, "model", r->model);
    set_text(object, "form", hm_reduced_form_name(r->form));
    json_object_set_new(object, "speeds", json_lines(&r->speeds));
    json_object_set_new(object, "positions", json_lines(&r->positions));
    json_object_set_new(object, "kinematics", json_lines(&r->kinematics));
    json_object_set_new(object, "quantities", json_lines(&r->quantities));
    json_object_set_new(object, "equations", json_lines(&r->equations));
    json_object_set_new(object, "solved", json_lines(&r->solved));
    json_object_set_new(object, "where", json_lines(&r->parts));
    json_object_set_new(object, "notes", json_texts(r->notes, r->note_count));
    set_count(verified, "states", (json_int_t)r->verified.states);
    set_number(verified, "difference", r->verified.difference);
    json_object_set_new(object, "verified", verified);
    set_text(object, "file", r->file);
    set_text(object, "out", path);
    json_object_set(object, "warnings", s->warnings);
    bool good = json_print(object);
    json_decref(object);
    return good;
}

/* ---- the command ---- */

static int write_file(const hm_reduced *r, const char *path)
{
    if (!r->file) {
        say("hamel: no model file can be written: %s\n",
            r->note_count ? r->notes[r->note_count - 1] : "");
        return EXIT_FAILED;
    }
    FILE *file = fopen(path, "w");
    bool good = file && fputs(r->file, file) >= 0;
    if (file && fclose(file) != 0)
        good = false;
    if (!good)
        say("hamel: %s: %s\n", path, strerror(errno));
    return good ? EXIT_DONE : EXIT_FAILED;
}

static int show(const session *s, const invocation *call, const hm_reduced *r)
{
    const char *path = option_value(call, "-o");
    int status = path ? write_file(r, path) : EXIT_DONE;
    if (status != EXIT_DONE)
        return status;
    if (call->json)
        return print_json(s, r, path) ? EXIT_DONE : EXIT_FAILED;
    print_text(r);
    if (path) {
        printf("model file: ");
        print_shown(path);
        printf("\n");
    }
    return EXIT_DONE;
}

static int run(const invocation *call)
{
    const char *form = option_value(call, "--form");
    hm_reduce_options options = hm_reduce_options_default();
    session s;
    if (form && !hm_reduced_form_find(form, &options.form))
        return usage_error("unknown form '%s'; one of maggi, kane, voronets, appell, "
                           "boltzmann-hamel, routh, hamilton, embed",
                           form);
    options.speeds = option_value(call, "--speeds");
    int status = session_open(&s, call, false);
    if (status == EXIT_DONE) {
        hm_reduced *reduction;
        hm_status reduced = hm_model_reduce(s.model, &options, &reduction);
        bool silent = reduced != HM_OK && hm_context_diagnostic_count(s.context) == 0;
        session_take_warnings(&s, call->quiet);
        if (silent && reduced != HM_ERR_NOMEM)
            say("hamel: %s\n", hm_status_text(reduced));
        status = reduced == HM_OK ? show(&s, call, reduction) : exit_status_of(reduced);
        if (reduced == HM_OK)
            hm_reduced_destroy(reduction);
    }
    session_close(&s);
    return status;
}

static const option_spec options[] = {
    {"--form", "FORM",
     "maggi (default), kane, voronets, appell,\n"
     "boltzmann-hamel, routh, hamilton or embed"},
    {"--speeds", "SPEEDS",
     "the independent speeds, as in\n"
     "\"u = x'*cos(theta) + y'*sin(theta), theta'\";\n"
     "default: found"},
    {"-o", "FILE", "also write a model file of the same motion"},
    {0},
};

const command command_reduce = {
    .name = "reduce",
    .summary = "write the equations of motion in independent speeds",
    .usage = "MODEL [options]",
    .example = "hamel reduce skate --form kane -o skate-reduced.hamel",
    .options = options,
    .needs_model = true,
    .run = run,
};
