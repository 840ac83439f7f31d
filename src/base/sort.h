/* Sorting in place and without allocation (qsort may take memory from malloc). Inline, so that
 * `compare` and the size are known where it is called. */
#ifndef HMI_BASE_SORT_H
#define HMI_BASE_SORT_H

#include <assert.h>
#include <stddef.h>
#include <string.h>

enum { HMI_LARGEST_SORTED = 64 };

static inline void hmi_sort_swap(char *x, char *y, size_t size)
{
    char kept[HMI_LARGEST_SORTED];
    memcpy(kept, x, size);
    memcpy(x, y, size);
    memcpy(y, kept, size);
}

static inline void hmi_sort_sift_down(char *base, size_t root, size_t count, size_t size,
                                      int (*compare)(const void *, const void *))
{
    for (size_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && compare(base + child * size, base + (child + 1) * size) < 0)
            child++;
        if (compare(base + root * size, base + child * size) >= 0)
            return;
        hmi_sort_swap(base + root * size, base + child * size, size);
    }
}

/* Heap sort: ascending by `compare`, O(n log n) whatever the order before. Elements that compare
 * equal may change places. size <= HMI_LARGEST_SORTED. */
static inline void hmi_sort(void *base, size_t count, size_t size,
                            int (*compare)(const void *, const void *))
{
    assert(size <= HMI_LARGEST_SORTED);
    for (size_t i = count / 2; i-- > 0;)
        hmi_sort_sift_down(base, i, count, size, compare);
    for (size_t end = count; end-- > 1;) {
        hmi_sort_swap(base, (char *)base + end * size, size);
        hmi_sort_sift_down(base, 0, end, size, compare);
    }
}

#endif
