/* Parses modules in two passes. The first one reads constants and the heads of functions, so
 * that bodies may refer to later definitions; the second one reads the bodies. */
#include <stdarg.h>
#include <string.h>

#include "ir/element.h"
#include "ir/grammar.h"
#include "ir/number.h"
#include "ir/parse.h"
#include "ir/text.h"
#include "ir/verify.h"

/* ---- errors ---- */

bool wick_parse_fail(wick_parser *p, const wick_token *at, wick_code code, const char *fmt, ...)
{
  if (p->stop) return false;
  va_list args;
  va_start(args, fmt);
  const char *location =
      wick_str_printf(p->tmp, "%s%s%u:%u", p->file, *p->file ? ":" : "", at->line, at->column);
  wick_errors_add(&p->errors, wick_vfail(p->tmp, code, location, fmt, args));
  va_end(args);
  if (p->errors.list.n == WICK_PARSE_ERRORS) {
    p->stop = true;
    p->lex.at = p->lex.end;
    p->lex.token.kind = WICK_TOKEN_END;
  }
  return false;
}

bool wick_parse_unexpected(wick_parser *p, const char *wanted)
{
  const wick_token *t = wick_parse_token(p);
  int n = (int)(t->n > 40 ? 40 : t->n);
  const char *sigil = t->kind == WICK_TOKEN_VALUE    ? "%"
                      : t->kind == WICK_TOKEN_GLOBAL ? "@"
                                                     : "",
             *quote = t->quoted ? "\"" : "";
  if (t->kind == WICK_TOKEN_END)
    return wick_parse_fail(p, t, WICK_EPARSE, "the text ends, expected %s", wanted);
  if (t->kind == WICK_TOKEN_BAD && t->quoted)
    return wick_parse_fail(p, t, WICK_EPARSE, "the string does not end on its line");
  if (t->kind == WICK_TOKEN_BAD && ((unsigned char)*t->at < ' ' || (unsigned char)*t->at > '~'))
    return wick_parse_fail(p, t, WICK_EPARSE, "the byte 0x%02x, expected %s", (unsigned char)*t->at,
                           wanted);
  return wick_parse_fail(p, t, WICK_EPARSE, "`%s%s%.*s%s`, expected %s", sigil, quote, n, t->at,
                         quote, wanted);
}

/* ---- single tokens ---- */

bool wick_parse_take(wick_parser *p, int punct)
{
  if (!wick_parse_is(p, punct)) return false;
  wick_parse_next(p);
  return true;
}

bool wick_parse_punct(wick_parser *p, int punct, const char *wanted)
{
  return wick_parse_take(p, punct) || wick_parse_unexpected(p, wanted);
}

bool wick_parse_name_text(wick_parser *p, const wick_token *t, const char **out)
{
  *out = wick_token_text(t, p->tmp);
  if (!*out)
    return wick_parse_fail(p, t, WICK_EPARSE, "a wrong escape, or a zero byte, in a string");
  return **out || t->kind == WICK_TOKEN_STRING
             ? true
             : wick_parse_fail(p, t, WICK_EPARSE, "an empty name");
}

bool wick_parse_string(wick_parser *p, const char **out)
{
  if (wick_parse_token(p)->kind != WICK_TOKEN_STRING) return wick_parse_unexpected(p, "a string");
  if (!wick_parse_name_text(p, wick_parse_token(p), out)) return false;
  *out = wick_intern(p->m, *out);
  wick_parse_next(p);
  return true;
}

bool wick_parse_int(wick_parser *p, int64_t *out)
{
  bool minus = wick_parse_take(p, '-');
  const wick_token *t = wick_parse_token(p);
  if (t->kind != WICK_TOKEN_INT) return wick_parse_unexpected(p, "an integer");
  uint64_t x = 0, most = (uint64_t)INT64_MAX + minus;
  for (size_t i = 0; i < t->n; i++)
    if (wick_mul_overflows(x, (uint64_t)10, &x) ||
        wick_add_overflows(x, (uint64_t)(t->at[i] - '0'), &x) || x > most)
      return wick_parse_fail(p, t, WICK_ERANGE, "the integer does not fit in 64 bits");
  *out = (int64_t)(minus ? 0 - x : x);
  wick_parse_next(p);
  return true;
}

