/* Structure of functions at every level: constants, tuples, calls, branches, loops over values,
 * terminators. */
#include "ir/build.h"
#include "ir/element.h"
#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/simplify.h"

enum { STRUCTURE_ALL = WICK_GRAPH | WICK_GROUP | WICK_LOW | WICK_LOOP };

/* ---- const ---- */

/* A constant of the module may be a tensor, or the buffer in the constant space that holds it. */
static wick_status const_of_module(const wick_infer *c, const wick_type_info *want)
{
  const wick_constant *k =
      wick_constant_get(c->module, c->attr[WICK_ATTR_const_value].imm.constant);
  const wick_type_info *have = wick_type_get(c->module, k->type);
  bool same = wick_type_eq(k->type, c->want[0]);
  if (want->kind == WICK_BUFFER && want->space == WICK_CONSTANT && !want->stride &&
      want->elem == have->elem && want->rank == have->rank) {
    same = true;
    for (uint32_t i = 0; i < have->rank; i++)
      same = same && wick_dim_eq(have->dim[i], want->dim[i]);
  }
  return same ? NULL : wick_infer_fail(c, WICK_ETYPE, "the constant @%s has another type", k->name);
}

static wick_status const_infer(wick_infer *c)
{
  const wick_type_info *t = wick_type_get(c->module, c->want[0]);
  const wick_imm *imm = &c->attr[WICK_ATTR_const_value].imm;
  if (imm->constant >= c->module->constants.n)
    return wick_infer_fail(c, WICK_EINTERNAL, "this constant does not exist");
  if (imm->constant) WICK_TRY(const_of_module(c, t));
  if (!imm->constant && t->kind != WICK_TENSOR && t->kind != WICK_SCALAR)
    return wick_infer_fail(c, WICK_ETYPE, "a number is a tensor or a scalar");
  wick_dim n = wick_type_numel(c->module, c->want[0]);
  bool whole = wick_elem_is_int(t->elem) || t->elem == WICK_BOOL;
  if (!whole || !wick_dim_is_const(n) || n.v > WICK_MAX_CONTENT || t->kind != WICK_TENSOR ||
      n.v < 0)
    return NULL; /* wick_infer_node refuses negative sizes */
  const void *data = imm->constant ? wick_constant_get(c->module, imm->constant)->data : NULL;
  if (imm->constant && !data) return NULL;
  wick_dim *content = wick_new(&c->module->mem, wick_dim, (size_t)n.v);
  for (int64_t k = 0; k < n.v; k++) {
    content[k] = wick_dim_const(data ? wick_load_int(t->elem, data, (uint64_t)k) : imm->i);
    /* the lowest integers are handles of expressions */
    if (!wick_dim_is_const(content[k])) return NULL;
  }
  c->out[0].content = content;
  c->out[0].ncontent = (uint32_t)n.v;
  return NULL;
}

const wick_op wick_op_const = {
    .name = "const",
    .doc = "A constant of the module, or a single number that every element has",
    .nout = {1, 1},
    .attr = {{"value", WICK_ATTR_CONST, 0, true, NULL, 0, 0}},
    .level = STRUCTURE_ALL,
    .typed = true,
    .simplify = wick_simplify_const,
    .infer = const_infer,
    .grad = wick_grad_zero,
};

/* ---- tuples ---- */

static wick_status tuple_infer(wick_infer *c)
{
  wick_type *item = wick_new(c->mem, wick_type, c->nin);
  for (uint32_t i = 0; i < c->nin; i++) item[i] = c->in[i]->type;
  c->out[0].type = wick_type_tuple(c->module, c->nin, item);
  return NULL;
}

const wick_op wick_op_tuple = {
    .name = "tuple",
    .doc = "The operands as one value",
    .nin = {0, WICK_ANY},
    .nout = {1, 1},
    .objects = true,
    .level = WICK_GRAPH,
    .infer = tuple_infer,
    .grad = wick_grad_none,
    .batch.run = wick_batch_rows,
};

static wick_status item_infer(wick_infer *c)
{
  const wick_type_info *t = wick_type_get(c->module, c->in[0]->type);
  int64_t i = c->attr[WICK_ATTR_tuple_get_index].i;
  if (t->kind != WICK_TUPLE) return wick_infer_fail(c, WICK_ETYPE, "the operand is not a tuple");
  if (i < 0 || i >= t->nitem)
    return wick_infer_fail(c, WICK_ETYPE, "item %lld of a tuple of %u", (long long)i, t->nitem);
  c->out[0].type = t->item[i];
  return NULL;
}

