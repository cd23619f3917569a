/* match: a tree of decisions. A row for each arm has the patterns that are left to test; the first
 * pattern of the first row that may fail is tested next. Decisions that are reached again are a
 * function, so that their number does not grow with the product of the patterns of all rows. */
#include "lang/lower/state.h"

typedef struct matches_test {
  const wick_ast *pattern;
  const lowered *x;
} matches_test;

typedef struct matches_row {
  wick_list(matches_test) test; /* in order; those that are bound or hold are removed */
  const wick_ast *arm;
  wick_list(matches_test) bound;
} matches_row;

/* Rows about values that are known by number: those of the first use, `x`. */
struct matches_rest {
  const char *key;
  uint32_t nrow, nx;
  const matches_row *row;
  const lowered **x;
  struct matches_state *state;
};

/* What a match shares with the functions of its decisions. */
typedef struct matches_state {
  wick_list(const wick_ast *) reached;  /* the arms that have been built */
  wick_list(const matches_rest *) rest; /* and the decisions */
} matches_state;

typedef struct matches {
  lowering *s;
  lowering_frame *f;
  wick_ast *node;
  wick_ty *type;
  matches_state *state;
} matches;

static const lowered *matches_rows(matches *m, uint32_t n, const matches_row *row);

/* Replaces patterns of tuples and structs by those of their parts, and removes those that hold. */
static void matches_expand(matches *m, matches_row *r)
{
  wick_arena *mem = m->s->tmp;
  matches_row out = {.arm = r->arm, .bound = r->bound};
  for (uint32_t i = 0; i < r->test.n; i++) {
    const wick_ast *p = r->test.at[i].pattern;
    const lowered *x = r->test.at[i].x;
    if (p->kind == WICK_AST_BIND) wick_push(mem, &out.bound, r->test.at[i]);
    if (p->kind == WICK_AST_BIND || p->kind == WICK_AST_ANY) continue;
    if (x->kind != LOWERED_ITEMS) {
      wick_push(mem, &out.test, r->test.at[i]);
      continue;
    }
    matches_row inner = {0};
    for (uint32_t k = 0; k < p->nkid; k++) {
      const wick_ast *q = p->kid[k];
      bool named = q->kind == WICK_AST_NAMED;
      matches_test t = {named ? q->kid[0] : q, x->item[named ? (uint32_t)q->i : k]};
      wick_push(mem, &inner.test, t);
    }
    matches_expand(m, &inner);
    for (uint32_t k = 0; k < inner.test.n; k++) wick_push(mem, &out.test, inner.test.at[k]);
    for (uint32_t k = 0; k < inner.bound.n; k++) wick_push(mem, &out.bound, inner.bound.at[k]);
  }
  *r = out;
}

static bool matches_same(const wick_ast *a, const wick_ast *b)
{
  if (a->kind != b->kind) return false;
  if (a->kind == WICK_AST_STRING) return a->name == b->name;
  return a->kind == WICK_AST_FLOAT ? !(a->f < b->f) && !(a->f > b->f) : a->i == b->i;
}

/* The rows that are left if x is the literal (equal), or is not. */
static uint32_t matches_left(matches *m, uint32_t n, const matches_row *row,
                             const matches_test *test, bool equal, matches_row *out)
{
  uint32_t count = 0;
  for (uint32_t i = 0; i < n; i++) {
    matches_row r = {.arm = row[i].arm};
    bool stays = true;
    for (uint32_t k = 0; k < row[i].bound.n; k++)
      wick_push(m->s->tmp, &r.bound, row[i].bound.at[k]);
    for (uint32_t k = 0; k < row[i].test.n; k++) {
      const matches_test *t = &row[i].test.at[k];
      bool about = t->x == test->x, same = about && matches_same(t->pattern, test->pattern);
      /* An equal zero of another type of literal is rare: it is tested again. */
      if (same && !equal) stays = false;
      /* What is not `true` is `false`. */
      if (about && !equal && t->pattern->kind == WICK_AST_BOOL) same = true;
      bool other = about && !same && equal && t->pattern->kind == test->pattern->kind;
      if (other) stays = false;
      if (!same) wick_push(m->s->tmp, &r.test, *t);
    }
    if (stays) out[count++] = r;
  }
  return count;
}

