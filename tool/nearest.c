/* "Did you mean ...?" for commands, options and examples. */
#include "command.h"

#include <string.h>

enum { LONGEST = 40, MOST_EDITS = 2 };

static int smallest(int a, int b, int c)
{
    int least = a < b ? a : b;
    return least < c ? least : c;
}

/* How many letters must be put in, taken out or replaced. */
static int edits(const char *from, const char *to)
{
    size_t n = strlen(from), m = strlen(to);
    int above[LONGEST + 1], row[LONGEST + 1];
    if (n > LONGEST || m > LONGEST)
        return LONGEST;
    for (size_t j = 0; j <= m; j++)
        above[j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        row[0] = (int)i;
        for (size_t j = 1; j <= m; j++)
            row[j] = smallest(row[j - 1] + 1, above[j] + 1,
                              above[j - 1] + (from[i - 1] != to[j - 1]));
        memcpy(above, row, sizeof above);
    }
    return above[m];
}

const char *nearest_name(const char *word, size_t count, const char *(*name)(const void *, size_t),
                         const void *user)
{
    const char *best = NULL;
    int least = MOST_EDITS + 1;
    for (size_t i = 0; i < count; i++) {
        const char *one = name(user, i);
        int distance = edits(word, one);
        if (distance < least && distance < (int)strlen(word)) {
            least = distance;
            best = one;
        }
    }
    return best;
}
