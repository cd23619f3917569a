/* Interns strings: copies the function with i64 instead of string types. */
#include "graph/intern_strings.h"

#include "ir/copy.h"
#include "ir/op.h"

static bool intern_strings_is_text(const wick_func *f, wick_value v)
{
  const wick_type_info *t = wick_info_of(f, v);
  return t->kind == WICK_TENSOR && t->elem == WICK_STRING;
}

static wick_type intern_strings_type(const wick_func *f, wick_value v)
{
  const wick_type_info *t = wick_info_of(f, v);
  return intern_strings_is_text(f, v) ? wick_type_tensor(f->module, WICK_I64, t->rank, t->dim)
                                      : wick_type_of(f, v);
}

static wick_type intern_strings_retype(const wick_copier *c, wick_value old)
{
  return intern_strings_type(c->f, old);
}

static void intern_strings_name(wick_copier *c, wick_value from, wick_value to)
{
  const wick_value_info *info = &c->f->value[from.id];
  c->to[from.id] = to;
  wick_build_name(&c->b, to, info->name, info->relation);
}

/* Copies a constant, whose bytes already are numbers. */
static void intern_strings_const(wick_copier *c, const wick_node *n)
{
  wick_module *m = c->f->module;
  wick_type type = intern_strings_type(c->f, n->first);
  const wick_imm *imm = wick_const_imm(n);
  c->b.loc = n->loc;
  if (!imm->constant) {
    intern_strings_name(c, n->first, wick_build_const(&c->b, type, 0, imm->i));
    return;
  }
  const wick_constant old = *wick_constant_get(m, imm->constant);
  uint32_t k = wick_constant_add(m, old.name, type, old.data, old.nbytes);
  intern_strings_name(c, n->first, wick_build_constant(&c->b, k));
}

/* Copies a node whose result types are stated, with i64 for strings. */
static void intern_strings_typed(wick_copier *c, const wick_node *n)
{
  wick_value in[16];
  wick_type want[4];
  for (uint32_t k = 0; k < n->nin; k++) in[k] = c->to[n->in[k].id];
  for (uint32_t k = 0; k < n->nout; k++)
    want[k] = intern_strings_type(c->f, (wick_value){n->first.id + k});
  c->b.loc = n->loc;
  wick_value v = wick_build(&c->b, n->op, n->nin, in, n->nattr ? n->attr : NULL, n->nout, want);
  for (uint32_t k = 0; k < n->nout; k++)
    intern_strings_name(c, (wick_value){n->first.id + k}, (wick_value){v.id + k});
}

static wick_copier intern_strings_begin(const wick_func *f, wick_arena *mem)
{
  wick_copier c = {
      .f = f, .to = wick_new(mem, wick_value, f->nvalue + 1), .retype = intern_strings_retype};
  wick_build_begin(&c.b, f->module, f->level, f->name, mem);
  wick_build_keep_constraints(&c.b, f);
  for (uint32_t p = 1; p <= f->nparam; p++) {
    wick_value from = {p};
    intern_strings_name(&c, from,
                        wick_build_param(&c.b, intern_strings_type(f, from), f->qual[p - 1], NULL));
  }
  return c;
}

wick_status wick_pass_intern_strings(const wick_pass_context *pass, const wick_func *f,
                                     wick_func **out)
{
  wick_arena *mem = pass->mem;
  bool any = false;
  for (uint32_t v = 1; v <= f->nvalue; v++) any = any || intern_strings_is_text(f, (wick_value){v});
  wick_copier c = any ? intern_strings_begin(f, mem) : wick_copy_begin(f, mem);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    bool text = false;
    for (uint32_t k = 0; k < n->nin; k++)
      text = text || (n->in[k].id && intern_strings_is_text(f, n->in[k]));
    for (uint32_t k = 0; k < n->nout; k++)
      text = text || intern_strings_is_text(f, (wick_value){n->first.id + k});
    if (text && n->op == WICK_OP_const)
      intern_strings_const(&c, n);
    else if (text && wick_op_of(n)->typed && n->nin <= 16 && n->nout <= 4)
      intern_strings_typed(&c, n);
    else
      wick_copy_node(&c, n);
  }
  return wick_copy_finish(&c, out);
}
