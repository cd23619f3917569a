/* Blocked layouts do not change results: random chains of convolutions, shuffles, pools,
 * concatenations and element-wise operators are evaluated before and after the pass. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "graph/layout/assign_layouts.h"
#include "ir/build.h"
#include "ops/evaluate.h"

typedef struct assign_layouts_random {
  wick_builder b;
  wick_module *m;
  wick_arena *mem;
  uint64_t seed;
  int64_t group; /* of the last convolution */
  uint32_t n;    /* spatial axes */
  bool computed; /* weights are no constants */
} assign_layouts_random;

static wick_status assign_layouts_run(const wick_func *f, const wick_target *t, bool strict,
                                      wick_arena *mem, wick_func **out)
{
  const wick_pass_context pass = {.target = t, .strict = strict, .mem = mem, .tmp = mem};
  return wick_pass_assign_layouts(&pass, f, out);
}

static int64_t assign_layouts_pick(assign_layouts_random *r, uint32_t n, const int64_t *of)
{
  r->seed = r->seed * 6364136223846793005u + 1442695040888963407u;
  return of[(r->seed >> 33) % n];
}
#define PICK(r, ...)                                                                               \
  assign_layouts_pick(r, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t),                       \
                      (int64_t[]){__VA_ARGS__})

static float *assign_layouts_numbers(assign_layouts_random *r, int64_t n)
{
  float *x = wick_new(&r->m->mem, float, (size_t)n);
  for (int64_t i = 0; i < n; i++) x[i] = (float)PICK(r, -3, -2, -1, 1, 2, 3) / 4;
  return x;
}

static wick_value assign_layouts_weights(assign_layouts_random *r, uint32_t rank,
                                         const int64_t *dim)
{
  int64_t n = 1;
  for (uint32_t k = 0; k < rank; k++) n *= dim[k];
  return wick_build_constant(
      &r->b, wick_constant_add(r->m, "w", wick_type_tensor_const(r->m, WICK_F32, rank, dim),
                               assign_layouts_numbers(r, n), (uint64_t)n * 4));
}

/* Weights that are a constant, or computed. */
static wick_value assign_layouts_factor(assign_layouts_random *r, uint32_t rank, const int64_t *dim)
{
  wick_value w = assign_layouts_weights(r, rank, dim);
  return r->computed ? wick_build1(&r->b, WICK_OP_neg, w) : w;
}

static wick_value assign_layouts_conv(assign_layouts_random *r, wick_value x)
{
  const wick_type_info *t = wick_built_info(&r->b, x);
  int64_t c = t->dim[1].v, group = PICK(r, 1, 1, 2, 3, 4, c), size = PICK(r, 1, 1, 3);
  if (c % group) group = 1;
  r->group = group;
  r->computed = PICK(r, 0, 0, 1);
  int64_t out = group == c && c > 4 ? c : group * PICK(r, 1, 3, 4, 6, 8, 10);
  int64_t half = size / 2, dim[5] = {out, c / group, size, size, size},
          pad[6] = {half, half, half, half, half, half}, stride[3] = {1, 1, 1};
  stride[r->n - 1] = PICK(r, 1, 2);
  wick_attr a[4] = {
      {.n = r->n, .ints = stride}, {.n = 2 * r->n, .ints = pad}, {.n = 0}, {.i = group}};
  wick_value in[3] = {x, assign_layouts_factor(r, r->n + 2, dim)};
  if (PICK(r, 0, 1)) in[2] = assign_layouts_factor(r, 1, &out);
  return wick_build(&r->b, WICK_OP_conv, in[2].id ? 3 : 2, in, a, 0, NULL);
}

/* Multiplies x by its mean over all positions, or along channels, after an operator that
 * maps 0 to another number. */
static wick_value assign_layouts_gate(assign_layouts_random *r, wick_value x)
{
  static const int64_t places[3] = {2, 3, 4}, channel = 1;
  bool thin = PICK(r, 0, 1);
  wick_attr mean[2] = {{.n = thin ? 1 : r->n, .ints = thin ? &channel : places}, {.i = 1}};
  wick_value gate = wick_build(&r->b, WICK_OP_reduce_mean, 1, &x, mean, 0, NULL);
  if (PICK(r, 0, 1)) gate = wick_build1(&r->b, WICK_OP_cos, gate);
  return wick_build2(&r->b, PICK(r, 0, 1) ? WICK_OP_mul : WICK_OP_add, gate, x);
}

