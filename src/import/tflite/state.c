/* Variables, which keep their values from run to run: those with handles, and variable tensors of
 * recurrent layers. The first try finds those that a run assigns; the next ones declare them. */
#include <string.h>

#include "import/tflite/ops.h"

uint32_t wick_tflite_resource_of(wick_import *c, wick_tflite_run *run, const char *name,
                                 const wick_tflite_tensor *t)
{
  for (uint32_t i = 0; i < run->resources.n; i++)
    if (strcmp(run->resources.at[i].name, name) == 0) {
      const wick_tflite_tensor *own = run->resources.at[i].tensor;
      if (t && own && own != t)
        wick_import_error(c, WICK_EUNSUPPORTED, c->file,
                          "two variable tensors have the name \"%s\"", wick_import_shown(c, name));
      if (t) run->resources.at[i].tensor = t;
      return i;
    }
  wick_push(c->tmp, &run->resources, (wick_tflite_resource){.name = name, .tensor = t});
  return run->resources.n - 1;
}

void wick_tflite_states(wick_import *c, wick_tflite_run *run)
{
  for (uint32_t i = 0; i < c->found->n; i++) {
    const wick_import_found *f = &c->found->at[i];
    wick_value v = wick_import_state(c, f->name, f->elem, f->rank, f->dim);
    wick_push(c->tmp, &run->resources,
              (wick_tflite_resource){.name = f->name, .state = v, .value = v});
  }
}

/* Before the first run it is zero, as the tensor's numbers say it. */
wick_value wick_tflite_variable(wick_import *c, wick_tflite_run *run, const wick_tflite_tensor *t)
{
  wick_dim dim[WICK_MAX_RANK];
  uint32_t i = wick_tflite_resource_of(c, run, t->name, t); /* may move the list */
  wick_tflite_resource *r = &run->resources.at[i];
  int64_t zero = t->quant.n && wick_elem_is_int(t->elem) ? t->quant.zero[0] : 0;
  if (r->state.id && (!zero || r->value.id != r->state.id)) return r->value;
  for (uint32_t k = 0; k < t->rank; k++) dim[k] = wick_dim_const(t->dim[k] < 0 ? 1 : t->dim[k]);
  wick_value first =
      wick_build_const(&c->b, wick_type_tensor(c->module, t->elem, t->rank, dim), 0, zero);
  if (!r->state.id) return first;
  wick_import_state_initial(c, r->state, first);
  return r->value;
}

void wick_tflite_assign(wick_import_node *n, uint32_t resource, wick_value v)
{
  const wick_tflite_at *at = n->data;
  wick_tflite_run *run = at->body->run;
  wick_tflite_resource *r = &run->resources.at[resource];
  if (!v.id || n->b->status) return;
  if (run->first && r->state.id) {
    wick_import_state_initial(n->c, r->state, v);
    return;
  }
  if (!run->first && !r->state.id) wick_import_state_find(n->c, r->name, v);
  if (r->state.id || !n->b->open.n) r->value = v;
}

void wick_tflite_update(wick_import_node *n, uint32_t i, wick_value v)
{
  const wick_tflite_at *at = n->data;
  if (!wick_import_has(n, i) || !wick_tflite_in(n, i)->variable) return;
  const wick_tflite_tensor *t = wick_tflite_in(n, i);
  wick_tflite_assign(n, wick_tflite_resource_of(n->c, at->body->run, t->name, t), v);
  at->body->value[at->op->in[i]] = v;
}

void wick_tflite_states_end(wick_import *c, const wick_tflite_run *run)
{
  for (uint32_t i = 0; i < run->resources.n; i++)
    wick_import_state_set(c, run->resources.at[i].state, run->resources.at[i].value);
}
