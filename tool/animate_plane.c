/* Models that show no places: a point that moves in the plane of two coordinates, or of one and its
 * velocity, with axes. */
#include "animate.h"

#include <stdlib.h>

static bool take(film *f, motion_group group, size_t k, double **out)
{
    const motion *m = &f->motion;
    *out = memory_new(m->rows + 1, sizeof **out);
    for (size_t row = 0; row < m->rows && *out; row++)
        (*out)[row] = m->values[row * m->width + m->first[group] + k];
    return *out != NULL;
}

/* The first coordinate from k on that moves; k where none does. */
static size_t moving(const film *f, size_t k)
{
    const motion *m = &f->motion;
    size_t first = m->first[MOTION_Q], count = m->first[MOTION_Q + 1] - first;
    for (size_t i = k; i < count; i++)
        for (size_t row = 1; row < m->rows; row++)
            if (m->values[row * m->width + first + i] != m->values[first + i])
                return i;
    return k;
}

bool plane_open(film *f)
{
    const hm_model *model = f->session->model;
    size_t n = hm_model_coordinate_count(model), z = hm_model_state_count(model);
    motion_group groups[2] = {n ? MOTION_Q : MOTION_T, n > 1 ? MOTION_Q : n ? MOTION_V : MOTION_Z};
    size_t across = n > 1 ? moving(f, 0) : 0, column = n > 1 ? moving(f, across + 1) : 0;
    if (column >= n && n > 1) { /* only the last one moves */
        column = across;
        across = 0;
    }
    const char *first = n ? hm_model_coordinate_name(model, across) : "t";
    const char *second = n   ? hm_model_coordinate_name(model, column)
                         : z ? hm_model_state_name(model, 0)
                             : "t";
    if (n == 0 && z == 0)
        groups[1] = MOTION_T;
    snprintf(f->across_name, sizeof f->across_name, "%s", first);
    snprintf(f->upward_name, sizeof f->upward_name, "%s%s", second, n == 1 ? "'" : "");
    return take(f, groups[0], across, &f->across) && take(f, groups[1], column, &f->upward);
}

bool plane_draw(const film *f, const hm_canvas *canvas, size_t row, bool whole)
{
    char title[64];
    const motion *m = &f->motion;
    hm_figure *figure = NULL;
    size_t rows = m->rows;
    hm_curve curves[3] = {{.x = f->across, .y = f->upward, .count = rows},
                          {.x = f->across, .y = f->upward, .count = whole ? rows : row + 1},
                          {.x = f->across + row, .y = f->upward + row, .count = 1}};
    hm_curve_style styles[3] = {{HM_CURVE_LINE, 5}, {HM_CURVE_LINE, 0}, {HM_CURVE_DOTS, 1}};
    hm_panel panel = {.x_label = f->across_name,
                      .y_label = f->upward_name,
                      .curves = curves,
                      .curve_count = 3,
                      .styles = styles,
                      .ends = whole};
    snprintf(title, sizeof title, "t = %.*f", f->picture.digits, m->values[row * m->width]);
    hm_status status = hm_figure_create(memory_allocator(), f->look.title, NULL, &figure);
    if (f->look.parts & PICTURE_TIME)
        panel.title = title;
    if (status == HM_OK)
        status = hm_figure_add(figure, &panel);
    if (status == HM_OK) {
        hm_figure_set_size(figure, f->look.width, f->look.height);
        status = hm_figure_draw(figure, canvas);
    }
    hm_figure_destroy(figure);
    return status == HM_OK;
}
