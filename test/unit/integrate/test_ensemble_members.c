/* A member is what `hamel run --set ... --at ...` makes of the model, bit for bit: random models with initial values
 * that are expressions of the parameters, `=` and `~`, constraints of all kinds, switches, events, states, inputs, laws
 * that use reactions, servos, and time spans that depend on parameters. The other side reads the model again with
 * the values, as the command does. HAMEL_ENSEMBLE_MODELS: how many models. */
#include "support/check.h"

#include <hamel/hamel.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMBERS = 5, COLUMNS = 4, MOST = 8 };

/* ---- random models ---- */

static unsigned long seed = 20;

static double draw(double low, double high)
{
    seed = seed * 6364136223846793005ul + 1442695040888963407ul;
    return low + (high - low) * (double)(seed >> 11) / 9007199254740992.0;
}

static int choose(int count)
{
    return (int)draw(0, count);
}

typedef struct source {
    char text[2000];
    bool constrained; /* y is determined by x */
} source;

static void add(source *s, const char *line)
{
    strncat(s->text, line, sizeof s->text - strlen(s->text) - 1);
}

static void add_forces(source *s)
{
    static const char *const forces[] = {
        "",
        "force x = if(x > c, -2*k, 0.3)\n",
        "force x = -0.2*abs(x')*x', y = max(0, c - y)\n",
        "force y = -0.4*sign(y' - 0.3)\n",
        "force x = u - 0.3*x'; input u = if(t < c, 0, k)\n",
        "state w' = x - k*w; force x = 0.2*w; initial w = k*c\n",
        "force x = 0.2*min(x, k*y)\n",
        "dissipation 0.1*x'^2 + 0.2*(x'*y')^2\n",
    };
    static const char *const laws[] = {
        "", "nonideal x = -0.1*c*abs(reaction(y))*tanh(5*x')\n",
        "nonideal x = -0.1*abs(total_multiplier(row))^(1/3)*tanh(x')\n",
        "servo drive: x' = k with gain 2\n"};
    add(s, forces[choose(8)]);
    if (s->constrained)
        add(s, laws[choose(4)]);
}

static void add_constraint(source *s)
{
    static const char *const rows[] = {
        "",
        "constraint row: y = c*x + 0.1*k\n",
        "constraint row: x^2 + (y - k)^2 = (c + 1)^2\n",
        "constraint row: y' = k*x*x'\n",
        "constraint row: y = k*x; constraint twice: 2*y = 2*k*x\n",
        "constraint row: x' + y' = sin(c*t)\n",
    };
    int k = choose(6);
    s->constrained = k > 0;
    add(s, rows[k]);
}

static void add_events(source *s)
{
    static const char *const events[] = {"", "", "event mark: x = 0.5*c record\n",
                                         "event out: x = 2*k stop\n",
                                         "event wall: x = 1.5 rising set x' = -0.7*x'\n"};
    add(s, events[choose(5)]);
}

/* `plain`: such as lanes may serve. */
static source random_model(bool plain)
{
    static const char *const starts[] = {
        "initial x = c/2, y ~ k\n", "initial x ~ k*c, x' = sqrt(k)\n",
        "initial x = 0.3, x' ~ k - c\n", "initial y ~ d, x' = d*c\n",
        "initial x = exp(-k), y ~ sin(d), y' ~ 0.2\n"};
    static const char *const spans[] = {"simulate 0 .. 1.5", "simulate 0 .. 1.2 every 0.1",
                                        "simulate 0 .. 1 + c/2", "simulate 0.1*k .. 1.3 + d/10"};
    static const char *const methods[] = {" method dop853", " method rk5", " method taylor",
                                          " method radau", ""};
    source s = {.text = "param k = 1.2, c = 0.8, d = k*c + 0.1\ncoord x, y\n"
                        "kinetic (1 + 0.1*cos(x))*x'^2/2 + d*y'^2/2 + 0.1*x'*y'\n"
                        "potential k*x^2/2 + 2*y + 0.3*(x - y)^2\n"};
    add_constraint(&s);
    if (!plain)
        add_forces(&s);
    if (!plain)
        add_events(&s);
    add(&s, starts[choose(5)]);
    add(&s, spans[choose(plain ? 2 : 4)]);
    add(&s, methods[choose(plain ? 2 : 5)]);
    add(&s, " rtol 1e-6\n");
    return s;
}

