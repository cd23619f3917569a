/* Interprets loop functions, node by node. Begin with wick_interpret. */
#include "loop/interpret.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "ir/build.h"
#include "ir/call.h"
#include "ir/element.h"
#include "loop/interpret_object.h"
#include "target/processor.h"

typedef struct interpret_buffer {
  void *data;
  uint64_t nelem;
} interpret_buffer;

typedef struct interpret {
  const wick_func *f;
  uint32_t depth;  /* of calls */
  wick_heap *heap; /* NULL: f needs none */
  wick_arena *mem, *tmp;
  const wick_type_info **type; /* per value */
  wick_scalar **lane;          /* per value: its lanes */
  interpret_buffer *buffer;    /* per value */
  wick_list(struct interpret_call {
    const wick_func *f;
    const wick_interpret_arg *arg;
  }) beside; /* launches that may run concurrently */
} interpret;

static wick_status interpret_fail(const interpret *t, const wick_node *n, wick_code code,
                                  const char *fmt, ...) WICK_PRINTF(4, 5);
static wick_status interpret_fail(const interpret *t, const wick_node *n, wick_code code,
                                  const char *fmt, ...)
{
  va_list args;
  va_start(args, fmt);
  const char *place = n->loc.id ? wick_loc_text(t->f->module, n->loc)
                                : wick_str_printf(t->mem, "@%s: node %u (%s)", t->f->name,
                                                  (uint32_t)(n - t->f->node), wick_op_of(n)->name);
  wick_status s = wick_vfail(t->mem, code, place, fmt, args);
  va_end(args);
  return s;
}

static const wick_type_info *interpret_type(const interpret *t, wick_value v)
{
  return t->type[v.id];
}

/* ---- memory ---- */

static wick_status interpret_alloc(interpret *t, const wick_node *n)
{
  const wick_type_info *b = interpret_type(t, n->first);
  wick_dim numel = wick_dim_const(1);
  for (uint32_t k = 0; k < b->rank; k++) numel = wick_dim_mul(t->f->module->dims, numel, b->dim[k]);
  if (n->nin) numel = (wick_dim){t->lane[n->in[1].id][0].i};
  if (!wick_dim_is_const(numel) || numel.v < 0)
    return interpret_fail(t, n, WICK_EUNSUPPORTED, "the buffer's size is not a number");
  uint64_t nbytes = wick_elem_bytes(b->elem, (uint64_t)numel.v);
  interpret_buffer *own = &t->buffer[n->first.id];
  own->nelem = (uint64_t)numel.v;
  if (own->data) return NULL; /* all tasks share it, because one of them may have written it */
  own->data = wick_arena_alloc(t->tmp, nbytes, 16);
  memset(own->data, 0xfd, nbytes); /* so that elements that were never stored are noticed */
  return NULL;
}

/* Makes a view: the elements from the view's offset on, as far as its dimensions and strides
 * reach. */
static wick_status interpret_view(interpret *t, const wick_node *n)
{
  const wick_type_info *from = interpret_type(t, n->in[0]), *to = interpret_type(t, n->first);
  const interpret_buffer *b = &t->buffer[n->in[0].id];
  wick_picked choice = wick_view_choice(n);
  int64_t at = 0;
  if (choice.index.id) {
    at = wick_min_i64(wick_max_i64(t->lane[choice.index.id][0].i, 0), choice.count - 1);
    at = (choice.reverse ? choice.count - 1 - at : at) * choice.step;
  }
  uint64_t offset = wick_elem_bytes(to->elem, (uint64_t)(n->attr[WICK_ATTR_view_offset].i + at)),
           last = 0, dense = 1;
  for (uint32_t k = to->rank; k-- > 0;) {
    if (!wick_dim_is_const(to->dim[k]) || (to->stride && !wick_dim_is_const(to->stride[k])))
      return interpret_fail(t, n, WICK_EUNSUPPORTED, "the buffer's size is not a number");
    uint64_t extent = (uint64_t)to->dim[k].v;
    last += (extent - 1) * (to->stride ? (uint64_t)to->stride[k].v : dense);
    dense *= extent;
  }
  uint64_t nelem = dense ? last + 1 : 0, nbytes = wick_elem_bytes(from->elem, b->nelem);
  if (n->attr[WICK_ATTR_view_offset].i < 0 || offset > nbytes ||
      wick_elem_bytes(to->elem, nelem) > nbytes - offset)
    return interpret_fail(t, n, WICK_EINTERNAL, "the view leaves its buffer");
  t->buffer[n->first.id] = (interpret_buffer){(char *)b->data + offset, nelem};
  return NULL;
}

