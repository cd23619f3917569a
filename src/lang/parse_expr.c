/* The parser of expressions. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "ir/type.h"
#include "lang/parse_state.h"

/* ---- literals ---- */

static const char *parse_digits(const wick_lang_parser *p, const wick_lang_token *t,
                                uint32_t *out_n)
{
  bool hex = t->end - t->begin > 2 && p->text[t->begin + 1] == 'x';
  wick_text digits = wick_text_begin(p->mem);
  uint32_t i = t->begin;
  for (; i < t->end; i++) {
    char c = p->text[i];
    bool exponent = !hex && t->kind == WICK_TOKEN_FLOAT && c == 'e' && i + 1 < t->end &&
                    strchr("+-0123456789", p->text[i + 1]);
    bool sign = (c == '-' || c == '+') && i > t->begin && p->text[i - 1] == 'e';
    bool prefix = hex && i == t->begin + 1;
    if (c == '_') continue;
    if (hex ? !prefix && !strchr("0123456789abcdefABCDEF", c)
            : !(c >= '0' && c <= '9') && c != '.' && !exponent && !sign)
      break;
    wick_text_char(&digits, c);
  }
  *out_n = i - t->begin;
  return digits.at;
}

static wick_ast *parse_number(wick_lang_parser *p)
{
  uint32_t begin = p->at, used;
  const wick_lang_token *t = parse_next(p);
  wick_ast *n = wick_lang_parse_node(p, t->kind == WICK_TOKEN_INT ? WICK_AST_INT : WICK_AST_FLOAT,
                                     begin, 0, NULL);
  n->name_at = n->at;
  const char *digits = parse_digits(p, t, &used);
  wick_elem e;
  if (used < t->end - t->begin) {
    const char *suffix = p->text + t->begin + used;
    if (!wick_elem_parse(suffix, t->end - t->begin - used, &e) ||
        (!wick_elem_is_float(e) && !wick_elem_is_int(e))) {
      wick_lang_parse_wrong(p, (wick_lang_at){p->source, t->begin + used, t->end},
                            wick_str_printf(p->mem, "`%.*s` is no element type of numbers",
                                            (int)(t->end - t->begin - used), suffix));
      return n;
    }
    n->elem = (uint8_t)(e + 1);
    if (wick_elem_is_float(e)) n->kind = WICK_AST_FLOAT;
    if (!wick_elem_is_float(e) && t->kind == WICK_TOKEN_FLOAT)
      wick_lang_parse_wrong(
          p, n->at,
          wick_str_printf(p->mem, "a number with a fraction is no %s", wick_elem_name(e)));
  }
  char *end;
  errno = 0;
  if (n->kind == WICK_AST_INT) {
    bool hex = digits[0] == '0' && digits[1] == 'x';
    n->i = (int64_t)strtoull(digits, &end, hex ? 16 : 10);
    if (*end || errno) wick_lang_parse_wrong(p, n->at, "the number does not fit 64 bits");
  } else {
    n->f = strtod(digits, &end);
    if (*end || isinf(n->f))
      wick_lang_parse_wrong(p, n->at, *end ? "this is no number" : "the number does not fit f64");
  }
  return n;
}

wick_ast *wick_lang_parse_literal(wick_lang_parser *p)
{
  const wick_lang_token *t = parse_peek(p, 0);
  uint32_t begin = p->at;
  if (t->kind == WICK_TOKEN_INT || t->kind == WICK_TOKEN_FLOAT) return parse_number(p);
  if (t->kind == WICK_TOKEN_STRING) {
    wick_text text = wick_text_begin(p->mem);
    parse_next(p);
    wick_lang_unquote(p->text + t->begin, t->end - t->begin, &text);
    wick_ast *n = wick_lang_parse_node(p, WICK_AST_STRING, begin, 0, NULL);
    n->name = wick_names_get(p->names, wick_names_add(p->names, text.at, text.n));
    n->name_at = n->at;
    return n;
  }
  bool yes = parse_is_word(p, 0, "true");
  if (!yes && !parse_is_word(p, 0, "false")) return NULL;
  parse_next(p);
  wick_ast *n = wick_lang_parse_node(p, WICK_AST_BOOL, begin, 0, NULL);
  n->i = yes;
  return n;
}

