/* Simplification of operators that move elements: removes moves without effect, and merges two
 * moves into one. */
#include <string.h>

#include "ir/element.h"
#include "ops/simplify.h"

static const wick_value move_none = {0};

#define END                                                                                        \
  {                                                                                                \
    NULL, NULL, NULL, NULL                                                                         \
  }

/* ---- views ---- */

/* Bytes that are widened, and less a zero point, are reshaped before that, so that products find them. */
static wick_value move_reshape_bytes(wick_rewriter *r)
{
  wick_builder *b = &r->c.b;
  wick_node sub, cast;
  bool less = wick_rewrite_def(r, r->in[0], WICK_OP_sub, &sub);
  if ((less && wick_rewrite_info(r, sub.in[1])->rank) ||
      !wick_rewrite_def(r, less ? sub.in[0] : r->in[0], WICK_OP_cast, &cast) ||
      !wick_rewrite_once(r, r->node->in[0]))
    return move_none;
  wick_elem from = wick_rewrite_info(r, cast.in[0])->elem,
            to = wick_rewrite_info(r, r->in[0])->elem;
  const wick_type_info *y = wick_type_get(r->c.f->module, wick_rewrite_type(r));
  if (!wick_elem_is_int(from) || wick_elem_storage[from].bits != 8 || to != WICK_I32)
    return move_none;
  wick_value v = wick_build_cast(b, wick_build_reshape(b, cast.in[0], y->rank, y->dim), to);
  return less ? wick_build2(b, WICK_OP_sub, v, sub.in[1]) : v;
}

const wick_rewrite wick_simplify_reshape[] = {{"reshape(x)", "x", NULL, NULL},
                                              {"reshape(reshape(x))", "reshape(x)", NULL, NULL},
                                              {"reshape(x)", NULL, NULL, move_reshape_bytes},
                                              END};

const wick_rewrite wick_simplify_expand[] = {
    {"broadcast_to(x)", "x", NULL, NULL},
    {"broadcast_to(broadcast_to(x))", "broadcast_to(x)", NULL, NULL},
    END};

/* ---- transpositions ---- */

static void move_perm(const wick_node *n, uint32_t rank, int64_t *perm)
{
  for (uint32_t k = 0; k < rank; k++)
    perm[k] = n->attr[WICK_ATTR_transpose_perm].n ? n->attr[WICK_ATTR_transpose_perm].ints[k]
                                                  : rank - 1 - k;
}

/* Rewrites a transposition that keeps the order of all dimensions except those of size 1. */
static wick_value move_transpose_view(wick_rewriter *r)
{
  const wick_type_info *x = wick_rewrite_info(r, r->in[0]),
                       *to = wick_info_of(r->c.f, r->node->first);
  int64_t perm[WICK_MAX_RANK], last = -1;
  bool identity = true;
  move_perm(r->node, x->rank, perm);
  for (uint32_t k = 0; k < x->rank; k++) {
    identity = identity && perm[k] == k;
    if (wick_dim_is(x->dim[perm[k]], 1)) continue;
    if (perm[k] < last) return move_none;
    last = perm[k];
  }
  return identity ? r->in[0] : wick_build_reshape(&r->c.b, r->in[0], to->rank, to->dim);
}

static wick_value move_transpose_twice(wick_rewriter *r)
{
  int64_t perm[WICK_MAX_RANK], inner[WICK_MAX_RANK];
  uint32_t rank = wick_rewrite_info(r, r->in[0])->rank;
  wick_node d;
  wick_rewrite_def(r, r->in[0], WICK_OP_transpose, &d);
  move_perm(r->node, rank, perm);
  move_perm(&d, rank, inner);
  for (uint32_t k = 0; k < rank; k++) perm[k] = inner[perm[k]];
  return wick_build_transpose(&r->c.b, d.in[0], rank, perm);
}

/* Finds the dimensions of `to` that each dimension of y, which is reshaped to it, becomes:
 * end[i - 1] .. end[i] - 1. Returns false if a dimension of `to` has parts of several. */
