/* The derivative of a convolution with respect to its weights: for each element of the window, the
 * sum over all images and positions of the image's element times the cotangent. */
#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/layout/layout.h"
#include "ops/nn/window.h"
#include "ops/ref.h"
#include "ops/stage.h"
#include "ops/work.h"

/* The forms of the operands, for two spatial axes; others have more or fewer of them. The plain
 * operator has x [N, C, Y, X] and g [N, M, Y', X'], with the result [M, C / group, R, S].
 *
 * In the packed operator, g is in blocks, [N, OB, Y', X', co], and a block belongs to one group. x
 * is plain, or in blocks of the whole image, [N, CB, Y, X, ci]; if both are in blocks and there are
 * groups, each channel is a group. The images are added in P parts, which the caller adds:
 * [P, OB, C / group, R, S, co], [P, OB, CB, R, S, ci, co], or [P, OB, R, S, co]. */
typedef struct weight_grad {
  const wick_type_info *x, *g;
  wick_window w;
  int64_t group, parts;
  bool packed;  /* g is in blocks */
  bool blocks;  /* x, too */
  bool apart;   /* each channel is a group, and the lanes are channels of both */
  wick_dim own; /* plain x: the channels of a group */
} weight_grad;

static bool weight_grad_is_packed(wick_opcode op) { return op == WICK_OP_conv_weight_grad_packed; }

/* Both operators have these attributes at the same indices. */
static weight_grad weight_grad_of(wick_dims *t, wick_opcode op, const wick_type_info *x,
                                  const wick_type_info *g, const wick_attr *a)
{
  weight_grad s = {.x = x, .g = g, .parts = 1, .packed = weight_grad_is_packed(op)};
  const wick_attr *kernel = &a[WICK_ATTR_conv_weight_grad_kernel];
  s.w = wick_window_of(a, kernel->n, kernel->ints);
  s.group = a[WICK_ATTR_conv_weight_grad_group].i;
  if (s.packed) s.parts = a[WICK_ATTR_conv_weight_grad_packed_parts].i;
  s.blocks = s.packed && x->rank == g->rank;
  s.apart = s.blocks && s.group > 1;
  s.own = wick_dim_floordiv(t, x->dim[1], wick_dim_const(s.group));
  return s;
}

static wick_status weight_grad_operands(const wick_infer *c, const weight_grad *s)
{
  const wick_type_info *x = s->x, *g = s->g;
  uint32_t n = s->w.n;
  if (n < 1 || n > WICK_WINDOW_MAX || g->rank != n + 2 + s->packed ||
      (x->rank != n + 2 && x->rank != g->rank))
    return wick_infer_fail(c, WICK_ETYPE, "x and g have rank %u and %u, the window has %u", x->rank,
                           g->rank, n);
  if (!wick_infer_equal(c, x->dim[0], g->dim[0]))
    return wick_infer_fail(c, WICK_ETYPE, "x has %s images, g has %s",
                           wick_infer_dim_text(c, x->dim[0]), wick_infer_dim_text(c, g->dim[0]));
  wick_dim group = wick_dim_const(s->group);
  if (s->apart ? !wick_dim_eq(x->dim[1], g->dim[1]) ||
                     !wick_dim_eq(x->dim[x->rank - 1], g->dim[g->rank - 1])
               : !wick_infer_divides(c, g->dim[1], group) ||
                     (!s->blocks && !wick_infer_divides(c, x->dim[1], group)))
    return wick_infer_fail(c, WICK_ETYPE, "%s and %s channels in %lld groups",
                           wick_infer_dim_text(c, x->dim[1]), wick_infer_dim_text(c, g->dim[1]),
                           (long long)s->group);
  if (!wick_infer_divides(c, x->dim[0], wick_dim_const(s->parts)))
    return wick_infer_fail(c, WICK_ETYPE, "%s images in %lld parts",
                           wick_infer_dim_text(c, x->dim[0]), (long long)s->parts);
  return NULL;
}

static wick_status weight_grad_infer(wick_infer *c)
{
  const wick_type_info *x, *g;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 3, &x));
  WICK_TRY(wick_infer_alike(c, 1, "g", 3, &g));
  const wick_attr *kernel = &c->attr[WICK_ATTR_conv_weight_grad_kernel];
  if (kernel->n < 1 || kernel->n > WICK_WINDOW_MAX)
    return wick_infer_fail(c, WICK_ETYPE, "the window has %u dimensions", kernel->n);
  WICK_TRY(wick_window_check(c, kernel->n + 2, c->attr));
  weight_grad s = weight_grad_of(c->module->dims, c->op, x, g, c->attr);
  WICK_TRY(weight_grad_operands(c, &s));
  wick_dim dim[WICK_MAX_RANK];
  uint32_t rank = 0;
  if (s.packed) dim[rank++] = wick_dim_const(s.parts);
  dim[rank++] = g->dim[1];
  if (!s.apart) dim[rank++] = s.blocks ? x->dim[1] : s.own;
  for (uint32_t k = 0; k < s.w.n; k++) dim[rank++] = wick_dim_const(s.w.kernel[k]);
  if (s.blocks && !s.apart) dim[rank++] = x->dim[x->rank - 1];
  if (s.packed) dim[rank++] = g->dim[g->rank - 1];
  wick_infer_out(c, 0, x->elem, rank, dim);
  return NULL;
}

