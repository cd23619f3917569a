/* Each value of a loop's body is classified by how it depends on the loop: not at all, as the number
 * of an element, or as a vector with an element in each lane. If that leaves nothing else, the loop
 * can begin anywhere. Of other stores those are taken whose indices are sums of multiples of their
 * lanes, so that all are aligned if the buffer is. */
#include "loop/nontemporal.h"

#include "ir/copy.h"
#include "ir/op.h"
#include "target/target.h"

enum {
  NONTEMPORAL_LINES = 8,  /* of a row: the parts at its ends take two more */
  NONTEMPORAL_BYTES = 16, /* of a vector: shorter stores do not gather to lines */
  NONTEMPORAL_BODY = 256, /* nodes of a body, which is copied twice more */
  NONTEMPORAL_DEPTH = 16  /* of sums that are looked at */
};

typedef enum nontemporal_kind {
  NONTEMPORAL_OTHER,
  NONTEMPORAL_SAME,    /* does not depend on the iteration */
  NONTEMPORAL_INDEX,   /* the number of the first lane's element, and what does not depend on it */
  NONTEMPORAL_ELEMENTS /* a vector with an element of the row in each lane */
} nontemporal_kind;

typedef struct nontemporal {
  const wick_func *f;
  const wick_target *target;
  const uint32_t *definer;
  bool *read;             /* per parameter: it is loaded from */
  nontemporal_kind *kind; /* per value */
  bool *follows;          /* per node: it stores whole lines if its buffer begins one */
  bool *has;              /* per parameter: there is such a store */
  wick_value *aligned;    /* per such parameter, of the new function: it begins a line */
  wick_copier c;
} nontemporal;

typedef struct nontemporal_loop {
  const wick_node *loop, *store; /* the store that goes past the caches */
  uint32_t first, end;           /* of the body, without the yield */
  int64_t lo, hi, lanes;
} nontemporal_loop;

static const wick_node *nontemporal_def(const nontemporal *s, wick_value v)
{
  uint32_t d = s->definer[v.id];
  return d == UINT32_MAX ? NULL : &s->f->node[d];
}

static bool nontemporal_number(const nontemporal *s, wick_value v, int64_t *out)
{
  const wick_node *n = nontemporal_def(s, v);
  if (!n || n->op != WICK_OP_const || wick_const_imm(n)->constant) return false;
  *out = wick_const_imm(n)->i;
  return wick_info_of(s->f, v)->elem == WICK_I64 && wick_info_of(s->f, v)->lanes == 1;
}

/* Returns whether n computes the number of the first element of an iteration. */
static bool nontemporal_is_first(const nontemporal_loop *l, const wick_node *n)
{
  return n->op == WICK_OP_mul && n->in[0].id == l->loop->region[0].first.id;
}

/* ---- which stores ---- */

/* Returns the bytes from a buffer's first element to its last; 0 if they are not known. */
static uint64_t nontemporal_bytes(const wick_type_info *t)
{
  int64_t last = 0, dense = 1, size = wick_elem_storage[t->elem].bits / 8;
  for (uint32_t d = t->rank; d-- > 0;) {
    wick_dim stride = t->stride ? t->stride[d] : wick_dim_const(dense);
    int64_t n;
    if (!wick_dim_is_const(t->dim[d]) || !wick_dim_is_const(stride) ||
        wick_mul_overflows(t->dim[d].v - 1, stride.v, &n) || wick_add_overflows(last, n, &last) ||
        wick_mul_overflows(dense, t->dim[d].v, &dense))
      return 0;
  }
  return last < 0 || wick_mul_overflows(last + 1, size, &last) ? 0 : (uint64_t)last;
}

/* Returns whether parameter p is a result that is large enough. */
static bool nontemporal_is_large(const nontemporal *s, uint32_t p)
{
  const wick_type_info *t = wick_info_of(s->f, (wick_value){p + 1});
  return t->kind == WICK_BUFFER && t->space == WICK_IO && s->f->qual[p] == WICK_OUT &&
         nontemporal_bytes(t) >= wick_target_nontemporal(s->target);
}

/* Returns whether the store is to a parameter that the function does not read. */
static bool nontemporal_is_written(const nontemporal *s, const wick_node *store)
{
  return store->in[0].id <= s->f->nparam && !s->read[store->in[0].id - 1];
}

