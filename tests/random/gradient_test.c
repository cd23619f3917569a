/* Derivatives of every operator compared with central differences, in f64, on nodes from the
 * generator of random graphs.
 *
 * A node's operands become parameters. Float operands get new numbers, all different, where the
 * operator is smooth. The differentiated function is the sum of the results, weighted by numbers
 * of either sign. For each operand, the derivative along a random direction of all elements, and
 * those by a few single elements, must agree with differences. Differences of two widths are
 * compared first. If they disagree, the point is near a corner and is skipped; few points may be
 * skipped.
 *
 * Forward mode must agree with these derivatives.
 *
 * WICK_GRADIENT_CASES: number of nodes for each operator (40); WICK_GRADIENT_ROW: only this
 * operator. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/grad/forward.h"
#include "graph/grad/grad.h"
#include "ir/copy.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "ops/evaluate.h"
#include "ops/gradient/grad.h"
#include "ops/ref.h"
#include "random_operators.h"

enum { GRADIENT_CASES = 40, GRADIENT_MOST = 16, GRADIENT_ELEMENTS = 6 };
static const double gradient_width = 1e-4, gradient_bound = 1e-6, gradient_corner = 2e-7;

/* The range of operands of functions that do not accept -1 to 1, or have corners there, with the
 * set of these operands. */
static const struct {
  wick_opcode op;
  uint32_t operands;
  double lo, hi;
} ranges[] = {
    {WICK_OP_sqrt, 1, 0.3, 3},
    {WICK_OP_rsqrt, 1, 0.3, 3},
    {WICK_OP_reciprocal, 1, 0.4, 3},
    {WICK_OP_log, 1, 0.3, 3},
    {WICK_OP_log2, 1, 0.3, 3},
    {WICK_OP_log1p, 1, -0.5, 3},
    {WICK_OP_asin, 1, -0.8, 0.8},
    {WICK_OP_acos, 1, -0.8, 0.8},
    {WICK_OP_atanh, 1, -0.8, 0.8},
    {WICK_OP_acosh, 1, 1.3, 4},
    {WICK_OP_div, 2, 0.4, 2},
    {WICK_OP_mod, 2, 0.4, 2},
    {WICK_OP_fmod, 2, 0.4, 2},
    {WICK_OP_fmod, 1, -4, 4},
    {WICK_OP_mod, 1, -4, 4},
    {WICK_OP_pow, 1, 0.3, 2},
    {WICK_OP_pow, 2, -3, 3},
    {WICK_OP_batch_norm, 16, 0.3, 2},
    {WICK_OP_reduce_log_sum, 1, 0.3, 3},
    {WICK_OP_hard_sigmoid, 1, -4, 4},
    {WICK_OP_hard_swish, 1, -4, 4},
    {WICK_OP_celu, 1, -2, 2},
    {WICK_OP_thresholded_relu, 1, -3, 3},
    {WICK_OP_tan, 1, -1, 1},
    {WICK_OP_grid_sample, 2, -1.4, 1.4},
    {WICK_OP_roi_align, 2, -3, 14},
};

typedef struct gradient { /* one node */
  wick_guard guard;
  wick_arena mem, tmp, a, b;
  wick_module *m;
  wick_opcode op;
  wick_elem elem;
  uint64_t seed;
  const wick_func *f, *df;           /* the node alone; the node with its cotangents */
  uint32_t nin, nout;                /* nout: of float results, which come first in f */
  wick_tensor in[2 * GRADIENT_MOST]; /* operands, then cotangents of results */
  wick_tensor by[GRADIENT_MOST];     /* derivatives of float operands; .data is NULL for integers */
  uint32_t compared, corners;
} gradient;

static double gradient_random(gradient *g)
{
  g->seed = g->seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(g->seed >> 11) / 0x1p52 - 1;
}

static void gradient_wrong(const gradient *g, const char *what)
{
  wick_text t = wick_text_begin((wick_arena *)(uintptr_t)&g->mem);
  wick_print_module(g->m, 0, &t);
  fail_msg("%s: %s\n%.6000s", wick_ops[g->op]->name, what, t.at);
}

static void gradient_ok(const gradient *g, wick_status s)
{
  if (s) gradient_wrong(g, s->message);
}

/* ---- a node ---- */

/* Builds a function that returns the operands of a random node of the operator. Returns false if
 * none was found. */
