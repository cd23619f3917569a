/* The reference evaluator: it runs nodes in order, with a frame for each function and reference
 * counts for the storage of values. */
#include "ops/evaluate.h"

#include <setjmp.h>
#include <string.h>

#include "ops/elementwise/scalar.h"
#include "ops/evaluate_state.h"
#include "ops/ref.h"
#include "ops/work.h"

/* ---- lifetimes ---- */

/* Finds the last use of each value. A value that is used in regions deeper than its own dies at the
 * node of its own region that contains them. */
static void evaluate_last(const wick_func *f, wick_arena *tmp, uint32_t *last)
{
  uint32_t *parent = wick_new(tmp, uint32_t, f->nnode),
           *home = wick_new(tmp, uint32_t, f->nvalue + 1);
  uint32_t stack[256], depth = 0;
  for (uint32_t v = 0; v <= f->nparam; v++) home[v] = UINT32_MAX;
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    while (depth && f->node[stack[depth - 1]].end <= i) depth--;
    parent[i] = depth ? stack[depth - 1] : UINT32_MAX;
    if (n->nregion && depth < WICK_COUNT(stack)) stack[depth++] = i;
    for (uint32_t k = 0; k < n->nout; k++)
      home[n->first.id + k] = parent[i], last[n->first.id + k] = i;
    for (uint32_t r = 0; r < n->nregion; r++)
      for (uint32_t k = 0; k < n->region[r].nparam; k++) {
        home[n->region[r].first.id + k] = i;
        last[n->region[r].first.id + k] = n->region[r].begin;
      }
    for (uint32_t k = 0; k < n->nin; k++) {
      uint32_t at = i;
      while (parent[at] != home[n->in[k].id]) at = parent[at];
      if (n->in[k].id && at > last[n->in[k].id]) last[n->in[k].id] = at;
    }
  }
}

static evaluate_plan *evaluate_plan_of(evaluate *e, const wick_func *f)
{
  for (uint32_t i = 0; i < e->plans.n; i++)
    if (e->plans.at[i]->f == f) return e->plans.at[i];
  uint32_t *last = wick_new(e->tmp, uint32_t, f->nvalue + 1);
  evaluate_last(f, e->tmp, last);
  evaluate_plan *p = wick_new(e->tmp, evaluate_plan, 1);
  *p = (evaluate_plan){.f = f,
                       .first = wick_new(e->tmp, uint32_t, f->nnode + 2),
                       .dead = wick_new(e->tmp, uint32_t, f->nvalue + 1)};
  for (uint32_t v = 1; v <= f->nvalue; v++) p->first[last[v] + 2]++;
  for (uint32_t i = 2; i < f->nnode + 2; i++) p->first[i] += p->first[i - 1];
  for (uint32_t v = 1; v <= f->nvalue; v++) p->dead[p->first[last[v] + 1]++] = v;
  wick_push(e->tmp, &e->plans, p);
  return p;
}

/* Returns an array for the values of a call of f. All are empty. */
static evaluate_datum *evaluate_values(evaluate *e, evaluate_plan *p)
{
  return p->frames.n ? p->frames.at[--p->frames.n]
                     : wick_new(e->tmp, evaluate_datum, p->f->nvalue + 1);
}

static void evaluate_die(evaluate *e, evaluate_frame *fr, uint32_t node)
{
  for (uint32_t k = fr->plan->first[node]; k < fr->plan->first[node + 1]; k++)
    evaluate_release(e, &fr->value[fr->plan->dead[k]]);
}

/* ---- sizes ---- */

static bool evaluate_dim(const evaluate_frame *fr, wick_dim d, int64_t *out)
{
  return wick_dim_eval(fr->f->module->dims, d, fr->sym.n, fr->sym.at, fr->val.at, out);
}