static bool nontemporal_takes(const nontemporal *s, const wick_node *store)
{
  const wick_type_info *v = wick_info_of(s->f, store->in[2]);
  return nontemporal_is_written(s, store) && nontemporal_is_large(s, store->in[0].id - 1) &&
         (v->lanes & (v->lanes - 1)) == 0 &&
         (uint64_t)v->lanes * wick_elem_storage[v->elem].bits >= 8 * NONTEMPORAL_BYTES;
}

/* Returns the number of elements in a cache line. */
static int64_t nontemporal_line(wick_elem e)
{
  return 8 * WICK_LINE / (int64_t)wick_elem_storage[e].bits;
}

/* Returns whether v is a multiple of n. */
static bool nontemporal_multiple(const nontemporal *s, wick_value v, int64_t n, uint32_t depth)
{
  int64_t i;
  const wick_node *d = nontemporal_def(s, v);
  if (nontemporal_number(s, v, &i)) return i % n == 0;
  if (!d || depth == NONTEMPORAL_DEPTH) return false;
  bool sum = d->op == WICK_OP_add || d->op == WICK_OP_sub;
  if (!sum && d->op != WICK_OP_mul) return false;
  bool a = nontemporal_multiple(s, d->in[0], n, depth + 1);
  return a == sum ? nontemporal_multiple(s, d->in[1], n, depth + 1) : a;
}

/* Returns whether n stores whole lines if its buffer begins one. */
static bool nontemporal_follows(const nontemporal *s, const wick_node *n)
{
  if (n->op != WICK_OP_store || n->nin != 3 || !nontemporal_takes(s, n)) return false;
  const wick_type_info *v = wick_info_of(s->f, n->in[2]);
  int64_t line = nontemporal_line(v->elem);
  return v->lanes % line == 0 && n->attr[WICK_ATTR_store_offset].i % line == 0 &&
         nontemporal_multiple(s, n->in[1], line, 0);
}

/* ---- what depends on the iteration ---- */

/* Returns the kind of the operands of n together. */
static nontemporal_kind nontemporal_join(const nontemporal *s, const wick_node *n)
{
  nontemporal_kind k = NONTEMPORAL_SAME;
  for (uint32_t i = 0; i < n->nin; i++) {
    nontemporal_kind x = s->kind[n->in[i].id];
    if (x == NONTEMPORAL_SAME || x == k) continue;
    k = k == NONTEMPORAL_SAME ? x : NONTEMPORAL_OTHER;
  }
  return k;
}

/* Returns whether all lanes of v have one value, which does not depend on the iteration. */
static bool nontemporal_uniform(const nontemporal *s, wick_value v)
{
  if (s->kind[v.id] != NONTEMPORAL_SAME) return false;
  const wick_node *n = nontemporal_def(s, v);
  return wick_info_of(s->f, v)->lanes == 1 ||
         (n && (n->op == WICK_OP_const
                    ? !wick_const_imm(n)->constant
                    : n->op == WICK_OP_broadcast && wick_info_of(s->f, n->in[0])->lanes == 1));
}

/* Returns whether lane i of n's result depends on lane i of its operands alone, and n fails in no
 * lane, also not in one that a mask has emptied. */
static bool nontemporal_by_lanes(const wick_node *n)
{
  return wick_op_of(n)->scalar != WICK_NOT_SCALAR && wick_op_of(n)->effect == WICK_PURE &&
         !n->nregion && n->op != WICK_OP_div_unchecked && n->op != WICK_OP_rem_unchecked;
}

static nontemporal_kind nontemporal_of_vector(const nontemporal *s, const nontemporal_loop *l,
                                              const wick_node *n)
{
  if (wick_info_of(s->f, n->first)->lanes != l->lanes) return NONTEMPORAL_OTHER;
  if (n->op == WICK_OP_load)
    return n->nin == 2 && s->kind[n->in[1].id] == NONTEMPORAL_INDEX ? NONTEMPORAL_ELEMENTS
                                                                    : NONTEMPORAL_OTHER;
  bool lookup = n->op == WICK_OP_load_lanes && n->nin == 3;
  if (!lookup && !nontemporal_by_lanes(n)) return NONTEMPORAL_OTHER;
  for (uint32_t i = lookup ? 1 : 0; i < n->nin; i++)
    if (!nontemporal_uniform(s, n->in[i]) && s->kind[n->in[i].id] != NONTEMPORAL_ELEMENTS)
      return NONTEMPORAL_OTHER;
  return NONTEMPORAL_ELEMENTS;
}

