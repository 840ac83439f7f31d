/* `hamel report`: what its files share. */
#ifndef HAMEL_TOOL_REPORT_H
#define HAMEL_TOOL_REPORT_H

#include "command.h"

/* ---- text that grows (report_text.c) ---- */

typedef struct report_text {
    char *bytes; /* ends with a NUL */
    size_t length, capacity;
    bool failed; /* without memory: what is added is dropped */
} report_text;

void text_add(report_text *text, const char *bytes, size_t length);
void text_adds(report_text *text, const char *string);
/* With & < > " as entities. */
void text_add_escaped(report_text *text, const char *string);
/* JSON for a <script> element: < > & only occur inside of its strings, and are escaped there, so that
 * no text of a model can end the element. */
void text_add_json(report_text *text, const char *json, size_t length);
void text_free(report_text *text);

/* ---- the motion, by columns (report_motion.c) ---- */

typedef enum motion_group {
    MOTION_T,
    MOTION_Q,
    MOTION_V,
    MOTION_Z,
    MOTION_OUTPUTS,
    MOTION_ENERGY, /* kinetic, potential, total, work by kind, balance */
    MOTION_VIOLATION,
    MOTION_LAMBDA,
    MOTION_IDEAL,
    MOTION_NONIDEAL,
    MOTION_CONTROL,
    MOTION_DRAWINGS,
    MOTION_GROUPS
} motion_group;

typedef struct motion {
    const hm_model *model;
    size_t first[MOTION_GROUPS + 1]; /* column of each group; those left out have none */
    size_t width, rows, capacity;
    size_t stride, seen; /* of every `stride` output frames one is kept */
    double *values;      /* row by row */
    bool failed;
} motion;

/* Chooses columns and stride so that the page stays small. */
void motion_start(motion *m, const hm_model *model, const hm_run_options *options);
/* An hm_frame_function, with a motion as user. */
bool motion_add(void *user, const hm_frame *frame);
void motion_write(const motion *m, report_text *out);
void motion_free(motion *m);

/* ---- the page ---- */

/* report_data.c: everything but the motion. */
json_t *report_object(const session *s, const invocation *call, const hm_run_options *options,
                      const hm_run_result *result);

/* report_page.c: has this build the parts of pages? */
bool report_possible(void);
bool report_page(report_text *out, const char *title, json_t *data, const motion *m);

/* The parts of pages, built from web/ and embedded (cmake/Web.cmake); lengths 0 where they are not. */
extern const char web_js[], web_css[], web_hash[];
extern const size_t web_js_length, web_css_length, web_hash_length;

#endif
