/* Control flow of version 1. A loop is a frame of nodes: Enter brings values in, Merge chooses
 * between the first value and the next (from NextIteration), Switch goes on or leaves (to Exit). A
 * Merge outside of loops joins the two sides of a Switch.
 * Source: "Implementation of Control Flow in TensorFlow", tensorflow.org white paper, 2017. */
#include <string.h>

#include "import/tensorflow/flow.h"
#include "import/tensorflow/ops.h"

typedef struct frame_var {
  uint32_t enter, merge, next, switches; /* the Switch; 0: none reads the Merge */
} frame_var;

typedef struct frame_loop {
  const char *name;
  uint32_t condition; /* the LoopCond */
  wick_list(frame_var) var;
  wick_list(uint32_t) constant; /* Enter nodes of values that do not change */
} frame_loop;

struct wick_tf_loops {
  wick_list(frame_loop) loop;
  uint32_t
      *of; /* per vertex: 1 + the loop of an Enter or a Merge; of a Switch: that of its Merge */
};

static bool frame_is(const wick_tf_graph *g, uint32_t vertex, const char *op)
{
  const char *have = g->vertex[vertex].op;
  if (strncmp(have, "Ref", 3) == 0) have += 3;
  return strcmp(have, op) == 0;
}

static wick_span frame_attr(const wick_tf_vertex *v, const char *name)
{
  for (size_t i = 0; i < v->def->attr.n; i++)
    if (wick_span_is(v->def->attr.at[i].key, name) && v->def->attr.at[i].value)
      return v->def->attr.at[i].value->s;
  return (wick_span){0};
}

/* Finds the loops of a graph, by the names of their frames. */
static const struct wick_tf_loops *frame_find(wick_import *c, wick_tf_frame *f)
{
  const wick_tf_graph *g = f->graph;
  if (f->loops) return f->loops;
  struct wick_tf_loops *all = wick_new(c->tmp, struct wick_tf_loops, 1);
  wick_names names = wick_names_begin(c->tmp);
  all->of = wick_new(c->tmp, uint32_t, g->n + 1);
  bool *merged = wick_new(c->tmp, bool, g->n + 1);
  for (uint32_t i = g->narg; i < g->n; i++) {
    if (!frame_is(g, i, "Enter")) continue;
    const char *name = wick_wire_text(c->tmp, frame_attr(&g->vertex[i], "frame_name"));
    uint32_t id = *name ? wick_names_add(&names, name, strlen(name)) : 0;
    if (id > all->loop.n) wick_push(c->tmp, &all->loop, (frame_loop){.name = name});
    all->of[i] = id;
  }
  for (uint32_t i = g->narg; i < g->n; i++) {
    const wick_tf_vertex *v = &g->vertex[i];
    uint32_t loop = v->nin == 2 && frame_is(g, i, "Merge") ? all->of[v->in[0].node] : 0;
    if (!loop || !frame_is(g, v->in[0].node, "Enter") ||
        !frame_is(g, v->in[1].node, "NextIteration"))
      continue;
    frame_var var = {v->in[0].node, i, v->in[1].node, 0};
    merged[var.enter] = true;
    all->of[i] = loop;
    wick_push(c->tmp, &all->loop.at[loop - 1].var, var);
  }
  for (uint32_t i = g->narg; i < g->n; i++) {
    const wick_tf_vertex *v = &g->vertex[i];
    if (frame_is(g, i, "Enter") && all->of[i] && !merged[i])
      wick_push(c->tmp, &all->loop.at[all->of[i] - 1].constant, i);
    if (v->nin != 2 || !frame_is(g, i, "Switch") || !frame_is(g, v->in[0].node, "Merge")) continue;
    uint32_t loop = all->of[v->in[0].node];
    if (!loop || !frame_is(g, v->in[1].node, "LoopCond")) continue;
    frame_loop *l = &all->loop.at[loop - 1];
    l->condition = v->in[1].node;
    all->of[i] = loop;
    for (uint32_t k = 0; k < l->var.n; k++)
      if (l->var.at[k].merge == v->in[0].node) l->var.at[k].switches = i;
  }
  f->loops = all;
  return all;
}

/* ---- loops ---- */

typedef struct frame_arg {
  wick_tf_frame *f;
  const frame_loop *l;
} frame_arg;

