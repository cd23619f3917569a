/* The registry entry of an operator. It contains everything that Wick knows about the operator. A
 * `switch` on operators outside src/ops shows that the entry lacks a field. Begin with wick_op
 * below. */
#ifndef WICK_IR_OP_H
#define WICK_IR_OP_H

#include "ir/ir.h"

typedef struct wick_builder wick_builder;
typedef struct wick_layouts wick_layouts;   /* ops/layout/layout.h */
typedef struct wick_adjoint wick_adjoint;   /* ops/gradient/grad.h */
typedef struct wick_batching wick_batching; /* ops/batch/batch.h */

typedef enum wick_effect {
  WICK_PURE,
  /* only its result matters, but it must not move to code that runs when it would not have run */
  WICK_MAY_FAIL,
  WICK_EFFECT /* writes memory or an object: never dropped, order kept */
} wick_effect;

/* WICK_ANY: no limit but that of a node, which counts operands and results in 16 bits. */
enum { WICK_ANY = 255, WICK_MAX_ATTR = 12, WICK_MAX_RESULTS = UINT16_MAX };

typedef struct wick_attr_spec {
  const char *name;
  wick_attr_kind kind;
  double dflt; /* INT BOOL AXIS FLOAT ENUM; lists default to empty, strings to "" */
  bool required;
  const char *words;  /* of an ENUM: "constant reflect edge" */
  double least, most; /* for INT, FLOAT and each of INTS; both 0: no limits */
} wick_attr_spec;

/* ---- inference ---- */

typedef struct wick_infer {
  wick_module *module;
  wick_arena *mem; /* for contents and errors */
  wick_opcode op;
  const char *location; /* for errors */
  uint32_t nin;
  const wick_value *in_value;       /* 0 if an optional operand is missing */
  const wick_value_info *const *in; /* NULL if it is missing */
  const wick_attr *attr;
  uint32_t nwant; /* operators with .typed: the types that the text or the builder requests */
  const wick_type *want;
  uint32_t nregion;
  const wick_type *const *yield; /* per region, the types that its `yield` passes */
  const uint32_t *nyield;
  const wick_type *const *param; /* per region, its parameters' types */
  const uint32_t *nregionparam;
  wick_func const *callee; /* operators with an attribute of kind FUNC: the function, or NULL */
  /* Returns whether a shape constraint of the function makes these sizes equal. The builder's
   * version adds the constraint. wick_infer_equal calls it. NULL: there are no constraints. */
  bool (*relies)(void *arg, wick_dim a, wick_dim b);
  void *arg;
  uint32_t nout;        /* out */
  uint32_t capacity;    /* capacity of `out` */
  wick_value_info *out; /* out: type, and content if it is known */
} wick_infer;

/* Makes room for n results, all cleared; for operators with any number of them. Fails: WICK_ELIMIT
 * if a node cannot have as many. */
WICK_CHECKED wick_status wick_infer_results(wick_infer *c, uint32_t n);

WICK_CHECKED wick_status wick_infer_fail(const wick_infer *c, wick_code code, const char *fmt, ...)
    WICK_PRINTF(3, 4);

/* Returns whether two sizes that must be equal are equal, either always or by a shape constraint. A
 * dynamic size that may be 1 does not broadcast. */
bool wick_infer_equal(const wick_infer *c, wick_dim a, wick_dim b);
/* The same, and sets *a to the simpler of the two. */
bool wick_infer_meet(const wick_infer *c, wick_dim *a, wick_dim b);

/* Returns whether d is at least `least`, either always or by a shape constraint. */
bool wick_infer_least(const wick_infer *c, wick_dim d, int64_t least);

/* ---- reference ---- */

typedef struct wick_tensor { /* concrete, dense, in the layout of its elements; the data is owned
                                elsewhere */
  wick_elem elem;
  uint32_t rank;
  int64_t dim[WICK_MAX_RANK];
  void *data;
} wick_tensor;

typedef struct wick_ref {
  wick_opcode op;
  wick_arena *mem; /* scratch of this call, and errors */
  const wick_module *module;
  const wick_attr *attr;
  const char *location;
  uint32_t nin, nout;
  const wick_tensor *in; /* .data is NULL if an optional operand is missing */
  wick_tensor *out;      /* elem, dims and zeroed storage are set; the reference fills the data */
} wick_ref;

