/* Prints types, patterns and expressions. */
#include "lang/format_state.h"

static void format_pattern(format *f, const wick_ast *n);

static void format_source(format *f, wick_lang_at at)
{
  wick_text_addn(f->out, f->source->text + at.begin, at.end - at.begin);
}

void wick_lang_format_kid_type(format *f, const wick_ast *n, int level)
{
  (void)level;
  if (n->kind == WICK_AST_ANY_SIZE)
    format_add(f, "?");
  else if (n->kind == WICK_AST_SPREAD)
    format_add(f, "..."), format_add(f, n->name);
  else if (n->kind >= WICK_AST_TYPE_NAME && n->kind <= WICK_AST_TYPE_FN)
    wick_lang_format_type(f, n);
  else
    wick_lang_format_expr(f, n, LEVEL_ANY);
}

static void format_module(format *f, const wick_ast *n)
{
  if (n->module) format_add(f, n->module), format_add(f, ".");
  format_add(f, n->name);
}

void wick_lang_format_type(format *f, const wick_ast *n)
{
  if (n->kind == WICK_AST_TYPE_FN) {
    format_add(f, "fn(");
    wick_lang_format_list(f, n->kid[0], 0, ") -> ", wick_lang_format_kid_type);
    wick_lang_format_type(f, n->kid[1]);
  } else if (n->kind == WICK_AST_TYPE_TUPLE) {
    format_add(f, "(");
    wick_lang_format_list(f, n, 0, n->nkid == 1 ? ",)" : ")", wick_lang_format_kid_type);
  } else {
    format_module(f, n);
    if (n->flag) format_add(f, "["), wick_lang_format_list(f, n, 0, "]", wick_lang_format_kid_type);
  }
}

/* The source of a literal, without blanks behind a minus. */
static void format_literal(format *f, const wick_ast *n)
{
  if (n->kind == WICK_AST_BOOL)
    format_add(f, n->i ? "true" : "false");
  else
    format_source(f, n->name_at);
}

static void format_kid_pattern(format *f, const wick_ast *n, int level)
{
  (void)level;
  format_pattern(f, n);
}

static void format_pattern(format *f, const wick_ast *n)
{
  switch (n->kind) {
  case WICK_AST_PATTERN_TUPLE:
    format_add(f, "(");
    wick_lang_format_list(f, n, 0, n->nkid == 1 ? ",)" : ")", format_kid_pattern);
    break;
  case WICK_AST_PATTERN_CTOR:
    format_module(f, n);
    if (n->nkid) format_add(f, "("), wick_lang_format_list(f, n, 0, ")", format_kid_pattern);
    break;
  case WICK_AST_NAMED:
    format_add(f, n->name);
    format_add(f, " = ");
    format_pattern(f, n->kid[0]);
    break;
  case WICK_AST_ANY:
  case WICK_AST_BIND: format_add(f, n->name); break;
  default:
    if (n->at.begin < n->name_at.begin && f->source->text[n->at.begin] == '-') format_add(f, "-");
    format_literal(f, n);
  }
}

/* ---- expressions ---- */

static const char *format_operator(uint16_t op)
{
  static const char one[][2] = {"+", "-", "*", "/", "%", "@", "<", ">", "!"};
  switch (op) {
  case WICK_TOKEN_OR: return "||";
  case WICK_TOKEN_AND: return "&&";
  case WICK_TOKEN_EQ: return "==";
  case WICK_TOKEN_NE: return "!=";
  case WICK_TOKEN_LE: return "<=";
  case WICK_TOKEN_GE: return ">=";
  case WICK_TOKEN_POW: return "**";
  default: break;
  }
  for (size_t i = 0; i < WICK_COUNT(one); i++)
    if (one[i][0] == (char)op) return one[i];
  return "";
}

static int format_level(const wick_ast *n)
{
  switch (n->kind) {
  case WICK_AST_BINARY:
    switch (n->op) {
    case WICK_TOKEN_OR: return LEVEL_OR;
    case WICK_TOKEN_AND: return LEVEL_AND;
    case '+':
    case '-': return LEVEL_SUM;
    case '*':
    case '/':
    case '%':
    case '@': return LEVEL_PRODUCT;
    case WICK_TOKEN_POW: return LEVEL_UNARY;
    default: return LEVEL_COMPARE;
    }
  case WICK_AST_UNARY: return LEVEL_UNARY;
  case WICK_AST_WITH:
  case WICK_AST_IF:
  case WICK_AST_MATCH:
  case WICK_AST_FOR:
  case WICK_AST_WHILE:
  case WICK_AST_FN: return LEVEL_ANY;
  case WICK_AST_REDUCE: return LEVEL_SUM;
  default: return LEVEL_POSTFIX;
  }
}

