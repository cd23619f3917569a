/* The derivative of a loop runs its steps backwards.
 *
 * The loop runs again, and keeps for every step the values that it carries and the results that are
 * expensive to compute. A second loop goes through these from the last step to the first. It
 * computes the rest of each step again, and carries the cotangents of the values that the first
 * loop carries, and those of the values that it captures, to which each step adds. If a step reads
 * only its own part of a sequence, it gives the cotangent of this part: these are stacked and
 * reversed. */
#include "ops/gradient/grad_loop.h"

#include "ir/element.h"
#include "ir/expr.h"

enum { LOOP_BYTES = 1 << 28, LOOP_LOOK = 8 };

/* ---- numbers ---- */

wick_value wick_loop_number(const wick_loop_rule *l, int64_t i)
{
  return wick_build_const(l->b, wick_type_tensor(l->b->module, WICK_I64, 0, NULL), 0, i);
}

wick_value wick_loop_true(const wick_loop_rule *l)
{
  return wick_build_const(l->b, wick_type_tensor(l->b->module, WICK_BOOL, 0, NULL), 0, 1);
}

static const wick_node *loop_definer(const wick_builder *b, wick_value v)
{
  for (uint32_t i = b->nodes.n; i-- > 0;) {
    const wick_node *n = &b->nodes.at[i];
    if (n->nout && v.id >= n->first.id && v.id < n->first.id + n->nout) return n;
  }
  return NULL;
}

bool wick_loop_known(const wick_builder *b, wick_value v, int64_t *out)
{
  const wick_node *n = loop_definer(b, v);
  if (!n || n->op != WICK_OP_const) return false;
  const wick_imm *imm = wick_const_imm(n);
  const void *data = imm->constant ? wick_constant_bytes(b->module, imm->constant) : NULL;
  if (imm->constant && !data) return false;
  *out = data ? wick_load_int(wick_built_info(b, v)->elem, data, 0) : imm->i;
  return true;
}

/* Returns an upper bound of an i64; INT64_MAX if none is known. */
static int64_t loop_bound(const wick_builder *b, wick_value v, uint32_t look)
{
  const wick_value_info *info = &b->values.at[v.id];
  int64_t lo, hi = INT64_MAX, other;
  if (info->content && info->ncontent == 1)
    wick_dim_range(b->module->dims, info->content[0], &lo, &hi);
  if (wick_loop_known(b, v, &lo)) return lo;
  const wick_node *n = look ? loop_definer(b, v) : NULL;
  if (!n) return hi;
  if (n->op == WICK_OP_min) {
    for (uint32_t k = 0; k < 2; k++)
      if ((other = loop_bound(b, n->in[k], look - 1)) < hi) hi = other;
  } else if (n->op == WICK_OP_max || n->op == WICK_OP_where) {
    lo = loop_bound(b, n->in[n->nin - 2], look - 1);
    other = loop_bound(b, n->in[n->nin - 1], look - 1);
    lo = lo > other ? lo : other;
    hi = lo < hi ? lo : hi;
  } else if (n->op == WICK_OP_reshape) {
    other = loop_bound(b, n->in[0], look - 1);
    hi = other < hi ? other : hi;
  }
  return hi;
}

/* ---- values that are kept ---- */

static uint64_t loop_bytes(const wick_loop_rule *l, wick_value v)
{
  const wick_module *m = l->b->module;
  wick_dim n = wick_type_numel(l->b->module, wick_built_type(l->b, v));
  int64_t lo, hi;
  wick_dim_range(m->dims, n, &lo, &hi);
  return wick_elem_bytes(wick_built_info(l->b, v)->elem,
                         hi < LOOP_BYTES ? (uint64_t)hi : LOOP_BYTES);
}

int64_t wick_loop_steps_kept(const wick_loop_rule *l, uint32_t nrow)
{
  uint64_t nbytes = 1;
  for (uint32_t k = 0; k < nrow; k++)
    if (l->row[k].kept) nbytes += loop_bytes(l, l->row[k].v);
  return (int64_t)(LOOP_BYTES / nbytes);
}

