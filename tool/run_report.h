/* The summary of a run, as text and as JSON. */
#ifndef HAMEL_TOOL_RUN_REPORT_H
#define HAMEL_TOOL_RUN_REPORT_H

#include <hamel/hamel.h>
#include <jansson.h>

typedef struct run_report {
    const hm_model *model;
    const hm_run_options *options; /* as asked */
    const hm_run_result *result;
    const char *csv, *hdf5, *plot; /* files written; NULL where none */
} run_report;

void run_report_print(const run_report *report);
/* What `run --json` prints. */
json_t *run_report_object(const run_report *report);
/* false when writing failed. */
bool run_report_json(const run_report *report);

#endif
