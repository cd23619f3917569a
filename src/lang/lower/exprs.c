/* Expressions: literals, names, blocks, branches and loops. */
#include "lang/lex.h"
#include "lang/literal.h"
#include "lang/lower/state.h"

/* ---- literals ---- */

wick_value wick_lowering_number(lowering *s, lowering_frame *f, wick_elem elem, double v, int64_t i)
{
  return wick_build_const(f->b, wick_type_tensor(s->module, elem, 0, NULL), v, i);
}

const lowered *wick_lowering_size(lowering *s, lowering_frame *f, wick_dim d)
{
  if (wick_dim_is_const(d))
    return wick_lowering_tensor(s, f, wick_lowering_number(s, f, WICK_I64, 0, d.v));
  const wick_attr shape = {.n = 1, .dims = &d};
  wick_value x = wick_lowering_number(s, f, WICK_I64, 0, 0);
  x = wick_build(f->b, WICK_OP_broadcast_to, 1, &x, &shape, 0, NULL);
  return wick_lowering_op(s, f, WICK_OP_size, 1, &x, NULL);
}

wick_value wick_lowering_string(lowering *s, lowering_frame *f, const char *text)
{
  int64_t *at = wick_module_alloc(s->module, sizeof *at);
  wick_type type = wick_type_tensor(s->module, WICK_STRING, 0, NULL);
  *at = wick_string_table_add(&s->module->strings, text, strlen(text), true);
  return wick_build_constant(f->b, wick_constant_add(s->module, "text", type, at, sizeof *at));
}

static wick_elem exprs_elem(lowering *s, lowering_frame *f, const wick_ast *n)
{
  const wick_type t = wick_lowering_type(s, n->at, f->typed->type[n->id]);
  return s->failed ? WICK_F32 : wick_type_get(s->module, t)->elem;
}

static wick_scalar exprs_scalar(lowering *s, const wick_ast *n, wick_elem elem)
{
  if (!wick_literal_fits(n, elem))
    wick_lowering_fail(s, n->at, "the number does not fit %s", wick_elem_name(elem));
  return wick_literal_value(n, elem);
}

static const lowered *exprs_literal(lowering *s, lowering_frame *f, const wick_ast *n)
{
  if (n->kind == WICK_AST_STRING)
    return wick_lowering_tensor(s, f, wick_lowering_string(s, f, n->name));
  wick_elem elem = n->kind == WICK_AST_BOOL ? WICK_BOOL : exprs_elem(s, f, n);
  if (s->failed) return wick_lowering_unit(s);
  wick_scalar v = exprs_scalar(s, n, elem);
  bool real = wick_elem_is_float(elem);
  return wick_lowering_tensor(s, f,
                              wick_lowering_number(s, f, elem, real ? v.f : 0, real ? 0 : v.i));
}

/* ---- tensors ---- */

static bool exprs_is_literal(const wick_ast *n)
{
  if (n->kind == WICK_AST_UNARY && n->op == '-') n = n->kid[0];
  if (n->kind == WICK_AST_INT || n->kind == WICK_AST_FLOAT || n->kind == WICK_AST_BOOL) return true;
  if (n->kind != WICK_AST_ARRAY) return false;
  for (uint32_t i = 0; i < n->nkid; i++)
    if (!exprs_is_literal(n->kid[i])) return false;
  return true;
}

static void exprs_store(lowering *s, const wick_ast *n, wick_elem elem, void *to, uint64_t *at)
{
  bool minus = n->kind == WICK_AST_UNARY;
  if (n->kind == WICK_AST_ARRAY) {
    for (uint32_t i = 0; i < n->nkid; i++) exprs_store(s, n->kid[i], elem, to, at);
    return;
  }
  wick_scalar v = exprs_scalar(s, minus ? n->kid[0] : n, elem);
  if (minus && wick_elem_is_float(elem)) v.f = -v.f;
  if (minus && !wick_elem_is_float(elem)) v.i = (int64_t)(0 - (uint64_t)v.i);
  wick_store_elem(elem, to, (*at)++, wick_round_elem(elem, v));
}

