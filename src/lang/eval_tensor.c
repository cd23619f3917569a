/* Tensors of the evaluator: operators by their references, indices, literals. */
#include "ir/build.h"
#include "ir/element.h"
#include "lang/eval_state.h"
#include "ops/evaluate.h"
#include "ops/ref.h"

wick_datum *wick_eval_new(eval *e, wick_datum_kind kind, uint32_t n)
{
  wick_datum *d = wick_new(e->mem, wick_datum, 1);
  d->kind = kind, d->n = n;
  if (n) d->item = wick_new(e->mem, const wick_datum *, n);
  return d;
}

wick_datum *wick_eval_tensor(eval *e, wick_elem elem, uint32_t rank, const int64_t *dim)
{
  wick_datum *d = wick_eval_new(e, WICK_DATUM_TENSOR, 0);
  d->tensor = (wick_tensor){.elem = elem, .rank = rank};
  for (uint32_t i = 0; i < rank; i++) d->tensor.dim[i] = dim[i];
  d->tensor.data =
      wick_arena_alloc(e->mem, (size_t)wick_elem_bytes(elem, wick_ref_numel(&d->tensor)), 64);
  return d;
}

wick_scalar wick_eval_get(const wick_datum *d, uint64_t k)
{
  return wick_load_elem(d->tensor.elem, d->tensor.data, k);
}

void wick_eval_set(const wick_datum *d, uint64_t k, wick_scalar v)
{
  wick_store_elem(d->tensor.elem, d->tensor.data, k, v);
}

const wick_datum *wick_eval_int(eval *e, int64_t i)
{
  const wick_datum *d = wick_eval_tensor(e, WICK_I64, 0, NULL);
  wick_eval_set(d, 0, (wick_scalar){.i = i});
  return d;
}

const wick_datum *wick_eval_bool(eval *e, bool b)
{
  const wick_datum *d = wick_eval_tensor(e, WICK_BOOL, 0, NULL);
  wick_eval_set(d, 0, (wick_scalar){.i = b});
  return d;
}

const wick_datum *wick_eval_cast(eval *e, const wick_datum *d, wick_elem to)
{
  if (d->tensor.elem == to && !d->weak) return d;
  wick_datum *r = wick_eval_tensor(e, to, d->tensor.rank, d->tensor.dim);
  for (uint64_t k = 0, n = wick_ref_numel(&d->tensor); k < n; k++)
    wick_eval_set(r, k, wick_cast_elem(d->tensor.elem, to, wick_eval_get(d, k)));
  wick_eval_record(e, WICK_OP_cast, NULL, 1, &d, 1, &r);
  return r;
}

/* ---- operators ---- */

/* Evaluates static arguments and sizes as numbers. */
static bool eval_tensor_ints(eval *e, eval_frame *f, const wick_ast *n, int64_t *out,
                             uint32_t *count)
{
  const wick_datum *all = wick_eval_expr(e, f, n);
  bool tuple = all->kind == WICK_DATUM_TUPLE;
  if (e->failed || (!tuple && (all->kind != WICK_DATUM_TENSOR || all->tensor.rank > 1)))
    return false;
  *count = tuple ? all->n : (uint32_t)wick_ref_numel(&all->tensor);
  if (*count > 64) return false;
  for (uint32_t i = 0; i < *count; i++) {
    const wick_datum *d = tuple ? all->item[i] : all;
    if (d->kind != WICK_DATUM_TENSOR || (tuple && d->tensor.rank)) return false;
    out[i] = wick_cast_elem(d->tensor.elem, WICK_I64, wick_eval_get(d, tuple ? 0 : i)).i;
  }
  return true;
}

