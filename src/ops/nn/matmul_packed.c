/* Matrix products with a matrix whose columns are in blocks. */
#include <string.h>

#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/nn/blocked.h"
#include "ops/ref.h"
#include "ops/stage.h"

/* Operands: x [.., K]; w [NB, K, v] (the columns of a matrix in blocks), or [NB, K / k, v, k] for
 * dot products of k neighbours. With narrow weights, w is i8 or u8, [NB, K, v] or, for two numbers of
 * 4 bits in a byte, [NB, K / 2, v]; scale [NB, G, v] and zero [NB, G, v] belong to groups of K / G
 * steps. Result: [.., NB, v], or [.., columns]. The first `batch` axes of x and w count independent products. */
static wick_dim matmul_packed_k(const wick_type_info *w, uint32_t batch)
{
  return w->rank == batch + 4 ? w->dim[batch + 3] : wick_dim_const(1);
}

/* Returns true if the bytes of w are two numbers of 4 bits for each. */
static bool matmul_packed_nibbles(wick_dims *t, const wick_type_info *x, const wick_type_info *w)
{
  return wick_elem_is_float(x->elem) && (w->elem == WICK_I8 || w->elem == WICK_U8) &&
         w->rank == 3 &&
         wick_dim_eq(wick_dim_mul(t, w->dim[1], wick_dim_const(2)), x->dim[x->rank - 1]);
}

/* Checks the scale and the zero points. */
static wick_status matmul_packed_infer_shared(wick_infer *c, const wick_type_info *x,
                                              const wick_type_info *w)
{
  const wick_elem elems[] = {WICK_F32, w->elem};
  if (x->elem != WICK_F32 || w->rank != 3 || c->attr[WICK_ATTR_matmul_packed_batch].i ||
      (w->elem != WICK_I8 && w->elem != WICK_U8))
    return wick_infer_fail(c, WICK_ETYPE, "a scale belongs to x of f32 and w of bytes");
  wick_dim inner = x->dim[x->rank - 1];
  const wick_type_info *first = wick_type_get(c->module, c->in[2]->type);
  for (uint32_t k = 2; k < c->nin; k++) {
    const wick_type_info *t = wick_type_get(c->module, c->in[k]->type);
    if (t->elem != elems[k - 2] || t->rank != 3 || !wick_dim_eq(t->dim[0], w->dim[0]) ||
        !wick_dim_eq(t->dim[1], first->dim[1]) || !wick_dim_eq(t->dim[2], w->dim[2]) ||
        !wick_dim_is_const(t->dim[1]) || !wick_dim_is_const(inner) || t->dim[1].v < 1 ||
        inner.v % t->dim[1].v)
      return wick_infer_fail(c, WICK_ETYPE, "operand %u does not fit the weights", k);
    if (matmul_packed_nibbles(c->module->dims, x, w) && inner.v / t->dim[1].v % 2)
      return wick_infer_fail(c, WICK_ETYPE, "a group has an odd number of steps");
  }
  return NULL;
}

/* Checks that that many columns end in the last block of a matrix of floats. */
static wick_status matmul_packed_infer_columns(wick_infer *c, const wick_type_info *x,
                                               const wick_type_info *w, uint32_t batch)
{
  int64_t columns = c->attr[WICK_ATTR_matmul_packed_columns].i;
  wick_dim blocks = w->dim[batch], v = w->dim[batch + 2];
  if (!wick_elem_is_float(x->elem) || c->nin > 2 || w->rank != batch + 3)
    return wick_infer_fail(c, WICK_ETYPE, "columns belong to a matrix of floats");
  if (!wick_dim_is_const(blocks) || !wick_dim_is_const(v) || !v.v ||
      wick_ceildiv_i64(columns, v.v) != blocks.v)
    return wick_infer_fail(c, WICK_ETYPE, "%lld columns do not end in the last block",
                           (long long)columns);
  return NULL;
}

