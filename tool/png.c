/* PNG: the same drawing as the SVG, on a canvas of pixels. cairo is optional (CMakeLists.txt) and loaded when
 * a PNG is drawn, in the process that draws: pixman crashes where memory ends while it is loaded. */
#include "command.h"
#include "figure_file.h"
#include "raster.h"

#ifdef HAMEL_HAVE_CAIRO

#include "cairo_calls.h"

int png_check(void)
{
    if (library_try(&cairo_library))
        return EXIT_DONE;
    say("hamel: cairo, which writes PNG, cannot be loaded (%s); use a name that ends in .svg\n",
        cairo_library.why);
    return EXIT_FAILED;
}

#else

int png_check(void)
{
    return usage_error("built without cairo, which writes PNG; use a name that ends in .svg");
}

#endif

const char *png_write(const hm_figure *figure, hm_file *file, double scale)
{
    const char *error = raster_load();
    if (error)
        return error;
    raster *r = raster_create(scale);
    if (!r)
        return hm_status_text(HM_ERR_NOMEM);
    hm_status status = hm_figure_draw(figure, raster_canvas(r));
    error = raster_error(r);
    if (!error && status != HM_OK)
        error = hm_status_text(status);
    if (!error)
        error = raster_write_png(r, file);
    raster_destroy(r);
    return error;
}
