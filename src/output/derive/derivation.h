/* The derivation as expressions ready to print, and the report that prints them.
 *
 * hmi_derivation_prepare copies the system's graph and brings everything that `derive` shows to
 * normal form: energies, M, Q, A, b, C, residuals. Up to HMI_CLOSED_FORM_MOST coordinates and
 * constraints it solves  [M -A^T; A 0] [q''; lambda] = [Q; b]  symbolically, which works for
 * singular M, too. Where A has dependent rows, or the result is too long to read, there are no
 * closed forms, and the writers give formulas in the matrices instead.
 *
 * An hmi_report then writes one format. Long or recurring parts of expressions get names, chosen
 * once over everything that is printed (hmi_report_name_parts); energies and constraints of small
 * systems are written out (`plain`). Output goes to the caller's writer in pieces; the first
 * failure is kept and ends it. Text and LaTeX share their lines (equations.h); JSON and C have
 * writers of their own.
 */
#ifndef HMI_OUTPUT_DERIVE_DERIVATION_H
#define HMI_OUTPUT_DERIVE_DERIVATION_H

#include "compile/system/system.h"
#include "expr/normal/normal.h"
#include "expr/print/print.h"

#include <hamel/report.h>

enum {
    HMI_CLOSED_FORM_MOST = 4,
    HMI_NORMAL_MOST_COORDS = 40,
    HMI_PLAIN_MOST_COORDS = 12, /* beyond, energies and constraints have named parts, too */
    HMI_MOST_WRITTEN_OUT =
        3000, /* columns of an energy or constraint; wider ones get named parts */
};

typedef struct hmi_derivation_view {
    const hm_system *system;
    const hm_model *model;
    const hm_allocator *allocator;
    hmi_graph graph; /* a copy of the system's, extended */
    hmi_normal *normal;
    hmi_arena arena;
    bool failed; /* no memory for a list */
    size_t n, m;
    hmi_expr kinetic, potential, lagrangian, dissipation;
    hmi_expr *M; /* stored entries, in the order of derived.M */
    hmi_expr *Q, *A, *b, *C, *servo_A, *servo_b;
    hmi_expr *residual; /* of constraints, then of servos */
    bool split; /* L has terms linear in the velocities or T has terms without: N and P shown */
    hmi_expr *N, P;
    bool closed; /* the following are there */
    hmi_expr *lambda, *Qi, *Qni, *qdd;
    struct hmi_on_constraints *on; /* NULL: not asked for */
} hmi_derivation_view;

/* The same quantities where the constraints hold (analyse/surface): shorter, or the same expressions. */
typedef struct hmi_on_constraints {
    const char *refusal; /* why they are all the same; NULL: they were tried */
    size_t shorter;      /* how many differ */
    size_t states, unproved;
    long bits;
    hmi_expr *M, *Q, *A, *b, *C, *lambda, *Qi, *Qni, *qdd;
    bool *row_used;                /* m: constraints that the shorter forms hold on */
    hmi_expr *position, *velocity; /* m: phi, and phi' or psi, in normal form; HMI_NONE: none */
    struct hmi_relation *relation; /* those used */
    size_t relations;
} hmi_on_constraints;

/* on_constraints.c */
hm_status hmi_derivation_on_constraints(hmi_derivation_view *view);

hm_status hmi_derivation_prepare(hmi_derivation_view *view, const hm_system *system);
void hmi_derivation_release(hmi_derivation_view *view);
/* Did memory run out while expressions were made? */
hm_status hmi_derivation_status(const hmi_derivation_view *view);
/* The normal form, where the system is small enough for it. */
hmi_expr hmi_derivation_normal(hmi_derivation_view *view, hmi_expr e);

/* Output in pieces, with one failure remembered. */
typedef struct hmi_report {
    hmi_derivation_view *view;
    hmi_text text;
    hm_writer writer;
    void *user;
    hm_status status;
    hmi_print_options print;
    const struct hmi_equation_style *style; /* text and LaTeX: equations.h */
    hmi_shared shared;
    bool plain;    /* energies and constraints are written out, without named parts */
    bool complete; /* parts are chosen over all that JSON prints, as the model has it */
} hmi_report;

/* Expressions that are printed, with one failure remembered. */
typedef struct hmi_roots {
    const hm_allocator *allocator;
    HMI_ARRAY(hmi_expr) list;
    bool failed;
} hmi_roots;

static inline void hmi_roots_add(hmi_roots *roots, hmi_expr e)
{
    roots->failed |= !hmi_array_push(roots->allocator, &roots->list, e);
}

/* The first failure stays. */
static inline void hmi_report_note(hmi_report *report, hm_status status)
{
    if (report->status == HM_OK)
        report->status = status;
}

void hmi_report_flush(hmi_report *report);
void hmi_report_flush_if_large(hmi_report *report);
/* Appends an expression. */
void hmi_report_expr(hmi_report *report, hmi_expr e);
/* An energy or a constraint: without named parts where report->plain. */
void hmi_report_plain(hmi_report *report, hmi_expr e);
/* The left-hand side of A q'' = b, row i. */
hmi_expr hmi_report_row(hmi_report *report, const hmi_expr_matrix *A, const hmi_expr *values,
                        size_t i);
/* Is an energy or a constraint wider than this, written out? */
bool hmi_report_wider(hmi_report *report, uint64_t width);
/* Chooses parts to name, over everything that is printed. */
void hmi_report_name_parts(hmi_report *report, const hmi_shared_options *options);

/* on_constraints.c: the lines of text and LaTeX that are shorter there; the value of the JSON key. */
void hmi_write_on_constraints(hmi_report *report);
void hmi_write_where_it_holds(hmi_report *report);
size_t hmi_on_constraints_roots(const hmi_derivation_view *view, const hmi_expr **lists,
                                size_t *counts);

void hmi_report_text(hmi_report *report);
void hmi_report_latex(hmi_report *report);
void hmi_report_json(hmi_report *report);
void hmi_report_c(hmi_report *report);

#endif
