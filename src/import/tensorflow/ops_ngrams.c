/* Sequences of neighbouring strings, joined. The strings must be known (decision 56), and results are
 * constants. Source: string_ngrams_op.cc of TensorFlow. */
#include <string.h>

#include "import/kit/array.h"
#include "import/kit/known.h"
#include "import/tensorflow/ops.h"
#include "ops/ref.h"

enum {
  NGRAMS_WIDEST = 1 << 20,
  NGRAMS_MOST = 1 << 26
}; /* the latter: bytes and parts of results */

typedef struct ngrams {
  wick_import_node *n;
  const char *between, *left, *right;
  int64_t pad; /* the most paddings at each end; negative: as many as there can be */
  bool keep;   /* rows that are too short are one result */
  wick_import_attr width;
  wick_tensor data;
  wick_list(int64_t) text;
  int64_t made; /* bytes and parts */
  wick_list(char) joined;
} ngrams;

static int64_t ngrams_get(const wick_tensor *t, int64_t k)
{
  return wick_load_elem(t->elem, t->data, (uint64_t)k).i;
}

static int64_t ngrams_pad(const ngrams *g, int64_t width)
{
  return g->pad < 0 || g->pad > width - 1 ? width - 1 : g->pad;
}

/* Appends one part, after a separator if it is not the first. */
static void ngrams_part(ngrams *g, bool first, const char *at, size_t nbytes)
{
  wick_arena *mem = g->n->c->tmp;
  if ((g->made += (int64_t)nbytes + 1) > NGRAMS_MOST) return;
  for (const char *s = first ? "" : g->between; *s; s++) wick_push(mem, &g->joined, *s);
  for (size_t k = 0; k < nbytes; k++) wick_push(mem, &g->joined, at[k]);
}

/* Adds the `count` results of a width for the row that begins at `begin`. Returns false if there are too
 * many. */
static bool ngrams_add(ngrams *g, int64_t begin, int64_t count, int64_t width)
{
  wick_string_table *t = &g->n->c->module->strings;
  int64_t pad = ngrams_pad(g, width);
  for (int64_t k = 0; k < count; k++) {
    int64_t left = wick_max_i64(0, pad - k), right = wick_max_i64(0, pad - (count - k - 1)),
            tokens = width - left - right, from = begin + (left ? 0 : k - pad);
    g->joined.n = 0;
    for (int64_t i = 0; i < left; i++) ngrams_part(g, !i, g->left, strlen(g->left));
    for (int64_t i = 0; i < tokens; i++) {
      wick_string s = wick_string_table_get(t, ngrams_get(&g->data, from + i));
      ngrams_part(g, !left && !i, s.at, (size_t)s.nbytes);
    }
    for (int64_t i = 0; i < right; i++)
      ngrams_part(g, !left && tokens < 1 && !i, g->right, strlen(g->right));
    if (g->made > NGRAMS_MOST) return false;
    int64_t id = wick_string_table_add(t, g->joined.n ? g->joined.at : "", g->joined.n, true);
    wick_push(g->n->c->tmp, &g->text, id);
  }
  return true;
}

static bool ngrams_row(ngrams *g, int64_t begin, int64_t length)
{
  uint32_t before = g->text.n;
  for (uint32_t k = 0; k < g->width.n; k++) {
    int64_t width = g->width.ints[k];
    int64_t count = width < 1 ? 0 : wick_max_i64(0, length + 2 * ngrams_pad(g, width) - width + 1);
    if (!ngrams_add(g, begin, count, width)) return false;
  }
  if (!g->keep || !length || g->text.n != before) return true;
  return g->pad >= 0 && ngrams_add(g, begin, 1, length + 2 * g->pad);
}

static bool ngrams_read(ngrams *g, wick_tensor *splits)
{
  wick_import_node *n = g->n;
  if (!wick_import_rank(n, 0, 1, 1) || !wick_import_rank(n, 1, 1, 1)) return false;
  if (wick_import_info(n, 0)->elem != WICK_STRING ||
      !wick_elem_is_int(wick_import_info(n, 1)->elem)) {
    wick_import_fail(n, WICK_ETYPE, "its operands are no strings and numbers of rows");
    return false;
  }
  if (!wick_known_text(n->b, n->c->tmp, n->in[0], &g->data))
    return wick_import_unknown(n, n->in[0], "the texts");
  if (!wick_known_large(n->b, n->c->tmp, n->in[1], splits))
    return wick_import_unknown(n, n->in[1], "how long rows are");
  return true;
}

/* strings [n], where rows begin and the last ends: the joined strings, and where their rows begin. */
void wick_tf_import_text_ngrams(wick_import_node *n)
{
  wick_tensor splits;
  ngrams g = {.n = n,
              .between = wick_import_text(n, "separator", ""),
              .left = wick_import_text(n, "left_pad", ""),
              .right = wick_import_text(n, "right_pad", ""),
              .pad = wick_import_int(n, "pad_width", 0),
              .keep = wick_import_int(n, "preserve_short_sequences", 0),
              .width = wick_import_ints(n, "ngram_widths")};
  if (!ngrams_read(&g, &splits)) return;
  int64_t rows = splits.dim[0], last = 0, total = g.data.dim[0];
  int64_t *begin = wick_new(n->c->tmp, int64_t, (size_t)rows + 1);
  bool good = g.pad <= NGRAMS_WIDEST, few = true;
  for (uint32_t k = 0; k < g.width.n; k++) good = good && g.width.ints[k] <= NGRAMS_WIDEST;
  for (int64_t k = 0; good && k < rows; k++) {
    int64_t at = ngrams_get(&splits, k);
    good = k ? at >= last && at <= total : at == 0;
    if (good && k && total) few = ngrams_row(&g, last, at - last);
    if (!few) break;
    begin[k] = g.text.n, last = at;
  }
  if (good && few && rows) good = last == total;
  if (!good || !few) {
    wick_import_fail(n, good ? WICK_ELIMIT : WICK_ETYPE,
                     good ? "it has too many results"
                          : "its widths are too large, or its rows do not have all strings");
    return;
  }
  int64_t count = g.text.n;
  const int64_t none = 0;
  n->out[0] = wick_import_copied(n->c, n->name, WICK_STRING, 1, &count, count ? g.text.at : &none,
                                 (uint64_t)count * 8);
  wick_value where =
      wick_import_copied(n->c, n->name, WICK_I64, 1, &rows, begin, (uint64_t)rows * 8);
  n->out[1] = n->b->status ? where : wick_build_cast(n->b, where, wick_import_info(n, 1)->elem);
}
