/* Constants, and placeholders that are no inputs. */
#include <string.h>

#include "import/tensorflow/ops.h"

/* A constant that names a file of a SavedModel is that name. */
static bool const_is_asset(wick_import_node *n, wick_span *out)
{
  const wick_tf_meta_graph *m = wick_tf_of(n->c)->meta;
  for (size_t i = 0; m && i < m->asset_file_def.n; i++) {
    const wick_tf_asset *a = &m->asset_file_def.at[i];
    wick_span name = a->tensor_info ? a->tensor_info->name : (wick_span){0};
    size_t size = strlen(n->name);
    if (name.nbytes < size || memcmp(name.at, n->name, size) != 0) continue;
    if (name.nbytes > size && name.at[size] != ':') continue;
    *out = a->filename;
    return true;
  }
  return false;
}

void wick_tf_import_const(wick_import_node *n)
{
  const wick_tf_op *o = wick_tf_op_of(n);
  const wick_tf_attr *a = wick_tf_attr_find(n, "value");
  wick_tf_vertex *v = &o->frame->graph->vertex[o->vertex - o->frame->graph->vertex];
  wick_span file;
  if (!a || !a->tensor) {
    wick_import_fail(n, WICK_EPARSE, "it has no value");
  } else if (!*o->frame->graph->name && const_is_asset(n, &file)) {
    o->out[0] = (wick_tf_value){.kind = WICK_TF_TEXT, .text = file};
  } else if (!wick_tf_complex_const(n, a->tensor)) {
    n->out[0] = wick_tf_constant(n->c, a->tensor, n->name, n->location, &v->constant);
    n->failed = n->failed || (!n->out[0].id && !n->b->status);
  }
}

void wick_tf_import_placeholder(wick_import_node *n)
{
  wick_import_fail(n, WICK_EPARSE, "it is no input of the signature");
}
