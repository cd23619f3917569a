/* Index notation in the evaluator: loops over all indices, element by element. */
#include "lang/eval_state.h"
#include "ops/ref.h"

static bool eval_index_extent(eval *e, eval_frame *f, const wick_ast *index, int64_t *out)
{
  wick_ty *range = f->typed->type[index->ref->decl->id];
  if (range && range->kind == WICK_TY_SIZE &&
      wick_dim_eval(e->t->dims, wick_ty_dim(e->t, range->size), f->symbol.n, f->symbol.at,
                    f->size.at, out))
    return true;
  wick_eval_fail(e, index, "the range of the index `%s` is not known", index->name);
  return false;
}

static bool eval_index_begin(eval *e, eval_frame *f, const wick_ast *list, int64_t *dim,
                             uint64_t *count)
{
  *count = 1;
  for (uint32_t i = 0; i < list->nkid; i++) {
    if (!eval_index_extent(e, f, list->kid[i], &dim[i])) return false;
    *count *= (uint64_t)dim[i];
  }
  return true;
}

static void eval_index_set(eval *e, eval_frame *f, const wick_ast *list, const int64_t *at)
{
  for (uint32_t i = 0; i < list->nkid; i++)
    f->local[list->kid[i]->ref->number] = wick_eval_int(e, at[i]);
}

const wick_datum *wick_eval_reduce(eval *e, eval_frame *f, const wick_ast *n)
{
  static const struct {
    const char *name;
    wick_opcode op;
  } kind[] = {
      {"sum", WICK_OP_add}, {"prod", WICK_OP_mul}, {"max", WICK_OP_max}, {"min", WICK_OP_min}};
  int64_t dim[WICK_MAX_RANK], at[WICK_MAX_RANK] = {0};
  uint64_t count;
  const wick_datum *acc = NULL;
  uint32_t k = 0;
  while (k < 3 && strcmp(kind[k].name, n->name) != 0) k++;
  if (n->kid[0]->nkid > WICK_MAX_RANK || !eval_index_begin(e, f, n->kid[0], dim, &count))
    return wick_eval_fail(e, n, "too many indices");
  for (uint64_t i = 0; i < count && !e->failed; i++) {
    eval_index_set(e, f, n->kid[0], at);
    const wick_datum *arg[2] = {acc, wick_eval_expr(e, f, n->kid[1])};
    if (!e->failed) acc = acc ? wick_eval_operator(e, f, n, kind[k].op, false, 2, arg) : arg[1];
    wick_ref_next(n->kid[0]->nkid, dim, at);
  }
  if (acc) return acc;
  if (k > 1) return wick_eval_fail(e, n, "`%s` of no elements", n->name);
  const wick_ty *t = wick_ty_of(f->typed->type[n->id]);
  wick_elem elem = WICK_F32;
  if (t->kind == WICK_TY_TENSOR && wick_ty_of(t->arg[0])->kind == WICK_TY_ELEM)
    elem = wick_ty_of(t->arg[0])->elem;
  return wick_eval_cast(e, wick_eval_int(e, k), elem);
}

static const wick_datum *eval_index_define(eval *e, eval_frame *f, const wick_ast *n)
{
  int64_t dim[WICK_MAX_RANK], at[WICK_MAX_RANK] = {0};
  uint64_t count;
  wick_datum *out = NULL;
  const wick_ast *list = n->kid[0];
  if (list->nkid > WICK_MAX_RANK || !eval_index_begin(e, f, list, dim, &count))
    return wick_eval_fail(e, n, "too many indices");
  const wick_datum **part = wick_new(e->mem, const wick_datum *, count + 1);
  for (uint64_t i = 0; i < count && !e->failed; i++) {
    eval_index_set(e, f, list, at);
    const wick_datum *d = part[i] = wick_eval_expr(e, f, n->kid[1]);
    if (e->failed) break;
    if (!out) out = wick_eval_tensor(e, d->tensor.elem, list->nkid, dim);
    wick_ref_move(&out->tensor, i, &d->tensor, 0);
    wick_ref_next(list->nkid, dim, at);
  }
  if (out && !e->failed) wick_eval_record_move(e, (uint32_t)count, part, NULL, out);
  return out ? out : wick_eval_tensor(e, WICK_F32, list->nkid, dim);
}

const wick_datum *wick_eval_index_op(eval *e, eval_frame *f, const wick_ast *list)
{
  wick_datum *all = wick_eval_new(e, WICK_DATUM_TUPLE, list->nkid);
  for (uint32_t i = 0; i < list->nkid && !e->failed; i++)
    f->local[list->kid[i]->ref->number] = all->item[i] = eval_index_define(e, f, list->kid[i]);
  return list->nkid == 1 ? all->item[0] : all;
}
