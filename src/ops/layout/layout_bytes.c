/* Convolutions and matrix products of bytes: i32 sums of products of (x - zero point), for x of 8
 * bits and constant weights that fit in 8 bits.
 *
 * The sums are those of x itself. The contribution of the zero point depends only on the weights:
 * it is a constant, added to the bias. If the target's dot products expect the other signedness of
 * x, the upper bit of x is flipped, which shifts x and the zero point by 128. Exact. */
#include <string.h>

#include "ir/element.h"
#include "ops/layout/layout.h"

typedef struct layout_bytes {
  const wick_node *n;
  wick_value x;  /* of 8 bits */
  wick_value by; /* a zero point that is not constant, or 0 */
  int64_t zero;  /* a constant zero point */
  const int32_t *w;
  const wick_constant *bias;
  const char *name;
  const wick_dot *dot; /* NULL: none */
  int64_t k;
  bool turn;                 /* x has the other signedness */
  bool words;                /* x is multiplied as words of 16 bits */
  int64_t wd[WICK_MAX_RANK]; /* dimensions of the plain weights */
  uint32_t nsp;              /* of a convolution: spatial axes */
  int64_t area;              /* places in its window */
  bool depthwise;
  wick_order in, out;
  wick_runs runs;
} layout_bytes;

/* ---- recognizing products of bytes ---- */

static const wick_node *layout_bytes_def(const wick_layouts *s, wick_value v, wick_opcode op)
{
  uint32_t d = v.id ? s->definer[v.id] : UINT32_MAX;
  return d != UINT32_MAX && s->c.f->node[d].op == op ? &s->c.f->node[d] : NULL;
}

/* Finds the number that all elements of an integer constant are equal to. */
static bool layout_bytes_number(const wick_layouts *s, wick_value v, int64_t *out)
{
  const wick_node *n = layout_bytes_def(s, v, WICK_OP_const);
  const wick_constant *k = wick_layout_constant(s, v);
  const wick_type_info *t = wick_layout_info(s, v);
  if (!n || !wick_dim_is(wick_type_numel(s->c.f->module, wick_type_of(s->c.f, v)), 1)) return false;
  if (!k && wick_const_imm(n)->constant) return false;
  *out = k ? wick_load_int(t->elem, k->data, 0) : wick_const_imm(n)->i;
  return true;
}

/* Matches an operand: a cast of bytes, from which a zero point may be subtracted. */
static bool layout_bytes_operand(const wick_layouts *s, wick_value operand, wick_value *x,
                                 wick_value *by, int64_t *zero)
{
  const wick_node *sub = layout_bytes_def(s, operand, WICK_OP_sub),
                  *cast = layout_bytes_def(s, sub ? sub->in[0] : operand, WICK_OP_cast);
  if (!cast) return false;
  wick_elem e = wick_layout_info(s, cast->in[0])->elem;
  *x = cast->in[0], *by = (wick_value){0}, *zero = 0;
  if (sub && !layout_bytes_number(s, sub->in[1], zero)) *by = sub->in[1];
  return (e == WICK_U8 || e == WICK_I8) && *zero >= -128 && *zero <= 255;
}

static bool layout_bytes_of(const wick_layouts *s, const wick_node *n, layout_bytes *v)
{
  const wick_constant *w = wick_layout_constant(s, n->in[1]);
  *v = (layout_bytes){.n = n, .k = 1};
  if (!w || wick_layout_info(s, n->in[0])->elem != WICK_I32 ||
      !layout_bytes_operand(s, n->in[0], &v->x, &v->by, &v->zero))
    return false;
  v->w = w->data, v->name = w->name;
  if (!wick_type_const_dims(wick_layout_info(s, n->in[1]), v->wd)) return false;
  for (uint64_t i = 0; i < w->nbytes / 4; i++)
    if (v->w[i] < -128 || v->w[i] > 127) return false;
  return true;
}

