/* Declarations that the export's files share: the model under construction and the node that is
 * being exported. The name of a value in the model identifies it. Begin with wick_export_row and
 * wick_export_op. */
#ifndef WICK_EXPORT_WRITE_H
#define WICK_EXPORT_WRITE_H

#include "export/export.h"
#include "import/onnx/tensor.h"
#include "ir/op.h"
#include "runtime/keys.h"

/* ---- the model under construction ---- */

/* A dimension expression that nodes compute, and the name of its value, an i64[1]. */
typedef struct wick_export_size {
  wick_dim dim;
  const char *name;
} wick_export_size;

/* The nodes of a graph, a branch or a function's body. */
typedef struct wick_export_nodes {
  wick_list(wick_onnx_node *) list;
} wick_export_nodes;

typedef struct wick_export {
  wick_module *m;
  const wick_func *f;
  wick_arena *mem;
  const char *location;
  wick_errors errors;
  wick_names taken; /* names of values */
  wick_names node_names;
  wick_names shared; /* constants by their contents; shared_name has the names in that order */
  wick_list(const char *) shared_name;
  uint32_t fresh;          /* number of suffixes in use */
  const uint32_t *definer; /* wick_definers_of f */
  const char **value; /* by value of f: its name in the model; NULL: none yet, or not visible */
  const wick_value **items; /* by value of f: the elements of a tuple */
  wick_export_nodes *nodes;
  wick_list(wick_onnx_tensor) initializer;
  wick_list(wick_export_size) sizes;
  wick_list(wick_onnx_function) function;
  wick_list(const wick_func *) callee; /* called functions that were exported or are in progress */
  uint32_t depth;                      /* of calls */
  bool body;                           /* in a function's body: constants are nodes there */
  bool ml;                             /* the model has nodes of ai.onnx.ml */
  const wick_keys *keys; /* of the function's parameters, then of its results: maps are nodes */
  wick_list(uint32_t) mapped; /* metadata that those nodes make redundant */
} wick_export;

wick_span wick_export_span(const char *s);
/* Returns a name that no value has: `stem`, with a suffix if that name is taken. */
const char *wick_export_name(wick_export *x, const char *stem);
int64_t wick_export_type(wick_elem e); /* ONNX's number of an element type; 0: it has none */
void wick_export_error(wick_export *x, const char *location, const char *fmt, ...)
    WICK_PRINTF(3, 4);
/* Describes a type, for inputs, outputs and the like. */
wick_onnx_value_info wick_export_value_info(wick_export *x, const char *name, wick_type type);
wick_onnx_nodes
wick_export_take(wick_export *x); /* returns the nodes made so far in the file's form */
/* Adds a called function to the model's functions, in the domain "wick". */
void wick_export_function(wick_export *x, const wick_func *f);
/* Exports the nodes of f in [begin, end) that are not in a region among them. */
void wick_export_range(wick_export *x, uint32_t begin, uint32_t end);
/* Returns the name of a value of f. */
const char *wick_export_value(wick_export *x, wick_value v);

/* ---- constants ---- */

/* Adds an initializer, or a node in a function's body. The data must live as long as the model. */
const char *wick_export_tensor(wick_export *x, const char *stem, wick_elem e, uint32_t rank,
                               const int64_t *dim, const void *data, uint64_t nbytes);
/* Return the name of a constant. Equal numbers have the same name. */
const char *wick_export_i64s(wick_export *x, uint32_t n, const int64_t *v);
const char *wick_export_i64(wick_export *x, int64_t v);                     /* of rank 0 */
const char *wick_export_number(wick_export *x, wick_elem e, double number); /* of rank 0 */

/* ---- the node that is being exported ---- */

typedef struct wick_export_op wick_export_op;

typedef struct wick_export_row {
  const char *op_type; /* of the node, if it is one; NULL: `put` chooses it */
  const char
      *attrs;     /* "axis last=select_last_index": the operator's attributes, and ONNX's names */
  uint64_t elems; /* element types that ONNX accepts; 0: all of the operator's */
  void (*put)(wick_export_op *o); /* NULL: the operands are inputs, the results are outputs */
} wick_export_row;
const wick_export_row *wick_export_row_of(wick_opcode op); /* NULL: ONNX cannot express it */

