/* Assignments in exported C, for files that write functions of their own. */
#ifndef HMI_OUTPUT_EXPORT_C_CODE_H
#define HMI_OUTPUT_EXPORT_C_CODE_H

#include "output/export/export.h"

/* ARRAY[i] = the value of the i-th component; p, t, q, v, z and w are in reach. */
void hmi_c_values(hmi_export *x, const char *array, const hmi_component *components, size_t count);

#endif
