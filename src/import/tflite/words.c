/* Hashes of rows, and sequences of words. Sources: lsh_projection.cc and skip_gram.cc of LiteRT. */
#include <string.h>

#include "import/kit/array.h"
#include "import/kit/known.h"
#include "import/tflite/ops.h"
#include "ops/ref.h"

/* ---- LSH_PROJECTION ---- */

enum { WORDS_SPARSE = 1, WORDS_DENSE = 2, WORDS_MOST = 1 << 20 };
enum { WORDS_STEPS = 1 << 24, WORDS_BYTES = 1 << 26 };

/* x [rows, ...] as the bytes of its rows, [rows, nbytes]. */
static wick_value words_bytes(wick_import_node *n, wick_value x, wick_dim rows, int64_t nbytes)
{
  static const wick_elem whole[] = {[1] = WICK_U8, [2] = WICK_U16, [4] = WICK_U32, [8] = WICK_U64};
  static const double shift[] = {0, 8, 16, 24, 32, 40, 48, 56};
  wick_builder *b = n->b;
  if (b->status) return x;
  int64_t size = wick_elem_storage[wick_built_info(b, x)->elem].bits / 8;
  wick_elem e = whole[size];
  const wick_dim flat[] = {rows, wick_dim_const(nbytes / size), wick_dim_const(1)};
  x = wick_build_reshape(b, wick_emit_bits(b, x, e), 3, flat);
  x = wick_build2(b, WICK_OP_shift_right, x, wick_emit_table(b, n->name, e, 1, &size, shift));
  x = wick_build_cast(b, x, WICK_U8);
  return wick_build_reshape(b, x, 2, (const wick_dim[]){rows, wick_dim_const(nbytes)});
}

/* Hashes of each row with each seed, added up with the rows' weights: the bits [seeds], whether the sum
 * is positive. */
static wick_value words_signs(wick_import_node *n, wick_dim seeds, wick_dim rows, int64_t nbytes)
{
  wick_builder *b = n->b;
  wick_value seed = wick_build_reshape(b, n->in[0], 1, &seeds), x = n->in[1];
  seed = wick_emit_unsqueeze(b, words_bytes(n, seed, seeds, 4), 1);
  x = wick_emit_unsqueeze(b, words_bytes(n, x, rows, nbytes), 0);
  const wick_dim four[] = {seeds, rows, wick_dim_const(4)},
                 rest[] = {seeds, rows, wick_dim_const(nbytes)};
  seed = wick_emit_expand(b, seed, 3, four), x = wick_emit_expand(b, x, 3, rest);
  const wick_value part[] = {seed, x};
  wick_value h = wick_array_hash(n, wick_build_concat(b, 2, 2, part), NULL);
  h = wick_build_cast(b, wick_emit_bits(b, h, WICK_I64), WICK_F64);
  if (wick_import_has(n, 2))
    h = wick_build2(b, WICK_OP_mul, h, wick_build_cast(b, n->in[2], WICK_F64));
  h = wick_emit_by(b, WICK_OP_gt, wick_emit_reduce1(b, WICK_OP_reduce_sum, h, 1, false), 0);
  return wick_build_cast(b, h, WICK_I32);
}

/* seeds [hashes, bits], x [rows, ...], perhaps weights [rows]: the bits of each hash, or as numbers, each
 * hash's after those of the one before. */
static void words_projection(wick_import_node *n)
{
  wick_builder *b = n->b;
  int64_t type = wick_tflite_byte(n, 0);
  if (!wick_import_rank(n, 0, 2, 2) || !wick_import_rank(n, 1, 1, WICK_MAX_RANK)) return;
  if (wick_import_has(n, 2) && !wick_import_rank(n, 2, 1, 1)) return;
  const wick_type_info seed = *wick_import_info(n, 0), x = *wick_import_info(n, 1);
  wick_dim item = wick_array_product(n, x.rank - 1u, x.dim + 1);
  uint32_t width = wick_elem_storage[x.elem].bits;
  bool sized =
      wick_dim_is_const(seed.dim[0]) && wick_dim_is_const(seed.dim[1]) && wick_dim_is_const(item);
  int64_t hashes = sized ? seed.dim[0].v : 0, bits = sized ? seed.dim[1].v : 0;
  if (!sized || bits < 1 || bits > 32 || hashes > WORDS_MOST || item.v > WORDS_MOST ||
      seed.elem != WICK_F32 || x.elem == WICK_STRING || width < 8 ||
      (type != WORDS_SPARSE && type != WORDS_DENSE)) {
    if (!n->failed)
      wick_import_fail(n, WICK_EUNSUPPORTED, "a projection of type %lld of rows of %s by %lld bits",
                       (long long)type, wick_elem_name(x.elem), (long long)bits);
    return;
  }
  const wick_dim both[] = {seed.dim[0], seed.dim[1]};
  wick_value y = words_signs(n, wick_dim_const(hashes * bits), x.dim[0], item.v * (width / 8));
  if (type == WORDS_SPARSE) {
    double *weight = wick_new(n->c->tmp, double, (size_t)(bits + hashes)), *first = weight + bits;
    for (int64_t k = 0; k < bits; k++) weight[k] = (double)((uint64_t)1 << (bits - 1 - k));
    for (int64_t k = 0; k < hashes; k++) first[k] = (double)(k * ((int64_t)1 << bits));
    y = wick_build_cast(b, wick_build_reshape(b, y, 2, both), WICK_I64);
    y = wick_build2(b, WICK_OP_mul, y, wick_emit_table(b, n->name, WICK_I64, 1, &bits, weight));
    y = wick_emit_reduce1(b, WICK_OP_reduce_sum, y, 1, false);
    y = wick_build2(b, WICK_OP_add, y, wick_emit_table(b, n->name, WICK_I64, 1, &hashes, first));
    y = wick_build_cast(b, y, WICK_I32);
  }
  n->out[0] = y;
}

