/* Expressions and patterns. */
#include "lang/infer_state.h"
#include "lang/lex.h"

static void infer_expr_why(infer *s, const wick_clash *c, wick_text *out)
{
  wick_ty_printer p = {.t = s->t, .out = out};
  if (c->kind == WICK_CLASH_SIZE) {
    wick_text_add(out, ": size ");
    wick_ty_print_dim(&p, c->x);
    wick_text_add(out, " is not ");
    wick_ty_print_dim(&p, c->y);
  } else if (c->kind == WICK_CLASH_RANK && c->a->kind == WICK_TY_SHAPE && c->a->ndim &&
             c->b->kind == WICK_TY_SHAPE && c->b->ndim && !c->a->rest && !c->b->rest) {
    wick_text_printf(out, ": %u dimension%s not %u", c->a->ndim, c->a->ndim == 1 ? " is" : "s are",
                     c->b->ndim);
  } else if (c->kind == WICK_CLASH_OCCURS) {
    wick_text_add(out, ": the type would contain itself");
  } else if (c->kind == WICK_CLASH_RIGID) {
    const wick_ty *r = c->a->rigid ? c->a : c->b;
    if (r->name) wick_text_printf(out, ": `%s` stands for any, chosen by the caller", r->name);
  }
}

void wick_infer_help_sizes(infer *s)
{
  wick_lang_help(&s->p->sources, "`(x : f32[?])` leaves sizes of x to the run, which checks them");
}

static void infer_expr_help_rank(infer *s, const wick_op *op)
{
  for (uint32_t i = 0; i < wick_op_nattr(op); i++)
    if (strcmp(op->attr[i].name, "keepdims") == 0)
      wick_lang_help(&s->p->sources,
                     "`%s` keeps the dimension, with size 1, unless it gets "
                     "`keepdims = false`",
                     op->name);
}

static const wick_ty *infer_expr_elem(const wick_ty *t)
{
  return t->kind == WICK_TY_TENSOR ? wick_ty_of(t->arg[0]) : NULL;
}

/* Whether t is a name of a signature that stands for any type. */
static bool infer_expr_any(const wick_ty *t)
{
  return t->kind == WICK_TY_VAR && t->rigid && t->sort == WICK_SORT_TYPE && t->name;
}

/* Of a clash of a name that stands for any type, data as well, with a tensor: the name; else NULL. */
static const wick_ty *infer_expr_any_tensor(const wick_ty *a, const wick_ty *b, const wick_clash *c)
{
  if (c->kind != WICK_CLASH_RIGID) return NULL;
  if (infer_expr_any(a)) return b->kind == WICK_TY_TENSOR ? a : NULL;
  return infer_expr_any(b) && a->kind == WICK_TY_TENSOR ? b : NULL;
}

/* Notes that a name is meant for tensors, which is one mistake. Returns whether it is known. */
static bool infer_expr_told(infer *s, const wick_ty *any)
{
  for (uint32_t i = 0; i < s->tensors.n; i++)
    if (s->tensors.at[i] == any) return true;
  wick_push(s->mem, &s->tensors, any);
  return false;
}

static void infer_expr_help_any(infer *s, const char *name)
{
  wick_lang_help(&s->p->sources,
                 "`%s[]` in the signature is a number of any element type, `%s[...s]` a tensor "
                 "of any shape; then `%s(x)` converts to it",
                 name, name, name);
}