static wick_status evaluate_bind(evaluate *e, evaluate_frame *fr, uint32_t param,
                                 const wick_tensor *t)
{
  const wick_type_info *want = wick_info_of(fr->f, (wick_value){param + 1});
  if (want->kind != WICK_TENSOR) return NULL;
  if (t->elem != want->elem || t->rank != want->rank)
    return wick_fail(e->mem, WICK_ETYPE, fr->f->name,
                     "operand %u is %s of rank %u, expected %s of %u", param,
                     wick_elem_name(t->elem), t->rank, wick_elem_name(want->elem), want->rank);
  wick_dims *dims = fr->f->module->dims;
  for (uint32_t k = 0; k < t->rank; k++) {
    int64_t have, lo, hi;
    wick_dim sym;
    if (evaluate_dim(fr, want->dim[k], &have) ||
        !wick_dim_solve(dims, want->dim[k], t->dim[k], e->scratch, &sym, &have))
      continue;
    wick_dim_range(dims, want->dim[k], &lo, &hi);
    if (t->dim[k] < lo || t->dim[k] > hi)
      return wick_fail(e->mem, WICK_ERANGE, fr->f->name,
                       "dimension %u of operand %u is %lld, outside [%lld, %lld]", k, param,
                       (long long)t->dim[k], (long long)lo, (long long)hi);
    wick_push(e->tmp, &fr->sym, sym);
    wick_push(e->tmp, &fr->val, have);
  }
  return NULL;
}

static wick_status evaluate_check(evaluate *e, evaluate_frame *fr, uint32_t param,
                                  const wick_tensor *t)
{
  const wick_type_info *want = wick_info_of(fr->f, (wick_value){param + 1});
  for (uint32_t k = 0; want->kind == WICK_TENSOR && k < t->rank; k++) {
    int64_t have;
    if (evaluate_dim(fr, want->dim[k], &have) && have == t->dim[k]) continue;
    wick_text text = wick_text_begin(e->mem);
    wick_dim_print(fr->f->module->dims, want->dim[k], &text);
    return wick_fail(e->mem, WICK_ETYPE, fr->f->name,
                     "dimension %u of operand %u is %lld, expected %s", k, param,
                     (long long)t->dim[k], text.at);
  }
  return NULL;
}

/* ---- nodes ---- */

const char *evaluate_place(const evaluate_frame *fr, const wick_node *n)
{
  return n->loc.id ? wick_loc_text(fr->f->module, n->loc) : wick_op_of(n)->name;
}

/* Allocates a tensor of the type. */
static wick_status evaluate_new(evaluate *e, const evaluate_frame *fr, const wick_node *n,
                                wick_type type, evaluate_datum *out)
{
  const wick_type_info *t = wick_type_get(fr->f->module, type);
  wick_tensor x = {.elem = t->elem, .rank = t->rank};
  int64_t numel = 1;
  bool ok = t->kind == WICK_TENSOR;
  for (uint32_t k = 0; ok && k < t->rank; k++)
    ok = evaluate_dim(fr, t->dim[k], &x.dim[k]) && x.dim[k] >= 0 &&
         !wick_mul_overflows(numel, x.dim[k], &numel);
  if (!ok) {
    wick_text text = wick_text_begin(e->mem);
    wick_type_print(fr->f->module, type, &text);
    return wick_fail(e->mem, WICK_ERANGE, evaluate_place(fr, n),
                     "the size of the result, %s, is not known or impossible", text.at);
  }
  *out = (evaluate_datum){.tensor = x};
  out->block = evaluate_take(e, wick_elem_bytes(x.elem, (uint64_t)numel));
  out->tensor.data = out->block->data;
  return NULL;
}