static wick_status matmul_packed_infer(wick_infer *c)
{
  const wick_type_info *x = wick_type_get(c->module, c->in[0]->type),
                       *w = wick_type_get(c->module, c->in[1]->type);
  wick_dim dim[WICK_MAX_RANK];
  uint32_t batch = (uint32_t)c->attr[WICK_ATTR_matmul_packed_batch].i;
  int64_t columns = c->attr[WICK_ATTR_matmul_packed_columns].i;
  if (x->rank < batch + 1 || x->rank + 1u > WICK_MAX_RANK ||
      (w->rank != batch + 3 && w->rank != batch + 4))
    return wick_infer_fail(c, WICK_ETYPE,
                           "operands of rank %u and %u are not packed for each other", x->rank,
                           w->rank);
  bool narrow = c->nin > 2, nibbles = narrow && matmul_packed_nibbles(c->module->dims, x, w);
  wick_dim inner = wick_dim_mul(c->module->dims, w->dim[batch + 1],
                                nibbles ? wick_dim_const(2) : matmul_packed_k(w, batch));
  for (uint32_t k = 0; k < batch; k++)
    if (!wick_infer_equal(c, x->dim[k], w->dim[k]))
      return wick_infer_fail(c, WICK_ETYPE, "x and w have different batches");
  if (!(narrow || wick_packed_elems(x->elem, w->elem)) ||
      !wick_infer_equal(c, x->dim[x->rank - 1], inner))
    return wick_infer_fail(c, WICK_ETYPE, "x and w have different inner sizes");
  if (narrow) WICK_TRY(matmul_packed_infer_shared(c, x, w));
  memcpy(dim, x->dim, x->rank * sizeof *dim);
  if (columns) WICK_TRY(matmul_packed_infer_columns(c, x, w, batch));
  dim[x->rank - 1] = columns ? wick_dim_const(columns) : w->dim[batch];
  dim[x->rank] = w->dim[batch + 2];
  c->out[0].type =
      wick_type_tensor(c->module, wick_packed_sum(x->elem), columns ? x->rank : x->rank + 1u, dim);
  return NULL;
}

/* ---- reference ---- */

/* Returns the dequantized weight of step k and lane i of block b. */
static double matmul_packed_weight(const wick_ref *c, uint64_t b, uint64_t k, uint64_t i)
{
  const wick_tensor *w = &c->in[1], *s = &c->in[2];
  uint64_t inner = (uint64_t)c->in[0].dim[c->in[0].rank - 1], v = (uint64_t)w->dim[2],
           half = inner == (uint64_t)w->dim[1] ? 1 : 2, groups = (uint64_t)s->dim[1],
           at = (b * groups + k / (inner / groups)) * v + i;
  int64_t q = wick_load_int(w->elem, w->data, (b * (inner / half) + k / half) * v + i);
  if (half == 2) q = (int64_t)((uint64_t)q >> (k % 2 * 4) & 15);
  if (half == 2 && w->elem == WICK_I8 && q > 7) q -= 16;
  if (c->nin > 3) q -= wick_load_int(w->elem, c->in[3].data, at);
  return (double)((float)q * (float)wick_load_elem(WICK_F32, s->data, at).f);
}

static wick_status matmul_packed_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0], *w = &c->in[1];
  uint32_t batch = (uint32_t)c->attr[WICK_ATTR_matmul_packed_batch].i;
  uint64_t inner = (uint64_t)x->dim[x->rank - 1], rows = inner ? wick_ref_numel(x) / inner : 0,
           v = (uint64_t)w->dim[batch + 2], blocks = (uint64_t)w->dim[batch], each = 1,
           dot = w->rank == batch + 4 ? (uint64_t)w->dim[batch + 3] : 1,
           columns = (uint64_t)c->attr[WICK_ATTR_matmul_packed_columns].i;
  if (!columns) columns = blocks * v;
  for (uint32_t k = batch; k + 1 < x->rank; k++) each *= (uint64_t)x->dim[k]; /* rows in a batch */
  for (uint64_t r = 0; r < rows; r++)
    for (uint64_t b = 0; b < blocks; b++)
      for (uint64_t i = 0; i < v && b * v + i < columns; i++) {
        wick_scalar sum = {.i = 0};
        for (uint64_t k = 0; k < inner; k++) {
          uint64_t block = r / each * blocks + b,
                   at = ((block * (inner / dot) + k / dot) * v + i) * dot + k % dot;
          wick_scalar p = wick_load_elem(x->elem, x->data, r * inner + k);
          if (c->nin > 2) {
            sum.f += p.f * matmul_packed_weight(c, b, k, i);
            continue;
          }
          wick_scalar q = wick_load_elem(w->elem, w->data, at);
          if (wick_elem_is_float(x->elem))
            sum.f += p.f * q.f;
          else
            sum.i = (int64_t)((uint64_t)sum.i + (uint64_t)p.i * (uint64_t)q.i);
        }
        wick_store_elem(c->out[0].elem, c->out[0].data, r * columns + b * v + i, sum);
      }
  return NULL;
}

