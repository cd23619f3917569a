/* Inference: gives every expression of a program its type, and reports what has none.
 *
 * For a consumer: after wick_lang_infer without problems, `typed` of an entity of kind FN has the
 * types of its body. The type of a node n is wick_typed_of(f, n); none is unknown: a VAR that is
 * left is generic, a type parameter of the function, which every use determines. Walk the syntax
 * tree; `ref` of a NAME, a constructor or a pattern says what it means; the type of a parameter or a
 * bound name e is f->local[e->number]. What could not be decided for all uses (the result of
 * broadcasting unnamed shapes, operators on unknown ranks) is a constraint of the scheme, which is
 * solved at each use. */
#ifndef WICK_LANG_INFER_H
#define WICK_LANG_INFER_H

#include "lang/type.h"

typedef enum wick_constraint_kind {
  WICK_NEEDS_BROADCAST, /* shapes a, b, result */
  WICK_NEEDS_OPERATOR,  /* operands, the result, then the sizes among the attributes */
  WICK_NEEDS_INDEX,     /* tensor, result, then for each index its type, or the ends of a slice */
  WICK_NEEDS_FIELD,     /* object, result */
  WICK_NEEDS_COTANGENT, /* type, its cotangent */
  WICK_NEEDS_BATCH,     /* type, type with an axis more at `axis`, size */
  WICK_NEEDS_MEMBER,    /* of entity->family: operands, then the result */
  WICK_NEEDS_INSIDE,    /* the least and the greatest index, the size, then the indices' ranges */
  WICK_NEEDS_RANGE,     /* the size of an index of index notation */
  WICK_NEEDS_FORM       /* of entity->form: function and arguments, then the result */
} wick_constraint_kind;

/* In index notation: offset + the sum of coef * index. A number may be `?`: a static parameter. */
typedef struct wick_affine {
  uint32_t n;
  const wick_lang_entity *index[WICK_MAX_RANK];
  wick_dim coef[WICK_MAX_RANK], offset;
} wick_affine;
typedef wick_list(wick_affine) wick_guards; /* each is at least 0 */

/* A static argument: numbers, or a word. */
typedef struct wick_static {
  bool known;
  uint32_t n;         /* of a list; 1: a number */
  wick_ast_kind list; /* TUPLE or ARRAY; 0: no list */
  const int64_t *ints;
  double f;
  const char *word;
  /* Not known yet: this size; an expression of static parameters, with the size that it is if they
   * are numbers; or a list of n items of which some are not known. */
  const wick_ast *expr;
  wick_ty *size;
  const struct wick_static *item;
} wick_static;

typedef struct wick_constraint {
  wick_constraint_kind kind;
  const wick_ast *node;
  wick_lang_at at;     /* the user's place */
  wick_lang_at origin; /* where a function asks for it; source 0: at `at` */
  const wick_lang_entity *entity;
  uint32_t n;
  wick_ty **arg;
  uint32_t noperand;
  struct wick_scheme *leaf; /* of map_tensors: the function, for each tensor anew */
  wick_ty **captured; /* unknowns of `leaf` that are the last arguments from noperand + 1 on */
  const wick_static *fixed; /* values of the static parameters by index; NULL: unknown */
  uint32_t nfixed;
  uint32_t axis;  /* of NEEDS_BATCH */
  bool is_result; /* of NEEDS_BATCH: a struct becomes the tuple of its fields */
  bool done;
} wick_constraint;

typedef struct wick_scheme {
  wick_ty *type;
  uint32_t n;
  wick_constraint *needs;
  bool monomorphic;
  bool local;       /* of a function in a function, which may use the unknowns of that one */
  wick_ty_list own; /* of a local one: the unknowns that each use decides anew */
} wick_scheme;