static wick_status evaluate_const(evaluate *e, evaluate_frame *fr, const wick_node *n,
                                  evaluate_datum *out)
{
  const wick_imm *imm = wick_const_imm(n);
  WICK_TRY(evaluate_new(e, fr, n, wick_type_of(fr->f, n->first), out));
  if (!imm->constant) {
    wick_scalar s = wick_elem_is_float(out->tensor.elem) ? (wick_scalar){.f = imm->f}
                                                         : (wick_scalar){.i = imm->i};
    uint64_t numel = wick_ref_numel(&out->tensor);
    for (uint64_t k = 0; k < numel; k++) wick_store_elem(out->tensor.elem, out->tensor.data, k, s);
    return NULL;
  }
  const wick_constant *c = wick_constant_get(fr->f->module, imm->constant);
  const void *data = wick_constant_bytes(fr->f->module, imm->constant);
  if (!data)
    return wick_fail(e->mem, WICK_EINVAL, evaluate_place(fr, n), "the constant @%s has no data",
                     c->name);
  wick_tensor t = out->tensor;
  evaluate_release(e, out);
  t.data = (void *)(uintptr_t)data; /* operators do not write to their operands */
  *out = (evaluate_datum){.tensor = t};
  return NULL;
}

/* Returns the node's attributes with numbers for dimensions. */
static const wick_attr *evaluate_attrs(evaluate *e, const evaluate_frame *fr, const wick_node *n)
{
  const wick_op *op = wick_op_of(n);
  wick_attr *attr = wick_dup(e->scratch, wick_attr, n->attr, n->nattr);
  for (uint32_t i = 0; i < n->nattr; i++) {
    if (op->attr[i].kind != WICK_ATTR_DIMS) continue;
    wick_dim *dim = wick_dup(e->scratch, wick_dim, attr[i].dims, attr[i].n);
    for (uint32_t k = 0; k < attr[i].n; k++) {
      int64_t v;
      if (evaluate_dim(fr, dim[k], &v)) dim[k] = wick_dim_const(v);
    }
    attr[i].dims = dim;
  }
  return attr;
}

static wick_status evaluate_row(evaluate *e, evaluate_frame *fr, const wick_node *n,
                                evaluate_datum *out)
{
  wick_status (*ref)(wick_ref *) = wick_ref_of(n->op);
  if (!ref)
    return wick_fail(e->mem, WICK_EUNSUPPORTED, evaluate_place(fr, n), "%s has no reference",
                     wick_op_of(n)->name);
  wick_mark mark = wick_arena_mark(e->scratch);
  wick_tensor *in = wick_new(e->scratch, wick_tensor, n->nin),
              *result = wick_new(e->scratch, wick_tensor, n->nout);
  for (uint32_t i = 0; i < n->nin; i++)
    if (n->in[i].id) in[i] = fr->value[n->in[i].id].tensor;
  for (uint32_t k = 0; k < n->nout; k++) {
    WICK_TRY(evaluate_new(e, fr, n, wick_type_of(fr->f, (wick_value){n->first.id + k}), &out[k]));
    result[k] = out[k].tensor;
  }
  wick_ref r = {.op = n->op,
                .mem = e->scratch,
                .module = fr->f->module,
                .attr = evaluate_attrs(e, fr, n),
                .location = evaluate_place(fr, n),
                .nin = n->nin,
                .nout = n->nout,
                .in = in,
                .out = result};
  e->seconds += wick_ref_seconds(&r);
  if (e->options && e->options->most_seconds > 0 && e->seconds > e->options->most_seconds)
    return wick_fail(e->mem, WICK_ELIMIT, r.location,
                     "the evaluation takes longer than %.0f seconds, by estimate",
                     e->options->most_seconds);
  wick_status s = ref(&r);
  if (s) return wick_fail(e->mem, s->code, NULL, "%s", s->message);
  wick_arena_rewind(e->scratch, mark);
  return NULL;
}

static wick_status evaluate_region(evaluate *e, evaluate_frame *fr, uint32_t begin, uint32_t end);

/* Copies the values that the region yields. The region's own values then die. */
wick_status evaluate_yield(evaluate *e, evaluate_frame *fr, const wick_region *g,
                           evaluate_datum *out)
{
  WICK_TRY(evaluate_region(e, fr, g->begin, g->end));
  const wick_node *y = &fr->f->node[g->end - 1];
  for (uint32_t i = 0; i < y->nin; i++) out[i] = evaluate_retain(fr->value[y->in[i].id]);
  evaluate_die(e, fr, g->end - 1);
  return NULL;
}

