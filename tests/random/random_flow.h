/* Steps of random graphs that branch and loop: regions of a few operators, on existing values. */
#ifndef WICK_TESTS_RANDOM_FLOW_H
#define WICK_TESTS_RANDOM_FLOW_H

#include "random_operators.h"

enum { RANDOM_CARRIED = 3 };

static wick_type random_index_type(random_graph *r)
{
  return wick_type_tensor(r->m, WICK_I64, 0, NULL);
}

/* Reads one element of v at `begin`. */
static wick_value random_element(random_graph *r, wick_value v, const int64_t *begin)
{
  uint32_t rank = random_info(r, v)->rank;
  int64_t size[WICK_MAX_RANK];
  for (uint32_t k = 0; k < rank; k++) size[k] = 1;
  wick_attr *a = random_attrs(r, WICK_OP_slice), *none = random_attrs(r, WICK_OP_reshape);
  random_set_dims(r, WICK_OP_slice, a, "begin", rank, begin);
  random_set_dims(r, WICK_OP_slice, a, "shape", rank, size);
  random_set_dims(r, WICK_OP_reshape, none, "shape", 0, size);
  wick_value one = wick_build(&r->b, WICK_OP_slice, 1, &v, a, 0, NULL);
  return wick_build(&r->b, WICK_OP_reshape, 1, &one, none, 0, NULL);
}

/* Returns one element of an existing value as an i64, so that conditions and counts depend on
 * inputs. Half of them are first elements, which exist for any size. */
static wick_value random_number(random_graph *r)
{
  wick_value v = random_value(r);
  const wick_type_info t = *random_info(r, v);
  int64_t begin[WICK_MAX_RANK];
  bool first = random_below(r, 2);
  for (uint32_t k = 0; k < t.rank; k++)
    begin[k] = first ? 0 : random_below(r, (uint32_t)t.dim[k].v);
  wick_value one = random_element(r, v, begin);
  one = wick_build_cast(&r->b, one, t.elem == WICK_U64 ? WICK_U16 : WICK_I16);
  return wick_build_cast(&r->b, one, WICK_I64);
}

static wick_value random_i64(random_graph *r, int64_t i)
{
  return wick_build_const(&r->b, random_index_type(r), 0, i);
}

/* Returns the latest value of x's type in a region; if there is none, one computed from x, or
 * sometimes x itself. */
static wick_value random_yield(random_graph *r, wick_value x)
{
  wick_type type = wick_built_type(&r->b, x);
  wick_elem e = random_info(r, x)->elem;
  wick_opcode by = e == WICK_BOOL ? WICK_OP_xor : random_below(r, 2) ? WICK_OP_max : WICK_OP_add;
  if (random_below(r, 3)) {
    wick_value in[2] = {x, random_partner(r, x, e)};
    random_build(r, by, 2, in, NULL, NULL);
  }
  for (uint32_t i = r->values.n; random_below(r, 8) && i-- > 0;)
    if (wick_type_eq(wick_built_type(&r->b, r->values.at[i]), type)) return r->values.at[i];
  return x;
}

static void random_if(random_graph *r);
static void random_loop(random_graph *r);

/* Makes nested regions, if they are requested. */
static void random_steps(random_graph *r)
{
  for (uint32_t n = 1 + random_below(r, 4); n > 0; n--) {
    uint32_t flow = r->nests ? random_below(r, 6) : 2;
    if (flow < 2) r->nests--;
    if (flow == 0) random_if(r);
    if (flow == 1) random_loop(r);
    if (flow < 2) r->nests++;
    if (flow >= 2) random_step(r);
  }
}

static void random_push(random_graph *r, uint32_t nvalue, wick_value first, uint32_t n)
{
  r->values.n = nvalue; /* values of regions are not visible outside */
  for (uint32_t k = 0; k < n && first.id; k++)
    wick_push(r->tmp, &r->values, (wick_value){first.id + k});
}

static void random_if(random_graph *r)
{
  wick_value x[RANDOM_CARRIED], y[RANDOM_CARRIED], zero = random_i64(r, 0);
  wick_value cond = wick_build2(&r->b, WICK_OP_gt, random_number(r), zero);
  uint32_t n = 1 + random_below(r, RANDOM_CARRIED), nvalue = r->values.n;
  for (uint32_t k = 0; k < n; k++) x[k] = random_value(r);
  wick_build_open(&r->b, WICK_OP_if, 1, &cond, NULL, 0, NULL);
  for (uint32_t arm = 0; arm < 2; arm++) {
    r->values.n = nvalue;
    wick_region_begin(&r->b, 0, NULL);
    random_steps(r);
    for (uint32_t k = 0; k < n; k++) y[k] = random_yield(r, x[k]);
    wick_yield(&r->b, n, y);
  }
  random_push(r, nvalue, wick_build_close(&r->b), n);
}

/* Selects a row of some value by the loop's index. */
static void random_taken(random_graph *r, wick_value index)
{
  wick_value in[2] = {random_where(r, 0, 1, 4), index};
  if (!in[0].id) return;
  wick_attr *a = random_attrs(r, WICK_OP_dynamic_index);
  random_attr(WICK_OP_dynamic_index, a, "axis")->i = random_below(r, random_info(r, in[0])->rank);
  random_build(r, WICK_OP_dynamic_index, 2, in, a, NULL);
}

