/* hm_system_explain: one stage of what became of a model, as text. */
#include "base/argument.h"
#include "output/explain/explain.h"

#include <hamel/report.h>

#include <string.h>

static const char *const names[] = {
    [HM_STAGE_GRAPH] = "graph",
    [HM_STAGE_TAPE] = "tape",
    [HM_STAGE_JET] = "jet",
    [HM_STAGE_SOLVE] = "solve",
};

const char *hm_stage_name(hm_stage stage)
{
    return (size_t)stage < sizeof names / sizeof *names ? names[stage] : "unknown";
}

bool hm_stage_find(const char *name, hm_stage *stage)
{
    if (!name || !stage)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) {
            *stage = (hm_stage)i;
            return true;
        }
    return false;
}

static hm_status explain_graph(const hm_system *system, hmi_text *text)
{
    const hmi_graph *graph = &system->derived.graph;
    const hmi_namer namer = hmi_model_namer(system->model);
    hmi_text_addf(text, "%zu nodes, %zu constants\n", graph->nodes.count, graph->constants.count);
    return hmi_graph_dump(graph, &namer, text);
}

static hm_status explain_tapes(const hm_system *system, hmi_text *text)
{
    const hmi_namer symbols = hmi_model_namer(system->model);
    const struct {
        const hmi_tape *tape;
        const char *title;
        void (*output)(const void *system, size_t k, hmi_text *text);
    } tapes[] = {{&system->dynamics, "dynamics", hmi_name_dynamics_output},
                 {&system->law, "reaction laws", hmi_name_law_output},
                 {&system->report, "report", hmi_name_report_output},
                 {&system->inputs, "inputs", hmi_name_input_output}};
    hm_status status = hmi_system_assemble(system);
    for (size_t i = 0; i < sizeof tapes / sizeof *tapes && status == HM_OK; i++)
        if (tapes[i].tape->output_count)
            hmi_tape_dump(tapes[i].tape, tapes[i].title,
                          &(hmi_dump_names){symbols, tapes[i].output, system}, text);
    return status;
}

static hm_status with_sim(const hm_system *system, hm_status (*explain_sim)(hm_sim *, hmi_text *),
                          hmi_text *text)
{
    hm_sim *sim;
    hm_status status = hm_sim_create(system, &sim);
    if (status != HM_OK)
        return status;
    status = explain_sim(sim, text);
    hm_sim_destroy(sim);
    return status;
}

static hm_status explain(const hm_system *system, hm_stage stage, hmi_text *text)
{
    switch (stage) {
    case HM_STAGE_GRAPH:
        return explain_graph(system, text);
    case HM_STAGE_TAPE:
        return explain_tapes(system, text);
    case HM_STAGE_JET:
        return with_sim(system, hmi_explain_jets, text);
    case HM_STAGE_SOLVE:
        return with_sim(system, hmi_explain_solve, text);
    }
    return HM_ERR_USAGE;
}

hm_status hm_system_explain(const hm_system *system, hm_stage stage, hm_writer writer, void *user)
{
    HMI_ARGUMENT(system ? system->model->context : NULL,
                 system && writer && (unsigned)stage <= HM_STAGE_SOLVE,
                 "a writer and a stage that exists are needed");
    hmi_text text;
    hmi_text_init(&text, system->allocator);
    hm_status status = explain(system, stage, &text);
    if (status == HM_OK && text.failed)
        status = HM_ERR_NOMEM;
    if (status == HM_OK && text.length && !writer(user, text.data, text.length))
        status = HM_ERR_IO;
    hmi_text_release(&text);
    return status;
}
