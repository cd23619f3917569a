/* Imports Scan as a loop over the indices of its inputs. */
#include "import/onnx/flow.h"

/* The loop that the node becomes. Scan's inputs are initial values of carried values, followed by
 * tensors that are scanned: each iteration gets one index of them. */
typedef struct scan_form {
  wick_onnx_loop loop;
  wick_onnx_scanned *scan; /* loop.nscan scanned tensors, with their axes and directions */
  uint32_t nstacked;       /* outputs that stack one value of each iteration */
} scan_form;

/* Reads the node's form. Its inputs begin with input `first`. */
static bool scan_begin(wick_onnx_op *o, uint32_t first, scan_form *s)
{
  const wick_onnx_attr *a = wick_onnx_attr_find(o, "body");
  int64_t nscan = wick_onnx_int(o, "num_scan_inputs", 0);
  if (o->nin < first) return wick_onnx_fail(o, WICK_EPARSE, "it has no inputs"), false;
  if (!a || !a->g || nscan < 1 || nscan > (int64_t)o->nin - first) {
    wick_onnx_fail(o, WICK_EPARSE, "num_scan_inputs is %lld, expected 1 to %u", (long long)nscan,
                   o->nin - first);
    return false;
  }
  *s = (scan_form){.loop = {.body = a->g, .nscan = (uint32_t)nscan}};
  s->loop.ncarried = o->nin - first - s->loop.nscan;
  s->loop.carried = o->in + first;
  s->loop.scan = s->scan = wick_new(o->c->tmp, wick_onnx_scanned, s->loop.nscan);
  s->loop.result = wick_new(o->c->tmp, wick_value, a->g->output.n + 1);
  if (a->g->output.n < s->loop.ncarried || a->g->output.n < o->nout) {
    wick_onnx_fail(o, WICK_EPARSE,
                   "it has %u outputs and carries %u values, but its body has %zu outputs", o->nout,
                   s->loop.ncarried, a->g->output.n);
    return false;
  }
  s->nstacked = (uint32_t)a->g->output.n - s->loop.ncarried;
  for (uint32_t k = first; k < o->nin; k++)
    if (!o->in[k].id) wick_onnx_fail(o, WICK_EPARSE, "input %u is missing", k);
  return !o->failed;
}

/* Finds the number of iterations: the size of each scanned tensor along its axis. */
static bool scan_count(wick_onnx_op *o, scan_form *s)
{
  wick_dim n = wick_dim_const(0);
  for (uint32_t k = 0; k < s->loop.nscan; k++) {
    wick_dim own = wick_built_info(o->b, s->scan[k].x)->dim[s->scan[k].axis];
    if (k && !wick_onnx_equal(o, n, own)) {
      wick_text sizes = wick_text_begin(o->c->tmp);
      wick_dim_print(o->c->module->dims, n, &sizes);
      wick_text_add(&sizes, " and ");
      wick_dim_print(o->c->module->dims, own, &sizes);
      wick_onnx_fail(o, WICK_ETYPE, "the inputs that are scanned have different sizes: %s",
                     sizes.at);
      return false;
    }
    n = k ? wick_dim_simpler(o->c->module->dims, n, own) : own;
  }
  wick_onnx_loop_counted(o, n, &s->loop);
  return !o->b->status;
}

/* Reverses x along axis 0. */
static wick_value scan_reversed(wick_onnx_op *o, wick_value x)
{
  const wick_type_info *t = wick_built_info(o->b, x);
  wick_dim begin[WICK_MAX_RANK], shape[WICK_MAX_RANK];
  int64_t step[WICK_MAX_RANK];
  for (uint32_t k = 0; k < t->rank; k++) {
    shape[k] = t->dim[k], begin[k] = wick_dim_const(0), step[k] = k ? 1 : -1;
    if (!k) begin[k] = wick_dim_sub(o->c->module->dims, t->dim[k], wick_dim_const(1));
  }
  wick_emit e = wick_emit_begin(o->b, WICK_OP_slice);
  wick_emit_set_dims(&e, "begin", t->rank, begin);
  wick_emit_set_dims(&e, "shape", t->rank, shape);
  wick_emit_set_ints(&e, "step", t->rank, step);
  return wick_emit_end1(&e, x);
}

/* Moves axis 0 to `axis`. */
static wick_value scan_turned(wick_onnx_op *o, wick_value x, uint32_t axis)
{
  int64_t perm[WICK_MAX_RANK];
  uint32_t rank = wick_built_info(o->b, x)->rank;
  for (uint32_t k = 0; k < rank; k++) perm[k] = k < axis ? k + 1 : k == axis ? 0 : k;
  return axis ? wick_build_transpose(o->b, x, rank, perm) : x;
}

void wick_onnx_scan(wick_onnx_op *o)
{
  scan_form s;
  if (!scan_begin(o, 0, &s)) return;
  wick_wire_i64s axes = wick_onnx_ints(o, "scan_input_axes"),
                 directions = wick_onnx_ints(o, "scan_input_directions"),
                 out_axes = wick_onnx_ints(o, "scan_output_axes"),
                 out_directions = wick_onnx_ints(o, "scan_output_directions");
  for (uint32_t k = 0; k < s.loop.nscan; k++) {
    s.scan[k].x = s.loop.carried[s.loop.ncarried + k];
    s.scan[k].reverse = k < directions.n && directions.at[k] == 1;
    if (!wick_onnx_axis(o, k < axes.n ? axes.at[k] : 0, wick_built_info(o->b, s.scan[k].x)->rank,
                        &s.scan[k].axis))
      return;
  }
  if (!scan_count(o, &s) || !wick_onnx_loop_build(o, &s.loop)) return;
  for (uint32_t k = 0; k < o->nout; k++) {
    o->out[k] = s.loop.result[k];
    if (k < s.loop.ncarried) continue;
    uint32_t i = k - s.loop.ncarried, axis;
    if (!wick_onnx_axis(o, i < out_axes.n ? out_axes.at[i] : 0,
                        wick_built_info(o->b, o->out[k])->rank, &axis))
      return;
    if (i < out_directions.n && out_directions.at[i] == 1) o->out[k] = scan_reversed(o, o->out[k]);
    o->out[k] = scan_turned(o, o->out[k], axis);
  }
}

