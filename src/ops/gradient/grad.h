/* Reverse-mode differentiation: the column `grad`, the walk over the nodes of a builder that calls
 * it, and helpers for the rules of operators.
 *
 * A cotangent has the type of its value. A value has a cotangent if it is of WICK_FLOATS and
 * depends on a variable of the differentiation; integers, bools and narrower floats have none.
 * Rules build ordinary nodes, so that the result can be differentiated again. If a function has a
 * corner, a rule uses the slope from one side, or divides it among equal elements, and documents
 * which. */
#ifndef WICK_OPS_GRADIENT_GRAD_H
#define WICK_OPS_GRADIENT_GRAD_H

#include "ir/build.h"

struct wick_adjoint { /* of one node, which is in the builder */
  wick_builder *b;
  const wick_node *node;
  const wick_value *in, *out; /* operands; results */
  const wick_value *dout;     /* per result: its cotangent; 0: none, the same as all zeros */
  const bool *wanted;         /* per operand: its cotangent is needed */
  wick_value *din;            /* per operand, out: its cotangent; stays 0 if that is all zeros */
  const wick_value *sum;      /* per operand: the sum of its cotangents so far; 0: none */
  bool *summed;               /* per operand, out: din has that sum in it, and replaces it */
  uint32_t ncaptured; /* values from outside that its regions use and whose cotangents are needed */
  const wick_value *captured;
  wick_value *dcaptured; /* out, as din */
  const struct grad_walk *walk;
};

/* Returns true if a value that the node or its regions define depends on a variable of the
 * differentiation. */
bool wick_grad_active(const wick_adjoint *a, wick_value v);

/* The column of operators whose results are constant almost everywhere, or have no cotangents. */
void wick_grad_zero(wick_adjoint *a);
/* The column of operators without a derivative. Fails with the node's location and the operator's
 * name. */
void wick_grad_none(wick_adjoint *a);
/* The column of operators that are decomposed before they are differentiated, so that values that
 * their steps keep exist only once. Otherwise the operator counts as one without a derivative. */
void wick_grad_opened(wick_adjoint *a);
/* Returns whether n is differentiated through its definition. */
bool wick_grad_opens(const wick_node *n);
/* Returns whether n puts its operands into an object that has no cotangents: a reference or a function
 * value. */
bool wick_grad_hides(const wick_node *n);
/* Differentiates a node by its definition in other operators. */
typedef void wick_grad_define(wick_builder *b, const wick_node *n, const wick_value *in,
                              wick_value *out);
void wick_grad_through(wick_adjoint *a, wick_grad_define *define);

/* Returns whether computing n again costs no more than keeping its results: n moves elements, or is
 * element-wise. Also where its results cannot be kept, because they are no tensors. */
bool wick_grad_is_cheap(const wick_builder *b, const wick_node *n);

/* A value that already exists, and its substitute: nodes that use `made` use `taken` instead. */
typedef struct wick_grad_kept {
  wick_value made, taken;
} wick_grad_kept;

/* A node whose derivative does not follow from its operator: its caller has built it together with
 * other nodes. */
typedef struct wick_grad_own {
  uint32_t node; /* its index in the builder */
  uint32_t nin;  /* what it is differentiated by: values of the builder, each once */
  const wick_value *in;
  void (*grad)(wick_adjoint *a, void *arg); /* a->in is `in` */
  void *arg;
  const bool *follows; /* per result: it depends on `in`; NULL: all do */
  bool
      always; /* also on what references hold: its results that have cotangents depend on variables,
                  and `grad` is called even without a cotangent */
} wick_grad_own;

typedef struct wick_grad_request {
  /* the nodes of the builder, all in one region, that define `of` or lead to it */
  uint32_t begin, end;
  uint32_t nof;
  const wick_value *of, *cotangent;
  uint32_t nwrt;
  const wick_value *wrt;
  uint32_t nkept;
  const wick_grad_kept *kept;
  /* per wrt: a value to which its cotangents are added, or a list of products; 0 or NULL: none */
  const wick_value *initial;
  uint32_t nown;
  const wick_grad_own *own; /* in the order of the nodes */
} wick_grad_request;

/* Adds nodes to b that compute, for each of `nwrt` values, the sum over `of` of its cotangent times
 * its derivative with respect to that value; 0 if nothing depends on the value. A value of wrt is
 * an independent variable: its own operands do not count. Cotangents of a value that is used
 * several times are added in the reverse order of its uses. Fails, in the builder, at nodes without
 * a derivative. */
