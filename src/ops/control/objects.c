/* Data, references and function values: how they are made, and how they are taken apart. */
#include "ir/build.h"
#include "ops/gradient/grad.h"
#include "ops/tensor.h"
#include "runtime/kernel.h"

/* Checks that the operand has this kind. */
static wick_status object_is(const wick_infer *c, uint32_t operand, wick_kind kind,
                             const char *wanted)
{
  wick_type t = c->in[operand]->type;
  return wick_type_get(c->module, t)->kind == kind
             ? NULL
             : wick_infer_fail(c, WICK_ETYPE, "operand %u is %s, expected %s", operand,
                               wick_infer_type_text(c, t), wanted);
}

/* Checks that the operands from `first` on have the types want[n]; `of` says what takes them. */
static wick_status object_operands(const wick_infer *c, uint32_t first, uint32_t n,
                                   const wick_type *want, const char *of)
{
  if (c->nin - first != n)
    return wick_infer_fail(c, WICK_ETYPE, "%s takes %u values, %u are given", of, n,
                           c->nin - first);
  for (uint32_t i = 0; i < n; i++)
    if (!wick_type_eq(c->in[first + i]->type, want[i]))
      return wick_infer_fail(c, WICK_ETYPE, "operand %u is %s, but %s takes %s", first + i,
                             wick_infer_type_text(c, c->in[first + i]->type), of,
                             wick_infer_type_text(c, want[i]));
  return NULL;
}

static wick_status object_results(wick_infer *c, uint32_t n, const wick_type *type)
{
  for (uint32_t i = 0; i < n; i++) c->out[i].type = type[i];
  c->nout = n;
  return NULL;
}

/* ---- data ---- */

static wick_status construct_infer(wick_infer *c)
{
  int64_t i = c->attr[WICK_ATTR_construct_ctor].i, reuse = c->attr[WICK_ATTR_construct_reuse].i;
  if (wick_type_get(c->module, c->want[0])->kind != WICK_DATA)
    return wick_infer_fail(c, WICK_ETYPE, "the result is %s, expected a data type",
                           wick_infer_type_text(c, c->want[0]));
  const wick_data *d = wick_data_get(c->module, c->want[0]);
  if (i >= d->nctor)
    return wick_infer_fail(c, WICK_ERANGE, "constructor %lld of @%s, which has %u", (long long)i,
                           d->name, d->nctor);
  if (reuse &&
      (!c->nin || !wick_type_eq(c->in[0]->type, wick_type_tensor(c->module, WICK_I64, 0, NULL))))
    return wick_infer_fail(c, WICK_ETYPE, "the first operand is no memory to reuse, an i64[]");
  return object_operands(c, reuse != 0, d->ctor[i].nfield, d->ctor[i].field, d->ctor[i].name);
}

