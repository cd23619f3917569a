/* The evaluator: expressions, calls, patterns. */
#include "lang/eval.h"

#include <stdio.h>

#include "ir/element.h"
#include "lang/eval_state.h"
#include "lang/family.h"
#include "lang/lex.h"
#include "lang/literal.h"
#include "ops/tensor_text.h"

const wick_datum *wick_eval_fail(eval *e, const wick_ast *n, const char *fmt, ...)
{
  static const wick_datum nothing = {.kind = WICK_DATUM_TUPLE};
  if (e->failed) return &nothing;
  char text[512];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  e->p->sources.problems.n = 0;
  wick_lang_report(&e->p->sources, n->at, "%s", text);
  e->failed = wick_lang_problems(&e->p->sources);
  return &nothing;
}

/* ---- types at run time ---- */

/* Binds the only size in d that is not known yet, where d is linear in it. */
static void eval_bind_size(eval *e, eval_frame *f, wick_dim d, int64_t value)
{
  wick_dims *dims = e->t->dims;
  wick_mark mark = wick_arena_mark(&e->tmp);
  wick_dim *known = wick_new(&e->tmp, wick_dim, f->symbol.n), symbol;
  for (uint32_t i = 0; i < f->symbol.n; i++) known[i] = wick_dim_const(f->size.at[i]);
  d = wick_dim_substitute(dims, wick_ty_dim(e->t, d), f->symbol.n, f->symbol.at, known);
  bool open = !wick_dim_is_const(d) && !wick_dim_uses(dims, d, e->t->any);
  if (open && wick_dim_solve(dims, d, value, &e->tmp, &symbol, &value)) {
    wick_push(e->mem, &f->symbol, symbol);
    wick_push(e->mem, &f->size, value);
  }
  wick_arena_rewind(&e->tmp, mark);
}

/* Binds what the type of a parameter leaves open to what the argument has. Returns the argument,
 * with the element type that the parameter asks for if it is a literal. */
static const wick_datum *eval_bind(eval *e, eval_frame *f, wick_ty *x, const wick_datum *d)
{
  wick_ty *t = wick_ty_of(x);
  if (t->kind == WICK_TY_TUPLE && d->kind == WICK_DATUM_TUPLE)
    for (uint32_t i = 0; i < t->n && i < d->n; i++) eval_bind(e, f, t->arg[i], d->item[i]);
  if (t->kind == WICK_TY_DATA && d->kind == WICK_DATUM_DATA && t->n)
    for (uint32_t i = 0; i < d->n && d->entity->parent == t->data; i++) {
      wick_ty *field = wick_lang_field_type(e->t, t, d->entity->index, i);
      if (wick_ty_of(field)->kind != WICK_TY_DATA) eval_bind(e, f, field, d->item[i]);
    }
  if (t->kind != WICK_TY_TENSOR || d->kind != WICK_DATUM_TENSOR) return d;
  const wick_ty *elem = wick_ty_of(t->arg[0]), *shape = wick_ty_flat(e->t, t->arg[1]);
  if (d->weak && elem->kind == WICK_TY_ELEM) d = wick_eval_cast(e, d, elem->elem);
  if (!d->weak && elem->kind == WICK_TY_VAR) {
    wick_push(e->mem, &f->var, elem);
    wick_push(e->mem, &f->elem, d->tensor.elem);
  }
  if (shape->kind == WICK_TY_VAR)
    wick_push(e->mem, &f->rest, (eval_rest){shape, d->tensor.rank, d->tensor.dim});
  if (shape->kind != WICK_TY_SHAPE) return d;
  uint32_t back = shape->ndim - shape->front;
  if (d->tensor.rank < shape->ndim) return d;
  for (uint32_t i = 0; i < shape->front; i++) eval_bind_size(e, f, shape->dim[i], d->tensor.dim[i]);
  for (uint32_t i = 0; i < back; i++)
    eval_bind_size(e, f, shape->dim[shape->front + i], d->tensor.dim[d->tensor.rank - back + i]);
  if (shape->rest)
    wick_push(e->mem, &f->rest,
              (eval_rest){wick_ty_of(shape->rest), d->tensor.rank - shape->ndim,
                          d->tensor.dim + shape->front});
  return d;
}

