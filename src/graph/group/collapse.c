/* First the dimensions of size 1 go. Then pairs of neighbouring dimensions are joined, one after
 * the other: from a pair of axes of one stage, a traversal finds the values and the stages that
 * must have the pair, too, until nothing is added or a read contradicts. */
#include "graph/group/collapse.h"

#include <string.h>

#include "ir/op.h"

enum { COLLAPSE_NONE = WICK_MAX_RANK };
enum {
  COLLAPSE_SHORT = 32,   /* elements of a row that is joined with the next ones */
  COLLAPSE_SHORTEST = 8, /* also if a read has one element for each row, or one row for all */
  COLLAPSE_COLUMNS = 4,  /* also if a read has the rows as columns */
  COLLAPSE_LANES = 16,   /* rows of whole vectors on all targets gain nothing */
};

typedef struct collapse {
  wick_copier c; /* first, so that the callback for types can reach the rest */
  const wick_func *g;
  bool plain;            /* constant dimensions may go, too */
  bool maps;             /* nothing is computed along axes */
  bool moves;            /* nothing is computed along axes: reads may be shifted by rows */
  bool columns;          /* of products whose last axes take one position: these may go, too */
  uint32_t *joins;       /* per value: bit k is set if dimensions k and k + 1 may become one */
  wick_dim outer, inner; /* the extents of the pair */
  uint32_t *at;          /* per value: the first dimension of the pair, or COLLAPSE_NONE */
  uint32_t *pair;        /* per stage, by node: the first axis of the pair, or UINT32_MAX */
  wick_axis split[2];    /* the pair's axes, in the stage that is being copied */
  bool paired;           /* there is one */
  wick_dim both;         /* the symbol of the new one */
} collapse;

static bool collapse_is_one(wick_dim d) { return wick_dim_is(d, 1); }

/* ---- which groups are plain ---- */

/* Returns true if the results' dimensions are the stage's axes that are not reduced. */
static bool collapse_owns_axes(const wick_func *g, const wick_node *stage)
{
  uint32_t kept = 0;
  for (uint32_t a = 0; a < wick_stage_axes(stage)->n; a++)
    kept += !wick_stage_axes(stage)->axes[a].reduce;
  return kept == wick_info_of(g, stage->first)->rank;
}

/* Returns true if each index of a read is a number, an axis of the stage, or a run-time index of a
 * dimension that stays. */
static bool collapse_is_direct(const wick_func *g, const wick_node *stage, const wick_node *read)
{
  if (read->attr[WICK_ATTR_read_guard].i) return false;
  for (uint32_t k = 0; k < wick_read_index(read)->n; k++) {
    wick_dim d = wick_read_index(read)->dims[k];
    bool is = wick_dim_eq(d, WICK_DIM_ANY) ? !collapse_is_one(wick_info_of(g, read->in[0])->dim[k])
                                           : wick_dim_is_const(d);
    for (uint32_t a = 0; a < wick_stage_axes(stage)->n && !is; a++)
      is = wick_dim_eq(d, wick_stage_axes(stage)->axes[a].sym);
    if (!is) return false;
  }
  return true;
}

/* Returns true if a read moves along each axis by itself, as in padding, slices and resizing: no
 * index has two axes, and no axis is in two indices. Dimensions of size 1 have no guard. */
static bool collapse_is_separate(const wick_func *g, const wick_node *stage, const wick_node *read)
{
  const wick_attr *axes = wick_stage_axes(stage);
  uint32_t in[2 * WICK_MAX_RANK] = {0};
  for (uint32_t k = 0; k < wick_read_index(read)->n; k++) {
    wick_dim d = wick_read_index(read)->dims[k];
    bool one = collapse_is_one(wick_info_of(g, read->in[0])->dim[k]);
    uint32_t uses = 0;
    int64_t lo, hi;
    if (wick_dim_eq(d, WICK_DIM_ANY)) {
      if (one) return false;
      continue;
    }
    for (uint32_t a = 0; a < axes->n; a++)
      if (wick_dim_uses(g->module->dims, d, axes->axes[a].sym)) uses++, in[a]++;
    wick_dim_range(g->module->dims, d, &lo, &hi);
    if (uses > 1 || (one && read->attr[WICK_ATTR_read_guard].i && (lo || hi))) return false;
  }
  for (uint32_t a = 0; a < axes->n; a++)
    if (in[a] > 1) return false;
  return true;
}

/* Returns true if no stage is a fold. */
static bool collapse_is_moves(const wick_func *g)
{
  for (uint32_t i = 0; i + 1 < g->nnode; i = g->node[i].end)
    if (g->node[i].op != WICK_OP_map) return false;
  return true;
}

