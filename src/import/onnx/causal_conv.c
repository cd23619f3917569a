/* Imports CausalConvWithState, of ONNX and of com.microsoft: a depthwise convolution along the last axis,
 * whose input follows the past state. com.microsoft's may have its channels last, have gaps between its
 * taps, and give the states after each of the last positions. */
#include "import/onnx/microsoft.h"

typedef struct causal_conv {
  wick_onnx_op *o;
  bool last; /* the channels are the last axes */
  int64_t taps, dilation, before, window;
  wick_value x; /* [batch, channels, length] */
  wick_dim length;
} causal_conv;

/* [batch, length, channels ...] as [batch, channels, length] */
static wick_value causal_conv_first(causal_conv *c, wick_value x)
{
  wick_builder *b = c->o->b;
  const wick_type_info *t = wick_built_info(b, x);
  wick_dim channels = wick_dim_const(1);
  if (!c->last || b->status) return x;
  for (uint32_t k = 2; k < t->rank; k++)
    channels = wick_dim_mul(c->o->c->module->dims, channels, t->dim[k]);
  x = wick_build_reshape(b, x, 3, (wick_dim[]){t->dim[0], t->dim[1], channels});
  return wick_build_swap(b, x);
}

/* The inverse, with the channels' axes as the input has them. */
static wick_value causal_conv_last(causal_conv *c, wick_value x)
{
  wick_builder *b = c->o->b;
  wick_dim dim[WICK_MAX_RANK];
  if (!c->last || b->status) return x;
  const wick_type_info *t = wick_onnx_info(c->o, 0);
  for (uint32_t k = 0; k < t->rank; k++) dim[k] = t->dim[k];
  dim[1] = wick_built_info(b, x)->dim[2];
  return wick_build_reshape(b, wick_build_swap(b, x), t->rank, dim);
}

static bool causal_conv_read(causal_conv *c)
{
  wick_onnx_op *o = c->o;
  const wick_type_info *x = wick_onnx_info(o, 0), *w = wick_onnx_info(o, 1);
  bool fits = c->last ? x->rank >= 3 : x->rank == 3;
  if (wick_onnx_int(o, "ndim", 1) != 1) {
    wick_onnx_fail(o, WICK_EUNSUPPORTED, "ndim is %lld: only 1 is supported",
                   (long long)wick_onnx_int(o, "ndim", 1));
    return false;
  }
  if (!fits || w->rank != 3 || wick_dim_is(w->dim[2], 0)) {
    wick_onnx_fail(o, WICK_ETYPE, "ranks %u and %u, expected 3 and 3 with elements", x->rank,
                   w->rank);
    return false;
  }
  for (uint32_t k = 0; k < 3; k += 2)
    if (!wick_dim_is_const(w->dim[k]))
      return wick_onnx_must_be_known(o, "the size of the weights", w->dim[k]);
  c->taps = w->dim[2].v;
  c->dilation = wick_onnx_int(o, "dilation", 1);
  c->window = wick_onnx_int(o, "state_window", 0);
  if (c->dilation < 1 || c->window < 0 || c->window > 8 ||
      wick_mul_overflows(c->taps - 1, c->dilation, &c->before)) {
    wick_onnx_fail(o, WICK_ERANGE,
                   "dilation %lld and state_window %lld, expected 1 or more, 0 to 8",
                   (long long)c->dilation, (long long)c->window);
    return false;
  }
  c->x = causal_conv_first(c, o->in[0]);
  if (!o->b->status) c->length = wick_built_info(o->b, c->x)->dim[2];
  return !o->b->status;
}

/* The state before the first position, [batch, channels, before]. */
static wick_value causal_conv_past(causal_conv *c)
{
  wick_onnx_op *o = c->o;
  wick_builder *b = o->b;
  const wick_type_info *x = wick_built_info(b, c->x);
  const wick_dim state[] = {x->dim[0], x->dim[1], wick_dim_const(c->before)};
  if (!wick_onnx_has(o, 3)) return wick_emit_expand(b, wick_emit_number(b, c->x, 0), 3, state);
  wick_value past = o->in[3];
  if (c->window) {
    wick_dim newest = wick_dim_const(c->window - 1);
    past = wick_emit_squeeze(b, wick_emit_slice(b, past, 0, newest, wick_dim_const(1)), 0);
  }
  return causal_conv_first(c, past);
}

/* The states after each of the last positions, along a new first axis; zeros for those before the first
 * position. */
static wick_value causal_conv_states(causal_conv *c, wick_value whole)
{
  wick_builder *b = c->o->b;
  wick_dim before = wick_dim_const(c->before);
  wick_value slot[8];
  if (!c->window) return causal_conv_last(c, wick_emit_slice(b, whole, 2, c->length, before));
  if (!wick_dim_is_const(c->length)) {
    wick_onnx_must_be_known(c->o, "the length of the input", c->length);
    return (wick_value){0};
  }
  for (int64_t k = 0; k < c->window; k++) {
    int64_t end = c->length.v - c->window + k + 1;
    wick_value s = wick_emit_slice(b, whole, 2, wick_dim_const(end < 1 ? 0 : end), before);
    if (end < 1 && !b->status)
      s = wick_emit_expand(b, wick_emit_number(b, s, 0), 3, wick_built_info(b, s)->dim);
    slot[k] = wick_emit_unsqueeze(b, causal_conv_last(c, s), 0);
  }
  return wick_build_concat(b, 0, (uint32_t)c->window, slot);
}

static void causal_conv_import(wick_onnx_op *o)
{
  wick_builder *b = o->b;
  causal_conv c = {.o = o, .last = wick_onnx_int(o, "channels_last", 0) != 0};
  if (!causal_conv_read(&c)) return;
  wick_value past = causal_conv_past(&c);
  wick_value whole = wick_build_concat(b, 2, 2, (wick_value[]){past, c.x});
  wick_onnx_window window = {.n = 1, .kernel = {c.taps}, .stride = {1}, .dilation = {c.dilation}};
  wick_emit e = wick_emit_begin(b, WICK_OP_conv);
  wick_onnx_window_set(&e, &window);
  wick_emit_set_int(&e, "group", wick_onnx_info(o, 1)->dim[0].v);
  wick_value in[3] = {whole, o->in[1], wick_microsoft_optional(o, 2)};
  wick_value y = wick_emit_end(&e, in[2].id ? 3 : 2, in);
  if (wick_onnx_word(o, "activation", "none silu swish") && !b->status) {
    wick_value f = wick_build_cast(b, y, WICK_F32);
    f = wick_build2(b, WICK_OP_mul, f, wick_build1(b, WICK_OP_sigmoid, f));
    y = wick_build_cast(b, f, wick_onnx_info(o, 0)->elem);
  }
  o->out[0] = causal_conv_last(&c, y);
  o->out[1] = causal_conv_states(&c, whole);
}

const wick_onnx_row wick_onnx_causal_conv_rows[] = {
    {"CausalConvWithState", 27, {2, 4}, 2, "activation:s", causal_conv_import, 0, 0},
    {"com.microsoft.CausalConvWithState",
     1,
     {2, 4},
     2,
     "activation:s channels_last:i dilation:i ndim:i state_window:i",
     causal_conv_import,
     0,
     0},
    {0},
};
