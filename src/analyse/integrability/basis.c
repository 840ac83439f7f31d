/* The directions that the rows of a transport leave free, as expressions (transport.h). */
#include "analyse/integrability/transport.h"

hm_status hmi_transport_basis(const hmi_transport *tr, hmi_expr **basis)
{
    hmi_forms *f = tr->forms;
    hmi_graph *g = &f->graph;
    size_t r = tr->rank, freed = tr->size - r;
    hmi_expr *square = hmi_arena_alloc(&f->arena, (r * r + 1) * sizeof *square);
    hmi_expr *rhs = hmi_arena_alloc(&f->arena, (r * freed + 1) * sizeof *rhs);
    hmi_expr *x = hmi_arena_alloc(&f->arena, (r * freed + 1) * sizeof *x);
    hmi_expr *N = hmi_arena_alloc(&f->arena, (tr->size * freed + 1) * sizeof *N);
    if (!square || !rhs || !x || !N)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < r; i++) {
        const hmi_form *form = tr->form[tr->chosen[i]];
        for (size_t j = 0; j < r; j++)
            square[i * r + j] = hmi_form_component(f, form, tr->pivot[j]);
        for (size_t b = 0; b < freed; b++)
            rhs[i * freed + b] = hmi_neg(g, hmi_form_component(f, form, tr->freed[b]));
    }
    hm_status status = r ? hmi_symbolic_solve(f->normal, r, square, freed, rhs, x, NULL) : HM_OK;
    for (size_t i = 0; i < tr->size * freed; i++)
        N[i] = g->zero;
    for (size_t b = 0; b < freed && status == HM_OK; b++) {
        N[tr->freed[b] * freed + b] = g->one;
        for (size_t i = 0; i < r; i++)
            N[tr->pivot[i] * freed + b] = x[i * freed + b];
    }
    *basis = N;
    return status;
}
