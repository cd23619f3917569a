/* The parser of items, types and patterns. Expressions are in parse_expr.c. */
#include "lang/parse.h"
#include "import/relay/state.h"

/* ---- mistakes ---- */

void wick_relay_wrong(relay_parser *p, wick_lang_at at, const char *text)
{
  if (!p->panic) wick_lang_report(&p->p->sources, at, "%s", text);
  if (!p->panic) p->skipped = p->at;
  p->panic = true;
}

void wick_relay_expected(relay_parser *p, const char *what)
{
  const relay_token *t = relay_peek(p, 0);
  if (p->panic) return;
  int n = t->end - t->begin > 40 ? 40 : (int)(t->end - t->begin);
  const char *found = t->kind == RELAY_END
                          ? "the end of the file"
                          : wick_str_printf(p->mem, "`%.*s`", n, p->text + t->begin);
  wick_relay_wrong(p, relay_place(p, t),
                   wick_str_printf(p->mem, "expected %s, found %s", what, found));
}

const relay_token *wick_relay_need(relay_parser *p, int kind, const char *what)
{
  if (!relay_is(p, kind)) wick_relay_expected(p, what);
  return relay_next(p);
}

bool wick_relay_enter(relay_parser *p)
{
  if (++p->depth < WICK_LANG_DEPTH) return true;
  wick_relay_wrong(p, relay_place(p, relay_peek(p, 0)),
                   "the program is nested too deeply; name parts of it");
  return false;
}

/* ---- nodes ---- */

wick_ast *wick_relay_node(relay_parser *p, wick_ast_kind kind, uint32_t begin, uint32_t nkid,
                          wick_ast *const *kid)
{
  wick_ast *n = wick_new(p->mem, wick_ast, 1);
  const relay_token *first = &p->tokens.at[begin], *last = &p->tokens.at[p->at ? p->at - 1 : 0];
  n->kind = kind;
  n->at =
      (wick_lang_at){p->source, first->begin, last->end > first->begin ? last->end : first->end};
  n->name_at = n->at;
  n->nkid = nkid;
  n->kid = wick_dup(p->mem, wick_ast *, kid, nkid);
  uint32_t depth = 0;
  for (uint32_t i = 0; i < nkid; i++)
    if (kid[i] && kid[i]->depth > depth) depth = kid[i]->depth;
  if (depth >= WICK_LANG_DEPTH && kind != WICK_AST_FILE)
    wick_relay_wrong(p, (wick_lang_at){p->source, n->at.begin, n->at.begin + 1},
                     "the program is nested too deeply; name parts of it");
  n->depth = (uint16_t)(depth < WICK_LANG_DEPTH ? depth + 1 : depth);
  return n;
}

void wick_relay_set_int(wick_ast *n, int64_t value)
{
  n->i = value;
  if (value < 0) n->op = '-', n->flag = true;
}

wick_ast *wick_relay_named(relay_parser *p, wick_ast_kind kind, uint32_t begin, const char *name,
                           uint32_t nkid, wick_ast *const *kid)
{
  wick_ast *n = wick_relay_node(p, kind, begin, nkid, kid);
  n->name = name;
  n->name_at = relay_place(p, &p->tokens.at[begin]);
  return n;
}

wick_ast *wick_relay_list(relay_parser *p, uint32_t begin, const relay_nodes *items)
{
  return wick_relay_node(p, WICK_AST_LIST, begin, items->n, items->at);
}

wick_ast *wick_relay_refer(relay_parser *p, uint32_t begin, wick_lang_entity *e)
{
  wick_ast *n = wick_relay_named(p, WICK_AST_NAME, begin, e->name, 0, NULL);
  n->ref = e;
  return n;
}

/* ---- types ---- */

static const struct {
  const char *name, *elem;
} parse_elements[] = {
    {"float32", "f32"}, {"float64", "f64"}, {"float16", "f16"}, {"bfloat16", "bf16"},
    {"int8", "i8"},     {"int16", "i16"},   {"int32", "i32"},   {"int64", "i64"},
    {"uint8", "u8"},    {"uint16", "u16"},  {"uint32", "u32"},  {"uint64", "u64"},
    {"bool", "bool"},   {"uint1", "bool"},  {"int4", "i4"},     {"uint4", "u4"},
};

