/* `# expect` lines about what a model is: classes of constraints, growth, freedom, the wrong
 * equations beside the right ones, eigenvalues. */
#include "support/check.h"
#include "support/expect_kinds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- classification -------------------------------------------------------------------------- */

static hm_analysis *analyse(const expect_subject *s, const motion *m)
{
    hm_analysis *analysis = NULL;
    if (hm_system_analyse(m->context, m->system, &analysis) != HM_OK)
        fail_msg("%s: cannot be analysed", s->path);
    return analysis;
}

/* NAME, or the NAME of NAME[1], NAME[2], ... */
static bool belongs(const char *row, const char *name)
{
    size_t length = strlen(name);
    return strncmp(row, name, length) == 0 && (row[length] == '\0' || row[length] == '[');
}

void expect_class(const expect_subject *s, expect_line *l, motion *m)
{
    hm_analysis *a = analyse(s, m);
    char *rest = (char *)l->list;
    for (char *part; (part = expect_part(&rest));) {
        const char *wanted = expect_cut(part, "=");
        size_t found = 0;
        part = expect_trim(part);
        for (size_t i = 0; i < a->constraint_count; i++) {
            if (!belongs(a->constraints[i].name, part))
                continue;
            found++;
            const char *is = hm_class_text(a->constraints[i].kind);
            if (!wanted || strcmp(is, wanted) != 0)
                fail_msg("%s: %s is %s, not %s", s->path, a->constraints[i].name, is,
                         wanted ? wanted : "?");
        }
        if (found == 0)
            fail_msg("%s: no constraint is called '%s'", s->path, part);
    }
    hm_analysis_destroy(a);
}

/* Compares a list of whole numbers. */
static void expect_counts(const expect_subject *s, expect_line *l, const size_t *is, size_t count)
{
    char *rest = (char *)l->list;
    size_t k = 0;
    for (char *part; (part = expect_part(&rest)); k++)
        if (k >= count || strtoul(part, NULL, 10) != is[k])
            fail_msg("%s: entry %zu of %s is %zu, not %s", s->path, k + 1, l->kind,
                     k < count ? is[k] : 0, part);
    if (k != count)
        fail_msg("%s: %s has %zu entries", s->path, l->kind, count);
}

void expect_growth(const expect_subject *s, expect_line *l, motion *m)
{
    hm_analysis *a = analyse(s, m);
    assert_true(a->set.known);
    expect_counts(s, l, a->set.growth, a->set.growth_count);
    hm_analysis_destroy(a);
}

void expect_freedom(const expect_subject *s, expect_line *l, motion *m)
{
    hm_analysis *a = analyse(s, m);
    assert_true(a->set.known);
    const size_t is[] = {a->set.degrees_of_freedom, a->set.configuration_dimension};
    expect_counts(s, l, is, 2);
    hm_analysis_destroy(a);
}

/* ---- symmetries ------------------------------------------------------------------------------ */

static bool is_conserved(const expect_subject *s, const hm_symmetries *found, const char *name)
{
    for (size_t i = 0; i < found->symmetry_count; i++)
        if (strcmp(found->symmetries[i].name, name) == 0)
            return found->symmetries[i].conserved == HM_ANSWER_YES;
    fail_msg("%s: no symmetry is called '%s'", s->path, name);
    return false;
}

void expect_symmetry(const expect_subject *s, expect_line *l, motion *m)
{
    hm_symmetries *found = NULL;
    char *rest = (char *)l->list;
    assert_int_equal(hm_symmetries_find(m->system, NULL, &found), HM_OK);
    for (char *part; (part = expect_part(&rest));) {
        const char *wanted = expect_cut(part, "=");
        const char *is = is_conserved(s, found, expect_trim(part)) ? "conserved" : "not conserved";
        if (!wanted || strcmp(is, wanted) != 0)
            fail_msg("%s: the momentum of %s is %s", s->path, part, is);
    }
    hm_symmetries_destroy(found);
}

/* ---- the wrong equations --------------------------------------------------------------------- */

static void make_consistent(const expect_subject *s, motion *m)
{
    const hm_moved *moved;
    size_t count;
    if (hm_sim_make_consistent(m->sim, false, &moved, &count) != HM_OK)
        fail_msg("%s: no consistent initial state", s->path);
}

static double other_value(const expect_subject *s, const motion *m, const hm_compared *at,
                          const char *name)
{
    if (strcmp(name, "difference") == 0)
        return at->largest_difference;
    for (size_t i = 0; i < m->n; i++) {
        const char *x = hm_model_coordinate_name(m->model, i);
        size_t length = strlen(x);
        if (strncmp(name, x, length) == 0 && strcmp(name + length, "''") == 0)
            return at->other_qdd[i];
    }
    fail_msg("%s: '%s' is no acceleration", s->path, name);
    return NAN;
}

void expect_other(const expect_subject *s, expect_line *l, motion *m)
{
    hm_comparison *other = NULL;
    hm_compared at;
    char *rest = (char *)l->list, quantity[EXPECT_TEXT];
    if (!l->other || hm_comparison_create(m->context, m->system, l->other, &other) != HM_OK)
        fail_msg("%s: no such comparison: %s", s->path, l->other ? l->other : "");
    make_consistent(s, m);
    if (hm_comparison_evaluate(other, m->sim, NULL, &at) != HM_OK)
        fail_msg("%s: the comparison cannot be evaluated", s->path);
    for (char *part; (part = expect_part(&rest));) {
        const char *value = expect_cut(part, "=");
        if (!value)
            fail_msg("%s: '%s' has no value", s->path, part);
        part = expect_trim(part);
        snprintf(quantity, sizeof quantity, "%s, wrong by `%s`", part, l->other);
        expect_quantity(s, l, m, quantity, expect_number(m, value), other_value(s, m, &at, part));
    }
    hm_comparison_destroy(other);
}

/* ---- eigenvalues ----------------------------------------------------------------------------- */

/* The unused eigenvalue that is nearest. */
static size_t nearest(const hm_linearization *about, bool *used, double re, double im)
{
    size_t best = 0;
    double least = INFINITY;
    for (size_t i = 0; i < about->dimension; i++) {
        double distance = hypot(about->re[i] - re, about->im[i] - im);
        if (!used[i] && distance < least) {
            least = distance;
            best = i;
        }
    }
    used[best] = true;
    return best;
}

void expect_eigenvalue(const expect_subject *s, expect_line *l, motion *m)
{
    hm_linearization *about = NULL;
    char *rest = (char *)l->list, quantity[EXPECT_TEXT];
    bool used[64] = {false};
    make_consistent(s, m);
    if (hm_sim_linearize(m->sim, NULL, &about) != HM_OK)
        fail_msg("%s: cannot be linearised", s->path);
    assert_in_range(about->dimension, 1, 64);
    for (char *part; (part = expect_part(&rest));) {
        bool pair = *part == '[';
        char *first = pair ? part + 1 : part;
        char *second = pair ? expect_cut(first, ",") : NULL;
        double re = expect_number(m, first);
        double im = second && expect_cut(second, "]") ? expect_number(m, second) : 0;
        size_t i = nearest(about, used, re, im);
        snprintf(quantity, sizeof quantity, pair ? "real part of an eigenvalue" : "eigenvalue");
        expect_quantity(s, l, m, quantity, re, about->re[i]);
        snprintf(quantity, sizeof quantity, "imaginary part of it");
        if (pair || about->im[i] != 0)
            expect_quantity(s, l, m, quantity, im, about->im[i]);
    }
    hm_linearization_destroy(about);
}
