/* Calls: of functions, constructors, operators and the functions of the language. */
#include <math.h>

#include "lang/infer_state.h"

/* ---- static arguments ---- */

static bool infer_call_number(const wick_ast *n, double *f, int64_t *i)
{
  bool minus = n->kind == WICK_AST_UNARY && n->op == '-';
  if (minus) n = n->kid[0];
  if (n->kind != WICK_AST_INT && n->kind != WICK_AST_FLOAT && n->kind != WICK_AST_BOOL)
    return false;
  if (n->kind == WICK_AST_INT && !wick_literal_fits(n, WICK_I64)) return false;
  *i = n->kind == WICK_AST_FLOAT ? (int64_t)n->f : n->i;
  *f = n->kind == WICK_AST_FLOAT ? n->f : (double)n->i;
  if (minus) *f = -*f, *i = (int64_t)(0 - (uint64_t)*i);
  return true;
}

wick_static wick_infer_static_size(infer *s, wick_ty *size)
{
  wick_static out = {.size = size};
  wick_dim d = wick_ty_dim(s->t, wick_ty_of(size)->size);
  if (!wick_dim_is_const(d)) return out;
  return (wick_static){
      .known = true, .n = 1, .ints = wick_dup(s->mem, int64_t, &d.v, 1), .f = (double)d.v};
}

static bool infer_call_is_list(const wick_ast *n)
{
  return n->kind == WICK_AST_TUPLE || n->kind == WICK_AST_ARRAY;
}

wick_static wick_infer_static_list(infer *s, wick_ast_kind kind, uint32_t n,
                                   const wick_static *item)
{
  wick_static out = {.known = true, .n = n, .list = kind};
  int64_t *list = wick_new(s->mem, int64_t, n);
  for (uint32_t i = 0; i < n; i++) {
    if (!item[i].known) return (wick_static){.n = n, .list = kind, .item = item};
    list[i] = item[i].ints[0], out.f = item[i].f;
  }
  out.ints = list;
  return out;
}

static bool infer_call_list(infer *s, const wick_ast *n, const wick_static *fixed, bool sizes,
                            wick_static *out)
{
  wick_static *item = wick_new(s->mem, wick_static, n->nkid);
  for (uint32_t i = 0; i < n->nkid; i++) {
    bool known = sizes ? wick_infer_static_argument(s, n->kid[i], &item[i])
                       : wick_infer_static(s, n->kid[i], fixed, &item[i]);
    if (!known || item[i].word || item[i].item || (item[i].known && item[i].n != 1)) return false;
  }
  *out = wick_infer_static_list(s, n->kind, n->nkid, item);
  return true;
}

/* The size that n is where static parameters are symbols; NULL: it is none. */
static wick_ty *infer_call_symbolic(infer *s, const wick_ast *n)
{
  s->symbolic = true;
  wick_dim d = wick_infer_size(s, n);
  s->symbolic = false;
  if (wick_dim_eq(d, WICK_DIM_INVALID) || wick_dim_eq(d, s->t->any)) return NULL;
  return wick_ty_size(s->t, d);
}

bool wick_infer_static_argument(infer *s, const wick_ast *n, wick_static *out)
{
  bool sum = n->kind == WICK_AST_BINARY || n->kind == WICK_AST_UNARY;
  if (infer_call_is_list(n)) return infer_call_list(s, n, NULL, true, out);
  if (wick_infer_static(s, n, NULL, out)) {
    if (out->expr && sum) out->size = infer_call_symbolic(s, n);
    return true;
  }
  wick_dim d = n->kind == WICK_AST_NAME || sum ? wick_infer_size(s, n) : WICK_DIM_INVALID;
  if (wick_dim_eq(d, WICK_DIM_INVALID)) return false;
  if (!wick_dim_eq(d, s->t->any)) {
    *out = wick_infer_static_size(s, wick_ty_size(s->t, d));
    return true;
  }
  *out = (wick_static){.expr = n, .size = sum ? infer_call_symbolic(s, n) : NULL};
  return out->size != NULL;
}

