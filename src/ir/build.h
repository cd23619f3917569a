/* The builder of functions. Callers need not check each call: the builder keeps the first failure,
 * every later call returns value 0, and wick_build_end reports the failure. Begin with
 * wick_build_begin and wick_build.
 *
 * A node with regions is opened, its regions filled, then closed:
 *   wick_build_open(b, WICK_OP_if, 1, &cond, NULL, 0, NULL);
 *   wick_region_begin(b, 0, NULL);  ... wick_yield(b, 1, &x);
 *   wick_region_begin(b, 0, NULL);  ... wick_yield(b, 1, &y);
 *   wick_value r = wick_build_close(b); */
#ifndef WICK_IR_BUILD_H
#define WICK_IR_BUILD_H

#include "ir/ir.h"
#include "ir/op.h"

enum { WICK_MAX_DEPTH = 200 }; /* nested regions */

struct wick_open_node;
struct wick_builder {
  wick_module *module;
  wick_arena *mem; /* of the function */
  const char *name;
  wick_level level;
  bool procedure; /* the function's; one that returns scalars is a procedure, too */
  wick_loc loc;   /* given to the nodes that are built */
  /* of the target's registers, for expansions that choose a layout; 0: there is no target yet */
  uint32_t vector_bytes;
  wick_status status; /* the first failure */
  uint32_t nparam;
  wick_list(wick_node) nodes;
  wick_list(wick_value_info) values; /* at[0] is unused */
  wick_list(wick_qualifier) quals;
  wick_list(struct wick_open_node *) open; /* the nodes whose regions are being built */
  wick_value_info *infer_out;              /* storage for the results of inference */
  wick_list(wick_shape_constraint) constraints,
      branch_constraints; /* those of branches that are built; code outside must not rely on them */
  const char *schedule, *contract;
  wick_value fold_state; /* of wick_fold_begin */
  wick_opcode fold_op;
};

void wick_build_begin(wick_builder *b, wick_module *m, wick_level level, const char *name,
                      wick_arena *mem);
wick_value wick_build_param(wick_builder *b, wick_type type, wick_qualifier qual,
                            const char *name); /* before any node */

/* Builds one node without regions and returns its first result. `attr` has as many elements as the
 * operator declares, or is NULL for defaults. `want` has the result types of a typed operator, else
 * it is NULL. Constants are not folded here. */
wick_value wick_build(wick_builder *b, wick_opcode op, uint32_t nin, const wick_value *in,
                      const wick_attr *attr, uint32_t nwant, const wick_type *want);

void wick_build_open(wick_builder *b, wick_opcode op, uint32_t nin, const wick_value *in,
                     const wick_attr *attr, uint32_t nwant, const wick_type *want);
wick_value wick_region_begin(wick_builder *b, uint32_t nparam,
                             const wick_type *type); /* returns the first parameter */
void wick_yield(wick_builder *b, uint32_t n, const wick_value *v);
/* Sets the result types of the open node, if they are known only after its regions. */
void wick_build_want(wick_builder *b, uint32_t nwant, const wick_type *want);
/* Sets the attributes of the open node, if they are known only after its regions. */
void wick_build_attrs(wick_builder *b, const wick_attr *attr);
wick_value wick_build_close(wick_builder *b);
void wick_build_return(wick_builder *b, uint32_t n, const wick_value *v);

/* Completes the function, whose `return` must have been built. Removes pure nodes without uses. The
 * function lives in b->mem. */
WICK_CHECKED wick_status wick_build_end(wick_builder *b, wick_func **out);

/* For the copier. The attributes must be complete and in the module; the types are not inferred. */
wick_value wick_build_raw(wick_builder *b, const wick_node *like, const wick_value *in,
                          const wick_value_info *results);

/* Adds a constraint that x and y are equal (shape_constraint.c). Fails if they never are. Adds
 * nothing if they always are, or if the constraint exists. */
void wick_build_shape_constraint(wick_builder *b, wick_dim x, wick_dim y, wick_loc loc);
/* Turns the constraints from index `from` on, which were added while a branch was built, into
 * constraints of that branch. Returns them as pairs of sizes, for an attribute of `if`. */
