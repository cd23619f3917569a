/* The one builder. Building cannot be forgotten to be checked: the first failure stays in the
 * builder, every later call returns value 0, and wick_build_end reports it.
 *
 * A node with regions is opened, its regions filled, then closed:
 *   wick_build_open(b, WICK_OP_if, 1, &cond, NULL, 0, NULL);
 *   wick_region_begin(b, 0, NULL);  ... wick_yield(b, 1, &x);
 *   wick_region_begin(b, 0, NULL);  ... wick_yield(b, 1, &y);
 *   wick_value r = wick_build_close(b);                                                        */
#ifndef WICK_IR_BUILD_H
#define WICK_IR_BUILD_H

#include "ir/ir.h"
#include "ir/op.h"

enum { WICK_MAX_DEPTH = 200 }; /* of nested regions */

struct wick_open_node;
struct wick_builder {
  wick_module *module;
  wick_arena *mem; /* the function's */
  const char *name;
  wick_level level;
  wick_loc loc;       /* given to the nodes that are built */
  wick_status status; /* the first failure */
  uint32_t nparam;
  wick_list(wick_node) nodes;
  wick_list(wick_value_info) values; /* at[0] is unused */
  wick_list(wick_qualifier) quals;
  wick_list(struct wick_open_node *) open; /* the nodes whose regions are being built */
  wick_value_info *infer_out;              /* room for inference's results */
  wick_list(wick_shape_constraint) constraints,
      branch_constraints; /* those of branches that are built: others do not
                                                  rely on them */
  const char *schedule, *contract;
  wick_value fold_state; /* of wick_fold_begin */
  wick_opcode fold_op;
};

void wick_build_begin(wick_builder *b, wick_module *m, wick_level level, const char *name,
                      wick_arena *mem);
wick_value wick_build_param(wick_builder *b, wick_type type, wick_qualifier qual,
                            const char *name); /* before any node */

/* One node without regions. attr has as many as the row declares, or is NULL for defaults; want:
 * the result types of typed rows, else NULL. Returns the first result. Commutative scalar rows of
 * constants are not folded here. */
wick_value wick_build(wick_builder *b, wick_opcode op, uint32_t nin, const wick_value *in,
                      const wick_attr *attr, uint32_t nwant, const wick_type *want);

void wick_build_open(wick_builder *b, wick_opcode op, uint32_t nin, const wick_value *in,
                     const wick_attr *attr, uint32_t nwant, const wick_type *want);
wick_value wick_region_begin(wick_builder *b, uint32_t nparam,
                             const wick_type *type); /* returns the first parameter */
void wick_yield(wick_builder *b, uint32_t n, const wick_value *v);
/* The result types of the open node, where they are known only after its regions. */
void wick_build_want(wick_builder *b, uint32_t nwant, const wick_type *want);
/* The attributes of the open node: the same. */
void wick_build_attrs(wick_builder *b, const wick_attr *attr);
wick_value wick_build_close(wick_builder *b);
void wick_build_return(wick_builder *b, uint32_t n, const wick_value *v);

/* Ends with `return` built. Drops pure nodes without uses. The function lives in b->mem. */
WICK_CHECKED wick_status wick_build_end(wick_builder *b, wick_func **out);

/* For the copier: attr is in the module already and complete; types are taken as given, without
 * inference. */
wick_value wick_build_raw(wick_builder *b, const wick_node *like, const wick_value *in,
                          const wick_value_info *results);

/* check.c: sizes that must be equal. An error where they never are; nothing where they always are,
 * or where it has been said. */
void wick_build_shape_constraint(wick_builder *b, wick_dim x, wick_dim y, wick_loc loc);
/* The checks from `from` on, which were added while a branch was built, become its own: pairs of
 * sizes, for the row `if`. */
wick_dim_list wick_build_branch_constraints(wick_builder *b, uint32_t from);
/* Of the node that is open. */
void wick_build_open_attr(wick_builder *b, uint32_t i, wick_dim_list dims);
/* The pairs of a branch that is always taken: checks like others from here on. */
void wick_build_taken(wick_builder *b, const wick_attr *pairs, wick_loc loc);
void wick_build_keep_constraints(wick_builder *b,
                                 const wick_func *f); /* of which this is a version */

void wick_build_fail(wick_builder *b, wick_code code, const char *fmt, ...) WICK_PRINTF(3, 4);
void wick_build_name(wick_builder *b, wick_value v, uint32_t name, wick_relation r);

static inline wick_type wick_built_type(const wick_builder *b, wick_value v)
{
  return b->values.at[v.id].type;
}
const wick_type_info *wick_built_info(const wick_builder *b, wick_value v);

/* ---- shorthands; the row's attributes have their defaults ---- */
wick_value wick_build1(wick_builder *b, wick_opcode op, wick_value x);
wick_value wick_build2(wick_builder *b, wick_opcode op, wick_value x, wick_value y);
wick_value wick_build3(wick_builder *b, wick_opcode op, wick_value x, wick_value y, wick_value z);
wick_value wick_build_cast(wick_builder *b, wick_value x,
                           wick_elem to); /* x itself where it has that type */
wick_value wick_build_reshape(wick_builder *b, wick_value x, uint32_t rank, const wick_dim *dim);
wick_value wick_build_transpose(wick_builder *b, wick_value x, uint32_t rank, const int64_t *perm);
wick_value wick_build_swap(wick_builder *b, wick_value x); /* the last two dimensions */
wick_value wick_build_concat(wick_builder *b, uint32_t axis, uint32_t n, const wick_value *in);
/* x again, as a value of its own. */
wick_value wick_build_again(wick_builder *b, wick_value x);
/* step: NULL for 1 along all axes. */
wick_value wick_build_slice(wick_builder *b, wick_value x, uint32_t rank, const wick_dim *begin,
                            const wick_dim *shape, const int64_t *step);