/* ---- stages ---- */

static wick_value matmul_packed_i32(wick_builder *b, wick_opcode op, wick_value x, wick_dim by)
{
  return wick_build2(b, op, x, wick_stage_number(b, by, WICK_I32));
}

/* Takes half `half` of a byte that became an i32. */
static wick_value matmul_packed_half(wick_builder *b, wick_value q, wick_dim half, bool sign)
{
  enum { UP = 28 }; /* bits above the lower half */
  wick_dims *t = b->module->dims;
  wick_dim bits = wick_dim_mul(t, half, wick_dim_const(4));
  if (sign) {
    q = matmul_packed_i32(b, WICK_OP_shift_left, q, wick_dim_sub(t, wick_dim_const(UP), bits));
    return matmul_packed_i32(b, WICK_OP_shift_right, q, wick_dim_const(UP));
  }
  q = matmul_packed_i32(b, WICK_OP_shift_right, q, bits);
  return matmul_packed_i32(b, WICK_OP_bit_and, q, wick_dim_const(15));
}

/* The same with narrow weights: a step dequantizes a weight. */
static void matmul_packed_compute_narrow(const wick_compute *c)
{
  wick_builder *b = c->b;
  const wick_type_info *x = wick_built_info(b, c->in[0]), *w = wick_built_info(b, c->in[1]),
                       *s = wick_built_info(b, c->in[2]);
  wick_dims *t = b->module->dims;
  wick_axis axis[WICK_MAX_RANK + 3];
  wick_dim xi[WICK_MAX_RANK], group = wick_dim_const(0), half = group;
  uint32_t n = wick_axes_of(b, c->out_type[0], axis), all = n;
  bool nibbles = matmul_packed_nibbles(t, x, w), sign = w->elem == WICK_I8;
  wick_dim each = wick_dim_const(w->dim[1].v / s->dim[1].v);
  if (s->dim[1].v > 1) axis[all] = wick_make_axis(b, "g", s->dim[1], true), group = axis[all++].sym;
  axis[all] = wick_make_axis(b, "k", each, true);
  wick_dim k = wick_dim_add(t, wick_dim_mul(t, group, each), axis[all++].sym), step = k;
  if (nibbles) {
    axis[all] = wick_make_axis(b, "h", wick_dim_const(2), true), half = axis[all++].sym;
    step = wick_dim_add(t, wick_dim_mul(t, k, wick_dim_const(2)), half);
  }
  for (uint32_t i = 0; i + 1 < x->rank; i++) xi[i] = axis[i].sym;
  xi[x->rank - 1] = step;
  wick_dim wi[3] = {axis[n - 2].sym, k, axis[n - 1].sym},
           si[3] = {axis[n - 2].sym, group, axis[n - 1].sym};
  wick_fold_begin(b, "matmul", all, axis, c->out_type[0], WICK_OP_add);
  wick_value p = wick_read(b, c->in[0], xi, 0, NULL, (wick_value){0}),
             q = wick_read(b, c->in[1], wi, 0, NULL, (wick_value){0});
  q = wick_build_cast(b, q, WICK_I32);
  if (nibbles) q = matmul_packed_half(b, q, half, sign);
  if (c->nin > 3) {
    wick_value zero = wick_read(b, c->in[3], si, 0, NULL, (wick_value){0});
    q = wick_build2(b, WICK_OP_sub, q, wick_build_cast(b, zero, WICK_I32));
  }
  q = wick_build_cast(b, q, WICK_F32);
  q = wick_build2(b, WICK_OP_mul, q, wick_read(b, c->in[2], si, 0, NULL, (wick_value){0}));
  c->out[0] = wick_fold_end_muladd(b, p, q);
}

