/* Parses attributes as the operator declares them. The elements of lists are collected in the
 * parser's own lists; attributes point to them when the node is complete. */
#include <string.h>

#include "ir/element.h"
#include "ir/grammar.h"
#include "ir/number.h"
#include "ir/parse.h"

void wick_parse_attrs_begin(wick_parser *p, const wick_op *op)
{
  uint32_t n = wick_op_nattr(op);
  for (uint32_t i = 0; i < n; i++) p->attr[i] = (wick_attr){.n = WICK_ATTR_UNSET}, p->imm[i] = NULL;
  p->ints.n = p->floats.n = p->dims.n = p->axes.n = 0;
}

static bool parse_attr_word(wick_parser *p, const wick_attr_spec *s, wick_attr *a)
{
  const wick_token *t = wick_parse_token(p);
  const char *word = s->words ? s->words : "";
  for (a->i = 0; *word && t->kind == WICK_TOKEN_WORD; a->i++) {
    size_t n = strcspn(word, " ");
    if (n == t->n && memcmp(word, t->at, n) == 0) {
      wick_parse_next(p);
      return true;
    }
    word += n + (word[n] == ' ');
  }
  return wick_parse_unexpected(p, wick_str_printf(p->tmp, "one of: %s", s->words ? s->words : ""));
}

static bool parse_attr_float(wick_parser *p, double *out)
{
  wick_token at = *wick_parse_token(p);
  const char *text, *wrong;
  if (!wick_parse_number(p, &text)) return false;
  wrong = wick_number_read(WICK_F64, text, strlen(text), p->tmp, out, 0);
  return wrong ? wick_parse_fail(p, &at, WICK_ERANGE, "%s", wrong) : true;
}

/* Reads `n:4` and binds the axis' symbol to the range of its extent. */
static bool parse_attr_axis(wick_parser *p, bool reduce)
{
  wick_token at = *wick_parse_token(p);
  const char *name;
  wick_axis a = {.reduce = reduce};
  if (!wick_parse_symbol_name(p, &name) || !wick_parse_punct(p, ':', "`:` and the axis' extent"))
    return false;
  if (!wick_parse_dim(p, &a.extent)) return false;
  int64_t lo, hi;
  wick_dim_range(p->m->dims, a.extent, &lo, &hi);
  if (hi < 0) /* if it may be negative, the function that uses the group has a constraint */
    return wick_parse_fail(p, &at, WICK_ERANGE, "the extent of axis %s is negative", name);
  a.sym = wick_make_axis(&p->b, name, a.extent, reduce).sym;
  wick_parse_bind(p, name, a.sym);
  wick_push(p->tmp, &p->axes, a);
  return true;
}

static bool parse_attr_axes(wick_parser *p)
{
  bool reduce = wick_parse_take(p, '|');
  while (!wick_parse_is(p, ']')) {
    if (!parse_attr_axis(p, reduce)) return false;
    if (!reduce && wick_parse_take(p, '|'))
      reduce = true;
    else if (!wick_parse_take(p, ','))
      break;
  }
  return true;
}

static bool parse_attr_item(wick_parser *p, wick_attr_kind kind)
{
  int64_t i;
  double f;
  wick_dim d = WICK_DIM_ANY;
  switch (kind) {
  case WICK_ATTR_INTS:
    if (!wick_parse_int(p, &i)) return false;
    wick_push(p->tmp, &p->ints, i);
    return true;
  case WICK_ATTR_FLOATS:
    if (!parse_attr_float(p, &f)) return false;
    wick_push(p->tmp, &p->floats, f);
    return true;
  default:
    if (wick_token_word(wick_parse_token(p), "any"))
      wick_parse_next(p);
    else if (!wick_parse_dim(p, &d))
      return false;
    wick_push(p->tmp, &p->dims, d);
    return true;
  }
}

static uint32_t parse_attr_count(const wick_parser *p, wick_attr_kind kind)
{
  return kind == WICK_ATTR_INTS     ? p->ints.n
         : kind == WICK_ATTR_FLOATS ? p->floats.n
         : kind == WICK_ATTR_DIMS   ? p->dims.n
                                    : p->axes.n;
}

static bool parse_attr_list(wick_parser *p, wick_attr_kind kind, uint32_t at)
{
  p->attr_at[at] = parse_attr_count(p, kind);
  if (!wick_parse_punct(p, '[', "`[`")) return false;
  if (kind == WICK_ATTR_AXES) {
    if (!parse_attr_axes(p)) return false;
  } else {
    while (!wick_parse_is(p, ']')) {
      if (!parse_attr_item(p, kind)) return false;
      if (!wick_parse_take(p, ',')) break;
    }
  }
  p->attr[at].n = parse_attr_count(p, kind) - p->attr_at[at];
  return wick_parse_punct(p, ']', "`,` or `]`");
}

/* Reads `@name` of a constant or a function. */
static bool parse_attr_global(wick_parser *p, wick_attr_kind kind, wick_attr *a)
{
  wick_token t = *wick_parse_token(p);
  const char *name;
  if (!wick_parse_name_text(p, &t, &name)) return false;
  wick_parse_next(p);
  if (kind == WICK_ATTR_FUNC) {
    a->s = wick_intern(p->m, name);
    return true;
  }
  a->imm = (wick_imm){.constant = wick_constant_find(p->m, name)};
  if (a->imm.constant) return true;
  return wick_parse_fail(p, &t, WICK_EPARSE, "there is no constant @%s", name);
}