static nontemporal_kind nontemporal_of(const nontemporal *s, const nontemporal_loop *l,
                                       const wick_node *n)
{
  int64_t by;
  if (nontemporal_is_first(l, n))
    return nontemporal_number(s, n->in[1], &by) && by == l->lanes ? NONTEMPORAL_INDEX
                                                                  : NONTEMPORAL_OTHER;
  nontemporal_kind in = nontemporal_join(s, n);
  bool loads = n->op == WICK_OP_load || n->op == WICK_OP_load_lanes;
  if (in == NONTEMPORAL_SAME && !n->nregion && (loads || wick_op_of(n)->effect == WICK_PURE))
    return NONTEMPORAL_SAME;
  if (wick_info_of(s->f, n->first)->lanes > 1) return nontemporal_of_vector(s, l, n);
  bool sum = n->op == WICK_OP_add && in == NONTEMPORAL_INDEX &&
             s->kind[n->in[0].id] != s->kind[n->in[1].id];
  return sum ? NONTEMPORAL_INDEX : NONTEMPORAL_OTHER;
}

/* Returns whether each iteration of the loop computes the lanes of the elements that it stores, and
 * one of these stores can go past the caches. */
static bool nontemporal_body(nontemporal *s, nontemporal_loop *l)
{
  for (uint32_t i = l->first; i < l->end; i++) {
    const wick_node *n = &s->f->node[i];
    if (n->op != WICK_OP_store) {
      if (n->nout != 1 || (s->kind[n->first.id] = nontemporal_of(s, l, n)) == NONTEMPORAL_OTHER)
        return false;
      continue;
    }
    if (n->nin != 3 || !nontemporal_is_written(s, n) || s->kind[n->in[1].id] != NONTEMPORAL_INDEX ||
        wick_info_of(s->f, n->in[2])->lanes != l->lanes ||
        (s->kind[n->in[2].id] != NONTEMPORAL_ELEMENTS && !nontemporal_uniform(s, n->in[2])))
      return false;
    if (!l->store && nontemporal_takes(s, n)) l->store = n;
  }
  return l->store != NULL;
}

/* Returns the vectors of the store that make a line, at least 1. */
static int64_t nontemporal_vectors(const nontemporal *s, const nontemporal_loop *l)
{
  int64_t line = nontemporal_line(wick_info_of(s->f, l->store->in[2])->elem);
  return line > l->lanes ? line / l->lanes : 1;
}

/* Returns whether node i is a loop with such a store, which is described by *out. */
static bool nontemporal_is_loop(nontemporal *s, uint32_t i, nontemporal_loop *out)
{
  const wick_node *n = &s->f->node[i];
  if (n->op != WICK_OP_for || n->nout) return false;
  nontemporal_loop l = {.loop = n, .first = i + 1, .end = n->end - 1};
  if (l.end - l.first > NONTEMPORAL_BODY || !nontemporal_number(s, n->in[0], &l.lo) ||
      !nontemporal_number(s, n->in[1], &l.hi))
    return false;
  for (uint32_t k = l.first; k < l.end; k++) {
    const wick_node *store = &s->f->node[k];
    if (store->nregion) return false;
    if (!l.lanes && store->op == WICK_OP_store) l.lanes = wick_info_of(s->f, store->in[2])->lanes;
  }
  s->kind[n->region[0].first.id] = NONTEMPORAL_OTHER;
  *out = l;
  return l.lanes > 1 && nontemporal_body(s, out) &&
         l.hi - l.lo >= NONTEMPORAL_LINES * nontemporal_vectors(s, out);
}

/* ---- the three parts ---- */

static wick_value nontemporal_masked(nontemporal *s, const wick_node *n, wick_value mask)
{
  wick_value in[4];
  wick_type type = n->nout ? wick_type_of(s->f, n->first) : (wick_type){0};
  for (uint32_t k = 0; k < n->nin; k++) in[k] = s->c.to[n->in[k].id];
  in[n->nin] = mask;
  s->c.b.loc = n->loc;
  return wick_build(&s->c.b, n->op, n->nin + 1u, in, n->attr, n->nout, n->nout ? &type : NULL);
}

