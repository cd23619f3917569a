/* Results whose size depends on data: their type has the upper bound, and a count says how many of
 * the first elements are valid. What follows them keeps that form as far as each of its elements along
 * the axis depends on one element alone; sums and the like leave the others out. */
#include "import/kit/bounded.h"

#include "ops/ref.h"

enum { BOUNDED_DEPTH = 12 };

/* ---- records ---- */

/* The count, if it is known; inputs whose contents are given may be large. */
static bool bounded_known(wick_import *c, wick_value count, int64_t *out)
{
  wick_tensor t;
  if (wick_import_known_int(c, count, out)) return true;
  for (uint32_t i = 0; i < c->options->ncontent; i++)
    if (c->options->fixed[i] && wick_known_large(&c->b, c->tmp, count, &t)) {
      *out = wick_load_elem(t.elem, t.data, 0).i;
      return true;
    }
  return false;
}

wick_value wick_import_bounded(wick_import *c, wick_value v, uint32_t axis, wick_value count)
{
  int64_t known;
  if (!v.id || c->b.status) return v;
  if (bounded_known(c, count, &known))
    return wick_emit_slice(&c->b, v, axis, wick_dim_const(0), wick_dim_const(known));
  wick_push(c->tmp, &c->bounded, (wick_import_sized){v, axis, count});
  return v;
}

const wick_import_sized *wick_import_bounded_find(const wick_import *c, wick_value v)
{
  for (uint32_t i = 0; v.id && i < c->bounded.n; i++)
    if (c->bounded.at[i].v.id == v.id) return &c->bounded.at[i];
  return NULL;
}

/* ---- equal counts ---- */

/* Two values are equal if they are computed alike: masks are often compared twice. */
static bool bounded_equal(const wick_builder *b, wick_value x, wick_value y, int depth)
{
  if (x.id == y.id) return true;
  const wick_node *n = wick_emit_definer(b, x), *o = wick_emit_definer(b, y);
  if (!n || !o || depth <= 0 || n->op != o->op || n->nin != o->nin || n->nregion || o->nregion)
    return false;
  if (wick_op_of(n)->effect != WICK_PURE || x.id - n->first.id != y.id - o->first.id ||
      !wick_type_eq(wick_built_type(b, x), wick_built_type(b, y)))
    return false;
  for (uint32_t k = 0; k < n->nattr; k++)
    if (!wick_attr_eq(wick_op_of(n)->attr[k].kind, &n->attr[k], &o->attr[k])) return false;
  for (uint32_t k = 0; k < n->nin; k++)
    if (!bounded_equal(b, n->in[k], o->in[k], depth - 1)) return false;
  return true;
}

/* ---- what follows ---- */

/* One of the nodes that an operator of the model became. */
typedef struct bounded_node {
  wick_import_node *n;
  const wick_node *g;
  const wick_value *in;    /* its operands */
  uint32_t k;              /* which of them is bounded */
  wick_import_sized s;     /* how */
  const wick_type_info *x; /* that operand's type */
  const wick_type_info *y; /* the first result's type */
  uint32_t axis;           /* of the results, along which they have the same count */
} bounded_node;

static const wick_type_info *bounded_type(const bounded_node *a, uint32_t k)
{
  return wick_built_info(a->n->b, a->in[k]);
}

/* Element-wise: the other operands are repeated along the axis, or have the same count. */
static bool bounded_scalar(bounded_node *a)
{
  a->axis = a->y->rank - a->x->rank + a->s.axis;
  uint32_t after = a->x->rank - a->s.axis; /* dimensions from the axis on */
  for (uint32_t k = 0; k < a->g->nin; k++) {
    const wick_type_info *t = a->in[k].id ? bounded_type(a, k) : NULL;
    if (!t || t->rank < after || wick_dim_is(t->dim[t->rank - after], 1)) continue;
    const wick_import_sized *s = wick_import_bounded_find(a->n->c, a->in[k]);
    if (!s || t->rank - s->axis != after ||
        !bounded_equal(a->n->b, s->count, a->s.count, BOUNDED_DEPTH))
      return false;
  }
  return true;
}

static bool bounded_gather(bounded_node *a)
{
  uint32_t axis = (uint32_t)a->g->attr[WICK_ATTR_gather_axis].i, rank = bounded_type(a, 1)->rank;
  if (wick_import_bounded_find(a->n->c, a->in[1 - a->k])) return false;
  a->axis = a->k ? axis + a->s.axis : a->s.axis < axis ? a->s.axis : a->s.axis + rank - 1;
  return a->k || a->s.axis != axis;
}

