/* The cost model: the cycles of tiles in registers and of the stages of a group. */
#include "graph/group/cost.h"

#include <math.h>
#include <string.h>

#include "ir/op.h"

enum { COST_AXES = 16, COST_FUNCTION = 16 /* cost of a polynomial, in products */ };

double wick_cost_first(const wick_target *t, uint64_t nbytes)
{
  return wick_target_weights(t, nbytes) * t->vector_bytes / WICK_LINE;
}

/* Returns the cycles of a step's loads, or with `all` of its multiply-adds. Most vectors of a window that
 * moves along a row cross the end of a line. Lanes that are elements apart come from several such vectors, and
 * shuffles that join them take the place of multiply-adds. */
static double cost_pipe(const wick_target *t, const wick_cost_tile *x, bool all)
{
  static const double crossing = 1.75;
  bool apart = x->apart > 1;
  double n = (double)x->vectors, shuffles = apart ? n * (double)(x->apart - 1) : 0;
  if (all) return ((double)x->products + shuffles) / wick_target_products(t);
  if (apart || (x->fresh > 0 && x->fresh < 1)) n *= crossing * (apart ? (double)x->apart : 1);
  return (n + (double)x->positions) / wick_target_loads(t);
}

double wick_cost_fresh(const wick_func *g, const wick_stage *fold, const wick_node *read,
                       int64_t lanes, int64_t apart)
{
  double steps = 1, spans = 1;
  for (uint32_t k = 0; k < fold->naxis; k++) {
    int64_t step = wick_read_stride(g, read, fold->axis[k].sym);
    if (!fold->axis[k].reduce || step <= 0 || step >= lanes) continue;
    double n = (double)wick_max_i64(wick_dim_typical(g->module->dims, fold->axis[k].extent), 1);
    steps *= n, spans += (n - 1) * (double)step / (double)lanes;
  }
  return (spans + (apart > 1 ? (double)(apart - 1) : 0)) / steps;
}

double wick_cost_step(const wick_target *t, const wick_cost_tile *x)
{
  static const double loop = 0.3; /* of its counter and branch */
  double latency = wick_target_processor(t)->latency,
         stream = (double)x->vectors * (x->fresh > 0 ? x->fresh : 1) *
                  wick_target_stream(t, x->stream_bytes),
         products = cost_pipe(t, x, true), load = cost_pipe(t, x, false);
  return fmax(fmax(products, load), fmax(stream, latency)) + loop;
}

static wick_cost_limit cost_step_limit(const wick_target *t, const wick_cost_tile *x)
{
  wick_cost_tile near = *x;
  near.stream_bytes = 0;
  double products = cost_pipe(t, x, true), load = cost_pipe(t, x, false),
         latency = wick_target_processor(t)->latency;
  if (wick_cost_step(t, x) > wick_cost_step(t, &near)) return WICK_COST_STREAM;
  if (load > products && load > latency) return WICK_COST_LOADS;
  return products < latency ? WICK_COST_LATENCY : WICK_COST_PRODUCTS;
}

const char *wick_cost_limit_text(wick_cost_limit limit)
{
  static const char *const text[] = {"products", "loads", "weights from a farther cache",
                                     "latency",  "tails", "no template"};
  return text[limit];
}

/* ---- properties of stages ---- */

static const wick_node *cost_node(const wick_schedule *s, const wick_stage *st)
{
  return &s->group->node[st->node];
}

static const wick_region *cost_body(const wick_node *n)
{
  return &n->region[n->op == WICK_OP_fold ? 1 : 0];
}

static int64_t cost_extent(const wick_schedule *s, const wick_stage *st, uint32_t axis)
{
  wick_dim extent = st->axis[axis].extent;
  if (wick_dim_is_const(extent)) return extent.v;
  return wick_max_i64(wick_dim_typical(s->group->module->dims, extent), 1);
}

/* Returns the iterations that one dot product instruction does at once; 1 without such an
 * instruction. */
static int64_t cost_dot(const wick_schedule *s, const wick_stage *st)
{
  const wick_sloop *l = st->loops.n ? &st->loops.at[st->loops.n - 1] : NULL;
  return l && l->kind == WICK_DOT ? cost_extent(s, st, l->axis) : 1;
}

