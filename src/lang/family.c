/* Families of functions (family.h). */
#include "lang/family.h"

#include "lang/infer_state.h"

wick_lang_entity *wick_lang_family_entity(wick_lang_program *p, const wick_lang_family *family)
{
  wick_lang_entity *e = wick_new(p->mem, wick_lang_entity, 1);
  *e = (wick_lang_entity){.kind = WICK_ENTITY_FAMILY, .name = family->name, .family = family};
  return e;
}

/* ---- operands ---- */

static wick_operand_state family_tensor(wick_types *t, const wick_ty *a, wick_lang_operand *out)
{
  const wick_ty *elem = wick_ty_of(a->arg[0]), *shape = wick_ty_flat(t, a->arg[1]);
  if (elem->kind == WICK_TY_ERROR || shape->kind == WICK_TY_ERROR) return WICK_OPERAND_WRONG;
  if (elem->kind != WICK_TY_ELEM || shape->kind != WICK_TY_SHAPE || shape->rest)
    return WICK_OPERAND_OPEN;
  out->kind = WICK_OPERAND_TENSOR, out->elem = elem->elem, out->rank = shape->ndim;
  for (uint32_t i = 0; i < shape->ndim; i++) {
    wick_dim d = wick_ty_dim(t, shape->dim[i]);
    out->dim[i] = wick_dim_is_const(d) ? d.v : -1;
  }
  return WICK_OPERAND_READY;
}

wick_operand_state wick_lang_operand_of(wick_types *t, wick_ty *type, wick_arena *mem,
                                        wick_lang_operand *out)
{
  const wick_ty *a = wick_ty_of(type);
  *out = (wick_lang_operand){0};
  if (wick_ty_step(t) || a->kind == WICK_TY_ERROR) return WICK_OPERAND_WRONG;
  if (a->kind == WICK_TY_VAR) return a->rigid ? WICK_OPERAND_READY : WICK_OPERAND_OPEN;
  if (a->kind == WICK_TY_TENSOR) return family_tensor(t, a, out);
  if (a->kind != WICK_TY_TUPLE) return WICK_OPERAND_READY;
  wick_lang_operand *item = wick_new(mem, wick_lang_operand, a->n);
  out->kind = WICK_OPERAND_TUPLE, out->n = a->n, out->item = item;
  for (uint32_t i = 0; i < a->n; i++) {
    wick_operand_state state = wick_lang_operand_of(t, a->arg[i], mem, &item[i]);
    if (state != WICK_OPERAND_READY) return state;
  }
  return WICK_OPERAND_READY;
}

/* ---- members ---- */

/* Adds the text as a module and infers it. Returns its first function; NULL: there is a mistake. */
static wick_lang_entity *family_define(wick_lang_program *p, wick_types *t, const char *name,
                                       const char *text)
{
  uint32_t first = p->fns.n, before = p->sources.problems.n, level = t->level;
  const char *path = wick_str_printf(p->mem, "<%s>", name);
  wick_lang_module *m = wick_lang_program_text(p, path, text, (uint32_t)strlen(text));
  wick_lang_resolve_module(p, m);
  if (p->sources.problems.n == before) wick_lang_infer_from(p, t, first);
  t->level = level;
  return p->sources.problems.n == before && p->fns.n > first ? p->fns.at[first] : NULL;
}

wick_lang_entity *wick_lang_member(wick_lang_program *p, wick_types *t,
                                   const wick_lang_entity *family, const wick_ast *node, uint32_t n,
                                   const wick_lang_operand *operand)
{
  wick_lang_use use = {
      .family = family->family, .node = node, .n = n, .operand = operand, .mem = p->mem};
  const char *text = family->family->member(&use);
  if (!text) {
    wick_lang_report(&p->sources, node->at, "`%s`: %s", family->name,
                     use.wrong ? use.wrong : "there is no such function");
    return NULL;
  }
  text = wick_names_get(&p->names, wick_names_add(&p->names, text, strlen(text)));
  wick_lang_entity *e = wick_lang_map_get(&p->members, text);
  if (e) return e;
  e = family_define(p, t, family->name, text);
  if (!e)
    wick_lang_note(&p->sources, node->at, "for this call of `%s`", family->name);
  else
    wick_lang_map_set(&p->members, text, e, p->mem);
  return e;
}

/* ---- inference ---- */

static bool family_give_up(const infer *s, const wick_constraint *c)
{
  wick_ty *r = wick_ty_of(c->arg[c->noperand]);
  if (r->kind == WICK_TY_VAR && !r->rigid) r->link = s->t->error;
  return true;
}

bool wick_infer_solve_member(infer *s, wick_constraint *c)
{
  wick_lang_operand *operand = wick_new(s->mem, wick_lang_operand, c->noperand);
  for (uint32_t i = 0; i < c->noperand; i++) {
    wick_operand_state state = wick_lang_operand_of(s->t, c->arg[i], s->mem, &operand[i]);
    if (state == WICK_OPERAND_WRONG) return family_give_up(s, c);
    if (state == WICK_OPERAND_READY) continue;
    if (wick_infer_asks(s))
      wick_infer_wrong(s, c, "the operands of `%s` have no known type; give their types",
                       c->entity->name);
    return s->last ? family_give_up(s, c) : false;
  }
  wick_lang_entity *e = wick_lang_member(s->p, s->t, c->entity, c->node, c->noperand, operand);
  if (!e) return family_give_up(s, c);
  uint32_t from = s->pending.n, before = s->p->sources.problems.n;
  wick_ty *f = wick_ty_of(wick_infer_use(s, e, c->at, NULL));
  wick_clash clash;
  for (uint32_t i = 0; i <= c->noperand && i < f->n; i++)
    if (!wick_unify(s->t, c->arg[i], f->arg[i], &clash)) {
      wick_infer_wrong(s, c,
                       i < c->noperand ? "operand %u of `%s`: expected %s, found %s"
                                       : "result %u of `%s`: expected %s, found %s",
                       i + 1, c->entity->name, wick_ty_text(s->t, f->arg[i]),
                       wick_ty_text(s->t, c->arg[i]));
      return family_give_up(s, c);
    }
  wick_infer_solve(s, from);
  if (s->p->sources.problems.n > before) family_give_up(s, c);
  return true;
}
