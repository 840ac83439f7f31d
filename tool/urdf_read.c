/* Reads a URDF file into links and joints, by expat. What has no meaning for the motion (visual, collision,
 * material, transmission, gazebo, sensor) is passed over. Entities are refused: a file that needs them is
 * not a robot. */
#include "urdf.h"

#include "memory.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <hamel/hamel.h>

/* ---- messages ---- */

enum { MOST_ERRORS = 20, MOST_MESSAGE = 1000 };

/* The text of a line, in memory to be freed. */
static char *line_text(const urdf_robot *r, int line)
{
    const char *at = r->text, *end = r->text + r->length;
    for (int k = 1; k < line && at < end; k++) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        at = next ? next + 1 : end;
    }
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    size_t length = (size_t)((stop ? stop : end) - at);
    length = length > 300 ? 300 : length;
    char *text = memory_new(1, length + 1);
    if (text)
        memcpy(text, at, length);
    return text;
}

static void say(urdf_robot *r, hm_severity severity, urdf_place at, const char *hint,
                const char *format, va_list arguments)
{
    char message[MOST_MESSAGE], text[2 * MOST_MESSAGE];
    vsnprintf(message, sizeof message, format, arguments);
    char *line = at.line > 0 ? line_text(r, at.line) : NULL;
    const hm_diagnostic diagnostic = {.severity = severity,
                                      .file = r->file,
                                      .line = at.line,
                                      .column = at.column,
                                      .length = 1,
                                      .source_line = line,
                                      .message = message,
                                      .hint = hint};
    hm_diagnostic_format(&diagnostic, false, text, sizeof text);
    fputs(text, stderr);
    free(line);
}

void urdf_error(urdf_robot *r, urdf_place at, const char *hint, const char *format, ...)
{
    if (r->errors++ >= MOST_ERRORS)
        return;
    va_list arguments;
    va_start(arguments, format);
    say(r, HM_SEVERITY_ERROR, at, hint, format, arguments);
    va_end(arguments);
}

void urdf_warning(urdf_robot *r, urdf_place at, const char *hint, const char *format, ...)
{
    if (r->quiet)
        return;
    va_list arguments;
    va_start(arguments, format);
    say(r, HM_SEVERITY_WARNING, at, hint, format, arguments);
    va_end(arguments);
}

/* ---- memory ---- */

static char *copy_text(urdf_robot *r, const char *text)
{
    size_t length = strlen(text);
    char *copy = memory_new(1, length + 1);
    if (copy)
        memcpy(copy, text, length + 1);
    else
        r->no_memory = true;
    return copy;
}

/* Room for one more element; NULL without memory. */
static void *grow(urdf_robot *r, void *data, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return data;
    size_t wanted = *capacity ? 2 * *capacity : 16;
    void *grown = memory_resize(data, wanted * size);
    if (grown)
        *capacity = wanted;
    else
        r->no_memory = true;
    return grown;
}

void urdf_release(urdf_robot *r)
{
    for (size_t i = 0; i < r->link_count; i++) {
        free(r->links[i].name);
        free(r->links[i].id);
    }
    for (size_t i = 0; i < r->joint_count; i++) {
        free(r->joints[i].name);
        free(r->joints[i].id);
        free(r->joints[i].parent_name);
        free(r->joints[i].child_name);
        free(r->joints[i].mimic_name);
    }
    free(r->links);
    free(r->joints);
    free(r->order);
    free(r->name);
}

#ifdef HAMEL_HAVE_EXPAT

#include <expat.h>

enum { MOST_DEPTH = 100, MOST_PARTS = 200000 };

/* What the present element belongs to. */
typedef enum reader_level {
    AT_FILE,
    AT_ROBOT,
    AT_LINK,
    AT_INERTIAL,
    AT_JOINT,
    AT_PART
} reader_level;

typedef struct reader {
    urdf_robot *robot;
    XML_Parser parser;
    reader_level level[MOST_DEPTH + 1];
    int depth, skipped; /* skipped: the depth of an element that is passed over; 0: none */
    bool stopped;
} reader;

