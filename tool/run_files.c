/* Writes the rows of a run to CSV, HDF5 and the table of the plot. */
#include "command.h"
#include "run_files.h"

#include "figure_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool run_files_create(run_files *files, const hm_model *model, unsigned groups)
{
    files->model = model;
    files->last_event = NAN;
    unsigned shown = COLUMNS_ENERGY;
    if (hm_model_constraint_count(model) > 0)
        shown |= COLUMNS_VIOLATION;
    return columns_create(&files->columns, model, groups) &&
           columns_create(&files->plot_columns, model, shown);
}

void run_files_destroy(run_files *files)
{
    hm_csv_destroy(files->csv);
    hdf5_destroy(files->hdf5);
    hm_table_destroy(files->table);
    columns_destroy(&files->columns);
    columns_destroy(&files->plot_columns);
}

unsigned run_files_content(const run_files *files)
{
    unsigned content = HM_FRAME_CONTENT_STATE;
    if (files->csv_path || files->hdf5_path)
        content |= files->columns.content;
    if (files->plot_path)
        content |= files->plot_columns.content;
    return content;
}

/* ---- rows ---- */

static bool refuse(run_files *files, const char *path, const char *why)
{
    say("hamel: cannot write '%s': %s\n", path, why);
    files->failed = true;
    return false;
}

static bool add_csv(run_files *files, const double *row)
{
    const column_set *set = &files->columns;
    hm_status status = HM_OK;
    if (!files->csv)
        status = hm_csv_create(memory_allocator(), files->csv_path, set->count,
                               (const char *const *)set->names, &files->csv);
    if (status == HM_OK)
        status = hm_csv_row(files->csv, row);
    if (status == HM_OK)
        return true;
    const char *why = files->csv && status == HM_ERR_IO ? hm_csv_error(files->csv)
                                                        : hm_status_text(status);
    return refuse(files, files->csv_path, why);
}

static bool add_hdf5(run_files *files, const double *row)
{
    if (!files->hdf5)
        files->hdf5 = hdf5_create(files->hdf5_path, &files->columns);
    if (files->hdf5 && hdf5_row(files->hdf5, row))
        return true;
    return refuse(files, files->hdf5_path,
                  files->hdf5 ? hdf5_error(files->hdf5) : hm_status_text(HM_ERR_NOMEM));
}

/* Axes show the texts that the model gives its coordinates and outputs. */
static hm_status set_texts(hm_table *table, const hm_model *model)
{
    hm_status status = HM_OK;
    for (size_t i = 0; i < hm_model_output_count(model) && status == HM_OK; i++) {
        size_t column = hm_table_find(table, hm_model_output_name(model, i));
        const char *text = hm_model_output_text(model, i);
        if (text && column != HM_NO_COLUMN)
            status = hm_table_set_text(table, column, text);
    }
    for (size_t i = 0; i < hm_model_coordinate_count(model) && status == HM_OK; i++) {
        size_t column = hm_table_find(table, hm_model_coordinate_name(model, i));
        const char *text = hm_model_coordinate_text(model, i);
        if (text && column != HM_NO_COLUMN)
            status = hm_table_set_text(table, column, text);
    }
    return status;
}

static bool add_to_table(run_files *files, const hm_frame *frame)
{
    column_set *set = &files->plot_columns;
    hm_status status = HM_OK;
    if (!files->table)
        status = hm_table_create(memory_allocator(), set->count, (const char *const *)set->names,
                                 &files->table);
    if (status == HM_OK && hm_table_row_count(files->table) == 0)
        status = set_texts(files->table, files->model);
    if (status == HM_OK)
        status = hm_table_add_row(files->table, columns_fill(set, frame));
    return status == HM_OK || refuse(files, files->plot_path, hm_status_text(status));
}

/* Is the row of the frame wanted in files? Not one at the end that is there as the row of an event. */
static bool wants_row(run_files *files, const hm_frame *frame)
{
    bool event = frame->reason == HM_FRAME_REASON_EVENT;
    if (event && !files->event_rows)
        return false;
    if (frame->reason == HM_FRAME_REASON_END && frame->t == files->last_event)
        return false;
    files->last_event = event ? frame->t : NAN;
    return true;
}

bool run_files_add(run_files *files, const hm_frame *frame)
{
    bool good = true;
    if (files->plot_path)
        good = add_to_table(files, frame);
    if (!good || !wants_row(files, frame))
        return good;
    if (!files->csv_path && !files->hdf5_path)
        return true;
    const double *row = columns_fill(&files->columns, frame);
    if (files->csv_path)
        good = add_csv(files, row);
    if (good && files->hdf5_path)
        good = add_hdf5(files, row);
    return good;
}

/* ---- the end ---- */

static void say_kept(const char *path, size_t rows)
{
    say("hamel: the results so far are kept in '%s'", path);
    if (rows)
        say(" (%zu row%s)", rows, rows == 1 ? "" : "s");
    fputc('\n', stderr);
}

static bool finish_csv(run_files *files, bool complete)
{
    if (!files->csv)
        return true;
    bool failed_before = hm_csv_error(files->csv)[0] != '\0';
    bool good = hm_csv_finish(files->csv, complete) == HM_OK;
    if (!good && !failed_before)
        refuse(files, files->csv_path, hm_csv_error(files->csv));
    if ((!complete || !good) && hm_csv_row_count(files->csv) > 0 &&
        strcmp(hm_csv_path(files->csv), files->csv_path) != 0)
        say_kept(hm_csv_path(files->csv), good ? hm_csv_row_count(files->csv) : 0);
    return good;
}

static bool finish_hdf5(run_files *files, const hm_run_result *result, bool complete)
{
    if (!files->hdf5)
        return true;
    bool good = hdf5_finish(files->hdf5, result, complete);
    if (!good && !files->failed)
        refuse(files, files->hdf5_path, hdf5_error(files->hdf5));
    if ((!complete || !good) && hdf5_path(files->hdf5))
        say_kept(hdf5_path(files->hdf5), 0);
    return good;
}

static void describe(const hm_run_result *result, char *text, size_t size)
{
    int length = snprintf(text, size, "%s, rtol %g, atol %g, t = %g … %g", result->method,
                          result->rtol, result->atol, result->t_start, result->t_end);
    if (length > 0 && (size_t)length < size && result->status > HM_RUN_EVENT)
        snprintf(text + length, size - (size_t)length, ", %s", hm_run_status_text(result->status));
}

static bool write_plot(run_files *files, const hm_run_result *result)
{
    if (!files->table)
        return true;
    char subtitle[256];
    describe(result, subtitle, sizeof subtitle);
    const char *title = hm_model_title(files->model);
    hm_figure *figure = NULL;
    hm_status status = hm_figure_create(
        memory_allocator(), title ? title : hm_model_name(files->model), subtitle, &figure);
    if (status == HM_OK)
        status = hm_figure_run(figure, files->table);
    bool good = status == HM_OK && figure_file_write(figure, files->plot_path);
    if (status != HM_OK)
        refuse(files, files->plot_path, hm_status_text(status));
    files->failed = files->failed || !good;
    hm_figure_destroy(figure);
    return good;
}

bool run_files_finish(run_files *files, const hm_run_result *result, bool complete)
{
    bool csv = finish_csv(files, complete), hdf5 = finish_hdf5(files, result, complete);
    bool plot = write_plot(files, result);
    return csv && hdf5 && plot && !files->failed;
}
