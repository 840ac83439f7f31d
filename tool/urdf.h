/* A robot as a URDF file says it: links, joints, and their tree.
 * Reading is by expat (urdf_read.c), an optional component; urdf_check.c finds the tree and what has no
 * meaning, urdf_write.c writes the model. The format: http://wiki.ros.org/urdf/XML */
#ifndef HAMEL_TOOL_URDF_H
#define HAMEL_TOOL_URDF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A place in the file; line 0: none. */
typedef struct urdf_place {
    int line, column;
} urdf_place;

typedef enum urdf_type {
    URDF_REVOLUTE,
    URDF_CONTINUOUS,
    URDF_PRISMATIC,
    URDF_FIXED,
    URDF_FLOATING,
    URDF_PLANAR
} urdf_type;

enum { URDF_NONE = -1 };

/* A position and the angles of a rotation rotz(yaw) roty(pitch) rotx(roll). */
typedef struct urdf_pose {
    double xyz[3], rpy[3];
} urdf_pose;

typedef struct urdf_link {
    char *name, *id; /* id: as the model calls it */
    urdf_place place;
    bool inertial;
    double mass, J[6]; /* xx xy xz yy yz zz about the mass centre, in the axes of `com` */
    urdf_pose com;
    int joint;       /* that it hangs on; URDF_NONE: the root */
    bool moves_mass; /* it or what hangs on it has mass or inertia */
} urdf_link;

typedef struct urdf_joint {
    char *name, *id, *parent_name, *child_name, *mimic_name;
    urdf_place place, mimic_place;
    urdf_type type;
    bool typed, limited, has_lower, has_upper;
    int parent, child; /* links */
    urdf_pose origin;
    double axis[3], lower, upper, effort, velocity, damping, friction;
    int mimic; /* the joint whose coordinate it follows, after chains; URDF_NONE: its own */
    double multiplier, offset;
} urdf_joint;

typedef struct urdf_robot {
    char *name;
    const char *file, *text; /* for messages */
    size_t length;
    bool quiet;
    urdf_link *links;
    size_t link_count, link_capacity;
    urdf_joint *joints;
    size_t joint_count, joint_capacity;
    int *order; /* links, parents first */
    int root, errors, renamed;
    bool no_memory;
} urdf_robot;

typedef struct urdf_options {
    bool floating, no_limits, no_friction, actuators;
} urdf_options;

/* False after a message; release also then. */
bool urdf_read(urdf_robot *robot, const char *file, const char *text, size_t length);
bool urdf_check(urdf_robot *robot, const urdf_options *options);
bool urdf_write(const urdf_robot *robot, const urdf_options *options, FILE *out);
void urdf_release(urdf_robot *robot);

/* Prints "file:line:column: error: ..." with the line and the hint, and counts. */
void urdf_error(urdf_robot *robot, urdf_place at, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void urdf_warning(urdf_robot *robot, urdf_place at, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Has it one coordinate? */
bool urdf_is_single(const urdf_joint *joint);
/* Both limits are the same: it does not move. */
bool urdf_is_stuck(const urdf_joint *joint);

#endif