static double cost_numel(const wick_schedule *s, const wick_stage *st)
{
  double n = 1;
  for (uint32_t k = 0; k < st->naxis; k++) n *= (double)cost_extent(s, st, k);
  return n;
}

/* Counts the floating-point operations of an element (`flops`), and their cost in products. */
static void cost_operations(const wick_func *g, const wick_node *n, double *flops, double *products)
{
  const wick_region *body = cost_body(n);
  *flops = *products = 0;
  for (uint32_t i = body->begin; i < body->end; i++) {
    const wick_node *x = &g->node[i];
    const wick_op *op = wick_op_of(x);
    if (x->nout != 1 || x->op == WICK_OP_const || x->op == WICK_OP_read ||
        op->scalar == WICK_NOT_SCALAR || op->typed) /* a change of type is part of the load */
      continue;
    wick_elem e = wick_info_of(g, x->first)->elem;
    if (!wick_elem_is_float(e) && e != WICK_I32) continue; /* sums of products of bytes are i32 */
    *flops += op->flops ? op->flops : 1;
    *products += op->ulp > 0 ? COST_FUNCTION : 1;
  }
}

enum { COST_TRIPS = 16 }; /* assumed for a loop whose count is not known */

/* Returns how often the loop of a loop nest runs. */
static double cost_trips(const wick_func *g, const wick_node *loop)
{
  double bound[2];
  for (uint32_t k = 0; k < 2; k++) {
    const wick_node *n = NULL;
    for (uint32_t i = 0; i < g->nnode && !n; i++)
      if (loop->op == WICK_OP_for && g->node[i].nout && g->node[i].first.id == loop->in[k].id)
        n = &g->node[i];
    if (n && n->op == WICK_OP_const)
      bound[k] = (double)wick_const_imm(n)->i;
    else if (n && n->op == WICK_OP_index)
      bound[k] = (double)wick_dim_typical(g->module->dims, n->attr[WICK_ATTR_index_expr].dims[0]);
    else
      return COST_TRIPS;
  }
  return bound[1] > bound[0] ? bound[1] - bound[0] : 0;
}

/* Returns the cycles of a region of a loop nest: about one for each node. */
static double cost_walk(const wick_func *g, const wick_region *region)
{
  double cycles = 0;
  for (uint32_t i = region->begin; i < region->end; i = g->node[i].end) {
    const wick_node *n = &g->node[i];
    double inside = 0;
    for (uint32_t r = 0; r < n->nregion; r++) inside += cost_walk(g, &n->region[r]);
    if (n->op == WICK_OP_for || n->op == WICK_OP_while) inside *= cost_trips(g, n);
    cycles += inside + 1;
  }
  return cycles;
}

/* Returns the elements in a vector of the stage, 1 if it has no vector. A stage that is computed in
 * line has those of its readers. */
static int64_t cost_lanes(const wick_schedule *s, const wick_stage *st)
{
  const wick_stage *at = st->where == WICK_INLINE ? &s->stage[s->output] : st;
  for (uint32_t i = 0; i < at->loops.n; i++) {
    const wick_sloop *l = &at->loops.at[i];
    if (l->kind == WICK_VECTOR) return l->size ? l->size : cost_extent(s, at, l->axis);
  }
  return 1;
}

/* ---- tiles ---- */

typedef struct cost_axis {
  int64_t extent, tile; /* the tile is in vectors along a vector's axis */
  bool reduce, vector;
} cost_axis;

/* Returns how much of the axis the loops after `first` cover. */
static int64_t cost_covers(const wick_schedule *s, const wick_stage *st, uint32_t axis,
                           uint32_t first, bool registers)
{
  int64_t n = 1;
  for (uint32_t i = first; i < st->loops.n; i++) {
    const wick_sloop *l = &st->loops.at[i];
    if (l->axis != axis || (registers && l->kind != WICK_UNROLL && l->kind != WICK_VECTOR))
      continue;
    n *= l->size ? l->size : wick_ceildiv_i64(cost_extent(s, st, axis), l->factor);
  }
  return wick_min_i64(n, cost_extent(s, st, axis));
}

/* Finds the tile of a fold. If the fold is computed in registers inside its consumer's loops, these
 * loops define the tile; otherwise its own unrolled loops do. */
