/* Texts that are split, and rows of different lengths. How many parts there are depends on the texts:
 * their contents must be known (decision 56), and results are constants. */
#include <string.h>

#include "import/kit/array.h"
#include "import/kit/known.h"
#include "import/tensorflow/ops.h"
#include "ops/ref.h"

/* ---- StringSplit, StringSplitV2 ---- */

static int64_t ragged_get(const wick_tensor *t, int64_t k)
{
  return wick_load_elem(t->elem, t->data, (uint64_t)k).i;
}

typedef struct ragged_part {
  int64_t row, column, text; /* the text's number */
} ragged_part;

typedef struct ragged_parts {
  wick_import_node *n;
  wick_list(ragged_part) list;
  int64_t row, column; /* of the next part */
  int64_t columns;     /* of the longest row */
} ragged_parts;

static void ragged_add(ragged_parts *p, const char *at, size_t nbytes)
{
  wick_string_table *t = &p->n->c->module->strings;
  int64_t text = wick_string_table_add(t, at, nbytes, true);
  wick_push(p->n->c->tmp, &p->list, (ragged_part){p->row, p->column++, text});
  if (p->column > p->columns) p->columns = p->column;
}

static bool ragged_is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* At white space, which is dropped before each part and never makes an empty one, but for what is left
 * after `most` splits. */
static void ragged_split_words(ragged_parts *p, wick_string s, int64_t most)
{
  size_t at = 0, n = (size_t)s.nbytes;
  while (at < n && ragged_is_space(s.at[at])) at++;
  while (at < n) {
    size_t end = at;
    while (end < n && !ragged_is_space(s.at[end])) end++;
    ragged_add(p, s.at + at, end - at);
    for (at = end; at < n && ragged_is_space(s.at[at]);) at++;
    if (p->column == most) {
      ragged_add(p, at < n ? s.at + at : "", n - at);
      return;
    }
  }
}

static void ragged_split_at(ragged_parts *p, wick_string s, wick_string by, int64_t most)
{
  size_t at = 0, n = (size_t)s.nbytes, size = (size_t)by.nbytes;
  for (size_t k = 0; k + size <= n && (most < 0 || p->column < most);) {
    if (memcmp(s.at + k, by.at, size) != 0) {
      k++;
      continue;
    }
    ragged_add(p, s.at + at, k - at);
    at = k += size;
  }
  ragged_add(p, n ? s.at + at : "", n - at);
}

/* At each of the delimiter's bytes, or after each byte if there are none: the first version. */
static void ragged_split_bytes(ragged_parts *p, wick_string s, wick_string by, bool skip)
{
  size_t at = 0, n = (size_t)s.nbytes;
  for (size_t k = 0; !by.nbytes && k < n; k++) ragged_add(p, s.at + k, 1);
  for (size_t k = 0; by.nbytes && k <= n; k++) {
    if (k < n && !memchr(by.at, s.at[k], (size_t)by.nbytes)) continue;
    if (k > at || !skip) ragged_add(p, n ? s.at + at : "", k - at);
    at = k + 1;
  }
}

static wick_value ragged_constant(wick_import_node *n, wick_elem e, uint32_t rank,
                                  const int64_t *dim, const int64_t *data)
{
  uint64_t count = 1;
  for (uint32_t k = 0; k < rank; k++) count *= (uint64_t)dim[k];
  return wick_import_copied(n->c, n->name, e, rank, dim, data, count * sizeof *data);
}

/* Indices [k, 2], values [k], and the shape of the matrix that they are in. */
static void ragged_split_results(ragged_parts *p, int64_t rows)
{
  wick_import_node *n = p->n;
  int64_t count = p->list.n, two = 2, shape[2] = {rows, p->columns}, both[2] = {count, 2};
  int64_t *index = wick_new(n->c->tmp, int64_t, 2 * (size_t)count + 1);
  int64_t *text = wick_new(n->c->tmp, int64_t, (size_t)count + 1);
  for (uint32_t k = 0; k < p->list.n; k++) {
    index[2 * k] = p->list.at[k].row, index[2 * k + 1] = p->list.at[k].column;
    text[k] = p->list.at[k].text;
  }
  n->out[0] = ragged_constant(n, WICK_I64, 2, both, index);
  n->out[1] = ragged_constant(n, WICK_STRING, 1, &count, text);
  n->out[2] = ragged_constant(n, WICK_I64, 1, &two, shape);
}

