/* Builds blocks and fields. */
#include "graph/group/form_objects.h"

#include "graph/group/registers.h"
#include "graph/ownership.h"
#include "ops/elementwise/scalar.h"
#include "runtime/heap.h"
#include "runtime/kernel.h"

bool wick_form_is_object(const wick_node *n)
{
  switch (n->op) {
  case WICK_OP_construct:
  case WICK_OP_ref_new:
  case WICK_OP_ref_get:
  case WICK_OP_ref_set:
  case WICK_OP_assert:
  case WICK_OP_print:
  case WICK_OP_object_retain:
  case WICK_OP_object_release:
  case WICK_OP_object_take:
  case WICK_OP_object_free: return true;
  default: return false;
  }
}

/* ---- fields ---- */

static bool object_is(const form_state *s, wick_type t)
{
  return wick_kind_is_object(wick_type_get(s->f->module, t)->kind);
}

/* The kinds of fields, in the order in which a block has them. */
enum { OBJECT_REF, OBJECT_NUMBER, OBJECT_TENSOR };

static int object_kind(const form_state *s, wick_type t)
{
  if (object_is(s, t)) return OBJECT_REF;
  return wick_type_is_one(s->f->module, t) ? OBJECT_NUMBER : OBJECT_TENSOR;
}

static uint32_t object_refs(const form_state *s, uint32_t n, const wick_type *field)
{
  uint32_t refs = 0;
  for (uint32_t k = 0; k < n; k++) refs += object_is(s, field[k]);
  return refs;
}

/* Returns the position of field k of n in a block, in words; for k = n the words of all. */
static int64_t object_at(const form_state *s, uint32_t n, const wick_type *field, uint32_t k)
{
  int kind = k < n ? object_kind(s, field[k]) : OBJECT_TENSOR + 1;
  uint64_t at = 0;
  for (uint32_t i = 0; i < n; i++) {
    int other = object_kind(s, field[i]);
    if (other < kind || (other == kind && i < k)) at += wick_field_words(s->f->module, field[i]);
  }
  return (int64_t)at;
}

static wick_status object_fail(const form_state *s, const wick_node *n, const char *what)
{
  return wick_fail(s->tmp, WICK_EUNSUPPORTED, wick_loc_text(s->f->module, n->loc), "%s: %s",
                   wick_op_of(n)->name, what);
}

static wick_status object_check(const form_state *s, const wick_node *n, uint32_t nfield,
                                const wick_type *field)
{
  if (object_refs(s, nfield, field) > WICK_OBJECT_MOST_REFS)
    return object_fail(s, n, "it has too many fields that are objects");
  return object_at(s, nfield, field, nfield) < 1 << 27
             ? NULL
             : object_fail(s, n, "its fields have more than a GiB");
}

static wick_value object_load(form_state *s, wick_value object, int64_t at, wick_type type)
{
  wick_attr place = {.i = at};
  return wick_build(&s->b, WICK_OP_object_load, 1, &object, &place, 1, &type);
}

static void object_store(form_state *s, wick_value object, int64_t at, wick_value v)
{
  wick_attr place = {.i = at};
  wick_value in[2] = {object, v};
  wick_build(&s->b, WICK_OP_object_store, 2, in, &place, 0, NULL);
}

/* Returns a buffer of a tensor without strides. */
static wick_value object_dense(form_state *s, wick_value buffer, wick_type tensor)
{
  if (!wick_built_info(&s->b, buffer)->stride) return buffer;
  wick_type dense = wick_form_buffer(s, tensor, WICK_ARENA);
  wick_value copy[2] = {wick_build(&s->b, WICK_OP_alloc, 0, NULL, NULL, 1, &dense), buffer};
  wick_build(&s->b, WICK_OP_copy, 2, copy, NULL, 0, NULL);
  return copy[0];
}

/* Copies a tensor into a block. */
static void object_put(form_state *s, wick_value object, int64_t at, wick_value v)
{
  wick_attr place = {.i = at};
  wick_value in[2] = {object, wick_form_low(s, v)};
  if (s->b.status || !in[1].id) return; /* the error of its node was reported */
  in[1] = object_dense(s, in[1], wick_type_of(s->f, v));
  wick_build(&s->b, WICK_OP_object_put_tensor, 2, in, &place, 0, NULL);
}