bool wick_grad_is_cheap(const wick_builder *b, const wick_node *n)
{
  const wick_op *op = wick_op_of(n);
  if (op->scalar || op->view_of.kind || op->rounding_transparent || n->op == WICK_OP_const ||
      !n->nout)
    return true;
  for (uint32_t k = 0; k < n->nout; k++) {
    const wick_type_info *t = wick_built_info(b, (wick_value){n->first.id + k});
    if (t->kind != WICK_TENSOR || t->rank >= WICK_MAX_RANK || t->elem == WICK_STRING) return true;
  }
  return false;
}

static void loop_rows(wick_loop_rule *l)
{
  wick_builder *b = l->b;
  uint32_t most = l->ncarried;
  for (uint32_t i = l->g.begin; i < l->g.end; i++) most += b->nodes.at[i].nout;
  l->row = wick_new(b->mem, wick_loop_value, most + 1u);
  for (uint32_t k = 0; k < l->ncarried; k++) {
    wick_value v = {l->g.first.id + 1 + k};
    const wick_type_info *t = wick_built_info(b, v);
    l->row[l->nrow++] = (wick_loop_value){v, l->yield[1 + k].id != v.id};
    if (t->kind != WICK_TENSOR || t->rank >= WICK_MAX_RANK)
      wick_build_fail(
          b, WICK_EUNSUPPORTED,
          "it carries a value that is not a tensor of at most %d dimensions: it has no derivative",
          WICK_MAX_RANK - 1);
  }
  for (uint32_t i = l->g.begin; i < l->g.end - 1; i = b->nodes.at[i].end) {
    const wick_node *n = &b->nodes.at[i];
    for (uint32_t k = 0; k < n->nout && !wick_grad_is_cheap(b, n); k++)
      l->row[l->nrow++] = (wick_loop_value){{n->first.id + k}, true};
  }
}

/* ---- values that have cotangents ---- */

static void loop_mark(const wick_loop_rule *l, bool *useful, const wick_value *v, uint32_t n)
{
  uint32_t first = l->g.first.id, end = l->a->node->first.id;
  for (uint32_t k = 0; k < n; k++)
    if (v[k].id >= first && v[k].id < end) useful[v[k].id - first] = true;
}

/* Finds the values of the body that a value with a cotangent depends on. */
static void loop_useful(const wick_loop_rule *l, bool *useful)
{
  const wick_builder *b = l->b;
  for (uint32_t k = 0; k < l->ncarried + l->nstacked; k++)
    if (k < l->ncarried ? l->live[k] : l->a->dout[k].id != 0)
      loop_mark(l, useful, &l->yield[1 + k], 1);
  for (uint32_t i = l->g.end - 1;
       i-- > l->g.begin;) { /* also counts nodes of regions, which may find more values */
    const wick_node *n = &b->nodes.at[i];
    bool any = false;
    for (uint32_t k = 0; k < n->nout; k++) any = any || useful[n->first.id + k - l->g.first.id];
    for (uint32_t j = i; j < n->end && any; j++)
      loop_mark(l, useful, b->nodes.at[j].in, b->nodes.at[j].nin);
  }
}

static void loop_live(wick_loop_rule *l)
{
  wick_builder *b = l->b;
  uint32_t size = l->a->node->first.id - l->g.first.id;
  bool *useful = wick_new(b->mem, bool, size + 1);
  l->live = wick_new(b->mem, bool, l->ncarried + 1);
  for (uint32_t k = 0; k < l->ncarried; k++) l->live[k] = l->a->dout[k].id != 0;
  for (bool again = true; again;) {
    again = false;
    loop_useful(l, useful);
    for (uint32_t k = 0; k < l->ncarried; k++) {
      bool live = useful[1 + k] && wick_grad_active(l->a, (wick_value){l->g.first.id + 1 + k});
      again = again || (live && !l->live[k]);
      l->live[k] = l->live[k] || live;
    }
  }
  for (uint32_t k = 0; k < l->ncarried; k++) l->nlive += l->live[k];
}

/* Returns true if the node selects the step's part of a value that is long enough for all steps. */
static bool loop_takes(const wick_loop_rule *l, const wick_node *n)
{
  if (n->op != WICK_OP_dynamic_index || n->in[1].id != l->g.first.id) return false;
  wick_dim size = wick_built_info(l->b, n->in[0])->dim[n->attr[WICK_ATTR_dynamic_index_axis].i];
  for (uint32_t k = 0; k < l->a->ncaptured; k++)
    if (l->a->captured[k].id == n->in[0].id) return wick_dim_is_const(size) && size.v >= l->most;
  return false;
}