static bool interpret_on(const interpret *t, const wick_node *n, uint32_t mask, uint32_t lane)
{
  return n->nin <= mask || t->lane[n->in[mask].id][lane].i;
}

/* Finds the position of a vector if no lane is masked and all are in bounds. Returns false if lanes
 * must be checked one by one. */
static bool interpret_whole(const interpret *t, const wick_node *n, uint32_t mask, uint32_t lanes,
                            uint64_t *out)
{
  int64_t at;
  const interpret_buffer *b = &t->buffer[n->in[0].id];
  if (n->nin > mask ||
      wick_add_overflows(t->lane[n->in[1].id][0].i, n->attr[WICK_ATTR_load_offset].i, &at) ||
      at < 0 || (uint64_t)at >= b->nelem || b->nelem - (uint64_t)at < lanes)
    return false;
  *out = (uint64_t)at;
  return true;
}

/* Finds the position of a lane, which must be in bounds. */
static wick_status interpret_place(const interpret *t, const wick_node *n, uint32_t lane,
                                   uint64_t *out)
{
  int64_t at;
  const interpret_buffer *b = &t->buffer[n->in[0].id];
  if (wick_add_overflows(t->lane[n->in[1].id][0].i, n->attr[WICK_ATTR_load_offset].i, &at) ||
      wick_add_overflows(at, (int64_t)lane, &at) || at < 0 || (uint64_t)at >= b->nelem)
    return interpret_fail(t, n, WICK_EINTERNAL, "element %lld + %lld + %u of a buffer of %llu",
                          (long long)t->lane[n->in[1].id][0].i,
                          (long long)n->attr[WICK_ATTR_load_offset].i, lane,
                          (unsigned long long)b->nelem);
  *out = (uint64_t)at;
  return NULL;
}

static wick_status interpret_load(interpret *t, const wick_node *n)
{
  const wick_type_info *r = interpret_type(t, n->first);
  uint64_t first;
  if (interpret_whole(t, n, 2, r->lanes, &first)) {
    const void *data = t->buffer[n->in[0].id].data;
    wick_scalar *to = t->lane[n->first.id];
    for (uint32_t i = 0; i < r->lanes; i++) to[i] = wick_load_elem(r->elem, data, first + i);
    return NULL;
  }
  for (uint32_t i = 0; i < r->lanes; i++) {
    uint64_t at;
    t->lane[n->first.id][i] = (wick_scalar){.i = 0};
    if (!interpret_on(t, n, 2, i)) continue;
    WICK_TRY(interpret_place(t, n, i, &at));
    t->lane[n->first.id][i] = wick_load_elem(r->elem, t->buffer[n->in[0].id].data, at);
  }
  return NULL;
}