static bool gradient_operands(gradient *g, random_graph *r, wick_node *node, wick_func **out)
{
  *r = (random_graph){.m = g->m, .seed = g->seed, .tmp = &g->tmp, .only = WICK_BIT(g->elem)};
  for (int i = 0; i < 4; i++) random_below(r, 2);
  wick_build_begin(&r->b, g->m, WICK_GRAPH, "operands", &g->mem);
  int64_t dim[5];
  uint32_t rank = g->op == WICK_OP_lstm || g->op == WICK_OP_gru || g->op == WICK_OP_rnn ||
                          g->op == WICK_OP_lstm_step || g->op == WICK_OP_gru_step
                      ? 3
                  : random_below(r, 3) ? 4
                                       : 1 + random_below(r, 5);
  for (uint32_t k = 0; k < rank; k++) dim[k] = 1 + random_below(r, k == 1 ? 9 : k == 0 ? 3 : 7);
  wick_push(
      &g->tmp, &r->values,
      wick_build_param(&r->b, wick_type_tensor_const(g->m, g->elem, rank, dim), WICK_IN, "a"));
  wick_value found = {0};
  for (int tries = 0; tries < 60 && !found.id; tries++) {
    random_row(r, g->op);
    found = random_find(r, (random_pair){g->op, g->elem});
    if (g->op == WICK_OP_one_hot) { /* differentiated by its values, not by its indices */
      found.id = 0;
      for (uint32_t i = 0; i < r->b.nodes.n; i++)
        if (r->b.nodes.at[i].op == g->op && random_info(r, r->b.nodes.at[i].first)->elem == g->elem)
          found = r->b.nodes.at[i].first;
    }
  }
  wick_value in[GRADIENT_MOST];
  uint32_t n = 0;
  for (uint32_t i = 0; found.id && i < r->b.nodes.n; i++)
    if (r->b.nodes.at[i].first.id == found.id) *node = r->b.nodes.at[i];
  if (!found.id || node->nin > GRADIENT_MOST) return false;
  for (uint32_t k = 0; k < node->nin; k++)
    if (node->in[k].id) in[n++] = node->in[k];
  wick_build_return(&r->b, n, in);
  return !wick_build_end(&r->b, out);
}

/* Builds the node on parameters, and finds the results that have cotangents. */
static void gradient_function(gradient *g, const random_graph *r, const wick_node *node)
{
  wick_builder b;
  wick_func *f;
  wick_value in[GRADIENT_MOST] = {{0}}, out[GRADIENT_MOST];
  wick_build_begin(&b, g->m, WICK_GRAPH, "row", &g->mem);
  for (uint32_t k = 0; k < node->nin; k++)
    if (node->in[k].id) {
      const char *name = wick_str_printf(&g->mem, "i%u", k);
      in[k] = wick_build_param(&b, wick_built_type(&r->b, node->in[k]), WICK_IN, name);
    }
  wick_type want = wick_built_type(&r->b, node->first);
  wick_value v = wick_build(&b, g->op, node->nin, in, node->nattr ? node->attr : NULL,
                            wick_ops[g->op]->typed, &want);
  for (uint32_t k = 0; !b.status && k < node->nout; k++)
    if (wick_grad_has(&b, (wick_value){v.id + k})) out[g->nout++] = (wick_value){v.id + k};
  wick_build_return(&b, g->nout, out);
  gradient_ok(g, wick_build_end(&b, &f));
  wick_module_set(g->m, f);
  g->f = f;
}

/* Fills float operand k, or a result's weights, with numbers. */
static void gradient_fill(gradient *g, wick_tensor *t, uint32_t operand, bool operands)
{
  double lo = -1, hi = 1;
  for (size_t i = 0; operands && i < WICK_COUNT(ranges); i++)
    if (ranges[i].op == g->op && ranges[i].operands >> operand & 1)
      lo = ranges[i].lo, hi = ranges[i].hi;
  uint64_t n = wick_ref_numel(t);
  double *data = wick_arena_alloc(&g->mem, n * sizeof *data + 1, 64);
  for (uint64_t i = 0; i < n; i++) data[i] = lo + (gradient_random(g) + 1) / 2 * (hi - lo);
  t->data = data;
}

/* Fills the weights of f's results, from operand nin on. */
static bool gradient_weights(gradient *g)
{
  for (uint32_t k = 0; k < g->nout; k++) {
    wick_tensor *t = &g->in[g->nin + k];
    const wick_type_info *info = wick_info_of(g->f, wick_return(g->f)->in[k]);
    *t = (wick_tensor){.elem = info->elem, .rank = info->rank};
    if (info->elem != WICK_F64 || !wick_type_const_dims(info, t->dim)) return false;
    gradient_fill(g, t, k, false);
  }
  return g->nout != 0;
}

