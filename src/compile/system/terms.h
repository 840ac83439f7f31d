/* What a model is made of, term by term, with the place in the source that a diagnostic can name. */
#ifndef HMI_COMPILE_SYSTEM_TERMS_H
#define HMI_COMPILE_SYSTEM_TERMS_H

#include "model/model.h"

typedef struct hmi_model_term {
    const char *what; /* "the potential energy", "constraint", */
    const char *name; /* and what it is called; NULL: nothing */
    hmi_span span;
    const hmi_expr *values; /* its components, */
    size_t count;
    int derivatives; /* by the state, up to this order, are in the equations */
} hmi_model_term;

/* true ends the visit. */
typedef bool (*hmi_model_term_visitor)(const hmi_model_term *term, void *user);

/* Every term of the equations; not outputs and events. true where the visitor ended it. */
bool hmi_visit_terms(const hm_model *model, hmi_model_term_visitor visit, void *user);

#endif
