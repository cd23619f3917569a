/* Convolutions whose images and weights are in blocks of channels. */
#include <string.h>

#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/nn/blocked.h"
#include "ops/nn/window.h"
#include "ops/ref.h"
#include "ops/stage.h"

/* The forms of the operands, for two spatial axes; others have more or fewer of them. x is
 * [N, CB, Y, X, ci] in blocks, or plain, [N, C, Y, X], for few channels. The result is
 * [N, OB, Y', X', co]. w depends on the algorithm:
 * - [OB, runs, R, S, length, co] along the runs of places that a group sums over;
 * - [OB, R, S, C, co] for plain x. Channels are innermost, because neighbouring taps read the same
 *   elements, and unrolled taps would keep them in registers;
 * - [OB, runs, R, S, length / k, co, k] for dot products of k neighbours, or [OB, R, S / k, C, co,
 *   k] for plain x, where the neighbours are in a row;
 * - [CB, R, S, c] for depthwise convolutions (group = C);
 * - [O, blocks, R, S, ci] along the blocks of a group, if there are few output channels. The lanes
 *   are then those of x, and the result is [N, O, Y', X']. */
typedef struct conv_packed_shape {
  bool plain, depthwise, across;
  const wick_type_info *x, *w;
  uint32_t n;                             /* spatial axes */
  const int64_t *stride, *pad, *dilation; /* along each spatial axis; pad: begins, then ends */
  int64_t group;
  int64_t k;       /* products in a dot product */
  uint32_t window; /* the first axis of the window in w */
  wick_runs runs;  /* unless plain or depthwise */
  bool runs_known; /* false: no such runs exist */
} conv_packed_shape;

static const int64_t conv_packed_ones[WICK_WINDOW_MAX] = {1, 1, 1},
                     conv_packed_zeros[2 * WICK_WINDOW_MAX] = {0};

static int64_t conv_packed_k(const wick_type_info *x, const wick_type_info *w, uint32_t n)
{
  bool dots = w->rank == (x->rank == n + 2 ? n + 4 : n + 5);
  return dots && wick_dim_is_const(w->dim[w->rank - 1]) ? w->dim[w->rank - 1].v : 1;
}

/* Returns the axis of w along which a block of the result lies. */
static uint32_t conv_packed_lanes(const conv_packed_shape *s)
{
  return s->w->rank - (s->k > 1 ? 2u : 1u);
}

/* Returns the taps along spatial axis k. Neighbours in a row belong to one dot product. */
static wick_dim conv_packed_taps(wick_dims *t, const conv_packed_shape *s, uint32_t k)
{
  wick_dim n = s->w->dim[s->window + k];
  return s->plain && k + 1 == s->n ? wick_dim_mul(t, n, wick_dim_const(s->k)) : n;
}

static conv_packed_shape conv_packed_of(const wick_type_info *x, const wick_type_info *w,
                                        const wick_attr *a)
{
  uint32_t n = (uint32_t)a[8].i;
  bool plain = x->rank == n + 2, depthwise = w->rank == n + 2;
  conv_packed_shape s = {.plain = plain,
                         .depthwise = depthwise,
                         .across = x->rank == n + 3 && w->rank == n + 3,
                         .x = x,
                         .w = w,
                         .n = n,
                         .stride = a[0].n ? a[0].ints : conv_packed_ones,
                         .pad = a[1].n ? a[1].ints : conv_packed_zeros,
                         .dilation = a[2].n ? a[2].ints : conv_packed_ones,
                         .group = a[3].i,
                         .k = conv_packed_k(x, w, n),
                         .window = plain || depthwise ? 1 : 2};
  if (plain || depthwise || x->rank != n + 3 || !wick_dim_is_const(x->dim[1]) ||
      !wick_dim_is_const(x->dim[n + 2]))
    return s;
  int64_t block = x->dim[n + 2].v, places = x->dim[1].v * block;
  wick_order o = {a[4].i ? a[4].i : places, a[5].i, block, a[6].i != 0};
  s.runs_known = o.channels % o.parts == 0 && o.channels % s.group == 0 &&
                 wick_order_places(&o) == places &&
                 (s.across ? wick_runs_of_blocks : wick_runs_of)(&o, s.group, &s.runs);
  return s;
}