typedef struct wick_typed {
  wick_lang_entity *entity;
  wick_ty **type;           /* by node */
  wick_ty **local;          /* by number of the local */
  wick_scheme **poly;       /* of locals that are polymorphic functions, else NULL */
  wick_ty **variable;       /* by index of the item's variables */
  bool instance;            /* for one use: sizes are known, and decide branches */
  const wick_static *fixed; /* of an instance: its static arguments by index; else NULL */
  const wick_dim *known;    /* numbers of locals that are known here, else INVALID; NULL: none */
  wick_ty *fn;              /* of an instance: the function's type */
  wick_effect effect;       /* its own and of the functions that it names; not of function values */
} wick_typed;

static inline wick_ty *wick_typed_of(const wick_typed *f, const wick_ast *n)
{
  return wick_ty_of(f->type[n->id]);
}

/* Infers all modules of a program whose names are resolved. Time is linear in its length but for
 * functions of many uses without signatures; the work is limited. */
void wick_lang_infer(wick_lang_program *p, wick_types *t);
/* The same for the functions from `first` on, which were added to an inferred program. */
void wick_lang_infer_from(wick_lang_program *p, wick_types *t, uint32_t first);
/* Infers the body of a function (an op, too) once more, for one use: for arguments and a result of
 * the types of `want`, a FN, and these static arguments (by index; NULL: none). Problems are
 * reported; `at` is the place of the use. What is left unknown, nothing depends on. */
const wick_typed *wick_lang_instance(wick_lang_program *p, wick_types *t, wick_lang_entity *e,
                                     wick_lang_at at, wick_ty *want, const wick_static *fixed);
/* The same for a function literal inside of the function of `outer`. */
const wick_typed *wick_lang_instance_literal(wick_lang_program *p, wick_types *t,
                                             const wick_typed *outer, wick_ast *literal,
                                             wick_lang_at at, wick_ty *want);
/* Reads the static argument n of a call in the function of `f`. Returns false if it is none. */
bool wick_lang_static(wick_lang_program *p, wick_types *t, const wick_typed *f, const wick_ast *n,
                      wick_static *out);
/* The same for the body of a loop that is written out: its index, and what it carries. */
const wick_typed *wick_lang_instance_step(wick_lang_program *p, wick_types *t,
                                          const wick_typed *outer, const wick_ast *loop,
                                          int64_t index, wick_ty *carried);
/* end - begin; INVALID: it is not known. */
wick_dim wick_lang_span(wick_lang_program *p, wick_types *t, const wick_typed *f,
                        const wick_ast *begin, const wick_ast *end);
/* Returns a size, or an index, that is known in the function of `f`; `?` or INVALID: it is not. */
wick_dim wick_lang_size(wick_lang_program *p, wick_types *t, const wick_typed *f,
                        const wick_ast *n);
/* Reads an affine expression of indices in the function of `f`; returns false if it is none. */
bool wick_lang_affine(wick_lang_program *p, wick_types *t, const wick_typed *f, const wick_ast *n,
                      wick_affine *out);
/* Adds what a condition says about indices; returns false if it says more. */
bool wick_lang_guards(wick_lang_program *p, wick_types *t, const wick_typed *f, const wick_ast *n,
                      wick_guards *out);
/* Returns whether sizes and static arguments decide a condition in the instance `f`: then only the
 * arm that runs has types. */
bool wick_lang_decided(wick_lang_program *p, wick_types *t, const wick_typed *f, const wick_ast *n,
                       bool *out);
/* Reads the attributes of a call of an operator in the function of `f`, one for each that the
 * operator declares. Problems are reported. */
void wick_lang_attrs(wick_lang_program *p, wick_types *t, const wick_typed *f, const wick_ast *n,
                     const wick_lang_entity *op, wick_attr *attr);

/* "fn encode(Weights[d, v], Tree[i64]) -> f32[d]" */
const char *wick_lang_signature(wick_types *t, const wick_lang_entity *e);
/* The type of a field with the arguments of a data type; `self` is a DATA. */
wick_ty *wick_lang_field_type(wick_types *t, wick_ty *self, uint32_t ctor, uint32_t field);

/* Returns the operator of an infix token; WICK_OP_none: it is none. */
wick_opcode wick_infer_opcode(int token);

#endif
