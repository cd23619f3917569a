/* Imports sequences and optionals whose lengths are known during the import (see stack.c for
 * others). A sequence is a `tuple` that only these operators read. They read its items directly, so
 * that the tuple itself is never used. An optional with a value is the value; one without is a
 * tuple of an empty tuple. */
#include "import/onnx/import.h"

enum { SEQUENCE_MOST = 65535 }; /* operands of a node */

static const wick_type_info *sequence_type(const wick_onnx_op *o, wick_value v)
{
  const wick_type_info *t = wick_built_info(o->b, v);
  return t->kind == WICK_TUPLE ? t : NULL;
}

wick_value wick_onnx_nothing(wick_builder *b)
{
  wick_value nothing = wick_build(b, WICK_OP_tuple, 0, NULL, NULL, 0, NULL);
  return wick_build(b, WICK_OP_tuple, 1, &nothing, NULL, 0, NULL);
}

bool wick_onnx_is_nothing(const wick_builder *b, wick_value v)
{
  const wick_type_info *t = wick_built_info(b, v);
  if (t->kind != WICK_TUPLE || t->nitem != 1) return false;
  return wick_type_get(b->module, t->item[0])->kind == WICK_TUPLE;
}

/* Returns the items of operand i. Returns false after it added a failure. */
static bool sequence_items(wick_onnx_op *o, uint32_t i, uint32_t *out_n, const wick_value **out)
{
  const wick_node *n = sequence_type(o, o->in[i]) ? wick_emit_definer(o->b, o->in[i]) : NULL;
  if (n && wick_onnx_is_map(o->b, o->in[i])) {
    wick_onnx_fail(o, WICK_ETYPE, "input %u is a map, or a sequence of maps", i);
    return false;
  }
  wick_value stack = wick_onnx_stack(o->b, o->in[i]);
  if (stack.id)
    return wick_onnx_must_be_known(o, "the length of its sequence",
                                   wick_built_info(o->b, stack)->dim[0]);
  if (!n || wick_onnx_is_nothing(o->b, o->in[i])) {
    wick_onnx_fail(o, WICK_ETYPE, "input %u is not a sequence", i);
    return false;
  }
  if (n->op != WICK_OP_tuple) {
    wick_onnx_fail(o, WICK_EUNSUPPORTED, "the length of input %u must be known", i);
    return false;
  }
  *out_n = n->nin;
  *out = wick_dup(o->c->tmp, wick_value, n->in, n->nin);
  return true;
}

static wick_value sequence_make(wick_onnx_op *o, uint32_t n, const wick_value *item)
{
  if (n > SEQUENCE_MOST) {
    wick_onnx_fail(o, WICK_ELIMIT, "a sequence of %u tensors", n);
    return (wick_value){0};
  }
  return wick_build(o->b, WICK_OP_tuple, n, item, NULL, 0, NULL);
}

/* Returns the number of operands before the items: one in the tuples of maps and of stacks. */
static uint32_t sequence_marks(const wick_onnx_op *o, wick_value v)
{
  return wick_onnx_is_map(o->b, v) || wick_onnx_stack(o->b, v).id ? 1 : 0;
}

uint32_t wick_onnx_flat(wick_onnx_op *o, uint32_t n, const wick_value *v, wick_value *out)
{
  uint32_t count = 0;
  for (uint32_t k = 0; k < n; k++) {
    const wick_type_info *t = sequence_type(o, v[k]);
    if (t && wick_onnx_is_map(o->b, v[k])) wick_onnx_map_all(o->c, v[k]);
    const wick_node *items = t ? wick_emit_definer(o->b, v[k]) : NULL;
    uint32_t marks = sequence_marks(o, v[k]);
    uint32_t have = !t ? 1 : wick_onnx_is_nothing(o->b, v[k]) ? 0 : t->nitem - marks;
    for (uint32_t i = 0; i < have && out; i++) out[count + i] = t ? items->in[marks + i] : v[k];
    count += have;
  }
  return count;
}

