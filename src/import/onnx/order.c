/* Sorts nodes for the import: the order of the file, except that each node comes after the nodes
 * whose results it reads. ONNX requires sorted files; some exporters write others, and other
 * runtimes accept them. */
#include <string.h>

#include "import/onnx/import.h"

/* The names that a graph within a node defines. They hide equal names around it. */
typedef struct order_scope {
  wick_names names;
  const struct order_scope *around;
} order_scope;

typedef struct order {
  wick_onnx_context *c;
  const wick_onnx_nodes *nodes;
  wick_names names;          /* results of the nodes */
  wick_list(uint32_t) maker; /* by name: the node that defines it; at[0] is unused */
  wick_list(uint32_t) reads; /* nodes whose results the current node reads */
} order;

static uint32_t order_find(const wick_names *names, wick_span name)
{
  const void *nul =
      name.nbytes ? memchr(name.at, 0, name.nbytes) : NULL; /* ends it, as in scopes */
  size_t n = nul ? (size_t)((const unsigned char *)nul - name.at) : name.nbytes;
  return n ? wick_names_find(names, (const char *)name.at, n) : 0;
}

static void order_add(wick_names *names, wick_span name)
{
  if (name.nbytes) wick_names_add(names, (const char *)name.at, name.nbytes);
}

/* Adds the node that defines a name to o->reads. A name that is bound already, as an input or in a
 * graph around, needs no node. */
static void order_read(order *o, const order_scope *s, wick_span name)
{
  for (; s; s = s->around)
    if (order_find(&s->names, name)) return;
  uint32_t id = order_find(&o->names, name);
  if (id && !wick_onnx_find(o->c, name)) wick_push(o->c->tmp, &o->reads, o->maker.at[id]);
}

static void order_node(order *o, const order_scope *s, const wick_onnx_node *n);

/* Adds what the nodes of a graph within a node read. The decoder limits the depth of the
 * recursion. */
static void order_graph(order *o, const order_scope *around, const wick_onnx_graph *g)
{
  order_scope s = {.names = wick_names_begin(o->c->tmp), .around = around};
  for (size_t i = 0; i < g->input.n; i++) order_add(&s.names, g->input.at[i].name);
  for (size_t i = 0; i < g->initializer.n; i++) order_add(&s.names, g->initializer.at[i].name);
  for (size_t i = 0; i < g->sparse_initializer.n; i++)
    if (g->sparse_initializer.at[i].values)
      order_add(&s.names, g->sparse_initializer.at[i].values->name);
  for (size_t i = 0; i < g->node.n; i++)
    for (size_t k = 0; k < g->node.at[i].output.n; k++)
      order_add(&s.names, g->node.at[i].output.at[k]);
  for (size_t i = 0; i < g->node.n; i++) order_node(o, &s, &g->node.at[i]);
  for (size_t i = 0; i < g->output.n; i++) order_read(o, &s, g->output.at[i].name);
}

/* Adds to o->reads what a node reads, its graphs included. */
static void order_node(order *o, const order_scope *s, const wick_onnx_node *n)
{
  for (size_t i = 0; i < n->input.n; i++) order_read(o, s, n->input.at[i]);
  for (size_t i = 0; i < n->attribute.n; i++) {
    const wick_onnx_attr *a = &n->attribute.at[i];
    if (a->g) order_graph(o, s, a->g);
    for (size_t k = 0; k < a->graphs.n; k++) order_graph(o, s, &a->graphs.at[k]);
  }
}

static void order_names(order *o)
{
  o->names = wick_names_begin(o->c->tmp);
  wick_push(o->c->tmp, &o->maker, 0);
  for (uint32_t i = 0; i < o->nodes->n; i++) {
    const wick_onnx_node *n = &o->nodes->at[i];
    for (size_t k = 0; k < n->output.n; k++) {
      if (!n->output.at[k].nbytes) continue;
      uint32_t id =
          wick_names_add(&o->names, (const char *)n->output.at[k].at, n->output.at[k].nbytes);
      if (id == o->maker.n) wick_push(o->c->tmp, &o->maker, i);
    }
  }
}

/* Returns the first node that reads a result of itself or of a later node, or nodes->n if none
 * does. */
