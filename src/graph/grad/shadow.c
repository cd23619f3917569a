/* Types of references with shadows, and the nodes that make and use them. */
#include "graph/grad/shadow.h"

#include <string.h>

#include "ops/gradient/grad.h"

typedef wick_list(uint32_t) shadow_seen;

/* Returns whether a value of type t has a reference in it for which `is` holds. */
static bool shadow_finds(const wick_module *m, wick_type t,
                         bool (*is)(const wick_module *m, wick_type t, const void *arg),
                         const void *arg, wick_arena *mem, shadow_seen *seen)
{
  const wick_type_info *info = wick_type_get(m, t);
  if (info->kind == WICK_REF && is(m, t, arg)) return true;
  if (info->kind == WICK_REF || info->kind == WICK_TUPLE || info->kind == WICK_FN)
    for (uint32_t k = 0; k < info->nitem; k++)
      if (shadow_finds(m, info->item[k], is, arg, mem, seen)) return true;
  if (info->kind != WICK_DATA) return false;
  for (uint32_t i = 0; i < seen->n; i++)
    if (seen->at[i] == info->data) return false;
  wick_push(mem, seen, info->data);
  const wick_data *d = wick_data_get(m, t);
  for (uint32_t k = 0; k < d->nctor; k++)
    for (uint32_t i = 0; i < d->ctor[k].nfield; i++)
      if (shadow_finds(m, d->ctor[k].field[i], is, arg, mem, seen)) return true;
  return false;
}

static bool shadow_has(const wick_module *m, wick_type t,
                       bool (*is)(const wick_module *m, wick_type t, const void *arg),
                       const void *arg)
{
  if (wick_type_get(m, t)->kind == WICK_TENSOR) return false;
  wick_arena tmp = wick_arena_make(m->guard);
  shadow_seen seen = {0};
  bool has = shadow_finds(m, t, is, arg, &tmp, &seen);
  wick_arena_free(&tmp);
  return has;
}

static bool shadow_is_pair(const wick_module *m, wick_type t, const void *arg)
{
  (void)arg;
  return wick_shadow_pairs(m, t);
}

bool wick_shadow_pairs(const wick_module *m, wick_type t)
{
  const wick_type_info *info = wick_type_get(m, t);
  for (uint32_t k = 0; info->kind == WICK_REF && k < info->nitem; k++)
    if (wick_has_cotangent(m, info->item[k])) return true;
  return false;
}

bool wick_shadow_changes(const wick_module *m, wick_type t)
{
  return shadow_has(m, t, shadow_is_pair, NULL);
}

bool wick_shadow_moves(const wick_func *f, const wick_node *n)
{
  for (const wick_node *i = n; i < &f->node[n->end]; i++) {
    for (uint32_t k = 0; k < i->nin; k++)
      if (i->in[k].id && wick_shadow_changes(f->module, wick_type_of(f, i->in[k]))) return true;
    for (uint32_t k = 0; k < i->nout; k++)
      if (wick_shadow_changes(f->module, f->value[i->first.id + k].type)) return true;
  }
  return false;
}

bool wick_shadow_crosses(const wick_func *f)
{
  const wick_node *end = wick_return(f);
  for (uint32_t k = 1; k <= f->nparam; k++)
    if (wick_shadow_changes(f->module, f->value[k].type)) return true;
  for (uint32_t k = 0; k < end->nin; k++)
    if (wick_shadow_changes(f->module, wick_type_of(f, end->in[k]))) return true;
  return false;
}

/* ---- types ---- */

/* Returns whether a data type that exists is the counterpart of d, or is being defined as such. */
static bool shadow_fits(const wick_data *d, const wick_data *made)
{
  bool fits = !made->nctor || made->nctor == d->nctor;
  for (uint32_t k = 0; k < d->nctor && fits && made->nctor; k++)
    fits = made->ctor[k].nfield == d->ctor[k].nfield &&
           strcmp(made->ctor[k].name, d->ctor[k].name) == 0;
  return fits;
}

typedef wick_list(wick_type) shadow_made;

static wick_type shadow_type(wick_module *m, wick_type t, wick_arena *mem, shadow_made *made);

static wick_type shadow_data(wick_module *m, wick_type t, wick_arena *mem, shadow_made *made)
{
  const wick_data d = *wick_data_get(m, t);
  uint32_t before = m->data.n;
  wick_type own = wick_data_type(m, wick_str_printf(mem, "%s.shadowed", d.name));
  for (uint32_t k = 2; m->data.n == before; k++) {
    if (shadow_fits(&d, wick_data_get(m, own))) return own;
    own = wick_data_type(m, wick_str_printf(mem, "%s.shadowed%u", d.name, k));
  }
  wick_ctor *ctor = wick_dup(mem, wick_ctor, d.ctor, d.nctor);
  for (uint32_t k = 0; k < d.nctor; k++) {
    wick_type *field = wick_new(mem, wick_type, ctor[k].nfield + 1u);
    for (uint32_t i = 0; i < ctor[k].nfield; i++)
      field[i] = shadow_type(m, ctor[k].field[i], mem, made);
    ctor[k].field = field;
  }
  wick_data_define(m, own, d.nctor, ctor);
  wick_push(mem, made, own);
  return own;
}

