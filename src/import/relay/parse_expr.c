/* The parser of expressions. */
#include "import/relay/state.h"

static wick_ast *expr_binary(relay_parser *p, uint32_t least);
static wick_ast *expr_atom(relay_parser *p);

static wick_ast *expr_error(relay_parser *p, uint32_t begin)
{
  return wick_relay_node(p, WICK_AST_ERROR, begin, 0, NULL);
}

/* ---- literals and attributes ---- */

static wick_ast *expr_literal(relay_parser *p, bool typed)
{
  uint32_t begin = p->at;
  const relay_token *t = relay_next(p);
  wick_ast_kind kind = t->kind == RELAY_INT     ? WICK_AST_INT
                       : t->kind == RELAY_FLOAT ? WICK_AST_FLOAT
                       : t->kind == RELAY_BOOL  ? WICK_AST_BOOL
                                                : WICK_AST_STRING;
  wick_ast *n = wick_relay_node(p, kind, begin, 0, NULL);
  wick_relay_set_int(n, t->i);
  n->f = t->f;
  if (kind == WICK_AST_STRING) n->name = t->name;
  if (typed && (kind == WICK_AST_INT || kind == WICK_AST_FLOAT)) n->elem = (uint8_t)(t->elem + 1);
  return n;
}

/* The value of an attribute; NULL: None. */
static wick_ast *expr_attribute(relay_parser *p)
{
  uint32_t begin = p->at;
  const relay_token *t = relay_peek(p, 0);
  relay_nodes items = {0};
  if (t->kind == RELAY_INT || t->kind == RELAY_FLOAT || t->kind == RELAY_BOOL ||
      t->kind == RELAY_STRING)
    return expr_literal(p, false);
  if (relay_take_word(p, "None") || relay_take_word(p, "nullptr")) return NULL;
  if (relay_take(p, RELAY_META)) return NULL; /* an object of TVM, such as a device */
  int end = t->kind == '[' ? ']' : ')';
  if (t->kind == '[' || t->kind == '(') {
    relay_next(p);
    if (wick_relay_enter(p))
      while (!p->panic && !relay_take(p, end)) {
        wick_ast *item = expr_attribute(p);
        if (item) wick_push(p->mem, &items, item);
        if (!relay_is(p, end)) wick_relay_need(p, ',', "`,`");
      }
    p->depth--;
    if (end == ')' && items.n == 1) return items.at[0];
    return wick_relay_node(p, WICK_AST_TUPLE, begin, items.n, items.at);
  }
  if (t->kind == RELAY_WORD && t->name[0] >= 'A' && t->name[0] <= 'Z' &&
      relay_peek(p, 1)->kind == '(') { /* VirtualDevice(device_type=1, ...) */
    relay_next(p);
    relay_next(p);
    wick_relay_skip(p, ')');
    wick_relay_need(p, ')', "`)`");
    return NULL;
  }
  (void)expr_atom(p); /* arange(..., start=1f): the same as an operand */
  return NULL;
}

/* name = value, ..., as NAMED arguments. */
static void expr_attributes(relay_parser *p, relay_nodes *out)
{
  while (!p->panic && relay_is(p, RELAY_WORD)) {
    uint32_t begin = p->at;
    const char *name = relay_next(p)->name;
    while (relay_take(p, '.')) name = wick_relay_need(p, RELAY_WORD, "a name")->name;
    wick_relay_need(p, '=', "`=`");
    wick_ast *value = expr_attribute(p);
    if (value && !p->panic)
      wick_push(p->mem, out, wick_relay_named(p, WICK_AST_NAMED, begin, name, 1, &value));
    if (!relay_is(p, ')')) wick_relay_need(p, ',', "`,` or `)`");
  }
}

/* ---- calls ---- */

static void expr_arguments(relay_parser *p, relay_nodes *out)
{
  wick_relay_need(p, '(', "`(`");
  while (!p->panic && !relay_take(p, ')')) {
    if (relay_is(p, RELAY_WORD) && relay_peek(p, 1)->kind == '=') {
      expr_attributes(p, out);
      continue;
    }
    wick_push(p->mem, out, wick_relay_expr(p));
    if (!relay_is(p, ')')) wick_relay_need(p, ',', "`,` or `)`");
  }
}

