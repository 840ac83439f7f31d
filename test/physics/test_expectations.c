/* Every example and every benchmark problem runs, and does what its `# expect` lines say
 * (test/support/expect.h). Benchmarks are those of test/data/benchmarks, numbers as the sheets give
 * them: the RECOMPUTED column where there is one, PUBLISHED ones with the digits they are good for.
 * One test a file. */
#include "support/check.h"
#include "support/expect.h"
#include "support/motion.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_example(void **state)
{
    const char *path = *state;
    motion *m = motion_file(path, NULL, 0);
    motion_must(m); /* as a user runs it */
    motion_close(m);
    expect_file(path);
}

static void check_benchmark(void **state)
{
    assert_true(expect_file(*state) > 0);
}

/* Appends one test a file. */
static struct CMUnitTest *add(struct CMUnitTest *tests, size_t *count, const char *pattern,
                              CMUnitTestFunction test)
{
    glob_t found;
    char full[1024];
    snprintf(full, sizeof full, "%s/%s", HAMEL_SOURCE_DIR, pattern);
    if (glob(full, 0, NULL, &found) != 0)
        return tests;
    tests = realloc(tests, (*count + found.gl_pathc) * sizeof *tests);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char *path = strdup(found.gl_pathv[i] + strlen(HAMEL_SOURCE_DIR) + 1);
        tests[(*count)++] = (struct CMUnitTest){
            .name = path, .test_func = test, .initial_state = path};
    }
    globfree(&found);
    return tests;
}

int main(void)
{
    size_t count = 0;
    struct CMUnitTest *tests = add(NULL, &count, "examples/*.hamel", check_example);
    tests = add(tests, &count, "test/physics/benchmarks/*.hamel", check_benchmark);
    int failed = _cmocka_run_group_tests("expectations", tests, count, NULL, NULL);
    for (size_t i = 0; i < count; i++)
        free(tests[i].initial_state);
    free(tests);
    return failed;
}