/* ---- blocks and control ---- */

static wick_ast *parse_let(wick_lang_parser *p, uint32_t begin)
{
  wick_ast *kid[3] = {wick_lang_parse_pattern(p), NULL, NULL};
  if (parse_take(p, ':')) kid[1] = wick_lang_parse_type(p);
  wick_lang_parse_need(p, '=', "`=` and a value");
  kid[2] = wick_lang_parse_expr(p);
  return wick_lang_parse_node(p, WICK_AST_LET, begin, 3, kid);
}

/* At the beginning of a line: the next item. A block that reaches it has no end. */
static bool parse_is_item(const wick_lang_parser *p)
{
  const wick_lang_token *t = parse_peek(p, 0);
  if (!t->newline || !t->begin || p->text[t->begin - 1] != '\n') return false;
  return (parse_is_word(p, 0, "fn") && parse_peek(p, 1)->kind == WICK_TOKEN_NAME) ||
         parse_is_word(p, 0, "type") || parse_is_word(p, 0, "struct") || parse_is_word(p, 0, "use");
}

static bool parse_is_return(const wick_ast *n)
{
  return n->kind == WICK_AST_NAME && n->name && strcmp(n->name, "return") == 0;
}

/* Takes the `}` for the `{` at token `open`. */
static void parse_close(wick_lang_parser *p, uint32_t open)
{
  bool wrong = !p->panic && !parse_is(p, '}');
  wick_lang_parse_need(p, '}', "`}`");
  const wick_lang_token *t = &p->token[open];
  if (wrong)
    wick_lang_note(p->sources, (wick_lang_at){p->source, t->begin, t->end}, "this `{` has no end");
}

void wick_lang_parse_body(wick_lang_parser *p, wick_ast_list *out)
{
  while (!p->panic && !parse_is(p, '}') && !parse_is(p, WICK_TOKEN_END) && !parse_is_item(p)) {
    if (parse_take(p, ';')) continue;
    uint32_t first = p->at;
    wick_ast *n = parse_take_word(p, "let") ? parse_let(p, first) : wick_lang_parse_expr(p);
    wick_push(p->mem, out, n);
    const wick_lang_token *t = parse_peek(p, 0);
    if (!t->newline && t->kind == '=')
      wick_lang_parse_wrong(
          p, (wick_lang_at){p->source, t->begin, t->end},
          "values do not change: `let x = v` gives a name, `x with [i] = v` and "
          "`s with .f = v` are other values, and `write(r, v)` changes a reference");
    else if (!t->newline && t->kind != ';' && t->kind != '}' && parse_is_return(n))
      wick_lang_parse_wrong(
          p, n->at, "there is no `return`: the last expression of a function is what it gives");
    else if (!t->newline && t->kind != ';' && t->kind != '}')
      wick_lang_parse_expected(p, "an operator, or the end of the line");
  }
}

wick_ast *wick_lang_parse_block(wick_lang_parser *p)
{
  wick_ast_list kids = {0};
  uint32_t begin = p->at;
  bool joined = p->joined;
  p->joined = false;
  wick_lang_parse_need(p, '{', "`{`");
  wick_lang_parse_body(p, &kids);
  parse_close(p, begin);
  p->joined = joined;
  return wick_lang_parse_node(p, WICK_AST_BLOCK, begin, kids.n, kids.at);
}

static wick_ast *parse_if(wick_lang_parser *p, uint32_t begin)
{
  wick_ast *kid[3] = {NULL};
  if (!wick_lang_parse_enter(p)) return wick_lang_parse_node(p, WICK_AST_ERROR, begin, 0, NULL);
  kid[0] = wick_lang_parse_binary(p, 0);
  kid[1] = wick_lang_parse_block(p);
  if (parse_take_word(p, "else")) {
    uint32_t first = p->at;
    kid[2] = parse_take_word(p, "if") ? parse_if(p, first) : wick_lang_parse_block(p);
  }
  p->depth--;
  return wick_lang_parse_node(p, WICK_AST_IF, begin, 3, kid);
}