/* Binds what x, a type of the function that is called, leaves open to what y has, its type in the
 * caller: an empty list has no elements whose sizes could be read. */
static void eval_bind_type(eval *e, eval_frame *f, wick_ty *x, const eval_frame *from, wick_ty *y)
{
  const wick_ty *t = wick_ty_flat(e->t, x), *u = wick_ty_flat(e->t, y);
  int64_t value;
  wick_elem elem;
  if (t->kind == WICK_TY_VAR && t->sort == WICK_SORT_ELEM && !wick_eval_elem(f, t, &elem) &&
      (u->kind == WICK_TY_ELEM || u->kind == WICK_TY_VAR) && wick_eval_elem(from, u, &elem)) {
    wick_push(e->mem, &f->var, t);
    wick_push(e->mem, &f->elem, elem);
  }
  if (t->kind != u->kind) return;
  if (t->kind == WICK_TY_SIZE &&
      wick_dim_eval(e->t->dims, wick_ty_dim(e->t, u->size), from->symbol.n, from->symbol.at,
                    from->size.at, &value))
    eval_bind_size(e, f, t->size, value);
  bool plain = t->kind == WICK_TY_SHAPE && !t->rest && !u->rest && t->ndim == u->ndim;
  for (uint32_t i = 0; plain && i < t->ndim; i++)
    if (wick_dim_eval(e->t->dims, wick_ty_dim(e->t, u->dim[i]), from->symbol.n, from->symbol.at,
                      from->size.at, &value))
      eval_bind_size(e, f, t->dim[i], value);
  for (uint32_t i = 0; t->kind != WICK_TY_SHAPE && i < t->n && i < u->n; i++)
    eval_bind_type(e, f, t->arg[i], from, u->arg[i]);
}

/* Checks the sizes of a tensor against its type. */
static void eval_check(eval *e, eval_frame *f, const wick_ast *n, wick_ty *x, const wick_datum *d)
{
  wick_ty *t = wick_ty_of(x);
  if (t->kind != WICK_TY_TENSOR || d->kind != WICK_DATUM_TENSOR) return;
  const wick_ty *shape = wick_ty_flat(e->t, t->arg[1]);
  if (shape->kind != WICK_TY_SHAPE || shape->rest || shape->ndim != d->tensor.rank) return;
  for (uint32_t i = 0; i < shape->ndim; i++) {
    int64_t want;
    wick_dim dim = wick_ty_dim(e->t, shape->dim[i]);
    if (wick_dim_eq(dim, e->t->any) ||
        !wick_dim_eval(e->t->dims, dim, f->symbol.n, f->symbol.at, f->size.at, &want))
      continue;
    if (want != d->tensor.dim[i])
      wick_eval_fail(e, n, "size %lld is not %lld", (long long)d->tensor.dim[i], (long long)want);
  }
}

bool wick_eval_elem(const eval_frame *f, const wick_ty *elem, wick_elem *out)
{
  *out = elem->elem;
  if (elem->kind == WICK_TY_ELEM) return true;
  for (uint32_t i = 0; i < f->var.n; i++) {
    if (f->var.at[i] != elem) continue;
    *out = f->elem.at[i];
    return true;
  }
  return false;
}

static const wick_datum *eval_literal(eval *e, eval_frame *f, const wick_ast *n)
{
  wick_elem elem;
  const wick_ty *t = wick_ty_of(f->typed->type[n->id]),
                *var = t->kind == WICK_TY_TENSOR ? wick_ty_of(t->arg[0]) : t;
  if (n->kind == WICK_AST_BOOL) return wick_eval_bool(e, n->i != 0);
  bool weak = !wick_eval_elem(f, var, &elem);
  if (weak) elem = n->kind == WICK_AST_FLOAT ? WICK_F32 : WICK_I64;
  wick_datum *d = wick_dup(e->mem, wick_datum, wick_eval_tensor(e, elem, 0, NULL), 1);
  if (n->kind == WICK_AST_STRING) {
    int64_t number = wick_string_table_add(&e->t->module->strings, n->name, strlen(n->name), false);
    wick_eval_set(d, 0, (wick_scalar){.i = number});
    return d;
  }
  if (!weak && !wick_literal_fits(n, elem))
    return wick_eval_fail(e, n, "the number does not fit %s", wick_elem_name(elem));
  wick_eval_set(d, 0, wick_round_elem(elem, wick_literal_value(n, elem)));
  d->weak = weak;
  return d;
}

