/* Operators: their own inference, on types whose elements and ranks are known. */
#include "ir/infer.h"
#include "lang/infer_state.h"

static bool infer_op_relies(void *arg, wick_dim a, wick_dim b)
{
  wick_types *t = arg;
  wick_dim_list list = {0};
  if (wick_unify_dims(t, a, b)) return true;
  wick_dim_symbols(t->dims, a, t->mem, &list);
  wick_dim_symbols(t->dims, b, t->mem, &list);
  for (uint32_t i = 0; i < list.n; i++)
    if (wick_dim_eq(list.at[i], t->any)) return true; /* checked at run time */
  return false;
}

static wick_type infer_op_type(infer *s, wick_ty *x)
{
  const wick_ty *a = wick_ty_of(x), *shape = wick_ty_flat(s->t, a->arg[1]);
  wick_dim dim[WICK_MAX_RANK];
  for (uint32_t i = 0; i < shape->ndim; i++) dim[i] = wick_ty_dim(s->t, shape->dim[i]);
  return wick_type_tensor(s->t->module, wick_ty_of(a->arg[0])->elem, shape->ndim, dim);
}

/* Sizes that the operator's inference made up are known at run time. */
static wick_ty *infer_op_result(infer *s, wick_type type)
{
  const wick_type_info *i = wick_type_get(s->t->module, type);
  wick_dim dim[WICK_MAX_RANK];
  for (uint32_t k = 0; k < i->rank; k++) {
    wick_dim_list list = {0};
    dim[k] = wick_ty_dim(s->t, i->dim[k]);
    if (!wick_dim_is_const(dim[k])) wick_dim_symbols(s->t->dims, dim[k], s->mem, &list);
    for (uint32_t j = 0; j < list.n; j++) {
      uint32_t n = (uint32_t)((uint64_t)list.at[j].v - (uint64_t)INT64_MIN);
      if (n >= s->t->of_symbol.n || !s->t->of_symbol.at[n]) dim[k] = s->t->any;
    }
  }
  return wick_ty_tensor(s->t, s->t->elem[i->elem],
                        wick_ty_shape(s->t, i->rank, dim, i->rank, NULL));
}

static bool infer_op_number(infer *s, const wick_attr_spec *spec, const wick_static *v,
                            wick_attr *out)
{
  *out = (wick_attr){0};
  switch (spec->kind) {
  case WICK_ATTR_INT:
  case WICK_ATTR_BOOL:
  case WICK_ATTR_AXIS:
    if (v->n != 1) return false;
    out->i = v->ints[0];
    return true;
  case WICK_ATTR_FLOAT:
    if (v->n != 1) return false;
    out->f = v->f;
    return true;
  case WICK_ATTR_INTS:
    if (v->word) return false;
    out->n = v->n, out->ints = v->ints;
    return true;
  case WICK_ATTR_STRING:
    if (!v->word) return false;
    out->s = wick_intern(s->t->module, v->word);
    return true;
  case WICK_ATTR_ENUM: {
    const char *w = spec->words;
    if (!v->word) return false;
    size_t length = strlen(v->word);
    for (out->i = 0; *w; out->i++) {
      size_t n = strcspn(w, " ");
      if (n == length && memcmp(w, v->word, n) == 0) return true;
      w += n + (w[n] == ' ');
    }
    return false;
  }
  default: return false;
  }
}

/* Sizes that a static parameter gives. Returns whether they are known. */
static bool infer_op_sizes(infer *s, const wick_static *v, wick_attr *out)
{
  uint32_t n = v->size ? 1 : v->n;
  wick_dim *dim = wick_new(s->mem, wick_dim, n);
  if (v->word || v->expr || (!v->known && !v->size && !v->item)) return false;
  for (uint32_t i = 0; i < n; i++) {
    const wick_static *k = v->item ? &v->item[i] : v;
    if (!k->known && (!k->size || k->expr)) return false;
    dim[i] = k->size ? wick_ty_dim(s->t, wick_ty_of(k->size)->size)
                     : wick_dim_const(k->ints[v->item ? 0 : i]);
  }
  *out = (wick_attr){.n = n, .dims = dim};
  return true;
}