static bool conv_packed_runs(wick_dims *t, const conv_packed_shape *s)
{
  const wick_dim *w = s->w->dim;
  return s->runs_known && (s->k == 1 || wick_runs_whole(t, &s->runs, s->k)) &&
         wick_dim_is(w[1], s->runs.n) &&
         wick_dim_is(w[2 + s->n], wick_ceildiv_i64(s->runs.length, s->k));
}

static wick_status conv_packed_operands(const wick_infer *c, const conv_packed_shape *s)
{
  const wick_type_info *x = s->x, *w = s->w;
  uint32_t n = s->n;
  if ((x->rank != n + 3 && !s->plain) || (w->rank != (s->plain || s->across ? n + 3 : n + 4) &&
                                          s->k == 1 && !(s->depthwise && x->rank == n + 3)))
    return wick_infer_fail(c, WICK_ETYPE,
                           "operands of rank %u and %u are not packed for each other", x->rank,
                           w->rank);
  if (!wick_packed_elems(s->x->elem, s->w->elem))
    return wick_infer_fail(c, WICK_ETYPE, "operands of different elements");
  uint32_t stride = c->attr[WICK_ATTR_conv_packed_stride].n,
           dilation = c->attr[WICK_ATTR_conv_packed_dilation].n,
           pad = c->attr[WICK_ATTR_conv_packed_pad].n;
  if ((stride && stride != n) || (dilation && dilation != n) || (pad && pad != 2 * n))
    return wick_infer_fail(c, WICK_ETYPE, "stride and dilation have %u entries, pad has %u", n,
                           2 * n);
  bool fits;
  if (s->plain)
    fits = s->group == 1 && wick_dim_eq(w->dim[1 + n], x->dim[1]) &&
           (s->k == 1 || s->dilation[n - 1] == 1);
  else if (s->depthwise)
    fits = wick_dim_eq(w->dim[0], x->dim[1]);
  else
    fits = conv_packed_runs(c->module->dims, s);
  return fits ? NULL : wick_infer_fail(c, WICK_ETYPE, "x and w have different channels");
}

static wick_status conv_packed_infer(wick_infer *c)
{
  wick_dims *dims = c->module->dims;
  const wick_type_info *x = wick_type_get(c->module, c->in[0]->type),
                       *w = wick_type_get(c->module, c->in[1]->type);
  conv_packed_shape s = conv_packed_of(x, w, c->attr);
  WICK_TRY(conv_packed_operands(c, &s));
  wick_dim dim[3 + WICK_WINDOW_MAX] = {x->dim[0], w->dim[0]};
  dim[2 + s.n] = w->dim[conv_packed_lanes(&s)];
  for (uint32_t k = 0; k < s.n; k++) {
    /* (X + pads - dilation * (K - 1) - 1) floordiv stride + 1 */
    wick_dim kernel = conv_packed_taps(dims, &s, k);
    wick_dim reach = wick_dim_mul(dims, wick_dim_sub(dims, kernel, wick_dim_const(1)),
                                  wick_dim_const(s.dilation[k]));
    wick_dim span = wick_dim_sub(
        dims, wick_dim_add(dims, x->dim[2 + k], wick_dim_const(s.pad[k] + s.pad[s.n + k] - 1)),
        reach);
    dim[2 + k] = wick_dim_add(dims, wick_dim_floordiv(dims, span, wick_dim_const(s.stride[k])),
                              wick_dim_const(1));
  }
  c->out[0].type =
      wick_type_tensor(c->module, wick_packed_sum(x->elem), s.n + (s.across ? 2 : 3), dim);
  return NULL;
}