static bool parse_attr_value(wick_parser *p, const wick_attr_spec *s, uint32_t at)
{
  wick_attr *a = &p->attr[at];
  const wick_token *t = wick_parse_token(p);
  a->n = 0;
  switch (s->kind) {
  case WICK_ATTR_INT:
  case WICK_ATTR_AXIS: return wick_parse_int(p, &a->i);
  case WICK_ATTR_BOOL:
    a->i = wick_token_word(t, "true");
    if (!a->i && !wick_token_word(t, "false")) return wick_parse_unexpected(p, "true or false");
    wick_parse_next(p);
    return true;
  case WICK_ATTR_FLOAT: return parse_attr_float(p, &a->f);
  case WICK_ATTR_STRING: return wick_parse_string(p, &a->s);
  case WICK_ATTR_ENUM: return parse_attr_word(p, s, a);
  case WICK_ATTR_CONST:
    if (t->kind == WICK_TOKEN_GLOBAL) return parse_attr_global(p, s->kind, a);
    if (t->kind == WICK_TOKEN_STRING) return wick_parse_string(p, &p->imm[at]);
    return wick_parse_number(p, &p->imm[at]);
  case WICK_ATTR_FUNC:
    if (t->kind == WICK_TOKEN_GLOBAL) return parse_attr_global(p, s->kind, a);
    return wick_parse_unexpected(p, "@ and a function's name");
  default: return parse_attr_list(p, s->kind, at);
  }
}

bool wick_parse_positional(wick_parser *p, const wick_op *op)
{
  uint32_t at = wick_op_positional(op);
  bool global = wick_parse_token(p)->kind == WICK_TOKEN_GLOBAL, number = wick_parse_is_number(p);
  if (!global && !number) return true;
  if (at == WICK_MAX_ATTR || (number && op->attr[at].kind == WICK_ATTR_FUNC))
    return wick_parse_unexpected(p, "an operand");
  return parse_attr_value(p, &op->attr[at], at);
}

static bool parse_attr_one(wick_parser *p, const wick_op *op)
{
  wick_token t = *wick_parse_token(p);
  if (t.kind != WICK_TOKEN_WORD) return wick_parse_unexpected(p, "an attribute's name");
  uint32_t n = wick_op_nattr(op), at = 0;
  while (at < n && !wick_token_word(&t, op->attr[at].name)) at++;
  int shown = (int)(t.n > 40 ? 40 : t.n);
  if (at == n)
    return wick_parse_fail(p, &t, WICK_EPARSE, "%s has no attribute \"%.*s\"", op->name, shown,
                           t.at);
  if (p->attr[at].n != WICK_ATTR_UNSET)
    return wick_parse_fail(p, &t, WICK_EPARSE, "the attribute \"%.*s\" is given twice", shown,
                           t.at);
  wick_parse_next(p);
  return wick_parse_punct(p, '=', "`=`") && parse_attr_value(p, &op->attr[at], at);
}

bool wick_parse_attrs(wick_parser *p, const wick_op *op)
{
  if (!wick_parse_take(p, '{')) return true;
  while (!wick_parse_is(p, '}')) {
    if (!parse_attr_one(p, op)) return false;
    if (!wick_parse_take(p, ',')) break;
  }
  return wick_parse_punct(p, '}', "`,` or `}`");
}

static bool parse_attr_imm(wick_parser *p, const wick_token *at, const char *text, wick_type type,
                           wick_imm *out)
{
  if (!type.id) return wick_parse_fail(p, at, WICK_EPARSE, "a number needs its type: `: f32[]`");
  wick_elem e = wick_type_get(p->m, type)->elem;
  unsigned char bytes[16] = {0};
  const char *wrong =
      e == WICK_STRING ? NULL : wick_number_read(e, text, strlen(text), p->tmp, bytes, 0);
  if (wrong) return wick_parse_fail(p, at, WICK_ERANGE, "%s", wrong);
  wick_scalar x = wick_load_elem(e, bytes, 0);
  if (e == WICK_STRING) x = wick_parse_text(p, text);
  *out = (wick_imm){0};
  if (wick_elem_is_float(e))
    out->f = x.f;
  else
    out->i = x.i;
  return true;
}

bool wick_parse_attrs_end(wick_parser *p, const wick_op *op, const wick_token *at, wick_type type)
{
  for (uint32_t i = 0; i < wick_op_nattr(op); i++) {
    wick_attr *a = &p->attr[i];
    if (a->n == WICK_ATTR_UNSET) continue;
    switch (op->attr[i].kind) {
    case WICK_ATTR_INTS: a->ints = a->n ? p->ints.at + p->attr_at[i] : NULL; break;
    case WICK_ATTR_FLOATS: a->floats = a->n ? p->floats.at + p->attr_at[i] : NULL; break;
    case WICK_ATTR_DIMS: a->dims = a->n ? p->dims.at + p->attr_at[i] : NULL; break;
    case WICK_ATTR_AXES: a->axes = a->n ? p->axes.at + p->attr_at[i] : NULL; break;
    case WICK_ATTR_CONST:
      if (p->imm[i] && !parse_attr_imm(p, at, p->imm[i], type, &a->imm)) return false;
      break;
    default: break;
    }
  }
  return true;
}