static wick_value assign_layouts_step(assign_layouts_random *r, wick_value x)
{
  static const int64_t twos[3] = {2, 2, 2}, places[3] = {2, 3, 4};
  const wick_type_info *t = wick_built_info(&r->b, x);
  int64_t c = t->dim[1].v, channels[4] = {c, 1, 1, 1};
  wick_value pair[2] = {x, x};
  wick_attr groups[2] = {{.i = 1}, {.i = r->group > 1 ? r->group : PICK(r, 2, 3, 4)}},
            axis = {.i = r->n == 2 ? PICK(r, 1, 2, 3) : PICK(r, 1, 2, 3, 4)},
            pool[WICK_MAX_ATTR] = {{.n = 0}, {.n = 0}, {.n = 0}, {.n = r->n, .ints = twos}},
            mean[2] = {{.n = r->n, .ints = places}, {.i = 1}};
  switch (PICK(r, 0, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 11)) {
  case 0: return wick_build1(&r->b, WICK_OP_relu, x);
  case 1: return wick_build2(&r->b, WICK_OP_mul, x, assign_layouts_weights(r, 1 + r->n, channels));
  case 2:
    return c % groups[1].i ? x : wick_build(&r->b, WICK_OP_channel_shuffle, 1, &x, groups, 0, NULL);
  case 3:
    return wick_build(&r->b, PICK(r, 0, 1) ? WICK_OP_concat : WICK_OP_interleave, 2, pair, &axis, 0,
                      NULL);
  case 4:
    for (uint32_t k = 0; k < r->n; k++)
      if (t->dim[2 + k].v < 2) return x;
    return wick_build(&r->b, PICK(r, 0, 1) ? WICK_OP_max_pool : WICK_OP_avg_pool, 1, &x, pool, 0,
                      NULL);
  case 5: return wick_build(&r->b, WICK_OP_reduce_mean, 1, &x, mean, 0, NULL);
  case 6: return wick_build1(&r->b, WICK_OP_cos, x); /* gives 1 for channels that do not exist */
  case 11: return assign_layouts_gate(r, x);
  default: return assign_layouts_conv(r, x);
  }
}

static const wick_func *assign_layouts_function(assign_layouts_random *r)
{
  r->n = (uint32_t)PICK(r, 2, 2, 3);
  int64_t dim[5] = {1, PICK(r, 3, 4, 6, 8, 12, 20), PICK(r, 1, 5), 6, 3};
  wick_func *f;
  wick_build_begin(&r->b, r->m, WICK_GRAPH, "f", r->mem);
  wick_value x = wick_build_param(&r->b, wick_type_tensor_const(r->m, WICK_F32, r->n + 2, dim),
                                  WICK_IN, "x"),
             last = x, out[2];
  for (uint32_t i = 0; i < 7; i++) {
    last = x;
    x = assign_layouts_step(r, x);
    /* the sum of two values that may have different layouts */
    if (x.id && last.id && x.id != last.id &&
        wick_type_eq(wick_built_type(&r->b, x), wick_built_type(&r->b, last)) && PICK(r, 0, 1))
      x = wick_build2(&r->b, WICK_OP_add, x, last);
  }
  out[0] = x, out[1] = last;
  wick_build_return(&r->b, 2, out);
  assert_null(wick_build_end(&r->b, &f));
  return f;
}

static void assign_layouts_evaluate(const wick_func *f, const wick_tensor *in, wick_tensor *out,
                                    wick_arena *mem, wick_guard *guard)
{
  wick_arena tmp = wick_arena_make(guard), scratch = wick_arena_make(guard);
  wick_status s = wick_evaluate(f, 1, in, NULL, mem, &tmp, &scratch, out);
  if (s) fail_msg("%s", s->message);
  wick_arena_free(&scratch);
  wick_arena_free(&tmp);
}

