/* Jets on any processor: see jet_run.inc. */
#define TARGET
#define RUN  hmi_jet_run_plain
#define SUMS hmi_jet_sums_plain
#include "compile/jet_run.inc"