/* Returns true if the group has only direct reads (moves: separate ones) and no sum of products. The templates for
 * products and windows choose tiles by axes, which therefore stay. */
static bool collapse_is_plain(const wick_func *g, bool moves)
{
  const wick_node *stage = NULL;
  for (uint32_t i = 0; i + 1 < g->nnode; i++) {
    const wick_node *n = &g->node[i];
    if (n->nregion) {
      if ((n->op != WICK_OP_map && n->op != WICK_OP_fold) || !collapse_owns_axes(g, n))
        return false;
      stage = n;
    } else if (n->op == WICK_OP_muladd && stage->op == WICK_OP_fold) {
      return false;
    } else if (n->op == WICK_OP_read &&
               !(moves ? collapse_is_separate : collapse_is_direct)(g, stage, n)) {
      return false;
    }
  }
  return true;
}

/* ---- finding a pair ---- */

/* Returns true if these extents are a pair. A tensor of which rows are read may have more or fewer
 * rows than others. */
static bool collapse_fits(const collapse *s, wick_dim outer, wick_dim inner)
{
  return wick_dim_eq(inner, s->inner) &&
         (wick_dim_eq(outer, s->outer) ||
          (s->moves && wick_dim_is_const(outer) && wick_dim_is_const(inner) && outer.v > 0 &&
           inner.v > 0 && inner.v <= INT32_MAX / outer.v));
}

static bool collapse_has(const collapse *s, const wick_type_info *t, uint32_t k)
{
  return t->kind == WICK_TENSOR && k + 1u < t->rank && collapse_fits(s, t->dim[k], t->dim[k + 1]);
}

/* Records that v has the pair at dimension k. Returns false if it does not, if it has it at another
 * position, or if its elements are not contiguous there. */
static bool collapse_mark(collapse *s, wick_value v, uint32_t k, bool *changed)
{
  if (s->at[v.id] != COLLAPSE_NONE) return s->at[v.id] == k;
  s->at[v.id] = k;
  *changed = true;
  return collapse_has(s, wick_info_of(s->g, v), k) && (s->joins[v.id] >> k & 1);
}

/* Records that the stage has the pair at axes a and a + 1. */
static bool collapse_mark_stage(collapse *s, const wick_node *stage, uint32_t a, bool *changed)
{
  const wick_attr *axes = wick_stage_axes(stage);
  uint32_t *pair = &s->pair[stage - s->g->node];
  if (*pair != UINT32_MAX) return *pair == a;
  *pair = a;
  *changed = true;
  return a + 1 < axes->n && axes->axes[a].reduce == axes->axes[a + 1].reduce &&
         collapse_fits(s, axes->axes[a].extent, axes->axes[a + 1].extent) &&
         collapse_owns_axes(s->g, stage);
}

/* Returns the stage's axis that is dimension k of its results. */
static uint32_t collapse_axis_of(const wick_node *stage, uint32_t k)
{
  const wick_attr *axes = wick_stage_axes(stage);
  uint32_t a = 0;
  while (a < axes->n && (axes->axes[a].reduce || k-- > 0)) a++;
  return a;
}

static bool collapse_uses(const collapse *s, wick_dim d, const wick_axis *pair)
{
  wick_dims *dims = s->g->module->dims;
  return !wick_dim_eq(d, WICK_DIM_ANY) &&
         (wick_dim_uses(dims, d, pair[0].sym) || wick_dim_uses(dims, d, pair[1].sym));
}

/* Returns an index of rows as an index of elements, if it is the axis `row`, or that axis shifted by
 * a number of rows, perhaps beginning again after the last one. Otherwise returns INVALID. */
static wick_dim collapse_elements(const collapse *s, wick_dim d, wick_dim row, wick_dim rows,
                                  wick_dim both)
{
  wick_dims *dims = s->g->module->dims;
  wick_dim_form f = wick_dim_get(dims, d);
  bool wraps = f.nterm == 1 && !f.constant && f.term->coef == 1 && f.term->natom == 1 &&
               wick_dim_atom(dims, f.term->atom[0])->kind == WICK_ATOM_MOD;
  const wick_atom *mod = wraps ? wick_dim_atom(dims, f.term->atom[0]) : NULL;
  if (wick_dim_eq(d, row)) return both;
  if (!s->moves || (wraps && !wick_dim_eq(mod->arg[1], rows))) return WICK_DIM_INVALID;
  wick_dim shift = wick_dim_sub(dims, wraps ? mod->arg[0] : d, row);
  if (!wick_dim_is_const(shift) || !wick_dim_is_const(s->inner)) return WICK_DIM_INVALID;
  wick_dim out = wick_dim_add(dims, both, wick_dim_mul(dims, shift, s->inner));
  return wraps ? wick_dim_mod(dims, out, wick_dim_mul(dims, rows, s->inner)) : out;
}