/* Makes v the field at a position: a register, or a buffer with a copy of the tensor. */
static void object_get(form_state *s, wick_value object, int64_t at, wick_value v)
{
  wick_type number = wick_form_number(s->f, v);
  if (number.id) {
    s->reg[v.id] = object_load(s, object, at, number);
    return;
  }
  wick_attr place = {.i = at};
  wick_type type = wick_form_buffer(s, wick_type_of(s->f, v), WICK_ARENA);
  wick_value in[2] = {wick_build(&s->b, WICK_OP_alloc, 0, NULL, NULL, 1, &type), object};
  wick_build(&s->b, WICK_OP_object_get_tensor, 2, in, &place, 0, NULL);
  s->low[v.id] = in[0];
}

static void object_count(form_state *s, wick_opcode op, wick_value object)
{
  wick_build(&s->b, op, 1, &object, NULL, 0, NULL);
}

/* ---- blocks ---- */

/* Builds a block of the operands of n from `first` on; the one before it is memory to reuse. */
static wick_status object_block(form_state *s, const wick_node *n, uint32_t first, int64_t tag)
{
  uint32_t nfield = n->nin - first, nin = first;
  wick_type *field = wick_new(s->tmp, wick_type, nfield + 1u);
  wick_value *in = wick_new(s->tmp, wick_value, n->nin + 1u);
  for (uint32_t k = 0; k < nfield; k++) field[k] = wick_type_of(s->f, n->in[first + k]);
  WICK_TRY(object_check(s, n, nfield, field));
  if (first) in[0] = wick_form_register(s, n->in[0]);
  for (uint32_t k = 0; k < nfield; k++) {
    if (object_kind(s, field[k]) == OBJECT_TENSOR) continue;
    in[first + object_at(s, nfield, field, k)] = wick_form_register(s, n->in[first + k]);
    nin++;
  }
  int64_t words = nin - first < nfield ? object_at(s, nfield, field, nfield) : 0;
  wick_attr attr[] = {[WICK_ATTR_object_new_tag] = {.i = tag},
                      [WICK_ATTR_object_new_refs] = {.i = object_refs(s, nfield, field)},
                      [WICK_ATTR_object_new_words] = {.i = words}};
  wick_value o =
      wick_build(&s->b, first ? WICK_OP_object_reuse : WICK_OP_object_new, nin, in, attr, 0, NULL);
  s->reg[n->first.id] = o;
  for (uint32_t k = 0; k < nfield; k++)
    if (object_kind(s, field[k]) == OBJECT_TENSOR)
      object_put(s, o, object_at(s, nfield, field, k), n->in[first + k]);
  return s->b.status;
}

static wick_status object_construct(form_state *s, const wick_node *n)
{
  int64_t tag = n->attr[WICK_ATTR_construct_ctor].i;
  if (n->nin) return object_block(s, n, n->attr[WICK_ATTR_construct_reuse].i != 0, tag);
  s->reg[n->first.id] = wick_build_i64(&s->b, tag << 1 | 1);
  return s->b.status;
}

/* ---- references ---- */

static wick_status object_ref_get(form_state *s, const wick_node *n)
{
  const wick_type_info *t = wick_info_of(s->f, n->in[0]);
  wick_value cell = wick_form_register(s, n->in[0]);
  for (uint32_t k = 0; k < n->nout; k++) {
    wick_value v = {n->first.id + k};
    object_get(s, cell, object_at(s, t->nitem, t->item, k), v);
    if (object_is(s, t->item[k])) object_count(s, WICK_OP_object_retain, s->reg[v.id]);
  }
  return s->b.status;
}

static wick_status object_ref_set(form_state *s, const wick_node *n)
{
  const wick_type_info *t = wick_info_of(s->f, n->in[0]);
  wick_type i64 = wick_type_scalar(s->f->module, WICK_I64, 1);
  wick_value cell = wick_form_register(s, n->in[0]);
  for (uint32_t k = 0; k < t->nitem; k++) {
    int64_t at = object_at(s, t->nitem, t->item, k);
    wick_value old = {0};
    if (object_is(s, t->item[k])) old = object_load(s, cell, at, i64);
    if (object_kind(s, t->item[k]) == OBJECT_TENSOR)
      object_put(s, cell, at, n->in[1 + k]);
    else
      object_store(s, cell, at, wick_form_register(s, n->in[1 + k]));
    if (old.id) object_count(s, WICK_OP_object_release, old);
  }
  return s->b.status;
}

