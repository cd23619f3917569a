/* Layers in order; branches and loops, whose layers set variables: a name that has a value already gets
 * another one.
 *
 * A branch with a jump (loopBreak, loopContinue) takes the layers after it into both of its ways: a way
 * that jumps ends there. So a loop's body is a tree of branches, and its variables are their results;
 * one more, FLOW_STOP, becomes true where a way leaves the loop. */
#include <string.h>

#include "import/coreml/layers.h"

#define FLOW_STOP "\001stop"

/* ---- names that layers set ---- */

typedef struct flow_names {
  wick_import *c;
  wick_names names;
  wick_list(const char *) list;
} flow_names;

static flow_names flow_names_begin(wick_import *c)
{
  return (flow_names){.c = c, .names = wick_names_begin(c->tmp)};
}

static bool flow_has(const flow_names *s, const char *name)
{
  return wick_names_find(&s->names, name, strlen(name)) != 0;
}

static void flow_add(flow_names *s, const char *name)
{
  if (flow_has(s, name)) return;
  wick_names_add(&s->names, name, strlen(name));
  wick_push(s->c->tmp, &s->list, name);
}

static wick_coreml_layer flow_layer(wick_import *c, const wick_coreml_message *m)
{
  wick_coreml_layer l = {.layer = *m};
  const wick_coreml_field *f = wick_coreml_choice(m, 64, UINT32_MAX, &l.params);
  l.kind = f ? wick_str_dupn(c->tmp, f->name, f->nname) : "";
  l.name = wick_wire_text(c->tmp, wick_coreml_bytes(m, "name"));
  return l;
}

static wick_coreml_messages flow_layers(wick_import *c, const wick_coreml_message *params,
                                        const char *network)
{
  wick_coreml_message n = wick_coreml_part(params, network);
  return wick_coreml_parts(&n, "layers", c->tmp);
}

/* Collects the names that have a value after the layers: results of theirs, and those of branches and
 * loops that had one before, or that both ways set. */
static void flow_collect(flow_names *s, wick_coreml_messages layers)
{
  static const char *const parts[] = {"ifBranch", "elseBranch", "conditionNetwork", "bodyNetwork"};
  wick_import *c = s->c;
  for (uint32_t i = 0; i < layers.n; i++) {
    wick_coreml_layer l = flow_layer(c, &layers.at[i]);
    wick_coreml_texts out = wick_coreml_texts_of(&l.layer, "output", c->tmp);
    bool branch = strcmp(l.kind, "branch") == 0, loop = strcmp(l.kind, "loop") == 0;
    for (uint32_t k = 0; k < out.n && !branch && !loop; k++)
      flow_add(s, wick_wire_text(c->tmp, out.at[k]));
    if (!branch && !loop) continue;
    flow_names way[2] = {flow_names_begin(c), flow_names_begin(c)};
    for (uint32_t k = 0; k < 2; k++)
      flow_collect(&way[k], flow_layers(c, &l.params, parts[k + (loop ? 2 : 0)]));
    for (uint32_t k = 0; k < 2; k++)
      for (uint32_t j = 0; j < way[k].list.n; j++) {
        const char *name = way[k].list.at[j];
        if (flow_has(s, name) || wick_import_find(c, name) ||
            (branch && flow_has(&way[1 - k], name)))
          flow_add(s, name);
      }
  }
}

/* Is there a jump in the layers, but not in an inner loop? */
static bool flow_jumps(wick_import *c, wick_coreml_messages layers)
{
  for (uint32_t i = 0; i < layers.n; i++) {
    wick_coreml_layer l = flow_layer(c, &layers.at[i]);
    if (strcmp(l.kind, "loopBreak") == 0 || strcmp(l.kind, "loopContinue") == 0) return true;
    if (strcmp(l.kind, "branch") == 0 && (flow_jumps(c, flow_layers(c, &l.params, "ifBranch")) ||
                                          flow_jumps(c, flow_layers(c, &l.params, "elseBranch"))))
      return true;
  }
  return false;
}

/* ---- layers in order ---- */

static void flow_variables(wick_import *c, wick_coreml_layer *l, const flow_names *s)
{
  const char **var = wick_new(c->tmp, const char *, (size_t)s->list.n + 1);
  for (uint32_t k = 0; k < s->list.n; k++) var[k] = s->list.at[k];
  l->nvar = s->list.n, l->var = var;
}

/* The variables of the loop around a jump: those that have values outside of its body. */
static void flow_of_loop(wick_import *c, wick_coreml_layer *l)
{
  const wick_coreml_layer *loop = ((wick_coreml_model *)c->model)->loop;
  l->nvar = loop->nvar, l->var = loop->var;
}