/* ---- patterns ---- */

static bool eval_same(const wick_datum *d, const wick_ast *p)
{
  wick_scalar v = wick_eval_get(d, 0);
  bool floats = wick_elem_is_float(d->tensor.elem);
  double want = wick_literal_value(p, WICK_F64).f;
  return floats ? !(v.f < want) && !(v.f > want) && v.f - v.f >= 0 : v.i == p->i;
}

static bool eval_match(eval *e, eval_frame *f, const wick_ast *p, const wick_datum *d)
{
  switch (p->kind) {
  case WICK_AST_BIND: f->local[p->ref->number] = d; return true;
  case WICK_AST_PATTERN_CTOR:
    if (d->kind != WICK_DATUM_DATA || d->entity != p->ref) return false;
    for (uint32_t i = 0; i < p->nkid; i++) {
      bool named = p->kid[i]->kind == WICK_AST_NAMED;
      uint32_t at = named ? (uint32_t)p->kid[i]->i : i;
      if (!eval_match(e, f, named ? p->kid[i]->kid[0] : p->kid[i], d->item[at])) return false;
    }
    return true;
  case WICK_AST_PATTERN_TUPLE:
    for (uint32_t i = 0; i < p->nkid && i < d->n; i++)
      if (!eval_match(e, f, p->kid[i], d->item[i])) return false;
    return true;
  case WICK_AST_STRING: {
    wick_string s = wick_string_table_get(&e->t->module->strings, wick_eval_get(d, 0).i);
    return s.nbytes == strlen(p->name) && memcmp(s.at, p->name, s.nbytes) == 0;
  }
  case WICK_AST_INT:
  case WICK_AST_FLOAT:
  case WICK_AST_BOOL: return d->kind == WICK_DATUM_TENSOR && eval_same(d, p);
  default: return true;
  }
}

/* ---- calls ---- */

static eval_frame *eval_frame_of(eval *e, const eval_frame *from, const wick_typed *typed)
{
  eval_frame *f = wick_new(e->mem, eval_frame, 1);
  if (from) *f = *from;
  if (from) f->var.cap = f->elem.cap = f->symbol.cap = f->size.cap = f->rest.cap = 0;
  f->typed = typed;
  f->nlocal = typed->entity->number;
  f->local = from ? wick_dup(e->mem, const wick_datum *, from->local, f->nlocal)
                  : wick_new(e->mem, const wick_datum *, f->nlocal);
  if (!from) return f;
  f->var.at = wick_dup(e->mem, const wick_ty *, from->var.at, from->var.n);
  f->elem.at = wick_dup(e->mem, wick_elem, from->elem.at, from->elem.n);
  f->symbol.at = wick_dup(e->mem, wick_dim, from->symbol.at, from->symbol.n);
  f->size.at = wick_dup(e->mem, int64_t, from->size.at, from->size.n);
  f->rest.at = wick_dup(e->mem, eval_rest, from->rest.at, from->rest.n);
  f->rest.cap = from->rest.n;
  f->var.cap = f->elem.cap = from->var.n;
  f->symbol.cap = f->size.cap = from->symbol.n;
  return f;
}