bool evaluate_true(const evaluate_datum *d)
{
  return wick_load_int(WICK_BOOL, d->tensor.data, 0) != 0;
}

/* Copies a value to row i of a stacked result. */
static void evaluate_stack(evaluate *e, evaluate_datum *out, int64_t i, evaluate_datum *row)
{
  const wick_tensor *t = &row->tensor;
  size_t nbytes = (size_t)wick_elem_bytes(t->elem, wick_ref_numel(t));
  if (nbytes) memcpy((char *)out->tensor.data + (size_t)i * nbytes, t->data, nbytes);
  evaluate_release(e, row);
}

static wick_status evaluate_loop(evaluate *e, evaluate_frame *fr, const wick_node *n,
                                 evaluate_datum *out)
{
  const wick_region *g = &n->region[0];
  uint32_t ncarried = n->nin - 1u;
  int64_t count = wick_load_int(WICK_I64, fr->value[n->in[0].id].tensor.data, 0);
  evaluate_datum *next = wick_new(e->tmp, evaluate_datum, n->nout + 1u);
  for (uint32_t k = 0; k < ncarried; k++) out[k] = evaluate_retain(fr->value[n->in[1 + k].id]);
  for (uint32_t k = ncarried; k < n->nout; k++) {
    WICK_TRY(evaluate_new(e, fr, n, wick_type_of(fr->f, (wick_value){n->first.id + k}), &out[k]));
    const wick_tensor *t = &out[k].tensor;
    if (count > t->dim[0])
      return wick_fail(e->mem, WICK_ERANGE, evaluate_place(fr, n),
                       "it runs %lld times, and stacks %lld at most", (long long)count,
                       (long long)t->dim[0]);
    memset(t->data, 0, (size_t)wick_elem_bytes(t->elem, wick_ref_numel(t)));
  }
  for (int64_t i = 0; i < count; i++) {
    evaluate_datum *param = &fr->value[g->first.id];
    WICK_TRY(evaluate_new(e, fr, n, wick_type_of(fr->f, g->first), &param[0]));
    wick_store_elem(WICK_I64, param[0].tensor.data, 0, (wick_scalar){.i = i});
    for (uint32_t k = 0; k < ncarried; k++) param[1 + k] = out[k];
    WICK_TRY(evaluate_yield(e, fr, g, next));
    bool go_on = evaluate_true(&next[0]);
    evaluate_release(e, &next[0]);
    for (uint32_t k = 0; k < ncarried; k++) out[k] = next[1 + k];
    for (uint32_t k = ncarried; k < n->nout; k++) evaluate_stack(e, &out[k], i, &next[1 + k]);
    if (!go_on) break;
  }
  return NULL;
}

static wick_status evaluate_if(evaluate *e, evaluate_frame *fr, const wick_node *n,
                               evaluate_datum *out)
{
  uint32_t r = !evaluate_true(&fr->value[n->in[0].id]);
  const wick_attr *a = &n->attr[r];
  for (uint32_t i = 0; i + 1 < a->n; i += 2) {
    int64_t x, y;
    if (evaluate_dim(fr, a->dims[i], &x) && evaluate_dim(fr, a->dims[i + 1], &y) && x != y)
      return wick_fail(e->mem, WICK_ETYPE, evaluate_place(fr, n),
                       "sizes that branch %u relies on to be equal differ: %lld and %lld", r,
                       (long long)x, (long long)y);
  }
  return evaluate_yield(e, fr, &n->region[r], out);
}

