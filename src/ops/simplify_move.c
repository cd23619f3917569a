/* Simplification of operators that move elements: moves without effect, and two moves that are one.
 */
#include <string.h>

#include "ops/simplify.h"

static const wick_value move_none = {0};

static bool move_keeps(const wick_simplify *s, const wick_node *n, wick_value v)
{
  return wick_type_eq(wick_built_type(&s->c.b, v), wick_type_of(s->c.f, n->first));
}

static wick_value move_reshape(wick_simplify *s, const wick_node *n, wick_value x)
{
  const wick_type_info *to = wick_info_of(s->c.f, n->first);
  wick_attr a = {.n = to->rank, .dims = to->dim};
  return wick_build(&s->c.b, WICK_OP_reshape, 1, &x, &a, 0, NULL);
}

wick_value wick_simplify_reshape(wick_simplify *s, const wick_node *n, const wick_value *in)
{
  wick_node d;
  if (move_keeps(s, n, in[0])) return in[0];
  return wick_simplify_def(s, in[0], WICK_OP_reshape, &d) ? move_reshape(s, n, d.in[0]) : move_none;
}

static void move_perm(const wick_node *n, uint32_t rank, int64_t *perm)
{
  for (uint32_t k = 0; k < rank; k++)
    perm[k] = n->attr[WICK_ATTR_transpose_perm].n ? n->attr[WICK_ATTR_transpose_perm].ints[k]
                                                  : rank - 1 - k;
}

/* Two are one; one that leaves all dimensions but those of size 1 in order is a reshape. */
wick_value wick_simplify_transpose(wick_simplify *s, const wick_node *n, const wick_value *in)
{
  const wick_type_info *x = wick_built_info(&s->c.b, in[0]);
  int64_t perm[WICK_MAX_RANK], inner[WICK_MAX_RANK], last = -1;
  wick_node d;
  bool in_order = true, identity = true;
  uint32_t rank = x->rank;
  move_perm(n, rank, perm);
  for (uint32_t k = 0; k < rank; k++) {
    identity = identity && perm[k] == k;
    if (wick_dim_is(x->dim[perm[k]], 1)) continue;
    in_order = in_order && perm[k] > last;
    last = perm[k];
  }
  if (identity) return in[0];
  if (in_order) return move_reshape(s, n, in[0]);
  if (!wick_simplify_def(s, in[0], WICK_OP_transpose, &d)) return move_none;
  move_perm(&d, rank, inner);
  for (uint32_t k = 0; k < rank; k++) perm[k] = inner[perm[k]];
  wick_attr a = {.n = rank, .ints = perm};
  return wick_build(&s->c.b, WICK_OP_transpose, 1, d.in, &a, 0, NULL);
}

/* ---- slices ---- */

static int64_t move_step(const wick_node *n, uint32_t k)
{
  return n->attr[WICK_ATTR_slice_step].n ? n->attr[WICK_ATTR_slice_step].ints[k] : 1;
}

/* The operand of a concat of constant sizes that holds all that a slice of it takes; UINT32_MAX:
 * none. *begin: where that operand begins. */
static uint32_t move_slice_part(wick_simplify *s, const wick_node *n, const wick_node *concat,
                                int64_t *begin)
{
  uint32_t axis = (uint32_t)concat->attr[WICK_ATTR_concat_axis].i;
  wick_dim first = n->attr[WICK_ATTR_slice_begin].dims[axis],
           count = n->attr[WICK_ATTR_slice_shape].dims[axis];
  if (!wick_dim_is_const(first) || !wick_dim_is_const(count) || count.v < 1) return UINT32_MAX;
  int64_t a = first.v, b = first.v + (count.v - 1) * move_step(n, axis);
  *begin = 0;
  for (uint32_t k = 0; k < concat->nin; k++) {
    wick_dim size = wick_built_info(&s->c.b, concat->in[k])->dim[axis];
    if (!wick_dim_is_const(size)) return UINT32_MAX;
    if (wick_min_i64(a, b) >= *begin && wick_max_i64(a, b) < *begin + size.v) return k;
    *begin += size.v;
  }
  return UINT32_MAX;
}

