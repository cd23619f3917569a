/* One replay of the function, which looks up what the new operands are. Unrolled calls are replays
 * inside it. The nodes of a call that exceeds the limits are taken back; the call becomes one of an
 * instance, whose body is built afterwards in the same way. If a function has too many instances,
 * all of them go, and everything is built again with one parameter of that function more general. */
#include "graph/partial_eval.h"

#include <string.h>

#include "graph/known.h"
#include "ir/call.h"
#include "ir/replay.h"

enum {
  PARTIAL_NODES = 2000,
  PARTIAL_CALLS = 2000,
  PARTIAL_DEPTH = 400,
  PARTIAL_REGIONS = 32,
  PARTIAL_UNDECIDED = 48, /* branches that stay, beyond which more must be decided */
  PARTIAL_GROWTH = 2,     /* calls inside each other for which only more is known each time */
  PARTIAL_SMALL = 40,     /* nodes of such a function that is worth instances */
  PARTIAL_INSTANCES = 40, /* of one function */
  PARTIAL_FUNCTION_NODES = 1000, /* in instances of one function */
  PARTIAL_INSTANCE_NODES = 20000,
  PARTIAL_SPENT = 100000 /* nodes that are built and not used; after that, there are no instances */
};

typedef struct partial_instance {
  const wick_func *of;
  const char *name;
  const wick_known *known; /* by parameter of `of` */
  wick_loc loc;            /* of the first call */
  uint32_t nnode;
} partial_instance;

typedef struct partial_general { /* how general a parameter is in all instances */
  const wick_func *of;
  uint32_t param;
  wick_known_detail detail;
  wick_loc loc; /* of a call that has an instance */
} partial_general;

typedef struct partial_stop { /* a function whose call exceeds the limits, and has no instance */
  const wick_func *of;
  wick_loc loc;
} partial_stop;

typedef struct partial_maker { /* a function, and whether calls of it are always written out */
  const wick_func *of;
  bool makes;
} partial_maker;

/* The instances for one function of the module. */
typedef struct partial_run {
  wick_module *m;
  wick_arena *mem, *tmp;
  wick_list(partial_instance) instances;
  wick_list(partial_general) general;
  wick_list(partial_stop) stops;
  wick_list(partial_maker) makers;
  uint32_t nnode, nspent;
  const wick_func *over; /* a function with too many instances, or with one that cannot be built */
  bool off;              /* no instances are made */
} partial_run;

typedef struct partial_refusal { /* a function whose calls exceeded the limits */
  const char *name;
  bool poor; /* it has no instances, either */
} partial_refusal;

typedef struct partial_open_call { /* a call that is being written out */
  const wick_func *of;
  const wick_value *in;
  uint32_t nopen; /* regions around it */
} partial_open_call;

typedef struct partial_state {
  wick_builder b;
  partial_run *run;
  wick_list(uint32_t) definer; /* by new value: the node without regions that defines it, + 1 */
  uint32_t nseen;              /* nodes whose results are in `definer` */
  wick_list(partial_open_call) calls;
  uint32_t depth, ncall;
  uint32_t base, nopen; /* before the outermost call that is unrolled: nodes; open regions */
  uint32_t ndecided, nundecided; /* branches in the outermost call that is unrolled */
  bool exhausted, instance;      /* instance: the function that is built is one */
  bool poor;                     /* exhausted, and not worth an instance */
  wick_list(partial_refusal) refused;
} partial_state;

/* ---- what is known ---- */

static void partial_see(partial_state *s)
{
  wick_builder *b = &s->b;
  while (s->definer.n < b->values.n) wick_push(b->mem, &s->definer, 0);
  for (; s->nseen < b->nodes.n; s->nseen++) {
    const wick_node *n = &b->nodes.at[s->nseen];
    bool leaf = wick_op_of(n)->nregion[1] == 0;
    for (uint32_t k = 0; leaf && k < n->nout; k++) s->definer.at[n->first.id + k] = s->nseen + 1;
  }
}

