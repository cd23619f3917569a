/* Counted objects in procedures. A value of a data type is an i64: a block of the heap, or an odd
 * number, which is a constructor without fields (runtime/heap.h). */
#include "ir/op.h"
#include "ops/gradient/grad.h"
#include "runtime/heap.h"

static wick_status object_operand(const wick_infer *c, uint32_t i)
{
  return wick_type_eq(c->in[i]->type, wick_type_scalar(c->module, WICK_I64, 1))
             ? NULL
             : wick_infer_fail(c, WICK_ETYPE, "operand %u is not an i64", i);
}

static wick_status object_field(const wick_infer *c, wick_type t)
{
  const wick_type_info *w = wick_type_get(c->module, t);
  return w->kind == WICK_SCALAR && w->lanes == 1 && WICK_PLAIN & WICK_BIT(w->elem)
             ? NULL
             : wick_infer_fail(c, WICK_ETYPE, "a field is not one number");
}

/* Checks a new block whose fields are the operands from `first` on. */
static wick_status object_block(wick_infer *c, uint32_t first)
{
  int64_t refs = c->attr[WICK_ATTR_object_new_refs].i,
          words = c->attr[WICK_ATTR_object_new_words].i;
  for (uint32_t i = 0; i < c->nin; i++)
    if (!c->in[i]) return wick_infer_fail(c, WICK_ETYPE, "operand %u is missing", i);
  for (uint32_t i = first; i < c->nin; i++)
    WICK_TRY(i - first < refs ? object_operand(c, i) : object_field(c, c->in[i]->type));
  if (refs > c->nin - first)
    return wick_infer_fail(c, WICK_ETYPE, "%lld fields are objects, %u are given", (long long)refs,
                           c->nin - first);
  if (words && words < c->nin - first)
    return wick_infer_fail(c, WICK_ETYPE, "%u fields in %lld words", c->nin - first,
                           (long long)words);
  c->out[0].type = wick_type_scalar(c->module, WICK_I64, 1);
  return NULL;
}

static wick_status object_new_infer(wick_infer *c) { return object_block(c, 0); }

#define OBJECT_BLOCK                                                                               \
  {                                                                                                \
    {"tag", WICK_ATTR_INT, 0, false, NULL, 0, WICK_OBJECT_MOST_TAG},                               \
        {"refs", WICK_ATTR_INT, 0, false, NULL, 0, WICK_OBJECT_MOST_REFS},                         \
    {                                                                                              \
      "words", WICK_ATTR_INT, 0, false, NULL, 0, 1 << 27                                           \
    }                                                                                              \
  }

const wick_op wick_op_object_new = {
    .name = "object_new",
    .doc = "A block of the heap with one reference and these fields, of which the first `refs` are "
           "objects: their references become the block's. It has room for `words` fields, or for "
           "those that are given. The run fails if the heap is full",
    .nin = {0, WICK_ANY},
    .nout = {1, 1},
    .attr = OBJECT_BLOCK,
    .level = WICK_LOOP,
    .effect = WICK_EFFECT,
    .heap = true,
    .infer = object_new_infer,
};

static wick_status object_reuse_infer(wick_infer *c)
{
  WICK_TRY(object_block(c, 1));
  return object_operand(c, 0);
}

const wick_op wick_op_object_reuse = {
    .name = "object_reuse",
    .doc = "The same as `object_new`, in the memory of the first operand, a result of "
           "`object_take` whose block has room for as many fields; if it is 0, in a new block",
    .nin = {1, WICK_ANY},
    .nout = {1, 1},
    .attr = OBJECT_BLOCK,
    .level = WICK_LOOP,
    .effect = WICK_EFFECT,
    .heap = true,
    .infer = object_reuse_infer,
};

static wick_status object_tag_infer(wick_infer *c)
{
  c->out[0].type = wick_type_scalar(c->module, WICK_I64, 1);
  return object_operand(c, 0);
}

const wick_op wick_op_object_tag = {
    .name = "object_tag",
    .doc = "The tag of a block",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_LOOP,
    .effect = WICK_EFFECT,
    .heap = true,
    .infer = object_tag_infer,
};

static wick_status object_load_infer(wick_infer *c)
{
  WICK_TRY(object_field(c, c->want[0]));
  return object_operand(c, 0);
}

#define OBJECT_AT                                                                                  \
  {                                                                                                \
    {                                                                                              \
      "at", WICK_ATTR_INT, 0, true, NULL, 0, 1 << 27                                               \
    }                                                                                              \
  }

const wick_op wick_op_object_load = {
    .name = "object_load",
    .doc = "Field `at` of a block. An object is read without a reference of its own",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = OBJECT_AT,
    .level = WICK_LOOP,
    .effect = WICK_EFFECT,
    .heap = true,
    .typed = true,
    .infer = object_load_infer,
};