static bool collapse_is_row(const collapse *s, wick_dim d, wick_dim row, wick_dim rows)
{
  return !wick_dim_eq(d, WICK_DIM_ANY) &&
         !wick_dim_eq(collapse_elements(s, d, row, rows, row), WICK_DIM_INVALID);
}

/* Returns true if an index is an axis, or (moves) moves along it in equal steps, perhaps beginning
 * again after a number of elements. */
static bool collapse_steps(const collapse *s, wick_dim d, wick_dim axis)
{
  wick_dims *dims = s->g->module->dims;
  wick_dim step, first;
  wick_dim_form f = wick_dim_get(dims, d);
  if (wick_dim_eq(d, axis)) return true;
  if (!s->moves) return false;
  if (f.nterm == 1 && !f.constant && f.term->coef == 1 && f.term->natom == 1 &&
      wick_dim_atom(dims, f.term->atom[0])->kind == WICK_ATOM_MOD)
    d = wick_dim_atom(dims, f.term->atom[0])->arg[0];
  return wick_dim_linear(dims, d, axis, &step, &first) && wick_dim_is_const(step) &&
         wick_dim_is_const(first);
}

/* Returns an index of a tensor that has only one of the pair's axes as an index of elements of both,
 * or INVALID. */
static wick_dim collapse_part(const collapse *s, wick_dim d, const wick_axis *pair, wick_dim both)
{
  wick_dims *dims = s->g->module->dims;
  wick_dim part[2] = {wick_dim_floordiv(dims, both, s->inner), wick_dim_mod(dims, both, s->inner)};
  for (uint32_t k = 0; k < 2; k++)
    if (collapse_steps(s, d, pair[k].sym))
      return wick_dim_substitute(dims, d, 1, &pair[k].sym, &part[k]);
  return WICK_DIM_INVALID;
}

/* Returns true if the dimensions in which a read uses the pair, from k on, can have indices of elements
 * of both axes, because rows are short. */
static bool collapse_parts(const collapse *s, const wick_node *n, const wick_axis *pair, uint32_t k,
                           uint32_t used)
{
  const wick_attr *index = wick_read_index(n);
  int64_t most = used == 1 ? COLLAPSE_SHORTEST : COLLAPSE_COLUMNS;
  if (!s->maps || n->in[0].id > s->g->nparam || !wick_dim_is_const(s->inner) || s->inner.v >= most)
    return false;
  for (; k < index->n; k++)
    if (collapse_uses(s, index->dims[k], pair) &&
        wick_dim_eq(collapse_part(s, index->dims[k], pair, pair[0].sym), WICK_DIM_INVALID))
      return false;
  return true;
}

/* A read uses both axes of the pair next to each other, the second one unchanged, and its value has
 * the pair there; or neither; or, if rows are short, only one, or both in another order. */
static bool collapse_read(collapse *s, const wick_node *stage, const wick_node *n, bool *changed)
{
  const wick_attr *axes = wick_stage_axes(stage);
  const wick_dim *index = wick_read_index(n)->dims;
  const wick_dim *extent = wick_info_of(s->g, n->in[0])->dim;
  uint32_t *pair = &s->pair[stage - s->g->node], at = s->at[n->in[0].id], used = 0, k = 0;
  wick_dim rows = at == COLLAPSE_NONE ? WICK_DIM_INVALID : extent[at];
  if (at != COLLAPSE_NONE)
    for (uint32_t a = 0; a + 1 < axes->n && *pair == UINT32_MAX; a++)
      if (collapse_is_row(s, index[at], axes->axes[a].sym, rows) &&
          !collapse_mark_stage(s, stage, a, changed))
        return false;
  if (*pair == UINT32_MAX) return at == COLLAPSE_NONE;
  const wick_axis *p = &axes->axes[*pair];
  for (uint32_t i = 0; i < wick_read_index(n)->n; i++) {
    if (!collapse_uses(s, index[i], p)) continue;
    if (!used++) k = i;
  }
  if (used == 0) return at == COLLAPSE_NONE;
  bool turned = used == 2 && wick_dim_eq(index[k], p[1].sym);
  if ((used == 1 || turned) && at == COLLAPSE_NONE)
    return *pair + 2 == axes->n && collapse_parts(s, n, p, k, used);
  return used == 2 && collapse_is_row(s, index[k], p[0].sym, extent[k]) &&
         wick_dim_eq(index[k + 1], p[1].sym) && collapse_mark(s, n->in[0], k, changed);
}

