/* Calls: arguments by name, operators and their attributes. */
#include "lang/lower/state.h"

static const wick_ast *calls_params(const wick_lang_entity *e)
{
  if (!e) return NULL;
  if (e->kind == WICK_ENTITY_FN || e->kind == WICK_ENTITY_INDEX_OP) return e->decl->kid[0];
  return e->kind == WICK_ENTITY_CTOR ? e->decl : NULL;
}

/* Evaluates the arguments, from left to right, and places them by the names of the parameters.
 * Static ones are left out. Returns their number. */
static uint32_t calls_arguments(lowering *s, lowering_frame *f, const wick_ast *n,
                                const wick_ast *list, wick_static *fixed, const lowered **out)
{
  uint32_t count = 0, given = 0, nout = 0;
  uint32_t nparam = list ? list->nkid : n->nkid;
  const lowered **at = wick_new(s->tmp, const lowered *, nparam + n->nkid + 1u);
  for (uint32_t i = 1; i < n->nkid && !s->failed; i++) {
    wick_ast *k = n->kid[i];
    uint32_t to = given;
    if (k->kind == WICK_AST_NAMED && !list) continue; /* an attribute */
    if (k->kind == WICK_AST_NAMED) {
      for (to = 0; to < list->nkid && list->kid[to]->name != k->name;) to++;
      k = k->kid[0];
    } else {
      given++;
    }
    count++;
    bool is_fixed = list && list->kid[to]->kind == WICK_AST_PARAM && list->kid[to]->flag;
    if (!is_fixed)
      at[to] = wick_lowering_expr(s, f, k);
    else if (!wick_lang_static(s->p, s->t, f->typed, k, &fixed[to]))
      wick_lowering_fail(s, k->at,
                         fixed[to].size ? "this static argument is a size that stays open, and "
                                          "must be known when the program is compiled"
                                        : "this static argument is not known here");
  }
  for (uint32_t i = 0; i < nparam + n->nkid && nout < count; i++)
    if (at[i]) out[nout++] = at[i];
  return nout;
}

bool wick_lowering_converts(const lowering_frame *f, const wick_lang_entity *e, wick_elem *out)
{
  if (!e || (e->kind != WICK_ENTITY_ELEM && e->kind != WICK_ENTITY_VARIABLE)) return false;
  *out = e->kind == WICK_ENTITY_ELEM ? e->elem : wick_ty_of(f->typed->variable[e->index])->elem;
  return true;
}

const lowered *wick_lowering_op(lowering *s, lowering_frame *f, wick_opcode op, uint32_t narg,
                                const wick_value *arg, const wick_attr *attr)
{
  return wick_lowering_tensor(s, f, wick_build(f->b, op, narg, arg, attr, 0, NULL));
}

const lowered *wick_lowering_operator(lowering *s, lowering_frame *f, const wick_ast *n,
                                      wick_lang_entity *op, uint32_t narg,
                                      const lowered *const *arg)
{
  const wick_op *row = wick_ops[op->op];
  wick_attr attr[WICK_MAX_ATTR];
  wick_type want = {0};
  wick_value *in = wick_new(s->tmp, wick_value, narg + 1u);
  for (uint32_t i = 0; i < narg; i++) {
    if (arg[i]->kind != LOWERED_ONE) return wick_lowering_fail(s, n->at, "this is no tensor");
    in[i] = arg[i]->v;
  }
  wick_lang_attrs(s->p, s->t, f->typed, n, op, attr);
  if (s->p->sources.problems.n) s->failed = wick_lang_problems(&s->p->sources);
  for (uint32_t i = 0; !s->failed && i < wick_op_nattr(row); i++)
    for (uint32_t k = 0;
         row->attr[i].kind == WICK_ATTR_DIMS && attr[i].n != WICK_ATTR_UNSET && k < attr[i].n; k++)
      if (wick_dim_eq(attr[i].dims[k], s->t->any))
        wick_lowering_fail(s, n->at,
                           "the attribute `%s` is a size that is not known when the "
                           "program is compiled; sizes of the signature and `static` "
                           "parameters are",
                           row->attr[i].name);
  if (row->typed && !s->failed) want = wick_lowering_type(s, n->at, f->typed->type[n->id]);
  if (s->failed) return wick_lowering_unit(s);
  wick_lowering_at(s, f, n->at);
  wick_value v = wick_build(f->b, op->op, narg, in, attr, row->typed, row->typed ? &want : NULL);
  if (!wick_lowering_ok(s, f)) return wick_lowering_unit(s);
  if (row->nout[0] == 1 && row->nout[1] == 1) return wick_lowering_tensor(s, f, v);
  uint32_t nout = f->b->nodes.at[f->b->nodes.n - 1].nout;
  lowered *x = wick_lowering_new(s, LOWERED_ITEMS, NULL, nout);
  wick_ty **type = wick_new(s->tmp, wick_ty *, nout);
  for (uint32_t i = 0; i < nout; i++) {
    x->item[i] = wick_lowering_tensor(s, f, (wick_value){v.id + i});
    type[i] = x->item[i]->type;
  }
  x->type = wick_ty_new(s->t, WICK_TY_TUPLE, nout, type);
  return x;
}

const lowered *wick_lowering_call_expr(lowering *s, lowering_frame *f, wick_ast *n)
{
  wick_ast *callee = n->kid[0];
  wick_lang_entity *e = callee->kind == WICK_AST_NAME ? callee->ref : NULL;
  if (e && e->kind == WICK_ENTITY_LOCAL) e = NULL;
  if (e && e->kind == WICK_ENTITY_FORM) return wick_lowering_form(s, f, n, e);
  const wick_ast *list = calls_params(e);
  const lowered **arg = wick_new(s->tmp, const lowered *, n->nkid);
  wick_static *fixed = NULL;
  if (list) fixed = wick_new(s->tmp, wick_static, list->nkid);
  lowered_code code = {.entity = e};
  lowered known = {.kind = LOWERED_FN, .code = wick_dup(s->tmp, lowered_code, &code, 1)};
  const lowered *fn = e ? wick_dup(s->tmp, lowered, &known, 1) : wick_lowering_expr(s, f, callee);
  uint32_t narg = s->failed ? 0 : calls_arguments(s, f, n, list, fixed, arg);
  if (s->failed) return wick_lowering_unit(s);
  bool any = false;
  for (uint32_t i = 0; list && i < list->nkid; i++) any = any || fixed[i].known;
  return wick_lowering_call(s, f, n, fn, narg, arg, any ? fixed : NULL, f->typed->type[n->id]);
}
