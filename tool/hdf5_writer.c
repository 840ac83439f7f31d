/* Writes results to HDF5 in blocks, in a process of its own (hdf5_file.c): libhdf5 crashes where memory runs
 * out. It is optional (CMakeLists.txt). */
#include "hdf5_writer.h"

#ifdef HAMEL_HAVE_HDF5

#include "hdf5_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { DATASETS = 6, BLOCK_BYTES = 1 << 20, MOST_BLOCK_ROWS = 4096 };

/* A dataset holds `width` columns of a row, from `first` on. */
typedef struct part {
    const char *name;
    size_t first, width;
    hid_t set;
} part;

struct hdf5_writer {
    const column_set *columns;
    hm_file *out;
    int spool; /* a pipe or device gets the file at the end, from here; -1: there is none */
    hid_t file;
    part parts[DATASETS];
    double *block; /* rows that are not written yet: block_rows x columns */
    double *piece; /* one part of them */
    size_t block_rows, filled;
    hsize_t written;
    time_t flushed;
    bool failed; /* HDF5 is left alone after a failure: closing what is half written crashes it */
    char why[160];
};

/* ---- attributes ---- */

static bool close_all(bool good, hid_t attribute, hid_t space, hid_t type)
{
    if (attribute >= 0)
        H5Aclose(attribute);
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    return good;
}

static bool add_texts(hid_t object, const char *name, const char *const *texts, size_t count)
{
    hsize_t size = count;
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    hid_t space = count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &size, NULL);
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool good = attribute >= 0 && H5Awrite(attribute, type, texts) >= 0;
    return close_all(good, attribute, space, type);
}

static bool add_text(hid_t object, const char *name, const char *text)
{
    return add_texts(object, name, &text, 1);
}

static bool add_number(hid_t object, const char *name, double value)
{
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(object, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT);
    bool good = attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_DOUBLE, &value) >= 0;
    return close_all(good, attribute, space, -1);
}

/* Names can exceed what an attribute holds (64 kB): then they are a dataset NAME_names. */
static bool add_names(hdf5_writer *f, const part *p)
{
    size_t bytes = 0;
    const char *const *names = (const char *const *)f->columns->names + p->first;
    for (size_t i = 0; i < p->width; i++)
        bytes += strlen(names[i]) + 1;
    if (bytes < 30000 && p->width < 3000)
        return add_texts(p->set, "names", names, p->width);
    char title[64];
    snprintf(title, sizeof title, "%s_names", p->name);
    hsize_t size = p->width;
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate_simple(1, &size, NULL);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    hid_t set = H5Dcreate2(f->file, title, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool good = set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, names) >= 0;
    if (set >= 0)
        H5Dclose(set);
    return close_all(good, -1, space, type);
}

/* ---- datasets ---- */

static bool create_set(hdf5_writer *f, part *p)
{
    hsize_t size[2] = {0, p->width}, most[2] = {H5S_UNLIMITED, p->width};
    hsize_t chunk[2] = {f->block_rows, p->width};
    int rank = p->first == 0 ? 1 : 2;
    hid_t space = H5Screate_simple(rank, size, most), settings = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(settings, rank, chunk);
    H5Pset_obj_track_times(settings, false); /* the same run gives the same bytes */
    p->set = H5Dcreate2(f->file, p->name, H5T_IEEE_F64LE, space, H5P_DEFAULT, settings,
                        H5P_DEFAULT);
    H5Pclose(settings);
    H5Sclose(space);
    return p->set >= 0 && add_names(f, p);
}

static void divide(hdf5_writer *f)
{
    const hm_model *model = f->columns->model;
    size_t n = hm_model_coordinate_count(model);
    const size_t widths[DATASETS] = {
        1, n, n, hm_model_output_count(model), hm_model_state_count(model), 0};
    static const char *const names[DATASETS] = {"t", "q", "v", "outputs", "states", "columns"};
    size_t at = 0;
    for (int i = 0; i < DATASETS; i++) {
        size_t width = i + 1 < DATASETS ? widths[i] : f->columns->count - at;
        f->parts[i] = (part){names[i], at, width, -1};
        at += width;
    }
}

static bool write_part(hdf5_writer *f, const part *p)
{
    hsize_t total[2] = {f->written + f->filled, p->width};
    hsize_t start[2] = {f->written, 0}, size[2] = {f->filled, p->width};
    int rank = p->first == 0 ? 1 : 2;
    for (size_t r = 0; r < f->filled; r++)
        memcpy(f->piece + r * p->width, f->block + r * f->columns->count + p->first,
               p->width * sizeof *f->piece);
    if (H5Dset_extent(p->set, total) < 0)
        return false;
    hid_t file_space = H5Dget_space(p->set), memory_space = H5Screate_simple(rank, size, NULL);
    H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start, NULL, size, NULL);
    bool good = H5Dwrite(p->set, H5T_NATIVE_DOUBLE, memory_space, file_space, H5P_DEFAULT,
                         f->piece) >= 0;
    H5Sclose(memory_space);
    H5Sclose(file_space);
    return good;
}

static bool write_block(hdf5_writer *f)
{
    for (int i = 0; f->filled && i < DATASETS; i++)
        if (f->parts[i].width && !write_part(f, &f->parts[i]))
            return false;
    f->written += f->filled;
    f->filled = 0;
    f->flushed = time(NULL);
    return H5Fflush(f->file, H5F_SCOPE_LOCAL) >= 0;
}

/* ---- failures ---- */

/* HDF5 keeps the errno of a system call in the text of its error stack. */
static herr_t find_errno(unsigned level, const H5E_error2_t *error, void *user)
{
    (void)level;
    const char *at = error->desc ? strstr(error->desc, "errno = ") : NULL;
    if (at)
        *(int *)user = atoi(at + strlen("errno = "));
    return 0;
}

