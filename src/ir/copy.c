/* The copier: replays a function into a builder. Types are copied as long as the operands' types
 * are the same. */
#include "ir/copy.h"

#include <assert.h>

/* `param` may be NULL: they stay in order. */
static void copy_params(wick_copier *c, const uint32_t *param)
{
  for (uint32_t k = 0; k < c->f->nparam; k++) {
    uint32_t i = 1 + (param ? param[k] : k);
    const wick_value_info *v = &c->f->value[i];
    c->to[i] = wick_build_param(&c->b, v->type, c->f->qual[i - 1], NULL);
    c->b.values.at[c->to[i].id] = *v;
  }
}

wick_copier wick_copy_begin(const wick_func *f, wick_arena *mem)
{
  return wick_copy_begin_in_order(f, NULL, mem);
}

wick_copier wick_copy_begin_in_order(const wick_func *f, const uint32_t *param, wick_arena *mem)
{
  wick_copier c = {.f = f, .to = wick_new(mem, wick_value, f->nvalue + 1)};
  wick_build_begin(&c.b, f->module, f->level, f->name, mem);
  c.b.procedure = f->procedure;
  c.b.schedule = f->schedule;
  c.b.contract = f->contract;
  wick_build_keep_constraints(&c.b, f);
  copy_params(&c, param);
  return c;
}

/* Copies the user's names of n's results. */
static void copy_names(wick_copier *c, const wick_node *n, wick_value first)
{
  for (uint32_t k = 0; first.id && k < n->nout; k++) {
    const wick_value_info *old = &c->f->value[n->first.id + k];
    c->to[n->first.id + k] = (wick_value){first.id + k};
    wick_build_name(&c->b, (wick_value){first.id + k}, old->name, old->relation);
  }
}

static bool copy_types_kept(const wick_copier *c, const wick_node *n, const wick_value *in)
{
  for (uint32_t i = 0; i < n->nin; i++) {
    const wick_value_info *a = &c->f->value[n->in[i].id], *b = &c->b.values.at[in[i].id];
    if (!wick_type_eq(a->type, b->type) || a->content != b->content) return false;
  }
  return true;
}

static wick_type copy_type(const wick_copier *c, wick_value v)
{
  return c->retype ? c->retype(c, v) : c->f->value[v.id].type;
}

static void copy_region_begin(wick_copier *c, const wick_node *n, uint32_t r)
{
  const wick_region *region = &n->region[r];
  wick_type few[16],
      *type = region->nparam <= 16 ? few : wick_new(c->b.mem, wick_type, region->nparam);
  for (uint32_t i = 0; i < region->nparam; i++)
    type[i] = copy_type(c, (wick_value){region->first.id + i});
  wick_value first = wick_region_begin(&c->b, region->nparam, type);
  for (uint32_t i = 0; first.id && i < region->nparam; i++)
    c->to[region->first.id + i] = (wick_value){first.id + i};
}

/* Returns the result types of n, which typed operators need; NULL for others, whose types are
 * inferred. */
static const wick_type *copy_want(wick_copier *c, const wick_node *n)
{
  wick_type *want = wick_new(c->b.mem, wick_type, n->nout);
  for (uint32_t k = 0; k < n->nout; k++) want[k] = copy_type(c, (wick_value){n->first.id + k});
  return want;
}

/* After a yield: continues with the next region of its node, or closes the node, and repeats
 * this outwards. */
static void copy_after_yield(wick_copier *c)
{
  wick_builder *b = &c->b;
  struct wick_copy_open *o = &c->open.at[c->open.n - 1];
  if (++o->region < o->node->nregion) {
    copy_region_begin(c, o->node, o->region);
    return;
  }
  const wick_node *n = o->node;
  c->open.n--;
  copy_names(c, n, wick_build_close(b));
}

void wick_copy_node(wick_copier *c, const wick_node *n)
{
  wick_builder *b = &c->b;
  if (b->status) return;
  wick_value few[16], *in = n->nin <= 16 ? few : wick_new(b->mem, wick_value, n->nin);
  for (uint32_t i = 0; i < n->nin; i++) in[i] = c->to[n->in[i].id];
  b->loc = n->loc;
  if (n->op == WICK_OP_return) {
    wick_build_return(b, n->nin, in);
  } else if (n->op == WICK_OP_yield) {
    wick_yield(b, n->nin, in);
    if (!b->status) copy_after_yield(c);
  } else if (n->nregion) {
    wick_build_open(b, n->op, n->nin, in, n->attr, n->nout, copy_want(c, n));
    wick_push(b->mem, &c->open, (struct wick_copy_open){n, 0});
    copy_region_begin(c, n, 0);
  } else if (copy_types_kept(c, n, in)) {
    copy_names(c, n, wick_build_raw(b, n, in, &c->f->value[n->first.id]));
  } else {
    copy_names(c, n, wick_copy_with(b, c->f, n, in));
  }
}

wick_value wick_copy_with(wick_builder *b, const wick_func *f, const wick_node *n,
                          const wick_value *in)
{
  const wick_op *op = wick_op_of(n);
  wick_type few[16], *want = n->nout <= 16 ? few : wick_new(b->mem, wick_type, n->nout);
  for (uint32_t k = 0; k < n->nout; k++) want[k] = f->value[n->first.id + k].type;
  return wick_build(b, n->op, n->nin, in, n->nattr ? n->attr : NULL, op->typed ? n->nout : 0,
                    op->typed ? want : NULL);
}

void wick_copy_opened(wick_copier *c, const wick_node *n)
{
  wick_builder *b = &c->b;
  wick_value *in = wick_new(b->mem, wick_value, n->nin + 1u);
  for (uint32_t k = 0; k < n->nin; k++) in[k] = c->to[n->in[k].id];
  b->loc = n->loc;
  wick_op_of(n)->expand(b, n, in, &c->to[n->first.id]);
  for (uint32_t k = 0; k < n->nout && !b->status; k++) {
    const wick_value_info *old = &c->f->value[n->first.id + k];
    wick_build_name(b, c->to[n->first.id + k], old->name, old->relation);
  }
}

wick_status wick_copy_finish(wick_copier *c, wick_func **out) { return wick_build_end(&c->b, out); }

wick_func *wick_copy_end(wick_copier *c)
{
  wick_func *f = NULL;
  wick_status s = wick_build_end(&c->b, &f);
  assert(!s && "a rewrite built an illegal node");
  (void)s;
  return f;
}