/* Sums the products of one tap of the window, along the channels, for the output at index `at`. */
static wick_scalar conv_packed_place(const wick_ref *c, const conv_packed_shape *s, wick_dims *t,
                                     const int64_t *at, const int64_t *tap, wick_scalar sum)
{
  const wick_tensor *x = &c->in[0], *w = &c->in[1];
  const int64_t *xd = x->dim, *wd = w->dim;
  uint32_t n = s->n;
  int64_t co = s->across ? 1 : wd[conv_packed_lanes(s)], k = s->k,
          fill = c->attr[WICK_ATTR_conv_packed_fill].i, ci = s->plain ? 1 : xd[2 + n],
          lane = s->across ? 0 : at[2 + n], taps = s->plain ? k : 1,
          places = k / taps; /* in a dot product */
  /* positions in an image and in a window, and their numbers */
  int64_t position = 0, positions = 1, in_window = 0, window = 1;
  bool inside = true;
  for (uint32_t a = 0; a < n; a++) {
    int64_t i = at[2 + a] * s->stride[a] - s->pad[a] + tap[a] * s->dilation[a],
            place = a + 1 == n ? tap[a] / taps : tap[a];
    inside = inside && i >= 0 && i < xd[2 + a];
    position = position * xd[2 + a] + i, positions *= xd[2 + a];
    in_window = in_window * wd[s->window + a] + place, window *= wd[s->window + a];
  }
  if (!inside && !fill) return sum;
  int64_t nrun = s->plain || s->depthwise ? 1 : s->runs.n, length = s->plain       ? wd[1 + n]
                                                                    : s->depthwise ? 1
                                                                                   : wd[2 + n] * k;
  for (int64_t q = 0; q < nrun; q++) {
    int64_t first = s->plain ? 0 : at[1] * ci + lane;
    if (!s->plain && !s->depthwise) {
      wick_dim group = wick_dim_const(at[1] / (wd[0] / s->group));
      first = wick_runs_first(t, &s->runs, group, wick_dim_const(q)).v;
    }
    for (int64_t j = 0; j < length; j++) {
      int64_t place = first + j,
              xi = ((at[0] * xd[1] + place / ci) * positions + position) * ci + place % ci,
              wi = (at[1] * nrun + q) * window + in_window;
      wi = ((wi * (length / places) + j / places) * co + lane) * k + tap[n - 1] % taps + j % places;
      wick_scalar u = inside ? wick_load_elem(x->elem, x->data, (uint64_t)xi)
                             : (wick_scalar){.i = fill},
                  v = wick_load_elem(w->elem, w->data, (uint64_t)wi);
      if (wick_elem_is_float(x->elem))
        sum.f += u.f * v.f;
      else
        sum.i = (int64_t)((uint64_t)sum.i + (uint64_t)u.i * (uint64_t)v.i);
    }
  }
  return sum;
}

static wick_status conv_packed_ref(wick_ref *c)
{
  wick_dim xd[3 + WICK_WINDOW_MAX], wd[5 + WICK_WINDOW_MAX];
  for (uint32_t k = 0; k < c->in[0].rank; k++) xd[k] = wick_dim_const(c->in[0].dim[k]);
  for (uint32_t k = 0; k < c->in[1].rank; k++) wd[k] = wick_dim_const(c->in[1].dim[k]);
  wick_type_info x = {.elem = c->in[0].elem, .rank = (uint16_t)c->in[0].rank, .dim = xd},
                 w = {.elem = c->in[1].elem, .rank = (uint16_t)c->in[1].rank, .dim = wd};
  conv_packed_shape s = conv_packed_of(&x, &w, c->attr);
  const int64_t *od = c->out[0].dim;
  int64_t at[3 + WICK_WINDOW_MAX] = {0}, tap[WICK_WINDOW_MAX] = {0}, taps[WICK_WINDOW_MAX];
  for (uint32_t a = 0; a < s.n; a++) taps[a] = conv_packed_taps(c->module->dims, &s, a).v;
  uint64_t k = 0;
  if (wick_ref_numel(&c->out[0]) == 0) return NULL;
  do {
    wick_scalar sum = {.i = 0};
    do sum = conv_packed_place(c, &s, c->module->dims, at, tap, sum);
    while (wick_ref_next(s.n, taps, tap));
    wick_store_elem(c->out[0].elem, c->out[0].data, k++, sum);
  } while (wick_ref_next(c->out[0].rank, od, at));
  return NULL;
}

