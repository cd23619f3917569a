/* Layers that encode categories: indices of bins, numbers and words. */
#include <math.h>
#include <string.h>

#include "import/keras/model.h"
#include "import/keras/rows.h"
#include "import/kit/array.h"

static int64_t category_string(wick_import_node *n, const char *text, size_t nbytes)
{
  return wick_string_table_add(&n->c->module->strings, text, nbytes, true);
}

/* ---- encodings of indices ---- */

/* Ones where the index equals 0, 1, ... along a new last axis. */
static wick_value category_hot(wick_import_node *n, wick_value index, int64_t depth, wick_elem e)
{
  uint32_t rank = keras_rank(n, index);
  wick_value each = wick_emit_unsqueeze(n->b, index, rank);
  wick_value all = wick_emit_count_along(n->b, wick_dim_const(depth), rank, rank + 1);
  return wick_build_cast(n->b, wick_build2(n->b, WICK_OP_eq, each, all), e);
}

/* Encodes indices of type i64, of which those outside of [0, depth) are left out, as the configuration says:
 * int, one_hot, multi_hot, count or tf_idf, which is a count here. weights: of a count, or 0. */
static wick_value category_encoded(wick_import_node *n, wick_value index, int64_t depth,
                                   wick_elem e, wick_value weights)
{
  const char *mode = wick_import_text(n, "output_mode", "int");
  if (strcmp(mode, "int") == 0) return wick_build_cast(n->b, index, e);
  if (n->failed || n->b->status) return index;
  if (depth < 1 || depth > INT32_MAX || keras_rank(n, index) + 1 > WICK_MAX_RANK) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "%lld categories", (long long)depth);
    return index;
  }
  if (!keras_rank(n, index)) index = wick_emit_unsqueeze(n->b, index, 0);
  uint32_t rank = keras_rank(n, index);
  wick_dim last = keras_dims(n, index)[rank - 1];
  if (strcmp(mode, "one_hot") == 0) {
    if (rank > 1 && wick_dim_is_const(last) && last.v == 1)
      index = wick_emit_squeeze(n->b, index, rank - 1);
    return category_hot(n, index, depth, e);
  }
  /* The second axis is summed, as Keras does. */
  uint32_t axis = rank > 1;
  if (strcmp(mode, "multi_hot") == 0 || strcmp(mode, "binary") == 0) {
    wick_value hot = category_hot(n, index, depth, WICK_I32);
    hot = wick_emit_reduce1(n->b, WICK_OP_reduce_max, hot, axis, false);
    return wick_build_cast(n->b, hot, e);
  }
  wick_value hot = category_hot(n, index, depth, e);
  if (weights.id)
    hot = wick_build2(n->b, WICK_OP_mul, hot, wick_emit_unsqueeze(n->b, weights, rank));
  return wick_emit_reduce1(n->b, WICK_OP_reduce_sum, hot, axis, false);
}

void keras_category_encoding(wick_import_node *n)
{
  const keras_arg *given = keras_argument(n, 1, "count_weights");
  wick_value index = wick_build_cast(n->b, n->in[0], WICK_I64), weights = {0};
  wick_elem e = keras_compute(n);
  if (given->kind == KERAS_TENSOR) weights = wick_build_cast(n->b, given->t.v, e);
  n->out[0] = category_encoded(n, index, wick_import_int(n, "num_tokens", 0), e, weights);
}

void keras_discretization(wick_import_node *n)
{
  const wick_json *bins = keras_config(keras_of(n)->layer, "bin_boundaries");
  if (!bins || bins->kind != WICK_JSON_ARRAY) {
    wick_import_fail(n, WICK_EPARSE, "bin_boundaries are missing: the layer was not adapted");
    return;
  }
  bool whole = strcmp(wick_import_text(n, "output_mode", "int"), "int") == 0;
  wick_value x = keras_floating(n, n->in[0]), index;
  if (bins->n) {
    wick_value list = wick_build_cast(n->b, keras_json_value(n, bins, x), keras_elem_of(n, x));
    wick_value each = wick_emit_unsqueeze(n->b, x, keras_rank(n, x));
    wick_value before = wick_build2(n->b, WICK_OP_le, list, each);
    before = wick_build_cast(n->b, before, WICK_I64);
    index = wick_emit_reduce1(n->b, WICK_OP_reduce_sum, before, keras_rank(n, x), false);
  } else {
    index = wick_emit_by(n->b, WICK_OP_mul, wick_build_cast(n->b, x, WICK_I64), 0);
  }
  wick_elem e = whole ? WICK_I32 : keras_compute(n);
  n->out[0] = category_encoded(n, index, (int64_t)bins->n + 1, e, (wick_value){0});
}