/* texts [n], a delimiter. arg 1: StringSplit */
void wick_tf_import_text_split(wick_import_node *n)
{
  wick_tensor x, delimiter;
  if (!wick_import_rank(n, 0, 1, 1) || !wick_import_rank(n, 1, 0, 1)) return;
  if (wick_import_info(n, 0)->elem != WICK_STRING || wick_import_info(n, 1)->elem != WICK_STRING) {
    wick_import_fail(n, WICK_ETYPE, "its operands are no strings");
    return;
  }
  for (uint32_t k = 0; k < 2; k++)
    if (!wick_known_text(n->b, n->c->tmp, n->in[k], k ? &delimiter : &x)) {
      wick_import_unknown(n, n->in[k], k ? "the delimiter" : "the texts");
      return;
    }
  if (wick_ref_numel(&delimiter) != 1) {
    wick_import_fail(n, WICK_ETYPE, "its delimiter is no single text");
    return;
  }
  const wick_string_table *t = &n->c->module->strings;
  wick_string by = wick_string_table_get(t, ragged_get(&delimiter, 0));
  int64_t most = wick_import_int(n, "maxsplit", -1);
  bool skip = wick_import_int(n, "skip_empty", 1);
  ragged_parts p = {.n = n};
  for (int64_t k = 0; k < x.dim[0]; k++) {
    wick_string s = wick_string_table_get(t, ragged_get(&x, k));
    p.row = k, p.column = 0;
    if (!n->row->arg && most == 0)
      ragged_add(&p, s.nbytes ? s.at : "", (size_t)s.nbytes);
    else if (n->row->arg)
      ragged_split_bytes(&p, s, by, skip);
    else if (by.nbytes)
      ragged_split_at(&p, s, by, most);
    else
      ragged_split_words(&p, s, most);
  }
  ragged_split_results(&p, x.dim[0]);
}

/* ---- RaggedTensorToTensor ---- */

enum { RAGGED_MOST = 1 << 24 }; /* elements */

/* A level of rows while the result's shape is found: [row] is the number of its children. */
typedef struct ragged_level {
  int64_t nrow, nchild;
  const int64_t *width;
  int64_t size; /* along this dimension of the result */
} ragged_level;

static bool ragged_numbers(wick_import_node *n, uint32_t i, wick_tensor *out)
{
  if (!wick_elem_is_int(wick_import_info(n, i)->elem) || wick_import_info(n, i)->rank > 1) {
    wick_import_fail(n, WICK_ETYPE, "operand %u is no vector of integers", i);
    return false;
  }
  if (wick_known_large(n->b, n->c->tmp, n->in[i], out)) return true;
  return wick_import_unknown(n, n->in[i], "how long rows are");
}

/* The rows of one partition: numbers of rows for each value, or where each row begins. */
static bool ragged_read(wick_import_node *n, uint32_t i, bool splits, int64_t nrow,
                        ragged_level *out)
{
  wick_tensor t;
  if (!ragged_numbers(n, i, &t)) return false;
  int64_t count = (int64_t)wick_ref_numel(&t);
  if (nrow < 0) nrow = splits ? count - 1 : 0; /* the first level of splits */
  bool good = nrow >= 0 && nrow <= RAGGED_MOST && (!splits || count == nrow + 1);
  int64_t *width = wick_new(n->c->tmp, int64_t, good ? (size_t)nrow + 1 : 1), last = 0;
  for (int64_t k = 0; good && k < count; k++) {
    int64_t v = ragged_get(&t, k);
    good = v >= last && (splits ? k > 0 || v == 0 : v < nrow);
    if (good && splits && k) width[k - 1] = v - last;
    if (good && !splits) width[v]++;
    last = v;
  }
  *out = (ragged_level){.nrow = nrow, .nchild = splits ? last : count, .width = width};
  if (!good) wick_import_fail(n, WICK_ETYPE, "operand %u does not divide values into rows", i);
  return good;
}