/* What converts a value, or leaves a size to the run. */
static void infer_expr_help(infer *s, const wick_ast *n, const wick_ty *found,
                            const wick_ty *expected, const wick_clash *c, const char *what)
{
  bool operand = what && strncmp(what, "operand", 7) == 0;

  const wick_ty *a = infer_expr_elem(found), *b = infer_expr_elem(expected);
  bool number = a && a->kind == WICK_TY_ELEM && a->elem != WICK_STRING, needed = false;
  const char *to = NULL;
  if (b && b->kind == WICK_TY_ELEM && b->elem != WICK_BOOL && b->elem != WICK_STRING)
    to = wick_elem_name(b->elem), needed = a != b;
  if (b && b->kind == WICK_TY_VAR && a && a->kind == WICK_TY_ELEM && b->elems)
    to = (b->elems & WICK_FLOATS) == b->elems ? "f32" : "i64",
    needed = !(b->elems & (WICK_BIT(a->elem) | WICK_BIT(WICK_BOOL)));
  if (what && strcmp(what, "the pattern") == 0) return;
  bool rounds = number && wick_elem_is_float(a->elem) && b && b->kind == WICK_TY_ELEM &&
                !wick_elem_is_float(b->elem);
  if (what && strcmp(what, "an index") == 0 && a && a->kind == WICK_TY_ELEM && a->elem == WICK_BOOL)
    wick_lang_help(&s->p->sources,
                   "`where(mask, x, y)` chooses by a mask; `nonzero(mask)` gives its "
                   "positions, and how many there are");
  else if (number && to && needed && rounds)
    wick_lang_help(&s->p->sources, "`%s(...)` converts integers, `%s(...)` rounds towards zero",
                   wick_elem_name(a->elem), to);
  else if (number && to && needed)
    wick_lang_help(&s->p->sources, "`%s(...)` converts it", to);
  else if (number && b && b->kind == WICK_TY_ELEM && b->elem == WICK_BOOL && a->elem != WICK_BOOL &&
           (operand || !wick_ty_flat(s->t, found->arg[1])->ndim))
    wick_lang_help(&s->p->sources, "`x != 0` is a condition");
  else if (operand && a && a->kind == WICK_TY_ELEM && a->elem == WICK_STRING && b && b->elems)
    wick_lang_help(&s->p->sources, "`use strings` reads functions of text: `strings.concat(s, t)`, "
                                   "`strings.parse(s, like)`, `strings.length(s)`");
  else if (found->kind == WICK_TY_DATA && b && found->data->kind == WICK_ENTITY_STRUCT)
    wick_lang_help(
        &s->p->sources,
        "`map_tensors(f, x)` and `zip_tensors(f, x, y)` compute with the tensors of a struct");
  else if (found->kind == WICK_TY_DATA && b)
    wick_lang_help(&s->p->sources,
                   "`match` takes data apart; `list.fold(f, first, l)` goes through a list");
  else if (found->kind == WICK_TY_TUPLE && what && strcmp(what, "what is indexed") == 0)
    wick_lang_help(&s->p->sources, "`t.0` is the first item of a tuple");
  else if (found->kind == WICK_TY_REF && expected->kind != WICK_TY_REF)
    wick_lang_help(&s->p->sources, "`read(r)` is the value that a reference holds");
  else if (infer_expr_any_tensor(found, expected, c))
    infer_expr_help_any(s, infer_expr_any_tensor(found, expected, c)->name);
  else if (c->kind == WICK_CLASH_SIZE && !(wick_dim_is_const(c->x) && wick_dim_is_const(c->y)))
    wick_infer_help_sizes(s);
  else if (c->kind == WICK_CLASH_RANK && n->kind == WICK_AST_CALL &&
           n->kid[0]->kind == WICK_AST_NAME && n->kid[0]->ref &&
           n->kid[0]->ref->kind == WICK_ENTITY_OPERATOR)
    infer_expr_help_rank(s, wick_ops[n->kid[0]->ref->op]);
}

static bool infer_expr_same(wick_lang_at a, wick_lang_at b)
{
  return a.source == b.source && a.begin == b.begin;
}