static void flow_jump(wick_import *c, const wick_coreml_layer *l)
{
  wick_type type = wick_type_tensor(c->module, WICK_BOOL, 0, NULL);
  if (!((wick_coreml_model *)c->model)->loop)
    wick_import_error(c, WICK_EPARSE, wick_import_place(c, l->name, l->kind),
                      "it is not in a loop");
  else if (strcmp(l->kind, "loopBreak") == 0)
    wick_import_rebind(c, FLOW_STOP, wick_build_const(&c->b, type, 0, 1));
}

static void flow_run(wick_import *c, wick_coreml_messages layers, const wick_coreml_rest *rest)
{
  for (uint32_t i = 0; i < layers.n && !c->over; i++) {
    wick_coreml_layer l = flow_layer(c, &layers.at[i]);
    bool branch = strcmp(l.kind, "branch") == 0, loop = strcmp(l.kind, "loop") == 0;
    if (strcmp(l.kind, "loopBreak") == 0 || strcmp(l.kind, "loopContinue") == 0) {
      flow_jump(c, &l);
      return;
    }
    if (branch && ((wick_coreml_model *)c->model)->loop &&
        flow_jumps(c, (wick_coreml_messages){1, &layers.at[i]})) {
      const wick_coreml_rest after = {{layers.n - i - 1, layers.at + i + 1}, rest};
      l.rest = &after;
      flow_of_loop(c, &l);
      wick_coreml_layer_run(c, &l, l.nvar, l.var);
      return;
    }
    if (branch || loop) {
      flow_names s = flow_names_begin(c);
      flow_collect(&s, (wick_coreml_messages){1, &layers.at[i]});
      flow_variables(c, &l, &s);
      wick_coreml_layer_run(c, &l, l.nvar, l.var);
      continue;
    }
    wick_coreml_texts out = wick_coreml_texts_of(&l.layer, "output", c->tmp);
    const char **name = wick_new(c->tmp, const char *, (size_t)out.n + 1);
    for (uint32_t k = 0; k < out.n; k++) name[k] = wick_wire_text(c->tmp, out.at[k]);
    wick_coreml_layer_run(c, &l, out.n, name);
  }
  if (rest && !c->over) flow_run(c, rest->layers, rest->next);
}

void wick_coreml_run(wick_import *c, wick_coreml_messages layers) { flow_run(c, layers, NULL); }

/* ---- branches ---- */

static wick_value flow_truth(wick_import_node *n, wick_value x)
{
  if (n->b->status || !x.id) return x;
  if (wick_built_info(n->b, x)->elem != WICK_BOOL) x = wick_emit_by(n->b, WICK_OP_ne, x, 0);
  return wick_build_reshape(n->b, x, 0, NULL);
}

/* Gives the results of a body: the values of the variables. */
static bool flow_results(wick_import_node *n, uint32_t nvar, const char *const *var,
                         wick_value *out)
{
  for (uint32_t k = 0; k < nvar; k++) {
    const wick_value *v = wick_import_find(n->c, var[k]);
    out[k] = v ? *v : (wick_value){0};
    if (!out[k].id) return false;
  }
  return true;
}

typedef struct flow_way {
  wick_coreml_messages layers;
  const wick_coreml_layer *l;
} flow_way;

static bool flow_branch_body(wick_import_node *n, void *arg, uint32_t nin, const wick_value *in,
                             uint32_t nout, wick_value *out)
{
  const flow_way *w = arg;
  (void)nin, (void)in;
  wick_import_scope *back = wick_import_enter(n->c, true);
  flow_run(n->c, w->layers, w->l->rest);
  bool good = flow_results(n, nout, w->l->var, out);
  n->c->scope = back;
  return good;
}

void wick_coreml_branch(wick_import_node *n)
{
  const wick_coreml_layer *l = n->data;
  flow_way way[2] = {{flow_layers(n->c, &l->params, "ifBranch"), l},
                     {flow_layers(n->c, &l->params, "elseBranch"), l}};
  wick_value cond = flow_truth(n, n->in[0]);
  if (!n->b->status)
    wick_import_if(n, cond, flow_branch_body, &way[0], flow_branch_body, &way[1], 0, NULL);
}

/* ---- loops ---- */

typedef struct flow_loop {
  const wick_coreml_layer *l; /* its variables; FLOW_STOP is the last */
  wick_coreml_messages condition, body;
  const char *test; /* the variable that is tested; "": none */
  wick_value most;  /* i64; 0: no limit */
} flow_loop;

