/* Lowers branches and loops to branches and loops of the entry. Their conditions and counts are
 * read from buffers; their regions are lowered in place. */
#include <string.h>

#include "ir/element.h"
#include "lower/lower_state.h"

enum { LOWER_PAIRS = 16 }; /* most pairs of sizes that one kernel compares */

/* ---- counts ---- */

/* Returns the first slot of the counts of a branch or loop: in the program that is lowered, or in
 * its base program. */
static uint32_t lower_flow(lower_state *s, const wick_node *n)
{
  uint32_t kind = n->op == WICK_OP_if ? WICK_FLOW_IF : WICK_FLOW_LOOP, i = 0;
  const char *location = wick_loc_text(s->f->module, n->loc);
  while (i < s->out->flows.n &&
         (s->out->flows.at[i].kind != kind || strcmp(s->out->flows.at[i].location, location) != 0))
    i++;
  if (i == s->out->flows.n)
    wick_push(s->keep, &s->out->flows,
              (wick_program_flow){wick_str_dupn(s->keep, location, strlen(location)), kind});
  return i * WICK_FLOW_SLOTS;
}

void lower_flows(lower_state *s)
{
  for (uint32_t i = 0; i < s->f->nnode; i++)
    if (s->f->node[i].nregion) lower_flow(s, &s->f->node[i]);
}

/* Replaces counts[slot] by `op` of it and v. */
static void lower_count(lower_state *s, uint32_t slot, wick_opcode op, wick_value v)
{
  wick_type i64 = wick_type_scalar(s->f->module, WICK_I64, 1);
  wick_value in[3] = {s->counts, wick_build_i64(&s->b, slot), {0}};
  in[2] = wick_build(&s->b, WICK_OP_load, 2, in, NULL, 1, &i64);
  in[2] = wick_build2(&s->b, op, in[2], v);
  wick_build(&s->b, WICK_OP_store, 3, in, NULL, 0, NULL);
}

/* Counts the steps of a loop that has ended. */
static void lower_count_loop(lower_state *s, const wick_node *n, wick_value steps)
{
  if (!s->counts.id) return;
  uint32_t slot = lower_flow(s, n);
  lower_count(s, slot, WICK_OP_add, wick_build_i64(&s->b, 1));
  lower_count(s, slot + 1, WICK_OP_add, steps);
  lower_count(s, slot + WICK_FLOW_LEAST, WICK_OP_min, steps);
  lower_count(s, slot + WICK_FLOW_MOST, WICK_OP_max, steps);
}

/* ---- branches ---- */

void lower_wait(lower_state *s)
{
  if (s->pending) wick_build(&s->b, WICK_OP_wait, 0, NULL, NULL, 0, NULL);
  s->pending = false;
}

/* Lowers the instructions of a region. Values that they define are forgotten after it. */
static wick_status lower_region(lower_state *s, const wick_region *r)
{
  uint32_t nmade = s->made.n;
  for (uint32_t i = r->begin; i + 1 < r->end; i = s->f->node[i].end)
    WICK_TRY(lower_node(s, &s->f->node[i]));
  while (s->made.n > nmade) s->to[s->made.at[--s->made.n]] = (wick_value){0};
  return s->b.status;
}

/* Finds the number that a buffer of one element always contains. */
static bool lower_number(const lower_state *s, wick_value v, int64_t *out)
{
  uint32_t d = s->alias.definer[v.id];
  const wick_node *k = d == UINT32_MAX ? NULL : &s->f->node[d];
  if (!k || k->op != WICK_OP_const || !wick_const_imm(k)->constant) return false;
  const void *data = wick_constant_get(s->f->module, wick_const_imm(k)->constant)->data;
  if (data) *out = wick_load_int(wick_info_of(s->f, v)->elem, data, 0);
  return data != NULL;
}

/* Reads the number that a buffer of one element contains at run time. */
static wick_status lower_scalar(lower_state *s, const wick_node *n, wick_value v, wick_value *out)
{
  const wick_type_info *t = wick_info_of(s->f, v);
  wick_type type = wick_type_scalar(s->f->module, t->elem, 1);
  int64_t number;
  if (lower_number(s, v, &number)) {
    *out = wick_build_const(&s->b, type, 0, number);
    return s->b.status;
  }
  if (t->kind != WICK_BUFFER) return lower_fail(s, n, WICK_EUNSUPPORTED, "an operand is no buffer");
  lower_wait(s);
  wick_value in[2];
  WICK_TRY(lower_operand(s, n, v, &in[0]));
  in[1] = wick_build_i64(&s->b, 0);
  *out = wick_build(&s->b, WICK_OP_load, 2, in, NULL, 1, &type);
  return s->b.status;
}

/* Launches a kernel that compares numbers, before instructions that depend on the comparison. */
static wick_status lower_compare(lower_state *s, const wick_node *n, wick_lowered_kernel k,
                                 uint32_t nin, const wick_value *in)
{
  k.loc = n->loc, k.nlaunch = 1, k.nrun = s->steps;
  /* distinct from other keys, which begin with a group's parameters */
  wick_names_add(&s->keys, k.name, strlen(k.name));
  wick_push(s->keep, &s->out->kernels, k);
  wick_attr a[] = {[WICK_ATTR_launch_callee] = {.s = k.name},
                   [WICK_ATTR_launch_tasks] = {.i = 1},
                   [WICK_ATTR_launch_concurrent] = {.i = 0}};
  s->b.loc = n->loc;
  wick_build(&s->b, WICK_OP_launch, nin, in, a, 0, NULL);
  s->pending = s->fault = true;
  return s->b.status;
}