static wick_status evaluate_node(evaluate *e, evaluate_frame *fr, const wick_node *n,
                                 evaluate_datum *out)
{
  wick_status s;
  switch (n->op) {
  case WICK_OP_const: return evaluate_const(e, fr, n, out);
  case WICK_OP_tuple:
    *out = (evaluate_datum){.nitem = n->nin, .item = wick_new(e->tmp, evaluate_datum, n->nin)};
    for (uint32_t i = 0; i < n->nin; i++) out->item[i] = evaluate_retain(fr->value[n->in[i].id]);
    return NULL;
  case WICK_OP_tuple_get:
    *out = evaluate_retain(fr->value[n->in[0].id].item[n->attr[WICK_ATTR_tuple_get_index].i]);
    return NULL;
  case WICK_OP_if: return evaluate_if(e, fr, n, out);
  case WICK_OP_loop: return evaluate_loop(e, fr, n, out);
  case WICK_OP_call:
    return evaluate_call(e, fr, n, n->attr[WICK_ATTR_call_callee].s, 0, NULL, 0, out);
  default: return evaluate_objects(e, fr, n, out, &s) ? s : evaluate_row(e, fr, n, out);
  }
}

static void evaluate_show(const evaluate *e, const evaluate_frame *fr, uint32_t v)
{
  if (e->options && e->options->observe && fr->value[v].tensor.data)
    e->options->observe(e->options->arg, fr->f, (wick_value){v}, &fr->value[v].tensor);
}

static wick_status evaluate_region(evaluate *e, evaluate_frame *fr, uint32_t begin, uint32_t end)
{
  const wick_func *f = fr->f;
  for (uint32_t i = begin; i < end - 1; i = f->node[i].end) {
    const wick_node *n = &f->node[i];
    /* Region parameters without uses die at the first node of their region, which may be this one.
     */
    WICK_TRY(evaluate_node(e, fr, n, &fr->value[n->first.id]));
    for (uint32_t k = 0; k < n->nout; k++) evaluate_show(e, fr, n->first.id + k);
    evaluate_die(e, fr, i);
  }
  return NULL;
}

/* ---- functions ---- */

/* Checks that the next call fits: on the stack, if its size is known, else in a number of calls. */
static wick_status evaluate_deeper(evaluate *e, const char *place)
{
  const char *here = __builtin_frame_address(0);
  uint64_t used = (uint64_t)(here < e->stack ? e->stack - here : here - e->stack),
           most = e->options ? e->options->stack_bytes : 0;
  if (most ? used <= most : e->depth < WICK_EVALUATE_DEPTH) return NULL;
  return most ? wick_fail(e->mem, WICK_ELIMIT, place, "calls are nested too deep for the stack")
              : wick_fail(e->mem, WICK_ELIMIT, place, "calls are nested deeper than %d",
                          WICK_EVALUATE_DEPTH);
}

/* Runs f. Its parameters are in fr->value, which is released. */
static wick_status evaluate_func(evaluate *e, const wick_func *f, evaluate_plan *plan,
                                 evaluate_datum *value, evaluate_datum *out)
{
  evaluate_frame fr = {.f = f, .plan = plan, .value = value};
  for (uint32_t i = 0; i < f->nparam; i++) WICK_TRY(evaluate_bind(e, &fr, i, &value[1 + i].tensor));
  if (f->nconstraint)
    WICK_TRY(wick_shape_constraints_hold(f, fr.sym.n, fr.sym.at, fr.val.at, e->mem));
  for (uint32_t i = 0; i < f->nparam; i++) {
    WICK_TRY(evaluate_check(e, &fr, i, &value[1 + i].tensor));
    evaluate_show(e, &fr, 1 + i);
  }
  const wick_region body = {.begin = 0, .end = f->nnode};
  e->depth++;
  WICK_TRY(evaluate_yield(e, &fr, &body, out));
  e->depth--;
  wick_push(e->tmp, &plan->frames, value);
  return NULL;
}

