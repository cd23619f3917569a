/* The parser of items, types and patterns. Expressions are in parse_expr.c. */
#include "lang/hints.h"
#include "lang/parse_state.h"

static const char *const parse_keywords[] = {"as",   "else", "false", "fn",     "for",    "if",
                                             "in",   "let",  "match", "static", "struct", "true",
                                             "type", "use",  "while", "with"};

bool wick_lang_is_keyword(const char *word)
{
  for (size_t i = 0; i < WICK_COUNT(parse_keywords); i++)
    if (strcmp(word, parse_keywords[i]) == 0) return true;
  return false;
}

/* Whether the lexer has left out a character just before the next token. */
static bool parse_is_cut(const wick_lang_parser *p)
{
  uint32_t from = p->at ? p->token[p->at - 1].end : 0, to = p->token[p->at].begin;
  for (uint32_t i = 0; i < p->sources->problems.n; i++) {
    wick_lang_at at = p->sources->problems.at[i]->at;
    if (at.source == p->source && at.begin >= from && at.end <= to) return true;
  }
  return false;
}

void wick_lang_parse_wrong(wick_lang_parser *p, wick_lang_at at, const char *text)
{
  if (!p->panic && !parse_is_cut(p)) wick_lang_report(p->sources, at, "%s", text);
  p->panic = true;
}

void wick_lang_parse_expected(wick_lang_parser *p, const char *what)
{
  const wick_lang_token *t = parse_peek(p, 0);
  if (p->panic) return;
  if (parse_is_cut(p)) {
    p->panic = true;
    return;
  }
  const char *found = t->kind == WICK_TOKEN_END
                          ? "the end of the file"
                          : wick_str_printf(p->mem, "`%.*s`",
                                            (int)(t->end - t->begin > 40 ? 40 : t->end - t->begin),
                                            p->text + t->begin);
  wick_lang_parse_wrong(p, (wick_lang_at){p->source, t->begin, t->end},
                        wick_str_printf(p->mem, "expected %s, found %s", what, found));
  const wick_lang_token *before = p->at ? &p->token[p->at - 1] : t;
  const char *help = wick_lang_foreign_word(p->text + t->begin, t->end - t->begin);
  if (!help) help = wick_lang_foreign_word(p->text + before->begin, before->end - before->begin);
  bool call = strncmp(what, "an operator", 11) == 0 && before->kind == WICK_TOKEN_NAME &&
              !t->newline && (t->kind == WICK_TOKEN_NAME || t->kind == WICK_TOKEN_STRING);
  if (help)
    wick_lang_help(p->sources, "%s", help);
  else if (call)
    wick_lang_help(p->sources, "functions are called with parentheses: `%s(...)`", before->name);
}

const wick_lang_token *wick_lang_parse_need(wick_lang_parser *p, int kind, const char *what)
{
  if (!parse_is(p, kind)) wick_lang_parse_expected(p, what);
  return parse_next(p);
}

const wick_lang_token *wick_lang_parse_name(wick_lang_parser *p, const char *what)
{
  const wick_lang_token *t = parse_peek(p, 0);
  if (t->kind == WICK_TOKEN_NAME && wick_lang_is_keyword(t->name))
    wick_lang_parse_wrong(
        p, (wick_lang_at){p->source, t->begin, t->end},
        wick_str_printf(p->mem, "expected %s, found the keyword `%s`", what, t->name));
  return wick_lang_parse_need(p, WICK_TOKEN_NAME, what);
}

wick_ast *wick_lang_parse_node(wick_lang_parser *p, wick_ast_kind kind, uint32_t begin,
                               uint32_t nkid, wick_ast *const *kid)
{
  wick_ast *n = wick_new(p->mem, wick_ast, 1);
  const wick_lang_token *first = &p->token[begin], *last = &p->token[p->at ? p->at - 1 : 0];
  n->kind = kind;
  n->at =
      (wick_lang_at){p->source, first->begin, last->end > first->begin ? last->end : first->end};
  n->nkid = nkid;
  n->kid = wick_dup(p->mem, wick_ast *, kid, nkid);
  uint32_t depth = 0;
  for (uint32_t i = 0; i < nkid; i++)
    if (kid[i] && kid[i]->depth > depth) depth = kid[i]->depth;
  if (depth >= WICK_LANG_DEPTH && kind != WICK_AST_FILE)
    wick_lang_parse_wrong(p, (wick_lang_at){p->source, n->at.begin, n->at.begin + 1},
                          "the expression is nested too deeply; name parts of it with `let`");
  n->depth = (uint16_t)(depth < WICK_LANG_DEPTH ? depth + 1 : depth);
  return n;
}