/* Returns the node of that operator that defines v; NULL if another one does. */
static const wick_node *partial_known(partial_state *s, wick_value v, wick_opcode op)
{
  partial_see(s);
  uint32_t at = s->definer.at[v.id];
  return at && s->b.nodes.at[at - 1].op == op ? &s->b.nodes.at[at - 1] : NULL;
}

static const wick_node *partial_node(void *arg, wick_value v, wick_opcode op)
{
  return partial_known(arg, v, op);
}

/* Returns true if v is a single integer or bool that is known. */
static bool partial_number(const partial_state *s, wick_value v, int64_t *out)
{
  return wick_known_number(&s->b, v, out);
}

static bool partial_helps(partial_state *s, wick_value v)
{
  int64_t number;
  return partial_number(s, v, &number) || partial_known(s, v, WICK_OP_construct) ||
         partial_known(s, v, WICK_OP_closure);
}

/* Returns whether f gives data or functions and is inlined: what it gives may be known. */
static bool partial_makes(const partial_state *s, const wick_func *f)
{
  partial_run *run = s->run;
  for (uint32_t i = 0; i < run->makers.n; i++)
    if (run->makers.at[i].of == f) return run->makers.at[i].makes;
  const wick_node *ret = wick_return(f);
  bool makes = false;
  for (uint32_t k = 0; k < ret->nin && !makes; k++)
    makes = wick_kind_is_object(wick_info_of(f, ret->in[k])->kind);
  makes = makes && !wick_func_stays(f, run->tmp);
  wick_push(run->tmp, &run->makers, (partial_maker){f, makes});
  return makes;
}

/* ---- values with one constructor ---- */

/* Returns the only constructor of the type of v; NULL if it is no data, or has others. */
static const wick_ctor *partial_only_ctor(const partial_state *s, wick_value v)
{
  wick_type t = wick_built_type(&s->b, v);
  if (wick_type_get(s->b.module, t)->kind != WICK_DATA) return NULL;
  const wick_data *d = wick_data_get(s->b.module, t);
  return d->nctor == 1 ? d->ctor : NULL;
}

/* Takes such a value apart. Returns its first field. */
static wick_value partial_unpack(partial_state *s, wick_value v, const wick_ctor *ctor)
{
  wick_builder *b = &s->b;
  const wick_ctor c = *ctor;
  wick_build_open(b, WICK_OP_switch, 1, &v, NULL, 0, NULL);
  wick_value p = wick_region_begin(b, c.nfield, c.field),
             *y = wick_new(b->mem, wick_value, c.nfield + 1u);
  for (uint32_t k = 0; k < c.nfield; k++) y[k] = (wick_value){p.id + k};
  wick_yield(b, c.nfield, y);
  return wick_build_close(b);
}

/* Returns v as a construct of its fields, if it has only one constructor and is not known. */
static wick_value partial_opened(partial_state *s, wick_value v)
{
  const wick_ctor *ctor = partial_only_ctor(s, v);
  if (!ctor || !ctor->nfield || partial_known(s, v, WICK_OP_construct) || s->b.status) return v;
  uint32_t n = ctor->nfield;
  wick_value first = partial_unpack(s, v, ctor), *field = wick_new(s->b.mem, wick_value, n);
  for (uint32_t k = 0; k < n; k++) field[k] = (wick_value){first.id + k};
  return wick_build_construct(&s->b, wick_built_type(&s->b, v), 0, n, field);
}

/* ---- growth ---- */

static bool partial_contains(const wick_known *x, const wick_known *part)
{
  for (uint32_t k = 0; k < x->n; k++)
    if (wick_known_eq(&x->part[k], part) || partial_contains(&x->part[k], part)) return true;
  return false;
}

/* Returns whether all that is known in `old` is known in `now`, of some parameter as a part of more. */
static bool partial_grown(uint32_t nparam, const wick_known *now, const wick_known *old)
{
  bool any = false;
  for (uint32_t k = 0; k < nparam; k++) {
    if (wick_known_eq(&now[k], &old[k])) continue;
    bool made = old[k].kind == WICK_KNOWN_MADE || old[k].kind == WICK_KNOWN_CLOSURE;
    if (!made || !partial_contains(&now[k], &old[k])) return false;
    any = true;
  }
  return any;
}