void wick_grad_build(wick_builder *b, const wick_grad_request *r, wick_value *out);
bool wick_grad_has(const wick_builder *b, wick_value v); /* its type has cotangents */

/* ---- types of cotangents and tangents (grad_data.c) ---- */

/* Returns whether values of type t have cotangents: floats with elements, and data with such parts. */
bool wick_has_cotangent(const wick_module *m, wick_type t);
/* Returns whether a program has cotangents for values of type t: of floats, and of all data, whose
 * constructors they repeat. */
bool wick_declares_cotangent(const wick_module *m, wick_type t);
/* The type of the cotangents of values of type t, which have some: t, or for data @T the type @T.d,
 * which is defined at its first use. `mem` is scratch. */
wick_type wick_cotangent_type(wick_module *m, wick_type t, wick_arena *mem);
/* The same type, without its definition: @T may have no constructors yet. */
wick_type wick_cotangent_name(wick_module *m, wick_type t, wick_arena *mem);
wick_value wick_cotangent_zero(wick_builder *b, wick_type t); /* of values of type t */
/* The sum of two cotangents. The function that adds data is added to the module, in b's memory. */
wick_value wick_cotangent_add(wick_builder *b, wick_value x, wick_value y);
/* Takes apart the cotangent d of a value of data type `of` with a constructor: sets out[i] for each
 * field that has a cotangent. */
void wick_cotangent_fields(wick_builder *b, wick_value d, wick_type of, uint32_t ctor,
                           wick_value *out);
/* The reverse; cotangents of fields that are 0 are all zeros. */
wick_value wick_cotangent_construct(wick_builder *b, wick_type of, uint32_t ctor,
                                    const wick_value *d);

/* ---- sums of products, multiplied late (grad_products.c) ---- */

/* Returns whether lists of products of `rank` columns and rows are cheaper than a matrix [m, k]. */
bool wick_products_pay(int64_t m, int64_t k, int64_t rank);
/* The type of the lists whose sum is a matrix [m, k] of numbers e. Its first constructor is the empty
 * list. `mem` is scratch. */
wick_type wick_products_type(wick_module *mod, wick_elem e, int64_t m, int64_t k, wick_arena *mem);
/* Adds v to the sum that a list is. */
wick_value wick_products_add(wick_builder *b, wick_value sum, wick_value v);
/* Builds the sum, in the shape of x. The function that adds is added to the module, in b's memory. */
wick_value wick_products_total(wick_builder *b, wick_value sum, wick_value x);

/* Forward mode: adds nodes to b that compute the tangents of the results of a node, which is the
 * last of its region and has no regions. in, out: per operand and per result; 0: all zeros. */
void wick_tangent_of_node(wick_builder *b, uint32_t node, const wick_value *in, wick_value *out);

/* ---- for rules; these functions do nothing after a failure ---- */

/* Sums g, which has the broadcast shape, to the shape of x. */
wick_value wick_grad_to(wick_builder *b, wick_value g, wick_value x);
/* Builds a constant of x's type with the same number everywhere. */
wick_value wick_grad_fill(wick_builder *b, wick_value x, double number);
/* Computes the elements of v, a value of b that is computed from constants alone. Returns NULL if it is not, or if
 * it is large. The result lives in mem. */
const wick_tensor *wick_grad_known(const wick_builder *b, wick_value v, wick_arena *mem);
wick_value wick_grad_reshape(wick_builder *b, wick_value x, uint32_t n, const wick_dim *dim);
/* reshapes g to the shape of x */
wick_value wick_grad_shape_of(wick_builder *b, wick_value g, wick_value x);
/* broadcasts g to the shape of x */
wick_value wick_grad_expand(wick_builder *b, wick_value g, wick_value x);
wick_value wick_grad_transpose(wick_builder *b, wick_value x, uint32_t n, const int64_t *perm);
wick_value wick_grad_sum(wick_builder *b, wick_value x, uint32_t n, const int64_t *axis, bool keep);
/* Pads x with zeros; negative pads remove elements. `pad`: the begins, then the ends. */
wick_value wick_grad_pad(wick_builder *b, wick_value x, const wick_dim *pad);
/* Selects the elements begin, begin + step, ... of one axis. */
wick_value wick_grad_slice(wick_builder *b, wick_value x, uint32_t axis, wick_dim begin,
                           wick_dim size, int64_t step);
