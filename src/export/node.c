/* Exports the nodes of a function in order: names, attributes, outputs, casts and the default for
 * an operator without its own `put`. Begin with wick_export_range. */
#include <string.h>

#include "export/write.h"
#include "ir/element.h"

/* ---- the node of an operator ---- */

void wick_export_fail(wick_export_op *o, const char *fmt, ...)
{
  va_list args;
  va_start(args, fmt);
  wick_errors_add(&o->x->errors, wick_vfail(o->x->mem, WICK_EUNSUPPORTED, o->location, fmt, args));
  va_end(args);
  o->failed = true;
}

bool wick_export_given(const wick_export_op *o, uint32_t i)
{
  return i < o->n->nin && o->n->in[i].id;
}

const char *wick_export_in(const wick_export_op *o, uint32_t i)
{
  return wick_export_given(o, i) ? wick_export_value(o->x, o->n->in[i]) : "";
}

const wick_type_info *wick_export_info(const wick_export_op *o, uint32_t i)
{
  return wick_info_of(o->x->f, o->n->in[i]);
}

const wick_type_info *wick_export_out_info(const wick_export_op *o, uint32_t k)
{
  return wick_info_of(o->x->f, (wick_value){o->n->first.id + k});
}

const wick_node *wick_export_definer(const wick_export_op *o, wick_value v)
{
  uint32_t i = v.id ? o->x->definer[v.id] : UINT32_MAX;
  return i == UINT32_MAX ? NULL : &o->x->f->node[i];
}

bool wick_export_known(const wick_export_op *o, uint32_t i, double *out)
{
  const wick_node *n = wick_export_given(o, i) ? wick_export_definer(o, o->n->in[i]) : NULL;
  if (!n || n->op != WICK_OP_const) return false;
  const wick_type_info *t = wick_export_info(o, i);
  const wick_imm *imm = wick_const_imm(n);
  bool is_float = wick_elem_is_float(t->elem);
  if (!is_float && !wick_elem_is_int(t->elem)) return false;
  wick_scalar s = is_float ? (wick_scalar){.f = imm->f} : (wick_scalar){.i = imm->i};
  if (imm->constant) {
    const void *data = wick_constant_bytes(o->x->m, imm->constant);
    if (!data || wick_constant_get(o->x->m, imm->constant)->nbytes != wick_elem_bytes(t->elem, 1))
      return false;
    s = wick_load_elem(t->elem, data, 0);
  }
  *out = is_float ? s.f : (double)s.i;
  return true;
}

static uint32_t node_attr(const wick_export_op *o, const char *name, size_t n)
{
  const wick_op *row = wick_op_of(o->n);
  uint32_t i = 0;
  while (row->attr[i].name && (strncmp(row->attr[i].name, name, n) || row->attr[i].name[n])) i++;
  return i; /* it exists: the registry test exports every operator */
}

const wick_attr *wick_export_attr(const wick_export_op *o, const char *name)
{
  return &o->n->attr[node_attr(o, name, strlen(name))];
}

static const char *node_word(const wick_export_op *o, uint32_t attr)
{
  const char *words = wick_op_of(o->n)->attr[attr].words;
  for (int64_t i = o->n->attr[attr].i; i > 0; i--) words = strchr(words, ' ') + 1;
  return wick_str_dupn(o->x->mem, words, strcspn(words, " "));
}

const char *wick_export_word(const wick_export_op *o, const char *name)
{
  return node_word(o, node_attr(o, name, strlen(name)));
}

/* ---- nodes of the file ---- */

/* Makes a node's name of its location: "net.onnx: node \"f\" (F): node \"prob\" (Softmax)" becomes
 * "f/prob". Other locations are names already. */