static wick_ast *parse_match(wick_lang_parser *p, uint32_t begin)
{
  wick_ast_list kids = {0};
  bool joined = p->joined;
  wick_ast *value = wick_lang_parse_binary(p, 0);
  wick_push(p->mem, &kids, value);
  p->joined = false;
  wick_lang_parse_need(p, '{', "`{`");
  while (!p->panic && !parse_is(p, '}')) {
    uint32_t first = p->at;
    wick_ast *kid[2] = {wick_lang_parse_pattern(p), NULL};
    wick_lang_parse_need(p, WICK_TOKEN_DARROW, "`=>` and an expression");
    kid[1] = wick_lang_parse_expr(p);
    wick_ast *arm = wick_lang_parse_node(p, WICK_AST_ARM, first, 2, kid);
    wick_push(p->mem, &kids, arm);
    if (!parse_take(p, ',') && !parse_peek(p, 0)->newline && !parse_is(p, '}'))
      wick_lang_parse_expected(p, "`,` or the end of the line");
  }
  wick_lang_parse_need(p, '}', "`}`");
  p->joined = joined;
  return wick_lang_parse_node(p, WICK_AST_MATCH, begin, kids.n, kids.at);
}

/* with PATTERN = VALUE, or nothing */
static void parse_carried(wick_lang_parser *p, wick_ast **pattern, wick_ast **init)
{
  if (!parse_take_word(p, "with")) return;
  *pattern = wick_lang_parse_pattern(p);
  wick_lang_parse_need(p, '=', "`=` and the first value");
  *init = wick_lang_parse_binary(p, 0);
}

static wick_ast *parse_for(wick_lang_parser *p, uint32_t begin)
{
  wick_ast *kid[6] = {wick_lang_parse_pattern(p)};
  if (!parse_take_word(p, "in")) wick_lang_parse_expected(p, "`in` and a range");
  kid[1] = wick_lang_parse_binary(p, 0);
  bool range = parse_is(p, WICK_TOKEN_DOTS);
  wick_lang_parse_need(p, WICK_TOKEN_DOTS, "`..` and the end of the range");
  if (!range)
    wick_lang_help(
        p->sources,
        "`for i in 0..n` counts from 0 below n; `list.map` and `list.fold` go through lists");
  kid[2] = wick_lang_parse_binary(p, 0);
  parse_carried(p, &kid[3], &kid[4]);
  kid[5] = wick_lang_parse_block(p);
  return wick_lang_parse_node(p, WICK_AST_FOR, begin, 6, kid);
}

static wick_ast *parse_while(wick_lang_parser *p, uint32_t begin)
{
  wick_ast *kid[4] = {wick_lang_parse_binary(p, 0)};
  parse_carried(p, &kid[1], &kid[2]);
  kid[3] = wick_lang_parse_block(p);
  return wick_lang_parse_node(p, WICK_AST_WHILE, begin, 4, kid);
}

static wick_ast *parse_fn(wick_lang_parser *p, uint32_t begin)
{
  wick_ast *kid[3] = {wick_lang_parse_params(p), NULL, NULL};
  if (parse_take(p, WICK_TOKEN_ARROW)) kid[1] = wick_lang_parse_type(p);
  kid[2] = wick_lang_parse_block(p);
  return wick_lang_parse_node(p, WICK_AST_FN, begin, 3, kid);
}

/* ---- primaries ---- */

static wick_ast *parse_parenthesis(wick_lang_parser *p, uint32_t begin)
{
  wick_ast_list kids = {0};
  bool joined = p->joined, comma = false;
  p->joined = true;
  while (!p->panic && !parse_is(p, ')')) {
    uint32_t first = p->at;
    wick_ast *kid[2] = {wick_lang_parse_expr(p), NULL};
    if (parse_take(p, ':')) {
      kid[1] = wick_lang_parse_type(p);
      kid[0] = wick_lang_parse_node(p, WICK_AST_ASCRIBE, first, 2, kid);
    }
    wick_push(p->mem, &kids, kid[0]);
    comma = parse_take(p, ',');
    if (!comma) break;
  }
  wick_lang_parse_need(p, ')', "`,` or `)`");
  p->joined = joined;
  if (kids.n == 1 && !comma) {
    kids.at[0]->at = wick_lang_parse_node(p, WICK_AST_ERROR, begin, 0, NULL)->at;
    return kids.at[0];
  }
  return wick_lang_parse_node(p, WICK_AST_TUPLE, begin, kids.n, kids.at);
}