/* ---- reference ---- */

/* An element of the result: its indices, and the sizes that they count. */
typedef struct weight_grad_at {
  int64_t part, oc, ic, tap[WICK_WINDOW_MAX], i, v;
} weight_grad_at;

static weight_grad_at weight_grad_index(const weight_grad *s, const int64_t *at)
{
  weight_grad_at r = {0};
  uint32_t k = 0;
  if (s->packed) r.part = at[k++];
  r.oc = at[k++];
  if (!s->apart) r.ic = at[k++];
  for (uint32_t a = 0; a < s->w.n; a++) r.tap[a] = at[k++];
  if (s->blocks && !s->apart) r.i = at[k++];
  if (s->packed) r.v = at[k++];
  return r;
}

/* Reads x or g at [n, channel, position..., lane]; 0 outside of the image. */
static double weight_grad_read(const wick_tensor *t, bool lanes, int64_t n, int64_t channel,
                               const int64_t *position, int64_t lane)
{
  int64_t at = n * t->dim[1] + channel;
  for (uint32_t k = 2; k < t->rank - lanes; k++) {
    if (position[k - 2] < 0 || position[k - 2] >= t->dim[k]) return 0;
    at = at * t->dim[k] + position[k - 2];
  }
  if (lanes) at = at * t->dim[t->rank - 1] + lane;
  return wick_load_elem(t->elem, t->data, (uint64_t)at).f;
}

/* The channel of x that an element of the result reads. In blocks a group can be a part of a block. */
static int64_t weight_grad_channel(const wick_ref *c, const weight_grad *s, const weight_grad_at *r)
{
  if (s->apart) return r->oc;
  if (s->blocks) return r->ic;
  int64_t group = r->oc / (c->in[1].dim[1] / s->group);
  return group * (c->in[0].dim[1] / s->group) + r->ic;
}

static double weight_grad_sum(const wick_ref *c, const weight_grad *s, const weight_grad_at *r)
{
  const wick_tensor *x = &c->in[0], *g = &c->in[1];
  int64_t images = x->dim[0] / s->parts, channel = weight_grad_channel(c, s, r);
  double sum = 0;
  for (int64_t n = r->part * images; n < (r->part + 1) * images; n++) {
    int64_t o[WICK_WINDOW_MAX] = {0}, i[WICK_WINDOW_MAX];
    if (!wick_ref_product(g, 2, 2 + s->w.n)) continue;
    do {
      for (uint32_t k = 0; k < s->w.n; k++)
        i[k] = o[k] * s->w.stride[k] + r->tap[k] * s->w.dilation[k] - s->w.begin[k];
      sum += weight_grad_read(x, s->blocks, n, channel, i, s->apart ? r->v : r->i) *
             weight_grad_read(g, s->packed, n, r->oc, o, r->v);
    } while (wick_ref_next(s->w.n, g->dim + 2, o));
  }
  return sum;
}

static wick_type_info weight_grad_type(const wick_tensor *t, wick_dim *dim)
{
  for (uint32_t k = 0; k < t->rank; k++) dim[k] = wick_dim_const(t->dim[k]);
  return (wick_type_info){.elem = t->elem, .rank = (uint16_t)t->rank, .dim = dim};
}

static wick_status weight_grad_ref(wick_ref *c)
{
  wick_dim xd[WICK_MAX_RANK], gd[WICK_MAX_RANK];
  wick_type_info x = weight_grad_type(&c->in[0], xd), g = weight_grad_type(&c->in[1], gd);
  weight_grad s = weight_grad_of(c->module->dims, c->op, &x, &g, c->attr);
  const wick_tensor *out = &c->out[0];
  int64_t at[WICK_MAX_RANK] = {0};
  uint64_t k = 0;
  if (!wick_ref_numel(out)) return NULL;
  do {
    weight_grad_at r = weight_grad_index(&s, at);
    wick_store_elem(out->elem, out->data, k++, (wick_scalar){.f = weight_grad_sum(c, &s, &r)});
  } while (wick_ref_next(out->rank, out->dim, at));
  return NULL;
}

/* ---- stages ---- */

