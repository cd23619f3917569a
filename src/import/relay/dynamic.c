/* Operators whose sizes are operands: where these are constants, `dyn.NAME` is NAME with attributes, as TVM's pass
 * DynamicToStatic makes it. */
#include "import/relay/state.h"
#include "import/relay/table.h"

enum { DYNAMIC_OPERANDS = 4 };

/* The attributes that operands become; NULL: it stays an operand. */
static const struct {
  const char *name, *attr[DYNAMIC_OPERANDS];
} dynamic_rows[] = {
    {"dyn.broadcast_to", {NULL, "shape"}},
    {"dyn.expand_dims", {NULL, "axis"}},
    {"dyn.full", {NULL, "shape"}},
    {"dyn.image.resize2d", {NULL, "size", "roi"}},
    {"dyn.nn.pad", {NULL, "pad_width"}},
    {"dyn.nn.upsampling", {NULL, "scale_h", "scale_w"}},
    {"dyn.nn.upsampling3d", {NULL, "scale_d", "scale_h", "scale_w"}},
    {"dyn.one_hot", {NULL, NULL, NULL, "depth"}},
    {"dyn.ones", {"shape"}},
    {"dyn.reshape", {NULL, "newshape"}},
    {"dyn.sparse_to_dense", {NULL, "output_shape"}},
    {"dyn.squeeze", {NULL, "axis"}},
    {"dyn.strided_slice", {NULL, "begin", "end", "strides"}},
    {"dyn.tile", {NULL, "reps"}},
    {"dyn.topk", {NULL, "k"}},
    {"dyn.zeros", {"shape"}},
};

static wick_ast *dynamic_number(relay_parser *p, uint32_t begin, const wick_tensor *t, uint64_t i)
{
  bool real = wick_elem_is_float(t->elem);
  wick_ast *n = wick_relay_node(p, real ? WICK_AST_FLOAT : WICK_AST_INT, begin, 0, NULL);
  if (real)
    n->f = wick_load_elem(t->elem, t->data, i).f;
  else
    wick_relay_set_int(n, wick_load_elem(t->elem, t->data, i).i);
  return n;
}

static wick_ast *dynamic_list(relay_parser *p, uint32_t begin, const wick_tensor *t, uint64_t from,
                              int64_t count)
{
  relay_nodes items = {0};
  for (int64_t i = 0; i < count; i++)
    wick_push(p->mem, &items, dynamic_number(p, begin, t, from + (uint64_t)i));
  return wick_relay_node(p, WICK_AST_TUPLE, begin, items.n, items.at);
}

/* The numbers of a constant of at most two axes as the value of an attribute; NULL: it is none. */
static wick_ast *dynamic_value(relay_parser *p, uint32_t begin, const wick_ast *x)
{
  if (x->kind == WICK_AST_INT || x->kind == WICK_AST_FLOAT) {
    wick_ast *n = wick_relay_node(p, x->kind, begin, 0, NULL);
    wick_relay_set_int(n, x->i);
    n->f = x->f;
    return n;
  }
  if (x->kind != WICK_AST_TENSOR || x->tensor->rank > 2) return NULL;
  const wick_tensor *t = x->tensor;
  int64_t rows = t->rank > 0 ? t->dim[0] : 1, columns = t->rank > 1 ? t->dim[1] : 1;
  if (rows > RELAY_MOST_INTS || columns > RELAY_MOST_INTS) return NULL;
  if (t->rank == 0) return dynamic_number(p, begin, t, 0);
  if (t->rank == 1) return dynamic_list(p, begin, t, 0, rows);
  relay_nodes items = {0};
  for (int64_t i = 0; i < rows; i++)
    wick_push(p->mem, &items, dynamic_list(p, begin, t, (uint64_t)(i * columns), columns));
  return wick_relay_node(p, WICK_AST_TUPLE, begin, items.n, items.at);
}

static bool dynamic_names(const char *const *attr, const wick_ast *n)
{
  for (int k = 0; k < DYNAMIC_OPERANDS; k++)
    if (attr[k] && strcmp(attr[k], n->name) == 0) return true;
  return false;
}

const char *wick_relay_static(relay_parser *p, uint32_t begin, const char *name,
                              const relay_nodes *args, relay_nodes *out)
{
  const char *const *attr = NULL;
  for (size_t i = 0; i < WICK_COUNT(dynamic_rows); i++)
    if (strcmp(dynamic_rows[i].name, name) == 0) attr = dynamic_rows[i].attr;
  if (!attr) return NULL;
  for (uint32_t i = 0, k = 0; i < args->n; i++) {
    wick_ast *x = args->at[i];
    bool operand = x->kind != WICK_AST_NAMED;
    if (!operand && dynamic_names(attr, x)) continue; /* what the type says of it */
    const char *becomes = operand && k < DYNAMIC_OPERANDS ? attr[k] : NULL;
    k += operand;
    if (becomes) {
      wick_ast *value = dynamic_value(p, begin, x);
      if (!value) return NULL;
      x = wick_relay_named(p, WICK_AST_NAMED, begin, becomes, 1, &value);
    }
    wick_push(p->mem, out, x);
  }
  return name + strlen("dyn.");
}