void wick_onnx_unflat(wick_onnx_op *o, uint32_t n, const wick_value *like, wick_value first,
                      wick_value *out)
{
  for (uint32_t k = 0; k < n; k++) {
    const wick_type_info *t = sequence_type(o, like[k]);
    if (t && wick_onnx_is_nothing(o->b, like[k])) {
      out[k] = wick_onnx_nothing(o->b);
      continue;
    }
    uint32_t marks = sequence_marks(o, like[k]), have = t ? t->nitem - marks : 1;
    wick_value *item = wick_new(o->c->tmp, wick_value, have + 1);
    for (uint32_t i = 0; i < have; i++) item[i] = (wick_value){first.id++};
    out[k] = !t           ? item[0]
             : !marks     ? sequence_make(o, have, item)
             : have == 2u ? wick_onnx_map_make(o->b, item[0], item[1])
                          : wick_onnx_stack_make(o->b, item[0]);
  }
}

/* Reads operand i as a position in 0 .. most, by default `otherwise`. */
static bool sequence_position(wick_onnx_op *o, uint32_t i, int64_t n, int64_t most,
                              int64_t otherwise, int64_t *out)
{
  if (!wick_onnx_one(o, i, "the position", otherwise, out)) return false;
  if (*out < 0) *out += n;
  if (*out >= 0 && *out <= most) return true;
  wick_onnx_fail(o, WICK_ERANGE, "position %lld of a sequence of %lld", (long long)*out,
                 (long long)n);
  return false;
}

static void sequence_construct(wick_onnx_op *o) { o->out[0] = sequence_make(o, o->nin, o->in); }

/* An item of a stack has the type of the stack's items, and is inserted at its end or in front. */
static void sequence_insert_stack(wick_onnx_op *o, wick_value stack)
{
  const wick_type_info *s = wick_built_info(o->b, stack), *x = wick_onnx_info(o, 1);
  int64_t at = -1;
  bool same = x->kind == WICK_TENSOR && x->elem == s->elem && x->rank + 1u == s->rank,
       known = !wick_onnx_has(o, 2) || wick_onnx_known_int(o->c, o->in[2], &at);
  for (uint32_t k = 0; same && k < x->rank; k++) same = wick_dim_eq(x->dim[k], s->dim[k + 1]);
  if (!same || !known || (wick_onnx_has(o, 2) && at != 0))
    wick_onnx_must_be_known(o, "the length of its sequence", s->dim[0]);
  else
    o->out[0] = wick_onnx_stack_insert(o, stack, o->in[1], wick_onnx_has(o, 2));
}

static void sequence_insert(wick_onnx_op *o)
{
  uint32_t n;
  int64_t at;
  const wick_value *item;
  wick_value stack = wick_onnx_stack(o->b, o->in[0]);
  if (stack.id) {
    sequence_insert_stack(o, stack);
    return;
  }
  if (!sequence_items(o, 0, &n, &item) || !sequence_position(o, 2, n, n, n, &at)) return;
  wick_value *all = wick_new(o->c->tmp, wick_value, (size_t)n + 1);
  for (uint32_t k = 0; k <= n; k++) all[k] = k == at ? o->in[1] : item[k - (k > at)];
  o->out[0] = sequence_make(o, n + 1, all);
}

static void sequence_erase(wick_onnx_op *o)
{
  uint32_t n;
  int64_t at = -1;
  const wick_value *item;
  wick_value stack = wick_onnx_stack(o->b, o->in[0]);
  bool known = !wick_onnx_has(o, 1) || wick_onnx_known_int(o->c, o->in[1], &at);
  if (stack.id && known && (at == 0 || at == -1)) {
    o->out[0] = wick_onnx_stack_erase(o, stack, at == 0);
    return;
  }
  if (!sequence_items(o, 0, &n, &item) ||
      !sequence_position(o, 1, n, (int64_t)n - 1, (int64_t)n - 1, &at))
    return;
  wick_value *all = wick_new(o->c->tmp, wick_value, n);
  for (uint32_t k = 0; k + 1 < n; k++) all[k] = item[k + (k >= at)];
  o->out[0] = sequence_make(o, n - 1, all);
}

