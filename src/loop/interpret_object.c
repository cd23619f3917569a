/* Objects are those of the runtime (runtime/heap.h). */
#include "loop/interpret_object.h"

#include <string.h>

#include "ir/element.h"

/* Returns whether o is a block that is in use. */
static bool object_is_block(wick_heap *h, int64_t o)
{
  return o % 8 == 0 && o >= (int64_t)sizeof *h && (uint64_t)o < h->top &&
         (uint32_t)*wick_object_at(h, o);
}

/* Returns the number of fields that the block has room for. */
static uint64_t object_room(wick_heap *h, int64_t o)
{
  return wick_heap_words((uint32_t)(*wick_object_at(h, o) >> WICK_OBJECT_CLASS)) - 1;
}

static wick_code object_make(wick_heap *h, const wick_node *n, const wick_elem *elem,
                             const wick_scalar *in, wick_scalar *out, const char **what)
{
  uint32_t first = n->op == WICK_OP_object_reuse;
  uint64_t nfield = n->nin - first, words = (uint64_t)n->attr[WICK_ATTR_object_new_words].i,
           header = wick_object_header((uint64_t)n->attr[WICK_ATTR_object_new_tag].i,
                                       (uint64_t)n->attr[WICK_ATTR_object_new_refs].i,
                                       words ? words : nfield);
  out->i = first ? in[0].i : 0;
  if (out->i && (!object_is_block(h, out->i) ||
                 *wick_object_at(h, out->i) >> WICK_OBJECT_CLASS != header >> WICK_OBJECT_CLASS)) {
    *what = "the memory of another size is reused";
    return WICK_EINTERNAL;
  }
  if (out->i)
    *wick_object_at(h, out->i) = header;
  else
    out->i = wick_object_new(h, header);
  if (!out->i) {
    *what = "the heap is full";
    return WICK_ELIMIT;
  }
  uint64_t *field = wick_object_at(h, out->i) + 1;
  for (uint64_t k = 0; k < nfield; k++)
    wick_store_elem(elem[first + k], &field[k], 0, in[first + k]);
  return WICK_OK;
}

wick_code wick_interpret_object(wick_heap *h, const wick_node *n, const wick_elem *elem,
                                const wick_scalar *in, wick_elem result, wick_scalar *out,
                                const char **what)
{
  if (n->op == WICK_OP_object_new || n->op == WICK_OP_object_reuse)
    return object_make(h, n, elem, in, out, what);
  int64_t o = in[0].i;
  bool counted = n->op == WICK_OP_object_retain || n->op == WICK_OP_object_release,
       field = n->op == WICK_OP_object_load || n->op == WICK_OP_object_store;
  if (o % 2 ? !counted : !(o == 0 && n->op == WICK_OP_object_free) && !object_is_block(h, o)) {
    *what = "it is no object";
    return WICK_EINTERNAL;
  }
  if (field && (uint64_t)n->attr[WICK_ATTR_object_load_at].i >= object_room(h, o)) {
    *what = "the object has no such field";
    return WICK_EINTERNAL;
  }
  uint64_t *at = o % 2 || !o ? NULL : wick_object_at(h, o);
  if (field) at += 1 + n->attr[WICK_ATTR_object_load_at].i;
  switch (n->op) {
  case WICK_OP_object_tag: out->i = (int64_t)(*at >> WICK_OBJECT_TAG & WICK_OBJECT_MOST_TAG); break;
  case WICK_OP_object_load: *out = wick_load_elem(result, at, 0); break;
  case WICK_OP_object_store: wick_store_elem(elem[1], at, 0, in[1]); break;
  case WICK_OP_object_retain: wick_object_retain(h, o); break;
  case WICK_OP_object_release: wick_object_release(h, o); break;
  case WICK_OP_object_take: out->i = wick_object_take(h, o); break;
  default: wick_object_free(h, o); break;
  }
  return WICK_OK;
}

void *wick_interpret_field(wick_heap *h, int64_t object, int64_t at, uint64_t nbytes)
{
  bool has = object % 2 == 0 && object_is_block(h, object) &&
             (uint64_t)at + (nbytes + 7) / 8 <= object_room(h, object);
  return has ? wick_object_at(h, object) + 1 + at : NULL;
}