/* Returns a number that counts the elements of both axes in order, such as an offset, as one of their
 * new axis, or INVALID. */
static wick_dim collapse_number(const collapse *s, wick_dim d, const wick_axis *pair, wick_dim both)
{
  wick_dims *dims = s->g->module->dims;
  wick_dim row, element, more, rest;
  if (!collapse_uses(s, d, pair)) return d;
  if (!wick_dim_linear(dims, d, pair[1].sym, &element, &more) ||
      !wick_dim_linear(dims, more, pair[0].sym, &row, &rest) ||
      !wick_dim_eq(row, wick_dim_mul(dims, element, s->inner)))
    return WICK_DIM_INVALID;
  return wick_dim_add(dims, rest, wick_dim_mul(dims, element, both));
}

/* Returns true if numbers in the attributes of n, which is no read, can be those of the new axis. */
static bool collapse_other(const collapse *s, const wick_node *stage, const wick_node *n)
{
  uint32_t pair = s->pair[stage - s->g->node];
  for (uint32_t a = 0; a < n->nattr && pair != UINT32_MAX; a++) {
    if (wick_op_of(n)->attr[a].kind != WICK_ATTR_DIMS) continue;
    const wick_axis *p = &wick_stage_axes(stage)->axes[pair];
    for (uint32_t i = 0; i < n->attr[a].n; i++)
      if (wick_dim_eq(collapse_number(s, n->attr[a].dims[i], p, p[0].sym), WICK_DIM_INVALID))
        return false;
  }
  return true;
}

/* Makes the stage, its results and its reads agree about the pair. */
static bool collapse_stage(collapse *s, const wick_node *stage, bool *changed)
{
  const wick_attr *axes = wick_stage_axes(stage);
  for (uint32_t r = 0; r < stage->nout; r++) {
    uint32_t k = s->at[stage->first.id + r];
    if (k != COLLAPSE_NONE && !collapse_mark_stage(s, stage, collapse_axis_of(stage, k), changed))
      return false;
  }
  uint32_t pair = s->pair[stage - s->g->node], k = 0;
  if (pair != UINT32_MAX && !axes->axes[pair].reduce) {
    for (uint32_t a = 0; a < pair; a++) k += !axes->axes[a].reduce;
    for (uint32_t r = 0; r < stage->nout; r++)
      if (!collapse_mark(s, (wick_value){stage->first.id + r}, k, changed)) return false;
  }
  for (const wick_node *n = stage + 1; n < s->g->node + stage->end; n++)
    if (n->op == WICK_OP_read ? !collapse_read(s, stage, n, changed) : !collapse_other(s, stage, n))
      return false;
  return true;
}

/* Returns true if the axes may begin a pair. A dynamic one must be a dimension of the output, and
 * not its last one, because vectors run along that. */
static bool collapse_may_begin(const collapse *s, const wick_node *stage, uint32_t a)
{
  const wick_axis *p = &wick_stage_axes(stage)->axes[a];
  bool constant = wick_dim_is_const(p[0].extent) && wick_dim_is_const(p[1].extent);
  if (collapse_is_one(p[0].extent) || collapse_is_one(p[1].extent) || p[0].reduce != p[1].reduce)
    return false;
  bool last = a + 2u == wick_stage_axes(stage)->n; /* long rows stay, because they are tasks */
  if (constant && s->plain)
    return p[0].extent.v && p[1].extent.v <= INT32_MAX / p[0].extent.v &&
           (!s->moves || !last || p[1].extent.v < COLLAPSE_SHORT);
  const wick_type_info *y = wick_info_of(s->g, stage->first);
  if (constant && s->columns && !p[0].reduce && stage->first.id == wick_return(s->g)->in[0].id)
    return a + 2u == y->rank && p[1].extent.v % COLLAPSE_LANES && p[0].extent.v &&
           p[1].extent.v <= INT32_MAX / p[0].extent.v;
  if (constant) return false;
  return !p[0].reduce && stage->first.id == wick_return(s->g)->in[0].id && a + 2u < y->rank;
}

