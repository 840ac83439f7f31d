/* Pieces of text: lists that are separated outside brackets. */
#ifndef HMI_SWEEP_PIECES_H
#define HMI_SWEEP_PIECES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct hmi_text_piece {
    const char *text; /* NULL: nothing is left */
    size_t length;
} hmi_text_piece;

/* Without blanks at either end. */
hmi_text_piece hmi_piece_trim(hmi_text_piece piece);
/* Cuts *rest at the first `separator` outside brackets; false: nothing is left. An == is no =. */
bool hmi_piece_next(hmi_text_piece *rest, char separator, hmi_text_piece *first);
size_t hmi_piece_count(hmi_text_piece all, char separator);
/* "NAME(INSIDE)" as its two parts; false: it is no call. */
bool hmi_piece_call(hmi_text_piece piece, hmi_text_piece *name, hmi_text_piece *inside);
/* A plain decimal number, with an optional sign; false: it is something else. */
bool hmi_piece_number(hmi_text_piece piece, double *value);

#endif
