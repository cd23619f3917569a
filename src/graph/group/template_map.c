/* The template for groups without a fold. They are computed element by element. */
#include "graph/group/template_state.h"

enum { MAP_PACKED = 4, MAP_PERIOD = 8 };

/* Returns true if four registers of f32 that are rounded to bytes are packed into one: nothing but the
 * rounded numbers is read (a zero point is a number then). */
static bool map_packs(const template_state *t, uint32_t axis, int64_t lanes)
{
  bool rounds = false;
  for (uint32_t i = 0; i < t->g->nnode; i++)
    rounds = rounds || t->g->node[i].op == WICK_OP_round_even;
  int64_t wide = MAP_PACKED * lanes;
  return rounds && t->g->nparam == 1 && t->knobs.vectors < 2 &&
         wide == (int64_t)t->t->vector_bytes && wick_elem_storage[template_elem(t)].bits == 8 &&
         template_most(t, t->out, axis) >= wide;
}

/* Returns the lanes along an axis of the output, of all vectors that are computed side by side. */
static int64_t map_lanes(template_state *t, uint32_t axis, int64_t lanes)
{
  return map_packs(t, axis, lanes) ? MAP_PACKED * lanes : template_wide(t, axis, lanes);
}

/* Returns true if each index of a read moves by known distances along `n` neighbours of an axis,
 * from each multiple of n on. */
static bool map_is_known(wick_dims *dims, const wick_node *read, wick_dim sym, int64_t n)
{
  wick_dim first =
               wick_dim_mul(dims, wick_dim_symbol(dims, "period", 0, INT32_MAX), wick_dim_const(n)),
           coef, rest;
  for (uint32_t k = 0; k < wick_read_index(read)->n; k++) {
    wick_dim d = wick_read_index(read)->dims[k];
    if (wick_dim_eq(d, WICK_DIM_ANY) || wick_dim_linear(dims, d, sym, &coef, &rest)) continue;
    wick_dim from = wick_dim_substitute(dims, d, 1, &sym, &first);
    for (int64_t i = 1; i < n; i++) {
      wick_dim at = wick_dim_add(dims, first, wick_dim_const(i));
      at = wick_dim_sub(dims, wick_dim_substitute(dims, d, 1, &sym, &at), from);
      if (!wick_dim_is_const(at)) return false;
    }
  }
  return true;
}

/* Returns the number of vectors after which the pattern repeats in which reads take elements along
 * an axis (loop/nest_pattern.c): with 3 rows that alternate, 3 vectors of 16 lanes. 1: there is no
 * pattern, or it is the same for each vector. */
static int64_t map_period(const template_state *t, uint32_t axis, int64_t lanes)
{
  int64_t most = 1;
  for (uint32_t s = 0; s <= t->s->output; s++) {
    const wick_stage *st = &t->s->stage[s];
    const wick_node *n = template_node(t, st);
    for (uint32_t i = st->node + 1; i < n->end && axis < st->naxis; i++) {
      const wick_node *r = &t->g->node[i];
      int64_t period = most;
      if (r->op != WICK_OP_read) continue;
      while (period <= MAP_PERIOD &&
             !map_is_known(t->g->module->dims, r, st->axis[axis].sym, period * lanes))
        period++;
      if (period <= MAP_PERIOD) most = period;
    }
  }
  return most;
}

/* Returns the number of elements after which the index of each read of the only axis is the same
 * again, unless it moves along the axis; 0 if there is none. */
static int64_t map_again(const template_state *t)
{
  wick_dims *dims = t->g->module->dims;
  wick_dim sym = t->out->axis[0].sym, coef, rest;
  int64_t again = 0;
  for (uint32_t i = t->out->node + 1; i < template_node(t, t->out)->end; i++) {
    const wick_node *r = &t->g->node[i];
    for (uint32_t k = 0; r->op == WICK_OP_read && k < wick_read_index(r)->n; k++) {
      wick_dim d = wick_read_index(r)->dims[k];
      if (wick_dim_eq(d, WICK_DIM_ANY) || wick_dim_linear(dims, d, sym, &coef, &rest)) continue;
      wick_dim_form f = wick_dim_get(dims, d);
      if (f.nterm != 1 || f.term->natom != 1) return 0;
      const wick_atom *mod = wick_dim_atom(dims, f.term->atom[0]);
      if (mod->kind != WICK_ATOM_MOD || !wick_dim_eq(mod->arg[0], sym) ||
          !wick_dim_is_const(mod->arg[1]) || (again && again != mod->arg[1].v))
        return 0;
      again = mod->arg[1].v;
    }
  }
  return again && template_extent(t, t->out, 0) % again == 0 ? again : 0;
}

