/* Parses nodes and bodies: one loop over the tokens with a stack of open nodes calls the builder.
 * After an error it continues with the next node. */
#include <string.h>

#include "ir/grammar.h"
#include "ir/parse.h"

/* ---- names of values ---- */

static wick_parse_name *parse_node_slot(wick_parser *p, const wick_token *t, uint32_t *out_id)
{
  const char *name = t->at;
  size_t n = t->n;
  if (t->quoted) {
    if (!wick_parse_name_text(p, t, &name)) return NULL;
    n = strlen(name);
  }
  uint32_t id = wick_names_add(&p->values, name, n);
  while (p->value.n <= id) wick_push(p->tmp, &p->value, (wick_parse_name){0});
  *out_id = id;
  return &p->value.at[id];
}

void wick_parse_define(wick_parser *p, const wick_token *name, uint32_t value)
{
  uint32_t id;
  wick_parse_name *slot = parse_node_slot(p, name, &id);
  if (!slot) return;
  if (slot->func == p->func) {
    wick_parse_fail(p, name, WICK_EPARSE, "%%%s is defined already",
                    wick_names_get(&p->values, id));
    return;
  }
  *slot = (wick_parse_name){.func = p->func, .value = value};
  wick_push(p->tmp, &p->scope, id);
}

/* Removes the names that were defined since `scope`. */
static void parse_node_leave(wick_parser *p, uint32_t scope)
{
  while (p->scope.n > scope) p->value.at[p->scope.at[--p->scope.n]].func = 0;
}

static bool parse_node_operand(wick_parser *p)
{
  wick_token t = *wick_parse_token(p);
  uint32_t id, value = 0;
  if (t.kind == WICK_TOKEN_VALUE) {
    const wick_parse_name *slot = parse_node_slot(p, &t, &id);
    if (!slot) return false;
    if (slot->func != p->func)
      return wick_parse_fail(p, &t, WICK_EPARSE, "%%%s is not defined here",
                             wick_names_get(&p->values, id));
    value = slot->value;
  } else if (!wick_token_word(&t, "_")) {
    return wick_parse_unexpected(p, "an operand");
  }
  wick_parse_next(p);
  wick_push(p->tmp, &p->operands, (wick_value){value});
  return true;
}

/* Returns true at `%a, %b =`, which begins the next node. It is not the operand list of an
 * operator without operands. */
static bool parse_node_next_begins(const wick_parser *p)
{
  wick_lexer l = p->lex;
  while (l.token.kind == WICK_TOKEN_VALUE) {
    wick_lex_next(&l);
    if (!wick_token_is(&l.token, ',')) break;
    wick_lex_next(&l);
  }
  return wick_token_is(&l.token, '=');
}

static bool parse_node_operands(wick_parser *p, const wick_op *op)
{
  p->operands.n = 0;
  const wick_token *t = wick_parse_token(p);
  if (t->kind != WICK_TOKEN_VALUE && !wick_token_word(t, "_")) return true;
  if (op->nin[0] == 0 && t->kind == WICK_TOKEN_VALUE && parse_node_next_begins(p)) return true;
  do
    if (!parse_node_operand(p)) return false;
  while (wick_parse_take(p, ','));
  return true;
}

static bool parse_node_real(const wick_parser *p)
{
  if (!p->building) return false;
  for (uint32_t i = 0; i < p->operands.n; i++)
    if (p->operands.at[i].id == WICK_PARSE_UNREAL) return false;
  return true;
}

/* ---- errors of the builder ---- */

/* Moves the builder's failure to the report. Nothing was built, so that the builder can
 * continue. */
static bool parse_node_built(wick_parser *p, const wick_token *at)
{
  wick_status s = p->b.status;
  p->b.status = NULL;
  return s ? wick_parse_fail(p, at, s->code, "%s", s->message) : true;
}

/* The same if the builder's open regions no longer correspond to those of the text. */
static void parse_node_step(wick_parser *p, const wick_token *at)
{
  p->building = p->building && parse_node_built(p, at);
}

/* ---- the tail: types, names, location ---- */