static bool move_splits(const int64_t *y, uint32_t rank, const wick_type_info *to, uint32_t *end)
{
  uint32_t k = 0;
  for (uint32_t i = 0; i < rank; i++) {
    int64_t n = 1;
    for (; n < y[i] && k < to->rank; k++) {
      if (!wick_dim_is_const(to->dim[k])) return false;
      n *= to->dim[k].v;
    }
    if (n != y[i]) return false;
    end[i] = k;
  }
  for (; k < to->rank; k++)
    if (!wick_dim_is(to->dim[k], 1)) return false;
  if (rank) end[rank - 1] = k;
  return true;
}

/* Splits dimensions before the first of two transpositions, instead of between them. */
static wick_value move_transpose_split(wick_rewriter *r)
{
  wick_node split, first;
  wick_rewrite_def(r, r->in[0], WICK_OP_reshape, &split);
  wick_rewrite_def(r, split.in[0], WICK_OP_transpose, &first);
  const wick_type_info *to = wick_rewrite_info(r, r->in[0]), *y = wick_rewrite_info(r, split.in[0]);
  int64_t dim[WICK_MAX_RANK], inner[WICK_MAX_RANK], perm[WICK_MAX_RANK], at[WICK_MAX_RANK];
  uint32_t end[WICK_MAX_RANK], n = 0;
  wick_dim shape[WICK_MAX_RANK];
  if (!wick_type_const_dims(y, dim) || !move_splits(dim, y->rank, to, end)) return move_none;
  move_perm(&first, y->rank, inner);
  for (uint32_t j = 0; j < y->rank; j++) {
    uint32_t i = 0; /* dimension j of x is dimension i of y */
    while (inner[i] != j) i++;
    for (uint32_t k = i ? end[i - 1] : 0; k < end[i]; k++) shape[n] = to->dim[k], at[k] = n++;
  }
  move_perm(r->node, n, perm);
  for (uint32_t k = 0; k < n; k++) perm[k] = at[perm[k]];
  return wick_build_transpose(&r->c.b, wick_build_reshape(&r->c.b, first.in[0], n, shape), n, perm);
}

const wick_rewrite wick_simplify_transpose[] = {
    {"transpose(x)", NULL, NULL, move_transpose_view},
    {"transpose(transpose(x))", NULL, NULL, move_transpose_twice},
    {"transpose(reshape(transpose(x)))", NULL, NULL, move_transpose_split},
    END};

/* ---- slices ---- */

static int64_t move_step(const wick_node *n, uint32_t k)
{
  return n->attr[WICK_ATTR_slice_step].n ? n->attr[WICK_ATTR_slice_step].ints[k] : 1;
}

/* Finds the operand of a concat of constant sizes that contains all elements of a slice;
 * UINT32_MAX: none. *begin: the first index of that operand. */
static uint32_t move_slice_part(wick_rewriter *r, const wick_node *n, const wick_node *concat,
                                int64_t *begin)
{
  uint32_t axis = (uint32_t)concat->attr[WICK_ATTR_concat_axis].i;
  wick_dim first = n->attr[WICK_ATTR_slice_begin].dims[axis],
           count = n->attr[WICK_ATTR_slice_shape].dims[axis];
  if (!wick_dim_is_const(first) || !wick_dim_is_const(count) || count.v < 1) return UINT32_MAX;
  int64_t a = first.v, b = first.v + (count.v - 1) * move_step(n, axis);
  *begin = 0;
  for (uint32_t k = 0; k < concat->nin; k++) {
    wick_dim size = wick_rewrite_info(r, concat->in[k])->dim[axis];
    if (!wick_dim_is_const(size)) return UINT32_MAX;
    if (wick_min_i64(a, b) >= *begin && wick_max_i64(a, b) < *begin + size.v) return k;
    *begin += size.v;
  }
  return UINT32_MAX;
}

static wick_value move_slice_concat(wick_rewriter *r)
{
  int64_t begin;
  const wick_node *n = r->node;
  wick_node concat;
  wick_rewrite_def(r, r->in[0], WICK_OP_concat, &concat);
  uint32_t part = move_slice_part(r, n, &concat, &begin),
           axis = (uint32_t)concat.attr[WICK_ATTR_concat_axis].i;
  wick_dim first[WICK_MAX_RANK];
  if (part == UINT32_MAX) return move_none;
  memcpy(first, n->attr[WICK_ATTR_slice_begin].dims,
         n->attr[WICK_ATTR_slice_begin].n * sizeof *first);
  first[axis] = wick_dim_const(first[axis].v - begin);
  wick_attr a[] = {[WICK_ATTR_slice_begin] = {.n = n->attr[WICK_ATTR_slice_begin].n, .dims = first},
                   [WICK_ATTR_slice_shape] = n->attr[WICK_ATTR_slice_shape],
                   [WICK_ATTR_slice_step] = n->attr[WICK_ATTR_slice_step]};
  return wick_build(&r->c.b, WICK_OP_slice, 1, &concat.in[part], a, 0, NULL);
}