const wick_datum *wick_eval_apply(eval *e, const wick_ast *n, const wick_datum *fn, uint32_t narg,
                                  const wick_datum *const *arg)
{
  const wick_lang_entity *g = fn->entity;
  const eval_frame *caller = e->caller;
  char here;
  e->caller = NULL;
  if (e->failed) return fn;
  int64_t used = e->stack - &here;
  if ((uint64_t)(used < 0 ? -used : used) > e->options->stack_bytes)
    return wick_eval_fail(e, n, "calls are nested too deeply for the evaluator");
  if (g && g->kind == WICK_ENTITY_FORM) return wick_eval_apply_form(e, n, fn, narg, arg);
  if (!fn->literal && g->kind == WICK_ENTITY_CTOR) {
    wick_datum *d = wick_eval_new(e, WICK_DATUM_DATA, narg);
    d->entity = g;
    for (uint32_t i = 0; i < narg; i++) d->item[i] = arg[i];
    return d;
  }
  if (!fn->literal && (g->kind == WICK_ENTITY_OPERATOR)) {
    const wick_datum **in = wick_dup(e->mem, const wick_datum *, arg, narg);
    return wick_eval_operator(e, NULL, n, g->op, g->fixed, narg, in);
  }
  if (!fn->literal && g->kind == WICK_ENTITY_ELEM) return wick_eval_cast(e, arg[0], g->elem);
  const wick_ast *decl = fn->literal ? fn->literal : g->decl;
  const wick_typed *typed = fn->literal ? fn->frame->typed : g->typed;
  eval_frame *f = eval_frame_of(e, fn->literal ? fn->frame : NULL, typed);
  for (uint32_t i = 0; i < narg; i++) {
    const wick_ast *k = decl->kid[0]->kid[i];
    f->local[k->ref->number] = eval_bind(e, f, typed->local[k->ref->number], arg[i]);
  }
  if (caller) eval_bind_type(e, f, g->scheme->type, caller, caller->typed->type[n->kid[0]->id]);
  for (uint32_t i = 0; i < narg && !fn->literal; i++)
    eval_check(e, f, n, typed->local[decl->kid[0]->kid[i]->ref->number],
               f->local[decl->kid[0]->kid[i]->ref->number]);
  bool indices = !fn->literal && g->kind == WICK_ENTITY_INDEX_OP;
  const wick_datum *out =
      indices ? wick_eval_index_op(e, f, decl->kid[2]) : wick_eval_expr(e, f, decl->kid[2]);
  if (!fn->literal && !e->failed) {
    const wick_ty *type = wick_ty_of(g->scheme->type);
    out = eval_bind(e, f, type->arg[type->n - 1], out);
    eval_check(e, f, n, type->arg[type->n - 1], out);
  }
  return out;
}

static const wick_datum *eval_function(eval *e, const wick_lang_entity *g)
{
  wick_datum *d = wick_eval_new(e, WICK_DATUM_FN, 0);
  d->entity = g;
  return d;
}

static const wick_datum *eval_name(eval *e, eval_frame *f, const wick_ast *n)
{
  const wick_lang_entity *g = n->ref;
  if (g->kind == WICK_ENTITY_LOCAL) return f->local[g->number];
  if (g->kind == WICK_ENTITY_VARIABLE) {
    int64_t v;
    wick_dim d = wick_ty_dim(e->t, wick_ty_of(f->typed->variable[g->index])->size);
    if (wick_dim_eval(e->t->dims, d, f->symbol.n, f->symbol.at, f->size.at, &v))
      return wick_eval_int(e, v);
    return wick_eval_fail(e, n, "no argument has the size `%s`", g->name);
  }
  if (g->kind == WICK_ENTITY_CTOR && !g->decl->nkid && g->parent->kind == WICK_ENTITY_TYPE)
    return wick_eval_apply(e, n, eval_function(e, g), 0, NULL);
  return eval_function(e, g);
}

/* Places arguments by the names of the parameters. */
static uint32_t eval_arguments(eval *e, eval_frame *f, const wick_ast *n, const wick_lang_entity *g,
                               const wick_datum **arg)
{
  const wick_ast *list = NULL;
  if (g && (g->kind == WICK_ENTITY_FN || g->kind == WICK_ENTITY_INDEX_OP)) list = g->decl->kid[0];
  if (g && g->kind == WICK_ENTITY_CTOR) list = g->decl;
  uint32_t count = 0;
  for (uint32_t i = 1; i < n->nkid; i++) {
    const wick_ast *k = n->kid[i];
    uint32_t at = count;
    if (k->kind == WICK_AST_NAMED && !list) continue; /* an attribute */
    if (k->kind == WICK_AST_NAMED)
      for (at = 0; at < list->nkid && list->kid[at]->name != k->name;) at++;
    arg[at] = wick_eval_expr(e, f, k->kind == WICK_AST_NAMED ? k->kid[0] : k);
    count++;
  }
  return count;
}

/* e(x), where e stands for an element type. */
static const wick_datum *eval_converted(eval *e, eval_frame *f, const wick_ast *n)
{
  const wick_lang_entity *g = n->kid[0]->ref;
  const wick_datum *x = wick_eval_expr(e, f, n->kid[1]);
  wick_elem elem;
  if (e->failed) return x;
  if (!wick_eval_elem(f, wick_ty_of(f->typed->variable[g->index]), &elem))
    return wick_eval_fail(e, n, "no argument has the element type `%s`", g->name);
  return wick_eval_cast(e, x, elem);
}