/* ---- SKIP_GRAM ---- */

typedef struct words_gram {
  wick_import_node *n;
  int64_t size, skip; /* words of a sequence; the most that are left out between two */
  bool all;           /* shorter ones, too */
  uint32_t nword;
  const wick_string *word;
  wick_list(int64_t) text; /* numbers of the results */
  uint64_t nbytes;         /* of the results */
} words_gram;

static void words_add(words_gram *g, uint32_t depth, const uint32_t *at)
{
  size_t n = depth - 1;
  for (uint32_t k = 0; k < depth; k++) n += (size_t)g->word[at[k]].nbytes;
  char *joined = wick_new(g->n->c->tmp, char, n + 1), *to = joined;
  for (uint32_t k = 0; k < depth; k++) {
    const wick_string *w = &g->word[at[k]];
    if (k) *to++ = ' ';
    memcpy(to, w->at, (size_t)w->nbytes);
    to += w->nbytes;
  }
  g->nbytes += n + sizeof n;
  int64_t id = wick_string_table_add(&g->n->c->module->strings, joined, n, true);
  wick_push(g->n->c->tmp, &g->text, id);
}

/* Lists the sequences, longer ones before the shorter one that they continue. Returns false if there are
 * too many. */
static bool words_list(words_gram *g)
{
  uint32_t *at = wick_new(g->n->c->tmp, uint32_t, 2 * ((size_t)g->nword + 2)),
           *next = at + g->nword + 2, depth = 0;
  for (uint32_t steps = 0; steps < WORDS_STEPS && g->nbytes < WORDS_BYTES; steps++) {
    uint32_t k = next[depth];
    if ((int64_t)depth < g->size && k < g->nword &&
        (!depth || (int64_t)(k - at[depth - 1]) <= g->skip + 1)) {
      at[depth] = k, next[depth] = k + 1;
      next[++depth] = k + 1;
      continue;
    }
    if (depth && (g->all || (int64_t)depth == g->size)) words_add(g, depth, at);
    if (!depth--) return true;
  }
  return false;
}

static bool words_is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* Splits as LiteRT does, which begins to look for spaces at the second character: a space at the begin
 * belongs to the first word, which is dropped if another space follows it. */
static wick_string *words_split(wick_import_node *n, wick_string s, uint32_t *out_count)
{
  wick_string *word = wick_new(n->c->tmp, wick_string, (size_t)s.nbytes + 1);
  uint64_t begin = 0;
  uint32_t count = 0;
  for (uint64_t at = 1; at < s.nbytes; at++) {
    if (!words_is_space(s.at[at])) continue;
    if (at > begin && !words_is_space(s.at[begin]))
      word[count++] = (wick_string){.at = s.at + begin, .nbytes = at - begin};
    begin = at + 1;
  }
  if (begin < s.nbytes)
    word[count++] = (wick_string){.at = s.at + begin, .nbytes = s.nbytes - begin};
  *out_count = count;
  return word;
}

static void words_skip_gram(wick_import_node *n)
{
  wick_tensor known;
  words_gram g = {.n = n,
                  .size = wick_tflite_i32(n, 0, 0),
                  .skip = wick_tflite_i32(n, 1, 0),
                  .all = wick_tflite_byte(n, 2)};
  if (wick_import_info(n, 0)->elem != WICK_STRING) {
    wick_import_fail(n, WICK_ETYPE, "its operand is no string");
    return;
  }
  if (!wick_known_text(n->b, n->c->tmp, n->in[0], &known)) {
    wick_import_unknown(n, n->in[0], "the text");
    return;
  }
  if (wick_ref_numel(&known) < 1) {
    wick_import_fail(n, WICK_ETYPE, "it has no text");
    return;
  }
  wick_string s =
      wick_string_table_get(&n->c->module->strings, wick_load_elem(known.elem, known.data, 0).i);
  g.word = words_split(n, s, &g.nword);
  if (g.size > (int64_t)g.nword) g.size = 0; /* LiteRT gives no shorter ones either */
  if (g.size > 0 && !words_list(&g)) {
    wick_import_fail(n, WICK_ELIMIT, "the text has too many sequences of words");
    return;
  }
  int64_t count = g.text.n, none = 0;
  n->out[0] = wick_import_copied(n->c, n->name, WICK_STRING, 1, &count, count ? g.text.at : &none,
                                 (uint64_t)count * 8);
}

#define F NULL

const wick_import_op wick_tflite_words_ops[] = {
    {"LSH_PROJECTION", 1, {2, 3}, 1, NULL, words_projection, WICK_OP_none, 0, F, NULL},
    {"SKIP_GRAM", 1, {1, 1}, 1, NULL, words_skip_gram, WICK_OP_none, 0, F, NULL},
    {0},
};
