/* Exports operators on strings. Their attributes are numbers of the module's strings. */
#include "export/write.h"

static void text_set(wick_export_op *o, wick_onnx_node *n, const char *attr, const char *name)
{
  wick_string s = wick_string_table_get(&o->x->m->strings, wick_export_attr(o, attr)->i);
  if (s.nbytes) wick_export_set_word(o, n, name, wick_str_dupn(o->x->mem, s.at, (size_t)s.nbytes));
}

/* Exports string_case. ONNX accepts only a vector of strings. */
void wick_export_string_case(wick_export_op *o)
{
  const wick_type_info *t = wick_export_info(o, 0);
  wick_dim rest = wick_dim_const(-1);
  const char *x = wick_export_in(o, 0);
  if (t->rank != 1) x = wick_export_reshape(o, x, 1, &rest);
  wick_onnx_node *n = wick_export_begin(o, "StringNormalizer", 1, &x);
  wick_export_set_word(o, n, "case_change_action",
                       wick_export_attr(o, "change")->i ? "UPPER" : "LOWER");
  text_set(o, n, "locale", "locale");
  x = wick_export_end(o, n);
  if (t->rank != 1) x = wick_export_reshape(o, x, t->rank, t->dim);
  wick_export_result_is(o, 0, x);
}

void wick_export_string_split(wick_export_op *o)
{
  const char *x = wick_export_in(o, 0);
  wick_onnx_node *n = wick_export_begin(o, "StringSplit", 1, &x);
  text_set(o, n, "delimiter", "delimiter");
  if (wick_export_attr(o, "most")->i >= 0) wick_export_set_attrs(o, n, "most=maxsplit");
  wick_export_end_results(o, n, 2);
}

void wick_export_regex(wick_export_op *o)
{
  const char *x = wick_export_in(o, 0);
  wick_onnx_node *n = wick_export_begin(o, "RegexFullMatch", 1, &x);
  text_set(o, n, "pattern", "pattern");
  wick_export_end_results(o, n, 1);
}

void wick_export_text(wick_export_op *o)
{
  wick_elem from = wick_export_info(o, 0)->elem, to = wick_export_out_info(o, 0)->elem;
  wick_export_result_is(o, 0, wick_export_cast(o, wick_export_in(o, 0), from, to));
}

/* Exports ngrams. If x has strings, the numbers in the pool are numbers of strings. */
void wick_export_ngrams(wick_export_op *o)
{
  wick_export *x = o->x;
  const char *in = wick_export_in(o, 0);
  const wick_attr *pool = wick_export_attr(o, "pool"), *columns = wick_export_attr(o, "columns");
  int64_t width = 0;
  for (uint32_t k = 0; k < columns->n; k++)
    if (columns->ints[k] >= width) width = columns->ints[k] + 1;
  if (width != wick_export_attr(o, "width")->i) {
    wick_export_fail(o, "ONNX has no TfIdfVectorizer with columns that nothing is counted in");
    return;
  }
  wick_onnx_node *n = wick_export_begin(o, "TfIdfVectorizer", 1, &in);
  wick_export_set_attrs(o, n,
                        "counts=ngram_counts columns=ngram_indexes least=min_gram_length "
                        "most=max_gram_length skips=max_skip_count");
  wick_export_set_word(o, n, "mode", "TF");
  if (wick_export_info(o, 0)->elem == WICK_STRING) {
    const char **text = wick_new(x->mem, const char *, pool->n);
    for (uint32_t k = 0; k < pool->n; k++) {
      wick_string s = wick_string_table_get(&x->m->strings, pool->ints[k]);
      text[k] = wick_str_dupn(x->mem, s.at, (size_t)s.nbytes);
    }
    wick_export_set_words(o, n, "pool_strings", pool->n, text);
  } else {
    wick_export_set_ints(o, n, "pool_int64s", pool->n, pool->ints);
  }
  const char *y = wick_export_end(o, n);
  wick_export_result_is(o, 0, wick_export_cast(o, y, WICK_F32, wick_export_out_info(o, 0)->elem));
}

void wick_export_image(wick_export_op *o)
{
  static const char *const format[] = {"RGB", "BGR", "Grayscale"};
  const char *in = wick_export_in(o, 0);
  wick_onnx_node *n = wick_export_begin(o, "ImageDecoder", 1, &in);
  wick_export_set_word(o, n, "pixel_format", format[wick_export_attr(o, "format")->i]);
  wick_export_end_results(o, n, 1);
}
