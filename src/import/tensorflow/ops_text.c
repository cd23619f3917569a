/* Strings. */
#include <string.h>

#include "import/kit/array.h"
#include "import/kit/known.h"
#include "import/tensorflow/ops.h"
#include "ops/ref.h"

void wick_tf_import_text_case(wick_import_node *n) /* arg: the word of string_case */
{
  bool ascii = strcmp(wick_import_text(n, "encoding", ""), "utf-8") != 0;
  wick_emit e = wick_emit_begin(n->b, WICK_OP_string_case);
  if (ascii)
    wick_emit_set_int(&e, "locale",
                      wick_string_table_add(&n->c->module->strings, "POSIX", 5, true));
  wick_emit_set_int(&e, "change", n->row->arg);
  n->out[0] = wick_emit_end1(&e, n->in[0]);
}

void wick_tf_import_text_join(wick_import_node *n)
{
  const char *between = wick_import_text(n, "separator", "");
  wick_value y = n->in[0];
  for (uint32_t k = 1; k < n->nin; k++) {
    if (*between) y = wick_build2(n->b, WICK_OP_string_concat, y, wick_emit_string(n->b, between));
    y = wick_build2(n->b, WICK_OP_string_concat, y, n->in[k]);
  }
  n->out[0] = y;
}

void wick_tf_import_text_number(wick_import_node *n)
{
  wick_elem e;
  if (!wick_tf_attr_elem_or(n, "out_type", WICK_F32, &e)) return;
  wick_type want = wick_type_with_elem(n->c->module, wick_built_type(n->b, n->in[0]), e);
  n->out[0] = wick_build(n->b, WICK_OP_parse_number, 1, n->in, NULL, 1, &want);
}

void wick_tf_import_text_match(wick_import_node *n)
{
  const char *pattern = wick_import_text(n, "pattern", "");
  wick_emit e = wick_emit_begin(n->b, WICK_OP_regex_full_match);
  int64_t id = wick_string_table_add(&n->c->module->strings, pattern, strlen(pattern), true);
  wick_emit_set_int(&e, "pattern", id);
  n->out[0] = wick_emit_end1(&e, n->in[0]);
}

/* StaticRegexReplace; RegexReplace (arg 1), whose pattern and rewrite are operands */
void wick_tf_import_text_replace(wick_import_node *n)
{
  int64_t text[2];
  static const char *const name[] = {"pattern", "rewrite"};
  for (uint32_t k = 0; k < 2; k++) {
    const char *s = wick_import_text(n, name[k], "");
    wick_tensor known;
    if (!n->row->arg) {
      text[k] = wick_string_table_add(&n->c->module->strings, s, strlen(s), true);
      continue;
    }
    if (!wick_known_text(n->b, n->c->tmp, n->in[1 + k], &known)) {
      wick_import_unknown(n, n->in[1 + k], name[k]);
      return;
    }
    if (known.elem != WICK_STRING || wick_ref_numel(&known) != 1) {
      wick_import_fail(n, WICK_ETYPE, "the %s is no text", name[k]);
      return;
    }
    text[k] = wick_load_elem(known.elem, known.data, 0).i;
  }
  wick_emit e = wick_emit_begin(n->b, WICK_OP_regex_replace);
  wick_emit_set_int(&e, "pattern", text[0]);
  wick_emit_set_int(&e, "rewrite", text[1]);
  wick_emit_set_int(&e, "all", wick_import_int(n, "replace_global", 1));
  n->out[0] = wick_emit_end1(&e, n->in[0]);
}

/* Integers, and bools as words. Formats of floats and of widths are not read. */
void wick_tf_import_as_string(wick_import_node *n)
{
  wick_elem e = wick_import_info(n, 0)->elem;
  if (wick_import_int(n, "width", -1) > 0 || *wick_import_text(n, "fill", "")) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "digits are padded to a width");
  } else if (e == WICK_BOOL) {
    wick_value yes = wick_emit_string(n->b, "true"), no = wick_emit_string(n->b, "false");
    n->out[0] = wick_build3(n->b, WICK_OP_where, n->in[0], yes, no);
  } else if (e == WICK_STRING) {
    n->out[0] = n->in[0];
  } else if (wick_elem_is_float(e)) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "floats as text");
  } else {
    n->out[0] = wick_array_decimal(n, n->in[0]);
  }
}

