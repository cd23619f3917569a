/* Indices and slices: x[i, 1:, [2, 0]] and x with [i] = v. */
#include "lang/lower/state.h"

typedef struct indices_part {
  bool kept;             /* a slice: the dimension stays */
  bool whole;            /* all of the dimension */
  wick_dim begin, count; /* of a slice, or of an index that is known (count 1) */
  int64_t step;
  wick_value v; /* an index, or a tensor of indices; 0: begin and count say it */
} indices_part;

/* A size or an index that is known when the program is compiled. */
static bool indices_known(lowering *s, lowering_frame *f, const wick_ast *n, wick_dim size,
                          wick_dim *out)
{
  *out = wick_lang_size(s->p, s->t, f->typed, n);
  if (wick_dim_eq(*out, WICK_DIM_INVALID) || wick_dim_eq(*out, s->t->any)) return false;
  if (wick_dim_is_const(*out) && out->v < 0) *out = wick_dim_add(s->t->dims, size, *out);
  return true;
}

/* x[i:i+3]: a slice of a known size from an index that is not. */
static bool indices_window(lowering *s, lowering_frame *f, const wick_ast *k, indices_part *out)
{
  wick_dim step = wick_dim_const(1);
  if (!k->kid[0] || !k->kid[1] ||
      (k->kid[2] && !indices_known(s, f, k->kid[2], wick_dim_const(0), &step)) ||
      !wick_dim_is_const(step) || step.v < 1)
    return false;
  wick_dim span = wick_lang_span(s->p, s->t, f->typed, k->kid[0], k->kid[1]);
  if (wick_dim_eq(span, WICK_DIM_INVALID) || !wick_dim_is_const(span) || span.v < 0) return false;
  out->count = wick_dim_ceildiv(s->t->dims, span, step);
  wick_value i = wick_lowering_value(s, f, k->kid[0]);
  if (s->failed) return true;
  i = wick_build_cast(f->b, i, WICK_I64);
  wick_value in[2] = {i, wick_lowering_number(s, f, WICK_I64, 0, step.v)};
  wick_attr attr = {.n = 1, .dims = &out->count};
  out->v = wick_build(f->b, WICK_OP_range, 2, in, &attr, 0, NULL);
  return true;
}

static void indices_slice(lowering *s, lowering_frame *f, const wick_ast *k, wick_dim size,
                          indices_part *out)
{
  wick_dim end = size, step = wick_dim_const(1);
  *out = (indices_part){.kept = true, .begin = wick_dim_const(0), .step = 1};
  out->whole = !k->kid[0] && !k->kid[1] && !k->kid[2];
  bool known = (!k->kid[0] || indices_known(s, f, k->kid[0], size, &out->begin)) &&
               (!k->kid[1] || indices_known(s, f, k->kid[1], size, &end)) &&
               (!k->kid[2] || indices_known(s, f, k->kid[2], size, &step));
  if (!known && indices_window(s, f, k, out)) return;
  int64_t least, most;
  wick_dim count = wick_dim_sub(s->t->dims, end, out->begin);
  if (known) wick_dim_range(s->t->dims, count, &least, &most);
  if (!known || !wick_dim_is_const(step)) {
    wick_lowering_fail(s, k->at,
                       "this slice has a size that only the running program knows; compiled "
                       "functions cannot have it yet");
    return;
  }
  if (step.v < 1 || most < 0 ||
      (wick_dim_is_const(end) && wick_dim_is_const(size) && (end.v > size.v || end.v < 0)) ||
      (wick_dim_is_const(out->begin) && out->begin.v < 0))
    wick_lowering_fail(s, k->at, "the slice is outside of the size %s",
                       wick_ty_text(s->t, wick_ty_size(s->t, size)));
  out->step = step.v;
  out->count = wick_dim_is(step, 1) ? count : wick_dim_ceildiv(s->t->dims, count, step);
}

static void indices_read(lowering *s, lowering_frame *f, wick_ast *k, wick_dim size,
                         indices_part *out)
{
  if (k->kind == WICK_AST_SLICE) {
    indices_slice(s, f, k, size, out);
    return;
  }
  *out = (indices_part){.count = wick_dim_const(1), .step = 1};
  if (k->kind != WICK_AST_TUPLE && indices_known(s, f, k, size, &out->begin) &&
      wick_dim_is_const(out->begin)) {
    const wick_ast *number = k->kind == WICK_AST_UNARY ? k->kid[0] : k;
    bool outside = wick_dim_is_const(size) && (out->begin.v < 0 || out->begin.v >= size.v);
    if (!outside) return;
    if (number->kind == WICK_AST_INT) {
      wick_lowering_fail(s, k->at, "the index is outside of the size %lld", (long long)size.v);
      return;
    } /* others may never be reached: the running program checks them */
  }
  out->v = wick_lowering_value(s, f, k);
}