static wick_value move_slice_twice(wick_rewriter *r)
{
  wick_dims *t = r->c.f->module->dims;
  const wick_node *n = r->node;
  uint32_t rank = n->attr[WICK_ATTR_slice_begin].n;
  wick_node d;
  wick_dim first[WICK_MAX_RANK];
  int64_t step[WICK_MAX_RANK];
  wick_rewrite_def(r, r->in[0], WICK_OP_slice, &d);
  for (uint32_t k = 0; k < rank; k++) {
    first[k] = wick_dim_add(
        t, d.attr[WICK_ATTR_slice_begin].dims[k],
        wick_dim_mul(t, n->attr[WICK_ATTR_slice_begin].dims[k], wick_dim_const(move_step(&d, k))));
    if (wick_mul_overflows(move_step(&d, k), move_step(n, k), &step[k])) return move_none;
  }
  return wick_build_slice(&r->c.b, d.in[0], rank, first, n->attr[WICK_ATTR_slice_shape].dims, step);
}

static bool move_slice_is_whole(wick_rewriter *r) /* if the size stays the same, too */
{
  bool whole = true;
  for (uint32_t k = 0; k < r->node->attr[WICK_ATTR_slice_begin].n; k++)
    whole = whole && wick_dim_is(r->node->attr[WICK_ATTR_slice_begin].dims[k], 0) &&
            move_step(r->node, k) == 1;
  return whole;
}

const wick_rewrite wick_simplify_slice[] = {{"slice(x)", "x", move_slice_is_whole, NULL},
                                            {"slice(concat(..))", NULL, NULL, move_slice_concat},
                                            {"slice(slice(x))", NULL, NULL, move_slice_twice},
                                            END};

/* ---- pads ---- */

static bool move_pad_is_none(wick_rewriter *r)
{
  bool none = true;
  for (uint32_t k = 0; k < r->node->attr[WICK_ATTR_pad_pad].n; k++)
    none = none && wick_dim_is(r->node->attr[WICK_ATTR_pad_pad].dims[k], 0);
  return none;
}

/* Returns whether `outer` elements more at an end, after `inner` ones, are outer + inner: neither
 * adds what the other one removes. */
static bool move_pads_add(wick_dims *t, wick_dim outer, wick_dim inner)
{
  int64_t lo[2], hi[2];
  wick_dim_range(t, outer, &lo[0], &hi[0]);
  wick_dim_range(t, inner, &lo[1], &hi[1]);
  return (lo[0] >= 0 && lo[1] >= 0) || (hi[0] <= 0 && hi[1] <= 0) || wick_dim_is(outer, 0) ||
         wick_dim_is(inner, 0);
}

/* Merges two pads with zeros. Other modes are not merged. */
static wick_value move_pad_twice(wick_rewriter *r)
{
  const wick_node *n = r->node;
  wick_dims *t = r->c.f->module->dims;
  wick_node d;
  wick_rewrite_def(r, r->in[0], WICK_OP_pad, &d);
  if (n->attr[WICK_ATTR_pad_mode].i || d.attr[WICK_ATTR_pad_mode].i) return move_none;
  wick_dim pad[2 * WICK_MAX_RANK];
  for (uint32_t k = 0; k < n->attr[WICK_ATTR_pad_pad].n; k++) {
    wick_dim outer = n->attr[WICK_ATTR_pad_pad].dims[k], inner = d.attr[WICK_ATTR_pad_pad].dims[k];
    if (!move_pads_add(t, outer, inner)) return move_none;
    pad[k] = wick_dim_add(t, outer, inner);
  }
  wick_attr a[] = {[WICK_ATTR_pad_pad] = {.n = n->attr[WICK_ATTR_pad_pad].n, .dims = pad},
                   [WICK_ATTR_pad_mode] = d.attr[WICK_ATTR_pad_mode]};
  return wick_build(&r->c.b, WICK_OP_pad, 1, d.in, a, 0, NULL);
}

