/* Batches of every operator, and of random functions with branches and loops, compared with a loop
 * over the rows: both run by the reference evaluator.
 *
 * A node's operands become parameters; some of them have rows, along any dimension. The rows of a
 * float operand have numbers of their own; those of other operands are the operand's own elements,
 * in turned order, so that indices stay valid.
 *
 * WICK_BATCH_CASES: number of nodes for each operator (30); WICK_BATCH_ROW: only this operator. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/vmap/vmap.h"
#include "ir/copy.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "ops/evaluate.h"
#include "ops/ref.h"
#include "random_flow.h"

enum { BATCH_CASES = 30, BATCH_FLOWS = 300, BATCH_MOST = 16, BATCH_ROWS = 4 };

typedef struct batch { /* one function */
  wick_guard guard;
  wick_arena mem, tmp, a, b;
  wick_module *m;
  const char *name;
  random_graph r;
  const wick_func *f, *all; /* of one row; of all rows */
  bool alone;               /* f has one node */
  uint32_t nin, nout;
  int64_t rows, axis[BATCH_MOST];
  wick_tensor in[BATCH_MOST];              /* the operands that the generator made */
  wick_tensor row[BATCH_ROWS][BATCH_MOST]; /* of each row */
  wick_tensor whole[BATCH_MOST];           /* of all rows */
} batch;

static void batch_wrong(batch *t, const char *what)
{
  wick_text text = wick_text_begin(&t->mem);
  if (t->f) wick_print_func(t->f, 0, &text);
  if (t->all) wick_print_func(t->all, 0, &text);
  fail_msg("%s: %s\n%.9000s", t->name, what, text.at);
}

static void batch_ok(batch *t, wick_status s)
{
  if (s) batch_wrong(t, s->message);
}

static void batch_begin(batch *t, const char *name, uint64_t seed)
{
  *t = (batch){.guard = {.allocator = wick_allocator_malloc()}, .name = name};
  t->mem = wick_arena_make(&t->guard), t->tmp = wick_arena_make(&t->guard);
  t->a = wick_arena_make(&t->guard), t->b = wick_arena_make(&t->guard);
  t->m = wick_module_create(&t->guard, "");
  t->r = (random_graph){.m = t->m, .seed = seed, .tmp = &t->tmp};
  for (int i = 0; i < 4; i++) random_below(&t->r, 2);
}

static void batch_end(batch *t)
{
  wick_module_free(t->m);
  wick_arena_free(&t->mem), wick_arena_free(&t->tmp);
  wick_arena_free(&t->a), wick_arena_free(&t->b);
}

/* ---- tensors ---- */

static wick_tensor batch_new(batch *t, wick_elem e, uint32_t rank, const int64_t *dim)
{
  wick_tensor x = {.elem = e, .rank = rank};
  for (uint32_t k = 0; k < rank; k++) x.dim[k] = dim[k];
  size_t n = (size_t)wick_elem_bytes(e, wick_ref_numel(&x));
  x.data = wick_arena_alloc(&t->mem, n + 1, 64);
  memset(x.data, 0, n);
  return x;
}

static void batch_random(batch *t, wick_tensor *x)
{
  for (uint64_t i = 0; i < wick_ref_numel(x); i++) {
    double v = ((double)random_below(&t->r, 4001) - 2000) / 1000;
    bool is_float = wick_elem_is_float(x->elem);
    wick_store_elem(x->elem, x->data, i,
                    is_float ? (wick_scalar){.f = v}
                             : (wick_scalar){.i = x->elem == WICK_BOOL ? random_below(&t->r, 2)
                                                                       : random_below(&t->r, 7)});
  }
}

/* The elements of x in another order: slices along the first dimension are turned. */
static wick_tensor batch_turned(batch *t, const wick_tensor *x, uint32_t by)
{
  wick_tensor y = batch_new(t, x->elem, x->rank, x->dim);
  uint64_t n = wick_ref_numel(x), size = x->rank && x->dim[0] ? n / (uint64_t)x->dim[0] : n;
  for (uint64_t i = 0; i < n; i++)
    wick_store_elem(x->elem, y.data, i, wick_load_elem(x->elem, x->data, (i + by * size) % n));
  return y;
}

