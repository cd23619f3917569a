/* Imports operators on strings: concatenation, splitting, normalization, matching and counting. */
#include <string.h>

#include "import/onnx/import.h"
#include "ops/host.h"

/* ---- strings at import ---- */

bool wick_onnx_texts(wick_onnx_op *o, uint32_t i, const char *what, uint32_t *out_n,
                     const int64_t **out)
{
  const wick_builder *b = o->b;
  wick_dim numel = wick_type_numel(o->c->module, wick_built_type(b, o->in[i]));
  for (uint32_t k = b->nodes.n; k-- > 0 && wick_dim_is_const(numel);) {
    const wick_node *n = &b->nodes.at[k];
    if (n->first.id != o->in[i].id || n->op != WICK_OP_const) continue;
    const wick_imm *imm = wick_const_imm(n);
    int64_t *v = wick_new(o->c->tmp, int64_t, (size_t)numel.v + 1);
    if (imm->constant && numel.v)
      memcpy(v, wick_constant_get(o->c->module, imm->constant)->data, (size_t)numel.v * sizeof *v);
    for (int64_t e = 0; !imm->constant && e < numel.v; e++) v[e] = imm->i;
    *out_n = (uint32_t)numel.v, *out = v;
    return true;
  }
  uint32_t none;
  const double *never;
  return wick_onnx_floats(o, i, what, &none, &never) && false;
}

static wick_string text_get(const wick_onnx_op *o, int64_t number)
{
  return wick_string_table_get(&o->c->module->strings, number);
}

static int64_t text_attr(wick_onnx_op *o, const char *name)
{
  const wick_onnx_attr *a = wick_onnx_attr_find(o, name);
  return a ? wick_onnx_string(o->c, a->s) : 0;
}

/* ---- StringConcat ---- */

static void text_concat(wick_onnx_op *o)
{
  const wick_type_info *t[2] = {wick_onnx_info(o, 0), wick_onnx_info(o, 1)};
  wick_dim dim[WICK_MAX_RANK];
  uint32_t rank = t[0]->rank > t[1]->rank ? t[0]->rank : t[1]->rank;
  for (uint32_t k = 0; k < rank; k++) { /* from the last dimension */
    dim[rank - 1 - k] = wick_dim_const(1);
    for (int i = 0; i < 2; i++)
      if (k < t[i]->rank && !wick_dim_is(t[i]->dim[t[i]->rank - 1 - k], 1))
        dim[rank - 1 - k] = t[i]->dim[t[i]->rank - 1 - k];
  }
  wick_value x = wick_emit_expand(o->b, o->in[0], rank, dim),
             y = wick_emit_expand(o->b, o->in[1], rank, dim);
  o->out[0] = wick_build2(o->b, WICK_OP_string_concat, x, y);
}

/* ---- StringSplit ---- */

static void text_ignore(void *arg, const char *at, uint64_t nbytes)
{
  (void)arg, (void)at, (void)nbytes;
}

/* The last dimension is the length of the longest list. */
static void text_split(wick_onnx_op *o)
{
  uint32_t n;
  const int64_t *x;
  int64_t delimiter = text_attr(o, "delimiter"), most = wick_onnx_int(o, "maxsplit", -1), width = 0;
  if (!wick_onnx_texts(o, 0, "the strings", &n, &x)) return;
  for (uint32_t k = 0; k < n; k++) {
    int64_t parts = (int64_t)wick_host_split(text_get(o, x[k]), text_get(o, delimiter), most,
                                             text_ignore, NULL);
    if (parts > width) width = parts;
  }
  wick_emit e = wick_emit_begin(o->b, WICK_OP_string_split);
  wick_dim columns = wick_dim_const(width);
  wick_emit_set_int(&e, "delimiter", delimiter);
  wick_emit_set_int(&e, "most", most);
  wick_emit_set_dims(&e, "width", 1, &columns);
  wick_value v = wick_emit_end1(&e, o->in[0]);
  for (uint32_t k = 0; k < o->nout && v.id; k++) o->out[k] = (wick_value){v.id + k};
}

/* ---- StringNormalizer ---- */

enum { TEXT_NONE, TEXT_LOWER, TEXT_UPPER };

