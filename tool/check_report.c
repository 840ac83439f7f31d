/* hamel check as text: constraints one by one, the set, well-posedness. */
#include "check_report.h"

#include <stdarg.h>

enum { MOST_SHOWN = 40, MARGIN = 18 };

/* ---- each constraint ---- */

static void line(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void line(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("%*s", MARGIN, "");
    vprintf(format, args);
    putchar('\n');
    va_end(args);
}

static void print_evidence(const hm_evidence *e)
{
    if (e->bits > 0)
        line("(zero at %d random points to %d bits%s)", e->points, e->bits,
             e->proved ? "" : "; the points are not proved to satisfy the constraints");
}

static void print_integral(const hm_constraint_analysis *c)
{
    if (c->integrating_factor)
        line("integrating factor %s", c->integrating_factor);
    if (c->potential && c->level != HM_LEVEL_POSITION)
        line("integrated form: %s = constant", c->potential);
    else if (c->leaf)
        line("an integrated form exists numerically (hm_analysis_integral): f is the %s at which "
             "the surface through (q, t) reaches the initial values of the other coordinates",
             c->leaf);
    else if (c->level != HM_LEVEL_POSITION)
        line("an integrated form exists; none was found in closed form");
}

static void print_nonlinear(const hm_constraint_analysis *c)
{
    if (c->reduction == HM_REDUCTION_FOLLOWS)
        line("it follows from the other constraints");
    else if (c->linear_form)
        line("with the others it amounts to %s%s", c->linear_form,
             c->other_form                         ? " at the initial state"
             : c->reduction == HM_REDUCTION_LINEAR ? ", near the initial state"
                                                   : "");
    if (c->linear_form && c->linear_kind != HM_CLASS_UNCLASSIFIED)
        line("which is %s", hm_class_text(c->linear_kind));
    if (c->other_form)
        line("the other branch: %s", c->other_form);
    if (c->sign_condition)
        line("by squaring; as written, it also requires %s >= 0", c->sign_condition);
    if (c->reduction == HM_REDUCTION_SQUARE || c->reduction == HM_REDUCTION_SUM)
        line("as written, its row of A vanishes in every admissible state: write the linear form");
    else if (c->lost_at_rest)
        line("at rest its row of A vanishes or does not exist: it is not enforced there");
    if (c->level == HM_LEVEL_ACCELERATION)
        return;
    line("virtual displacements by Chetaev's rule (dψ/dq')·δq = 0, as in Udwadia and Kalaba;");
    line("Flannery holds that such constraints, his (7), are outside any principle of virtual "
         "displacements");
}

/* A constraint on accelerations, integrated where that was possible. */
static void print_acceleration(const hm_constraint_analysis *c)
{
    if (c->integrated)
        line("it is the derivative of %s, which keeps its initial value %.10g", c->integrated,
             c->constant);
    else
        line(
            "by Gauss's principle of least constraint: it is not the derivative of a constraint on "
            "velocities that was found");
}

static void print_class(const hm_constraint_analysis *c)
{
    if (c->level == HM_LEVEL_ACCELERATION)
        print_acceleration(c);
    switch (c->kind) {
    case HM_CLASS_HOLONOMIC:
        break;
    case HM_CLASS_SEMIHOLONOMIC:
        line("semiholonomic: exact, dω = 0");
        break;
    case HM_CLASS_INTEGRABLE:
        line("integrable: not exact, but ω∧dω = 0, so it is holonomic");
        break;
    case HM_CLASS_NONHOLONOMIC:
        line(c->level == HM_LEVEL_VELOCITY || c->integrated ? "nonholonomic: ω∧dω ≠ 0, proved"
                                                            : "nonholonomic");
        break;
    case HM_CLASS_NONLINEAR_NONHOLONOMIC:
        line("nonholonomic, nonlinear in the velocities");
        break;
    default:
        line("not classified");
        break;
    }
}

static void print_constraint(const hm_constraint_analysis *c)
{
    const char *form = c->level != HM_LEVEL_VELOCITY ? ""
                       : !c->linear                  ? ", nonlinear"
                       : c->catastatic               ? ", linear"
                                                     : ", affine";
    printf("  %-*s%s level%s, %s%s%s\n", MARGIN - 2, c->name, hm_level_text(c->level), form,
           c->rheonomic ? "rheonomic" : "scleronomic",
           c->level == HM_LEVEL_ACCELERATION ? ""
           : c->catastatic                   ? ", catastatic"
                                             : ", acatastatic",
           c->kind == HM_CLASS_HOLONOMIC ? ", holonomic" : "");
    print_class(c);
    if (c->kind == HM_CLASS_SEMIHOLONOMIC || c->kind == HM_CLASS_INTEGRABLE) {
        if (c->linear)
            print_integral(c);
        print_evidence(&c->evidence);
    }
    if (c->parts)
        line("in parts: %s", c->parts);
    if (!c->linear)
        print_nonlinear(c);
    if (c->frobenius)
        line("Frobenius expression, Zhao et al. (11): %s, %.6g at the initial state", c->frobenius,
             c->frobenius_value);
    if (c->redundant && c->reduction != HM_REDUCTION_FOLLOWS)
        line("redundant: it depends on the constraints before it");
}

static void print_constraints(const hm_analysis *a)
{
    if (a->constraint_count)
        printf("\nconstraints\n");
    for (size_t i = 0; i < a->constraint_count && i < MOST_SHOWN; i++)
        print_constraint(&a->constraints[i]);
    if (a->constraint_count > MOST_SHOWN)
        printf("  ... and %zu more\n", a->constraint_count - MOST_SHOWN);
}

/* ---- the set ---- */

static void print_combinations(const hm_set_analysis *s)
{
    for (size_t i = 0; i < s->combination_count; i++) {
        const hm_combination *c = &s->combinations[i];
        printf("    %s: %s\n", c->combination, c->form);
        if (c->integrating_factor)
            printf("      integrating factor %s\n", c->integrating_factor);
        if (c->potential)
            printf("      integrated form: %s = constant\n", c->potential);
    }
}

static void print_set(const hm_analysis *a, size_t n)
{
    const hm_set_analysis *s = &a->set;
    if (!s->known)
        return;
    printf(
        "\nthe set\n  rank of A %zu: %zu degree%s of freedom in velocity, %zu in configuration\n",
        s->rank, s->degrees_of_freedom, s->degrees_of_freedom == 1 ? "" : "s",
        s->configuration_dimension);
    if (a->constraint_count == 0)
        return;
    printf("  growth vector of the directions by Lie brackets, in %s: (",
           s->with_time ? "(q, t)" : "q");
    for (size_t i = 0; i < s->growth_count; i++)
        printf("%s%zu", i ? ", " : "", s->growth[i]);
    printf(")\n");
    if (s->omitted)
        printf("  without %zu constraint%s not linear in the velocities, or on accelerations\n",
               s->omitted, s->omitted == 1 ? ", which is" : "s, which are");
    if (s->holonomic_part == 0 && s->omitted)
        printf("  no combination of the linear ones is integrable\n");
    else if (s->holonomic_part == 0)
        printf("  no combination of the constraints is integrable: all %zu coordinates can be "
               "reached\n",
               n);
    else
        printf("  %zu independent combination%s integrable%s\n", s->holonomic_part,
               s->holonomic_part == 1 ? " is" : "s are",
               s->growth_count == 1 ? ": the set is holonomic" : "");
    if (s->hidden)
        printf("  of these, %zu hidden: no single constraint implies %s\n", s->hidden,
               s->hidden == 1 ? "it" : "them");
    print_combinations(s);
    if (s->parts)
        printf("  in parts: %s\n", s->parts);
    printf("  nonzero is proved in ball arithmetic; zero holds at %d random points to %d bits\n",
           s->evidence.points, s->evidence.bits);
}

/* ---- well-posedness ---- */

static void print_ranks(const hm_wellposedness *w, size_t constraints)
{
    printf("  M has rank %d, %s\n", w->rank_M,
           w->definite       ? "positive definite"
           : w->semidefinite ? "semidefinite"
                             : "indefinite");
    if (constraints == 0)
        return;
    printf("  A has rank %d at the initial state", w->rank_A);
    if (w->rank_lowest != w->rank_highest)
        printf(" and ranks from %d to %d until t = %.4g", w->rank_lowest, w->rank_highest,
               w->run_end);
    else if (w->run_end > 0)
        printf(" and until t = %.4g", w->run_end);
    printf("\n");
    if (w->gram_condition > 0)
        printf("  condition of the Gram matrix %.3g\n", w->gram_condition);
    if (w->distance > 0)
        printf("  distance to a lower rank %.3g (smallest singular value, rows of unit length), "
               "lowest %.3g at t = %.4g\n",
               w->distance, w->distance_lowest, w->distance_time);
}

/* One motion near the initial state is a theorem where q'' is unique and Lipschitz; what follows further
 * on is said as far as the run was looked at. */
static void print_verdict_on_motion(const hm_wellposedness *w)
{
    bool not_here = false;
    for (size_t i = 0; i < w->function_count; i++)
        not_here |= w->functions[i].here;
    if (w->wellposed)
        printf("  well posed: exactly one motion starts from the initial state\n");
    else
        printf("  well-posedness not established%s%s\n", w->message ? ": " : "",
               w->message ? w->message : "");
    if (w->lipschitz_lost && w->wellposed)
        printf(
            "  it meets a jump where %s at t = %.4g: that only one motion goes on is not shown\n",
            w->lipschitz_lost, w->lipschitz_until);
    else if (w->lipschitz_lost && !not_here)
        printf("  the motion comes to %s at t = %.4g, where the right-hand side is not Lipschitz: "
               "more than "
               "one motion may go on\n",
               w->lipschitz_lost, w->lipschitz_until);
    else if (not_here)
        printf(
            "  the right-hand side is not Lipschitz at the initial state: more than one motion may "
            "start\n");
}

static void print_wellposed(const hm_analysis *a)
{
    const hm_wellposedness *w = &a->wellposedness;
    printf("\nthe motion\n");
    if (!w->consistent)
        printf("  the initial state does not satisfy the constraints%s\n",
               w->kept ? "; `initial keep` runs it as it is" : "");
    for (size_t i = 0; i < w->moved_count && i < MOST_SHOWN; i++)
        printf("  moved to a consistent initial state: %s = %.10g\n", w->moved_name[i],
               w->moved_to[i]);
    if (!w->known) {
        printf("  q'' could not be evaluated%s%s\n", w->message ? ": " : "",
               w->message ? w->message : "");
        return;
    }
    print_ranks(w, a->constraint_count);
    if (a->constraint_count)
        printf("  q'' %s unique, multipliers are %sunique\n",
               w->unique_acceleration ? "is" : "is not", w->unique_multipliers ? "" : "not ");
    for (size_t i = 0; i < w->function_count; i++)
        if (w->functions[i].here || i < 3)
            printf("  %s: %s%s\n", w->functions[i].expression, w->functions[i].why,
                   w->functions[i].here ? ", and not Lipschitz at the initial state" : "");
    if (w->function_count > 3)
        printf("  (%zu such functions in all)\n", w->function_count);
    print_verdict_on_motion(w);
}

static void print_count(size_t count, const char *what, const char *end)
{
    printf("%zu %s%s%s", count, what, count == 1 ? "" : "s", end);
}

/* The last line counts what was printed, and claims nothing beyond it. */
static void print_conclusion(const session *s, const findings *found)
{
    const hm_analysis *a = found->analysis;
    size_t warnings = json_array_size(s->warnings), open = a->remark_count;
    bool established = a->wellposedness.wellposed;
    if (check_errors(found))
        printf("the model is not sound: see the errors above\n");
    else if (!warnings && !open && established)
        printf("no problems found\n");
    else {
        print_count(warnings, "warning", ", ");
        print_count(open, "open question",
                    established ? "\n" : ", well-posedness not established\n");
    }
}

static void print_servo(const session *s, size_t i)
{
    hm_constraint_info row = hm_model_servo(s->model, i);
    hm_servo_info info = hm_system_servo(s->system, i);
    printf("  servo %-*s%s level%s%s", MARGIN - 8, row.name, hm_level_text(row.level),
           row.level == HM_LEVEL_VELOCITY ? row.linear ? ", linear" : ", nonlinear" : "",
           row.rheonomic ? ", depends on t" : "");
    if (info.refusal)
        printf(", out of reach: %s\n", info.refusal);
    else if (info.implied)
        printf(", implied by other rows\n");
    else
        printf(", relative degree %u\n", info.degree);
}

static void print_servos(const session *s, const hm_zero_dynamics *zeros)
{
    for (size_t i = 0; i < hm_model_servo_count(s->model); i++)
        print_servo(s, i);
    if (!zeros->known)
        return;
    printf("  zero dynamics%*s%zu state%s", MARGIN - 15, "", zeros->dimension,
           zeros->dimension == 1 ? "" : "s");
    if (zeros->dimension > 0 && zeros->reason)
        printf(", stability not judged: %s", zeros->reason);
    else if (zeros->dimension > 0)
        printf(", %s at the initial state (largest real part %.4g)",
               hm_stability_text(zeros->stability), zeros->largest);
    printf("\n");
}

void print_check(const session *s, const findings *found)
{
    const hm_analysis *a = found->analysis;
    const hm_model *model = s->model;
    size_t n = hm_model_coordinate_count(model);
    hm_system_statistics size = hm_system_get_statistics(s->system);
    printf("%s", hm_model_name(model));
    if (hm_model_title(model))
        printf(": %s", hm_model_title(model));
    printf("\n");
    print_count(n, "coordinate", ", ");
    print_count(hm_model_param_count(model), "parameter", ", ");
    print_count(hm_model_input_count(model), "input", ", ");
    print_count(hm_model_state_count(model), "state", ", ");
    print_count(hm_model_output_count(model), "output", "\n");
    print_count(a->constraint_count, "constraint row", ", ");
    print_count(hm_model_servo_count(model), "servo row", "\n");
    print_constraints(a);
    print_servos(s, &found->zeros);
    print_set(a, n);
    print_principles(found);
    print_symmetries(model, found);
    print_energy(model, found);
    print_wellposed(a);
    for (size_t i = 0; i < a->remark_count; i++)
        printf("\nremark: %s\n", a->remarks[i]);
    printf("\nM has %zu structural nonzeros in its lower triangle, A has %zu; %zu operations per "
           "evaluation\n",
           size.mass_entries, size.constraint_entries, size.tape_nodes);
    print_conclusion(s, found);
}