static void batch_rows(batch *t)
{
  for (uint32_t k = 0; k < t->nin; k++)
    for (uint32_t i = 0; i < BATCH_ROWS; i++) {
      bool is_float = wick_elem_is_float(t->in[k].elem);
      t->row[i][k] = t->axis[k] < 0 || !i ? t->in[k] : batch_turned(t, &t->in[k], i);
      if (t->axis[k] >= 0 && is_float) batch_random(t, &t->row[i][k]);
    }
}

/* Joins the rows of operand k along its axis. */
static void batch_join(batch *t, uint32_t k)
{
  const wick_tensor *x = &t->in[k];
  uint32_t axis = (uint32_t)t->axis[k];
  int64_t dim[WICK_MAX_RANK];
  for (uint32_t d = 0; d <= x->rank; d++)
    dim[d] = d == axis ? t->rows : x->dim[d < axis ? d : d - 1];
  t->whole[k] = batch_new(t, x->elem, x->rank + 1u, dim);
  uint64_t inner = 1, n = wick_ref_numel(x);
  for (uint32_t d = axis; d < x->rank; d++) inner *= (uint64_t)x->dim[d];
  for (uint32_t i = 0; i < t->rows; i++)
    for (uint64_t e = 0; e < n; e++)
      wick_store_elem(x->elem, t->whole[k].data,
                      (e / inner * (uint64_t)t->rows + i) * inner + e % inner,
                      wick_load_elem(x->elem, t->row[i][k].data, e));
}

/* ---- the function of all rows ---- */

static wick_type batch_type(batch *t, wick_type row, uint32_t axis)
{
  wick_dim dim[WICK_MAX_RANK + 1];
  const wick_type_info *info = wick_type_get(t->m, row);
  for (uint32_t d = 0; d <= info->rank; d++)
    dim[d] = d == axis ? wick_dim_const(t->rows) : info->dim[d < axis ? d : d - 1];
  return wick_type_tensor(t->m, info->elem, info->rank + 1u, dim);
}

static void batch_expand(batch *t)
{
  wick_builder b;
  wick_func *h;
  wick_value in[BATCH_MOST];
  wick_type want[BATCH_MOST];
  wick_dim n = wick_dim_const(t->rows);
  wick_attr attr[] = {[WICK_ATTR_vmap_callee] = {.s = t->f->name},
                      [WICK_ATTR_vmap_axes] = {.n = t->nin, .ints = t->axis},
                      [WICK_ATTR_vmap_n] = {.n = 1, .dims = &n}};
  wick_build_begin(&b, t->m, WICK_GRAPH, "all", &t->mem);
  for (uint32_t k = 0; k < t->nin; k++) {
    wick_type own = wick_type_of(t->f, (wick_value){1 + k});
    in[k] = wick_build_param(&b, t->axis[k] < 0 ? own : batch_type(t, own, (uint32_t)t->axis[k]),
                             WICK_IN, NULL);
  }
  for (uint32_t k = 0; k < t->nout; k++)
    want[k] = batch_type(t, wick_type_of(t->f, wick_return(t->f)->in[k]), 0);
  wick_value first = wick_build(&b, WICK_OP_vmap, t->nin, in, attr, t->nout, want);
  for (uint32_t k = 0; k < t->nout; k++) in[k] = (wick_value){first.id + k};
  wick_build_return(&b, t->nout, in);
  batch_ok(t, wick_build_end(&b, &h));
  t->all = h;
  wick_copier c = wick_copy_begin(h, &t->mem);
  wick_expand_vmap(&c, &h->node[0]);
  if (!c.b.status) wick_copy_node(&c, &h->node[1]);
  batch_ok(t, wick_copy_finish(&c, &h));
  t->all = h;
  batch_ok(t, wick_verify_func(h, &t->tmp));
}

static bool batch_same(wick_elem e, wick_scalar x, wick_scalar y)
{
  if (!wick_elem_is_float(e)) return x.i == y.i;
  double tolerance = e == WICK_F64 ? 1e-9 : e == WICK_F32 ? 1e-4 : 3e-2;
  if (isnan(x.f) || isnan(y.f)) return isnan(x.f) && isnan(y.f);
  return !(x.f < y.f || x.f > y.f) || fabs(x.f - y.f) <= tolerance * fmax(1, fabs(x.f));
}

