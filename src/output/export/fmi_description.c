/* modelDescription.xml of FMI 2.0 and 3.0. */
#include "output/export/fmi.h"

static void number(hmi_export *x, const char *attribute, double value)
{
    char buffer[HMI_NUMBER_TEXT];
    hmi_text_addf(&x->text, " %s=\"%s\"", attribute, hmi_number_text(value, buffer));
}

/* Version 2 has <ScalarVariable ...><Real .../></ScalarVariable>, version 3 <Float64 .../>. */
static void open_variable(hmi_export *x, int version, size_t reference, const char *attributes)
{
    hmi_text_add(&x->text, version == 2 ? "    <ScalarVariable " : "    <Float64 ");
    hmi_fmi_name(x, reference);
    hmi_text_addf(&x->text, " valueReference=\"%zu\"", reference);
    hmi_fmi_description(x, reference);
    hmi_text_addf(&x->text, " %s%s", attributes, version == 2 ? "><Real" : "");
}

static void close_variable(hmi_export *x, int version)
{
    hmi_text_add(&x->text, version == 2 ? "/></ScalarVariable>\n" : "/>\n");
}

static void write_param(hmi_export *x, int version, size_t reference)
{
    bool calculated = hmi_fmi_is_calculated(x, reference);
    open_variable(
        x, version, reference,
        hmi_fmi_is_constant(x, reference)
            ? "causality=\"local\" variability=\"constant\" initial=\"exact\""
        : calculated
            ? "causality=\"calculatedParameter\" variability=\"tunable\" initial=\"calculated\""
            : "causality=\"parameter\" variability=\"tunable\" initial=\"exact\"");
    if (!calculated)
        number(x, "start", hmi_fmi_start(x, reference));
    close_variable(x, version);
}

static void write_variables(hmi_export *x, int version)
{
    hmi_fmi_layout at = hmi_fmi_layout_of(x);
    hmi_text_add(&x->text, "  <ModelVariables>\n");
    open_variable(x, version, 0, "causality=\"independent\" variability=\"continuous\"");
    close_variable(x, version);
    for (size_t r = at.states; r < at.rates; r++) {
        open_variable(x, version, r,
                      "causality=\"output\" variability=\"continuous\" initial=\"exact\"");
        number(x, "start", hmi_fmi_start(x, r));
        close_variable(x, version);
    }
    for (size_t r = at.rates; r < at.params; r++) {
        open_variable(x, version, r,
                      "causality=\"local\" variability=\"continuous\" initial=\"calculated\"");
        hmi_text_addf(&x->text, " derivative=\"%zu\"",
                      at.states + (r - at.rates) +
                          (version == 2)); /* position, or value reference */
        close_variable(x, version);
    }
    for (size_t r = at.params; r < at.inputs; r++)
        write_param(x, version, r);
    for (size_t r = at.inputs; r < at.outputs; r++) {
        open_variable(x, version, r, "causality=\"input\" variability=\"continuous\"");
        number(x, "start", hmi_fmi_start(x, r));
        close_variable(x, version);
    }
    for (size_t r = at.outputs; r < at.events; r++) {
        open_variable(x, version, r,
                      "causality=\"output\" variability=\"continuous\" initial=\"calculated\"");
        close_variable(x, version);
    }
    for (size_t r = at.events; r < at.end; r++) {
        open_variable(x, version, r,
                      "causality=\"local\" variability=\"continuous\" initial=\"calculated\"");
        close_variable(x, version);
    }
    hmi_text_add(&x->text, "  </ModelVariables>\n");
}

/* <Unknown index="..." dependencies="..."/>: indices count variables from 1. */
static void write_unknown2(hmi_export *x, size_t reference, hmi_expr value, bool *depends)
{
    hmi_fmi_layout at = hmi_fmi_layout_of(x);
    size_t states = at.rates - at.states;
    bool first = true;
    if (!hmi_fmi_dependencies(x, value, depends))
        x->status = HM_ERR_NOMEM;
    hmi_text_addf(&x->text, "      <Unknown index=\"%zu\" dependencies=\"", reference + 1);
    for (size_t i = 0; i < states + x->inputs; i++)
        if (depends[i]) {
            hmi_text_addf(&x->text, "%s%zu", first ? "" : " ",
                          (i < states ? at.states + i : at.inputs + i - states) + 1);
            first = false;
        }
    hmi_text_add(&x->text, "\"/>\n");
}