static bool bounded_gather_nd(bounded_node *a)
{
  a->axis = a->s.axis;
  return a->k == 1 && !a->g->attr[WICK_ATTR_gather_nd_batch].i && a->s.axis + 1 < a->x->rank;
}

/* The axis stays where as many elements are before it, and its size is the same. */
static bool bounded_reshape(bounded_node *a)
{
  wick_dims *d = a->n->c->module->dims;
  wick_dim before = wick_dim_const(1), to = before;
  for (uint32_t k = 0; k < a->s.axis; k++) before = wick_dim_mul(d, before, a->x->dim[k]);
  for (a->axis = 0; a->axis < a->y->rank; a->axis++) {
    if (wick_dim_eq(to, before) && wick_dim_eq(a->y->dim[a->axis], a->x->dim[a->s.axis]))
      return true;
    to = wick_dim_mul(d, to, a->y->dim[a->axis]);
  }
  return false;
}

static bool bounded_transpose(bounded_node *a)
{
  const wick_attr *perm = &a->g->attr[WICK_ATTR_transpose_perm];
  for (a->axis = 0; a->axis < a->y->rank; a->axis++)
    if (perm->n ? perm->ints[a->axis] == a->s.axis : a->axis + a->s.axis + 1 == a->x->rank)
      return true;
  return false;
}

/* Slices along other axes. */
static bool bounded_slice(bounded_node *a)
{
  const wick_attr *begin = &a->g->attr[WICK_ATTR_slice_begin],
                  *step = &a->g->attr[WICK_ATTR_slice_step];
  a->axis = a->s.axis;
  return wick_dim_is(begin->dims[a->axis], 0) && (!step->n || step->ints[a->axis] == 1) &&
         wick_dim_eq(a->y->dim[a->axis], a->x->dim[a->axis]);
}

static bool bounded_concat(bounded_node *a)
{
  a->axis = a->s.axis;
  if ((uint32_t)a->g->attr[WICK_ATTR_concat_axis].i == a->axis) return false;
  for (uint32_t k = 0; k < a->g->nin; k++) {
    const wick_import_sized *s = wick_import_bounded_find(a->n->c, a->in[k]);
    if (!s || s->axis != a->axis || !bounded_equal(a->n->b, s->count, a->s.count, BOUNDED_DEPTH))
      return false;
  }
  return true;
}

static bool bounded_split(bounded_node *a)
{
  a->axis = a->s.axis;
  return (uint32_t)a->g->attr[WICK_ATTR_split_axis].i != a->axis;
}

static bool bounded_broadcast_to(bounded_node *a)
{
  a->axis = a->y->rank - a->x->rank + a->s.axis;
  return wick_dim_eq(a->y->dim[a->axis], a->x->dim[a->s.axis]);
}

/* Rows of the first factor, columns of the second one. */
static bool bounded_matmul(bounded_node *a)
{
  uint32_t summed = a->k ? 2 : 1;
  if (a->x->rank < 2 || a->s.axis + summed == a->x->rank || a->s.axis + 2 < a->x->rank)
    return false;
  if (wick_import_bounded_find(a->n->c, a->in[1 - a->k]) || bounded_type(a, 1 - a->k)->rank < 2)
    return false;
  a->axis = a->y->rank - (a->x->rank - a->s.axis);
  return true;
}

static bool bounded_one_hot(bounded_node *a)
{
  a->axis = a->s.axis + ((uint32_t)a->g->attr[WICK_ATTR_one_hot_axis].i <= a->s.axis);
  return a->k == 0;
}

/* Softmax, sums, orders and the like along other axes: their axis is the first attribute. */
static bool bounded_sliced(bounded_node *a)
{
  a->axis = a->s.axis;
  return (uint32_t)a->g->attr[WICK_ATTR_softmax_axis].i != a->axis;
}

static bool bounded_best(bounded_node *a)
{
  uint32_t axis = (uint32_t)a->g->attr[WICK_ATTR_argmax_axis].i;
  a->axis = a->s.axis - (axis < a->s.axis && !a->g->attr[WICK_ATTR_argmax_keepdims].i);
  return axis != a->s.axis;
}

/* Returns whether a reduction is along the axis, among others; else finds the axis of its result. */
static bool bounded_along(bounded_node *a)
{
  const wick_attr *axes = &a->g->attr[WICK_ATTR_reduce_sum_axes];
  uint32_t lost = 0;
  bool along = !axes->n;
  for (uint32_t k = 0; k < axes->n; k++) {
    along = along || axes->ints[k] == a->s.axis;
    lost += axes->ints[k] < a->s.axis;
  }
  a->axis = a->s.axis - (a->g->attr[WICK_ATTR_reduce_sum_keepdims].i ? 0 : lost);
  return along;
}

