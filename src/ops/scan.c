/* Running sums and products along an axis. */
#include "ops/grad.h"
#include "ops/ref.h"
#include "ops/stage.h"
#include "ops/tensor.h"

enum { SCAN_AXIS, SCAN_EXCLUSIVE, SCAN_REVERSE };

static wick_opcode scan_row(wick_opcode op)
{
  return op == WICK_OP_cumprod ? WICK_OP_mul : WICK_OP_add;
}

static wick_status scan_infer(wick_infer *c)
{
  const wick_type_info *x;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 1, &x));
  return wick_infer_same(c);
}

static wick_status scan_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0];
  uint32_t axis = (uint32_t)c->attr[SCAN_AXIS].i;
  bool exclusive = c->attr[SCAN_EXCLUSIVE].i, reverse = c->attr[SCAN_REVERSE].i;
  int64_t n = x->dim[axis], outer = wick_ref_product(x, 0, axis),
          inner = wick_ref_product(x, axis + 1, x->rank);
  bool is_float = wick_elem_is_float(x->elem), product = c->op == WICK_OP_cumprod;
  wick_scalar *v = wick_ref_load(c->mem, x);
  for (int64_t o = 0; o < outer; o++)
    for (int64_t i = 0; i < inner; i++) {
      wick_scalar sum = wick_ops[scan_row(c->op)]->neutral(x->elem);
      for (int64_t k = 0; k < n; k++) {
        wick_scalar *own = &v[(o * n + (reverse ? n - 1 - k : k)) * inner + i], before = sum;
        uint64_t u = (uint64_t)sum.i, v_i = (uint64_t)own->i;
        if (is_float)
          sum.f = product ? sum.f * own->f : sum.f + own->f;
        else
          sum.i = (int64_t)(product ? u * v_i : u + v_i);
        *own = exclusive ? before : sum;
      }
    }
  wick_ref_write(&c->out[0], 0, wick_ref_numel(x), v);
  return NULL;
}

/* ---- long lines ---- */

/* Sums of blocks, of blocks of these, and so on; then, from the last of them down, what lies before
 * each place: of its block, and of all blocks before. A number of steps for each element that does
 * not grow with the line. */
enum { SCAN_BLOCK = 16, SCAN_LONG = 512, SCAN_LEVELS = 16 };

typedef struct scan_lines {
  const wick_compute *c;
  wick_opcode by;
  wick_elem acc;
  uint32_t at;               /* the axis */
  wick_value x[SCAN_LEVELS]; /* the elements, the sums of their blocks, ... */
  int64_t n[SCAN_LEVELS];    /* of each along the axis */
} scan_lines;

static wick_type scan_type(const scan_lines *s, uint32_t level)
{
  wick_builder *b = s->c->b;
  wick_dim dim[WICK_MAX_RANK];
  const wick_type_info *x = wick_built_info(b, s->c->in[0]);
  for (uint32_t k = 0; k < x->rank; k++)
    dim[k] = k == s->at ? wick_dim_const(s->n[level]) : x->dim[k];
  return wick_type_tensor(b->module, s->acc, x->rank, dim);
}

/* The element of a level at a place along the axis, in the order of sums; beyond the last: that
 * which changes nothing. */
static wick_value scan_at(const scan_lines *s, uint32_t level, const wick_axis *axis,
                          wick_dim place)
{
  wick_builder *b = s->c->b;
  wick_dim index[WICK_MAX_RANK], last = wick_dim_const(s->n[level] - 1);
  if (b->status) return s->x[level];
  const wick_type_info *x = wick_built_info(b, s->x[level]);
  for (uint32_t k = 0; k < x->rank; k++) index[k] = axis[k].sym;
  bool back = level == 0 && s->c->attr[SCAN_REVERSE].i;
  index[s->at] = back ? wick_dim_sub(b->module->dims, last, place) : place;
  wick_scalar none = wick_ops[s->by]->neutral(x->elem);
  wick_value fill = wick_build_const(b, wick_type_scalar(b->module, x->elem, 1), none.f, none.i);
  return wick_build_cast(b, wick_read(b, s->x[level], index, 0, NULL, fill), s->acc);
}

static wick_value scan_blocks(const scan_lines *s, uint32_t level)
{
  wick_builder *b = s->c->b;
  wick_dims *t = b->module->dims;
  wick_axis axis[WICK_MAX_RANK + 1];
  wick_type type = scan_type(s, level);
  uint32_t n = wick_axes_of(b, type, axis);
  axis[n] = wick_make_axis(b, "k", wick_dim_const(SCAN_BLOCK), true);
  wick_value state = wick_stage_fold(b, "blocks", n + 1, axis, type, s->by, s->acc);
  wick_dim place = wick_dim_mul(t, axis[s->at].sym, wick_dim_const(SCAN_BLOCK));
  wick_value v = scan_at(s, level - 1, axis, wick_dim_add(t, place, axis[n].sym));
  return wick_stage_end(b, wick_stage_finish(b, wick_build2(b, s->by, state, v), s->by), type);
}

/* What lies before the places of a level; of the elements, up to them. before: of the next level; 0
 * of the last one. */