static wick_ast *parse_array(wick_lang_parser *p, uint32_t begin)
{
  wick_ast_list kids = {0};
  bool joined = p->joined;
  p->joined = true;
  while (!p->panic && !parse_is(p, ']')) {
    wick_ast *n = wick_lang_parse_expr(p);
    wick_push(p->mem, &kids, n);
    if (!parse_take(p, ',')) break;
  }
  wick_lang_parse_need(p, ']', "`,` or `]`");
  p->joined = joined;
  return wick_lang_parse_node(p, WICK_AST_ARRAY, begin, kids.n, kids.at);
}

/* i, j: 3 and the end of the list */
wick_ast *wick_lang_parse_indices(wick_lang_parser *p, int end)
{
  wick_ast_list index = {0};
  uint32_t first = p->at;
  while (!p->panic && !parse_is(p, end)) {
    uint32_t at = p->at;
    wick_ast *size = NULL;
    const wick_lang_token *name = wick_lang_parse_name(p, "the name of an index");
    if (parse_take(p, ':')) size = wick_lang_parse_expr(p);
    wick_ast *n = wick_lang_parse_named(p, WICK_AST_INDEX_NAME, at, name, size ? 1 : 0, &size);
    wick_push(p->mem, &index, n);
    if (!parse_take(p, ',')) break;
  }
  wick_lang_parse_need(p, end, end == ')' ? "`,` or `)`" : "`,` or `]`");
  return wick_lang_parse_node(p, WICK_AST_LIST, first, index.n, index.at);
}

/* In an `op`: sum(j, k: 3) product */
static wick_ast *parse_reduce(wick_lang_parser *p, uint32_t begin)
{
  const wick_lang_token *name = parse_next(p);
  parse_next(p);
  wick_ast *kid[2] = {wick_lang_parse_indices(p, ')'), NULL};
  kid[1] = wick_lang_parse_binary(p, WICK_LANG_PRODUCT);
  return wick_lang_parse_named(p, WICK_AST_REDUCE, begin, name, 2, kid);
}

/* max(i, j) is a reduction if what follows begins an expression: a call is followed by an operator,
 * or by the end of the expression. */
static bool parse_is_reduce(const wick_lang_parser *p)
{
  if (!p->in_op || parse_peek(p, 1)->kind != '(') return false;
  if (parse_is_word(p, 0, "sum") || parse_is_word(p, 0, "prod")) return true;
  if (!parse_is_word(p, 0, "max") && !parse_is_word(p, 0, "min")) return false;
  for (uint32_t i = 2; parse_peek(p, i)->kind == WICK_TOKEN_NAME; i += 2) {
    int next = parse_peek(p, i + 1)->kind;
    if (next == ':') return true;
    if (next == ')' && i == 2) return true;
    if (next != ',' && next != ')') return false;
    int after = parse_peek(p, i + 2)->kind;
    if (next == ')')
      return after == WICK_TOKEN_NAME || after == WICK_TOKEN_INT || after == WICK_TOKEN_FLOAT ||
             after == '(';
  }
  return false;
}

static wick_ast *parse_primary(wick_lang_parser *p)
{
  uint32_t begin = p->at;
  wick_ast *literal = wick_lang_parse_literal(p);
  if (literal) return literal;
  if (parse_take(p, '(')) return parse_parenthesis(p, begin);
  if (parse_take(p, '[')) return parse_array(p, begin);
  if (parse_is(p, '{')) return wick_lang_parse_block(p);
  if (parse_is_reduce(p)) return parse_reduce(p, begin);
  if (parse_take_word(p, "if")) return parse_if(p, begin);
  if (parse_take_word(p, "match")) return parse_match(p, begin);
  if (parse_take_word(p, "for")) return parse_for(p, begin);
  if (parse_take_word(p, "while")) return parse_while(p, begin);
  if (parse_take_word(p, "fn")) return parse_fn(p, begin);
  const wick_lang_token *t =
      parse_is(p, WICK_TOKEN_TYPE) ? parse_next(p) : wick_lang_parse_name(p, "an expression");
  return wick_lang_parse_named(p, WICK_AST_NAME, begin, t, 0, NULL);
}