static void frame_bind(wick_import_node *n, wick_tf_frame *f, uint32_t vertex,
                       const wick_tf_value *v)
{
  uint32_t nout = f->graph->vertex[vertex].nout;
  wick_tf_value *all = wick_new(n->c->tmp, wick_tf_value, nout + 1);
  for (uint32_t k = 0; k < nout; k++) all[k] = *v;
  wick_tf_bind(n->c, f, vertex, all);
}

static bool frame_test(wick_import_node *n, void *arg, const wick_tf_value *in, wick_tf_value *out)
{
  const frame_arg *a = arg;
  uint32_t mark = wick_tf_mark(n->c);
  for (uint32_t k = 0; k < a->l->var.n; k++) frame_bind(n, a->f, a->l->var.at[k].merge, &in[k]);
  *out = wick_tf_eval(n->c, a->f, (wick_tf_edge){a->l->condition, 0});
  wick_tf_rewind(n->c, mark);
  return out->kind == WICK_TF_TENSOR;
}

static bool frame_body(wick_import_node *n, void *arg, const wick_tf_value *in, wick_tf_value *out)
{
  const frame_arg *a = arg;
  uint32_t mark = wick_tf_mark(n->c);
  for (uint32_t k = 0; k < a->l->var.n; k++) {
    const frame_var *v = &a->l->var.at[k];
    frame_bind(n, a->f, v->merge, &in[k]);
    if (v->switches) frame_bind(n, a->f, v->switches, &in[k]);
  }
  for (uint32_t k = 0; k < a->l->var.n; k++) {
    const wick_tf_vertex *next = &a->f->graph->vertex[a->l->var.at[k].next];
    out[k].kind = WICK_TF_BROKEN;
    if (next->nin == 1) out[k] = wick_tf_eval(n->c, a->f, next->in[0]);
  }
  wick_tf_rewind(n->c, mark);
  return true;
}

/* The value of an Enter is that of its operand, outside of the loop. */
static wick_tf_value frame_enter(wick_import_node *n, wick_tf_frame *f, uint32_t enter)
{
  const wick_tf_vertex *v = &f->graph->vertex[enter];
  if (v->nin == 1) return wick_tf_eval(n->c, f, v->in[0]);
  wick_import_fail(n, WICK_EPARSE, "the node \"%s\" has %u operands, expected 1",
                   wick_import_shown(n->c, v->name), v->nin);
  return (wick_tf_value){.kind = WICK_TF_BROKEN};
}

static bool frame_loop_run(wick_import_node *n, wick_tf_frame *f, const frame_loop *l)
{
  wick_tf_value *var = wick_new(n->c->tmp, wick_tf_value, l->var.n + 1);
  wick_import *c = n->c;
  for (uint32_t k = 0; k < l->var.n; k++) {
    var[k] = frame_enter(n, f, l->var.at[k].enter);
    if (var[k].kind == WICK_TF_BROKEN || var[k].kind == WICK_TF_NOTHING) n->failed = true;
  }
  for (uint32_t k = 0; k < l->constant.n; k++) {
    wick_tf_value v = frame_enter(n, f, l->constant.at[k]);
    if (!f->bound[l->constant.at[k]]) frame_bind(n, f, l->constant.at[k], &v);
  }
  if (!l->condition)
    wick_import_fail(n, WICK_EPARSE, "the loop \"%s\" has no condition",
                     wick_import_shown(c, l->name));
  if (n->failed || n->b->status) return false;
  frame_arg arg = {f, l};
  wick_tf_loop loop = {.n = l->var.n,
                       .var = var,
                       .test = frame_test,
                       .body = frame_body,
                       .test_arg = &arg,
                       .body_arg = &arg};
  uint32_t trail = wick_tf_mark(c);
  if (!wick_tf_loop_build(n, &loop)) return false;
  wick_tf_rewind(c, trail);
  for (uint32_t k = 0; k < l->var.n; k++) { /* after the loop: what Exit reads */
    if (l->var.at[k].switches) frame_bind(n, f, l->var.at[k].switches, &var[k]);
  }
  return true;
}

