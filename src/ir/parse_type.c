/* Parses dimensions and types by recursive descent. The parts of a dimension and the depth of a
 * type are limited. */
#include <string.h>

#include "ir/grammar.h"
#include "ir/parse.h"

/* ---- dimensions ---- */

/* Enough for every expression in the table of dimensions: its limit counts only atoms, this one
 * also numbers. */
enum { PARSE_TYPE_PARTS = 4 * WICK_DIM_ATOMS };
_Static_assert((int)WICK_TEXT_DEPTH > (int)WICK_DIM_DEPTH, "what is held can be read");

typedef struct parse_type_expr {
  wick_parser *p;
  uint32_t depth, npart;
} parse_type_expr;

static bool parse_type_sum(parse_type_expr *e, wick_dim *out);

static wick_parse_name *parse_type_symbol(wick_parser *p, const char *name)
{
  uint32_t id = wick_names_add(&p->symbols, name, strlen(name));
  while (p->symbol.n <= id) wick_push(p->tmp, &p->symbol, (wick_parse_name){0});
  return &p->symbol.at[id];
}

void wick_parse_bind(wick_parser *p, const char *name, wick_dim symbol)
{
  *parse_type_symbol(p, name) = (wick_parse_name){.func = p->func, .dim = symbol};
}

bool wick_parse_symbol_name(wick_parser *p, const char **out)
{
  const wick_token *t = wick_parse_token(p);
  bool word = t->kind == WICK_TOKEN_WORD && !wick_keyword_find(wick_dim_words, t->at, t->n);
  if (!word && t->kind != WICK_TOKEN_STRING) return wick_parse_unexpected(p, "a dimension");
  if (!wick_parse_name_text(p, t, out)) return false;
  wick_parse_next(p);
  return true;
}

/* Reads `N`, or `N[1..64]`, which defines N from here on. */
static bool parse_type_symbol_use(wick_parser *p, wick_dim *out)
{
  wick_token at = *wick_parse_token(p);
  const char *name;
  if (!wick_parse_symbol_name(p, &name)) return false;
  if (!wick_parse_take(p, '[')) {
    const wick_parse_name *known = parse_type_symbol(p, name);
    *out = known->dim;
    if (known->func == p->func) return true;
    return wick_parse_fail(p, &at, WICK_EPARSE,
                           "the symbol %s has no range: write %s[LO..HI] where it first occurs",
                           name, name);
  }
  int64_t lo, hi = INT64_MAX;
  if (!wick_parse_int(p, &lo) || !wick_parse_punct(p, WICK_PUNCT_DOTS, "`..`")) return false;
  if (!wick_parse_is(p, ']') && !wick_parse_int(p, &hi)) return false;
  if (!wick_parse_punct(p, ']', "`]`")) return false;
  if (lo > hi) return wick_parse_fail(p, &at, WICK_ERANGE, "the range of %s is empty", name);
  *out = wick_dim_symbol(p->m->dims, wick_intern(p->m, name), lo, hi);
  wick_parse_bind(p, name, *out);
  return true;
}

typedef wick_dim (*parse_type_combine)(wick_dims *t, wick_dim a, wick_dim b);

/* Combines all operands after `base` pairwise. One after another, a long sum would intern each
 * of its intermediate results. */
static wick_dim parse_type_fold(wick_parser *p, uint32_t base, parse_type_combine combine)
{
  wick_dim *at = p->parts.at + base;
  for (uint32_t n = p->parts.n - base; n > 1; n = (n + 1) / 2) {
    for (uint32_t i = 0; i < n / 2; i++) at[i] = combine(p->m->dims, at[2 * i], at[2 * i + 1]);
    if (n % 2) at[n / 2] = at[n - 1];
  }
  p->parts.n = base;
  return at[0];
}