static wick_status interpret_load_lanes(interpret *t, const wick_node *n)
{
  const wick_type_info *r = interpret_type(t, n->first);
  const interpret_buffer *b = &t->buffer[n->in[0].id];
  for (uint32_t i = 0; i < r->lanes; i++) {
    int64_t first = t->lane[n->in[1].id][0].i, own = t->lane[n->in[2].id][i].i,
            offset = n->attr[WICK_ATTR_load_lanes_offset].i, at;
    t->lane[n->first.id][i] = (wick_scalar){.i = 0};
    if (!interpret_on(t, n, 3, i)) continue;
    if (wick_add_overflows(first, offset, &at) || wick_add_overflows(at, own, &at) || at < 0 ||
        (uint64_t)at >= b->nelem)
      return interpret_fail(t, n, WICK_EINTERNAL, "element %lld + %lld + %lld of a buffer of %llu",
                            (long long)first, (long long)offset, (long long)own,
                            (unsigned long long)b->nelem);
    t->lane[n->first.id][i] = wick_load_elem(r->elem, b->data, (uint64_t)at);
  }
  return NULL;
}

static wick_status interpret_store(interpret *t, const wick_node *n)
{
  const wick_type_info *v = interpret_type(t, n->in[2]);
  uint64_t first;
  if (interpret_whole(t, n, 3, v->lanes, &first)) {
    void *data = t->buffer[n->in[0].id].data;
    const wick_scalar *from = t->lane[n->in[2].id];
    for (uint32_t i = 0; i < v->lanes; i++) wick_store_elem(v->elem, data, first + i, from[i]);
    return NULL;
  }
  for (uint32_t i = 0; i < v->lanes; i++) {
    uint64_t at;
    if (!interpret_on(t, n, 3, i)) continue;
    WICK_TRY(interpret_place(t, n, i, &at));
    wick_store_elem(v->elem, t->buffer[n->in[0].id].data, at, t->lane[n->in[2].id][i]);
  }
  return NULL;
}

static wick_status interpret_peel(interpret *t, const wick_node *n)
{
  uint64_t at, size = wick_elem_storage[interpret_type(t, n->in[0])->elem].bits / 8;
  WICK_TRY(interpret_place(t, n, 0, &at));
  uint64_t address = (uint64_t)(uintptr_t)t->buffer[n->in[0].id].data + at * size;
  t->lane[n->first.id][0].i = (int64_t)((0 - address) % WICK_LINE / size);
  return NULL;
}

/* ---- values ---- */

static void interpret_const(interpret *t, const wick_node *n)
{
  const wick_type_info *r = interpret_type(t, n->first);
  const wick_imm *imm = wick_const_imm(n);
  wick_scalar s =
      wick_elem_is_float(r->elem) ? (wick_scalar){.f = imm->f} : (wick_scalar){.i = imm->i};
  for (uint32_t i = 0; i < r->lanes; i++) t->lane[n->first.id][i] = wick_round_elem(r->elem, s);
}

static void interpret_scalar(interpret *t, const wick_node *n)
{
  const wick_type_info *r = interpret_type(t, n->first);
  bool select = wick_op_of(n)->scalar == WICK_RULE_SELECT;
  wick_elem elem = n->nin ? interpret_type(t, n->in[select])->elem : r->elem;
  for (uint32_t i = 0; i < r->lanes; i++) {
    wick_scalar in[4];
    for (uint32_t k = 0; k < n->nin && k < WICK_COUNT(in); k++) in[k] = t->lane[n->in[k].id][i];
    t->lane[n->first.id][i] = wick_eval_scalar(n->op, n->attr, elem, r->elem, in);
  }
}

static void interpret_shuffle(interpret *t, const wick_node *n)
{
  uint32_t own = interpret_type(t, n->in[0])->lanes;
  for (uint32_t i = 0; i < n->attr[WICK_ATTR_shuffle_lanes].n; i++) {
    uint32_t from = (uint32_t)n->attr[WICK_ATTR_shuffle_lanes].ints[i];
    t->lane[n->first.id][i] =
        from < own ? t->lane[n->in[0].id][from] : t->lane[n->in[1].id][from - own];
  }
}

/* Flushes numbers below the normal range of f32 to 0. */
static float interpret_normal(double x)
{
  return fabs(x) < FLT_MIN ? (float)copysign(0, x) : (float)x;
}