static void format_binary(format *f, const wick_ast *n)
{
  int level = format_level(n);
  bool power = n->op == WICK_TOKEN_POW;
  /* a power's left side is no sign, its right side may be one */
  int left = power ? LEVEL_POSTFIX : level == LEVEL_COMPARE ? LEVEL_SUM : level;
  wick_lang_format_expr(f, n->kid[0], left);
  format_add(f, power ? "" : " ");
  format_add(f, format_operator(n->op));
  if (f->flat || power) {
    format_add(f, power ? "" : " ");
    wick_lang_format_expr(f, n->kid[1], power ? LEVEL_UNARY : level + 1);
    return;
  }
  f->indent += FORMAT_INDENT;
  wick_lang_format_line(f);
  wick_lang_format_expr(f, n->kid[1], level + 1);
  f->indent -= FORMAT_INDENT;
}

static void format_index(format *f, const wick_ast *n)
{
  if (n->kid[0]) wick_lang_format_expr(f, n->kid[0], LEVEL_POSTFIX);
  format_add(f, "[");
  for (uint32_t i = 1; i < n->nkid; i++) {
    const wick_ast *k = n->kid[i];
    if (i > 1) format_add(f, ", ");
    if (k->kind != WICK_AST_SLICE) {
      wick_lang_format_expr(f, k, LEVEL_ANY);
      continue;
    }
    if (k->kid[0]) wick_lang_format_expr(f, k->kid[0], LEVEL_ANY);
    format_add(f, ":");
    if (k->kid[1]) wick_lang_format_expr(f, k->kid[1], LEVEL_ANY);
    if (k->kid[2]) format_add(f, ":"), wick_lang_format_expr(f, k->kid[2], LEVEL_ANY);
  }
  format_add(f, "]");
}

static void format_field(format *f, const wick_ast *n)
{
  if (n->kid[0]) wick_lang_format_expr(f, n->kid[0], LEVEL_POSTFIX);
  format_add(f, ".");
  if (n->name)
    format_add(f, n->name);
  else
    wick_text_int(f->out, n->i);
}

/* Arguments: on one line; or all but a function literal at the end on one line; or one a line. */
static void format_items(format *f, const wick_ast *n, uint32_t first, const char *end)
{
  const wick_ast *last = n->nkid > first ? n->kid[n->nkid - 1] : NULL;
  bool hug = last && !f->flat && last->kind == WICK_AST_FN;
  for (uint32_t i = first; i + 1 < n->nkid && hug; i++)
    hug = n->kid[i]->kind != WICK_AST_FN && !wick_lang_format_has_comment(f, n->kid[i]->at);
  if (hug && wick_lang_format_column(f) < FORMAT_WIDTH / 2)
    wick_lang_format_list(f, n, first, end, wick_lang_format_expr);
  else if (f->flat || !last)
    wick_lang_format_list(f, n, first, end, wick_lang_format_expr);
  else
    wick_lang_format_broken_list(f, n, first, end, wick_lang_format_expr);
}

static void format_head(format *f, const wick_ast *pattern, const wick_ast *init)
{
  if (!pattern) return;
  format_add(f, " with ");
  format_pattern(f, pattern);
  format_add(f, " = ");
  wick_lang_format_expr(f, init, LEVEL_OR);
}

static void format_if(format *f, const wick_ast *n, bool open)
{
  format_add(f, "if ");
  wick_lang_format_expr(f, n->kid[0], LEVEL_OR);
  format_add(f, " ");
  wick_lang_format_block(f, n->kid[1], open);
  if (!n->kid[2]) return;
  format_add(f, " else ");
  if (n->kid[2]->kind == WICK_AST_IF)
    format_if(f, n->kid[2], open);
  else
    wick_lang_format_block(f, n->kid[2], open);
}

static void format_arm(format *f, const wick_ast *n, int level)
{
  (void)level;
  format_pattern(f, n->kid[0]);
  format_add(f, " => ");
  wick_lang_format_expr(f, n->kid[1], LEVEL_ANY);
}

static void format_param(format *f, const wick_ast *n, int level)
{
  (void)level;
  if (n->flag) format_add(f, "static ");
  format_add(f, n->name);
  if (n->kid[0]) format_add(f, ": "), wick_lang_format_type(f, n->kid[0]);
}

static void format_flat_params(format *f, const wick_ast *n, int level)
{
  (void)level;
  format_add(f, "(");
  wick_lang_format_list(f, n, 0, ")", format_param);
}

void wick_lang_format_signature(format *f, const wick_ast *n)
{
  format_add(f, n->kind == WICK_AST_OP ? "op" : "fn");
  if (n->name) format_add(f, " "), format_add(f, n->name);
  if (!wick_lang_format_try(f, n->kid[0], 0, 2, format_flat_params)) {
    format_add(f, "(");
    wick_lang_format_broken_list(f, n->kid[0], 0, ")", format_param);
  }
  if (n->kid[1]) format_add(f, " -> "), wick_lang_format_type(f, n->kid[1]);
  format_add(f, " ");
}

