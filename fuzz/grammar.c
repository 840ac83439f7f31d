/* A grammar of valid models. Coordinates are q[1] .. q[n]; kinetic energies are positive, so that motions are
 * determined whatever else is said; expressions are smooth unless a switch is wanted. See grammar.h. */
#include "grammar.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MOST_DEPTH = 4 };

uint32_t grammar_choice(grammar *g, uint32_t count)
{
    if (!g->size)
        return 0;
    g->size--;
    return *g->bytes++ % count;
}

static void put(grammar *g, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(g->text + g->length, g->room - g->length, format, args);
    va_end(args);
    g->length += (size_t)length;
    if (g->length >= g->room)
        g->length = g->room - 1;
}

/* ---- expressions ---- */

typedef enum what { POSITIONS = 1, VELOCITIES = 2, TIME = 4, SWITCHES = 8 } what;

static int coordinate(grammar *g)
{
    return 1 + (int)grammar_choice(g, (uint32_t)g->coordinates);
}

static void leaf(grammar *g, unsigned what)
{
    switch (grammar_choice(g, 8)) {
    case 0:
    case 1:
        if (what & POSITIONS) {
            put(g, "q[%d]", coordinate(g));
            return;
        }
        break;
    case 2:
        if (what & VELOCITIES) {
            put(g, "q[%d]'", coordinate(g));
            return;
        }
        break;
    case 3:
        if (what & TIME) {
            put(g, "t");
            return;
        }
        break;
    case 4:
        put(g, "k");
        return;
    case 5:
        put(g, "w[%u]", 1 + grammar_choice(g, 2));
        return;
    case 6:
        if (g->states && (what & VELOCITIES)) {
            put(g, "z");
            return;
        }
        break;
    default:
        break;
    }
    put(g, "%d", 1 + (int)grammar_choice(g, 9));
}

static void expression(grammar *g, unsigned what);

static void call(grammar *g, const char *before, unsigned what, const char *after)
{
    put(g, "%s", before);
    expression(g, what);
    put(g, "%s", after);
}

static void operation(grammar *g, const char *sign, unsigned what)
{
    put(g, "(");
    expression(g, what);
    put(g, "%s", sign);
    expression(g, what);
    put(g, ")");
}

static void switched(grammar *g, unsigned what)
{
    static const char *const relations[] = {" < ", " > ", " <= ", " >= "};
    switch (grammar_choice(g, 5)) {
    case 0:
        call(g, "abs(", what, ")");
        return;
    case 1:
        call(g, "sign(", what, ")");
        return;
    case 2:
        call(g, "max(0, ", what, ")");
        return;
    case 3:
        call(g, "min(1, ", what, ", 2)");
        return;
    default:
        break;
    }
    put(g, "if(");
    expression(g, what & ~(unsigned)SWITCHES);
    put(g, "%s", relations[grammar_choice(g, 4)]);
    expression(g, what & ~(unsigned)SWITCHES);
    put(g, "%s, ", grammar_choice(g, 3) ? "" : " and not t > 3");
    expression(g, what);
    put(g, ", ");
    expression(g, what);
    put(g, ")");
}

/* Defined wherever its parts are. */
static void expression(grammar *g, unsigned what)
{
    if (g->depth >= MOST_DEPTH) {
        leaf(g, what);
        return;
    }
    g->depth++;
    switch (grammar_choice(g, 16)) {
    case 0:
        operation(g, " + ", what);
        break;
    case 1:
        operation(g, " - ", what);
        break;
    case 2:
        operation(g, "*", what);
        break;
    case 3:
        call(g, "sin(", what, ")");
        break;
    case 4:
        call(g, "cos(", what, ")");
        break;
    case 5:
        call(g, "atan(", what, ")");
        break;
    case 6:
        call(g, "1/(2 + (", what, ")^2)");
        break;
    case 7:
        call(g, "sqrt(1 + (", what, ")^2)");
        break;
    case 8:
        call(g, "exp(-(", what, ")^2)");
        break;
    case 9:
        call(g, "-(", what, ")");
        break;
    case 10:
        call(g, "f(", what, ")");
        break;
    case 11:
        call(g, "tanh(", what, ")");
        break;
    case 12:
        if (what & SWITCHES) {
            switched(g, what);
            break;
        }
        leaf(g, what);
        break;
    case 13:
        put(g, "sum(i = 1..%u, i*", 1 + grammar_choice(g, 3));
        expression(g, what);
        put(g, ")");
        break;
    case 14:
        call(g, "dot(w, [1, ", what, "])");
        break;
    default:
        leaf(g, what);
        break;
    }
    g->depth--;
}

