/* Complex numbers. Wick has none: the real and the imaginary parts of a tensor are two values. Operators
 * that move elements are imported once for each part (tflite.c). */
#include <math.h>
#include <string.h>

#include "import/kit/dft.h"
#include "import/tflite/ops.h"

enum { COMPLEX_LARGEST = 1 << 20 }; /* transforms */

bool wick_tflite_is_complex(const wick_tflite_tensor *t)
{
  return t->elem == WICK_C64 || t->elem == WICK_C128;
}

bool wick_tflite_moves_complex(const char *op)
{
  static const char *const name[] = {"CONCATENATION", "EXPAND_DIMS",   "GATHER",    "PACK",
                                     "RESHAPE",       "SLICE",         "SPLIT",     "SPLIT_V",
                                     "SQUEEZE",       "STRIDED_SLICE", "TRANSPOSE", "UNPACK"};
  for (size_t k = 0; k < WICK_COUNT(name); k++)
    if (strcmp(op, name[k]) == 0) return true;
  return false;
}

bool wick_tflite_reads_complex(const char *op)
{
  return strcmp(op, "REAL") == 0 || strcmp(op, "IMAG") == 0 || strcmp(op, "COMPLEX_ABS") == 0;
}

static wick_value complex_imaginary(const wick_import_node *n)
{
  const wick_tflite_at *at = n->data;
  return at->body->imaginary[at->op->in[0]];
}

static void complex_part(wick_import_node *n)
{
  if (!wick_tflite_is_complex(wick_tflite_in(n, 0))) {
    wick_import_fail(n, WICK_ETYPE, "the input is not complex");
    return;
  }
  n->out[0] = n->row->arg ? complex_imaginary(n) : n->in[0];
}

/* The larger part times the root of 1 + the square of the ratio of the parts. */
static void complex_abs(wick_import_node *n)
{
  wick_builder *b = n->b;
  if (!wick_tflite_is_complex(wick_tflite_in(n, 0))) {
    wick_import_fail(n, WICK_ETYPE, "the input is not complex");
    return;
  }
  wick_value x = wick_build1(b, WICK_OP_abs, n->in[0]),
             y = wick_build1(b, WICK_OP_abs, complex_imaginary(n));
  wick_value large = wick_build2(b, WICK_OP_max, x, y), small = wick_build2(b, WICK_OP_min, x, y);
  wick_value none = wick_build2(b, WICK_OP_eq, large, wick_emit_number(b, large, 0));
  wick_value by = wick_build3(b, WICK_OP_where, none, wick_emit_number(b, large, 1), large);
  wick_value ratio = wick_build2(b, WICK_OP_div, small, by);
  ratio = wick_emit_by(b, WICK_OP_add, wick_build2(b, WICK_OP_mul, ratio, ratio), 1);
  n->out[0] = wick_build2(b, WICK_OP_mul, large, wick_build1(b, WICK_OP_sqrt, ratio));
}

/* Transforms the planes of x [planes, before..., size] along the last axis. Returns [2, before...,
 * n]. */
static wick_value complex_dft(wick_import_node *n, wick_value x, int64_t size)
{
  wick_builder *b = n->b;
  wick_dim dim[WICK_MAX_RANK], lines = wick_dim_const(1);
  if (b->status) return x;
  wick_type_info t = *wick_built_info(b, x);
  for (uint32_t k = 1; k + 1 < t.rank; k++)
    lines = wick_dim_mul(n->c->module->dims, lines, t.dim[k]);
  const wick_dim flat[] = {t.dim[0], lines, t.dim[t.rank - 1]};
  x = wick_dft(b, n->c->tmp, n->name, wick_build_reshape(b, x, 3, flat), size, false);
  x = wick_build_transpose(b, x, 3, (const int64_t[]){0, 2, 1});
  dim[0] = wick_dim_const(2), dim[t.rank - 1] = wick_dim_const(size);
  for (uint32_t k = 1; k + 1 < t.rank; k++) dim[k] = t.dim[k];
  return wick_build_reshape(b, x, t.rank, dim);
}

/* The lengths of the transforms, powers of two. Returns false after a failure. */
static bool complex_lengths(wick_import_node *n, int64_t *length)
{
  uint32_t count;
  const wick_dim *dim;
  if (!wick_import_dims(n, 1, "the lengths of the transforms", &count, &dim)) return false;
  bool good = count == 2;
  for (uint32_t k = 0; k < count && good; k++) {
    good = wick_dim_is_const(dim[k]) && dim[k].v > 0 && dim[k].v <= COMPLEX_LARGEST &&
           !(dim[k].v & (dim[k].v - 1));
    length[k] = dim[k].v;
  }
  if (!good)
    wick_import_fail(n, WICK_EUNSUPPORTED,
                     "the lengths of the transforms must be two powers of two, at most %d",
                     COMPLEX_LARGEST);
  return good;
}

static void complex_rfft2d(wick_import_node *n)
{
  wick_builder *b = n->b;
  int64_t length[2];
  if (!wick_import_rank(n, 0, 2, WICK_MAX_RANK - 2) || !complex_lengths(n, length)) return;
  wick_type_info t = *wick_import_info(n, 0);
  if (!wick_dim_is_const(t.dim[t.rank - 1]) || !wick_dim_is_const(t.dim[t.rank - 2])) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "the last two sizes must be known");
    n->c->sizes++;
    return;
  }
  wick_value x = wick_emit_unsqueeze(b, n->in[0], 0); /* the plane of real parts */
  x = complex_dft(n, x, length[1]);
  x = wick_emit_slice(b, x, t.rank, wick_dim_const(0), wick_dim_const(length[1] / 2 + 1));
  x = wick_build_swap(b, x);
  x = complex_dft(n, x, length[0]);
  x = wick_build_swap(b, x);
  const wick_tflite_at *at = n->data;
  for (uint32_t plane = 0; plane < 2; plane++) {
    wick_value part = wick_emit_slice(b, x, 0, wick_dim_const(plane), wick_dim_const(1));
    part = wick_emit_squeeze(b, part, 0);
    if (b->status) return;
    if (!plane) n->out[0] = part;
    if (plane) at->body->imaginary[at->op->out[0]] = part;
  }
}

#define ROW(name, nin, fn, arg)                                                                    \
  {                                                                                                \
    name, 1, {nin, nin}, 1, NULL, fn, WICK_OP_none, arg, "complex64", NULL                         \
  }

const wick_import_op wick_tflite_complex_ops[] = {
    ROW("COMPLEX_ABS", 1, complex_abs, 0),
    ROW("IMAG", 1, complex_part, 1),
    ROW("REAL", 1, complex_part, 0),
    ROW("RFFT2D", 2, complex_rfft2d, 0),
    {0},
};