static void nontemporal_store(nontemporal *s, const wick_node *n)
{
  wick_value in[3];
  for (uint32_t k = 0; k < 3; k++) in[k] = s->c.to[n->in[k].id];
  wick_attr a[] = {[WICK_ATTR_store_offset] = n->attr[WICK_ATTR_store_offset],
                   [WICK_ATTR_store_nontemporal] = {.i = 1}};
  s->c.b.loc = n->loc;
  wick_build(&s->c.b, WICK_OP_store, 3, in, a, 0, NULL);
}

/* Builds the body for the elements from `at` on, with a mask, or past the caches. */
static void nontemporal_part(nontemporal *s, const nontemporal_loop *l, wick_value at,
                             wick_value mask)
{
  for (uint32_t i = l->first; i < l->end; i++) {
    const wick_node *n = &s->f->node[i];
    bool store = n->op == WICK_OP_store;
    if (nontemporal_is_first(l, n))
      s->c.to[n->first.id] = at;
    else if (mask.id && store)
      nontemporal_masked(s, n, mask);
    else if (mask.id && (n->op == WICK_OP_load || n->op == WICK_OP_load_lanes) &&
             s->kind[n->first.id] == NONTEMPORAL_ELEMENTS)
      s->c.to[n->first.id] = nontemporal_masked(s, n, mask);
    else if (n == l->store)
      nontemporal_store(s, n);
    else
      wick_copy_node(&s->c, n);
  }
}

/* Returns the index of the store's first element, of the elements from `at` on. */
static wick_value nontemporal_index(nontemporal *s, const nontemporal_loop *l, wick_value at)
{
  for (uint32_t i = l->first; i < l->end; i++) {
    const wick_node *n = &s->f->node[i];
    if (n->op == WICK_OP_store || s->kind[n->first.id] == NONTEMPORAL_ELEMENTS) continue;
    if (nontemporal_is_first(l, n))
      s->c.to[n->first.id] = at;
    else if (n->op != WICK_OP_load && n->op != WICK_OP_load_lanes)
      wick_copy_node(&s->c, n);
  }
  return s->c.to[l->store->in[1].id];
}

/* Builds iterations lo to hi of the loop, whose first one begins with element `first`, for the
 * elements before `end`. */
static void nontemporal_border(nontemporal *s, const nontemporal_loop *l, int64_t lo, int64_t hi,
                               wick_value first, wick_value end)
{
  wick_type lanes = wick_type_scalar(s->f->module, WICK_I64, (uint32_t)l->lanes);
  wick_builder *b = &s->c.b;
  wick_value from = wick_build_i64(b, lo), to = wick_build_i64(b, hi),
             i = wick_for_begin(b, from, to, 0, NULL),
             at = wick_build2(b, WICK_OP_mul, i, wick_build_i64(b, l->lanes));
  if (first.id) at = wick_build2(b, WICK_OP_add, at, first);
  wick_value left = wick_build2(b, WICK_OP_sub, end, at),
             iota = wick_build(b, WICK_OP_iota, 0, NULL, NULL, 1, &lanes);
  left = wick_build(b, WICK_OP_broadcast, 1, &left, NULL, 1, &lanes);
  nontemporal_part(s, l, at, wick_build2(b, WICK_OP_lt, iota, left));
  wick_for_end(b, 0, NULL);
}

static void nontemporal_build(nontemporal *s, const nontemporal_loop *l)
{
  wick_builder *b = &s->c.b;
  wick_type i64 = wick_type_scalar(s->f->module, WICK_I64, 1);
  wick_attr peel[] = {[WICK_ATTR_peel_offset] = l->store->attr[WICK_ATTR_store_offset]};
  wick_value lanes = wick_build_i64(b, l->lanes), first = wick_build_i64(b, l->lo * l->lanes),
             in[2] = {s->c.to[l->store->in[0].id], nontemporal_index(s, l, first)},
             peeled = wick_build(b, WICK_OP_peel, 2, in, peel, 1, &i64);
  int64_t line = nontemporal_vectors(s, l), mid = l->lo + (l->hi - l->lo - line) / line * line;
  nontemporal_border(s, l, l->lo, l->lo + line, (wick_value){0},
                     wick_build2(b, WICK_OP_add, first, peeled));
  wick_value lo = wick_build_i64(b, l->lo), hi = wick_build_i64(b, mid),
             i = wick_for_begin(b, lo, hi, 0, NULL),
             at = wick_build2(b, WICK_OP_add, wick_build2(b, WICK_OP_mul, i, lanes), peeled);
  nontemporal_part(s, l, at, (wick_value){0});
  wick_for_end(b, 0, NULL);
  nontemporal_border(s, l, mid, l->hi, peeled, wick_build_i64(b, l->hi * l->lanes));
}

