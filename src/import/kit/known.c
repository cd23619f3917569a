/* Computes small values during an import that depend only on constants and known sizes, with the
 * reference functions of the operators. Conditions and counts of exported models are often such
 * values. */
#include "import/kit/known.h"

#include "ir/element.h"
#include "ops/elementwise/scalar.h"
#include "ops/ref.h"

enum {
  KNOWN_ELEMENTS = 4096,
  KNOWN_LARGE = 1 << 26,
  KNOWN_DEPTH = 64,
  KNOWN_NODES = 256,
  KNOWN_BOUNDS = 6 /* nested min and max */
};

typedef struct known_done {
  uint32_t id;
  bool good;
  wick_tensor value;
} known_done;

typedef struct known {
  wick_builder *b;
  wick_arena *tmp;
  int64_t most;               /* elements */
  bool text;                  /* strings, too */
  wick_list(known_done) done; /* values that were requested */
} known;

const wick_node *wick_emit_definer(const wick_builder *b, wick_value v)
{
  uint32_t lo = 0, hi = b->nodes.n;
  if (v.id <= b->nparam) return NULL;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (b->nodes.at[mid].first.id + b->nodes.at[mid].nout <= v.id)
      lo = mid + 1;
    else
      hi = mid;
  }
  /* The results of a node with regions come after the results of the regions' nodes. */
  for (uint32_t i = lo + (lo < b->nodes.n); i-- > 0;) {
    const wick_node *n = &b->nodes.at[i];
    if (v.id >= n->first.id && v.id < n->first.id + n->nout) return n;
  }
  return NULL;
}

/* Allocates memory for v's elements. Returns false if there are too many, or sizes are dynamic. */
static bool known_alloc(known *k, wick_value v, wick_tensor *out)
{
  wick_builder *b = k->b;
  const wick_type_info *t = wick_built_info(b, v);
  uint64_t nbytes;
  *out = (wick_tensor){.elem = t->elem, .rank = t->rank};
  bool number = wick_elem_is_float(t->elem) || wick_elem_is_int(t->elem) || t->elem == WICK_BOOL ||
                (k->text && t->elem == WICK_STRING);
  if (t->kind != WICK_TENSOR || !number || !wick_type_const_dims(t, out->dim) ||
      wick_type_numel(k->b->module, wick_built_type(b, v)).v > k->most ||
      !wick_type_nbytes(k->b->module, wick_built_type(b, v), &nbytes))
    return false;
  out->data = wick_new(k->tmp, char, nbytes + 64);
  return true;
}

static bool known_content(const wick_value_info *v, wick_tensor *out)
{
  for (uint32_t i = 0; i < v->ncontent; i++) {
    if (!wick_dim_is_const(v->content[i])) return false;
    wick_store_elem(out->elem, out->data, i, (wick_scalar){.i = v->content[i].v});
  }
  return v->content != NULL;
}

static bool known_constant(known *k, const wick_node *n, wick_tensor *out)
{
  wick_module *m = k->b->module;
  const wick_imm *imm = wick_const_imm(n);
  uint64_t numel = wick_ref_numel(out);
  if (imm->constant && !wick_constant_get(m, imm->constant)->data) return false;
  const void *data = imm->constant ? wick_constant_bytes(m, imm->constant) : NULL;
  if (imm->constant && !data) return false;
  for (uint64_t i = 0; i < numel; i++)
    wick_store_elem(out->elem, out->data, i,
                    data                            ? wick_load_elem(out->elem, data, i)
                    : wick_elem_is_float(out->elem) ? (wick_scalar){.f = imm->f}
                                                    : (wick_scalar){.i = imm->i});
  return true;
}

static bool known_value(known *k, wick_value v, uint32_t depth, wick_tensor *out);

