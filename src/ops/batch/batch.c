/* Batches of operators: the rules that serve many of them. */
#include "ops/batch/batch.h"

#include <string.h>

#include "base/base.h"
#include "ir/expr.h"

/* ---- helpers ---- */

uint32_t wick_batch_rank(const wick_batching *a, uint32_t k)
{
  return wick_built_info(a->b, a->in[k])->rank - (a->batched[k] ? 1u : 0u);
}

wick_dim wick_batch_dim(const wick_batching *a, uint32_t k, uint32_t d)
{
  return wick_built_info(a->b, a->in[k])->dim[d + (a->batched[k] ? 1u : 0u)];
}

wick_value wick_batch_repeat(wick_builder *b, wick_value x, wick_dim n)
{
  wick_dim dim[WICK_MAX_RANK + 1];
  if (b->status) return x;
  const wick_type_info *t = wick_built_info(b, x);
  dim[0] = n;
  for (uint32_t k = 0; k < t->rank; k++) dim[1 + k] = t->dim[k];
  wick_attr shape = {.n = t->rank + 1u, .dims = dim};
  return wick_build(b, WICK_OP_broadcast_to, 1, &x, &shape, 0, NULL);
}

wick_value wick_batch_full(const wick_batching *a, uint32_t k)
{
  return a->batched[k] ? a->in[k] : wick_batch_repeat(a->b, a->in[k], a->n);
}

wick_value wick_batch_pad_rank(const wick_batching *a, wick_value x, uint32_t rank)
{
  wick_dim dim[WICK_MAX_RANK + 1];
  wick_builder *b = a->b;
  if (b->status) return x;
  const wick_type_info *t = wick_built_info(b, x);
  if (t->rank > rank) return x;
  uint32_t more = rank + 1 - t->rank;
  dim[0] = t->dim[0];
  for (uint32_t k = 1; k <= more; k++) dim[k] = wick_dim_const(1);
  for (uint32_t k = 1; k < t->rank; k++) dim[more + k] = t->dim[k];
  return wick_build_reshape(b, x, rank + 1, dim);
}

wick_value wick_batch_move(wick_builder *b, wick_value x, uint32_t from, uint32_t to)
{
  int64_t perm[WICK_MAX_RANK];
  if (from == to || b->status) return x;
  uint32_t rank = wick_built_info(b, x)->rank, at = 0;
  for (uint32_t k = 0; k < rank; k++) {
    if (at == from) at++;
    perm[k] = k == to ? from : at++;
  }
  return wick_build_transpose(b, x, rank, perm);
}

wick_value wick_batch_join(wick_builder *b, wick_value x, uint32_t d)
{
  wick_dim dim[WICK_MAX_RANK];
  if (b->status) return x;
  const wick_type_info *t = wick_built_info(b, x);
  for (uint32_t k = 0; k + 1 < t->rank; k++) dim[k] = t->dim[k < d ? k : k + 1];
  dim[d] = wick_dim_mul(b->module->dims, t->dim[d], t->dim[d + 1]);
  return wick_build_reshape(b, x, t->rank - 1u, dim);
}

wick_value wick_batch_split(wick_builder *b, wick_value x, uint32_t d, wick_dim outer,
                            wick_dim inner)
{
  wick_dim dim[WICK_MAX_RANK + 1];
  if (b->status) return x;
  const wick_type_info *t = wick_built_info(b, x);
  for (uint32_t k = 0; k < t->rank; k++) dim[k < d ? k : k + 1] = t->dim[k];
  dim[d] = outer, dim[d + 1] = inner;
  return wick_build_reshape(b, x, t->rank + 1u, dim);
}

wick_value wick_batch_wide(wick_builder *b, wick_value mask, uint32_t rank)
{
  wick_dim dim[WICK_MAX_RANK + 1];
  if (b->status || !rank) return mask;
  dim[0] = wick_built_info(b, mask)->dim[0];
  for (uint32_t k = 1; k <= rank; k++) dim[k] = wick_dim_const(1);
  return wick_build_reshape(b, mask, rank + 1, dim);
}

