/* Constants that are stored in fewer bits, quantized numbers, and the labels of classifiers. Sparse
 * constants and those of look-up tables are computed here, so that the next operation finds a
 * constant again. */
#include <string.h>

#include "import/coreml/classify.h"
#include "import/coreml/program/ops.h"
#include "ops/ref.h"

/* ---- constants ---- */

typedef struct constexpr_data {
  wick_elem elem;
  uint32_t rank, size; /* size: bytes of an element */
  int64_t dim[WICK_MAX_RANK];
  uint64_t numel;
  const unsigned char *at;
} constexpr_data;

/* Finds the elements of a constant. Returns false after a failure. */
static bool constexpr_get(wick_import_node *n, wick_value v, const char *what, constexpr_data *out)
{
  const wick_type_info *t = wick_mil_info(n, v);
  const wick_node *def = wick_emit_definer(n->b, v);
  wick_tensor known;
  *out = (constexpr_data){.elem = t->elem, .rank = t->rank, .numel = 1};
  out->size = wick_elem_storage[t->elem].bits / 8u;
  if (!wick_type_const_dims(t, out->dim)) return wick_import_unknown(n, v, what);
  for (uint32_t k = 0; k < t->rank; k++) out->numel *= (uint64_t)out->dim[k];
  uint32_t constant = def && def->op == WICK_OP_const ? wick_const_imm(def)->constant : 0;
  if (constant) out->at = wick_constant_bytes(n->c->module, constant);
  if (!out->at && wick_known_value(n->b, n->c->tmp, v, &known)) out->at = known.data;
  return out->at ? true : wick_import_unknown(n, v, what);
}

static unsigned char *constexpr_alloc(wick_import_node *n, uint64_t numel, uint32_t size)
{
  unsigned char *to = wick_module_alloc(n->c->module, (size_t)(numel * size) + 1);
  memset(to, 0, (size_t)(numel * size) + 1);
  return to;
}

static wick_value constexpr_made(wick_import_node *n, wick_elem elem, uint32_t rank,
                                 const int64_t *dim, const unsigned char *data)
{
  uint64_t nbytes = wick_elem_storage[elem].bits / 8u;
  for (uint32_t k = 0; k < rank; k++) nbytes *= (uint64_t)dim[k];
  return wick_import_weight(n->c, n->name, elem, rank, dim, (wick_span){data, (size_t)nbytes},
                            n->location);
}

/* Number i of `bits` bits, packed from the lowest bits on. */
static uint32_t constexpr_bits(const unsigned char *at, uint64_t nbytes, uint64_t i, uint32_t bits)
{
  uint64_t first = i * bits, byte = first / 8;
  uint32_t two = byte < nbytes ? at[byte] : 0;
  if (byte + 1 < nbytes) two |= (uint32_t)at[byte + 1] << 8;
  return two >> first % 8 & ((1u << bits) - 1);
}

/* Reads the argument "shape", and checks that `nbytes` of packed numbers are enough for it. */
static bool constexpr_shape(wick_import_node *n, uint32_t bits, uint64_t nbytes,
                            constexpr_data *out)
{
  wick_import_attr a = wick_import_ints(n, "shape");
  uint64_t numel = 1;
  bool good = a.n <= WICK_MAX_RANK;
  for (uint32_t k = 0; k < a.n && good; k++) {
    out->dim[k] = a.ints[k];
    good = a.ints[k] >= 0 && (!a.ints[k] || numel <= nbytes * 8 / (uint64_t)a.ints[k]);
    numel *= (uint64_t)a.ints[k];
  }
  out->rank = a.n, out->numel = numel;
  if (good && (numel * bits + 7) / 8 == nbytes) return true;
  wick_import_fail(n, WICK_EPARSE, "its data do not fit its shape");
  return false;
}

/* ---- linear quantization ---- */