/* All of the other axes. */
wick_value wick_build_slice_axis(wick_builder *b, wick_value x, uint32_t axis, wick_dim begin,
                                 wick_dim size, int64_t step);
/* An immediate. wick_build_like: of x's element type (rank 0 for tensors, x's lanes for scalars).
 */
wick_value wick_build_const(wick_builder *b, wick_type type, double f, int64_t i);
wick_value wick_build_like(wick_builder *b, wick_value x, double number);
wick_value wick_build_constant(wick_builder *b, uint32_t constant); /* a constant of the module */
wick_value wick_build_i64(wick_builder *b, int64_t i); /* loop level and stage bodies */
/* One of `count` places, `step` elements apart, that an index chooses (the row `view`). */
typedef struct wick_picked {
  wick_value index; /* 0: there is no choice */
  int64_t step, count;
  bool reverse;
} wick_picked;
/* x' memory from `offset`, in elements of `type`, on. choice: NULL: none. */
wick_value wick_build_view(wick_builder *b, wick_value x, wick_type type, int64_t offset,
                           const wick_picked *choice);
wick_picked wick_view_choice(const wick_node *view);
/* Operands of a launch that its kernel gets; after them stands the number of tasks where it is not
 * constant. */
static inline uint32_t wick_launch_nslot(const wick_node *launch)
{
  return launch->attr[WICK_ATTR_launch_tasks].i < 0 ? launch->nin - 1u : launch->nin;
}

/* Stages (groups). Axes are given by name and extent; the tensors' element types are the results'
 * types. */
wick_axis wick_make_axis(wick_builder *b, const char *name, wick_dim extent, bool reduce);
void wick_map_begin(wick_builder *b, const char *name, uint32_t naxis, const wick_axis *axis,
                    uint32_t nout, const wick_type *out);
/* The same, with what the contract says of results that only approximate (or NULL). */
void wick_map_begin_within(wick_builder *b, const char *bound, const char *name, uint32_t naxis,
                           const wick_axis *axis, uint32_t nout, const wick_type *out);
wick_value wick_map_end(wick_builder *b, uint32_t n,
                        const wick_value *v); /* yields, closes, returns the first result */
/* Those of the stage whose body is being built; returns how many. */
uint32_t wick_build_axes(const wick_builder *b, const wick_axis **out);
/* Inside a stage's body. index: rank of them, in the axes' symbols; WICK_DIM_ANY takes the next of
 * `any`. otherwise: 0, or the value outside the tensor's bounds. */
wick_value wick_read(wick_builder *b, wick_value tensor, const wick_dim *index, uint32_t nany,
                     const wick_value *any, wick_value otherwise);
wick_value wick_index(wick_builder *b, wick_dim expr); /* the expression's value as an i64 */
/* Walks: begin gives the first of the results as the region sees them; end closes it and gives the
 * first result. After get and put, as after read, comes what the index wants. */
wick_value wick_loop_nest_begin(wick_builder *b, const char *name, uint32_t naxis,
                                const wick_axis *axis, uint32_t nout, const wick_type *out);
wick_value wick_loop_nest_end(wick_builder *b);
wick_value wick_get(wick_builder *b, wick_value tensor, const wick_dim *index, uint32_t nany,
                    const wick_value *any);
void wick_put(wick_builder *b, wick_value tensor, const wick_dim *index, uint32_t nany,
              const wick_value *any, wick_value v);
/* Loops and branches of walks. begin gives the index, after it are the carried values; end yields
 * the next ones and gives the first result. */
wick_value wick_for_begin(wick_builder *b, wick_value lo, wick_value hi, uint32_t n,
                          const wick_value *init);
wick_value wick_for_end(wick_builder *b, uint32_t n, const wick_value *next);
/* begin gives the first carried value, for the condition; body, given that, the first for what
 * follows. like: values of the same types. */
wick_value wick_while_begin(wick_builder *b, uint32_t n, const wick_value *init);
wick_value wick_while_body(wick_builder *b, wick_value condition, uint32_t n,
                           const wick_value *like);
wick_value wick_while_end(wick_builder *b, uint32_t n, const wick_value *next);
/* Each branch gives values like these. */
void wick_if_begin(wick_builder *b, wick_value condition, uint32_t n, const wick_value *like);
void wick_if_else(wick_builder *b, uint32_t n, const wick_value *then);
wick_value wick_if_end(wick_builder *b, uint32_t n, const wick_value *otherwise);
/* The usual folds: state and result one element of type `elem`; the body of step is what the caller
 * builds between begin and end, and gives the element to combine: sum, prod, max, min, and, or by
 * `op` with its neutral element. */
void wick_fold_begin(wick_builder *b, const char *name, uint32_t naxis, const wick_axis *axis,
                     wick_type out, wick_opcode op);
wick_value wick_fold_end(wick_builder *b, wick_value element);
/* Of a sum (WICK_OP_add): the step is state + x * y; a muladd for floats. */
wick_value wick_fold_end_muladd(wick_builder *b, wick_value x, wick_value y);
/* The neutral element of a row by which folds combine (its column `neutral`), of a scalar type. */
wick_value wick_build_neutral(wick_builder *b, wick_opcode op, wick_type scalar);
/* The general form: open, then four regions in order: init(), step(state...), merge(state...,
 * state...), finish(state...). */
void wick_fold_open(wick_builder *b, const char *name, uint32_t naxis, const wick_axis *axis,
                    uint32_t nout, const wick_type *out);

#endif
