/* Builds parameters and calls of procedures. */
#include "graph/group/procedure.h"

#include "graph/group/registers.h"
#include "ir/call.h"
#include "ops/elementwise/scalar.h"

static bool procedure_is_constant(const form_state *s, wick_value v)
{
  int64_t dim[WICK_MAX_RANK];
  return wick_type_const_dims(wick_info_of(s->f, v), dim);
}

wick_status wick_form_procedure_params(form_state *s, wick_value *result)
{
  const wick_func *f = s->f;
  const wick_node *ret = wick_return(f);
  for (uint32_t v = 1; v <= f->nvalue; v++)
    if (!procedure_is_constant(s, (wick_value){v}))
      return wick_fail(s->tmp, WICK_EUNSUPPORTED, NULL,
                       "a tensor has no constant size, which functions that are called need");
  const int32_t *updates = wick_updates_find(s->updates, f->name);
  for (uint32_t k = 0; k < ret->nin; k++) {
    if (wick_form_number(f, ret->in[k]).id) continue;
    uint32_t j = wick_updates_param(updates, f->nparam, k);
    result[k] = wick_build_param(&s->b, wick_form_buffer(s, wick_type_of(f, ret->in[k]), WICK_IO),
                                 j < f->nparam ? WICK_INOUT : WICK_OUT, NULL);
    if (j < f->nparam) s->low[j + 1] = result[k];
  }
  for (uint32_t v = 1; v <= f->nparam; v++) {
    wick_type number = wick_form_number(f, (wick_value){v});
    wick_value *to = number.id ? &s->reg[v] : &s->low[v];
    bool taken = updates && updates[v - 1] == WICK_UPDATES_LOST;
    if (!to->id)
      *to = wick_build_param(&s->b,
                             number.id ? number : wick_form_buffer(s, f->value[v].type, WICK_IO),
                             taken ? WICK_TAKEN : WICK_IN, NULL);
    wick_build_name(&s->b, *to, f->value[v].name, f->value[v].relation);
  }
  return s->b.status;
}

/* ---- calls ---- */

static wick_value procedure_alloc(form_state *s, wick_value v)
{
  wick_type type = wick_form_buffer(s, wick_type_of(s->f, v), WICK_ARENA);
  return wick_build(&s->b, WICK_OP_alloc, 0, NULL, NULL, 1, &type);
}

/* Gives the parameters that the callee updates memory of their own, with the tensors in it, and
 * stores it in to[]. At the end of a function that calls itself it is that of the function's
 * parameters. */
static void procedure_give(form_state *s, const wick_node *n, const int32_t *updates,
                           wick_value *to)
{
  wick_value *from = wick_new(s->tmp, wick_value, n->nin + 1u);
  bool again = s->registers && n->attr[WICK_ATTR_call_callee].s == s->f->name &&
               wick_is_last(s->f, (uint32_t)(n - s->f->node));
  for (uint32_t k = 0; updates && k < n->nin; k++) {
    if (updates[k] == WICK_UPDATES_NONE) continue;
    from[k] = wick_form_low(s, n->in[k]);
    to[k] = again ? s->low[k + 1] : procedure_alloc(s, n->in[k]);
  }
  wick_form_assign(s, n->nin, to, from);
}

/* Writes the memory of the results and of the tensors among the operands, or the registers of
 * numbers, in the order of the callee's parameters. Returns how many they are. */
static uint32_t procedure_operands(form_state *s, const wick_node *n, wick_value *in)
{
  const char *callee = n->attr[WICK_ATTR_call_callee].s;
  const int32_t *updates = wick_updates_find(s->updates, callee);
  wick_value *operand = wick_new(s->tmp, wick_value, n->nin + 1u),
             *given = wick_new(s->tmp, wick_value, n->nin + 1u);
  uint32_t nin = 0;
  for (uint32_t k = 0; k < n->nin; k++)
    operand[k] = s->registers && wick_form_number(s->f, n->in[k]).id
                     ? wick_form_register(s, n->in[k])
                     : wick_form_low(s, n->in[k]);
  procedure_give(s, n, updates, given);
  for (uint32_t k = 0; k < n->nout; k++) {
    wick_value v = {n->first.id + k};
    if (s->registers && wick_form_number(s->f, v).id) continue;
    uint32_t j = wick_updates_param(updates, n->nin, k);
    in[nin++] = s->low[v.id] = j < n->nin ? given[j] : procedure_alloc(s, v);
  }
  for (uint32_t k = 0; k < n->nin; k++)
    if (!updates || updates[k] < 0) in[nin++] = given[k].id ? given[k] : operand[k];
  return nin;
}