static const char *node_name(const wick_export_op *o)
{
  wick_export *x = o->x;
  static const char begin[] = "node \"";
  const char *loc = wick_loc_text(x->m, o->n->loc), *at = strstr(loc, begin);
  wick_text name = wick_text_begin(x->mem);
  for (; at; at = strstr(at, begin)) {
    at += sizeof begin - 1;
    const char *end = strstr(at, "\" (");
    size_t n = end ? (size_t)(end - at) : strcspn(at, "\"");
    if (name.n) wick_text_char(&name, '/');
    wick_text_addn(&name, at, n);
    at += n;
  }
  const char *stem = name.n ? name.at : loc, *unique = stem;
  if (!*stem) return stem;
  while (wick_names_find(&x->node_names, unique, strlen(unique)))
    unique = wick_str_printf(x->mem, "%s.%u", stem, ++x->fresh);
  wick_names_add(&x->node_names, unique, strlen(unique));
  return unique;
}

wick_onnx_node *wick_export_begin(wick_export_op *o, const char *op_type, uint32_t nin,
                                  const char *const *in)
{
  wick_export *x = o->x;
  wick_onnx_node *n = wick_new(x->mem, wick_onnx_node, 1);
  while (nin && !*in[nin - 1]) nin--; /* omits missing operands at the end */
  n->op_type = wick_export_span(op_type);
  n->name = wick_export_span(node_name(o));
  n->input.at = wick_new(x->mem, wick_span, nin);
  n->input.n = nin;
  for (uint32_t i = 0; i < nin; i++) n->input.at[i] = wick_export_span(in[i]);
  n->attribute.at = wick_new(x->mem, wick_onnx_attr, WICK_MAX_ATTR + 4);
  return n;
}

static wick_onnx_attr *node_set(wick_onnx_node *n, const char *name, int64_t type)
{
  wick_onnx_attr *a = &n->attribute.at[n->attribute.n++];
  *a = (wick_onnx_attr){.name = wick_export_span(name), .type = type};
  return a;
}

void wick_export_set_int(wick_export_op *o, wick_onnx_node *n, const char *name, int64_t i)
{
  (void)o;
  wick_onnx_attr *a = node_set(n, name, WICK_ONNX_ATTR_INT);
  a->has = (uint64_t)1 << WICK_ONNX_FIELD_I;
  a->i = i;
}

void wick_export_set_float(wick_export_op *o, wick_onnx_node *n, const char *name, double f)
{
  (void)o;
  wick_onnx_attr *a = node_set(n, name, WICK_ONNX_ATTR_FLOAT);
  a->has = (uint64_t)1 << WICK_ONNX_FIELD_F;
  a->f = (float)f;
}

void wick_export_set_word(wick_export_op *o, wick_onnx_node *n, const char *name, const char *s)
{
  (void)o;
  wick_onnx_attr *a = node_set(n, name, WICK_ONNX_ATTR_STRING);
  a->has = (uint64_t)1 << WICK_ONNX_FIELD_S;
  a->s = wick_export_span(s);
}

void wick_export_set_words(wick_export_op *o, wick_onnx_node *n, const char *name, uint32_t count,
                           const char *const *s)
{
  wick_onnx_attr *a = node_set(n, name, WICK_ONNX_ATTR_STRINGS);
  a->strings.at = wick_new(o->x->mem, wick_span, count);
  a->strings.n = count;
  for (uint32_t i = 0; i < count; i++) a->strings.at[i] = wick_export_span(s[i]);
}

void wick_export_set_ints(wick_export_op *o, wick_onnx_node *n, const char *name, uint32_t count,
                          const int64_t *v)
{
  wick_onnx_attr *a = node_set(n, name, WICK_ONNX_ATTR_INTS);
  a->ints.at = wick_dup(o->x->mem, int64_t, v, count);
  a->ints.n = count;
}

void wick_export_set_floats(wick_export_op *o, wick_onnx_node *n, const char *name, uint32_t count,
                            const double *v)
{
  wick_onnx_attr *a = node_set(n, name, WICK_ONNX_ATTR_FLOATS);
  a->floats.at = wick_new(o->x->mem, float, count);
  a->floats.n = count;
  for (uint32_t i = 0; i < count; i++) a->floats.at[i] = (float)v[i];
}