wick_value wick_batch_harmless(const wick_batching *a, uint32_t k, double number)
{
  wick_builder *b = a->b;
  if (!a->mask.id || b->status) return wick_batch_full(a, k);
  return expr_where(b, wick_batch_wide(b, a->mask, wick_batch_rank(a, k)), a->in[k],
                    expr_k(b, a->in[k], number));
}

wick_value wick_batch_count(const wick_batching *a, wick_elem e, uint32_t rank)
{
  wick_builder *b = a->b;
  wick_type type = wick_type_tensor(b->module, e, 0, NULL);
  wick_value in[2] = {wick_build_const(b, type, 0, 0), {0}};
  wick_attr count = {.n = 1, .dims = &a->n};
  in[1] = wick_build_const(b, type, 1, 1);
  return wick_batch_wide(b, wick_build(b, WICK_OP_range, 2, in, &count, 0, NULL), rank - 1);
}

wick_attr *wick_batch_attrs(const wick_batching *a)
{
  uint32_t n = wick_op_nattr(wick_op_of(a->node));
  return n ? wick_dup(a->b->mem, wick_attr, a->node->attr, n) : NULL;
}

wick_type wick_batch_type(const wick_batching *a, uint32_t result)
{
  wick_dim dim[WICK_MAX_RANK + 1];
  wick_module *m = a->b->module;
  const wick_type_info *t = wick_type_get(m, a->type[result]);
  dim[0] = a->n;
  for (uint32_t k = 0; k < t->rank; k++) dim[1 + k] = t->dim[k];
  return wick_type_tensor(m, t->elem, t->rank + 1u, dim);
}

wick_value wick_batch_build(const wick_batching *a, const wick_value *in, const wick_attr *attr)
{
  wick_builder *b = a->b;
  const wick_node *n = a->node;
  wick_type *want = wick_new(b->mem, wick_type, n->nout + 1u);
  bool typed = wick_op_of(n)->typed;
  for (uint32_t k = 0; k < n->nout && typed; k++) want[k] = wick_batch_type(a, k);
  return wick_build(b, n->op, n->nin, in, attr, typed ? n->nout : 0, typed ? want : NULL);
}

void wick_batch_results(const wick_batching *a, wick_value first)
{
  for (uint32_t k = 0; k < a->node->nout && !a->b->status; k++)
    a->out[k] = (wick_value){first.id + k};
}

/* Returns whether only operand 0 has rows. */
static bool batch_only_first(const wick_batching *a)
{
  for (uint32_t k = 1; k < a->node->nin; k++)
    if (wick_batch_has(a, k)) return false;
  return true;
}

/* ---- operands that broadcast ---- */

/* A division by 0 in a row that does not matter must not fail. */
static bool batch_divides(const wick_batching *a, uint32_t k)
{
  return k == 1 && a->mask.id && wick_op_of(a->node)->effect == WICK_MAY_FAIL &&
         !wick_elem_is_float(wick_built_info(a->b, a->in[k])->elem);
}

void wick_batch_broadcast(wick_batching *a)
{
  wick_builder *b = a->b;
  const wick_node *n = a->node;
  wick_value *in = wick_new(b->mem, wick_value, n->nin + 1u);
  uint32_t rank = 0;
  if (b->status) return;
  for (uint32_t k = 0; k < n->nin; k++)
    if (a->in[k].id && wick_batch_rank(a, k) > rank) rank = wick_batch_rank(a, k);
  for (uint32_t k = 0; k < n->nin && !b->status; k++) {
    bool divides = a->in[k].id && batch_divides(a, k);
    in[k] = divides ? wick_batch_harmless(a, k, 1) : a->in[k];
    if (divides || wick_batch_has(a, k)) in[k] = wick_batch_pad_rank(a, in[k], rank);
  }
  wick_batch_results(a, wick_batch_build(a, in, n->attr));
}