/* ---- statements ---- */

static void head(grammar *g)
{
    put(g, "model m \"made of bytes\"\nparam k = %u in 0 .. 20 \"k (N/m)\", w = [0.5, -%u]\n",
        1 + grammar_choice(g, 9), grammar_choice(g, 5));
    put(g, "param a[0..1] = [1, 2]\nlet f(x) = x^2/(1 + x^2)\n");
    g->coordinates = 1 + (int)grammar_choice(g, 4);
    put(g, "coord q[1..%d]\n", g->coordinates);
    put(g, "kinetic sum(i = 1..%d, (a[0] + i)/2*q[i]'^2)\n", g->coordinates);
    g->inputs = grammar_choice(g, 4) == 0;
    if (g->inputs)
        put(g, "input u = sin(t)\n");
    if (grammar_choice(g, 4) == 0) {
        put(g, "state z' = ");
        expression(g, POSITIONS | VELOCITIES | TIME);
        put(g, " - z\n");
        g->states = true;
    }
}

static void energies(grammar *g)
{
    switch (grammar_choice(g, 5)) {
    case 0: /* never negative */
        put(g, "kinetic (");
        expression(g, POSITIONS);
        put(g, ")^2*q[%d]'^2/2\n", coordinate(g));
        return;
    case 1:
        put(g, "lagrangian q[%d]'*sin(q[%d])\n", coordinate(g), coordinate(g));
        return;
    case 2:
        put(g, "dissipation 0.1*q[%d]'^2\n", coordinate(g));
        return;
    case 3:
        if (g->coordinates > 1)
            put(g, "gyroscopic q[1], q[2] = k\n");
        return;
    default:
        call(g, "potential ", POSITIONS | TIME, "\n");
        return;
    }
}

static void force(grammar *g)
{
    unsigned all = POSITIONS | VELOCITIES | TIME | SWITCHES;
    switch (grammar_choice(g, 4)) {
    case 0:
        put(g, "force [1, ");
        expression(g, all);
        put(g, "] at [q[%d], sin(q[%d])]\n", coordinate(g), coordinate(g));
        return;
    case 1:
        put(g, "torque [0, 0, k] on rotz(q[%d])\n", coordinate(g));
        return;
    case 2:
        if (g->inputs) {
            put(g, "force q[%d] = u\n", coordinate(g));
            return;
        }
        break;
    default:
        break;
    }
    put(g, "force q[%d] = ", coordinate(g));
    expression(g, all);
    put(g, "\n");
}

/* Each constraint has a coordinate of its own, the last that is free, and uses those before it: it holds
 * at the start, where that coordinate is a guess, and rows are independent. */
static void constraint(grammar *g)
{
    int own = g->coordinates - g->constraints, all = g->coordinates;
    if (own < 2)
        return;
    int number = ++g->constraints;
    g->coordinates = own - 1; /* the others: expression() sees only these */
    switch (grammar_choice(g, 6)) {
    case 0:
        put(g, "constraint c%d: q[%d]' = ", number, own);
        expression(g, POSITIONS | TIME);
        put(g, "*q[1]'\n");
        break;
    case 1:
        put(g, "constraint c%d: q[%d]'' = ", number, own);
        expression(g, POSITIONS | VELOCITIES | TIME);
        put(g, "\n");
        break;
    case 2:
        put(g, "servo c%d: q[%d]' = ", number, own);
        expression(g, POSITIONS | TIME);
        put(g, " by q[%d] with gain k\n", own);
        break;
    case 3:
        put(g, "constraint c%d: q[%d] >= -%u restitution 0.5\n", number, own,
            1 + grammar_choice(g, 3));
        g->contacts = true;
        if (grammar_choice(g, 2))
            put(g, "friction r%d: q[1]' on c%d with 0.3, 0.2\n", number, number);
        break;
    case 4:
        put(g, "constraint c%d: q[%d] = ", number, own);
        expression(g, POSITIONS);
        put(g, "\nnonideal q[1] = -0.1*abs(multiplier(c%d))*tanh(q[1]')\n", number);
        break;
    default:
        put(g, "constraint c%d: q[%d] = ", number, own);
        expression(g, POSITIONS | TIME);
        put(g, "\n");
        break;
    }
    g->coordinates = all;
}

