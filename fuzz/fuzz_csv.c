/* Bytes -> CSV -> a page of plots as SVG.
 *
 * Checked besides crashes: a failure says why, nothing is leaked, the page is drawn to its end.
 */
#include <hamel/hamel.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 48 << 20 };

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void *limited_resize(void *user, void *ptr, size_t old_size, size_t new_size)
{
    size_t *live = user;
    if (new_size == 0) {
        *live -= old_size;
        free(ptr);
        return NULL;
    }
    if (*live - old_size + new_size > MOST_BYTES)
        return NULL;
    void *result = realloc(ptr, new_size);
    if (result)
        *live += new_size - old_size;
    return result;
}

/* Keeps the last bytes only. */
static bool keep_end(void *user, const char *bytes, size_t length)
{
    if (length >= 7)
        memcpy(user, bytes + length - 7, 7);
    return true;
}

static void draw(const hm_allocator *allocator, const hm_table *table)
{
    hm_figure *figure = NULL;
    char end[8] = "";
    hm_status status = hm_figure_create(allocator, hm_table_name(table, 0), NULL, &figure);
    if (status == HM_OK)
        status = hm_figure_run(figure, table);
    if (status == HM_OK)
        status = hm_figure_svg(figure, keep_end, end);
    require(status == HM_OK || status == HM_ERR_NOMEM);
    if (status == HM_OK)
        require(strcmp(end, "</svg>\n") == 0);
    hm_figure_destroy(figure);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t live = 0;
    hm_allocator allocator = {limited_resize, &live};
    hm_context *context = hm_context_create(&allocator);
    hm_table *table = NULL;
    if (context) {
        hm_status status = hm_table_parse_csv(context, "fuzz", (const char *)data, size, &table);
        if (status == HM_OK)
            draw(&allocator, table);
        else if (status != HM_ERR_NOMEM)
            require(hm_context_error_count(context) > 0);
    }
    hm_table_destroy(table);
    hm_context_destroy(context);
    require(live == 0);
    return 0;
}
