/* Gradient, of the training preview: the derivatives of one tensor of the graph by others.
 *
 * Its attributes name tensors that are there already; xs and zs are taken as independent of what
 * they were computed from. Where its inputs are other values than these tensors, the nodes between
 * are built again on the inputs. */
#include "import/onnx/import.h"
#include "ir/copy.h"
#include "ops/grad.h"

typedef struct gradient {
  wick_onnx_op *o;
  wick_builder *b;
  uint32_t nx, n;        /* xs; with zs */
  wick_value *name, *at; /* the tensors by name; what they are here */
  wick_value y;
  uint32_t end; /* of the nodes that were there before */
} gradient;

static wick_value gradient_tensor(gradient *g, wick_span name)
{
  return wick_onnx_use(g->o->c, name, g->o->place, "the tensor").v;
}

static bool gradient_read(gradient *g, wick_onnx_op *o)
{
  const wick_onnx_attr *xs = wick_onnx_attr_find(o, "xs"), *zs = wick_onnx_attr_find(o, "zs"),
                       *y = wick_onnx_attr_find(o, "y");
  size_t nx = xs->strings.n, n = nx + (zs ? zs->strings.n : 0);
  if (n != o->nin || o->nout > nx) {
    wick_onnx_fail(o, WICK_EPARSE, "%zu tensors are named, and it has %u inputs and %u outputs", n,
                   o->nin, o->nout);
    return false;
  }
  *g = (gradient){.o = o, .b = o->b, .nx = (uint32_t)nx, .n = (uint32_t)n, .end = o->b->nodes.n};
  g->name = wick_new(o->c->tmp, wick_value, n + 1);
  g->at = wick_new(o->c->tmp, wick_value, n + 1);
  g->y = gradient_tensor(g, y->s);
  bool good = g->y.id;
  for (size_t i = 0; i < n; i++) {
    g->name[i] = gradient_tensor(g, i < nx ? xs->strings.at[i] : zs->strings.at[i - nx]);
    g->at[i] = o->in[i];
    good = good && g->name[i].id && g->at[i].id;
  }
  if (!good) o->failed = true; /* which has been said */
  for (uint32_t i = 0; i <= g->nx && good; i++) {
    wick_value v = i < g->nx ? g->name[i] : g->y;
    if (wick_grad_has(g->b, v)) continue;
    wick_onnx_fail(o, WICK_ETYPE, "elements of %s have no derivatives",
                   wick_elem_name(wick_built_info(g->b, v)->elem));
    good = false;
  }
  return good;
}

/* A value of its own, so that one input may stand for two tensors. */
static wick_value gradient_own(gradient *g, wick_value v)
{
  const wick_type_info *t = wick_built_info(g->b, v);
  wick_attr a = {.n = t->rank, .dims = t->dim};
  return wick_build(g->b, WICK_OP_reshape, 1, &v, &a, 0, NULL);
}

static wick_value gradient_again(gradient *g, wick_node n, const wick_value *to)
{
  wick_builder *b = g->b;
  wick_value *in = wick_new(b->mem, wick_value, n.nin + 1u);
  wick_type *want = wick_new(b->mem, wick_type, n.nout + 1u);
  for (uint32_t k = 0; k < n.nin; k++) in[k] = to[n.in[k].id].id ? to[n.in[k].id] : n.in[k];
  for (uint32_t k = 0; k < n.nout; k++) want[k] = wick_built_type(b, (wick_value){n.first.id + k});
  bool typed = wick_op_of(&n)->typed;
  return wick_build(b, n.op, n.nin, in, n.attr, typed ? n.nout : 0, typed ? want : NULL);
}

/* The nodes from xs and zs to y, on the inputs. */
static void gradient_replay(gradient *g)
{
  wick_builder *b = g->b;
  uint32_t nvalue = b->values.n;
  wick_value *to = wick_new(b->mem, wick_value, nvalue);
  for (uint32_t i = 0; i < g->n && !b->status; i++)
    to[g->name[i].id] = g->at[i] = gradient_own(g, g->at[i]);
  for (uint32_t i = 0; i < g->end && !b->status; i++) {
    const wick_node n = b->nodes.at[i];
    bool moved = false;
    for (uint32_t k = i; k < n.end; k++)
      for (uint32_t j = 0; j < b->nodes.at[k].nin; j++)
        moved = moved || to[b->nodes.at[k].in[j].id].id;
    if (moved && n.nregion)
      wick_build_fail(b, WICK_EUNSUPPORTED, "%s on the way to y, which is computed again",
                      wick_op_of(&n)->name);
    wick_value again = moved && !b->status ? gradient_again(g, n, to) : (wick_value){0};
    for (uint32_t k = 0; k < n.nout && again.id; k++)
      if (!to[n.first.id + k].id) to[n.first.id + k] = (wick_value){again.id + k};
    i = n.end - 1;
  }
  if (to[g->y.id].id) g->y = to[g->y.id];
}

/* Gradients of gradients multiply nodes. */
static bool gradient_within_limits(gradient *g)
{
  wick_onnx_context *c = g->o->c;
  uint64_t made = g->b->nodes.n - g->end;
  if (made <= c->nodes_left) {
    c->nodes_left -= made;
    return true;
  }
  wick_onnx_fail(g->o, WICK_ELIMIT, "the model has too many nodes");
  c->over = true;
  return false;
}

void wick_onnx_gradient(wick_onnx_op *o)
{
  gradient g;
  if (!gradient_read(&g, o)) return;
  wick_builder *b = o->b;
  bool same = true;
  for (uint32_t i = 0; i < g.n; i++) {
    same = same && g.name[i].id == g.at[i].id;
    for (uint32_t k = 0; k < i; k++) same = same && g.at[i].id != g.at[k].id;
  }
  if (!same) gradient_replay(&g);
  if (b->status) return;
  wick_value *by = wick_new(o->c->tmp, wick_value, g.n + 1u),
             one = wick_build_const(b, wick_built_type(b, g.y), 1, 1);
  wick_grad_build(b, 0, b->nodes.n, 1, &g.y, &one, g.n, g.at, by);
  if (!gradient_within_limits(&g)) return;
  for (uint32_t i = 0; i < o->nout && !b->status; i++) {
    wick_value v = by[i].id ? by[i] : wick_build_const(b, wick_built_type(b, g.at[i]), 0, 0);
    o->out[i] = b->status ? v : gradient_own(&g, v);
  }
}
