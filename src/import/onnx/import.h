/* Declarations that the importer's files share: the table of operators, the context of an import,
 * the node that is being imported, its attributes and operands. Begin with wick_onnx_row and
 * wick_onnx_op. */
#ifndef WICK_IMPORT_ONNX_IMPORT_H
#define WICK_IMPORT_ONNX_IMPORT_H

#include "import/kit/emit.h"
#include "import/kit/known.h"
#include "import/kit/symbols.h"
#include "import/onnx/onnx.h"
#include "ir/build.h"

/* ---- the table of operators ---- */

typedef struct wick_onnx_op wick_onnx_op;

/* Describes an operator from the opset `since` on, until the next row of the same operator
 * begins. */
typedef struct wick_onnx_row {
  const char *op_type; /* with its domain as prefix: "ai.onnx.ml.Binarizer" */
  int since;
  uint8_t nin[2];    /* least, most; WICK_ANY: no limit */
  uint8_t nout;      /* most */
  const char *attrs; /* "axis:i pads:I! mode:s": names, the kinds' letters (i f s t, lists I F S),
                        and ! if the attribute is required */
  void (*import)(wick_onnx_op *o); /* sets o->out; NULL: this opset removed the operator */
  wick_opcode op; /* for import functions that several operators share; `tuple`, `loop` and `if`
                     mark operators that accept sequences */
  int arg;        /* for such functions, too; the function defines its meaning */
} wick_onnx_row;

/* The rows of each family, sorted by operator and opset. An empty row ends them. */
#define WICK_ONNX_FAMILY(name) extern const wick_onnx_row wick_onnx_##name##_rows[];
#include "import/onnx/families.def"
#undef WICK_ONNX_FAMILY

/* Finds the row of an operator at that opset of its domain, or its first row if the operator is
 * younger than the opset. Returns NULL if no row exists; then *out_known tells whether the operator
 * is known. */
const wick_onnx_row *wick_onnx_row_find(wick_span domain, wick_span op_type, int64_t opset,
                                        bool *out_known);

/* ---- the context ---- */

/* The value that a name of the model is bound to. */
typedef struct wick_onnx_binding {
  wick_value v;    /* 0: it could not be imported */
  const char *why; /* if v is 0, the error for its first use; NULL if it was reported already */
  bool absent;     /* an input of a function that the call omits; its uses omit it, too */
  bool late;       /* it was used before its definition, which was reported */
} wick_onnx_binding;

/* The names of a graph, or of a function's body during its expansion. */
typedef struct wick_onnx_scope wick_onnx_scope;
struct wick_onnx_scope {
  wick_names names;
  wick_list(wick_onnx_binding) bound; /* by name; at[0] is unused */
  const wick_onnx_opsets *opsets;
  const wick_onnx_op *call;     /* for a function's body: the call, whose attributes it refers to */
  const wick_onnx_scope *outer; /* the scope of the call */
  wick_onnx_scope
      *around; /* for a graph within a node: the node's scope, whose names are visible */
  const wick_onnx_function *function;
};

/* A result whose size depends on data. Its type has the upper bound along `axis`; the first `count`
 * elements along it are valid. */
typedef struct wick_onnx_bounded {
  wick_value v;
  uint32_t axis;
  wick_value count; /* i64[] */
} wick_onnx_bounded;

/* The keys that nodes read of an input that is a map. It lives through all tries of an import. */
typedef struct wick_onnx_ask {
  wick_span name;
  bool all;               /* nodes read all keys and values */
  wick_list(int64_t) key; /* else the keys that nodes read; for strings, their numbers */
} wick_onnx_ask;
typedef wick_list(wick_onnx_ask *) wick_onnx_asks;

/* A value computed from given contents of inputs; its data are NULL if they do not determine it. */
typedef struct wick_onnx_given {
  wick_value v;
  wick_tensor value;
} wick_onnx_given;

/* An input that is a sequence, an optional or a map. */
typedef struct wick_onnx_list {
  wick_span name;
  bool seq;
  int64_t count;      /* the number of tensors in `item`; -1: an optional without a value */
  wick_value *item;   /* for a map: its values, after its keys if ask->all */
  wick_onnx_ask *ask; /* for a map only */
  wick_elem key;
  wick_value whole; /* the value that its name is bound to */
} wick_onnx_list;

