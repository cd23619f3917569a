#include "driver/states.h"

#include "ir/copy.h"

uint32_t wick_states_count(const wick_func *f)
{
  uint32_t n = 0;
  for (uint32_t i = 0; i < f->nparam; i++) n += wick_is_state(f->qual[i]);
  return n;
}

/* Orders parameters and results: order[new position] is the old one. */
static void states_order(const wick_func *f, uint32_t *param, uint32_t *result, wick_arena *tmp)
{
  uint32_t np = 0, nr = 0, nresult = wick_return(f)->nin;
  bool *kept = wick_new(tmp, bool, nresult + 1u);
  for (uint32_t i = 0; i < f->nparam; i++)
    if (wick_is_state(f->qual[i]))
      kept[wick_given_result(f->qual[i])] = true;
    else
      param[np++] = i;
  for (uint32_t k = 0; k < nresult; k++)
    if (!kept[k]) result[nr++] = k;
  for (uint32_t i = 0; i < f->nparam; i++)
    if (wick_is_state(f->qual[i])) {
      param[np++] = i;
      result[nr++] = wick_given_result(f->qual[i]);
    }
}

static bool states_in_order(const uint32_t *order, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++)
    if (order[i] != i) return false;
  return true;
}

static wick_status states_data(const wick_func *f, wick_arena *mem)
{
  const wick_node *r = wick_return(f);
  bool tensors = true;
  for (uint32_t v = 1; v <= f->nparam; v++)
    tensors = tensors && wick_info_of(f, (wick_value){v})->kind == WICK_TENSOR;
  for (uint32_t k = 0; k < r->nin; k++)
    tensors = tensors && wick_info_of(f, r->in[k])->kind == WICK_TENSOR;
  if (tensors) return NULL;
  return wick_fail(mem, WICK_EUNSUPPORTED, f->module->name,
                   "a model with states can have only tensors as inputs and outputs");
}

wick_status wick_states_last(const wick_func *f, wick_arena *mem, wick_arena *tmp,
                             const wick_func **out)
{
  const wick_node *r = wick_return(f);
  *out = f;
  if (!wick_states_count(f)) return NULL;
  WICK_TRY(states_data(f, mem));
  uint32_t *param = wick_new(tmp, uint32_t, f->nparam), *result = wick_new(tmp, uint32_t, r->nin),
           *at = wick_new(tmp, uint32_t, r->nin);
  states_order(f, param, result, tmp);
  if (states_in_order(param, f->nparam) && states_in_order(result, r->nin)) return NULL;
  wick_copier c = wick_copy_begin_in_order(f, param, mem);
  for (uint32_t k = 0; k < r->nin; k++) at[result[k]] = k;
  for (uint32_t i = 0; i < f->nparam; i++) {
    wick_qualifier q = c.b.quals.at[i];
    if (!wick_is_given(q)) continue;
    uint32_t old = wick_given_result(q);
    c.b.quals.at[i] = (wick_qualifier)((uint32_t)q - old + at[old]);
  }
  for (uint32_t i = 0; i + 1 < f->nnode; i++) wick_copy_node(&c, &f->node[i]);
  wick_value *v = wick_new(tmp, wick_value, r->nin);
  for (uint32_t k = 0; k < r->nin; k++) v[k] = c.to[r->in[result[k]].id];
  c.b.loc = r->loc;
  wick_build_return(&c.b, r->nin, v);
  *out = wick_copy_end(&c);
  wick_module_set(f->module, *out);
  return NULL;
}

const void *const *wick_states_initial(const wick_func *f, wick_arena *mem)
{
  uint32_t n = 0;
  const void **initial = wick_new(mem, const void *, wick_states_count(f) + 1);
  for (uint32_t i = 0; i < f->nparam; i++) {
    if (!wick_is_state(f->qual[i])) continue;
    uint32_t constant = wick_initial_get(f->module, f->value[i + 1].name);
    initial[n++] = constant ? wick_constant_bytes(f->module, constant) : NULL;
  }
  return initial;
}
