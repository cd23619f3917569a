/* What the files of inference share. */
#ifndef WICK_LANG_INFER_STATE_H
#define WICK_LANG_INFER_STATE_H

#include <string.h>

#include "lang/infer.h"
#include "lang/literal.h"

typedef struct infer_number {
  const wick_ast *node; /* a literal */
  wick_ty *elem;
} infer_number;

typedef struct infer {
  wick_lang_program *p;
  wick_types *t;
  wick_arena *mem;
  wick_typed *typed;
  wick_list(wick_constraint) pending;
  wick_list(wick_ty *) literals;
  wick_list(infer_number) numbers;    /* whose element types are to have them */
  wick_list(const wick_ty *) tensors; /* names of signatures for any type that tensors are for */
  bool symbolic;                      /* static parameters are symbols in sizes, not `?` */
  bool last;       /* nothing more will become known: constraints choose, or are reported */
  uint32_t before; /* problems when the functions that are inferred together began */
} infer;

/* Returns whether to ask for a type that is not known. After another mistake it may be unknown for
 * that reason alone. */
static inline bool wick_infer_asks(const infer *s)
{
  return s->last && s->p->sources.problems.n == s->before;
}

/* ---- infer.c ---- */
wick_typed *wick_infer_typed(infer *s, wick_lang_entity *e);
/* Infers the body of a function or an op whose type is `f`; s->typed is its. */
void wick_infer_body(infer *s, const wick_lang_entity *e, wick_ty *f);
/* Gives literals whose type nothing decides their default, except those that the parameters of the
 * group's functions reach. */
void wick_infer_defaults(infer *s, uint32_t n, wick_lang_entity *const *group);

/* ---- infer_type.c ---- */
/* What the variables of all data types stand for, and then those of a function. */
void wick_infer_data_sorts(infer *s);
void wick_infer_sorts(infer *s, const wick_lang_entity *fn);
void wick_infer_data(infer *s, wick_lang_entity *e);
wick_ty *wick_infer_annotation(infer *s, wick_ast *n);
wick_ty *wick_infer_variable(infer *s, wick_lang_entity *e);
/* The size of a size expression or of a static index; INVALID if it depends on data. */
wick_dim wick_infer_size(infer *s, const wick_ast *n);
/* end - begin, where neither may be a size: `i + 3` is 3 more than `i`. INVALID: it is not known. */
wick_dim wick_infer_span(infer *s, const wick_ast *begin, const wick_ast *end);

/* ---- infer_scheme.c ---- */
/* A type with new unknowns for the generic ones, and with the constraints on them. */
wick_ty *wick_infer_instance(infer *s, const wick_scheme *c, wick_lang_at at);
/* The same for a use of a function or a constructor. */
wick_ty *wick_infer_use(infer *s, const wick_lang_entity *e, wick_lang_at at,
                        const wick_static *fixed);
/* The type of the function of f, whose static arguments are known: sizes of the signature that
 * depend on static parameters are `?` in `type`, and numbers in the result. */
wick_ty *wick_infer_signature(infer *s, const wick_typed *f, wick_ty *type);
void wick_infer_size_levels(infer *s, const wick_typed *f, uint32_t level);
/* Solves what it can of the constraints from `from` on, and makes the rest, which goes with the type,
 * part of its scheme. */
wick_scheme *wick_infer_generalize(infer *s, wick_ty *type, uint32_t from);
/* Makes the unknowns of the pending constraints above the level generic. */
void wick_infer_generalize_needs(infer *s, uint32_t from, uint32_t level);
/* Makes unknowns that functions of pending map_tensors capture, and that have become generic,
 * arguments of these constraints. */
void wick_infer_capture(infer *s, uint32_t n, wick_constraint *needs);
/* The type of a leaf's function for one more tensor. */
wick_ty *wick_infer_leaf(infer *s, const wick_constraint *c);

/* ---- instance.c ---- */
bool wick_infer_decided(infer *s, const wick_ast *n, bool *out);

/* ---- infer_expr.c ---- */
wick_ty *wick_infer_expr(infer *s, wick_ast *n);
void wick_infer_pattern(infer *s, wick_ast *n, wick_ty *t);
/* Unifies, or reports that `n` should have another type. `what`: "argument 1 of `f`"; NULL. */
bool wick_infer_expect(infer *s, const wick_ast *n, wick_ty *found, wick_ty *expected,
                       const char *what);