static uint32_t matches_size(const wick_ast *n)
{
  uint32_t size = 1;
  for (uint32_t i = 0; i < n->nkid; i++)
    if (n->kid[i]) size += matches_size(n->kid[i]);
  return size;
}

/* An arm that decisions reach again is a function, if it is large. */
static const lowered *matches_arm(matches *m, const matches_row *r)
{
  enum { SMALL = 12 };
  wick_ast *body = r->arm->kid[1];
  bool again = false;
  for (uint32_t i = 0; i < r->bound.n; i++)
    m->f->local[r->bound.at[i].pattern->ref->number] = r->bound.at[i].x;
  for (uint32_t i = 0; i < m->state->reached.n; i++)
    again = again || m->state->reached.at[i] == r->arm;
  wick_push(m->s->tmp, &m->state->reached, r->arm);
  if (!again || body->kind == WICK_AST_FN || matches_size(body) < SMALL)
    return wick_lowering_expr(m->s, m->f, body);
  const lowered *fn = wick_lowering_literal(m->s, m->f, body, NULL);
  return wick_lowering_call(m->s, m->f, body, fn, 0, NULL, NULL, m->type);
}

static wick_value matches_condition(matches *m, const matches_test *t)
{
  lowering *s = m->s;
  lowering_frame *f = m->f;
  const wick_ast *p = t->pattern;
  wick_elem elem = wick_built_info(f->b, t->x->v)->elem;
  bool real = wick_elem_is_float(elem);
  if (p->kind == WICK_AST_BOOL && p->i) return t->x->v;
  wick_value k = p->kind == WICK_AST_STRING
                     ? wick_lowering_string(s, f, p->name)
                     : wick_lowering_number(
                           s, f, elem, real ? p->kind == WICK_AST_FLOAT ? p->f : (double)p->i : 0,
                           real ? 0 : p->i);
  return wick_build2(f->b, WICK_OP_eq, t->x->v, k);
}

static const lowered *matches_literal(matches *m, uint32_t n, const matches_row *row)
{
  lowering *s = m->s;
  lowering_frame *f = m->f;
  const matches_test test = row[0].test.at[0];
  matches_row *left = wick_new(s->tmp, matches_row, n);
  wick_lowering_at(s, f, test.pattern->at);
  wick_value c = matches_condition(m, &test);
  wick_build_open(f->b, WICK_OP_if, 1, &c, NULL, 0, NULL);
  for (uint32_t i = 0; i < 2; i++) {
    wick_region_begin(f->b, 0, NULL);
    if (!wick_lowering_ok(s, f)) return wick_lowering_unit(s);
    uint32_t count = matches_left(m, n, row, &test, i == 0, left);
    const lowered *x = matches_rows(m, count, left);
    wick_lowering_yield(s, f, m->node->at, x, m->type);
    if (!wick_lowering_ok(s, f)) return wick_lowering_unit(s);
  }
  wick_value v = wick_build_close(f->b);
  if (!wick_lowering_ok(s, f)) return wick_lowering_unit(s);
  return wick_lowering_unflatten(s, f, m->type, &v);
}

