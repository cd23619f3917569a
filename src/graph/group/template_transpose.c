/* The template for maps that read along another axis than they write. Blocks are transposed in
 * registers. */
#include "graph/group/template_state.h"

/* a 1-D slice of at most this many vectors is short: the next slice follows soon */
enum { TRANSPOSE_SHORT = 4, TRANSPOSE_LANES = 16 };

typedef struct transpose_found {
  uint32_t n;      /* axes of the output, without those of extent 1 at the end */
  uint32_t across; /* the axis along which reads are contiguous */
  int64_t lanes;
  const wick_node *read;
  const wick_stage *reader; /* the output, or a stage that it reads in place */
  bool even;                /* a block may begin at any element */
} transpose_found;

/* Returns the iterations of an axis that are transposed in registers, for vectors of that many
 * lanes. */
static int64_t transpose_turn(const template_state *t, uint32_t axis, int64_t lanes)
{
  int64_t extent = template_extent(t, t->out, axis), n = lanes;
  while (n > extent) n /= 2;
  return n;
}

/* Returns true if the elements from `first` on, along an axis of the stage, are contiguous in the
 * tensor that is read. */
static bool transpose_run(const template_state *t, const wick_node *read, wick_dim sym,
                          wick_dim first, int64_t size)
{
  wick_dims *dims = t->g->module->dims;
  uint32_t rank = wick_read_index(read)->n;
  for (uint32_t k = 0; k < rank; k++) {
    wick_dim d = wick_read_index(read)->dims[k], from[2];
    if (wick_dim_eq(d, WICK_DIM_ANY)) return false;
    from[0] = wick_dim_substitute(dims, d, 1, &sym, &first);
    for (int64_t i = 1; i < size; i++) {
      wick_dim at = wick_dim_add(dims, first, wick_dim_const(i));
      from[1] = wick_dim_substitute(dims, d, 1, &sym, &at);
      if (!wick_dim_is(wick_dim_sub(dims, from[1], from[0]), k + 1 == rank ? i : 0)) return false;
    }
  }
  return true;
}

/* Returns true if `size` elements along an axis of the stage, from each multiple of `size`, are
 * contiguous in the tensor that is read. *even is true if this holds from any element on. Blocks
 * of a packed axis are as long as the most lanes, or shorter. */
static bool transpose_runs(const template_state *t, const wick_stage *st, const wick_node *read,
                           uint32_t axis, int64_t size, bool *even)
{
  wick_dims *dims = t->g->module->dims;
  wick_dim sym = st->axis[axis].sym, coef, rest,
           block = wick_dim_mul(dims, wick_dim_symbol(dims, "run", 0, INT32_MAX / TRANSPOSE_LANES),
                                wick_dim_const(TRANSPOSE_LANES));
  for (int64_t at = 0; at < TRANSPOSE_LANES; at += size)
    if (!transpose_run(t, read, sym, wick_dim_add(dims, block, wick_dim_const(at)), size))
      return false;
  *even = wick_dim_linear(dims, wick_read_index(read)->dims[wick_read_index(read)->n - 1], sym,
                          &coef, &rest) &&
          wick_dim_is(coef, 1);
  return true;
}

/* Returns true if the elements of a run are inside or outside of the tensor as a whole: a vector has
 * one guard. */
static bool transpose_whole(const template_state *t, const wick_node *read)
{
  if (!read->attr[WICK_ATTR_read_guard].i) return true;
  wick_dims *dims = t->g->module->dims;
  uint32_t last = wick_read_index(read)->n - 1;
  wick_dim at = wick_read_index(read)->dims[last];
  int64_t low, rest, ignored;
  wick_dim_range(dims, at, &low, &ignored);
  wick_dim_range(dims, wick_dim_sub(dims, wick_info_of(t->g, read->in[0])->dim[last], at), &rest,
                 &ignored);
  return low >= 0 && rest > 0;
}

/* Finds an axis, among the first n, along which a read of the stage is contiguous while the vector's
 * elements are far apart: a transposition. */
static bool transpose_across(const template_state *t, const wick_stage *st, transpose_found *f)
{
  for (uint32_t i = st->node + 1; i < template_node(t, st)->end; i++) {
    const wick_node *r = &t->g->node[i];
    if (r->op != WICK_OP_read || template_step_of(t, r, st->axis[f->n - 1].sym) != 2) continue;
    if (!transpose_whole(t, r)) continue;
    for (uint32_t k = 0; k + 1 < f->n; k++) {
      int64_t size = transpose_turn(t, k, f->lanes);
      f->read = r, f->reader = st, f->across = k;
      if (size > 1 && transpose_runs(t, st, r, k, size, &f->even)) return true;
    }
  }
  return false;
}