/* A tensor of literals is a constant. */
static const lowered *exprs_constant(lowering *s, lowering_frame *f, const wick_ast *n)
{
  wick_type type = wick_lowering_type(s, n->at, f->typed->type[n->id]);
  uint64_t nbytes, at = 0;
  if (s->failed) return wick_lowering_unit(s);
  const wick_type_info *t = wick_type_get(s->module, type);
  wick_type_nbytes(s->module, type, &nbytes);
  void *data = wick_module_alloc(s->module, (size_t)nbytes + 1);
  memset(data, 0, (size_t)nbytes);
  exprs_store(s, n, t->elem, data, &at);
  uint32_t c = wick_constant_add(s->module, "tensor", type, data, nbytes);
  return wick_lowering_tensor(s, f, wick_build_constant(f->b, c));
}

static const lowered *exprs_tensor(lowering *s, lowering_frame *f, const wick_ast *n)
{
  wick_type type = wick_lowering_type(s, n->at, f->typed->type[n->id]);
  uint64_t nbytes;
  if (s->failed) return wick_lowering_unit(s);
  wick_type_nbytes(s->module, type, &nbytes);
  void *data = wick_module_alloc(s->module, (size_t)nbytes + 1);
  memcpy(data, n->tensor->data, (size_t)nbytes);
  uint32_t c = wick_constant_add(s->module, n->name ? n->name : "tensor", type, data, nbytes);
  return wick_lowering_tensor(s, f, wick_build_constant(f->b, c));
}

static const lowered *exprs_array(lowering *s, lowering_frame *f, wick_ast *n)
{
  if (!n->nkid || exprs_is_literal(n)) return exprs_constant(s, f, n);
  wick_value *row = wick_new(s->tmp, wick_value, n->nkid);
  for (uint32_t i = 0; i < n->nkid; i++) {
    wick_value v = wick_lowering_value(s, f, n->kid[i]);
    if (s->failed) return wick_lowering_unit(s);
    const wick_type_info *t = wick_built_info(f->b, v);
    wick_dim dim[WICK_MAX_RANK + 1] = {wick_dim_const(1)};
    for (uint32_t k = 0; k < t->rank; k++) dim[k + 1] = t->dim[k];
    wick_lowering_at(s, f, n->at);
    row[i] = wick_build_reshape(f->b, v, t->rank + 1u, dim);
  }
  return wick_lowering_tensor(s, f, wick_build_concat(f->b, 0, n->nkid, row));
}

static const lowered *exprs_tuple(lowering *s, lowering_frame *f, wick_ast *n)
{
  lowered *x = wick_lowering_new(s, LOWERED_ITEMS, NULL, n->nkid);
  wick_ty **type = wick_new(s->tmp, wick_ty *, n->nkid);
  for (uint32_t i = 0; i < n->nkid && !s->failed; i++) {
    x->item[i] = wick_lowering_expr(s, f, n->kid[i]);
    type[i] = x->item[i]->type ? x->item[i]->type : f->typed->type[n->kid[i]->id];
  }
  x->type = s->failed ? s->t->unit : wick_ty_new(s->t, WICK_TY_TUPLE, n->nkid, type);
  return s->failed ? wick_lowering_unit(s) : x;
}

/* ---- names ---- */

static const lowered *exprs_function(lowering *s, wick_lang_entity *e, wick_ty *type)
{
  lowered *x = wick_lowering_new(s, LOWERED_FN, type, 0);
  lowered_code *c = wick_new(s->tmp, lowered_code, 1);
  c->entity = e, x->code = c;
  return x;
}

static const lowered *exprs_size(lowering *s, lowering_frame *f, const wick_ast *n)
{
  const wick_ty *v = wick_ty_of(f->typed->variable[n->ref->index]);
  wick_dim d = v->kind == WICK_TY_SIZE ? wick_ty_dim(s->t, v->size) : WICK_DIM_INVALID;
  if (wick_dim_eq(d, WICK_DIM_INVALID) || wick_dim_eq(d, s->t->any))
    return wick_lowering_fail(s, n->at, "the size `%s` is not known when the program is compiled",
                              n->name);
  return wick_lowering_size(s, f, d);
}