const wick_rewrite wick_simplify_pad[] = {
    {"pad(x, ..)", "x", move_pad_is_none, NULL}, {"pad(pad(x))", NULL, NULL, move_pad_twice}, END};

/* ---- concatenations ---- */

/* Rewrites a concat of slices of one tensor that follow each other and cover the whole tensor. */
static wick_value move_concat_slices(wick_rewriter *r)
{
  const wick_node *n = r->node;
  const wick_value *in = r->in;
  wick_dims *t = r->c.f->module->dims;
  uint32_t axis = (uint32_t)n->attr[WICK_ATTR_concat_axis].i;
  wick_dim end = wick_dim_const(0);
  wick_value whole = move_none;
  for (uint32_t k = 0; k < n->nin; k++) {
    wick_node d;
    if (!wick_rewrite_def(r, in[k], WICK_OP_slice, &d) || (whole.id && d.in[0].id != whole.id) ||
        move_step(&d, axis) != 1 || !wick_dim_eq(d.attr[WICK_ATTR_slice_begin].dims[axis], end))
      return move_none;
    for (uint32_t i = 0; i < d.attr[WICK_ATTR_slice_begin].n; i++)
      if (i != axis &&
          (move_step(&d, i) != 1 || !wick_dim_is(d.attr[WICK_ATTR_slice_begin].dims[i], 0)))
        return move_none;
    whole = d.in[0];
    end = wick_dim_add(t, end, d.attr[WICK_ATTR_slice_shape].dims[axis]);
  }
  return whole;
}

/* Rewrites a concat of all results of one split, in order. */
static wick_value move_concat_split(wick_rewriter *r)
{
  const wick_node *n = r->node;
  const wick_value *in = r->in;
  wick_node d;
  if (!wick_rewrite_def(r, in[0], WICK_OP_split, &d) || d.nout != n->nin ||
      d.attr[WICK_ATTR_split_axis].i != n->attr[WICK_ATTR_concat_axis].i)
    return move_none;
  for (uint32_t k = 0; k < n->nin; k++)
    if (in[k].id != d.first.id + k) return move_none;
  return d.in[0];
}

/* Merges concats along the same axis without other users, and removes operands without elements. */
static wick_value move_concat_flat(wick_rewriter *r)
{
  const wick_node *n = r->node;
  const wick_value *in = r->in;
  uint32_t count = 0, axis = (uint32_t)n->attr[WICK_ATTR_concat_axis].i;
  wick_list(wick_value) flat = {0};
  for (uint32_t k = 0; k < n->nin; k++) {
    wick_node d;
    if (wick_dim_is(wick_rewrite_info(r, in[k])->dim[axis], 0)) continue;
    bool inner = wick_rewrite_once(r, n->in[k]) && wick_rewrite_def(r, in[k], WICK_OP_concat, &d) &&
                 d.attr[WICK_ATTR_concat_axis].i == n->attr[WICK_ATTR_concat_axis].i;
    count += inner;
    for (uint32_t i = 0; inner && i < d.nin; i++) wick_push(r->mem, &flat, d.in[i]);
    if (!inner) wick_push(r->mem, &flat, in[k]);
  }
  if ((!count && flat.n == n->nin) || !flat.n || flat.n > WICK_ANY - 1) return move_none;
  if (flat.n == 1) return flat.at[0];
  return wick_build(&r->c.b, WICK_OP_concat, flat.n, flat.at, n->attr, 0, NULL);
}

const wick_rewrite wick_simplify_concat[] = {
    {"concat(x)", "x", NULL, NULL},
    {"concat(slice(x), ..)", NULL, NULL, move_concat_slices},
    {"concat(..)", NULL, NULL, move_concat_split},
    {"concat(..)", NULL, NULL, move_concat_flat},
    END};

/* ---- scatters of slices ---- */

enum { MOVE_SCATTER_SHORT = 32 };

/* The slices that the tuples select have several dimensions and a short last one: they become one
 * dimension, so that vectors run along whole slices. */
