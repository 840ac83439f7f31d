/* A second opinion: the printed equations of `hamel derive --format json`, read by a parser of its own, solved by
 * elimination and integrated by Runge and Kutta's method with small fixed steps. Nothing here includes or calls
 * anything of src/: what is wrong there is not wrong here in the same way.
 *
 *   reference_expression.c   printed expressions: parsed, evaluated in long double and in Arb's balls
 *   reference_balls.c        q'' in balls
 *   reference_motion.c       M q'' = Q + C + A^T lambda, A q'' = b; steps; switches and events by bisection
 */
#ifndef TEST_SUPPORT_REFERENCE_H
#define TEST_SUPPORT_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>

#include <arb.h>
#include <jansson.h>

enum {
    REFERENCE_NODES = 6000,
    REFERENCE_NAMES = 200,
    REFERENCE_SIZE = 48,
    REFERENCE_BRANCHES = 400
};
enum { REFERENCE_BITS = 256 };

/* ---- names and their values ---- */

typedef struct reference_names {
    char text[REFERENCE_NAMES][64];
    size_t count;
    bool unknown; /* a name that is not in the list was met */
} reference_names;

/* The number of a name; -1: none. */
int reference_find(const reference_names *names, const char *text);
size_t reference_declare(reference_names *names, const char *text);

/* ---- expressions ---- */

enum { REFERENCE_NUMBER = 1, REFERENCE_NAME };

typedef struct reference_node {
    int op, a, b, c; /* operands: nodes before this one */
    int name;
    double number;
} reference_node;

/* All expressions of a model, in one list of nodes: an expression is the number of its last node. */
typedef struct reference_graph {
    reference_node nodes[REFERENCE_NODES];
    int count;
    reference_names names;
    const char *failed; /* where a text could not be read */
} reference_graph;

int reference_parse(reference_graph *g, const char *text);
/* Every node, from the values of the names. `sides`, where not NULL, gets the sign of everything that decides
 * between branches; returns their number. */
size_t reference_evaluate(const reference_graph *g, const long double *names, long double *values,
                          signed char *sides);
void reference_evaluate_balls(const reference_graph *g, arb_srcptr names, arb_ptr values);

/* ---- models ---- */

typedef struct reference_entry {
    size_t row, column;
    int e;
} reference_entry;

typedef struct reference_event {
    int g, direction; /* +1 rising, -1 falling, 0 both */
    size_t slot[4];   /* of y: what is set, */
    int value[4];     /* to what */
    size_t count;
    bool stop;
} reference_event;

typedef struct reference_model {
    reference_graph g;
    size_t n, m, states, inputs;
    reference_entry M[600], A[600];
    size_t M_count, A_count;
    int Q[REFERENCE_SIZE], b[REFERENCE_SIZE], C[REFERENCE_SIZE];
    int rate[REFERENCE_SIZE], input[REFERENCE_SIZE];
    /* numbers of names: t, q, q', z, u, and constraint forces by coordinate and by row (-1: not used) */
    int t, q[REFERENCE_SIZE], v[REFERENCE_SIZE], z[REFERENCE_SIZE], u[REFERENCE_SIZE];
    int force[2][REFERENCE_SIZE], multiplier[2][REFERENCE_SIZE]; /* ideal, total */
    bool uses[2];
    long double value[REFERENCE_NAMES]; /* parameters are set */
    reference_event events[4];
    size_t event_count;
} reference_model;

/* From the JSON of derive. False, with g.failed set, where it is not understood. */
bool reference_read(reference_model *model, const json_t *derived);
/* "x = 0.3": when it happens (expression and direction) and what it sets, "x' = -0.5*x'; ..."; NULL: it stops. */
bool reference_add_event(reference_model *model, const char *g, int direction, const char *sets);

/* y = (q, q', z) from t to the end with steps of h; returns where it came to. */
long double reference_run(reference_model *model, long double t, long double end, long double h,
                          long double *y, bool *stopped);
/* q'' at a state in balls of 256 bits, rounded. False where they cannot decide. */
bool reference_acceleration(reference_model *model, double t, const double *y, double *qdd);

#endif