/* The value of a static parameter: a word, a number, or a list as its type has it. */
static const lowered *exprs_static(lowering *s, lowering_frame *f, const wick_ast *n)
{
  const wick_ty *type = wick_ty_of(f->typed->type[n->id]);
  wick_static k;
  if (!wick_lang_static(s->p, s->t, f->typed, n, &k))
    return wick_lowering_fail(s, n->at, "this static argument is no value");
  if (k.word) return wick_lowering_tensor(s, f, wick_lowering_string(s, f, k.word));
  if (!k.list) {
    wick_elem elem = exprs_elem(s, f, n);
    return s->failed ? wick_lowering_unit(s)
                     : wick_lowering_tensor(s, f, wick_lowering_number(s, f, elem, k.f, k.ints[0]));
  }
  lowered *x = wick_lowering_new(s, LOWERED_ITEMS, NULL, k.n);
  wick_value *row = wick_new(s->tmp, wick_value, k.n);
  const wick_dim one = wick_dim_const(1);
  for (uint32_t i = 0; i < k.n; i++) {
    bool tuple = type->kind == WICK_TY_TUPLE;
    wick_type t = wick_lowering_type(s, n->at, tuple ? type->arg[i] : f->typed->type[n->id]);
    if (s->failed) return wick_lowering_unit(s);
    row[i] =
        wick_lowering_number(s, f, wick_type_get(s->module, t)->elem, (double)k.ints[i], k.ints[i]);
    x->item[i] = wick_lowering_tensor(s, f, row[i]);
    if (!tuple) row[i] = wick_build_reshape(f->b, row[i], 1, &one);
  }
  if (type->kind == WICK_TY_TUPLE || !k.n) return x;
  return wick_lowering_tensor(s, f, wick_build_concat(f->b, 0, k.n, row));
}

static const lowered *exprs_name(lowering *s, lowering_frame *f, wick_ast *n)
{
  wick_lang_entity *e = n->ref;
  wick_ty *type = f->typed->type[n->id];
  if (e->kind == WICK_ENTITY_VARIABLE) return exprs_size(s, f, n);
  if (e->kind == WICK_ENTITY_LOCAL && e->fixed) return exprs_static(s, f, n);
  if (e->kind == WICK_ENTITY_LOCAL) {
    const lowered *x = f->local[e->number];
    if (x->kind != LOWERED_FN || (x->type && !f->typed->poly[e->number])) return x;
    lowered *y = wick_dup(s->tmp, lowered, x, 1); /* its type at this use */
    y->type = wick_ty_of(type);
    return y;
  }
  const lowered *fn = exprs_function(s, e, wick_ty_of(type));
  bool constant =
      e->kind == WICK_ENTITY_CTOR && !e->decl->nkid && e->parent->kind == WICK_ENTITY_TYPE;
  return constant ? wick_lowering_call(s, f, n, fn, 0, NULL, NULL, type) : fn;
}

/* ---- patterns that always match ---- */

void wick_lowering_bind(lowering *s, lowering_frame *f, const wick_ast *pattern, const lowered *x)
{
  if (s->failed) return;
  if (pattern->kind == WICK_AST_BIND) f->local[pattern->ref->number] = x;
  if (pattern->kind != WICK_AST_PATTERN_TUPLE && pattern->kind != WICK_AST_PATTERN_CTOR) return;
  for (uint32_t i = 0; i < pattern->nkid; i++) {
    const wick_ast *k = pattern->kid[i];
    bool named = k->kind == WICK_AST_NAMED;
    wick_lowering_bind(s, f, named ? k->kid[0] : k, x->item[named ? (uint32_t)k->i : i]);
  }
}

static const lowered *exprs_block(lowering *s, lowering_frame *f, wick_ast *n)
{
  const lowered *out = NULL;
  for (uint32_t i = 0; i < n->nkid && !s->failed; i++) {
    wick_ast *k = n->kid[i];
    out = NULL;
    if (k->kind != WICK_AST_LET) {
      out = wick_lowering_expr(s, f, k);
      continue;
    }
    const lowered *x = wick_lowering_expr(s, f, k->kid[2]);
    wick_lowering_bind(s, f, k->kid[0], x);
  }
  return out && !s->failed ? out : wick_lowering_unit(s);
}

/* ---- branches ---- */

void wick_lowering_yield(lowering *s, lowering_frame *f, wick_lang_at at, const lowered *x,
                         wick_ty *type)
{
  lowering_values all = {0};
  x = s->failed ? x : wick_lowering_plain(s, f, at, x, type);
  if (s->failed) return;
  wick_lowering_flatten(s, x, &all);
  wick_yield(f->b, all.n, all.at);
}