/* Returns true if axes a and a + 1 of the stage can become one. */
static bool collapse_can(collapse *s, const wick_node *stage, uint32_t a)
{
  const wick_func *g = s->g;
  const wick_axis *p = &wick_stage_axes(stage)->axes[a];
  bool changed = true;
  if (!collapse_may_begin(s, stage, a)) return false;
  s->outer = p[0].extent, s->inner = p[1].extent;
  for (uint32_t v = 0; v <= g->nvalue; v++) s->at[v] = COLLAPSE_NONE;
  for (uint32_t i = 0; i < g->nnode; i++) s->pair[i] = UINT32_MAX;
  if (!collapse_mark_stage(s, stage, a, &changed)) return false;
  while (changed) {
    changed = false;
    for (uint32_t i = 0; i + 1 < g->nnode; i = g->node[i].end) {
      const wick_node *n = &g->node[i];
      if ((n->op != WICK_OP_map && n->op != WICK_OP_fold) || !collapse_stage(s, n, &changed))
        return false;
    }
  }
  return true;
}

/* Finds the next pair, of the last stage that has one. */
static bool collapse_find(collapse *s)
{
  uint32_t *stages = wick_new(s->c.b.mem, uint32_t, s->g->nnode), n = 0;
  for (uint32_t i = 0; i + 1 < s->g->nnode; i = s->g->node[i].end) stages[n++] = i;
  while (n-- > 0) {
    const wick_node *stage = &s->g->node[stages[n]];
    if (!stage->nregion) return false;
    for (uint32_t a = 0; a + 1u < wick_stage_axes(stage)->n; a++)
      if (collapse_can(s, stage, a)) return true;
  }
  return false;
}

/* ---- building the group again ---- */

static collapse *collapse_of(const wick_copier *c) { return (collapse *)(uintptr_t)c; }

static wick_type collapse_type(const wick_copier *c, wick_value old)
{
  const collapse *s = collapse_of(c);
  const wick_type_info *t = wick_info_of(s->g, old);
  wick_dim dim[WICK_MAX_RANK];
  uint32_t k = s->at[old.id];
  if (k == COLLAPSE_NONE) return wick_type_of(s->g, old);
  memcpy(dim, t->dim, k * sizeof *dim);
  dim[k] = wick_dim_mul(s->g->module->dims, t->dim[k], s->inner);
  memcpy(dim + k + 1, t->dim + k + 2, (t->rank - k - 2u) * sizeof *dim);
  return wick_type_tensor(s->g->module, t->elem, t->rank - 1u, dim);
}

/* Returns the node with another value of attribute `which`. */
static wick_node collapse_with(collapse *s, const wick_node *n, uint32_t which, wick_attr value)
{
  wick_node copy = *n;
  wick_attr *attr = wick_dup(s->c.b.mem, wick_attr, n->attr, n->nattr);
  attr[which] = value;
  copy.attr = attr;
  return copy;
}

/* Returns the stage with one axis instead of the pair. */
static wick_node collapse_axes(collapse *s, const wick_node *stage)
{
  wick_dims *dims = s->g->module->dims;
  uint32_t n = wick_stage_axes(stage)->n, k = s->pair[stage - s->g->node];
  wick_axis *axes = wick_dup(s->c.b.mem, wick_axis, wick_stage_axes(stage)->axes, n);
  const wick_atom *symbol = wick_dim_atom(dims, wick_dim_get(dims, axes[k].sym).term->atom[0]);
  s->split[0] = axes[k], s->split[1] = axes[k + 1];
  axes[k] = wick_make_axis(&s->c.b, symbol->name, wick_dim_mul(dims, axes[k].extent, s->inner),
                           axes[k].reduce);
  memmove(axes + k + 1, axes + k + 2, (n - k - 2u) * sizeof *axes);
  s->both = axes[k].sym;
  return collapse_with(s, stage, WICK_ATTR_map_axes, (wick_attr){.n = n - 1, .axes = axes});
}

static bool collapse_changes(const collapse *s, const wick_node *read)
{
  bool uses = s->at[read->in[0].id] != COLLAPSE_NONE;
  for (uint32_t i = 0; i < wick_read_index(read)->n; i++)
    uses = uses || (s->paired && collapse_uses(s, wick_read_index(read)->dims[i], s->split));
  return uses;
}

static wick_node collapse_index(collapse *s, const wick_node *read)
{
  uint32_t k = s->at[read->in[0].id], rank = wick_read_index(read)->n;
  wick_dim *index = wick_dup(s->c.b.mem, wick_dim, wick_read_index(read)->dims, rank);
  if (k == COLLAPSE_NONE) {
    for (uint32_t i = 0; i < rank; i++)
      if (collapse_uses(s, index[i], s->split))
        index[i] = collapse_part(s, index[i], s->split, s->both);
    return collapse_with(s, read, WICK_ATTR_read_index, (wick_attr){.n = rank, .dims = index});
  }
  index[k] = collapse_elements(s, index[k], s->split[0].sym,
                               wick_info_of(s->g, read->in[0])->dim[k], s->both);
  memmove(index + k + 1, index + k + 2, (rank - k - 2u) * sizeof *index);
  return collapse_with(s, read, WICK_ATTR_read_index, (wick_attr){.n = rank - 1, .dims = index});
}

