/* Rewrites each product by itself. */
#include "graph/shift_weights.h"

#include <string.h>

#include "graph/match.h"
#include "ir/copy.h"
#include "target/target.h"

enum { SHIFT_COLUMNS = 4, SHIFT_DOT = 4 /* bytes in a dot product */ };

typedef struct shift_weights {
  wick_match k;
  wick_copier c;
  wick_arena *mem;
} shift_weights;

/* Returns true if v is a cast of bytes, from which something may be subtracted. */
static bool shift_weights_are_bytes(const shift_weights *s, wick_value v)
{
  const wick_node *n = wick_match_op(&s->k, v, WICK_OP_sub),
                  *cast = wick_match_op(&s->k, n ? n->in[0] : v, WICK_OP_cast);
  wick_elem e = cast ? wick_info_of(s->k.f, cast->in[0])->elem : WICK_I32;
  return e == WICK_U8 || e == WICK_I8;
}

/* The numbers to take off the weights of each column, an output channel or a column of a matrix. Weight i belongs
 * to column i / `each` % n. */
typedef struct shift_weights_numbers {
  int64_t n, each;
  int32_t *by; /* [n] */
  bool one;    /* the same for all */
} shift_weights_numbers;

/* Returns the number that makes weights in that range bytes, 0 if they are; INT32_MIN if there is none. */
static int32_t shift_weights_number(int32_t least, int32_t most)
{
  if (least < -INT16_MAX || most > INT16_MAX || most - least > UINT8_MAX) return INT32_MIN;
  return most > INT8_MAX ? most - INT8_MAX : least < INT8_MIN ? least - INT8_MIN : 0;
}

/* Finds the numbers: if possible, one for all. Returns false if the weights stay as they are. */
static bool shift_weights_find(const shift_weights *s, const wick_constant *w,
                               shift_weights_numbers *x)
{
  const int32_t *from = w->data;
  int32_t least = INT32_MAX, most = INT32_MIN, *low = wick_new(s->mem, int32_t, (size_t)x->n),
          *high = wick_new(s->mem, int32_t, (size_t)x->n);
  for (int64_t k = 0; k < x->n; k++) low[k] = INT32_MAX, high[k] = INT32_MIN;
  for (int64_t i = 0; i < (int64_t)(w->nbytes / sizeof *from); i++) {
    int64_t k = i / x->each % x->n;
    if (from[i] < low[k]) low[k] = from[i];
    if (from[i] > high[k]) high[k] = from[i];
    if (from[i] < least) least = from[i];
    if (from[i] > most) most = from[i];
  }
  if (most < least) return false;
  x->by = wick_new(s->mem, int32_t, (size_t)x->n);
  int32_t all = shift_weights_number(least, most);
  x->one = all != INT32_MIN;
  for (int64_t k = 0; k < x->n; k++) {
    x->by[k] = x->one ? all : shift_weights_number(low[k], high[k]);
    if (x->by[k] == INT32_MIN) return false;
  }
  return all;
}

static wick_value shift_weights_constant(shift_weights *s, const char *name, wick_type type,
                                         int32_t *data, uint64_t n)
{
  return wick_build_constant(&s->c.b,
                             wick_constant_add(s->k.f->module, name, type, data, n * sizeof *data));
}

/* Sums x over what the product sums, for each of its rows. */
static wick_value shift_weights_sums(shift_weights *s, const wick_node *n, wick_value x)
{
  wick_module *m = s->k.f->module;
  bool conv = n->op == WICK_OP_conv;
  uint32_t rank = wick_info_of(s->k.f, n->in[0])->rank;
  int64_t axis = conv ? 1 : rank - 1, dim[WICK_MAX_RANK] = {1, 1};
  wick_attr a[] = {[WICK_ATTR_reduce_sum_axes] = {.n = 1, .ints = &axis},
                   [WICK_ATTR_reduce_sum_keepdims] = {.i = 1}};
  x = wick_build(&s->c.b, WICK_OP_reduce_sum, 1, &x, a, 0, NULL);
  if (!conv) return x;
  uint64_t area = 1;
  for (uint32_t k = 2; k < rank; k++) {
    dim[k] = wick_info_of(s->k.f, n->in[1])->dim[k].v;
    area *= (uint64_t)dim[k];
  }
  int32_t *ones = wick_module_alloc(m, area * sizeof *ones);
  for (uint64_t i = 0; i < area; i++) ones[i] = 1;
  wick_value in[2] = {x, shift_weights_constant(s, "window",
                                                wick_type_tensor_const(m, WICK_I32, rank, dim),
                                                ones, area)};
  return wick_build(&s->c.b, WICK_OP_conv, 2, in, n->attr, 0, NULL);
}