static void batch_compare(batch *t, uint32_t i, const wick_tensor *one, const wick_tensor *all)
{
  for (uint32_t k = 0; k < t->nout; k++) {
    uint64_t n = wick_ref_numel(&one[k]);
    for (uint64_t e = 0; e < n; e++) {
      wick_scalar x = wick_load_elem(one[k].elem, one[k].data, e),
                  y = wick_load_elem(one[k].elem, all[k].data, i * n + e);
      if (!batch_same(one[k].elem, x, y))
        batch_wrong(t, wick_str_printf(&t->mem, "result %u, row %u, element %d: %g instead of %g",
                                       k, i, (int)e, y.f, x.f));
    }
  }
}

/* Compares the rows of one run with runs of one row. If one of them fails, so does the run. */
static void batch_check(batch *t)
{
  wick_tensor one[BATCH_MOST], all[BATCH_MOST];
  bool fails = false;
  batch_rows(t);
  for (uint32_t k = 0; k < t->nin; k++) {
    t->whole[k] = t->in[k];
    if (t->axis[k] >= 0) batch_join(t, k);
  }
  batch_expand(t);
  wick_status s = wick_evaluate(t->all, t->nin, t->whole, NULL, &t->mem, &t->a, &t->b, all);
  for (uint32_t i = 0; i < t->rows; i++) {
    wick_status own = wick_evaluate(t->f, t->nin, t->row[i], NULL, &t->mem, &t->a, &t->b, one);
    fails = fails || own;
    if (!own && s) continue;
    /* nodes whose results have no uses are dropped, also those that may fail */
    if (own && !s && t->alone) batch_wrong(t, own->message);
    if (!own) batch_compare(t, i, one, all);
  }
  if (s && !fails) batch_wrong(t, s->message);
}

/* ---- one operator ---- */

/* Finds a node of the operator and the values of its operands. */
static bool batch_node(batch *t, wick_opcode op, wick_elem elem, wick_node *node)
{
  random_graph *r = &t->r;
  int64_t dim[5];
  bool steps = wick_ops[op]->nin[0] >= 2 && wick_ops[op]->expand && !wick_ops[op]->scalar;
  uint32_t rank = steps ? 3 : 1 + random_below(r, 4);
  wick_func *operands;
  wick_value in[BATCH_MOST], found = {0};
  r->only = WICK_BIT(elem);
  wick_build_begin(&r->b, t->m, WICK_GRAPH, "operands", &t->mem);
  for (uint32_t k = 0; k < rank; k++) dim[k] = 1 + random_below(r, 5);
  wick_push(&t->tmp, &r->values,
            wick_build_param(&r->b, wick_type_tensor_const(t->m, elem, rank, dim), WICK_IN, "a"));
  for (int tries = 0; tries < 60 && !found.id; tries++) {
    random_row(r, op);
    found = random_find(r, (random_pair){op, elem});
  }
  for (uint32_t i = 0; found.id && i < r->b.nodes.n; i++)
    if (r->b.nodes.at[i].first.id == found.id) *node = r->b.nodes.at[i];
  if (!found.id || node->nin > BATCH_MOST || !node->nin) return false;
  for (uint32_t k = 0; k < node->nin; k++)
    if (node->in[k].id) in[t->nin++] = node->in[k];
  wick_build_return(&r->b, t->nin, in);
  if (wick_build_end(&r->b, &operands)) return false;
  wick_tensor a = batch_new(t, elem, rank, dim);
  batch_random(t, &a);
  return !wick_evaluate(operands, 1, &a, NULL, &t->mem, &t->a, &t->b, t->in);
}

/* Builds the node on parameters, and chooses those that have rows. */
static void batch_function(batch *t, wick_opcode op, const wick_node *node)
{
  wick_builder b;
  wick_func *f;
  wick_value in[BATCH_MOST] = {{0}}, out[BATCH_MOST];
  wick_type want[BATCH_MOST];
  wick_build_begin(&b, t->m, WICK_GRAPH, "row", &t->mem);
  for (uint32_t k = 0; k < node->nin; k++)
    if (node->in[k].id)
      in[k] = wick_build_param(&b, wick_built_type(&t->r.b, node->in[k]), WICK_IN, NULL);
  for (uint32_t k = 0; k < node->nout; k++)
    want[k] = wick_built_type(&t->r.b, (wick_value){node->first.id + k});
  wick_value v = wick_build(&b, op, node->nin, in, node->nattr ? node->attr : NULL,
                            wick_ops[op]->typed ? node->nout : 0, want);
  t->nout = node->nout, t->alone = true;
  for (uint32_t k = 0; k < node->nout; k++) out[k] = (wick_value){v.id + k};
  wick_build_return(&b, t->nout, out);
  batch_ok(t, wick_build_end(&b, &f));
  wick_module_set(t->m, f);
  t->f = f;
}

