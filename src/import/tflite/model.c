/* Reads the structure of a model, and checks it. Fields have their numbers in the schema.
 * Source: schema.fbs of ai-edge-litert 2.3. */
#include "import/tflite/model.h"

#include <string.h>

#include "ir/element.h"

enum { MODEL_TENSORS = 1 << 22 }; /* the most tensors or operators of a file */
enum { MODEL_BLOCKS = 2 };        /* BlockwiseQuantization in QuantizationDetails */

typedef struct model_read {
  wick_import *c;
  wick_tflite_model *m;
  uint64_t left; /* bytes of lists and texts that may still be copied: they may share the file's */
} model_read;

/* Counts n bytes. Returns false if lists overlap so much that they would need too much memory. */
static bool model_take(model_read *r, uint64_t n)
{
  bool good = n <= r->left;
  if (!good && !r->m->file.fault) r->m->file.fault = "its lists overlap";
  r->left -= good ? n : 0;
  return good;
}

static const char *model_text(model_read *r, wick_span s)
{
  if (!model_take(r, s.nbytes)) return "";
  const unsigned char *nul = s.nbytes ? memchr(s.at, 0, s.nbytes) : NULL;
  return wick_str_dupn(r->c->tmp, s.nbytes ? (const char *)s.at : "",
                       nul ? (size_t)(nul - s.at) : s.nbytes);
}

static void model_fail(model_read *r, const char *fmt, ...) WICK_PRINTF(2, 3);
static void model_fail(model_read *r, const char *fmt, ...)
{
  va_list args;
  va_start(args, fmt);
  wick_errors_add(&r->c->errors, wick_vfail(r->c->tmp, WICK_EPARSE, r->c->file, fmt, args));
  va_end(args);
}

static const int32_t *model_ints(model_read *r, wick_flat t, uint32_t field, uint32_t *out_n)
{
  wick_flat_list l = wick_flat_vector(t, field, 4);
  if (!model_take(r, 16 * (uint64_t)l.n)) l.n = 0;
  int32_t *v = wick_new(r->c->tmp, int32_t, l.n + 1u);
  for (uint32_t i = 0; i < l.n; i++) v[i] = (int32_t)wick_flat_item_int(l, i, 4);
  *out_n = l.n;
  return v;
}

/* ---- buffers ---- */

/* Data is in the buffer's table, or, in files of more than 2 GiB, at an offset after the tables. */
static wick_span model_buffer(model_read *r, wick_flat t)
{
  wick_span data = wick_flat_bytes(t, 0), all = r->m->file.bytes;
  uint64_t offset = wick_flat_uint(t, 1, 8, 0), size = wick_flat_uint(t, 2, 8, 0);
  if (data.nbytes || offset <= 1) return data;
  if (offset > all.nbytes || size > all.nbytes - offset) {
    model_fail(r, "a buffer at byte %llu leads out of the file", (unsigned long long)offset);
    return (wick_span){0};
  }
  return (wick_span){all.at + offset, (size_t)size};
}

static void model_buffers(model_read *r)
{
  wick_flat_list l = wick_flat_vector(r->m->root, 4, 4);
  wick_span *b = wick_new(r->c->tmp, wick_span, l.n + 1u);
  for (uint32_t i = 0; i < l.n; i++) b[i] = model_buffer(r, wick_flat_item(l, i));
  r->m->buffer = b, r->m->nbuffer = l.n;
}