typedef struct wick_onnx_unsupported { /* an operator that has no row */
  const char *name;                    /* with domain */
  const char *location, *text;         /* of its first node */
  uint32_t count;
} wick_onnx_unsupported;

typedef struct wick_onnx_context {
  wick_module *module;
  wick_builder b;
  wick_arena *tmp;
  const wick_onnx_model *model;
  const wick_import_options *options;
  wick_onnx_outside outside;
  const char *file; /* the path's base name */
  wick_errors errors;
  wick_import_remarks remarks;
  uint32_t misfits; /* the number of errors that operators found: these may depend on sizes */
  wick_list(wick_onnx_unsupported) unsupported;
  wick_onnx_scope *scope;
  uint32_t depth; /* of function calls */
  uint64_t nodes_left;
  bool over; /* a limit was reached, which was reported */
  uint64_t call_bytes, expanded_bytes,
      most_bytes;   /* bytes in use before the outermost call; bytes that earlier calls needed; the
                       limit for all calls */
  uint32_t unknown; /* misfits that contents of inputs would avoid */
  uint32_t sizes;   /* misfits that a number for a symbol would avoid */
  bool branches;    /* contents of inputs may show that branches with errors are not executed */
  wick_list(wick_onnx_bounded) bounded;
  wick_list(wick_onnx_given) given; /* values that were requested */
  wick_list(wick_onnx_list) lists;  /* inputs */
  wick_onnx_asks *asks;
  bool again;                          /* nodes need more of a map than this try has; try again */
  const char *unlisted, *unlisted_why; /* the first input whose shape is not given; or NULL */
  bool *wanted;                        /* by parameter: its contents must be known */
  wick_symbols symbols;
  wick_names functions;                           /* "domain::name:overload" */
  wick_list(const wick_onnx_function *) function; /* by that name's number */
} wick_onnx_context;

/* Returns a name for locations and messages. Truncates long names, because nested locations repeat
 * them. */
const char *wick_onnx_name(const wick_onnx_context *c, wick_span name);
/* Adds a problem at that location. */
void wick_onnx_error(wick_onnx_context *c, wick_code code, const char *location, const char *fmt,
                     ...) WICK_PRINTF(4, 5);

/* Adds a remark about a defect of the model that does not prevent its import. Equal remarks are
 * added once. */
void wick_onnx_remark(wick_onnx_context *c, const char *location, const char *fmt, ...)
    WICK_PRINTF(3, 4);

/* problem.c: adds a failure to the list of problems, if the caller requested one. n is the node, or
 * NULL if the failure concerns no node. */
void wick_onnx_problem_add(wick_onnx_context *c, const wick_onnx_node *n, wick_status s,
                           const char *location);

/* scope.c */
wick_onnx_scope *wick_onnx_scope_make(wick_onnx_context *c, const wick_onnx_opsets *opsets);
bool wick_onnx_bind(wick_onnx_context *c, wick_span name,
                    wick_onnx_binding b); /* false: the name is taken */
void wick_onnx_rebind(wick_onnx_context *c, wick_span name, wick_value v); /* if it is there */
const wick_onnx_binding *wick_onnx_find(const wick_onnx_context *c,
                                        wick_span name); /* NULL: not defined */
/* Returns the binding of a name that is used. Adds an error if the name has no value; `what` names
 * the use in it. */
wick_onnx_binding wick_onnx_use(wick_onnx_context *c, wick_span name, const char *location,
                                const char *what);
uint32_t wick_onnx_module_name(wick_onnx_context *c, wick_span name); /* interned in the module */
/* Returns the symbol of that name, a dimension of an input; without a name, a new symbol named
 * after `stem` and `axis`. An option may give it a number. */
wick_dim wick_onnx_symbol(wick_onnx_context *c, wick_span name, const char *stem, uint32_t axis);
/* Returns the version of a domain. One that is not imported has the newest, as in ONNX Runtime, which fusing tools
 * rely on; ONNX's own has 0. */
int64_t wick_onnx_opset_of(const wick_onnx_scope *s, wick_span domain);

/* import.c: binds the names of a graph's initializers to constants. */
void wick_onnx_import_initializers(wick_onnx_context *c, const wick_onnx_graph *g);

/* ports.c: inputs and outputs that are sequences, optionals or maps. `at` is the index among the
 * model's inputs or outputs. */
