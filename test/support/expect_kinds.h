/* What the files that read `# expect` lines share: expect.c (motions) and expect_analysis.c
 * (classification, comparison, linearised motion). The lines are described in expect.h. */
#ifndef TEST_SUPPORT_EXPECT_KINDS_H
#define TEST_SUPPORT_EXPECT_KINDS_H

#include "support/motion.h"

enum { EXPECT_TEXT = 2000 };

/* One line, taken apart; pointers into `text` and `quoted`. */
typedef struct expect_line {
    char text[EXPECT_TEXT], quoted[EXPECT_TEXT];
    const char *kind, *time, *with, *list, *note;
    const char *other; /* what stood in quotes; NULL without */
    double tolerance;
} expect_line;

typedef struct expect_subject {
    const char *path;
    char source[400];
} expect_subject;

typedef void (*expect_kind)(const expect_subject *s, expect_line *l, motion *m);
void expect_class(const expect_subject *s, expect_line *l, motion *m);
void expect_growth(const expect_subject *s, expect_line *l, motion *m);
void expect_freedom(const expect_subject *s, expect_line *l, motion *m);
void expect_symmetry(const expect_subject *s, expect_line *l, motion *m);
void expect_other(const expect_subject *s, expect_line *l, motion *m);
void expect_eigenvalue(const expect_subject *s, expect_line *l, motion *m);

char *expect_trim(char *text);
/* Ends `text` at the mark and returns what follows it; NULL where there is no mark. */
char *expect_cut(char *text, const char *mark);
/* The next part of a list, up to a comma outside brackets; NULL at its end. */
char *expect_part(char **rest);
/* An expression of parameters. */
double expect_number(const motion *m, const char *expression);
/* One comparison of the line: fails the test, or is recorded. */
void expect_quantity(const expect_subject *s, const expect_line *l, const motion *m,
                     const char *quantity, double expected, double actual);

#endif
