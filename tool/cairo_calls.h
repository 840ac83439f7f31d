/* What is used of cairo, through a table (library.h). */
#ifndef HAMEL_TOOL_CAIRO_CALLS_H
#define HAMEL_TOOL_CAIRO_CALLS_H

#include "library.h"

#ifdef HAMEL_HAVE_CAIRO

#include <cairo.h>

/* clang-format off */
#define CAIRO_FUNCTIONS(X)                                                                       \
    X(cairo_arc) X(cairo_create) X(cairo_destroy) X(cairo_fill) X(cairo_font_options_create)     \
    X(cairo_font_options_destroy) X(cairo_font_options_set_antialias)                            \
    X(cairo_font_options_set_hint_metrics) X(cairo_image_surface_create) X(cairo_line_to)        \
    X(cairo_image_surface_get_data) X(cairo_image_surface_get_stride) X(cairo_surface_flush)     \
    X(cairo_move_to) X(cairo_new_path) X(cairo_new_sub_path) X(cairo_paint) X(cairo_restore)     \
    X(cairo_rotate) X(cairo_save) X(cairo_scale) X(cairo_select_font_face) X(cairo_set_dash)     \
    X(cairo_set_font_options) X(cairo_set_font_size) X(cairo_set_line_cap)                       \
    X(cairo_set_line_join) X(cairo_set_line_width) X(cairo_set_source_rgb)                       \
    X(cairo_set_source_rgba) X(cairo_show_text) X(cairo_status) X(cairo_status_to_string)        \
    X(cairo_stroke) X(cairo_surface_destroy) X(cairo_surface_write_to_png_stream)                \
    X(cairo_text_extents) X(cairo_translate)
/* clang-format on */

/* Pointers alone, in the order of the lists. */
typedef struct cairo_calls {
#define X(name) __typeof__(name) *name##_;
    CAIRO_FUNCTIONS(X)
#undef X
} cairo_calls;

extern cairo_calls cairo_table;
extern library cairo_library;

#define cairo_arc                           (*cairo_table.cairo_arc_)
#define cairo_create                        (*cairo_table.cairo_create_)
#define cairo_destroy                       (*cairo_table.cairo_destroy_)
#define cairo_fill                          (*cairo_table.cairo_fill_)
#define cairo_font_options_create           (*cairo_table.cairo_font_options_create_)
#define cairo_font_options_destroy          (*cairo_table.cairo_font_options_destroy_)
#define cairo_font_options_set_antialias    (*cairo_table.cairo_font_options_set_antialias_)
#define cairo_font_options_set_hint_metrics (*cairo_table.cairo_font_options_set_hint_metrics_)
#define cairo_image_surface_create          (*cairo_table.cairo_image_surface_create_)
#define cairo_image_surface_get_data        (*cairo_table.cairo_image_surface_get_data_)
#define cairo_image_surface_get_stride      (*cairo_table.cairo_image_surface_get_stride_)
#define cairo_line_to                       (*cairo_table.cairo_line_to_)
#define cairo_move_to                       (*cairo_table.cairo_move_to_)
#define cairo_new_path                      (*cairo_table.cairo_new_path_)
#define cairo_new_sub_path                  (*cairo_table.cairo_new_sub_path_)
#define cairo_paint                         (*cairo_table.cairo_paint_)
#define cairo_restore                       (*cairo_table.cairo_restore_)
#define cairo_rotate                        (*cairo_table.cairo_rotate_)
#define cairo_save                          (*cairo_table.cairo_save_)
#define cairo_scale                         (*cairo_table.cairo_scale_)
#define cairo_select_font_face              (*cairo_table.cairo_select_font_face_)
#define cairo_set_dash                      (*cairo_table.cairo_set_dash_)
#define cairo_set_font_options              (*cairo_table.cairo_set_font_options_)
#define cairo_set_font_size                 (*cairo_table.cairo_set_font_size_)
#define cairo_set_line_cap                  (*cairo_table.cairo_set_line_cap_)
#define cairo_set_line_join                 (*cairo_table.cairo_set_line_join_)
#define cairo_set_line_width                (*cairo_table.cairo_set_line_width_)
#define cairo_set_source_rgb                (*cairo_table.cairo_set_source_rgb_)
#define cairo_set_source_rgba               (*cairo_table.cairo_set_source_rgba_)
#define cairo_show_text                     (*cairo_table.cairo_show_text_)
#define cairo_status                        (*cairo_table.cairo_status_)
#define cairo_status_to_string              (*cairo_table.cairo_status_to_string_)
#define cairo_stroke                        (*cairo_table.cairo_stroke_)
#define cairo_surface_destroy               (*cairo_table.cairo_surface_destroy_)
#define cairo_surface_flush                 (*cairo_table.cairo_surface_flush_)
#define cairo_surface_write_to_png_stream   (*cairo_table.cairo_surface_write_to_png_stream_)
#define cairo_text_extents                  (*cairo_table.cairo_text_extents_)
#define cairo_translate                     (*cairo_table.cairo_translate_)

#endif

#endif