static bool parse_is_number_word(const wick_token *t)
{
  return wick_token_word(t, "inf") || wick_token_word(t, "nan") || wick_token_word(t, "true") ||
         wick_token_word(t, "false");
}

bool wick_parse_is_number(const wick_parser *p)
{
  const wick_token *t = wick_parse_token(p);
  return t->kind == WICK_TOKEN_INT || t->kind == WICK_TOKEN_NUMBER || wick_token_is(t, '-') ||
         t->kind == WICK_TOKEN_STRING || parse_is_number_word(t);
}

bool wick_parse_number(wick_parser *p, const char **out)
{
  bool minus = wick_parse_take(p, '-');
  const wick_token *t = wick_parse_token(p);
  bool digits = t->kind == WICK_TOKEN_INT || t->kind == WICK_TOKEN_NUMBER;
  if (minus ? !digits && !wick_token_word(t, "inf") : !digits && !parse_is_number_word(t))
    return wick_parse_unexpected(p, "a number");
  char *text = wick_new(p->tmp, char, t->n + 2);
  if (minus) *text = '-';
  memcpy(text + minus, t->at, t->n);
  *out = text;
  wick_parse_next(p);
  return true;
}

/* ---- heads of functions ---- */

/* Reads `@in` or another qualifier; `@given(1)` names a result, `@state(1, @c)` one and a constant. */
static bool parse_qualifier(wick_parser *p, wick_parse_param *param)
{
  wick_qualifier *out = &param->qual;
  const wick_token *t = wick_parse_token(p);
  const wick_keyword *word = wick_keyword_find(wick_qualifier_words, t->at, t->n);
  if (!word) return wick_parse_unexpected(p, "@in, @out, @inout, @taken, @given or @state");
  *out = (wick_qualifier)word->value;
  wick_parse_next(p);
  if (!wick_is_given(*out)) return true;
  int64_t k;
  wick_token number;
  if (!wick_parse_punct(p, '(', "`(` and the number of a result")) return false;
  number = *wick_parse_token(p);
  if (!wick_parse_int(p, &k)) return false;
  if (k < 0 || k > INT32_MAX / 4)
    return wick_parse_fail(p, &number, WICK_EPARSE, "there is no such result");
  *out = (wick_qualifier)((uint32_t)*out + (uint32_t)k);
  if (wick_is_state(*out) && wick_parse_take(p, ',')) {
    param->initial = *wick_parse_token(p);
    if (param->initial.kind != WICK_TOKEN_GLOBAL)
      return wick_parse_unexpected(p, "@ and the name of a constant");
    wick_parse_next(p);
  }
  return wick_parse_punct(p, ')', "`)`");
}

static bool parse_param(wick_parser *p, bool qualifiers)
{
  wick_parse_param param = {.qual = WICK_IN};
  if (qualifiers && wick_parse_token(p)->kind == WICK_TOKEN_GLOBAL && !parse_qualifier(p, &param))
    return false;
  param.token = *wick_parse_token(p);
  if (param.token.kind != WICK_TOKEN_VALUE) return wick_parse_unexpected(p, "a parameter");
  wick_parse_next(p);
  if (!wick_parse_punct(p, ':', "`:` and a type") || !wick_parse_typed_one(p, &param.is))
    return false;
  wick_push(p->tmp, &p->params, param);
  return true;
}

bool wick_parse_param_list(wick_parser *p, bool qualifiers)
{
  p->params.n = 0;
  if (!wick_parse_punct(p, '(', "`(`")) return false;
  if (wick_parse_take(p, ')')) return true;
  do
    if (!parse_param(p, qualifiers)) return false;
  while (wick_parse_take(p, ','));
  return wick_parse_punct(p, ')', "`,` or `)`");
}