bool template_transpose_match(template_state *t)
{
  uint32_t n = t->out->naxis;
  if (!t->plain || t->nfold || n < 2 || n > TEMPLATE_AXES) return false;
  while (n > 1 && template_is(t->out, n - 1, 1)) n--;
  int64_t lanes = template_short_lanes(t, n - 1);
  lanes = wick_min_i64(lanes, TRANSPOSE_LANES); /* more rows than these need more registers */
  if (lanes < 2) return false;
  transpose_found *f = wick_new(t->tmp, transpose_found, 1);
  *f = (transpose_found){.n = n, .lanes = lanes};
  t->found = f;
  if (transpose_across(t, t->out, f)) return true;
  for (uint32_t s = 0; s < t->s->output; s++) {
    const wick_stage *st = &t->s->stage[s];
    if (st->naxis == t->out->naxis && template_read_in_place(t, st) && transpose_across(t, st, f))
      return true;
  }
  return false;
}

/* Cuts an axis before a last block that is not full, if enough tasks are left without its loop.
 * Returns the axis, or the number of axes. */
static uint32_t transpose_cut(template_state *t, const transpose_found *f, uint32_t inner)
{
  enum { TASKS = 8 };
  for (uint32_t k = 0; k + 1 < f->n; k++) {
    int64_t tasks = 1;
    for (uint32_t i = 0; i < f->n; i++)
      if (i != k && i != inner && tasks < TASKS) tasks *= template_extent(t, t->out, i);
    if (k != f->across && k != inner && tasks >= TASKS && template_cut(t, k, 1)) return k;
  }
  return t->out->naxis;
}

/* Writes vector after vector along the contiguous axis, so that each cache line that the lanes come
 * from is used up; or along the last axis, so that only a few cache lines are written at a time.
 * The latter is used if the slices along the last axis are long, or if the lanes are contiguous. If
 * the last block is smaller and blocks may begin at any element, it begins earlier. */
void template_transpose(template_state *t)
{
  const transpose_found *f = t->found;
  uint32_t n = f->n, across = f->across;
  int64_t lanes = f->lanes, size = transpose_turn(t, across, lanes);
  const char *o = t->out->name, *last = template_loop(t, t->out, n - 1),
             *along = template_loop(t, t->out, across);
  bool split = !template_is(t->out, n - 1, lanes);
  /* if the extent is dynamic */
  int64_t long_slice =
      wick_min_i64(4 * template_extent(t, t->out, n - 1), template_most(t, t->out, n - 1));
  bool rows = split && (long_slice > TRANSPOSE_SHORT * lanes ||
                        wick_read_stride(t->g, f->read, f->reader->axis[n - 1].sym) == size);
  template_inline_maps(t);
  if (split) wick_text_printf(&t->steps, "split %s.%s lane:%lld; ", o, last, (long long)lanes);
  wick_text_printf(&t->steps, "split %s.%s turned:%lld; ", o, along, (long long)size);
  if (f->even && (template_varies(t->out, across) || template_extent(t, t->out, across) % size))
    wick_text_printf(&t->steps, "tail %s.%s overlap; ", o, along);
  uint32_t inner = rows ? n - 1 : across, naxis = t->out->naxis, cut = transpose_cut(t, f, inner);
  template_order_begin(t, t->out);
  for (uint32_t i = 0, k = n % naxis; i < naxis; i++, k = (k + 1) % naxis)
    if (k != inner && k != cut && (split || k + 1 != n))
      wick_text_printf(&t->steps, " %s", template_loop(t, t->out, k));
  if (cut < naxis) wick_text_printf(&t->steps, " %s", template_loop(t, t->out, cut));
  wick_text_printf(&t->steps, " %s turned %s; vector %s.%s; turn %s.turned; ", rows ? last : along,
                   split ? "lane" : last, o, split ? "lane" : last, o);
  for (uint32_t k = 0; k < naxis; k++)
    if (k != inner && k != cut && (split || k + 1 != n))
      wick_text_printf(&t->steps, "parallel %s.%s; ", o, template_loop(t, t->out, k));
}
