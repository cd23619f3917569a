/* The form of an operator's row. One row says all that Wick knows of an operator; what is not in
 * its row is not known of it: a `switch` on an operator outside src/ops is a missing column. */
#ifndef WICK_IR_OP_H
#define WICK_IR_OP_H

#include "ir/ir.h"

typedef struct wick_builder wick_builder;
typedef struct wick_layouts wick_layouts; /* ops/layout/layout.h */
typedef struct wick_adjoint wick_adjoint; /* ops/gradient/grad.h */

typedef enum wick_effect {
  WICK_PURE,
  WICK_MAY_FAIL, /* its result alone matters, but it may not move to where it would not have run */
  WICK_EFFECT    /* writes memory or an object: never dropped, order kept */
} wick_effect;

enum { WICK_ANY = 255, WICK_MAX_ATTR = 12 };

typedef struct wick_attr_spec {
  const char *name;
  wick_attr_kind kind;
  double dflt; /* INT BOOL AXIS FLOAT ENUM; lists default to empty, strings to "" */
  bool required;
  const char *words;  /* of an ENUM: "constant reflect edge" */
  double least, most; /* of INT, FLOAT and each of INTS; both 0: not limited */
} wick_attr_spec;

/* ---- inference ---- */

typedef struct wick_infer {
  wick_module *module;
  wick_arena *mem; /* for contents and errors */
  wick_opcode op;
  const char *location; /* for errors */
  uint32_t nin;
  const wick_value *in_value;       /* 0 where an optional operand is missing */
  const wick_value_info *const *in; /* NULL where it is missing */
  const wick_attr *attr;
  uint32_t nwant; /* rows with .typed: the types that the text or builder asks for */
  const wick_type *want;
  uint32_t nregion;
  const wick_type *const *yield; /* per region, the types that its `yield` passes */
  const uint32_t *nyield;
  const wick_type *const *param; /* per region, its parameters' types */
  const uint32_t *nregionparam;
  wick_func const *callee; /* rows with an attribute of kind FUNC: the function, or NULL */
  /* Whether the function relies on these sizes to be equal; a builder's lets it do so from now on.
   * Asked by wick_infer_equal. NULL: no. */
  bool (*relies)(void *arg, wick_dim a, wick_dim b);
  void *arg;
  uint32_t nout;        /* out */
  uint32_t room;        /* for results */
  wick_value_info *out; /* out: type, and content where known */
} wick_infer;

WICK_CHECKED wick_status wick_infer_fail(const wick_infer *c, wick_code code, const char *fmt, ...)
    WICK_PRINTF(3, 4);

/* Sizes that must be equal are, or may be and a check says so. A size that may be 1 is never taken
 * for one that broadcasts. */
bool wick_infer_equal(const wick_infer *c, wick_dim a, wick_dim b);
/* The same; then *a is the one of the two to go on with. */
bool wick_infer_meet(const wick_infer *c, wick_dim *a, wick_dim b);

/* A size that must be at least so many is, or may be and a check says so. */
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
  const wick_tensor *in; /* .data NULL where an optional operand is missing */
  wick_tensor *out;      /* elem, dims and zeroed storage are set; the row fills the data */
} wick_ref;

/* ---- scalars ---- */

typedef union wick_scalar { /* a float of any width, exactly, or an integer (sign- or
                               zero-extended), or 0 / 1 */
  double f;
  int64_t i;
} wick_scalar;

typedef enum wick_scalar_rule { /* types of a scalar row's operands and result; operands broadcast
                                 */
                                WICK_NOT_SCALAR,
                                WICK_RULE_SAME,    /* all operands and the result of one type */
                                WICK_RULE_COMPARE, /* operands of one type, result bool */
                                WICK_RULE_SELECT,  /* first operand bool, the others and the result
                                                      of one type */
                                WICK_RULE_TYPED    /* the result's element type is asked for (cast,
                                                      bitcast) */
} wick_scalar_rule;

/* One element: `elem` of the first data operand, `out` of the result. Exact for f64; the caller
 * rounds to the result's type. */
typedef wick_scalar (*wick_scalar_eval)(const wick_attr *attr, wick_elem elem, wick_elem out,
                                        const wick_scalar *in);

/* ---- narrow floats in place of f32 (graph/demote.c) ---- */

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
  uint32_t operands;   /* as a set */
  uint32_t first, end; /* of a constant among them: the axes, end excluded, that are summed over */
} wick_factors;

/* ---- stages: what `compute` gets ---- */

typedef struct wick_compute {
  wick_opcode op;
  wick_builder *b; /* builds the stages, in a group */
  const wick_attr *attr;
  uint32_t nin, nout;
  const wick_value *in;      /* tensors of the group; 0 where missing */
  wick_value *out;           /* to be set to stage results */
  const wick_type *out_type; /* what infer said */
} wick_compute;

/* ---- views ---- */

/* A result and an operand that may share their memory. */
typedef enum wick_view_kind {
  WICK_VIEW_NONE,
  WICK_VIEW_SAME,       /* the result has the bytes of operand 0, in their order */
  WICK_VIEW_OF_OPERAND, /* the result is a part of operand 0 */
  WICK_VIEW_OF_RESULT   /* each operand is a part of the result, which consists of them */
} wick_view_kind;

/* Where a part lies in its whole. Dimension d of the whole has the index
 * begin[d] + step[d] * (index axis[d] of the part). Operand 1, a number, takes the place of that
 * index where axis[d] is WICK_VIEW_CHOSEN: it is clamped to 0 .. the whole's extent - 1. */
