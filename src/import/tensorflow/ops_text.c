/* Strings. */
#include <string.h>

#include "import/tensorflow/ops.h"

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
  int64_t id = wick_string_table_add(&n->c->module->strings, between, strlen(between), true);
  wick_type type = wick_type_tensor(n->c->module, WICK_STRING, 0, NULL);
  for (uint32_t k = 1; k < n->nin; k++) {
    if (*between)
      y = wick_build2(n->b, WICK_OP_string_concat, y, wick_build_const(n->b, type, 0, id));
    y = wick_build2(n->b, WICK_OP_string_concat, y, n->in[k]);
  }
  n->out[0] = y;
}

void wick_tf_import_text_number(wick_import_node *n)
{
  wick_elem e;
  if (!wick_tf_attr_elem(n, "out_type", &e)) return;
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
