/* The fixed parts of exported C, templates/ *.c.in, embedded by cmake/EmbedTemplates.cmake. */
#ifndef HMI_OUTPUT_EXPORT_TEMPLATES_H
#define HMI_OUTPUT_EXPORT_TEMPLATES_H

#include <stddef.h>

extern const char hmi_template_solve[], hmi_template_motion[], hmi_template_jacobian[],
    hmi_template_integrate[];
extern const size_t hmi_template_solve_length, hmi_template_motion_length,
    hmi_template_jacobian_length, hmi_template_integrate_length;

#endif