static wick_status object_say(form_state *s, const wick_node *n)
{
  bool asserts = n->op == WICK_OP_assert;
  wick_value *in = wick_new(s->tmp, wick_value, n->nin + 1u);
  for (uint32_t k = 0; k < n->nin; k++) {
    wick_type type = wick_type_of(s->f, n->in[k]);
    if (object_is(s, type) || wick_type_get(s->f->module, type)->kind != WICK_TENSOR)
      return object_fail(s, n, "data, references and functions are not printed by native code yet");
    if (wick_form_number(s->f, n->in[k]).id) {
      in[k] = wick_form_register(s, n->in[k]);
      continue;
    }
    in[k] = wick_form_low(s, n->in[k]);
    if (s->b.status || !in[k].id) return s->b.status; /* the error of its node was reported */
    in[k] = object_dense(s, in[k], type);
  }
  if (asserts) in[0] = wick_build1(&s->b, WICK_OP_not, in[0]);
  wick_attr attr[] = {
      [WICK_ATTR_say_text] = n->attr[asserts ? WICK_ATTR_assert_message : WICK_ATTR_print_text],
      [WICK_ATTR_say_fails] = {.i = asserts},
      [WICK_ATTR_say_strings] =
          n->attr[asserts ? WICK_ATTR_assert_strings : WICK_ATTR_print_strings],
      [WICK_ATTR_say_to] = {.i = asserts ? WICK_SAY_LINE : n->attr[WICK_ATTR_print_to].i}};
  wick_build(&s->b, WICK_OP_say, n->nin, in, attr, 0, NULL);
  return s->b.status;
}

wick_status wick_form_object(form_state *s, const wick_node *n)
{
  switch (n->op) {
  case WICK_OP_construct: return object_construct(s, n);
  case WICK_OP_ref_new: return object_block(s, n, 0, 0);
  case WICK_OP_ref_get: return object_ref_get(s, n);
  case WICK_OP_ref_set: return object_ref_set(s, n);
  case WICK_OP_assert:
  case WICK_OP_print: return object_say(s, n);
  default: break;
  }
  wick_value v = wick_form_register(s, n->in[0]);
  v = wick_build(&s->b, n->op, 1, &v, NULL, 0, NULL);
  if (n->nout) s->reg[n->first.id] = v;
  return s->b.status;
}

/* ---- switch ---- */

const uint32_t *wick_form_switch_order(form_state *s, const wick_node *n)
{
  uint32_t *order = wick_new(s->tmp, uint32_t, n->nregion + 1u), at = 0;
  for (uint32_t fields = 0; fields < 2; fields++)
    for (uint32_t r = 0; r < n->nregion; r++)
      if ((wick_switch_ctor(s->f, n, r)->nfield > 0) == (fields > 0)) order[at++] = r;
  return order;
}

wick_value wick_form_switch_test(form_state *s, const wick_node *n, const uint32_t *order,
                                 uint32_t at)
{
  wick_value v = wick_form_register(s, n->in[0]);
  int64_t tag = order[at];
  bool block = wick_switch_ctor(s->f, n, order[at])->nfield > 0;
  if (block) v = wick_build(&s->b, WICK_OP_object_tag, 1, &v, NULL, 0, NULL);
  return wick_build2(&s->b, WICK_OP_eq, v, wick_build_i64(&s->b, block ? tag : tag << 1 | 1));
}

wick_status wick_form_fields(form_state *s, const wick_node *n, uint32_t r)
{
  const wick_ctor *c = wick_switch_ctor(s->f, n, r);
  const wick_region *g = &n->region[r];
  wick_uses uses = wick_uses_of(s->f, s->tmp);
  WICK_TRY(object_check(s, n, c->nfield, c->field));
  for (uint32_t k = 0; k < c->nfield; k++) {
    wick_value v = {g->first.id + k};
    if (uses.first[v.id] == uses.first[v.id + 1]) continue;
    object_get(s, wick_form_register(s, n->in[0]), object_at(s, c->nfield, c->field, k), v);
  }
  return s->b.status;
}