bool wick_onnx_is_list(const wick_onnx_value_info *v);
void wick_onnx_list_input(wick_onnx_context *c, const wick_onnx_value_info *v, uint32_t at,
                          const char *location);
/* Records an input whose shape, or whose number of elements, must be given before nodes are
 * imported. */
void wick_onnx_unlisted(wick_onnx_context *c, const char *location, const char *why);
/* Returns the shape that the caller gave for that name, or NULL. */
const wick_import_shape *wick_onnx_shape_given(const wick_onnx_context *c, const char *name);
void wick_onnx_list_inputs_end(wick_onnx_context *c); /* after all parameters: binds their names */
typedef struct wick_onnx_result {                     /* a tensor that the function returns */
  wick_value v;
  const char *name;
} wick_onnx_result;
typedef wick_list(wick_onnx_result) wick_onnx_results;
/* Adds the tensors that an output consists of, or none after an error. */
void wick_onnx_list_output(wick_onnx_context *c, const wick_onnx_value_info *v, wick_value x,
                           uint32_t at, const char *location, wick_onnx_results *out);
/* Adds the tensors of an output that the interface declares, before its elements are known. Returns
 * false after an error. */
bool wick_onnx_list_declared(wick_onnx_context *c, const wick_onnx_value_info *v, uint32_t at,
                             const char *location);

/* map.c: maps, and sequences of maps with the same keys */
typedef struct wick_onnx_map {
  bool seq;
  wick_elem key, elem;
  wick_value keys, values; /* [n]; [n], or [rows, n] for a sequence */
  bool known;              /* the keys are the constants `at`; strings have their numbers */
  uint32_t n;
  const int64_t *at;
} wick_onnx_map;
wick_value wick_onnx_map_make(wick_builder *b, wick_value keys, wick_value values);
bool wick_onnx_is_map(const wick_builder *b, wick_value v);
/* Returns a map with all its keys and values. */
wick_onnx_map wick_onnx_map_all(wick_onnx_context *c, wick_value v);
/* Returns the values of these keys along the last axis; the value of a missing key is 0 or "". */
wick_value wick_onnx_map_look(wick_onnx_op *o, wick_value v, uint32_t n, const int64_t *key);
/* Returns all values in the order of their keys, which are numbers. Returns 0 after it added a
 * failure. */
wick_value wick_onnx_map_dense(wick_onnx_op *o, wick_value v);
/* Returns the map with index `at` of a sequence. */
wick_value wick_onnx_map_row(wick_onnx_op *o, wick_value v, wick_value at);
/* For nodes that return the results of their graphs. Strip replaces maps with known keys by their
 * values; it returns false if the keys differ from those of the first graph. Dress makes maps of
 * such values again. */
bool wick_onnx_maps_strip(wick_onnx_op *o, uint32_t n, wick_value *v, wick_onnx_map *like,
                          bool first);
void wick_onnx_maps_dress(wick_onnx_op *o, uint32_t n, const wick_onnx_map *like, wick_value *v);
/* Keys: builds them as a constant. Twice: returns the index of the first key that occurs a second
 * time, or -1. */
wick_value wick_onnx_keys(wick_onnx_context *c, wick_elem elem, uint32_t n, const int64_t *key);
int64_t wick_onnx_keys_twice(wick_arena *mem, uint32_t n, const int64_t *key);

/* stack.c: sequences whose length is known only at run time. One tensor stores all items. */
wick_value wick_onnx_stack_make(wick_builder *b, wick_value items);
wick_value wick_onnx_stack(const wick_builder *b, wick_value v); /* the items; 0: v is no stack */
/* Splits x along an axis into pieces of size 1. Removes that axis unless `keep`. */
wick_value wick_onnx_stack_split(wick_onnx_op *o, wick_value x, uint32_t axis, bool keep);
wick_value wick_onnx_stack_concat(wick_onnx_op *o, wick_value items, bool fresh); /* by `axis` */
wick_value wick_onnx_stack_insert(wick_onnx_op *o, wick_value items, wick_value item, bool front);
wick_value wick_onnx_stack_erase(wick_onnx_op *o, wick_value items, bool front);
void wick_onnx_stack_map(wick_onnx_op *o, const wick_onnx_graph *body);