static wick_value move_scatter_slices(wick_rewriter *r)
{
  const wick_type_info *x = wick_rewrite_info(r, r->in[0]), *u = wick_rewrite_info(r, r->in[2]),
                       *indices = wick_rewrite_info(r, r->in[1]);
  wick_dims *t = r->c.f->module->dims;
  uint32_t depth = (uint32_t)indices->dim[indices->rank - 1].v, tuples = indices->rank - 1u;
  wick_dim dim[WICK_MAX_RANK], slice = wick_dim_const(1);
  if (x->rank < depth + 2 || !wick_dim_is_const(x->dim[x->rank - 1]) ||
      x->dim[x->rank - 1].v >= MOVE_SCATTER_SHORT)
    return move_none;
  for (uint32_t k = depth; k < x->rank; k++) {
    if (!wick_dim_is_const(x->dim[k])) return move_none;
    slice = wick_dim_mul(t, slice, x->dim[k]);
  }
  memcpy(dim, u->dim, tuples * sizeof *dim);
  dim[tuples] = slice;
  wick_value in[3] = {r->in[0], r->in[1], wick_build_reshape(&r->c.b, r->in[2], tuples + 1, dim)};
  x = wick_rewrite_info(r, r->in[0]);
  memcpy(dim, x->dim, depth * sizeof *dim);
  dim[depth] = slice;
  in[0] = wick_build_reshape(&r->c.b, in[0], depth + 1, dim);
  wick_value v = wick_build(&r->c.b, r->node->op, 3, in, r->node->attr, 0, NULL);
  const wick_type_info *y = wick_type_get(r->c.f->module, wick_rewrite_type(r));
  return wick_build_reshape(&r->c.b, v, y->rank, y->dim);
}

const wick_rewrite wick_simplify_scatter_nd[] = {
    {"scatter_nd(x, i, u)", NULL, NULL, move_scatter_slices}, END};

/* ---- reductions ---- */

/* Finds the dimensions of x that each dimension of a view of the same elements consists of, one
 * after another: those of view dimension k are first[k] .. first[k + 1] - 1. */
static bool move_groups(wick_dims *t, const wick_type_info *x, const wick_type_info *view,
                        uint32_t *first)
{
  uint32_t at = 0;
  for (uint32_t k = 0; k < view->rank; k++) {
    wick_dim size = wick_dim_const(1);
    for (first[k] = at; !wick_dim_eq(size, view->dim[k]); at++) {
      if (at == x->rank) return false;
      size = wick_dim_mul(t, size, x->dim[at]);
    }
  }
  while (at < x->rank && wick_dim_is(x->dim[at], 1)) at++;
  first[view->rank] = at;
  return at == x->rank;
}

/* A reduction of a reshaped x along dimensions that consist of some of x becomes one of x, whose
 * producer can compute it. A norm, which also reads the reshaped x elsewhere, stays one kernel. */
static wick_value move_reduce_reshape(wick_rewriter *r)
{
  const wick_node *n = r->node;
  const wick_attr *axes = &n->attr[WICK_ATTR_reduce_sum_axes];
  wick_value from = wick_rewrite_var(r, 'x');
  const wick_type_info *x = wick_rewrite_info(r, from), *view = wick_rewrite_info(r, r->in[0]);
  uint32_t first[WICK_MAX_RANK + 1], count = 0;
  int64_t all[WICK_MAX_RANK];
  bool chosen[WICK_MAX_RANK] = {false};
  if (!axes->n || !wick_rewrite_once(r, n->in[0]) ||
      !move_groups(r->c.f->module->dims, x, view, first))
    return move_none;
  for (uint32_t k = 0; k < axes->n; k++)
    chosen[axes->ints[k] + (axes->ints[k] < 0 ? view->rank : 0)] = true;
  for (uint32_t k = 0; k < view->rank; k++)
    for (uint32_t i = first[k]; chosen[k] && i < first[k + 1]; i++) all[count++] = i;
  if (!count) return move_none;
  wick_attr a[] = {[WICK_ATTR_reduce_sum_axes] = {.n = count, .ints = all},
                   [WICK_ATTR_reduce_sum_keepdims] = {.i = false}};
  wick_value v = wick_build(&r->c.b, n->op, 1, &from, a, 0, NULL);
  const wick_type_info *y = wick_type_get(r->c.f->module, wick_rewrite_type(r));
  return wick_build_reshape(&r->c.b, v, y->rank, y->dim);
}

