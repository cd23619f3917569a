/* Checks a node against its operator: counts, attributes, element types. Also has the inference of
 * all scalar operators. */
#include "ir/infer.h"

#include <math.h>
#include <string.h>

#include "ir/element.h"

wick_status wick_infer_fail(const wick_infer *c, wick_code code, const char *fmt, ...)
{
  va_list args;
  va_start(args, fmt);
  const char *location = c->location && *c->location ? c->location : wick_ops[c->op]->name;
  wick_status s = wick_vfail(c->mem, code, location, fmt, args);
  va_end(args);
  return s;
}

bool wick_infer_equal(const wick_infer *c, wick_dim a, wick_dim b)
{
  if (wick_dim_eq(a, b)) return true;
  return c->relies && wick_dim_may_equal(c->module->dims, a, b) && c->relies(c->arg, a, b);
}

bool wick_infer_meet(const wick_infer *c, wick_dim *a, wick_dim b)
{
  if (!wick_infer_equal(c, *a, b)) return false;
  *a = wick_dim_simpler(c->module->dims, *a, b);
  return true;
}

bool wick_infer_least(const wick_infer *c, wick_dim d, int64_t least)
{
  wick_dim bound = wick_dim_const(least);
  return wick_infer_equal(c, wick_dim_min(c->module->dims, d, bound), bound);
}

uint32_t wick_op_nattr(const wick_op *op)
{
  uint32_t n = 0;
  while (n < WICK_MAX_ATTR && op->attr[n].name) n++;
  return n;
}

/* ---- attributes ---- */

static uint32_t infer_words(const char *words)
{
  uint32_t n = words && *words ? 1 : 0;
  for (; words && *words; words++) n += *words == ' ';
  return n;
}

static bool infer_outside(const wick_attr_spec *s, double x)
{
  return (s->least != 0 || s->most != 0) && !(x >= s->least && x <= s->most);
}

static wick_status infer_attr_default(const wick_infer *c, const wick_attr_spec *s, wick_attr *out)
{
  if (s->required) return wick_infer_fail(c, WICK_ETYPE, "attribute \"%s\" is missing", s->name);
  switch (s->kind) {
  case WICK_ATTR_FLOAT: out->f = s->dflt; break;
  case WICK_ATTR_STRING:
  case WICK_ATTR_FUNC: out->s = ""; break;
  case WICK_ATTR_INT:
  case WICK_ATTR_BOOL:
  case WICK_ATTR_ENUM:
  case WICK_ATTR_AXIS: out->i = (int64_t)s->dflt; break;
  default: break;
  }
  return NULL;
}

static wick_status infer_attr_axis(const wick_infer *c, const wick_attr_spec *s, wick_attr *a)
{
  const wick_value_info *x = c->nin ? c->in[0] : NULL;
  int64_t rank = x ? wick_type_get(c->module, x->type)->rank : 0;
  if (a->i < -rank || a->i >= rank)
    return wick_infer_fail(c, WICK_ETYPE, "%s %lld is outside [%lld, %lld]", s->name,
                           (long long)a->i, (long long)-rank, (long long)rank - 1);
  if (a->i < 0) a->i += rank;
  return NULL;
}

static wick_status infer_attr_check(const wick_infer *c, const wick_attr_spec *s, wick_attr *a)
{
  wick_arena *mem = &c->module->mem;
  switch (s->kind) {
  case WICK_ATTR_AXIS: return infer_attr_axis(c, s, a);
  case WICK_ATTR_BOOL: a->i = a->i != 0; break;
  case WICK_ATTR_INT:
    if (infer_outside(s, (double)a->i))
      return wick_infer_fail(c, WICK_ERANGE, "%s is %lld, expected %.0f to %.0f", s->name,
                             (long long)a->i, s->least, s->most);
    break;
  case WICK_ATTR_FLOAT:
    if (infer_outside(s, a->f))
      return wick_infer_fail(c, WICK_ERANGE, "%s is %g, expected %g to %g", s->name, a->f, s->least,
                             s->most);
    break;
  case WICK_ATTR_ENUM:
    if (a->i < 0 || a->i >= infer_words(s->words))
      return wick_infer_fail(c, WICK_ETYPE, "%s is not one of: %s", s->name, s->words);
    break;
  case WICK_ATTR_INTS:
    for (uint32_t i = 0; i < a->n; i++)
      if (infer_outside(s, (double)a->ints[i]))
        return wick_infer_fail(c, WICK_ERANGE, "%s has %lld, expected %.0f to %.0f", s->name,
                               (long long)a->ints[i], s->least, s->most);
    a->ints = wick_dup(mem, int64_t, a->ints, a->n);
    break;
  case WICK_ATTR_FLOATS: a->floats = wick_dup(mem, double, a->floats, a->n); break;
  case WICK_ATTR_DIMS: a->dims = wick_dup(mem, wick_dim, a->dims, a->n); break;
  case WICK_ATTR_AXES: a->axes = wick_dup(mem, wick_axis, a->axes, a->n); break;
  case WICK_ATTR_STRING:
  case WICK_ATTR_FUNC: a->s = wick_intern(c->module, a->s ? a->s : ""); break;
  default: break;
  }
  return NULL;
}

