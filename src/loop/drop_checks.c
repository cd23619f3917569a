/* One walk in the order of execution finds what is decided, a second one copies the rest. The body of
 * a loop is walked on trial, with bounds of its carried values as assumptions; those that the next
 * values do not fulfil are dropped. */
#include "loop/drop_checks.h"

#include "ir/call.h"
#include "ir/copy.h"
#include "loop/integer_facts.h"

enum {
  DROP_DEPTH = 3,  /* of loops whose bodies are walked on trial */
  DROP_TRIALS = 3, /* then nothing is assumed of the carried values */
  DROP_ATOMS = 8,  /* comparisons in a condition */
  DROP_AGAIN = 16, /* nodes of an arm that is walked twice */
  DROP_WORK = 16,  /* nodes that are walked on trial, for each of the function */
};

typedef struct drop_state {
  wick_integer_facts facts;
  const wick_func *f;
  wick_arena *mem;
  uint8_t *decided; /* per node: a wick_truth of its condition, or of the bool that it computes */
  bool dead;        /* what comes next in the region never runs */
  uint32_t trials;  /* walks on trial around this one: nothing is decided */
  uint32_t depth;
  uint64_t work; /* nodes that may still be walked on trial */
} drop_state;

static void drop_nodes(drop_state *s, uint32_t begin, uint32_t end);

static const wick_node *drop_yield(const drop_state *s, const wick_region *r)
{
  return &s->f->node[r->end - 1];
}

static void drop_equal(drop_state *s, wick_value a, wick_value b)
{
  if (wick_is_integer(&s->facts, a)) wick_difference_equal(&s->facts.d, a.id, b.id, 0);
}

static void drop_decide(drop_state *s, const wick_node *n, wick_truth t)
{
  if (!s->trials && t) s->decided[n - s->f->node] = (uint8_t)t;
}

/* ---- if ---- */

typedef struct drop_arm {        /* what holds at the end of an arm */
  wick_interval *result, *apart; /* of its results, and of their distances from the other arm's */
  wick_interval watched[2];      /* of the numbers that the condition compares */
  bool dead;
} drop_arm;

/* Returns the numbers that a condition compares; 0: there is none. */
static void drop_watched(const drop_state *s, wick_value condition, wick_value *out)
{
  const wick_node *n = wick_integer_definer(&s->facts, condition);
  out[0] = out[1] = (wick_value){0};
  for (uint32_t k = 0; n && n->nin == 2 && k < 2; k++) {
    const wick_node *cast = wick_integer_definer(&s->facts, n->in[k]);
    wick_value v = cast && cast->op == WICK_OP_cast ? cast->in[0] : n->in[k];
    if (wick_is_integer(&s->facts, v)) out[k] = v;
  }
}

static bool drop_is_outside(const drop_state *s, wick_value v, const wick_node *n)
{
  uint32_t i = s->facts.definer[v.id];
  return i == UINT32_MAX || i < (uint32_t)(n - s->f->node);
}

static void drop_walk_arm(drop_state *s, const wick_node *n, uint32_t r)
{
  wick_integer_facts_assume(&s->facts, n->in[0], r == 0);
  drop_nodes(s, n->region[r].begin, n->region[r].end);
}

static drop_arm drop_arm_of(drop_state *s, const wick_node *n, uint32_t r,
                            const wick_value *watched)
{
  wick_differences *d = &s->facts.d;
  uint32_t mark = wick_differences_mark(d);
  drop_arm a = {.result = wick_new(s->mem, wick_interval, n->nout),
                .apart = wick_new(s->mem, wick_interval, n->nout)};
  s->dead = false;
  drop_walk_arm(s, n, r);
  const wick_node *mine = drop_yield(s, &n->region[r]), *other = drop_yield(s, &n->region[1 - r]);
  for (uint32_t k = 0; k < n->nout; k++) {
    if (!wick_is_integer(&s->facts, mine->in[k])) continue;
    a.result[k] = wick_difference_interval(d, mine->in[k].id);
    a.apart[k] = (wick_interval){INT64_MIN, INT64_MAX};
    if (drop_is_outside(s, other->in[k], n))
      a.apart[k] = wick_integer_facts_apart(&s->facts, mine->in[k], other->in[k]);
  }
  for (uint32_t k = 0; k < 2; k++)
    if (watched[k].id) a.watched[k] = wick_difference_interval(d, watched[k].id);
  a.dead = s->dead;
  wick_differences_rewind(d, mark);
  return a;
}