static void loop_captured(wick_loop_rule *l)
{
  wick_builder *b = l->b;
  const wick_adjoint *a = l->a;
  l->by = wick_new(b->mem, wick_value, a->ncaptured + 1u);
  l->take = wick_new(b->mem, wick_node, l->g.end - l->g.begin);
  for (uint32_t i = l->g.begin; i < l->g.end - 1; i = b->nodes.at[i].end)
    if (loop_takes(l, &b->nodes.at[i])) l->take[l->ntake++] = b->nodes.at[i];
  for (uint32_t k = 0; k < a->ncaptured; k++) {
    uint32_t uses = 0;
    for (uint32_t i = l->g.begin; i < l->g.end; i++)
      for (uint32_t j = 0; j < b->nodes.at[i].nin; j++)
        uses += b->nodes.at[i].in[j].id == a->captured[k].id;
    for (uint32_t i = 0; i < l->ntake; i++) uses -= l->take[i].in[0].id == a->captured[k].id;
    if (uses) l->by[l->nby++] = a->captured[k];
  }
}

/* ---- running the loop again ---- */

static wick_value loop_index(const wick_loop_rule *l, const wick_loop_run *run, wick_value i)
{
  return run->begin.id ? expr_add(l->b, run->begin, i) : i;
}

static bool loop_keeps(const wick_loop_rule *l, const wick_loop_run *run, uint32_t k)
{
  return run->nkept && l->row[k].kept;
}

wick_value wick_loop_forward(const wick_loop_rule *l, const wick_loop_run *run)
{
  wick_builder *b = l->b;
  uint32_t n = l->ncarried, ny = 1;
  wick_value *in = wick_new(b->mem, wick_value, n + 2),
             *y = wick_new(b->mem, wick_value, n + l->nstacked + l->nrow + 3), p;
  wick_type *type = wick_new(b->mem, wick_type, n + 2);
  wick_dim rows = wick_dim_const(run->nkept);
  wick_attr attr[] = {[WICK_ATTR_loop_stacked] = {.i = run->nstacked},
                      [WICK_ATTR_loop_most] = {.n = 0, .dims = &rows}};
  for (uint32_t k = 0; k < l->nrow; k++) attr[WICK_ATTR_loop_stacked].i += loop_keeps(l, run, k);
  attr[WICK_ATTR_loop_most].n = attr[WICK_ATTR_loop_stacked].i > 0;
  in[0] = run->count;
  for (uint32_t k = 0; k < n; k++) in[1 + k] = run->init[k];
  if (run->ends) in[1 + n] = wick_loop_number(l, 0);
  if (b->status) return in[0];
  for (uint32_t k = 0; k < n + 1 + run->ends; k++) type[k] = wick_built_type(b, in[k]);
  wick_build_open(b, WICK_OP_loop, n + 1 + run->ends, in, attr, 0, NULL);
  p = wick_region_begin(b, n + 1 + run->ends, type);
  wick_replay r = wick_replay_begin(b);
  r.to[l->g.first.id] = loop_index(l, run, p);
  for (uint32_t k = 0; k < n; k++) r.to[l->g.first.id + 1 + k] = (wick_value){p.id + 1 + k};
  wick_replay_nodes(&r, l->g.begin, l->g.end - 1);
  y[0] = wick_replayed(&r, l->yield[0]);
  if (l->ends && !run->ends) y[0] = wick_loop_true(l);
  for (uint32_t k = 0; k < n; k++) y[ny++] = wick_replayed(&r, l->yield[1 + k]);
  if (run->ends) y[ny++] = expr_add(b, p, wick_loop_number(l, 1));
  for (uint32_t k = 0; k < run->nstacked; k++) y[ny++] = wick_replayed(&r, l->yield[1 + n + k]);
  for (uint32_t k = 0; k < l->nrow; k++)
    if (loop_keeps(l, run, k)) y[ny++] = wick_replayed(&r, l->row[k].v);
  wick_yield(b, ny, y);
  return wick_build_close(b);
}