/* Checks that operand 0, a map, is a sequence of maps. Returns false after it added a failure. */
static bool sequence_of_maps(wick_onnx_op *o)
{
  if (wick_onnx_map_all(o->c, o->in[0]).seq) return true;
  wick_onnx_fail(o, WICK_ETYPE, "input 0 is a map, expected a sequence");
  return false;
}

/* Selects an item at an index that is known only at run time. The items must have one type; a
 * tensor of all items is gathered. */
static bool sequence_chosen(wick_onnx_op *o, uint32_t n, const wick_value *item)
{
  int64_t known;
  bool same = n > 0 && !wick_onnx_known_int(o->c, o->in[1], &known);
  for (uint32_t k = 1; k < n; k++)
    same = same && wick_type_eq(wick_built_type(o->b, item[0]), wick_built_type(o->b, item[k]));
  if (!same || wick_built_info(o->b, item[0])->rank == WICK_MAX_RANK) return false;
  wick_value *row = wick_new(o->c->tmp, wick_value, n);
  for (uint32_t k = 0; k < n; k++) row[k] = wick_emit_unsqueeze(o->b, item[k], 0);
  wick_value all = wick_build_concat(o->b, 0, n, row);
  wick_emit e = wick_emit_begin(o->b, WICK_OP_gather);
  wick_emit_set_int(&e, "axis", 0);
  o->out[0] = wick_emit_end2(&e, all, wick_onnx_scalar(o, 1));
  return true;
}

static void sequence_at(wick_onnx_op *o)
{
  uint32_t n;
  int64_t at;
  const wick_value *item;
  if (wick_onnx_is_map(o->b, o->in[0])) {
    if (sequence_of_maps(o)) o->out[0] = wick_onnx_map_row(o, o->in[0], wick_onnx_scalar(o, 1));
    return;
  }
  wick_value stack = wick_onnx_stack(o->b, o->in[0]);
  if (stack.id) {
    o->out[0] = wick_emit_gather(o->b, WICK_OP_gather, stack, wick_onnx_scalar(o, 1), 0);
    return;
  }
  if (!sequence_items(o, 0, &n, &item) || sequence_chosen(o, n, item)) return;
  if (sequence_position(o, 1, n, (int64_t)n - 1, 0, &at)) o->out[0] = item[at];
}

static void sequence_length(wick_onnx_op *o)
{
  uint32_t n;
  const wick_value *item;
  if (wick_onnx_is_map(o->b, o->in[0])) {
    if (sequence_of_maps(o)) {
      wick_onnx_map m = wick_onnx_map_all(o->c, o->in[0]);
      o->out[0] = wick_onnx_size(o, wick_built_info(o->b, m.values)->dim[0]);
    }
    return;
  }
  wick_value stack = wick_onnx_stack(o->b, o->in[0]);
  if (stack.id) {
    o->out[0] = wick_onnx_size(o, wick_built_info(o->b, stack)->dim[0]);
    return;
  }
  if (sequence_items(o, 0, &n, &item))
    o->out[0] = wick_build_const(o->b, wick_type_tensor(o->c->module, WICK_I64, 0, NULL), 0, n);
}

static void sequence_concat(wick_onnx_op *o)
{
  uint32_t n, axis;
  const wick_value *item;
  bool fresh = wick_onnx_int(o, "new_axis", 0) != 0;
  wick_value stack = wick_onnx_stack(o->b, o->in[0]);
  if (stack.id) {
    o->out[0] = wick_onnx_stack_concat(o, stack, fresh);
    return;
  }
  if (!sequence_items(o, 0, &n, &item)) return;
  if (!n) {
    wick_onnx_fail(o, WICK_ETYPE, "the sequence is empty");
    return;
  }
  int64_t rank = wick_built_info(o->b, item[0])->rank + fresh;
  if (!wick_onnx_axis(o, wick_onnx_int(o, "axis", 0), rank, &axis)) return;
  wick_value *part = wick_dup(o->c->tmp, wick_value, item, n);
  for (uint32_t k = 0; k < n && fresh; k++) part[k] = wick_emit_unsqueeze(o->b, item[k], axis);
  o->out[0] = wick_build_concat(o->b, axis, n, part);
}