static const lowered *exprs_if(lowering *s, lowering_frame *f, wick_ast *n)
{
  wick_ty *type = f->typed->type[n->id];
  bool yes;
  if (wick_lang_decided(s->p, s->t, f->typed, n->kid[0], &yes)) {
    wick_ast *arm = n->kid[yes ? 1 : 2];
    return arm ? wick_lowering_expr(s, f, arm) : wick_lowering_unit(s);
  }
  wick_value c = wick_lowering_value(s, f, n->kid[0]);
  if (s->failed) return wick_lowering_unit(s);
  wick_lowering_at(s, f, n->at);
  wick_build_open(f->b, WICK_OP_if, 1, &c, NULL, 0, NULL);
  for (uint32_t i = 1; i < 3; i++) {
    wick_region_begin(f->b, 0, NULL);
    const lowered *x = n->kid[i] ? wick_lowering_expr(s, f, n->kid[i]) : wick_lowering_unit(s);
    wick_lowering_yield(s, f, n->at, x, type);
    if (!wick_lowering_ok(s, f)) return wick_lowering_unit(s);
  }
  wick_lowering_at(s, f, n->at);
  wick_value v = wick_build_close(f->b);
  if (!wick_lowering_ok(s, f)) return wick_lowering_unit(s);
  return wick_lowering_unflatten(s, f, type, &v);
}

/* a && b, a || b: b only if it matters. */
static const lowered *exprs_both(lowering *s, lowering_frame *f, wick_ast *n)
{
  bool or = n->op == WICK_TOKEN_OR, known;
  if (wick_lang_decided(s->p, s->t, f->typed, n->kid[0], &known)) {
    if (known != or) return wick_lowering_expr(s, f, n->kid[1]);
    return wick_lowering_tensor(s, f, wick_lowering_number(s, f, WICK_BOOL, 0, or));
  }
  wick_value a = wick_lowering_value(s, f, n->kid[0]);
  if (s->failed) return wick_lowering_unit(s);
  wick_lowering_at(s, f, n->at);
  wick_build_open(f->b, WICK_OP_if, 1, &a, NULL, 0, NULL);
  for (uint32_t i = 0; i < 2; i++) {
    wick_region_begin(f->b, 0, NULL);
    wick_value v = (i == 0) == or ? wick_lowering_number(s, f, WICK_BOOL, 0, or)
                                  : wick_lowering_value(s, f, n->kid[1]);
    if (!wick_lowering_ok(s, f)) return wick_lowering_unit(s);
    wick_yield(f->b, 1, &v);
  }
  return wick_lowering_tensor(s, f, wick_build_close(f->b));
}

/* ---- loops ---- */

/* The value of a loop's index: first + i, in the type of the range. */
static wick_value exprs_counted(lowering *s, lowering_frame *f, wick_value i, wick_value first)
{
  const wick_type_info *t = wick_built_info(f->b, first);
  (void)s;
  wick_value k = wick_build_cast(f->b, i, t->elem);
  return wick_build2(f->b, WICK_OP_add, k, first);
}

static wick_value exprs_times(lowering *s, lowering_frame *f, wick_value first, wick_value end)
{
  wick_value a = wick_build_cast(f->b, first, WICK_I64), b = wick_build_cast(f->b, end, WICK_I64);
  wick_value n = wick_build2(f->b, WICK_OP_sub, b, a);
  return wick_build2(f->b, WICK_OP_max, n, wick_lowering_number(s, f, WICK_I64, 0, 0));
}

/* Returns whether the value of n follows from the loop's index. */
static bool exprs_follows(const wick_ast *n, const wick_lang_entity *index, uint32_t *left)
{
  if (!*left) return false;
  --*left;
  if (n->kind == WICK_AST_NAME && n->ref) {
    if (n->ref == index) return true;
    const wick_ast *value = n->ref->kind == WICK_ENTITY_LOCAL ? n->ref->value : NULL;
    return value && exprs_follows(value, index, left);
  }
  for (uint32_t i = 0; i < n->nkid; i++)
    if (n->kid[i] && exprs_follows(n->kid[i], index, left)) return true;
  return false;
}

