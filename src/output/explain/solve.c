/* The stage `solve`: which way leads from M, Q, A, b to the accelerations, and why. */
#include "output/explain/explain.h"

#include "compile/solve/dump.h"
#include "dynamics/large/large.h"
#include "dynamics/sim/motion.h"

static void name_motion_output(const void *user, size_t k, hmi_text *text)
{
    const hmi_sim_motion *motion = user;
    const hmi_motion_tape *at = &motion->program;
    if (k < at->at.rates)
        hmi_text_addf(text, "q''[%zu]", k + 1);
    else if (k < at->at.powers)
        hmi_text_addf(text, "z'[%zu]", k - at->at.rates + 1);
    else if (k == at->at.margin)
        hmi_text_add(text, "margin");
    else
        hmi_text_addf(text, "lambda[%zu]", k - at->at.lambda + 1);
}

/* ---- why ---- */

static const char *why_no_motion(const hm_system *system)
{
    if (system->schur)
        return "array code serves this system better";
    if (system->model->servos.count)
        return "servos are solved for step by step";
    if (system->derived.force_symbols)
        return "forces depend on reactions, which are found by iteration";
    if (system->derived.n > HM_MOST_DENSE || system->derived.constraints.count > HM_MOST_DENSE)
        return "there are too many coordinates or constraints";
    return "M has no positive pivots at the initial state, or the solve takes too many operations";
}

static const char *generic_solve(const hm_system *system)
{
    if (system->derived.n <= HM_MOST_DENSE)
        return "dense factors with rank decisions (dynamics/formulations)";
    return hmi_large_refusal(system) ? "refused" : "sparse factors (dynamics/large)";
}

static void explain_choice(const hm_system *system, const hmi_sim_motion *motion, hmi_text *text)
{
    bool shifted = motion && motion->shifted;
    hm_system_statistics s = hm_system_get_statistics(system);
    hmi_text_addf(text, "coordinates %zu, constraints %zu, servo rows %zu, engine %s\n",
                  s.coordinates, s.constraints, s.servo_rows, hm_engine_name(s.engine));
    hmi_text_addf(text, "  M has %zu entries in its lower triangle, A has %zu\n", s.mass_entries,
                  s.constraint_entries);
    hmi_text_addf(text, "  array code with a sparse Gram matrix: %s%s\n",
                  system->schur ? "yes" : "no, ", system->schur ? "" : system->no_schur);
    hmi_text_addf(text, "  solve compiled with the equations: %s%s\n", motion ? "yes" : "no, ",
                  motion ? "" : why_no_motion(system));
    if (motion && motion->program.by_tree)
        hmi_text_add(text,
                     "  M is not formed: velocities are eliminated along the recursion that bodies "
                     "share (compile/solve/recursion.h)\n");
    if (shifted)
        hmi_text_add(text, "  M is not positive at the initial state: A^T V A is added to it\n");
    hmi_text_addf(text, "  %s: %s\n",
                  system->schur || motion ? "where pivots are small, or forces are wanted"
                                          : "generic solve",
                  generic_solve(system));
}

/* ---- how ---- */

/* Eliminates once more: what the motion tape was made of is gone. */
static hm_status explain_elimination(const hm_system *system, const hmi_sim_motion *motion,
                                     hmi_text *text)
{
    const hmi_derived *d = &system->derived;
    const hmi_namer symbols = hmi_model_namer(system->model);
    const hmi_schur_input input = {.n = d->n,
                                   .m = d->constraints.count,
                                   .M_pattern = &d->M,
                                   .A_pattern = &d->constraints.A,
                                   .M = system->dynamics_outputs + system->at.M,
                                   .A = system->dynamics_outputs + system->at.A};
    hmi_graph graph;
    hmi_arena arena;
    hmi_schur schur = {0};
    if (motion->shifted || motion->program.by_tree)
        return HM_OK;
    hmi_arena_init(&arena, system->allocator);
    hm_status status = hmi_graph_copy(&graph, &d->graph);
    if (status == HM_OK)
        status = hmi_schur_init(&schur, &graph, &arena, &input,
                                graph.nodes.count + HMI_MOST_MOTION);
    if (status == HM_OK)
        hmi_schur_dump(&schur, &input, &symbols, text);
    hmi_schur_release(&schur);
    hmi_graph_release(&graph);
    hmi_arena_release(&arena);
    return status;
}

hm_status hmi_explain_solve(hm_sim *sim, hmi_text *text)
{
    const hm_system *system = sim->system;
    const hmi_namer symbols = hmi_model_namer(system->model);
    hmi_sim_motion *motion = NULL;
    hm_status status = hmi_sim_motion_create(sim, hmi_sim_present(sim), NULL, &motion);
    if (status != HM_OK)
        return status;
    explain_choice(system, motion, text);
    if (system->schur)
        hmi_block_schur_dump(system->schur, &symbols, text);
    if (motion) {
        status = explain_elimination(system, motion, text);
        hmi_tape_dump(&motion->program.tape, "motion",
                      &(hmi_dump_names){symbols, name_motion_output, motion}, text);
    }
    hmi_sim_motion_destroy(motion);
    return status;
}
