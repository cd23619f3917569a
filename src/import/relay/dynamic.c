/* Operators whose sizes are operands: where these are constants, or computed from constants and from sizes of
 * parameters, `dyn.NAME` is NAME with attributes, as TVM's pass DynamicToStatic makes it. */
#include "import/relay/state.h"
#include "import/relay/table.h"
#include "lang/program.h"

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

/* ---- numbers that are known ---- */

typedef struct dynamic_numbers {
  bool list; /* an axis; otherwise there is one number */
  uint32_t n;
  int64_t at[RELAY_MOST_INTS];
} dynamic_numbers;

static bool dynamic_eval(relay_parser *p, const wick_ast *x, dynamic_numbers *out);

static const wick_ast *dynamic_attr(const wick_ast *call, const char *name)
{
  for (uint32_t i = 1; i < call->nkid; i++)
    if (call->kid[i]->kind == WICK_AST_NAMED && strcmp(call->kid[i]->name, name) == 0)
      return call->kid[i]->kid[0];
  return NULL;
}

/* The only number of an attribute, or `otherwise`. */
static int64_t dynamic_attr_int(const wick_ast *call, const char *name, int64_t otherwise)
{
  const wick_ast *n = dynamic_attr(call, name);
  if (n && n->kind == WICK_AST_TUPLE && n->nkid == 1) n = n->kid[0];
  return !n ? otherwise : n->kind == WICK_AST_INT ? n->i : INT64_MIN;
}

/* The sizes of a parameter, if its type says them all. */
static bool dynamic_shape(relay_parser *p, const wick_ast *x, dynamic_numbers *out)
{
  const wick_ast *param = x->kind == WICK_AST_NAME ? wick_relay_bound(p, x->name) : NULL;
  const wick_ast *type = param && param->kind == WICK_AST_PARAM ? param->kid[0] : NULL;
  if (!type || type->kind != WICK_AST_TYPE_NAME || !wick_lang_map_get(&p->p->elements, type->name))
    return false;
  *out = (dynamic_numbers){.list = true, .n = type->nkid};
  for (uint32_t i = 0; i < type->nkid; i++) {
    if (type->kid[i]->kind != WICK_AST_INT) return false;
    out->at[i] = type->kid[i]->i;
  }
  return true;
}

static bool dynamic_join(relay_parser *p, const wick_ast *tuple, bool lists, dynamic_numbers *out)
{
  *out = (dynamic_numbers){.list = true};
  if (tuple->kind == WICK_AST_NAME) tuple = wick_relay_bound(p, tuple->name);
  if (!tuple || tuple->kind != WICK_AST_TUPLE) return false;
  for (uint32_t i = 0; i < tuple->nkid; i++) {
    dynamic_numbers x;
    if (!dynamic_eval(p, tuple->kid[i], &x) || x.list != lists || out->n + x.n > RELAY_MOST_INTS)
      return false;
    for (uint32_t k = 0; k < x.n; k++) out->at[out->n++] = x.at[k];
  }
  return true;
}

/* Sizes and their sums are far below the limits; other numbers are left alone. */
static bool dynamic_arithmetic(const char *op, int64_t a, int64_t b, int64_t *out)
{
  const int64_t most = 1 << 30;
  if (a > most || a < -most || b > most || b < -most) return false;
  bool quotient = strcmp(op, "divide") == 0 || strcmp(op, "floor_divide") == 0 ||
                  strcmp(op, "mod") == 0 || strcmp(op, "floor_mod") == 0;
  if (quotient && (a < 0 || b <= 0)) return false;
  if (strcmp(op, "add") == 0)
    *out = a + b;
  else if (strcmp(op, "subtract") == 0)
    *out = a - b;
  else if (strcmp(op, "multiply") == 0)
    *out = a * b;
  else if (strcmp(op, "maximum") == 0)
    *out = a > b ? a : b;
  else if (strcmp(op, "minimum") == 0)
    *out = a < b ? a : b;
  else if (quotient)
    *out = strchr(op, 'm') ? a % b : a / b;
  else
    return false;
  return true;
}