/* ---- running it backwards ---- */

typedef struct loop_back {
  const wick_loop_rule *l;
  const wick_loop_run *run;
  bool whole; /* there are as many rows as steps, so rows are counted from the end */
  wick_value rows, step, row, index; /* step of this loop; its row; step of the other loop */
  wick_value *state;
  wick_grad_kept *kept;
  uint32_t nsum; /* values of `by` that are summed after the loop: which, and how */
  uint32_t *summed;
  wick_loop_sum *sum;
} loop_back;

/* Returns the row of this step of `whole`, along axis 0. */
static wick_value loop_row(const loop_back *s, wick_value all, wick_value row)
{
  wick_value in[2] = {all, s->whole ? s->step : row};
  wick_attr a[2] = {{.i = 0}, {.i = s->whole}};
  return wick_build(s->l->b, WICK_OP_dynamic_index, 2, in, a, 0, NULL);
}

/* If n selects the step's part of a value that is as long as the loop, selects it counting from the
 * end as well, and returns true. */
static bool loop_from_end(const loop_back *s, wick_replay *r, const wick_node *n)
{
  wick_builder *b = s->l->b;
  if (!s->whole || n->op != WICK_OP_dynamic_index || n->in[1].id != s->l->g.first.id) return false;
  wick_value in[2] = {wick_replayed(r, n->in[0]), s->step};
  wick_attr a[] = {
      [WICK_ATTR_dynamic_index_axis] = n->attr[WICK_ATTR_dynamic_index_axis],
      [WICK_ATTR_dynamic_index_reverse] = {.i = !n->attr[WICK_ATTR_dynamic_index_reverse].i}};
  if (!wick_dim_is(wick_built_info(b, in[0])->dim[n->attr[WICK_ATTR_dynamic_index_axis].i],
                   s->run->nkept))
    return false;
  r->to[n->first.id] = wick_build(b, WICK_OP_dynamic_index, 2, in, a, 0, NULL);
  return true;
}

/* Copies the body, with kept values instead of the nodes that would compute them. Returns its first
 * node. */
static uint32_t loop_body(loop_back *s, wick_replay *r, uint32_t *nkept)
{
  const wick_loop_rule *l = s->l;
  wick_builder *b = l->b;
  wick_value at = s->rows, *row = wick_new(b->mem, wick_value, l->nrow + 1);
  for (uint32_t k = 0; k < l->nrow; k++)
    if (l->row[k].kept) row[k] = loop_row(s, at, s->row), at.id++;
  for (uint32_t k = 0; k < l->ncarried; k++)
    s->state[k] = row[k].id ? row[k] : wick_build_again(b, s->run->init[k]);
  *r = wick_replay_begin(b);
  if (b->status) return 0;
  r->to[l->g.first.id] = s->index;
  for (uint32_t k = 0; k < l->ncarried; k++) r->to[l->g.first.id + 1 + k] = s->state[k];
  uint32_t begin = b->nodes.n, next = l->ncarried;
  for (uint32_t i = l->g.begin; i < l->g.end - 1 && !b->status; i = r->node[i].end) {
    const wick_node *n = &r->node[i];
    if (!loop_from_end(s, r, n)) wick_replay_nodes(r, i, n->end);
    for (; next < l->nrow && l->row[next].v.id >= n->first.id &&
           l->row[next].v.id < n->first.id + n->nout;
         next++) {
      wick_value *to = &r->to[l->row[next].v.id];
      s->kept[(*nkept)++] = (wick_grad_kept){*to, row[next]};
      *to = row[next];
    }
  }
  return begin;
}

/* Sets the cotangents of the body's results: the carried cotangents, and rows of the cotangents of
 * the loop's stacked results. */