static bool parse_wanted(wick_parser *p, bool *arrow)
{
  p->wanted.n = 0;
  *arrow = wick_parse_take(p, WICK_PUNCT_ARROW);
  if (!*arrow) return true;
  bool list = wick_parse_take(p, '(');
  if (list && wick_parse_take(p, ')')) return true;
  do {
    wick_type t;
    if (!wick_parse_type(p, &t)) return false;
    wick_push(p->tmp, &p->wanted, t);
  } while (list && wick_parse_take(p, ','));
  return list ? wick_parse_punct(p, ')', "`,` or `)`") : true;
}

typedef struct parse_head {
  wick_token at; /* the name */
  wick_level level;
  const char *name;
  bool procedure;
} parse_head;

/* Reads from `graph` to after the `{`. The parameters and result types are in the parser. */
static bool parse_function_head(wick_parser *p, parse_head *h)
{
  const wick_token *t = wick_parse_token(p);
  p->func++;
  p->lex.depth = 0;
  h->level = (wick_level)wick_keyword_find(wick_level_words, t->at, t->n)->value;
  wick_parse_next(p);
  h->at = *wick_parse_token(p);
  if (h->at.kind != WICK_TOKEN_GLOBAL) return wick_parse_unexpected(p, "@ and the function's name");
  if (!wick_parse_name_text(p, &h->at, &h->name)) return false;
  wick_parse_next(p);
  bool arrow;
  if (!wick_parse_param_list(p, true) || !parse_wanted(p, &arrow)) return false;
  h->procedure = arrow && h->level & (WICK_LOW | WICK_LOOP);
  return wick_parse_punct(p, '{', "`{`");
}

/* Adds a function of the head's types, so that calls of it can be inferred. */
static void parse_declare(wick_parser *p, const parse_head *h)
{
  uint32_t n = p->params.n;
  wick_type *type = wick_new(p->tmp, wick_type, n);
  wick_qualifier *qual = wick_new(p->tmp, wick_qualifier, n);
  for (uint32_t i = 0; i < n; i++)
    type[i] = p->params.at[i].is.type, qual[i] = p->params.at[i].qual;
  wick_func *f =
      wick_func_head(p->m, h->level, h->name, n, type, qual, p->wanted.n, p->wanted.at, p->tmp);
  f->procedure = h->procedure;
  wick_module_set(p->m, f);
}

/* ---- constants ---- */

wick_scalar wick_parse_text(wick_parser *p, const char *text)
{
  return (wick_scalar){.i = wick_string_table_add(&p->m->strings, text, strlen(text), true)};
}

static uint64_t parse_count_list(const wick_parser *p)
{
  wick_lexer l = p->lex;
  uint64_t n = 0;
  for (; l.token.kind != WICK_TOKEN_END && !wick_token_is(&l.token, ']'); wick_lex_next(&l))
    n += !wick_token_is(&l.token, ',') && !wick_token_is(&l.token, '-');
  return n;
}

/* Reads `[1, 2]`. The elements are counted before memory for them is allocated. */
static bool parse_data_list(wick_parser *p, wick_elem e, uint64_t nelem, uint64_t nbytes,
                            void **out)
{
  wick_token at = *wick_parse_token(p);
  wick_parse_next(p);
  uint64_t n = parse_count_list(p);
  if (n != nelem)
    return wick_parse_fail(p, &at, WICK_ETYPE, "%llu numbers, the type has %llu",
                           (unsigned long long)n, (unsigned long long)nelem);
  *out = wick_arena_alloc(&p->m->mem, nbytes, 64);
  for (uint64_t i = 0; i < nelem; i++) {
    wick_token t = *wick_parse_token(p);
    const char *text, *wrong;
    if (e == WICK_STRING) {
      if (!wick_parse_string(p, &text)) return false;
      wick_store_elem(e, *out, i, wick_parse_text(p, text));
      if (i + 1 < nelem && !wick_parse_punct(p, ',', "`,`")) return false;
      continue;
    }
    if (!wick_parse_number(p, &text)) return false;
    wrong = wick_number_read(e, text, strlen(text), p->tmp, *out, i);
    if (wrong) return wick_parse_fail(p, &t, WICK_ERANGE, "%s", wrong);
    if (i + 1 < nelem && !wick_parse_punct(p, ',', "`,`")) return false;
  }
  return wick_parse_punct(p, ']', "`]`");
}

