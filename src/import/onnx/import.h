/* What the operators of the importer share: the context of an import, a node on its way, its attributes
 * and operands. */
#ifndef WICK_IMPORT_ONNX_IMPORT_H
#define WICK_IMPORT_ONNX_IMPORT_H

#include "import/onnx/onnx.h"
#include "ir/build.h"

/* ---- the table of operators ---- */

typedef struct wick_onnx_op wick_onnx_op;

/* An operator from the opset `since` on, until the next row of the same operator begins. */
typedef struct wick_onnx_row {
  const char *op_type; /* with its domain in front: "ai.onnx.ml.Binarizer" */
  int since;
  uint8_t nin[2];    /* least, most; WICK_ANY: no limit */
  uint8_t nout;      /* most */
  const char *attrs; /* "axis:i pads:I! mode:s": a letter of the kind (i f s t, lists I F S), !
                        where it is required */
  void (*import)(wick_onnx_op *o); /* sets o->out; NULL: the operator ended with this opset */
  wick_opcode op; /* for functions that serve several operators; `tuple`, `loop`, `if`:
                                      the operator takes sequences */
  int arg;        /* likewise, as the function says */
} wick_onnx_row;

/* Each family's rows, sorted by operator and opset, end with an empty one. */
#define WICK_ONNX_FAMILY(name) extern const wick_onnx_row wick_onnx_##name##_rows[];
#include "import/onnx/families.def"
#undef WICK_ONNX_FAMILY

/* The row of an operator at that opset of its domain, or the first one where the operator is
 * younger. NULL where there is none; then *out_known says whether the operator is known. */
const wick_onnx_row *wick_onnx_row_find(wick_span domain, wick_span op_type, int64_t opset,
                                        bool *out_known);

/* ---- the context ---- */

/* What a name of the model stands for. */
typedef struct wick_onnx_binding {
  wick_value v;    /* 0: it could not be imported */
  const char *why; /* then: what to say at its first use; NULL where all has been said */
  bool absent;     /* a function's input that its call does not give: as if no name stood there */
  bool late;       /* it was used before it was defined, which has been said */
} wick_onnx_binding;

/* The names of a graph, or of a function's body while it is expanded. */
typedef struct wick_onnx_scope wick_onnx_scope;
struct wick_onnx_scope {
  wick_names names;
  wick_list(wick_onnx_binding) bound; /* by name; at[0] is unused */
  const wick_onnx_opsets *opsets;
  const wick_onnx_op *call;     /* of a function's body: whose attributes its references mean */
  const wick_onnx_scope *outer; /* the scope of the call */
  wick_onnx_scope *around; /* of a graph within a node: where that stands; its names are seen */
  const wick_onnx_function *function;
};

/* A result whose size depends on data: it has the bound, and `count` of it is there. */
typedef struct wick_onnx_bounded {
  wick_value v;
  uint32_t axis;
  wick_value count; /* i64[] */
} wick_onnx_bounded;

/* Of an input that is a map: what nodes want of it. It lives through all tries of an import. */
typedef struct wick_onnx_ask {
  wick_span name;
  bool all;               /* its keys and values, whatever they are */
  wick_list(int64_t) key; /* else the values of these keys; of strings their numbers */
} wick_onnx_ask;
typedef wick_list(wick_onnx_ask *) wick_onnx_asks;

/* A value that follows from contents of inputs; its data are NULL where it does not. */
typedef struct wick_onnx_given {
  wick_value v;
  wick_tensor value;
} wick_onnx_given;

/* An input that is a sequence, an optional or a map. */
typedef struct wick_onnx_list {
  wick_span name;
  bool seq;
  int64_t count;      /* of the tensors in `item`; -1: an optional without a value */
  wick_value *item;   /* of a map: its values, after its keys where all is wanted */
  wick_onnx_ask *ask; /* of a map */
  wick_elem key;
  wick_value whole; /* what its name stands for */
} wick_onnx_list;