/* Finds the target's dot product for x, either unchanged or with its upper bit flipped. */
static void layout_bytes_dot(const wick_layouts *s, layout_bytes *v)
{
  enum { BYTES = 4 };
  wick_elem own = wick_layout_info(s, v->x)->elem, other = own == WICK_U8 ? WICK_I8 : WICK_U8;
  const wick_dot *as_is = wick_target_dot(s->target, own, WICK_I8, BYTES),
                 *turned = wick_target_dot(s->target, other, WICK_I8, BYTES);
  v->turn = turned && (!as_is || (as_is->pairs && !turned->pairs));
  v->dot = v->turn ? turned : as_is;
  v->k = v->dot ? BYTES : 1;
  if (v->turn) v->zero += other == WICK_U8 ? 128 : -128;
}

/* Chooses a dot product of words for an image, if one of bytes had to widen them: the image is
 * widened once, by the kernel that writes it, instead of for each block of channels that reads it. */
static void layout_bytes_widen(const wick_layouts *s, layout_bytes *v)
{
  enum { WORDS = 2 };
  const wick_dot *dot = wick_target_dot(s->target, WICK_I16, WICK_I8, WORDS);
  v->words = dot && v->dot && v->dot->pairs && !v->turn;
  if (v->words) v->dot = dot, v->k = WORDS;
}

static wick_value layout_bytes_turned(wick_layouts *s, const layout_bytes *v, wick_value x)
{
  if (v->words) return wick_build_cast(&s->c.b, x, v->dot->x);
  if (!v->turn || s->c.b.status) return x;
  wick_module *m = s->c.f->module;
  wick_type want = wick_type_with_elem(m, wick_built_type(&s->c.b, x), v->dot->x);
  x = wick_build(&s->c.b, WICK_OP_bitcast, 1, &x, NULL, 1, &want);
  wick_type one = wick_type_tensor(m, v->dot->x, 0, NULL);
  wick_value top = wick_build_const(&s->c.b, one, 0, v->dot->x == WICK_U8 ? 128 : -128);
  return wick_build2(&s->c.b, WICK_OP_bit_xor, x, top);
}

/* Allocates memory for new weights, filled with zeros. */
static int8_t *layout_bytes_alloc(wick_layouts *s, uint32_t rank, const int64_t *dim, uint64_t each)
{
  for (uint32_t i = 0; i < rank; i++) each *= (uint64_t)dim[i];
  int8_t *data = wick_arena_alloc(&s->c.f->module->mem, each, 64);
  memset(data, 0, each);
  return data;
}

/* ---- convolutions ---- */

/* Packs depthwise weights as [blocks, R, S, c]. */
static wick_value layout_bytes_by_channel(wick_layouts *s, const layout_bytes *v)
{
  int64_t b = s->block, area = v->area, dim[WICK_MAX_RANK] = {wick_order_places(&v->in) / b};
  memcpy(dim + 1, v->wd + 2, v->nsp * sizeof *dim);
  dim[1 + v->nsp] = b;
  int32_t *out = (int32_t *)(void *)layout_bytes_alloc(s, v->nsp + 2, dim, 4);
  for (int64_t o = 0; o < v->wd[0]; o++) {
    int64_t place = wick_order_place(&v->in, o);
    for (int64_t i = 0; i < area; i++)
      out[(place / b * area + i) * b + place % b] = v->w[o * area + i];
  }
  return wick_layout_new_constant(s, v->name, WICK_I32, out, v->nsp + 2, dim);
}

/* The number of columns that a dot product reads at once, and the number of neighbouring outputs
 * that read them. The latter is a power of two, so that tiles are whole groups of such outputs. */
typedef struct layout_bytes_spread {
  int64_t groups, phases;
} layout_bytes_spread;

static layout_bytes_spread layout_bytes_phases(const layout_bytes *v, int64_t stride)
{
  layout_bytes_spread p = {wick_ceildiv_i64(v->wd[3], v->k), 1};
  while ((2 * p.phases - 1) * stride + v->wd[3] <= p.groups * v->k) p.phases *= 2;
  return p;
}