/* The sizes of the result's first dimensions, given or as long as the longest row. */
static bool ragged_sizes(wick_import_node *n, uint32_t nlevel, ragged_level *level, int64_t *out)
{
  wick_tensor given;
  int64_t numel = 1;
  if (!ragged_numbers(n, 0, &given)) return false;
  int64_t count = given.rank ? given.dim[0] : 0;
  for (uint32_t k = 0; k <= nlevel; k++) {
    int64_t size = k < count ? ragged_get(&given, k) : -1;
    if (size < 0 && k == 0) size = level[0].nrow;
    for (int64_t r = 0; size < 0 && k && r < level[k - 1].nrow; r++)
      if (level[k - 1].width[r] > out[k]) out[k] = level[k - 1].width[r];
    if (size >= 0) out[k] = size;
    if (out[k] > RAGGED_MOST || (numel *= out[k]) > RAGGED_MOST) {
      wick_import_fail(n, WICK_ELIMIT, "the result has more than %d rows", RAGGED_MOST);
      return false;
    }
  }
  return true;
}

/* For each element of the result's first dimensions the value that it is, or -1. */
static int64_t *ragged_places(wick_import_node *n, uint32_t nlevel, const ragged_level *level,
                              const int64_t *size, int64_t numel)
{
  int64_t *place = wick_new(n->c->tmp, int64_t, (size_t)level[0].nrow + 1);
  for (int64_t r = 0; r < level[0].nrow; r++) place[r] = r < size[0] ? r : -1;
  for (uint32_t k = 0; k < nlevel; k++) {
    int64_t *next = wick_new(n->c->tmp, int64_t, (size_t)level[k].nchild + 1), at = 0;
    for (int64_t r = 0; r < level[k].nrow; r++)
      for (int64_t j = 0; j < level[k].width[r]; j++)
        next[at++] = place[r] < 0 || j >= size[k + 1] ? -1 : place[r] * size[k + 1] + j;
    place = next;
  }
  int64_t *from = wick_new(n->c->tmp, int64_t, (size_t)numel + 1);
  for (int64_t k = 0; k < numel; k++) from[k] = -1;
  for (int64_t v = 0; v < level[nlevel - 1].nchild; v++)
    if (place[v] >= 0) from[place[v]] = v;
  return from;
}

/* The values at these places [numel], the default elsewhere. */
static wick_value ragged_filled(wick_import_node *n, const int64_t *from, int64_t numel,
                                uint32_t nlevel, const int64_t *size)
{
  wick_builder *b = n->b;
  const wick_type_info t = *wick_import_info(n, 1);
  wick_dim dim[WICK_MAX_RANK], ones[WICK_MAX_RANK];
  uint32_t rank = nlevel + t.rank;
  int64_t *at = wick_dup(n->c->tmp, int64_t, from, (size_t)numel + 1);
  for (int64_t k = 0; k < numel; k++) at[k] = from[k] < 0 ? 0 : from[k];
  for (uint32_t k = 0; k < rank; k++) {
    dim[k] = k <= nlevel ? wick_dim_const(size[k]) : t.dim[k - nlevel];
    ones[k] = k <= nlevel ? dim[k] : wick_dim_const(1);
  }
  wick_value fill = wick_emit_expand(b, n->in[2], rank, dim);
  if (wick_dim_is(t.dim[0], 0) || !numel) return fill;
  wick_value index = ragged_constant(n, WICK_I64, 1, &numel, at);
  wick_value y = wick_emit_gather(b, WICK_OP_gather, n->in[1], index, 0);
  y = wick_build_reshape(b, y, rank, dim);
  wick_value valid = ragged_constant(n, WICK_I64, 1, &numel, from);
  valid = wick_build_reshape(b, wick_emit_by(b, WICK_OP_ge, valid, 0), rank, ones);
  return wick_build3(b, WICK_OP_where, valid, y, fill);
}