static urdf_place here(const reader *x)
{
    return (urdf_place){(int)XML_GetCurrentLineNumber(x->parser),
                        (int)XML_GetCurrentColumnNumber(x->parser) + 1};
}

/* After an error that makes the rest meaningless. */
static void stop(reader *x)
{
    x->stopped = true;
    XML_StopParser(x->parser, XML_FALSE);
}

/* ---- attributes ---- */

static const char *attribute(const char **attributes, const char *name)
{
    for (; *attributes; attributes += 2)
        if (strcmp(attributes[0], name) == 0)
            return attributes[1];
    return NULL;
}

static char *needed_text(reader *x, const char *element, const char **attributes, const char *name)
{
    const char *text = attribute(attributes, name);
    if (text && *text)
        return copy_text(x->robot, text);
    urdf_error(x->robot, here(x), NULL, "<%s> needs the attribute '%s'", element, name);
    return NULL;
}

/* `count` numbers separated by white space. False after a message. */
static bool read_numbers(reader *x, const char *name, const char *text, int count, double *out)
{
    const char *at = text;
    for (int k = 0; k < count; k++) {
        char *end;
        errno = 0;
        out[k] = strtod(at, &end);
        if (end == at || !isfinite(out[k]) || fabs(out[k]) > 1e100) {
            urdf_error(x->robot, here(x), NULL, "'%s' must be %d finite number%s, not '%.60s'",
                       name, count, count == 1 ? "" : "s", text);
            return false;
        }
        at = end;
    }
    at += strspn(at, " \t\r\n");
    if (*at == '\0')
        return true;
    urdf_error(x->robot, here(x), NULL, "'%s' has more than %d number%s: '%.60s'", name, count,
               count == 1 ? "" : "s", text);
    return false;
}

/* A number that may be missing: `out` stays as it is then. */
static bool optional_number(reader *x, const char **attributes, const char *name, double *out)
{
    const char *text = attribute(attributes, name);
    return text && read_numbers(x, name, text, 1, out);
}

static void needed_number(reader *x, const char *element, const char **attributes, const char *name,
                          double *out)
{
    const char *text = attribute(attributes, name);
    if (text)
        read_numbers(x, name, text, 1, out);
    else
        urdf_error(x->robot, here(x), NULL, "<%s> needs the attribute '%s'", element, name);
}

static void read_pose(reader *x, const char **attributes, urdf_pose *pose)
{
    const char *xyz = attribute(attributes, "xyz"), *rpy = attribute(attributes, "rpy");
    if (xyz)
        read_numbers(x, "xyz", xyz, 3, pose->xyz);
    if (rpy)
        read_numbers(x, "rpy", rpy, 3, pose->rpy);
}

/* ---- elements ---- */

static void start_link(reader *x, const char **attributes)
{
    urdf_robot *r = x->robot;
    urdf_link link = {.place = here(x), .joint = URDF_NONE};
    urdf_link *links = grow(r, r->links, r->link_count, &r->link_capacity, sizeof *links);
    if (!links) {
        stop(x);
        return;
    }
    r->links = links;
    link.name = needed_text(x, "link", attributes, "name");
    links[r->link_count++] = link;
}

static bool read_type(const char *text, urdf_type *type)
{
    static const char *const types[] = {"revolute", "continuous", "prismatic",
                                        "fixed",    "floating",   "planar"};
    for (int k = 0; k < 6; k++)
        if (strcmp(types[k], text) == 0) {
            *type = (urdf_type)k;
            return true;
        }
    return false;
}

static void start_joint(reader *x, const char **attributes)
{
    urdf_robot *r = x->robot;
    urdf_joint joint = {.place = here(x), .axis = {1, 0, 0}, .mimic = URDF_NONE, .multiplier = 1};
    urdf_joint *joints = grow(r, r->joints, r->joint_count, &r->joint_capacity, sizeof *joints);
    if (!joints) {
        stop(x);
        return;
    }
    r->joints = joints;
    joint.name = needed_text(x, "joint", attributes, "name");
    const char *type = attribute(attributes, "type");
    if (!type || !read_type(type, &joint.type))
        urdf_error(r, here(x), "one of: revolute, continuous, prismatic, fixed, floating, planar",
                   type ? "there is no joint of type '%.60s'" : "this joint has no type%s",
                   type ? type : "");
    joint.parent = joint.child = URDF_NONE;
    joints[r->joint_count++] = joint;
}

