/* Bytes -> a motion that is known exactly -> events and switches of a run, against it.
 *
 * Motion 1: x'' = a + b t, so that x is a cubic in t, with events x = level and x' = level of every direction;
 * their times are the roots of cubics and quadratics, isolated by the roots of their derivatives.
 * Motion 2: x'' = if(x > level, a, b), piecewise parabolas from crossing to crossing.
 * Where a root is nearly double or lies near an end the language says "undecided", and nothing is compared.
 */
#include <hamel/hamel.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_EVENTS = 3, MOST_ROOTS = 64 };
static const double END = 4;
static const double TOLERANCE = 1e-6; /* of times; runs are made to 1e-11 */
static const char *const methods[] = {"dop853", "rk5", "taylor", "radau"};

static void require(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "wrong: %s\n", what);
    abort();
}

typedef struct source {
    const uint8_t *bytes;
    size_t size;
} source;

static uint32_t next(source *s)
{
    if (!s->size)
        return 0;
    s->size--;
    return *s->bytes++;
}

/* Sixteenths between -8 and 8. */
static double next_number(source *s)
{
    return ((int)next(s) - 128) / 16.0;
}

typedef struct roots {
    int count;
    double t[MOST_ROOTS];
    bool rising[MOST_ROOTS];
    bool unclear;
} roots;

/* ---- motion 1: roots of a cubic in 0 .. END ---- */

typedef struct cubic {
    double c[4];
} cubic;

static double value(const cubic *f, double t)
{
    return ((f->c[3] * t + f->c[2]) * t + f->c[1]) * t + f->c[0];
}

static double slope(const cubic *f, double t)
{
    return (3 * f->c[3] * t + 2 * f->c[2]) * t + f->c[1];
}

/* The ends, and where the slope is zero: between neighbours the cubic is monotonic. */
static int borders(const cubic *f, double *at)
{
    int count = 0;
    double a = 3 * f->c[3], b = 2 * f->c[2], c = f->c[1], found[2];
    int zeros = 0;
    at[count++] = 0;
    if (a == 0 && b != 0) {
        found[zeros++] = -c / b;
    } else if (a != 0 && b * b - 4 * a * c > 0) {
        double root = -0.5 * (b + copysign(sqrt(b * b - 4 * a * c), b));
        found[zeros++] = fmin(root / a, root != 0 ? c / root : 0);
        found[zeros++] = fmax(root / a, root != 0 ? c / root : 0);
    }
    for (int i = 0; i < zeros; i++)
        if (found[i] > at[count - 1] && found[i] < END)
            at[count++] = found[i];
    at[count++] = END;
    return count;
}

static double bisect(const cubic *f, double low, double high)
{
    bool sign = value(f, low) > 0;
    for (int i = 0; i < 80; i++) {
        double middle = 0.5 * (low + high);
        *((value(f, middle) > 0) == sign ? &low : &high) = middle;
    }
    return 0.5 * (low + high);
}

static void find_roots(const cubic *f, roots *r)
{
    double at[4];
    int count = borders(f, at);
    r->count = 0;
    r->unclear = false;
    for (int i = 0; i < count; i++)
        r->unclear |= fabs(value(f, at[i])) < 1e-4;
    for (int i = 0; i + 1 < count; i++)
        if ((value(f, at[i]) > 0) != (value(f, at[i + 1]) > 0)) {
            r->t[r->count] = bisect(f, at[i], at[i + 1]);
            r->rising[r->count] = value(f, at[i + 1]) > 0;
            r->unclear |= fabs(slope(f, r->t[r->count])) < 1e-2;
            r->count++;
        }
}

/* ---- motion 2: parabola after parabola ---- */

/* The first time after 0 at which x0 + v t + a t^2/2 = 0; infinity: never. */
static double first_zero(double x0, double v, double a)
{
    double best = INFINITY;
    if (a == 0)
        return v != 0 && -x0 / v > 1e-12 ? -x0 / v : INFINITY;
    double d = v * v - 2 * a * x0;
    if (d < 0)
        return INFINITY;
    for (int sign = -1; sign <= 1; sign += 2) {
        double t = (-v + sign * sqrt(d)) / a;
        if (t > 1e-9 && t < best)
            best = t;
    }
    return best;
}

/* Crossings of x = 0 with acceleration `above` or `below` it. */
static void find_crossings(double x, double v, double above, double below, roots *r)
{
    double t = 0;
    r->count = 0;
    r->unclear = fabs(x) < 0.05;
    bool over = x > 0;
    while (!r->unclear && r->count < MOST_ROOTS) {
        double a = over ? above : below, step = first_zero(x, v, a);
        double top = a != 0 && -v / a > 0 ? x - v * v / (2 * a) : x;
        r->unclear |= (a != 0 && fabs(top) < 1e-3) || (r->count > 0 && step < 1e-2);
        if (!(t + step < END + 1e-3))
            return;
        t += step;
        v += a * step;
        x = 0;
        r->unclear |= fabs(v) < 0.05 || fabs(t - END) < 1e-3;
        over = v > 0;
        r->t[r->count] = t;
        r->rising[r->count++] = over;
    }
    r->unclear |= r->count >= MOST_ROOTS;
}