/* Computes a dot product of floats as x86's vdpbf16ps does. */
static double interpret_dot_floats(double sum, uint32_t k, const wick_scalar *x,
                                   const wick_scalar *w)
{
  float s = interpret_normal(sum);
  while (k-- > 0) s = interpret_normal(fmaf(interpret_normal(x[k].f), interpret_normal(w[k].f), s));
  return s;
}

static void interpret_dot(interpret *t, const wick_node *n)
{
  const wick_type_info *r = interpret_type(t, n->first);
  uint32_t k = interpret_type(t, n->in[1])->lanes / r->lanes;
  const wick_scalar *x = t->lane[n->in[1].id], *w = t->lane[n->in[2].id];
  for (uint32_t i = 0; i < r->lanes; i++) {
    if (wick_elem_is_float(r->elem)) {
      double s = t->lane[n->in[0].id][i].f;
      t->lane[n->first.id][i].f = interpret_dot_floats(s, k, x + i * k, w + i * k);
      continue;
    }
    int64_t sum = t->lane[n->in[0].id][i].i;
    for (uint32_t j = 0; j < k; j++) sum += x[i * k + j].i * w[i * k + j].i;
    t->lane[n->first.id][i] = wick_round_elem(r->elem, (wick_scalar){.i = sum});
  }
}

/* ---- control ---- */

static wick_status interpret_region(interpret *t, const wick_region *g);

/* Copies scalars or buffers to consecutive values. It goes through tmp, because a region may yield
 * its own parameters in another order. */
static void interpret_carry(interpret *t, uint32_t n, const wick_value *from, uint32_t to)
{
  wick_mark mark = wick_arena_mark(t->tmp);
  wick_scalar **kept = wick_new(t->tmp, wick_scalar *, n);
  interpret_buffer *buffer = wick_new(t->tmp, interpret_buffer, n);
  for (uint32_t i = 0; i < n; i++) {
    const wick_type_info *type = interpret_type(t, from[i]);
    kept[i] = wick_dup(t->tmp, wick_scalar, t->lane[from[i].id], type->lanes);
    buffer[i] = t->buffer[from[i].id];
  }
  for (uint32_t i = 0; i < n; i++) {
    const wick_type_info *type = interpret_type(t, from[i]);
    memcpy(t->lane[to + i], kept[i], type->lanes * sizeof **kept);
    t->buffer[to + i] = buffer[i];
  }
  wick_arena_rewind(t->tmp, mark);
}

static wick_value *interpret_results(const interpret *t, const wick_node *n)
{
  wick_value *v = wick_new(t->tmp, wick_value, n->nout);
  for (uint32_t k = 0; k < n->nout; k++) v[k].id = n->first.id + k;
  return v;
}

static wick_status interpret_for(interpret *t, const wick_node *n)
{
  const wick_region *g = &n->region[0];
  const wick_node *y = &t->f->node[g->end - 1];
  int64_t lo = t->lane[n->in[0].id][0].i, hi = t->lane[n->in[1].id][0].i,
          step = n->attr[WICK_ATTR_for_step].i;
  wick_value *carried = interpret_results(t, n);
  interpret_carry(t, n->nin - 2u, n->in + 2, n->first.id);
  for (int64_t i = lo; i < hi; i += step) {
    t->lane[g->first.id][0].i = i;
    interpret_carry(t, n->nout, carried, g->first.id + 1);
    WICK_TRY(interpret_region(t, g));
    interpret_carry(t, n->nout, y->in, n->first.id);
    if (hi - i <= step) break; /* because i + step could overflow */
  }
  return NULL;
}

static wick_status interpret_while(interpret *t, const wick_node *n)
{
  const wick_region *test = &n->region[0], *body = &n->region[1];
  const wick_node *cond = &t->f->node[test->end - 1], *y = &t->f->node[body->end - 1];
  wick_value *carried = interpret_results(t, n);
  interpret_carry(t, n->nin, n->in, n->first.id);
  for (;;) {
    interpret_carry(t, n->nout, carried, test->first.id);
    WICK_TRY(interpret_region(t, test));
    if (!t->lane[cond->in[0].id][0].i) return NULL;
    interpret_carry(t, n->nout, carried, body->first.id);
    WICK_TRY(interpret_region(t, body));
    interpret_carry(t, n->nout, y->in, n->first.id);
  }
}