static void batch_axes(batch *t)
{
  uint32_t some = random_below(&t->r, t->nin);
  t->rows = random_below(&t->r, 8) ? 1 + random_below(&t->r, BATCH_ROWS) : 0;
  for (uint32_t k = 0; k < t->nin; k++)
    t->axis[k] =
        k == some || random_below(&t->r, 2) ? (int64_t)random_below(&t->r, t->in[k].rank + 1u) : -1;
}

static bool batch_case(wick_opcode op, wick_elem elem, uint64_t seed)
{
  batch t;
  wick_node node = {0};
  batch_begin(&t, wick_ops[op]->name, seed);
  bool made = batch_node(&t, op, elem, &node);
  if (made) {
    batch_function(&t, op, &node);
    batch_axes(&t);
    batch_check(&t);
  }
  batch_end(&t);
  return made;
}

static void test_rows(void **state)
{
  (void)state;
  const char *text = getenv("WICK_BATCH_CASES"), *only = getenv("WICK_BATCH_ROW");
  uint32_t cases = text ? (uint32_t)strtoul(text, NULL, 10) : BATCH_CASES;
  for (wick_opcode op = 1; op < WICK_NOP; op++) {
    uint64_t types = random_types(&(random_wish){0}, op), left = types;
    uint32_t made = 0;
    if (!types || !wick_ops[op]->nin[1] || (only && strcmp(only, wick_ops[op]->name) != 0))
      continue;
    for (uint32_t k = 0; k < 6 * cases && made < cases; k++, left &= left - 1) {
      if (!left) left = types;
      made += batch_case(op, (wick_elem)__builtin_ctzll(left), 1000003u * (uint64_t)op + k);
    }
    /* inference of ONNX's Resize alone builds it, with tables that random_graph.h does not have */
    if (!made && op != WICK_OP_resample) fail_msg("%s: no node was made", wick_ops[op]->name);
    if (only) print_message("%s: %u nodes\n", only, made);
  }
}

/* ---- functions with branches and loops ---- */

static void batch_flow(uint64_t seed)
{
  batch t;
  batch_begin(&t, "", seed);
  t.name = wick_str_printf(&t.mem, "seed %llu", (unsigned long long)seed);
  uint64_t types[WICK_NOP]; /* no narrow floats, which differ more */
  for (uint32_t op = 0; op < WICK_NOP; op++)
    types[op] = WICK_BIT(WICK_F64) | WICK_INTS | WICK_BIT(WICK_BOOL);
  const random_wish wish = {.flow = 3, .types = types};
  const wick_func *f = random_function(&t.r, t.m, seed, &wish, &t.mem, &t.tmp);
  if (f) {
    wick_module_set(t.m, f);
    t.f = f, t.nin = f->nparam, t.nout = wick_return(f)->nin;
    for (uint32_t k = 0; k < t.nin; k++) {
      const wick_type_info *info = wick_info_of(f, (wick_value){1 + k});
      int64_t dim[WICK_MAX_RANK];
      wick_type_const_dims(info, dim);
      t.in[k] = batch_new(&t, info->elem, info->rank, dim);
      batch_random(&t, &t.in[k]);
    }
    batch_axes(&t);
    batch_check(&t);
  }
  batch_end(&t);
}

static void test_flows(void **state)
{
  (void)state;
  const char *text = getenv("WICK_BATCH_FLOWS"), *first = getenv("WICK_BATCH_SEED");
  uint64_t n = text ? strtoull(text, NULL, 10) : BATCH_FLOWS,
           seed = first ? strtoull(first, NULL, 10) : 0;
  for (uint64_t k = 0; k < n; k++) batch_flow(seed + k);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_flows)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
