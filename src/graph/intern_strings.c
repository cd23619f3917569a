/* Interns strings: copies all graphs of the module with i64 instead of string types. */
#include "graph/intern_strings.h"

#include <string.h>

#include "ir/copy.h"
#include "ir/op.h"

/* Returns the type with i64 for strings, also inside of references, functions and tuples. */
static wick_type intern_strings_type(wick_module *m, wick_type type)
{
  const wick_type_info t = *wick_type_get(m, type);
  if (t.kind == WICK_TENSOR && t.elem == WICK_STRING) return wick_type_with_elem(m, type, WICK_I64);
  if (t.kind != WICK_REF && t.kind != WICK_FN && t.kind != WICK_TUPLE) return type;
  wick_type_info to = t;
  wick_type *item = wick_dup(&m->mem, wick_type, t.item, t.nitem);
  for (uint32_t k = 0; k < t.nitem; k++) item[k] = intern_strings_type(m, item[k]);
  to.item = item;
  return wick_type_intern(m, &to);
}

static wick_type intern_strings_of(const wick_func *f, wick_value v)
{
  return intern_strings_type(f->module, wick_type_of(f, v));
}

static wick_type intern_strings_retype(const wick_copier *c, wick_value old)
{
  return intern_strings_of(c->f, old);
}

static bool intern_strings_changes(const wick_func *f, wick_value v)
{
  return v.id && !wick_type_eq(intern_strings_of(f, v), wick_type_of(f, v));
}

static void intern_strings_name(wick_copier *c, wick_value from, wick_value to)
{
  const wick_value_info *info = &c->f->value[from.id];
  c->to[from.id] = to;
  wick_build_name(&c->b, to, info->name, info->relation);
}

/* Copies a constant, whose bytes already are numbers. */
static void intern_strings_const(wick_copier *c, const wick_node *n)
{
  wick_module *m = c->f->module;
  wick_type type = intern_strings_of(c->f, n->first);
  const wick_imm *imm = wick_const_imm(n);
  c->b.loc = n->loc;
  if (!imm->constant) {
    intern_strings_name(c, n->first, wick_build_const(&c->b, type, 0, imm->i));
    return;
  }
  const wick_constant old = *wick_constant_get(m, imm->constant);
  uint32_t k = wick_constant_add(m, old.name, type, old.data, old.nbytes);
  intern_strings_name(c, n->first, wick_build_constant(&c->b, k));
}

/* Copies a node whose result types are stated, with i64 for strings. */
static void intern_strings_typed(wick_copier *c, const wick_node *n)
{
  wick_value *in = wick_new(c->b.mem, wick_value, n->nin + 1u);
  wick_type *want = wick_new(c->b.mem, wick_type, n->nout + 1u);
  for (uint32_t k = 0; k < n->nin; k++) in[k] = c->to[n->in[k].id];
  for (uint32_t k = 0; k < n->nout; k++)
    want[k] = intern_strings_of(c->f, (wick_value){n->first.id + k});
  c->b.loc = n->loc;
  wick_value v = wick_build(&c->b, n->op, n->nin, in, n->nattr ? n->attr : NULL, n->nout, want);
  for (uint32_t k = 0; k < n->nout; k++)
    intern_strings_name(c, (wick_value){n->first.id + k}, (wick_value){v.id + k});
}

/* ---- what a program says ---- */

static bool intern_strings_says(const wick_node *n)
{
  return n->op == WICK_OP_print || n->op == WICK_OP_assert;
}

/* The string of a constant of rank 0. */
static wick_string intern_strings_literal(const wick_func *f, const wick_node *n)
{
  const wick_imm *imm = wick_const_imm(n);
  int64_t number = imm->i;
  if (imm->constant)
    memcpy(&number, wick_constant_get(f->module, imm->constant)->data, sizeof number);
  return wick_string_table_get(&f->module->strings, number);
}

/* Copies a node that says something. `literal` has the constants of rank 0: they become a part of
 * its text, unless they would read as places of values. Of other strings the node knows that they
 * are numbers of strings. */
static wick_status intern_strings_say(wick_copier *c, const wick_node *n,
                                      const wick_node *const *literal)
{
  bool asserts = n->op == WICK_OP_assert;
  int key = asserts ? WICK_ATTR_assert_message : WICK_ATTR_print_text;
  wick_list(int64_t) strings = {0};
  const char *text = n->attr[key].s, *place = strstr(text, "{}");
  wick_text out = wick_text_begin(c->b.mem);
  wick_value *in = wick_new(c->b.mem, wick_value, n->nin + 1u);
  uint32_t kept = 0;
  if (!place) wick_text_add(&out, text);
  for (uint32_t k = 0; k < n->nin; k++) {
    bool condition = asserts && k == 0;
    if (place && !condition) {
      wick_text_addn(&out, text, (size_t)(place - text));
      text = place + 2;
      place = strstr(text, "{}");
    } else if (!condition && out.n) {
      wick_text_char(&out, ' ');
    }
    bool string = intern_strings_changes(c->f, n->in[k]);
    const wick_node *constant = literal[n->in[k].id];
    wick_string s = {0};
    if (string && constant) s = intern_strings_literal(c->f, constant);
    if (string && constant && !(s.nbytes && memmem(s.at, s.nbytes, "{}", 2))) {
      wick_text_printf(&out, "\"%.*s\"", (int)s.nbytes, s.at);
      continue;
    }
    if (string) wick_push(c->b.mem, &strings, kept);
    if (!condition) wick_text_add(&out, "{}");
    in[kept++] = c->to[n->in[k].id];
  }
  if (strstr(n->attr[key].s, "{}")) wick_text_add(&out, text);
  wick_attr *attr = wick_dup(c->b.mem, wick_attr, n->attr, n->nattr);
  attr[key].s = wick_intern(c->f->module, out.at);
  wick_attr *numbers = &attr[asserts ? WICK_ATTR_assert_strings : WICK_ATTR_print_strings];
  numbers->n = strings.n, numbers->ints = strings.at;
  c->b.loc = n->loc;
  wick_build(&c->b, n->op, kept, in, attr, 0, NULL);
  return c->b.status;
}

