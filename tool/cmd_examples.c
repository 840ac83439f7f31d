/* hamel examples: what is built in, as a list or as text to start from. */
#include "command.h"
#include "examples.h"
#include "values.h"

#include <jansson.h>
#include <string.h>

const struct hamel_example *find_example(const char *name)
{
    for (size_t i = 0; i < hamel_example_count; i++)
        if (strcmp(hamel_examples[i].name, name) == 0)
            return &hamel_examples[i];
    return NULL;
}

/* The title in `model NAME "title"`, or the name. */
static void title_of(const struct hamel_example *example, char *title, size_t size)
{
    title[0] = '\0';
    hm_context *context = hm_context_create(memory_allocator());
    hm_model *model = NULL;
    if (context && hm_model_parse(context, example->text, example->length, NULL, &model) == HM_OK &&
        hm_model_title(model))
        snprintf(title, size, "%s", hm_model_title(model));
    hm_model_destroy(model);
    hm_context_destroy(context);
}

static int print_json(void)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < hamel_example_count; i++) {
        char title[256];
        title_of(&hamel_examples[i], title, sizeof title);
        json_array_append_new(
            list, json_pack("{s:s, s:s}", "name", hamel_examples[i].name, "title", title));
    }
    bool written = json_print(list);
    json_decref(list);
    return written ? EXIT_DONE : EXIT_FAILED;
}

/* The text of one: something to start a model of one's own from. */
static int print_text(const invocation *call)
{
    const char *name = call->arguments[0];
    const struct hamel_example *example = find_example(name);
    if (call->json || call->argument_count > 1)
        return usage_error(call->json ? "--json applies to the list, not to a single example"
                                      : "one name at a time: hamel examples NAME");
    if (!example) {
        usage_error("there is no example '%s'", name);
        hint_at_examples(name);
        return EXIT_BAD_INPUT;
    }
    fwrite(example->text, 1, example->length, stdout);
    return EXIT_DONE;
}

static int run(const invocation *call)
{
    if (call->argument_count > 0)
        return print_text(call);
    if (call->json)
        return print_json();
    for (size_t i = 0; i < hamel_example_count; i++) {
        char title[256];
        title_of(&hamel_examples[i], title, sizeof title);
        printf("%-24s %s\n", hamel_examples[i].name, title);
    }
    return EXIT_DONE;
}

static const option_spec options[] = {{0}};

const command command_examples = {
    .name = "examples",
    .summary = "list the built-in examples, or print the text of one",
    .usage = "[NAME]",
    .example = "hamel examples skate > my-skate.hamel",
    .options = options,
    .many_arguments = true,
    .run = run,
};