static void write_initial_unknowns2(hmi_export *x)
{
    hmi_fmi_layout at = hmi_fmi_layout_of(x);
    hmi_text_add(&x->text, "    <InitialUnknowns>\n");
    for (size_t r = at.rates; r < at.events; r++)
        if (r < at.params || r >= at.outputs || (r < at.inputs && hmi_fmi_is_calculated(x, r)))
            hmi_text_addf(&x->text, "      <Unknown index=\"%zu\"/>\n", r + 1);
    hmi_text_add(&x->text, "    </InitialUnknowns>\n");
}

static void write_structure2(hmi_export *x)
{
    hmi_fmi_layout at = hmi_fmi_layout_of(x);
    bool *depends = hmi_arena_alloc(&x->arena,
                                    (at.rates - at.states + x->inputs + 1) * sizeof *depends);
    if (!depends) {
        x->status = HM_ERR_NOMEM;
        return;
    }
    hmi_text_add(&x->text, "  <ModelStructure>\n    <Outputs>\n");
    for (size_t r = at.states; r < at.rates; r++)
        write_unknown2(x, r, hmi_fmi_state(x, r - at.states), depends);
    for (size_t r = at.outputs; r < at.events; r++)
        write_unknown2(x, r, hmi_fmi_output(x, r - at.outputs), depends);
    hmi_text_add(&x->text, "    </Outputs>\n    <Derivatives>\n");
    for (size_t r = at.rates; r < at.params; r++)
        write_unknown2(x, r, hmi_fmi_rate(x, r - at.rates), depends);
    hmi_text_add(&x->text, "    </Derivatives>\n");
    write_initial_unknowns2(x);
    hmi_text_add(&x->text, "  </ModelStructure>\n");
}

static void write_kinds2(hmi_export *x)
{
    hmi_text_addf(&x->text,
                  "  <ModelExchange modelIdentifier=\"%s\" canGetAndSetFMUstate=\"true\" "
                  "canSerializeFMUstate=\"true\""
                  " providesDirectionalDerivative=\"true\">\n    <SourceFiles><File "
                  "name=\"%s.c\"/></SourceFiles>\n"
                  "  </ModelExchange>\n",
                  x->name, x->name);
    hmi_text_addf(
        &x->text,
        "  <CoSimulation modelIdentifier=\"%s\" canHandleVariableCommunicationStepSize=\"true\""
        " canGetAndSetFMUstate=\"true\" canSerializeFMUstate=\"true\""
        " providesDirectionalDerivative=\"true\">\n    <SourceFiles><File "
        "name=\"%s.c\"/></SourceFiles>\n"
        "  </CoSimulation>\n",
        x->name, x->name);
    hmi_text_add(&x->text, "  <LogCategories>\n    <Category name=\"logStatusWarning\"/>\n"
                           "    <Category name=\"logStatusError\"/>\n  </LogCategories>\n");
}

/* <KIND valueReference="..." dependencies="..."/> */
static void write_unknown3(hmi_export *x, const char *kind, size_t reference, hmi_expr value,
                           bool *depends)
{
    hmi_fmi_layout at = hmi_fmi_layout_of(x);
    size_t states = at.rates - at.states;
    bool first = true;
    if (!hmi_fmi_dependencies(x, value, depends))
        x->status = HM_ERR_NOMEM;
    hmi_text_addf(&x->text, "    <%s valueReference=\"%zu\" dependencies=\"", kind, reference);
    for (size_t i = 0; i < states + x->inputs; i++)
        if (depends[i]) {
            hmi_text_addf(&x->text, "%s%zu", first ? "" : " ",
                          i < states ? at.states + i : at.inputs + i - states);
            first = false;
        }
    hmi_text_add(&x->text, "\"/>\n");
}