typedef struct wick_onnx_unsupported { /* an operator that the table does not have */
  const char *name;                    /* with domain */
  const char *location, *text;         /* of its first node */
  uint32_t count;
} wick_onnx_unsupported;

typedef struct wick_onnx_context {
  wick_module *module;
  wick_builder b;
  wick_arena *tmp;
  const wick_onnx_model *model;
  const wick_onnx_options *options;
  wick_onnx_outside outside;
  const char *file; /* the path's base name */
  wick_errors errors;
  wick_onnx_remarks remarks;
  uint32_t misfits; /* of the errors: those that operators found, which may depend on sizes */
  wick_list(wick_onnx_unsupported) unsupported;
  wick_onnx_scope *scope;
  uint32_t depth; /* of function calls */
  uint64_t nodes_left;
  bool over; /* a limit was reached, which has been said */
  uint64_t call_bytes, expanded_bytes,
      most_bytes;   /* used before the outermost call; by those before it; by all, at most */
  bool symbolic;    /* an input has a symbolic size */
  uint32_t unknown; /* of the misfits: what must be known follows from inputs' contents */
  uint32_t sizes;   /* of the misfits: a number is needed for a symbol */
  bool branches;    /* contents of inputs may tell which branches with errors are not taken */
  wick_list(wick_onnx_bounded) bounded;
  wick_list(wick_onnx_given) given; /* values that have been asked for */
  wick_list(wick_onnx_list) lists;  /* inputs */
  wick_onnx_asks *asks;
  bool again;                          /* nodes want more of an input than it has in this try */
  const char *unlisted, *unlisted_why; /* the first input whose shape is not given; or NULL */
  bool *wanted;                        /* by parameter: its contents must be known */
  wick_names symbols;                  /* dimension names of the model, made fit for Wick's text */
  wick_list(wick_dim) symbol_dims;     /* by the name's number in `symbols` */
  wick_names taken;                    /* names of symbols that are in use */
  wick_names functions;                /* "domain::name:overload" */
  wick_list(const wick_onnx_function *) function; /* by that name's number */
} wick_onnx_context;

/* A name for locations and messages, cut where it is long: locations inside locations repeat it. */
const char *wick_onnx_name(const wick_onnx_context *c, wick_span name);
/* Adds a problem at that location. */
void wick_onnx_error(wick_onnx_context *c, wick_code code, const char *location, const char *fmt,
                     ...) WICK_PRINTF(4, 5);

/* Adds a remark: what is odd in the model, but imported. Equal ones are one. */
void wick_onnx_remark(wick_onnx_context *c, const char *location, const char *fmt, ...)
    WICK_PRINTF(3, 4);

/* problem.c: for lists of what is wrong; n: NULL where it is of no node. */
void wick_onnx_problem_add(wick_onnx_context *c, const wick_onnx_node *n, wick_status s,
                           const char *location);

/* scope.c */
wick_onnx_scope *wick_onnx_scope_make(wick_onnx_context *c, const wick_onnx_opsets *opsets);
bool wick_onnx_bind(wick_onnx_context *c, wick_span name,
                    wick_onnx_binding b); /* false: the name is taken */
void wick_onnx_rebind(wick_onnx_context *c, wick_span name, wick_value v); /* if it is there */
const wick_onnx_binding *wick_onnx_find(const wick_onnx_context *c,
                                        wick_span name); /* NULL: not defined */
wick_onnx_binding wick_onnx_use(wick_onnx_context *c, wick_span name, const char *location,
                                const char *what);
uint32_t wick_onnx_module_name(wick_onnx_context *c, wick_span name); /* interned in the module */
/* A dimension of an input: a number, a symbol by its name, or one of its own where it has none. */
wick_dim wick_onnx_symbol(wick_onnx_context *c, wick_span name, const char *stem, uint32_t axis);
int64_t wick_onnx_opset_of(const wick_onnx_scope *s, wick_span domain); /* 0: not imported */