wick_ast *wick_lang_parse_named(wick_lang_parser *p, wick_ast_kind kind, uint32_t begin,
                                const wick_lang_token *name, uint32_t nkid, wick_ast *const *kid)
{
  wick_ast *n = wick_lang_parse_node(p, kind, begin, nkid, kid);
  n->name = name->name ? name->name : "";
  n->name_at = (wick_lang_at){p->source, name->begin, name->end};
  return n;
}

bool wick_lang_parse_enter(wick_lang_parser *p)
{
  if (++p->depth <= WICK_LANG_DEPTH) return true;
  const wick_lang_token *t = parse_peek(p, 0);
  wick_lang_parse_wrong(p, (wick_lang_at){p->source, t->begin, t->end},
                        "the program is nested too deeply here");
  return false;
}

/* ---- types ---- */

/* In the brackets of a name: a size, `?`, `...s`, or a type. `data`: the name is that of a struct
 * or a data type, whose arguments may be tuples. */
static wick_ast *parse_argument(wick_lang_parser *p, bool data)
{
  const wick_lang_token *t = parse_peek(p, 0), *second = parse_peek(p, 1);
  uint32_t begin = p->at;
  if (parse_take(p, '?')) return wick_lang_parse_node(p, WICK_AST_ANY_SIZE, begin, 0, NULL);
  if (parse_take(p, WICK_TOKEN_SPREAD))
    return wick_lang_parse_named(p, WICK_AST_SPREAD, begin,
                                 wick_lang_parse_name(p, "the name of a shape"), 0, NULL);
  bool element = t->kind == WICK_TOKEN_NAME && second->kind == '[',
       qualified = t->kind == WICK_TOKEN_NAME && second->kind == '.' &&
                   parse_peek(p, 2)->kind == WICK_TOKEN_TYPE;
  if (t->kind == WICK_TOKEN_TYPE || element || qualified || parse_is_word(p, 0, "fn") ||
      (data && t->kind == '('))
    return wick_lang_parse_type(p);
  return wick_lang_parse_binary(p, 0);
}

static void parse_list(wick_lang_parser *p, int end, bool data, wick_ast_list *out)
{
  bool joined = p->joined;
  p->joined = true;
  while (!p->panic && !parse_is(p, end)) {
    wick_ast *a = parse_argument(p, data);
    wick_push(p->mem, out, a);
    if (!parse_take(p, ',')) break;
  }
  wick_lang_parse_need(p, end, end == ']' ? "`,` or `]`" : "`,` or `)`");
  p->joined = joined;
}

static wick_ast *parse_types(wick_lang_parser *p, uint32_t begin)
{
  wick_ast_list kids = {0};
  bool joined = p->joined;
  p->joined = true;
  while (!p->panic && !parse_is(p, ')')) {
    wick_ast *t = wick_lang_parse_type(p);
    wick_push(p->mem, &kids, t);
    if (!parse_take(p, ',')) break;
  }
  wick_lang_parse_need(p, ')', "`,` or `)`");
  p->joined = joined;
  return wick_lang_parse_node(p, WICK_AST_LIST, begin, kids.n, kids.at);
}

