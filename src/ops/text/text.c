/* Operators on strings. Elements are indices into the module's table of strings. After the pass
 * intern_strings they are i64, which these operators take as well. Attributes that are strings
 * are such indices, too. */
#include <string.h>

#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/host.h"
#include "ops/tensor.h"

static wick_status text_operand(const wick_infer *c, uint32_t i, const wick_type_info **out)
{
  WICK_TRY(wick_infer_tensor(c, i, i ? "y" : "x", 0, out));
  if ((*out)->elem == WICK_STRING || (*out)->elem == WICK_I64) return NULL;
  return wick_infer_fail(c, WICK_ETYPE, "operand %u is %s, expected strings", i,
                         wick_elem_name((*out)->elem));
}

static wick_status text_same(wick_infer *c)
{
  const wick_type_info *x;
  WICK_TRY(text_operand(c, 0, &x));
  wick_infer_out(c, 0, x->elem, x->rank, x->dim);
  return NULL;
}

const wick_op wick_op_string_case = {
    .name = "string_case",
    .doc = "Strings with each character in lower or upper case, by the rules of the locale "
           "(`locale` is the number of a string; \"POSIX\" changes ASCII letters alone) or by "
           "default of Unicode. Bytes that are not UTF-8 stay as they are",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"change", WICK_ATTR_ENUM, 0, true, "lower upper", 0, 0},
             {"locale", WICK_ATTR_INT, 0, false, NULL, 0, 0x1p31}},
    .level = WICK_GRAPH | WICK_GROUP,
    .effect = WICK_MAY_FAIL,
    .host = "string_case",
    .infer = text_same,
    .ref = wick_host_ref,
    .grad = wick_grad_zero,
    .batch.run = wick_batch_rows,
};

static wick_status string_concat_infer(wick_infer *c)
{
  const wick_type_info *x, *y;
  WICK_TRY(text_operand(c, 0, &x));
  WICK_TRY(text_operand(c, 1, &y));
  if (!wick_type_eq(c->in[0]->type, c->in[1]->type))
    return wick_infer_fail(c, WICK_ETYPE, "%s and %s", wick_infer_type_text(c, c->in[0]->type),
                           wick_infer_type_text(c, c->in[1]->type));
  wick_infer_out(c, 0, x->elem, x->rank, x->dim);
  return NULL;
}

/* Both operands have rows then, because their types are equal. */
static void string_concat_batch(wick_batching *a)
{
  wick_value x = wick_batch_full(a, 0), y = wick_batch_full(a, 1);
  wick_batch_results(a, wick_batch_build(a, (wick_value[]){x, y}, a->node->attr));
}

const wick_op wick_op_string_concat = {
    .name = "string_concat",
    .doc = "Each string of x followed by the string of y",
    .nin = {2, 2},
    .nout = {1, 1},
    .level = WICK_GRAPH | WICK_GROUP,
    .host = "string_concat",
    .infer = string_concat_infer,
    .ref = wick_host_ref,
    .grad = wick_grad_zero,
    .batch.run = string_concat_batch,
};

static wick_status string_split_infer(wick_infer *c)
{
  const wick_type_info *x;
  wick_dim dim[WICK_MAX_RANK + 1];
  WICK_TRY(text_operand(c, 0, &x));
  if (x->rank == WICK_MAX_RANK || c->attr[WICK_ATTR_string_split_width].n != 1)
    return wick_infer_fail(c, WICK_ETYPE, "x has rank %u, the width %u numbers", x->rank,
                           c->attr[WICK_ATTR_string_split_width].n);
  for (uint32_t k = 0; k < x->rank; k++) dim[k] = x->dim[k];
  dim[x->rank] = c->attr[WICK_ATTR_string_split_width].dims[0];
  wick_infer_out(c, 0, x->elem, x->rank + 1u, dim);
  wick_infer_out(c, 1, WICK_I64, x->rank, dim);
  c->nout = 2;
  return NULL;
}

