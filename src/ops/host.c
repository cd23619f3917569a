/* Operators that call the runtime: their attributes and their reference. */
#include "ops/host.h"

#include <string.h>

const wick_node *wick_host_node(const wick_func *group)
{
  if (!group || group->level != WICK_GROUP || group->nnode != 2) return NULL;
  return wick_op_of(&group->node[0])->host ? &group->node[0] : NULL;
}

const wick_host_attr *wick_host_attrs(wick_opcode op, const wick_attr *attr, wick_arena *mem)
{
  uint32_t n = wick_op_nattr(wick_ops[op]);
  wick_host_attr *out = wick_new(mem, wick_host_attr, n + 1);
  for (uint32_t k = 0; k < n; k++) {
    const wick_attr *a = &attr[k];
    wick_attr_kind kind = wick_ops[op]->attr[k].kind;
    if (kind == WICK_ATTR_FLOAT) {
      out[k] = (wick_host_attr){.f = a->f};
    } else if (kind == WICK_ATTR_INTS) {
      out[k] = (wick_host_attr){.n = a->n, .ints = a->ints};
    } else if (kind == WICK_ATTR_FLOATS) {
      out[k] = (wick_host_attr){.n = a->n, .floats = a->floats};
    } else if (kind == WICK_ATTR_DIMS) {
      int64_t *ints = wick_new(mem, int64_t, a->n);
      for (uint32_t i = 0; i < a->n; i++) ints[i] = a->dims[i].v;
      out[k] = (wick_host_attr){.n = a->n, .ints = ints};
    } else {
      out[k] = (wick_host_attr){.i = a->i};
    }
  }
  return out;
}

static wick_host_tensor host_tensor(const wick_tensor *t)
{
  wick_host_tensor out = {.elem = t->elem, .rank = t->rank, .data = t->data};
  int64_t step = 1;
  for (uint32_t k = t->rank; k-- > 0; step *= t->dim[k])
    out.dim[k] = t->dim[k], out.stride[k] = step;
  return out;
}

wick_status wick_host_ref(wick_ref *c)
{
  char message[256] = "";
  union {
    const wick_module *c;
    wick_module *m;
  } module = {c->module};
  wick_host_call call = {.row = wick_host_find(wick_ops[c->op]->host),
                         .nattr = wick_op_nattr(wick_ops[c->op]),
                         .nout = c->nout,
                         .nin = c->nin,
                         .attr = wick_host_attrs(c->op, c->attr, c->mem),
                         .arg = wick_new(c->mem, wick_host_tensor, c->nout + c->nin),
                         .strings = &module.m->strings,
                         .allocator = wick_allocator_malloc(),
                         .message = message,
                         .message_nbytes = sizeof message};
  for (uint32_t k = 0; k < c->nout; k++) call.arg[k] = host_tensor(&c->out[k]);
  for (uint32_t k = 0; k < c->nin; k++) call.arg[c->nout + k] = host_tensor(&c->in[k]);
  wick_code code = call.row->prepare ? call.row->prepare(&call) : WICK_OK;
  if (code == WICK_OK) code = call.row->run(&call);
  if (call.state) call.row->drop(&call);
  return code == WICK_OK ? NULL : wick_fail(c->mem, code, c->location, "%s", message);
}
