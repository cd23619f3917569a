/* The body becomes that of a `while`, which carries whether it goes on, the scalar parameters and
 * the results. A branch at the end yields all of them. A call that passes another buffer on is no
 * step: the buffer may be in the frame, which the step would write again.
 *
 * If a call's result only becomes a field of an object that is the result, the object is built
 * before the call, with a constructor without fields in that field, and the loop also carries the
 * first object, the last one, whose field the next step fills, and the position of that field. The
 * last object is 0 before the first one. */
#include "loop/tail_calls.h"

#include "ir/call.h"
#include "ir/copy.h"

typedef struct tail {
  wick_copier c;
  const wick_func *f;
  wick_arena *tmp;
  uint32_t nparam, nout;     /* those that are carried */
  const uint32_t *carried;   /* the parameters that are scalars */
  const wick_type *type;     /* of the carried values */
  wick_list(uint32_t) field; /* positions of fields that calls fill; none: nothing is built */
} tail;

enum { TAIL_FIRST, TAIL_LAST, TAIL_AT, TAIL_BUILT }; /* carried after the parameters */

/* Returns the last node of a region if its results are exactly what the region ends with; else
 * NULL. */
static const wick_node *tail_last(const wick_func *f, uint32_t begin, uint32_t end)
{
  const wick_node *last = NULL, *r = &f->node[end - 1];
  for (uint32_t i = begin; i + 1 < end; i = f->node[i].end) last = &f->node[i];
  if (!last || last->nout != r->nin) return NULL;
  for (uint32_t k = 0; k < r->nin; k++)
    if (r->in[k].id != last->first.id + k) return NULL;
  return last;
}

static bool tail_is_buffer(const wick_func *f, uint32_t param)
{
  return wick_info_of(f, (wick_value){param + 1})->kind == WICK_BUFFER;
}

static bool tail_is_call(const wick_func *f, const wick_node *n)
{
  bool same = n->op == WICK_OP_call && n->attr[WICK_ATTR_call_callee].s == f->name;
  for (uint32_t k = 0; same && k < f->nparam; k++)
    same = !tail_is_buffer(f, k) || n->in[k].id == k + 1;
  return same;
}

/* Returns the operand of an object at the end of a region that is the result of a call of f just
 * before it, and that has no other use; 0: there is none. */
static uint32_t tail_field(const wick_func *f, const wick_node *last)
{
  bool again = last->op == WICK_OP_object_reuse;
  const wick_node *call = last - 1;
  uint32_t found = UINT32_MAX, n = 0;
  if ((!again && last->op != WICK_OP_object_new) || last == f->node || call->nout != 1 ||
      !tail_is_call(f, call))
    return UINT32_MAX;
  for (uint32_t k = 0; k < last->nin; k++)
    if (last->in[k].id == call->first.id) found = k, n++;
  return n == 1 && found >= again ? found : UINT32_MAX;
}

/* What the end of a region is. */
typedef enum tail_end { TAIL_RESULT, TAIL_CALL, TAIL_OBJECT, TAIL_BRANCH } tail_end;

/* Adds the positions of fields that calls in the region fill. */
static tail_end tail_end_of(tail *t, uint32_t begin, uint32_t end)
{
  const wick_func *f = t->f;
  const wick_node *last = tail_last(f, begin, end);
  if (!last) return TAIL_RESULT;
  if (tail_is_call(f, last)) return TAIL_CALL;
  uint32_t field = last > f->node + begin ? tail_field(f, last) : UINT32_MAX;
  if (field != UINT32_MAX) {
    uint32_t at = field - (last->op == WICK_OP_object_reuse), i = 0;
    while (i < t->field.n && t->field.at[i] != at) i++;
    if (i == t->field.n) wick_push(t->tmp, &t->field, at);
    return TAIL_OBJECT;
  }
  bool any = false;
  for (uint32_t r = 0; last->op == WICK_OP_if && r < 2; r++)
    if (tail_end_of(t, last->region[r].begin, last->region[r].end)) any = true;
  return any ? TAIL_BRANCH : TAIL_RESULT;
}