const wick_op wick_op_string_split = {
    .name = "string_split",
    .doc = "The parts of each string between delimiters, and their numbers. `delimiter` is the "
           "number of a string; by default strings are split at white space as in Python. Each is "
           "split at most `most` times (-1: no limit). Empty strings fill the parts up to the "
           "width; more parts than the width fail the run",
    .nin = {1, 1},
    .nout = {2, 2},
    .attr = {{"delimiter", WICK_ATTR_INT, 0, false, NULL, 0, 0x1p31},
             {"most", WICK_ATTR_INT, -1, false, NULL, 0, 0},
             {"width", WICK_ATTR_DIMS, 0, true, NULL, 0, 0}},
    .level = WICK_GRAPH | WICK_GROUP,
    .effect = WICK_MAY_FAIL,
    .host = "string_split",
    .infer = string_split_infer,
    .ref = wick_host_ref,
    .grad = wick_grad_zero,
    .batch.run = wick_batch_rows,
};

/* ---- parts of strings ---- */

/* Operands are strings, the last `positions` of them i64; each but the first has the shape of the
 * first or rank 0. The result is of `elem`, of i64 as of strings. */
static wick_status text_parts(wick_infer *c, uint32_t positions, wick_elem elem)
{
  const wick_type_info *x, *y;
  WICK_TRY(text_operand(c, 0, &x));
  for (uint32_t k = 1; k < c->nin; k++) {
    bool position = k >= c->nin - positions;
    WICK_TRY(wick_infer_tensor(c, k, "y", 0, &y));
    if (position ? y->elem != WICK_I64 : y->elem != x->elem)
      return wick_infer_fail(c, WICK_ETYPE, "operand %u is %s, expected %s", k,
                             wick_infer_type_text(c, c->in[k]->type), position ? "i64" : "strings");
    if (y->rank && (y->rank != x->rank || memcmp(y->dim, x->dim, x->rank * sizeof *x->dim) != 0))
      return wick_infer_fail(c, WICK_ETYPE, "%s and %s", wick_infer_type_text(c, c->in[0]->type),
                             wick_infer_type_text(c, c->in[k]->type));
  }
  wick_infer_out(c, 0, elem == WICK_STRING ? x->elem : elem, x->rank, x->dim);
  return NULL;
}

static wick_status text_to_text(wick_infer *c) { return text_parts(c, 0, WICK_STRING); }
static wick_status text_to_number(wick_infer *c) { return text_parts(c, 0, WICK_I64); }
static wick_status text_slice(wick_infer *c) { return text_parts(c, 2, WICK_STRING); }
static wick_status text_find(wick_infer *c) { return text_parts(c, 1, WICK_I64); }

/* An operator whose operands are described by `take`. */
#define TEXT_PART(NAME, N, TAKE, DOC)                                                              \
  const wick_op wick_op_##NAME = {                                                                 \
      .name = #NAME,                                                                               \
      .doc = DOC,                                                                                  \
      .nin = {N, N},                                                                               \
      .nout = {1, 1},                                                                              \
      .level = WICK_GRAPH | WICK_GROUP,                                                            \
      .host = #NAME,                                                                               \
      .infer = TAKE,                                                                               \
      .ref = wick_host_ref,                                                                        \
      .grad = wick_grad_zero,                                                                      \
      .batch.run = wick_batch_rows,                                                                \
  }

TEXT_PART(string_compare, 2, text_to_number,
          "-1, 0 or 1: how each string of x is ordered to y, by their characters' numbers");
TEXT_PART(string_find, 3, text_find,
          "The position of the first y in each string of x, from the position in the third operand "
          "on; -1 if there is none. Positions count characters");
TEXT_PART(string_length, 1, text_to_number, "The number of characters of each string");
TEXT_PART(string_replace, 3, text_to_text,
          "Each string of x with the third operand in the place of each y, from the beginning on. "
          "If y is empty, nothing is replaced");
TEXT_PART(
    string_slice, 3, text_slice,
    "The characters of each string of x from the position in the second operand up to the one "
    "in the third. Negative positions count from the end; those outside are those of the ends");
TEXT_PART(string_strip, 1, text_to_text,
          "Each string without white space, as Python defines it, at its beginning and end");

/* ---- numbers ---- */

