/* One traversal. A node is evaluated when all of its operands have become constants, or when shape
 * inference knows its elements. Begin with wick_pass_constant_fold. */
#include "graph/constant_fold.h"

#include <string.h>

#include "ir/copy.h"
#include "ir/op.h"
#include "ops/elementwise/scalar.h"
#include "ops/evaluate.h"
#include "ops/layout/transposed_constant.h"

static const uint64_t constant_fold_limit = (uint64_t)1 << 30;

typedef struct constant_fold_state {
  wick_copier c;
  wick_arena *mem;
  wick_uses uses;
  uint64_t spent;
} constant_fold_state;

static bool constant_fold_tensor(const wick_module *m, wick_type t, wick_tensor *out)
{
  const wick_type_info *info = wick_type_get(m, t);
  if (info->kind != WICK_TENSOR || info->elem == WICK_STRING ||
      !wick_type_const_dims(info, out->dim))
    return false;
  out->elem = info->elem;
  out->rank = info->rank;
  return true;
}

/* Loads the elements of an operand. An immediate is expanded to all elements. */
static bool constant_fold_operand(constant_fold_state *s, const wick_imm *imm, wick_type type,
                                  wick_tensor *out)
{
  wick_module *m = s->c.f->module;
  uint64_t nbytes;
  if (!constant_fold_tensor(m, type, out) || !wick_type_nbytes(m, type, &nbytes)) return false;
  if (imm->constant) {
    union {
      const void *c;
      void *p;
    } data = {wick_constant_bytes(m, imm->constant)};
    out->data = data.p;
    return data.c != NULL;
  }
  if (nbytes > 1 << 20) return false;
  out->data = wick_arena_alloc(s->mem, nbytes, 64);
  for (int64_t i = 0; i < wick_type_numel(m, type).v; i++)
    wick_store_elem(out->elem, out->data, (uint64_t)i,
                    wick_elem_is_float(out->elem) ? (wick_scalar){.f = imm->f}
                                                  : (wick_scalar){.i = imm->i});
  return true;
}

/* Returns an immediate if all elements are the same number, because kernels have immediates in
 * their code; else a constant. */
static wick_value constant_fold_result(constant_fold_state *s, const wick_node *n, wick_type type,
                                       const wick_tensor *t, uint64_t nbytes)
{
  wick_module *m = s->c.f->module;
  if (wick_dim_is(wick_type_numel(m, type), 1)) {
    wick_scalar x = wick_load_elem(t->elem, t->data, 0);
    bool is_float = wick_elem_is_float(t->elem);
    if (!is_float || x.f == x.f)
      return wick_build_const(&s->c.b, type, is_float ? x.f : 0, is_float ? 0 : x.i);
  }
  uint32_t name = s->c.f->value[n->first.id].name;
  return wick_build_constant(&s->c.b,
                             wick_constant_add(m, name ? wick_names_get(&m->names, name) : "folded",
                                               type, t->data, nbytes));
}

enum {
  CONSTANT_FOLD_LARGE = 1 << 20
}; /* bytes of a matrix whose transpose is deferred until it is needed */

/* Defers the transpose of a large matrix that only products read: its bytes are computed later. */
static bool constant_fold_turned(constant_fold_state *s, const wick_node *n,
                                 const wick_imm *const *imm)
{
  wick_module *m = s->c.f->module;
  const wick_type_info *t = wick_info_of(s->c.f, n->first);
  wick_type type = wick_type_of(s->c.f, n->first);
  uint64_t nbytes;
  if (n->op != WICK_OP_transpose || t->kind != WICK_TENSOR || t->rank != 2 || t->elem != WICK_F32 ||
      (n->attr[WICK_ATTR_transpose_perm].n && n->attr[WICK_ATTR_transpose_perm].ints[0] != 1) ||
      !imm[0]->constant || !wick_type_nbytes(m, type, &nbytes) || nbytes < CONSTANT_FOLD_LARGE)
    return false;
  const wick_constant *from = wick_constant_get(m, imm[0]->constant);
  if (!from->data) return false;
  for (uint32_t u = s->uses.first[n->first.id]; u < s->uses.first[n->first.id + 1]; u++) {
    const wick_node *user = &s->c.f->node[s->uses.use[u]];
    if (user->op != WICK_OP_matmul || user->in[0].id == n->first.id) return false;
  }
  s->c.b.loc = n->loc;
  s->c.to[n->first.id] = wick_build_constant(
      &s->c.b, wick_constant_transposed(m, wick_str_printf(s->mem, "%s.turned", from->name), type,
                                        imm[0]->constant));
  return true;
}

