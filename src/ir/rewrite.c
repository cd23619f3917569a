/* Local rewrites. A pattern is matched while its text is read; it is not compiled to another
 * form. */
#include "ir/rewrite.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/element.h"
#include "ir/op.h"

/* ---- values ---- */

static const wick_node *rewrite_definer(wick_rewriter *r, wick_value v)
{
  wick_builder *b = &r->c.b;
  if (b->status || !v.id) return NULL;
  while (r->definer.n < b->values.n) wick_push(r->mem, &r->definer, 0);
  for (; r->nseen < b->nodes.n; r->nseen++) {
    const wick_node *n = &b->nodes.at[r->nseen];
    for (uint32_t k = 0; k < n->nout; k++) r->definer.at[n->first.id + k] = r->nseen + 1;
  }
  uint32_t d = r->definer.at[v.id];
  return d ? &b->nodes.at[d - 1] : NULL;
}

bool wick_rewrite_def(wick_rewriter *r, wick_value v, wick_opcode op, wick_node *out)
{
  const wick_node *n = rewrite_definer(r, v);
  if (!n || n->op != op) return false;
  *out = *n;
  return true;
}

/* Returns true if all elements of the constant have the same bytes, and there is at least one. */
static bool rewrite_alike(wick_module *m, const wick_constant *k, wick_elem e)
{
  int64_t numel;
  uint32_t bits = wick_elem_storage[e].bits;
  if (!k->data || bits % 8 || !wick_dim_is_const(wick_type_numel(m, k->type))) return false;
  numel = wick_type_numel(m, k->type).v;
  const char *at = k->data;
  return numel > 0 && !memcmp(at, at + bits / 8, (size_t)(numel - 1) * (bits / 8));
}

static bool rewrite_one(wick_rewriter *r, wick_value v, wick_scalar *out)
{
  wick_node n;
  if (!wick_rewrite_def(r, v, WICK_OP_const, &n)) return false;
  const wick_imm *imm = wick_const_imm(&n);
  wick_module *m = r->c.f->module;
  wick_elem e = wick_rewrite_info(r, v)->elem;
  if (!imm->constant) {
    *out = wick_elem_is_float(e) ? (wick_scalar){.f = imm->f} : (wick_scalar){.i = imm->i};
    return true;
  }
  const wick_constant *k = wick_constant_get(m, imm->constant);
  if (!rewrite_alike(m, k, e)) return false;
  *out = wick_load_elem(e, k->data, 0);
  return true;
}

bool wick_rewrite_number(wick_rewriter *r, wick_value v, double *out)
{
  wick_scalar x;
  if (!v.id || !wick_elem_is_float(wick_rewrite_info(r, v)->elem) || !rewrite_one(r, v, &x))
    return false;
  *out = x.f;
  return true;
}

bool wick_rewrite_int(wick_rewriter *r, wick_value v, int64_t *out)
{
  wick_scalar x;
  wick_class c = v.id ? wick_elem_class(wick_rewrite_info(r, v)->elem) : WICK_TEXT;
  if (c == WICK_FLOAT || c == WICK_COMPLEX || c == WICK_TEXT || !rewrite_one(r, v, &x))
    return false;
  *out = x.i;
  return true;
}

/* ---- patterns ---- */

static const char *rewrite_space(const char *p) { return p + strspn(p, " "); }

static size_t rewrite_word(const char *p)
{
  size_t n = 0;
  while (islower((unsigned char)p[n]) || p[n] == '_' || (n && isdigit((unsigned char)p[n]))) n++;
  return n;
}

static bool rewrite_names(const char *p, wick_opcode op)
{
  size_t n = rewrite_word(p);
  return strncmp(p, wick_ops[op]->name, n) == 0 && !wick_ops[op]->name[n];
}

static bool rewrite_once(const wick_rewriter *r, wick_value v)
{
  wick_value old = {v.id < r->from.n ? r->from.at[v.id] : 0};
  return old.id && wick_rewrite_once(r, old);
}

static bool rewrite_is_number(wick_rewriter *r, wick_value v, double c)
{
  double f;
  int64_t i;
  return wick_rewrite_number(r, v, &f) ? f == c && signbit(f) == signbit(c)
                                       : wick_rewrite_int(r, v, &i) && (double)i == c;
}

static const char *rewrite_operands(wick_rewriter *r, const char *p, uint32_t nin,
                                    const wick_value *in);

/* Matches v against the pattern at p. Returns the end of the pattern, or NULL if v does not
 * match. */