static wick_ast *expr_call(relay_parser *p, uint32_t begin, wick_ast *callee)
{
  relay_nodes kids = {0};
  wick_push(p->mem, &kids, callee);
  expr_arguments(p, &kids);
  bool ctor = callee->kind == WICK_AST_NAME && wick_lang_map_get(&p->ctors, callee->name) &&
              !wick_relay_local(p, callee->name);
  if (ctor && kids.n == 1) return callee;
  uint32_t n = 1; /* attributes of calls of functions say how TVM compiles them */
  for (uint32_t i = 1; i < kids.n; i++)
    if (kids.at[i]->kind != WICK_AST_NAMED) kids.at[n++] = kids.at[i];
  return wick_relay_node(p, WICK_AST_CALL, begin, n, kids.at);
}

/* ref(x), ref_read(r), ref_write(r, x) */
static wick_ast *expr_form(relay_parser *p, uint32_t begin, const char *form, uint32_t narg)
{
  relay_nodes kids = {0};
  relay_next(p);
  wick_lang_entity *e = wick_lang_map_get(&p->p->forms, wick_relay_intern(p, form));
  wick_push(p->mem, &kids, wick_relay_refer(p, begin, e));
  expr_arguments(p, &kids);
  if (kids.n != narg + 1)
    wick_relay_wrong(p, relay_place(p, &p->tokens.at[begin]),
                     wick_str_printf(p->mem, "`%s` takes %u argument%s", p->tokens.at[begin].name,
                                     narg, narg == 1 ? "" : "s"));
  return wick_relay_node(p, WICK_AST_CALL, begin, kids.n, kids.at);
}

/* ---- names ---- */

/* Operators have names with points. */
static wick_ast *expr_word(relay_parser *p)
{
  uint32_t begin = p->at;
  const relay_token *t = relay_next(p);
  if (wick_lang_map_get(&p->ctors, t->name))
    return wick_relay_named(p, WICK_AST_NAME, begin, t->name, 0, NULL);
  wick_text name = wick_text_begin(p->mem);
  wick_text_add(&name, t->name);
  while (relay_is(p, '.') && relay_peek(p, 1)->kind == RELAY_WORD) {
    relay_next(p);
    wick_text_printf(&name, ".%s", relay_next(p)->name);
  }
  relay_nodes args = {0};
  if (!relay_is(p, '(')) return wick_relay_operator_value(p, t, name.at, begin);
  expr_arguments(p, &args);
  return wick_relay_operator(p, t, name.at, begin, &args);
}

static const wick_ast *expr_graph_value(const relay_parser *p, const char *name)
{
  for (uint32_t i = p->graph.n; i-- > 0;)
    if (p->graph.at[i].name == name) return p->graph.at[i].value;
  return NULL;
}

/* Copies the value of a binding that is not in scope, as those in it. */
static wick_ast *expr_copy(relay_parser *p, const wick_ast *n)
{
  enum { MOST = 100000 };
  if (n->kind == WICK_AST_NAME && !n->ref && n->name[0] == '%' &&
      !wick_lang_map_get(&p->locals, n->name)) {
    const wick_ast *value = expr_graph_value(p, n->name);
    if (value) return expr_copy(p, value);
  }
  wick_ast *out = wick_dup(p->mem, wick_ast, n, 1);
  out->kid = wick_new(p->mem, wick_ast *, n->nkid);
  if (++p->ncopied > MOST) {
    wick_relay_wrong(p, n->at, "this is used too often outside of the block that defines it");
    out->nkid = 0, out->kind = WICK_AST_ERROR;
  }
  for (uint32_t i = 0; i < out->nkid; i++)
    if (n->kid[i]) out->kid[i] = expr_copy(p, n->kid[i]);
  return out;
}

static wick_ast *expr_graph(relay_parser *p)
{
  uint32_t begin = p->at;
  const relay_token *t = relay_next(p);
  const char *name = wick_relay_intern(p, wick_str_printf(p->mem, "%%%s", t->name));
  if (wick_lang_map_get(&p->locals, name))
    return wick_relay_named(p, WICK_AST_NAME, begin, name, 0, NULL);
  const wick_ast *value = expr_graph_value(p, name);
  if (value) return expr_copy(p, value);
  wick_relay_wrong(p, relay_place(p, t), wick_str_printf(p->mem, "`%s` is not defined yet", name));
  return expr_error(p, begin);
}