/* ---- opset 8: axis 0 of all tensors is a batch, axis 1 of scanned ones the iterations ---- */

/* Builds the loop for item b of the batch, with `steps` iterations. Each item has its own
 * number. */
static bool scan_item(wick_onnx_op *o, const scan_form *whole, int64_t b, int64_t steps,
                      wick_value *result)
{
  scan_form s = *whole;
  wick_wire_i64s directions = wick_onnx_ints(o, "directions");
  wick_value *carried = wick_new(o->c->tmp, wick_value, s.loop.ncarried + 1);
  wick_dim at = wick_dim_const(b), one = wick_dim_const(1), zero = wick_dim_const(0);
  s.scan = wick_new(o->c->tmp, wick_onnx_scanned, s.loop.nscan);
  s.loop.scan = s.scan;
  for (uint32_t k = 0; k < s.loop.ncarried + s.loop.nscan; k++) {
    wick_value x = whole->loop.carried[k];
    x = wick_emit_squeeze(o->b, wick_emit_slice(o->b, x, 0, at, one), 0);
    if (k < s.loop.ncarried) {
      carried[k] = x;
      continue;
    }
    uint32_t i = k - s.loop.ncarried;
    x = wick_emit_slice(o->b, x, 0, zero, wick_dim_const(steps));
    s.scan[i] = (wick_onnx_scanned){x, 0, i < directions.n && directions.at[i] == 1};
  }
  s.loop.carried = carried;
  s.loop.result = result;
  return !o->b->status && scan_count(o, &s) && wick_onnx_loop_build(o, &s.loop);
}

/* Pads x with zeros along axis 0, from `steps` to `most`. */
static wick_value scan_padded(wick_onnx_op *o, wick_value x, int64_t steps, int64_t most)
{
  wick_dim dim[WICK_MAX_RANK];
  if (steps == most || o->b->status) return x;
  const wick_type_info *t = wick_built_info(o->b, x);
  uint32_t rank = t->rank;
  for (uint32_t k = 0; k < rank; k++) dim[k] = k ? t->dim[k] : wick_dim_const(most - steps);
  wick_value part[2] = {x, wick_emit_expand(o->b, wick_emit_number(o->b, x, 0), rank, dim)};
  return wick_build_concat(o->b, 0, 2, part);
}

void wick_onnx_scan_batched(wick_onnx_op *o)
{
  scan_form s;
  if (!scan_begin(o, 1, &s)) return;
  uint32_t nresult = s.loop.ncarried + s.nstacked, nlen = 0;
  const int64_t *len = NULL;
  const wick_type_info *t = wick_built_info(o->b, s.loop.carried[s.loop.ncarried]);
  for (uint32_t k = 0; k < s.loop.ncarried + s.loop.nscan; k++)
    if (wick_built_info(o->b, s.loop.carried[k])->rank < 1 + (k >= s.loop.ncarried))
      wick_onnx_fail(o, WICK_ETYPE, "input %u has no axis for the batch or the iterations", 1 + k);
  if (o->failed) return;
  for (uint32_t k = 0; k < 2; k++)
    if (!wick_dim_is_const(t->dim[k])) {
      wick_onnx_must_be_known(o, k ? "its number of iterations" : "its batch size", t->dim[k]);
      return;
    }
  if (t->dim[0].v < 1 || t->dim[0].v > 1024) {
    wick_onnx_fail(o, WICK_EUNSUPPORTED, "its batch size is %lld, expected 1 to 1024",
                   (long long)t->dim[0].v);
    return;
  }
  int64_t batch = t->dim[0].v, most = t->dim[1].v;
  if (wick_onnx_has(o, 0) && !wick_onnx_numbers(o, 0, "sequence_lens", &nlen, &len)) return;
  if (len && nlen != batch) {
    wick_onnx_fail(o, WICK_ETYPE, "sequence_lens has %u numbers, but the batch size is %lld", nlen,
                   (long long)batch);
    return;
  }
  wick_value *result = wick_new(o->c->tmp, wick_value, (size_t)batch * nresult + 1),
             *part = wick_new(o->c->tmp, wick_value, (size_t)batch);
  for (int64_t b = 0; b < batch; b++)
    if (!scan_item(o, &s, b, len ? wick_max_i64(0, wick_min_i64(len[b], most)) : most,
                   result + (uint64_t)b * nresult))
      return;
  for (uint32_t k = 0; k < o->nout; k++) {
    for (int64_t b = 0; b < batch; b++) {
      part[b] = result[(uint64_t)b * nresult + k];
      if (k >= s.loop.ncarried) part[b] = scan_padded(o, part[b], len ? len[b] : most, most);
      part[b] = wick_emit_unsqueeze(o->b, part[b], 0);
    }
    o->out[k] = wick_build_concat(o->b, 0, (uint32_t)batch, part);
  }
}