const wick_rewrite wick_simplify_reduce[] = {
    {"reduce_sum(reshape(x))", NULL, NULL, move_reduce_reshape},
    {"reduce_prod(reshape(x))", NULL, NULL, move_reduce_reshape},
    {"reduce_max(reshape(x))", NULL, NULL, move_reduce_reshape},
    {"reduce_min(reshape(x))", NULL, NULL, move_reduce_reshape},
    {"reduce_mean(reshape(x))", NULL, NULL, move_reduce_reshape},
    {"reduce_l1(reshape(x))", NULL, NULL, move_reduce_reshape},
    {"reduce_l2(reshape(x))", NULL, NULL, move_reduce_reshape},
    {"reduce_log_sum(reshape(x))", NULL, NULL, move_reduce_reshape},
    {"reduce_log_sum_exp(reshape(x))", NULL, NULL, move_reduce_reshape},
    {"reduce_sum_square(reshape(x))", NULL, NULL, move_reduce_reshape},
    END};
/* ---- gathers ---- */

/* Indices that were widened are read as they were. */
static wick_value move_gather_narrow(wick_rewriter *r)
{
  wick_node cast;
  if (!wick_rewrite_def(r, r->in[1], WICK_OP_cast, &cast)) return move_none;
  wick_elem from = wick_rewrite_info(r, cast.in[0])->elem,
            to = wick_rewrite_info(r, r->in[1])->elem;
  bool keeps = wick_elem_is_int(from) && wick_elem_is_int(to) &&
               wick_elem_storage[from].bits < wick_elem_storage[to].bits &&
               (wick_elem_class(from) != WICK_SINT || wick_elem_class(to) == WICK_SINT);
  wick_value in[2] = {r->in[0], cast.in[0]};
  return keeps ? wick_build(&r->c.b, WICK_OP_gather, 2, in, r->node->attr, 0, NULL) : move_none;
}

const wick_rewrite wick_simplify_gather[] = {{"gather(x, y)", NULL, NULL, move_gather_narrow}, END};

/* ---- triangles ---- */

enum { MOVE_TRIANGLE_COLUMNS = 64, MOVE_TRIANGLE_MOST = 1 << 16 };

/* Triangles with short rows: a constant says which elements of a matrix remain, so that vectors run
 * over all rows and matrices. */
static wick_value move_triangle_mask(wick_rewriter *r)
{
  const wick_type_info *x = wick_rewrite_info(r, r->in[0]);
  const wick_attr *a = r->node->attr;
  wick_elem e = x->elem;
  wick_dim dim[2] = {x->dim[x->rank - 2], x->dim[x->rank - 1]};
  if (!wick_dim_is_const(dim[0]) || !wick_dim_is_const(dim[1]) || dim[1].v < 1 ||
      dim[1].v >= MOVE_TRIANGLE_COLUMNS || dim[0].v < 1 || dim[0].v * dim[1].v > MOVE_TRIANGLE_MOST)
    return move_none;
  wick_module *m = r->c.f->module;
  wick_type type = wick_type_tensor(m, WICK_BOOL, 2, dim);
  uint64_t nbytes = wick_elem_bytes(WICK_BOOL, (uint64_t)(dim[0].v * dim[1].v));
  void *kept = wick_arena_alloc(&m->mem, nbytes, 64);
  int64_t k = a[WICK_ATTR_trilu_k].i, rows = dim[0].v, columns = dim[1].v;
  for (int64_t at = 0; at < rows * columns; at++) {
    int64_t row = at / columns, right = k < -rows ? -rows : k > columns ? columns : k;
    bool is =
        a[WICK_ATTR_trilu_upper].i ? at % columns >= row + right : at % columns <= row + right;
    wick_store_elem(WICK_BOOL, kept, (uint64_t)at, (wick_scalar){.i = is});
  }
  wick_value mask =
      wick_build_constant(&r->c.b, wick_constant_add(m, "triangle", type, kept, nbytes));
  wick_value zero = wick_build_const(&r->c.b, wick_type_tensor(m, e, 0, NULL), 0, 0);
  return wick_build3(&r->c.b, WICK_OP_where, mask, r->in[0], zero);
}

const wick_rewrite wick_simplify_triangle[] = {{"trilu(x)", NULL, NULL, move_triangle_mask}, END};