/* Reads floordiv(a, b), mod(a, b), min(a, b, ...) or max(a, b, ...), from after the bracket. */
static bool parse_type_call(parse_type_expr *e, const wick_token *word, wick_dim *out)
{
  wick_parser *p = e->p;
  bool div = wick_token_word(word, "floordiv"), mod = wick_token_word(word, "mod");
  parse_type_combine combine = div                            ? wick_dim_floordiv
                               : mod                          ? wick_dim_mod
                               : wick_token_word(word, "min") ? wick_dim_min
                                                              : wick_dim_max;
  uint32_t base = p->parts.n;
  do {
    if (!parse_type_sum(e, out)) return false;
    wick_push(p->tmp, &p->parts, *out);
  } while (wick_parse_take(p, ','));
  if ((div || mod) && p->parts.n != base + 2)
    return wick_parse_fail(p, word, WICK_EPARSE, "%s takes two arguments",
                           div ? "floordiv" : "mod");
  *out = parse_type_fold(p, base, combine);
  return wick_parse_punct(p, ')', "`)`");
}

/* Reads `(a)`, or a call. */
static bool parse_type_bracket(parse_type_expr *e, const wick_token *word, wick_dim *out)
{
  wick_parser *p = e->p;
  if (++e->depth > WICK_TEXT_DEPTH)
    return wick_parse_fail(p, word, WICK_ELIMIT, "dimensions are nested deeper than %d",
                           WICK_TEXT_DEPTH);
  bool call = word->kind == WICK_TOKEN_WORD;
  if (call) wick_parse_next(p);
  if (!wick_parse_punct(p, '(', "`(`")) return false;
  if (call ? !parse_type_call(e, word, out)
           : !parse_type_sum(e, out) || !wick_parse_punct(p, ')', "`)`"))
    return false;
  e->depth--;
  return true;
}

static bool parse_type_primary(parse_type_expr *e, wick_dim *out)
{
  static const char *const function[] = {"floordiv", "mod", "min", "max"};
  wick_parser *p = e->p;
  wick_token t = *wick_parse_token(p);
  if (++e->npart > PARSE_TYPE_PARTS)
    return wick_parse_fail(p, &t, WICK_ELIMIT, "a dimension of more than %d parts",
                           PARSE_TYPE_PARTS);
  if (t.kind == WICK_TOKEN_INT) {
    int64_t i;
    if (!wick_parse_int(p, &i)) return false;
    *out = wick_dim_const(i);
    return true;
  }
  bool bracket = wick_parse_is(p, '(');
  for (uint32_t i = 0; i < WICK_COUNT(function); i++)
    bracket = bracket || wick_token_word(&t, function[i]);
  return bracket ? parse_type_bracket(e, &t, out) : parse_type_symbol_use(p, out);
}

static bool parse_type_unary(parse_type_expr *e, wick_dim *out)
{
  bool minus = false;
  while (wick_parse_take(e->p, '-')) minus = !minus;
  if (!parse_type_primary(e, out)) return false;
  if (minus) *out = wick_dim_sub(e->p->m->dims, wick_dim_const(0), *out);
  return true;
}

/* Replaces the operands by the result. */
static void parse_type_refold(wick_parser *p, uint32_t base, parse_type_combine combine)
{
  wick_dim d = parse_type_fold(p, base, combine);
  wick_push(p->tmp, &p->parts, d);
}

static bool parse_type_product(parse_type_expr *e, wick_dim *out)
{
  wick_parser *p = e->p;
  uint32_t base = p->parts.n;
  parse_type_combine combine = wick_dim_mul;
  for (;;) {
    if (!parse_type_unary(e, out)) return false;
    wick_push(p->tmp, &p->parts, *out);
    if (combine != wick_dim_mul) parse_type_refold(p, base, combine);
    bool div = wick_token_word(wick_parse_token(p), "floordiv"),
         mod = wick_token_word(wick_parse_token(p), "mod");
    if (!div && !mod && !wick_parse_is(p, '*')) break;
    wick_parse_next(p);
    combine = div ? wick_dim_floordiv : mod ? wick_dim_mod : wick_dim_mul;
    if (combine != wick_dim_mul) parse_type_refold(p, base, wick_dim_mul);
  }
  *out = parse_type_fold(p, base, wick_dim_mul);
  return true;
}

static bool parse_type_sum(parse_type_expr *e, wick_dim *out)
{
  wick_parser *p = e->p;
  uint32_t base = p->parts.n;
  bool minus = false;
  for (;;) {
    if (!parse_type_product(e, out)) return false;
    if (minus) *out = wick_dim_sub(p->m->dims, wick_dim_const(0), *out);
    wick_push(p->tmp, &p->parts, *out);
    minus = wick_parse_is(p, '-');
    if (!minus && !wick_parse_is(p, '+')) break;
    wick_parse_next(p);
  }
  *out = parse_type_fold(p, base, wick_dim_add);
  return true;
}