/* Reads the attributes of the call. Returns false if a static parameter is not known yet;
 * *out_wrong: something was reported. */
static bool infer_op_attrs(infer *s, const wick_constraint *c, wick_attr *attr, bool *out_wrong)
{
  const wick_op *op = wick_ops[c->entity->op];
  uint32_t size = c->noperand + 1, nattr = wick_op_nattr(op);
  for (uint32_t i = 0; i < nattr; i++) {
    attr[i] = (wick_attr){.n = WICK_ATTR_UNSET};
    if (c->entity->fixed && strcmp(op->attr[i].name, "keepdims") == 0) attr[i] = (wick_attr){0};
  }
  for (uint32_t i = 1; c->node->kind == WICK_AST_CALL && i < c->node->nkid; i++) {
    const wick_ast *k = c->node->kid[i];
    uint32_t a = 0;
    if (k->kind != WICK_AST_NAMED) continue;
    while (a < nattr && strcmp(op->attr[a].name, k->name) != 0) a++;
    if (a == nattr) {
      *out_wrong = true;
      continue;
    }
    const wick_ast *v = k->kid[0];
    wick_static value;
    bool listed = op->attr[a].kind == WICK_ATTR_DIMS && wick_infer_is_static_list(v);
    if (op->attr[a].kind == WICK_ATTR_DIMS && !listed) {
      bool list = v->kind == WICK_AST_TUPLE || v->kind == WICK_AST_ARRAY;
      uint32_t n = list ? v->nkid : 1;
      wick_dim *dim = wick_new(s->mem, wick_dim, n);
      for (uint32_t j = 0; j < n; j++) dim[j] = wick_ty_dim(s->t, wick_ty_of(c->arg[size++])->size);
      attr[a] = (wick_attr){.n = n, .dims = dim};
      continue;
    }
    bool known = wick_infer_static(s, v, c->fixed, &value);
    if (listed && known && infer_op_sizes(s, &value, &attr[a])) continue;
    if (known && !value.known) return false;
    if (!known || !infer_op_number(s, &op->attr[a], &value, &attr[a])) {
      wick_lang_report(&s->p->sources, k->at,
                       known ? "the attribute `%s` of `%s` cannot have this value"
                             : "the attribute `%s` of `%s` must be known here",
                       k->name, op->name);
      if (op->attr[a].words)
        wick_lang_note(&s->p->sources, k->at, "it is one of the words %s", op->attr[a].words);
      *out_wrong = true;
    }
  }
  return true;
}

static bool infer_op_give_up(const infer *s, wick_constraint *c)
{
  wick_ty *r = wick_ty_of(c->arg[c->noperand]);
  if (r->kind == WICK_TY_VAR && !r->rigid) r->link = s->t->error;
  if (r->kind == WICK_TY_TENSOR) {
    wick_ty *sh = wick_ty_of(r->arg[1]), *e = wick_ty_of(r->arg[0]);
    if (sh->kind == WICK_TY_VAR && !sh->rigid) sh->link = s->t->error;
    if (e->kind == WICK_TY_VAR && !e->rigid) e->link = s->t->error;
  }
  return true;
}

static bool infer_op_ready(infer *s, wick_constraint *c, bool *out_error)
{
  wick_ty *first = NULL;
  for (uint32_t i = 0; i < c->noperand; i++) {
    wick_ty *a = wick_ty_of(c->arg[i]);
    if (a->kind != WICK_TY_TENSOR || wick_ty_of(a->arg[0])->kind == WICK_TY_ERROR ||
        wick_ty_flat(s->t, a->arg[1])->kind == WICK_TY_ERROR) {
      *out_error = a->kind != WICK_TY_VAR;
      return false;
    }
    wick_ty *e = wick_ty_of(a->arg[0]);
    /* A literal beside a tensor of data has its element type. */
    bool data = wick_op_is_data(wick_ops[c->entity->op], i);
    if (e->kind == WICK_TY_ELEM && !first && data) first = e;
    if (e->kind == WICK_TY_VAR && e->literal && first && data && i &&
        (e->elems & WICK_BIT(first->elem)) && !e->rigid)
      e->link = first;
  }
  for (uint32_t i = 0; i < c->noperand; i++)
    if (!wick_ty_ready(s->t, c->arg[i])) return false;
  return !wick_ops[c->entity->op]->typed || wick_ty_ready(s->t, c->arg[c->noperand]);
}