/* Computes a and b, which are numbers, as i64 and as f64: the use decides which of them counts. */
static bool infer_call_compute(infer *s, int op, const wick_static *a, const wick_static *b,
                               wick_static *out)
{
  int64_t x = a->ints[0], y = b->ints[0], *i = wick_new(s->mem, int64_t, 1);
  bool zero = !(b->f < 0) && !(b->f > 0), minus = y == -1;
  *out = (wick_static){.known = true, .n = 1, .ints = i};
  switch (op) {
  case '+': out->f = a->f + b->f, *i = (int64_t)((uint64_t)x + (uint64_t)y); return true;
  case '-': out->f = a->f - b->f, *i = (int64_t)((uint64_t)x - (uint64_t)y); return true;
  case '*': out->f = a->f * b->f, *i = (int64_t)((uint64_t)x * (uint64_t)y); return true;
  case '/':
    out->f = zero ? 0 : a->f / b->f;
    *i = minus ? (int64_t)(0 - (uint64_t)x) : y ? x / y : 0;
    return !zero;
  case '%':
    out->f = zero ? 0 : fmod(a->f, b->f);
    *i = minus || !y ? 0 : x % y;
    return !zero;
  default: return false;
  }
}

/* An expression of static parameters is a static argument, too. */
static bool infer_call_binary(infer *s, const wick_ast *n, const wick_static *fixed,
                              wick_static *out)
{
  wick_static a, b;
  if (!wick_infer_static(s, n->kid[0], fixed, &a) || !wick_infer_static(s, n->kid[1], fixed, &b))
    return false;
  if (a.known && b.known)
    return a.n == 1 && b.n == 1 && !a.word && !b.word && infer_call_compute(s, n->op, &a, &b, out);
  bool zero = b.known && (n->op == '/' || n->op == '%') && !(b.f < 0) && !(b.f > 0);
  *out = (wick_static){.expr = n};
  return !zero && !a.size && !b.size && !a.item && !b.item;
}

/* The items that are sizes which are numbers by now become known. */
static wick_static infer_call_sizes_of(infer *s, const wick_static *list)
{
  wick_static *item = wick_dup(s->mem, wick_static, list->item, list->n);
  for (uint32_t i = 0; i < list->n; i++)
    if (item[i].size && !item[i].expr) item[i] = wick_infer_static_size(s, item[i].size);
  return wick_infer_static_list(s, list->list, list->n, item);
}

/* list.0, list[0] and list[-1] of a static parameter. */
static bool infer_call_item(infer *s, const wick_ast *n, const wick_static *fixed, wick_static *out)
{
  const wick_ast *list = n->kid[0];
  wick_static all, at = {0};
  int64_t i = n->i;
  if (list->kind != WICK_AST_NAME || !wick_infer_static(s, list, fixed, &all)) return false;
  if (n->kind == WICK_AST_FIELD && n->name) return false;
  if (n->kind == WICK_AST_INDEX) {
    if (n->nkid != 2 || !n->kid[1] || !wick_infer_static(s, n->kid[1], fixed, &at)) return false;
    if (at.known && (at.n != 1 || at.word)) return false;
    i = at.known ? at.ints[0] : 0;
  }
  *out = (wick_static){.expr = n};
  if (all.expr || (n->kind == WICK_AST_INDEX && !at.known)) return true;
  if (i < 0) i += all.n;
  if (all.word || all.size || i < 0 || i >= all.n) return false;
  *out = all.item
             ? all.item[i]
             : (wick_static){.known = true, .n = 1, .ints = all.ints + i, .f = (double)all.ints[i]};
  return true;
}

bool wick_infer_static(infer *s, const wick_ast *n, const wick_static *fixed, wick_static *out)
{
  int64_t i;
  *out = (wick_static){.known = true};
  if (n->kind == WICK_AST_STRING) {
    out->word = n->name;
    return true;
  }
  if (n->kind == WICK_AST_NAME && n->ref && n->ref->kind == WICK_ENTITY_LOCAL && n->ref->fixed) {
    const wick_typed *f = s->typed;
    bool own = f && n->ref->parent == f->entity;
    if (!fixed && own) fixed = f->fixed;
    if (fixed) *out = fixed[n->ref->index];
    if (out->size && !out->expr) *out = wick_infer_static_size(s, out->size);
    if (out->item) *out = infer_call_sizes_of(s, out);
    if (!fixed) *out = (wick_static){.expr = n};
    return true;
  }
  if (n->kind == WICK_AST_FIELD || n->kind == WICK_AST_INDEX)
    return infer_call_item(s, n, fixed, out);
  if (n->kind == WICK_AST_BINARY) return infer_call_binary(s, n, fixed, out);
  if (infer_call_number(n, &out->f, &i)) {
    out->n = 1, out->ints = wick_dup(s->mem, int64_t, &i, 1);
    return true;
  }
  return infer_call_is_list(n) && infer_call_list(s, n, fixed, false, out);
}