static wick_value move_slice_concat(wick_simplify *s, const wick_node *n, const wick_node *concat)
{
  int64_t begin;
  uint32_t part = move_slice_part(s, n, concat, &begin),
           axis = (uint32_t)concat->attr[WICK_ATTR_concat_axis].i;
  wick_dim first[WICK_MAX_RANK];
  if (part == UINT32_MAX) return move_none;
  memcpy(first, n->attr[WICK_ATTR_slice_begin].dims,
         n->attr[WICK_ATTR_slice_begin].n * sizeof *first);
  first[axis] = wick_dim_const(first[axis].v - begin);
  wick_attr a[] = {[WICK_ATTR_slice_begin] = {.n = n->attr[WICK_ATTR_slice_begin].n, .dims = first},
                   [WICK_ATTR_slice_shape] = n->attr[WICK_ATTR_slice_shape],
                   [WICK_ATTR_slice_step] = n->attr[WICK_ATTR_slice_step]};
  return wick_build(&s->c.b, WICK_OP_slice, 1, &concat->in[part], a, 0, NULL);
}

wick_value wick_simplify_slice(wick_simplify *s, const wick_node *n, const wick_value *in)
{
  wick_dims *t = s->c.f->module->dims;
  uint32_t rank = n->attr[WICK_ATTR_slice_begin].n;
  bool whole = move_keeps(s, n, in[0]);
  wick_node d;
  for (uint32_t k = 0; k < rank; k++)
    whole = whole && wick_dim_is(n->attr[WICK_ATTR_slice_begin].dims[k], 0) && move_step(n, k) == 1;
  if (whole) return in[0];
  if (wick_simplify_def(s, in[0], WICK_OP_concat, &d)) return move_slice_concat(s, n, &d);
  if (!wick_simplify_def(s, in[0], WICK_OP_slice, &d)) return move_none;
  wick_dim first[WICK_MAX_RANK];
  int64_t step[WICK_MAX_RANK];
  for (uint32_t k = 0; k < rank; k++) {
    first[k] = wick_dim_add(
        t, d.attr[WICK_ATTR_slice_begin].dims[k],
        wick_dim_mul(t, n->attr[WICK_ATTR_slice_begin].dims[k], wick_dim_const(move_step(&d, k))));
    if (wick_mul_overflows(move_step(&d, k), move_step(n, k), &step[k])) return move_none;
  }
  wick_attr a[] = {[WICK_ATTR_slice_begin] = {.n = rank, .dims = first},
                   [WICK_ATTR_slice_shape] = n->attr[WICK_ATTR_slice_shape],
                   [WICK_ATTR_slice_step] = {.n = rank, .ints = step}};
  return wick_build(&s->c.b, WICK_OP_slice, 1, d.in, a, 0, NULL);
}

/* ---- pads ---- */

/* Zeros around zeros; other values and modes stay apart. */
wick_value wick_simplify_pad(wick_simplify *s, const wick_node *n, const wick_value *in)
{
  wick_dims *t = s->c.f->module->dims;
  wick_node d;
  bool none = true, zeros = n->nin < 2 || !n->in[1].id;
  for (uint32_t k = 0; k < n->attr[WICK_ATTR_pad_pad].n; k++)
    none = none && wick_dim_is(n->attr[WICK_ATTR_pad_pad].dims[k], 0);
  if (none) return in[0];
  if (!zeros || n->attr[WICK_ATTR_pad_mode].i || !wick_simplify_def(s, in[0], WICK_OP_pad, &d) ||
      d.attr[WICK_ATTR_pad_mode].i || (d.nin > 1 && d.in[1].id))
    return move_none;
  wick_dim pad[2 * WICK_MAX_RANK];
  for (uint32_t k = 0; k < n->attr[WICK_ATTR_pad_pad].n; k++) {
    int64_t lo, hi;
    pad[k] = wick_dim_add(t, n->attr[WICK_ATTR_pad_pad].dims[k], d.attr[WICK_ATTR_pad_pad].dims[k]);
    wick_dim_range(t, n->attr[WICK_ATTR_pad_pad].dims[k], &lo, &hi);
    if (lo < 0) return move_none; /* what it takes away may be zeros of the inner one */
  }
  wick_attr a[] = {[WICK_ATTR_pad_pad] = {.n = n->attr[WICK_ATTR_pad_pad].n, .dims = pad},
                   [WICK_ATTR_pad_mode] = d.attr[WICK_ATTR_pad_mode]};
  return wick_build(&s->c.b, WICK_OP_pad, 1, d.in, a, 0, NULL);
}