/* Finds the data of an external buffer: a part of a file beside the model. */
static bool model_external(model_read *r, uint64_t id, wick_span *out)
{
  wick_flat_list groups = wick_flat_vector(r->m->root, 8, 4),
                 l = wick_flat_vector(r->m->root, 9, 4);
  for (uint32_t i = 0; i < l.n; i++) {
    wick_flat b = wick_flat_item(l, i);
    uint64_t group = wick_flat_uint(b, 1, 4, 0), offset = wick_flat_uint(b, 2, 8, 0),
             length = wick_flat_uint(b, 3, 8, 0);
    if (wick_flat_uint(b, 0, 4, 0) != id) continue;
    wick_file *file;
    const char *packing = model_text(r, wick_flat_bytes(b, 4));
    if (group >= groups.n || !r->c->options->files ||
        (*packing && strcmp(packing, "unpacked") != 0))
      return false;
    const char *name = model_text(r, wick_flat_bytes(wick_flat_item(groups, (uint32_t)group), 0));
    wick_status bad = wick_files_map_beneath(r->c->options->files,
                                             wick_path_folder(r->c->tmp, r->c->path), name, &file);
    wick_errors_add(&r->c->errors, bad);
    if (bad || offset > file->nbytes || length > file->nbytes - offset) return false;
    *out = (wick_span){file->at + offset, (size_t)length};
    return true;
  }
  return false;
}

/* ---- tensors ---- */

/* An open axis with a scale for each slice has as many slices as scales. */
static bool model_scaled_axis(model_read *r, wick_tflite_tensor *out, int64_t axis, uint32_t n)
{
  if (axis < 0 || axis >= out->rank) return false;
  if (out->dim[axis] == -1) {
    int64_t *dim = wick_new(r->c->tmp, int64_t, out->rank);
    memcpy(dim, out->dim, out->rank * sizeof *dim);
    dim[axis] = n;
    out->dim = dim;
  }
  return out->dim[axis] == n;
}

static void model_quant(model_read *r, wick_flat t, wick_tflite_tensor *out)
{
  static const double one = 1;
  static const int64_t none = 0;
  wick_flat q = wick_flat_table(t, 4);
  wick_flat_list scale = wick_flat_vector(q, 2, 4), zero = wick_flat_vector(q, 3, 8);
  int64_t axis = wick_flat_int(q, 6, 4, 0);
  out->quant = (wick_tflite_quant){0, 0, &one, &none, 0};
  uint64_t details = wick_flat_uint(q, 4, 1, 0);
  if (details > MODEL_BLOCKS)
    model_fail(r, "the tensor \"%s\" is quantized along several axes, which is not supported",
               wick_import_shown(r->c, out->name));
  if (details == MODEL_BLOCKS) return;
  if (!scale.n || !model_take(r, 16 * (uint64_t)scale.n)) return;
  double *s = wick_new(r->c->tmp, double, scale.n);
  int64_t *z = wick_new(r->c->tmp, int64_t, scale.n);
  for (uint32_t i = 0; i < scale.n; i++) {
    s[i] = (double)wick_flat_item_f32(scale, i);
    z[i] = zero.n ? wick_flat_item_int(zero, i < zero.n ? i : 0, 8) : 0;
    if (!(s[i] >= 0) || s[i] > 3.5e38 || z[i] < INT32_MIN || z[i] > INT32_MAX) {
      model_fail(r, "the tensor \"%s\" has the scale %g and the zero point %lld",
                 wick_import_shown(r->c, out->name), s[i], (long long)z[i]);
      s[i] = 1, z[i] = 0;
    }
  }
  if (scale.n > 1 && !model_scaled_axis(r, out, axis, scale.n)) {
    model_fail(r, "the tensor \"%s\" has %u scales along axis %lld",
               wick_import_shown(r->c, out->name), scale.n, (long long)axis);
    return;
  }
  out->quant = (wick_tflite_quant){scale.n, (uint32_t)(scale.n > 1 ? axis : 0), s, z, 0};
}

/* True if `t` holds one number for each block of rows of `of`, and has data. */
static bool model_is_of_blocks(const wick_tflite_tensor *t, const wick_tflite_tensor *of,
                               int64_t block, uint64_t *out_n)
{
  int64_t bits = wick_elem_storage[t->elem].bits;
  if (of->rank != 2 || block < 1 || of->dim[0] < 1 || of->dim[1] < 1 || of->dim[1] % block)
    return false;
  *out_n = (uint64_t)of->dim[0] * (uint64_t)(of->dim[1] / block);
  return *out_n < UINT32_MAX && t->data.nbytes == *out_n * (uint64_t)bits / 8;
}