/* ---- attributes that count dimensions ---- */

/* Lists with a number for each dimension, or for each end of it, get one for the rows. */
typedef struct batch_list {
  const char *name;
  int64_t number;
  bool ends;
} batch_list;

static const batch_list batch_lists[] = {
    {"begin", 0, false}, {"step", 1, false},  {"repeats", 1, false},
    {"pad", 0, true},    {"scale", 1, false}, {"roi", 0, true},
};

static const batch_list *batch_list_find(const char *name)
{
  for (uint32_t i = 0; i < WICK_COUNT(batch_lists); i++)
    if (strcmp(batch_lists[i].name, name) == 0) return &batch_lists[i];
  return NULL;
}

/* Inserts numbers for the rows into a list of dims, ints or floats. The region of interest of a
 * resize ends at 1. */
static void batch_longer(const wick_batching *a, wick_attr_kind kind, const batch_list *l,
                         wick_attr *at)
{
  uint32_t half = l->ends ? at->n / 2 : at->n, n = at->n + (l->ends ? 2 : 1), from = 0;
  wick_attr old = *at;
  wick_dim *dims = wick_new(a->b->mem, wick_dim, n);
  int64_t *ints = wick_new(a->b->mem, int64_t, n);
  double *floats = wick_new(a->b->mem, double, n);
  for (uint32_t k = 0; k < n; k++) {
    bool first = k == 0, second = l->ends && k == half + 1;
    if (first || second) {
      dims[k] = wick_dim_const(l->number), ints[k] = l->number;
      floats[k] = second && kind == WICK_ATTR_FLOATS ? 1 : (double)l->number;
      continue;
    }
    if (kind == WICK_ATTR_DIMS) dims[k] = old.dims[from];
    if (kind == WICK_ATTR_INTS) ints[k] = old.ints[from];
    if (kind == WICK_ATTR_FLOATS) floats[k] = old.floats[from];
    from++;
  }
  at->n = n;
  if (kind == WICK_ATTR_DIMS) at->dims = dims;
  if (kind == WICK_ATTR_INTS) at->ints = ints;
  if (kind == WICK_ATTR_FLOATS) at->floats = floats;
}

/* Shifts the numbers of dimensions; `all` are meant by an empty list. */
static void batch_shift(const wick_batching *a, wick_attr *at, bool reversed, bool rows)
{
  uint32_t rank = wick_batch_rank(a, 0), n = at->n ? at->n : rank, shift = rows ? 1 : 0;
  int64_t *ints = wick_new(a->b->mem, int64_t, n + 1);
  for (uint32_t k = 0; k < n; k++) {
    int64_t axis = at->n ? at->ints[k] : reversed ? rank - 1 - k : k;
    ints[shift + k] = 1 + (axis < 0 ? axis + rank : axis);
  }
  at->n = n + shift;
  at->ints = ints;
}

static void batch_attr(const wick_batching *a, const wick_attr_spec *s, wick_attr *at)
{
  const wick_type_info *out = wick_type_get(a->b->module, a->type[0]);
  const batch_list *l = batch_list_find(s->name);
  bool axis = s->kind == WICK_ATTR_AXIS || strcmp(s->name, "axis") == 0;
  if (axis && at->i >= 0) at->i++;
  if (strcmp(s->name, "axes") == 0) batch_shift(a, at, false, false);
  if (strcmp(s->name, "perm") == 0) batch_shift(a, at, true, true);
  if (strcmp(s->name, "shape") == 0) {
    wick_dim *dim = wick_new(a->b->mem, wick_dim, out->rank + 1u);
    dim[0] = a->n;
    for (uint32_t k = 0; k < out->rank; k++) dim[1 + k] = out->dim[k];
    *at = (wick_attr){.n = out->rank + 1u, .dims = dim};
  }
  if (l && (at->n || s->required)) batch_longer(a, s->kind, l, at);
}