/* All indices are evaluated before anything is read, in their order. */
static indices_part *indices_all(lowering *s, lowering_frame *f, const wick_ast *n, wick_value x)
{
  wick_dim dim[WICK_MAX_RANK];
  const wick_type_info *t = wick_built_info(f->b, x);
  indices_part *part = wick_new(s->tmp, indices_part, n->nkid);
  if (n->nkid - 1 > t->rank) {
    wick_lowering_fail(s, n->at, "too many indices");
    return part;
  }
  for (uint32_t i = 0; i < t->rank; i++) dim[i] = t->dim[i];
  for (uint32_t i = 0; i + 1 < n->nkid && !s->failed; i++)
    indices_read(s, f, n->kid[i + 1], dim[i], &part[i]);
  return part;
}

/* x without the dimension `axis`, whose size is 1. */
static wick_value indices_drop(lowering_frame *f, wick_value x, uint32_t axis)
{
  wick_dim dim[WICK_MAX_RANK];
  const wick_type_info *t = wick_built_info(f->b, x);
  uint32_t rank = 0;
  for (uint32_t i = 0; i < t->rank; i++)
    if (i != axis) dim[rank++] = t->dim[i];
  return wick_build_reshape(f->b, x, rank, dim);
}

const lowered *wick_lowering_index(lowering *s, lowering_frame *f, const wick_ast *n,
                                   const lowered *x)
{
  if (x->kind != LOWERED_ONE) return wick_lowering_fail(s, n->at, "this is no tensor");
  const indices_part *part = indices_all(s, f, n, x->v);
  wick_value v = x->v;
  uint32_t axis = 0;
  wick_lowering_at(s, f, n->at);
  for (uint32_t i = 0; i + 1 < n->nkid; i++) {
    const indices_part *p = &part[i];
    if (!wick_lowering_ok(s, f)) return wick_lowering_unit(s);
    if (p->v.id) {
      wick_value in[2] = {v, p->v};
      wick_attr attr = {.i = axis};
      axis += wick_built_info(f->b, p->v)->rank;
      v = wick_build(f->b, WICK_OP_gather, 2, in, &attr, 0, NULL);
      continue;
    }
    if (!p->whole) v = wick_build_slice_axis(f->b, v, axis, p->begin, p->count, p->step);
    if (!wick_lowering_ok(s, f)) return wick_lowering_unit(s);
    if (p->kept)
      axis++;
    else
      v = indices_drop(f, v, axis);
  }
  return wick_lowering_tensor(s, f, v);
}

/* ---- x with [...] = v ---- */

/* Replaces rows begin .. begin+count-1 along one axis. */
static wick_value indices_spliced(lowering *s, lowering_frame *f, wick_value x, uint32_t axis,
                                  const indices_part *p, wick_value v)
{
  wick_value piece[3];
  wick_dim dim[WICK_MAX_RANK];
  const wick_type_info *t = wick_built_info(f->b, x);
  uint32_t n = 0, rank = t->rank;
  for (uint32_t i = 0; i < rank; i++) dim[i] = t->dim[i];
  wick_dim end = wick_dim_add(s->t->dims, p->begin, p->count),
           after = wick_dim_sub(s->t->dims, dim[axis], end);
  wick_dim size = dim[axis];
  if (!wick_dim_is(p->begin, 0))
    piece[n++] = wick_build_slice_axis(f->b, x, axis, wick_dim_const(0), p->begin, 1);
  dim[axis] = p->count;
  piece[n++] = wick_build_reshape(f->b, v, rank, dim);
  if (!wick_dim_eq(end, size)) piece[n++] = wick_build_slice_axis(f->b, x, axis, end, after, 1);
  return n == 1 ? piece[0] : wick_build_concat(f->b, axis, n, piece);
}

/* Returns whether the parts are a box of constant place that has a good part of x: then all of x is
 * copied in less time than single elements are stored. */
static bool indices_is_box(lowering_frame *f, wick_value x, uint32_t npart,
                           const indices_part *part)
{
  enum { LEAST = 8 }; /* one element in so many is replaced */
  const wick_type_info *t = wick_built_info(f->b, x);
  double replaced = LEAST;
  for (uint32_t i = 0; i < npart; i++) {
    const indices_part *p = &part[i];
    if (p->whole) continue;
    if (p->v.id || p->step != 1 || !wick_dim_is_const(p->count) || !wick_dim_is_const(t->dim[i]) ||
        t->dim[i].v < 1)
      return false;
    replaced *= (double)p->count.v / (double)t->dim[i].v;
  }
  return replaced >= 1;
}