/* ---- hashes ---- */

/* Buckets of words, or of the decimal digits of numbers. The layer has a salt or none. */
static wick_value category_hashed(wick_import_node *n, wick_value x, int64_t count)
{
  const wick_json *salt = keras_config(keras_of(n)->layer, "salt");
  int64_t key[2] = {0};
  if (salt) {
    bool list = salt->kind == WICK_JSON_ARRAY && salt->n == 2;
    if (!wick_json_int(list ? salt->first : salt, &key[0]) ||
        !wick_json_int(list ? salt->first->next : salt, &key[1])) {
      wick_import_fail(n, WICK_EPARSE, "its salt is expected to be one or two whole numbers");
      return x;
    }
  }
  if (n->failed || n->b->status) return x;
  if (keras_elem_of(n, x) != WICK_STRING)
    x = wick_array_decimal(n, wick_build_cast(n->b, x, WICK_I64));
  return wick_array_bucket(n, wick_array_hash(n, x, salt ? key : NULL), count);
}

/* Reads num_bins, which is at least 1. */
static bool category_bins(wick_import_node *n, int64_t *out)
{
  *out = wick_import_int(n, "num_bins", 0);
  if (*out < 1) wick_import_fail(n, WICK_EPARSE, "num_bins is %lld", (long long)*out);
  return !n->failed;
}

void keras_hashing(wick_import_node *n)
{
  const wick_json *mask = keras_config(keras_of(n)->layer, "mask_value");
  int64_t bins, masked_number;
  if (!category_bins(n, &bins)) return;
  bool masked = mask && bins > 1, text = keras_elem_of(n, n->in[0]) == WICK_STRING;
  wick_value x = n->in[0], y = category_hashed(n, x, bins - masked);
  if (masked && !n->failed) {
    const char *word = text ? wick_json_unescaped(n->c->tmp, mask) : NULL;
    if (text ? !word : !wick_json_int(mask, &masked_number)) {
      wick_import_fail(n, WICK_EPARSE, "mask_value is of another type than its input");
      return;
    }
    wick_type type = wick_type_tensor(n->c->module, WICK_STRING, 0, NULL);
    wick_value special =
        text ? wick_build_const(n->b, type, 0, category_string(n, word, strlen(word)))
             : wick_emit_number(n->b, x, (double)masked_number);
    special = wick_build2(n->b, WICK_OP_eq, x, special);
    y = wick_build3(n->b, WICK_OP_where, special, wick_emit_number(n->b, y, 0),
                    wick_emit_by(n->b, WICK_OP_add, y, 1));
  }
  n->out[0] =
      category_encoded(n, y, bins, keras_declared(n->c, keras_of(n)->layer), (wick_value){0});
}

void keras_hashed_crossing(wick_import_node *n)
{
  int64_t bins;
  if (!category_bins(n, &bins)) return;
  wick_value y = wick_array_crossed(n, n->nin, n->in, 0xdecafcaffe);
  n->out[0] = category_encoded(n, wick_array_bucket(n, y, bins), bins,
                               keras_declared(n->c, keras_of(n)->layer), (wick_value){0});
}

/* ---- vocabularies ---- */

enum { CATEGORY_MOST = 1 << 24 }; /* indices of a vocabulary */

typedef struct category_words {
  bool text, has_mask;
  wick_list(int64_t) word;   /* without special ones; strings by their numbers */
  int64_t mask, oov;         /* the special ones; strings by their numbers */
  int64_t noov, first, size; /* indices of words that are unknown; the first word's; all */
} category_words;

/* A word of the configuration; false if it is none. */
static bool category_word(wick_import_node *n, const category_words *w, const wick_json *j,
                          int64_t *out)
{
  if (!w->text) return wick_json_int(j, out);
  const char *text = wick_json_unescaped(n->c->tmp, j);
  if (text) *out = category_string(n, text, strlen(text));
  return text;
}