static wick_known *partial_all(partial_state *s, const wick_func *f, const wick_value *in)
{
  wick_known_values leaves = {0};
  wick_known *known = wick_new(s->run->tmp, wick_known, f->nparam + 1);
  wick_known_reader r = {
      .b = &s->b, .mem = s->run->tmp, .node = partial_node, .arg = s, .leaves = &leaves};
  for (uint32_t k = 0; k < f->nparam; k++)
    known[k] = wick_known_read(&r, in[k], f->value[1 + k].type, WICK_KNOWN_ALL);
  return known;
}

/* Returns whether f is a recursion, as of continuations, whose end only the run decides, and of whose
 * arguments more is known at each call, and nothing else: writing it out has no end. */
static bool partial_is_endless(partial_state *s, const wick_func *f, const wick_value *in)
{
  const wick_known *now = NULL;
  uint32_t count = 0, seen = 0;
  wick_mark mark = wick_arena_mark(s->run->tmp);
  for (uint32_t i = s->calls.n; i-- > 0 && seen <= PARTIAL_GROWTH;) {
    const partial_open_call *at = &s->calls.at[i];
    if (at->of != f || at->nopen >= s->b.open.n) continue;
    if (!now) now = partial_all(s, f, in);
    seen++;
    count += partial_grown(f->nparam, now, partial_all(s, f, at->in));
  }
  wick_arena_rewind(s->run->tmp, mark);
  return count >= PARTIAL_GROWTH;
}

/* ---- calls ---- */

static bool partial_instead(wick_replay *r, const wick_node *n, const wick_value *in,
                            wick_value *out);

static const wick_func *partial_callee(partial_state *s, const char *name, uint32_t nin,
                                       const wick_value *in)
{
  const wick_func *f = wick_module_find(s->b.module, name);
  bool helps = false;
  if (!f || f->level != WICK_GRAPH || f->head || f->nparam != nin) return NULL;
  for (uint32_t k = 0; k < nin && !helps; k++) helps = partial_helps(s, in[k]);
  return helps || partial_makes(s, f) ? f : NULL;
}

static void partial_body(partial_state *s, const wick_func *f, const wick_value *in,
                         wick_value *out)
{
  wick_replay r = wick_replay_func(&s->b, f);
  r.call = s->b.loc;
  r.instead = partial_instead, r.arg = s;
  for (uint32_t k = 0; k < f->nparam; k++) r.to[1 + k] = in[k];
  for (uint32_t i = 0; i < f->nconstraint; i++)
    wick_build_shape_constraint(&s->b, f->constraint[i].a, f->constraint[i].b,
                                f->constraint[i].loc);
  wick_replay_nodes(&r, 0, f->nnode - 1);
  const wick_node *ret = wick_return(f);
  for (uint32_t k = 0; k < ret->nin; k++) out[k] = wick_replayed(&r, ret->in[k]);
}

/* Returns how deep the regions of f are nested. */
static uint32_t partial_nested(const wick_func *f)
{
  uint32_t end[WICK_MAX_DEPTH + 1], depth = 0, most = 0;
  for (uint32_t i = 0; i < f->nnode; i++) {
    while (depth && end[depth - 1] <= i) depth--;
    if (f->node[i].nregion) end[depth++] = f->node[i].end;
    if (depth > most) most = depth;
  }
  return most;
}