static void loop_seeds(const loop_back *s, const wick_replay *r, const wick_value *cotangent,
                       wick_grad_request *q, wick_value *of, wick_value *seed)
{
  const wick_loop_rule *l = s->l;
  for (uint32_t k = 0; k < l->ncarried; k++)
    if (l->live[k]) of[q->nof] = wick_replayed(r, l->yield[1 + k]), seed[q->nof++] = *cotangent++;
  for (uint32_t k = l->ncarried; k < l->ncarried + l->nstacked && !l->b->status; k++) {
    wick_value all = l->a->dout[k];
    if (!all.id) continue;
    loop_back t = *s;
    t.whole = s->whole && wick_dim_is(wick_built_info(l->b, all)->dim[0], s->run->nkept);
    of[q->nof] = wick_replayed(r, l->yield[1 + k]);
    seed[q->nof++] = loop_row(&t, all, s->index);
  }
  q->of = of, q->cotangent = seed;
}

/* Adds the contribution of the step to the sum of cotangents of `by` k. It adds nothing if the sum
 * is computed after the loop. */
static wick_value loop_add(loop_back *s, uint32_t begin, uint32_t k, wick_value sum, wick_value v)
{
  wick_builder *b = s->l->b;
  wick_loop_sum *way = &s->sum[s->nsum];
  if (!v.id || b->status) return sum;
  if (!s->whole || !wick_loop_sum_of(s->run, b, begin, v, way)) {
    wick_value scattered = wick_loop_scattered(b, begin, sum, v);
    return scattered.id ? scattered : expr_add(b, sum, v);
  }
  s->summed[s->nsum++] = k;
  return sum;
}

/* Builds the step from the cotangents p[0 .. nlive + nby), and yields. The last results are the
 * factors of sums. */
static void loop_step(loop_back *s, const wick_value *p)
{
  const wick_loop_rule *l = s->l;
  wick_builder *b = l->b;
  uint32_t most = l->ncarried + l->nstacked + 1, nwrt = l->nlive + l->nby + l->ntake, n = 0;
  wick_value *wrt = wick_new(b->mem, wick_value, nwrt + 1),
             *y = wick_new(b->mem, wick_value, nwrt + 2 * l->nby + 1);
  wick_grad_request q = {.nwrt = nwrt, .wrt = wrt, .kept = s->kept};
  wick_replay r;
  q.begin = loop_body(s, &r, &q.nkept);
  q.end = b->nodes.n;
  if (b->status) return;
  for (uint32_t k = 0; k < l->ncarried; k++)
    if (l->live[k]) wrt[n++] = s->state[k];
  for (uint32_t k = 0; k < l->nby; k++) wrt[n++] = l->by[k];
  for (uint32_t k = 0; k < l->ntake; k++) wrt[n++] = wick_replayed(&r, l->take[k].first);
  wick_value *of = wick_new(b->mem, wick_value, most), *seed = wick_new(b->mem, wick_value, most);
  loop_seeds(s, &r, p, &q, of, seed);
  wick_grad_build(b, &q, y + 1);
  y[0] = wick_loop_true(l);
  for (uint32_t k = 0; k < nwrt && !b->status; k++)
    if (k >= l->nlive && k < l->nlive + l->nby)
      y[1 + k] = loop_add(s, q.begin, k - l->nlive, p[k], y[1 + k]);
    else if (!y[1 + k].id)
      y[1 + k] = wick_grad_fill(b, wrt[k], 0);
  n = 1 + nwrt;
  for (uint32_t k = 0; k < 2 * s->nsum; k++) y[n++] = s->sum[k / 2].factor[k % 2];
  wick_yield(b, n, y);
}