/* sequence.c: an optional without a value */
wick_value wick_onnx_nothing(wick_builder *b);
bool wick_onnx_is_nothing(const wick_builder *b, wick_value v);
/* Flat: replaces sequences among n values by their items, because regions return tensors only.
 * Returns the number of tensors; out may be NULL. Unflat: builds values like those from the results
 * `first`, first + 1, ... */
uint32_t wick_onnx_flat(wick_onnx_op *o, uint32_t n, const wick_value *v, wick_value *out);
void wick_onnx_unflat(wick_onnx_op *o, uint32_t n, const wick_value *like, wick_value first,
                      wick_value *out);

/* node.c */
/* Makes another scope current. Returns false after a limit was reached, which was reported. */
bool wick_onnx_enter(wick_onnx_context *c, wick_onnx_scope *s);
void wick_onnx_leave(wick_onnx_context *c, wick_onnx_scope *back);
void wick_onnx_import_nodes(wick_onnx_context *c, const wick_onnx_nodes *nodes);
bool wick_onnx_domain_is_own(wick_span domain); /* "" and "ai.onnx" */
const char *wick_onnx_node_text(const wick_onnx_context *c,
                                const wick_onnx_node *n); /* "prob" (Softmax) */
/* order.c: sorts the nodes so that each comes after the nodes whose results it reads. Returns their
 * numbers and adds a remark, or returns NULL if the file has that order already. */
const uint32_t *wick_onnx_order(wick_onnx_context *c, const wick_onnx_nodes *nodes);

/* ---- the node that is being imported ---- */

struct wick_onnx_op {
  wick_onnx_context *c;
  wick_builder *b;
  const wick_onnx_node *node;
  const wick_onnx_row *row;
  const char *location; /* net.onnx: node "prob" (Softmax) */
  int64_t opset;
  uint32_t nin, nout;
  const wick_value
      *in; /* 0 if an optional operand is missing; may be read up to the row's most and in[nin] */
  wick_value
      *out; /* set by row->import; an output that stays 0 is unsupported, an error at its use */
  bool failed;
};

/* Adds an error of this node. Uses of its results add no further errors. */
void wick_onnx_fail(wick_onnx_op *o, wick_code code, const char *fmt, ...) WICK_PRINTF(3, 4);

/* attr.c: attributes. Their kinds are checked against the row before its import function runs. */
void wick_onnx_attrs_check(wick_onnx_op *o);
const wick_onnx_attr *wick_onnx_attr_find(const wick_onnx_op *o,
                                          const char *name); /* NULL: absent */
int64_t wick_onnx_int(const wick_onnx_op *o, const char *name, int64_t otherwise);
double wick_onnx_float(const wick_onnx_op *o, const char *name, float otherwise);
wick_wire_i64s wick_onnx_ints(const wick_onnx_op *o,
                              const char *name); /* .n is 0 if it is absent */
/* Returns the index of a string attribute in `words` ("constant reflect edge"), or 0 if it is
 * absent. */
int wick_onnx_word(wick_onnx_op *o, const char *name, const char *words);

/* operand.c */
const wick_type_info *wick_onnx_info(const wick_onnx_op *o,
                                     uint32_t i);      /* of operand i, which must be present */
bool wick_onnx_has(const wick_onnx_op *o, uint32_t i); /* operand i is present */
/* Makes an axis non-negative: 0 to rank - 1. Returns false after it added a failure. */
bool wick_onnx_axis(wick_onnx_op *o, int64_t axis, int64_t rank, uint32_t *out);
/* Returns the elements of an integer operand as far as inference knows them: as dimension
 * expressions, or as numbers. Returns false after it added "must be known"; `what` names the
 * operand in it. */
bool wick_onnx_dims(wick_onnx_op *o, uint32_t i, const char *what, uint32_t *out_n,
                    const wick_dim **out);
bool wick_onnx_numbers(wick_onnx_op *o, uint32_t i, const char *what, uint32_t *out_n,
                       const int64_t **out);
/* Adds an error: `what` must be known, which requires numbers for the symbols in d. Returns
 * false. */
bool wick_onnx_must_be_known(wick_onnx_op *o, const char *what, wick_dim d);
/* Equal: requires that two sizes are equal; divides: that d is a multiple of `by`. They add a shape
 * constraint if that is not certain, and return false if it is impossible. */