static void assign_layouts_compare(const wick_tensor *a, const wick_tensor *b, uint64_t seed)
{
  int64_t n = 1;
  double largest = 0, error = 0;
  for (uint32_t k = 0; k < a->rank; k++) n *= a->dim[k];
  for (int64_t i = 0; i < n; i++) {
    double x = ((const float *)a->data)[i], y = ((const float *)b->data)[i];
    largest = fmax(largest, fabs(x));
    error = fmax(error, fabs(x - y));
  }
  if (!(error <= 1e-5 * largest))
    fail_msg("seed %llu: %g of %g", (unsigned long long)seed, error, largest);
}

/* Features that the compared functions must have. */
typedef struct assign_layouts_seen {
  unsigned convs, volumes, by_channels, shuffled, unpacked_parts, joins, gates, thin;
} assign_layouts_seen;

static const wick_node *assign_layouts_definer(const wick_func *g, wick_value v)
{
  for (uint32_t i = 0; i < g->nnode; i++)
    if (g->node[i].nout == 1 && g->node[i].first.id == v.id) return &g->node[i];
  return NULL;
}

static bool assign_layouts_repeated(const wick_func *g, wick_value v, wick_value to)
{
  return assign_layouts_definer(g, v)->op != WICK_OP_const &&
         !wick_type_eq(wick_type_of(g, v), wick_type_of(g, to));
}

static void assign_layouts_count(const wick_func *g, uint32_t spatial, assign_layouts_seen *seen)
{
  uint32_t rank = spatial + 3; /* of a packed image */
  for (uint32_t i = 0; i < g->nnode; i++) {
    const wick_node *n = &g->node[i];
    if (n->op == WICK_OP_conv_packed) {
      seen->convs++;
      seen->volumes += spatial == 3;
      seen->by_channels += n->attr[WICK_ATTR_conv_packed_channels].i != 0;
      seen->shuffled += n->attr[WICK_ATTR_conv_packed_shuffle].i != 0;
    }
    seen->unpacked_parts += n->op == WICK_OP_unpack && wick_info_of(g, n->in[0])->rank == rank + 1;
    seen->joins += (n->op == WICK_OP_concat || n->op == WICK_OP_interleave) &&
                   wick_info_of(g, n->first)->rank == rank;
    bool two =
        (n->op == WICK_OP_mul || n->op == WICK_OP_add) && assign_layouts_definer(g, n->in[0]);
    seen->gates += two && assign_layouts_definer(g, n->in[0])->op != WICK_OP_reshape &&
                   wick_info_of(g, n->first)->rank == rank &&
                   assign_layouts_repeated(g, n->in[0], n->first);
    seen->thin += two && assign_layouts_definer(g, n->in[0])->op == WICK_OP_reshape &&
                  wick_info_of(g, n->first)->rank == rank;
  }
}

static void test_random(void **state)
{
  (void)state;
  assign_layouts_seen seen = {0};
  wick_target t;
  assert_true(wick_target_find("x86-64-v2", &t)); /* blocks of 4 */
  for (uint64_t seed = 1; seed <= 1000; seed++) {
    wick_guard guard = {.allocator = wick_allocator_malloc()};
    if (setjmp(guard.where)) fail_msg("out of memory");
    wick_arena mem = wick_arena_make(&guard);
    assign_layouts_random r = {.m = wick_module_create(&guard, ""), .mem = &mem, .seed = seed};
    const wick_func *f = assign_layouts_function(&r);
    wick_func *g;
    assert_null(assign_layouts_run(f, &t, true, &mem, &g));
    wick_tensor in = {.elem = WICK_F32, .rank = r.n + 2}, before[2], after[2];
    int64_t numel = 1;
    wick_type_const_dims(wick_info_of(f, (wick_value){1}), in.dim);
    for (uint32_t k = 0; k < in.rank; k++) numel *= in.dim[k];
    in.data = assign_layouts_numbers(&r, numel);
    assign_layouts_evaluate(f, &in, before, &mem, &guard);
    assign_layouts_evaluate(g, &in, after, &mem, &guard);
    assign_layouts_count(g, r.n, &seen);
    for (uint32_t k = 0; k < 2; k++) assign_layouts_compare(&before[k], &after[k], seed);
    wick_module_free(r.m);
    wick_arena_free(&mem);
  }
  assert_true(seen.convs > 400 && seen.volumes > 100 && seen.by_channels > 40 &&
              seen.shuffled > 10);
  assert_true(seen.unpacked_parts > 10 && seen.joins > 20);
  assert_true(seen.gates > 20 && seen.thin > 20);
}

