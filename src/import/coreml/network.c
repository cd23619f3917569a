/* Neural networks: inputs and their preprocessing, layers by their rows, outputs and labels. */
#include <string.h>

#include "import/coreml/classify.h"
#include "import/coreml/layers.h"

enum { NETWORK_RANK = 5, NETWORK_MAPPED = 4 /* version from which the mapping is written */ };

/* ---- attributes ---- */

/* Reads a field of the layer's parameters by its name. */
wick_import_attr wick_coreml_attr(const wick_import_node *n, const char *name, char kind)
{
  const wick_coreml_message *m = wick_coreml_params(n);
  const wick_coreml_field *f = wick_coreml_field_of(m, name);
  wick_arena *mem = n->c->tmp;
  wick_import_attr a = {.kind = f ? f->kind : 0};
  if (!f || !wick_coreml_has(m, name)) return (wick_import_attr){0};
  if (f->kind == 'i') a.i = wick_coreml_int(m, name, 0);
  if (f->kind == 'i' && kind == 'b') a.kind = 'b';
  if (f->kind == 'f' || f->kind == 'd') a.kind = 'f', a.f = wick_coreml_real(m, name, 0);
  if (f->kind == 's') a.s = wick_coreml_bytes(m, name);
  if (f->kind == 'm' || f->kind == 'M') a.kind = 'o';
  if (f->kind == 'I') {
    wick_coreml_ints l = wick_coreml_ints_of(m, name, mem);
    a.n = l.n, a.ints = l.at;
  }
  if (f->kind == 'F' || f->kind == 'D') {
    wick_coreml_reals l = wick_coreml_reals_of(m, name, mem);
    a.kind = 'F', a.n = l.n, a.floats = l.at;
  }
  if (f->kind == 'S') {
    wick_coreml_texts l = wick_coreml_texts_of(m, name, mem);
    a.n = l.n, a.texts = l.at;
  }
  return a;
}

/* ---- layers ---- */

void wick_coreml_layer_run(wick_import *c, const wick_coreml_layer *l, uint32_t nout,
                           const char *const *out)
{
  wick_coreml_texts in = wick_coreml_texts_of(&l->layer, "input", c->tmp);
  wick_value *x = wick_new(c->tmp, wick_value, (size_t)in.n + 1),
             *y = wick_new(c->tmp, wick_value, (size_t)nout + 1);
  bool broken = false;
  for (uint32_t k = 0; k < in.n; k++) {
    const char *name = wick_wire_text(c->tmp, in.at[k]);
    const wick_value *v = wick_import_find(c, name);
    if (!v)
      wick_import_error(c, WICK_EPARSE, wick_import_place(c, l->name, l->kind),
                        "its input \"%s\" is not computed before it", wick_import_shown(c, name));
    if (v) x[k] = *v;
    broken = broken || !x[k].id;
  }
  wick_import_run(c, l->kind, 1, l->name, l, in.n, x, broken, nout, y);
  for (uint32_t k = 0; k < nout; k++) {
    wick_import_rebind(c, out[k], y[k]);
    if (y[k].id && (unsigned char)out[k][0] >= ' ') wick_import_name(c, y[k], out[k]);
  }
}

/* ---- inputs ---- */

/* Is operand k of such a layer an index? */
static bool network_index_operand(const char *kind, uint32_t k)
{
  static const struct {
    const char *kind;
    uint32_t operand;
  } rows[] = {{"embedding", 0}, {"embeddingND", 0},     {"oneHot", 0},  {"gather", 1},
              {"gatherND", 1},  {"gatherAlongAxis", 1}, {"scatter", 1}, {"scatterND", 1}};
  for (uint32_t i = 0; i < WICK_COUNT(rows); i++)
    if (rows[i].operand == k && strcmp(rows[i].kind, kind) == 0) return true;
  return false;
}

bool wick_coreml_is_index(wick_import *c, const wick_coreml_message *network, const char *name)
{
  static const char *const moves[] = {"copy",      "expandDims",    "squeeze",
                                      "transpose", "reshapeStatic", "rankPreservingReshape"};
  wick_coreml_messages layers = wick_coreml_parts(network, "layers", c->tmp);
  bool used = false;
  for (uint32_t i = 0; i < layers.n; i++) {
    wick_coreml_message params;
    const wick_coreml_field *f = wick_coreml_choice(&layers.at[i], 64, UINT32_MAX, &params);
    const char *kind = f ? wick_str_dupn(c->tmp, f->name, f->nname) : "";
    if (strcmp(kind, "branch") == 0 || strcmp(kind, "loop") == 0) return false;
    wick_coreml_texts in = wick_coreml_texts_of(&layers.at[i], "input", c->tmp),
                      out = wick_coreml_texts_of(&layers.at[i], "output", c->tmp);
    for (uint32_t k = 0; k < in.n; k++) {
      bool move = false;
      if (strcmp(wick_wire_text(c->tmp, in.at[k]), name) != 0) continue;
      for (uint32_t j = 0; j < WICK_COUNT(moves); j++) move = move || strcmp(moves[j], kind) == 0;
      if (!network_index_operand(kind, k) && (!move || out.n != 1)) return false;
      used = used || !move;
      if (move) name = wick_wire_text(c->tmp, out.at[0]);
    }
  }
  return used;
}