/* Writes out the nodes of f. Returns false if that exceeds a limit: then nothing is built. */
static bool partial_unroll(partial_state *s, const wick_func *f, const wick_value *in,
                           wick_value *out)
{
  wick_builder *b = &s->b;
  uint32_t nnode = b->nodes.n, nvalue = b->values.n, nconstraint = b->constraints.n,
           nbranch = b->branch_constraints.n;
  if (!s->depth) {
    s->base = nnode, s->nopen = b->open.n, s->ncall = s->ndecided = s->nundecided = 0;
    s->exhausted = s->poor = false;
  }
  s->exhausted = s->exhausted || s->depth >= PARTIAL_DEPTH || ++s->ncall > PARTIAL_CALLS ||
                 nnode - s->base > PARTIAL_NODES || b->open.n - s->nopen > PARTIAL_REGIONS ||
                 b->open.n + partial_nested(f) > WICK_MAX_DEPTH;
  if (!s->exhausted) {
    bool endless = partial_is_endless(s, f, in);
    s->poor = (s->nundecided > PARTIAL_UNDECIDED && s->nundecided > s->ndecided) ||
              (endless && f->nnode > PARTIAL_SMALL);
    s->exhausted = s->poor || endless;
  }
  if (s->exhausted) return false;
  s->depth++;
  wick_push(b->mem, &s->calls, ((partial_open_call){f, in, b->open.n}));
  partial_body(s, f, in, out);
  s->calls.n--;
  s->depth--;
  if (s->depth || !s->exhausted || b->status) return true;
  s->run->nspent += b->nodes.n - nnode;
  if (s->run->nspent > PARTIAL_SPENT && !s->run->off) s->run->over = f;
  b->nodes.n = nnode, b->values.n = nvalue;
  b->constraints.n = nconstraint, b->branch_constraints.n = nbranch;
  s->nseen = s->nseen < nnode ? s->nseen : nnode;
  s->definer.n = s->definer.n < nvalue ? s->definer.n : nvalue;
  return false;
}

/* ---- instances ---- */

static wick_known_detail partial_detail(const partial_run *run, const wick_func *f, uint32_t param)
{
  for (uint32_t i = 0; i < run->general.n; i++)
    if (run->general.at[i].of == f && run->general.at[i].param == param)
      return run->general.at[i].detail;
  return WICK_KNOWN_ALL;
}

/* Returns whether something is known of an operand that is worth an instance. */
static bool partial_is_made(partial_state *s, wick_value v)
{
  return partial_known(s, v, WICK_OP_construct) || partial_known(s, v, WICK_OP_closure);
}

/* Returns what is known of the operands of a call of f, as far as instances use it; the values of
 * which nothing is known go to `leaves`. Beside known ones, operands with only one constructor count as
 * made of their fields. */
static wick_known *partial_operands(partial_state *s, const wick_func *f, const wick_value *in,
                                    wick_known_values *leaves)
{
  wick_known *known = wick_new(s->run->tmp, wick_known, f->nparam + 1);
  wick_known_reader r = {
      .b = &s->b, .mem = s->run->tmp, .node = partial_node, .arg = s, .leaves = leaves};
  bool worth = false;
  for (uint32_t k = 0; k < f->nparam; k++)
    worth = worth || (partial_detail(s->run, f, k) != WICK_KNOWN_NONE && partial_is_made(s, in[k]));
  for (uint32_t k = 0; k < f->nparam; k++) {
    wick_known_detail detail = partial_detail(s->run, f, k);
    wick_value v = worth && detail == WICK_KNOWN_ALL ? partial_opened(s, in[k]) : in[k];
    known[k] = wick_known_read(&r, v, f->value[1 + k].type, detail);
  }
  return known;
}

static const partial_instance *partial_find(const partial_run *run, const wick_func *f,
                                            const wick_known *known)
{
  for (uint32_t i = 0; i < run->instances.n; i++) {
    const partial_instance *at = &run->instances.at[i];
    bool same = at->of == f;
    for (uint32_t k = 0; k < f->nparam && same; k++) same = wick_known_eq(&at->known[k], &known[k]);
    if (same) return at;
  }
  return NULL;
}

static bool partial_has_instances(const partial_run *run, const wick_func *f)
{
  for (uint32_t i = 0; i < run->instances.n; i++)
    if (run->instances.at[i].of == f) return true;
  return false;
}

/* Numbers alone are not worth an instance. */
static bool partial_worth(const wick_func *f, const wick_known *known)
{
  bool worth = false;
  for (uint32_t k = 0; k < f->nparam; k++)
    worth = worth || known[k].kind == WICK_KNOWN_MADE || known[k].kind == WICK_KNOWN_CLOSURE;
  return worth;
}

