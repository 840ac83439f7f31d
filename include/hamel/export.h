/* Systems written in other languages: self-contained C, and scripts for other programs. */
#ifndef HAMEL_EXPORT_H
#define HAMEL_EXPORT_H

#include <hamel/report.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hm_export_format {
    HM_EXPORT_FORMAT_C,        /* C99, source and header */
    HM_EXPORT_FORMAT_SYMPY,    /* a Python script */
    HM_EXPORT_FORMAT_JULIA,    /* a right-hand side for DifferentialEquations */
    HM_EXPORT_FORMAT_MATLAB,   /* a right-hand side for ode45, Octave's too */
    HM_EXPORT_FORMAT_MODELICA, /* a model */
    HM_EXPORT_FORMAT_AUTO,     /* Fortran for AUTO-07p */
    HM_EXPORT_FORMAT_FMU2,     /* what a unit of FMI 2.0 holds: source and description */
    HM_EXPORT_FORMAT_FMU3      /* the same for FMI 3.0 */
} hm_export_format;
HM_API const char *hm_export_format_name(hm_export_format format); /* "c", "sympy", ... */
/* false: there is no such format. */
HM_API bool hm_export_format_find(const char *name, hm_export_format *format);

typedef enum hm_export_part {
    HM_EXPORT_PART_SOURCE,
    HM_EXPORT_PART_HEADER,     /* C only */
    HM_EXPORT_PART_DESCRIPTION /* FMI: modelDescription.xml */
} hm_export_part;

typedef struct hm_export_options {
    hm_export_format format;
    hm_export_part part;
    const char *name; /* of what is exported, as an identifier; NULL: the model's */
    const char
        *header; /* C: the header that the source includes; NULL: it is written into the source */
    bool single_precision; /* float instead of double; C only */
} hm_export_options;
HM_API hm_export_options hm_export_options_default(void);

/* What functions and files of the export are called: options->name, else the model's, as an identifier of
 * less than 48 characters, as snprintf writes it. Returns its length. */
HM_API size_t hm_export_identifier(const hm_system *system, const hm_export_options *options,
                                   char *name, size_t size);

/* Writes the system; options NULL: the defaults. Diagnostics are in the context.
 *   HM_ERR_USAGE: the model has statements that this format does not have: they are named;
 *   HM_ERR_LIMIT: too many coordinates for dense algebra;
 *   HM_ERR_IO: the writer stopped. */
HM_API HM_MUST_CHECK hm_status hm_system_export(hm_context *context, const hm_system *system,
                                                const hm_export_options *options, hm_writer writer,
                                                void *user);

#ifdef __cplusplus
}
#endif
#endif