/* ---- after a primary ---- */

static wick_ast *parse_call(wick_lang_parser *p, uint32_t begin, wick_ast *callee)
{
  wick_ast_list kids = {0};
  bool joined = p->joined;
  p->joined = true;
  wick_push(p->mem, &kids, callee);
  while (!p->panic && !parse_is(p, ')')) {
    uint32_t first = p->at;
    bool named = parse_is(p, WICK_TOKEN_NAME) && parse_peek(p, 1)->kind == '=';
    const wick_lang_token *name = named ? wick_lang_parse_name(p, "the name of an argument") : NULL;
    if (named) parse_next(p);
    wick_ast *n = wick_lang_parse_expr(p);
    if (named) n = wick_lang_parse_named(p, WICK_AST_NAMED, first, name, 1, &n);
    wick_push(p->mem, &kids, n);
    if (!parse_take(p, ',')) break;
  }
  wick_lang_parse_need(p, ')', "`,` or `)`");
  p->joined = joined;
  return wick_lang_parse_node(p, WICK_AST_CALL, begin, kids.n, kids.at);
}

static wick_ast *parse_index_part(wick_lang_parser *p)
{
  uint32_t begin = p->at;
  wick_ast *kid[3] = {NULL};
  if (!parse_is(p, ':')) {
    kid[0] = wick_lang_parse_expr(p);
    if (!parse_is(p, ':')) return kid[0];
  }
  parse_next(p);
  if (!parse_is(p, ':') && !parse_is(p, ',') && !parse_is(p, ']')) kid[1] = wick_lang_parse_expr(p);
  if (parse_take(p, ':')) kid[2] = wick_lang_parse_expr(p);
  return wick_lang_parse_node(p, WICK_AST_SLICE, begin, 3, kid);
}

static wick_ast *parse_index(wick_lang_parser *p, uint32_t begin, wick_ast *object)
{
  wick_ast_list kids = {0};
  bool joined = p->joined;
  p->joined = true;
  wick_push(p->mem, &kids, object);
  while (!p->panic && !parse_is(p, ']')) {
    wick_ast *n = parse_index_part(p);
    wick_push(p->mem, &kids, n);
    if (!parse_take(p, ',')) break;
  }
  wick_lang_parse_need(p, ']', "`,` or `]`");
  p->joined = joined;
  if (kids.n == 1)
    wick_lang_parse_wrong(p, wick_lang_parse_node(p, WICK_AST_ERROR, begin, 0, NULL)->at,
                          "an index is missing");
  return wick_lang_parse_node(p, WICK_AST_INDEX, begin, kids.n, kids.at);
}

/* .name, .0, or a name of a module: M.name */
static wick_ast *parse_field(wick_lang_parser *p, uint32_t begin, wick_ast *object)
{
  if (parse_is(p, WICK_TOKEN_INT)) {
    wick_ast *number = parse_number(p);
    wick_ast *n = wick_lang_parse_node(p, WICK_AST_FIELD, begin, 1, &object);
    n->i = number->i;
    n->name_at = number->at;
    return n;
  }
  const wick_lang_token *t =
      parse_is(p, WICK_TOKEN_TYPE) ? parse_next(p) : wick_lang_parse_name(p, "the name of a field");
  if (t->kind == WICK_TOKEN_TYPE && object && object->kind == WICK_AST_NAME && !object->module) {
    wick_ast *n = wick_lang_parse_named(p, WICK_AST_NAME, begin, t, 0, NULL);
    n->module = object->name;
    return n;
  }
  return wick_lang_parse_named(p, WICK_AST_FIELD, begin, t, 1, &object);
}