wick_dim_list wick_build_branch_constraints(wick_builder *b, uint32_t from);
/* Sets attribute i of the open node. */
void wick_build_open_attr(wick_builder *b, uint32_t i, wick_dim_list dims);
/* Adds the pairs of a branch that is always taken as constraints of the function. */
void wick_build_taken(wick_builder *b, const wick_attr *pairs, wick_loc loc);
void wick_build_keep_constraints(
    wick_builder *b, const wick_func *f); /* f: the function of which this is a new version */

void wick_build_fail(wick_builder *b, wick_code code, const char *fmt, ...) WICK_PRINTF(3, 4);
void wick_build_name(wick_builder *b, wick_value v, uint32_t name, wick_relation r);

static inline wick_type wick_built_type(const wick_builder *b, wick_value v)
{
  return b->values.at[v.id].type;
}
const wick_type_info *wick_built_info(const wick_builder *b, wick_value v);
/* Returns true if v is a float that is known, or a vector of such floats. */
bool wick_built_number(const wick_builder *b, wick_value v, double *out);

/* ---- shorthands; attributes have their defaults ---- */
wick_value wick_build1(wick_builder *b, wick_opcode op, wick_value x);
wick_value wick_build2(wick_builder *b, wick_opcode op, wick_value x, wick_value y);
wick_value wick_build3(wick_builder *b, wick_opcode op, wick_value x, wick_value y, wick_value z);
wick_value wick_build_cast(wick_builder *b, wick_value x,
                           wick_elem to); /* returns x if it has that type */
wick_value wick_build_reshape(wick_builder *b, wick_value x, uint32_t rank, const wick_dim *dim);
wick_value wick_build_transpose(wick_builder *b, wick_value x, uint32_t rank, const int64_t *perm);
wick_value wick_build_swap(wick_builder *b, wick_value x); /* swaps the last two dimensions */
wick_value wick_build_concat(wick_builder *b, uint32_t axis, uint32_t n, const wick_value *in);
/* Builds another value that equals x. */
wick_value wick_build_again(wick_builder *b, wick_value x);
/* step: NULL for 1 along all axes. */
wick_value wick_build_slice(wick_builder *b, wick_value x, uint32_t rank, const wick_dim *begin,
                            const wick_dim *shape, const int64_t *step);
/* Slices one axis; the other axes stay whole. */
wick_value wick_build_slice_axis(wick_builder *b, wick_value x, uint32_t axis, wick_dim begin,
                                 wick_dim size, int64_t step);
/* Builds a value of the data type `type`: constructor `ctor`, from 0, with its fields. */
wick_value wick_build_construct(wick_builder *b, wick_type type, uint32_t ctor, uint32_t n,
                                const wick_value *field);
/* Builds an immediate. wick_build_like uses x's element type (rank 0 for tensors, x's lanes for
 * scalars). */
wick_value wick_build_const(wick_builder *b, wick_type type, double f, int64_t i);
wick_value wick_build_like(wick_builder *b, wick_value x, double number);
wick_value wick_build_constant(wick_builder *b, uint32_t constant); /* a constant of the module */
wick_value wick_build_i64(wick_builder *b, int64_t i); /* loop level and stage bodies */
/* Builds a `fail`: detail is an index or an element among `of`, if that is constant and not 0. */
void wick_build_failure(wick_builder *b, wick_code code, wick_value bad, wick_value detail,
                        wick_dim of);
/* A choice, by an index, of one of `count` positions that are `step` elements apart (operator
 * `view`). */
typedef struct wick_picked {
  wick_value index; /* 0: no choice */
  int64_t step, count;
  bool reverse;
} wick_picked;
/* Builds a view of x's memory from `offset` on, in elements of `type`. `choice` may be NULL. */
wick_value wick_build_view(wick_builder *b, wick_value x, wick_type type, int64_t offset,
                           const wick_picked *choice);
wick_picked wick_view_choice(const wick_node *view);
/* Returns the number of operands of a launch that its kernel gets. If the number of tasks is not
 * constant, it is one more operand after them. */
static inline uint32_t wick_launch_nslot(const wick_node *launch)
{
  return launch->attr[WICK_ATTR_launch_tasks].i < 0 ? launch->nin - 1u : launch->nin;
}

/* Stages (groups). An axis has a name and an extent; the tensors' element types are the results'
 * types. */
wick_axis wick_make_axis(wick_builder *b, const char *name, wick_dim extent, bool reduce);
void wick_map_begin(wick_builder *b, const char *name, uint32_t naxis, const wick_axis *axis,
                    uint32_t nout, const wick_type *out);
