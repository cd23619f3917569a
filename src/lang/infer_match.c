/* Exhaustiveness: whether a `match` covers all values, and which arms are never reached.
 * Source: Maranget 2007, "Warnings for pattern matching". */
#include "lang/infer_state.h"

/* A row of patterns, a list that is shared; a NULL pattern matches everything. */
typedef struct match_row {
  const wick_ast *pattern;
  const struct match_row *next;
} match_row;

typedef struct match {
  infer *s;
  uint32_t steps, depth;
  bool gave_up;
} match;

enum { MATCH_STEPS = 200000, MATCH_DEPTH = 2000 };

static bool infer_match_any(const wick_ast *p)
{
  return !p || p->kind == WICK_AST_ANY || p->kind == WICK_AST_BIND;
}

static bool infer_match_same(const wick_ast *a, const wick_ast *b)
{
  if (a->kind != b->kind) return false;
  if (a->kind == WICK_AST_PATTERN_CTOR) return a->ref == b->ref;
  if (a->kind == WICK_AST_PATTERN_TUPLE) return true;
  if (a->kind == WICK_AST_STRING) return a->name == b->name;
  return a->kind == WICK_AST_FLOAT ? !(a->f < b->f) && !(a->f > b->f) : a->i == b->i;
}

/* The part of a pattern at a field, or NULL. */
static const wick_ast *infer_match_part(const wick_ast *p, uint32_t field)
{
  if (infer_match_any(p)) return NULL;
  for (uint32_t i = 0; i < p->nkid; i++) {
    bool named = p->kid[i]->kind == WICK_AST_NAMED;
    if ((named ? (uint32_t)p->kid[i]->i : i) == field) return named ? p->kid[i]->kid[0] : p->kid[i];
  }
  return NULL;
}

/* A row of n patterns for the parts of p, before those of `next`. */
static const match_row *infer_match_open(match *m, const wick_ast *p, uint32_t n,
                                         const match_row *next)
{
  for (uint32_t i = n; i--;) {
    match_row *r = wick_new(m->s->mem, match_row, 1);
    *r = (match_row){infer_match_part(p, i), next};
    next = r;
  }
  return next;
}

/* The values of the columns that no row matches. */
typedef struct match_types {
  wick_ty *type;
  const struct match_types *next;
} match_types;

static const char *infer_match_missing(match *m, uint32_t n, const match_row *const *row,
                                       const match_types *type);

/* Joins the first k witnesses of `list` (texts separated by \1) into NAME(...). */
static const char *infer_match_join(match *m, const char *name, uint32_t k, const char *list)
{
  wick_text t = wick_text_begin(m->s->mem);
  wick_text_add(&t, name);
  if (k) wick_text_char(&t, '(');
  for (uint32_t i = 0; i < k; i++) {
    size_t n = strcspn(list, "\1");
    if (i) wick_text_add(&t, ", ");
    wick_text_addn(&t, list, n);
    list += n + (list[n] != 0);
  }
  if (k) wick_text_char(&t, ')');
  wick_text_char(&t, '\1');
  wick_text_add(&t, list);
  return t.at;
}

/* Those of a constructor (or tuple): rows that match it, with its parts as columns. */
static const char *infer_match_in(match *m, uint32_t n, const match_row *const *row,
                                  const match_types *type, const wick_ast *like,
                                  const wick_lang_entity *ctor, uint32_t nfield, const char *name)
{
  const match_row **sub = wick_new(m->s->mem, const match_row *, n);
  const match_types *types = type->next;
  uint32_t k = 0;
  wick_ty *t = wick_ty_of(type->type);
  bool cot = t->kind == WICK_TY_COT;
  if (cot) t = wick_ty_of(t->arg[0]);
  for (uint32_t i = 0; i < n; i++) {
    const wick_ast *p = row[i]->pattern;
    bool same = infer_match_any(p) || (ctor   ? p->ref == ctor
                                       : like ? infer_match_same(p, like)
                                              : true);
    if (same) sub[k++] = infer_match_open(m, p, nfield, row[i]->next);
  }
  for (uint32_t i = nfield; i--;) {
    match_types *x = wick_new(m->s->mem, match_types, 1);
    wick_ty *field = t->kind == WICK_TY_DATA && ctor
                         ? wick_lang_field_type(m->s->t, t, ctor->index, i)
                     : t->kind == WICK_TY_TUPLE && i < t->n ? t->arg[i]
                                                            : NULL;
    if (field && cot) field = wick_infer_cotangent(m->s, field);
    *x = (match_types){field ? field : m->s->t->error, types};
    types = x;
  }
  const char *rest = infer_match_missing(m, k, sub, types);
  return rest ? infer_match_join(m, name, nfield, rest) : NULL;
}