/* shape, values, default, partitions */
void wick_tf_import_ragged_to_tensor(wick_import_node *n)
{
  wick_import_attr types = wick_import_attr_of(n, "row_partition_types", 'S');
  ragged_level level[WICK_MAX_RANK] = {{0}};
  int64_t nrow = -1, size[WICK_MAX_RANK + 1] = {0}, numel = 1;
  uint32_t nlevel = 0;
  if (types.kind != 'S' || types.n + 3 != n->nin || !wick_import_rank(n, 1, 1, WICK_MAX_RANK))
    types.n = 0;
  for (uint32_t k = 0; k < types.n; k++) {
    bool first = wick_span_is(types.texts[k], "FIRST_DIM_SIZE");
    bool splits = wick_span_is(types.texts[k], "ROW_SPLITS");
    if (first ? k != 0 : nlevel + wick_import_info(n, 1)->rank >= WICK_MAX_RANK) types.n = 0;
    if (first && types.n) {
      if (!wick_import_one(n, 3, "the number of rows", 0, &nrow)) return;
    } else if (types.n) {
      if (!ragged_read(n, 3 + k, splits, nrow, &level[nlevel])) return;
      nrow = level[nlevel++].nchild;
    }
  }
  if (!nlevel) {
    if (!n->failed) wick_import_fail(n, WICK_EPARSE, "its partitions into rows are not read");
    return;
  }
  if (!wick_dim_is(wick_import_info(n, 1)->dim[0], nrow)) {
    wick_import_fail(n, WICK_ETYPE, "its rows have %lld values, others than it has",
                     (long long)nrow);
    return;
  }
  if (!ragged_sizes(n, nlevel, level, size)) return;
  for (uint32_t k = 0; k <= nlevel; k++) numel *= size[k];
  n->out[0] = ragged_filled(n, ragged_places(n, nlevel, level, size, numel), numel, nlevel, size);
}

/* ---- RaggedBincount ---- */

/* Where rows begin, values, the size, weights or none: [rows, size], how often each number is in a row. */
void wick_tf_import_ragged_bincount(wick_import_node *n)
{
  wick_builder *b = n->b;
  ragged_level level;
  int64_t size;
  const wick_type_info w = *wick_import_info(n, 3);
  bool binary = wick_import_int(n, "binary_output", 0);
  if (!wick_import_one(n, 2, "the size", 0, &size) || !wick_import_rank(n, 1, 1, 1) ||
      !ragged_read(n, 0, true, -1, &level))
    return;
  if (!wick_dim_is(wick_import_info(n, 1)->dim[0], level.nchild) || size < 0 ||
      size > RAGGED_MOST / (level.nrow + 1)) {
    wick_import_fail(n, WICK_ETYPE, "%lld rows of %lld numbers do not fit its operands",
                     (long long)level.nrow, (long long)size);
    return;
  }
  int64_t *begin = wick_new(n->c->tmp, int64_t, (size_t)level.nchild + 1), at = 0;
  for (int64_t r = 0; r < level.nrow; r++)
    for (int64_t j = 0; j < level.width[r]; j++) begin[at++] = r * size;
  wick_dim flat = wick_dim_const(level.nrow * size), count = wick_dim_const(level.nchild);
  const wick_dim dim[2] = {wick_dim_const(level.nrow), wick_dim_const(size)};
  wick_value none = wick_build_const(b, wick_type_tensor(b->module, w.elem, 0, NULL), 0, 0);
  wick_value y = wick_emit_expand(b, none, 1, &flat);
  if (level.nchild && size) {
    wick_value one = wick_build_const(b, wick_type_tensor(b->module, w.elem, 0, NULL), 1, 1);
    bool equal = binary || (w.rank && wick_dim_is(w.dim[0], 0));
    wick_value weight = equal ? wick_emit_expand(b, one, 1, &count) : n->in[3];
    wick_value x = wick_build_cast(b, n->in[1], WICK_I64);
    wick_value in = wick_emit_by(b, WICK_OP_lt, x, (double)size);
    x = wick_build3(b, WICK_OP_where, in, x, wick_emit_number(b, x, 0));
    weight = wick_build3(b, WICK_OP_where, in, weight, none);
    x = wick_build2(b, WICK_OP_add, x, ragged_constant(n, WICK_I64, 1, &level.nchild, begin));
    wick_emit s = wick_emit_begin(b, WICK_OP_scatter_elements);
    wick_emit_set_int(&s, "reduction", binary ? 3 : 1); /* the greatest, or the sum */
    const wick_value operand[] = {y, x, weight};
    y = wick_emit_end(&s, 3, operand);
  }
  n->out[0] = wick_build_reshape(b, y, 2, dim);
}
