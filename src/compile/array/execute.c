/* Array code executed: one loop a segment. Compiled with -O3 (CMakeLists.txt), so that the loops
 * become vector instructions; twice where the compiler can, with and without AVX2. Lanes round as
 * scalars do, so the results do not depend on which is taken. */
#include "compile/array/array.h"
#include "expr/graph/math.h"
#include "expr/graph/table.h"

#include <math.h>
#include <string.h>

#if defined(__GNUC__) && defined(__x86_64__)
#define HAS_WIDE 1
#define WIDE     __attribute__((target("avx2")))
#define INLINE   static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

/* The operands of a segment: consecutive values, or one value where its flag is set. */
typedef struct operands {
    const double *restrict x, *restrict y, *restrict z;
    bool x_one, y_one, z_one;
} operands;

/* dst[k] = value, with operands that are the same for all k taken out of the loop. */
#define LOOP(value)                                                                                \
    for (int k = 0; k < count; k++) {                                                              \
        dst[k] = (value);                                                                          \
    }

#define BINARY(op)                                                                                 \
    if (o->x_one) {                                                                                \
        const double s = x[0];                                                                     \
        LOOP(s op y[k])                                                                            \
    } else if (o->y_one) {                                                                         \
        const double s = y[0];                                                                     \
        LOOP(x[k] op s)                                                                            \
    } else {                                                                                       \
        LOOP(x[k] op y[k])                                                                         \
    }                                                                                              \
    return true

/* A product with one factor for all; the order of factors does not matter. */
#define FUSED(combine)                                                                             \
    if (o->z_one)                                                                                  \
        return false;                                                                              \
    if (o->x_one || o->y_one) {                                                                    \
        const double s = o->x_one ? x[0] : y[0];                                                   \
        const double *restrict f = o->x_one ? y : x;                                               \
        LOOP(combine(f[k] * s, z[k]))                                                              \
    } else {                                                                                       \
        LOOP(combine(x[k] * y[k], z[k]))                                                           \
    }                                                                                              \
    return true

#define SUM(p, c)  ((p) + (c))
#define LESS(p, c) ((p) - (c))
#define FROM(p, c) ((c) - (p))

/* The frequent operations; false: not one of them, or operands that are no vectors. */
INLINE bool run_frequent(int op, int count, double *restrict dst, const operands *o)
{
    const double *restrict x = o->x, *restrict y = o->y, *restrict z = o->z;
    switch (op) {
    case HMI_TAPE_FIRST_OF_TABLE + HMI_ADD:
        BINARY(+);
    case HMI_TAPE_FIRST_OF_TABLE + HMI_SUB:
        BINARY(-);
    case HMI_TAPE_FIRST_OF_TABLE + HMI_MUL:
        BINARY(*);
    case HMI_TAPE_FIRST_OF_TABLE + HMI_DIV:
        BINARY(/);
    case HMI_TAPE_MUL_ADD:
        FUSED(SUM);
    case HMI_TAPE_MUL_SUB:
        FUSED(LESS);
    case HMI_TAPE_SUB_MUL:
        FUSED(FROM);
    case HMI_TAPE_FIRST_OF_TABLE + HMI_NEG:
        if (o->x_one)
            return false;
        LOOP(-x[k])
        return true;
    default:
        return false;
    }
}

/* Every operation, all operands vectors. */
INLINE void run_any(int op, int count, double *restrict dst, const operands *o)
{
    const double *restrict a = o->x, *restrict b = o->y, *restrict c = o->z;
    switch (op) {
    case HMI_TAPE_COPY:
        memmove(dst, a, (size_t)count * sizeof *dst);
        break;
    case HMI_TAPE_MUL_ADD:
        LOOP(a[k] * b[k] + c[k])
        break;
    case HMI_TAPE_MUL_SUB:
        LOOP(a[k] * b[k] - c[k])
        break;
    case HMI_TAPE_SUB_MUL:
        LOOP(c[k] - a[k] * b[k])
        break;
#define OP(name, arity, text, value, ddx, ddy)                                                     \
    case HMI_TAPE_FIRST_OF_TABLE + HMI_##name:                                                     \
        for (int k = 0; k < count; k++) {                                                          \
            const double x = a[k], y = arity > 1 ? b[k] : 0, z = arity > 2 ? c[k] : 0;             \
            (void)y;                                                                               \
            (void)z;                                                                               \
            dst[k] = value;                                                                        \
        }                                                                                          \
        break;
#include "expr/graph/ops.def"
#undef OP
    }
}

/* Listed places are collected, one value for all repeated where a loop needs it as a vector. */
static const double *collect(uint8_t access, uint32_t at, int count, const uint32_t *index,
                             const double *work, double *buffer)
{
    if (access == HMI_ACCESS_LIST)
        for (int k = 0; k < count; k++)
            buffer[k] = work[index[at + (uint32_t)k]];
    return access == HMI_ACCESS_LIST ? buffer : work + at;
}