static wick_status object_store_infer(wick_infer *c)
{
  WICK_TRY(object_field(c, c->in[1]->type));
  return object_operand(c, 0);
}

const wick_op wick_op_object_store = {
    .name = "object_store",
    .doc = "Writes field `at` of a block. References are neither taken nor dropped",
    .nin = {2, 2},
    .attr = OBJECT_AT,
    .level = WICK_LOOP,
    .effect = WICK_EFFECT,
    .heap = true,
    .infer = object_store_infer,
};

/* ---- tensors in blocks ---- */

/* Checks operand k, a dense buffer, and operand `object`. */
static wick_status object_tensor(const wick_infer *c, uint32_t k, uint32_t object)
{
  const wick_type_info *t = wick_type_get(c->module, c->in[k]->type);
  uint64_t nbytes;
  if (t->kind != WICK_BUFFER || t->stride || !wick_type_nbytes(c->module, c->in[k]->type, &nbytes))
    return wick_infer_fail(c, WICK_ETYPE, "operand %u is no dense buffer of a constant size", k);
  return object_operand(c, object);
}

static wick_status object_get_tensor_infer(wick_infer *c) { return object_tensor(c, 0, 1); }

const wick_op wick_op_object_get_tensor = {
    .name = "object_get_tensor",
    .doc = "Writes the buffer: its bytes are in the block from field `at` on",
    .nin = {2, 2},
    .attr = OBJECT_AT,
    .level = WICK_LOOP,
    .effect = WICK_EFFECT,
    .heap = true,
    .infer = object_get_tensor_infer,
};

static wick_status object_put_tensor_infer(wick_infer *c) { return object_tensor(c, 1, 0); }

const wick_op wick_op_object_put_tensor = {
    .name = "object_put_tensor",
    .doc = "Copies the bytes of the buffer into the block, from field `at` on",
    .nin = {2, 2},
    .attr = OBJECT_AT,
    .level = WICK_LOOP,
    .effect = WICK_EFFECT,
    .heap = true,
    .infer = object_put_tensor_infer,
};

/* ---- references, which graphs count, too ---- */

static wick_status object_counted_infer(wick_infer *c)
{
  return wick_kind_is_object(wick_type_get(c->module, c->in[0]->type)->kind) ? NULL
                                                                             : object_operand(c, 0);
}

static wick_status object_take_infer(wick_infer *c)
{
  bool graph = wick_kind_is_object(wick_type_get(c->module, c->in[0]->type)->kind);
  c->out[0].type = graph ? wick_type_tensor(c->module, WICK_I64, 0, NULL)
                         : wick_type_scalar(c->module, WICK_I64, 1);
  return object_counted_infer(c);
}

static wick_status object_free_infer(wick_infer *c)
{
  bool graph = wick_type_eq(c->in[0]->type, wick_type_tensor(c->module, WICK_I64, 0, NULL));
  return graph ? NULL : object_operand(c, 0);
}

const wick_op wick_op_object_retain = {
    .name = "object_retain",
    .doc = "One more reference to an object",
    .nin = {1, 1},
    .level = WICK_GRAPH | WICK_LOOP,
    .effect = WICK_EFFECT,
    .objects = true,
    .heap = true,
    .infer = object_counted_infer,
    .grad = wick_grad_none,
};

const wick_op wick_op_object_release = {
    .name = "object_release",
    .doc = "Ends a reference to an object. After the last one its block is free, and its "
           "references to other objects end",
    .nin = {1, 1},
    .level = WICK_GRAPH | WICK_LOOP,
    .effect = WICK_EFFECT,
    .objects = true,
    .heap = true,
    .infer = object_counted_infer,
    .grad = wick_grad_none,
};

const wick_op wick_op_object_take = {
    .name = "object_take",
    .doc =
        "Ends a reference to a block. If it is the only one, the result is the block: its memory "
        "and the references in its fields are the caller's. Otherwise the result is 0, and the "
        "caller has new references to the fields",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_GRAPH | WICK_LOOP,
    .effect = WICK_EFFECT,
    .objects = true,
    .heap = true,
    .infer = object_take_infer,
    .grad = wick_grad_none,
};

const wick_op wick_op_object_free = {
    .name = "object_free",
    .doc = "Frees the memory of a result of `object_take`; 0: nothing",
    .nin = {1, 1},
    .level = WICK_GRAPH | WICK_LOOP,
    .effect = WICK_EFFECT,
    .objects = true,
    .heap = true,
    .infer = object_free_infer,
    .grad = wick_grad_none,
};
