/* Finds the row of an operator and opset in the tables of all families. */
#include <string.h>

#include "import/onnx/import.h"

static const wick_onnx_row *const rows_families[] = {
#define WICK_ONNX_FAMILY(name) wick_onnx_##name##_rows,
#include "import/onnx/families.def"
#undef WICK_ONNX_FAMILY
};

/* Compares a row's name, as "ai.onnx.ml.Binarizer", with a domain and an operator. */
static bool rows_is(const char *name, wick_span domain, wick_span op_type)
{
  if (wick_onnx_domain_is_own(domain)) return wick_span_is(op_type, name);
  size_t n = domain.nbytes;
  return strlen(name) == n + 1 + op_type.nbytes && memcmp(name, domain.at, n) == 0 &&
         name[n] == '.' && wick_span_is(op_type, name + n + 1);
}

const wick_onnx_row *wick_onnx_row_find(wick_span domain, wick_span op_type, int64_t opset,
                                        bool *out_known)
{
  const wick_onnx_row *found = NULL;
  *out_known = false;
  for (size_t f = 0; f < WICK_COUNT(rows_families) && !*out_known; f++)
    for (const wick_onnx_row *r = rows_families[f]; r->op_type; r++) {
      if (!rows_is(r->op_type, domain, op_type)) continue;
      *out_known = true;
      if (r->since <= opset || (!found && opset > 0)) found = r;
    }
  return found;
}

bool wick_onnx_supported(size_t i, wick_onnx_support *out)
{
  for (size_t f = 0; f < WICK_COUNT(rows_families); f++)
    for (const wick_onnx_row *r = rows_families[f]; r->op_type; r++) {
      if (!r->import || i--) continue;
      bool more = r[1].op_type && strcmp(r[1].op_type, r->op_type) == 0;
      *out = (wick_onnx_support){r->op_type, r->since, more ? r[1].since - 1 : WICK_ONNX_OPSET};
      return true;
    }
  return false;
}
