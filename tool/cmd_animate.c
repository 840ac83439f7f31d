/* hamel animate: the motion of a model as a film, as frames or as one picture, without a browser. */
#include "animate.h"
#include "progress.h"
#include "run_options.h"

#include <stdlib.h>

/* Events are left out: frames come at equal times. */
static bool on_frame(void *user, const hm_frame *frame)
{
    film *f = user;
    return frame->reason == HM_FRAME_REASON_EVENT ||
           (motion_add(&f->motion, frame) && !interrupt_seen());
}

/* ---- the run ---- */

static int say_failure(const film *f, hm_status status)
{
    const char *why = f->result.message ? f->result.message : "";
    if (f->motion.failed || status == HM_ERR_NOMEM)
        return exit_status_of(HM_ERR_NOMEM);
    if (f->result.status == HM_RUN_INTERRUPTED) {
        say("hamel: interrupted at t = %.10g; nothing was written\n", f->result.t_end);
        return EXIT_INTERRUPTED;
    }
    if (status == HM_OK)
        return EXIT_DONE;
    if (f->motion.rows == 0)
        return exit_status_of(status);
    say("hamel: the run failed: %s\n", why);
    return EXIT_DONE; /* what there is of it is shown; the status at the end tells */
}

static int move(film *f)
{
    const session *s = f->session;
    motion_start(&f->motion, s->model, &f->options);
    f->motion.stride = 1;
    f->options.content = HM_FRAME_CONTENT_FORCES;
    f->options.on_frame = on_frame;
    f->options.user = f;
    interrupt_watch();
    hm_status status = hm_sim_run(f->sim, &f->options, &f->result);
    print_sim_diagnostics(f->sim, f->call->quiet);
    return say_failure(f, status);
}

static int start(film *f)
{
    const session *s = f->session;
    const char *at = option_value(f->call, "--at");
    f->options = hm_run_options_default(s->model);
    hm_status status = hm_sim_create(s->system, &f->sim);
    if (status == HM_OK && at)
        status = state_from_text(f->sim, s->model, at);
    if (status == HM_OK && at)
        f->options.start = hm_sim_time(f->sim);
    print_sim_diagnostics(f->sim, f->call->quiet);
    if (status != HM_OK)
        return exit_status_of(status);
    return run_options_read(s, f->call, &f->options) ? EXIT_DONE : EXIT_BAD_INPUT;
}

/* ---- pictures ---- */

/* Every `finer`-th row; where the run ended early, the last one, too. */
static bool choose_rows(film *f)
{
    size_t rows = f->motion.rows, made = 0;
    bool early = f->result.status != HM_RUN_OK;
    f->rows = memory_new(f->count + 1, sizeof *f->rows);
    if (!f->rows)
        return false;
    size_t first = option_value(f->call, "--at-time") ? f->finer : 0;
    for (size_t k = 0; k < f->count && first + k * f->finer < rows; k++)
        f->rows[made++] = first + k * f->finer;
    if (made == 0 || (early && made < f->count && f->rows[made - 1] + 1 < rows))
        f->rows[made++] = rows - 1;
    f->count = made;
    return true;
}

static int prepare(film *f)
{
    f->placed = hm_model_drawing_count(f->session->model) > 0;
    bool good = choose_rows(f) &&
                picture_open(&f->picture, f->session->model, &f->motion, &f->look) &&
                (f->placed || plane_open(f));
    if (!good)
        return exit_status_of(HM_ERR_NOMEM);
    if (f->look.turned && f->placed && f->picture.planar)
        return usage_error("--camera turns the view in space, but the model lies in a plane");
    return EXIT_DONE;
}