static void cost_tile_of(const wick_schedule *s, const wick_stage *fold, cost_axis *axis)
{
  const wick_stage *out = fold->where == WICK_AT ? &s->stage[fold->consumer] : NULL;
  bool inside = out && fold->store == WICK_STORE_REG;
  uint32_t first = 0, k = 0;
  if (inside)
    while (first < out->loops.n && strcmp(out->loops.at[first].name, fold->consumer_loop_name) != 0)
      first++;
  for (uint32_t a = 0; a < fold->naxis; a++) {
    bool reduce = fold->axis[a].reduce;
    axis[a] = (cost_axis){.extent = cost_extent(s, fold, a), .tile = 1, .reduce = reduce};
    if (!reduce && inside && k < out->naxis)
      axis[a].tile = cost_covers(s, out, k, first + 1, false);
    else if (!reduce)
      axis[a].tile = cost_covers(s, fold, a, 0, true);
    if (!reduce) k++;
  }
  int64_t lanes = cost_lanes(s, fold);
  for (uint32_t i = 0; i < fold->loops.n; i++)
    if (fold->loops.at[i].kind == WICK_VECTOR) {
      cost_axis *v = &axis[fold->loops.at[i].axis];
      v->vector = true, v->tile = wick_ceildiv_i64(v->tile, lanes);
      v->extent = wick_ceildiv_i64(v->extent, lanes);
    }
}

/* Counts the loads of one step: for each read, the size of the tile along the axes that the read
 * depends on. A read along the vector loads vectors. */
static void cost_loads(const wick_schedule *s, const wick_stage *fold, const cost_axis *axis,
                       const int64_t *size, int64_t lanes, wick_cost_tile *out)
{
  const wick_region *body = cost_body(cost_node(s, fold));
  wick_dims *dims = s->group->module->dims;
  for (uint32_t i = body->begin; i < body->end; i++) {
    const wick_node *r = &s->group->node[i];
    if (r->op != WICK_OP_read) continue;
    int64_t n = 1;
    bool vector = false;
    for (uint32_t a = 0; a < fold->naxis; a++) {
      bool uses = false;
      for (uint32_t k = 0; k < wick_read_index(r)->n && !uses; k++)
        uses = !wick_dim_eq(wick_read_index(r)->dims[k], WICK_DIM_ANY) &&
               wick_dim_uses(dims, wick_read_index(r)->dims[k], fold->axis[a].sym);
      if (uses && !axis[a].reduce) n *= size[a];
      vector = vector || (uses && axis[a].vector);
    }
    *(vector ? &out->vectors : &out->positions) += n;
    if (vector)
      out->fresh = fmax(out->fresh,
                        cost_dot(s, fold) > 1 ? 1 : wick_cost_fresh(s->group, fold, r, lanes, 1));
  }
}

/* Returns the cycles of all tiles, full ones and those at the ends. */
static double cost_sum(const wick_schedule *s, const wick_target *t, const wick_stage *fold,
                       double products, wick_cost *out)
{
  cost_axis axis[COST_AXES];
  int64_t size[COST_AXES], steps = 1;
  uint32_t naxis = fold->naxis < COST_AXES ? fold->naxis : COST_AXES;
  double cycles = 0, count = 1, per_cycle = wick_target_products(t);
  cost_tile_of(s, fold, axis);
  for (uint32_t a = 0; a < naxis; a++)
    if (axis[a].reduce) steps *= axis[a].extent;
  steps /= cost_dot(s, fold);
  for (uint32_t rest = 0; rest < 1u << naxis; rest++) { /* bit a: the last, smaller tile along a */
    wick_cost_tile x = {.products = 1};
    bool any = true;
    count = 1;
    for (uint32_t a = 0; a < naxis && any; a++) {
      bool last = rest >> a & 1;
      int64_t tile = axis[a].tile, n = axis[a].extent;
      size[a] = last ? n % tile : tile;
      any = axis[a].reduce ? !last : last ? size[a] != 0 : n >= tile;
      if (axis[a].reduce) continue;
      count *= last ? 1 : (double)(n / tile);
      x.products *= size[a];
    }
    if (!any) continue;
    cost_loads(s, fold, axis, size, cost_lanes(s, fold), &x);
    x.stream_bytes = (uint64_t)((double)(x.vectors * steps * t->vector_bytes) * x.fresh);
    double step = wick_cost_step(t, &x);
    if (products > 1) step = fmax(step, products * (double)x.products / per_cycle);
    cycles += count * step * (double)steps;
    if (!rest) out->tile = x, out->steps = steps;
  }
  return cycles;
}

