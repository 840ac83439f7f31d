/* Columns of numbers from a file of comma-separated values, with the place of every cell for messages. */
#ifndef HMI_MODEL_BUILD_READ_CSV_H
#define HMI_MODEL_BUILD_READ_CSV_H

#include "base/context.h"

enum { HMI_MOST_TABLE_COLUMNS = 3 };

typedef struct hmi_csv_column {
    const char *name; /* as it is called in the first line; NULL: the one at this place */
    hmi_span span;    /* of the name in the model */
} hmi_csv_column;

typedef struct hmi_csv {
    HMI_ARRAY(double) values; /* row by row, `columns` each */
    HMI_ARRAY(hmi_span) cells;
    size_t columns;
} hmi_csv;

/* The columns that are asked for, all by name or all by place; false after reporting. Release also then. */
bool hmi_csv_read(hmi_csv *csv, hm_context *context, uint32_t file, hmi_span statement,
                  const hmi_csv_column *columns, size_t count);
void hmi_csv_release(hmi_csv *csv, hm_context *context);

#endif