/* Reads the scales of a matrix that is quantized in blocks, from another tensor. As in XNNPACK, which
 * alone computes with them, they are rounded to bf16. */
static void model_blocks(model_read *r, wick_flat t, const wick_tflite_graph *g,
                         wick_tflite_tensor *out)
{
  enum { SCALES, ZEROS, SIZE };
  wick_flat q = wick_flat_table(t, 4), d = wick_flat_table(q, 5);
  if (wick_flat_uint(q, 4, 1, 0) != MODEL_BLOCKS) return;
  int64_t at = wick_flat_int(d, SCALES, 4, 0), zero = wick_flat_int(d, ZEROS, 4, 0),
          block = wick_flat_int(d, SIZE, 4, 0);
  uint64_t n = 0;
  bool good = at >= 0 && at < g->ntensor && zero < g->ntensor &&
              (g->tensor[at].elem == WICK_F16 || g->tensor[at].elem == WICK_BF16) &&
              wick_elem_is_int(out->elem) && model_is_of_blocks(&g->tensor[at], out, block, &n) &&
              model_take(r, 16 * n);
  if (good && zero > 0 && zero != at) /* zero points that are all 0 */
    for (size_t k = 0; k < g->tensor[zero].data.nbytes; k++)
      good = good && !((const uint8_t *)g->tensor[zero].data.at)[k];
  if (!good) {
    model_fail(r,
               "the tensor \"%s\" has blocks of %lld without scales that fit, or with zero points",
               wick_import_shown(r->c, out->name), (long long)block);
    return;
  }
  double *scale = wick_new(r->c->tmp, double, n);
  for (uint64_t k = 0; k < n; k++) {
    uint16_t rounded;
    wick_scalar given = wick_load_elem(g->tensor[at].elem, g->tensor[at].data.at, k);
    wick_store_elem(WICK_BF16, &rounded, 0, given);
    scale[k] = wick_load_elem(WICK_BF16, &rounded, 0).f;
  }
  int64_t *none = wick_new(r->c->tmp, int64_t, n);
  out->quant = (wick_tflite_quant){(uint32_t)n, 0, scale, none, (uint32_t)block};
}

/* The signature has -1 where the shape, which is an example, has a number. */
static void model_shape(model_read *r, wick_flat t, wick_tflite_tensor *out)
{
  uint32_t n, nsign;
  const int32_t *shape = model_ints(r, t, 0, &n), *sign = model_ints(r, t, 7, &nsign);
  int64_t *dim = wick_new(r->c->tmp, int64_t, n + 1u);
  for (uint32_t i = 0; i < n && n <= WICK_MAX_RANK; i++) {
    dim[i] = nsign == n && sign[i] < 0 ? -1 : shape[i];
    if (dim[i] < -1)
      model_fail(r, "the tensor \"%s\" has a size of %lld", wick_import_shown(r->c, out->name),
                 (long long)dim[i]);
  }
  if (n > WICK_MAX_RANK) {
    model_fail(r, "the rank of tensor \"%s\" is %u, the most is %d",
               wick_import_shown(r->c, out->name), n, WICK_MAX_RANK);
    n = 0;
  }
  out->rank = n, out->dim = dim;
}

static void model_data(model_read *r, wick_flat t, wick_tflite_tensor *out)
{
  uint64_t buffer = wick_flat_uint(t, 2, 4, 0), external = wick_flat_uint(t, 10, 4, 0);
  if (buffer >= r->m->nbuffer && buffer) {
    model_fail(r, "the tensor \"%s\" has the buffer %llu of %u", wick_import_shown(r->c, out->name),
               (unsigned long long)buffer, r->m->nbuffer);
    return;
  }
  if (buffer) out->data = r->m->buffer[buffer];
  if (!out->data.nbytes && external && !model_external(r, external, &out->data))
    model_fail(r, "the external data of tensor \"%s\" cannot be read",
               wick_import_shown(r->c, out->name));
  out->constant = out->data.nbytes > 0;
}

