/* Shorthands of the builder: unary to ternary nodes, immediates, stages. */
#include <string.h>

#include "ir/build.h"
#include "ir/element.h"

wick_value wick_build1(wick_builder *b, wick_opcode op, wick_value x)
{
  return wick_build(b, op, 1, &x, NULL, 0, NULL);
}

wick_value wick_build2(wick_builder *b, wick_opcode op, wick_value x, wick_value y)
{
  wick_value in[2] = {x, y};
  return wick_build(b, op, 2, in, NULL, 0, NULL);
}

wick_value wick_build3(wick_builder *b, wick_opcode op, wick_value x, wick_value y, wick_value z)
{
  wick_value in[3] = {x, y, z};
  return wick_build(b, op, 3, in, NULL, 0, NULL);
}

wick_value wick_build_cast(wick_builder *b, wick_value x, wick_elem to)
{
  wick_type t = wick_built_type(b, x), want = wick_type_with_elem(b->module, t, to);
  return wick_type_eq(t, want) || b->status ? x
                                            : wick_build(b, WICK_OP_cast, 1, &x, NULL, 1, &want);
}

wick_value wick_build_reshape(wick_builder *b, wick_value x, uint32_t rank, const wick_dim *dim)
{
  wick_attr a = {.n = rank, .dims = dim};
  return wick_build(b, WICK_OP_reshape, 1, &x, &a, 0, NULL);
}

wick_value wick_build_transpose(wick_builder *b, wick_value x, uint32_t rank, const int64_t *perm)
{
  wick_attr a = {.n = rank, .ints = perm};
  return wick_build(b, WICK_OP_transpose, 1, &x, &a, 0, NULL);
}

wick_value wick_build_swap(wick_builder *b, wick_value x)
{
  int64_t perm[WICK_MAX_RANK];
  if (b->status) return x;
  uint32_t rank = wick_built_info(b, x)->rank;
  for (uint32_t k = 0; k < rank; k++) perm[k] = k;
  perm[rank - 2] = rank - 1, perm[rank - 1] = rank - 2;
  return wick_build_transpose(b, x, rank, perm);
}

wick_value wick_build_concat(wick_builder *b, uint32_t axis, uint32_t n, const wick_value *in)
{
  wick_attr a = {.i = axis};
  return wick_build(b, WICK_OP_concat, n, in, &a, 0, NULL);
}

wick_value wick_build_again(wick_builder *b, wick_value x)
{
  if (b->status) return x;
  const wick_type_info *t = wick_built_info(b, x);
  return wick_build_reshape(b, x, t->rank, t->dim);
}

wick_value wick_build_slice(wick_builder *b, wick_value x, uint32_t rank, const wick_dim *begin,
                            const wick_dim *shape, const int64_t *step)
{
  wick_attr a[] = {[WICK_ATTR_slice_begin] = {.n = rank, .dims = begin},
                   [WICK_ATTR_slice_shape] = {.n = rank, .dims = shape},
                   [WICK_ATTR_slice_step] = {.n = step ? rank : 0, .ints = step}};
  return wick_build(b, WICK_OP_slice, 1, &x, a, 0, NULL);
}

wick_value wick_build_slice_axis(wick_builder *b, wick_value x, uint32_t axis, wick_dim begin,
                                 wick_dim size, int64_t step)
{
  if (b->status) return x;
  const wick_type_info *t = wick_built_info(b, x);
  wick_dim from[WICK_MAX_RANK], shape[WICK_MAX_RANK];
  int64_t steps[WICK_MAX_RANK];
  for (uint32_t k = 0; k < t->rank; k++) {
    from[k] = k == axis ? begin : wick_dim_const(0);
    shape[k] = k == axis ? size : t->dim[k];
    steps[k] = k == axis ? step : 1;
  }
  return wick_build_slice(b, x, t->rank, from, shape, step == 1 ? NULL : steps);
}

wick_value wick_build_construct(wick_builder *b, wick_type type, uint32_t ctor, uint32_t n,
                                const wick_value *field)
{
  const wick_attr attr[] = {
      [WICK_ATTR_construct_ctor] = {.i = ctor}, [WICK_ATTR_construct_reuse] = {0}};
  return wick_build(b, WICK_OP_construct, n, field, attr, 1, &type);
}

wick_value wick_build_const(wick_builder *b, wick_type type, double f, int64_t i)
{
  wick_elem e = wick_type_get(b->module, type)->elem;
  if (wick_elem_is_float(e)) f = wick_round_elem(e, (wick_scalar){.f = f}).f;
  wick_attr a = {.imm = {.f = f, .i = i}};
  return wick_build(b, WICK_OP_const, 0, NULL, &a, 1, &type);
}

