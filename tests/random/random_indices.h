/* Random operators with operands of their own: indices, tables, trees; and those without a tensor
 * operand. For random_operators.h. */
#ifndef WICK_TESTS_RANDOM_INDICES_H
#define WICK_TESTS_RANDOM_INDICES_H

#include "random_graph.h"

static void random_gather(random_graph *r, wick_opcode op)
{
  wick_value x = random_where(r, 0, 1, 4);
  if (!x.id) return;
  const wick_type_info t = *random_info(r, x);
  int64_t d[WICK_MAX_RANK];
  uint32_t axis = random_below(r, t.rank), rank = op == WICK_OP_gather ? 1 + random_below(r, 2)
                                                  : op == WICK_OP_gather_elements ? t.rank
                                                                                  : 2;
  for (uint32_t k = 0; k < rank; k++)
    d[k] = op == WICK_OP_gather_elements ? t.dim[k].v : 1 + random_below(r, 4);
  if (op == WICK_OP_gather_nd) axis = 0, d[1] = 1;
  wick_value in[2] = {x, random_indices(r, rank, d, t.dim[axis].v)};
  wick_attr *a = random_attrs(r, op);
  if (op != WICK_OP_gather_nd) random_attr(op, a, "axis")->i = axis;
  random_build(r, op, 2, in, a, NULL);
}

static void random_take(random_graph *r, wick_opcode op)
{
  wick_value in[2] = {random_where(r, 0, 1, 4)};
  if (!in[0].id) return;
  wick_attr *a = random_attrs(r, op);
  uint32_t axis = random_below(r, random_info(r, in[0])->rank);
  random_attr(op, a, "axis")->i = axis;
  in[1] = wick_build_const(&r->b, wick_type_tensor(r->m, WICK_I64, 0, NULL), 0,
                           (int64_t)random_below(r, 8) - 2);
  random_build(r, op, 2, in, a, NULL);
}

static void random_scatter(random_graph *r, wick_opcode op)
{
  wick_value x = random_where(r, 0, 1, 4), in[3] = {x};
  if (!x.id) return;
  const wick_type_info t = *random_info(r, x);
  wick_attr *a = random_attrs(r, op);
  int64_t d[WICK_MAX_RANK], n[2] = {1 + random_below(r, 4), 1};
  uint32_t axis = random_below(r, t.rank);
  for (uint32_t k = 0; k < t.rank; k++) d[k] = t.dim[k].v;
  if (op == WICK_OP_scatter_nd) { /* rows of x */
    in[1] = random_indices(r, 2, n, d[0]), d[0] = n[0];
  } else {
    random_attr(op, a, "axis")->i = axis;
    for (uint32_t k = 0; k < t.rank; k++) d[k] = 1 + random_below(r, (uint32_t)d[k]);
    in[1] = random_indices(r, t.rank, d, t.dim[axis].v);
  }
  in[2] = random_tensor(r, t.elem, t.rank, d, random_below(r, 4) != 0);
  random_build(r, op, 3, in, a, NULL);
}

static void random_one_hot(random_graph *r, wick_opcode op)
{
  static const int64_t two = 2;
  wick_value x = random_where(r, WICK_INTS, 0, 4);
  if (!x.id) return;
  int64_t depth = 1 + random_below(r, 9);
  wick_value in[2] = {x, random_tensor(r, RANDOM_OF(r, random_elems), 1, &two, true)};
  wick_attr *a = random_attrs(r, op);
  random_attr(op, a, "axis")->i = (int64_t)random_below(r, random_info(r, x)->rank + 1u) - 1;
  random_set_dims(r, op, a, "depth", 1, &depth);
  random_build(r, op, 2, in, a, NULL);
}

/* Any boxes, in any order. */
static void random_suppress(random_graph *r, wick_opcode op)
{
  wick_value x = random_where(r, WICK_FLOATS, 0, 4);
  if (!x.id) return;
  wick_elem e = random_info(r, x)->elem;
  int64_t n = 1 + random_below(r, 9), k = 1 + random_below(r, 7);
  int64_t boxes[3] = {1 + random_below(r, 2), 4, n},
          scores[3] = {boxes[0], 1 + random_below(r, 3), k};
  wick_value in[3];
  in[0] = random_tensor(r, e, 3, boxes, true);
  in[1] = random_tensor(r, e, 3, scores, true);
  wick_type type = wick_type_tensor_const(r->m, WICK_I64, 3, scores);
  int64_t numel = scores[0] * scores[1] * k, *order = wick_new(&r->m->mem, int64_t, (size_t)numel);
  for (int64_t i = 0; i < numel; i++) order[i] = random_below(r, (uint32_t)n);
  uint32_t number = wick_constant_add(r->m, "order", type, order, (uint64_t)numel * sizeof *order);
  in[2] = wick_build_constant(&r->b, number);
  wick_attr *a = random_attrs(r, op);
  random_set_dims(r, op, a, "most", 1, (int64_t[]){random_below(r, 5)});
  random_attr(op, a, "overlap")->f = 0.125 * random_below(r, 8);
  random_build(r, op, 3, in, a, NULL);
}

static void random_places(random_graph *r, wick_opcode op)
{
  wick_value x = random_where(r, WICK_BIT(WICK_BOOL), 1, 1);
  int64_t n = 1 + random_below(r, 60);
  if (!x.id) x = random_tensor(r, WICK_BOOL, 1, &n, true);
  random_build(r, op, 1, &x, NULL, NULL);
}