const wick_op wick_op_construct = {
    .name = "construct",
    .doc = "A value of a data type: constructor `ctor`, counted from 0, with its fields. With "
           "`reuse` the first operand is memory for it, a result of `object_take`",
    .nin = {0, WICK_ANY},
    .nout = {1, 1},
    .attr = {{"ctor", WICK_ATTR_INT, 0, true, NULL, 0, 0xffff},
             {"reuse", WICK_ATTR_BOOL, 0, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .typed = true,
    .objects = true,
    .infer = construct_infer,
    .grad = wick_grad_construct,
};

static wick_status switch_region(wick_infer *c, uint32_t r, const wick_ctor *k)
{
  if (c->nregionparam[r] != k->nfield)
    return wick_infer_fail(c, WICK_ETYPE, "the region of %s takes %u values, it has %u fields",
                           k->name, c->nregionparam[r], k->nfield);
  for (uint32_t i = 0; i < k->nfield; i++)
    if (!wick_type_eq(c->param[r][i], k->field[i]))
      return wick_infer_fail(c, WICK_ETYPE, "field %u of %s is %s, but its region takes %s", i,
                             k->name, wick_infer_type_text(c, k->field[i]),
                             wick_infer_type_text(c, c->param[r][i]));
  if (c->nyield[r] != c->nyield[0])
    return wick_infer_fail(c, WICK_ETYPE, "regions yield %u and %u values", c->nyield[0],
                           c->nyield[r]);
  for (uint32_t i = 0; i < c->nyield[r]; i++)
    if (!wick_type_eq(c->yield[r][i], c->yield[0][i]))
      return wick_infer_fail(c, WICK_ETYPE, "value %u is %s in the region of %s, and %s before it",
                             i, wick_infer_type_text(c, c->yield[r][i]), k->name,
                             wick_infer_type_text(c, c->yield[0][i]));
  return NULL;
}

static wick_status switch_infer(wick_infer *c)
{
  WICK_TRY(object_is(c, 0, WICK_DATA, "a data type"));
  const wick_data *d = wick_data_get(c->module, c->in[0]->type);
  if (c->nregion != d->nctor)
    return wick_infer_fail(c, WICK_ETYPE, "@%s has %u constructors, but there are %u regions",
                           d->name, d->nctor, c->nregion);
  if (c->attr[WICK_ATTR_switch_only].i >= d->nctor)
    return wick_infer_fail(c, WICK_ERANGE, "only is %lld, but @%s has %u constructors",
                           (long long)c->attr[WICK_ATTR_switch_only].i, d->name, d->nctor);
  for (uint32_t r = 0; r < c->nregion; r++) WICK_TRY(switch_region(c, r, &d->ctor[r]));
  return object_results(c, c->nyield[0], c->yield[0]);
}

const wick_op wick_op_switch = {
    .name = "switch",
    .doc = "Runs the region of the operand's constructor and gives the values that it yields. "
           "There is one region for each constructor, in order; its parameters are the fields. "
           "`only` is the constructor that the operand surely has, or -1",
    .nin = {1, 1},
    .nout = {0, WICK_ANY},
    .nregion = {1, WICK_ANY},
    .attr = {{"only", WICK_ATTR_INT, -1, false, NULL, -1, 0xffff}},
    .level = WICK_GRAPH,
    .objects = true,
    .infer = switch_infer,
    .grad = wick_grad_none,
};

/* ---- references ---- */

static wick_status ref_new_infer(wick_infer *c)
{
  wick_type *item = wick_new(c->mem, wick_type, c->nin);
  for (uint32_t i = 0; i < c->nin; i++) {
    item[i] = c->in[i]->type;
    if (!wick_type_is_held(c->module, item[i]))
      return wick_infer_fail(c, WICK_ETYPE, "a reference cannot hold %s",
                             wick_infer_type_text(c, item[i]));
  }
  c->out[0].type = wick_type_ref(c->module, c->nin, item);
  return NULL;
}

const wick_op wick_op_ref_new = {
    .name = "ref_new",
    .doc = "A new reference that holds the operands",
    .nin = {0, WICK_ANY},
    .nout = {1, 1},
    .level = WICK_GRAPH,
    .effect = WICK_EFFECT,
    .objects = true,
    .infer = ref_new_infer,
    .grad = wick_grad_none,
};

static wick_status ref_get_infer(wick_infer *c)
{
  WICK_TRY(object_is(c, 0, WICK_REF, "a reference"));
  const wick_type_info *t = wick_type_get(c->module, c->in[0]->type);
  return object_results(c, t->nitem, t->item);
}

const wick_op wick_op_ref_get = {
    .name = "ref_get",
    .doc = "The values that a reference holds now",
    .nin = {1, 1},
    .nout = {0, WICK_ANY},
    .level = WICK_GRAPH,
    .effect = WICK_EFFECT,
    .objects = true,
    .infer = ref_get_infer,
    .grad = wick_grad_none,
};

static wick_status ref_set_infer(wick_infer *c)
{
  WICK_TRY(object_is(c, 0, WICK_REF, "a reference"));
  const wick_type_info *t = wick_type_get(c->module, c->in[0]->type);
  return object_operands(c, 1, t->nitem, t->item, "the reference");
}

const wick_op wick_op_ref_set = {
    .name = "ref_set",
    .doc = "Makes a reference hold the other operands",
    .nin = {1, WICK_ANY},
    .level = WICK_GRAPH,
    .effect = WICK_EFFECT,
    .objects = true,
    .infer = ref_set_infer,
    .grad = wick_grad_none,
};

/* ---- function values ---- */

static wick_status closure_infer(wick_infer *c)
{
  const wick_func *f = c->callee;
  const wick_type_info *t = wick_type_get(c->module, c->want[0]);
  if (t->kind != WICK_FN)
    return wick_infer_fail(c, WICK_ETYPE, "the result is %s, expected fn<...>",
                           wick_infer_type_text(c, c->want[0]));
  for (uint32_t i = 0; i < c->nin; i++)
    if (!wick_type_is_held(c->module, c->in[i]->type))
      return wick_infer_fail(c, WICK_ETYPE, "a function value cannot hold %s",
                             wick_infer_type_text(c, c->in[i]->type));
  if (!f) return NULL; /* it is defined later: the verifier checks the node */
  const wick_node *r = wick_return(f);
  uint32_t ngive = t->nitem - t->ntake;
  if (f->level != WICK_GRAPH) return wick_infer_fail(c, WICK_ETYPE, "@%s is not a graph", f->name);
  if (f->nparam != c->nin + t->ntake || r->nin != ngive)
    return wick_infer_fail(c, WICK_ETYPE,
                           "@%s takes %u values and gives %u; with %u captured, %s needs %u and %u",
                           f->name, f->nparam, r->nin, c->nin, wick_infer_type_text(c, c->want[0]),
                           c->nin + t->ntake, ngive);
  for (uint32_t i = 0; i < f->nparam; i++) {
    wick_type have = i < c->nin ? c->in[i]->type : t->item[i - c->nin];
    if (!wick_type_eq(f->value[i + 1].type, have))
      return wick_infer_fail(c, WICK_ETYPE, "parameter %u of @%s is %s, expected %s", i, f->name,
                             wick_infer_type_text(c, f->value[i + 1].type),
                             wick_infer_type_text(c, have));
  }
  for (uint32_t i = 0; i < ngive; i++)
    if (!wick_type_eq(wick_type_of(f, r->in[i]), t->item[t->ntake + i]))
      return wick_infer_fail(c, WICK_ETYPE, "result %u of @%s is %s, expected %s", i, f->name,
                             wick_infer_type_text(c, wick_type_of(f, r->in[i])),
                             wick_infer_type_text(c, t->item[t->ntake + i]));
  return NULL;
}

const wick_op wick_op_closure = {
    .name = "closure",
    .doc = "A function value: the function `callee`, whose first parameters are the operands",
    .nin = {0, WICK_ANY},
    .nout = {1, 1},
    .attr = {{"callee", WICK_ATTR_FUNC, 0, true, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .typed = true,
    .objects = true,
    .infer = closure_infer,
    .grad = wick_grad_none,
};

static wick_status apply_infer(wick_infer *c)
{
  WICK_TRY(object_is(c, 0, WICK_FN, "a function"));
  const wick_type_info *t = wick_type_get(c->module, c->in[0]->type);
  WICK_TRY(object_operands(c, 1, t->ntake, t->item, "the function"));
  return object_results(c, t->nitem - t->ntake, t->item + t->ntake);
}

const wick_op wick_op_apply = {
    .name = "apply",
    .doc = "Calls a function value with the other operands and gives its results",
    .nin = {1, WICK_ANY},
    .nout = {0, WICK_ANY},
    .level = WICK_GRAPH,
    .effect = WICK_EFFECT,
    .objects = true,
    .infer = apply_infer,
    .grad = wick_grad_none,
};

/* ---- what a program says ---- */

/* The operands that were strings and are numbers of them now (graph/intern_strings.h). */
#define OBJECTS_STRINGS                                                                            \
  {                                                                                                \
    "strings", WICK_ATTR_INTS, 0, false, NULL, 0, WICK_SAID_MOST                                   \
  }

/* Checks that `text` has `{}` for each of the operands from `first` on, or no `{}` at all. */
static wick_status said_infer(const wick_infer *c, uint32_t first, const char *text)
{
  uint32_t n = 0;
  for (const char *at = text; *at; at++) n += at[0] == '{' && at[1] == '}';
  return n == 0 || n == c->nin - first
             ? NULL
             : wick_infer_fail(c, WICK_ETYPE, "the text has %u times {}, for %u values", n,
                               c->nin - first);
}

static wick_status assert_infer(wick_infer *c)
{
  const wick_type_info *t = wick_type_get(c->module, c->in[0]->type);
  if (t->kind != WICK_TENSOR || t->rank || t->elem != WICK_BOOL)
    return wick_infer_fail(c, WICK_ETYPE, "the condition is %s, expected bool[]",
                           wick_infer_type_text(c, c->in[0]->type));
  return said_infer(c, 1, c->attr[WICK_ATTR_assert_message].s);
}

const wick_op wick_op_assert = {
    .name = "assert",
    .doc = "Fails the run if the first operand is false. The message says so; each {} in it stands "
           "for one of the other operands, which come after it if it has no {}",
    .nin = {1, WICK_ANY},
    .attr = {{"message", WICK_ATTR_STRING, 0, false, NULL, 0, 0}, OBJECTS_STRINGS},
    .level = WICK_GRAPH,
    .effect = WICK_EFFECT,
    .objects = true,
    .infer = assert_infer,
    .grad = wick_grad_zero,
};

static wick_status print_infer(wick_infer *c)
{
  return said_infer(c, 0, c->attr[WICK_ATTR_print_text].s);
}

const wick_op wick_op_print = {
    .name = "print",
    .doc = "Writes a line: the text, in which each {} stands for one of the operands; they come "
           "after it, with spaces between, if it has no {}. `to` says whether the line ends; a "
           "message is that of the next assertion",
    .nin = {0, WICK_ANY},
    .attr = {{"text", WICK_ATTR_STRING, 0, false, NULL, 0, 0},
             OBJECTS_STRINGS,
             {"to", WICK_ATTR_ENUM, 0, false, WICK_SAY_WORDS, 0, 0}},
    .level = WICK_GRAPH,
    .effect = WICK_EFFECT,
    .objects = true,
    .infer = print_infer,
    .grad = wick_grad_zero,
};