/* The rows that are left if x has been built by a constructor, with these fields. */
static uint32_t matches_built(matches *m, uint32_t n, const matches_row *row, const lowered *x,
                              const wick_lang_entity *ctor, const lowered *const *field,
                              matches_row *out)
{
  uint32_t count = 0;
  for (uint32_t i = 0; i < n; i++) {
    matches_row r = {.arm = row[i].arm};
    bool stays = true;
    for (uint32_t k = 0; k < row[i].bound.n; k++)
      wick_push(m->s->tmp, &r.bound, row[i].bound.at[k]);
    for (uint32_t k = 0; k < row[i].test.n; k++) {
      const matches_test *t = &row[i].test.at[k];
      bool about = t->x == x;
      stays = stays && !(about && t->pattern->ref != ctor);
      if (!about) wick_push(m->s->tmp, &r.test, *t);
      for (uint32_t j = 0; about && stays && j < t->pattern->nkid; j++) {
        const wick_ast *q = t->pattern->kid[j];
        bool named = q->kind == WICK_AST_NAMED;
        matches_test inner = {named ? q->kid[0] : q, field[named ? (uint32_t)q->i : j]};
        wick_push(m->s->tmp, &r.test, inner);
      }
    }
    if (stays) out[count++] = r;
  }
  return count;
}

static const lowered *matches_switch(matches *m, uint32_t n, const matches_row *row)
{
  lowering *s = m->s;
  lowering_frame *f = m->f;
  const lowered *x = row[0].test.at[0].x;
  bool cot = x->type->kind == WICK_TY_COT;
  wick_ty *type = cot ? wick_ty_of(x->type->arg[0]) : x->type;
  const wick_lang_entity *data = type->data;
  matches_row *left = wick_new(s->tmp, matches_row, n);
  wick_lowering_at(s, f, m->node->at);
  wick_build_open(f->b, WICK_OP_switch, 1, &x->v, NULL, 0, NULL);
  for (uint32_t k = 0; k < data->nctor; k++) {
    const wick_ctor *c = &wick_data_get(s->module, x->in)->ctor[k];
    uint32_t nfield = data->ctor[k]->decl->nkid;
    const lowered **field = wick_new(s->tmp, const lowered *, nfield);
    wick_value next = wick_region_begin(f->b, c->nfield, c->field);
    if (!wick_lowering_ok(s, f)) return wick_lowering_unit(s);
    for (uint32_t i = 0; i < nfield; i++) {
      wick_ty *t = wick_lang_field_type(s->t, type, k, i);
      field[i] = wick_lowering_unflatten(s, f, cot ? wick_lowering_cotangent(s, t) : t, &next);
    }
    uint32_t count = matches_built(m, n, row, x, data->ctor[k], field, left);
    const lowered *y = matches_rows(m, count, left);
    wick_lowering_yield(s, f, m->node->at, y, m->type);
    if (!wick_lowering_ok(s, f)) return wick_lowering_unit(s);
  }
  wick_lowering_at(s, f, m->node->at);
  wick_value v = wick_build_close(f->b);
  if (!wick_lowering_ok(s, f)) return wick_lowering_unit(s);
  return wick_lowering_unflatten(s, f, m->type, &v);
}

/* ---- decisions that are reached again ---- */

typedef wick_list(const lowered *) matches_values;

static uint32_t matches_number(matches *m, matches_values *all, const lowered *x)
{
  uint32_t i = 0;
  while (i < all->n && all->at[i] != x) i++;
  if (i == all->n) wick_push(m->s->tmp, all, x);
  return i;
}

/* Adds the patterns and the numbers of their values to the key. */
static void matches_tests_key(matches *m, uint32_t n, const matches_test *test, matches_values *all,
                              wick_text *key)
{
  for (uint32_t i = 0; i < n; i++)
    wick_text_printf(key, "%p=%u,", (const void *)test[i].pattern,
                     matches_number(m, all, test[i].x));
  wick_text_char(key, ';');
}

static matches_rest *matches_describe(matches *m, uint32_t n, const matches_row *row)
{
  matches_values all = {0};
  wick_text key = wick_text_begin(m->s->tmp);
  for (uint32_t i = 0; i < n; i++) {
    wick_text_printf(&key, "%p:", (const void *)row[i].arm);
    matches_tests_key(m, row[i].test.n, row[i].test.at, &all, &key);
    matches_tests_key(m, row[i].bound.n, row[i].bound.at, &all, &key);
  }
  for (uint32_t i = 0; i < all.n; i++) wick_lowering_key(m->s, all.at[i], &key);
  matches_rest rest = {key.at, n, all.n, row, all.at, m->state};
  return wick_dup(m->s->tmp, matches_rest, &rest, 1);
}