const wick_op wick_op_tuple_get = {
    .name = "tuple_get",
    .doc = "One item of a tuple",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"index", WICK_ATTR_INT, 0, true, NULL, 0, 0}},
    .objects = true,
    .level = WICK_GRAPH,
    .infer = item_infer,
    .grad = wick_grad_none,
    .batch.run = wick_batch_rows,
};

/* ---- calls ---- */

/* Returns whether a value of type b can be passed as one of type a. Buffers may be in another
 * space: a procedure reads those of its caller. */
static bool call_passes(const wick_infer *c, wick_type a, wick_type b)
{
  const wick_type_info *x = wick_type_get(c->module, a), *y = wick_type_get(c->module, b);
  if (wick_type_eq(a, b)) return true;
  bool same = x->kind == WICK_BUFFER && y->kind == WICK_BUFFER && x->elem == y->elem &&
              x->rank == y->rank && !x->stride == !y->stride;
  for (uint32_t k = 0; same && k < x->rank; k++)
    same = wick_dim_eq(x->dim[k], y->dim[k]) &&
           (!x->stride || wick_dim_eq(x->stride[k], y->stride[k]));
  return same;
}

/* Returns whether the call is one of a graph, on values that are no registers and no buffers. */
static bool call_of_graph(const wick_infer *c)
{
  for (uint32_t i = 0; i < c->nin + c->nwant; i++) {
    wick_kind k = wick_type_get(c->module, i < c->nin ? c->in[i]->type : c->want[i - c->nin])->kind;
    if (k == WICK_SCALAR || k == WICK_BUFFER) return false;
  }
  return true;
}

static wick_status call_infer(wick_infer *c)
{
  const wick_func *f = c->callee;
  /* A function that is defined later in the text: the verifier checks the call. */
  if (!f) return NULL;
  const wick_node *r = wick_return(f);
  /* Graphs become low functions one after the other: the call is checked when both have. */
  if (c->nin + c->nwant && (f->level == WICK_GRAPH) != call_of_graph(c)) return NULL;
  if (f->level == WICK_LOOP && !f->procedure)
    return wick_infer_fail(c, WICK_ETYPE, "@%s is a kernel, which is not called", f->name);
  if (f->nparam != c->nin)
    return wick_infer_fail(c, WICK_ETYPE, "@%s takes %u operands, %u are given", f->name, f->nparam,
                           c->nin);
  for (uint32_t i = 0; i < c->nin; i++)
    if (!call_passes(c, f->value[i + 1].type, c->in[i]->type))
      return wick_infer_fail(c, WICK_ETYPE, "operand %u is not of the type that @%s takes", i,
                             f->name);
  if (r->nin != c->nwant)
    return wick_infer_fail(c, WICK_ETYPE, "@%s has %u results", f->name, r->nin);
  for (uint32_t i = 0; i < r->nin; i++)
    if (!call_passes(c, wick_type_of(f, r->in[i]), c->want[i]))
      return wick_infer_fail(c, WICK_ETYPE, "result %u does not have the type that @%s returns", i,
                             f->name);
  return NULL;
}

const wick_op wick_op_call = {
    .name = "call",
    .doc = "Calls another function of the module and gives its results. The callee of a low or "
           "loop function takes scalars and buffers, writes those that are results, and returns "
           "scalars. A call that is nested too deep for the stack fails the run",
    .nin = {0, WICK_ANY},
    .nout = {0, WICK_ANY},
    .attr = {{"callee", WICK_ATTR_FUNC, 0, true, NULL, 0, 0}},
    .objects = true,
    .level = WICK_GRAPH | WICK_LOW | WICK_LOOP,
    .effect = WICK_MAY_FAIL,
    .typed = true,
    .unfusable = true,
    .infer = call_infer,
    .grad = wick_grad_call,
    .batch.run = wick_batch_rows,
};

/* ---- branches and loops over values ---- */

static wick_status structure_is_bool(const wick_infer *c, wick_type t, const char *what)
{
  const wick_type_info *info = wick_type_get(c->module, t);
  bool one = info->kind == WICK_SCALAR
                 ? info->lanes == 1
                 : (info->kind == WICK_TENSOR || info->kind == WICK_BUFFER) && info->rank == 0;
  return info->elem == WICK_BOOL && one
             ? NULL
             : wick_infer_fail(c, WICK_ETYPE, "%s is not one bool", what);
}

static wick_status if_infer(wick_infer *c)
{
  WICK_TRY(structure_is_bool(c, c->in[0]->type, "the condition"));
  if (c->nyield[0] != c->nyield[1])
    return wick_infer_fail(c, WICK_ETYPE, "the branches yield %u and %u values", c->nyield[0],
                           c->nyield[1]);
  for (uint32_t i = 0; i < c->nyield[0]; i++) {
    if (!wick_type_eq(c->yield[0][i], c->yield[1][i]))
      return wick_infer_fail(c, WICK_ETYPE, "value %u has another type in the other branch", i);
    c->out[i].type = c->yield[0][i];
  }
  if (c->nregionparam[0] || c->nregionparam[1])
    return wick_infer_fail(c, WICK_ETYPE, "branches have no parameters");
  c->nout = c->nyield[0];
  return NULL;
}