const char *wick_relay_element(const char *dtype)
{
  for (size_t i = 0; i < WICK_COUNT(parse_elements); i++)
    if (strcmp(parse_elements[i].name, dtype) == 0) return parse_elements[i].elem;
  return NULL;
}

static const char *parse_dtype(relay_parser *p)
{
  const relay_token *t = wick_relay_need(p, RELAY_WORD, "an element type");
  const char *elem = p->panic ? NULL : wick_relay_element(t->name);
  if (!elem && !p->panic)
    wick_relay_wrong(p, relay_place(p, t),
                     wick_str_printf(p->mem, "there is no element type `%s`", t->name));
  return elem ? wick_relay_intern(p, elem) : "f32";
}

/* Type parameters and sizes are written in small letters in the language. */
static const char *parse_variable(relay_parser *p, const char *name)
{
  char *as = wick_str_dup(p->mem, name);
  if (as[0] >= 'A' && as[0] <= 'Z') as[0] = (char)(as[0] - 'A' + 'a');
  while (wick_lang_map_get(&p->p->elements, wick_relay_intern(p, as)) ||
         wick_lang_map_get(&p->fixed, wick_relay_intern(p, as)))
    as = wick_str_printf(p->mem, "%s_", as);
  return wick_relay_intern(p, as);
}

static wick_ast *parse_size(relay_parser *p)
{
  uint32_t begin = p->at;
  const relay_token *t = relay_next(p);
  wick_ast *n;
  if (t->kind == RELAY_INT) {
    n = wick_relay_node(p, WICK_AST_INT, begin, 0, NULL);
    n->i = t->i;
    if (t->i < 0) wick_relay_wrong(p, relay_place(p, t), "a size is not negative");
    return n;
  }
  if (t->kind == RELAY_WORD)
    return wick_relay_named(p, WICK_AST_NAME, begin, parse_variable(p, t->name), 0, NULL);
  if (t->kind == RELAY_META || t->kind == '?') {
    p->open = true;
    if (!p->entry) return wick_relay_node(p, WICK_AST_ANY_SIZE, begin, 0, NULL);
    const char *name = wick_str_printf(p->mem, "%s_%u", p->param ? p->param : "n", begin);
    return wick_relay_named(p, WICK_AST_NAME, begin, wick_relay_intern(p, name), 0, NULL);
  }
  p->at -= !p->panic && t->kind != RELAY_END;
  wick_relay_expected(p, "a size");
  return wick_relay_node(p, WICK_AST_ERROR, begin, 0, NULL);
}

static wick_ast *parse_tensor(relay_parser *p, uint32_t begin)
{
  relay_nodes dims = {0};
  wick_relay_need(p, '[', "`[`");
  if (relay_take(p, '(')) {
    while (!p->panic && !relay_take(p, ')')) {
      wick_push(p->mem, &dims, parse_size(p));
      if (!relay_is(p, ')')) wick_relay_need(p, ',', "`,` or `)`");
    }
  } else {
    wick_push(p->mem, &dims, parse_size(p));
  }
  wick_relay_need(p, ',', "`,`");
  const char *elem = parse_dtype(p);
  wick_relay_need(p, ']', "`]`");
  wick_ast *n = wick_relay_named(p, WICK_AST_TYPE_NAME, begin, elem, dims.n, dims.at);
  n->flag = dims.n > 0;
  return n;
}

static void parse_types(relay_parser *p, int end, relay_nodes *out)
{
  while (!p->panic && !relay_take(p, end)) {
    wick_push(p->mem, out, wick_relay_type(p));
    if (!relay_is(p, end)) wick_relay_need(p, ',', "`,`");
  }
}

