/* A report as one HTML page that needs nothing else: style, data and script are inside of it.
 *
 * The page may run its own script and nothing more: the policy names the script by its hash, and no
 * address, so that the page cannot fetch or send anything. */
#include "report.h"

#include <stdlib.h>

bool report_possible(void)
{
    return web_js_length > 0;
}

static void add_head(report_text *out, const char *title)
{
    text_adds(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                   "script-src 'sha256-");
    text_add(out, web_hash, web_hash_length);
    text_adds(out, "'; style-src 'unsafe-inline'; font-src data:; img-src data: blob:; "
                   "base-uri 'none'; form-action 'none'\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                   "<meta name=\"generator\" content=\"hamel ");
    text_add_escaped(out, hm_version());
    text_adds(out, "\">\n<title>");
    text_add_escaped(out, title);
    text_adds(out, "</title>\n<style>\n");
    text_add(out, web_css, web_css_length);
    text_adds(out, "</style>\n</head>\n<body>\n<main id=\"report\">\n<h1>");
    text_add_escaped(out, title);
    text_adds(out, "</h1>\n<noscript><p>This report is drawn by a script inside of this file, "
                   "which your browser has switched off.</p></noscript>\n</main>\n");
}

static bool add_data(report_text *out, const char *id, const char *json, size_t length)
{
    if (!json)
        return false;
    text_adds(out, "<script type=\"application/json\" id=\"");
    text_adds(out, id);
    text_adds(out, "\">\n");
    text_add_json(out, json, length);
    text_adds(out, "\n</script>\n");
    return true;
}

bool report_page(report_text *out, const char *title, json_t *data, const motion *m)
{
    report_text columns = {0}, said = {0};
    char *json = json_dumps(data, JSON_COMPACT | JSON_REAL_PRECISION(17));
    motion_write(m, &columns);
    if (json)
        text_adds(&said, json);
    add_head(out, title);
    bool good = json && add_data(out, "data", said.bytes, said.length) &&
                add_data(out, "motion", columns.bytes, columns.length);
    text_adds(out, "<script>");
    text_add(out, web_js, web_js_length);
    text_adds(out, "</script>\n</body>\n</html>\n");
    good = good && !out->failed && !columns.failed && !said.failed;
    text_free(&columns);
    text_free(&said);
    free(json);
    return good;
}