/* Packs depthwise weights for dot products along columns: [blocks, R, phases, groups, c, k]. */
static wick_value layout_bytes_by_columns(wick_layouts *s, const layout_bytes *v, int64_t stride)
{
  layout_bytes_spread p = layout_bytes_phases(v, stride);
  int64_t b = s->block, k = v->k, rows = v->wd[2], taps = v->wd[3],
          dim[6] = {wick_order_places(&v->in) / b, rows, p.phases, p.groups, b, k};
  int8_t *out = layout_bytes_alloc(s, 6, dim, 1);
  for (int64_t o = 0; o < v->wd[0]; o++)
    for (int64_t at = 0; at < rows * p.phases * taps; at++) {
      int64_t place = wick_order_place(&v->in, o), tap = at % taps, e = at / taps % p.phases,
              r = at / taps / p.phases, column = e * stride + tap,
              to =
                  (((place / b * rows + r) * p.phases + e) * p.groups + column / k) * b + place % b;
      out[to * k + column % k] = (int8_t)v->w[(o * rows + r) * taps + tap];
    }
  return wick_layout_new_constant(s, v->name, WICK_I8, out, 6, dim);
}

/* Packs weights along runs: [OB, runs, R, S, length / k, co, k]; without the last dimension if k is
 * 1. */
static wick_value layout_bytes_by_runs(wick_layouts *s, const layout_bytes *v)
{
  int64_t b = s->block, k = v->k, area = v->area, n = v->runs.n,
          groups = wick_ceildiv_i64(v->runs.length, k);
  int64_t dim[WICK_MAX_RANK] = {wick_order_places(&v->out) / b, n};
  uint32_t rank = 2 + v->nsp;
  memcpy(dim + 2, v->wd + 2, v->nsp * sizeof *dim);
  dim[rank++] = groups, dim[rank++] = b;
  if (k > 1) dim[rank++] = k;
  int8_t *out = layout_bytes_alloc(s, rank, dim, 1);
  wick_dims *t = s->c.f->module->dims;
  for (int64_t q = 0; q < n; q++)
    for (int64_t j = 0; j < groups * k; j++) {
      int64_t first = wick_runs_first(t, &v->runs, wick_dim_const(0), wick_dim_const(q)).v,
              c = wick_order_channel(&v->in, first + j);
      for (int64_t o = 0; c >= 0 && o < v->wd[0]; o++) {
        int64_t place = wick_order_place(&v->out, o),
                to = (((place / b * n + q) * area * groups + j / k) * b + place % b) * k + j % k;
        const int32_t *from = v->w + (o * v->wd[1] + c) * area;
        for (int64_t i = 0; i < area; i++) out[to + i * groups * b * k] = (int8_t)from[i];
      }
    }
  return wick_layout_new_constant(s, v->name, WICK_I8, out, rank, dim);
}

/* Computes the bias plus the zero point's contribution, [1, blocks, 1, .., 1, block]. Returns 0 if
 * all numbers are 0. */
static wick_value layout_bytes_shares(wick_layouts *s, const layout_bytes *v)
{
  int64_t each = v->wd[1] * v->area, b = s->block,
          dim[WICK_MAX_RANK] = {1, wick_order_places(&v->out) / b, 1, 1, 1};
  dim[2 + v->nsp] = b;
  int32_t *out = (int32_t *)(void *)layout_bytes_alloc(s, v->nsp + 3, dim, 4);
  bool any = false;
  for (int64_t o = 0; o < v->wd[0]; o++) {
    int64_t sum = 0;
    for (int64_t i = 0; i < each; i++) sum += v->w[o * each + i];
    int64_t share = (v->bias ? ((const int32_t *)v->bias->data)[o] : 0) - v->zero * sum;
    out[wick_order_place(&v->out, o)] = (int32_t)(uint32_t)(uint64_t)share;
    any = any || share;
  }
  return any ? wick_layout_new_constant(s, v->name, WICK_I32, out, v->nsp + 3, dim)
             : (wick_value){0};
}