static bool eval_tensor_attr(eval *e, eval_frame *f, const wick_ast *v, const wick_attr_spec *spec,
                             wick_attr *out)
{
  int64_t number[64] = {0};
  uint32_t n = 0;
  *out = (wick_attr){0};
  if (spec->kind == WICK_ATTR_STRING || spec->kind == WICK_ATTR_ENUM) {
    const char *w = spec->words;
    if (v->kind != WICK_AST_STRING) return false;
    out->s = spec->kind == WICK_ATTR_STRING ? wick_intern(e->t->module, v->name) : NULL;
    if (spec->kind == WICK_ATTR_STRING) return true;
    size_t length = strlen(v->name);
    for (out->i = 0; *w; out->i++) {
      size_t k = strcspn(w, " ");
      if (k == length && memcmp(w, v->name, k) == 0) return true;
      w += k + (w[k] == ' ');
    }
    return false;
  }
  if (spec->kind == WICK_ATTR_FLOAT) {
    const wick_datum *d = wick_eval_expr(e, f, v);
    if (e->failed || d->kind != WICK_DATUM_TENSOR || d->tensor.rank) return false;
    out->f = wick_cast_elem(d->tensor.elem, WICK_F64, wick_eval_get(d, 0)).f;
    return true;
  }
  if (!eval_tensor_ints(e, f, v, number, &n)) return false;
  out->n = n;
  if (spec->kind == WICK_ATTR_INTS) {
    out->ints = wick_dup(e->mem, int64_t, number, n);
  } else if (spec->kind == WICK_ATTR_DIMS) {
    wick_dim *dim = wick_new(e->mem, wick_dim, n);
    for (uint32_t i = 0; i < n; i++) dim[i] = wick_dim_const(number[i]);
    out->dims = dim;
  } else {
    out->n = 0, out->i = number[0];
    return n == 1;
  }
  return true;
}

static const wick_datum *eval_tensor_weak(eval *e, const wick_datum *d)
{
  wick_datum *w = wick_dup(e->mem, wick_datum, d, 1);
  w->weak = d->kind == WICK_DATUM_TENSOR && d->tensor.elem != WICK_BOOL;
  return w;
}

/* The element type of the result of n, where it is one that literals of its operands may have. */
static bool eval_tensor_result_elem(const eval_frame *f, const wick_op *op, const wick_ast *n,
                                    bool floats, wick_elem *out)
{
  const wick_ty *t = f ? wick_ty_of(f->typed->type[n->id]) : NULL;
  if (!t || t->kind != WICK_TY_TENSOR || op->scalar == WICK_RULE_COMPARE) return false;
  if (!wick_eval_elem(f, wick_ty_of(t->arg[0]), out)) return false;
  return floats ? wick_elem_is_float(*out) : *out != WICK_BOOL && *out != WICK_STRING;
}

/* Weak operands take the element type of the first operand that is not, or of the result. Returns
 * whether there was one; otherwise the result is weak, too. */
static bool eval_tensor_strengthen(eval *e, const eval_frame *f, const wick_op *op,
                                   const wick_ast *n, uint32_t narg, const wick_datum **arg)
{
  const wick_datum *strong = NULL;
  bool floats = false;
  uint32_t from = op->scalar == WICK_RULE_SELECT;
  for (uint32_t i = from; i < narg; i++) {
    if (!wick_op_is_data(op, i)) continue;
    if (!arg[i]->weak && !strong) strong = arg[i];
    floats = floats || wick_elem_is_float(arg[i]->tensor.elem);
  }
  wick_elem to;
  bool known = strong || eval_tensor_result_elem(f, op, n, floats, &to);
  if (strong) to = strong->tensor.elem;
  if (!known) to = floats ? WICK_F32 : WICK_I64;
  for (uint32_t i = from; i < narg; i++) {
    if (!arg[i]->weak || !wick_op_is_data(op, i)) continue;
    const wick_datum *d = wick_eval_cast(e, arg[i], to);
    arg[i] = known ? d : eval_tensor_weak(e, d);
  }
  return known;
}