static wick_status procedure_call(form_state *s, const wick_node *n)
{
  wick_value *in = wick_new(s->tmp, wick_value, n->nin + n->nout + 1u);
  wick_type *type = wick_new(s->tmp, wick_type, n->nout + 1u);
  uint32_t nin = procedure_operands(s, n, in), nout = 0;
  for (uint32_t k = 0; k < n->nout; k++) {
    wick_type number = wick_form_number(s->f, (wick_value){n->first.id + k});
    if (number.id) type[nout++] = number;
  }
  wick_value v = wick_build(&s->b, WICK_OP_call, nin, in, n->attr, nout, type);
  for (uint32_t k = 0; k < n->nout; k++)
    if (!s->low[n->first.id + k].id) s->reg[n->first.id + k].id = v.id++;
  return s->b.status;
}

/* Builds a function of buffers that calls the callee of n: it loads the numbers that are operands,
 * and stores those that are results. */
static wick_status procedure_kernel(const form_state *s, const wick_node *n, const char *name)
{
  wick_module *m = s->f->module;
  wick_builder b;
  wick_type *type = wick_new(s->tmp, wick_type, n->nin + n->nout + 1u);
  wick_value *in = wick_new(s->tmp, wick_value, n->nin + n->nout + 1u), at, none = {0};
  uint32_t nin = 0, nout = 0;
  wick_build_begin(&b, m, WICK_LOW, name, &m->mem);
  b.procedure = true, b.loc = n->loc;
  const int32_t *updates = wick_updates_find(s->updates, n->attr[WICK_ATTR_call_callee].s);
  for (uint32_t k = 0; k < n->nout + n->nin; k++) {
    bool out = k < n->nout, given = out && wick_updates_param(updates, n->nin, k) < n->nin,
         taken = !out && updates && updates[k - n->nout] == WICK_UPDATES_LOST;
    wick_value v = out ? (wick_value){n->first.id + k} : n->in[k - n->nout];
    if (!out && updates && updates[k - n->nout] >= 0) continue; /* it is where a result is */
    wick_build_param(&b, wick_form_buffer(s, wick_type_of(s->f, v), WICK_IO),
                     given   ? WICK_INOUT
                     : out   ? WICK_OUT
                     : taken ? WICK_TAKEN
                             : WICK_IN,
                     NULL);
  }
  at = wick_build_i64(&b, 0);
  for (uint32_t k = 0, param = 1; k < n->nout + n->nin; k++) {
    wick_value v = k < n->nout ? (wick_value){n->first.id + k} : n->in[k - n->nout];
    wick_type number = wick_form_number(s->f, v);
    if (k >= n->nout && updates && updates[k - n->nout] >= 0) continue;
    wick_value load[2] = {{param++}, at};
    if (!number.id)
      in[nin++] = load[0];
    else if (k < n->nout)
      type[nout++] = number;
    else
      in[nin++] = wick_build(&b, WICK_OP_load, 2, load, NULL, 1, &number);
  }
  wick_value v = wick_build(&b, WICK_OP_call, nin, in, n->attr, nout, type);
  for (uint32_t k = 0; k < n->nout; k++) {
    wick_value store[3] = {{k + 1}, at, v};
    if (!wick_form_number(s->f, (wick_value){n->first.id + k}).id) continue;
    wick_build(&b, WICK_OP_store, 3, store, NULL, 0, NULL);
    v.id++;
  }
  wick_build_return(&b, 0, &none);
  wick_func *f;
  WICK_TRY(wick_build_end(&b, &f));
  wick_module_set(m, f);
  return NULL;
}

wick_status wick_form_call(form_state *s, const wick_node *n)
{
  s->b.loc = n->loc;
  if (s->registers) return procedure_call(s, n);
  wick_attr name = {.s = wick_intern(s->f->module, wick_str_printf(s->tmp, "%s.call.%u", s->f->name,
                                                                   s->ngroup++))};
  WICK_TRY(procedure_kernel(s, n, name.s));
  wick_value *in = wick_new(s->tmp, wick_value, n->nin + n->nout + 1u);
  uint32_t nin = procedure_operands(s, n, in);
  wick_build(&s->b, WICK_OP_kernel, nin, in, &name, 0, NULL);
  return s->b.status;
}
