/* The invariants of a syntax tree (ast.h), executed: see base/verify.h.
 * Takes linear time and no memory. Verified: test/unit/model/test_verify.c
 */
#ifndef HMI_LANG_VERIFY_H
#define HMI_LANG_VERIFY_H

#include "base/verify.h"
#include "lang/ast.h"

/* Of a tree that was parsed without errors. */
const char *hmi_tree_verify(const hmi_tree *tree, hmi_violation *violation);

#endif
