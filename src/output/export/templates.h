/* The fixed parts of exported C, templates/ *.c.in, embedded by cmake/EmbedTemplates.cmake. */
#ifndef HMI_OUTPUT_EXPORT_TEMPLATES_H
#define HMI_OUTPUT_EXPORT_TEMPLATES_H

#include <stddef.h>

#define HMI_TEMPLATE(name)                                                                         \
    extern const char hmi_template_##name[];                                                       \
    extern const size_t hmi_template_##name##_length

HMI_TEMPLATE(solve);
HMI_TEMPLATE(motion);
HMI_TEMPLATE(jacobian);
HMI_TEMPLATE(integrate);
HMI_TEMPLATE(fmi_instance);
HMI_TEMPLATE(fmi2);
HMI_TEMPLATE(fmi3);

#undef HMI_TEMPLATE

#endif
