/* Random graph functions for tests: the basis of the steps, which are in random_operators.h and
 * random_flow.h.
 *
 * Each graph is for one pair of an operator and an element type that it accepts, and builds this
 * pair first. Pairs follow the seeds in turn, so that as many consecutive seeds as there are
 * pairs build all of them. Then steps choose operators at random, and try to build them on
 * existing values; inference refuses what does not fit. The generator therefore needs no rules
 * of its own except useful sizes, and a new scalar operator takes part automatically. */
#ifndef WICK_TESTS_RANDOM_GRAPH_H
#define WICK_TESTS_RANDOM_GRAPH_H

#include <string.h>

#include "ir/build.h"
#include "ir/element.h"
#include "ops/elementwise/scalar.h"

typedef struct random_pair {
  wick_opcode op;
  wick_elem elem;
} random_pair;

/* Settings of graphs; zeros: all operators, about 36 nodes. */
typedef struct random_wish {
  const uint64_t *types; /* per operator: the element types to build it with */
  bool alone;            /* only the operator of the pair, and what it needs */
  const int64_t *size;   /* three frequent dimensions of parameters; NULL: none */
  uint32_t flow;         /* depth of nested branches and loops; 0: none */
  bool empty;            /* dimensions may be 0 */
} random_wish;

typedef struct random_graph {
  random_wish wish;
  wick_builder b;
  wick_module *m;
  uint64_t seed;
  uint64_t only; /* element types that steps may use; 0: any */
  wick_list(wick_value) values;
  wick_arena *tmp;
  uint32_t nests; /* how deep regions may still be nested (random_flow.h) */
} random_graph;

static uint32_t random_below(random_graph *r, uint32_t n)
{
  r->seed = r->seed * 6364136223846793005u + 1442695040888963407u;
  return n ? (uint32_t)((r->seed >> 33) % n) : 0;
}
#define RANDOM_OF(r, list) list[random_below(r, WICK_COUNT(list))]

/* Returns whether a dimension is 0: one in eight, if dimensions may be 0. */
static bool random_empty(random_graph *r) { return r->wish.empty && random_below(r, 8) == 0; }

static const wick_elem random_elems[] = {
    WICK_F32, WICK_F32, WICK_F32, WICK_F32, WICK_F32, WICK_F32, WICK_F64, WICK_F16, WICK_BF16,
    WICK_I64, WICK_I32, WICK_I16, WICK_I8,  WICK_U64, WICK_U32, WICK_U16, WICK_U8,  WICK_BOOL};

/* Returns an element type that is requested with some operator. */
static wick_elem random_elem(random_graph *r)
{
  uint64_t some = 0;
  for (uint32_t op = 0; op < WICK_NOP && r->wish.types; op++) some |= r->wish.types[op];
  for (int tries = 0; tries < 100; tries++) {
    wick_elem e = RANDOM_OF(r, random_elems);
    if (!some || some >> e & 1) return e;
  }
  return WICK_F32;
}

/* ---- operators to build ---- */

/* Returns the requested element types that an operator accepts; 0 if it cannot be built by
 * itself. */
static uint64_t random_types(const random_wish *w, wick_opcode op)
{
  const wick_op *row = wick_ops[op];
  if (!(row->level & WICK_GRAPH) || row->nregion[1] ||
      row->attr[WICK_ATTR_call_callee].kind == WICK_ATTR_FUNC ||
      !(wick_compute_of(op) || row->expand))
    return 0;
  uint64_t all = row->elems ? row->elems & WICK_PLAIN : WICK_PLAIN;
  if (w->types) all &= w->types[op];
  return op == WICK_OP_one_hot ? all & WICK_INTS : all;
}

/* Returns the nth pair of an operator and an element type; *n is their number. */
static random_pair random_pair_of(const random_wish *w, uint64_t nth, uint32_t *n)
{
  random_pair p = {WICK_OP_none, WICK_F32};
  uint32_t count = 0;
  *n = 0;
  for (int found = 0; found < 2; found++, *n = count, count = 0)
    for (uint32_t op = 1; op < WICK_NOP; op++)
      for (uint64_t s = random_types(w, (wick_opcode)op); s; s &= s - 1, count++)
        if (found && *n && count == nth % *n)
          p = (random_pair){(wick_opcode)op, (wick_elem)__builtin_ctzll(s)};
  return p;
}

/* ---- values ---- */