static wick_ast *parse_type_word(relay_parser *p, uint32_t begin)
{
  const relay_token *t = relay_next(p);
  relay_nodes args = {0};
  if (strcmp(t->name, "Tensor") == 0) return parse_tensor(p, begin);
  if (strcmp(t->name, "ref") == 0) {
    wick_relay_need(p, '(', "`(`");
    wick_push(p->mem, &args, wick_relay_type(p));
    wick_relay_need(p, ')', "`)`");
    wick_ast *n =
        wick_relay_named(p, WICK_AST_TYPE_NAME, begin, wick_relay_intern(p, "Ref"), 1, args.at);
    n->flag = true;
    return n;
  }
  if (strcmp(t->name, "_") == 0) return NULL;
  const char *elem = wick_relay_element(t->name);
  if (elem)
    return wick_relay_named(p, WICK_AST_TYPE_NAME, begin, wick_relay_intern(p, elem), 0, NULL);
  const wick_lang_entity *data = wick_lang_map_get(&p->types, t->name);
  bool generic = wick_lang_map_get(&p->generic, t->name) != NULL;
  if (!generic && !data) {
    wick_relay_wrong(p, relay_place(p, t),
                     wick_str_printf(p->mem, "there is no type `%s`", t->name));
    return wick_relay_node(p, WICK_AST_ERROR, begin, 0, NULL);
  }
  if (relay_take(p, '[')) parse_types(p, ']', &args);
  wick_ast *n =
      wick_relay_named(p, WICK_AST_TYPE_NAME, begin,
                       generic ? parse_variable(p, t->name) : data->name, args.n, args.at);
  n->flag = args.n > 0;
  return n;
}

static wick_ast *parse_type_fn(relay_parser *p, uint32_t begin)
{
  relay_nodes params = {0};
  relay_next(p);
  if (relay_take(p, '[')) /* those of the function around it */
    while (!p->panic && !relay_take(p, ']'))
      if (!relay_take(p, ',')) wick_relay_need(p, RELAY_WORD, "a type parameter");
  uint32_t list = p->at;
  wick_relay_need(p, '(', "`(`");
  parse_types(p, ')', &params);
  wick_relay_need(p, RELAY_ARROW, "`->`");
  wick_ast *kid[2] = {wick_relay_list(p, list, &params), wick_relay_type(p)};
  return wick_relay_node(p, WICK_AST_TYPE_FN, begin, 2, kid);
}

static wick_ast *parse_type_tuple(relay_parser *p, uint32_t begin)
{
  relay_nodes items = {0};
  relay_next(p);
  bool comma = false;
  while (!p->panic && !relay_take(p, ')')) {
    wick_push(p->mem, &items, wick_relay_type(p));
    comma = relay_take(p, ',');
    if (!comma && !relay_is(p, ')')) wick_relay_expected(p, "`,` or `)`");
  }
  if (items.n == 1 && !comma) return items.at[0]; /* (fn() -> T) */
  for (uint32_t i = 0; i < items.n; i++)
    if (!items.at[i]) p->open = true;
  return wick_relay_node(p, WICK_AST_TYPE_TUPLE, begin, items.n, items.at);
}

/* NULL stands for `_`, a type that is not given. */
wick_ast *wick_relay_type(relay_parser *p)
{
  uint32_t begin = p->at;
  wick_ast *n = NULL;
  if (wick_relay_enter(p)) {
    if (relay_is_word(p, 0, "fn"))
      n = parse_type_fn(p, begin);
    else if (relay_is(p, RELAY_WORD))
      n = parse_type_word(p, begin);
    else if (relay_is(p, '('))
      n = parse_type_tuple(p, begin);
    else
      wick_relay_expected(p, "a type");
  }
  p->depth--;
  return n;
}

/* Returns whether a part of the type is not given. */
static bool parse_incomplete(const wick_ast *n)
{
  if (!n) return true;
  for (uint32_t i = 0; i < n->nkid; i++)
    if (parse_incomplete(n->kid[i])) return true;
  return false;
}

/* A type after `:`. One that says less than inference finds is left out. */
static wick_ast *parse_annotation(relay_parser *p)
{
  p->open = false;
  wick_ast *n = wick_relay_type(p);
  return parse_incomplete(n) || (p->open && !p->entry) ? NULL : n;
}

/* ---- patterns ---- */

static wick_ast *parse_pattern_list(relay_parser *p, wick_ast_kind kind, uint32_t begin,
                                    const char *name)
{
  relay_nodes items = {0};
  bool comma = false;
  wick_relay_need(p, '(', "a pattern");
  while (!p->panic && !relay_take(p, ')')) {
    wick_push(p->mem, &items, wick_relay_pattern(p));
    comma = relay_take(p, ',');
    if (!comma && !relay_is(p, ')')) wick_relay_expected(p, "`,` or `)`");
  }
  return wick_relay_named(p, kind, begin, name, items.n, items.at);
}