/* Returns a node with numbers of the new axis in its attributes. */
static wick_node collapse_numbers(collapse *s, const wick_node *n)
{
  wick_node copy = *n;
  for (uint32_t a = 0; a < n->nattr; a++) {
    if (wick_op_of(n)->attr[a].kind != WICK_ATTR_DIMS) continue;
    wick_dim *d = wick_dup(s->c.b.mem, wick_dim, n->attr[a].dims, n->attr[a].n);
    for (uint32_t i = 0; i < n->attr[a].n; i++) d[i] = collapse_number(s, d[i], s->split, s->both);
    copy = collapse_with(s, &copy, a, (wick_attr){.n = n->attr[a].n, .dims = d});
  }
  return copy;
}

/* Returns the bits of a value's dimensions after dimensions k and k + 1 have become one. */
static uint32_t collapse_joins(uint32_t joins, uint32_t k)
{
  return k == COLLAPSE_NONE ? joins : (joins & ((1u << k) - 1)) | (joins >> (k + 1) << k);
}

static void collapse_begin(collapse *s, wick_type (*retype)(const wick_copier *, wick_value))
{
  wick_arena *mem = s->c.b.mem;
  const wick_func *g = s->g;
  s->c = (wick_copier){.f = g, .to = wick_new(mem, wick_value, g->nvalue + 1), .retype = retype};
  wick_build_begin(&s->c.b, g->module, g->level, g->name, mem);
  wick_build_keep_constraints(&s->c.b, g);
  for (uint32_t v = 1; v <= g->nparam; v++)
    s->c.to[v] = wick_build_param(&s->c.b, retype(&s->c, (wick_value){v}), g->qual[v - 1], NULL);
}

/* Makes the copy the group. Each value takes the bits of the old value that it replaces. */
static void collapse_end(collapse *s)
{
  const wick_func *old = s->g;
  const uint32_t *joins = s->joins;
  wick_arena *mem = s->c.b.mem;
  s->g = wick_copy_end(&s->c);
  s->joins = wick_new(mem, uint32_t, s->g->nvalue + 1);
  memset(s->joins, 0xff, (s->g->nvalue + 1) * sizeof *s->joins);
  for (uint32_t v = 1; v <= old->nvalue; v++)
    if (s->c.to[v].id) s->joins[s->c.to[v].id] = joins[v];
  s->at = wick_new(mem, uint32_t, s->g->nvalue + 1);
  s->pair = wick_new(mem, uint32_t, s->g->nnode);
}

static void collapse_copy(collapse *s)
{
  const wick_func *g = s->g;
  collapse_begin(s, collapse_type);
  /* the copier still uses nodes that are not closed */
  wick_node *changed = wick_new(s->c.b.mem, wick_node, g->nnode);
  for (uint32_t i = 0; i < g->nnode; i++) {
    const wick_node *n = &g->node[i];
    bool change = n->nregion              ? s->pair[i] != UINT32_MAX
                  : n->op == WICK_OP_read ? collapse_changes(s, n)
                                          : s->paired;
    if (n->nregion) s->paired = change;
    if (change)
      changed[i] = n->nregion              ? collapse_axes(s, n)
                   : n->op == WICK_OP_read ? collapse_index(s, n)
                                           : collapse_numbers(s, n);
    wick_copy_node(&s->c, change ? &changed[i] : n);
  }
  for (uint32_t v = 1; v <= g->nvalue; v++) s->joins[v] = collapse_joins(s->joins[v], s->at[v]);
  collapse_end(s);
}

/* ---- dimensions of size 1 ---- */

static wick_type collapse_type_without(const wick_copier *c, wick_value old)
{
  const wick_func *g = collapse_of(c)->g;
  const wick_type_info *t = wick_info_of(g, old);
  wick_dim dim[WICK_MAX_RANK];
  uint32_t rank = 0;
  if (t->kind != WICK_TENSOR) return wick_type_of(g, old);
  for (uint32_t k = 0; k < t->rank; k++)
    if (!collapse_is_one(t->dim[k])) dim[rank++] = t->dim[k];
  return wick_type_tensor(g->module, t->elem, rank, dim);
}