static bool gradient_make(gradient *g)
{
  random_graph r;
  wick_node node = {0};
  wick_func *operands;
  if (!gradient_operands(g, &r, &node, &operands)) return false;
  wick_tensor a = {.elem = WICK_F64, .rank = wick_info_of(operands, (wick_value){1})->rank};
  wick_type_const_dims(wick_info_of(operands, (wick_value){1}), a.dim);
  gradient_fill(g, &a, 0, false);
  gradient_ok(g, wick_evaluate(operands, 1, &a, NULL, &g->mem, &g->a, &g->b, g->in));
  gradient_function(g, &r, &node);
  for (uint32_t k = 0; k < node.nin; k++) {
    if (!node.in[k].id) continue;
    if (g->in[g->nin].elem == WICK_F64) gradient_fill(g, &g->in[g->nin], k, true);
    g->nin++;
  }
  return gradient_weights(g);
}

/* ---- derivatives ---- */

/* Operators that have derivatives only of some forms: there are none of operands packed for dot
 * products, which only layouts make, and of the maximum of samples. */
static bool gradient_refused(const gradient *g, wick_status s)
{
  return s && s->code == WICK_EUNSUPPORTED &&
         (g->op == WICK_OP_matmul_packed || g->op == WICK_OP_lstm_step ||
          g->op == WICK_OP_gru_step || g->op == WICK_OP_roi_align);
}

static bool gradient_evaluate(gradient *g)
{
  wick_value wrt[GRADIENT_MOST];
  wick_func *df;
  wick_gradient d = {.nof = g->nout, .of = wick_return(g->f)->in, .wrt = wrt, .given = true};
  for (uint32_t k = 0; k < g->nin; k++)
    if (g->in[k].elem == WICK_F64) wrt[d.nwrt++] = (wick_value){1 + k};
  wick_status s = wick_differentiate(g->f, &d, &g->mem, &df);
  if (gradient_refused(g, s)) return false;
  gradient_ok(g, s);
  gradient_ok(g, wick_verify_func(df, &g->tmp));
  g->df = df;
  wick_tensor *out = wick_new(&g->mem, wick_tensor, g->nout + d.nwrt);
  gradient_ok(g, wick_evaluate(df, g->nin + g->nout, g->in, NULL, &g->mem, &g->a, &g->b, out));
  for (uint32_t k = 0, n = 0; k < g->nin; k++)
    if (g->in[k].elem == WICK_F64) g->by[k] = out[g->nout + n++];
  return true;
}

/* Returns the weighted sum of the results at operand k + t * direction. */
static double gradient_at(gradient *g, uint32_t k, const double *direction, double t)
{
  wick_mark mark = wick_arena_mark(&g->tmp);
  wick_tensor in[GRADIENT_MOST], out[GRADIENT_MOST];
  memcpy(in, g->in, g->nin * sizeof *in);
  uint64_t n = wick_ref_numel(&in[k]);
  const double *x = in[k].data;
  double *moved = wick_arena_alloc(&g->tmp, n * sizeof *moved + 1, 64), sum = 0;
  for (uint64_t i = 0; i < n; i++) moved[i] = x[i] + t * direction[i];
  in[k].data = moved;
  gradient_ok(g, wick_evaluate(g->f, g->nin, in, NULL, &g->tmp, &g->a, &g->b, out));
  for (uint32_t o = 0; o < g->nout; o++) {
    const double *y = out[o].data, *w = g->in[g->nin + o].data;
    for (uint64_t i = 0; i < wick_ref_numel(&out[o]); i++) sum += y[i] * w[i];
  }
  wick_arena_rewind(&g->tmp, mark);
  return sum;
}

static double gradient_difference(gradient *g, uint32_t k, const double *direction, double width)
{
  double up = gradient_at(g, k, direction, width), down = gradient_at(g, k, direction, -width);
  return (up - down) / (2 * width);
}

static void gradient_compare(gradient *g, uint32_t k, const double *direction)
{
  const double *by = g->by[k].data;
  double want = 0, scale = 1, near, wide, got;
  uint64_t n = wick_ref_numel(&g->by[k]);
  for (uint64_t i = 0; i < n; i++) {
    want += by[i] * direction[i];
    scale = fmax(scale, fabs(by[i]));
  }
  near = gradient_difference(g, k, direction, gradient_width / 2);
  wide = gradient_difference(g, k, direction, gradient_width);
  got = (4 * near - wide) / 3;
  if (fabs(near - wide) > gradient_corner * scale) {
    g->corners++;
    return;
  }
  g->compared++;
  if (fabs(want - got) <= gradient_bound * scale) return;
  gradient_wrong(
      g, wick_str_printf(&g->mem, "by operand %u: %.12g, differences give %.12g", k, want, got));
}

