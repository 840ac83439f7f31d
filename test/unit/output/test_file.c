/* hm_file: whole or not at all, and only where something may be written. */
#include "helpers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct place {
    char folder[400], path[420], partial[440];
} place;

static int make_place(void **state)
{
    static place p;
    const char *folder = getenv("TMPDIR");
    snprintf(p.folder, sizeof p.folder, "%s/hamel-file-XXXXXX", folder ? folder : "/tmp");
    *state = &p;
    if (!mkdtemp(p.folder))
        return -1;
    snprintf(p.path, sizeof p.path, "%s/out", p.folder);
    snprintf(p.partial, sizeof p.partial, "%s.partial", p.path);
    return 0;
}

static int remove_place(void **state)
{
    place *p = *state;
    unlink(p->path);
    unlink(p->partial);
    return rmdir(p->folder);
}

static void assert_content(const char *path, const char *expected)
{
    char text[64] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    assert_int_equal(length, strlen(expected));
    assert_string_equal(text, expected);
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    fclose(file);
}

static hm_file *start(const place *p, const char *text)
{
    hm_file *file = NULL;
    assert_int_equal(hm_file_create(NULL, p->path, &file), HM_OK);
    assert_int_equal(hm_file_write(file, text, strlen(text)), HM_OK);
    assert_string_equal(hm_file_path(file), p->partial);
    assert_true(hm_file_descriptor(file) >= 0);
    return file;
}

static void ends_in_three_ways(void **state)
{
    const place *p = *state;
    put(p->path, "old");
    hm_file *file = start(p, "new");
    assert_int_equal(hm_file_finish(file, HM_FILE_END_DISCARD), HM_OK);
    assert_int_equal(hm_file_finish(file, HM_FILE_END_DISCARD), HM_ERR_USAGE);
    assert_int_equal(hm_file_write(file, "x", 1), HM_ERR_IO);
    assert_int_equal(hm_file_descriptor(file), -1);
    hm_file_destroy(file);
    assert_content(p->path, "old");
    assert_int_equal(access(p->partial, F_OK), -1);
    file = start(p, "kept");
    hm_file_destroy(file); /* never finished */
    assert_content(p->path, "old");
    assert_content(p->partial, "kept");
    file = start(p, "new");
    assert_int_equal(hm_file_finish(file, HM_FILE_END_COMPLETE), HM_OK);
    assert_string_equal(hm_file_path(file), p->path);
    assert_string_equal(hm_file_error(file), "");
    hm_file_destroy(file);
    assert_content(p->path, "new");
    assert_int_equal(access(p->partial, F_OK), -1);
}

/* More than the buffer holds, in one piece and in many. */
static void writes_large_pieces(void **state)
{
    const place *p = *state;
    enum { LENGTH = 200001 };
    char *bytes = malloc(LENGTH), *read = malloc(2 * LENGTH + 1);
    for (size_t i = 0; i < LENGTH; i++)
        bytes[i] = (char)('a' + i % 23);
    hm_file *file = start(p, "");
    assert_int_equal(hm_file_write(file, bytes, LENGTH), HM_OK);
    for (size_t i = 0; i < LENGTH; i += 3)
        assert_int_equal(hm_file_write(file, bytes + i, 3), HM_OK);
    assert_int_equal(hm_file_finish(file, HM_FILE_END_COMPLETE), HM_OK);
    hm_file_destroy(file);
    FILE *result = fopen(p->path, "r");
    assert_int_equal(fread(read, 1, 2 * LENGTH + 1, result), 2 * LENGTH);
    fclose(result);
    assert_memory_equal(read, bytes, LENGTH);
    assert_memory_equal(read + LENGTH, bytes, LENGTH);
    free(bytes);
    free(read);
}

/* What lies at the path is looked at again at the end: a link that came in between is not replaced,
 * nor followed. */
static void looks_again_at_the_end(void **state)
{
    const place *p = *state;
    char precious[420], why[64];
    snprintf(precious, sizeof precious, "%s/precious", p->folder);
    put(precious, "mine");
    hm_file *file = start(p, "new");
    assert_int_equal(symlink(precious, p->path), 0);
    assert_false(hm_file_possible(p->path, why, sizeof why));
    assert_string_equal(why, "it is a symbolic link");
    assert_int_equal(hm_file_finish(file, HM_FILE_END_COMPLETE), HM_ERR_IO);
    assert_string_equal(hm_file_error(file), "it is a symbolic link");
    assert_string_equal(hm_file_path(file), p->partial);
    hm_file_destroy(file);
    assert_content(p->partial, "new");
    assert_content(precious, "mine");
    unlink(precious);
}

/* A library that writes by the descriptor says that it failed: the old file stays. */
static void keeps_the_old_file_after_a_failure(void **state)
{
    const place *p = *state;
    put(p->path, "old");
    hm_file *file = start(p, "");
    assert_int_equal(write(hm_file_descriptor(file), "half", 4), 4);
    hm_file_fail(file, ENOSPC);
    hm_file_fail(file, EIO); /* the first reason stays */
    assert_int_equal(hm_file_finish(file, HM_FILE_END_COMPLETE), HM_ERR_IO);
    assert_string_equal(hm_file_error(file), "No space left on device");
    hm_file_destroy(file);
    assert_content(p->path, "old");
    assert_content(p->partial, "half");
}

static void refuses_names(void **state)
{
    (void)state;
    static const char *const names[][2] = {{"", "the name is empty"},
                                           {"/tmp", "Is a directory"},
                                           {"/nowhere/", "Is a directory"},
                                           {"/nowhere/a", "No such file or directory"},
                                           {"/dev/fd/999", "Bad file descriptor"},
                                           {"/dev/null/a", "Not a directory"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char why[64];
        hm_file *file = NULL;
        assert_false(hm_file_possible(names[i][0], why, sizeof why));
        assert_string_equal(why, names[i][1]);
        assert_int_equal(hm_file_create(NULL, names[i][0], &file), HM_ERR_IO);
        assert_string_equal(hm_file_error(file), names[i][1]);
        assert_int_equal(hm_file_finish(file, HM_FILE_END_COMPLETE), HM_ERR_IO);
        hm_file_destroy(file);
    }
}

static void survives_failing_memory(void **state)
{
    const place *p = *state;
    for (long k = 0; k < 100; k++) {
        failing_heap heap = {.armed = true, .fail_at = k};
        hm_allocator allocator = heap_allocator(&heap);
        hm_file *file = NULL;
        hm_status status = hm_file_create(&allocator, p->path, &file);
        hm_file_destroy(file);
        assert_int_equal(heap.live_bytes, 0);
        if (status == HM_OK)
            return;
        assert_int_equal(status, HM_ERR_NOMEM);
    }
    fail();
}

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(ends_in_three_ways),     IN_PLACE(writes_large_pieces),
        IN_PLACE(looks_again_at_the_end), IN_PLACE(keeps_the_old_file_after_a_failure),
        cmocka_unit_test(refuses_names),  IN_PLACE(survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