void wick_tf_import_exit(wick_import_node *n)
{
  const wick_tf_op *o = wick_tf_op_of(n);
  const wick_tf_vertex *v = o->vertex;
  const struct wick_tf_loops *all = frame_find(n->c, o->frame);
  uint32_t from = v->nin ? v->in[0].node : 0, loop = v->nin ? all->of[from] : 0;
  if (!loop || !frame_is(o->frame->graph, from, "Switch")) {
    wick_import_fail(n, WICK_EPARSE, "it leaves no loop");
    return;
  }
  if (!o->frame->bound[from] && !frame_loop_run(n, o->frame, &all->loop.at[loop - 1])) {
    n->failed = true;
    return;
  }
  o->out[0] = o->frame->bound[from][v->in[0].output];
}

/* ---- branches ---- */

/* Which side of which Switch leads to a vertex: 1 + output; 0: none. */
typedef struct frame_side {
  uint32_t pred_node, pred_output;
  uint32_t side;
  bool many; /* several conditions lead to it */
} frame_side;

/* Walks back from an edge to the Switch nodes that it needs, over data and control edges; it does
 * not walk through a Merge, whose Switch nodes have an end there. */
static void frame_walk(wick_import *c, wick_tf_frame *f, wick_tf_edge from, uint8_t *seen,
                       frame_side *list, uint32_t *n, uint32_t most)
{
  const wick_tf_graph *g = f->graph;
  wick_list(wick_tf_edge) open = {0};
  wick_push(c->tmp, &open, from);
  while (open.n) {
    wick_tf_edge e = open.at[--open.n];
    const wick_tf_vertex *v = &g->vertex[e.node];
    if ((frame_is(g, e.node, "Switch") || frame_is(g, e.node, "_SwitchN")) && v->nin == 2) {
      frame_side s = {v->in[1].node, v->in[1].output, e.output + 1, false};
      bool known = false;
      for (uint32_t i = 0; i < *n; i++)
        known = known || (list[i].pred_node == s.pred_node &&
                          list[i].pred_output == s.pred_output && list[i].side == s.side);
      if (!known && *n < most) list[(*n)++] = s;
      wick_push(c->tmp, &open, v->in[0]); /* outer branches */
      continue;
    }
    if (seen[e.node]) continue;
    seen[e.node] = 1;
    if (f->bound[e.node] && !frame_is(g, e.node, "Identity")) continue;
    if (frame_is(g, e.node, "Merge") && (e.node != from.node)) {
      for (uint32_t k = 0; k < v->ncontrol; k++)
        wick_push(c->tmp, &open, (wick_tf_edge){v->control[k], 0});
      continue;
    }
    for (uint32_t k = 0; k < v->nin; k++) wick_push(c->tmp, &open, v->in[k]);
    for (uint32_t k = 0; k < v->ncontrol; k++)
      wick_push(c->tmp, &open, (wick_tf_edge){v->control[k], 0});
  }
}

typedef struct frame_join {
  wick_tf_frame *f;
  wick_tf_edge edge;
} frame_join;

static bool frame_join_part(wick_import_node *n, void *arg, const wick_tf_value *in,
                            wick_tf_value *out)
{
  (void)in;
  const frame_join *j = arg;
  uint32_t mark = wick_tf_mark(n->c);
  *out = wick_tf_eval(n->c, j->f, j->edge);
  wick_tf_rewind(n->c, mark);
  return out->kind != WICK_TF_BROKEN;
}

enum { FRAME_SIDES = 64 };

typedef struct frame_sides {
  frame_side at[FRAME_SIDES];
  uint32_t n;
} frame_sides;

/* The side of that condition that leads to an operand; 0: none. */
static uint32_t frame_side_of(const frame_sides *s, const frame_side *like)
{
  for (uint32_t i = 0; i < s->n; i++)
    if (s->at[i].pred_node == like->pred_node && s->at[i].pred_output == like->pred_output)
      return s->at[i].side;
  return 0;
}

/* Finds the condition of which each operand of a Merge is another side, and the operand of each
 * side. Returns false if there is none. */