/* What an expression looks like when f->flat says whether it has one line. */
static void format_plain(format *f, const wick_ast *n, int level)
{
  bool parentheses = format_level(n) < level;
  if (parentheses) format_add(f, "(");
  switch (n->kind) {
  case WICK_AST_INT:
  case WICK_AST_FLOAT:
  case WICK_AST_STRING:
  case WICK_AST_BOOL: format_literal(f, n); break;
  case WICK_AST_NAME: format_module(f, n); break;
  case WICK_AST_TUPLE:
    format_add(f, "(");
    format_items(f, n, 0, n->nkid == 1 && f->flat ? ",)" : ")");
    break;
  case WICK_AST_ARRAY:
    format_add(f, "[");
    format_items(f, n, 0, "]");
    break;
  case WICK_AST_CALL:
    wick_lang_format_expr(f, n->kid[0], LEVEL_POSTFIX);
    format_add(f, "(");
    format_items(f, n, 1, ")");
    break;
  case WICK_AST_NAMED:
    format_add(f, n->name);
    format_add(f, " = ");
    wick_lang_format_expr(f, n->kid[0], LEVEL_ANY);
    break;
  case WICK_AST_BINARY: format_binary(f, n); break;
  case WICK_AST_UNARY:
    format_add(f, format_operator(n->op));
    wick_lang_format_expr(f, n->kid[0], LEVEL_UNARY);
    break;
  case WICK_AST_INDEX: format_index(f, n); break;
  case WICK_AST_FIELD: format_field(f, n); break;
  case WICK_AST_WITH:
    wick_lang_format_expr(f, n->kid[0], n->kid[0]->kind == WICK_AST_WITH ? LEVEL_ANY : LEVEL_OR);
    format_add(f, " with ");
    format_plain(f, n->kid[1], LEVEL_ANY);
    format_add(f, " = ");
    wick_lang_format_expr(f, n->kid[2], LEVEL_OR);
    break;
  case WICK_AST_IF: format_if(f, n, !f->flat); break;
  case WICK_AST_MATCH:
    format_add(f, "match ");
    wick_lang_format_expr(f, n->kid[0], LEVEL_OR);
    format_add(f, " {");
    if (n->nkid > 1 || wick_lang_format_has_comment(f, n->at))
      wick_lang_format_lines(f, n, 1, ",", format_arm);
    format_add(f, "}");
    break;
  case WICK_AST_BLOCK: wick_lang_format_block(f, n, false); break;
  case WICK_AST_LET:
    format_add(f, "let ");
    format_pattern(f, n->kid[0]);
    if (n->kid[1]) format_add(f, ": "), wick_lang_format_type(f, n->kid[1]);
    format_add(f, " = ");
    wick_lang_format_expr(f, n->kid[2], LEVEL_ANY);
    break;
  case WICK_AST_FOR:
    format_add(f, "for ");
    format_pattern(f, n->kid[0]);
    format_add(f, " in ");
    wick_lang_format_expr(f, n->kid[1], LEVEL_OR);
    format_add(f, "..");
    wick_lang_format_expr(f, n->kid[2], LEVEL_OR);
    format_head(f, n->kid[3], n->kid[4]);
    format_add(f, " ");
    wick_lang_format_block(f, n->kid[5], false);
    break;
  case WICK_AST_WHILE:
    format_add(f, "while ");
    wick_lang_format_expr(f, n->kid[0], LEVEL_OR);
    format_head(f, n->kid[1], n->kid[2]);
    format_add(f, " ");
    wick_lang_format_block(f, n->kid[3], false);
    break;
  case WICK_AST_FN:
    wick_lang_format_signature(f, n);
    wick_lang_format_block(f, n->kid[2], false);
    break;
  case WICK_AST_ASCRIBE:
    format_add(f, "(");
    wick_lang_format_expr(f, n->kid[0], LEVEL_ANY);
    format_add(f, ": ");
    wick_lang_format_type(f, n->kid[1]);
    format_add(f, ")");
    break;
  case WICK_AST_REDUCE:
    format_add(f, n->name);
    format_add(f, "(");
    wick_lang_format_list(f, n->kid[0], 0, ") ", wick_lang_format_index);
    wick_lang_format_expr(f, n->kid[1], LEVEL_PRODUCT);
    break;
  default: break;
  }
  if (parentheses) format_add(f, ")");
}

void wick_lang_format_index(format *f, const wick_ast *n, int level)
{
  (void)level;
  format_add(f, n->name);
  if (!n->nkid) return;
  format_add(f, ": ");
  wick_lang_format_expr(f, n->kid[0], LEVEL_ANY);
}

void wick_lang_format_expr(format *f, const wick_ast *n, int level)
{
  if (!wick_lang_format_try(f, n, level, 1, format_plain)) format_plain(f, n, level);
}

/* { e } on one line, or statements on lines. */
static void format_inner_block(format *f, const wick_ast *n, int level)
{
  (void)level;
  if (n->nkid == 0) {
    format_add(f, "{}");
    return;
  }
  if (n->nkid > 1 || n->kid[0]->kind == WICK_AST_LET) f->failed = true;
  format_add(f, "{ ");
  wick_lang_format_expr(f, n->kid[0], LEVEL_ANY);
  format_add(f, " }");
}

void wick_lang_format_block(format *f, const wick_ast *n, bool open)
{
  if (!open && wick_lang_format_try(f, n, LEVEL_ANY, 1, format_inner_block)) return;
  format_add(f, "{");
  wick_lang_format_lines(f, n, 0, "", wick_lang_format_expr);
  format_add(f, "}");
}