/* Chooses the orders. x keeps the order in which it is packed or will be packed; few channels are
 * in blocks of one dot product. */
static bool layout_bytes_orders(const wick_layouts *s, layout_bytes *v)
{
  const wick_order *own = wick_layout_order(s, v->x), *next = wick_layout_wanted(s, v->n);
  int64_t c = wick_layout_info(s, v->x)->dim[1].v, o = v->wd[0],
          group = v->n->attr[WICK_ATTR_conv_group].i;
  v->depthwise = group > 1 && group == c && o == c && v->wd[1] == 1;
  if (group > 1 && !v->depthwise) return false;
  bool apart = v->nsp != 2; /* dot products of depthwise convolutions run over columns of images */
  const wick_attr *dilation = &v->n->attr[WICK_ATTR_conv_dilation];
  for (uint32_t k = 0; k < dilation->n; k++) apart = apart || dilation->ints[k] != 1;
  if (!v->depthwise || !apart) layout_bytes_dot(s, v);
  if (!v->depthwise) layout_bytes_widen(s, v);
  bool few = !own && !v->depthwise && v->k > 1 && 2 * c < s->block;
  v->in = own ? *own : wick_order_make(c, 1, few ? v->k : s->block, false);
  v->out = v->depthwise ? v->in : wick_order_make(o, 1, s->block, false);
  if (v->depthwise) return v->in.block == s->block;
  if (next && next->block == s->block &&
      4 * wick_order_places(next) <= 5 * wick_order_places(&v->out))
    v->out = *next;
  return wick_runs_of(&v->in, 1, &v->runs);
}

static wick_value layout_bytes_depthwise(wick_layouts *s, const layout_bytes *v, wick_value x)
{
  const wick_node *n = v->n;
  wick_attr a[] = {[WICK_ATTR_depthwise_packed_stride] = n->attr[WICK_ATTR_conv_stride],
                   [WICK_ATTR_depthwise_packed_pad] = n->attr[WICK_ATTR_conv_pad],
                   [WICK_ATTR_depthwise_packed_taps] = {.i = v->wd[3]},
                   [WICK_ATTR_depthwise_packed_fill] = {.i = v->zero}};
  wick_value in[2] = {
      x, layout_bytes_by_columns(
             s, v, n->attr[WICK_ATTR_conv_stride].n ? n->attr[WICK_ATTR_conv_stride].ints[1] : 1)};
  return wick_build(&s->c.b, WICK_OP_depthwise_packed, 2, in, a, 0, NULL);
}

static wick_value layout_bytes_conv(wick_layouts *s, const layout_bytes *v, wick_value x)
{
  wick_attr a[WICK_MAX_ATTR] = {{0}};
  memcpy(a, v->n->attr, 4 * sizeof *a); /* stride, pad, dilation, group */
  bool places = !v->depthwise && wick_order_places(&v->in) != v->in.channels;
  a[4].i = places ? v->in.channels : 0;
  a[5].i = places ? v->in.parts : 1;
  a[6].i = places && v->in.shuffled;
  for (uint32_t i = 0; i < a[1].n; i++)
    if (a[1].ints[i]) a[7].i = v->zero;
  a[WICK_ATTR_conv_packed_spatial].i = v->nsp;
  wick_value in[2] = {x, v->depthwise ? layout_bytes_by_channel(s, v) : layout_bytes_by_runs(s, v)};
  return wick_build(&s->c.b, WICK_OP_conv_packed, 2, in, a, 0, NULL);
}