static wick_lang_operand eval_operand(eval *e, const wick_datum *d)
{
  wick_lang_operand x = {0};
  if (d->kind == WICK_DATUM_TENSOR) {
    x.kind = WICK_OPERAND_TENSOR, x.elem = d->tensor.elem, x.rank = d->tensor.rank;
    for (uint32_t i = 0; i < x.rank; i++) x.dim[i] = d->tensor.dim[i];
  }
  if (d->kind != WICK_DATUM_TUPLE) return x;
  wick_lang_operand *item = wick_new(e->mem, wick_lang_operand, d->n);
  for (uint32_t i = 0; i < d->n; i++) item[i] = eval_operand(e, d->item[i]);
  x.kind = WICK_OPERAND_TUPLE, x.n = d->n, x.item = item;
  return x;
}

/* Calls the member of a family for these arguments. */
static const wick_datum *eval_member(eval *e, const wick_ast *n, const wick_lang_entity *family,
                                     uint32_t narg, const wick_datum *const *arg)
{
  wick_lang_operand *operand = wick_new(e->mem, wick_lang_operand, narg);
  for (uint32_t i = 0; i < narg; i++) operand[i] = eval_operand(e, arg[i]);
  const wick_lang_entity *member = wick_lang_member(e->p, e->t, family, n, narg, operand);
  if (e->p->sources.problems.n) e->failed = wick_lang_problems(&e->p->sources);
  return wick_eval_apply(e, n, eval_function(e, member ? member : family), narg, arg);
}

static const wick_datum *eval_call(eval *e, eval_frame *f, const wick_ast *n)
{
  const wick_ast *callee = n->kid[0];
  const wick_lang_entity *g = callee->kind == WICK_AST_NAME ? callee->ref : NULL;
  const wick_datum **arg = wick_new(e->mem, const wick_datum *, n->nkid + 1);
  if (g && g->kind == WICK_ENTITY_FORM) {
    uint32_t given = eval_arguments(e, f, n, NULL, arg);
    return e->failed ? arg[0] : wick_eval_form(e, f, n, g, given, arg);
  }
  if (g && g->kind == WICK_ENTITY_VARIABLE) return eval_converted(e, f, n);
  bool local = g && g->kind == WICK_ENTITY_LOCAL;
  const wick_datum *fn = local || !g ? wick_eval_expr(e, f, callee) : eval_function(e, g);
  uint32_t narg = eval_arguments(e, f, n, local ? NULL : g, arg);
  if (e->failed) return fn;
  if (g && g->kind == WICK_ENTITY_OPERATOR)
    return wick_eval_operator(e, f, n, g->op, g->fixed, narg, arg);
  if (g && g->kind == WICK_ENTITY_FAMILY) return eval_member(e, n, g, narg, arg);
  if (g && g->kind == WICK_ENTITY_FN && f->typed->type[callee->id]) e->caller = f;
  return wick_eval_apply(e, n, fn, narg, arg);
}

/* ---- control ---- */

static const wick_datum *eval_block(eval *e, eval_frame *f, const wick_ast *n)
{
  const wick_datum *out = NULL;
  for (uint32_t i = 0; i < n->nkid && !e->failed; i++) {
    const wick_ast *k = n->kid[i];
    out = NULL;
    if (k->kind != WICK_AST_LET)
      out = wick_eval_expr(e, f, k);
    else
      eval_match(e, f, k->kid[0],
                 eval_bind(e, f, f->typed->type[k->kid[0]->id], wick_eval_expr(e, f, k->kid[2])));
  }
  return out ? out : wick_eval_new(e, WICK_DATUM_TUPLE, 0);
}

static bool eval_yes(eval *e, eval_frame *f, const wick_ast *n)
{
  const wick_datum *d = wick_eval_expr(e, f, n);
  return !e->failed && wick_eval_get(d, 0).i != 0;
}

