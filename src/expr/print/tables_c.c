/* Tables of the model as C functions, with their knots and coefficients: what expr/graph/table.c does with
 * them, written out. Operations on pieces that are held are not: they belong to runs. */
#include "expr/print/print.h"

#include "expr/graph/table.h"

#include <math.h>

static void add_numbers(hmi_text *out, const double *value, size_t count)
{
    char buffer[HMI_NUMBER_TEXT];
    for (size_t k = 0; k < count; k++)
        hmi_text_addf(out, "%s%s%s",
                      k == 0  ? ""
                      : k % 4 ? ", "
                              : ",\n        ",
                      value[k] < 0 ? "-" : "", hmi_number_text(fabs(value[k]), buffer));
}

static void add_array(hmi_text *out, const char *name, const double *value, size_t count)
{
    hmi_text_addf(out, "    static const double %s[%zu] = {\n        ", name, count);
    add_numbers(out, value, count);
    hmi_text_add(out, "};\n");
}

static const char polynomial[] =
    "/* A derivative of c[0] + c[1] u + c[2] u^2 + c[3] u^3. */\n"
    "static inline double hm_piece(const double *c, int order, double u)\n"
    "{\n"
    "    return order == 0   ? c[0] + u * (c[1] + u * (c[2] + u * c[3]))\n"
    "           : order == 1 ? c[1] + u * (2 * c[2] + u * (3 * c[3]))\n"
    "           : order == 2 ? 2 * c[2] + u * (6 * c[3])\n"
    "                        : 6 * c[3];\n"
    "}\n\n"
    "/* x := x less the knot that the piece begins with; the number of the piece, -1: x is "
    "outside.\n"
    " * outside: 0 an error, 1 goes on, 2 periodic. */\n"
    "static inline int hm_locate(const double *knot, int count, int outside, double *x)\n"
    "{\n"
    "    double first = knot[0], last = knot[count - 1];\n"
    "    double slack = 1e-12 * (last - first) + 8e-16 * fmax(fabs(first), fabs(last));\n"
    "    if (!isfinite(*x) || (outside == 0 && !(*x >= first - slack && *x <= last + slack)))\n"
    "        return -1;\n"
    "    if (outside == 2)\n"
    "        *x = fmin(fmax(*x - (last - first) * floor((*x - first) / (last - first)), first), "
    "last);\n"
    "    int low = 0, high = count;\n"
    "    while (high > low) {\n"
    "        int middle = (low + high) / 2;\n"
    "        if (knot[middle] <= *x)\n"
    "            low = middle + 1;\n"
    "        else\n"
    "            high = middle;\n"
    "    }\n"
    "    if (outside != 1)\n"
    "        low = low == 0 ? 1 : low == count ? count - 1 : low;\n"
    "    *x -= knot[low ? low - 1 : 0];\n"
    "    return low;\n"
    "}\n\n";

static int outside_number(const hmi_table *table)
{
    return table->outside == HMI_OUTSIDE_ERROR ? 0 : table->outside == HMI_OUTSIDE_PERIODIC ? 2 : 1;
}

static void add_line(hmi_text *out, const hmi_table *table)
{
    size_t n = table->axis[0].count;
    hmi_text_addf(out, "static double hm_table_%s(double x, int order)\n{\n", table->name);
    add_array(out, "knot", table->axis[0].knot, n);
    add_array(out, "piece", table->piece, 4 * (n + 1));
    hmi_text_addf(out,
                  "    int k = hm_locate(knot, %zu, %d, &x);\n"
                  "    return k < 0 ? NAN : hm_piece(piece + 4 * k, order, x);\n}\n\n",
                  n, outside_number(table));
}

static void add_grid(hmi_text *out, const hmi_table *table)
{
    size_t nx = table->axis[0].count, ny = table->axis[1].count;
    hmi_text_addf(out, "static double hm_table_%s(double x, double y, int in_x, int in_y)\n{\n",
                  table->name);
    add_array(out, "x_knot", table->axis[0].knot, nx);
    add_array(out, "y_knot", table->axis[1].knot, ny);
    add_array(out, "piece", table->piece, 16 * (nx + 1) * (ny + 1));
    hmi_text_addf(
        out,
        "    double row[4];\n"
        "    int i = hm_locate(x_knot, %zu, %d, &x), j = hm_locate(y_knot, %zu, %d, &y);\n"
        "    for (int p = 0; p < 4 && i >= 0 && j >= 0; p++)\n"
        "        row[p] = hm_piece(piece + 16 * (i * %zu + j) + 4 * p, in_y, y);\n"
        "    return i < 0 || j < 0 ? NAN : hm_piece(row, in_x, x);\n}\n\n",
        nx, outside_number(table), ny, outside_number(table), ny + 1);
}

void hmi_print_c_tables(hmi_text *out, const hmi_table *tables, size_t count)
{
    if (count)
        hmi_text_add(out, polynomial);
    for (size_t k = 0; k < count; k++) {
        if (tables[k].arguments == 1)
            add_line(out, &tables[k]);
        else
            add_grid(out, &tables[k]);
    }
}