void wick_export_set_graph(wick_export_op *o, wick_onnx_node *n, const char *name,
                           wick_onnx_graph *g)
{
  (void)o;
  node_set(n, name, WICK_ONNX_ATTR_GRAPH)->g = g;
}

static void node_set_one(wick_export_op *o, wick_onnx_node *n, uint32_t attr, const char *name)
{
  const wick_attr *a = &o->n->attr[attr];
  switch (wick_op_of(o->n)->attr[attr].kind) {
  case WICK_ATTR_INT:
  case WICK_ATTR_BOOL:
  case WICK_ATTR_AXIS: wick_export_set_int(o, n, name, a->i); break;
  case WICK_ATTR_FLOAT: wick_export_set_float(o, n, name, a->f); break;
  case WICK_ATTR_ENUM: wick_export_set_word(o, n, name, node_word(o, attr)); break;
  case WICK_ATTR_STRING: wick_export_set_word(o, n, name, a->s); break;
  case WICK_ATTR_INTS:
    if (a->n) wick_export_set_ints(o, n, name, a->n, a->ints);
    break;
  case WICK_ATTR_FLOATS:
    if (a->n) wick_export_set_floats(o, n, name, a->n, a->floats);
    break;
  default: wick_export_fail(o, "its attribute %s has no form in ONNX", name);
  }
}

void wick_export_set_attrs(wick_export_op *o, wick_onnx_node *n, const char *attrs)
{
  for (const char *at = attrs; at && *at;) {
    size_t whole = strcspn(at, " "), own = strcspn(at, "= ");
    const char *onnx = own < whole ? at + own + 1 : at;
    node_set_one(o, n, node_attr(o, at, own),
                 wick_str_dupn(o->x->mem, onnx, (size_t)(at + whole - onnx)));
    at += whole + (at[whole] == ' ');
  }
}

static void node_outputs(wick_export_op *o, wick_onnx_node *n, uint32_t count)
{
  n->output.at = wick_new(o->x->mem, wick_span, count);
  n->output.n = count;
  wick_push(o->x->mem, &o->x->nodes->list, n);
}

/* Returns a name for a value that exists only in ONNX. It is derived from the node's result, or
 * from the operand of `return`. */
static const char *node_fresh(wick_export_op *o, const wick_onnx_node *n)
{
  wick_export *x = o->x;
  const char *stem =
      o->n->nout ? wick_export_value(x, o->n->first)
                 : wick_str_dupn(x->mem, (const char *)n->input.at[0].at, n->input.at[0].nbytes);
  const char *type = wick_str_dupn(x->mem, (const char *)n->op_type.at, n->op_type.nbytes);
  return wick_export_name(x, wick_str_printf(x->mem, "%s/%s", stem, type));
}

void wick_export_end_list(wick_export_op *o, wick_onnx_node *n, uint32_t nout,
                          const char **out_name)
{
  node_outputs(o, n, nout);
  for (uint32_t k = 0; k < nout; k++) {
    out_name[k] = node_fresh(o, n);
    n->output.at[k] = wick_export_span(out_name[k]);
  }
}

const char *wick_export_end(wick_export_op *o, wick_onnx_node *n)
{
  const char *name;
  wick_export_end_list(o, n, 1, &name);
  return name;
}

void wick_export_end_results(wick_export_op *o, wick_onnx_node *n, uint32_t nout)
{
  node_outputs(o, n, nout);
  for (uint32_t k = 0; k < nout; k++)
    n->output.at[k] = wick_export_span(wick_export_value(o->x, (wick_value){o->n->first.id + k}));
}