static bool dynamic_binary(const char *op, const dynamic_numbers *a, const dynamic_numbers *b,
                           dynamic_numbers *out)
{
  if (a->n != b->n && a->n != 1 && b->n != 1) return false;
  *out = (dynamic_numbers){.list = a->list || b->list, .n = a->n == 1 ? b->n : a->n};
  for (uint32_t i = 0; i < out->n; i++)
    if (!dynamic_arithmetic(op, a->at[a->n == 1 ? 0 : i], b->at[b->n == 1 ? 0 : i], &out->at[i]))
      return false;
  return true;
}

/* Elements begin to end of a list, each `stride` on. */
static bool dynamic_slice(const wick_ast *call, const dynamic_numbers *x, dynamic_numbers *out)
{
  int64_t n = x->n, begin = dynamic_attr_int(call, "begin", 0),
          end = dynamic_attr_int(call, "end", n), stride = dynamic_attr_int(call, "strides", 1);
  const wick_ast *mode = dynamic_attr(call, "slice_mode");
  if (!x->list || begin == INT64_MIN || end == INT64_MIN || stride < 1) return false;
  if (dynamic_attr(call, "axes") || (mode && strcmp(mode->name, "end") != 0)) return false;
  begin = begin < 0 ? begin + n : begin, end = end < 0 ? end + n : end;
  begin = begin < 0 ? 0 : begin, end = end > n ? n : end;
  *out = (dynamic_numbers){.list = true};
  for (int64_t i = begin; i < end; i += stride) out->at[out->n++] = x->at[i];
  return true;
}

static bool dynamic_take(const dynamic_numbers *x, const dynamic_numbers *at, dynamic_numbers *out)
{
  *out = (dynamic_numbers){.list = at->list, .n = at->n};
  if (!x->list) return false;
  for (uint32_t i = 0; i < at->n; i++) {
    int64_t k = at->at[i] < 0 ? at->at[i] + x->n : at->at[i];
    if (k < 0 || k >= x->n) return false;
    out->at[i] = x->at[k];
  }
  return true;
}

static bool dynamic_product(const dynamic_numbers *x, dynamic_numbers *out)
{
  *out = (dynamic_numbers){.n = 1, .at = {1}};
  for (uint32_t i = 0; i < x->n; i++)
    if (!dynamic_arithmetic("multiply", out->at[0], x->at[i], &out->at[0])) return false;
  return true;
}

/* A result of one operand with the same numbers, with an axis or without one. */
static bool dynamic_axis(const char *op, const wick_ast *call, const dynamic_numbers *x,
                         dynamic_numbers *out)
{
  *out = *x;
  if (strcmp(op, "cast") == 0) {
    const wick_ast *dtype = dynamic_attr(call, "dtype");
    return dtype && dtype->kind == WICK_AST_STRING && strncmp(dtype->name, "int", 3) == 0;
  }
  if (strcmp(op, "expand_dims") == 0) {
    out->list = true;
    return !x->list && dynamic_attr_int(call, "num_newaxis", 1) == 1;
  }
  if (strcmp(op, "squeeze") == 0) {
    out->list = false;
    return x->list && x->n == 1;
  }
  if (strcmp(op, "reshape") == 0) {
    const wick_ast *shape = dynamic_attr(call, "newshape");
    if (!shape || shape->kind != WICK_AST_TUPLE || shape->nkid > 1) return false;
    int64_t size = shape->nkid ? dynamic_attr_int(call, "newshape", 0) : 1;
    out->list = shape->nkid == 1;
    return size == -1 || size == x->n;
  }
  return strcmp(op, "copy") == 0 || strcmp(op, "on_device") == 0;
}

