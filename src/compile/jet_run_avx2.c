/* Jets with AVX2, without fused multiply-add so that the bits are those of jet_run_plain.c. */
#define TARGET __attribute__((target("avx2")))
#define RUN    hmi_jet_run_avx2
#define SUMS   hmi_jet_sums_avx2
#if defined(__x86_64__) && defined(__GNUC__)
#include "compile/jet_run.inc"
#else
typedef int hmi_jet_run_avx2_is_empty;
#endif