static void gradient_operand(gradient *g, uint32_t k)
{
  uint64_t n = wick_ref_numel(&g->in[k]);
  double *direction = wick_new(&g->mem, double, n + 1), size = 0;
  if (!n) return;
  for (uint64_t i = 0; i < n; i++) direction[i] = gradient_random(g), size += fabs(direction[i]);
  for (uint64_t i = 0; i < n; i++) direction[i] /= fmax(size, 1e-3);
  gradient_compare(g, k, direction);
  for (uint32_t e = 0; e < GRADIENT_ELEMENTS; e++) {
    memset(direction, 0, n * sizeof *direction);
    direction[(uint64_t)((gradient_random(g) + 1) / 2 * (double)n) % n] = 1;
    gradient_compare(g, k, direction);
  }
}

/* Compares the tangents of random directions of all float operands with the cotangents. */
static void gradient_forward(gradient *g)
{
  wick_builder b;
  wick_func *f;
  wick_value in[GRADIENT_MOST], to[GRADIENT_MOST] = {{0}}, y[GRADIENT_MOST], out[GRADIENT_MOST];
  wick_tensor operand[2 * GRADIENT_MOST], got[GRADIENT_MOST];
  uint32_t n = g->nin;
  double want = 0, sum = 0, scale = 1;
  wick_build_begin(&b, g->m, WICK_GRAPH, "tangents", &g->mem);
  memcpy(operand, g->in, n * sizeof *operand);
  for (uint32_t k = 0; k < g->nin; k++)
    in[k] = wick_build_param(&b, wick_type_of(g->f, (wick_value){1 + k}), WICK_IN, NULL);
  for (uint32_t k = 0; k < g->nin; k++) {
    if (!g->by[k].data) continue;
    to[k] = wick_build_param(&b, wick_type_of(g->f, (wick_value){1 + k}), WICK_IN, NULL);
    operand[n] = g->in[k];
    gradient_fill(g, &operand[n], k, false);
    const double *by = g->by[k].data, *t = operand[n++].data;
    for (uint64_t i = 0; i < wick_ref_numel(&g->by[k]); i++)
      want += by[i] * t[i], scale += fabs(by[i] * t[i]);
  }
  wick_forward_body(&b, g->f, in, to, y, out);
  for (uint32_t k = 0; k < g->nout; k++)
    if (!out[k].id) out[k] = wick_grad_fill(&b, y[k], 0);
  wick_build_return(&b, g->nout, out);
  gradient_ok(g, wick_build_end(&b, &f));
  gradient_ok(g, wick_verify_func(f, &g->tmp));
  gradient_ok(g, wick_evaluate(f, n, operand, NULL, &g->mem, &g->a, &g->b, got));
  for (uint32_t k = 0; k < g->nout; k++) {
    const double *t = got[k].data, *w = g->in[g->nin + k].data;
    for (uint64_t i = 0; i < wick_ref_numel(&got[k]); i++)
      sum += t[i] * w[i], scale += fabs(t[i] * w[i]);
  }
  if (fabs(want - sum) > 1e-12 * scale)
    gradient_wrong(g, wick_str_printf(&g->mem, "tangents give %.17g, cotangents %.17g", sum, want));
}

static void gradient_check(gradient *g)
{
  if (!gradient_evaluate(g)) return;
  gradient_forward(g);
  for (uint32_t k = 0; k < g->nin; k++)
    if (g->by[k].data) gradient_operand(g, k);
}

/* Differentiates the derivative: it becomes the function, and the cotangents become operands of
 * it. */
static bool gradient_again(gradient *g)
{
  const wick_func *df = g->df;
  const wick_node *end = wick_return(df);
  wick_func *f;
  if (g->nin + g->nout + (end->nin - g->nout) > GRADIENT_MOST) return false;
  wick_copier c = wick_copy_begin(df, &g->mem);
  wick_value out[GRADIENT_MOST];
  for (uint32_t i = 0; i + 1 < df->nnode; i++) wick_copy_node(&c, &df->node[i]);
  g->nin += g->nout;
  g->nout = end->nin - g->nout;
  for (uint32_t k = 0; k < g->nout; k++) out[k] = c.to[end->in[end->nin - g->nout + k].id];
  wick_build_return(&c.b, g->nout, out);
  gradient_ok(g, wick_copy_finish(&c, &f));
  g->f = f;
  memset(g->by, 0, sizeof g->by);
  return gradient_weights(g);
}