static wick_status interpret_if(interpret *t, const wick_node *n)
{
  const wick_region *g = &n->region[!t->lane[n->in[0].id][0].i];
  WICK_TRY(interpret_region(t, g));
  interpret_carry(t, n->nout, t->f->node[g->end - 1].in, n->first.id);
  return NULL;
}

/* Runs concurrent launches in reverse order, so that a wrong dependence on their order is
 * noticed. */
static wick_status interpret_flush(interpret *t)
{
  while (t->beside.n) {
    const struct interpret_call *c = &t->beside.at[--t->beside.n];
    WICK_TRY(wick_interpret(c->f, c->f->nparam, c->arg, t->mem, t->tmp));
  }
  return NULL;
}

static wick_status interpret_launch(interpret *t, const wick_node *n)
{
  const wick_func *f = wick_module_find(t->f->module, n->attr[WICK_ATTR_launch_callee].s);
  uint32_t nslot = wick_launch_nslot(n);
  if (!f || f->level != WICK_LOOP || f->nparam != nslot + 2)
    return interpret_fail(t, n, WICK_EINTERNAL, "@%s is no loop function of %u parameters",
                          n->attr[WICK_ATTR_launch_callee].s, nslot + 2);
  wick_interpret_arg *arg = wick_new(t->tmp, wick_interpret_arg, f->nparam);
  for (uint32_t i = 0; i < nslot; i++) {
    const interpret_buffer *b = &t->buffer[n->in[i].id];
    arg[i] = (wick_interpret_arg){b->data, b->nelem, 0};
    if (interpret_type(t, n->in[i])->kind == WICK_SCALAR) arg[i].number = t->lane[n->in[i].id][0].i;
  }
  arg[nslot + 1].number =
      nslot < n->nin ? t->lane[n->in[nslot].id][0].i : n->attr[WICK_ATTR_launch_tasks].i;
  if (!n->attr[WICK_ATTR_launch_concurrent].i) WICK_TRY(interpret_flush(t));
  wick_push(t->tmp, &t->beside, (struct interpret_call){f, arg});
  return NULL;
}

static wick_status interpret_func(interpret *t);
static void interpret_begin(interpret *t);

/* Runs a procedure in a frame of its own, which is freed after the call. */
static wick_status interpret_call(interpret *t, const wick_node *n)
{
  const wick_func *f = wick_module_find(t->f->module, n->attr[WICK_ATTR_call_callee].s);
  if (!f || f->level != WICK_LOOP || f->nparam != n->nin || wick_return(f)->nin != n->nout)
    return interpret_fail(t, n, WICK_EINTERNAL, "@%s is no loop function of %u parameters",
                          n->attr[WICK_ATTR_call_callee].s, n->nin);
  if (t->depth == WICK_INTERPRET_DEPTH)
    return interpret_fail(t, n, WICK_ELIMIT, "calls are nested deeper than %d",
                          WICK_INTERPRET_DEPTH);
  wick_mark mark = wick_arena_mark(t->tmp);
  interpret u = {.f = f, .depth = t->depth + 1, .heap = t->heap, .mem = t->mem, .tmp = t->tmp};
  interpret_begin(&u);
  for (uint32_t k = 0; k < n->nin; k++) {
    if (interpret_type(t, n->in[k])->kind == WICK_SCALAR)
      u.lane[k + 1][0] = t->lane[n->in[k].id][0];
    else
      u.buffer[k + 1] = t->buffer[n->in[k].id];
  }
  WICK_TRY(interpret_func(&u));
  for (uint32_t k = 0; k < n->nout; k++)
    t->lane[n->first.id + k][0] = u.lane[wick_return(f)->in[k].id][0];
  wick_arena_rewind(t->tmp, mark);
  return NULL;
}