/* Returns the input's index along spatial axis k. */
static wick_dim conv_packed_at(wick_dims *dims, const conv_packed_shape *s, uint32_t k,
                               wick_dim out, wick_dim tap)
{
  wick_dim at = wick_dim_mul(dims, out, wick_dim_const(s->stride[k]));
  at = wick_dim_add(dims, at, wick_dim_mul(dims, tap, wick_dim_const(s->dilation[k])));
  return wick_dim_sub(dims, at, wick_dim_const(s->pad[k]));
}

/* Finds the block and lane of x that element `i` * k + `q` of run `run` reads, if x is read along
 * runs of places. */
static void conv_packed_channel(wick_dims *t, const conv_packed_shape *s, wick_dim oc, wick_dim ob,
                                wick_dim run, wick_dim i, wick_dim q, wick_dim *block,
                                wick_dim *lane)
{
  wick_dim k = wick_dim_const(s->k), size = wick_dim_const(s->runs.order.block / s->k),
           group =
               s->group == 1
                   ? wick_dim_const(0)
                   : wick_dim_floordiv(t, oc, wick_dim_floordiv(t, ob, wick_dim_const(s->group))),
           first = wick_runs_first(t, &s->runs, group, run),
           place = wick_dim_add(t, wick_dim_floordiv(t, first, k), i); /* in units of k */
  *block = wick_dim_floordiv(t, place, size);
  *lane = wick_dim_add(t, wick_dim_mul(t, wick_dim_mod(t, place, size), k), q);
}

static void conv_packed_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  wick_dims *dims = b->module->dims;
  conv_packed_shape s =
      conv_packed_of(wick_built_info(b, c->in[0]), wick_built_info(b, c->in[1]), c->attr);
  const wick_dim *od = wick_type_get(b->module, c->out_type[0])->dim, *wd = s.w->dim;
  wick_axis axis[7 + 2 * WICK_WINDOW_MAX];
  uint32_t nout = s.n + (s.across ? 2 : 3), n = nout;
  axis[0] = wick_make_axis(b, "n", od[0], false);
  axis[1] = wick_make_axis(b, "oc", od[1], false);
  for (uint32_t k = 0; k < s.n; k++)
    axis[2 + k] = wick_make_axis(b, wick_window_axis(s.n, k), od[2 + k], false);
  if (!s.across) axis[nout - 1] = wick_make_axis(b, "v", od[nout - 1], false);
  if (!s.depthwise && !s.plain) axis[n++] = wick_make_axis(b, "ic", wd[1], true);
  uint32_t r = n;
  for (uint32_t k = 0; k < s.n; k++)
    axis[n++] = wick_make_axis(b, wick_window_tap(s.n, k), wd[s.window + k], true);
  if (!s.depthwise) axis[n++] = wick_make_axis(b, "i", wd[s.window + s.n], true);
  uint32_t i = n - 1; /* the last axis, except that of dot products */
  if (s.k > 1) axis[n++] = wick_make_axis(b, "k", wick_dim_const(s.k), true);
  wick_dim block = axis[1].sym, lane = axis[nout - 1].sym;
  if (s.plain)
    block = axis[i].sym;
  else if (!s.depthwise)
    conv_packed_channel(dims, &s, axis[1].sym, od[1], axis[nout].sym, axis[i].sym,
                        n > i + 1 ? axis[i + 1].sym : wick_dim_const(0), &block, &lane);
  wick_dim xi[3 + WICK_WINDOW_MAX] = {axis[0].sym, block}, wi[5 + WICK_WINDOW_MAX] = {axis[1].sym};
  for (uint32_t k = 0; k < s.n; k++) {
    wick_dim tap = axis[r + k].sym;
    if (s.plain && s.k > 1 && k + 1 == s.n)
      tap = wick_dim_add(dims, wick_dim_mul(dims, tap, wick_dim_const(s.k)), axis[n - 1].sym);
    xi[2 + k] = conv_packed_at(dims, &s, k, axis[2 + k].sym, tap);
  }
  xi[2 + s.n] = lane;
  /* the axes of the sum, in order */
  for (uint32_t k = nout; k <= i; k++) wi[k - nout + 1] = axis[k].sym;
  if (!s.across) wi[i - nout + 2] = axis[nout - 1].sym;
  if (n > i + 1) wi[i - nout + 3] = axis[i + 1].sym;
  wick_type one = wick_type_scalar(b->module, s.x->elem, 1);
  wick_fold_begin(b, "conv", n, axis, c->out_type[0], WICK_OP_add);
  wick_value outside = wick_build_const(b, one, 0, c->attr[WICK_ATTR_conv_packed_fill].i);
  wick_value a = wick_read(b, c->in[0], xi, 0, NULL, outside),
             w = wick_read(b, c->in[1], wi, 0, NULL, (wick_value){0});
  wick_elem sum = wick_packed_sum(s.x->elem);
  a = wick_build_cast(b, a, sum), w = wick_build_cast(b, w, sum);
  c->out[0] = wick_fold_end_muladd(b, a, w);
}

