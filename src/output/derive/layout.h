/* Lines that fit a terminal or a page: measuring and breaking printed expressions. */
#ifndef HMI_OUTPUT_DERIVE_LAYOUT_H
#define HMI_OUTPUT_DERIVE_LAYOUT_H

#include "base/text.h"

/* Text for a terminal: columns of a line, and the indent of lines that continue one. */
enum { HMI_TEXT_COLUMNS = 100, HMI_TEXT_FURTHER_INDENT = 8 };

/* Columns on a terminal: combining marks take none. */
int hmi_display_width(const char *text);

/* Columns that LaTeX takes for a formula, roughly: commands count as one letter, names of functions
 * as themselves, fractions as numerator and denominator side by side. */
int hmi_latex_width(const char *text);

/* Breaks the last line of the text, which starts at offset `start`, before " + " and " − " where it
 * is wider than `limit` columns; further lines are indented. Breaks outside of brackets come first. */
void hmi_wrap_text(hmi_text *text, size_t start, int limit, int indent);

/* The same for one line of align*; breaks only outside of \left ... \right and braces. */
void hmi_wrap_latex(hmi_text *text, size_t start, int limit);

#endif