/* Reads the lines of the layer's file in the archive. */
static void category_file(wick_import_node *n, category_words *w)
{
  keras_model *m = n->c->model;
  const char *name =
      wick_str_printf(n->c->tmp, "assets/%s/vocabulary.txt", keras_of(n)->layer->path);
  const wick_zip_entry *e = m->zip.entries.n ? wick_zip_find(&m->zip, name) : NULL;
  wick_span text = {0};
  if (!e) {
    wick_import_fail(n, WICK_EPARSE, "the vocabulary is neither in the configuration nor in %s",
                     wick_import_shown(n->c, name));
    return;
  }
  wick_status s = wick_zip_read(&m->zip, e, &text);
  if (s) {
    wick_import_add(n->c, n, s, n->location);
    n->failed = true;
    return;
  }
  while (text.nbytes && (text.at[text.nbytes - 1] == '\n' || text.at[text.nbytes - 1] == '\r'))
    text.nbytes--;
  for (size_t i = 0; i < text.nbytes && !n->failed;) {
    size_t end = i;
    int64_t word;
    while (end < text.nbytes && text.at[end] != '\n') end++;
    const char *line = wick_str_dupn(n->c->tmp, (const char *)text.at + i, end - i);
    wick_json number = {.kind = WICK_JSON_NUMBER, .at = line, .nbytes = end - i};
    if (w->text)
      word = category_string(n, line, end - i);
    else if (!wick_json_int(&number, &word))
      wick_import_fail(n, WICK_EPARSE, "%s: the line \"%s\" is no whole number", name,
                       wick_import_shown(n->c, line));
    if (!n->failed) wick_push(n->c->tmp, &w->word, word);
    i = end + 1;
  }
}

/* Drops the special words if the list begins with all of them. */
static void category_drop_special(category_words *w)
{
  int64_t count = w->first;
  if (w->word.n < (uint64_t)count) return;
  for (int64_t i = 0; i < count; i++) {
    bool mask = i < count - w->noov;
    if (w->word.at[i] != (mask ? w->mask : w->oov)) return;
  }
  memmove(w->word.at, w->word.at + count, (w->word.n - (size_t)count) * sizeof *w->word.at);
  w->word.n -= (uint32_t)count;
}

/* Reads the vocabulary of a lookup layer. Texts of a TextVectorization have their special words. */
static bool category_read(wick_import_node *n, bool text, bool vectorization, category_words *w)
{
  const keras_layer *l = keras_of(n)->layer;
  const wick_json *mask = keras_config(l, "mask_token"), *oov = keras_config(l, "oov_token");
  const wick_json *list = keras_config(l, "vocabulary");
  bool whole = strcmp(wick_import_text(n, "output_mode", "int"), "int") == 0;
  *w = (category_words){.text = text, .noov = wick_import_int(n, "num_oov_indices", 1)};
  if (vectorization)
    w->has_mask = true, w->mask = category_string(n, "", 0),
    w->oov = category_string(n, "[UNK]", 5);
  else
    w->has_mask = mask && category_word(n, w, mask, &w->mask);
  if (oov && !category_word(n, w, oov, &w->oov)) w->oov = text ? w->oov : -1;
  if (w->noov < 0 || w->noov > INT32_MAX) {
    wick_import_fail(n, WICK_EPARSE, "num_oov_indices is %lld", (long long)w->noov);
    return false;
  }
  w->first = (w->has_mask && whole) + w->noov;
  if (!list) category_file(n, w);
  for (const wick_json *j = list ? list->first : NULL; j && !n->failed; j = j->next) {
    int64_t word;
    if (category_word(n, w, j, &word))
      wick_push(n->c->tmp, &w->word, word);
    else
      wick_import_fail(n, WICK_EPARSE, "the vocabulary has an element of another type");
  }
  if (n->failed) return false;
  category_drop_special(w);
  if (!w->word.n) wick_import_fail(n, WICK_EPARSE, "the vocabulary is empty");
  w->size = w->first + w->word.n;
  if (keras_is_true(n, "pad_to_max_tokens", false))
    w->size = wick_import_int(n, "max_tokens", w->size);
  if (w->size < 1 || w->size > CATEGORY_MOST)
    wick_import_fail(n, WICK_ELIMIT, "the vocabulary has %lld indices", (long long)w->size);
  return !n->failed;
}