static bool fail(hdf5_writer *f)
{
    int error = 0;
    if (f->failed)
        return false;
    f->failed = true;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, find_errno, &error);
    if (f->out && hm_file_error(f->out)[0])
        snprintf(f->why, sizeof f->why, "%s", hm_file_error(f->out));
    else
        snprintf(f->why, sizeof f->why, "%s",
                 error ? strerror(error) : "HDF5 reports an error, or there is no memory");
    return false;
}

/* ---- the file ---- */

static bool allocate(hdf5_writer *f)
{
    size_t width = f->columns->count;
    f->block_rows = BLOCK_BYTES / (width * sizeof *f->block);
    f->block_rows = f->block_rows < 1 ? 1 : f->block_rows;
    if (f->block_rows > MOST_BLOCK_ROWS)
        f->block_rows = MOST_BLOCK_ROWS;
    f->block = memory_new(1, f->block_rows * width * sizeof *f->block);
    f->piece = memory_new(1, f->block_rows * width * sizeof *f->piece);
    return f->block && f->piece;
}

/* HDF5 opens files by name, and this name means the file that hm_file made, whatever has happened to
 * its path since. Without /proc it is the path. */
static bool open_beside(hdf5_writer *f)
{
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", hm_file_descriptor(f->out));
    const char *path = access(name, F_OK) == 0 ? name : hm_file_path(f->out);
    f->file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    return f->file >= 0;
}

/* HDF5 goes back and forth, which a pipe cannot: the file is made elsewhere first. */
static bool open_spool(hdf5_writer *f)
{
    const char *folder = getenv("TMPDIR");
    char name[4096];
    if ((size_t)snprintf(name, sizeof name, "%s/hamel-XXXXXX", folder ? folder : "/tmp") >=
        sizeof name)
        return false;
    f->spool = mkstemp(name);
    if (f->spool < 0)
        return false;
    f->file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    unlink(name);
    return f->file >= 0;
}

static bool write_start(hdf5_writer *f)
{
    const hm_model *model = f->columns->model;
    bool good = add_text(f->file, "model", hm_model_name(model)) &&
                add_text(f->file, "hamel", hm_version());
    if (good && hm_model_title(model))
        good = add_text(f->file, "title", hm_model_title(model));
    for (int i = 0; good && i < DATASETS; i++)
        good = !f->parts[i].width || create_set(f, &f->parts[i]);
    return good && H5Fflush(f->file, H5F_SCOPE_LOCAL) >= 0;
}

hdf5_writer *hdf5_writer_create(hm_file *out, const column_set *columns)
{
    hdf5_writer *f = memory_new(1, sizeof *f);
    if (!f)
        return NULL;
    H5dont_atexit(); /* what remains after a failure must not be touched again */
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* the library is not to print */
    f->columns = columns;
    f->out = out;
    f->file = f->spool = -1;
    divide(f);
    bool good = allocate(f);
    if (good)
        good = hm_file_descriptor(f->out) >= 0 ? open_beside(f) : open_spool(f);
    if (!good || !write_start(f))
        fail(f);
    return f;
}

bool hdf5_writer_row(hdf5_writer *f, const double *row)
{
    if (f->failed)
        return false;
    memcpy(f->block + f->filled * f->columns->count, row, f->columns->count * sizeof *row);
    f->filled++;
    if (f->filled < f->block_rows && time(NULL) - f->flushed < 1)
        return true;
    return write_block(f) || fail(f);
}

static bool close_file(hdf5_writer *f)
{
    bool good = true;
    for (int i = 0; i < DATASETS; i++)
        if (f->parts[i].set >= 0) {
            good = H5Dclose(f->parts[i].set) >= 0 && good;
            f->parts[i].set = -1;
        }
    if (f->file >= 0)
        good = H5Fclose(f->file) >= 0 && good;
    f->file = -1;
    return good;
}

static bool write_end(hdf5_writer *f, const hdf5_end *result)
{
    bool good = write_block(f) && add_text(f->file, "method", result->method) &&
                add_text(f->file, "drift", result->drift) &&
                add_text(f->file, "status", hm_run_status_text(result->status)) &&
                add_number(f->file, "rtol", result->rtol) &&
                add_number(f->file, "atol", result->atol) &&
                H5Fflush(f->file, H5F_SCOPE_LOCAL) >= 0;
    return (good && close_file(f)) || fail(f);
}

static bool copy_spool(hdf5_writer *f)
{
    ssize_t got = lseek(f->spool, 0, SEEK_SET) == 0 ? 1 : -1;
    char bytes[1 << 16];
    while (got > 0) {
        got = read(f->spool, bytes, sizeof bytes);
        if (got > 0 && hm_file_write(f->out, bytes, (size_t)got) != HM_OK)
            got = -1;
    }
    return (got == 0 && hm_file_flush(f->out) == HM_OK) || fail(f);
}

bool hdf5_writer_end(hdf5_writer *f, const hdf5_end *end)
{
    bool good = !f->failed && write_end(f, end);
    return good && f->spool >= 0 ? copy_spool(f) : good;
}

bool hdf5_writer_flush(hdf5_writer *f)
{
    return !f->failed && (write_block(f) || fail(f));
}

unsigned long long hdf5_writer_rows(const hdf5_writer *f)
{
    return f->spool < 0 ? f->written : 0;
}

const char *hdf5_writer_error(const hdf5_writer *f)
{
    return f->why;
}

#else

int hdf5_writer_absent; /* a file of C must not be empty */

#endif
