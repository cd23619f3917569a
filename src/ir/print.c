/* Prints the canonical text of nodes, functions and modules, in one pass over the nodes with a
 * stack of open regions. */
#include "ir/print.h"

#include <stdio.h>
#include <string.h>

#include "ir/element.h"
#include "ir/grammar.h"
#include "ir/lex.h"
#include "ir/number.h"

enum { PRINT_LIST = 16 }; /* constants of more elements are printed as bytes */

/* ---- names ---- */

static void print_value(wick_printer *p, wick_value v)
{
  if (!v.id) {
    wick_text_char(p->out, '_');
    return;
  }
  wick_text_char(p->out, '%');
  if (v.id <= p->f->nparam)
    wick_text_name(p->out, p->param[v.id - 1]);
  else
    wick_text_int(p->out, p->number[v.id]);
}

/* Gives v the next number that is not the name of a parameter. */
static void print_define(wick_printer *p, wick_value v)
{
  char text[16];
  do p->number[v.id] = p->next++;
  while (wick_names_find(&p->params, text,
                         (size_t)snprintf(text, sizeof text, "%u", p->number[v.id])));
  print_value(p, v);
}

/* Parameters without a name are p0, p1, ... If names are equal, all but the first get a suffix. */
static void print_name_params(wick_printer *p)
{
  const wick_func *f = p->f;
  char unnamed[16];
  p->params = wick_names_begin(p->out->mem);
  p->param = wick_new(p->out->mem, const char *, f->nparam);
  for (uint32_t i = 0; i < f->nparam; i++) {
    if (f->value[i + 1].name && p->flags & WICK_PRINT_NAMES) continue;
    wick_param_unnamed(unnamed, i);
    p->param[i] = wick_names_get(&p->params, wick_names_add(&p->params, unnamed, strlen(unnamed)));
  }
  for (uint32_t i = 0; i < f->nparam; i++) {
    if (p->param[i]) continue;
    const char *name = wick_names_get(&p->m->names, f->value[i + 1].name), *unique = name;
    for (uint32_t k = i; wick_names_find(&p->params, unique, strlen(unique)); k++)
      unique = wick_str_printf(p->out->mem, "%s.%u", name, k);
    p->param[i] = wick_names_get(&p->params, wick_names_add(&p->params, unique, strlen(unique)));
  }
}

/* Prints ` as gone "x"`: the tensor of the user's model that the value corresponds to. */
static void print_as(wick_printer *p, wick_value v)
{
  const wick_value_info *info = &p->f->value[v.id];
  if (!info->name || !(p->flags & WICK_PRINT_NAMES)) return;
  const char *name = wick_names_get(&p->m->names, info->name);
  /* not needed for a parameter with that name, unless the name looks like that of an unnamed one */
  if (v.id <= p->f->nparam) {
    char unnamed[16];
    wick_param_unnamed(unnamed, v.id - 1);
    bool own = strcmp(p->param[v.id - 1], name) == 0 && strcmp(unnamed, name) != 0;
    if (own && info->relation == WICK_REL_SAME) return;
  }
  wick_text_add(p->out, " as ");
  if (info->relation != WICK_REL_SAME)
    wick_text_printf(p->out, "%s ", wick_keyword_of(wick_relation_words, (int)info->relation));
  wick_text_quoted(p->out, name);
}

static void print_loc(wick_printer *p, wick_loc loc)
{
  if (!loc.id || !(p->flags & WICK_PRINT_LOCS)) return;
  wick_text_add(p->out, " loc(");
  for (wick_loc l = loc; l.id; l = wick_loc_call(p->m, l)) {
    if (l.id != loc.id) wick_text_add(p->out, ", ");
    wick_text_quoted(p->out, wick_loc_text(p->m, l));
  }
  wick_text_char(p->out, ')');
}

/* ---- attributes ---- */

static bool print_is_default(const wick_printer *p, const wick_node *n, const wick_attr_spec *s,
                             const wick_attr *a)
{
  if (s->required) return false;
  switch (s->kind) {
  case WICK_ATTR_INT:
  case WICK_ATTR_BOOL:
  case WICK_ATTR_ENUM: return a->i == (int64_t)s->dflt;
  case WICK_ATTR_AXIS: { /* stored as 0 .. rank-1 */
    int64_t dflt = (int64_t)s->dflt;
    if (dflt < 0 && n->nin && n->in[0].id) dflt += wick_info_of(p->f, n->in[0])->rank;
    return a->i == dflt;
  }
  case WICK_ATTR_FLOAT: return memcmp(&a->f, &s->dflt, sizeof a->f) == 0;
  case WICK_ATTR_STRING:
  case WICK_ATTR_FUNC: return !a->s || !*a->s;
  case WICK_ATTR_INTS:
  case WICK_ATTR_FLOATS:
  case WICK_ATTR_DIMS:
  case WICK_ATTR_AXES: return a->n == 0;
  case WICK_ATTR_CONST:
  case WICK_ATTR_NONE: return false;
  }
  return false;
}

