/* unpool: the derivative of max_pool. Each window's value is added at the index of its maximum. */
#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/nn/window.h"
#include "ops/ref.h"
#include "ops/stage.h"

static wick_status unpool_infer(wick_infer *c)
{
  const wick_type_info *x, *at;
  const wick_attr *kernel = &c->attr[WICK_ATTR_unpool_kernel],
                  *size = &c->attr[WICK_ATTR_unpool_size];
  WICK_TRY(wick_infer_tensor(c, 0, "x", 0, &x));
  WICK_TRY(wick_window_check(c, x->rank, c->attr));
  WICK_TRY(wick_infer_tensor(c, 1, "the places", 0, &at));
  if (!wick_type_eq(wick_type_with_elem(c->module, c->in[0]->type, WICK_I64), c->in[1]->type))
    return wick_infer_fail(c, WICK_ETYPE, "the positions are %s, but x is %s",
                           wick_infer_type_text(c, c->in[1]->type),
                           wick_infer_type_text(c, c->in[0]->type));
  if (kernel->n + 2 != x->rank || size->n + 2 != x->rank)
    return wick_infer_fail(c, WICK_ETYPE, "%s has %u numbers, expected %u",
                           kernel->n + 2 != x->rank ? "kernel" : "size",
                           kernel->n + 2 != x->rank ? kernel->n : size->n, x->rank - 2);
  wick_dim dim[WICK_MAX_RANK] = {x->dim[0], x->dim[1]};
  for (uint32_t k = 0; k < size->n; k++) dim[2 + k] = wick_dim_const(size->ints[k]);
  wick_infer_out(c, 0, x->elem, x->rank, dim);
  return NULL;
}

/* Returns the window that contains the element `at` as its element `tap`, along k; -1 if there is
 * none. */
static int64_t unpool_window(const wick_window3 *w, uint32_t k, int64_t at, int64_t tap)
{
  int64_t i = at + w->begin[k] - tap * w->dilation[k];
  if (wick_floormod_i64(i, w->stride[k])) return -1;
  i = wick_floordiv_i64(i, w->stride[k]);
  return i >= 0 && i < w->out[k] ? i : -1;
}

/* Returns the sum for the element at index[], from an image of indices and numbers. */
static double unpool_element(const wick_window3 *w, const wick_tensor *x, const wick_tensor *places,
                             int64_t image, const int64_t *index)
{
  double sum = 0;
  int64_t own = ((image * w->in[0] + index[0]) * w->in[1] + index[1]) * w->in[2] + index[2];
  for (int64_t z = 0; z < w->kernel[0]; z++)
    for (int64_t y = 0; y < w->kernel[1]; y++)
      for (int64_t t = 0; t < w->kernel[2]; t++) {
        int64_t i = unpool_window(w, 0, index[0], z), j = unpool_window(w, 1, index[1], y),
                k = unpool_window(w, 2, index[2], t);
        if (i < 0 || j < 0 || k < 0) continue;
        uint64_t at = (uint64_t)(((image * w->out[0] + i) * w->out[1] + j) * w->out[2] + k);
        if (wick_load_int(WICK_I64, places->data, at) == own)
          sum += wick_load_elem(x->elem, x->data, at).f;
      }
  return sum;
}

static wick_status unpool_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0], *out = &c->out[0];
  wick_window window = wick_window_of(c->attr, x->rank - 2, c->attr[WICK_ATTR_unpool_kernel].ints);
  /* the window of a pool, from the result to x */
  wick_window3 w = wick_window3_of(&window, out, x);
  uint64_t at = 0;
  for (int64_t image = 0; image < out->dim[0] * out->dim[1]; image++)
    for (int64_t z = 0; z < w.in[0]; z++)
      for (int64_t y = 0; y < w.in[1]; y++)
        for (int64_t i = 0; i < w.in[2]; i++) {
          int64_t index[3] = {z, y, i};
          wick_scalar v = {.f = unpool_element(&w, x, &c->in[1], image, index)};
          wick_ref_write(out, at++, 1, &v);
        }
  return NULL;
}

