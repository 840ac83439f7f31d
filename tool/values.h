/* Numbers as JSON and as aligned text. */
#ifndef HAMEL_TOOL_VALUES_H
#define HAMEL_TOOL_VALUES_H

#include "memory.h"

#include <hamel/hamel.h>
#include <jansson.h>
#include <stdio.h>

/* null for NaN and infinities, which JSON does not have. */
json_t *json_number_or_null(double value);
/* Members of an object. */
void set_text(json_t *object, const char *key, const char *text); /* NULL: null */
void set_number(json_t *object, const char *key, double value);
void set_count(json_t *object, const char *key, json_int_t count);
/* null for NULL. */
json_t *json_vector(const double *values, size_t count);
/* Rows, or {rows, cols, entries} beyond 200 coordinates. */
json_t *json_matrix(const hm_matrix *matrix, size_t coordinates);
/* {NAME: value, ...} by constraint row; empty for NULL. */
json_t *json_by_constraint(const hm_model *model, const double *values);
/* Prints with 17 significant digits and a final newline; false when writing failed. */
bool json_print(json_t *value);

/* -0 as 0, for reading. */
double positive_zero(double value);
/* "name = value" for a vector by coordinate. */
void print_vector(const hm_model *model, const char *title, const double *values);
/* A small matrix in rows, or its entries. */
void print_matrix(const char *title, const hm_matrix *matrix);

#endif
