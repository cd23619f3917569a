/* Weights of layers as constants. */
#include <string.h>

#include "import/caffe/ops.h"
#include "ir/element.h"

uint32_t wick_caffe_nblob(const wick_import_node *n)
{
  const caffe_layer *l = n->data;
  return l->blobs.n < 64 ? (uint32_t)l->blobs.n : 64;
}

/* Returns blob i, or NULL after a failure. */
static const caffe_blob *weights_blob(wick_import_node *n, uint32_t i)
{
  const caffe_layer *l = n->data;
  const caffe_model *m = n->c->model;
  if (i < l->blobs.n) return &l->blobs.at[i];
  if (m->weights)
    wick_import_fail(n, WICK_EPARSE, "%s has %zu blobs of weights for it, expected %u or more",
                     wick_import_shown(n->c, m->weights), l->blobs.n, i + 1);
  else if (m->tie[0])
    wick_import_fail(
        n, WICK_EPARSE,
        "its weights are missing: \"%s\" and \"%s\" are beside it, and neither has the "
        "network's name",
        wick_import_shown(n->c, m->tie[0]), wick_import_shown(n->c, m->tie[1]));
  else
    wick_import_fail(
        n, WICK_EPARSE,
        "its weights are missing: there is no file NAME.caffemodel beside the network");
  return NULL;
}

/* The blob's data in one piece. */
static wick_span weights_data(wick_import_node *n, const caffe_blob *b, wick_elem *elem)
{
  static const wick_elem raw[] = {WICK_F64, WICK_F32, WICK_F16};
  const wick_wire_spans *parts = b->data.n ? &b->data : &b->double_data;
  *elem = b->data.n ? WICK_F32 : WICK_F64;
  if (!parts->n && b->raw_data_type >= 0 && b->raw_data_type <= CAFFE_RAW_F16) {
    *elem = raw[b->raw_data_type];
    return b->raw_data;
  }
  if (parts->n == 1) return parts->at[0];
  wick_text t = wick_text_begin(n->c->tmp);
  for (size_t i = 0; i < parts->n; i++)
    wick_text_addn(&t, (const char *)parts->at[i].at, parts->at[i].nbytes);
  return (wick_span){(const unsigned char *)t.at, t.n};
}

/* Computes the size that is open. Returns false after a failure. */
static bool weights_fit(wick_import_node *n, uint32_t i, uint64_t numel, uint32_t rank,
                        const int64_t *want, int64_t *dim)
{
  uint64_t known = 1;
  uint32_t open = rank;
  bool good = rank <= WICK_MAX_RANK;
  for (uint32_t k = 0; good && k < rank; k++) {
    dim[k] = want[k];
    if (want[k] == -1 && open == rank)
      open = k;
    else
      good = want[k] >= 0 && !wick_mul_overflows(known, (uint64_t)want[k], &known);
  }
  if (good && open < rank) {
    good = known && numel % known == 0 && numel / known <= INT64_MAX;
    dim[open] = known ? (int64_t)(numel / known) : 0;
  } else {
    good = good && known == numel;
  }
  if (!good)
    wick_import_fail(n, WICK_ETYPE, "blob %u has %llu elements, which do not fit the layer", i,
                     (unsigned long long)numel);
  return good;
}

wick_value wick_caffe_weight(wick_import_node *n, uint32_t i, uint32_t rank, const int64_t *dim)
{
  const caffe_blob *b = weights_blob(n, i);
  int64_t size[WICK_MAX_RANK];
  wick_elem elem;
  if (!b) return (wick_value){0};
  wick_span data = weights_data(n, b, &elem);
  size_t bytes = elem == WICK_F64 ? 8 : elem == WICK_F32 ? 4 : 2;
  if (data.nbytes % bytes) {
    wick_import_fail(n, WICK_EPARSE, "blob %u has %zu bytes of data", i, data.nbytes);
    return (wick_value){0};
  }
  if (!weights_fit(n, i, data.nbytes / bytes, rank, dim, size)) return (wick_value){0};
  const char *name = wick_str_printf(n->c->tmp, "%s.%u", n->name, i);
  wick_value v = wick_import_weight(n->c, name, elem, rank, size, data, n->location);
  n->failed = n->failed || !v.id;
  return v.id ? wick_build_cast(n->b, v, WICK_F32) : v;
}

wick_value wick_caffe_vector(wick_import_node *n, uint32_t i)
{
  const int64_t open = -1;
  return wick_caffe_weight(n, i, 1, &open);
}

bool wick_caffe_number(wick_import_node *n, uint32_t i, double *out)
{
  const caffe_blob *b = weights_blob(n, i);
  wick_elem elem;
  if (!b) return false;
  wick_span data = weights_data(n, b, &elem);
  size_t bytes = elem == WICK_F64 ? 8 : elem == WICK_F32 ? 4 : 2;
  if (data.nbytes != bytes) {
    wick_import_fail(n, WICK_ETYPE, "blob %u has %zu bytes of data, expected one number", i,
                     data.nbytes);
    return false;
  }
  uint64_t aligned = 0;
  memcpy(&aligned, data.at, bytes);
  *out = wick_load_elem(elem, &aligned, 0).f;
  return true;
}

bool wick_caffe_shape(wick_import_node *n, uint32_t i, uint32_t *rank, int64_t *dim)
{
  const caffe_blob *b = weights_blob(n, i);
  if (!b) return false;
  const int64_t old[] = {b->num, b->channels, b->height, b->width};
  size_t count = b->shape ? b->shape->dim.n : 4;
  if (count > WICK_MAX_RANK) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "the rank of blob %u is %zu, the most is %d", i, count,
                     WICK_MAX_RANK);
    return false;
  }
  *rank = (uint32_t)count;
  for (size_t k = 0; k < count; k++) dim[k] = b->shape ? b->shape->dim.at[k] : old[k];
  return true;
}