/* Builds the numbers, followed by that many dimensions of size 1. */
static wick_value shift_weights_factor(shift_weights *s, const shift_weights_numbers *z,
                                       uint32_t after)
{
  wick_module *m = s->k.f->module;
  if (z->one) return wick_build_const(&s->c.b, wick_type_tensor(m, WICK_I32, 0, NULL), 0, z->by[0]);
  int64_t dim[WICK_MAX_RANK] = {z->n};
  for (uint32_t k = 0; k < after; k++) dim[1 + k] = 1;
  int32_t *data = wick_module_alloc(m, (size_t)z->n * sizeof *data);
  memcpy(data, z->by, (size_t)z->n * sizeof *data);
  return shift_weights_constant(s, "numbers", wick_type_tensor_const(m, WICK_I32, after + 1, dim),
                                data, (uint64_t)z->n);
}

static bool shift_weights_node(shift_weights *s, const wick_node *n)
{
  int64_t d[WICK_MAX_RANK];
  bool conv = n->op == WICK_OP_conv;
  if ((!conv && n->op != WICK_OP_matmul) || wick_info_of(s->k.f, n->first)->elem != WICK_I32)
    return false;
  const wick_type_info *t = wick_info_of(s->k.f, n->in[1]);
  const wick_constant *w = wick_match_data(&s->k, n->in[1]);
  if (!w || !wick_type_const_dims(t, d) ||
      (conv ? n->attr[WICK_ATTR_conv_group].i != 1 : t->rank != 2) ||
      d[conv ? 0 : 1] < SHIFT_COLUMNS || wick_info_of(s->k.f, n->in[0])->rank < 2 ||
      !shift_weights_are_bytes(s, n->in[0]))
    return false;
  shift_weights_numbers z = {.n = d[conv ? 0 : 1], .each = 1};
  for (uint32_t k = 1; conv && k < t->rank; k++) z.each *= d[k];
  if (!shift_weights_find(s, w, &z)) return false;
  wick_builder *b = &s->c.b;
  wick_module *m = s->k.f->module;
  int64_t all = (int64_t)(w->nbytes / 4);
  int32_t *data = wick_module_alloc(m, w->nbytes);
  for (int64_t i = 0; i < all; i++)
    data[i] = ((const int32_t *)w->data)[i] - z.by[i / z.each % z.n];
  b->loc = n->loc;
  wick_value x = s->c.to[n->in[0].id], in[3] = {x};
  in[1] = shift_weights_constant(s, wick_str_printf(s->mem, "%s.shifted", w->name), w->type, data,
                                 (uint64_t)all);
  if (n->nin > 2) in[2] = s->c.to[n->in[2].id];
  wick_value y = wick_copy_with(b, s->k.f, n, in), sums = shift_weights_sums(s, n, x),
             by = shift_weights_factor(s, &z, conv ? t->rank - 2 : 0);
  sums = wick_build2(b, WICK_OP_mul, sums, by);
  s->c.to[n->first.id] = wick_build2(b, WICK_OP_add, y, sums);
  return true;
}

wick_status wick_pass_shift_weights(const wick_pass_context *pass, const wick_func *f,
                                    wick_func **out)
{
  if (!wick_target_dot(pass->target, WICK_U8, WICK_I8, SHIFT_DOT) &&
      !wick_target_dot(pass->target, WICK_I8, WICK_I8, SHIFT_DOT)) {
    *out = (wick_func *)(uintptr_t)f;
    return NULL;
  }
  shift_weights s = {
      .k = wick_match_begin(f, pass->mem), .c = wick_copy_begin(f, pass->mem), .mem = pass->mem};
  for (uint32_t i = 0; i < f->nnode; i++)
    if (f->node[i].nout != 1 || f->node[i].nregion || !shift_weights_node(&s, &f->node[i]))
      wick_copy_node(&s.c, &f->node[i]);
  return wick_copy_finish(&s.c, out);
}