/* Reads the location, and those of the calls from which it was inlined, the innermost first. */
static bool parse_node_loc(wick_parser *p)
{
  const char *text[WICK_LOC_CALLS + 1];
  uint32_t n = 0;
  p->loc = (wick_loc){0};
  if (!wick_token_word(wick_parse_token(p), "loc")) return true;
  wick_parse_next(p);
  if (!wick_parse_punct(p, '(', "`(`")) return false;
  do {
    if (n == WICK_COUNT(text))
      return wick_parse_fail(p, wick_parse_token(p), WICK_ELIMIT, "at most %d locations",
                             WICK_LOC_CALLS + 1);
    if (!wick_parse_string(p, &text[n++])) return false;
  } while (wick_parse_take(p, ','));
  while (n-- > 0) p->loc = wick_loc_inlined(p->m, wick_loc_add(p->m, text[n]), p->loc);
  return wick_parse_punct(p, ')', "`)`");
}

static bool parse_node_tail(wick_parser *p)
{
  p->typed.n = p->types.n = 0;
  if (wick_parse_take(p, ':')) {
    do {
      wick_parse_typed t;
      if (!wick_parse_typed_one(p, &t)) return false;
      wick_push(p->tmp, &p->typed, t);
      wick_push(p->tmp, &p->types, t.type);
    } while (wick_parse_take(p, ','));
  }
  return parse_node_loc(p);
}

/* index: -1 if there is only one. */
static bool parse_node_same_type(wick_parser *p, const wick_token *at, const char *op,
                                 const char *what, int index, wick_type is, wick_type said)
{
  if (wick_type_eq(is, said)) return true;
  wick_text a = wick_text_begin(p->tmp), b = wick_text_begin(p->tmp);
  wick_type_print(p->m, is, &a);
  wick_type_print(p->m, said, &b);
  const char *which = index >= 0 ? wick_str_printf(p->tmp, " %d", index) : "";
  return wick_parse_fail(p, at, WICK_ETYPE, "%s: %s%s is %s, but the text declares %s", op, what,
                         which, a.at, b.at);
}

/* Checks the names and types of results against the built node; NULL: it could not be built. */
static void parse_node_results(wick_parser *p, const wick_token *at, const wick_op *op,
                               uint32_t result, const wick_node *n)
{
  uint32_t named = p->results.n - result, nout = n ? n->nout : named;
  if (named != nout)
    wick_parse_fail(p, at, WICK_EPARSE, "%s: %u results, the text names %u", op->name, nout, named);
  if (n && p->typed.n && p->typed.n != nout)
    wick_parse_fail(p, at, WICK_EPARSE, "%s: %u results, but the text has %u types", op->name, nout,
                    p->typed.n);
  for (uint32_t i = 0; n && i < nout && i < p->typed.n; i++) {
    wick_value v = {n->first.id + i};
    const wick_parse_typed *t = &p->typed.at[i];
    parse_node_same_type(p, at, op->name, "result", nout > 1 ? (int)i : -1,
                         wick_built_type(&p->b, v), t->type);
    wick_build_name(&p->b, v, t->name, t->relation);
  }
  for (uint32_t i = 0; i < named; i++)
    wick_parse_define(p, &p->results.at[result + i],
                      n && i < nout ? n->first.id + i : WICK_PARSE_UNREAL);
  p->results.n = result;
}

/* ---- one node; returns false if the text after it cannot be read ---- */

static void parse_node_return(wick_parser *p, const wick_token *at)
{
  if (p->operands.n != p->wanted.n) {
    p->building =
        wick_parse_fail(p, at, WICK_ETYPE, "return: %u values, but the function declares %u",
                        p->operands.n, p->wanted.n);
    return;
  }
  for (uint32_t i = 0; i < p->operands.n; i++)
    p->building =
        parse_node_same_type(p, at, "return", "value", p->operands.n > 1 ? (int)i : -1,
                             wick_built_type(&p->b, p->operands.at[i]), p->wanted.at[i]) &&
        p->building;
  wick_build_return(&p->b, p->operands.n, p->operands.at);
}

static bool parse_node_terminator(wick_parser *p, const wick_token *at, const wick_op *op)
{
  bool is_return = op == wick_ops[WICK_OP_return], building = p->building;
  p->ended = true;
  p->building = false; /* until the node exists */
  if (is_return != (p->open.n == 0))
    return wick_parse_fail(p, at, WICK_EPARSE, "%s",
                           is_return ? "a region ends in yield" : "a function ends in return");
  if (!parse_node_operands(p, op) || !parse_node_loc(p)) return false;
  p->building = building;
  p->building = parse_node_real(p);
  if (!p->building) return true;
  p->b.loc = p->loc;
  if (is_return)
    parse_node_return(p, at);
  else
    wick_yield(&p->b, p->operands.n, p->operands.at);
  parse_node_step(p, at);
  return true;
}