/* Copies a tensor between a buffer, operand k, and a block. */
static wick_status interpret_tensor(interpret *t, const wick_node *n, uint32_t k)
{
  const interpret_buffer *b = &t->buffer[n->in[k].id];
  uint64_t nbytes = wick_elem_bytes(interpret_type(t, n->in[k])->elem, b->nelem);
  void *field = wick_interpret_field(t->heap, t->lane[n->in[1 - k].id][0].i,
                                     n->attr[WICK_ATTR_object_load_at].i, nbytes);
  if (!field) return interpret_fail(t, n, WICK_EINTERNAL, "the object has no such field");
  memcpy(k ? field : b->data, k ? b->data : field, nbytes);
  return NULL;
}

static wick_status interpret_object(interpret *t, const wick_node *n)
{
  if (n->op == WICK_OP_object_get_tensor) return interpret_tensor(t, n, 0);
  if (n->op == WICK_OP_object_put_tensor) return interpret_tensor(t, n, 1);
  wick_mark mark = wick_arena_mark(t->tmp);
  wick_scalar *in = wick_new(t->tmp, wick_scalar, n->nin + 1u);
  wick_elem *elem = wick_new(t->tmp, wick_elem, n->nin + 1u),
            result = n->nout ? interpret_type(t, n->first)->elem : WICK_I64;
  const char *what = NULL;
  for (uint32_t k = 0; k < n->nin; k++) {
    in[k] = t->lane[n->in[k].id][0];
    elem[k] = interpret_type(t, n->in[k])->elem;
  }
  wick_scalar out = {.i = 0};
  wick_code code = wick_interpret_object(t->heap, n, elem, in, result, &out, &what);
  if (n->nout) t->lane[n->first.id][0] = out;
  wick_arena_rewind(t->tmp, mark);
  return code ? interpret_fail(t, n, code, "%s", what) : NULL;
}

/* ---- nodes ---- */

static wick_status interpret_node(interpret *t, const wick_node *n)
{
  wick_scalar *out = t->lane[n->first.id];
  uint32_t lanes = n->nout ? interpret_type(t, n->first)->lanes : 0,
           own = n->nin ? interpret_type(t, n->in[0])->lanes : 0;
  switch (n->op) {
  case WICK_OP_const: interpret_const(t, n); return NULL;
  case WICK_OP_alloc: return interpret_alloc(t, n);
  case WICK_OP_view: return interpret_view(t, n);
  case WICK_OP_load: return interpret_load(t, n);
  case WICK_OP_load_lanes: return interpret_load_lanes(t, n);
  case WICK_OP_store: return interpret_store(t, n);
  case WICK_OP_prefetch: return NULL;
  case WICK_OP_peel: return interpret_peel(t, n);
  case WICK_OP_for: return interpret_for(t, n);
  case WICK_OP_while: return interpret_while(t, n);
  case WICK_OP_if: return interpret_if(t, n);
  case WICK_OP_call: return interpret_call(t, n);
  case WICK_OP_launch: return interpret_launch(t, n);
  case WICK_OP_wait: return interpret_flush(t);
  case WICK_OP_shuffle: interpret_shuffle(t, n); return NULL;
  case WICK_OP_dot: interpret_dot(t, n); return NULL;
  case WICK_OP_broadcast:
    for (uint32_t i = 0; i < lanes; i++) out[i] = t->lane[n->in[0].id][i % own];
    return NULL;
  case WICK_OP_vector:
    for (uint32_t i = 0; i < lanes; i++) out[i] = t->lane[n->in[i].id][0];
    return NULL;
  case WICK_OP_iota:
    for (uint32_t i = 0; i < lanes; i++) out[i].i = i;
    return NULL;
  case WICK_OP_any:
    out[0].i = 0;
    for (uint32_t i = 0; i < own; i++) out[0].i |= t->lane[n->in[0].id][i].i;
    return NULL;
  case WICK_OP_extract:
    out[0] = t->lane[n->in[0].id][n->attr[WICK_ATTR_extract_lane].i];
    return NULL;
  case WICK_OP_say:
    if (!n->attr[WICK_ATTR_say_fails].i || !t->lane[n->in[0].id][0].i) return NULL;
    return interpret_fail(t, n, WICK_EINVAL, "%s", n->attr[WICK_ATTR_say_text].s);
  case WICK_OP_fail:
    if (!t->lane[n->in[0].id][0].i) return NULL;
    return interpret_fail(t, n, (wick_code)n->attr[WICK_ATTR_fail_code].i, "failed at element %lld",
                          (long long)t->lane[n->in[1].id][0].i);
  default: break;
  }
  if (wick_op_of(n)->heap) return interpret_object(t, n);
  if (!wick_op_of(n)->eval)
    return interpret_fail(t, n, WICK_EUNSUPPORTED, "the operator cannot be interpreted");
  interpret_scalar(t, n);
  return NULL;
}