/* Builds a function of one node, and runs it by the references. */
uint32_t wick_eval_run(eval *e, const wick_ast *n, wick_opcode op, uint32_t narg,
                       const wick_datum *const *arg, const wick_attr *attr, uint32_t nwant,
                       const wick_type *want, uint32_t most, const wick_datum **out)
{
  wick_builder b;
  wick_func *fn;
  wick_mark tmp = wick_arena_mark(&e->tmp);
  wick_value *in = wick_new(&e->tmp, wick_value, narg);
  wick_tensor *tensor = wick_new(&e->tmp, wick_tensor, narg);
  uint32_t nin = 0;
  wick_build_begin(&b, e->t->module, WICK_GRAPH, "eval", &e->tmp);
  for (uint32_t i = 0; i < narg; i++) {
    if (!arg[i]) continue;
    tensor[nin] = arg[i]->tensor;
    in[i] = wick_build_param(
        &b,
        wick_type_tensor_const(e->t->module, tensor[nin].elem, tensor[nin].rank, tensor[nin].dim),
        WICK_IN, "");
    nin++;
  }
  wick_value first = wick_build(&b, op, narg, in, attr, nwant, want);
  const wick_node *node = b.status ? NULL : &b.nodes.at[b.nodes.n - 1];
  uint32_t nout = node ? node->nout : 0;
  wick_value *result = wick_new(&e->tmp, wick_value, nout);
  for (uint32_t i = 0; i < nout; i++) result[i].id = first.id + i;
  if (node) attr = node->attr;
  if (!b.status) wick_build_return(&b, nout, result);
  wick_status s = wick_build_end(&b, &fn);
  wick_tensor *value = wick_new(&e->tmp, wick_tensor, nout);
  wick_datum **made = wick_new(&e->tmp, wick_datum *, nout);
  if (!s) s = wick_evaluate(fn, nin, tensor, NULL, e->mem, &e->results, &e->scratch, value);
  if (s) wick_eval_fail(e, n, "%s", s->message);
  for (uint32_t i = 0; i < nout && !s; i++) {
    made[i] = wick_eval_new(e, WICK_DATUM_TENSOR, 0);
    made[i]->tensor = value[i];
    if (i < most) out[i] = made[i];
  }
  if (!s) wick_eval_record(e, op, attr, narg, arg, nout, made);
  wick_arena_rewind(&e->tmp, tmp);
  return s ? 0 : nout;
}

static const wick_datum *eval_tensor_results(eval *e, const wick_ast *n, wick_opcode op,
                                             uint32_t narg, const wick_datum **arg,
                                             const wick_attr *attr, const wick_type *want)
{
  enum { MOST = 64 };
  const wick_datum *out[MOST];
  uint32_t nout = wick_eval_run(e, n, op, narg, arg, attr, want ? 1 : 0, want, MOST, out);
  if (nout > MOST) wick_eval_fail(e, n, "the evaluator takes at most %d results", MOST);
  if (e->failed) return wick_eval_fail(e, n, " ");
  if (wick_ops[op]->nout[0] == 1 && wick_ops[op]->nout[1] == 1) return out[0];
  wick_datum *all = wick_eval_new(e, WICK_DATUM_TUPLE, nout);
  for (uint32_t i = 0; i < nout; i++) all->item[i] = out[i];
  return all;
}

/* The type of a result that the program gives, with the sizes of this call. */
static bool eval_tensor_want(eval *e, eval_frame *f, const wick_ast *n, wick_type *out)
{
  int64_t dim[WICK_MAX_RANK];
  uint32_t rank = 0;
  if (!f) return false; /* the operator is a value */
  wick_ty *t = wick_ty_of(f->typed->type[n->id]);
  if (t->kind != WICK_TY_TENSOR) return false;
  const wick_ty *elem = wick_ty_of(t->arg[0]), *shape = wick_ty_flat(e->t, t->arg[1]),
                *rest = shape->kind == WICK_TY_VAR ? shape : NULL;
  wick_elem of;
  bool known = wick_eval_elem(f, elem, &of);
  if (!known || (!rest && shape->kind != WICK_TY_SHAPE)) return false;
  uint32_t ndim = rest ? 0 : shape->ndim, front = rest ? 0 : shape->front;
  if (!rest && shape->rest) rest = wick_ty_of(shape->rest);
  for (uint32_t i = 0; i <= ndim; i++) {
    if (i == front && rest) {
      uint32_t k = 0;
      while (k < f->rest.n && f->rest.at[k].var != rest) k++;
      if (k == f->rest.n || rank + f->rest.at[k].ndim > WICK_MAX_RANK) return false;
      for (uint32_t j = 0; j < f->rest.at[k].ndim; j++) dim[rank++] = f->rest.at[k].dim[j];
    }
    if (i == ndim) break;
    if (rank == WICK_MAX_RANK ||
        !wick_dim_eval(e->t->dims, wick_ty_dim(e->t, shape->dim[i]), f->symbol.n, f->symbol.at,
                       f->size.at, &dim[rank++]))
      return false;
  }
  *out = wick_type_tensor_const(e->t->module, of, rank, dim);
  return true;
}