wick_status evaluate_call(evaluate *e, const evaluate_frame *fr, const wick_node *n,
                          const char *callee, uint32_t nfirst, const evaluate_datum *first,
                          uint32_t from, evaluate_datum *out)
{
  const wick_func *f = wick_module_find(fr->f->module, callee);
  if (!f || f->level != WICK_GRAPH)
    return wick_fail(e->mem, WICK_EINVAL, evaluate_place(fr, n),
                     f ? "@%s is not a function of the graph" : "there is no function @%s", callee);
  WICK_TRY(evaluate_deeper(e, n->loc.id ? wick_loc_text(fr->f->module, n->loc) : f->name));
  evaluate_plan *plan = evaluate_plan_of(e, f);
  evaluate_datum *value = evaluate_values(e, plan);
  for (uint32_t k = 0; k < nfirst; k++) value[1 + k] = evaluate_retain(first[k]);
  for (uint32_t k = from; k < n->nin; k++)
    value[1 + nfirst + k - from] = evaluate_retain(*evaluate_operand(fr, n, k));
  return evaluate_func(e, f, plan, value, out);
}

static wick_status evaluate_entry(evaluate *e, const wick_func *f, uint32_t nin,
                                  const wick_tensor *in, evaluate_datum *out)
{
  if (f->level != WICK_GRAPH)
    return wick_fail(e->mem, WICK_EINVAL, f->name, "only functions of the graph can be evaluated");
  if (nin != f->nparam)
    return wick_fail(e->mem, WICK_EINVAL, f->name, "%u operands are given, expected %u", nin,
                     f->nparam);
  for (uint32_t i = 0; i < nin; i++)
    if (wick_kind_is_object(wick_info_of(f, (wick_value){1 + i})->kind))
      return wick_fail(e->mem, WICK_EUNSUPPORTED, f->name, "parameter %u is no tensor", i);
  evaluate_plan *plan = evaluate_plan_of(e, f);
  evaluate_datum *value = evaluate_values(e, plan);
  for (uint32_t i = 0; i < nin; i++) value[1 + i].tensor = in[i];
  return evaluate_func(e, f, plan, value, out);
}

static evaluate evaluate_begin(const wick_func *f, const wick_evaluate_options *options,
                               wick_arena *mem, wick_arena *tmp, wick_arena *scratch)
{
  return (evaluate){.options = options,
                    .module = f->module,
                    .mem = mem,
                    .tmp = tmp,
                    .scratch = scratch,
                    .line = wick_text_begin(mem),
                    .message = wick_text_begin(mem),
                    .stack = __builtin_frame_address(0)};
}

wick_status wick_evaluate(const wick_func *f, uint32_t nin, const wick_tensor *in,
                          const wick_evaluate_options *options, wick_arena *mem, wick_arena *tmp,
                          wick_arena *scratch, wick_tensor *out)
{
  evaluate e = evaluate_begin(f, options, mem, tmp, scratch);
  uint32_t nout = wick_return(f)->nin;
  evaluate_datum *result = wick_new(tmp, evaluate_datum, nout);
  WICK_TRY(evaluate_entry(&e, f, nin, in, result));
  for (uint32_t k = 0; k < nout; k++) {
    out[k] = result[k].tensor;
    if (!out[k].data)
      return wick_fail(mem, WICK_EUNSUPPORTED, f->name, "result %u is not a tensor", k);
    uint64_t nbytes = wick_elem_bytes(out[k].elem, wick_ref_numel(&out[k]));
    out[k].data = wick_arena_copy(mem, result[k].tensor.data, nbytes, 64);
  }
  return NULL;
}

bool wick_evaluate_alone(const wick_func *f, const wick_evaluate_options *options,
                         const wick_guard *outer, uint32_t nout, const uint64_t *nbytes,
                         const wick_tensor *out)
{
  wick_guard guard = {.allocator = outer->allocator};
  if (outer->limit_bytes)
    guard.limit_bytes =
        outer->limit_bytes > outer->used_bytes ? outer->limit_bytes - outer->used_bytes : 1;
  wick_arena mem = wick_arena_make(&guard), tmp = wick_arena_make(&guard),
             scratch = wick_arena_make(&guard);
  volatile bool good = false;
  if (!setjmp(guard.where)) {
    wick_tensor *result = wick_new(&mem, wick_tensor, nout);
    good = !wick_evaluate(f, 0, NULL, options, &mem, &tmp, &scratch, result);
    for (uint32_t k = 0; good && k < nout; k++) memcpy(out[k].data, result[k].data, nbytes[k]);
  }
  wick_arena_free(&scratch);
  wick_arena_free(&tmp);
  wick_arena_free(&mem);
  return good;
}