/* ---- functions and constructors ---- */

/* Orders arguments: out[k] is the argument of parameter k. Reports names that are none, and
 * missing ones. */
static bool infer_call_order(infer *s, const wick_ast *n, const wick_lang_entity *e,
                             const wick_ast *list, uint32_t nparam, wick_ast **out)
{
  bool ok = true;
  uint32_t next = 0;
  for (uint32_t i = 1; i < n->nkid; i++) {
    wick_ast *k = n->kid[i];
    uint32_t at = next;
    if (k->kind == WICK_AST_NAMED) {
      for (at = 0; list && at < nparam && list->kid[at]->name != k->name;) at++;
      if (!list || at == nparam) {
        wick_lang_report(&s->p->sources, k->name_at, "`%s` has no parameter `%s`", e->name,
                         k->name);
        if (e->at.source) wick_lang_note(&s->p->sources, e->at, "it is declared here");
        ok = false;
        continue;
      }
      k = k->kid[0];
    } else {
      next++;
    }
    if (at < nparam && !out[at]) {
      out[at] = k;
    } else if (at < nparam) {
      wick_lang_report(&s->p->sources, n->kid[i]->at, "this argument is given twice");
      ok = false;
    }
  }
  uint32_t given = 0;
  for (uint32_t i = 0; i < nparam; i++) given += out[i] != NULL;
  if (ok && (given != nparam || n->nkid - 1 != nparam)) {
    wick_lang_report(&s->p->sources, n->at, "`%s` takes %u argument%s, found %u", e->name, nparam,
                     nparam == 1 ? "" : "s", n->nkid - 1);
    if (e->at.source) wick_lang_note(&s->p->sources, e->at, "it is declared here");
    ok = false;
  }
  return ok;
}

static void infer_call_rest(infer *s, wick_ast *n)
{
  for (uint32_t i = 1; i < n->nkid; i++) {
    wick_ast *k = n->kid[i]->kind == WICK_AST_NAMED ? n->kid[i]->kid[0] : n->kid[i];
    if (!s->typed->type[k->id]) wick_infer_expr(s, k);
  }
}

static wick_ty *infer_call_known(infer *s, wick_ast *n, wick_lang_entity *e)
{
  bool ctor = e->kind == WICK_ENTITY_CTOR;
  const wick_ast *list = ctor ? e->decl : e->decl->kid[0];
  if (ctor && e->parent->kind != WICK_ENTITY_STRUCT) list = NULL;
  uint32_t nparam = ctor ? e->decl->nkid : list->nkid;
  wick_ast **arg = wick_new(s->mem, wick_ast *, nparam);
  bool ok = infer_call_order(s, n, e, list, nparam, arg), any = false;
  wick_static *fixed = wick_new(s->mem, wick_static, nparam);
  for (uint32_t i = 0; ok && !ctor && i < nparam; i++) {
    if (!list->kid[i]->flag) continue;
    any = true;
    if (!wick_infer_static_argument(s, arg[i], &fixed[i])) {
      wick_lang_report(&s->p->sources, arg[i]->at,
                       "the parameter `%s` is static: its argument must be known",
                       list->kid[i]->name);
      wick_lang_note(&s->p->sources, list->kid[i]->at, "it is declared here");
    }
  }
  if (!e->scheme) {
    infer_call_rest(s, n);
    return s->t->error;
  }
  uint32_t from = s->pending.n;
  wick_ty *f = wick_infer_use(s, e, n->at, any ? fixed : NULL);
  s->typed->type[n->kid[0]->id] = f;
  f = wick_ty_of(f);
  for (uint32_t i = 0; i < nparam && f->kind == WICK_TY_FN && i + 1 < f->n; i++) {
    if (!arg[i]) continue;
    wick_ty *a = wick_infer_expr(s, arg[i]);
    wick_infer_expect(s, arg[i], a, f->arg[i],
                      wick_str_printf(s->mem, "argument %u of `%s`", i + 1, e->name));
  }
  infer_call_rest(s, n);
  wick_infer_solve(s, from);
  if (!ok && f->kind == WICK_TY_FN)
    return wick_ty_generic(s->t, f->arg[f->n - 1]) ? s->t->error : f->arg[f->n - 1];
  return f->kind == WICK_TY_FN ? f->arg[f->n - 1] : s->t->error;
}

