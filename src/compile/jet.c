/* Jets: memory, order 0, and the choice of the interpreter. See jet.h. */
#include "compile/jet.h"

#include "compile/jet_code.h"

#include <string.h>

/* Rows, in doubles, at most: beyond it there is no memory worth asking for. */
#define MOST_DOUBLES ((size_t)1 << 28)

void hmi_jet_init(hmi_jet *jet, const hm_allocator *allocator)
{
    *jet = (hmi_jet){.allocator = allocator, .status = HM_OK};
#ifdef HMI_JET_AVX2
    __builtin_cpu_init();
    jet->vectors = __builtin_cpu_supports("avx2");
#endif
}

static size_t doubles_of(const hmi_jet *jet)
{
    return jet->constant.count * (2 + jet->stride);
}

void hmi_jet_release(hmi_jet *jet)
{
    if (!jet->allocator)
        return;
    hmi_free(jet->allocator, jet->memory, doubles_of(jet) * sizeof *jet->memory);
    hmi_array_release(jet->allocator, &jet->zero);
    hmi_array_release(jet->allocator, &jet->code);
    hmi_array_release(jet->allocator, &jet->constant);
    hmi_array_release(jet->allocator, &jet->wanted);
    hmi_array_release(jet->allocator, &jet->outputs);
    hmi_array_release(jet->allocator, &jet->symbols);
    hmi_array_release(jet->allocator, &jet->source_row);
    hmi_array_release(jet->allocator, &jet->source);
    hmi_array_release(jet->allocator, &jet->table);
    hmi_array_release(jet->allocator, &jet->moving);
    *jet = (hmi_jet){0};
}

/* Rows -> places in memory. */
static void relocate(hmi_jet_code *code, size_t count, uint32_t factor)
{
    for (size_t i = 0; i < count; i++) {
        code[i].dst *= factor;
        code[i].a *= factor;
        code[i].b *= factor;
        code[i].c *= factor;
        code[i].p *= factor;
        code[i].q *= factor;
    }
}

hm_status hmi_jet_seal(hmi_jet *jet, int order)
{
    size_t stride = 4 + ((size_t)order + 3) / 4 * 4;
    if (jet->status != HM_OK)
        return jet->status;
    if (jet->constant.count > MOST_DOUBLES / stride)
        return jet->status = HM_ERR_LIMIT;
    jet->order = order;
    jet->memory = hmi_alloc(jet->allocator,
                            jet->constant.count * (2 + stride) * sizeof *jet->memory);
    if (!jet->memory)
        return jet->status = HM_ERR_NOMEM;
    jet->stride = stride;
    jet->series = jet->memory + 2 * jet->constant.count + 4;
    for (size_t i = 0; i < jet->constant.count; i++)
        if (!jet->constant.data[i] && jet->wanted.data[i] &&
            !hmi_array_push(jet->allocator, &jet->moving, (uint32_t)i))
            return jet->status = HM_ERR_NOMEM;
    relocate(jet->zero.data, jet->zero.count, 2);
    relocate(jet->code.data, jet->code.count, 2);
    hmi_array_release(jet->allocator, &jet->table);
    hmi_jet_clear(jet);
    return HM_OK;
}

void hmi_jet_clear(hmi_jet *jet)
{
    memset(jet->memory, 0, doubles_of(jet) * sizeof *jet->memory);
}

void hmi_jet_begin(hmi_jet *jet)
{
    for (size_t i = 0; i < jet->source.count; i++)
        hmi_jet_put(jet, jet->source_row.data[i], 0, *jet->source.data[i]);
}

static double value_of(const hmi_jet_code *ip, const double *base)
{
    double x = base[ip->a], y = base[ip->b], z = base[ip->c];
    switch (ip->op) {
    case HMI_TAPE_MUL_ADD:
        return x * y + z;
    case HMI_TAPE_MUL_SUB:
        return x * y - z;
    case HMI_TAPE_SUB_MUL:
        return z - x * y;
    case HMI_TAPE_FIRST_OF_TABLE + HMI_ADD:
        return x + y;
    case HMI_TAPE_FIRST_OF_TABLE + HMI_SUB:
        return x - y;
    case HMI_TAPE_FIRST_OF_TABLE + HMI_MUL:
        return x * y;
    default:
        return hmi_op_value((hmi_op)(ip->op - HMI_TAPE_FIRST_OF_TABLE), x, y, z);
    }
}

static void run_zero(const hmi_jet *jet, const hmi_jet_segment *segment)
{
    double *base = jet->memory;
    for (size_t i = segment->zero_first; i < segment->zero_end; i++) {
        const hmi_jet_code *ip = &jet->zero.data[i];
        if (ip->op < HMI_TAPE_FIRST_OF_TABLE + HMI_OP_COUNT) /* else a rate */
            base[ip->dst] = value_of(ip, base);
    }
}

void hmi_jet_keep(const hmi_jet *jet, int k)
{
    const double *now = jet->memory + 1;
    double *series = jet->series + k - 1;
    for (size_t i = 0; i < jet->moving.count; i++) {
        size_t row = jet->moving.data[i];
        series[row * jet->stride] = now[2 * row];
    }
}

static hmi_jet_machine machine_of(const hmi_jet *jet)
{
    return (hmi_jet_machine){jet->memory, jet->series, jet->stride / 2};
}

void hmi_jet_run(const hmi_jet *jet, const hmi_jet_segment *segment, int k)
{
    const hmi_jet_code *code = jet->code.data + segment->first;
    const hmi_jet_code *end = jet->code.data + segment->end;
    const hmi_jet_machine machine = machine_of(jet);
    if (k == 0)
        run_zero(jet, segment);
#ifdef HMI_JET_AVX2
    else if (jet->vectors)
        hmi_jet_run_avx2(code, end, &machine, k);
#endif
    else
        hmi_jet_run_plain(code, end, &machine, k);
}

void hmi_jet_sums(const hmi_jet *jet, const hmi_jet_list *lists, size_t count, int k, double *out)
{
    const hmi_jet_machine machine = machine_of(jet);
#ifdef HMI_JET_AVX2
    if (jet->vectors) {
        hmi_jet_sums_avx2(lists, count, &machine, k, out);
        return;
    }
#endif
    hmi_jet_sums_plain(lists, count, &machine, k, out);
}
