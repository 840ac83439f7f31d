#include "support/cases.h"

#include "support/check.h"

#include <string.h>

json_t *cases_load(void)
{
    json_error_t error;
    json_t *file = json_load_file(HAMEL_SOURCE_DIR "/test/data/cases.json", 0, &error);
    if (!file)
        fail_msg("test/data/cases.json:%d: %s", error.line, error.text);
    return file;
}

const json_t *cases_list(const json_t *file)
{
    return json_object_get(file, "cases");
}

const json_t *cases_find(const json_t *file, const char *id)
{
    const json_t *list = cases_list(file);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        if (strcmp(json_string_value(json_object_get(one, "id")), id) == 0)
            return one;
    }
    return NULL;
}

static void append(const json_t *json, case_numbers *to)
{
    if (json_is_number(json)) {
        if (to->count >= CASE_MOST_NUMBERS)
            fail_msg("more than %d numbers", CASE_MOST_NUMBERS);
        to->x[to->count++] = json_number_value(json);
    }
    for (size_t i = 0; i < json_array_size(json); i++)
        append(json_array_get(json, i), to);
}

bool case_read(const json_t *object, const char *key, case_numbers *to)
{
    const json_t *json = json_object_get(object, key);
    to->count = 0;
    append(json, to);
    return json && !json_is_null(json);
}