/* Returns whether the body has slices whose sizes change with the loop's index. */
static bool exprs_resizes(lowering *s, lowering_frame *f, const wick_ast *n,
                          const wick_lang_entity *index)
{
  if (n->kind == WICK_AST_SLICE) {
    bool spans =
        n->kid[0] && n->kid[1] &&
        !wick_dim_eq(wick_lang_span(s->p, s->t, f->typed, n->kid[0], n->kid[1]), WICK_DIM_INVALID);
    for (uint32_t i = 0; i < 3; i++) {
      uint32_t left = 1000;
      if (n->kid[i] && !(spans && i < 2) && exprs_follows(n->kid[i], index, &left)) return true;
    }
  }
  for (uint32_t i = 0; i < n->nkid; i++)
    if (n->kid[i] && exprs_resizes(s, f, n->kid[i], index)) return true;
  return false;
}

/* Returns whether n, or a function that it names, differentiates. */
static bool exprs_differentiates(const wick_ast *n, uint32_t *left)
{
  if (!*left) return false;
  --*left;
  const wick_lang_entity *e = n->kind == WICK_AST_NAME ? n->ref : NULL;
  if (e && e->kind == WICK_ENTITY_FORM)
    return e->form == WICK_FORM_GRAD || e->form == WICK_FORM_VALUE_AND_GRAD ||
           e->form == WICK_FORM_VJP || e->form == WICK_FORM_JVP;
  if (e && e->kind == WICK_ENTITY_FN && exprs_differentiates(e->decl->kid[2], left)) return true;
  for (uint32_t i = 0; i < n->nkid; i++)
    if (n->kid[i] && exprs_differentiates(n->kid[i], left)) return true;
  return false;
}

/* Returns whether the order of a derivative grows with the steps: they differentiate functions that
 * the loop carries. */
static bool exprs_raises(lowering *s, lowering_frame *f, const wick_ast *n)
{
  uint32_t left = 1000;
  return wick_lowering_has_fn(s, f->typed->type[n->id]) && exprs_differentiates(n->kid[5], &left);
}

/* Returns whether n has at most *left nodes, without loops, and calls operators alone. */
static bool exprs_is_small(lowering *s, lowering_frame *f, const wick_ast *n, uint32_t *left)
{
  wick_entity_kind kind = n->ref ? n->ref->kind : WICK_ENTITY_LOCAL;
  bool calls = kind == WICK_ENTITY_FN || kind == WICK_ENTITY_FORM || kind == WICK_ENTITY_INDEX_OP;
  if (!*left || calls || n->kind == WICK_AST_FOR || n->kind == WICK_AST_WHILE ||
      n->kind == WICK_AST_FN ||
      (n->kind == WICK_AST_NAME && kind == WICK_ENTITY_LOCAL && f->typed->type[n->id] &&
       wick_lowering_has_fn(s, f->typed->type[n->id])))
    return false;
  --*left;
  for (uint32_t i = 0; i < n->nkid; i++)
    if (n->kid[i] && !exprs_is_small(s, f, n->kid[i], left)) return false;
  return true;
}

/* Returns whether a loop computes a few elements by a few operators. */
static bool exprs_is_tiny(lowering *s, lowering_frame *f, const wick_ast *n)
{
  enum { NODES = 40, ELEMENTS = 64 };
  uint32_t left = NODES;
  lowering_types types = {0};
  wick_ty *type = f->typed->type[n->id];
  if (!wick_lowering_is_concrete(s, type) || !exprs_is_small(s, f, n->kid[5], &left)) return false;
  wick_lowering_types(s, n->at, type, &types);
  int64_t sum = 0;
  for (uint32_t i = 0; i < types.n; i++) {
    if (wick_kind_is_object(wick_type_get(s->module, types.at[i])->kind)) return false;
    wick_dim count = wick_type_numel(s->module, types.at[i]);
    if (!wick_dim_is_const(count) || count.v > ELEMENTS) return false;
    sum += count.v;
  }
  return sum <= ELEMENTS;
}

/* The type of a carried value with the sizes that its tensors have in the graph. */
static wick_ty *exprs_carried_type(lowering *s, const lowered *x)
{
  wick_ty *type = wick_ty_of(x->type);
  if (x->kind != LOWERED_ITEMS || type->kind != WICK_TY_TUPLE) return type;
  wick_ty **item = wick_new(s->tmp, wick_ty *, x->n);
  for (uint32_t i = 0; i < x->n; i++) item[i] = exprs_carried_type(s, x->item[i]);
  return wick_ty_new(s->t, WICK_TY_TUPLE, x->n, item);
}