static void print_axes(wick_printer *p, const wick_attr *a)
{
  bool reduce = false;
  for (uint32_t i = 0; i < a->n; i++) {
    if (a->axes[i].reduce && !reduce)
      wick_text_add(p->out, i ? " | " : "| ");
    else if (i)
      wick_text_add(p->out, ", ");
    reduce = reduce || a->axes[i].reduce;
    wick_print_axis(p, &a->axes[i]);
  }
}

static void print_list(wick_printer *p, wick_attr_kind kind, const wick_attr *a)
{
  wick_text_char(p->out, '[');
  if (kind == WICK_ATTR_AXES) print_axes(p, a);
  for (uint32_t i = 0; kind != WICK_ATTR_AXES && i < a->n; i++) {
    if (i) wick_text_add(p->out, kind == WICK_ATTR_DIMS ? ", " : ",");
    if (kind == WICK_ATTR_INTS)
      wick_text_int(p->out, a->ints[i]);
    else if (kind == WICK_ATTR_FLOATS)
      wick_number_print_scalar(p->out, WICK_F64, (wick_scalar){.f = a->floats[i]});
    else
      wick_print_dim(p, a->dims[i]);
  }
  wick_text_char(p->out, ']');
}

static void print_word(wick_text *out, const char *words, int64_t index)
{
  while (words && index-- > 0 && (words = strchr(words, ' '))) words++;
  wick_text_addn(out, words ? words : "?", words ? strcspn(words, " ") : 1);
}

/* Prints an element of a tensor of strings, which is a number. */
static void print_text(wick_text *out, const wick_module *m, int64_t number)
{
  wick_string s = wick_string_table_get(&m->strings, number);
  wick_text_quoted(out, wick_str_dupn(out->mem, s.at, (size_t)s.nbytes));
}

/* Prints an immediate as a number of the first result's element type. */
static void print_imm(wick_printer *p, const wick_node *n, const wick_imm *imm)
{
  if (imm->constant) {
    wick_text_char(p->out, '@');
    wick_text_name(p->out, wick_constant_get(p->m, imm->constant)->name);
    return;
  }
  wick_elem e = n->nout ? wick_info_of(p->f, n->first)->elem : WICK_F64;
  wick_scalar x = {.i = imm->i};
  if (e == WICK_STRING) {
    print_text(p->out, p->m, imm->i);
    return;
  }
  if (wick_elem_is_float(e)) x.f = imm->f;
  wick_number_print_scalar(p->out, e, x);
}

static void print_attr_value(wick_printer *p, const wick_node *n, const wick_attr_spec *s,
                             const wick_attr *a)
{
  switch (s->kind) {
  case WICK_ATTR_INT:
  case WICK_ATTR_AXIS: wick_text_int(p->out, a->i); break;
  case WICK_ATTR_BOOL: wick_text_add(p->out, a->i ? "true" : "false"); break;
  case WICK_ATTR_FLOAT: wick_number_print_scalar(p->out, WICK_F64, (wick_scalar){.f = a->f}); break;
  case WICK_ATTR_STRING: wick_text_quoted(p->out, a->s ? a->s : ""); break;
  case WICK_ATTR_ENUM: print_word(p->out, s->words, a->i); break;
  case WICK_ATTR_CONST: print_imm(p, n, &a->imm); break;
  case WICK_ATTR_FUNC:
    wick_text_char(p->out, '@');
    wick_text_name(p->out, a->s ? a->s : "");
    break;
  default: print_list(p, s->kind, a);
  }
}

static void print_attrs(wick_printer *p, const wick_node *n, uint32_t positional)
{
  const wick_op *op = wick_op_of(n);
  bool any = false;
  for (uint32_t i = 0; i < n->nattr; i++) {
    if (i == positional || print_is_default(p, n, &op->attr[i], &n->attr[i])) continue;
    wick_text_printf(p->out, "%s%s=", any ? ", " : " {", op->attr[i].name);
    print_attr_value(p, n, &op->attr[i], &n->attr[i]);
    any = true;
  }
  if (any) wick_text_char(p->out, '}');
}

/* ---- nodes ---- */

static void print_indent(wick_printer *p, uint32_t depth)
{
  for (uint32_t i = 0; i <= depth; i++) wick_text_add(p->out, "  ");
}