static wick_value category_special(wick_import_node *n, const category_words *w, int64_t word)
{
  wick_type type = wick_type_tensor(n->c->module, w->text ? WICK_STRING : WICK_I64, 0, NULL);
  return wick_build_const(n->b, type, 0, word);
}

/* The indices of words. */
static wick_value category_indices(wick_import_node *n, const category_words *w, wick_value x)
{
  wick_builder *b = n->b;
  bool whole = strcmp(wick_import_text(n, "output_mode", "int"), "int") == 0;
  wick_value found, at = wick_array_lookup(n, n->name, w->text, w->word.n, w->word.at, x, &found);
  at = wick_emit_by(b, WICK_OP_add, at, (double)w->first);
  wick_value other = wick_emit_number(b, at, w->noov ? (double)(w->first - w->noov) : -1);
  if (w->noov > 1) {
    bool rest = !w->text && strcmp(wick_import_text(n, "oov_method", "floormod"), "floormod") == 0;
    other = rest ? wick_emit_by(b, WICK_OP_mod, wick_build_cast(b, x, WICK_I64), (double)w->noov)
                 : category_hashed(n, x, w->noov);
    other = wick_emit_by(b, WICK_OP_add, other, (double)(w->first - w->noov));
  }
  if (!w->noov)
    wick_import_remark(n->c, n->location, "a word that is not in the vocabulary gets the index -1");
  at = wick_build3(b, WICK_OP_where, found, at, other);
  if (!w->has_mask) return at;
  wick_value masked = wick_build2(b, WICK_OP_eq, x, category_special(n, w, w->mask));
  return wick_build3(b, WICK_OP_where, masked, wick_emit_number(b, at, whole ? 0 : -1), at);
}

/* The words of indices. */
static wick_value category_inverted(wick_import_node *n, const category_words *w, wick_value index)
{
  wick_builder *b = n->b;
  int64_t dim = w->word.n;
  wick_value words = wick_import_copied(n->c, n->name, w->text ? WICK_STRING : WICK_I64, 1, &dim,
                                        w->word.at, w->word.n * sizeof *w->word.at);
  index = wick_build_cast(b, index, WICK_I64);
  wick_value at = wick_emit_by(b, WICK_OP_sub, index, (double)w->first);
  wick_value low = wick_emit_by(b, WICK_OP_ge, at, 0);
  wick_value known = wick_build2(b, WICK_OP_and, low, wick_emit_by(b, WICK_OP_lt, at, (double)dim));
  at = wick_build3(b, WICK_OP_where, known, at, wick_emit_number(b, at, 0));
  wick_value word = wick_emit_gather(b, WICK_OP_gather, words, at, 0);
  wick_value other = category_special(n, w, w->oov);
  word = wick_build3(b, WICK_OP_where, known, word, other);
  if (!w->has_mask) return word;
  wick_value masked = wick_emit_by(b, WICK_OP_eq, index, 0);
  wick_value mask = category_special(n, w, w->mask);
  return wick_build3(b, WICK_OP_where, masked, mask, word);
}

/* The factors of tf_idf, one for each index. */
static wick_value category_factors(wick_import_node *n, const category_words *w)
{
  const wick_json *list = keras_config(keras_of(n)->layer, "idf_weights");
  if (!list) { /* adapted to data */
    wick_value kept = keras_weight_get(n, "idf_weights");
    if (!n->failed && (keras_rank(n, kept) != 1 || !wick_dim_is(keras_dims(n, kept)[0], w->size)))
      wick_import_fail(n, WICK_EPARSE, "idf_weights has another size than the vocabulary");
    return kept;
  }
  double *factor = wick_new(n->c->tmp, double, (size_t)w->size + 1), sum = 0;
  int64_t count = 0, dim = w->size, first = (int64_t)list->n - w->word.n;
  if ((first != 0 && first != w->first) || w->first + w->word.n > w->size) {
    wick_import_fail(n, WICK_EPARSE, "idf_weights has %u elements, the vocabulary %u words",
                     list->n, w->word.n);
    return (wick_value){0};
  }
  /* Indices of unknown words have the mean. */
  for (const wick_json *j = list->first; j; j = j->next, count++) {
    if (!wick_json_double(j, &factor[w->first - first + count])) factor[count] = NAN;
    sum += factor[w->first - first + count];
  }
  for (int64_t i = 0; i < w->first - first; i++) factor[i] = sum / (double)count;
  return wick_emit_table(n->b, n->name, WICK_F32, 1, &dim, factor);
}