/* import.c: binds the names of a graph's initializers to constants. */
void wick_onnx_import_initializers(wick_onnx_context *c, const wick_onnx_graph *g);

/* ports.c: inputs and outputs that are sequences, optionals or maps. `at` is their position among the
 * model's own. */
bool wick_onnx_is_list(const wick_onnx_value_info *v);
void wick_onnx_list_input(wick_onnx_context *c, const wick_onnx_value_info *v, uint32_t at,
                          const char *location);
/* Notes an input whose shape, or the number of its elements, must be given before nodes are read.
 */
void wick_onnx_unlisted(wick_onnx_context *c, const char *location, const char *why);
/* The shape that was given for that name, NULL: none. */
const wick_onnx_given_shape *wick_onnx_shape_given(const wick_onnx_context *c, const char *name);
void wick_onnx_list_inputs_end(wick_onnx_context *c); /* after all parameters: binds their names */
typedef struct wick_onnx_result {                     /* a tensor that the function gives */
  wick_value v;
  const char *name;
} wick_onnx_result;
typedef wick_list(wick_onnx_result) wick_onnx_results;
/* Adds the tensors that an output consists of; none after an error. */
void wick_onnx_list_output(wick_onnx_context *c, const wick_onnx_value_info *v, wick_value x,
                           uint32_t at, const char *location, wick_onnx_results *out);
/* Of an output whose elements are not known yet; false after an error. */
bool wick_onnx_list_declared(wick_onnx_context *c, const wick_onnx_value_info *v, uint32_t at,
                             const char *location);

/* map.c: maps, and sequences of maps with the same keys */
typedef struct wick_onnx_map {
  bool seq;
  wick_elem key, elem;
  wick_value keys, values; /* [n]; [n], or of a sequence [rows, n] */
  bool known;              /* the keys are these, of strings by their numbers */
  uint32_t n;
  const int64_t *at;
} wick_onnx_map;
wick_value wick_onnx_map_make(wick_builder *b, wick_value keys, wick_value values);
bool wick_onnx_is_map(const wick_builder *b, wick_value v);
/* A map with all that is in it. */
wick_onnx_map wick_onnx_map_all(wick_onnx_context *c, wick_value v);
/* The values of these keys along the last axis; 0 or "" where there is none. */
wick_value wick_onnx_map_look(wick_onnx_op *o, wick_value v, uint32_t n, const int64_t *key);
/* All values in the order of their keys, which are numbers. 0 after a failure was added. */
wick_value wick_onnx_map_dense(wick_onnx_op *o, wick_value v);
/* One map of a sequence. */
wick_value wick_onnx_map_row(wick_onnx_op *o, wick_value v, wick_value at);
/* For nodes that give what graphs of theirs give: maps with known keys become their values, for all
 * graphs the same ones; false where keys differ from the first graph's. And back. */
bool wick_onnx_maps_strip(wick_onnx_op *o, uint32_t n, wick_value *v, wick_onnx_map *like,
                          bool first);
void wick_onnx_maps_dress(wick_onnx_op *o, uint32_t n, const wick_onnx_map *like, wick_value *v);
/* Keys as a constant; the position of the first one that occurs twice, or -1. */
wick_value wick_onnx_keys(wick_onnx_context *c, wick_elem elem, uint32_t n, const int64_t *key);
int64_t wick_onnx_keys_twice(wick_arena *mem, uint32_t n, const int64_t *key);