static wick_ty *infer_call_value(infer *s, wick_ast *n)
{
  wick_ty *f = wick_ty_of(wick_infer_expr(s, n->kid[0]));
  uint32_t narg = n->nkid - 1;
  wick_ty **arg = wick_new(s->mem, wick_ty *, narg);
  for (uint32_t i = 0; i < narg; i++) {
    if (n->kid[i + 1]->kind == WICK_AST_NAMED && f->kind != WICK_TY_ERROR)
      wick_lang_report(&s->p->sources, n->kid[i + 1]->at,
                       "a function value takes its arguments by position");
    arg[i] = wick_infer_expr(s, n->kid[i + 1]->kind == WICK_AST_NAMED ? n->kid[i + 1]->kid[0]
                                                                      : n->kid[i + 1]);
  }
  f = wick_ty_of(f);
  if (f->kind == WICK_TY_ERROR) return f;
  if (f->kind == WICK_TY_FN && f->n - 1 != narg) {
    wick_lang_report(&s->p->sources, n->at, "the function takes %u argument%s, found %u", f->n - 1,
                     f->n == 2 ? "" : "s", narg);
    return s->t->error;
  }
  if (f->kind == WICK_TY_FN) {
    for (uint32_t i = 0; i < narg; i++)
      wick_infer_expect(s, n->kid[i + 1], arg[i], f->arg[i],
                        wick_str_printf(s->mem, "argument %u", i + 1));
    return f->arg[narg];
  }
  wick_ty *result = wick_ty_var(s->t, WICK_SORT_TYPE), *want = wick_ty_fn(s->t, narg, arg, result);
  return wick_infer_expect(s, n->kid[0], f, want, "what is called") ? result : s->t->error;
}

/* ---- operators ---- */

/* What is said of a name that is no attribute, and like none. */
static const char *infer_call_attributes(infer *s, const wick_op *op)
{
  wick_text all = wick_text_begin(s->mem);
  for (uint32_t i = 0; i < wick_op_nattr(op); i++)
    wick_text_printf(&all, "%s`%s`", i ? ", " : "; it has ", op->attr[i].name);
  return wick_op_nattr(op) ? all.at : "; it has none, and operands are given without names";
}

static bool infer_call_attribute(infer *s, const wick_ast *k, const wick_op *op, uint32_t *out)
{
  const char *near = NULL;
  size_t least = 4;
  for (uint32_t i = 0; i < wick_op_nattr(op); i++) {
    *out = i;
    if (strcmp(op->attr[i].name, k->name) == 0) return true;
    size_t d = wick_str_distance(op->attr[i].name, k->name);
    if (d < least && d < strlen(k->name)) least = d, near = op->attr[i].name;
  }
  wick_lang_report(
      &s->p->sources, k->name_at, "the operator `%s` has no attribute `%s`%s", op->name, k->name,
      near ? wick_str_printf(s->mem, "; did you mean `%s`?", near) : infer_call_attributes(s, op));
  return false;
}