bool wick_infer_expect(infer *s, const wick_ast *n, wick_ty *found, wick_ty *expected,
                       const char *what)
{
  wick_clash c;
  wick_lang_at from = wick_ty_of(expected)->at, other = wick_ty_of(found)->at;
  if (wick_unify(s->t, found, expected, &c)) return true;
  const wick_ty *any = infer_expr_any_tensor(wick_ty_of(found), wick_ty_of(expected), &c);
  if (any && infer_expr_told(s, any)) return false;
  wick_text t = wick_text_begin(s->mem);
  wick_ty_printer p = {.t = s->t, .out = &t, .words = true};
  if (what) wick_text_printf(&t, "%s: ", what);
  wick_text_add(&t, "expected ");
  wick_ty_print(&p, expected);
  wick_text_add(&t, ", found ");
  wick_ty_print(&p, found);
  infer_expr_why(s, &c, &t);
  wick_lang_report(&s->p->sources, n->at, "%s", t.at);
  if (from.source && !infer_expr_same(from, n->at)) {
    t = wick_text_begin(s->mem);
    wick_ty_print(&p, expected);
    wick_lang_note(&s->p->sources, from, "%s comes from here", t.at);
  }
  const wick_lang_entity *e = n->kind == WICK_AST_NAME ? n->ref : NULL;
  if (e && e->kind == WICK_ENTITY_LOCAL) other = e->at;
  if (other.source && !infer_expr_same(other, n->at) && !infer_expr_same(other, from)) {
    t = wick_text_begin(s->mem);
    wick_ty_print(&p, found);
    wick_lang_note(&s->p->sources, other, "%s comes from here", t.at);
  }
  infer_expr_help(s, n, wick_ty_of(found), wick_ty_of(expected), &c, what);
  return false;
}

/* ---- literals ---- */

wick_ty *wick_infer_literal_elem(infer *s, int literal)
{
  wick_ty *e = wick_ty_var(s->t, WICK_SORT_ELEM);
  e->literal = (uint8_t)literal;
  e->elems = literal == 2 ? (uint64_t)(WICK_FLOATS) : (uint64_t)(WICK_NUMBERS);
  wick_push(s->mem, &s->literals, e);
  return e;
}

static wick_ty *infer_expr_literal(infer *s, const wick_ast *n)
{
  wick_ty *e;
  if (n->kind == WICK_AST_BOOL)
    e = s->t->elem[WICK_BOOL];
  else if (n->kind == WICK_AST_STRING)
    e = s->t->elem[WICK_STRING];
  else
    e = n->elem ? s->t->elem[n->elem - 1]
                : wick_infer_literal_elem(s, n->kind == WICK_AST_FLOAT ? 2 : 1);
  if (n->kind == WICK_AST_INT || n->kind == WICK_AST_FLOAT)
    wick_push(s->mem, &s->numbers, ((infer_number){n, e}));
  return wick_ty_tensor(s->t, e, s->t->scalar_shape);
}

static wick_ty *infer_expr_array(infer *s, wick_ast *n)
{
  wick_ty *item = NULL;
  for (uint32_t i = 0; i < n->nkid; i++) {
    wick_ty *k = wick_infer_expr(s, n->kid[i]);
    if (!item)
      item = k;
    else
      wick_infer_expect(s, n->kid[i], k, item, "items of a tensor have one type");
  }
  if (!item) item = wick_ty_tensor(s->t, wick_ty_var(s->t, WICK_SORT_ELEM), s->t->scalar_shape);
  wick_ty *tensor =
      wick_ty_tensor(s->t, wick_ty_var(s->t, WICK_SORT_ELEM), wick_ty_var(s->t, WICK_SORT_SHAPE));
  if (!wick_infer_expect(s, n->nkid ? n->kid[0] : n, item, tensor, "an item of a tensor"))
    return s->t->error;
  tensor = wick_ty_of(tensor);
  wick_dim d = wick_dim_const(n->nkid);
  return wick_ty_tensor(s->t, tensor->arg[0], wick_ty_shape(s->t, 1, &d, 1, tensor->arg[1]));
}

/* ---- patterns ---- */