/* Declares an instance, so that it can be called. Returns NULL if there is none. */
static const partial_instance *partial_add(partial_run *run, const wick_func *f,
                                           const wick_known *known, wick_loc loc)
{
  uint32_t count = 0, grown = 0, number = 1;
  if (!partial_worth(f, known) || run->off || run->over) return NULL;
  for (uint32_t i = 0; i < run->instances.n; i++) {
    if (run->instances.at[i].of != f) continue;
    count++, grown += partial_grown(f->nparam, known, run->instances.at[i].known);
  }
  if (count >= PARTIAL_INSTANCES || grown > PARTIAL_GROWTH) {
    run->over = f;
    return NULL;
  }
  const char *name = f->name;
  while (wick_module_find(run->m, name))
    name = wick_str_printf(run->tmp, "%s.%u", f->name, number++);
  wick_known_types param = {0};
  for (uint32_t k = 0; k < f->nparam; k++) wick_known_types_of(&known[k], run->tmp, &param);
  const wick_node *ret = wick_return(f);
  wick_type *give = wick_new(run->tmp, wick_type, ret->nin + 1u);
  for (uint32_t k = 0; k < ret->nin; k++) give[k] = wick_type_of(f, ret->in[k]);
  const wick_func *head =
      wick_func_head(run->m, WICK_GRAPH, name, param.n, param.at, NULL, ret->nin, give, run->mem);
  wick_module_set(run->m, head);
  wick_push(run->tmp, &run->instances, ((partial_instance){f, head->name, known, loc, 0}));
  return &run->instances.at[run->instances.n - 1];
}

/* Builds the body of an instance. Returns false if its results have other types than those of the
 * function, or if it cannot be built. */
static bool partial_build(partial_run *run, const partial_instance *i, uint32_t *out_nnode)
{
  partial_state s = {.b = {.mem = run->mem}, .run = run, .instance = true};
  wick_builder *b = &s.b;
  const wick_node *ret = wick_return(i->of);
  wick_value *in = wick_new(run->tmp, wick_value, i->of->nparam + 1),
             *out = wick_new(run->tmp, wick_value, ret->nin + 1u);
  wick_known_types param = {0};
  wick_func *f;
  wick_build_begin(b, run->m, WICK_GRAPH, i->name, run->mem);
  for (uint32_t k = 0; k < i->of->nparam; k++) wick_known_types_of(&i->known[k], run->tmp, &param);
  for (uint32_t k = 0; k < param.n; k++) wick_build_param(b, param.at[k], WICK_IN, NULL);
  uint32_t leaf = 0;
  b->loc = i->loc;
  for (uint32_t k = 0; k < i->of->nparam; k++) in[k] = wick_known_build(b, &i->known[k], &leaf);
  partial_body(&s, i->of, in, out);
  for (uint32_t k = 0; k < ret->nin && !b->status; k++)
    if (!wick_type_eq(wick_built_type(b, out[k]), wick_type_of(i->of, ret->in[k]))) return false;
  b->loc = ret->loc;
  wick_build_return(b, ret->nin, out);
  if (wick_build_end(b, &f)) return false;
  wick_module_set(run->m, f);
  run->nnode += f->nnode, *out_nnode = f->nnode;
  return true;
}

/* Counts how differently a parameter is known in the instances of f. */
static uint32_t partial_variety(const partial_run *run, const wick_func *f, uint32_t param)
{
  uint32_t n = 0;
  for (uint32_t i = 0; i < run->instances.n; i++) {
    bool first = run->instances.at[i].of == f;
    for (uint32_t k = 0; k < i && first; k++)
      first = run->instances.at[k].of != f || !wick_known_eq(&run->instances.at[k].known[param],
                                                             &run->instances.at[i].known[param]);
    n += first;
  }
  return n;
}