/* Fails the run if sizes that a branch requires to be equal differ. */
static wick_status lower_equal(lower_state *s, const wick_node *n, const wick_dim *pair,
                               uint32_t npair)
{
  wick_lowered_kernel k;
  wick_value in[2 * LOWER_PAIRS];
  WICK_TRY(wick_kernel_equal(s->f->module, npair, s->mem, &k));
  for (uint32_t i = 0; i < 2 * npair; i++) in[i] = lower_size(s, pair[i]);
  return lower_compare(s, n, k, 2 * npair, in);
}

/* Lowers region r of a branch. */
static wick_status lower_branch(lower_state *s, const wick_node *n, uint32_t r)
{
  if (s->counts.id) lower_count(s, lower_flow(s, n) + !r, WICK_OP_add, wick_build_i64(&s->b, 1));
  const wick_attr *equal = &n->attr[r];
  for (uint32_t i = 0; i + 1 < equal->n; i += 2 * LOWER_PAIRS) {
    uint32_t most = (equal->n - i) / 2;
    WICK_TRY(lower_equal(s, n, equal->dims + i, most < LOWER_PAIRS ? most : LOWER_PAIRS));
  }
  return lower_region(s, &n->region[r]);
}

wick_status lower_if(lower_state *s, const wick_node *n)
{
  wick_value cond;
  int64_t number;
  if (lower_number(s, n->in[0], &number)) return lower_branch(s, n, number ? 0 : 1);
  WICK_TRY(lower_scalar(s, n, n->in[0], &cond));
  wick_build_open(&s->b, WICK_OP_if, 1, &cond, NULL, 0, NULL);
  bool before = s->pending, after = false;
  for (uint32_t r = 0; r < 2; r++) {
    s->pending = before;
    wick_region_begin(&s->b, 0, NULL);
    WICK_TRY(lower_branch(s, n, r));
    wick_yield(&s->b, 0, NULL);
    after = after || s->pending;
  }
  wick_build_close(&s->b);
  s->pending = after;
  return s->b.status;
}

/* ---- loops ---- */

/* Writes the index to a buffer, if a kernel reads it. */
static wick_status lower_index(lower_state *s, const wick_node *n, wick_value i)
{
  wick_value in[3] = {{0}, {0}, i};
  if (n->nin < 2 || !n->in[1].id) return NULL;
  wick_value root = s->alias.memref[n->in[1].id].root;
  s->index[root.id] = i;
  if (s->alias.access[root.id].n < 2) return s->b.status;
  lower_wait(s);
  WICK_TRY(lower_operand(s, n, n->in[1], &in[0]));
  in[1] = wick_build_i64(&s->b, 0);
  wick_build(&s->b, WICK_OP_store, 3, in, NULL, 0, NULL);
  return s->b.status;
}

/* Fails the run if a loop makes more steps than it states. */
static wick_status lower_within(lower_state *s, const wick_node *n, wick_value count)
{
  wick_lowered_kernel k;
  if (!n->attr[WICK_ATTR_loop_most].n) return NULL;
  WICK_TRY(wick_kernel_within(s->f->module, s->mem, &k));
  wick_value in[2] = {count, lower_size(s, wick_loop_most(n->attr))};
  return lower_compare(s, n, k, 2, in);
}

wick_status lower_loop(lower_state *s, const wick_node *n)
{
  wick_type type[2] = {wick_type_scalar(s->f->module, WICK_I64, 1),
                       wick_type_scalar(s->f->module, WICK_BOOL, 1)};
  bool stops = n->nin > 2 && n->in[2].id;
  wick_value count, in[2] = {wick_build_i64(&s->b, 0), {0}};
  WICK_TRY(lower_scalar(s, n, n->in[0], &count));
  WICK_TRY(lower_within(s, n, count));
  uint32_t nmade = s->made.n;
  if (stops) {
    in[1] = wick_build_const(&s->b, type[1], 0, 1);
    wick_build_open(&s->b, WICK_OP_while, 2, in, NULL, 0, NULL);
    wick_value i = wick_region_begin(&s->b, 2, type);
    wick_value within = wick_build2(&s->b, WICK_OP_lt, i, count);
    wick_value both = wick_build2(&s->b, WICK_OP_and, within, (wick_value){i.id + 1});
    wick_yield(&s->b, 1, &both);
  } else {
    in[1] = count;
    wick_build_open(&s->b, WICK_OP_for, 2, in, NULL, 0, NULL);
  }
  wick_value i = wick_region_begin(&s->b, 1 + stops, type), next[2];
  s->pending = true; /* launches of the previous iteration may still be running */
  uint64_t outer = s->steps, all;
  int64_t known;
  if (lower_number(s, n->in[0], &known) && known > 0 &&
      !wick_mul_overflows(outer, (uint64_t)known, &all) && all < (uint64_t)1 << 40)
    s->steps = all;
  WICK_TRY(lower_index(s, n, i));
  WICK_TRY(lower_region(s, &n->region[0]));
  if (stops) {
    WICK_TRY(lower_scalar(s, n, n->in[2], &next[1]));
    next[0] = wick_build2(&s->b, WICK_OP_add, i, wick_build_i64(&s->b, 1));
  }
  wick_yield(&s->b, stops ? 2 : 0, next);
  while (s->made.n > nmade) s->to[s->made.at[--s->made.n]] = (wick_value){0};
  wick_value done = wick_build_close(&s->b);
  if (!stops) done = wick_build2(&s->b, WICK_OP_max, count, wick_build_i64(&s->b, 0));
  lower_count_loop(s, n, done);
  s->pending = true;
  s->steps = outer;
  return s->b.status;
}