const wick_op wick_op_if = {
    .name = "if",
    .doc = "Runs the first region if the condition is true, else the second, and gives the values "
           "that this region yields. `then_equal` and `else_equal` hold pairs of sizes that the "
           "region relies on to be equal; the run fails if they differ",
    .nin = {1, 1},
    .nout = {0, WICK_ANY},
    .attr = {{"then_equal", WICK_ATTR_DIMS, 0, false, NULL, 0, 0},
             {"else_equal", WICK_ATTR_DIMS, 0, false, NULL, 0, 0}},
    .nregion = {2, 2},
    .level = STRUCTURE_ALL,
    .infer = if_infer,
    .grad = wick_grad_if,
};

/* Checks the carried values of region r. They are the operands from `first`, the region's
 * parameters from `param`, and its yields from `yield`; `behind` further yields follow. */
static wick_status structure_carried(wick_infer *c, uint32_t r, uint32_t first, uint32_t param,
                                     uint32_t yield, uint32_t behind)
{
  uint32_t n = c->nin - first;
  if (c->nregionparam[r] != param + n)
    return wick_infer_fail(c, WICK_ETYPE, "region %u takes %u values, expected %u", r,
                           c->nregionparam[r], param + n);
  if (c->nyield[r] != yield + n + behind)
    return wick_infer_fail(c, WICK_ETYPE, "region %u yields %u values, expected %u", r,
                           c->nyield[r], yield + n + behind);
  for (uint32_t i = 0; i < n; i++) {
    wick_type t = c->in[first + i]->type;
    if (!wick_type_eq(t, c->param[r][param + i]) || !wick_type_eq(t, c->yield[r][yield + i]))
      return wick_infer_fail(c, WICK_ETYPE, "carried value %u changes its type", i);
    c->out[i].type = t;
  }
  c->nout = n;
  return NULL;
}

/* Infers the stacked results: the values that region 0 yields after the carried ones, from all
 * iterations. */
static wick_status loop_stacked(wick_infer *c, uint32_t nstacked)
{
  wick_dim dim[WICK_MAX_RANK];
  if (c->attr[WICK_ATTR_loop_most].n > 1)
    return wick_infer_fail(c, WICK_ETYPE, "most has %u numbers, expected 1",
                           c->attr[WICK_ATTR_loop_most].n);
  dim[0] = wick_loop_most(c->attr);
  for (uint32_t k = 0; k < nstacked; k++) {
    const wick_type_info *t = wick_type_get(c->module, c->yield[0][c->nout + 1]);
    if (t->kind != WICK_TENSOR || t->rank == WICK_MAX_RANK)
      return wick_infer_fail(c, WICK_ETYPE, "stacked value %u is not a tensor of rank %d or less",
                             k, WICK_MAX_RANK - 1);
    for (uint32_t i = 0; i < t->rank; i++) dim[1 + i] = t->dim[i];
    c->out[c->nout++].type = wick_type_tensor(c->module, t->elem, t->rank + 1u, dim);
  }
  return NULL;
}

static bool loop_buffer(const wick_infer *c, uint32_t i, wick_elem e)
{
  const wick_type_info *t = c->in[i] ? wick_type_get(c->module, c->in[i]->type) : NULL;
  return t && t->kind == WICK_BUFFER && t->elem == e && t->rank == 0;
}

/* Checks a loop on buffers. It carries no values: the region reads and writes buffers. */
static wick_status loop_of_buffers(const wick_infer *c)
{
  if (c->nin > 3 || !loop_buffer(c, 0, WICK_I64) ||
      (c->nin > 1 && c->in[1] && !loop_buffer(c, 1, WICK_I64)) ||
      (c->nin > 2 && c->in[2] && !loop_buffer(c, 2, WICK_BOOL)))
    return wick_infer_fail(c, WICK_ETYPE,
                           "expected buffers of the count, i64[], of the index, i64[], and of "
                           "whether the loop continues, bool[]");
  return c->nregionparam[0] || c->nyield[0]
             ? wick_infer_fail(c, WICK_ETYPE, "on buffers the region takes and yields nothing")
             : NULL;
}

