/* The backward pass of loops with too many steps, or an unknown number of steps, to keep the
 * results of all of them.
 *
 * The steps are processed in chunks, from the last to the first. A chunk runs again from its first
 * state, now keeping its results, and then backwards. States are kept at a few checkpoints at equal
 * distances; the steps between a checkpoint and a chunk run again. With CHUNKS_MOST chunks and
 * checkpoints, and no more steps than the square of this, each chunk begins at a checkpoint, and
 * the loop runs three times in all. With more steps, some run more often, but memory stays the
 * same. */
#include "ir/expr.h"
#include "ops/gradient/grad_loop.h"

enum { CHUNKS_MOST = 256, CHUNKS_LEAST = 8 };

typedef struct chunks {
  const wick_loop_rule *l;
  wick_builder *b;
  int64_t nkept, checkpoints; /* steps of a chunk; number of states that are kept */
  wick_value steps;           /* steps of the loop */
  /* steps of a chunk, and between checkpoints; the states at the checkpoints */
  wick_value chunk, every, first;
} chunks;

static wick_value chunks_k(const chunks *c, int64_t i) { return wick_loop_number(c->l, i); }

/* Builds x / y, rounded up. x is not negative. */
static wick_value chunks_up(const chunks *c, wick_value x, wick_value y)
{
  wick_value more = expr_sub(c->b, y, chunks_k(c, 1));
  return expr_div(c->b, expr_add(c->b, x, more), y);
}

static int64_t chunks_within(int64_t n)
{
  return n < CHUNKS_LEAST ? CHUNKS_LEAST : n > CHUNKS_MOST ? CHUNKS_MOST : n;
}

static void chunks_steps(chunks *c)
{
  const wick_loop_rule *l = c->l;
  wick_builder *b = c->b;
  c->steps = l->a->in[0];
  if (l->ends) {
    wick_loop_run run = {.init = l->a->in + 1, .count = l->a->in[0], .ends = true};
    c->steps = (wick_value){wick_loop_forward(l, &run).id + l->ncarried};
  }
  c->steps = wick_build2(b, WICK_OP_max, c->steps, chunks_k(c, 0));
  c->chunk = chunks_k(c, c->nkept);
  wick_value n = chunks_up(c, c->steps, c->chunk),
             between = chunks_up(c, n, chunks_k(c, c->checkpoints));
  between = wick_build2(b, WICK_OP_max, between, chunks_k(c, 1));
  c->every = expr_mul(b, between, c->chunk);
}

/* Opens a loop over states. Returns the first parameter of its region. */
static wick_value chunks_open(const chunks *c, wick_value count, uint32_t n, const wick_value *init,
                              uint32_t nstacked, int64_t most)
{
  wick_builder *b = c->b;
  wick_value *in = wick_new(b->mem, wick_value, n + 1);
  wick_type *type = wick_new(b->mem, wick_type, n + 1);
  wick_dim rows = wick_dim_const(most);
  wick_attr attr[] = {[WICK_ATTR_loop_stacked] = {.i = nstacked},
                      [WICK_ATTR_loop_most] = {.n = nstacked > 0, .dims = &rows}};
  in[0] = count;
  for (uint32_t k = 0; k < n; k++) in[1 + k] = init[k];
  if (b->status) return count;
  for (uint32_t k = 0; k <= n; k++) type[k] = wick_built_type(b, in[k]);
  wick_build_open(b, WICK_OP_loop, n + 1, in, attr, 0, NULL);
  return wick_region_begin(b, n + 1, type);
}