bool wick_parse_dim(wick_parser *p, wick_dim *out)
{
  parse_type_expr e = {.p = p};
  p->parts.n = 0;
  wick_token at = *wick_parse_token(p);
  if (!parse_type_sum(&e, out)) return false;
  if (!wick_dim_eq(*out, WICK_DIM_INVALID)) return true;
  return wick_parse_fail(p, &at, WICK_ERANGE,
                         "the dimension overflows, divides by 0, or is too large");
}

/* Reads at most WICK_MAX_RANK dimensions, up to a token other than a comma. */
static bool parse_type_dims(wick_parser *p, wick_dim *dim, uint32_t *n)
{
  do {
    wick_token at = *wick_parse_token(p);
    if (*n == WICK_MAX_RANK)
      return wick_parse_fail(p, &at, WICK_ELIMIT, "more than %d dimensions", WICK_MAX_RANK);
    if (!wick_parse_dim(p, &dim[*n])) return false;
    if (wick_dim_is_const(dim[*n]) && dim[*n].v < 0)
      return wick_parse_fail(p, &at, WICK_ERANGE, "a dimension is negative");
    ++*n;
  } while (wick_parse_take(p, ','));
  return true;
}

/* ---- types ---- */

/* Reads "f32", or "f32x16" with lanes. */
static bool parse_type_elem(wick_parser *p, wick_elem *elem, uint32_t *lanes)
{
  wick_token t = *wick_parse_token(p);
  if (t.kind != WICK_TOKEN_WORD) return wick_parse_unexpected(p, "a type");
  size_t n = t.n;
  while (n && t.at[n - 1] >= '0' && t.at[n - 1] <= '9') n--;
  *lanes = 1;
  if (wick_elem_parse(t.at, t.n, elem)) {
    wick_parse_next(p);
    return true;
  }
  bool found = n > 1 && n < t.n && t.at[n - 1] == 'x' && wick_elem_parse(t.at, n - 1, elem);
  if (!found)
    return wick_parse_fail(p, &t, WICK_EPARSE, "\"%.*s\" is not a type", (int)(t.n > 40 ? 40 : t.n),
                           t.at);
  for (*lanes = 0; n < t.n && *lanes <= UINT16_MAX; n++)
    *lanes = *lanes * 10 + (uint32_t)(t.at[n] - '0');
  if (*lanes < 1 || *lanes > UINT16_MAX)
    return wick_parse_fail(p, &t, WICK_ERANGE, "a vector has 1 to %d lanes", UINT16_MAX);
  wick_parse_next(p);
  return true;
}

/* Reads from after `[` to after `]`. */
static bool parse_type_shape(wick_parser *p, wick_type_info *t, wick_dim *dim, wick_dim *stride)
{
  uint32_t rank = 0, nstride = 0;
  bool ends = wick_parse_is(p, ']') || wick_parse_is(p, ':');
  if (!ends && !parse_type_dims(p, dim, &rank)) return false;
  t->rank = (uint16_t)rank;
  t->dim = dim;
  wick_token at = *wick_parse_token(p);
  if (t->kind == WICK_BUFFER && rank && wick_parse_take(p, ':')) {
    if (!parse_type_dims(p, stride, &nstride)) return false;
    if (nstride != rank)
      return wick_parse_fail(p, &at, WICK_ETYPE, "%u strides of %u dimensions", nstride, rank);
    t->stride = stride;
  }
  return wick_parse_punct(p, ']', "`]`");
}