const wick_datum *wick_eval_operator(eval *e, eval_frame *f, const wick_ast *n, wick_opcode op,
                                     bool keepdims, uint32_t narg, const wick_datum **arg)
{
  const wick_op *row = wick_ops[op];
  uint32_t nattr = wick_op_nattr(row);
  wick_attr attr[WICK_MAX_ATTR];
  wick_type want = {0};
  bool weak = narg && !row->typed,
       scalars = row->scalar && row->scalar != WICK_RULE_TYPED && row->eval;
  for (uint32_t i = 0; i < narg; i++) {
    if (arg[i]->kind != WICK_DATUM_TENSOR) return wick_eval_fail(e, n, "this is no tensor");
    scalars = scalars && !arg[i]->tensor.rank;
  }
  weak = !eval_tensor_strengthen(e, f, row, n, narg, arg) && weak;
  for (uint32_t i = 0; i < nattr; i++) {
    attr[i] = (wick_attr){.n = WICK_ATTR_UNSET};
    if (keepdims && strcmp(row->attr[i].name, "keepdims") == 0) attr[i] = (wick_attr){0};
  }
  for (uint32_t i = 1; n->kind == WICK_AST_CALL && i < n->nkid; i++) {
    const wick_ast *k = n->kid[i];
    uint32_t a = 0;
    if (k->kind != WICK_AST_NAMED) continue;
    while (a < nattr && strcmp(row->attr[a].name, k->name) != 0) a++;
    scalars = false;
    if (a == nattr || !eval_tensor_attr(e, f, k->kid[0], &row->attr[a], &attr[a]))
      return wick_eval_fail(e, k, "this attribute is not known");
  }
  if (scalars && !nattr && !row->expand &&
      (op != WICK_OP_div && op != WICK_OP_mod && op != WICK_OP_fmod)) {
    wick_scalar in[8];
    uint32_t data = row->scalar == WICK_RULE_SELECT;
    wick_elem elem = arg[data]->tensor.elem,
              out = row->scalar == WICK_RULE_COMPARE ? WICK_BOOL : elem;
    for (uint32_t i = 0; i < narg && i < 8; i++) in[i] = wick_eval_get(arg[i], 0);
    wick_datum *r = wick_eval_tensor(e, out, 0, NULL);
    wick_eval_set(r, 0, wick_eval_scalar(op, NULL, elem, out, in));
    wick_eval_record(e, op, NULL, narg, arg, 1, &r);
    r->weak = weak && row->scalar == WICK_RULE_SAME;
    return r;
  }
  if (row->typed && !eval_tensor_want(e, f, n, &want))
    return wick_eval_fail(e, n, "the type of the result is not known");
  const wick_datum *out = eval_tensor_results(e, n, op, narg, arg, attr, row->typed ? &want : NULL);
  return weak ? eval_tensor_weak(e, out) : out;
}

/* ---- indices ---- */

typedef struct eval_part {
  int64_t begin, count, step;
  const wick_datum *list; /* of a tensor of indices */
  bool kept;              /* a slice: the dimension stays */
} eval_part;

static bool eval_tensor_number(eval *e, eval_frame *f, const wick_ast *n, int64_t *out)
{
  const wick_datum *d = wick_eval_expr(e, f, n);
  if (e->failed || d->kind != WICK_DATUM_TENSOR || d->tensor.rank) return false;
  *out = wick_cast_elem(d->tensor.elem, WICK_I64, wick_eval_get(d, 0)).i;
  return true;
}