/* Returns the stage without axes of size 1. A fold keeps one reduced axis. */
static wick_node collapse_stage_without(collapse *s, const wick_node *stage)
{
  const wick_attr *all = wick_stage_axes(stage);
  wick_axis *axes = wick_new(s->c.b.mem, wick_axis, all->n + 1);
  uint32_t n = 0, reduced = 0;
  for (uint32_t a = 0; a < all->n; a++) {
    bool last = all->axes[a].reduce && !reduced && a + 1 == all->n;
    if (collapse_is_one(all->axes[a].extent) && !last) continue;
    reduced += all->axes[a].reduce;
    axes[n++] = all->axes[a];
  }
  return collapse_with(s, stage, WICK_ATTR_map_axes, (wick_attr){.n = n, .axes = axes});
}

/* Returns a node of the stage with 0 instead of the axes of size 1. */
static wick_node collapse_node_without(collapse *s, const wick_node *stage, const wick_node *n)
{
  const wick_attr *all = wick_stage_axes(stage);
  wick_dim sym[2 * WICK_MAX_RANK], zero[2 * WICK_MAX_RANK];
  wick_attr *attr = wick_dup(s->c.b.mem, wick_attr, n->attr, n->nattr);
  wick_node copy = *n;
  uint32_t none = 0;
  for (uint32_t a = 0; a < all->n && none < WICK_COUNT(sym); a++)
    if (collapse_is_one(all->axes[a].extent))
      sym[none] = all->axes[a].sym, zero[none++] = wick_dim_const(0);
  for (uint32_t k = 0; k < n->nattr; k++) {
    if (wick_op_of(n)->attr[k].kind != WICK_ATTR_DIMS) continue;
    wick_dim *d = wick_dup(s->c.b.mem, wick_dim, attr[k].dims, attr[k].n);
    uint32_t rank = 0;
    for (uint32_t i = 0; i < attr[k].n; i++)
      if (n->op != WICK_OP_read || !collapse_is_one(wick_info_of(s->g, n->in[0])->dim[i]))
        d[rank++] = wick_dim_eq(attr[k].dims[i], WICK_DIM_ANY)
                        ? WICK_DIM_ANY
                        : wick_dim_substitute(s->g->module->dims, attr[k].dims[i], none, sym, zero);
    attr[k].dims = d, attr[k].n = rank;
  }
  copy.attr = attr;
  return copy;
}

/* Returns the bits of a value's dimensions after those of size 1 have gone. */
static uint32_t collapse_joins_without(const wick_type_info *t, uint32_t joins)
{
  uint32_t out = UINT32_MAX, n = 0;
  bool joined = true;
  for (uint32_t k = 0; t->kind == WICK_TENSOR && k < t->rank; k++) {
    if (!collapse_is_one(t->dim[k])) {
      if (n && !joined) out &= ~(1u << (n - 1));
      n++, joined = true;
    }
    joined = joined && (joins >> k & 1);
  }
  return out;
}

static void collapse_drop_ones(collapse *s)
{
  const wick_func *g = s->g;
  const wick_node *stage = NULL;
  collapse_begin(s, collapse_type_without);
  wick_node *changed = wick_new(s->c.b.mem, wick_node, g->nnode);
  for (uint32_t i = 0; i < g->nnode; i++) {
    const wick_node *n = &g->node[i];
    if (n->nregion) stage = n;
    bool change = n->nregion || n->op == WICK_OP_read || n->op == WICK_OP_index;
    if (change)
      changed[i] = n->nregion ? collapse_stage_without(s, n) : collapse_node_without(s, stage, n);
    wick_copy_node(&s->c, change ? &changed[i] : n);
  }
  for (uint32_t v = 1; v <= g->nvalue; v++)
    s->joins[v] = collapse_joins_without(wick_info_of(g, (wick_value){v}), s->joins[v]);
  collapse_end(s);
}

/* ---- products at one position ---- */

static wick_type collapse_same_type(const wick_copier *c, wick_value old)
{
  return wick_type_of(collapse_of(c)->g, old);
}

/* Returns whether a sum of products has reduced axes of size 1 beside others: the taps of a window
 * of one element. */
static bool collapse_has_taps(const wick_func *g, const wick_node *stage)
{
  uint32_t ones = 0, reduced = 0;
  bool products = false;
  if (stage->op != WICK_OP_fold) return false;
  const wick_attr *axes = wick_stage_axes(stage);
  for (const wick_node *n = stage + 1; n < g->node + stage->end && !products; n++)
    products = n->op == WICK_OP_muladd;
  for (uint32_t a = 0; a < axes->n; a++)
    if (axes->axes[a].reduce) reduced++, ones += collapse_is_one(axes->axes[a].extent);
  return products && ones && ones < reduced;
}