/* A single convolution. */
typedef struct assign_layouts_layer {
  int64_t in, out, y, x, taps, pad, stride, group;
  int64_t tile; /* tile of Winograd's algorithm; 0: not used */
} assign_layouts_layer;

/* Builds the convolution. With `dynamic`, the sizes of the image are dynamic, in a range around the
 * given ones. */
static const wick_func *assign_layouts_single(assign_layouts_random *r,
                                              const assign_layouts_layer *l, bool dynamic)
{
  int64_t dim[4] = {1, l->in, l->y, l->x}, w[4] = {l->out, l->in / l->group, l->taps, l->taps},
          pad[4] = {l->pad, l->pad, l->pad, l->pad}, stride[2] = {l->stride, l->stride};
  wick_attr a[4] = {{.n = 2, .ints = stride}, {.n = 4, .ints = pad}, {.n = 0}, {.i = l->group}};
  wick_func *f;
  wick_build_begin(&r->b, r->m, WICK_GRAPH, "f", r->mem);
  wick_dim any[4] = {wick_dim_const(1), wick_dim_const(l->in),
                     wick_dim_symbol(r->m->dims, "H", (l->y + 1) / 2, 2 * l->y),
                     wick_dim_symbol(r->m->dims, "W", (l->x + 1) / 2, 2 * l->x)};
  wick_type type = dynamic ? wick_type_tensor(r->m, WICK_F32, 4, any)
                           : wick_type_tensor_const(r->m, WICK_F32, 4, dim);
  wick_value in[2] = {wick_build_param(&r->b, type, WICK_IN, "x"), assign_layouts_factor(r, 4, w)},
             y = wick_build(&r->b, WICK_OP_conv, 2, in, a, 0, NULL);
  y = wick_build1(&r->b, WICK_OP_relu, y);
  wick_build_return(&r->b, 1, &y);
  assert_null(wick_build_end(&r->b, &f));
  return f;
}

static int64_t assign_layouts_tile(const wick_func *g)
{
  for (uint32_t i = 0; i < g->nnode; i++)
    if (g->node[i].op == WICK_OP_conv_winograd)
      return g->node[i].attr[WICK_ATTR_conv_winograd_tile].i;
  return 0;
}

/* Checks that both functions give the same results for random numbers. */
static void assign_layouts_same(assign_layouts_random *r, const wick_func *f, const wick_func *g,
                                wick_guard *guard, uint64_t seed)
{
  wick_tensor in = {.elem = WICK_F32, .rank = 4}, before, after;
  wick_type_const_dims(wick_info_of(f, (wick_value){1}), in.dim);
  in.data = assign_layouts_numbers(r, in.dim[0] * in.dim[1] * in.dim[2] * in.dim[3]);
  assign_layouts_evaluate(f, &in, &before, r->mem, guard);
  assign_layouts_evaluate(g, &in, &after, r->mem, guard);
  assign_layouts_compare(&before, &after, seed);
}

