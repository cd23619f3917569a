/* Scopes, arguments, operations and blocks of ML programs. Begin with wick_mil_block_run. */
#include <string.h>

#include "import/coreml/program/state.h"

/* ---- scopes ---- */

wick_mil_scope *wick_mil_enter(wick_import *c)
{
  wick_mil *m = wick_mil_of(c);
  wick_mil_scope *back = m->scope, *s = wick_new(c->tmp, wick_mil_scope, 1);
  s->names = wick_names_begin(c->tmp);
  wick_push(c->tmp, &s->items, (wick_mil_item){0}); /* names count from 1 */
  s->around = back;
  m->scope = s;
  return back;
}

void wick_mil_bind(wick_import *c, wick_span name, wick_mil_item item, const char *location)
{
  wick_mil_scope *s = wick_mil_of(c)->scope;
  uint32_t id = wick_names_add(&s->names, (const char *)name.at, name.nbytes);
  if (id == s->items.n)
    wick_push(c->tmp, &s->items, item);
  else
    wick_import_error(c, WICK_EPARSE, location, "the name \"%s\" is defined twice",
                      wick_import_shown(c, wick_wire_text(c->tmp, name)));
}

static const wick_mil_item *graph_find(const wick_import *c, wick_span name)
{
  for (const wick_mil_scope *s = wick_mil_of(c)->scope; s && name.nbytes; s = s->around) {
    uint32_t id = wick_names_find(&s->names, (const char *)name.at, name.nbytes);
    if (id) return &s->items.at[id];
  }
  return NULL;
}

/* The item of a name; BROKEN after an error if it is not defined. */
static wick_mil_item graph_read(wick_import *c, wick_span name, const char *location)
{
  const wick_mil_item *found = graph_find(c, name);
  if (found) return *found;
  wick_import_error(c, WICK_EPARSE, location, "it reads \"%s\", which is not defined before it",
                    wick_import_shown(c, wick_wire_text(c->tmp, name)));
  return (wick_mil_item){0};
}

/* ---- arguments ---- */

const wick_mil_arg *wick_mil_arg_find(const wick_import_node *n, const char *name)
{
  const wick_mil_op *o = wick_mil_op_of(n);
  for (uint32_t i = 0; i < o->narg; i++)
    if (wick_span_is(o->arg[i].name, name)) return &o->arg[i];
  return NULL;
}

static wick_mil_arg graph_arg(wick_import *c, const wick_mil_input *in, const char *name,
                              const char *location)
{
  size_t n = in->value ? in->value->bindings.n : 0;
  wick_mil_arg a = {in->key, (uint32_t)n, wick_new(c->tmp, wick_mil_item, n + 1)};
  for (size_t k = 0; k < n; k++) {
    const wick_mil_binding *b = &in->value->bindings.at[k];
    a.item[k] = b->value ? wick_mil_constant(c, b->value,
                                             wick_str_printf(c->tmp, "%s.%s", name,
                                                             wick_wire_text(c->tmp, in->key)),
                                             location)
                         : graph_read(c, b->name, location);
  }
  return a;
}

/* Finds the items of all arguments; constant weights are arguments among the attributes, too.
 * Returns false if one of them is broken. */
static bool graph_args(wick_import *c, const wick_mil_operation *def, const char *name,
                       const char *location, wick_mil_op *o)
{
  wick_mil_arg *arg = wick_new(c->tmp, wick_mil_arg, def->inputs.n + def->attributes.n + 1);
  bool good = true;
  for (size_t i = 0; i < def->inputs.n; i++)
    arg[o->narg++] = graph_arg(c, &def->inputs.at[i], name, location);
  for (size_t i = 0; i < def->attributes.n; i++) {
    const wick_mil_attr *a = &def->attributes.at[i];
    if (!a->value || wick_span_is(a->key, "name")) continue;
    wick_mil_item *item = wick_new(c->tmp, wick_mil_item, 1);
    const char *label =
        wick_span_is(a->key, "val")
            ? name
            : wick_str_printf(c->tmp, "%s.%s", name, wick_wire_text(c->tmp, a->key));
    *item = wick_mil_constant(c, a->value, label, location);
    arg[o->narg++] = (wick_mil_arg){a->key, 1, item};
  }
  for (uint32_t i = 0; i < o->narg; i++)
    for (uint32_t k = 0; k < arg[i].n; k++) good = good && arg[i].item[k].kind != WICK_MIL_BROKEN;
  o->arg = arg;
  return good;
}

