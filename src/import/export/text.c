/* Strings: attributes of rows are numbers of the module's strings. */
#include "import/export/write.h"

static void text_set(wick_export_op *o, wick_onnx_node *n, const char *attr, const char *name)
{
  wick_string s = wick_strings_get(&o->x->m->strings, wick_export_attr(o, attr)->i);
  if (s.nbytes) wick_export_set_word(o, n, name, wick_str_dupn(o->x->mem, s.at, (size_t)s.nbytes));
}

/* ONNX changes the case of strings in a row. */
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