static int parse_hex(char c)
{
  return c >= '0' && c <= '9'                 ? c - '0'
         : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                              : -1;
}

static bool parse_data_hex(wick_parser *p, uint64_t nbytes, void **out)
{
  wick_parse_next(p);
  const wick_token *t = wick_parse_token(p);
  if (t->kind != WICK_TOKEN_STRING)
    return wick_parse_unexpected(p, "a string of hexadecimal digits");
  if (t->n != nbytes * 2)
    return wick_parse_fail(p, t, WICK_ETYPE, "%zu hexadecimal digits, the type has %llu bytes",
                           t->n, (unsigned long long)nbytes);
  /* aligned, because passes read it as elements */
  unsigned char *data = wick_arena_alloc(&p->m->mem, nbytes, 64);
  for (uint64_t i = 0; i < nbytes; i++) {
    int high = parse_hex(t->at[2 * i]), low = parse_hex(t->at[2 * i + 1]);
    if (high < 0 || low < 0)
      return wick_parse_fail(p, t, WICK_EPARSE, "digit %llu is not hexadecimal",
                             (unsigned long long)(2 * i + (high >= 0)));
    data[i] = (unsigned char)(high << 4 | low);
  }
  *out = data;
  wick_parse_next(p);
  return true;
}

static bool parse_data(wick_parser *p, const wick_token *at, wick_type type, void **out,
                       uint64_t *nbytes)
{
  const wick_type_info *t = wick_type_get(p->m, type);
  wick_dim nelem = wick_type_numel(p->m, type);
  if (t->kind != WICK_TENSOR || !wick_dim_is_const(nelem) || !wick_type_nbytes(p->m, type, nbytes))
    return wick_parse_fail(p, at, WICK_ETYPE,
                           "data of a constant needs a tensor type of fixed size");
  if (wick_token_word(wick_parse_token(p), "hex")) return parse_data_hex(p, *nbytes, out);
  if (wick_parse_is(p, '[')) return parse_data_list(p, t->elem, (uint64_t)nelem.v, *nbytes, out);
  return wick_parse_unexpected(p, "`[` or hex");
}

static bool parse_constant(wick_parser *p)
{
  wick_parse_next(p);
  p->func++;
  wick_token at = *wick_parse_token(p);
  const char *name;
  wick_type type;
  void *data = NULL;
  uint64_t nbytes = 0;
  if (at.kind != WICK_TOKEN_GLOBAL) return wick_parse_unexpected(p, "@ and the constant's name");
  if (!wick_parse_name_text(p, &at, &name)) return false;
  wick_parse_next(p);
  if (!wick_parse_punct(p, ':', "`:` and a type") || !wick_parse_type(p, &type)) return false;
  if (wick_type_get(p->m, type)->kind != WICK_TENSOR)
    return wick_parse_fail(p, &at, WICK_ETYPE, "a constant is a tensor");
  if (wick_parse_take(p, '=') && !parse_data(p, &at, type, &data, &nbytes)) return false;
  if (wick_constant_find(p->m, name))
    return wick_parse_fail(p, &at, WICK_EPARSE, "@%s is defined already", name);
  wick_constant_add(p->m, name, type, data, nbytes);
  return true;
}

/* ---- the first pass ---- */

static bool parse_metadata(wick_parser *p)
{
  wick_pair pair;
  wick_parse_next(p);
  if (!wick_parse_string(p, &pair.key) || !wick_parse_punct(p, '=', "`=`")) return false;
  if (!wick_parse_string(p, &pair.value)) return false;
  wick_push(&p->m->mem, &p->m->metadata, pair);
  return true;
}

