/* Batching: the column `batch`, and helpers for the rules of operators.
 *
 * A node of a batch computes what the node computes for each of n rows. A value of a batch has the
 * rows along a new first dimension; other values are the same for all rows. A rule builds ordinary
 * nodes, so that the result can be differentiated, or batched again. graph/vmap/vmap.h applies the
 * rules to functions. */
#ifndef WICK_OPS_BATCH_BATCH_H
#define WICK_OPS_BATCH_BATCH_H

#include "ir/build.h"

struct wick_batching { /* of one node */
  wick_builder *b;
  const wick_node *node;
  wick_dim n;            /* rows */
  const wick_value *in;  /* operands, in b; 0 if missing */
  const bool *batched;   /* per operand: has the rows as its first dimension; at least one has */
  const wick_type *type; /* per result: its type in a row */
  wick_value mask;       /* bool[n]: the rows that matter; 0: all of them */
  wick_value *out;       /* per result, out: n rows */
};

/* ---- rules that serve many operators ---- */
typedef void wick_batch_run(wick_batching *a);

/* Operands broadcast against each other, and attributes name no dimensions: those of rows get
 * dimensions of size 1 after the first. The rule of scalar operators. */
wick_batch_run wick_batch_broadcast;
/* Attributes count dimensions from the first one, so they are shifted. All operands get rows. */
wick_batch_run wick_batch_axes;
/* The same; only operand 0 may have rows. */
wick_batch_run wick_batch_axes_first;
/* The rows join a dimension along which the operator works on independent parts, operand by
 * operand: `in` and `out` of the column name it, from 1; 0: an operand that must not have rows. */
wick_batch_run wick_batch_merge;
/* By the definition in other operators. */
wick_batch_run wick_batch_through;
/* Row by row, in a loop. */
wick_batch_run wick_batch_rows;

/* ---- rules of operators ---- */
/* graph/vmap/vmap_function.c */
wick_batch_run wick_batch_checkpoint, wick_batch_with_vjp;
/* batch_product.c */
wick_batch_run wick_batch_matmul, wick_batch_matmul_packed, wick_batch_attention, wick_batch_conv,
    wick_batch_conv_transpose, wick_batch_conv_weight_grad, wick_batch_max_pool, wick_batch_unpool;
/* batch_index.c */
wick_batch_run wick_batch_gather, wick_batch_gather_elements, wick_batch_gather_nd,
    wick_batch_scatter_elements, wick_batch_scatter_nd, wick_batch_dynamic_index;

/* Applies the rule of the node's operator. */
void wick_batch_node(wick_batching *a);

/* ---- for rules; these functions do nothing after a failure ---- */

static inline bool wick_batch_has(const wick_batching *a, uint32_t k)
{
  return k < a->node->nin && a->in[k].id && a->batched[k];
}
/* The rank of operand k in one row. */
uint32_t wick_batch_rank(const wick_batching *a, uint32_t k);
/* The size of dimension d of operand k in one row. */
wick_dim wick_batch_dim(const wick_batching *a, uint32_t k, uint32_t d);
/* Operand k with rows, also if it is the same in all of them. */
wick_value wick_batch_full(const wick_batching *a, uint32_t k);
/* x, of n rows, which has `rank` dimensions in each with those of size 1 that are put first. */
wick_value wick_batch_pad_rank(const wick_batching *a, wick_value x, uint32_t rank);
/* x with a new first dimension of n equal rows. */
wick_value wick_batch_repeat(wick_builder *b, wick_value x, wick_dim n);
/* x with dimension `from` moved to the position `to`. */
wick_value wick_batch_move(wick_builder *b, wick_value x, uint32_t from, uint32_t to);
/* Joins dimensions d and d + 1. */
wick_value wick_batch_join(wick_builder *b, wick_value x, uint32_t d);
/* Splits dimension d into two. */
wick_value wick_batch_split(wick_builder *b, wick_value x, uint32_t d, wick_dim outer,
                            wick_dim inner);
/* Operand k, with rows; in the rows that do not matter its elements are `number`. */
wick_value wick_batch_harmless(const wick_batching *a, uint32_t k, double number);
/* `mask` bool[n], with as many dimensions of size 1 after the first as a row of `rank` has. */
wick_value wick_batch_wide(wick_builder *b, wick_value mask, uint32_t rank);
/* 0 .. n-1 as integers of type e, along the first of `rank` dimensions. */
wick_value wick_batch_count(const wick_batching *a, wick_elem e, uint32_t rank);
/* Builds the node's operator on other operands, with the types of n rows for typed operators. */
wick_value wick_batch_build(const wick_batching *a, const wick_value *in, const wick_attr *attr);
/* The type of a result with all rows. */
wick_type wick_batch_type(const wick_batching *a, uint32_t result);
/* A copy of the node's attributes. */
wick_attr *wick_batch_attrs(const wick_batching *a);
/* Sets the results to those of a node that begin with `first`. */
void wick_batch_results(const wick_batching *a, wick_value first);

#endif