static bool frame_condition(wick_import_node *n, wick_tf_frame *f, const wick_tf_vertex *v,
                            wick_tf_edge *out, uint32_t *operand)
{
  frame_sides *all = wick_new(n->c->tmp, frame_sides, v->nin + 1u);
  for (uint32_t k = 0; k < v->nin; k++) {
    uint8_t *seen = wick_new(n->c->tmp, uint8_t, f->graph->n + 1);
    frame_walk(n->c, f, v->in[k], seen, all[k].at, &all[k].n, FRAME_SIDES);
  }
  for (uint32_t i = 0; i < all[0].n; i++) {
    const frame_side *like = &all[0].at[i];
    bool *used = wick_new(n->c->tmp, bool, v->nin + 1u), good = true;
    for (uint32_t k = 0; k < v->nin && good; k++) {
      uint32_t side = frame_side_of(&all[k], like);
      good = side > 0 && side <= v->nin && !used[side - 1];
      if (good) used[side - 1] = true, operand[side - 1] = k;
    }
    *out = (wick_tf_edge){like->pred_node, like->pred_output};
    if (good) return true;
  }
  return false;
}

typedef struct frame_choice {
  frame_join *join; /* of each side */
  wick_value index;
  uint32_t at, n;
} frame_choice;

/* The sides from `at` on, for an index. */
static bool frame_choose(wick_import_node *n, void *arg, const wick_tf_value *in,
                         wick_tf_value *out)
{
  const frame_choice *here = arg;
  frame_choice rest = *here;
  if (here->at + 1 >= here->n) return frame_join_part(n, &here->join[here->at], in, out);
  rest.at++;
  wick_value number = wick_emit_number(n->b, here->index, here->at);
  wick_value cond = wick_build2(n->b, WICK_OP_eq, here->index, number);
  wick_tf_part *const part[2] = {frame_join_part, frame_choose};
  void *const both[2] = {&here->join[here->at], &rest};
  return !n->b->status && wick_tf_branch(n, cond, part, both, in, 1, out);
}

/* Sets the result of a Merge, given the value of its condition: a bool, or an index. */
static bool frame_merge(wick_import_node *n, wick_tf_frame *f, const wick_tf_vertex *v,
                        wick_value cond, const uint32_t *operand, wick_tf_value *out)
{
  frame_join *join = wick_new(n->c->tmp, frame_join, v->nin + 1u);
  for (uint32_t k = 0; k < v->nin; k++) join[k] = (frame_join){f, v->in[operand[k]]};
  if (wick_built_info(n->b, cond)->elem != WICK_BOOL) {
    frame_choice all = {join, cond, 0, v->nin};
    return frame_choose(n, &all, NULL, out);
  }
  wick_tf_part *const part[2] = {frame_join_part, frame_join_part};
  void *const arg[2] = {&join[1], &join[0]}; /* side 1 of a Switch is for true */
  return wick_tf_branch(n, cond, part, arg, NULL, 1, out);
}

void wick_tf_import_merge(wick_import_node *n)
{
  const wick_tf_op *o = wick_tf_op_of(n);
  const wick_tf_vertex *v = o->vertex;
  wick_tf_edge cond;
  uint32_t *operand = wick_new(n->c->tmp, uint32_t, v->nin + 1u);
  if (v->nin < 2) {
    wick_import_fail(n, WICK_EPARSE, "it joins %u values, expected 2 or more", v->nin);
    return;
  }
  if (frame_find(n->c, o->frame)->of[v - o->frame->graph->vertex]) {
    wick_import_fail(n, WICK_EPARSE, "it is read from outside of its loop");
    return;
  }
  if (!frame_condition(n, o->frame, v, &cond, operand)) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "its operands are not the two sides of one condition");
    return;
  }
  wick_tf_value c = wick_tf_eval(n->c, o->frame, cond), out = {0};
  if (c.kind != WICK_TF_TENSOR) {
    n->failed = true;
    return;
  }
  if (!frame_merge(n, o->frame, v, c.v, operand, &out)) {
    n->failed = true;
    return;
  }
  o->out[0] = out;
  if (n->nout < 2) return;
  wick_value index = wick_build_cast(n->b, c.v, WICK_I32), taken = {0}; /* which operand it was */
  for (uint32_t k = v->nin; k-- > 0;) {
    wick_value number = wick_emit_number(n->b, index, operand[k]);
    wick_value is = wick_emit_by(n->b, WICK_OP_eq, index, k);
    taken = taken.id ? wick_build3(n->b, WICK_OP_where, is, number, taken) : number;
  }
  n->out[1] = taken;
}

/* Both sides of a Switch have its operand; a Merge takes what belongs to its side. */
void wick_tf_import_switch(wick_import_node *n)
{
  const wick_tf_op *o = wick_tf_op_of(n);
  for (uint32_t k = 0; k < n->nout; k++) o->out[k] = o->in[0];
}
