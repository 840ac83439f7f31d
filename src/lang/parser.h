/* Tokens -> syntax tree: expressions by precedence, one function per statement.
 *
 * After an error the rest of the statement is skipped and parsing goes on, so that several errors
 * are reported in one pass.
 */
#ifndef HMI_LANG_PARSER_H
#define HMI_LANG_PARSER_H

#include "lang/ast.h"

enum {
    HMI_MOST_SOURCE_BYTES = 8 << 20,
    HMI_MOST_TOTAL_BYTES = 32 << 20, /* with everything included */
    HMI_MOST_INCLUDES = 200,
    HMI_MOST_INCLUDE_DEPTH = 16
};

/* Parses source `file` of the context (and what it includes) into a tree. The tree must be
 * released also after a failure. Statements of one more source follow those that are there. */
void hmi_tree_init(hmi_tree *tree, hm_context *context);
void hmi_tree_release(hmi_tree *tree);
hm_status hmi_parse_source(hmi_tree *tree, uint32_t file);

/* Parses one expression that fills the whole source, such as the value of --set. NULL on error. */
hmi_ast *hmi_parse_expression(hmi_tree *tree, uint32_t file);
/* Parses "x = 1, x' = 0.2, t = 0" into entries (targets may be `t`). */
hm_status hmi_parse_assignments(hmi_tree *tree, uint32_t file, hmi_entry **entries, size_t *count);

/* Reads a file into the context's sources, refusing what is too large or no regular file.
 * HMI_NO_FILE on failure, reported at `at`. */
uint32_t hmi_load_source(hm_context *context, const char *path, const char *shown_name,
                         hmi_span at);

#endif
