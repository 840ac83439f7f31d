/* The entry points of parser.h: a whole model, one expression, a list of assignments. */
#include "lang/parser_internal.h"
#include "lang/verify.h"

void hmi_tree_init(hmi_tree *tree, hm_context *context)
{
    *tree = (hmi_tree){.context = context};
    hmi_arena_init(&tree->arena, &context->allocator);
    hmi_names_init(&tree->names, &context->allocator);
}

void hmi_tree_release(hmi_tree *tree)
{
    if (!tree->context)
        return;
    hmi_arena_release(&tree->arena);
    hmi_names_release(&tree->names);
}

hm_status hmi_parse_source(hmi_tree *tree, uint32_t file)
{
    int includes = 0;
    hmi_statement **tail = &tree->statements;
    while (*tail) /* what another source gave */
        tail = &(*tail)->next;
    hmi_include_frame frame = {hmi_context_source(tree->context, file)->path, NULL};
    hm_status status = hmi_parse_file(NULL, tree, file, &includes, &frame, &tail, &tree->contains);
    if (status == HM_OK)
        HMI_VERIFY(hmi_tree_verify(tree, &(hmi_violation){.text = ""}));
    return status;
}

hmi_ast *hmi_parse_expression(hmi_tree *tree, uint32_t file)
{
    hmi_parser parser;
    hmi_parser_start(&parser, tree, file);
    hmi_parser_skip_newlines(&parser);
    hmi_ast *e = hmi_parse_expr(&parser);
    hmi_parser_skip_newlines(&parser);
    if (e && parser.token.kind != HMI_TOK_END) {
        hmi_parser_unexpected(&parser, "an operator or the end");
        return NULL;
    }
    return e;
}

hm_status hmi_parse_assignments(hmi_tree *tree, uint32_t file, hmi_entry **entries, size_t *count)
{
    hmi_parser parser;
    size_t errors = tree->context->errors;
    hmi_parser_start(&parser, tree, file);
    hmi_parser_skip_newlines(&parser);
    *entries = NULL;
    *count = 0;
    if (parser.token.kind != HMI_TOK_END &&
        hmi_parse_assignment_list(&parser, false, entries, count)) {
        hmi_parser_skip_newlines(&parser);
        if (parser.token.kind != HMI_TOK_END)
            hmi_parser_unexpected(&parser, "',' or the end");
    }
    return hmi_context_status(tree->context, errors);
}