static wick_value text_case(wick_onnx_op *o, wick_value x, int change)
{
  wick_emit e = wick_emit_begin(o->b, WICK_OP_string_case);
  wick_emit_set_int(&e, "change", change - TEXT_LOWER);
  wick_emit_set_int(&e, "locale", text_attr(o, "locale"));
  return wick_emit_end1(&e, x);
}

/* Changes the case of known strings in place. */
static bool text_lower(wick_onnx_op *o, uint32_t n, int64_t *v)
{
  wick_attr attr[] = {[WICK_ATTR_string_case_change] = {.i = 0},
                      [WICK_ATTR_string_case_locale] = {.i = text_attr(o, "locale")}};
  wick_tensor x = {.elem = WICK_STRING, .rank = 1, .dim = {n}, .data = v};
  wick_ref r = {.op = WICK_OP_string_case,
                .mem = o->c->tmp,
                .module = o->c->module,
                .attr = attr,
                .location = o->location,
                .nin = 1,
                .nout = 1,
                .in = &x,
                .out = &x};
  wick_status s = wick_host_ref(&r);
  if (s) wick_errors_add(&o->c->errors, s);
  o->failed = o->failed || s;
  return !s;
}

/* Finds the positions along the last axis of strings that are no stop words. */
static bool text_kept(wick_onnx_op *o, wick_wire_spans stop, uint32_t *out_n, int64_t *out)
{
  uint32_t n;
  const int64_t *known;
  *out_n = 0;
  if (!wick_onnx_texts(o, 0, "the strings", &n, &known)) return false;
  int64_t *x = wick_dup(o->c->tmp, int64_t, known, n),
          *word = wick_new(o->c->tmp, int64_t, stop.n + 1);
  for (size_t k = 0; k < stop.n; k++) word[k] = wick_onnx_string(o->c, stop.at[k]);
  if (!wick_onnx_int(o, "is_case_sensitive", 0) &&
      (!text_lower(o, n, x) || !text_lower(o, (uint32_t)stop.n, word)))
    return false;
  for (uint32_t i = 0; i < n; i++) {
    bool is = false;
    for (size_t k = 0; k < stop.n && !is; k++) is = word[k] == x[i];
    if (!is) out[(*out_n)++] = i;
  }
  return true;
}

static void text_normalize(wick_onnx_op *o)
{
  int change = wick_onnx_word(o, "case_change_action", "NONE LOWER UPPER");
  const wick_onnx_attr *a = wick_onnx_attr_find(o, "stopwords");
  const wick_type_info t = *wick_onnx_info(o, 0);
  wick_value x = o->in[0];
  if (t.rank < 1 || t.rank > 2 || (t.rank == 2 && !wick_dim_is(t.dim[0], 1))) {
    wick_onnx_fail(o, WICK_ETYPE, "x is not of shape [C] or [1, C]");
    return;
  }
  if (a && a->strings.n) {
    wick_dim numel = wick_type_numel(o->c->module, wick_built_type(o->b, x));
    int64_t n = wick_dim_is_const(numel) ? numel.v : 0;
    int64_t *at = wick_new(o->c->tmp, int64_t, (size_t)n + 1);
    uint32_t kept;
    if (!text_kept(o, a->strings, &kept, at)) return;
    wick_module *m = o->c->module;
    if (!kept) { /* the result is one empty string */
      wick_dim one[2] = {wick_dim_const(1), wick_dim_const(1)};
      o->out[0] = wick_build_const(o->b, wick_type_tensor(m, WICK_STRING, t.rank, one), 0, 0);
      return;
    }
    n = kept;
    const void *data = wick_arena_copy(&m->mem, at, kept * sizeof *at, sizeof *at);
    uint32_t k = wick_emit_constant(m, "", wick_type_tensor_const(m, WICK_I64, 1, &n), data,
                                    kept * sizeof *at);
    x = wick_emit_gather(o->b, WICK_OP_gather, x, wick_build_constant(o->b, k), t.rank - 1u);
  }
  o->out[0] = change == TEXT_NONE ? x : text_case(o, x, change);
}

/* ---- RegexFullMatch ---- */

static void text_match(wick_onnx_op *o)
{
  wick_emit e = wick_emit_begin(o->b, WICK_OP_regex_full_match);
  wick_emit_set_int(&e, "pattern", text_attr(o, "pattern"));
  o->out[0] = wick_emit_end1(&e, o->in[0]);
}

