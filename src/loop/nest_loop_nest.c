/* Loop nests (the operator loop_nest): emits the region as it is, with its loops and branches
 * around the reads and writes.
 *
 * Indices that follow from the region's loops are expressions, like the indices of axes. Addresses
 * are then folded, and vectors along an axis stay contiguous loads and stores. All other indices
 * are values. */
#include <string.h>

#include "loop/nest_state.h"

typedef struct walk {
  nest *t;
  const nest_run *r;
  wick_value *val; /* per value of the group */
  wick_dim *dim;   /* per i64 value: its expression; INVALID: not known */
} walk;

static void walk_region(walk *w, const wick_region *g);

static bool walk_known(const walk *w, wick_value v)
{
  return !wick_dim_eq(w->dim[v.id], WICK_DIM_INVALID);
}

/* ---- indices ---- */

static wick_dim walk_axes(const walk *w, wick_dim d)
{
  wick_dim sym[64];
  for (uint32_t a = 0; a < w->r->st->naxis; a++) sym[a] = w->r->st->axis[a].sym;
  return wick_dim_substitute(w->t->m->dims, d, w->r->st->naxis, sym, w->r->base);
}

/* Returns a node's i64 result as an expression. */
static wick_dim walk_dim(const walk *w, const wick_node *n)
{
  wick_dims *dims = w->t->m->dims;
  if (n->nout != 1 || wick_info_of(w->t->g, n->first)->elem != WICK_I64) return WICK_DIM_INVALID;
  if (n->op == WICK_OP_const) return wick_dim_const(wick_const_imm(n)->i);
  if (n->op == WICK_OP_index) return walk_axes(w, n->attr[WICK_ATTR_index_expr].dims[0]);
  if (n->nin != 2 || !walk_known(w, n->in[0]) || !walk_known(w, n->in[1])) return WICK_DIM_INVALID;
  wick_dim x = w->dim[n->in[0].id], y = w->dim[n->in[1].id];
  if (n->op == WICK_OP_add) return wick_dim_add(dims, x, y);
  if (n->op == WICK_OP_sub) return wick_dim_sub(dims, x, y);
  if (n->op == WICK_OP_mul) return wick_dim_mul(dims, x, y);
  return WICK_DIM_INVALID;
}

/* Finds the indices of a node: known ones as expressions; the others go to `any`. */
static uint32_t walk_index(const walk *w, const wick_node *n, wick_dim *index, wick_value *any)
{
  uint32_t nany = 0, from = 1;
  for (uint32_t k = 0; k < wick_read_index(n)->n; k++) {
    index[k] = wick_read_index(n)->dims[k];
    if (!wick_dim_eq(index[k], WICK_DIM_ANY)) {
      index[k] = walk_axes(w, index[k]);
      continue;
    }
    wick_value v = n->in[from++];
    if (walk_known(w, v))
      index[k] = w->dim[v.id];
    else
      index[k] = WICK_DIM_ANY, any[nany++] = w->val[v.id];
  }
  return nany;
}

static wick_value walk_get(walk *w, const wick_node *n)
{
  wick_dim index[WICK_MAX_RANK];
  wick_value any[WICK_MAX_RANK], none = {0};
  const wick_type_info *type = wick_info_of(w->t->g, n->in[0]);
  const nest_place *p = &w->t->place[n->in[0].id];
  return walk_index(w, n, index, any)
             ? nest_load_any(w->t, w->r, p, type->rank, index, any, type->elem, none)
             : nest_load(w->t, w->r, p, type->rank, index, type->elem, none);
}

static void walk_put(walk *w, const wick_node *n)
{
  nest *t = w->t;
  wick_dim index[WICK_MAX_RANK];
  wick_value any[WICK_MAX_RANK], v = w->val[n->in[n->nin - 1].id];
  uint32_t rank = wick_info_of(t->g, n->in[0])->rank;
  const nest_place *p = &t->place[n->in[0].id];
  uint32_t nany = walk_index(w, n, index, any);
  if (t->b.status) return;
  if (nany) {
    int64_t step = 0;
    wick_value in[4] = {p->buffer, nest_place_any(t, w->r, p, rank, index, any, &step), v, {0}};
    if (step < 0) nest_fail(t, "stage `%s`: lanes write at positions of their own", w->r->st->name);
    if (step == 1) in[2] = nest_widen(t, v, w->r->lanes), in[3] = nest_mask(t, w->r);
    wick_build(&t->b, WICK_OP_store, in[3].id ? 4 : 3, in, NULL, 0, NULL);
    return;
  }
  bool wide = false;
  for (uint32_t k = 0; k < rank && w->r->lanes > 1; k++)
    wide = wide || wick_dim_uses(t->m->dims, index[k], w->r->vsym);
  nest_store(t, w->r, p, rank, index, wide ? nest_widen(t, v, w->r->lanes) : v);
}

