/* hamel report: one page with the equations, the verdicts and the motion of a model. */
#include "command.h"
#include "progress.h"
#include "report.h"
#include "run_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What a run gave. */
typedef struct job {
    motion motion;
    hm_run_options options;
    hm_run_result result;
    hm_sim *sim;
} job;

static bool on_frame(void *user, const hm_frame *frame)
{
    job *j = user;
    return motion_add(&j->motion, frame) && !interrupt_seen();
}

/* A run that fails on its way is reported as far as it came; one that cannot start is not. */
static int move(const session *s, const invocation *call, job *j)
{
    j->options = hm_run_options_default(s->model);
    if (!run_options_read(s, call, &j->options))
        return EXIT_BAD_INPUT;
    motion_start(&j->motion, s->model, &j->options);
    j->options.content = HM_FRAME_CONTENT_FORCES | HM_FRAME_CONTENT_ENERGY |
                         HM_FRAME_CONTENT_VIOLATION;
    j->options.on_frame = on_frame;
    j->options.user = j;
    hm_status status = hm_sim_create(s->system, &j->sim);
    if (status == HM_OK)
        status = hm_sim_run(j->sim, &j->options, &j->result);
    print_sim_diagnostics(j->sim, call->quiet);
    if (j->result.status == HM_RUN_INTERRUPTED)
        return j->motion.failed ? EXIT_FAILED : EXIT_INTERRUPTED;
    if (status != HM_OK && j->motion.rows > 0 && status != HM_ERR_NOMEM) {
        say("hamel: the run failed: %s\n", j->result.message ? j->result.message : "");
        return EXIT_DONE;
    }
    return exit_status_of(status);
}

static int write_page(const char *path, const report_text *page)
{
    hm_file *file = NULL;
    hm_status status = hm_file_create(memory_allocator(), path, &file);
    if (status == HM_OK)
        status = hm_file_write(file, page->bytes, page->length);
    hm_file_end end = status == HM_OK ? HM_FILE_END_COMPLETE : HM_FILE_END_DISCARD;
    if (file && hm_file_finish(file, end) != HM_OK)
        status = HM_ERR_IO;
    if (status != HM_OK)
        say("hamel: cannot write '%s': %s\n", path, file ? hm_file_error(file) : strerror(ENOMEM));
    hm_file_destroy(file);
    return status == HM_OK ? EXIT_DONE : EXIT_FAILED;
}

static int say_written(const invocation *call, const session *s, const job *j, size_t bytes)
{
    const char *path = option_value(call, "-o");
    if (call->json) {
        json_t *o = json_pack("{s:s, s:s, s:I, s:I, s:I, s:s}", "model", hm_model_name(s->model),
                              "out", path, "bytes", (json_int_t)bytes, "frames",
                              (json_int_t)j->motion.rows, "drawings",
                              (json_int_t)hm_model_drawing_count(s->model), "status",
                              hm_run_status_text(j->result.status));
        json_dumpf(o, stdout, JSON_INDENT(2));
        putchar('\n');
        json_decref(o);
    } else if (!call->quiet) {
        print_shown(path);
        printf(": %zu kB\n", (bytes + 999) / 1000);
    }
    return j->result.status == HM_RUN_FAILED ? EXIT_FAILED : EXIT_DONE;
}

static int report(const session *s, const invocation *call)
{
    job j = {0};
    report_text page = {0};
    const char *title = hm_model_title(s->model);
    int status = move(s, call, &j);
    json_t *data = status == EXIT_DONE ? report_object(s, call, &j.options, &j.result) : NULL;
    if (status == EXIT_DONE &&
        !(data && report_page(&page, title ? title : hm_model_name(s->model), data, &j.motion)))
        status = EXIT_FAILED;
    if (status == EXIT_DONE)
        status = write_page(option_value(call, "-o"), &page);
    if (status == EXIT_DONE)
        status = say_written(call, s, &j, page.length);
    json_decref(data);
    text_free(&page);
    motion_free(&j.motion);
    hm_sim_destroy(j.sim);
    return status;
}

static int run(const invocation *call)
{
    session s;
    if (!option_value(call, "-o"))
        return usage_error("report needs -o FILE.html");
    if (!report_possible())
        return usage_error(
            "this build of hamel has no pages: install nodejs and npm, then 'make web' "
            "and 'make'");
    int status = session_open(&s, call, true);
    if (status == EXIT_DONE)
        status = report(&s, call);
    session_close(&s);
    return status;
}

static const option_spec options[] = {
    {"-o", "FILE", "the page, FILE.html; needs nothing else to be opened"},
    {"--from", "T", "start time"},
    {"--to", "T", "end time"},
    {"--every", "DT", "time between frames; of long runs every k-th is kept"},
    {"--method", "NAME", "as in hamel run"},
    {"--rtol", "R", "relative tolerance"},
    {"--atol", "A", "absolute tolerance"},
    {"--step", "H", "step of fixed-step methods"},
    {"--drift", "NAME", "as in hamel run"},
    {"--formulation", "NAME", "as in hamel run"},
    {"--engine", "NAME", "auto, interp or jit"},
    {0},
};

const command command_report = {
    .name = "report",
    .summary = "one page to open in a browser: equations, verdicts, plots, the motion in 3D",
    .usage = "MODEL -o FILE.html [options]",
    .example = "hamel report rattleback -o rattleback.html",
    .options = options,
    .needs_model = true,
    .scene = true,
    .run = run,
};
