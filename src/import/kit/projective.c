#include "import/kit/projective.h"

#include <ctype.h>
#include <string.h>

#include "import/kit/array.h"

bool wick_outside_named(const char *name, wick_outside *out)
{
  static const char *const names[] = {"constant", "reflect", "wrap", "nearest"};
  for (uint32_t k = 0; k < WICK_COUNT(names); k++) {
    const char *a = name, *b = names[k];
    while (*a && tolower((unsigned char)*a) == *b) a++, b++;
    *out = (wick_outside)k;
    if (!*a && !*b) return true;
  }
  return false;
}

/* What all steps need. */
typedef struct projective_image {
  wick_import_node *n;
  wick_builder *b;
  wick_value flat;    /* [batch, height * width, channels] */
  wick_value size[2]; /* height and width, [1] in f32 */
  bool batched;       /* places differ between images */
  wick_value fill;
} projective_image;

static wick_value projective_op(const projective_image *p, wick_opcode op, wick_value x,
                                wick_value y)
{
  return wick_build2(p->b, op, x, y);
}

static wick_value projective_if(const projective_image *p, wick_value c, wick_value x, wick_value y)
{
  return p->b->status ? x : wick_build3(p->b, WICK_OP_where, c, x, y);
}

/* c - period * trunc(c / by) */
static wick_value projective_less(const projective_image *p, wick_value c, wick_value period,
                                  wick_value by)
{
  wick_value times = wick_build1(p->b, WICK_OP_trunc, projective_op(p, WICK_OP_div, c, by));
  return projective_op(p, WICK_OP_sub, c, projective_op(p, WICK_OP_mul, period, times));
}

/* A coordinate of which the image has `size`, where the mode puts it. */
static wick_value projective_inside(const projective_image *p, wick_value c, wick_value size,
                                    wick_outside outside)
{
  wick_builder *b = p->b;
  if (outside == WICK_OUTSIDE_CONSTANT || b->status) return c;
  wick_value zero = wick_emit_number(b, c, 0), last = wick_emit_by(b, WICK_OP_sub, size, 1);
  wick_value before = c, after = c;
  if (outside == WICK_OUTSIDE_REFLECT) {
    wick_value twice = wick_emit_by(b, WICK_OP_mul, size, 2);
    wick_value own = projective_less(p, c, twice, twice);
    wick_value far = projective_op(p, WICK_OP_lt, own, wick_build1(b, WICK_OP_neg, size));
    wick_value back = wick_emit_by(b, WICK_OP_sub, wick_build1(b, WICK_OP_neg, own), 1);
    before = projective_if(p, far, projective_op(p, WICK_OP_add, own, twice), back);
    back = wick_emit_by(b, WICK_OP_sub, projective_op(p, WICK_OP_sub, twice, own), 1);
    after = projective_if(p, projective_op(p, WICK_OP_ge, own, size), back, own);
  }
  if (outside == WICK_OUTSIDE_WRAP) {
    wick_value by = wick_emit_by(b, WICK_OP_max, last, 1);
    before = projective_op(p, WICK_OP_add, projective_less(p, c, size, by), size);
    after = projective_less(p, c, size, by);
  }
  c = projective_if(p, projective_op(p, WICK_OP_lt, c, zero), before,
                    projective_if(p, projective_op(p, WICK_OP_gt, c, last), after, c));
  return projective_op(p, WICK_OP_max, projective_op(p, WICK_OP_min, c, last), zero);
}

/* The elements at whole coordinates [batch, height, width] in f32; `fill` outside. */
static wick_value projective_read(const projective_image *p, wick_value y, wick_value x)
{
  wick_builder *b = p->b;
  const wick_value at[2] = {y, x};
  wick_value valid = {0}, index = {0};
  for (int k = 0; k < 2 && !b->status; k++) {
    wick_value zero = wick_emit_number(b, at[k], 0);
    wick_value in = projective_op(p, WICK_OP_ge, at[k], zero);
    in = projective_op(p, WICK_OP_and, in, projective_op(p, WICK_OP_lt, at[k], p->size[k]));
    valid = k ? projective_op(p, WICK_OP_and, valid, in) : in;
  }
  for (int k = 0; k < 2 && !b->status; k++) {
    wick_value zero = wick_emit_number(b, at[k], 0);
    wick_value own = wick_build_cast(b, projective_if(p, valid, at[k], zero), WICK_I64);
    wick_value width = wick_build_cast(b, p->size[1], WICK_I64);
    index =
        k ? projective_op(p, WICK_OP_add, index, own) : projective_op(p, WICK_OP_mul, own, width);
  }
  if (b->status) return y;
  wick_value v;
  if (p->batched) {
    v = wick_array_gather(p->n, p->flat, index, 1, 1);
  } else {
    v = wick_emit_gather(b, WICK_OP_gather, p->flat, wick_emit_squeeze(b, index, 0), 1);
  }
  return projective_if(p, wick_emit_unsqueeze(b, valid, 3), v, p->fill);
}