/* Names are unique: inputs and outputs are found by them. */
static const char *model_name(model_read *r, wick_names *names, const char *name, uint32_t i)
{
  if (!*name) name = wick_str_printf(r->c->tmp, "tensor_%u", i);
  while (wick_names_find(names, name, strlen(name)))
    name = wick_str_printf(r->c->tmp, "%s_%u", name, i);
  wick_names_add(names, name, strlen(name));
  return name;
}

static void model_tensors(model_read *r, wick_flat g, wick_tflite_graph *out)
{
  wick_flat_list l = wick_flat_vector(g, 0, 4);
  if (!model_take(r, sizeof(wick_tflite_tensor) / 4 * (uint64_t)l.n)) return;
  wick_tflite_tensor *t = wick_new(r->c->tmp, wick_tflite_tensor, l.n + 1u);
  wick_names names = wick_names_begin(r->c->tmp);
  for (uint32_t i = 0; i < l.n; i++) {
    wick_flat x = wick_flat_item(l, i);
    t[i].name = model_name(r, &names, model_text(r, wick_flat_bytes(x, 3)), i);
    t[i].type = (int)wick_flat_int(x, 1, 1, 0);
    bool known = wick_tflite_elem(t[i].type, &t[i].elem);
    if (!known && t[i].type != WICK_TFLITE_RESOURCE && t[i].type != WICK_TFLITE_VARIANT)
      model_fail(r, "the tensor \"%s\" has the type %d, which is unknown",
                 wick_import_shown(r->c, t[i].name), t[i].type);
    t[i].variable = wick_flat_uint(x, 5, 1, 0) != 0;
    t[i].sparsity = wick_flat_table(x, 6);
    model_shape(r, x, &t[i]);
    model_quant(r, x, &t[i]);
    model_data(r, x, &t[i]);
  }
  out->tensor = t, out->ntensor = l.n;
  for (uint32_t i = 0; i < l.n; i++) model_blocks(r, wick_flat_item(l, i), out, &t[i]);
}

/* ---- operators ---- */

static void model_indices(model_read *r, const wick_tflite_graph *g, const char *what, uint32_t n,
                          const int32_t *v, bool optional)
{
  for (uint32_t i = 0; i < n; i++)
    if (v[i] < (optional ? -1 : 0) || v[i] >= (int64_t)g->ntensor) {
      model_fail(r, "%s of the subgraph \"%s\" have tensor %d of %u", what,
                 wick_import_shown(r->c, g->name), v[i], g->ntensor);
      return;
    }
}