static const wick_type_info *random_info(const random_graph *r, wick_value v)
{
  return wick_built_info(&r->b, v);
}

static wick_value random_value(random_graph *r)
{
  return r->values.at[random_below(r, r->values.n)];
}

static uint64_t random_numel(const wick_type_info *t)
{
  uint64_t n = 1;
  for (uint32_t k = 0; k < t->rank; k++) n *= (uint64_t)t->dim[k].v;
  return n;
}

/* Returns a constant, or one number for all elements, made by a cast. Weights are constants most of
 * the time. */
static wick_value random_tensor(random_graph *r, wick_elem e, uint32_t rank, const int64_t *dim,
                                bool constant)
{
  wick_type type = wick_type_tensor_const(r->m, e, rank, dim);
  if (!constant) return wick_build_cast(&r->b, wick_build_const(&r->b, type, 0.5, 1), e);
  uint64_t nbytes = 0;
  wick_type_nbytes(r->m, type, &nbytes);
  char *data = wick_arena_alloc(&r->m->mem, nbytes, 64);
  uint64_t n = random_numel(wick_type_get(r->m, type));
  for (uint64_t k = 0; k < n; k++) {
    double x = ((double)random_below(r, 2001) - 1000) / 1000;
    wick_store_elem(e, data, k,
                    wick_elem_is_float(e)
                        ? (wick_scalar){.f = x}
                        : (wick_scalar){.i = random_below(r, 7) + (e == WICK_BOOL ? 0 : 1)});
  }
  return wick_build_constant(&r->b, wick_constant_add(r->m, "w", type, data, nbytes));
}

/* Returns indices below `extent`; negative ones count from the end. */
static wick_value random_numbers(random_graph *r, wick_elem e, uint32_t rank, const int64_t *dim,
                                 int64_t extent)
{
  wick_type type = wick_type_tensor_const(r->m, e, rank, dim);
  uint64_t nbytes = 0, n = random_numel(wick_type_get(r->m, type));
  wick_type_nbytes(r->m, type, &nbytes);
  char *data = wick_arena_alloc(&r->m->mem, nbytes, 64);
  for (uint64_t k = 0; k < n; k++)
    wick_store_elem(e, data, k,
                    (wick_scalar){.i = (int64_t)random_below(r, (uint32_t)(2 * extent)) - extent});
  return wick_build_constant(&r->b, wick_constant_add(r->m, "index", type, data, nbytes));
}

static wick_value random_indices(random_graph *r, uint32_t rank, const int64_t *dim, int64_t extent)
{
  static const wick_elem elems[] = {WICK_I64, WICK_I64, WICK_I32, WICK_I16};
  return random_numbers(r, RANDOM_OF(r, elems), rank, dim, extent);
}

/* Returns a value that satisfies a condition, or 0. If only some element types are requested, the
 * first parameter has one; if its rank is not right, it returns a constant. */
static wick_value random_where(random_graph *r, uint64_t elems, uint32_t least_rank,
                               uint32_t most_rank)
{
  uint64_t wanted = elems ? elems : UINT64_MAX;
  if (r->only & wanted) wanted &= r->only;
  for (int tries = 0; tries < 12; tries++) {
    wick_value v = r->only && tries == 0 ? r->values.at[0] : random_value(r);
    const wick_type_info *t = random_info(r, v);
    if (wanted >> t->elem & 1 && t->rank >= least_rank && t->rank <= most_rank) return v;
  }
  if (!r->only) return (wick_value){0};
  int64_t dim[4];
  uint32_t rank = least_rank + random_below(r, (most_rank < 4 ? most_rank : 4) - least_rank + 1);
  for (uint32_t k = 0; k < rank; k++) dim[k] = random_empty(r) ? 0 : 1 + random_below(r, 5);
  return random_tensor(r, (wick_elem)__builtin_ctzll(wanted), rank, dim, true);
}

/* Returns a value of element type e whose shape broadcasts with v's. */
static wick_value random_partner(random_graph *r, wick_value v, wick_elem e)
{
  const wick_type_info t = *random_info(r, v);
  for (int tries = 0; tries < 16; tries++) {
    wick_value w = random_value(r);
    const wick_type_info *u = random_info(r, w);
    bool same = u->rank == t.rank;
    for (uint32_t k = 0; same && k < t.rank; k++) same = wick_dim_eq(u->dim[k], t.dim[k]);
    if (!same && random_numel(u) != 1) continue;
    if (u->elem == e) return w;
    if (tries > 8) return wick_build_cast(&r->b, w, e);
  }
  int64_t dim[WICK_MAX_RANK];
  uint32_t kind = random_below(r, 3), rank = kind == 0 ? t.rank : kind == 1 && t.rank ? 1 : 0;
  for (uint32_t k = 0; k < rank; k++) dim[k] = t.dim[t.rank - rank + k].v;
  for (uint32_t k = 0; k < rank && kind == 0; k++) dim[k] = random_below(r, 3) ? dim[k] : 1;
  return random_tensor(r, e, rank, dim, true);
}