static bool dynamic_call(relay_parser *p, const wick_ast *x, dynamic_numbers *out)
{
  const wick_lang_entity *e = x->kid[0]->kind == WICK_AST_NAME ? x->kid[0]->ref : NULL;
  if (!e || e->kind != WICK_ENTITY_FAMILY) return false;
  const char *op = e->family->name;
  const wick_ast *arg[2] = {NULL, NULL};
  uint32_t n = 0;
  for (uint32_t i = 1; i < x->nkid; i++)
    if (x->kid[i]->kind != WICK_AST_NAMED && n++ < 2) arg[n - 1] = x->kid[i];
  if (!n || n > 2) return false;
  if (strcmp(op, "shape_of") == 0 || strcmp(op, "vm.shape_of") == 0)
    return dynamic_shape(p, arg[0], out);
  dynamic_numbers a, b;
  if (strcmp(op, "ndarray_size") == 0)
    return dynamic_shape(p, arg[0], &a) && dynamic_product(&a, out);
  if (strcmp(op, "concatenate") == 0) return dynamic_join(p, arg[0], true, out);
  if (strcmp(op, "stack") == 0) return dynamic_join(p, arg[0], false, out);
  if (!dynamic_eval(p, arg[0], &a) || (n == 2 && !dynamic_eval(p, arg[1], &b))) return false;
  if (n == 2 && strcmp(op, "take") == 0) return dynamic_take(&a, &b, out);
  if (n == 2) return dynamic_binary(op, &a, &b, out);
  if (strcmp(op, "strided_slice") == 0) return dynamic_slice(x, &a, out);
  if (strcmp(op, "prod") == 0)
    return a.list && !dynamic_attr_int(x, "keepdims", 0) && dynamic_product(&a, out);
  return dynamic_axis(op, x, &a, out);
}

static bool dynamic_eval(relay_parser *p, const wick_ast *x, dynamic_numbers *out)
{
  *out = (dynamic_numbers){0};
  if (x->kind == WICK_AST_NAME) {
    x = wick_relay_bound(p, x->name);
    if (!x || x->kind == WICK_AST_PARAM) return false;
  }
  if (x->kind == WICK_AST_INT) {
    out->at[out->n++] = x->i;
    return true;
  }
  if (x->kind == WICK_AST_CALL) return dynamic_call(p, x, out);
  const wick_tensor *t = x->kind == WICK_AST_TENSOR ? x->tensor : NULL;
  if (!t || t->rank > 1 || wick_elem_is_float(t->elem)) return false;
  out->list = t->rank, out->n = t->rank && t->dim[0] <= RELAY_MOST_INTS ? (uint32_t)t->dim[0] : 1;
  if (t->rank && t->dim[0] > RELAY_MOST_INTS) return false;
  for (uint32_t i = 0; i < out->n; i++) out->at[i] = wick_load_elem(t->elem, t->data, i).i;
  return true;
}

/* A tuple of numbers; NULL: not all are known. */
static wick_ast *dynamic_tuple(relay_parser *p, const wick_ast *x)
{
  wick_ast *out = wick_dup(p->mem, wick_ast, x, 1);
  out->kid = wick_new(p->mem, wick_ast *, x->nkid + 1);
  for (uint32_t i = 0; i < x->nkid; i++)
    if (!(out->kid[i] = wick_relay_numbers(p, x->kid[i]))) return NULL;
  return out;
}

wick_ast *wick_relay_numbers(relay_parser *p, const wick_ast *x)
{
  if (x->kind == WICK_AST_TUPLE) return dynamic_tuple(p, x);
  if (x->kind == WICK_AST_INT || x->kind == WICK_AST_FLOAT || x->kind == WICK_AST_TENSOR)
    return (wick_ast *)(uintptr_t)x;
  if (x->kind == WICK_AST_NAME) {
    const wick_ast *bound = wick_relay_bound(p, x->name);
    return bound && bound->kind != WICK_AST_PARAM ? (wick_ast *)(uintptr_t)bound : NULL;
  }
  dynamic_numbers found;
  if (!dynamic_eval(p, x, &found)) return NULL;
  wick_tensor t = {.elem = WICK_I64, .rank = found.list, .dim = {found.n}};
  t.data = wick_dup(p->mem, int64_t, found.at, found.n ? found.n : 1);
  wick_ast n = {.kind = WICK_AST_TENSOR, .at = x->at, .name_at = x->at};
  n.tensor = wick_dup(p->mem, wick_tensor, &t, 1);
  return wick_dup(p->mem, wick_ast, &n, 1);
}

/* ---- attributes ---- */

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
  x = wick_relay_numbers(p, x);
  if (!x) return NULL;
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