static bool conv_packed_are(const int64_t *v, int64_t want, uint32_t n)
{
  for (uint32_t k = 0; k < n; k++)
    if (v[k] != want) return false;
  return true;
}

static wick_reach conv_packed_reach(const wick_func *f, const wick_node *n)
{
  conv_packed_shape s =
      conv_packed_of(wick_info_of(f, n->in[0]), wick_info_of(f, n->in[1]), n->attr);
  if (s.plain || s.across) return WICK_REACH_ANY;
  if (s.depthwise) return WICK_REACH_PLACES;
  bool one =
      s.group == 1 && conv_packed_are(s.stride, 1, s.n) && conv_packed_are(s.pad, 0, 2 * s.n);
  for (uint32_t k = 0; k < s.n; k++) one = one && wick_dim_is(s.w->dim[2 + k], 1);
  return one ? WICK_REACH_CHANNELS : WICK_REACH_ANY;
}

const wick_op wick_op_conv_packed = {
    .name = "conv_packed",
    .doc = "A convolution over `spatial` axes of packed operands. Sums run in the order of run of "
           "input positions, place in the window, position in the run; each step is one fma. If "
           "the channels do "
           "not fill whole blocks, `channels` is their number in x, which has `parts` parts, each "
           "with blocks of its own: a part holds consecutive channels, or with `shuffle` every "
           "parts-th channel. A block of the result belongs to one group. Sums of "
           "integers are i32, which wrap; those of narrow floats are f32. x is `fill` in its "
           "padding",
    .nin = {2, 2},
    .nout = {1, 1},
    .attr = {{"stride", WICK_ATTR_INTS, 0, false, NULL, 1, 1 << 20},
             {"pad", WICK_ATTR_INTS, 0, false, NULL, -(1 << 20), 1 << 20},
             {"dilation", WICK_ATTR_INTS, 0, false, NULL, 1, 1 << 20},
             {"group", WICK_ATTR_INT, 1, false, NULL, 1, 1 << 20},
             {"channels", WICK_ATTR_INT, 0, false, NULL, 0, 1 << 30},
             WICK_ORDER_ATTRS,
             {"fill", WICK_ATTR_INT, 0, false, NULL, -128, 255},
             {"spatial", WICK_ATTR_INT, 2, false, NULL, 1, WICK_WINDOW_MAX}},
    .level = WICK_GRAPH,
    .elems = WICK_PACKED_ELEMS,
    .reach = conv_packed_reach,
    .infer = conv_packed_infer,
    .ref = conv_packed_ref,
    .compute = conv_packed_compute,
    .grad = wick_grad_none,
    .batch = {wick_batch_merge, .in = {1}, .out = {1}},
};