static wick_ty *infer_call_scalar(infer *s, wick_ast *n, const wick_op *op, uint32_t narg,
                                  wick_ty **arg)
{
  wick_ty *elem = wick_ty_var(s->t, WICK_SORT_ELEM), *shape = NULL;
  if (op->elems) elem->elems = op->elems;
  bool ok = true;
  for (uint32_t i = 0; i < narg; i++) {
    bool yes = op->scalar == WICK_RULE_SELECT && i == 0;
    wick_ty *sh = wick_ty_var(s->t, WICK_SORT_SHAPE),
            *want = wick_ty_tensor(s->t, yes ? s->t->elem[WICK_BOOL] : elem, sh);
    const wick_ast *at = n->kind == WICK_AST_CALL ? n->kid[i + 1] : n->kid[i];
    ok = wick_infer_expect(s, at, arg[i], want,
                           wick_str_printf(s->mem, "operand %u of `%s`", i + 1, op->name)) &&
         ok;
    if (!shape) {
      shape = sh;
      continue;
    }
    wick_ty *both = wick_ty_var(s->t, WICK_SORT_SHAPE);
    if (ok) wick_infer_need(s, WICK_NEEDS_BROADCAST, n, NULL, 3, (wick_ty *[]){shape, sh, both});
    shape = both;
  }
  if (!ok) return op->scalar == WICK_RULE_COMPARE ? wick_ty_scalar(s->t, WICK_BOOL) : s->t->error;
  return wick_ty_tensor(s->t, op->scalar == WICK_RULE_COMPARE ? s->t->elem[WICK_BOOL] : elem,
                        shape);
}

bool wick_infer_is_static_list(const wick_ast *n)
{
  const wick_lang_entity *e = n->kind == WICK_AST_NAME ? n->ref : NULL;
  return e && e->kind == WICK_ENTITY_LOCAL && e->fixed && !e->decl->kid[0];
}

void wick_infer_call_sizes(infer *s, const wick_ast *n, const wick_op *op, wick_constraint *c)
{
  wick_list(wick_ty *) all = {0};
  for (uint32_t i = 0; i < c->n; i++) wick_push(s->mem, &all, c->arg[i]);
  for (uint32_t i = 1; n->kind == WICK_AST_CALL && i < n->nkid; i++) {
    const wick_ast *k = n->kid[i];
    uint32_t attr;
    if (k->kind != WICK_AST_NAMED) continue;
    if (!infer_call_attribute(s, k, op, &attr) || op->attr[attr].kind != WICK_ATTR_DIMS) continue;
    const wick_ast *v = k->kid[0];
    bool list = infer_call_is_list(v);
    if (wick_infer_is_static_list(v)) continue; /* read with the other attributes */
    for (uint32_t j = 0; j < (list ? v->nkid : 1); j++) {
      wick_dim d = wick_infer_size(s, list ? v->kid[j] : v);
      wick_ty *size = wick_ty_size(s->t, wick_dim_eq(d, WICK_DIM_INVALID) ? s->t->any : d);
      wick_push(s->mem, &all, size);
    }
  }
  c->n = all.n, c->arg = all.at;
}

/* What a wrong number of operands may mean. */
static void infer_call_operator_help(infer *s, const wick_lang_entity *e, const wick_op *op,
                                     uint32_t narg)
{
  wick_text all = wick_text_begin(s->mem);
  for (uint32_t i = 0; i < wick_op_nattr(op); i++)
    if (!e->fixed || strcmp(op->attr[i].name, "keepdims") != 0)
      wick_text_printf(&all, "%s`%s = ...`", all.n ? ", " : "", op->attr[i].name);
  if (narg == 1 && (e->op == WICK_OP_max || e->op == WICK_OP_min))
    wick_lang_help(&s->p->sources, "`%simum(x)` is the %s element of x", op->name,
                   e->op == WICK_OP_max ? "largest" : "smallest");
  else if (op->typed && narg > op->nin[1])
    wick_lang_help(&s->p->sources, "the type says what it gives: `(%s() : f32[3, 3])`", op->name);
  else if (narg > op->nin[1] && all.n)
    wick_lang_help(&s->p->sources, "attributes are given by name: %s", all.at);
}