static void infer_op_report(infer *s, wick_constraint *c, const char *why)
{
  wick_text t = wick_text_begin(s->mem), plain = wick_text_begin(s->mem);
  const char *name = wick_ops[c->entity->op]->name;
  size_t n = strlen(name);
  if (strncmp(why, name, n) == 0 && why[n] == ':' && why[n + 1] == ' ') why += n + 2;
  for (uint32_t depth = 0; *why; why++) { /* the user's names of sizes, which are "d'7" inside */
    if (*why == '[') depth++;
    if (*why == ']' && depth) depth--;
    if (*why != '"' || !depth) wick_text_char(&plain, *why);
    if (why[1] == '\'' && why[2] >= '0' && why[2] <= '9')
      for (why++; why[1] >= '0' && why[1] <= '9';) why++;
  }
  why = plain.at;
  for (uint32_t i = 0; i < c->noperand; i++)
    wick_text_printf(&t, "%s%s", i ? i + 1 == c->noperand ? " and " : ", " : "",
                     wick_ty_text(s->t, c->arg[i]));
  wick_infer_wrong(s, c, "`%s` of %s: %s", name, c->noperand ? t.at : "nothing", why);
  if (strstr(why, "\" is missing"))
    wick_lang_help(&s->p->sources, "attributes are given by name, as in `softmax(x, axis = 0)`");
  if (strstr(why, "is not known to")) wick_infer_help_sizes(s);
  for (uint32_t i = 0; i < c->noperand && !c->origin.source; i++) {
    const wick_ty *a = wick_ty_of(c->arg[i]);
    if (i && a == wick_ty_of(c->arg[i - 1])) continue;
    if (a->at.source && (a->at.begin < c->at.begin || a->at.end > c->at.end))
      wick_lang_note(&s->p->sources, a->at, "%s comes from here", wick_ty_text(s->t, c->arg[i]));
  }
}

static bool infer_op_finish(infer *s, wick_constraint *c, const wick_infer *r)
{
  const wick_op *op = wick_ops[c->entity->op];
  wick_ty **out = wick_new(s->mem, wick_ty *, r->nout);
  for (uint32_t i = 0; i < r->nout; i++) out[i] = infer_op_result(s, r->out[i].type);
  bool one = op->nout[0] == 1 && op->nout[1] == 1;
  wick_ty *type = one ? out[0] : wick_ty_new(s->t, WICK_TY_TUPLE, r->nout, out);
  wick_clash clash;
  if (wick_unify(s->t, type, c->arg[c->noperand], &clash)) return true;
  wick_infer_wrong(s, c, "`%s` gives %s, expected %s", op->name, wick_ty_text(s->t, type),
                   wick_ty_text(s->t, c->arg[c->noperand]));
  return true;
}

/* Runs the operator's inference, on operands that are ready. */
static wick_status infer_op_run(infer *s, wick_constraint *c, const wick_attr *attr, wick_infer *r)
{
  const wick_op *op = wick_ops[c->entity->op];
  wick_value *value = wick_new(s->mem, wick_value, c->noperand);
  wick_value_info *info = wick_new(s->mem, wick_value_info, c->noperand);
  const wick_value_info **in = wick_new(s->mem, const wick_value_info *, c->noperand);
  for (uint32_t i = 0; i < c->noperand; i++) {
    value[i].id = i + 1;
    info[i].type = infer_op_type(s, c->arg[i]);
    in[i] = &info[i];
  }
  wick_type *want = wick_new(s->mem, wick_type, 1);
  if (op->typed) *want = infer_op_type(s, c->arg[c->noperand]);
  *r = (wick_infer){.module = s->t->module,
                    .mem = s->mem,
                    .op = c->entity->op,
                    .nin = c->noperand,
                    .in_value = value,
                    .in = in,
                    .relies = infer_op_relies,
                    .arg = s->t,
                    .capacity = WICK_INFER_CAPACITY,
                    .out = wick_new(s->mem, wick_value_info, WICK_INFER_CAPACITY),
                    .nwant = op->typed,
                    .want = want};
  WICK_TRY(wick_attrs_complete(r, WICK_GRAPH, attr, &r->attr));
  return wick_infer_node(r, WICK_GRAPH);
}

