/* Puts a Functional Mock-up Unit together: a folder of its own below the temporary files, the compiler, the
 * container by libzip. Times inside the container are fixed, so that the same model gives the same bytes. */
#include "fmu_file.h"
#include "buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef HAMEL_HAVE_ZIP

#include <zip.h>

const bool fmu_available = true;

/* ---- the binary ---- */

/* Runs `cc ARGUMENTS` without a shell; its messages go to stderr. */
static bool compile(const char *source, const char *object)
{
    const char *compiler = getenv("CC");
    compiler = compiler && *compiler ? compiler : "cc";
    pid_t child = fork();
    if (child == 0) {
        execlp(compiler, compiler, "-std=c99", "-O2", "-ffp-contract=off", "-fPIC", "-shared",
               "-fvisibility=hidden", source, "-o", object, "-lm", (char *)NULL);
        _exit(127);
    }
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool save(const char *path, const buffer *text)
{
    FILE *file = fopen(path, "wb");
    bool good = file && fwrite(text->bytes, 1, text->length, file) == text->length;
    return file && fclose(file) == 0 && good;
}

/* The shared object of the source; false: there is none. */
static bool make_binary(const buffer *source, buffer *binary)
{
    char folder[512], from[600], to[600];
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/hamel-fmu-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(folder))
        return false;
    snprintf(from, sizeof from, "%s/unit.c", folder);
    snprintf(to, sizeof to, "%s/unit.so", folder);
    bool good = save(from, source) && compile(from, to) && buffer_read(binary, to);
    unlink(from);
    unlink(to);
    rmdir(folder);
    return good;
}

/* ---- the container ---- */

static const char *platform(hm_export_format format)
{
#if defined __x86_64__
    return format == HM_EXPORT_FORMAT_FMU2 ? "linux64" : "x86_64-linux";
#elif defined __aarch64__
    return format == HM_EXPORT_FORMAT_FMU2 ? "linux64" : "aarch64-linux";
#else
    (void)format;
    return NULL;
#endif
}

static bool add_entry(zip_t *archive, const char *name, const buffer *content, bool executable)
{
    zip_source_t *source = zip_source_buffer(archive, content->bytes, content->length, 0);
    zip_int64_t index = source ? zip_file_add(archive, name, source, ZIP_FL_ENC_UTF_8) : -1;
    if (index < 0) {
        zip_source_free(source);
        return false;
    }
    zip_uint32_t mode = executable ? 0100755 : 0100644;
    return zip_file_set_mtime(archive, (zip_uint64_t)index, 315532800, 0) ==
               0 && /* 1980: none earlier */
           zip_file_set_external_attributes(archive, (zip_uint64_t)index, 0, ZIP_OPSYS_UNIX,
                                            mode << 16) == 0;
}

typedef struct unit {
    char name[64]; /* of its model, as an identifier */
    hm_export_format format;
    buffer description, source, build, binary;
} unit;

/* FMI 3.0 wants to know how sources are compiled. */
static bool describe_build(unit *u)
{
    char text[600];
    int length = snprintf(
        text, sizeof text,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiBuildDescription fmiVersion=\"3.0\">\n"
        "  <BuildConfiguration modelIdentifier=\"%s\">\n"
        "    <SourceFileSet language=\"C99\">\n      <SourceFile name=\"%s.c\"/>\n    "
        "</SourceFileSet>\n"
        "    <Library name=\"m\"/>\n  </BuildConfiguration>\n</fmiBuildDescription>\n",
        u->name, u->name);
    return buffer_append(&u->build, text, (size_t)length);
}

static bool fill(zip_t *archive, const unit *u)
{
    char path[256];
    bool good = add_entry(archive, "modelDescription.xml", &u->description, false);
    snprintf(path, sizeof path, "sources/%s.c", u->name);
    good = good && add_entry(archive, path, &u->source, false);
    if (u->format == HM_EXPORT_FORMAT_FMU3)
        good = good && add_entry(archive, "sources/buildDescription.xml", &u->build, false);
    if (u->binary.length) {
        snprintf(path, sizeof path, "binaries/%s/%s.so", platform(u->format), u->name);
        good = good && add_entry(archive, path, &u->binary, true);
    }
    return good;
}

/* The container in memory, so that the one writer of files writes it. */
static bool pack(const unit *u, buffer *out)
{
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *target = zip_source_buffer_create(NULL, 0, 0, &error);
    zip_t *archive = target ? zip_open_from_source(target, ZIP_TRUNCATE, &error) : NULL;
    if (!archive) {
        zip_source_free(target);
        return false;
    }
    zip_source_keep(target);
    bool good = fill(archive, u) && zip_close(archive) == 0;
    if (!good)
        zip_discard(archive);
    good = good && zip_source_open(target) == 0;
    char chunk[1 << 15];
    for (zip_int64_t got; good && (got = zip_source_read(target, chunk, sizeof chunk)) != 0;)
        good = got > 0 && buffer_append(out, chunk, (size_t)got);
    zip_source_free(target);
    return good;
}

/* ---- the whole ---- */

static int write_container(const buffer *bytes, const char *path)
{
    hm_file *file = NULL;
    hm_status status = hm_file_create(NULL, path, &file);
    if (status == HM_OK)
        status = hm_file_write(file, bytes->bytes, bytes->length);
    if (status == HM_OK)
        status = hm_file_finish(file, HM_FILE_END_COMPLETE);
    if (status != HM_OK)
        fprintf(stderr, "hamel: cannot write '%s': %s\n", path,
                file ? hm_file_error(file) : strerror(ENOMEM));
    hm_file_destroy(file);
    return status == HM_OK ? EXIT_DONE : EXIT_FAILED;
}

static int out_of_memory(void)
{
    fprintf(stderr, "hamel: out of memory\n");
    return EXIT_FAILED;
}

static int make_unit(const session *s, hm_export_options options, unit *u, buffer *container)
{
    hm_status status = hm_system_export(s->context, s->system, &options, buffer_append, &u->source);
    options.part = HM_EXPORT_PART_DESCRIPTION;
    if (status == HM_OK)
        status = hm_system_export(s->context, s->system, &options, buffer_append, &u->description);
    if (status == HM_ERR_IO)
        return out_of_memory();
    if (status != HM_OK)
        return exit_status_of(status);
    if (platform(u->format) && !make_binary(&u->source, &u->binary))
        fprintf(stderr, "hamel: warning: no C compiler made a binary ('cc', or what CC says); the "
                        "unit holds its "
                        "source alone\n");
    return describe_build(u) && pack(u, container) ? EXIT_DONE : out_of_memory();
}

int fmu_file_write(const session *s, const hm_export_options *options, const char *path)
{
    unit u = {.format = options->format};
    buffer container = {0};
    (void)hm_export_identifier(s->system, options, u.name, sizeof u.name);
    int status = make_unit(s, *options, &u, &container);
    if (status == EXIT_DONE)
        status = write_container(&container, path);
    buffer_release(&u.description);
    buffer_release(&u.source);
    buffer_release(&u.build);
    buffer_release(&u.binary);
    buffer_release(&container);
    return status;
}

#else

const bool fmu_available = false;

int fmu_file_write(const session *s, const hm_export_options *options, const char *path)
{
    (void)s, (void)options, (void)path;
    fprintf(stderr, "hamel: this build of hamel has no libzip and cannot write units\n");
    return EXIT_FAILED;
}

#endif