/* v, a number or a vector along an axis of x, shaped to broadcast with x. */
static wick_value constexpr_along(wick_import_node *n, wick_value v, wick_value x, int64_t axis)
{
  if (n->b->status) return v;
  const wick_type_info *t = wick_mil_info(n, v), *like = wick_mil_info(n, x);
  wick_dim dim[WICK_MAX_RANK];
  uint32_t at;
  if (t->rank != 1 || !wick_import_axis(n, axis, like->rank, &at)) return v;
  for (uint32_t k = 0; k < like->rank; k++) dim[k] = k == at ? t->dim[0] : wick_dim_const(1);
  return wick_build_reshape(n->b, v, like->rank, dim);
}

static wick_value constexpr_scaled(wick_import_node *n, wick_value q, wick_value offset,
                                   wick_value scale)
{
  wick_elem e = wick_mil_info(n, scale)->elem;
  wick_value x = wick_build_cast(n->b, q, e);
  if (offset.id) x = wick_build2(n->b, WICK_OP_sub, x, wick_build_cast(n->b, offset, e));
  return wick_build2(n->b, WICK_OP_mul, x, scale);
}

/* (input - zero_point) * scale */
void wick_mil_import_dequantize(wick_import_node *n) /* input, zero_point, scale */
{
  int64_t axis = wick_import_int(n, "axis", 0);
  wick_value zero = n->in[1], scale = constexpr_along(n, n->in[2], n->in[0], axis);
  if (zero.id) zero = constexpr_along(n, zero, n->in[0], axis);
  if (!n->failed && !n->b->status) n->out[0] = constexpr_scaled(n, n->in[0], zero, scale);
}

/* clip(round(input / scale) + zero_point) */
void wick_mil_import_quantize(wick_import_node *n) /* input, zero_point, scale */
{
  wick_builder *b = n->b;
  wick_elem to, e = wick_import_info(n, 0)->elem;
  int64_t axis = wick_import_int(n, "axis", 0);
  if (!wick_mil_dtype_of(n, "output_dtype", WICK_I8, &to)) return;
  bool is_signed = to == WICK_I8;
  wick_value zero = n->in[1], scale = constexpr_along(n, n->in[2], n->in[0], axis);
  wick_value y = wick_build2(b, WICK_OP_div, n->in[0], scale);
  y = wick_build1(b, WICK_OP_round_even, y);
  if (zero.id) zero = wick_build_cast(b, constexpr_along(n, zero, n->in[0], axis), e);
  if (zero.id) y = wick_build2(b, WICK_OP_add, y, zero);
  y = wick_emit_by(b, WICK_OP_max, y, is_signed ? -128 : 0);
  y = wick_emit_by(b, WICK_OP_min, y, is_signed ? 127 : 255);
  if (!n->failed) n->out[0] = wick_build_cast(b, y, to);
}

/* A scale for each block: axes that have several blocks of several elements become two. */
static bool constexpr_blocks(wick_import_node *n, const wick_type_info *x, const wick_type_info *s,
                             uint32_t *rank, wick_dim *wide, wick_dim *narrow)
{
  *rank = 0;
  bool good = x->rank == s->rank;
  for (uint32_t k = 0; k < x->rank && good; k++) {
    int64_t size = wick_dim_is_const(x->dim[k]) ? x->dim[k].v : -1,
            many = wick_dim_is_const(s->dim[k]) ? s->dim[k].v : 0;
    good = many >= 1 && size >= 0 && size % many == 0 && *rank + 2 <= WICK_MAX_RANK;
    if (!good) break;
    bool split = many > 1 && many < size;
    wide[*rank] = wick_dim_const(split ? many : size), narrow[(*rank)++] = wick_dim_const(many);
    if (split) wide[*rank] = wick_dim_const(size / many), narrow[(*rank)++] = wick_dim_const(1);
  }
  if (!good) wick_import_fail(n, WICK_ETYPE, "its scales do not divide its data into blocks");
  return good;
}

