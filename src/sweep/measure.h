/* Measures: what a run is reduced to while it goes. hamel/sweep.h lists the kinds.
 *
 * The expressions of measures become outputs of the model (hm_measures_statements), called OUTPUT_PREFIX and a
 * number. While frames of one run come, hmi_measuring adds them up; at its end the values are read off.
 */
#ifndef HMI_SWEEP_MEASURE_H
#define HMI_SWEEP_MEASURE_H

#include "base/context.h"
#include "base/text.h"

#include <hamel/sweep.h>

#define HMI_MEASURE_PREFIX "measure_of_sweep_"

typedef enum hmi_measure_kind {
    HMI_MEASURE_FINAL,
    HMI_MEASURE_MAX,
    HMI_MEASURE_MIN,
    HMI_MEASURE_MEAN,
    HMI_MEASURE_RMS,
    HMI_MEASURE_INTEGRAL,
    HMI_MEASURE_TIME,
    HMI_MEASURE_COUNT,
    HMI_MEASURE_FIRST,
    HMI_MEASURE_SETTLED,
    HMI_MEASURE_CROSSING,
    HMI_MEASURE_KINDS
} hmi_measure_kind;

typedef struct hmi_measure {
    const char *name;
    hmi_measure_kind kind;
    const char *event; /* of time, count, first */
    size_t output;     /* of the outputs that measures add; crossing has two */
    double tolerance;  /* of settled */
} hmi_measure;

struct hm_measures {
    hm_context *context;
    hmi_arena arena;
    HMI_ARRAY(hmi_measure) all;
    size_t outputs;
    hmi_text statements;
};

/* Does any of them need the rows of a run, or those at events? */
bool hmi_measures_need_frames(const hm_measures *measures);

/* What one measure has added up. */
typedef struct hmi_tally {
    bool begun, done;
    double t, last, other;  /* of the row before */
    double value;           /* the sum, or the best so far */
    HMI_ARRAY(double) kept; /* settled: t, x, t, x, ...; first: event, x, ... */
} hmi_tally;

typedef struct hmi_measuring {
    const hm_measures *measures;
    const hm_allocator *allocator;
    size_t first_output; /* of the model's outputs: where those of the measures begin */
    hmi_tally *tally;
    bool failed; /* no memory */
    double start;
} hmi_measuring;

hm_status hmi_measuring_init(hmi_measuring *m, const hm_measures *measures, const hm_model *model,
                             const hm_allocator *allocator);
void hmi_measuring_release(hmi_measuring *m);
/* Before the frames of a run. */
void hmi_measuring_begin(hmi_measuring *m);
void hmi_measuring_add(hmi_measuring *m, const hm_frame *frame);
/* All measures of the run that has ended. */
void hmi_measuring_end(hmi_measuring *m, const hm_member_result *result, double *values);

#endif