static bool eval_tensor_part(eval *e, eval_frame *f, const wick_ast *k, int64_t size,
                             eval_part *out)
{
  *out = (eval_part){.count = 1, .step = 1};
  if (k->kind != WICK_AST_SLICE) {
    const wick_datum *d = wick_eval_expr(e, f, k);
    if (e->failed) return false;
    if (d->tensor.rank) {
      out->list = d;
      out->count = (int64_t)wick_ref_numel(&d->tensor);
      return true;
    }
    int64_t i = wick_cast_elem(d->tensor.elem, WICK_I64, wick_eval_get(d, 0)).i;
    out->begin = i < 0 ? i + size : i;
    if (out->begin >= 0 && out->begin < size) return true;
    wick_eval_fail(e, k, "the index %lld is outside of the size %lld", (long long)i,
                   (long long)size);
    return false;
  }
  int64_t end = size;
  if (k->kid[0] && !eval_tensor_number(e, f, k->kid[0], &out->begin)) return false;
  if (k->kid[1] && !eval_tensor_number(e, f, k->kid[1], &end)) return false;
  if (k->kid[2] && !eval_tensor_number(e, f, k->kid[2], &out->step)) return false;
  if (out->begin < 0) out->begin += size;
  if (end < 0) end += size;
  out->kept = true;
  if (out->begin < 0 || end > size || out->begin > end || out->step < 1) {
    wick_eval_fail(e, k, "the slice %lld:%lld is outside of the size %lld", (long long)out->begin,
                   (long long)end, (long long)size);
    return false;
  }
  out->count = wick_ceildiv_i64(end - out->begin, out->step);
  return true;
}

/* x[...], or x with [...] = value. */
const wick_datum *wick_eval_index(eval *e, eval_frame *f, const wick_ast *n, const wick_datum *x,
                                  const wick_datum *value)
{
  eval_part part[WICK_MAX_RANK];
  int64_t dim[2 * WICK_MAX_RANK], stride[WICK_MAX_RANK], at[WICK_MAX_RANK] = {0},
                                                         count[WICK_MAX_RANK];
  uint32_t rank = 0, npart = n->nkid - 1;
  const wick_tensor *t = &x->tensor;
  if (npart > t->rank) return wick_eval_fail(e, n, "too many indices");
  for (uint32_t i = 0; i < t->rank; i++) {
    part[i] = (eval_part){.count = t->dim[i], .step = 1, .kept = true};
    if (i < npart && !eval_tensor_part(e, f, n->kid[i + 1], t->dim[i], &part[i])) return x;
    count[i] = part[i].count;
    if (part[i].kept) dim[rank++] = part[i].count;
    for (uint32_t j = 0; part[i].list && j < part[i].list->tensor.rank; j++)
      dim[rank++] = part[i].list->tensor.dim[j];
    if (rank > WICK_MAX_RANK) return wick_eval_fail(e, n, "too many dimensions");
  }
  wick_ref_strides(t, stride);
  wick_datum *out = wick_eval_tensor(e, t->elem, value ? t->rank : rank, value ? t->dim : dim);
  const wick_datum *source[2] = {x, NULL};
  uint64_t total = 1, nx = wick_ref_numel(t);
  for (uint32_t i = 0; i < t->rank; i++) total *= (uint64_t)count[i];
  if (value) {
    if (value->weak) value = wick_eval_cast(e, value, t->elem);
    memcpy(out->tensor.data, t->data, (size_t)wick_elem_bytes(t->elem, wick_ref_numel(t)));
    if (wick_ref_numel(&value->tensor) != total)
      return wick_eval_fail(e, n, "the new part has another size");
  }
  source[1] = value;
  int64_t *origin = NULL;
  if (wick_eval_is_traced(value ? 2 : 1, source)) {
    origin = wick_new(e->mem, int64_t, wick_ref_numel(&out->tensor) + 1);
    for (uint64_t k = 0; k < nx && value; k++) origin[k] = (int64_t)k;
  }
  for (uint64_t k = 0; k < total; k++) {
    int64_t from = 0;
    for (uint32_t i = 0; i < t->rank; i++) {
      int64_t index = part[i].begin + at[i] * part[i].step;
      if (part[i].list) index = wick_eval_get(part[i].list, (uint64_t)at[i]).i;
      if (index < 0) index += t->dim[i];
      if (index < 0 || index >= t->dim[i])
        return wick_eval_fail(e, n, "the index %lld is outside of the size %lld", (long long)index,
                              (long long)t->dim[i]);
      from += index * stride[i];
    }
    if (value)
      wick_ref_move(&out->tensor, (uint64_t)from, &value->tensor, k);
    else
      wick_ref_move(&out->tensor, k, t, (uint64_t)from);
    if (origin) origin[value ? (uint64_t)from : k] = value ? (int64_t)(nx + k) : from;
    wick_ref_next(t->rank, count, at);
  }
  if (origin) wick_eval_record_move(e, value ? 2 : 1, source, origin, out);
  return out;
}