wick_ast *wick_lang_parse_type(wick_lang_parser *p)
{
  uint32_t begin = p->at;
  wick_ast *out;
  if (!wick_lang_parse_enter(p)) return wick_lang_parse_node(p, WICK_AST_ERROR, begin, 0, NULL);
  if (parse_take_word(p, "fn")) {
    wick_lang_parse_need(p, '(', "`(`");
    wick_ast *kid[2] = {parse_types(p, begin), NULL};
    wick_lang_parse_need(p, WICK_TOKEN_ARROW, "`->` and the type of the result");
    kid[1] = wick_lang_parse_type(p);
    out = wick_lang_parse_node(p, WICK_AST_TYPE_FN, begin, 2, kid);
  } else if (parse_take(p, '(')) {
    wick_ast *list = parse_types(p, begin);
    if (list->nkid == 1 && p->token[p->at - 2].kind != ',')
      out = list->kid[0];
    else
      out = wick_lang_parse_node(p, WICK_AST_TYPE_TUPLE, begin, list->nkid, list->kid);
  } else {
    const wick_lang_token *t =
        parse_is(p, WICK_TOKEN_TYPE) ? parse_next(p) : wick_lang_parse_name(p, "a type");
    const char *module = NULL;
    if (t->kind == WICK_TOKEN_NAME && parse_is(p, '.')) {
      module = t->name;
      parse_next(p);
      t = wick_lang_parse_need(p, WICK_TOKEN_TYPE, "the name of a type");
    }
    wick_ast_list args = {0};
    bool brackets = parse_is(p, '[') && !parse_peek(p, 0)->newline && parse_take(p, '[');
    if (brackets) parse_list(p, ']', t->kind == WICK_TOKEN_TYPE, &args);
    out = wick_lang_parse_named(p, WICK_AST_TYPE_NAME, begin, t, args.n, args.at);
    out->flag = brackets;
    out->module = module;
  }
  p->depth--;
  return out;
}

/* ---- patterns ---- */

static wick_ast *parse_pattern_part(wick_lang_parser *p)
{
  uint32_t begin = p->at;
  if (parse_is(p, WICK_TOKEN_NAME) && parse_peek(p, 1)->kind == '=') {
    const wick_lang_token *name = wick_lang_parse_name(p, "the name of a field");
    parse_next(p);
    wick_ast *kid = wick_lang_parse_pattern(p);
    return wick_lang_parse_named(p, WICK_AST_NAMED, begin, name, 1, &kid);
  }
  return wick_lang_parse_pattern(p);
}

static void parse_patterns(wick_lang_parser *p, wick_ast_list *out)
{
  bool joined = p->joined;
  p->joined = true;
  while (!p->panic && !parse_is(p, ')')) {
    wick_ast *k = parse_pattern_part(p);
    wick_push(p->mem, out, k);
    if (!parse_take(p, ',')) break;
  }
  wick_lang_parse_need(p, ')', "`,` or `)`");
  p->joined = joined;
}

static wick_ast *parse_pattern_name(wick_lang_parser *p, uint32_t begin)
{
  const char *module = NULL;
  if (parse_is(p, WICK_TOKEN_NAME) && parse_peek(p, 1)->kind == '.') {
    module = wick_lang_parse_name(p, "a module")->name;
    parse_next(p);
  }
  if (module || parse_is(p, WICK_TOKEN_TYPE)) {
    wick_ast_list kids = {0};
    const wick_lang_token *name = wick_lang_parse_need(p, WICK_TOKEN_TYPE, "a constructor");
    bool args = !parse_peek(p, 0)->newline && parse_take(p, '(');
    if (args) parse_patterns(p, &kids);
    wick_ast *n = wick_lang_parse_named(p, WICK_AST_PATTERN_CTOR, begin, name, kids.n, kids.at);
    n->module = module;
    return n;
  }
  const wick_lang_token *name = wick_lang_parse_name(p, "a pattern");
  bool any = name->name && strcmp(name->name, "_") == 0;
  return wick_lang_parse_named(p, any ? WICK_AST_ANY : WICK_AST_BIND, begin, name, 0, NULL);
}

wick_ast *wick_lang_parse_pattern(wick_lang_parser *p)
{
  uint32_t begin = p->at;
  wick_ast *out = NULL;
  if (!wick_lang_parse_enter(p)) return wick_lang_parse_node(p, WICK_AST_ERROR, begin, 0, NULL);
  if (parse_take(p, '(')) {
    wick_ast_list kids = {0};
    parse_patterns(p, &kids);
    bool one = kids.n == 1 && p->token[p->at - 2].kind != ',';
    out =
        one ? kids.at[0] : wick_lang_parse_node(p, WICK_AST_PATTERN_TUPLE, begin, kids.n, kids.at);
  } else if (parse_is(p, '-')) {
    parse_next(p);
    out = wick_lang_parse_literal(p);
    if (!out || (out->kind != WICK_AST_INT && out->kind != WICK_AST_FLOAT)) {
      wick_lang_parse_expected(p, "a number");
      out = wick_lang_parse_node(p, WICK_AST_ERROR, begin, 0, NULL);
    }
    out->i = (int64_t)(0 - (uint64_t)out->i);
    out->f = -out->f;
    out->op = '-', out->flag = true;
    out->at.begin = p->token[begin].begin;
  } else if (!(out = wick_lang_parse_literal(p))) {
    out = parse_pattern_name(p, begin);
  }
  p->depth--;
  return out;
}