/* Adds the cost of one stage. The slowest stage decides what limits the group. */
static void cost_stage(const wick_schedule *s, const wick_target *t, const wick_stage *st,
                       double *most, wick_cost *out)
{
  double flops, products, lanes = (double)cost_lanes(s, st), numel = cost_numel(s, st),
                          full = t->vector_bytes >= 8 ? t->vector_bytes / 4 : 1,
                          per_cycle = wick_target_products(t);
  cost_operations(s->group, cost_node(s, st), &flops, &products);
  out->flops += (uint64_t)(flops * numel);
  double cycles = numel * (products > 1 ? products : 1) / per_cycle / lanes,
         least = numel * products / per_cycle / full / (double)cost_dot(s, st);
  wick_cost found = {.limit = lanes > 1 ? WICK_COST_PRODUCTS : WICK_COST_SCALAR};
  if (st->loop_nest) cycles = numel / lanes * cost_walk(s->group, cost_body(cost_node(s, st)));
  if (st->fold && lanes > 1) {
    cycles = cost_sum(s, t, st, products, &found);
    found.limit = cost_step_limit(t, &found.tile);
    if (found.limit == WICK_COST_PRODUCTS && cycles > 1.2 * least) found.limit = WICK_COST_TAILS;
  }
  out->cycles += cycles;
  out->least += least;
  if (cycles <= *most) return;
  *most = cycles;
  out->limit = found.limit;
  if (st->fold) out->tile = found.tile, out->steps = found.steps;
}

wick_cost wick_cost_of(const wick_schedule *s, const wick_target *t)
{
  wick_cost out = {0};
  double most = 0;
  for (uint32_t i = 0; i < s->nstage; i++) cost_stage(s, t, &s->stage[i], &most, &out);
  return out;
}

/* ---- times ---- */

uint64_t wick_cost_nanoseconds(const wick_target *t, const wick_cost *c, uint64_t nbytes)
{
  const wick_processor *p = wick_target_processor(t);
  return (uint64_t)(fmax(c->cycles, (double)nbytes / WICK_LINE * p->line[2]) / p->ghz);
}

static double cost_memory_seconds(const wick_cost_machine *m, const wick_cost_facts *f)
{
  uint64_t bytes = f->bytes > m->cache_bytes       ? f->bytes
                   : m->constants > m->cache_bytes ? f->constants
                                                   : 0;
  return (double)bytes / m->bytes;
}

double wick_cost_floor(const wick_cost_machine *m, const wick_cost_facts *f)
{
  double compute = (double)f->flops / m->flops, memory = cost_memory_seconds(m, f);
  return compute > memory ? compute : memory;
}

/* Returns the seconds that a cycle of one core takes. */
static double cost_cycle(const wick_cost_machine *m)
{
  return 2 * m->products * m->lanes * m->threads / m->flops;
}

static double cost_cached_seconds(const wick_cost_machine *m, const wick_cost_facts *f)
{
  return (double)f->bytes / WICK_LINE * m->line[f->bytes > m->second_bytes] * cost_cycle(m);
}

double wick_cost_seconds(const wick_cost_machine *m, const wick_cost_facts *f)
{
  double threads = (double)wick_min_i64((int64_t)m->threads, (int64_t)(f->tasks ? f->tasks : 1)),
         compute = (double)f->cycles * cost_cycle(m), cached = cost_cached_seconds(m, f),
         core = (compute > cached ? compute : cached) / threads, memory = cost_memory_seconds(m, f);
  return core > memory ? core : memory;
}

const char *wick_cost_reason(const wick_cost_machine *m, const wick_cost_facts *f, double seconds)
{
  static const double enough = 0.7, small = 5e-6, close = 1.25;
  if (wick_cost_floor(m, f) >= enough * seconds) return "";
  if (seconds < small) return "small";
  if ((double)f->flops / m->flops < cost_memory_seconds(m, f)) return "memory";
  if (m->threads > 1 && f->tasks < 4 * (uint64_t)m->threads) return "few tasks for the threads";
  if (seconds > close * wick_cost_seconds(m, f)) return "slower than the model";
  return (double)f->cycles * cost_cycle(m) < cost_cached_seconds(m, f) ? "operands from the caches"
                                                                       : f->limit;
}