static const wick_datum *eval_loop(eval *e, eval_frame *f, const wick_ast *n)
{
  bool counts = n->kind == WICK_AST_FOR;
  const wick_ast *pattern = n->kid[counts ? 3 : 1], *init = n->kid[counts ? 4 : 2],
                 *body = n->kid[counts ? 5 : 3];
  int64_t i = 0, end = 0;
  const wick_datum *first = counts ? wick_eval_expr(e, f, n->kid[1]) : NULL,
                   *last = counts ? wick_eval_expr(e, f, n->kid[2]) : NULL;
  const wick_datum *carried =
      init ? wick_eval_expr(e, f, init) : wick_eval_new(e, WICK_DATUM_TUPLE, 0);
  if (e->failed) return carried;
  if (counts) i = wick_eval_get(first, 0).i, end = wick_eval_get(last, 0).i;
  for (; !counts || i < end; i++) {
    if (pattern) eval_match(e, f, pattern, carried);
    if (counts) {
      const wick_datum *k = wick_eval_cast(e, wick_eval_int(e, i),
                                           first->weak ? last->tensor.elem : first->tensor.elem);
      eval_match(e, f, n->kid[0], k);
    } else if (!eval_yes(e, f, n->kid[0])) {
      break;
    }
    carried = wick_eval_expr(e, f, body);
    if (e->failed) break;
  }
  return carried;
}

static const wick_datum *eval_binary(eval *e, eval_frame *f, const wick_ast *n)
{
  if (n->op == WICK_TOKEN_AND || n->op == WICK_TOKEN_OR) {
    bool a = eval_yes(e, f, n->kid[0]), decided = a == (n->op == WICK_TOKEN_OR);
    return wick_eval_bool(e, decided ? a : eval_yes(e, f, n->kid[1]));
  }
  const wick_datum *arg[2] = {wick_eval_expr(e, f, n->kid[0]), NULL};
  arg[1] = wick_eval_expr(e, f, n->kid[1]);
  if (e->failed) return arg[0];
  return wick_eval_operator(e, f, n, wick_infer_opcode(n->op), false, 2, arg);
}

static const wick_datum *eval_field(eval *e, const wick_ast *n, const wick_datum *d,
                                    const wick_datum *value)
{
  uint32_t at = (uint32_t)n->i;
  if (n->name && d->kind == WICK_DATUM_DATA)
    for (at = 0; at < d->n && d->entity->decl->kid[at]->name != n->name;) at++;
  if (e->failed || at >= d->n) return wick_eval_fail(e, n, "there is no such field");
  if (!value) return d->item[at];
  wick_datum *out = wick_dup(e->mem, wick_datum, d, 1);
  out->item = wick_dup(e->mem, const wick_datum *, d->item, d->n);
  out->item[at] = value;
  return out;
}

static const wick_datum *eval_with(eval *e, eval_frame *f, const wick_ast *n)
{
  const wick_datum *d = wick_eval_expr(e, f, n->kid[0]), *v = wick_eval_expr(e, f, n->kid[2]);
  if (e->failed) return d;
  return n->kid[1]->kind == WICK_AST_FIELD ? eval_field(e, n->kid[1], d, v)
                                           : wick_eval_index(e, f, n->kid[1], d, v);
}

static const wick_datum *eval_items(eval *e, eval_frame *f, const wick_ast *n)
{
  wick_datum *d = wick_eval_new(e, WICK_DATUM_TUPLE, n->nkid);
  for (uint32_t i = 0; i < n->nkid; i++) d->item[i] = wick_eval_expr(e, f, n->kid[i]);
  if (n->kind == WICK_AST_TUPLE || e->failed) return d;
  return wick_eval_stack(e, n, d->n, d->item);
}

static const wick_datum *eval_match_arms(eval *e, eval_frame *f, const wick_ast *n)
{
  const wick_datum *d = wick_eval_expr(e, f, n->kid[0]);
  for (uint32_t i = 1; i < n->nkid && !e->failed; i++)
    if (eval_match(e, f, n->kid[i]->kid[0], d)) return wick_eval_expr(e, f, n->kid[i]->kid[1]);
  return wick_eval_fail(e, n, "no arm matches");
}