bool wick_layout_conv_bytes(wick_layouts *s, const wick_node *n)
{
  layout_bytes v;
  if (!layout_bytes_of(s, n, &v) || v.by.id || !wick_layout_is_image(s, v.x)) return false;
  if (n->nin > 2 && n->in[2].id && !(v.bias = wick_layout_constant(s, n->in[2]))) return false;
  v.nsp = wick_layout_info(s, v.x)->rank - 2u, v.area = 1;
  for (uint32_t k = 0; k < v.nsp; k++) v.area *= v.wd[2 + k];
  if (!layout_bytes_orders(s, &v)) return false;
  wick_value x = layout_bytes_turned(s, &v, wick_layout_pack(s, v.x, &v.in)),
             y = v.depthwise && v.dot ? layout_bytes_depthwise(s, &v, x)
                                      : layout_bytes_conv(s, &v, x),
             share = layout_bytes_shares(s, &v);
  if (share.id) y = wick_build2(&s->c.b, WICK_OP_add, y, share);
  wick_layout_set(s, n, y, &v.out);
  return true;
}

/* ---- products of matrices ---- */

/* Returns true if a zero point that is known only at run time is a single number, or one number for
 * each row. */
static bool layout_bytes_rows(const wick_layouts *s, const layout_bytes *v)
{
  const wick_type_info *t = v->by.id ? wick_layout_info(s, v->by) : NULL;
  return !t || t->rank == 0 || wick_dim_is(t->dim[t->rank - 1], 1);
}

/* Computes the sums of columns, multiplied by `times`, in blocks: [NB, v]. */
static wick_value layout_bytes_columns(wick_layouts *s, const layout_bytes *v, int64_t width,
                                       int64_t times)
{
  int64_t dim[2] = {wick_ceildiv_i64(v->wd[1], width), width};
  int32_t *out = (int32_t *)(void *)layout_bytes_alloc(s, 2, dim, 4);
  for (int64_t j = 0; j < v->wd[1]; j++) {
    int64_t sum = 0;
    for (int64_t i = 0; i < v->wd[0]; i++) sum += v->w[i * v->wd[1] + j];
    out[j] = (int32_t)(uint32_t)(uint64_t)(sum * times);
  }
  return wick_layout_new_constant(s, v->name, WICK_I32, out, 2, dim);
}

/* Packs the matrix as [NB, K / k, v, k]; without the last dimension if k is 1. */
static wick_value layout_bytes_matrix(wick_layouts *s, const layout_bytes *v, int64_t width)
{
  int64_t k = v->k,
          dim[4] = {wick_ceildiv_i64(v->wd[1], width), wick_ceildiv_i64(v->wd[0], k), width, k};
  int8_t *out = layout_bytes_alloc(s, 4, dim, 1);
  for (int64_t i = 0; i < v->wd[0]; i++)
    for (int64_t j = 0; j < v->wd[1]; j++)
      out[((j / width * dim[1] + i / k) * width + j % width) * k + i % k] =
          (int8_t)v->w[i * v->wd[1] + j];
  return wick_layout_new_constant(s, v->name, WICK_I8, out, k > 1 ? 4 : 3, dim);
}

/* Appends columns to x until a dot product divides their number. The rows of the weights that
 * they are multiplied by are 0. */
static wick_value layout_bytes_fill(wick_layouts *s, const layout_bytes *v, wick_value x)
{
  int64_t pad[2 * WICK_MAX_RANK] = {0}, more = wick_floormod_i64(-v->wd[0], v->k);
  uint32_t rank = wick_layout_info(s, v->x)->rank;
  if (!more) return x;
  pad[2 * rank - 1] = more;
  wick_attr a[] = {
      [WICK_ATTR_pad_pad] = {.n = 2 * rank, .ints = pad}, [WICK_ATTR_pad_mode] = {.i = 0}};
  return wick_build(&s->c.b, WICK_OP_pad, 1, &x, a, 0, NULL);
}

/* ---- products of two matrices that are not constant ---- */

/* The second factor is packed in each run. The zero points of both are single numbers, or numbers
 * for each row of x and each column of w. */
typedef struct layout_bytes_both {
  layout_bytes x;
  wick_value w, by; /* of 8 bits; its zero point if that is not constant, or 0 */
  int64_t zero;     /* a constant zero point of w */
  uint32_t batch;   /* axes that count products */
  int64_t width;    /* of a block of columns */
} layout_bytes_both;