static wick_interval drop_union(wick_interval a, wick_interval b)
{
  return (wick_interval){a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
}

/* Goes on with one arm alone. A large one that was walked before is not walked again. */
static void drop_only(drop_state *s, const wick_node *n, uint32_t r, bool again)
{
  if (again && n->region[r].end - n->region[r].begin > DROP_AGAIN)
    wick_integer_facts_assume(&s->facts, n->in[0], r == 0);
  else
    drop_walk_arm(s, n, r);
  for (uint32_t k = 0; k < n->nout; k++)
    drop_equal(s, (wick_value){n->first.id + k}, drop_yield(s, &n->region[r])->in[k]);
}

static void drop_join(drop_state *s, const wick_node *n, const drop_arm *a,
                      const wick_value *watched)
{
  for (uint32_t k = 0; k < n->nout; k++) {
    wick_value v = {n->first.id + k};
    if (!wick_is_integer(&s->facts, v)) continue;
    wick_integer_facts_within(&s->facts, v, drop_union(a[0].result[k], a[1].result[k]));
    for (uint32_t r = 0; r < 2; r++) {
      wick_value other = drop_yield(s, &n->region[1 - r])->in[k];
      if (drop_is_outside(s, other, n))
        wick_integer_facts_beside(&s->facts, v, other, a[r].apart[k]);
    }
  }
  for (uint32_t k = 0; k < 2; k++)
    if (watched[k].id)
      wick_integer_facts_within(&s->facts, watched[k],
                                drop_union(a[0].watched[k], a[1].watched[k]));
}

static void drop_if(drop_state *s, const wick_node *n)
{
  wick_truth t = wick_integer_facts_truth(&s->facts, n->in[0]);
  drop_decide(s, n, t);
  if (t) {
    drop_only(s, n, t == WICK_TRUE ? 0 : 1, false);
    return;
  }
  wick_value watched[2];
  drop_watched(s, n->in[0], watched);
  bool dead = s->dead;
  drop_arm a[2];
  for (uint32_t r = 0; r < 2; r++) a[r] = drop_arm_of(s, n, r, watched);
  s->dead = dead;
  if (a[0].dead && a[1].dead)
    s->dead = true;
  else if (a[0].dead || a[1].dead)
    drop_only(s, n, a[0].dead ? 1 : 0, true);
  else
    drop_join(s, n, a, watched);
}

/* ---- loops ---- */

/* A loop whose regions have the carried values as their last parameters. `begun` adds what holds when
 * an iteration begins. */
typedef struct drop_loop {
  const wick_node *n;
  const wick_value *init;
  uint32_t ncarried, skip; /* parameters of the body before the carried values */
  const wick_region *body;
  wick_list(wick_difference) kept; /* while: comparisons of the carried values that always hold */
} drop_loop;

static wick_value drop_carried(const drop_loop *l, const wick_region *r, uint32_t k)
{
  return (wick_value){r->first.id + l->skip + k};
}

/* What is assumed of a carried value: it is at least, or at most, its first value or a number. */
typedef struct drop_assumption {
  uint32_t carried;
  wick_value than; /* 0: the number 0 */
  bool most;
  int64_t c;
  bool refuted;
} drop_assumption;

typedef struct drop_assumptions {
  wick_list(drop_assumption) all;
} drop_assumptions;

static void drop_assume_all(drop_state *s, const drop_loop *l, drop_assumptions *out)
{
  uint64_t work = (uint64_t)DROP_TRIALS * (l->n->end - (uint32_t)(l->n - s->f->node));
  if (s->depth > DROP_DEPTH || work > s->work) return;
  for (uint32_t k = 0; k < l->ncarried; k++) {
    if (!wick_is_integer(&s->facts, l->init[k])) continue;
    wick_interval x = wick_difference_interval(&s->facts.d, l->init[k].id);
    for (uint32_t most = 0; most < 2; most++) {
      wick_push(s->mem, &out->all, (drop_assumption){k, l->init[k], most, 0, false});
      int64_t c = most ? x.hi : x.lo;
      if (c != INT64_MIN && c != INT64_MAX)
        wick_push(s->mem, &out->all, (drop_assumption){k, {0}, most, c, false});
    }
  }
}

static void drop_add_assumed(drop_state *s, const drop_assumption *a, wick_value v)
{
  if (a->refuted) return;
  if (a->most)
    wick_difference_add(&s->facts.d, v.id, a->than.id, a->c);
  else
    wick_difference_add(&s->facts.d, a->than.id, v.id, -a->c);
}

static bool drop_holds(drop_state *s, const drop_assumption *a, wick_value v)
{
  int64_t c;
  if (v.id == a->than.id) return true;
  if (a->most) return wick_difference_most(&s->facts.d, v.id, a->than.id, &c) && c <= a->c;
  return wick_difference_least(&s->facts.d, v.id, a->than.id, &c) && c >= a->c;
}

/* Adds what holds when an iteration begins, and walks it. */
static void drop_iteration(drop_state *s, const drop_loop *l)
{
  const wick_node *n = l->n;
  if (n->op == WICK_OP_for) {
    wick_integer_facts_add(&s->facts, n->in[0].id, l->body->first.id, 0);
    wick_integer_facts_add(&s->facts, l->body->first.id, n->in[1].id, -1);
  } else {
    const wick_region *test = &n->region[0];
    for (uint32_t k = 0; k < l->ncarried; k++)
      drop_equal(s, drop_carried(l, test, k), drop_carried(l, l->body, k));
    drop_nodes(s, test->begin, test->end);
    for (uint32_t i = 0; i < l->kept.n; i++) {
      const wick_difference *d = &l->kept.at[i];
      wick_integer_facts_add(&s->facts, d->a, d->b, d->c);
    }
    wick_integer_facts_assume(&s->facts, drop_yield(s, test)->in[0], true);
  }
  drop_nodes(s, l->body->begin, l->body->end);
}

static void drop_trial(drop_state *s, const drop_loop *l, drop_assumptions *a, bool *out_refuted)
{
  uint32_t mark = wick_differences_mark(&s->facts.d);
  *out_refuted = false;
  s->work -= l->n->end - (uint32_t)(l->n - s->f->node);
  s->trials++;
  for (uint32_t i = 0; i < a->all.n; i++)
    drop_add_assumed(s, &a->all.at[i], drop_carried(l, l->body, a->all.at[i].carried));
  drop_iteration(s, l);
  const wick_node *next = drop_yield(s, l->body);
  for (uint32_t i = 0; i < a->all.n; i++) {
    drop_assumption *one = &a->all.at[i];
    if (one->refuted || drop_holds(s, one, next->in[one->carried])) continue;
    one->refuted = *out_refuted = true;
  }
  s->trials--;
  wick_differences_rewind(&s->facts.d, mark);
}

static void drop_loop_body(drop_state *s, const drop_loop *l)
{
  drop_assumptions a = {{0}};
  bool refuted = true, dead = s->dead;
  s->depth++;
  drop_assume_all(s, l, &a);
  for (uint32_t i = 0; refuted && a.all.n && i < DROP_TRIALS; i++) drop_trial(s, l, &a, &refuted);
  for (uint32_t i = 0; refuted && i < a.all.n; i++) a.all.at[i].refuted = true;
  uint32_t mark = wick_differences_mark(&s->facts.d);
  for (uint32_t i = 0; i < a.all.n; i++)
    drop_add_assumed(s, &a.all.at[i], drop_carried(l, l->body, a.all.at[i].carried));
  if (!s->trials) drop_iteration(s, l);
  wick_differences_rewind(&s->facts.d, mark);
  for (uint32_t i = 0; i < a.all.n; i++)
    drop_add_assumed(s, &a.all.at[i], (wick_value){l->n->first.id + a.all.at[i].carried});
  s->dead = dead;
  s->depth--;
}

static void drop_for(drop_state *s, const wick_node *n)
{
  drop_loop l = {.n = n, .init = n->in + 2, .ncarried = n->nout, .skip = 1, .body = n->region};
  drop_loop_body(s, &l);
}

/* ---- while ---- */

/* Replaces a value at the end of the body by what it is when the next iteration begins. Returns false
 * if it is only known in this iteration. */
static bool drop_carry(const drop_state *s, const drop_loop *l, uint32_t v, uint32_t *out_v,
                       int64_t *out_c)
{
  const wick_node *next = drop_yield(s, l->body),
                  *d = v ? wick_integer_definer(&s->facts, (wick_value){v}) : NULL;
  *out_v = v;
  *out_c = 0;
  if (!v) return true;
  for (uint32_t k = 0; k < l->ncarried; k++)
    if (next->in[k].id == v) {
      *out_v = drop_carried(l, l->body, k).id;
      return true;
    }
  if (d && d->op == WICK_OP_const) {
    *out_v = 0;
    *out_c = wick_const_imm(d)->i;
    return true;
  }
  if (d) return d < l->n;
  for (uint32_t i = (uint32_t)(l->n - s->f->node); i < l->n->end; i++)
    for (uint32_t r = 0; r < s->f->node[i].nregion; r++) {
      const wick_region *region = &s->f->node[i].region[r];
      if (v >= region->first.id && v < region->first.id + region->nparam) return false;
    }
  return true;
}

/* Collects the comparisons that hold if v is true. */
static void drop_atoms(drop_state *s, drop_loop *l, wick_value v, uint32_t depth)
{
  const wick_node *n = wick_integer_definer(&s->facts, v);
  wick_difference d;
  int64_t a, b;
  if (!n || depth == DROP_ATOMS || l->kept.n >= DROP_ATOMS) return;
  if (n->op == WICK_OP_and) {
    for (uint32_t k = 0; k < 2; k++) drop_atoms(s, l, n->in[k], depth + 1);
  } else if (n->op == WICK_OP_if) {
    uint32_t k = v.id - n->first.id;
    wick_value x = drop_yield(s, &n->region[0])->in[k], y = drop_yield(s, &n->region[1])->in[k];
    const wick_node *no = wick_integer_definer(&s->facts, y);
    if (!no || no->op != WICK_OP_const || wick_const_imm(no)->i) return;
    drop_atoms(s, l, n->in[0], depth + 1);
    drop_atoms(s, l, x, depth + 1);
  } else if (n->nin == 2 && wick_integer_comparison(&s->facts, n, true, &d) &&
             drop_carry(s, l, d.a, &d.a, &a) && drop_carry(s, l, d.b, &d.b, &b) &&
             !wick_sub_overflows(d.c, a, &d.c) && !wick_add_overflows(d.c, b, &d.c)) {
    wick_push(s->mem, &l->kept, d);
  }
}

/* Returns true for a carried value without which the loop ends: its test is a conjunction. */
static bool drop_is_flag(const drop_state *s, wick_value test, wick_value v)
{
  const wick_node *n = wick_integer_definer(&s->facts, test);
  if (test.id == v.id) return true;
  for (uint32_t k = 0; n && n->op == WICK_OP_and && k < 2; k++)
    if (drop_is_flag(s, n->in[k], v)) return true;
  return false;
}

/* A carried flag that the body computes from a condition holds when the next iteration begins. Keeps
 * those comparisons of it that hold when the first iteration begins, too. */
static void drop_flags(drop_state *s, drop_loop *l)
{
  const wick_region *test = &l->n->region[0];
  wick_value condition = drop_yield(s, test)->in[0];
  bool flag = false;
  uint32_t mark = wick_differences_mark(&s->facts.d), kept = 0;
  for (uint32_t k = 0; k < l->ncarried; k++) {
    if (!drop_is_flag(s, condition, drop_carried(l, test, k))) continue;
    drop_atoms(s, l, drop_yield(s, l->body)->in[k], 0);
    wick_integer_facts_assume(&s->facts, l->init[k], true);
    flag = true;
  }
  for (uint32_t k = 0; flag && k < l->ncarried; k++) {
    drop_equal(s, drop_carried(l, test, k), l->init[k]);
    drop_equal(s, drop_carried(l, l->body, k), l->init[k]);
  }
  s->trials++;
  if (flag) drop_nodes(s, test->begin, test->end);
  s->trials--;
  if (flag) wick_integer_facts_assume(&s->facts, condition, true);
  for (uint32_t i = 0; i < l->kept.n; i++) {
    wick_difference d = l->kept.at[i];
    int64_t c;
    if (wick_difference_most(&s->facts.d, d.a, d.b, &c) && c <= d.c) l->kept.at[kept++] = d;
  }
  l->kept.n = kept;
  wick_differences_rewind(&s->facts.d, mark);
}

static void drop_while(drop_state *s, const wick_node *n)
{
  drop_loop l = {.n = n, .init = n->in, .ncarried = n->nin, .body = &n->region[1]};
  drop_flags(s, &l);
  drop_loop_body(s, &l);
}

/* ---- the walk ---- */

static void drop_node(drop_state *s, const wick_node *n)
{
  if (n->op == WICK_OP_if) {
    drop_if(s, n);
  } else if (n->op == WICK_OP_for) {
    drop_for(s, n);
  } else if (n->op == WICK_OP_while) {
    drop_while(s, n);
  } else if (n->op == WICK_OP_fail) {
    wick_truth t = wick_integer_facts_truth(&s->facts, n->in[0]);
    drop_decide(s, n, t);
    if (t == WICK_TRUE) s->dead = true;
    if (!t) wick_integer_facts_assume(&s->facts, n->in[0], false);
  } else {
    wick_integer_facts_define(&s->facts, n);
  }
}

static void drop_nodes(drop_state *s, uint32_t begin, uint32_t end)
{
  for (uint32_t i = begin; i < end; i = s->f->node[i].end) drop_node(s, &s->f->node[i]);
}

/* Copies the nodes but those of arms that never run, and checks that never fail. */
static wick_status drop_copy(const drop_state *s, wick_func **out)
{
  wick_copier c = wick_copy_begin(s->f, s->mem);
  wick_list(const wick_node *) open = {0}; /* branches of which one arm is left */
  for (uint32_t i = 0; i < s->f->nnode; i++) {
    const wick_node *n = &s->f->node[i], *around = open.n ? open.at[open.n - 1] : NULL;
    wick_truth t = (wick_truth)s->decided[i];
    if (n->op == WICK_OP_fail && t == WICK_FALSE) continue;
    if (n->op == WICK_OP_if && t) {
      wick_push(s->mem, &open, n);
      i = n->region[t == WICK_TRUE ? 0 : 1].begin - 1;
    } else if (around &&
               i + 1 == around->region[s->decided[around - s->f->node] == WICK_TRUE ? 0 : 1].end) {
      for (uint32_t k = 0; k < n->nin; k++) c.to[around->first.id + k] = c.to[n->in[k].id];
      open.n--;
      i = around->end - 1;
    } else {
      wick_copy_node(&c, n);
    }
  }
  return wick_copy_finish(&c, out);
}

wick_status wick_pass_drop_checks(const wick_pass_context *pass, const wick_func *f,
                                  wick_func **out)
{
  *out = (wick_func *)(uintptr_t)f;
  bool fails = false, decided = false;
  for (uint32_t i = 0; i < f->nnode; i++) fails = fails || f->node[i].op == WICK_OP_fail;
  if (!fails || !wick_func_is_procedure(f)) return NULL;
  drop_state s = {.f = f,
                  .mem = pass->mem,
                  .decided = wick_new(pass->mem, uint8_t, f->nnode),
                  .work = (uint64_t)DROP_WORK * f->nnode};
  wick_integer_facts_begin(&s.facts, f, pass->mem);
  drop_nodes(&s, 0, f->nnode);
  for (uint32_t i = 0; i < f->nnode; i++) decided = decided || s.decided[i];
  return decided ? drop_copy(&s, out) : NULL;
}