/* Prints `%1, %2 = op @name %a, %b {k=v}`. */
static void print_head(wick_printer *p, const wick_node *n)
{
  const wick_op *op = wick_op_of(n);
  for (uint32_t k = 0; k < n->nout; k++) {
    if (k) wick_text_add(p->out, ", ");
    print_define(p, (wick_value){n->first.id + k});
  }
  wick_text_printf(p->out, "%s%s", n->nout ? " = " : "", op->name);
  uint32_t positional = n->nattr ? wick_op_positional(op) : WICK_MAX_ATTR;
  if (positional < n->nattr &&
      !print_is_default(p, n, &op->attr[positional], &n->attr[positional])) {
    wick_text_char(p->out, ' ');
    print_attr_value(p, n, &op->attr[positional], &n->attr[positional]);
  }
  for (uint32_t i = 0; i < n->nin; i++) {
    wick_text_add(p->out, i ? ", " : " ");
    print_value(p, n->in[i]);
  }
  print_attrs(p, n, positional);
}

/* Prints `: f32[4] as "x", f32[5] loc("...")`. */
static void print_tail(wick_printer *p, const wick_node *n)
{
  for (uint32_t k = 0; k < n->nout; k++) {
    wick_value v = {n->first.id + k};
    wick_text_add(p->out, k ? ", " : " : ");
    wick_print_type(p, wick_type_of(p->f, v));
    print_as(p, v);
  }
  print_loc(p, n->loc);
  wick_text_char(p->out, '\n');
}

static void print_region_head(wick_printer *p, const wick_region *r)
{
  wick_text_add(p->out, " (");
  for (uint32_t i = 0; i < r->nparam; i++) {
    wick_value v = {r->first.id + i};
    if (i) wick_text_add(p->out, ", ");
    print_define(p, v);
    wick_text_add(p->out, ": ");
    wick_print_type(p, wick_type_of(p->f, v));
    print_as(p, v);
  }
  wick_text_add(p->out, ") {\n");
}

static void print_nodes(wick_printer *p)
{
  const wick_func *f = p->f;
  struct print_open {
    const wick_node *node;
    uint32_t region;
  };
  wick_list(struct print_open) open = {0};
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    print_indent(p, open.n);
    print_head(p, n);
    if (n->nregion) {
      wick_push(p->out->mem, &open, (struct print_open){n, 0});
      print_region_head(p, &n->region[0]);
    } else {
      print_tail(p, n);
    }
    while (open.n && open.at[open.n - 1].node->region[open.at[open.n - 1].region].end == i + 1) {
      struct print_open *o = &open.at[open.n - 1];
      print_indent(p, open.n - 1);
      wick_text_char(p->out, '}');
      if (++o->region < o->node->nregion) {
        print_region_head(p, &o->node->region[o->region]);
        break;
      }
      open.n--;
      print_tail(p, o->node);
    }
  }
}

/* ---- functions and modules ---- */

static void print_state(wick_printer *p, wick_qualifier q, uint32_t name)
{
  uint32_t initial = wick_initial_get(p->m, name);
  wick_text_printf(p->out, "@state(%u", wick_given_result(q));
  if (initial) {
    wick_text_add(p->out, ", @");
    wick_text_name(p->out, wick_constant_get(p->m, initial)->name);
  }
  wick_text_add(p->out, ") ");
}

static void print_param(wick_printer *p, uint32_t i)
{
  wick_value v = {i + 1};
  if (i) wick_text_add(p->out, ", ");
  wick_qualifier q = p->f->qual[i];
  if (wick_is_state(q))
    print_state(p, q, p->f->value[v.id].name);
  else if (wick_is_given(q))
    wick_text_printf(p->out, "@given(%u) ", wick_given_result(q));
  else if (q != WICK_IN || p->f->level & (WICK_LOW | WICK_LOOP))
    wick_text_printf(p->out, "@%s ", wick_keyword_of(wick_qualifier_words, (int)q));
  print_value(p, v);
  wick_text_add(p->out, ": ");
  wick_print_type(p, wick_type_of(p->f, v));
  print_as(p, v);
}

static void print_results(wick_printer *p)
{
  const wick_node *r = wick_return(p->f);
  if (p->f->procedure && !r->nin) wick_text_add(p->out, " -> ()");
  if (r->nin) wick_text_add(p->out, r->nin > 1 ? " -> (" : " -> ");
  for (uint32_t i = 0; i < r->nin; i++) {
    if (i) wick_text_add(p->out, ", ");
    wick_print_type(p, wick_type_of(p->f, r->in[i]));
  }
  if (r->nin > 1) wick_text_char(p->out, ')');
}

static void print_constraints(wick_printer *p)
{
  for (uint32_t i = 0; i < p->f->nconstraint; i++) {
    const wick_shape_constraint *constraint = &p->f->constraint[i];
    wick_text_add(p->out, "  constraint ");
    wick_print_dim(p, constraint->a);
    wick_text_add(p->out, " = ");
    wick_print_dim(p, constraint->b);
    if (constraint->branch) wick_text_add(p->out, " in branches");
    print_loc(p, constraint->loc);
    wick_text_char(p->out, '\n');
  }
}