static bool parse_type_buffer(wick_parser *p, wick_type *out)
{
  wick_dim dim[WICK_MAX_RANK], stride[WICK_MAX_RANK];
  wick_type_info t = {.kind = WICK_BUFFER};
  uint32_t lanes;
  wick_parse_next(p);
  if (!wick_parse_punct(p, '<', "`<`") || !parse_type_elem(p, &t.elem, &lanes)) return false;
  if (!wick_parse_punct(p, '[', "`[`") || !parse_type_shape(p, &t, dim, stride)) return false;
  if (!wick_parse_punct(p, ',', "`,` and a space")) return false;
  const wick_token *at = wick_parse_token(p);
  const wick_keyword *space =
      at->kind == WICK_TOKEN_WORD ? wick_keyword_find(wick_space_words, at->at, at->n) : NULL;
  if (!space) return wick_parse_unexpected(p, "io, constant, arena, scratch or pool");
  t.space = (wick_space)space->value;
  wick_parse_next(p);
  *out = wick_type_intern(p->m, &t);
  return wick_parse_punct(p, '>', "`>`");
}

static bool parse_type_any(wick_parser *p, uint32_t depth, wick_type *out);

typedef wick_list(wick_type) parse_type_list;

/* Reads types up to `end`, and `end`. Checks that objects can hold them. */
static bool parse_type_items(wick_parser *p, uint32_t depth, bool held, int end, const char *wanted,
                             parse_type_list *out)
{
  if (wick_parse_take(p, end)) return true;
  do {
    wick_type t;
    wick_token at = *wick_parse_token(p);
    if (!parse_type_any(p, depth + 1, &t)) return false;
    if (held && !wick_type_is_held(p->m, t))
      return wick_parse_fail(p, &at, WICK_ETYPE,
                             "an object holds tensors of fixed sizes, data, references and "
                             "functions");
    wick_push(p->tmp, out, t);
  } while (wick_parse_take(p, ','));
  return wick_parse_punct(p, end, wanted);
}

static bool parse_type_tuple(wick_parser *p, uint32_t depth, wick_type *out)
{
  parse_type_list item = {0};
  if (!parse_type_items(p, depth, false, '>', "`,` or `>`", &item)) return false;
  *out = wick_type_tuple(p->m, item.n, item.at);
  return true;
}

static bool parse_type_ref(wick_parser *p, uint32_t depth, wick_type *out)
{
  parse_type_list item = {0};
  if (!parse_type_items(p, depth, true, '>', "`,` or `>`", &item)) return false;
  *out = wick_type_ref(p->m, item.n, item.at);
  return true;
}

static bool parse_type_fn(wick_parser *p, uint32_t depth, wick_type *out)
{
  parse_type_list take = {0}, give = {0};
  if (!wick_parse_punct(p, '(', "`(`") ||
      !parse_type_items(p, depth, true, ')', "`,` or `)`", &take) ||
      !wick_parse_punct(p, WICK_PUNCT_ARROW, "`->`") || !wick_parse_punct(p, '(', "`(`") ||
      !parse_type_items(p, depth, true, ')', "`,` or `)`", &give))
    return false;
  *out = wick_type_fn(p->m, take.n, take.at, give.n, give.at);
  return wick_parse_punct(p, '>', "`>`");
}

/* Reads `@List`, which may be declared later. */
static bool parse_type_data(wick_parser *p, wick_type *out)
{
  wick_token at = *wick_parse_token(p);
  const char *name;
  if (!wick_parse_name_text(p, &at, &name)) return false;
  *out = wick_data_type(p->m, name);
  if (!wick_data_get(p->m, *out)->nctor) wick_push(p->tmp, &p->forward, at);
  wick_parse_next(p);
  return true;
}

static bool parse_type_any(wick_parser *p, uint32_t depth, wick_type *out)
{
  static const struct {
    const char *word;
    bool (*read)(wick_parser *p, uint32_t depth, wick_type *out);
  } of[] = {{"tuple", parse_type_tuple}, {"ref", parse_type_ref}, {"fn", parse_type_fn}};
  const wick_token *t0 = wick_parse_token(p);
  if (t0->kind == WICK_TOKEN_GLOBAL) return parse_type_data(p, out);
  for (uint32_t i = 0; i < WICK_COUNT(of); i++) {
    if (!wick_token_word(t0, of[i].word)) continue;
    if (depth > WICK_TEXT_DEPTH)
      return wick_parse_fail(p, t0, WICK_ELIMIT, "types are nested deeper than %d",
                             WICK_TEXT_DEPTH);
    wick_parse_next(p);
    return wick_parse_punct(p, '<', "`<`") && of[i].read(p, depth, out);
  }
  if (wick_token_word(t0, "buffer")) return parse_type_buffer(p, out);
  wick_dim dim[WICK_MAX_RANK];
  wick_type_info t = {.kind = WICK_TENSOR};
  uint32_t lanes;
  wick_token at = *wick_parse_token(p);
  if (!parse_type_elem(p, &t.elem, &lanes)) return false;
  if (!wick_parse_take(p, '[')) {
    *out = wick_type_scalar(p->m, t.elem, lanes);
    return true;
  }
  if (lanes != 1)
    return wick_parse_fail(p, &at, WICK_ETYPE, "the elements of a tensor are no vectors");
  if (!parse_type_shape(p, &t, dim, NULL)) return false;
  *out = wick_type_intern(p->m, &t);
  return true;
}