/* Encodes indices of words by the layer's mode, but for the factors of tf_idf. */
static wick_value category_unweighted(wick_import_node *n, const category_words *w,
                                      wick_value index)
{
  bool weighted = strcmp(wick_import_text(n, "output_mode", "int"), "tf_idf") == 0;
  return category_encoded(n, index, w->size, weighted ? WICK_F32 : WICK_I64, (wick_value){0});
}

static wick_value category_weighted(wick_import_node *n, const category_words *w, wick_value y)
{
  if (strcmp(wick_import_text(n, "output_mode", "int"), "tf_idf") != 0 || n->failed) return y;
  wick_value factors = category_factors(n, w);
  return n->failed ? y : wick_build2(n->b, WICK_OP_mul, y, factors);
}

/* IntegerLookup, StringLookup (arg 1) */
void keras_lookup(wick_import_node *n)
{
  category_words w;
  if (!category_read(n, n->row->arg, false, &w)) return;
  wick_value x = n->in[0];
  if (keras_is_true(n, "invert", false)) {
    n->out[0] = category_inverted(n, &w, x);
    return;
  }
  if ((keras_elem_of(n, x) == WICK_STRING) != w.text) {
    wick_import_fail(n, WICK_ETYPE, "its input is %s", wick_elem_name(keras_elem_of(n, x)));
    return;
  }
  if (!w.text) x = wick_build_cast(n->b, x, WICK_I64);
  wick_value index = category_indices(n, &w, x);
  if (n->failed) return;
  n->out[0] = category_weighted(n, &w, category_unweighted(n, &w, index));
}

/* ---- texts ---- */

/* x without a set of characters. */
static wick_value category_without(wick_import_node *n, wick_value x, const char *characters)
{
  wick_type type = wick_type_tensor(n->c->module, WICK_STRING, 0, NULL);
  wick_value none = wick_build_const(n->b, type, 0, category_string(n, "", 0));
  for (const char *s = characters; *s; s++) {
    wick_value one = wick_build_const(n->b, type, 0, category_string(n, s, 1));
    x = wick_build3(n->b, WICK_OP_string_replace, x, one, none);
  }
  return x;
}

static wick_value category_standardized(wick_import_node *n, wick_value x)
{
  const char *how = wick_import_text(n, "standardize", "");
  if (strncmp(how, "lower", 5) == 0) {
    wick_emit e = wick_emit_begin(n->b, WICK_OP_string_case);
    wick_emit_set_int(&e, "change", 0);
    wick_emit_set_int(&e, "locale", category_string(n, "POSIX", 5));
    x = wick_emit_end1(&e, x);
  }
  if (strstr(how, "strip_punctuation"))
    x = category_without(n, x, "!\"#$%&()*+,-./:;<=>?@[\\]^_`{|}~'");
  return x;
}

/* The first `length` words of each text [batch]: [batch, length], empty after the last one. *rest: what
 * follows after them. */
static wick_value category_split(wick_import_node *n, wick_value x, int64_t length,
                                 wick_value *rest)
{
  const wick_dim width = wick_dim_const(length + 1);
  wick_emit e = wick_emit_begin(n->b, WICK_OP_string_split);
  wick_emit_set_int(&e, "most", length);
  wick_emit_set_dims(&e, "width", 1, &width);
  x = wick_emit_end1(&e, x);
  *rest = wick_emit_slice(n->b, x, 1, wick_dim_const(length), wick_dim_const(1));
  *rest = wick_emit_squeeze(n->b, *rest, 1);
  return wick_emit_slice(n->b, x, 1, wick_dim_const(0), wick_dim_const(length));
}