/* Attributes have no flag that says whether they were given. A builder passes all or none, and
 * the parser fills gaps with wick_attr_unset. */
wick_status wick_attrs_complete(wick_infer *c, wick_level level, const wick_attr *given,
                                const wick_attr **out)
{
  (void)level;
  const wick_op *op = wick_ops[c->op];
  uint32_t n = wick_op_nattr(op);
  wick_attr *attr = n ? wick_new(&c->module->mem, wick_attr, n) : NULL;
  for (uint32_t i = 0; i < n; i++) {
    if (given && given[i].n != WICK_ATTR_UNSET)
      attr[i] = given[i];
    else
      WICK_TRY(infer_attr_default(c, &op->attr[i], &attr[i]));
    WICK_TRY(infer_attr_check(c, &op->attr[i], &attr[i]));
  }
  *out = attr;
  return NULL;
}

/* ---- the node ---- */

static wick_status infer_counts(const wick_infer *c, wick_level level)
{
  const wick_op *op = wick_ops[c->op];
  bool numbers = level == WICK_LOW && op->level & WICK_LOOP; /* in registers of a procedure */
  for (uint32_t i = 0; numbers && i < c->nin; i++)
    numbers = !c->in[i] || wick_type_get(c->module, c->in[i]->type)->kind != WICK_TENSOR;
  if (!(op->level & level) && !numbers)
    return wick_infer_fail(c, WICK_ETYPE, "%s does not belong to this level", op->name);
  if (c->nin < op->nin[0] || (op->nin[1] != WICK_ANY && c->nin > op->nin[1]))
    return wick_infer_fail(c, WICK_ETYPE, "%s takes %u to %u operands, %u are given", op->name,
                           op->nin[0], op->nin[1], c->nin);
  if (c->nregion < op->nregion[0] || (op->nregion[1] != WICK_ANY && c->nregion > op->nregion[1]))
    return wick_infer_fail(c, WICK_ETYPE, "%s takes %u to %u regions, %u are given", op->name,
                           op->nregion[0], op->nregion[1], c->nregion);
  for (uint32_t i = 0; i < c->nin;
       i++) /* operands beyond the least number are optional, if the number is limited */
    if (!c->in[i] && (i < op->nin[0] || op->nin[1] == WICK_ANY))
      return wick_infer_fail(c, WICK_ETYPE, "operand %u is missing", i);
  return NULL;
}

static wick_status infer_elems(const wick_infer *c)
{
  const wick_op *op = wick_ops[c->op];
  for (uint32_t i = op->scalar == WICK_RULE_SELECT; op->elems && i < c->nin; i++) {
    if (!c->in[i] || !wick_op_is_data(op, i)) continue;
    wick_elem e = wick_type_get(c->module, c->in[i]->type)->elem;
    if (!(op->elems & WICK_BIT(e)))
      return wick_infer_fail(c, WICK_ETYPE, "%s has no form for %s (operand %u)", op->name,
                             wick_elem_name(e), i);
  }
  return NULL;
}

static wick_status infer_kinds(const wick_infer *c)
{
  for (uint32_t i = 0; !wick_ops[c->op]->objects && i < c->nin; i++) {
    wick_kind kind = c->in[i] ? wick_type_get(c->module, c->in[i]->type)->kind : WICK_TENSOR;
    if (!wick_kind_is_object(kind) && kind != WICK_TUPLE) continue;
    wick_text t = wick_text_begin(c->mem);
    wick_type_print(c->module, c->in[i]->type, &t);
    return wick_infer_fail(c, WICK_ETYPE, "operand %u of %s is %s, expected a tensor", i,
                           wick_ops[c->op]->name, t.at);
  }
  return NULL;
}

wick_status wick_infer_results(wick_infer *c, uint32_t n)
{
  if (n > WICK_MAX_RESULTS)
    return wick_infer_fail(c, WICK_ELIMIT, "%s has %u results, the most is %d",
                           wick_ops[c->op]->name, n, WICK_MAX_RESULTS);
  if (n > c->capacity) c->capacity = n, c->out = wick_new(c->mem, wick_value_info, n);
  memset(c->out, 0, n * sizeof *c->out);
  return NULL;
}

