/* Inference, reference and stages that the steps of all recurrent operators share. One fold over
 * the state computes all gates of a unit; the map after it combines them. */
#include "ops/nn/blocked.h"
#include "ops/recurrent/recurrent.h"
#include "ops/ref.h"
#include "ops/stage.h"
#include "ops/tensor.h"

/* ---- inference ---- */

/* Returns how many neighbouring elements of the state a dot product combines. */
static wick_dim step_together(const wick_type_info *r)
{
  return r->rank == 5 ? r->dim[4] : wick_dim_const(1);
}

static bool step_has(const wick_infer *c, uint32_t i) { return i < c->nin && c->in[i]; }

/* Returns true if the state and the weights have x's element type, or narrow ones whose products
 * are summed in it. */
static bool step_elems_fit(wick_elem x, wick_elem h, wick_elem r)
{
  return h == r && (h == x || (wick_elem_is_float(h) && wick_elem_storage[h].arith == x));
}

static bool step_weights_fit(const wick_infer *c, const wick_type_info *x, uint32_t gates)
{
  int64_t least, most;
  if (step_has(c, WICK_STEP_H) != step_has(c, WICK_STEP_R)) return false;
  if (!step_has(c, WICK_STEP_H)) return true;
  const wick_type_info *h = wick_type_get(c->module, c->in[WICK_STEP_H]->type),
                       *r = wick_type_get(c->module, c->in[WICK_STEP_R]->type);
  if (h->rank != 2 || (r->rank != 4 && r->rank != 5) || !step_elems_fit(x->elem, h->elem, r->elem))
    return false;
  wick_dims *t = c->module->dims;
  wick_dim places = wick_dim_mul(t, r->dim[1], step_together(r));
  wick_dim_range(t, wick_dim_sub(t, h->dim[1], places), &least, &most);
  return least >= 0 && wick_dim_eq(h->dim[0], x->dim[0]) && wick_dim_eq(r->dim[0], x->dim[1]) &&
         wick_dim_is(r->dim[2], gates) && wick_dim_eq(r->dim[3], x->dim[3]);
}

wick_status wick_step_infer(wick_infer *c, uint32_t gates, uint32_t more, uint32_t nout)
{
  const wick_type_info *x, *s, *p;
  WICK_TRY(wick_infer_tensor(c, WICK_STEP_X, "x", 4, &x));
  WICK_TRY(wick_infer_alike(c, WICK_STEP_STATE, "the state", 3, &s));
  bool fit = x->rank == 4 && s->rank == 3 && wick_dim_is(x->dim[2], gates) &&
             wick_dim_eq(x->dim[0], s->dim[0]) && wick_dim_eq(x->dim[1], s->dim[1]) &&
             wick_dim_eq(x->dim[3], s->dim[2]) && step_weights_fit(c, x, gates);
  if (fit && step_has(c, WICK_STEP_MORE)) {
    WICK_TRY(wick_infer_alike(c, WICK_STEP_MORE, "operand 4", 3, &p));
    fit = p->rank == 3 && wick_dim_eq(p->dim[0], x->dim[1]) && wick_dim_is(p->dim[1], more) &&
          wick_dim_eq(p->dim[2], x->dim[3]);
  }
  if (!fit) return wick_infer_fail(c, WICK_ETYPE, "the operands do not fit each other");
  for (uint32_t k = 0; k < nout; k++) wick_infer_out(c, k, x->elem, 3, s->dim);
  c->nout = nout;
  return NULL;
}

/* ---- reference ---- */

static double step_load(const wick_tensor *t, int64_t at)
{
  return wick_load_elem(t->elem, t->data, (uint64_t)at).f;
}

double wick_step_input_ref(const wick_ref *c, const int64_t *at, int64_t gate)
{
  const int64_t *d = c->in[WICK_STEP_X].dim;
  return step_load(&c->in[WICK_STEP_X], ((at[0] * d[1] + at[1]) * d[2] + gate) * d[3] + at[2]);
}

double wick_step_sum_ref(const wick_ref *c, const int64_t *at, int64_t gate)
{
  double sum = 0;
  if (c->nin <= WICK_STEP_R || !c->in[WICK_STEP_R].data) return sum;
  const wick_tensor *h = &c->in[WICK_STEP_H], *r = &c->in[WICK_STEP_R];
  int64_t each = r->rank == 5 ? r->dim[4] : 1;
  for (int64_t k = 0; k < r->dim[1] * each; k++) {
    int64_t ri = ((at[1] * r->dim[1] + k / each) * r->dim[2] + gate) * r->dim[3] + at[2];
    sum += step_load(h, at[0] * h->dim[1] + k) * step_load(r, ri * each + k % each);
    sum = wick_ref_range(c->in[WICK_STEP_STATE].elem, sum);
  }
  return sum;
}

