/* Converts in one traversal. Each value has a plain form, an image form, or both. Plain forms
 * without readers are not copied. */
#include "graph/conv1d_to_conv2d.h"

#include <string.h>

#include "graph/match.h"
#include "ir/copy.h"
#include "ops/nn/window.h"

enum { CONV1D_TO_CONV2D_CHANNELS = 8, CONV1D_TO_CONV2D_MOST = 8 };

typedef struct conv1d_to_conv2d {
  wick_match k;
  wick_copier c;
  wick_value *image; /* per old value: its form as an image with one row, or 0 */
  uint32_t *weights; /* per constant of the module: its form as an image, or 0 */
} conv1d_to_conv2d;

/* Returns v, which is [.., X] or broadcasts to that, with an axis of size 1 before its last one. */
static wick_value conv1d_to_conv2d_image(conv1d_to_conv2d *s, wick_value v)
{
  if (!v.id || s->image[v.id].id) return s->image[v.id];
  const wick_type_info *t = wick_info_of(s->k.f, v);
  wick_dim dim[4];
  if (t->rank < 2) return s->c.to[v.id]; /* broadcasts without a change */
  uint32_t last = t->rank - 1u;
  memcpy(dim, t->dim, last * sizeof *dim);
  dim[last] = wick_dim_const(1), dim[last + 1] = t->dim[last];
  return wick_build_reshape(&s->c.b, s->c.to[v.id], last + 2, dim);
}

/* Returns the weights with the same bytes, as [O, C, 1, K]. */
static wick_value conv1d_to_conv2d_weights(conv1d_to_conv2d *s, wick_value v)
{
  wick_module *m = s->k.f->module;
  const wick_constant *w = wick_match_data(&s->k, v);
  uint32_t *made = &s->weights[wick_match_imm(&s->k, v)->constant];
  const wick_dim *d = wick_type_get(m, w->type)->dim;
  wick_dim dim[4] = {d[0], d[1], wick_dim_const(1), d[2]};
  wick_type type = wick_type_tensor(m, wick_type_get(m, w->type)->elem, 4, dim);
  if (!*made) *made = wick_constant_add(m, w->name, type, w->data, w->nbytes);
  return wick_build_constant(&s->c.b, *made);
}

/* ---- which nodes are converted ---- */

static bool conv1d_to_conv2d_is_conv(const conv1d_to_conv2d *s, const wick_node *n)
{
  if (n->op != WICK_OP_conv || !wick_match_data(&s->k, n->in[1])) return false;
  const wick_type_info *x = wick_info_of(s->k.f, n->in[0]), *w = wick_info_of(s->k.f, n->in[1]);
  return x->rank == 3 && wick_dim_is_const(x->dim[1]) && x->dim[1].v >= CONV1D_TO_CONV2D_CHANNELS &&
         w->dim[0].v >= CONV1D_TO_CONV2D_CHANNELS;
}

static bool conv1d_to_conv2d_is_pool(const conv1d_to_conv2d *s, const wick_node *n)
{
  return (n->op == WICK_OP_max_pool || n->op == WICK_OP_avg_pool) && n->nout == 1 &&
         s->image[n->in[0].id].id;
}

/* Returns true if n is element-wise and has an operand in image form. */
static bool conv1d_to_conv2d_goes_along(const conv1d_to_conv2d *s, const wick_node *n)
{
  bool any = false;
  if (!wick_op_of(n)->scalar || wick_op_of(n)->typed || n->nout != 1 || n->nregion ||
      n->nin > CONV1D_TO_CONV2D_MOST || wick_info_of(s->k.f, n->first)->rank != 3)
    return false;
  for (uint32_t k = 0; k < n->nin; k++) any = any || (n->in[k].id && s->image[n->in[k].id].id);
  return any;
}

/* ---- building ---- */

/* Extends a list for a one-dimensional window to images. Empty lists stay empty. */
static void conv1d_to_conv2d_window(const wick_node *n, wick_attr *a, int64_t ints[4][4])
{
  /* stride, pad, dilation and kernel along the row axis */
  static const int64_t one[] = {1, 0, 1, 1};
  uint32_t most = n->op == WICK_OP_conv ? WICK_WINDOW_NATTR : WICK_WINDOW_NATTR + 1;
  memcpy(a, n->attr, n->nattr * sizeof *a);
  for (uint32_t k = 0; k < most; k++) {
    if (!n->attr[k].n) continue;
    for (uint32_t i = 0; i < n->attr[k].n; i++)
      ints[k][2 * i] = one[k], ints[k][2 * i + 1] = n->attr[k].ints[i];
    a[k].n = 2 * n->attr[k].n, a[k].ints = ints[k];
  }
}

static void conv1d_to_conv2d_build(conv1d_to_conv2d *s, const wick_node *n)
{
  const wick_func *f = s->k.f;
  const wick_type_info *t = wick_info_of(f, n->first);
  wick_value in[CONV1D_TO_CONV2D_MOST] = {{0}};
  wick_attr a[WICK_MAX_ATTR] = {{0}};
  int64_t ints[4][4];
  bool conv = n->op == WICK_OP_conv, window = conv || !wick_op_of(n)->scalar;
  s->c.b.loc = n->loc;
  in[0] = conv1d_to_conv2d_image(s, n->in[0]);
  for (uint32_t k = 1; k < n->nin; k++)
    in[k] = conv && k == 2 ? s->c.to[n->in[k].id]
            : conv         ? conv1d_to_conv2d_weights(s, n->in[k])
                           : conv1d_to_conv2d_image(s, n->in[k]);
  wick_value y;
  if (window) {
    conv1d_to_conv2d_window(n, a, ints);
    y = wick_build(&s->c.b, n->op, n->nin, in, a, 0, NULL);
  } else {
    y = wick_copy_with(&s->c.b, f, n, in);
  }
  if (!y.id) return;
  s->image[n->first.id] = y;
  wick_value plain = s->c.to[n->first.id] = wick_build_reshape(&s->c.b, y, 3, t->dim);
  if (plain.id)
    wick_build_name(&s->c.b, plain, f->value[n->first.id].name, f->value[n->first.id].relation);
}

wick_status wick_pass_conv1d_to_conv2d(const wick_pass_context *pass, const wick_func *f,
                                       wick_func **out)
{
  wick_arena *mem = pass->mem;
  conv1d_to_conv2d s = {.k = wick_match_begin(f, mem)};
  s.image = wick_new(mem, wick_value, f->nvalue + 1);
  s.weights = wick_new(mem, uint32_t, f->module->constants.n);
  s.c = wick_copy_begin(f, mem);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    if (!s.c.b.status && (conv1d_to_conv2d_is_conv(&s, n) || conv1d_to_conv2d_is_pool(&s, n) ||
                          conv1d_to_conv2d_goes_along(&s, n)))
      conv1d_to_conv2d_build(&s, n);
    else
      wick_copy_node(&s.c, n);
  }
  return wick_copy_finish(&s.c, out);
}