static void infer_expr_pattern_ctor(infer *s, wick_ast *n, wick_ty *t)
{
  const wick_lang_entity *e = n->ref;
  wick_ty *c = e && e->scheme ? wick_infer_instance(s, e->scheme, n->at) : NULL;
  bool fields = c && c->kind == WICK_TY_FN;
  uint32_t nfield = fields ? c->n - 1 : 0;
  wick_ty *of = wick_ty_of(t);
  bool cot = of->kind == WICK_TY_COT; /* its fields are the cotangents of those of the data */
  if (cot) of = wick_ty_of(of->arg[0]);
  if (c) wick_infer_expect(s, n, fields ? c->arg[nfield] : c, cot ? of : t, "the pattern");
  bool named = n->nkid && n->kid[0]->kind == WICK_AST_NAMED;
  if (c && (named ? n->nkid > nfield : n->nkid != nfield)) {
    wick_lang_report(&s->p->sources, n->at, "`%s` has %u field%s, found %u", n->name, nfield,
                     nfield == 1 ? "" : "s", n->nkid);
    wick_lang_note(&s->p->sources, e->at, "it is declared here");
    c = NULL;
  }
  for (uint32_t i = 0; i < n->nkid; i++) {
    wick_ast *k = n->kid[i];
    uint32_t at = i;
    if (k->kind == WICK_AST_NAMED) {
      const wick_ast *list = e ? e->decl : NULL;
      for (at = 0; c && at < nfield &&
                   (list->kid[at]->kind != WICK_AST_FIELD_TYPE || list->kid[at]->name != k->name);)
        at++;
      if (c && at == nfield)
        wick_lang_report(&s->p->sources, k->name_at, "`%s` has no field `%s`", n->name, k->name);
      k->i = at;
      k = k->kid[0];
    }
    wick_ty *field = c && at < nfield ? c->arg[at] : s->t->error;
    wick_infer_pattern(s, k, cot ? wick_infer_cotangent_of(s, n, field) : field);
  }
}

void wick_infer_pattern(infer *s, wick_ast *n, wick_ty *t)
{
  s->typed->type[n->id] = t;
  switch (n->kind) {
  case WICK_AST_BIND: s->typed->local[n->ref->number] = t; break;
  case WICK_AST_PATTERN_TUPLE: {
    wick_ty **item = wick_new(s->mem, wick_ty *, n->nkid);
    for (uint32_t i = 0; i < n->nkid; i++) item[i] = wick_ty_var(s->t, WICK_SORT_TYPE);
    bool ok =
        wick_infer_expect(s, n, wick_ty_new(s->t, WICK_TY_TUPLE, n->nkid, item), t, "the pattern");
    for (uint32_t i = 0; i < n->nkid; i++)
      wick_infer_pattern(s, n->kid[i], ok ? item[i] : s->t->error);
    break;
  }
  case WICK_AST_PATTERN_CTOR: infer_expr_pattern_ctor(s, n, t); break;
  case WICK_AST_INT:
  case WICK_AST_FLOAT:
  case WICK_AST_STRING:
  case WICK_AST_BOOL: wick_infer_expect(s, n, infer_expr_literal(s, n), t, "the pattern"); break;
  default: break;
  }
}

/* ---- functions ---- */

static wick_ty *infer_expr_params(infer *s, wick_ast *n, wick_ty *result)
{
  const wick_ast *list = n->kid[0];
  wick_ty **param = wick_new(s->mem, wick_ty *, list->nkid);
  for (uint32_t i = 0; i < list->nkid; i++) {
    wick_ast *k = list->kid[i];
    param[i] = k->kid[0] ? wick_infer_annotation(s, k->kid[0]) : wick_ty_var(s->t, WICK_SORT_TYPE);
    if (!k->kid[0]) param[i]->at = k->at;
    s->typed->local[k->ref->number] = param[i];
    s->typed->type[k->id] = param[i];
  }
  return wick_ty_fn(s->t, list->nkid, param, result);
}