static void weight_grad_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  wick_dims *t = b->module->dims;
  weight_grad s =
      weight_grad_of(t, c->op, wick_built_info(b, c->in[0]), wick_built_info(b, c->in[1]), c->attr);
  const wick_type_info *x = s.x, *g = s.g;
  const wick_dim zero = wick_dim_const(0),
                 images = wick_dim_floordiv(t, x->dim[0], wick_dim_const(s.parts));
  wick_axis axis[8 + 2 * WICK_WINDOW_MAX];
  uint32_t n = 0, nsp = s.w.n;
  if (s.packed) axis[n++] = wick_make_axis(b, "p", wick_dim_const(s.parts), false);
  uint32_t oc = n++, ic = oc, i = 0, v = 0;
  axis[oc] = wick_make_axis(b, "oc", g->dim[1], false);
  if (!s.apart) ic = n++, axis[ic] = wick_make_axis(b, "ic", s.blocks ? x->dim[1] : s.own, false);
  uint32_t tap = n;
  for (uint32_t k = 0; k < nsp; k++)
    axis[n++] = wick_make_axis(b, wick_window_tap(nsp, k), wick_dim_const(s.w.kernel[k]), false);
  if (s.blocks && !s.apart) i = n++, axis[i] = wick_make_axis(b, "i", x->dim[x->rank - 1], false);
  if (s.packed) v = n++, axis[v] = wick_make_axis(b, "v", g->dim[g->rank - 1], false);
  uint32_t image = n++;
  axis[image] = wick_make_axis(b, "n", images, true);
  wick_dim at = axis[image].sym, channel = axis[ic].sym;
  if (s.packed) at = wick_dim_add(t, wick_dim_mul(t, axis[0].sym, images), at);
  if (!s.blocks && s.group > 1) {
    wick_dim per = wick_dim_floordiv(t, g->dim[1], wick_dim_const(s.group)),
             group = wick_dim_floordiv(t, axis[oc].sym, per);
    channel = wick_dim_add(t, wick_dim_mul(t, group, s.own), channel);
  }
  wick_dim xi[WICK_MAX_RANK] = {at, channel}, gi[WICK_MAX_RANK] = {at, axis[oc].sym};
  for (uint32_t k = 0; k < nsp; k++, n++) {
    axis[n] = wick_make_axis(b, wick_window_axis(nsp, k), g->dim[2 + k], true);
    xi[2 + k] = wick_window_at(t, &s.w, k, axis[n].sym, axis[tap + k].sym);
    gi[2 + k] = axis[n].sym;
  }
  if (s.blocks) xi[2 + nsp] = s.apart ? axis[v].sym : axis[i].sym;
  if (s.packed) gi[2 + nsp] = v ? axis[v].sym : zero;
  wick_elem acc = wick_stage_arith(x->elem);
  wick_value state =
      wick_stage_fold(b, "conv_weight_grad", n, axis, c->out_type[0], WICK_OP_add, acc);
  wick_value a = wick_stage_read0(b, c->in[0], xi);
  a = wick_build_cast(b, a, acc);
  wick_value y = wick_read(b, c->in[1], gi, 0, NULL, (wick_value){0});
  y = wick_build_cast(b, y, acc);
  state = wick_stage_finish(b, wick_stage_muladd(b, a, y, state), WICK_OP_add);
  c->out[0] = wick_stage_end(b, state, c->out_type[0]);
}

#define WEIGHT_GRAD_ATTRS                                                                          \
  WICK_WINDOW_ATTRS, {"group", WICK_ATTR_INT, 1, false, NULL, 1, WICK_WINDOW_LIMIT},               \
  {                                                                                                \
    "kernel", WICK_ATTR_INTS, 0, true, NULL, 1, WICK_WINDOW_LIMIT                                  \
  }

const wick_op wick_op_conv_weight_grad = {
    .name = "conv_weight_grad",
    .doc =
        "The derivative of a convolution of x [N, C, spatial...] with respect to its weights, "
        "for the cotangent g [N, M, positions...] of its result: y[m,c,k] = sum(n,o) "
        "g[n,m,o] * x[n,c,o*stride+k*dilation-pad]. x is 0 outside of its bounds, and pads at the "
        "end have no effect. Sums run in the order n, o; f16 and bf16 are summed in f32",
    .nin = {2, 2},
    .nout = {1, 1},
    .attr = {WEIGHT_GRAD_ATTRS},
    .level = WICK_GRAPH,
    .elems = WICK_FLOATS,
    .layout = wick_layout_conv_weight_grad,
    .infer = weight_grad_infer,
    .ref = weight_grad_ref,
    .products = wick_products_conv_weight_grad,
    .compute = weight_grad_compute,
    .grad = wick_grad_conv_weight_grad,
    .linear = {1, 2},
    .batch.run = wick_batch_conv_weight_grad,
};

const wick_op wick_op_conv_weight_grad_packed = {
    .name = "conv_weight_grad_packed",
    .doc = "`conv_weight_grad` for g in blocks of channels, and x plain or in blocks. With groups "
           "and x in blocks, each channel is a group. The images are added in `parts` of equal "
           "size, which are the first dimension of the result; its last dimension is that of "
           "g's blocks, after that of x's",
    .nin = {2, 2},
    .nout = {1, 1},
    .attr = {WEIGHT_GRAD_ATTRS, {"parts", WICK_ATTR_INT, 1, false, NULL, 1, WICK_WINDOW_LIMIT}},
    .level = WICK_GRAPH,
    .elems = WICK_FLOATS,
    .infer = weight_grad_infer,
    .ref = weight_grad_ref,
    .products = wick_products_conv_weight_grad,
    .compute = weight_grad_compute,
    .grad = wick_grad_none,
    .batch.run = wick_batch_rows,
};