static void body(grammar *g)
{
    int number = ++g->bodies;
    switch (grammar_choice(g, 4)) {
    case 0:
        put(g, "body b%d { mass 1  at [q[%d], 0, 1] }\n", number, coordinate(g));
        break;
    case 1:
        put(g,
            "body b%d { mass 2  inertia diag(1, 2, 3)  at [0, q[%d], 0]  frame rotz(q[%d])*rotx(k) "
            "}\n",
            number, coordinate(g), coordinate(g));
        break;
    case 2:
        put(g,
            "body b%d { mass 1  inertia identity(3)  com [0, 0, -1]  on ground at [1, 0, 0] by "
            "hinge(q[%d], [0, 1, %u]) }\n",
            number, coordinate(g), grammar_choice(g, 3));
        break;
    default:
        put(g, "body b%d { mass 1  inertia identity(3)  on ground by slider(q[%d], [1, 0, 0]) }\n",
            number, coordinate(g));
        break;
    }
    if (number == 1)
        put(g, "gravity [0, 0, -9.81]\n");
    put(g, "output p%d = center(b%d)\ndraw point center(b%d) color \"red\" label \"b\"\n", number,
        number, number);
}

static void observed(grammar *g)
{
    static const char *const ways[] = {"record", "rising record", "falling stop", "both record"};
    unsigned all = POSITIONS | VELOCITIES | TIME;
    switch (grammar_choice(g, 6)) {
    case 0:
        put(g, "event e%d: ", ++g->events);
        expression(g, all);
        put(g, " = %u %s\n", 1 + grammar_choice(g, 4), ways[grammar_choice(g, 4)]);
        break;
    case 1:
        put(g, "event e%d: q[1] = -3 falling set q[1]' = -0.5*q[1]'\n", ++g->events);
        break;
    case 2:
        put(g, "output o%d = q[%d]'' + energy\n", ++g->outputs, coordinate(g));
        break;
    case 3:
        put(g, "output o%d = [momentum(q[1]), reaction(q[1])]\n", ++g->outputs);
        break;
    case 4:
        put(g, "symmetry s%d: q[1] = 1\n", ++g->outputs);
        break;
    default:
        put(g, "output o%d \"an output\" = ", ++g->outputs);
        expression(g, all | SWITCHES);
        put(g, "\n");
        break;
    }
}

static void loop(grammar *g)
{
    int number = ++g->lets;
    put(g,
        "let P%d[0] = [0, 0]\nfor i = 1..%d {\n    let P%d[i] = P%d[i-1] + [sin(q[i]), "
        "-cos(q[i])]\n",
        number, g->coordinates, number, number);
    put(g, "    kinetic dot(P%d[i]', P%d[i]')/20\n    initial q[i]' ~ %u/10\n}\n", number, number,
        grammar_choice(g, 20));
}

static void statement(grammar *g)
{
    switch (grammar_choice(g, 8)) {
    case 0:
    case 1:
        energies(g);
        break;
    case 2:
        force(g);
        break;
    case 3:
    case 4:
        constraint(g);
        break;
    case 5:
        body(g);
        break;
    case 6:
        if (g->lets == 0) {
            loop(g);
            break;
        }
        observed(g);
        break;
    default:
        observed(g);
        break;
    }
}

bool grammar_write(grammar *g, const uint8_t *bytes, size_t size, char *text, size_t room)
{
    *g = (grammar){.bytes = bytes, .size = size, .text = text, .room = room};
    text[0] = '\0';
    head(g);
    for (int i = 0; i < 12 && g->size; i++)
        statement(g);
    put(g, "initial q[1] ~ 0.5\nsimulate 0 .. %u every 0.1\n", 1 + grammar_choice(g, 3));
    return g->length + 1 < room;
}