/* Returns whether a step gives sizes that differ from those of x, which it gets. */
static bool exprs_grows(lowering *s, lowering_frame *f, const wick_ast *n, int64_t index,
                        const lowered *x)
{
  if (!n->kid[3] || wick_lowering_is_concrete(s, f->typed->type[n->id])) return false;
  wick_ty *now = exprs_carried_type(s, x);
  const wick_typed *step = wick_lang_instance_step(s->p, s->t, f->typed, n, index, now);
  wick_ty *then = wick_ty_of(step->type[n->kid[5]->id]);
  wick_text a = wick_text_begin(s->tmp), b = wick_text_begin(s->tmp);
  if (s->p->sources.problems.n || !wick_lowering_has_type(s, then)) return false;
  wick_lowering_type_key(s, now, &a);
  wick_lowering_type_key(s, then, &b);
  return strcmp(a.at, b.at) != 0;
}

typedef struct exprs_steps {
  int64_t first, end;
  bool resizes; /* sizes change from step to step: each has types of its own */
} exprs_steps;

static const lowered *exprs_write_out(lowering *s, lowering_frame *f, wick_ast *n, exprs_steps step,
                                      const lowered *x)
{
  const wick_ast *name = n->kid[0], *pattern = n->kid[3];
  const wick_typed *around = f->typed;
  wick_elem elem = wick_ty_of(wick_typed_of(around, n->kid[1])->arg[0])->elem;
  for (int64_t i = step.first; i < step.end && !s->failed; i++) {
    if (step.resizes)
      f->typed = wick_lang_instance_step(s->p, s->t, around, n, i, exprs_carried_type(s, x));
    if (s->p->sources.problems.n) s->failed = wick_lang_problems(&s->p->sources);
    if (s->failed) break;
    wick_lowering_at(s, f, n->at);
    if (name->kind == WICK_AST_BIND)
      f->local[name->ref->number] =
          wick_lowering_tensor(s, f, wick_lowering_number(s, f, elem, 0, i));
    if (pattern) wick_lowering_bind(s, f, pattern, x);
    x = wick_lowering_expr(s, f, n->kid[5]);
    if (!s->failed) x = wick_lowering_argument(s, f, n->at, x);
  }
  f->typed = around;
  return x;
}

/* Writes a loop out, if sizes in its body change with its index, or those that it carries with each
 * step, or the order of a derivative with its steps, or if it has a few steps that compute a few
 * elements. *x is what it carries, if it carries anything, and becomes its value. */
static bool exprs_written_out(lowering *s, lowering_frame *f, wick_ast *n, const lowered **x)
{
  enum { MOST = 256, MOST_ORDERS = 8, MOST_TINY = 4 };
  const wick_ast *name = n->kid[0];
  wick_dim first = wick_lang_size(s->p, s->t, f->typed, n->kid[1]),
           end = wick_lang_size(s->p, s->t, f->typed, n->kid[2]);
  if (!wick_dim_is_const(first) || !wick_dim_is_const(end) || end.v - first.v > MOST) return false;
  exprs_steps step = {first.v, end.v, false};
  int64_t count = end.v - first.v;
  step.resizes = (name->kind == WICK_AST_BIND && exprs_resizes(s, f, n->kid[5], name->ref)) ||
                 (count > 0 && exprs_grows(s, f, n, first.v, *x));
  bool raises = !step.resizes && exprs_raises(s, f, n);
  if (!step.resizes && count > (raises ? MOST_ORDERS : MOST_TINY)) return false;
  if (!step.resizes && !raises && !exprs_is_tiny(s, f, n)) return false;
  *x = exprs_write_out(s, f, n, step, *x);
  return true;
}

/* Reports a loop whose tensors do not keep their sizes. */
static void exprs_keeps(lowering *s, wick_lang_at at, const lowered *was, const lowered *now)
{
  bool tensor = was->kind == LOWERED_ONE && now->kind == LOWERED_ONE &&
                wick_ty_of(was->type)->kind == WICK_TY_TENSOR;
  if (tensor && !wick_type_eq(was->in, now->in) && !s->failed)
    wick_lowering_fail(s, at,
                       "this loop gets %s and gives %s: a compiled loop keeps its sizes, unless it "
                       "has at most 256 steps, whose number is known",
                       wick_ty_text(s->t, was->type), wick_ty_text(s->t, now->type));
  for (uint32_t i = 0; i < was->n && i < now->n; i++)
    exprs_keeps(s, at, was->item[i], now->item[i]);
}