/* Returns true if v has `rank` axes, of the same sizes as `as` has. */
static bool layout_bytes_alike(const wick_layouts *s, wick_value v, wick_value as, uint32_t rank)
{
  const wick_type_info *t = wick_layout_info(s, v), *u = wick_layout_info(s, as);
  bool alike = t->rank >= rank && u->rank >= rank;
  for (uint32_t k = 0; alike && k < rank; k++) alike = wick_dim_eq(t->dim[k], u->dim[k]);
  return alike;
}

/* Returns true if the zero point of w is one number for each column. */
static bool layout_bytes_by_column(const wick_layouts *s, const layout_bytes_both *p)
{
  const wick_type_info *t = wick_layout_info(s, p->by), *w = wick_layout_info(s, p->w);
  return !p->by.id || t->rank == 0 ||
         (wick_dim_eq(t->dim[t->rank - 1], w->dim[w->rank - 1]) &&
          (t->rank == 1 || (t->rank == w->rank && wick_dim_is(t->dim[t->rank - 2], 1) &&
                            layout_bytes_alike(s, p->by, p->w, p->batch))));
}

/* Returns true if there are enough products for packing w: 32 x 32 x 32 take half of the time, 2 x
 * 64 x 64 would take 1.7 times as long. */
static bool layout_bytes_many(const wick_layouts *s, const layout_bytes *v)
{
  enum { MANY = 1 << 15 };
  const wick_type_info *x = wick_layout_info(s, v->x);
  double products = (double)v->wd[0] * (double)v->wd[1];
  for (uint32_t k = 0; k + 1 < x->rank; k++)
    products *= (double)wick_dim_typical(s->c.f->module->dims, x->dim[k]);
  return products >= MANY;
}

static bool layout_bytes_both_of(const wick_layouts *s, const wick_node *n, layout_bytes_both *p)
{
  layout_bytes *v = &p->x;
  *p = (layout_bytes_both){.x = {.n = n, .k = 1}};
  if (wick_layout_info(s, n->in[0])->elem != WICK_I32 ||
      !layout_bytes_operand(s, n->in[0], &v->x, &v->by, &v->zero) ||
      !layout_bytes_operand(s, n->in[1], &p->w, &p->by, &p->zero) || !layout_bytes_rows(s, v))
    return false;
  const wick_type_info *x = wick_layout_info(s, v->x), *w = wick_layout_info(s, p->w);
  if (w->rank < 2 || x->rank < 2 || w->rank + 3u > WICK_MAX_RANK) return false;
  p->batch = w->rank - 2u;
  wick_dim inner = w->dim[p->batch], columns = w->dim[p->batch + 1];
  if ((p->batch && w->rank != x->rank) || !layout_bytes_alike(s, v->x, p->w, p->batch) ||
      !layout_bytes_alike(s, v->x, n->in[0], x->rank) ||
      !layout_bytes_alike(s, p->w, n->in[1], w->rank) || !wick_dim_is_const(inner) ||
      !wick_dim_is_const(columns) || wick_dim_is(x->dim[x->rank - 2], 1) ||
      !layout_bytes_by_column(s, p))
    return false;
  v->wd[0] = inner.v, v->wd[1] = columns.v;
  layout_bytes_dot(s, v);
  p->width = wick_layout_matmul_width(s, x, 0, columns.v);
  return v->dot && layout_bytes_many(s, v);
}

/* Returns x with zeros after its columns, which then fill blocks, and with `more` rows of zeros. */
static wick_value layout_bytes_extended(wick_layouts *s, const layout_bytes_both *p, wick_value x,
                                        int64_t more)
{
  int64_t pad[2 * WICK_MAX_RANK] = {0}, columns = wick_floormod_i64(-p->x.wd[1], p->width);
  if (s->c.b.status || (!more && !columns)) return x;
  uint32_t rank = wick_built_info(&s->c.b, x)->rank;
  pad[2 * rank - 1] = columns;
  if (more) pad[2 * rank - 2] = more;
  wick_attr a[] = {
      [WICK_ATTR_pad_pad] = {.n = 2 * rank, .ints = pad}, [WICK_ATTR_pad_mode] = {.i = 0}};
  return wick_build(&s->c.b, WICK_OP_pad, 1, &x, a, 0, NULL);
}

