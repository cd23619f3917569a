/* Operators on arrays whose meaning formats share (NumPy's and TensorFlow's indexing).
 *
 * Helpers take the node for its errors; n->failed and b->status tell of a failure. */
#ifndef WICK_IMPORT_KIT_ARRAY_H
#define WICK_IMPORT_KIT_ARRAY_H

#include "import/kit/import.h"

/* x[begin:end:stride, ...] by TensorFlow's masks, a bit for each entry: begin and end of a masked
 * entry are the ends of its dimension; `ellipsis` stands for all dimensions between; `new_axis`
 * inserts a dimension of size 1; `shrink` takes one element and drops the dimension. `offset`: end
 * counts from begin. */
typedef struct wick_array_strided {
  uint32_t n;
  const wick_dim *begin, *end; /* NULL: only the run knows them; then begins are `at` */
  const int64_t *stride;
  wick_value at; /* [n], the begins; entries that are not masked must be shrunk */
  int64_t begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_mask;
  bool offset;
} wick_array_strided;
wick_value wick_array_strided_slice(wick_import_node *n, wick_value x, const wick_array_strided *s);

/* The product of sizes. */
wick_dim wick_array_product(wick_import_node *n, uint32_t count, const wick_dim *dim);
/* x [d0, ..., dn] as [product of the first `axis` dimensions, product of the others]. */
wick_value wick_array_matrix(wick_import_node *n, wick_value x, uint32_t axis);
/* A vector of sizes; 0 if there are none. */
wick_value wick_array_sizes(wick_import_node *n, uint32_t count, const wick_dim *dim, wick_elem e);
/* Element k of a vector: through the concat that made it, else by a slice. */
wick_value wick_array_element(wick_import_node *n, wick_value v, uint32_t k);
/* What is known of element k of a vector of integers. Returns false, without a failure, if that is
 * nothing. */
bool wick_array_element_dim(wick_import_node *n, wick_value v, uint32_t k, wick_dim *out);
/* start, start + delta, ... below the limit (above it if delta is negative). */
wick_value wick_array_range(wick_import_node *n, wick_value start, wick_value limit,
                            wick_value delta);

/* x reversed along the axes of a bit set. */
wick_value wick_array_reverse(wick_import_node *n, wick_value x, uint32_t axes);
/* gather with `batch` leading dimensions that x and the indices share; batch <= axis. */
wick_value wick_array_gather(wick_import_node *n, wick_value x, wick_value index, uint32_t axis,
                             uint32_t batch);
/* Pads by [before, after] of each dimension; `fill` is a value of rank 0, or 0 for zeros. */
wick_value wick_array_pad(wick_import_node *n, wick_value x, const wick_dim *before,
                          const wick_dim *after, wick_value fill);
/* Mirrors at the border: the border's element is repeated if `symmetric`. */
wick_value wick_array_mirror_pad(wick_import_node *n, wick_value x, const wick_dim *before,
                                 const wick_dim *after, bool symmetric);
/* Space to batch and back, for n dimensions after the first. The pads and crops are [before,
 * after]. */
wick_value wick_array_space_to_batch(wick_import_node *n, wick_value x, uint32_t nblock,
                                     const int64_t *block, const wick_dim *before,
                                     const wick_dim *after, wick_value fill);
wick_value wick_array_batch_to_space(wick_import_node *n, wick_value x, uint32_t nblock,
                                     const int64_t *block, const wick_dim *before,
                                     const wick_dim *after);
/* Each row b of x along `seq` is reversed in its first length[b] elements; b counts along `batch`. */
wick_value wick_array_reverse_sequence(wick_import_node *n, wick_value x, wick_value length,
                                       uint32_t seq, uint32_t batch);
/* Stacks n values of equal shapes along a new axis; unstack sets out[count]. */
wick_value wick_array_stack(wick_import_node *n, uint32_t count, const wick_value *in,
                            uint32_t axis);
void wick_array_unstack(wick_import_node *n, wick_value x, uint32_t axis, uint32_t count,
                        wick_value *out);
/* The indices [count, rank] of the true elements of x, in order: as many rows as x has elements, of
 * which the first are valid (wick_import_bounded), or exactly those where x is known. */
wick_value wick_array_where(wick_import_node *n, wick_value x);
/* The product of two tensors by an equation: "abc,cd->abd". Dimensions of one label are equal; there
 * are no diagonals. */
wick_value wick_array_einsum(wick_import_node *n, const char *equation, wick_value x, wick_value y);
/* The positions in i64 of x's elements among `count` keys, one or more: integers, or the numbers of strings
 * (text). *found: whether they are there. Of equal keys the first counts. */
wick_value wick_array_lookup(wick_import_node *n, const char *name, bool text, uint32_t count,
                             const int64_t *keys, wick_value x, wick_value *found);
/* Hashes of TensorFlow (hashed.c), of type u64: of each string, FarmHash's or with a key of two numbers
 * SipHash's; and of a combination of columns, strings or integers that broadcast. A bucket of `count`, in
 * i64, is the remainder of a hash. */
wick_value wick_array_hash(wick_import_node *n, wick_value x, const int64_t *key);
wick_value wick_array_crossed(wick_import_node *n, uint32_t count, const wick_value *x,
                              uint64_t key);
wick_value wick_array_bucket(wick_import_node *n, wick_value hash, int64_t count);
/* Integers as strings of decimal digits. */
wick_value wick_array_decimal(wick_import_node *n, wick_value x);
/* Colours along the last dimension, which has 3 elements of floats from 0 to 1 (color.c). */
wick_value wick_array_rgb_to_hsv(wick_import_node *n, wick_value x);
wick_value wick_array_hsv_to_rgb(wick_import_node *n, wick_value x);
/* The broadcast of two shapes: NumPy's rule. Adds a failure if they do not fit. */
bool wick_array_broadcast(wick_import_node *n, uint32_t na, const wick_dim *a, uint32_t nb,
                          const wick_dim *b, uint32_t *out_n, wick_dim *out);

#endif