/* Reads an operand, as any stage does, except that indices are expressions here. */
static wick_value walk_read(walk *w, const wick_node *n)
{
  wick_node now = *n;
  wick_dim index[WICK_MAX_RANK];
  wick_value in[WICK_MAX_RANK + 2] = {n->in[0]}, none[WICK_MAX_RANK];
  uint32_t nin = 1, from = 1;
  walk_index(w, n, index, none);
  for (uint32_t k = 0; k < wick_read_index(n)->n; k++) {
    if (!wick_dim_eq(wick_read_index(n)->dims[k], WICK_DIM_ANY)) continue;
    if (wick_dim_eq(index[k], WICK_DIM_ANY)) in[nin++] = n->in[from];
    from++;
  }
  if (n->attr[WICK_ATTR_read_guard].i) in[nin++] = n->in[from];
  wick_attr attr[] = {[WICK_ATTR_read_index] = {.n = wick_read_index(n)->n, .dims = index},
                      [WICK_ATTR_read_guard] = n->attr[WICK_ATTR_read_guard]};
  now.nin = (uint16_t)nin, now.in = in, now.attr = attr;
  return nest_body_node(w->t, w->r, &now, w->val);
}

/* ---- loops and branches ---- */

/* Returns the values that a loop or branch carries. They are vectors, even if all lanes have the
 * same value. */
static wick_value *walk_values(walk *w, uint32_t n, const wick_value *v, wick_type *type)
{
  wick_value *out = wick_new(w->t->tmp, wick_value, n + 1);
  for (uint32_t i = 0; i < n && !w->t->b.status; i++) {
    out[i] = nest_widen(w->t, w->val[v[i].id], w->r->lanes);
    if (!w->t->b.status && type) type[i] = wick_built_type(&w->t->b, out[i]);
  }
  return out;
}

static bool walk_shared(walk *w, wick_value v)
{
  if (w->t->b.status) return false;
  if (wick_built_info(&w->t->b, w->val[v.id])->lanes == 1) return true;
  nest_fail(w->t, "stage `%s`: lanes take different ways", w->r->st->name);
  return false;
}

static void walk_bind(walk *w, uint32_t n, wick_value to, wick_value from)
{
  for (uint32_t i = 0; i < n; i++) w->val[to.id + i] = (wick_value){from.id + i};
}

/* Makes a symbol for a loop index from lo to below hi. */
static wick_dim walk_symbol(walk *w, wick_value index, wick_dim lo, wick_dim hi)
{
  nest *t = w->t;
  int64_t first, least, most, end;
  wick_dim_range(t->m->dims, lo, &first, &most);
  wick_dim_range(t->m->dims, hi, &least, &end);
  const char *name = wick_str_printf(t->tmp, "w.%u", t->nsymbol++);
  wick_dim sym = wick_dim_symbol(t->m->dims, name, first, wick_max_i64(first, end - 1));
  wick_push(t->tmp, &t->symbols,
            (struct nest_symbol){.sym = sym,
                                 .value = index,
                                 .level = NEST_INNER + t->symbols.n,
                                 .most = wick_dim_sub(t->m->dims, hi, wick_dim_const(1))});
  return sym;
}

/* Emits a loop from lo on. `from` is lo as an expression, if it is known. */
static void walk_for_from(walk *w, const wick_node *n, wick_value lo, wick_dim from)
{
  nest *t = w->t;
  wick_value *in = wick_new(t->tmp, wick_value, n->nin), own = n->region[0].first;
  wick_type *type = wick_new(t->tmp, wick_type, n->nin);
  wick_value *init = walk_values(w, n->nout, n->in + 2, type + 1);
  in[0] = lo, in[1] = w->val[n->in[1].id];
  memcpy(in + 2, init, n->nout * sizeof *in);
  type[0] = wick_type_scalar(t->m, WICK_I64, 1);
  wick_build_open(&t->b, WICK_OP_for, n->nin, in, n->attr, 0, NULL);
  wick_value index = wick_region_begin(&t->b, n->nout + 1u, type);
  uint32_t mark = nest_known_mark(t), nsymbol = t->symbols.n;
  bool known = n->attr[WICK_ATTR_for_step].i == 1 && !wick_dim_eq(from, WICK_DIM_INVALID) &&
               walk_known(w, n->in[1]);
  w->val[own.id] = index;
  w->dim[own.id] = known ? walk_symbol(w, index, from, w->dim[n->in[1].id]) : WICK_DIM_INVALID;
  walk_bind(w, n->nout, (wick_value){own.id + 1}, (wick_value){index.id + 1});
  walk_region(w, &n->region[0]);
  wick_value *next = walk_values(w, n->nout, t->g->node[n->region[0].end - 1].in, NULL);
  wick_yield(&t->b, n->nout, next);
  nest_known_rewind(t, mark);
  t->symbols.n = nsymbol;
  walk_bind(w, n->nout, n->first, wick_build_close(&t->b));
}