/* ---- the runs ---- */

typedef struct outcome {
    hm_run_status status;
    bool ran, batched;
    double t_end, state[2 * MOST + MOST], violation, energy, balance;
    long steps, rejected;
} outcome;

static const char *const names[COLUMNS] = {"k", "c", "x", "x'"};

typedef struct ensemble {
    size_t columns[COLUMNS], count; /* into names */
    double values[MEMBERS * COLUMNS];
    size_t n, states;
    outcome out[MEMBERS];
} ensemble;

static void copy_state(const ensemble *e, outcome *o, const double *q, const double *v,
                       const double *z)
{
    memset(o->state, 0, sizeof o->state);
    o->ran = q != NULL;
    if (!q)
        return;
    memcpy(o->state, q, e->n * sizeof *q);
    memcpy(o->state + MOST, v, e->n * sizeof *v);
    if (e->states)
        memcpy(o->state + 2 * MOST, z, e->states * sizeof *z);
}

static bool keep(void *user, const hm_member_result *r)
{
    ensemble *e = user;
    outcome *o = &e->out[r->member];
    *o = (outcome){.status = r->status,
                   .batched = r->batched,
                   .t_end = r->t_end,
                   .violation = r->violation,
                   .energy = r->energy_final,
                   .balance = r->balance_error,
                   .steps = r->steps,
                   .rejected = r->rejected};
    copy_state(e, o, r->q, r->v, r->z);
    return true;
}

static void choose_columns(ensemble *e)
{
    e->count = 0;
    for (size_t c = 0; c < COLUMNS; c++)
        if (choose(5) < 3)
            e->columns[e->count++] = c;
    if (e->count == 0)
        e->columns[e->count++] = 0;
    for (size_t i = 0; i < MEMBERS * e->count; i++)
        e->values[i] = e->columns[i % e->count] < 2 ? draw(0.5, 1.5) : draw(-0.4, 0.8);
}

static void run_ensemble(const char *text, ensemble *e)
{
    hm_context *context = hm_context_create(NULL);
    hm_model *model;
    hm_system *system;
    hm_ensemble_column columns[COLUMNS];
    hm_ensemble_result result;
    if (hm_model_parse(context, text, strlen(text), NULL, &model) != HM_OK)
        fail_msg("%s", text);
    assert_int_equal(hm_system_create(model, &system), HM_OK);
    e->n = hm_model_coordinate_count(model);
    e->states = hm_model_state_count(model);
    for (size_t c = 0; c < e->count; c++)
        assert_int_equal(hm_ensemble_find_column(context, model, names[e->columns[c]], &columns[c]),
                         HM_OK);
    const hm_ensemble_members members = {MEMBERS, e->count, columns, e->values};
    hm_ensemble_options options = hm_ensemble_options_default(model);
    options.jobs = 1;
    options.on_member = keep;
    options.user = e;
    hm_status status = hm_ensemble_run(context, system, &members, &options, &result);
    for (size_t i = 0; i < MEMBERS && status == HM_ERR_USAGE;
         i++) /* wrong for one, wrong for all */
        e->out[i] = (outcome){.status = HM_RUN_FAILED};
    assert_true(status == HM_OK || status == HM_ERR_USAGE);
    hm_system_destroy(system);
    hm_model_destroy(model);
    hm_context_destroy(context);
}