enum { CATEGORY_WORDS = 16 }; /* that a step of the loop takes */

/* Encodes all words of each text [batch]: multi_hot, count and tf_idf, whose result has no order. */
static wick_value category_bag(wick_import_node *n, const category_words *w, wick_value x)
{
  wick_builder *b = n->b;
  wick_value in[2], next[2], length = wick_build1(b, WICK_OP_string_length, x);
  length = wick_emit_reduce1(b, WICK_OP_reduce_max, length, 0, false);
  length = wick_build2(b, WICK_OP_max, length, wick_emit_number(b, length, 0));
  /* Each word but the last takes two characters at least. */
  wick_value steps = wick_emit_by(b, WICK_OP_div, length, 2 * CATEGORY_WORDS);
  steps = wick_emit_by(b, WICK_OP_add, steps, 1);
  bool hot = strcmp(wick_import_text(n, "output_mode", "int"), "multi_hot") == 0;
  bool weighted = strcmp(wick_import_text(n, "output_mode", "int"), "tf_idf") == 0;
  if (n->failed || b->status) return x;
  const wick_dim all[] = {keras_dims(n, x)[0], wick_dim_const(w->size)};
  wick_type zero = wick_type_tensor(n->c->module, weighted ? WICK_F32 : WICK_I64, 0, NULL);
  in[0] = x;
  in[1] = wick_emit_expand(b, wick_build_const(b, zero, 0, 0), 2, all);
  wick_value step = wick_emit_loop_begin(b, steps, 2, in, 0, all[1]);
  wick_value words = category_split(n, (wick_value){step.id + 1}, CATEGORY_WORDS, &next[0]);
  wick_value part = category_unweighted(n, w, category_indices(n, w, words));
  next[1] = wick_build2(b, hot ? WICK_OP_max : WICK_OP_add, (wick_value){step.id + 2}, part);
  return (wick_value){wick_emit_loop_end(b, 2, next).id + 1};
}

enum { CATEGORY_LENGTH = 1 << 20 }; /* words of a text */

void keras_text_vectorization(wick_import_node *n)
{
  const keras_layer *l = keras_of(n)->layer;
  const char *split = wick_import_text(n, "split", ""), *mode;
  const wick_json *standardize = keras_config(l, "standardize"), *how = keras_config(l, "split");
  int64_t length = wick_import_int(n, "output_sequence_length", 0);
  category_words w;
  mode = wick_import_text(n, "output_mode", "int");
  if (keras_config(l, "ngrams") || keras_is_true(n, "ragged", false) ||
      (standardize && standardize->kind != WICK_JSON_STRING) ||
      (how && strcmp(split, "whitespace") != 0)) {
    wick_import_fail(n, WICK_EUNSUPPORTED,
                     "ngrams, ragged results, functions of the user's, and splits at other places "
                     "than white space are not supported");
    return;
  }
  bool bag = how && strcmp(mode, "int") != 0;
  if (!bag && (how ? length < 1 || length > CATEGORY_LENGTH : length != 0)) {
    wick_import_fail(n, WICK_EUNSUPPORTED,
                     how ? "the number of words must be known: give output_sequence_length"
                         : "output_sequence_length of texts that are not split");
    return;
  }
  if (!category_read(n, true, true, &w)) return;
  wick_value x = n->in[0];
  uint32_t rank = keras_rank(n, x);
  if (keras_elem_of(n, x) != WICK_STRING || rank > 2 || !rank) {
    wick_import_fail(n, WICK_ETYPE,
                     "its input is %s with %u dimensions, expected strings with 1 or 2",
                     wick_elem_name(keras_elem_of(n, x)), rank);
    return;
  }
  x = category_standardized(n, x);
  if (how && rank == 2) x = wick_build_reshape(n->b, x, 1, (wick_dim[]){keras_dims(n, x)[0]});
  if (bag) {
    n->out[0] = category_weighted(n, &w, category_bag(n, &w, x));
    return;
  }
  wick_value rest;
  if (how) x = category_split(n, x, length, &rest);
  wick_value index = category_indices(n, &w, x);
  if (n->failed) return;
  n->out[0] = category_weighted(n, &w, category_unweighted(n, &w, index));
}