static uint32_t order_first_late(order *o, uint32_t *out_count)
{
  uint32_t first = (uint32_t)o->nodes->n;
  *out_count = 0;
  for (uint32_t i = 0; i < o->nodes->n; i++) {
    bool late = false;
    o->reads.n = 0;
    order_node(o, NULL, &o->nodes->at[i]);
    for (uint32_t k = 0; k < o->reads.n; k++) late |= o->reads.at[k] >= i;
    *out_count += late;
    if (late && first == o->nodes->n) first = i;
  }
  return first;
}

/* ---- sorting ---- */

enum { ORDER_NEW, ORDER_OPEN, ORDER_DONE };
typedef struct order_visit {
  uint32_t node, nread, next;
  const uint32_t *read;
} order_visit;
typedef wick_list(order_visit) order_stack;

static void order_open(order *o, uint32_t i, unsigned char *state, order_stack *stack)
{
  o->reads.n = 0;
  order_node(o, NULL, &o->nodes->at[i]);
  const uint32_t *read = wick_dup(o->c->tmp, uint32_t, o->reads.at, o->reads.n);
  wick_push(o->c->tmp, stack, (order_visit){.node = i, .nread = o->reads.n, .read = read});
  state[i] = ORDER_OPEN;
}

static void order_cycle(order *o, const order_stack *stack, uint32_t node)
{
  enum { SHOWN = 8 };
  wick_text t = wick_text_begin(o->c->tmp);
  uint32_t from = stack->n, n = 0;
  while (stack->at[--from].node != node) continue;
  for (uint32_t k = stack->n; k-- > from; n++)
    if (n < SHOWN)
      wick_text_printf(&t, "%s%s", n ? ", " : "",
                       wick_onnx_node_text(o->c, &o->nodes->at[stack->at[k].node]));
  if (n > SHOWN) wick_text_printf(&t, " and %u more", n - SHOWN);
  wick_onnx_error(
      o->c, WICK_EPARSE, o->c->scope->call ? o->c->scope->call->location : o->c->file,
      n > 1 ? "nodes depend on each other in a cycle: %s" : "a node depends on itself: %s", t.at);
  o->c->over = true; /* nodes cannot be imported in any order */
}

/* Sorts depth first, from each node in the order of the file. A node that is read too early moves
 * to just before its first reader; the others keep their order. Returns false if there is a
 * cycle. */
static bool order_sort(order *o, uint32_t *out)
{
  uint32_t n = (uint32_t)o->nodes->n, done = 0;
  unsigned char *state = wick_new(o->c->tmp, unsigned char, n);
  order_stack stack = {0};
  for (uint32_t i = 0; i < n; i++) {
    if (state[i] == ORDER_NEW) order_open(o, i, state, &stack);
    while (stack.n) {
      order_visit *v = &stack.at[stack.n - 1];
      if (v->next == v->nread) {
        state[v->node] = ORDER_DONE;
        out[done++] = v->node;
        stack.n--;
        continue;
      }
      uint32_t read = v->read[v->next++];
      if (state[read] == ORDER_OPEN) return order_cycle(o, &stack, read), false;
      if (state[read] == ORDER_NEW) order_open(o, read, state, &stack);
    }
  }
  return true;
}

const uint32_t *wick_onnx_order(wick_onnx_context *c, const wick_onnx_nodes *nodes)
{
  if (nodes->n < 1 || nodes->n > UINT32_MAX) return NULL;
  uint32_t count;
  wick_mark mark = wick_arena_mark(c->tmp);
  order o = {.c = c, .nodes = nodes};
  order_names(&o);
  uint32_t first = order_first_late(&o, &count);
  wick_arena_rewind(c->tmp, mark);
  if (first == nodes->n) return NULL;
  uint32_t *out = wick_new(c->tmp, uint32_t, nodes->n);
  o = (order){.c = c, .nodes = nodes};
  order_names(&o);
  if (!order_sort(&o, out)) return NULL;
  const char *text = wick_onnx_node_text(c, &nodes->at[first]);
  if (count > 1)
    wick_onnx_remark(c, c->scope->call ? c->scope->call->location : c->file,
                     "%u nodes, first %s, are listed before nodes that they read; they were sorted",
                     count, text);
  else
    wick_onnx_remark(c, c->scope->call ? c->scope->call->location : c->file,
                     "node %s is listed before a node that it reads; the nodes were sorted", text);
  return out;
}