static wick_value scan_before(const scan_lines *s, uint32_t level, wick_value before)
{
  wick_builder *b = s->c->b;
  wick_dims *t = b->module->dims;
  wick_axis axis[WICK_MAX_RANK + 1];
  wick_dim index[WICK_MAX_RANK], block = wick_dim_const(SCAN_BLOCK);
  wick_type type = level ? scan_type(s, level) : s->c->out_type[0];
  uint32_t n = wick_axes_of(b, type, axis);
  axis[n] = wick_make_axis(b, "k", block, true);
  wick_value state = wick_stage_fold(b, "before", n + 1, axis, type, s->by, s->acc), none = {0};
  bool back = level == 0 && s->c->attr[SCAN_REVERSE].i,
       without = level || s->c->attr[SCAN_EXCLUSIVE].i;
  wick_dim own = axis[s->at].sym;
  if (back) own = wick_dim_sub(t, wick_dim_const(s->n[0] - 1), own);
  wick_dim of = wick_dim_floordiv(t, own, block),
           place = wick_dim_add(t, wick_dim_mul(t, of, block), axis[n].sym);
  wick_value on = wick_stage_compare(b, without ? WICK_OP_lt : WICK_OP_le, place, own),
             sum = wick_build2(b, s->by, state, scan_at(s, level, axis, place));
  sum = wick_stage_finish(b, wick_build3(b, WICK_OP_where, on, sum, state), s->by);
  for (uint32_t k = 0; k < n; k++) index[k] = axis[k].sym;
  index[s->at] = of;
  if (before.id) sum = wick_build2(b, s->by, wick_read(b, before, index, 0, NULL, none), sum);
  return wick_stage_end(b, sum, type);
}

/* Products of floats stay in order: parts of one leave the range where all of it does not. */
static bool scan_is_long(const wick_compute *c)
{
  const wick_type_info *x = wick_built_info(c->b, c->in[0]);
  wick_dim n = x->dim[c->attr[SCAN_AXIS].i];
  return wick_dim_is_const(n) && n.v >= SCAN_LONG &&
         (c->op == WICK_OP_cumsum || !wick_elem_is_float(x->elem));
}

static void scan_long(const wick_compute *c)
{
  uint32_t level = 0;
  scan_lines s = {.c = c, .by = scan_row(c->op), .at = (uint32_t)c->attr[SCAN_AXIS].i};
  s.acc = wick_stage_range(wick_built_info(c->b, c->in[0])->elem, s.by);
  s.x[0] = c->in[0], s.n[0] = wick_built_info(c->b, c->in[0])->dim[s.at].v;
  for (; s.n[level] > SCAN_BLOCK; level++) {
    s.n[level + 1] = wick_ceildiv_i64(s.n[level], SCAN_BLOCK);
    s.x[level + 1] = scan_blocks(&s, level + 1);
  }
  wick_value before = {0};
  for (uint32_t k = level + 1; k-- > 0;) before = scan_before(&s, k, before);
  c->out[0] = before;
}

/* ---- others ---- */

/* Every element is a fold of its own: the elements up to its place. */
static void scan_compute(const wick_compute *c)
{
  if (scan_is_long(c)) {
    scan_long(c);
    return;
  }
  wick_builder *b = c->b;
  wick_dims *t = b->module->dims;
  const wick_type_info *x = wick_built_info(b, c->in[0]);
  wick_axis axis[WICK_MAX_RANK + 1];
  wick_dim index[WICK_MAX_RANK];
  uint32_t at = (uint32_t)c->attr[SCAN_AXIS].i, n = wick_axes_of(b, c->out_type[0], axis);
  bool exclusive = c->attr[SCAN_EXCLUSIVE].i, reverse = c->attr[SCAN_REVERSE].i;
  for (uint32_t k = 0; k < n; k++) index[k] = axis[k].sym;
  axis[n] = wick_make_axis(b, "k", x->dim[at], true);
  wick_dim last = wick_dim_sub(t, x->dim[at], wick_dim_const(1)), own = index[at];
  index[at] = reverse ? wick_dim_sub(t, last, axis[n].sym) : axis[n].sym; /* in the order of sums */
  wick_opcode by = scan_row(c->op);
  wick_elem acc = wick_stage_range(x->elem, by);
  wick_value state =
      wick_stage_fold(b, wick_ops[c->op]->name, n + 1, axis, c->out_type[0], by, acc);
  wick_opcode before =
      reverse ? (exclusive ? WICK_OP_gt : WICK_OP_ge) : (exclusive ? WICK_OP_lt : WICK_OP_le);
  wick_value v = wick_build_cast(b, wick_read(b, c->in[0], index, 0, NULL, (wick_value){0}), acc),
             on = wick_stage_compare(b, before, index[at], own);
  v = wick_build3(b, WICK_OP_where, on, wick_build2(b, by, state, v), state);
  c->out[0] = wick_stage_end(b, wick_stage_finish(b, v, by), c->out_type[0]);
}

const wick_op wick_op_cumsum = {
    .name = "cumsum",
    .doc = "The sum of the elements up to each place along `axis`, in order, of long lines by "
           "blocks; without the element "
           "itself (`exclusive`), from the end (`reverse`). f16 and bf16 are summed in f32; "
           "integers wrap",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"axis", WICK_ATTR_AXIS, 0, false, NULL, 0, 0},
             {"exclusive", WICK_ATTR_BOOL, 0, false, NULL, 0, 0},
             {"reverse", WICK_ATTR_BOOL, 0, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .elems = WICK_NUMBERS,
    .infer = scan_infer,
    .ref = scan_ref,
    .compute = scan_compute,
    .grad = wick_grad_cumsum,
};

const wick_op wick_op_cumprod = {
    .name = "cumprod",
    .doc =
        "The product of the elements up to each place along `axis`, in order; without the element "
        "itself (`exclusive`), from the end (`reverse`). Floats are multiplied in f64; "
        "integers wrap",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"axis", WICK_ATTR_AXIS, 0, false, NULL, 0, 0},
             {"exclusive", WICK_ATTR_BOOL, 0, false, NULL, 0, 0},
             {"reverse", WICK_ATTR_BOOL, 0, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .elems = WICK_NUMBERS,
    .infer = scan_infer,
    .ref = scan_ref,
    .compute = scan_compute,
    .grad = wick_grad_cumprod,
};