static void start_inertial_part(reader *x, const char *element, const char **attributes)
{
    static const char *const names[] = {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"};
    urdf_link *link = &x->robot->links[x->robot->link_count - 1];
    if (strcmp(element, "origin") == 0)
        read_pose(x, attributes, &link->com);
    else if (strcmp(element, "mass") == 0)
        needed_number(x, element, attributes, "value", &link->mass);
    else if (strcmp(element, "inertia") == 0)
        for (int k = 0; k < 6; k++)
            needed_number(x, element, attributes, names[k], &link->J[k]);
}

static void read_limit(reader *x, const char **attributes, urdf_joint *joint)
{
    joint->limited = true;
    joint->has_lower = optional_number(x, attributes, "lower", &joint->lower);
    joint->has_upper = optional_number(x, attributes, "upper", &joint->upper);
    optional_number(x, attributes, "effort", &joint->effort);
    optional_number(x, attributes, "velocity", &joint->velocity);
}

/* The link that <parent> or <child> names, once. */
static void read_end(reader *x, const char *element, const char **attributes, char **slot)
{
    if (*slot) {
        urdf_error(x->robot, here(x), NULL, "this joint has two elements <%s>", element);
        return;
    }
    *slot = needed_text(x, element, attributes, "link");
}

static void start_joint_part(reader *x, const char *element, const char **attributes)
{
    urdf_joint *joint = &x->robot->joints[x->robot->joint_count - 1];
    if (strcmp(element, "origin") == 0)
        read_pose(x, attributes, &joint->origin);
    else if (strcmp(element, "parent") == 0)
        read_end(x, element, attributes, &joint->parent_name);
    else if (strcmp(element, "child") == 0)
        read_end(x, element, attributes, &joint->child_name);
    else if (strcmp(element, "axis") == 0 && attribute(attributes, "xyz"))
        read_numbers(x, "xyz", attribute(attributes, "xyz"), 3, joint->axis);
    else if (strcmp(element, "limit") == 0)
        read_limit(x, attributes, joint);
    else if (strcmp(element, "dynamics") == 0) {
        optional_number(x, attributes, "damping", &joint->damping);
        optional_number(x, attributes, "friction", &joint->friction);
    } else if (strcmp(element, "mimic") == 0 && !joint->mimic_name) {
        joint->mimic_place = here(x);
        joint->mimic_name = needed_text(x, element, attributes, "joint");
        optional_number(x, attributes, "multiplier", &joint->multiplier);
        optional_number(x, attributes, "offset", &joint->offset);
    }
}

static void refuse_root(reader *x, const char *element)
{
    const char *hint = strcmp(element, "sdf") == 0
                           ? "this is SDF; Gazebo's tools convert from URDF only"
                       : strcmp(element, "mujoco") == 0
                           ? "this is MuJoCo's MJCF, another format"
                           : "a URDF file has one <robot name=\"...\">";
    urdf_error(x->robot, here(x), hint, "expected <robot>, found <%.60s>", element);
    stop(x);
}

static void start_robot(reader *x, const char *element, const char **attributes)
{
    if (strcmp(element, "robot") != 0) {
        refuse_root(x, element);
        return;
    }
    const char *name = attribute(attributes, "name");
    x->robot->name = copy_text(x->robot, name && *name ? name : "robot");
    x->level[x->depth] = AT_ROBOT;
}

static void skip_element(reader *x, const char *element)
{
    if (strncmp(element, "xacro:", 6) == 0) {
        urdf_error(x->robot, here(x), "expand it first: xacro robot.xacro > robot.urdf",
                   "<%.60s> is a macro of xacro, not URDF", element);
        stop(x);
    }
    x->skipped = x->depth;
}

static void start_part_of_robot(reader *x, const char *element, const char **attributes)
{
    static const char *const known[] = {"transmission", "material", "gazebo",
                                        "sensor",       "mujoco",   "ros2_control"};
    if (x->robot->link_count + x->robot->joint_count > MOST_PARTS) {
        urdf_error(x->robot, here(x), NULL, "more than %d links and joints", MOST_PARTS);
        stop(x);
    } else if (strcmp(element, "link") == 0) {
        x->level[x->depth] = AT_LINK;
        start_link(x, attributes);
    } else if (strcmp(element, "joint") == 0) {
        x->level[x->depth] = AT_JOINT;
        start_joint(x, attributes);
    } else {
        bool expected = strncmp(element, "xacro:", 6) == 0;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            expected |= strcmp(known[k], element) == 0;
        if (!expected)
            urdf_warning(x->robot, here(x), NULL, "<%.60s> is passed over: it is not known",
                         element);
        skip_element(x, element);
    }
}

static void XMLCALL start_element(void *user, const char *element, const char **attributes)
{
    reader *x = user;
    if (x->stopped)
        return;
    if (++x->depth > MOST_DEPTH) {
        urdf_error(x->robot, here(x), NULL, "elements nest more than %d deep", MOST_DEPTH);
        stop(x);
        return;
    }
    if (x->skipped)
        return;
    x->level[x->depth] = AT_PART;
    switch (x->level[x->depth - 1]) {
    case AT_FILE:
        start_robot(x, element, attributes);
        break;
    case AT_ROBOT:
        start_part_of_robot(x, element, attributes);
        break;
    case AT_LINK:
        if (strcmp(element, "inertial") == 0) {
            x->level[x->depth] = AT_INERTIAL;
            x->robot->links[x->robot->link_count - 1].inertial = true;
        } else
            skip_element(x, element);
        break;
    case AT_INERTIAL:
        start_inertial_part(x, element, attributes);
        break;
    case AT_JOINT:
        start_joint_part(x, element, attributes);
        break;
    case AT_PART:
        skip_element(x, element);
        break;
    }
    if (x->robot->no_memory)
        stop(x);
}

static void XMLCALL end_element(void *user, const char *element)
{
    reader *x = user;
    (void)element;
    if (x->skipped == x->depth)
        x->skipped = 0;
    x->depth--;
}

static void XMLCALL refuse_doctype(void *user, const char *name, const char *system,
                                   const char *public, int internal)
{
    reader *x = user;
    (void)name, (void)system, (void)public, (void)internal;
    urdf_error(x->robot, here(x), "remove the document type and write entities out",
               "document types and entities are not read");
    stop(x);
}

static bool parse(reader *x, const char *text, size_t length)
{
    XML_SetUserData(x->parser, x);
    XML_SetElementHandler(x->parser, start_element, end_element);
    XML_SetStartDoctypeDeclHandler(x->parser, refuse_doctype);
    enum XML_Status status = XML_Parse(x->parser, text, (int)length, 1);
    if (status != XML_STATUS_OK && !x->stopped)
        urdf_error(x->robot, here(x), NULL, "this is not XML: %s",
                   XML_ErrorString(XML_GetErrorCode(x->parser)));
    return !x->robot->errors && !x->robot->no_memory;
}

bool urdf_read(urdf_robot *r, const char *file, const char *text, size_t length)
{
    r->file = file;
    r->text = text;
    r->length = length;
    reader *x = memory_new(1, sizeof *x);
    if (!x)
        return false;
    x->robot = r;
    x->parser = XML_ParserCreate(NULL);
    bool good = x->parser && parse(x, text, length);
    if (x->parser)
        XML_ParserFree(x->parser);
    free(x);
    return good;
}

#else

bool urdf_read(urdf_robot *r, const char *file, const char *text, size_t length)
{
    r->file = file;
    r->text = text;
    r->length = length;
    urdf_error(r, (urdf_place){0}, "install libexpat1-dev and build again",
               "this build cannot read XML: it was made without expat");
    return false;
}

#endif
