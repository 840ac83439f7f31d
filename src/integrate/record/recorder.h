/* The recorder: what is known of a run, and what is told of it.
 *
 * It owns what the result and the frames of a run are made of: the ledger of works with the audit of
 * the energy, the largest violations of the constraints, the drift of acceleration-level rows, the
 * list of events, and the messages. It changes nothing in the motion. (Two things go back: the works
 * are integrated as components of the state, and energies give the scale of their errors.)
 *
 * Who calls it. The run, at its start (hmi_recorder_start), at every accepted step
 * (hmi_recorder_observe), and for every frame: the run knows how to solve for the forces at a
 * state, the recorder fills in the frame and gives it to the user. Events and guard use the messages
 * alone.
 *
 * Invariants
 *   1. Nothing is allocated at a step; the lists of events and warnings grow between steps.
 *   2. energy.now - energy.start = energy.by_resets + the sum of the works, but for energy.error.
 *   3. Arrays that frames and results point to belong to the recorder, or to the sim.
 */
#ifndef HMI_INTEGRATE_RECORD_RECORDER_H
#define HMI_INTEGRATE_RECORD_RECORDER_H

#include "integrate/drift/acceleration_drift.h"
#include "integrate/ode/ledger.h"
#include "integrate/ode/residuals.h"
#include "integrate/record/messages.h"

enum { HMI_MOST_EVENTS = 10000 };

/* Where the total energy is, and where it should be. */
typedef struct hmi_energy_audit {
    bool known;        /* there is a total energy */
    double start, now; /* at the start, and at the last accepted step */
    double by_resets;  /* what resets brought */
    double by_impacts; /* what impacts brought: negative where they lost energy */
    double left;       /* the difference from the ledger at the last accepted step, */
    double error;      /* and the largest so far */
} hmi_energy_audit;

typedef struct hmi_violations {
    double *position, *velocity; /* by row: the largest so far */
    double *largest;             /* of both */
    double *shown;               /* 2 rows: as a frame shows them */
} hmi_violations;

typedef struct hmi_recorder {
    const hm_model *model;
    const hm_run_options *options; /* of the run */
    hmi_arena *arena;              /* of the run */
    hmi_ode *ode;
    hmi_residuals *residuals;
    hmi_stepper *stepper;
    hmi_ledger ledger;
    hmi_acceleration_drift acceleration_drift;
    hmi_messages messages;

    hmi_energy_audit energy;
    hmi_violations violations;
    bool *valueless; /* outputs: that one had no value was said */
    HMI_ARRAY(hm_run_event) events;
    size_t events_dropped;

    hmi_solution solution;   /* of the last frame */
    const char *formulation; /* at the start; NULL: not known yet */
    long outputs;            /* frames at output times given so far */
} hmi_recorder;

/* The tapes of an earlier run, in ledger, serve again. Release also after a failure. */
hm_status hmi_recorder_init(hmi_recorder *recorder, hmi_ode *ode, hmi_residuals *residuals,
                            hmi_stepper *stepper, const hm_run_options *options, hmi_arena *arena);
void hmi_recorder_release(hmi_recorder *recorder);
/* Parameters changed. */
void hmi_recorder_prepare(hmi_recorder *recorder);
/* The run begins at the state of the stepper. */
void hmi_recorder_start(hmi_recorder *recorder);
/* Violations and energy at an accepted step. */
void hmi_recorder_observe(hmi_recorder *recorder);
/* Another run begins: nothing has been seen of it. */
void hmi_recorder_forget(hmi_recorder *recorder);
hm_status hmi_recorder_note_event(hmi_recorder *recorder, const char *name, double t);

/* frame.c. A frame at a point, with what is always there; */
void hmi_recorder_begin_frame(const hmi_recorder *recorder, const hmi_point *at, hm_frame *frame);
/* with q'' and forces of recorder->solution; checks: how ideal are the ideal ones? */
void hmi_recorder_show_forces(const hmi_recorder *recorder, bool checks, hm_frame *frame);
/* with outputs; */
void hmi_recorder_show_outputs(const hmi_recorder *recorder, const double *report, hm_frame *frame);
/* with energies and works; */
void hmi_recorder_show_energy(const hmi_recorder *recorder, const double *report,
                              const double *work, hm_frame *frame);
/* with violations. */
void hmi_recorder_show_violations(hmi_recorder *recorder, const hmi_point *at, hm_frame *frame);
/* Gives it to the user, who must be there; false: the user wants to stop. */
bool hmi_recorder_give(hmi_recorder *recorder, hm_frame *frame, hm_frame_reason reason);

#endif