static wick_ast *expr_local(relay_parser *p)
{
  uint32_t begin = p->at;
  const relay_token *t = relay_next(p);
  const char *name = wick_relay_local(p, t->name);
  if (!name)
    wick_lang_report(&p->p->sources, relay_place(p, t), "there is no variable `%%%s`", t->name);
  return name ? wick_relay_named(p, WICK_AST_NAME, begin, name, 0, NULL) : expr_error(p, begin);
}

static wick_ast *expr_global(relay_parser *p)
{
  uint32_t begin = p->at;
  const relay_token *t = relay_next(p);
  if (wick_lang_map_get(&p->functions, t->name))
    return wick_relay_named(p, WICK_AST_NAME, begin, t->name, 0, NULL);
  wick_lang_report(&p->p->sources, relay_place(p, t), "there is no function `@%s`", t->name);
  return expr_error(p, begin);
}

static wick_ast *expr_constant(relay_parser *p)
{
  uint32_t begin = p->at;
  const relay_token *t = relay_next(p);
  wick_ast *n = wick_relay_node(p, WICK_AST_TENSOR, begin, 0, NULL);
  n->tensor = wick_relay_constant(p, t);
  if (!n->tensor) n->kind = WICK_AST_ERROR;
  n->name = wick_relay_intern(p, wick_str_printf(p->mem, "constant_%lld", (long long)t->i));
  return n;
}

/* ---- control ---- */

static wick_ast *expr_if(relay_parser *p)
{
  uint32_t begin = p->at++;
  wick_ast *kid[3];
  wick_relay_need(p, '(', "`(`");
  kid[0] = wick_relay_expr(p);
  wick_relay_need(p, ')', "`)`");
  kid[1] = wick_relay_block(p);
  if (!relay_take_word(p, "else")) wick_relay_expected(p, "`else`");
  kid[2] = relay_is_word(p, 0, "if") ? expr_if(p) : wick_relay_block(p);
  return wick_relay_node(p, WICK_AST_IF, begin, 3, kid);
}

static wick_ast *expr_arm(relay_parser *p)
{
  uint32_t begin = p->at, mark = wick_relay_mark(p);
  wick_ast *kid[2];
  kid[0] = wick_relay_pattern(p);
  wick_relay_need(p, RELAY_FAT_ARROW, "`=>`");
  kid[1] = wick_relay_expr(p);
  wick_relay_leave(p, mark);
  return wick_relay_node(p, WICK_AST_ARM, begin, 2, kid);
}

static wick_ast *expr_match(relay_parser *p, bool some)
{
  uint32_t begin = p->at++;
  relay_nodes kids = {0};
  wick_push(p->mem, &kids, expr_atom(p));
  wick_relay_need(p, '{', "`{`");
  while (!p->panic && !relay_take(p, '}')) {
    wick_push(p->mem, &kids, expr_arm(p));
    if (!relay_is(p, '}')) wick_relay_need(p, ',', "`,` or `}`");
  }
  if (some) {
    p->stuck = true;
    wick_ast *name =
        wick_relay_named(p, WICK_AST_NAME, begin, wick_relay_intern(p, "stuck"), 0, NULL);
    wick_ast *kid[2] = {wick_relay_node(p, WICK_AST_ANY, begin, 0, NULL),
                        wick_relay_node(p, WICK_AST_CALL, begin, 1, &name)};
    wick_push(p->mem, &kids, wick_relay_node(p, WICK_AST_ARM, begin, 2, kid));
  }
  wick_ast *n = wick_relay_node(p, WICK_AST_MATCH, begin, kids.n, kids.at);
  n->flag = true;
  return n;
}

/* ---- expressions ---- */

static wick_ast *expr_parentheses(relay_parser *p)
{
  uint32_t begin = p->at++;
  relay_nodes items = {0};
  bool comma = false;
  while (!p->panic && !relay_take(p, ')')) {
    wick_push(p->mem, &items, wick_relay_expr(p));
    comma = relay_take(p, ',');
    if (!comma && !relay_is(p, ')')) wick_relay_expected(p, "`,` or `)`");
  }
  if (items.n == 1 && !comma) return items.at[0];
  return wick_relay_node(p, WICK_AST_TUPLE, begin, items.n, items.at);
}