/* arg 1: with a key */
void wick_tf_import_text_bucket(wick_import_node *n)
{
  int64_t count = wick_import_int(n, "num_buckets", 0);
  wick_import_attr key = wick_import_ints(n, "key");
  if (count < 1 || (n->row->arg && key.n != 2))
    wick_import_fail(n, WICK_EPARSE, "%lld buckets, a key of %u numbers", (long long)count, key.n);
  else
    n->out[0] =
        wick_array_bucket(n, wick_array_hash(n, n->in[0], n->row->arg ? key.ints : NULL), count);
}

/* The combinations of dense columns [batch, m], [batch, k], ..., hashed: the indices of a sparse matrix
 * that has all elements, their buckets, and its shape. */
void wick_tf_import_sparse_cross(wick_import_node *n)
{
  wick_builder *b = n->b;
  int64_t count = wick_import_int(n, "num_buckets", 0);
  if (!wick_import_int(n, "hashed_output", 0) || wick_import_int(n, "N", 0) > 0 || count < 0) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "only dense columns with hashed results are supported");
    return;
  }
  wick_value *column = wick_new(n->c->tmp, wick_value, n->nin);
  for (uint32_t k = 0; k < n->nin; k++) {
    if (!wick_import_rank(n, k, 2, 2)) return;
    if (n->nin + 1 > WICK_MAX_RANK) {
      wick_import_fail(n, WICK_EUNSUPPORTED, "%u columns are crossed", n->nin);
      return;
    }
    column[k] = n->in[k]; /* with an axis of its own */
    for (uint32_t j = 1; j <= n->nin; j++)
      if (j != k + 1) column[k] = wick_emit_unsqueeze(b, column[k], j);
  }
  wick_value key_less =
      wick_array_crossed(n, n->nin, column, (uint64_t)wick_import_int(n, "hash_key", 0));
  wick_value y = wick_array_bucket(n, key_less, count ? count : INT64_MAX);
  if (b->status) return;
  const wick_dim shape[] = {wick_built_info(b, y)->dim[0], {-1}}, all[] = {{-1}};
  y = wick_build_reshape(b, y, 2, shape);
  if (b->status) return;
  const wick_type_info *t = wick_built_info(b, y);
  wick_value index[2];
  for (uint32_t k = 0; k < 2; k++) {
    wick_value at = wick_emit_count_along(b, t->dim[k], k, 2);
    at = wick_build_reshape(b, wick_emit_expand(b, at, 2, t->dim), 1, all);
    index[k] = wick_emit_unsqueeze(b, at, 1);
  }
  n->out[0] = wick_build_concat(b, 1, 2, index);
  n->out[1] = wick_build_reshape(b, y, 1, all);
  n->out[2] = wick_array_sizes(n, 2, t->dim, WICK_I64);
}

/* Strings are characters here: bytes cannot be counted. */
static bool text_counts_characters(wick_import_node *n)
{
  if (strcmp(wick_import_text(n, "unit", "BYTE"), "UTF8_CHAR") == 0) return true;
  wick_import_fail(n, WICK_EUNSUPPORTED,
                   "positions in bytes; save the model with unit=\"UTF8_CHAR\"");
  return false;
}

void wick_tf_import_text_length(wick_import_node *n)
{
  if (!text_counts_characters(n)) return;
  wick_value y = wick_build1(n->b, WICK_OP_string_length, n->in[0]);
  if (!n->b->status) n->out[0] = wick_build_cast(n->b, y, WICK_I32);
}

void wick_tf_import_text_strip(wick_import_node *n)
{
  n->out[0] = wick_build1(n->b, WICK_OP_string_strip, n->in[0]);
}

void wick_tf_import_text_slice(wick_import_node *n) /* strings, begins, lengths */
{
  if (!text_counts_characters(n)) return;
  wick_builder *b = n->b;
  wick_value begin = wick_build_cast(b, n->in[1], WICK_I64), end;
  wick_value size = wick_build1(b, WICK_OP_string_length, n->in[0]);
  if (b->status) return;
  size = wick_build_cast(b, size, WICK_I64);
  begin = wick_build3(b, WICK_OP_where, wick_emit_by(b, WICK_OP_lt, begin, 0),
                      wick_build2(b, WICK_OP_add, begin, size), begin);
  end = wick_build2(b, WICK_OP_add, begin, wick_build_cast(b, n->in[2], WICK_I64));
  n->out[0] = wick_build3(b, WICK_OP_string_slice, n->in[0], begin, end);
}
