/* States of sessions: variables that a run changes and the next run reads. Each is a parameter of the
 * function and a result, which the graph pairs (ir/ir.h: WICK_STATE). */
#include <string.h>

#include "import/kit/import.h"

static wick_import_stateful *state_find(wick_import *c, wick_value state)
{
  for (uint32_t i = 0; i < c->states.n; i++)
    if (state.id && c->states.at[i].first.id == state.id) return &c->states.at[i];
  return NULL;
}

static const char *state_location(const wick_import *c, const char *name)
{
  return wick_str_printf(c->tmp, "%s: variable \"%s\"", c->file, wick_import_shown(c, name));
}

static bool state_is_named(const wick_import *c, const char *name)
{
  for (uint32_t i = 0; i < c->states.n; i++)
    if (strcmp(c->states.at[i].name, name) == 0) return true;
  return false;
}

wick_value wick_import_state(wick_import *c, const char *name, wick_elem elem, uint32_t rank,
                             const int64_t *dim)
{
  const char *base = *name ? name : "state", *own = base;
  for (uint32_t i = 2; state_is_named(c, own); i++) own = wick_str_printf(c->tmp, "%s.%u", base, i);
  if (rank > WICK_MAX_RANK || elem == WICK_STRING) {
    wick_import_error(c, WICK_EUNSUPPORTED, state_location(c, own),
                      "%s cannot be kept from run to run",
                      elem == WICK_STRING ? "strings" : "a tensor of that rank");
    return (wick_value){0};
  }
  wick_type type = wick_type_tensor_const(c->module, elem, rank, dim);
  if (wick_dim_eq(wick_type_numel(c->module, type), WICK_DIM_INVALID)) {
    wick_import_error(c, WICK_ERANGE, state_location(c, own),
                      "the product of its dimensions overflows");
    return (wick_value){0};
  }
  wick_value v = wick_build_param(&c->b, type, WICK_IN, own);
  wick_push(c->tmp, &c->states, (wick_import_stateful){.first = v, .last = v, .name = own});
  return v;
}

void wick_import_state_find(wick_import *c, const char *name, wick_value like)
{
  wick_import_found found = {.name = name};
  if (!like.id || c->b.status) return;
  const wick_type_info *t = wick_built_info(&c->b, like);
  for (uint32_t i = 0; i < c->found->n; i++)
    if (strcmp(c->found->at[i].name, name) == 0) return;
  found.elem = t->elem, found.rank = t->rank;
  if (wick_type_const_dims(t, found.dim)) {
    wick_push(c->tmp, c->found, found);
    return;
  }
  wick_import_error(c, WICK_EUNSUPPORTED, state_location(c, name),
                    "it is kept from run to run, but its shape is not constant");
}

static bool state_has_type(wick_import *c, const wick_import_stateful *s, wick_value v)
{
  if (wick_type_eq(wick_built_type(&c->b, v), wick_built_type(&c->b, s->first))) return true;
  wick_text own = wick_text_begin(c->tmp), other = wick_text_begin(c->tmp);
  wick_type_print(c->module, wick_built_type(&c->b, s->first), &own);
  wick_type_print(c->module, wick_built_type(&c->b, v), &other);
  wick_import_error(c, WICK_ETYPE, state_location(c, s->name), "it is %s, and %s is assigned to it",
                    own.at, other.at);
  return false;
}

void wick_import_state_initial(wick_import *c, wick_value state, wick_value initial)
{
  wick_import_stateful *s = state_find(c, state);
  if (s && initial.id && state_has_type(c, s, initial)) s->initial = initial;
}

void wick_import_state_set(wick_import *c, wick_value state, wick_value v)
{
  wick_import_stateful *s = state_find(c, state);
  if (s && v.id && state_has_type(c, s, v)) s->last = v;
}

/* Makes the constant of an initial value, unless it is zeros. */
static void state_initial(wick_import *c, const wick_import_stateful *s, uint32_t name)
{
  wick_tensor t;
  wick_type type = wick_built_type(&c->b, s->first);
  uint64_t nbytes;
  const wick_node *n = s->initial.id ? wick_emit_definer(&c->b, s->initial) : NULL;
  if (n && n->op == WICK_OP_const && wick_const_imm(n)->constant) {
    wick_initial_set(c->module, name, wick_const_imm(n)->constant);
    return;
  }
  if (!s->initial.id || !wick_type_nbytes(c->module, type, &nbytes)) return;
  if (!wick_known_large(&c->b, c->tmp, s->initial, &t)) {
    wick_import_error(c, WICK_EUNSUPPORTED, state_location(c, s->name),
                      "its initial value does not follow from constants");
    return;
  }
  const char *constant = wick_str_printf(c->tmp, "%s.initial", s->name), *at = t.data;
  bool zeros = true;
  for (uint64_t i = 0; i < nbytes && zeros; i++) zeros = !at[i];
  if (!zeros)
    wick_initial_set(c->module, name,
                     wick_constant_add(c->module, constant, type,
                                       wick_arena_copy(&c->module->mem, at, nbytes, 64), nbytes));
}

uint32_t wick_import_states_return(wick_import *c, uint32_t n, wick_value *out)
{
  for (uint32_t i = 0; i < c->states.n; i++) {
    const wick_import_stateful *s = &c->states.at[i];
    state_initial(c, s, c->b.values.at[s->first.id].name);
    c->b.quals.at[s->first.id - 1] = (wick_qualifier)((uint32_t)WICK_STATE + n);
    out[n++] = s->last;
  }
  return n;
}
