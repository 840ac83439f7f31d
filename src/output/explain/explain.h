/* What the program made of a model, as text: between the files of this folder. */
#ifndef HMI_OUTPUT_EXPLAIN_EXPLAIN_H
#define HMI_OUTPUT_EXPLAIN_EXPLAIN_H

#include "compile/system/system.h"
#include "compile/tape/dump.h"

/* Names of the outputs of the system's tapes; user: the system. */
void hmi_name_dynamics_output(const void *system, size_t k, hmi_text *text);
void hmi_name_report_output(const void *system, size_t k, hmi_text *text);
void hmi_name_input_output(const void *system, size_t k, hmi_text *text);
void hmi_name_law_output(const void *system, size_t k, hmi_text *text);

/* The stages whose objects belong to a simulation. HM_ERR_NOMEM, HM_ERR_LIMIT. */
hm_status hmi_explain_jets(hm_sim *sim, hmi_text *text);
hm_status hmi_explain_solve(hm_sim *sim, hmi_text *text);

#endif