static wick_node collapse_stage_without_taps(collapse *s, const wick_node *stage)
{
  const wick_attr *all = wick_stage_axes(stage);
  wick_axis *axes = wick_new(s->c.b.mem, wick_axis, all->n);
  uint32_t n = 0;
  for (uint32_t a = 0; a < all->n; a++)
    if (!all->axes[a].reduce || !collapse_is_one(all->axes[a].extent)) axes[n++] = all->axes[a];
  return collapse_with(s, stage, WICK_ATTR_map_axes, (wick_attr){.n = n, .axes = axes});
}

/* Returns a node of the stage with 0 instead of the taps. */
static wick_node collapse_node_without_taps(collapse *s, const wick_node *stage, const wick_node *n)
{
  const wick_attr *all = wick_stage_axes(stage);
  wick_node copy = *n;
  wick_dim zero = wick_dim_const(0);
  for (uint32_t k = 0; k < n->nattr; k++) {
    if (wick_op_of(n)->attr[k].kind != WICK_ATTR_DIMS) continue;
    wick_dim *d = wick_dup(s->c.b.mem, wick_dim, n->attr[k].dims, n->attr[k].n);
    for (uint32_t a = 0; a < all->n; a++)
      for (uint32_t i = 0; i < n->attr[k].n; i++)
        if (all->axes[a].reduce && collapse_is_one(all->axes[a].extent) &&
            !wick_dim_eq(d[i], WICK_DIM_ANY))
          d[i] = wick_dim_substitute(s->g->module->dims, d[i], 1, &all->axes[a].sym, &zero);
    copy = collapse_with(s, &copy, k, (wick_attr){.n = n->attr[k].n, .dims = d});
  }
  return copy;
}

/* Takes the taps out of windows of one element. Returns whether there are any. */
static bool collapse_drop_taps(collapse *s)
{
  const wick_func *g = s->g;
  const wick_node *stage = g->node;
  bool any = false;
  for (uint32_t i = 0; i + 1 < g->nnode; i = g->node[i].end)
    any = any || collapse_has_taps(g, &g->node[i]);
  if (!any) return false;
  collapse_begin(s, collapse_same_type);
  wick_node *changed = wick_new(s->c.b.mem, wick_node, g->nnode);
  for (uint32_t i = 0; i < g->nnode; i++) {
    const wick_node *n = &g->node[i];
    if (i == stage->end) stage = n;
    bool change = collapse_has_taps(g, stage) &&
                  (n == stage || n->op == WICK_OP_read || n->op == WICK_OP_index);
    if (change)
      changed[i] =
          n == stage ? collapse_stage_without_taps(s, n) : collapse_node_without_taps(s, stage, n);
    wick_copy_node(&s->c, change ? &changed[i] : n);
  }
  collapse_end(s);
  return true;
}

/* Convolutions of single positions are products of matrices, whose columns are the positions: the
 * last axes of images become one. Without such axes the group stays as it was. */
static void collapse_columns(collapse *s)
{
  collapse before = *s;
  if (!collapse_drop_taps(s)) return;
  s->columns = true;
  if (!collapse_find(s) || !wick_dim_is_const(s->inner)) *s = before;
}

/* ---- the whole ---- */

wick_func *wick_group_collapse(const wick_func *group, const uint32_t *joins, wick_arena *mem)
{
  bool direct = collapse_is_plain(group, false), maps = collapse_is_moves(group),
       moves = !direct && maps && collapse_is_plain(group, true);
  collapse s = {.g = group, .plain = direct || moves, .maps = maps, .moves = moves};
  const wick_node *y = wick_return(group);
  s.c.b.mem = mem;
  s.joins = wick_new(mem, uint32_t, group->nvalue + 1);
  memset(s.joins, 0xff, (group->nvalue + 1) * sizeof *s.joins);
  for (uint32_t v = 1; v <= group->nparam; v++) s.joins[v] = joins[v - 1];
  for (uint32_t k = 0; k < y->nin; k++) s.joins[y->in[k].id] &= joins[group->nparam + k];
  s.at = wick_new(mem, uint32_t, group->nvalue + 1);
  s.pair = wick_new(mem, uint32_t, group->nnode);
  if (s.plain)
    collapse_drop_ones(&s);
  else
    collapse_columns(&s);
  while (collapse_find(&s)) collapse_copy(&s);
  return (wick_func *)(uintptr_t)s.g;
}