static wick_ast *expr_fn(relay_parser *p)
{
  uint32_t begin = p->at++;
  return wick_relay_function(p, begin, NULL);
}

static wick_ast *expr_primary(relay_parser *p)
{
  uint32_t begin = p->at;
  const relay_token *t = relay_peek(p, 0);
  switch (t->kind) {
  case RELAY_INT:
  case RELAY_FLOAT:
  case RELAY_BOOL: return expr_literal(p, true);
  case RELAY_LOCAL: return expr_local(p);
  case RELAY_GRAPH: return expr_graph(p);
  case RELAY_META: return expr_constant(p);
  case RELAY_GLOBAL: return expr_global(p);
  case RELAY_MATCH_SOME: return expr_match(p, true);
  case '(': return expr_parentheses(p);
  case '{': return wick_relay_block(p);
  case RELAY_WORD:
    if (relay_is_word(p, 0, "fn")) return expr_fn(p);
    if (relay_is_word(p, 0, "if")) return expr_if(p);
    if (relay_is_word(p, 0, "match")) return expr_match(p, false);
    if (relay_is_word(p, 0, "ref")) return expr_form(p, begin, "ref", 1);
    if (relay_is_word(p, 0, "ref_read")) return expr_form(p, begin, "read", 1);
    if (relay_is_word(p, 0, "ref_write")) return expr_form(p, begin, "write", 2);
    return expr_word(p);
  default: wick_relay_expected(p, "an expression"); return expr_error(p, begin);
  }
}

/* With `.0`, any number of times. */
static wick_ast *expr_atom(relay_parser *p)
{
  uint32_t begin = p->at;
  wick_ast *n = wick_relay_enter(p) ? expr_primary(p) : expr_error(p, begin);
  while (relay_is(p, '.') && relay_peek(p, 1)->kind == RELAY_INT) {
    relay_next(p);
    int64_t i = relay_next(p)->i;
    n = wick_relay_node(p, WICK_AST_FIELD, begin, 1, &n);
    n->i = i;
  }
  p->depth--;
  return n;
}

static wick_ast *expr_postfix(relay_parser *p)
{
  uint32_t begin = p->at;
  wick_ast *n = expr_atom(p);
  while (relay_is(p, '(') || (relay_is(p, '.') && relay_peek(p, 1)->kind == RELAY_INT)) {
    if (relay_is(p, '(')) {
      n = expr_call(p, begin, n);
      continue;
    }
    relay_next(p);
    int64_t i = relay_next(p)->i;
    n = wick_relay_node(p, WICK_AST_FIELD, begin, 1, &n);
    n->i = i;
  }
  return n;
}

static const struct {
  int kind;
  uint32_t precedence;
  const char *op;
} expr_infix[] = {{'*', 4, "multiply"},   {'/', 4, "divide"},
                  {'+', 3, "add"},        {'-', 3, "subtract"},
                  {'<', 2, "less"},       {RELAY_LE, 2, "less_equal"},
                  {'>', 2, "greater"},    {RELAY_GE, 2, "greater_equal"},
                  {RELAY_EQ, 1, "equal"}, {RELAY_NE, 1, "not_equal"}};

static wick_ast *expr_binary(relay_parser *p, uint32_t least)
{
  uint32_t begin = p->at;
  wick_ast *left = expr_postfix(p);
  while (!p->panic) {
    size_t k = 0;
    while (k < WICK_COUNT(expr_infix) && !relay_is(p, expr_infix[k].kind)) k++;
    if (k == WICK_COUNT(expr_infix) || expr_infix[k].precedence < least) break;
    const relay_token *op = relay_next(p);
    relay_nodes args = {0};
    wick_push(p->mem, &args, left);
    wick_push(p->mem, &args, expr_binary(p, expr_infix[k].precedence + 1));
    left = wick_relay_operator(p, op, expr_infix[k].op, begin, &args);
  }
  return left;
}

/* ---- bindings ---- */