static bool parse_node_plain(wick_parser *p, const wick_token *at, wick_opcode code,
                             uint32_t result)
{
  const wick_op *op = wick_ops[code];
  bool real = parse_node_real(p);
  if (!parse_node_tail(p)) return false;
  wick_type first = p->types.n ? p->types.at[0] : (wick_type){0};
  const wick_node *n = NULL;
  if (wick_parse_attrs_end(p, op, at, first) && real) {
    p->b.loc = p->loc;
    wick_build(&p->b, code, p->operands.n, p->operands.at, p->attr, op->typed ? p->types.n : 0,
               p->types.at);
    if (parse_node_built(p, at)) n = &p->b.nodes.at[p->b.nodes.n - 1];
  }
  parse_node_results(p, at, op, result, n);
  return true;
}

/* Reads `(%a: f32, ...) {`. */
static bool parse_node_region(wick_parser *p, wick_parse_open *o)
{
  wick_token at = *wick_parse_token(p);
  if (o->nregion++ == o->op->nregion[1] && o->op->nregion[1] != WICK_ANY)
    return wick_parse_fail(p, &at, WICK_EPARSE, "%s takes %u regions", o->op->name,
                           o->op->nregion[1]);
  if (!wick_parse_param_list(p, false) || !wick_parse_punct(p, '{', "`{`")) return false;
  p->types.n = 0;
  for (uint32_t i = 0; i < p->params.n; i++) wick_push(p->tmp, &p->types, p->params.at[i].is.type);
  wick_value first = {0};
  if (p->building) first = wick_region_begin(&p->b, p->params.n, p->types.at);
  parse_node_step(p, &at);
  o->scope = p->scope.n;
  p->ended = false;
  for (uint32_t i = 0; i < p->params.n; i++) {
    const wick_parse_param *param = &p->params.at[i];
    wick_value v = {first.id + i};
    if (p->building) wick_build_name(&p->b, v, param->is.name, param->is.relation);
    wick_parse_define(p, &param->token, p->building ? v.id : WICK_PARSE_UNREAL);
  }
  return true;
}

static bool parse_node_open(wick_parser *p, const wick_token *at, wick_opcode code, uint32_t result)
{
  if (p->open.n >= WICK_MAX_DEPTH)
    return wick_parse_fail(p, at, WICK_ELIMIT, "regions are nested deeper than %d", WICK_MAX_DEPTH);
  p->building = wick_parse_attrs_end(p, wick_ops[code], at, (wick_type){0}) && parse_node_real(p);
  wick_parse_open o = {*at, wick_ops[code], p->b.nodes.n, result, 0, 0};
  p->b.loc = (wick_loc){0};
  if (p->building) wick_build_open(&p->b, code, p->operands.n, p->operands.at, p->attr, 0, NULL);
  parse_node_step(p, at);
  if (parse_node_region(p, &o)) {
    wick_push(p->tmp, &p->open, o);
    return true;
  }
  p->building = false;
  return false;
}

/* Reads `%a, %b =` into p->results. */
static bool parse_node_names(wick_parser *p)
{
  do {
    wick_token t = *wick_parse_token(p);
    if (t.kind != WICK_TOKEN_VALUE) return wick_parse_unexpected(p, "a result's name");
    wick_push(p->tmp, &p->results, t);
    wick_parse_next(p);
  } while (wick_parse_take(p, ','));
  return wick_parse_punct(p, '=', "`=`");
}

static bool parse_node_one(wick_parser *p)
{
  uint32_t result = p->results.n;
  if (wick_parse_token(p)->kind == WICK_TOKEN_VALUE && !parse_node_names(p)) return false;
  wick_token at = *wick_parse_token(p);
  if (at.kind != WICK_TOKEN_WORD) return wick_parse_unexpected(p, "an operator");
  wick_opcode code = wick_op_find(at.at, at.n);
  if (code == WICK_OP_none)
    return wick_parse_fail(p, &at, WICK_EPARSE, "there is no operator \"%.*s\"",
                           (int)(at.n > 60 ? 60 : at.n), at.at);
  const wick_op *op = wick_ops[code];
  wick_parse_next(p);
  if (op->terminator) return parse_node_terminator(p, &at, op);
  wick_parse_attrs_begin(p, op);
  if (!wick_parse_positional(p, op)) return false;
  if (!parse_node_operands(p, op) || !wick_parse_attrs(p, op)) return false;
  return wick_parse_is(p, '(') ? parse_node_open(p, &at, code, result)
                               : parse_node_plain(p, &at, code, result);
}