static wick_copier intern_strings_begin(const wick_func *f, wick_arena *mem)
{
  wick_copier c = {
      .f = f, .to = wick_new(mem, wick_value, f->nvalue + 1), .retype = intern_strings_retype};
  wick_build_begin(&c.b, f->module, f->level, f->name, mem);
  wick_build_keep_constraints(&c.b, f);
  for (uint32_t p = 1; p <= f->nparam; p++) {
    wick_value from = {p};
    intern_strings_name(&c, from,
                        wick_build_param(&c.b, intern_strings_of(f, from), f->qual[p - 1], NULL));
  }
  return c;
}

static wick_status intern_strings_func(const wick_func *f, wick_arena *mem, wick_func **out)
{
  wick_copier c = intern_strings_begin(f, mem);
  const wick_node **literal = wick_new(mem, const wick_node *, f->nvalue + 1);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    bool text = false;
    for (uint32_t k = 0; k < n->nin; k++) text = text || intern_strings_changes(f, n->in[k]);
    for (uint32_t k = 0; k < n->nout; k++)
      text = text || intern_strings_changes(f, (wick_value){n->first.id + k});
    if (text && n->op == WICK_OP_const && !wick_info_of(f, n->first)->rank)
      literal[n->first.id] = n;
    if (text && n->op == WICK_OP_const)
      intern_strings_const(&c, n);
    else if (text && intern_strings_says(n))
      WICK_TRY(intern_strings_say(&c, n, literal));
    else if (text && wick_op_of(n)->typed)
      intern_strings_typed(&c, n);
    else
      wick_copy_node(&c, n);
  }
  return wick_copy_finish(&c, out);
}

static bool intern_strings_any(const wick_module *m)
{
  bool any = false;
  for (uint32_t i = 0; i < m->funcs.n && !any; i++) {
    const wick_func *f = m->funcs.at[i];
    for (uint32_t v = 1; f->level == WICK_GRAPH && v <= f->nvalue && !any; v++)
      any = intern_strings_changes(f, (wick_value){v});
  }
  return any;
}

/* Declares f with its new types, so that calls of it can be built. */
static void intern_strings_declare(const wick_func *f, wick_arena *mem)
{
  const wick_node *r = wick_return(f);
  wick_type *take = wick_new(mem, wick_type, f->nparam + 1),
            *give = wick_new(mem, wick_type, r->nin + 1u);
  for (uint32_t i = 0; i < f->nparam; i++) take[i] = intern_strings_of(f, (wick_value){1 + i});
  for (uint32_t i = 0; i < r->nin; i++) give[i] = intern_strings_of(f, r->in[i]);
  wick_module_set(f->module, wick_func_head(f->module, f->level, f->name, f->nparam, take, f->qual,
                                            r->nin, give, mem));
}

static void intern_strings_data(wick_module *m, wick_arena *tmp)
{
  for (uint32_t d = 1; d < m->data.n; d++) {
    const wick_data old = m->data.at[d];
    wick_ctor *ctor = wick_dup(tmp, wick_ctor, old.ctor, old.nctor);
    for (uint32_t c = 0; c < old.nctor; c++) {
      wick_type *field = wick_dup(tmp, wick_type, ctor[c].field, ctor[c].nfield);
      for (uint32_t k = 0; k < ctor[c].nfield; k++) field[k] = intern_strings_type(m, field[k]);
      ctor[c].field = field;
    }
    if (old.nctor) wick_data_define(m, old.type, old.nctor, ctor);
  }
}

wick_status wick_pass_intern_strings(const wick_pass_context *pass, const wick_func *f,
                                     wick_func **out)
{
  wick_module *m = f->module;
  uint32_t n = m->funcs.n, first = 0;
  const wick_func **all = wick_dup(pass->tmp, const wick_func *, m->funcs.at, n);
  while (all[first]->level != WICK_GRAPH) first++;
  *out = (wick_func *)(uintptr_t)f;
  /* all graphs are copied when it is the first one's turn */
  if (all[first] != f || !intern_strings_any(m)) return NULL;
  intern_strings_data(m, pass->tmp);
  for (uint32_t i = 0; i < n; i++)
    if (all[i]->level == WICK_GRAPH) intern_strings_declare(all[i], pass->mem);
  for (uint32_t i = 0; i < n; i++) {
    if (all[i]->level != WICK_GRAPH) continue;
    wick_func *made;
    WICK_TRY(intern_strings_func(all[i], pass->mem, &made));
    wick_module_set(m, made);
  }
  *out = (wick_func *)(uintptr_t)wick_module_find(m, f->name);
  return NULL;
}