/* Adds data types that are defined to `made`. */
static wick_type shadow_type(wick_module *m, wick_type t, wick_arena *mem, shadow_made *made)
{
  const wick_type_info info = *wick_type_get(m, t);
  uint32_t n = 0;
  if (info.kind == WICK_FN || !wick_shadow_changes(m, t)) return t;
  if (info.kind == WICK_DATA) return shadow_data(m, t, mem, made);
  wick_type *item = wick_new(mem, wick_type, info.nitem + 1u),
            *part = wick_new(mem, wick_type, info.nitem + 1u);
  for (uint32_t k = 0; k < info.nitem; k++) {
    item[k] = shadow_type(m, info.item[k], mem, made);
    if (wick_has_cotangent(m, info.item[k])) part[n++] = wick_cotangent_name(m, item[k], mem);
  }
  if (info.kind == WICK_TUPLE) return wick_type_tuple(m, info.nitem, item);
  wick_type pair[2] = {wick_type_ref(m, info.nitem, item)};
  if (!n) return pair[0];
  pair[1] = wick_type_ref(m, n, part);
  return wick_type_ref(m, 2, pair);
}

wick_type wick_shadow_type(wick_module *m, wick_type t, wick_arena *mem)
{
  shadow_made made = {0};
  wick_type own = shadow_type(m, t, mem, &made);
  /* Types of cotangents follow from constructors of data types that contain each other. */
  for (uint32_t i = 0; i < made.n; i++)
    if (wick_has_cotangent(m, made.at[i])) (void)wick_cotangent_type(m, made.at[i], mem);
  return own;
}

/* ---- nodes ---- */

wick_shadow wick_shadow_open(wick_builder *b, wick_value pair)
{
  wick_value v = wick_build(b, WICK_OP_ref_get, 1, &pair, NULL, 0, NULL);
  return (wick_shadow){v, {v.id + 1}};
}

/* Returns the parts of a shadow for a primal reference: those that are given, and zeros. */
static wick_value *shadow_parts(wick_builder *b, wick_value primal, const wick_value *part,
                                uint32_t *out_n)
{
  *out_n = 0;
  if (b->status) return NULL;
  const wick_type_info t = *wick_built_info(b, primal);
  wick_value *in = wick_new(b->mem, wick_value, t.nitem + 2u);
  for (uint32_t k = 0; k < t.nitem; k++) {
    if (!wick_has_cotangent(b->module, t.item[k])) continue;
    bool given = part && part[k].id;
    in[1 + (*out_n)++] = given ? part[k] : wick_cotangent_zero(b, t.item[k]);
  }
  return in;
}

wick_value wick_shadow_pair(wick_builder *b, wick_value primal, const wick_value *part,
                            wick_value *out)
{
  uint32_t n;
  wick_value *in = shadow_parts(b, primal, part, &n), pair[2] = {primal};
  if (b->status) return primal;
  pair[1] = wick_build(b, WICK_OP_ref_new, n, in + 1, NULL, 0, NULL);
  if (out) *out = pair[1];
  return wick_build(b, WICK_OP_ref_new, 2, pair, NULL, 0, NULL);
}

void wick_shadow_set(wick_builder *b, wick_shadow of, const wick_value *part)
{
  uint32_t n;
  wick_value *in = shadow_parts(b, of.primal, part, &n);
  if (b->status) return;
  in[0] = of.shadow;
  wick_build(b, WICK_OP_ref_set, n + 1, in, NULL, 0, NULL);
}

void wick_shadow_get(wick_builder *b, wick_shadow of, wick_value *part)
{
  if (b->status) return;
  wick_value v = wick_build(b, WICK_OP_ref_get, 1, &of.shadow, NULL, 0, NULL);
  const wick_type_info t = *wick_built_info(b, of.primal);
  for (uint32_t k = 0; k < t.nitem && !b->status; k++)
    if (wick_has_cotangent(b->module, t.item[k])) part[k] = (wick_value){v.id++};
}

bool wick_shadow_on(const wick_func *f, const wick_node *n)
{
  bool makes = n->op == WICK_OP_ref_new,
       uses = n->op == WICK_OP_ref_get || n->op == WICK_OP_ref_set;
  return (makes || uses) &&
         wick_shadow_pairs(f->module, wick_type_of(f, makes ? n->first : n->in[0]));
}

void wick_shadow_replay(wick_replay *r, uint32_t i)
{
  const wick_node *n = &r->node[i];
  wick_builder *b = r->b;
  if (n->op == WICK_OP_construct) {
    wick_value *in = wick_new(b->mem, wick_value, n->nin + 1u);
    for (uint32_t k = 0; k < n->nin; k++) in[k] = wick_replayed(r, n->in[k]);
    r->to[n->first.id] =
        wick_build_construct(b, wick_shadow_type(b->module, r->value[n->first.id].type, b->mem),
                             (uint32_t)n->attr[WICK_ATTR_construct_ctor].i, n->nin, in);
  } else if (wick_op_of(n)->typed) {
    wick_build_fail(b, WICK_EUNSUPPORTED,
                    "%s has no derivative: it takes or gives references to floats",
                    wick_op_of(n)->name);
  } else {
    wick_replay_nodes(r, i, n->end);
  }
}