/* Splits the only axis into chunks, so that there are several tasks. Where indices begin again, so does a
 * loop: in between, vectors are contiguous. */
static void map_flat(template_state *t)
{
  enum { CHUNK = 4096 };
  const char *o = t->out->name, *name = template_loop(t, t->out, 0);
  int64_t lanes = map_lanes(t, 0, template_vector_lanes(t, 0)),
          period = lanes > 1 ? map_period(t, 0, lanes) : 1, vectors = period * lanes,
          again = period == 1 && lanes > 1 ? map_again(t) : 0;
  if (again < 2 * lanes) again = 0;
  if (again) vectors = again;
  wick_text_printf(&t->steps, "split %s.%s chunk:%lld; ", o, name,
                   (long long)(wick_max_i64(CHUNK / vectors, 1) * vectors));
  if (again && again <= CHUNK / 2)
    wick_text_printf(&t->steps, "split %s.chunk again:%lld; ", o, (long long)again);
  const char *loop = again && again <= CHUNK / 2 ? "again" : "chunk";
  if (lanes > 1) wick_text_printf(&t->steps, "split %s.%s lane:%lld; ", o, loop, (long long)lanes);
  if (period > 1) wick_text_printf(&t->steps, "split %s.chunk vb:%lld; ", o, (long long)period);
  if (lanes > 1) wick_text_printf(&t->steps, "vector %s.lane; ", o);
  if (period > 1) wick_text_printf(&t->steps, "unroll %s.vb; ", o);
  wick_text_printf(&t->steps, "parallel %s.%s; ", o, name);
}

/* Returns true if elements of the last axis that are left after whole vectors are computed in a masked
 * vector: one by one, they would take longer. Elements that only move are stored together then. */
static bool map_masks(const template_state *t, uint32_t axis, int64_t lanes)
{
  bool computes = false;
  for (uint32_t i = 0; i < t->g->nnode; i++) {
    const wick_node *n = &t->g->node[i];
    if (n->op == WICK_OP_fail) return false; /* what lanes that are masked compute may fail */
    computes = computes || (wick_op_of(n)->scalar != WICK_NOT_SCALAR && n->nin);
  }
  return computes && lanes > 1 && !template_varies(t->out, axis) &&
         template_extent(t, t->out, axis) % lanes > 1 && template_has_masks(t);
}

/* Returns true if elements only move: nothing is computed from them. */
static bool map_moves(const template_state *t)
{
  for (uint32_t i = 0; i < t->g->nnode; i++)
    if (wick_op_of(&t->g->node[i])->scalar != WICK_NOT_SCALAR && t->g->node[i].nin) return false;
  return true;
}

/* Returns the lanes of a vector that holds the two elements of an axis, which move together; 1 if there
 * is none. */
static int64_t map_pair(const template_state *t, uint32_t axis)
{
  enum { PAIR = 2 };
  bool pair = t->lanes >= PAIR && template_is(t->out, axis, PAIR) && map_moves(t) &&
              template_is_contiguous(t, axis);
  return pair ? PAIR : 1;
}

/* Returns true if elements of the last axis that are left after whole vectors are in a vector that
 * overlaps with the one before it. Elements that only move may be stored again. */
static bool map_overlaps(const template_state *t, uint32_t axis, int64_t lanes)
{
  return map_moves(t) && !template_varies(t->out, axis) &&
         template_extent(t, t->out, axis) % lanes && template_is_contiguous(t, axis);
}

enum { MAP_VECTORS = 16, MAP_TASKS = 64 };

/* Puts several rows into a task if rows are short: the indices that depend on outer axes are
 * computed once for all of them. Enough tasks are left for the threads. `inside` is the first axis
 * of a row, which has that many vectors. Returns the first axis whose loop is in the task. */