enum { WICK_VIEW_CHOSEN = WICK_MAX_RANK };
typedef struct wick_view_map {
  wick_dim begin[WICK_MAX_RANK];
  int64_t step[WICK_MAX_RANK];
  uint32_t axis[WICK_MAX_RANK];
} wick_view_map;

typedef struct wick_view_of {
  wick_view_kind kind;
  /* Changes *out, which is the identity, to the map of operand k (k is 0 for WICK_VIEW_OF_OPERAND).
   * NULL for the other kinds. */
  void (*map)(const wick_func *f, const wick_node *n, uint32_t k, wick_view_map *out);
} wick_view_of;

/* The map of operand k of n, whose kind has one. */
wick_view_map wick_view_map_of(const wick_func *f, const wick_node *n, uint32_t k);

/* ---- the row ---- */

/* What one element of a result is made of: of the first operand's elements those at the same place,
 * all channels; or those around the same place, of the same channel. */
typedef enum wick_reach { WICK_REACH_ANY, WICK_REACH_CHANNELS, WICK_REACH_PLACES } wick_reach;

typedef struct wick_op {
  const char *name;
  const char *doc; /* what it computes, with its rule for NaN, -0, rounding, overflow */
  uint8_t nin[2], nout[2], nregion[2]; /* least, most */
  wick_attr_spec attr[WICK_MAX_ATTR];  /* ends at the first without a name */
  uint32_t level;                      /* bits of wick_level */
  uint64_t elems; /* bit set of element types that the data operands may have: WICK_FLOATS | ... ;
                     0: any */
  uint32_t
      aux_operands; /* bit set of operands that are not data: their element types are their own */
  wick_effect effect;
  bool typed; /* result types are given, not inferred (const, cast, load, alloc, view, stages) */
  bool terminator; /* ends a region */
  bool stage;      /* of a group: its attributes are a name and axes */
  /* Its one stage goes through lines by itself: nothing else is computed in its group. */
  bool unfusable;
  /* The dimensions, as a set, along which elements of the operand go into one of the result: those
   * are whole in the result or of size 1, all others are the operand's. 0: it is not so. */
  uint32_t (*reduced_axes)(const wick_attr *attr, uint32_t rank);
  /* Of packed images, [n, blocks, y, x, place] both; NULL: any. */
  wick_reach (*reach)(const wick_func *f, const wick_node *n);
  /* The row is a call into the runtime (runtime/host.h) by this name. Bundles refuse it. */
  const char *host;
  wick_view_of
      view_of; /* the memory that results and operands may share: no code, or only copies */
  const struct wick_rewrite *simplify; /* by something cheaper that is equal (ir/rewrite.h) */
  /* On operands in blocked layouts: builds the node and sets its packed result; false: it does not.
   * Scalar rows without it are done element by element. */
  bool (*layout)(wick_layouts *s, const wick_node *n);
  /* The operands whose products are summed and which are better rounded to a narrow
   * float first: that is less to read, or the target has dot products of them. */
  wick_factors (*product_operands)(const wick_narrowing *c);
  /* The result has all elements of the operands and no others, in another order or broadcast, so
   * that element-wise operators may as well run before it. */
  bool rearranges;
  bool launched;             /* low: it runs as tasks of a kernel, which only writes buffers */
  bool rounding_transparent; /* it moves elements, or takes the best or the mean of some, rounded
                                once */
  wick_status (*infer)(wick_infer *c);
  wick_status (*ref)(
      wick_ref *c); /* slow and obvious: the oracle (scalar rows: derived from eval) */
  void (*compute)(const wick_compute *c); /* the definition in stages (scalar rows: a map) */
  /* The definition in other rows; at loop level too where the row is a scalar one. in[] and out[]
   * are values of b. */
  void (*expand)(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out);
  /* Rows of the graph: the cotangents of the operands, from those of the results; NULL: those of
   * `expand` are meant. wick_grad_zero and wick_grad_none say that there are none. */
  void (*grad)(wick_adjoint *a);
  uint64_t expands; /* scalar rows: the element types that have no form but `expand`; 0: all */
  wick_scalar_rule scalar;
  wick_scalar_eval eval;
  wick_dim (*content)(wick_dims *t,
                      const wick_dim *in); /* scalar rows on small integers whose elements inference
                                              knows as expressions */
  /* The neutral element, for rows by which folds combine; for floats .f, else .i. NULL: the row is
   * none. */
  wick_scalar (*neutral)(wick_elem e);
  uint8_t flops; /* of a scalar row: floating-point operations of an element; 0: one */
  double ulp;    /* of a scalar row that has an `expand` into a polynomial: its stated error; 0:
                 correctly rounded */
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
wick_opcode wick_op_find(const char *name, size_t n); /* WICK_OP_none where there is none */
uint32_t wick_op_nattr(const wick_op *op);
/* Two attributes of that kind are the same; numbers have the same bits. */
bool wick_attr_eq(wick_attr_kind kind, const wick_attr *a, const wick_attr *b);

/* Shared columns. */
wick_status wick_infer_scalar(wick_infer *c); /* scalar rows: broadcasting tensors, or scalars and
                                                 vectors of one lane count */
wick_status wick_infer_same(wick_infer *c);   /* one result of the first operand's type */
/* Checks one place of a tensor: operand 0 is the tensor, the first attribute its indices; operands
 * are the run-time ones among those, then `after` others. */
wick_status wick_infer_place(wick_infer *c, uint32_t behind, wick_type *out_element);

#endif
