/* Vectors in space, for pictures. */
#ifndef HAMEL_TOOL_VEC_H
#define HAMEL_TOOL_VEC_H

#include <math.h>
#include <stdbool.h>

typedef struct vec {
    double x, y, z;
} vec;

static inline vec vec_add(vec a, vec b)
{
    return (vec){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline vec vec_sub(vec a, vec b)
{
    return (vec){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline vec vec_scale(double s, vec a)
{
    return (vec){s * a.x, s * a.y, s * a.z};
}

/* a + s b */
static inline vec vec_along(vec a, double s, vec b)
{
    return (vec){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static inline double vec_dot(vec a, vec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline vec vec_cross(vec a, vec b)
{
    return (vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline double vec_length(vec a)
{
    return sqrt(vec_dot(a, a));
}

/* Of length 1; 0 stays 0. */
static inline vec vec_unit(vec a)
{
    double length = vec_length(a);
    return length > 0 ? vec_scale(1 / length, a) : a;
}

/* One of length 1 that is perpendicular to a unit vector. */
static inline vec vec_across(vec a)
{
    vec other = fabs(a.x) < 0.6 ? (vec){1, 0, 0} : (vec){0, 1, 0};
    return vec_unit(vec_cross(a, other));
}

static inline bool vec_finite(vec a)
{
    return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}

static inline vec vec_min(vec a, vec b)
{
    return (vec){fmin(a.x, b.x), fmin(a.y, b.y), fmin(a.z, b.z)};
}

static inline vec vec_max(vec a, vec b)
{
    return (vec){fmax(a.x, b.x), fmax(a.y, b.y), fmax(a.z, b.z)};
}

#endif