/* Finds the sizes of the parts along an axis of `extent`. A list gives them even if the extent
 * is dynamic. Returns false after it added a failure. */
static bool sequence_sizes(wick_onnx_op *o, wick_dim extent, uint32_t *out_n, int64_t **out)
{
  uint32_t n = 0;
  const int64_t *given = NULL;
  bool each = !wick_onnx_has(o, 1) || wick_onnx_info(o, 1)->rank == 0;
  int64_t size = 1, sum = 0, most = wick_dim_is_const(extent) ? extent.v : WICK_IMPORT_LARGEST;
  if (wick_onnx_has(o, 1) && !wick_onnx_numbers(o, 1, "split", &n, &given)) return false;
  if (each && !wick_dim_is_const(extent))
    return wick_onnx_must_be_known(o, "the size that is split", extent);
  if (each && given) size = given[0];
  bool good = size >= 1;
  if (each && good) n = (uint32_t)wick_min_i64(wick_ceildiv_i64(most, size), SEQUENCE_MOST + 1);
  *out = wick_new(o->c->tmp, int64_t, (size_t)n + 1);
  for (uint32_t k = 0; k < n && good; k++) {
    (*out)[k] = each ? wick_min_i64(size, most - sum) : given[k];
    good = (*out)[k] >= 0 && (*out)[k] <= most - sum;
    sum += good ? (*out)[k] : 0;
  }
  *out_n = n;
  if (good && wick_onnx_equal(o, extent, wick_dim_const(sum))) return true;
  wick_text t = wick_text_begin(o->c->tmp);
  wick_dim_print(o->c->module->dims, extent, &t);
  wick_onnx_fail(o, WICK_ERANGE, "split does not make up %s", t.at);
  return false;
}

/* Splits an axis of dynamic size into pieces of size 1. */
static bool sequence_split_stack(wick_onnx_op *o, uint32_t axis, bool keep)
{
  const wick_type_info *t = wick_onnx_info(o, 0);
  int64_t size = 1;
  bool each = !wick_onnx_has(o, 1) || wick_onnx_info(o, 1)->rank == 0;
  if (wick_dim_is_const(t->dim[axis]) || !each || t->rank + keep > WICK_MAX_RANK) return false;
  if (wick_onnx_has(o, 1) && (!wick_onnx_known_int(o->c, o->in[1], &size) || size != 1))
    return false;
  o->out[0] = wick_onnx_stack_split(o, o->in[0], axis, keep);
  return true;
}

static void sequence_split(wick_onnx_op *o)
{
  uint32_t axis, n = 0;
  int64_t *size = NULL, at = 0;
  const wick_type_info *t = wick_onnx_info(o, 0);
  bool keep = wick_onnx_has(o, 1) || wick_onnx_int(o, "keepdims", 1) != 0;
  if (!wick_onnx_axis(o, wick_onnx_int(o, "axis", 0), t->rank, &axis) ||
      sequence_split_stack(o, axis, keep) || !sequence_sizes(o, t->dim[axis], &n, &size))
    return;
  wick_value *part = wick_new(o->c->tmp, wick_value, (size_t)n + 1);
  for (uint32_t k = 0; k < n; at += size[k++]) {
    part[k] = wick_emit_slice(o->b, o->in[0], axis, wick_dim_const(at), wick_dim_const(size[k]));
    if (!keep) part[k] = wick_emit_squeeze(o->b, part[k], axis);
  }
  o->out[0] = sequence_make(o, n, part);
}

/* Applies the body to each item. Other inputs that are sequences pass their corresponding item;
 * tensors are passed unchanged. */