/* Returns x with its first `keep` axes, then axes of these sizes. */
static wick_value layout_bytes_view(wick_layouts *s, wick_value x, uint32_t keep, uint32_t n,
                                    const int64_t *size)
{
  wick_dim dim[WICK_MAX_RANK];
  if (s->c.b.status) return x;
  memcpy(dim, wick_built_info(&s->c.b, x)->dim, keep * sizeof *dim);
  for (uint32_t k = 0; k < n; k++) dim[keep + k] = wick_dim_const(size[k]);
  return wick_build_reshape(&s->c.b, x, keep + n, dim);
}

/* Returns the sums of x along these axes, in i32. */
static wick_value layout_bytes_sums(wick_layouts *s, wick_value x, uint32_t n, const int64_t *axes,
                                    bool keep)
{
  wick_attr a[] = {[WICK_ATTR_reduce_sum_axes] = {.n = n, .ints = axes},
                   [WICK_ATTR_reduce_sum_keepdims] = {.i = keep}};
  x = wick_build_cast(&s->c.b, x, WICK_I32);
  return wick_build(&s->c.b, WICK_OP_reduce_sum, 1, &x, a, 0, NULL);
}

/* Returns the zero point `by` + `number`, or 0 if there is none. */
static wick_value layout_bytes_zero(wick_layouts *s, wick_value by, int64_t number)
{
  if (!by.id && !number) return by;
  wick_type one = wick_type_tensor(s->c.f->module, WICK_I32, 0, NULL);
  wick_value k = wick_build_const(&s->c.b, one, 0, number);
  if (!by.id) return k;
  by = wick_layout_plain(s, by);
  return number ? wick_build2(&s->c.b, WICK_OP_add, by, k) : by;
}

/* Packs w, [.., K, N], as [.., NB, K / k, v, k], and adds up its columns: [.., 1, NB, v]. */
static wick_value layout_bytes_pack(wick_layouts *s, const layout_bytes_both *p, wick_value w,
                                    wick_value *sums)
{
  uint32_t b = p->batch;
  int64_t k = p->x.k, blocks = wick_ceildiv_i64(p->x.wd[1], p->width),
          parts[4] = {wick_ceildiv_i64(p->x.wd[0], k), k, blocks, p->width},
          row[3] = {1, blocks, p->width}, axes[2] = {b, b + 1}, perm[WICK_MAX_RANK];
  w = layout_bytes_extended(s, p, w, parts[0] * k - p->x.wd[0]);
  w = layout_bytes_view(s, w, b, 4, parts);
  *sums = layout_bytes_view(s, layout_bytes_sums(s, w, 2, axes, false), b, 3, row);
  for (uint32_t i = 0; i < b; i++) perm[i] = i;
  perm[b] = b + 2, perm[b + 1] = b, perm[b + 2] = b + 3, perm[b + 3] = b + 1;
  return wick_build_transpose(&s->c.b, w, b + 4, perm);
}

/* Builds the product. With zero points z of x and u of w, it is x w - z (sums of w's columns) -
 * u (sums of x's rows - K z). */