static void write_structure3(hmi_export *x)
{
    hmi_fmi_layout at = hmi_fmi_layout_of(x);
    bool *depends = hmi_arena_alloc(&x->arena,
                                    (at.rates - at.states + x->inputs + 1) * sizeof *depends);
    if (!depends) {
        x->status = HM_ERR_NOMEM;
        return;
    }
    hmi_text_add(&x->text, "  <ModelStructure>\n");
    for (size_t r = at.states; r < at.rates; r++)
        write_unknown3(x, "Output", r, hmi_fmi_state(x, r - at.states), depends);
    for (size_t r = at.outputs; r < at.events; r++)
        write_unknown3(x, "Output", r, hmi_fmi_output(x, r - at.outputs), depends);
    for (size_t r = at.rates; r < at.params; r++)
        write_unknown3(x, "ContinuousStateDerivative", r, hmi_fmi_rate(x, r - at.rates), depends);
    for (size_t r = at.rates; r < at.events; r++)
        if (r < at.params || r >= at.outputs || (r < at.inputs && hmi_fmi_is_calculated(x, r)))
            hmi_text_addf(&x->text, "    <InitialUnknown valueReference=\"%zu\"/>\n", r);
    for (size_t r = at.events; r < at.end; r++)
        write_unknown3(x, "EventIndicator", r, hmi_fmi_event(x, r - at.events), depends);
    hmi_text_add(&x->text, "  </ModelStructure>\n");
}

static void write_kinds3(hmi_export *x)
{
    hmi_text_addf(
        &x->text,
        "  <ModelExchange modelIdentifier=\"%s\" canGetAndSetFMUState=\"true\" "
        "canSerializeFMUState=\"true\""
        " providesDirectionalDerivatives=\"true\" providesAdjointDerivatives=\"true\"/>\n",
        x->name);
    hmi_text_addf(&x->text,
                  "  <CoSimulation modelIdentifier=\"%s\" canGetAndSetFMUState=\"true\" "
                  "canSerializeFMUState=\"true\""
                  " providesDirectionalDerivatives=\"true\" providesAdjointDerivatives=\"true\""
                  " canHandleVariableCommunicationStepSize=\"true\"/>\n",
                  x->name);
    hmi_text_add(&x->text, "  <LogCategories>\n    <Category name=\"logStatusWarning\"/>\n"
                           "    <Category name=\"logStatusError\"/>\n  </LogCategories>\n");
}

void hmi_export_fmi_description(hmi_export *x, int version)
{
    char token[40];
    hmi_fmi_token(x, token);
    hmi_text_addf(&x->text,
                  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription "
                  "fmiVersion=\"%d.0\" modelName=\"",
                  version);
    hmi_fmi_escaped(&x->text, hm_model_name(x->model));
    hmi_text_addf(&x->text, "\" %s=\"%s\" description=\"",
                  version == 2 ? "guid" : "instantiationToken", token);
    hmi_fmi_escaped(&x->text, x->model->title ? x->model->title : "");
    hmi_text_addf(&x->text, "\" generationTool=\"hamel %s\" variableNamingConvention=\"flat\"",
                  hm_version());
    if (version == 2)
        hmi_text_addf(&x->text, " numberOfEventIndicators=\"%zu\"", x->events);
    hmi_text_add(&x->text, ">\n");
    (version == 2 ? write_kinds2 : write_kinds3)(x);
    hmi_text_add(&x->text, "  <DefaultExperiment");
    number(x, "startTime", x->t);
    if (x->model->simulate.given)
        number(x, "stopTime", x->model->simulate.end);
    hmi_text_add(&x->text, " tolerance=\"1e-9\"/>\n");
    write_variables(x, version);
    (version == 2 ? write_structure2 : write_structure3)(x);
    hmi_text_add(&x->text, "</fmiModelDescription>\n");
}