/* ---- scalars ---- */

typedef union wick_scalar { /* a float of any width, exactly, or an integer (sign- or
                               zero-extended), or 0 / 1 */
  double f;
  int64_t i;
} wick_scalar;

/* types of a scalar operator's operands and result; operands broadcast */
typedef enum wick_scalar_rule {
  WICK_NOT_SCALAR,
  WICK_RULE_SAME,    /* all operands and the result have one type */
  WICK_RULE_COMPARE, /* operands have one type, the result is bool */
  /* the first operand is bool, the others and the result have one
                                 * type */
  WICK_RULE_SELECT,
  /* the result's element type is requested (cast, bitcast) */
  WICK_RULE_TYPED
} wick_scalar_rule;

/* Computes one element. `elem` is the element type of the first data operand, `out` that of the
 * result. Exact for f64; the caller rounds to the result's type. */
typedef wick_scalar (*wick_scalar_eval)(const wick_attr *attr, wick_elem elem, wick_elem out,
                                        const wick_scalar *in);

/* ---- narrow floats instead of f32 (graph/demote.c) ---- */

typedef struct wick_target wick_target; /* target/target.h */

typedef struct wick_narrowing {
  const wick_func *f;
  const wick_node *n;
  const uint32_t *definer; /* of f's values */
  const wick_target *target;
  wick_elem elem;
  bool strict; /* of the compilation */
} wick_narrowing;

typedef struct wick_factors {
  uint32_t operands;   /* bit set */
  uint32_t first, end; /* if one is a constant: its axes that are summed over, end excluded */
} wick_factors;

/* ---- stages: the argument of `compute` ---- */

typedef struct wick_compute {
  wick_opcode op;
  wick_builder *b; /* builds the stages, in a group */
  const wick_attr *attr;
  uint32_t nin, nout;
  const wick_value *in;      /* tensors of the group; 0 if missing */
  wick_value *out;           /* to be set to stage results */
  const wick_type *out_type; /* from infer */
  bool begun; /* of operators with `updates`: the first result has the elements of in[0] already */
} wick_compute;

/* ---- views ---- */

/* A result and an operand that may share their memory. */
typedef enum wick_view_kind {
  WICK_VIEW_NONE,
  WICK_VIEW_SAME,       /* the result has the bytes of operand 0, in their order */
  WICK_VIEW_OF_OPERAND, /* the result is a part of operand 0 */
  WICK_VIEW_OF_RESULT   /* each operand is a part of the result, which consists of them */
} wick_view_kind;

/* Maps an index of a part to an index of its whole. Dimension d of the whole has the index begin[d]
 * + step[d] * (index axis[d] of the part). If axis[d] is WICK_VIEW_CHOSEN, operand 1, a number,
 * replaces that index; it is clamped to 0 .. the whole's extent - 1. */
enum { WICK_VIEW_CHOSEN = WICK_MAX_RANK };
typedef struct wick_view_map {
  wick_dim begin[WICK_MAX_RANK];
  int64_t step[WICK_MAX_RANK];
  uint32_t axis[WICK_MAX_RANK];
} wick_view_map;

typedef struct wick_view_of {
  wick_view_kind kind;
  /* Changes *out from the identity to the map of operand k (k is 0 for WICK_VIEW_OF_OPERAND). NULL
   * for the other kinds. */
  void (*map)(const wick_func *f, const wick_node *n, uint32_t k, wick_view_map *out);
} wick_view_of;

/* Returns the map of operand k of n. The kind of n must have a map. */
wick_view_map wick_view_map_of(const wick_func *f, const wick_node *n, uint32_t k);

/* ---- batches ---- */

typedef struct wick_batch_rule {
  /* NULL: scalar operators broadcast; others are computed by `expand` */
  void (*run)(wick_batching *a);
  uint8_t in[8], out[3]; /* of wick_batch_merge: the dimensions that rows join, from 1 */
} wick_batch_rule;

/* ---- the registry entry ---- */

/* The elements of the first operand that one element of a result depends on. CHANNELS: all channels
 * of the same position. PLACES: the same channel of positions around it. */
typedef enum wick_reach { WICK_REACH_ANY, WICK_REACH_CHANNELS, WICK_REACH_PLACES } wick_reach;