/* The state that --at gives, and what it names held, as tool/state.c does it. */
static void set_at(hm_sim *sim, const hm_model *model, const char *at)
{
    double t = hm_sim_time(sim), q[MOST], v[MOST], z[MOST], u[MOST];
    bool set[MOST] = {false};
    hm_model_initial(model, q, v, z);
    if (at[0])
        assert_int_equal(hm_model_read_state(hm_sim_context(sim), model, at, &t, q, v, z, u, set),
                         HM_OK);
    hm_sim_set_state(sim, t, q, v, z);
    hm_sim_hold(sim, 0, false, strstr(at, "x=") != NULL);
    hm_sim_hold(sim, 0, true, strstr(at, "x'=") != NULL);
}

static outcome run_single(const char *text, const ensemble *e, size_t member)
{
    char values[COLUMNS][40], at[400] = "";
    hm_override overrides[COLUMNS];
    hm_model_options parse = hm_model_options_default();
    for (size_t c = 0; c < e->count; c++) {
        const char *name = names[e->columns[c]];
        snprintf(values[c], sizeof values[c], "%.17g", e->values[member * e->count + c]);
        if (e->columns[c] < 2)
            overrides[parse.override_count++] = (hm_override){name, values[c]};
        else
            snprintf(at + strlen(at), sizeof at - strlen(at), "%s%s=%s", at[0] ? ", " : "", name,
                     values[c]);
    }
    parse.overrides = overrides;
    hm_context *context = hm_context_create(NULL);
    hm_model *model;
    hm_system *system;
    hm_sim *sim;
    hm_run_result r;
    assert_int_equal(hm_model_parse(context, text, strlen(text), &parse, &model), HM_OK);
    assert_int_equal(hm_system_create(model, &system), HM_OK);
    assert_int_equal(hm_sim_create(system, &sim), HM_OK);
    set_at(sim, model, at);
    const hm_run_options options = hm_run_options_default(model);
    (void)!hm_sim_run(sim, &options, &r);
    outcome o = {.status = r.status,
                 .t_end = r.t_end,
                 .energy = r.energy_final,
                 .balance = r.balance_error,
                 .steps = r.steps,
                 .rejected = r.rejected};
    copy_state(e, &o, r.q, r.v, r.z);
    for (size_t k = 0; r.q && k < r.constraints; k++)
        o.violation = r.violation[k] <= o.violation ? o.violation : r.violation[k];
    hm_sim_destroy(sim);
    hm_system_destroy(system);
    hm_model_destroy(model);
    hm_context_destroy(context);
    return o;
}

static bool same(const outcome *a, const outcome *b)
{
    if (a->status != b->status || a->ran != b->ran)
        return false;
    return !a->ran ||
           (memcmp(a->state, b->state, sizeof a->state) == 0 && a->t_end == b->t_end &&
            a->violation == b->violation && a->energy == b->energy && a->balance == b->balance &&
            a->steps == b->steps && a->rejected == b->rejected);
}

static void members_are_runs(void **state)
{
    (void)state;
    const char *given = getenv("HAMEL_ENSEMBLE_MODELS");
#ifdef HAMEL_SANITIZE
    int models = given ? atoi(given) : 40, batched = 0, ran = 0;
#else
    int models = given ? atoi(given) : 320, batched = 0, ran = 0;
#endif
    for (int k = 0; k < models; k++) {
        const source s = random_model(k % 2 == 0);
        ensemble e;
        choose_columns(&e);
        run_ensemble(s.text, &e);
        for (size_t i = 0; i < MEMBERS; i += 2) {
            const outcome o = run_single(s.text, &e, i);
            ran += o.ran;
            batched += e.out[i].batched;
            if (!same(&o, &e.out[i]))
                fail_msg("model %d, member %zu%s: x = %.17g, t = %.17g, %ld steps, balance %g; "
                         "alone x = "
                         "%.17g, t = %.17g, %ld steps, balance %g\n%s",
                         k, i, e.out[i].batched ? " (batched)" : "", e.out[i].state[0],
                         e.out[i].t_end, e.out[i].steps, e.out[i].balance, o.state[0], o.t_end,
                         o.steps, o.balance, s.text);
        }
    }
    print_message("%d models, %d members ran, %d of them four at a time\n", models, ran, batched);
    assert_true(ran > 2 * models);
    assert_true(batched > models / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(members_are_runs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