double wick_step_more_ref(const wick_ref *c, const int64_t *at, int64_t k)
{
  if (c->nin <= WICK_STEP_MORE || !c->in[WICK_STEP_MORE].data) return 0;
  const int64_t *d = c->in[WICK_STEP_MORE].dim;
  return step_load(&c->in[WICK_STEP_MORE], (at[1] * d[1] + k) * d[2] + at[2]);
}

/* ---- stages ---- */

/* Builds [batch, blocks, block, gates]: the rows of the state times the weights of all gates. */
static wick_value step_product(const wick_compute *c)
{
  wick_builder *b = c->b;
  const wick_type_info *h = wick_built_info(b, c->in[WICK_STEP_H]),
                       *w = wick_built_info(b, c->in[WICK_STEP_R]);
  wick_dim dim[4] = {h->dim[0], w->dim[0], w->dim[3], w->dim[2]};
  static const char *const name[4] = {"b", "n", "v", "g"};
  wick_dims *t = b->module->dims;
  wick_axis a[6];
  for (uint32_t k = 0; k < 4; k++) a[k] = wick_make_axis(b, name[k], dim[k], false);
  a[4] = wick_make_axis(b, "k", w->dim[1], true);
  a[5] = wick_make_axis(b, "q", step_together(w), true);
  wick_elem sum = wick_packed_sum(h->elem);
  wick_dim place = wick_dim_mul(t, a[4].sym, a[5].extent);
  if (w->rank == 5) place = wick_dim_add(t, place, a[5].sym);
  wick_fold_begin(b, "gates", w->rank + 1u, a, wick_type_tensor(b->module, sum, 4, dim),
                  WICK_OP_add);
  wick_dim hi[2] = {a[0].sym, place}, wi[5] = {a[1].sym, a[4].sym, a[3].sym, a[2].sym, a[5].sym};
  wick_value p = wick_read(b, c->in[WICK_STEP_H], hi, 0, NULL, (wick_value){0}),
             q = wick_read(b, c->in[WICK_STEP_R], wi, 0, NULL, (wick_value){0});
  return wick_fold_end_muladd(b, wick_build_cast(b, p, sum), wick_build_cast(b, q, sum));
}

wick_step wick_step_begin(const wick_compute *c, const char *name)
{
  wick_builder *b = c->b;
  wick_step s = {.c = c};
  if (c->nin > WICK_STEP_R && c->in[WICK_STEP_R].id) s.product = step_product(c);
  const wick_dim *dim = wick_type_get(b->module, c->out_type[0])->dim;
  static const char *const axis[3] = {"b", "n", "v"};
  for (uint32_t k = 0; k < 3; k++) s.axis[k] = wick_make_axis(b, axis[k], dim[k], false);
  wick_map_begin(b, name, 3, s.axis, c->nout, c->out_type);
  return s;
}

wick_value wick_step_input(const wick_step *s, int64_t gate)
{
  const wick_axis *a = s->axis;
  wick_dim at[4] = {a[0].sym, a[1].sym, wick_dim_const(gate), a[2].sym};
  return wick_read(s->c->b, s->c->in[WICK_STEP_X], at, 0, NULL, (wick_value){0});
}

wick_value wick_step_sum(const wick_step *s, int64_t gate)
{
  const wick_axis *a = s->axis;
  wick_dim at[4] = {a[0].sym, a[1].sym, a[2].sym, wick_dim_const(gate)};
  if (!s->product.id) return s->product;
  return wick_read(s->c->b, s->product, at, 0, NULL, (wick_value){0});
}

wick_value wick_step_state(const wick_step *s)
{
  wick_dim at[3] = {s->axis[0].sym, s->axis[1].sym, s->axis[2].sym};
  return wick_read(s->c->b, s->c->in[WICK_STEP_STATE], at, 0, NULL, (wick_value){0});
}

wick_value wick_step_more(const wick_step *s, int64_t k)
{
  wick_dim at[3] = {s->axis[1].sym, wick_dim_const(k), s->axis[2].sym};
  if (s->c->nin <= WICK_STEP_MORE || !s->c->in[WICK_STEP_MORE].id) return (wick_value){0};
  return wick_read(s->c->b, s->c->in[WICK_STEP_MORE], at, 0, NULL, (wick_value){0});
}