void wick_mil_import_blockwise(wick_import_node *n) /* data, scale, offset */
{
  const wick_type_info x = *wick_import_info(n, 0), s = *wick_import_info(n, 1);
  wick_dim wide[WICK_MAX_RANK], narrow[WICK_MAX_RANK];
  wick_value offset = n->in[2];
  uint32_t rank;
  if (!constexpr_blocks(n, &x, &s, &rank, wide, narrow)) return;
  wick_value data = wick_build_reshape(n->b, n->in[0], rank, wide);
  wick_value scale = wick_build_reshape(n->b, n->in[1], rank, narrow);
  if (offset.id) offset = wick_build_reshape(n->b, offset, rank, narrow);
  if (n->b->status) return;
  wick_value y = constexpr_scaled(n, data, offset, scale);
  n->out[0] = wick_build_reshape(n->b, y, x.rank, x.dim);
}

/* ---- look-up tables ---- */

/* Indices of nbits bits into a table of 2^nbits entries. */
void wick_mil_import_lut_old(wick_import_node *n) /* indices, lut */
{
  constexpr_data i, lut, y = {0};
  uint32_t bits = 0;
  if (!constexpr_get(n, n->in[0], "the indices", &i) ||
      !constexpr_get(n, n->in[1], "the look-up table", &lut))
    return;
  while (bits < 8 && (uint64_t)1 << bits < lut.numel) bits++;
  if (!bits || (uint64_t)1 << bits != lut.numel || i.elem != WICK_U8) {
    wick_import_fail(n, WICK_EPARSE, "its look-up table has %llu entries",
                     (unsigned long long)lut.numel);
    return;
  }
  if (!constexpr_shape(n, bits, i.numel, &y)) return;
  unsigned char *to = constexpr_alloc(n, y.numel, lut.size);
  for (uint64_t k = 0; k < y.numel; k++)
    memcpy(to + k * lut.size, lut.at + constexpr_bits(i.at, i.numel, k, bits) * lut.size, lut.size);
  n->out[0] = constexpr_made(n, lut.elem, y.rank, y.dim, to);
}

/* Tables of entries of `vector` elements for blocks of the indices. */
typedef struct constexpr_lut {
  constexpr_data data;
  uint64_t entries, vector;
  uint32_t axis;                /* along which an entry's elements lie */
  int64_t block[WICK_MAX_RANK]; /* indices that share a table, along each axis */
} constexpr_lut;

static bool constexpr_lut_read(wick_import_node *n, wick_value v, const constexpr_data *i,
                               constexpr_lut *l)
{
  l->axis = 0;
  if (!constexpr_get(n, v, "the look-up table", &l->data)) return false;
  bool good = l->data.rank == i->rank + 2;
  for (uint32_t k = 0; k < i->rank && good; k++) {
    int64_t tables = l->data.dim[k];
    good = tables >= 1 && i->dim[k] % tables == 0;
    l->block[k] = good ? i->dim[k] / tables : 1;
  }
  if (good) {
    l->entries = (uint64_t)l->data.dim[i->rank], l->vector = (uint64_t)l->data.dim[i->rank + 1];
    good = l->vector >= 1 && l->vector <= 1 << 16 && l->entries >= 1;
  }
  if (!good) {
    wick_import_fail(n, WICK_EPARSE, "its look-up tables do not fit its indices");
    return false;
  }
  if (l->vector == 1) return true;
  if (!wick_import_attr_has(n, "vector_axis")) {
    wick_import_fail(n, WICK_EPARSE, "vector_axis is missing");
    return false;
  }
  return wick_import_axis(n, wick_import_int(n, "vector_axis", 0), i->rank, &l->axis);
}

/* Finds the entry of index number k, whose place along each axis is in `at`. NULL after a failure. */
static const unsigned char *constexpr_entry(wick_import_node *n, const constexpr_lut *l,
                                            uint32_t rank, const int64_t *at, uint32_t index)
{
  uint64_t table = 0;
  for (uint32_t k = 0; k < rank; k++)
    table = table * (uint64_t)l->data.dim[k] + (uint64_t)(at[k] / l->block[k]);
  if (index < l->entries)
    return l->data.at + (table * l->entries + index) * l->vector * l->data.size;
  if (!n->failed) wick_import_fail(n, WICK_EPARSE, "index %u is outside of its table", index);
  return NULL;
}