static void test_winograd(void **state)
{
  (void)state;
  static const assign_layouts_layer layers[] = {
      {32, 32, 13, 15, 3, 1, 1, 1, 4},
      {29, 18, 8, 7, 3, 1, 1, 1, 2},
      {16, 16, 12, 12, 5, 2, 1, 1, 4},
      /* not by Winograd's algorithm: too small, strides, groups, a single tap */
      {32, 32, 10, 13, 2, 0, 1, 1, 3},
      {32, 32, 3, 12, 3, 1, 1, 1, 0},
      {32, 32, 13, 15, 3, 1, 2, 1, 0},
      {32, 32, 13, 15, 3, 1, 1, 4, 0},
      {32, 32, 13, 15, 1, 0, 1, 1, 0},
      {16, 16, 12, 12, 8, 3, 1, 1, 0},
  };
  wick_target t;
  assert_true(wick_target_find("x86-64-v2", &t));
  for (size_t i = 0; i < 2 * sizeof layers / sizeof *layers; i++) {
    const assign_layouts_layer *layer = &layers[i / 2];
    wick_guard guard = {.allocator = wick_allocator_malloc()};
    if (setjmp(guard.where)) fail_msg("out of memory");
    wick_arena mem = wick_arena_make(&guard);
    assign_layouts_random r = {
        .m = wick_module_create(&guard, ""), .mem = &mem, .seed = i, .computed = i % 2};
    const wick_func *f = assign_layouts_single(&r, layer, false);
    wick_func *g, *strict, *dynamic;
    assert_null(assign_layouts_run(f, &t, true, &mem, &strict));
    assert_int_equal(assign_layouts_tile(strict), 0);
    assert_null(assign_layouts_run(f, &t, false, &mem, &g));
    assert_int_equal(assign_layouts_tile(g), layer->tile);
    assign_layouts_same(&r, f, g, &guard, i);
    assert_null(
        assign_layouts_run(assign_layouts_single(&r, layer, true), &t, false, &mem, &dynamic));
    assert_int_equal(assign_layouts_tile(dynamic), layer->tile);
    wick_module_free(r.m);
    wick_arena_free(&mem);
  }
}

/* Few channels of the result in each group: the lanes are channels of the input, in blocks
 * within their group. */
static void test_groups_across(void **state)
{
  (void)state;
  static const struct {
    assign_layouts_layer layer;
    bool across;
  } rows[] = {
      {{52, 2, 9, 10, 3, 1, 2, 2, 0}, true},  {{48, 2, 7, 6, 3, 1, 1, 2, 0}, true},
      {{52, 4, 9, 10, 3, 1, 3, 4, 0}, true},  {{48, 16, 7, 6, 3, 1, 1, 2, 0}, false},
      {{12, 4, 9, 10, 1, 0, 1, 4, 0}, false},
  };
  wick_target t;
  assert_true(wick_target_find("x86-64-v2", &t));
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    wick_guard guard = {.allocator = wick_allocator_malloc()};
    if (setjmp(guard.where)) fail_msg("out of memory");
    wick_arena mem = wick_arena_make(&guard);
    assign_layouts_random r = {.m = wick_module_create(&guard, ""), .mem = &mem, .seed = i};
    const wick_func *f = assign_layouts_single(&r, &rows[i].layer, false);
    wick_func *g;
    bool across = false;
    assert_null(assign_layouts_run(f, &t, true, &mem, &g));
    for (uint32_t k = 0; k < g->nnode; k++)
      across = across || (g->node[k].op == WICK_OP_conv_packed &&
                          wick_info_of(g, g->node[k].first)->rank == 4);
    if (across != rows[i].across) fail_msg("layer %zu", i);
    assign_layouts_same(&r, f, g, &guard, i);
    wick_module_free(r.m);
    wick_arena_free(&mem);
  }
}

/* Strided rows of a plain image are shuffled from several vectors. Where that takes many operations,
 * blocks pay for fewer channels. */
static void test_strided_rows(void **state)
{
  (void)state;
  static const assign_layouts_layer layer = {52, 24, 77, 120, 3, 0, 2, 1, 0};
  static const struct {
    const char *target;
    bool packed;
  } rows[] = {{"x86-64-v3", true}, {"x86-64-v4", false}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    wick_guard guard = {.allocator = wick_allocator_malloc()};
    if (setjmp(guard.where)) fail_msg("out of memory");
    wick_arena mem = wick_arena_make(&guard);
    assign_layouts_random r = {.m = wick_module_create(&guard, ""), .mem = &mem, .seed = i};
    wick_target t;
    assert_true(wick_target_find(rows[i].target, &t));
    wick_func *g;
    bool packed = false;
    assert_null(assign_layouts_run(assign_layouts_single(&r, &layer, false), &t, false, &mem, &g));
    for (uint32_t k = 0; k < g->nnode; k++) packed = packed || g->node[k].op == WICK_OP_conv_packed;
    if (packed != rows[i].packed) fail_msg("%s", rows[i].target);
    wick_module_free(r.m);
    wick_arena_free(&mem);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_winograd),
                                     cmocka_unit_test(test_groups_across),
                                     cmocka_unit_test(test_strided_rows)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