static void gradient_begin(gradient *g, wick_opcode op, wick_elem elem, uint64_t seed)
{
  *g = (gradient){
      .guard = {.allocator = wick_allocator_malloc()}, .op = op, .elem = elem, .seed = seed};
  g->mem = wick_arena_make(&g->guard);
  g->tmp = wick_arena_make(&g->guard);
  g->a = wick_arena_make(&g->guard);
  g->b = wick_arena_make(&g->guard);
  g->m = wick_module_create(&g->guard, "");
}

static void gradient_end(gradient *g)
{
  wick_module_free(g->m);
  wick_arena_free(&g->mem);
  wick_arena_free(&g->tmp);
  wick_arena_free(&g->a);
  wick_arena_free(&g->b);
}

/* Tests one node of the operator, and adds to the statistics. Returns false if none was built. */
static bool gradient_case(wick_opcode op, uint64_t seed, bool again, uint32_t *compared,
                          uint32_t *corners)
{
  gradient g;
  gradient_begin(&g, op, WICK_F64, seed);
  bool made = gradient_make(&g);
  if (made) gradient_check(&g);
  if (made && again && g.df && gradient_again(&g)) gradient_check(&g);
  *compared += g.compared, *corners += g.corners;
  gradient_end(&g);
  return made;
}

/* ---- tests ---- */

static bool gradient_wanted(wick_opcode op)
{
  const wick_op *row = wick_ops[op];
  return random_types(&(random_wish){0}, op) & WICK_BIT(WICK_F64) && row->grad != wick_grad_none &&
         row->grad != wick_grad_zero && (row->grad || row->expand);
}

/* For other types, checks that cotangents have the types of their values. */
static void test_types(void **state)
{
  (void)state;
  static const wick_elem elems[] = {WICK_F32, WICK_F16, WICK_BF16};
  for (wick_opcode op = 1; op < WICK_NOP; op++)
    for (uint32_t i = 0; i < 6 * WICK_COUNT(elems); i++) {
      gradient g;
      random_graph r;
      wick_node node = {0};
      wick_func *f;
      if (!gradient_wanted(op) || !(random_types(&(random_wish){0}, op) >> elems[i % 3] & 1))
        continue;
      gradient_begin(&g, op, elems[i % 3], 1000003u * (uint64_t)op + i);
      if (gradient_operands(&g, &r, &node, &f)) {
        gradient_function(&g, &r, &node);
        wick_value wrt[GRADIENT_MOST];
        wick_gradient d = {.nof = g.nout, .of = wick_return(g.f)->in, .wrt = wrt, .given = true};
        for (uint32_t k = 1; k <= g.f->nparam; k++)
          if (WICK_FLOATS >> wick_info_of(g.f, (wick_value){k})->elem & 1)
            wrt[d.nwrt++] = (wick_value){k};
        wick_status s = wick_differentiate(g.f, &d, &g.mem, &f);
        if (!s) s = wick_verify_func(f, &g.tmp);
        if (!gradient_refused(&g, s)) gradient_ok(&g, s);
      }
      gradient_end(&g);
    }
}

static void test_rows(void **state)
{
  /* used only by tests of whole graphs */
  (void)state, (void)random_step, (void)random_params, (void)random_pair_of;
  const char *text = getenv("WICK_GRADIENT_CASES"), *only = getenv("WICK_GRADIENT_ROW");
  uint32_t cases = text ? (uint32_t)strtoul(text, NULL, 10) : GRADIENT_CASES;
  for (wick_opcode op = 1; op < WICK_NOP; op++) {
    uint32_t made = 0, compared = 0, corners = 0;
    if (!gradient_wanted(op) || (only && strcmp(only, wick_ops[op]->name) != 0)) continue;
    for (uint32_t k = 0; k < 4 * cases && made < cases; k++)
      made += gradient_case(op, 1000003u * (uint64_t)op + k, k % 4 == 0, &compared, &corners);
    if (!made || corners > compared)
      fail_msg("%s: %u nodes, %u points compared, %u near corners", wick_ops[op]->name, made,
               compared, corners);
    if (only) print_message("%s: %u nodes, %u points, %u corners\n", only, made, compared, corners);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_types), cmocka_unit_test(test_rows)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
