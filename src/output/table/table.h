/* Tables of numbers by column. All columns are in one block, so that a table grows by one allocation:
 * column c begins at data + c * capacity, and growing moves all columns. */
#ifndef HMI_OUTPUT_TABLE_TABLE_H
#define HMI_OUTPUT_TABLE_TABLE_H

#include "base/text.h"

#include <hamel/table.h>

struct hm_table {
    hm_allocator allocator;
    hmi_names texts;   /* for axes */
    hmi_names names;   /* tables of 10 000 columns occur: found by hashing */
    const char **name; /* by column */
    const char **text; /* by column, for axes; NULL: the name */
    size_t *first;     /* by interned name: the first column called so */
    double *data;      /* columns x capacity */
    size_t columns, rows, capacity;
};

#endif