static const lowered *exprs_loop(lowering *s, lowering_frame *f, wick_ast *n)
{
  bool counts = n->kind == WICK_AST_FOR;
  const wick_ast *pattern = n->kid[counts ? 3 : 1];
  wick_ast *init = n->kid[counts ? 4 : 2], *body = n->kid[counts ? 5 : 3];
  wick_ty *type = f->typed->type[n->id];
  wick_value first = {0}, end = {0}, times;
  if (counts) first = wick_lowering_value(s, f, n->kid[1]);
  if (counts && !s->failed) end = wick_lowering_value(s, f, n->kid[2]);
  const lowered *x = init && !s->failed ? wick_lowering_expr(s, f, init) : wick_lowering_unit(s);
  if (counts && !s->failed && exprs_written_out(s, f, n, &x)) return x;
  if (!s->failed) x = wick_lowering_plain(s, f, n->at, x, type);
  if (s->failed) return wick_lowering_unit(s);
  lowering_values in = {0};
  lowering_types types = {0};
  wick_lowering_at(s, f, n->at);
  if (counts) {
    times = exprs_times(s, f, first, end);
  } else {
    if (pattern) wick_lowering_bind(s, f, pattern, x);
    wick_value c = wick_lowering_value(s, f, n->kid[0]);
    if (s->failed) return wick_lowering_unit(s);
    wick_value most = wick_lowering_number(s, f, WICK_I64, 0, INT64_MAX),
               none = wick_lowering_number(s, f, WICK_I64, 0, 0);
    times = wick_build3(f->b, WICK_OP_where, c, most, none);
  }
  wick_push(s->tmp, &in, times);
  wick_push(s->tmp, &types, wick_type_tensor(s->module, WICK_I64, 0, NULL));
  wick_lowering_flatten(s, x, &in);
  for (uint32_t i = 1; i < in.n; i++) wick_push(s->tmp, &types, wick_built_type(f->b, in.at[i]));
  wick_build_open(f->b, WICK_OP_loop, in.n, in.at, NULL, 0, NULL);
  wick_value p = wick_region_begin(f->b, types.n, types.at), next = {p.id + 1};
  if (!wick_lowering_ok(s, f)) return wick_lowering_unit(s);
  const lowered *carried = wick_lowering_replaced(s, x, &next);
  if (pattern) wick_lowering_bind(s, f, pattern, carried);
  if (counts)
    wick_lowering_bind(s, f, n->kid[0], wick_lowering_tensor(s, f, exprs_counted(s, f, p, first)));
  const lowered *y = wick_lowering_expr(s, f, body);
  if (!s->failed) y = wick_lowering_plain(s, f, n->at, y, type);
  if (!s->failed) exprs_keeps(s, n->at, carried, y);
  if (s->failed) return wick_lowering_unit(s);
  wick_value go = {0};
  if (!counts && pattern) wick_lowering_bind(s, f, pattern, y);
  if (!counts) go = wick_lowering_value(s, f, n->kid[0]);
  if (counts) go = wick_lowering_number(s, f, WICK_BOOL, 0, 1);
  lowering_values out = {0};
  wick_push(s->tmp, &out, go);
  wick_lowering_flatten(s, y, &out);
  if (!wick_lowering_ok(s, f)) return wick_lowering_unit(s);
  wick_yield(f->b, out.n, out.at);
  wick_lowering_at(s, f, n->at);
  wick_value v = wick_build_close(f->b);
  if (!wick_lowering_ok(s, f)) return wick_lowering_unit(s);
  return wick_lowering_replaced(s, x, &v);
}

/* ---- parts ---- */

static const lowered *exprs_field(lowering *s, const wick_ast *n, const lowered *x,
                                  const lowered *value)
{
  uint32_t at = (uint32_t)n->i;
  if (s->failed) return x;
  if (n->name) {
    const wick_ty *type = x->type->kind == WICK_TY_COT ? wick_ty_of(x->type->arg[0]) : x->type;
    const wick_ast *list = type->data->ctor[0]->decl;
    for (at = 0; at < list->nkid && list->kid[at]->name != n->name;) at++;
  }
  if (at >= x->n) return wick_lowering_fail(s, n->at, "there is no such field");
  if (!value) return x->item[at];
  lowered *y = wick_lowering_new(s, LOWERED_ITEMS, x->type, x->n);
  for (uint32_t i = 0; i < x->n; i++) y->item[i] = i == at ? value : x->item[i];
  return y;
}