/* Builds a fold over the windows that contain an element. Without dilation, these are at every
 * stride-th tap and no other. */
static void unpool_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  wick_dims *t = b->module->dims;
  const wick_type_info *x = wick_built_info(b, c->in[0]);
  wick_window w = wick_window_of(c->attr, x->rank - 2u, c->attr[WICK_ATTR_unpool_kernel].ints);
  wick_axis axis[2 * WICK_MAX_RANK];
  wick_dim from[WICK_MAX_RANK], rest[WICK_MAX_RANK], own = wick_dim_const(0);
  uint32_t n = wick_axes_of(b, c->out_type[0], axis), rank = n;
  from[0] = axis[0].sym, from[1] = axis[1].sym;
  for (uint32_t k = 0; k < rank; k++)
    own = wick_dim_add(t, wick_dim_mul(t, own, axis[k].extent), axis[k].sym);
  for (uint32_t k = 0; k < w.n; k++) {
    wick_dim stride = wick_dim_const(w.stride[k]),
             at = wick_dim_add(t, axis[2 + k].sym, wick_dim_const(w.begin[k]));
    bool near = w.dilation[k] == 1;
    int64_t taps = near ? wick_ceildiv_i64(w.kernel[k], w.stride[k]) : w.kernel[k];
    axis[n] = wick_make_axis(b, wick_window_tap(w.n, k), wick_dim_const(taps), true);
    rest[k] = wick_dim_const(0);
    if (near) {
      from[2 + k] = wick_dim_sub(t, wick_dim_floordiv(t, at, stride), axis[n].sym);
    } else {
      at = wick_dim_sub(t, at, wick_dim_mul(t, axis[n].sym, wick_dim_const(w.dilation[k])));
      from[2 + k] = wick_dim_floordiv(t, at, stride);
      rest[k] = wick_dim_mod(t, at, stride);
    }
    n++;
  }
  wick_elem acc = wick_stage_arith(x->elem);
  wick_value state = wick_stage_fold(b, "unpool", n, axis, c->out_type[0], WICK_OP_add, acc);
  wick_value place = wick_read(b, c->in[1], from, 0, NULL, wick_build_i64(b, -1));
  wick_value hit = wick_build2(b, WICK_OP_eq, place, wick_index(b, own)),
             zero = wick_stage_zero(b, acc);
  for (uint32_t k = 0; k < w.n; k++)
    if (!wick_dim_is(rest[k], 0)) {
      wick_value on = wick_stage_compare(b, WICK_OP_eq, rest[k], wick_dim_const(0));
      hit = wick_build2(b, WICK_OP_and, hit, on);
    }
  wick_value v = wick_read(b, c->in[0], from, 0, NULL, wick_stage_zero(b, x->elem));
  v = wick_build3(b, WICK_OP_where, hit, wick_build_cast(b, v, acc), zero);
  state = wick_stage_finish(b, wick_build2(b, WICK_OP_add, state, v), WICK_OP_add);
  c->out[0] = wick_stage_end(b, state, c->out_type[0]);
}

const wick_op wick_op_unpool = {
    .name = "unpool",
    .doc = "Images [N, C, size...] in which each element is the sum of the elements of x [N, C, "
           "spatial...] over the windows that contain it and whose index is its own. The indices "
           "are the second operand, of the shape of x, as `max_pool` gives them; the windows are "
           "the same as there. f16 and bf16 are summed in f32",
    .nin = {2, 2},
    .nout = {1, 1},
    .attr = {WICK_WINDOW_ATTRS,
             {"kernel", WICK_ATTR_INTS, 0, true, NULL, 1, WICK_WINDOW_LIMIT},
             {"size", WICK_ATTR_INTS, 0, true, NULL, 0, WICK_WINDOW_LIMIT}},
    .level = WICK_GRAPH,
    .elems = WICK_FLOATS,
    .aux_operands = 1u << 1,
    .infer = unpool_infer,
    .ref = unpool_ref,
    .compute = unpool_compute,
    .grad = wick_grad_unpool,
    .batch = {wick_batch_unpool, .in = {1, 1}, .out = {1}},
};
