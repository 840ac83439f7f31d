/* Tables of numbers by column. All columns are in one block, so that a table grows by one allocation:
 * column c begins at data + c * capacity, and growing moves all columns. */
#ifndef HMI_OUTPUT_TABLE_TABLE_H
#define HMI_OUTPUT_TABLE_TABLE_H

#include "base/context.h"

#include <hamel/table.h>

struct hm_table {
    hm_context *owner; /* shared: its memory is used; NULL: the allocator is the caller's */
    hm_allocator allocator;
    hmi_names texts;   /* for axes */
    hmi_names names;   /* tables of 10 000 columns occur: found by hashing */
    const char **name; /* by column */
    const char **text; /* by column, for axes; NULL: the name */
    size_t *first;     /* by interned name: the first column called so */
    double *data;      /* columns x capacity */
    size_t columns, rows, capacity;
};

/* At least one column, and no name is missing. */
bool hmi_names_are_valid(size_t columns, const char *const *names);

#endif
