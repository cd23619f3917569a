/* Types with unknowns, for the inference of programs (infer.h).
 *
 * A type is a node. An unknown is a VAR, which unification binds to another node (`link`); read
 * types only through wick_ty_of, which follows the links. Sizes are wick_dim, expressions over
 * symbols of `dims`; an unknown size is a symbol with a binding (wick_ty_dim). The size `?`, which
 * a value carries at run time, is equal to every size here, and checked at run time.
 *
 * A rigid unknown stands for a name of the user's signature: it equals only itself. */
#ifndef WICK_LANG_TYPE_H
#define WICK_LANG_TYPE_H

#include "lang/program.h"

typedef enum wick_ty_kind {
  WICK_TY_ERROR, /* after a mistake: equals everything, so that it has no consequences */
  WICK_TY_VAR,
  WICK_TY_TENSOR, /* arg: ELEM, SHAPE */
  WICK_TY_ELEM,
  WICK_TY_SHAPE, /* dim[0 .. front-1], then `rest` if it is not NULL, then the other dims */
  WICK_TY_SIZE,  /* an argument of a data type */
  WICK_TY_TUPLE, /* items; () has none */
  WICK_TY_FN,    /* parameters, then the result */
  WICK_TY_DATA,  /* a data type or a struct; its arguments */
  WICK_TY_REF,   /* the contents */
  WICK_TY_COT    /* the cotangent of a data type that has other tensors than floats */
} wick_ty_kind;

typedef enum wick_ty_sort {
  WICK_SORT_TYPE,
  WICK_SORT_ELEM,
  WICK_SORT_SIZE,
  WICK_SORT_SHAPE
} wick_ty_sort;

typedef struct wick_ty wick_ty;
struct wick_ty {
  wick_ty_kind kind;
  wick_ty_sort sort; /* of a VAR */
  bool rigid;
  uint8_t literal; /* of a VAR of sort ELEM: 1: of whole numbers, 2: of floats, 0: of none */
  wick_elem elem;
  uint32_t level;
  uint32_t n;
  wick_ty **arg;
  wick_ty *link;  /* of a VAR that is bound */
  uint64_t elems; /* of a VAR of sort ELEM: those that it may be */
  uint32_t ndim, front;
  const wick_dim *dim;
  wick_ty *rest;
  wick_dim size;
  const wick_lang_entity *data;
  const char *name; /* of a rigid VAR */
  wick_lang_at at;  /* where it comes from; source 0: nowhere */
  uint32_t stamp;   /* scratch of walks */
  wick_ty *copy;
};

typedef wick_list(wick_ty *) wick_ty_list;

typedef struct wick_ty_dimvar {
  wick_dim symbol, value; /* value: INVALID until it is bound */
  uint32_t level, stamp;
  wick_dim copy;
  bool rigid;
} wick_ty_dimvar;

#define WICK_TY_GENERIC UINT32_MAX /* the level of what a scheme copies at each use */

/* The symbol that stands for a static parameter in sizes while its value is not known. */
typedef struct wick_ty_static {
  const struct wick_lang_entity *param;
  wick_dim symbol;
} wick_ty_static;

typedef struct wick_types {
  wick_arena *mem;
  wick_module *module; /* of `dims`, and of the operators' inference */
  bool owner;          /* of the module */
  wick_dims *dims;
  wick_dim any; /* ? */
  wick_list(wick_ty_dimvar) dimvars;
  wick_list(uint32_t) of_symbol; /* dimvar + 1 by the number of a symbol's expression */
  wick_list(wick_ty_static) statics;
  wick_ty *error, *unit, *scalar_shape, *elem[WICK_NELEM];
  uint32_t stamp, nfresh, level;
  uint64_t steps, most; /* of walks over types, which are limited */
  bool exhausted;
} wick_types;

void wick_types_begin(wick_types *t, wick_arena *mem);
/* The same with sizes of a module that is not t's own. */
void wick_types_begin_in(wick_types *t, wick_module *module, wick_arena *mem);
void wick_types_end(wick_types *t);

/* Counts a step; returns whether there were too many: walks then end, and one mistake is reported. */
static inline bool wick_ty_step(wick_types *t)
{
  if (++t->steps > t->most) t->exhausted = true;
  return t->exhausted;
}
wick_ty *wick_ty_of(wick_ty *a); /* what it is bound to */
wick_dim wick_ty_dim(wick_types *t, wick_dim d);