const wick_datum *wick_eval_expr(eval *e, eval_frame *f, const wick_ast *n)
{
  if (e->failed) return wick_eval_fail(e, n, " ");
  switch (n->kind) {
  case WICK_AST_INT:
  case WICK_AST_FLOAT:
  case WICK_AST_STRING:
  case WICK_AST_BOOL: return eval_literal(e, f, n);
  case WICK_AST_TENSOR: {
    wick_datum *d = wick_eval_new(e, WICK_DATUM_TENSOR, 0);
    d->tensor = *n->tensor;
    return d;
  }
  case WICK_AST_NAME: return eval_name(e, f, n);
  case WICK_AST_TUPLE:
  case WICK_AST_ARRAY: return eval_items(e, f, n);
  case WICK_AST_CALL: return eval_call(e, f, n);
  case WICK_AST_BINARY: return eval_binary(e, f, n);
  case WICK_AST_UNARY: {
    const wick_datum *d = wick_eval_expr(e, f, n->kid[0]);
    return e->failed ? d
                     : wick_eval_operator(e, f, n, n->op == '!' ? WICK_OP_not : WICK_OP_neg, false,
                                          1, &d);
  }
  case WICK_AST_INDEX: {
    const wick_datum *d = wick_eval_expr(e, f, n->kid[0]);
    return e->failed ? d : wick_eval_index(e, f, n, d, NULL);
  }
  case WICK_AST_FIELD: return eval_field(e, n, wick_eval_expr(e, f, n->kid[0]), NULL);
  case WICK_AST_WITH: return eval_with(e, f, n);
  case WICK_AST_IF:
    if (eval_yes(e, f, n->kid[0])) return wick_eval_expr(e, f, n->kid[1]);
    return n->kid[2] ? wick_eval_expr(e, f, n->kid[2]) : wick_eval_new(e, WICK_DATUM_TUPLE, 0);
  case WICK_AST_MATCH: return eval_match_arms(e, f, n);
  case WICK_AST_BLOCK: return eval_block(e, f, n);
  case WICK_AST_REDUCE: return wick_eval_reduce(e, f, n);
  case WICK_AST_FOR:
  case WICK_AST_WHILE: return eval_loop(e, f, n);
  case WICK_AST_ASCRIBE: {
    const wick_datum *d = eval_bind(e, f, f->typed->type[n->id], wick_eval_expr(e, f, n->kid[0]));
    if (!e->failed) eval_check(e, f, n, f->typed->type[n->id], d);
    return d;
  }
  case WICK_AST_FN: {
    wick_datum *d = wick_eval_new(e, WICK_DATUM_FN, 0);
    d->literal = n;
    d->frame = eval_frame_of(e, f, f->typed);
    return d;
  }
  default: return wick_eval_fail(e, n, "the evaluator does not have this");
  }
}

wick_status wick_lang_eval(wick_lang_program *p, wick_types *t, const wick_lang_entity *fn,
                           const wick_eval_options *options, const wick_datum **out)
{
  char here;
  eval e = {.p = p,
            .t = t,
            .mem = p->mem,
            .options = options,
            .stack = &here,
            .tmp = wick_arena_make(p->mem->guard),
            .scratch = wick_arena_make(p->mem->guard),
            .results = wick_arena_make(p->mem->guard)};
  *out = wick_eval_apply(&e, fn->decl, eval_function(&e, fn), 0, NULL);
  wick_arena_free(&e.tmp);
  wick_arena_free(&e.scratch);
  wick_arena_free(&e.results);
  return e.failed;
}

/* ---- printing ---- */

void wick_datum_print(const wick_types *t, const wick_datum *d, wick_text *out)
{
  static const char *const open[] = {"", "(", "(", "", "Ref("};
  enum { LONGEST = 1 << 20 };
  if (out->n > LONGEST) return;
  if (d->kind == WICK_DATUM_TENSOR) {
    wick_tensor_text(&t->module->strings, &d->tensor, out);
    return;
  }
  if (d->kind == WICK_DATUM_FN) {
    wick_text_add(out, "<fn>");
    return;
  }
  if (d->kind == WICK_DATUM_DATA) wick_text_add(out, d->entity->name);
  if (d->kind == WICK_DATUM_DATA && !d->n) return;
  wick_text_add(out, open[d->kind]);
  for (uint32_t i = 0; i < d->n; i++) {
    if (i) wick_text_add(out, ", ");
    wick_datum_print(t, d->item[i], out);
  }
  wick_text_add(out, d->kind == WICK_DATUM_TUPLE && d->n == 1 ? ",)" : ")");
}