/* ---- the run ---- */

typedef struct text {
    char bytes[4096];
    size_t length;
} text;

#define add(text, ...)                                                                             \
    ((text)->length += (size_t)snprintf((text)->bytes + (text)->length,                            \
                                        sizeof(text)->bytes - (text)->length, __VA_ARGS__))

static bool is_called(const char *name, int event)
{
    return name[0] == 'e' && name[1] == '0' + event && name[2] == '\0';
}

static void compare(const hm_run_result *result, int event, int direction, const roots *r)
{
    size_t at = 0;
    for (int i = 0; i < r->count; i++) {
        if ((direction == 1 && !r->rising[i]) || (direction == 2 && r->rising[i]))
            continue;
        while (at < result->event_count && !is_called(result->events[at].name, event))
            at++;
        require(at < result->event_count, "an event was overlooked");
        require(fabs(result->events[at].t - r->t[i]) < TOLERANCE, "an event at another time");
        at++;
    }
    for (; at < result->event_count; at++)
        require(!is_called(result->events[at].name, event), "an event that is none");
}

static void run(const text *model_text, const int *directions, const roots *expected, int count)
{
    hm_context *context = hm_context_create(NULL);
    hm_model *model = NULL;
    hm_system *system = NULL;
    hm_sim *sim = NULL;
    hm_run_result result;
    require(hm_model_parse(context, model_text->bytes, model_text->length, NULL, &model) == HM_OK,
            "the model reads");
    const hm_system_options interpreter = {.engine = HM_ENGINE_INTERP};
    require(hm_system_create_with(model, &interpreter, &system) == HM_OK, "it is derived");
    require(hm_sim_create(system, &sim) == HM_OK, "memory");
    hm_status status = hm_sim_run(sim, NULL, &result);
    require(status == HM_OK && result.status == HM_RUN_OK, result.message ? result.message : "run");
    for (int i = 0; i < count; i++)
        compare(&result, i, directions[i], &expected[i]);
    hm_sim_destroy(sim);
    hm_system_destroy(system);
    hm_model_destroy(model);
    hm_context_destroy(context);
}

static const char *const direction_words[] = {"both", "rising", "falling"};

static void add_run(text *model, double x, double v, const char *method)
{
    add(model, "initial x = %.17g, x' = %.17g\n", x, v);
    add(model, "simulate 0 .. %.17g every 1 method %s rtol 1e-11 atol 1e-12\n", END, method);
}

static void cubic_motion(source *s)
{
    roots expected[MOST_EVENTS];
    int directions[MOST_EVENTS], count = 1 + (int)(next(s) % MOST_EVENTS);
    text model = {.length = 0};
    double a = next_number(s), b = next_number(s), v = next_number(s), x = next_number(s);
    const char *method = methods[next(s) % 4];
    add(&model, "coord x\nkinetic x'^2/2\nforce x = %.17g + %.17g*t\n", a, b);
    for (int i = 0; i < count; i++) {
        bool velocity = next(s) % 2;
        double level = next_number(s);
        cubic f = velocity ? (cubic){{v - level, a, b / 2, 0}}
                           : (cubic){{x - level, v, a / 2, b / 6}};
        directions[i] = (int)(next(s) % 3);
        find_roots(&f, &expected[i]);
        if (expected[i].unclear)
            return;
        add(&model, "event e%d: x%s = %.17g %s record\n", i, velocity ? "'" : "", level,
            direction_words[directions[i]]);
    }
    add_run(&model, x, v, method);
    run(&model, directions, expected, count);
}

static void switched_motion(source *s)
{
    roots expected;
    int direction = (int)(next(s) % 3);
    text model = {.length = 0};
    double above = next_number(s), below = next_number(s), level = next_number(s);
    double x = next_number(s), v = next_number(s);
    const char *method = methods[next(s) % 4];
    find_crossings(x - level, v, above, below, &expected);
    if (expected.unclear)
        return;
    add(&model, "coord x\nkinetic x'^2/2\nforce x = ");
    if (next(s) % 2)
        add(&model, "if(x > %.17g, %.17g, %.17g)\n", level, above, below);
    else /* the same by sign */
        add(&model, "(%.17g + %.17g + sign(x - %.17g)*(%.17g - %.17g))/2\n", above, below, level,
            above, below);
    add(&model, "event e0: x = %.17g %s record\n", level, direction_words[direction]);
    add_run(&model, x, v, method);
    run(&model, &direction, &expected, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    source s = {data, size};
    if (next(&s) % 2)
        cubic_motion(&s);
    else
        switched_motion(&s);
    return 0;
}