/* Says of the problem that was reported last how to leave sizes to the run. */
void wick_infer_help_sizes(infer *s);
wick_ty *wick_infer_field(infer *s, wick_ast *n, wick_ty *object);
wick_ty *wick_infer_literal_elem(infer *s, int literal);

/* ---- infer_call.c ---- */
wick_ty *wick_infer_call(infer *s, wick_ast *n);
wick_ty *wick_infer_operator(infer *s, wick_ast *n, const wick_lang_entity *e, uint32_t narg,
                             wick_ty **arg);
/* Whether n names a static parameter without a type, so that it may be a list of sizes. */
bool wick_infer_is_static_list(const wick_ast *n);
/* Adds the sizes among the attributes to the constraint's arguments, in the order of the call. */
void wick_infer_call_sizes(infer *s, const wick_ast *n, const wick_op *op, wick_constraint *c);
/* The type of a NAME that is no local. */
wick_ty *wick_infer_global(infer *s, wick_ast *n);
/* The cotangent of a type; NULL if it is not known yet. */
wick_ty *wick_infer_cotangent(infer *s, wick_ty *x);
/* The same, or an unknown that becomes it. */
wick_ty *wick_infer_cotangent_of(infer *s, const wick_ast *n, wick_ty *x);
bool wick_infer_static(infer *s, const wick_ast *n, const wick_static *fixed, wick_static *out);
/* The same for an argument of a static parameter, which may be a size, too. */
/* Returns the number that `size` is, or it, if that is not known yet. */
wick_static wick_infer_static_size(infer *s, wick_ty *size);
/* A list of items, known if all of them are. */
wick_static wick_infer_static_list(infer *s, wick_ast_kind kind, uint32_t n,
                                   const wick_static *item);
bool wick_infer_static_argument(infer *s, const wick_ast *n, wick_static *out);

/* ---- infer_constraint.c ---- */
void wick_infer_need(infer *s, wick_constraint_kind kind, const wick_ast *n,
                     const wick_lang_entity *e, uint32_t narg, wick_ty *const *arg);
/* Solves what can be solved; repeats while something becomes known. */
void wick_infer_solve(infer *s, uint32_t from);
/* Whether the size has unknowns that may become known. */
bool wick_infer_open_size(infer *s, wick_dim d);
void wick_infer_wrong(infer *s, const wick_constraint *c, const char *fmt, ...) WICK_PRINTF(3, 4);

/* Each returns whether the constraint is done, also by a report. */
bool wick_infer_solve_operator(infer *s, wick_constraint *c);
/* Gives literals among the operands the element type of the result, if the operator keeps it. */
void wick_infer_from_result(infer *s, wick_constraint *c);
bool wick_infer_solve_form(infer *s, wick_constraint *c);
bool wick_infer_solve_member(infer *s, wick_constraint *c);
bool wick_infer_solve_cotangent(infer *s, wick_constraint *c);
bool wick_infer_solve_batch(infer *s, wick_constraint *c);
bool wick_infer_solve_index(infer *s, wick_constraint *c);

/* ---- infer_notation.c ---- */
/* Infers the body of an `op` whose type is f. */
void wick_infer_index_op(infer *s, const wick_lang_entity *e, const wick_ty *f);
wick_ty *wick_infer_reduce(infer *s, wick_ast *n);
bool wick_infer_is_index(const wick_ast *n);
bool wick_infer_affine(infer *s, const wick_ast *n, wick_affine *out);
/* Adds what a condition says about indices if it holds, or not; returns false if it says more. */
bool wick_infer_guards(infer *s, const wick_ast *n, bool holds, wick_guards *out);
bool wick_infer_solve_inside(infer *s, wick_constraint *c);
bool wick_infer_solve_range(infer *s, wick_constraint *c);

/* ---- infer_effect.c ---- */
/* Of functions that call each other. A call of a function value adds that function's effect. */
void wick_infer_effects(infer *s, uint32_t n, wick_lang_entity *const *group);

/* ---- infer_match.c ---- */
void wick_infer_match(infer *s, const wick_ast *n, wick_ty *t);
void wick_infer_irrefutable(infer *s, const wick_ast *pattern, wick_ty *t);

#endif
