/* Promotes types: copies the function with f64 instead of narrower floats. */
#include "graph/promote_to_f64.h"

#include "ir/copy.h"
#include "ir/element.h"

static bool promote_to_f64_is_narrow(wick_elem e) { return wick_elem_is_float(e) && e != WICK_F64; }

static wick_type promote_to_f64_type(wick_module *m, wick_type type)
{
  const wick_type_info *t = wick_type_get(m, type);
  if (t->kind != WICK_TENSOR || !promote_to_f64_is_narrow(t->elem)) return type;
  return wick_type_tensor(m, WICK_F64, t->rank, t->dim);
}

/* Converts the results of n that are narrow floats to f64. */
static void promote_to_f64_results(wick_copier *c, const wick_node *n)
{
  for (uint32_t k = 0; k < n->nout; k++) {
    wick_value *v = &c->to[n->first.id + k];
    if (v->id && promote_to_f64_is_narrow(wick_built_info(&c->b, *v)->elem))
      *v = wick_build_cast(&c->b, *v, WICK_F64);
  }
}

/* Copies the node without change, between casts to and from its own types. */
static void promote_to_f64_around(wick_copier *c, const wick_node *n)
{
  wick_value *kept = wick_new(c->b.mem, wick_value, n->nin);
  for (uint32_t k = 0; k < n->nin; k++) kept[k] = c->to[n->in[k].id];
  for (uint32_t k = 0; k < n->nin; k++) {
    wick_elem e = wick_info_of(c->f, n->in[k])->elem;
    if (n->in[k].id && promote_to_f64_is_narrow(e))
      c->to[n->in[k].id] = wick_build_cast(&c->b, kept[k], e);
  }
  wick_copy_node(c, n);
  for (uint32_t k = 0; k < n->nin; k++) c->to[n->in[k].id] = kept[k];
  promote_to_f64_results(c, n);
}

static void promote_to_f64_const(wick_copier *c, const wick_node *n)
{
  wick_module *m = c->f->module;
  wick_type from = wick_type_of(c->f, n->first), to = promote_to_f64_type(m, from);
  const wick_imm *imm = wick_const_imm(n);
  if (wick_type_eq(from, to)) {
    wick_copy_node(c, n);
  } else if (!imm->constant) {
    c->to[n->first.id] = wick_build_const(&c->b, to, imm->f, imm->i);
  } else {
    const wick_constant old = *wick_constant_get(m, imm->constant);
    wick_elem e = wick_type_get(m, from)->elem;
    uint64_t count = old.nbytes * 8 / wick_elem_storage[e].bits;
    double *data = wick_module_alloc(m, count * sizeof *data);
    for (uint64_t k = 0; k < count; k++) data[k] = wick_load_elem(e, old.data, k).f;
    uint32_t constant = wick_constant_add(m, old.name, to, data, count * sizeof *data);
    c->to[n->first.id] = wick_build_constant(&c->b, constant);
  }
}

static void promote_to_f64_cast(wick_copier *c, const wick_node *n)
{
  wick_elem to = wick_info_of(c->f, n->first)->elem;
  c->b.loc = n->loc;
  c->to[n->first.id] =
      wick_build_cast(&c->b, c->to[n->in[0].id], promote_to_f64_is_narrow(to) ? WICK_F64 : to);
}

/* Returns true if the operator works on f64 as it does on narrower floats. */
static bool promote_to_f64_takes(const wick_node *n)
{
  const wick_op *op = wick_op_of(n);
  return !op->typed && !op->objects && n->op != WICK_OP_return &&
         (!op->elems || (op->elems & WICK_BIT(WICK_F64)));
}

wick_status wick_pass_promote_to_f64(const wick_pass_context *pass, const wick_func *f,
                                     wick_func **out)
{
  wick_arena *mem = pass->mem;
  wick_copier c = wick_copy_begin(f, mem);
  for (uint32_t p = 1; p <= f->nparam; p++)
    if (promote_to_f64_is_narrow(wick_built_info(&c.b, c.to[p])->elem))
      c.to[p] = wick_build_cast(&c.b, c.to[p], WICK_F64);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    if (n->nregion)
      return wick_fail(mem, WICK_EUNSUPPORTED, wick_loc_text(f->module, n->loc),
                       "control flow is not computed in f64");
    if (n->op == WICK_OP_const)
      promote_to_f64_const(&c, n);
    else if (n->op == WICK_OP_cast)
      promote_to_f64_cast(&c, n);
    else if (promote_to_f64_takes(n))
      wick_copy_node(&c, n);
    else
      promote_to_f64_around(&c, n);
  }
  return wick_copy_finish(&c, out);
}
