/* Families that are declared with the bounds of their indices: coord q[1..N, 0..M], param a[0..2]. */
#ifndef HMI_MODEL_BUILD_FAMILY_H
#define HMI_MODEL_BUILD_FAMILY_H

#include "model/build/statements.h"

typedef struct hmi_family {
    const char *base; /* its name */
    const hmi_bounds *bounds;
    uint32_t index_count;
    size_t count; /* of members, row by row */
} hmi_family;

/* Evaluates the bounds of an entry; reports a family without members or with more than `most`. */
bool hmi_build_family(hmi_builder *b, const hmi_entry *entry, size_t most, hmi_family *out);
size_t hmi_index_range(const hmi_family *family, uint32_t index);
/* "q[2]", "q[1,0]": the name of member k, in the model's arena. NULL without memory. */
const char *hmi_member_name(hmi_builder *b, const hmi_family *family, size_t k);
/* Declares the name for symbols of a kind that count from `first`. */
bool hmi_declare_family(hmi_builder *b, const hmi_entry *entry, const hmi_family *family,
                        const char *what, hmi_symbol_kind kind, size_t first);

#endif