static wick_ty *infer_expr_fn(infer *s, wick_ast *n)
{
  wick_ty *result = n->kid[1] ? wick_infer_annotation(s, n->kid[1]) : NULL;
  wick_ty *f = infer_expr_params(s, n, s->t->unit), *body = wick_infer_expr(s, n->kid[2]);
  if (result) wick_infer_expect(s, n->kid[2], body, result, "the result");
  f->arg[f->n - 1] = result ? result : body;
  return f;
}

/* let f = fn(...) {...} is polymorphic. */
static void infer_expr_let_fn(infer *s, wick_ast *let)
{
  wick_ast *n = let->kid[2];
  uint32_t from = s->pending.n;
  s->t->level++;
  wick_ty *f = infer_expr_fn(s, n);
  s->t->level--;
  wick_scheme *c = wick_infer_generalize(s, f, from);
  s->typed->type[n->id] = f;
  s->typed->poly[let->kid[0]->ref->number] = c;
  s->typed->local[let->kid[0]->ref->number] = f;
  s->typed->type[let->kid[0]->id] = f;
}

static wick_ty *infer_expr_block(infer *s, wick_ast *n)
{
  wick_ty *out = s->t->unit;
  for (uint32_t i = 0; i < n->nkid; i++) {
    wick_ast *k = n->kid[i];
    out = s->t->unit;
    if (k->kind != WICK_AST_LET) {
      out = wick_infer_expr(s, k);
      continue;
    }
    s->typed->type[k->id] = s->t->unit;
    if (k->kid[2]->kind == WICK_AST_FN && k->kid[0]->kind == WICK_AST_BIND && !k->kid[1]) {
      infer_expr_let_fn(s, k);
      continue;
    }
    wick_ty *type = k->kid[1] ? wick_infer_annotation(s, k->kid[1]) : NULL,
            *value = wick_infer_expr(s, k->kid[2]);
    if (type) wick_infer_expect(s, k->kid[2], value, type, NULL);
    wick_infer_pattern(s, k->kid[0], type ? type : value);
    wick_infer_irrefutable(s, k->kid[0], type ? type : value);
  }
  return out;
}

/* ---- control ---- */

static void infer_expr_condition(infer *s, wick_ast *n)
{
  wick_infer_expect(s, n, wick_infer_expr(s, n), wick_ty_scalar(s->t, WICK_BOOL), "the condition");
}

static wick_ty *infer_expr_if(infer *s, wick_ast *n)
{
  bool yes;
  infer_expr_condition(s, n->kid[0]);
  if (wick_infer_decided(s, n->kid[0], &yes)) {
    if (yes) return wick_infer_expr(s, n->kid[1]);
    return n->kid[2] ? wick_infer_expr(s, n->kid[2]) : s->t->unit;
  }
  wick_ty *a = wick_infer_expr(s, n->kid[1]);
  if (!n->kid[2]) {
    bool ok = wick_infer_expect(s, n->kid[1], a, s->t->unit, "an `if` without `else`");
    if (!ok) wick_lang_help(&s->p->sources, "`if c { x } else { y }` has a value");
    return ok ? s->t->unit : s->t->error;
  }
  wick_ty *b = wick_infer_expr(s, n->kid[2]);
  wick_infer_expect(s, n->kid[2], b, a, "the arms of an `if` have one type");
  return wick_ty_join(s->t, a, b);
}

static wick_ty *infer_expr_match(infer *s, wick_ast *n)
{
  uint32_t from = s->pending.n;
  wick_ty *value = wick_infer_expr(s, n->kid[0]), *out = NULL;
  if (wick_ty_of(value)->kind == WICK_TY_VAR) wick_infer_solve(s, from);
  for (uint32_t i = 1; i < n->nkid; i++) {
    wick_ast *arm = n->kid[i];
    wick_infer_pattern(s, arm->kid[0], value);
    wick_ty *a = wick_infer_expr(s, arm->kid[1]);
    s->typed->type[arm->id] = a;
    if (out) wick_infer_expect(s, arm->kid[1], a, out, "the arms of a `match` have one type");
    out = out ? wick_ty_join(s->t, out, a) : a;
  }
  wick_infer_match(s, n, value);
  return out ? out : s->t->error;
}