/* ---- TfIdfVectorizer ---- */

enum { TEXT_TF, TEXT_IDF, TEXT_TFIDF };

/* Builds the weight of each column; 1 without weights. */
static wick_value text_weights(wick_onnx_op *o, wick_wire_i64s columns, int64_t width)
{
  const wick_onnx_attr *a = wick_onnx_attr_find(o, "weights");
  double *v = wick_new(o->c->tmp, double, (size_t)width + 1);
  for (int64_t k = 0; k < width; k++) v[k] = a && a->floats.n ? 0 : 1;
  for (size_t k = 0; a && k < a->floats.n && k < columns.n; k++)
    v[columns.at[k]] = (double)a->floats.at[k];
  return wick_onnx_table(o, WICK_F32, 1, &width, v);
}

static void text_count(wick_onnx_op *o)
{
  wick_wire_i64s counts = wick_onnx_ints(o, "ngram_counts"),
                 columns = wick_onnx_ints(o, "ngram_indexes"),
                 pool = wick_onnx_ints(o, "pool_int64s");
  const wick_onnx_attr *words = wick_onnx_attr_find(o, "pool_strings");
  int mode = wick_onnx_word(o, "mode", "TF IDF TFIDF");
  bool text = wick_onnx_info(o, 0)->elem == WICK_STRING;
  int64_t width = 0;
  if (text) {
    size_t n = words ? words->strings.n : 0;
    pool = (wick_wire_i64s){wick_new(o->c->tmp, int64_t, n + 1), n};
    for (size_t k = 0; k < n; k++) pool.at[k] = wick_onnx_string(o->c, words->strings.at[k]);
  }
  for (size_t k = 0; k < columns.n; k++)
    if (columns.at[k] < 0 || columns.at[k] >= 1 << 28) {
      wick_onnx_fail(o, WICK_ERANGE, "ngram_indexes has %lld", (long long)columns.at[k]);
      return;
    } else if (columns.at[k] >= width) {
      width = columns.at[k] + 1;
    }
  wick_value x = text ? o->in[0] : wick_build_cast(o->b, o->in[0], WICK_I64);
  wick_emit e = wick_emit_begin(o->b, WICK_OP_ngram_counts);
  wick_emit_set_ints(&e, "pool", (uint32_t)pool.n, pool.at);
  wick_emit_set_ints(&e, "counts", (uint32_t)counts.n, counts.at);
  wick_emit_set_ints(&e, "columns", (uint32_t)columns.n, columns.at);
  wick_emit_set_int(&e, "least", wick_onnx_int(o, "min_gram_length", 1));
  wick_emit_set_int(&e, "most", wick_onnx_int(o, "max_gram_length", 1));
  wick_emit_set_int(&e, "skips", wick_onnx_int(o, "max_skip_count", 0));
  wick_emit_set_int(&e, "width", width);
  wick_value y = wick_emit_end1(&e, x);
  if (mode == TEXT_TF || o->b->status) {
    o->out[0] = y;
    return;
  }
  wick_value weights = text_weights(o, columns, width);
  if (mode == TEXT_IDF) y = wick_build_cast(o->b, wick_emit_by(o->b, WICK_OP_gt, y, 0), WICK_F32);
  o->out[0] = wick_build2(o->b, WICK_OP_mul, y, weights);
}

const wick_onnx_row wick_onnx_text_rows[] = {
    {"RegexFullMatch", 20, {1, 1}, 1, "pattern:s", text_match, 0, 0},
    {"StringConcat", 20, {2, 2}, 1, "", text_concat, 0, 0},
    {"StringNormalizer",
     10,
     {1, 1},
     1,
     "case_change_action:s is_case_sensitive:i locale:s stopwords:S",
     text_normalize,
     0,
     0},
    {"StringSplit", 20, {1, 1}, 2, "delimiter:s maxsplit:i", text_split, 0, 0},
    {"TfIdfVectorizer",
     9,
     {1, 1},
     1,
     "max_gram_length:i! max_skip_count:i! min_gram_length:i! mode:s! ngram_counts:I! "
     "ngram_indexes:I! pool_int64s:I pool_strings:S weights:F",
     text_count,
     0,
     0},
    {0},
};