static void random_search(random_graph *r, wick_opcode op)
{
  wick_value x = random_where(r, WICK_NUMBERS, 0, 4);
  if (!x.id) return;
  wick_elem e = random_info(r, x)->elem;
  int64_t n = 1 + random_below(r, 40);
  wick_type type = wick_type_tensor_const(r->m, e, 1, &n);
  uint64_t nbytes = wick_elem_bytes(e, (uint64_t)n);
  char *data = wick_arena_alloc(&r->m->mem, nbytes + 8, 64);
  for (int64_t k = 0; k < n; k++) /* rising */
    wick_store_elem(e, data, (uint64_t)k,
                    wick_elem_is_float(e) ? (wick_scalar){.f = 0.25 * (double)(k - n / 2)}
                                          : (wick_scalar){.i = k});
  wick_value keys = wick_build_constant(&r->b, wick_constant_add(r->m, "keys", type, data, nbytes));
  wick_value in[2] = {x, keys};
  random_build(r, op, 2, in, NULL, NULL);
}

/* Children are any nodes, so that there may be cycles. */
static void random_tree(random_graph *r, wick_opcode op)
{
  wick_value x = random_where(r, wick_ops[op]->elems, 2, 2);
  if (!x.id) return;
  const wick_type_info t = *random_info(r, x);
  int64_t n = 1 + random_below(r, 12), two[2] = {n, 2}, at[2] = {1, 1 + random_below(r, 20)};
  bool rows_last = random_below(r, 2);
  if (rows_last) at[0] = at[1], at[1] = random_below(r, 2) ? 1 : t.dim[0].v;
  wick_value in[5] = {x, random_numbers(r, WICK_I32, 1, &n, t.dim[1].v),
                      random_tensor(r, t.elem, 1, &n, true), random_numbers(r, WICK_I32, 2, two, n),
                      random_numbers(r, WICK_I32, 2, at, n)};
  wick_attr *a = random_attrs(r, op);
  random_attr(op, a, "depth")->i = 1 + random_below(r, 5);
  random_attr(op, a, "rows_last")->i = rows_last;
  random_build(r, op, 5, in, a, NULL);
}

/* Probabilities of pairs of classes. */
static void random_couple(random_graph *r, wick_opcode op)
{
  uint64_t elems = wick_ops[op]->elems & (r->only ? r->only : ~UINT64_C(0));
  if (!elems) return;
  wick_elem e =
      elems & (elems - 1) && random_below(r, 2) ? WICK_F64 : (wick_elem)__builtin_ctzll(elems);
  int64_t k = 2 + random_below(r, 4), dim[3] = {1 + random_below(r, 20), k, k};
  wick_value x = random_tensor(r, e, 3, dim, true);
  x = random_build(r, WICK_OP_sigmoid, 1, &x, NULL, NULL);
  if (x.id) random_build(r, op, 1, &x, random_attrs(r, op), NULL);
}

/* A pass of a Fourier transform, with arbitrary roots. */
static void random_fourier(random_graph *r, wick_opcode op)
{
  uint64_t elems = wick_ops[op]->elems & (r->only ? r->only : ~UINT64_C(0));
  if (!elems) return;
  wick_elem e =
      elems & (elems - 1) && random_below(r, 2) ? WICK_F64 : (wick_elem)__builtin_ctzll(elems);
  int64_t n = 1 + random_below(r, random_below(r, 3) ? 12 : 32), rest = 1 + random_below(r, 20),
          dim[4] = {1 + random_below(r, 2), 1 + random_below(r, 20), n, rest},
          root[3] = {2, n - 1, rest};
  uint32_t rank = 3 + random_below(r, 2);
  wick_value in[2] = {random_tensor(r, e, rank, dim, random_below(r, 2) == 0), {0}};
  if (rank == 4 && n > 1 && random_below(r, 2)) in[1] = random_tensor(r, e, 3, root, true);
  wick_attr *a = random_attrs(r, op);
  random_attr(op, a, "inverse")->i = random_below(r, 2);
  if (in[0].id) random_build(r, op, in[1].id ? 2 : 1, in, a, NULL);
}

/* Operators without a tensor operand. */
static void random_made(random_graph *r, wick_opcode op)
{
  wick_elem e = r->only ? (wick_elem)__builtin_ctzll(r->only) : RANDOM_OF(r, random_elems);
  int64_t d[2] = {1 + random_below(r, 12), 1 + random_below(r, 12)};
  wick_attr *a = random_attrs(r, op);
  if (op == WICK_OP_random) {
    wick_value key = random_tensor(r, WICK_U64, 0, NULL, true);
    wick_type want = wick_type_tensor_const(r->m, e, 2, d);
    random_build(r, op, 1, &key, a, &want);
  } else if (op == WICK_OP_range) {
    wick_value in[2] = {random_tensor(r, e, 0, NULL, true), random_tensor(r, e, 0, NULL, true)};
    random_set_dims(r, op, a, "count", 1, d);
    random_build(r, op, 2, in, a, NULL);
  } else {
    wick_type want = wick_type_tensor_const(r->m, e, 2, d);
    random_attr(op, a, "k")->i = (int64_t)random_below(r, 7) - 3;
    random_build(r, op, 0, NULL, a, &want);
  }
}

#endif