static const struct {
  wick_opcode op;
  bool (*follow)(bounded_node *a);
} bounded_rules[] = {
    {WICK_OP_gather, bounded_gather},   {WICK_OP_gather_nd, bounded_gather_nd},
    {WICK_OP_reshape, bounded_reshape}, {WICK_OP_transpose, bounded_transpose},
    {WICK_OP_slice, bounded_slice},     {WICK_OP_concat, bounded_concat},
    {WICK_OP_split, bounded_split},     {WICK_OP_broadcast_to, bounded_broadcast_to},
    {WICK_OP_matmul, bounded_matmul},   {WICK_OP_one_hot, bounded_one_hot},
    {WICK_OP_softmax, bounded_sliced},  {WICK_OP_log_softmax, bounded_sliced},
    {WICK_OP_argmax, bounded_best},     {WICK_OP_argmin, bounded_best},
    {WICK_OP_top_k, bounded_sliced},    {WICK_OP_cumsum, bounded_sliced},
};

static bool bounded_follows(bounded_node *a)
{
  if (wick_op_of(a->g)->eval) return bounded_scalar(a);
  for (size_t i = 0; i < WICK_COUNT(bounded_rules); i++)
    if (bounded_rules[i].op == a->g->op) return bounded_rules[i].follow(a);
  return false;
}

/* ---- reductions along the axis ---- */

/* Each with an operator whose neutral element changes nothing in it. */
static const struct {
  wick_opcode op, by;
} bounded_reductions[] = {
    {WICK_OP_reduce_sum, WICK_OP_add},  {WICK_OP_reduce_mean, WICK_OP_add},
    {WICK_OP_reduce_prod, WICK_OP_mul}, {WICK_OP_reduce_sum_square, WICK_OP_add},
    {WICK_OP_reduce_l1, WICK_OP_add},   {WICK_OP_reduce_l2, WICK_OP_add},
    {WICK_OP_reduce_max, WICK_OP_max},  {WICK_OP_reduce_min, WICK_OP_min},
    {WICK_OP_any, WICK_OP_or},
};

static const int bounded_nreduction = (int)WICK_COUNT(bounded_reductions);

static int bounded_reduction(wick_opcode op)
{
  for (int i = 0; i < bounded_nreduction; i++)
    if (bounded_reductions[i].op == op) return i;
  return bounded_nreduction;
}

/* x with the elements that are not valid replaced by the neutral one. */
static wick_value bounded_masked(wick_builder *b, wick_value x, const wick_import_sized *s,
                                 int kind)
{
  const wick_type_info t = *wick_built_info(b, x);
  wick_value i = wick_emit_count_along(b, t.dim[s->axis], s->axis, t.rank);
  wick_value valid = wick_build2(b, WICK_OP_lt, i, wick_build_cast(b, s->count, WICK_I64));
  wick_type scalar = wick_type_tensor(b->module, t.elem, 0, NULL);
  wick_value none = wick_build_neutral(b, bounded_reductions[kind].by, scalar);
  return wick_build3(b, WICK_OP_where, valid, x, none);
}

/* The mean of the valid elements alone. */
static wick_value bounded_mean(bounded_node *a, wick_value x)
{
  wick_builder *b = a->n->b;
  const wick_attr *axes = &a->g->attr[WICK_ATTR_reduce_sum_axes];
  const wick_type_info t = *wick_built_info(b, x);
  wick_value count = wick_build_cast(b, a->s.count, t.elem);
  for (uint32_t k = 0; k < t.rank; k++) {
    bool summed = !axes->n;
    for (uint32_t i = 0; i < axes->n; i++) summed = summed || axes->ints[i] == k;
    if (!summed || k == a->s.axis) continue;
    wick_value size = wick_build1(b, WICK_OP_size, wick_emit_count(b, t.dim[k]));
    count = wick_build2(b, WICK_OP_mul, count, wick_build_cast(b, size, t.elem));
  }
  wick_value sum = wick_build(b, WICK_OP_reduce_sum, 1, &x, a->g->attr, 0, NULL);
  return wick_build2(b, WICK_OP_div, sum, count);
}

/* Builds a reduction along the axis again. Returns 0 if it has no such form. */
static wick_value bounded_reduce(bounded_node *a)
{
  wick_builder *b = a->n->b;
  int kind = bounded_reduction(a->g->op);
  if (kind == bounded_nreduction) return (wick_value){0};
  if (a->g->op == WICK_OP_reduce_mean && !wick_elem_is_float(a->x->elem)) return (wick_value){0};
  wick_value x = bounded_masked(b, a->in[0], &a->s, kind);
  if (a->g->op == WICK_OP_reduce_mean) return bounded_mean(a, x);
  return wick_build(b, a->g->op, 1, &x, a->g->attr, 0, NULL);
}