/* ---- joins ---- */

/* Slices of one tensor that lie one behind another, and are all of it. */
static wick_value move_concat_slices(wick_simplify *s, const wick_node *n, const wick_value *in)
{
  wick_dims *t = s->c.f->module->dims;
  uint32_t axis = (uint32_t)n->attr[WICK_ATTR_concat_axis].i;
  wick_dim end = wick_dim_const(0);
  wick_value whole = move_none;
  for (uint32_t k = 0; k < n->nin; k++) {
    wick_node d;
    if (!wick_simplify_def(s, in[k], WICK_OP_slice, &d) || (whole.id && d.in[0].id != whole.id) ||
        move_step(&d, axis) != 1 || !wick_dim_eq(d.attr[WICK_ATTR_slice_begin].dims[axis], end))
      return move_none;
    for (uint32_t i = 0; i < d.attr[WICK_ATTR_slice_begin].n; i++)
      if (i != axis &&
          (move_step(&d, i) != 1 || !wick_dim_is(d.attr[WICK_ATTR_slice_begin].dims[i], 0)))
        return move_none;
    whole = d.in[0];
    end = wick_dim_add(t, end, d.attr[WICK_ATTR_slice_shape].dims[axis]);
  }
  return whole.id && move_keeps(s, n, whole) ? whole : move_none;
}

/* All results of one split, in order. */
static wick_value move_concat_split(wick_simplify *s, const wick_node *n, const wick_value *in)
{
  wick_node d;
  if (!wick_simplify_def(s, in[0], WICK_OP_split, &d) || d.nout != n->nin ||
      d.attr[WICK_ATTR_split_axis].i != n->attr[WICK_ATTR_concat_axis].i)
    return move_none;
  for (uint32_t k = 0; k < n->nin; k++)
    if (in[k].id != d.first.id + k) return move_none;
  return d.in[0];
}

/* Concats along the same axis that nobody else uses; operands without elements. */
static wick_value move_concat_flat(wick_simplify *s, const wick_node *n, const wick_value *in)
{
  uint32_t count = 0, axis = (uint32_t)n->attr[WICK_ATTR_concat_axis].i;
  wick_list(wick_value) flat = {0};
  for (uint32_t k = 0; k < n->nin; k++) {
    wick_node d;
    if (wick_dim_is(wick_built_info(&s->c.b, in[k])->dim[axis], 0)) continue;
    bool inner = wick_simplify_once(s, n->in[k]) &&
                 wick_simplify_def(s, in[k], WICK_OP_concat, &d) &&
                 d.attr[WICK_ATTR_concat_axis].i == n->attr[WICK_ATTR_concat_axis].i;
    count += inner;
    for (uint32_t i = 0; inner && i < d.nin; i++) wick_push(s->mem, &flat, d.in[i]);
    if (!inner) wick_push(s->mem, &flat, in[k]);
  }
  if ((!count && flat.n == n->nin) || !flat.n || flat.n > WICK_ANY - 1) return move_none;
  if (flat.n == 1) return flat.at[0];
  return wick_build(&s->c.b, WICK_OP_concat, flat.n, flat.at, n->attr, 0, NULL);
}

wick_value wick_simplify_concat(wick_simplify *s, const wick_node *n, const wick_value *in)
{
  if (n->nin == 1) return in[0];
  wick_value v = move_concat_slices(s, n, in);
  if (!v.id) v = move_concat_split(s, n, in);
  return v.id ? v : move_concat_flat(s, n, in);
}

wick_value wick_simplify_expand(wick_simplify *s, const wick_node *n, const wick_value *in)
{
  wick_node d;
  if (move_keeps(s, n, in[0])) return in[0];
  if (!wick_simplify_def(s, in[0], WICK_OP_broadcast_to, &d)) return move_none;
  const wick_type_info *to = wick_info_of(s->c.f, n->first);
  wick_attr a = {.n = to->rank, .dims = to->dim};
  return wick_build(&s->c.b, WICK_OP_broadcast_to, 1, d.in, &a, 0, NULL);
}