/* Returns how many results a node may have, as far as its operands and regions say it. */
static uint32_t infer_most_results(const wick_infer *c)
{
  uint32_t most = wick_ops[c->op]->nout[1];
  if (most != WICK_ANY) return most;
  if (c->nwant > most) most = c->nwant;
  if (c->nin > most) most = c->nin;
  for (uint32_t r = 0; r < c->nregion; r++)
    if (c->nyield[r] > most) most = c->nyield[r];
  for (uint32_t i = 0; i < c->nin; i++) { /* contents of a reference, results of a function */
    const wick_type_info *t = c->in[i] ? wick_type_get(c->module, c->in[i]->type) : NULL;
    if (t && wick_kind_is_object(t->kind) && t->nitem > most) most = t->nitem;
  }
  return most;
}

wick_status wick_infer_node(wick_infer *c, wick_level level)
{
  const wick_op *op = wick_ops[c->op];
  WICK_TRY(infer_counts(c, level));
  WICK_TRY(infer_kinds(c));
  WICK_TRY(infer_elems(c));
  WICK_TRY(wick_infer_results(c, infer_most_results(c)));
  c->nout = op->nout[0];
  if (op->typed && (c->nwant < op->nout[0] || (op->nout[1] != WICK_ANY && c->nwant > op->nout[1])))
    return wick_infer_fail(c, WICK_ETYPE, "%s needs an explicit result type", op->name);
  if (op->typed) {
    c->nout = c->nwant;
    for (uint32_t i = 0; i < c->nwant; i++) c->out[i].type = c->want[i];
  }
  WICK_TRY(op->infer ? op->infer(c) : op->scalar ? wick_infer_scalar(c) : NULL);
  for (uint32_t i = 0; i < c->nout; i++) {
    const wick_type_info *t = wick_type_get(c->module, c->out[i].type);
    for (uint32_t k = 0; k < t->rank; k++)
      if (t->dim[k].v < 0 &&
          (wick_dim_is_const(t->dim[k]) || wick_dim_eq(t->dim[k], WICK_DIM_INVALID)))
        return wick_infer_fail(c, WICK_ERANGE,
                               "dimension %u of the result is negative or overflows", k);
    if (t->kind == WICK_TENSOR &&
        wick_dim_eq(wick_type_numel(c->module, c->out[i].type), WICK_DIM_INVALID))
      return wick_infer_fail(c, WICK_ERANGE, "the number of elements of the result overflows");
  }
  return NULL;
}

/* ---- shared columns ---- */

wick_status wick_infer_same(wick_infer *c)
{
  c->out[0].type = c->in[0]->type;
  return NULL;
}

/* NumPy's rule on physical dimensions: the sizes are equal, or one of them is 1. */
static wick_status infer_broadcast(const wick_infer *c, uint32_t first, wick_type_info *out,
                                   wick_dim *dim)
{
  out->rank = 0;
  for (uint32_t i = first; i < c->nin; i++) {
    const wick_type_info *t = wick_type_get(c->module, c->in[i]->type);
    if (t->rank > out->rank) out->rank = t->rank;
  }
  for (uint32_t k = 0; k < out->rank; k++) dim[k] = wick_dim_const(1);
  for (uint32_t i = first; i < c->nin; i++) {
    const wick_type_info *t = wick_type_get(c->module, c->in[i]->type);
    for (uint32_t k = 0; k < t->rank; k++) {
      wick_dim *have = &dim[out->rank - t->rank + k], d = t->dim[k];
      if (wick_dim_is(*have, 1)) {
        *have = d;
      } else if (!wick_dim_is(d, 1) && !wick_infer_meet(c, have, d)) {
        wick_text a = wick_text_begin(c->mem), b = wick_text_begin(c->mem);
        for (uint32_t j = first; j < i; j++) {
          if (j > first) wick_text_add(&a, " and ");
          wick_type_print(c->module, c->in[j]->type, &a);
        }
        wick_type_print(c->module, c->in[i]->type, &b);
        return wick_infer_fail(c, WICK_ETYPE, "shapes do not broadcast: %s and %s", a.at, b.at);
      }
    }
  }
  out->dim = dim;
  return NULL;
}

/* Returns true if every value of d fits in type e, because arithmetic on expressions does not
 * wrap. For 32 bits it relies on a shape constraint: exporters narrow sizes to 32 bits, and
 * sizes are below 2^31. */