/* Makes the parameter of f that differs most between its instances more general. */
static void partial_generalize(partial_run *run, const wick_func *f)
{
  uint32_t best = 0, most = 0;
  bool closure = false;
  for (uint32_t k = 0; k < f->nparam; k++) {
    uint32_t n = partial_detail(run, f, k) == WICK_KNOWN_NONE ? 0 : partial_variety(run, f, k);
    if (n > most) most = n, best = k;
  }
  for (uint32_t i = 0; i < run->general.n; i++)
    if (run->general.at[i].of == f && run->general.at[i].param == best) {
      run->general.at[i].detail = WICK_KNOWN_NONE;
      return;
    }
  wick_loc loc = {0};
  for (uint32_t i = run->instances.n; i-- > 0;) {
    if (run->instances.at[i].of != f) continue;
    closure = closure || run->instances.at[i].known[best].kind == WICK_KNOWN_CLOSURE;
    loc = run->instances.at[i].loc;
  }
  wick_known_detail detail = closure ? WICK_KNOWN_CALLEE : WICK_KNOWN_NONE;
  wick_push(run->tmp, &run->general, (partial_general){f, best, detail, loc});
}

/* ---- calls ---- */

static void partial_emit(partial_state *s, const wick_func *of, const wick_node *n,
                         const char *name, uint32_t nin, const wick_value *in, wick_value *out)
{
  wick_builder *b = &s->b;
  wick_type *want = wick_new(b->mem, wick_type, n->nout + 1u);
  for (uint32_t k = 0; k < n->nout; k++) want[k] = wick_type_of(of, (wick_value){n->first.id + k});
  wick_attr callee = {.s = name};
  b->loc = n->loc;
  wick_value first = wick_build(b, WICK_OP_call, nin, in, &callee, n->nout, want);
  for (uint32_t k = 0; k < n->nout; k++) out[k] = (wick_value){first.id + k};
}

static const partial_refusal *partial_refused(const partial_state *s, const wick_func *f)
{
  for (uint32_t i = 0; i < s->refused.n; i++)
    if (s->refused.at[i].name == f->name) return &s->refused.at[i];
  return NULL;
}

static void partial_call(partial_state *s, const wick_func *of, const wick_node *n,
                         const char *name, uint32_t nin, const wick_value *in, wick_value *out)
{
  const wick_func *f = s->run->over ? NULL : partial_callee(s, name, nin, in);
  const partial_instance *i = NULL;
  wick_known_values leaves = {0};
  wick_known *known = NULL;
  if (f && partial_has_instances(s->run, f)) {
    known = partial_operands(s, f, in, &leaves);
    i = partial_find(s->run, f, known);
  }
  const partial_refusal *refused = f ? partial_refused(s, f) : NULL;
  if (f && !i && !refused && partial_unroll(s, f, in, out)) return;
  if (f && !i && !s->depth) {
    if (!known) known = partial_operands(s, f, in, &leaves);
    bool poor = refused ? refused->poor : s->poor;
    if (!poor) i = partial_add(s->run, f, known, n->loc);
    if (!i && !refused) {
      wick_push(s->b.mem, &s->refused, ((partial_refusal){f->name, poor}));
      if (partial_worth(f, known)) /* recursion that counts is meant to stay */
        wick_push(s->run->tmp, &s->run->stops, (partial_stop){f, n->loc});
    }
  }
  if (i)
    partial_emit(s, of, n, i->name, leaves.n, leaves.at, out);
  else
    partial_emit(s, of, n, name, nin, in, out);
}

/* ---- nodes ---- */

static bool partial_region(wick_replay *r, const wick_node *n, const wick_region *g,
                           wick_value *out)
{
  const wick_node *y = &r->node[g->end - 1];
  wick_replay_nodes(r, g->begin, g->end - 1);
  for (uint32_t k = 0; k < n->nout; k++) out[k] = wick_replayed(r, y->in[k]);
  return true;
}

static bool partial_switch(wick_replay *r, const wick_node *n, const wick_value *in,
                           wick_value *out)
{
  partial_state *s = r->arg;
  const wick_node *made = partial_known(s, in[0], WICK_OP_construct);
  const wick_ctor *only = s->instance || s->depth ? partial_only_ctor(s, in[0]) : NULL;
  s->ndecided += made != NULL, s->nundecided += !made && !only;
  if (!made && !only) return false;
  const wick_region *g = &n->region[made ? made->attr[WICK_ATTR_construct_ctor].i : 0];
  wick_value first = made ? (wick_value){0} : partial_unpack(s, in[0], only);
  for (uint32_t k = 0; k < g->nparam; k++)
    r->to[g->first.id + k] = made ? made->in[k] : (wick_value){first.id + k};
  return partial_region(r, n, g, out);
}

