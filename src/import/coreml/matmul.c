/* Products with matrices, and look-ups in them. */
#include "import/coreml/layers.h"
#include "import/kit/array.h"

/* Ranks 4 and 5 have the vector in the last three dimensions, of which two remain as 1. */
static wick_value matmul_flat(wick_import_node *n, wick_value x, bool *out_images)
{
  if (n->b->status) return x;
  const wick_type_info *t = wick_built_info(n->b, x);
  wick_dim dim[WICK_MAX_RANK];
  *out_images = t->rank >= 4;
  if (!*out_images) return x;
  uint32_t lead = t->rank - 3u;
  for (uint32_t k = 0; k < lead; k++) dim[k] = t->dim[k];
  dim[lead] = wick_array_product(n, 3, t->dim + lead);
  return wick_build_reshape(n->b, x, lead + 1, dim);
}

static wick_value matmul_unflat(wick_import_node *n, wick_value y, bool images)
{
  if (n->b->status || !images) return y;
  const wick_type_info *t = wick_built_info(n->b, y);
  wick_dim dim[WICK_MAX_RANK];
  for (uint32_t k = 0; k < t->rank; k++) dim[k] = t->dim[k];
  dim[t->rank] = dim[t->rank + 1] = wick_dim_const(1);
  return t->rank + 2u > WICK_MAX_RANK ? y : wick_build_reshape(n->b, y, t->rank + 2u, dim);
}

void wick_coreml_inner_product(wick_import_node *n)
{
  const wick_coreml_message *p = wick_coreml_params(n);
  int64_t dim[2] = {wick_import_int(n, "outputChannels", 0),
                    wick_import_int(n, "inputChannels", 0)};
  bool images = false;
  wick_value x = matmul_flat(n, wick_coreml_float(n, 0), &images);
  wick_value w = wick_coreml_weight(n, p, "weights", 2, dim);
  if (n->failed || n->b->status) return;
  wick_value y = wick_build2(n->b, WICK_OP_matmul, x, wick_build_swap(n->b, w));
  if (wick_import_int(n, "hasBias", 0))
    y = wick_build2(n->b, WICK_OP_add, y, wick_coreml_weight(n, p, "bias", 1, dim));
  if (!n->failed) n->out[0] = matmul_unflat(n, y, images);
}

/* The matrix [size, vocabulary] is stored transposed. The indices have the last dimension 1, or of
 * rank 4 and 5 the last three. */
void wick_coreml_embedding(wick_import_node *n)
{
  const wick_coreml_message *p = wick_coreml_params(n);
  bool nd = n->row->arg;
  int64_t dim[2] = {wick_import_int(n, nd ? "embeddingSize" : "outputChannels", 0),
                    wick_import_int(n, nd ? "vocabSize" : "inputDim", 0)};
  bool images = !nd;
  wick_value w = wick_coreml_weight(n, p, "weights", 2, dim), at = wick_coreml_index(n, 0);
  if (n->failed || n->b->status) return;
  const wick_type_info *t = wick_built_info(n->b, at);
  uint32_t ones = nd ? 1 : 3;
  if (t->rank < ones) {
    wick_import_fail(n, WICK_ETYPE, "the rank of its input is %u, expected %u or more", t->rank,
                     ones);
    return;
  }
  for (uint32_t k = t->rank - ones; k < t->rank; k++)
    if (!wick_dim_is(t->dim[k], 1)) {
      wick_import_fail(n, WICK_ETYPE, "the last %u dimensions of its input are not 1", ones);
      return;
    }
  at = wick_build_reshape(n->b, at, t->rank - ones, t->dim);
  wick_value y = wick_emit_gather(n->b, WICK_OP_gather, wick_build_swap(n->b, w), at, 0);
  if (wick_import_int(n, "hasBias", 0))
    y = wick_build2(n->b, WICK_OP_add, y, wick_coreml_weight(n, p, "bias", 1, dim));
  if (!n->failed) n->out[0] = matmul_unflat(n, y, images);
}

/* A vector on the left is a row, on the right a column; unlike in NumPy its dimension stays. */
static wick_value matmul_matrix(wick_import_node *n, uint32_t i, bool swap)
{
  wick_value x = wick_coreml_float(n, i);
  if (n->b->status) return x;
  if (wick_built_info(n->b, x)->rank == 1) return wick_emit_unsqueeze(n->b, x, i);
  return swap ? wick_build_swap(n->b, x) : x;
}

void wick_coreml_matmul(wick_import_node *n)
{
  const wick_coreml_message *p = wick_coreml_params(n);
  if (n->nin == 2) {
    wick_value a = matmul_matrix(n, 0, wick_import_int(n, "transposeA", 0) != 0);
    wick_value b = matmul_matrix(n, 1, wick_import_int(n, "transposeB", 0) != 0);
    n->out[0] = wick_build2(n->b, WICK_OP_matmul, a, b);
    return;
  }
  int64_t dim[2] = {wick_import_int(n, "weightMatrixSecondDimension", 0),
                    wick_import_int(n, "weightMatrixFirstDimension", 0)};
  wick_value w = wick_coreml_weight(n, p, "weights", 2, dim), x = wick_coreml_float(n, 0);
  if (n->failed) return;
  wick_value y = wick_build2(n->b, WICK_OP_matmul, x, wick_build_swap(n->b, w));
  if (wick_import_int(n, "hasBias", 0))
    y = wick_build2(n->b, WICK_OP_add, y, wick_coreml_weight(n, p, "bias", 1, dim));
  n->out[0] = y;
}

void wick_coreml_dot(wick_import_node *n)
{
  const int64_t axes[] = {-3};
  wick_builder *b = n->b;
  wick_value x = wick_coreml_float(n, 0), y = wick_coreml_float(n, 1);
  wick_value dot =
      wick_emit_reduce(b, WICK_OP_reduce_sum, wick_build2(b, WICK_OP_mul, x, y), 1, axes, true);
  if (wick_import_int(n, "cosineSimilarity", 0)) {
    wick_value nx = wick_emit_reduce(b, WICK_OP_reduce_l2, x, 1, axes, true);
    wick_value ny = wick_emit_reduce(b, WICK_OP_reduce_l2, y, 1, axes, true);
    dot = wick_build2(b, WICK_OP_div, dot, wick_build2(b, WICK_OP_mul, nx, ny));
  }
  n->out[0] = dot;
}