static wick_ast *expr_bound(relay_parser *p, uint32_t begin, const char *name, wick_ast *type,
                            wick_ast *value)
{
  wick_ast *kid[3] = {wick_relay_named(p, WICK_AST_BIND, begin, name, 0, NULL), type, value};
  return wick_relay_node(p, WICK_AST_LET, begin, 3, kid);
}

static wick_ast *expr_let(relay_parser *p)
{
  uint32_t begin = p->at++;
  const relay_token *t = wick_relay_need(p, RELAY_LOCAL, "a variable");
  wick_ast *type = NULL;
  if (p->panic) return expr_error(p, begin);
  p->open = false;
  if (relay_take(p, ':')) type = wick_relay_type(p);
  if (p->open) type = NULL;
  wick_relay_need(p, '=', "`=`");
  bool function = relay_is_word(p, 0, "fn");
  const char *name = function ? wick_relay_declare(p, t->name) : NULL;
  wick_ast *value = expr_binary(p, 0);
  wick_relay_need(p, ';', "`;`");
  if (function && !p->panic && value->kind == WICK_AST_FN && wick_relay_calls(value, name))
    value = wick_relay_lift(p, begin, name, value), type = NULL;
  wick_ast *numbers = function || p->panic ? NULL : wick_relay_numbers(p, value);
  if (!function) name = wick_relay_declare(p, t->name);
  wick_relay_bind(p, name, numbers);
  return expr_bound(p, begin, name, type, value);
}

static wick_ast *expr_graph_binding(relay_parser *p)
{
  uint32_t begin = p->at;
  const char *name = wick_str_printf(p->mem, "%%%s", relay_next(p)->name);
  relay_next(p);
  wick_ast *value = expr_binary(p, 0);
  wick_relay_need(p, ';', "`;`");
  wick_ast *numbers = p->panic ? NULL : wick_relay_numbers(p, value);
  relay_graph g = {wick_relay_declare(p, wick_relay_intern(p, name)), value};
  wick_push(p->mem, &p->graph, g);
  wick_relay_bind(p, g.name, numbers);
  return expr_bound(p, begin, g.name, NULL, value);
}

static void expr_free_variable(relay_parser *p)
{
  uint32_t begin = p->at++;
  const relay_token *t = wick_relay_need(p, RELAY_LOCAL, "a variable");
  if (p->panic) return;
  p->param = t->name;
  wick_ast *type = relay_take(p, ':') ? wick_relay_type(p) : NULL;
  p->param = NULL;
  const char *name = wick_relay_declare(p, t->name);
  wick_push(p->mem, &p->free, wick_relay_named(p, WICK_AST_PARAM, begin, name, 1, &type));
  wick_relay_need(p, ';', "`;`");
}

static void expr_statements(relay_parser *p, relay_nodes *out)
{
  while (!p->panic) {
    if (relay_is_word(p, 0, "let")) {
      wick_push(p->mem, out, expr_let(p));
    } else if (relay_is(p, RELAY_GRAPH) && relay_peek(p, 1)->kind == '=') {
      wick_push(p->mem, out, expr_graph_binding(p));
    } else if (relay_is_word(p, 0, "free_var")) {
      expr_free_variable(p);
    } else {
      wick_push(p->mem, out, expr_binary(p, 0));
      if (!relay_take(p, ';')) return;
    }
  }
}

wick_ast *wick_relay_body(relay_parser *p)
{
  uint32_t begin = p->at, mark = wick_relay_mark(p);
  relay_nodes all = {0};
  if (wick_relay_enter(p)) expr_statements(p, &all);
  p->depth--;
  wick_relay_leave(p, mark);
  return wick_relay_node(p, WICK_AST_BLOCK, begin, all.n, all.at);
}

wick_ast *wick_relay_block(relay_parser *p)
{
  wick_relay_need(p, '{', "`{`");
  wick_ast *n = wick_relay_body(p);
  wick_relay_need(p, '}', "`}`");
  return n;
}

wick_ast *wick_relay_expr(relay_parser *p)
{
  wick_ast *n = wick_relay_body(p);
  bool one = n->nkid == 1 && n->kid[0]->kind != WICK_AST_LET;
  return one ? n->kid[0] : n;
}