void wick_print_func(const wick_func *f, unsigned flags, wick_text *out)
{
  wick_printer p = {.m = f->module, .out = out, .flags = flags, .ranges = true, .f = f};
  p.symbols = wick_names_begin(out->mem);
  p.number = wick_new(out->mem, uint32_t, f->nvalue + 1);
  print_name_params(&p);
  wick_text_printf(out, "%s @", wick_keyword_of(wick_level_words, (int)f->level));
  wick_text_name(out, f->name);
  wick_text_char(out, '(');
  for (uint32_t i = 0; i < f->nparam; i++) print_param(&p, i);
  wick_text_char(out, ')');
  print_results(&p);
  wick_text_add(out, " {\n");
  print_constraints(&p);
  print_nodes(&p);
  wick_text_char(out, '}');
  if (f->schedule) wick_text_add(out, " schedule "), wick_text_quoted(out, f->schedule);
  if (f->contract) wick_text_add(out, " contract "), wick_text_quoted(out, f->contract);
  wick_text_char(out, '\n');
}

static void print_data(wick_text *out, const wick_module *m, const wick_constant *c)
{
  wick_elem e = wick_type_get(m, c->type)->elem;
  wick_class cls = wick_elem_class(e);
  wick_dim n = wick_type_numel((wick_module *)(uintptr_t)m, c->type);
  uint64_t want = wick_dim_is_const(n) ? wick_elem_bytes(e, (uint64_t)n.v) : 0;
  bool text = cls == WICK_TEXT; /* the numbers of strings have no meaning in another module */
  if (cls != WICK_COMPLEX && wick_dim_is_const(n) && (text || n.v <= PRINT_LIST) &&
      want == c->nbytes) {
    wick_text_add(out, " = [");
    for (uint64_t i = 0; i < (uint64_t)n.v; i++) {
      if (i) wick_text_add(out, ", ");
      if (text)
        print_text(out, m, wick_load_int(e, c->data, i));
      else
        wick_number_print(out, e, c->data, i);
    }
    wick_text_char(out, ']');
    return;
  }
  static const char digit[] = "0123456789abcdef";
  const unsigned char *data = c->data;
  wick_text_add(out, " = hex \"");
  for (uint64_t i = 0; i < c->nbytes; i++) {
    char pair[2] = {digit[data[i] >> 4], digit[data[i] & 15]};
    wick_text_addn(out, pair, 2);
  }
  wick_text_char(out, '"');
}

void wick_print_constant(const wick_module *m, uint32_t id, unsigned flags, wick_text *out)
{
  const wick_constant *c = wick_constant_get(m, id);
  wick_printer p = {.m = m, .out = out, .ranges = true, .symbols = wick_names_begin(out->mem)};
  wick_text_add(out, "constant @");
  wick_text_name(out, c->name);
  wick_text_add(out, " : ");
  wick_print_type(&p, c->type);
  if (c->data && flags & WICK_PRINT_DATA) print_data(out, m, c);
  wick_text_char(out, '\n');
}

static void print_data_type(const wick_module *m, const wick_data *d, wick_text *out)
{
  wick_printer p = {.m = m, .out = out};
  wick_text_add(out, "data @");
  wick_text_name(out, d->name);
  for (uint32_t i = 0; i < d->nctor; i++) {
    const wick_ctor *c = &d->ctor[i];
    wick_text_add(out, i ? ", " : " { ");
    if (wick_is_word(c->name))
      wick_text_add(out, c->name);
    else
      wick_text_quoted(out, c->name);
    for (uint32_t k = 0; k < c->nfield; k++) {
      wick_text_add(out, k ? ", " : "(");
      wick_print_type(&p, c->field[k]);
    }
    if (c->nfield) wick_text_char(out, ')');
  }
  wick_text_add(out, " }\n");
}

void wick_print_module(const wick_module *m, unsigned flags, wick_text *out)
{
  if (m->name && *m->name)
    wick_text_add(out, "module "), wick_text_quoted(out, m->name), wick_text_char(out, '\n');
  for (uint32_t i = 0; i < m->metadata.n; i++) {
    wick_text_add(out, "metadata ");
    wick_text_quoted(out, m->metadata.at[i].key);
    wick_text_add(out, " = ");
    wick_text_quoted(out, m->metadata.at[i].value);
    wick_text_char(out, '\n');
  }
  for (uint32_t i = 1; i < m->data.n; i++)
    if (m->data.at[i].nctor) print_data_type(m, &m->data.at[i], out);
  for (uint32_t i = 1; i < m->constants.n; i++) wick_print_constant(m, i, flags, out);
  for (uint32_t i = 0; i < m->funcs.n; i++) wick_print_func(m->funcs.at[i], flags, out);
}
