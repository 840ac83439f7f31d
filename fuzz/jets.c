/* Jets of a tape, interpreted, by vectors and as machine code, compared bit by bit. See jets.h. */
#include "jets.h"

#include "compile/jet/verify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ORDER = 7, MOST_INSTRUCTIONS = 500, MOST_ROWS = 8, MOST_OUTPUTS = 64 };
enum { MOST_RESULTS = (ORDER + 1) * (MOST_OUTPUTS + 2 * MOST_ROWS) };

typedef enum way { PLAIN, VECTORS, MACHINE_CODE, WAYS } way;
static const char *const name[] = {"jets", "jets with vectors", "machine code of jets"};

typedef struct expansion {
    hmi_jet jet;
    hmi_jet_segment segment;
    uint32_t moving[MOST_ROWS]; /* outputs that change in time */
    size_t moving_count;
    hmi_jet_list lists[MOST_ROWS];
    hmi_jet_link links[MOST_ROWS];
    size_t link_count;
    hmi_jet_program rows, rest;
    double values[MOST_ROWS], next[MOST_ROWS], scratch[MOST_ROWS];
    double *results;
    size_t result_count;
} expansion;

static void require(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "wrong: %s\n", what);
    abort();
}

static void require_sound(const char *violation)
{
    require(!violation, violation ? violation : "");
}

/* ---- programs ---- */

static const uint32_t *output_rows(const expansion *e)
{
    return e->jet.outputs.data + e->segment.output;
}

static void find_moving(expansion *e, size_t outputs)
{
    for (size_t i = 0; i < outputs && e->moving_count < MOST_ROWS; i++)
        if (!e->jet.constant.data[output_rows(e)[i]])
            e->moving[e->moving_count++] = output_rows(e)[i];
}

/* List i: of i % 3 pairs, with the terms beside them that its bits ask for. */
static void add_lists(expansion *e)
{
    size_t count = e->moving_count;
    for (size_t i = 0; i < count; i++) {
        uint32_t first = (uint32_t)e->jet.pairs.count;
        for (size_t k = 0; k < i % 3; k++)
            hmi_jet_convolve(&e->jet, e->moving[(i + k) % count], e->moving[(i + 2 * k) % count]);
        e->lists[i] = (hmi_jet_list){
            .first = first,
            .end = (uint32_t)e->jet.pairs.count,
            .value = hmi_jet_place(&e->jet, e->moving[i]),
            .less = i & 1 ? hmi_jet_place(&e->jet, e->moving[(i + 1) % count]) : HMI_JET_NO_PLACE,
            .rise = i & 2 ? hmi_jet_place(&e->jet, e->moving[(i + 3) % count]) : HMI_JET_NO_PLACE};
    }
}

/* The first symbols follow outputs, as if these were their rates. */
static void add_links(expansion *e)
{
    for (size_t i = 0; i < e->jet.symbols.count && e->link_count < MOST_ROWS; i++) {
        uint32_t row = e->jet.symbols.data[i].row;
        if (e->jet.constant.data[row] || e->moving_count == 0)
            continue;
        size_t at = e->link_count++;
        e->links[at] = (hmi_jet_link){.row = row,
                                      .source = e->moving[at % e->moving_count],
                                      .at = (uint32_t)at,
                                      .kind = (hmi_jet_link_kind)(at % 3)};
    }
}

static void open_expansion(expansion *e, const hmi_tape *tape, const double *work, way how)
{
    *e = (expansion){.results = e->results};
    hmi_jet_init(&e->jet, tape->allocator);
    e->jet.vectors = e->jet.vectors && how != PLAIN;
    require(hmi_jet_add(&e->jet, tape, work, &e->segment) == HM_OK, "memory");
    find_moving(e, tape->output_count);
    add_lists(e);
    add_links(e);
    require(hmi_jet_seal(&e->jet, ORDER) == HM_OK, "memory");
    require_sound(hmi_jet_verify(&e->jet, &(hmi_violation){.text = ""}));
    require_sound(hmi_jet_segments_verify(&e->jet, &e->segment, 1, &(hmi_violation){.text = ""}));
    e->rows = (hmi_jet_program){
        .segment = &e->segment, .lists = e->lists, .list_count = e->moving_count};
    e->rest = (hmi_jet_program){.handoff = true, .links = e->links, .link_count = e->link_count};
    require_sound(hmi_jet_program_verify(&e->jet, &e->rows, &(hmi_violation){.text = ""}));
    require_sound(hmi_jet_program_verify(&e->jet, &e->rest, &(hmi_violation){.text = ""}));
    if (how != MACHINE_CODE)
        return;
    require(hmi_jet_compile(&e->jet, &e->rows) == HM_OK, "memory");
    require(hmi_jet_compile(&e->jet, &e->rest) == HM_OK, "memory");
}