static bool node_renames(wick_span *s, size_t n, wick_span from, wick_span to)
{
  bool any = false;
  for (size_t i = 0; i < n; i++)
    if (s[i].nbytes == from.nbytes && memcmp(s[i].at, from.at, from.nbytes) == 0) {
      s[i] = to;
      any = true;
    }
  return any;
}

/* Makes the value `name` result k. If a node of this operator computes it, renames that node's
 * output; else adds an Identity. */
void wick_export_result_is(wick_export_op *o, uint32_t k, const char *name)
{
  wick_span from = wick_export_span(name),
            to = wick_export_span(wick_export_value(o->x, (wick_value){o->n->first.id + k}));
  bool mine = false;
  for (uint32_t i = o->first; i < o->x->nodes->list.n; i++) {
    wick_onnx_node *n = o->x->nodes->list.at[i];
    mine |= node_renames(n->output.at, n->output.n, from, to);
    if (mine) node_renames(n->input.at, n->input.n, from, to);
  }
  if (!mine)
    wick_export_identity(o, name, wick_export_value(o->x, (wick_value){o->n->first.id + k}));
}

void wick_export_identity(wick_export_op *o, const char *name, const char *as)
{
  wick_onnx_node *n = wick_export_begin(o, "Identity", 1, &name);
  node_outputs(o, n, 1);
  n->output.at[0] = wick_export_span(as);
}

/* ---- nodes without attributes, and the like ---- */

const char *wick_export_1(wick_export_op *o, const char *op_type, const char *x)
{
  return wick_export_end(o, wick_export_begin(o, op_type, 1, &x));
}

const char *wick_export_2(wick_export_op *o, const char *op_type, const char *x, const char *y)
{
  return wick_export_end(o, wick_export_begin(o, op_type, 2, (const char *const[]){x, y}));
}

const char *wick_export_3(wick_export_op *o, const char *op_type, const char *x, const char *y,
                          const char *z)
{
  return wick_export_end(o, wick_export_begin(o, op_type, 3, (const char *const[]){x, y, z}));
}

/* Casts x. In Wick a number that is too large for an 8-bit float becomes infinity or NaN, so the
 * cast does not saturate; a saturating conversion has a `clip` before it. */
const char *wick_export_cast(wick_export_op *o, const char *x, wick_elem from, wick_elem to)
{
  if (from == to || !*x) return x;
  wick_onnx_node *n = wick_export_begin(o, "Cast", 1, &x);
  wick_export_set_int(o, n, "to", wick_export_type(to));
  if (wick_elem_is_float(to) && wick_elem_storage[to].bits == 8)
    wick_export_set_int(o, n, "saturate", 0);
  return wick_export_end(o, n);
}

const char *wick_export_bitcast(wick_export_op *o, const char *x, wick_elem to)
{
  wick_onnx_node *n = wick_export_begin(o, "BitCast", 1, &x);
  wick_export_set_int(o, n, "to", wick_export_type(to));
  return wick_export_end(o, n);
}

const char *wick_export_reshape(wick_export_op *o, const char *x, uint32_t n, const wick_dim *dim)
{
  bool rest = false, dynamic = false;
  for (uint32_t k = 0; k < n; k++) {
    rest |= wick_dim_is(dim[k], -1);
    dynamic |= wick_dim_is(dim[k], 0) || !wick_dim_is_const(dim[k]);
  }
  wick_onnx_node *y =
      wick_export_begin(o, "Reshape", 2, (const char *const[]){x, wick_export_dims(o, n, dim)});
  if (dynamic && !rest) wick_export_set_int(o, y, "allowzero", 1); /* 0 is a size, not a copy */
  return wick_export_end(o, y);
}

const char *wick_export_unsqueeze(wick_export_op *o, const char *x, int64_t axis)
{
  return *x ? wick_export_2(o, "Unsqueeze", x, wick_export_i64s(o->x, 1, &axis)) : x;
}

const char *wick_export_squeeze(wick_export_op *o, const char *x, int64_t axis)
{
  return wick_export_2(o, "Squeeze", x, wick_export_i64s(o->x, 1, &axis));
}