static void matmul_packed_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  const wick_type_info *x = wick_built_info(b, c->in[0]), *w = wick_built_info(b, c->in[1]);
  wick_dims *t = b->module->dims;
  wick_axis axis[WICK_MAX_RANK + 2];
  wick_dim xi[WICK_MAX_RANK];
  if (c->nin > 2) {
    matmul_packed_compute_narrow(c);
    return;
  }
  bool columns = c->attr[WICK_ATTR_matmul_packed_columns].i;
  uint32_t batch = (uint32_t)c->attr[WICK_ATTR_matmul_packed_batch].i,
           n = wick_axes_of(b, c->out_type[0], axis), all = n + w->rank - batch - 2u;
  axis[n] = wick_make_axis(b, "k", w->dim[batch + 1], true);
  if (all > n + 1) axis[n + 1] = wick_make_axis(b, "q", w->dim[batch + 3], true);
  for (uint32_t k = 0; k + 1 < x->rank; k++) xi[k] = axis[k].sym;
  xi[x->rank - 1] = wick_dim_mul(t, axis[n].sym, matmul_packed_k(w, batch));
  if (all > n + 1) xi[x->rank - 1] = wick_dim_add(t, xi[x->rank - 1], axis[n + 1].sym);
  wick_dim wi[WICK_MAX_RANK];
  for (uint32_t k = 0; k < batch; k++) wi[k] = axis[k].sym;
  wick_dim block =
               columns ? wick_dim_floordiv(t, axis[n - 1].sym, w->dim[batch + 2]) : axis[n - 2].sym,
           lane = columns ? wick_dim_mod(t, axis[n - 1].sym, w->dim[batch + 2]) : axis[n - 1].sym;
  wi[batch] = block, wi[batch + 1] = axis[n].sym, wi[batch + 2] = lane;
  if (all > n + 1) wi[batch + 3] = axis[all - 1].sym;
  wick_fold_begin(b, "matmul", all, axis, c->out_type[0], WICK_OP_add);
  wick_value p = wick_read(b, c->in[0], xi, 0, NULL, (wick_value){0}),
             q = wick_read(b, c->in[1], wi, 0, NULL, (wick_value){0});
  wick_elem sum = wick_packed_sum(x->elem);
  p = wick_build_cast(b, p, sum), q = wick_build_cast(b, q, sum);
  c->out[0] = wick_fold_end_muladd(b, p, q);
}

const wick_op wick_op_matmul_packed = {
    .name = "matmul_packed",
    .doc =
        "x [.., K] times a matrix w [NB, K, v] whose columns are in blocks of v. Sums run in "
        "the order of k, each step one fma. Sums of integers are i32, which wrap; those of "
        "narrow floats are f32. w may be i8 or u8 with x in f32, [NB, K, v] or, for two numbers of "
        "4 bits in a byte, the lower one first, [NB, K / 2, v]; a weight is then (w - zero) * "
        "scale, whose third and fourth operands scale and zero (like w), [NB, G, v], belong to "
        "groups of "
        "K / G steps. The first `batch` axes of x and w count independent products. With "
        "`columns`, "
        "the result is [.., columns], without what fills the last block",
    .nin = {2, 4},
    .nout = {1, 1},
    .attr = {{"batch", WICK_ATTR_INT, 0, false, NULL, 0, WICK_MAX_RANK - 4},
             {"columns", WICK_ATTR_INT, 0, false, NULL, 0, INT32_MAX}},
    .level = WICK_GRAPH,
    .elems = WICK_PACKED_ELEMS,
    .infer = matmul_packed_infer,
    .ref = matmul_packed_ref,
    .compute = matmul_packed_compute,
    .grad = wick_grad_matmul_packed,
    .batch.run = wick_batch_matmul_packed,
};