/* ---- the nodes of one operator ---- */

static wick_value bounded_to(const wick_value *to, wick_value first, wick_value v)
{
  return v.id < first.id || !to[v.id - first.id].id ? v : to[v.id - first.id];
}

/* Looks at one node, with operands that may have been replaced. Returns false if the size cannot be
 * followed. *again: what replaces its first result, or 0. */
static bool bounded_visit(bounded_node *a, bool changed, wick_value *again)
{
  wick_import *c = a->n->c;
  const wick_import_sized *s = NULL;
  for (a->k = 0; a->k < a->g->nin; a->k++)
    if ((s = wick_import_bounded_find(c, a->in[a->k]))) break;
  if (!s && !changed) return true;
  if (a->g->nregion) return false;
  if (s) {
    a->s = *s;
    a->x = bounded_type(a, a->k);
    a->y = wick_built_info(a->n->b, a->g->first);
    bool reduces = bounded_reduction(a->g->op) < bounded_nreduction;
    if (!reduces && !bounded_follows(a)) return false;
    if (reduces && bounded_along(a)) {
      *again = bounded_reduce(a);
      return again->id && !a->n->b->status;
    }
  }
  wick_type want = wick_built_type(a->n->b, a->g->first);
  *again = a->g->first;
  if (changed)
    *again =
        wick_build(a->n->b, a->g->op, a->g->nin, a->in, a->g->attr, wick_op_of(a->g)->typed, &want);
  for (uint32_t k = 0; s && k < a->g->nout; k++)
    wick_push(c->tmp, &c->bounded, (wick_import_sized){{again->id + k}, a->axis, a->s.count});
  return !a->n->b->status;
}

/* Each operand whose size depends on data was read by a node, or is a result: an operator that looked
 * at its type alone has taken the upper bound for its size. */
static bool bounded_read(const wick_import_node *n, uint32_t first, uint32_t end, wick_value v)
{
  for (uint32_t i = first; i < end; i++)
    for (uint32_t k = 0; k < n->b->nodes.at[i].nin; k++)
      if (n->b->nodes.at[i].in[k].id == v.id) return true;
  for (uint32_t k = 0; k < n->nout; k++)
    if (n->out[k].id == v.id) return true;
  return false;
}

static void bounded_fail(wick_import_node *n, wick_value v, uint32_t operand)
{
  const char *what =
      wick_str_printf(n->c->tmp, "the size of input %u, which depends on data,", operand);
  wick_import_unknown(n, v, what);
}

void wick_import_bounded_bodies(wick_import_node *n, uint32_t first)
{
  for (uint32_t i = first; i < n->b->nodes.n && !n->failed; i++) {
    const wick_node *g = &n->b->nodes.at[i];
    for (uint32_t k = 0; k < g->nin && g->nregion && !n->failed; k++)
      if (wick_import_bounded_find(n->c, g->in[k])) bounded_fail(n, g->in[k], k);
  }
}

void wick_import_bounded_follow(wick_import_node *n, uint32_t first, uint32_t value)
{
  wick_builder *b = n->b;
  uint32_t end = b->nodes.n, at = n->nin;
  for (uint32_t i = 0; i < n->nin; i++)
    if (wick_import_bounded_find(n->c, n->in[i])) at = i < at ? i : at;
  if (at == n->nin || n->failed || b->status) return;
  bool good = true;
  for (uint32_t i = at; i < n->nin; i++)
    good = good &&
           (!wick_import_bounded_find(n->c, n->in[i]) || bounded_read(n, first, end, n->in[i]));
  wick_value from = {value}, *to = wick_new(n->c->tmp, wick_value, b->values.n - value + 1u);
  for (uint32_t i = first; i < end && good; i++) {
    const wick_node g = b->nodes.at[i]; /* a copy, because the list may be reallocated */
    bool changed = false;
    wick_value *in = wick_new(n->c->tmp, wick_value, g.nin + 1u), again = {0};
    for (uint32_t k = 0; k < g.nin; k++) {
      in[k] = bounded_to(to, from, g.in[k]);
      changed = changed || in[k].id != g.in[k].id;
    }
    bounded_node a = {.n = n, .g = &g, .in = in};
    good = bounded_visit(&a, changed, &again);
    for (uint32_t k = 0; good && again.id && again.id != g.first.id && k < g.nout; k++)
      to[g.first.id - from.id + k] = (wick_value){again.id + k};
  }
  for (uint32_t k = 0; k < n->nout; k++) n->out[k] = bounded_to(to, from, n->out[k]);
  if (!good && !b->status) bounded_fail(n, n->in[at], at);
}