static wick_status text_wanted(wick_infer *c, bool to_text)
{
  const wick_type_info *x, *want;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 0, &x));
  if (c->nwant != 1) return wick_infer_fail(c, WICK_ETYPE, "it has 1 result");
  want = wick_type_get(c->module, c->want[0]);
  wick_elem text = to_text ? want->elem : x->elem, number = to_text ? x->elem : want->elem;
  bool plain = (WICK_PLAIN & WICK_BIT(number)) != 0;
  bool same = want->kind == WICK_TENSOR && want->rank == x->rank;
  for (uint32_t k = 0; same && k < x->rank; k++) same = wick_dim_eq(want->dim[k], x->dim[k]);
  if ((text != WICK_STRING && text != WICK_I64) || !plain || !same)
    return wick_infer_fail(c, WICK_ETYPE, "from %s to %s", wick_infer_type_text(c, c->in[0]->type),
                           wick_infer_type_text(c, c->want[0]));
  return NULL;
}

static wick_status to_string_infer(wick_infer *c) { return text_wanted(c, true); }
static wick_status string_to_infer(wick_infer *c) { return text_wanted(c, false); }

const wick_op wick_op_format_number = {
    .name = "format_number",
    .doc = "Numbers as text. Floats have the fewest digits that read back as the same number, at "
           "least one of them after the point, and an exponent if they are below 1e-4 or at least "
           "1e16. Special values are nan, inf and -inf; bools are 1 and 0",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_GRAPH | WICK_GROUP,
    .typed = true,
    .host = "format_number",
    .infer = to_string_infer,
    .ref = wick_host_ref,
    .grad = wick_grad_zero,
    .batch.run = wick_batch_broadcast,
};

const wick_op wick_op_parse_number = {
    .name = "parse_number",
    .doc = "Text as numbers, in the syntax of C, rounded to nearest even. Integers drop a "
           "fraction and keep their lowest bits. Text that is not a number fails the run",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_GRAPH | WICK_GROUP,
    .effect = WICK_MAY_FAIL,
    .typed = true,
    .host = "parse_number",
    .infer = string_to_infer,
    .ref = wick_host_ref,
    .grad = wick_grad_zero,
    .batch.run = wick_batch_rows,
};

/* ---- hashes ---- */

static wick_status string_hash_infer(wick_infer *c)
{
  const wick_attr *key = &c->attr[WICK_ATTR_string_hash_key];
  uint32_t expected = c->attr[WICK_ATTR_string_hash_method].i ? 2 : 0;
  if (key->n != expected)
    return wick_infer_fail(c, WICK_ETYPE, "the key has %u numbers, expected %u", key->n, expected);
  const wick_type_info *x;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 0, &x));
  if (x->elem == WICK_U8 && x->rank) {
    wick_infer_out(c, 0, WICK_I64, x->rank - 1, x->dim);
    return NULL;
  }
  return text_parts(c, 0, WICK_I64);
}

const wick_op wick_op_string_hash = {
    .name = "string_hash",
    .doc = "The 64 bits of a hash of each string's bytes, or of the bytes (u8) along the last "
           "axis: FarmHash's fingerprint, or SipHash with a key of two numbers",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"method", WICK_ATTR_ENUM, 0, true, "farmhash siphash", 0, 0},
             {"key", WICK_ATTR_INTS, 0, false, NULL, 0, 0}},
    .level = WICK_GRAPH | WICK_GROUP,
    .host = "string_hash",
    .infer = string_hash_infer,
    .ref = wick_host_ref,
    .grad = wick_grad_zero,
    .batch.run = wick_batch_rows,
};

/* ---- patterns ---- */

static wick_status regex_full_match_infer(wick_infer *c)
{
  const wick_type_info *x;
  WICK_TRY(text_operand(c, 0, &x));
  wick_infer_out(c, 0, WICK_BOOL, x->rank, x->dim);
  return NULL;
}

const wick_op wick_op_regex_full_match = {
    .name = "regex_full_match",
    .doc = "Whether the whole string matches a regular expression in the syntax of RE2 (`pattern` "
           "is the number of a string). Text that is not UTF-8 does not match",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"pattern", WICK_ATTR_INT, 0, true, NULL, 0, 0x1p31}},
    .level = WICK_GRAPH | WICK_GROUP,
    .effect = WICK_MAY_FAIL,
    .host = "regex_full_match",
    .infer = regex_full_match_infer,
    .ref = wick_host_ref,
    .grad = wick_grad_zero,
    .batch.run = wick_batch_rows,
};