static wick_ty *infer_expr_loop(infer *s, wick_ast *pattern, wick_ast *init, wick_ast *condition,
                                wick_ast *body)
{
  wick_ty *carried = init ? wick_infer_expr(s, init) : s->t->unit;
  if (pattern) wick_infer_pattern(s, pattern, carried);
  if (pattern) wick_infer_irrefutable(s, pattern, carried);
  if (condition) infer_expr_condition(s, condition);
  wick_ty *b = wick_infer_expr(s, body);
  bool ok = wick_infer_expect(s, body, b, carried,
                              init ? "a loop carries one type"
                                   : "the body of a loop that carries nothing");
  if (!ok && !init)
    wick_lang_help(&s->p->sources,
                   "`with x = first` names what a loop carries; its body gives the next x");
  return ok ? wick_ty_join(s->t, carried, b) : s->t->error;
}

static wick_ty *infer_expr_for(infer *s, wick_ast *n)
{
  wick_ty *i = wick_ty_tensor(s->t, wick_infer_literal_elem(s, 1), s->t->scalar_shape);
  wick_ty_of(i->arg[0])->elems = WICK_INTS;
  wick_infer_expect(s, n->kid[1], wick_infer_expr(s, n->kid[1]), i, "the range");
  wick_infer_expect(s, n->kid[2], wick_infer_expr(s, n->kid[2]), i, "the range");
  wick_infer_pattern(s, n->kid[0], i);
  return infer_expr_loop(s, n->kid[3], n->kid[4], NULL, n->kid[5]);
}

/* ---- operators ---- */

wick_opcode wick_infer_opcode(int token)
{
  switch (token) {
  case '+': return WICK_OP_add;
  case '-': return WICK_OP_sub;
  case '*': return WICK_OP_mul;
  case '/': return WICK_OP_div;
  case '%': return WICK_OP_mod;
  case '@': return WICK_OP_matmul;
  case WICK_TOKEN_POW: return WICK_OP_pow;
  case WICK_TOKEN_EQ: return WICK_OP_eq;
  case WICK_TOKEN_NE: return WICK_OP_ne;
  case WICK_TOKEN_LE: return WICK_OP_le;
  case WICK_TOKEN_GE: return WICK_OP_ge;
  case '<': return WICK_OP_lt;
  case '>': return WICK_OP_gt;
  default: return WICK_OP_none;
  }
}

static const wick_lang_entity *infer_expr_operator(infer *s, wick_opcode op)
{
  const char *name = wick_ops[op]->name;
  uint32_t id = wick_names_find(&s->p->names, name, strlen(name));
  return wick_lang_operator(s->p, wick_names_get(&s->p->names, id));
}

static wick_ty *infer_expr_binary(infer *s, wick_ast *n)
{
  wick_ty *arg[2] = {wick_infer_expr(s, n->kid[0]), wick_infer_expr(s, n->kid[1])};
  if (n->op == WICK_TOKEN_AND || n->op == WICK_TOKEN_OR) {
    wick_ty *yes = wick_ty_scalar(s->t, WICK_BOOL);
    const char *what = n->op == WICK_TOKEN_AND ? "an operand of `&&` (tensors: `and(a, b)`)"
                                               : "an operand of `||` (tensors: `or(a, b)`)";
    for (int i = 0; i < 2; i++) wick_infer_expect(s, n->kid[i], arg[i], yes, what);
    return yes;
  }
  return wick_infer_operator(s, n, infer_expr_operator(s, wick_infer_opcode(n->op)), 2, arg);
}