/* Counts through the places of a tensor, the last axis fastest. */
static void constexpr_next(uint32_t rank, const int64_t *dim, int64_t *at)
{
  for (uint32_t k = rank; k-- > 0;) {
    if (++at[k] < dim[k]) return;
    at[k] = 0;
  }
}

/* Where element v of the entry at place `at` lies in the result. */
static uint64_t constexpr_place(const constexpr_lut *l, uint32_t rank, const int64_t *dim,
                                const int64_t *at, uint64_t v)
{
  uint64_t place = 0;
  for (uint32_t k = 0; k < rank; k++) {
    uint64_t many = k == l->axis ? l->vector : 1;
    place = place * (uint64_t)dim[k] * many + (uint64_t)at[k] * many + (k == l->axis ? v : 0);
  }
  return place;
}

/* Indices [..] into tables [.., entries, vector]. `mask`: which indices there are; the indices then
 * are those alone. Sets the result's data, and its mask if there is one. */
static unsigned char *constexpr_looked_up(wick_import_node *n, const constexpr_data *shape,
                                          const constexpr_data *i, const unsigned char *mask,
                                          const constexpr_lut *l, unsigned char *out_mask)
{
  uint64_t numel = shape->numel * l->vector, next = 0;
  int64_t at[WICK_MAX_RANK] = {0};
  unsigned char *to = constexpr_alloc(n, numel, l->data.size);
  for (uint64_t k = 0; k < shape->numel && !n->failed; k++) {
    bool there = !mask || mask[k];
    const unsigned char *entry =
        there && next < i->numel ? constexpr_entry(n, l, shape->rank, at, i->at[next]) : NULL;
    if (there) next++;
    for (uint64_t v = 0; v < l->vector && entry; v++) {
      uint64_t place = constexpr_place(l, shape->rank, shape->dim, at, v);
      memcpy(to + place * l->data.size, entry + v * l->data.size, l->data.size);
      if (out_mask) out_mask[place] = 1;
    }
    constexpr_next(shape->rank, shape->dim, at);
  }
  return to;
}

static bool constexpr_is_byte(wick_import_node *n, const constexpr_data *d, const char *what)
{
  if (d->elem == WICK_U8) return true;
  wick_import_fail(n, WICK_EPARSE, "%s are %s, expected u8", what, wick_elem_name(d->elem));
  return false;
}

void wick_mil_import_lut(wick_import_node *n) /* indices, lut */
{
  constexpr_data i;
  constexpr_lut l;
  if (!constexpr_get(n, n->in[0], "the indices", &i) || !constexpr_is_byte(n, &i, "the indices") ||
      !constexpr_lut_read(n, n->in[1], &i, &l))
    return;
  unsigned char *to = constexpr_looked_up(n, &i, &i, NULL, &l, NULL);
  if (l.vector > 1) i.dim[l.axis] *= (int64_t)l.vector;
  if (!n->failed) n->out[0] = constexpr_made(n, l.data.elem, i.rank, i.dim, to);
}

/* ---- sparse constants ---- */

/* The elements of `data` where the mask is not 0, in order: their number must fit. */
static bool constexpr_count(wick_import_node *n, const unsigned char *mask, uint64_t numel,
                            uint64_t have)
{
  uint64_t count = 0;
  for (uint64_t k = 0; k < numel; k++) count += mask[k] != 0;
  if (count == have) return true;
  wick_import_fail(n, WICK_EPARSE, "its mask has %llu elements, its data %llu",
                   (unsigned long long)count, (unsigned long long)have);
  return false;
}

static unsigned char *constexpr_dense(wick_import_node *n, const unsigned char *mask,
                                      uint64_t numel, const constexpr_data *d)
{
  unsigned char *to = constexpr_alloc(n, numel, d->size);
  uint64_t next = 0;
  for (uint64_t k = 0; k < numel; k++)
    if (mask[k]) memcpy(to + k * d->size, d->at + next++ * d->size, d->size);
  return to;
}