/* stack.c: sequences whose length only a run knows, made of the items as one tensor */
wick_value wick_onnx_stack_make(wick_builder *b, wick_value items);
wick_value wick_onnx_stack(const wick_builder *b, wick_value v); /* the items; 0: it is none */
/* x cut along an axis into pieces of 1, without that axis unless `keep`. */
wick_value wick_onnx_stack_split(wick_onnx_op *o, wick_value x, uint32_t axis, bool keep);
wick_value wick_onnx_stack_concat(wick_onnx_op *o, wick_value items, bool fresh); /* by `axis` */
wick_value wick_onnx_stack_insert(wick_onnx_op *o, wick_value items, wick_value item, bool front);
wick_value wick_onnx_stack_erase(wick_onnx_op *o, wick_value items, bool front);
void wick_onnx_stack_map(wick_onnx_op *o, const wick_onnx_graph *body);

/* sequence.c: an optional without a value */
wick_value wick_onnx_nothing(wick_builder *b);
bool wick_onnx_is_nothing(const wick_builder *b, wick_value v);
/* n values with the items of sequences in their positions, as regions give them; out may be NULL.
 * Returns how many. And back: results from `first` on, as values like those. */
uint32_t wick_onnx_flat(wick_onnx_op *o, uint32_t n, const wick_value *v, wick_value *out);
void wick_onnx_unflat(wick_onnx_op *o, uint32_t n, const wick_value *like, wick_value first,
                      wick_value *out);

/* node.c */
/* Nodes of another scope, within the current one; false after a limit was reached and said. */
bool wick_onnx_enter(wick_onnx_context *c, wick_onnx_scope *s);
void wick_onnx_leave(wick_onnx_context *c, wick_onnx_scope *back);
void wick_onnx_import_nodes(wick_onnx_context *c, const wick_onnx_nodes *nodes);
bool wick_onnx_domain_is_own(wick_span domain); /* "" and "ai.onnx" */
const char *wick_onnx_node_text(const wick_onnx_context *c,
                                const wick_onnx_node *n); /* "prob" (Softmax) */
/* order.c: the nodes by their numbers, each after those whose results it reads, with a remark; NULL
 * where that is their order in the file. */
const uint32_t *wick_onnx_order(wick_onnx_context *c, const wick_onnx_nodes *nodes);

/* ---- a node on its way ---- */

struct wick_onnx_op {
  wick_onnx_context *c;
  wick_builder *b;
  const wick_onnx_node *node;
  const wick_onnx_row *row;
  const char *location; /* net.onnx: node "prob" (Softmax) */
  int64_t opset;
  uint32_t nin, nout;
  const wick_value *
      in; /* 0 where an optional operand is missing; may be read up to the row's most and in[nin] */
  wick_value
      *out; /* to be set; one that stays 0 is not supported, which is said where it is used */
  bool failed;
};

/* Adds a problem of this node; its results are then skipped without further words. */
void wick_onnx_fail(wick_onnx_op *o, wick_code code, const char *fmt, ...) WICK_PRINTF(3, 4);

/* attr.c. Kinds have been checked against the row before its import function runs. */
void wick_onnx_attrs_check(wick_onnx_op *o);
const wick_onnx_attr *wick_onnx_attr_find(const wick_onnx_op *o,
                                          const char *name); /* NULL: absent */
int64_t wick_onnx_int(const wick_onnx_op *o, const char *name, int64_t otherwise);
double wick_onnx_float(const wick_onnx_op *o, const char *name, float otherwise);
wick_wire_i64s wick_onnx_ints(const wick_onnx_op *o,
                              const char *name); /* .n 0 where it is absent */
/* A string attribute's index in `words` ("constant reflect edge"); the first where it is absent. */
int wick_onnx_word(wick_onnx_op *o, const char *name, const char *words);

/* operand.c */
const wick_type_info *wick_onnx_info(const wick_onnx_op *o,
                                     uint32_t i);      /* of operand i, which is there */
bool wick_onnx_has(const wick_onnx_op *o, uint32_t i); /* operand i is there */
/* Axis attribute or operand, made 0 to rank - 1; false after a failure was added. */
bool wick_onnx_axis(wick_onnx_op *o, int64_t axis, int64_t rank, uint32_t *out);
/* What inference knows of an integer operand; false after "must be known" was added. `what` names
 * the operand. */