/* Stores an object into the field that waits, which has one of the positions from t->field.at[i]
 * on. */
static void tail_store(tail *t, const wick_value *built, wick_value object, uint32_t i)
{
  wick_builder *b = &t->c.b;
  wick_value in[2] = {built[TAIL_LAST], object}, at = wick_build_i64(b, t->field.at[i]);
  wick_attr position = {.i = t->field.at[i]};
  if (i + 1 == t->field.n) {
    wick_build(b, WICK_OP_object_store, 2, in, &position, 0, NULL);
    return;
  }
  wick_value is = wick_build2(b, WICK_OP_eq, built[TAIL_AT], at);
  wick_build_open(b, WICK_OP_if, 1, &is, NULL, 0, NULL);
  wick_region_begin(b, 0, NULL);
  wick_build(b, WICK_OP_object_store, 2, in, &position, 0, NULL);
  wick_yield(b, 0, NULL);
  wick_region_begin(b, 0, NULL);
  tail_store(t, built, object, i + 1);
  wick_yield(b, 0, NULL);
  wick_build_close(b);
}

/* Puts an object into the field that waits for one, and returns the first object. */
static wick_value tail_put(tail *t, const wick_value *built, wick_value object)
{
  wick_builder *b = &t->c.b;
  wick_value zero = wick_build_i64(b, 0);
  wick_value none = wick_build2(b, WICK_OP_eq, built[TAIL_LAST], zero);
  wick_build_open(b, WICK_OP_if, 1, &none, NULL, 0, NULL);
  wick_region_begin(b, 0, NULL);
  wick_yield(b, 1, &object);
  wick_region_begin(b, 0, NULL);
  tail_store(t, built, object, 0);
  wick_yield(b, 1, &built[TAIL_FIRST]);
  return wick_build_close(b);
}

/* Builds an object without its field, and makes that the field that waits. */
static void tail_object(tail *t, const wick_node *n, wick_value *built)
{
  wick_builder *b = &t->c.b;
  uint32_t field = tail_field(t->f, n);
  wick_value *in = wick_new(t->tmp, wick_value, n->nin);
  for (uint32_t k = 0; k < n->nin; k++)
    in[k] = k == field ? wick_build_i64(b, 1) : t->c.to[n->in[k].id];
  b->loc = n->loc;
  wick_value object = wick_build(b, n->op, n->nin, in, n->attr, 0, NULL);
  built[TAIL_FIRST] = tail_put(t, built, object);
  built[TAIL_LAST] = object;
  built[TAIL_AT] = wick_build_i64(b, field - (n->op == WICK_OP_object_reuse));
}

