/* Heap sort: see sort.h. */
#include "base/sort.h"

#include <assert.h>
#include <string.h>

static void swap(char *x, char *y, size_t size)
{
    char kept[HMI_LARGEST_SORTED];
    memcpy(kept, x, size);
    memcpy(x, y, size);
    memcpy(y, kept, size);
}

static void sift_down(char *base, size_t root, size_t count, size_t size,
                      int (*compare)(const void *, const void *))
{
    for (size_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && compare(base + child * size, base + (child + 1) * size) < 0)
            child++;
        if (compare(base + root * size, base + child * size) >= 0)
            return;
        swap(base + root * size, base + child * size, size);
    }
}

void hmi_sort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *))
{
    assert(size <= HMI_LARGEST_SORTED);
    for (size_t i = count / 2; i-- > 0;)
        sift_down(base, i, count, size, compare);
    for (size_t end = count; end-- > 1;) {
        swap(base, (char *)base + end * size, size);
        sift_down(base, 0, end, size, compare);
    }
}