static uint32_t map_rows(template_state *t, uint32_t inside, int64_t vectors)
{
  int64_t tasks = 1, extent = 1;
  for (uint32_t k = 0; k < inside; k++) {
    if (template_varies(t->out, k)) return inside;
    tasks *= template_extent(t, t->out, k);
  }
  for (; inside > 0 && vectors < MAP_VECTORS; inside--) {
    extent = template_extent(t, t->out, inside - 1);
    if (tasks / extent < MAP_TASKS) break;
    if (!t->cut) t->cut = template_cut(t, inside - 1, 1);
    vectors *= extent, tasks /= extent;
  }
  int64_t rows = wick_ceildiv_i64(MAP_VECTORS, vectors);
  if (inside > 0 && vectors < MAP_VECTORS && tasks / rows >= MAP_TASKS)
    wick_text_printf(&t->steps, "split %s.%s rows:%lld; ", t->out->name,
                     template_loop(t, t->out, inside - 1), (long long)template_even(extent, rows));
  return inside;
}

/* Returns the axis along which the output's pairs are neighbours in the tensor that is read; n if it is
 * the axis before the pair, or if there is none. */
static uint32_t map_pairs_across(const template_state *t, uint32_t n)
{
  enum { PAIR = 2 };
  const wick_node *read = NULL;
  for (uint32_t i = t->out->node + 1; i < template_node(t, t->out)->end; i++)
    if (t->g->node[i].op == WICK_OP_read) read = &t->g->node[i];
  for (uint32_t k = 0; read && k + 2 < n; k++)
    if (wick_read_stride(t->g, read, t->out->axis[k].sym) == PAIR) return k;
  return n;
}

/* Moves a line of pairs from one row of the operand at a time, into as many rows of the output: else each
 * pair would be read from another line. Returns false if pairs are read in the order of the output. */
static bool map_pairs(template_state *t)
{
  enum { PAIRS = 8 };
  uint32_t n = t->out->naxis, across = map_pairs_across(t, n);
  const char *o = t->out->name;
  if (across == n || template_most(t, t->out, across) < PAIRS) return false;
  const char *loop = template_loop(t, t->out, across), *rows = template_loop(t, t->out, n - 2),
             *pair = template_loop(t, t->out, n - 1);
  wick_text_printf(&t->steps, "split %s.%s pairs:%d; ", o, loop, PAIRS);
  if (template_varies(t->out, across) || template_extent(t, t->out, across) % PAIRS)
    wick_text_printf(&t->steps, "tail %s.%s overlap; ", o, loop);
  template_order_begin(t, t->out);
  for (uint32_t k = 0; k + 2 < n; k++)
    wick_text_printf(&t->steps, " %s", template_loop(t, t->out, k));
  wick_text_printf(&t->steps, " %s pairs %s; vector %s.%s; unroll %s.pairs; ", rows, pair, o, pair,
                   o);
  for (uint32_t k = 0; k + 2 < n; k++)
    wick_text_printf(&t->steps, "parallel %s.%s; ", o, template_loop(t, t->out, k));
  return true;
}

bool template_map_match(template_state *t)
{
  return t->plain && !t->nfold && t->out->naxis >= 1 && t->out->naxis <= TEMPLATE_AXES;
}

/* Returns true if an element takes a polynomial, beside which it does not matter how it is read. */
static bool map_is_expensive(const template_state *t)
{
  for (uint32_t i = 0; i < t->g->nnode; i++)
    if (wick_op_of(&t->g->node[i])->ulp > 0) return true;
  return false;
}

/* Writes vectors across short rows, along the axis before them: the elements of a vector are apart in
 * memory. Returns false if that axis is short, too. */