/* Computes the states at the checkpoints. The steps after the last checkpoint are not run. */
static void chunks_checkpoints(chunks *c)
{
  const wick_loop_rule *l = c->l;
  wick_builder *b = c->b;
  uint32_t n = l->ncarried, ny = 1, nkept = 0;
  wick_value *y = wick_new(b->mem, wick_value, 2 * n + 1),
             *state = wick_new(b->mem, wick_value, n + 1), count = chunks_up(c, c->steps, c->every);
  for (uint32_t k = 0; k < n; k++) nkept += l->row[k].kept;
  wick_value last = expr_sub(b, count, chunks_k(c, 1)),
             p = chunks_open(c, count, n, l->a->in + 1, nkept, c->checkpoints);
  for (uint32_t k = 0; k < n; k++) state[k] = (wick_value){p.id + 1 + k};
  wick_value goes = wick_build2(b, WICK_OP_lt, p, last), none = chunks_k(c, 0);
  if (b->status) return;
  wick_loop_run run = {.init = state, .count = expr_where(b, goes, c->every, none)};
  run.begin = expr_mul(b, p, c->every);
  wick_value after = wick_loop_forward(l, &run);
  y[0] = wick_loop_true(l);
  for (uint32_t k = 0; k < n; k++) y[ny++] = (wick_value){after.id + k};
  for (uint32_t k = 0; k < n; k++)
    if (l->row[k].kept) y[ny++] = state[k];
  wick_yield(b, ny, y);
  c->first = (wick_value){wick_build_close(b).id + n};
}

/* Computes the state at the beginning of the chunk that starts with step `begin`. */
static void chunks_state(const chunks *c, wick_value begin, wick_value *state)
{
  const wick_loop_rule *l = c->l;
  wick_builder *b = c->b;
  wick_value in[2] = {c->first, expr_div(b, begin, c->every)}, from = expr_mul(b, in[1], c->every);
  wick_attr a[2] = {{.i = 0}, {.i = 0}};
  for (uint32_t k = 0; k < l->ncarried; k++) {
    state[k] = l->a->in[1 + k];
    if (!l->row[k].kept) continue;
    state[k] = wick_build(b, WICK_OP_dynamic_index, 2, in, a, 0, NULL);
    in[0].id++;
  }
  wick_loop_run run = {.init = state, .count = expr_sub(b, begin, from), .begin = from};
  wick_value first = wick_loop_forward(l, &run);
  for (uint32_t k = 0; k < l->ncarried; k++)
    if (l->row[k].kept) state[k] = (wick_value){first.id + k};
}

void wick_loop_chunks(const wick_loop_rule *l, int64_t nkept, const wick_value *init,
                      wick_value *out)
{
  wick_builder *b = l->b;
  chunks c = {.l = l, .b = b, .nkept = chunks_within(nkept)};
  c.checkpoints = chunks_within(wick_loop_steps_kept(l, l->ncarried));
  uint32_t nsum = l->nlive + l->nby, n = nsum + l->ntake;
  wick_value *y = wick_new(b->mem, wick_value, n + 2), *from = wick_new(b->mem, wick_value, n + 1),
             *state = wick_new(b->mem, wick_value, l->ncarried + 1);
  chunks_steps(&c);
  chunks_checkpoints(&c);
  for (uint32_t k = 0; k < nsum; k++) from[k] = init[k];
  for (uint32_t k = 0; k < l->ntake; k++) from[nsum + k] = wick_grad_fill(b, l->take[k].in[0], 0);
  wick_value count = chunks_up(&c, c.steps, c.chunk), last = expr_sub(b, count, chunks_k(&c, 1)),
             p = chunks_open(&c, count, n, from, 0, 0);
  for (uint32_t k = 0; k < n; k++) from[k] = (wick_value){p.id + 1 + k};
  wick_value begin = expr_mul(b, expr_sub(b, last, p), c.chunk), left = expr_sub(b, c.steps, begin);
  chunks_state(&c, begin, state);
  wick_loop_run run = {.init = state, .begin = begin, .nkept = c.nkept};
  run.count = wick_build2(b, WICK_OP_min, left, c.chunk);
  wick_value rows = {wick_loop_forward(l, &run).id + l->ncarried};
  wick_loop_backward(l, &run, rows, from, y + 1);
  y[0] = wick_loop_true(l);
  for (uint32_t k = nsum; k < n && !b->status; k++) {
    wick_value more = wick_loop_untake(l, &run, &l->take[k - nsum], y[1 + k]);
    y[1 + k] = expr_add(b, from[k], more);
  }
  wick_yield(b, n + 1, y);
  wick_value first = wick_build_close(b);
  for (uint32_t k = 0; k < n; k++) out[k] = (wick_value){first.id + k};
}