wick_ty *wick_infer_operator(infer *s, wick_ast *n, const wick_lang_entity *e, uint32_t narg,
                             wick_ty **arg)
{
  const wick_op *op = wick_ops[e->op];
  if (narg < op->nin[0] || (narg > op->nin[1] && op->nin[1] != WICK_ANY)) {
    wick_lang_report(&s->p->sources, n->at, "the operator `%s` takes %u%s operand%s, found %u",
                     e->name, op->nin[0], op->nin[1] != op->nin[0] ? " or more" : "",
                     op->nin[0] == 1 ? "" : "s", narg);
    infer_call_operator_help(s, e, op, narg);
    return s->t->error;
  }
  bool named = false;
  for (uint32_t i = 1; n->kind == WICK_AST_CALL && i < n->nkid; i++)
    named = named || n->kid[i]->kind == WICK_AST_NAMED;
  if (op->scalar && op->scalar != WICK_RULE_TYPED && !named)
    return infer_call_scalar(s, n, op, narg, arg);
  bool ok = true;
  wick_ty *first = NULL;
  for (uint32_t i = 0; i < narg; i++) {
    wick_ty *elem = wick_ty_var(s->t, WICK_SORT_ELEM);
    if (op->elems && wick_op_is_data(op, i)) elem->elems = op->elems;
    if (e->op == WICK_OP_matmul && first) elem = first;
    first = elem;
    wick_ty *want = wick_ty_tensor(s->t, elem, wick_ty_var(s->t, WICK_SORT_SHAPE));
    const wick_ast *at = n->kind == WICK_AST_CALL ? n->kid[i + 1] : n->kid[i];
    ok = wick_infer_expect(s, at, arg[i], want,
                           wick_str_printf(s->mem, "operand %u of `%s`", i + 1, e->name)) &&
         ok;
  }
  if (!ok) return s->t->error;
  bool one = op->nout[0] == 1 && op->nout[1] == 1;
  wick_ty **all = wick_new(s->mem, wick_ty *, narg + 1);
  for (uint32_t i = 0; i < narg; i++) all[i] = arg[i];
  all[narg] = one ? wick_ty_tensor(
                        s->t, e->op == WICK_OP_matmul ? first : wick_ty_var(s->t, WICK_SORT_ELEM),
                        wick_ty_var(s->t, WICK_SORT_SHAPE))
                  : wick_ty_var(s->t, WICK_SORT_TYPE);
  if (one && op->infer == wick_infer_same) all[narg] = arg[0];
  wick_constraint c = {.kind = WICK_NEEDS_OPERATOR,
                       .node = n,
                       .at = n->at,
                       .entity = e,
                       .n = narg + 1,
                       .arg = all,
                       .noperand = narg};
  wick_infer_call_sizes(s, n, op, &c);
  if (!wick_infer_solve_operator(s, &c)) wick_push(s->mem, &s->pending, c);
  return all[narg];
}

static wick_ty *infer_call_operator(infer *s, wick_ast *n, const wick_lang_entity *e)
{
  wick_ty **arg = wick_new(s->mem, wick_ty *, n->nkid);
  uint32_t narg = 0;
  bool named = false;
  for (uint32_t i = 1; i < n->nkid; i++) {
    if (n->kid[i]->kind == WICK_AST_NAMED) {
      wick_infer_expr(s, n->kid[i]->kid[0]);
      named = true;
    } else {
      if (named) wick_lang_report(&s->p->sources, n->kid[i]->at, "operands come before attributes");
      arg[narg++] = wick_infer_expr(s, n->kid[i]);
    }
  }
  return wick_infer_operator(s, n, e, narg, arg);
}

/* A member of a family: which one, the types of the operands decide. */
static wick_ty *infer_call_family(infer *s, const wick_ast *n, const wick_lang_entity *e)
{
  wick_ty **arg = wick_new(s->mem, wick_ty *, n->nkid);
  uint32_t narg = 0;
  for (uint32_t i = 1; i < n->nkid; i++)
    if (n->kid[i]->kind != WICK_AST_NAMED) arg[narg++] = wick_infer_expr(s, n->kid[i]);
  wick_ty *result = arg[narg] = wick_ty_var(s->t, WICK_SORT_TYPE);
  wick_constraint c = {.kind = WICK_NEEDS_MEMBER,
                       .node = n,
                       .at = n->at,
                       .entity = e,
                       .n = narg + 1,
                       .arg = arg,
                       .noperand = narg};
  if (!wick_infer_solve_member(s, &c)) wick_push(s->mem, &s->pending, c);
  return result;
}

/* ---- the functions of the language ---- */

/* The element type that a call of e converts to, or NULL. */
static wick_ty *infer_call_elem(infer *s, wick_lang_entity *e)
{
  if (e && e->kind == WICK_ENTITY_ELEM) return s->t->elem[e->elem];
  if (!e || e->kind != WICK_ENTITY_VARIABLE || !e->assigned || e->state != WICK_SORT_ELEM)
    return NULL;
  return wick_infer_variable(s, e);
}