/* The same. `bound` is the contract's text for approximate results, or NULL. */
void wick_map_begin_within(wick_builder *b, const char *bound, const char *name, uint32_t naxis,
                           const wick_axis *axis, uint32_t nout, const wick_type *out);
wick_value wick_map_end(wick_builder *b, uint32_t n,
                        const wick_value *v); /* yields, closes, returns the first result */
/* Sets *out to the axes of the stage whose body is being built; returns their number. */
uint32_t wick_build_axes(const wick_builder *b, const wick_axis **out);
/* Reads an element inside a stage's body. `index` has an expression in the axes' symbols for each
 * dimension; WICK_DIM_ANY stands for the next of `any`. `otherwise` is the value outside the
 * tensor's bounds, or 0. */
wick_value wick_read(wick_builder *b, wick_value tensor, const wick_dim *index, uint32_t nany,
                     const wick_value *any, wick_value otherwise);
wick_value wick_index(wick_builder *b, wick_dim expr); /* the expression's value as an i64 */
/* Loop nests. begin returns the first of the results as the region sees them; end closes the nest
 * and returns its first result. get and put have the same index arguments as wick_read. */
wick_value wick_loop_nest_begin(wick_builder *b, const char *name, uint32_t naxis,
                                const wick_axis *axis, uint32_t nout, const wick_type *out);
wick_value wick_loop_nest_end(wick_builder *b);
wick_value wick_get(wick_builder *b, wick_value tensor, const wick_dim *index, uint32_t nany,
                    const wick_value *any);
void wick_put(wick_builder *b, wick_value tensor, const wick_dim *index, uint32_t nany,
              const wick_value *any, wick_value v);
/* Loops and branches inside loop nests. begin returns the index, whose successors are the carried
 * values; end yields their next values and returns the first result. */
wick_value wick_for_begin(wick_builder *b, wick_value lo, wick_value hi, uint32_t n,
                          const wick_value *init);
/* As wick_for_begin, from 0 to the expression's value. */
wick_value wick_for_size_begin(wick_builder *b, wick_dim size, uint32_t n, const wick_value *first);
/* Opens loops over these sizes, without values, and returns their indices; each ends by
 * wick_for_end. */
void wick_for_sizes_begin(wick_builder *b, uint32_t n, const wick_dim *size, wick_value *index);
wick_value wick_for_end(wick_builder *b, uint32_t n, const wick_value *next);
/* begin returns the first carried value for the condition's region. body gets the condition and
 * returns the first carried value for the loop's body. `like` has values of the carried types. */
wick_value wick_while_begin(wick_builder *b, uint32_t n, const wick_value *init);
wick_value wick_while_body(wick_builder *b, wick_value condition, uint32_t n,
                           const wick_value *like);
wick_value wick_while_end(wick_builder *b, uint32_t n, const wick_value *next);
/* Each branch yields values of the types of `like`. */
void wick_if_begin(wick_builder *b, wick_value condition, uint32_t n, const wick_value *like);
void wick_if_else(wick_builder *b, uint32_t n, const wick_value *then);
wick_value wick_if_end(wick_builder *b, uint32_t n, const wick_value *otherwise);
/* The usual folds: sum, prod, max, min, and, or. The state and the result are one element of type
 * `out`. The caller builds the body of step between begin and end and passes the element, which
 * `op` combines with the state. The state begins with the neutral element of `op`. */
void wick_fold_begin(wick_builder *b, const char *name, uint32_t naxis, const wick_axis *axis,
                     wick_type out, wick_opcode op);
wick_value wick_fold_end(wick_builder *b, wick_value element);
/* Ends a sum (WICK_OP_add) whose step is state + x * y; a muladd for floats. */
wick_value wick_fold_end_muladd(wick_builder *b, wick_value x, wick_value y);
/* Builds the neutral element of an operator that folds can use (its field `neutral`), as a scalar or as
 * a tensor full of it. */
wick_value wick_build_neutral(wick_builder *b, wick_opcode op, wick_type type);
/* The general fold: open, then four regions in order: init(), step(state...), merge(state...,
 * state...), finish(state...). */
void wick_fold_open(wick_builder *b, const char *name, uint32_t naxis, const wick_axis *axis,
                    uint32_t nout, const wick_type *out);

#endif
