/* Products, normalizations, embeddings. */
#include "import/tflite/ops.h"
#include "import/tflite/quantized.h"

/* ---- products ---- */

/* Reshapes x to [rows, depth], where depth is that of the weights. */
wick_value wick_tflite_rows(wick_import_node *n, wick_value x, wick_dim depth, wick_dim *out_rows)
{
  wick_dims *t = n->c->module->dims;
  const wick_type_info *info = wick_built_info(n->b, x);
  wick_dim numel = wick_type_numel(n->c->module, wick_built_type(n->b, x)), dim[2];
  if (info->rank && wick_dim_eq(info->dim[info->rank - 1], depth)) {
    dim[0] = wick_dim_const(1);
    for (uint32_t k = 0; k + 1 < info->rank; k++) dim[0] = wick_dim_mul(t, dim[0], info->dim[k]);
  } else {
    if (wick_dim_is(depth, 0)) {
      wick_import_fail(n, WICK_ETYPE, "its weights have no columns");
      return x;
    }
    dim[0] = wick_dim_floordiv(t, numel, depth);
  }
  dim[1] = depth;
  *out_rows = dim[0];
  return info->rank == 2 && wick_dim_eq(info->dim[0], dim[0]) ? x
                                                              : wick_build_reshape(n->b, x, 2, dim);
}

/* The result has the shape of x, with the number of units last, if dimensions are kept. */
wick_value wick_tflite_unrows(wick_import_node *n, wick_value y, wick_dim units)
{
  const wick_type_info *x = wick_import_info(n, 0);
  wick_dim dim[WICK_MAX_RANK];
  if (!wick_tflite_byte(n, 2) || x->rank == 2 || !x->rank) return y;
  for (uint32_t k = 0; k + 1 < x->rank; k++) dim[k] = x->dim[k];
  dim[x->rank - 1] = units;
  return wick_build_reshape(n->b, y, x->rank, dim);
}

/* Fields: activation 0, weights format 1, keep_num_dims 2, asymmetric 3. */
static void nn_fully_connected(wick_import_node *n)
{
  wick_builder *b = n->b;
  if (!wick_import_rank(n, 1, 2, 2)) return;
  if (wick_tflite_byte(n, 1)) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "weights in shuffled order are not supported");
    return;
  }
  if (wick_tflite_quantized_fully_connected(n)) return;
  const wick_type_info w = *wick_import_info(n, 1);
  wick_dim rows;
  wick_value x = wick_tflite_rows(n, n->in[0], w.dim[1], &rows);
  wick_value y = wick_build2(b, WICK_OP_matmul, x, wick_build_swap(b, n->in[1]));
  if (wick_import_has(n, 2)) y = wick_build2(b, WICK_OP_add, y, n->in[2]);
  y = wick_tflite_activate(n, y, wick_tflite_byte(n, 0));
  n->out[0] = wick_tflite_unrows(n, y, w.dim[0]);
}

static void nn_batch_matmul(wick_import_node *n)
{
  wick_builder *b = n->b;
  if (!wick_import_rank(n, 0, 2, WICK_MAX_RANK) || !wick_import_rank(n, 1, 2, WICK_MAX_RANK))
    return;
  if (wick_tflite_quantized_batch_matmul(n)) return;
  wick_value x = wick_tflite_byte(n, 0) ? wick_build_swap(b, n->in[0]) : n->in[0];
  wick_value y = wick_tflite_byte(n, 1) ? wick_build_swap(b, n->in[1]) : n->in[1];
  n->out[0] = wick_build2(b, WICK_OP_matmul, x, y);
}

/* ---- normalizations along the last axis ---- */

static void nn_softmax(wick_import_node *n)
{
  if (wick_tflite_quantized_softmax(n)) return;
  wick_value x = n->in[0];
  double beta = n->row->arg ? 1 : wick_tflite_f32(n, 0);
  if (beta != 1) x = wick_emit_by(n->b, WICK_OP_mul, x, beta);
  n->out[0] = wick_build1(n->b, n->row->op, x);
}

static void nn_l2_normalize(wick_import_node *n)
{
  wick_builder *b = n->b;
  if (!wick_import_rank(n, 0, 1, WICK_MAX_RANK) || wick_tflite_quantized(n)) return;
  wick_value x = n->in[0], sum = wick_build2(b, WICK_OP_mul, x, x);
  sum = wick_emit_reduce1(b, WICK_OP_reduce_sum, sum, -1, true);
  sum = wick_emit_by(b, WICK_OP_max, wick_build1(b, WICK_OP_sqrt, sum), 1e-6);
  n->out[0] = wick_tflite_activate(n, wick_build2(b, WICK_OP_div, x, sum), wick_tflite_byte(n, 0));
}

/* Fields: radius 0, bias 1, alpha 2, beta 3. Wick divides alpha by the size of the window. */
static void nn_local_response(wick_import_node *n)
{
  wick_builder *b = n->b;
  int64_t radius = wick_tflite_i32(n, 0, 0), perm[] = {0, 3, 1, 2}, back[] = {0, 2, 3, 1};
  if (!wick_import_rank(n, 0, 4, 4)) return;
  if (radius < 0 || radius > 1 << 20) {
    wick_import_fail(n, WICK_ERANGE, "the radius is %lld", (long long)radius);
    return;
  }
  int64_t size = 2 * radius + 1;
  wick_emit e = wick_emit_begin(b, WICK_OP_lrn);
  wick_emit_set_int(&e, "size", size);
  wick_emit_set_float(&e, "bias", wick_tflite_f32(n, 1));
  wick_emit_set_float(&e, "alpha", wick_tflite_f32(n, 2) * (double)size);
  wick_emit_set_float(&e, "beta", wick_tflite_f32(n, 3));
  wick_value y = wick_emit_end1(&e, wick_build_transpose(b, n->in[0], 4, perm));
  n->out[0] = wick_build_transpose(b, y, 4, back);
}

/* ---- embeddings ---- */

/* The rows may be quantized, with one scale or one for each. */
static void nn_embedding(wick_import_node *n)
{
  wick_value y = wick_emit_gather(n->b, WICK_OP_gather, n->in[1], n->in[0], 0);
  if (!n->b->status && wick_tflite_out(n, 0)->elem == WICK_F32)
    y = wick_tflite_real(n, 1, y, n->in[0]);
  n->out[0] = y;
}

#define F NULL

const wick_import_op wick_tflite_nn_ops[] = {
    {"BATCH_MATMUL", 1, {2, 2}, 1, NULL, nn_batch_matmul, WICK_OP_matmul, 0, F, NULL},
    {"EMBEDDING_LOOKUP", 1, {2, 2}, 1, NULL, nn_embedding, WICK_OP_none, 0, F, NULL},
    {"FULLY_CONNECTED", 1, {2, 3}, 1, NULL, nn_fully_connected, WICK_OP_matmul, 1, F, NULL},
    {"L2_NORMALIZATION", 1, {1, 1}, 1, NULL, nn_l2_normalize, WICK_OP_none, 0, F, NULL},
    {"LOCAL_RESPONSE_NORMALIZATION",
     1,
     {1, 1},
     1,
     NULL,
     nn_local_response,
     WICK_OP_none,
     0,
     F,
     NULL},
    {"LOG_SOFTMAX", 1, {1, 1}, 1, NULL, nn_softmax, WICK_OP_log_softmax, 1, F, NULL},
    {"SOFTMAX", 1, {1, 1}, 1, NULL, nn_softmax, WICK_OP_softmax, 0, F, NULL},
    {0},
};