void wick_loop_backward(const wick_loop_rule *l, const wick_loop_run *run, wick_value rows,
                        const wick_value *init, wick_value *out)
{
  wick_builder *b = l->b;
  uint32_t n = l->nlive + l->nby;
  int64_t count;
  wick_value *in = wick_new(b->mem, wick_value, n + 1), *p = wick_new(b->mem, wick_value, n + 1);
  wick_type *type = wick_new(b->mem, wick_type, n + 1);
  loop_back s = {.l = l, .run = run, .rows = rows};
  s.whole = wick_loop_known(b, run->count, &count) && count == run->nkept && !run->begin.id;
  s.state = wick_new(b->mem, wick_value, l->ncarried + 1);
  s.kept = wick_new(b->mem, wick_grad_kept, l->nrow + 1);
  s.summed = wick_new(b->mem, uint32_t, l->nby + 1);
  s.sum = wick_new(b->mem, wick_loop_sum, l->nby + 1);
  wick_value last = expr_sub(b, run->count, wick_loop_number(l, 1));
  in[0] = run->count;
  for (uint32_t k = 0; k < n; k++) in[1 + k] = init[k];
  if (b->status) return;
  for (uint32_t k = 0; k <= n; k++) type[k] = wick_built_type(b, in[k]);
  wick_build_open(b, WICK_OP_loop, 1 + n, in, NULL, 0, NULL);
  s.step = wick_region_begin(b, 1 + n, type);
  for (uint32_t k = 0; k < n; k++) p[k] = (wick_value){s.step.id + 1 + k};
  s.row = expr_sub(b, last, s.step);
  s.index = loop_index(l, run, s.row);
  loop_step(&s, p);
  wick_dim nkept = wick_dim_const(run->nkept);
  wick_attr attr[] = {[WICK_ATTR_loop_stacked] = {.i = l->ntake + 2 * s.nsum},
                      [WICK_ATTR_loop_most] = {.n = 1, .dims = &nkept}};
  if (attr[WICK_ATTR_loop_stacked].i) wick_build_attrs(b, attr);
  wick_value first = wick_build_close(b);
  for (uint32_t k = 0; k < n + l->ntake && !b->status; k++) out[k] = (wick_value){first.id + k};
  for (uint32_t k = 0; k < s.nsum && !b->status; k++) {
    wick_value factors[2] = {{first.id + n + l->ntake + 2 * k}};
    factors[1].id = factors[0].id + 1;
    wick_value *to = &out[l->nlive + s.summed[k]];
    *to = wick_loop_summed(b, &s.sum[k], *to, factors);
  }
}

/* ---- selected values ---- */

/* Puts rows in the order of the steps, with zeros for rows without a step: row i of the result is
 * row count - 1 - (i - begin). */
static wick_value loop_turned(const wick_loop_rule *l, const wick_loop_run *run, bool reverse,
                              wick_dim size, wick_value rows)
{
  wick_builder *b = l->b;
  wick_value i = wick_grad_count(b, size, 0, 1), last = wick_loop_number(l, size.v - 1);
  if (reverse) i = expr_sub(b, last, i);
  if (run->begin.id) i = expr_sub(b, i, run->begin);
  wick_value end = expr_sub(b, run->count, wick_loop_number(l, 1)), first = wick_loop_number(l, 0);
  i = expr_sub(b, end, i);
  wick_value after = wick_build2(b, WICK_OP_ge, i, first),
             before = wick_build2(b, WICK_OP_le, i, end);
  wick_value there = wick_build2(b, WICK_OP_and, after, before);
  wick_value in[2] = {rows, wick_build2(b, WICK_OP_max, i, first)};
  in[1] = wick_build2(b, WICK_OP_min, in[1], wick_loop_number(l, run->nkept - 1));
  wick_attr axis = {.i = 0};
  wick_value v = wick_build(b, WICK_OP_gather, 2, in, &axis, 0, NULL);
  if (b->status) return v;
  wick_dim dim[WICK_MAX_RANK] = {size};
  uint32_t rank = wick_built_info(b, v)->rank;
  for (uint32_t k = 1; k < rank; k++) dim[k] = wick_dim_const(1);
  there = wick_grad_reshape(b, there, rank, dim);
  return b->status ? v : expr_where(b, there, v, expr_k(b, v, 0));
}

/* Reverses axis 0 of x. */
static wick_value loop_flip(wick_builder *b, wick_value x)
{
  const wick_type_info *t = wick_built_info(b, x);
  return wick_grad_slice(b, x, 0, wick_dim_const(t->dim[0].v - 1), t->dim[0], -1);
}

wick_value wick_loop_untake(const wick_loop_rule *l, const wick_loop_run *run,
                            const wick_node *take, wick_value rows)
{
  wick_builder *b = l->b;
  if (b->status) return rows;
  uint32_t axis = (uint32_t)take->attr[WICK_ATTR_dynamic_index_axis].i;
  bool reverse = take->attr[WICK_ATTR_dynamic_index_reverse].i != 0;
  int64_t count, perm[WICK_MAX_RANK];
  const wick_type_info *t = wick_built_info(b, take->in[0]);
  if (wick_loop_known(b, run->count, &count) && count == run->nkept && count == t->dim[axis].v &&
      !run->begin.id)
    rows = reverse ? rows : loop_flip(b, rows);
  else
    rows = loop_turned(l, run, reverse, t->dim[axis], rows);
  for (uint32_t k = 0; k < t->rank; k++) perm[k] = k == axis ? 0 : k < axis ? k + 1 : k;
  return wick_grad_transpose(b, rows, t->rank, perm);
}