bool wick_onnx_dims(wick_onnx_op *o, uint32_t i, const char *what, uint32_t *out_n,
                    const wick_dim **out);
bool wick_onnx_numbers(wick_onnx_op *o, uint32_t i, const char *what, uint32_t *out_n,
                       const int64_t **out);
/* Adds that `what` must be known, which needs numbers for the symbols in d. False. */
bool wick_onnx_open(wick_onnx_op *o, const char *what, wick_dim d);
/* Sizes that must be equal are, or may be and a check says so; the same of a multiple of `by`. */
bool wick_onnx_equal(wick_onnx_op *o, wick_dim a, wick_dim b);
bool wick_onnx_divides(wick_onnx_op *o, wick_dim d, wick_dim by);
void wick_onnx_not_one(wick_onnx_op *o, wick_dim d); /* what is done for a 1 is something else */
/* x, where the size of an axis is open and must be n: with that number in its type. */
wick_value wick_onnx_sized(wick_onnx_op *o, wick_value x, uint32_t axis, int64_t n);
/* One number of an integer operand; `otherwise` where it is absent. */
bool wick_onnx_one(wick_onnx_op *o, uint32_t i, const char *what, int64_t otherwise, int64_t *out);
/* A constant operand of floats or integers. */
bool wick_onnx_floats(wick_onnx_op *o, uint32_t i, const char *what, uint32_t *out_n,
                      const double **out);

/* Adds "`what` must be known when the model is compiled"; what inputs operand i follows from may be
 * given then. */
bool wick_onnx_unknown(wick_onnx_op *o, uint32_t i, const char *what);
/* The node's errors may be mended where the inputs that v follows from are known. */
void wick_onnx_want(wick_onnx_op *o, wick_value v);

/* given.c: the elements of a value that follows from constants and inputs whose contents are given,
 * however many. */
bool wick_onnx_given_value(wick_onnx_context *c, wick_value v, wick_tensor *out);
/* known.c: the same, and those of a value that follows from constants, as far as they are few. */
bool wick_onnx_known(wick_onnx_context *c, wick_value v, wick_tensor *out);
bool wick_onnx_known_int(wick_onnx_context *c, wick_value v, int64_t *out);
/* The node that defines a value of this import. NULL for parameters, also of regions. */
const wick_node *wick_onnx_definer(const wick_builder *b, wick_value v);

/* fraction.c: what is known of integers that a cast makes of floats, which were made of sizes. */
void wick_onnx_fraction_cast(wick_onnx_op *o, wick_value y);

/* compact.c: results whose size depends on data are outputs of the model, and nothing else. */
/* v, of which `count` along the axis are there; where that is known, these alone. */
wick_value wick_onnx_bound(wick_onnx_op *o, wick_value v, uint32_t axis, wick_value count);
const wick_onnx_bounded *wick_onnx_bounded_find(const wick_onnx_context *c, wick_value v);
/* False after "the size of WHAT depends on data" was added. */
bool wick_onnx_whole(wick_onnx_op *o, wick_value v, const char *what);

wick_value wick_onnx_size(wick_onnx_op *o, wick_dim d);   /* a size as a value, i64[] */
wick_value wick_onnx_sums(wick_onnx_op *o, wick_value x); /* running sums of x [n] */
/* The positions of the true elements of `mask` [n], in order, as i64 [*size]. Where the mask is not
 * known, *size is n, *count how many there are, and n - 1 follows them. */
wick_value wick_onnx_places(wick_onnx_op *o, wick_value mask, wick_dim n, wick_dim *size,
                            wick_value *count);