bool wick_infer_solve_operator(infer *s, wick_constraint *c)
{
  const wick_op *op = wick_ops[c->entity->op];
  bool error = false, wrong = false;
  if (!infer_op_ready(s, c, &error)) {
    if (!error && wick_infer_asks(s))
      wick_infer_wrong(s, c,
                       op->typed ? "`%s` needs the type of its result: (%s(...) : f32[n])"
                                 : "the operands of `%s` have no known type; give their types",
                       op->name, op->name);
    return error || s->last ? infer_op_give_up(s, c) : false;
  }
  wick_attr attr[WICK_MAX_ATTR];
  if (!infer_op_attrs(s, c, attr, &wrong)) return s->last;
  if (wrong) return infer_op_give_up(s, c);
  wick_infer r;
  wick_status bad = infer_op_run(s, c, attr, &r);
  if (!bad) return infer_op_finish(s, c, &r);
  for (uint32_t i = 0; i < c->noperand && !s->last; i++) {
    const wick_ty *shape = wick_ty_flat(s->t, wick_ty_of(c->arg[i])->arg[1]);
    for (uint32_t k = 0; k < shape->ndim; k++)
      if (wick_infer_open_size(s, wick_ty_dim(s->t, shape->dim[k]))) return false;
  }
  infer_op_report(s, c, bad->message);
  return infer_op_give_up(s, c);
}

void wick_infer_from_result(infer *s, wick_constraint *c)
{
  const wick_ty *result = wick_ty_of(c->arg[c->noperand]);
  wick_ty *want = result->kind == WICK_TY_TENSOR ? wick_ty_of(result->arg[0]) : NULL;
  uint32_t n = 0;
  if (!want || want->kind != WICK_TY_ELEM) return;
  wick_ty **literal = wick_new(s->mem, wick_ty *, c->noperand);
  for (uint32_t i = 0; i < c->noperand; i++) {
    const wick_ty *a = wick_ty_of(c->arg[i]);
    wick_ty *e = a->kind == WICK_TY_TENSOR ? wick_ty_of(a->arg[0]) : NULL;
    if (e && e->kind == WICK_TY_VAR && e->literal && !e->rigid && (e->elems & WICK_BIT(want->elem)))
      literal[n++] = e, e->link = want;
  }
  wick_attr attr[WICK_MAX_ATTR];
  bool error = false, wrong = false;
  wick_infer r;
  uint32_t problems = s->p->sources.problems.n;
  bool fits = n && infer_op_ready(s, c, &error) && infer_op_attrs(s, c, attr, &wrong) && !wrong &&
              !infer_op_run(s, c, attr, &r) && r.nout == 1 &&
              wick_type_get(s->t->module, r.out[0].type)->elem == want->elem;
  s->p->sources.problems.n = problems; /* the operator reports them when it is solved */
  for (uint32_t i = 0; i < n && !fits; i++) literal[i]->link = NULL;
}

void wick_lang_attrs(wick_lang_program *p, wick_types *t, const wick_typed *f, const wick_ast *n,
                     const wick_lang_entity *op, wick_attr *attr)
{
  wick_typed typed = *f;
  infer s = {.p = p, .t = t, .mem = p->mem, .typed = &typed};
  bool wrong = false;
  wick_ty *result = t->unit;
  wick_constraint c = {.kind = WICK_NEEDS_OPERATOR, .node = n, .at = n->at, .entity = op, .n = 1};
  c.arg = &result;
  wick_infer_call_sizes(&s, n, wick_ops[op->op], &c);
  if (!infer_op_attrs(&s, &c, attr, &wrong))
    wick_lang_report(&p->sources, n->at, "a static argument is not known here");
}