static bool partial_if(wick_replay *r, const wick_node *n, const wick_value *in, wick_value *out)
{
  int64_t condition;
  partial_state *s = r->arg;
  bool known = partial_number(s, in[0], &condition);
  s->ndecided += known, s->nundecided += !known;
  if (!known) return false;
  wick_build_taken(r->b, &n->attr[!condition], n->loc);
  return partial_region(r, n, &n->region[!condition], out);
}

static bool partial_apply(partial_state *s, const wick_func *of, const wick_node *n,
                          const wick_value *in, wick_value *out)
{
  const wick_node *made = partial_known(s, in[0], WICK_OP_closure);
  if (!made) return false;
  uint32_t nin = made->nin + n->nin - 1u;
  wick_value *all = wick_new(s->b.mem, wick_value, nin + 1);
  for (uint32_t k = 0; k < made->nin; k++) all[k] = made->in[k];
  for (uint32_t k = 1; k < n->nin; k++) all[made->nin + k - 1] = in[k];
  partial_call(s, of, n, made->attr[WICK_ATTR_closure_callee].s, nin, all, out);
  return true;
}

/* A node on integers whose result inference knows becomes that number. */
static bool partial_fold(wick_replay *r, const wick_node *n, const wick_value *in, wick_value *out)
{
  wick_builder *b = r->b;
  const wick_op *op = wick_op_of(n);
  int64_t number;
  bool known = op->scalar && op->effect == WICK_PURE && n->op != WICK_OP_const;
  for (uint32_t k = 0; k < n->nin && known; k++) known = partial_number(r->arg, in[k], &number);
  if (!known) return false;
  wick_type want = r->value[n->first.id].type;
  out[0] = wick_build(b, n->op, n->nin, in, n->attr, op->typed, op->typed ? &want : NULL);
  if (!b->status && partial_number(r->arg, out[0], &number))
    out[0] = wick_build_const(b, wick_built_type(b, out[0]), 0, number);
  return true;
}

static bool partial_instead(wick_replay *r, const wick_node *n, const wick_value *in,
                            wick_value *out)
{
  wick_func of = {.value = r->value}; /* for types of results */
  switch (n->op) {
  case WICK_OP_switch: return partial_switch(r, n, in, out);
  case WICK_OP_if: return partial_if(r, n, in, out);
  case WICK_OP_apply: return partial_apply(r->arg, &of, n, in, out);
  case WICK_OP_call:
    partial_call(r->arg, &of, n, n->attr[WICK_ATTR_call_callee].s, n->nin, in, out);
    return true;
  default: return partial_fold(r, n, in, out);
  }
}

/* Returns the number of nodes in the instances of f. */
static uint32_t partial_nnode(const partial_run *run, const wick_func *f)
{
  uint32_t n = 0;
  for (uint32_t i = 0; i < run->instances.n; i++)
    if (run->instances.at[i].of == f) n += run->instances.at[i].nnode;
  return n;
}

/* Builds f and the instances that it needs; run->over says that there are too many. */
static wick_status partial_round(partial_run *run, const wick_func *f, wick_func **out)
{
  partial_state s = {.b = {.mem = run->mem}, .run = run};
  wick_replay r = {.b = &s.b, .instead = partial_instead, .arg = &s};
  run->over = NULL, run->nnode = 0;
  WICK_TRY(wick_replay_whole(&r, f, out));
  for (uint32_t i = 0; i < run->instances.n && !run->over; i++) {
    const partial_instance at = run->instances.at[i];
    uint32_t nnode = 0;
    bool built = partial_build(run, &at, &nnode);
    run->instances.at[i].nnode = nnode;
    if (!built || run->nnode > PARTIAL_INSTANCE_NODES ||
        partial_nnode(run, at.of) > PARTIAL_FUNCTION_NODES)
      if (!run->over) run->over = at.of;
  }
  return NULL;
}