/* ---- items ---- */

wick_ast *wick_lang_parse_params(wick_lang_parser *p)
{
  wick_ast_list kids = {0};
  uint32_t begin = p->at;
  bool joined = p->joined;
  wick_lang_parse_need(p, '(', "`(`");
  p->joined = true;
  while (!p->panic && !parse_is(p, ')')) {
    uint32_t first = p->at;
    bool fixed = parse_take_word(p, "static");
    const wick_lang_token *name = wick_lang_parse_name(p, "the name of a parameter");
    wick_ast *type = parse_take(p, ':') ? wick_lang_parse_type(p) : NULL;
    wick_ast *n = wick_lang_parse_named(p, WICK_AST_PARAM, first, name, 1, &type);
    n->flag = fixed;
    wick_push(p->mem, &kids, n);
    if (!parse_take(p, ',')) break;
  }
  wick_lang_parse_need(p, ')', "`,` or `)`");
  p->joined = joined;
  return wick_lang_parse_node(p, WICK_AST_LIST, begin, kids.n, kids.at);
}

static wick_ast *parse_type_params(wick_lang_parser *p)
{
  wick_ast_list kids = {0};
  uint32_t begin = p->at;
  if (parse_take(p, '[')) {
    while (!p->panic && !parse_is(p, ']')) {
      uint32_t first = p->at;
      bool spread = parse_take(p, WICK_TOKEN_SPREAD);
      const wick_lang_token *name = wick_lang_parse_name(p, "the name of a parameter");
      wick_ast *n =
          wick_lang_parse_named(p, spread ? WICK_AST_SPREAD : WICK_AST_NAME, first, name, 0, NULL);
      wick_push(p->mem, &kids, n);
      if (!parse_take(p, ',')) break;
    }
    wick_lang_parse_need(p, ']', "`,` or `]`");
  }
  return wick_lang_parse_node(p, WICK_AST_LIST, begin, kids.n, kids.at);
}

/* Members between braces, with commas or ends of lines between them. */
static wick_ast *parse_members(wick_lang_parser *p, wick_ast *(*member)(wick_lang_parser *))
{
  wick_ast_list kids = {0};
  uint32_t begin = p->at;
  wick_lang_parse_need(p, '{', "`{`");
  while (!p->panic && !parse_is(p, '}')) {
    wick_ast *n = member(p);
    wick_push(p->mem, &kids, n);
    bool between = parse_take(p, ',') || parse_take(p, ';') || parse_peek(p, 0)->newline;
    if (!between) break;
  }
  wick_lang_parse_need(p, '}', "`,` or `}`");
  return wick_lang_parse_node(p, WICK_AST_LIST, begin, kids.n, kids.at);
}

static wick_ast *parse_ctor(wick_lang_parser *p)
{
  uint32_t begin = p->at;
  const wick_lang_token *name =
      wick_lang_parse_need(p, WICK_TOKEN_TYPE, "a constructor, with a capital letter");
  wick_ast *types = parse_take(p, '(') ? parse_types(p, begin) : NULL;
  return wick_lang_parse_named(p, WICK_AST_CTOR, begin, name, types ? types->nkid : 0,
                               types ? types->kid : NULL);
}

static wick_ast *parse_field(wick_lang_parser *p)
{
  uint32_t begin = p->at;
  const wick_lang_token *name = wick_lang_parse_name(p, "the name of a field");
  wick_lang_parse_need(p, ':', "`:` and the type of the field");
  wick_ast *type = wick_lang_parse_type(p);
  return wick_lang_parse_named(p, WICK_AST_FIELD_TYPE, begin, name, 1, &type);
}

/* y[i, j] = expression */
static wick_ast *parse_define(wick_lang_parser *p)
{
  uint32_t begin = p->at;
  const wick_lang_token *name = wick_lang_parse_name(p, "the name of a result");
  wick_ast *kid[2] = {NULL, NULL};
  kid[0] = parse_take(p, '[') ? wick_lang_parse_indices(p, ']')
                              : wick_lang_parse_node(p, WICK_AST_LIST, p->at, 0, NULL);
  wick_lang_parse_need(p, '=', "`=` and the element");
  kid[1] = wick_lang_parse_expr(p);
  return wick_lang_parse_named(p, WICK_AST_DEFINE, begin, name, 2, kid);
}

