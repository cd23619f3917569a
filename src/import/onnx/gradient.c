/* Imports Gradient of the training preview: the derivatives of one tensor of the graph with respect
 * to others.
 *
 * Its attributes name existing tensors. xs and zs count as independent variables, whatever computed
 * them. If its inputs are other values than these tensors, the nodes from xs and zs to y are built
 * again on the inputs. */
#include "import/onnx/import.h"
#include "ir/replay.h"
#include "ops/gradient/grad.h"

typedef struct gradient {
  wick_onnx_op *o;
  wick_builder *b;
  uint32_t nx, n;        /* xs; with zs */
  wick_value *name, *at; /* the tensors by name; the corresponding inputs */
  wick_value y;
  uint32_t end; /* the number of nodes before */
} gradient;

static wick_value gradient_tensor(gradient *g, wick_span name)
{
  return wick_onnx_use(g->o->c, name, g->o->location, "the tensor").v;
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
  if (!good) o->failed = true; /* an error was added */
  for (uint32_t i = 0; i <= g->nx && good; i++) {
    wick_value v = i < g->nx ? g->name[i] : g->y;
    if (wick_grad_has(g->b, v)) continue;
    wick_onnx_fail(o, WICK_ETYPE, "elements of %s have no derivatives",
                   wick_elem_name(wick_built_info(g->b, v)->elem));
    good = false;
  }
  return good;
}

/* Returns whether the node, or a node in its regions, depends on a replaced value. */
static bool gradient_moved(const gradient *g, uint32_t node, const wick_replay *r)
{
  const wick_node *n = &g->b->nodes.at[node];
  for (uint32_t i = node; i < n->end; i++)
    for (uint32_t k = 0; k < r->node[i].nin; k++)
      if (wick_replayed(r, r->node[i].in[k]).id != r->node[i].in[k].id) return true;
  return false;
}

/* Builds the nodes from xs and zs to y again on the inputs. The original values stay. */
static void gradient_replay(gradient *g)
{
  wick_builder *b = g->b;
  wick_replay r = wick_replay_begin(b);
  for (uint32_t i = 0; i < g->n && !b->status; i++)
    r.to[g->name[i].id] = g->at[i] = wick_build_again(g->b, g->at[i]);
  for (uint32_t i = 0; i < g->end && !b->status;) {
    const wick_node n = b->nodes.at[i];
    if (!wick_op_of(&n)->terminator && gradient_moved(g, i, &r)) wick_replay_nodes(&r, i, n.end);
    for (uint32_t k = 0; k < g->n; k++) r.to[g->name[k].id] = g->at[k];
    i = n.end > i ? n.end : i + 1;
  }
  g->y = wick_replayed(&r, g->y);
}

/* Checks the number of nodes, which gradients of gradients multiply. */
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
  const wick_grad_request r = {
      .end = b->nodes.n, .nof = 1, .of = &g.y, .cotangent = &one, .nwrt = g.n, .wrt = g.at};
  wick_grad_build(b, &r, by);
  if (!gradient_within_limits(&g)) return;
  for (uint32_t i = 0; i < o->nout && !b->status; i++) {
    wick_value v = by[i].id ? by[i] : wick_build_const(b, wick_built_type(b, g.at[i]), 0, 0);
    o->out[i] = b->status ? v : wick_build_again(g.b, v);
  }
}