static wick_ty *infer_expr_unary(infer *s, wick_ast *n)
{
  wick_ty *a = wick_infer_expr(s, n->kid[0]);
  wick_opcode op = n->op == '!' ? WICK_OP_not : WICK_OP_neg;
  return wick_infer_operator(s, n, infer_expr_operator(s, op), 1, &a);
}

/* ---- parts ---- */

static wick_ty *infer_expr_index(infer *s, wick_ast *n, wick_ty *object)
{
  wick_ty **arg = wick_new(s->mem, wick_ty *, n->nkid + 1);
  wick_ty *tensor =
      wick_ty_tensor(s->t, wick_ty_var(s->t, WICK_SORT_ELEM), wick_ty_var(s->t, WICK_SORT_SHAPE));
  wick_ty *shape = wick_ty_var(s->t, WICK_SORT_SHAPE);
  bool ok = wick_infer_expect(s, n->kid[0] ? n->kid[0] : n, object, tensor, "what is indexed");
  arg[0] = tensor;
  arg[1] = wick_ty_tensor(s->t, tensor->arg[0], shape);
  for (uint32_t i = 1; i < n->nkid; i++) {
    wick_ast *k = n->kid[i];
    wick_ast **part = k->kind == WICK_AST_SLICE ? k->kid : &n->kid[i];
    for (uint32_t j = 0; j < (k->kind == WICK_AST_SLICE ? 3u : 1u); j++) {
      if (!part[j]) continue;
      wick_ty *e = wick_infer_literal_elem(s, 1);
      e->elems = WICK_INTS;
      wick_ty *integer = wick_ty_tensor(
          s->t, e,
          k->kind == WICK_AST_SLICE ? s->t->scalar_shape : wick_ty_var(s->t, WICK_SORT_SHAPE));
      arg[i + 1] = wick_infer_expr(s, part[j]);
      ok = wick_infer_expect(s, part[j], arg[i + 1], integer, "an index") && ok;
    }
    if (k->kind != WICK_AST_SLICE) continue;
    wick_ty *end[3] = {s->t->unit, s->t->unit, s->t->unit};
    for (uint32_t j = 0; j < 3; j++) {
      if (!part[j]) continue;
      wick_dim d = wick_infer_size(s, part[j]);
      end[j] = wick_ty_size(s->t, wick_dim_eq(d, WICK_DIM_INVALID) ? s->t->any : d);
    }
    bool open = part[0] && part[1] && wick_dim_eq(end[0]->size, s->t->any) &&
                wick_dim_eq(end[1]->size, s->t->any);
    wick_dim span = open ? wick_infer_span(s, part[0], part[1]) : WICK_DIM_INVALID;
    if (open && !wick_dim_eq(span, WICK_DIM_INVALID))
      end[0] = wick_ty_size(s->t, wick_dim_const(0)), end[1] = wick_ty_size(s->t, span);
    s->typed->type[k->id] = s->t->unit;
    arg[i + 1] = wick_ty_new(s->t, WICK_TY_TUPLE, 3, end);
  }
  if (!ok) return s->t->error;
  wick_infer_need(s, WICK_NEEDS_INDEX, n, NULL, n->nkid + 1, arg);
  return arg[1];
}

wick_ty *wick_infer_field(infer *s, wick_ast *n, wick_ty *object)
{
  wick_ty *arg[2] = {object, wick_ty_var(s->t, WICK_SORT_TYPE)};
  wick_infer_need(s, WICK_NEEDS_FIELD, n, NULL, 2, arg);
  return arg[1];
}

static wick_ty *infer_expr_with(infer *s, wick_ast *n)
{
  wick_ty *object = wick_infer_expr(s, n->kid[0]);
  wick_ast *part = n->kid[1];
  wick_ty *old = part->kind == WICK_AST_INDEX ? infer_expr_index(s, part, object)
                                              : wick_infer_field(s, part, object);
  s->typed->type[part->id] = old;
  wick_ty *value = wick_infer_expr(s, n->kid[2]);
  wick_infer_expect(s, n->kid[2], value, old, "the new part");
  return object;
}