/* Binds the variables to the carried values, in a scope of their own. */
static wick_import_scope *flow_loop_enter(wick_import_node *n, const flow_loop *f,
                                          const wick_value *in)
{
  wick_import_scope *back = wick_import_enter(n->c, true);
  for (uint32_t k = 0; k < f->l->nvar; k++) wick_import_bind(n->c, f->l->var[k], in[k]);
  flow_run(n->c, f->condition, NULL);
  return back;
}

/* Carried values are the variables, then the number of steps. */
static bool flow_loop_test(wick_import_node *n, void *arg, uint32_t nin, const wick_value *in,
                           uint32_t nout, wick_value *out)
{
  const flow_loop *f = arg;
  (void)nout;
  wick_import_scope *back = flow_loop_enter(n, f, in);
  const wick_value *stop = wick_import_find(n->c, FLOW_STOP),
                   *test = *f->test ? wick_import_find(n->c, f->test) : NULL;
  n->c->scope = back;
  wick_value on = wick_build1(n->b, WICK_OP_not, *stop);
  if (*f->test && (!test || !test->id)) {
    wick_import_fail(n, WICK_EPARSE, "the variable \"%s\" of its condition has no value",
                     wick_import_shown(n->c, f->test));
    return false;
  }
  if (test) on = wick_build2(n->b, WICK_OP_and, on, flow_truth(n, *test));
  if (f->most.id) {
    wick_value less = wick_build2(n->b, WICK_OP_lt, in[nin - 1], f->most);
    on = wick_build2(n->b, WICK_OP_and, on, less);
  }
  out[0] = on;
  return !n->b->status;
}

static bool flow_loop_body(wick_import_node *n, void *arg, uint32_t nin, const wick_value *in,
                           uint32_t nout, wick_value *out)
{
  const flow_loop *f = arg;
  wick_coreml_model *m = n->c->model;
  const wick_coreml_layer *outer = m->loop;
  wick_import_scope *back = flow_loop_enter(n, f, in);
  m->loop = f->l;
  flow_run(n->c, f->body, NULL);
  m->loop = outer;
  bool good = flow_results(n, f->l->nvar, f->l->var, out);
  n->c->scope = back;
  if (!good) return false;
  for (uint32_t k = 0; k + 2 < nout; k++) out[k] = wick_coreml_as(n, out[k], WICK_F32);
  out[nout - 1] = wick_emit_by(n->b, WICK_OP_add, in[nin - 1], 1);
  return !n->b->status;
}

static void flow_loop_limit(wick_import_node *n, flow_loop *f)
{
  int64_t most = wick_import_int(n, "maxLoopIterations", 0);
  wick_type type = wick_type_tensor(n->c->module, WICK_I64, 0, NULL);
  if (wick_import_has(n, 0))
    f->most = wick_build_reshape(n->b, wick_coreml_index(n, 0), 0, NULL);
  else if (most > 0 || !*f->test)
    f->most = wick_build_const(n->b, type, 0, most > 0 ? most : 0);
}

/* The variables of the loop, in f32, then FLOW_STOP and the number of steps. */
void wick_coreml_loop(wick_import_node *n)
{
  const wick_coreml_layer *own = n->data;
  wick_import *c = n->c;
  uint32_t nvar = own->nvar + 1;
  wick_value *v = wick_new(c->tmp, wick_value, (size_t)nvar + 1);
  const char **var = wick_new(c->tmp, const char *, nvar);
  wick_type flag = wick_type_tensor(c->module, WICK_BOOL, 0, NULL),
            count = wick_type_tensor(c->module, WICK_I64, 0, NULL);
  for (uint32_t k = 0; k < own->nvar; k++) {
    const wick_value *first = wick_import_find(c, own->var[k]);
    var[k] = own->var[k];
    v[k] = wick_coreml_as(n, first ? *first : (wick_value){0}, WICK_F32);
    if (!v[k].id) return;
  }
  var[own->nvar] = FLOW_STOP;
  v[own->nvar] = wick_build_const(n->b, flag, 0, 0);
  v[nvar] = wick_build_const(n->b, count, 0, 0);
  wick_coreml_layer l = *own;
  l.nvar = nvar, l.var = var;
  flow_loop f = {.l = &l,
                 .condition = flow_layers(c, &own->params, "conditionNetwork"),
                 .body = flow_layers(c, &own->params, "bodyNetwork"),
                 .test = wick_import_text(n, "conditionVar", "")};
  flow_loop_limit(n, &f);
  if (!n->b->status) wick_import_while(n, flow_loop_test, &f, flow_loop_body, &f, nvar + 1, v);
}
