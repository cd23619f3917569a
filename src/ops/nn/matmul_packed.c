/* Matrix products with a matrix whose columns are in blocks. */
#include <string.h>

#include "ops/gradient/grad.h"
#include "ops/nn/blocked.h"
#include "ops/ref.h"
#include "ops/stage.h"

/* Operands: x [.., K]; w [NB, K, v] (the columns of a matrix in blocks), or [NB, K / k, v, k] for
 * dot products of k neighbours. Result: [.., NB, v]. */
static wick_dim matmul_packed_k(const wick_type_info *w)
{
  return w->rank == 4 ? w->dim[3] : wick_dim_const(1);
}

static wick_status matmul_packed_infer(wick_infer *c)
{
  const wick_type_info *x = wick_type_get(c->module, c->in[0]->type),
                       *w = wick_type_get(c->module, c->in[1]->type);
  wick_dim dim[WICK_MAX_RANK];
  if (x->rank < 1 || x->rank + 1u > WICK_MAX_RANK || (w->rank != 3 && w->rank != 4))
    return wick_infer_fail(c, WICK_ETYPE,
                           "operands of rank %u and %u are not packed for each other", x->rank,
                           w->rank);
  wick_dim inner = wick_dim_mul(c->module->dims, w->dim[1], matmul_packed_k(w));
  if (!wick_packed_elems(x->elem, w->elem) || !wick_infer_equal(c, x->dim[x->rank - 1], inner))
    return wick_infer_fail(c, WICK_ETYPE, "x and w have different inner sizes");
  memcpy(dim, x->dim, x->rank * sizeof *dim);
  dim[x->rank - 1] = w->dim[0];
  dim[x->rank] = w->dim[2];
  c->out[0].type = wick_type_tensor(c->module, wick_packed_sum(x->elem), x->rank + 1u, dim);
  return NULL;
}

static wick_status matmul_packed_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0], *w = &c->in[1];
  uint64_t inner = (uint64_t)x->dim[x->rank - 1], rows = inner ? wick_ref_numel(x) / inner : 0,
           v = (uint64_t)w->dim[2], blocks = (uint64_t)w->dim[0],
           dot = w->rank == 4 ? (uint64_t)w->dim[3] : 1;
  for (uint64_t r = 0; r < rows; r++)
    for (uint64_t b = 0; b < blocks; b++)
      for (uint64_t i = 0; i < v; i++) {
        wick_scalar sum = {.i = 0};
        for (uint64_t k = 0; k < inner; k++) {
          uint64_t at = ((b * (inner / dot) + k / dot) * v + i) * dot + k % dot;
          wick_scalar p = wick_load_elem(x->elem, x->data, r * inner + k),
                      q = wick_load_elem(w->elem, w->data, at);
          if (wick_elem_is_float(x->elem))
            sum.f += p.f * q.f;
          else
            sum.i = (int64_t)((uint64_t)sum.i + (uint64_t)p.i * (uint64_t)q.i);
        }
        wick_store_elem(c->out[0].elem, c->out[0].data, (r * blocks + b) * v + i, sum);
      }
  return NULL;
}

static void matmul_packed_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  const wick_type_info *x = wick_built_info(b, c->in[0]), *w = wick_built_info(b, c->in[1]);
  wick_dims *t = b->module->dims;
  wick_axis axis[WICK_MAX_RANK + 2];
  wick_dim xi[WICK_MAX_RANK];
  uint32_t n = wick_axes_of(b, c->out_type[0], axis), all = n + w->rank - 2u;
  axis[n] = wick_make_axis(b, "k", w->dim[1], true);
  if (all > n + 1) axis[n + 1] = wick_make_axis(b, "q", w->dim[3], true);
  for (uint32_t k = 0; k + 1 < x->rank; k++) xi[k] = axis[k].sym;
  xi[x->rank - 1] = wick_dim_mul(t, axis[n].sym, matmul_packed_k(w));
  if (all > n + 1) xi[x->rank - 1] = wick_dim_add(t, xi[x->rank - 1], axis[n + 1].sym);
  wick_dim wi[4] = {axis[n - 2].sym, axis[n].sym, axis[n - 1].sym, axis[all - 1].sym};
  wick_fold_begin(b, "matmul", all, axis, c->out_type[0], WICK_OP_add);
  wick_value p = wick_read(b, c->in[0], xi, 0, NULL, (wick_value){0}),
             q = wick_read(b, c->in[1], wi, 0, NULL, (wick_value){0});
  wick_elem sum = wick_packed_sum(x->elem);
  p = wick_build_cast(b, p, sum), q = wick_build_cast(b, q, sum);
  c->out[0] = wick_fold_end_muladd(b, p, q);
}

const wick_op wick_op_matmul_packed = {
    .name = "matmul_packed",
    .doc = "x [.., K] times a matrix w [NB, K, v] whose columns are in blocks of v. Sums run in "
           "the order of k, each step one fma. Sums of integers are i32, which wrap; those of "
           "narrow floats are f32",
    .nin = {2, 2},
    .nout = {1, 1},
    .level = WICK_GRAPH,
    .elems = WICK_PACKED_ELEMS,
    .infer = matmul_packed_infer,
    .ref = matmul_packed_ref,
    .compute = matmul_packed_compute,
    .grad = wick_grad_matmul_packed,
};
