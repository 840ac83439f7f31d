/* Names of symbols in reduced equations: those of the model, of speeds, and of constants beta; and in files the same
 * without brackets, since members of a family may then be of different kinds. */
#ifndef HMI_REDUCE_NAMES_H
#define HMI_REDUCE_NAMES_H

#include "reduce/reduce.h"

typedef struct hmi_reduce_names {
    hmi_reduce *r;
    bool file;
} hmi_reduce_names;

hmi_namer hmi_reduce_namer(hmi_reduce_names *names);
/* Appends a name of the model as a file has it: q_3 for q[3]. */
void hmi_reduce_file_name(hmi_reduce *r, const char *name, hmi_text *out);
/* Has the model such a name? */
bool hmi_reduce_is_taken(const hmi_reduce *r, const char *name);
/* A letter for named parts that no name begins with. */
const char *hmi_reduce_part_prefix(const hmi_reduce *r);
/* write_model.c; nothing is written where a file cannot be: a note says why. */
hm_status hmi_reduce_write_model(hmi_reduce *r, hmi_reduce_names *names, hmi_text *out);

#endif