static void model_op(model_read *r, const wick_tflite_graph *g, wick_flat t, wick_tflite_op *out)
{
  wick_flat_list codes = wick_flat_vector(r->m->root, 1, 4);
  uint64_t index = wick_flat_uint(t, 0, 4, 0);
  if (index >= codes.n) {
    model_fail(r, "an operator has the code %llu of %u", (unsigned long long)index, codes.n);
    out->name = "?";
    return;
  }
  wick_flat code = wick_flat_item(codes, (uint32_t)index);
  int64_t old = wick_flat_int(code, 0, 1, 0), number = wick_flat_int(code, 3, 4, 0);
  if (old > number) number = old; /* files before the field grew */
  const char *name = wick_tflite_op_name(number);
  out->is_custom = number == 32;
  out->name = out->is_custom ? model_text(r, wick_flat_bytes(code, 1))
              : name         ? name
                             : wick_str_printf(r->c->tmp, "operator %lld", (long long)number);
  out->version = (int)wick_flat_int(code, 2, 4, 1);
  out->in = model_ints(r, t, 1, &out->nin);
  out->out = model_ints(r, t, 2, &out->nout);
  out->intermediate = model_ints(r, t, 8, &out->nintermediate);
  out->options = wick_flat_table(t, 4);
  out->options2 = wick_flat_table(t, 12);
  out->custom = wick_flat_bytes(t, 5);
  uint64_t at = wick_flat_uint(t, 9, 8, 0), size = wick_flat_uint(t, 10, 8, 0);
  wick_span all = r->m->file.bytes;
  if (at > 1 && at <= all.nbytes && size <= all.nbytes - at)
    out->custom = (wick_span){all.at + at, (size_t)size};
  model_indices(r, g, "inputs of an operator", out->nin, out->in, true);
  model_indices(r, g, "outputs of an operator", out->nout, out->out, true);
  model_indices(r, g, "intermediates of an operator", out->nintermediate, out->intermediate, true);
  for (uint32_t i = 0; i < out->nin; i++)
    if (out->in[i] >= 0 && out->in[i] < (int64_t)g->ntensor && g->tensor[out->in[i]].quant.block &&
        (i != 1 || strcmp(out->name, "FULLY_CONNECTED") != 0))
      model_fail(r, "the tensor \"%s\" is quantized in blocks, which %s does not support",
                 wick_import_shown(r->c, g->tensor[out->in[i]].name),
                 wick_import_shown(r->c, out->name));
}

static void model_graph(model_read *r, wick_flat t, wick_tflite_graph *out)
{
  out->name = model_text(r, wick_flat_bytes(t, 4));
  model_tensors(r, t, out);
  out->in = model_ints(r, t, 1, &out->nin);
  out->out = model_ints(r, t, 2, &out->nout);
  model_indices(r, out, "inputs", out->nin, out->in, false);
  model_indices(r, out, "outputs", out->nout, out->out, false);
  wick_flat_list l = wick_flat_vector(t, 3, 4);
  if (!model_take(r, sizeof(wick_tflite_op) / 4 * (uint64_t)l.n)) return;
  wick_tflite_op *op = wick_new(r->c->tmp, wick_tflite_op, l.n + 1u);
  for (uint32_t i = 0; i < l.n; i++) model_op(r, out, wick_flat_item(l, i), &op[i]);
  out->op = op, out->nop = l.n;
}

wick_status wick_tflite_open(wick_import *c, wick_span bytes)
{
  wick_tflite_model *m = wick_new(c->tmp, wick_tflite_model, 1);
  model_read r = {c, m, 256 * (uint64_t)bytes.nbytes + (1 << 20)};
  c->model = m;
  c->errors = wick_errors_begin(c->tmp, WICK_IMPORT_ERRORS);
  m->file.bytes = bytes, m->location = c->file;
  m->root = wick_flat_root(&m->file);
  int64_t version = wick_flat_int(m->root, 0, 4, 0);
  if (!m->file.fault && version != 3)
    return wick_fail(c->tmp, WICK_EUNSUPPORTED, c->file, "its schema has version %lld, expected 3",
                     (long long)version);
  model_buffers(&r);
  wick_flat_list l = wick_flat_vector(m->root, 2, 4);
  wick_tflite_graph *g = wick_new(c->tmp, wick_tflite_graph, l.n + 1u);
  uint64_t total = 0;
  for (uint32_t i = 0; i < l.n && !m->file.fault; i++) {
    model_graph(&r, wick_flat_item(l, i), &g[i]);
    total += g[i].ntensor + g[i].nop;
    if (total > MODEL_TENSORS)
      return wick_fail(c->tmp, WICK_ELIMIT, c->file, "it has more than %d tensors and operators",
                       MODEL_TENSORS);
  }
  m->graph = g, m->ngraph = l.n;
  if (m->file.fault)
    return wick_fail(c->tmp, WICK_EPARSE, c->file, "at byte %zu: %s", m->file.fault_at,
                     m->file.fault);
  if (!l.n) return wick_fail(c->tmp, WICK_EPARSE, c->file, "it has no subgraph");
  return wick_errors_end(&c->errors);
}