static const wick_keyword *parse_is_function(const wick_parser *p)
{
  const wick_token *t = wick_parse_token(p);
  return t->kind == WICK_TOKEN_WORD ? wick_keyword_find(wick_level_words, t->at, t->n) : NULL;
}

/* `schedule "..."`, `contract "..."` */
static bool parse_function_tail(wick_parser *p, wick_builder *b)
{
  for (;;) {
    bool schedule = wick_token_word(wick_parse_token(p), "schedule"),
         contract = wick_token_word(wick_parse_token(p), "contract");
    const char *text;
    if (!schedule && !contract) return true;
    wick_parse_next(p);
    if (!wick_parse_string(p, &text)) return false;
    if (schedule)
      b->schedule = text;
    else
      b->contract = text;
  }
}

typedef wick_list(wick_lexer) parse_places;

static bool parse_function_first(wick_parser *p, parse_places *bodies)
{
  wick_lexer begin = p->lex;
  wick_builder ignored = {0};
  parse_head h;
  if (!parse_function_head(p, &h)) return false;
  const wick_func *have = wick_module_find(p->m, h.name);
  bool good = true;
  if (have) good = wick_parse_fail(p, &h.at, WICK_EPARSE, "@%s is defined already", h.name);
  if (p->wanted.n > UINT16_MAX) good = wick_parse_fail(p, &h.at, WICK_ELIMIT, "too many results");
  while (p->lex.depth > 0 && wick_parse_token(p)->kind != WICK_TOKEN_END) wick_parse_next(p);
  if (p->lex.depth > 0)
    return wick_parse_fail(p, &h.at, WICK_EPARSE, "the body of @%s does not end: a } is missing",
                           h.name);
  wick_parse_next(p);
  if (!parse_function_tail(p, &ignored)) return false;
  if (!good) return true;
  parse_declare(p, &h);
  wick_push(p->tmp, bodies, begin);
  return true;
}

/* Skips to the next line that begins like a part of a module. */
static void parse_module_recover(wick_parser *p, const char *begun)
{
  static const char *const word[] = {"module", "metadata", "data", "constant"};
  for (;; wick_parse_next(p)) {
    const wick_token *t = wick_parse_token(p);
    if (t->kind == WICK_TOKEN_END) return;
    if (t->at == begun || !t->first || (t->column != 1 && p->lex.depth > 0)) continue;
    bool begins = parse_is_function(p) != NULL;
    for (uint32_t i = 0; i < WICK_COUNT(word); i++) begins = begins || wick_token_word(t, word[i]);
    if (begins) return;
  }
}

static void parse_module_first(wick_parser *p, parse_places *bodies)
{
  while (wick_parse_token(p)->kind != WICK_TOKEN_END) {
    const wick_token *t = wick_parse_token(p);
    const char *begun = t->at;
    bool good;
    if (wick_token_word(t, "module")) {
      wick_parse_next(p);
      good = wick_parse_string(p, &p->m->name);
    } else if (wick_token_word(t, "metadata")) {
      good = parse_metadata(p);
    } else if (wick_token_word(t, "data")) {
      good = wick_parse_data(p);
    } else if (wick_token_word(t, "constant")) {
      good = parse_constant(p);
    } else if (parse_is_function(p)) {
      good = parse_function_first(p, bodies);
    } else {
      good =
          wick_parse_unexpected(p, "graph, group, low, loop, constant, data, metadata or module");
    }
    if (!good) parse_module_recover(p, begun);
  }
}

/* ---- the second pass ---- */

static void parse_initial(wick_parser *p, const wick_parse_param *param, uint32_t name)
{
  const char *text;
  if (!wick_parse_name_text(p, &param->initial, &text)) return;
  uint32_t constant = wick_constant_find(p->m, text);
  if (constant)
    wick_initial_set(p->m, name, constant);
  else
    wick_parse_fail(p, &param->initial, WICK_EPARSE, "there is no constant @%s", text);
}