void wick_mil_import_sparse_to_dense(wick_import_node *n) /* nonzero_data, mask; arg: 1: packed */
{
  constexpr_data d, mask, y;
  if (!constexpr_get(n, n->in[0], "the data", &d) ||
      !constexpr_get(n, n->in[1], "the mask", &mask) ||
      !constexpr_is_byte(n, &mask, "the mask's elements"))
    return;
  y = mask;
  const unsigned char *bits = mask.at;
  if (n->row->arg) {
    if (!constexpr_shape(n, 1, mask.numel, &y)) return;
    unsigned char *to = wick_new(n->c->tmp, unsigned char, (size_t)y.numel + 1);
    for (uint64_t k = 0; k < y.numel; k++)
      to[k] = (unsigned char)constexpr_bits(mask.at, mask.numel, k, 1);
    bits = to;
  }
  if (!constexpr_count(n, bits, y.numel, d.numel)) return;
  n->out[0] = constexpr_made(n, d.elem, y.rank, y.dim, constexpr_dense(n, bits, y.numel, &d));
}

/* The elements where the mask is not 0, as a vector. */
static wick_value constexpr_sparse(wick_import_node *n, wick_elem elem, const unsigned char *mask,
                                   uint64_t numel, const unsigned char *dense)
{
  uint32_t size = wick_elem_storage[elem].bits / 8u;
  unsigned char *to = constexpr_alloc(n, numel, size);
  int64_t count = 0;
  for (uint64_t k = 0; k < numel; k++)
    if (mask[k]) memcpy(to + (uint64_t)count++ * size, dense + k * size, size);
  return constexpr_made(n, elem, 1, &count, to);
}

void wick_mil_import_lut_to_sparse(wick_import_node *n) /* mask, nonzero indices, lut */
{
  constexpr_data mask, i;
  constexpr_lut l;
  if (!constexpr_get(n, n->in[0], "the mask", &mask) ||
      !constexpr_get(n, n->in[1], "the indices", &i) ||
      !constexpr_is_byte(n, &mask, "the mask's elements") ||
      !constexpr_is_byte(n, &i, "the indices") ||
      !constexpr_count(n, mask.at, mask.numel, i.numel) ||
      !constexpr_lut_read(n, n->in[2], &mask, &l))
    return;
  uint64_t numel = mask.numel * l.vector;
  unsigned char *wide = constexpr_alloc(n, numel, 1),
                *dense = constexpr_looked_up(n, &mask, &i, mask.at, &l, wide);
  if (n->failed) return;
  if (l.vector > 1) mask.dim[l.axis] *= (int64_t)l.vector;
  n->out[0] = constexpr_made(n, WICK_U8, mask.rank, mask.dim, wide);
  if (n->nout > 1) n->out[1] = constexpr_sparse(n, l.data.elem, wide, numel, dense);
}

static double constexpr_real(const constexpr_data *d, uint64_t k)
{
  wick_scalar s = wick_load_elem(d->elem, d->at, k);
  return wick_elem_is_float(d->elem) ? s.f : (double)s.i;
}

/* Element k of a tensor of blocks, for the place `at`. */
static uint64_t constexpr_block(const constexpr_data *s, const int64_t *dim, const int64_t *at)
{
  uint64_t place = 0;
  for (uint32_t k = 0; k < s->rank; k++)
    place = place * (uint64_t)s->dim[k] + (uint64_t)(at[k] / (dim[k] / s->dim[k]));
  return place;
}