static wick_ast *parse_pattern_any(relay_parser *p, uint32_t begin)
{
  const relay_token *t = relay_peek(p, 0);
  if (relay_is_word(p, 0, "_")) {
    relay_next(p);
    return wick_relay_node(p, WICK_AST_ANY, begin, 0, NULL);
  }
  if (t->kind == RELAY_LOCAL) {
    relay_next(p);
    if (relay_take(p, ':')) (void)wick_relay_type(p);
    return wick_relay_named(p, WICK_AST_BIND, begin, wick_relay_declare(p, t->name), 0, NULL);
  }
  if (t->kind != RELAY_WORD) return parse_pattern_list(p, WICK_AST_PATTERN_TUPLE, begin, NULL);
  relay_next(p);
  if (!wick_lang_map_get(&p->ctors, t->name))
    wick_relay_wrong(p, relay_place(p, t),
                     wick_str_printf(p->mem, "there is no constructor `%s`; a variable is `%%%s`",
                                     t->name, t->name));
  if (relay_is(p, '(')) return parse_pattern_list(p, WICK_AST_PATTERN_CTOR, begin, t->name);
  return wick_relay_named(p, WICK_AST_PATTERN_CTOR, begin, t->name, 0, NULL);
}

wick_ast *wick_relay_pattern(relay_parser *p)
{
  uint32_t begin = p->at;
  wick_ast *n = wick_relay_enter(p) ? parse_pattern_any(p, begin)
                                    : wick_relay_node(p, WICK_AST_ERROR, begin, 0, NULL);
  p->depth--;
  return n;
}

/* ---- functions ---- */

void wick_relay_skip(relay_parser *p, int end)
{
  uint32_t depth = 0;
  while (!p->panic && !relay_is(p, RELAY_END) && (depth || !relay_is(p, end))) {
    int kind = relay_next(p)->kind;
    depth += kind == '(' || kind == '[' || kind == '{';
    depth -= kind == ')' || kind == ']' || kind == '}';
  }
}

static wick_ast *parse_param(relay_parser *p)
{
  uint32_t begin = p->at;
  const relay_token *t = wick_relay_need(p, RELAY_LOCAL, "a parameter");
  if (p->panic) return wick_relay_node(p, WICK_AST_ERROR, begin, 0, NULL);
  p->param = t->name;
  if (relay_take(p, '{')) {
    wick_relay_skip(p, '}');
    wick_relay_need(p, '}', "`}`");
  }
  wick_ast *type = relay_take(p, ':') ? parse_annotation(p) : NULL;
  p->param = NULL;
  wick_ast *n =
      wick_relay_named(p, WICK_AST_PARAM, begin, wick_relay_declare(p, t->name), 1, &type);
  wick_relay_bind(p, n->name, n);
  return n;
}

static void parse_generics(relay_parser *p)
{
  static wick_lang_entity any;
  if (!relay_take(p, '[')) return;
  while (!p->panic && !relay_take(p, ']')) {
    const relay_token *t = wick_relay_need(p, RELAY_WORD, "a type parameter");
    if (!p->panic) wick_lang_map_set(&p->generic, t->name, &any, p->mem);
    if (!relay_is(p, ']')) wick_relay_need(p, ',', "`,` or `]`");
  }
}

wick_ast *wick_relay_function(relay_parser *p, uint32_t begin, const char *name)
{
  uint32_t mark = wick_relay_mark(p);
  relay_nodes params = {0};
  wick_ast *kid[3] = {0};
  p->entry = name && strcmp(name, "main") == 0;
  parse_generics(p);
  uint32_t list = p->at;
  wick_relay_need(p, '(', "`(`");
  while (!p->panic && !relay_take(p, ')')) {
    if (relay_is(p, RELAY_WORD) && relay_peek(p, 1)->kind == '=') {
      wick_relay_skip(p, ')');
      continue;
    }
    wick_push(p->mem, &params, parse_param(p));
    if (!relay_is(p, ')')) wick_relay_need(p, ',', "`,` or `)`");
  }
  kid[0] = wick_relay_list(p, list, &params);
  p->entry = false;
  if (relay_take(p, RELAY_ARROW)) kid[1] = parse_annotation(p);
  kid[2] = wick_relay_block(p);
  wick_relay_leave(p, mark);
  return wick_relay_named(p, WICK_AST_FN, begin, name, 3, kid);
}