static bool infer_fits(const wick_infer *c, wick_elem e, wick_dim d)
{
  int64_t lo, hi, bits = e == WICK_BOOL ? 1 : wick_elem_storage[e].bits;
  bool is_signed = wick_elem_class(e) == WICK_SINT;
  if (bits == 64 && is_signed) return true;
  wick_dim_range(c->module->dims, d, &lo, &hi);
  if (bits == 64) return lo >= 0;
  int64_t most = ((int64_t)1 << (bits - is_signed)) - 1, least = is_signed ? -most - 1 : 0;
  if (lo >= least && hi <= most) return true;
  wick_dims *t = c->module->dims;
  if (lo >= 0) least = 0;
  wick_dim above = wick_dim_sub(t, d, wick_dim_const(least)),
           range = wick_dim_const(most - least + 1);
  return bits == 32 && !wick_dim_is_const(d) &&
         wick_infer_equal(c, wick_dim_floordiv(t, above, range), wick_dim_const(0));
}

static void infer_scalar_content(wick_infer *c)
{
  const wick_op *op = wick_ops[c->op];
  wick_elem out_elem = wick_type_get(c->module, c->out[0].type)->elem;
  if ((!wick_elem_is_int(out_elem) && out_elem != WICK_BOOL) || c->nin > 3) return;
  wick_dim n = wick_type_numel(c->module, c->out[0].type);
  bool eval = op->eval != NULL;
  for (uint32_t i = 0; i < c->nin; i++) {
    if (!c->in[i]->content || (c->in[i]->ncontent != 1 && !wick_dim_is(n, c->in[i]->ncontent)))
      return;
    for (uint32_t k = 0; k < c->in[i]->ncontent; k++)
      eval = eval && wick_dim_is_const(c->in[i]->content[k]);
  }
  if ((!eval && !op->content) || !wick_dim_is_const(n) || n.v > WICK_MAX_CONTENT) return;
  wick_dim *content = wick_new(&c->module->mem, wick_dim, (size_t)n.v);
  for (uint32_t k = 0; k < (uint32_t)n.v; k++) {
    wick_dim in[3];
    wick_scalar s[3];
    for (uint32_t i = 0; i < c->nin; i++)
      in[i] = c->in[i]->content[c->in[i]->ncontent == 1 ? 0 : k], s[i].i = in[i].v;
    wick_elem e = wick_type_get(c->module, c->in[op->scalar == WICK_RULE_SELECT]->type)->elem;
    content[k] = eval ? wick_dim_const(wick_eval_scalar(c->op, c->attr, e, out_elem, s).i)
                      : op->content(c->module->dims, in);
    /* the lowest integers are handles of expressions */
    bool known = !eval || wick_dim_is_const(content[k]);
    if (!known || wick_dim_eq(content[k], WICK_DIM_INVALID)) return;
    if (!infer_fits(c, out_elem, content[k])) return;
  }
  c->out[0].content = content;
  c->out[0].ncontent = (uint32_t)n.v;
}

wick_status wick_infer_scalar(wick_infer *c)
{
  const wick_op *op = wick_ops[c->op];
  uint32_t first = op->scalar == WICK_RULE_SELECT;
  const wick_type_info *x = wick_type_get(c->module, c->in[first]->type);
  wick_elem elem = x->elem;
  for (uint32_t i = 0; i < c->nin; i++) {
    const wick_type_info *t = wick_type_get(c->module, c->in[i]->type);
    wick_elem want = i < first ? WICK_BOOL : elem;
    if (t->kind != x->kind || (t->kind != WICK_TENSOR && t->kind != WICK_SCALAR))
      return wick_infer_fail(c, WICK_ETYPE, "operands are not all tensors, or not all scalars");
    if (t->elem != want)
      return wick_infer_fail(c, WICK_ETYPE, "operand %u is %s, expected %s", i,
                             wick_elem_name(t->elem), wick_elem_name(want));
    if (t->kind == WICK_SCALAR && t->lanes != x->lanes)
      return wick_infer_fail(c, WICK_ETYPE, "operand %u has %u lanes, expected %u", i, t->lanes,
                             x->lanes);
  }
  wick_type_info out = {.kind = x->kind, .elem = elem, .lanes = x->lanes};
  if (op->scalar == WICK_RULE_COMPARE) out.elem = WICK_BOOL;
  if (op->scalar == WICK_RULE_TYPED) out.elem = wick_type_get(c->module, c->want[0])->elem;
  wick_dim dim[WICK_MAX_RANK];
  if (x->kind == WICK_TENSOR) WICK_TRY(infer_broadcast(c, 0, &out, dim));
  wick_type t = wick_type_intern(c->module, &out);
  if (op->scalar == WICK_RULE_TYPED && !wick_type_eq(t, c->want[0]))
    return wick_infer_fail(c, WICK_ETYPE, "the result's shape is not the operand's");
  c->out[0].type = t;
  infer_scalar_content(c);
  return NULL;
}