struct wick_export_op {
  wick_export *x;
  const wick_node *n;
  const wick_export_row *row;
  const char *location;
  uint32_t first; /* index of the first ONNX node that was made for n */
  bool failed;
};

void wick_export_fail(wick_export_op *o, const char *fmt, ...) WICK_PRINTF(2, 3);

/* The names ("" if missing) and types of operands. */
bool wick_export_given(const wick_export_op *o, uint32_t i);
const char *wick_export_in(const wick_export_op *o, uint32_t i);
const wick_type_info *wick_export_info(const wick_export_op *o, uint32_t i);
const wick_type_info *wick_export_out_info(const wick_export_op *o, uint32_t k);
/* The node that defines a value of f; NULL: it is a parameter. */
const wick_node *wick_export_definer(const wick_export_op *o, wick_value v);
/* Reads operand i if it is a constant of one element; else returns false. */
bool wick_export_known(const wick_export_op *o, uint32_t i, double *out);
/* Returns the operator's attribute of that name. */
const wick_attr *wick_export_attr(const wick_export_op *o, const char *name);
const char *wick_export_word(const wick_export_op *o, const char *name); /* of kind ENUM */

/* Begins a node of ONNX. Its outputs get their names when it ends. */
wick_onnx_node *wick_export_begin(wick_export_op *o, const char *op_type, uint32_t nin,
                                  const char *const *in);
void wick_export_set_int(wick_export_op *o, wick_onnx_node *n, const char *name, int64_t i);
void wick_export_set_float(wick_export_op *o, wick_onnx_node *n, const char *name, double f);
void wick_export_set_word(wick_export_op *o, wick_onnx_node *n, const char *name, const char *s);
void wick_export_set_words(wick_export_op *o, wick_onnx_node *n, const char *name, uint32_t count,
                           const char *const *s);
void wick_export_set_ints(wick_export_op *o, wick_onnx_node *n, const char *name, uint32_t count,
                          const int64_t *v);
void wick_export_set_floats(wick_export_op *o, wick_onnx_node *n, const char *name, uint32_t count,
                            const double *v);
void wick_export_set_graph(wick_export_op *o, wick_onnx_node *n, const char *name,
                           wick_onnx_graph *g);
/* Sets the attributes that `attrs` names, which has the form of a row's `attrs`. */
void wick_export_set_attrs(wick_export_op *o, wick_onnx_node *n, const char *attrs);
const char *wick_export_end(wick_export_op *o,
                            wick_onnx_node *n); /* one output; returns its name */
void wick_export_end_list(wick_export_op *o, wick_onnx_node *n, uint32_t nout,
                          const char **out_name); /* several outputs */
/* Ends a node whose outputs are the results of Wick's node. */
void wick_export_end_results(wick_export_op *o, wick_onnx_node *n, uint32_t nout);
void wick_export_result_is(wick_export_op *o, uint32_t k, const char *name);

/* Make nodes without attributes, and a few common nodes. They return the output's name. */
/* Adds an Identity of a value, whose output has the name `as`. */
void wick_export_identity(wick_export_op *o, const char *name, const char *as);
const char *wick_export_1(wick_export_op *o, const char *op_type, const char *x);
const char *wick_export_2(wick_export_op *o, const char *op_type, const char *x, const char *y);
const char *wick_export_3(wick_export_op *o, const char *op_type, const char *x, const char *y,
                          const char *z);
const char *wick_export_cast(wick_export_op *o, const char *x, wick_elem from, wick_elem to);
const char *wick_export_bitcast(wick_export_op *o, const char *x, wick_elem to);
const char *wick_export_reshape(wick_export_op *o, const char *x, uint32_t n, const wick_dim *dim);
const char *wick_export_unsqueeze(wick_export_op *o, const char *x, int64_t axis);
const char *wick_export_squeeze(wick_export_op *o, const char *x, int64_t axis);
const char *wick_export_transpose(wick_export_op *o, const char *x, uint32_t n,
                                  const int64_t *perm);