wick_value wick_build_like(wick_builder *b, wick_value x, double number)
{
  const wick_type_info *t = wick_built_info(b, x);
  wick_type type = t->kind == WICK_SCALAR ? wick_built_type(b, x)
                                          : wick_type_tensor(b->module, t->elem, 0, NULL);
  bool is_float = wick_elem_is_float(t->elem);
  return wick_build_const(b, type, is_float ? number : 0, is_float ? 0 : (int64_t)number);
}

wick_value wick_build_constant(wick_builder *b, uint32_t constant)
{
  wick_attr a = {.imm = {.constant = constant}};
  wick_type type = wick_constant_get(b->module, constant)->type;
  return wick_build(b, WICK_OP_const, 0, NULL, &a, 1, &type);
}

wick_value wick_build_i64(wick_builder *b, int64_t i)
{
  return wick_build_const(b, wick_type_scalar(b->module, WICK_I64, 1), 0, i);
}

void wick_build_failure(wick_builder *b, wick_code code, wick_value bad, wick_value detail,
                        wick_dim of)
{
  wick_value in[2] = {bad, detail};
  wick_attr attr[] = {[WICK_ATTR_fail_code] = {.i = code},
                      [WICK_ATTR_fail_of] = {.i = wick_dim_is_const(of) ? of.v : 0}};
  wick_build(b, WICK_OP_fail, 2, in, attr, 0, NULL);
}

/* ---- stages ---- */

wick_axis wick_make_axis(wick_builder *b, const char *name, wick_dim extent, bool reduce)
{
  int64_t lo, hi;
  wick_dim_range(b->module->dims, extent, &lo, &hi);
  return (wick_axis){wick_dim_symbol(b->module->dims, name, 0, hi > 0 ? hi - 1 : 0), extent,
                     reduce};
}

/* Returns a unique name for a stage of the group: the second `exp` is `exp.1`. */
static const char *shorthand_name(wick_builder *b, const char *name)
{
  uint32_t same = 0;
  size_t n = strlen(name);
  for (uint32_t i = 0; i < b->nodes.n; i++) {
    const wick_node *s = &b->nodes.at[i];
    if (!wick_op_of(s)->stage) continue;
    const char *have = s->attr[WICK_ATTR_map_name].s;
    same += strncmp(have, name, n) == 0 && (have[n] == 0 || have[n] == '.');
  }
  return same ? wick_str_printf(b->mem, "%s.%u", name, same) : name;
}

static void shorthand_stage(wick_builder *b, wick_opcode op, const char *name, uint32_t naxis,
                            const wick_axis *axis, const char *bound, uint32_t nout,
                            const wick_type *out)
{
  wick_attr a[] = {[WICK_ATTR_map_name] = {.s = shorthand_name(b, name)},
                   [WICK_ATTR_map_axes] = {.n = naxis, .axes = axis},
                   [WICK_ATTR_map_bound] = {.s = bound}};
  wick_build_open(b, op, 0, NULL, a, nout, out);
}

void wick_map_begin(wick_builder *b, const char *name, uint32_t naxis, const wick_axis *axis,
                    uint32_t nout, const wick_type *out)
{
  wick_map_begin_within(b, NULL, name, naxis, axis, nout, out);
}

void wick_map_begin_within(wick_builder *b, const char *bound, const char *name, uint32_t naxis,
                           const wick_axis *axis, uint32_t nout, const wick_type *out)
{
  shorthand_stage(b, WICK_OP_map, name, naxis, axis, bound, nout, out);
  wick_region_begin(b, 0, NULL);
}

wick_value wick_map_end(wick_builder *b, uint32_t n, const wick_value *v)
{
  wick_yield(b, n, v);
  return wick_build_close(b);
}

wick_value wick_read(wick_builder *b, wick_value tensor, const wick_dim *index, uint32_t nany,
                     const wick_value *any, wick_value otherwise)
{
  if (b->status) return (wick_value){0};
  const wick_type_info *t = wick_built_info(b, tensor);
  wick_value in[WICK_MAX_RANK + 2] = {tensor};
  uint32_t nin = 1;
  for (uint32_t i = 0; i < nany; i++) in[nin++] = any[i];
  if (otherwise.id) in[nin++] = otherwise;
  wick_attr a[] = {[WICK_ATTR_read_index] = {.n = t->rank, .dims = index},
                   [WICK_ATTR_read_guard] = {.i = otherwise.id != 0}};
  return wick_build(b, WICK_OP_read, nin, in, a, 0, NULL);
}