static wick_ty *infer_expr_name(infer *s, wick_ast *n)
{
  const wick_lang_entity *e = n->ref;
  if (!e) return s->t->error;
  if (e->kind == WICK_ENTITY_VARIABLE) {
    wick_ty *v = wick_ty_of(wick_infer_variable(s, n->ref));
    if (v->kind == WICK_TY_SIZE) return wick_ty_scalar(s->t, WICK_I64);
    if (infer_expr_any(v) && infer_expr_told(s, v)) return s->t->error;
    wick_lang_report(&s->p->sources, n->at, "`%s` stands for a type, and is no value", e->name);
    if (infer_expr_any(v)) infer_expr_help_any(s, e->name);
    return s->t->error;
  }
  if (e->kind != WICK_ENTITY_LOCAL) return wick_infer_global(s, n);
  wick_scheme *c = s->typed->poly[e->number];
  if (c) {
    uint32_t from = s->pending.n;
    wick_ty *t = wick_infer_instance(s, c, n->at);
    wick_infer_solve(s, from);
    return t;
  }
  return s->typed->local[e->number] ? s->typed->local[e->number] : s->t->error;
}

static wick_ty *infer_expr_dispatch(infer *s, wick_ast *n)
{
  switch (n->kind) {
  case WICK_AST_INT:
  case WICK_AST_FLOAT:
  case WICK_AST_STRING:
  case WICK_AST_BOOL: return infer_expr_literal(s, n);
  case WICK_AST_TENSOR: return wick_ty_of_tensor(s->t, n->tensor);
  case WICK_AST_NAME: return infer_expr_name(s, n);
  case WICK_AST_TUPLE: {
    wick_ty **item = wick_new(s->mem, wick_ty *, n->nkid);
    for (uint32_t i = 0; i < n->nkid; i++) item[i] = wick_infer_expr(s, n->kid[i]);
    return wick_ty_new(s->t, WICK_TY_TUPLE, n->nkid, item);
  }
  case WICK_AST_ARRAY: return infer_expr_array(s, n);
  case WICK_AST_CALL: return wick_infer_call(s, n);
  case WICK_AST_BINARY: return infer_expr_binary(s, n);
  case WICK_AST_UNARY: return infer_expr_unary(s, n);
  case WICK_AST_INDEX: return infer_expr_index(s, n, wick_infer_expr(s, n->kid[0]));
  case WICK_AST_REDUCE: return wick_infer_reduce(s, n);
  case WICK_AST_FIELD: return wick_infer_field(s, n, wick_infer_expr(s, n->kid[0]));
  case WICK_AST_WITH: return infer_expr_with(s, n);
  case WICK_AST_IF: return infer_expr_if(s, n);
  case WICK_AST_MATCH: return infer_expr_match(s, n);
  case WICK_AST_BLOCK: return infer_expr_block(s, n);
  case WICK_AST_FOR: return infer_expr_for(s, n);
  case WICK_AST_WHILE: return infer_expr_loop(s, n->kid[1], n->kid[2], n->kid[0], n->kid[3]);
  case WICK_AST_FN: return infer_expr_fn(s, n);
  case WICK_AST_ASCRIBE: {
    wick_ty *t = wick_infer_annotation(s, n->kid[1]);
    wick_infer_expect(s, n->kid[0], wick_infer_expr(s, n->kid[0]), t, NULL);
    return t;
  }
  default: return s->t->error;
  }
}

wick_ty *wick_infer_expr(infer *s, wick_ast *n)
{
  wick_ty *t = infer_expr_dispatch(s, n);
  s->typed->type[n->id] = t;
  bool own = t->kind == WICK_TY_TENSOR || (t->kind == WICK_TY_TUPLE && t->n) ||
             t->kind == WICK_TY_FN || t->kind == WICK_TY_VAR;
  if (own && !t->at.source) t->at = n->at;
  return t;
}