/* Returns true if the elements that n accesses are contiguous along the loop's index `sym`, or if
 * it reads one element. Run-time indices must come from outside the loop. */
static bool walk_beside(const walk *w, const wick_node *loop, const wick_node *n, wick_dim sym)
{
  wick_dims *dims = w->t->m->dims;
  wick_dim index[WICK_MAX_RANK], coef, rest;
  wick_value none[WICK_MAX_RANK];
  bool moves = false;
  walk_index(w, n, index, none);
  for (uint32_t k = 0, from = 1; k < wick_read_index(n)->n; k++) {
    bool any = wick_dim_eq(wick_read_index(n)->dims[k], WICK_DIM_ANY);
    uint32_t own = any ? n->in[from++].id : 0;
    if (wick_dim_eq(index[k], WICK_DIM_ANY)) {
      if (own >= loop->region[0].first.id) return false;
    } else if (wick_dim_uses(dims, index[k], sym)) {
      moves = k + 1 == wick_read_index(n)->n &&
              wick_dim_linear(dims, index[k], sym, &coef, &rest) && wick_dim_is(coef, 1);
      if (!moves) return false;
    }
  }
  return moves || n->op == WICK_OP_read;
}

/* Returns true if the loop only moves elements. */
static bool walk_moves(walk *w, const wick_node *n)
{
  nest *t = w->t;
  uint32_t own = n->region[0].first.id;
  if (w->r->st->lanes < 2 || w->r->lanes > 1 || n->nout || n->attr[WICK_ATTR_for_step].i != 1 ||
      !walk_known(w, n->in[0]) || !walk_known(w, n->in[1]))
    return false;
  wick_dim sym = nest_symbol_open(t, "moves", INT32_MAX);
  bool moves = true;
  w->dim[own] = sym;
  for (uint32_t i = n->region[0].begin; i < n->region[0].end - 1 && moves; i++) {
    const wick_node *x = &t->g->node[i];
    bool place = x->op == WICK_OP_element_store ||
                 (x->op == WICK_OP_read && !x->attr[WICK_ATTR_read_guard].i);
    moves = place ? walk_beside(w, n, x, sym)
                  : x->op == WICK_OP_const || x->op == WICK_OP_index ||
                        (wick_op_of(x)->scalar != WICK_NOT_SCALAR && !x->nregion);
    if (x->nout) w->dim[x->first.id] = place ? WICK_DIM_INVALID : walk_dim(w, x);
  }
  return moves;
}

/* Emits whole vectors of such a loop. The remainder is another loop. */
static void walk_vectors(walk *w, const wick_node *n)
{
  nest *t = w->t;
  wick_dims *dims = t->m->dims;
  wick_dim lanes = wick_dim_const(w->r->st->lanes), lo = w->dim[n->in[0].id],
           count = wick_dim_floordiv(dims, wick_dim_sub(dims, w->dim[n->in[1].id], lo), lanes);
  count = wick_dim_max(dims, count, wick_dim_const(0));
  wick_type i64 = wick_type_scalar(t->m, WICK_I64, 1);
  wick_value in[2] = {nest_i64(t, 0), nest_dim(t, NULL, count)}, own = n->region[0].first;
  wick_build_open(&t->b, WICK_OP_for, 2, in, NULL, 0, NULL);
  wick_value index = wick_region_begin(&t->b, 1, &i64);
  uint32_t mark = nest_known_mark(t), nsymbol = t->symbols.n;
  const nest_run *outer = w->r;
  nest_run wide = *outer;
  wide.lanes = (uint32_t)w->r->st->lanes, wide.active = lanes, wide.vaxis = UINT32_MAX;
  wide.vsym = nest_symbol_open(t, "lane", wide.lanes - 1);
  wick_dim at = wick_dim_mul(dims, walk_symbol(w, index, wick_dim_const(0), count), lanes);
  w->dim[own.id] = wick_dim_add(dims, wick_dim_add(dims, lo, at), wide.vsym);
  w->r = &wide;
  w->val[own.id] = nest_dim(t, w->r, w->dim[own.id]);
  walk_region(w, &n->region[0]);
  w->r = outer;
  wick_yield(&t->b, 0, NULL);
  nest_known_rewind(t, mark);
  t->symbols.n = nsymbol;
  wick_build_close(&t->b);
  lo = wick_dim_add(dims, lo, wick_dim_mul(dims, count, lanes));
  walk_for_from(w, n, nest_dim(t, NULL, lo), lo);
}