static wick_ty *infer_call_cast(infer *s, wick_ast *n, const wick_lang_entity *e, wick_ty *elem)
{
  if (n->nkid != 2) {
    wick_lang_report(&s->p->sources, n->at, "`%s` takes 1 argument, found %u", e->name,
                     n->nkid - 1);
    infer_call_rest(s, n);
    return s->t->error;
  }
  wick_ty *shape = wick_ty_var(s->t, WICK_SORT_SHAPE),
          *want = wick_ty_tensor(s->t, wick_ty_var(s->t, WICK_SORT_ELEM), shape);
  wick_infer_expect(s, n->kid[1], wick_infer_expr(s, n->kid[1]), want, "what is converted");
  return wick_ty_tensor(s->t, elem, shape);
}

/* The function of map_tensors: its type is checked anew for each tensor. */
static wick_scheme *infer_call_leaf(infer *s, wick_ast *n)
{
  const wick_lang_entity *e = n->kind == WICK_AST_NAME ? n->ref : NULL;
  if (e && e->kind == WICK_ENTITY_LOCAL && s->typed->poly[e->number])
    return s->typed->poly[e->number];
  if (e && e->kind == WICK_ENTITY_FN && e->scheme) return e->scheme;
  uint32_t from = s->pending.n;
  s->t->level++;
  wick_ty *type = wick_infer_expr(s, n);
  s->t->level--;
  return wick_infer_generalize(s, type, from);
}

/* Checks a static argument of a transformation. */
static void infer_call_named(infer *s, const wick_ast *n, uint32_t i, const wick_lang_entity *e)
{
  wick_ast *k = n->kid[i];
  bool vmap = e->form == WICK_FORM_VMAP,
       grad = e->form == WICK_FORM_GRAD || e->form == WICK_FORM_VALUE_AND_GRAD;
  bool has = vmap   ? strcmp(k->name, "axes") == 0 || strcmp(k->name, "out") == 0
             : grad ? strcmp(k->name, "wrt") == 0
                    : false;
  if (!has)
    wick_lang_report(&s->p->sources, k->name_at, "`%s` has no parameter `%s`%s", e->name, k->name,
                     vmap   ? ", only `axes` and `out`"
                     : grad ? ", only `wrt`"
                            : "");
  for (uint32_t j = 1; j < i; j++)
    if (n->kid[j]->kind == WICK_AST_NAMED && n->kid[j]->name == k->name)
      wick_lang_report(&s->p->sources, k->at, "this argument is given twice");
  wick_infer_expr(s, k->kid[0]);
}

static wick_ty *infer_call_form(infer *s, wick_ast *n, const wick_lang_entity *e)
{
  static const uint8_t least[] = {
      [WICK_FORM_SQUARE] = 1,     [WICK_FORM_REF] = 1,           [WICK_FORM_READ] = 1,
      [WICK_FORM_WRITE] = 2,      [WICK_FORM_PRINT] = 1,         [WICK_FORM_ASSERT] = 1,
      [WICK_FORM_LEN] = 1,        [WICK_FORM_GRAD] = 1,          [WICK_FORM_VALUE_AND_GRAD] = 1,
      [WICK_FORM_VJP] = 1,        [WICK_FORM_JVP] = 1,           [WICK_FORM_VMAP] = 1,
      [WICK_FORM_CHECKPOINT] = 1, [WICK_FORM_STOP_GRADIENT] = 1, [WICK_FORM_WITH_VJP] = 2,
      [WICK_FORM_SPECIALIZE] = 2, [WICK_FORM_MAP_TENSORS] = 2,   [WICK_FORM_ZIP_TENSORS] = 2};
  wick_constraint c = {.kind = WICK_NEEDS_FORM, .node = n, .at = n->at, .entity = e};
  bool leaf = e->form == WICK_FORM_MAP_TENSORS || e->form == WICK_FORM_ZIP_TENSORS;
  c.arg = wick_new(s->mem, wick_ty *, n->nkid + 1);
  for (uint32_t i = 1; i < n->nkid; i++) {
    wick_ast *k = n->kid[i];
    if (k->kind == WICK_AST_NAMED) {
      infer_call_named(s, n, i, e);
    } else if (leaf && i == 1) {
      c.leaf = infer_call_leaf(s, k);
      s->typed->type[k->id] = c.leaf->type;
      c.noperand++;
      c.arg[c.n++] = s->t->unit;
    } else {
      c.noperand++;
      c.arg[c.n++] = wick_infer_expr(s, k);
    }
  }
  bool many = e->form == WICK_FORM_PRINT || e->form == WICK_FORM_SPECIALIZE ||
              e->form == WICK_FORM_ZIP_TENSORS || e->form == WICK_FORM_ASSERT;
  if (c.n < least[e->form] || (c.n > least[e->form] && !many)) {
    wick_lang_report(&s->p->sources, n->at, "`%s` takes %u%s argument%s, found %u", e->name,
                     least[e->form], many ? " or more" : "",
                     least[e->form] == 1 && !many ? "" : "s", c.n);
    return s->t->error;
  }
  wick_ty *result = c.arg[c.n++] = wick_ty_var(s->t, WICK_SORT_TYPE);
  if (!wick_infer_solve_form(s, &c)) wick_push(s->mem, &s->pending, c);
  return result;
}

