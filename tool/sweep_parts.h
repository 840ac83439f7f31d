/* Parts of a sweep: files with the rows of some points each, in any order of points. Every process of a sweep
 * under mpirun writes one, FILE.part-RANK, with a line "#" behind each piece of work it was given. What is in the
 * parts is found again by reading them, so nothing else needs to be kept: not who had which points. */
#ifndef HAMEL_TOOL_SWEEP_PARTS_H
#define HAMEL_TOOL_SWEEP_PARTS_H

#include "sweep.h"

/* Finished points first .. end - 1, whose rows are the `length` bytes from `at` on of a file. */
typedef struct segment {
    size_t first, end, file;
    long at, length;
} segment;

typedef struct point_range {
    size_t first, end;
} point_range;

typedef struct part_list {
    char **paths;
    size_t count, room;
    segment *segments;
    size_t segment_count, segment_room;
} part_list;

/* FILE.rows and FILE.part-*, as far as they exist. false: no memory. */
bool parts_find(const sweep *s, part_list *parts);
/* What is finished in all of them, sorted by points. An exit status. */
int parts_read(const sweep *s, part_list *parts);
/* Points of the sweep that no part has; to be freed. NULL: no memory. */
point_range *parts_missing(const sweep *s, const part_list *parts, size_t *count);
/* The file of this process, cut behind its last finished point where it was there before, becomes s->rows. */
int parts_open(sweep *s, int rank, bool resume);
/* All rows in order, in FILE.rows, which becomes s->rows. */
bool parts_gather(sweep *s, const part_list *parts);
/* The parts are no longer needed. */
void parts_remove(const sweep *s, const part_list *parts);
void parts_release(part_list *parts);

#endif