static bool layout_bytes_product(wick_layouts *s, const wick_node *n)
{
  layout_bytes_both p;
  wick_builder *b = &s->c.b;
  if (!layout_bytes_both_of(s, n, &p)) return false;
  int64_t one = 1, blocks[2] = {wick_ceildiv_i64(p.x.wd[1], p.width), p.width};
  wick_module *m = s->c.f->module;
  wick_value x = layout_bytes_turned(s, &p.x, wick_layout_plain(s, p.x.x)),
             w = wick_layout_plain(s, p.w), sums;
  if (wick_layout_info(s, p.w)->elem == WICK_U8) {
    layout_bytes turn = {.turn = true, .dot = &(wick_dot){.x = WICK_I8}};
    w = layout_bytes_turned(s, &turn, w);
    p.zero -= 128;
  }
  w = layout_bytes_pack(s, &p, w, &sums);
  wick_value in[2] = {layout_bytes_fill(s, &p.x, x), w};
  const wick_attr batch[] = {
      [WICK_ATTR_matmul_packed_batch] = {.i = p.batch}, [WICK_ATTR_matmul_packed_columns] = {0}};
  wick_value y = wick_build(b, WICK_OP_matmul_packed, 2, in, batch, 0, NULL),
             z = layout_bytes_zero(s, p.x.by, p.x.zero), u = layout_bytes_zero(s, p.by, p.zero);
  if (b->status) return false;
  uint32_t rank = wick_built_info(b, x)->rank;
  if (u.id) {
    int64_t last = rank - 1;
    wick_value rows = layout_bytes_sums(s, x, 1, &last, true);
    wick_type i32 = wick_type_tensor(m, WICK_I32, 0, NULL);
    if (z.id) {
      wick_value k = wick_build_const(b, i32, 0, p.x.wd[0]);
      rows = wick_build2(b, WICK_OP_sub, rows, wick_build2(b, WICK_OP_mul, z, k));
    }
    rows = layout_bytes_view(s, rows, rank, 1, &one);
    uint32_t axes = b->status ? 0 : wick_built_info(b, u)->rank;
    if (axes) u = layout_bytes_view(s, layout_bytes_extended(s, &p, u, 0), axes - 1, 2, blocks);
    y = wick_build2(b, WICK_OP_sub, y, wick_build2(b, WICK_OP_mul, rows, u));
  }
  if (z.id) {
    uint32_t axes = b->status ? 0 : wick_built_info(b, z)->rank;
    if (axes) z = layout_bytes_view(s, z, axes, 1, &one);
    y = wick_build2(b, WICK_OP_sub, y, wick_build2(b, WICK_OP_mul, z, sums));
  }
  wick_layout_set_columns(s, n, y, p.width);
  return true;
}

/* ---- products with a constant matrix ---- */

bool wick_layout_matmul_bytes(wick_layouts *s, const wick_node *n)
{
  layout_bytes v;
  wick_builder *b = &s->c.b;
  if (!layout_bytes_of(s, n, &v) || !layout_bytes_rows(s, &v)) return layout_bytes_product(s, n);
  const wick_type_info *x = wick_layout_info(s, v.x), *w = wick_layout_info(s, n->in[1]);
  layout_bytes_dot(s, &v);
  if (w->rank != 2 || x->rank < 2 || (v.wd[1] < s->block && !v.dot)) return false;
  int64_t width = wick_layout_matmul_width(s, x, 0, v.wd[1]);
  wick_value in[2] = {layout_bytes_turned(s, &v, wick_layout_plain(s, v.x)),
                      layout_bytes_matrix(s, &v, width)};
  in[0] = layout_bytes_fill(s, &v, in[0]);
  wick_value y = wick_build(b, WICK_OP_matmul_packed, 2, in, NULL, 0, NULL);
  if (v.zero) y = wick_build2(b, WICK_OP_add, y, layout_bytes_columns(s, &v, width, -v.zero));
  if (v.by.id) {
    wick_value by = wick_layout_plain(s, v.by), sums = layout_bytes_columns(s, &v, width, 1);
    const wick_type_info *t = wick_layout_info(s, v.by);
    wick_dim dim[WICK_MAX_RANK];
    for (uint32_t i = 0; i < t->rank; i++) dim[i] = t->dim[i];
    dim[t->rank] = wick_dim_const(1);
    /* after the rows, there are two axes */
    if (t->rank) by = wick_build_reshape(b, by, t->rank + 1, dim);
    y = wick_build2(b, WICK_OP_sub, y, wick_build2(b, WICK_OP_mul, by, sums));
  }
  wick_layout_set_columns(s, n, y, width);
  return true;
}