wick_status wick_evaluate_text(const wick_func *f, uint32_t nin, const wick_tensor *in,
                               const wick_evaluate_options *options, wick_arena *mem,
                               wick_arena *tmp, wick_arena *scratch, wick_text *out)
{
  evaluate e = evaluate_begin(f, options, mem, tmp, scratch);
  uint32_t nout = wick_return(f)->nin;
  evaluate_datum *result = wick_new(tmp, evaluate_datum, nout);
  WICK_TRY(evaluate_entry(&e, f, nin, in, result));
  for (uint32_t k = 0; k < nout; k++) {
    if (k) wick_text_add(out, ", ");
    evaluate_text(&e, &result[k], out);
  }
  return NULL;
}

/* ---- the estimate ---- */

static bool evaluate_sized(const evaluate_frame *fr, wick_value v, wick_tensor *out)
{
  const wick_type_info *t = wick_info_of(fr->f, v);
  *out = (wick_tensor){.elem = t->elem, .rank = t->rank};
  bool ok = t->kind == WICK_TENSOR;
  for (uint32_t k = 0; ok && k < t->rank; k++) ok = evaluate_dim(fr, t->dim[k], &out->dim[k]);
  return ok;
}

static double evaluate_node_seconds(const evaluate_frame *fr, const wick_node *n, wick_arena *tmp)
{
  wick_mark m = wick_arena_mark(tmp);
  wick_tensor *in = wick_new(tmp, wick_tensor, n->nin), *out = wick_new(tmp, wick_tensor, n->nout);
  wick_ref r = {.op = n->op, .attr = n->attr, .nin = n->nin, .nout = n->nout, .in = in, .out = out};
  bool ok = wick_ref_of(n->op) != NULL;
  for (uint32_t i = 0; ok && i < n->nin; i++)
    ok = !n->in[i].id || evaluate_sized(fr, n->in[i], &in[i]);
  for (uint32_t k = 0; ok && k < n->nout; k++)
    ok = evaluate_sized(fr, (wick_value){n->first.id + k}, &out[k]);
  double seconds = ok ? wick_ref_seconds(&r) : 0;
  wick_arena_rewind(tmp, m);
  return seconds;
}

static double evaluate_rounds(const wick_func *f, const wick_node *loop)
{
  const wick_value_info *count = &f->value[loop->in[0].id];
  bool known = count->ncontent == 1 && wick_dim_is_const(count->content[0]);
  return known ? (double)count->content[0].v : 1;
}

double wick_evaluate_seconds(const wick_func *f, uint32_t nin, const wick_tensor *in,
                             wick_arena *tmp)
{
  wick_mark m = wick_arena_mark(tmp);
  evaluate e = {.mem = tmp, .tmp = tmp, .scratch = tmp};
  evaluate_frame fr = {.f = f};
  bool ok = f->level == WICK_GRAPH && nin == f->nparam;
  for (uint32_t i = 0; ok && i < nin; i++) ok = !evaluate_bind(&e, &fr, i, &in[i]);
  double seconds = 0, *rounds = wick_new(tmp, double, f->nnode + 1); /* of the nodes around it */
  uint32_t *loop = wick_new(tmp, uint32_t, f->nnode + 1), depth = 0;
  for (uint32_t i = 0; ok && i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    while (depth && f->node[loop[depth - 1]].end <= i) depth--;
    double around = depth ? rounds[depth - 1] : 1;
    seconds += around * evaluate_node_seconds(&fr, n, tmp);
    if (n->op != WICK_OP_loop) continue;
    loop[depth] = i, rounds[depth++] = around * evaluate_rounds(f, n);
  }
  wick_arena_rewind(tmp, m);
  return seconds;
}