/* The bounds of an integer: of min(4, max(4, x)) both are 4, whatever x is. */
static void known_bounds(known *k, wick_value v, uint32_t depth, uint32_t left, int64_t *lo,
                         int64_t *hi)
{
  wick_tensor t;
  const wick_node *n = wick_emit_definer(k->b, v);
  *lo = INT64_MIN, *hi = INT64_MAX;
  if (!left || !n || !wick_elem_is_int(wick_built_info(k->b, v)->elem)) return;
  if (n->op != WICK_OP_min && n->op != WICK_OP_max) {
    if (known_value(k, v, depth + 1, &t) && wick_ref_numel(&t) == 1)
      *lo = *hi = wick_load_elem(t.elem, t.data, 0).i;
    return;
  }
  bool least = n->op == WICK_OP_min;
  wick_value in[2] = {n->in[0], n->in[1]};
  for (int i = 0; i < 2; i++) {
    int64_t a, b;
    known_bounds(k, in[i], depth + 1, left - 1, &a, &b);
    *lo = i == 0 ? a : least ? wick_min_i64(*lo, a) : wick_max_i64(*lo, a);
    *hi = i == 0 ? b : least ? wick_min_i64(*hi, b) : wick_max_i64(*hi, b);
  }
}

static bool known_bounded(known *k, wick_value v, uint32_t depth, wick_tensor *out)
{
  int64_t lo, hi;
  const wick_node *n = wick_emit_definer(k->b, v);
  if (!n || (n->op != WICK_OP_min && n->op != WICK_OP_max) || wick_ref_numel(out) != 1)
    return false;
  known_bounds(k, v, depth, KNOWN_BOUNDS, &lo, &hi);
  if (lo == hi) wick_store_elem(out->elem, out->data, 0, (wick_scalar){.i = lo});
  return lo == hi;
}

static bool known_find(known *k, wick_value v, uint32_t depth, wick_tensor *out)
{
  wick_builder *b = k->b;
  if (b->status || depth > KNOWN_DEPTH || !known_alloc(k, v, out)) return false;
  if (known_content(&b->values.at[v.id], out) || known_bounded(k, v, depth, out)) return true;
  const wick_node *d = wick_emit_definer(b, v);
  if (!d || d->nregion) return false;
  wick_node n = *d; /* a copy, because the list may be reallocated */
  if (n.op == WICK_OP_const) return known_constant(k, &n, out);
  wick_status (*ref)(wick_ref *) = wick_ref_of(n.op);
  if (!ref || wick_op_of(&n)->effect == WICK_EFFECT) return false;
  wick_tensor *all = wick_new(k->tmp, wick_tensor, n.nout);
  for (uint32_t i = 0; i < n.nout; i++)
    if (!known_alloc(k, (wick_value){n.first.id + i}, &all[i])) return false;
  wick_tensor *in = wick_new(k->tmp, wick_tensor, n.nin + 1);
  for (uint32_t i = 0; i < n.nin; i++)
    if (n.in[i].id && !known_value(k, n.in[i], depth + 1, &in[i])) return false;
  wick_ref r = {.op = n.op,
                .mem = k->tmp,
                .module = k->b->module,
                .attr = n.attr,
                .location = wick_loc_text(k->b->module, n.loc),
                .nin = n.nin,
                .nout = n.nout,
                .in = in,
                .out = all};
  if (ref(&r)) return false;
  *out = all[v.id - n.first.id];
  return true;
}

static bool known_value(known *k, wick_value v, uint32_t depth, wick_tensor *out)
{
  for (uint32_t i = 0; i < k->done.n; i++)
    if (k->done.at[i].id == v.id) {
      *out = k->done.at[i].value;
      return k->done.at[i].good;
    }
  known_done d = {.id = v.id};
  d.good = k->done.n < KNOWN_NODES && known_find(k, v, depth, &d.value);
  wick_push(k->tmp, &k->done, d);
  *out = d.value;
  return d.good;
}

bool wick_known_value(wick_builder *b, wick_arena *tmp, wick_value v, wick_tensor *out)
{
  known k = {.b = b, .tmp = tmp, .most = KNOWN_ELEMENTS};
  return known_value(&k, v, 0, out);
}

bool wick_known_large(wick_builder *b, wick_arena *tmp, wick_value v, wick_tensor *out)
{
  known k = {.b = b, .tmp = tmp, .most = KNOWN_LARGE};
  return known_value(&k, v, 0, out);
}

bool wick_known_text(wick_builder *b, wick_arena *tmp, wick_value v, wick_tensor *out)
{
  known k = {.b = b, .tmp = tmp, .most = KNOWN_LARGE, .text = true};
  return known_value(&k, v, 0, out);
}