wick_value wick_index(wick_builder *b, wick_dim expr)
{
  wick_attr a = {.n = 1, .dims = &expr};
  return wick_build(b, WICK_OP_index, 0, NULL, &a, 0, NULL);
}

/* ---- loop nests ---- */

wick_value wick_loop_nest_begin(wick_builder *b, const char *name, uint32_t naxis,
                                const wick_axis *axis, uint32_t nout, const wick_type *out)
{
  shorthand_stage(b, WICK_OP_loop_nest, name, naxis, axis, NULL, nout, out);
  return wick_region_begin(b, nout, out);
}

wick_value wick_loop_nest_end(wick_builder *b)
{
  wick_yield(b, 0, NULL);
  return wick_build_close(b);
}

static wick_value shorthand_place(wick_builder *b, wick_opcode op, wick_value tensor,
                                  const wick_dim *index, uint32_t nany, const wick_value *any,
                                  wick_value v)
{
  if (b->status) return (wick_value){0};
  wick_value in[WICK_MAX_RANK + 2] = {tensor};
  uint32_t nin = 1;
  for (uint32_t i = 0; i < nany; i++) in[nin++] = any[i];
  if (v.id) in[nin++] = v;
  wick_attr a = {.n = wick_built_info(b, tensor)->rank, .dims = index};
  return wick_build(b, op, nin, in, &a, 0, NULL);
}

wick_value wick_get(wick_builder *b, wick_value tensor, const wick_dim *index, uint32_t nany,
                    const wick_value *any)
{
  return shorthand_place(b, WICK_OP_element_load, tensor, index, nany, any, (wick_value){0});
}

void wick_put(wick_builder *b, wick_value tensor, const wick_dim *index, uint32_t nany,
              const wick_value *any, wick_value v)
{
  shorthand_place(b, WICK_OP_element_store, tensor, index, nany, any, v);
}

static wick_type *shorthand_types(wick_builder *b, uint32_t n, const wick_value *v)
{
  wick_type *type = wick_new(b->mem, wick_type, n + 1);
  for (uint32_t i = 0; i < n && !b->status; i++) type[i] = wick_built_type(b, v[i]);
  return type;
}

wick_value wick_for_begin(wick_builder *b, wick_value lo, wick_value hi, uint32_t n,
                          const wick_value *init)
{
  wick_value *in = wick_new(b->mem, wick_value, n + 2);
  wick_type *type = wick_new(b->mem, wick_type, n + 1);
  in[0] = lo, in[1] = hi, type[0] = wick_type_scalar(b->module, WICK_I64, 1);
  for (uint32_t i = 0; i < n; i++) {
    in[2 + i] = init[i];
    type[1 + i] = b->status ? type[0] : wick_built_type(b, init[i]);
  }
  wick_build_open(b, WICK_OP_for, n + 2, in, NULL, 0, NULL);
  return wick_region_begin(b, n + 1, type);
}

wick_value wick_for_size_begin(wick_builder *b, wick_dim size, uint32_t n, const wick_value *first)
{
  wick_value end = wick_index(b, size);
  return wick_for_begin(b, wick_build_i64(b, 0), end, n, first);
}

void wick_for_sizes_begin(wick_builder *b, uint32_t n, const wick_dim *size, wick_value *index)
{
  for (uint32_t k = 0; k < n; k++) index[k] = wick_for_size_begin(b, size[k], 0, NULL);
}

wick_value wick_for_end(wick_builder *b, uint32_t n, const wick_value *next)
{
  wick_yield(b, n, next);
  return wick_build_close(b);
}

wick_value wick_while_begin(wick_builder *b, uint32_t n, const wick_value *init)
{
  wick_build_open(b, WICK_OP_while, n, init, NULL, 0, NULL);
  return wick_region_begin(b, n, shorthand_types(b, n, init));
}

wick_value wick_while_body(wick_builder *b, wick_value condition, uint32_t n,
                           const wick_value *like)
{
  wick_yield(b, 1, &condition);
  return wick_region_begin(b, n, shorthand_types(b, n, like));
}

wick_value wick_while_end(wick_builder *b, uint32_t n, const wick_value *next)
{
  return wick_for_end(b, n, next);
}

void wick_if_begin(wick_builder *b, wick_value condition, uint32_t n, const wick_value *like)
{
  wick_build_open(b, WICK_OP_if, 1, &condition, NULL, n, shorthand_types(b, n, like));
  wick_region_begin(b, 0, NULL);
}