/* Replaces a box: in the rows along `axis` that it has, the rest of it is replaced. */
static wick_value indices_boxed(lowering *s, lowering_frame *f, wick_value x, uint32_t axis,
                                uint32_t npart, const indices_part *part, wick_value v)
{
  while (part[axis].whole) axis++;
  const indices_part *p = &part[axis];
  if (axis + 1 < npart) {
    wick_value rows = wick_build_slice_axis(f->b, x, axis, p->begin, p->count, 1);
    if (f->b->status) return x;
    v = indices_boxed(s, f, rows, axis + 1, npart, part, v);
  }
  return f->b->status ? x : indices_spliced(s, f, x, axis, p, v);
}

/* The indices of one dimension as i64 [n]. */
static wick_value indices_list(lowering *s, lowering_frame *f, const indices_part *p)
{
  if (!p->v.id) {
    wick_value in[2] = {wick_lowering_number(s, f, WICK_I64, 0, p->begin.v),
                        wick_lowering_number(s, f, WICK_I64, 0, p->step)};
    wick_attr attr = {.n = 1, .dims = &p->count};
    return wick_build(f->b, WICK_OP_range, 2, in, &attr, 0, NULL);
  }
  wick_value v = wick_build_cast(f->b, p->v, WICK_I64);
  wick_dim n = wick_type_numel(s->module, wick_built_type(f->b, v));
  return wick_build_reshape(f->b, v, 1, &n);
}

/* The general form: a tuple of indices for each part that is replaced. */
static wick_value indices_scattered(lowering *s, lowering_frame *f, wick_value x, uint32_t npart,
                                    const indices_part *part, wick_value v)
{
  wick_dim grid[WICK_MAX_RANK + 1], column[WICK_MAX_RANK + 1], to[2 * WICK_MAX_RANK];
  wick_value list[WICK_MAX_RANK];
  bool single = true;
  for (uint32_t i = 0; i < npart; i++) {
    list[i] = indices_list(s, f, &part[i]);
    if (f->b->status) return x;
    grid[i] = wick_built_info(f->b, list[i])->dim[0];
    single = single && wick_dim_is(grid[i], 1);
  }
  uint32_t rank = single ? 0 : npart;
  for (uint32_t i = 0; i < npart && !single; i++) {
    for (uint32_t k = 0; k < npart; k++) column[k] = k == i ? grid[i] : wick_dim_const(1);
    wick_value c = wick_build_reshape(f->b, list[i], npart, column);
    wick_attr attr = {.n = npart, .dims = grid};
    c = wick_build(f->b, WICK_OP_broadcast_to, 1, &c, &attr, 0, NULL);
    for (uint32_t k = 0; k < npart; k++) column[k] = grid[k];
    column[npart] = wick_dim_const(1);
    list[i] = wick_build_reshape(f->b, c, npart + 1, column);
  }
  wick_value indices = npart == 1 ? list[0] : wick_build_concat(f->b, rank, npart, list);
  if (f->b->status) return x;
  const wick_type_info *t = wick_built_info(f->b, x);
  uint32_t n = 0;
  for (uint32_t i = 0; i < rank; i++) to[n++] = grid[i];
  for (uint32_t i = npart; i < t->rank; i++) to[n++] = t->dim[i];
  wick_value in[3] = {x, indices, wick_build_reshape(f->b, v, n, to)};
  return wick_build(f->b, WICK_OP_scatter_nd, 3, in, NULL, 0, NULL);
}

const lowered *wick_lowering_with(lowering *s, lowering_frame *f, const wick_ast *n,
                                  const lowered *x, const lowered *value)
{
  if (x->kind != LOWERED_ONE || value->kind != LOWERED_ONE)
    return wick_lowering_fail(s, n->at, "this is no tensor");
  const indices_part *part = indices_all(s, f, n, x->v);
  uint32_t npart = n->nkid - 1, some = 0, at = 0;
  if (!wick_lowering_ok(s, f)) return wick_lowering_unit(s);
  while (npart && part[npart - 1].whole) npart--;
  for (uint32_t i = 0; i < npart; i++)
    if (!part[i].whole) some++, at = i;
  wick_lowering_at(s, f, n->at);
  if (!npart) return value;
  bool row = at == 0 && !part[at].kept; /* stored in place, as rows at other indices are */
  if (some == 1 && !part[at].v.id && part[at].step == 1 && !row)
    return wick_lowering_tensor(s, f, indices_spliced(s, f, x->v, at, &part[at], value->v));
  if (some > 1 && indices_is_box(f, x->v, npart, part))
    return wick_lowering_tensor(s, f, indices_boxed(s, f, x->v, 0, npart, part, value->v));
  return wick_lowering_tensor(s, f, indices_scattered(s, f, x->v, npart, part, value->v));
}
