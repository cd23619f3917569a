/* `let %f = fn (%x) { ... %f(...) ... }`. In the language a `let` does not see its own name: the
 * function becomes one of the file, with what it captures as parameters before its own,
 *
 *     fn f.1(c, x) { let f = fn(x) { f.1(c, x) }; ... f(...) ... }
 *
 * and the local is that literal, `fn(x) { f.1(c, x) }`. */
#include "import/relay/state.h"

bool wick_relay_calls(const wick_ast *n, const char *name)
{
  if (n->kind == WICK_AST_NAME && !n->ref && n->name == name) return true;
  for (uint32_t i = 0; i < n->nkid; i++)
    if (n->kid[i] && wick_relay_calls(n->kid[i], name)) return true;
  return false;
}

static bool lift_is_param(const wick_ast *fn, const char *name)
{
  for (uint32_t i = 0; i < fn->kid[0]->nkid; i++)
    if (fn->kid[0]->kid[i]->name == name) return true;
  return false;
}

/* The locals around the function that it reads. */
static void lift_captured(relay_parser *p, const wick_ast *fn, const wick_ast *n, const char *self,
                          relay_names *out)
{
  if (n->kind == WICK_AST_NAME && !n->ref && n->name != self && !lift_is_param(fn, n->name) &&
      wick_lang_map_get(&p->locals, n->name)) {
    for (uint32_t i = 0; i < out->n; i++)
      if (out->at[i] == n->name) return;
    wick_push(p->mem, out, n->name);
  }
  for (uint32_t i = 0; i < n->nkid; i++)
    if (n->kid[i]) lift_captured(p, fn, n->kid[i], self, out);
}

/* fn(a0, ...) { lifted(captured..., a0, ...) } */
static wick_ast *lift_literal(relay_parser *p, uint32_t begin, const char *lifted,
                              const relay_names *captured, uint32_t nparam)
{
  relay_nodes params = {0}, call = {0};
  wick_push(p->mem, &call, wick_relay_named(p, WICK_AST_NAME, begin, lifted, 0, NULL));
  for (uint32_t i = 0; i < captured->n; i++)
    wick_push(p->mem, &call, wick_relay_named(p, WICK_AST_NAME, begin, captured->at[i], 0, NULL));
  for (uint32_t i = 0; i < nparam; i++) {
    const char *name = wick_relay_intern(p, wick_str_printf(p->mem, "%%a%u", i));
    wick_ast *type = NULL;
    wick_push(p->mem, &params, wick_relay_named(p, WICK_AST_PARAM, begin, name, 1, &type));
    wick_push(p->mem, &call, wick_relay_named(p, WICK_AST_NAME, begin, name, 0, NULL));
  }
  wick_ast *body = wick_relay_node(p, WICK_AST_CALL, begin, call.n, call.at);
  wick_ast *kid[3] = {wick_relay_list(p, begin, &params), NULL,
                      wick_relay_node(p, WICK_AST_BLOCK, begin, 1, &body)};
  return wick_relay_node(p, WICK_AST_FN, begin, 3, kid);
}

wick_ast *wick_relay_lift(relay_parser *p, uint32_t begin, const char *name, wick_ast *fn)
{
  relay_names captured = {0};
  const char *lifted = wick_relay_intern(p, wick_str_printf(p->mem, "%s.%u", name, ++p->nlifted));
  uint32_t nparam = fn->kid[0]->nkid;
  lift_captured(p, fn, fn, name, &captured);
  relay_nodes params = {0}, body = {0};
  for (uint32_t i = 0; i < captured.n; i++) {
    wick_ast *type = NULL;
    wick_push(p->mem, &params,
              wick_relay_named(p, WICK_AST_PARAM, begin, captured.at[i], 1, &type));
  }
  for (uint32_t i = 0; i < nparam; i++) wick_push(p->mem, &params, fn->kid[0]->kid[i]);
  wick_ast *self[3] = {wick_relay_named(p, WICK_AST_BIND, begin, name, 0, NULL), NULL,
                       lift_literal(p, begin, lifted, &captured, nparam)};
  wick_push(p->mem, &body, wick_relay_node(p, WICK_AST_LET, begin, 3, self));
  wick_push(p->mem, &body, fn->kid[2]);
  wick_ast *kid[3] = {wick_relay_list(p, begin, &params), fn->kid[1],
                      wick_relay_node(p, WICK_AST_BLOCK, begin, body.n, body.at)};
  wick_push(p->mem, &p->lifted, wick_relay_named(p, WICK_AST_FN, begin, lifted, 3, kid));
  return lift_literal(p, begin, lifted, &captured, nparam);
}