/* The operands that the row declares, in its order. Returns false after an error. */
static bool graph_operands(wick_import *c, const wick_mil_op *o, const wick_import_op *row,
                           const char *location, uint32_t *nin, wick_value **out)
{
  uint32_t most = 0;
  bool good = true;
  for (uint32_t i = 0; i < o->narg; i++) most += o->arg[i].n;
  wick_value *in = *out = wick_new(c->tmp, wick_value, most + 32u);
  const wick_import_node n = {.c = c, .data = o};
  *nin = 0;
  for (const char *at = row && row->attrs ? row->attrs : ""; *at;) {
    size_t size = strcspn(at, ":");
    char kind = at[size + 1];
    const char *name = wick_str_dupn(c->tmp, at, size);
    const wick_mil_arg *a = kind == 'v' || kind == 'V' ? wick_mil_arg_find(&n, name) : NULL;
    uint32_t count = kind == 'v' ? 1 : a ? a->n : 0;
    for (uint32_t k = 0; k < count && (a || kind == 'v'); k++) {
      const wick_mil_item *item = a && a->n ? &a->item[k] : NULL;
      in[(*nin)++] = item ? item->v : (wick_value){0};
      if (!item || item->kind == WICK_MIL_TENSOR || item->kind == WICK_MIL_BROKEN) continue;
      wick_import_error(c, WICK_ETYPE, location, "the argument \"%s\" is no tensor", name);
      good = false;
    }
    at += strcspn(at, " ");
    while (*at == ' ') at++;
  }
  return good;
}

/* ---- operations ---- */

static const char *graph_name(wick_import *c, const wick_mil_operation *def)
{
  for (size_t i = 0; i < def->attributes.n; i++) {
    const wick_mil_value *v = def->attributes.at[i].value;
    const wick_mil_tensor *t = v && v->immediate ? v->immediate->tensor : NULL;
    if (wick_span_is(def->attributes.at[i].key, "name") && t && t->strings &&
        t->strings->values.n == 1)
      return wick_wire_text(c->tmp, t->strings->values.at[0]);
  }
  return def->outputs.n ? wick_wire_text(c->tmp, def->outputs.at[0].name) : "";
}

static void graph_operation(wick_import *c, const wick_mil_operation *def)
{
  const char *type = wick_wire_text(c->tmp, def->type);
  const char *name = graph_name(c, def), *location = wick_import_place(c, name, type);
  size_t nout = def->outputs.n;
  wick_mil_item *item = wick_new(c->tmp, wick_mil_item, nout + 1);
  wick_value *out = wick_new(c->tmp, wick_value, nout + 1);
  wick_mil_op o = {.def = def, .out = item};
  int opset = wick_mil_of(c)->opset;
  const wick_import_op *row = wick_import_op_find(c->format, type, opset);
  uint32_t nin;
  bool good = graph_args(c, def, name, location, &o);
  wick_value *in;
  good = graph_operands(c, &o, row, location, &nin, &in) && good;
  bool ran = wick_import_run(c, type, opset, name, &o, nin, in, !good, (uint32_t)nout, out);
  for (size_t k = 0; k < nout; k++) {
    wick_span label = def->outputs.at[k].name;
    if (!ran)
      item[k] = (wick_mil_item){0};
    else if (item[k].kind == WICK_MIL_BROKEN)
      item[k] = wick_mil_tensor_item(out[k]);
    const wick_node *made = item[k].v.id ? wick_emit_definer(&c->b, item[k].v) : NULL;
    if (made && made->op != WICK_OP_const && item[k].kind == WICK_MIL_TENSOR &&
        !c->b.values.at[item[k].v.id].name)
      wick_import_name(c, item[k].v, wick_wire_text(c->tmp, label));
    wick_mil_bind(c, label, item[k], location);
  }
}

/* ---- blocks ---- */

bool wick_mil_block_run(wick_import *c, const wick_mil_block *block, uint32_t nin,
                        const wick_mil_item *in, uint32_t nout, wick_mil_item *out)
{
  const char *location = c->outer ? c->outer : c->file;
  wick_mil_scope *back = wick_mil_enter(c);
  uint32_t before = c->errors.list.n + c->errors.more;
  for (size_t k = 0; k < block->inputs.n && k < nin; k++)
    wick_mil_bind(c, block->inputs.at[k].name, in[k], location);
  for (size_t k = 0; k < block->operations.n && !c->over; k++)
    graph_operation(c, &block->operations.at[k]);
  if (block->outputs.n != nout)
    wick_import_error(c, WICK_EPARSE, location, "a block has %zu outputs, expected %u",
                      block->outputs.n, nout);
  for (uint32_t k = 0; k < nout && k < block->outputs.n; k++)
    out[k] = graph_read(c, block->outputs.at[k], location);
  wick_mil_of(c)->scope = back;
  return !c->over && c->errors.list.n + c->errors.more == before;
}