static void parse_params_begin(wick_parser *p)
{
  for (uint32_t i = 0; i < p->params.n; i++) {
    const wick_parse_param *param = &p->params.at[i];
    char unnamed[16];
    wick_param_unnamed(unnamed, i);
    const char *name = wick_token_text(&param->token, p->tmp);
    bool named = name && strcmp(name, unnamed) != 0;
    wick_value v = wick_build_param(&p->b, param->is.type, param->qual, named ? name : NULL);
    wick_build_name(&p->b, v, param->is.name, param->is.relation);
    wick_parse_define(p, &param->token, v.id);
    if (param->initial.kind == WICK_TOKEN_GLOBAL)
      parse_initial(p, param, p->b.values.at[v.id].name);
  }
}

static void parse_function_second(wick_parser *p, const wick_lexer *location)
{
  parse_head h;
  uint32_t nproblem = p->errors.list.n;
  p->lex = *location;
  p->scope.n = p->results.n = p->open.n = 0;
  p->building = true;
  p->ended = false;
  if (!parse_function_head(p, &h)) return;
  wick_build_begin(&p->b, p->m, h.level, h.name, &p->m->mem);
  p->b.procedure = h.procedure;
  parse_params_begin(p);
  wick_parse_constraints(p);
  wick_parse_body(p);
  if (p->open.n || !wick_parse_is(p, '}')) return;
  if (!p->ended) {
    wick_parse_fail(p, wick_parse_token(p), WICK_EPARSE, "the function does not end in return");
    return;
  }
  wick_parse_next(p);
  if (!parse_function_tail(p, &p->b) || p->errors.list.n > nproblem) return;
  wick_func *f;
  wick_status s = wick_build_end(&p->b, &f);
  if (s)
    wick_parse_fail(p, &h.at, s->code, "%s", s->message);
  else
    wick_module_set(p->m, f);
}

/* Verifies all functions, once all exist: calls and kernels are checked against the functions
 * that they name. */
static void parse_verify(wick_parser *p, const parse_places *bodies)
{
  for (uint32_t i = 0; i < bodies->n && !p->errors.list.n; i++) {
    wick_lexer l = bodies->at[i];
    wick_lex_next(&l);
    const char *name = wick_token_text(&l.token, p->tmp);
    wick_status s = wick_verify_func(wick_module_find(p->m, name), p->tmp);
    if (s) wick_parse_fail(p, &l.token, s->code, "%s", s->message);
  }
}

static void parse_undo(wick_parser *p, const parse_places *bodies)
{
  for (uint32_t i = 0; i < bodies->n; i++) {
    wick_lexer l = bodies->at[i];
    wick_lex_next(&l);
    wick_module_remove(p->m, wick_token_text(&l.token, p->tmp));
  }
}

wick_status wick_parse_module(wick_module *m, const char *file, const char *text, size_t n,
                              wick_arena *tmp)
{
  if (n >= UINT32_MAX) return wick_fail(tmp, WICK_ELIMIT, file, "a text of 4 GiB or more");
  wick_parser p = {.m = m, .tmp = tmp, .file = file ? file : "text"};
  p.errors = wick_errors_begin(tmp, WICK_PARSE_ERRORS);
  p.symbols = wick_names_begin(tmp);
  p.values = wick_names_begin(tmp);
  p.b.module = m; /* for queries before the first function */
  parse_places bodies = {0};
  p.lex = wick_lex_begin(text, n);
  parse_module_first(&p, &bodies);
  wick_parse_data_defined(&p);
  for (uint32_t i = 0; i < bodies.n && !p.stop; i++) parse_function_second(&p, &bodies.at[i]);
  parse_verify(&p, &bodies);
  if (p.errors.list.n) parse_undo(&p, &bodies);
  return wick_errors_end(&p.errors);
}
