/* Sorting in place and without allocation (qsort may take memory from malloc). */
#ifndef HMI_BASE_SORT_H
#define HMI_BASE_SORT_H

#include <stddef.h>

/* Ascending by `compare`, O(n log n) whatever the order before. Elements that compare equal may
 * change places. size <= HMI_LARGEST_SORTED. */
enum { HMI_LARGEST_SORTED = 64 };
void hmi_sort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *));

#endif