/* Returns the count of a loop, at most `most`: a number, or a dimension of an existing value; half
 * of the time an element of a value, if it is less. */
static wick_value random_count(random_graph *r, int64_t *most)
{
  enum { MOST_ROWS = 13 };
  *most = random_below(r, 6);
  wick_value count = random_i64(r, *most), v = random_where(r, 0, 1, WICK_MAX_RANK);
  int64_t axis = v.id ? random_below(r, random_info(r, v)->rank) : 0;
  if (v.id && random_info(r, v)->dim[axis].v <= MOST_ROWS && random_below(r, 2)) {
    *most = random_info(r, v)->dim[axis].v;
    count = random_element(
        r, wick_build(&r->b, WICK_OP_shape, 1, &v, random_attrs(r, WICK_OP_shape), 0, NULL), &axis);
  }
  if (random_below(r, 2)) count = wick_build2(&r->b, WICK_OP_min, random_number(r), count);
  return count;
}

static void random_loop(random_graph *r)
{
  uint32_t n = 1 + random_below(r, RANDOM_CARRIED), nvalue = r->values.n,
           nstacked = random_below(r, 2);
  int64_t most;
  wick_value x[1 + RANDOM_CARRIED], y[2 + RANDOM_CARRIED];
  wick_type type[1 + RANDOM_CARRIED] = {random_index_type(r)};
  x[0] = random_count(r, &most);
  for (uint32_t k = 1; k <= n; k++) {
    x[k] = random_value(r);
    type[k] = wick_built_type(&r->b, x[k]);
  }
  if (nstacked && (!most || random_info(r, x[1])->rank > 4)) nstacked = 0;
  wick_dim rows = wick_dim_const(most);
  wick_attr a[2] = {{.i = nstacked}, {.n = nstacked, .dims = &rows}};
  wick_build_open(&r->b, WICK_OP_loop, 1 + n, x, a, 0, NULL);
  wick_value param = wick_region_begin(&r->b, 1 + n, type);
  for (uint32_t k = 0; k <= n; k++) wick_push(r->tmp, &r->values, (wick_value){param.id + k});
  if (random_below(r, 2)) random_taken(r, param);
  random_steps(r);
  for (uint32_t k = 1; k <= n; k++) y[k] = random_yield(r, (wick_value){param.id + k});
  y[1 + n] = y[1];
  bool stops = random_below(r, 3) == 0;
  wick_value limit = stops ? random_number(r) : param;
  y[0] = wick_build2(&r->b, stops ? WICK_OP_lt : WICK_OP_eq, param, limit);
  if (!stops && random_below(r, 2))
    y[0] = wick_build_const(&r->b, wick_type_tensor(r->m, WICK_BOOL, 0, NULL), 0, 1);
  wick_yield(&r->b, 1 + n + nstacked, y);
  random_push(r, nvalue, wick_build_close(&r->b), n + nstacked);
}

/* Builds a function @main of about 20 nodes, with the seed's pair among them. It returns the pair's
 * value and up to six unused values. Returns NULL if the pair cannot be built. */
static wick_func *random_function(random_graph *r, wick_module *m, uint64_t seed,
                                  const random_wish *wish, wick_arena *mem, wick_arena *tmp)
{
  uint32_t npair, nout = 0;
  random_pair pair = random_pair_of(wish, seed, &npair);
  *r = (random_graph){.wish = *wish, .m = m, .seed = seed * 2 + 1, .tmp = tmp};
  r->nests = wish->flow ? wish->flow - 1 : 0;
  for (int i = 0; i < 4; i++) random_below(r, 2);
  wick_build_begin(&r->b, m, WICK_GRAPH, "main", mem);
  random_params(r, pair);
  r->only = WICK_BIT(pair.elem);
  wick_value out[7] = {{0}};
  for (int tries = 0; tries < 100 && !out[0].id; tries++) {
    random_row(r, pair.op);
    out[0] = random_find(r, pair);
  }
  if (!out[nout++].id) return NULL;
  r->only = 0;
  for (int tries = 0; !wish->alone && tries < 200 && r->b.nodes.n < 36; tries++)
    if (!wish->flow || random_below(r, 24))
      random_step(r);
    else if (random_below(r, 2))
      random_if(r);
    else
      random_loop(r);
  bool *used = wick_new(tmp, bool, r->b.values.n);
  used[out[0].id] = true;
  for (uint32_t i = 0; i < r->b.nodes.n; i++)
    for (uint32_t k = 0; k < r->b.nodes.at[i].nin; k++) used[r->b.nodes.at[i].in[k].id] = true;
  for (uint32_t i = r->values.n; i-- > 0 && nout < WICK_COUNT(out);)
    if (!used[r->values.at[i].id] && r->values.at[i].id > r->b.nparam)
      out[nout++] = r->values.at[i];
  wick_build_return(&r->b, nout, out);
  wick_func *f = NULL;
  return wick_build_end(&r->b, &f) ? NULL : f;
}

#endif