bool wick_onnx_equal(wick_onnx_op *o, wick_dim a, wick_dim b);
bool wick_onnx_divides(wick_onnx_op *o, wick_dim d, wick_dim by);
/* Adds the shape constraint that d is at least 2, for operators that treat size 1 differently. */
void wick_onnx_not_one(wick_onnx_op *o, wick_dim d);
/* Returns x with size n in its type if the axis has a dynamic size that must be n, else x. */
wick_value wick_onnx_sized(wick_onnx_op *o, wick_value x, uint32_t axis, int64_t n);
/* Reads an integer operand that has one element. Sets *out to `otherwise` if the operand is
 * absent. */
bool wick_onnx_one(wick_onnx_op *o, uint32_t i, const char *what, int64_t otherwise, int64_t *out);
/* Reads a constant operand of floats or integers. */
bool wick_onnx_floats(wick_onnx_op *o, uint32_t i, const char *what, uint32_t *out_n,
                      const double **out);

/* text.c: reads a constant operand of strings as numbers of strings. Returns false after it added "must
 * be known". */
bool wick_onnx_texts(wick_onnx_op *o, uint32_t i, const char *what, uint32_t *out_n,
                     const int64_t **out);

/* Adds the error "`what` must be known when the model is compiled". Marks the inputs that operand i
 * depends on, so that their contents can be given. Returns false. */
bool wick_onnx_unknown(wick_onnx_op *o, uint32_t i, const char *what);
/* Marks the inputs that v depends on: known contents of them may avoid the node's errors. */
void wick_onnx_want(wick_onnx_op *o, wick_value v);

/* given.c: computes a value from constants and from inputs whose contents are given, of any size.
 * Returns false if these do not determine it. */
bool wick_onnx_given_value(wick_onnx_context *c, wick_value v, wick_tensor *out);
/* constant_values.c: does the same, and also computes small values that depend only on
 * constants. */
bool wick_onnx_known(wick_onnx_context *c, wick_value v, wick_tensor *out);
bool wick_onnx_known_int(wick_onnx_context *c, wick_value v, int64_t *out);
/* fraction.c: finds the dimension expressions of integers that a cast makes of floats, if the
 * floats were computed from sizes. */
void wick_onnx_fraction_cast(wick_onnx_op *o, wick_value y);

/* compact.c: results whose size depends on data. They can only be outputs of the model. */
/* Records that only the first `count` elements of v along the axis are valid. Returns v, or those
 * elements alone if `count` is known. */
wick_value wick_onnx_bound(wick_onnx_op *o, wick_value v, uint32_t axis, wick_value count);
const wick_onnx_bounded *wick_onnx_bounded_find(const wick_onnx_context *c, wick_value v);
/* Returns false after it added "the size of WHAT depends on data". */
bool wick_onnx_whole(wick_onnx_op *o, wick_value v, const char *what);

wick_value wick_onnx_size(wick_onnx_op *o, wick_dim d);   /* a size as a value, i64[] */
wick_value wick_onnx_sums(wick_onnx_op *o, wick_value x); /* running sums of x [n] */
/* Returns the indices of the true elements of `mask` [n], in order, as i64 [*size]. If the mask is
 * not known, *size is n, *count is the number of true elements, and n - 1 follows their indices. */
wick_value wick_onnx_places(wick_onnx_op *o, wick_value mask, wick_dim n, wick_dim *size,
                            wick_value *count);

/* subgraph.c: the state of an import before a graph within a node, so that the graph can be
 * undone */
typedef struct wick_onnx_trial {
  wick_errors errors;
  uint32_t unsupported, misfits, unknown, sizes, bounded, nodes, values, open, checks,
      branch_checks;
} wick_onnx_trial;
wick_onnx_trial wick_onnx_trial_begin(wick_onnx_op *o);
bool wick_onnx_trial_good(const wick_onnx_op *o, const wick_onnx_trial *t); /* nothing was wrong */
void wick_onnx_trial_undo(wick_onnx_op *o, const wick_onnx_trial *t);
/* Keeps the errors and closes the open regions: the node has failed. */
void wick_onnx_trial_stop(wick_onnx_op *o, const wick_onnx_trial *t);
/* Imports the nodes of a graph within the node. out has as many entries as the graph has outputs.
 * Returns false on failure. */