/* Returns NULL if the rows match all values of the columns, else a value of each that they do not
 * match, as text. */
static const char *infer_match_missing(match *m, uint32_t n, const match_row *const *row,
                                       const match_types *type)
{
  if (++m->steps > MATCH_STEPS || m->depth > MATCH_DEPTH) m->gave_up = true;
  if (m->gave_up) return NULL;
  if (!type) return n ? NULL : "";
  const wick_ty *t = wick_ty_of(type->type);
  if (t->kind == WICK_TY_COT) t = wick_ty_of(t->arg[0]);
  const wick_ast *head = NULL;
  for (uint32_t i = 0; i < n && !head; i++)
    if (!infer_match_any(row[i]->pattern)) head = row[i]->pattern;
  m->depth++;
  const char *out = NULL;
  if (head && head->kind == WICK_AST_PATTERN_TUPLE) {
    out = infer_match_in(m, n, row, type, NULL, NULL, head->nkid, "");
  } else if (head && head->kind == WICK_AST_PATTERN_CTOR && t->kind == WICK_TY_DATA) {
    for (uint32_t k = 0; k < t->data->nctor && !out && !m->gave_up; k++)
      out = infer_match_in(m, n, row, type, NULL, t->data->ctor[k], t->data->ctor[k]->decl->nkid,
                           t->data->ctor[k]->name);
  } else if (head && head->kind == WICK_AST_BOOL) {
    for (int64_t k = 0; k < 2 && !out; k++) {
      const wick_ast like = {.kind = WICK_AST_BOOL, .i = k};
      out = infer_match_in(m, n, row, type, &like, NULL, 0, k ? "true" : "false");
    }
  } else if (head && head->kind != WICK_AST_PATTERN_CTOR) {
    /* Literals never cover all values, so that only the rows for all others matter. */
    const wick_ast none = {.kind = WICK_AST_ERROR};
    out = infer_match_in(m, n, row, type, &none, NULL, 0, "_");
  } else {
    const wick_ast none = {.kind = WICK_AST_ERROR};
    out = infer_match_in(m, n, row, type, &none, NULL, 0, "_");
  }
  m->depth--;
  return out;
}

static bool infer_match_useful(match *m, uint32_t n, const match_row *const *row,
                               const match_row *p, uint32_t ncolumn);

/* The same among the values that begin with `head`; NULL: with something that no row names. */
static bool infer_match_useful_in(match *m, uint32_t n, const match_row *const *row,
                                  const match_row *p, uint32_t ncolumn, const wick_ast *head)
{
  uint32_t nfield = 0, k = 0;
  if (head && head->kind == WICK_AST_PATTERN_CTOR) nfield = head->ref->decl->nkid;
  if (head && head->kind == WICK_AST_PATTERN_TUPLE) nfield = head->nkid;
  for (uint32_t i = 0; i < n; i++)
    k += infer_match_any(row[i]->pattern) || (head && infer_match_same(row[i]->pattern, head));
  const match_row **sub = wick_new(m->s->mem, const match_row *, k);
  k = 0;
  for (uint32_t i = 0; i < n; i++)
    if (infer_match_any(row[i]->pattern) || (head && infer_match_same(row[i]->pattern, head)))
      sub[k++] = infer_match_open(m, row[i]->pattern, nfield, row[i]->next);
  return infer_match_useful(m, k, sub, infer_match_open(m, p->pattern, nfield, p->next),
                            ncolumn - 1 + nfield);
}

