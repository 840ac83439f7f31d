/* Jets on any processor: see jet_run.h. */
#define TARGET
#define RUN hmi_jet_run_plain
#define SUM hmi_jet_sum_plain
#include "compile/jet_run.h"