/* A reduction of numbers has no axes, which would mean all: each gets one. */
static void batch_of_number(const wick_batching *a, wick_attr *axes, wick_value *in)
{
  static const int64_t last = 1;
  if (axes->n) return;
  in[0] = wick_batch_pad_rank(a, in[0], 1);
  axes[WICK_ATTR_reduce_sum_axes] = (wick_attr){.n = 1, .ints = &last};
  axes[WICK_ATTR_reduce_sum_keepdims].i = 0;
}

static void batch_shifted(wick_batching *a, bool all)
{
  wick_builder *b = a->b;
  const wick_op *op = wick_op_of(a->node);
  wick_value *in = wick_new(b->mem, wick_value, a->node->nin + 1u);
  wick_attr *attr = wick_batch_attrs(a);
  if (b->status) return;
  for (uint32_t i = 0; i < wick_op_nattr(op); i++) batch_attr(a, &op->attr[i], &attr[i]);
  for (uint32_t k = 0; k < a->node->nin; k++)
    in[k] = a->in[k].id && (k == 0 || all) ? wick_batch_full(a, k) : a->in[k];
  for (uint32_t i = 0; i < wick_op_nattr(op); i++)
    if (strcmp(op->attr[i].name, "axes") == 0) batch_of_number(a, &attr[i], in);
  /* broadcast_to may add dimensions before those of a row */
  if (a->node->op == WICK_OP_broadcast_to)
    in[0] = wick_batch_pad_rank(a, in[0], wick_type_get(b->module, a->type[0])->rank);
  wick_batch_results(a, wick_batch_build(a, in, attr));
}

void wick_batch_axes(wick_batching *a) { batch_shifted(a, true); }

void wick_batch_axes_first(wick_batching *a)
{
  if (batch_only_first(a) && !(a->mask.id && wick_op_of(a->node)->effect == WICK_MAY_FAIL))
    batch_shifted(a, false);
  else
    wick_batch_rows(a);
}

/* ---- rows that join a dimension ---- */

void wick_batch_merge(wick_batching *a)
{
  wick_builder *b = a->b;
  const wick_op *op = wick_op_of(a->node);
  wick_value *in = wick_new(b->mem, wick_value, a->node->nin + 1u);
  bool merges = !(a->mask.id && op->effect == WICK_MAY_FAIL);
  for (uint32_t k = 0; k < a->node->nin; k++)
    if (wick_batch_has(a, k) && !op->batch.in[k]) merges = false;
  if (!merges) {
    (op->expand ? wick_batch_through : wick_batch_rows)(a);
    return;
  }
  for (uint32_t k = 0; k < a->node->nin; k++) {
    uint32_t d = op->batch.in[k];
    in[k] = a->in[k];
    if (!d || !in[k].id) continue;
    in[k] = wick_batch_move(b, wick_batch_full(a, k), 0, d - 1u);
    in[k] = wick_batch_join(b, in[k], d - 1u);
  }
  wick_batch_results(a, wick_batch_build(a, in, a->node->attr));
  for (uint32_t k = 0; k < a->node->nout; k++) {
    uint32_t d = op->batch.out[k] - 1u;
    wick_dim inner = wick_type_get(b->module, a->type[k])->dim[d];
    a->out[k] = wick_batch_move(b, wick_batch_split(b, a->out[k], d, a->n, inner), d, 0);
  }
}

/* ---- the rule of a node ---- */

void wick_batch_node(wick_batching *a)
{
  const wick_op *op = wick_op_of(a->node);
  if (a->b->status) return;
  if (op->batch.run)
    op->batch.run(a);
  else if (op->scalar)
    wick_batch_broadcast(a);
  else
    wick_batch_through(a);
}