const char *wick_export_concat(wick_export_op *o, int64_t axis, uint32_t n, const char *const *in);
/* Returns an element type of `elems` that represents all values of e; e itself if it is in
 * `elems`. */
wick_elem wick_export_wide(wick_export_op *o, wick_elem e, uint64_t elems);

/* Make nodes that compute dimension expressions: n of them as i64[n], or one as i64 of rank 0. */
const char *wick_export_dims(wick_export_op *o, uint32_t n, const wick_dim *dim);
const char *wick_export_dim(wick_export_op *o, wick_dim dim);

/* ---- the families of operators ---- */

void wick_export_reduce(wick_export_op *o);
void wick_export_extremes(wick_export_op *o);
void wick_export_scan(wick_export_op *o);
void wick_export_split(wick_export_op *o);
void wick_export_top_k(wick_export_op *o);
void wick_export_places(wick_export_op *o);
void wick_export_move(wick_export_op *o); /* operators with one list of sizes, the second input */
void wick_export_slice(wick_export_op *o);
void wick_export_pad(wick_export_op *o);
void wick_export_range_row(wick_export_op *o);
void wick_export_indexed(wick_export_op *o);
void wick_export_one_hot(wick_export_op *o);
void wick_export_eye(wick_export_op *o);
void wick_export_triangle(wick_export_op *o);
void wick_export_shuffle(wick_export_op *o);
void wick_export_interleave(wick_export_op *o);
void wick_export_shape(wick_export_op *o);
void wick_export_depth(wick_export_op *o);
void wick_export_resize(wick_export_op *o);
void wick_export_grid_sample(wick_export_op *o);
void wick_export_window(wick_export_op *o); /* convolutions and pools */
void wick_export_norm(wick_export_op *o);   /* adds missing scales */
void wick_export_attention(wick_export_op *o);
void wick_export_recurrent(wick_export_op *o);
void wick_export_const(wick_export_op *o);
void wick_export_cast_row(wick_export_op *o);
void wick_export_bitcast_row(wick_export_op *o);
void wick_export_retype(wick_export_op *o);
void wick_export_narrow(wick_export_op *o);
void wick_export_scalar(wick_export_op *o); /* compositions of element-wise operators */
void wick_export_celu(wick_export_op *o);
void wick_export_minmax(wick_export_op *o);
void wick_export_shift(wick_export_op *o);
void wick_export_mod(wick_export_op *o);
void wick_export_mul_high(wick_export_op *o);
void wick_export_roi_align(wick_export_op *o);
void wick_export_fourier(wick_export_op *o);
void wick_export_col2im(wick_export_op *o);
void wick_export_take_row(wick_export_op *o);
void wick_export_search(wick_export_op *o);
void wick_export_string_case(wick_export_op *o);
void wick_export_string_split(wick_export_op *o);
void wick_export_regex(wick_export_op *o);
void wick_export_ngrams(wick_export_op *o);
void wick_export_image(wick_export_op *o);
void wick_export_text(wick_export_op *o); /* casts from and to strings */
void wick_export_tuple(wick_export_op *o);
void wick_export_item(wick_export_op *o);
void wick_export_if(wick_export_op *o);
void wick_export_loop(wick_export_op *o);
void wick_export_call(wick_export_op *o);

/* ---- maps.c: inputs and outputs that are maps ---- */

/* Returns whether the input or output is a map that an operator of ONNX can build. Sets *out to its
 * keys. */
bool wick_export_map_of(wick_export *x, bool output, const char *name, wick_type type,
                        wick_keys *out);
/* Input: makes a tensor [n] of the map `name` and returns the tensor's name. Output: makes the map
 * `name` of a tensor. */
const char *wick_export_map_input(wick_export_op *o, const char *name, const wick_keys *keys);
void wick_export_map_output(wick_export_op *o, const char *from, const char *name,
                            const wick_keys *keys);
wick_onnx_value_info wick_export_map_info(wick_export *x, bool output, const char *name,
                                          wick_elem elem, const wick_keys *keys);

#endif
