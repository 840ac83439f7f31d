/* hamel linearize --inputs --outputs: names, and the matrices B, C, D. */
#include "linearize.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* ---- names ---- */

/* The end of a name: a comma outside brackets, or the end of the text. */
static char *end_of_name(char *at)
{
    int depth = 0;
    for (; *at && (*at != ',' || depth > 0); at++)
        depth += (*at == '[') - (*at == ']');
    return at;
}

/* Without white space: q[1, 2] is known as q[1,2]. */
static void squeeze(char *name)
{
    char *to = name;
    for (const char *from = name; *from; from++)
        if (!isspace((unsigned char)*from))
            *to++ = *from;
    *to = 0;
}

int read_name_list(const invocation *call, const char *option, name_list *list)
{
    const char *given = option_value(call, option);
    list->text = given ? memory_copy(given) : NULL;
    if (given && !list->text)
        return EXIT_FAILED;
    for (char *at = list->text; at;) {
        char *end = end_of_name(at), *next = *end ? end + 1 : NULL;
        *end = 0;
        squeeze(at);
        if (*at == 0)
            return usage_error("%s has an empty name", option);
        if (list->count == MOST_NAMES)
            return usage_error("%s takes at most %d names", option, MOST_NAMES);
        list->names[list->count++] = at;
        at = next;
    }
    return EXIT_DONE;
}

/* ---- JSON ---- */

json_t *json_names(const char *const *names, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_string(names[i]));
    return list;
}

static void add_matrix(json_t *object, const char *key, const double *matrix, size_t rows,
                       size_t columns)
{
    json_t *list = matrix ? json_array() : json_null();
    for (size_t i = 0; i < rows && matrix; i++)
        json_array_append_new(list, json_vector(matrix + i * columns, columns));
    json_object_set_new(object, key, list);
}

void add_ports(json_t *object, const hm_linearization *l)
{
    size_t d = l->dimension, inputs = l->input_count, outputs = l->output_count;
    if (inputs) {
        json_object_set_new(object, "inputs", json_names(l->inputs, inputs));
        add_matrix(object, "B", l->B, d, inputs);
        add_matrix(object, "B_rate", l->B_rate, d, inputs);
        add_matrix(object, "B_rate2", l->B_rate2, d, inputs);
    }
    if (outputs) {
        json_object_set_new(object, "outputs", json_names(l->outputs, outputs));
        add_matrix(object, "C", l->C, outputs, d);
    }
    if (inputs && outputs) {
        add_matrix(object, "D", l->D, outputs, inputs);
        add_matrix(object, "D_rate", l->D_rate, outputs, inputs);
        add_matrix(object, "D_rate2", l->D_rate2, outputs, inputs);
    }
}

/* ---- text ---- */

double tidy(double value, double beside)
{
    return fabs(value) < 1e-13 * fabs(beside) ? 0 : positive_zero(value);
}

enum { MOST_COLUMNS = 10 };

/* A matrix with names; `primes` after those of rows and of columns. */
static void print_port_matrix(const char *title, const double *matrix, const char *const *row_names,
                              size_t rows, const char *row_primes, const char *const *column_names,
                              size_t columns, const char *column_primes)
{
    size_t shown = columns < MOST_COLUMNS ? columns : MOST_COLUMNS;
    char name[64];
    if (!matrix)
        return;
    printf("%s%s\n    %-12s", title, shown < columns ? " (--json gives all columns)" : "", "");
    for (size_t j = 0; j < shown; j++) {
        snprintf(name, sizeof name, "%s%s", column_names[j], column_primes);
        printf(" %12s", name);
    }
    printf("\n");
    for (size_t i = 0; i < rows; i++) {
        double largest = 0;
        for (size_t j = 0; j < columns; j++)
            largest = fmax(largest, fabs(matrix[i * columns + j]));
        snprintf(name, sizeof name, "%s%s", row_names[i], row_primes);
        printf("    %-12s", name);
        for (size_t j = 0; j < shown; j++)
            printf(" %12.6g", tidy(matrix[i * columns + j], largest));
        printf("\n");
    }
}

void print_ports(const hm_linearization *l)
{
    size_t d = l->dimension, in = l->input_count, out = l->output_count;
    print_port_matrix("B, by inputs", l->B, l->names, d, "'", l->inputs, in, "");
    print_port_matrix("B of their rates", l->B_rate, l->names, d, "'", l->inputs, in, "'");
    print_port_matrix("B of their second rates", l->B_rate2, l->names, d, "'", l->inputs, in, "''");
    print_port_matrix("C, of outputs", l->C, l->outputs, out, "", l->names, d, "");
    print_port_matrix("D, of outputs by inputs", l->D, l->outputs, out, "", l->inputs, in, "");
    print_port_matrix("D of their rates", l->D_rate, l->outputs, out, "", l->inputs, in, "'");
    print_port_matrix("D of their second rates", l->D_rate2, l->outputs, out, "", l->inputs, in,
                      "''");
}