static wick_ast *parse_use(wick_lang_parser *p, uint32_t begin)
{
  wick_ast_list kids = {0};
  const wick_lang_token *name = wick_lang_parse_name(p, "the name of a module");
  const char *alias = parse_take_word(p, "as") ? wick_lang_parse_name(p, "a name")->name : NULL;
  if (!parse_peek(p, 0)->newline && parse_take(p, '{')) {
    while (!p->panic && !parse_is(p, '}')) {
      uint32_t at = p->at;
      const wick_lang_token *what = parse_is(p, WICK_TOKEN_TYPE)
                                        ? parse_next(p)
                                        : wick_lang_parse_name(p, "a name of the module");
      const char *as = NULL;
      if (parse_take_word(p, "as"))
        as = (parse_is(p, WICK_TOKEN_TYPE) ? parse_next(p) : wick_lang_parse_name(p, "a name"))
                 ->name;
      wick_ast *n = wick_lang_parse_named(p, WICK_AST_IMPORT, at, what, 0, NULL);
      n->alias = as;
      wick_push(p->mem, &kids, n);
      if (!parse_take(p, ',')) break;
    }
    wick_lang_parse_need(p, '}', "`,` or `}`");
  }
  wick_ast *n = wick_lang_parse_named(p, WICK_AST_USE, begin, name, kids.n, kids.at);
  n->alias = alias;
  return n;
}

/* @onnx("domain", "Name", attribute = literal) */
static wick_ast *parse_annotation(wick_lang_parser *p)
{
  uint32_t begin = p->at;
  wick_ast_list kids = {0};
  if (!parse_take(p, '@')) return NULL;
  if (!parse_take_word(p, "onnx")) wick_lang_parse_expected(p, "`onnx`");
  wick_lang_parse_need(p, '(', "`(`");
  for (uint32_t i = 0; !p->panic && !parse_is(p, ')'); i++) {
    uint32_t at = p->at;
    wick_ast *value = NULL;
    const wick_lang_token *name = NULL;
    if (i > 1) {
      name = wick_lang_parse_name(p, "the name of an attribute");
      wick_lang_parse_need(p, '=', "`=` and its value");
    }
    value = i < 2 && !parse_is(p, WICK_TOKEN_STRING)
                ? (wick_lang_parse_expected(p, i ? "the name of the operator in quotes"
                                                 : "the domain in quotes"),
                   NULL)
                : wick_lang_parse_expr(p);
    if (p->panic) break;
    wick_push(p->mem, &kids,
              name ? wick_lang_parse_named(p, WICK_AST_NAMED, at, name, 1, &value) : value);
    if (!parse_take(p, ',')) break;
  }
  if (kids.n < 2 && !p->panic)
    wick_lang_parse_expected(p, "the domain and the name of an operator");
  wick_lang_parse_need(p, ')', "`,` or `)`");
  if (!parse_is_word(p, 0, "fn") && !parse_is_word(p, 0, "op"))
    wick_lang_parse_expected(p, "`fn` or `op`");
  return wick_lang_parse_node(p, WICK_AST_LIST, begin, kids.n, kids.at);
}

static wick_ast *parse_item(wick_lang_parser *p)
{
  uint32_t begin = p->at;
  wick_ast *onnx = parse_annotation(p);
  if (parse_take_word(p, "use")) return parse_use(p, begin);
  bool data = parse_take_word(p, "type");
  if (data || parse_take_word(p, "struct")) {
    const wick_lang_token *name =
        wick_lang_parse_need(p, WICK_TOKEN_TYPE, "a name with a capital letter");
    wick_ast *kid[2] = {parse_type_params(p), NULL};
    kid[1] = parse_members(p, data ? parse_ctor : parse_field);
    return wick_lang_parse_named(p, data ? WICK_AST_TYPE : WICK_AST_STRUCT, begin, name, 2, kid);
  }
  bool op = parse_take_word(p, "op");
  if (op || parse_take_word(p, "fn")) {
    const wick_lang_token *name = wick_lang_parse_name(p, "the name of the function");
    wick_ast *kid[4] = {wick_lang_parse_params(p), NULL, NULL, onnx};
    if (parse_take(p, WICK_TOKEN_ARROW)) kid[1] = wick_lang_parse_type(p);
    p->in_op = op;
    kid[2] = op ? parse_members(p, parse_define) : wick_lang_parse_block(p);
    p->in_op = false;
    wick_ast *n =
        wick_lang_parse_named(p, op ? WICK_AST_OP : WICK_AST_FN, begin, name, onnx ? 4 : 3, kid);
    if (onnx && onnx->nkid > 1) n->module = onnx->kid[0]->name, n->alias = onnx->kid[1]->name;
    return n;
  }
  wick_lang_parse_expected(p, "`fn`, `type`, `struct`, `op` or `use`");
  return NULL;
}

