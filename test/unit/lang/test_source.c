/* Where models come from: files, pipes, devices; includes of texts that are in memory. */
#include "support/check.h"
#include "support/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/hamel-source-XXXXXX";
static char before[4096];

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int enter_folder(void **state)
{
    (void)state;
    if (!getcwd(before, sizeof before) || !mkdtemp(folder) || chdir(folder) != 0)
        return -1;
    write_file("part.hamel", "param m = 3\n");
    return 0;
}

static int leave_folder(void **state)
{
    (void)state;
    if (chdir(folder) == 0)
        remove("part.hamel");
    return chdir(before) == 0 ? rmdir(folder) : -1;
}

/* Reads a file; its first message, or NULL where there is none, must begin so. */
static void check_load(const char *path, hm_status status, const char *message)
{
    hm_context *context = hm_context_create(NULL);
    hm_model *model = NULL;
    assert_int_equal(hm_model_load(context, path, NULL, &model), status);
    if (message) {
        const char *first = hm_context_diagnostic(context, 0)->message;
        if (strncmp(first, message, strlen(message)) != 0)
            fail_msg("'%s' instead of '%s'", first, message);
    }
    hm_model_destroy(model);
    hm_context_destroy(context);
}

static void files_that_are_none(void **state)
{
    (void)state;
    check_load("/nowhere/model.hamel", HM_ERR_IO, "cannot read '/nowhere/model.hamel'");
    check_load("/tmp", HM_ERR_IO, "'/tmp' is a folder, not a model");
    check_load("/dev/zero", HM_ERR_LIMIT, "'/dev/zero' is larger than");
    check_load("/proc/self/mem", HM_ERR_IO, "cannot read '/proc/self/mem'");
    check_load("/dev/null", HM_ERR_INPUT, "the model has no coordinates");
}

/* A model through a pipe, as from `hamel run <(...)`. */
static void a_pipe(void **state)
{
    (void)state;
    static const char text[] = "coord x\nkinetic x'^2/2\n";
    int ends[2];
    char path[64];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, sizeof text - 1), (int)sizeof text - 1);
    close(ends[1]);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    check_load(path, HM_OK, NULL);
    close(ends[0]);
}

/* ---- includes of a text in memory: from the current folder ---- */

static hm_status parse(hm_context *context, const char *text, hm_model **model)
{
    hm_status status = hm_model_parse(context, text, strlen(text), NULL, model);
    if (status == HM_OK)
        hm_model_destroy(*model);
    return status;
}

static void check_include(const char *path, hm_status status, const char *message)
{
    char text[300];
    hm_context *context = hm_context_create(NULL);
    hm_model *model = NULL;
    snprintf(text, sizeof text, "include \"%s\"\ncoord x\nkinetic m*x'^2/2\n", path);
    assert_int_equal(parse(context, text, &model), status);
    if (message && !strstr(hm_context_diagnostic(context, 0)->message, message))
        fail_msg("'%s'", hm_context_diagnostic(context, 0)->message);
    hm_context_destroy(context);
}

static void includes_from_memory(void **state)
{
    (void)state;
    char absolute[64];
    assert_int_equal(chdir(folder), 0);
    check_include("part.hamel", HM_OK, NULL);
    check_include("./part.hamel", HM_OK, NULL);
    check_include("other.hamel", HM_ERR_INPUT, "cannot read 'other.hamel'");
    check_include("a/../../part.hamel", HM_ERR_INPUT, "leaves the model's folder");
    check_include("..part.hamel", HM_ERR_INPUT, "cannot read '..part.hamel'");
    assert_int_equal(chdir("/"), 0); /* everything is inside the root */
    snprintf(absolute, sizeof absolute, "%s/part.hamel", folder + 1);
    check_include(absolute, HM_OK, NULL);
}

static void no_current_folder(void **state)
{
    (void)state;
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(mkdir("gone", 0700), 0);
    assert_int_equal(chdir("gone"), 0);
    assert_int_equal(rmdir("../gone"), 0);
    check_include("part.hamel", HM_ERR_INPUT, "the current folder does not exist any more");
    assert_int_equal(chdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_that_are_none),
        cmocka_unit_test(a_pipe),
        cmocka_unit_test(includes_from_memory),
        cmocka_unit_test(no_current_folder),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