/* Returns these decisions if they were reached before; else remembers them, if there are many. */
static const matches_rest *matches_again(matches *m, matches_rest *now)
{
  enum { FEW = 2 };
  uint32_t ntest = 0;
  for (uint32_t i = 0; i < now->nrow; i++) ntest += now->row[i].test.n;
  if (ntest < FEW) return NULL;
  for (uint32_t i = 0; i < m->state->rest.n; i++)
    if (strcmp(m->state->rest.at[i]->key, now->key) == 0) return m->state->rest.at[i];
  wick_push(m->s->tmp, &m->state->rest, now);
  return NULL;
}

static const lowered *matches_decide(matches *m, uint32_t n, const matches_row *row)
{
  const wick_ast *p = row[0].test.at[0].pattern;
  if (p->kind == WICK_AST_PATTERN_CTOR) return matches_switch(m, n, row);
  return matches_literal(m, n, row);
}

static const lowered *matches_rows(matches *m, uint32_t n, const matches_row *given)
{
  lowering *s = m->s;
  if (s->failed) return wick_lowering_unit(s);
  if (!n) return wick_lowering_fail(s, m->node->at, "no arm matches");
  matches_row *row = wick_dup(s->tmp, matches_row, given, n);
  for (uint32_t i = 0; i < n; i++) matches_expand(m, &row[i]);
  if (!row[0].test.n) return matches_arm(m, &row[0]);
  matches_rest *now = matches_describe(m, n, row);
  const matches_rest *before = matches_again(m, now);
  if (!before) return matches_decide(m, n, row);
  const lowered *fn = wick_lowering_rest(s, m->f, m->node, before, now->nx, now->x);
  return wick_lowering_call(s, m->f, m->node, fn, 0, NULL, NULL, m->type);
}

/* The same tests about the values in `to`. */
static void matches_renumber(matches *m, const matches_rest *rest, uint32_t n, matches_test *test,
                             const lowered *const *to)
{
  for (uint32_t i = 0; i < n; i++) {
    matches_values all = {rest->x, rest->nx, rest->nx};
    test[i].x = to[matches_number(m, &all, test[i].x)];
  }
}

const lowered *wick_lowering_match_rest(lowering *s, lowering_frame *f, wick_ast *n,
                                        const matches_rest *rest, wick_ty *type)
{
  matches m = {.s = s, .f = f, .node = n, .type = type, .state = rest->state};
  matches_row *row = wick_dup(s->tmp, matches_row, rest->row, rest->nrow);
  for (uint32_t i = 0; i < rest->nrow; i++) {
    row[i].test.at = wick_dup(s->tmp, matches_test, row[i].test.at, row[i].test.n);
    row[i].bound.at = wick_dup(s->tmp, matches_test, row[i].bound.at, row[i].bound.n);
    matches_renumber(&m, rest, row[i].test.n, row[i].test.at, f->matched);
    matches_renumber(&m, rest, row[i].bound.n, row[i].bound.at, f->matched);
  }
  return matches_decide(&m, rest->nrow, row);
}

const lowered *wick_lowering_match(lowering *s, lowering_frame *f, wick_ast *n)
{
  matches m = {.s = s, .f = f, .node = n, .type = f->typed->type[n->id]};
  m.state = wick_new(s->tmp, matches_state, 1);
  const lowered *x = wick_lowering_expr(s, f, n->kid[0]);
  if (s->failed) return x;
  matches_row *row = wick_new(s->tmp, matches_row, n->nkid);
  for (uint32_t i = 1; i < n->nkid; i++) {
    row[i - 1].arm = n->kid[i];
    matches_test t = {n->kid[i]->kid[0], x};
    wick_push(s->tmp, &row[i - 1].test, t);
  }
  return matches_rows(&m, n->nkid - 1, row);
}