/* Whether row `p` matches a value that no row before it matches. */
static bool infer_match_useful(match *m, uint32_t n, const match_row *const *row,
                               const match_row *p, uint32_t ncolumn)
{
  if (++m->steps > MATCH_STEPS || m->depth > MATCH_DEPTH) m->gave_up = true;
  if (m->gave_up) return true;
  if (!ncolumn) return n == 0;
  const wick_ast *head = infer_match_any(p->pattern) ? NULL : p->pattern;
  bool out = false;
  m->depth++;
  if (head) {
    out = infer_match_useful_in(m, n, row, p, ncolumn, head);
    m->depth--;
    return out;
  }
  /* If the rows name all constructors, each is tried; else what they do not name is enough. */
  for (uint32_t i = 0; i < n && !head; i++)
    if (!infer_match_any(row[i]->pattern)) head = row[i]->pattern;
  uint32_t seen = 0, all = UINT32_MAX;
  if (head && head->kind == WICK_AST_PATTERN_CTOR) all = head->ref->parent->nctor;
  if (head && head->kind == WICK_AST_PATTERN_TUPLE) all = 1;
  if (head && head->kind == WICK_AST_BOOL) all = 2;
  for (uint32_t i = 0; i < n && !out && all != UINT32_MAX; i++) {
    const wick_ast *h = row[i]->pattern;
    bool first = !infer_match_any(h);
    for (uint32_t j = 0; j < i && first; j++)
      first = infer_match_any(row[j]->pattern) || !infer_match_same(row[j]->pattern, h);
    if (!first) continue;
    seen++;
    out = infer_match_useful_in(m, n, row, p, ncolumn, h);
  }
  if (!out && seen < all) out = infer_match_useful_in(m, n, row, p, ncolumn, NULL);
  m->depth--;
  return out;
}

/* Patterns with mistakes, which were reported, say nothing about others. */
static bool infer_match_good(const wick_ast *p)
{
  if (p->kind == WICK_AST_PATTERN_CTOR && !p->ref) return false;
  for (uint32_t i = 0; i < p->nkid; i++)
    if (!infer_match_good(p->kid[i])) return false;
  return true;
}

static void infer_match_check(infer *s, const wick_ast *n, uint32_t npattern,
                              const wick_ast *const *pattern, wick_ty *t)
{
  match m = {.s = s};
  const match_row **row = wick_new(s->mem, const match_row *, npattern);
  const match_types types = {t, NULL};
  uint32_t nreported = s->p->sources.problems.n;
  for (uint32_t i = 0; i < npattern; i++)
    if (!infer_match_good(pattern[i])) return;
  if (wick_ty_of(t)->kind == WICK_TY_ERROR) return;
  for (uint32_t i = 0; i < npattern; i++) {
    match_row *r = wick_new(s->mem, match_row, 1);
    r->pattern = pattern[i];
    row[i] = r;
    wick_mark mark = wick_arena_mark(s->mem);
    bool useful = infer_match_useful(&m, i, row, r, 1);
    wick_arena_rewind(s->mem, mark);
    if (!useful && !(n->kind == WICK_AST_MATCH && n->flag))
      wick_lang_report(&s->p->sources, pattern[i]->at,
                       "this arm is never reached: the arms before it match all of its values");
  }
  const char *missing = infer_match_missing(&m, npattern, row, &types);
  if (m.gave_up) {
    wick_lang_report(&s->p->sources, n->at, "the patterns are too many to be checked");
  } else if (missing && s->p->sources.problems.n == nreported) {
    wick_lang_report(&s->p->sources,
                     (wick_lang_at){n->at.source, n->at.begin,
                                    n->at.begin + (n->kind == WICK_AST_MATCH ? 5 : 1)},
                     "%s does not match %.*s",
                     n->kind == WICK_AST_MATCH ? "the `match`" : "the pattern",
                     (int)strcspn(missing, "\1"), missing);
  }
}

void wick_infer_match(infer *s, const wick_ast *n, wick_ty *t)
{
  uint32_t k = n->nkid - 1;
  const wick_ast **pattern = wick_new(s->mem, const wick_ast *, k);
  for (uint32_t i = 0; i < k; i++) pattern[i] = n->kid[i + 1]->kid[0];
  infer_match_check(s, n, k, pattern, t);
}

void wick_infer_irrefutable(infer *s, const wick_ast *pattern, wick_ty *t)
{
  if (pattern->kind == WICK_AST_BIND || pattern->kind == WICK_AST_ANY) return;
  infer_match_check(s, pattern, 1, &pattern, t);
}