wick_ty *wick_ty_new(wick_types *t, wick_ty_kind kind, uint32_t n, wick_ty *const *arg);
wick_ty *wick_ty_var(wick_types *t, wick_ty_sort sort);
wick_dim wick_ty_size_var(wick_types *t);
wick_dim wick_ty_rigid_size(wick_types *t, const char *name);
wick_dim wick_ty_static_size(wick_types *t, const struct wick_lang_entity *param);
wick_ty *wick_ty_size(wick_types *t, wick_dim d);
wick_ty *wick_ty_shape(wick_types *t, uint32_t ndim, const wick_dim *dim, uint32_t front,
                       wick_ty *rest);
wick_ty *wick_ty_tensor(wick_types *t, wick_ty *elem, wick_ty *shape);
wick_ty *wick_ty_scalar(wick_types *t, wick_elem e);
wick_ty *wick_ty_of_tensor(wick_types *t, const wick_tensor *x); /* the type of a constant */
wick_ty *wick_ty_fn(wick_types *t, uint32_t n, wick_ty *const *param, wick_ty *result);
wick_ty *wick_ty_flat(wick_types *t, wick_ty *shape); /* a SHAPE whose rest is unbound, or NULL */

/* Whether a shape has a known rank; of a tensor, whether it is ready for an operator. */
bool wick_ty_ranked(wick_types *t, wick_ty *shape);
bool wick_ty_ready(wick_types *t, wick_ty *tensor);

typedef enum wick_clash_kind {
  WICK_CLASH_KIND,
  WICK_CLASH_ELEM,
  WICK_CLASH_RANK,
  WICK_CLASH_SIZE,
  WICK_CLASH_RIGID,
  WICK_CLASH_OCCURS
} wick_clash_kind;
typedef struct wick_clash {
  wick_clash_kind kind;
  wick_ty *a, *b;
  wick_dim x, y;
} wick_clash;

/* Makes two types equal by binding unknowns. Returns false, and why, if they differ. */
bool wick_unify(wick_types *t, wick_ty *a, wick_ty *b, wick_clash *out);
bool wick_unify_dims(wick_types *t, wick_dim a, wick_dim b);
/* The type of a value that is one or the other, where both are equal but for `?`. */
wick_ty *wick_ty_join(wick_types *t, wick_ty *a, wick_ty *b);

/* Copies a type with new unknowns for generic ones; copies after the same wick_ty_begin_copy share
 * them. */
void wick_ty_begin_copy(wick_types *t);
wick_ty *wick_ty_copy(wick_types *t, wick_ty *a);
wick_dim wick_ty_copy_dim(wick_types *t, wick_dim d);
/* Copies of the generic unknown `from`, a VAR or a SIZE of one symbol, will be `to`. */
void wick_ty_copy_as(wick_types *t, wick_ty *from, wick_ty *to);
/* Adds the generic unknowns of a type, which are VARs and SIZEs of one symbol, each once. */
void wick_ty_unknowns(wick_types *t, wick_ty *a, wick_ty_list *out);
/* Makes unknowns above the level generic. */
void wick_ty_generalize(wick_types *t, wick_ty *a, uint32_t level);
/* Whether the type has generic unknowns (or flexible ones). */
bool wick_ty_generic(wick_types *t, wick_ty *a);
/* Replaces the variables of a data type's declaration by arguments. */
wick_ty *wick_ty_substitute(wick_types *t, wick_ty *a, uint32_t n, wick_ty *const *from,
                            wick_ty *const *to);

/* Prints types; unknowns get the names that `p` remembers. */
typedef struct wick_ty_printer {
  wick_types *t;
  wick_text *out;
  wick_list(const void *) var;
  wick_list(wick_dim) size;
  bool words; /* for messages: an unknown element type is "number", "float" or "integer" */
} wick_ty_printer;
void wick_ty_print(wick_ty_printer *p, wick_ty *a);
void wick_ty_print_dim(wick_ty_printer *p, wick_dim d);
const char *wick_ty_text(wick_types *t, wick_ty *a);

#endif