bool wick_parse_type(wick_parser *p, wick_type *out) { return parse_type_any(p, 0, out); }

/* ---- data types ---- */

/* Reads `Cons(i64[], @List)`. */
static bool parse_type_ctor(wick_parser *p, wick_ctor *out)
{
  const wick_token *t = wick_parse_token(p);
  parse_type_list field = {0};
  if (t->kind != WICK_TOKEN_WORD && t->kind != WICK_TOKEN_STRING)
    return wick_parse_unexpected(p, "a constructor");
  if (!wick_parse_name_text(p, t, &out->name)) return false;
  wick_parse_next(p);
  if (wick_parse_take(p, '(') && !parse_type_items(p, 0, true, ')', "`,` or `)`", &field))
    return false;
  out->nfield = field.n, out->field = field.at;
  out->npart = 0, out->part = NULL;
  return true;
}

bool wick_parse_data(wick_parser *p)
{
  wick_list(wick_ctor) ctor = {0};
  const char *name;
  wick_parse_next(p);
  wick_token at = *wick_parse_token(p);
  if (at.kind != WICK_TOKEN_GLOBAL) return wick_parse_unexpected(p, "@ and the data type's name");
  if (!wick_parse_name_text(p, &at, &name)) return false;
  wick_parse_next(p);
  wick_type type = wick_data_type(p->m, name);
  if (wick_data_get(p->m, type)->nctor)
    return wick_parse_fail(p, &at, WICK_EPARSE, "the data type @%s is defined already", name);
  if (!wick_parse_punct(p, '{', "`{`")) return false;
  do {
    wick_ctor c;
    wick_token where = *wick_parse_token(p);
    if (!parse_type_ctor(p, &c)) return false;
    for (uint32_t i = 0; i < ctor.n; i++)
      if (strcmp(ctor.at[i].name, c.name) == 0)
        return wick_parse_fail(p, &where, WICK_EPARSE, "the constructor %s is there twice", c.name);
    wick_push(p->tmp, &ctor, c);
  } while (wick_parse_take(p, ','));
  wick_data_define(p->m, type, ctor.n, ctor.at);
  return wick_parse_punct(p, '}', "`,` or `}`");
}

void wick_parse_data_defined(wick_parser *p)
{
  for (uint32_t i = 0; i < p->forward.n; i++) {
    const wick_token *at = &p->forward.at[i];
    wick_type t = wick_data_type(p->m, wick_token_text(at, p->tmp));
    if (wick_data_get(p->m, t)->nctor) continue;
    wick_parse_fail(p, at, WICK_EPARSE, "there is no data type @%s", wick_data_get(p->m, t)->name);
    return;
  }
}

/* ---- with the user's tensor ---- */

bool wick_parse_typed_one(wick_parser *p, wick_parse_typed *out)
{
  *out = (wick_parse_typed){0};
  if (!wick_parse_type(p, &out->type)) return false;
  if (!wick_token_word(wick_parse_token(p), "as")) return true;
  wick_parse_next(p);
  const wick_token *t = wick_parse_token(p);
  const wick_keyword *word =
      t->kind == WICK_TOKEN_WORD ? wick_keyword_find(wick_relation_words, t->at, t->n) : NULL;
  out->relation = word ? (wick_relation)word->value : WICK_REL_SAME;
  if (word) wick_parse_next(p);
  const char *name;
  if (!wick_parse_string(p, &name)) return false;
  out->name = wick_names_add(&p->m->names, name, strlen(name));
  return true;
}