/* subgraph.c: what may be taken back */
typedef struct wick_onnx_trial {
  wick_errors errors;
  uint32_t unsupported, misfits, unknown, sizes, bounded, nodes, values, open, checks,
      branch_checks;
} wick_onnx_trial;
wick_onnx_trial wick_onnx_trial_begin(wick_onnx_op *o);
bool wick_onnx_trial_good(const wick_onnx_op *o, const wick_onnx_trial *t); /* nothing was wrong */
void wick_onnx_trial_undo(wick_onnx_op *o, const wick_onnx_trial *t);
/* The errors stay, the nodes that were opened are closed: the node has failed. */
void wick_onnx_trial_stop(wick_onnx_op *o, const wick_onnx_trial *t);
/* The nodes of a graph within the node. out: as many as its outputs. False where it failed. */
bool wick_onnx_subgraph(wick_onnx_op *o, const wick_onnx_graph *g, uint32_t nin,
                        const wick_value *in, wick_value *out);

/* emit.c: one operator of Wick, its attributes set by name, the others at their defaults. */
typedef struct wick_onnx_emit {
  wick_onnx_op *o;
  wick_opcode op;
  wick_attr attr[WICK_MAX_ATTR];
} wick_onnx_emit;
wick_onnx_emit wick_onnx_begin(wick_onnx_op *o, wick_opcode op);
void wick_onnx_set_int(wick_onnx_emit *e, const char *name, int64_t i);
void wick_onnx_set_float(wick_onnx_emit *e, const char *name, double f);
void wick_onnx_set_ints(wick_onnx_emit *e, const char *name, uint32_t n, const int64_t *ints);
void wick_onnx_set_floats(wick_onnx_emit *e, const char *name, uint32_t n, const double *floats);
void wick_onnx_set_dims(wick_onnx_emit *e, const char *name, uint32_t n, const wick_dim *dims);
wick_value wick_onnx_end(wick_onnx_emit *e, uint32_t nin, const wick_value *in);
wick_value wick_onnx_end1(wick_onnx_emit *e, wick_value x);
wick_value wick_onnx_end2(wick_onnx_emit *e, wick_value x, wick_value y);

/* A tensor of the file (a Constant's value) as a constant of the module. */
uint32_t wick_onnx_constant_add(wick_module *m, const char *name, wick_type type, const void *data,
                                uint64_t nbytes);
wick_value wick_onnx_constant(wick_onnx_context *c, const wick_onnx_tensor *t, const char *name,
                              const char *location);
wick_value wick_onnx_sparse_constant(wick_onnx_context *c, const wick_onnx_sparse_tensor *t,
                                     const char *name, const char *location);

/* The module's number of a string; strings as a constant of rank 1. */
int64_t wick_onnx_string(wick_onnx_context *c, wick_span s);
wick_value wick_onnx_strings(wick_onnx_op *o, wick_wire_spans list);

/* An immediate of rank 0 and of x's element type; integers saturate. */
wick_value wick_onnx_number(wick_onnx_op *o, wick_value x, double number);
/* What families lend each other. Of the sizes that x is reshaped to, one may be -1: what is left.
 */
wick_value wick_onnx_reshape(wick_onnx_op *o, wick_value x, uint32_t n, const wick_dim *dim);
wick_value wick_onnx_transpose(wick_onnx_op *o, wick_value x, uint32_t n, const int64_t *perm);
wick_value wick_onnx_reduce(wick_onnx_op *o, wick_opcode op, wick_value x, uint32_t n,
                            const int64_t *axes, bool keepdims);
/* x as `to`: strings as numbers, numbers as strings, or as the operator cast does it. */
wick_value wick_onnx_cast_text(wick_onnx_op *o, wick_value x, wick_elem to);
/* x, a float, within the range of the 8-bit float `to`, unless the attribute `saturate` is 0. */
wick_value wick_onnx_saturate(wick_onnx_op *o, wick_value x, wick_elem to);
/* x as the nearest, next or last power of two, f8e8m0: attributes `round_mode` and `saturate`. */
wick_value wick_onnx_power(wick_onnx_op *o, wick_value x);
/* The spatial dimensions of a convolution's weights, operand i; NULL after a failure was added. */
const wick_dim *wick_onnx_conv_kernel(wick_onnx_op *o, uint32_t i);