static int say_written(const film *f)
{
    bool films = f->format <= FILM_FRAMES;
    if (f->call->json) {
        json_t *o = json_pack("{s:s, s:s, s:I, s:i, s:i, s:I, s:s, s:f, s:f}", "model",
                              hm_model_name(f->session->model), "out", f->path, "pictures",
                              (json_int_t)f->count, "width", (int)f->look.width, "height",
                              (int)f->look.height, "drawings",
                              (json_int_t)hm_model_drawing_count(f->session->model), "status",
                              hm_run_status_text(f->result.status), "t_start", f->options.start,
                              "t_end", f->motion.values[f->rows[f->count - 1] * f->motion.width]);
        json_object_set_new(o, "fps", films ? json_real(f->fps) : json_null());
        json_object_set_new(o, "speed", films ? json_real(f->speed) : json_null());
        json_dumpf(o, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
        putchar('\n');
        json_decref(o);
    } else if (!f->call->quiet) {
        print_shown(f->path);
        if (films)
            printf(": %zu pictures, %.4g s, speed %.4g\n", f->count, (double)f->count / f->fps,
                   f->speed);
        else
            printf(": %zu %s\n", f->count, f->count == 1 ? "instant" : "instants");
    }
    return f->result.status == HM_RUN_FAILED ? EXIT_FAILED : EXIT_DONE;
}

static int animate(film *f)
{
    int status = start(f);
    if (status == EXIT_DONE)
        status = film_plan(f);
    if (status == EXIT_DONE)
        status = move(f);
    if (status == EXIT_DONE)
        status = prepare(f);
    if (status == EXIT_DONE)
        status = film_write(f);
    return status == EXIT_DONE ? say_written(f) : status;
}

static int run(const invocation *call)
{
    session s;
    film f = {.call = call, .session = &s};
    int status = film_read_options(&f);
    if (status != EXIT_DONE)
        return status;
    status = session_open(&s, call, true);
    if (status == EXIT_DONE)
        status = animate(&f);
    picture_close(&f.picture);
    motion_free(&f.motion);
    hm_sim_destroy(f.sim);
    free(f.rows);
    free(f.across);
    free(f.upward);
    session_close(&s);
    return status;
}

static const option_spec options[] = {
    {"-o", "FILE",
     ".gif or .mp4 (by ffmpeg): a film; .png: frames FILE-0001.png, or FILE%04d.png;\n"
     "                         .svg: one picture of several instants, the earlier ones paler"},
    {"--size", "WxH", "pixels; default 640x480"},
    {"--fps", "N", "pictures a second; default 25"},
    {"--speed", "S", "time of the motion per second of the film"},
    {"--duration", "SECONDS",
     "of the film; default: that of the motion if 2 to 20, else 10;\n"
     "                         with --speed it says how much of the motion is shown"},
    {"--at-time", "T", "one picture, .png or .svg, of this instant"},
    {"--instants", "N", "one picture, .png or .svg, of so many instants; .svg: default 9"},
    {"--camera", "VIEW", "oblique, front, back, left, right, top, or AZIMUTH,ELEVATION in degrees"},
    {"--follow", NULL, "the camera moves along"},
    {"--hide", "LIST", "of paths, forces, ground, time, scale, labels; all"},
    {"--title", "TEXT", "written above"},
    {"--at", "STATE", "start from here, as in \"x=1, x'=0.2, t=0\""},
    {"--from", "T", "start time"},
    {"--to", "T", "end time"},
    {"--method", "NAME", "as in hamel run"},
    {"--rtol", "R", "relative tolerance"},
    {"--atol", "A", "absolute tolerance"},
    {"--step", "H", "step of fixed-step methods"},
    {"--drift", "NAME", "as in hamel run"},
    {"--formulation", "NAME", "as in hamel run"},
    {"--engine", "NAME", "auto, interp or jit"},
    {0},
};

const command command_animate = {
    .name = "animate",
    .summary = "the motion as a film (.gif, .mp4), as frames (.png) or as one picture (.svg)",
    .usage = "MODEL -o FILE [options]",
    .example = "hamel animate rattleback -o rattleback.gif",
    .options = options,
    .needs_model = true,
    .scene = true,
    .run = run,
};