static const char *rewrite_match(wick_rewriter *r, const char *p, wick_value v)
{
  p = rewrite_space(p);
  size_t n = rewrite_word(p);
  if (!n) {
    char *end;
    double c = strtod(p, &end);
    return rewrite_is_number(r, v, c) ? end : NULL;
  }
  if (n == 1) {
    wick_value *var = &r->var[*p - 'a'];
    if (var->id && var->id != v.id) return NULL;
    *var = v;
    return p[1] == '=' ? rewrite_match(r, p + 2, v) : p + 1;
  }
  const wick_node *d = rewrite_definer(r, v);
  if (!d || !rewrite_names(p, d->op)) return NULL;
  p += n;
  if (*p == '!' && !rewrite_once(r, v)) return NULL;
  return rewrite_operands(r, p + (*p == '!'), d->nin, d->in);
}

/* The same for the operands; p is after the operator's name. */
static const char *rewrite_operands(wick_rewriter *r, const char *p, uint32_t nin,
                                    const wick_value *in)
{
  uint32_t k = 0;
  for (p = rewrite_space(p + 1); *p != ')'; p = rewrite_space(p + (*p == ','))) {
    if (*p == '.') {
      p += 2, k = nin;
      continue;
    }
    if (k == nin || !in[k].id || !(p = rewrite_match(r, p, in[k++]))) return NULL;
  }
  for (; k < nin; k++)
    if (in[k].id) return NULL;
  return p + 1;
}

/* ---- replacements ---- */

static wick_value rewrite_build(wick_rewriter *r, const char **p)
{
  enum { OPERANDS = 4 };
  *p = rewrite_space(*p);
  size_t n = rewrite_word(*p);
  const char *name = *p;
  *p += n;
  if (n == 1) return wick_rewrite_var(r, *name);
  wick_value in[OPERANDS];
  uint32_t nin = 0;
  for (++*p; **p != ')'; *p = rewrite_space(*p + (**p == ','))) in[nin++] = rewrite_build(r, p);
  ++*p;
  wick_type type = wick_rewrite_type(r);
  if (rewrite_names(name, r->node->op))
    return wick_build(&r->c.b, r->node->op, nin, in, r->node->attr, wick_op_of(r->node)->typed,
                      &type);
  return wick_build(&r->c.b, wick_op_find(name, n), nin, in, NULL, 0, NULL);
}

static wick_value rewrite_row(wick_rewriter *r, const wick_rewrite *row)
{
  const wick_node *n = r->node;
  memset(r->var, 0, sizeof r->var);
  if (!rewrite_names(row->from, n->op) ||
      !rewrite_operands(r, row->from + rewrite_word(row->from), n->nin, r->in) ||
      (row->when && !row->when(r)))
    return (wick_value){0};
  const char *to = row->to;
  wick_value v = to ? rewrite_build(r, &to) : row->build(r);
  bool same =
      v.id && !r->c.b.status && wick_type_eq(wick_built_type(&r->c.b, v), wick_rewrite_type(r));
  return same ? v : (wick_value){0};
}

/* ---- traversal ---- */

wick_rewriter wick_rewriter_begin(const wick_func *f, wick_arena *mem)
{
  wick_rewriter r = {.mem = mem, .uses = wick_uses_of(f, mem)};
  r.c = wick_copy_begin(f, mem);
  return r;
}

static void rewrite_became(wick_rewriter *r, uint32_t old)
{
  uint32_t v = r->c.to[old].id;
  while (r->from.n < r->c.b.values.n) wick_push(r->mem, &r->from, 0);
  if (v) r->from.at[v] = r->from.at[v] ? 0 : old;
}

void wick_rewrite_by(wick_rewriter *r, const wick_node *n, wick_value v)
{
  const wick_value_info *old = &r->c.f->value[n->first.id];
  r->c.to[n->first.id] = v;
  if (!r->c.b.values.at[v.id].name) wick_build_name(&r->c.b, v, old->name, old->relation);
  rewrite_became(r, n->first.id);
}

bool wick_rewrite_node(wick_rewriter *r, const wick_node *n, const wick_rewrite *rules)
{
  if (rules && n->nout == 1 && !n->nregion && !r->c.b.status) {
    wick_value *in = wick_new(r->mem, wick_value, n->nin), v = {0};
    for (uint32_t k = 0; k < n->nin; k++) in[k] = r->c.to[n->in[k].id];
    r->node = n, r->in = in;
    r->c.b.loc = n->loc;
    for (; rules->from && !v.id; rules++) v = rewrite_row(r, rules);
    if (v.id) {
      wick_rewrite_by(r, n, v);
      return true;
    }
  }
  wick_copy_node(&r->c, n);
  for (uint32_t k = 0; k < n->nout && !n->nregion; k++) rewrite_became(r, n->first.id + k);
  return false;
}

wick_status wick_rewrite_pass(const wick_rewrite *rules, const wick_func *f, wick_arena *mem,
                              wick_func **out)
{
  wick_rewriter r = wick_rewriter_begin(f, mem);
  for (uint32_t i = 0; i < f->nnode; i++) wick_rewrite_node(&r, &f->node[i], rules);
  return wick_copy_finish(&r.c, out);
}