static wick_status interpret_region(interpret *t, const wick_region *g)
{
  for (uint32_t i = g->begin; i < g->end - 1; i = t->f->node[i].end)
    WICK_TRY(interpret_node(t, &t->f->node[i]));
  return NULL;
}

static void interpret_begin(interpret *t)
{
  const wick_func *f = t->f;
  t->type = wick_new(t->tmp, const wick_type_info *, f->nvalue + 2);
  t->lane = wick_new(t->tmp, wick_scalar *, f->nvalue + 2);
  t->buffer = wick_new(t->tmp, interpret_buffer, f->nvalue + 2);
  for (uint32_t v = 1; v <= f->nvalue; v++) {
    t->type[v] = wick_info_of(f, (wick_value){v});
    t->lane[v] = wick_new(t->tmp, wick_scalar, t->type[v]->lanes);
  }
}

static wick_status interpret_func(interpret *t)
{
  WICK_TRY(interpret_region(t, &(wick_region){.begin = 0, .end = t->f->nnode}));
  return interpret_flush(t);
}

static bool interpret_has_stores(const wick_func *f)
{
  for (uint32_t i = 0; i < f->nnode; i++)
    if (f->node[i].op == WICK_OP_object_store) return true;
  return false;
}

/* Fails if objects are left. Those that refer to each other, through fields that were written, may
 * be. */
static wick_status interpret_left(const interpret *t)
{
  uint64_t left = t->heap ? wick_heap_used(t->heap) : 0;
  if (!left || wick_func_reaches(t->f, interpret_has_stores, t->tmp)) return NULL;
  return wick_fail(t->mem, WICK_EINTERNAL, t->f->name, "%llu bytes of objects are not released",
                   (unsigned long long)left);
}

wick_status wick_interpret(const wick_func *f, uint32_t narg, const wick_interpret_arg *arg,
                           wick_arena *mem, wick_arena *tmp)
{
  interpret t = {.f = f, .mem = mem, .tmp = tmp};
  if (f->level != WICK_LOOP || narg != f->nparam)
    return wick_fail(mem, WICK_EINTERNAL, f->name, "%u operands for a function of %u", narg,
                     f->nparam);
  if (wick_func_reaches_heap(f, tmp)) {
    t.heap = wick_arena_alloc(tmp, WICK_INTERPRET_HEAP, 64);
    *t.heap = (wick_heap){0};
    wick_heap_begin(t.heap, WICK_INTERPRET_HEAP);
  }
  interpret_begin(&t);
  for (uint32_t i = 0; i < narg; i++) {
    t.buffer[i + 1] = (interpret_buffer){arg[i].data, arg[i].nelem};
    if (wick_info_of(f, (wick_value){i + 1})->kind == WICK_SCALAR)
      t.lane[i + 1][0].i = arg[i].number;
  }
  WICK_TRY(interpret_func(&t));
  return interpret_left(&t);
}
