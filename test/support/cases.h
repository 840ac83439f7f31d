/* test/data/cases.json, the oracle: see its "conventions". */
#ifndef TEST_SUPPORT_CASES_H
#define TEST_SUPPORT_CASES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* The whole file; the caller releases it with json_decref. Fails the test where it cannot. */
json_t *cases_load(void);
/* The array of cases in it, and one of them by its id (NULL where there is none). */
const json_t *cases_list(const json_t *file);
const json_t *cases_find(const json_t *file, const char *id);

/* A number, vector or matrix of the oracle, row by row. */
enum { CASE_MOST_NUMBERS = 512 };
typedef struct case_numbers {
    size_t count;
    double x[CASE_MOST_NUMBERS];
} case_numbers;

/* False where the object has no such member, or null. */
bool case_read(const json_t *object, const char *key, case_numbers *to);

#endif
