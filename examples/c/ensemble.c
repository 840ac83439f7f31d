/* Hamel from a C program: an ensemble, ten thousand pendulums at once.
 *
 *     cc ensemble.c $(pkg-config --cflags --libs hamel) -lm && ./a.out
 *
 * Double pendulums that start a hair's breadth apart: how soon do they forget it? The members differ
 * in one angle and in the length of a rod. Four run at a time on each core; results come in order.
 */
#include <hamel/hamel.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMBERS = 400 };

static const char model_text[] = "model pendulums \"Double pendulums\"\n"
                                 "param l = 1, g = 9.81; coord a, b\n"
                                 "let P = [sin(a), -cos(a)]; let R = P + l*[sin(b), -cos(b)]\n"
                                 "kinetic (dot(P', P') + dot(R', R'))/2\n"
                                 "potential g*(P[2] + R[2])\n"
                                 "initial a = 2, b = 2; simulate 0 .. 10\n";

static int complain(const hm_context *context, hm_status status)
{
    char text[1000];
    for (size_t i = 0; i < hm_context_diagnostic_count(context); i++) {
        hm_diagnostic_format(hm_context_diagnostic(context, i), false, text, sizeof text);
        fprintf(stderr, "%s\n", text);
    }
    fprintf(stderr, "ensemble: %s\n", hm_status_text(status));
    return 1;
}

/* What is kept of the members. */
typedef struct summary {
    size_t failed;
    double least, largest; /* of the angle b at the end */
    double balance_error;
} summary;

static bool keep(void *user, const hm_member_result *result)
{
    summary *s = user;
    if (result->status == HM_RUN_FAILED) {
        printf("member %zu: %s\n", result->member, result->message);
        s->failed++;
        return true;
    }
    s->least = fmin(s->least, result->q[1]);
    s->largest = fmax(s->largest, result->q[1]);
    s->balance_error = fmax(s->balance_error, result->balance_error);
    return true; /* false would end the ensemble here */
}

static hm_status run(hm_context *context, const hm_system *system, summary *s,
                     hm_ensemble_result *result)
{
    static double values[MEMBERS][2];
    const hm_model *model = hm_system_model(system);
    hm_ensemble_column columns[2];
    hm_status status = hm_ensemble_find_column(context, model, "a", &columns[0]);
    if (status == HM_OK)
        status = hm_ensemble_find_column(context, model, "l", &columns[1]);
    for (size_t k = 0; k < MEMBERS; k++) {
        values[k][0] = 2 + 1e-6 * (double)k;
        values[k][1] = 1 + 1e-6 * (double)(k % 7);
    }
    const hm_ensemble_members members = {MEMBERS, 2, columns, values[0]};
    hm_ensemble_options options = hm_ensemble_options_default(model);
    options.on_member = keep;
    options.user = s;
    return status == HM_OK ? hm_ensemble_run(context, system, &members, &options, result) : status;
}

int main(void)
{
    hm_context *context = hm_context_create(NULL);
    hm_model *model = NULL;
    hm_system *system = NULL;
    hm_ensemble_result result;
    summary s = {.least = INFINITY, .largest = -INFINITY};
    if (!context)
        return 1;
    hm_status status = hm_model_parse(context, model_text, strlen(model_text), NULL, &model);
    if (status == HM_OK)
        status = hm_system_create(model, &system);
    if (status == HM_OK)
        status = run(context, system, &s, &result);
    int failed = status == HM_OK ? 0 : complain(context, status);
    if (!failed) {
        printf("%zu members, %zu on vector lanes, %zu failed\n", result.members, result.batched,
               s.failed);
        printf("b at the end from %.3f to %.3f; energy kept to %.1e\n", s.least, s.largest,
               s.balance_error);
        failed = s.failed > 0 || s.balance_error > 1e-6;
    }
    hm_system_destroy(system);
    hm_model_destroy(model);
    hm_context_destroy(context);
    return failed;
}