/* ---- bodies ---- */

/* At the `}` of a region: begins the next region, or closes the node. */
static bool parse_node_region_end(wick_parser *p)
{
  wick_parse_open *o = &p->open.at[p->open.n - 1];
  if (!p->ended)
    p->building =
        wick_parse_fail(p, wick_parse_token(p), WICK_EPARSE, "the region does not end in yield");
  wick_parse_next(p);
  parse_node_leave(p, o->scope);
  bool more = wick_parse_is(p, '(');
  if (more && parse_node_region(p, o)) return true;
  wick_parse_open closed = *o;
  p->open.n--;
  p->ended = false;
  bool good = !more && parse_node_tail(p);
  p->building = p->building && good;
  const wick_node *n = NULL;
  if (p->building) {
    if (closed.op->typed) wick_build_want(&p->b, p->types.n, p->types.at);
    wick_build_close(&p->b);
    parse_node_step(p, &closed.op_token);
  }
  if (p->building) n = &p->b.nodes.at[closed.node], p->b.nodes.at[closed.node].loc = p->loc;
  parse_node_results(p, &closed.op_token, closed.op, closed.result, n);
  return good;
}

/* Skips to a position where the next node may begin: to `;`, to the first token of a line, or to
 * the `}` of the region. Defines the names that the node would have defined. */
static void parse_node_recover(wick_parser *p, const wick_token *begun, int32_t depth,
                               uint32_t result)
{
  for (uint32_t i = result; i < p->results.n; i++)
    wick_parse_define(p, &p->results.at[i], WICK_PARSE_UNREAL);
  if (p->results.n > result) p->results.n = result;
  for (const wick_token *t = wick_parse_token(p); t->kind != WICK_TOKEN_END; wick_parse_next(p)) {
    if (p->lex.depth < depth) return;
    if (p->lex.depth > depth || t->at == begun->at) continue;
    bool begins = t->kind == WICK_TOKEN_VALUE || t->kind == WICK_TOKEN_WORD;
    if (wick_token_is(t, ';') || (t->first && begins)) return;
  }
}

static bool parse_node_check(wick_parser *p)
{
  wick_dim a, b;
  wick_token at = *wick_parse_token(p);
  wick_parse_next(p);
  if (!wick_parse_dim(p, &a) || !wick_parse_punct(p, '=', "`=`") || !wick_parse_dim(p, &b))
    return false;
  bool branch = wick_token_word(wick_parse_token(p), "in");
  if (branch) wick_parse_next(p);
  if (branch && !wick_token_word(wick_parse_token(p), "branches"))
    return wick_parse_unexpected(p, "branches");
  if (branch) wick_parse_next(p);
  if (!parse_node_loc(p)) return false;
  if (p->building && branch)
    wick_push(p->b.mem, &p->b.constraints, (wick_shape_constraint){a, b, p->loc, true});
  else if (p->building)
    wick_build_shape_constraint(&p->b, a, b, p->loc);
  parse_node_step(p, &at);
  return true;
}

void wick_parse_constraints(wick_parser *p)
{
  for (;;) {
    wick_token t = *wick_parse_token(p);
    if (!wick_parse_take(p, ';')) {
      if (!wick_token_word(&t, "constraint")) return;
      if (!parse_node_check(p)) parse_node_recover(p, &t, 1, p->results.n);
    }
  }
}

void wick_parse_body(wick_parser *p)
{
  for (;;) {
    wick_token t = *wick_parse_token(p);
    uint32_t result = p->results.n;
    int32_t depth = (int32_t)p->open.n + 1; /* braces around this node */
    bool good;
    if (t.kind == WICK_TOKEN_END) {
      wick_parse_unexpected(p, "`}`");
      return;
    }
    if (wick_parse_take(p, ';')) continue;
    if (wick_parse_is(p, '}')) {
      if (!p->open.n) return;
      depth--;
      good = parse_node_region_end(p);
    } else if (p->ended) {
      good = wick_parse_fail(p, &t, WICK_EPARSE, "nodes after the end of the region");
    } else {
      good = parse_node_one(p);
    }
    if (!good) parse_node_recover(p, &t, depth, result);
  }
}