static void sequence_map(wick_onnx_op *o)
{
  uint32_t n, m;
  const wick_value *first;
  const wick_onnx_attr *a = wick_onnx_attr_find(o, "body");
  if (!a || !a->g || a->g->output.n < o->nout) {
    wick_onnx_fail(o, WICK_EPARSE, "its body has fewer outputs than the node's %u", o->nout);
    return;
  }
  if (wick_onnx_stack(o->b, o->in[0]).id) {
    wick_onnx_stack_map(o, a->g);
    return;
  }
  if (!sequence_items(o, 0, &n, &first)) return;
  const wick_value **item = wick_new(o->c->tmp, const wick_value *, o->nin);
  for (uint32_t i = 0; i < o->nin; i++) {
    if (!sequence_type(o, o->in[i])) continue;
    if (!sequence_items(o, i, &m, &item[i])) return;
    if (m < n) {
      wick_onnx_fail(o, WICK_ETYPE, "sequences of %u and %u items", n, m);
      return;
    }
  }
  wick_value *all = wick_new(o->c->tmp, wick_value, (size_t)n * o->nout + 1),
             *in = wick_new(o->c->tmp, wick_value, o->nin),
             *out = wick_new(o->c->tmp, wick_value, a->g->output.n + 1);
  for (uint32_t k = 0; k < n; k++) {
    for (uint32_t i = 0; i < o->nin; i++) in[i] = item[i] ? item[i][k] : o->in[i];
    if (!wick_onnx_subgraph(o, a->g, o->nin, in, out)) {
      o->failed = true;
      return;
    }
    for (uint32_t j = 0; j < o->nout; j++) all[(size_t)j * n + k] = out[j];
  }
  for (uint32_t j = 0; j < o->nout; j++) o->out[j] = sequence_make(o, n, all + (size_t)j * n);
}

/* ---- optionals ---- */

static void optional_make(wick_onnx_op *o)
{
  if (wick_onnx_has(o, 0)) {
    o->out[0] = o->in[0];
    return;
  }
  o->out[0] = wick_onnx_nothing(o->b);
}

static void optional_has(wick_onnx_op *o)
{
  bool has = wick_onnx_has(o, 0) && !wick_onnx_is_nothing(o->b, o->in[0]);
  o->out[0] = wick_build_const(o->b, wick_type_tensor(o->c->module, WICK_BOOL, 0, NULL), 0, has);
}

static void optional_get(wick_onnx_op *o)
{
  if (wick_onnx_is_nothing(o->b, o->in[0]))
    wick_onnx_fail(o, WICK_ETYPE, "the optional is empty");
  else
    o->out[0] = o->in[0];
}

#define SEQUENCE_ROW(type, since, least, most, nout, attrs, import)                                \
  {                                                                                                \
    type, since, {least, most}, nout, attrs, import, WICK_OP_tuple, 0                              \
  }

const wick_onnx_row wick_onnx_sequence_rows[] = {
    SEQUENCE_ROW("ConcatFromSequence", 11, 1, 1, 1, "axis:i! new_axis:i", sequence_concat),
    SEQUENCE_ROW("Optional", 15, 0, 1, 1, "type:p", optional_make),
    SEQUENCE_ROW("OptionalGetElement", 15, 1, 1, 1, "", optional_get),
    SEQUENCE_ROW("OptionalHasElement", 15, 0, 1, 1, "", optional_has),
    SEQUENCE_ROW("SequenceAt", 11, 2, 2, 1, "", sequence_at),
    SEQUENCE_ROW("SequenceConstruct", 11, 1, WICK_ANY, 1, "", sequence_construct),
    SEQUENCE_ROW("SequenceEmpty", 11, 0, 0, 1, "dtype:i", sequence_construct),
    SEQUENCE_ROW("SequenceErase", 11, 1, 2, 1, "", sequence_erase),
    SEQUENCE_ROW("SequenceInsert", 11, 2, 3, 1, "", sequence_insert),
    SEQUENCE_ROW("SequenceLength", 11, 1, 1, 1, "", sequence_length),
    SEQUENCE_ROW("SequenceMap", 17, 1, WICK_ANY, WICK_ANY, "body:g!", sequence_map),
    SEQUENCE_ROW("SplitToSequence", 11, 1, 2, 1, "axis:i keepdims:i", sequence_split),
    {0},
};