static wick_ast *parse_postfix(wick_lang_parser *p)
{
  uint32_t begin = p->at;
  wick_ast *x = parse_primary(p);
  for (;;) {
    const wick_lang_token *t = parse_peek(p, 0);
    bool here = !t->newline || p->joined;
    if (t->kind == '(' && here)
      parse_next(p), x = parse_call(p, begin, x);
    else if (t->kind == '[' && here)
      parse_next(p), x = parse_index(p, begin, x);
    else if (t->kind == '.')
      parse_next(p), x = parse_field(p, begin, x);
    else
      return x;
  }
}

/* ---- operators ---- */

static wick_ast *parse_unary(wick_lang_parser *p)
{
  uint32_t begin = p->at;
  wick_ast *out;
  if (!wick_lang_parse_enter(p)) return wick_lang_parse_node(p, WICK_AST_ERROR, begin, 0, NULL);
  if (parse_is(p, '-') || parse_is(p, '!')) {
    uint16_t op = parse_next(p)->kind;
    wick_ast *kid = parse_unary(p);
    if (op == '-' && kid->kind == WICK_AST_INT) kid->flag = true;
    out = wick_lang_parse_node(p, WICK_AST_UNARY, begin, 1, &kid);
    out->op = op;
  } else {
    out = parse_postfix(p);
    const wick_lang_token *t = parse_peek(p, 0);
    if (t->kind == WICK_TOKEN_POW) {
      parse_next(p);
      wick_ast *kid[2] = {out, parse_unary(p)};
      out = wick_lang_parse_node(p, WICK_AST_BINARY, begin, 2, kid);
      out->op = WICK_TOKEN_POW;
      out->name_at = (wick_lang_at){p->source, t->begin, t->end};
    }
  }
  p->depth--;
  return out;
}

static uint32_t parse_precedence(int kind)
{
  switch (kind) {
  case WICK_TOKEN_OR: return 1;
  case WICK_TOKEN_AND: return 2;
  case WICK_TOKEN_EQ:
  case WICK_TOKEN_NE:
  case WICK_TOKEN_LE:
  case WICK_TOKEN_GE:
  case '<':
  case '>': return 3;
  case '+':
  case '-': return 4;
  case '*':
  case '/':
  case '%':
  case '@': return WICK_LANG_PRODUCT;
  default: return 0;
  }
}

wick_ast *wick_lang_parse_binary(wick_lang_parser *p, uint32_t least)
{
  uint32_t begin = p->at;
  if (!wick_lang_parse_enter(p)) return wick_lang_parse_node(p, WICK_AST_ERROR, begin, 0, NULL);
  wick_ast *left = parse_unary(p);
  for (;;) {
    const wick_lang_token *t = parse_peek(p, 0);
    uint32_t level = parse_precedence(t->kind);
    if (!level || level < least || (t->kind == '-' && t->newline && !p->joined)) break;
    parse_next(p);
    wick_ast *kid[2] = {left, wick_lang_parse_binary(p, level + 1)};
    left = wick_lang_parse_node(p, WICK_AST_BINARY, begin, 2, kid);
    left->op = t->kind;
    left->name_at = (wick_lang_at){p->source, t->begin, t->end};
    if (level == 3 && parse_precedence(parse_peek(p, 0)->kind) == 3)
      wick_lang_parse_wrong(p, left->at, "comparisons do not chain; write `a < b && b < c`");
  }
  p->depth--;
  return left;
}

wick_ast *wick_lang_parse_expr(wick_lang_parser *p)
{
  uint32_t begin = p->at;
  wick_ast *x = wick_lang_parse_binary(p, 0);
  while (parse_take_word(p, "with")) {
    uint32_t first = p->at;
    wick_ast *kid[3] = {x, NULL, NULL};
    if (parse_take(p, '['))
      kid[1] = parse_index(p, first, NULL);
    else if (parse_take(p, '.'))
      kid[1] = parse_field(p, first, NULL);
    else
      wick_lang_parse_expected(p, "`[` or `.`");
    wick_lang_parse_need(p, '=', "`=` and the new element");
    kid[2] = wick_lang_parse_binary(p, 0);
    x = wick_lang_parse_node(p, WICK_AST_WITH, begin, 3, kid);
  }
  return x;
}