static wick_status regex_replace_infer(wick_infer *c)
{
  const wick_type_info *x;
  WICK_TRY(text_operand(c, 0, &x));
  wick_infer_out(c, 0, x->elem, x->rank, x->dim);
  return NULL;
}

const wick_op wick_op_regex_replace = {
    .name = "regex_replace",
    .doc =
        "Each string with `rewrite` in the place of what matches a regular expression in the "
        "syntax of RE2, everywhere (`all`) or once. Both are numbers of strings. In the rewrite, "
        "\\0 is the match, \\1 to \\9 are its groups",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"pattern", WICK_ATTR_INT, 0, true, NULL, 0, 0x1p31},
             {"rewrite", WICK_ATTR_INT, 0, true, NULL, 0, 0x1p31},
             {"all", WICK_ATTR_BOOL, 1, false, NULL, 0, 0}},
    .level = WICK_GRAPH | WICK_GROUP,
    .effect = WICK_MAY_FAIL,
    .host = "regex_replace",
    .infer = regex_replace_infer,
    .ref = wick_host_ref,
    .grad = wick_grad_zero,
    .batch.run = wick_batch_rows,
};

static wick_status ngram_counts_infer(wick_infer *c)
{
  const wick_type_info *x;
  WICK_TRY(text_operand(c, 0, &x));
  const wick_attr *counts = &c->attr[WICK_ATTR_ngram_counts_counts],
                  *columns = &c->attr[WICK_ATTR_ngram_counts_columns];
  int64_t width = c->attr[WICK_ATTR_ngram_counts_width].i;
  if (x->rank < 1 || x->rank > 2)
    return wick_infer_fail(c, WICK_ETYPE, "x has rank %u, expected 1 or 2", x->rank);
  for (uint32_t k = 0; k < counts->n; k++)
    if (counts->ints[k] < (k ? counts->ints[k - 1] : 0) ||
        counts->ints[k] > c->attr[WICK_ATTR_ngram_counts_pool].n)
      return wick_infer_fail(c, WICK_ERANGE, "n-grams of %u begin at %lld of %u", k + 1,
                             (long long)counts->ints[k], c->attr[WICK_ATTR_ngram_counts_pool].n);
  for (uint32_t k = 0; k < columns->n; k++)
    if (columns->ints[k] < 0 || columns->ints[k] >= width)
      return wick_infer_fail(c, WICK_ERANGE, "column %lld of %lld", (long long)columns->ints[k],
                             (long long)width);
  wick_dim dim[2] = {x->dim[0], wick_dim_const(width)};
  if (x->rank == 1) dim[0] = dim[1];
  wick_infer_out(c, 0, WICK_F32, x->rank, dim);
  return NULL;
}

const wick_op wick_op_ngram_counts = {
    .name = "ngram_counts",
    .doc = "Counts in each 1-D slice of x how often the n-grams of the pool occur. The n-grams of "
           "n numbers begin at counts[n - 1] of the pool; each n-gram has a column of the result. "
           "n runs from `least` to `most`; up to `skips` numbers may be left out between "
           "neighbours. Strings are compared by their numbers",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"pool", WICK_ATTR_INTS, 0, true, NULL, 0, 0},
             {"counts", WICK_ATTR_INTS, 0, true, NULL, 0, 0},
             {"columns", WICK_ATTR_INTS, 0, true, NULL, 0, 0},
             {"least", WICK_ATTR_INT, 1, true, NULL, 1, 1 << 20},
             {"most", WICK_ATTR_INT, 1, true, NULL, 1, 1 << 20},
             {"skips", WICK_ATTR_INT, 0, true, NULL, 0, 1 << 20},
             {"width", WICK_ATTR_INT, 1, true, NULL, 1, 1 << 30}},
    .level = WICK_GRAPH | WICK_GROUP,
    .host = "ngram_counts",
    .infer = ngram_counts_infer,
    .ref = wick_host_ref,
    .grad = wick_grad_zero,
    .batch.run = wick_batch_rows,
};