/* The nearest whole number; halves go away from zero. */
static wick_value projective_round(const projective_image *p, wick_value x)
{
  wick_builder *b = p->b;
  wick_value size = wick_build1(b, WICK_OP_abs, x), down = wick_build1(b, WICK_OP_floor, size);
  wick_value rest = projective_op(p, WICK_OP_sub, size, down);
  wick_value half = wick_emit_by(b, WICK_OP_ge, rest, 0.5);
  wick_value up = wick_emit_by(b, WICK_OP_add, down, 1);
  return projective_op(p, WICK_OP_mul, projective_if(p, half, up, down),
                       wick_build1(b, WICK_OP_sign, x));
}

/* Between the four elements around the place. */
static wick_value projective_linear(const projective_image *p, wick_value y, wick_value x)
{
  wick_builder *b = p->b;
  wick_value at[2][2], share[2][2], row[2], own[2] = {y, x};
  for (int k = 0; k < 2 && !b->status; k++) {
    at[k][0] = wick_build1(b, WICK_OP_floor, own[k]);
    at[k][1] = wick_emit_by(b, WICK_OP_add, at[k][0], 1);
    share[k][0] = wick_emit_unsqueeze(b, projective_op(p, WICK_OP_sub, at[k][1], own[k]), 3);
    share[k][1] = wick_emit_unsqueeze(b, projective_op(p, WICK_OP_sub, own[k], at[k][0]), 3);
  }
  for (int r = 0; r < 2 && !b->status; r++) {
    wick_value part[2];
    for (int k = 0; k < 2; k++) {
      wick_value v = wick_build_cast(b, projective_read(p, at[0][r], at[1][k]), WICK_F32);
      part[k] = projective_op(p, WICK_OP_mul, share[1][k], v);
    }
    row[r] =
        projective_op(p, WICK_OP_mul, share[0][r], projective_op(p, WICK_OP_add, part[0], part[1]));
  }
  return b->status ? y : projective_op(p, WICK_OP_add, row[0], row[1]);
}

wick_value wick_projective(wick_import_node *n, wick_value image, wick_value t,
                           const wick_dim size[2], bool linear, wick_outside outside,
                           wick_value fill)
{
  wick_builder *b = n->b;
  projective_image p = {.n = n, .b = b, .fill = fill};
  if (b->status || n->failed) return image;
  const wick_type_info *info = wick_built_info(b, image), *ti = wick_built_info(b, t);
  if (info->rank != 4 || ti->rank != 2) {
    wick_import_fail(n, WICK_ETYPE, "the ranks are %u and %u, expected 4 and 2", info->rank,
                     ti->rank);
    return image;
  }
  if (!wick_import_equal(n, ti->dim[1], wick_dim_const(8))) return image;
  p.batched = !wick_dim_is(ti->dim[0], 1);
  if (p.batched && !wick_import_equal(n, ti->dim[0], info->dim[0])) return image;
  wick_elem elem = info->elem;
  const wick_dim d[4] = {info->dim[0], info->dim[1], info->dim[2], info->dim[3]};
  p.flat = wick_build_reshape(
      b, image, 3, (const wick_dim[]){d[0], wick_dim_mul(n->c->module->dims, d[1], d[2]), d[3]});
  for (uint32_t k = 0; k < 2; k++)
    p.size[k] = wick_build_cast(b, wick_array_sizes(n, 1, &d[1 + k], WICK_I64), WICK_F32);
  wick_value of[8], place[3];
  t = wick_build_cast(b, t, WICK_F32);
  for (uint32_t k = 0; k < 8 && !b->status; k++) /* [batch, 1, 1] */
    of[k] =
        wick_emit_unsqueeze(b, wick_emit_slice(b, t, 1, wick_dim_const(k), wick_dim_const(1)), 2);
  if (b->status) return image;
  wick_value y = wick_build_cast(b, wick_emit_count_along(b, size[0], 1, 3), WICK_F32);
  wick_value x = wick_build_cast(b, wick_emit_count_along(b, size[1], 2, 3), WICK_F32);
  for (uint32_t k = 0; k < 3; k++) { /* x, y, and what divides them */
    place[k] = projective_op(&p, WICK_OP_add, projective_op(&p, WICK_OP_mul, of[3 * k], x),
                             projective_op(&p, WICK_OP_mul, of[3 * k + 1], y));
    place[k] = k < 2 ? projective_op(&p, WICK_OP_add, place[k], of[3 * k + 2])
                     : wick_emit_by(b, WICK_OP_add, place[k], 1);
  }
  for (uint32_t k = 0; k < 2; k++) {
    place[k] = projective_op(&p, WICK_OP_div, place[k], place[2]);
    place[k] = projective_inside(&p, place[k], p.size[1 - k], outside);
  }
  wick_value v =
      linear ? projective_linear(&p, place[1], place[0])
             : projective_read(&p, projective_round(&p, place[1]), projective_round(&p, place[0]));
  if (b->status) return image;
  wick_value none = wick_emit_unsqueeze(b, wick_emit_by(b, WICK_OP_eq, place[2], 0), 3);
  return projective_if(&p, none, fill, wick_build_cast(b, v, elem));
}