static void walk_for(walk *w, const wick_node *n)
{
  if (!walk_shared(w, n->in[0]) || !walk_shared(w, n->in[1])) return;
  if (walk_moves(w, n))
    walk_vectors(w, n);
  else
    walk_for_from(w, n, w->val[n->in[0].id], w->dim[n->in[0].id]);
}

static void walk_while(walk *w, const wick_node *n)
{
  nest *t = w->t;
  wick_type *type = wick_new(t->tmp, wick_type, n->nin + 1);
  wick_value *init = walk_values(w, n->nin, n->in, type);
  uint32_t mark = nest_known_mark(t);
  wick_build_open(&t->b, WICK_OP_while, n->nin, init, NULL, 0, NULL);
  for (uint32_t r = 0; r < 2; r++) {
    const wick_node *y = &t->g->node[n->region[r].end - 1];
    walk_bind(w, n->nin, n->region[r].first, wick_region_begin(&t->b, n->nin, type));
    walk_region(w, &n->region[r]);
    if (!r && !walk_shared(w, y->in[0])) return;
    wick_yield(&t->b, y->nin, r ? walk_values(w, y->nin, y->in, NULL) : &w->val[y->in[0].id]);
    nest_known_rewind(t, mark);
  }
  walk_bind(w, n->nout, n->first, wick_build_close(&t->b));
}

static void walk_if(walk *w, const wick_node *n)
{
  nest *t = w->t;
  if (!walk_shared(w, n->in[0])) return;
  wick_type *type = wick_new(t->tmp, wick_type, n->nout + 1);
  for (uint32_t i = 0; i < n->nout; i++) {
    wick_elem e = wick_info_of(t->g, (wick_value){n->first.id + i})->elem;
    type[i] = wick_type_scalar(t->m, e, w->r->lanes);
  }
  uint32_t mark = nest_known_mark(t);
  wick_build_open(&t->b, WICK_OP_if, 1, &w->val[n->in[0].id], NULL, n->nout, type);
  for (uint32_t r = 0; r < 2; r++) {
    wick_region_begin(&t->b, 0, NULL);
    walk_region(w, &n->region[r]);
    const wick_node *y = &t->g->node[n->region[r].end - 1];
    wick_yield(&t->b, y->nin, walk_values(w, y->nin, y->in, NULL));
    nest_known_rewind(t, mark);
  }
  walk_bind(w, n->nout, n->first, wick_build_close(&t->b));
}

/* ---- nodes ---- */

static void walk_node(walk *w, const wick_node *n)
{
  switch (n->op) {
  case WICK_OP_for: walk_for(w, n); return;
  case WICK_OP_while: walk_while(w, n); return;
  case WICK_OP_if: walk_if(w, n); return;
  case WICK_OP_element_store: walk_put(w, n); return;
  case WICK_OP_element_load: w->val[n->first.id] = walk_get(w, n); return;
  case WICK_OP_read: w->val[n->first.id] = walk_read(w, n); return;
  default: break;
  }
  wick_value v = nest_body_node(w->t, w->r, n, w->val);
  if (!n->nout) return;
  w->val[n->first.id] = v;
  w->dim[n->first.id] = walk_dim(w, n);
}

static void walk_region(walk *w, const wick_region *g)
{
  for (uint32_t i = g->begin; i < g->end - 1 && !w->t->b.status; i = w->t->g->node[i].end)
    walk_node(w, &w->t->g->node[i]);
}

void nest_walk(nest *t, const nest_run *r)
{
  walk w = {.t = t, .r = r};
  w.val = wick_new(t->tmp, wick_value, t->g->nvalue + 1);
  w.dim = wick_new(t->tmp, wick_dim, t->g->nvalue + 1);
  for (uint32_t v = 0; v <= t->g->nvalue; v++) w.dim[v] = WICK_DIM_INVALID;
  for (uint32_t k = 0; k < r->node->nout; k++) /* results, as values inside the region */
    t->place[r->node->region[0].first.id + k] = t->place[r->node->first.id + k];
  walk_region(&w, &r->node->region[0]);
}
