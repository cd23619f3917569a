/* The different elements of a vector. */
#include "import/kit/unique.h"

#include "import/kit/array.h"
#include "import/kit/bounded.h"

static wick_value unique_at(wick_import_node *n, wick_value x, wick_value index)
{
  return wick_emit_gather(n->b, WICK_OP_gather, x, index, 0);
}

wick_value wick_array_order(wick_import_node *n, wick_value x, wick_dim size)
{
  wick_emit e = wick_emit_begin(n->b, WICK_OP_top_k);
  wick_emit_set_int(&e, "axis", 0);
  wick_emit_set_int(&e, "least", 1);
  wick_emit_set_dims(&e, "k", 1, &size);
  wick_value sorted = wick_emit_end1(&e, x);
  return n->b->status ? sorted : (wick_value){sorted.id + 1};
}

wick_value wick_array_put(wick_import_node *n, wick_value position, wick_value x)
{
  wick_emit e = wick_emit_begin(n->b, WICK_OP_scatter_elements);
  wick_value none = wick_emit_by(n->b, WICK_OP_mul, x, 0);
  wick_value in[] = {none, position, x};
  return wick_emit_end(&e, 3, in);
}

static wick_value unique_counted(wick_import_node *n, wick_value flags)
{
  wick_emit e = wick_emit_begin(n->b, WICK_OP_cumsum);
  wick_value sum = wick_emit_end1(&e, wick_build_cast(n->b, flags, WICK_I64));
  return wick_emit_by(n->b, WICK_OP_sub, sum, 1);
}

/* For each element, the position of the first element that equals it. */
static wick_value unique_first(wick_import_node *n, wick_value x, wick_dim size)
{
  wick_builder *b = n->b;
  wick_value order = wick_array_order(n, x, size), position = wick_emit_count(b, size);
  wick_value sorted = unique_at(n, x, order), one = wick_emit_number(b, position, 1);
  wick_value before = wick_build2(b, WICK_OP_sub, position, one);
  before = wick_build2(b, WICK_OP_max, before, wick_emit_number(b, position, 0));
  wick_value differs = wick_build2(b, WICK_OP_ne, sorted, unique_at(n, sorted, before));
  wick_value begins = wick_emit_by(b, WICK_OP_eq, position, 0);
  begins = wick_build2(b, WICK_OP_or, begins, differs);
  wick_value group = unique_counted(n, begins);
  wick_value begin = wick_build1(b, WICK_OP_nonzero, begins);
  wick_value first = unique_at(n, order, unique_at(n, begin, group));
  return wick_array_put(n, order, first);
}

bool wick_array_unique(wick_import_node *n, wick_value x, wick_unique *out)
{
  wick_builder *b = n->b;
  const wick_type_info t = *wick_built_info(b, x);
  wick_dim size = t.dim[0];
  if (t.elem == WICK_STRING || t.elem == WICK_BOOL) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "elements of %s have no order", wick_elem_name(t.elem));
    return false;
  }
  wick_value first = unique_first(n, x, size), position = wick_emit_count(b, size);
  wick_value is_first = wick_build2(b, WICK_OP_eq, first, position);
  out->number = unique_at(n, unique_counted(n, is_first), first);
  wick_value places = wick_build1(b, WICK_OP_nonzero, is_first);
  if (b->status) return false;
  out->count = wick_build_reshape(b, (wick_value){places.id + 1}, 0, NULL);
  out->values = wick_import_bounded(n->c, unique_at(n, x, places), 0, out->count);
  return !b->status;
}