/* Transpositions of an operand before an operator on slices: FIRST makes slices the columns of a
 * matrix, so that lanes are neighbouring slices; LAST makes them its rows, so that lanes are parts
 * of a slice. */
typedef enum wick_turn {
  WICK_TURN_NONE = 0,
  WICK_TURN_FIRST = 1,
  WICK_TURN_LAST = 2,
  WICK_TURN_ANY = WICK_TURN_FIRST | WICK_TURN_LAST
} wick_turn;

typedef struct wick_op {
  const char *name;
  const char *doc; /* the result, with the rules for NaN, -0, rounding and overflow */
  uint8_t nin[2], nout[2], nregion[2]; /* least, most */
  wick_attr_spec attr[WICK_MAX_ATTR];  /* ends at the first without a name */
  uint32_t level;                      /* bits of wick_level */
  uint64_t elems; /* bit set of element types that the data operands may have: WICK_FLOATS | ... ;
                     0: any */
  uint32_t aux_operands; /* bit set of operands that are not data: `elems` does not apply to them */
  wick_effect effect;
  bool typed; /* result types are given, not inferred (const, cast, load, alloc, view, stages) */
  bool terminator; /* ends a region */
  bool objects;    /* operands may be tuples, data, references and functions, not only tensors */
  bool stage;      /* a stage of a group: its attributes are a name and axes */
  /* Its only stage iterates over 1-D slices itself, so its group contains nothing else. */
  bool unfusable;
  /* Gives several elements of its result at once, in registers. A kernel of it and what reads the
   * result would write them to memory first, and compute element by element. */
  bool ends_kernel;
  /* Works on the 1-D slices along its first attribute, an axis, one by one. The first operand and
   * all results have the same dimensions, except along the axis; there are no other tensors. */
  bool slices;
  /* Returns the bit set of dimensions along which several elements of the operand contribute to one
   * element of the result. In the result these dimensions are whole or of size 1; all others are
   * the operand's. 0: the operator has another form. */
  uint32_t (*reduced_axes)(const wick_attr *attr, uint32_t rank);
  /* For operators on the 1-D slices along their first attribute, an axis: which transpositions pay
   * for slices of n elements that are `inner` apart, and vectors of that many lanes. The operand is
   * alone, and results have its other dimensions. NULL: none. */
  wick_turn (*turn)(const wick_attr *attr, int64_t n, int64_t inner, int64_t lanes);
  /* `compute` reads each element of the first operand once, so element-wise operators before it
   * cost no more if they are computed there. */
  bool reads_once;
  /* The first result is the first operand, parts of which are replaced. `compute` builds a loop nest
   * that may find the operand's elements in the result's memory (wick_compute.begun). */
  bool updates;
  /* For packed images, where operand and result are [n, blocks, y, x, place]. NULL:
   * WICK_REACH_ANY. */
  wick_reach (*reach)(const wick_func *f, const wick_node *n);
  /* The function of the runtime (runtime/host.h) that the operator calls; NULL: none. Bundles
   * refuse such operators. */
  const char *host;
  wick_view_of
      view_of; /* the memory that results and operands may share: no code, or only copies */
  const struct wick_rewrite *simplify; /* replacements that are equal and cheaper (ir/rewrite.h) */
  /* Builds the node on operands in blocked layouts and sets its packed result. Returns false if it
   * cannot. Scalar operators without this function are computed element by element. */
  bool (*layout)(wick_layouts *s, const wick_node *n);
  /* Returns the operands whose products are summed and that should be rounded to a narrow float
   * first, because less memory is read or because the target has dot products of that type. */
  wick_factors (*product_operands)(const wick_narrowing *c);
  /* The result consists of exactly the elements of the operands, in another order or broadcast. So
   * element-wise operators can move before it. */
  bool rearranges;
  bool heap;     /* loop level: needs the heap of counted objects (runtime/heap.h) */
  bool launched; /* low level: runs as tasks of a kernel, which only writes buffers */
  /* moves elements, or computes the best or the mean of some, rounded once */
  bool rounding_transparent;
  wick_status (*infer)(wick_infer *c);
  wick_status (*ref)(
      wick_ref *c); /* slow and obvious: the oracle (scalar operators: derived from eval) */
  /* Returns the multiply-adds of `ref`, from the sizes in c. NULL: no more than elements. */
  double (*products)(const wick_ref *c);
  void (*compute)(const wick_compute *c); /* the definition in stages (scalar operators: a map) */
  /* The definition in terms of other operators; for scalar operators also at loop level. in[] and
   * out[] are values of b. */
  void (*expand)(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out);
  /* For graph operators: computes the cotangents of the operands from those of the results. NULL:
   * `expand` is differentiated. wick_grad_zero and wick_grad_none mean that no cotangents exist. */
  void (*grad)(wick_adjoint *a);
  /* Two sets of operands, as bits: the results are linear in the operands of a set, all together,
   * if the others are fixed. An operand that is in both counts for the first one alone. Bit 31
   * stands for all operands from there on. Both 0: not linear, or not known to be. */
  uint32_t linear[2];
  /* For graph operators: how the nodes for many rows are built (ops/batch/batch.h). */
  wick_batch_rule batch;
  /* scalar operators: the element types for which `expand` is the only form; 0: all */
  uint64_t expands;
  wick_scalar_rule scalar;
  wick_scalar_eval eval;
  /* Scalar operators on small integer tensors: returns the result as an expression of the
   * operands. */
  wick_dim (*content)(wick_dims *t, const wick_dim *in);
  /* Returns the neutral element of an operator that folds can use: .f for floats, else .i. NULL:
   * folds cannot use it. */
  wick_scalar (*neutral)(wick_elem e);
  uint8_t flops; /* scalar operators: floating-point operations per element; 0: one */
  /* scalar operators with an `expand` into a polynomial: its stated error; 0: correctly rounded */
  double ulp;
} wick_op;