/* Inserts step - 1 zeros after each element along an axis. */
wick_value wick_grad_apart(wick_builder *b, wick_value g, uint32_t axis, int64_t step);
wick_value wick_grad_concat(wick_builder *b, uint32_t axis, uint32_t n, const wick_value *in);
/* Builds 0, 1, ... n-1 as i64, along `axis` of `rank` dimensions. */
wick_value wick_grad_count(wick_builder *b, wick_dim n, uint32_t axis, uint32_t rank);
/* Finds all sizes of x, which must be known. Returns false after a failure. */
bool wick_grad_sizes(wick_builder *b, wick_value x, int64_t *out_dim);

/* ---- the rules of the operators, by file ---- */
typedef void wick_grad_rule(wick_adjoint *a);
/* grad_scalar.c; extreme: max and min; bound: clip */
wick_grad_rule wick_grad_add, wick_grad_sub, wick_grad_mul, wick_grad_div, wick_grad_fma,
    wick_grad_neg, wick_grad_abs, wick_grad_extreme, wick_grad_fmod, wick_grad_pow, wick_grad_where,
    wick_grad_cast, wick_grad_bound;
/* grad_unary.c */
wick_grad_rule wick_grad_sqrt, wick_grad_rsqrt, wick_grad_reciprocal, wick_grad_exp, wick_grad_exp2,
    wick_grad_expm1, wick_grad_log, wick_grad_log2, wick_grad_log1p, wick_grad_erf, wick_grad_sin,
    wick_grad_cos, wick_grad_tan, wick_grad_asin, wick_grad_acos, wick_grad_atan, wick_grad_sinh,
    wick_grad_cosh, wick_grad_tanh, wick_grad_asinh, wick_grad_acosh, wick_grad_atanh;
/* grad_activation.c */
wick_grad_rule wick_grad_relu, wick_grad_leaky_relu, wick_grad_prelu, wick_grad_thresholded_relu,
    wick_grad_shrink, wick_grad_hard_sigmoid, wick_grad_hard_swish, wick_grad_softsign,
    wick_grad_sigmoid, wick_grad_softplus, wick_grad_elu, wick_grad_celu, wick_grad_selu,
    wick_grad_swish, wick_grad_mish, wick_grad_gelu;
/* grad_reduce.c */
wick_grad_rule wick_grad_reduce_sum, wick_grad_reduce_mean, wick_grad_reduce_extreme,
    wick_grad_reduce_prod, wick_grad_reduce_l1, wick_grad_reduce_l2, wick_grad_reduce_sum_square,
    wick_grad_reduce_log_sum_exp, wick_grad_softmax, wick_grad_log_softmax, wick_grad_cumsum,
    wick_grad_cumprod, wick_grad_lrn;
/* grad_product.c */
wick_grad_rule wick_grad_matmul, wick_grad_matmul_packed, wick_grad_attention;
/* grad_window.c */
wick_grad_rule wick_grad_conv, wick_grad_conv_transpose, wick_grad_conv_weight_grad,
    wick_grad_avg_pool, wick_grad_lp_pool, wick_grad_max_pool, wick_grad_unpool, wick_grad_col2im;
/* grad_move.c */
wick_grad_rule wick_grad_reshape_row, wick_grad_transpose_row, wick_grad_expand_row, wick_grad_tile,
    wick_grad_pad_row, wick_grad_affine_gather, wick_grad_slice_row, wick_grad_concat_row,
    wick_grad_split, wick_grad_interleave, wick_grad_channel_shuffle, wick_grad_depth_to_space,
    wick_grad_phases_to_space, wick_grad_space_to_depth, wick_grad_triangle, wick_grad_pack,
    wick_grad_unpack;
/* grad_index.c */
wick_grad_rule wick_grad_gather, wick_grad_gather_elements, wick_grad_gather_nd,
    wick_grad_scatter_elements, wick_grad_scatter_nd, wick_grad_top_k, wick_grad_one_hot,
    wick_grad_range, wick_grad_take, wick_grad_max_unpool;
/* grad_branch.c, grad_loop.c */
wick_grad_rule wick_grad_if, wick_grad_loop;
/* grad_call.c */
wick_grad_rule wick_grad_call, wick_grad_checkpoint, wick_grad_with_vjp;
/* grad_data.c */
wick_grad_rule wick_grad_construct;
/* grad_image.c */
wick_grad_rule wick_grad_resize, wick_grad_grid_sample, wick_grad_roi_align;

#endif