static const lowered *exprs_with(lowering *s, lowering_frame *f, wick_ast *n)
{
  const lowered *x = wick_lowering_expr(s, f, n->kid[0]);
  const lowered *v = s->failed ? x : wick_lowering_expr(s, f, n->kid[2]);
  if (s->failed) return wick_lowering_unit(s);
  return n->kid[1]->kind == WICK_AST_FIELD ? exprs_field(s, n->kid[1], x, v)
                                           : wick_lowering_with(s, f, n->kid[1], x, v);
}

static const lowered *exprs_binary(lowering *s, lowering_frame *f, wick_ast *n)
{
  if (n->op == WICK_TOKEN_AND || n->op == WICK_TOKEN_OR) return exprs_both(s, f, n);
  wick_value in[2];
  for (uint32_t i = 0; i < 2; i++) {
    in[i] = wick_lowering_value(s, f, n->kid[i]);
    if (s->failed) return wick_lowering_unit(s);
  }
  wick_lowering_at(s, f, n->at);
  return wick_lowering_op(s, f, wick_infer_opcode(n->op), 2, in, NULL);
}

static const lowered *exprs_dispatch(lowering *s, lowering_frame *f, wick_ast *n)
{
  switch (n->kind) {
  case WICK_AST_INT:
  case WICK_AST_FLOAT:
  case WICK_AST_STRING:
  case WICK_AST_BOOL: return exprs_literal(s, f, n);
  case WICK_AST_TENSOR: return exprs_tensor(s, f, n);
  case WICK_AST_NAME: return exprs_name(s, f, n);
  case WICK_AST_TUPLE: return exprs_tuple(s, f, n);
  case WICK_AST_ARRAY: return exprs_array(s, f, n);
  case WICK_AST_CALL: return wick_lowering_call_expr(s, f, n);
  case WICK_AST_BINARY: return exprs_binary(s, f, n);
  case WICK_AST_UNARY: {
    wick_value v = wick_lowering_value(s, f, n->kid[0]);
    if (s->failed) return wick_lowering_unit(s);
    wick_lowering_at(s, f, n->at);
    return wick_lowering_op(s, f, n->op == '!' ? WICK_OP_not : WICK_OP_neg, 1, &v, NULL);
  }
  case WICK_AST_INDEX: {
    const lowered *x = wick_lowering_expr(s, f, n->kid[0]);
    return s->failed ? x : wick_lowering_index(s, f, n, x);
  }
  case WICK_AST_FIELD: return exprs_field(s, n, wick_lowering_expr(s, f, n->kid[0]), NULL);
  case WICK_AST_WITH: return exprs_with(s, f, n);
  case WICK_AST_IF: return exprs_if(s, f, n);
  case WICK_AST_MATCH: return wick_lowering_match(s, f, n);
  case WICK_AST_BLOCK: return exprs_block(s, f, n);
  case WICK_AST_FOR:
  case WICK_AST_WHILE: return exprs_loop(s, f, n);
  case WICK_AST_ASCRIBE: return wick_lowering_expr(s, f, n->kid[0]);
  case WICK_AST_FN: return wick_lowering_literal(s, f, n, f->typed->type[n->id]);
  default: return wick_lowering_fail(s, n->at, "this cannot be compiled yet");
  }
}

const lowered *wick_lowering_expr(lowering *s, lowering_frame *f, wick_ast *n)
{
  if (s->failed) return wick_lowering_unit(s);
  wick_lowering_at(s, f, n->at);
  const lowered *x = exprs_dispatch(s, f, n);
  return s->failed ? wick_lowering_unit(s) : x;
}

wick_value wick_lowering_value(lowering *s, lowering_frame *f, wick_ast *n)
{
  const lowered *x = wick_lowering_expr(s, f, n);
  if (!s->failed && x->kind != LOWERED_ONE) wick_lowering_fail(s, n->at, "this is no tensor");
  return s->failed ? (wick_value){0} : x->v;
}