void wick_if_else(wick_builder *b, uint32_t n, const wick_value *then)
{
  wick_yield(b, n, then);
  wick_region_begin(b, 0, NULL);
}

wick_value wick_if_end(wick_builder *b, uint32_t n, const wick_value *otherwise)
{
  return wick_for_end(b, n, otherwise);
}

/* ---- folds ---- */

void wick_fold_open(wick_builder *b, const char *name, uint32_t naxis, const wick_axis *axis,
                    uint32_t nout, const wick_type *out)
{
  shorthand_stage(b, WICK_OP_fold, name, naxis, axis, NULL, nout, out);
}

wick_value wick_build_neutral(wick_builder *b, wick_opcode op, wick_type type)
{
  wick_elem e = wick_type_get(b->module, type)->elem;
  if (!wick_ops[op]->neutral) {
    wick_build_fail(b, WICK_EINTERNAL, "%s has no neutral element", wick_ops[op]->name);
    return (wick_value){0};
  }
  wick_scalar s = wick_ops[op]->neutral(e);
  bool is_float = wick_elem_is_float(e);
  return wick_build_const(b, type, is_float ? s.f : 0, is_float ? 0 : s.i);
}

/* Opens a fold that combines with `op`, up to its step region. The state is the region's
 * parameter. */
void wick_fold_begin(wick_builder *b, const char *name, uint32_t naxis, const wick_axis *axis,
                     wick_type out, wick_opcode op)
{
  wick_fold_open(b, name, naxis, axis, 1, &out);
  wick_elem e = wick_type_get(b->module, out)->elem;
  wick_type s = wick_type_scalar(b->module, e, 1);
  wick_region_begin(b, 0, NULL);
  wick_value neutral = wick_build_neutral(b, op, s);
  wick_yield(b, 1, &neutral);
  b->fold_state = wick_region_begin(b, 1, &s);
  b->fold_op = op;
}

/* Completes a fold whose step was built: yields the state's next value, merges with the
 * operator, and returns the state as the result. */
static wick_value shorthand_fold_rest(wick_builder *b, wick_value next)
{
  if (b->status) return (wick_value){0};
  wick_type s = wick_built_type(b, b->fold_state);
  wick_yield(b, 1, &next);
  wick_value a = wick_region_begin(b, 2, (wick_type[]){s, s});
  wick_value m = wick_build2(b, b->fold_op, a, (wick_value){a.id + 1});
  wick_yield(b, 1, &m);
  wick_value r = wick_region_begin(b, 1, &s);
  wick_yield(b, 1, &r);
  return wick_build_close(b);
}

wick_value wick_fold_end(wick_builder *b, wick_value element)
{
  return shorthand_fold_rest(b, wick_build2(b, b->fold_op, b->fold_state, element));
}

wick_value wick_fold_end_muladd(wick_builder *b, wick_value x, wick_value y)
{
  bool is_float = !b->status && wick_elem_is_float(wick_built_info(b, x)->elem);
  wick_value next =
      is_float ? wick_build3(b, WICK_OP_muladd, x, y, b->fold_state)
               : wick_build2(b, WICK_OP_add, b->fold_state, wick_build2(b, WICK_OP_mul, x, y));
  return shorthand_fold_rest(b, next);
}

wick_value wick_build_view(wick_builder *b, wick_value x, wick_type type, int64_t offset,
                           const wick_picked *choice)
{
  bool chosen = choice && choice->index.id;
  wick_value in[2] = {x, chosen ? choice->index : (wick_value){0}};
  const wick_attr unset = {.n = WICK_ATTR_UNSET};
  wick_attr a[] = {
      [WICK_ATTR_view_offset] = {.i = offset},
      [WICK_ATTR_view_step] = chosen ? (wick_attr){.i = choice->step} : unset,
      [WICK_ATTR_view_count] = chosen ? (wick_attr){.i = choice->count} : unset,
      [WICK_ATTR_view_reverse] = chosen ? (wick_attr){.i = choice->reverse} : unset,
  };
  return wick_build(b, WICK_OP_view, 1 + chosen, in, a, 1, &type);
}

wick_picked wick_view_choice(const wick_node *n)
{
  if (n->op != WICK_OP_view || n->nin < 2) return (wick_picked){.count = 1};
  return (wick_picked){n->in[1], n->attr[WICK_ATTR_view_step].i, n->attr[WICK_ATTR_view_count].i,
                       n->attr[WICK_ATTR_view_reverse].i != 0};
}