static const double *repeat(const double *from, bool one, int count, double *buffer)
{
    double value = from[0];
    for (int k = 0; one && k < count; k++)
        buffer[k] = value;
    return one ? buffer : from;
}

#ifdef __GNUC__
#define CALL(place, write) __builtin_prefetch(place, write)
#else
#define CALL(place, write) ((void)(place))
#endif

/* The block that follows these places comes into the cache. (Inline: as a function that changes
 * nothing it would be left out.) */
#define CALL_NEXT(from, write)                                                                     \
    for (int k = 0; k < segment->count; k += 8)                                                    \
    CALL(work + (from) + HMI_ARRAY_CODE_BLOCK + k, write)

INLINE void call_ahead(const hmi_segment *segment, const double *work)
{
    if (segment->prefetch & HMI_PREFETCH_A)
        CALL_NEXT(segment->a, 0);
    if (segment->prefetch & HMI_PREFETCH_B)
        CALL_NEXT(segment->b, 0);
    if (segment->prefetch & HMI_PREFETCH_C)
        CALL_NEXT(segment->c, 0);
    if (segment->prefetch & HMI_PREFETCH_DST)
        CALL_NEXT(segment->dst, 1);
}

INLINE void run_segments(const hmi_segment *segment, const hmi_segment *end, const uint32_t *index,
                         double *work)
{
    double buffer[4][HMI_ARRAY_CODE_BLOCK];
    for (; segment < end; segment++) {
        int count = segment->count;
        if (segment->prefetch)
            call_ahead(segment, work);
        operands o = {
            collect(segment->a_access, segment->a, count, index, work, buffer[0]),
            collect(segment->b_access, segment->b, count, index, work, buffer[1]),
            collect(segment->c_access, segment->c, count, index, work, buffer[2]),
            segment->a_access == HMI_ACCESS_SCALAR,
            segment->b_access == HMI_ACCESS_SCALAR,
            segment->c_access == HMI_ACCESS_SCALAR,
        };
        bool listed = segment->dst_access == HMI_ACCESS_LIST;
        double *dst = listed ? buffer[3] : work + segment->dst;
        if ((o.x_one && o.y_one) || !run_frequent(segment->op, count, dst, &o)) {
            o.x = repeat(o.x, o.x_one, count, buffer[0]);
            o.y = repeat(o.y, o.y_one, count, buffer[1]);
            o.z = repeat(o.z, o.z_one, count, buffer[2]);
            run_any(segment->op, count, dst, &o);
        }
        for (int k = 0; listed && k < count; k++)
            work[index[segment->dst + (uint32_t)k]] = dst[k];
    }
}

#ifdef HAS_WIDE
WIDE static void run_wide(const hmi_segment *segment, const hmi_segment *end, const uint32_t *index,
                          double *work)
{
    run_segments(segment, end, index, work);
}
#endif

static void run_narrow(const hmi_segment *segment, const hmi_segment *end, const uint32_t *index,
                       double *work)
{
    run_segments(segment, end, index, work);
}

static void run(const hmi_array_code *code, size_t first, size_t end, double *work)
{
    const hmi_segment *segments = code->code.data;
#ifdef HAS_WIDE
    if (code->wide) {
        run_wide(segments + first, segments + end, code->index.data, work);
        return;
    }
#endif
    run_narrow(segments + first, segments + end, code->index.data, work);
}

static void load_inputs(const hmi_array_code *code, bool late, const hmi_tape_values *values,
                        double *work)
{
    for (size_t i = 0; i < code->inputs.count; i++) {
        const hmi_tape_input *input = &code->inputs.data[i];
        const double *from = values->by_kind[input->kind];
        if (!!(code->late & HMI_DEP(input->kind)) != late ||
            (from && from + input->first == work + input->slot))
            continue;
        if (from)
            memcpy(work + input->slot, from + input->first, input->count * sizeof *work);
        else
            memset(work + input->slot, 0, input->count * sizeof *work);
    }
}

double *hmi_array_code_input(const hmi_array_code *code, hmi_symbol_kind kind, double *work)
{
    for (size_t i = 0; i < code->inputs.count; i++)
        if (code->inputs.data[i].kind == kind)
            return work + code->inputs.data[i].slot;
    return NULL;
}

void hmi_array_code_prepare(const hmi_array_code *code, const hmi_tape_values *values, double *work)
{
    hmi_tape_prepare(&code->prologue, values, work);
    memset(work + code->output_slot, 0, code->output_count * sizeof *work);
    for (size_t i = 0; i < code->copies.count; i++)
        work[code->copies.data[i].dst] = work[code->copies.data[i].from];
}

void hmi_array_code_run(const hmi_array_code *code, const hmi_tape_values *values, double *work)
{
    load_inputs(code, false, values, work);
    run(code, 0, code->late_code, work);
}

void hmi_array_code_run_late(const hmi_array_code *code, const hmi_tape_values *values,
                             double *work)
{
    load_inputs(code, true, values, work);
    run(code, code->late_code, code->code.count, work);
}