/* ---- items ---- */

static wick_ast *parse_constructor(relay_parser *p)
{
  uint32_t begin = p->at;
  relay_nodes fields = {0};
  const relay_token *t = wick_relay_need(p, RELAY_WORD, "a constructor");
  if (relay_take(p, '(')) parse_types(p, ')', &fields);
  for (uint32_t i = 0; i < fields.n; i++)
    if (parse_incomplete(fields.at[i]))
      wick_relay_wrong(p, relay_place(p, t), "a field's type must be given");
  return wick_relay_named(p, WICK_AST_CTOR, begin, t->name, fields.n, fields.at);
}

static wick_ast *parse_data(relay_parser *p, bool external)
{
  uint32_t begin = p->at++, from;
  relay_nodes params = {0}, ctors = {0};
  const relay_token *t = wick_relay_need(p, RELAY_WORD, "the name of a type");
  const wick_lang_entity *name = p->panic ? NULL : wick_lang_map_get(&p->types, t->name);
  from = p->at;
  if (relay_is(p, '[')) {
    uint32_t at = p->at + 1;
    parse_generics(p);
    for (; at < p->at && !p->panic; at++)
      if (p->tokens.at[at].kind == RELAY_WORD) {
        const char *as = parse_variable(p, p->tokens.at[at].name);
        wick_push(p->mem, &params, wick_relay_named(p, WICK_AST_NAME, at, as, 0, NULL));
      }
  }
  wick_ast *kid[2] = {wick_relay_list(p, from, &params), NULL};
  from = p->at;
  if (relay_take(p, '{'))
    while (!p->panic && !relay_take(p, '}')) {
      wick_push(p->mem, &ctors, parse_constructor(p));
      if (!relay_is(p, '}')) wick_relay_need(p, ',', "`,` or `}`");
    }
  if (external && ctors.n)
    wick_relay_wrong(p, relay_place(p, t), "an external type has no constructors");
  kid[1] = wick_relay_list(p, from, &ctors);
  wick_ast *n = wick_relay_named(p, WICK_AST_TYPE, begin, name ? name->name : "", 2, kid);
  n->name_at = relay_place(p, t);
  return n;
}

static wick_ast *parse_definition(relay_parser *p)
{
  uint32_t begin = p->at++;
  const relay_token *t = wick_relay_need(p, RELAY_GLOBAL, "the name of a function, `@f`");
  if (p->panic) return NULL;
  wick_ast *n = wick_relay_function(p, begin, t->name);
  n->name_at = relay_place(p, t);
  return n;
}

/* A file may be one expression: then it is `main`, whose parameters are its free variables, or
 * those of the function that it is. */
static wick_ast *parse_main(relay_parser *p)
{
  uint32_t begin = p->at;
  const char *name = wick_relay_intern(p, "main");
  if (relay_is_word(p, 0, "fn")) {
    relay_next(p);
    wick_ast *n = wick_relay_function(p, begin, name);
    if (relay_is(p, RELAY_END) || relay_is(p, RELAY_METADATA)) return n;
    p->at = begin;
  }
  p->entry = true;
  wick_ast *body = wick_relay_body(p);
  p->entry = false;
  wick_ast *kid[3] = {wick_relay_list(p, begin, &p->free), NULL, body};
  return wick_relay_named(p, WICK_AST_FN, begin, name, 3, kid);
}

static wick_ast *parse_item(relay_parser *p)
{
  if (relay_is_word(p, 0, "def")) return parse_definition(p);
  if (relay_is_word(p, 0, "type")) return parse_data(p, false);
  if (relay_is_word(p, 0, "extern") && relay_is_word(p, 1, "type")) {
    p->at++;
    return parse_data(p, true);
  }
  return parse_main(p);
}

/* Goes to the next item after a mistake. */
static void parse_recover(relay_parser *p)
{
  p->panic = false;
  if (p->at < p->skipped) p->at = p->skipped;
  while (!relay_is(p, RELAY_END) && !relay_is(p, RELAY_METADATA) && !relay_is_word(p, 0, "def") &&
         !(relay_is_word(p, 0, "type") && relay_peek(p, 1)->kind == RELAY_WORD) &&
         !(relay_is_word(p, 0, "extern") && relay_is_word(p, 1, "type")))
    p->at++;
}