const char *wick_export_transpose(wick_export_op *o, const char *x, uint32_t n, const int64_t *perm)
{
  wick_onnx_node *y = wick_export_begin(o, "Transpose", 1, &x);
  wick_export_set_ints(o, y, "perm", n, perm);
  return wick_export_end(o, y);
}

const char *wick_export_concat(wick_export_op *o, int64_t axis, uint32_t n, const char *const *in)
{
  wick_onnx_node *y = wick_export_begin(o, "Concat", n, in);
  wick_export_set_int(o, y, "axis", axis);
  return wick_export_end(o, y);
}

wick_elem wick_export_wide(wick_export_op *o, wick_elem e, uint64_t elems)
{
  static const wick_elem wide[] = {WICK_I32, WICK_I64, WICK_F32, WICK_F64};
  uint32_t bits = wick_elem_storage[e].bits;
  if (!elems || elems & WICK_BIT(e)) return e;
  for (uint32_t i = wick_elem_is_float(e) ? 2 : 0; i < WICK_COUNT(wide); i++)
    if (wick_elem_storage[wide[i]].bits > bits && elems & WICK_BIT(wide[i]) &&
        (wide[i] != WICK_F32 || bits <= 16))
      return wide[i];
  wick_export_fail(o, "ONNX has no %s of %s", wick_op_of(o->n)->name, wick_elem_name(e));
  return e;
}

/* ---- all operators ---- */

/* Exports an operator as one node. If ONNX does not accept the element type, uses a wider one; the
 * cast of the result wraps or rounds again. */
static void node_plain(wick_export_op *o)
{
  const wick_node *n = o->n;
  const wick_op *row = wick_op_of(n);
  const char **in = wick_new(o->x->mem, const char *, n->nin);
  wick_elem e = 0, wide = 0;
  for (uint32_t i = 0; i < n->nin; i++) {
    in[i] = wick_export_in(o, i);
    if (!wick_op_is_data(row, i) || !wick_export_given(o, i)) continue;
    e = wick_export_info(o, i)->elem;
    wide = wick_export_wide(o, e, o->row->elems);
    in[i] = wick_export_cast(o, in[i], e, wide);
  }
  if (o->failed) return;
  wick_onnx_node *y = wick_export_begin(o, o->row->op_type, n->nin, in);
  wick_export_set_attrs(o, y, o->row->attrs);
  if (wide == e || n->nout != 1 || wick_export_out_info(o, 0)->elem != e)
    wick_export_end_results(o, y, n->nout);
  else
    wick_export_result_is(o, 0, wick_export_cast(o, wick_export_end(o, y), wide, e));
}

/* Returns false and adds an error of the node if ONNX does not have one of its element types. */
static bool node_types(wick_export_op *o)
{
  for (uint32_t k = 0; k < o->n->nout; k++) {
    const wick_type_info *t = wick_export_out_info(o, k);
    if (t->kind == WICK_TENSOR && !wick_export_type(t->elem)) {
      wick_export_fail(o, "%s has no form in ONNX", wick_elem_name(t->elem));
      return false;
    }
  }
  return true;
}

void wick_export_range(wick_export *x, uint32_t begin, uint32_t end)
{
  for (uint32_t i = begin; i < end; i = x->f->node[i].end) {
    const wick_node *n = &x->f->node[i];
    const char *loc = wick_loc_text(x->m, n->loc);
    wick_export_op o = {.x = x,
                        .n = n,
                        .row = wick_export_row_of(n->op),
                        .location = *loc ? loc : x->location,
                        .first = x->nodes->list.n};
    if (!o.row)
      wick_export_fail(&o, "the operator %s has no form in ONNX", wick_op_of(n)->name);
    else if (node_types(&o))
      o.row->put ? o.row->put(&o) : node_plain(&o);
  }
}
