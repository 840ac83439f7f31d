/* The results of a sweep as HDF5: a dataset per column, `status` as text, and attributes that say what was run.
 * Written in one go from the rows, without times of writing: the same rows give the same bytes. */
#include "hdf5_file.h"
#include "sweep.h"

#ifdef HAMEL_HAVE_HDF5

#include "hdf5_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>

enum { BLOCK = 4096, STATUS_LENGTH = 12 };

typedef struct writer {
    const rows_about *about;
    hid_t file, text_type;
    hid_t *sets; /* one a column */
    size_t columns;
    double *block; /* columns x BLOCK */
    char *status;  /* BLOCK texts */
    size_t filled;
    hsize_t written;
} writer;

static bool add_attribute(hid_t object, const char *name, const char *text)
{
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    bool good = H5Tset_size(type, strlen(text) + 1) >= 0 && H5Tset_cset(type, H5T_CSET_UTF8) >= 0;
    hid_t attribute = good ? H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT)
                           : H5I_INVALID_HID;
    good = attribute >= 0 && H5Awrite(attribute, type, text) >= 0 && H5Aclose(attribute) >= 0;
    return H5Sclose(space) >= 0 && H5Tclose(type) >= 0 && good;
}

/* A slash would make groups. */
static hid_t create_set(const writer *w, const char *name, hid_t type)
{
    hsize_t none = 0, unlimited = H5S_UNLIMITED, chunk = BLOCK;
    char *safe = memory_new(1, strlen(name) + 1);
    if (!safe)
        return -1;
    strcpy(safe, name);
    for (char *c = safe; *c; c++)
        if (*c == '/')
            *c = '|';
    hid_t space = H5Screate_simple(1, &none, &unlimited), how = H5Pcreate(H5P_DATASET_CREATE);
    bool good = H5Pset_chunk(how, 1, &chunk) >= 0 && H5Pset_shuffle(how) >= 0 &&
                H5Pset_deflate(how, 4) >= 0 && H5Pset_obj_track_times(how, false) >= 0;
    hid_t set = good ? H5Dcreate2(w->file, safe, type, space, H5P_DEFAULT, how, H5P_DEFAULT)
                     : H5I_INVALID_HID;
    good = H5Pclose(how) >= 0 && H5Sclose(space) >= 0;
    free(safe);
    return good ? set : H5I_INVALID_HID;
}

static bool append(hid_t set, hid_t type, hsize_t at, hsize_t count, const void *data)
{
    hsize_t size = at + count;
    if (H5Dset_extent(set, &size) < 0)
        return false;
    hid_t space = H5Dget_space(set), memory = H5Screate_simple(1, &count, NULL);
    bool good = H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, NULL, &count, NULL) >= 0 &&
                H5Dwrite(set, type, memory, space, H5P_DEFAULT, data) >= 0;
    return H5Sclose(memory) >= 0 && H5Sclose(space) >= 0 && good;
}

static bool flush_block(writer *w)
{
    bool good = true;
    for (size_t c = 0; good && c < w->columns && w->filled; c++)
        good = c + 1 == w->columns && w->about->status
                   ? append(w->sets[c], w->text_type, w->written, w->filled, w->status)
                   : append(w->sets[c], H5T_NATIVE_DOUBLE, w->written, w->filled,
                            w->block + c * BLOCK);
    w->written += w->filled;
    w->filled = 0;
    return good;
}

static bool take_line(writer *w, char *line, double *row)
{
    const char *status;
    line[strcspn(line, "\n")] = '\0';
    size_t count = rows_parse(line, row, w->columns, &status);
    for (size_t c = 0; c < count; c++)
        w->block[c * BLOCK + w->filled] = row[c];
    char *text = w->status + w->filled * STATUS_LENGTH;
    memset(text, 0, STATUS_LENGTH);
    snprintf(text, STATUS_LENGTH, "%s", status);
    return ++w->filled < BLOCK || flush_block(w);
}

static bool write_rows(writer *w, FILE *rows)
{
    char *line = NULL;
    size_t room = 0;
    double *row = memory_new(w->columns + 1, sizeof *row);
    bool good = row && rows_rewind(rows);
    for (long number = 0; good && getline(&line, &room, rows) > 0; number++)
        good = number < ROWS_HEAD || take_line(w, line, row);
    good = good && feof(rows); /* else there was no memory for a line */
    free(line);
    free(row);
    return good && !ferror(rows) && flush_block(w);
}