static void partial_forget(partial_run *run)
{
  for (uint32_t i = 0; i < run->instances.n; i++)
    wick_module_remove(run->m, run->instances.at[i].name);
  run->instances.n = run->stops.n = 0;
}

static bool partial_stops(const partial_run *run, uint32_t n, const wick_func *f)
{
  for (uint32_t i = 0; i < n; i++)
    if (run->stops.at[i].of == f) return true;
  return false;
}

/* Returns the name that the user gave the function, without the numbers of its instances. */
static const char *partial_user_name(const partial_run *run, const wick_func *f)
{
  size_t n = strlen(f->name), digits = n;
  while (digits && f->name[digits - 1] >= '0' && f->name[digits - 1] <= '9') digits--;
  bool numbered = digits < n && digits > 1 && f->name[digits - 1] == '.';
  return numbered ? wick_str_dupn(run->tmp, f->name, digits - 1) : f->name;
}

/* Returns the parameter's name if it has one, else its number as people count. */
static const char *partial_user_param(const partial_run *run, const wick_func *f, uint32_t param)
{
  uint32_t name = f->value[1 + param].name;
  return name ? wick_str_printf(run->tmp, "`%s`", wick_names_get(&run->m->names, name))
              : wick_str_printf(run->tmp, "argument %u", param + 1);
}

static void partial_say(const partial_run *run, const wick_pass_context *pass, wick_loc at,
                        const wick_func *f, const char *what)
{
  const char *place = wick_loc_text(run->m, at);
  wick_push(pass->keep, pass->remarks,
            wick_str_printf(pass->keep, "%s%s%s %s", place, place[0] ? ": " : "",
                            partial_user_name(run, f), what));
}

/* Says which calls are not written out, or not for all that is known, because of the limits. */
static void partial_remark(const partial_run *run, const wick_pass_context *pass)
{
  for (uint32_t i = 0; i < run->stops.n && pass->remarks; i++) {
    const partial_stop *at = &run->stops.at[i];
    const char *what =
        wick_str_printf(pass->tmp,
                        "stays a call, though some of its arguments are known: written out it "
                        "exceeds %d nodes, %d calls inside each other, %d undecided branches "
                        "inside each other, or %d that are most of its branches, or it has no end",
                        PARTIAL_NODES, PARTIAL_DEPTH, PARTIAL_REGIONS, PARTIAL_UNDECIDED);
    if (!partial_stops(run, i, at->of)) partial_say(run, pass, at->loc, at->of, what);
  }
  for (uint32_t i = 0; i < run->general.n && pass->remarks; i++) {
    const partial_general *at = &run->general.at[i];
    const char *what = wick_str_printf(
        pass->tmp,
        "is not specialized for all that is known of %s: that has no end, or exceeds %d instances "
        "or %d nodes in instances",
        partial_user_param(run, at->of, at->param), PARTIAL_INSTANCES, PARTIAL_FUNCTION_NODES);
    if (!partial_stops(run, run->stops.n, at->of)) partial_say(run, pass, at->loc, at->of, what);
  }
}

wick_status wick_pass_partial_eval(const wick_pass_context *pass, const wick_func *f,
                                   wick_func **out)
{
  bool any = false;
  for (uint32_t i = 0; i < f->nnode && !any; i++)
    any = f->node[i].op == WICK_OP_call || f->node[i].op == WICK_OP_apply ||
          f->node[i].op == WICK_OP_switch;
  *out = (wick_func *)(uintptr_t)f;
  if (!any) return NULL;
  partial_run run = {.m = f->module, .mem = pass->mem, .tmp = pass->tmp};
  wick_status status = NULL;
  do {
    status = partial_round(&run, f, out);
    if (!run.over) break;
    run.nspent += run.nnode;
    run.off = run.nspent > PARTIAL_SPENT;
    if (!run.off) partial_generalize(&run, run.over);
    if (run.off) run.general.n = 0;
    partial_forget(&run);
  } while (true);
  if (status) {
    partial_forget(&run);
    return status;
  }
  partial_remark(&run, pass);
  wick_func_drop(f, *out, pass->tmp);
  return NULL;
}