bool wick_onnx_subgraph(wick_onnx_op *o, const wick_onnx_graph *g, uint32_t nin,
                        const wick_value *in, wick_value *out);

/* emit.c: makes a tensor of the file (a Constant's value) a constant of the module. */
wick_value wick_onnx_constant(wick_onnx_context *c, const wick_onnx_tensor *t, const char *name,
                              const char *location);
wick_value wick_onnx_sparse_constant(wick_onnx_context *c, const wick_onnx_sparse_tensor *t,
                                     const char *name, const char *location);

/* String: returns the module's number of a string. Strings: builds a constant of rank 1. */
int64_t wick_onnx_string(wick_onnx_context *c, wick_span s);
wick_value wick_onnx_strings(wick_onnx_op *o, wick_wire_spans list);

/* Converts x to `to`: strings to numbers, numbers to strings, else as the operator cast does. */
wick_value wick_onnx_cast_text(wick_onnx_op *o, wick_value x, wick_elem to);
/* Clamps x, a float, to the range of the 8-bit float `to`, unless the attribute `saturate` is 0. */
wick_value wick_onnx_saturate(wick_onnx_op *o, wick_value x, wick_elem to);
/* Rounds x to the nearest, next or previous power of two, f8e8m0, as the attributes `round_mode`
 * and `saturate` tell. */
wick_value wick_onnx_power(wick_onnx_op *o, wick_value x);
/* Returns the spatial dimensions of a convolution's weights, operand i, or NULL after it added a
 * failure. */
const wick_dim *wick_onnx_conv_kernel(wick_onnx_op *o, uint32_t i);

/* compose.c */
wick_value wick_onnx_scalar(wick_onnx_op *o, uint32_t i); /* operand i, of one element, as rank 0 */
/* Imports the node as if it were that operator of ONNX at that opset, with these operands and the
 * node's attributes. Sets o->out to its results, and returns the first. */
wick_value wick_onnx_as(wick_onnx_op *o, const char *op_type, int64_t opset, uint32_t nin,
                        const wick_value *in);
/* Builds a constant of these numbers, rounded to `elem`. */
wick_value wick_onnx_table(wick_onnx_op *o, wick_elem elem, uint32_t rank, const int64_t *dim,
                           const double *numbers);

void wick_onnx_gradient(wick_onnx_op *o); /* gradient.c */

/* window.c: strides, dilations and pads of convolutions and pools, with auto_pad resolved. Lists
 * are as long as n; pads are the begins, then the ends. */
enum { WICK_ONNX_SPATIAL = WICK_MAX_RANK - 2 };
typedef struct wick_onnx_window {
  uint32_t n;
  int64_t kernel[WICK_ONNX_SPATIAL], stride[WICK_ONNX_SPATIAL], dilation[WICK_ONNX_SPATIAL];
  int64_t pad[2 * WICK_ONNX_SPATIAL];
} wick_onnx_window;
/* Reads the window from the attributes and the first operand's spatial dimensions. `kernel`
 * replaces an absent kernel_shape; it may be NULL. Returns false after it added a failure. */
bool wick_onnx_window_read(wick_onnx_op *o, const wick_dim *kernel, wick_onnx_window *out);
/* Removes the ends of the window that see only padding at every position, and that padding. */
void wick_onnx_window_crop(wick_onnx_op *o, wick_onnx_window *w);
/* Reads the window of a transposed convolution, for which auto_pad and output_shape describe the
 * result. */
bool wick_onnx_window_read_transposed(wick_onnx_op *o, const wick_dim *kernel,
                                      wick_onnx_window *out, int64_t *out_pad);
void wick_onnx_window_set(wick_emit *e, const wick_onnx_window *w); /* stride, pad, dilation */

/* spatial.c: windows with more spatial dimensions than Wick's operators have. out_pad is for
 * transposed convolutions, else NULL. `form` has the pool's other attributes. */
enum { WICK_ONNX_WINDOW = 3 };
wick_value wick_onnx_spatial_conv(wick_onnx_op *o, wick_opcode op, const wick_onnx_window *w,
                                  const int64_t *out_pad);
wick_value wick_onnx_spatial_pool(wick_onnx_op *o, const wick_emit *form,
                                  const wick_onnx_window *w);

#endif
