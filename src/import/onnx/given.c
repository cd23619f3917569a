/* Computes values that depend on given contents of inputs, and that are too large or too deep for
 * constant_values.c, or come from loops. The nodes that such a value needs become a function of
 * their own, which the reference evaluator executes once. Sizes and conditions that depend on the
 * value are then constants. */
#include <string.h>

#include "import/onnx/import.h"
#include "ir/copy.h"
#include "ops/evaluate.h"
#include "ops/ref.h"

/* The nodes and values that a value depends on. */
typedef struct given_slice {
  wick_onnx_context *c;
  bool *value; /* per value: it is needed */
  wick_list(wick_value) open;
} given_slice;

static bool given_any(const wick_onnx_context *c)
{
  for (uint32_t i = 0; c->options && i < c->options->ncontent; i++)
    if (c->options->fixed[i]) return true;
  return false;
}

static void given_operands(given_slice *s, const wick_node *n)
{
  for (uint32_t i = 0; i < n->nin; i++)
    if (n->in[i].id && !s->value[n->in[i].id]) {
      s->value[n->in[i].id] = true;
      wick_push(s->c->tmp, &s->open, n->in[i]);
    }
}

/* Marks the values and nodes that v needs. Returns false if one is an input, a random number, or a
 * tensor of strings. */
static bool given_mark(given_slice *s, wick_value v)
{
  const wick_builder *b = &s->c->b;
  s->value[v.id] = true;
  wick_push(s->c->tmp, &s->open, v);
  while (s->open.n) {
    v = s->open.at[--s->open.n];
    if (v.id <= b->nparam || wick_built_info(b, v)->elem == WICK_STRING) return false;
    const wick_node *n = wick_emit_definer(b, v);
    if (!n) continue; /* a parameter of a region, whose node is marked */
    for (const wick_node *k = n; k < &b->nodes.at[n->end]; k++) {
      if (wick_op_of(k)->effect == WICK_EFFECT) return false;
      given_operands(s, k);
    }
  }
  return true;
}

static bool given_needs(const given_slice *s, const wick_node *n)
{
  for (uint32_t k = 0; k < n->nout; k++)
    if (s->value[n->first.id + k]) return true;
  return false;
}

/* Builds a function of the marked nodes that returns v. */
static wick_func *given_func(given_slice *s, wick_value v)
{
  const wick_builder *b = &s->c->b;
  const wick_func all = {.module = b->module,
                         .name = b->name,
                         .level = b->level,
                         .nnode = b->nodes.n,
                         .node = b->nodes.at,
                         .nvalue = b->values.n - 1,
                         .value = b->values.at};
  wick_copier copy = wick_copy_begin(&all, s->c->tmp);
  for (uint32_t i = 0; i < all.nnode; i++) {
    const wick_node *n = &all.node[i];
    bool needed = given_needs(s, n);
    for (uint32_t k = i; needed && k < n->end; k++) wick_copy_node(&copy, &all.node[k]);
    i = n->end - 1;
  }
  wick_build_return(&copy.b, 1, &copy.to[v.id]);
  wick_func *f;
  return wick_copy_finish(&copy, &f) ? NULL : f;
}

bool wick_onnx_given_value(wick_onnx_context *c, wick_value v, wick_tensor *out)
{
  wick_builder *b = &c->b;
  const wick_type_info *t = wick_built_info(b, v);
  uint64_t nbytes;
  for (uint32_t i = 0; i < c->given.n; i++)
    if (c->given.at[i].v.id == v.id) {
      *out = c->given.at[i].value;
      return out->data != NULL;
    }
  *out = (wick_tensor){.elem = t->elem, .rank = t->rank};
  if (b->status || b->open.n || !given_any(c) || t->kind != WICK_TENSOR ||
      !wick_type_const_dims(t, out->dim) ||
      !wick_type_nbytes(c->module, wick_built_type(b, v), &nbytes))
    return false;
  given_slice s = {.c = c, .value = wick_new(c->tmp, bool, b->values.n)};
  wick_func *f = given_mark(&s, v) ? given_func(&s, v) : NULL;
  if (f) {
    wick_module_align(c->module);
    out->data = wick_arena_alloc(c->tmp, nbytes + 64, 64);
    if (!wick_evaluate_alone(f, NULL, c->tmp->guard, 1, &nbytes, out)) out->data = NULL;
  }
  wick_push(c->tmp, &c->given, (wick_onnx_given){v, *out});
  return out->data != NULL;
}