/* scale * (data - offset), rounded after each step. */
void wick_mil_import_sparse_blockwise(wick_import_node *n) /* mask, nonzero data, scale, offset */
{
  constexpr_data mask, d, s, o = {0};
  int64_t at[WICK_MAX_RANK] = {0};
  wick_dim wide[WICK_MAX_RANK], narrow[WICK_MAX_RANK];
  uint32_t rank;
  if (!constexpr_get(n, n->in[0], "the mask", &mask) ||
      !constexpr_get(n, n->in[1], "the data", &d) || !constexpr_get(n, n->in[2], "the scale", &s) ||
      (n->in[3].id && !constexpr_get(n, n->in[3], "the offset", &o)) ||
      !constexpr_is_byte(n, &mask, "the mask's elements") ||
      !constexpr_count(n, mask.at, mask.numel, d.numel) ||
      !constexpr_blocks(n, wick_import_info(n, 0), wick_import_info(n, 2), &rank, wide, narrow))
    return;
  if (o.at && o.numel != s.numel) {
    wick_import_fail(n, WICK_EPARSE, "its scale and offset differ in size");
    return;
  }
  unsigned char *to = constexpr_alloc(n, d.numel, s.size);
  uint64_t next = 0;
  for (uint64_t k = 0; k < mask.numel; k++) {
    if (mask.at[k]) {
      uint64_t block = constexpr_block(&s, mask.dim, at);
      double x = constexpr_real(&d, next) - (o.at ? constexpr_real(&o, block) : 0);
      x = wick_round_elem(s.elem, (wick_scalar){.f = x}).f * constexpr_real(&s, block);
      wick_store_elem(s.elem, to, next++, (wick_scalar){.f = x});
    }
    constexpr_next(mask.rank, mask.dim, at);
  }
  int64_t count = (int64_t)d.numel;
  n->out[0] = n->in[0];
  if (n->nout > 1) n->out[1] = constexpr_made(n, s.elem, 1, &count, to);
}

/* ---- classifiers ---- */

/* The keys of the labels: numbers of strings, or integers. Returns false after a failure. */
static bool constexpr_labels(wick_import_node *n, uint32_t *out_n, bool *texts, int64_t **key)
{
  const wick_mil_arg *a = wick_mil_arg_find(n, "classes");
  const wick_mil_item *item = a && a->n == 1 ? &a->item[0] : NULL;
  constexpr_data d;
  *texts = item && item->kind == WICK_MIL_TEXT;
  if (!*texts && (!item || item->kind != WICK_MIL_TENSOR)) {
    wick_import_fail(n, WICK_EPARSE, "it has no classes");
    return false;
  }
  if (!*texts && !constexpr_get(n, item->v, "the classes", &d)) return false;
  *out_n = *texts ? item->ntext : (uint32_t)d.numel;
  *key = wick_new(n->c->tmp, int64_t, (size_t)*out_n + 1);
  for (uint32_t k = 0; k < *out_n; k++) {
    wick_span s = *texts ? item->text[k] : (wick_span){0};
    (*key)[k] = *texts ? wick_string_table_add(&n->c->module->strings,
                                               s.nbytes ? (const char *)s.at : "", s.nbytes, true)
                       : wick_load_elem(d.elem, d.at, k).i;
  }
  return true;
}

/* The label of the largest probability, [1], and the probabilities in the order of the classes: a
 * dictionary. */
void wick_mil_import_classify(wick_import_node *n) /* probabilities */
{
  wick_builder *b = n->b;
  wick_dim all = wick_type_numel(n->c->module, wick_mil_type_of(n, n->in[0])),
           one = wick_dim_const(1);
  uint32_t count;
  bool texts;
  int64_t *key;
  if (!constexpr_labels(n, &count, &texts, &key)) return;
  if (!wick_dim_is(all, count)) {
    wick_import_fail(n, WICK_ETYPE, "it has %u classes, which is not the number of probabilities",
                     count);
    return;
  }
  int64_t dim = count;
  wick_value labels = wick_import_copied(n->c, n->name, texts ? WICK_STRING : WICK_I64, 1, &dim,
                                         key, (uint64_t)count * sizeof *key);
  wick_value p = wick_build_reshape(b, n->in[0], 1, &all);
  wick_emit e = wick_emit_begin(b, WICK_OP_argmax);
  wick_emit_set_int(&e, "axis", 0);
  wick_value best = wick_build_reshape(b, wick_emit_end1(&e, p), 1, &one);
  if (n->nout) n->out[0] = wick_emit_gather(b, WICK_OP_gather, labels, best, 0);
  if (n->nout < 2) return;
  n->out[1] = wick_build_cast(b, p, WICK_F32);
  wick_span name = wick_mil_op_of(n)->def->outputs.at[1].name;
  wick_coreml_keys(n->c, wick_wire_text(n->c->tmp, name), count, texts, key);
}