/* A text as it is; anything else as JSON. */
static bool add_described(hid_t object, const char *name, const json_t *value)
{
    if (json_is_string(value))
        return add_attribute(object, name, json_string_value(value));
    char *text = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
    bool good = text && add_attribute(object, name, text);
    free(text);
    return good;
}

/* Of the file: version, model, its text, options, seed. */
static bool describe_file(const writer *w, json_t *about)
{
    const char *key;
    json_t *value;
    bool good = add_attribute(w->file, "sweep", w->about->identity);
    json_object_foreach(about, key, value) if (good && strcmp(key, "texts") != 0)
        good = add_described(w->file, key, value);
    return good;
}

/* Of a column: what the model says of it, units as a rule. An initial value has (0) behind its name. */
static bool describe_set(hid_t set, const char *name, const json_t *texts)
{
    size_t length = strlen(name);
    bool initial = length > 3 && strcmp(name + length - 3, "(0)") == 0;
    char *plain = memory_copy(name);
    if (!plain)
        return false;
    if (initial)
        plain[length - 3] = '\0';
    const char *text = json_string_value(json_object_get(texts, plain));
    free(plain);
    return !text || add_attribute(set, "text", text);
}

static bool write_all(writer *w, FILE *rows)
{
    const rows_about *a = w->about;
    json_t *about = json_loads(a->description, 0, NULL);
    bool good = about && describe_file(w, about);
    for (size_t c = 0; good && c < w->columns; c++) {
        bool text = c + 1 == w->columns && a->status;
        w->sets[c] = create_set(w, a->names[c], text ? w->text_type : H5T_NATIVE_DOUBLE);
        good = w->sets[c] >= 0 &&
               describe_set(w->sets[c], a->names[c], json_object_get(about, "texts"));
    }
    json_decref(about);
    good = good && write_rows(w, rows) && H5Fflush(w->file, H5F_SCOPE_LOCAL) >= 0;
    for (size_t c = 0; good && c < w->columns; c++)
        good = H5Dclose(w->sets[c]) >= 0;
    return good;
}

static hid_t create_file(const char *path)
{
    hid_t how = H5Pcreate(H5P_FILE_CREATE);
    hid_t file = H5Pset_obj_track_times(how, false) >= 0
                     ? H5Fcreate(path, H5F_ACC_TRUNC, how, H5P_DEFAULT)
                     : H5I_INVALID_HID;
    return H5Pclose(how) >= 0 ? file : H5I_INVALID_HID;
}

/* All of it, in the child. */
static bool write_file(const rows_about *about, FILE *rows, const char *path)
{
    writer w = {.about = about, .columns = about->count, .file = -1};
    w.sets = memory_new(w.columns + 1, sizeof *w.sets);
    w.block = memory_new(w.columns * BLOCK + 1, sizeof *w.block);
    w.status = memory_new(BLOCK, STATUS_LENGTH);
    H5dont_atexit(); /* what remains after a failure must not be touched again */
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* the library is not to print */
    if (!w.sets || !w.block || !w.status)
        return false;
    w.file = create_file(path);
    w.text_type = H5Tcopy(H5T_C_S1);
    return w.file >= 0 && w.text_type >= 0 && H5Tset_size(w.text_type, STATUS_LENGTH) >= 0 &&
           write_all(&w, rows) && H5Fclose(w.file) >= 0;
}

/* libhdf5 crashes in places where memory runs out: a child writes (hdf5_file.c). */
static bool write_in_child(const rows_about *about, FILE *rows, const char *path)
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(write_file(about, rows, path) ? EXIT_SUCCESS : EXIT_FAILURE);
    if (child < 0)
        return false;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

bool sweep_write_hdf5(const rows_about *about, FILE *rows, const char *path)
{
    hm_file *out = NULL;
    bool good = hm_file_create(memory_allocator(), path, &out) == HM_OK &&
                hm_file_descriptor(out) >= 0 && write_in_child(about, rows, hm_file_path(out));
    const char *why = out && hm_file_error(out)[0] ? hm_file_error(out)
                                                   : "HDF5 reports an error, or there is no memory";
    good = out && hm_file_finish(out, good ? HM_FILE_END_COMPLETE : HM_FILE_END_DISCARD) == HM_OK &&
           good;
    if (!good)
        say("hamel: cannot write '%s': %s; the rows are in '%s'\n", path, why, about->path);
    hm_file_destroy(out);
    return good;
}

#else

bool sweep_write_hdf5(const rows_about *about, FILE *rows, const char *path)
{
    (void)about;
    (void)rows;
    say("hamel: this build has no HDF5; '%s' is not written\n", path);
    return false;
}

#endif