static wick_status loop_infer(wick_infer *c)
{
  wick_type count = wick_type_tensor(c->module, WICK_I64, 0, NULL);
  uint32_t nstacked = (uint32_t)c->attr[WICK_ATTR_loop_stacked].i;
  if (wick_type_get(c->module, c->in[0]->type)->kind == WICK_BUFFER) return loop_of_buffers(c);
  if (!wick_type_eq(c->in[0]->type, count))
    return wick_infer_fail(c, WICK_ETYPE, "the count is not i64[]");
  WICK_TRY(structure_carried(c, 0, 1, 1, 1, nstacked));
  if (!wick_type_eq(c->param[0][0], count))
    return wick_infer_fail(c, WICK_ETYPE, "the region's first parameter is not i64[]");
  WICK_TRY(structure_is_bool(c, c->yield[0][0], "the first value that the region yields"));
  return loop_stacked(c, nstacked);
}

const wick_op wick_op_loop = {
    .name = "loop",
    .doc = "Runs its region for the iterations 0 .. count-1 while the first value that the region "
           "yields is true. The other values are carried to the next iteration, except for the "
           "last `stacked`, which are stacked along a new first dimension of size `most`. "
           "Iterations that do not run leave 0 there; the run fails if count is above `most`. On "
           "buffers the operands are count, the buffer that receives the index before each "
           "iteration, and the buffer with the condition, which is read after each iteration; the "
           "run fails there, too, if count is above `most`",
    .nin = {1, WICK_ANY},
    .nout = {0, WICK_ANY},
    .nregion = {1, 1},
    .attr = {{"stacked", WICK_ATTR_INT, 0, false, NULL, 0, 0xffff},
             {"most", WICK_ATTR_DIMS, 0, false, NULL, 0, 0}},
    .objects = true,
    .level = WICK_GRAPH | WICK_LOW,
    .infer = loop_infer,
    .grad = wick_grad_loop,
};

static wick_status for_infer(wick_infer *c)
{
  wick_type index = wick_type_scalar(c->module, WICK_I64, 1);
  for (uint32_t i = 0; i < 2; i++)
    if (!wick_type_eq(c->in[i]->type, index))
      return wick_infer_fail(c, WICK_ETYPE, "operand %u is not an i64", i);
  if (c->attr[WICK_ATTR_for_step].i < 1)
    return wick_infer_fail(c, WICK_ERANGE, "step is %lld, expected 1 or more",
                           (long long)c->attr[WICK_ATTR_for_step].i);
  WICK_TRY(structure_carried(c, 0, 2, 1, 0, 0));
  if (!wick_type_eq(c->param[0][0], index))
    return wick_infer_fail(c, WICK_ETYPE, "the region's first parameter is not i64");
  return NULL;
}

const wick_op wick_op_for = {
    .name = "for",
    .doc = "Runs its region for lo, lo + step, ... below hi. The values that the region yields "
           "are carried to the next iteration",
    .nin = {2, WICK_ANY},
    .nout = {0, WICK_ANY},
    .nregion = {1, 1},
    .attr = {{"step", WICK_ATTR_INT, 1, false, NULL, 0, 0}},
    .level = WICK_GROUP | WICK_LOOP,
    .infer = for_infer,
};

static wick_status while_infer(wick_infer *c)
{
  if (c->nyield[0] != 1)
    return wick_infer_fail(c, WICK_ETYPE, "the first region must yield only the condition");
  WICK_TRY(structure_is_bool(c, c->yield[0][0], "the condition"));
  if (c->nregionparam[0] != c->nin)
    return wick_infer_fail(c, WICK_ETYPE, "the first region takes the carried values");
  for (uint32_t i = 0; i < c->nin; i++)
    if (!wick_type_eq(c->param[0][i], c->in[i]->type))
      return wick_infer_fail(c, WICK_ETYPE, "carried value %u changes its type", i);
  return structure_carried(c, 1, 0, 0, 0, 0);
}

const wick_op wick_op_while = {
    .name = "while",
    .doc = "While the first region yields true, the second region maps the carried values to "
           "their next values",
    .nin = {0, WICK_ANY},
    .nout = {0, WICK_ANY},
    .nregion = {2, 2},
    .level = WICK_GROUP | WICK_LOOP,
    .infer = while_infer,
};

/* ---- terminators ---- */

const wick_op wick_op_yield = {
    .name = "yield",
    .doc = "Ends a region and gives its values to the node around it",
    .nin = {0, WICK_ANY},
    .level = STRUCTURE_ALL,
    .terminator = true,
    .grad = wick_grad_none,
};

const wick_op wick_op_return = {
    .name = "return",
    .doc = "Ends a function and gives its results",
    .nin = {0, WICK_ANY},
    .level = STRUCTURE_ALL,
    .terminator = true,
    .grad = wick_grad_none,
};