/* Builds the region, and sets `out` to the carried values after it. `param`: those before it. */
static void tail_region(tail *t, uint32_t begin, uint32_t end, wick_value param, wick_value *out)
{
  const wick_func *f = t->f;
  wick_builder *b = &t->c.b;
  uint32_t nbuilt = t->field.n ? TAIL_BUILT : 0, n = 1 + t->nparam + nbuilt;
  tail_end what = tail_end_of(t, begin, end);
  const wick_node *last = what ? tail_last(f, begin, end) : NULL;
  const wick_node *call = what == TAIL_OBJECT ? last - 1 : what == TAIL_CALL ? last : NULL;
  uint32_t stop = call ? (uint32_t)(call - f->node) : last ? (uint32_t)(last - f->node) : end - 1;
  wick_value built[TAIL_BUILT];
  for (uint32_t k = 0; k < TAIL_BUILT; k++) built[k].id = param.id + t->nparam + k;
  for (uint32_t i = begin; i < stop; i++) wick_copy_node(&t->c, &f->node[i]);
  if (what == TAIL_BRANCH) {
    b->loc = last->loc;
    wick_build_open(b, WICK_OP_if, 1, &t->c.to[last->in[0].id], NULL, 0, NULL);
    for (uint32_t r = 0; r < 2; r++) {
      wick_region_begin(b, 0, NULL);
      tail_region(t, last->region[r].begin, last->region[r].end, param, out);
      wick_yield(b, n + t->nout, out);
    }
    wick_value v = wick_build_close(b);
    for (uint32_t k = 0; k < n + t->nout; k++) out[k].id = v.id + k;
    return;
  }
  const wick_node *r = &f->node[end - 1];
  for (uint32_t k = 0; k < t->nparam; k++)
    out[1 + k] = call ? t->c.to[call->in[t->carried[k]].id] : (wick_value){param.id + k};
  if (what == TAIL_OBJECT) tail_object(t, last, built);
  for (uint32_t k = 0; k < nbuilt; k++) out[1 + t->nparam + k] = built[k];
  out[0] = wick_build_const(b, t->type[0], 0, call != NULL);
  for (uint32_t k = 0; k < t->nout; k++)
    out[n + k] = call     ? wick_build_const(b, t->type[n + k], 0, 0)
                 : nbuilt ? tail_put(t, built, t->c.to[r->in[k].id])
                          : t->c.to[r->in[k].id];
}

wick_status wick_pass_tail_calls(const wick_pass_context *pass, const wick_func *f, wick_func **out)
{
  *out = (wick_func *)(uintptr_t)f;
  tail t = {.f = f, .tmp = pass->tmp};
  if (!wick_func_is_procedure(f) || !tail_end_of(&t, 0, f->nnode)) return NULL;
  const wick_node *ret = wick_return(f);
  uint32_t *carried = wick_new(pass->tmp, uint32_t, f->nparam + 1), nparam = 0;
  for (uint32_t k = 0; k < f->nparam; k++)
    if (!tail_is_buffer(f, k)) carried[nparam++] = k;
  uint32_t nbuilt = t.field.n ? TAIL_BUILT : 0, result = 1 + nparam + nbuilt, n = result + ret->nin;
  wick_type *type = wick_new(pass->tmp, wick_type, n);
  wick_value *v = wick_new(pass->tmp, wick_value, n);
  t.c = wick_copy_begin(f, pass->mem);
  t.nparam = nparam, t.nout = ret->nin, t.carried = carried, t.type = type;
  wick_builder *b = &t.c.b;
  type[0] = wick_type_scalar(f->module, WICK_BOOL, 1);
  v[0] = wick_build_const(b, type[0], 0, 1);
  for (uint32_t k = 0; k < nparam; k++)
    type[1 + k] = f->value[1 + carried[k]].type, v[1 + k] = t.c.to[1 + carried[k]];
  for (uint32_t k = 0; k < nbuilt; k++) {
    type[1 + nparam + k] = wick_type_scalar(f->module, WICK_I64, 1);
    v[1 + nparam + k] = wick_build_i64(b, 0);
  }
  for (uint32_t k = 0; k < ret->nin; k++) {
    type[result + k] = wick_type_of(f, ret->in[k]);
    v[result + k] = wick_build_const(b, type[result + k], 0, 0);
  }
  wick_build_open(b, WICK_OP_while, n, v, NULL, 0, NULL);
  wick_value go = wick_region_begin(b, n, type);
  wick_yield(b, 1, &go);
  wick_value first = wick_region_begin(b, n, type);
  for (uint32_t k = 0; k < nparam; k++) t.c.to[1 + carried[k]] = (wick_value){first.id + 1 + k};
  tail_region(&t, 0, f->nnode, (wick_value){first.id + 1}, v);
  wick_yield(b, n, v);
  first = wick_build_close(b);
  for (uint32_t k = 0; k < ret->nin; k++) v[k].id = first.id + result + k;
  wick_build_return(b, ret->nin, v);
  return wick_copy_finish(&t.c, out);
}