/* Subtracts the mean image, then scales and adds the biases, as the preprocessing of this input
 * says. x is [1, channels, height, width]; its channels are in the order of the colour space. */
static wick_value network_preprocess(wick_import *c, const wick_coreml_message *p, bool bgr,
                                     wick_value x)
{
  wick_builder *b = &c->b;
  const wick_type_info t = *wick_built_info(b, x);
  wick_coreml_message scaler = wick_coreml_part(p, "scaler"),
                      mean = wick_coreml_part(p, "meanImage");
  if (mean.bytes.at) {
    wick_coreml_reals v = wick_coreml_reals_of(&mean, "meanImage", c->tmp);
    int64_t dim[4] = {1, 1, 1, 1}, count = 1;
    for (uint32_t k = 1; k < t.rank; k++) {
      dim[k] = wick_dim_is_const(t.dim[k]) ? t.dim[k].v : 0;
      if (wick_mul_overflows(count, dim[k], &count)) count = -1;
    }
    if (count != v.n) {
      wick_import_error(c, WICK_EPARSE, c->file, "a mean image has %u numbers, its input %lld", v.n,
                        (long long)count);
      return x;
    }
    x = wick_build2(b, WICK_OP_sub, x, wick_emit_table(b, "mean", WICK_F32, 4, dim, v.at));
  }
  if (!scaler.bytes.at) return x;
  bool grey = wick_dim_is(t.dim[1], 1);
  double scale = wick_coreml_real(&scaler, "channelScale", 0);
  const char *const names[] = {bgr ? "blueBias" : "redBias", "greenBias",
                               bgr ? "redBias" : "blueBias"};
  double bias[3] = {wick_coreml_real(&scaler, "grayBias", 0)};
  for (uint32_t k = 0; k < 3 && !grey; k++) bias[k] = wick_coreml_real(&scaler, names[k], 0);
  x = wick_emit_by(b, WICK_OP_mul, x, scale == 0 ? 1 : scale);
  int64_t dim[4] = {1, grey ? 1 : 3, 1, 1};
  return wick_build2(b, WICK_OP_add, x, wick_emit_table(b, "bias", WICK_F32, 4, dim, bias));
}

/* Maps a shape [C], [C, H, W] or one with batch and sequence before it to five dimensions. */
static wick_value network_rank5(wick_import *c, wick_value x)
{
  const wick_type_info *t = wick_built_info(&c->b, x);
  wick_dim dim[NETWORK_RANK], one = wick_dim_const(1);
  uint32_t rank = t->rank, first = rank < 3 ? 3 - rank : NETWORK_RANK - rank;
  if (rank >= NETWORK_RANK) return x;
  for (uint32_t k = 0; k < NETWORK_RANK; k++)
    dim[k] = k < first || k >= first + rank ? one : t->dim[k - first];
  return wick_build_reshape(&c->b, x, NETWORK_RANK, dim);
}

/* Reads the mapping: in old versions all values have rank 5. */
bool wick_coreml_is_exact(int64_t version, const wick_coreml_message *network, const char *mapping)
{
  return version >= NETWORK_MAPPED && wick_coreml_int(network, mapping, 0) == 1;
}