wick_ty *wick_infer_global(infer *s, wick_ast *n)
{
  const wick_lang_entity *e = n->ref;
  if (e->kind == WICK_ENTITY_OPERATOR) {
    const wick_op *op = wick_ops[e->op];
    if (op->nin[0] != op->nin[1]) {
      wick_lang_report(&s->p->sources, n->at, "the operator `%s` is no value: call it", e->name);
      return s->t->error;
    }
    wick_ty *arg[WICK_ANY];
    for (uint32_t i = 0; i < op->nin[0]; i++) arg[i] = wick_ty_var(s->t, WICK_SORT_TYPE);
    wick_ast fake = {.kind = WICK_AST_TUPLE, .at = n->at, .name_at = n->at, .nkid = op->nin[0]};
    wick_ast **kid = wick_new(s->mem, wick_ast *, op->nin[0]);
    for (uint32_t i = 0; i < op->nin[0]; i++) kid[i] = n;
    fake.kid = kid;
    wick_ast *keep = wick_dup(s->mem, wick_ast, &fake, 1);
    wick_ty *result = wick_infer_operator(s, keep, e, op->nin[0], arg);
    return wick_ty_fn(s->t, op->nin[0], arg, result);
  }
  if (e->kind == WICK_ENTITY_ELEM) {
    wick_ty *shape = wick_ty_var(s->t, WICK_SORT_SHAPE),
            *arg = wick_ty_tensor(s->t, wick_ty_var(s->t, WICK_SORT_ELEM), shape);
    return wick_ty_fn(s->t, 1, &arg, wick_ty_tensor(s->t, s->t->elem[e->elem], shape));
  }
  if (e->kind == WICK_ENTITY_FORM || e->kind == WICK_ENTITY_FAMILY) {
    wick_lang_report(&s->p->sources, n->at, "`%s` is no value: call it", e->name);
    return s->t->error;
  }
  if (!e->scheme) return s->t->error;
  uint32_t from = s->pending.n;
  wick_ty *t = wick_infer_use(s, e, n->at, NULL);
  wick_infer_solve(s, from);
  return t;
}

wick_ty *wick_infer_call(infer *s, wick_ast *n)
{
  wick_ast *callee = n->kid[0];
  wick_lang_entity *e = callee->kind == WICK_AST_NAME ? callee->ref : NULL;
  if (callee->kind == WICK_AST_NAME) s->typed->type[callee->id] = s->t->error;
  if (e && e->kind == WICK_ENTITY_OPERATOR) return infer_call_operator(s, n, e);
  if (e && e->kind == WICK_ENTITY_FAMILY) return infer_call_family(s, n, e);
  if (e && e->kind == WICK_ENTITY_FORM) return infer_call_form(s, n, e);
  wick_ty *elem = infer_call_elem(s, e);
  if (elem) return infer_call_cast(s, n, e, elem);
  if (e && (e->kind == WICK_ENTITY_FN || e->kind == WICK_ENTITY_INDEX_OP ||
            (e->kind == WICK_ENTITY_CTOR && e->scheme && e->scheme->type->kind == WICK_TY_FN)))
    return infer_call_known(s, n, e);
  return infer_call_value(s, n);
}