const wick_datum *wick_eval_stack(eval *e, const wick_ast *n, uint32_t count,
                                  const wick_datum *const *item)
{
  int64_t dim[WICK_MAX_RANK + 1] = {count};
  bool weak = true, floats = false;
  const wick_datum *strong = NULL;
  if (!count) return wick_eval_tensor(e, WICK_F32, 1, dim);
  for (uint32_t i = 0; i < count; i++) {
    if (item[i]->kind != WICK_DATUM_TENSOR) return wick_eval_fail(e, n, "this is no tensor");
    weak = weak && item[i]->weak;
    if (!item[i]->weak && !strong) strong = item[i];
    floats = floats || wick_elem_is_float(item[i]->tensor.elem);
  }
  const wick_tensor *t = &item[0]->tensor;
  if (t->rank == WICK_MAX_RANK) return wick_eval_fail(e, n, "too many dimensions");
  for (uint32_t i = 0; i < t->rank; i++) dim[i + 1] = t->dim[i];
  wick_elem elem = strong ? strong->tensor.elem : floats ? WICK_F32 : WICK_I64;
  wick_datum *out = wick_eval_tensor(e, elem, t->rank + 1, dim);
  const wick_datum **cast = wick_new(e->mem, const wick_datum *, count);
  uint64_t size = wick_ref_numel(t);
  for (uint32_t i = 0; i < count; i++) {
    const wick_datum *d = cast[i] = wick_eval_cast(e, item[i], elem);
    if (wick_ref_numel(&d->tensor) != size || d->tensor.rank != t->rank)
      return wick_eval_fail(e, n, "the items have different shapes");
    for (uint64_t k = 0; k < size; k++) wick_ref_move(&out->tensor, i * size + k, &d->tensor, k);
  }
  out->weak = weak;
  wick_eval_record_move(e, count, cast, NULL, out);
  return out;
}

const wick_datum *wick_eval_moved(eval *e, const wick_datum *x, uint32_t from, uint32_t to)
{
  int64_t dim[WICK_MAX_RANK], step[WICK_MAX_RANK], own[WICK_MAX_RANK], next = 1;
  uint32_t rank = x->tensor.rank, old = 0;
  for (uint32_t k = rank; k-- > 0; next *= x->tensor.dim[k]) own[k] = next;
  for (uint32_t k = 0; k < rank; k++) {
    if (old == from) old++;
    uint32_t axis = k == to ? from : old++;
    dim[k] = x->tensor.dim[axis], step[k] = own[axis];
  }
  wick_datum *out = wick_eval_tensor(e, x->tensor.elem, rank, dim);
  uint64_t size = wick_ref_numel(&out->tensor);
  int64_t *of = wick_new(e->mem, int64_t, size + 1);
  for (uint64_t i = 0; i < size; i++) {
    int64_t left = (int64_t)i;
    of[i] = 0;
    for (uint32_t k = rank; k-- > 0; left /= dim[k]) of[i] += left % dim[k] * step[k];
    wick_ref_move(&out->tensor, i, &x->tensor, (uint64_t)of[i]);
  }
  out->weak = x->weak;
  wick_eval_record_move(e, 1, &x, of, out);
  return out;
}

const wick_datum *wick_eval_row(eval *e, const wick_datum *x, int64_t k)
{
  wick_datum *out = wick_eval_tensor(e, x->tensor.elem, x->tensor.rank - 1, x->tensor.dim + 1);
  uint64_t size = wick_ref_numel(&out->tensor);
  int64_t *from = wick_new(e->mem, int64_t, size + 1);
  for (uint64_t i = 0; i < size; i++) {
    from[i] = k * (int64_t)size + (int64_t)i;
    wick_ref_move(&out->tensor, i, &x->tensor, (uint64_t)from[i]);
  }
  wick_eval_record_move(e, 1, &x, from, out);
  return out;
}
