/* Pictures of a motion: what the model draws (hm_drawing), seen by a camera, on an hm_canvas.
 *
 * A picture is made once for a motion, so that the camera and all scales stay the same over time; each
 * instant is then turned into shapes on the page, which are drawn from the farthest to the nearest.
 * Lengths on the page are units of the canvas with y downward; lengths of the model are the model's.
 *
 * Objects: picture (the motion, what is known of all of it, the camera), shapes (what one instant gave).
 */
#ifndef HAMEL_TOOL_PICTURE_H
#define HAMEL_TOOL_PICTURE_H

#include "report.h"
#include "vec.h"

/* ---- shapes on the page (picture_shapes.c) ---- */

typedef enum shape_kind { SHAPE_POLYGON, SHAPE_LINE, SHAPE_BALL, SHAPE_MARK } shape_kind;

typedef struct shape {
    shape_kind kind;
    uint32_t color;
    double depth;        /* the distance from the eye */
    double width;        /* lines: of the line; balls and marks: the radius */
    size_t first, count; /* points */
    size_t order;        /* of equal depth the first one is drawn first */
} shape;

typedef struct shapes {
    shape *list;
    size_t count, capacity;
    double *points; /* x, y, ... */
    size_t point_count, point_capacity;
    bool failed; /* without memory */
} shapes;

void shapes_clear(shapes *s);
void shapes_free(shapes *s);
/* Points as x0, y0, ...; what is not finite is left out. */
void shapes_add(shapes *s, shape_kind kind, const double *points, size_t count, double depth,
                double width, uint32_t color);
/* From the farthest to the nearest. false: the canvas failed. */
bool shapes_draw(shapes *s, const hm_canvas *canvas);

/* picture_color.c: a name of CSS or #rgb, #rrggbb. */
bool color_find(const char *name, uint32_t *color);
uint32_t color_of_drawing(const hm_drawing *drawing, size_t index);
/* a where part is 0, b where it is 1. */
uint32_t color_mix(uint32_t a, uint32_t b, double part);

/* ---- cameras (picture_camera.c) ---- */

typedef struct camera {
    bool planar;         /* orthographic, onto x and y; else in perspective */
    vec right, up, back; /* on the page; back is from what is seen towards the eye */
    vec eye;             /* planar: the middle of the page */
    double focal; /* units of the page by tangents of angles; planar: by units of the model */
    double middle_x, middle_y, near;
} camera;

/* false: behind the eye. depth may be NULL. */
bool camera_see(const camera *c, vec p, double page[2], double *depth);
/* Units of the page by unit of length at this depth. */
double camera_scale(const camera *c, double depth);
/* The part of a line that is before the eye; false: none. */
bool camera_clip(const camera *c, vec *a, vec *b);

/* ---- the picture ---- */

typedef enum picture_part {
    PICTURE_PATHS = 1,
    PICTURE_FORCES = 2,
    PICTURE_GROUND = 4,
    PICTURE_TIME = 8,
    PICTURE_SCALE = 16,
    PICTURE_LABELS = 32,
    PICTURE_ALL = 63
} picture_part;

typedef struct picture_options {
    double width, height;
    unsigned parts; /* picture_part */
    bool follow;    /* the camera moves with the middle of what is drawn */
    bool turned;    /* the camera looks from azimuth, elevation, in degrees; else it is chosen */
    double azimuth, elevation;
    const char *title; /* NULL: none */
} picture_options;

enum { FORCE_KINDS = 3 };

typedef struct picture {
    const hm_model *model;
    const motion *motion;
    picture_options options;
    bool planar;
    vec up; /* against gravity; in the plane y */
    vec low,
        high; /* of everything, over the whole motion; where the camera follows, from the middle */
    double floor; /* the lowest place, upwards */
    double unit;  /* the largest edge of that: sizes of marks and arrows are parts of it */
    camera camera;
    double largest_force[FORCE_KINDS]; /* over the whole motion, at the places that show them */
    double *largest_arrow;             /* by drawing */
    bool *force_here;                  /* by drawing: forces are shown at its place; once a place */
    shapes shapes;
    double *line; /* scratch: points of a path, motion->rows + 1 */
    int digits;   /* of times */
} picture;

/* Looks at the whole motion. false: no memory. */
bool picture_open(picture *p, const hm_model *model, const motion *m,
                  const picture_options *options);
void picture_close(picture *p);

/* One instant. */
bool picture_draw(picture *p, const hm_canvas *canvas, size_t row);
/* Several, the earlier ones paler, with whole paths: rows in their order. */
bool picture_draw_strobe(picture *p, const hm_canvas *canvas, const size_t *rows, size_t count);

/* ---- values (picture_values.c) ---- */

double picture_number(const picture *p, size_t row, hm_drawing_part part);
vec picture_vector(const picture *p, size_t row, hm_drawing_part part);
/* Columns of a frame. */
void picture_frame(const picture *p, size_t row, hm_drawing_part part, vec axes[3]);
/* The middle of what is drawn at this row. */
vec picture_middle(const picture *p, size_t row);
/* What the camera moves by: the middle where it follows, else 0. */
vec picture_offset(const picture *p, size_t row);
/* Every place that must be seen at this row, with the radius of what is there. */
typedef void (*mark_function)(void *user, vec place, double radius);
void picture_marks(const picture *p, size_t row, mark_function f, void *user);
/* Does the first part of the drawing consist of coordinates, so that forces are those on the place? */
bool picture_is_place(const hm_drawing *d);
/* The k-th kind of force on these coordinates. */
vec picture_force(const picture *p, size_t row, int kind, const hm_drawing *d);

/* picture_camera.c: chooses the camera, once the rest is known. */
void picture_aim(picture *p);
camera picture_camera(const picture *p, size_t row);

/* picture_solids.c: shapes of what is drawn at a row; fade: 0 full colours .. 1 white. */
void picture_add_solids(picture *p, const camera *c, size_t row, double fade);
void picture_add_arrow(picture *p, const camera *c, vec from, vec by, uint32_t color);

/* picture_round.c: balls, discs and cylinders in space and in the plane. */
typedef struct solid {
    picture *p;
    const camera *camera;
    uint32_t color;
    double fade;
} solid;
void solid_facet(const solid *s, const vec *corners, size_t count, vec normal, double pale);
void solid_rod(const solid *s, vec a, vec b, double radius);
void solid_ball(const solid *s, vec center, double radius);
void solid_turned_ball(const solid *s, vec center, double radius, const vec axes[3]);
void solid_disc(const solid *s, vec center, double radius, const vec axes[3]);
void solid_cylinder(const solid *s, vec a, vec b, double radius);
void solid_box(const solid *s, vec center, const vec axes[3], vec edges);

/* picture_ground.c: what lies below, and what is written beside. */
bool picture_draw_ground(picture *p, const camera *c, const hm_canvas *canvas, size_t row);
bool picture_draw_scale(picture *p, const camera *c, const hm_canvas *canvas);
bool picture_draw_legend(picture *p, const hm_canvas *canvas);

/* 1, 2 or 5 times a power of ten, at most x. */
double round_length(double x);

extern const struct force_kind {
    motion_group group;
    const char *text, *short_text;
    uint32_t color;
} force_kinds[FORCE_KINDS];

#endif