/* ---- stores of whole lines if their buffer begins one ---- */

static void nontemporal_find(nontemporal *s, wick_arena *mem)
{
  const wick_func *f = s->f;
  s->follows = wick_new(mem, bool, f->nnode);
  s->has = wick_new(mem, bool, f->nparam + 1u);
  s->aligned = wick_new(mem, wick_value, f->nparam + 1u);
  for (uint32_t i = 0; i < f->nnode; i++) {
    if (nontemporal_follows(s, &f->node[i])) s->follows[i] = s->has[f->node[i].in[0].id - 1] = true;
  }
}

static void nontemporal_conditions(nontemporal *s)
{
  wick_builder *b = &s->c.b;
  wick_type i64 = wick_type_scalar(s->f->module, WICK_I64, 1);
  for (uint32_t p = 0; p < s->f->nparam; p++) {
    if (!s->has[p]) continue;
    wick_value zero = wick_build_i64(b, 0), in[2] = {s->c.to[p + 1], zero};
    s->aligned[p] =
        wick_build2(b, WICK_OP_eq, wick_build(b, WICK_OP_peel, 2, in, NULL, 1, &i64), zero);
  }
}

/* Builds the stores from node i on that follow each other, in both ways. Returns the node after
 * them. */
static uint32_t nontemporal_choice(nontemporal *s, uint32_t i)
{
  const wick_func *f = s->f;
  uint32_t end = i, buffer = f->node[i].in[0].id;
  while (s->follows[end] && f->node[end].in[0].id == buffer) end++;
  wick_if_begin(&s->c.b, s->aligned[buffer - 1], 0, NULL);
  for (uint32_t k = i; k < end; k++) nontemporal_store(s, &f->node[k]);
  wick_if_else(&s->c.b, 0, NULL);
  for (uint32_t k = i; k < end; k++) wick_copy_node(&s->c, &f->node[k]);
  wick_if_end(&s->c.b, 0, NULL);
  return end;
}

static void nontemporal_begin(nontemporal *s, wick_arena *mem)
{
  const wick_func *f = s->f;
  s->definer = wick_definers_of(f, mem);
  s->read = wick_new(mem, bool, f->nparam + 1u);
  s->kind = wick_new(mem, nontemporal_kind, f->nvalue + 1u);
  for (uint32_t v = 0; v <= f->nvalue; v++) s->kind[v] = NONTEMPORAL_SAME;
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    if (n->op == WICK_OP_store || n->op == WICK_OP_prefetch) continue;
    for (uint32_t k = 0; k < n->nin; k++)
      if (n->in[k].id && n->in[k].id <= f->nparam) s->read[n->in[k].id - 1] = true;
  }
}

wick_status wick_pass_nontemporal(const wick_pass_context *pass, const wick_func *f,
                                  wick_func **out)
{
  nontemporal s = {.f = f, .target = pass->target};
  *out = (wick_func *)(uintptr_t)f;
  bool any = false;
  for (uint32_t p = 0; p < f->nparam && !any; p++) any = nontemporal_is_large(&s, p);
  if (!any) return NULL;
  nontemporal_begin(&s, pass->mem);
  nontemporal_find(&s, pass->mem);
  s.c = wick_copy_begin(f, pass->mem);
  nontemporal_conditions(&s);
  for (uint32_t i = 0; i < f->nnode;) {
    nontemporal_loop l;
    if (nontemporal_is_loop(&s, i, &l)) {
      nontemporal_build(&s, &l);
      i = l.loop->end;
    } else if (s.follows[i]) {
      i = nontemporal_choice(&s, i);
    } else {
      wick_copy_node(&s.c, &f->node[i++]);
    }
  }
  return wick_copy_finish(&s.c, out);
}