/* Folds elements that inference knows for any operands, such as the shape of a parameter. */
static bool constant_fold_content(constant_fold_state *s, const wick_node *n)
{
  wick_module *m = s->c.f->module;
  const wick_value_info *v = &s->c.f->value[n->first.id];
  wick_tensor out = {0};
  uint64_t nbytes;
  if (!v->content || n->nregion || wick_op_of(n)->effect != WICK_PURE ||
      !constant_fold_tensor(m, v->type, &out) || !wick_type_nbytes(m, v->type, &nbytes))
    return false;
  for (uint32_t i = 0; i < v->ncontent; i++)
    if (!wick_dim_is_const(v->content[i])) return false;
  out.data = memset(wick_module_alloc(m, nbytes), 0, nbytes);
  for (uint32_t i = 0; i < v->ncontent; i++)
    wick_store_elem(out.elem, out.data, i, (wick_scalar){.i = v->content[i].v});
  s->c.b.loc = n->loc;
  s->c.to[n->first.id] = constant_fold_result(s, n, v->type, &out, nbytes);
  return true;
}

static bool constant_fold_node(constant_fold_state *s, const wick_node *n,
                               const wick_imm *const *imm)
{
  if (constant_fold_turned(s, n, imm)) return true;
  wick_module *m = s->c.f->module;
  wick_status (*ref)(wick_ref *) = wick_ref_of(n->op);
  wick_type type = wick_type_of(s->c.f, n->first);
  wick_tensor out = {0}, *in = wick_new(s->mem, wick_tensor, n->nin);
  uint64_t nbytes, operands = 0, one;
  if (!ref || n->nout != 1 || n->nregion || wick_op_of(n)->effect == WICK_EFFECT ||
      !constant_fold_tensor(m, type, &out) || !wick_type_nbytes(m, type, &nbytes))
    return false;
  for (uint32_t k = 0; k < n->nin; k++) {
    if (!n->in[k].id) continue;
    if (!constant_fold_operand(s, imm[k], wick_type_of(s->c.f, n->in[k]), &in[k])) return false;
    operands += wick_type_nbytes(m, wick_type_of(s->c.f, n->in[k]), &one) ? one : 0;
  }
  if ((nbytes > 4096 && nbytes > 4 * operands) || nbytes > constant_fold_limit - s->spent)
    return false;
  out.data = memset(wick_module_alloc(m, nbytes), 0, nbytes);
  wick_ref r = {.op = n->op,
                .mem = s->mem,
                .module = m,
                .attr = n->attr,
                .location = wick_loc_text(m, n->loc),
                .nin = n->nin,
                .nout = 1,
                .in = in,
                .out = &out};
  if (ref(&r)) return false; /* the run reports the error */
  s->spent += nbytes;
  s->c.b.loc = n->loc;
  s->c.to[n->first.id] = constant_fold_result(s, n, type, &out, nbytes);
  return true;
}

/* ---- loops ---- */

/* Seconds of the evaluation of one loop, by estimate: less than compiling its body takes. */
static const double constant_fold_seconds = 0.01;

/* Returns true if what the loop `n` and its region read from outside is known, and they have no effect and
 * compute tensors alone. Marks the constants in `outer`, by old value. */
static bool constant_fold_closed(const constant_fold_state *s, const wick_node *n,
                                 const wick_imm *const *known, bool *outer)
{
  const wick_func *f = s->c.f;
  bool *inside = wick_new(s->mem, bool, f->nvalue + 1);
  for (uint32_t k = 0; k < n->nin; k++) outer[n->in[k].id] = true;
  for (const wick_node *i = n; i < &f->node[n->end]; i++) {
    if (wick_op_of(i)->effect == WICK_EFFECT || i->op == WICK_OP_call) return false;
    for (uint32_t k = 0; k < i->nout; k++) {
      if (wick_info_of(f, (wick_value){i->first.id + k})->kind != WICK_TENSOR) return false;
      inside[i->first.id + k] = true;
    }
    for (uint32_t r = 0; r < i->nregion; r++)
      for (uint32_t k = 0; k < i->region[r].nparam; k++) inside[i->region[r].first.id + k] = true;
    for (uint32_t k = 0; i != n && k < i->nin; k++)
      if (i->in[k].id && !inside[i->in[k].id]) outer[i->in[k].id] = true;
  }
  for (uint32_t v = 1; v <= f->nvalue; v++)
    if (outer[v] && !known[v]) return false;
  return true;
}