static bool map_across(template_state *t, uint32_t axis)
{
  enum { CHUNK = 1024 };
  const char *o = t->out->name, *across = template_loop(t, t->out, axis);
  if (template_varies(t->out, axis) || template_extent(t, t->out, axis) < t->lanes) return false;
  bool chunks = template_extent(t, t->out, axis) > CHUNK;
  if (chunks) wick_text_printf(&t->steps, "split %s.%s chunk:%d; ", o, across, CHUNK);
  wick_text_printf(&t->steps, "split %s.%s lane:%lld; ", o, chunks ? "chunk" : across,
                   (long long)t->lanes);
  template_order_begin(t, t->out);
  for (uint32_t k = 0; k < axis; k++)
    wick_text_printf(&t->steps, " %s", template_loop(t, t->out, k));
  if (chunks) wick_text_printf(&t->steps, " %s", across);
  for (uint32_t k = axis + 1; k < t->out->naxis; k++)
    wick_text_printf(&t->steps, " %s", template_loop(t, t->out, k));
  wick_text_printf(&t->steps, " %s lane; vector %s.lane; ", chunks ? "chunk" : across, o);
  if (map_masks(t, axis, t->lanes)) wick_text_printf(&t->steps, "tail %s.lane mask; ", o);
  for (uint32_t k = 0; k < axis + chunks; k++)
    wick_text_printf(&t->steps, "parallel %s.%s; ", o, template_loop(t, t->out, k));
  return true;
}

/* Writes vectors along the last axis that has more than one element, if it is long enough (else along
 * the one before it, if elements are expensive), and tasks over all other axes. */
void template_map(template_state *t)
{
  uint32_t naxis = t->out->naxis, n = naxis;
  while (n > 1 && template_is(t->out, n - 1, 1)) n--;
  template_inline_maps(t);
  if (naxis == 1) {
    map_flat(t);
    return;
  }
  int64_t lanes = template_short_lanes(t, n - 1);
  if (lanes == 1) lanes = map_pair(t, n - 1);
  if (lanes == 1 && t->lanes > 1 && n > 1 && map_is_expensive(t) && map_across(t, n - 2)) return;
  if (lanes == 2 && n == naxis && map_pairs(t)) return;
  bool masks = map_masks(t, n - 1, lanes);
  if (masks && lanes < t->lanes) lanes *= 2; /* one vector has them all */
  /* The loop of the last axis stays inside the task, because a task of one vector is too small. */
  const char *o = t->out->name, *last = template_loop(t, t->out, n - 1);
  bool whole = lanes > 1 && template_is(t->out, n - 1, lanes), split = lanes > 1 && !whole;
  int64_t wide = split ? map_lanes(t, n - 1, lanes) : lanes,
          period = split && wide == lanes ? map_period(t, n - 1, lanes) : 1;
  if (split) {
    t->cut = period == 1 && template_cut(t, n - 1, lanes);
    wick_text_printf(&t->steps, "split %s.%s lane:%lld; ", o, last, (long long)wide);
  }
  if (period > 1) wick_text_printf(&t->steps, "split %s.%s vb:%lld; ", o, last, (long long)period);
  if (lanes > 1 && n < naxis) {
    template_order_begin(t, t->out);
    for (uint32_t i = 0, k = n; i < naxis; i++, k = (k + 1) % naxis)
      wick_text_printf(&t->steps, " %s", template_loop(t, t->out, k));
    wick_text_printf(&t->steps, "%s%s; ", period > 1 ? " vb" : "", split ? " lane" : "");
  }
  if (lanes > 1) wick_text_printf(&t->steps, "vector %s.%s; ", o, split ? "lane" : last);
  if (split && period == 1 &&
      (wide == lanes ? masks : !map_packs(t, n - 1, lanes) && map_masks(t, n - 1, wide)))
    wick_text_printf(&t->steps, "tail %s.lane mask; ", o);
  else if (split && map_overlaps(t, n - 1, lanes))
    wick_text_printf(&t->steps, "tail %s.%s overlap; ", o, last);
  if (period > 1) wick_text_printf(&t->steps, "unroll %s.vb; ", o);
  /* the axes from here on are whole rows of vectors */
  uint32_t inside = whole && n > 2 ? n - 2 : n - 1;
  int64_t vectors = wick_ceildiv_i64(template_extent(t, t->out, n - 1), lanes);
  if (inside + 1 < n) {
    vectors *= template_extent(t, t->out, inside);
    t->cut = template_cut(t, inside, 1);
  }
  if (n == naxis) inside = map_rows(t, inside, vectors);
  for (uint32_t k = 0; k < naxis; k++)
    if (k < inside || (lanes > 1 && k >= n))
      wick_text_printf(&t->steps, "parallel %s.%s; ", o, template_loop(t, t->out, k));
}