static void parse_version(relay_parser *p)
{
  const relay_token *t = relay_peek(p, 0);
  if (t->kind != RELAY_VERSION) return;
  if (strcmp(t->name, "0.0.5") != 0)
    wick_lang_report(&p->p->sources, relay_place(p, t),
                     "expected version \"0.0.5\" of the text form");
  p->at++;
}

/* `fn stuck() -> a { assert(false, "..."); stuck() }`: the arm that `match?` does not have. */
static wick_ast *parse_stuck(relay_parser *p)
{
  static const char text[] =
      "fn stuck() -> a { assert(false, \"no arm of `match?` matches\"); stuck() }";
  uint32_t source = wick_lang_source_add(&p->p->sources, "<match?>", text, sizeof text - 1);
  wick_lang_tokens tokens = wick_lang_lex(&p->p->sources, source, &p->p->names, p->mem);
  wick_ast *file = wick_lang_parse(&p->p->sources, source, &tokens, &p->p->names, p->mem);
  return file->kid[0];
}

static wick_ast *parse_file(wick_lang_program *program, uint32_t source)
{
  relay_parser p = {.p = program, .mem = program->mem, .source = source};
  relay_nodes items = {0};
  p.path = program->sources.list.at[source].path;
  p.text = program->sources.list.at[source].text;
  p.tokens = wick_relay_lex(&program->sources, source, &program->names, p.mem);
  wick_relay_scan(&p);
  wick_ast *use = wick_relay_imports(&p);
  if (use) wick_push(p.mem, &items, use);
  parse_version(&p);
  while (!relay_is(&p, RELAY_END) && !relay_is(&p, RELAY_METADATA)) {
    p.generic = p.locals = (wick_lang_map){0};
    p.undo.n = p.graph.n = p.depth = 0;
    p.entry = false;
    wick_ast *n = parse_item(&p);
    if (n && !p.panic) {
      wick_push(p.mem, &items, n);
      if (relay_is_word(&p, 0, "def") || relay_is_word(&p, 0, "type") ||
          relay_is_word(&p, 0, "extern") || relay_is(&p, RELAY_END) || relay_is(&p, RELAY_METADATA))
        continue;
      wick_relay_expected(&p, "`def` or `type`");
    }
    parse_recover(&p);
  }
  for (uint32_t i = 0; i < p.lifted.n; i++) wick_push(p.mem, &items, p.lifted.at[i]);
  if (p.stuck) wick_push(p.mem, &items, parse_stuck(&p));
  return wick_relay_node(&p, WICK_AST_FILE, 0, items.n, items.at);
}

/* ---- which files ---- */

static bool parse_ends(const char *path, const char *with)
{
  size_t n = strlen(path), k = strlen(with);
  return n > k && strcmp(path + n - k, with) == 0;
}

bool wick_relay_is_text(const char *text, size_t nbytes)
{
  const char *at = text, *end = text + nbytes;
  while (at < end) {
    bool comment = end - at > 1 && at[0] == '/' && (at[1] == '/' || at[1] == '*'),
         lines = comment && at[1] == '*';
    if (comment) at += 2;
    while (comment && at < end &&
           !(lines ? end - at > 1 && at[0] == '*' && at[1] == '/' : *at == '\n'))
      at++;
    if (comment && lines && at < end) at++;
    if (!comment && *at != ' ' && *at != '\t' && *at != '\r' && *at != '\n') break;
    if (at < end) at++;
  }
  static const char begins[] = "#[version";
  return (size_t)(end - at) >= sizeof begins - 1 && memcmp(at, begins, sizeof begins - 1) == 0;
}

bool wick_relay_is_path(const char *path)
{
  return parse_ends(path, ".relay") || parse_ends(path, ".rly");
}

static bool parse_reads(const char *path, const char *text, uint32_t nbytes)
{
  return wick_relay_is_path(path) || wick_relay_is_text(text, nbytes);
}

const wick_lang_reader wick_relay_reader = {.reads = parse_reads, .parse = parse_file};