/* Builds a function without parameters that returns the results of the loop. */
static wick_func *constant_fold_func(constant_fold_state *s, const wick_node *n,
                                     const wick_imm *const *known, const bool *outer)
{
  wick_func alone = *s->c.f;
  alone.nparam = 0;
  wick_copier c = wick_copy_begin(&alone, s->mem);
  for (uint32_t v = 1; v <= alone.nvalue; v++)
    if (outer[v])
      c.to[v] = known[v]->constant
                    ? wick_build_constant(&c.b, known[v]->constant)
                    : wick_build_const(&c.b, alone.value[v].type, known[v]->f, known[v]->i);
  uint32_t begin = (uint32_t)(n - s->c.f->node);
  for (uint32_t i = begin; i < n->end; i++) wick_copy_node(&c, &s->c.f->node[i]);
  wick_build_return(&c.b, n->nout, &c.to[n->first.id]);
  wick_func *made;
  return wick_copy_finish(&c, &made) ? NULL : made;
}

/* Evaluates a short loop of constants: a factorization of a known matrix, for example. */
static bool constant_fold_loop(constant_fold_state *s, const wick_node *n, const wick_imm **known)
{
  const wick_func *f = s->c.f;
  if (n->op != WICK_OP_loop || !n->nout) return false;
  for (uint32_t k = 0; k < n->nin; k++)
    if (!n->in[k].id || !known[n->in[k].id]) return false;
  wick_tensor *out = wick_new(s->mem, wick_tensor, n->nout);
  uint64_t *nbytes = wick_new(s->mem, uint64_t, n->nout);
  bool *outer = wick_new(s->mem, bool, f->nvalue + 1);
  if (!constant_fold_closed(s, n, known, outer)) return false;
  for (uint32_t k = 0; k < n->nout; k++) {
    wick_type type = wick_type_of(f, (wick_value){n->first.id + k});
    if (!constant_fold_tensor(f->module, type, &out[k]) ||
        !wick_type_nbytes(f->module, type, &nbytes[k]) || nbytes[k] > 4096)
      return false;
    out[k].data = memset(wick_module_alloc(f->module, nbytes[k]), 0, nbytes[k]);
  }
  const wick_func *alone = constant_fold_func(s, n, known, outer);
  const wick_evaluate_options options = {.most_seconds = constant_fold_seconds};
  if (!alone || !wick_evaluate_alone(alone, &options, s->mem->guard, n->nout, nbytes, out))
    return false;
  s->c.b.loc = n->loc;
  for (uint32_t k = 0; k < n->nout; k++) {
    wick_type type = wick_type_of(f, (wick_value){n->first.id + k});
    s->c.to[n->first.id + k] = constant_fold_result(s, n, type, &out[k], nbytes[k]);
    known[n->first.id + k] = wick_const_imm(&s->c.b.nodes.at[s->c.b.nodes.n - 1]);
  }
  return true;
}

wick_status wick_pass_constant_fold(const wick_pass_context *pass, const wick_func *f,
                                    wick_func **out)
{
  wick_arena *mem = pass->mem;
  constant_fold_state s = {.mem = mem};
  s.c = wick_copy_begin(f, mem);
  s.uses = wick_uses_of(f, mem);
  const wick_imm **known =
      wick_new(mem, const wick_imm *, f->nvalue + 1); /* per old value: its constant, or NULL */
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    const wick_node *self = n->op == WICK_OP_const ? n : NULL;
    bool one = n->nout == 1 && !self && !wick_op_of(n)->terminator, all = one;
    for (uint32_t k = 0; k < n->nin; k++) all = all && (!n->in[k].id || known[n->in[k].id]);
    const wick_imm **imm = wick_new(mem, const wick_imm *, n->nin);
    for (uint32_t k = 0; k < n->nin; k++) imm[k] = n->in[k].id ? known[n->in[k].id] : NULL;
    if ((all && constant_fold_node(&s, n, imm)) || (one && constant_fold_content(&s, n))) {
      known[n->first.id] =
          wick_const_imm(&s.c.b.nodes.at[s.c.b.nodes.n - 1]); /* attributes live in the module */
      continue;
    }
    if (constant_fold_loop(&s, n, known)) {
      i = n->end - 1;
      continue;
    }
    if (self) known[n->first.id] = wick_const_imm(self);
    wick_copy_node(&s.c, n);
  }
  return wick_copy_finish(&s.c, out);
}
