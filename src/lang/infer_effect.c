/* Effects: what a function does besides giving its result. */
#include "lang/infer_state.h"

static wick_effect infer_effect_more(wick_effect a, wick_effect b) { return a > b ? a : b; }

static wick_effect infer_effect_name(const wick_lang_entity *e)
{
  switch (e->kind) {
  case WICK_ENTITY_FN: return e->typed ? e->typed->effect : WICK_PURE;
  case WICK_ENTITY_OPERATOR: return wick_ops[e->op]->effect;
  case WICK_ENTITY_FAMILY: return WICK_MAY_FAIL;
  case WICK_ENTITY_FORM:
    return e->form == WICK_FORM_READ || e->form == WICK_FORM_WRITE || e->form == WICK_FORM_PRINT ||
                   e->form == WICK_FORM_REF || e->form == WICK_FORM_ASSERT
               ? WICK_EFFECT
               : WICK_PURE;
  default: return WICK_PURE;
  }
}

static wick_effect infer_effect_of(const infer *s, const wick_ast *n)
{
  wick_effect out = WICK_PURE;
  if (n->kind == WICK_AST_NAME && n->ref) out = infer_effect_name(n->ref);
  /* Division of integers, and an index that may be outside. */
  if (n->kind == WICK_AST_BINARY && (n->op == '/' || n->op == '%')) out = WICK_MAY_FAIL;
  for (uint32_t i = 1; n->kind == WICK_AST_INDEX && i < n->nkid; i++)
    if (n->kid[i]->kind != WICK_AST_SLICE && n->kid[i]->kind != WICK_AST_INT) out = WICK_MAY_FAIL;
  for (uint32_t i = 0; i < n->nkid && out != WICK_EFFECT; i++)
    if (n->kid[i]) out = infer_effect_more(out, infer_effect_of(s, n->kid[i]));
  return out;
}

void wick_infer_effects(infer *s, uint32_t n, wick_lang_entity *const *group)
{
  wick_effect all = WICK_PURE;
  for (uint32_t i = 0; i < n; i++)
    all = infer_effect_more(all, infer_effect_of(s, group[i]->decl->kid[2]));
  for (uint32_t i = 0; i < n; i++) group[i]->typed->effect = all;
}