/* compose.c: what compositions are written in. Axes count from 0; one that is not there is an
 * error of the node. */
wick_value wick_onnx_scalar(wick_onnx_op *o,
                            uint32_t i); /* operand i, also of one element, as rank 0 */
wick_value wick_onnx_expand(wick_onnx_op *o, wick_value x, uint32_t n, const wick_dim *dim);
/* 0, 1, ... n - 1, in i64; of rank `rank`, sizes 1 but for `axis`. */
wick_value wick_onnx_count(wick_onnx_op *o, wick_dim n);
wick_value wick_onnx_count_along(wick_onnx_op *o, wick_dim n, uint32_t axis, uint32_t rank);
wick_value wick_onnx_unsqueeze(wick_onnx_op *o, wick_value x, uint32_t axis);
wick_value wick_onnx_squeeze(wick_onnx_op *o, wick_value x, uint32_t axis);
wick_value wick_onnx_slice(wick_onnx_op *o, wick_value x, uint32_t axis, wick_dim begin,
                           wick_dim size);
wick_value wick_onnx_concat(wick_onnx_op *o, uint32_t axis, uint32_t n, const wick_value *in);
/* gather or gather_elements */
wick_value wick_onnx_gather(wick_onnx_op *o, wick_opcode op, wick_value x, wick_value index,
                            uint32_t axis);
/* x in a type that the operator takes, where ONNX has more: integers as f64, narrow floats as f32. */
wick_value wick_onnx_widen(wick_onnx_op *o, wick_opcode op, wick_value x);
/* x op number, the number in x's element type */
wick_value wick_onnx_by(wick_onnx_op *o, wick_opcode op, wick_value x, double number);
wick_value wick_onnx_reduce1(wick_onnx_op *o, wick_opcode op, wick_value x, int64_t axis,
                             bool keepdims);
/* fourier.c: the transform of lines [planes, lines, numbers], cut to n or with zeros after them;
 * planes: real and imaginary parts, or the real ones alone; gives [2, n, lines], not divided by n.
 */
wick_value wick_onnx_dft(wick_onnx_op *o, wick_value x, int64_t n, bool inverse);
/* The last axis cut to `size` numbers, or with zeros after it. */
wick_value wick_onnx_fit(wick_onnx_op *o, wick_value x, int64_t size);
/* A constant of these numbers, rounded to `elem`. */
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
/* From the attributes and the first operand's spatial dimensions. `kernel` is in for an absent
 * kernel_shape, or is NULL. False after a failure was added. */
bool wick_onnx_window_read(wick_onnx_op *o, const wick_dim *kernel, wick_onnx_window *out);
/* Leaves out the window's ends that meet padding alone wherever it lies, with that padding. */
void wick_onnx_window_crop(wick_onnx_op *o, wick_onnx_window *w);
/* The same for transposed convolution, where auto_pad and output_shape are about the result. */
bool wick_onnx_window_read_transposed(wick_onnx_op *o, const wick_dim *kernel,
                                      wick_onnx_window *out, int64_t *out_pad);
void wick_onnx_window_set(wick_onnx_emit *e, const wick_onnx_window *w); /* stride, pad, dilation */

/* spatial.c: windows of more spatial dimensions than operators have. out_pad: of a transposed one.
 * `form` has the pool's other attributes. */
enum { WICK_ONNX_WINDOW = 3 };
wick_value wick_onnx_spatial_conv(wick_onnx_op *o, wick_opcode op, const wick_onnx_window *w,
                                  const int64_t *out_pad);
wick_value wick_onnx_spatial_pool(wick_onnx_op *o, const wick_onnx_emit *form,
                                  const wick_onnx_window *w);

#endif