static void network_input(wick_import *c, const wick_coreml_model *m,
                          const wick_coreml_message *network, const wick_coreml_message *input)
{
  enum { BGR = 30 };
  wick_coreml_feature f;
  wick_coreml_messages pre = wick_coreml_parts(network, "preprocessing", c->tmp);
  if (!wick_coreml_feature_of(c, input, c->file, &f)) return;
  const wick_value *bound = wick_import_find(c, f.name);
  if (!bound || !bound->id) return;
  bool whole = wick_elem_is_int(wick_built_info(&c->b, *bound)->elem);
  wick_value x = wick_build_cast(&c->b, *bound, whole ? WICK_I64 : WICK_F32);
  bool image = strcmp(f.kind, "imageType") == 0;
  wick_coreml_message type = wick_coreml_part(&f.type, "imageType");
  for (uint32_t i = 0; i < pre.n && !c->b.status; i++) {
    wick_span name = wick_coreml_bytes(&pre.at[i], "featureName");
    if ((pre.n == 1 && image) || strcmp(wick_wire_text(c->tmp, name), f.name) == 0) {
      if (wick_built_info(&c->b, x)->rank != 4)
        wick_import_error(c, WICK_EPARSE, c->file, "the preprocessing of \"%s\" is for images",
                          wick_import_shown(c, f.name));
      else
        x = network_preprocess(c, &pre.at[i], wick_coreml_int(&type, "colorSpace", 0) == BGR, x);
    }
  }
  if (c->b.status) return;
  if (!wick_coreml_is_exact(m->version, network,
                            image ? "imageInputShapeMapping" : "arrayInputShapeMapping"))
    x = network_rank5(c, x);
  wick_import_rebind(c, f.name, x);
}

/* ---- outputs ---- */

/* Takes away the dimensions that the mapping to rank 5 added: those before the declared shape and,
 * for a vector, those after it. */
static wick_value network_plain(wick_import *c, const wick_coreml_feature *f, wick_value x)
{
  const wick_type_info *t = wick_built_info(&c->b, x);
  wick_dim dim[WICK_MAX_RANK];
  uint32_t first = 0, end = t->rank, rank = f->open ? 3 : f->rank;
  if (t->rank != NETWORK_RANK || rank >= NETWORK_RANK) return x;
  while (first < 2 && wick_dim_is(t->dim[first], 1)) first++;
  if (first < 2 && rank > 2) first = 0;
  while (rank < 3 && end > 3 && wick_dim_is(t->dim[end - 1], 1)) end--;
  if (rank == 3 && first < 2) end = t->rank; /* a sequence keeps all */
  for (uint32_t k = first; k < end; k++) dim[k - first] = t->dim[k];
  return wick_build_reshape(&c->b, x, end - first, dim);
}

static void network_output(wick_import *c, bool exact, const wick_coreml_message *output)
{
  wick_coreml_feature f;
  if (!wick_coreml_feature_of(c, output, c->file, &f)) return;
  const wick_value *v = wick_import_find(c, f.name);
  if (!v || !v->id || strcmp(f.kind, "multiArrayType") != 0 || c->b.status) return;
  c->b.loc = wick_loc_add(c->module, wick_str_printf(c->tmp, "%s: output \"%s\"", c->file,
                                                     wick_import_shown(c, f.name)));
  if (!exact) wick_import_rebind(c, f.name, network_plain(c, &f, *v));
}

/* The blob with the probabilities of a classifier: by its name, or the last one. */
static void network_classify(wick_import *c, const wick_coreml_model *m,
                             const wick_coreml_message *network)
{
  const char *name =
      wick_wire_text(c->tmp, wick_coreml_bytes(network, "labelProbabilityLayerName"));
  wick_coreml_messages layers = wick_coreml_parts(network, "layers", c->tmp);
  if (!wick_coreml_has(network, "stringClassLabels") &&
      !wick_coreml_has(network, "int64ClassLabels"))
    return;
  if (!*name && layers.n) {
    wick_coreml_texts out = wick_coreml_texts_of(&layers.at[layers.n - 1], "output", c->tmp);
    if (out.n) name = wick_wire_text(c->tmp, out.at[0]);
  }
  const wick_value *v = wick_import_find(c, name);
  if (!v)
    wick_import_error(c, WICK_EPARSE, c->file, "the probabilities \"%s\" are not computed",
                      wick_import_shown(c, name));
  else if (v->id)
    wick_coreml_classified(c, m, network, *v);
}

void wick_coreml_network(wick_import *c, const wick_coreml_model *m,
                         const wick_coreml_message *network)
{
  wick_coreml_messages in = wick_coreml_parts(&m->interface, "input", c->tmp),
                       out = wick_coreml_parts(&m->interface, "output", c->tmp);
  wick_import_scope *back = wick_import_enter(c, true);
  for (uint32_t i = 0; i < in.n; i++) network_input(c, m, network, &in.at[i]);
  wick_coreml_run(c, wick_coreml_parts(network, "layers", c->tmp));
  bool exact = wick_coreml_is_exact(m->version, network, "arrayInputShapeMapping");
  for (uint32_t i = 0; i < out.n; i++) network_output(c, exact, &out.at[i]);
  if (wick_coreml_field_of(network, "stringClassLabels")) network_classify(c, m, network);
  wick_coreml_leave(c, back, out);
}