static void close_expansion(expansion *e)
{
    hmi_jet_program_release(&e->rows);
    hmi_jet_program_release(&e->rest);
    hmi_jet_release(&e->jet);
}

/* ---- running ---- */

static bool is_linked(const expansion *e, uint32_t row)
{
    for (size_t i = 0; i < e->link_count; i++)
        if (e->links[i].row == row)
            return true;
    return false;
}

/* Linked rows have coefficients from order 2 on. */
static void put_symbols(const expansion *e, int k, const double *numbers, size_t count)
{
    for (size_t i = 0; i < e->jet.symbols.count; i++) {
        uint32_t row = e->jet.symbols.data[i].row;
        bool given = k == 0 || !e->jet.constant.data[row];
        if (given && (k < 2 || !is_linked(e, row)))
            hmi_jet_put(&e->jet, row, k, numbers[(i + (size_t)k) % count]);
    }
}

static void run_order(expansion *e, int k)
{
    const hmi_jet_ends ends = {.values = e->values, .next = e->next, .scratch = e->scratch};
    if (k == 0) {
        hmi_jet_begin(&e->jet);
        hmi_jet_run(&e->jet, &e->segment, 0);
        return;
    }
    hmi_jet_begin_order(&e->jet, k);
    e->jet.scale[HMI_JET_LINK] = (k + 1) / 0.9;
    e->jet.scale[HMI_JET_RISE] = 0.3 * k;
    hmi_jet_execute(&e->jet, &e->rows, k, &ends);
    hmi_jet_execute(&e->jet, &e->rest, k, &ends);
}

static void add_results(expansion *e, const double *values, size_t count)
{
    memcpy(e->results + e->result_count, values, count * sizeof *values);
    e->result_count += count;
}

/* The links have changed the symbols' own coefficients already. */
static void note_order(expansion *e, int k, size_t outputs)
{
    for (size_t i = 0; i < outputs; i++) {
        uint32_t row = output_rows(e)[i];
        double x = is_linked(e, row) ? 0 : hmi_jet_get(&e->jet, row, k);
        add_results(e, &x, 1);
    }
    add_results(e, e->values, e->moving_count);
    add_results(e, e->next, e->link_count);
}

static size_t expand(const hmi_tape *tape, const double *work, way how, const double *numbers,
                     size_t count, double *results)
{
    expansion e = {.results = results};
    open_expansion(&e, tape, work, how);
    for (int k = 0; k <= ORDER; k++) {
        put_symbols(&e, k, numbers, count);
        run_order(&e, k);
        note_order(&e, k, tape->output_count);
    }
    close_expansion(&e);
    return e.result_count;
}

static void compare(way how, const double *results, const double *expected, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool same = (isnan(results[i]) && isnan(expected[i])) ||
                    memcmp(&results[i], &expected[i], sizeof *results) == 0;
        if (!same)
            fprintf(stderr, "result %zu of %zu: %a, not %a\n", i, count, results[i], expected[i]);
        require(same, name[how]);
    }
}

void check_jets(const hmi_tape *tape, const hmi_tape_values *values, const double *numbers,
                size_t count)
{
    static double results[WAYS][MOST_RESULTS];
    if (tape->body.count > MOST_INSTRUCTIONS)
        return;
    double *work = calloc(tape->work_size + 1, sizeof *work);
    require(work, "memory");
    hmi_tape_prepare(tape, values, work);
    size_t found = expand(tape, work, PLAIN, numbers, count, results[PLAIN]);
    for (way how = VECTORS; how < WAYS; how++) {
        (void)expand(tape, work, how, numbers, count, results[how]);
        compare(how, results[how], results[PLAIN], found);
    }
    free(work);
}