/* ---- the rule ---- */

/* Differentiates all steps at once. For each `take`, out has the cotangent of the value that it
 * selects from. The loop that runs again has all results of the first one, and replaces it
 * (graph/merge_loops.h). */
static void loop_at_once(const wick_loop_rule *l, const wick_value *init, wick_value *out)
{
  wick_loop_run run = {.init = l->a->in + 1,
                       .count = l->a->in[0],
                       .ends = l->ends,
                       .nstacked = l->nstacked,
                       .nkept = l->nstacked ? wick_loop_most(l->a->node->attr).v : l->most};
  wick_value first = wick_loop_forward(l, &run), steps = {first.id + l->ncarried};
  if (l->ends) run.count = steps;
  wick_value rows = {steps.id + l->ends + l->nstacked};
  wick_loop_backward(l, &run, rows, init, out);
  wick_value *taken = out + l->nlive + l->nby;
  for (uint32_t k = 0; k < l->ntake; k++)
    taken[k] = wick_loop_untake(l, &run, &l->take[k], taken[k]);
}

static void loop_give(const wick_loop_rule *l, const wick_value *out)
{
  wick_adjoint *a = l->a;
  wick_builder *b = l->b;
  for (uint32_t k = 0; k < l->ncarried; k++)
    if (l->live[k]) a->din[1 + k] = *out++;
  for (uint32_t i = 0; i < l->nby + l->ntake && !b->status; i++) {
    wick_value x = i < l->nby ? l->by[i] : l->take[i - l->nby].in[0], *to = a->dcaptured;
    for (uint32_t k = 0; k < a->ncaptured; k++)
      if (a->captured[k].id == x.id) to = &a->dcaptured[k];
    *to = to->id ? expr_add(b, *to, out[i]) : out[i];
  }
}

void wick_grad_loop(wick_adjoint *a)
{
  wick_builder *b = a->b;
  const wick_node *n = a->node;
  wick_loop_rule l = {.a = a, .b = b, .g = n->region[0], .ncarried = n->nin - 1u};
  int64_t on;
  if (b->status) return;
  l.nstacked = n->nout - l.ncarried;
  l.yield = b->nodes.at[l.g.end - 1].in;
  l.ends = !wick_loop_known(b, l.yield[0], &on) || !on;
  l.most = loop_bound(b, a->in[0], LOOP_LOOK);
  wick_dim most = wick_loop_most(n->attr);
  if (l.nstacked && !wick_dim_is_const(most)) {
    wick_build_fail(b, WICK_EUNSUPPORTED,
                    "a loop with an unbounded number of rows has no derivative yet");
    return;
  }
  if (l.nstacked) l.most = wick_min_i64(l.most, most.v);
  if (l.most <= 0) {
    for (uint32_t k = 0; k < l.ncarried; k++) a->din[1 + k] = a->dout[k];
    return;
  }
  loop_live(&l);
  loop_captured(&l);
  loop_rows(&l);
  uint32_t nout = l.nlive + l.nby + l.ntake;
  wick_value *init = wick_new(b->mem, wick_value, nout + 1),
             *out = wick_new(b->mem, wick_value, nout + 1);
  uint32_t i = 0;
  for (uint32_t k = 0; k < l.ncarried; k++)
    if (l.live[k])
      init[i++] = a->dout[k].id ? a->dout[k] : wick_grad_fill(b, (wick_value){n->first.id + k}, 0);
  for (uint32_t k = 0; k < l.nby; k++) init[i++] = wick_grad_fill(b, l.by[k], 0);
  int64_t nkept = wick_loop_steps_kept(&l, l.nrow);
  if (l.most <= nkept)
    loop_at_once(&l, init, out);
  else
    wick_loop_chunks(&l, nkept, init, out);
  loop_give(&l, out);
}
