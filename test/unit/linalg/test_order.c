/* Orders of elimination: permutations, little fill, narrow bands, who waits for whom. */
#include "support/check.h"

#include "linalg/order.h"
#include "linalg/sparse.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 4000 };

typedef struct graph {
    size_t count, edges;
    uint32_t from[4 * MOST], to[4 * MOST];
    size_t start[MOST + 1];
    uint32_t neighbour[8 * MOST];
} graph;

static void connect(graph *g, uint32_t i, uint32_t j)
{
    g->from[g->edges] = i;
    g->to[g->edges++] = j;
}

static hmi_pattern pattern_of(graph *g)
{
    size_t at = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        uint8_t is_neighbour[MOST] = {0};
        g->start[i] = at;
        for (size_t k = 0; k < g->edges; k++)
            if (g->from[k] == i || g->to[k] == i)
                is_neighbour[g->from[k] == i ? g->to[k] : g->from[k]] = 1;
        for (uint32_t j = 0; j < g->count; j++)
            if (is_neighbour[j])
                g->neighbour[at++] = j;
    }
    g->start[g->count] = at;
    return (hmi_pattern){g->count, g->start, g->neighbour};
}

static void check_permutation(size_t count, const uint32_t *order)
{
    uint8_t seen[MOST] = {0};
    for (size_t k = 0; k < count; k++) {
        assert_true(order[k] < count && !seen[order[k]]);
        seen[order[k]] = 1;
    }
}

/* Entries of L below the diagonal, in an order. */
static size_t fill_of(const hmi_pattern *p, const uint32_t *order)
{
    const hm_allocator allocator = hm_allocator_default();
    static uint32_t place[MOST], column[8 * MOST];
    static size_t start[MOST + 1];
    hmi_arena arena;
    hmi_ldlt_sparse f;
    size_t at = 0;
    for (size_t k = 0; k < p->count; k++)
        place[order ? order[k] : k] = (uint32_t)k;
    for (size_t k = 0; k < p->count; k++) {
        size_t i = order ? order[k] : k;
        start[k] = at;
        for (size_t e = p->start[i]; e < p->start[i + 1]; e++)
            if (place[p->neighbour[e]] < k)
                column[at++] = place[p->neighbour[e]];
        column[at++] = (uint32_t)k;
    }
    start[p->count] = at;
    const hmi_lower lower = {p->count, start, column};
    hmi_arena_init(&arena, &allocator);
    assert_int_equal(hmi_ldlt_sparse_init(&f, &allocator, &arena, &lower, SIZE_MAX), HM_OK);
    size_t fill = f.column_start[p->count];
    hmi_arena_release(&arena);
    return fill;
}

static graph *new_graph(size_t count)
{
    graph *g = calloc(1, sizeof *g);
    assert_non_null(g);
    g->count = count;
    return g;
}

/* Leaves first: a tree has no fill, in whatever order its nodes are numbered. */
static void test_tree(void **state)
{
    (void)state;
    const hm_allocator allocator = hm_allocator_default();
    graph *g = new_graph(1000);
    random_source random = {1};
    uint32_t order[MOST];
    for (uint32_t i = 1; i < g->count; i++)
        connect(g, (i * 7) % 1000, (uint32_t)random_between(&random, 0, i) * 7 % 1000);
    const hmi_pattern p = pattern_of(g);
    assert_int_equal(hmi_order_minimum_degree(&allocator, &p, g->count, order), HM_OK);
    check_permutation(g->count, order);
    assert_int_equal(fill_of(&p, order), p.start[g->count] / 2);
    free(g);
}

/* A grid of 40 x 40: natural order fills a band of 40, minimum degree half of that or less. */
static void test_grid(void **state)
{
    (void)state;
    const hm_allocator allocator = hm_allocator_default();
    graph *g = new_graph(1600);
    uint32_t order[MOST];
    for (uint32_t i = 0; i < 40; i++)
        for (uint32_t j = 0; j < 40; j++) {
            if (j > 0)
                connect(g, 40 * i + j, 40 * i + j - 1);
            if (i > 0)
                connect(g, 40 * i + j, 40 * i + j - 40);
        }
    const hmi_pattern p = pattern_of(g);
    assert_int_equal(hmi_order_minimum_degree(&allocator, &p, g->count, order), HM_OK);
    check_permutation(g->count, order);
    assert_in_range(fill_of(&p, order), 1600, fill_of(&p, NULL) / 2);
    free(g);
}

/* A chain whose links are numbered at random is a band of width 1 again; a ring of width 2. */
static void test_band(void **state)
{
    (void)state;
    const hm_allocator allocator = hm_allocator_default();
    for (int ring = 0; ring < 2; ring++) {
        graph *g = new_graph(997);
        uint32_t order[MOST];
        size_t width;
        for (uint32_t i = 1; i < g->count; i++)
            connect(g, i * 101 % 997, (i - 1) * 101 % 997);
        if (ring)
            connect(g, 0, 996 * 101 % 997);
        const hmi_pattern p = pattern_of(g);
        assert_int_equal(hmi_order_width(&allocator, &p, NULL, &width), HM_OK);
        assert_in_range(width, 3, 996);
        assert_int_equal(hmi_order_band(&allocator, &p, order), HM_OK);
        check_permutation(g->count, order);
        assert_int_equal(hmi_order_width(&allocator, &p, order, &width), HM_OK);
        assert_int_equal(width, ring ? 2 : 1);
        free(g);
    }
}

/* Multipliers come after the coordinates of their rows, on random bipartite graphs. */
static void test_waiting(void **state)
{
    (void)state;
    const hm_allocator allocator = hm_allocator_default();
    for (uint64_t seed = 1; seed <= 30; seed++) {
        enum { N = 120, M = 60 };
        graph *g = new_graph(N + M);
        random_source random = {seed};
        uint32_t order[MOST], place[MOST];
        for (uint32_t i = 0; i < M; i++)
            for (int k = 0; k < 4; k++)
                connect(g, N + i, (uint32_t)random_between(&random, 0, N));
        for (uint32_t i = 1; i < N; i++)
            if (random_between(&random, 0, 1) < 0.4)
                connect(g, i, (uint32_t)random_between(&random, 0, i));
        const hmi_pattern p = pattern_of(g);
        assert_int_equal(hmi_order_minimum_degree(&allocator, &p, N, order), HM_OK);
        check_permutation(g->count, order);
        for (uint32_t k = 0; k < g->count; k++)
            place[order[k]] = k;
        for (uint32_t i = N; i < N + M; i++)
            for (size_t k = p.start[i]; k < p.start[i + 1]; k++)
                assert_true(place[i] > place[p.neighbour[k]]);
        free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree),
        cmocka_unit_test(test_grid),
        cmocka_unit_test(test_band),
        cmocka_unit_test(test_waiting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