/* ---- attributes ---- */

/* Returns attributes. Words and flags are random; others have the operator's default. */
static wick_attr *random_attrs(random_graph *r, wick_opcode op)
{
  wick_attr *a = wick_new(r->tmp, wick_attr, WICK_MAX_ATTR);
  for (uint32_t i = 0; i < wick_op_nattr(wick_ops[op]); i++) {
    const wick_attr_spec *s = &wick_ops[op]->attr[i];
    uint32_t n = s->kind == WICK_ATTR_BOOL ? 2 : 1;
    for (const char *at = s->kind == WICK_ATTR_ENUM ? s->words : ""; *at; at++) n += *at == ' ';
    a[i].n = n > 1 && random_below(r, 2) ? 0 : WICK_ATTR_UNSET;
    if (!a[i].n) a[i].i = random_below(r, n);
  }
  return a;
}
static wick_attr *random_attr(wick_opcode op, wick_attr *a, const char *name)
{
  static wick_attr none;
  for (uint32_t i = 0; i < wick_op_nattr(wick_ops[op]); i++)
    if (strcmp(wick_ops[op]->attr[i].name, name) == 0) {
      a[i].n = 0;
      return &a[i];
    }
  return &none;
}
static void random_set_ints(random_graph *r, wick_opcode op, wick_attr *a, const char *name,
                            uint32_t n, const int64_t *ints)
{
  wick_attr *at = random_attr(op, a, name);
  at->n = n;
  at->ints = wick_dup(r->tmp, int64_t, ints, n);
}
static void random_set_dims(random_graph *r, wick_opcode op, wick_attr *a, const char *name,
                            uint32_t n, const int64_t *dims)
{
  wick_dim *d = wick_new(r->tmp, wick_dim, n);
  for (uint32_t i = 0; i < n; i++) d[i] = wick_dim_const(dims[i]);
  wick_attr *at = random_attr(op, a, name);
  at->n = n;
  at->dims = d;
}

/* ---- steps ---- */

/* Returns the operand whose element type counts for the pair: the first tensor of data; nin if
 * there is none. */
static uint32_t random_counted_operand(wick_opcode op, uint32_t nin)
{
  uint32_t k = wick_ops[op]->scalar == WICK_RULE_SELECT;
  while (k < nin && k < 32 && wick_ops[op]->aux_operands >> k & 1) k++;
  return k < nin ? k : nin;
}

static bool random_wanted(const random_graph *r, wick_opcode op, uint32_t nin, const wick_value *in)
{
  uint32_t k = random_counted_operand(op, nin);
  if (!r->wish.types || k == nin || !in[k].id) return true;
  return r->wish.types[op] >> random_info(r, in[k])->elem & 1;
}

/* Builds the node if it is requested, inference allows it and the result is small. Its results then
 * are values. */
static wick_value random_build(random_graph *r, wick_opcode op, uint32_t nin, const wick_value *in,
                               const wick_attr *a, const wick_type *want)
{
  uint32_t nnode = r->b.nodes.n;
  for (uint32_t k = 0; k < nin; k++)
    if (!in[k].id && k < wick_ops[op]->nin[0]) return (wick_value){0};
  if (!random_wanted(r, op, nin, in)) return (wick_value){0};
  wick_value v = wick_build(&r->b, op, nin, in, a, want ? 1 : 0, want);
  if (r->b.status || !v.id) {
    r->b.status = NULL;
    return (wick_value){0};
  }
  const wick_node *n = &r->b.nodes.at[nnode];
  for (uint32_t k = 0; k < n->nout; k++) {
    const wick_type_info *t = random_info(r, (wick_value){n->first.id + k});
    if (random_numel(t) <= 6000 && (r->wish.empty || random_numel(t)) && t->rank <= 6)
      wick_push(r->tmp, &r->values, (wick_value){n->first.id + k});
  }
  return v;
}

#endif