/* After a mistake: goes to the next item, which begins a line. */
static void parse_recover(wick_lang_parser *p, uint32_t begin)
{
  static const char *const first[] = {"fn", "type", "struct", "use"};
  p->panic = p->joined = p->in_op = false;
  p->depth = 0;
  if (p->at == begin) p->at += p->token[p->at].kind != WICK_TOKEN_END;
  for (; p->token[p->at].kind != WICK_TOKEN_END; p->at++) {
    const wick_lang_token *t = &p->token[p->at];
    if (!t->newline || (t->begin && p->text[t->begin - 1] != '\n')) continue;
    for (size_t i = 0; i < WICK_COUNT(first); i++)
      if (parse_is_word(p, 0, first[i])) return;
    if (parse_is_word(p, 0, "op") && parse_peek(p, 1)->kind == WICK_TOKEN_NAME) return;
  }
}

/* Notes what the item between two tokens would have declared: its name, and a type's constructors. */
static void parse_lose(wick_lang_parser *p, uint32_t begin, uint32_t end)
{
  bool type = p->token[begin].kind == WICK_TOKEN_NAME && strcmp(p->token[begin].name, "type") == 0;
  for (uint32_t i = begin + 1; i < end && (type || i == begin + 1); i++) {
    if (p->token[i].kind != WICK_TOKEN_NAME) continue;
    wick_lang_lost k = {p->source, p->token[i].name};
    wick_push(p->sources->mem, &p->sources->lost, k);
  }
}

static wick_lang_parser parse_begin(wick_lang_sources *s, uint32_t source,
                                    const wick_lang_tokens *tokens, wick_names *names,
                                    wick_arena *mem)
{
  return (wick_lang_parser){.sources = s,
                            .names = names,
                            .mem = mem,
                            .token = tokens->list.at,
                            .text = s->list.at[source].text,
                            .source = source};
}

wick_ast *wick_lang_parse(wick_lang_sources *s, uint32_t source, const wick_lang_tokens *tokens,
                          wick_names *names, wick_arena *mem)
{
  wick_lang_parser p = parse_begin(s, source, tokens, names, mem);
  wick_ast_list items = {0};
  while (p.token[p.at].kind != WICK_TOKEN_END) {
    uint32_t begin = p.at;
    if (parse_take(&p, ';')) continue;
    wick_ast *n = parse_item(&p);
    const wick_lang_token *after = parse_peek(&p, 0);
    if (!p.panic && !after->newline && after->kind != ';')
      wick_lang_parse_expected(&p, "the end of the line");
    if (p.panic) {
      parse_recover(&p, begin);
      parse_lose(&p, begin, p.at);
    } else {
      wick_push(mem, &items, n);
    }
  }
  return wick_lang_parse_node(&p, WICK_AST_FILE, 0, items.n, items.at);
}

wick_ast *wick_lang_parse_statements(wick_lang_sources *s, uint32_t source,
                                     const wick_lang_tokens *tokens, wick_names *names,
                                     wick_arena *mem)
{
  wick_lang_parser p = parse_begin(s, source, tokens, names, mem);
  wick_ast_list kids = {0};
  wick_lang_parse_body(&p, &kids);
  if (!parse_is(&p, WICK_TOKEN_END)) wick_lang_parse_expected(&p, "the end of the expression");
  wick_ast *kid[3] = {wick_lang_parse_node(&p, WICK_AST_LIST, 0, 0, NULL), NULL,
                      wick_lang_parse_node(&p, WICK_AST_BLOCK, 0, kids.n, kids.at)};
  wick_ast *f = wick_lang_parse_node(&p, WICK_AST_FN, 0, 3, kid);
  f->name = wick_names_get(names, wick_names_add(names, "it", 2));
  f->name_at = f->at;
  return f;
}