/* Sets of element types. */
#define WICK_BIT(e) ((uint64_t)1 << (e))
#define WICK_FLOATS                                                                                \
  (WICK_BIT(WICK_F64) | WICK_BIT(WICK_F32) | WICK_BIT(WICK_F16) | WICK_BIT(WICK_BF16))
#define WICK_SINTS                                                                                 \
  (WICK_BIT(WICK_I64) | WICK_BIT(WICK_I32) | WICK_BIT(WICK_I16) | WICK_BIT(WICK_I8))
#define WICK_UINTS                                                                                 \
  (WICK_BIT(WICK_U64) | WICK_BIT(WICK_U32) | WICK_BIT(WICK_U16) | WICK_BIT(WICK_U8))
#define WICK_INTS (WICK_SINTS | WICK_UINTS)
#define WICK_NUMBERS (WICK_FLOATS | WICK_INTS)
#define WICK_BOOLS WICK_BIT(WICK_BOOL)
#define WICK_TEXTS WICK_BIT(WICK_STRING)
#define WICK_PLAIN (WICK_NUMBERS | WICK_BOOLS)

#define OP(name) extern const wick_op wick_op_##name;
#include "ir/ops.def"
extern const wick_op *const wick_ops[WICK_NOP]; /* by opcode; [0] is NULL */
static inline const wick_op *wick_op_of(const wick_node *n) { return wick_ops[n->op]; }
/* Returns whether operand i is data, no key, mask or index. */
static inline bool wick_op_is_data(const wick_op *op, uint32_t i)
{
  return i >= 32 || !(op->aux_operands >> i & 1);
}
/* WICK_OP_none if no operator has this name */
wick_opcode wick_op_find(const char *name, size_t n);
uint32_t wick_op_nattr(const wick_op *op);
/* Returns whether two attributes of that kind are equal; numbers must have the same bits. */
bool wick_attr_eq(wick_attr_kind kind, const wick_attr *a, const wick_attr *b);

/* Functions for several operators' `infer`. */
/* scalar operators: broadcasting tensors, or scalars and vectors of one lane count */
wick_status wick_infer_scalar(wick_infer *c);
wick_status wick_infer_same(wick_infer *c); /* one result of the first operand's type */
/* Checks an index into a tensor. Operand 0 is the tensor, the first attribute its indices. The
 * other operands are the run-time indices among those, then `behind` more. Sets *out_element to the
 * element's type. */
wick_status wick_infer_place(wick_infer *c, uint32_t behind, wick_type *out_element);

#endif
